/* The published algorithms, with little-endian byte order. */
#include "kernels/fingerprint.h"
#include <string.h>

typedef const unsigned char *bytes;
static uint64_t read64(bytes p) {
    uint64_t v = 0;
    for (int k = 7; k >= 0; k--) v = v << 8 | p[k];
    return v;
}
static uint64_t read32(bytes p) {
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}
static uint64_t turn_right(uint64_t v, int k) { return v >> k | v << (64 - k); }

/* ---- FarmHash: five cases by length ---------------------------------------------------------- */

static const uint64_t k0 = 0xC3A5C85C97CB3127u, k1 = 0xB492B66FBE98F273u, k2 = 0x9AE16A3B2F90404Fu;

static uint64_t shift_mix(uint64_t v) { return v ^ v >> 47; }
static uint64_t join(uint64_t u, uint64_t v, uint64_t mul) {
    uint64_t a = shift_mix((u ^ v) * mul);
    return shift_mix((v ^ a) * mul) * mul;
}

static uint64_t up_to_16(bytes p, size_t n) {
    uint64_t mul = k2 + n * 2;
    if (n >= 8) {
        uint64_t a = read64(p) + k2, b = read64(p + n - 8);
        return join(turn_right(b, 37) * mul + a, (turn_right(a, 25) + b) * mul, mul);
    }
    if (n >= 4) return join(n + (read32(p) << 3), read32(p + n - 4), mul);
    if (n == 0) return k2;
    uint64_t y = (uint64_t)p[0] + ((uint64_t)p[n >> 1] << 8), z = n + ((uint64_t)p[n - 1] << 2);
    return shift_mix(y * k2 ^ z * k0) * k2;
}

static uint64_t up_to_32(bytes p, size_t n) {
    uint64_t mul = k2 + n * 2, a = read64(p) * k1, b = read64(p + 8);
    uint64_t c = read64(p + n - 8) * mul, d = read64(p + n - 16) * k2;
    return join(turn_right(a + b, 43) + turn_right(c, 30) + d, a + turn_right(b + k2, 18) + c, mul);
}

static uint64_t up_to_64(bytes p, size_t n) {
    uint64_t mul = k2 + n * 2, a = read64(p) * k2, b = read64(p + 8);
    uint64_t c = read64(p + n - 8) * mul, d = read64(p + n - 16) * k2;
    uint64_t y = turn_right(a + b, 43) + turn_right(c, 30) + d;
    uint64_t z = join(y, a + turn_right(b + k2, 18) + c, mul);
    uint64_t e = read64(p + 16) * mul, f = read64(p + 24);
    uint64_t g = (y + read64(p + n - 32)) * mul, h = (z + read64(p + n - 24)) * mul;
    return join(turn_right(e + f, 43) + turn_right(g, 30) + h, e + turn_right(f + a, 18) + g, mul);
}

typedef struct {
    uint64_t x, y, z, v[2], w[2];
} farm;

static void fold32(bytes p, uint64_t a, uint64_t b, uint64_t out[2]) {
    uint64_t z = read64(p + 24), c;
    a += read64(p);
    b = turn_right(b + a + z, 21);
    c = a;
    a += read64(p + 8) + read64(p + 16);
    b += turn_right(a, 44);
    out[0] = a + z, out[1] = b + c;
}
/* One block of 64 bytes; the last block has its own multiplier and weight. */
static void farm_block(farm *f, bytes p, uint64_t mul, uint64_t weight) {
    uint64_t x = turn_right(f->x + f->y + f->v[0] + read64(p + 8), 37) * mul;
    uint64_t y = turn_right(f->y + f->v[1] + read64(p + 48), 42) * mul;
    x ^= f->w[1] * weight;
    y += f->v[0] * weight + read64(p + 40);
    uint64_t z = turn_right(f->z + f->w[0], 33) * mul, w1 = f->w[1];
    fold32(p, f->v[1] * mul, x + f->w[0], f->v);
    fold32(p + 32, z + w1, y + read64(p + 16), f->w);
    f->x = z, f->y = y, f->z = x;
}

uint64_t ef_farmhash64(const void *data, size_t n) {
    bytes p = data;
    if (n <= 16) return up_to_16(p, n);
    if (n <= 32) return up_to_32(p, n);
    if (n <= 64) return up_to_64(p, n);
    const uint64_t seed = 81;
    farm f = {.x = seed * k2 + read64(p), .y = seed * k1 + 113};
    f.z = shift_mix(f.y * k2 + 113) * k2;
    bytes end = p + (n - 1) / 64 * 64, last = end + ((n - 1) & 63) - 63;
    for (; p != end; p += 64) farm_block(&f, p, k1, 1);
    uint64_t mul = k1 + ((f.z & 0xFF) << 1);
    f.w[0] += (n - 1) & 63;
    f.v[0] += f.w[0];
    f.w[0] += f.v[0];
    farm_block(&f, last, mul, 9);
    return join(join(f.v[0], f.w[0], mul) + shift_mix(f.y) * k0 + f.z,
                join(f.v[1], f.w[1], mul) + f.x, mul);
}

/* ---- SipHash-2-4 ----------------------------------------------------------------------------- */

static void sip_rounds(uint64_t v[4], int n) {
    while (n-- > 0) {
        v[0] += v[1], v[1] = turn_right(v[1], 51) ^ v[0], v[0] = turn_right(v[0], 32);
        v[2] += v[3], v[3] = turn_right(v[3], 48) ^ v[2];
        v[0] += v[3], v[3] = turn_right(v[3], 43) ^ v[0];
        v[2] += v[1], v[1] = turn_right(v[1], 47) ^ v[2], v[2] = turn_right(v[2], 32);
    }
}

uint64_t ef_siphash24(const uint64_t key[2], const void *data, size_t n) {
    bytes p = data;
    uint64_t v[4] = {key[0] ^ 0x736F6D6570736575u, key[1] ^ 0x646F72616E646F6Du,
                     key[0] ^ 0x6C7967656E657261u, key[1] ^ 0x7465646279746573u};
    unsigned char tail[8] = {0};
    size_t whole = n / 8;
    if (n % 8 > 0) memcpy(tail, p + whole * 8, n % 8);
    tail[7] = (unsigned char)n;
    for (size_t k = 0; k <= whole; k++) {
        uint64_t m = read64(k < whole ? p + k * 8 : tail);
        v[3] ^= m;
        sip_rounds(v, 2);
        v[0] ^= m;
    }
    v[2] ^= 0xFF;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- MurmurHash64A --------------------------------------------------------------------------- */

uint64_t ef_murmur64(uint64_t seed, const void *data, size_t n) {
    const uint64_t m = 0xC6A4A7935BD1E995u;
    bytes p = data;
    uint64_t h = seed ^ (n * m);
    for (; n >= 8; p += 8, n -= 8) h = (h ^ shift_mix(read64(p) * m) * m) * m;
    if (n > 0) {
        uint64_t rest = 0;
        for (size_t k = n; k-- > 0;) rest = rest << 8 | p[k];
        h = (h ^ rest) * m;
    }
    return shift_mix(shift_mix(h) * m);
}
