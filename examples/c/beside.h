/* Times a long run of calls, fairly even if the speed of the machine changes.
 *
 * Are the last calls slower than the early ones? Between the two lie seconds, in which a machine
 * with other guests may change its speed by half. So a run has a companion: a second process with
 * the same program, which takes turns with it on one processor through its second tenth, then
 * rests, and takes turns with it again through its last. How much the run lost on its companion
 * from the one tenth to the other is its drift. */
#ifndef BESIDE_H
#define BESIDE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu() */
#endif
#include "example.h"
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SINGLE = 10000, /* so many calls are timed one by one, */
    GROUP = 10,     /* then ten at a time: a clock's step is a good part of a quick call */
    TURNS = 100     /* in a tenth */
};
#define COMPANION                                                                  \
    "EXAMPLE_COMPANION" /* set for it: two pipes, a processor, the name of the run \
                         */

typedef struct run {
    const char *name;
    float *us; /* what each call took */
    long n;    /* a multiple of SINGLE */
    double began;
    long kb_early;
    bool companion;    /* this process is one */
    int from, to, cpu; /* the pipes between the two, the processor both stay on */
    pid_t other;
} run;

static inline void need(bool fine, const char *what) {
    if (fine) return;
    perror(what);
    exit(1);
}

/* Only the calling thread: the engine's team is as large as in any other program. */
static inline void stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    need(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

static inline void pass_turn(const run *r) { need(write(r->to, "", 1) == 1, "write"); }

static inline void wait_turn(const run *r) {
    char turn;
    need(read(r->from, &turn, 1) == 1, "read");
}

static inline void start_companion(run *r) {
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    need(pipe(down) == 0 && pipe(up) == 0, "pipe");
    char text[128], n[24];
    r->cpu = sched_getcpu();
    snprintf(text, sizeof text, "%d %d %d %s", down[0], up[1], r->cpu, r->name);
    snprintf(n, sizeof n, "%ld", r->n);
    char *argv[] = {"companion", n, NULL};
    setenv(COMPANION, text, 1);
    need(posix_spawn(&r->other, "/proc/self/exe", NULL, NULL, argv, environ) == 0, "posix_spawn");
    unsetenv(COMPANION);
    close(down[0]);
    close(up[1]);
    r->from = up[0];
    r->to = down[1];
}

static inline void run_begin(run *r, const char *name, long n) {
    *r = (run){.name = name, .n = n < SINGLE ? SINGLE : n - n % SINGLE};
    r->us = malloc((size_t)r->n * sizeof *r->us);
    need(r->us != NULL, "malloc");
    for (long k = 0; k < r->n; k++) r->us[k] = -1; /* touches the pages before memory is measured */
    const char *text = getenv(COMPANION);
    if (text == NULL) return;
    int at = 0;
    need(sscanf(text, "%d %d %d %n", &r->from, &r->to, &r->cpu, &at) == 3, COMPANION);
    r->companion = true;
    if (strcmp(text + at, name) != 0) r->cpu = -1; /* of another run: only make the calls */
}

/* The median of each turn of the tenth that begins with call `first`. */
static inline void medians(run *r, long first, double *of) {
    long turn = r->n / 10 / TURNS;
    for (int k = 0; k < TURNS; k++) of[k] = median(r->us, first + k * turn, first + (k + 1) * turn);
}

/* The companion's tenths, its second and its third; it ends here. */
static inline void follow(run *r, long k) {
    long tenth = r->n / 10, since = k - tenth;
    if (r->cpu < 0 || since < 0 || since % (tenth / TURNS) != 0) return;
    if (since == 2 * tenth) {
        double mine[2 * TURNS];
        medians(r, tenth, mine);
        medians(r, 2 * tenth, mine + TURNS);
        need(write(r->to, mine, sizeof mine) == sizeof mine, "write");
        exit(0);
    }
    if (since == 0) stay_on(r->cpu);
    pass_turn(r);
    wait_turn(r);
}

/* The run's own tenths, its second and its last. */
static inline void lead(run *r, long k) {
    long tenth = r->n / 10, since = k < r->n / 2 ? k - tenth : k - 9 * tenth;
    if (since < 0 || since > tenth || since % (tenth / TURNS) != 0) return;
    if (k == tenth) {
        start_companion(r);
        stay_on(r->cpu);
    }
    if (since > 0) pass_turn(r);
    if (since < tenth) wait_turn(r);
}

/* Before call `k`. */
static inline void run_before(run *r, long k) {
    if (k == SINGLE) r->kb_early = resident_kb();
    if (r->companion)
        follow(r, k);
    else
        lead(r, k);
    if (k < SINGLE || k % GROUP == 0) r->began = now_us();
}

/* After call `k`. */
static inline void run_after(run *r, long k) {
    if (k < SINGLE)
        r->us[k] = (float)(now_us() - r->began);
    else if (k % GROUP == GROUP - 1) {
        float each = (float)((now_us() - r->began) / GROUP);
        for (int j = 0; j < GROUP; j++) r->us[k - j] = each;
    }
}

/* How many times the companion's a turn took, the median of a tenth's turns. */
static inline double beside(const double *mine, const double *companions) {
    float ratio[TURNS];
    for (int k = 0; k < TURNS; k++) ratio[k] = (float)(mine[k] / companions[k]);
    return median(ratio, 0, TURNS);
}

static inline void run_report(run *r) {
    long kb = resident_kb() - r->kb_early, tenth = r->n / 10;
    if (!r->companion) {
        double early[TURNS], late[TURNS], other[2 * TURNS];
        lead(r, r->n);
        need(read(r->from, other, sizeof other) == sizeof other, "read");
        need(waitpid(r->other, NULL, 0) == r->other, "waitpid");
        close(r->from);
        close(r->to);
        report_calls(r->name, r->us, r->n);
        medians(r, tenth, early);
        medians(r, 9 * tenth, late);
        double second = median(r->us, tenth, 2 * tenth), last = median(r->us, 9 * tenth, r->n);
        printf("    %ld calls: median of the second tenth %.3f us, of the last %.3f us (%.3f x); "
               "beside its companion %.3f x\n",
               r->n, second, last, last / second,
               beside(late, other + TURNS) / beside(early, other));
        printf("    resident memory %+ld KB since the first %d calls\n", kb, SINGLE);
    }
    free(r->us);
}
#endif
