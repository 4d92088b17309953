/* Any number of user threads: one function, one session, eager ops and tapes used by eight threads
 * concurrently give the results of a single thread. */
#include "check.h"
#include <ef_ops.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, CALLS = 300 };

static ef_function *shared_function;
static ef_session *shared_session;
static ef_tensor placeholder, fetch, counter;

static ef_status *square_plus(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int max_out, int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    ef_tensor s;
    ef_status *bad = ef_do_Mul(&in[0], &in[0], &s);
    if (bad != NULL) return bad;
    bad = ef_do_AddV2(&s, &in[0], out);
    ef_tensor_release(&s);
    *n_out = 1;
    return bad;
}

typedef struct worker {
    int id, wrong;
    const char *what;
} worker;

static bool is(ef_status *s, ef_tensor *t, float want, worker *w, const char *what) {
    const void *v;
    bool right = s == NULL && ef_tensor_data(t, &v) == NULL && *(const float *)v == want;
    if (!right) {
        w->wrong++;
        w->what = s != NULL ? ef_status_message(s) : what;
    }
    if (s == NULL) ef_tensor_release(t);
    return right;
}

static void one_round(worker *w, int k) {
    int n;
    ef_shape shape = {.rank = 1, .dim = {1 + (w->id * 31 + k) % 40}};
    if (k % 10 == 0) shape.dim[0] = 20000; /* large: deferred and parallel */
    float v = (float)(w->id + k % 7);
    ef_tensor x, y, z;
    if (ef_tensor_new(EF_F32, &shape, &x) != NULL) return;
    const void *data;
    if (ef_tensor_data(&x, &data) != NULL) return;
    for (int64_t i = 0; i < shape.dim[0]; i++) ((float *)data)[i] = v;
    const ef_tensor *in[] = {&x};
    is(ef_function_call(shared_function, in, 1, &y, 1, &n), &y, v * v + v, w, "function");
    is(square_plus(NULL, &x, 1, &z, 1, &n), &z, v * v + v, w, "eager");
    is(ef_session_run(shared_session, &placeholder, &x, 1, &fetch, 1, NULL, 0, &y), &y, v * v + v,
       w, "session");
    ef_tape *tape;
    if (ef_tape_start(false, &tape) != NULL) return;
    ef_tensor g;
    if (ef_tape_watch(tape, &x) == NULL && square_plus(NULL, &x, 1, &y, 1, &n) == NULL) {
        ef_tape_stop(tape);
        is(ef_tape_gradient(tape, &y, NULL, in, 1, &g), &g, 2 * v + 1, w, "gradient");
        ef_tensor_release(&y);
    }
    ef_tape_free(tape);
    ef_tensor one;
    float one_value = 1;
    if (ef_tensor_from(EF_F32, NULL, &one_value, &one) == NULL &&
        ef_do_AssignAddVariableOp(&counter, &one) != NULL)
        w->wrong++;
    ef_tensor_release(&x);
}

static void *work(void *arg) {
    worker *w = arg;
    for (int k = 0; k < CALLS; k++) one_round(w, k);
    return NULL;
}

/* The graph of square_plus of a vector, and the session all threads share. */
static void open_session(ef_graph *g) {
    ef_shape any = {.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    int n;
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &any, "x", &placeholder));
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(square_plus(NULL, &placeholder, 1, &fetch, 1, &n));
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_session_new(g, &shared_session));
}

EF_TEST(eight_threads) {
    CHECK_OK(ef_function_new(square_plus, NULL, "square_plus", &shared_function));
    ef_graph *g = ef_graph_new();
    CHECK(g != NULL);
    open_session(g);
    float zero = 0;
    ef_tensor start;
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &zero, &start));
    CHECK_OK(ef_variable_new(&start, "counter", &counter));

    pthread_t thread[THREADS];
    worker w[THREADS] = {{0}};
    for (int k = 0; k < THREADS; k++) {
        w[k].id = k;
        CHECK_INT(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        if (w[k].wrong > 0) printf("    thread %d: %d wrong (%s)\n", k, w[k].wrong, w[k].what);
        CHECK_INT(w[k].wrong, 0);
    }
    ef_tensor total;
    const void *v;
    CHECK_OK(ef_variable_get(&counter, &total));
    CHECK_OK(ef_tensor_data(&total, &v));
    CHECK_NEAR(*(const float *)v, THREADS * CALLS, 0);
    ef_tensor_release(&total);
    ef_tensor_release(&counter);
    ef_tensor_release(&placeholder);
    ef_tensor_release(&fetch);
    ef_session_free(shared_session);
    ef_graph_free(g);
    ef_function_free(shared_function);
}

