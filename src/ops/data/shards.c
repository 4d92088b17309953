#include "ops/data/shards.h"
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/run.h"

static ef_attr_value set_shapes(int n, const ef_shape *shapes) {
    return (ef_attr_value){
        .name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = n, .as = {.shapes = shapes}};
}

static ef_status *make(const ef_op *op, const ef_attr_value *set, int n_set, ef_tensor **in,
                       int n_in, ef_tensor *out) {
    const ef_attrs *attrs = NULL;
    int n_out;
    EF_TRY(ef_attrs_make(op, set, n_set, &attrs));
    ef_status *s =
        ef_op_run(ef_context_here(), op, ef_attrs_fields(attrs), in, n_in, out, 1, &n_out);
    ef_attrs_unref(attrs);
    return s;
}

ef_status *ef_dataset_of_shard(const ef_dataset *like, const char *folder, size_t n,
                               const char *compression, ef_tensor *out) {
    const ef_dataset_attrs *a = like->set;
    const ef_attr_value set[] = {
        EF_SET_TYPES("output_types", a->output_types.n, a->output_types.at),
        set_shapes(a->output_shapes.n, a->output_shapes.at),
        EF_SET_STRING("compression", compression), EF_SET_INT("version", 2)};
    const ef_shape scalar = {.rank = 0};
    ef_tensor path = {0}, start = {0}, *in[2] = {&path, &start};
    ef_status *s = ef_tensor_alloc(&path, EF_STRING, &scalar);
    if (s == NULL) s = ef_str_set(path.data, folder, n);
    if (s == NULL) s = ef_tensor_alloc(&start, EF_I64, &scalar);
    if (s == NULL) {
        *(int64_t *)start.data = 0;
        s = make(&ef_op_SnapshotDatasetReader, set, 4, in, 2, out);
    }
    ef_tensor_release(&path);
    ef_tensor_release(&start);
    return s;
}

ef_status *ef_dataset_of_datasets(const ef_tensor *datasets, int n, ef_tensor *out) {
    const ef_dtype variant = EF_VARIANT;
    const ef_shape scalar = {.rank = 0};
    const ef_attr_value set[] = {EF_SET_TYPES("output_types", 1, &variant), set_shapes(1, &scalar)};
    ef_tensor **in = ef_malloc(((size_t)n + 1) * sizeof *in);
    if (in == NULL) return ef_no_memory((size_t)n * sizeof *in);
    for (int k = 0; k < n; k++) in[k] = (ef_tensor *)(uintptr_t)&datasets[k];
    ef_status *s = make(&ef_op_WindowOp, set, 2, in, n, out);
    ef_free(in);
    return s;
}
