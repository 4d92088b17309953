/* Memory that is freed all at once: graphs, traces and plans live in arenas. */
#ifndef EF_BASE_ARENA_H
#define EF_BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct ef_arena {
    struct ef_arena_chunk *chunk; /* newest first */
    char *at, *end;
    size_t bytes; /* taken from the system */
} ef_arena;       /* zero-initialised: empty */

void *ef_arena_alloc(ef_arena *a, size_t n);  /* 16-byte aligned, not zeroed; NULL on failure */
void *ef_arena_zalloc(ef_arena *a, size_t n); /* zeroed */
/* Allocates a chunk of n bytes, from which the next allocations come: for a caller that knows how
 * much it will need and keeps it for long. false: no memory. */
bool ef_arena_reserve(ef_arena *a, size_t n);
void *ef_arena_copy(ef_arena *a, const void *p, size_t n);
char *ef_arena_strdup(ef_arena *a, const char *s);
/* A position in an arena; ef_arena_rewind frees everything allocated since. */
typedef struct ef_arena_mark {
    struct ef_arena_chunk *chunk, *older;
    char *at;
} ef_arena_mark;
ef_arena_mark ef_arena_here(const ef_arena *a);
void ef_arena_rewind(ef_arena *a, ef_arena_mark to);
void ef_arena_free(ef_arena *a);  /* everything; the arena is empty again */
void ef_arena_reset(ef_arena *a); /* keeps the largest chunk for reuse */
#endif
