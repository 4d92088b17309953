/* Tallies: for each place, kind, subject and reason, how often it happened and what it cost. The
 * table has a fixed size. When a set of it is full, the tally with the lowest count is added to
 * that of the unknown place, so sums over all tallies stay exact. */
#ifndef EF_PROFILE_TALLY_H
#define EF_PROFILE_TALLY_H
#include "evenflow_binding.h"

/* Adds one event of `ticks` duration that stands for `weight` of its kind. */
void ef_tally_add(const ef_event_new *e, uint64_t ticks);
#endif
