/* Convolution by oneDNN. Activations stay in their plain layout; the filter is reordered to the
 * layout that the primitive prefers, in every run, because weights change between runs and because
 * it is small compared with the convolution. A large convolution is divided into pieces
 * (conv_cut.c) that share one reordered filter; the pieces of a filter's gradient compute one
 * partial gradient each, and these are added in pairs. On AVX2 this selects the jitted direct
 * kernels for channels-last data in all three directions; a filter in its plain layout would fall
 * back to gemm at half the speed. */
#include "kernels/conv.h"
#include "base/pool.h"
#include "kernels/conv_cut.h"
#include "kernels/conv_filter.h"
#include "kernels/dnnl.h"
#include "tensor/scratch.h"
#include <stdatomic.h>

/* Variants of a convolution: divided into pieces; in one piece, with the filter in the caller's
 * layout or in the layout that the primitive prefers. */
enum { CUT, PLAIN, PACKED };

static const size_t large_filter = 256 << 10; /* bytes from which several threads reorder it */

/* Up to this amount of work our own loops, at a few GFLOP/s but without any preparation, are faster
 * than execution and reorder; see conv_bench. */
static const double pays_from = 20e3;

/* oneDNN uses int sizes, and its time grows with the padding (2 s for a dilation of 2^20, which
 * 'SAME' pads by twice as much): unreasonable sizes are not given to it. */
static bool is_sane(const ef_window_box *b) {
    const int64_t most = 1 << 24, most_padding = 1 << 12;
    for (int d = 0; d < 3; d++)
        if (b->stride[d] > most || b->dilation[d] > most || b->before[d] > most_padding ||
            b->after[d] > most_padding || b->in[d] > most || b->out[d] > most ||
            b->kernel[d] > most)
            return false;
    return b->batch <= most && b->in_channels <= most && b->out_channels <= most;
}

/* Our loops for a filter's gradient are written for AVX2. On Intel processors with AVX-512 oneDNN
 * takes 0.6 of their time, but on AMD's 1.4 (32x64x64x3 -> 32 channels). */
static bool is_wide(void) {
#if defined(__x86_64__)
    return dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core && __builtin_cpu_is("intel");
#else
    return false;
#endif
}

bool ef_conv_pays(const ef_conv *c) {
    if (c->kind == EF_CONV_FILTER && !is_wide() && ef_conv_filter_pays(&c->box)) return false;
    return ef_conv_flops(c) >= pays_from && is_sane(&c->box);
}

