/* Stateful ops inside functions, loops and sessions: lists grow in place, variables are updated in
 * place, random nodes keep their position in the stream. */
#include "check.h"
#include "ef_ops.h"

static ef_status *int_scalar(int32_t v, ef_tensor *t) {
    return ef_tensor_from(EF_I32, NULL, &v, t);
}
static const void *data(const ef_tensor *t) {
    const void *p = NULL;
    ef_status_free(ef_tensor_data(t, &p));
    return p;
}
static ef_status *call(const char *name, const ef_attr_value *set, int n_set,
                       const ef_tensor *const *in, int n_in, ef_tensor *out, int max_out) {
    const ef_op *op = ef_op_find(name);
    const ef_attrs *attrs = NULL;
    int n;
    ef_status *s = ef_attrs_make(op, set, n_set, &attrs);
    if (s == NULL) s = ef_call_op(op, attrs, in, n_in, out, max_out, &n);
    ef_attrs_unref(attrs);
    return s;
}

/* ---- a loop that fills a list ---- */

/* Loop variables: i, n, list. */
static const ef_dtype types[] = {EF_I32, EF_I32, EF_VARIANT};
static ef_status *loop_function(bool body, ef_graph **out) {
    ef_graph *g = ef_graph_new();
    ef_shape s = {.rank = 0};
    ef_tensor in[3], to[3] = {{0}}, one = {0}, item = {0};
    ef_status *bad = NULL;
    for (int k = 0; k < 3 && bad == NULL; k++)
        bad = ef_graph_placeholder(g, types[k], &s, "v", &in[k]);
    if (bad == NULL) bad = ef_graph_enter(g);
    if (bad == NULL && !body) bad = ef_do_Less(&in[0], &in[1], &to[0]);
    if (bad == NULL && body) {
        bad = int_scalar(1, &one);
        if (bad == NULL) bad = ef_do_AddV2(&in[0], &one, &to[0]);
        if (bad == NULL) bad = ef_do_Mul(&in[0], &in[0], &item);
        const ef_tensor *set[] = {&in[2], &in[0], &item};
        if (bad == NULL) bad = call("TensorListSetItem", NULL, 0, set, 3, &to[2], 1);
        ef_tensor_copy(&to[1], &in[1]);
    }
    if (bad == NULL) bad = ef_graph_leave(g);
    if (bad == NULL) bad = ef_graph_finish(g, in, 3, to, body ? 3 : 1);
    for (int k = 0; k < 3; k++) ef_tensor_release(&in[k]);
    for (int k = 0; k < 3; k++) ef_tensor_release(&to[k]);
    ef_tensor_release(&item);
    *out = g;
    return bad;
}

/* Squares of 0..n-1 by a loop; how many allocations the loop made. */
static ef_status *squares(int32_t n, const ef_attr_value *loop, ef_tensor *out, uint64_t *made) {
    ef_tensor zero, count, shape, list = {0}, end[3] = {{0}};
    ef_status *s = int_scalar(0, &zero);
    if (s == NULL) s = int_scalar(n, &count);
    if (s == NULL) s = ef_tensor_from(EF_I32, &(ef_shape){.rank = 1, .dim = {0}}, &n, &shape);
    const ef_attr_value ints[] = {EF_SET_TYPE("element_dtype", EF_I32)};
    const ef_tensor *reserve[] = {&shape, &count}, *in[] = {&zero, &count, &list};
    if (s == NULL) s = call("TensorListReserve", ints, 1, reserve, 2, &list, 1);
    uint64_t before = ef_allocations();
    if (s == NULL) s = call("StatelessWhile", loop, 2, in, 3, end, 3);
    *made = ef_allocations() - before;
    const ef_tensor *stack[] = {&end[2], &shape};
    if (s == NULL) s = call("TensorListStack", ints, 1, stack, 2, out, 1);
    ef_tensor *all[] = {&zero, &count, &shape, &list, &end[0], &end[1], &end[2]};
    for (int k = 0; k < 7; k++) ef_tensor_release(all[k]);
    return s;
}

