/* Places of the user's program, in a table of fixed size: see ef_site_find in evenflow_binding.h.
 */
#ifndef EF_PROFILE_SITE_H
#define EF_PROFILE_SITE_H
#include "evenflow_binding.h"

/* The place that this thread's program has named by ef_site_set; 0: none. */
uint32_t ef_site_here(void);
/* Whether `id` still names the place it was made for. */
bool ef_site_alive(uint32_t id);

/* ---- for copies of the table (profile/live.c) ---- */
enum { EF_SITE_WAYS = 4, EF_SITE_SETS = 1024, EF_SITE_BITS = 12 };
typedef struct ef_site_entry {
    const void *owner; /* NULL: of copied texts, or empty */
    uint64_t hash;     /* of the copied texts */
    const char *file, *function;
    char *text; /* holds the copied texts */
    int at, line;
    uint32_t generation, uses;
} ef_site_entry;
typedef struct ef_site_table {
    ef_site_entry of[EF_SITE_SETS][EF_SITE_WAYS];
} ef_site_table;
extern ef_site_table ef_sites;
void ef_site_copy(ef_site_table *out); /* its texts still belong to ef_sites */
/* The entry of a place; NULL: it was replaced. */
const ef_site_entry *ef_site_of(const ef_site_table *t, uint32_t place);
#endif
