/* Graphs that differ only in their constants share one program, nothing grows, and the results are
 * those of each graph's constants. */
#include "check.h"
#include "eager/function_call.h"
#include "plan/compile.h"
#include "runtime/function.h"
#include <ef_ops.h>
#include <evenflow_binding.h>
#include <time.h>

static void scalar(ef_tensor *t, float v) { ef_status_free(ef_tensor_from(EF_F32, NULL, &v, t)); }

static void vector(ef_tensor *t, int n, const float *v) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_status_free(ef_tensor_from(EF_F32, &s, v, t));
}

static void ints(ef_tensor *t, int n, const int32_t *v) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_status_free(ef_tensor_from(EF_I32, &s, v, t));
}

static float at(const ef_tensor *t, int k) {
    const void *v = NULL;
    ef_status_free(ef_tensor_data(t, &v));
    return v != NULL ? ((const float *)v)[k] : NAN;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* out = tanh(x * number + 7) - number: four ops. */
static ef_status *four_ops(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                           int *n_out) {
    ef_tensor c, seven, a = {0}, b = {0}, d = {0};
    (void)n_in;
    (void)max_out;
    scalar(&c, *(const float *)user);
    scalar(&seven, 7);
    ef_status *s = ef_do_Mul(&in[0], &c, &a);
    if (s == NULL) s = ef_do_AddV2(&a, &seven, &b);
    if (s == NULL) s = ef_do_Tanh(&b, &d);
    if (s == NULL) s = ef_do_Sub(&d, &c, out);
    ef_tensor_release(&a);
    ef_tensor_release(&b);
    ef_tensor_release(&d);
    *n_out = 1;
    return s;
}

/* Traces a function, calls it once and frees it, as happens with a changing Python number. */
static void call_anew(const ef_tensor *x, float number) {
    ef_function *f;
    ef_tensor y;
    int n;
    const ef_tensor *in[] = {x};
    CHECK_OK(ef_function_new(four_ops, &number, "four", &f));
    CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
    for (int k = 0; k < 2; k++) CHECK_NEAR(at(&y, k), tanhf(at(x, k) * number + 7) - number, 1e-5);
    ef_tensor_release(&y);
    ef_function_free(f);
}

EF_TEST(functions_share_a_program) {
    const float v[] = {-2, 0.25F};
    ef_tensor x;
    ef_compile_info before, after;
    vector(&x, 2, v);
    ef_programs_clear();
    for (int k = 0; k < 8; k++) call_anew(&x, (float)k * 0.3F - 4);
    ef_compile_info_get(&before);
    for (int k = 0; k < 500; k++) call_anew(&x, (float)k * 0.01F + 5);
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
    CHECK(after.programs <= 3);
}

EF_TEST(nothing_grows_with_the_number_of_numbers) {
    const float v[] = {-2, 0.25F};
    ef_tensor x;
    ef_compile_info info, info_after;
    ef_memory_usage use, use_after;
    vector(&x, 2, v);
    for (int k = 0; k < 100; k++) call_anew(&x, (float)k * 0.07F + 3.5F);
    ef_compile_info_get(&info);
    CHECK_OK(ef_memory_usage_get("CPU:0", &use));
    uint64_t from = ef_allocations(), first = 0;
    enum { ROUNDS = 100, EACH = 1000 };
    double begin = seconds();
    for (int r = 0; r < ROUNDS; r++) {
        for (int k = 0; k < EACH; k++) call_anew(&x, (float)(r * EACH + k) * 1e-4F + 3.51F);
        uint64_t now = ef_allocations();
        if (r == 0) first = now - from;
        CHECK(r == 0 || now - from <= first + first / 100); /* the last round like the first */
        from = now;
    }
    double each = (seconds() - begin) / (ROUNDS * EACH);
    ef_compile_info_get(&info_after);
    CHECK_OK(ef_memory_usage_get("CPU:0", &use_after));
    CHECK_INT((int64_t)info_after.programs, (int64_t)info.programs);
    CHECK_INT((int64_t)info_after.bytes, (int64_t)info.bytes);
    CHECK_INT(use_after.current, use.current);
    CHECK(first <= 22 * EACH); /* the graph without its constants is found in the cache */
    printf("    a new number costs %.2f us and %.1f allocations\n", each * 1e6,
           (double)first / EACH);
}

/* The last trace of f: a copy of its graph was made, or not yet. */
static bool copied(const ef_function *f) { return f->traces[0]->closed != NULL; }

static ef_status *calls_other(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int max_out, int *n_out) {
    const ef_tensor *all[] = {&in[0]};
    (void)n_in;
    return ef_function_call(user, all, 1, out, max_out, n_out);
}

static void nested_call(ef_function *f, const ef_tensor *x, ef_tensor *out) {
    ef_function *outer;
    int n;
    CHECK_OK(ef_function_new(calls_other, f, "outer", &outer));
    CHECK_OK(ef_function_call(outer, &x, 1, out, 1, &n));
    ef_function_free(outer);
}

/* What needs a copy later gets it: gradients, and calls in other functions. */
EF_TEST(a_trace_of_a_known_structure_is_not_copied) {
    const float v[] = {0.5F, -1}, numbers[] = {4.5F, 5.5F, 6.5F};
    ef_tensor x, y, dx;
    int n;
    vector(&x, 2, v);
    for (int k = 0; k < 3; k++) call_anew(&x, numbers[k]);
    for (int how = 0; how < 2; how++) {
        float number = 7.5F + (float)how, slope;
        ef_function *f;
        ef_tape *tape = NULL;
        const ef_tensor *in[] = {&x};
        CHECK_OK(ef_function_new(four_ops, &number, "four", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK(!copied(f));
        ef_tensor_release(&y);
        if (how == 0) {
            CHECK_OK(ef_tape_start(false, &tape));
            CHECK_OK(ef_tape_watch(tape, &x));
            CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
            CHECK_OK(ef_tape_gradient(tape, &y, NULL, in, 1, &dx));
            slope = 1 - powf(tanhf(v[1] * number + 7), 2);
            CHECK_NEAR(at(&dx, 1), number * slope, 1e-5);
            ef_tensor_release(&dx);
            ef_tape_free(tape);
        } else {
            nested_call(f, &x, &y);
        }
        CHECK_NEAR(at(&y, 1), tanhf(v[1] * number + 7) - number, 1e-5);
        CHECK(copied(f));
        ef_tensor_release(&y);
        ef_function_free(f);
    }
}

/* out = x + zeros(number), where the plan depends on the number; x has one element. */
static ef_status *sized(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    ef_tensor dims, zero, zeros;
    (void)n_in;
    (void)max_out;
    ints(&dims, 1, user);
    scalar(&zero, 0);
    ef_status *s = ef_do_Fill(&dims, &zero, &zeros);
    if (s != NULL) return s;
    s = ef_do_AddV2(&in[0], &zeros, out);
    ef_tensor_release(&zeros);
    *n_out = 1;
    return s;
}

EF_TEST(graphs_that_differ_in_a_size_are_kept_for_the_latest) {
    ef_tensor x, y;
    ef_compile_info before = {0}, after;
    int n;
    scalar(&x, 3);
    const ef_tensor *in[] = {&x};
    ef_programs_clear();
    for (int32_t k = 1; k <= 400; k++) {
        ef_function *f;
        CHECK_OK(ef_function_new(sized, &k, "sized", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_INT(y.dim[0], k);
        CHECK_NEAR(at(&y, k - 1), 3, 0);
        ef_tensor_release(&y);
        ef_function_free(f);
        if (k == 200) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
    CHECK(after.programs < 200);
}

EF_TEST(sessions_share_a_program) {
    ef_compile_info before = {0}, after;
    const float v[] = {3, 4};
    ef_tensor value;
    vector(&value, 2, v);
    for (int k = 0; k < 50; k++) {
        ef_graph *g = ef_graph_new();
        ef_session *s;
        ef_tensor x, y, z, c, out;
        ef_shape two = {.rank = 1, .dim = {2}};
        float number = 10 + 0.5F * (float)k;
        scalar(&c, number);
        CHECK_OK(ef_graph_placeholder(g, EF_F32, &two, "x", &x));
        CHECK_OK(ef_do_Mul(&x, &c, &y));
        CHECK_OK(ef_do_Exp(&y, &z));
        CHECK_OK(ef_session_new(g, &s));
        CHECK_OK(ef_session_run(s, &x, &value, 1, &y, 1, NULL, 0, &out));
        CHECK_NEAR(at(&out, 1), 4 * number, 0);
        ef_tensor *all[] = {&x, &y, &z, &out};
        for (int i = 0; i < 4; i++) ef_tensor_release(all[i]);
        ef_session_free(s);
        ef_graph_free(g);
        if (k == 4) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
}

/* ---- loops and branches ------------------------------------------------------------------------
 */

static ef_status *unary(ef_graph *g, const ef_op *op, float number) {
    ef_tensor x, y, c;
    ef_shape none = {.rank = 0};
    int n;
    scalar(&c, number);
    ef_status *s = ef_graph_placeholder(g, EF_F32, &none, "x", &x);
    if (s == NULL) s = ef_graph_enter(g);
    if (s != NULL) return s;
    const ef_tensor *in[] = {&x, &c};
    s = ef_call_op(op, NULL, in, 2, &y, 1, &n);
    ef_status_free(ef_graph_leave(g));
    if (s == NULL) s = ef_graph_finish(g, &x, 1, &y, 1);
    ef_tensor_release(&x);
    if (s == NULL) ef_tensor_release(&y);
    return s;
}

static ef_status *while_below(float step, float limit, const ef_tensor *x, ef_tensor *y) {
    ef_graph *cond = ef_graph_new(), *body = ef_graph_new();
    const ef_attrs *attrs = NULL;
    int n;
    ef_status *s = unary(cond, ef_op_find("Less"), limit);
    if (s == NULL) s = unary(body, ef_op_find("AddV2"), step);
    ef_shape none = {.rank = 0};
    ef_attr_value set[] = {
        EF_SET_FUNC("cond", cond),
        EF_SET_FUNC("body", body),
        {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = 1, .as = {.shapes = &none}}};
    if (s == NULL) s = ef_attrs_make(ef_op_find("While"), set, step > 10 ? 3 : 2, &attrs);
    if (s == NULL) s = ef_call_op(ef_op_find("While"), attrs, &x, 1, y, 1, &n);
    ef_attrs_unref(attrs);
    ef_graph_free(cond);
    ef_graph_free(body);
    return s;
}

static ef_status *choose_by(const ef_tensor *flag, float then, float otherwise, const ef_tensor *x,
                            ef_tensor *y) {
    ef_graph *a = ef_graph_new(), *b = ef_graph_new();
    const ef_attrs *attrs = NULL;
    ef_dtype t = EF_F32;
    int n;
    ef_status *s = unary(a, ef_op_find("Mul"), then);
    if (s == NULL) s = unary(b, ef_op_find("Sub"), otherwise);
    ef_attr_value set[] = {EF_SET_FUNC("then_branch", a), EF_SET_FUNC("else_branch", b),
                           EF_SET_TYPES("Tout", 1, &t)};
    const ef_tensor *in[] = {flag, x};
    if (s == NULL) s = ef_attrs_make(ef_op_find("If"), set, 3, &attrs);
    if (s == NULL) s = ef_call_op(ef_op_find("If"), attrs, in, 2, y, 1, &n);
    ef_attrs_unref(attrs);
    ef_graph_free(a);
    ef_graph_free(b);
    return s;
}

static ef_status *choose(float then, float otherwise, const ef_tensor *x, bool yes, ef_tensor *y) {
    ef_tensor flag;
    ef_status *s = ef_tensor_from(EF_BOOL, NULL, &yes, &flag);
    return s != NULL ? s : choose_by(&flag, then, otherwise, x, y);
}

static float add_up(float x, float step, float limit) {
    while (x < limit) x += step;
    return x;
}

EF_TEST(control_flow_shares_a_program) {
    ef_tensor x, y;
    ef_compile_info before = {0}, after;
    scalar(&x, 0);
    ef_programs_clear();
    for (int k = 0; k < 40; k++) {
        float step = 4 + 0.25F * (float)k, limit = 100 + (float)k;
        CHECK_OK(while_below(step, limit, &x, &y));
        CHECK_NEAR(at(&y, 0), add_up(0, step, limit), 0);
        ef_tensor_release(&y);
        CHECK_OK(while_below(20 + step, limit, &x, &y)); /* with output_shapes */
        CHECK_NEAR(at(&y, 0), add_up(0, 20 + step, limit), 0);
        ef_tensor_release(&y);
        ef_tensor five;
        scalar(&five, 5);
        CHECK_OK(choose(step, limit, &five, k % 2, &y));
        CHECK_NEAR(at(&y, 0), k % 2 ? 5 * step : 5 - limit, 0);
        ef_tensor_release(&y);
        if (k == 4) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
}

/* x > number ? x * 7 : x - number */
static ef_status *by_data(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out) {
    ef_tensor c, flag;
    (void)n_in;
    (void)max_out;
    scalar(&c, *(const float *)user);
    ef_status *s = ef_do_Greater(&in[0], &c, &flag);
    if (s != NULL) return s;
    s = choose_by(&flag, 7, *(const float *)user, &in[0], out);
    ef_tensor_release(&flag);
    *n_out = 1;
    return s;
}

EF_TEST(choices_by_data_share_a_program) {
    ef_tensor x, y;
    ef_compile_info before = {0}, after;
    int n;
    scalar(&x, 20);
    const ef_tensor *in[] = {&x};
    ef_programs_clear();
    for (int k = 0; k < 40; k++) {
        float number = 4 + (float)k;
        ef_function *f;
        CHECK_OK(ef_function_new(by_data, &number, "by_data", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_NEAR(at(&y, 0), 20 > number ? 140 : 20 - number, 0);
        ef_tensor_release(&y);
        ef_function_free(f);
        if (k == 4) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
}

typedef struct nested {
    ef_function *inner;
    float number;
} nested;

static ef_status *call_inner(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                             int *n_out) {
    const nested *n = user;
    ef_tensor c, a;
    (void)n_in;
    scalar(&c, n->number);
    ef_status *s = ef_do_Mul(&in[0], &c, &a);
    if (s != NULL) return s;
    const ef_tensor *args[] = {&a};
    s = ef_function_call(n->inner, args, 1, out, max_out, n_out);
    ef_tensor_release(&a);
    return s;
}

EF_TEST(functions_in_functions_share_a_program) {
    const float v[] = {0.5F, -0.25F};
    ef_tensor x, y;
    ef_compile_info before = {0}, after;
    int n;
    vector(&x, 2, v);
    const ef_tensor *in[] = {&x};
    ef_programs_clear();
    for (int k = 0; k < 30; k++) {
        float number = 0.01F * (float)k + 0.11F;
        nested outer = {.number = -number};
        ef_function *f;
        CHECK_OK(ef_function_new(four_ops, &number, "inner", &outer.inner));
        CHECK_OK(ef_function_new(call_inner, &outer, "outer", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_NEAR(at(&y, 1), tanhf(0.25F * number * number + 7) - number, 1e-5);
        ef_tensor_release(&y);
        ef_function_free(f);
        ef_function_free(outer.inner);
        if (k == 4) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
}

EF_TEST(derivatives_of_control_flow_are_made_once) {
    uint64_t made = 0;
    for (int k = 0; k < 20; k++) {
        ef_tensor x, y, d;
        ef_tape *tape;
        scalar(&x, 5 + (float)k);
        CHECK_OK(ef_tape_start(false, &tape));
        CHECK_OK(ef_tape_watch(tape, &x));
        CHECK_OK(choose(7, 9, &x, true, &y));
        const ef_tensor *source[] = {&x};
        CHECK_OK(ef_tape_gradient(tape, &y, NULL, source, 1, &d));
        CHECK_NEAR(at(&d, 0), 7, 0);
        ef_tensor_release(&d);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
        ef_tape_free(tape);
        if (k == 0) made = ef_derivatives_made();
    }
    CHECK_INT((int64_t)ef_derivatives_made(), (int64_t)made);
}

static ef_status *row(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                      int *n_out) {
    const int32_t i = *(const int32_t *)user, next = i + 1, one = 1;
    ef_tensor begin, end, step;
    ef_StridedSlice_options o = {.shrink_axis_mask = 1};
    (void)n_in;
    (void)max_out;
    ints(&begin, 1, &i);
    ints(&end, 1, &next);
    ints(&step, 1, &one);
    *n_out = 1;
    return ef_do_StridedSlice(&in[0], &begin, &end, &step, &o, out);
}

EF_TEST(rows_by_number_share_a_program) {
    float v[200];
    for (int k = 0; k < 200; k++) v[k] = (float)k;
    ef_shape shape = {.rank = 2, .dim = {100, 2}};
    ef_tensor x, y;
    ef_compile_info before = {0}, after;
    int n;
    CHECK_OK(ef_tensor_from(EF_F32, &shape, v, &x));
    const ef_tensor *in[] = {&x};
    for (int32_t i = 0; i < 100; i++) {
        ef_function *f;
        CHECK_OK(ef_function_new(row, &i, "row", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_INT(y.rank, 1);
        CHECK_NEAR(at(&y, 1), v[2 * i + 1], 0);
        ef_tensor_release(&y);
        ef_function_free(f);
        if (i == 8) ef_compile_info_get(&before);
    }
    ef_compile_info_get(&after);
    CHECK_INT((int64_t)after.programs, (int64_t)before.programs);
    ef_tensor_release(&x);
}

/* ---- what is no parameter ----------------------------------------------------------------------
 */

static ef_status *summed(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                         int *n_out) {
    const int32_t *v = user; /* rows, axis */
    const int32_t dims[] = {v[0], -1};
    ef_tensor shape, axis, square = {0};
    (void)n_in;
    (void)max_out;
    ints(&shape, 2, dims);
    ef_status *s = ef_tensor_from(EF_I32, NULL, &v[1], &axis);
    if (s == NULL) s = ef_do_Reshape(&in[0], &shape, &square);
    if (s == NULL) s = ef_do_Sum(&square, &axis, NULL, out);
    ef_tensor_release(&square);
    *n_out = 1;
    return s;
}

EF_TEST(shapes_and_axes_stay) {
    const float v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    ef_tensor x, y;
    int n;
    vector(&x, 12, v);
    const ef_tensor *in[] = {&x};
    for (int rows = 1; rows <= 6; rows++) {
        if (12 % rows != 0) continue;
        for (int axis = 0; axis < 2; axis++) {
            int32_t given[] = {rows, axis};
            ef_function *f;
            CHECK_OK(ef_function_new(summed, given, "summed", &f));
            CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
            CHECK_INT(y.rank, 1);
            CHECK_INT(y.dim[0], axis == 0 ? 12 / rows : rows);
            ef_tensor_release(&y);
            ef_graph *g;
            ef_dtype t = EF_F32;
            ef_shape s = {.rank = 1, .dim = {12}};
            CHECK_OK(ef_function_trace_for(f, &t, &s, 1, &g, NULL));
            CHECK_OK(ef_graph_output_at(g, 0, &y));
            CHECK_INT(y.dim[0], axis == 0 ? 12 / rows : rows); /* known before it runs */
            ef_tensor_release(&y);
            ef_graph_free(g);
            ef_function_free(f);
        }
    }
}

int main(void) {
    EF_RUN(functions_share_a_program);
    EF_RUN(nothing_grows_with_the_number_of_numbers);
    EF_RUN(a_trace_of_a_known_structure_is_not_copied);
    EF_RUN(graphs_that_differ_in_a_size_are_kept_for_the_latest);
    EF_RUN(sessions_share_a_program);
    EF_RUN(control_flow_shares_a_program);
    EF_RUN(choices_by_data_share_a_program);
    EF_RUN(functions_in_functions_share_a_program);
    EF_RUN(derivatives_of_control_flow_are_made_once);
    EF_RUN(rows_by_number_share_a_program);
    EF_RUN(shapes_and_axes_stay);
    return EF_VERDICT();
}
