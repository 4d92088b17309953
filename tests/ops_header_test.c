/* The generated header at work: typed functions for ops of every form. */
#include "check.h"
#include "ef_ops.h"

static void vector(ef_tensor *t, int n, float first) {
    float v[16];
    ef_shape s = {.rank = 1, .dim = {n}};
    for (int k = 0; k < n; k++) v[k] = first + (float)k;
    CHECK_OK(ef_tensor_from(EF_F32, &s, v, t));
}

static float at(const ef_tensor *t, int k) {
    const void *data = NULL;
    ef_status *s = ef_tensor_data(t, &data);
    ef_status_free(s);
    return s ? NAN : ((const float *)data)[k];
}

EF_TEST(plain_ops) {
    ef_tensor x, y, z;
    vector(&x, 3, 1);
    vector(&y, 3, 10);
    CHECK_OK(ef_do_AddV2(&x, &y, &z));
    CHECK_NEAR(at(&z, 2), 15, 0);
    ef_tensor_release(&z);
    CHECK_OK(ef_do_AddV2(&x, &y, NULL)); /* the result is dropped */
    ef_tensor_release(&x);
    ef_tensor_release(&y);
}

EF_TEST(options) {
    float v[] = {1, 2, 3, 4, 5, 6};
    ef_shape s = {.rank = 2, .dim = {2, 3}};
    ef_tensor a, product;
    ef_MatMul_options o = ef_MatMul_default();
    CHECK_OK(ef_tensor_from(EF_F32, &s, v, &a));
    CHECK(!o.transpose_a && !o.transpose_b);
    CHECK_FAILS(ef_do_MatMul(&a, &a, NULL, &product), EF_INVALID, "MatMul");
    o.transpose_b = true;
    CHECK_OK(ef_do_MatMul(&a, &a, &o, &product));
    CHECK_NEAR(at(&product, 1), 32, 0);
    ef_tensor_release(&product);
    ef_tensor_release(&a);
}

EF_TEST(several_inputs_and_outputs) {
    int32_t zero = 0;
    ef_tensor x, y, axis, joined, parts[2], r0 = {0}, r1 = {0}, shape;
    vector(&x, 2, 1);
    vector(&y, 2, 5);
    CHECK_OK(ef_tensor_from(EF_I32, NULL, &zero, &axis));
    const ef_tensor *both[] = {&x, &y};
    CHECK_OK(ef_do_ConcatV2(both, 2, &axis, &joined));
    CHECK_NEAR(at(&joined, 3), 6, 0);
    int n = 0;
    CHECK_OK(ef_do_Split(&axis, &joined, 2, parts, 2, &n));
    CHECK_INT(n, 2);
    CHECK_NEAR(at(&parts[1], 0), 5, 0);
    CHECK_OK(ef_do_Shape(&x, NULL, &shape));
    CHECK_OK(ef_do_BroadcastGradientArgs(&shape, &shape, &r0, &r1));
    CHECK_INT(r0.dtype, EF_I32);
    CHECK_INT(ef_tensor_count(&r1), 0);
    ef_tensor *all[] = {&x, &y, &axis, &joined, &parts[0], &parts[1], &shape, &r0, &r1};
    for (int j = 0; j < 9; j++) ef_tensor_release(all[j]);
}

int main(void) {
    EF_RUN(plain_ops);
    EF_RUN(options);
    EF_RUN(several_inputs_and_outputs);
    return EF_VERDICT();
}
