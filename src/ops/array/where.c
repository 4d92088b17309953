/* Where: the coordinates of all elements that are not zero. */
#include "base/pool.h"
#include "ops/array/array.h"

static ef_status *where_shape(ef_infer *i) {
    int rank = i->in[0].shape.rank;
    i->out[0].shape =
        (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank < 0 ? EF_DIM_UNKNOWN : rank}};
    return NULL;
}

/* The bits of an element that are compared with zero: all but the sign of a float, so that -0
 * counts as zero. */
static uint64_t telling_bits(ef_dtype t) {
    switch (t) {
    case EF_F16:
    case EF_BF16: return 0x7FFF;
    case EF_F32:
    case EF_C64: return 0x7FFFFFFF;
    case EF_F64:
    case EF_C128: return INT64_MAX;
    default: return UINT64_MAX;
    }
}

enum { BLOCK = 1024 }; /* elements whose bytes are made together */

typedef struct {
    const ef_tensor *x;
    size_t size; /* bytes of a real number; a complex number is two */
    int words;
    uint64_t bits;
    int64_t *start; /* of each block: the number of its elements that are set, then its first row */
    int64_t *out;
} where;

#define SET_BYTES(T)                                                                          \
    {                                                                                         \
        const T *p = (const T *)w->x->data + from * w->words;                                 \
        const T bits = (T)w->bits;                                                            \
        if (w->words == 1)                                                                    \
            for (int64_t k = 0; k < n; k++) set[k] = (p[k] & bits) != 0;                      \
        else                                                                                  \
            for (int64_t k = 0; k < n; k++) set[k] = ((p[2 * k] | p[2 * k + 1]) & bits) != 0; \
        break;                                                                                \
    }
/* One byte, 0 or 1, for each of the elements [from, from + n). */
static void set_bytes(const where *w, int64_t from, int64_t n, uint8_t *set) {
    switch (w->size) {
    case 1: SET_BYTES(uint8_t)
    case 2: SET_BYTES(uint16_t)
    case 4: SET_BYTES(uint32_t)
    default: SET_BYTES(uint64_t)
    }
}

static int64_t block_of(const where *w, int64_t block, uint8_t *set) {
    int64_t from = block * BLOCK, n = ef_count(w->x) - from < BLOCK ? ef_count(w->x) - from : BLOCK;
    set_bytes(w, from, n, set);
    return n;
}

static void count_blocks(void *arg, int64_t begin, int64_t end) {
    const where *w = arg;
    uint8_t set[BLOCK];
    for (int64_t b = begin; b < end; b++) {
        int64_t n = block_of(w, b, set);
        uint32_t count = 0;
        for (int64_t k = 0; k < n; k++) count += set[k];
        w->start[b] = count;
    }
}

/* Every element is written to the next row and, if it is not set, overwritten by the next one:
 * whether an element is set cannot be predicted. The rows end before `stop`. */
static void write_vector(int64_t *out, int64_t row, int64_t stop, int64_t from,
                         const uint8_t *set) {
    for (int64_t k = 0; row < stop; k++) {
        out[row] = from + k;
        row += set[k];
    }
}

static void write_matrix(int64_t *out, int64_t row, int64_t stop, int64_t from, int64_t width,
                         const uint8_t *set) {
    int64_t i = from / width, j = from % width;
    for (int64_t k = 0; row < stop; k++) {
        out[2 * row] = i, out[2 * row + 1] = j;
        row += set[k];
        if (++j == width) j = 0, i++;
    }
}

static void write_any(const ef_tensor *x, int64_t *out, int64_t row, int64_t stop, int64_t from,
                      const uint8_t *set) {
    int rank = x->rank;
    int64_t at[EF_MAX_RANK] = {0};
    for (int d = rank - 1; d >= 0; d--) at[d] = from % x->dim[d], from /= x->dim[d];
    for (int64_t k = 0; row < stop; k++) {
        for (int d = 0; d < rank; d++) out[row * rank + d] = at[d];
        row += set[k];
        for (int d = rank - 1; d >= 0 && ++at[d] == x->dim[d]; d--) at[d] = 0;
    }
}

static void write_blocks(void *arg, int64_t begin, int64_t end) {
    const where *w = arg;
    uint8_t set[BLOCK];
    for (int64_t b = begin; b < end; b++) {
        int64_t row = w->start[b], stop = w->start[b + 1], from = b * BLOCK;
        if (row == stop) continue;
        block_of(w, b, set);
        if (w->x->rank == 1)
            write_vector(w->out, row, stop, from, set);
        else if (w->x->rank == 2)
            write_matrix(w->out, row, stop, from, w->x->dim[1], set);
        else
            write_any(w->x, w->out, row, stop, from, set);
    }
}

static int64_t blocks_of(const ef_tensor *x) { return (ef_count(x) + BLOCK - 1) / BLOCK; }
static size_t where_scratch(const ef_call *c) {
    return (size_t)(blocks_of(c->in[0]) + 1) * sizeof(int64_t);
}

static ef_status *where_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    if (x->rank == 0)
        return ef_error(EF_INVALID,
                        "Where: a scalar has no coordinates; the rank must be at least 1");
    where w = {.x = x, .words = ef_dtype_in(t, EF_COMPLEX) ? 2 : 1, .bits = telling_bits(t)};
    w.size = ef_dtype_size(t) / (size_t)w.words;
    w.start = c->scratch;
    int64_t blocks = blocks_of(x), rows = 0;
    ef_parallel(blocks, 1, BLOCK * 0.1, count_blocks, &w);
    for (int64_t b = 0; b <= blocks; b++) {
        int64_t count = b < blocks ? w.start[b] : 0;
        w.start[b] = rows;
        rows += count;
    }
    ef_shape s = {.rank = 2, .dim = {rows, x->rank}};
    EF_TRY(ef_out_alloc(c, 0, &s));
    w.out = c->out[0]->data;
    ef_parallel(blocks, 1, BLOCK * (x->rank > 2 ? 3.0 : 1.0), write_blocks, &w);
    return NULL;
}

const ef_op ef_op_Where = {
    EF_NAMED(Where),
    .doc = "The coordinates of the elements of `input` that are true or not zero, one row each, in "
           "order.",
    .in = {"input: T"},
    .out = {"index: int64"},
    .types = "T: " EF_COMPUTED_TYPES " = bool",
    .declared = EF_QUANTIZED,
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = where_shape,
    .kernel = {{EF_CPU, EF_ANY, where_run, where_scratch, NULL, NULL, NULL}},
    .examples = {"bool[3,2]{1,0,0,1,1,0}", "float[4]{0,1,-0.0,2}", "int32[1]{3}", "bool[0,2]",
                 "complex64[2]"},
};
