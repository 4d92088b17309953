/* What a language binding relies on: the op table, graphs by node, functions whose traces carry
 * data. */
#include "check.h"
#include "small_tensors.h"
#include <ef_ops.h>
#include <evenflow_binding.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- the op table ------------------------------------------------------------------------------
 */

EF_TEST(the_table_is_whole) {
    const char *before = "";
    CHECK(ef_op_count() > 400);
    CHECK(ef_op_at(-1) == NULL && ef_op_at(ef_op_count()) == NULL);
    for (int k = 0; k < ef_op_count(); k++) {
        const ef_op *op = ef_op_at(k);
        const ef_op_desc *d = ef_op_describe(op);
        CHECK(d != NULL && d == ef_op_describe(op));
        CHECK(strcmp(before, d->name) < 0 && ef_op_find(d->name) == op);
        before = d->name;
        for (int j = 0; j < d->n_in + d->n_out; j++) {
            const ef_arg_info *a = j < d->n_in ? &d->in[j] : &d->out[j - d->n_in];
            CHECK(a->name[0] != '\0' && (a->fixed != EF_NO_DTYPE || a->type_attr != NULL));
            bool found = a->type_attr == NULL;
            for (int i = 0; i < d->n_attrs; i++)
                found = found || strcmp(d->attr[i].name, a->type_attr) == 0;
            CHECK(found);
        }
    }
}

EF_TEST(a_record_taken_apart) {
    const ef_op_desc *d = ef_op_describe(ef_op_find("Conv2D"));
    CHECK_INT(d->n_in, 2);
    CHECK_TEXT(d->in[0].type_attr, "T");
    CHECK(d->has_gradient && !d->stateful);
    int padding = -1;
    for (int k = 0; k < d->n_attrs; k++)
        if (strcmp(d->attr[k].name, "padding") == 0) padding = k;
    CHECK(padding >= 0);
    CHECK_TEXT(d->attr[padding].choice[0], "SAME");
    CHECK(d->attr[padding].value == NULL && !d->attr[padding].inferred);
    d = ef_op_describe(ef_op_find("AddN"));
    CHECK(d->in[0].is_list);
    CHECK_TEXT(d->in[0].number_attr, "N");
    CHECK(ef_op_describe(ef_op_find("AssignVariableOp"))->stateful);
}

/* ---- small calls ------------------------------------------------------------------------------
 */

static bool small_call(const char *name, const ef_tensor *x, const ef_tensor *y, ef_tensor *out) {
    const ef_tensor *in[] = {x, y};
    memset(out, 0x55, sizeof *out); /* `out` need not be zeroed */
    return ef_call_small(ef_op_find(name), NULL, in, y != NULL ? 2 : 1, out);
}

EF_TEST(small_calls_are_run) {
    const float few[] = {1, -2, 3}, eight[8] = {1, 2, 3, 4, 5, 6, 7, 8}, nine[9] = {1};
    const double doubles[] = {1, 2, 3, 4, 5};
    ef_tensor x, y, v, w, u, d, out;
    scalar(&x, 2);
    scalar(&y, 3);
    vector(&v, 3, few);
    vector(&w, 8, eight);
    vector(&u, 9, nine);
    CHECK_OK(ef_tensor_from(EF_F64, &(ef_shape){.rank = 1, .dim = {5}}, doubles, &d));
    CHECK(small_call("AddV2", &x, &y, &out) && at(&out, 0) == 5 && out.rank == 0);
    CHECK(small_call("Neg", &v, NULL, &out) && at(&out, 1) == 2 && out.rank == 1);
    CHECK(out.dim[0] == 3);
    CHECK(small_call("Mul", &w, &w, &out) && at(&out, 7) == 64);
    CHECK(small_call("Less", &x, &y, &out) && out.dtype == EF_BOOL && *(bool *)out.data);
    CHECK(!small_call("AddV2", &x, &v, &out)); /* broadcast */
    CHECK(!small_call("AddV2", &u, &u, &out)); /* too large */
    CHECK(!small_call("AddV2", &d, &d, &out));
    CHECK(!small_call("AddV2", &x, NULL, &out)); /* one input is missing */
    CHECK(!small_call("Neg", &x, &y, &out));
    CHECK(!small_call("BitwiseAnd", &x, &y, &out));  /* takes no floats */
    CHECK(!small_call("LeakyRelu", &x, NULL, &out)); /* has an attribute */
    CHECK(!small_call("MatMul", &x, &y, &out));
    CHECK(ef_op_describe(ef_op_find("AddV2"))->small);
    CHECK(!ef_op_describe(ef_op_find("LeakyRelu"))->small);
    CHECK(!ef_op_describe(ef_op_find("MatMul"))->small);
    ef_tensor_release(&u);
    ef_tensor_release(&d);
}

