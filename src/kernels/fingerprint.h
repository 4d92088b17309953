/* Hashes whose values never change, because programs store them: FarmHash's 64-bit fingerprint,
 * SipHash-2-4 with a key, and MurmurHash64A. */
#ifndef EF_KERNELS_FINGERPRINT_H
#define EF_KERNELS_FINGERPRINT_H
#include <stddef.h>
#include <stdint.h>

uint64_t ef_farmhash64(const void *p, size_t n);
uint64_t ef_siphash24(const uint64_t key[2], const void *p, size_t n);
uint64_t ef_murmur64(uint64_t seed, const void *p, size_t n);
#endif
