#include "kernels/fft.h"
#include "base/pool.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    STEP = 64,            /* roots of unity that are computed together */
    LARGEST_RADIX = 61,   /* above it a chirp transform is cheaper */
    FACTORS = 64,         /* more factors than a 64-bit number has */
    MOST_IN_LINES = 2048, /* of longer lines several would not fit into caches */
    LEAST_SPLIT = 8192,   /* longer ones are transformed as a matrix (fft_split.inc) */
    LEAST_SHARED = 32768, /* still longer ones by several workers */
    MOST_WORKERS = 4      /* each has scratch memory of its own */
};

/* How a length is transformed, and the memory that takes; counts are in real numbers. */
typedef struct layout {
    ef_dtype dtype;
    ef_fft_kind kind;
    int64_t n;        /* numbers in the complex transform */
    int64_t m;        /* numbers in its passes: n, or the length of the convolution with a chirp */
    bool chirp, half; /* half: the line is real and has 2 n numbers */
    int64_t table, line;
    int64_t roots;       /* numbers of the table before those for a chirp */
    int factor[FACTORS]; /* of m; ends in 0 */
    /* m = n1 * n2 if it is transformed as a matrix; else n1 is 0. */
    int64_t n1, n2, fine, coarse, room; /* room: scratch memory of each worker */
    int shift;                          /* fine = 1 << shift */
    int factor1[FACTORS], factor2[FACTORS], workers;
} layout;

/* The prime factors of n, with 4 as one factor. False if one of them is too large for a pass. */
static bool factorise(int64_t n, int *factor) {
    int count = 0;
    for (; n % 4 == 0; n /= 4) factor[count++] = 4;
    for (int p = 2; p <= LARGEST_RADIX; p += p == 2 ? 1 : 2)
        for (; n % p == 0; n /= p) factor[count++] = p;
    factor[count] = 0;
    return n == 1;
}

/* Divides the factors of m into those of n1 and n2, which become about equal. */
static void split(layout *l) {
    int count = 0, count1 = 0, count2 = 0;
    l->roots = 2 * l->m;
    l->workers = 1;
    if (l->m < LEAST_SPLIT) return;
    l->n1 = l->n2 = 1;
    while (l->factor[count] != 0) count++;
    while (count-- > 0) { /* the largest first, but 4 */
        int p = l->factor[count];
        if (l->n1 <= l->n2)
            l->n1 *= p, l->factor1[count1++] = p;
        else
            l->n2 *= p, l->factor2[count2++] = p;
    }
    l->factor1[count1] = l->factor2[count2] = 0;
    for (l->fine = 1; l->fine * l->fine < l->m; l->shift++) l->fine *= 2;
    l->coarse = l->m / l->fine + 1;
    int64_t longer = l->n1 > l->n2 ? l->n1 : l->n2, lanes = ef_pool_lanes();
    l->room = 4 * longer * EF_FFT_LINES;
    if (l->m >= LEAST_SHARED) l->workers = lanes < MOST_WORKERS ? (int)lanes : MOST_WORKERS;
    int64_t doubles = 2 * (l->fine + l->coarse);
    l->roots =
        doubles * (l->dtype == EF_F32 ? 2 : 1) + 2 * (l->n1 + l->n2) + 2 * l->n1 * EF_FFT_LINES;
}

static layout layout_of(ef_dtype t, ef_fft_kind kind, int64_t n) {
    layout l = {.dtype = t, .kind = kind, .n = n, .m = n};
    bool real = kind == EF_FFT_FROM_REAL || kind == EF_FFT_TO_REAL;
    l.half = real && n % 2 == 0;
    if (l.half) l.n = l.m = n / 2;
    l.chirp = !factorise(l.n, l.factor);
    if (l.chirp) {
        for (l.m = 1; l.m < 2 * l.n - 1;) l.m *= 2;
        factorise(l.m, l.factor);
    }
    split(&l);
    int64_t room = l.room * l.workers;
    l.table = l.roots + (l.chirp ? 2 * l.n + 4 * l.m + room : 0) + (l.half ? 2 * (l.n + 1) : 0);
    l.line = 4 * l.m + 2 + room; /* a real line's transform has one more number */
    if (l.half && !l.chirp) l.line += 2;
    return l;
}