EF_TEST(small_calls_leave_others_alone) {
    ef_tensor x, out;
    scalar(&x, 2);
    ef_graph *g = ef_graph_new();
    CHECK_OK(ef_graph_enter(g));
    CHECK(!small_call("AddV2", &x, &x, &out)); /* it becomes a node */
    CHECK_OK(ef_graph_leave(g));
    ef_graph_free(g);
    ef_tape *tape;
    CHECK_OK(ef_tape_start(false, &tape));
    CHECK(!small_call("AddV2", &x, &x, &out)); /* it is recorded */
    ef_tape_free(tape);
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "CPU:0"}));
    CHECK(!small_call("AddV2", &x, &x, &out)); /* a device was requested */
    CHECK_OK(ef_context_set(NULL));
    CHECK(small_call("AddV2", &x, &x, &out) && at(&out, 0) == 4);
}

/* ---- inside graphs -----------------------------------------------------------------------------
 */

static int in_model(ef_graph *g) {
    return ef_graph_place(g, "model.py", "f", 3, ef_graph_place(g, "model.py", "main", 9, 0));
}

EF_TEST(nodes_are_seen) {
    ef_graph *g = ef_graph_new();
    ef_tensor x, y, t, again;
    ef_shape s = {.rank = 2, .dim = {EF_DIM_UNKNOWN, 4}};
    CHECK(ef_graph_current() == NULL);
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &s, "x", &x));
    CHECK_OK(ef_graph_enter(g));
    CHECK(ef_graph_current() == g);
    ef_set_place_hook(in_model);
    CHECK_OK(ef_do_Mul(&x, &x, &y));
    int first = 0, node, index;
    CHECK_OK(ef_graph_after_set(g, &first, 1));
    CHECK_OK(ef_do_Mul(&y, &x, &t));
    CHECK_OK(ef_graph_after_set(g, NULL, 0));
    CHECK_OK(ef_graph_leave(g));
    CHECK(ef_tensor_graph(&t, &node, &index) == g);
    CHECK_INT(node, 2);
    CHECK_INT(index, 0);
    CHECK_INT(ef_graph_nodes(g), 3);
    ef_node_desc d;
    CHECK_OK(ef_graph_node(g, 2, &d));
    ef_set_place_hook(NULL);
    const char *file, *function;
    int line, up;
    CHECK(ef_graph_place_get(g, d.place, &file, &function, &line, &up));
    CHECK_TEXT(file, "model.py");
    CHECK_TEXT(function, "f");
    CHECK_INT(line, 3);
    CHECK(ef_graph_place_get(g, up, &file, &function, &line, &up));
    CHECK_TEXT(function, "main");
    CHECK_INT(up, 0);
    CHECK(!ef_graph_place_get(g, 0, &file, &function, &line, &up));
    CHECK_INT(ef_graph_place(g, "model.py", "f", 3, 1), d.place); /* found again */
    CHECK_INT(d.n_after, 1);
    int after;
    CHECK_OK(ef_graph_node_after(g, 2, 0, &after));
    CHECK_INT(after, 0);
    ef_attr_value value;
    CHECK_OK(ef_graph_node_attr(g, 1, "T", &value, NULL, 0));
    CHECK(value.kind == EF_ATTR_TYPE && value.as.type == EF_F32);
    CHECK_OK(ef_graph_node_attr(g, 0, "dtype", &value, NULL, 0));
    CHECK(value.kind == EF_ATTR_TYPE && value.as.type == EF_F32);
    CHECK(fails(ef_graph_node_attr(g, 1, "S", &value, NULL, 0), EF_INVALID));
    const char *name;
    CHECK_OK(ef_graph_node_name(g, 1, &name));
    CHECK_TEXT(name, "Mul");
    CHECK_OK(ef_graph_node_name(g, 2, &name));
    CHECK_TEXT(name, "Mul_1");
    CHECK_INT(ef_graph_find_node(g, "Mul_1"), 2);
    CHECK_OK(ef_graph_node_in(g, 2, 0, &again));
    CHECK(ef_tensor_graph(&again, &node, NULL) == g && node == 1);
    ef_tensor_release(&again);
    CHECK(fails(ef_graph_node_in(g, 2, 2, &again), EF_INVALID));
    ef_shape narrow = {.rank = 2, .dim = {3, EF_DIM_UNKNOWN}}, wrong = {.rank = 2, .dim = {3, 5}};
    CHECK_OK(ef_tensor_set_shape(&t, &narrow));
    CHECK_INT(t.dim[0], 3);
    CHECK_INT(t.dim[1], 4);
    CHECK(fails(ef_tensor_set_shape(&t, &wrong), EF_INVALID));
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&t);
    ef_graph_free(g);
}

