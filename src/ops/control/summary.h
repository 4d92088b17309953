/* The elements of a tensor as text, as assertions and Print show them. */
#ifndef EF_OPS_CONTROL_SUMMARY_H
#define EF_OPS_CONTROL_SUMMARY_H
#include "base/text.h"
#include "tensor/tensor.h"

/* "[0 1 2...]...": the first `most` elements (all if negative). */
void ef_summary_short(ef_text *out, const ef_tensor *t, int64_t most);
/* "[[0 1 ... 8 9]\n ...": `ends` elements at both ends of each axis (all if negative); strings are
 * quoted. */
void ef_summary_full(ef_text *out, const ef_tensor *t, int64_t ends);
/* Writes printed text: stream is "stdout", "stderr", "log(info)", "log(warning)", "log(error)" or
 * "file://...". By default it writes to the process's own streams. */
extern ef_status *(*ef_print_hook)(const char *stream, const char *text, size_t n);
#endif
