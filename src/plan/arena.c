/* Arenas for calls. A block is replaced by a larger one when a plan needs more, and by a smaller
 * one after many calls that needed much less, so one large call does not hold its memory for ever.
 * A large block is freed after each call: the allocator keeps its pages for the next one, and until
 * then other callers and other sizes may use them. */
#include "plan/arena.h"
#include "base/alloc.h"
#include "base/array.h"
#include "device/memory.h"
#include <pthread.h>

/* Beyond DEEPEST calls within calls the thread's stack would end before the recursion does. */
enum { DEPTH = 8, DEEPEST = 1000, PATIENCE = 4096, LARGE = 1 << 20 };

typedef struct block {
    char *base;
    int device;
    size_t bytes, most; /* most: the largest need in the last PATIENCE calls */
    int calls;
} block;
typedef struct blocks {
    block at[DEPTH];
    int depth;
    struct extra { /* beyond DEPTH: allocated and freed in each call */
        char *base;
        int device;
        size_t bytes;
    } * extra;
    size_t cap_extra;
} blocks;

static _Thread_local blocks mine;
static pthread_key_t at_exit_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_blocks(void *unused) {
    (void)unused;
    for (int k = 0; k < DEPTH; k++) {
        if (mine.at[k].base != NULL)
            ef_memory_free(mine.at[k].device, mine.at[k].base, mine.at[k].bytes);
        mine.at[k] = (block){0};
    }
    ef_free(mine.extra);
    mine.extra = NULL;
    mine.cap_extra = 0;
}
static void make_key(void) { pthread_key_create(&at_exit_key, free_blocks); }

static ef_status *resize(block *b, int device, size_t bytes) {
    if (b->base != NULL) ef_memory_free(b->device, b->base, b->bytes);
    *b = (block){0};
    void *p;
    const char *label = ef_memory_label("arenas of calls");
    ef_status *s = ef_memory_alloc(device, bytes, &p);
    ef_memory_label(label);
    if (s != NULL) return s;
    *b = (block){.base = p, .device = device, .bytes = bytes};
    pthread_once(&once, make_key); /* gives the block back when the thread ends */
    pthread_setspecific(at_exit_key, &mine);
    return NULL;
}

ef_status *ef_call_arena_take(int device, size_t bytes, char **out) {
    if (bytes == 0) bytes = 64;
    if (mine.depth >= DEPTH) {
        size_t k = (size_t)(mine.depth - DEPTH);
        if (mine.depth >= DEEPEST)
            return ef_error(EF_NO_MEMORY,
                            "functions call each other more than %d deep; check for a "
                            "recursion that does not end",
                            DEEPEST);
        void *p;
        EF_TRY(EF_GROW(&mine.extra, &mine.cap_extra, k + 1));
        EF_TRY(ef_memory_alloc(device, bytes, &p));
        mine.extra[k] = (struct extra){p, device, bytes};
        *out = p;
        mine.depth++;
        return NULL;
    }
    block *b = &mine.at[mine.depth];
    if (bytes > b->most) b->most = bytes;
    bool shrink = ++b->calls >= PATIENCE && b->most < b->bytes / 2;
    if (b->calls >= PATIENCE) b->calls = 0;
    bool grow = bytes > b->bytes || b->device != device;
    size_t roomy = bytes < LARGE ? bytes + bytes / 4 : bytes;
    size_t want = grow ? roomy : shrink ? b->most : 0;
    if (shrink || b->calls == 0) b->most = bytes;
    if (want > 0) EF_TRY(resize(b, device, want));
    mine.depth++;
    *out = b->base;
    return NULL;
}

void ef_call_arena_release(void) {
    if (--mine.depth >= DEPTH) {
        const struct extra *e = &mine.extra[mine.depth - DEPTH];
        ef_memory_free(e->device, e->base, e->bytes);
        return;
    }
    block *b = &mine.at[mine.depth];
    if (b->bytes < LARGE) return;
    ef_memory_free(b->device, b->base, b->bytes);
    *b = (block){0};
}
