#include "check.h"
#include "ops/random/random.h"
#include "ops/state/state_call.h"

static ef_status *uniform(int64_t seed, int64_t seed2, ef_tensor *out) {
    const ef_attr_value set[] = {EF_SET_INT("seed", seed), EF_SET_INT("seed2", seed2),
                                 EF_SET_TYPE("dtype", EF_F32)};
    const int32_t five[] = {5};
    ef_tensor shape = {0};
    EF_TRY(vector(EF_I32, 1, five, &shape));
    ef_status *s = CALL("RandomUniform", set, 3, out, &shape);
    ef_tensor_release(&shape);
    return s;
}

/* The second call continues where the first ended, like TensorFlow's cached kernels. */
EF_TEST(calls_continue_the_stream) {
    static const uint32_t first[] = {0x3ED0133C, 0x3F5B8BA6, 0x3D62E6C0, 0x3DAFDDD0, 0x3ED305CC};
    static const uint32_t second[] = {0x3E23AA70, 0x3EC853B8, 0x3F73CF7C, 0x3F159926, 0x3F3A178A};
    for (int round = 0; round < 2; round++) {
        ef_tensor a = {0}, b = {0};
        CHECK_OK(uniform(1, 2, &a));
        CHECK_OK(uniform(1, 2, &b));
        CHECK(memcmp(a.data, first, sizeof first) == 0);
        CHECK(memcmp(b.data, second, sizeof second) == 0);
        ef_tensor_release(&a);
        ef_tensor_release(&b);
        ef_random_reset();
    }
}

EF_TEST(no_seeds_no_repetition) {
    ef_tensor a = {0}, b = {0};
    CHECK_OK(uniform(0, 0, &a));
    ef_random_reset();
    CHECK_OK(uniform(0, 0, &b));
    CHECK(memcmp(a.data, b.data, 5 * sizeof(float)) != 0);
    ef_tensor_release(&a);
    ef_tensor_release(&b);
}

/* Positions that are no longer used are evicted: memory does not grow with calls. */
EF_TEST(positions_are_bounded) {
    for (int64_t k = 1; k < 20000; k++) {
        ef_tensor a = {0};
        CHECK_OK(uniform(k, 7, &a));
        ef_tensor_release(&a);
    }
    ef_random_reset();
}

/* Two nodes of a plan with equal seeds have separate streams. */
EF_TEST(nodes_have_their_own_position) {
    const ef_op *op = &ef_op_RandomUniform;
    ef_random_attrs one = {.seed = 1, .seed2 = 2, .dtype = EF_F32}, two = one;
    uint32_t x[3][4]; /* the bits of the floats */
    for (int k = 0; k < 3; k++) {
        const ef_random_attrs *at = k == 1 ? &two : &one;
        int32_t n = 4;
        ef_tensor shape = {.dtype = EF_I32, .rank = 1, .dim = {1}, .data = &n}, *in[] = {&shape};
        ef_tensor out = {.dtype = EF_F32, .rank = 1, .dim = {4}, .data = x[k]}, *outs[] = {&out};
        ef_call c = {.op = op, .attrs = at, .n_in = 1, .n_out = 1, .in = in, .out = outs};
        CHECK_OK(op->kernel[0].prepare(&c, &c.state));
        CHECK_OK(op->kernel[0].run(&c));
        op->kernel[0].release(c.state);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
    CHECK(memcmp(x[0], x[2], sizeof x[0]) != 0);
    ef_random_reset();
}

EF_TEST(bad_bounds_and_generators) {
    const int32_t five[] = {5};
    const uint64_t key[] = {1}, counter[] = {2, 3};
    ef_tensor shape = {0}, low = {0}, high = {0}, k = {0}, at = {0}, alg = {0}, out = {0};
    CHECK_OK(vector(EF_I32, 1, five, &shape));
    CHECK_OK(scalar(EF_I32, 3, &low));
    CHECK_OK(scalar(EF_I32, 3, &high));
    CHECK_FAILS(CALL("RandomUniformInt", NULL, 0, &out, &shape, &low, &high), EF_INVALID,
                "Need minval < maxval, got 3 >= 3");
    CHECK_OK(vector(EF_U64, 1, key, &k));
    CHECK_OK(vector(EF_U64, 2, counter, &at));
    CHECK_OK(scalar(EF_I32, 2, &alg));
    CHECK_FAILS(CALL("StatelessRandomUniformV2", NULL, 0, &out, &shape, &k, &at, &alg), EF_INVALID,
                "Unsupported algorithm id: 2");
    CHECK_FAILS(CALL("StatelessRandomUniformV2", NULL, 0, &out, &shape, &at, &at, &alg), EF_INVALID,
                "key must have shape [1]");
    ef_tensor *all[] = {&shape, &low, &high, &k, &at, &alg};
    for (int j = 0; j < 6; j++) ef_tensor_release(all[j]);
}

int main(void) {
    EF_RUN(calls_continue_the_stream);
    EF_RUN(no_seeds_no_repetition);
    EF_RUN(positions_are_bounded);
    EF_RUN(nodes_have_their_own_position);
    EF_RUN(bad_bounds_and_generators);
    return EF_VERDICT();
}
