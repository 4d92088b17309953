#include "base/clock.h"
#include "base/contention.h"
#include "base/pool.h"
#include "base/quota.h"
#include "check.h"
#include "remove_folder.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 100000 };
static const double heavy = 1e6; /* nanoseconds per item: enough for any team */

typedef struct sum {
    unsigned char seen[N];
    atomic_int ranges, ragged;
    int64_t n, grain;
} sum;

static void visit(void *arg, int64_t begin, int64_t end) {
    sum *s = arg;
    atomic_fetch_add(&s->ranges, 1);
    if (begin % s->grain != 0 || (end % s->grain != 0 && end != s->n))
        atomic_fetch_add(&s->ragged, 1);
    for (int64_t i = begin; i < end; i++) s->seen[i]++;
}

static bool covers(int64_t n, int64_t grain, double cost) {
    sum *s = calloc(1, sizeof *s);
    s->n = n;
    s->grain = grain;
    ef_parallel(n, grain, cost, visit, s);
    bool good = s->ragged == 0;
    for (int64_t i = 0; i < N; i++) good = good && s->seen[i] == (i < n);
    free(s);
    return good;
}

EF_TEST(covers_every_item_once) {
    static const int64_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 1000, N};
    static const int64_t grains[] = {1, 7, 64, 5000, N};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof grains / sizeof *grains; k++) {
            CHECK(covers(sizes[i], grains[k], heavy));
            CHECK(covers(sizes[i], grains[k], 0.01));
        }
}

typedef struct lanes {
    atomic_int seen[4], on_workers;
} lanes;

static void brief_item(void *arg, int64_t begin, int64_t end) {
    lanes *l = arg;
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&l->seen[i], 1);
    if (ef_pool_lane() > 0) atomic_fetch_add(&l->on_workers, 1);
    struct timespec from, now; /* some microseconds of work */
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec == from.tv_sec && now.tv_nsec - from.tv_nsec < 5000);
}

/* A single brief region stays on its caller; in a sequence of them workers take a part. */
EF_TEST(brief_regions_wake_workers_when_they_follow_each_other) {
    const struct timespec asleep = {0, 20000000};
    lanes alone = {.on_workers = 0}, many = {.on_workers = 0};
    for (int k = 0; k < 5; k++) {
        nanosleep(&asleep, NULL);
        ef_parallel_brief(4, brief_item, &alone);
    }
    for (int k = 0; k < 20000; k++) ef_parallel_brief(4, brief_item, &many);
    for (int k = 0; k < 4; k++) {
        CHECK_INT(alone.seen[k], 5);
        CHECK_INT(many.seen[k], 20000);
    }
    CHECK_INT(alone.on_workers, 0);
    if (ef_pool_size() > 1) CHECK(many.on_workers > 0);
}

EF_TEST(a_thread_that_waits_suspects_others) {
    ef_turns before = {1000, 5000}, idle = {100000000, 1005000}, own = {2000000, 900000},
             crowded = {20000000, 20000000};
    CHECK(!ef_turns_waited(&before, &before));
    CHECK(!ef_turns_waited(&before, &idle));
    CHECK(!ef_turns_waited(&before, &own)); /* under a millisecond */
    CHECK(ef_turns_waited(&before, &crowded));
    ef_turns now;
    if (ef_turns_read(&now)) CHECK(now.ran > 0);
}

EF_TEST(usage_of_others_is_what_is_neither_idle_nor_ours) {
    const char *text = "cpu  9 9 9 900 9 9 9 9 0 0\n"
                       "cpu0 1 0 2 100 10 0 0 1 0 0\n"
                       "cpu1 1 0 2 200 20 0 0 2 0 0\n"
                       "cpu7 1 0 2 400 40 0 0 4 0 0\n"
                       "intr 5 0 1\n";
    const bool mask[4] = {false, true, true, true};
    uint64_t ticks = 0;
    CHECK_INT(ef_usage_parse(text, mask, 4, &ticks), 1);
    CHECK_INT((int64_t)ticks, 222);
    CHECK_INT(ef_usage_parse("", mask, 4, &ticks), 0);
    CHECK_INT(ef_usage_parse("cpu1", mask, 4, &ticks), 1);

    ef_usage before = {.at = 1000, .idle = 500, .own = 70, .processors = 2};
    ef_usage after = {.at = 2000, .idle = 1000, .own = 570, .processors = 2};
    double others = ef_usage_others(&before, &after);
    CHECK(others > 0.499 && others < 0.501);
    after.own = 100000; /* ticks are coarse: a negative difference counts as 0 */
    CHECK(ef_usage_others(&before, &after) == 0);
    after.processors = 1; /* the mask changed in between */
    CHECK(ef_usage_others(&before, &after) == 0);
    ef_usage now;
    if (ef_usage_read(&now)) CHECK(now.own > 0 && now.processors > 0);
}

