/* One function serves arrays of every type: it sees them as bytes. */
#include "base/array.h"
#include "base/alloc.h"
#include <string.h>

/* A small array is copied to a new block when it grows. If its block grew in place, no block of the
 * old size would become free for the next array, and arrays that are made and freed over and over
 * would spread over fresh memory. */
enum { SMALL = 1024 };

static void *grown_from(void *old, size_t bytes, size_t more) {
    if (more > SMALL || old == NULL) return ef_realloc(old, more);
    void *p = ef_malloc(more);
    if (p == NULL) return NULL;
    memcpy(p, old, bytes);
    ef_free(old);
    return p;
}

ef_status *ef_grow(void **items, size_t *cap, size_t need, size_t size) {
    if (EF_LIKELY(need <= *cap)) return NULL;
    size_t want = *cap < 8 ? 8 : *cap;
    while (want < need) {
        if (want > SIZE_MAX / 2) return ef_no_memory(SIZE_MAX);
        want *= 2;
    }
    if (want > SIZE_MAX / size) return ef_no_memory(SIZE_MAX);
    void *old; /* the caller's pointer has another type, so it is copied as bytes */
    memcpy(&old, items, sizeof old);
    void *grown = grown_from(old, *cap * size, want * size);
    if (grown == NULL) return ef_no_memory(want * size);
    memcpy(items, &grown, sizeof grown);
    *cap = want;
    return NULL;
}