EF_TEST(computed_shapes_are_read) {
    ef_graph *g = ef_graph_new();
    ef_tensor x, s, batch, begin, end, one, ten, both, known;
    ef_shape in = {.rank = 2, .dim = {EF_DIM_UNKNOWN, 4}}, vec = {.rank = 1, .dim = {1}}, out;
    const int32_t v0 = 0, v1 = 1, v10 = 10;
    ef_StridedSlice_options first = {.shrink_axis_mask = 1};
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &in, "x", &x));
    CHECK_OK(ef_tensor_from(EF_I32, &vec, &v0, &begin));
    CHECK_OK(ef_tensor_from(EF_I32, &vec, &v1, &end));
    CHECK_OK(ef_tensor_from(EF_I32, &vec, &v1, &one));
    CHECK_OK(ef_tensor_from(EF_I32, NULL, &v10, &ten));
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(ef_do_Shape(&x, NULL, &s));
    CHECK_OK(ef_do_StridedSlice(&s, &begin, &end, &one, &first, &batch));
    const ef_tensor *parts[] = {&batch, &ten};
    CHECK_OK(ef_do_Pack(parts, 2, NULL, &both));
    CHECK_OK(ef_graph_leave(g));
    int node;
    ef_attr_value value;
    ef_tensor_graph(&both, &node, NULL);
    CHECK_OK(ef_graph_node_attr(g, node, "N", &value, NULL, 0));
    CHECK(value.kind == EF_ATTR_INT && value.as.i == 2);
    CHECK_OK(ef_tensor_known_shape(&s, &out));
    CHECK_INT(out.rank, 2);
    CHECK_INT(out.dim[1], 4);
    CHECK_OK(ef_tensor_known_shape(&both, &out));
    CHECK_INT(out.rank, 2);
    CHECK_INT(out.dim[0], EF_DIM_UNKNOWN);
    CHECK_INT(out.dim[1], 10);
    ef_tensor flat;
    CHECK_OK(ef_do_Reshape(&x, &both, &flat));
    CHECK_INT(flat.rank, 2);
    CHECK_INT(flat.dim[0], EF_DIM_UNKNOWN);
    CHECK_INT(flat.dim[1], 10);
    ef_tensor_release(&flat);
    CHECK_OK(ef_tensor_known(&both, &known));
    CHECK_INT(known.dtype, EF_NO_DTYPE);
    ef_tensor *all[] = {&x, &s, &batch, &begin, &end, &one, &ten, &both};
    for (int k = 0; k < 8; k++) ef_tensor_release(all[k]);
    ef_graph_free(g);
}

/* reshape(x, [shape(x)[0], -1]) */
static ef_status *flattened(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                            int *n_out) {
    const int32_t v0 = 0, v1 = 1, minus = -1;
    ef_shape vec = {.rank = 1, .dim = {1}};
    ef_StridedSlice_options first = {.shrink_axis_mask = 1};
    ef_tensor begin, end, rest, shape = {0}, rows = {0}, target = {0};
    (void)n_in;
    (void)max_out;
    ef_status *s = ef_tensor_from(EF_I32, &vec, &v0, &begin);
    if (s == NULL) s = ef_tensor_from(EF_I32, &vec, &v1, &end);
    if (s == NULL) s = ef_tensor_from(EF_I32, NULL, &minus, &rest);
    if (s == NULL) s = ef_do_Shape(&in[0], NULL, &shape);
    if (s == NULL) s = ef_do_StridedSlice(&shape, &begin, &end, &end, &first, &rows);
    const ef_tensor *parts[] = {&rows, &rest};
    if (s == NULL) s = ef_do_Pack(parts, 2, NULL, &target);
    if (s == NULL) s = ef_do_Reshape(&in[0], &target, out);
    if (s == NULL) *(int64_t *)user = out->dim[1];
    ef_tensor_release(&shape);
    ef_tensor_release(&rows);
    ef_tensor_release(&target);
    *n_out = 1;
    return s;
}

