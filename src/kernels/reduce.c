/* The driver. Axes of size one are dropped, and adjacent axes that are both kept or both reduced
 * are merged, so that kept and reduced axes alternate. If the last axis is reduced, outputs
 * accumulate contiguous rows; if it is kept, a range of columns accumulates row after row. Outputs
 * are divided among threads; if there are few, a reduced axis is divided into pieces whose
 * accumulators are merged in order. The division depends only on the sizes, so results do not
 * depend on the number of threads. */
#include "kernels/reduce.h"
#include "base/pool.h"

enum { PIECES = 16, PIECE_WIDTH = 256, ROWS_AT_ONCE = 256, COLS_AT_LEAST = 128 };

typedef struct walk {
    const ef_reducer *how;
    size_t size; /* of an element */
    const char *in;
    char *out;
    bool by_cols;
    int64_t depth, width; /* innermost reduced and kept sizes */
    int n_kept, n_reduced;
    struct axis {
        int64_t dim, step;
    } kept[8], reduced[8]; /* the outer ones, outermost first */
    int64_t outer, count;  /* outer outputs; elements per output */
    int64_t chunk;         /* number of outputs of the width processed at a time */
    int64_t at, lo, n;     /* while a reduced axis is divided: the current range of outputs */
    int64_t cut_dim, cut_step, each;
    char *partial;
} walk;

static void collapse(walk *w, int rank, const int64_t *dim, uint32_t axes) {
    struct axis group[8];
    bool reduced[8];
    int n = 0;
    w->count = 1;
    for (int d = 0; d < rank; d++) {
        bool r = (axes >> d) & 1u;
        if (r) w->count *= dim[d];
        if (dim[d] == 1) continue;
        if (n > 0 && reduced[n - 1] == r)
            group[n - 1].dim *= dim[d];
        else
            reduced[n] = r, group[n++].dim = dim[d];
    }
    int64_t step = 1;
    for (int g = n - 1; g >= 0; g--) {
        group[g].step = step;
        step *= group[g].dim;
    }
    w->depth = w->width = w->outer = 1;
    w->by_cols = n == 0 || !reduced[n - 1];
    if (n > 0) *(reduced[n - 1] ? &w->depth : &w->width) = group[n - 1].dim;
    if (n > 1) *(reduced[n - 2] ? &w->depth : &w->width) = group[n - 2].dim;
    for (int g = 0; g < n - 2; g++) {
        if (reduced[g]) {
            w->reduced[w->n_reduced++] = group[g];
        } else {
            w->kept[w->n_kept++] = group[g];
            w->outer *= group[g].dim;
        }
    }
}

/* Fewer columns than a vector: several adjacent rows are treated as one wide row. */
static void narrow_cols(const walk *w, char *acc, const char *in, int64_t depth, int64_t n) {
    int64_t side = 64 / n < depth ? 64 / n : depth;
    char wide[64 * EF_REDUCE_ACC];
    w->how->begin(wide, side * n);
    w->how->cols(wide, in, depth / side, side * n, side * n);
    for (int64_t k = 0; k < side; k++)
        w->how->merge(acc, wide + (size_t)(k * n) * w->how->acc_size, n);
    int64_t done = depth / side * side;
    if (done < depth) w->how->cols(acc, in + (size_t)(done * n) * w->size, depth - done, n, n);
}

/* Outputs [lo, lo + n) accumulate depth elements each, from the innermost axes at `in`. */
static void innermost(const walk *w, char *acc, const char *in, int64_t lo, int64_t n,
                      int64_t depth) {
    if (!w->by_cols)
        w->how->rows(acc, in + (size_t)(lo * w->depth) * w->size, n, w->depth, depth);
    else if (w->width <= 32 && depth >= 16)
        narrow_cols(w, acc, in, depth, n);
    else
        w->how->cols(acc, in + (size_t)lo * w->size, depth, w->width, n);
}

/* Iterates over the reduced axes first .. last outside the innermost one. */
static void take_in(const walk *w, char *acc, const char *in, int64_t lo, int64_t n, int first,
                    int64_t depth) {
    int64_t at[8] = {0};
    for (;;) {
        int64_t offset = 0;
        for (int r = first; r < w->n_reduced; r++) offset += at[r] * w->reduced[r].step;
        innermost(w, acc, in + (size_t)offset * w->size, lo, n, depth);
        int r = w->n_reduced - 1;
        while (r >= first && ++at[r] == w->reduced[r].dim) at[r--] = 0;
        if (r < first) return;
    }
}

static const char *start_of(const walk *w, int64_t outer) {
    int64_t offset = 0;
    for (int k = w->n_kept - 1; k >= 0; k--) {
        offset += outer % w->kept[k].dim * w->kept[k].step;
        outer /= w->kept[k].dim;
    }
    return w->in + (size_t)offset * w->size;
}

static void run_chunks(void *arg, int64_t from, int64_t to) {
    const walk *w = arg;
    int64_t per = (w->width + w->chunk - 1) / w->chunk;
    char acc[EF_REDUCE_WIDTH * EF_REDUCE_ACC];
    for (int64_t i = from; i < to; i++) {
        int64_t outer = i / per, lo = i % per * w->chunk;
        int64_t n = w->width - lo < w->chunk ? w->width - lo : w->chunk;
        w->how->begin(acc, n);
        take_in(w, acc, start_of(w, outer), lo, n, 0, w->depth);
        w->how->end(w->out + (size_t)(outer * w->width + lo) * w->size, acc, n, w->count);
    }
}

