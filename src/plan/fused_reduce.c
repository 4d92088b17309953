/* Tile programs that end in a reduction. Each stretch of the program's last value is taken in by
 * accumulators while it is still in the cache, and never written to memory unless somebody else
 * wants it. The work is cut into parts whose number follows from the shape alone; accumulators of
 * the parts are merged in order, so any number of threads gives the same bits. */
#include "base/pool.h"
#include "plan/tiles_run.h"

enum { PART = 1 << 14, MOST_PARTS = 512 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* ---- planning -------------------------------------------------------------------------------- */

/* Axes are the last or the first ones, axes of size one aside. */
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

bool ef_tiles_reduce(ef_tiles *t, ef_reduce_kind kind, ef_dtype d, uint32_t mask) {
    ef_tile_tail tail = {.reducer = ef_reducer_find(kind, d), .size = ef_dtype_size(d)};
    if (tail.reducer == NULL || !split(&t->shape, mask, &tail)) return false;
    if (tail.outer) {
        if (tail.cols > EF_TILE) return false; /* rows taken in one by one are no gain */
        /* few enough parts that their accumulators stay small */
        int64_t parts = least(most(1, PART / tail.cols), most(1, tail.rows * tail.cols / PART));
        tail.part = parts_of(tail.rows, least(parts, MOST_PARTS));
    } else {
        tail.part = most(PART, parts_of(tail.cols, MOST_PARTS));
        tail.part = parts_of(tail.part, EF_TILE) * EF_TILE;
    }
    tail.parts = parts_of(tail.outer ? tail.rows : tail.cols, tail.part);
    t->tail = tail;
    return true;
}

size_t ef_tiles_scratch(const ef_tiles *t) {
    const ef_tile_tail *tail = &t->tail;
    if (tail->reducer == NULL || (!tail->outer && tail->parts == 1)) return 0;
    int64_t kept = tail->outer ? tail->cols : tail->rows;
    return (size_t)(kept * tail->parts) * tail->reducer->acc_size;
}

/* ---- inner axes: each row gives one element -------------------------------------------------- */

static const ef_tiles *program(const ef_call *c) { return c->state; }
static char *result(const ef_call *c, int64_t i) {
    const ef_tensor *out = c->out[c->n_out - 1];
    return (char *)out->data + (size_t)i * ef_dtype_size((ef_dtype)out->dtype);
}

/* Whole rows, as many as fit a stretch; a stretch that is cut ends within a row or at its end. */
static void short_rows(void *arg, int64_t begin, int64_t end) {
    const ef_call *c = arg;
    const ef_tile_tail *tail = &program(c)->tail;
    int64_t cols = tail->cols, fit = EF_TILE / cols;
    _Alignas(16) char acc[EF_TILE * EF_REDUCE_ACC];
    ef_tile_worker w;
    ef_tile_worker_begin(&w, program(c), c);
    for (int64_t r = begin; r < end; r += fit) {
        int64_t n = least(fit, end - r);
        tail->reducer->begin(acc, n);
        for (int64_t i = 0; i < n * cols;) {
            int64_t got = ef_tile_worker_run(&w, r * cols + i, n * cols - i), done = 0;
            const char *from = w.ptr[tail->operand];
            while (done < got) {
                int64_t row = (i + done) / cols, at = (i + done) % cols;
                int64_t whole = at == 0 ? (got - done) / cols : 0;
                int64_t m = whole > 0 ? cols : least(cols - at, got - done);
                tail->reducer->rows(acc + (size_t)row * tail->reducer->acc_size,
                                    from + (size_t)done * tail->size, most(whole, 1), m, m);
                done += most(whole, 1) * m;
            }
            i += got;
        }
        tail->reducer->end(result(c, r), acc, n, cols);
    }
}

/* One part of one long row. */
static void row_parts(void *arg, int64_t begin, int64_t end) {
    const ef_call *c = arg;
    const ef_tile_tail *tail = &program(c)->tail;
    ef_tile_worker w;
    ef_tile_worker_begin(&w, program(c), c);
    for (int64_t u = begin; u < end; u++) {
        _Alignas(16) char own[EF_REDUCE_ACC];
        int64_t row = u / tail->parts, from = u % tail->parts * tail->part;
        int64_t to = least(from + tail->part, tail->cols);
        char *acc =
            tail->parts == 1 ? own : (char *)c->scratch + (size_t)u * tail->reducer->acc_size;
        tail->reducer->begin(acc, 1);
        for (int64_t j = from; j < to;) {
            int64_t n = ef_tile_worker_run(&w, row * tail->cols + j, least(to - j, EF_TILE));
            tail->reducer->rows(acc, w.ptr[tail->operand], 1, n, n);
            j += n;
        }
        if (tail->parts == 1) tail->reducer->end(result(c, row), acc, 1, tail->cols);
    }
}

static void merge_rows(const ef_call *c) {
    const ef_tile_tail *tail = &program(c)->tail;
    size_t size = tail->reducer->acc_size;
    for (int64_t r = 0; r < tail->rows; r++) {
        char *acc = (char *)c->scratch + (size_t)(r * tail->parts) * size;
        for (int64_t k = 1; k < tail->parts; k++)
            tail->reducer->merge(acc, acc + (size_t)k * size, 1);
        tail->reducer->end(result(c, r), acc, 1, tail->cols);
    }
}

/* ---- outer axes: each column gives one element ----------------------------------------------- */

/* n elements, the first of them in column `at`. */
static void take_columns(const ef_tile_tail *tail, char *acc, const char *from, int64_t at,
                         int64_t n) {
    int64_t cols = tail->cols;
    while (n > 0) {
        int64_t whole = at == 0 ? n / cols : 0, m = whole > 0 ? cols : least(cols - at, n);
        tail->reducer->cols(acc + (size_t)at * tail->reducer->acc_size, from, most(whole, 1), m, m);
        int64_t done = most(whole, 1) * m;
        from += (size_t)done * tail->size;
        n -= done;
        at = (at + m) % cols;
    }
}

/* A part of the rows; accumulators stand part by part. */
static void column_parts(void *arg, int64_t begin, int64_t end) {
    const ef_call *c = arg;
    const ef_tile_tail *tail = &program(c)->tail;
    int64_t cols = tail->cols, fit = EF_TILE / cols;
    ef_tile_worker w;
    ef_tile_worker_begin(&w, program(c), c);
    for (int64_t part = begin; part < end; part++) {
        int64_t row = part * tail->part, last = least(row + tail->part, tail->rows);
        char *acc = (char *)c->scratch + (size_t)(part * cols) * tail->reducer->acc_size;
        tail->reducer->begin(acc, cols);
        for (; row < last; row += fit) {
            int64_t count = least(fit, last - row) * cols;
            for (int64_t i = 0; i < count;) {
                int64_t n = ef_tile_worker_run(&w, row * cols + i, count - i);
                take_columns(tail, acc, w.ptr[tail->operand], i % cols, n);
                i += n;
            }
        }
    }
}

static void merge_columns(const ef_call *c) {
    const ef_tile_tail *tail = &program(c)->tail;
    size_t row = (size_t)tail->cols * tail->reducer->acc_size;
    char *acc = c->scratch;
    for (int64_t k = 1; k < tail->parts; k++)
        tail->reducer->merge(acc, acc + (size_t)k * row, tail->cols);
    tail->reducer->end(result(c, 0), acc, tail->cols, tail->rows);
}

void ef_tiles_run_tail(const ef_tiles *t, const ef_call *c) {
    const ef_tile_tail *tail = &t->tail;
    void *arg = (void *)(uintptr_t)c;
    if (tail->outer) {
        double cost = t->cost_ns * (double)tail->part * (double)tail->cols;
        ef_parallel(tail->parts, 1, cost, column_parts, arg);
        merge_columns(c);
    } else if (tail->cols <= EF_TILE) {
        ef_parallel(tail->rows, EF_TILE / tail->cols, t->cost_ns * (double)tail->cols, short_rows,
                    arg);
    } else {
        double cost = t->cost_ns * (double)least(tail->part, tail->cols);
        ef_parallel(tail->rows * tail->parts, 1, cost, row_parts, arg);
        if (tail->parts > 1) merge_rows(c);
    }
}
