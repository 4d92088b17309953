/* ParseSequenceExampleV2: the context and the feature lists of serialized tf.train.SequenceExamples
 * as tensors. */
#include "base/interrupt.h"
#include "ops/io/feature.h"

typedef struct attrs {
    int64_t Ncontext_sparse, Nfeature_list_sparse, Nfeature_list_dense;
    ef_types context_sparse_types, context_ragged_value_types, context_ragged_split_types;
    ef_types feature_list_dense_types, feature_list_sparse_types;
    ef_types feature_list_ragged_value_types, feature_list_ragged_split_types;
    ef_shapes context_dense_shapes, feature_list_dense_shapes;
} attrs;

enum {
    SERIALIZED,
    NAMES,
    CONTEXT_SPARSE,
    CONTEXT_DENSE,
    CONTEXT_RAGGED,
    LIST_SPARSE,
    LIST_DENSE,
    LIST_RAGGED,
    MAY_BE_MISSING,
    DEFAULTS
};

/* The number of features of each kind, and the first output of each group. */
typedef struct layout {
    int sparse, dense, ragged, list_sparse, list_dense, list_ragged;
    int at_dense, at_ragged, at_list_sparse, at_list_dense, at_list_ragged;
} layout;

static layout layout_of(const attrs *t, int n_in) {
    layout l = {.sparse = (int)t->Ncontext_sparse,
                .dense = n_in - DEFAULTS,
                .ragged = t->context_ragged_value_types.n,
                .list_sparse = (int)t->Nfeature_list_sparse,
                .list_dense = (int)t->Nfeature_list_dense,
                .list_ragged = t->feature_list_ragged_value_types.n};
    l.at_dense = 3 * l.sparse;
    l.at_ragged = l.at_dense + l.dense;
    l.at_list_sparse = l.at_ragged + 2 * l.ragged;
    l.at_list_dense = l.at_list_sparse + 3 * l.list_sparse;
    l.at_list_ragged = l.at_list_dense + 2 * l.list_dense;
    return l;
}

static ef_status *check_counts(const ef_infer *i, const attrs *t, const layout *l) {
    bool fits =
        t->context_sparse_types.n == l->sparse && t->context_ragged_split_types.n == l->ragged &&
        t->context_dense_shapes.n == l->dense && t->feature_list_sparse_types.n == l->list_sparse &&
        t->feature_list_dense_types.n == l->list_dense &&
        t->feature_list_dense_shapes.n == l->list_dense &&
        t->feature_list_ragged_split_types.n == l->list_ragged;
    if (!fits)
        return ef_error(
            EF_INVALID,
            "%s: the numbers of types, shapes and defaults differ for %d, %d, %d features "
            "of the context (sparse, dense, ragged) and %d, %d, %d feature lists; there "
            "must be one for each",
            i->op->name, l->sparse, l->dense, l->ragged, l->list_sparse, l->list_dense,
            l->list_ragged);
    EF_TRY(ef_need_keys(i, CONTEXT_SPARSE, l->sparse, "sparse context"));
    EF_TRY(ef_need_keys(i, CONTEXT_DENSE, l->dense, "dense context"));
    EF_TRY(ef_need_keys(i, CONTEXT_RAGGED, l->ragged, "ragged context"));
    EF_TRY(ef_need_keys(i, LIST_SPARSE, l->list_sparse, "sparse list"));
    EF_TRY(ef_need_keys(i, LIST_DENSE, l->list_dense, "dense list"));
    EF_TRY(ef_need_keys(i, LIST_RAGGED, l->list_ragged, "ragged list"));
    return ef_need_keys(i, MAY_BE_MISSING, l->list_dense,
                        "feature_list_dense_missing_assumed_empty");
}

static void sparse_shapes(ef_infer *i, int from, int n, int rank) {
    for (int k = 0; k < n; k++) {
        i->out[from + k].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank}};
        i->out[from + n + k].shape = ef_shape_of_rank(1);
        i->out[from + 2 * n + k].shape = (ef_shape){.rank = 1, .dim = {rank}};
    }
}

static ef_status *parse_shape(ef_infer *i) {
    const attrs *t = i->attrs;
    const layout l = layout_of(t, i->n_in);
    EF_TRY(check_counts(i, t, &l));
    EF_TRY(ef_need_rank_at_most(i, SERIALIZED, 1));
    const ef_shape *in = &i->in[SERIALIZED].shape;
    if (in->rank < 0) return NULL;
    const bool single = in->rank == 0;
    sparse_shapes(i, 0, l.sparse, single ? 1 : 2);
    sparse_shapes(i, l.at_list_sparse, l.list_sparse, single ? 2 : 3);
    for (int k = 0; k < l.dense; k++)
        i->out[l.at_dense + k].shape =
            ef_dense_feature_shape(&t->context_dense_shapes.at[k], single, in->dim[0]);
    for (int k = 0; k < 2 * l.ragged; k++) i->out[l.at_ragged + k].shape = ef_shape_of_rank(1);
    for (int k = 0; k < l.list_dense; k++) {
        ef_shape step =
            ef_dense_feature_shape(&t->feature_list_dense_shapes.at[k], false, EF_DIM_UNKNOWN);
        i->out[l.at_list_dense + k].shape = ef_dense_feature_shape(&step, single, in->dim[0]);
        i->out[l.at_list_dense + l.list_dense + k].shape = *in;
    }
    for (int k = 0; k < 3 * l.list_ragged; k++)
        i->out[l.at_list_ragged + k].shape = ef_shape_of_rank(1);
    return NULL;
}

