/* Readers of files of records, one interface for TFRecord files, lines of text and records of a
 * fixed length. A reader is used by one thread at a time. Errors name the file and the offset. */
#ifndef EF_FILE_READER_H
#define EF_FILE_READER_H
#include "evenflow_binding.h"
#include "file/input.h"

/* The largest size of a record or line in bytes; a longer one is an error. */
enum { EF_RECORD_MOST = INT32_MAX };

/* buffer: bytes to read at a time; 0: the default. */
ef_status *ef_records_open(const char *name, size_t n, ef_compression how, size_t buffer,
                           ef_reader **out);
/* Lines without their "\n" or "\r\n". The last one need not have an end. */
ef_status *ef_lines_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         ef_reader **out);
/* Records of `record` bytes (at least 1) between a header and a footer, which are left out. */
ef_status *ef_fixed_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         uint64_t header, uint64_t record, uint64_t footer, ef_reader **out);
#endif
