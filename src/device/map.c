/* mmap aligns to a page only; for a larger alignment we map more and unmap both ends. */
#include "device/map.h"
#include "profile/event.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

size_t ef_pages_resident(void) {
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0) return 0;
    text[n] = '\0';
    const char *second = strchr(text, ' ');
    return second != NULL ? (size_t)strtoull(second, NULL, 10) * SYSTEM_PAGE : 0;
}
