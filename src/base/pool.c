/* A region of work is posted in a slot. Its pieces are divided into one share per thread, so that a
 * thread finds in the next region the part of the data that its cache still holds; a thread whose
 * own share is done takes pieces from the end of the others'. Slots are never freed, and a piece is
 * claimed by one compare-and-swap before anything else in the slot is read: a worker that comes
 * late finds nothing to claim and has touched nothing.
 *
 * Waiting is spinning for a few microseconds, because the next region of a plan is usually that
 * near, then sleeping in the kernel.
 *
 * On a crowded machine, where the team's threads have to wait for processors, a thread that loses
 * its processor within a piece holds up the region for some milliseconds, the kernel's time slice.
 * There threads ask the kernel for short time slices, so that they get a processor as soon as they
 * are woken. What counts is that a worker has its processor while its caller has one. The kernel
 * takes processors away at the ticks of its clock, which come at the same time everywhere, and a
 * thread that wakes up again and again between two ticks soon has to wait for the next. So a worker
 * spins from one region to the next that follows closely: it keeps its processor until the tick at
 * which its caller loses its own. Where nothing follows it sleeps at once, and does not use up the
 * time that it will want when its caller is back. A caller spins for as long as a piece takes,
 * since a worker that has its processor is done by then; then it sleeps, and comes back together
 * with the worker. The first workers keep away from the processor of their caller. Short regions
 * are handed out only to workers that are awake, and in long regions twice as many threads take
 * part, since half of them are waiting.
 *
 * Callers that run at the same time divide the processors. A caller counts from its entry to its
 * leave, whether or not it is within a region, because its thread uses a processor. Workers take
 * part while processors are left over, first where a caller has the fewest threads for its weight,
 * and look again after each piece. The processor of a caller that leaves is kept for it for a tenth
 * of a millisecond, because most callers come back at once: a worker woken in between would then
 * compete with it. If it stays away, the callers of other regions wake a worker. So the threads at
 * work are as many as the processors, and none of these idles for longer while a region has pieces
 * to claim. A caller of low weight also waits for its turn while one of full weight computes and
 * there is no processor left: see wait_for_turn.
 *
 * After fork() the child has the calling thread only, and stays on it for good. */
#include "base/pool.h"
#include "base/clock.h"
#include "base/contention.h"
#include "base/event_hook.h"
#include "base/option.h"
#include "base/quota.h"
#include "base/status.h"
#include <limits.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 8, TEAM = 256, ASLEEP = 1 << 30, MOST_PIECES = 1 << 20 };

static const double worth_ns = 10000;        /* a piece that pays for handing it out */
static const double piece_ns = 100000;       /* a piece of a long region */
static const uint64_t spin_ns = 40000;       /* waiting before a thread goes to sleep */
static const uint64_t near_ns = 20000;       /* brief regions so near to each other wake workers */
static const uint64_t keep_ns = 100000;      /* a processor is kept for a caller that left */
static const uint64_t turn_poll_ns = 200000; /* a caller that waits for its turn looks this often */
static const uint64_t turn_most_ns = 50000000; /* and waits no longer than this */
/* On a crowded machine: */
static const uint64_t look_ns = 5000000;      /* a thread looks this often whether it had to wait */
static const uint64_t usage_ns = 100000000;   /* and asks this often what other programs use */
static const uint64_t recent_ns = 2000000000; /* an older answer is not compared with */
static const double crowd_part = 0.15;        /* others use more than this of the processors */
static const uint64_t crowd_ns = 150000000;   /* and are taken to do so for this long */
static const double crowd_worth_ns = 60000;   /* a region to wake a worker for */
static const uint64_t crowd_spin_ns = 100000; /* a caller waits for a piece before it sleeps */
static const uint64_t crowd_next_ns = 20000;  /* and a worker for the next region */
static const double crowd_long_ns = 1000000;  /* a region for more threads than processors */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int machine = 1;      /* what the machine gives; written once */
static int lanes = 1;        /* and threads for a crowded machine; written once */
static cpu_set_t processors; /* of the workers, if they are not those of the calling thread */
static bool widened;         /* `processors` is set */
static atomic_int wish;      /* ef_pool_limit; 0: none */
/* User threads between enter and leave, unless they wait: all of them in the lower half, in the
 * upper half those of full weight. */
