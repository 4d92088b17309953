/* Sums, products, maxima and minima of rows that share a segment id. A row has `width` elements. */
#ifndef EF_KERNELS_SEGMENT_H
#define EF_KERNELS_SEGMENT_H
#include "kernels/combine.h"
#include "kernels/reduce.h"

/* Reads an id, which is int16, int32 or int64. */
static inline int64_t ef_id_at(ef_dtype t, const void *ids, int64_t i) {
    return t == EF_I32   ? ((const int32_t *)ids)[i]
           : t == EF_I64 ? ((const int64_t *)ids)[i]
                         : ((const int16_t *)ids)[i];
}

typedef enum ef_segment_norm { EF_SEGMENT_PLAIN, EF_SEGMENT_SQRT_N } ef_segment_norm;

/* Sorted ids, all in [0, segments) (the caller has checked). Row r is data row indices[r], or r
 * itself if indices is NULL; indices are in range. Segments without rows are filled with `gap`. */
typedef struct ef_segments {
    ef_reduce_kind kind;
    ef_segment_norm norm; /* SQRT_N: with kind SUM of floats, divides by the root of the count */
    ef_dtype dtype, id_type, index_type;
    int64_t rows, width, segments;
    const void *data, *ids, *indices;
    void *out;
    double gap;
} ef_segments;
void ef_segments_run(const ef_segments *s);

/* Ids in any order; rows with negative ids are dropped. out already holds the initial values. */
typedef struct ef_scatter_rows {
    ef_combine op;
    ef_dtype dtype, id_type;
    int64_t rows, width;
    const void *data, *ids;
    void *out;
} ef_scatter_rows;
void ef_scatter_rows_run(const ef_scatter_rows *s);
#endif
