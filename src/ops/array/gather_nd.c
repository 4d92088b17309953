/* GatherNd: slices selected by coordinates. */
#include "base/pool.h"
#include "ops/array/array.h"
#include "ops/array/nd_index.h"
#include "ops/build.h"
#include <stdatomic.h>
#include <string.h>

static ef_status *gather_nd_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    return ef_nd_shape(i->op, &i->in[1].shape, &i->in[0].shape, &i->out[0].shape);
}

typedef struct {
    const ef_nd *nd;
    const char *from;
    char *to;
    size_t bytes; /* of a slice */
    _Atomic int64_t bad;
} job;

static void copy_slices(void *arg, int64_t begin, int64_t end) {
    job *j = arg;
    size_t size = j->nd->slice > 0 ? j->bytes / (size_t)j->nd->slice : 0;
    for (int64_t k = begin; k < end; k++) {
        int64_t at = ef_nd_at(j->nd, k);
        if (at >= 0) {
            memcpy(j->to + (size_t)k * j->bytes, j->from + (size_t)at * size, j->bytes);
        } else {
            memset(j->to + (size_t)k * j->bytes, 0, j->bytes);
            atomic_store_explicit(&j->bad, k, memory_order_relaxed);
        }
    }
}

static ef_status *gather_strings(const ef_call *c, const ef_nd *nd) {
    ef_str *to = c->out[0]->data;
    const ef_str *from = c->in[0]->data;
    for (int64_t k = 0; k < nd->rows; k++) {
        int64_t at = ef_nd_at(nd, k);
        if (at < 0 && !nd->ignore) return ef_nd_outside(c->op, nd, k);
        if (at >= 0) EF_TRY(ef_copy_elements(EF_STRING, to + k * nd->slice, from + at, nd->slice));
    }
    return NULL;
}

static ef_status *gather_nd_run(const ef_call *c) {
    const ef_tensor *p = c->in[0];
    ef_shape s = ef_shape_from(p);
    ef_nd nd;
    EF_TRY(ef_nd_make(c->op, c->attrs, c->in[1], &s, &nd));
    if (nd.rows > 0 && ef_count(p) == 0)
        return ef_error(EF_INVALID,
                        "%s: cannot take %lld slices from params, which is empty (shape %s)",
                        c->op->name, (long long)nd.rows, EF_SHAPE(&s));
    EF_TRY(ef_out_memory(c, 0));
    if (p->dtype == EF_STRING) return gather_strings(c, &nd);
    job j = {.nd = &nd,
             .from = p->data,
             .to = c->out[0]->data,
             .bytes = (size_t)nd.slice * ef_dtype_size((ef_dtype)p->dtype),
             .bad = -1};
    ef_parallel(nd.rows, 16, 4.0 + nd.depth * 2.0 + (double)j.bytes * 0.12, copy_slices, &j);
    int64_t bad = atomic_load_explicit(&j.bad, memory_order_relaxed);
    return bad >= 0 && !nd.ignore ? ef_nd_outside(c->op, &nd, bad) : NULL;
}

static ef_status *gather_nd_grad(ef_grad *g) {
    ef_build *b = g->b;
    const ef_shape *x = &g->in[1]->fact.shape;
    ef_dtype t = g->in[1]->fact.dtype;
    if (x->rank == 2 && x->dim[1] == 1) { /* whole rows: the gradient stays sparse */
        ef_attr_value last[] = {EF_SET_INTS("squeeze_dims", 1, ((int64_t[]){-1}))};
        g->din[0] = ef_slices(b, g->dout[0], ef_emit_set(b, "Squeeze", last, 1, 1, g->in[1]),
                              ef_shape_value(b, g->in[0], EF_I64));
        return NULL;
    }
    ef_value *indices = t == EF_I16 ? ef_cast(b, g->in[1], EF_I32) : g->in[1];
    ef_value *shape = ef_shape_value(b, g->in[0], t == EF_I16 ? EF_I32 : t);
    g->din[0] = ef_emit_like(g, "ScatterNd", NULL, 0, 3, indices, g->dout[0], shape);
    return NULL;
}

const ef_op ef_op_GatherNd = {
    EF_NAMED(GatherNd),
    .doc =
        "The slices of `params` whose leading coordinates are given in the last axis of `indices`.",
    .in = {"params: Tparams", "indices: Tindices"},
    .out = {"output: Tparams"},
    .types = "Tparams: " EF_MOVE_TYPES "; Tindices: {int16, int32, int64}",
    .attr = EF_ND_ATTRS,
    .attr_size = sizeof(ef_nd_attrs),
    .keeps = EF_KEEP_IN(1),
    .shape = gather_nd_shape,
    .kernel = EF_MOVE_KERNEL_OF(gather_nd_run, EF_QUANTIZED_USUAL | EF_FLOAT8),
    .grad = gather_nd_grad,
    .examples = {"float[3,4] int32[2,2]{0,1,2,3}", "float[3,4] int64[2,1]{2,0}",
                 "double[2,2] int32[3,0]", "float[2,2,2] int32[2,1,2]{0,1,1,1}",
                 "string[2]{a,b} int32[1,1]{1}"},
};
