/* Sessions: a graph, and for each set of feeds, fetches and targets the program that runs the
 * subgraph between them. A session remembers its last few requests; beyond them programs are found
 * by structure, so a new session, or one over a rebuilt graph, compiles nothing. */
#include "runtime/session.h"
#include "base/alloc.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/making.h"
#include "evenflow_binding.h"
#include "ops/state/variable.h"
#include "plan/locate.h"

typedef struct request { /* newest first */
    struct request *next;
    uint64_t hash;
    int n_feeds, n_fetches, n_targets, n_captures;
    ef_edge *edge; /* feeds, then fetches */
    int32_t *target;
    uint64_t *serial;  /* of the nodes of all these, since node numbers are reused */
    uint64_t version;  /* of the graph when nodes and feeds were last compared */
    ef_fact *takes;    /* dtype and shape of each feed */
    int32_t *captures; /* of the graph, fed after the feeds */
    ef_program *program;
    int users;
    bool evicted;
    size_t bytes;  /* charged to the budget of all caches */
    uint64_t used; /* the tick of its last use; 0: not charged yet */
} request;

enum { REQUESTS = 64 };

struct ef_session {
    ef_keeper keeper; /* first; of its requests */
    uint64_t noted;   /* the tick at which the keeper was told of the oldest request */
    ef_graph *graph;
    ef_mutex lock; /* guards the requests */
    ef_makers makers;
    request *newest;
    int n_requests;
    ef_scope *scope; /* names of its variables */
};

static void *take_request(ef_keeper *k);
static void end_request(void *r);

