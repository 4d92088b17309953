/* Rings with one and many workers: order, errors, early ends, the byte ceiling; the tuner's
 * decisions; reading options. */
#include "base/context.h"
#include "base/pool.h"
#include "check.h"
#include "data/options.h"
#include "data/ring.h"
#include "data/tune.h"
#include "ops/op.h"
#include "tensor/tensor.h"
#include <string.h>
#include <unistd.h>

extern const ef_op ef_op_RangeDataset;

typedef struct source {
    int64_t at, n;    /* of the elements */
    int64_t fails_at; /* whose work fails; -1: none */
    int64_t floats;   /* in an element */
    bool slow;
} source;

static ef_status *take(void *arg, ef_tensor *element, bool *end) {
    source *s = arg;
    if (ef_context_here()->weight >= 1) return ef_error(EF_INTERNAL, "a worker of full weight");
    *end = s->at >= s->n;
    if (*end) return NULL;
    ef_shape shape = {.rank = 1, .dim = {s->floats}};
    EF_TRY(ef_tensor_alloc(element, EF_F32, &shape));
    ((float *)element->data)[0] = (float)s->at++;
    return NULL;
}

/* Later elements may be ready earlier. */
static ef_status *work(void *arg, ef_tensor *element) {
    const source *s = arg;
    float *x = element->data;
    int64_t k = (int64_t)x[0];
    if (s->slow) usleep((unsigned)(k * 7919 % 5) * 200);
    if (k == s->fails_at) return ef_error(EF_INVALID, "no");
    x[0] = 2 * x[0];
    return NULL;
}

static void make_run(uint64_t ceiling, ef_run **out) {
    static const ef_dataset_attrs none;
    static const ef_dataset d = {.op = &ef_op_RangeDataset, .set = &none, .number = 1};
    CHECK_OK(ef_run_make(&d, out));
    if (ceiling > 0) (*out)->ceiling = ceiling;
}

static void make_ring(ef_run *run, source *s, int workers, int most, ef_ring **out) {
    ef_ring_work w = {.width = 1, .gives = 1, .arg = s, .take = take, .work = work, .name = "Test"};
    ef_ring_size size = {2 * workers, 2 * most, workers, most};
    CHECK_OK(ef_ring_open(run, &w, &size, out));
}

static void check_order(int workers, int most) {
    ef_run *run = NULL;
    make_run(0, &run);
    source s = {.n = 60, .fails_at = 17, .floats = 100, .slow = true};
    ef_ring *r = NULL;
    make_ring(run, &s, workers, most, &r);
    for (int64_t k = 0; k < s.n; k++) {
        ef_tensor t = {0};
        bool end = false;
        ef_status *bad = ef_ring_next(r, &t, &end);
        CHECK(!end);
        CHECK((bad != NULL) == (k == s.fails_at));
        if (bad != NULL)
            CHECK(strstr(ef_status_message(bad), "while making element 17 of Test") != NULL);
        else
            CHECK(((float *)t.data)[0] == (float)(2 * k));
        ef_status_free(bad);
        ef_tensor_release(&t);
    }
    for (int k = 0; k < 2; k++) { /* the end stays */
        ef_tensor t = {0};
        bool end = false;
        CHECK(ef_ring_next(r, &t, &end) == NULL && end);
    }
    ef_ring_close(r);
    CHECK(atomic_load(&run->bytes) == 0);
    ef_run_free(run);
}

/* A consumer that stops early: by closing the ring, or by stopping the run first. */
static void check_early_end(bool stop) {
    ef_run *run = NULL;
    make_run(0, &run);
    source s = {.n = 1000, .fails_at = -1, .floats = 10};
    ef_ring *r = NULL;
    make_ring(run, &s, 3, 6, &r);
    ef_tensor t = {0};
    bool end = false;
    CHECK(ef_ring_next(r, &t, &end) == NULL && !end);
    ef_tensor_release(&t);
    if (stop) {
        ef_run_stop(run);
        ef_status *bad = NULL; /* what is ready may still come */
        for (int k = 0; k < 100 && bad == NULL; k++) {
            bad = ef_ring_next(r, &t, &end);
            ef_tensor_release(&t);
        }
        CHECK(bad != NULL && ef_status_code(bad) == EF_CANCELLED);
        ef_status_free(bad);
    }
    ef_ring_close(r);
    CHECK(atomic_load(&run->bytes) == 0);
    ef_run_free(run);
}

