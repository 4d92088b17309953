/* Convolution by oneDNN. Activations stay in the plain layout they come in; the filter is reordered
 * into the layout the primitive likes, on every run because weights change between runs and because
 * it is small beside the convolution. On AVX2 this picks the jitted direct kernels for
 * channels-last data in all three directions; a filter left as it is would fall back to gemm at
 * half the speed. */
#include "kernels/conv.h"
#include "base/pool.h"
#include "kernels/conv_filter.h"
#include "kernels/dnnl.h"

static double flops(const ef_conv *c) {
    const ef_window_box *b = &c->box;
    int64_t per_in = b->in_channels / b->groups;
    return 2.0 * (double)b->batch * (double)ef_volume(b->out) * (double)ef_volume(b->kernel) *
           (double)b->out_channels * (double)per_in;
}

/* Up to here our own loops, at a few GFLOP/s but without any preparation, are quicker than
 * execution and reorder; see conv_bench. */
static const double pays_from = 20e3;
/* About 20 us on one thread. */
static const double team_from = 2e6;

/* oneDNN counts in int, and its time grows with the padding (2 s for a dilation of 2^20, which
 * 'SAME' pads by twice as much): sizes far from any image stay away from it. */
static bool is_sane(const ef_window_box *b) {
    const int64_t most = 1 << 24, most_padding = 1 << 12;
    for (int d = 0; d < 3; d++)
        if (b->stride[d] > most || b->dilation[d] > most || b->before[d] > most_padding ||
            b->after[d] > most_padding || b->in[d] > most || b->out[d] > most ||
            b->kernel[d] > most)
            return false;
    return b->batch <= most && b->in_channels <= most && b->out_channels <= most;
}

bool ef_conv_pays(const ef_conv *c) {
    if (c->kind == EF_CONV_FILTER && ef_conv_filter_pays(&c->box)) return false;
    return flops(c) >= pays_from && is_sane(&c->box);
}

typedef struct layout {
    int n; /* dims: 2 + rank, for grouped filters 3 + rank */
    dnnl_dims_t dims, steps;
} layout;

static ef_status *describe(const layout *l, dnnl_memory_desc_t *md) {
    return ef_dnnl_status(dnnl_memory_desc_init_by_strides(md, l->n, l->dims, dnnl_f32, l->steps),
                          "describe a tensor");
}

static ef_status *describe_image(const ef_window_box *b, int64_t channels, const int64_t size[3],
                                 dnnl_memory_desc_t *md) {
    ef_steps s = ef_steps_of(b->channels_first, channels, size);
    layout l = {.n = 2 + b->rank};
    l.dims[0] = b->batch, l.dims[1] = channels;
    l.steps[0] = s.batch, l.steps[1] = s.channel;
    for (int d = 0; d < b->rank; d++) {
        l.dims[2 + d] = size[3 - b->rank + d];
        l.steps[2 + d] = s.axis[3 - b->rank + d];
    }
    return describe(&l, md);
}

/* plain: as TensorFlow lays it out; any: the same dims, layout left to oneDNN. */
static ef_status *describe_filter(const ef_window_box *b, dnnl_memory_desc_t *plain,
                                  dnnl_memory_desc_t *any) {
    int64_t per_in = b->in_channels / b->groups, per_out = b->out_channels / b->groups;
    layout l = {.n = 0};
    if (b->groups > 1) l.dims[l.n] = b->groups, l.steps[l.n++] = per_out;
    l.dims[l.n] = per_out, l.steps[l.n++] = 1;
    l.dims[l.n] = per_in, l.steps[l.n++] = b->out_channels;
    int64_t step = per_in * b->out_channels;
    for (int d = 2; d >= 3 - b->rank; d--) {
        int at = l.n + d - (3 - b->rank);
        l.dims[at] = b->kernel[d], l.steps[at] = step;
        step *= b->kernel[d];
    }
    l.n += b->rank;
    EF_TRY(describe(&l, plain));
    return ef_dnnl_status(
        dnnl_memory_desc_init_by_tag(any, l.n, l.dims, dnnl_f32, dnnl_format_tag_any),
        "describe a filter");
}

typedef struct recipe {
    dnnl_engine_t engine;
    dnnl_memory_desc_t src, dst, plain, any, bias;
    dnnl_dims_t stride, dilation, before, after;
    dnnl_primitive_attr_t attr;
} recipe;

