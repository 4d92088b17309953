/* Scratch buffers of kernels. A few stay in a free list; a caller takes the smallest that is large
 * enough. So in the steady state nothing is allocated, and memory is bounded by what the calls that
 * run at the same time need. */
#include "kernels/borrow.h"
#include "base/alloc.h"
#include "base/mutex.h"
#include <stdint.h>
#include <sys/mman.h>

enum { SHELF = 16, HEAD = 64, HUGE_PAGE = 2 << 20 };
static const size_t keep_at_most = (size_t)256 << 20;

typedef struct head {
    size_t bytes; /* behind the head */
} head;

static ef_mutex lock = EF_MUTEX(SCRATCH); /* guards the two below; a leaf */
static head *shelf[SHELF];
static size_t shelf_bytes;

static head *take(int k) {
    head *h = shelf[k];
    shelf[k] = NULL;
    if (h != NULL) shelf_bytes -= h->bytes;
    return h;
}

/* Large buffers are read in strides, and looking up thousands of small pages would take time. */
static void advise_huge_pages(char *p, size_t bytes) {
    size_t before = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    if (bytes >= before + HUGE_PAGE)
        madvise(p + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
}

void *ef_borrow(size_t bytes) {
    int best = -1;
    ef_mutex_lock(&lock);
    for (int k = 0; k < SHELF; k++) {
        if (shelf[k] == NULL || shelf[k]->bytes < bytes) continue;
        if (best < 0 || shelf[k]->bytes < shelf[best]->bytes) best = k;
    }
    head *h = best >= 0 ? take(best) : NULL;
    ef_mutex_unlock(&lock);
    if (h == NULL) {
        size_t size = bytes < 4096 ? 4096 : bytes + bytes / 8;
        if (size < bytes || size > SIZE_MAX - HEAD) return NULL;
        h = ef_malloc_aligned(HEAD + size);
        if (h == NULL) return NULL;
        advise_huge_pages((char *)h, HEAD + size);
        h->bytes = size;
    }
    return (char *)h + HEAD;
}

/* The shelf prefers large buffers: a full shelf gives up its smallest. */
void ef_borrow_end(void *p) {
    if (p == NULL) return;
    head *h = (head *)((char *)p - HEAD), *out = h;
    ef_mutex_lock(&lock);
    int place = 0;
    for (int k = 0; k < SHELF && shelf[place] != NULL; k++)
        if (shelf[k] == NULL || shelf[k]->bytes < shelf[place]->bytes) place = k;
    size_t there = shelf[place] != NULL ? shelf[place]->bytes : 0;
    if (there < h->bytes && shelf_bytes - there + h->bytes <= keep_at_most) {
        out = take(place);
        shelf[place] = h;
        shelf_bytes += h->bytes;
    }
    ef_mutex_unlock(&lock);
    ef_free_aligned(out);
}
