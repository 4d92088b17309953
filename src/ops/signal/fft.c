/* Fourier transforms: FFT, RFFT and their inverses over one, two, three or any axes.
 *
 * A transform over several axes is one pass per axis; a pass transforms all 1-D lines along its
 * axis. A line longer than the transform is truncated, and a shorter one is padded with zeros. */
#include "kernels/fft.h"
#include "base/pool.h"
#include "ops/build.h"
#include "ops/records.h"
#include "ops/shapes.h"
#include <string.h>

typedef struct fft_attrs {
    ef_dtype Tcomplex, Treal; /* the output's dtype; the other one is the input's */
} fft_attrs;

/* ---- axes and lengths ------------------------------------------------------------------------ */

/* The axes and the length of each; -1: as long as the input, or not known. */
typedef struct axes {
    int n;
    int axis[EF_MAX_RANK];
    int64_t length[EF_MAX_RANK];
} axes;

static bool is(const ef_op *op, const char *word) { return strstr(op->name, word) != NULL; }
static bool from_real(const ef_op *op) { return op->name[0] == 'R'; }
static bool to_real(const ef_op *op) { return is(op, "IRFFT"); }
static bool backward(const ef_op *op) { return op->name[0] == 'I'; }
static bool over_any(const ef_op *op) { return is(op, "FFTND"); }
static int fixed_axes(const ef_op *op) { return is(op, "3D") ? 3 : is(op, "2D") ? 2 : 1; }

static ef_status *check_lengths(const ef_infer *i, int n, const int64_t *v) {
    for (int k = 0; k < n; k++)
        if (v[k] < 0)
            return ef_error(EF_INVALID, "%s: fft_length[%d] is %lld; lengths must not be negative",
                            i->op->name, k, (long long)v[k]);
    return NULL;
}

/* The axes of FFTND and its variants; *known: whether the inputs determine them. */
static ef_status *named_axes(const ef_infer *i, int rank, axes *a, bool *known) {
    int64_t v[EF_MAX_RANK];
    int n = 0;
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(ef_known_ints(i, 2, v, EF_MAX_RANK, &n, known));
    if (!*known) return NULL;
    a->n = n;
    for (int k = 0; k < n; k++) {
        EF_TRY(ef_need_axis(i->op, v[k], rank, &a->axis[k]));
        for (int e = 0; e < k; e++)
            if (a->axis[e] == a->axis[k])
                return ef_error(EF_INVALID, "%s: axis %d is named twice; axes must be different",
                                i->op->name, a->axis[k]);
    }
    return NULL;
}

/* The axes and lengths of a call; rank is that of the input. */
static ef_status *find_axes(const ef_infer *i, int rank, axes *a, bool *known) {
    *a = (axes){.n = fixed_axes(i->op)};
    *known = true;
    for (int k = 0; k < a->n; k++) a->axis[k] = rank - a->n + k;
    if (over_any(i->op)) EF_TRY(named_axes(i, rank, a, known));
    for (int k = 0; k < EF_MAX_RANK; k++) a->length[k] = EF_DIM_UNKNOWN;
    if (!*known || i->n_in == 1) return NULL;
    int64_t v[EF_MAX_RANK];
    int n = 0;
    bool told = false;
    EF_TRY(ef_need_rank(i, 1, 1));
    int64_t given = i->in[1].shape.rank == 1 ? i->in[1].shape.dim[0] : EF_DIM_UNKNOWN;
    if (given >= 0 && given != a->n)
        return ef_error(EF_INVALID,
                        "%s: fft_length has %lld elements and there are %d axes; there "
                        "must be one for each",
                        i->op->name, (long long)given, a->n);
    EF_TRY(ef_known_ints(i, 1, v, EF_MAX_RANK, &n, &told));
    if (!told) return NULL;
    EF_TRY(check_lengths(i, n, v));
    memcpy(a->length, v, (size_t)n * sizeof *v);
    return NULL;
}

static int64_t half_of(int64_t n) { return n == 0 ? 0 : n / 2 + 1; }

/* The output has the precision of the input. */
static ef_status *check_precision(const ef_infer *i) {
    ef_dtype in = i->in[0].dtype, out = i->out[0].dtype;
    if ((in == EF_F32 || in == EF_C64) == (out == EF_F32 || out == EF_C64)) return NULL;
    return ef_error(EF_INVALID,
                    "%s: input is %s and output is %s; both must have the same precision",
                    i->op->name, ef_dtype_name(in), ef_dtype_name(out));
}

