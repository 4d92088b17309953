/* A chunk is 4 MiB at a multiple of 4 MiB, so a block's address tells its chunk. It is divided into
 * pages of 16 KiB; the first holds the chunk's own tables. A span is a run of pages cut into blocks
 * of one class and keeps a free list of its own; the moment its last block comes back the pages are
 * free for any other class. That is what keeps ever-changing sizes from growing the heap.
 *
 * Blocks above 64 KiB are spans of their own and live in chunks of their own. They come and go with
 * every call, while small spans stay once a thread keeps a block of theirs; sharing chunks, a small
 * size that turns up late would push the large ones on to pages never touched before. */
#include "device/chunk.h"
#include "device/map.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    PAGE = 16 * 1024,
    PAGES = EF_CHUNK_BYTES / PAGE,
    LABELS = EF_CHUNK_BYTES / EF_LABELLED,
    SPARE_CHUNKS = 2 /* empty chunks kept mapped */
};

typedef struct span {
    struct span *next, *prev;   /* among spans of the class that have a free block */
    void *free;                 /* blocks that came back, linked through their first word */
    uint16_t used, made, total; /* handed out; ever cut; that fit */
    uint16_t pages;
    uint8_t class, first;
} span;

typedef struct chunk {
    struct chunk *next, *prev;
    int used;               /* pages */
    int longest;            /* no free run of pages is longer than this */
    bool whole;             /* its spans have one block each; says nothing of an empty chunk */
    uint8_t owner[PAGES];   /* first page of the span a page belongs to; 0: free */
    uint16_t label[LABELS]; /* by where a block begins */
    span spans[PAGES];      /* by first page */
} chunk;
_Static_assert(sizeof(chunk) <= PAGE, "a chunk's tables fit in its first page");

static chunk *chunks; /* oldest first, so that old chunks fill up and young ones empty */
static chunk *newest;
static int spare;     /* chunks without a used page */
static size_t mapped; /* bytes */
static span *partial[EF_CLASSES];

static chunk *chunk_of(const void *p) {
    return (chunk *)((uintptr_t)p & ~(uintptr_t)(EF_CHUNK_BYTES - 1));
}

static char *span_at(const span *s) { return (char *)chunk_of(s) + (size_t)s->first * PAGE; }

uint16_t *ef_chunk_label(void *p) {
    chunk *c = chunk_of(p);
    return &c->label[(size_t)((char *)p - (char *)c) / EF_LABELLED];
}

int ef_chunk_class(void *p) {
    chunk *c = chunk_of(p);
    return c->spans[c->owner[(size_t)((char *)p - (char *)c) / PAGE]].class;
}

size_t ef_chunk_mapped(void) { return mapped; }

static chunk *chunk_new(void) {
    /* No huge pages: a chunk fills little by little, and resident memory should grow with it. */
    chunk *c = ef_pages_map(EF_CHUNK_BYTES, EF_CHUNK_BYTES, false);
    if (c == NULL) return NULL;
    c->longest = PAGES - 1;
    c->prev = newest;
    *(newest ? &newest->next : &chunks) = c;
    newest = c;
    mapped += EF_CHUNK_BYTES;
    spare++;
    return c;
}

static void chunk_end(chunk *c) {
    *(c->prev ? &c->prev->next : &chunks) = c->next;
    *(c->next ? &c->next->prev : &newest) = c->prev;
    mapped -= EF_CHUNK_BYTES;
    spare--;
    ef_pages_unmap(c, EF_CHUNK_BYTES);
}

void ef_chunk_trim(void) {
    for (chunk *c = chunks, *next; c != NULL; c = next) {
        next = c->next;
        if (c->used == 0) chunk_end(c);
    }
}

/* First page of a free run of n pages; 0 if there is none. Spans of one block begin only where the
 * next power of two does, so that those of the next call fall on the pages of the last one. */
static int find_run(chunk *c, int n) {
    int grid = 1;
    while (c->whole && grid < n) grid *= 2;
    for (int p = 1; p + n <= PAGES; p += grid) {
        int run = 0;
        while (run < n && c->owner[p + run] == 0) run++;
        if (run == n) return p;
        if (grid == 1) p += run;
    }
    c->longest = n - 1;
    return 0;
}

static chunk *chunk_with_run(int n, bool whole, int *first) {
    chunk *empty = NULL;
    for (chunk *c = chunks; c != NULL; c = c->next) {
        if (c->used == 0) {
            if (empty == NULL) empty = c;
        } else if (c->whole == whole && c->longest >= n && (*first = find_run(c, n)) != 0) {
            return c;
        }
    }
    *first = 1;
    return empty != NULL ? empty : chunk_new();
}

/* Whole pages with little waste at the end: classes are multiples of 64 up to 4 KiB, of 1 KiB up to
 * 16 KiB, of 4 KiB up to 64 KiB, and of a page above. */
static int span_pages(size_t size) {
    size_t bytes = size <= 4096       ? 4 * PAGE
                   : size <= PAGE     ? 16 * size
                   : size <= 4 * PAGE ? 4 * size
                                      : size;
    return (int)(bytes / PAGE);
}

static void partial_add(span *s) {
    s->prev = NULL;
    s->next = partial[s->class];
    if (s->next != NULL) s->next->prev = s;
    partial[s->class] = s;
}

static void partial_remove(span *s) {
    *(s->prev ? &s->prev->next : &partial[s->class]) = s->next;
    if (s->next != NULL) s->next->prev = s->prev;
}

static span *span_new(int class) {
    size_t size = ef_class_size(class);
    int pages = span_pages(size), first;
    int total = (int)((size_t)pages * PAGE / size);
    chunk *c = chunk_with_run(pages, total == 1, &first);
    if (c == NULL) return NULL;
    if (c->used == 0) spare--;
    c->whole = total == 1;
    c->used += pages;
    for (int p = first; p < first + pages; p++) c->owner[p] = (uint8_t)first;
    span *s = &c->spans[first];
    *s = (span){.total = (uint16_t)total,
                .pages = (uint16_t)pages,
                .class = (uint8_t) class,
                .first = (uint8_t)first};
    partial_add(s);
    return s;
}

static void span_end(span *s) {
    chunk *c = chunk_of(s);
    partial_remove(s);
    for (int p = s->first; p < s->first + s->pages; p++) c->owner[p] = 0;
    c->used -= s->pages;
    c->longest = PAGES - 1; /* a safe bound until the next search */
    if (c->used == 0 && ++spare > SPARE_CHUNKS) chunk_end(c);
}

static void *span_take(span *s) {
    void *p = s->free;
    if (p != NULL)
        s->free = *(void **)p;
    else
        p = span_at(s) + (size_t)s->made++ * ef_class_size(s->class);
    s->used++;
    if (s->used == s->total) partial_remove(s);
    return p;
}

void *ef_chunk_take(int c, int want, int *got) {
    void *list = NULL;
    int n = 0;
    for (; n < want; n++) {
        span *s = partial[c];
        if (s == NULL && n > 0) break; /* do not grow for a batch */
        if (s == NULL && (s = span_new(c)) == NULL) break;
        void *p = span_take(s);
        *(void **)p = list;
        list = p;
    }
    *got = n;
    return list;
}

void ef_chunk_give(void *p) {
    chunk *c = chunk_of(p);
    span *s = &c->spans[c->owner[(size_t)((char *)p - (char *)c) / PAGE]];
    if (s->used == s->total) partial_add(s);
    *(void **)p = s->free;
    s->free = p;
    if (--s->used == 0) span_end(s);
}
