/* Convolution: oneDNN against the plain loops in every direction and layout, and both against
 * direct sums; a handle shared by threads; no allocation in a repeated call; clean failures. */
#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"
#include "kernels/conv.h"
#include <pthread.h>
#include <stdlib.h>

static float *numbers(int64_t n, unsigned seed) {
    float *p = ef_malloc_aligned((size_t)(n + 16) * sizeof *p);
    for (int64_t i = 0; p != NULL && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) / (float)(1 << 23) - 1;
    }
    return p;
}

typedef struct trial {
    ef_conv c;
    int64_t n[3]; /* elements of input, filter, output */
    float *input, *filter, *output;
} trial;

static void trial_make(trial *t, ef_window_box b, int kind) {
    memset(t, 0, sizeof *t);
    t->c.box = b;
    t->c.kind = kind;
    t->n[0] = b.batch * b.in_channels * ef_volume(b.in);
    t->n[1] = ef_volume(b.kernel) * (b.in_channels / b.groups) * b.out_channels;
    t->n[2] = b.batch * b.out_channels * ef_volume(b.out);
    t->input = numbers(t->n[0], 1);
    t->filter = numbers(t->n[1], 2);
    t->output = numbers(t->n[2], 3);
}
static void trial_end(trial *t) {
    ef_free_aligned(t->input);
    ef_free_aligned(t->filter);
    ef_free_aligned(t->output);
}
static int64_t out_count(const trial *t) {
    return t->n[t->c.kind == EF_CONV_FORWARD ? 2 : t->c.kind == EF_CONV_INPUT ? 0 : 1];
}
static ef_conv_data data_of(const trial *t, float *out) {
    return (ef_conv_data){.a = t->c.kind == EF_CONV_INPUT ? t->output : t->input,
                          .b = t->c.kind == EF_CONV_FILTER ? t->output : t->filter,
                          .out = out};
}

/* The definition: one product after the other. */
static void by_definition(const trial *t, double *out) {
    const ef_window_box *b = &t->c.box;
    ef_steps in = ef_steps_in(b), to = ef_steps_out(b);
    int64_t per_in = b->in_channels / b->groups, per_out = b->out_channels / b->groups;
    for (int64_t i = 0; i < out_count(t); i++) out[i] = 0;
    for (int64_t n = 0; n < b->batch; n++)
        for (int64_t o = 0; o < ef_volume(b->out); o++)
            for (int64_t k = 0; k < ef_volume(b->kernel); k++) {
                int64_t at = n * in.batch, y = n * to.batch;
                int64_t os[3] = {o / (b->out[1] * b->out[2]), o / b->out[2] % b->out[1],
                                 o % b->out[2]};
                int64_t ks[3] = {k / (b->kernel[1] * b->kernel[2]), k / b->kernel[2] % b->kernel[1],
                                 k % b->kernel[2]};
                bool inside = true;
                for (int d = 0; d < 3; d++) {
                    int64_t p = os[d] * b->stride[d] - b->before[d] + ks[d] * b->dilation[d];
                    inside &= p >= 0 && p < b->in[d];
                    at += p * in.axis[d];
                    y += os[d] * to.axis[d];
                }
                if (!inside) continue;
                for (int64_t c = 0; c < b->out_channels; c++)
                    for (int64_t i = 0; i < per_in; i++) {
                        int64_t x = at + (c / per_out * per_in + i) * in.channel;
                        int64_t w = (k * per_in + i) * b->out_channels + c;
                        int64_t z = y + c * to.channel;
                        if (t->c.kind == EF_CONV_FORWARD)
                            out[z] += (double)t->input[x] * (double)t->filter[w];
                        else if (t->c.kind == EF_CONV_INPUT)
                            out[x] += (double)t->output[z] * (double)t->filter[w];
                        else
                            out[w] += (double)t->input[x] * (double)t->output[z];
                    }
            }
}

static void compare(const trial *t, const double *want, const float *got, const char *way) {
    for (int64_t i = 0; i < out_count(t); i++)
        if (!(fabs(want[i] - (double)got[i]) <= 2e-4 * (1 + fabs(want[i])))) {
            const ef_window_box *b = &t->c.box;
            printf("%s: kind %d, rank %d, channels %s, %lld -> %lld in %lld groups, element %lld: ",
                   way, t->c.kind, b->rank, b->channels_first ? "first" : "last",
                   (long long)b->in_channels, (long long)b->out_channels, (long long)b->groups,
                   (long long)i);
            CHECK_NEAR(got[i], want[i], 0);
        }
}