static ef_status *fft_shape(ef_infer *i) {
    EF_TRY(check_precision(i));
    const ef_shape *x = &i->in[0].shape;
    axes a;
    bool known;
    if (!over_any(i->op)) EF_TRY(ef_need_rank_at_least(i, 0, fixed_axes(i->op)));
    if (x->rank < 0) return NULL;
    EF_TRY(find_axes(i, x->rank, &a, &known));
    ef_shape *y = &i->out[0].shape;
    *y = *x;
    if (!known)
        for (int d = 0; d < y->rank; d++) y->dim[d] = EF_DIM_UNKNOWN;
    if (!known || i->n_in == 1) return NULL;
    for (int k = 0; k < a.n; k++) {
        bool halved = from_real(i->op) && k == a.n - 1 && a.length[k] >= 0;
        y->dim[a.axis[k]] = halved ? half_of(a.length[k]) : a.length[k];
    }
    return NULL;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* One pass: transforms the lines along `axis` from one array into another, or in place. */
typedef struct pass {
    ef_dtype real;
    ef_fft_kind kind;
    int rank, axis;
    const int64_t *from_dim, *to_dim;
    int64_t n; /* the length of the transform */
    const char *from;
    char *to;
    const void *table;
    char *lines; /* scratch memory, one line for each lane */
    size_t line_bytes;
    double scale;
} pass;

/* The offsets of line k in both arrays, in elements; *inside: whether the first array has it. */
static void place_line(const pass *p, int64_t k, int64_t *from, int64_t *to, bool *inside) {
    int64_t from_step = 1, to_step = 1;
    *from = *to = 0;
    *inside = true;
    for (int d = p->rank - 1; d >= 0; d--) {
        if (d != p->axis) {
            int64_t at = k % p->to_dim[d];
            k /= p->to_dim[d];
            *inside = *inside && at < p->from_dim[d];
            *from += at * from_step;
            *to += at * to_step;
        }
        from_step *= p->from_dim[d];
        to_step *= p->to_dim[d];
    }
}

static int64_t stride_of(int rank, const int64_t *dim, int axis) {
    int64_t step = 1;
    for (int d = axis + 1; d < rank; d++) step *= dim[d];
    return step;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* Elements are real or complex numbers of `width` bytes. */
static void copy_line(char *to, const char *from, int64_t n, size_t width, int64_t to_step,
                      int64_t from_step) {
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, (size_t)n * width);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        memcpy(to + (size_t)(k * to_step) * width, from + (size_t)(k * from_step) * width, width);
}

static void scale_line(ef_dtype t, void *line, int64_t n, double by) {
    if (t == EF_F32)
        for (int64_t k = 0; k < n; k++) ((float *)line)[k] *= (float)by;
    else
        for (int64_t k = 0; k < n; k++) ((double *)line)[k] *= by;
}

/* Between lines in memory and lines that lie element by element side by side: line i begins at
 * offset[i]. Neighbours in memory are copied as one piece. */
#define INTERLEAVE(T)                                                    \
    {                                                                    \
        T *memory = array, *block = side;                                \
        for (int64_t k = 0; k < n; k++)                                  \
            for (int64_t i = 0; i < lines; i++) {                        \
                if (out)                                                 \
                    memory[offset[i] + k * step] = block[k * lines + i]; \
                else                                                     \
                    block[k * lines + i] = memory[offset[i] + k * step]; \
            }                                                            \
    }
static void interleave(bool out, void *array, const int64_t *offset, int64_t step, int64_t n,
                       int64_t lines, size_t width, void *side) {
    bool neighbours = true;
    for (int64_t i = 1; i < lines; i++) neighbours &= offset[i] == offset[0] + i;
    if (neighbours) {
        size_t bytes = (size_t)lines * width;
        for (int64_t k = 0; k < n; k++) {
            char *memory = (char *)array + (size_t)(offset[0] + k * step) * width;
            char *block = (char *)side + (size_t)k * bytes;
            memcpy(out ? memory : block, out ? block : memory, bytes);
        }
    } else if (width == sizeof(ef_c64)) {
        INTERLEAVE(ef_c64)
    } else {
        INTERLEAVE(ef_c128)
    }
}

/* Lines [begin, end) of complex numbers, several at a time; all lie inside the first array and are
 * as long as the transform. */
static void run_together(const pass *p, char *line, int64_t begin, int64_t end) {
    size_t width = 2 * ef_dtype_size(p->real);
    int64_t from_step = stride_of(p->rank, p->from_dim, p->axis);
    int64_t to_step = stride_of(p->rank, p->to_dim, p->axis);
    for (int64_t k = begin, count; k < end; k += count) {
        int64_t from[EF_FFT_LINES], to[EF_FFT_LINES];
        bool inside;
        count = least(end - k, EF_FFT_LINES);
        for (int64_t i = 0; i < count; i++) place_line(p, k + i, &from[i], &to[i], &inside);
        interleave(false, (void *)(uintptr_t)p->from, from, from_step, p->n, count, width, line);
        char *found = ef_fft_run_lines(p->table, line, count);
        if (p->scale != 1) scale_line(p->real, found, 2 * p->n * count, p->scale);
        interleave(true, p->to, to, to_step, p->n, count, width, found);
    }
}

/* Whether every line is read and written as a whole. */
static bool whole_lines(const pass *p) {
    bool whole = p->from_dim[p->axis] == p->n && p->to_dim[p->axis] == p->n;
    for (int d = 0; d < p->rank; d++)
        whole = whole && (d == p->axis || p->to_dim[d] <= p->from_dim[d]);
    return whole;
}

static void run_lines(void *arg, int64_t begin, int64_t end) {
    const pass *p = arg;
    size_t one = ef_dtype_size(p->real);
    size_t in_width = p->kind == EF_FFT_FROM_REAL ? one : 2 * one;
    size_t out_width = p->kind == EF_FFT_TO_REAL ? one : 2 * one;
    int64_t wanted = p->kind == EF_FFT_TO_REAL ? half_of(p->n) : p->n;
    int64_t made = p->to_dim[p->axis], read = least(p->from_dim[p->axis], wanted);
    int64_t from_step = stride_of(p->rank, p->from_dim, p->axis);
    int64_t to_step = stride_of(p->rank, p->to_dim, p->axis);
    char *line = p->lines + (size_t)ef_pool_lane() * p->line_bytes;
    if (ef_fft_lines(p->table) > 1 && end - begin > 1 && whole_lines(p)) {
        run_together(p, line, begin, end);
        return;
    }
    int64_t all = p->kind == EF_FFT_FROM_REAL ? half_of(p->n) : p->n;
    bool apart = ef_fft_apart(p->table) && from_step == 1 && to_step == 1 && made == all;
    for (int64_t k = begin; k < end; k++) {
        int64_t from, to;
        bool inside;
        place_line(p, k, &from, &to, &inside);
        int64_t some = inside ? read : 0;
        if (apart && some == wanted) {
            char *out = p->to + (size_t)to * out_width;
            ef_fft_run_apart(p->table, p->from + (size_t)from * in_width, out, line);
            if (p->scale != 1) scale_line(p->real, out, 2 * made, p->scale);
            continue;
        }
        if (some > 0)
            copy_line(line, p->from + (size_t)from * in_width, some, in_width, 1, from_step);
        memset(line + (size_t)some * in_width, 0, (size_t)(wanted - some) * in_width);
        char *found = ef_fft_run(p->table, line);
        if (p->scale != 1) scale_line(p->real, found, made * (int64_t)(out_width / one), p->scale);
        copy_line(p->to + (size_t)to * out_width, found, made, out_width, to_step, 1);
    }
}

static void run_pass(pass *p, char *scratch) {
    int64_t lines = 1;
    for (int d = 0; d < p->rank; d++)
        if (d != p->axis) lines *= p->to_dim[d];
    if (lines == 0 || p->n == 0) return;
    ef_fft_make_table(p->real, p->kind, p->n, scratch);
    size_t table = (ef_fft_table_bytes(p->real, p->kind, p->n) + 63) / 64 * 64;
    p->table = scratch;
    p->lines = scratch + table;
    p->line_bytes = (ef_fft_line_bytes(p->real, p->kind, p->n) + 63) / 64 * 64;
    double cost = (ef_fft_lines(scratch) > 1 ? 1.0 : 4.0) * (double)p->n *
                  (1 + 0.5 * (double)(64 - __builtin_clzll((uint64_t)p->n)));
    ef_parallel(lines, ef_fft_lines(scratch), cost, run_lines, p);
}

/* ---- running --------------------------------------------------------------------------------- */

static ef_dtype real_of(const ef_call *c) {
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    return t == EF_F32 || t == EF_C64 ? EF_F32 : EF_F64;
}

/* Bytes for a table and a line for each lane. */
static size_t pass_bytes(ef_dtype t, ef_fft_kind kind, int64_t n) {
    if (n == 0) return 0;
    size_t table = (ef_fft_table_bytes(t, kind, n) + 63) / 64 * 64;
    size_t line = (ef_fft_line_bytes(t, kind, n) + 63) / 64 * 64;
    return table + (size_t)ef_pool_lanes() * line;
}

/* Bytes of the complex array between the passes of an IRFFT over several axes. */
static size_t between_bytes(const ef_call *c) {
    if (!to_real(c->op) || (!over_any(c->op) && fixed_axes(c->op) == 1)) return 0;
    const ef_tensor *x = c->in[0], *y = c->out[0];
    size_t n = 2 * ef_dtype_size(real_of(c));
    for (int d = 0; d < y->rank; d++) { /* upper bound for each axis */
        int64_t size = y->dim[d] > half_of(y->dim[d]) ? y->dim[d] : half_of(y->dim[d]);
        n *= (size_t)(size > x->dim[d] ? size : x->dim[d]);
    }
    return (n + 63) / 64 * 64;
}

/* The length that RFFT halved is 2 n - 2 or 2 n - 1: the scratch memory is large enough for
 * both. */
static size_t fft_scratch(const ef_call *c) {
    ef_dtype t = real_of(c);
    const ef_tensor *y = c->out[0];
    size_t most = 0;
    for (int d = 0; d < y->rank; d++) {
        int64_t n = y->dim[d];
        const int64_t length[] = {n, 2 * n - 2, 2 * n - 1};
        const ef_fft_kind kind[] = {EF_FFT_FORWARD, EF_FFT_FROM_REAL, EF_FFT_FROM_REAL};
        for (int k = 0; k < (from_real(c->op) ? 3 : 1); k++) {
            size_t bytes = length[k] > 0 ? pass_bytes(t, kind[k], length[k]) : 0;
            if (bytes > most) most = bytes;
        }
        if (to_real(c->op) && n > 0 && pass_bytes(t, EF_FFT_TO_REAL, n) > most)
            most = pass_bytes(t, EF_FFT_TO_REAL, n);
    }
    return most + between_bytes(c);
}

static ef_status *call_axes(const ef_call *c, axes *a) {
    ef_fact in[3];
    ef_infer i = {.op = c->op, .attrs = c->attrs, .n_in = c->n_in, .n_out = 0, .in = in};
    for (int k = 0; k < c->n_in; k++)
        in[k] = (ef_fact){.dtype = (ef_dtype)c->in[k]->dtype,
                          .shape = ef_tensor_shape(c->in[k]),
                          .value = c->in[k]};
    bool known;
    EF_TRY(find_axes(&i, c->in[0]->rank, a, &known));
    for (int k = 0; k < a->n; k++)
        if (a->length[k] < 0) a->length[k] = c->in[0]->dim[a->axis[k]];
    return NULL;
}

/* All axes but the last are complex transforms. The last one is real: RFFT transforms it first,
 * IRFFT last. */
static ef_status *fft_run(const ef_call *c) {
    axes a;
    EF_TRY(call_axes(c, &a));
    const ef_tensor *x = c->in[0];
    ef_tensor *y = c->out[0];
    size_t width = 2 * ef_dtype_size(real_of(c));
    char *scratch = (char *)c->scratch + between_bytes(c);
    bool back = backward(c->op);
    pass p = {.real = real_of(c), .rank = y->rank, .from = x->data, .from_dim = x->dim};
    int64_t middle[EF_MAX_RANK]; /* the shape of the array for the complex passes of an IRFFT */
    memcpy(middle, y->dim, (size_t)y->rank * sizeof *middle);
    if (to_real(c->op) && a.n > 0) middle[a.axis[a.n - 1]] = x->dim[a.axis[a.n - 1]];
    if (a.n == 0 && !from_real(c->op) && !to_real(c->op))
        memcpy(y->data, x->data, (size_t)ef_tensor_count(x) * width);
    for (int e = 0; e < a.n; e++) {
        int k = from_real(c->op) ? a.n - 1 - e : e; /* the last axis first */
        bool last = k == a.n - 1;
        p.axis = a.axis[k], p.n = a.length[k];
        p.kind = last && from_real(c->op) ? EF_FFT_FROM_REAL
                 : last && to_real(c->op) ? EF_FFT_TO_REAL
                 : back                   ? EF_FFT_BACKWARD
                                          : EF_FFT_FORWARD;
        p.scale = back && p.n > 0 ? 1.0 / (double)p.n : 1;
        bool within = to_real(c->op) && !last;
        p.to = within ? c->scratch : y->data;
        p.to_dim = within ? middle : y->dim;
        run_pass(&p, scratch);
        p.from = p.to, p.from_dim = p.to_dim;
    }
    return NULL;
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* x truncated or padded with zeros to the shape of `like`. */
static ef_value *fit_to(ef_build *b, ef_value *x, ef_value *like) {
    if (ef_shape_known(&like->fact.shape) && ef_shape_equal(&x->fact.shape, &like->fact.shape))
        return x;
    ef_value *want = ef_shape_value(b, like, EF_I32), *have = ef_shape_value(b, x, EF_I32);
    ef_value *zero = ef_const_number(b, EF_I32, 0);
    ef_value *more = ef_emit(b, "Maximum", 2, ef_sub(b, want, have), zero);
    const ef_attr_value second[] = {EF_SET_INT("axis", 1)};
    ef_value *pads = ef_emit_set(b, "Pack", second, 1, 2, ef_zeros_like(b, more), more);
    ef_value *padded = ef_emit(b, "Pad", 2, x, pads);
    return ef_emit(b, "Slice", 3, padded, ef_zeros_like(b, want), want);
}

/* The transform's adjoint is the conjugate of the same transform of the conjugate, since its matrix
 * is symmetric. That holds for the scaled inverse too. */
static ef_value *adjoint_like(ef_grad *g, const char *op, ef_value *dy, ef_value *axes_value) {
    ef_build *b = g->b;
    ef_value *z = ef_conj(b, dy);
    if (g->n_in == 1) return ef_conj(b, ef_emit(b, op, 1, z));
    return ef_conj(b, ef_emit(b, op, 3, z, g->in[1], axes_value));
}

/* The axes of an op as a value: those it was given, or the last ones. */
static ef_value *axes_value(ef_grad *g) {
    if (g->n_in == 3) return g->in[2];
    int64_t v[3];
    int n = fixed_axes(g->op);
    for (int k = 0; k < n; k++) v[k] = k - n;
    return ef_const_ints(g->b, EF_I32, n, v);
}

static ef_status *fft_grad(ef_grad *g) {
    ef_value *dx = adjoint_like(g, g->op->name, g->dout[0], g->n_in == 3 ? g->in[2] : NULL);
    g->din[0] = g->n_in == 1 ? dx : fit_to(g->b, dx, g->in[0]);
    return NULL;
}

/* The part of the spectrum that RFFT omits gets no gradient, as if it were zero. */
static ef_status *rfft_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *whole = adjoint_like(g, "FFTND", g->dout[0], axes_value(g));
    const ef_attr_value set[] = {EF_SET_TYPE("Tout", g->in[0]->fact.dtype)};
    g->din[0] = fit_to(b, ef_emit_set(b, "Real", set, 1, 1, whole), g->in[0]);
    return NULL;
}

/* Every element but the first, and the middle one of an even length, represents two. */
static ef_status *irfft_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_dtype t = g->in[0]->fact.dtype, real = g->dout[0]->fact.dtype;
    const ef_attr_value set[] = {EF_SET_TYPE("Tcomplex", t)};
    ef_value *length = g->in[1];
    ef_value *dy = ef_emit_set(b, "RFFTND", set, 1, 3, g->dout[0], length, axes_value(g));
    ef_value *zero = ef_const_number(b, EF_I32, 0), *one = ef_const_number(b, EF_I32, 1);
    const ef_attr_value shrink[] = {EF_SET_INT("shrink_axis_mask", 1)};
    ef_value *n = ef_emit_set(
        b, "StridedSlice", shrink, 1, 4, length, ef_const_ints(b, EF_I32, 1, (int64_t[]){-1}),
        ef_const_ints(b, EF_I32, 1, (int64_t[]){0}), ef_const_ints(b, EF_I32, 1, (int64_t[]){1}));
    ef_value *half = ef_add(b, ef_emit(b, "FloorDiv", 2, n, ef_const_number(b, EF_I32, 2)), one);
    ef_value *k = ef_emit(b, "Range", 3, zero, half, one);
    ef_value *twice = ef_emit(b, "FloorMod", 2, ef_add(b, k, k), ef_emit(b, "Maximum", 2, n, one));
    ef_value *single = ef_emit(b, "Equal", 2, twice, zero);
    ef_value *count =
        ef_select(b, single, ef_const_number(b, real, 1), ef_const_number(b, real, 2));
    ef_value *first = ef_const_ints(b, EF_I32, 1, (int64_t[]){0});
    ef_value *all = ef_cast(b, ef_emit(b, "Prod", 2, length, first), real);
    ef_value *weight = ef_cast(b, ef_div(b, count, all), t);
    g->din[0] = fit_to(b, ef_mul(b, dy, weight), g->in[0]);
    return NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

#define COMPLEX_FFT(N, text, ...)                                                 \
    const ef_op ef_op_##N = {                                                     \
        EF_NAMED(N),                                                              \
        .doc = text,                                                              \
        .in = {"input: Tcomplex"},                                                \
        .out = {"output: Tcomplex"},                                              \
        .types = "Tcomplex: {complex64, complex128} = complex64",                 \
        .traits = EF_HEAVY,                                                       \
        .keeps = EF_KEEP_NONE,                                                    \
        .shape = fft_shape,                                                       \
        .kernel = {{EF_CPU, EF_COMPLEX, fft_run, fft_scratch, NULL, NULL, NULL}}, \
        .grad = fft_grad,                                                         \
        .examples = {__VA_ARGS__},                                                \
    };
