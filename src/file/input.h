/* A file read from front to back, through a buffer, decompressed on the way. */
#ifndef EF_FILE_INPUT_H
#define EF_FILE_INPUT_H
#include "base/text.h"

typedef enum ef_compression { EF_UNCOMPRESSED, EF_GZIP, EF_ZLIB } ef_compression;
/* "", "NONE", "GZIP" or "ZLIB"; anything else is an error. */
ef_status *ef_compression_named(const char *name, size_t n, ef_compression *out);

typedef struct ef_input ef_input; /* one thread at a time */
/* buffer: bytes read at a time; 0: the default. */
ef_status *ef_input_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         ef_input **out);
/* The next bytes, without a copy: *n > 0 bytes at *at; *n is 0 at the end of the file. */
ef_status *ef_input_peek(ef_input *in, const char **at, size_t *n);
void ef_input_take(ef_input *in, size_t n); /* consumes n of the bytes that peek returned */
/* Appends up to n bytes to `to`; *got < n only at the end of the file. Memory grows with the bytes
 * read, not with n. */
ef_status *ef_input_read(ef_input *in, uint64_t n, ef_text *to, uint64_t *got);
ef_status *ef_input_skip(ef_input *in, uint64_t n, uint64_t *skipped);
/* Bytes consumed so far, counted after decompression. */
uint64_t ef_input_offset(const ef_input *in);
/* The next byte read is the one at `offset`; an offset beyond the end shows at the next read. */
ef_status *ef_input_seek(ef_input *in, uint64_t offset);
const char *ef_input_path(const ef_input *in);
int64_t ef_input_size(const ef_input *in); /* of an uncompressed regular file; else -1 */
void ef_input_close(ef_input *in);         /* NULL is fine */

/* Decompresses n bytes and appends the result; more than `most` bytes are an error. Truncated data
 * gives as much as it holds. */
ef_status *ef_decompress(ef_compression how, const char *bytes, size_t n, size_t most,
                         ef_text *out);
#endif
