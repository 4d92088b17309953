/* The memory of devices; that of the host is a caching allocator for tensor bytes. Small blocks (up
 * to 1 MiB) come from size classes, four steps per doubling, with free lists per thread; a large
 * one is a mapping of its own, kept for the next request of its size and returned to the system
 * when idle. It knows current and peak bytes, honours a limit, and on failure names the largest
 * holders. */
#ifndef EF_DEVICE_MEMORY_H
#define EF_DEVICE_MEMORY_H
#include "base/status.h"

typedef struct ef_memory_info {
    int64_t current, peak; /* bytes handed out now and at most since the last reset */
    int64_t cached;        /* bytes kept for reuse */
    int64_t limit;         /* 0: none */
    int64_t blocks;        /* blocks handed out */
} ef_memory_info;

/* 64-byte aligned. On failure caches are released and the request tried again; then the status
 * says what was asked, what is in use, and the largest holders. */
ef_status *ef_memory_alloc(int device, size_t bytes, void **out);
void ef_memory_free(int device, void *p, size_t bytes); /* bytes as asked for */
void ef_memory_info_get(int device, ef_memory_info *out);
void ef_memory_reset_peak(int device);
void ef_memory_set_limit(int device, int64_t bytes); /* 0: no limit */
void ef_memory_trim(int device);                     /* gives cached memory back to the system */
/* What the current thread's allocations are for ("MatMul", "variable kernel"), used in the report
 * of holders; a static or long-lived string; NULL to clear. Returns the previous one. */
const char *ef_memory_label(const char *label);
#endif
