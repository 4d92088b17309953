/* Datasets that read files. */
#include "file/input.h"
#include "ops/array/array.h"
#include "ops/data/dataset.h"
#include "ops/shapes.h"
#include "ops/string/strings.h"

#define NAMES "filenames: string", "compression_type: string", "buffer_size: int64"
#define RUN(KIND, KERNEL) \
    EF_DATASET_RECORD(KIND), .shape = files_infer, .kernel = EF_ANY_KERNEL(KERNEL)

static int64_t number(const ef_call *c, int k) { return *(const int64_t *)c->in[k]->data; }

/* File names, offsets and columns are vectors or scalars; all other arguments are scalars. */
static bool is_list(const char *name) {
    static const char *const lists[] = {"filenames",   "patterns",     "byte_offsets",
                                        "select_cols", "exclude_cols", "record_defaults"};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (strcmp(lists[k], name) == 0) return true;
    return false;
}

static ef_status *files_infer(ef_infer *i) {
    const ef_signature *s = ef_op_signature(i->op);
    ef_arity r;
    int at = 0;
    EF_TRY(ef_op_arity(i->op, i->attrs, i->n_in, &r));
    for (int k = 0; k < s->n_in; at += r.in[k++])
        for (int j = 0; j < r.in[k]; j++)
            EF_TRY(is_list(s->in[k].name) ? ef_need_rank_at_most(i, at + j, 1)
                                          : ef_need_rank(i, at + j, 0));
    return ef_shape_scalar(i);
}

/* Checks the arguments compression_type and buffer_size of an op that reads files. */
static ef_status *check_reading(const ef_call *c, int compression, int buffer) {
    const ef_str *how = ef_strs(c->in[compression]);
    ef_compression unused;
    EF_TRY(ef_compression_named(how->at, how->n, &unused));
    if (number(c, buffer) >= 0) return NULL;
    return ef_error(EF_INVALID, "%s: buffer_size is %lld; it must be >= 0 (0 == default)",
                    c->op->name, (long long)number(c, buffer));
}

static ef_status *names_run(const ef_call *c) {
    EF_TRY(check_reading(c, 1, 2));
    return ef_dataset_run(c);
}

const ef_op ef_op_TextLineDataset = {
    EF_NAMED(TextLineDataset),
    .doc = "The lines of text files, without the characters that end them.",
    .in = {NAMES},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_NOTE},
    RUN(lines, names_run),
    .examples = {"string[1]{/dev/null} string[]{} int64[]{0}"},
};

const ef_op ef_op_TFRecordDataset = {
    EF_NAMED(TFRecordDataset),
    .doc = "The records of TFRecord files.",
    .in = {NAMES},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_NOTE},
    RUN(records, names_run),
    .examples = {"string[1]{/dev/null} string[]{} int64[]{0}"},
};

static ef_status *records_run(const ef_call *c) {
    int64_t n = ef_count(c->in[3]);
    if (n != 0 && n != ef_count(c->in[0]))
        return ef_error(EF_INVALID,
                        "%s: %lld byte_offsets for %lld filenames; give one for each, or none",
                        c->op->name, (long long)n, (long long)ef_count(c->in[0]));
    for (int64_t k = 0; k < n; k++)
        if (((const int64_t *)c->in[3]->data)[k] < 0)
            return ef_error(EF_INVALID, "%s: byte_offsets[%lld] is negative", c->op->name,
                            (long long)k);
    return names_run(c);
}

const ef_op ef_op_TFRecordDatasetV2 = {
    EF_NAMED(TFRecordDatasetV2),
    .doc = "The records of TFRecord files; each file is read from its byte offset, if offsets are "
           "given.",
    .in = {NAMES, "byte_offsets: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_NOTE},
    RUN(records, records_run),
    .examples = {"string[1]{/dev/null} string[]{} int64[]{0} int64[0]"},
};

static ef_status *check_fixed(const ef_call *c) {
    static const char *const name[] = {"", "header_bytes", "record_bytes", "footer_bytes"};
    for (int k = 1; k <= 3; k++)
        if (number(c, k) < (k == 2))
            return ef_error(EF_INVALID, "%s: %s is %lld; it must be %s", c->op->name, name[k],
                            (long long)number(c, k), k == 2 ? "> 0" : ">= 0");
    if (number(c, 4) < 0)
        return ef_error(EF_INVALID, "%s: buffer_size is %lld; it must be >= 0 (0 == default)",
                        c->op->name, (long long)number(c, 4));
    return NULL;
}

static ef_status *fixed_run(const ef_call *c) {
    EF_TRY(check_fixed(c));
    if (c->n_in > 5) EF_TRY(check_reading(c, 5, 4));
    return ef_dataset_run(c);
}

#define FIXED                                                          \
    "filenames: string", "header_bytes: int64", "record_bytes: int64", \
        "footer_bytes: "                                               \
        "int64",                                                       \
        "buffer_size: int64"

const ef_op ef_op_FixedLengthRecordDataset = {
    EF_NAMED(FixedLengthRecordDataset),
    .doc = "The records of files whose records all have the same length.",
    .in = {FIXED},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_NOTE},
    RUN(fixed, fixed_run),
    .examples = {"string[1]{/dev/null} int64[]{0} int64[]{4} int64[]{0} int64[]{0}"},
};

