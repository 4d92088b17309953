/* Fields of comma-separated values. */
#ifndef EF_OPS_CSV_H
#define EF_OPS_CSV_H
#include "tensor/tensor.h"

/* Reads the NUL-terminated text of a number into element k of `out`, which is float, double, int32
 * or int64; false: the text is not such a number. */
bool ef_csv_number(ef_dtype t, const char *p, void *out, int64_t k);
#endif
