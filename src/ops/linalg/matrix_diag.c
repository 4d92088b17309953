/* Diagonals of matrices: building a matrix from them, extracting them, replacing them; a single
 * diagonal or a band of several. A band is stored as a matrix with one row per diagonal, the
 * uppermost first; diagonals shorter than the longest are padded on the side given by `align`. */
#include "ops/array/array.h"
#include "ops/build.h"

typedef struct {
    int align;
} diag_attrs;
/* Alignment of superdiagonals, then of subdiagonals. */
enum { LEFT_RIGHT, RIGHT_LEFT, LEFT_LEFT, RIGHT_RIGHT };
#define ALIGN                                                                                  \
    {                                                                                          \
        EF_ATTR(diag_attrs, align, "{'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'}", \
                "'RIGHT_LEFT'")                                                                \
    }

typedef struct {
    int64_t lower, upper, rows, cols, longest;
    bool left_super, left_sub;
} band;

static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }

static void set_align(const ef_op *op, const void *attrs, band *b) {
    int align = op->attr_size > 0 ? ((const diag_attrs *)attrs)->align : LEFT_LEFT;
    b->left_super = align == LEFT_RIGHT || align == LEFT_LEFT;
    b->left_sub = align == RIGHT_LEFT || align == LEFT_LEFT;
}

static ef_status *read_k(const ef_op *op, const ef_tensor *k, band *b) {
    int64_t n = ef_count(k);
    if (k->rank > 1 || n < 1 || n > 2)
        return ef_error(EF_INVALID,
                        "%s: diag_index must have only one or two elements, received %lld "
                        "elements",
                        op->name, (long long)n);
    b->lower = ef_element_int(EF_I32, k->data, 0);
    b->upper = ef_element_int(EF_I32, k->data, n - 1);
    if (b->lower > b->upper)
        return ef_error(EF_INVALID,
                        "%s: lower_diag_index must not be larger than upper_diag_index: %lld > "
                        "%lld",
                        op->name, (long long)b->lower, (long long)b->upper);
    return NULL;
}

static int64_t diagonal_length(const band *b, int64_t d) {
    return min(b->rows + min(d, 0), b->cols - max(d, 0));
}

/* Checks and completes b, whose k, rows and cols are set. */
static ef_status *check_band(const ef_op *op, band *b) {
    for (int j = 0; j < 2; j++) {
        int64_t k = j ? b->upper : b->lower;
        if (k != 0 && (k <= -b->rows || k >= b->cols))
            return ef_error(EF_INVALID,
                            "%s: %s is out of bound: %lld. It must be between %lld and %lld",
                            op->name, j ? "upper_diag_index" : "lower_diag_index", (long long)k,
                            (long long)-b->rows, (long long)b->cols);
    }
    b->longest = min(b->rows + min(b->upper, 0), b->cols - max(b->lower, 0));
    return NULL;
}

/* Copies every diagonal between a batch of matrices and a batch of bands. */
static ef_status *move_band(ef_dtype t, const band *b, int64_t batch, const void *from, void *to,
                            bool into_matrix) {
    size_t size = ef_dtype_size(t);
    int64_t n = b->upper - b->lower + 1;
    for (int64_t d = b->upper; d >= b->lower; d--) {
        int64_t length = diagonal_length(b, d);
        bool left = (d >= 0 && b->left_super) || (d <= 0 && b->left_sub);
        int64_t in_band = (b->upper - d) * b->longest + (left ? 0 : b->longest - length);
        int64_t in_matrix = max(-d, 0) * b->cols + max(d, 0);
        if (length <= 0) continue;
        ef_block x = {0};
        int64_t m = b->rows * b->cols, s = n * b->longest;
        ef_block_axis(&x, batch, into_matrix ? s : m, into_matrix ? m : s);
        ef_block_axis(&x, length, into_matrix ? 1 : b->cols + 1, into_matrix ? b->cols + 1 : 1);
        EF_TRY(ef_block_copy(
            t, (char *)to + (size_t)(into_matrix ? in_matrix : in_band) * size,
            (const char *)from + (size_t)(into_matrix ? in_band : in_matrix) * size, &x));
    }
    return NULL;
}

/* ---- band to matrix ---------------------------------------------------------------------------
 */

