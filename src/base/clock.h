/* Time: nanoseconds of the monotonic clock. */
#ifndef EF_BASE_CLOCK_H
#define EF_BASE_CLOCK_H
#include <stdint.h>
uint64_t ef_now_ns(void);
#endif