COMPLEX_FFT(FFT, "The discrete Fourier transform over the last axis.", "Tcomplex[2,6]",
            "Tcomplex[7]", "Tcomplex[2,134]", "Tcomplex[0,4]", "Tcomplex[3,0]", "Tcomplex[1]")
COMPLEX_FFT(FFT2D, "The discrete Fourier transform over the last two axes.", "Tcomplex[2,4,3]",
            "Tcomplex[5,8]", "Tcomplex[2,0,4]")
COMPLEX_FFT(FFT3D, "The discrete Fourier transform over the last three axes.", "Tcomplex[2,2,3,4]",
            "Tcomplex[3,1,2]")
COMPLEX_FFT(IFFT, "The inverse discrete Fourier transform over the last axis.", "Tcomplex[2,6]",
            "Tcomplex[7]", "Tcomplex[2,67]", "Tcomplex[3,0]")
COMPLEX_FFT(IFFT2D, "The inverse discrete Fourier transform over the last two axes.",
            "Tcomplex[2,4,3]", "Tcomplex[5,8]")
COMPLEX_FFT(IFFT3D, "The inverse discrete Fourier transform over the last three axes.",
            "Tcomplex[2,2,3,4]", "Tcomplex[3,1,2]")

#define COMPLEX_FFT_ND(N, text)                                                                 \
    const ef_op ef_op_##N = {                                                                   \
        EF_NAMED(N),                                                                            \
        .doc = text,                                                                            \
        .in = {"input: Tcomplex", "fft_length: int32", "axes: int32"},                          \
        .out = {"output: Tcomplex"},                                                            \
        .types = "Tcomplex: {complex64, complex128} = complex64",                               \
        .traits = EF_HEAVY,                                                                     \
        .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),                                                 \
        .shape = fft_shape,                                                                     \
        .kernel = {{EF_CPU, EF_COMPLEX, fft_run, fft_scratch, NULL, NULL, NULL}},               \
        .grad = fft_grad,                                                                       \
        .examples = {"Tcomplex[2,3,4] int32[2]{5,2} int32[2]{-1,0}",                            \
                     "Tcomplex[6] int32[1]{6} int32[1]{0}", "Tcomplex[2,3] int32[0] int32[0]"}, \
    };
