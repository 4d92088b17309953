/* Array ops beyond their examples: error texts, symbolic and unknown dims in shape functions, the
 * many masks of a strided slice, printed text. */
#include "base/alloc.h"
#include "check.h"
#include "ops/control/summary.h"
#include "ops/op.h"
#include "ops/run.h"
#include <stdarg.h>

/* ---- calling ----------------------------------------------------------------------------------
 */

enum { MAX = 8 };
static ef_tensor in[MAX], out[MAX];
static int n_in, n_out;

static void reset(void) {
    for (int k = 0; k < MAX; k++) {
        ef_tensor_release(&in[k]);
        ef_tensor_release(&out[k]);
    }
    n_in = n_out = 0;
}

/* Adds an input: rank, dims, then the values as doubles. */
static void put(ef_dtype t, int rank, ...) {
    ef_shape s = {.rank = rank};
    va_list args;
    va_start(args, rank);
    for (int d = 0; d < rank; d++) s.dim[d] = va_arg(args, int);
    ef_status_free(ef_tensor_alloc(&in[n_in], t, &s));
    for (int64_t k = 0; k < ef_shape_count(&s); k++)
        ef_element_set(t, in[n_in].data, k, va_arg(args, double));
    va_end(args);
    n_in++;
}

static ef_status *run(const char *name, const ef_attr_value *set, int n_set) {
    const ef_op *op = ef_op_find(name);
    const ef_attrs *attrs = NULL;
    ef_tensor *ins[MAX];
    EF_TRY(ef_attrs_make(op, set, n_set, &attrs));
    for (int k = 0; k < n_in; k++) ins[k] = &in[k];
    ef_status *s =
        ef_op_run(ef_context_here(), op, ef_attrs_fields(attrs), ins, n_in, out, MAX, &n_out);
    ef_attrs_unref(attrs);
    return s;
}

static void check_values(int k, int rank, ...) {
    va_list args;
    va_start(args, rank);
    int64_t n = 1;
    ef_dtype t = (ef_dtype)out[k].dtype;
    bool good = out[k].rank == rank;
    for (int d = 0; good && d < rank; d++) {
        n *= out[k].dim[d];
        good = out[k].dim[d] == va_arg(args, int);
    }
    for (int64_t j = 0; good && j < n; j++)
        good = ef_element_double(t, out[k].data, j) == va_arg(args, double);
    va_end(args);
    CHECK(good);
}

/* ---- errors -----------------------------------------------------------------------------------
 */

EF_TEST(errors_say_what) {
    put(EF_F32, 2, 3, 2, 0., 1., 2., 3., 4., 5.);
    put(EF_I32, 2, 2, 1, 0., 7.);
    put(EF_I32, 0, 0.);
    CHECK_FAILS(run("GatherV2", NULL, 0), EF_INVALID,
                "GatherV2: indices[1,0] = 7 is not in [0, 3)");
    reset();
    put(EF_F32, 1, 6, 0., 1., 2., 3., 4., 5.);
    put(EF_I32, 1, 2, 4., -1.);
    CHECK_FAILS(run("Reshape", NULL, 0), EF_INVALID, "6 values, but the requested shape [4, ?]");
    reset();
    put(EF_F32, 1, 2, 0., 1.);
    put(EF_I32, 1, 1, 1.);
    put(EF_I32, 1, 1, 2.);
    CHECK_FAILS(run("Slice", NULL, 0), EF_INVALID, "Expected size[0] in [0, 1], but got 2");
    reset();
    put(EF_F32, 1, 2, 0., 1.);
    put(EF_I32, 2, 1, 1, 5.);
    CHECK_FAILS(run("GatherNd", NULL, 0), EF_INVALID,
                "indices[0] = [5] does not index into shape [2]");
    reset();
    put(EF_I64, 1, 2, 1e12, 1e12);
    put(EF_F32, 0, 0.);
    CHECK_FAILS(run("Fill", NULL, 0), EF_INVALID, "too many elements");
    reset();
}

