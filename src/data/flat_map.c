/* A function makes a dataset of each element: their elements follow one dataset after the other, or
 * interleaved. */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "data/function.h"
#include "data/read_ahead.h"
#include "data/rows.h"

enum { MOST_THREADS = 16 }; /* with AUTOTUNE */

typedef struct made {
    ef_stage base;
    ef_element_fn f;
    ef_tensor *in;        /* of each place: the element of the source whose dataset is there */
    ef_stage **open;      /* one for each place of the cycle; NULL: the place is empty */
    ef_read_ahead *ahead; /* of each of them; NULL: the program wants elements one at a time */
    int64_t cycle, block, at, in_block;
    int64_t threads; /* the number of places whose elements threads may prefetch */
    int width;       /* of the source */
    bool parallel;
    bool any_order; /* elements of any place leave as soon as they are ready */
    ef_bell bell;   /* if so */
    bool over;      /* the source has no more elements */
} made;

static ef_status *make_places(made *m) {
    m->in = ef_calloc((size_t)m->cycle * (size_t)m->width + 1, sizeof *m->in);
    m->open = ef_calloc((size_t)m->cycle, sizeof *m->open);
    if (m->parallel) m->ahead = ef_calloc((size_t)m->cycle, sizeof *m->ahead);
    if (m->in == NULL || m->open == NULL || (m->parallel && m->ahead == NULL))
        return ef_no_memory((size_t)m->cycle * (sizeof *m->open + sizeof *m->ahead));
    return NULL;
}

static ef_status *made_open(ef_stage *s) {
    made *m = (made *)s;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(ef_element_fn_open(&m->f, s->run, s->dataset->set->f, s->dataset, "other_arguments"));
    EF_TRY(ef_element_fn_check(&m->f, s->dataset, s->source->width));
    if (m->f.n_out != 1)
        return ef_error(EF_INVALID, "%s: the function must return one dataset",
                        s->dataset->op->name);
    m->cycle = ef_dataset_int(s->dataset, "cycle_length", 1);
    m->block = ef_dataset_int(s->dataset, "block_length", 1);
    if (m->cycle < 0) m->cycle = ef_pool_size();
    m->width = s->source->width;
    int64_t calls = ef_dataset_int(s->dataset, "num_parallel_calls", 0);
    m->parallel = calls != 0;
    m->threads = calls < 0 ? MOST_THREADS : calls;
    const ef_dataset_attrs *set = s->dataset->set;
    m->any_order = m->parallel && (set->sloppy || set->deterministic == EF_ORDER_FREE ||
                                   (set->deterministic == EF_ORDER_DEFAULT && s->run->any_order));
    if (m->any_order) ef_bell_init(&m->bell);
    return make_places(m);
}

static void close_place(made *m, int64_t k) {
    if (m->ahead != NULL) ef_read_ahead_close(&m->ahead[k]);
    ef_stage_close(m->open[k]);
    m->open[k] = NULL;
    ef_element_release(m->in + k * m->width, m->width);
}

static void free_places(made *m) {
    bool all = m->in != NULL && m->open != NULL && (m->ahead != NULL || !m->parallel);
    for (int64_t k = 0; all && k < m->cycle; k++) close_place(m, k);
    ef_free(m->open);
    ef_free(m->ahead);
    ef_free(m->in);
    m->open = NULL;
    m->ahead = NULL;
    m->in = NULL;
}

static void made_close(ef_stage *s) {
    made *m = (made *)s;
    free_places(m);
    if (m->any_order) ef_bell_destroy(&m->bell);
    ef_element_fn_close(&m->f);
}

/* Opens the dataset of the element that place k has. */
static ef_status *open_place(made *m, int64_t k) {
    ef_tensor variant = {0};
    EF_TRY(ef_element_fn_run(&m->f, m->in + k * m->width, &variant));
    ef_status *s = NULL;
    const ef_dataset *d = ef_dataset_of(&variant);
    if (d == NULL)
        s = ef_error(EF_INVALID, "%s: the function must return a dataset",
                     m->base.dataset->op->name);
    else if (ef_dataset_width(d) != m->base.width)
        s = ef_error(EF_INVALID,
                     "%s: a dataset that the function made has elements of %d tensors, "
                     "not of %d",
                     m->base.dataset->op->name, ef_dataset_width(d), m->base.width);
    else
        s = ef_stage_open_under(&m->base, d, &m->open[k]);
    if (s == NULL && m->ahead != NULL)
        s = ef_read_ahead_open(&m->ahead[k], m->open[k], k < m->threads ? -1 : 0, m->base.note,
                               m->any_order ? &m->bell : NULL);
    ef_tensor_release(&variant);
    return s;
}

static ef_status *open_next(made *m, int64_t k, bool *end) {
    EF_TRY(ef_stage_next(m->base.source, m->in + k * m->width, end));
    if (*end) return NULL;
    ef_status *s = open_place(m, k);
    if (s != NULL) close_place(m, k);
    return s;
}

static ef_status *flat_map_next(ef_stage *s, ef_tensor *out, bool *end) {
    made *m = (made *)s;
    for (;;) {
        if (m->open[0] == NULL) {
            EF_TRY(open_next(m, 0, end));
            if (*end) return NULL;
        }
        EF_TRY(ef_stage_next(m->open[0], out, end));
        if (!*end) return NULL;
        close_place(m, 0);
        *end = false;
    }
}

