/* Filling tensors. Output group k comes from block k of the stream; for truncated normals, which
 * need an unknown number of draws, each group has its own range of blocks. */
#include "kernels/random.h"
#include "base/pool.h"
#include <errno.h>
#include <math.h>
#include <sys/random.h>

float ef_random_float(uint32_t x) {
    uint32_t bits = 0x3F800000u | (x & 0x7FFFFFu);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f - 1.0f;
}

double ef_random_double(uint32_t x, uint32_t y) {
    uint64_t bits = (uint64_t)1023 << 52 | (uint64_t)(x & 0xFFFFFu) << 32 | y;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d - 1.0;
}

/* Ten random bits as a fraction in [0, 1): exact in half, and likewise for bfloat16. */
static ef_f16 half_of(uint32_t x) { return ef_float_f16((float)(x & 0x3FFu) * 0x1p-10f); }
static ef_bf16 bhalf_of(uint32_t x) { return ef_float_bf16((float)(x & 0x7Fu) * 0x1p-7f); }

/* Box-Muller: two uniform numbers give two normal ones. */
static void normal_floats(uint32_t x, uint32_t y, float *a, float *b) {
    float u = ef_random_float(x);
    if (u < 1.0e-7f) u = 1.0e-7f;
    float angle = (float)(2.0f * M_PI * ef_random_float(y)), radius = sqrtf(-2.0f * logf(u));
    sincosf(angle, a, b);
    *a *= radius;
    *b *= radius;
}
void ef_random_normals(const uint32_t *x, double *a, double *b) {
    double u = ef_random_double(x[0], x[1]);
    if (u < 1.0e-7) u = 1.0e-7;
    double angle = 2 * M_PI * ef_random_double(x[2], x[3]), radius = sqrt(-2.0 * log(u));
    sincos(angle, a, b);
    *a *= radius;
    *b *= radius;
}

static void store_float(ef_dtype t, void *out, int64_t k, float v) {
    if (t == EF_F32)
        ((float *)out)[k] = v;
    else if (t == EF_F16)
        ((ef_f16 *)out)[k] = ef_float_f16(v);
    else
        ((ef_bf16 *)out)[k] = ef_float_bf16(v);
}

/* ---- one block to one group of outputs ---- */

typedef struct fill_job {
    ef_philox g;
    ef_random_kind kind;
    ef_dtype t;
    uint64_t low, range;
    char *out;
    int64_t n;
    int group; /* outputs per block */
} fill_job;

static void uniform_group(const fill_job *j, const uint32_t *x, int64_t blocks, void *out) {
    if (j->t == EF_F32) {
        float *o = out;
        for (int64_t k = 0; k < 4 * blocks; k++) o[k] = ef_random_float(x[k]);
    } else if (j->t == EF_F64) {
        double *o = out;
        for (int64_t k = 0; k < 2 * blocks; k++) o[k] = ef_random_double(x[2 * k], x[2 * k + 1]);
    } else if (j->t == EF_F16) {
        ef_f16 *o = out;
        for (int64_t k = 0; k < 4 * blocks; k++) o[k] = half_of(x[k]);
    } else {
        ef_bf16 *o = out;
        for (int64_t k = 0; k < 4 * blocks; k++) o[k] = bhalf_of(x[k]);
    }
}

static void normal_group(const fill_job *j, const uint32_t *x, int64_t blocks, void *out) {
    if (j->t == EF_F64) {
        double *o = out;
        for (int64_t k = 0; k < blocks; k++) ef_random_normals(x + 4 * k, &o[2 * k], &o[2 * k + 1]);
        return;
    }
    for (int64_t k = 0; k < 4 * blocks; k += 2) {
        float a, b;
        normal_floats(x[k], x[k + 1], &a, &b);
        store_float(j->t, out, k, a);
        store_float(j->t, out, k + 1, b);
    }
}

static void int_group(const fill_job *j, const uint32_t *x, int64_t blocks, void *out) {
    bool full = j->kind == EF_RANDOM_FULL_INT;
    if (j->group == 4) {
        uint32_t *o = out, low = (uint32_t)j->low, range = (uint32_t)j->range;
        for (int64_t k = 0; k < 4 * blocks; k++) o[k] = full ? x[k] : low + x[k] % range;
    } else {
        uint64_t *o = out;
        for (int64_t k = 0; k < 2 * blocks; k++) {
            uint64_t v = x[2 * k] | (uint64_t)x[2 * k + 1] << 32;
            o[k] = full ? v : j->low + v % j->range;
        }
    }
}