EF_TEST(sizes_follow_though_the_batch_is_open) {
    ef_function *f;
    int64_t seen = 0;
    int n;
    CHECK_OK(ef_function_new(flattened, &seen, "flattened", &f));
    for (int rows = 2; rows < 5; rows++) {
        const float v[4 * 3 * 5] = {0};
        ef_tensor x, y;
        ef_shape s = {.rank = 3, .dim = {rows, 3, 5}};
        CHECK_OK(ef_tensor_from(EF_F32, &s, v, &x));
        const ef_tensor *in[] = {&x};
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_INT(y.dim[0], rows);
        CHECK_INT(y.dim[1], 15);
        CHECK_INT(seen, 15);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
    }
    ef_function_info info;
    ef_function_info_get(f, &info);
    CHECK_INT((int64_t)info.traces, 2);
    ef_function_free(f);
}

EF_TEST(ops_join_the_graph_of_their_inputs) {
    ef_graph *g = ef_graph_new();
    ef_tensor x, y, two, v, out;
    ef_shape any = {.rank = -1};
    scalar(&two, 2);
    scalar(&v, 21);
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &any, "x", &x));
    CHECK_OK(ef_do_Mul(&two, &x, &y)); /* no graph is entered */
    CHECK(ef_tensor_graph(&y, NULL, NULL) == g && ef_graph_current() == NULL);
    ef_session *s;
    const ef_tensor *values[] = {&v};
    CHECK_OK(ef_session_new(g, &s));
    int target;
    ef_tensor_graph(&y, &target, NULL);
    CHECK_OK(ef_session_run_nodes(s, &x, values, 1, &y, 1, &target, 1, &out));
    CHECK_NEAR(at(&out, 0), 42, 0);
    ef_tensor_release(&out);
    ef_graph_set_function(g, true); /* a tensor that leaks from a function is an error */
    CHECK(fails(ef_do_Mul(&two, &x, &out), EF_OUT_OF_SCOPE));
    target = 99;
    CHECK(fails(ef_session_run_nodes(s, &x, values, 1, &y, 1, &target, 1, &out), EF_INVALID));
    ef_session_free(s);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_graph_free(g);
}

EF_TEST(a_suspended_thread_runs_ops_at_once) {
    ef_graph *g = ef_graph_new();
    ef_tensor a, y, sum;
    ef_tape *tape;
    scalar(&a, 3);
    CHECK_OK(ef_tape_start(false, &tape));
    CHECK_OK(ef_tape_watch(tape, &a));
    CHECK_OK(ef_graph_enter(g));
    ef_suspension s, inner;
    ef_suspend(&s);
    CHECK(ef_graph_current() == NULL);
    ef_suspend(&inner);
    CHECK_OK(ef_do_Mul(&a, &a, &y));
    ef_resume(&inner);
    CHECK_NEAR(at(&y, 0), 9, 0);
    CHECK(ef_graph_current() == NULL);
    ef_resume(&s);
    CHECK(ef_graph_current() == g);
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_do_AddV2(&y, &y, &sum));
    const ef_tensor *source[] = {&a};
    ef_tensor d;
    CHECK_OK(ef_tape_gradient(tape, &sum, NULL, source, 1, &d));
    CHECK_INT(d.dtype, EF_NO_DTYPE); /* what was done meanwhile is not on the tape */
    ef_tape_free(tape);
    ef_tensor_release(&a);
    ef_tensor_release(&y);
    ef_tensor_release(&sum);
    ef_graph_free(g);
}

EF_TEST(resources_say_what_is_behind) {
    ef_graph *g = ef_graph_new();
    ef_tensor v, h, in;
    const float values[] = {1, 2, 3};
    vector(&v, 3, values);
    CHECK_OK(ef_variable_new(&v, "v", &h));
    CHECK_OK(ef_graph_import_tensor(g, &h, &in));
    for (int k = 0; k < 2; k++) {
        ef_dtype t;
        ef_shape s;
        CHECK_OK(ef_resource_describe(k == 0 ? &h : &in, &t, &s));
        CHECK_INT(t, EF_F32);
        CHECK_INT(s.dim[0], 3);
    }
    CHECK_INT(ef_graph_captures(g), 1);
    ef_tensor_release(&in);
    CHECK_OK(ef_graph_import_tensor(g, &h, &in));
    CHECK_INT(ef_graph_captures(g), 1);
    ef_tensor_release(&in);
    CHECK_OK(ef_graph_import_tensor(g, &v, &in)); /* a small value is captured too */
    CHECK_INT(ef_graph_captures(g), 2);
    ef_tensor_release(&in);
    ef_tensor_release(&h);
    ef_graph_free(g);
}