static void inner(void *arg, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    if (ef_pool_size() != 1) atomic_store((atomic_bool *)arg, false);
}

static void outer(void *arg, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    ef_parallel(1000, 1, heavy, inner, arg);
}

EF_TEST(nested_work_stays_inside) {
    if (ef_pool_size() < 2) SKIP("one processor");
    atomic_bool good = true;
    ef_parallel(8, 1, heavy * 100, outer, &good);
    CHECK(good);
}

/* ---- a thread that stands still ---- */

typedef struct relay {
    atomic_int done, held, lanes;
    bool late;
} relay;

enum { PIECES = 32 };

/* The first piece that a worker gets ends only when all the others have: as if the worker had lost
 * its processor in the middle of it. */
static void hold_one(void *arg, int64_t begin, int64_t end) {
    relay *r = arg;
    if (ef_pool_lane() >= ef_pool_lanes()) atomic_store(&r->lanes, 1);
    struct timespec pause = {0, 1000000};
    if (ef_pool_lane() > 0 && atomic_fetch_add(&r->held, 1) == 0) {
        for (int k = 0; k < 20000 && atomic_load(&r->done) < PIECES - (end - begin); k++)
            nanosleep(&pause, NULL);
        r->late = atomic_load(&r->done) < PIECES - (end - begin);
    } else if (ef_pool_lane() == 0 && atomic_load(&r->held) == 0) {
        nanosleep(&pause, NULL); /* lets the worker come */
    }
    atomic_fetch_add(&r->done, (int)(end - begin));
}

EF_TEST(a_thread_holds_back_one_piece_at_most) {
    if (ef_pool_size() < 2) SKIP("one processor");
    for (int turn = 0; turn < 5; turn++) {
        relay r = {.late = false};
        ef_parallel_each(PIECES, 0, hold_one, &r);
        CHECK_INT(r.done, PIECES);
        CHECK(!r.late);
        CHECK_INT(r.lanes, 0);
    }
}

static void *many_regions(void *arg) {
    relay *r = arg;
    for (int k = 0; k < 300; k++) ef_parallel_each(PIECES, 0, hold_one, r);
    return NULL;
}

/* There are more callers than slots, and none enters the pool (ef_pool_enter): each call gets
 * workers or runs without them. */
EF_TEST(any_number_of_callers) {
    static relay r[12];
    pthread_t t[12];
    for (int k = 0; k < 12; k++) {
        r[k] = (relay){.held = 1};
        CHECK(pthread_create(&t[k], NULL, many_regions, &r[k]) == 0);
    }
    for (int k = 0; k < 12; k++) pthread_join(t[k], NULL);
    for (int k = 0; k < 12; k++) CHECK_INT(r[k].done, 300 * PIECES);
}

EF_TEST(honours_the_wish) {
    int whole = ef_pool_size();
    CHECK(whole >= 1);
    ef_pool_limit(1);
    CHECK_INT(ef_pool_size(), 1);
    ef_pool_limit(100000);
    CHECK_INT(ef_pool_size(), whole);
    ef_pool_limit(0);
    CHECK_INT(ef_pool_size(), whole);
}

/* A region during which some callers leave or wait: how many of its pieces workers took before and
 * after. */
typedef struct shared {
    ef_context *others;
    int n_others, pieces;
    bool blocks; /* the others wait for something instead of leaving */
    atomic_int done, before, after;
    atomic_uint_least64_t left, joined; /* when the others left, and a worker came; 0: not yet */
} shared;

static void busy_ms(double ms) {
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - from.tv_sec) * 1e3 + (double)(now.tv_nsec - from.tv_nsec) / 1e6 <
           ms);
}

static void shared_piece(void *arg, int64_t begin, int64_t end) {
    shared *s = arg;
    bool worker = ef_pool_lane() > 0;
    if (worker) {
        uint64_t none = 0;
        bool after = atomic_load(&s->left) != 0;
        if (after) atomic_compare_exchange_strong(&s->joined, &none, ef_now_ns());
        atomic_fetch_add(after ? &s->after : &s->before, 1);
    }
    busy_ms(0.2);
    if (atomic_fetch_add(&s->done, (int)(end - begin)) != 20) return;
    atomic_store(&s->left, ef_now_ns());
    for (int k = 0; k < s->n_others; k++)
        if (s->blocks)
            ef_pool_block(&s->others[k]);
        else
            ef_pool_leave(&s->others[k]);
}

