/* Runs every benchmark of the table and prints each figure with its bar and verdict; the exit
 * status is 1 if one is missed. */
#include "bench.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int held, missed;

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Processor time of this thread: the cost of a call, independent of other programs. */
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* An OpenMP team spins for some milliseconds after its work, and would take the processors from the
 * side that is measured next, so there is a pause. On a virtual machine an idle processor takes
 * milliseconds to wake up, so after the pause each side works for a while before it is timed. */
static void until_team_sleeps(const ef_side *next) {
    const struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    for (double end = bench_now() + 10e6; bench_now() < end;) next->work(next->arg);
}

/* `teams`: one of the sides that are compared has a team of OpenMP's. */
static double sample(const ef_side *s, bool teams) {
    if (s->omp) omp_set_num_threads(ef_threads_get()); /* the engine keeps libraries on one */
    if (teams) until_team_sleeps(s);
    double t = s->alone ? cpu_now() : bench_now();
    for (int k = 0; k < s->times; k++) s->work(s->arg);
    return ((s->alone ? cpu_now() : bench_now()) - t) / s->times;
}

double bench_compare(const ef_side *a, const ef_side *b, int samples, double *ns_a, double *ns_b) {
    double *va = malloc(3 * (size_t)samples * sizeof *va);
    if (va == NULL) exit(2);
    double *vb = va + samples, *ratio = vb + samples;
    bool teams = a->omp || b->omp;
    sample(a, false); /* warm both */
    sample(b, false);
    for (int k = 0; k < samples; k++) {
        if (k % 2) vb[k] = sample(b, teams); /* the order alternates */
        va[k] = sample(a, teams);
        if (k % 2 == 0) vb[k] = sample(b, teams);
        ratio[k] = va[k] / vb[k];
    }
    *ns_a = bench_median(va, samples);
    *ns_b = bench_median(vb, samples);
    double times = bench_median(ratio, samples);
    free(va);
    return times;
}

static void one_malloc(void *arg) {
    void *volatile p = malloc(256);
    free(p);
    (void)arg;
}

double bench_unit(void) {
    double v[31];
    ef_side s = {.work = one_malloc, .times = 20000, .alone = true};
    sample(&s, false);
    for (int k = 0; k < 31; k++) v[k] = sample(&s, false);
    return bench_median(v, 31);
}

void bench_row(const char *name, double figure, double bar, const char *unit, const char *what) {
    static int rows;
    if (rows++ == 0) printf("%-48s %9s %9s          %s\n", "figure", "measured", "bar", "");
    int ok = figure <= bar;
    *(ok ? &held : &missed) += 1;
    printf("%-48s %8.2f%s %8.2f%s  %-6s  %s\n", name, figure, unit, bar, unit,
           ok ? "held" : "MISSED", what);
    fflush(stdout);
}

int bench_end(void) {
    printf("%d held, %d missed\n", held, missed);
    return missed > 0;
}

void bench_check(ef_status *s) {
    if (s == NULL) return;
    fprintf(stderr, "bench: %s\n", ef_status_message(s));
    exit(2);
}

void bench_fill(ef_tensor *t, ef_dtype dtype, int rank, const int64_t *dim, uint32_t seed) {
    ef_shape s = {.rank = rank};
    if (rank > 0) memcpy(s.dim, dim, (size_t)rank * sizeof *dim);
    bench_check(ef_tensor_new(dtype, &s, t));
    const void *data;
    bench_check(ef_tensor_data(t, &data));
    float *v = (float *)data;
    for (int64_t k = 0, n = ef_tensor_count(t); k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        v[k] = (float)(seed >> 8) / (float)(1 << 24) - 0.5f;
    }
}

void bench_op(const char *op, int n, const ef_tensor *a, const ef_tensor *b, ef_tensor *out) {
    int n_out;
    const ef_tensor *in[] = {a, b};
    bench_check(ef_call_op(ef_op_find(op), NULL, in, n, out, 1, &n_out));
}

const float *bench_data(const ef_tensor *t) {
    const void *data;
    bench_check(ef_tensor_data(t, &data));
    return data;
}

/* Words name the parts of the table to run; without any, all run. */
int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"calls", bench_calls},   {"loops", bench_loops}, {"chain", bench_chain},
                 {"matmul", bench_matmul}, {"conv", bench_conv},   {"adam", bench_adam},
                 {"shapes", bench_shapes}, {"share", bench_share}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        bool wanted = argc == 1;
        for (int j = 1; j < argc; j++) wanted = wanted || strcmp(argv[j], parts[k].name) == 0;
        if (wanted) parts[k].run();
    }
    return bench_end();
}
