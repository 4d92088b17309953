/* Features of serialized examples, collected column by column; shared by the parse_example family.
 *
 * A column holds the values of one key over all examples, concatenated, and two kinds of counts:
 * `inner` counts the values of each feature, `outer` the features of each example (one, unless the
 * column is one of feature lists). Fixed sizes, padding, sparse indices and row splits are all
 * derived from these. */
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
    ef_dtype dtype; /* float32, int64 or string; a string is an ef_str that points into the input */
    bool optional;  /* for feature lists: may be missing */
    const ef_tensor *fallback; /* dense: the value for examples without the feature, or NULL */
    int64_t size; /* dense: number of values of each feature; -1: any multiple of `step` */
    int64_t step;
    unsigned char *value;
    size_t bytes, cap;
    ef_counts inner, outer;
    size_t mark_bytes; /* the sizes when the current example began */
    ef_counts mark_inner, mark_outer;
    bool seen; /* the current example has it */
} ef_column;

typedef struct ef_columns {
    ef_column *item;
    int n;
    int *slot; /* hash of key -> item, or -1 */
    unsigned slots;
} ef_columns;

/* Makes n zeroed columns; the caller sets the key and the other known fields, then calls
 * ef_columns_index. */
ef_status *ef_columns_make(int n, ef_columns *out);
ef_status *ef_columns_index(const ef_op *op, ef_columns *c);
void ef_columns_free(ef_columns *c);

#define EF_FEATURE_TYPES "{float, int64, string}"
void ef_column_set(ef_column *k, const char *key, size_t n, ef_dtype dtype);
/* Makes k a dense column: `shape`, whose first size may be unknown, determines the number of values
 * of each feature. fallback: that many values, one value to pad with, or empty. */
ef_status *ef_column_set_dense(const ef_op *op, ef_column *k, const ef_shape *shape,
                               const ef_tensor *fallback);
/* For shape functions: the shape of a dense output; and the check that input k has n keys. */
ef_shape ef_dense_feature_shape(const ef_shape *element, bool single, int64_t batch);
ef_status *ef_need_keys(const ef_infer *i, int k, int n, const char *what);

/* The example that a message refers to. */
typedef struct ef_example_at {
    const ef_op *op;
    const ef_str *name; /* or NULL */
    int64_t index;
} ef_example_at;

/* Appends the values of one example: features is a Features message, lists a FeatureLists message.
 * May be called several times for an example, between begin and end. */
void ef_columns_begin(ef_columns *c);
ef_status *ef_columns_features(ef_columns *c, ef_wire features, const ef_example_at *at);
ef_status *ef_columns_lists(ef_columns *c, ef_wire lists, const ef_example_at *at);
/* Handles what the example lacks: uses the fallback, appends nothing, or fails. */
ef_status *ef_columns_end(ef_columns *c, bool lists, const ef_example_at *at);
ef_status *ef_bad_example(const ef_example_at *at, const ef_str *serialized, const char *what);

/* Outputs. `nested`: the column is one of feature lists; `single`: there is one example, whose axis
 * is left out. */
ef_status *ef_column_sparse(const ef_call *c, int indices, int values, int shape,
                            const ef_column *k, bool nested, bool single);
/* inner: row splits of the values in each feature; outer (nested): of the features in each
 * example. */
ef_status *ef_column_ragged(const ef_call *c, int values, int inner, int outer, const ef_column *k,
                            bool single);
/* element: the shape of a feature; its first size is -1 if it varies. */
ef_status *ef_column_dense(const ef_call *c, int values, const ef_column *k,
                           const ef_shape *element, bool nested, bool single);
ef_status *ef_column_lengths(const ef_call *c, int out, const ef_column *k, bool single);
#endif
