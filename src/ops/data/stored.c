/* Datasets that write their elements to files or read them back; sparse batches. */
#include "file/snapshot.h"
#include "ops/array/array.h"
#include "ops/data/dataset.h"
#include "ops/shapes.h"
#include "ops/string/strings.h"

#define SOURCE "input_dataset: variant"
#define COMPRESSION EF_ATTR(ef_dataset_attrs, compression, "string", "''")
#define FUNCTION(WHICH)                                    \
    EF_ATTR(ef_dataset_attrs, WHICH##_func, "func", NULL), \
        EF_ATTR(ef_dataset_attrs, T##WHICH##_func_args, "list(type) >= 0", NULL)
#define RUN(KIND, KERNEL) \
    EF_DATASET_RECORD(KIND), .shape = ef_dataset_infer, .kernel = EF_ANY_KERNEL(KERNEL)

const ef_op ef_op_SaveDatasetV2 = {
    EF_NAMED(SaveDatasetV2),
    .doc = "The same elements, which are also written to the folder `path`; `shard_func` "
           "chooses the file.",
    .in = {SOURCE, "path: string", "shard_func_other_args: Tshard_func_args"},
    .out = {"handle: variant"},
    .attr = {COMPRESSION, FUNCTION(shard),
             EF_ATTR(ef_dataset_attrs, use_shard_func, "bool", "true"), EF_DATASET_OUTPUTS},
    RUN(save, ef_dataset_run),
};

static ef_status *load_run(const ef_call *c) {
    const ef_str *path = ef_strs(c->in[0]);
    ef_snapshot run = {0};
    bool found = false;
    EF_TRY(ef_snapshot_read(path->at, path->n, &run, &found));
    ef_snapshot_free(&run);
    if (found) return ef_dataset_run(c);
    return ef_error(EF_NOT_FOUND, "%s: Could not find metadata file [%.*s/snapshot.metadata]",
                    c->op->name, (int)(path->n < 800 ? path->n : 800), path->at);
}

const ef_op ef_op_LoadDataset = {
    EF_NAMED(LoadDataset),
    .doc =
        "The elements that SaveDatasetV2 wrote; `reader_func` makes one dataset from those of the "
        "files.",
    .in = {"path: string", "reader_func_other_args: Treader_func_args"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, COMPRESSION, FUNCTION(reader)},
    RUN(load, load_run),
};

const ef_op ef_op_SnapshotDatasetV2 = {
    EF_NAMED(SnapshotDatasetV2),
    .doc = "The same elements; the first complete iteration writes them to a folder, and "
           "later ones read them from there.",
    .in = {SOURCE, "path: string", "reader_func_other_args: Treader_func_args",
           "shard_func_other_args: Tshard_func_args"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, COMPRESSION,
             EF_ATTR(ef_dataset_attrs, reader_prefix, "string", "''"),
             EF_ATTR(ef_dataset_attrs, writer_prefix, "string", "''"),
             EF_ATTR(ef_dataset_attrs, hash_valid, "bool", "false"),
             EF_ATTR(ef_dataset_attrs, hash, "int", "0"), FUNCTION(reader), FUNCTION(shard),
             EF_DATASET_NOTE},
    RUN(snapshot, ef_dataset_run),
};

const ef_op ef_op_SnapshotDatasetReader = {
    EF_NAMED(SnapshotDatasetReader),
    .doc = "The elements of one file of a snapshot, starting at index `start_index`.",
    .in = {"shard_dir: string", "start_index: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, COMPRESSION, EF_ATTR(ef_dataset_attrs, version, "int", NULL)},
    RUN(stored, ef_dataset_run),
    .examples = {"string[]{/dev} int64[]{0} version=2 output_types=[int64] output_shapes=[[]]"},
};

const ef_op ef_op_CacheDataset = {
    EF_NAMED(CacheDataset),
    .doc =
        "The same elements, computed once and cached in the file `filename`; without a name every "
        "iteration computes them.",
    .in = {SOURCE, "filename: string"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    RUN(cache, ef_dataset_run),
    .examples = {"dataset(5) string[]{} output_types=[int64] output_shapes=[[]]"},
};

/* ---- sparse tensors ----------------------------------------------------------------------------
 */

static ef_status *sparse_batch_infer(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 0));
    EF_TRY(ef_need_rank(i, 2, 1));
    return ef_shape_scalar(i);
}

static ef_status *sparse_batch_run(const ef_call *c) {
    int64_t size = *(const int64_t *)c->in[1]->data;
    if (size <= 0)
        return ef_error(EF_INVALID, "%s: batch_size is %lld; Batch size must be greater than zero.",
                        c->op->name, (long long)size);
    if (ef_count(c->in[2]) >= EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "%s: row_shape has rank %lld, so a batch would have rank one more; "
                        "the largest rank is %d",
                        c->op->name, (long long)ef_count(c->in[2]), EF_MAX_RANK);
    for (int64_t k = 0; k < ef_count(c->in[2]); k++)
        if (((const int64_t *)c->in[2]->data)[k] < -1)
            return ef_error(EF_INVALID, "%s: row_shape[%lld] is %lld; Dimension %lld must be >= -1",
                            c->op->name, (long long)k,
                            (long long)((const int64_t *)c->in[2]->data)[k], (long long)k);
    return ef_dataset_run(c);
}

const ef_op ef_op_DenseToSparseBatchDataset = {
    EF_NAMED(DenseToSparseBatchDataset),
    .doc = "`batch_size` dense elements as one sparse tensor of rows of `row_shape`; an element "
           "is its indices, values and dense shape.",
    .in = {SOURCE, "batch_size: int64", "row_shape: int64"},
    .out = {"handle: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    EF_DATASET_RECORD(sparse_batch),
    .shape = sparse_batch_infer,
    .kernel = EF_ANY_KERNEL(sparse_batch_run),
    .examples = {"dataset(5) int64[]{2} int64[0] output_types=[int64,int64,int64] "
                 "output_shapes=[[-1,1],[-1],[1]]"},
};
