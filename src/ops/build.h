/* Writing gradients. A gradient function appends ops through a builder, so the same few lines run
 * eagerly under a tape, trace into a graph, fuse, and differentiate again. Builders are implemented
 * above (by graph and by eager).
 *
 * Errors stick: after a failure emitters return NULL, take NULL inputs without complaint, and the
 * builder keeps the first status. So gradient code needs no checks and returns NULL itself. */
#ifndef EF_OPS_BUILD_H
#define EF_OPS_BUILD_H
#include "ops/op.h"

typedef struct ef_build ef_build;
typedef struct ef_value ef_value;

struct ef_value { /* A builder's own struct begins with this one. */
    ef_fact fact;
    ef_value *values, *indices, *dense_shape; /* set: this is an IndexedSlices of three values */
};
struct ef_build {
    ef_status *(*emit)(ef_build *b, const ef_op *op, const ef_attrs *attrs, ef_value *const *in,
                       int n_in, ef_value **out, int max_out, int *n_out);
    ef_status *(*constant)(ef_build *b, const ef_tensor *t, ef_value **out);
    void *(*memory)(ef_build *b, size_t n); /* lives as long as the builder's values */
    ef_status *failed;                      /* the first failure, owned by the builder */
};

struct ef_grad {
    ef_build *b;
    const ef_op *op;
    const void *attrs;
    int n_in, n_out;
    ef_value *const *in, *const *out; /* those that the record's `keeps` does not list have dtype
                                       * and shape, but no value */
    ef_value *const *dout;            /* NULL where no gradient arrives; at least one is not */
    ef_value **din;                   /* preset to NULL: no gradient */
};

/* Emitters. `n` inputs follow, each an ef_value *. The first output is returned. */
ef_value *ef_emit(ef_build *b, const char *op, int n, ...);
ef_value *ef_emit_set(ef_build *b, const char *op, const ef_attr_value *set, int n_set, int n, ...);
/* Attributes of the same name are taken from the forward op. */
ef_value *ef_emit_like(ef_grad *g, const char *op, const ef_attr_value *set, int n_set, int n, ...);
/* Returns all outputs: `out` has space for max_out; the result is their number (0 after a
 * failure). */
int ef_emit_many(ef_build *b, const char *op, const ef_attr_value *set, int n_set,
                 ef_value *const *in, int n_in, ef_value **out, int max_out);
void ef_build_fail(ef_build *b, ef_status *s); /* takes ownership of s; keeps the first */

ef_value *ef_const(ef_build *b, const ef_tensor *t);
ef_value *ef_const_number(ef_build *b, ef_dtype t, double v);              /* scalar */
ef_value *ef_const_ints(ef_build *b, ef_dtype t, int n, const int64_t *v); /* vector */

ef_value *ef_add(ef_build *b, ef_value *x, ef_value *y);
ef_value *ef_sub(ef_build *b, ef_value *x, ef_value *y);
ef_value *ef_mul(ef_build *b, ef_value *x, ef_value *y);
ef_value *ef_div(ef_build *b, ef_value *x, ef_value *y); /* RealDiv */
ef_value *ef_neg(ef_build *b, ef_value *x);
ef_value *ef_scale(ef_build *b, ef_value *x, double k);  /* x * k in x's dtype */
ef_value *ef_shift(ef_build *b, ef_value *x, double k);  /* x + k */
ef_value *ef_conj(ef_build *b, ef_value *x);             /* x itself unless complex */
ef_value *ef_cast(ef_build *b, ef_value *x, ef_dtype t); /* x itself if it is t already */
ef_value *ef_select(ef_build *b, ef_value *cond, ef_value *x, ef_value *y); /* SelectV2 */
ef_value *ef_zeros_like(ef_build *b, ef_value *x);
ef_value *ef_ones_like(ef_build *b, ef_value *x);
ef_value *ef_matmul(ef_build *b, ef_value *x, ef_value *y, bool tx, bool ty);
ef_value *ef_shape_value(ef_build *b, ef_value *x,
                         ef_dtype t); /* a constant when the shape is known, else Shape */
ef_value *ef_reshape(ef_build *b, ef_value *x, ef_value *shape);
ef_value *ef_reshape_like(ef_build *b, ef_value *x, ef_value *like);
ef_value *ef_transpose(ef_build *b, ef_value *x, int n, const int64_t *perm);
ef_value *ef_sum(ef_build *b, ef_value *x, int n, const int64_t *axes, bool keep);
ef_value *ef_sum_axes(ef_build *b, ef_value *x, ef_value *axes, bool keep);
ef_value *ef_broadcast_to_like(ef_build *b, ef_value *x, ef_value *like);
/* Undoes broadcasting: sums x over the axes along which `like` was stretched. Works for unknown
 * shapes too (BroadcastGradientArgs). */
ef_value *ef_sum_like(ef_build *b, ef_value *x, ef_value *like);
ef_value *ef_slices(ef_build *b, ef_value *values, ef_value *indices, ef_value *dense_shape);
ef_value *ef_dense(ef_build *b, ef_value *x); /* IndexedSlices summed into a tensor; else x */
/* dout[k], or zeros like out[k] if no gradient arrives. */
ef_value *ef_dout(ef_grad *g, int k);
#endif
