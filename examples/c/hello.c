/* The smallest program: two tensors, a product, a sum, and an error worth reading. */
#include "example.h"
#include <ef_ops.h>

int main(void) {
    float values[] = {1, 2, 3, 4, 5, 6};
    ef_shape two_by_three = {.rank = 2, .dim = {2, 3}}, three_by_two = {.rank = 2, .dim = {3, 2}};
    ef_tensor a, b, product, sum;
    ok(ef_tensor_from(EF_F32, &two_by_three, values, &a));
    ok(ef_tensor_from(EF_F32, &three_by_two, values, &b));

    ok(ef_do_MatMul(&a, &b, NULL, &product)); /* every op is ef_do_ and TensorFlow's name */
    ok(ef_do_AddV2(&product, &product, &sum));
    const void *data;
    ok(ef_tensor_data(&sum, &data));
    const float *v = data;
    printf("2 * a @ b = [[%g, %g], [%g, %g]]\n", v[0], v[1], v[2], v[3]);

    ef_tensor wrong;
    ef_status *s = ef_do_MatMul(&a, &a, NULL, &wrong);
    printf("a @ a: %s\n", ef_status_message(s));
    ef_status_free(s);

    ef_tensor_release(&a);
    ef_tensor_release(&b);
    ef_tensor_release(&product);
    ef_tensor_release(&sum);
    return 0;
}
