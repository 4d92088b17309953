/* One function serves arrays of every type: it sees them as bytes. */
#include "base/array.h"
#include "base/alloc.h"
#include <string.h>

/* A small array moves when it grows: a block that grew in place would leave none of its old size to
 * the next array, so that arrays made and dropped again and again would spread over fresh memory.
 */
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
    void *old; /* the caller's pointer has another type: copied as bytes, not read as void * */
    memcpy(&old, items, sizeof old);
    void *grown = grown_from(old, *cap * size, want * size);
    if (grown == NULL) return ef_no_memory(want * size);
    memcpy(items, &grown, sizeof grown);
    *cap = want;
    return NULL;
}
