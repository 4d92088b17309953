/* The one team of threads. It is OpenMP's, because oneDNN and OpenBLAS as Debian builds them run on
 * OpenMP: one team, not two. Its size honours the affinity mask and the cgroup's quota. Work too
 * small to pay for waking the team stays on the calling thread; while several user threads run
 * plans at once each keeps to itself. */
#ifndef EF_BASE_POOL_H
#define EF_BASE_POOL_H
#include <stdint.h>

typedef void ef_range_fn(void *arg, int64_t begin, int64_t end);
/* Calls fn over disjoint ranges that cover [0, n), each a multiple of `grain` items (but the last).
 * cost_ns: estimated nanoseconds for one item; below about 20 us in all, or within another
 * ef_parallel, runs inline. */
void ef_parallel(int64_t n, int64_t grain, double cost_ns, ef_range_fn *fn, void *arg);
int ef_pool_size(void);    /* threads a call may use now; at least 1 */
void ef_pool_limit(int n); /* user's wish (tf.config); 0: as many as the machine gives */
/* Before a library with regions of its own (oneDNN, BLAS) is called: 1 keeps it on this thread,
 * more lends it the whole team (OpenMP pays dearly for a team that changes its size). */
void ef_pool_lend(int threads);
/* Around each top-level run, so that concurrent callers share cores instead of fighting. */
void ef_pool_enter(void);
void ef_pool_leave(void);
#endif
