/* A user's own gradients. Eagerly the callback is stored in a record of the tape. In a graph it is
 * called immediately, inside a function graph of its own, and the outputs go through a node that
 * has that function as an attribute: every differentiation of the graph finds it there. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape/tape.h"
#include "ops/engine_nodes.h"

typedef struct writing { /* a gradient that is being traced */
    int n_in, n_out;
    ef_tensor *dout, *din;
    ef_graph *graph;  /* as recorded */
    ef_graph *closed; /* with what it captures as further inputs */
    int32_t *captures;
    int n_captures, n_given; /* n_given: gradients that it returns */
    int64_t *to;             /* the argument that each belongs to */
    ef_edge *given;
} writing;

static void writing_end(writing *w) {
    for (int k = 0; w->dout != NULL && k < w->n_out; k++) ef_tensor_release(&w->dout[k]);
    for (int k = 0; w->din != NULL && k < 3 * w->n_in; k++) ef_tensor_release(&w->din[k]);
    ef_graph_unref(w->graph);
    ef_graph_unref(w->closed);
    ef_free(w->dout);
    ef_free(w->din);
    ef_free(w->captures);
    ef_free(w->to);
    ef_free(w->given);
}

static ef_status *writing_begin(writing *w, int n_in, int n_out) {
    size_t in = 3 * (size_t)n_in + 1;
    *w = (writing){.n_in = n_in, .n_out = n_out};
    w->dout = ef_calloc((size_t)n_out + 1, sizeof *w->dout);
    w->din = ef_calloc(in, sizeof *w->din);
    w->to = ef_malloc(in * sizeof *w->to);
    w->given = ef_malloc(in * sizeof *w->given);
    w->graph = ef_graph_make();
    if (w->dout == NULL || w->din == NULL || w->to == NULL || w->given == NULL || w->graph == NULL)
        return ef_no_memory(in * sizeof *w->din);
    w->graph->function = true;
    return NULL;
}

/* One parameter for each output that can have a gradient. */
static ef_status *take_douts(writing *w, const ef_tensor *out) {
    for (int k = 0; k < w->n_out; k++) {
        if (!ef_dtype_in((ef_dtype)out[k].dtype, EF_FLOATS | EF_COMPLEX)) continue;
        ef_shape shape = ef_shape_from(&out[k]);
        for (int d = 0; d < shape.rank; d++)
            if (shape.dim[d] < 0) shape.dim[d] = EF_DIM_UNKNOWN; /* symbols belong to one graph */
        ef_edge e;
        EF_TRY(ef_graph_input(w->graph, (ef_dtype)out[k].dtype, &shape, NULL, &e));
        ef_graph_tensor(w->graph, e, &w->dout[k]);
    }
    return NULL;
}

/* Calls the user's function, which adds its ops to the graph; no tape is recording. */
static ef_status *call_user(writing *w, ef_custom_gradient *gradient, void *user) {
    ef_thread_state before = ef_here;
    ef_graph_nest(w->graph, ef_here.graph);
    ef_here.graph = w->graph;
    ef_here.busy = EF_TRACING;
    ef_here.next_name = ef_here.next_kind = NULL;
    ef_status *s = gradient(user, w->dout, w->n_out, w->din, w->n_in);
    for (int k = 0; k < 3 * w->n_in && s == NULL; k++) {
        if (w->din[k].dtype == EF_NO_DTYPE) continue;
        w->to[w->n_given] = k / 3;
        s = ef_graph_import(w->graph, &w->din[k], &w->given[w->n_given++]);
    }
    ef_here = before;
    w->graph->outer = NULL;
    return s;
}

static ef_status *close_function(writing *w) {
    ef_graph *g = w->graph;
    ef_edge *feed = ef_malloc((g->n_inputs + 1) * sizeof *feed);
    w->captures = ef_malloc((g->n_captures + 1) * sizeof *w->captures);
    ef_status *s = NULL;
    if (feed == NULL || w->captures == NULL) {
        s = ef_no_memory(g->n_inputs * sizeof *feed);
    } else {
        for (size_t k = 0; k < g->n_inputs; k++) feed[k] = (ef_edge){g->input[k], 0};
        s = ef_graph_extract(g, feed, (int)g->n_inputs, w->given, w->n_given, NULL, 0, &w->closed,
                             w->captures, &w->n_captures);
    }
    ef_free(feed);
    return s;
}

static bool touches_outside(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        uint32_t traits = g->node[k]->op->traits;
        if (!(traits & EF_NO_KERNEL) && (traits & (EF_STATEFUL | EF_EFFECT))) return true;
    }
    return false;
}

