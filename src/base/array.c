/* One function serves arrays of every type: it sees them as bytes. */
#include "base/array.h"
#include "base/alloc.h"
#include <string.h>

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
    void *grown = ef_realloc(old, want * size);
    if (grown == NULL) return ef_no_memory(want * size);
    memcpy(items, &grown, sizeof grown);
    *cap = want;
    return NULL;
}
