/* What is known about lists at planning time. */
#include "check.h"
#include "ops/list/list_fact.h"

static ef_shape two(int64_t a, int64_t b) { return (ef_shape){.rank = 2, .dim = {a, b}}; }

static const ef_op *op(const char *name) { return ef_op_find(name); }

static ef_fact variant(const ef_fact *handle) {
    return (ef_fact){.dtype = EF_VARIANT, .shape = ef_scalar_shape(), .handle = handle};
}

/* Facts of the outputs of an op without attributes; the handle of output 0 is copied to *behind. */
static ef_status *infer(const char *name, const ef_fact *in, int n_in, ef_fact *out,
                        ef_fact *behind) {
    int n_out;
    EF_TRY(ef_op_infer(op(name), NULL, in, n_in, out, 2, &n_out));
    if (out[0].handle != NULL) {
        *behind = *out[0].handle;
        out[0].handle = behind;
    }
    return NULL;
}

EF_TEST(stored_shapes) {
    ef_shape a = two(2, 3), b = two(5, 3), c = {.rank = 1, .dim = {3}};
    ef_list_fact l = {.dtype = EF_F32, .n = 0, .bare = true};
    ef_list_fact_store(&l, &a);
    CHECK(!l.bare && ef_shape_equal(&l.element, &a));
    ef_list_fact_store(&l, &b);
    CHECK_INT(l.element.dim[0], EF_DIM_UNKNOWN);
    CHECK_INT(l.element.dim[1], 3);
    ef_list_fact_store(&l, &c);
    CHECK_INT(l.element.rank, -1);
}

EF_TEST(pushing) {
    ef_fact in[2] = {{.dtype = EF_F32, .shape = two(4, 3)}}, out[2], first, second;
    CHECK_OK(infer("TensorListFromTensor",
                   (ef_fact[]){in[0], {.dtype = EF_I32, .shape = {.rank = 1, .dim = {1}}}}, 2, out,
                   &first));
    ef_list_fact l;
    CHECK(ef_list_fact_get(&out[0], &l));
    CHECK_INT(l.n, 4);
    CHECK_INT(l.element.rank, 1);
    CHECK_INT(l.element.dim[0], 3);
    ef_fact list = variant(&first), item = {.dtype = EF_F32, .shape = {.rank = 1, .dim = {7}}};
    CHECK_OK(infer("TensorListPushBack", (ef_fact[]){list, item}, 2, out, &second));
    CHECK(ef_list_fact_get(&out[0], &l));
    CHECK_INT(l.n, 5);
    CHECK_INT(l.element.dim[0], EF_DIM_UNKNOWN);
    list = variant(NULL);
    CHECK_OK(infer("TensorListPushBack", (ef_fact[]){list, item}, 2, out, &second));
    CHECK(!ef_list_fact_get(&out[0], &l));
}

EF_TEST(joins) {
    bool changed = false;
    ef_fact bare = {.dtype = EF_F32, .shape = {.rank = 0, .dim = {0}}};
    ef_fact one = {.dtype = EF_F32, .shape = two(1, 3)},
            other = {.dtype = EF_F32, .shape = two(1, 4)};
    CHECK(ef_list_fact_widen(&bare, &one, &changed) && changed);
    CHECK_INT(bare.shape.rank, 2);
    CHECK_INT(bare.shape.dim[0], EF_DIM_UNKNOWN);
    CHECK_INT(bare.shape.dim[1], 3);
    changed = false;
    CHECK(ef_list_fact_widen(&bare, &one, &changed) && !changed);
    CHECK(ef_list_fact_widen(&bare, &other, &changed) && changed);
    CHECK_INT(bare.shape.dim[1], EF_DIM_UNKNOWN);
    other.dtype = EF_F64;
    CHECK(!ef_list_fact_widen(&one, &other, &changed));
}

int main(void) {
    EF_RUN(stored_shapes);
    EF_RUN(pushing);
    EF_RUN(joins);
    return EF_VERDICT();
}