/* Computes the matrix's sizes from the longest diagonal; num_rows and num_cols may be -1. */
static ef_status *matrix_size(const ef_op *op, band *b, int64_t longest, int64_t rows,
                              int64_t cols) {
    if (longest > INT64_MAX / 2)
        return ef_error(EF_INVALID, "%s: a diagonal of %lld elements is too long", op->name,
                        (long long)longest);
    int64_t least_rows = longest - min(b->upper, 0), least_cols = longest + max(b->lower, 0);
    if (rows == -1 && cols == -1) rows = cols = max(least_rows, least_cols);
    if (rows == -1) rows = least_rows;
    if (cols == -1) cols = least_cols;
    if (rows < least_rows || cols < least_cols)
        return ef_error(EF_INVALID,
                        "%s: The number of %s is too small: %lld, but at least %lld are needed",
                        op->name, rows < least_rows ? "rows" : "columns",
                        (long long)(rows < least_rows ? rows : cols),
                        (long long)(rows < least_rows ? least_rows : least_cols));
    if (rows != least_rows && cols != least_cols)
        return ef_error(
            EF_INVALID,
            "%s: The number of rows or columns is not consistent with the specified "
            "d_lower, d_upper, and diagonal: %lld x %lld, but at least %lld x %lld are needed "
            "and one must be exact",
            op->name, (long long)rows, (long long)cols, (long long)least_rows,
            (long long)least_cols);
    b->rows = rows;
    b->cols = cols;
    b->longest = longest;
    return NULL;
}

static ef_status *diag_shape_plain(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    if (x->rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, x->rank + 1));
    ef_shape out = *x;
    out.dim[out.rank] = out.dim[out.rank - 1];
    out.rank++;
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *diag_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    band b = {0};
    int64_t rows = -1, cols = -1;
    bool known_rows, known_cols;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_vector(i, 1, true));
    EF_TRY(ef_known_int(i, 2, &rows, &known_rows));
    EF_TRY(ef_known_int(i, 3, &cols, &known_cols));
    EF_TRY(ef_need_rank(i, 4, 0));
    if (x->rank < 0 || i->in[1].value == NULL) return NULL;
    EF_TRY(read_k(i->op, i->in[1].value, &b));
    bool single = b.lower == b.upper;
    EF_TRY(ef_need_rank_at_least(i, 0, single ? 1 : 2));
    int lead = x->rank - (single ? 1 : 2);
    if (!single && !ef_dim_may_equal(x->dim[lead], b.upper - b.lower + 1))
        return ef_error(EF_INVALID,
                        "%s: The number of diagonals provided in the input does not match the "
                        "lower_diag_index and upper_diag_index range: %lld instead of %lld",
                        i->op->name, (long long)x->dim[lead], (long long)(b.upper - b.lower + 1));
    EF_TRY(ef_need_rank_held(i->op, lead + 2));
    ef_shape out = ef_shape_of_rank(lead + 2);
    for (int d = 0; d < lead; d++) out.dim[d] = x->dim[d];
    if (known_rows && known_cols && x->dim[x->rank - 1] >= 0) {
        EF_TRY(matrix_size(i->op, &b, x->dim[x->rank - 1], rows, cols));
        out.dim[lead] = b.rows;
        out.dim[lead + 1] = b.cols;
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *diag_run(const ef_call *c) {
    static const uint64_t zero[2] = {0, 0};
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    band b = {0};
    int64_t longest = x->dim[x->rank - 1], rows = -1, cols = -1;
    if (c->n_in > 1) {
        EF_TRY(read_k(c->op, c->in[1], &b));
        rows = ef_in_int(c, 2, 0);
        cols = ef_in_int(c, 3, 0);
    }
    EF_TRY(matrix_size(c->op, &b, longest, rows, cols));
    set_align(c->op, c->attrs, &b);
    EF_TRY(ef_fill_elements(t, o->data, c->n_in > 4 ? c->in[4]->data : zero, ef_count(o)));
    ef_shape s = ef_shape_from(o);
    return move_band(t, &b, ef_shape_span(&s, 0, s.rank - 2), x->data, o->data, true);
}

static ef_value *zero_of(ef_grad *g) { return ef_const_number(g->b, g->in[0]->fact.dtype, 0); }

static ef_status *diag_grad(ef_grad *g) {
    if (g->op->id == EF_OP_MatrixDiag)
        g->din[0] = ef_emit(g->b, "MatrixDiagPart", 1, g->dout[0]);
    else
        g->din[0] = ef_emit_like(
            g, g->op->id == EF_OP_MatrixDiagV2 ? "MatrixDiagPartV2" : "MatrixDiagPartV3", NULL, 0,
            3, g->dout[0], g->in[1], zero_of(g));
    return NULL;
}

#define PLAIN_KERNEL(fn)                                    \
    {                                                       \
        { EF_CPU, EF_COMPUTED, fn, NULL, NULL, NULL, NULL } \
    }

const ef_op ef_op_MatrixDiag = {
    EF_NAMED(MatrixDiag),
    .doc = "Matrices with the vectors of `diagonal` on their main diagonals and zeros elsewhere.",
    .in = {"diagonal: T"},
    .out = {"output: T"},
    .types = "T: " EF_PLAIN_TYPES,
    .keeps = EF_KEEP_NONE,
    .shape = diag_shape_plain,
    .kernel = PLAIN_KERNEL(diag_run),
    .grad = diag_grad,
    .examples = {"float[3]", "double[2,2]", "int32[0]"},
};

#define DIAG(N, words, attributes, bytes, ...)                                              \
    const ef_op ef_op_##N = {                                                               \
        EF_NAMED(N),                                                                        \
        .doc = words,                                                                       \
        .in = {"diagonal: T", "k: int32", "num_rows: int32", "num_cols: int32",             \
               "padding_value: T"},                                                         \
        .out = {"output: T"},                                                               \
        .types = "T: " EF_PLAIN_TYPES,                                                      \
        attributes.attr_size = (bytes),                                                     \
        .keeps = EF_KEEP_IN(1),                                                             \
        .no_grad_in = 1u << 4,                                                              \
        .shape = diag_shape,                                                                \
        .kernel = PLAIN_KERNEL(diag_run),                                                   \
        .grad = diag_grad,                                                                  \
        .examples = {"float[2,3] int32[]{1} int32[]{-1} int32[]{-1} float[]", __VA_ARGS__}, \
    };
