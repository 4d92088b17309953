/* RaggedCross: every combination of the values that several features have in the same row, as words
 * joined by "_X_" or as their hash. A feature is a ragged, a sparse or a dense matrix of strings or
 * integers; all become a vector of values with the bounds of its rows. */
#include "base/alloc.h"
#include "kernels/fingerprint.h"
#include "ops/string/strings.h"

typedef struct cross_attrs {
    ef_attr_text input_order; /* a letter for each feature: R, S or D */
    bool hashed_output;
    int64_t num_buckets, hash_key;
    ef_types ragged_values_types, ragged_splits_types, sparse_values_types, dense_types;
    ef_dtype out_values_type, out_row_splits_type;
} cross_attrs;

typedef struct feature {
    const ef_tensor *value;
    int64_t *bound; /* rows + 1 */
    int64_t at;     /* of the value in the present combination */
} feature;

typedef struct cross {
    feature *item;
    int n;
    int64_t rows;
} cross;

/* The lists of inputs, by the letters that stand for them. */
typedef struct given {
    int n_ragged, n_sparse, n_dense;
    ef_tensor *const *ragged, *const *splits, *const *indices, *const *values, *const *shape;
    ef_tensor *const *dense;
} given;

static given given_of(const ef_call *c, const ef_arity *r) {
    given g = {.n_ragged = r->in[0], .n_sparse = r->in[2], .n_dense = r->in[5]};
    g.ragged = c->in;
    g.splits = g.ragged + r->in[0];
    g.indices = g.splits + r->in[1];
    g.values = g.indices + r->in[2];
    g.shape = g.values + r->in[3];
    g.dense = g.shape + r->in[4];
    return g;
}

/* ---- features ----------------------------------------------------------------------------------
 */

static ef_status *start(const ef_call *c, cross *x, int64_t rows, feature **out) {
    feature *f = &x->item[x->n];
    if (rows < 0 || (x->rows >= 0 && rows != x->rows))
        return ef_error(EF_INVALID,
                        "%s: inputs must all have the same batch dimension size: %lld and %lld",
                        c->op->name, (long long)x->rows, (long long)rows);
    x->rows = rows;
    f->bound = ef_calloc((size_t)rows + 1, sizeof *f->bound);
    if (f->bound == NULL) return ef_no_memory((size_t)rows * sizeof *f->bound);
    x->n++;
    *out = f;
    return NULL;
}

static ef_status *add_ragged(const ef_call *c, cross *x, const ef_tensor *value,
                             const ef_tensor *splits) {
    feature *f = NULL;
    EF_TRY(start(c, x, ef_count(splits) - 1, &f));
    f->value = value;
    for (int64_t k = 0; k <= x->rows; k++) {
        f->bound[k] = ef_element_int((ef_dtype)splits->dtype, splits->data, k);
        if (f->bound[k] < (k > 0 ? f->bound[k - 1] : 0) || (k == 0 && f->bound[k] != 0))
            return ef_error(EF_INVALID,
                            "%s: Invalid ragged splits: they must begin with 0 and not "
                            "decrease",
                            c->op->name);
    }
    if (f->bound[x->rows] == ef_count(value)) return NULL;
    return ef_error(EF_INVALID,
                    "%s: Invalid ragged splits: they end with %lld, but there are %lld "
                    "values",
                    c->op->name, (long long)f->bound[x->rows], (long long)ef_count(value));
}

/* Values of a sparse matrix stand in the order of their rows. */
static ef_status *add_sparse(const ef_call *c, cross *x, const ef_tensor *indices,
                             const ef_tensor *value, const ef_tensor *shape) {
    feature *f = NULL;
    const int64_t n = ef_count(value), *place = indices->data;
    if (ef_count(shape) != 2 || indices->rank != 2 || indices->dim[0] != n || indices->dim[1] != 2)
        return ef_error(EF_INVALID, "%s: a sparse input must be a matrix; its indices are %s",
                        c->op->name, EF_TENSOR(indices));
    EF_TRY(start(c, x, *(const int64_t *)shape->data, &f));
    f->value = value;
    for (int64_t k = 0, before = 0; k < n; k++) {
        int64_t row = place[2 * k];
        if (row < before || row >= x->rows)
            return ef_error(EF_INVALID, "%s: rows of sparse indices must ascend and be below %lld",
                            c->op->name, (long long)x->rows);
        before = row;
        f->bound[row + 1]++;
    }
    for (int64_t k = 0; k < x->rows; k++) f->bound[k + 1] += f->bound[k];
    return NULL;
}

