/* Complex conjugation in place: changes the sign of every second number. */
#include "kernels/conj.h"
#include "base/pool.h"

static void flip_c64(void *arg, int64_t begin, int64_t end) {
    float *p = arg;
    for (int64_t k = begin; k < end; k++) p[2 * k + 1] = -p[2 * k + 1];
}

static void flip_c128(void *arg, int64_t begin, int64_t end) {
    double *p = arg;
    for (int64_t k = begin; k < end; k++) p[2 * k + 1] = -p[2 * k + 1];
}

void ef_conj_in_place(ef_dtype t, void *p, int64_t n) {
    if (t == EF_C64) ef_parallel(n, 1024, 0.5, flip_c64, p);
    if (t == EF_C128) ef_parallel(n, 1024, 1.0, flip_c128, p);
}
