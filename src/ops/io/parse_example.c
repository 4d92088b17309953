/* ParseExampleV2 and ParseSingleExample: the features of serialized tf.train.Examples as tensors.
 */
#include "base/interrupt.h"
#include "ops/io/feature.h"

/* ---- shared by both ops ---------------------------------------------------------------------- */

typedef struct plan { /* which columns are which, and the first output of each group */
    ef_columns columns;
    int n_sparse, n_dense, n_ragged;
    const ef_shape *dense_shape;
    bool single;
} plan;

static ef_column *dense_at(const plan *p, int k) { return &p->columns.item[p->n_sparse + k]; }
static ef_column *ragged_at(const plan *p, int k) {
    return &p->columns.item[p->n_sparse + p->n_dense + k];
}

static ef_status *read_examples(const ef_call *c, plan *p, const ef_str *names) {
    const ef_str *in = ef_strs(c->in[0]);
    unsigned pulse = ef_interrupt_counter();
    for (int64_t row = 0, n = ef_count(c->in[0]); row < n; row++) {
        ef_example_at at = {c->op, names != NULL ? &names[row] : NULL, row};
        ef_wire example = ef_wire_from(in[row].at, in[row].n);
        ef_wire_field f;
        ef_columns_begin(&p->columns);
        while (ef_wire_next(&example, &f))
            if (f.number == 1 && f.type == EF_WIRE_BYTES)
                EF_TRY(ef_columns_features(&p->columns, f.bytes, &at));
        if (example.bad) return ef_bad_example(&at, &in[row], "example");
        EF_TRY(ef_columns_end(&p->columns, false, &at));
        EF_TRY(ef_interrupt_check(c->context, &pulse));
    }
    return NULL;
}

static ef_status *write_outputs(const ef_call *c, const plan *p) {
    const int sparse = p->n_sparse, dense = 3 * sparse, ragged = dense + p->n_dense;
    for (int k = 0; k < sparse; k++)
        EF_TRY(ef_column_sparse(c, k, sparse + k, 2 * sparse + k, &p->columns.item[k], false,
                                p->single));
    for (int k = 0; k < p->n_dense; k++)
        EF_TRY(ef_column_dense(c, dense + k, dense_at(p, k), &p->dense_shape[k], false, p->single));
    for (int k = 0; k < p->n_ragged; k++)
        EF_TRY(ef_column_ragged(c, ragged + k, ragged + p->n_ragged + k, -1, ragged_at(p, k),
                                p->single));
    return NULL;
}

/* Shapes of the parts of sparse tensors: indices, values, dense shape. */
static void sparse_shapes(ef_infer *i, int n, int rank) {
    for (int k = 0; k < n; k++) {
        i->out[k].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank}};
        i->out[n + k].shape = ef_shape_of_rank(1);
        i->out[2 * n + k].shape = (ef_shape){.rank = 1, .dim = {rank}};
    }
}

/* ---- ParseExampleV2 -------------------------------------------------------------------------- */

typedef struct v2_attrs {
    int64_t num_sparse;
    ef_types sparse_types, ragged_value_types, ragged_split_types;
    ef_shapes dense_shapes;
} v2_attrs;

static ef_status *v2_shape(ef_infer *i) {
    const v2_attrs *t = i->attrs;
    const int n_dense = i->n_in - 5, sparse = (int)t->num_sparse;
    if (t->sparse_types.n != sparse || t->ragged_value_types.n != t->ragged_split_types.n ||
        t->dense_shapes.n != n_dense)
        return ef_error(EF_INVALID,
                        "%s: num_sparse is %d with %d sparse_types, %d dense_defaults with %d "
                        "dense_shapes, %d ragged_value_types with %d ragged_split_types; each pair "
                        "must be equal",
                        i->op->name, sparse, t->sparse_types.n, n_dense, t->dense_shapes.n,
                        t->ragged_value_types.n, t->ragged_split_types.n);
    EF_TRY(ef_need_rank_at_most(i, 0, 1));
    EF_TRY(ef_need_keys(i, 2, sparse, "sparse"));
    EF_TRY(ef_need_keys(i, 3, n_dense, "dense"));
    EF_TRY(ef_need_keys(i, 4, t->ragged_value_types.n, "ragged"));
    const ef_shape *in = &i->in[0].shape;
    if (in->rank < 0) return NULL;
    bool single = in->rank == 0;
    sparse_shapes(i, sparse, single ? 1 : 2);
    for (int k = 0; k < n_dense; k++)
        i->out[3 * sparse + k].shape =
            ef_dense_feature_shape(&t->dense_shapes.at[k], single, in->dim[0]);
    const int ragged = 3 * sparse + n_dense, n = t->ragged_value_types.n;
    for (int k = 0; k < n; k++) {
        i->out[ragged + k].shape = ef_shape_of_rank(1);
        int64_t splits = single ? 0 : ef_dim_add(in->dim[0], 1);
        i->out[ragged + n + k].shape = (ef_shape){.rank = 1, .dim = {splits}};
    }
    return NULL;
}

