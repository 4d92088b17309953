/* Dataset ops under the names that graphs of earlier TensorFlow versions use. */
#include "ops/array/array.h"
#include "ops/data/dataset.h"
#include "ops/shapes.h"

#define SOURCE "input_dataset: variant"
#define BOOL(NAME, VALUE) EF_ATTR(ef_dataset_attrs, NAME, "bool", VALUE)
#define NUMBER(NAME) EF_ATTR(ef_dataset_attrs, NAME, "int", "0")
#define RUN(KIND, KERNEL) \
    EF_DATASET_RECORD(KIND), .shape = ef_dataset_infer, .kernel = EF_ANY_KERNEL(KERNEL)
#define NUMBERS " output_types=[int64] output_shapes=[[]]"

static int64_t number(const ef_call *c, int k) {
    return ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, 0);
}

static ef_status *need_positive(const ef_call *c, int k, const char *name) {
    if (number(c, k) > 0) return NULL;
    return ef_error(EF_INVALID, "%s: %s is %lld; %s must be greater than zero.", c->op->name, name,
                    (long long)number(c, k), name);
}

static ef_status *batch_run(const ef_call *c) {
    EF_TRY(need_positive(c, 1, "batch_size"));
    return ef_dataset_run(c);
}

const ef_op ef_op_BatchDataset = {
    EF_NAMED(BatchDataset),
    .doc = "Stacks `batch_size` elements into one; the last batch may have fewer.",
    .in = {SOURCE, "batch_size: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(batch, batch_run),
    .examples = {"dataset(5) int64[]{2} output_types=[int64] output_shapes=[[-1]]"},
};

const ef_op ef_op_RandomDataset = {
    EF_NAMED(RandomDataset),
    .doc = "An infinite sequence of random 32-bit integers; equal seeds give equal sequences.",
    .in = {"seed: int64", "seed2: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(random, ef_dataset_run),
    .examples = {"int64[]{1} int64[]{2} output_types=[int64] output_shapes=[[]]"},
};

const ef_op ef_op_ParallelMapDataset = {
    EF_NAMED(ParallelMapDataset),
    .doc = "Applies `f` to every element, several in parallel.",
    .in = {SOURCE, "other_arguments: Targuments", "num_parallel_calls: int32"},
    .out = {"handle: variant"},
    .types = "Targuments: list(type) >= 0",
    .attr = {EF_ATTR(ef_dataset_attrs, f, "func", NULL), EF_DATASET_OUTPUTS,
             BOOL(use_inter_op_parallelism, "true"), BOOL(sloppy, "false"),
             BOOL(preserve_cardinality, "false"), EF_DATASET_NOTE},
    RUN(map, ef_dataset_run),
};

static ef_status *interleave_run(const ef_call *c) {
    EF_TRY(need_positive(c, c->n_in - 3, "cycle_length"));
    EF_TRY(need_positive(c, c->n_in - 2, "block_length"));
    return ef_dataset_run(c);
}

#define INTERLEAVE(NAME, ORDER)                                                               \
    const ef_op ef_op_##NAME = {                                                              \
        EF_NAMED(NAME),                                                                       \
        .doc = "Interleaves the datasets that `f` makes: `block_length` elements of each of " \
               "`cycle_length` in turn.",                                                     \
        .in = {SOURCE, "other_arguments: Targuments", "cycle_length: int64",                  \
               "block_length: int64", "num_parallel_calls: int64"},                           \
        .out = {"handle: variant"},                                                           \
        .types = "Targuments: list(type) >= 0",                                               \
        .attr = {EF_ATTR(ef_dataset_attrs, f, "func", NULL), ORDER, EF_DATASET_OUTPUTS,       \
                 EF_DATASET_NOTE},                                                            \
        RUN(interleave, interleave_run),                                                      \
    };
INTERLEAVE(ParallelInterleaveDatasetV2, BOOL(sloppy, "false"))
INTERLEAVE(ParallelInterleaveDatasetV3, EF_DATASET_ORDER)

/* ---- datasets that pass elements through ----------------------------------------------------- */

const ef_op ef_op_MaxIntraOpParallelismDataset = {
    EF_NAMED(MaxIntraOpParallelismDataset),
    .doc = "The same elements; the number is a hint, which this engine ignores.",
    .in = {SOURCE, "max_intra_op_parallelism: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    RUN(same, ef_dataset_run),
    .examples = {"dataset(5) int64[]{1}" NUMBERS},
};

const ef_op ef_op_PrivateThreadPoolDataset = {
    EF_NAMED(PrivateThreadPoolDataset),
    .doc = "The same elements; the number is a hint, which this engine ignores.",
    .in = {SOURCE, "num_threads: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    RUN(same, ef_dataset_run),
    .examples = {"dataset(5) int64[]{1}" NUMBERS},
};

const ef_op ef_op_ModelDataset = {
    EF_NAMED(ModelDataset),
    .doc = "The same elements; here all pipelines tune themselves.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {NUMBER(algorithm), NUMBER(cpu_budget), NUMBER(ram_budget), EF_DATASET_OUTPUTS},
    RUN(same, ef_dataset_run),
    .examples = {"dataset(5)" NUMBERS},
};

const ef_op ef_op_FinalizeDataset = {
    EF_NAMED(FinalizeDataset),
    .doc = "The same elements.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    .attr = {BOOL(has_captured_ref, "false"), EF_DATASET_OUTPUTS},
    RUN(same, ef_dataset_run),
    .examples = {"dataset(5)" NUMBERS},
};
