/* A program is shared by all graphs of one structure, so it cannot contain the source lines of any
 * of them. But passes are deterministic: optimising the caller's own graph again gives the
 * program's graph once more, node for node, and its nodes have the caller's origins. That costs as
 * much as a compilation, and only a failed call pays it. */
#include "plan/locate.h"
#include "base/text.h"
#include "graph/control.h"
#include "graph/origin.h"
#include "passes/passes.h"
#include "plan/lift.h"

/* *out NULL: optimising g does not give the program's graph. */
static ef_status *optimised_like(ef_graph *g, const ef_program *p, ef_graph **out) {
    ef_graph *best = NULL;
    *out = NULL;
    EF_TRY(ef_optimise(g, &best));
    if (ef_graph_equal(best, ef_program_graph(p)))
        *out = best;
    else
        ef_graph_unref(best);
    return NULL;
}

/* The program's graph with the origins of `source`, which was compiled with its constants or
 * without them. */
static ef_status *own_graph(ef_graph *source, const ef_program *p, ef_graph **out) {
    EF_TRY(optimised_like(source, p, out));
    if (*out != NULL) return NULL;
    ef_lifted l;
    EF_TRY(ef_lift(source, &l));
    ef_status *s = l.graph != NULL ? optimised_like(l.graph, p, out) : NULL;
    ef_lifted_free(&l);
    return s;
}

/* The node at the end of the status's path; NULL: the path does not fit the graph. */
static const ef_node *follow(const ef_graph *g, const ef_status *s) {
    const ef_node *n = NULL;
    ef_status_step step;
    for (int k = 0; ef_status_step_get(s, k, &step); k++) {
        ef_control c;
        if (n != NULL) {
            ef_control_of(n->op, n->fields, &c);
            if (step.function < 0 || step.function >= c.n_funcs) return n;
            g = c.func[step.function];
        }
        if (step.node < 0 || (size_t)step.node >= g->n_nodes) return n;
        n = g->node[step.node];
    }
    return n;
}

static ef_status *reworded(ef_status *s, ef_graph *home, const ef_node *n, const char *function) {
    const char *name = NULL;
    ef_text text = {0};
    ef_status *bad = ef_graph_called(home, n->id, &name);
    if (bad != NULL) {
        ef_status_free(bad);
        return s;
    }
    ef_text_add(&text, "Graph execution error:\n\nDetected at node %s", name);
    if (n->place > 0) {
        ef_text_add(&text, " defined at (most recent call last):\n");
        ef_place_text(home, n->place, "  ", &text);
    } else {
        ef_text_add(&text, "\n");
    }
    ef_text_add(&text, "\n%s\n\t [[{{node %s}}]]", ef_status_message(s), name);
    if (function != NULL) ef_text_add(&text, " [Op:__inference_%s]", function);
    if (!text.failed) s = ef_status_reworded(s, text.at);
    ef_text_free(&text);
    return s;
}

ef_status *ef_locate(ef_status *s, ef_graph *source, const ef_program *p, const char *function) {
    ef_status_step first;
    if (s == NULL || source == NULL || p == NULL || !ef_status_step_get(s, 0, &first)) return s;
    ef_graph *own = NULL;
    ef_status *bad = own_graph(source, p, &own);
    ef_status_free(bad); /* the failure that is being reported matters more */
    if (own == NULL) return s;
    const ef_node *n = follow(own, s);
    ef_graph *home = n != NULL ? ef_graph_numbered(n->origin.graph) : NULL;
    if (home != NULL) {
        ef_graph_lock(home);
        size_t at = (size_t)n->origin.node;
        if (at < home->n_nodes && home->node[at]->serial == n->origin.serial)
            s = reworded(s, home, home->node[at], function);
        ef_graph_unlock(home);
    }
    ef_graph_unref(home);
    ef_graph_unref(own);
    return s;
}