EF_TEST(assertion_shows_data) {
    put(EF_BOOL, 0, 0.);
    put(EF_I32, 1, 4, 1., 2., 3., 4.);
    put(EF_F32, 0, 0.5);
    CHECK_FAILS(run("Assert", NULL, 0), EF_INVALID, "assertion failed: [1 2 3...] [0.5]");
    reset();
}

/* ---- strided slices ---------------------------------------------------------------------------
 */

EF_TEST(masks) {
    put(EF_F32, 2, 2, 3, 0., 1., 2., 3., 4., 5.);
    put(EF_I32, 1, 2, -1., 0.);
    put(EF_I32, 1, 2, 0., 0.);
    put(EF_I32, 1, 2, 1., -2.);
    ef_attr_value last_row[] = {EF_SET_INT("shrink_axis_mask", 1), EF_SET_INT("begin_mask", 2),
                                EF_SET_INT("end_mask", 2)};
    CHECK_OK(run("StridedSlice", last_row, 3)); /* x[-1, ::-2] */
    check_values(0, 1, 2, 5., 3.);
    ef_tensor_release(&out[0]);
    ef_attr_value column[] = {EF_SET_INT("ellipsis_mask", 1), EF_SET_INT("new_axis_mask", 2)};
    CHECK_OK(run("StridedSlice", column, 2)); /* x[..., newaxis] */
    check_values(0, 3, 2, 3, 1, 0., 1., 2., 3., 4., 5.);
    ef_attr_value both[] = {EF_SET_INT("ellipsis_mask", 3)};
    CHECK_FAILS(run("StridedSlice", both, 1), EF_INVALID, "Multiple ellipses");
    reset();
}

/* ---- shape inference ------------------------------------------------------------------------- */

static ef_fact facts[MAX], result[MAX];
static ef_tensor constant[MAX];

static ef_fact open_fact(ef_dtype t, int rank, int64_t a, int64_t b) {
    return (ef_fact){.dtype = t, .shape = {.rank = rank, .dim = {a, b}}};
}
static ef_fact known_ints(int k, int n, int64_t a, int64_t b) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_tensor_release(&constant[k]);
    ef_status_free(ef_tensor_alloc(&constant[k], EF_I64, &s));
    if (n > 0) ((int64_t *)constant[k].data)[0] = a;
    if (n > 1) ((int64_t *)constant[k].data)[1] = b;
    return (ef_fact){.dtype = EF_I64, .shape = s, .value = &constant[k]};
}

static ef_status *infer(const char *name, int n, const ef_attr_value *set, int n_set) {
    const ef_op *op = ef_op_find(name);
    const ef_attrs *attrs = NULL;
    int made;
    EF_TRY(ef_attrs_make(op, set, n_set, &attrs));
    ef_status *s = ef_op_infer(op, ef_attrs_fields(attrs), facts, n, result, MAX, &made);
    ef_attrs_unref(attrs);
    return s;
}

EF_TEST(symbolic_dims_stay) {
    int64_t s = ef_dim_symbol(0);
    facts[0] = open_fact(EF_F32, 2, s, 6);
    facts[1] = known_ints(1, 2, -1, 2);
    CHECK_OK(infer("Reshape", 2, NULL, 0));
    CHECK(result[0].shape.dim[0] == ef_dim_mul(s, 3) && result[0].shape.dim[1] == 2);
    facts[1] = known_ints(1, 2, 1, 0);
    CHECK_OK(infer("Transpose", 2, NULL, 0));
    CHECK(result[0].shape.dim[0] == 6 && result[0].shape.dim[1] == s);
    facts[1] = open_fact(EF_F32, 2, 4, 6);
    facts[2] = known_ints(2, 1, 0, 0);
    CHECK_OK(infer("ConcatV2", 3, NULL, 0));
    CHECK(result[0].shape.dim[0] == ef_dim_add(s, 4) && result[0].shape.dim[1] == 6);
    facts[1] = open_fact(EF_F32, 2, s, 6);
    CHECK_OK(infer("Pack", 2, NULL, 0));
    CHECK(result[0].shape.rank == 3 && result[0].shape.dim[0] == 2 && result[0].shape.dim[1] == s);
    facts[1] = known_ints(1, 2, 1, 3);
    CHECK_OK(infer("Tile", 2, NULL, 0));
    CHECK(result[0].shape.dim[0] == s && result[0].shape.dim[1] == 18);
}