/* Two rings of one run share its ceiling. */
EF_TEST(elements_stay_below_the_ceiling) {
    enum { FLOATS = 1000, ONE = 4 * FLOATS + 1 };
    ef_run *run = NULL;
    make_run(5 * ONE, &run);
    source s[2] = {{.n = 50, .fails_at = -1, .floats = FLOATS},
                   {.n = 50, .fails_at = -1, .floats = FLOATS}};
    ef_ring *r[2] = {NULL, NULL};
    make_ring(run, &s[0], 4, 8, &r[0]);
    make_ring(run, &s[1], 1, 1, &r[1]);
    for (int k = 0; k < 100; k++) {
        ef_tensor t = {0};
        bool end = false;
        CHECK(ef_ring_next(r[k % 2], &t, &end) == NULL && !end);
        int64_t element = k / 2; /* both rings give each of their elements once */
        CHECK(((float *)t.data)[0] == (float)(element * 2));
        ef_tensor_release(&t);
        if (k % 10 == 0) usleep(1000);
    }
    for (int k = 0; k < 2; k++) ef_ring_close(r[k]);
    CHECK(atomic_load(&run->peak) <= 6 * ONE); /* the second ring may always have one */
    CHECK(atomic_load(&run->peak) >= 2 * ONE);
    CHECK(atomic_load(&run->bytes) == 0);
    ef_run_free(run);
}

typedef struct counted_threads {
    source source;
    atomic_int least, at_work, most_at_work;
} counted_threads;

static ef_status *take_counted(void *arg, ef_tensor *t, bool *end) {
    return take(&((counted_threads *)arg)->source, t, end);
}

static ef_status *count_threads(void *arg, ef_tensor *t) {
    counted_threads *c = arg;
    (void)t;
    int n = ef_pool_size(), now = atomic_fetch_add(&c->at_work, 1) + 1;
    if (n < atomic_load(&c->least)) atomic_store(&c->least, n);
    if (now > atomic_load(&c->most_at_work)) atomic_store(&c->most_at_work, now);
    usleep(1000);
    atomic_fetch_sub(&c->at_work, 1);
    return NULL;
}

EF_TEST(workers_divide_the_processors) {
    enum { WORKERS = 4 };
    int whole = ef_pool_size(), share = whole / WORKERS > 1 ? whole / WORKERS : 1;
    ef_run *run = NULL;
    make_run(0, &run);
    counted_threads c = {.source = {.n = 60, .fails_at = -1, .floats = 1}, .least = whole};
    ef_ring_work w = {.width = 1,
                      .gives = 1,
                      .arg = &c,
                      .take = take_counted,
                      .work = count_threads,
                      .name = "Test"};
    ef_ring_size size = {2 * WORKERS, 2 * WORKERS, WORKERS, WORKERS};
    ef_ring *r = NULL;
    CHECK_OK(ef_ring_open(run, &w, &size, &r));
    for (bool end = false; !end;) {
        ef_tensor t = {0};
        CHECK_OK(ef_ring_next(r, &t, &end));
        ef_tensor_release(&t);
    }
    ef_ring_close(r);
    CHECK(atomic_load(&c.most_at_work) < WORKERS || atomic_load(&c.least) == share);
    ef_run_free(run);
}

/* ---- decisions ---------------------------------------------------------------------------------
 */