static atomic_uint callers;
static atomic_int working;               /* workers that take part in a region */
static atomic_uint_least64_t kept_until; /* a processor is kept for a caller; 0: none is */
static atomic_bool forked;               /* in the child of a fork */
static _Thread_local bool inside;        /* a piece runs on this thread */
static _Thread_local int lane;           /* a worker's number; 0: a caller */

enum { FULL = 1 << 16 };
static int all_of(unsigned callers_now) { return (int)(callers_now % FULL); }
static unsigned one_like(const ef_context *c) { return c->weight < 1 ? 1 : FULL + 1; }

/* ---- how many threads ---------------------------------------------------------------------- */

static void after_fork(void) {
    atomic_store_explicit(&forked, true, memory_order_relaxed);
    atomic_store_explicit(&callers, 0, memory_order_relaxed);
    atomic_store_explicit(&working, 0, memory_order_relaxed);
}

static void at_most(int *n, int64_t bound) {
    if (bound > 0 && bound < *n) *n = (int)bound;
}

/* Adds the processors of one of OpenMP's places. */
static void add_place(int place, cpu_set_t *to) {
    int id[CPU_SETSIZE], n = omp_get_place_num_procs(place);
    if (n > CPU_SETSIZE) return;
    omp_get_place_proc_ids(place, id);
    for (int k = 0; k < n; k++)
        if (id[k] >= 0 && id[k] < CPU_SETSIZE) CPU_SET((size_t)id[k], to);
}

/* With OMP_PROC_BIND or OMP_PLACES set, OpenMP binds the first thread of the program to one place
 * as soon as it is loaded, and all threads made by that thread inherit its mask. Our workers are
 * not OpenMP's: they use the processors of all places. */
static void widen(void) {
    cpu_set_t mine, place;
    bool bound = false;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
    CPU_ZERO(&processors);
    for (int k = 0; k < omp_get_num_places(); k++) {
        CPU_ZERO(&place);
        add_place(k, &place);
        bound = bound || CPU_EQUAL(&place, &mine);
        CPU_OR(&processors, &processors, &place);
    }
    widened = bound;
    if (bound) machine = CPU_COUNT(&processors);
}

static void measure(void) {
    machine = ef_quota_affinity();
    widen();
    int whole = machine;
    at_most(&machine, ef_quota_cgroup(""));
    bool told = ef_option_int("OMP_NUM_THREADS", 0) > 0 || ef_option_int("EF_THREADS", 0) > 0;
    at_most(&machine, ef_option_int("OMP_NUM_THREADS", 0));
    at_most(&machine, ef_option_int("EF_THREADS", 0));
    at_most(&machine, TEAM);
    lanes = machine == whole && machine > 1 && !told ? 2 * machine : machine; /* limits are kept */
    at_most(&lanes, TEAM);
    pthread_atfork(NULL, NULL, after_fork);
}

int ef_pool_size(void) {
    pthread_once(&once, measure);
    if (inside || atomic_load_explicit(&forked, memory_order_relaxed)) return 1;
    int n = machine;
    at_most(&n, atomic_load_explicit(&wish, memory_order_relaxed));
    at_most(&n, ef_context_here()->threads);
    return n;
}

int ef_pool_lane(void) { return lane; }
int ef_pool_lanes(void) {
    pthread_once(&once, measure);
    return lanes;
}
void ef_pool_limit(int n) { atomic_store_explicit(&wish, n > 0 ? n : 0, memory_order_relaxed); }
void ef_pool_single(void) { omp_set_num_threads(1); }

/* ---- a region and its pieces --------------------------------------------------------------- */

/* Pieces not claimed yet: the first one, and in the upper half the one after the last. */
typedef struct share {
    _Alignas(64) atomic_uint_least64_t span;
} share;

typedef struct slot {
    share share[TEAM];
    _Alignas(64) atomic_int shares; /* of the region posted here; 0: none */
    atomic_int threads;             /* that take part, the caller included */
    atomic_int weight;              /* of the caller, in thousandths */
    atomic_int pending;             /* pieces not finished, and ASLEEP if the caller sleeps on it */
    atomic_flag taken;
    /* The rest belongs to whoever has claimed a piece, and to the caller before and after. */
    int64_t n, each; /* items, and items in a piece */
    ef_range_fn *fn;
    void *arg;
} slot;

static slot slots[SLOTS];

