/* Hash map from a 64-bit hash to a pointer, open addressing. Equal hashes may hold different
 * things: find() asks `same` about each candidate. */
#ifndef EF_BASE_MAP_H
#define EF_BASE_MAP_H
#include "base/status.h"

typedef struct ef_map {
    struct ef_map_slot {
        uint64_t hash;
        void *value; /* NULL: free slot */
    } * slot;
    size_t n, cap; /* cap: power of two or 0 */
} ef_map;          /* zero-initialised: empty */

typedef bool ef_map_same(const void *value, const void *key);
void *ef_map_find(const ef_map *m, uint64_t hash, ef_map_same *same, const void *key);
ef_status *ef_map_put(ef_map *m, uint64_t hash, void *value); /* does not look for an equal one */
bool ef_map_remove(ef_map *m, uint64_t hash, const void *value);
void ef_map_free(ef_map *m); /* frees the table, not the values */
#endif