/* With a caller for each thread that may be at work (on a crowded machine these are more than the
 * processors) workers stay away. As soon as the others leave or wait, workers
 * join the region that is going on. */
EF_TEST(callers_divide_the_processors) {
    int whole = ef_pool_size();
    if (whole < 2) SKIP("one processor");
    uint64_t soonest = UINT64_MAX;
    for (int round = 0; round < 6; round++) {
        bool blocks = round % 2;
        ef_context others[64] = {{0}};
        shared s = {.others = others, .n_others = ef_pool_lanes() - 1, .blocks = blocks};
        if (s.n_others > 64) SKIP("more than 64 processors");
        for (int k = 0; k < s.n_others; k++) {
            others[k].weight = 1;
            ef_pool_enter(&others[k]);
            ef_pool_enter(&others[k]); /* a run within a run is the same caller */
            ef_pool_leave(&others[k]);
        }
        CHECK_INT(ef_pool_size(), whole);
        ef_parallel_each(200, 0, shared_piece, &s);
        CHECK_INT(s.done, 200);
        CHECK_INT(s.before, 0);
        CHECK(s.after > 0);
        if (s.joined - s.left < soonest) soonest = s.joined - s.left;
        for (int k = 0; k < s.n_others && blocks; k++) {
            ef_pool_unblock(&others[k]);
            ef_pool_leave(&others[k]);
        }
    }
    printf("    a worker joined %.2f ms after a caller had left\n", (double)soonest / 1e6);
}

typedef struct newcomers {
    ef_context context[64];
    atomic_int on_workers;
} newcomers;

static void *come(void *arg) {
    newcomers *c = arg;
    busy_ms(5);
    for (int k = 0; k < ef_pool_lanes() - 1; k++) ef_pool_enter(&c->context[k]);
    return NULL;
}

static void count_on_workers(void *arg, int64_t begin, int64_t end) {
    newcomers *c = arg;
    busy_ms(0.2);
    if (ef_pool_lane() > 0) atomic_fetch_add(&c->on_workers, (int)(end - begin));
}

/* Workers leave a region after the piece they are at when callers come. */
EF_TEST(workers_make_way_for_callers) {
    int whole = ef_pool_size();
    if (whole < 2 || ef_pool_lanes() > 64) SKIP("one processor, or more than 64");
    newcomers c = {.on_workers = 0};
    pthread_t t;
    for (int k = 0; k < 64; k++) c.context[k].weight = 1;
    CHECK(pthread_create(&t, NULL, come, &c) == 0);
    ef_parallel_each(200 * whole, 0, count_on_workers, &c); /* 40 ms, if all took part to the end */
    pthread_join(t, NULL);
    CHECK(c.on_workers < 150 * (whole - 1));
    for (int k = 0; k < ef_pool_lanes() - 1; k++) ef_pool_leave(&c.context[k]);
}

/* A caller of weight 1/4 whose last run took 1 ms waits 3 ms for a processor, or until one is left
 * over. */
EF_TEST(a_light_caller_waits_for_its_turn) {
    int whole = ef_pool_size();
    ef_context others[64] = {{0}}, light = {.weight = 0.25F, .ran_ns = 1000000};
    uint64_t begin = ef_now_ns();
    ef_pool_enter(&light);
    CHECK(light.began - begin < 1000000);
    ef_pool_leave(&light);
    if (whole > 64) SKIP("more than 64 processors");
    for (int k = 0; k < whole; k++) {
        others[k].weight = 1;
        ef_pool_enter(&others[k]);
    }
    light.ran_ns = 1000000;
    begin = ef_now_ns();
    ef_pool_enter(&light);
    CHECK(light.began - begin >= 3000000);
    ef_pool_leave(&light);
    for (int k = 0; k < whole; k++) ef_pool_leave(&others[k]);
}

/* Among themselves they do not wait: no run of full weight needs the processors. */
EF_TEST(light_callers_do_not_wait_for_each_other) {
    int whole = ef_pool_size();
    ef_context others[64] = {{0}}, light = {.weight = 0.25F, .ran_ns = 1000000000};
    if (whole > 64) SKIP("more than 64 processors");
    for (int k = 0; k < whole; k++) {
        others[k].weight = 0.5F;
        ef_pool_enter(&others[k]);
    }
    uint64_t begin = ef_now_ns();
    ef_pool_enter(&light);
    CHECK(light.began - begin < 30000000); /* it would be 50 ms */
    ef_pool_leave(&light);
    for (int k = 0; k < whole; k++) ef_pool_leave(&others[k]);
}

