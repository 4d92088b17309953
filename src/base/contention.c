/* There are two measures. How long a thread waited for a processor is cheap to read, but a thread
 * also waits when the kernel has put two threads of its own team on one processor while another
 * stands idle, which happens several times a second on an otherwise quiet machine. How much of the
 * processors' time other programs use is certain, but takes some microseconds per processor to
 * read. The pool reads the second when the first raises a suspicion. */
#include "base/contention.h"
#include "base/clock.h"
#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reads the beginning of a file as a string; returns its length, or 0 if it cannot be read. */
static size_t read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(file, text + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    close(file);
    text[n] = 0;
    return n;
}

bool ef_turns_read(ef_turns *out) {
    char text[64], *rest, *end;
    if (read_text("/proc/thread-self/schedstat", text, sizeof text) == 0) return false;
    out->ran = strtoull(text, &rest, 10);
    out->waited = strtoull(rest, &end, 10);
    return end != rest;
}

bool ef_turns_waited(const ef_turns *before, const ef_turns *after) {
    uint64_t ran = after->ran - before->ran, waited = after->waited - before->waited;
    return waited > 1000000 && waited > (ran + waited) / 8;
}

int ef_usage_parse(const char *text, const bool *mask, int n, uint64_t *idle_ticks) {
    enum { IDLE = 3, IOWAIT = 4, STEAL = 7, COLUMNS = 8 };
    int found = 0;
    *idle_ticks = 0;
    for (const char *line = text; strncmp(line, "cpu", 3) == 0;) {
        if (isdigit((unsigned char)line[3])) {
            char *at;
            long k = strtol(line + 3, &at, 10);
            uint64_t column[COLUMNS] = {0};
            for (int c = 0; c < COLUMNS; c++) column[c] = strtoull(at, &at, 10);
            if (k < n && mask[k]) {
                *idle_ticks += column[IDLE] + column[IOWAIT] + column[STEAL];
                found++;
            }
        }
        const char *newline = strchr(line, '\n');
        if (newline == NULL) break;
        line = newline + 1;
    }
    return found;
}

bool ef_usage_read(ef_usage *out) {
    /* The lines of 1,024 processors, the most a cpu_set_t holds, take about 60 KB; workers have the
     * stack for fewer, and what does not fit is a machine for which we do not tell. */
    char text[16384];
    cpu_set_t set;
    bool mask[CPU_SETSIZE];
    struct timespec own;
    uint64_t ticks;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
    for (int k = 0; k < CPU_SETSIZE; k++) mask[k] = CPU_ISSET((size_t)k, &set);
    if (read_text("/proc/stat", text, sizeof text) == 0) return false;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0) return false;
    out->at = ef_now_ns();
    out->processors = ef_usage_parse(text, mask, CPU_SETSIZE, &ticks);
    out->idle = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    out->own = (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec;
    return out->processors > 0 && out->processors == CPU_COUNT(&set);
}

double ef_usage_others(const ef_usage *before, const ef_usage *after) {
    double all = (double)(after->at - before->at) * after->processors;
    double idle = (double)after->idle - (double)before->idle;
    double own = (double)after->own - (double)before->own;
    if (all <= 0 || before->processors != after->processors) return 0;
    double others = (all - idle - own) / all;
    return others < 0 ? 0 : others > 1 ? 1 : others;
}

static const uint64_t slice_ns = 100000; /* the shortest that the kernel grants */

/* The kernel's struct sched_attr, of which the C library has no declaration. */
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* runtime: the length of a slice, in nanoseconds */
} attributes;

void ef_slices_shorten(void) {
    attributes a = {.size = sizeof a};
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER) return;
    if (a.runtime != 0 && a.runtime <= slice_ns) return;
    a.runtime = slice_ns;
    a.flags = 0;
    syscall(SYS_sched_setattr, 0, &a, 0);
}
