/* AddN and AccumulateNV2 - the sum of any number of tensors of one shape, in one pass: each block
 * of the result stays in the cache while every operand is added to it. */
#include "base/pool.h"
#include "ops/list/list.h"
#include "ops/list/list_fact.h"
#include "ops/records.h"

typedef struct {
    ef_shape shape;
} accumulate_attrs;

#define NUMBERS_AND_LISTS                                                                    \
    "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, " \
    "int64, complex64, complex128, variant}"
enum { BLOCK = 2048 };
typedef struct {
    const ef_call *c;
    ef_tile_fn *add;
    size_t size;
} sum_work;

static void sum_range(void *arg, int64_t begin, int64_t end) {
    const sum_work *w = arg;
    const ef_call *c = w->c;
    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t m = end - at < BLOCK ? end - at : BLOCK;
        size_t skip = (size_t)at * w->size;
        char *out = (char *)c->out[0]->data + skip;
        const void *in[2] = {(const char *)c->in[0]->data + skip, NULL};
        for (int k = 1; k < c->n_in; k++) {
            in[1] = (const char *)c->in[k]->data + skip;
            w->add(out, in, m, 0, NULL);
            in[0] = out;
        }
    }
}
static ef_status *run_sum(const ef_call *c) {
    const ef_tensor *out = c->out[0];
    int64_t n = ef_count(out);
    sum_work w = {c, ef_op_AddV2.tile[out->dtype], ef_dtype_size(out->dtype)};
    if (n == 0) return NULL;
    if (c->n_in == 1)
        memmove(out->data, c->in[0]->data, (size_t)n * w.size);
    else
        ef_parallel(n, BLOCK, 0.3 * c->n_in, sum_range, &w);
    return NULL;
}
/* Lists are added element by element; the gradients of loops contain such sums. */
static ef_status *run_list_sum(const ef_call *c) {
    ef_tensor sum = {0};
    ef_tensor_copy(&sum, c->in[0]);
    for (int k = 1; k < c->n_in; k++) {
        ef_tensor next = {0};
        ef_status *s = ef_list_add(&sum, c->in[k], &next);
        ef_tensor_release(&sum);
        if (s != NULL) return s;
        ef_tensor_move(&sum, &next);
    }
    ef_status *s = ef_out_share(c, 0, &sum);
    ef_tensor_release(&sum);
    return s;
}
static ef_status *sum_grad(ef_grad *g) {
    for (int k = 0; k < g->n_in; k++) g->din[k] = g->dout[0];
    return NULL;
}

/* The sum of lists has as many elements as each of them; shapes of elements merge what is known of
 * all lists. */
static void sum_list_fact(ef_infer *i) {
    ef_list_fact all, l;
    if (!ef_list_fact_get(&i->in[0], &all)) return;
    for (int k = 1; k < i->n_in; k++) {
        if (!ef_list_fact_get(&i->in[k], &l) || l.dtype != all.dtype) return;
        if (all.n < 0) all.n = l.n;
        if (!l.bare) ef_list_fact_store(&all, &l.element);
    }
    ef_list_fact_set(i, 0, &all);
}

static ef_status *sum_shape(ef_infer *i) {
    EF_TRY(ef_shape_merge_all(i));
    if (i->n_in > 0 && i->in[0].dtype == EF_VARIANT) sum_list_fact(i);
    return NULL;
}

const ef_op ef_op_AddN = {
    EF_NAMED(AddN),
    .doc = "The sum of all `inputs`, which must have the same shape.",
    .in = {"inputs: N * T"},
    .out = {"sum: T"},
    .types = NUMBERS_AND_LISTS "; N: int >= 1",
    .traits = EF_COMMUTES | EF_SLICES_OK | EF_NEVER_FAILS,
    .keeps = EF_KEEP_NONE,
    .shape = sum_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, run_sum, NULL, NULL, NULL, NULL},
               {EF_CPU, EF_BIT(VARIANT), run_list_sum, NULL, NULL, NULL, NULL}},
    .grad = sum_grad,
    .examples = {"float[2,3] float[2,3] float[2,3]", "double[4]", "half[] half[]",
                 "int32[0,3] int32[0,3]", "uint8[3] uint8[3] uint8[3]", "complex64[2] complex64[2]",
                 "list(float[2] float[3]) list(float[2] float[3])"},
};

static ef_status *accumulate_shape(ef_infer *i) {
    const accumulate_attrs *at = i->attrs;
    EF_TRY(ef_shape_merge_all(i));
    ef_shape both;
    ef_status *s = ef_shape_merge(&i->out[0].shape, &at->shape, &both);
    if (s != NULL) {
        ef_status_free(s);
        return ef_error(EF_INVALID, "AccumulateNV2: inputs are %s, but shape says %s",
                        EF_SHAPE(&i->out[0].shape), EF_SHAPE(&at->shape));
    }
    i->out[0].shape = both;
    return NULL;
}

const ef_op ef_op_AccumulateNV2 = {
    EF_NAMED(AccumulateNV2),
    .doc = "The sum of all `inputs`, which must have the given `shape`.",
    .in = {"inputs: N * T"},
    .out = {"sum: T"},
    .types = EF_T_NUMBERS "; N: int >= 1",
    .attr = {EF_ATTR(accumulate_attrs, shape, "shape", NULL)},
    .attr_size = sizeof(accumulate_attrs),
    .traits = EF_COMMUTES | EF_SLICES_OK,
    .keeps = EF_KEEP_NONE,
    .shape = accumulate_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, run_sum, NULL, NULL, NULL, NULL}},
    .grad = sum_grad,
    .examples = {"float[2,3] float[2,3] float[2,3] shape=[2,3]", "int32[4] shape=[4]",
                 "double[] double[] shape=[]"},
};