static ef_status *append_activation(const ef_conv *c, dnnl_post_ops_t ops) {
    dnnl_alg_kind_t kind = dnnl_eltwise_relu;
    float alpha = 0;
    switch ((ef_activation)c->activation) {
    case EF_ACT_NONE: return NULL;
    case EF_ACT_RELU: break;
    case EF_ACT_RELU6: kind = dnnl_eltwise_bounded_relu, alpha = 6; break;
    case EF_ACT_ELU: kind = dnnl_eltwise_elu, alpha = 1; break;
    case EF_ACT_LEAKY: alpha = c->alpha; break;
    case EF_ACT_TANH: kind = dnnl_eltwise_tanh; break;
    case EF_ACT_SIGMOID: kind = dnnl_eltwise_logistic; break;
    }
    return ef_dnnl_status(dnnl_post_ops_append_eltwise(ops, 1.0F, kind, alpha, 0),
                          "append an activation");
}

static ef_status *make_attr(const ef_conv *c, dnnl_primitive_attr_t *out) {
    dnnl_post_ops_t ops = NULL;
    ef_status *s = NULL;
    EF_TRY(ef_dnnl_status(dnnl_primitive_attr_create(out), "make attributes"));
    EF_TRY_GOTO(
        ef_dnnl_status(dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user),
                       "set the scratchpad mode"));
    EF_TRY_GOTO(ef_dnnl_status(dnnl_post_ops_create(&ops), "make post-ops"));
    if (c->has_add)
        EF_TRY_GOTO(ef_dnnl_status(dnnl_post_ops_append_sum(ops, 1.0F), "append a sum"));
    EF_TRY_GOTO(append_activation(c, ops));
    EF_TRY_GOTO(ef_dnnl_status(dnnl_primitive_attr_set_post_ops(*out, ops), "set post-ops"));
done:
    if (ops != NULL) dnnl_post_ops_destroy(ops);
    if (s != NULL) dnnl_primitive_attr_destroy(*out);
    return s;
}

static ef_status *make_recipe(const ef_conv *c, recipe *r) {
    const ef_window_box *b = &c->box;
    memset(r, 0, sizeof *r);
    EF_TRY(ef_dnnl_engine(&r->engine));
    EF_TRY(describe_image(b, b->in_channels, b->in, &r->src));
    EF_TRY(describe_image(b, b->out_channels, b->out, &r->dst));
    EF_TRY(describe_filter(b, &r->plain, &r->any));
    if (c->has_bias) {
        dnnl_dims_t n = {b->out_channels};
        EF_TRY(ef_dnnl_status(dnnl_memory_desc_init_by_tag(&r->bias, 1, n, dnnl_f32, dnnl_a),
                              "describe a bias"));
    }
    for (int d = 0; d < b->rank; d++) {
        int at = 3 - b->rank + d;
        r->stride[d] = b->stride[at], r->dilation[d] = b->dilation[at] - 1;
        r->before[d] = b->before[at], r->after[d] = b->after[at];
    }
    return make_attr(c, &r->attr);
}

static ef_status *forward_desc(const recipe *r, dnnl_primitive_attr_t attr, bool bias,
                               dnnl_primitive_desc_t *out) {
    dnnl_convolution_desc_t d;
    EF_TRY(ef_dnnl_status(dnnl_dilated_convolution_forward_desc_init(
                              &d, dnnl_forward_training, dnnl_convolution_direct, &r->src, &r->any,
                              bias ? &r->bias : NULL, &r->dst, r->stride, r->dilation, r->before,
                              r->after),
                          "describe a convolution"));
    return ef_dnnl_status(dnnl_primitive_desc_create(out, &d, attr, r->engine, NULL),
                          "plan a convolution");
}

