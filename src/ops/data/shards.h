/* Datasets that the snapshot reader makes from its files. */
#ifndef EF_OPS_DATA_SHARDS_H
#define EF_OPS_DATA_SHARDS_H
#include "ops/data/dataset.h"

/* The elements in the folder of one shard; they have the dtypes and shapes of `like`. */
ef_status *ef_dataset_of_shard(const ef_dataset *like, const char *folder, size_t n,
                               const char *compression, ef_tensor *out);
/* The same with the dtypes and shapes given, from element `start` on. */
ef_status *ef_dataset_of_stored(int width, const ef_dtype *types, const ef_shape *shapes,
                                const ef_str *folder, const char *compression, int64_t start,
                                ef_tensor *out);
/* A dataset whose elements are n datasets. */
ef_status *ef_dataset_of_datasets(const ef_tensor *datasets, int n, ef_tensor *out);
#endif
