/* A hash table with open addressing, at most half full, that stores slice indices. */
#include "kernels/distinct.h"
#include "base/hash.h"
#include "tensor/tensor.h"
#include <string.h>

static uint64_t element_hash(ef_dtype t, const void *p, int64_t k) {
    if (t == EF_STRING) {
        const ef_str *s = (const ef_str *)p + k;
        return ef_hash_bytes(0, s->at, s->n);
    }
    if (ef_dtype_in(t, EF_FLOATS)) {
        double v = ef_element_double(t, p, k) + 0.0; /* -0 becomes 0 */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    if (t == EF_C64 || t == EF_C128) {
        ef_dtype part = t == EF_C64 ? EF_F32 : EF_F64;
        return ef_hash_mix(element_hash(part, p, 2 * k), element_hash(part, p, 2 * k + 1));
    }
    return (uint64_t)ef_element_int(t, p, k);
}

static bool element_equal(ef_dtype t, const void *p, int64_t j, const void *q, int64_t k) {
    if (t == EF_STRING) {
        const ef_str *a = (const ef_str *)p + j, *b = (const ef_str *)q + k;
        return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n) == 0);
    }
    if (ef_dtype_in(t, EF_FLOATS)) return ef_element_double(t, p, j) == ef_element_double(t, q, k);
    if (t == EF_C64) return ((const ef_c64 *)p)[j] == ((const ef_c64 *)q)[k];
    if (t == EF_C128) return ((const ef_c128 *)p)[j] == ((const ef_c128 *)q)[k];
    return ef_element_int(t, p, j) == ef_element_int(t, q, k);
}

static uint64_t slice_hash(const ef_slices_of *a, int64_t k) {
    uint64_t h = 0x51ED;
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t i = 0; i < a->inner; i++)
            h = ef_hash_mix(h, element_hash(a->t, a->data, (o * a->n + k) * a->inner + i));
    return h;
}

static bool slice_equal(const ef_slices_of *a, int64_t j, const ef_slices_of *b, int64_t k) {
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t i = 0; i < a->inner; i++)
            if (!element_equal(a->t, a->data, (o * a->n + j) * a->inner + i, b->data,
                               (o * b->n + k) * b->inner + i))
                return false;
    return true;
}

static uint64_t slots(int64_t n) {
    uint64_t cap = 8;
    while (cap < 2 * (uint64_t)n) cap *= 2;
    return cap;
}

size_t ef_distinct_bytes(int64_t n) { return (size_t)slots(n) * sizeof(int64_t); }

void ef_distinct_init(ef_distinct *d, void *memory, int64_t n) {
    d->slot = memory;
    d->mask = slots(n) - 1;
    memset(memory, 0, ef_distinct_bytes(n));
}

/* The slot that holds an equal slice, or the free slot where it would be inserted. */
static uint64_t place(const ef_distinct *d, const ef_slices_of *a, const ef_slices_of *b,
                      int64_t k) {
    uint64_t at = slice_hash(b, k) & d->mask;
    while (d->slot[at] != 0 && !slice_equal(a, d->slot[at] - 1, b, k)) at = (at + 1) & d->mask;
    return at;
}

int64_t ef_distinct_find(const ef_distinct *d, const ef_slices_of *a, const ef_slices_of *b,
                         int64_t k) {
    return d->slot[place(d, a, b, k)] - 1;
}

int64_t ef_distinct_add(ef_distinct *d, const ef_slices_of *a, int64_t k) {
    uint64_t at = place(d, a, a, k);
    if (d->slot[at] != 0) return d->slot[at] - 1;
    d->slot[at] = k + 1;
    return -1;
}