static ef_status *v2_run(const ef_call *c) {
    const v2_attrs *t = c->attrs;
    plan p = {.n_sparse = (int)t->num_sparse,
              .n_dense = c->n_in - 5,
              .n_ragged = t->ragged_value_types.n,
              .dense_shape = t->dense_shapes.at,
              .single = c->in[0]->rank == 0};
    const int64_t names = ef_count(c->in[1]);
    if (names > 0 && names != ef_count(c->in[0]))
        return ef_error(EF_INVALID,
                        "%s: %lld names for %lld examples; there must be one each, or none",
                        c->op->name, (long long)names, (long long)ef_count(c->in[0]));
    ef_status *s = ef_columns_make(p.n_sparse + p.n_dense + p.n_ragged, &p.columns);
    if (s != NULL) return s;
    const ef_str *keys = ef_strs(c->in[2]);
    for (int k = 0; k < p.n_sparse; k++)
        ef_column_set(&p.columns.item[k], keys[k].at, keys[k].n, t->sparse_types.at[k]);
    keys = ef_strs(c->in[4]);
    for (int k = 0; k < p.n_ragged; k++)
        ef_column_set(ragged_at(&p, k), keys[k].at, keys[k].n, t->ragged_value_types.at[k]);
    keys = ef_strs(c->in[3]);
    for (int k = 0; k < p.n_dense; k++) {
        ef_column_set(dense_at(&p, k), keys[k].at, keys[k].n, (ef_dtype)c->in[5 + k]->dtype);
        EF_TRY_GOTO(ef_column_set_dense(c->op, dense_at(&p, k), &p.dense_shape[k], c->in[5 + k]));
    }
    EF_TRY_GOTO(ef_columns_index(c->op, &p.columns));
    EF_TRY_GOTO(read_examples(c, &p, names > 0 ? ef_strs(c->in[1]) : NULL));
    s = write_outputs(c, &p);
done:
    ef_columns_free(&p.columns);
    return s;
}

const ef_op ef_op_ParseExampleV2 = {
    EF_NAMED(ParseExampleV2),
    .doc =
        "The features of serialized Examples (one, or a vector of them): sparse, dense or ragged.",
    .in = {"serialized: string", "names: string", "sparse_keys: string", "dense_keys: string",
           "ragged_keys: string", "dense_defaults: Tdense"},
    .out = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
            "sparse_shapes: num_sparse * int64", "dense_values: Tdense",
            "ragged_values: ragged_value_types", "ragged_row_splits: ragged_split_types"},
    .types = "Tdense: list(" EF_FEATURE_TYPES ") >= 0",
    .attr = {EF_ATTR(v2_attrs, num_sparse, "int >= 0", NULL),
             EF_ATTR(v2_attrs, sparse_types, "list(" EF_FEATURE_TYPES ") >= 0", NULL),
             EF_ATTR(v2_attrs, ragged_value_types, "list(" EF_FEATURE_TYPES ") >= 0", NULL),
             EF_ATTR(v2_attrs, ragged_split_types, "list({int32, int64}) >= 0", NULL),
             EF_ATTR(v2_attrs, dense_shapes, "list(shape) >= 0", NULL)},
    .attr_size = sizeof(v2_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = v2_shape,
    .kernel = EF_ANY_KERNEL(v2_run),
    .examples = {"string[2]{,} string[0] string[1]{s} string[1]{d} string[1]{r} float[2]{1,2} "
                 "num_sparse=1 sparse_types=[int64] ragged_value_types=[string] "
                 "ragged_split_types=[int32] dense_shapes=[[2]]",
                 "string[]{} string[0] string[0] string[1]{d} string[0] string[]{x} num_sparse=0 "
                 "sparse_types=[] ragged_value_types=[] ragged_split_types=[] dense_shapes=[[]]"},
};