/* ---- positions ---------------------------------------------------------------------------------
 * The dataset of a place is made again of the same element. */

static ef_status *made_save(ef_stage *s, ef_saver *w) {
    const made *m = (const made *)s;
    ef_save_int(w, m->cycle);
    ef_save_int(w, m->at);
    ef_save_int(w, m->in_block);
    ef_save_int(w, m->over);
    for (int64_t k = 0; k < m->cycle; k++) {
        ef_save_int(w, m->open[k] != NULL);
        if (m->open[k] == NULL) continue;
        EF_TRY(ef_save_tensors(w, m->in + k * m->width, m->width));
        if (m->parallel) EF_TRY(ef_read_ahead_save(&m->ahead[k], w));
        EF_TRY(ef_position_save(m->open[k], w));
    }
    return NULL;
}

static ef_status *restore_place(made *m, int64_t k, ef_loader *r) {
    bool is_open;
    EF_TRY(ef_load_bool(r, &is_open));
    if (!is_open) return NULL;
    EF_TRY(ef_load_element(r, m->base.source->dataset, m->in + k * m->width));
    EF_TRY(open_place(m, k));
    if (m->parallel) EF_TRY(ef_read_ahead_restore(&m->ahead[k], r));
    return ef_position_restore(m->open[k], r);
}

/* Where the program leaves the number of places open, it stays what it was. */
static ef_status *made_restore(ef_stage *s, ef_loader *r) {
    made *m = (made *)s;
    int64_t cycle;
    EF_TRY(ef_load_count(r, &cycle));
    if (cycle != m->cycle && (cycle == 0 || ef_dataset_int(s->dataset, "cycle_length", 1) >= 0))
        return ef_load_broken("an interleave has another cycle_length");
    if (cycle != m->cycle) {
        free_places(m);
        m->cycle = cycle;
        EF_TRY(make_places(m));
    }
    EF_TRY(ef_load_upto(r, cycle - 1, &m->at));
    EF_TRY(ef_load_upto(r, INT64_MAX, &m->in_block));
    EF_TRY(ef_load_bool(r, &m->over));
    for (int64_t k = 0; k < cycle; k++) EF_TRY(restore_place(m, k, r));
    return NULL;
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_flat_map = {.name = "FlatMap",
                                         .remakes = true,
                                         .size = sizeof(made),
                                         .open = made_open,
                                         .next = flat_map_next,
                                         .close = made_close,
                                         .count = unknown,
                                         .save = made_save,
                                         .restore = made_restore};

/* ---- interleave --------------------------------------------------------------------------------
 */

static void next_place(made *m) {
    m->at = (m->at + 1) % m->cycle;
    m->in_block = 0;
}

static bool all_closed(const made *m) {
    for (int64_t k = 0; k < m->cycle; k++)
        if (m->open[k] != NULL) return false;
    return true;
}

/* Sets m->at to the first place, from there on, whose element can be had without waiting. Empty
 * places are opened on the way. */
static ef_status *find_ready(made *m, bool *found) {
    for (int64_t n = 0; n < m->cycle; n++) {
        int64_t k = (m->at + n) % m->cycle;
        if (m->open[k] == NULL && !m->over) EF_TRY(open_next(m, k, &m->over));
        if (m->open[k] == NULL) continue;
        EF_TRY(ef_read_ahead_ready(&m->ahead[k], found));
        if (!*found) continue;
        if (n > 0) m->in_block = 0;
        m->at = k;
        return NULL;
    }
    return NULL;
}

static ef_status *next_in_any_order(made *m, ef_tensor *out, bool *end) {
    unsigned pulse = ef_interrupt_counter();
    for (;;) {
        uint64_t times = ef_bell_times(&m->bell);
        bool found = false;
        EF_TRY(find_ready(m, &found));
        if (!found) {
            *end = m->over && all_closed(m);
            if (*end) return NULL;
            ef_bell_wait(&m->bell, times);
            EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
            continue;
        }
        ef_status *bad = ef_read_ahead_next(&m->ahead[m->at], out, end);
        if (bad != NULL || !*end) {
            if (++m->in_block >= m->block) next_place(m);
            return bad;
        }
        *end = false;
        close_place(m, m->at);
    }
}

static ef_status *interleave_next(ef_stage *s, ef_tensor *out, bool *end) {
    made *m = (made *)s;
    if (m->any_order) return next_in_any_order(m, out, end);
    for (;;) {
        ef_stage *here = m->open[m->at];
        if (here == NULL && !m->over) {
            bool over = false;
            EF_TRY(open_next(m, m->at, &over));
            m->over = over;
            if (!over) m->in_block = 0;
            continue;
        }
        if (here == NULL) { /* an empty place is passed over once the source has ended */
            *end = all_closed(m);
            if (*end) return NULL;
            next_place(m);
            continue;
        }
        ef_status *bad = m->ahead != NULL ? ef_read_ahead_next(&m->ahead[m->at], out, end)
                                          : ef_stage_next(here, out, end);
        if (bad != NULL || !*end) {
            if (++m->in_block >= m->block) next_place(m);
            return bad;
        }
        *end = false;
        close_place(m, m->at);
        next_place(m);
    }
}

const ef_stage_kind ef_stage_interleave = {.name = "Interleave",
                                           .remakes = true,
                                           .size = sizeof(made),
                                           .open = made_open,
                                           .next = interleave_next,
                                           .close = made_close,
                                           .count = unknown,
                                           .save = made_save,
                                           .restore = made_restore};