static ef_status *backward_desc(const recipe *r, int kind, dnnl_primitive_desc_t *out) {
    dnnl_convolution_desc_t d;
    dnnl_primitive_desc_t hint = NULL;
    EF_TRY(forward_desc(r, NULL, false, &hint));
    dnnl_status_t e = kind == EF_CONV_INPUT
                          ? dnnl_dilated_convolution_backward_data_desc_init(
                                &d, dnnl_convolution_direct, &r->src, &r->any, &r->dst, r->stride,
                                r->dilation, r->before, r->after)
                          : dnnl_dilated_convolution_backward_weights_desc_init(
                                &d, dnnl_convolution_direct, &r->src, &r->any, NULL, &r->dst,
                                r->stride, r->dilation, r->before, r->after);
    if (e == dnnl_success) e = dnnl_primitive_desc_create(out, &d, r->attr, r->engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return ef_dnnl_status(e, "plan a convolution's gradient");
}

/* Slot of the filter as the primitive wants it: the caller's own, or a temporary beside it. */
static ef_status *filter_slot(ef_chain *chain, dnnl_primitive_desc_t pd, dnnl_query_t what,
                              const recipe *r, int given, int *out) {
    const dnnl_memory_desc_t *want = dnnl_primitive_desc_query_md(pd, what, 0);
    *out = given;
    if (dnnl_memory_desc_equal(want, &r->plain)) return NULL;
    return ef_chain_temp(chain, want, out);
}

/* Given slots in the order a, b, out, bias. */
static ef_status *build_stages(ef_chain *chain, const ef_conv *c, const recipe *r,
                               dnnl_primitive_desc_t pd) {
    int a = 0, b = 0, out = 0, bias = 0, filter = 0;
    bool input = c->kind == EF_CONV_INPUT, weights = c->kind == EF_CONV_FILTER;
    ef_status *s = ef_chain_given(chain, input ? &r->dst : &r->src, &a);
    if (s == NULL) s = ef_chain_given(chain, weights ? &r->dst : &r->plain, &b);
    if (s == NULL) s = ef_chain_given(chain, input ? &r->src : weights ? &r->plain : &r->dst, &out);
    if (s == NULL && c->has_bias) s = ef_chain_given(chain, &r->bias, &bias);
    if (s == NULL)
        s = filter_slot(chain, pd, weights ? dnnl_query_diff_weights_md : dnnl_query_weights_md, r,
                        weights ? out : b, &filter);
    if (s == NULL && !weights && filter != b) s = ef_chain_reorder(chain, b, filter);
    if (s != NULL) {
        dnnl_primitive_desc_destroy(pd);
        return s;
    }
    int arg[4] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
    int slot[4] = {a, filter, out, bias};
    if (input) arg[0] = DNNL_ARG_DIFF_DST, arg[2] = DNNL_ARG_DIFF_SRC;
    if (weights) {
        arg[1] = DNNL_ARG_DIFF_WEIGHTS;
        arg[2] = DNNL_ARG_DIFF_DST, slot[2] = b;
    }
    EF_TRY(ef_chain_add(chain, pd, c->has_bias ? 4 : 3, arg, slot));
    return weights && filter != out ? ef_chain_reorder(chain, filter, out) : NULL;
}

static ef_status *build(ef_chain *chain, const void *key) {
    const ef_conv *c = key;
    recipe r;
    EF_TRY(make_recipe(c, &r));
    dnnl_primitive_desc_t pd = NULL;
    ef_status *s = c->kind == EF_CONV_FORWARD ? forward_desc(&r, r.attr, c->has_bias, &pd)
                                              : backward_desc(&r, c->kind, &pd);
    if (s == NULL) s = build_stages(chain, c, &r, pd);
    dnnl_primitive_attr_destroy(r.attr);
    return s;
}

static int threads_for(const ef_conv *c) { return flops(c) < team_from ? 1 : ef_pool_size(); }

ef_status *ef_conv_prepare(const ef_conv *c, void **handle) {
    ef_chain *chain = NULL;
    ef_status *s = ef_chain_get(c, sizeof *c, threads_for(c), build, &chain);
    *handle = chain;
    if (s == NULL || ef_status_code(s) == EF_NO_MEMORY) return s;
    ef_status_free(s); /* oneDNN declines; so each run will use the loops */
    return NULL;
}

void ef_conv_release(void *handle) { ef_chain_unref(handle); }

static ef_status *run_float(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    ef_chain *chain = handle, *own = NULL;
    if (chain == NULL || ef_chain_threads(chain) != threads_for(c)) {
        ef_status *s = ef_chain_get(c, sizeof *c, threads_for(c), build, &own);
        if (s != NULL) {
            if (ef_status_code(s) == EF_NO_MEMORY) return s;
            ef_status_free(s);
            return ef_conv_direct(c, t, d);
        }
        chain = own;
    }
    if (c->has_add)
        memcpy(d->out, d->add,
               (size_t)(c->box.batch * c->box.out_channels * ef_volume(c->box.out)) *
                   sizeof(float));
    void *const data[4] = {(void *)d->a, (void *)d->b, d->out, (void *)d->bias};
    ef_status *s = ef_chain_run(chain, data);
    ef_chain_unref(own);
    return s;
}

ef_status *ef_conv_dnnl(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    return ef_conv_widened(c, t, d, handle, run_float);
}
