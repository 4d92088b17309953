/* Eight bytes at a time through ef_hash_mix. The length is hashed too, so that trailing zeros make
 * a difference. */
#include "base/hash.h"

uint64_t ef_hash_bytes(uint64_t h, const void *p, size_t n) {
    const unsigned char *at = p;
    h = ef_hash_mix(h, n);
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t v;
        memcpy(&v, at, 8);
        h = ef_hash_mix(h, v);
    }
    if (n > 0) {
        uint64_t v = 0;
        memcpy(&v, at, n);
        h = ef_hash_mix(h, v);
    }
    return h;
}