ef_status *ef_session_new(ef_graph *g, ef_session **out) {
    if (g == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_session_new: graph and out must not be NULL");
    ef_session *s = ef_calloc(1, sizeof *s);
    if (s == NULL) return ef_no_memory(sizeof *s);
    if ((s->scope = ef_scope_make()) == NULL) {
        ef_free(s);
        return ef_no_memory(sizeof *s);
    }
    s->graph = ef_graph_ref(g);
    ef_mutex_init(&s->lock, EF_RANK_SESSION, EF_MUTEX_BIASED);
    ef_makers_init(&s->makers);
    s->keeper.kind = EF_KEPT_REQUESTS;
    s->keeper.take = take_request;
    s->keeper.end = end_request;
    ef_keeper_join(&s->keeper);
    *out = s;
    return NULL;
}

static void request_empty(request *r) {
    ef_program_unref(r->program);
    ef_free(r->edge);
    ef_free(r->target);
    ef_free(r->serial);
    ef_free(r->takes);
    ef_free(r->captures);
}

static void request_free(request *r) {
    if (r->used > 0) ef_budget_credit(EF_KEPT_REQUESTS, r->bytes);
    request_empty(r);
    ef_free(r);
}

void ef_session_free(ef_session *s) {
    if (s == NULL) return;
    ef_keeper_leave(&s->keeper);
    for (request *r = s->newest, *next; r != NULL; r = next) {
        next = r->next;
        request_free(r);
    }
    ef_scope_free(s->scope);
    ef_graph_unref(s->graph);
    ef_makers_destroy(&s->makers);
    ef_mutex_destroy(&s->lock);
    ef_free(s);
}

void ef_session_halt(ef_session *s) { ef_scope_halt(s->scope); }

/* ---- requests
 * The graph may grow while it is run. Its lock is held while a request is made, and when one is
 * found after the graph has changed; if the graph is unchanged, a call does not read it at all. */

static uint64_t serial_of(const ef_graph *g, int32_t node) {
    return node >= 0 && (size_t)node < g->n_nodes ? g->node[node]->serial : 0;
}

static uint64_t hash_call(const ef_session_call *c) {
    uint64_t h = ef_hash_mix(7, (uint64_t)c->n_feeds << 32 | (uint64_t)c->n_fetches);
    for (int k = 0; k < c->n_feeds; k++)
        h = ef_hash_mix(h, (uint64_t)c->feed[k].node << 8 | (uint32_t)c->feed[k].index);
    for (int k = 0; k < c->n_fetches; k++)
        h = ef_hash_mix(h, (uint64_t)c->fetch[k].node << 8 | (uint32_t)c->fetch[k].index);
    for (int k = 0; k < c->n_targets; k++) h = ef_hash_mix(h, ~(uint64_t)c->target[k]);
    return h;
}

static bool same_nodes(const ef_graph *g, const request *r) {
    const uint64_t *serial = r->serial;
    for (int k = 0; k < r->n_feeds + r->n_fetches; k++)
        if (serial_of(g, r->edge[k].node) != *serial++) return false;
    for (int k = 0; k < r->n_targets; k++)
        if (serial_of(g, r->target[k]) != *serial++) return false;
    return true;
}

static bool same_feeds(const ef_graph *g, const request *r) {
    for (int k = 0; k < r->n_feeds; k++)
        if (!ef_shape_equal(&ef_edge_fact(g, r->edge[k])->shape, &r->takes[k].shape)) return false;
    return true;
}

/* Whether the request is still valid for the graph as it is now. Under the session's lock. */
static bool still_true(const ef_graph *g, request *r) {
    if (EF_LIKELY(atomic_load_explicit(&g->version, memory_order_acquire) == r->version))
        return true;
    ef_graph_lock(g);
    bool same = same_nodes(g, r) && same_feeds(g, r);
    if (same) r->version = g->version;
    ef_graph_unlock(g);
    return same;
}

static bool same_call(const ef_graph *g, request *r, const ef_session_call *c) {
    return r->n_feeds == c->n_feeds && r->n_fetches == c->n_fetches &&
           r->n_targets == c->n_targets &&
           (c->n_feeds == 0 ||
            memcmp(r->edge, c->feed, (size_t)c->n_feeds * sizeof *c->feed) == 0) &&
           (c->n_fetches == 0 ||
            memcmp(r->edge + r->n_feeds, c->fetch, (size_t)c->n_fetches * sizeof *c->fetch) == 0) &&
           (c->n_targets == 0 ||
            memcmp(r->target, c->target, (size_t)c->n_targets * sizeof *c->target) == 0) &&
           still_true(g, r);
}

static ef_status *check_call(const ef_graph *g, const ef_session_call *c) {
    for (int k = 0; k < c->n_feeds; k++) {
        ef_edge e = c->feed[k];
        if (e.node < 0 || (size_t)e.node >= g->n_nodes || e.index >= g->node[e.node]->n_out)
            return ef_error(EF_INVALID, "feed %d is not a tensor of the session's graph", k);
        for (int j = 0; j < k; j++)
            if (ef_edge_same(c->feed[j], e)) {
                char buf[96];
                return ef_error(EF_INVALID, "'%s' is fed twice (feeds %d and %d); feed it once",
                                ef_node_name(g, e.node, buf, sizeof buf), j, k);
            }
    }
    for (int k = 0; k < c->n_fetches; k++) {
        ef_edge e = c->fetch[k];
        if (e.node < 0 || (size_t)e.node >= g->n_nodes || e.index >= g->node[e.node]->n_out)
            return ef_error(EF_INVALID, "fetch %d is not a tensor of the session's graph", k);
    }
    for (int k = 0; k < c->n_targets; k++)
        if (c->target[k] < 0 || (size_t)c->target[k] >= g->n_nodes)
            return ef_error(EF_INVALID, "target %d is not an op of the session's graph", k);
    return NULL;
}

static ef_status *fill_request(const ef_graph *g, const ef_session_call *c, request *r,
                               ef_graph **part) {
    size_t n = (size_t)(c->n_feeds + c->n_fetches) + 1;
    r->edge = ef_malloc(n * sizeof *r->edge);
    r->target = ef_malloc(((size_t)c->n_targets + 1) * sizeof *r->target);
    r->captures = ef_malloc((g->n_captures + 1) * sizeof *r->captures);
    r->serial = ef_malloc((n + (size_t)c->n_targets) * sizeof *r->serial);
    r->takes = ef_malloc(((size_t)c->n_feeds + 1) * sizeof *r->takes);
    if (r->edge == NULL || r->target == NULL || r->captures == NULL || r->serial == NULL ||
        r->takes == NULL)
        return ef_no_memory(n * sizeof *r->edge);
    for (int k = 0; k < c->n_feeds; k++) r->edge[k] = c->feed[k];
    for (int k = 0; k < c->n_fetches; k++) r->edge[c->n_feeds + k] = c->fetch[k];
    for (int k = 0; k < c->n_targets; k++) r->target[k] = c->target[k];
    r->n_feeds = c->n_feeds;
    r->n_fetches = c->n_fetches;
    r->n_targets = c->n_targets;
    uint64_t *serial = r->serial;
    for (int k = 0; k < c->n_feeds + c->n_fetches; k++) *serial++ = serial_of(g, r->edge[k].node);
    for (int k = 0; k < c->n_targets; k++) *serial++ = serial_of(g, c->target[k]);
    for (int k = 0; k < c->n_feeds; k++) {
        const ef_fact *f = ef_edge_fact(g, c->feed[k]);
        r->takes[k] = (ef_fact){.dtype = f->dtype, .shape = f->shape};
    }
    r->version = g->version;
    return ef_graph_extract_fetched(g, c->feed, c->n_feeds, c->fetch, c->n_fetches, c->target,
                                    c->n_targets, part, r->captures, &r->n_captures);
}

static ef_status *make_request(const ef_graph *g, const ef_session_call *c, request **out) {
    request *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    ef_graph *part = NULL;
    ef_graph_lock(g);
    ef_status *s = check_call(g, c);
    if (s == NULL) s = fill_request(g, c, r, &part);
    ef_graph_unlock(g);
    if (s == NULL) s = ef_compile(part, &r->program);
    ef_graph_unref(part);
    if (s != NULL)
        request_free(r);
    else
        *out = r;
    return s;
}

/* Under the lock: evicts the oldest request. Returns it if nobody uses it, for the caller to free.
 * One in use is credited now, and freed by its last user. */
static request *forget_oldest(ef_session *s) {
    request **at = &s->newest;
    while ((*at)->next != NULL) at = &(*at)->next;
    request *r = *at;
    *at = NULL;
    s->n_requests--;
    r->evicted = true;
    if (r->users == 0) return r;
    ef_budget_resize(EF_KEPT_REQUESTS, r->bytes, 0);
    r->bytes = 0;
    return NULL;
}

/* The oldest request that nobody uses, by the pointer to it; *at is NULL: there is none. */
static request **oldest_idle(ef_session *s) {
    request **at = NULL, **end = &s->newest;
    for (; *end != NULL; end = &(*end)->next)
        if ((*end)->users == 0) at = end;
    return at != NULL ? at : end;
}

/* Tells the budget the last use of the oldest idle request; once per tick is enough. The lock is
 * held. */
static void note_oldest(ef_session *s) {
    const request *r = *oldest_idle(s);
    ef_keeper_oldest(&s->keeper, r != NULL ? r->used : UINT64_MAX);
    s->noted = ef_budget_now();
}

/* For the budget: evicts the oldest request that nobody uses. */
static void *take_request(ef_keeper *k) {
    ef_session *s = (ef_session *)k;
    ef_mutex_lock(&s->lock);
    request **at = oldest_idle(s), *r = *at;
    if (r != NULL) {
        *at = r->next;
        s->n_requests--;
        r->evicted = true;
    }
    note_oldest(s);
    ef_mutex_unlock(&s->lock);
    return r;
}

static void end_request(void *r) { request_free(r); }

static size_t request_bytes(const ef_graph *g, const ef_session_call *c) {
    size_t edges = (size_t)(c->n_feeds + c->n_fetches + c->n_targets) + 1;
    ef_graph_lock(g); /* another thread may capture a value */
    size_t captures = g->n_captures;
    ef_graph_unlock(g);
    return sizeof(request) + edges * (sizeof(ef_edge) + sizeof(uint64_t)) +
           (size_t)c->n_feeds * sizeof(ef_fact) + captures * sizeof(int32_t);
}

/* Under the lock: the request of this call, marked as used; NULL: there is none. */
static request *known_request(ef_session *s, const ef_session_call *c, uint64_t hash) {
    request **at = &s->newest;
    while (*at != NULL && !((*at)->hash == hash && same_call(s->graph, *at, c))) at = &(*at)->next;
    request *r = *at;
    if (r == NULL) return NULL;
    *at = r->next;
    r->next = s->newest;
    s->newest = r;
    r->users++;
    r->used = ef_budget_now();
    if (EF_UNLIKELY(s->noted != r->used)) note_oldest(s);
    return r;
}

static ef_status *find_request(ef_session *s, const ef_session_call *c, request **out) {
    uint64_t h = hash_call(c);
    ef_mutex_lock(&s->lock);
    ef_making mine;
    request *r = known_request(s, c, h);
    while (r == NULL && !ef_making_begin(&s->makers, &s->lock, &mine, h))
        r = known_request(s, c, h);
    ef_mutex_unlock(&s->lock);
    *out = r;
    if (EF_LIKELY(r != NULL)) return NULL;
    ef_status *bad = make_request(s->graph, c, &r);
    if (bad == NULL) {
        r->hash = h;
        r->users = 1;
        r->bytes = request_bytes(s->graph, c);
        r->used = ef_budget_charge(EF_KEPT_REQUESTS, r->bytes);
    }
    ef_mutex_lock(&s->lock);
    ef_making_end(&s->makers, &mine);
    if (bad != NULL) {
        ef_mutex_unlock(&s->lock);
        return bad;
    }
    request *gone = r, *there = known_request(s, c, h);
    if (there != NULL) { /* another thread did not wait, but made the same */
        r = there;
    } else {
        r->next = s->newest;
        s->newest = r;
        gone = ++s->n_requests > REQUESTS ? forget_oldest(s) : NULL;
        note_oldest(s);
    }
    ef_mutex_unlock(&s->lock);
    if (gone != NULL) request_free(gone);
    ef_budget_keep();
    *out = r;
    return NULL;
}

static void leave_request(ef_session *s, request *r) {
    ef_mutex_lock(&s->lock);
    bool gone = --r->users == 0 && r->evicted;
    if (EF_UNLIKELY(r->users == 0 && !gone && r->used < ef_keeper_oldest_get(&s->keeper)))
        ef_keeper_oldest(&s->keeper, r->used); /* it may be evicted again */
    ef_mutex_unlock(&s->lock);
    if (gone) request_free(r);
}

static ef_status *wrong_feed(const ef_graph *g, ef_edge e, const ef_tensor *have,
                             const ef_fact *want) {
    char buf[96];
    ef_graph_lock(g);
    ef_status *s = ef_error(EF_INVALID,
                            "feed of %s for '%s', which takes %s %s; feed a value of that "
                            "dtype and a compatible shape",
                            EF_TENSOR(have), ef_node_name(g, e.node, buf, sizeof buf),
                            ef_dtype_name(want->dtype), EF_SHAPE(&want->shape));
    ef_graph_unlock(g);
    return s;
}

static bool fits(const ef_tensor *value, const ef_fact *want) {
    if (value->dtype != want->dtype) return false;
    if (value->rank < 0 || want->shape.rank < 0) return true;
    if (value->rank != want->shape.rank) return false;
    for (int d = 0; d < value->rank; d++)
        if (!ef_dim_may_equal(value->dim[d], want->shape.dim[d])) return false;
    return true;
}

static ef_status *check_feeds(const ef_session *s, const request *r, const ef_session_call *c) {
    for (int k = 0; k < c->n_feeds; k++)
        if (!fits(c->value[k], &r->takes[k]))
            return wrong_feed(s->graph, c->feed[k], c->value[k], &r->takes[k]);
    return NULL;
}

/* The subgraph that ran is not kept: it is extracted once more to tell which of its nodes failed.
 */
static ef_status *locate(ef_status *bad, const ef_graph *g, const ef_session_call *c,
                         const ef_program *p) {
    request r = {0};
    ef_graph *part = NULL;
    ef_graph_lock(g);
    ef_status *s = fill_request(g, c, &r, &part);
    ef_graph_unlock(g);
    ef_status_free(s); /* the failure that is being reported matters more */
    bad = ef_locate(bad, part, p, NULL);
    ef_graph_unref(part);
    request_empty(&r);
    return bad;
}

ef_status *ef_session_call_run(ef_session *s, const ef_session_call *c, ef_tensor *out) {
    request *r = NULL;
    EF_TRY(find_request(s, c, &r));
    ef_tensor *few[16], **in = few;
    size_t n = (size_t)(c->n_feeds + r->n_captures);
    ef_status *bad = NULL;
    if (n > 16 && (in = ef_malloc(n * sizeof *in)) == NULL) bad = ef_no_memory(n * sizeof *in);
    if (bad == NULL) bad = check_feeds(s, r, c);
    for (int k = 0; k < c->n_feeds && bad == NULL; k++) {
        in[k] = (ef_tensor *)c->value[k]; /* read only */
        bad = ef_tensor_materialize_there(in[k]);
    }
    ef_capture *captured = atomic_load_explicit(&s->graph->capture, memory_order_acquire);
    for (int k = 0; k < r->n_captures && bad == NULL; k++) {
        in[c->n_feeds + k] = &captured[r->captures[k]].tensor;
        bad = ef_tensor_materialize_there(in[c->n_feeds + k]);
    }
    if (bad == NULL) {
        ef_scope *before = ef_scope_enter(s->scope); /* its variables are its own */
        bad = ef_program_run(ef_context_here(), r->program, in, out);
        ef_scope_enter(before);
        if (EF_UNLIKELY(bad != NULL)) bad = locate(bad, s->graph, c, r->program);
    }
    if (in != few) ef_free(in);
    leave_request(s, r);
    return bad;
}

/* ---- the public call
 * -------------------------------------------------------------------------------- */

static ef_status *edges_of(const ef_session *s, const ef_tensor *t, int n, const char *what,
                           ef_edge *out) {
    for (int k = 0; k < n; k++) {
        ef_graph *g = NULL;
        bool symbolic = t[k].flags & EF_TENSOR_SYMBOLIC;
        if (symbolic) out[k] = ef_tensor_edge(&t[k], &g);
        if (!symbolic || g != s->graph)
            return ef_error(EF_INVALID, "%s %d is not a tensor of the session's graph", what, k);
    }
    return NULL;
}

/* Edges, values and targets of a public call; small calls allocate nothing. */
typedef struct asked {
    ef_edge few[24], *edge; /* feeds, then fetches */
    const ef_tensor *few_values[24], **value;
    int32_t few_targets[24], *target;
    void *many;
} asked;

static ef_status *ask(const ef_session *s, asked *a, const ef_tensor *feeds, int n_feeds,
                      const ef_tensor *fetches, int n_fetches, int n_targets) {
    size_t n = (size_t)(n_feeds + n_fetches + n_targets) + 1;
    a->edge = a->few;
    a->value = a->few_values;
    a->target = a->few_targets;
    a->many = NULL;
    if (n > 24) {
        if ((a->many = ef_malloc(n * (sizeof *a->value + sizeof *a->edge + sizeof *a->target))) ==
            NULL)
            return ef_no_memory(n * sizeof *a->edge);
        a->value = a->many;
        a->edge = (ef_edge *)(a->value + n);
        a->target = (int32_t *)(a->edge + n);
    }
    EF_TRY(edges_of(s, feeds, n_feeds, "feed", a->edge));
    return edges_of(s, fetches, n_fetches, "fetch", a->edge + n_feeds);
}

static ef_status *run_asked(ef_session *s, const asked *a, int n_feeds, int n_fetches,
                            int n_targets, ef_tensor *out) {
    ef_session_call c = {a->edge, a->value,  a->edge + n_feeds, a->target,
                         n_feeds, n_fetches, n_targets};
    return ef_session_call_run(s, &c, out);
}

static ef_status *check_call_arguments(const ef_session *s, const void *feeds, const void *values,
                                       int n_feeds, const void *fetches, int n_fetches,
                                       const void *targets, int n_targets, const void *out) {
    if (s == NULL || n_feeds < 0 || n_fetches < 0 || n_targets < 0 ||
        (n_feeds > 0 && (feeds == NULL || values == NULL)) ||
        (n_fetches > 0 && (fetches == NULL || out == NULL)) || (n_targets > 0 && targets == NULL))
        return ef_error(EF_INVALID, "ef_session_run: session, feeds, values, fetches, targets and "
                                    "out must not be NULL, nor counts negative");
    return NULL;
}

ef_status *ef_session_run(ef_session *s, const ef_tensor *feeds, const ef_tensor *values,
                          int n_feeds, const ef_tensor *fetches, int n_fetches,
                          const char *const *targets, int n_targets, ef_tensor *out) {
    EF_TRY(check_call_arguments(s, feeds, values, n_feeds, fetches, n_fetches, targets, n_targets,
                                out));
    asked a;
    ef_status *bad = ask(s, &a, feeds, n_feeds, fetches, n_fetches, n_targets);
    for (int k = 0; k < n_targets && bad == NULL; k++) {
        ef_graph_lock(s->graph);
        a.target[k] = targets[k] != NULL ? ef_graph_find(s->graph, targets[k]) : -1;
        ef_graph_unlock(s->graph);
        if (a.target[k] < 0)
            bad = ef_error(EF_NOT_FOUND, "the graph has no op called '%s'",
                           targets[k] != NULL ? targets[k] : "(null)");
    }
    for (int k = 0; k < n_feeds && bad == NULL; k++) a.value[k] = &values[k];
    if (bad == NULL) bad = run_asked(s, &a, n_feeds, n_fetches, n_targets, out);
    ef_free(a.many);
    return bad;
}

ef_status *ef_session_run_nodes(ef_session *s, const ef_tensor *feeds,
                                const ef_tensor *const *values, int n_feeds,
                                const ef_tensor *fetches, int n_fetches, const int *targets,
                                int n_targets, ef_tensor *out) {
    EF_TRY(check_call_arguments(s, feeds, values, n_feeds, fetches, n_fetches, targets, n_targets,
                                out));
    asked a;
    ef_status *bad = ask(s, &a, feeds, n_feeds, fetches, n_fetches, n_targets);
    for (int k = 0; k < n_targets && bad == NULL; k++) a.target[k] = targets[k];
    for (int k = 0; k < n_feeds && bad == NULL; k++) {
        a.value[k] = values[k];
        if (values[k] == NULL || values[k]->dtype == EF_NO_DTYPE ||
            (values[k]->flags & EF_TENSOR_SYMBOLIC))
            bad = ef_error(EF_INVALID, "feed %d is NULL, released or symbolic; feed a value", k);
    }
    if (bad == NULL) bad = run_asked(s, &a, n_feeds, n_fetches, n_targets, out);
    ef_free(a.many);
    return bad;
}
