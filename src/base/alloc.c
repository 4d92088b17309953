/* The count and the injected failure are thread-local, so neither costs a lock and a test in one
 * thread does not disturb another. */
#include "base/alloc.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

static _Thread_local uint64_t made;      /* successful allocations of this thread */
static _Thread_local uint64_t countdown; /* allocations until the injected failure; 0: not armed */
static _Thread_local int failed;

int ef_alloc_refuse(void) {
    if (countdown == 0 || --countdown != 0) return 0;
    failed = 1;
    return 1;
}

/* A size that no machine has comes from wrong arithmetic; sanitizers end the program over it. */
static int absurd(size_t n) { return n > (size_t)1 << 39; }

static void *counted(void *p) {
    made += p != NULL;
    return p;
}

void *ef_malloc(size_t n) {
    return absurd(n) || ef_alloc_refuse() ? NULL : counted(malloc(n ? n : 1));
}

/* Small blocks come from malloc, whose per-thread cache hands out the block that was freed last.
 * glibc's calloc does not use that cache but splits larger blocks, so that objects which are made
 * and freed over and over would spread over fresh memory. */
enum { SMALL = 1024 };

void *ef_calloc(size_t count, size_t size) {
    if (count == 0 || size == 0) count = size = 1;
    if (absurd(count) || absurd(size) || size > SIZE_MAX / count || absurd(count * size))
        return NULL;
    if (count * size > SMALL) return ef_alloc_refuse() ? NULL : counted(calloc(count, size));
    void *p = ef_malloc(count * size);
    return p != NULL ? memset(p, 0, count * size) : NULL;
}

void *ef_realloc(void *p, size_t n) {
    return absurd(n) || ef_alloc_refuse() ? NULL : counted(realloc(p, n ? n : 1));
}

void ef_free(void *p) { free(p); }

void *ef_malloc_aligned(size_t n) {
    if (absurd(n) || ef_alloc_refuse()) return NULL;
    size_t whole = (n + 63) / 64 * 64; /* aligned_alloc wants a multiple of the alignment */
    return counted(aligned_alloc(64, whole ? whole : 64));
}

void ef_free_aligned(void *p) { free(p); }

void ef_malloc_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

char *ef_strdup(const char *s) {
    size_t n = strlen(s) + 1;
    char *copy = ef_malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

uint64_t ef_alloc_count(void) { return made; }

void ef_alloc_fail_at(uint64_t k) {
    countdown = k;
    failed = 0;
}

int ef_alloc_failed(void) { return failed; }
