/* What is known of a list before it exists, so that what is read from it has a shape while
 * planning. It travels as the `handle` of the variant's fact, under this encoding: dtype is that of
 * the elements; dim[0] is their number (or unknown); rank -1: nothing is known of their shapes,
 * rank 0: nothing is stored yet, rank 1 + r: what stored elements have in common has rank r and
 * stands from dim[1] on. */
#ifndef EF_OPS_LIST_FACT_H
#define EF_OPS_LIST_FACT_H
#include "ops/op.h"

typedef struct ef_list_fact {
    ef_dtype dtype;
    int64_t n;        /* elements; EF_DIM_UNKNOWN: not known */
    bool bare;        /* nothing is stored yet */
    ef_shape element; /* of those stored; dims in which they differ are unknown */
} ef_list_fact;

/* False: nothing is known. */
bool ef_list_fact_get(const ef_fact *f, ef_list_fact *out);
/* Output k of an inference is such a list. */
void ef_list_fact_set(ef_infer *i, int k, const ef_list_fact *l);
void ef_list_fact_store(ef_list_fact *l, const ef_shape *element); /* one more element */
/* The element shape read from input k, as far as `given` (an element_shape argument) and the list
 * say it. */
ef_shape ef_list_fact_read(const ef_infer *i, int k, const ef_shape *given);
/* a becomes what holds for both; false: they have nothing in common. For handles of variants;
 * *changed is set if a says less than before. */
bool ef_list_fact_widen(ef_fact *a, const ef_fact *b, bool *changed);
#endif
