/* Conv2D forward and both gradients against bare oneDNN primitives on the same plain layouts:
 * images NHWC, filters HWIO (which are reordered in each call, as a caller must do).
 */
#include "bench.h"
#include <evenflow_binding.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, SIDE = 64, IN = 3, OUT = 32, K = 3 };

typedef struct conv {
    ef_tensor x, w, dy, xs, ws;
    ef_function *f;
    const char *op;
} conv;

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    const ef_op *op = ef_op_find(user);
    const ef_attrs *attrs;
    int64_t strides[] = {1, 1, 1, 1};
    ef_attr_value set[] = {EF_SET_INTS("strides", 4, strides), EF_SET_STRING("padding", "SAME")};
    bench_check(ef_attrs_make(op, set, 2, &attrs));
    const ef_tensor *args[] = {&in[0], &in[1], n_in > 2 ? &in[2] : NULL};
    bench_check(ef_call_op(op, attrs, args, n_in, out, max_out, n_out));
    ef_attrs_unref(attrs);
    return NULL;
}

static void by_engine(void *arg) {
    conv *c = arg;
    const ef_tensor *in[3] = {&c->x, &c->w, NULL};
    int n_in = 2, n;
    if (strcmp(c->op, "Conv2DBackpropInput") == 0) {
        in[0] = &c->xs;
        in[2] = &c->dy;
        n_in = 3;
    } else if (strcmp(c->op, "Conv2DBackpropFilter") == 0) {
        in[1] = &c->ws;
        in[2] = &c->dy;
        n_in = 3;
    }
    ef_tensor out;
    bench_check(ef_function_call(c->f, in, n_in, &out, 1, &n));
    ef_tensor_release(&out);
}

/* ---- bare oneDNN
 * ---------------------------------------------------------------------------------- */

#define DNNL(call)                                         \
    do {                                                   \
        if ((call) != dnnl_success) {                      \
            fprintf(stderr, "oneDNN: %s failed\n", #call); \
            exit(2);                                       \
        }                                                  \
    } while (0)

typedef struct bare {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t conv, reorder;
    dnnl_memory_t image, filter_plain, filter, result;
    bool filter_out, reordered;
    int image_arg, result_arg;
} bare;

static dnnl_memory_desc_t plain(int n, const dnnl_dims_t dim, dnnl_format_tag_t tag) {
    dnnl_memory_desc_t d;
    DNNL(dnnl_memory_desc_init_by_tag(&d, n, dim, dnnl_f32, tag));
    return d;
}

static void make_bare(bare *b, dnnl_prop_kind_t kind, conv *c, float *out) {
    const dnnl_dims_t xd = {BATCH, IN, SIDE, SIDE}, wd = {OUT, IN, K, K},
                      yd = {BATCH, OUT, SIDE, SIDE}, one = {1, 1}, pad = {1, 1};
    dnnl_memory_desc_t x = plain(4, xd, dnnl_nhwc), y = plain(4, yd, dnnl_nhwc),
                       hwio = plain(4, wd, dnnl_hwio), any = plain(4, wd, dnnl_format_tag_any);
    omp_set_num_threads(ef_threads_get()); /* oneDNN divides the work when a primitive is made */
    DNNL(dnnl_engine_create(&b->engine, dnnl_cpu, 0));
    DNNL(dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags));
    dnnl_convolution_desc_t d, hint;
    dnnl_primitive_desc_t pd, fwd;
    DNNL(dnnl_convolution_forward_desc_init(&hint, dnnl_forward_training, dnnl_convolution_direct,
                                            &x, &any, NULL, &y, one, pad, pad));
    DNNL(dnnl_primitive_desc_create(&fwd, &hint, NULL, b->engine, NULL));
    if (kind == dnnl_forward_training)
        d = hint;
    else if (kind == dnnl_backward_data)
        DNNL(dnnl_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &x, &any, &y,
                                                      one, pad, pad));
    else
        DNNL(dnnl_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct, &x, &any,
                                                         NULL, &y, one, pad, pad));
    DNNL(dnnl_primitive_desc_create(&pd, &d, NULL, b->engine,
                                    kind == dnnl_forward_training ? NULL : fwd));
    b->filter_out = kind == dnnl_backward_weights;
    const dnnl_memory_desc_t *w = dnnl_primitive_desc_query_md(
        pd, b->filter_out ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    b->reordered = !dnnl_memory_desc_equal(w, &hwio);
    DNNL(dnnl_primitive_create(&b->conv, pd));
    float *plain_w = b->filter_out ? out : (float *)bench_data(&c->w);
    DNNL(dnnl_memory_create(&b->filter_plain, &hwio, b->engine, plain_w));
    DNNL(dnnl_memory_create(&b->filter, w, b->engine,
                            b->reordered ? DNNL_MEMORY_ALLOCATE : plain_w));
    if (b->reordered) {
        dnnl_primitive_desc_t r;
        DNNL(dnnl_reorder_primitive_desc_create(&r, b->filter_out ? w : &hwio, b->engine,
                                                b->filter_out ? &hwio : w, b->engine, NULL));
        DNNL(dnnl_primitive_create(&b->reorder, r));
        dnnl_primitive_desc_destroy(r);
    }
    bool back_data = kind == dnnl_backward_data, forward = kind == dnnl_forward_training;
    DNNL(dnnl_memory_create(&b->image, back_data ? &y : &x, b->engine,
                            (void *)bench_data(back_data ? &c->dy : &c->x)));
    DNNL(dnnl_memory_create(&b->result, back_data ? &x : &y, b->engine,
                            b->filter_out ? (void *)bench_data(&c->dy) : out));
    b->image_arg = back_data ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
    b->result_arg = forward ? DNNL_ARG_DST : back_data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DIFF_DST;
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_desc_destroy(fwd);
}