/* ---- functions ---------------------------------------------------------------------------------
 */

typedef struct made { /* counted data of a trace */
    atomic_int refs, *ended;
} made;

static void made_ref(void *p) { atomic_fetch_add(&((made *)p)->refs, 1); }
static void made_end(void *p) {
    made *m = p;
    if (atomic_fetch_sub(&m->refs, 1) > 1) return;
    atomic_fetch_add(m->ended, 1);
    free(m);
}

static ef_status *twice(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)n_in;
    (void)max_out;
    made *m = malloc(sizeof *m);
    atomic_init(&m->refs, 1);
    m->ended = user;
    ef_trace_set_user(m, made_ref, made_end);
    *n_out = 1;
    return ef_do_AddV2(&in[0], &in[0], out);
}

EF_TEST(a_trace_carries_data) {
    atomic_int ended = 0;
    int n;
    ef_function *f;
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    const float v[] = {1, 2, 3};
    ef_tensor x, y;
    void *first = NULL, *user = NULL;
    vector(&x, 3, v);
    const ef_tensor *in[] = {&x};
    CHECK_OK(ef_function_call_user(f, in, 1, &y, 1, &n, &first));
    ef_tensor_release(&y);
    CHECK_OK(ef_function_call_user(f, in, 1, &y, 1, &n, &user));
    CHECK(first == user && first != NULL);
    made_end(user);
    ef_tensor_release(&y);
    ef_tensor_release(&x);
    vector(&x, 2, v); /* replaces the trace by one with a symbolic size */
    CHECK_OK(ef_function_call_user(f, in, 1, &y, 1, &n, &user));
    CHECK(user != first);
    made_end(user);
    CHECK_INT(ended, 0); /* the first one is still held by us */
    made_end(first);
    CHECK_INT(ended, 1);
    ef_tensor_release(&y);
    ef_graph *g;
    ef_dtype t = EF_F32;
    ef_shape s = {.rank = 1, .dim = {7}};
    CHECK_OK(ef_function_trace_for(f, &t, &s, 1, &g, &user));
    CHECK_INT(ef_graph_inputs(g), 1);
    CHECK_INT(ef_graph_outputs(g), 1);
    made_end(user);
    ef_function_free(f);
    CHECK_INT(ended, 2);
    CHECK_OK(ef_graph_output_at(g, 0, &y));
    CHECK_INT(y.rank, 1);
    ef_tensor_release(&y);
    ef_graph_free(g);
}

EF_TEST(a_held_trace_outlives_its_eviction) {
    atomic_int ended = 0;
    int n;
    ef_function *f;
    ef_tensor x, y;
    const float v[] = {1, 2, 3};
    void *user, *later;
    ef_trace *held, *other;
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    const ef_tensor *in[] = {&x};
    vector(&x, 3, v);
    CHECK_OK(ef_function_call_held(f, in, 1, &y, 1, &n, &user, &held));
    CHECK(user != NULL && held != NULL);
    ef_tensor_release(&y);
    CHECK(fails(ef_function_call_held(f, in, 1, &y, 0, &n, &later, &other), EF_INVALID));
    CHECK(later == NULL && other == NULL);
    ef_trace_leave(other);
    ef_tensor_release(&x);
    vector(&x, 2, v); /* replaces the trace by one with a symbolic size */
    CHECK_OK(ef_function_call_held(f, in, 1, &y, 1, &n, &later, &other));
    CHECK(later != user && at(&y, 1) == 4);
    ef_tensor_release(&y);
    ef_tensor_release(&x);
    CHECK_INT(ended, 0);
    ef_trace_leave(held);
    CHECK_INT(ended, 1);
    ef_trace_leave(other);
    CHECK_INT(ended, 1);
    ef_function_free(f);
    CHECK_INT(ended, 2);
}

