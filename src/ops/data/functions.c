/* Datasets that call a function for each element of another dataset. */
#include "ops/array/array.h"
#include "ops/data/dataset.h"

#define ARGUMENTS .types = "Targuments: list(type) >= 0"
#define SOURCE "input_dataset: variant", "other_arguments: Targuments"
#define FUNCTION EF_ATTR(ef_dataset_attrs, f, "func", NULL)
#define PREDICATE EF_ATTR(ef_dataset_attrs, predicate, "func", NULL)
#define BOOL(NAME, VALUE) EF_ATTR(ef_dataset_attrs, NAME, "bool", VALUE)
#define RUN(KIND, KERNEL) \
    EF_DATASET_RECORD(KIND), .shape = ef_dataset_infer, .kernel = EF_ANY_KERNEL(KERNEL)

/* -1: the pipeline chooses the number. */
static ef_status *positive(const ef_call *c, int k, const char *name, bool autotune) {
    int64_t n = ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, 0);
    if (n > 0 || (autotune && n == -1)) return NULL;
    return ef_error(EF_INVALID, "%s: %s is %lld; %s must be greater than zero%s.", c->op->name,
                    name, (long long)n, name, autotune ? ", or -1 (AUTOTUNE)" : "");
}

const ef_op ef_op_MapDataset = {
    EF_NAMED(MapDataset),
    .doc = "Applies `f` to every element.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {FUNCTION, EF_DATASET_OUTPUTS, BOOL(use_inter_op_parallelism, "true"),
             BOOL(preserve_cardinality, "false"), BOOL(force_synchronous, "false"),
             EF_DATASET_NOTE},
    RUN(map, ef_dataset_run),
};

static ef_status *parallel_run(const ef_call *c) {
    EF_TRY(positive(c, c->n_in - 1, "num_parallel_calls", true));
    return ef_dataset_run(c);
}

const ef_op ef_op_ParallelMapDatasetV2 = {
    EF_NAMED(ParallelMapDatasetV2),
    .doc = "Applies `f` to every element, several in parallel; in order unless `deterministic` "
           "is 'false'.",
    .in = {SOURCE, "num_parallel_calls: int64"},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {FUNCTION, EF_DATASET_OUTPUTS, BOOL(use_inter_op_parallelism, "true"), EF_DATASET_ORDER,
             BOOL(preserve_cardinality, "false"), BOOL(use_unbounded_threadpool, "false"),
             EF_DATASET_NOTE},
    RUN(map, parallel_run),
};

const ef_op ef_op_FilterDataset = {
    EF_NAMED(FilterDataset),
    .doc = "The elements for which `predicate` is true.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {PREDICATE, EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(filter, ef_dataset_run),
};

const ef_op ef_op_TakeWhileDataset = {
    EF_NAMED(TakeWhileDataset),
    .doc = "The elements before the first for which `predicate` is false.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {PREDICATE, EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(take_while, ef_dataset_run),
};

const ef_op ef_op_ScanDataset = {
    EF_NAMED(ScanDataset),
    .doc = "Applies `f` to a state and every element; it returns the next state and a new element.",
    .in = {"input_dataset: variant", "initial_state: Tstate", "other_arguments: Targuments"},
    .out = {"handle: variant"},
    .attr = {FUNCTION, EF_ATTR(ef_dataset_attrs, Tstate, "list(type) >= 1", NULL),
             EF_ATTR(ef_dataset_attrs, Targuments, "list(type) >= 0", NULL), EF_DATASET_OUTPUTS,
             BOOL(preserve_cardinality, "false"), BOOL(use_default_device, "true"),
             EF_DATASET_NOTE},
    RUN(scan, ef_dataset_run),
};