static ef_status *add_dense(const ef_call *c, cross *x, const ef_tensor *value) {
    feature *f = NULL;
    if (value->rank != 2)
        return ef_error(EF_INVALID, "%s: dense inputs must be matrices, not %s", c->op->name,
                        EF_TENSOR(value));
    EF_TRY(start(c, x, value->dim[0], &f));
    f->value = value;
    for (int64_t k = 0; k <= x->rows; k++) f->bound[k] = k * value->dim[1];
    return NULL;
}

static ef_status *collect(const ef_call *c, const given *g, cross *x) {
    const cross_attrs *t = c->attrs;
    int ragged = 0, sparse = 0, dense = 0;
    if ((int)t->input_order.n != g->n_ragged + g->n_sparse + g->n_dense)
        return ef_error(EF_INVALID, "%s: input_order '%s' has not one letter for each input",
                        c->op->name, t->input_order.at);
    for (size_t k = 0; k < t->input_order.n; k++) {
        char letter = t->input_order.at[k];
        if (letter == 'R' && ragged < g->n_ragged) {
            EF_TRY(add_ragged(c, x, g->ragged[ragged], g->splits[ragged]));
            ragged++;
        } else if (letter == 'S' && sparse < g->n_sparse) {
            EF_TRY(add_sparse(c, x, g->indices[sparse], g->values[sparse], g->shape[sparse]));
            sparse++;
        } else if (letter == 'D' && dense < g->n_dense) {
            EF_TRY(add_dense(c, x, g->dense[dense++]));
        } else {
            return ef_error(EF_INVALID, "%s: input_order '%s' does not fit the inputs", c->op->name,
                            t->input_order.at);
        }
    }
    return NULL;
}

/* ---- combinations ------------------------------------------------------------------------------
 */

static uint64_t mixed(uint64_t v) { return v ^ v >> 47; }

/* How TensorFlow joins two fingerprints. */
static uint64_t joined(uint64_t a, uint64_t b) {
    const uint64_t m = 0xc6a4a7935bd1e995ULL;
    uint64_t v = ((a ^ m) ^ mixed(b * m) * m) * m;
    return mixed(mixed(v) * m);
}

static int64_t hash_of(const cross_attrs *t, const cross *x) {
    uint64_t h = (uint64_t)t->hash_key;
    for (int k = 0; k < x->n; k++) {
        const ef_tensor *v = x->item[k].value;
        const int64_t at = x->item[k].at;
        const ef_str *s = v->dtype == EF_STRING ? (const ef_str *)v->data + at : NULL;
        h = joined(h, s != NULL ? ef_farmhash64(s->at, s->n)
                                : (uint64_t)ef_element_int((ef_dtype)v->dtype, v->data, at));
    }
    return (int64_t)(h % (uint64_t)(t->num_buckets > 0 ? t->num_buckets : INT64_MAX));
}

static ef_status *words_of(const cross *x, ef_text *text, ef_str *out) {
    for (int k = 0; k < x->n; k++) {
        const ef_tensor *v = x->item[k].value;
        const int64_t at = x->item[k].at;
        if (k > 0) ef_text_bytes(text, "_X_", 3);
        if (v->dtype == EF_STRING)
            ef_text_bytes(text, ((const ef_str *)v->data)[at].at, ((const ef_str *)v->data)[at].n);
        else
            ef_text_add(text, "%lld", (long long)ef_element_int((ef_dtype)v->dtype, v->data, at));
    }
    return ef_str_take(out, text);
}

/* The last feature changes fastest; false: that was the last combination of the row. */
static bool advance(const cross *x, int64_t row) {
    for (int k = x->n - 1; k >= 0; k--) {
        feature *f = &x->item[k];
        if (++f->at < f->bound[row + 1]) return true;
        f->at = f->bound[row];
    }
    return false;
}

static ef_status *count_rows(const ef_call *c, const cross *x, ef_tensor *splits, int64_t *total) {
    *total = 0;
    for (int64_t row = 0; row <= x->rows; row++) {
        ef_element_set((ef_dtype)splits->dtype, splits->data, row, (double)*total);
        int64_t n = x->n > 0;
        for (int k = 0; k < x->n && row < x->rows; k++)
            if (__builtin_mul_overflow(n, x->item[k].bound[row + 1] - x->item[k].bound[row], &n))
                n = INT64_MAX;
        if (row < x->rows && (__builtin_add_overflow(*total, n, total) || *total > INT32_MAX))
            return ef_error(EF_INVALID, "%s: there are more than 2147483647 combinations",
                            c->op->name);
    }
    return NULL;
}