static void check_box(ef_window_box b) {
    for (int kind = 0; kind < 3; kind++) {
        trial t;
        trial_make(&t, b, kind);
        float *got = numbers(out_count(&t), 9);
        double *want = ef_malloc((size_t)out_count(&t) * sizeof *want + 1);
        by_definition(&t, want);
        ef_conv_data d = data_of(&t, got);
        CHECK_OK(ef_conv_direct(&t.c, EF_F32, &d));
        compare(&t, want, got, "loops");
        memset(got, 1, (size_t)out_count(&t) * sizeof *got);
        CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, NULL));
        compare(&t, want, got, "oneDNN");
        if (b.groups == b.in_channels && b.rank == 2) {
            memset(got, 1, (size_t)out_count(&t) * sizeof *got);
            CHECK_OK(ef_conv_depthwise(&t.c, EF_F32, &d));
            compare(&t, want, got, "depthwise");
        }
        ef_free_aligned(got);
        ef_free(want);
        trial_end(&t);
    }
}

/* A box whose output sizes are computed from the other sizes. */
static ef_window_box box(int rank, bool first, int64_t in, int64_t out, int64_t groups, int64_t k,
                         int64_t stride, int64_t dilation, int64_t before, int64_t after) {
    ef_window_box b = {.rank = rank, .channels_first = first, .batch = 2, .groups = groups};
    b.in_channels = in, b.out_channels = out;
    for (int d = 0; d < 3; d++) {
        bool used = d >= 3 - rank;
        b.in[d] = used ? 7 + d : 1;
        b.kernel[d] = used ? k : 1;
        b.stride[d] = used ? stride : 1;
        b.dilation[d] = used ? dilation : 1;
        b.before[d] = used ? before : 0;
        b.after[d] = used ? after : 0;
        b.out[d] = used ? (b.in[d] + before + after - (k - 1) * dilation - 1) / stride + 1 : 1;
    }
    return b;
}

EF_TEST(agrees_with_definition) {
    for (int first = 0; first < 2; first++) {
        check_box(box(2, first, 3, 5, 1, 3, 1, 1, 1, 1));
        check_box(box(2, first, 16, 32, 1, 3, 1, 1, 1, 1));
        check_box(box(2, first, 17, 9, 1, 2, 2, 1, 0, 1));
        check_box(box(2, first, 8, 8, 1, 1, 1, 1, 0, 0));
        check_box(box(2, first, 4, 8, 1, 3, 1, 2, 2, 1));
        check_box(box(2, first, 8, 16, 4, 3, 1, 1, 1, 1));
        check_box(box(2, first, 6, 6, 6, 3, 2, 1, 1, 1));
        check_box(box(2, first, 6, 12, 6, 3, 1, 1, 0, 0));
        check_box(box(2, first, 2, 3, 1, 2, 5, 1, 0, 0));  /* strides beyond the kernel */
        check_box(box(2, first, 8, 16, 1, 2, 1, 1, 5, 4)); /* windows entirely in the padding */
        check_box(box(2, first, 16, 8, 1, 3, 4, 2, 9, 0));
        check_box(box(2, first, 1, 8, 1, 3, 3, 1, 7, 20));
        check_box(box(2, first, 8, 8, 8, 3, 2, 1, 6, 5));
        check_box(box(2, first, 8, 8, 1, 1, 3, 1, 2, 2));
        check_box(box(2, first, 3, 59, 1, 3, 1, 1, 1, 1));  /* 32 + 16 + 8 + 3 outputs */
        check_box(box(2, first, 64, 64, 1, 3, 1, 1, 1, 1)); /* a filter summed in slices */
        check_box(box(3, first, 3, 4, 1, 2, 1, 1, 0, 1));
        check_box(box(3, first, 8, 16, 1, 3, 2, 1, 1, 1));
    }
}