static uint64_t span_of(uint64_t begin, uint64_t end) { return end << 32 | begin; }

/* Claims a piece of a share, the owner from its beginning, others from its end; -1: none is left.
 */
static int64_t claim(share *s, bool owner) {
    uint64_t old = atomic_load_explicit(&s->span, memory_order_relaxed);
    for (;;) {
        uint64_t begin = old & UINT32_MAX, end = old >> 32;
        if (begin >= end) return -1;
        uint64_t rest = owner ? span_of(begin + 1, end) : span_of(begin, end - 1);
        if (atomic_compare_exchange_weak_explicit(&s->span, &old, rest, memory_order_acquire,
                                                  memory_order_relaxed))
            return (int64_t)(owner ? begin : end - 1);
    }
}

static void run_piece(const slot *s, int64_t piece) {
    int64_t begin = piece * s->each, end = s->n - begin > s->each ? begin + s->each : s->n;
    s->fn(s->arg, begin, end);
}

/* ---- a crowded machine --------------------------------------------------------------------- */

static atomic_uint_least64_t crowded_until; /* in ef_now_ns */

static bool crowded(uint64_t now) {
    return now < atomic_load_explicit(&crowded_until, memory_order_relaxed);
}

/* Did this thread have to wait for a processor since it last looked? */
static bool had_to_wait(uint64_t now) {
    static _Thread_local ef_turns seen;
    static _Thread_local uint64_t looked;
    if (now - looked < look_ns) return false;
    ef_turns turns;
    if (!ef_turns_read(&turns)) return false;
    bool waited = looked != 0 && ef_turns_waited(&seen, &turns);
    seen = turns;
    looked = now;
    return waited;
}

/* A thread that had to wait asks what other programs use, and so does every thread while the
 * machine is crowded; one of them at a time, and at most once in usage_ns. The answer takes two
 * readings. Where the last one is too old the machine counts as crowded until the next, because a
 * crowd that is not noticed costs far more than one that is not there. */
static void notice_crowd(uint64_t now) {
    static atomic_flag asking = ATOMIC_FLAG_INIT;
    static ef_usage last; /* guarded by `asking` */
    static atomic_uint_least64_t asked;
    bool suspect = had_to_wait(now) || crowded(now);
    if (!suspect || now - atomic_load_explicit(&asked, memory_order_relaxed) < usage_ns) return;
    if (atomic_flag_test_and_set_explicit(&asking, memory_order_acquire)) return;
    ef_usage usage;
    bool told = ef_usage_read(&usage);
    bool comparable = told && last.at != 0 && usage.at - last.at < recent_ns;
    if (!comparable || ef_usage_others(&last, &usage) > crowd_part)
        atomic_store_explicit(&crowded_until, now + crowd_ns, memory_order_relaxed);
    if (told) last = usage;
    atomic_store_explicit(&asked, now, memory_order_relaxed);
    atomic_flag_clear_explicit(&asking, memory_order_release);
}

/* Once for each thread that computes on a crowded machine. */
static void shorten_slices(void) {
    static _Thread_local bool done;
    if (!done) ef_slices_shorten();
    done = true;
}

bool ef_pool_crowded(void) {
    uint64_t now = ef_now_ns();
    notice_crowd(now);
    if (!crowded(now)) return false;
    shorten_slices();
    return true;
}

static uint64_t pieces_left(const slot *s, int shares) {
    uint64_t left = 0;
    for (int k = 0; k < shares; k++) {
        uint64_t span = atomic_load_explicit(&s->share[k].span, memory_order_relaxed);
        uint64_t begin = span & UINT32_MAX, end = span >> 32;
        left += end > begin ? end - begin : 0;
    }
    return left;
}

/* ---- dividing the processors --------------------------------------------------------------- */

/* Threads that may be at work: on a crowded machine more than there are processors. */
static int threads_allowed(uint64_t now) {
    return crowded(now) && atomic_load_explicit(&wish, memory_order_relaxed) == 0 ? lanes : machine;
}

/* Whoever posts a region looks here after it has, and whoever stops working looks for regions after
 * it has: in one order for all threads, so that one of the two sees the other. */
static int threads_at_work(void) {
    return all_of(atomic_load_explicit(&callers, memory_order_seq_cst)) +
           atomic_load_explicit(&working, memory_order_seq_cst);
}

