/* Elements in files: each is a TFRecord record that holds its tensors one after the other, every
 * one as dtype, rank, sizes and bytes. */
#ifndef EF_DATA_STORED_H
#define EF_DATA_STORED_H
#include "base/text.h"
#include "evenflow_binding.h"
#include "ops/data/dataset.h"

/* Appends an element; EF_UNIMPLEMENTED for variants and resources. */
ef_status *ef_stored_put(ef_text *to, const ef_tensor *element, int width);
/* The element in the bytes, which must fit the dtypes and shapes of `like`; EF_DATA_LOSS if it does
 * not. */
ef_status *ef_stored_get(const char *bytes, size_t n, const ef_dataset *like, ef_tensor *out);
/* The next element of a reader of such records. */
ef_status *ef_stored_next(ef_reader *r, const ef_dataset *like, ef_tensor *out, bool *end);
ef_status *ef_stored_writer(const char *name, const char *compression, ef_record_writer **out);
#endif