const ef_op ef_op_FlatMapDataset = {
    EF_NAMED(FlatMapDataset),
    .doc = "The elements of the datasets that `f` makes from every element, one after the other.",
    .in = {SOURCE},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {FUNCTION, EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(flat_map, ef_dataset_run),
};

static ef_status *interleave_run(const ef_call *c) {
    EF_TRY(positive(c, c->n_in - 2, "cycle_length", false));
    EF_TRY(positive(c, c->n_in - 1, "block_length", false));
    return ef_dataset_run(c);
}

const ef_op ef_op_InterleaveDataset = {
    EF_NAMED(InterleaveDataset),
    .doc = "Interleaves the datasets that `f` makes: `block_length` elements of each of "
           "`cycle_length` in turn.",
    .in = {SOURCE, "cycle_length: int64", "block_length: int64"},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {FUNCTION, EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(interleave, interleave_run),
};

static ef_status *interleave_v4_run(const ef_call *c) {
    EF_TRY(positive(c, c->n_in - 5, "cycle_length", true));
    EF_TRY(positive(c, c->n_in - 4, "block_length", false));
    EF_TRY(positive(c, c->n_in - 1, "num_parallel_calls", true));
    const int64_t cycle = *(const int64_t *)c->in[c->n_in - 5]->data;
    const int64_t calls = *(const int64_t *)c->in[c->n_in - 1]->data;
    if (cycle > 0 && calls > cycle)
        return ef_error(EF_INVALID,
                        "%s: num_parallel_calls is %lld and cycle_length %lld; num_parallel_calls "
                        "must be less than or equal to cycle_length",
                        c->op->name, (long long)calls, (long long)cycle);
    return ef_dataset_run(c);
}

const ef_op ef_op_ParallelInterleaveDatasetV4 = {
    EF_NAMED(ParallelInterleaveDatasetV4),
    .doc = "Like InterleaveDataset; the datasets of a cycle are read in parallel.",
    .in = {SOURCE, "cycle_length: int64", "block_length: int64", "buffer_output_elements: int64",
           "prefetch_input_elements: int64", "num_parallel_calls: int64"},
    .out = {"handle: variant"},
    ARGUMENTS,
    .attr = {FUNCTION, EF_DATASET_ORDER, EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(interleave, interleave_v4_run),
};

#define KEYED(WHICH)                                       \
    EF_ATTR(ef_dataset_attrs, WHICH##_func, "func", NULL), \
        EF_ATTR(ef_dataset_attrs, T##WHICH##_func_other_arguments, "list(type) >= 0", NULL)
const ef_op ef_op_GroupByWindowDataset = {
    EF_NAMED(GroupByWindowDataset),
    .doc = "Groups elements by `key_func`; each window of `window_size_func` elements of a key "
           "becomes the dataset that `reduce_func` makes from it.",
    .in = {"input_dataset: variant", "key_func_other_arguments: Tkey_func_other_arguments",
           "reduce_func_other_arguments: Treduce_func_other_arguments",
           "window_size_func_other_arguments: Twindow_size_func_other_arguments"},
    .out = {"handle: variant"},
    .attr = {KEYED(key), KEYED(reduce), KEYED(window_size), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(group, ef_dataset_run),
};

const ef_op ef_op_GroupByReducerDataset = {
    EF_NAMED(GroupByReducerDataset),
    .doc =
        "One element for each key of `key_func`: the state that `init_func` makes from the key is "
        "updated by `reduce_func` for every element with that key, then given to `finalize_func`.",
    .in = {"input_dataset: variant", "key_func_other_arguments: Tkey_func_other_arguments",
           "init_func_other_arguments: Tinit_func_other_arguments",
           "reduce_func_other_arguments: Treduce_func_other_arguments",
           "finalize_func_other_arguments: Tfinalize_func_other_arguments"},
    .out = {"handle: variant"},
    .attr = {KEYED(key), KEYED(init), KEYED(reduce), KEYED(finalize), EF_DATASET_OUTPUTS},
    RUN(group_reduce, ef_dataset_run),
};