/* Pieces [from, to) of the divided axis, each into its own accumulators. */
static void run_pieces(void *arg, int64_t from, int64_t to) {
    const walk *w = arg;
    for (int64_t p = from; p < to; p++) {
        char *acc = w->partial + (size_t)(p * w->n) * w->how->acc_size;
        int64_t lo = p * w->each, hi = lo + w->each < w->cut_dim ? lo + w->each : w->cut_dim;
        const char *in = start_of(w, w->at);
        w->how->begin(acc, w->n);
        if (w->n_reduced == 0) {
            if (lo < hi)
                innermost(w, acc, in + (size_t)(lo * w->cut_step) * w->size, w->lo, w->n, hi - lo);
        } else {
            for (int64_t i = lo; i < hi; i++)
                take_in(w, acc, in + (size_t)(i * w->cut_step) * w->size, w->lo, w->n, 1, w->depth);
        }
    }
}

static void run_cut(walk *w) {
    char partial[PIECES * PIECE_WIDTH * EF_REDUCE_ACC];
    w->partial = partial;
    w->cut_dim = w->n_reduced > 0 ? w->reduced[0].dim : w->depth;
    w->cut_step = w->n_reduced > 0 ? w->reduced[0].step : w->by_cols ? w->width : 1;
    w->each = (w->cut_dim + PIECES - 1) / PIECES;
    for (w->at = 0; w->at < w->outer; w->at++)
        for (w->lo = 0; w->lo < w->width; w->lo += PIECE_WIDTH) {
            w->n = w->width - w->lo < PIECE_WIDTH ? w->width - w->lo : PIECE_WIDTH;
            double cost = 0.15 * (double)w->count / PIECES * (double)w->n;
            ef_parallel(PIECES, 1, cost, run_pieces, w);
            for (int p = 1; p < PIECES; p++)
                w->how->merge(partial, partial + (size_t)(p * w->n) * w->how->acc_size, w->n);
            w->how->end(w->out + (size_t)(w->at * w->width + w->lo) * w->size, partial, w->n,
                        w->count);
        }
    w->partial = NULL;
}

static void fill_empty(const walk *w) {
    char acc[EF_REDUCE_ACC];
    w->how->begin(acc, 1);
    for (int64_t i = 0; i < w->outer * w->width; i++)
        w->how->end(w->out + (size_t)i * w->size, acc, 1, 0);
}

/* Little work, and the reduced axes are all first or all last: no iteration to set up. */
static bool small(const ef_reducer *how, int rank, const int64_t *dim, uint32_t axes,
                  const void *in, void *out) {
    int64_t kept = 1, reduced = 1;
    bool seen_kept = false, seen_reduced = false, first = true, last = true;
    for (int d = 0; d < rank; d++) {
        if ((axes >> d) & 1u) {
            reduced *= dim[d];
            seen_reduced = true;
            first &= !seen_kept;
        } else {
            kept *= dim[d];
            seen_kept = true;
            last &= !seen_reduced;
        }
        if (kept * reduced > 4096 || kept * reduced == 0) return false;
    }
    if (kept > 128 || (!first && !last)) return false;
    char acc[128 * EF_REDUCE_ACC];
    how->begin(acc, kept);
    if (last)
        how->rows(acc, in, kept, reduced, reduced);
    else
        how->cols(acc, in, reduced, kept, kept);
    how->end(out, acc, kept, reduced);
    return true;
}

void ef_reduce(ef_reduce_kind kind, ef_dtype t, int rank, const int64_t *dim, uint32_t axes,
               const void *in, void *out) {
    if (small(ef_reducer_find(kind, t), rank, dim, axes, in, out)) return;
    walk w = {.how = ef_reducer_find(kind, t), .size = ef_dtype_size(t), .in = in, .out = out};
    collapse(&w, rank, dim, axes);
    if (w.count == 0) {
        fill_empty(&w);
        return;
    }
    if (w.outer * w.width == 0) return;
    /* Are there enough outputs to divide? Columns are divided into ranges of at least a cache line
     * or two. */
    int64_t least = w.by_cols ? COLS_AT_LEAST : 1;
    int64_t shares = w.outer * ((w.width + least - 1) / least);
    int64_t cut = w.n_reduced > 0 ? w.reduced[0].dim : w.depth;
    if (shares < 8 && cut >= 2 * PIECES && w.outer * w.width * w.count >= 1 << 17) {
        run_cut(&w);
        return;
    }
    int64_t most = w.by_cols ? EF_REDUCE_WIDTH : ROWS_AT_ONCE;
    w.chunk = (w.width + 31) / 32;
    if (w.chunk < least || w.outer >= 32) w.chunk = w.outer >= 32 ? most : least;
    if (w.chunk > most) w.chunk = most;
    if (w.chunk > w.width) w.chunk = w.width;
    int64_t tasks = w.outer * ((w.width + w.chunk - 1) / w.chunk);
    ef_parallel(tasks, 1, 0.15 * (double)w.chunk * (double)w.count + 5, run_chunks, &w);
}
