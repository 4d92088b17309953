/* 64-bit hashing of small keys: quick to fold, good enough to index by any of its bits. */
#ifndef EF_BASE_HASH_H
#define EF_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ef_hash_mix(uint64_t h, uint64_t v) {
    h ^= v;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}
uint64_t ef_hash_bytes(uint64_t h, const void *p, size_t n);
static inline uint64_t ef_hash_text(uint64_t h, const char *s) {
    return ef_hash_bytes(h, s, strlen(s));
}
#endif
