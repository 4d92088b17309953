/* Posting events from the extension: profile.c finds the user's line, trace_reason.c finds out why
 * a function is traced again. All functions are called with the GIL held. */
#ifndef EF_PY_PROFILE_H
#define EF_PY_PROFILE_H
#include "core.h"

void profile_leaves(void);                     /* this thread is about to release the GIL */
uint32_t profile_here(void);                   /* the place of the user's line; 0: unknown */
uint32_t profile_definition(PyObject *python); /* where a function is defined; 0: no function */
uint32_t profile_line(const char *file, const char *function, int line); /* of texts */
uint32_t profile_node(ef_graph *g, int node); /* the user's line that made a node */
bool profile_is_users(const char *file);
bool profile_direct(void); /* the last profile_here found no other library above the user's frame */
void profile_post(ef_event_kind kind, ef_event_reason reason, uint64_t began, uint32_t subject,
                  int64_t value);
int64_t profile_bytes(const ef_tensor *const *t, int n);

/* Samples: about one call in a thousand. A call that is not sampled costs one decrement. */
typedef struct sample {
    uint64_t began, ended; /* ended: 0 unless other events are posted before this one's */
    uint32_t weight;       /* how many calls it represents; 0: the call is not sampled */
} sample;
extern PyObject *profile_watched; /* a set that collects the sampled functions, or NULL */
extern int profile_left;          /* calls until the next sample */
sample sample_begin(void);
static inline sample sample_take(void) {
    return __builtin_expect(--profile_left < 0, 0) ? sample_begin() : (sample){0};
}
void sample_end(const sample *s, ef_event_kind kind, uint32_t subject, PyObject *result, int64_t a,
                int64_t b);
void sample_op(sample *s, const ef_op *op, const ef_tensor *const *in, int n_in, PyObject *result);
#endif
