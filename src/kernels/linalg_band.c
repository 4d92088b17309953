/* Systems with banded matrices. The right-hand sides are rows, so every step is a sum of rows. */
#include "kernels/linalg.h"
#include <float.h>
#include <math.h>

#define SAME(x) (x)
#define ROUTINES(SUF, T, R, ABS, CONJ, NAN_OF, EPSILON)                                        \
    typedef struct {                                                                           \
        const T *at;                                                                           \
        int n, bands;                                                                          \
        bool lower, adjoint;                                                                   \
    } banded_##SUF;                                                                            \
    /* The element in row i and column j, which lies within the bands. */                      \
    static T banded_at_##SUF(const banded_##SUF *a, int i, int j) {                            \
        int row = a->adjoint ? j : i, off = i < j ? j - i : i - j;                             \
        T v = a->at[(int64_t)(a->lower ? off : a->bands - 1 - off) * a->n + row];              \
        return a->adjoint ? CONJ(v) : v;                                                       \
    }                                                                                          \
    static bool banded_##SUF##_solve(const banded_##SUF *a, int k, T *x) {                     \
        bool forward = a->lower != a->adjoint;                                                 \
        for (int i = 0; i < a->n; i++)                                                         \
            if (!(ABS(banded_at_##SUF(a, i, i)) > 0)) return false;                            \
        for (int s = 0; s < a->n; s++) {                                                       \
            int i = forward ? s : a->n - 1 - s;                                                \
            T *row = x + (int64_t)i * k, d = banded_at_##SUF(a, i, i);                         \
            for (int off = 1; off < a->bands && off <= s; off++) {                             \
                int j = forward ? i - off : i + off;                                           \
                const T *other = x + (int64_t)j * k;                                           \
                T f = banded_at_##SUF(a, i, j);                                                \
                for (int c = 0; c < k; c++) row[c] -= f * other[c];                            \
            }                                                                                  \
            for (int c = 0; c < k; c++) row[c] /= d;                                           \
        }                                                                                      \
        return true;                                                                           \
    }                                                                                          \
    /* A pivot that is no smaller than `tiny`. */                                              \
    static T firm_##SUF(T p, R tiny) {                                                         \
        if (ABS(p) > tiny || tiny == 0) return p;                                              \
        return p == 0 ? tiny : p / ABS(p) * tiny;                                              \
    }                                                                                          \
    static R tiny_##SUF(int n, const T *room) {                                                \
        R most = 0;                                                                            \
        for (int64_t i = 0; i < 3 * (int64_t)n; i++)                                           \
            most = ABS(room[i]) > most ? ABS(room[i]) : most;                                  \
        return most * EPSILON;                                                                 \
    }                                                                                          \
    /* Eliminates below the diagonal; `above2` is filled where rows are exchanged. */          \
    static bool eliminate_##SUF(int n, int k, T *main, T *above, T *above2, const T *below,    \
                                bool pivoting, R tiny, T *x) {                                 \
        for (int i = 0; i + 1 < n; i++) {                                                      \
            T l = below[i + 1], *row = x + (int64_t)i * k, *next = row + k;                    \
            above2[i] = 0;                                                                     \
            if (!pivoting || ABS(main[i]) >= ABS(l)) {                                         \
                main[i] = firm_##SUF(main[i], tiny);                                           \
                if (main[i] == 0) return false;                                                \
                T f = l / main[i];                                                             \
                main[i + 1] -= f * above[i];                                                   \
                for (int c = 0; c < k; c++) next[c] -= f * row[c];                             \
            } else {                                                                           \
                T f = main[i] / l, held = main[i + 1];                                         \
                main[i] = l;                                                                   \
                main[i + 1] = above[i] - f * held;                                             \
                above[i] = held;                                                               \
                if (i + 2 < n) {                                                               \
                    above2[i] = above[i + 1];                                                  \
                    above[i + 1] = -f * above[i + 1];                                          \
                }                                                                              \
                for (int c = 0; c < k; c++) {                                                  \
                    T v = row[c];                                                              \
                    row[c] = next[c];                                                          \
                    next[c] = v - f * row[c];                                                  \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
        main[n - 1] = firm_##SUF(main[n - 1], tiny);                                           \
        return main[n - 1] != 0;                                                               \
    }                                                                                          \
    static void tridiagonal_##SUF(int n, int k, const T *d, bool pivoting, bool perturb, T *x, \
                                  T *room) {                                                   \
        T *above = room, *main = above + n, *below = main + n, *above2 = below + n;            \
        ef_copy(room, d, sizeof(T) * 3 * (size_t)n);                                           \
        above[n - 1] = below[0] = 0;                                                           \
        R tiny = perturb ? tiny_##SUF(n, room) : 0;                                            \
        if (!eliminate_##SUF(n, k, main, above, above2, below, pivoting, tiny, x)) {           \
            for (int64_t i = 0; i < (int64_t)n * k; i++) x[i] = NAN_OF;                        \
            return;                                                                            \
        }                                                                                      \
        for (int i = n - 1; i >= 0; i--) {                                                     \
            T *row = x + (int64_t)i * k;                                                       \
            for (int c = 0; c < k; c++) {                                                      \
                T v = row[c];                                                                  \
                if (i + 1 < n) v -= above[i] * row[k + c];                                     \
                if (i + 2 < n) v -= above2[i] * row[2 * (int64_t)k + c];                       \
                row[c] = v / main[i];                                                          \
            }                                                                                  \
        }                                                                                      \
    }
ROUTINES(f32, float, float, fabsf, SAME, NAN, FLT_EPSILON)
ROUTINES(f64, double, double, fabs, SAME, NAN, DBL_EPSILON)
ROUTINES(c64, ef_c64, float, cabsf, conjf, CMPLXF(NAN, NAN), FLT_EPSILON)
ROUTINES(c128, ef_c128, double, cabs, conj, CMPLX(NAN, NAN), DBL_EPSILON)

bool ef_banded_solve(ef_dtype t, int n, int bands, int k, const void *a, bool lower, bool adjoint,
                     void *x) {
#define SOLVE(SUF) return banded_##SUF##_solve(&(banded_##SUF){a, n, bands, lower, adjoint}, k, x)
    if (t == EF_F32) SOLVE(f32);
    if (t == EF_F64) SOLVE(f64);
    if (t == EF_C64) SOLVE(c64);
    SOLVE(c128);
}

void ef_tridiagonal_solve(ef_dtype t, int n, int k, const void *diagonals, bool pivoting,
                          bool perturb, void *x, void *scratch) {
    if (n == 0) return;
    if (t == EF_F32)
        tridiagonal_f32(n, k, diagonals, pivoting, perturb, x, scratch);
    else if (t == EF_F64)
        tridiagonal_f64(n, k, diagonals, pivoting, perturb, x, scratch);
    else if (t == EF_C64)
        tridiagonal_c64(n, k, diagonals, pivoting, perturb, x, scratch);
    else
        tridiagonal_c128(n, k, diagonals, pivoting, perturb, x, scratch);
}
