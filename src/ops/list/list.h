/* TensorLists: values of dtype variant that hold a sequence of tensors. A list is immutable; an op
 * that changes one copies it first, unless its input is not used afterwards (ef_call's `dying`) and
 * has no other owner: then the list itself is changed and becomes the output. */
#ifndef EF_OPS_LIST_H
#define EF_OPS_LIST_H
#include "ops/op.h"

typedef struct ef_list {
    ef_object object;
    ef_dtype dtype;   /* of every element */
    ef_shape element; /* the shape that every element must be compatible with; dims may be
                       * unknown */
    int64_t limit;    /* largest number of elements; -1: no limit */
    int64_t n, cap;
    ef_tensor *item; /* dtype EF_NO_DTYPE: nothing is stored there yet */
} ef_list;

/* A list of n empty elements; refs 1. */
ef_status *ef_list_make(ef_dtype dtype, const ef_shape *element, int64_t n, ef_list **out);
ef_status *ef_list_clone(const ef_list *l, int64_t room,
                         ef_list **out);          /* with space for more elements */
ef_status *ef_list_resize(ef_list *l, int64_t n); /* new elements are empty */
/* Stores x as element k < n. Borrowed memory is copied, counted storage is shared. */
ef_status *ef_list_set(ef_list *l, int64_t k, const ef_tensor *x);

/* What ZerosLike and AddN do with lists. Stored elements become zeros, empty ones stay empty. Sums
 * are taken element by element; an empty element counts as zero. t, x and y are variants that hold
 * lists, *out is a new variant. */
ef_status *ef_list_zeros_like(const ef_tensor *t, ef_tensor *out);
ef_status *ef_list_add(const ef_tensor *x, const ef_tensor *y, ef_tensor *out);
bool ef_is_list(const ef_tensor *t);

/* ---- for the list ops ---- */

/* The list in input k, which must hold dtype (EF_NO_DTYPE: any). */
ef_status *ef_call_list(const ef_call *c, int k, ef_dtype dtype, ef_list **out);
/* The list of input k, to be changed and returned as output 0: the list itself or a copy with space
 * for `more` elements. The caller has validated everything else. */
ef_status *ef_list_for_write(const ef_call *c, int k, int64_t more, ef_list **out);
/* An element shape given as a tensor: a vector with -1 for unknown dims, or the scalar -1. */
ef_status *ef_list_shape_from(const ef_call *c, int k, ef_shape *out);
ef_shape ef_list_shape_fact(const ef_infer *i, int k); /* the same, as far as it is known */
/* The shape of an element that has no value: from input k, the list's own element shape and, if it
 * is still incomplete, the stored elements. `why` ends the message. */
ef_status *ef_list_element_shape(const ef_call *c, int k, const ef_list *l, const char *why,
                                 ef_shape *out);
/* Copies n elements from src[from] to dst[to], strings too. NULL src: zeros. */
ef_status *ef_list_copy(ef_tensor *dst, int64_t to, const ef_tensor *src, int64_t from, int64_t n);
/* dims [1, rank) of s; s has rank >= 1. */
ef_shape ef_list_tail(const ef_shape *s);
/* Puts the dim `first` before the dims of s; unknown rank stays unknown. */
ef_status *ef_list_prepend(const ef_op *op, int64_t first, const ef_shape *s, ef_shape *out);
typedef struct ef_list_attrs {
    ef_dtype element_dtype;
} ef_list_attrs;
#define EF_LIST_DTYPE EF_ATTR(ef_list_attrs, element_dtype, "type", NULL)
#endif