#define ATTRIBUTES .attr = ALIGN,
DIAG(MatrixDiagV2,
     "Matrices with the given diagonals, from the `k[0]`-th to the `k[1]`-th; shorter ones "
     "are aligned to the left of their rows.",
     , 0, "double[3,3] int32[2]{-1,1} int32[]{3} int32[]{3} double[]",
     "float[2,2] int32[2]{1,2} int32[]{2} int32[]{5} float[]")
DIAG(MatrixDiagV3, "Matrices with the given diagonals, from the `k[0]`-th to the `k[1]`-th.",
     ATTRIBUTES, sizeof(diag_attrs),
     "double[3,3] int32[2]{-1,1} int32[]{3} int32[]{3} double[] align='LEFT_RIGHT'",
     "float[2,2,2] int32[2]{-1,0} int32[]{3} int32[]{2} float[] align='RIGHT_RIGHT'")

/* ---- matrix to band ---------------------------------------------------------------------------
 */

/* The shape of the band of matrices of shape x; `b` is known. */
static ef_status *band_shape(const ef_op *op, const ef_shape *x, band *b, ef_shape *out) {
    int lead = x->rank - 2;
    *out = (ef_shape){.rank = 0};
    for (int d = 0; d < lead; d++) out->dim[out->rank++] = x->dim[d];
    if (b->lower != b->upper) out->dim[out->rank++] = b->upper - b->lower + 1;
    b->rows = x->dim[lead];
    b->cols = x->dim[lead + 1];
    if (b->rows >= 0 && b->cols >= 0) {
        EF_TRY(check_band(op, b));
        out->dim[out->rank++] = b->longest;
    } else {
        bool square = ef_dim_same(b->rows, b->cols) && b->lower == 0 && b->upper == 0;
        out->dim[out->rank++] = square ? b->rows : EF_DIM_UNKNOWN;
    }
    return NULL;
}

static ef_status *part_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    band b = {0};
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    if (i->n_in > 1) {
        EF_TRY(ef_need_vector(i, 1, true));
        EF_TRY(ef_need_rank(i, 2, 0));
        if (i->in[1].value == NULL) return NULL;
        EF_TRY(read_k(i->op, i->in[1].value, &b));
    }
    return x->rank < 0 ? NULL : band_shape(i->op, x, &b, &i->out[0].shape);
}

