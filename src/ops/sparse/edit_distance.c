/* EditDistance: how many insertions, deletions and substitutions turn one sequence into another.
 * The last axis of two sparse tensors holds the sequences. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/sparse/sparse.h"
#include "ops/string/strings.h"
#include <math.h>

typedef struct {
    bool normalize;
} edit_attrs;

static ef_status *edit_shape(ef_infer *i) {
    int64_t hypothesis = EF_DIM_UNKNOWN, truth = EF_DIM_UNKNOWN, rank;
    EF_TRY(ef_sparse_facts(i, 0, &hypothesis));
    EF_TRY(ef_sparse_facts(i, 3, &truth));
    EF_TRY(ef_need_same_dim(i, hypothesis, truth, "the ranks of hypothesis and truth", &rank));
    i->out[0].shape = ef_unknown_shape();
    if (rank < 0) return NULL;
    if (rank == 0)
        return ef_error(EF_INVALID, "%s: hypothesis and truth must have at least one axis",
                        i->op->name);
    EF_TRY(ef_need_rank_held(i->op, rank - 1));
    i->out[0].shape = (ef_shape){.rank = (int)rank - 1};
    for (int d = 0; d + 1 < rank; d++) i->out[0].shape.dim[d] = EF_DIM_UNKNOWN;
    return NULL;
}

static bool same(const ef_tensor *x, int64_t i, const ef_tensor *y, int64_t j) {
    ef_dtype t = (ef_dtype)x->dtype;
    if (t == EF_STRING) {
        const ef_str *a = ef_strs(x) + i, *b = ef_strs(y) + j;
        return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n) == 0);
    }
    if (t == EF_C64) return ((const ef_c64 *)x->data)[i] == ((const ef_c64 *)y->data)[j];
    if (t == EF_C128) return ((const ef_c128 *)x->data)[i] == ((const ef_c128 *)y->data)[j];
    if (ef_dtype_in(t, EF_FLOATS))
        return ef_element_double(t, x->data, i) == ef_element_double(t, y->data, j);
    return ef_element_int(t, x->data, i) == ef_element_int(t, y->data, j);
}

/* The elements [at, at + n) of one sequence. */
typedef struct {
    const ef_tensor *values;
    int64_t at, n;
} sequence;

/* Levenshtein's distance, one row of the table at a time; `row` has b->n + 1 places. */
static int64_t distance(const sequence *a, const sequence *b, int64_t *row) {
    for (int64_t j = 0; j <= b->n; j++) row[j] = j;
    for (int64_t i = 1; i <= a->n; i++) {
        int64_t corner = row[0];
        row[0] = i;
        for (int64_t j = 1; j <= b->n; j++) {
            int64_t change = corner + !same(a->values, a->at + i - 1, b->values, b->at + j - 1);
            int64_t insert = row[j - 1] + 1, drop = row[j] + 1;
            corner = row[j];
            row[j] = insert < drop ? insert : drop;
            if (change < row[j]) row[j] = change;
        }
    }
    return row[b->n];
}

static float score(const sequence *hypothesis, const sequence *truth, bool normalize,
                   int64_t *row) {
    float edits = (float)distance(hypothesis, truth, row);
    if (!normalize) return edits;
    if (truth->n == 0) return hypothesis->n == 0 ? 0.0F : INFINITY;
    return edits / (float)truth->n;
}

/* The sequences must ascend. Their elements count in the order in which they are stored, whatever
 * their last coordinates are, as in TensorFlow. */
static ef_status *need_order(const ef_call *c, const ef_sparse *x, const char *name) {
    for (int64_t k = 1; k < x->n; k++)
        if (ef_index_order(x->index + (k - 1) * x->rank, x->index + k * x->rank, x->rank - 1) > 0)
            return ef_error(EF_INVALID,
                            "%s: %s_indices[%lld] = %s belongs to a sequence before that of the "
                            "previous row; sequences must ascend (tf.sparse.reorder sorts them)",
                            c->op->name, name, (long long)k,
                            EF_INDEX(x->index + k * x->rank, x->rank));
    return NULL;
}

/* The sequence of x that begins at element k, with all that have the same coordinates but the last.
 */
