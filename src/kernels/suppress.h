/* Non-maximum suppression: selects boxes in the order of their scores, without those that overlap a
 * better one. */
#ifndef EF_KERNELS_SUPPRESS_H
#define EF_KERNELS_SUPPRESS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct ef_suppress {
    int64_t n, most;     /* number of boxes, and largest number selected */
    const float *boxes;  /* n x 4, two opposite corners; or, with `overlaps`, n x n similarities */
    const float *scores; /* n */
    bool overlaps;
    float threshold; /* boxes that overlap more than this are suppressed, unless sigma is set */
    float least;     /* only boxes with scores above it are considered */
    float sigma;     /* > 0: scores decay with the overlap (soft suppression) */
} ef_suppress;

/* Bytes of memory that a call needs. */
int64_t ef_suppress_bytes(int64_t n);
/* Writes the selected boxes and their (decayed) scores, best first; returns their number. Both
 * arrays have space for min(n, most). */
int64_t ef_suppress_run(const ef_suppress *s, void *memory, int32_t *chosen, float *scores);
#endif
