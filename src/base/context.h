/* The execution context: what the runs of a thread may use. Each thread has one; ef_context_set
 * (evenflow.h) changes it. A call that enters the engine reads it once and hands it down: from
 * dispatch to the program, the frame, the step and the kernel, which finds it in its ef_call. So
 * nothing on that way asks a global which device it is for or whether it was cancelled. */
#ifndef EF_BASE_CONTEXT_H
#define EF_BASE_CONTEXT_H
#include "evenflow.h"

/* Kinds of devices, as kernel rows list them: a row may serve several. */
enum {
    EF_CPU = 1,
    EF_OPENCL = 2,
    EF_TEST = 4,
    EF_ASIDE = 128 /* an additional flag: the kernel moves whole tensors, so it runs in the caller's
                    * thread, not on the device's queue, with tensors of the device */
};

struct ef_context {
    int device;              /* whose kernels this thread runs: the host's, or those of its queue */
    int wanted;              /* requested device plus 1; 0: none, so that an op runs where its
                              * inputs are. Numbers as in device/device.h */
    int threads;             /* the most threads of a parallel region; 0: as the pool allows */
    float weight;            /* its share of the processors relative to other threads; in (0, 1] */
    int depth;               /* how deep the runs of this thread are nested; see ef_pool_enter */
    uint64_t began, ran_ns;  /* if weight < 1: when the run began, how long the last one took */
    ef_canceller *canceller; /* NULL: none */
};

extern _Thread_local ef_context ef_context_own;
/* The calling thread's context; it lives as long as the thread. */
static inline ef_context *ef_context_here(void) { return &ef_context_own; }
#endif