static ef_status *part_run(const ef_call *c) {
    static const uint64_t zero[2] = {0, 0};
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    ef_shape s = ef_shape_from(x), out;
    band b = {0};
    if (c->n_in > 1) EF_TRY(read_k(c->op, c->in[1], &b));
    EF_TRY(band_shape(c->op, &s, &b, &out));
    set_align(c->op, c->attrs, &b);
    if (b.lower != b.upper)
        EF_TRY(ef_fill_elements(t, o->data, c->n_in > 2 ? c->in[2]->data : zero, ef_count(o)));
    return move_band(t, &b, ef_shape_span(&s, 0, s.rank - 2), x->data, o->data, false);
}

static ef_status *part_grad(ef_grad *g) {
    ef_build *b = g->b;
    const ef_shape *x = &g->in[0]->fact.shape;
    int v = g->op->id == EF_OP_MatrixDiagPart ? 1 : g->op->id == EF_OP_MatrixDiagPartV2 ? 2 : 3;
    int64_t rows = x->rank >= 2 ? x->dim[x->rank - 2] : -1,
            cols = x->rank >= 2 ? x->dim[x->rank - 1] : -1;
    if (v > 1 && rows >= 0 && cols >= 0) {
        g->din[0] = ef_emit_like(g, v == 2 ? "MatrixDiagV2" : "MatrixDiagV3", NULL, 0, 5,
                                 g->dout[0], g->in[1], ef_const_number(b, EF_I32, (double)rows),
                                 ef_const_number(b, EF_I32, (double)cols), zero_of(g));
    } else if (v == 1 && rows >= 0 && rows == cols) {
        g->din[0] = ef_emit(b, "MatrixDiag", 1, g->dout[0]);
    } else {
        ef_value *zeros = ef_zeros_of(b, g->in[0]);
        g->din[0] = v == 1 ? ef_emit(b, "MatrixSetDiag", 2, zeros, g->dout[0])
                           : ef_emit_like(g, v == 2 ? "MatrixSetDiagV2" : "MatrixSetDiagV3", NULL,
                                          0, 3, zeros, g->dout[0], g->in[1]);
    }
    return NULL;
}

const ef_op ef_op_MatrixDiagPart = {
    EF_NAMED(MatrixDiagPart),
    .doc = "The main diagonals of matrices.",
    .in = {"input: T"},
    .out = {"diagonal: T"},
    .types = "T: " EF_PLAIN_TYPES,
    .keeps = EF_KEEP_NONE,
    .shape = part_shape,
    .kernel = PLAIN_KERNEL(part_run),
    .grad = part_grad,
    .examples = {"float[3,3]", "double[2,2,4]", "int32[3,0]"},
};

#define PART(N, words, attributes, bytes, ...)                        \
    const ef_op ef_op_##N = {                                         \
        EF_NAMED(N),                                                  \
        .doc = words,                                                 \
        .in = {"input: T", "k: int32", "padding_value: T"},           \
        .out = {"diagonal: T"},                                       \
        .types = "T: " EF_PLAIN_TYPES,                                \
        attributes.attr_size = (bytes),                               \
        .keeps = EF_KEEP_IN(1),                                       \
        .no_grad_in = 1u << 2,                                        \
        .shape = part_shape,                                          \
        .kernel = PLAIN_KERNEL(part_run),                             \
        .grad = part_grad,                                            \
        .examples = {"float[2,3,4] int32[]{1} float[]", __VA_ARGS__}, \
    };
PART(MatrixDiagPartV2,
     "The diagonals `k[0]` to `k[1]` of matrices, each aligned to the left of its row.", , 0,
     "double[3,4] int32[2]{-2,1} double[]")
PART(MatrixDiagPartV3, "The diagonals `k[0]` to `k[1]` of matrices, one per row.", ATTRIBUTES,
     sizeof(diag_attrs), "double[3,4] int32[2]{-2,1} double[] align='LEFT_RIGHT'",
     "float[4,3] int32[2]{-1,1} float[]")

/* ---- replacing --------------------------------------------------------------------------------
 */

