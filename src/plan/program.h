/* A program: a function graph, optimised once, and the plans made from it, one per set of input
 * shapes, bounded. Counted; any number of threads may run it. */
#ifndef EF_PLAN_PROGRAM_H
#define EF_PLAN_PROGRAM_H
#include "plan/plan.h"
#include <pthread.h>

typedef struct ef_program ef_program;
/* Holds g (counted), which must be finished and is not optimised again. own_inputs (copied; NULL:
 * none): input k is moved out of the caller's tensor at each run, so that it can be changed in
 * place. */
ef_status *ef_program_make(ef_graph *g, const uint8_t *own_inputs, ef_program **out);
/* The program `base` with its last n inputs bound to values, which are copied: it takes the inputs
 * before them. It is small and quickly made, and uses the plans of base. */
ef_status *ef_program_bind(ef_program *base, const ef_tensor *const *value, size_t n,
                           ef_program **out);
void ef_program_keep_home(ef_program *p); /* its outputs are to be on the host; before it runs */
ef_program *ef_program_ref(ef_program *p);
void ef_program_unref(ef_program *p);
const ef_graph *ef_program_graph(const ef_program *p);
size_t ef_program_bytes(ef_program *p);
/* The text of the plan used last (ef_plan_text) and its copies in one run, by ef_copy_way; for
 * tests. NULL: none was made. */
ef_status *ef_program_text(ef_program *p, char **out, int32_t copies[3]);
/* in: n_inputs tensors, materialized or on a device. out: n_outputs tensors, owned by the caller on
 * success; untouched on failure. */
ef_status *ef_program_run(ef_context *context, ef_program *p, ef_tensor *const *in, ef_tensor *out);
/* Plans made and evicted so far, and plans kept now; for tests. */
void ef_program_counts(ef_program *p, uint64_t *made, uint64_t *evicted, uint64_t *kept);
enum { EF_PROGRAM_PLANS = 128 }; /* that a program may keep, within the budget of all caches */
#endif
