/* Concurrent callers: two threads that call one heavy function, compared with one thread that has
 * all processors; and the slowdown of a step by the background worker that feeds it. */
#include "bench.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { SIZE = 384, LAYERS = 3, CALLS = 40 };

typedef struct step {
    ef_function *f;
    ef_tensor x, w;
} step;

/* x -> relu(x w) w ..., LAYERS times. */
static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    ef_tensor at;
    ef_tensor_copy(&at, &in[0]);
    for (int k = 0; k < LAYERS; k++) {
        ef_tensor product, active;
        bench_op("MatMul", 2, &at, &in[1], &product);
        bench_op("Relu", 1, &product, NULL, &active);
        ef_tensor_release(&product);
        ef_tensor_release(&at);
        ef_tensor_copy(&at, &active);
        ef_tensor_release(&active);
    }
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
    *n_out = 1;
    return NULL;
}

static void run(void *arg) {
    const step *s = arg;
    const ef_tensor *in[] = {&s->x, &s->w};
    ef_tensor out;
    int n;
    bench_check(ef_function_call(s->f, in, 2, &out, 1, &n));
    ef_tensor_release(&out);
}

static void *run_some(void *arg) {
    for (int k = 0; k < CALLS; k++) run(arg);
    return NULL;
}

static void two_threads(void *arg) {
    pthread_t t[2];
    for (int k = 0; k < 2; k++)
        if (pthread_create(&t[k], NULL, run_some, arg) != 0) return;
    for (int k = 0; k < 2; k++) pthread_join(t[k], NULL);
}

static void one_thread(void *arg) {
    run_some(arg);
    run_some(arg);
}

/* ---- a worker in the background ----------------------------------------------------------------
 */

typedef struct background {
    step small;
    atomic_bool on, over;
    double used, wall; /* processor and real time while it was on, in ns */
} background;

static double thread_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void sleep_ns(double ns) {
    struct timespec t = {.tv_nsec = ns < 5e8 ? (long)ns : 500000000};
    nanosleep(&t, NULL);
}

/* Uses half a processor: it works for 2 ms of processor time, then sleeps until twice that time has
 * passed. Where it was kept waiting it sleeps less, so that its use does not depend on the step. */
static void *work_half(void *arg) {
    background *b = arg;
    bench_check(ef_context_set(&(ef_context_options){.weight = 0.5, .threads = 1}));
    while (!atomic_load(&b->over)) {
        if (!atomic_load(&b->on)) {
            sleep_ns(1e5);
            continue;
        }
        double begin = bench_now(), used = thread_now(), owed = 0;
        while (atomic_load(&b->on)) {
            for (double to = thread_now() + 2e6; thread_now() < to;) run(&b->small);
            owed = begin + 2 * (thread_now() - used) - bench_now();
            if (owed > 0) sleep_ns(owed);
        }
        b->used += thread_now() - used;
        b->wall += bench_now() - begin;
    }
    return NULL;
}

typedef struct pair {
    step *s;
    background *b;
    bool beside;
} pair;

static void step_beside(void *arg) {
    const pair *p = arg;
    atomic_store(&p->b->on, p->beside);
    run_some(p->s);
    atomic_store(&p->b->on, false);
}

/* How long workers slept since `begin` because nobody called them, by their events. */
static double slept_since(double begin) {
    static ef_event event[1 << 14];
    double ns = 0;
    size_t n = ef_events_read(event, sizeof event / sizeof *event, NULL);
    for (size_t k = 0; k < n; k++) {
        if (event[k].kind != EF_EVENT_THREAD || event[k].reason != EF_REASON_SLEEP) continue;
        double end = (double)event[k].time, from = end - (double)event[k].duration;
        if (end > begin) ns += end - (from > begin ? from : begin);
    }
    return ns;
}

/* The part of the processors that nobody used beside the worker in the background: its own time is
 * when the engine's workers must sleep. */
static double idle_part(const pair *p, pthread_t worker) {
    enum { TIMES = 15 };
    double idle[TIMES];
    clockid_t clock;
    if (pthread_getcpuclockid(worker, &clock) != 0) return 1;
    for (int k = 0; k < TIMES; k++) {
        struct timespec t[2];
        clock_gettime(clock, &t[0]);
        double begin = bench_now();
        step_beside((void *)(uintptr_t)p);
        double wall = bench_now() - begin;
        clock_gettime(clock, &t[1]);
        double used =
            (double)(t[1].tv_sec - t[0].tv_sec) * 1e9 + (double)(t[1].tv_nsec - t[0].tv_nsec);
        idle[k] = (slept_since(begin) - used) / wall / ef_threads_get();
    }
    return bench_median(idle, TIMES);
}

static void step_new(step *s, int64_t size, int seed) {
    int64_t dim[] = {size, size};
    bench_check(ef_function_new(trace, NULL, "step", &s->f));
    bench_fill(&s->x, EF_F32, 2, dim, (uint32_t)seed);
    bench_fill(&s->w, EF_F32, 2, dim, (uint32_t)seed + 1);
    run(s);
}

static void step_end(step *s) {
    ef_function_free(s->f);
    ef_tensor_release(&s->x);
    ef_tensor_release(&s->w);
}

void bench_share(void) {
    step s;
    background b = {0};
    double ns[2];
    char what[160];
    step_new(&s, SIZE, 1);
    step_new(&b.small, 160, 3);
    ef_side two = {.work = two_threads, .arg = &s, .times = 1};
    ef_side one = {.work = one_thread, .arg = &s, .times = 1};
    double ratio = bench_compare(&two, &one, 31, &ns[0], &ns[1]);
    snprintf(what, sizeof what, "%.1f ms and %.1f ms for %d calls", ns[0] / 1e6, ns[1] / 1e6,
             2 * CALLS);
    bench_row("two threads beside one with all processors", ratio, 1 / 0.95, "x", what);

    pthread_t t;
    pair with = {&s, &b, true}, without = {&s, &b, false};
    if (pthread_create(&t, NULL, work_half, &b) != 0) return;
    ef_side beside = {.work = step_beside, .arg = &with, .times = 1};
    ef_side alone = {.work = step_beside, .arg = &without, .times = 1};
    ratio = bench_compare(&beside, &alone, 31, &ns[0], &ns[1]);
    double idle = idle_part(&with, t);
    atomic_store(&b.over, true);
    pthread_join(t, NULL);
    double share = b.used / b.wall / ef_threads_get();
    snprintf(what, sizeof what, "%.2f ms alone; the worker used %.0f %% of the machine",
             ns[1] / 1e6 / CALLS, 100 * share);
    bench_row("a step beside a worker in the background", ratio, 1 / (1 - share - 0.05), "x", what);
    bench_row("processors idle meanwhile, by events", 100 * idle, 5, "%", "");
    step_end(&s);
    step_end(&b.small);
}
