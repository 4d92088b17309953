#include "check.h"
#include "ops/list/list.h"
#include "ops/state/state_call.h"

static const ef_attr_value floats[] = {EF_SET_TYPE("element_dtype", EF_F32)};

/* A list of the rows of a 3 x 2 matrix 0..5. */
static ef_status *three(ef_tensor *out) {
    const float v[] = {0, 1, 2, 3, 4, 5};
    const int32_t row[] = {2};
    ef_tensor x = {0}, shape = {0};
    ef_status *s = ef_tensor_from(EF_F32, &(ef_shape){.rank = 2, .dim = {3, 2}}, v, &x);
    if (s == NULL) s = vector(EF_I32, 1, row, &shape);
    if (s == NULL) s = CALL("TensorListFromTensor", NULL, 0, out, &x, &shape);
    ef_tensor_release(&x);
    ef_tensor_release(&shape);
    return s;
}
static int64_t length(const ef_tensor *t) { return ((ef_list *)t->storage)->n; }

EF_TEST(lists_are_values) {
    ef_tensor l = {0}, item = {0}, longer = {0}, out[2] = {{0}}, any = {0};
    const float v[] = {8, 9};
    CHECK_OK(three(&l));
    CHECK_OK(vector(EF_F32, 2, v, &item));
    CHECK_OK(scalar(EF_I32, -1, &any));
    CHECK_OK(CALL("TensorListPushBack", NULL, 0, &longer, &l, &item));
    CHECK_INT(length(&l), 3);
    CHECK_INT(length(&longer), 4);
    CHECK_OK(CALL("TensorListPopBack", floats, 1, out, &longer, &any));
    CHECK_INT(length(&longer), 4);
    CHECK_INT(length(&out[0]), 3);
    CHECK_NEAR(((float *)out[1].data)[1], 9, 0);
    ef_tensor *all[] = {&l, &item, &longer, &any, &out[0], &out[1]};
    for (int k = 0; k < 6; k++) ef_tensor_release(all[k]);
}

/* The list of the rows of a matrix of 3 rows, which is gone afterwards; *was: its memory. */
static ef_status *rows_of_three(int64_t cols, ef_tensor *out, const char **was) {
    const int32_t row[] = {(int32_t)cols};
    ef_tensor x = {0}, shape = {0};
    ef_status *s = ef_tensor_alloc(&x, EF_F32, &(ef_shape){.rank = 2, .dim = {3, cols}});
    for (int64_t k = 0; s == NULL && k < 3 * cols; k++) ((float *)x.data)[k] = (float)k;
    *was = x.data;
    if (s == NULL) s = vector(EF_I32, 1, row, &shape);
    if (s == NULL) s = CALL("TensorListFromTensor", NULL, 0, out, &x, &shape);
    ef_tensor_release(&x);
    ef_tensor_release(&shape);
    return s;
}

/* Large rows stay in the tensor's memory, which they keep; others are copied. */
EF_TEST(large_rows_of_a_tensor_are_not_copied) {
    for (int64_t cols = 250; cols <= 512; cols += 262) { /* rows of 1000 and of 2048 bytes */
        ef_tensor l = {0}, shorter[2] = {{0}}, any = {0};
        const char *was;
        CHECK_OK(rows_of_three(cols, &l, &was));
        CHECK_OK(scalar(EF_I32, -1, &any));
        CHECK_OK(CALL("TensorListPopBack", floats, 1, shorter, &l, &any));
        ef_tensor_release(&l);
        ef_tensor_release(&shorter[0]);
        const float *last = shorter[1].data;
        CHECK((const char *)last == was + 2 * cols * 4 || cols == 250);
        for (int64_t k = 0; k < cols; k++) CHECK_NEAR(last[k], (float)(2 * cols + k), 0);
        ef_tensor_release(&shorter[1]);
        ef_tensor_release(&any);
    }
}

/* A row that shares its memory with another is not written in place. */
EF_TEST(rows_in_one_memory_are_not_owned) {
    ef_tensor l = {0};
    const char *was;
    CHECK_OK(rows_of_three(512, &l, &was));
    ef_list *rows = (ef_list *)l.storage;
    CHECK(!ef_tensor_owned(&rows->item[0]));
    CHECK_OK(ef_list_resize(rows, 1));
    CHECK(ef_tensor_owned(&rows->item[0]));
    ef_tensor_release(&l);
}

