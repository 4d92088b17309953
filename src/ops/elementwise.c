/* The elementwise driver. Axes along which the same operands are broadcast are merged; the
 * innermost of the remaining axes is one call of the tile, and an odometer counts through the
 * others. When the innermost run is short (a bias over three channels), broadcast operands are
 * first expanded into a small block on the stack, so that the tile still gets long runs. Nothing is
 * allocated. */
#include "ops/elementwise.h"
#include "base/pool.h"
#include <string.h>

enum { MAX_IN = 8, BLOCK_BYTES = 4096, SHORT_RUN = 48 };
enum { SMALL_COUNT = 16384 };     /* so many cheap elements are not worth a second thread, */
static const double few_ns = 2e4; /* nor are expensive ones that take this long in all */

/* One iteration over the output, shared read-only by the threads. */
typedef struct walk {
    ef_tile_fn *tile;
    const void *attrs;
    int n_in, n_dims;
    char *out;
    const char *in[MAX_IN];
    int out_size, size[MAX_IN];        /* bytes of an element */
    int64_t dim[EF_MAX_RANK];          /* outermost first; merged */
    unsigned mask[EF_MAX_RANK];        /* bit k: operand k is broadcast along it */
    int64_t step[MAX_IN][EF_MAX_RANK]; /* bytes from one index to the next; 0 if broadcast */
    int64_t inner;                     /* elements of one run */
    bool blocks;                       /* the two innermost dims are computed in blocks */
} walk;

/* Size of input t along dim d of an output of rank `rank`. */
static inline int64_t dim_at(const ef_tensor *t, int rank, int d) {
    int own = d - (rank - t->rank);
    return own < 0 ? 1 : t->dim[own];
}

/* Merges neighbouring dims along which the same operands are broadcast, and drops dims of size
 * 1. */