EF_TEST(a_signature_is_kept) {
    atomic_int ended = 0;
    int n;
    ef_function *f;
    ef_function_info info;
    ef_tensor x, y;
    const float v[] = {1, 2, 3, 4};
    ef_dtype t = EF_F32;
    ef_shape s = {.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    CHECK_OK(ef_function_set_signature(f, &t, &s, 1));
    const ef_tensor *in[] = {&x};
    for (int k = 1; k < 5; k++) {
        vector(&x, k, v);
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_NEAR(at(&y, k - 1), 2 * v[k - 1], 0);
        ef_tensor_release(&y);
        ef_tensor_release(&x);
    }
    ef_function_info_get(f, &info);
    CHECK_INT((int64_t)info.traces, 1);
    scalar(&x, 1);
    CHECK(fails(ef_function_call(f, in, 1, &y, 1, &n), EF_INVALID));
    CHECK(fails(ef_function_call(f, in, 0, &y, 1, &n), EF_INVALID));
    ef_function_free(f);
    CHECK_INT(ended, 1);
}

/* There is one trace, which serves the first two sizes too; the size is unknown in all of it. */
EF_TEST(open_sizes_are_unknown_from_the_first_trace_on) {
    atomic_int ended = 0;
    int n;
    ef_function *f;
    ef_function_info info;
    ef_tensor x, y;
    const float v[] = {1, 2, 3, 4};
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    CHECK_OK(ef_function_open_sizes(f, 0, 1));
    CHECK(fails(ef_function_open_sizes(f, -1, 1), EF_INVALID));
    const ef_tensor *in[] = {&x};
    for (int k = 1; k < 5; k++) {
        vector(&x, k, v);
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_INT(y.dim[0], k);
        CHECK_NEAR(at(&y, k - 1), 2 * v[k - 1], 0);
        ef_tensor_release(&y);
        ef_tensor_release(&x);
    }
    ef_function_info_get(f, &info);
    CHECK_INT((int64_t)info.traces, 1);
    ef_function_free(f);
    CHECK_INT(ended, 1);
}

EF_TEST(a_function_told_not_to_relax) {
    atomic_int ended = 0;
    int n;
    ef_function *f;
    ef_function_info info;
    ef_tensor x, y;
    const float v[] = {1, 2, 3, 4};
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    ef_function_set_relax(f, EF_RELAX_NEVER);
    const ef_tensor *in[] = {&x};
    for (int k = 1; k < 5; k++) {
        vector(&x, k, v);
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        ef_tensor_release(&y);
        ef_tensor_release(&x);
    }
    ef_function_info_get(f, &info);
    CHECK_INT((int64_t)info.traces, 4);
    ef_function_free(f);
    CHECK_INT(ended, 4);
}

typedef struct crowd {
    ef_function *f;
    int seed;
    bool bad;
} crowd;

/* Uses more shapes than the function caches traces for, so that traces are evicted all the time. */
static void *call_many(void *arg) {
    crowd *c = arg;
    for (int k = 0; k < 300; k++) {
        int n, size = 1 + (k * 7 + c->seed * 31) % 100;
        float v[100] = {1};
        ef_tensor x, y;
        void *user = NULL;
        vector(&x, size, v);
        const ef_tensor *in[] = {&x};
        ef_status *s = ef_function_call_user(c->f, in, 1, &y, 1, &n, &user);
        c->bad = c->bad || s != NULL || user == NULL || atomic_load(&((made *)user)->refs) < 1;
        if (s == NULL) ef_tensor_release(&y);
        ef_status_free(s);
        if (user != NULL) made_end(user);
        ef_tensor_release(&x);
    }
    return NULL;
}

EF_TEST(data_of_traces_outlives_them_while_held) {
    atomic_int ended = 0;
    crowd c[4];
    pthread_t t[4];
    ef_function *f;
    ef_function_info info;
    CHECK_OK(ef_function_new(twice, &ended, "twice", &f));
    ef_function_set_relax(f, EF_RELAX_NEVER);
    for (int k = 0; k < 4; k++) {
        c[k] = (crowd){f, k, false};
        CHECK_INT(pthread_create(&t[k], NULL, call_many, &c[k]), 0);
    }
    for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
    for (int k = 0; k < 4; k++) CHECK(!c[k].bad);
    ef_function_info_get(f, &info);
    CHECK(info.traces > 100);
    ef_function_free(f);
    CHECK_INT(ended, (int)info.traces);
}

static ef_status *sum(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                      int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    *n_out = 1;
    return ef_do_AddV2(&in[0], &in[1], out);
}

/* Sizes that changed together are one symbol; if they differ later, the trace does not match. */
EF_TEST(equal_sizes_that_part) {
    ef_function *f;
    ef_tensor x, y, z;
    int n;
    const float v[] = {1, 2, 3, 4, 5};
    const int sizes[][2] = {{2, 2}, {3, 3}, {4, 1}, {1, 5}};
    CHECK_OK(ef_function_new(sum, NULL, "sum", &f));
    for (int k = 0; k < 4; k++) {
        vector(&x, sizes[k][0], v);
        vector(&y, sizes[k][1], v);
        const ef_tensor *in[] = {&x, &y}, *source[] = {&x, &y};
        ef_tape *tape;
        ef_tensor d[2];
        CHECK_OK(ef_tape_start(false, &tape));
        CHECK_OK(ef_tape_watch(tape, &x));
        CHECK_OK(ef_tape_watch(tape, &y));
        CHECK_OK(ef_function_call(f, in, 2, &z, 1, &n));
        CHECK_OK(ef_tape_gradient(tape, &z, NULL, source, 2, d));
        for (int j = 0; j < 2; j++) {
            CHECK_INT(d[j].dim[0], sizes[k][j]);
            CHECK_NEAR(
                at(&d[j], 0),
                (float)sizes[k][1 - j] / (sizes[k][0] == sizes[k][1] ? (float)sizes[k][0] : 1), 0);
            ef_tensor_release(&d[j]);
        }
        ef_tape_free(tape);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
        ef_tensor_release(&z);
    }
    ef_function_free(f);
}

EF_TEST(finished_graphs_are_called) {
    ef_graph *g = ef_graph_new(), *outer = ef_graph_new();
    ef_tensor v, h, p, read, q, x, y;
    ef_shape any = {.rank = -1};
    int n;
    scalar(&v, 5);
    CHECK_OK(ef_variable_new(&v, "v", &h));
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &any, "p", &p));
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(ef_do_ReadVariableOp(&h, EF_F32, &read));
    CHECK_OK(ef_do_Mul(&p, &read, &q));
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_graph_finish(g, &p, 1, &q, 1));
    CHECK_INT(ef_graph_captures(g), 1);
    scalar(&x, 3);
    const ef_tensor *in[] = {&x};
    CHECK_OK(ef_graph_call(g, in, 1, &y, 1, &n)); /* eagerly */
    CHECK_NEAR(at(&y, 0), 15, 0);
    ef_tape *tape;
    ef_tensor d[2], z;
    const ef_tensor *source[] = {&x, &h};
    CHECK_OK(ef_tape_start(false, &tape)); /* under a tape */
    CHECK_OK(ef_tape_watch(tape, &x));
    CHECK_OK(ef_graph_call(g, in, 1, &z, 1, &n));
    CHECK_OK(ef_tape_gradient(tape, &z, NULL, source, 2, d));
    CHECK_NEAR(at(&d[0], 0), 5, 0);
    CHECK_NEAR(at(&d[1], 0), 3, 0);
    ef_tape_free(tape);
    ef_tensor op, oq, result; /* as a node */
    CHECK_OK(ef_graph_placeholder(outer, EF_F32, &any, "x", &op));
    CHECK_OK(ef_graph_enter(outer));
    const ef_tensor *sym[] = {&op};
    CHECK_OK(ef_graph_call(g, sym, 1, &oq, 1, &n));
    CHECK_OK(ef_graph_leave(outer));
    int node;
    ef_node_desc desc;
    CHECK(ef_tensor_graph(&oq, &node, NULL) == outer);
    CHECK_OK(ef_graph_node(outer, node, &desc));
    CHECK_TEXT(ef_op_describe(desc.op)->name, "StatefulPartitionedCall");
    ef_session *s;
    CHECK_OK(ef_session_new(outer, &s));
    CHECK_OK(ef_session_run(s, &op, &x, 1, &oq, 1, NULL, 0, &result));
    CHECK_NEAR(at(&result, 0), 15, 0);
    CHECK(fails(ef_graph_call(g, in, 0, &y, 1, &n), EF_INVALID));
    ef_session_free(s);
    ef_tensor *all[] = {&h, &p, &read, &q, &x, &y, &z, &d[0], &d[1], &op, &oq, &result};
    for (int k = 0; k < 12; k++) ef_tensor_release(all[k]);
    ef_graph_free(g);
    ef_graph_free(outer);
}