EF_TEST(lists_grow_in_place_in_loops) {
    ef_graph *cond, *body;
    ef_tensor out = {0};
    uint64_t made;
    CHECK_OK(loop_function(false, &cond));
    CHECK_OK(loop_function(true, &body));
    const ef_attr_value loop[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    for (int k = 0; k < 3; k++) {
        CHECK_OK(squares(4000, loop, &out, &made));
        const int32_t *v = data(&out);
        CHECK(v != NULL && v[0] == 0 && v[3999] == 3999 * 3999);
        CHECK(made < 1000); /* copying the list each time would make 4000 */
        ef_tensor_release(&out);
    }
    ef_graph_free(cond);
    ef_graph_free(body);
}

/* ---- a function that trains ---- */

typedef struct model {
    ef_tensor w, m, v;
} model;

static ef_status *train(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    model *t = user;
    ef_tensor k[6];
    const float numbers[] = {0.9F, 0.999F, 0.01F, 0.9F, 0.999F, 1e-7F};
    ef_status *s = NULL;
    (void)n_in;
    (void)max_out;
    for (int j = 0; j < 6 && s == NULL; j++) s = ef_tensor_from(EF_F32, NULL, &numbers[j], &k[j]);
    const ef_tensor *args[] = {&t->w, &t->m, &t->v, &k[0], &k[1],
                               &k[2], &k[3], &k[4], &k[5], &in[0]};
    if (s == NULL) s = call("ResourceApplyAdam", NULL, 0, args, 10, NULL, 0);
    const ef_attr_value f32[] = {EF_SET_TYPE("dtype", EF_F32)};
    const ef_tensor *w[] = {&t->w};
    ef_tensor now = {0}, axes = {0};
    const int32_t zero = 0;
    if (s == NULL) s = call("ReadVariableOp", f32, 1, w, 1, &now, 1);
    if (s == NULL) s = ef_tensor_from(EF_I32, NULL, &zero, &axes);
    const ef_tensor *sum[] = {&now, &axes};
    if (s == NULL) s = call("Sum", NULL, 0, sum, 2, out, 1);
    ef_tensor_release(&now);
    *n_out = 1;
    return s;
}

EF_TEST(training_updates_in_place) {
    enum { N = 100000 };
    static float ones[N];
    model t;
    ef_function *f;
    ef_tensor g, now, out = {0};
    ef_shape s = {.rank = 1, .dim = {N}};
    for (int k = 0; k < N; k++) ones[k] = 1;
    CHECK_OK(ef_tensor_from(EF_F32, &s, ones, &g));
    CHECK_OK(ef_variable_new(&g, "w", &t.w));
    CHECK_OK(ef_variable_new(&g, "m", &t.m));
    CHECK_OK(ef_variable_new(&g, "v", &t.v));
    CHECK_OK(ef_function_new(train, &t, "train", &f));
    const void *place = NULL;
    const ef_tensor *in[] = {&g};
    int n;
    for (int k = 0; k < 10; k++) {
        CHECK_OK(ef_function_call(f, in, 1, &out, 1, &n));
        ef_tensor_release(&out);
        CHECK_OK(ef_variable_get(&t.w, &now));
        if (k > 0) CHECK(data(&now) == place);
        place = data(&now);
        ef_tensor_release(&now);
    }
    uint64_t before = ef_allocations();
    CHECK_OK(ef_function_call(f, in, 1, &out, 1, &n));
    CHECK_INT(ef_allocations() - before, 0);
    CHECK(*(const float *)data(&out) < N);
    ef_function_free(f);
    ef_tensor *all[] = {&g, &out, &t.w, &t.m, &t.v};
    for (int k = 0; k < 5; k++) ef_tensor_release(all[k]);
}

/* ---- random nodes ---- */

static ef_status *draw(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                       int *n_out) {
    const ef_attr_value set[] = {EF_SET_INT("seed", 1), EF_SET_INT("seed2", 2),
                                 EF_SET_TYPE("dtype", EF_F32)};
    const int32_t five = 5;
    ef_tensor shape;
    (void)user, (void)in, (void)n_in, (void)max_out;
    ef_status *s = ef_tensor_from(EF_I32, &(ef_shape){.rank = 1, .dim = {1}}, &five, &shape);
    const ef_tensor *args[] = {&shape};
    for (int k = 0; k < 2 && s == NULL; k++) s = call("RandomUniform", set, 3, args, 1, &out[k], 1);
    ef_tensor_release(&shape);
    *n_out = 2;
    return s;
}

/* Two nodes with the same seeds draw the same numbers; each call continues both streams. */
EF_TEST(random_nodes_keep_their_position) {
    static const uint32_t first[] = {0x3ED0133C, 0x3F5B8BA6, 0x3D62E6C0, 0x3DAFDDD0, 0x3ED305CC};
    static const uint32_t second[] = {0x3E23AA70, 0x3EC853B8, 0x3F73CF7C, 0x3F159926, 0x3F3A178A};
    ef_function *f;
    ef_tensor out[2];
    int n;
    CHECK_OK(ef_function_new(draw, NULL, "draw", &f));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ef_function_call(f, NULL, 0, out, 2, &n));
        for (int k = 0; k < 2; k++) {
            CHECK(memcmp(data(&out[k]), round == 0 ? first : second, sizeof first) == 0);
            ef_tensor_release(&out[k]);
        }
    }
    ef_function_free(f);
}

/* A new session restarts every stream; an old one continues. */
EF_TEST(sessions_have_their_own_positions) {
    ef_graph *g = ef_graph_new();
    ef_session *one, *two;
    ef_tensor out[2], got[3];
    int n;
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(draw(NULL, NULL, 0, out, 2, &n));
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_session_new(g, &one));
    CHECK_OK(ef_session_new(g, &two));
    CHECK_OK(ef_session_run(one, NULL, NULL, 0, out, 1, NULL, 0, &got[0]));
    CHECK_OK(ef_session_run(one, NULL, NULL, 0, out, 1, NULL, 0, &got[1]));
    CHECK_OK(ef_session_run(two, NULL, NULL, 0, out, 1, NULL, 0, &got[2]));
    CHECK(memcmp(data(&got[0]), data(&got[2]), 20) == 0);
    CHECK(memcmp(data(&got[0]), data(&got[1]), 20) != 0);
    ef_session_free(one);
    ef_session_free(two);
    ef_graph_free(g);
    for (int k = 0; k < 2; k++) ef_tensor_release(&out[k]);
    for (int k = 0; k < 3; k++) ef_tensor_release(&got[k]);
}

int main(void) {
    EF_RUN(lists_grow_in_place_in_loops);
    EF_RUN(training_updates_in_place);
    EF_RUN(random_nodes_keep_their_position);
    EF_RUN(sessions_have_their_own_positions);
    return EF_VERDICT();
}
