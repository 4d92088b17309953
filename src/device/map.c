/* mmap aligns to a page only; for a larger alignment we map more and unmap both ends. */
#include "device/map.h"
#include "profile/event.h"
#include <stdint.h>
#include <sys/mman.h>

enum { SYSTEM_PAGE = 4096 };

void *ef_pages_map(size_t bytes, size_t align, bool huge) {
    size_t slack = align > SYSTEM_PAGE ? align : 0;
    char *p = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (slack != 0) {
        size_t before = (size_t)(-(uintptr_t)p & (align - 1));
        if (before > 0) munmap(p, before);
        p += before;
        if (slack > before) munmap(p + bytes, slack - before);
    }
    if (huge) madvise(p, bytes, MADV_HUGEPAGE);
    ef_event_ended(EF_EVENT_GROWTH, 0, (int64_t)bytes);
    return p;
}

void ef_pages_unmap(void *p, size_t bytes) { munmap(p, bytes); }
