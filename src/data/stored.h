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

/* The parts of a record: numbers of eight bytes, and tensors of numbers and strings. `good` is
 * false if the bytes hold no such tensor, and *out is not to be used, only released. */
typedef struct ef_stored_bytes {
    const unsigned char *at;
    size_t n;
} ef_stored_bytes;
void ef_stored_put_number(ef_text *to, uint64_t v);
bool ef_stored_get_number(ef_stored_bytes *b, uint64_t *v);
ef_status *ef_stored_put_tensor(ef_text *to, const ef_tensor *t);
ef_status *ef_stored_get_tensor(ef_stored_bytes *b, ef_dtype t, ef_tensor *out, bool *good);

ef_status *ef_stored_writer(const char *name, const char *compression, ef_record_writer **out);
#endif
