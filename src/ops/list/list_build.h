/* What the ops that convert between lists and tensors share. */
#ifndef EF_OPS_LIST_BUILD_H
#define EF_OPS_LIST_BUILD_H
#include "ops/build.h"
#include "ops/list/list.h"

/* The shape of x without its first dim, as a value. */
ef_value *ef_list_tail_value(ef_build *b, ef_value *x);
ef_value *ef_list_element_shape_value(ef_build *b, ef_value *list);
/* Elements index[0..n) (NULL: all in order), each of shape `element`, stacked as output 0. */
ef_status *ef_list_join(const ef_call *c, const ef_list *l, const int32_t *index, int64_t n,
                        const ef_shape *element);
/* Copies the rows of x to the elements of l, which have memory; there are as many rows as
 * elements. */
ef_status *ef_list_part(const ef_tensor *x, ef_list *l);
/* Fails if x is a scalar. */
ef_status *ef_list_need_vector(const ef_call *c, const ef_tensor *x);
#endif