static void *caller(void *arg) {
    for (int i = 0; i < 50; i++) {
        ef_pool_enter(ef_context_here());
        if (!covers(5000, 10, heavy)) atomic_store((atomic_bool *)arg, false);
        ef_pool_leave(ef_context_here());
    }
    return NULL;
}

EF_TEST(threads_at_once) {
    atomic_bool good = true;
    pthread_t t[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&t[i], NULL, caller, &good) == 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    CHECK(good);
}

EF_TEST(a_forked_child_works_alone) {
    CHECK(covers(1000, 1, heavy));
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(ef_pool_size() == 1 && covers(1000, 1, heavy) ? 0 : 1);
    }
    int how = 1;
    CHECK(waitpid(child, &how, 0) == child);
    CHECK_INT(how, 0);
}

/* ---- quotas, read from a made-up /proc and /sys ---- */

static char root[64];

static void write_file(const char *path, const char *text) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *f = fopen(whole, "w");
    if (f == NULL) return;
    fputs(text, f);
    fclose(f);
}

EF_TEST(reads_quotas) {
    snprintf(root, sizeof root, "/tmp/ef_quota_XXXXXX");
    CHECK(mkdtemp(root));
    CHECK_INT(ef_quota_cgroup(root), 0);
    write_file("/proc/self/cgroup", "0::/a/b\n");
    CHECK_INT(ef_quota_cgroup(root), 0);
    write_file("/sys/fs/cgroup/cpu.max", "max 100000\n");
    CHECK_INT(ef_quota_cgroup(root), 0);
    write_file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    CHECK_INT(ef_quota_cgroup(root), 2);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "700000 100000\n");
    CHECK_INT(ef_quota_cgroup(root), 2);
    write_file("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n");
    CHECK_INT(ef_quota_cgroup(root), 0);
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK_INT(ef_quota_cgroup(root), 1);
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    CHECK_INT(ef_quota_cgroup(root), 0);
    write_file("/proc/self/cgroup", "nonsense\n:\n::\n");
    CHECK_INT(ef_quota_cgroup(root), 0);
    CHECK(remove_folder(root));
    CHECK(ef_quota_affinity() >= 1);
}

enum { MOST_BUSY = 8 };

static void start_busy(pid_t *child, int n) {
    const pid_t test = getpid();
    for (int k = 0; k < n; k++) {
        child[k] = fork();
        while (child[k] == 0)
            if (getppid() != test) _exit(0); /* the test ended */
    }
}

typedef struct masks { /* how many processors the first worker may use, in the latest region */
    atomic_int of_first;
} masks;

static void note_mask(void *arg, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    masks *m = arg;
    cpu_set_t set;
    if (ef_pool_lane() == 1 && sched_getaffinity(0, sizeof set, &set) == 0)
        atomic_store(&m->of_first, CPU_COUNT(&set));
    for (uint64_t began = ef_now_ns(); ef_now_ns() - began < 100000;) {}
}

/* Runs regions until the first worker may use `want` processors; false: five seconds passed. */
static bool first_worker_gets(int want, bool crowd) {
    masks m = {0};
    for (uint64_t began = ef_now_ns(); ef_now_ns() - began < 5000000000u;) {
        bool is = ef_pool_crowded();
        atomic_store(&m.of_first, 0);
        ef_parallel_each(40, 100000, note_mask, &m);
        if (is == crowd && atomic_load(&m.of_first) == want) return true;
    }
    return false;
}

/* Whether the first worker may use all processors again, although its caller may use only one. */
static bool is_free_again(int all) {
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof before, &before) != 0 ||
        sched_setaffinity(0, sizeof one, &one) != 0)
        return false;
    bool is = first_worker_gets(all, false);
    return sched_setaffinity(0, sizeof before, &before) == 0 && is;
}

/* Beside busy processes the kernel would wake the first worker on the caller's processor, where it
 * runs in place of the caller. */
EF_TEST(on_a_crowded_machine_workers_avoid_their_caller) {
    int n = ef_quota_affinity();
    pid_t child[MOST_BUSY];
    if (n < 2 || n > MOST_BUSY || ef_pool_lanes() != 2 * n) SKIP("%d processors", n);
    start_busy(child, n);
    bool apart = first_worker_gets(n - 1, true);
    for (int k = 0; k < n; k++) kill(child[k], SIGKILL);
    for (int k = 0; k < n; k++) waitpid(child[k], NULL, 0);
    CHECK(apart);
    bool again = is_free_again(n);
    if (!again && ef_pool_crowded()) SKIP("the machine stays crowded");
    CHECK(again);
}