const ef_op ef_op_FixedLengthRecordDatasetV2 = {
    EF_NAMED(FixedLengthRecordDatasetV2),
    .doc = "Like FixedLengthRecordDataset, and also for compressed files.",
    .in = {FIXED, "compression_type: string"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_NOTE},
    RUN(fixed, fixed_run),
    .examples = {"string[1]{/dev/null} int64[]{0} int64[]{4} int64[]{0} int64[]{0} string[]{}"},
};

#define MATCHING(NAME)                                                              \
    const ef_op ef_op_##NAME = {                                                    \
        EF_NAMED(NAME),                                                             \
        .doc = "The sorted names of the files that match one of several patterns.", \
        .in = {"patterns: string"},                                                 \
        .out = {"handle: variant"},                                                 \
        RUN(matching_files, ef_dataset_run),                                        \
        .examples = {"string[1]{/dev/nul?}"},                                       \
    };
MATCHING(MatchingFilesDataset)
MATCHING(ExperimentalMatchingFilesDataset)

/* ---- CSV ---------------------------------------------------------------------------------------
 */

static ef_status *check_columns(const ef_call *c, int k, const char *name) {
    const int64_t *at = c->in[k]->data, n = ef_count(c->in[k]);
    for (int64_t j = 0; j < n; j++)
        if (at[j] < 0 || (j > 0 && at[j] <= at[j - 1]))
            return ef_error(EF_INVALID,
                            "%s: %s should contain strictly increasing indices from 0 on",
                            c->op->name, name);
    return NULL;
}

static ef_status *csv_run(const ef_call *c) {
    const ef_dataset_attrs *a = c->attrs;
    int n = a->output_types.n, columns = 8 + n;
    const int64_t selected = ef_count(c->in[7]);
    EF_TRY(check_reading(c, 1, 2));
    if (ef_strs(c->in[4])->n != 1)
        return ef_error(EF_INVALID, "%s: field_delim should be only 1 char", c->op->name);
    if (a->output_shapes.n != n)
        return ef_error(EF_INVALID, "%s: has %d output_types and %d output_shapes", c->op->name, n,
                        a->output_shapes.n);
    for (int k = 0; k < n; k++)
        if (ef_count(c->in[8 + k]) > 1)
            return ef_error(EF_INVALID,
                            "%s: Each record default should be at most a single value; that of "
                            "field %d has %lld",
                            c->op->name, k, (long long)ef_count(c->in[8 + k]));
    if (selected > 0 && selected != n)
        return ef_error(EF_INVALID,
                        "%s: select_cols (%lld) and record_defaults (%d) must have equal lengths",
                        c->op->name, (long long)selected, n);
    EF_TRY(check_columns(c, 7, "select_cols"));
    if (columns < c->n_in) {
        EF_TRY(check_columns(c, columns, "exclude_cols"));
        if (selected > 0 && ef_count(c->in[columns]) > 0)
            return ef_error(EF_INVALID, "%s: Either select_cols or exclude_cols should be empty",
                            c->op->name);
    }
    return ef_dataset_run(c);
}

#define CSV                                                                \
    NAMES, "header: bool", "field_delim: string", "use_quote_delim: bool", \
        "na_value: "                                                       \
        "string",                                                          \
        "select_cols: int64", "record_defaults: output_types"
#define CSV_EXAMPLE                                                                     \
    "string[1]{/dev/null} string[]{} int64[]{0} bool[]{0} string[]{;} bool[]{1} string" \
    "[]{} int64[0] float[0]"

const ef_op ef_op_CSVDataset = {
    EF_NAMED(CSVDataset),
    .doc = "The records of files of comma-separated values; an element has a scalar per column.",
    .in = {CSV},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    RUN(csv, csv_run),
    .examples = {CSV_EXAMPLE " output_types=[float] output_shapes=[[]]"},
};

const ef_op ef_op_CSVDatasetV2 = {
    EF_NAMED(CSVDatasetV2),
    .doc = "Like CSVDataset; `exclude_cols` lists columns to leave out.",
    .in = {CSV, "exclude_cols: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    RUN(csv, csv_run),
    .examples = {CSV_EXAMPLE " int64[0] output_types=[float] output_shapes=[[]]"},
};
