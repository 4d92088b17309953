/* IsotonicRegression - the non-increasing sequence nearest to the input in least squares.
 * Adjacent values that increase are pooled into their mean until none do; a row is a stack of
 * such blocks. */
#include "ops/build.h"
#include "ops/shapes.h"

typedef struct isotonic_attrs {
    ef_dtype output_dtype;
} isotonic_attrs;

static ef_status *isotonic_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    i->out[0].shape = i->out[1].shape = i->in[0].shape;
    return NULL;
}

typedef struct block {
    double sum;
    int64_t first, n;
} block;

static size_t isotonic_scratch(const ef_call *c) {
    return (size_t)c->in[0]->dim[1] * sizeof(block);
}

/* Pools one row; returns the number of blocks. */
static int64_t pool(const ef_tensor *x, int64_t at, int64_t n, block *stack) {
    int64_t top = 0;
    for (int64_t k = 0; k < n; k++) {
        block b = {ef_element_double((ef_dtype)x->dtype, x->data, at + k), k, 1};
        while (top > 0 && stack[top - 1].sum * (double)b.n <= b.sum * (double)stack[top - 1].n) {
            block *below = &stack[--top];
            b = (block){below->sum + b.sum, below->first, below->n + b.n};
        }
        stack[top++] = b;
    }
    return top;
}

static ef_status *isotonic_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *y = c->out[0];
    int32_t *segment = c->out[1]->data;
    int64_t n = x->dim[1];
    for (int64_t row = 0; row < x->dim[0]; row++) {
        int64_t blocks = pool(x, row * n, n, c->scratch);
        for (int64_t b = 0; b < blocks; b++) {
            const block *p = (const block *)c->scratch + b;
            for (int64_t k = row * n + p->first; k < row * n + p->first + p->n; k++) {
                ef_element_set((ef_dtype)y->dtype, y->data, k, p->sum / (double)p->n);
                segment[k] = (int32_t)b;
            }
        }
    }
    return NULL;
}

/* A block's value is its mean, so each of its elements gets the mean of the upstream gradients. */
static ef_status *isotonic_grad(ef_grad *g) {
    if (g->dout[0] == NULL) return NULL;
    ef_value *dx = ef_emit(g->b, "_BlockMeans", 2, g->dout[0], g->out[1]);
    g->din[0] = ef_cast(g->b, dx, g->in[0]->fact.dtype);
    return NULL;
}

const ef_op ef_op_IsotonicRegression = {
    EF_NAMED(IsotonicRegression),
    .doc = "The non-increasing rows nearest to those of `input`; `segments` numbers the "
           "runs of equal values.",
    .in = {"input: T"},
    .out = {"output: output_dtype", "segments: int32"},
    .types = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
             "uint64}",
    .attr = {EF_ATTR(isotonic_attrs, output_dtype, "{half, bfloat16, float, double}", "float")},
    .attr_size = sizeof(isotonic_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_OUT(1),
    .shape = isotonic_shape,
    .kernel = {{EF_CPU, EF_REALS, isotonic_run, isotonic_scratch, NULL, NULL, NULL}},
    .grad = isotonic_grad,
    .examples = {"float[2,5]", "int32[1,4]{3,1,2,5} output_dtype=double", "float[0,3]"},
};

static ef_status *means_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const int32_t *segment = c->in[1]->data;
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t n = x->dim[1];
    for (int64_t row = 0; row < x->dim[0]; row++)
        for (int64_t k = row * n, end = k + n, next; k < end; k = next) {
            double sum = 0;
            for (next = k; next < end && segment[next] == segment[k]; next++)
                sum += ef_element_double(t, x->data, next);
            for (int64_t j = k; j < next; j++)
                ef_element_set(t, c->out[0]->data, j, sum / (double)(next - k));
        }
    return NULL;
}

static ef_status *means_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "_BlockMeans", 2, g->dout[0], g->in[1]);
    return NULL;
}

static ef_status *means_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    return ef_shape_merge(&i->in[0].shape, &i->in[1].shape, &i->out[0].shape);
}

const ef_op ef_op__BlockMeans = {
    EF_NAMED(_BlockMeans),
    .doc = "In each row, neighbours with the same number in `segments` become their mean.",
    .in = {"x: T", "segments: int32"},
    .out = {"y: T"},
    .types = "T: {half, bfloat16, float, double}",
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(1),
    .shape = means_shape,
    .kernel = {{EF_CPU, EF_FLOATS, means_run, NULL, NULL, NULL, NULL}},
    .grad = means_grad,
    .examples = {"T[2,3] int32[2,3]{0,0,1,0,1,1}"},
};
