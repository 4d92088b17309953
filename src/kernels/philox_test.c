#include "check.h"
#include "kernels/philox.h"

/* The authors' own test vectors (Random123, kat_vectors). */
EF_TEST(gives_the_known_answers) {
    static const struct {
        ef_philox g;
        uint32_t out[4];
    } known[] = {
        {{0, 0, 0}, {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}},
        {{0x299F31D0A4093822u, 0x85A308D3243F6A88u, 0x0370734413198A2Eu},
         {0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ef_philox g = known[k].g;
        uint32_t out[4];
        ef_philox_blocks(&g, out, 1);
        for (int i = 0; i < 4; i++) CHECK_INT(out[i], known[k].out[i]);
    }
}

EF_TEST(many_blocks_are_single_blocks) {
    ef_philox all = {3, UINT64_MAX - 20, UINT64_MAX}, one = all; /* the counter overflows */
    uint32_t many[4 * 50], few[4];
    ef_philox_blocks(&all, many, 50);
    for (int k = 0; k < 50; k++) {
        ef_philox_blocks(&one, few, 1);
        for (int i = 0; i < 4; i++) CHECK_INT(many[4 * k + i], few[i]);
    }
    CHECK(all.low == one.low && all.high == one.high && all.high == 0);
}

EF_TEST(blocks_anywhere_are_those_of_the_stream) {
    ef_philox all = {3, UINT64_MAX - 5000, 7}; /* the low half overflows */
    uint32_t many[4 * 50], few[4];
    uint64_t skip[50];
    for (uint64_t k = 0; k < 50; k++) skip[k] = k * k * 256 % 12345;
    ef_philox_at(&all, skip, many, 50);
    for (int k = 0; k < 50; k++) {
        ef_philox one = all;
        ef_philox_skip(&one, skip[k]);
        ef_philox_blocks(&one, few, 1);
        for (int i = 0; i < 4; i++) CHECK_INT(many[4 * k + i], few[i]);
    }
}

EF_TEST(skipping_is_drawing) {
    ef_philox a = {9, UINT64_MAX - 2, 5}, b = a;
    uint32_t x[4 * 7], y[4];
    ef_philox_blocks(&a, x, 7);
    ef_philox_skip(&b, 6);
    ef_philox_blocks(&b, y, 1);
    for (int i = 0; i < 4; i++) CHECK_INT(x[24 + i], y[i]);
    ef_philox_each each = ef_philox_one_by_one((ef_philox){9, UINT64_MAX - 2, 5});
    for (int i = 0; i < 28; i++) CHECK_INT(ef_philox_next(&each), x[i]);
}

int main(void) {
    EF_RUN(gives_the_known_answers);
    EF_RUN(many_blocks_are_single_blocks);
    EF_RUN(blocks_anywhere_are_those_of_the_stream);
    EF_RUN(skipping_is_drawing);
    return EF_VERDICT();
}
