/* Checks of calls: notation, counts, dtypes, error texts, and the time that a valid call takes. */
#include "base/clock.h"
#include "check.h"
#include "ops/elementwise.h"
#include "ops/signature.h"

static ef_fact fact(ef_dtype t, int rank, int64_t a, int64_t b) {
    return (ef_fact){.dtype = t, .shape = {.rank = rank, .dim = {a, b}}};
}

EF_TEST(finds_ops) {
    CHECK(ef_op_find("AddV2") == &ef_op_AddV2);
    CHECK(ef_op_find("NoSuchOp") == NULL);
    CHECK(ef_op_find(NULL) == NULL);
    for (int id = 0; id < EF_OP_COUNT; id++)
        CHECK(ef_op_find(ef_op_table[id]->name) == ef_op_table[id]);
}

typedef struct {
    int64_t n;
    ef_dtype dtype;
    ef_types types;
} test_attrs;

EF_TEST(parses_notation) {
    static const ef_op op = {
        .name = "Test",
        .in = {"axis: int32", "values: N * T", "args: Tin", "x: dtype"},
        .out = {"y: N * T", "z: Tout", "w: Ti"},
        .types =
            "T: {float, double}; Tin: list(type) >= 1; Ti: {int32, int64} = int64; N: int >= 2",
        .attr = {EF_ATTR(test_attrs, dtype, "{half, float}", "float"),
                 {"Tout", "list(type) >= 1", NULL, offsetof(test_attrs, types)}},
    };
    ef_signature s;
    CHECK(ef_signature_parse(&op, &s) == NULL);
    CHECK_INT(s.n_in, 4);
    CHECK_INT(s.n_out, 3);
    CHECK_INT(s.n_vars, 3);
    CHECK_INT(s.in[0].fixed, EF_I32);
    CHECK_INT(s.in[1].type_var, 0);
    CHECK_INT(s.in[1].count_attr, 0);
    CHECK(s.in[2].is_list && s.variadic);
    CHECK_INT(s.in[3].type_attr, 0);
    CHECK_INT(s.out[1].type_attr, 1);
    CHECK_INT(s.var[0].set, EF_BIT(F32) | EF_BIT(F64));
    CHECK_INT(s.var[1].min, 1);
    CHECK_INT(s.var[2].otherwise, EF_I64);
    CHECK_INT(s.count[0].min, 2);
    CHECK_INT(s.attr[0].set, EF_BIT(F16) | EF_BIT(F32));
    CHECK_INT(s.key_in, 1);
}

EF_TEST(refuses_bad_notation) {
    static const ef_op bad[] = {
        {.name = "A", .in = {"x T"}},
        {.name = "B", .in = {"x: T"}},
        {.name = "C", .in = {"x: T"}, .types = "T: {float, flat}"},
        {.name = "D", .out = {"x: T"}, .types = "T: {float, double}"},
        {.name = "E", .in = {"x: T"}, .types = "T: {float, double"},
        {.name = "F", .attr = {{"a", "integer", NULL, 0}}},
    };
    ef_signature s;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) CHECK(ef_signature_parse(&bad[k], &s));
}

EF_TEST(infers_and_refuses) {
    ef_fact in[3] = {fact(EF_F32, 2, 2, 3), fact(EF_F32, 1, 3, 0)}, out[1];
    int n = 0;
    CHECK_OK(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n));
    CHECK_INT(n, 1);
    CHECK_INT(out[0].dtype, EF_F32);
    CHECK_INT(out[0].shape.rank, 2);
    CHECK_INT(out[0].shape.dim[1], 3);
    in[1].dtype = EF_I32;
    CHECK_FAILS(
        ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n), EF_INVALID,
        "AddV2: x is float32 but y is int32; both must have the same dtype (cast one of them)");
    in[0].dtype = EF_BOOL;
    CHECK_FAILS(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n), EF_INVALID,
                "AddV2: x is bool; it must be one of float32, float64, int32");
    CHECK_FAILS(ef_op_infer(&ef_op_AddV2, NULL, in, 3, out, 1, &n), EF_INVALID,
                "AddV2: takes 2 inputs (x, y) but got 3");
    in[0] = fact(EF_F32, 1, 2, 0);
    in[1] = fact(EF_F32, 1, 3, 0);
    CHECK_FAILS(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n), EF_INVALID,
                "AddV2: Incompatible shapes: [2] and [3]");
    in[0].dtype = (ef_dtype)99;
    CHECK_FAILS(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n), EF_INVALID, "x is no dtype");
    CHECK_FAILS(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 0, &n), EF_INVALID, "room for 0");
}

