/* Ownership of what tapes record: several tapes at a time, threads that stop, query and free each
 * other's tapes, and loops that end with the memory they began with. */
#include "base/alloc.h"
#include "base/sanitize.h"
#include "check.h"
#include "evenflow_binding.h"
#include <ef_ops.h>
#include <pthread.h>

static void scalar(ef_tensor *t, float v) { ef_status_free(ef_tensor_from(EF_F32, NULL, &v, t)); }

static float value(const ef_tensor *t) {
    const void *v = NULL;
    ef_status_free(t->dtype != 0 ? ef_tensor_data(t, &v) : NULL);
    return v != NULL ? *(const float *)v : NAN;
}

static void variable(ef_tensor *handle, float v) {
    ef_tensor first;
    scalar(&first, v);
    ef_status_free(ef_variable_new(&first, "v", handle));
    ef_tensor_release(&first);
}

/* v * v by two reads, as a program makes them. */
static ef_status *square(const ef_tensor *handle, ef_tensor *out) {
    ef_tensor a;
    ef_status *s = ef_do_ReadVariableOp(handle, EF_F32, &a);
    if (s == NULL) s = ef_do_Mul(&a, &a, out);
    ef_tensor_release(&a);
    return s;
}

static float slope(ef_tape *t, const ef_tensor *y, const ef_tensor *x) {
    ef_tensor d = {0};
    ef_status *s = ef_tape_gradient(t, y, NULL, &x, 1, &d);
    float v = s == NULL ? value(&d) : NAN;
    ef_status_free(s);
    ef_tensor_release(&d);
    return v;
}

/* ---- loops
 * --------------------------------------------------------------------------------------- */

static uint64_t taken_by(void (*step)(ef_tensor *x), ef_tensor *x) {
    for (int k = 0; k < 100; k++) step(x);
    uint64_t before = ef_alloc_count();
    for (int k = 0; k < 100; k++) step(x);
    return ef_alloc_count() - before;
}

static void record_forty(ef_tensor *x) {
    ef_tape *t;
    ef_tensor y;
    ef_status_free(ef_tape_start(false, &t));
    ef_status_free(ef_tape_watch(t, x));
    ef_tensor_copy(&y, x);
    for (int k = 0; k < 40; k++) {
        ef_tensor next;
        ef_status_free(ef_do_Mul(&y, x, &next));
        ef_tensor_release(&y);
        ef_tensor_copy(&y, &next);
        ef_tensor_release(&next);
    }
    ef_tensor_release(&y);
    ef_tape_free(t);
}

EF_TEST(recording_takes_nothing) {
    if (EF_ASAN) SKIP("a sanitizer sees every piece end");
    ef_tensor x;
    scalar(&x, 1);
    CHECK_INT(taken_by(record_forty, &x), 0);
    ef_tensor_release(&x);
}

static ef_tape *standing;

static void drop_results(ef_tensor *x) {
    ef_tensor y;
    for (int k = 0; k < 20; k++) {
        ef_status_free(ef_do_Mul(x, x, &y));
        ef_tensor_release(&y);
    }
}

EF_TEST(what_was_dropped_makes_room_on_an_open_tape) {
    if (EF_ASAN) SKIP("a sanitizer sees every piece end");
    ef_tensor x;
    scalar(&x, 1);
    CHECK_OK(ef_tape_start(true, &standing));
    CHECK_OK(ef_tape_watch(standing, &x));
    CHECK_INT(taken_by(drop_results, &x), 0);
    ef_tape_free(standing);
    ef_tensor_release(&x);
}

EF_TEST(a_chain_outlives_what_is_dropped_beside_it) {
    ef_tensor x, y, z, other;
    ef_tape *t;
    scalar(&x, 3);
    CHECK_OK(ef_tape_start(true, &t));
    CHECK_OK(ef_tape_watch(t, &x));
    CHECK_OK(ef_do_Mul(&x, &x, &y));
    for (int k = 0; k < 5000; k++) {
        CHECK_OK(ef_do_Mul(&x, &y, &other));
        ef_tensor_release(&other);
    }
    CHECK_OK(ef_do_Mul(&y, &y, &z));
    CHECK_NEAR(slope(t, &z, &x), 4 * 27, 0);
    CHECK_NEAR(slope(t, &z, &y), 2 * 9, 0);
    ef_tensor copy; /* identifies the value after the original is freed */
    ef_tensor_copy(&copy, &z);
    ef_tensor_release(&z);
    ef_tensor_release(&y);
    for (int k = 0; k < 100; k++) {
        CHECK_OK(ef_do_Mul(&x, &x, &other));
        ef_tensor_release(&other);
    }
    CHECK_NEAR(slope(t, &copy, &x), 4 * 27, 0);
    ef_tape_free(t);
    ef_tensor_release(&copy);
    ef_tensor_release(&x);
}

/* ---- several tapes
 * --------------------------------------------------------------------------------- */

EF_TEST(a_tape_knows_only_what_it_watches) {
    ef_tensor x, y, z;
    ef_tape *outer, *inner;
    scalar(&x, 3);
    CHECK_OK(ef_tape_start(true, &outer));
    CHECK_OK(ef_tape_start(true, &inner));
    CHECK_OK(ef_tape_watch(inner, &x));
    CHECK_OK(ef_do_Mul(&x, &x, &y));
    CHECK_OK(ef_tape_watch(outer, &x)); /* too late for y */
    CHECK_OK(ef_do_Mul(&x, &y, &z));
    CHECK_NEAR(slope(inner, &z, &x), 27, 0);
    CHECK_NEAR(slope(outer, &z, &x), 9, 0);
    CHECK(isnan(slope(outer, &z, &y)));
    CHECK(isnan(slope(outer, &y, &x)));
    ef_tape_free(inner);
    CHECK_NEAR(slope(outer, &z, &x), 9, 0); /* what both recorded is still there */
    ef_tape_free(outer);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
}

