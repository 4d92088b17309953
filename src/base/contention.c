/* Counting involuntary switches would not do: on an idle machine a thread suffers some fifty of
 * them a second, each a few microseconds long, because a woken worker may start on the processor of
 * its caller. The time spent waiting tells the two apart: about one percent there, half on a
 * machine whose processors are all in use. */
#include "base/contention.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

bool ef_turns_read(ef_turns *out) {
    char text[64];
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0) return false;
    text[n] = 0;
    char *rest, *end;
    out->ran = strtoull(text, &rest, 10);
    out->waited = strtoull(rest, &end, 10);
    return end != rest;
}

bool ef_turns_crowded(const ef_turns *before, const ef_turns *after) {
    uint64_t ran = after->ran - before->ran, waited = after->waited - before->waited;
    return waited > 1000000 && waited > (ran + waited) / 8;
}
