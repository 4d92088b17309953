/* The pass that applies the rules. It also merges what the hash-consing copy cannot: reads of one
 * variable with no side effect between them; and it removes ops that return their inputs. */
#include "base/alloc.h"
#include "base/array.h"
#include "passes/passes.h"
#include "passes/rule.h"

typedef struct reads { /* of variables since the last effect */
    struct {
        ef_edge handle, value;
        ef_dtype dtype;
    } * at;
    size_t n, cap;
} reads;

static ef_status *merge_read(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out) {
    reads *r = w->user;
    for (size_t k = 0; k < r->n; k++)
        if (ef_edge_same(r->at[k].handle, in[0]) && r->at[k].dtype == n->out[0].dtype) {
            out[0] = r->at[k].value;
            return NULL;
        }
    EF_TRY(EF_GROW(&r->at, &r->cap, r->n + 1));
    EF_TRY(ef_walk_copy(w, n, in, out));
    r->at[r->n].handle = in[0];
    r->at[r->n].dtype = n->out[0].dtype;
    r->at[r->n++].value = out[0];
    return NULL;
}

/* Whether a replacement has the dtype and, as far as it is known, the shape of the original. */
static bool agrees(const ef_walk *w, const ef_node *n, ef_edge e) {
    const ef_fact *was = &n->out[0], *is = ef_edge_fact(w->to, e);
    if (was->dtype != is->dtype) return false;
    return ef_shape_known(&was->shape) ? ef_shape_equal(&was->shape, &is->shape)
                                       : ef_shape_may_equal(&was->shape, &is->shape);
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    reads *r = w->user;
    if (n->op->traits & EF_EFFECT) r->n = 0;
    if (ef_walk_waits(w, n)) return NULL;
    if (n->op->traits & EF_READS_VARIABLE) {
        *done = true;
        return merge_read(w, n, in, out);
    }
    if (n->device != 0) return NULL; /* the program asked for a device: the node stays as it is */
    if (n->op->traits & EF_PASSES_INPUTS) {
        memcpy(out, in, (size_t)n->n_out * sizeof *out);
        *done = true;
        return NULL;
    }
    if (n->n_out != 1 || (n->op->traits & (EF_STATEFUL | EF_EFFECT))) return NULL;
    EF_TRY(ef_rule_try(w, n->op, n->attrs, in, n->n_in, out, done));
    *done = *done && agrees(w, n, out[0]);
    return NULL;
}

ef_status *ef_pass_rules(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    reads r = {0};
    ef_status *s = ef_walk_graph(g, visit, &r, out);
    ef_free(r.at);
    return s;
}