static void collapse(walk *w, ef_tensor *const *in, const ef_tensor *out) {
    int n = 0;
    for (int d = 0; d < out->rank; d++) {
        unsigned mask = 0;
        if (out->dim[d] == 1) continue;
        for (int k = 0; k < w->n_in; k++)
            if (dim_at(in[k], out->rank, d) == 1) mask |= 1u << k;
        if (n > 0 && w->mask[n - 1] == mask) {
            w->dim[n - 1] *= out->dim[d];
        } else {
            w->dim[n] = out->dim[d];
            w->mask[n++] = mask;
        }
    }
    w->n_dims = n;
    for (int k = 0; k < w->n_in; k++) {
        int64_t bytes = w->size[k];
        for (int d = n - 1; d >= 0; d--) {
            bool stretched = (w->mask[d] >> k) & 1u;
            w->step[k][d] = stretched ? 0 : bytes;
            if (!stretched) bytes *= w->dim[d];
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static inline void put(char *to, const char *from, int size) {
    switch (size) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}

/* Writes n elements of a vector of `period` elements repeated end to end, from element `phase` on:
 * the first period is copied, then the block is doubled until it is full. */
static void fill_periodic(char *to, const char *from, int size, int64_t period, int64_t phase,
                          int64_t n) {
    int64_t done = n < period ? n : period;
    int64_t first = period - phase < done ? period - phase : done;
    memcpy(to, from + phase * size, (size_t)(first * size));
    memcpy(to + first * size, from, (size_t)((done - first) * size));
    while (done < n) {
        int64_t more = n - done < done ? n - done : done;
        memcpy(to + done * size, to, (size_t)(more * size));
        done += more; /* always a multiple of the period until the last copy */
    }
}

/* Writes each element `times` times, but the first one only times - phase times. */
static void fill_repeated(char *to, const char *from, int size, int64_t times, int64_t phase,
                          int64_t n) {
    for (int64_t j = 0; j < n; from += size, phase = 0)
        for (int64_t left = times - phase; left > 0 && j < n; left--, j++)
            put(to + j * size, from, size);
}

/* Elements [col, col + n) of the plane made of the two innermost dims. base: where the plane starts
 * in each operand. */
static void run_block(const walk *w, char *out, const char *const *base, int64_t col, int64_t n) {
    _Alignas(64) char room[MAX_IN][BLOCK_BYTES];
    const void *p[MAX_IN];
    int last = w->n_dims - 1;
    unsigned scalars = 0;
    int64_t width = w->dim[last], row = col / width, phase = col % width;
    for (int k = 0; k < w->n_in; k++) {
        bool across = (w->mask[last] >> k) & 1u, down = (w->mask[last - 1] >> k) & 1u;
        p[k] = room[k];
        if (across && down) {
            p[k] = base[k];
            scalars |= 1u << k;
        } else if (!across && !down) {
            p[k] = base[k] + col * w->size[k];
        } else if (down) {
            fill_periodic(room[k], base[k], w->size[k], width, phase, n);
        } else {
            fill_repeated(room[k], base[k] + row * w->size[k], w->size[k], width, phase, n);
        }
    }
    w->tile(out, p, n, scalars, w->attrs);
}

static int64_t block_length(const walk *w) {
    int widest = 1;
    for (int k = 0; k < w->n_in; k++)
        if (w->size[k] > widest) widest = w->size[k];
    return BLOCK_BYTES / widest;
}

/* ---- iterating ------------------------------------------------------------------------------- */

/* One run: elements [col, col + n) of the innermost dim (or plane). */
static void run_inner(const walk *w, char *out, const char *const *base, int64_t col, int64_t n) {
    const void *p[MAX_IN];
    if (w->blocks) {
        int64_t most = block_length(w);
        for (int64_t done = 0; done < n; done += most)
            run_block(w, out + done * w->out_size, base, col + done,
                      n - done < most ? n - done : most);
        return;
    }
    for (int k = 0; k < w->n_in; k++) p[k] = base[k] + col * w->step[k][w->n_dims - 1];
    w->tile(out, p, n, w->mask[w->n_dims - 1], w->attrs);
}

/* Output elements [begin, end). */
static void walk_range(void *arg, int64_t begin, int64_t end) {
    const walk *w = arg;
    int outer = w->n_dims - (w->blocks ? 2 : 1);
    int64_t index[EF_MAX_RANK], rest = begin / w->inner, col = begin % w->inner;
    const char *base[MAX_IN];
    for (int k = 0; k < w->n_in; k++) base[k] = w->in[k];
    for (int d = outer - 1; d >= 0; d--) {
        index[d] = rest % w->dim[d];
        rest /= w->dim[d];
        for (int k = 0; k < w->n_in; k++) base[k] += index[d] * w->step[k][d];
    }
    while (begin < end) {
        int64_t n = w->inner - col < end - begin ? w->inner - col : end - begin;
        run_inner(w, w->out + begin * w->out_size, base, col, n);
        begin += n;
        col = 0;
        for (int d = outer - 1; d >= 0; d--) {
            bool turns = ++index[d] == w->dim[d];
            int64_t by = turns ? 1 - w->dim[d] : 1;
            for (int k = 0; k < w->n_in; k++) base[k] += by * w->step[k][d];
            if (!turns) break;
            index[d] = 0;
        }
    }
}

/* An estimate for choosing the number of threads: arithmetic plus bytes moved. */
static double cost_of(const walk *w) {
    int bytes = w->out_size;
    for (int k = 0; k < w->n_in; k++) bytes += w->size[k];
    return 0.2 + 0.025 * bytes;
}

static void walk_all(ef_tile_fn *tile, const void *attrs, double cost_ns, int n_in,
                     ef_tensor *const *in, ef_tensor *out, int64_t count) {
    walk w = {.tile = tile, .attrs = attrs, .n_in = n_in, .out = out->data};
    w.out_size = (int)ef_dtype_size((ef_dtype)out->dtype);
    for (int k = 0; k < n_in; k++) {
        w.in[k] = in[k]->data;
        w.size[k] = (int)ef_dtype_size((ef_dtype)in[k]->dtype);
    }
    collapse(&w, in, out);
    w.inner = w.dim[w.n_dims - 1];
    if (w.n_dims > 1 && w.inner < SHORT_RUN) {
        w.blocks = true;
        w.inner *= w.dim[w.n_dims - 2];
    }
    ef_parallel(count, cost_ns > 0 ? 128 : 1024, cost_of(&w) + cost_ns, walk_range, &w);
}

/* True if every operand has the output's shape or is one element: one run computes the output. */
static bool flat(int n_in, ef_tensor *const *in, const ef_tensor *out, unsigned *scalars) {
    *scalars = 0;
    for (int k = 0; k < n_in; k++) {
        const ef_tensor *t = in[k];
        if (t->rank == out->rank &&
            memcmp(t->dim, out->dim, sizeof(int64_t) * (size_t)t->rank) == 0)
            continue;
        if (ef_count(t) != 1) return false;
        *scalars |= 1u << k;
    }
    return true;
}

/* cost_ns: as in the op's record. */
static void run_tile(ef_tile_fn *tile, const void *attrs, double cost_ns, int n_in,
                     ef_tensor *const *in, ef_tensor *out) {
    const void *p[MAX_IN];
    unsigned scalars;
    int64_t count = ef_count(out);
    if (EF_UNLIKELY(count <= 0)) return;
    bool small = count < SMALL_COUNT && (double)count * cost_ns < few_ns;
    if (count == 1 || (small && flat(n_in, in, out, &scalars))) {
        if (count == 1) scalars = 0;
        for (int k = 0; k < n_in; k++) p[k] = in[k]->data;
        tile(out->data, p, count, scalars, attrs);
        return;
    }
    walk_all(tile, attrs, cost_ns, n_in, in, out, count);
}

void ef_elementwise(ef_tile_fn *tile, const void *attrs, int n_in, ef_tensor *const *in,
                    ef_tensor *out) {
    run_tile(tile, attrs, 0, n_in, in, out);
}

ef_status *ef_run_elementwise(const ef_call *c) {
    const ef_op *op = c->op;
    ef_tile_fn *tile;
    if (EF_UNLIKELY(c->n_in < 1 || c->n_in > MAX_IN))
        return ef_error(EF_UNIMPLEMENTED, "%s: an elementwise op has 1 to %d inputs, not %d",
                        op->name, MAX_IN, c->n_in);
    if (EF_LIKELY(op->tile != NULL)) {
        tile = op->tile[c->in[op->tile_key]->dtype];
    } else {
        ef_dtype types[MAX_IN];
        for (int k = 0; k < c->n_in; k++) types[k] = (ef_dtype)c->in[k]->dtype;
        tile = ef_op_tile(op, types, c->n_in, (ef_dtype)c->out[0]->dtype, c->attrs);
    }
    if (EF_UNLIKELY(tile == NULL))
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: there is no kernel for %s on the CPU (cast the inputs to "
                        "a type that has one)",
                        op->name, ef_dtype_name((ef_dtype)c->in[0]->dtype));
    run_tile(tile, c->attrs, (double)op->cost_ns, c->n_in, c->in, c->out[0]);
    return NULL;
}