EF_TEST(shapes_come_before_types_without_kernels) {
    ef_fact in[] = {fact(EF_I32, 1, 2, 0), fact(EF_I32, 1, 3, 0)}, out[1];
    int n = 0;
    CHECK_FAILS(ef_op_infer(&ef_op_RealDiv, NULL, in, 2, out, 1, &n), EF_INVALID,
                "RealDiv: Incompatible shapes: [2] and [3]");
    in[1] = in[0];
    CHECK_FAILS(ef_op_infer(&ef_op_RealDiv, NULL, in, 2, out, 1, &n), EF_NOT_FOUND,
                "RealDiv: x is int32; it must be one of");
    in[1].dtype = EF_I64;
    CHECK_FAILS(ef_op_infer(&ef_op_RealDiv, NULL, in, 2, out, 1, &n), EF_INVALID,
                "RealDiv: x is int32; it must be one of");
}

EF_TEST(unknown_shapes_pass) {
    ef_fact in[2] = {fact(EF_F32, -1, 0, 0), fact(EF_F32, 1, 3, 0)}, out[1];
    int n;
    CHECK_OK(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n));
    CHECK_INT(out[0].shape.rank, -1);
    in[0] = fact(EF_F32, 2, ef_dim_symbol(0), EF_DIM_UNKNOWN);
    CHECK_OK(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n));
    CHECK_INT(out[0].shape.dim[0], ef_dim_symbol(0));
    CHECK_INT(out[0].shape.dim[1], 3);
}

EF_TEST(reads_values) {
    ef_attr_value v;
    ef_attr_room room;
    ef_attr_info info;
    CHECK(ef_attr_info_parse("string", &info) == NULL);
    CHECK(ef_attr_text_parse(&info, "'a\\n\\'b\\\\n'", &v, &room) == NULL);
    CHECK_TEXT(v.as.s, "a\n'b\\n");
    CHECK(ef_attr_text_parse(&info, "'open", &v, &room) != NULL);
    CHECK(ef_attr_text_parse(&info, "'open\\", &v, &room) != NULL);
    CHECK(ef_attr_info_parse("list(float) >= 2", &info) == NULL);
    CHECK(info.bounded && info.min == 2);
    CHECK(ef_attr_text_parse(&info, "[1, 2.5,-3e2]", &v, &room) == NULL);
    CHECK_INT(v.n, 3);
    CHECK_NEAR(v.as.floats[2], -300, 0);
    CHECK(ef_attr_text_parse(&info, "[1, 2", &v, &room) != NULL);
    CHECK(ef_attr_info_parse("shape", &info) == NULL);
    CHECK(ef_attr_text_parse(&info, "[2, ?, -1]", &v, &room) == NULL);
    CHECK_INT(v.as.shape->dim[1], EF_DIM_UNKNOWN);
    CHECK(ef_attr_text_parse(&info, "{ unknown_rank: true }", &v, &room) == NULL);
    CHECK_INT(v.as.shape->rank, -1);
}

/* The time is printed but not checked: the machine may be busy. */
EF_TEST(is_quick) {
    ef_fact in[2] = {fact(EF_F32, 2, 2, 3), fact(EF_F32, 2, 2, 3)}, out[1];
    ef_tensor a = {0}, b = {0}, c = {0};
    ef_shape s = ef_scalar_shape();
    int n, rounds = 1000000;
    CHECK_OK(ef_tensor_alloc(&a, EF_F32, &s));
    CHECK_OK(ef_tensor_alloc(&b, EF_F32, &s));
    CHECK_OK(ef_tensor_alloc(&c, EF_F32, &s));
    *(float *)a.data = *(float *)b.data = 1;
    ef_tensor *const ins[] = {&a, &b}, *const outs[] = {&c};
    ef_call call = {.op = &ef_op_AddV2, .n_in = 2, .n_out = 1, .in = ins, .out = outs};
    uint64_t t0 = ef_now_ns();
    for (int k = 0; k < rounds; k++) CHECK_OK(ef_op_infer(&ef_op_AddV2, NULL, in, 2, out, 1, &n));
    uint64_t t1 = ef_now_ns();
    for (int k = 0; k < rounds; k++) CHECK_OK(ef_run_elementwise(&call));
    uint64_t t2 = ef_now_ns();
    printf("infer %.1f ns, scalar add %.1f ns\n", (double)(t1 - t0) / rounds,
           (double)(t2 - t1) / rounds);
}

int main(void) {
    EF_RUN(finds_ops);
    EF_RUN(parses_notation);
    EF_RUN(refuses_bad_notation);
    EF_RUN(infers_and_refuses);
    EF_RUN(shapes_come_before_types_without_kernels);
    EF_RUN(unknown_shapes_pass);
    EF_RUN(reads_values);
    EF_RUN(is_quick);
    return EF_VERDICT();
}