EF_TEST(unknown_values_leave_what_is_certain) {
    facts[0] = open_fact(EF_F32, 2, 4, 6);
    facts[1] = open_fact(EF_I64, 1, 3, 0);
    CHECK_OK(infer("Reshape", 2, NULL, 0));
    CHECK(result[0].shape.rank == 3 && result[0].shape.dim[0] == EF_DIM_UNKNOWN);
    facts[1] = open_fact(EF_I64, 1, EF_DIM_UNKNOWN, 0);
    CHECK_OK(infer("Reshape", 2, NULL, 0));
    CHECK_INT(result[0].shape.rank, -1);
    for (int k = 1; k < 4; k++) facts[k] = open_fact(EF_I64, 1, 1, 0);
    facts[3] = known_ints(3, 1, 1, 0);
    ef_attr_value row[] = {EF_SET_INT("shrink_axis_mask", 1)};
    CHECK_OK(infer("StridedSlice", 4, row, 1)); /* x[i] for any i */
    CHECK(result[0].shape.rank == 1 && result[0].shape.dim[0] == 6);
    facts[1] = open_fact(EF_I32, 1, 5, 0);
    facts[2] = open_fact(EF_I32, 0, 0, 0);
    CHECK_OK(infer("GatherV2", 3, NULL, 0));
    CHECK(result[0].shape.rank == 2 && result[0].shape.dim[0] == EF_DIM_UNKNOWN);
}

/* ---- printing ---------------------------------------------------------------------------------
 */

static char printed[64];
static ef_status *catch_text(const char *stream, const char *text, size_t n) {
    snprintf(printed, sizeof printed, "%s:%.*s", stream, (int)n, text);
    return NULL;
}

EF_TEST(prints_through_the_hook) {
    ef_status *(*usual)(const char *, const char *, size_t) = ef_print_hook;
    put(EF_F32, 1, 2, 1., 2.);
    put(EF_F32, 2, 2, 2, 1., 2.5, 3., 4.);
    ef_attr_value set[] = {EF_SET_STRING("message", "x = ")};
    ef_print_hook = catch_text;
    ef_status *s = run("Print", set, 1);
    ef_print_hook = usual;
    CHECK_OK(s);
    CHECK_TEXT(printed, "stderr:x = [[1 2.5][3...]...]\n");
    check_values(0, 1, 2, 1., 2.);
    reset();
}

EF_TEST(writes_tensors_out) {
    ef_text t = {0};
    put(EF_I32, 2, 2, 5, 0., 1., 2., 3., 4., 5., 6., 7., 8., 9.);
    ef_summary_full(&t, &in[0], 2);
    CHECK_TEXT(t.at, "[[0 1 ... 3 4]\n [5 6 ... 8 9]]");
    ef_text_free(&t);
    reset();
}

int main(void) {
    EF_RUN(errors_say_what);
    EF_RUN(assertion_shows_data);
    EF_RUN(masks);
    EF_RUN(symbolic_dims_stay);
    EF_RUN(unknown_values_leave_what_is_certain);
    EF_RUN(prints_through_the_hook);
    EF_RUN(writes_tensors_out);
    for (int k = 0; k < MAX; k++) ef_tensor_release(&constant[k]);
    return EF_VERDICT();
}
