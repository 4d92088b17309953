/* A block is first simplified: axes of size one are dropped, and adjacent axes that are contiguous
 * on both sides are merged. What remains is divided into pieces of two axes. If the last axis is
 * contiguous in dst and another one in src, the pieces are tiles of a matrix transpose over these
 * two axes; otherwise they are rows. An odometer counts through the pieces, with several threads if
 * that is faster. */
#include "kernels/block.h"
#include "base/pool.h"
#include "tensor/tensor.h"
#include <string.h>

typedef void piece_fn(char *dst, const char *src, int64_t n1, int64_t to1, int64_t from1,
                      int64_t n0, int64_t to0, int64_t from0);

typedef struct job {
    ef_block walk; /* the outer axes, then the pieces along axis 1 and along axis 0 */
    piece_fn *piece;
    char *dst;
    const char *src;
    size_t size;
    int64_t n1, to1, from1, part1; /* the two inner axes; part: how much of each one piece has */
    int64_t n0, to0, from0, part0;
} job;

typedef struct e16 {
    uint64_t a, b;
} e16;

/* Rows: n1 rows of n0 elements. */
#define ROWS(name, T)                                                                    \
    static void name(char *dst, const char *src, int64_t n1, int64_t to1, int64_t from1, \
                     int64_t n0, int64_t to0, int64_t from0) {                           \
        for (int64_t r = 0; r < n1; r++) {                                               \
            T *restrict o = (T *)(void *)dst + r * to1;                                  \
            const T *restrict x = (const T *)(const void *)src + r * from1;              \
            if (to0 == 1 && from0 == 1) {                                                \
                if (n0 * (int64_t)sizeof(T) >= 32)                                       \
                    memcpy(o, x, (size_t)n0 * sizeof(T));                                \
                else                                                                     \
                    for (int64_t k = 0; k < n0; k++) o[k] = x[k];                        \
            } else if (to0 == 1 && from0 == 0) {                                         \
                T v = x[0];                                                              \
                for (int64_t k = 0; k < n0; k++) o[k] = v;                               \
            } else {                                                                     \
                for (int64_t k = 0; k < n0; k++) o[k * to0] = x[k * from0];              \
            }                                                                            \
        }                                                                                \
    }
ROWS(rows_1, uint8_t)
ROWS(rows_2, uint16_t)
ROWS(rows_4, uint32_t)
ROWS(rows_8, uint64_t)
ROWS(rows_16, e16)

/* Tiles: dst[i * to1 + k] = src[i + k * from0], i.e. from1 == 1 and to0 == 1. */
#define TILE_EDGE(T, o, x, i0, i1, k0, k1) \
    for (int64_t i = (i0); i < (i1); i++)  \
        for (int64_t k = (k0); k < (k1); k++) (o)[i * to1 + k] = (x)[i + k * from0]
/* Squares of S x S are copied through a local buffer, so that whole cache lines are read and
 * written. */
#define TILE(name, T, S)                                                                 \
    static inline void name##_square(T *restrict o, int64_t to1, const T *restrict x,    \
                                     int64_t from0) {                                    \
        T t[S][S];                                                                       \
        for (int k = 0; k < (S); k++) memcpy(t[k], x + k * from0, sizeof t[k]);          \
        for (int i = 0; i < (S); i++)                                                    \
            for (int k = 0; k < (S); k++) o[i * to1 + k] = t[k][i];                      \
    }                                                                                    \
    static void name(char *dst, const char *src, int64_t n1, int64_t to1, int64_t from1, \
                     int64_t n0, int64_t to0, int64_t from0) {                           \
        T *restrict o = (T *)(void *)dst;                                                \
        const T *restrict x = (const T *)(const void *)src;                              \
        int64_t m1 = n1 / (S) * (S), m0 = n0 / (S) * (S);                                \
        (void)from1, (void)to0;                                                          \
        for (int64_t i = 0; i < m1; i += (S))                                            \
            for (int64_t k = 0; k < m0; k += (S))                                        \
                name##_square(o + i * to1 + k, to1, x + i + k * from0, from0);           \
        TILE_EDGE(T, o, x, 0, m1, m0, n0);                                               \
        TILE_EDGE(T, o, x, m1, n1, 0, n0);                                               \
    }
TILE(tile_1, uint8_t, 16)
TILE(tile_2, uint16_t, 16)
TILE(tile_8, uint64_t, 8)
TILE(tile_16, e16, 4)

