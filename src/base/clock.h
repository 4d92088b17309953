/* Time: nanoseconds of the monotonic clock, and ticks, which are cheaper to read. */
#ifndef EF_BASE_CLOCK_H
#define EF_BASE_CLOCK_H
#include <stdint.h>
uint64_t ef_now_ns(void);
uint64_t ef_thread_ns(void); /* in which the calling thread had a processor; a system call */
/* The processor's counter where it has one that counts evenly, else nanoseconds. */
static inline uint64_t ef_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return ef_now_ns();
#endif
}
#endif
