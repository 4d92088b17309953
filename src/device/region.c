/* The system's page tables do the coalescing: a region is mapped and unmapped whole, never split.
 * Sizes are rounded to eight steps per doubling (what is never touched costs no memory), so the
 * temporary of the next call fits the region of the last one: one look into its bin, no system call
 * and no page fault. A kept region of up to twice the size serves as well, as for small blocks:
 * its pages are warm, and a program whose sizes change takes less memory. Whenever a region is
 * taken or given back, kept regions are unmapped, least recently used first, if they have been idle
 * for ten seconds, or if together they exceed 8 MiB and exceed the difference between the most the
 * program used in the last ten to twenty seconds and what it uses now.
 *
 * Before a new region makes the process larger than ever, what malloc keeps goes back to the
 * system: numpy's arrays, once freed, stay in its heap, up to 64 MiB. No more than a tenth of the
 * time is spent on that. */
#include "device/region.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "device/map.h"

enum { STEPS = 8, BINS = 40 * STEPS, FIRST_BIT = 20, REUSE_BINS = STEPS + 1, ALIGN = 2 << 20 };
static const uint64_t idle_ns = 10000000000u;
static const size_t keep_always = (size_t)8 << 20;

typedef struct region {
    void *at;
    size_t size; /* mapped bytes */
    uint16_t label;
    uint64_t freed;                     /* when */
    struct region *newer, *older;       /* kept regions in the order they were freed */
    struct region *bin_next, *bin_prev; /* kept regions of one size, newest first */
} region;

static ef_map by_address; /* every region, in use or kept */
static region *bins[BINS], *newest, *oldest;
static size_t mapped, kept;
static size_t most[2];  /* highest use in this and the previous period */
static uint64_t period; /* when this one began */

static int bin_of(size_t bytes) {
    size_t x = bytes - 1;
    int top = 63 - __builtin_clzll(x);
    return (top - FIRST_BIT) * STEPS + (int)(x >> (top - 3) & (STEPS - 1));
}

static size_t bin_size(int bin) {
    return (size_t)(STEPS + 1 + bin % STEPS) << (bin / STEPS + FIRST_BIT - 3);
}

static uint64_t address_hash(const void *p) { return ef_hash_mix(0, (uint64_t)(uintptr_t)p); }

static bool same_address(const void *value, const void *key) {
    return ((const region *)value)->at == key;
}

static void keep(region *r, uint64_t now) {
    int b = bin_of(r->size);
    r->freed = now;
    r->newer = NULL;
    r->older = newest;
    *(newest ? &newest->newer : &oldest) = r;
    newest = r;
    r->bin_prev = NULL;
    r->bin_next = bins[b];
    if (bins[b] != NULL) bins[b]->bin_prev = r;
    bins[b] = r;
    kept += r->size;
}

static void unkeep(region *r) {
    *(r->newer ? &r->newer->older : &newest) = r->older;
    *(r->older ? &r->older->newer : &oldest) = r->newer;
    *(r->bin_prev ? &r->bin_prev->bin_next : &bins[bin_of(r->size)]) = r->bin_next;
    if (r->bin_next != NULL) r->bin_next->bin_prev = r->bin_prev;
    kept -= r->size;
}

static void region_end(region *r) {
    unkeep(r);
    ef_map_remove(&by_address, address_hash(r->at), r);
    mapped -= r->size;
    ef_pages_unmap(r->at, r->size);
    ef_free(r);
}

static region *region_new(size_t size) {
    region *r = ef_malloc(sizeof *r);
    if (r == NULL) return NULL;
    *r = (region){.at = ef_pages_map(size, ALIGN, size >= 2 * ALIGN), .size = size};
    if (r->at == NULL) {
        ef_free(r);
        return NULL;
    }
    ef_status *s = ef_map_put(&by_address, address_hash(r->at), r);
    if (s != NULL) {
        ef_status_free(s);
        ef_pages_unmap(r->at, size);
        ef_free(r);
        return NULL;
    }
    mapped += size;
    return r;
}

static void drop_what_is_idle(uint64_t now) {
    size_t used = mapped - kept;
    if (now - period > idle_ns) {
        most[1] = most[0];
        most[0] = used;
        period = now;
    }
    if (used > most[0]) most[0] = used;
    size_t peak = most[0] > most[1] ? most[0] : most[1];
    size_t bound = peak - used > keep_always ? peak - used : keep_always;
    while (oldest != NULL && (kept > bound || now - oldest->freed > idle_ns)) region_end(oldest);
}

/* A region was mapped and will be written. If the process is going to be larger than ever, malloc
 * gives back what it keeps; whoever has few regions leaves it alone. */
static void before_growth(size_t size) {
    static const size_t few = (size_t)16 << 20;
    static size_t highest;
    static uint64_t ended, took;
    if (mapped <= few || ef_pages_resident() + size <= highest) return;
    uint64_t began = ef_now_ns();
    if (began - ended >= 10 * took) {
        ef_malloc_trim();
        ended = ef_now_ns();
        took = ended - began;
    }
    highest = ef_pages_resident() + size;
}

void *ef_region_take(size_t bytes, uint16_t label) {
    if (bytes > (size_t)1 << 50) return NULL;
    int bin = bin_of(bytes);
    region *r = NULL;
    for (int b = bin; b < bin + REUSE_BINS && r == NULL; b++) r = bins[b];
    bool fresh = r == NULL;
    if (!fresh)
        unkeep(r);
    else
        r = region_new(bin_size(bin));
    if (r == NULL) return NULL;
    r->label = label;
    drop_what_is_idle(ef_now_ns());
    if (fresh) before_growth(r->size);
    return r->at;
}

uint16_t ef_region_give(void *p) {
    region *r = ef_map_find(&by_address, address_hash(p), same_address, p);
    uint16_t label = r->label;
    uint64_t now = ef_now_ns();
    keep(r, now);
    drop_what_is_idle(now);
    return label;
}

void ef_region_trim(void) {
    while (oldest != NULL) region_end(oldest);
    most[0] = most[1] = 0;
    if (by_address.n == 0) ef_map_free(&by_address);
}

size_t ef_region_mapped(void) { return mapped; }

size_t ef_region_largest_free(void) {
    for (int b = BINS - 1; b >= 0; b--)
        if (bins[b] != NULL) return bins[b]->size;
    return 0;
}