typedef uint32_t v8 __attribute__((vector_size(32)));
typedef struct v8u { /* unaligned access to a vector */
    v8 v;
} __attribute__((packed, may_alias)) v8u;

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
/* 8 x 8 in registers: three rounds of interleaving, by 1, 2 and 4 elements. */
static inline void tile_8x8(uint32_t *o, int64_t to1, const uint32_t *x, int64_t from0) {
    v8 r[8], t[8];
    for (int k = 0; k < 8; k++) r[k] = ((const v8u *)(const void *)(x + k * from0))->v;
    for (int k = 0; k < 8; k += 2) {
        t[k] = SHUFFLE(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[k + 1] = SHUFFLE(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; k += 4) {
        r[k] = SHUFFLE(t[k], t[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[k + 1] = SHUFFLE(t[k], t[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        r[k + 2] = SHUFFLE(t[k + 1], t[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        r[k + 3] = SHUFFLE(t[k + 1], t[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int k = 0; k < 4; k++) {
        ((v8u *)(void *)(o + k * to1))->v = SHUFFLE(r[k], r[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        ((v8u *)(void *)(o + (k + 4) * to1))->v =
            SHUFFLE(r[k], r[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static void tile_4(char *dst, const char *src, int64_t n1, int64_t to1, int64_t from1, int64_t n0,
                   int64_t to0, int64_t from0) {
    uint32_t *restrict o = (uint32_t *)(void *)dst;
    const uint32_t *restrict x = (const uint32_t *)(const void *)src;
    int64_t m1 = n1 / 16 * 16, m0 = n0 / 16 * 16;
    (void)from1, (void)to0;
    for (int64_t i = 0; i < m1; i += 16)
        for (int64_t k = 0; k < m0; k += 16)
            for (int q = 0; q < 4; q++) { /* 16 elements are a cache line */
                int64_t a = i + q / 2 * 8, b = k + q % 2 * 8;
                tile_8x8(o + a * to1 + b, to1, x + a + b * from0, from0);
            }
    TILE_EDGE(uint32_t, o, x, 0, m1, m0, n0);
    TILE_EDGE(uint32_t, o, x, m1, n1, 0, n0);
}

static int size_index(size_t size) {
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4;
}
static piece_fn *const row_fns[5] = {rows_1, rows_2, rows_4, rows_8, rows_16};
static piece_fn *const tile_fns[5] = {tile_1, tile_2, tile_4, tile_8, tile_16};

/* Drops axes of size one and merges adjacent axes. Returns false if there is nothing to copy. */
static bool simplify(const ef_block *b, ef_block *out) {
    out->rank = 0;
    for (int d = 0; d < b->rank; d++) {
        if (b->dim[d] <= 0) return false;
        if (b->dim[d] == 1) continue;
        int p = out->rank - 1;
        if (p >= 0 && out->from[p] == b->from[d] * b->dim[d] &&
            out->to[p] == b->to[d] * b->dim[d]) {
            out->dim[p] *= b->dim[d];
            out->from[p] = b->from[d];
            out->to[p] = b->to[d];
        } else {
            ef_block_axis(out, b->dim[d], b->from[d], b->to[d]);
        }
    }
    return true;
}

static void walk(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_block *b = &j->walk;
    int r = b->rank;
    int64_t at[EF_BLOCK_RANK], from = 0, to = 0, rest = begin;
    for (int d = r - 1; d >= 0; d--) {
        at[d] = rest % b->dim[d];
        rest /= b->dim[d];
        from += at[d] * b->from[d];
        to += at[d] * b->to[d];
    }
    for (int64_t k = begin;;) {
        int64_t left1 = j->n1 - at[r - 2] * j->part1, left0 = j->n0 - at[r - 1] * j->part0;
        j->piece(j->dst + to * (int64_t)j->size, j->src + from * (int64_t)j->size,
                 left1 < j->part1 ? left1 : j->part1, j->to1, j->from1,
                 left0 < j->part0 ? left0 : j->part0, j->to0, j->from0);
        if (++k >= end) return;
        for (int d = r - 1;; d--) {
            from += b->from[d];
            to += b->to[d];
            if (++at[d] < b->dim[d]) break;
            from -= b->dim[d] * b->from[d];
            to -= b->dim[d] * b->to[d];
            at[d] = 0;
        }
    }
}

/* The axis of b that is paired with the last one: the axis contiguous in src if that makes a
 * transpose. */
static int partner(const ef_block *b, bool *transposes) {
    int last = b->rank - 1;
    *transposes = false;
    if (b->to[last] == 1 && b->from[last] != 1 && b->from[last] != 0)
        for (int d = last - 1; d >= 0; d--)
            if (b->from[d] == 1) {
                *transposes = true;
                return d;
            }
    return last - 1;
}

enum { TILE_SIDE = 64, PIECE_BYTES = 1 << 15 };

static void cut(job *j, bool transposes) {
    if (transposes) {
        j->part1 = j->part0 = TILE_SIDE;
    } else {
        int64_t most = PIECE_BYTES / (int64_t)j->size;
        j->part0 = j->n0 < most * 2 ? j->n0 : most;
        j->part1 = j->n0 < most ? most / j->n0 : 1;
    }
    ef_block_axis(&j->walk, (j->n1 + j->part1 - 1) / j->part1, j->part1 * j->from1,
                  j->part1 * j->to1);
    ef_block_axis(&j->walk, (j->n0 + j->part0 - 1) / j->part0, j->part0 * j->from0,
                  j->part0 * j->to0);
}

static void copy_plain(size_t size, char *dst, const char *src, const ef_block *b) {
    bool transposes = false;
    int last = b->rank - 1, p = b->rank >= 2 ? partner(b, &transposes) : -1;
    int64_t n1 = 1, to1 = 0, from1 = 0, n0 = 1, to0 = 1, from0 = 1;
    if (last >= 0) n0 = b->dim[last], to0 = b->to[last], from0 = b->from[last];
    if (p >= 0) n1 = b->dim[p], to1 = b->to[p], from1 = b->from[p];
    piece_fn *piece = (transposes ? tile_fns : row_fns)[size_index(size)];
    if (b->rank <= 2 && n1 * n0 <= TILE_SIDE * TILE_SIDE) {
        piece(dst, src, n1, to1, from1, n0, to0, from0);
        return;
    }
    job j = {.piece = piece,
             .dst = dst,
             .src = src,
             .size = size,
             .n1 = n1,
             .to1 = to1,
             .from1 = from1,
             .n0 = n0,
             .to0 = to0,
             .from0 = from0};
    for (int d = 0; d < last; d++)
        if (d != p) ef_block_axis(&j.walk, b->dim[d], b->from[d], b->to[d]);
    cut(&j, transposes);
    int64_t pieces = 1;
    for (int d = 0; d < j.walk.rank; d++) pieces *= j.walk.dim[d];
    int64_t in_piece = (n1 < j.part1 ? n1 : j.part1) * (n0 < j.part0 ? n0 : j.part0);
    double ns = (double)in_piece * (double)size * (transposes ? 0.3 : 0.12) + 2.0;
    ef_parallel(pieces, 1, ns, walk, &j);
}

static ef_status *copy_strings(ef_str *dst, const ef_str *src, const ef_block *b) {
    int64_t at[EF_BLOCK_RANK] = {0}, from = 0, to = 0;
    for (;;) {
        EF_TRY(ef_str_set(&dst[to], src[from].at, src[from].n));
        int d = b->rank - 1;
        for (; d >= 0; d--) {
            from += b->from[d];
            to += b->to[d];
            if (++at[d] < b->dim[d]) break;
            from -= b->dim[d] * b->from[d];
            to -= b->dim[d] * b->to[d];
            at[d] = 0;
        }
        if (d < 0) return NULL;
    }
}

ef_status *ef_block_copy(ef_dtype t, void *dst, const void *src, const ef_block *b) {
    ef_block s;
    if (!simplify(b, &s)) return NULL;
    if (t == EF_STRING) return copy_strings(dst, src, &s);
    copy_plain(ef_dtype_size(t), dst, src, &s);
    return NULL;
}

ef_status *ef_copy_elements(ef_dtype t, void *dst, const void *src, int64_t n) {
    size_t size = ef_dtype_size(t);
    if (n <= 0) return NULL;
    if (t != EF_STRING && (uint64_t)n <= PIECE_BYTES / size) {
        memcpy(dst, src, (size_t)n * size);
        return NULL;
    }
    ef_block b = {.rank = 1, .dim = {n}, .from = {1}, .to = {1}};
    return ef_block_copy(t, dst, src, &b);
}

ef_status *ef_fill_elements(ef_dtype t, void *dst, const void *value, int64_t n) {
    ef_block b = {.rank = 1, .dim = {n}, .from = {0}, .to = {1}};
    return ef_block_copy(t, dst, value, &b);
}

ef_status *ef_zero_elements(ef_dtype t, void *dst, int64_t n) {
    static const uint64_t zero[2] = {0, 0};
    static const ef_str nothing = {0};
    size_t size = ef_dtype_size(t);
    if (n <= 0) return NULL;
    if (t == EF_STRING) return ef_fill_elements(t, dst, &nothing, n);
    if ((uint64_t)n <= PIECE_BYTES / size) {
        memset(dst, 0, (size_t)n * size);
        return NULL;
    }
    return ef_fill_elements(t, dst, zero, n);
}
