/* A header in front of the bytes holds their number, which ef_memory_free needs. */
#include "tensor/scratch.h"
#include "device/device.h"
#include "device/memory.h"
#include <stdint.h>

enum { HEAD = 64 };

void *ef_scratch_take(size_t bytes) {
    void *p;
    if (bytes > SIZE_MAX - HEAD) return NULL;
    const char *label = ef_memory_label("scratch of kernels");
    ef_status *s = ef_memory_alloc(EF_HOST, HEAD + bytes, &p);
    ef_memory_label(label);
    if (s != NULL) {
        ef_status_free(s); /* the kernel reports the failure itself */
        return NULL;
    }
    *(size_t *)p = HEAD + bytes;
    return (char *)p + HEAD;
}

void ef_scratch_end(void *p) {
    if (p == NULL) return;
    void *head = (char *)p - HEAD;
    ef_memory_free(EF_HOST, head, *(size_t *)head);
}