static ef_status *set_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *v = &i->in[1].shape;
    band b = {0};
    ef_shape want;
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    i->out[0].shape = *x;
    if (i->n_in > 2) {
        EF_TRY(ef_need_vector(i, 2, true));
        if (i->in[2].value == NULL) return NULL;
        EF_TRY(read_k(i->op, i->in[2].value, &b));
    }
    if (x->rank < 0) return NULL;
    EF_TRY(band_shape(i->op, x, &b, &want));
    if (!ef_shape_may_equal(&want, v))
        return ef_error(EF_INVALID, "%s: input is %s, so diagonal must be %s, but it is %s",
                        i->op->name, EF_SHAPE(x), EF_SHAPE(&want), EF_SHAPE(v));
    return NULL;
}

static ef_status *set_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    ef_shape s = ef_shape_from(x), want, have = ef_shape_from(c->in[1]);
    band b = {0};
    if (c->n_in > 2) EF_TRY(read_k(c->op, c->in[2], &b));
    EF_TRY(band_shape(c->op, &s, &b, &want));
    if (!ef_shape_equal(&want, &have))
        return ef_error(EF_INVALID, "%s: diagonal must be %s, but it is %s", c->op->name,
                        EF_SHAPE(&want), EF_SHAPE(&have));
    set_align(c->op, c->attrs, &b);
    if (o->data != x->data) EF_TRY(ef_copy_elements(t, o->data, x->data, ef_count(x)));
    return move_band(t, &b, ef_shape_span(&s, 0, s.rank - 2), c->in[1]->data, o->data, true);
}

static ef_status *set_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *zeros = ef_zeros_of(b, g->in[1]);
    if (g->op->id == EF_OP_MatrixSetDiag) {
        g->din[0] = ef_emit(b, "MatrixSetDiag", 2, dy, zeros);
        g->din[1] = ef_emit(b, "MatrixDiagPart", 1, dy);
    } else {
        const char *part =
            g->op->id == EF_OP_MatrixSetDiagV2 ? "MatrixDiagPartV2" : "MatrixDiagPartV3";
        g->din[0] = ef_emit_like(g, g->op->name, NULL, 0, 3, dy, zeros, g->in[2]);
        g->din[1] = ef_emit_like(g, part, NULL, 0, 3, dy, g->in[2], zero_of(g));
    }
    return NULL;
}

const ef_op ef_op_MatrixSetDiag = {
    EF_NAMED(MatrixSetDiag),
    .doc = "`input` with the main diagonals of its matrices replaced by `diagonal`.",
    .in = {"input: T", "diagonal: T"},
    .out = {"output: T"},
    .types = "T: " EF_PLAIN_TYPES,
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_NONE,
    .shape = set_shape,
    .kernel = PLAIN_KERNEL(set_run),
    .grad = set_grad,
    .examples = {"float[3,3] float[3]", "double[2,2,4] double[2,2]", "int32[0,2] int32[0]"},
};

#define SET(N, words, attributes, bytes, ...)                            \
    const ef_op ef_op_##N = {                                            \
        EF_NAMED(N),                                                     \
        .doc = words,                                                    \
        .in = {"input: T", "diagonal: T", "k: int32"},                   \
        .out = {"output: T"},                                            \
        .types = "T: " EF_PLAIN_TYPES,                                   \
        attributes.attr_size = (bytes),                                  \
        .traits = EF_MAY_ALIAS_0,                                        \
        .keeps = EF_KEEP_IN(2),                                          \
        .shape = set_shape,                                              \
        .kernel = PLAIN_KERNEL(set_run),                                 \
        .grad = set_grad,                                                \
        .examples = {"float[2,3,4] float[2,3] int32[]{1}", __VA_ARGS__}, \
    };
SET(MatrixSetDiagV2, "`input` with the diagonals `k[0]` to `k[1]` of its matrices replaced.", , 0,
    "double[3,4] double[4,3] int32[2]{-2,1}")
SET(MatrixSetDiagV3, "`input` with the diagonals `k[0]` to `k[1]` of its matrices replaced.",
    ATTRIBUTES, sizeof(diag_attrs), "double[3,4] double[4,3] int32[2]{-2,1} align='LEFT_RIGHT'",
    "float[4,3] float[3,3] int32[2]{-1,1}")
