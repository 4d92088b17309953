/* Finding equal slices, for Unique and ListDiff. */
#ifndef EF_KERNELS_DISTINCT_H
#define EF_KERNELS_DISTINCT_H
#include "base/status.h"
#include "tensor/dtype.h"
#include <stdbool.h>

/* Slices j = 0 .. n-1 of an array [outer, n, inner] of t, which may be EF_STRING. Elements are
 * equal as numbers: -0 equals 0, NaN equals nothing. */
typedef struct ef_slices_of {
    ef_dtype t;
    const void *data;
    int64_t outer, n, inner;
} ef_slices_of;

/* A set of slices, in memory that the caller provides: ef_distinct_bytes(n) for up to n slices. */
typedef struct ef_distinct {
    int64_t *slot; /* index of a slice + 1, or 0 */
    uint64_t mask;
} ef_distinct;
size_t ef_distinct_bytes(int64_t n);
void ef_distinct_init(ef_distinct *d, void *memory, int64_t n);
/* The slice of `a` in the set that equals slice k of `b`, or -1. */
int64_t ef_distinct_find(const ef_distinct *d, const ef_slices_of *a, const ef_slices_of *b,
                         int64_t k);
/* The same within `a`; slice k is added if the set has no equal one. */
int64_t ef_distinct_add(ef_distinct *d, const ef_slices_of *a, int64_t k);

/* The same for single elements of at most eight bytes, other than strings and complex numbers. Such
 * a set grows with the distinct elements that it has. */
bool ef_distinct_plain(ef_dtype t);
typedef struct ef_distinct_numbers {
    ef_dtype t;
    struct ef_distinct_slot *slot;
    int bits; /* of the number of slots */
    int64_t found;
} ef_distinct_numbers;
/* For each of n elements at `data`, its index among the distinct elements in the order in which
 * they first occur; where it occurs first, that is set->found + the number of new ones so far.
 * first: the indices of those elements, counted from the start of `data`, plus `offset`. */
ef_status *ef_distinct_number(ef_distinct_numbers *set, const void *data, int64_t n, int64_t offset,
                              int64_t *index, int64_t *first);
void ef_distinct_numbers_free(ef_distinct_numbers *set);
#endif