static ef_status *node_attrs(const writing *w, const ef_op *op, const ef_tensor *out,
                             const ef_attrs **attrs) {
    ef_dtype *types = ef_malloc((size_t)(w->n_out + w->n_given + 1) * sizeof *types);
    if (types == NULL) return ef_no_memory((size_t)w->n_out * sizeof *types);
    for (int k = 0; k < w->n_out; k++) types[k] = (ef_dtype)out[k].dtype;
    for (int k = 0; k < w->n_given; k++)
        types[w->n_out + k] = ef_edge_fact(w->graph, w->given[k])->dtype;
    ef_attr_value set[] = {EF_SET_TYPES("Tout", w->n_out, types),
                           EF_SET_INT("n_args", w->n_in),
                           EF_SET_FUNCS("grad", 1, &w->closed),
                           EF_SET_TYPES("Tgrad", w->n_given, types + w->n_out),
                           EF_SET_INTS("to", w->n_given, w->to),
                           EF_SET_BOOL("is_stateful", touches_outside(w->closed))};
    ef_status *s = ef_attrs_make(op, set, (int)(sizeof set / sizeof *set), attrs);
    ef_free(types);
    return s;
}

/* The outputs again, by way of the node. */
static ef_status *add_node(const writing *w, const ef_tensor *const *in, ef_tensor *out) {
    const ef_op *op = ef_custom_gradient_op;
    const ef_attrs *attrs = NULL;
    int n_all = w->n_out + w->n_in + w->n_captures, n = 0, made = 0;
    const ef_tensor **all = ef_malloc(((size_t)n_all + 1) * sizeof *all);
    ef_tensor *fresh = ef_calloc((size_t)w->n_out + 1, sizeof *fresh);
    ef_status *s = NULL;
    if (all == NULL || fresh == NULL) {
        s = ef_no_memory((size_t)n_all * sizeof *all);
        goto done;
    }
    for (int k = 0; k < w->n_out; k++) all[n++] = &out[k];
    for (int k = 0; k < w->n_in; k++) all[n++] = in[k];
    for (int k = 0; k < w->n_captures; k++) all[n++] = &w->graph->capture[w->captures[k]].tensor;
    EF_TRY_GOTO(node_attrs(w, op, out, &attrs));
    EF_TRY_GOTO(ef_record(ef_here.graph, op, attrs, all, n_all, fresh, w->n_out, &made));
    for (int k = 0; k < made; k++) {
        ef_tensor_release(&out[k]);
        ef_tensor_move(&out[k], &fresh[k]);
    }
done:
    ef_attrs_unref(attrs);
    ef_free(all);
    ef_free(fresh);
    return s;
}

static ef_status *attach_recorded(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                                  ef_custom_gradient *gradient, void *user) {
    writing w;
    ef_status *s;
    EF_TRY_GOTO(writing_begin(&w, n_in, n_out));
    EF_TRY_GOTO(take_douts(&w, out));
    EF_TRY_GOTO(call_user(&w, gradient, user));
    EF_TRY_GOTO(close_function(&w));
    s = add_node(&w, in, out);
done:
    writing_end(&w);
    return s;
}

static bool any_symbolic(const ef_tensor *t, int n) {
    for (int k = 0; k < n; k++)
        if (t[k].flags & EF_TENSOR_SYMBOLIC) return true;
    return false;
}

/* Outside all graphs, the graph of the outputs is used. */
static ef_status *attach_at_home(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                                 ef_custom_gradient *gradient, void *user) {
    ef_graph *home = NULL;
    for (int k = 0; k < n_out && home == NULL; k++) {
        const ef_tensor *one = &out[k];
        EF_TRY(ef_enter_home("ef_custom_gradient_attach", &one, 1, &home));
    }
    ef_status *s = attach_recorded(in, n_in, out, n_out, gradient, user);
    ef_leave_home(home);
    return s;
}

ef_status *ef_custom_gradient_attach(const ef_tensor *const *in, int n_in, ef_tensor *out,
                                     int n_out, ef_custom_gradient *gradient, void *user,
                                     void (*end)(void *)) {
    ef_status *s = NULL;
    bool held = false; /* by a record */
    ef_eager_start();
    if (n_in < 0 || n_out < 0 || gradient == NULL || (n_in > 0 && in == NULL) ||
        (n_out > 0 && out == NULL))
        s = ef_error(EF_INVALID,
                     "ef_custom_gradient_attach: in, out and gradient must not be NULL");
    for (int k = 0; k < n_in && s == NULL; k++)
        if (in[k] == NULL || in[k]->dtype == EF_NO_DTYPE)
            s = ef_error(EF_INVALID, "ef_custom_gradient_attach: input %d is NULL or released", k);
    for (int k = 0; k < n_out && s == NULL; k++)
        if (out[k].dtype == EF_NO_DTYPE)
            s = ef_error(EF_INVALID, "ef_custom_gradient_attach: output %d is released", k);
    if (s != NULL) {
        held = false;
    } else if ((ef_here.busy & EF_TRACING) || any_symbolic(out, n_out)) {
        s = attach_at_home(in, n_in, out, n_out, gradient, user);
    } else if (ef_here.busy & EF_TAPING) {
        for (int k = 0; k < n_out; k++)
            ef_tensor_unmark(&out[k]); /* the ops that computed it are not differentiated */
        if (ef_tape_interested(in, n_in)) {
            s = ef_tape_note_custom(in, n_in, out, n_out, gradient, user, end);
            held = true;
        }
    }
    if (!held && end != NULL) end(user);
    return s;
}
