/* A file read from front to back, through a buffer, decompressed on the way. */
#ifndef EF_FILE_INPUT_H
#define EF_FILE_INPUT_H
#include "base/text.h"

typedef enum ef_compression { EF_UNCOMPRESSED, EF_GZIP, EF_ZLIB } ef_compression;
/* "", "NONE", "GZIP" or "ZLIB"; anything else is an error. */
ef_status *ef_compression_named(const char *name, size_t n, ef_compression *out);

typedef struct ef_input ef_input; /* one thread at a time */
/* buffer: bytes read at a time; 0: as we like. */
ef_status *ef_input_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         ef_input **out);
/* What can be read without a copy: *n > 0 bytes at *at, or none at the end of the file. */
ef_status *ef_input_peek(ef_input *in, const char **at, size_t *n);
void ef_input_take(ef_input *in, size_t n); /* n of the bytes that peek has shown are used up */
/* Appends up to n bytes to `to`; *got < n only at the end. Memory grows with what is there. */
ef_status *ef_input_read(ef_input *in, uint64_t n, ef_text *to, uint64_t *got);
ef_status *ef_input_skip(ef_input *in, uint64_t n, uint64_t *skipped);
/* Bytes used up so far, counted after decompression. */
uint64_t ef_input_offset(const ef_input *in);
/* The next byte used is the one at `offset`; one beyond the end shows at the next read. */
ef_status *ef_input_seek(ef_input *in, uint64_t offset);
const char *ef_input_path(const ef_input *in);
int64_t ef_input_size(const ef_input *in); /* of an uncompressed regular file; else -1 */
void ef_input_close(ef_input *in);         /* NULL is fine */

/* Appends what n bytes are when decompressed, at most `most` of them; of bytes that are cut off,
 * as much as they hold. */
ef_status *ef_decompress(ef_compression how, const char *bytes, size_t n, size_t most,
                         ef_text *out);
#endif
