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

/* How a joined step is cut: the same for every call of it. */
typedef struct ef_shares_cut {
    int64_t n, rows, each; /* shares, rows of the values, and rows of a share */
    double work;           /* multiply-adds of its products */
} ef_shares_cut;
ef_shares_cut ef_shares_cut_of(const ef_plan_step *t);
/* Whether a share reads only its own rows of input k of a joined step. */
bool ef_shares_by_rows(const ef_plan_step *t, int k);
/* One share of a joined step, on this thread. */
void ef_shares_run_one(const ef_call *c, int64_t share);

/* steps.c: a small elementwise op that is a call of its tile; elements [from, to) of it. */
bool ef_plan_is_tile(const ef_plan_step *t);
void ef_plan_tile_range(const ef_call *c, int64_t from, int64_t to);
#endif