EF_TEST(loops_do_not_depend_on_the_team) {
    ef_window_box b = box(2, false, 3, 32, 1, 3, 1, 1, 1, 1);
    b.in[2] = b.out[2] = 400;
    trial t;
    trial_make(&t, b, EF_CONV_FILTER);
    float *got = numbers(out_count(&t), 9), *want = numbers(out_count(&t), 8);
    ef_conv_data one = data_of(&t, want), all = data_of(&t, got);
    ef_pool_limit(1);
    CHECK_OK(ef_conv_direct(&t.c, EF_F32, &one));
    ef_pool_limit(0);
    CHECK_OK(ef_conv_direct(&t.c, EF_F32, &all));
    CHECK(memcmp(got, want, (size_t)out_count(&t) * sizeof *got) == 0);
    ef_free_aligned(got);
    ef_free_aligned(want);
    trial_end(&t);
}

/* Convolutions large enough to be divided into images and bands of rows: correct, and bit-identical
 * for one thread and for all. */
static void check_cut(ef_window_box b) {
    check_box(b);
    for (int kind = 0; kind < 3; kind++) {
        trial t;
        trial_make(&t, b, kind);
        float *got = numbers(out_count(&t), 9), *want = numbers(out_count(&t), 8);
        ef_conv_data one = data_of(&t, want), all = data_of(&t, got);
        ef_pool_limit(1);
        CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &one, NULL));
        ef_pool_limit(0);
        CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &all, NULL));
        CHECK(memcmp(got, want, (size_t)out_count(&t) * sizeof *got) == 0);
        ef_free_aligned(got);
        ef_free_aligned(want);
        trial_end(&t);
    }
}

/* The box with `rows` rows and a batch; its output sizes are recomputed. */
static ef_window_box tall(ef_window_box b, int64_t batch, int64_t rows) {
    int d = 3 - b.rank;
    b.batch = batch;
    b.in[d] = rows;
    b.out[d] =
        (rows + b.before[d] + b.after[d] - (b.kernel[d] - 1) * b.dilation[d] - 1) / b.stride[d] + 1;
    return b;
}

EF_TEST(pieces_agree_with_definition) {
    for (int first = 0; first < 2; first++) {
        check_cut(tall(box(2, first, 16, 32, 1, 3, 1, 1, 1, 1), 13, 12)); /* an odd last piece */
        check_cut(tall(box(2, first, 16, 32, 1, 3, 1, 1, 1, 1), 1, 150));
        check_cut(tall(box(2, first, 16, 32, 1, 5, 1, 1, 2, 2), 2, 61));
        check_cut(tall(box(2, first, 16, 24, 1, 3, 2, 1, 1, 0), 3, 170));
        check_cut(tall(box(2, first, 16, 24, 1, 3, 2, 1, 0, 1), 3, 171));
        check_cut(tall(box(2, first, 16, 32, 1, 3, 1, 2, 2, 2), 1, 140));
        /* Rows that no window reads. */
        check_cut(tall(box(2, first, 16, 16, 1, 1, 3, 1, 0, 0), 4, 1200));
        check_cut(tall(box(2, first, 16, 16, 1, 3, 1, 1, 40, 40), 1, 100)); /* bands of padding */
        check_cut(tall(box(2, first, 16, 32, 4, 3, 1, 1, 1, 1), 4, 90));
        check_cut(tall(box(1, first, 32, 32, 1, 5, 1, 1, 2, 2), 1, 2000));
        check_cut(tall(box(3, first, 8, 16, 1, 3, 1, 1, 1, 1), 1, 24));
    }
    /* A filter reordered in quarters. */
    check_cut(tall(box(2, false, 256, 256, 1, 3, 1, 1, 1, 1), 2, 4));
}

EF_TEST(epilogue_in_pieces) {
    trial t;
    trial_make(&t, tall(box(2, false, 16, 32, 1, 3, 1, 1, 1, 1), 3, 150), EF_CONV_FORWARD);
    int64_t n = out_count(&t);
    float *got = numbers(n, 9), *want = numbers(n, 8), *add = numbers(n, 7), *bias = numbers(32, 6);
    ef_conv_data plain = data_of(&t, want), d = data_of(&t, got);
    CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &plain, NULL));
    t.c.has_bias = t.c.has_add = 1;
    t.c.activation = EF_ACT_RELU;
    d.bias = bias, d.add = add;
    CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, NULL));
    for (int64_t i = 0; i < n; i++) {
        float x = want[i] + bias[i % 32] + add[i];
        CHECK_NEAR(got[i], x > 0 ? x : 0, 1e-3);
    }
    ef_free_aligned(got);
    ef_free_aligned(want);
    ef_free_aligned(add);
    ef_free_aligned(bias);
    trial_end(&t);
}

