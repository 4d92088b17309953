#include "kernels/fft.h"
#include <math.h>
#include <string.h>

enum {
    STEP = 64,          /* roots of unity that are computed together */
    LARGEST_RADIX = 61, /* above it a chirp transform is cheaper */
    FACTORS = 64,       /* more factors than a 64-bit number has */
    MOST_IN_LINES =
        2048 /* longer lines are transformed one by one: several would not fit into caches */
};

/* How a length is transformed, and the memory that takes; counts are in real numbers. */
typedef struct layout {
    ef_dtype dtype;
    ef_fft_kind kind;
    int64_t n;        /* numbers in the complex transform */
    int64_t m;        /* numbers in its passes: n, or the length of the convolution with a chirp */
    bool chirp, half; /* half: the line is real and has 2 n numbers */
    int64_t table, line;
    int factor[FACTORS]; /* of m; ends in 0 */
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
    l.table = 2 * l.m + (l.chirp ? 2 * l.n + 4 * l.m : 0) + (l.half ? 2 * (l.n + 1) : 0);
    l.line = 4 * l.m + 2; /* a real line's transform has one more number */
    if (l.half && !l.chirp) l.line += 2;
    return l;
}

/* exp(-2 pi i k / n), 0 <= k < n. */
static void root_of(int64_t k, int64_t n, double *out) {
    double angle = 6.283185307179586476925 * ((double)k / (double)n);
    out[0] = cos(angle), out[1] = -sin(angle);
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
