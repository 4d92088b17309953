/* Filling tensors. Output group k comes from block k of the stream; for truncated normals, which
 * need an unknown number of draws, each group has its own range of blocks. */
#include "kernels/random.h"
#include "base/pool.h"
#include <errno.h>
#include <math.h>
#include <sys/random.h>

double ef_random_double(uint32_t x, uint32_t y) {
    uint64_t bits = (uint64_t)1023 << 52 | (uint64_t)(x & 0xFFFFFu) << 32 | y;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d - 1.0;
}

/* Ten random bits as a fraction in [0, 1): exact in half, and likewise for bfloat16. */
static ef_f16 half_of(uint32_t x) { return ef_float_f16((float)(x & 0x3FFu) * 0x1p-10f); }
static ef_bf16 bhalf_of(uint32_t x) { return ef_float_bf16((float)(x & 0x7Fu) * 0x1p-7f); }

/* Box-Muller: two uniform numbers give two normal ones; see random_normal.c for floats. */
void ef_random_normals(const uint32_t *x, double *a, double *b) {
    double u = ef_random_double(x[0], x[1]);
    if (u < 1.0e-7) u = 1.0e-7;
    double angle = 2 * M_PI * ef_random_double(x[2], x[3]), radius = sqrt(-2.0 * log(u));
    sincos(angle, a, b);
    *a *= radius;
    *b *= radius;
}

/* t: half or bfloat16. */
static void store_floats(ef_dtype t, void *out, const float *f, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        if (t == EF_F16)
            ((ef_f16 *)out)[k] = ef_float_f16(f[k]);
        else
            ((ef_bf16 *)out)[k] = ef_float_bf16(f[k]);
    }
}

/* ---- one block to one group of outputs ---- */

enum { TILE = 64 }; /* groups at a time */

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

static void normal_doubles(const uint32_t *x, int64_t blocks, double *out) {
    for (int64_t k = 0; k < blocks; k++) ef_random_normals(x + 4 * k, out + 2 * k, out + 2 * k + 1);
}

static void normal_group(const fill_job *j, const uint32_t *x, int64_t blocks, void *out) {
    float some[4 * TILE];
    if (j->t == EF_F64) {
        normal_doubles(x, blocks, out);
    } else if (j->t == EF_F32) {
        ef_random_normal_floats(x, 2 * blocks, out);
    } else {
        ef_random_normal_floats(x, 2 * blocks, some);
        store_floats(j->t, out, some, 4 * blocks);
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
enum { RESERVED = 256 };

/* Appends what lies within two standard deviations of the numbers drawn for a group to its n
 * outputs; returns how many it has then. Storing before the test costs less than a branch. */
static int accept_floats(const float *drawn, float *out, int n) {
    for (int i = 0; i < 4 && n < 4; i++) {
        out[n] = drawn[i];
        n += fabsf(drawn[i]) < 2.0f;
    }
    return n;
}
static int accept_doubles(const double *drawn, double *out, int n) {
    for (int i = 0; i < 2 && n < 2; i++) {
        out[n] = drawn[i];
        n += fabs(drawn[i]) < 2.0;
    }
    return n;
}

/* One block for each group, then further ones for those - about one in six - that lack outputs. */
static void truncated_groups(const fill_job *j, int64_t first, int64_t n, void *out) {
    uint32_t x[4 * TILE];
    uint64_t block[TILE];
    int has[TILE] = {0}, group[TILE];
    double doubles[2 * TILE];
    float floats[4 * TILE], some[4 * TILE], *f = j->t == EF_F32 ? out : some;
    int64_t all = 4 * n;
    for (int64_t k = 0; k < n; k++) {
        group[k] = (int)k;
        block[k] = (uint64_t)((first + k) * j->group * RESERVED / 4);
    }
    for (int64_t left; n > 0; n = left) {
        ef_philox_at(&j->g, block, x, n);
        if (j->t == EF_F64)
            normal_doubles(x, n, doubles);
        else
            ef_random_normal_floats(x, 2 * n, floats);
        left = 0;
        for (int64_t k = 0; k < n; k++) {
            int g = group[k];
            has[g] = j->t == EF_F64 ? accept_doubles(doubles + 2 * k, (double *)out + 2 * g, has[g])
                                    : accept_floats(floats + 4 * k, f + 4 * g, has[g]);
            group[left] = g;
            block[left] = block[k] + 1;
            left += has[g] < j->group;
        }
    }
    if (f == some && j->t != EF_F64) store_floats(j->t, out, f, all);
}

static void make_groups(const fill_job *j, int64_t group, int64_t n, void *out) {
    uint32_t x[4 * TILE];
    ef_philox g = j->g;
    if (j->kind == EF_RANDOM_TRUNCATED) {
        truncated_groups(j, group, n, out);
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
    static const double cost[] = {1.0, 3.0, 5.0, 2.0, 1.0}; /* ns per output */
    fill_job j = {g, kind, t, (uint64_t)low, (uint64_t)high - (uint64_t)low, out, n, 4};
    if (ef_dtype_size(t) == 8) j.group = 2;
    ef_parallel((n + j.group - 1) / j.group, TILE, cost[kind] * j.group, fill_range, &j);
}

/* Which elements are swapped is known for a block of swaps before its first one, so that the
 * elements are on their way to the cache when the swaps need them. */
enum { SWAPS = 256 };
typedef struct {
    uint64_t a, b;
} two_words;
#define SHUFFLE(T)                                                               \
    {                                                                            \
        T *x = data;                                                             \
        for (int64_t i = 0, count; i + 1 < n; i += count) {                      \
            count = n - 1 - i < SWAPS ? n - 1 - i : SWAPS;                       \
            ef_philox_blocks(&g, other, (count + 3) / 4);                        \
            for (int64_t k = 0; k < count; k++) {                                \
                other[k] = (uint32_t)(i + k) + other[k] % (uint32_t)(n - i - k); \
                __builtin_prefetch(x + other[k], 1);                             \
            }                                                                    \
            for (int64_t k = 0; k < count; k++) {                                \
                T held = x[i + k];                                               \
                x[i + k] = x[other[k]];                                          \
                x[other[k]] = held;                                              \
            }                                                                    \
        }                                                                        \
        break;                                                                   \
    }
void ef_random_shuffle(ef_philox g, void *data, int64_t n, size_t size) {
    uint32_t other[SWAPS];
    switch (size) {
    case 1: SHUFFLE(uint8_t)
    case 2: SHUFFLE(uint16_t)
    case 4: SHUFFLE(uint32_t)
    case 8: SHUFFLE(uint64_t)
    default: SHUFFLE(two_words)
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
