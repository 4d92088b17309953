/* Products of many rows with a small matrix, f32. Eight rows of a panel of the right-hand side (one
 * vector wide) stay in registers while the rows of the left side are read, so that a row costs only
 * a broadcast and a multiply-add per element. */
#include "kernels/gemm_loop.h"
#include "kernels/gemm_vec.h"

/* Rows of b held in registers; rows of c computed before they are copied. */
enum { DEEP = 8, BLOCK = 32 };

typedef struct panel {
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc, m;
    bool add;
} panel;

#define PANEL(K)                                                     \
    static void panel##K(const panel *s) {                           \
        const float *a = s->a;                                       \
        float *c = s->c;                                             \
        int64_t m = s->m, lda = s->lda, ldc = s->ldc;                \
        bool add = s->add;                                           \
        vec y[K];                                                    \
        for (int p = 0; p < K; p++) y[p] = load(s->b + p * s->ldb);  \
        for (int64_t i = 0; i < m; i++, a += lda, c += ldc) {        \
            vec sum = add ? load(c) : (vec){0};                      \
            for (int p = 0; p < K; p++) sum = madd(a[p], y[p], sum); \
            store(c, sum);                                           \
        }                                                            \
    }
PANEL(1)
PANEL(2)
PANEL(3)
PANEL(4)
PANEL(5)
PANEL(6)
PANEL(7)
PANEL(8)

/* All of k, which is not 0, for LANES full columns. */
static void deep(panel s, int64_t k) {
    static void (*const panels[DEEP])(const panel *) = {panel1, panel2, panel3, panel4,
                                                        panel5, panel6, panel7, panel8};
    do {
        panels[(k < DEEP ? k : DEEP) - 1](&s);
        s.a += DEEP, s.b += DEEP * s.ldb, s.add = true;
        k -= DEEP;
    } while (k > 0);
}

/* Fewer columns than a vector has: computed in a buffer, from which the valid part is copied. */
static void deep_part(panel s, int64_t k, int64_t width) {
    float part[BLOCK * LANES];
    panel t = s;
    t.c = part, t.ldc = LANES, t.add = false;
    for (int64_t i = 0; i < s.m; i += BLOCK, t.a += BLOCK * s.lda) {
        t.m = s.m - i < BLOCK ? s.m - i : BLOCK;
        deep(t, k);
        for (int64_t r = 0; r < t.m; r++) {
            float *c = s.c + (i + r) * s.ldc;
            const float *v = part + r * LANES;
            for (int64_t j = 0; j < width; j++) c[j] = s.add ? c[j] + v[j] : v[j];
        }
    }
}

void ef_gemm_panels(const ef_gemm_args *g, const float *b, int64_t ldb) {
    for (int64_t j = 0; j < g->n; j += LANES) {
        panel s = {g->a, b + j, (float *)g->c + j, g->lda, ldb, g->ldc, g->m, g->add};
        if (g->n - j >= LANES)
            deep(s, g->k);
        else
            deep_part(s, g->k, g->n - j);
    }
}
