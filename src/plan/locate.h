/* Finds the line of the user's program that made a node which failed inside a compiled program. */
#ifndef EF_PLAN_LOCATE_H
#define EF_PLAN_LOCATE_H
#include "plan/program.h"

/* s: the status of running or planning p; source: the graph p was compiled from, or one of the same
 * structure. Returns s with a message that names the failed node and the calls that made it, or
 * unchanged if these are not known. function: what the user called; NULL: a session. */
ef_status *ef_locate(ef_status *s, ef_graph *source, const ef_program *p, const char *function);
#endif