EF_TEST(while_suspended_tapes_look_away) {
    ef_tensor x, y, z;
    ef_tape *t, *within;
    ef_suspension s;
    scalar(&x, 3);
    CHECK_OK(ef_tape_start(true, &t));
    CHECK_OK(ef_tape_watch(t, &x));
    ef_suspend(&s);
    CHECK(!ef_taping());
    CHECK_OK(ef_do_Mul(&x, &x, &y));
    CHECK_OK(ef_tape_start(true, &within));
    CHECK_OK(ef_tape_watch(within, &x));
    CHECK_OK(ef_do_Mul(&x, &x, &z));
    ef_resume(&s);
    CHECK(isnan(slope(t, &y, &x)) && isnan(slope(t, &z, &x)));
    CHECK_NEAR(slope(within, &z, &x), 6, 0);
    ef_tape_free(within);
    ef_tensor_release(&y);
    CHECK_OK(ef_do_Mul(&x, &x, &y));
    CHECK_NEAR(slope(t, &y, &x), 6, 0);
    ef_tape_free(t);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
}

/* ---- several threads
 * ------------------------------------------------------------------------------- */

typedef struct shared {
    ef_tape *tape;
    ef_tensor handle, y;
    float slope;
} shared;

static void elsewhere(void *(*what)(void *), shared *s) {
    pthread_t t;
    CHECK(pthread_create(&t, NULL, what, s) == 0);
    pthread_join(t, NULL);
}

static void *ask(void *user) {
    shared *s = user;
    s->slope = slope(s->tape, &s->y, &s->handle);
    return NULL;
}
static void *drop(void *user) {
    shared *s = user;
    ef_tape_free(s->tape);
    s->tape = NULL;
    return NULL;
}
static void *stop(void *user) {
    ef_tape_pause(((shared *)user)->tape);
    return NULL;
}
static void *go_on(void *user) { /* records here what the first thread began */
    shared *s = user;
    ef_tensor more, all;
    ef_tape_resume(s->tape);
    ef_status *bad = square(&s->handle, &more);
    if (bad == NULL) bad = ef_do_AddV2(&s->y, &more, &all);
    if (bad == NULL) {
        s->slope = slope(s->tape, &all, &s->handle);
        ef_tensor_release(&all);
    }
    ef_status_free(bad);
    ef_tensor_release(&more);
    ef_tape_pause(s->tape);
    return NULL;
}
static void *begin_and_end(void *user) { /* the thread ends, the tape lives on */
    shared *s = user;
    ef_status *bad = ef_tape_start(true, &s->tape);
    if (bad == NULL) bad = square(&s->handle, &s->y);
    ef_status_free(bad);
    return NULL;
}

static void begin(shared *s) {
    *s = (shared){0};
    variable(&s->handle, 5);
    CHECK_OK(ef_tape_start(true, &s->tape));
    CHECK_OK(square(&s->handle, &s->y));
}
static void end(shared *s) {
    ef_tape_free(s->tape);
    ef_tensor_release(&s->y);
    ef_tensor_release(&s->handle);
    CHECK(!ef_taping());
}

EF_TEST(any_thread_may_ask) {
    shared s;
    begin(&s);
    elsewhere(ask, &s);
    CHECK_NEAR(s.slope, 10, 0);
    ef_tape_stop(s.tape);
    elsewhere(ask, &s);
    CHECK_NEAR(s.slope, 10, 0);
    end(&s);
}

EF_TEST(any_thread_may_drop) {
    shared s;
    ef_tensor y;
    begin(&s);
    elsewhere(drop, &s); /* while it is recording here */
    CHECK_OK(square(&s.handle, &y));
    ef_tensor_release(&y);
    CHECK_OK(ef_tape_start(false, &s.tape)); /* sees that the old one is gone */
    end(&s);
}

EF_TEST(any_thread_may_stop_and_go_on) {
    shared s;
    ef_tensor y;
    begin(&s);
    elsewhere(stop, &s);
    CHECK_OK(square(&s.handle, &y));
    CHECK(isnan(slope(s.tape, &y, &s.handle)));
    ef_tensor_release(&y);
    elsewhere(go_on, &s);
    CHECK_NEAR(s.slope, 20, 0);
    ef_tape_resume(s.tape); /* and back again */
    CHECK_OK(square(&s.handle, &y));
    CHECK_NEAR(slope(s.tape, &y, &s.handle), 10, 0);
    ef_tensor_release(&y);
    end(&s);
}

EF_TEST(a_tape_outlives_its_thread) {
    shared s = {0};
    variable(&s.handle, 5);
    elsewhere(begin_and_end, &s);
    CHECK_NEAR(slope(s.tape, &s.y, &s.handle), 10, 0);
    end(&s);
}

int main(void) {
    EF_RUN(recording_takes_nothing);
    EF_RUN(what_was_dropped_makes_room_on_an_open_tape);
    EF_RUN(a_chain_outlives_what_is_dropped_beside_it);
    EF_RUN(a_tape_knows_only_what_it_watches);
    EF_RUN(while_suspended_tapes_look_away);
    EF_RUN(any_thread_may_ask);
    EF_RUN(any_thread_may_drop);
    EF_RUN(any_thread_may_stop_and_go_on);
    EF_RUN(a_tape_outlives_its_thread);
    return EF_VERDICT();
}
