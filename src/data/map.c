/* Map: a function of every element. While calls are fast they run in the thread that asks for
 * elements. If they are slow and the program allows parallel calls, threads make elements ahead.
 * Stacked elements are mapped in one call if the function works element by element. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "data/function.h"
#include "data/leftover.h"
#include "data/ring.h"
#include "data/rows.h"
#include "data/stage.h"

enum {
    MEASURED = 4,         /* calls after which to decide on threads */
    SLOW_NS = 30000,      /* a call that takes longer is worth handing to another thread */
    LONG_NS = 1000000,    /* if calls take longer than this, two are enough to decide */
    AGAIN = 256,          /* fast calls are measured again after so many */
    TRIED = 16,           /* calls of a Python function after which to try without threads */
    BLOCKED_NS = 2000000, /* a call without threads that waits so long brings them back */
    WAITS = 4, /* a call waits if it takes so many times its processor time; if less, other programs
                * may have delayed it */
    MOST_WORKERS = 64,
};

typedef struct map {
    ef_stage base;
    ef_element_fn f;
    ef_tensor *in;               /* an element of the source */
    ef_ring *ring;               /* NULL: calls run in the caller's thread */
    int64_t wish;                /* num_parallel_calls; 1: one at a time */
    uint64_t calls, ns, busy_ns; /* measured; busy: processor time */
    uint64_t least;              /* of the measured calls, the one least delayed by others, ns */
    uint64_t in_turn;            /* fast calls since the decision */
    /* Of a Python function on threads: calls begun, how many of the first TRIED have ended, and the
     * longest of these in nanoseconds. */
    atomic_uint_fast64_t begun, tried, longest;
    /* See end_threads. IN_TURN is for Python functions only. ALONE: the tuner chose 0 workers, so
     * the consumer makes the elements itself. */
    enum { THREADS, RETIRING, IN_TURN, BACK, ALONE } phase;
    ef_tuner tuner;       /* with AUTOTUNE; most: 0, not begun yet */
    ef_interval interval; /* while ALONE */
    uint64_t began;       /* the interval; 0: none has */
    ef_leftover leftover; /* comes before what is made now */
    bool quick;           /* the decision was made; without a ring: no threads */
} map;

static ef_status *map_open(ef_stage *s) {
    map *m = (map *)s;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(ef_element_fn_open(&m->f, s->run, s->dataset->set->f, s->dataset, "other_arguments"));
    EF_TRY(ef_element_fn_check(&m->f, s->dataset, s->source->width));
    m->f.no_end = EF_INVALID;
    m->in = ef_calloc((size_t)s->source->width, sizeof *m->in);
    if (m->in == NULL) return ef_no_memory((size_t)s->source->width * sizeof *m->in);
    m->wish = ef_dataset_int(s->dataset, "num_parallel_calls", 1);
    s->blocks = m->f.calls_back;
    /* The results of random ops, and the final values of variables, depend on the order of calls.
     */
    if (m->f.draws || (m->f.effects && !m->f.calls_back && m->wish < 0)) m->wish = 1;
    return NULL;
}

static void map_close(ef_stage *s) {
    map *m = (map *)s;
    ef_ring_close(m->ring);
    ef_leftover_close(&m->leftover);
    if (m->in != NULL) ef_element_release(m->in, s->source->width);
    ef_free(m->in);
    ef_element_fn_close(&m->f);
}

/* ---- with threads ------------------------------------------------------------------------------
 */

static ef_status *take(void *arg, ef_tensor *element, bool *end) {
    return ef_stage_next(((map *)arg)->base.source, element, end);
}

static void note_call(map *m, uint64_t ns) {
    uint64_t longest = atomic_load_explicit(&m->longest, memory_order_relaxed);
    while (ns > longest &&
           !atomic_compare_exchange_weak_explicit(&m->longest, &longest, ns, memory_order_relaxed,
                                                  memory_order_relaxed)) {}
    atomic_fetch_add_explicit(&m->tried, 1, memory_order_relaxed);
}

