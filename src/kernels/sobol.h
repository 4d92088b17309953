/* Sobol's quasi-random points in the unit cube, in Gray code order. */
#ifndef EF_KERNELS_SOBOL_H
#define EF_KERNELS_SOBOL_H
#include "tensor/dtype.h"

enum {
    EF_SOBOL_DIMS = 1111, /* the number of polynomials of degree up to 13 */
    EF_SOBOL_DIGITS = 31  /* bits of a point's number */
};

/* Direction numbers as fractions of 2^32, EF_SOBOL_DIGITS for each of `dims` dimensions. */
void ef_sobol_directions(uint32_t *v, int dims);
/* Points first .. first + n - 1 as out[n][dims], float or double; point 0 is the origin. The number
 * of the last point must be below 2^31. */
void ef_sobol_points(const uint32_t *v, int dims, int64_t first, int64_t n, ef_dtype t, void *out);
#endif