/* ---- tensors that a function holds ---- */

static ef_status *times_held(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                             int *n_out) {
    (void)n_in;
    (void)max_out;
    *n_out = 1;
    return ef_do_Mul(&in[0], user, out);
}

EF_TEST(a_held_tensor_is_known_when_it_is_watched_later) {
    float three = 3, five = 5;
    ef_tensor x, held, y, g;
    ef_function *f;
    ef_tape *tape;
    int n;
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &five, &x));
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &three, &held));
    ef_tape_name(&held);
    CHECK_OK(ef_function_new(times_held, &held, "times_held", &f));
    const ef_tensor *in[] = {&x}, *source[] = {&held};
    CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
    ef_tensor_release(&y);
    for (int k = 0; k < 2; k++) {
        const void *data;
        CHECK_OK(ef_tape_start(false, &tape));
        CHECK_OK(ef_tape_watch(tape, &held));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_OK(ef_tape_gradient(tape, &y, NULL, source, 1, &g));
        CHECK_OK(ef_tensor_data(&g, &data));
        CHECK_NEAR(*(const float *)data, 5, 0);
        ef_tensor_release(&g);
        ef_tensor_release(&y);
        ef_tape_free(tape);
    }
    ef_function_info info;
    ef_function_info_get(f, &info);
    CHECK_INT(info.traces, 1);
    ef_function_free(f);
    ef_tensor_release(&held);
    ef_tensor_release(&x);
}

