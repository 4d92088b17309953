/* The one team of threads: the calling thread and workers that are created when first needed. Its
 * size honours the affinity mask, the cgroup's quota, OMP_NUM_THREADS and EF_THREADS. Work is cut
 * into pieces that whoever is running takes, so that a thread which is not scheduled holds back at
 * most the piece it has begun. Work too small to pay for waking anybody stays on the calling
 * thread. Callers that run at the same time divide the team's cores.
 *
 * oneDNN and OpenBLAS, which have OpenMP teams of their own, are always called on one thread
 * (ef_pool_single) and from within pieces. */
#ifndef EF_BASE_POOL_H
#define EF_BASE_POOL_H
#include "base/context.h"
#include <stdbool.h>
#include <stdint.h>

typedef void ef_range_fn(void *arg, int64_t begin, int64_t end);
/* Calls fn over disjoint ranges that cover [0, n), each a multiple of `grain` items (but the last).
 * cost_ns: estimated nanoseconds for one item; below about 20 us in all, or within another
 * ef_parallel, fn is called once, inline. */
void ef_parallel(int64_t n, int64_t grain, double cost_ns, ef_range_fn *fn, void *arg);
/* The same for items that are worth a piece each, as blocks of a product: every item is a piece.
 * cost_ns may be 0 where it is not known. */
void ef_parallel_each(int64_t n, double cost_ns, ef_range_fn *fn, void *arg);
/* The same for few items of some microseconds each: hands them to workers that are awake, and wakes
 * workers only where such regions follow each other closely, as the layers of a small model do. */
void ef_parallel_brief(int64_t n, ef_range_fn *fn, void *arg);
int ef_pool_size(void); /* threads a call may use now; at least 1 */
/* Which thread of a region this is, for scratch memory of its own: 0 <= lane < lanes. */
int ef_pool_lane(void);
int ef_pool_lanes(void);
/* Whether other programs use the processors. A thread that computes then asks the kernel for short
 * time slices, so that it gets a processor as soon as it is woken; this call does so. */
bool ef_pool_crowded(void);
void ef_pool_limit(int n); /* user's wish (tf.config); 0: as many as the machine gives */
/* Before each call into a library with OpenMP regions of its own: keeps it on this thread. */
void ef_pool_single(void);
/* Around each top-level run of a thread with its context, so that callers at the same time divide
 * the processors by their weights instead of fighting for them. Runs may nest. */
void ef_pool_enter(ef_context *c);
void ef_pool_leave(ef_context *c);
/* Around waiting for something within a run (an element of a pipeline, a lock held for long): the
 * processor goes to others meanwhile, and the time does not count as time of the run. */
void ef_pool_block(ef_context *c);
void ef_pool_unblock(ef_context *c);
#endif