static ef_status *fill(const ef_call *c, const cross *x, int64_t total) {
    const cross_attrs *t = c->attrs;
    ef_tensor *out = c->out[0];
    ef_text text = {0};
    ef_status *s = NULL;
    int64_t made = 0;
    for (int64_t row = 0; row < x->rows && s == NULL && total > 0; row++) {
        bool more = x->n > 0;
        for (int k = 0; k < x->n; k++) {
            x->item[k].at = x->item[k].bound[row];
            more &= x->item[k].bound[row + 1] > x->item[k].bound[row];
        }
        for (; more && s == NULL; more = advance(x, row), made++) {
            if (out->dtype == EF_STRING)
                s = words_of(x, &text, (ef_str *)out->data + made);
            else
                ((int64_t *)out->data)[made] = hash_of(t, x);
        }
    }
    ef_text_free(&text);
    return s;
}

static ef_status *cross_run(const ef_call *c) {
    ef_arity r;
    EF_TRY(ef_op_arity(c->op, c->attrs, c->n_in, &r));
    const given g = given_of(c, &r);
    int64_t total = 0;
    cross x = {.rows = -1, .item = ef_calloc((size_t)c->n_in + 1, sizeof *x.item)};
    if (x.item == NULL) return ef_no_memory((size_t)c->n_in * sizeof *x.item);
    ef_status *s = collect(c, &g, &x);
    if (x.rows < 0) x.rows = 0;
    ef_shape splits = {.rank = 1, .dim = {x.rows + 1}};
    if (s == NULL) s = ef_out_alloc(c, 1, &splits);
    if (s == NULL) s = count_rows(c, &x, c->out[1], &total);
    ef_shape flat = {.rank = 1, .dim = {total}};
    if (s == NULL) s = ef_out_alloc(c, 0, &flat);
    if (s == NULL) s = fill(c, &x, total);
    for (int k = 0; k < x.n; k++) ef_free(x.item[k].bound);
    ef_free(x.item);
    return s;
}

static ef_status *cross_infer(ef_infer *i) {
    const cross_attrs *t = i->attrs;
    if (t->hashed_output != (i->out[0].dtype == EF_I64))
        return ef_error(EF_INVALID,
                        "%s: out_values_type must be int64 if hashed_output is true, "
                        "else string",
                        i->op->name);
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    return NULL;
}

const ef_op ef_op_RaggedCross = {
    EF_NAMED(RaggedCross),
    .doc = "Every combination of the values that the inputs have in the same row: words joined by "
           "'_X_', or their hash.",
    .in = {"ragged_values: ragged_values_types", "ragged_row_splits: ragged_splits_types",
           "sparse_indices: Nsparse * int64", "sparse_values: sparse_values_types",
           "sparse_shape: Nsparse * int64", "dense_inputs: dense_types"},
    .out = {"output_values: out_values_type", "output_row_splits: out_row_splits_type"},
    .types = "Nsparse: int >= 0",
    .attr = {EF_ATTR(cross_attrs, ragged_values_types, "list({int64, string}) >= 0", NULL),
             EF_ATTR(cross_attrs, ragged_splits_types, "list({int32, int64}) >= 0", NULL),
             EF_ATTR(cross_attrs, sparse_values_types, "list({int64, string}) >= 0", NULL),
             EF_ATTR(cross_attrs, dense_types, "list({int64, string}) >= 0", NULL),
             EF_ATTR(cross_attrs, input_order, "string", NULL),
             EF_ATTR(cross_attrs, hashed_output, "bool", NULL),
             EF_ATTR(cross_attrs, num_buckets, "int >= 0", NULL),
             EF_ATTR(cross_attrs, hash_key, "int", NULL),
             EF_ATTR(cross_attrs, out_values_type, "{int64, string}", NULL),
             EF_ATTR(cross_attrs, out_row_splits_type, "{int32, int64}", NULL)},
    .attr_size = sizeof(cross_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = cross_infer,
    .kernel = EF_ANY_KERNEL(cross_run),
    .examples =
        {"int64[3]{1,2,3} int64[3]{0,1,3} ragged_values_types=[int64] "
         "ragged_splits_types=[int64] sparse_values_types=[] dense_types=[] input_order='R' "
         "hashed_output=true num_buckets=10 hash_key=1 out_values_type=int64 "
         "out_row_splits_type=int64"},
};
