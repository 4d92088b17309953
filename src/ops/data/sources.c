/* Datasets without an input dataset. */
#include "ops/array/array.h"
#include "ops/data/dataset.h"

#define COMPONENTS .in = {"components: Toutput_types"}, .types = "Toutput_types: list(type) >= 1"
#define SHAPES EF_ATTR(ef_dataset_attrs, output_shapes, "list(shape) >= 1", NULL)
#define SPLIT EF_ATTR(ef_dataset_attrs, replicate_on_split, "bool", "false")

/* Checks that there is one shape for each component. */
static ef_status *check_width(const ef_call *c) {
    int n = ((const ef_dataset_attrs *)c->attrs)->output_shapes.n;
    if (n == c->n_in) return ef_dataset_run(c);
    return ef_error(EF_INVALID, "%s: has %d components and %d output_shapes; give one for each",
                    c->op->name, c->n_in, n);
}

const ef_op ef_op_TensorDataset = {
    EF_NAMED(TensorDataset),
    .doc = "A dataset of one element, `components`.",
    COMPONENTS,
    .out = {"handle: variant"},
    .attr = {SHAPES, EF_DATASET_NOTE},
    EF_DATASET_RECORD(tensors),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(check_width),
    .examples = {"float[2,3] output_shapes=[[2,3]]"},
};

static ef_status *slices_run(const ef_call *c) {
    for (int k = 0; k < c->n_in; k++) {
        const ef_tensor *t = c->in[k];
        if (t->rank < 1)
            return ef_error(EF_INVALID,
                            "%s: component %d is a scalar; all components must be at least "
                            "1-dimensional, since the first axis is sliced",
                            c->op->name, k);
        if (t->dim[0] != c->in[0]->dim[0])
            return ef_error(EF_INVALID,
                            "%s: components 0 and %d have %lld and %lld rows; all components must "
                            "have the same size in the 0th dimension",
                            c->op->name, k, (long long)c->in[0]->dim[0], (long long)t->dim[0]);
    }
    return check_width(c);
}

const ef_op ef_op_TensorSliceDataset = {
    EF_NAMED(TensorSliceDataset),
    .doc = "The rows of `components`, an element for each index of their first axis.",
    COMPONENTS,
    .out = {"handle: variant"},
    .attr = {SHAPES, EF_ATTR(ef_dataset_attrs, is_files, "bool", "false"), EF_DATASET_NOTE, SPLIT},
    EF_DATASET_RECORD(slices),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(slices_run),
    .examples = {"float[2,3] int32[2] output_shapes=[[3],[]]"},
};

static ef_status *range_run(const ef_call *c) {
    if (*(const int64_t *)c->in[2]->data == 0)
        return ef_error(EF_INVALID, "%s: step must be a non-zero integer.", c->op->name);
    return ef_dataset_run(c);
}

const ef_op ef_op_RangeDataset = {
    EF_NAMED(RangeDataset),
    .doc = "The numbers from `start` to `stop`, exclusive, in steps of `step`.",
    .in = {"start: int64", "stop: int64", "step: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE, SPLIT},
    EF_DATASET_RECORD(range),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(range_run),
    .examples = {"int64[]{0} int64[]{5} int64[]{1} output_types=[int64] output_shapes=[[]]"},
};

const ef_op ef_op_RandomDatasetV2 = {
    EF_NAMED(RandomDatasetV2),
    .doc = "An infinite sequence of random 32-bit integers; equal seeds give equal sequences.",
    .in = {"seed: int64", "seed2: int64", "seed_generator: resource"},
    .out = {"handle: variant"},
    .attr = {EF_ATTR(ef_dataset_attrs, rerandomize_each_iteration, "bool", "false"),
             EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    EF_DATASET_RECORD(random),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(ef_dataset_run),
    .examples = {"int64[]{1} int64[]{2} echo() output_types=[int64] output_shapes=[[]]"},
};

#define ARGS(WHICH)                                        \
    EF_ATTR(ef_dataset_attrs, WHICH##_func, "func", NULL), \
        EF_ATTR(ef_dataset_attrs, T##WHICH##_func_args, "list(type) >= 0", NULL)
const ef_op ef_op_GeneratorDataset = {
    EF_NAMED(GeneratorDataset),
    .doc = "Elements made by functions: `init_func` makes a state, `next_func` an element from it "
           "until it fails with the status OUT_OF_RANGE, `finalize_func` releases the state.",
    .in = {"init_func_other_args: Tinit_func_args", "next_func_other_args: Tnext_func_args",
           "finalize_func_other_args: Tfinalize_func_args"},
    .out = {"handle: variant"},
    .attr = {ARGS(init), ARGS(next), ARGS(finalize), EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    EF_DATASET_RECORD(generator),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(ef_dataset_run),
};
