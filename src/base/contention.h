/* Whether other programs compete with this process for its processors. */
#ifndef EF_BASE_CONTENTION_H
#define EF_BASE_CONTENTION_H
#include <stdbool.h>
#include <stdint.h>

/* What the kernel counts for a thread, in nanoseconds. */
typedef struct ef_turns {
    uint64_t ran;    /* on a processor */
    uint64_t waited; /* runnable, while others had the processor */
} ef_turns;

/* Fills in the calling thread's turns; returns false where the kernel does not tell. */
bool ef_turns_read(ef_turns *out);
/* Did the thread wait for more than an eighth of the time it wanted to run? A wait of less than a
 * millisecond does not count. This is a reason to suspect other programs, not a proof: the thread
 * may have waited for another thread of its own process. */
bool ef_turns_waited(const ef_turns *before, const ef_turns *after);

/* Asks the kernel for short time slices for the calling thread. Where it grants them (Linux 6.12
 * and later), the thread gets a processor as soon as it wakes up, instead of after the slice of
 * whoever has it; its part of the processors' time stays the same. Elsewhere nothing happens. */
void ef_slices_shorten(void);

/* What the processors of this process have done so far, in nanoseconds. */
typedef struct ef_usage {
    uint64_t at;    /* ef_now_ns */
    uint64_t idle;  /* all processors together; what a hypervisor took away counts as idle */
    uint64_t own;   /* used by this process, on any processor */
    int processors; /* in the calling thread's affinity mask */
} ef_usage;

/* Returns false where the kernel does not tell. */
bool ef_usage_read(ef_usage *out);
/* Parses the text of /proc/stat: the idle time, in clock ticks, of the processors k for which
 * mask[k] is set. Returns how many of them it found. */
int ef_usage_parse(const char *text, const bool *mask, int n, uint64_t *idle_ticks);
/* The part of the processors' time, from 0 to 1, that other programs used between two readings.
 * The kernel counts idle time in ticks of 10 ms, so readings should be 100 ms apart or more. */
double ef_usage_others(const ef_usage *before, const ef_usage *after);
#endif