COMPLEX_FFT_ND(FFTND, "The discrete Fourier transform over `axes`, each truncated or padded "
                      "with zeros to the length in `fft_length`.")
COMPLEX_FFT_ND(IFFTND, "The inverse discrete Fourier transform over `axes`, each truncated or "
                       "padded with zeros to the length in `fft_length`.")

#define FROM_REAL                                                                            \
    .types = "Treal: {float, double} = float",                                               \
    .attr = {EF_ATTR(fft_attrs, Tcomplex, "{complex64, complex128}", "complex64")},          \
    .attr_size = sizeof(fft_attrs), .traits = EF_HEAVY, .shape = fft_shape,                  \
    .out = {"output: Tcomplex"},                                                             \
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), fft_run, fft_scratch, NULL, NULL, NULL}}, \
    .grad = rfft_grad
#define TO_REAL                                                                   \
    .types = "Tcomplex: {complex64, complex128} = complex64",                     \
    .attr = {EF_ATTR(fft_attrs, Treal, "{float, double}", "float")},              \
    .attr_size = sizeof(fft_attrs), .shape = fft_shape, .out = {"output: Treal"}, \
    .kernel = {{EF_CPU, EF_COMPLEX, fft_run, fft_scratch, NULL, NULL, NULL}}

#define REAL_FFT(N, text, ...)                       \
    const ef_op ef_op_##N = {                        \
        EF_NAMED(N),                                 \
        .doc = text,                                 \
        .in = {"input: Treal", "fft_length: int32"}, \
        FROM_REAL,                                   \
        .keeps = EF_KEEP_IN(1),                      \
        .examples = {__VA_ARGS__},                   \
    };