/* A worker begins only while a processor is left over for it. */
static bool begin_working(void) {
    uint64_t now = ef_now_ns();
    int allowed = threads_allowed(now);
    if (now < atomic_load_explicit(&kept_until, memory_order_relaxed)) allowed--;
    int n = atomic_load_explicit(&working, memory_order_relaxed);
    do
        if (all_of(atomic_load_explicit(&callers, memory_order_relaxed)) + n >= allowed)
            return false;
    while (!atomic_compare_exchange_weak_explicit(&working, &n, n + 1, memory_order_seq_cst,
                                                  memory_order_relaxed));
    return true;
}

/* How well a region is served: its threads, `more` of them added, by its caller's weight. */
static int64_t served(const slot *s, int more) {
    int64_t threads = atomic_load_explicit(&s->threads, memory_order_relaxed) + more;
    int weight = atomic_load_explicit(&s->weight, memory_order_relaxed);
    return threads * 1000000 / (weight > 0 ? weight : 1);
}

/* The region that a worker should join: of those with pieces to claim and fewer threads than
 * shares, the one served worst. */
static slot *neediest(int *shares) {
    slot *best = NULL;
    for (int k = 0; k < SLOTS; k++) {
        int n = atomic_load_explicit(&slots[k].shares, memory_order_seq_cst);
        if (n == 0 || pieces_left(&slots[k], n) == 0) continue;
        if (atomic_load_explicit(&slots[k].threads, memory_order_relaxed) >= n) continue;
        if (best != NULL && served(&slots[k], 0) >= served(best, 0)) continue;
        best = &slots[k];
        *shares = n;
    }
    return best;
}

/* Whether this worker should leave its region, where a caller needs the processor or another region
 * is served worse even with one more thread. */
static bool is_needed_elsewhere(const slot *s, uint64_t now) {
    if (threads_at_work() > threads_allowed(now)) return true;
    if (all_of(atomic_load_explicit(&callers, memory_order_relaxed)) < 2) return false;
    int shares;
    const slot *other = neediest(&shares);
    return other != NULL && other != s && served(other, 1) < served(s, 0);
}

static void call_workers(int want);

/* Between two pieces a caller wakes a worker for a processor that was kept for long enough. */
static void use_kept_processor(uint64_t now) {
    uint64_t kept = atomic_load_explicit(&kept_until, memory_order_relaxed);
    if (lane != 0 || kept == 0 || now < kept) return;
    if (atomic_compare_exchange_strong_explicit(&kept_until, &kept, 0, memory_order_relaxed,
                                                memory_order_relaxed))
        call_workers(1);
}

/* All pieces this thread can get, those of share `mine` first. Returns how many it ran. */
static int work(slot *s, int mine, int shares) {
    int done = 0;
    for (int k = 0; k < shares; k++)
        for (int64_t p; (p = claim(&s->share[(mine + k) % shares], k == 0)) >= 0;) {
            use_kept_processor(ef_now_ns());
            run_piece(s, p);
            done++;
            if (lane != 0 && is_needed_elsewhere(s, ef_now_ns())) return done;
        }
    return done;
}

/* ---- waiting ------------------------------------------------------------------------------- */

