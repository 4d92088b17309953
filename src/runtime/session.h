/* Sessions inside the library, by edges and node numbers. */
#ifndef EF_RUNTIME_SESSION_H
#define EF_RUNTIME_SESSION_H
#include "plan/compile.h"

typedef struct ef_session_call {
    const ef_edge *feed;
    const ef_tensor *const *value; /* of each feed */
    const ef_edge *fetch;
    const int32_t *target; /* nodes to run for their effect */
    int n_feeds, n_fetches, n_targets;
} ef_session_call;
ef_status *ef_session_call_run(ef_session *s, const ef_session_call *c, ef_tensor *out);
#endif