/* exp(-2 pi i k / n), 0 <= k < n. */
static void root_of(int64_t k, int64_t n, double *out) {
    double angle = 6.283185307179586476925 * ((double)k / (double)n);
    out[0] = cos(angle), out[1] = -sin(angle);
}

/* exp(-2 pi i k / m), 0 <= k < m, the product of entries of the tables of a matrix. */
static inline void split_root(const layout *l, const double *fine, int64_t k, double *out) {
    const double *a = fine + 2 * (k & (l->fine - 1)), *b = fine + 2 * (l->fine + (k >> l->shift));
    out[0] = a[0] * b[0] - a[1] * b[1], out[1] = a[0] * b[1] + a[1] * b[0];
}

#define CONJUGATE(NUM, NAME)                                 \
    static void NAME(NUM *x, int64_t n) {                    \
        for (int64_t k = 1; k < 2 * n; k += 2) x[k] = -x[k]; \
    }
CONJUGATE(float, conjugate_f32)
CONJUGATE(double, conjugate_f64)
#define EACH "kernels/fft.inc"
#include "kernels/each_float.inc"

/* A table begins with its layout. */
enum { HEAD = (sizeof(layout) + 63) / 64 * 64 };

size_t ef_fft_table_bytes(ef_dtype t, ef_fft_kind kind, int64_t n) {
    return HEAD + (size_t)layout_of(t, kind, n).table * ef_dtype_size(t);
}

size_t ef_fft_line_bytes(ef_dtype t, ef_fft_kind kind, int64_t n) {
    layout l = layout_of(t, kind, n);
    bool several = (kind == EF_FFT_FORWARD || kind == EF_FFT_BACKWARD) && n <= MOST_IN_LINES;
    return (size_t)l.line * ef_dtype_size(t) * (several ? EF_FFT_LINES : 1);
}

void ef_fft_make_table(ef_dtype t, ef_fft_kind kind, int64_t n, void *table) {
    layout *l = table;
    *l = layout_of(t, kind, n);
    void *numbers = (char *)table + HEAD;
    int64_t halves = l->table - 2 * (l->n + 1); /* roots of the whole length */
    if (t == EF_F32) {
        make_f32(l, numbers);
        if (l->half) roots_f32((float *)numbers + halves, l->n + 1, n);
    } else {
        make_f64(l, numbers);
        if (l->half) roots_f64((double *)numbers + halves, l->n + 1, n);
    }
}

void *ef_fft_run(const void *table, void *line) {
    const layout *l = table;
    const void *numbers = (const char *)table + HEAD;
    return l->dtype == EF_F32 ? (void *)run_f32(l, numbers, line) : run_f64(l, numbers, line);
}

int64_t ef_fft_lines(const void *table) {
    const layout *l = table;
    bool both = l->kind == EF_FFT_FORWARD || l->kind == EF_FFT_BACKWARD;
    return both && !l->chirp && l->n <= MOST_IN_LINES ? EF_FFT_LINES : 1;
}

void *ef_fft_run_lines(const void *table, void *lines, int64_t count) {
    const layout *l = table;
    const void *numbers = (const char *)table + HEAD;
    return l->dtype == EF_F32 ? (void *)run_lines_f32(l, numbers, lines, count)
                              : run_lines_f64(l, numbers, lines, count);
}

bool ef_fft_apart(const void *table) {
    const layout *l = table;
    bool both = l->kind == EF_FFT_FORWARD || l->kind == EF_FFT_BACKWARD;
    return l->n1 != 0 && !l->chirp && (both || (l->kind == EF_FFT_FROM_REAL && l->half));
}

void ef_fft_run_apart(const void *table, const void *from, void *to, void *line) {
    const layout *l = table;
    const void *numbers = (const char *)table + HEAD;
    if (l->dtype == EF_F32)
        run_apart_f32(l, numbers, from, to, line);
    else
        run_apart_f64(l, numbers, from, to, line);
}
