/* All memory is allocated through these functions. They count, so that tests can prove that a hot
 * path allocates nothing, and fail on demand, so that tests can prove that every failed allocation
 * ends in a clean status. */
#ifndef EF_BASE_ALLOC_H
#define EF_BASE_ALLOC_H
#include <stddef.h>
#include <stdint.h>

void *ef_malloc(size_t n);                  /* NULL on failure; n = 0 gives a unique pointer */
void *ef_calloc(size_t count, size_t size); /* zeroed; NULL on failure or overflow */
void *ef_realloc(void *p, size_t n);        /* NULL on failure, p untouched */
void ef_free(void *p);
void *ef_malloc_aligned(size_t n); /* 64-byte aligned; ef_free_aligned ends it */
void ef_free_aligned(void *p);
char *ef_strdup(const char *s); /* NULL on failure */

/* Returns to the system what malloc keeps although it is free: also that of other users of malloc
 * in this process. Its time grows with the number of free pieces. */
void ef_malloc_trim(void);

/* Allocations made by this thread since it started (counted on success). */
uint64_t ef_alloc_count(void);
/* Test hook: this thread's k-th allocation from now (1 = next) fails once; 0 switches off. */
void ef_alloc_fail_at(uint64_t k);
/* Whether the armed failure has happened. */
int ef_alloc_failed(void);
/* For an allocator that gets its memory elsewhere: counts as one allocation towards the armed
 * failure (not in ef_alloc_count). Nonzero: fail this one. */
int ef_alloc_refuse(void);
#endif
