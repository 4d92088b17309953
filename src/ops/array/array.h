/* Helpers shared by the ops that move elements about. */
#ifndef EF_OPS_ARRAY_H
#define EF_OPS_ARRAY_H
#include "kernels/block.h"
#include "ops/op.h"
#include "ops/shapes.h"

/* One CPU kernel for every dtype the argument notation lets through. */
#define EF_ANY_KERNEL(fn)                              \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define EF_ANY_KERNEL_AWAY(fn) /* on the test device, too */     \
    {                                                            \
        { EF_CPU | EF_TEST, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
/* The same without resources and variants, which are not elements to be moved. */
#define EF_MOVE_KERNEL(fn) EF_MOVE_KERNEL_OF(fn, 0)
/* And for `stored` of the types that are only stored: TensorFlow has kernels for few of them. */
#define EF_MOVE_KERNEL_OF(fn, stored)                                                   \
    {                                                                                   \
        { EF_CPU, EF_COMPUTED | EF_BIT(STRING) | (stored), fn, NULL, NULL, NULL, NULL } \
    }
/* The same for ops that run on the test device, too. */
#define EF_MOVE_KERNEL_AWAY(fn, stored)                                                           \
    {                                                                                             \
        { EF_CPU | EF_TEST, EF_COMPUTED | EF_BIT(STRING) | (stored), fn, NULL, NULL, NULL, NULL } \
    }
/* Type sets in argument notation. Where TensorFlow declares `type`, stored types pass too, and find
 * no kernel unless the kernel's row names them. */
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

/* Memory for out[k], whose shape is set: there already, or made now (strings). */
ef_status *ef_out_memory(const ef_call *c, int k);
/* out[k] is t's value: shared, or copied where memory is waiting already. */
ef_status *ef_out_same(const ef_call *c, int k, const ef_tensor *t);
/* Element j of input k as a number; inputs holding axes, indices and sizes. */
static inline int64_t ef_in_int(const ef_call *c, int k, int64_t j) {
    return ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, j);
}
/* Steps of a tensor's axes. */
static inline void ef_steps(const ef_tensor *t, int64_t *step) {
    ef_dense_steps(t->rank, t->dim, step);
}
/* A shape given as an input: exact when the values are known; else of that rank with unknown dims,
 * or of unknown rank. A scalar counts as a vector of one. Rejects negative sizes unless `wild`,
 * which lets -1 through as unknown. */
ef_status *ef_shape_input(const ef_infer *i, int k, bool wild, ef_shape *out);
/* rank as a rank we can hold, or an error in the op's name. */
ef_status *ef_need_rank_held(const ef_op *op, int64_t rank);
/* The product of dims is a size we can hold, or an error in the op's name; unknown dims pass. */
ef_status *ef_need_size_held(const ef_op *op, const ef_shape *s);
/* Every dim unknown. */
ef_shape ef_shape_of_rank(int rank);
/* Shapes as values, for gradients: sizes [from, to) of a shape vector (to < 0: to its end), vectors
 * put one behind the other, and the product of all sizes as a vector of one. */
struct ef_build;
struct ef_value;
struct ef_value *ef_shape_part(struct ef_build *b, struct ef_value *shape, int from, int to);
struct ef_value *ef_shape_join(struct ef_build *b, int n, ...);
struct ef_value *ef_shape_product(struct ef_build *b, struct ef_value *shape);
/* Zeros in the dtype and shape of v, whose elements are not needed. */
struct ef_value *ef_zeros_of(struct ef_build *b, struct ef_value *v);
/* Checks that input k is a vector or, if `scalar` allows, one number. */
ef_status *ef_need_vector(const ef_infer *i, int k, bool scalar);
/* Known scalar input k; *known false if its value is not known. */
ef_status *ef_known_int(const ef_infer *i, int k, int64_t *v, bool *known);
#endif
