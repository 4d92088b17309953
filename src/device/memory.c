/* The front of the allocator. A thread keeps free lists of blocks up to 64 KiB, so the usual
 * allocation and release touch nothing shared: no lock, no system call. Everything else takes the
 * one lock and goes to chunk.c (up to 1 MiB) or region.c. Each thread counts what it handed out in
 * numbers only it writes, folded into the totals whenever it takes the lock anyway; a reader adds
 * up both. A block may be freed by any thread: it joins that thread's list, and full lists return
 * half of their blocks. A request may be served by a block of up to twice its size, rather than by
 * pages never touched before, so that the memory of programs whose sizes change all the time does
 * not creep up.
 *
 * Under address sanitizer every block is a malloc of its own, so that it sees each one freed. */
#include "device/memory.h"
#include "base/alloc.h"
#include "base/mutex.h"
#include "base/sanitize.h"
#include "base/text.h"
#include "device/chunk.h"
#include "device/device.h"
#include "device/holder.h"
#include "device/region.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CACHED_CLASSES = 36, CACHED_MOST = 64 * 1024, TOP_HOLDERS = 5 };

typedef struct list {
    void *head; /* linked through the first word */
    int n, most;
    int batch; /* to take next: doubles, so that a size seldom used touches little */
} list;

typedef struct cache {
    list lists[CACHED_CLASSES];
    _Atomic int64_t bytes, high, blocks; /* since the last fold; written by the owner only */
    struct cache *next, *prev;
} cache;

static ef_mutex lock = EF_MUTEX(MEMORY); /* all below, chunk.c, region.c */
static cache *caches;
static int64_t current, peak, blocks; /* what has been folded */
static atomic_int_least64_t limit;    /* 0: none; written under the lock */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* tells us when a thread ends */
static bool key_made;
static _Thread_local cache *mine;
static _Thread_local bool ending; /* this thread's cache is gone for good */

