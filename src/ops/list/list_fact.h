/* What is known about a list before it exists, so that an element read from it has a shape at
 * planning time. It is stored as the `handle` of the variant's fact in this encoding: dtype is that
 * of the elements; dim[0] is their number (or unknown); rank -1: nothing is known about their
 * shapes, rank 0: nothing is stored yet, rank 1 + r: stored elements have rank r, and their common
 * dims begin at dim[1]. */
#ifndef EF_OPS_LIST_FACT_H
#define EF_OPS_LIST_FACT_H
#include "ops/op.h"

typedef struct ef_list_fact {
    ef_dtype dtype;
    int64_t n;        /* number of elements; EF_DIM_UNKNOWN: not known */
    bool bare;        /* nothing is stored yet */
    ef_shape element; /* the shape of stored elements; dims in which they differ are unknown */
} ef_list_fact;

/* Returns false if nothing is known. */
bool ef_list_fact_get(const ef_fact *f, ef_list_fact *out);
/* Declares that output k of an inference is such a list. */
void ef_list_fact_set(ef_infer *i, int k, const ef_list_fact *l);
void ef_list_fact_store(ef_list_fact *l, const ef_shape *element); /* adds one element */
/* The shape of an element read from input k, as far as `given` (an element_shape argument) and the
 * list determine it. */
ef_shape ef_list_fact_read(const ef_infer *i, int k, const ef_shape *given);
/* Makes a hold what is true of both; false: they have nothing in common. For handles of variants;
 * *changed is set if a now says less than before. */
bool ef_list_fact_widen(ef_fact *a, const ef_fact *b, bool *changed);
#endif
