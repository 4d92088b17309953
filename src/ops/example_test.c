/* Examples: the text of a record becomes tensors and attributes. */
#include "check.h"
#include "ops/example.h"

EF_TEST(counts_and_names) {
    char name[200];
    int n = ef_example_count(&ef_op_AddV2);
    CHECK_INT(n, 4 * 14);
    ef_example_name(&ef_op_AddV2, 0, name, sizeof name);
    CHECK_TEXT(name, "AddV2 #0 (float32[2,3] float32[3])");
    ef_example_name(&ef_op_AddV2, 15, name, sizeof name);
    CHECK_TEXT(name, "AddV2 #15 (float64[2,1,3] float64[2,1])");
}

EF_TEST(makes_inputs) {
    for (int k = 0; k < ef_example_count(&ef_op_AddV2); k++) {
        ef_example e;
        CHECK_OK(ef_example_make(&ef_op_AddV2, k, 1, &e));
        CHECK_INT(e.n_in, 2);
        CHECK_INT(e.in[0].dtype, e.in[1].dtype);
        for (int64_t i = 0; i < ef_count(&e.in[0]); i++)
            CHECK(ef_element_double((ef_dtype)e.in[0].dtype, e.in[0].data, i) != 0);
        ef_example_free(&e);
    }
    ef_example e;
    CHECK_FAILS(ef_example_make(&ef_op_AddV2, 10000, 1, &e), EF_OUT_OF_RANGE, "no example 10000");
}

EF_TEST(floats_are_distinct) {
    ef_example e;
    CHECK_OK(ef_example_make(&ef_op_AddV2, 0, 7, &e));
    const float *x = e.in[0].data;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) CHECK(fabsf(x[i] - x[j]) > 0.05F);
    ef_example_free(&e);
}

EF_TEST(widens) {
    ef_example e;
    CHECK_OK(ef_example_make_wide(&ef_op_AddV2, 0, 7, &e));
    CHECK_INT(e.in[0].dtype, EF_F64);
    ef_example_free(&e);
}

int main(void) {
    EF_RUN(counts_and_names);
    EF_RUN(makes_inputs);
    EF_RUN(floats_are_distinct);
    EF_RUN(widens);
    return EF_VERDICT();
}