static void futex_wait(atomic_int *at, int value) {
    syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void futex_wake(atomic_int *at, int threads) {
    syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins while *at is `value`, for a while. Returns whether it has changed. */
static bool changes_soon(atomic_int *at, int value) {
    uint64_t begin = ef_now_ns(), now = begin;
    uint64_t most = !crowded(now) ? spin_ns : lane == 0 ? crowd_spin_ns : crowd_next_ns;
    for (; now - begin < most; now = ef_now_ns())
        for (int k = 0; k < 16; k++) {
            if (atomic_load_explicit(at, memory_order_acquire) != value) return true;
            pause_briefly();
        }
    notice_crowd(now);
    return atomic_load_explicit(at, memory_order_acquire) != value;
}

static void finished(slot *s, int pieces) {
    if (pieces == 0) return;
    int old = atomic_fetch_sub_explicit(&s->pending, pieces, memory_order_acq_rel);
    if (old == (ASLEEP | pieces)) futex_wake(&s->pending, 1);
}

static void start_using_processor(const ef_context *c);
static void stop_using_processor(const ef_context *c);

static void wait_for(slot *s, const ef_context *c) {
    uint64_t began = 0;
    for (int left; (left = atomic_load_explicit(&s->pending, memory_order_acquire)) != 0;) {
        if (left == ASLEEP) break;
        if ((left & ASLEEP) == 0) {
            if (changes_soon(&s->pending, left)) continue;
            if (!atomic_compare_exchange_strong_explicit(
                    &s->pending, &left, left | ASLEEP, memory_order_relaxed, memory_order_relaxed))
                continue;
            left |= ASLEEP;
        }
        if (began == 0) began = ef_ticks();
        stop_using_processor(c);
        futex_wait(&s->pending, left);
        start_using_processor(c);
    }
    if (began != 0) ef_event_hook(EF_HOOKED_TEAM, began, 0);
}

/* ---- workers ------------------------------------------------------------------------------- */

typedef struct bell {
    _Alignas(64) atomic_int rung; /* counts the regions this worker was called to */
    atomic_bool asleep;           /* or about to be */
    atomic_bool at_work;          /* takes part in a region, so there is no need to call it */
    atomic_int thread;            /* its number in the kernel; 0: not known yet */
    atomic_int avoided;           /* the processor that it may not use, plus 1; 0: none */
    atomic_flag moving;           /* its mask is being set; guards the masks */
    cpu_set_t whole, left;        /* its mask without restriction, and what was last set */
} bell;

static bell bells[TEAM];
static atomic_int hired; /* workers made, or being made */

/* Takes part in regions until none has pieces to claim or there is no processor left. */
static void serve(int me) {
    bell *b = &bells[me];
    int shares = 0;
    for (slot *s; (s = neediest(&shares)) != NULL;) {
        if (!begin_working()) return;
        atomic_store_explicit(&b->at_work, true, memory_order_relaxed);
        int others = atomic_fetch_add_explicit(&s->threads, 1, memory_order_relaxed), done = 0;
        if (others < shares) done = work(s, me % shares, shares);
        atomic_fetch_sub_explicit(&s->threads, 1, memory_order_relaxed);
        atomic_store_explicit(&b->at_work, false, memory_order_relaxed);
        atomic_fetch_sub_explicit(&working, 1, memory_order_seq_cst);
        finished(s, done);
        if (done == 0) return;
    }
}

static void *worker(void *arg) {
    int me = lane = (int)(intptr_t)arg;
    bell *b = &bells[me];
    inside = true;
    atomic_store_explicit(&b->thread, (int)syscall(SYS_gettid), memory_order_relaxed);
    ef_pool_single();
    ef_slices_shorten();
    for (;;) {
        int heard = atomic_load_explicit(&b->rung, memory_order_seq_cst);
        serve(me);
        if (changes_soon(&b->rung, heard)) continue;
        atomic_store_explicit(&b->asleep, true, memory_order_seq_cst);
        uint64_t began = ef_ticks();
        futex_wait(&b->rung, heard);
        atomic_store_explicit(&b->asleep, false, memory_order_relaxed);
        ef_event_hook(EF_HOOKED_SLEEP, began, me);
    }
    return NULL;
}

/* Makes worker number `me`, which must not receive the program's signals. A worker that cannot be
 * made is one that never takes a piece. */
static void hire(int me) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (widened) pthread_attr_setaffinity_np(&attr, sizeof processors, &processors);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    pthread_t t;
    if (pthread_create(&t, &attr, worker, (void *)(intptr_t)me) == 0)
        pthread_setname_np(t, "evenflow");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
}

/* Where other programs use the processors, the kernel often wakes a worker on the processor of its
 * caller. There it would run in place of the caller, not beside it: a region that was handed out
 * would take longer than on its caller alone. So the worker may not use that processor until the
 * machine is not crowded any more. Then it gets back its own mask, since that of this caller may be
 * smaller; a mask that somebody else has set meanwhile is its own from then on. */
static void set_mask(bell *b, int thread, int here) {
    int avoided = atomic_load_explicit(&b->avoided, memory_order_relaxed);
    cpu_set_t set;
    if (sched_getaffinity(thread, sizeof set, &set) != 0) return;
    if (avoided == 0 || !CPU_EQUAL(&set, &b->left)) b->whole = set;
    set = b->whole;
    if (here > 0 && here <= CPU_SETSIZE) CPU_CLR((size_t)here - 1, &set);
    if (CPU_COUNT(&set) == 0 || sched_setaffinity(thread, sizeof set, &set) != 0) return;
    b->left = set;
    atomic_store_explicit(&b->avoided, here, memory_order_relaxed);
}

static void keep_apart(bell *b, bool apart) {
    int here = apart ? sched_getcpu() + 1 : 0;
    int thread = atomic_load_explicit(&b->thread, memory_order_relaxed);
    if (thread == 0 || here == atomic_load_explicit(&b->avoided, memory_order_relaxed)) return;
    if (atomic_flag_test_and_set_explicit(&b->moving, memory_order_acquire)) return;
    set_mask(b, thread, here);
    atomic_flag_clear_explicit(&b->moving, memory_order_release);
}

/* Calls up to `want` workers that are not at work, as far as there are processors for them. */
static void call_workers(int want) {
    const uint64_t now = ef_now_ns();
    int allowed = threads_allowed(now), among = allowed - 1;
    if (want > allowed - threads_at_work()) want = allowed - threads_at_work();
    if (want <= 0) return;
    for (int n = atomic_load_explicit(&hired, memory_order_relaxed); n < among;)
        if (atomic_compare_exchange_weak_explicit(&hired, &n, n + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            hire(++n);
    for (int k = 1; k <= among && want > 0; k++) {
        bell *b = &bells[k];
        if (atomic_load_explicit(&b->at_work, memory_order_relaxed)) continue;
        want--;
        if (k < machine) keep_apart(b, lane == 0 && crowded(now));
        atomic_fetch_add_explicit(&b->rung, 1, memory_order_seq_cst);
        if (atomic_load_explicit(&b->asleep, memory_order_seq_cst)) futex_wake(&b->rung, 1);
    }
}

/* ---- callers ------------------------------------------------------------------------------- */

static void start_using_processor(const ef_context *c) {
    atomic_fetch_add_explicit(&callers, one_like(c), memory_order_seq_cst);
}

/* Hands the processor to a worker if some region has pieces to claim. */
static void stop_using_processor(const ef_context *c) {
    int shares;
    unsigned before = atomic_fetch_sub_explicit(&callers, one_like(c), memory_order_seq_cst);
    if (all_of(before) == 1) return;
    if (neediest(&shares) != NULL) call_workers(1);
}

static bool is_full_at_work(void) {
    return atomic_load_explicit(&callers, memory_order_seq_cst) >= FULL;
}

/* While a caller of full weight computes and no processor is left over, a caller of weight w uses
 * at most the part w of one: after a run it waits (1 - w) / w times as long as the run took. Among
 * themselves callers of low weight need not wait: the workers of a pipeline would only leave the
 * processors idle. */
static void wait_for_turn(ef_context *c) {
    uint64_t begin = ef_now_ns(),
             debt = (uint64_t)((double)c->ran_ns * (1 / (double)c->weight - 1));
    if (debt > turn_most_ns) debt = turn_most_ns;
    while (is_full_at_work() && threads_at_work() >= machine && ef_now_ns() - begin < debt) {
        struct timespec t = {.tv_nsec = (long)turn_poll_ns};
        nanosleep(&t, NULL);
    }
    c->began = ef_now_ns();
}

void ef_pool_enter(ef_context *c) {
    if (c->depth++ > 0) return;
    if (EF_UNLIKELY(c->weight < 1)) wait_for_turn(c);
    start_using_processor(c);
}

void ef_pool_leave(ef_context *c) {
    if (--c->depth > 0) return;
    if (EF_UNLIKELY(c->weight < 1)) c->ran_ns = ef_now_ns() - c->began;
    unsigned before = atomic_fetch_sub_explicit(&callers, one_like(c), memory_order_seq_cst);
    if (all_of(before) > 1)
        atomic_store_explicit(&kept_until, ef_now_ns() + keep_ns, memory_order_relaxed);
}

void ef_pool_block(ef_context *c) {
    if (c->depth == 0) return;
    if (EF_UNLIKELY(c->weight < 1)) c->ran_ns = ef_now_ns() - c->began;
    stop_using_processor(c);
}

void ef_pool_unblock(ef_context *c) {
    if (c->depth == 0) return;
    if (EF_UNLIKELY(c->weight < 1)) c->began = ef_now_ns() - c->ran_ns;
    start_using_processor(c);
}

static bool all_awake(int shares) {
    int workers = machine - 1;
    if (atomic_load_explicit(&hired, memory_order_relaxed) < workers) return false;
    for (int k = 0; k < shares - 1; k++)
        if (atomic_load_explicit(&bells[k % workers + 1].asleep, memory_order_relaxed))
            return false;
    return true;
}

static slot *take_slot(void) {
    for (int k = 0; k < SLOTS; k++)
        if (!atomic_flag_test_and_set_explicit(&slots[k].taken, memory_order_acquire))
            return &slots[k];
    return NULL;
}

/* Posts n items in pieces of `each` for up to `team` threads and works until all are done. They
 * take one thread about cost_ns; 0: nobody knows. */
static bool region(int64_t n, int64_t each, int team, double cost_ns, ef_range_fn *fn, void *arg) {
    int64_t pieces = n / each + (n % each != 0);
    ef_context *c = ef_context_here();
    const uint64_t now = ef_now_ns();
    if (team == machine && cost_ns > crowd_long_ns) team = threads_allowed(now);
    if (crowded(now)) shorten_slices();
    int shares = team < pieces ? team : (int)pieces;
    slot *s = shares > 1 ? take_slot() : NULL;
    if (s == NULL) return false;
    ef_pool_enter(c);
    s->n = n, s->each = each, s->fn = fn, s->arg = arg;
    atomic_store_explicit(&s->pending, (int)pieces, memory_order_relaxed);
    for (int k = 0; k < shares; k++)
        atomic_store_explicit(
            &s->share[k].span,
            span_of((uint64_t)(pieces * k / shares), (uint64_t)(pieces * (k + 1) / shares)),
            memory_order_release);
    atomic_fetch_add_explicit(&s->threads, 1, memory_order_relaxed);
    atomic_store_explicit(&s->weight, (int)(1000 * c->weight), memory_order_relaxed);
    atomic_store_explicit(&s->shares, shares, memory_order_seq_cst);
    call_workers(shares - 1);
    inside = true;
    finished(s, work(s, 0, shares));
    inside = false;
    wait_for(s, c);
    atomic_store_explicit(&s->shares, 0, memory_order_relaxed);
    atomic_fetch_sub_explicit(&s->threads, 1, memory_order_relaxed);
    atomic_flag_clear_explicit(&s->taken, memory_order_release);
    ef_pool_leave(c);
    return true;
}

void ef_parallel_each(int64_t n, double cost_ns, ef_range_fn *fn, void *arg) {
    if (n <= 0) return;
    int64_t each = n / MOST_PIECES + 1;
    if (!region(n, each, ef_pool_size(), (double)n * cost_ns, fn, arg)) fn(arg, 0, n);
}

/* Waking a worker costs the caller as much as half of a brief region. It pays when more of them
 * follow, because the worker then stays awake. */
void ef_parallel_brief(int64_t n, ef_range_fn *fn, void *arg) {
    static _Thread_local uint64_t last; /* when this thread's last brief region ended */
    if (n <= 0) return;
    int team = ef_pool_size();
    bool shared = team > 1 && n > 1;
    if (shared && !all_awake(team < n ? team : (int)n)) {
        uint64_t now = ef_now_ns();
        shared = !crowded(now) && now - last < near_ns;
    }
    if (!shared || !region(n, 1, team, 0, fn, arg)) fn(arg, 0, n);
    last = ef_now_ns();
}

/* Where pieces begin follows from n, grain and cost alone, never from the number of threads. */
void ef_parallel(int64_t n, int64_t grain, double cost_ns, ef_range_fn *fn, void *arg) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int64_t units = n / grain + (n % grain != 0);
    double all = (double)n * cost_ns, pieces = all / worth_ns;
    int team = units > 1 && pieces >= 2 ? ef_pool_size() : 1;
    if (team > 1 && all < crowd_worth_ns && crowded(ef_now_ns()) && !all_awake(team)) team = 1;
    if (team > 1) {
        if (pieces > 16) pieces = 16 + (all - 16 * worth_ns) / piece_ns;
        if (pieces > MOST_PIECES) pieces = MOST_PIECES;
        int64_t each = (int64_t)((double)units / pieces);
        if ((double)each * pieces < (double)units) each++;
        if (region(n, each * grain, team, all, fn, arg)) return;
    }
    fn(arg, 0, n);
}
