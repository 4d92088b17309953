/* Sets: the last axis of a tensor, dense or sparse, holds one set for each index of the other axes.
 * Two tensors of sets are merged set by set; results are sparse, in ascending order, without
 * duplicates. */
#include "base/alloc.h"
#include "ops/sparse/sparse.h"
#include "ops/string/strings.h"

typedef struct {
    int set_operation;
    bool validate_indices;
} set_attrs;
enum { A_MINUS_B, B_MINUS_A, INTERSECTION, UNION };

/* One operand: its elements in the order of their sets. */
typedef struct {
    const ef_tensor *values;
    const int64_t *index; /* sparse: coordinates of each element; NULL: dense */
    int64_t n;
    ef_shape shape;
} sets;

static int64_t set_of(const sets *s, int64_t k) {
    int64_t at = 0;
    if (s->index == NULL) return k / s->shape.dim[s->shape.rank - 1];
    for (int d = 0; d < s->shape.rank - 1; d++)
        at = at * s->shape.dim[d] + s->index[k * s->shape.rank + d];
    return at;
}

static ef_status *need_sets(const ef_call *c, const sets *s) {
    if (s->shape.rank >= 1) return NULL;
    return ef_error(EF_INVALID, "%s: a set is of rank 0; it must have at least one axis",
                    c->op->name);
}
static ef_status *dense_sets(const ef_call *c, int k, sets *out) {
    *out = (sets){c->in[k], NULL, ef_count(c->in[k]), ef_shape_from(c->in[k])};
    return need_sets(c, out);
}
static ef_status *sparse_sets(const ef_call *c, int k, sets *out) {
    ef_sparse x = {0};
    EF_TRY(ef_sparse_in(c, k, &x));
    *out = (sets){x.values, x.index, x.n, ef_shape_of(x.rank, x.dim)};
    EF_TRY(need_sets(c, out));
    for (int64_t j = 1; j < x.n; j++)
        if (ef_index_order(x.index + (j - 1) * x.rank, x.index + j * x.rank, x.rank) > 0)
            return ef_error(EF_INVALID,
                            "%s: indices[%lld] = %s is out of order; indices must ascend",
                            c->op->name, (long long)j, EF_INDEX(x.index + j * x.rank, x.rank));
    return NULL;
}

static int order(const ef_tensor *x, int64_t i, const ef_tensor *y, int64_t j) {
    if (x->dtype == EF_STRING) {
        const ef_str *a = ef_strs(x) + i, *b = ef_strs(y) + j;
        size_t n = a->n < b->n ? a->n : b->n;
        int first = n > 0 ? memcmp(a->at, b->at, n) : 0;
        return first != 0 ? first : (a->n > b->n) - (a->n < b->n);
    }
    int64_t a = ef_element_int((ef_dtype)x->dtype, x->data, i);
    int64_t b = ef_element_int((ef_dtype)y->dtype, y->data, j);
    return (a > b) - (a < b);
}

/* Sorts element numbers [from, to) by their values and removes duplicates; returns their number. */
static int64_t sort_set(const ef_tensor *x, int64_t from, int64_t to, int64_t *ids, int64_t *room) {
    int64_t n = to - from, m = 0;
    for (int64_t k = 0; k < n; k++) ids[k] = from + k;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            int64_t mid = lo + width < n ? lo + width : n,
                    hi = lo + 2 * width < n ? lo + 2 * width : n;
            for (int64_t k = lo, a = lo, b = mid; k < hi; k++)
                room[k] =
                    a < mid && (b >= hi || order(x, ids[a], x, ids[b]) <= 0) ? ids[a++] : ids[b++];
        }
        memcpy(ids, room, (size_t)n * sizeof *ids);
    }
    for (int64_t k = 0; k < n; k++)
        if (m == 0 || order(x, ids[m - 1], x, ids[k]) != 0) ids[m++] = ids[k];
    return m;
}

typedef struct { /* a selected element: operand, index in it, and set */
    const sets *a, *b;
    int64_t *ids, *room, *from, *set;
    int64_t n, most;
} merge;

static void choose(merge *m, bool from_b, int64_t id, int64_t set) {
    m->from[m->n] = from_b ? -1 - id : id;
    m->set[m->n++] = set;
}

/* Merges one set of each operand. */
static void merge_one(merge *m, int how, int64_t set, const int64_t *span) {
    int64_t *ia = m->ids, *ib = ia + (span[1] - span[0]), i = 0, j = 0, before = m->n;
    int64_t na = sort_set(m->a->values, span[0], span[1], ia, m->room);
    int64_t nb = sort_set(m->b->values, span[2], span[3], ib, m->room);
    while (i < na || j < nb) {
        int o = i >= na ? 1 : j >= nb ? -1 : order(m->a->values, ia[i], m->b->values, ib[j]);
        if (o < 0 && (how == A_MINUS_B || how == UNION)) choose(m, false, ia[i], set);
        if (o > 0 && (how == B_MINUS_A || how == UNION)) choose(m, true, ib[j], set);
        if (o == 0 && (how == INTERSECTION || how == UNION)) choose(m, false, ia[i], set);
        i += o <= 0, j += o >= 0;
    }
    if (m->n - before > m->most) m->most = m->n - before;
}

