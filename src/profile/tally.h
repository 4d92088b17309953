/* Tallies: for each place, kind, subject and reason, how often it happened and what it cost. The
 * table has a fixed size. When a set of it is full, the tally with the lowest count is added to
 * that of the unknown place, so sums over all tallies stay exact. */
#ifndef EF_PROFILE_TALLY_H
#define EF_PROFILE_TALLY_H
#include "profile/event.h"

/* Adds one event of `ticks` duration that stands for `weight` of its kind. */
void ef_tally_add(const ef_event_new *e, uint64_t ticks);

/* ---- for copies of the table (profile/live.c) ---- */
enum { EF_TALLY_WAYS = 8, EF_TALLY_SETS = 512, EF_TALLY_WINDOW = 16 };
typedef struct ef_tally_entry {
    ef_tally sum;   /* its times in ticks */
    uint32_t begun; /* samples in `early` */
    uint32_t early[EF_TALLY_WINDOW], late[EF_TALLY_WINDOW];
} ef_tally_entry;
typedef struct ef_tally_table {
    ef_tally_entry of[EF_TALLY_SETS][EF_TALLY_WAYS];
    ef_tally others[EF_EVENT_KINDS]; /* what has no entry of its own, or has none any more */
    uint64_t reset;                  /* when the sums began, in ticks; 0: with the process */
} ef_tally_table;
extern ef_tally_table ef_tallies;
void ef_tally_copy(ef_tally_table *out);
/* The tallies of a table, with times in nanoseconds by `clock`; returns how many. */
size_t ef_tallies_of(ef_tally_table *table, const ef_event_rate *clock, ef_tally *out, size_t max);
#endif