REAL_FFT(RFFT, "The first half of the Fourier transform of real numbers over the last axis.",
         "float[2,6] int32[1]{6}", "float[2,7] int32[1]{7}", "float[2,6] int32[1]{9}",
         "double[2,8] int32[1]{4} Tcomplex=complex128", "float[3,134] int32[1]{134}",
         "float[2,3] int32[1]{1}", "float[2,3] int32[1]{0}")
REAL_FFT(RFFT2D, "The first half of the Fourier transform of real numbers over the last two axes.",
         "float[2,4,6] int32[2]{4,6}", "float[3,5] int32[2]{4,7}",
         "double[4,4] int32[2]{2,4} Tcomplex=complex128")
REAL_FFT(RFFT3D,
         "The first half of the Fourier transform of real numbers over the last three axes.",
         "float[2,2,3,4] int32[3]{2,3,4}", "double[3,2,5] int32[3]{3,2,5} Tcomplex=complex128")

#define REAL_IFFT(N, text, ...)                         \
    const ef_op ef_op_##N = {                           \
        EF_NAMED(N),                                    \
        .doc = text,                                    \
        .in = {"input: Tcomplex", "fft_length: int32"}, \
        TO_REAL,                                        \
        .traits = EF_HEAVY,                             \
        .keeps = EF_KEEP_IN(1),                         \
        .grad = irfft_grad,                             \
        .examples = {__VA_ARGS__},                      \
    };
