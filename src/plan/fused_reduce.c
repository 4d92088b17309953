/* Tile programs that end in a reduction. Each stretch of the program's last value is added to
 * accumulators while it is still in the cache, and not written to memory unless something else
 * reads it. The work is cut into parts whose number depends on the shape only; accumulators of the
 * parts are merged in order, so any number of threads gives the same bits. */
#include "base/pool.h"
#include "plan/tiles_run.h"

enum {
    PART = 1 << 14,
    MOST_PARTS = 512,
    LANES_ROW = 256 /* elements of a row from which on sums are taken row by row, in lanes */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* ---- planning -------------------------------------------------------------------------------- */

/* Whether the reduced axes are the last or the first ones; axes of size one do not count. */
static bool split(const ef_shape *s, uint32_t mask, ef_tile_tail *tail) {
    int64_t reduced = 1, kept = 1;
    int changes = 0, last = -1; /* between kept and reduced, going inwards */
    bool inner = false;
    for (int d = 0; d < s->rank; d++) {
        int now = (int)(mask >> d & 1u);
        *(now ? &reduced : &kept) *= s->dim[d];
        if (s->dim[d] == 1) continue;
        changes += last >= 0 && now != last;
        last = now;
        inner = now;
    }
    if (changes > 1 || last < 0) return false;
    tail->outer = !inner && reduced > 1;
    tail->rows = tail->outer ? reduced : kept;
    tail->cols = tail->outer ? kept : reduced;
    return reduced > 1;
}

static void cut_parts(ef_tile_tail *tail) {
    if (tail->outer) {
        /* few enough parts that their accumulators stay small */
        int64_t parts = least(most(1, PART / tail->cols), most(1, tail->rows * tail->cols / PART));
        tail->part = parts_of(tail->rows, least(parts, MOST_PARTS));
    } else {
        tail->part = most(PART, parts_of(tail->cols, MOST_PARTS));
        tail->part = parts_of(tail->part, EF_TILE) * EF_TILE;
    }
    tail->parts = parts_of(tail->outer ? tail->rows : tail->cols, tail->part);
}

bool ef_tiles_reduce(ef_tiles *t, ef_reduce_kind kind, ef_dtype d, uint32_t mask, bool alone) {
    ef_tile_reduced one = {.reducer = ef_reducer_find(kind, d), .size = ef_dtype_size(d)};
    ef_tile_tail tail = {.n = 0};
    if (one.reducer == NULL || !split(&t->shape, mask, &tail)) return false;
    if (tail.outer && tail.cols > EF_TILE && !alone)
        return false; /* a row that fills more than a tile gains nothing */
    cut_parts(&tail);
    if (t->tail.n > 0 && (t->tail.n == EF_TILES_MAX_TAILS || tail.outer || tail.parts > 1 ||
                          t->tail.outer || tail.cols != t->tail.cols))
        return false;
    one.by_lanes = d == EF_F32 && (kind == EF_REDUCE_SUM || kind == EF_REDUCE_MEAN) &&
                   !tail.outer && tail.cols >= LANES_ROW && !alone;
    if (t->tail.n == 0) t->tail = tail;
    t->tail.of[t->tail.n++] = one;
    return true;
}

size_t ef_tiles_scratch(const ef_tiles *t) {
    const ef_tile_tail *tail = &t->tail;
    if (tail->n == 0 || (!tail->outer && tail->parts == 1)) return 0;
    int64_t kept = tail->outer ? tail->cols : tail->rows;
    return (size_t)(kept * tail->parts) * tail->of[0].reducer->acc_size;
}

/* ---- inner axes: each row gives one element -------------------------------------------------- */

static const ef_tiles *program(const ef_call *c) { return c->state; }
/* Element i of the result of reduction k. */
static char *result(const ef_tile_worker *w, int k, int64_t i) {
    const ef_tiles *t = w->t;
    return w->data[t->n_inputs + t->n_outputs - t->tail.n + k] + (size_t)i * t->tail.of[k].size;
}

/* Adds elements [i, i + n), counted from the first row, to the accumulators of their rows. */
static void take_rows(const ef_tile_reduced *of, char *acc, const char *from, int64_t cols,
                      int64_t i, int64_t n) {
    for (int64_t done = 0; done < n;) {
        int64_t row = (i + done) / cols, at = (i + done) % cols;
        int64_t whole = at == 0 ? (n - done) / cols : 0;
        int64_t m = whole > 0 ? cols : least(cols - at, n - done);
        of->reducer->rows(acc + (size_t)row * of->reducer->acc_size, from + (size_t)done * of->size,
                          most(whole, 1), m, m);
        done += most(whole, 1) * m;
    }
}

typedef struct row_accumulators { /* of rows that fit a stretch: each has two elements or more */
    _Alignas(16) char of[EF_TILES_MAX_TAILS][EF_TILE / 2 * EF_REDUCE_ACC];
} row_accumulators;

/* Whole rows, as many as fit a stretch; a stretch that is cut ends within a row or at its end. */
static void short_rows(ef_tile_worker *w, int64_t begin, int64_t end) {
    const ef_tile_tail *tail = &w->t->tail;
    int64_t cols = tail->cols, fit = EF_TILE / cols;
    row_accumulators acc;
    for (int64_t r = begin; r < end; r += fit) {
        int64_t n = least(fit, end - r);
        for (int k = 0; k < tail->n; k++) tail->of[k].reducer->begin(acc.of[k], n);
        for (int64_t i = 0; i < n * cols;) {
            int64_t got = ef_tile_worker_run(w, r * cols + i, n * cols - i);
            for (int k = 0; k < tail->n; k++)
                take_rows(&tail->of[k], acc.of[k], w->ptr[tail->of[k].operand], cols, i, got);
            i += got;
        }
        for (int k = 0; k < tail->n; k++)
            tail->of[k].reducer->end(result(w, k, r), acc.of[k], n, cols);
    }
}

double ef_tile_lanes_sum(const float *lane) {
    float a[8], b[4];
    _Static_assert(EF_TILES_LANES == 16, "two vectors of eight");
#pragma omp simd
    for (int k = 0; k < 8; k++) a[k] = lane[k] + lane[k + 8];
#pragma omp simd
    for (int k = 0; k < 4; k++) b[k] = a[k] + a[k + 4];
    return (b[0] + b[2]) + (b[1] + b[3]);
}

/* What generated code does, in C: each lane takes every so many elements. */
static void fill_lanes(float *lane, const float *x, int64_t n) {
    int64_t lanes = ef_jit_vector() == 32 ? 8 : EF_TILES_LANES, i = 0;
    float sum[EF_TILES_LANES] = {0};
    for (; i + lanes <= n; i += lanes)
        for (int64_t k = 0; k < lanes; k++) sum[k] += x[i + k];
    for (int64_t k = 0; i + k < n; k++) sum[k] += x[i + k];
    memcpy(lane, sum, sizeof sum);
}

/* What the stretch at hand adds to the accumulators. */
static void reduce_block(ef_tile_worker *w, char *acc, size_t stride, int64_t n) {
    const ef_tile_tail *tail = &w->t->tail;
    for (int k = 0; k < tail->n; k++) {
        char *to = acc + (size_t)k * stride;
        if (tail->of[k].by_lanes && !tail->of[k].in_code)
            fill_lanes(w->lanes[k], w->ptr[tail->of[k].operand], n);
        if (tail->of[k].by_lanes)
            *(double *)(void *)to += ef_tile_lanes_sum(w->lanes[k]);
        else
            tail->of[k].reducer->rows(to, w->ptr[tail->of[k].operand], 1, n, n);
    }
}

/* Reduces elements [from, to) of one row: into `acc` for the first reduction, and `stride` bytes
 * further for each next one. */
static void take_row(ef_tile_worker *w, char *acc, size_t stride, int64_t row, int64_t from,
                     int64_t to) {
    const ef_tile_tail *tail = &w->t->tail;
    for (int k = 0; k < tail->n; k++) tail->of[k].reducer->begin(acc + (size_t)k * stride, 1);
    for (int64_t j = from; j < to;) {
        int64_t n = ef_tile_worker_run(w, row * tail->cols + j, least(to - j, EF_TILE));
        reduce_block(w, acc, stride, n);
        j += n;
    }
}

static void long_rows(ef_tile_worker *w, int64_t begin, int64_t end) {
    const ef_tile_tail *tail = &w->t->tail;
    _Alignas(16) char acc[EF_TILES_MAX_TAILS * EF_REDUCE_ACC];
    bool walk = ef_tile_worker_walk(w, tail->cols);
    for (int64_t r = begin; r < end; r++) {
        if (walk && r > begin) {
            for (int k = 0; k < tail->n; k++)
                tail->of[k].reducer->begin(acc + (size_t)k * EF_REDUCE_ACC, 1);
            ef_tile_worker_next(w, tail->cols);
            reduce_block(w, acc, EF_REDUCE_ACC, tail->cols);
        } else {
            take_row(w, acc, EF_REDUCE_ACC, r, 0, tail->cols);
        }
        for (int k = 0; k < tail->n; k++)
            tail->of[k].reducer->end(result(w, k, r), acc + (size_t)k * EF_REDUCE_ACC, 1,
                                     tail->cols);
    }
}

/* Without instructions: straight from the argument. */
static void plain_rows(const ef_tile_worker *w, int64_t begin, int64_t end) {
    enum { AT_ONCE = 256 };
    const ef_tile_tail *tail = &w->t->tail;
    const ef_tile_reduced *of = &tail->of[0];
    _Alignas(16) char acc[AT_ONCE * EF_REDUCE_ACC];
    for (int64_t r = begin; r < end; r += AT_ONCE) {
        int64_t n = least(AT_ONCE, end - r);
        of->reducer->begin(acc, n);
        of->reducer->rows(acc, w->data[of->operand] + (size_t)(r * tail->cols) * of->size, n,
                          tail->cols, tail->cols);
        of->reducer->end(result(w, 0, r), acc, n, tail->cols);
    }
}

static bool has_lanes(const ef_tile_tail *tail) {
    for (int k = 0; k < tail->n; k++)
        if (tail->of[k].by_lanes) return true;
    return false;
}

void ef_tile_worker_rows(ef_tile_worker *w, int64_t begin, int64_t end) {
    if (w->t->n_ins == 0)
        plain_rows(w, begin, end);
    else if (w->t->tail.cols <= EF_TILE && !has_lanes(&w->t->tail))
        short_rows(w, begin, end);
    else
        long_rows(w, begin, end);
}

static void run_rows(void *arg, int64_t begin, int64_t end) {
    ef_tile_worker w;
    ef_tile_worker_of(&w, arg);
    ef_tile_worker_rows(&w, begin, end);
}

/* One part of one long row. */
static void row_parts(void *arg, int64_t begin, int64_t end) {
    const ef_call *c = arg;
    const ef_tile_tail *tail = &program(c)->tail;
    ef_tile_worker w;
    ef_tile_worker_of(&w, c);
    for (int64_t u = begin; u < end; u++) {
        int64_t from = u % tail->parts * tail->part;
        take_row(&w, (char *)c->scratch + (size_t)u * tail->of[0].reducer->acc_size, 0,
                 u / tail->parts, from, least(from + tail->part, tail->cols));
    }
}

static void merge_rows(const ef_call *c) {
    const ef_tile_tail *tail = &program(c)->tail;
    size_t size = tail->of[0].reducer->acc_size;
    char *out = c->out[c->n_out - 1]->data;
    for (int64_t r = 0; r < tail->rows; r++) {
        char *acc = (char *)c->scratch + (size_t)(r * tail->parts) * size;
        for (int64_t k = 1; k < tail->parts; k++)
            tail->of[0].reducer->merge(acc, acc + (size_t)k * size, 1);
        tail->of[0].reducer->end(out + (size_t)r * tail->of[0].size, acc, 1, tail->cols);
    }
}

/* ---- outer axes: each column gives one element ----------------------------------------------- */

/* n elements, the first of them in column `at`. */
static void take_columns(const ef_tile_tail *tail, char *acc, const char *from, int64_t at,
                         int64_t n) {
    int64_t cols = tail->cols;
    while (n > 0) {
        int64_t whole = at == 0 ? n / cols : 0, m = whole > 0 ? cols : least(cols - at, n);
        tail->of[0].reducer->cols(acc + (size_t)at * tail->of[0].reducer->acc_size, from,
                                  most(whole, 1), m, m);
        int64_t done = most(whole, 1) * m;
        from += (size_t)done * tail->of[0].size;
        n -= done;
        at = (at + m) % cols;
    }
}

/* Without instructions: straight from the argument. */
static void plain_columns(const ef_tile_worker *w, char *acc, int64_t begin, int64_t end) {
    const ef_tile_tail *tail = &w->t->tail;
    const char *from =
        w->data[tail->of[0].operand] + (size_t)(begin * tail->cols) * tail->of[0].size;
    for (int64_t j = 0; j < tail->cols; j += EF_REDUCE_WIDTH)
        tail->of[0].reducer->cols(acc + (size_t)j * tail->of[0].reducer->acc_size,
                                  from + (size_t)j * tail->of[0].size, end - begin, tail->cols,
                                  least(EF_REDUCE_WIDTH, tail->cols - j));
}

void ef_tile_worker_columns(ef_tile_worker *w, char *acc, int64_t begin, int64_t end) {
    const ef_tile_tail *tail = &w->t->tail;
    int64_t cols = tail->cols, fit = EF_TILE / cols;
    if (w->t->n_ins == 0) {
        plain_columns(w, acc, begin, end);
        return;
    }
    for (int64_t row = begin; row < end; row += fit) {
        int64_t count = least(fit, end - row) * cols;
        for (int64_t i = 0; i < count;) {
            int64_t n = ef_tile_worker_run(w, row * cols + i, count - i);
            take_columns(tail, acc, w->ptr[tail->of[0].operand], i % cols, n);
            i += n;
        }
    }
}

/* Some parts of the rows; the accumulators of a part are contiguous. */
static void column_parts(void *arg, int64_t begin, int64_t end) {
    const ef_call *c = arg;
    const ef_tile_tail *tail = &program(c)->tail;
    ef_tile_worker w;
    ef_tile_worker_of(&w, c);
    for (int64_t part = begin; part < end; part++) {
        int64_t row = part * tail->part;
        char *acc =
            (char *)c->scratch + (size_t)(part * tail->cols) * tail->of[0].reducer->acc_size;
        tail->of[0].reducer->begin(acc, tail->cols);
        ef_tile_worker_columns(&w, acc, row, least(row + tail->part, tail->rows));
    }
}

static void merge_columns(const ef_call *c) {
    const ef_tile_tail *tail = &program(c)->tail;
    size_t row = (size_t)tail->cols * tail->of[0].reducer->acc_size;
    char *acc = c->scratch;
    for (int64_t k = 1; k < tail->parts; k++)
        tail->of[0].reducer->merge(acc, acc + (size_t)k * row, tail->cols);
    tail->of[0].reducer->end(c->out[c->n_out - 1]->data, acc, tail->cols, tail->rows);
}

void ef_tiles_run_tail(const ef_tiles *t, const ef_call *c) {
    const ef_tile_tail *tail = &t->tail;
    void *arg = (void *)(uintptr_t)c;
    if (tail->outer) {
        double cost = t->cost_ns * (double)tail->part * (double)tail->cols;
        ef_parallel(tail->parts, 1, cost, column_parts, arg);
        merge_columns(c);
    } else if (tail->parts == 1) {
        ef_parallel(tail->rows, most(1, EF_TILE / tail->cols), t->cost_ns * (double)tail->cols,
                    run_rows, arg);
    } else {
        double cost = t->cost_ns * (double)least(tail->part, tail->cols);
        ef_parallel(tail->rows * tail->parts, 1, cost, row_parts, arg);
        merge_rows(c);
    }
}
