/* Graphs as text for debugging: one line per node, in the order they run. */
#include "base/text.h"
#include "base/alloc.h"
#include "graph/control.h"
#include "graph/origin.h"
#include <inttypes.h>

static void print_value(ef_text *t, const ef_tensor *v) {
    int64_t n = ef_count(v);
    ef_text_add(t, "[");
    for (int64_t i = 0; i < n && i < 6; i++)
        ef_text_add(t, "%s%g", i > 0 ? ", " : "",
                    ef_element_double((ef_dtype)v->dtype, v->data, i));
    ef_text_add(t, n > 6 ? ", ...]" : "]");
}

static void print_attr(ef_text *t, const ef_attr_value *v) {
    switch (v->kind) {
    case EF_ATTR_BOOL: ef_text_add(t, v->as.b ? "true" : "false"); break;
    case EF_ATTR_INT: ef_text_add(t, "%" PRId64, v->as.i); break;
    case EF_ATTR_FLOAT: ef_text_add(t, "%g", v->as.f); break;
    case EF_ATTR_STRING: ef_text_add(t, "'%s'", v->as.s); break;
    case EF_ATTR_TYPE: ef_text_add(t, "%s", ef_dtype_name(v->as.type)); break;
    case EF_ATTR_SHAPE: ef_text_add(t, "%s", EF_SHAPE(v->as.shape)); break;
    case EF_ATTR_TENSOR:
        if (v->as.tensor != NULL && ef_dtype_in((ef_dtype)v->as.tensor->dtype, EF_PLAIN))
            print_value(t, v->as.tensor);
        else
            ef_text_add(t, "...");
        break;
    case EF_ATTR_FUNC:
        ef_text_add(t, "<%zu nodes>", v->as.func != NULL ? v->as.func->n_nodes : 0);
        break;
    case EF_ATTR_INTS:
        ef_text_add(t, "[");
        for (int k = 0; k < v->n; k++)
            ef_text_add(t, "%s%" PRId64, k > 0 ? ", " : "", v->as.ints[k]);
        ef_text_add(t, "]");
        break;
    case EF_ATTR_STRINGS:
        ef_text_add(t, "[");
        for (int k = 0; k < v->n; k++)
            ef_text_add(t, "%s'%s'", k > 0 ? ", " : "", v->as.strings[k]);
        ef_text_add(t, "]");
        break;
    default: ef_text_add(t, "<%d>", v->n); break;
    }
}

void ef_node_attrs_text(const ef_node *n, ef_text *t) {
    bool any = false;
    for (int k = 0; k < EF_MAX_ATTRS && n->op->attr[k].name != NULL && n->fields != NULL; k++) {
        ef_attr_value v;
        ef_status *s = ef_attrs_get(n->op, n->fields, n->op->attr[k].name, &v);
        if (s != NULL) {
            ef_status_free(s);
            continue;
        }
        ef_text_add(t, "%s%s: ", any ? ", " : " {", n->op->attr[k].name);
        print_attr(t, &v);
        any = true;
    }
    if (any) ef_text_add(t, "}");
}

static void print_node(ef_text *t, const ef_graph *g, const ef_node *n, int indent) {
    ef_text_add(t, "%*s%%%d = %s(", indent, "", n->id, n->op->name);
    for (int k = 0; k < n->n_in; k++) {
        ef_text_add(t, "%s%%%d", k > 0 ? ", " : "", n->in[k].node);
        if (n->in[k].index > 0) ef_text_add(t, ".%d", n->in[k].index);
    }
    for (int k = 0; k < n->n_after; k++)
        ef_text_add(t, "%s^%%%d", k > 0 || n->n_in > 0 ? ", " : "", n->after[k]);
    ef_text_add(t, ")");
    ef_node_attrs_text(n, t);
    for (int k = 0; k < n->n_out; k++)
        ef_text_add(t, "%s%s %s", k > 0 ? ", " : " : ", ef_dtype_name(n->out[k].dtype),
                    EF_SHAPE(&n->out[k].shape));
    if (n->name != NULL) ef_text_add(t, "  \"%s\"", n->name);
    if (n->place > 0) {
        const ef_place *p = &g->place[n->place - 1];
        ef_text_add(t, "  # %s:%d in %s", p->file, (int)p->line, p->function);
    }
    ef_text_add(t, "\n");
}

static void print_graph(ef_text *t, const ef_graph *g, int indent) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        print_node(t, g, n, indent);
        ef_control c;
        ef_control_of(n->op, n->fields, &c);
        for (int f = 0; f < c.n_funcs; f++) {
            ef_text_add(t, "%*sfunction %d:\n", indent + 2, "", f);
            print_graph(t, c.func[f], indent + 4);
        }
    }
    ef_text_add(t, "%*sreturn", indent, "");
    for (size_t k = 0; k < g->n_outputs; k++)
        ef_text_add(t, "%s%%%d.%d", k > 0 ? ", " : " ", g->output[k].node, g->output[k].index);
    ef_text_add(t, "\n");
}

ef_status *ef_graph_text(const ef_graph *g, char **out) {
    ef_text t = {0};
    print_graph(&t, g, 0);
    if (t.failed) {
        ef_text_free(&t);
        return ef_no_memory(t.cap);
    }
    *out = t.at;
    return NULL;
}