static int64_t get(const _Atomic int64_t *at) {
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void set(_Atomic int64_t *at, int64_t v) {
    atomic_store_explicit(at, v, memory_order_relaxed);
}

/* ---- accounts; the lock is held unless said otherwise ---- */

static int64_t total_now(void) {
    int64_t sum = current;
    for (const cache *c = caches; c != NULL; c = c->next) sum += get(&c->bytes);
    return sum;
}

static void fold(cache *c) {
    if (c == NULL) return;
    int64_t high = total_now() - get(&c->bytes) + get(&c->high);
    if (high > peak) peak = high;
    current += get(&c->bytes);
    blocks += get(&c->blocks);
    set(&c->bytes, 0);
    set(&c->high, 0);
    set(&c->blocks, 0);
}

static void charge(int64_t bytes) {
    current += bytes;
    blocks += bytes < 0 ? -1 : 1;
    int64_t now = total_now();
    if (now > peak) peak = now;
}

/* ---- thread caches ---- */

static void flush(list *l, int keep) {
    for (; l->n > keep; l->n--) {
        void *p = l->head;
        l->head = *(void **)p;
        ef_chunk_give(p);
    }
}

static void flush_all(cache *c) {
    if (c == NULL) return;
    for (int i = 0; i < CACHED_CLASSES; i++) {
        flush(&c->lists[i], 0);
        c->lists[i].batch = 1;
    }
    fold(c);
}

static void thread_ends(void *arg) {
    cache *c = arg;
    mine = NULL;
    ending = true;
    ef_mutex_lock(&lock);
    flush_all(c);
    *(c->prev ? &c->prev->next : &caches) = c->next;
    if (c->next != NULL) c->next->prev = c->prev;
    ef_mutex_unlock(&lock);
    ef_free(c);
}

static void lock_heap(void) { ef_mutex_lock(&lock); }

static void unlock_heap(void) { ef_mutex_unlock(&lock); }

static void begin(void) {
    key_made = pthread_key_create(&key, thread_ends) == 0;
    pthread_atfork(lock_heap, unlock_heap, unlock_heap); /* a child must not inherit it locked */
}

/* This thread's cache, made when first needed; NULL if it cannot have one. */
static cache *cache_get(void) {
    if (mine != NULL || ending) return mine;
    pthread_once(&once, begin);
    cache *c = key_made && !EF_ASAN ? ef_calloc(1, sizeof *c) : NULL;
    if (c == NULL) return NULL;
    if (pthread_setspecific(key, c) != 0) {
        ef_free(c);
        return NULL;
    }
    for (int i = 0; i < CACHED_CLASSES; i++) {
        size_t fit = 128 * 1024 / ef_class_size(i);
        c->lists[i].most = fit < 4 ? 4 : fit > 64 ? 64 : (int)fit;
        c->lists[i].batch = 1;
    }
    ef_mutex_lock(&lock);
    c->next = caches;
    if (caches != NULL) caches->prev = c;
    caches = c;
    ef_mutex_unlock(&lock);
    return mine = c;
}

static void count(cache *c, int64_t bytes, int64_t n) {
    int64_t now = get(&c->bytes) + bytes;
    set(&c->bytes, now);
    set(&c->blocks, get(&c->blocks) + n);
    if (now > get(&c->high)) set(&c->high, now);
}

/* ---- blocks that are in no thread's list; the lock is held ---- */

#if EF_ASAN
enum { HEADER = 64 };
static const size_t absurd = (size_t)1 << 38; /* the sanitizer ends the program above 2^40 */

static void *block_take(cache *c, size_t bytes, uint16_t label) {
    void *p;
    (void)c;
    if (bytes > absurd || posix_memalign(&p, HEADER, HEADER + bytes) != 0) return NULL;
    *(uint16_t *)p = label;
    return (char *)p + HEADER;
}

static uint16_t block_give(void *p, size_t bytes) {
    (void)bytes;
    void *whole = (char *)p - HEADER;
    uint16_t label = *(uint16_t *)whole;
    free(whole);
    return label;
}
#else
static void *block_take(cache *c, size_t bytes, uint16_t label) {
    if (bytes > EF_BLOCK_MOST) return ef_region_take(bytes, label);
    int class = ef_class_of(bytes), got;
    list *l = c != NULL && class < CACHED_CLASSES ? &c->lists[class] : NULL;
    void *p = l != NULL ? l->head : NULL;
    if (p != NULL) { /* while there is a limit, every request comes here */
        l->head = *(void **)p;
        l->n--;
    } else {
        p = ef_chunk_take(class, l != NULL ? l->batch : 1, &got);
        if (p != NULL && l != NULL) {
            l->head = *(void **)p;
            l->n = got - 1;
            if (l->batch < l->most / 2) l->batch *= 2;
        }
    }
    if (p != NULL && bytes >= EF_LABELLED) *ef_chunk_label(p) = label;
    return p;
}

static uint16_t block_give(void *p, size_t bytes) {
    if (bytes > EF_BLOCK_MOST) return ef_region_give(p);
    uint16_t label = bytes >= EF_LABELLED ? *ef_chunk_label(p) : 0;
    ef_chunk_give(p);
    return label;
}
#endif

static void release_caches(cache *c) {
    flush_all(c);
    ef_region_trim();
    ef_chunk_trim();
}

/* ---- the interface ---- */

static ef_status *refused(size_t bytes, int64_t in_use, size_t largest) {
    char held[400], bound[160] = "";
    int64_t most = atomic_load_explicit(&limit, memory_order_relaxed);
    ef_holder_report(TOP_HOLDERS, in_use - ef_holder_total(), held, sizeof held);
    if (most > 0) {
        snprintf(bound, sizeof bound, ", limit %s", EF_BYTES(most));
        largest = most > in_use ? (size_t)(most - in_use) : 0;
    }
    return ef_error(EF_NO_MEMORY,
                    "out of memory on %s: asked %s; %s in use%s, largest free block %s. Largest "
                    "holders: %s",
                    ef_device_name(0), EF_BYTES((int64_t)bytes), EF_BYTES(in_use), bound,
                    EF_BYTES((int64_t)largest), held[0] ? held : "none");
}

/* Hands out the first block of a list that has one. */
static inline void *take_cached(cache *c, list *l, size_t bytes) {
    void *p = l->head;
    l->head = *(void **)p;
    l->n--;
    count(c, (int64_t)bytes, 1);
    if (bytes >= EF_LABELLED) {
        uint16_t label = ef_holder_now();
        *ef_chunk_label(p) = label;
        ef_holder_add(label, (int64_t)bytes);
    }
    return p;
}

/* Takes a block of a larger class. It will go back to the list of its own class, since the chunk
 * tells the class of blocks of this size. */
static void *take_larger(cache *c, size_t bytes) {
    if (c == NULL || bytes < EF_LABELLED || bytes > CACHED_MOST ||
        atomic_load_explicit(&limit, memory_order_relaxed) != 0)
        return NULL;
    int class = ef_class_of(bytes);
    for (int k = class + 1; k <= class + 4 && k < CACHED_CLASSES; k++)
        if (c->lists[k].head != NULL) return take_cached(c, &c->lists[k], bytes);
    return NULL;
}

static ef_status *alloc_slow(size_t bytes, bool injected, void **out) {
    cache *c = cache_get();
    void *p = injected ? NULL : take_larger(c, bytes);
    if (p != NULL) {
        *out = p;
        return NULL;
    }
    uint16_t label = bytes >= EF_LABELLED ? ef_holder_now() : 0;
    ef_mutex_lock(&lock);
    fold(c);
    int64_t most = atomic_load_explicit(&limit, memory_order_relaxed), in_use = total_now();
    bool fits = most == 0 || (bytes <= (size_t)most && in_use <= most - (int64_t)bytes);
    p = fits && !injected ? block_take(c, bytes, label) : NULL;
    size_t largest = 0;
    if (p == NULL && fits && !injected) {
        largest = ef_region_largest_free();
        release_caches(c);
        p = block_take(c, bytes, label);
    }
    if (p != NULL) charge((int64_t)bytes);
    ef_mutex_unlock(&lock);
    if (p == NULL) return refused(bytes, in_use, largest);
    if (bytes >= EF_LABELLED) ef_holder_add(label, (int64_t)bytes);
    *out = p;
    return NULL;
}

static ef_status *alloc_elsewhere(int device, size_t bytes, void **out) {
    const ef_device *d = ef_device_get(device);
    if (d == NULL) return ef_error(EF_INVALID, "memory: there is no device %d", device);
    return d->alloc(bytes, out);
}

ef_status *ef_memory_alloc(int device, size_t bytes, void **out) {
    if (EF_UNLIKELY(device != EF_HOST)) return alloc_elsewhere(device, bytes, out);
    if (EF_UNLIKELY(ef_alloc_refuse())) return alloc_slow(bytes, true, out);
    cache *c = mine;
    bytes += bytes == 0;
    if (EF_UNLIKELY(bytes > CACHED_MOST || c == NULL ||
                    atomic_load_explicit(&limit, memory_order_relaxed) != 0))
        return alloc_slow(bytes, false, out);
    list *l = &c->lists[ef_class_of(bytes)];
    if (EF_UNLIKELY(l->head == NULL)) return alloc_slow(bytes, false, out);
    *out = take_cached(c, l, bytes);
    return NULL;
}

static void free_slow(void *p, size_t bytes) {
    ef_mutex_lock(&lock);
    uint16_t label = block_give(p, bytes);
    charge(-(int64_t)bytes);
    ef_mutex_unlock(&lock);
    if (bytes >= EF_LABELLED) ef_holder_add(label, -(int64_t)bytes);
}

void ef_memory_free(int device, void *p, size_t bytes) {
    if (p == NULL) return;
    if (EF_UNLIKELY(device != EF_HOST)) {
        ef_device_get(device)->free(p, bytes);
        return;
    }
    bytes += bytes == 0;
    cache *c = mine;
    if (EF_UNLIKELY(bytes > CACHED_MOST || (c == NULL && (c = cache_get()) == NULL))) {
        free_slow(p, bytes);
        return;
    }
    int class;
    if (bytes >= EF_LABELLED) {
        ef_holder_add(*ef_chunk_label(p), -(int64_t)bytes);
        class = ef_chunk_class(p);
    } else {
        class = ef_class_of(bytes);
    }
    list *l = &c->lists[class];
    *(void **)p = l->head;
    l->head = p;
    count(c, -(int64_t)bytes, -1);
    if (EF_UNLIKELY(++l->n > l->most)) {
        ef_mutex_lock(&lock);
        fold(c);
        flush(l, l->most / 2);
        ef_mutex_unlock(&lock);
    }
}

void ef_memory_info_get(int device, ef_memory_info *out) {
    *out = (ef_memory_info){0};
    if (device != EF_HOST) {
        const ef_device *d = ef_device_get(device);
        if (d != NULL) d->info(out);
        return;
    }
    ef_mutex_lock(&lock);
    fold(mine);
    int64_t used = total_now(), n = blocks;
    for (const cache *c = caches; c != NULL; c = c->next) n += get(&c->blocks);
    int64_t mapped = (int64_t)(ef_chunk_mapped() + ef_region_mapped());
    if (used > peak) peak = used;
    *out = (ef_memory_info){.current = used,
                            .peak = peak,
                            .cached = mapped > used ? mapped - used : 0,
                            .limit = atomic_load_explicit(&limit, memory_order_relaxed),
                            .blocks = n};
    ef_mutex_unlock(&lock);
}

void ef_memory_reset_peak(int device) {
    if (device != EF_HOST) {
        const ef_device *d = ef_device_get(device);
        if (d != NULL) d->reset_peak();
        return;
    }
    ef_mutex_lock(&lock);
    fold(mine);
    peak = total_now();
    ef_mutex_unlock(&lock);
}

void ef_memory_set_limit(int device, int64_t bytes) {
    if (device != EF_HOST) {
        const ef_device *d = ef_device_get(device);
        if (d != NULL) d->set_limit(bytes);
        return;
    }
    ef_mutex_lock(&lock);
    atomic_store_explicit(&limit, bytes > 0 ? bytes : 0, memory_order_relaxed);
    ef_mutex_unlock(&lock);
}

void ef_memory_trim(int device) {
    if (device != EF_HOST) {
        const ef_device *d = ef_device_get(device);
        if (d != NULL) d->trim();
        return;
    }
    ef_mutex_lock(&lock);
    release_caches(mine);
    ef_mutex_unlock(&lock);
}