/* A dying input without another owner is changed in place; one with another owner is not. */
EF_TEST(dying_lists_change_in_place) {
    const float v[] = {8, 9};
    ef_tensor l = {0}, item = {0}, out = {.dtype = EF_VARIANT}, held = {0};
    CHECK_OK(three(&l));
    CHECK_OK(vector(EF_F32, 2, v, &item));
    ef_tensor *in[] = {&l, &item}, *outs[] = {&out};
    ef_call c = {
        .op = &ef_op_TensorListPushBack, .n_in = 2, .n_out = 1, .in = in, .out = outs, .dying = 1};
    CHECK_OK(ef_op_TensorListPushBack.kernel[0].run(&c));
    CHECK(out.storage == l.storage);
    CHECK_INT(length(&out), 4);
    ef_tensor_release(&out);
    out.dtype = EF_VARIANT;
    ef_tensor_copy(&held, &l);
    CHECK_OK(ef_op_TensorListPushBack.kernel[0].run(&c));
    CHECK(out.storage != l.storage);
    CHECK_INT(length(&held), 4);
    CHECK_INT(length(&out), 5);
    ef_tensor *all[] = {&l, &item, &out, &held};
    for (int k = 0; k < 4; k++) ef_tensor_release(all[k]);
}

EF_TEST(empty_places_read_as_zeros) {
    ef_tensor n = {0}, shape = {0}, l = {0}, index = {0}, item = {0}, any = {0};
    const int32_t two[] = {2};
    CHECK_OK(scalar(EF_I32, 3, &n));
    CHECK_OK(scalar(EF_I32, 1, &index));
    CHECK_OK(scalar(EF_I32, -1, &any));
    CHECK_OK(vector(EF_I32, 1, two, &shape));
    CHECK_OK(CALL("TensorListReserve", floats, 1, &l, &shape, &n));
    CHECK_OK(CALL("TensorListGetItem", floats, 1, &item, &l, &index, &any));
    CHECK_INT(item.dim[0], 2);
    CHECK_NEAR(((float *)item.data)[1], 0, 0);
    ef_tensor_release(&item);
    ef_tensor_release(&l);
    CHECK_OK(CALL("TensorListReserve", floats, 1, &l, &any, &n));
    CHECK_FAILS(CALL("TensorListGetItem", floats, 1, &item, &l, &index, &any), EF_INVALID,
                "Trying to read an uninitialized tensor");
    CHECK_FAILS(CALL("TensorListGetItem", floats, 1, &item, &l, &n, &any), EF_INVALID,
                "Trying to access element 3 in a list with 3 elements");
    ef_tensor *all[] = {&n, &shape, &l, &index, &any};
    for (int k = 0; k < 5; k++) ef_tensor_release(all[k]);
}

EF_TEST(lists_add_up) {
    ef_tensor a = {0}, b = {0}, sum = {0}, zeros = {0};
    CHECK_OK(three(&a));
    CHECK_OK(three(&b));
    CHECK_OK(ef_list_add(&a, &b, &sum));
    CHECK_NEAR(((float *)((ef_list *)sum.storage)->item[2].data)[1], 10, 0);
    CHECK_OK(ef_list_zeros_like(&a, &zeros));
    CHECK_NEAR(((float *)((ef_list *)zeros.storage)->item[2].data)[1], 0, 0);
    CHECK_OK(ef_list_resize((ef_list *)b.storage, 2));
    ef_tensor none = {0};
    CHECK_FAILS(ef_list_add(&a, &b, &none), EF_INVALID, "two lists of 3 and 2 elements");
    ef_tensor *all[] = {&a, &b, &sum, &zeros};
    for (int k = 0; k < 4; k++) ef_tensor_release(all[k]);
}

/* Each allocation of a push fails in turn: it returns a status, and the list is unchanged. */
EF_TEST(failures_leave_the_list_alone) {
    ef_tensor l = {0}, item = {0};
    const float v[] = {8, 9};
    CHECK_OK(three(&l));
    CHECK_OK(vector(EF_F32, 2, v, &item));
    for (uint64_t k = 1; k < 50; k++) {
        ef_tensor out = {0};
        ef_alloc_fail_at(k);
        ef_status *s = CALL("TensorListPushBack", NULL, 0, &out, &l, &item);
        bool happened = ef_alloc_failed();
        ef_alloc_fail_at(0);
        CHECK_INT(length(&l), 3);
        if (happened && s != NULL)
            ef_status_free(s);
        else
            CHECK_OK(s);
        ef_tensor_release(&out);
    }
    ef_tensor_release(&l);
    ef_tensor_release(&item);
}

int main(void) {
    EF_RUN(lists_are_values);
    EF_RUN(large_rows_of_a_tensor_are_not_copied);
    EF_RUN(rows_in_one_memory_are_not_owned);
    EF_RUN(dying_lists_change_in_place);
    EF_RUN(empty_places_read_as_zeros);
    EF_RUN(lists_add_up);
    EF_RUN(failures_leave_the_list_alone);
    return EF_VERDICT();
}