static ef_status *write_result(const ef_call *c, const merge *m) {
    const ef_shape *s = &m->a->shape;
    int rank = s->rank;
    ef_shape indices = {.rank = 2, .dim = {m->n, rank}}, values = {.rank = 1, .dim = {m->n}},
             sizes = {.rank = 1, .dim = {rank}};
    EF_TRY(ef_out_alloc(c, 0, &indices));
    EF_TRY(ef_out_alloc(c, 1, &values));
    EF_TRY(ef_out_alloc(c, 2, &sizes));
    int64_t *index = c->out[0]->data, *size = c->out[2]->data, place = 0;
    ef_dtype type = (ef_dtype)m->a->values->dtype;
    size_t bytes = ef_dtype_size(type);
    for (int d = 0; d < rank; d++) size[d] = d < rank - 1 ? s->dim[d] : m->most;
    for (int64_t k = 0; k < m->n; k++) {
        bool b = m->from[k] < 0;
        const char *from = b ? m->b->values->data : m->a->values->data;
        int64_t id = b ? -1 - m->from[k] : m->from[k], rest = m->set[k];
        EF_TRY(ef_copy_elements(type, (char *)c->out[1]->data + (size_t)k * bytes,
                                from + (size_t)id * bytes, 1));
        place = k > 0 && m->set[k] == m->set[k - 1] ? place + 1 : 0;
        index[k * rank + rank - 1] = place;
        for (int d = rank - 2; d >= 0; rest /= s->dim[d], d--)
            index[k * rank + d] = rest % s->dim[d];
    }
    return NULL;
}

static ef_status *set_operation(const ef_call *c, const sets *a, const sets *b) {
    const set_attrs *t = c->attrs;
    bool same = a->shape.rank == b->shape.rank;
    for (int d = 0; same && d < a->shape.rank - 1; d++) same = a->shape.dim[d] == b->shape.dim[d];
    if (!same)
        return ef_error(EF_INVALID,
                        "%s: sets have shapes %s and %s; all sizes but the last must be equal",
                        c->op->name, EF_SHAPE(&a->shape), EF_SHAPE(&b->shape));
    size_t all = (size_t)(a->n + b->n);
    merge m = {.a = a, .b = b, .ids = ef_malloc((all * 4 + 1) * sizeof(int64_t))};
    if (m.ids == NULL) return ef_no_memory(all * 4 * sizeof(int64_t));
    m.room = m.ids + all, m.from = m.room + all, m.set = m.from + all;
    for (int64_t i = 0, j = 0; i < a->n || j < b->n;) {
        int64_t ga = i < a->n ? set_of(a, i) : INT64_MAX, gb = j < b->n ? set_of(b, j) : INT64_MAX;
        int64_t g = ga < gb ? ga : gb, span[4] = {i, i, j, j};
        while (span[1] < a->n && set_of(a, span[1]) == g) span[1]++;
        while (span[3] < b->n && set_of(b, span[3]) == g) span[3]++;
        merge_one(&m, t->set_operation, g, span);
        i = span[1], j = span[3];
    }
    ef_status *s = write_result(c, &m);
    ef_free(m.ids);
    return s;
}

static ef_status *result_shape(ef_infer *i) {
    int64_t rank = EF_DIM_UNKNOWN;
    if (i->n_in <= 4 && i->in[0].shape.rank >= 0) rank = i->in[0].shape.rank;
    if (i->n_in >= 4) {
        int64_t other = EF_DIM_UNKNOWN;
        EF_TRY(ef_sparse_facts(i, i->n_in - 3, &other));
        if (i->n_in == 6) EF_TRY(ef_sparse_facts(i, 0, &rank));
        if (rank < 0) rank = other;
    } else if (rank < 0 && i->in[1].shape.rank >= 0)
        rank = i->in[1].shape.rank;
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[2].shape = (ef_shape){.rank = 1, .dim = {rank}};
    return NULL;
}

static ef_status *dense_dense_run(const ef_call *c) {
    sets a = {0}, b = {0};
    EF_TRY(dense_sets(c, 0, &a));
    EF_TRY(dense_sets(c, 1, &b));
    return set_operation(c, &a, &b);
}
static ef_status *dense_sparse_run(const ef_call *c) {
    sets a = {0}, b = {0};
    EF_TRY(dense_sets(c, 0, &a));
    EF_TRY(sparse_sets(c, 1, &b));
    return set_operation(c, &a, &b);
}
static ef_status *sparse_sparse_run(const ef_call *c) {
    sets a = {0}, b = {0};
    EF_TRY(sparse_sets(c, 0, &a));
    EF_TRY(sparse_sets(c, 3, &b));
    return set_operation(c, &a, &b);
}