/* ---- requests that several threads make at the same time ---- */

enum { CHAIN = 6000, FETCHED = 6 };
static ef_tensor fetched[FETCHED];
static pthread_barrier_t together;

static int64_t requests(void) {
    ef_cache_info info[16];
    int n = ef_cache_info_get(info, 16);
    for (int k = 0; k < n && k < 16; k++)
        if (strcmp(info[k].name, "requests") == 0) return info[k].entries;
    return -1;
}

static void *fetch_each(void *wrong) {
    ef_tensor x, y;
    if (ef_tensor_from(EF_F32, NULL, &(float){1}, &x) != NULL) return NULL;
    for (int k = 0; k < FETCHED; k++) {
        pthread_barrier_wait(&together);
        ef_status *s =
            ef_session_run(shared_session, &placeholder, &x, 1, &fetched[k], 1, NULL, 0, &y);
        *(bool *)wrong = *(bool *)wrong || s != NULL;
        if (s == NULL) ef_tensor_release(&y);
        ef_status_free(s);
    }
    return NULL;
}

/* Each fetches the ends of parts of a long chain, which take a while to compile. */
EF_TEST(threads_share_requests) {
    ef_graph *g = ef_graph_new();
    ef_shape scalar = {.rank = 0};
    bool wrong[4] = {false};
    pthread_t thread[4];
    ef_tensor at, next;
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &scalar, "x", &placeholder));
    CHECK_OK(ef_graph_enter(g));
    ef_tensor_copy(&at, &placeholder);
    for (int k = 0; k < CHAIN + FETCHED; k++) {
        CHECK_OK(ef_do_Sin(&at, &next));
        ef_tensor_release(&at);
        at = next;
        if (k >= CHAIN) ef_tensor_copy(&fetched[k - CHAIN], &at);
    }
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_session_new(g, &shared_session));
    int64_t before = requests();
    CHECK_INT(pthread_barrier_init(&together, NULL, 4), 0);
    for (int k = 0; k < 4; k++)
        CHECK_INT(pthread_create(&thread[k], NULL, fetch_each, &wrong[k]), 0);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) CHECK(!wrong[k]);
    CHECK_INT(requests(), before + FETCHED);
    for (int k = 0; k < FETCHED; k++) ef_tensor_release(&fetched[k]);
    ef_tensor_release(&at);
    ef_tensor_release(&placeholder);
    ef_session_free(shared_session);
    ef_graph_free(g);
    CHECK_INT(requests(), before);
    pthread_barrier_destroy(&together);
}

/* ---- one tape, many threads ---- */

static ef_tape *shared_tape;
static ef_tensor watched, squared;

static void *differentiate(void *wrong) {
    const ef_tensor *source[] = {&watched};
    for (int k = 0; k < 50; k++) {
        ef_tensor g;
        const void *v;
        ef_status *s = ef_tape_gradient(shared_tape, &squared, NULL, source, 1, &g);
        bool right = s == NULL && ef_tensor_data(&g, &v) == NULL && *(const float *)v == 7;
        *(bool *)wrong = *(bool *)wrong || !right;
        if (s == NULL) ef_tensor_release(&g);
        ef_status_free(s);
    }
    ef_tape_stop(shared_tape);
    return NULL;
}

EF_TEST(threads_share_a_persistent_tape) {
    bool wrong[4] = {false};
    pthread_t thread[4];
    int n;
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &(float){3}, &watched));
    CHECK_OK(ef_tape_start(true, &shared_tape));
    CHECK_OK(ef_tape_watch(shared_tape, &watched));
    CHECK_OK(square_plus(NULL, &watched, 1, &squared, 1, &n));
    for (int k = 0; k < 4; k++)
        CHECK_INT(pthread_create(&thread[k], NULL, differentiate, &wrong[k]), 0);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) CHECK(!wrong[k]);
    ef_tape_free(shared_tape);
    ef_tensor_release(&watched);
    ef_tensor_release(&squared);
}

/* A deferred value made by one thread and read by another. */
static ef_tensor handed;
static void *reader(void *arg) {
    const void *v;
    *(float *)arg = ef_tensor_data(&handed, &v) == NULL ? ((const float *)v)[7] : -1;
    return NULL;
}

