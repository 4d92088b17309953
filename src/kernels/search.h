/* Positions in sorted rows: where each value would be inserted. */
#ifndef EF_KERNELS_SEARCH_H
#define EF_KERNELS_SEARCH_H
#include "tensor/dtype.h"
#include <stdbool.h>

typedef struct ef_search {
    ef_dtype dtype, index_type; /* any real; int32 or int64 */
    bool upper;                 /* the last position, after equal elements, instead of the first */
    int64_t rows, n, m;         /* sorted: [rows, n], values and out: [rows, m] */
    const void *sorted, *values;
    void *out;
} ef_search;
void ef_search_run(const ef_search *s);
#endif