#define SET_TYPES "T: {int8, int16, int32, int64, uint8, uint16, string}"
#define SET_OP(N, run, text, inputs, ...)                                                     \
    const ef_op ef_op_##N = {                                                                 \
        EF_NAMED(N),                                                                          \
        .doc = text,                                                                          \
        .in = inputs,                                                                         \
        .out = {"result_indices: int64", "result_values: T", "result_shape: int64"},          \
        .types = SET_TYPES,                                                                   \
        .attr = {EF_ATTR(set_attrs, set_operation, "{'a-b', 'b-a', 'intersection', 'union'}", \
                         NULL),                                                               \
                 EF_ATTR(set_attrs, validate_indices, "bool", "true")},                       \
        .attr_size = sizeof(set_attrs),                                                       \
        .traits = EF_NO_GRAD | EF_DYNAMIC,                                                    \
        .shape = result_shape,                                                                \
        .kernel = EF_MOVE_KERNEL(run),                                                        \
        .examples = {__VA_ARGS__},                                                            \
    };
#define LIST(...) \
    { __VA_ARGS__ }
SET_OP(DenseToDenseSetOperation, dense_dense_run,
       "Merges the sets in the last axes of two tensors, set by set.", LIST("set1: T", "set2: T"),
       "T[2,3]{1,2,3,4,5,5} T[2,2]{2,9,5,1} set_operation='a-b'",
       "string[1,2]{a,b} string[1,2]{b,c} set_operation='union'",
       "int32[2,2]{1,2,3,4} int32[2,2]{2,2,9,3} set_operation='intersection'",
       "int32[2]{1,2} int32[0] set_operation='b-a'")
SET_OP(DenseToSparseSetOperation, dense_sparse_run,
       "Merges the sets in the last axes of a tensor and a sparse tensor, set by set.",
       LIST("set1: T", "set2_indices: int64", "set2_values: T", "set2_shape: int64"),
       "int32[2,2]{1,2,3,4} int64[3,2]{0,0,0,1,1,0} int32[3]{2,7,3} int64[2]{2,2} "
       "set_operation='union'")
SET_OP(SparseToSparseSetOperation, sparse_sparse_run,
       "Merges the sets in the last axes of two sparse tensors, set by set.",
       LIST("set1_indices: int64", "set1_values: T", "set1_shape: int64", "set2_indices: int64",
            "set2_values: T", "set2_shape: int64"),
       "int64[2,2]{0,0,1,0} int32[2]{1,2} int64[2]{2,1} int64[2,2]{0,0,0,1} int32[2]{1,5} "
       "int64[2]{2,2} set_operation='a-b'")

static ef_status *size_shape(ef_infer *i) {
    int64_t rank = EF_DIM_UNKNOWN, v[EF_MAX_RANK];
    int n = 0;
    bool known = false;
    EF_TRY(ef_sparse_facts(i, 0, &rank));
    EF_TRY(ef_known_ints(i, 2, v, EF_MAX_RANK, &n, &known));
    for (int k = 0; known && k < n; k++)
        if (v[k] < 0)
            return ef_error(EF_INVALID, "%s: set_shape[%d] is %lld; sizes must not be negative",
                            i->op->name, k, (long long)v[k]);
    if (known && n >= 1)
        i->out[0].shape = ef_shape_of(n - 1, v);
    else if (rank >= 1 && rank <= EF_MAX_RANK)
        i->out[0].shape = ef_shape_of_rank((int)rank - 1);
    return NULL;
}
static ef_status *size_run(const ef_call *c) {
    sets a = {0};
    EF_TRY(sparse_sets(c, 0, &a));
    ef_shape s = a.shape;
    s.rank--;
    EF_TRY(ef_out_alloc(c, 0, &s));
    int32_t *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->out[0]); k < n; k++) out[k] = 0;
    int64_t *ids = ef_malloc(((size_t)a.n * 2 + 1) * sizeof *ids);
    if (ids == NULL) return ef_no_memory((size_t)a.n * 2 * sizeof *ids);
    for (int64_t i = 0; i < a.n;) {
        int64_t g = set_of(&a, i), end = i;
        while (end < a.n && set_of(&a, end) == g) end++;
        out[g] = (int32_t)sort_set(a.values, i, end, ids, ids + a.n);
        i = end;
    }
    ef_free(ids);
    return NULL;
}
const ef_op ef_op_SetSize = {
    EF_NAMED(SetSize),
    .doc = "The number of distinct elements of each set in the last axis of a sparse tensor.",
    .in = {"set_indices: int64", "set_values: T", "set_shape: int64"},
    .out = {"size: int32"},
    .types = SET_TYPES,
    .attr = {EF_ATTR(set_attrs, validate_indices, "bool", "true")},
    .attr_size = sizeof(set_attrs),
    .traits = EF_NO_GRAD,
    .shape = size_shape,
    .kernel = EF_MOVE_KERNEL(size_run),
    .examples = {"int64[3,2]{0,0,0,1,2,0} int32[3]{1,1,5} int64[2]{3,2}",
                 "int64[0,1] string[0] int64[1]{3}"},
};