static sequence sequence_at(const ef_sparse *x, int64_t k) {
    sequence s = {x->values, k, 0};
    while (k + s.n < x->n &&
           ef_index_order(x->index + k * x->rank, x->index + (k + s.n) * x->rank, x->rank - 1) == 0)
        s.n++;
    return s;
}

static int64_t place_of(const ef_sparse *x, int64_t k, const ef_shape *out) {
    int64_t at = 0;
    for (int d = 0; d < out->rank; d++) at = at * out->dim[d] + x->index[k * x->rank + d];
    return at;
}

static void score_all(const ef_call *c, const ef_sparse *x, const ef_sparse *y,
                      const ef_shape *shape, int64_t *row) {
    bool normalize = ((const edit_attrs *)c->attrs)->normalize;
    float *out = c->out[0]->data;
    for (int64_t i = 0, j = 0; i < x->n || j < y->n;) {
        int64_t px = i < x->n ? place_of(x, i, shape) : INT64_MAX;
        int64_t py = j < y->n ? place_of(y, j, shape) : INT64_MAX;
        sequence a = {x->values, i, 0}, b = {y->values, j, 0};
        if (px <= py) a = sequence_at(x, i);
        if (py <= px) b = sequence_at(y, j);
        out[px < py ? px : py] = score(&a, &b, normalize, row);
        i += a.n;
        j += b.n;
    }
}

static ef_status *edit_run(const ef_call *c) {
    ef_sparse x = {0}, y = {0};
    EF_TRY(ef_sparse_in(c, 0, &x));
    EF_TRY(ef_sparse_in(c, 3, &y));
    if (x.rank != y.rank || x.rank == 0)
        return ef_error(EF_INVALID,
                        "%s: hypothesis has %d axes and truth %d; both must have the same number, "
                        "at least one",
                        c->op->name, x.rank, y.rank);
    EF_TRY(ef_need_rank_held(c->op, x.rank - 1));
    EF_TRY(need_order(c, &x, "hypothesis"));
    EF_TRY(need_order(c, &y, "truth"));
    ef_shape shape = {.rank = x.rank - 1};
    for (int d = 0; d < shape.rank; d++) shape.dim[d] = x.dim[d] > y.dim[d] ? x.dim[d] : y.dim[d];
    EF_TRY(ef_need_size_held(c->op, &shape));
    EF_TRY(ef_out_alloc(c, 0, &shape));
    memset(c->out[0]->data, 0, (size_t)ef_count(c->out[0]) * sizeof(float));
    size_t bytes = (size_t)(y.n + 1) * sizeof(int64_t);
    int64_t *row = ef_malloc(bytes);
    if (row == NULL) return ef_no_memory(bytes);
    score_all(c, &x, &y, &shape, row);
    ef_free(row);
    return NULL;
}

const ef_op ef_op_EditDistance = {
    EF_NAMED(EditDistance),
    .doc = "The number of edits that turn each sequence of `hypothesis` into that of `truth`; with "
           "`normalize`, divided by the length of the truth.",
    .in = {"hypothesis_indices: int64", "hypothesis_values: T", "hypothesis_shape: int64",
           "truth_indices: int64", "truth_values: T", "truth_shape: int64"},
    .out = {"output: float"},
    .types = "T: {string, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, float, "
             "double, half, bfloat16, complex64, complex128}",
    .attr = {EF_ATTR(edit_attrs, normalize, "bool", "true")},
    .attr_size = sizeof(edit_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = edit_shape,
    .kernel = EF_ANY_KERNEL(edit_run),
    .examples = {"int64[3,2]{0,0,0,1,1,0} int32[3]{1,2,5} int64[2]{2,2} int64[2,2]{0,0,0,1} "
                 "int32[2]{1,3} int64[2]{2,3}",
                 "int64[1,1]{0} string[1]{a} int64[1]{1} int64[2,1]{0,1} string[2]{b,a} "
                 "int64[1]{2} normalize=false",
                 "int64[2,1]{0,1} complex64[2]{1+2j,3} int64[1]{2} int64[2,1]{0,1} "
                 "complex64[2]{1+4j,3} int64[1]{2}"},
};
