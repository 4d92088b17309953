/* Philox 4x32-10: a counter-based generator (Salmon et al., "Parallel random numbers: as easy as 1,
 * 2, 3"). Block i of a stream is a function of key and counter + i only, so threads may start
 * anywhere and results never depend on how the work was divided. */
#ifndef EF_KERNELS_PHILOX_H
#define EF_KERNELS_PHILOX_H
#include <stdint.h>

typedef struct ef_philox {
    uint64_t key, low, high; /* the counter is high : low, 128 bits */
} ef_philox;

/* The generator with which TensorFlow's stateful ops start from their two seeds. */
static inline ef_philox ef_philox_seeded(uint64_t seed, uint64_t seed2) {
    return (ef_philox){.key = seed, .low = 0, .high = seed2};
}
/* The key and counter that TensorFlow's stateless ops make from two seeds. */
ef_philox ef_philox_scrambled(uint64_t seed, uint64_t seed2);

/* Skips blocks of 128 bits. */
static inline void ef_philox_skip(ef_philox *g, uint64_t blocks) {
    g->low += blocks;
    g->high += g->low < blocks;
}
/* The next n blocks, four numbers each. */
void ef_philox_blocks(ef_philox *g, uint32_t *out, int64_t n);
/* The n blocks that lie skip[0], skip[1], ... blocks after the generator's. */
void ef_philox_at(const ef_philox *g, const uint64_t *skip, uint32_t *out, int64_t n);

/* One 32-bit number at a time. */
typedef struct ef_philox_each {
    ef_philox g;
    uint32_t block[4];
    int used; /* numbers used of the block; 4: none left */
} ef_philox_each;
static inline ef_philox_each ef_philox_one_by_one(ef_philox g) {
    return (ef_philox_each){.g = g, .used = 4};
}
static inline uint32_t ef_philox_next(ef_philox_each *e) {
    if (e->used == 4) {
        ef_philox_blocks(&e->g, e->block, 1);
        e->used = 0;
    }
    return e->block[e->used++];
}
#endif
