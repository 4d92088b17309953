/* Sixteen blocks run through the ten rounds in parallel, so that the compiler can vectorise the
 * multiplications. */
#include "kernels/philox.h"

enum { LANES = 16, ROUNDS = 10 };
static const uint32_t M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;

/* The blocks `skip[i]` after that of g. */
static void lanes(const ef_philox *g, const uint64_t *skip, uint32_t *out) {
    uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t low = g->low + skip[i], high = g->high + (low < g->low);
        c0[i] = (uint32_t)low;
        c1[i] = (uint32_t)(low >> 32);
        c2[i] = (uint32_t)high;
        c3[i] = (uint32_t)(high >> 32);
    }
    uint32_t k0 = (uint32_t)g->key, k1 = (uint32_t)(g->key >> 32);
    for (int r = 0; r < ROUNDS; r++, k0 += W0, k1 += W1) {
        _Pragma("omp simd") for (int i = 0; i < LANES; i++) {
            uint64_t p0 = (uint64_t)M0 * c0[i], p1 = (uint64_t)M1 * c2[i];
            c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
            c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
            c1[i] = (uint32_t)p1;
            c3[i] = (uint32_t)p0;
        }
    }
    for (int i = 0; i < LANES; i++) {
        out[4 * i] = c0[i];
        out[4 * i + 1] = c1[i];
        out[4 * i + 2] = c2[i];
        out[4 * i + 3] = c3[i];
    }
}

static void single(const ef_philox *g, uint32_t *out) {
    uint32_t c0 = (uint32_t)g->low, c1 = (uint32_t)(g->low >> 32);
    uint32_t c2 = (uint32_t)g->high, c3 = (uint32_t)(g->high >> 32);
    uint32_t k0 = (uint32_t)g->key, k1 = (uint32_t)(g->key >> 32);
    for (int r = 0; r < ROUNDS; r++, k0 += W0, k1 += W1) {
        uint64_t p0 = (uint64_t)M0 * c0, p1 = (uint64_t)M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void ef_philox_at(const ef_philox *g, const uint64_t *skip, uint32_t *out, int64_t n) {
    for (; n >= LANES; n -= LANES, skip += LANES, out += 4 * LANES) lanes(g, skip, out);
    for (; n > 0; n--, skip++, out += 4) {
        ef_philox one = *g;
        ef_philox_skip(&one, *skip);
        single(&one, out);
    }
}

void ef_philox_blocks(ef_philox *g, uint32_t *out, int64_t n) {
    static const uint64_t next[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (; n > 0; n -= LANES, out += 4 * LANES) {
        int64_t m = n < LANES ? n : LANES;
        ef_philox_at(g, next, out, m);
        ef_philox_skip(g, (uint64_t)m);
    }
}

ef_philox ef_philox_scrambled(uint64_t seed, uint64_t seed2) {
    ef_philox g = {.key = 0x02461E293EC8F720u, .low = seed, .high = seed2};
    uint32_t mix[4];
    single(&g, mix);
    return (ef_philox){
        .key = mix[0] | (uint64_t)mix[1] << 32, .low = 0, .high = mix[2] | (uint64_t)mix[3] << 32};
}
