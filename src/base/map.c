/* Linear probing in a table at most three quarters full. Removal moves later members of the run
 * back instead of leaving tombstones, so a table that lives long stays as quick as a fresh one. */
#include "base/map.h"
#include "base/alloc.h"
#include "base/hash.h"

typedef struct ef_map_slot slot;

static size_t home(const ef_map *m, uint64_t hash) {
    return (size_t)ef_hash_mix(hash, 0) & (m->cap - 1);
}

void *ef_map_find(const ef_map *m, uint64_t hash, ef_map_same *same, const void *key) {
    if (m->cap == 0) return NULL;
    for (size_t i = home(m, hash); m->slot[i].value != NULL; i = (i + 1) & (m->cap - 1))
        if (m->slot[i].hash == hash && same(m->slot[i].value, key)) return m->slot[i].value;
    return NULL;
}

static void insert(ef_map *m, uint64_t hash, void *value) {
    size_t i = home(m, hash);
    while (m->slot[i].value != NULL) i = (i + 1) & (m->cap - 1);
    m->slot[i] = (slot){hash, value};
}

static ef_status *rehash(ef_map *m, size_t cap) {
    ef_map bigger = {.slot = ef_calloc(cap, sizeof(slot)), .n = m->n, .cap = cap};
    if (bigger.slot == NULL) return ef_no_memory(cap * sizeof(slot));
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].value != NULL) insert(&bigger, m->slot[i].hash, m->slot[i].value);
    ef_free(m->slot);
    *m = bigger;
    return NULL;
}

ef_status *ef_map_put(ef_map *m, uint64_t hash, void *value) {
    if (m->n + 1 > m->cap / 4 * 3) EF_TRY(rehash(m, m->cap ? m->cap * 2 : 16));
    insert(m, hash, value);
    m->n++;
    return NULL;
}

bool ef_map_remove(ef_map *m, uint64_t hash, const void *value) {
    if (m->cap == 0) return false;
    size_t mask = m->cap - 1, hole = home(m, hash);
    while (m->slot[hole].value != value || m->slot[hole].hash != hash) {
        if (m->slot[hole].value == NULL) return false;
        hole = (hole + 1) & mask;
    }
    for (size_t i = (hole + 1) & mask; m->slot[i].value != NULL; i = (i + 1) & mask) {
        size_t from_home = (i - home(m, m->slot[i].hash)) & mask;
        if (from_home >= ((i - hole) & mask)) { /* its home is at or before the hole */
            m->slot[hole] = m->slot[i];
            hole = i;
        }
    }
    m->slot[hole].value = NULL;
    m->n--;
    return true;
}

void ef_map_free(ef_map *m) {
    ef_free(m->slot);
    *m = (ef_map){0};
}
