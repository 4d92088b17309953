/* Features of serialized examples, gathered column by column: what the parse_example family shares.
 *
 * A column holds the values of one key over all examples, one behind the other, and how many there
 * are: `inner` counts the values of each feature, `outer` the features of each example (one, unless
 * the column is one of feature lists). Fixed sizes, padding, sparse indices and row splits are all
 * made from that. */
#ifndef EF_OPS_FEATURE_H
#define EF_OPS_FEATURE_H
#include "file/wire.h"
#include "ops/string/strings.h"

typedef struct ef_counts {
    int64_t *at;
    size_t n, cap;
    int64_t sum, most;
} ef_counts;

typedef struct ef_column {
    const char *key;
    size_t n_key;
    ef_dtype dtype;            /* float32, int64 or string; of strings, an ef_str into the input */
    bool optional;             /* of feature lists: may be missing */
    const ef_tensor *fallback; /* dense: for examples without it, or NULL */
    int64_t size;              /* dense: values of each feature; or -1: any multiple of `step` */
    int64_t step;
    unsigned char *value;
    size_t bytes, cap;
    ef_counts inner, outer;
    size_t mark_bytes; /* what there was when the present example began */
    ef_counts mark_inner, mark_outer;
    bool seen; /* the present example has it */
} ef_column;

typedef struct ef_columns {
    ef_column *item;
    int n;
    int *slot; /* hash of key -> item, or -1 */
    unsigned slots;
} ef_columns;

/* n zeroed columns; the caller sets key and what else is known, then calls ef_columns_index. */
ef_status *ef_columns_make(int n, ef_columns *out);
ef_status *ef_columns_index(const ef_op *op, ef_columns *c);
void ef_columns_free(ef_columns *c);

#define EF_FEATURE_TYPES "{float, int64, string}"
void ef_column_set(ef_column *k, const char *key, size_t n, ef_dtype dtype);
/* A dense one: how many values each feature has follows from `shape`, whose first size may be
 * unknown. fallback: as long as that, one element to pad with, or empty. */
ef_status *ef_column_set_dense(const ef_op *op, ef_column *k, const ef_shape *shape,
                               const ef_tensor *fallback);
/* For shape functions: of a dense output; and that input k has n keys. */
ef_shape ef_dense_feature_shape(const ef_shape *element, bool single, int64_t batch);
ef_status *ef_need_keys(const ef_infer *i, int k, int n, const char *what);

/* Where an example is, for messages. */
typedef struct ef_example_at {
    const ef_op *op;
    const ef_str *name; /* or NULL */
    int64_t index;
} ef_example_at;

/* The values of one example: features is a message Features, lists a message FeatureLists. May be
 * called several times for an example, between begin and end. */
void ef_columns_begin(ef_columns *c);
ef_status *ef_columns_features(ef_columns *c, ef_wire features, const ef_example_at *at);
ef_status *ef_columns_lists(ef_columns *c, ef_wire lists, const ef_example_at *at);
/* What the example does not have: the fallback, nothing, or an error. */
ef_status *ef_columns_end(ef_columns *c, bool lists, const ef_example_at *at);
ef_status *ef_bad_example(const ef_example_at *at, const ef_str *serialized, const char *what);

/* Outputs. `nested`: the column is one of feature lists; `single`: of one example, whose axis is
 * left out. */
ef_status *ef_column_sparse(const ef_call *c, int indices, int values, int shape,
                            const ef_column *k, bool nested, bool single);
/* splits[0] of the values in each feature, splits[1] (nested) of the features in each example. */
ef_status *ef_column_ragged(const ef_call *c, int values, int inner, int outer, const ef_column *k,
                            bool single);
/* element: the shape of a feature; its first size is -1 where it varies. */
ef_status *ef_column_dense(const ef_call *c, int values, const ef_column *k,
                           const ef_shape *element, bool nested, bool single);
ef_status *ef_column_lengths(const ef_call *c, int out, const ef_column *k, bool single);
#endif
