/* Shares of rows: consecutive steps of a loop's body that treat every row of their values by itself
 * become one step. One thread runs all of them on its share of the rows, so that the threads
 * synchronise once instead of after every step, and values that pass between the steps stay in the
 * cache of the thread that computed them. */
#ifndef EF_PLAN_ROW_SHARES_H
#define EF_PLAN_ROW_SHARES_H
#include "plan/planner.h"

/* Joins such steps; before anything depends on the number of steps. */
ef_status *ef_plan_shares(ef_planner *p);
/* The kernel of a joined step. */
ef_kernel_fn ef_run_shares;

/* steps.c: a small elementwise op that is a call of its tile; elements [from, to) of it. */
bool ef_plan_is_tile(const ef_plan_step *t);
void ef_plan_tile_range(const ef_call *c, int64_t from, int64_t to);
#endif