EF_TEST(a_deferred_value_crosses_threads) {
    ef_shape s = {.rank = 1, .dim = {50000}};
    ef_tensor x;
    const void *data;
    CHECK_OK(ef_tensor_new(EF_F32, &s, &x));
    CHECK_OK(ef_tensor_data(&x, &data));
    for (int k = 0; k < 50000; k++) ((float *)data)[k] = (float)k;
    CHECK_OK(ef_do_AddV2(&x, &x, &handed));
    float got = 0;
    pthread_t t;
    CHECK_INT(pthread_create(&t, NULL, reader, &got), 0);
    pthread_join(t, NULL);
    CHECK_NEAR(got, 14, 0);
    ef_tensor_release(&handed);
    ef_tensor_release(&x);
}

/* ---- threads that exchange deferred values ---- */

enum { SLOTS = 4, EXCHANGES = 400, WIDE = 20000 };
static struct {
    pthread_mutex_t lock; /* guards the tensors; their values are deferred or not */
    ef_tensor at[SLOTS];
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void slot_get(int k, ef_tensor *out) {
    pthread_mutex_lock(&slots.lock);
    ef_tensor_copy(out, &slots.at[k]);
    pthread_mutex_unlock(&slots.lock);
}

static void slot_put(int k, ef_tensor *t) {
    ef_tensor old;
    pthread_mutex_lock(&slots.lock);
    ef_tensor_copy(&old, &slots.at[k]);
    ef_tensor_release(&slots.at[k]);
    ef_tensor_copy(&slots.at[k], t);
    pthread_mutex_unlock(&slots.lock);
    ef_tensor_release(&old);
    ef_tensor_release(t);
}

static ef_status *wide(float v, ef_tensor *out) {
    ef_shape s = {.rank = 1, .dim = {WIDE}};
    ef_status *bad = ef_tensor_new(EF_F32, &s, out);
    for (int k = 0; k < WIDE && bad == NULL; k++) ((float *)out->data)[k] = v;
    return bad;
}

/* slot[k] becomes the mean of two slots: all slots stay within the range of the initial values, and
 * all elements of a vector are equal. */
static void *exchanger(void *arg) {
    worker *w = arg;
    ef_tensor a, b, sum, half = {0}, mean;
    const void *v;
    if (ef_tensor_from(EF_F32, NULL, &(float){0.5f}, &half) != NULL) return NULL;
    for (int k = 0; k < EXCHANGES; k++) {
        slot_get((w->id + k) % SLOTS, &a);
        slot_get((w->id + k * 3 + 1) % SLOTS, &b);
        bool right = ef_do_AddV2(&a, &b, &sum) == NULL && ef_do_Mul(&sum, &half, &mean) == NULL;
        ef_tensor_release(&a);
        ef_tensor_release(&b);
        if (!right) {
            w->wrong++;
            return NULL;
        }
        if (k % 7 == 0) { /* read here, while others may read it or build on it */
            if (ef_tensor_data(&sum, &v) != NULL) w->wrong++;
            const float *x = v;
            w->wrong += x[0] < 0 || x[0] > 2 * SLOTS || x[0] != x[WIDE - 1];
        }
        ef_tensor_release(&sum);
        slot_put((w->id + k) % SLOTS, &mean);
    }
    return NULL;
}

EF_TEST(threads_exchange_deferred_values) {
    pthread_t thread[THREADS];
    worker w[THREADS] = {{0}};
    for (int k = 0; k < SLOTS; k++) CHECK_OK(wide((float)k, &slots.at[k]));
    for (int k = 0; k < THREADS; k++) {
        w[k].id = k;
        CHECK_INT(pthread_create(&thread[k], NULL, exchanger, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) CHECK_INT(w[k].wrong, 0);
    for (int k = 0; k < SLOTS; k++) {
        const void *v;
        CHECK_OK(ef_tensor_data(&slots.at[k], &v)); /* of threads that are gone */
        CHECK(((const float *)v)[0] >= 0 && ((const float *)v)[0] <= SLOTS);
        ef_tensor_release(&slots.at[k]);
    }
}

/* Many threads read one deferred value of a batch that others free or extend. */
static ef_tensor wanted[3];
static void *asker(void *arg) {
    worker *w = arg;
    const void *v;
    ef_tensor mine, more;
    ef_tensor_copy(&mine, &wanted[w->id % 3]);
    if (w->id % 2 == 0 && ef_do_AddV2(&wanted[0], &mine, &more) == NULL) {
        w->wrong += ef_tensor_data(&more, &v) != NULL ||
                    ((const float *)v)[3] != 2.0f + (float)(2 << (w->id % 3));
        ef_tensor_release(&more);
    }
    w->wrong += ef_tensor_data(&wanted[w->id % 3], &v) != NULL ||
                ((const float *)v)[WIDE - 1] != (float)(2 << (w->id % 3));
    ef_tensor_release(&mine);
    return NULL;
}

EF_TEST(many_ask_for_one_value) {
    for (int round = 0; round < 50; round++) {
        pthread_t thread[THREADS];
        worker w[THREADS] = {{0}};
        ef_tensor one, unused;
        CHECK_OK(wide(1, &one));
        CHECK_OK(ef_do_AddV2(&one, &one, &wanted[0]));
        for (int k = 1; k < 3; k++)
            CHECK_OK(ef_do_AddV2(&wanted[k - 1], &wanted[k - 1], &wanted[k]));
        CHECK_OK(ef_do_AddV2(&wanted[0], &one, &unused));
        for (int k = 0; k < THREADS; k++) {
            w[k].id = k;
            CHECK_INT(pthread_create(&thread[k], NULL, asker, &w[k]), 0);
        }
        ef_tensor_release(&unused);
        ef_tensor_release(&one);
        for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < THREADS; k++) CHECK_INT(w[k].wrong, 0);
        for (int k = 0; k < 3; k++) ef_tensor_release(&wanted[k]);
    }
}

/* Some threads assign deferred values to variables, and others update them in place. */
static ef_tensor shared_variable[2];
static void *assigner(void *arg) {
    worker *w = arg;
    ef_tensor one, two, got;
    const void *v;
    if (wide(1, &one) != NULL) return NULL;
    for (int k = 0; k < 60; k++) {
        const ef_tensor *var = &shared_variable[(w->id + k) % 2];
        ef_status *bad = NULL;
        if (w->id % 2 == 0) {
            bad = ef_do_AddV2(&one, &one, &two);
            if (bad == NULL) bad = ef_variable_set(var, &two);
            if (bad == NULL) ef_tensor_release(&two);
        } else {
            bad = ef_do_AssignAddVariableOp(var, &one);
        }
        w->wrong += bad != NULL;
        ef_status_free(bad);
        if (ef_variable_get(var, &got) != NULL) continue;
        w->wrong += ef_tensor_data(&got, &v) != NULL ||
                    ((const float *)v)[0] != ((const float *)v)[WIDE - 1];
        ef_tensor_release(&got);
    }
    ef_tensor_release(&one);
    return NULL;
}

EF_TEST(variables_take_deferred_values) {
    pthread_t thread[4];
    worker w[4] = {{0}};
    ef_tensor start;
    CHECK_OK(wide(0, &start));
    for (int k = 0; k < 2; k++) CHECK_OK(ef_variable_new(&start, "v", &shared_variable[k]));
    ef_tensor_release(&start);
    for (int k = 0; k < 4; k++) {
        w[k].id = k;
        CHECK_INT(pthread_create(&thread[k], NULL, assigner, &w[k]), 0);
    }
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) CHECK_INT(w[k].wrong, 0);
    for (int k = 0; k < 2; k++) ef_tensor_release(&shared_variable[k]);
}

/* ---- a graph that one thread builds while others run it ---- */

enum { BUILT = 200, RUNNERS = 3 };
static struct {
    pthread_mutex_t lock; /* guards what follows */
    ef_tensor newest;     /* x + k * 2, for the k below */
    int k;
} built = {.lock = PTHREAD_MUTEX_INITIALIZER};
static ef_graph *shared_graph;
static atomic_bool building;

/* Adds a node, with a new tensor that the graph captures. */
static ef_status *build_one(int k) {
    ef_shape s = {.rank = 1, .dim = {20}};
    ef_tensor two, y;
    const void *data;
    ef_status *bad = ef_tensor_new(EF_F32, &s, &two);
    if (bad != NULL) return bad;
    bad = ef_tensor_data(&two, &data);
    for (int i = 0; i < 20 && bad == NULL; i++) ((float *)data)[i] = 2;
    if (bad == NULL) bad = ef_do_AddV2(&built.newest, &two, &y); /* nobody else writes it */
    ef_tensor_release(&two);
    if (bad != NULL) return bad;
    pthread_mutex_lock(&built.lock);
    ef_tensor_release(&built.newest);
    ef_tensor_copy(&built.newest, &y);
    built.k = k;
    pthread_mutex_unlock(&built.lock);
    ef_tensor_release(&y);
    return NULL;
}

static void *builder(void *arg) {
    worker *w = arg;
    ef_status *bad = ef_graph_enter(shared_graph);
    for (int k = 1; k <= BUILT && bad == NULL; k++) bad = build_one(k);
    if (bad == NULL) bad = ef_graph_leave(shared_graph);
    w->wrong += bad != NULL;
    ef_status_free(bad);
    atomic_store(&building, false);
    return NULL;
}

static void *runner(void *arg) {
    worker *w = arg;
    ef_shape s = {.rank = 1, .dim = {20}};
    ef_tensor x, y;
    const void *data;
    if (ef_tensor_new(EF_F32, &s, &x) != NULL || ef_tensor_data(&x, &data) != NULL) return NULL;
    for (int i = 0; i < 20; i++) ((float *)data)[i] = (float)w->id;
    for (int round = 0; atomic_load(&building) || round < 20; round++) {
        float v = (float)w->id;
        is(ef_session_run(shared_session, &placeholder, &x, 1, &fetch, 1, NULL, 0, &y), &y,
           v * v + v, w, "an old fetch");
        ef_tensor newest;
        pthread_mutex_lock(&built.lock);
        ef_tensor_copy(&newest, &built.newest);
        int k = built.k;
        pthread_mutex_unlock(&built.lock);
        is(ef_session_run(shared_session, &placeholder, &x, 1, &newest, 1, NULL, 0, &y), &y,
           v + 2.0f * (float)k, w, "a new fetch");
        ef_tensor_release(&newest);
    }
    ef_tensor_release(&x);
    return NULL;
}

EF_TEST(a_graph_grows_while_it_is_run) {
    ef_graph *g = shared_graph = ef_graph_new();
    CHECK(g != NULL);
    open_session(g);
    ef_tensor_copy(&built.newest, &placeholder);
    atomic_store(&building, true);
    pthread_t thread[RUNNERS + 1];
    worker w[RUNNERS + 1] = {{0}};
    for (int k = 0; k <= RUNNERS; k++) {
        w[k].id = k;
        CHECK_INT(pthread_create(&thread[k], NULL, k == 0 ? builder : runner, &w[k]), 0);
    }
    for (int k = 0; k <= RUNNERS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k <= RUNNERS; k++) {
        if (w[k].wrong > 0) printf("    thread %d: %d wrong (%s)\n", k, w[k].wrong, w[k].what);
        CHECK_INT(w[k].wrong, 0);
    }
    ef_tensor_release(&built.newest);
    ef_tensor_release(&placeholder);
    ef_tensor_release(&fetch);
    ef_session_free(shared_session);
    ef_graph_free(g);
}

/* ---- a graph that several threads build ---- */

enum { BUILDERS = 4, NODES = 3000 };

/* Builds x + x + x + ..., and inspects each sum as soon as it exists. */
static void *fellow_builder(void *arg) {
    worker *w = arg;
    ef_tensor at, next;
    ef_status *bad = ef_graph_enter(shared_graph);
    ef_tensor_copy(&at, &placeholder);
    for (int k = 0; k < NODES && bad == NULL; k++) {
        if ((bad = ef_do_AddV2(&at, &placeholder, &next)) != NULL) break;
        w->wrong += next.dtype != EF_F32 || next.rank != 1;
        ef_tensor_release(&at);
        ef_tensor_copy(&at, &next);
        ef_tensor_release(&next);
    }
    if (bad == NULL) bad = ef_graph_leave(shared_graph);
    w->wrong += bad != NULL;
    ef_status_free(bad);
    ef_tensor_release(&at);
    return NULL;
}

EF_TEST(several_threads_build_a_graph) {
    ef_graph *g = shared_graph = ef_graph_new();
    CHECK(g != NULL);
    open_session(g);
    pthread_t thread[BUILDERS];
    worker w[BUILDERS] = {{0}};
    for (int k = 0; k < BUILDERS; k++)
        CHECK_INT(pthread_create(&thread[k], NULL, fellow_builder, &w[k]), 0);
    for (int k = 0; k < BUILDERS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < BUILDERS; k++) CHECK_INT(w[k].wrong, 0);
    ef_tensor_release(&placeholder);
    ef_tensor_release(&fetch);
    ef_session_free(shared_session);
    ef_graph_free(g);
}

int main(void) {
    EF_RUN(eight_threads);
    EF_RUN(threads_share_requests);
    EF_RUN(threads_share_a_persistent_tape);
    EF_RUN(a_deferred_value_crosses_threads);
    EF_RUN(threads_exchange_deferred_values);
    EF_RUN(many_ask_for_one_value);
    EF_RUN(variables_take_deferred_values);
    EF_RUN(a_graph_grows_while_it_is_run);
    EF_RUN(several_threads_build_a_graph);
    return EF_VERDICT();
}
