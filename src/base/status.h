/* Errors as values. NULL is success, so the good path is one test and no memory. A message names
 * the op, the offending values, the rule and the remedy, in that order. */
#ifndef EF_BASE_STATUS_H
#define EF_BASE_STATUS_H
#include "evenflow.h"

#define EF_LIKELY(x) __builtin_expect(!!(x), 1)
#define EF_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Never NULL: when memory is out, a shared static status says so. */
ef_status *ef_error(ef_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
ef_status *ef_no_memory(size_t bytes); /* EF_NO_MEMORY, "could not get N bytes" */
/* Appends " \n    <text>" (a place, an op) to s and returns s. */
ef_status *ef_status_add(ef_status *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The path to the op that failed, through nested graphs. Code that runs or plans a graph adds which
 * of its nodes failed; code that runs one of several functions of a node adds which one. Both are
 * added on the way out, so the innermost comes first. */
void ef_status_at_node(ef_status *s, int32_t node);
void ef_status_mark_function(ef_status *s, int32_t function);
static inline ef_status *ef_status_in_function(ef_status *s, int32_t function) {
    if (EF_UNLIKELY(s != NULL)) ef_status_mark_function(s, function);
    return s;
}
/* The n-th step of the path from the outside: 0 is the node of the outermost graph. False: the path
 * is shorter. */
typedef struct ef_status_step {
    int32_t function; /* of the node before it; -1: not known */
    int32_t node;
} ef_status_step;
bool ef_status_step_get(const ef_status *s, int n, ef_status_step *out);
/* s with another message and without its path. */
ef_status *ef_status_reworded(ef_status *s, const char *message);

/* A copy of s with its path; NULL stays NULL. */
ef_status *ef_status_copy(const ef_status *s);

/* The same message under another code; NULL stays NULL. */
ef_status *ef_status_as(ef_status *s, ef_code code);

/* Notes that s was found by shape inference, before anything ran; NULL stays NULL. See
 * ef_status_before_run. */
ef_status *ef_status_found_before_run(ef_status *s);

#define EF_TRY(expr)                                  \
    do {                                              \
        ef_status *ef_s_ = (expr);                    \
        if (EF_UNLIKELY(ef_s_ != NULL)) return ef_s_; \
    } while (0)
/* For functions with a `done:` label and a local `ef_status *s`. */
#define EF_TRY_GOTO(expr)                                 \
    do {                                                  \
        if (EF_UNLIKELY((s = (expr)) != NULL)) goto done; \
    } while (0)
#endif