static void reorder(bare *b, dnnl_memory_t from, dnnl_memory_t to) {
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    DNNL(dnnl_primitive_execute(b->reorder, b->stream, 2, args));
}

static void by_bare(void *arg) {
    bare *b = arg;
    if (b->reordered && !b->filter_out) reorder(b, b->filter_plain, b->filter);
    dnnl_exec_arg_t args[] = {{b->image_arg, b->image},
                              {b->filter_out ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, b->filter},
                              {b->result_arg, b->result}};
    DNNL(dnnl_primitive_execute(b->conv, b->stream, 3, args));
    if (b->reordered && b->filter_out) reorder(b, b->filter, b->filter_plain);
    DNNL(dnnl_stream_wait(b->stream));
}

static void end_bare(bare *b) {
    dnnl_primitive_destroy(b->conv);
    if (b->reordered) dnnl_primitive_destroy(b->reorder);
    dnnl_memory_destroy(b->image);
    dnnl_memory_destroy(b->filter);
    dnnl_memory_destroy(b->filter_plain);
    dnnl_memory_destroy(b->result);
    dnnl_stream_destroy(b->stream);
    dnnl_engine_destroy(b->engine);
}

/* The offsets of buffers within a page change the time of a kernel by up to a half, on both sides.
 * So the buffers have another offset in each round, the same for both sides, and the median of the
 * rounds counts. */
enum { ROUNDS = 21, PAGE = 4096 };

static void no_end(void *arg) { (void)arg; }

/* A tensor whose memory begins `lines` cache lines into a page. */
static void *placed(ef_tensor *t, int64_t side, int64_t depth, int lines, uint32_t seed) {
    ef_shape s = {.rank = 4, .dim = {BATCH, side, side, depth}};
    size_t n = (size_t)(BATCH * side * side * depth);
    char *memory = aligned_alloc(PAGE, (n * sizeof(float) + 2 * PAGE) / PAGE * PAGE);
    if (memory == NULL) exit(2);
    float *v = (float *)(memory + (size_t)lines * 64);
    for (size_t k = 0; k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        v[k] = (float)(seed >> 8) / (float)(1 << 24) - 0.5f;
    }
    bench_check(ef_tensor_wrap(EF_F32, &s, v, no_end, NULL, t));
    return memory;
}

static double one_round(const char *op, dnnl_prop_kind_t kind, int round, double *ns_e,
                        double *ns_d) {
    conv c = {.op = op};
    int64_t wd[] = {K, K, IN, OUT};
    int32_t xs[] = {BATCH, SIDE, SIDE, IN}, ws[] = {K, K, IN, OUT};
    ef_shape four = {.rank = 1, .dim = {4}};
    float *out = aligned_alloc(64, (size_t)BATCH * SIDE * SIDE * OUT * sizeof *out);
    if (out == NULL) exit(2);
    void *x = placed(&c.x, SIDE, IN, round * 11 % 64, 1);
    void *dy = placed(&c.dy, SIDE, OUT, round * 29 % 64, 3);
    bench_fill(&c.w, EF_F32, 4, wd, 2);
    bench_check(ef_tensor_from(EF_I32, &four, xs, &c.xs));
    bench_check(ef_tensor_from(EF_I32, &four, ws, &c.ws));
    bench_check(ef_function_new(trace, (void *)op, op, &c.f));
    bare b;
    make_bare(&b, kind, &c, out);
    ef_side e = {.work = by_engine, .arg = &c, .times = 1},
            d = {.work = by_bare, .arg = &b, .times = 1, .omp = true};
    double times = bench_compare(&e, &d, 9, ns_e, ns_d);
    end_bare(&b);
    ef_function_free(c.f);
    ef_tensor_release(&c.x);
    ef_tensor_release(&c.w);
    ef_tensor_release(&c.dy);
    free(out);
    free(x);
    free(dy);
    return times;
}

static void one(const char *op, dnnl_prop_kind_t kind, const char *name) {
    double times[ROUNDS], ns_e[ROUNDS], ns_d[ROUNDS];
    char what[96];
    for (int k = 0; k < ROUNDS; k++) times[k] = one_round(op, kind, k, &ns_e[k], &ns_d[k]);
    snprintf(what, sizeof what, "%.2f ms against %.2f ms", bench_median(ns_e, ROUNDS) / 1e6,
             bench_median(ns_d, ROUNDS) / 1e6);
    bench_row(name, bench_median(times, ROUNDS), 1.10, " x", what);
}

void bench_conv(void) {
    one("Conv2D", dnnl_forward_training, "Conv2D 32x64x64x3->32 3x3 / bare oneDNN");
    one("Conv2DBackpropInput", dnnl_backward_data, "its gradient to the images / bare oneDNN");
    one("Conv2DBackpropFilter", dnnl_backward_weights, "its gradient to the filter / bare oneDNN");
}