EF_TEST(the_tuner_follows_waiting) {
    ef_tuner t = ef_tuner_begin(2, 0, 16);
    ef_interval idle = {.ns = 1000000, .waited = 1000, .elements = 100};
    ef_interval waits = {.ns = 1000000, .waited = 500000, .elements = 100};
    ef_interval better = {.ns = 1000000, .waited = 300000, .elements = 150};
    CHECK(ef_tuner_step(&t, &idle, NULL) == EF_DECIDED_ENOUGH && t.value == 2);
    CHECK(ef_tuner_step(&t, &waits, NULL) == EF_DECIDED_TRY && t.value == 4);
    CHECK(ef_tuner_step(&t, &better, NULL) == EF_DECIDED_TRY && t.value == 8); /* 4 is kept */
    CHECK(t.trying && t.before == 4);
    CHECK(ef_tuner_step(&t, &better, NULL) == EF_DECIDED_BACK && t.value == 4);
    CHECK(ef_tuner_step(&t, &better, NULL) == EF_DECIDED_NOTHING && t.value == 4); /* a pause */
    for (int k = 0; k < 2; k++) ef_tuner_step(&t, &better, NULL);
    CHECK(ef_tuner_step(&t, &better, NULL) == EF_DECIDED_TRY && t.value == 5); /* one more now */
    ef_tuner helped = {.value = 4, .most = 4, .trying = true, .before = 2, .rate = 1e-4};
    CHECK(ef_tuner_step(&helped, &better, NULL) == EF_DECIDED_KEEP && helped.value == 4);
    ef_tuner top = ef_tuner_begin(4, 0, 4);
    CHECK(ef_tuner_step(&top, &waits, NULL) == EF_DECIDED_MOST && top.value == 4);
    ef_interval busy = {.ns = 1000000, .waited = 500000, .elements = 100, .busy = 0.9};
    CHECK(ef_tuner_step(&t, &busy, NULL) == EF_DECIDED_BACK);
    for (int k = 0; k < 100; k++) CHECK(ef_tuner_step(&t, &busy, NULL) == EF_DECIDED_BUSY);
}

/* A machine on which `best` workers give most elements: more of them compete, fewer leave
 * processors idle. Returns the elements of n intervals relative to those with `best` workers. */
static double runs_at(ef_tuner *t, int best, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
        double by = t->value - best, rate = 1 / (1 + 0.25 * (by < 0 ? -by : by));
        double noise = 1 + 0.01 * (k % 3 - 1);
        ef_interval i = {.ns = 20000000,
                         .waited = 10000000,
                         .elements = (uint64_t)(10000 * rate * noise),
                         .busy = 0.6,
                         .working = 0.6};
        sum += rate;
        ef_tuner_step(t, &i, NULL);
        if (t->value < t->least || t->value > t->most) return 0;
    }
    return sum / n;
}

EF_TEST(the_tuner_goes_up_and_down) {
    for (int best = 0; best <= 16; best += 2)
        for (int from = 0; from <= 16; from += 4) {
            ef_tuner t = ef_tuner_begin(from, 0, 16);
            runs_at(&t, best, 1000);
            CHECK(runs_at(&t, best, 1000) > 0.95);     /* it has settled, and rarely tries others */
            CHECK(runs_at(&t, 16 - best, 4000) > 0.8); /* another machine is noticed */
            CHECK(runs_at(&t, 16 - best, 1000) > 0.95);
        }
}

/* Functions that wait for something else than processors do not compete: fewer are not tried. */
EF_TEST(the_tuner_keeps_workers_that_wait) {
    ef_tuner t = ef_tuner_begin(8, 0, 8);
    ef_interval waits = {.ns = 1000000, .waited = 500000, .elements = 100, .working = 0.05};
    for (int k = 0; k < 100; k++) CHECK(ef_tuner_step(&t, &waits, NULL) == EF_DECIDED_MOST);
    ef_interval computes = {.ns = 1000000, .waited = 500000, .elements = 100};
    ef_interval_busy(&computes, 900000, 8, 2);
    CHECK(computes.busy > 0.4 && computes.busy < 0.5 && computes.working > 0.4);
    CHECK(ef_tuner_step(&t, &computes, NULL) == EF_DECIDED_TRY && t.value == 4);
}

