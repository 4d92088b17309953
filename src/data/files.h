/* Functions shared by stages that read files. */
#ifndef EF_DATA_FILES_H
#define EF_DATA_FILES_H
#include "file/input.h"
#include "ops/data/dataset.h"

/* A scalar string; out is zeroed. */
ef_status *ef_string_element(const char *bytes, size_t n, ef_tensor *out);
/* The compression of the argument compression_type; none if the op has no such argument. */
ef_status *ef_dataset_compression(const ef_dataset *d, ef_compression *out);
/* Name k of the argument filenames; NULL: there are not so many. */
const ef_str *ef_dataset_file(const ef_dataset *d, int64_t k);
#endif