/* ---- ParseSingleExample ---------------------------------------------------------------------- */

typedef struct single_attrs {
    int64_t num_sparse;
    ef_texts sparse_keys, dense_keys;
    ef_types sparse_types;
    ef_shapes dense_shapes;
} single_attrs;

static ef_status *single_shape(ef_infer *i) {
    const single_attrs *t = i->attrs;
    const int n_dense = i->n_in - 1, sparse = (int)t->num_sparse;
    if (t->sparse_types.n != sparse || t->sparse_keys.n != sparse || t->dense_keys.n != n_dense ||
        t->dense_shapes.n != n_dense)
        return ef_error(EF_INVALID,
                        "%s: num_sparse is %d with %d sparse_types and %d sparse_keys, %d "
                        "dense_defaults with %d dense_shapes and %d dense_keys; each must be equal",
                        i->op->name, sparse, t->sparse_types.n, t->sparse_keys.n, n_dense,
                        t->dense_shapes.n, t->dense_keys.n);
    EF_TRY(ef_need_rank(i, 0, 0));
    sparse_shapes(i, sparse, 1);
    for (int k = 0; k < n_dense; k++)
        i->out[3 * sparse + k].shape = ef_dense_feature_shape(&t->dense_shapes.at[k], true, 0);
    return NULL;
}

static ef_status *single_run(const ef_call *c) {
    const single_attrs *t = c->attrs;
    plan p = {.n_sparse = (int)t->num_sparse,
              .n_dense = c->n_in - 1,
              .dense_shape = t->dense_shapes.at,
              .single = true};
    ef_status *s = ef_columns_make(p.n_sparse + p.n_dense, &p.columns);
    if (s != NULL) return s;
    for (int k = 0; k < p.n_sparse; k++)
        ef_column_set(&p.columns.item[k], t->sparse_keys.at[k].at, t->sparse_keys.at[k].n,
                      t->sparse_types.at[k]);
    for (int k = 0; k < p.n_dense; k++) {
        ef_column_set(dense_at(&p, k), t->dense_keys.at[k].at, t->dense_keys.at[k].n,
                      (ef_dtype)c->in[1 + k]->dtype);
        EF_TRY_GOTO(ef_column_set_dense(c->op, dense_at(&p, k), &p.dense_shape[k], c->in[1 + k]));
    }
    EF_TRY_GOTO(ef_columns_index(c->op, &p.columns));
    EF_TRY_GOTO(read_examples(c, &p, NULL));
    s = write_outputs(c, &p);
done:
    ef_columns_free(&p.columns);
    return s;
}

const ef_op ef_op_ParseSingleExample = {
    EF_NAMED(ParseSingleExample),
    .doc = "The features of one serialized Example: sparse or dense.",
    .in = {"serialized: string", "dense_defaults: Tdense"},
    .out = {"sparse_indices: num_sparse * int64", "sparse_values: sparse_types",
            "sparse_shapes: num_sparse * int64", "dense_values: Tdense"},
    .types = "Tdense: list(" EF_FEATURE_TYPES ") >= 0",
    .attr = {EF_ATTR(single_attrs, num_sparse, "int >= 0", NULL),
             EF_ATTR(single_attrs, sparse_keys, "list(string) >= 0", NULL),
             EF_ATTR(single_attrs, dense_keys, "list(string) >= 0", NULL),
             EF_ATTR(single_attrs, sparse_types, "list(" EF_FEATURE_TYPES ") >= 0", NULL),
             EF_ATTR(single_attrs, dense_shapes, "list(shape) >= 0", NULL)},
    .attr_size = sizeof(single_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = single_shape,
    .kernel = EF_ANY_KERNEL(single_run),
    .examples = {"string[]{} float[2]{1,2} num_sparse=1 sparse_keys=['s'] dense_keys=['d'] "
                 "sparse_types=[string] dense_shapes=[[2]]"},
};
