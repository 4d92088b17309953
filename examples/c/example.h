/* What the examples share: stopping on an error, a clock, resident memory, medians. */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include <evenflow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A real program would handle the status; an example says what went wrong and stops. */
static inline void ok(ef_status *s) {
    if (s == NULL) return;
    fprintf(stderr, "error %d: %s\n", (int)ef_status_code(s), ef_status_message(s));
    ef_status_free(s);
    exit(1);
}

static inline double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline long resident_kb(void) {
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL) return 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) kb = strtol(line + 6, NULL, 10);
    fclose(f);
    return kb;
}

static inline int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median of v[from, to); reorders them. */
static inline double median(float *v, long from, long to) {
    qsort(v + from, (size_t)(to - from), sizeof *v, ascending);
    return v[(from + to) / 2];
}

/* The line `make run` collects. */
static inline void report_calls(const char *name, const float *us, long n) {
    printf("%s: first %.1f us, second %.1f us, thousandth %.1f us\n", name, us[0], us[1],
           us[n > 1000 ? 999 : n - 1]);
}
#endif