/* Each group of outputs has this many blocks per output of a block to draw from. */
enum { RESERVED = 256, TILE = 64 };

/* Blocks from the first one of a group to that of the next. */
static uint64_t reserved(const fill_job *j) { return (uint64_t)(j->group * RESERVED / 4); }

/* x: the first block of the group, which is enough in five of six cases. */
static void truncated_group(const fill_job *j, int64_t group, uint32_t x[4], void *out) {
    ef_philox g = j->g;
    ef_philox_skip(&g, (uint64_t)group * reserved(j) + 1);
    for (int k = 0;; ef_philox_blocks(&g, x, 1)) {
        if (j->t == EF_F64) {
            double d[2];
            ef_random_normals(x, &d[0], &d[1]);
            for (int i = 0; i < 2 && k < j->group; i++)
                if (fabs(d[i]) < 2.0) ((double *)out)[k++] = d[i];
        } else {
            for (int p = 0; p < 4 && k < j->group; p += 2) {
                float f[2];
                normal_floats(x[p], x[p + 1], &f[0], &f[1]);
                for (int i = 0; i < 2 && k < j->group; i++)
                    if (fabsf(f[i]) < 2.0f) store_float(j->t, out, k++, f[i]);
            }
        }
        if (k == j->group) return;
    }
}

static void make_groups(const fill_job *j, int64_t group, int64_t n, void *out) {
    uint32_t x[4 * TILE];
    size_t bytes = (size_t)j->group * ef_dtype_size(j->t);
    ef_philox g = j->g;
    if (j->kind == EF_RANDOM_TRUNCATED) {
        ef_philox_skip(&g, (uint64_t)group * reserved(j));
        ef_philox_strided(&g, reserved(j), x, n);
        for (int64_t k = 0; k < n; k++)
            truncated_group(j, group + k, x + 4 * k, (char *)out + (size_t)k * bytes);
        return;
    }
    ef_philox_skip(&g, (uint64_t)group);
    ef_philox_blocks(&g, x, n);
    if (j->kind == EF_RANDOM_UNIFORM)
        uniform_group(j, x, n, out);
    else if (j->kind == EF_RANDOM_NORMAL)
        normal_group(j, x, n, out);
    else
        int_group(j, x, n, out);
}

/* Groups [begin, end); the last may be truncated by the end of the tensor. */
static void fill_range(void *arg, int64_t begin, int64_t end) {
    const fill_job *j = arg;
    size_t bytes = (size_t)j->group * ef_dtype_size(j->t);
    int64_t full = j->n / j->group;
    for (int64_t k = begin; k < end;) {
        int64_t n = end - k < TILE ? end - k : TILE;
        char *at = j->out + (size_t)k * bytes;
        if (k + n > full) n = full - k;
        if (n > 0) {
            make_groups(j, k, n, at);
            k += n;
        } else {
            uint64_t last[4];
            make_groups(j, k, 1, last);
            memcpy(at, last, (size_t)(j->n - full * j->group) * ef_dtype_size(j->t));
            k++;
        }
    }
}

void ef_random_fill(ef_philox g, ef_random_kind kind, ef_dtype t, int64_t low, int64_t high,
                    void *out, int64_t n) {
    static const double cost[] = {1.0, 20.0, 30.0, 2.0, 1.0}; /* ns per output */
    fill_job j = {g, kind, t, (uint64_t)low, (uint64_t)high - (uint64_t)low, out, n, 4};
    if (ef_dtype_size(t) == 8) j.group = 2;
    ef_parallel((n + j.group - 1) / j.group, TILE, cost[kind] * j.group, fill_range, &j);
}

void ef_random_order(ef_philox g, int64_t *order, int64_t n) {
    ef_philox_each e = ef_philox_one_by_one(g);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t other = i + (int64_t)(ef_philox_next(&e) % (uint32_t)(n - i)), held = order[i];
        order[i] = order[other];
        order[other] = held;
    }
}

ef_status *ef_random_entropy(void *out, size_t bytes) {
    for (char *at = out; bytes > 0;) {
        ssize_t n = getrandom(at, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return ef_error(EF_UNAVAILABLE, "the system gives no random numbers (getrandom)");
        at += n;
        bytes -= (size_t)n;
    }
    return NULL;
}
