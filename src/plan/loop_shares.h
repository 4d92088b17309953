/* Joined steps of a loop's body (row_shares.h), run for several iterations at a time. In an
 * iteration such a step only notes the addresses of its operands. After some iterations every
 * thread takes its rows through all of them, so that the threads synchronise once in so many
 * iterations, and none waits while another one pops and pushes elements of lists. */
#ifndef EF_PLAN_LOOP_SHARES_H
#define EF_PLAN_LOOP_SHARES_H
#include "plan/planner.h"

/* Finds out whether the joined steps of a loop's body may run later. */
ef_status *ef_plan_loop_shares(ef_planner *p);

/* What the frames of a body have noted. */
typedef struct ef_noted ef_noted;
/* Makes the steps of the body run in their turn if the condition reads what they compute. */
void ef_loop_shares_check(ef_plan *body, const ef_plan *cond);
/* Lets the joined steps of these frames of the body note their operands. The frames must be freed
 * first. */
ef_status *ef_noted_make(const ef_plan *body, ef_frame *const *frame, int n_frames, ef_noted **out);
void ef_noted_free(ef_noted *n); /* NULL is fine */
void ef_noted_next(ef_noted *n); /* after an iteration; computes now and then */
/* After the loop: computes what is left, or drops it. */
void ef_noted_end(ef_noted *n, bool compute);
#endif