/* ---- one output of several --------------------------------------------------------------------
 */

EF_TEST(the_first_output_alone) {
    enum { ROWS = 40, CLASSES = 30 };
    const ef_op *op = ef_op_find("SparseSoftmaxCrossEntropyWithLogits");
    static float x[ROWS * CLASSES];
    int32_t label[ROWS];
    const ef_shape rows = {.rank = 1, .dim = {ROWS}};
    const ef_shape matrix = {.rank = 2, .dim = {ROWS, CLASSES}};
    for (int k = 0; k < ROWS * CLASSES; k++) x[k] = (float)(k % 37) * 0.1f;
    for (int k = 0; k < ROWS; k++) label[k] = k % CLASSES;
    ef_tensor in[2], loss, both[2];
    CHECK_OK(ef_tensor_from(EF_F32, &matrix, x, &in[0]));
    CHECK_OK(ef_tensor_from(EF_I32, &rows, label, &in[1]));
    const ef_tensor *given[] = {&in[0], &in[1]};
    int n = 0;
    CHECK_OK(ef_call_op_first(op, NULL, given, 2, &loss));
    CHECK_OK(ef_call_op(op, NULL, given, 2, both, 2, &n));
    CHECK(n == 2 && loss.rank == 1 && loss.dim[0] == ROWS);
    for (int k = 0; k < ROWS; k++) CHECK(at(&loss, k) == at(&both[0], k));
    ef_tensor_release(&loss);
    label[3] = CLASSES;
    ef_tensor_release(&in[1]);
    CHECK_OK(ef_tensor_from(EF_I32, &rows, label, &in[1]));
    CHECK_FAILS(ef_call_op_first(op, NULL, given, 2, &loss), EF_INVALID, "row 3");
    CHECK_FAILS(ef_call_op_first(op, NULL, given, 1, &loss), EF_INVALID, "SparseSoftmax");
    for (int k = 0; k < 2; k++) {
        ef_tensor_release(&in[k]);
        ef_tensor_release(&both[k]);
    }
}

int main(void) {
    EF_RUN(the_table_is_whole);
    EF_RUN(a_record_taken_apart);
    EF_RUN(the_first_output_alone);
    EF_RUN(nodes_are_seen);
    EF_RUN(computed_shapes_are_read);
    EF_RUN(sizes_follow_though_the_batch_is_open);
    EF_RUN(ops_join_the_graph_of_their_inputs);
    EF_RUN(a_suspended_thread_runs_ops_at_once);
    EF_RUN(resources_say_what_is_behind);
    EF_RUN(a_trace_carries_data);
    EF_RUN(a_signature_is_kept);
    EF_RUN(open_sizes_are_unknown_from_the_first_trace_on);
    EF_RUN(a_function_told_not_to_relax);
    EF_RUN(data_of_traces_outlives_them_while_held);
    EF_RUN(a_held_trace_outlives_its_eviction);
    EF_RUN(small_calls_are_run);
    EF_RUN(small_calls_leave_others_alone);
    EF_RUN(equal_sizes_that_part);
    EF_RUN(finished_graphs_are_called);
    EF_RUN(a_held_tensor_is_known_when_it_is_watched_later);
    return EF_VERDICT();
}