enum { LATE_PIECES = 40 };

typedef struct late { /* when the pieces began that the first worker ran; 0: another thread did */
    atomic_uint_least64_t began[LATE_PIECES];
} late;

static void note_begin(void *arg, int64_t begin, int64_t end) {
    (void)end;
    late *l = arg;
    uint64_t now = ef_now_ns();
    if (ef_pool_lane() == 1) atomic_store(&l->began[begin], now);
    while (ef_now_ns() - now < 100000) {}
}

/* How many pieces the first worker began when it had worked for more than a millisecond and the
 * region had less than 0.8 ms to go. */
static int late_pieces(const late *l, uint64_t over) {
    uint64_t first = over;
    int n = 0;
    for (int k = 0; k < LATE_PIECES; k++) {
        uint64_t t = atomic_load(&l->began[k]);
        if (t != 0 && t < first) first = t;
    }
    for (int k = 0; k < LATE_PIECES; k++) {
        uint64_t t = atomic_load(&l->began[k]);
        n += t > first + 1000000 && t + 800000 > over;
    }
    return n;
}

/* A worker that leaves early gives away its processor while its caller still has one. */
static bool first_worker_stays(void) {
    for (uint64_t began = ef_now_ns(); ef_now_ns() - began < 5000000000u;) {
        late l = {0};
        bool crowd = ef_pool_crowded();
        ef_parallel_each(LATE_PIECES, 10000, note_begin, &l);
        if (crowd && late_pieces(&l, ef_now_ns()) >= 3) return true;
    }
    return false;
}

static void note_worker(void *arg, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    if (ef_pool_lane() != 0) atomic_store((atomic_bool *)arg, true);
    for (uint64_t began = ef_now_ns(); ef_now_ns() - began < 10000;) {}
}

/* A region too short to wake anybody for, right after a longer one whose worker is still awake. */
static bool joins_short_region(void) {
    for (uint64_t began = ef_now_ns(); ef_now_ns() - began < 5000000000u;) {
        atomic_bool handed_out = false, ignored = false;
        ef_parallel_each(20, 10000, note_worker, &ignored);
        bool crowd = ef_pool_crowded();
        ef_parallel(4, 1, 10000, note_worker, &handed_out);
        if (crowd && ef_pool_crowded() && atomic_load(&handed_out)) return true;
    }
    return false;
}

EF_TEST(on_a_crowded_machine_workers_stay_with_their_caller) {
    int n = ef_quota_affinity();
    pid_t child[MOST_BUSY];
    if (n < 2 || n > MOST_BUSY || ef_pool_lanes() != 2 * n) SKIP("%d processors", n);
    start_busy(child, n);
    bool stays = first_worker_stays(), joined = joins_short_region();
    for (int k = 0; k < n; k++) kill(child[k], SIGKILL);
    for (int k = 0; k < n; k++) waitpid(child[k], NULL, 0);
    CHECK(stays);
    CHECK(joined);
}

/* Shorter slices must not change the priority: the kernel sets both with one call. */
EF_TEST(short_slices_keep_the_priority) {
    errno = 0;
    int before = getpriority(PRIO_PROCESS, 0);
    CHECK(nice(3) != -1);
    ef_slices_shorten();
    ef_slices_shorten();
    CHECK(getpriority(PRIO_PROCESS, 0) == before + 3);
    CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

int main(void) {
    EF_RUN(covers_every_item_once);
    EF_RUN(brief_regions_wake_workers_when_they_follow_each_other);
    EF_RUN(a_thread_that_waits_suspects_others);
    EF_RUN(usage_of_others_is_what_is_neither_idle_nor_ours);
    EF_RUN(nested_work_stays_inside);
    EF_RUN(a_thread_holds_back_one_piece_at_most);
    EF_RUN(any_number_of_callers);
    EF_RUN(honours_the_wish);
    EF_RUN(callers_divide_the_processors);
    EF_RUN(workers_make_way_for_callers);
    EF_RUN(a_light_caller_waits_for_its_turn);
    EF_RUN(light_callers_do_not_wait_for_each_other);
    EF_RUN(threads_at_once);
    EF_RUN(a_forked_child_works_alone);
    EF_RUN(reads_quotas);
    EF_RUN(on_a_crowded_machine_workers_avoid_their_caller);
    EF_RUN(on_a_crowded_machine_workers_stay_with_their_caller);
    EF_RUN(short_slices_keep_the_priority); /* last: the lower priority stays */
    return EF_VERDICT();
}
