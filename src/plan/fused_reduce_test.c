/* Reductions at the end of a fused group, against the ops run one after the other: every kind,
 * dtype, set of axes and manner of broadcasting, and the same bits whatever the number of threads.
 */
#include "base/pool.h"
#include "check.h"
#include "graph/graph.h"
#include "ops/run.h"
#include "plan/program.h"

static const struct {
    ef_shape x, y; /* y broadcasts to x */
    uint32_t axes;
    bool fuses;
} cases[] = {
    {{2, 0, {40, 30}}, {2, 0, {40, 30}}, 3, true},       /* all */
    {{2, 0, {40, 30}}, {1, 0, {30}}, 2, true},           /* inner, short rows, a row vector */
    {{2, 0, {40, 30}}, {2, 0, {40, 1}}, 2, true},        /* a factor per row */
    {{2, 0, {40, 30}}, {2, 0, {40, 1}}, 1, true},        /* outer */
    {{2, 0, {7, 700}}, {2, 0, {7, 1}}, 2, true},         /* inner, rows longer than a stretch */
    {{2, 0, {7, 700}}, {1, 0, {700}}, 1, false},         /* outer, wide rows */
    {{2, 0, {7, 700}}, {0, 0, {0}}, 3, true},            /* a scalar */
    {{3, 0, {5, 6, 300}}, {2, 0, {6, 300}}, 6, true},    /* two inner axes, a long period */
    {{3, 0, {5, 6, 300}}, {3, 0, {5, 6, 1}}, 6, true},   /* cut within the row */
    {{3, 0, {5, 6, 300}}, {3, 0, {5, 1, 300}}, 3, true}, /* two outer axes, strides */
    {{3, 0, {5, 6, 30}}, {3, 0, {5, 6, 30}}, 2, false},  /* the middle */
    {{4, 0, {1, 60, 1, 9}}, {1, 0, {9}}, 11, true},      /* ones are on no side: all */
    {{4, 0, {3, 60, 1, 9}}, {1, 0, {9}}, 12, true},      /* inner with a one */
    {{2, 0, {3, 40000}}, {2, 0, {3, 40000}}, 2, true},   /* rows in parts */
    {{1, 0, {100000}}, {1, 0, {1}}, 1, true},            /* all in parts */
    {{2, 0, {3000, 20}}, {1, 0, {20}}, 1, true},         /* columns in parts */
    {{2, 0, {3000, 300}}, {2, 0, {3000, 1}}, 1, true},   /* a factor per row, cut there */
    {{2, 0, {40, 30}}, {2, 0, {40, 30}}, 0, false},      /* nothing to reduce */
};
static const char *const ops[] = {"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"};
static const ef_dtype types[] = {EF_F32, EF_F64, EF_F16, EF_BF16, EF_I32, EF_I8, EF_C64};

static void fill(ef_tensor *t, int salt) {
    for (int64_t i = 0, n = ef_count(t); i < n; i++) {
        int64_t v = (i * 7 + i / 5 + salt) % 11 - 5;
        double x = ef_dtype_in((ef_dtype)t->dtype, EF_INTS) ? (double)v : 0.03125 * (double)v;
        ef_element_set((ef_dtype)t->dtype, t->data, i, x);
        if (t->dtype == EF_C64) ((float *)t->data)[2 * i + 1] = 0.25f;
    }
}

static ef_status *axes_tensor(uint32_t mask, ef_tensor *out) {
    int32_t axes[EF_MAX_RANK];
    ef_shape s = {.rank = 1};
    for (int d = 0; d < EF_MAX_RANK; d++)
        if (mask >> d & 1) axes[s.dim[0]++] = d;
    return ef_tensor_from(EF_I32, &s, axes, out);
}

/* z = x * y; w = z + y; return op(w), and w itself if asked. */
static ef_status *unfused(const ef_op *op, ef_tensor *x, ef_tensor *y, ef_tensor *axes,
                          ef_tensor *out) {
    ef_tensor z = {0}, w = {0};
    int n;
    EF_TRY(ef_op_run(ef_context_here(), &ef_op_Mul, NULL, (ef_tensor *[]){x, y}, 2, &z, 1, &n));
    ef_status *s =
        ef_op_run(ef_context_here(), &ef_op_AddV2, NULL, (ef_tensor *[]){&z, y}, 2, &w, 1, &n);
    if (s == NULL) {
        const ef_attrs *attrs = ef_attrs_default(op);
        s = ef_op_run(ef_context_here(), op, attrs != NULL ? ef_attrs_fields(attrs) : NULL,
                      (ef_tensor *[]){&w, axes}, 2, out, 1, &n);
    }
    ef_tensor_release(&z);
    ef_tensor_release(&w);
    return s;
}

