/* Diag, DiagPart: the diagonal of a tensor of any even rank; MatrixBandPart: everything outside a
 * band of diagonals set to zero. */
#include "base/pool.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include <string.h>

static ef_status *diag_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    if (x->rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, 2 * x->rank));
    ef_shape *out = &i->out[0].shape;
    out->rank = 2 * x->rank;
    for (int d = 0; d < out->rank; d++) out->dim[d] = x->dim[d % x->rank];
    return ef_need_size_held(i->op, out);
}

static ef_status *diag_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int64_t n = ef_count(x);
    ef_dtype t = (ef_dtype)x->dtype;
    ef_block b = {.rank = 1, .dim = {n}, .from = {1}, .to = {n + 1}};
    EF_TRY(ef_zero_elements(t, c->out[0]->data, n * n));
    return ef_block_copy(t, c->out[0]->data, x->data, &b);
}

static ef_status *diag_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "DiagPart", 1, g->dout[0]);
    return NULL;
}

#define DIAG_TYPES "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"

const ef_op ef_op_Diag = {
    EF_NAMED(Diag),
    .doc = "A tensor of twice the rank with the elements of `diagonal` where both halves of an "
           "index are equal, and zeros elsewhere.",
    .in = {"diagonal: T"},
    .out = {"output: T"},
    .types = DIAG_TYPES,
    .keeps = EF_KEEP_NONE,
    .shape = diag_shape,
    .kernel = EF_ANY_KERNEL(diag_run),
    .grad = diag_grad,
    .examples = {"float[3]", "double[2,3]", "int32[0]"},
};

static ef_status *diag_part_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    if (x->rank < 0) return NULL;
    int half = x->rank / 2;
    if (x->rank % 2 != 0)
        return ef_error(EF_INVALID,
                        "DiagPart: The rank of the tensor should be even, got shape "
                        "%s",
                        EF_SHAPE(x));
    ef_shape *out = &i->out[0].shape;
    out->rank = half;
    for (int d = 0; d < half; d++)
        EF_TRY(ef_need_same_dim(i, x->dim[d], x->dim[d + half],
                                "the sizes of both halves of the shape", &out->dim[d]));
    return NULL;
}

static ef_status *diag_part_graph(ef_infer *i) {
    if (i->in[0].shape.rank != 0) return NULL;
    return ef_error(EF_INVALID,
                    "DiagPart: input is a scalar; in a graph, its rank must be even and "
                    "not zero");
}

static ef_status *diag_part_run(const ef_call *c) {
    int64_t n = ef_count(c->out[0]);
    ef_block b = {.rank = 1, .dim = {n}, .from = {n + 1}, .to = {1}};
    return ef_block_copy((ef_dtype)c->in[0]->dtype, c->out[0]->data, c->in[0]->data, &b);
}

static ef_status *diag_part_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "Diag", 1, g->dout[0]);
    return NULL;
}

const ef_op ef_op_DiagPart = {
    EF_NAMED(DiagPart),
    .doc = "The elements of `input` whose index has two equal halves.",
    .in = {"input: T"},
    .out = {"diagonal: T"},
    .types = DIAG_TYPES,
    .keeps = EF_KEEP_NONE,
    .shape = diag_part_shape,
    .graph_check = diag_part_graph,
    .kernel = EF_ANY_KERNEL(diag_part_run),
    .grad = diag_part_grad,
    .examples = {"float[3,3]", "double[2,3,2,3]", "int32[0,0]"},
};

/* ---- MatrixBandPart ---------------------------------------------------------------------------
 */

static ef_status *band_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    for (int k = 1; k < 3; k++) EF_TRY(ef_need_rank(i, k, 0));
    return ef_shape_same(i);
}

typedef struct {
    char *out;
    const char *in;
    size_t size;
    int64_t rows, cols, lower, upper; /* lower, upper: negative means all */
} band_job;

static void band_rows(void *arg, int64_t begin, int64_t end) {
    const band_job *j = arg;
    for (int64_t r = begin; r < end; r++) {
        int64_t i = r % j->rows, first = 0, last = j->cols;
        if (j->lower >= 0 && i - j->lower > 0) first = i - j->lower < last ? i - j->lower : last;
        if (j->upper >= 0 && i + j->upper + 1 < last) last = i + j->upper + 1;
        if (last < first) last = first;
        char *o = j->out + (size_t)(r * j->cols) * j->size;
        const char *x = j->in + (size_t)(r * j->cols) * j->size;
        memset(o, 0, (size_t)first * j->size);
        if (o != x)
            memcpy(o + (size_t)first * j->size, x + (size_t)first * j->size,
                   (size_t)(last - first) * j->size);
        memset(o + (size_t)last * j->size, 0, (size_t)(j->cols - last) * j->size);
    }
}

static ef_status *band_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int64_t k[2], size[2] = {x->dim[x->rank - 2], x->dim[x->rank - 1]};
    for (int j = 0; j < 2; j++) {
        k[j] = ef_in_int(c, 1 + j, 0);
        if (k[j] > size[j])
            return ef_error(EF_INVALID,
                            "MatrixBandPart: %s must be negative or less or equal to number of %s "
                            "(%lld) got: %lld",
                            j ? "num_upper" : "num_lower", j ? "columns" : "rows",
                            (long long)size[j], (long long)k[j]);
    }
    if (ef_count(x) == 0) return NULL;
    band_job job = {.out = c->out[0]->data,
                    .in = x->data,
                    .size = ef_dtype_size((ef_dtype)x->dtype),
                    .rows = size[0],
                    .cols = size[1],
                    .lower = k[0],
                    .upper = k[1]};
    ef_parallel(ef_count(x) / size[1], 1, (double)(size[1] * (int64_t)job.size) * 0.12 + 4,
                band_rows, &job);
    return NULL;
}

static ef_status *band_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "MatrixBandPart", 3, g->dout[0], g->in[1], g->in[2]);
    return NULL;
}

const ef_op ef_op_MatrixBandPart = {
    EF_NAMED(MatrixBandPart),
    .doc = "Sets everything outside a band around the main diagonals to zero: the band has "
           "`num_lower` diagonals below it and `num_upper` above; a negative number means all.",
    .in = {"input: T", "num_lower: Tindex", "num_upper: Tindex"},
    .out = {"band: T"},
    .types = "T: " EF_PLAIN_TYPES "; Tindex: {int32, int64} = int64",
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = band_shape,
    .kernel = EF_MOVE_KERNEL(band_run),
    .grad = band_grad,
    .examples = {"float[4,4] int64[]{1} int64[]{0}", "double[2,3,5] int32[]{-1} int32[]{1}",
                 "int32[3,2] int64[]{0} int64[]{-1}", "float[2,0,3] int64[]{0} int64[]{0}"},
};
