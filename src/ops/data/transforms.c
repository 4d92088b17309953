/* Datasets that rearrange the elements of others. */
#include "ops/array/array.h"
#include "ops/data/dataset.h"
#include "ops/shapes.h"

#define SOURCE "input_dataset: variant"
#define BOOL(NAME, VALUE) EF_ATTR(ef_dataset_attrs, NAME, "bool", VALUE)
#define RUN(KIND, KERNEL) \
    EF_DATASET_RECORD(KIND), .shape = ef_dataset_infer, .kernel = EF_ANY_KERNEL(KERNEL)
#define RANGE_OF_5 "dataset(5) "
#define NUMBERS " output_types=[int64] output_shapes=[[]]"

static int64_t number(const ef_call *c, int k) {
    return ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, 0);
}

/* ---- batches ------------------------------------------------------------------------------------
 */

static ef_status *batch_run(const ef_call *c) {
    if (number(c, 1) > 0) return ef_dataset_run(c);
    return ef_error(EF_INVALID, "%s: batch_size is %lld; Batch size must be greater than zero.",
                    c->op->name, (long long)number(c, 1));
}

const ef_op ef_op_BatchDatasetV2 = {
    EF_NAMED(BatchDatasetV2),
    .doc = "Stacks `batch_size` elements into one; the last batch may have fewer, or is dropped.",
    .in = {SOURCE, "batch_size: int64", "drop_remainder: bool"},
    .out = {"handle: variant"},
    .attr = {BOOL(parallel_copy, "false"), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(batch, batch_run),
    .examples = {RANGE_OF_5 "int64[]{2} bool[]{0} output_types=[int64] output_shapes=[[-1]]"},
};

const ef_op ef_op_ParallelBatchDataset = {
    EF_NAMED(ParallelBatchDataset),
    .doc = "Like BatchDatasetV2, with several batches made in parallel.",
    .in = {SOURCE, "batch_size: int64", "num_parallel_calls: int64", "drop_remainder: bool"},
    .out = {"handle: variant"},
    .attr = {BOOL(parallel_copy, "false"), EF_DATASET_OUTPUTS, EF_DATASET_ORDER, EF_DATASET_NOTE},
    RUN(batch, batch_run),
    .examples = {RANGE_OF_5
                 "int64[]{2} int64[]{1} bool[]{0} output_types=[int64] output_shapes=[[-1]]"},
};

static ef_status *padded_infer(ef_infer *i) { return ef_shape_scalar(i); }

const ef_op ef_op_PaddedBatchDatasetV2 = {
    EF_NAMED(PaddedBatchDatasetV2),
    .doc = "Like BatchDatasetV2 for elements of different sizes, which are padded to "
           "`padded_shapes`, or to the largest of the batch where these are -1.",
    .in = {SOURCE, "batch_size: int64", "padded_shapes: N * int64", "padding_values: Toutput_types",
           "drop_remainder: bool"},
    .out = {"handle: variant"},
    .types = "N: int >= 1",
    .attr = {BOOL(parallel_copy, "false"),
             EF_ATTR(ef_dataset_attrs, Toutput_types, "list(type) >= 1", NULL),
             EF_ATTR(ef_dataset_attrs, output_shapes, "list(shape) >= 1", NULL), EF_DATASET_NOTE},
    EF_DATASET_RECORD(padded_batch),
    .shape = padded_infer,
    .kernel = EF_ANY_KERNEL(batch_run),
    .examples = {"dataset(5) int64[]{2} int64[0]{} int64[]{7} bool[]{0} Toutput_types=[int64] "
                 "output_shapes=[[-1]]"},
};

const ef_op ef_op_UnbatchDataset = {
    EF_NAMED(UnbatchDataset),
    .doc = "The rows of the elements, one after the other.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(unbatch, ef_dataset_run),
    .examples = {RANGE_OF_5 NUMBERS},
};

static ef_status *rebatch_infer(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank_at_most(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 0));
    return ef_shape_scalar(i);
}

static ef_status *rebatch_run(const ef_call *c) {
    int64_t n = ef_count(c->in[1]);
    const int64_t *size = c->in[1]->data;
    for (int64_t k = 0; k < n; k++)
        if (size[k] <= 0)
            return ef_error(EF_INVALID,
                            "%s: batch_sizes[%lld] is %lld; batch sizes must be greater than zero",
                            c->op->name, (long long)k, (long long)size[k]);
    if (n == 0)
        return ef_error(EF_INVALID, "%s: batch_sizes is empty; give at least one", c->op->name);
    return ef_dataset_run(c);
}