static ef_status *make_graph(const ef_op *op, const ef_tensor *x, const ef_tensor *y,
                             const ef_tensor *axes, bool both, ef_graph *g) {
    ef_edge a, b, c;
    ef_shape sx = ef_shape_from(x), sy = ef_shape_from(y);
    int32_t z, w, r;
    EF_TRY(ef_graph_input(g, (ef_dtype)x->dtype, &sx, NULL, &a));
    EF_TRY(ef_graph_input(g, (ef_dtype)y->dtype, &sy, NULL, &b));
    EF_TRY(ef_graph_constant(g, axes, &c));
    EF_TRY(ef_graph_add(g, &ef_op_Mul, NULL, (ef_edge[]){a, b}, 2, NULL, &z));
    EF_TRY(ef_graph_add(g, &ef_op_AddV2, NULL, (ef_edge[]){{z, 0}, b}, 2, NULL, &w));
    EF_TRY(ef_graph_add(g, op, NULL, (ef_edge[]){{w, 0}, c}, 2, NULL, &r));
    return ef_graph_set_outputs(g, (ef_edge[]){{r, 0}, {w, 0}}, both ? 2 : 1);
}

static int steps(const ef_graph *g, const ef_tensor *x, const ef_tensor *y) {
    ef_fact in[] = {{.dtype = (ef_dtype)x->dtype, .shape = ef_shape_from(x)},
                    {.dtype = (ef_dtype)y->dtype, .shape = ef_shape_from(y)}};
    ef_plan *p = NULL;
    ef_status *s = ef_plan_make(g, in, &(ef_plan_options){0}, &p);
    ef_status_free(s);
    int n = s == NULL ? p->n_steps : -1;
    ef_plan_free(p);
    return n;
}

static double tolerance(ef_dtype t) {
    return t == EF_F16 ? 2e-2 : t == EF_BF16 ? 1e-1 : t == EF_F64 ? 1e-11 : 2e-5;
}

static void compare(const ef_tensor *a, const ef_tensor *b) {
    ef_dtype t = (ef_dtype)a->dtype;
    CHECK_INT(ef_count(a), ef_count(b));
    for (int64_t i = 0, n = ef_count(a); i < n; i++) {
        double x = ef_element_double(t, a->data, i), y = ef_element_double(t, b->data, i);
        CHECK_NEAR(x, y, tolerance(t) * (1 + fabs(x)));
    }
}

static void one(size_t k, const ef_op *op, ef_dtype t, bool both) {
    ef_tensor x = {0}, y = {0}, axes = {0}, want = {0}, got[2] = {{0}, {0}}, again[2] = {{0}, {0}};
    CHECK_OK(ef_tensor_new(t, &cases[k].x, &x));
    CHECK_OK(ef_tensor_new(t, &cases[k].y, &y));
    CHECK_OK(axes_tensor(cases[k].axes, &axes));
    fill(&x, 1);
    fill(&y, 2);
    ef_graph *g = ef_graph_make();
    g->function = true;
    ef_status *s = make_graph(op, &x, &y, &axes, both, g);
    ef_status_free(s);
    if (s == NULL) { /* else not a dtype for this op */
        ef_program *p;
        ef_tensor *in[] = {&x, &y};
        CHECK_INT(steps(g, &x, &y) == 1, cases[k].fuses);
        CHECK_OK(unfused(op, &x, &y, &axes, &want));
        CHECK_OK(ef_program_make(g, NULL, &p));
        ef_pool_limit(1);
        CHECK_OK(ef_program_run(ef_context_here(), p, in, got));
        ef_pool_limit(0);
        CHECK_OK(ef_program_run(ef_context_here(), p, in, again));
        compare(&want, &got[0]);
        CHECK(ef_tensor_same_bytes(&got[0], &again[0]));
        ef_program_unref(p);
    }
    ef_graph_unref(g);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&axes);
    ef_tensor_release(&want);
    for (int i = 0; i < 2; i++) {
        ef_tensor_release(&got[i]);
        ef_tensor_release(&again[i]);
    }
}

EF_TEST(fused_reductions_agree) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (size_t t = 0; t < sizeof types / sizeof *types && !ef_check.failed; t++) {
                one(k, ef_op_find(ops[o]), types[t], false);
                if (ef_check.failed)
                    printf("    case %zu, %s of %s\n", k, ops[o], ef_dtype_name(types[t]));
            }
}

EF_TEST(kept_values_are_written_too) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases && !ef_check.failed; k++)
        one(k, ef_op_find("Sum"), EF_F32, true);
}

int main(void) {
    EF_RUN(fused_reductions_agree);
    EF_RUN(kept_values_are_written_too);
    return EF_VERDICT();
}
