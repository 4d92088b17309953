/* Chunks in a list, newest first; an allocation moves a pointer. A new chunk is at most a quarter
 * of what the arena has, up to 256 KiB, so no more than that is unused behind the last allocation.
 * A request too large for the next chunk gets a chunk of its own behind the newest, which keeps
 * serving small ones. Freed chunks of the three smallest sizes go to a free list for the next
 * arena: graphs that come and go reuse the same memory. */
#include "base/arena.h"
#include "base/alloc.h"
#include "base/free_list.h"
#include <stdint.h>
#include <string.h>

enum { ALIGN = 16, FIRST_CHUNK = 2048, LARGEST_CHUNK = 256 * 1024, KEPT_SIZES = 3 };

typedef struct ef_arena_chunk {
    struct ef_arena_chunk *older;
    size_t bytes; /* behind this header */
} chunk;

_Static_assert(sizeof(chunk) % ALIGN == 0, "what follows a chunk's header is aligned");

static ef_free_list free_chunks[KEPT_SIZES]; /* chunks of the first sizes */

static ef_free_list *free_list_of(size_t bytes) { /* NULL: such chunks are not kept */
    for (int k = 0; k < KEPT_SIZES; k++)
        if (bytes == (size_t)FIRST_CHUNK << k) return &free_chunks[k];
    return NULL;
}

static chunk *chunk_new(ef_arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - sizeof(chunk)) return NULL;
    ef_free_list *kept = free_list_of(bytes);
    chunk *c = kept != NULL ? ef_free_list_take(kept, sizeof(chunk) + bytes)
                            : ef_malloc(sizeof(chunk) + bytes);
    if (c == NULL) return NULL;
    c->bytes = bytes;
    a->bytes += bytes;
    return c;
}

static chunk *chunk_end(chunk *c) { /* returns the next older one */
    chunk *older = c->older;
    ef_free_list *kept = free_list_of(c->bytes);
    if (kept != NULL)
        ef_free_list_give(kept, c);
    else
        ef_free(c);
    return older;
}

static void *alloc_slow(ef_arena *a, size_t n) {
    size_t usual = FIRST_CHUNK;
    while (usual < LARGEST_CHUNK && 8 * usual <= a->bytes) usual *= 2;
    if (n > usual / 4 && a->chunk != NULL) {
        chunk *c = chunk_new(a, n);
        if (c == NULL) return NULL;
        c->older = a->chunk->older;
        a->chunk->older = c;
        return c + 1;
    }
    chunk *c = chunk_new(a, n > usual ? n : usual);
    if (c == NULL) return NULL;
    c->older = a->chunk;
    a->chunk = c;
    a->at = (char *)(c + 1) + n;
    a->end = (char *)(c + 1) + c->bytes;
    return c + 1;
}

bool ef_arena_reserve(ef_arena *a, size_t n) {
    if ((size_t)(a->end - a->at) >= n) return true;
    chunk *c = chunk_new(a, n);
    if (c == NULL) return false;
    c->older = a->chunk;
    a->chunk = c;
    a->at = (char *)(c + 1);
    a->end = a->at + n;
    return true;
}

void *ef_arena_alloc(ef_arena *a, size_t n) {
    if (n > SIZE_MAX - ALIGN) return NULL;
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (n == 0) n = ALIGN;
    if ((size_t)(a->end - a->at) < n) return alloc_slow(a, n);
    void *p = a->at;
    a->at += n;
    return p;
}

void *ef_arena_zalloc(ef_arena *a, size_t n) {
    void *p = ef_arena_alloc(a, n);
    return p ? memset(p, 0, n) : NULL;
}

void *ef_arena_copy(ef_arena *a, const void *p, size_t n) {
    void *q = ef_arena_alloc(a, n);
    if (q != NULL && n != 0) memcpy(q, p, n);
    return q;
}

char *ef_arena_strdup(ef_arena *a, const char *s) { return ef_arena_copy(a, s, strlen(s) + 1); }

ef_arena_mark ef_arena_here(const ef_arena *a) {
    return (ef_arena_mark){a->chunk, a->chunk != NULL ? a->chunk->older : NULL, a->at};
}

static chunk *drop(ef_arena *a, chunk *c) { /* returns the next older one */
    a->bytes -= c->bytes;
    return chunk_end(c);
}

void ef_arena_rewind(ef_arena *a, ef_arena_mark to) {
    while (a->chunk != to.chunk) a->chunk = drop(a, a->chunk);
    if (a->chunk == NULL) {
        a->at = a->end = NULL;
        return;
    }
    while (a->chunk->older != to.older) a->chunk->older = drop(a, a->chunk->older);
    a->at = to.at;
    a->end = (char *)(a->chunk + 1) + a->chunk->bytes;
}

void ef_arena_free(ef_arena *a) {
    for (chunk *c = a->chunk; c != NULL;) c = chunk_end(c);
    *a = (ef_arena){0};
}

void ef_arena_reset(ef_arena *a) {
    chunk *best = a->chunk;
    for (chunk *c = a->chunk; c != NULL; c = c->older)
        if (c->bytes > best->bytes) best = c;
    if (best == NULL) return;
    for (chunk *c = a->chunk; c != NULL;) c = c == best ? c->older : chunk_end(c);
    best->older = NULL;
    *a = (ef_arena){.chunk = best,
                    .at = (char *)(best + 1),
                    .end = (char *)(best + 1) + best->bytes,
                    .bytes = best->bytes};
}