const ef_op ef_op_RebatchDatasetV2 = {
    EF_NAMED(RebatchDatasetV2),
    .doc = "Splits and regroups batches: their rows form batches of `batch_sizes`, cyclically.",
    .in = {SOURCE, "batch_sizes: int64", "drop_remainder: bool"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    EF_DATASET_RECORD(rebatch),
    .shape = rebatch_infer,
    .kernel = EF_ANY_KERNEL(rebatch_run),
    .examples = {RANGE_OF_5 "int64[1]{2} bool[]{0}" NUMBERS},
};

static ef_status *window_run(const ef_call *c) {
    static const char *const name[] = {"", "size", "shift", "stride"};
    for (int k = 1; k <= 3; k++)
        if (number(c, k) <= 0)
            return ef_error(EF_INVALID, "%s: Window %s must be greater than zero.", c->op->name,
                            name[k]);
    return ef_dataset_run(c);
}

const ef_op ef_op_WindowDataset = {
    EF_NAMED(WindowDataset),
    .doc = "Datasets of `size` elements each, `stride` apart; the first elements of two of them "
           "are `shift` apart.",
    .in = {SOURCE, "size: int64", "shift: int64", "stride: int64", "drop_remainder: bool"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(window, window_run),
    .examples = {RANGE_OF_5 "int64[]{2} int64[]{1} int64[]{1} bool[]{0} output_types=[variant] "
                            "output_shapes=[[]]"},
};

/* ---- order -------------------------------------------------------------------------------------
 */

static ef_status *shuffle_run(const ef_call *c) {
    int64_t n = number(c, 1);
    if (n > 0 || n == -1 || n == -2) return ef_dataset_run(c);
    return ef_error(EF_INVALID, "%s: buffer_size is %lld; buffer_size must be greater than zero.",
                    c->op->name, (long long)n);
}

const ef_op ef_op_ShuffleDatasetV3 = {
    EF_NAMED(ShuffleDatasetV3),
    .doc = "The elements in random order: each is drawn from a buffer of the next `buffer_size`.",
    .in = {SOURCE, "buffer_size: int64", "seed: int64", "seed2: int64", "seed_generator: resource"},
    .out = {"handle: variant"},
    .attr = {BOOL(reshuffle_each_iteration, "true"), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(shuffle, shuffle_run),
    .examples = {RANGE_OF_5 "int64[]{3} int64[]{1} int64[]{2} echo()" NUMBERS},
};

const ef_op ef_op_ShuffleAndRepeatDatasetV2 = {
    EF_NAMED(ShuffleAndRepeatDatasetV2),
    .doc = "Repeats the elements `count` times, each time in another random order.",
    .in = {SOURCE, "buffer_size: int64", "seed: int64", "seed2: int64", "count: int64",
           "seed_generator: resource"},
    .out = {"handle: variant"},
    .attr = {BOOL(reshuffle_each_iteration, "true"), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(shuffle, shuffle_run),
    .examples = {RANGE_OF_5 "int64[]{3} int64[]{1} int64[]{2} int64[]{2} echo()" NUMBERS},
};

#define COUNTED(NAME, KIND, TEXT)                      \
    const ef_op ef_op_##NAME = {                       \
        EF_NAMED(NAME),                                \
        .doc = TEXT,                                   \
        .in = {SOURCE, "count: int64"},                \
        .out = {"handle: variant"},                    \
        .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE}, \
        RUN(KIND, ef_dataset_run),                     \
        .examples = {RANGE_OF_5 "int64[]{3}" NUMBERS}, \
    };
COUNTED(RepeatDataset, repeat, "Repeats the elements `count` times; infinitely if it is negative.")
COUNTED(TakeDataset, take, "The first `count` elements; all if it is -1.")
COUNTED(SkipDataset, skip, "All elements but the first `count`; none if it is -1.")

static ef_status *shard_run(const ef_call *c) {
    int64_t n = number(c, 1), k = number(c, 2);
    if (n < 1)
        return ef_error(EF_INVALID,
                        "%s: num_shards is %lld; Number of shards must be greater than zero",
                        c->op->name, (long long)n);
    if (k < 0 || k >= n)
        return ef_error(EF_INVALID,
                        "%s: index is %lld; Index must be between 0 and %lld, the last shard",
                        c->op->name, (long long)k, (long long)(n - 1));
    return ef_dataset_run(c);
}

const ef_op ef_op_ShardDataset = {
    EF_NAMED(ShardDataset),
    .doc = "The elements whose index modulo `num_shards` is `index`.",
    .in = {SOURCE, "num_shards: int64", "index: int64"},
    .out = {"handle: variant"},
    .attr = {BOOL(require_non_empty, "false"), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(shard, shard_run),
    .examples = {RANGE_OF_5 "int64[]{2} int64[]{1}" NUMBERS},
};

const ef_op ef_op_ConcatenateDataset = {
    EF_NAMED(ConcatenateDataset),
    .doc = "The elements of one dataset, then those of another.",
    .in = {SOURCE, "another_dataset: variant"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(concatenate, ef_dataset_run),
    .examples = {RANGE_OF_5 "dataset(2)" NUMBERS},
};

const ef_op ef_op_ZipDataset = {
    EF_NAMED(ZipDataset),
    .doc = "Zips datasets: an element combines one of each, until the shortest ends.",
    .in = {"input_datasets: N * variant"},
    .out = {"handle: variant"},
    .types = "N: int >= 1",
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(zip, ef_dataset_run),
    .examples = {RANGE_OF_5 "dataset(2) output_types=[int64,int64] output_shapes=[[],[]]"},
};

const ef_op ef_op_DirectedInterleaveDataset = {
    EF_NAMED(DirectedInterleaveDataset),
    .doc = "Elements of several datasets; a dataset of indices selects where each comes from.",
    .in = {"selector_input_dataset: variant", "data_input_datasets: N * variant"},
    .out = {"handle: variant"},
    .types = "N: int >= 1",
    .attr = {EF_DATASET_OUTPUTS, BOOL(stop_on_empty_dataset, "false")},
    RUN(directed, ef_dataset_run),
    .examples = {RANGE_OF_5 "dataset(2) dataset(3)" NUMBERS},
};

const ef_op ef_op_UniqueDataset = {
    EF_NAMED(UniqueDataset),
    .doc = "The distinct elements, in the order of their first occurrence.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(unique, ef_dataset_run),
    .examples = {RANGE_OF_5 NUMBERS},
};

/* ---- buffers -----------------------------------------------------------------------------------
 */

const ef_op ef_op_CacheDatasetV2 = {
    EF_NAMED(CacheDatasetV2),
    .doc = "The same elements, computed once and cached in memory or in the file `filename`.",
    .in = {SOURCE, "filename: string", "cache: resource"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(cache, ef_dataset_run),
    .examples = {RANGE_OF_5 "string[]{} echo()" NUMBERS},
};

static ef_status *prefetch_run(const ef_call *c) {
    int64_t n = number(c, 1);
    if (n >= -1) return ef_dataset_run(c);
    return ef_error(EF_INVALID,
                    "%s: buffer_size is %lld; buffer_size must be >= 0 or set buffer_size to be "
                    "-1 for auto-tuning",
                    c->op->name, (long long)n);
}

const ef_op ef_op_PrefetchDataset = {
    EF_NAMED(PrefetchDataset),
    .doc = "The same elements; a thread computes up to `buffer_size` of them ahead.",
    .in = {SOURCE, "buffer_size: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_ATTR(ef_dataset_attrs, slack_period, "int", "0"),
             BOOL(legacy_autotune, "true"), EF_ATTR(ef_dataset_attrs, buffer_size_min, "int", "0"),
             EF_DATASET_NOTE},
    RUN(prefetch, prefetch_run),
    .examples = {RANGE_OF_5 "int64[]{1}" NUMBERS},
};

/* ---- datasets that pass elements through ----------------------------------------------------- */

const ef_op ef_op_OptionsDataset = {
    EF_NAMED(OptionsDataset),
    .doc = "The same elements, with options for the pipeline.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {EF_ATTR(ef_dataset_attrs, serialized_options, "string", NULL), EF_DATASET_OUTPUTS,
             EF_DATASET_NOTE},
    RUN(same, ef_dataset_run),
    .examples = {RANGE_OF_5 "serialized_options=''" NUMBERS},
};

const ef_op ef_op_AssertCardinalityDataset = {
    EF_NAMED(AssertCardinalityDataset),
    .doc = "The same elements; fails if their number is not `cardinality`.",
    .in = {SOURCE, "cardinality: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    RUN(counted, ef_dataset_run),
    .examples = {RANGE_OF_5 "int64[]{5}" NUMBERS},
};

const ef_op ef_op_IgnoreErrorsDataset = {
    EF_NAMED(IgnoreErrorsDataset),
    .doc = "The same elements without those whose computation fails.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, BOOL(log_warning, "false")},
    RUN(ignore_errors, ef_dataset_run),
    .examples = {RANGE_OF_5 NUMBERS},
};