/* Of a trial that had not ended, what it was compared with. Limits of the new run hold. */
EF_TEST(the_tuner_begins_where_the_last_run_ended) {
    static const ef_dataset d = {.op = &ef_op_RangeDataset, .number = 77};
    static const char name[] = "Map", other[] = "Filter";
    ef_run *run = NULL;
    make_run(0, &run);
    ef_stage_note *n = ef_stage_note_of(run, NULL, name, &d);
    ef_tuner t = {.value = 6, .most = 16, .trying = true, .before = 3, .pause = 16, .skipped = 5};
    CHECK(n != NULL && !ef_tuner_recall(&t, n));
    ef_tuner_keep(&t, n);
    ef_stage_note_add(n, 10, 1000); /* a run without elements is not kept */
    ef_run_free(run);
    make_run(0, &run);
    n = ef_stage_note_of(run, NULL, name, &d);
    ef_tuner again = ef_tuner_begin(8, 0, 16), few = ef_tuner_begin(1, 0, 2);
    CHECK(ef_tuner_recall(&again, n) && ef_tuner_recall(&few, n));
    CHECK(again.value == 3 && again.pause == 16 && again.skipped == 5 && few.value == 2);
    CHECK(!ef_tuner_recall(&again, ef_stage_note_of(run, NULL, other, &d)));
    CHECK(!ef_tuner_recall(&again, NULL));
    ef_run_free(run);
}

EF_TEST(intervals_are_long_enough) {
    ef_interval i = {.ns = 19000000, .elements = 40};
    CHECK(!ef_interval_over(&i, 2)); /* neither many elements nor a long time */
    i.elements = 200;
    CHECK(ef_interval_over(&i, 2));
    i.ns = 1000000;
    CHECK(!ef_interval_over(&i, 2));
    i = (ef_interval){.ns = 90000000, .elements = 7};
    CHECK(!ef_interval_over(&i, 4)); /* a worker may not have given two yet */
    CHECK(ef_interval_over(&i, 3));
}

EF_TEST(options_are_read) {
    static const char text[] = "12001a002a003a080800100318c0843d6200";
    ef_data_options o = {0}, none = {0};
    ef_data_options_read(&o, text, strlen(text));
    CHECK(o.autotune_set && !o.autotune && o.cpu_budget == 3 && o.ram_budget == 1000000);
    ef_data_options_read(&o, "3a021805", 8); /* what is set stays */
    CHECK(o.ram_budget == 1000000);
    for (size_t n = 0; n < strlen(text); n++) ef_data_options_read(&(ef_data_options){0}, text, n);
    ef_data_options_read(&none, "3affffffffffffffffff01", 22); /* a length beyond the end */
    ef_data_options_read(&none, "not hexadecimal", 15);
    CHECK(!none.autotune_set && none.ram_budget == 0);
    ef_data_options_read(&none, "1a03980100", 10);
    CHECK(none.inject_set && !none.inject);
}

EF_TEST(order_does_not_depend_on_workers) {
    check_order(1, 1);
    check_order(4, 4);
    check_order(2, 8);
}

EF_TEST(a_consumer_may_stop_early) {
    check_early_end(false);
    check_early_end(true);
}

int main(void) {
    EF_RUN(order_does_not_depend_on_workers);
    EF_RUN(a_consumer_may_stop_early);
    EF_RUN(elements_stay_below_the_ceiling);
    EF_RUN(workers_divide_the_processors);
    EF_RUN(the_tuner_follows_waiting);
    EF_RUN(the_tuner_goes_up_and_down);
    EF_RUN(the_tuner_keeps_workers_that_wait);
    EF_RUN(the_tuner_begins_where_the_last_run_ended);
    EF_RUN(intervals_are_long_enough);
    EF_RUN(options_are_read);
    return EF_VERDICT();
}
