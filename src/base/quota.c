/* A quota may be set on our own group or on any of its parents, and the smallest one rules. Inside
 * a container the path in /proc/self/cgroup may not exist under /sys; then the mount's root is
 * ours. */
#include "base/quota.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 640 };

/* Reads a short file into buf; 0 if it cannot be read. */
static int slurp(const char *path, char *buf, size_t size) {
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    size_t n = fread(buf, 1, size - 1, f);
    buf[n] = 0;
    fclose(f);
    return n > 0;
}

static int processors(double quota, double period) {
    if (quota <= 0 || period <= 0) return 0;
    double n = quota / period;
    int whole = n > 1 << 20 ? 1 << 20 : (int)n;
    return whole + (whole < n);
}

/* The quota written in one group's directory; 0 if none. */
static int quota_at(const char *dir, int v2) {
    char path[PATH + 32], buf[64];
    snprintf(path, sizeof path, "%s/%s", dir, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (!slurp(path, buf, sizeof buf)) return 0;
    char *end;
    double quota = strtod(buf, &end), period = 0;
    if (end == buf) return 0; /* v2 says "max" when there is none */
    if (v2) {
        period = strtod(end, NULL);
    } else {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
        if (slurp(path, buf, sizeof buf)) period = strtod(buf, NULL);
    }
    return processors(quota, period);
}

/* The smallest quota from mount/path upwards to the mount. */
static int quota_along(const char *mount, const char *path, int v2) {
    char dir[PATH];
    int best = 0;
    if ((size_t)snprintf(dir, sizeof dir, "%s%s", mount, path) >= sizeof dir) return 0;
    size_t floor = strlen(mount);
    for (;;) {
        int q = quota_at(dir, v2);
        if (q > 0 && (best == 0 || q < best)) best = q;
        char *slash = strrchr(dir + floor, '/');
        if (slash == NULL) return best;
        *slash = 0;
    }
}

static int has_word(const char *list, const char *end, const char *word) {
    size_t n = strlen(word);
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - list) == n && memcmp(list, word, n) == 0) return 1;
        list = stop + 1;
    }
    return 0;
}

/* One line of /proc/self/cgroup: "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1). */
static int quota_of_line(const char *root, char *line) {
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (path == NULL) return 0;
    names++;
    char mount[PATH];
    if (names == path) {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return quota_along(mount, path + 1, 1);
    }
    if (!has_word(names, path, "cpu")) return 0;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/cpu", root);
    int q = quota_along(mount, path + 1, 0);
    if (q > 0) return q;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%.*s", root, (int)(path - names), names);
    return quota_along(mount, path + 1, 0);
}

int ef_quota_cgroup(const char *root) {
    char path[PATH], buf[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!slurp(path, buf, sizeof buf)) return 0;
    int best = 0;
    for (char *line = buf, *next; *line != 0; line = next) {
        next = line + strcspn(line, "\n");
        if (*next != 0) *next++ = 0;
        int q = quota_of_line(root, line);
        if (q > 0 && (best == 0 || q < best)) best = q;
    }
    return best;
}

int ef_quota_affinity(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1; /* more than 1024: cannot tell */
    int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}
