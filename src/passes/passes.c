/* The order of passes. */
#include "passes/passes.h"
#include "base/option.h"
#include <string.h>

const ef_pass ef_passes[] = {{NULL, NULL}};

static bool switched_off(const char *name, const char *off) {
    char word[64] = "-";
    strncat(word, name, sizeof word - 2);
    if (ef_option_has("EF_PASSES", word)) return true;
    size_t n = strlen(name);
    for (const char *at = off; at != NULL && (at = strstr(at, name)) != NULL; at += n)
        if ((at == off || at[-1] == ',') && (at[n] == ',' || at[n] == '\0')) return true;
    return false;
}

ef_status *ef_optimise_without(ef_graph *g, const char *off, ef_graph **out) {
    ef_graph *now = ef_graph_ref(g);
    for (const ef_pass *p = ef_passes; p->name != NULL; p++) {
        if (switched_off(p->name, off)) continue;
        ef_graph *next = NULL;
        ef_status *s = p->run(now, &next);
#ifndef NDEBUG
        if (s == NULL && next != NULL) s = ef_graph_verify(next);
#endif
        if (s != NULL) {
            ef_graph_unref(next);
            ef_graph_unref(now);
            return s;
        }
        if (next == NULL) continue;
        ef_graph_unref(now);
        now = next;
    }
    *out = now;
    return NULL;
}

ef_status *ef_optimise(ef_graph *g, ef_graph **out) { return ef_optimise_without(g, NULL, out); }
