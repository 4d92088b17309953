/* Who holds memory: bytes and blocks per label. Labels are copied, so a report never reads a string
 * whose owner is gone. Any thread may call any of these at any time. */
#ifndef EF_DEVICE_HOLDER_H
#define EF_DEVICE_HOLDER_H
#include <stddef.h>
#include <stdint.h>

/* The number of this thread's label (see ef_memory_label); 0: none, or there are too many. */
uint16_t ef_holder_now(void);
void ef_holder_add(uint16_t label, int64_t bytes); /* a block handed out, or -bytes: back */
/* "MatMul 1.0 GiB (3 blocks), ..." of the `top` largest, counting `rest` bytes as those of small
 * blocks; returns the length. */
size_t ef_holder_report(int top, int64_t rest, char *out, size_t size);
int64_t ef_holder_total(void); /* bytes under any label, 0 included */
#endif