/* ---- one handle, many threads --------------------------------------------------------------- */

typedef struct worker {
    trial *t;
    void *handle;
    const float *want;
    bool good;
} worker;

static void *work(void *arg) {
    worker *w = arg;
    int64_t n = out_count(w->t);
    float *out = numbers(n, 5);
    ef_conv_data d = data_of(w->t, out);
    w->good = out != NULL;
    for (int i = 0; i < 20 && w->good; i++) {
        memset(out, 0, (size_t)n * sizeof *out);
        ef_status *s = ef_conv_dnnl(&w->t->c, EF_F32, &d, i % 2 == 0 ? w->handle : NULL);
        w->good = s == NULL && memcmp(out, w->want, (size_t)n * sizeof *out) == 0;
        ef_status_free(s);
    }
    ef_free_aligned(out);
    return NULL;
}

EF_TEST(threads_share_a_handle) {
    for (int kind = 0; kind < 3; kind++) {
        trial t;
        void *handle = NULL;
        trial_make(&t, box(2, false, 8, 16, 1, 3, 1, 1, 1, 1), kind);
        float *want = numbers(out_count(&t), 4);
        ef_conv_data d = data_of(&t, want);
        CHECK_OK(ef_conv_prepare(&t.c, &handle));
        CHECK(handle != NULL);
        CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, handle));
        pthread_t thread[6];
        worker w[6];
        for (int k = 0; k < 6; k++) {
            w[k] = (worker){&t, handle, want, false};
            CHECK_INT(pthread_create(&thread[k], NULL, work, &w[k]), 0);
        }
        for (int k = 0; k < 6; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < 6; k++) CHECK(w[k].good);
        ef_conv_release(handle);
        ef_free_aligned(want);
        trial_end(&t);
    }
}

EF_TEST(hot_calls_allocate_nothing) {
    for (int kind = 0; kind < 3; kind++) {
        trial t;
        void *handle = NULL;
        trial_make(&t, box(2, false, 8, 16, 1, 3, 1, 1, 1, 1), kind);
        float *out = numbers(out_count(&t), 4);
        ef_conv_data d = data_of(&t, out);
        CHECK_OK(ef_conv_prepare(&t.c, &handle));
        for (int i = 0; i < 3; i++) CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, handle));
        for (int i = 0; i < 3; i++) CHECK_OK(ef_conv_direct(&t.c, EF_F32, &d));
        uint64_t before = ef_alloc_count();
        for (int i = 0; i < 50; i++) CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, handle));
        for (int i = 0; i < 50; i++) CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, NULL));
        for (int i = 0; i < 50; i++) CHECK_OK(ef_conv_direct(&t.c, EF_F32, &d));
        CHECK_INT(ef_alloc_count() - before, 0);
        ef_conv_release(handle);
        ef_free_aligned(out);
        trial_end(&t);
    }
}

/* Every allocation of a first call fails in turn; the call returns an error and the next call
 * works. */
EF_TEST(failures_are_clean) {
    int64_t channels = 24;
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t k = 1; k < 40; k++) {
            trial t;
            /* Always a new convolution. */
            trial_make(&t, box(2, false, channels++, 16, 1, 3, 1, 1, 1, 1), kind);
            float *out = numbers(out_count(&t), 4);
            ef_conv_data d = data_of(&t, out);
            ef_alloc_fail_at(k);
            ef_status *s = ef_conv_dnnl(&t.c, EF_F16, &d, NULL);
            bool failed = ef_alloc_failed();
            ef_alloc_fail_at(0);
            if (s != NULL) CHECK_INT(ef_status_code(s), EF_NO_MEMORY);
            ef_status_free(s);
            CHECK_OK(ef_conv_dnnl(&t.c, EF_F32, &d, NULL));
            ef_free_aligned(out);
            trial_end(&t);
            if (!failed) break;
        }
}

int main(void) {
    EF_RUN(agrees_with_definition);
    EF_RUN(loops_do_not_depend_on_the_team);
    EF_RUN(pieces_agree_with_definition);
    EF_RUN(epilogue_in_pieces);
    EF_RUN(threads_share_a_handle);
    EF_RUN(hot_calls_allocate_nothing);
    EF_RUN(failures_are_clean);
    return EF_VERDICT();
}
