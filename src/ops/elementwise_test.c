/* The driver against a plain loop, over many kinds of broadcasting. */
#include "check.h"
#include "ops/elementwise.h"
#include <stdlib.h>

static void add3(void *out, const void *const *in, int64_t n, unsigned scalars, const void *attrs) {
    const float *x = in[0], *y = in[1], *z = in[2];
    float *o = out;
    (void)attrs;
    for (int64_t i = 0; i < n; i++)
        o[i] = x[scalars & 1 ? 0 : i] + 10 * y[scalars & 2 ? 0 : i] - z[scalars & 4 ? 0 : i];
}

static void fill(ef_tensor *t, int k) {
    float *p = t->data;
    for (int64_t i = 0; i < ef_count(t); i++) p[i] = (float)((i * 7 + k * 3) % 101);
}

/* The element of t that output index i (row by row) sees. */
static float at(const ef_tensor *t, const ef_tensor *out, int64_t i) {
    int64_t index = 0, step = 1;
    for (int d = out->rank - 1; d >= 0; d--) {
        int own = d - (out->rank - t->rank);
        int64_t here = i % out->dim[d];
        i /= out->dim[d];
        if (own < 0) continue;
        if (t->dim[own] != 1) index += here * step;
        step *= t->dim[own];
    }
    return ((const float *)t->data)[index];
}

static void compare(const ef_shape *s, const ef_shape *result) {
    ef_tensor in[3] = {{0}}, out = {0};
    ef_tensor *ins[3];
    for (int k = 0; k < 3; k++) {
        CHECK_OK(ef_tensor_alloc(&in[k], EF_F32, &s[k]));
        fill(&in[k], k);
        ins[k] = &in[k];
    }
    CHECK_OK(ef_tensor_alloc(&out, EF_F32, result));
    ef_elementwise(add3, NULL, 3, ins, &out);
    int64_t wrong = -1;
    for (int64_t i = 0; i < ef_count(&out) && wrong < 0; i++) {
        float want = at(&in[0], &out, i) + 10 * at(&in[1], &out, i) - at(&in[2], &out, i);
        if (((float *)out.data)[i] != want) wrong = i;
    }
    for (int k = 0; k < 3; k++) ef_tensor_release(&in[k]);
    ef_tensor_release(&out);
    if (wrong >= 0) printf("%s: element %lld is wrong\n", EF_SHAPE(result), (long long)wrong);
    CHECK_INT(wrong, -1);
}

EF_TEST(broadcasts_at_random) {
    static const int64_t sizes[] = {1, 1, 2, 3, 5, 7, 40, 130};
    srand(1);
    for (int round = 0; round < 3000 && !ef_check.failed; round++) {
        ef_shape out = {.rank = rand() % 6}, s[3];
        int64_t count = 1;
        for (int d = 0; d < out.rank; d++) {
            out.dim[d] = sizes[rand() % 8];
            if (count * out.dim[d] > 200000) out.dim[d] = 1;
            count *= out.dim[d];
        }
        for (int k = 0; k < 3; k++) {
            int lead = k == 0 ? 0 : rand() % (out.rank + 1);
            s[k] = (ef_shape){.rank = out.rank - lead};
            for (int d = 0; d < s[k].rank; d++)
                s[k].dim[d] = k > 0 && rand() % 3 == 0 ? 1 : out.dim[lead + d];
        }
        compare(s, &out);
    }
}

EF_TEST(bias_over_few_channels) {
    ef_shape out = {.rank = 4, .dim = {8, 33, 31, 3}};
    ef_shape s[] = {out, {.rank = 1, .dim = {3}}, {.rank = 4, .dim = {8, 33, 31, 1}}};
    compare(s, &out);
    ef_shape big = {.rank = 2, .dim = {100000, 3}};
    ef_shape t[] = {big, {.rank = 1, .dim = {3}}, {.rank = 2, .dim = {100000, 1}}};
    compare(t, &big);
}

EF_TEST(empty) {
    ef_shape out = {.rank = 2, .dim = {0, 3}};
    ef_shape s[] = {out, {.rank = 1, .dim = {3}}, {.rank = 0}};
    compare(s, &out);
}

int main(void) {
    EF_RUN(broadcasts_at_random);
    EF_RUN(bias_over_few_channels);
    EF_RUN(empty);
    return EF_VERDICT();
}
