/* Helpers shared by the ops that move elements. */
#ifndef EF_OPS_ARRAY_H
#define EF_OPS_ARRAY_H
#include "kernels/block.h"
#include "ops/op.h"
#include "ops/shapes.h"

/* One CPU kernel for every dtype that the argument notation allows. */
#define EF_ANY_KERNEL(fn)                              \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define EF_ANY_KERNEL_AWAY(fn) /* also on the test device */     \
    {                                                            \
        { EF_CPU | EF_TEST, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
/* The same without resources and variants, whose elements cannot be copied as bytes. */
#define EF_MOVE_KERNEL(fn) EF_MOVE_KERNEL_OF(fn, 0)
/* The same, and also for the dtypes in `stored`. Most dtypes that can only be stored have no kernel
 * in TensorFlow. */
#define EF_MOVE_KERNEL_OF(fn, stored)                                                   \
    {                                                                                   \
        { EF_CPU, EF_COMPUTED | EF_BIT(STRING) | (stored), fn, NULL, NULL, NULL, NULL } \
    }
/* The same for ops that run on the test device too. */
#define EF_MOVE_KERNEL_AWAY(fn, stored)                                                           \
    {                                                                                             \
        { EF_CPU | EF_TEST, EF_COMPUTED | EF_BIT(STRING) | (stored), fn, NULL, NULL, NULL, NULL } \
    }
/* Type sets in argument notation. Where TensorFlow declares `type`, stored-only dtypes are allowed
 * too, but have no kernel unless the kernel's row lists them. */
#define EF_MOVE_TYPES                                                                            \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, " \
    "complex64, complex128, bool, string, stored}"
#define EF_NUMBER_TYPES                                                                          \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, " \
    "complex64, complex128}"
#define EF_PLAIN_TYPES                                                                           \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, " \
    "complex64, complex128, bool, stored}"
#define EF_COMPUTED_TYPES                                                                        \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, " \
    "complex64, complex128, bool}"
#define EF_COMPUTED_AND_STRING                                                                   \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, " \
    "complex64, complex128, bool, string}"

/* Makes sure that out[k], whose shape is set, has memory: the planner's, or allocated now
 * (strings). */
ef_status *ef_out_memory(const ef_call *c, int k);
/* Makes out[k] the value of t: shared, or copied if out[k] already has memory. */
ef_status *ef_out_same(const ef_call *c, int k, const ef_tensor *t);
/* Element j of input k as a number; for inputs that hold axes, indices and sizes. */
static inline int64_t ef_in_int(const ef_call *c, int k, int64_t j) {
    return ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, j);
}
/* The strides of a tensor's axes, in elements. */
static inline void ef_steps(const ef_tensor *t, int64_t *step) {
    ef_dense_steps(t->rank, t->dim, step);
}
/* A shape given as an input: exact when the values are known; else of that rank with unknown dims,
 * or of unknown rank. A scalar counts as a vector of one. Rejects negative sizes, except that
 * `wild` accepts -1 as unknown. */
ef_status *ef_shape_input(const ef_infer *i, int k, bool wild, ef_shape *out);
/* Fails with the op's name if rank is more than EF_MAX_RANK. */
ef_status *ef_need_rank_held(const ef_op *op, int64_t rank);
/* Fails with the op's name if the number of elements does not fit into 64 bits; unknown dims
 * pass. */
ef_status *ef_need_size_held(const ef_op *op, const ef_shape *s);
/* A shape of this rank with every dim unknown. */
ef_shape ef_shape_of_rank(int rank);
/* Shape vectors in gradients: sizes [from, to) of one (to < 0: to its end), several concatenated,
 * and the product of all sizes as a vector of one. */
struct ef_build;
struct ef_value;
struct ef_value *ef_shape_part(struct ef_build *b, struct ef_value *shape, int from, int to);
struct ef_value *ef_shape_join(struct ef_build *b, int n, ...);
struct ef_value *ef_shape_product(struct ef_build *b, struct ef_value *shape);
/* Zeros with the dtype and shape of v, whose elements are not read. */
struct ef_value *ef_zeros_of(struct ef_build *b, struct ef_value *v);
/* Checks that input k is a vector or, if `scalar` allows it, one number. */
ef_status *ef_need_vector(const ef_infer *i, int k, bool scalar);
/* The scalar in input k; *known is false if its value is not known. */
ef_status *ef_known_int(const ef_infer *i, int k, int64_t *v, bool *known);
#endif