static ef_column *set_keys(ef_column *k, const ef_tensor *keys, const ef_dtype *types, int n) {
    for (int j = 0; j < n; j++, k++)
        ef_column_set(k, ef_strs(keys)[j].at, ef_strs(keys)[j].n, types[j]);
    return k;
}

static ef_status *set_up(const ef_call *c, const layout *l, ef_columns *context,
                         ef_columns *lists) {
    const attrs *t = c->attrs;
    static const ef_tensor none = {.dtype = EF_F32, .rank = 1};
    ef_column *k =
        set_keys(context->item, c->in[CONTEXT_SPARSE], t->context_sparse_types.at, l->sparse);
    for (int j = 0; j < l->dense; j++, k++) {
        const ef_str *key = ef_strs(c->in[CONTEXT_DENSE]) + j;
        const ef_tensor *fallback = c->in[DEFAULTS + j];
        ef_column_set(k, key->at, key->n, (ef_dtype)fallback->dtype);
        EF_TRY(ef_column_set_dense(c->op, k, &t->context_dense_shapes.at[j], fallback));
    }
    set_keys(k, c->in[CONTEXT_RAGGED], t->context_ragged_value_types.at, l->ragged);
    k = set_keys(lists->item, c->in[LIST_SPARSE], t->feature_list_sparse_types.at, l->list_sparse);
    ef_column *dense = k;
    k = set_keys(k, c->in[LIST_DENSE], t->feature_list_dense_types.at, l->list_dense);
    k = set_keys(k, c->in[LIST_RAGGED], t->feature_list_ragged_value_types.at, l->list_ragged);
    for (ef_column *x = lists->item; x < k; x++) x->optional = true;
    for (int j = 0; j < l->list_dense; j++) {
        EF_TRY(ef_column_set_dense(c->op, &dense[j], &t->feature_list_dense_shapes.at[j], &none));
        dense[j].optional = ((const bool *)c->in[MAY_BE_MISSING]->data)[j];
    }
    EF_TRY(ef_columns_index(c->op, context));
    return ef_columns_index(c->op, lists);
}

static ef_status *read_all(const ef_call *c, ef_columns *context, ef_columns *lists) {
    const ef_str *in = ef_strs(c->in[SERIALIZED]);
    const int64_t n = ef_count(c->in[SERIALIZED]), names = ef_count(c->in[NAMES]);
    unsigned pulse = ef_interrupt_counter();
    for (int64_t row = 0; row < n; row++) {
        ef_example_at at = {c->op, names == n ? ef_strs(c->in[NAMES]) + row : NULL, row};
        ef_wire example = ef_wire_from(in[row].at, in[row].n);
        ef_wire_field f;
        ef_columns_begin(context);
        ef_columns_begin(lists);
        while (ef_wire_next(&example, &f)) {
            if (f.type != EF_WIRE_BYTES) continue;
            if (f.number == 1) EF_TRY(ef_columns_features(context, f.bytes, &at));
            if (f.number == 2) EF_TRY(ef_columns_lists(lists, f.bytes, &at));
        }
        if (example.bad) return ef_bad_example(&at, &in[row], "sequence example");
        EF_TRY(ef_columns_end(context, false, &at));
        EF_TRY(ef_columns_end(lists, true, &at));
        EF_TRY(ef_interrupt_check(c->context, &pulse));
    }
    return NULL;
}

static ef_status *write_all(const ef_call *c, const layout *l, const ef_columns *context,
                            const ef_columns *lists) {
    const attrs *t = c->attrs;
    const bool single = c->in[SERIALIZED]->rank == 0;
    const ef_column *k = context->item;
    for (int j = 0; j < l->sparse; j++, k++)
        EF_TRY(ef_column_sparse(c, j, l->sparse + j, 2 * l->sparse + j, k, false, single));
    for (int j = 0; j < l->dense; j++, k++)
        EF_TRY(
            ef_column_dense(c, l->at_dense + j, k, &t->context_dense_shapes.at[j], false, single));
    for (int j = 0; j < l->ragged; j++, k++)
        EF_TRY(ef_column_ragged(c, l->at_ragged + j, l->at_ragged + l->ragged + j, -1, k, single));
    k = lists->item;
    int at = l->at_list_sparse, n = l->list_sparse;
    for (int j = 0; j < n; j++, k++)
        EF_TRY(ef_column_sparse(c, at + j, at + n + j, at + 2 * n + j, k, true, single));
    at = l->at_list_dense;
    for (int j = 0; j < l->list_dense; j++, k++) {
        EF_TRY(ef_column_dense(c, at + j, k, &t->feature_list_dense_shapes.at[j], true, single));
        EF_TRY(ef_column_lengths(c, at + l->list_dense + j, k, single));
    }
    at = l->at_list_ragged, n = l->list_ragged;
    for (int j = 0; j < n; j++, k++)
        EF_TRY(ef_column_ragged(c, at + j, at + 2 * n + j, at + n + j, k, single));
    return NULL;
}

