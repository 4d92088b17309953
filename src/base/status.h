/* Errors as values. NULL is success, so the good path is one test and no memory. A message names
 * the op, the offending values, the rule and the remedy, in that order. */
#ifndef EF_BASE_STATUS_H
#define EF_BASE_STATUS_H
#include "evenflow.h"

/* Never NULL: when memory is out, a shared static status says so. */
ef_status *ef_error(ef_code code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
ef_status *ef_no_memory(size_t bytes); /* EF_NO_MEMORY, "could not get N bytes" */
/* Appends " \n    <text>" (a place, an op) to s and returns s. */
ef_status *ef_status_add(ef_status *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same message under another code; NULL stays NULL. */
ef_status *ef_status_as(ef_status *s, ef_code code);

#define EF_LIKELY(x) __builtin_expect(!!(x), 1)
#define EF_UNLIKELY(x) __builtin_expect(!!(x), 0)
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