static ef_status *work(void *arg, ef_tensor *element) {
    map *m = arg;
    enum { FEW = 8 };
    ef_tensor few[FEW], *out = few;
    size_t bytes = (size_t)m->base.width * sizeof *out;
    if (m->base.width > FEW && (out = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
    memset(out, 0, bytes);
    bool notes =
        m->f.calls_back && atomic_fetch_add_explicit(&m->begun, 1, memory_order_relaxed) < TRIED;
    uint64_t from = notes ? ef_now_ns() : 0;
    ef_status *s = ef_element_fn_run(&m->f, element, out);
    if (notes) note_call(m, ef_now_ns() - from);
    ef_element_release(element, m->base.source->width);
    for (int k = 0; k < m->base.width; k++) ef_tensor_move(&element[k], &out[k]);
    if (out != few) ef_free(out);
    return s;
}

/* Whether calls wait for something other than a processor: then more workers than processors are
 * needed to keep these busy. */
static bool waits(const map *m) { return m->calls > 0 && m->ns > WAITS * m->busy_ns; }

/* The tuner begins with as many workers as it ended with in the latest run, or as many as keep the
 * processors busy. A function of the program that is worth threads keeps one at least: its consumer
 * may be such a function, too, and must not wait for the interpreter in between. */
static void begin_tuner(map *m) {
    int processors = ef_pool_size(), most = m->base.run->most_workers, n = processors;
    if (most == 0) most = processors < 4 ? 16 : 4 * processors;
    if (most > MOST_WORKERS) most = MOST_WORKERS;
    if (m->base.run->untuned) {
        most = n < most ? n : most;
    } else if (waits(m)) {
        uint64_t busy = m->busy_ns > 0 ? m->busy_ns : 1;
        n = (uint64_t)most <= m->ns / busy ? most : (int)(m->ns / busy) * processors;
    }
    m->tuner = ef_tuner_begin(n < most ? n : most, m->f.calls_back ? 1 : 0, most);
    if (!m->base.run->untuned) ef_tuner_recall(&m->tuner, m->base.note);
}

/* As many workers as the program says, or the tuner. */
static ef_ring_size size_for(map *m) {
    if (m->wish > 0) {
        int n = (int)(m->wish > MOST_WORKERS ? MOST_WORKERS : m->wish);
        return (ef_ring_size){2 * n, 2 * n, n, n};
    }
    if (m->tuner.most == 0) begin_tuner(m);
    int n = m->tuner.value, most = m->tuner.most;
    return (ef_ring_size){2 * n, 2 * most, n, most};
}

static ef_status *open_ring(map *m, const ef_ring_size *size) {
    const int order = m->base.dataset->set->deterministic, in = m->base.source->width;
    const bool any_order = m->base.dataset->set->sloppy || order == EF_ORDER_FREE ||
                           (order == EF_ORDER_DEFAULT && m->base.run->any_order);
    ef_ring_work w = {.width = in > m->base.width ? in : m->base.width,
                      .gives = m->base.width,
                      .arg = m,
                      .take = take,
                      .work = work,
                      .name = m->base.kind->name,
                      .any_order = any_order,
                      .together = any_order || m->f.calls_back, /* calls may wait for others */
                      .first = m->base.made,
                      .note = m->base.note,
                      .tuner = m->wish < 0 ? &m->tuner : NULL};
    ef_stage_note_decide(m->base.note, EF_DECIDED_THREADS, 0, size->workers, 0);
    return ef_ring_open(m->base.run, &w, size, &m->ring);
}

/* Whether the calls are worth threads: by their processor time, or because each of them took long.
 * Their time on the clock does not tell, because beside busy programs any call may lose its
 * processor for milliseconds. */
static bool slow(const map *m) { return m->busy_ns / m->calls >= SLOW_NS || m->least >= SLOW_NS; }

/* Decides after a few calls, so that a fast function never pays for threads. */
static ef_status *maybe_threads(map *m) {
    bool asked = m->f.calls_back && m->wish > 1; /* the program may sleep in it */
    if (!asked && m->calls < (m->ns >= 2 * LONG_NS ? 2 : MEASURED)) return NULL;
    m->quick = true;
    ef_ring_size size = {0};
    if (asked || slow(m)) size = size_for(m);
    if (size.most_workers < 2) {
        ef_stage_note_decide(m->base.note, EF_DECIDED_INLINE, 0, 0, 0);
        return NULL;
    }
    if (size.workers > 0) return open_ring(m, &size);
    m->phase = ALONE;
    return NULL;
}

/* While the consumer makes the elements itself, it waits all the time that a call takes. */
static void tune_alone(map *m, uint64_t now, uint64_t ns, uint64_t busy_ns) {
    if (m->began == 0) {
        m->interval = (ef_interval){0};
        m->busy_ns = 0;
        m->began = now;
        return;
    }
    m->interval.elements++;
    m->interval.waited += ns;
    m->busy_ns += busy_ns;
    m->interval.ns = now - m->began;
    if (!ef_interval_over(&m->interval, 0)) return;
    ef_interval_busy(&m->interval, m->busy_ns, 1, ef_pool_size());
    ef_tuner_step(&m->tuner, &m->interval, m->base.note);
    ef_tuner_keep(&m->tuner, m->base.note);
    m->began = 0;
    if (m->tuner.value > 0) m->phase = BACK;
}

/* Python functions run one at a time anyway unless they wait, and handing the interpreter from
 * thread to thread takes ten times as long as a short call (44 us, 4.8 without threads). But a
 * program that asks for several calls at a time may let them wait for each other, so calls begin on
 * threads; if none of the first took long, the threads end. They also end where the tuner chooses 0
 * workers. */
static void end_threads(map *m) {
    if (m->phase == THREADS && m->f.calls_back &&
        atomic_load_explicit(&m->tried, memory_order_relaxed) == TRIED &&
        atomic_load_explicit(&m->longest, memory_order_relaxed) < LONG_NS) {
        ef_ring_retire(m->ring);
        m->phase = RETIRING;
    }
    const bool alone = m->wish < 0 && m->tuner.value == 0;
    if (alone && m->phase != RETIRING) {
        ef_ring_retire(m->ring);
        m->phase = RETIRING;
    }
    if (m->phase != RETIRING || !ef_ring_drained(m->ring)) return;
    ef_ring_close(m->ring);
    m->ring = NULL;
    m->calls = m->ns = m->busy_ns = m->began = 0;
    m->phase = alone ? ALONE : IN_TURN;
    if (!alone) ef_stage_note_decide(m->base.note, EF_DECIDED_INLINE, 0, 0, 0);
}

/* Calls that wait go back to threads, for good. */
static void watch_call(map *m, uint64_t ns, uint64_t busy) {
    bool blocked = ns > BLOCKED_NS && ns > WAITS * busy;
    if (blocked || (m->calls == MEASURED && waits(m))) m->phase = BACK;
}

/* The calls that were measured may have been shorter than most: looks again from time to time. */
static void count_fast_call(map *m) {
    if (m->wish == 1 || m->phase != THREADS || ++m->in_turn < AGAIN) return;
    m->quick = false;
    m->calls = m->ns = m->busy_ns = m->in_turn = 0;
}

/* ---- one at a time ----------------------------------------------------------------------------
 */

static ef_status *map_next(ef_stage *s, ef_tensor *out, bool *end) {
    map *m = (map *)s;
    if (EF_UNLIKELY(ef_leftover_any(&m->leftover))) return ef_leftover_next(&m->leftover, out, end);
    if (m->wish != 1 && !m->quick) EF_TRY(maybe_threads(m));
    if (m->phase == BACK && m->ring == NULL) {
        ef_ring_size size = size_for(m);
        EF_TRY(open_ring(m, &size));
    }
    if (m->ring != NULL) end_threads(m);
    if (m->ring != NULL) return ef_ring_next(m->ring, out, end);
    EF_TRY(ef_stage_next(s->source, m->in, end));
    if (*end) return NULL;
    bool measures = m->phase == IN_TURN || m->phase == ALONE || (m->wish != 1 && !m->quick);
    uint64_t from = measures ? ef_now_ns() : 0, busy = measures ? ef_thread_ns() : 0;
    ef_status *bad = ef_element_fn_run(&m->f, m->in, out);
    ef_element_release(m->in, s->source->width);
    if (!measures) {
        count_fast_call(m);
        return bad;
    }
    uint64_t now = ef_now_ns(), ns = now - from, busy_ns = ef_thread_ns() - busy;
    if (m->phase == ALONE) {
        tune_alone(m, now, ns, busy_ns);
        return bad;
    }
    if (m->calls == 0 || ns < m->least) m->least = ns;
    m->ns += ns;
    m->busy_ns += busy_ns;
    m->calls++;
    if (m->phase == IN_TURN) watch_call(m, ns, busy_ns);
    return bad;
}

static bool map_stacks(ef_stage *s) {
    map *m = (map *)s;
    return m->ring == NULL && !ef_leftover_any(&m->leftover) &&
           ef_element_fn_stacks(&m->f, s->source->dataset);
}

/* The error of the first of n stacked elements for which the function fails: found by calling it
 * for each. */
static ef_status *first_failure(map *m, int64_t n) {
    ef_stage *s = &m->base;
    ef_tensor *row = ef_calloc((size_t)(s->source->width + s->width), sizeof *row);
    if (row == NULL) return NULL;
    ef_status *bad = NULL;
    for (int64_t k = 0; k < n && bad == NULL; k++) {
        for (int c = 0; c < s->source->width && bad == NULL; c++)
            bad = ef_rows_cut(&m->in[c], k, 1, true, &row[c]);
        if (bad == NULL) bad = ef_element_fn_run(&m->f, row, row + s->source->width);
        ef_element_release(row, s->source->width + s->width);
        if (bad != NULL)
            bad = ef_status_add(bad, "while making element %llu of %s",
                                (unsigned long long)(s->made + (uint64_t)k), s->kind->name);
    }
    ef_free(row);
    return bad;
}

static ef_status *map_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    map *m = (map *)s;
    EF_TRY(ef_stage_rows(s->source, n, m->in, got));
    ef_status *bad = *got > 0 ? ef_element_fn_run_stacked(&m->f, m->in, out) : NULL;
    if (EF_UNLIKELY(bad != NULL) && ef_status_code(bad) != EF_CANCELLED) {
        ef_status *one = first_failure(m, *got);
        if (one != NULL) {
            ef_status_free(bad);
            bad = one;
        }
    }
    ef_element_release(m->in, s->source->width);
    return bad;
}

static ef_status *map_save(ef_stage *s, ef_saver *w) {
    map *m = (map *)s;
    EF_TRY(ef_leftover_save(&m->leftover, w));
    if (m->ring != NULL && !m->leftover.end) EF_TRY(ef_ring_save(m->ring, w));
    ef_save_stop(w);
    return NULL;
}

static ef_status *map_restore(ef_stage *s, ef_loader *r) {
    return ef_leftover_load(&((map *)s)->leftover, r, s->dataset);
}

const ef_stage_kind ef_stage_map = {.name = "Map",
                                    .remakes = true,
                                    .size = sizeof(map),
                                    .open = map_open,
                                    .next = map_next,
                                    .rows = map_rows,
                                    .stacks = map_stacks,
                                    .close = map_close,
                                    .drains = true,
                                    .save = map_save,
                                    .restore = map_restore};
