/* Moving blocks: random blocks of every element size against a plain index computation; sums onto
 * repeated elements; strings; gathering rows; equal slices. */
#include "base/alloc.h"
#include "check.h"
#include "kernels/block.h"
#include "kernels/block_add.h"
#include "kernels/distinct.h"
#include "kernels/gather.h"
#include "tensor/tensor.h"

enum { MOST = 1 << 16 };
static unsigned char from[MOST * 16], to[MOST * 16], want[MOST * 16];
static uint64_t seed = 7;
static int64_t draw(int64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* A permutation of the axes of a dense array, some of them reversed, repeated or truncated. */
static void random_block(ef_block *b, int64_t *first) {
    int64_t dim[5], step[5];
    int rank = 1 + (int)draw(5), order[5];
    for (int d = 0; d < rank; d++) {
        dim[d] = 1 + draw(rank > 3 ? 6 : rank > 1 ? 30 : 3000);
        order[d] = d;
    }
    ef_dense_steps(rank, dim, step);
    for (int d = rank - 1; d > 0; d--) {
        int k = (int)draw(d + 1), t = order[d];
        order[d] = order[k];
        order[k] = t;
    }
    b->rank = 0;
    *first = 0;
    int64_t out = 1, steps[5];
    for (int d = rank - 1; d >= 0; d--) {
        steps[d] = out;
        out *= dim[order[d]];
    }
    for (int d = 0; d < rank; d++) {
        int64_t n = dim[order[d]], s = step[order[d]];
        int way = (int)draw(6);
        if (way == 0) *first += (n - 1) * s;
        ef_block_axis(b, n, way == 0 ? -s : way == 1 ? 0 : s, steps[d]);
    }
}

static void copy_plainly(const ef_block *b, size_t size, int64_t first) {
    int64_t at[EF_BLOCK_RANK] = {0}, f = first, t = 0;
    for (;;) {
        memcpy(want + (size_t)t * size, from + (size_t)f * size, size);
        int d = b->rank - 1;
        for (; d >= 0; d--) {
            f += b->from[d];
            t += b->to[d];
            if (++at[d] < b->dim[d]) break;
            f -= b->dim[d] * b->from[d];
            t -= b->dim[d] * b->to[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

EF_TEST(moves_blocks) {
    static const ef_dtype types[5] = {EF_U8, EF_F16, EF_F32, EF_F64, EF_C128};
    for (size_t k = 0; k < sizeof from; k++) from[k] = (unsigned char)draw(256);
    for (int trial = 0; trial < 600; trial++) {
        ef_dtype t = types[trial % 5];
        size_t size = ef_dtype_size(t);
        ef_block b;
        int64_t first;
        random_block(&b, &first);
        memset(to, 0, sizeof to);
        memset(want, 0, sizeof want);
        copy_plainly(&b, size, first);
        CHECK_OK(ef_block_copy(t, to, from + (size_t)first * size, &b));
        CHECK(memcmp(to, want, sizeof to) == 0);
    }
}

EF_TEST(moves_large_transposes) {
    for (int n = 200; n < 260; n += 17) {
        ef_block b = {.rank = 2, .dim = {n, 255}, .from = {1, n}, .to = {255, 1}};
        memset(want, 0, sizeof want);
        memset(to, 0, sizeof to);
        copy_plainly(&b, 4, 0);
        CHECK_OK(ef_block_copy(EF_F32, to, from, &b));
        CHECK(memcmp(to, want, sizeof to) == 0);
    }
}

EF_TEST(empty_and_single) {
    ef_block b = {.rank = 2, .dim = {3, 0}, .from = {0, 1}, .to = {0, 1}}, one = {.rank = 0};
    float x = 3, y = 0;
    CHECK_OK(ef_block_copy(EF_F32, &y, &x, &b));
    CHECK(y == 0);
    CHECK_OK(ef_block_copy(EF_F32, &y, &x, &one));
    CHECK(y == 3);
}

EF_TEST(copies_strings_deeply) {
    ef_str in[3] = {{0}}, out[3] = {{0}};
    ef_block back = {.rank = 1, .dim = {3}, .from = {-1}, .to = {1}};
    CHECK_OK(ef_str_set(&in[0], "one", 3));
    CHECK_OK(ef_str_set(&in[2], "three", 5));
    CHECK_OK(ef_block_copy(EF_STRING, out, in + 2, &back));
    CHECK(out[0].n == 5 && out[0].at != in[2].at && memcmp(out[0].at, "three", 5) == 0);
    CHECK_INT(out[1].n, 0);
    ef_alloc_fail_at(1);
    ef_status *s = ef_block_copy(EF_STRING, out, in,
                                 &(ef_block){.rank = 1, .dim = {3}, .from = {1}, .to = {1}});
    ef_alloc_fail_at(0);
    CHECK_FAILS(s, EF_NO_MEMORY, "");
    for (int k = 0; k < 3; k++) {
        CHECK_OK(ef_str_set(&in[k], NULL, 0));
        CHECK_OK(ef_str_set(&out[k], NULL, 0));
    }
}

EF_TEST(fills) {
    float v = 2.5f, out[5000];
    CHECK_OK(ef_fill_elements(EF_F32, out, &v, 5000));
    for (int k = 0; k < 5000; k++) CHECK(out[k] == 2.5f);
    CHECK_OK(ef_zero_elements(EF_F32, out, 4999));
    for (int k = 0; k < 4999; k++) CHECK(out[k] == 0);
    CHECK(out[4999] == 2.5f);
}

EF_TEST(adds_repeated) {
    float in[12], out[3] = {0};
    ef_block tiles = {.rank = 2, .dim = {4, 3}, .from = {3, 1}, .to = {0, 1}};
    for (int k = 0; k < 12; k++) in[k] = (float)k;
    ef_block_add(EF_F32, out, in, &tiles);
    CHECK(out[0] == 18 && out[1] == 22 && out[2] == 26);
    ef_f16 half[12], sum[3];
    float wide[3] = {0};
    for (int k = 0; k < 12; k++) half[k] = ef_float_f16((float)k);
    ef_block_add(EF_F16, wide, half, &tiles);
    ef_round_sums(EF_F16, sum, wide, 3);
    CHECK(ef_f16_float(sum[2]) == 26);
}

EF_TEST(gathers_rows) {
    int32_t index[4] = {2, 0, 2, 1};
    int64_t wide[2] = {1, 5};
    float params[6] = {0, 1, 2, 3, 4, 5}, out[8];
    ef_gather_job g = {EF_F32, EF_I32, 1, 1, 4, 3, 2, params, index, out};
    CHECK_OK(ef_gather(&g));
    CHECK(out[0] == 4 && out[1] == 5 && out[2] == 0 && out[7] == 3);
    CHECK_INT(ef_index_outside(EF_I32, index, 4, 3), -1);
    CHECK_INT(ef_index_outside(EF_I32, index, 4, 2), 0);
    CHECK_INT(ef_index_outside(EF_I64, wide, 2, 5), 1);
    ef_gather_job batched = {EF_F32, EF_I32, 2, 1, 2, 3, 1, params, index, out};
    CHECK_OK(ef_gather(&batched));
    CHECK(out[0] == 2 && out[1] == 0 && out[2] == 5 && out[3] == 4);
}

EF_TEST(finds_equal_slices) {
    double x[6] = {0.0, NAN, -0.0, 1, NAN, 1};
    int64_t expect[6] = {-1, -1, 0, -1, -1, 3};
    static int64_t memory[64];
    ef_slices_of all = {EF_F64, x, 1, 6, 1};
    ef_distinct set;
    CHECK(ef_distinct_bytes(6) <= sizeof memory);
    ef_distinct_init(&set, memory, 6);
    for (int64_t k = 0; k < 6; k++) CHECK_INT(ef_distinct_add(&set, &all, k), expect[k]);
    double y[1] = {1};
    ef_slices_of other = {EF_F64, y, 1, 1, 1};
    CHECK_INT(ef_distinct_find(&set, &all, &other, 0), 3);
}

int main(void) {
    EF_RUN(moves_blocks);
    EF_RUN(moves_large_transposes);
    EF_RUN(empty_and_single);
    EF_RUN(copies_strings_deeply);
    EF_RUN(fills);
    EF_RUN(adds_repeated);
    EF_RUN(gathers_rows);
    EF_RUN(finds_equal_slices);
    return EF_VERDICT();
}
