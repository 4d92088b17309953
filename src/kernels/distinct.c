/* A hash table with open addressing, at most half full, that stores slice indices. */
#include "kernels/distinct.h"
#include "base/alloc.h"
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

/* ---- single numbers -------------------------------------------------------------------------- */

struct ef_distinct_slot {
    uint64_t key;
    int64_t id; /* + 1; 0: free */
};

enum { BATCH = 256, FIRST_BITS = 8 };

bool ef_distinct_plain(ef_dtype t) {
    return t != EF_STRING && !ef_dtype_in(t, EF_COMPLEX) && ef_dtype_size(t) <= 8;
}

/* The bits of elements as keys: equal if the elements are equal, but NaN has no key. Returns
 * whether there is one. */
#define KEYS(T, sign, infinity)                                         \
    {                                                                   \
        const T *x = data;                                              \
        bool nan = false;                                               \
        for (int64_t k = 0; k < n; k++) {                               \
            T v = x[k];                                                 \
            nan |= (sign) != 0 && (T)(v & (T) ~(sign)) > (T)(infinity); \
            key[k] = (sign) != 0 && v == (sign) ? 0 : v;                \
        }                                                               \
        return nan;                                                     \
    }
static bool make_keys(ef_dtype t, const void *data, int64_t n, uint64_t *key) {
    switch (t) {
    case EF_F64: KEYS(uint64_t, (uint64_t)1 << 63, (uint64_t)0x7FF << 52)
    case EF_F32: KEYS(uint32_t, (uint32_t)1 << 31, (uint32_t)0xFF << 23)
    case EF_F16: KEYS(uint16_t, (uint16_t)0x8000, (uint16_t)0x7C00)
    case EF_BF16: KEYS(uint16_t, (uint16_t)0x8000, (uint16_t)0x7F80)
    default: break;
    }
    switch (ef_dtype_size(t)) {
    case 1: KEYS(uint8_t, (uint8_t)0, 0)
    case 2: KEYS(uint16_t, (uint16_t)0, 0)
    case 4: KEYS(uint32_t, (uint32_t)0, 0)
    default: KEYS(uint64_t, (uint64_t)0, 0)
    }
}

static bool is_nan(ef_dtype t, const void *data, int64_t k) {
    double v = ef_element_double(t, data, k);
    return v != v;
}

static uint64_t home(uint64_t key, int bits) {
    return ((key ^ (key >> 32)) * 0x9E3779B97F4A7C15u) >> (64 - bits);
}

/* Makes room for BATCH more numbers, with at most half of the slots used. */
static ef_status *make_room(ef_distinct_numbers *set) {
    int bits = set->slot == NULL ? FIRST_BITS : set->bits;
    while ((set->found + BATCH) * 2 > (int64_t)1 << bits) bits += bits < 14 ? 2 : 1;
    if (set->slot != NULL && bits == set->bits) return NULL;
    size_t bytes = sizeof(struct ef_distinct_slot) << bits;
    struct ef_distinct_slot *slot = ef_malloc(bytes);
    if (slot == NULL) return ef_no_memory(bytes);
    memset(slot, 0, bytes);
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (uint64_t old = 0; set->slot != NULL && old >> set->bits == 0; old++) {
        if (set->slot[old].id == 0) continue;
        uint64_t at = home(set->slot[old].key, bits);
        while (slot[at].id != 0) at = (at + 1) & mask;
        slot[at] = set->slot[old];
    }
    ef_free(set->slot);
    set->slot = slot;
    set->bits = bits;
    return NULL;
}

ef_status *ef_distinct_number(ef_distinct_numbers *set, const void *data, int64_t n, int64_t offset,
                              int64_t *index, int64_t *first) {
    size_t size = ef_dtype_size(set->t);
    int64_t added = 0;
    for (int64_t from = 0, count; from < n; from += count) {
        count = n - from < BATCH ? n - from : BATCH;
        EF_TRY(make_room(set));
        const void *x = (const char *)data + (size_t)from * size;
        uint64_t key[BATCH], mask = ((uint64_t)1 << set->bits) - 1;
        bool nan = make_keys(set->t, x, count, key);
        for (int64_t k = 0; k < count; k++) __builtin_prefetch(set->slot + home(key[k], set->bits));
        for (int64_t k = 0; k < count; k++) {
            uint64_t at = home(key[k], set->bits);
            bool new = nan &&is_nan(set->t, x, k); /* NaN equals nothing and is not kept */
            if (!new) {
                while (set->slot[at].id != 0 && set->slot[at].key != key[k]) at = (at + 1) & mask;
                new = set->slot[at].id == 0;
                if (new) set->slot[at] = (struct ef_distinct_slot){key[k], set->found + 1};
                index[from + k] = set->slot[at].id - 1;
            } else {
                index[from + k] = set->found;
            }
            if (new) first[added++] = offset + from + k, set->found++;
        }
    }
    return NULL;
}

void ef_distinct_numbers_free(ef_distinct_numbers *set) {
    ef_free(set->slot);
    set->slot = NULL;
}
