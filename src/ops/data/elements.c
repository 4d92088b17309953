/* Datasets of elements given as a list of tensors. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/data/dataset.h"
#include "ops/run.h"

static ef_status *elements_run(const ef_call *c) {
    const ef_dataset_attrs *a = c->attrs;
    int n = a->output_types.n;
    if (a->output_shapes.n != n || c->n_in % n != 0)
        return ef_error(EF_INVALID,
                        "%s: %d tensors, %d output_types and %d output_shapes do not make whole "
                        "elements",
                        c->op->name, c->n_in, n, a->output_shapes.n);
    for (int k = 0; k < c->n_in; k++)
        if ((ef_dtype)c->in[k]->dtype != a->output_types.at[k % n])
            return ef_error(EF_INVALID, "%s: tensor %d is %s, but component %d of an element %s",
                            c->op->name, k, ef_dtype_name((ef_dtype)c->in[k]->dtype), k % n,
                            ef_dtype_name(a->output_types.at[k % n]));
    return ef_dataset_run(c);
}

const ef_op ef_op_WindowOp = {
    EF_NAMED(WindowOp),
    .doc = "A dataset whose elements are given one after the other in `inputs`.",
    .in = {"inputs: Tinputs"},
    .out = {"handle: variant"},
    .types = "Tinputs: list(type) >= 0",
    .attr = {EF_DATASET_OUTPUTS},
    EF_DATASET_RECORD(elements),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(elements_run),
    .examples = {"float[2] float[3] output_types=[float] output_shapes=[[-1]]"},
};

const ef_op ef_op_ListDataset = {
    EF_NAMED(ListDataset),
    .doc = "A dataset whose elements are given one after the other in `tensors`.",
    .in = {"tensors: Tinput_types"},
    .out = {"handle: variant"},
    .types = "Tinput_types: list(type) >= 1",
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    EF_DATASET_RECORD(elements),
    .shape = ef_dataset_infer,
    .kernel = EF_ANY_KERNEL(elements_run),
    .examples = {"float[2] float[3] output_types=[float] output_shapes=[[-1]]"},
};

/* in: n * width tensors. */
static ef_status *make(int width, const ef_dtype *types, const ef_shape *shapes, ef_tensor **in,
                       int64_t n, ef_tensor *out) {
    const ef_attrs *attrs = NULL;
    int n_out;
    ef_attr_value set[] = {
        EF_SET_TYPES("output_types", width, types),
        {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = width, .as = {.shapes = shapes}}};
    EF_TRY(ef_attrs_make(&ef_op_WindowOp, set, 2, &attrs));
    ef_status *s = ef_op_run(ef_context_here(), &ef_op_WindowOp, ef_attrs_fields(attrs), in,
                             (int)(n * width), out, 1, &n_out);
    ef_attrs_unref(attrs);
    return s;
}

ef_status *ef_dataset_of_elements(const ef_dataset *like, int component, const ef_tensor *first,
                                  int64_t step, int64_t n, ef_tensor *out) {
    int width = component < 0 ? ef_dataset_width(like) : 1, from = component < 0 ? 0 : component;
    ef_dtype *types = ef_malloc((size_t)width * sizeof *types);
    ef_tensor **in = ef_malloc(((size_t)n * (size_t)width + 1) * sizeof *in);
    ef_status *s = types == NULL || in == NULL ? ef_no_memory((size_t)n * sizeof *in) : NULL;
    if (s == NULL) {
        for (int k = 0; k < width; k++) types[k] = ef_dataset_type(like, from + k);
        for (int64_t k = 0; k < n * width; k++)
            in[k] = (ef_tensor *)(uintptr_t)&first[k / width * step + from + k % width];
        s = make(width, types, ef_dataset_shape(like, from), in, n, out);
    }
    ef_free(types);
    ef_free(in);
    return s;
}

ef_status *ef_dataset_of_tensors(int width, const ef_dtype *types, const ef_shape *shapes,
                                 const ef_tensor *first, int64_t n, ef_tensor *out) {
    ef_tensor **in = ef_malloc(((size_t)n * (size_t)width + 1) * sizeof *in);
    if (in == NULL) return ef_no_memory((size_t)n * (size_t)width * sizeof *in);
    for (int64_t k = 0; k < n * width; k++) in[k] = (ef_tensor *)(uintptr_t)&first[k];
    ef_status *s = make(width, types, shapes, in, n, out);
    ef_free(in);
    return s;
}
