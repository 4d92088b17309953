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

ef_status *ef_dataset_of_stored(int width, const ef_dtype *types, const ef_shape *shapes,
                                const ef_str *folder, const char *compression, int64_t start,
                                ef_tensor *out) {
    const ef_attr_value set[] = {
        EF_SET_TYPES("output_types", width, types), set_shapes(width, shapes),
        EF_SET_STRING("compression", compression), EF_SET_INT("version", 2)};
    const ef_shape scalar = {.rank = 0};
    ef_tensor path = {0}, first = {0}, *in[2] = {&path, &first};
    ef_status *s = ef_tensor_alloc(&path, EF_STRING, &scalar);
    if (s == NULL) s = ef_str_set(path.data, folder->at, folder->n);
    if (s == NULL) s = ef_tensor_alloc(&first, EF_I64, &scalar);
    if (s == NULL) {
        *(int64_t *)first.data = start;
        s = make(&ef_op_SnapshotDatasetReader, set, 4, in, 2, out);
    }
    ef_tensor_release(&path);
    ef_tensor_release(&first);
    return s;
}

ef_status *ef_dataset_of_shard(const ef_dataset *like, const char *folder, size_t n,
                               const char *compression, ef_tensor *out) {
    const ef_dataset_attrs *a = like->set;
    const ef_str name = {.at = (char *)(uintptr_t)folder, .n = n};
    return ef_dataset_of_stored(a->output_types.n, a->output_types.at, a->output_shapes.at, &name,
                                compression, 0, out);
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