typedef struct layout {
    int n; /* number of dims: 2 + rank, for grouped filters 3 + rank */
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

/* plain: TensorFlow's layout; any: the same dims, with the layout left to oneDNN. */
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
    case EF_ACT_LEAKY_RELU: alpha = c->alpha; break;
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

/* The given slots are in the order a, b, out, bias. */
static ef_status *build_stages(ef_chain *chain, const ef_conv *c, const recipe *r,
                               dnnl_primitive_desc_t pd) {
    int a = 0, b = 0, out = 0, bias = 0;
    bool input = c->kind == EF_CONV_INPUT, weights = c->kind == EF_CONV_FILTER;
    const dnnl_memory_desc_t *want = dnnl_primitive_desc_query_md(
        pd, weights ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *door = c->form == PACKED ? want : &r->plain;
    ef_status *s = ef_chain_given(chain, input ? &r->dst : &r->src, &a);
    if (s == NULL) s = ef_chain_given(chain, weights ? &r->dst : door, &b);
    if (s == NULL) s = ef_chain_given(chain, input ? &r->src : weights ? door : &r->dst, &out);
    if (s == NULL && c->has_bias) s = ef_chain_given(chain, &r->bias, &bias);
    int filter = weights ? out : b; /* the caller's own, or a temporary for the reordered one */
    bool reorder = !dnnl_memory_desc_equal(want, door);
    if (s == NULL && reorder) s = ef_chain_temp(chain, want, &filter);
    if (s == NULL && reorder && !weights) s = ef_chain_reorder(chain, b, filter);
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
    return weights && reorder ? ef_chain_reorder(chain, filter, out) : NULL;
}

static ef_status *build_one(ef_chain *chain, const ef_conv *c) {
    recipe r;
    EF_TRY(make_recipe(c, &r));
    dnnl_primitive_desc_t pd = NULL;
    ef_status *s = c->kind == EF_CONV_FORWARD ? forward_desc(&r, r.attr, c->has_bias, &pd)
                                              : backward_desc(&r, c->kind, &pd);
    if (s == NULL) s = build_stages(chain, c, &r, pd);
    dnnl_primitive_attr_destroy(r.attr);
    return s;
}

/* ---- pieces -------------------------------------------------------------------------------- */

static int filter_slot(const ef_conv *c) { return c->kind == EF_CONV_FILTER ? 2 : 1; }

static ef_status *build(ef_chain *chain, const void *key);

/* The different convolutions among the pieces; there are few, since only those at an edge differ.
 * Returns their number; 0: too many. */
static int kinds_of(const ef_conv *c, const ef_conv_cut *cut, ef_conv kind[EF_CHAIN_PARTS]) {
    int n = 0;
    ef_conv_piece p;
    for (int64_t at = 0; at < ef_conv_pieces(cut); at++) {
        ef_conv_piece_of(c, cut, at, &p);
        int k = 0;
        const void *one = &p.conv; /* a copy of *c with other sizes, so its padding is the same */
        while (k < n && memcmp((const void *)&kind[k], one, sizeof p.conv) != 0) k++;
        if (k < n) continue;
        if (n == EF_CHAIN_PARTS) return 0;
        kind[n++] = p.conv;
    }
    return n;
}

static void drop_kinds(int n, ef_chain **got) {
    for (int k = 0; k < n; k++) ef_chain_unref(got[k]), got[k] = NULL;
}

/* Gets chains for all kinds, with the filter in `form`; none if one would be slow. *same: all
 * prefer the same layout of the filter. */
static ef_status *get_kinds(ef_conv *kind, int n, int form, ef_chain **got, bool *same) {
    bool slow = false;
    *same = true;
    for (int k = 0; k < n && !slow; k++) {
        kind[k].form = form;
        ef_status *s = ef_chain_get(&kind[k], sizeof kind[k], build, &got[k]);
        if (s != NULL) {
            drop_kinds(n, got);
            return s;
        }
        int at = filter_slot(&kind[k]);
        *same = *same && dnnl_memory_desc_equal(ef_chain_md(got[0], at), ef_chain_md(got[k], at));
        slow = ef_chain_is_slow(got[k]);
    }
    if (slow) drop_kinds(n, got);
    return NULL;
}

/* Adds stages that reorder the filter: for a large one, each stage a quarter of the input
 * channels. */
static ef_status *build_reorder(ef_chain *chain, const ef_conv *c, const dnnl_memory_desc_t *from,
                                const dnnl_memory_desc_t *to) {
    int axis = c->box.groups > 1 ? 2 : 1;
    int64_t channels = from->dims[axis];
    size_t bytes = dnnl_memory_desc_get_size(from);
    int n = channels % (64 * EF_CHAIN_STAGES) == 0 && bytes > large_filter ? EF_CHAIN_STAGES : 1;
    for (int k = 0; k < n; k++) {
        dnnl_memory_desc_t x, y;
        dnnl_dims_t dims, offset = {0};
        memcpy(dims, from->dims, sizeof dims);
        dims[axis] = channels / n, offset[axis] = k * dims[axis];
        dnnl_status_t e = dnnl_memory_desc_init_submemory(&x, from, dims, offset);
        if (e == dnnl_success) e = dnnl_memory_desc_init_submemory(&y, to, dims, offset);
        EF_TRY(ef_dnnl_status(e, "cut a filter"));
        int a, b;
        EF_TRY(ef_chain_given(chain, &x, &a));
        EF_TRY(ef_chain_given(chain, &y, &b));
        EF_TRY(ef_chain_reorder(chain, a, b));
    }
    return NULL;
}

/* A chain that holds the chains of the pieces. Its own stages, if any, reorder the filter. If
 * oneDNN has no fast primitive for a piece, it holds one for the whole convolution, or nothing. */
static ef_status *build_cut(ef_chain *chain, const ef_conv *c) {
    ef_conv_cut cut = ef_conv_cut_of(c);
    ef_conv kind[EF_CHAIN_PARTS];
    ef_chain *got[EF_CHAIN_PARTS] = {NULL};
    int n = kinds_of(c, &cut, kind);
    bool same = true;
    if (n > 0) EF_TRY(get_kinds(kind, n, PACKED, got, &same));
    if (!same) {
        drop_kinds(n, got);
        EF_TRY(get_kinds(kind, n, PLAIN, got, &same));
    }
    if (got[0] == NULL) {
        kind[0] = *c;
        EF_TRY(get_kinds(kind, 1, PLAIN, got, &same));
        if (got[0] != NULL) ef_chain_keep(chain, got[0]);
        return NULL;
    }
    for (int k = 0; k < n; k++) ef_chain_keep(chain, got[k]);
    dnnl_memory_desc_t plain, any;
    const dnnl_memory_desc_t *want = ef_chain_md(got[0], filter_slot(c));
    EF_TRY(describe_filter(&c->box, &plain, &any));
    if (dnnl_memory_desc_equal(want, &plain)) return NULL;
    bool back = c->kind == EF_CONV_FILTER;
    return build_reorder(chain, c, back ? want : &plain, back ? &plain : want);
}

static ef_status *build(ef_chain *chain, const void *key) {
    const ef_conv *c = key;
    return c->form == CUT ? build_cut(chain, c) : build_one(chain, c);
}

typedef struct job {
    const ef_conv *c;
    const ef_conv_data *d;
    const ef_chain *chain;
    ef_conv_cut cut;
    const void *filter; /* in the layout that the pieces need; unused for a gradient */
    char *partial;      /* partial gradients of the filter, `filter_bytes` each */
    size_t filter_bytes;
    char *scratch; /* `lane_bytes` for each thread */
    size_t lane_bytes;
    _Atomic(ef_status *) failed; /* the first failure */
} job;

static ef_status *run_piece(job *j, int64_t at) {
    ef_conv_piece p;
    ef_conv_piece_of(j->c, &j->cut, at, &p);
    const ef_conv_data *d = j->d;
    float *out = (float *)d->out + p.out;
    bool of_filter = j->c->kind == EF_CONV_FILTER;
    if (j->c->has_add) memcpy(out, (const float *)d->add + p.out, (size_t)p.n_out * sizeof(float));
    void *data[4] = {(float *)(uintptr_t)d->a + p.a, (void *)(uintptr_t)j->filter, out,
                     (void *)(uintptr_t)d->bias};
    if (of_filter) {
        data[1] = (float *)(uintptr_t)d->b + p.b;
        data[2] = j->partial + (size_t)at * j->filter_bytes;
    }
    ef_chain *part = NULL;
    for (int k = 0; (part = ef_chain_part(j->chain, k)) != NULL; k++) {
        const ef_conv *of = ef_chain_key(part);
        if (memcmp(&of->box, &p.conv.box, sizeof of->box) == 0) break;
    }
    void *scratch = j->scratch + (size_t)ef_pool_lane() * j->lane_bytes;
    return ef_chain_run(part, data, j->lane_bytes > 0 ? scratch : NULL);
}

typedef struct reorder_job {
    ef_chain *chain;
    void *data[2 * EF_CHAIN_STAGES]; /* from, to, from, to, ... */
    _Atomic(ef_status *) failed;
} reorder_job;

static void note(_Atomic(ef_status *) *failed, ef_status *s) {
    ef_status *none = NULL;
    if (s != NULL && !atomic_compare_exchange_strong(failed, &none, s)) ef_status_free(s);
}

static void run_stages(void *arg, int64_t from, int64_t to) {
    reorder_job *j = arg;
    for (int64_t k = from; k < to; k++)
        note(&j->failed, ef_chain_run_stage(j->chain, (int)k, j->data));
}

static ef_status *reorder(ef_chain *chain, const void *from, void *to) {
    reorder_job j = {.chain = chain};
    for (int k = 0; k < EF_CHAIN_STAGES; k++)
        j.data[2 * k] = (void *)(uintptr_t)from, j.data[2 * k + 1] = to;
    ef_parallel_each(ef_chain_stages(chain), 0, run_stages, &j);
    return atomic_load(&j.failed);
}

static void run_pieces(void *arg, int64_t from, int64_t to) {
    job *j = arg;
    for (int64_t at = from; at < to; at++) note(&j->failed, run_piece(j, at));
}

/* Adds the partial gradients in pairs. */
static void add_partials(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    int64_t n = ef_conv_pieces(&j->cut);
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t at = 0; at + half < n; at += 2 * half) {
            float *x = (float *)(j->partial + (size_t)at * j->filter_bytes);
            const float *y = (const float *)(j->partial + (size_t)(at + half) * j->filter_bytes);
            for (int64_t k = from; k < to; k++) x[k] += y[k];
        }
}

/* Memory for one run: the filter, or filters, in the required layout, and a scratch area per
 * thread. */
static ef_status *take_memory(job *j, bool reordered, char **own) {
    bool of_filter = j->c->kind == EF_CONV_FILTER;
    const ef_chain *part;
    for (int k = 0; (part = ef_chain_part(j->chain, k)) != NULL; k++)
        if (ef_chain_scratch(part) > j->lane_bytes) j->lane_bytes = ef_chain_scratch(part);
    part = ef_chain_part(j->chain, 0);
    size_t bytes = dnnl_memory_desc_get_size(ef_chain_md(part, filter_slot(j->c)));
    j->filter_bytes = (bytes + 63) / 64 * 64;
    size_t filters = of_filter ? (size_t)ef_conv_pieces(&j->cut) : reordered;
    size_t all = filters * j->filter_bytes + (size_t)ef_pool_lanes() * j->lane_bytes;
    *own = NULL;
    if (all == 0) return NULL;
    if ((*own = ef_scratch_take(all)) == NULL) return ef_no_memory(all);
    j->partial = *own;
    j->scratch = *own + filters * j->filter_bytes;
    return NULL;
}

static ef_status *run_cut(const ef_conv *c, const ef_conv_data *d, ef_chain *chain) {
    job j = {.c = c, .d = d, .chain = chain, .cut = ef_conv_cut_of(c), .filter = d->b};
    bool of_filter = c->kind == EF_CONV_FILTER, reordered = ef_chain_stages(chain) > 0;
    char *own;
    EF_TRY(take_memory(&j, reordered, &own));
    ef_status *s = NULL;
    if (reordered && !of_filter) {
        j.filter = own;
        EF_TRY_GOTO(reorder(chain, d->b, own));
    }
    const double per_flop = 0.02; /* ns */
    int64_t pieces = ef_conv_pieces(&j.cut);
    ef_parallel_each(pieces, per_flop * ef_conv_flops(c) / (double)pieces, run_pieces, &j);
    EF_TRY_GOTO(atomic_load(&j.failed));
    if (of_filter) {
        const dnnl_memory_desc_t *filter = ef_chain_md(ef_chain_part(chain, 0), filter_slot(c));
        int64_t n = (int64_t)(dnnl_memory_desc_get_size(filter) / sizeof(float));
        ef_parallel(n, 1024, 0.2 * (double)ef_conv_pieces(&j.cut), add_partials, &j);
        if (reordered)
            EF_TRY_GOTO(reorder(chain, own, d->out));
        else if (own != NULL)
            memcpy(d->out, own, (size_t)n * sizeof(float));
    }
done:
    ef_scratch_end(own);
    return s;
}

/* ---- the calls ------------------------------------------------------------------------------ */

static ef_status *get(const ef_conv *c, ef_chain **out) {
    ef_conv_cut cut = ef_conv_cut_of(c);
    ef_conv key = *c;
    ef_status *s = NULL;
    if (ef_conv_pieces(&cut) > 1) {
        key.form = CUT;
        s = ef_chain_get(&key, sizeof key, build, out);
        if (s == NULL || ef_status_code(s) == EF_NO_MEMORY) return s;
        ef_status_free(s);
    }
    key.form = PLAIN;
    return ef_chain_get(&key, sizeof key, build, out);
}

ef_status *ef_conv_prepare(const ef_conv *c, void **handle) {
    ef_chain *chain = NULL;
    ef_status *s = get(c, &chain);
    *handle = chain;
    if (s == NULL || ef_status_code(s) == EF_NO_MEMORY) return s;
    ef_status_free(s); /* oneDNN does not support it, so each run uses the loops */
    return NULL;
}

void ef_conv_release(void *handle) { ef_chain_unref(handle); }

static ef_status *run_whole(const ef_conv *c, const ef_conv_data *d, ef_chain *chain) {
    if (c->has_add)
        memcpy(d->out, d->add,
               (size_t)(c->box.batch * c->box.out_channels * ef_volume(c->box.out)) *
                   sizeof(float));
    void *const data[4] = {(void *)d->a, (void *)d->b, d->out, (void *)d->bias};
    return ef_chain_run(chain, data, NULL);
}

static ef_status *run_float(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    ef_chain *chain = handle, *own = NULL;
    if (chain == NULL) {
        ef_status *s = get(c, &own);
        if (s != NULL) {
            if (ef_status_code(s) == EF_NO_MEMORY) return s;
            ef_status_free(s);
            return ef_conv_direct(c, t, d);
        }
        chain = own;
    }
    ef_status *s;
    ef_chain *part = ef_chain_part(chain, 0);
    if (part == NULL) /* it is in one piece, or oneDNN is slow for it */
        s = ef_chain_stages(chain) > 0 ? run_whole(c, d, chain) : ef_conv_direct(c, t, d);
    else if (memcmp(&((const ef_conv *)ef_chain_key(part))->box, &c->box, sizeof c->box) == 0)
        s = run_whole(c, d, part);
    else
        s = run_cut(c, d, chain);
    ef_chain_unref(own);
    return s;
}

ef_status *ef_conv_dnnl(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    return ef_conv_widened(c, t, d, handle, run_float);
}
