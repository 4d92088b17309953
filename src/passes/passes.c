/* The order of passes. Calls are inlined first, so that all later passes can optimise across them;
 * bodies and branches are optimised before the graph around them, whose passes read them. */
#include "passes/passes.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/option.h"
#include "passes/rule.h"

const ef_pass ef_passes[] = {{"inline", ef_pass_inline},
                             {"functions", ef_pass_functions},
                             {"invariant", ef_pass_invariant},
                             {"saved", ef_pass_saved},
                             {"products", ef_pass_products},
                             {"lists", ef_pass_lists},
                             {"fold", ef_pass_fold},
                             {"rules", ef_pass_rules},
                             {"attention", ef_pass_attention},
                             {"updates", ef_pass_updates},
                             {"layout", ef_pass_layout},
                             {"prune", ef_pass_prune},
                             {NULL, NULL}};

struct ef_passing {
    const char *off;
    struct { /* functions done so far; both counted */
        ef_graph *from, *to;
    } * done;
    size_t n, cap;
    int depth;
    const ef_pass_observer *observer; /* or NULL */
};
enum { DEPTH = 64 }; /* of functions in functions */

static bool listed(const char *name, const char *off) {
    size_t n = strlen(name);
    for (const char *at = off; at != NULL && (at = strstr(at, name)) != NULL; at += n)
        if ((at == off || at[-1] == ',') && (at[n] == ',' || at[n] == '\0')) return true;
    return false;
}

static bool switched_off(const char *name, const char *off) {
    char word[64] = "-";
    strncat(word, name, sizeof word - 2);
    return ef_option_has("EF_PASSES", word) || ef_option_has("EF_PASSES", "-all") ||
           listed(name, off) || listed("all", off);
}

static ef_status *run_pass(ef_passing *p, const ef_pass *pass, ef_graph **now) {
    ef_graph *next = NULL;
    ef_status *s = pass->run(p, *now, &next);
#ifndef NDEBUG
    if (s == NULL && next != NULL) s = ef_graph_verify(next);
#endif
    if (s == NULL && next != NULL) {
        if (p->observer != NULL)
            p->observer->pass(p->observer->user, pass->name, p->depth, *now, next);
        ef_graph_unref(*now);
        *now = next;
        return NULL;
    }
    if (s != NULL) ef_graph_unref(next);
    if (s == NULL || ef_status_code(s) == EF_NO_MEMORY) return s;
    if (ef_rewrite_hook != NULL) ef_rewrite_hook(pass->name, "failed", ef_status_message(s));
    ef_status_free(s); /* the graph stays as it was, which is valid */
    return NULL;
}

static ef_status *optimise(ef_passing *p, ef_graph *g, ef_graph **out) {
    ef_graph *now = ef_graph_ref(g);
    for (const ef_pass *pass = ef_passes; pass->name != NULL && g->n_captures == 0; pass++) {
        if (switched_off(pass->name, p->off)) continue;
        ef_status *s = run_pass(p, pass, &now);
        if (s == NULL) continue;
        ef_graph_unref(now);
        return s;
    }
    *out = now;
    return NULL;
}

ef_status *ef_optimise_inner(ef_passing *p, ef_graph *g, ef_graph **out) {
    for (size_t k = 0; k < p->n; k++)
        if (p->done[k].from == g) {
            *out = p->done[k].to;
            return NULL;
        }
    ef_status *s = NULL;
    ef_graph *best = NULL;
    if (p->depth >= DEPTH) {
        best = ef_graph_ref(g);
    } else {
        p->depth++;
        s = optimise(p, g, &best);
        p->depth--;
    }
    if (s == NULL) s = EF_GROW(&p->done, &p->cap, p->n + 1);
    if (s != NULL) {
        ef_graph_unref(best);
        return s;
    }
    p->done[p->n].from = ef_graph_ref(g);
    *out = p->done[p->n++].to = best;
    return NULL;
}

static ef_status *optimise_all(ef_passing *p, ef_graph *g, ef_graph **out) {
    ef_status *s = optimise(p, g, out);
    for (size_t k = 0; k < p->n; k++) {
        ef_graph_unref(p->done[k].from);
        ef_graph_unref(p->done[k].to);
    }
    ef_free(p->done);
    return s;
}

ef_status *ef_optimise_without(ef_graph *g, const char *off, ef_graph **out) {
    return optimise_all(&(ef_passing){.off = off}, g, out);
}

ef_status *ef_optimise_observed(ef_graph *g, const ef_pass_observer *observer, ef_graph **out) {
    ef_rewrite_observer = observer;
    ef_status *s = optimise_all(&(ef_passing){.observer = observer}, g, out);
    ef_rewrite_observer = NULL;
    return s;
}

ef_status *ef_optimise(ef_graph *g, ef_graph **out) { return ef_optimise_without(g, NULL, out); }
