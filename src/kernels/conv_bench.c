/* Compares convolutions with bare oneDNN primitives on the same layouts, and small ones in both of
 * our implementations: one line of output each. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "kernels/conv.h"
#include "kernels/dnnl.h"
#include <stdio.h>
#include <stdlib.h>

static float *some(int64_t n) {
    float *p = ef_malloc_aligned((size_t)n * sizeof *p);
    if (p == NULL) exit(1);
    for (int64_t i = 0; i < n; i++) p[i] = (float)(i % 13) * 0.1F - 0.6F;
    return p;
}

typedef struct subject {
    ef_conv c;
    ef_conv_data d;
    void *handle;
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t arg[4];
} subject;

static void check(ef_status *s) {
    if (s == NULL) return;
    printf("%s\n", ef_status_message(s));
    exit(1);
}
static void ours(subject *s) { check(ef_conv_dnnl(&s->c, EF_F32, &s->d, s->handle)); }
static void direct(subject *s) { check(ef_conv_direct(&s->c, EF_F32, &s->d)); }
static void bare(subject *s) {
    (void)dnnl_primitive_execute(s->primitive, s->stream, 4, s->arg);
    (void)dnnl_stream_wait(s->stream);
}

/* The best of many alternating runs, so that a busy machine affects all alike. */
static void measure(subject *s, int n, void (*const *run)(subject *), double *us) {
    uint64_t begin = ef_now_ns();
    for (int k = 0; k < n; k++) us[k] = 1e30;
    for (int round = 0; round < 5 || (ef_now_ns() - begin < 300000000 && round < 2000); round++)
        for (int k = 0; k < n; k++) {
            uint64_t t = ef_now_ns();
            run[k](s);
            double took = (double)(ef_now_ns() - t) / 1e3;
            if (took < us[k]) us[k] = took;
        }
}

static dnnl_memory_t memory_of(dnnl_engine_t e, const dnnl_memory_desc_t *md) {
    dnnl_memory_t m = NULL;
    check(ef_dnnl_status(
        dnnl_memory_create(&m, md, e,
                           some((int64_t)(dnnl_memory_desc_get_size(md) / sizeof(float)) + 16)),
        "make memory"));
    return m;
}

/* The primitive that a user of oneDNN would make: plain images, filter in the layout it prefers. */
static void make_bare(subject *s) {
    const ef_window_box *b = &s->c.box;
    dnnl_engine_t e;
    check(ef_dnnl_engine(&e));
    dnnl_dims_t x = {b->batch, b->in_channels, b->in[1], b->in[2]};
    dnnl_dims_t w = {b->out_channels, b->in_channels, b->kernel[1], b->kernel[2]};
    dnnl_dims_t y = {b->batch, b->out_channels, b->out[1], b->out[2]};
    dnnl_dims_t stride = {b->stride[1], b->stride[2]}, no = {0, 0};
    dnnl_dims_t before = {b->before[1], b->before[2]}, after = {b->after[1], b->after[2]};
    dnnl_memory_desc_t mx, mw, my;
    (void)dnnl_memory_desc_init_by_tag(&mx, 4, x, dnnl_f32, dnnl_nhwc);
    (void)dnnl_memory_desc_init_by_tag(&mw, 4, w, dnnl_f32, dnnl_format_tag_any);
    (void)dnnl_memory_desc_init_by_tag(&my, 4, y, dnnl_f32, dnnl_nhwc);
    dnnl_convolution_desc_t f, d;
    dnnl_primitive_desc_t pf = NULL, p = NULL;
    dnnl_primitive_attr_t attr;
    (void)dnnl_primitive_attr_create(&attr);
    (void)dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    (void)dnnl_dilated_convolution_forward_desc_init(&f, dnnl_forward_training,
                                                     dnnl_convolution_direct, &mx, &mw, NULL, &my,
                                                     stride, no, before, after);
    (void)dnnl_primitive_desc_create(&pf, &f, attr, e, NULL);
    int kind = s->c.kind;
    if (kind == EF_CONV_INPUT)
        (void)dnnl_dilated_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, &mx,
                                                               &mw, &my, stride, no, before, after);
    if (kind == EF_CONV_FILTER)
        (void)dnnl_dilated_convolution_backward_weights_desc_init(
            &d, dnnl_convolution_direct, &mx, &mw, NULL, &my, stride, no, before, after);
    p = pf;
    if (kind != EF_CONV_FORWARD) (void)dnnl_primitive_desc_create(&p, &d, attr, e, pf);
    (void)dnnl_primitive_create(&s->primitive, p);
    (void)dnnl_stream_create(&s->stream, e, dnnl_stream_default_flags);
    const dnnl_memory_desc_t *filter = dnnl_primitive_desc_query_md(
        p, kind == EF_CONV_FILTER ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    s->arg[0] = (dnnl_exec_arg_t){kind == EF_CONV_INPUT ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                                  memory_of(e, &mx)};
    s->arg[1] = (dnnl_exec_arg_t){kind == EF_CONV_FILTER ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                                  memory_of(e, filter)};
    s->arg[2] = (dnnl_exec_arg_t){kind == EF_CONV_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST,
                                  memory_of(e, &my)};
    s->arg[3] = (dnnl_exec_arg_t){
        DNNL_ARG_SCRATCHPAD,
        memory_of(e, dnnl_primitive_desc_query_md(p, dnnl_query_scratchpad_md, 0))};
}