static ef_status *parse_run(const ef_call *c) {
    const layout l = layout_of(c->attrs, c->n_in);
    ef_columns context = {0}, lists = {0};
    ef_status *s = ef_columns_make(l.sparse + l.dense + l.ragged, &context);
    if (s == NULL) s = ef_columns_make(l.list_sparse + l.list_dense + l.list_ragged, &lists);
    if (s == NULL) s = set_up(c, &l, &context, &lists);
    if (s == NULL) s = read_all(c, &context, &lists);
    if (s == NULL) s = write_all(c, &l, &context, &lists);
    ef_columns_free(&context);
    ef_columns_free(&lists);
    return s;
}

#define TYPES "list(" EF_FEATURE_TYPES ") >= 0"
#define SPLITS "list({int32, int64}) >= 0"

const ef_op ef_op_ParseSequenceExampleV2 = {
    EF_NAMED(ParseSequenceExampleV2),
    .doc = "Context and feature lists of serialized SequenceExamples (one, or a vector of them): "
           "sparse, dense or ragged.",
    .in = {"serialized: string", "debug_name: string", "context_sparse_keys: string",
           "context_dense_keys: string", "context_ragged_keys: string",
           "feature_list_sparse_keys: string", "feature_list_dense_keys: string",
           "feature_list_ragged_keys: string", "feature_list_dense_missing_assumed_empty: bool",
           "context_dense_defaults: Tcontext_dense"},
    .out = {"context_sparse_indices: Ncontext_sparse * int64",
            "context_sparse_values: context_sparse_types",
            "context_sparse_shapes: Ncontext_sparse * int64",
            "context_dense_values: Tcontext_dense",
            "context_ragged_values: context_ragged_value_types",
            "context_ragged_row_splits: context_ragged_split_types",
            "feature_list_sparse_indices: Nfeature_list_sparse * int64",
            "feature_list_sparse_values: feature_list_sparse_types",
            "feature_list_sparse_shapes: Nfeature_list_sparse * int64",
            "feature_list_dense_values: feature_list_dense_types",
            "feature_list_dense_lengths: Nfeature_list_dense * int64",
            "feature_list_ragged_values: feature_list_ragged_value_types",
            "feature_list_ragged_outer_splits: feature_list_ragged_split_types",
            "feature_list_ragged_inner_splits: feature_list_ragged_split_types"},
    .types = "Tcontext_dense: list(" EF_FEATURE_TYPES ") >= 0",
    .attr = {EF_ATTR(attrs, Ncontext_sparse, "int >= 0", "0"),
             EF_ATTR(attrs, context_sparse_types, TYPES, "[]"),
             EF_ATTR(attrs, context_ragged_value_types, TYPES, "[]"),
             EF_ATTR(attrs, context_ragged_split_types, SPLITS, "[]"),
             EF_ATTR(attrs, context_dense_shapes, "list(shape) >= 0", "[]"),
             EF_ATTR(attrs, Nfeature_list_sparse, "int >= 0", "0"),
             EF_ATTR(attrs, Nfeature_list_dense, "int >= 0", "0"),
             EF_ATTR(attrs, feature_list_dense_types, TYPES, "[]"),
             EF_ATTR(attrs, feature_list_sparse_types, TYPES, "[]"),
             EF_ATTR(attrs, feature_list_ragged_value_types, TYPES, "[]"),
             EF_ATTR(attrs, feature_list_ragged_split_types, SPLITS, "[]"),
             EF_ATTR(attrs, feature_list_dense_shapes, "list(shape) >= 0", "[]")},
    .attr_size = sizeof(attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = parse_shape,
    .kernel = EF_ANY_KERNEL(parse_run),
    .examples = {"string[2]{,} string[0] string[1]{s} string[1]{d} string[0] string[1]{t} "
                 "string[1]{e} string[1]{r} bool[1]{true} int64[]{3} Ncontext_sparse=1 "
                 "context_sparse_types=[float] context_dense_shapes=[[]] Nfeature_list_sparse=1 "
                 "Nfeature_list_dense=1 feature_list_dense_types=[float] "
                 "feature_list_sparse_types=[string] feature_list_ragged_value_types=[int64] "
                 "feature_list_ragged_split_types=[int64] feature_list_dense_shapes=[[2]]"},
};