REAL_IFFT(IRFFT, "The real numbers whose Fourier transform begins with the input's last axis.",
          "complex64[2,4] int32[1]{6}", "complex64[2,4] int32[1]{7}", "complex64[2,4] int32[1]{10}",
          "complex128[2,5] int32[1]{4} Treal=double", "complex64[2,68] int32[1]{134}",
          "complex64[2,4] int32[1]{1}")
REAL_IFFT(IRFFT2D,
          "The real numbers whose Fourier transform begins with the input's last two axes.",
          "complex64[2,4,4] int32[2]{4,6}", "complex64[3,5] int32[2]{4,7}",
          "complex128[4,4] int32[2]{2,4} Treal=double")
REAL_IFFT(IRFFT3D,
          "The real numbers whose Fourier transform begins with the input's last three axes.",
          "complex64[2,2,3,3] int32[3]{2,3,4}", "complex128[3,2,3] int32[3]{3,2,5} Treal=double")

const ef_op ef_op_RFFTND = {
    EF_NAMED(RFFTND),
    .doc = "The Fourier transform of real numbers over `axes`, each truncated or padded "
           "with zeros to the length in `fft_length`; only the first half of the last axis is "
           "returned.",
    .in = {"input: Treal", "fft_length: int32", "axes: int32"},
    FROM_REAL,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .examples = {"float[2,3,4] int32[2]{5,2} int32[2]{-1,0}", "float[6] int32[1]{6} int32[1]{0}"},
};

const ef_op ef_op_IRFFTND = {
    EF_NAMED(IRFFTND),
    .doc = "The real numbers whose Fourier transform over `axes` begins with the input.",
    .in = {"input: Tcomplex", "fft_length: int32", "axes: int32"},
    TO_REAL,
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .examples = {"complex64[2,3,4] int32[2]{5,4} int32[2]{0,-2}",
                 "complex64[4] int32[1]{6} int32[1]{0}"},
};