static void line(int kind, int64_t n, int64_t size, int64_t in, int64_t out, int64_t k) {
    subject s = {0};
    ef_window_box *b = &s.c.box;
    s.c.kind = kind;
    *b = (ef_window_box){.rank = 2,
                         .batch = n,
                         .groups = 1,
                         .in_channels = in,
                         .out_channels = out,
                         .in = {1, size, size},
                         .out = {1, size, size},
                         .kernel = {1, k, k},
                         .stride = {1, 1, 1},
                         .dilation = {1, 1, 1},
                         .before = {0, (k - 1) / 2, (k - 1) / 2},
                         .after = {0, k / 2, k / 2}};
    float *x = some(n * size * size * in), *y = some(n * size * size * out);
    float *w = some(k * k * in * out);
    s.d.a = kind == EF_CONV_INPUT ? y : x;
    s.d.b = kind == EF_CONV_FILTER ? y : w;
    s.d.out = kind == EF_CONV_FORWARD ? y : kind == EF_CONV_INPUT ? x : w;
    check(ef_conv_prepare(&s.c, &s.handle));
    make_bare(&s);
    double us[3];
    void (*const run[3])(subject *) = {bare, ours, direct};
    measure(&s, 3, run, us);
    static const char *const name[] = {"forward", "input", "filter"};
    printf("%-8s %4lldx%lldx%lldx%lld -> %lld, %lldx%lld: bare %9.1f us, ours %9.1f us (%.2f), "
           "loops %9.1f us\n",
           name[kind], (long long)n, (long long)size, (long long)size, (long long)in,
           (long long)out, (long long)k, (long long)k, us[0], us[1], us[1] / us[0], us[2]);
    ef_conv_release(s.handle);
}

int main(void) {
    static const int64_t sizes[][5] = {
        {32, 64, 3, 32, 3}, {32, 32, 32, 64, 3}, {32, 16, 128, 128, 1}, {32, 28, 1, 32, 3},
        {1, 28, 1, 8, 3},   {1, 8, 8, 8, 3},     {1, 4, 4, 8, 3},       {1, 4, 4, 4, 3},
        {1, 8, 3, 4, 3},    {16, 56, 64, 64, 3}, {8, 112, 3, 64, 7}};
    for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
        for (int kind = 0; kind < 3; kind++)
            line(kind, sizes[q][0], sizes[q][1], sizes[q][2], sizes[q][3], sizes[q][4]);
    return 0;
}
