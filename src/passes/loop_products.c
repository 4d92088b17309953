/* Matrix products of a loop's iterations that do not depend on each other become one product. A
 * large one runs near the peak of the processor on all cores; small ones do not.
 *
 *   ahead    x[t] W, where x is a list of slices that the loop reads from front to back and no
 *            iteration changes W: one product of the whole tensor before the loop
 *   summed   s += transpose(a[t]) b[t], where only the final sum is used: the loop pushes
 *            a[t] and b[t] to lists, and one product of the stacked lists follows it. The order of
 *            the sum over t is then the order within a product, see docs/choices.md. Sums of the
 *            columns of a[t], which are gradients of a bias, likewise. What the loop pops from
 *            a list until that is empty is not pushed again: the list itself is stacked, and the
 *            new lists are then stacked from their ends. If an earlier loop filled the list with
 *            all slices of a tensor, the tensor is used
 *   turned   x transpose(W), where no iteration changes W: it is transposed once, before the loop
 */
#include "graph/build_graph.h"
#include "ops/searched_ops.h"
#include "passes/loop.h"

enum { MOST = EF_LOOP_MOST_NEW / 2 };
/* Lists for sums may hold this many times what the loop takes from other lists. */
enum { MOST_MEMORY = 4 };

typedef struct found {
    enum { AHEAD, SUMMED, TURNED } kind;
    const ef_node *node; /* of the body: the product, or the sum */
    const ef_node *product;
    int variable;     /* SUMMED: the sum */
    int fixed;        /* others: the variable that is W */
    int first, other; /* new variables; SUMMED: lists of the operands, where OLD + k is variable k
                       * of the old loop; other -1: there is one */
} found;
enum { OLD = EF_LOOP_MOST_NEW };

typedef struct products {
    ef_loop_change change; /* must be first: it is the `user` of the walk of the body */
    ef_loop loop;
    found found[MOST];
    int n;
    const ef_graph *around;           /* the graph around the new loop, */
    const ef_edge *in;                /* and the first values of the old loop's variables in it */
    bool empties;                     /* the loop pops all elements of some lists */
    ef_edge pushed[EF_LOOP_MOST_NEW]; /* by new variable: what it collects; node -1: nothing */
    ef_edge pushed_in_new[EF_LOOP_MOST_NEW];
    ef_fact fact[EF_LOOP_MOST_NEW];
} products;

static const ef_graph *body_of(const products *p) { return p->loop.body; }

static bool flag(const ef_node *n, const char *attr) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(n->op, n->fields, attr, &v);
    ef_status_free(s);
    return s == NULL && v.as.b;
}

/* A matrix of known sizes, none of them 0, since a reshape cannot infer the number of rows without
 * elements. */
static bool has_elements(const ef_graph *g, ef_edge e) {
    const ef_shape *s = &ef_edge_fact(g, e)->shape;
    return ef_shape_known(s) && ef_shape_count(s) > 0;
}

static bool is_product(const ef_graph *g, const ef_node *n) {
    return n->op->role == EF_ROLE_PRODUCT && n->n_after == 0 &&
           ef_dtype_in(n->out->dtype, EF_FLOATS) && has_elements(g, n->in[0]) &&
           has_elements(g, n->in[1]);
}

static int64_t bytes_of(const ef_fact *f) {
    return ef_shape_known(&f->shape) ? ef_shape_count(&f->shape) * (int64_t)ef_dtype_size(f->dtype)
                                     : 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

static int new_variable(products *p, const ef_fact *fact, ef_edge pushed) {
    int k = p->change.n_more++;
    p->fact[k] = (ef_fact){.dtype = fact->dtype, .shape = fact->shape};
    p->change.more[k] = &p->fact[k];
    p->pushed[k] = pushed;
    return k;
}

static const ef_fact a_list = {.dtype = EF_VARIANT};

static int input_of(const ef_graph *body, ef_edge e) {
    for (size_t k = 0; k < body->n_inputs; k++)
        if (body->input[k] == e.node) return (int)k;
    return -1;
}

static int input_at(const products *p, ef_edge e) { return input_of(body_of(p), e); }

/* The variable from which the loop pops e, until the list is empty; else -1. */
static int popped_from(const products *p, ef_edge e) {
    const ef_node *n = body_of(p)->node[e.node];
    if (!p->empties || n->op->role != EF_ROLE_POP || e.index != 1) return -1;
    int k = input_at(p, n->in[0]);
    return k >= 0 && ef_loop_empties(p->around, &p->loop, p->in, (size_t)k) ? k : -1;
}

static int list_of(products *p, ef_edge e) {
    int old = popped_from(p, e);
    if (old >= 0) return OLD + old;
    for (int k = 0; k < p->change.n_more; k++)
        if (ef_edge_same(p->pushed[k], e)) return k;
    return new_variable(p, &a_list, e);
}

/* The list that item n reads, if its elements are the slices of a tensor of known shape and the
 * loop runs at least once for each; else -1. */
static ef_status *whole_list(const ef_walk *w, const ef_loop *l, const ef_edge *in,
                             const ef_node *item, int *list) {
    int at = ef_loop_fixed_at(l, item->in[0]), index = input_of(l->body, item->in[1]);
    *list = -1;
    if (at < 0 || index < 0 || w->to->node[in[at].node]->op->role != EF_ROLE_SLICES) return NULL;
    ef_edge whole = w->to->node[in[at].node]->in[0];
    const ef_shape *s = &ef_edge_fact(w->to, whole)->shape;
    const ef_tensor *start = ef_edge_fact(w->to, in[index])->value;
    if (!ef_shape_known(s) || s->rank != 3 || s->dim[0] < 2) return NULL;
    if (start == NULL || start->data == NULL ||
        ef_element_int((ef_dtype)start->dtype, start->data, 0) != 0)
        return NULL;
    bool runs;
    EF_TRY(ef_loop_runs(w, l, in, s->dim[0] - 1, &runs));
    if (runs) *list = at;
    return NULL;
}

static ef_status *find_ahead(const ef_walk *w, products *p, const ef_edge *in, const ef_node *n,
                             bool *yes) {
    const ef_node *item = body_of(p)->node[n->in[0].node];
    int fixed = ef_loop_fixed_at(&p->loop, n->in[1]), list;
    *yes = false;
    if (item->op->role != EF_ROLE_ITEM || fixed < 0 || flag(n, "transpose_a")) return NULL;
    if (!ef_shape_equal(&ef_edge_fact(w->to, in[fixed])->shape,
                        &ef_edge_fact(body_of(p), n->in[1])->shape))
        return NULL;
    EF_TRY(whole_list(w, &p->loop, in, item, &list));
    *yes = list >= 0;
    if (!*yes) return NULL;
    int k = new_variable(p, &a_list, (ef_edge){-1, 0});
    p->found[p->n++] = (found){
        .kind = AHEAD, .node = n, .product = n, .variable = list, .fixed = fixed, .first = k};
    return NULL;
}

static void find_turned(const ef_walk *w, products *p, const ef_edge *in, const ef_node *n) {
    int fixed = ef_loop_fixed_at(&p->loop, n->in[1]);
    if (fixed < 0 || !flag(n, "transpose_b") || ef_loop_fixed_at(&p->loop, n->in[0]) >= 0) return;
    ef_fact turned = *ef_edge_fact(body_of(p), n->in[1]);
    if (!ef_shape_equal(&ef_edge_fact(w->to, in[fixed])->shape, &turned.shape)) return;
    turned.shape = (ef_shape){.rank = 2, .dim = {turned.shape.dim[1], turned.shape.dim[0]}};
    int k = new_variable(p, &turned, (ef_edge){-1, 0});
    p->found[p->n++] = (found){.kind = TURNED, .node = n, .product = n, .fixed = fixed, .first = k};
}

/* Whether nothing in the body but the sum reads its variable or the product. */
static bool only_summed(const products *p, int variable, const ef_node *sum, int32_t product) {
    const ef_graph *g = body_of(p);
    for (size_t k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_in && g->node[k] != sum; i++)
            if (g->node[k]->in[i].node == g->input[variable] || g->node[k]->in[i].node == product)
                return false;
    for (size_t k = 0; k < g->n_inputs; k++) {
        const ef_edge e = g->output[k];
        if ((int)k != variable && (e.node == sum->id || e.node == product)) return false;
    }
    return true;
}

/* The bytes that the body pops from lists in an iteration. */
static int64_t popped_bytes(const products *p) {
    int64_t total = 0;
    for (size_t k = 0; k < body_of(p)->n_nodes; k++)
        if (body_of(p)->node[k]->op->role == EF_ROLE_POP)
            total += bytes_of(&body_of(p)->node[k]->out[1]);
    return total;
}

/* transpose(a) b */
static bool is_product_of_columns(const ef_graph *g, const ef_node *n) {
    return is_product(g, n) && flag(n, "transpose_a") && !flag(n, "transpose_b");
}

/* The sums of the columns of a matrix. */
static bool is_sum_of_rows(const ef_graph *g, const ef_node *n) {
    return n->op == ef_column_sums_op && n->n_after == 0 && ef_dtype_in(n->out->dtype, EF_FLOATS) &&
           has_elements(g, n->in[0]) && ef_edge_fact(g, n->in[0])->shape.rank == 2;
}

/* The bytes that a new list of the value would take in an iteration; 0 if there is a list. */
static int64_t list_bytes(const products *p, ef_edge e) {
    if (popped_from(p, e) >= 0) return 0;
    for (int k = 0; k < p->change.n_more; k++)
        if (ef_edge_same(p->pushed[k], e)) return 0;
    return bytes_of(ef_edge_fact(body_of(p), e));
}

typedef bool is_term_fn(const ef_graph *g, const ef_node *n);
static void find_summed(products *p, int variable, is_term_fn *is_term, int64_t *room) {
    const ef_graph *g = body_of(p);
    const ef_node *sum = g->node[g->output[variable].node];
    if (sum->op->role != EF_ROLE_SUM || sum->n_after > 0) return;
    for (int i = 0; i < 2; i++) {
        const ef_node *n = g->node[sum->in[1 - i].node];
        if (sum->in[i].node != g->input[variable] || !is_term(g, n) ||
            !only_summed(p, variable, sum, n->id) ||
            !ef_shape_equal(&g->node[g->input[variable]]->out->shape, &n->out->shape))
            continue;
        int64_t more = 0;
        for (int k = 0; k < n->n_in; k++) more += list_bytes(p, n->in[k]);
        if (more > *room) continue;
        *room -= more;
        int first = list_of(p, n->in[0]), other = n->n_in > 1 ? list_of(p, n->in[1]) : -1;
        p->found[p->n++] = (found){SUMMED, sum, n, variable, -1, first, other};
        return;
    }
}

static ef_status *find(const ef_walk *w, products *p, const ef_edge *in) {
    const ef_graph *g = body_of(p);
    int64_t room = MOST_MEMORY * popped_bytes(p);
    p->around = w->to, p->in = in;
    p->empties = ef_loop_emptied(w->to, &p->loop, in) >= 0;
    for (int k = 0; k < (int)g->n_inputs && p->n < MOST; k++)
        find_summed(p, k, is_product_of_columns, &room);
    for (int k = 0; k < (int)g->n_inputs && p->n < MOST; k++)
        find_summed(p, k, is_sum_of_rows, &room);
    for (size_t k = 0; k < g->n_nodes && p->n < MOST; k++) {
        bool ahead = false;
        if (!is_product(g, g->node[k])) continue;
        EF_TRY(find_ahead(w, p, in, g->node[k], &ahead));
        if (!ahead && p->n < MOST) find_turned(w, p, in, g->node[k]);
    }
    return NULL;
}

/* ---- the body -------------------------------------------------------------------------------- */

static ef_edge new_input(const ef_walk *w, const products *p, int k) {
    return (ef_edge){w->to->input[body_of(p)->n_inputs + (size_t)k], 0};
}

/* The product is an element of the list of all products. */
static ef_status *read_ahead(ef_walk *w, const products *p, const found *f, ef_edge *out) {
    const ef_node *item = body_of(p)->node[f->product->in[0].node];
    const ef_shape *s = &f->product->out->shape;
    ef_tensor shape = {0};
    EF_TRY(ef_tensor_alloc(&shape, EF_I32, &(ef_shape){.rank = 1, .dim = {s->rank}}));
    for (int d = 0; d < s->rank; d++) ((int32_t *)shape.data)[d] = (int32_t)s->dim[d];
    ef_edge in[] = {new_input(w, p, f->first), ef_walk_moved(w, item->in[1]), {-1, 0}};
    ef_status *bad = ef_walk_constant(w, &shape, &in[2]);
    ef_tensor_release(&shape);
    if (bad != NULL) return bad;
    return ef_walk_add(w, item->op, item->attrs, in, 3, out);
}

static ef_status *use_turned(ef_walk *w, const products *p, const found *f, const ef_edge *in,
                             ef_edge *out) {
    ef_attr_value set[] = {EF_SET_BOOL("transpose_b", false)};
    const ef_attrs *attrs = NULL;
    EF_TRY(ef_attrs_like(f->node->op, f->node->op, f->node->fields, set, 1, &attrs));
    ef_edge with[] = {in[0], new_input(w, p, f->first)};
    ef_status *s = ef_walk_add(w, f->node->op, attrs, with, 2, out);
    ef_attrs_unref(attrs);
    return s;
}

static ef_status *visit_body(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    products *p = (products *)w->user;
    for (int k = 0; k < p->n && !*done; k++) {
        const found *f = &p->found[k];
        if (f->node != n) continue;
        *done = true;
        if (f->kind == AHEAD) return read_ahead(w, p, f, out);
        if (f->kind == TURNED) return use_turned(w, p, f, in, out);
        if (f->first < OLD) p->pushed_in_new[f->first] = ef_walk_moved(w, f->product->in[0]);
        if (f->other >= 0 && f->other < OLD)
            p->pushed_in_new[f->other] = ef_walk_moved(w, f->product->in[1]);
        out[0] = (ef_edge){w->to->input[f->variable], 0};
    }
    return NULL;
}

/* Pushes the operands of the sums to their lists. */
static ef_status *finish_body(ef_loop_change *c, ef_graph *body, ef_edge *back) {
    products *p = (products *)c;
    ef_graph_build b;
    ef_graph_build_begin(&b, body);
    for (int k = 0; k < c->n_more; k++) {
        if (p->pushed[k].node < 0) continue;
        ef_value *list =
            ef_emit(&b.base, "TensorListPushBack", 2, ef_graph_build_value(&b, back[k]),
                    ef_graph_build_value(&b, p->pushed_in_new[k]));
        if (list != NULL) back[k] = ef_graph_build_edge(list);
    }
    return ef_graph_build_end(&b);
}

/* ---- around the loop ------------------------------------------------------------------------- */

static ef_value *ints(ef_build *b, const ef_shape *s) {
    return ef_const_ints(b, EF_I32, s->rank, s->dim);
}

/* The list of x[t] W: one product of all rows. */
static ef_value *all_ahead(ef_graph_build *b, const products *p, const found *f,
                           const ef_edge *in) {
    const ef_edge whole = b->graph->node[in[f->variable].node]->in[0];
    const ef_shape *x = &ef_edge_fact(b->graph, whole)->shape, *y = &f->product->out->shape;
    const ef_shape rows = {.rank = 2, .dim = {x->dim[0] * x->dim[1], x->dim[2]}};
    const ef_shape cube = {.rank = 3, .dim = {x->dim[0], y->dim[0], y->dim[1]}};
    ef_value *flat = ef_reshape(&b->base, ef_graph_build_value(b, whole), ints(&b->base, &rows));
    ef_value *product = ef_matmul(&b->base, flat, ef_graph_build_value(b, in[f->fixed]), false,
                                  flag(f->product, "transpose_b"));
    (void)p;
    return ef_emit(&b->base, "TensorListFromTensor", 2,
                   ef_reshape(&b->base, product, ints(&b->base, &cube)), ints(&b->base, y));
}

static ef_value *empty_list(ef_graph_build *b, const ef_fact *f) {
    ef_attr_value set[] = {EF_SET_TYPE("element_dtype", f->dtype)};
    return ef_emit_set(&b->base, "EmptyTensorList", set, 1, 2, ints(&b->base, &f->shape),
                       ef_const_number(&b->base, EF_I32, -1));
}

/* The first values of the new variables. */
static ef_status *begin_all(ef_walk *w, products *p, const ef_edge *in) {
    ef_graph_build b;
    ef_value *start[EF_LOOP_MOST_NEW] = {0};
    ef_graph_build_begin(&b, w->to);
    for (int k = 0; k < p->n; k++) {
        const found *f = &p->found[k];
        if (f->kind == AHEAD) start[f->first] = all_ahead(&b, p, f, in);
        if (f->kind == TURNED)
            start[f->first] = ef_transpose(&b.base, ef_graph_build_value(&b, in[f->fixed]), 2,
                                           (const int64_t[]){1, 0});
    }
    for (int k = 0; k < p->change.n_more; k++) {
        if (p->pushed[k].node >= 0)
            start[k] = empty_list(&b, ef_edge_fact(body_of(p), p->pushed[k]));
        if (start[k] != NULL) p->change.start[k] = ef_graph_build_edge(start[k]);
    }
    return ef_graph_build_end(&b);
}

/* Whether each iteration adds 1 to this integer variable. */
static bool counts_by_one(const ef_loop *l, int variable) {
    const ef_graph *g = l->body;
    const ef_node *sum = g->node[g->output[variable].node];
    if (sum->op->role != EF_ROLE_SUM) return false;
    for (int i = 0; i < 2; i++) {
        const ef_tensor *one = ef_edge_fact(g, sum->in[1 - i])->value;
        if (sum->in[i].node == g->input[variable] && one != NULL && one->data != NULL &&
            ef_dtype_in((ef_dtype)one->dtype, EF_INTS) && ef_count(one) == 1)
            return ef_element_int((ef_dtype)one->dtype, one->data, 0) == 1;
    }
    return false;
}

/* The tensor with whose slices, all of them in order, an earlier loop filled the list; else *node
 * is -1. An index beyond the last slice would have failed. */
static ef_status *tensor_of(const ef_walk *w, ef_edge list, ef_edge *tensor) {
    ef_loop l;
    ef_edge pushed;
    int at;
    *tensor = (ef_edge){-1, 0};
    if (!ef_loop_fills(w->to, list, &l, &pushed)) return NULL;
    const ef_node *item = l.body->node[pushed.node];
    if (item->op->role != EF_ROLE_ITEM) return NULL;
    EF_TRY(whole_list(w, &l, l.node->in, item, &at));
    if (at >= 0 && counts_by_one(&l, input_of(l.body, item->in[1])))
        *tensor = w->to->node[l.node->in[at].node]->in[0];
    return NULL;
}

/* The numbers of a list's elements, the last one first. */
static ef_value *from_the_end(ef_build *b, ef_value *list) {
    ef_value *n = ef_emit(b, "TensorListLength", 1, list), *down = ef_const_number(b, EF_I32, -1);
    return ef_emit(b, "Range", 3, ef_shift(b, n, -1), down, down);
}

/* All elements of a list, their rows one after the other; the elements in the order in which an
 * earlier loop pushed those that this one pops. */
static ef_status *stacked(ef_walk *w, ef_graph_build *b, const products *p, const ef_edge *in,
                          int list, ef_edge element, ef_value **out) {
    const ef_fact *f = ef_edge_fact(body_of(p), element);
    const ef_edge from = list >= OLD ? in[list - OLD] : p->change.start[list];
    ef_attr_value set[] = {EF_SET_TYPE("element_dtype", f->dtype)};
    ef_value *all, *shape = ints(&b->base, &f->shape), *v = ef_graph_build_value(b, from);
    ef_edge tensor = {-1, 0};
    if (list >= OLD) EF_TRY(tensor_of(w, from, &tensor));
    if (tensor.node >= 0)
        all = ef_graph_build_value(b, tensor);
    else if (list < OLD && p->empties)
        all = ef_emit_set(&b->base, "TensorListGather", set, 1, 3, v, from_the_end(&b->base, v),
                          shape);
    else
        all = ef_emit_set(&b->base, "TensorListStack", set, 1, 2, v, shape);
    *out = ef_reshape(&b->base, all,
                      ints(&b->base, &(ef_shape){.rank = 2, .dim = {-1, f->shape.dim[1]}}));
    return NULL;
}

static ef_status *sum_of(ef_walk *w, ef_graph_build *b, const products *p, const ef_edge *in,
                         const found *f, ef_value **out) {
    const ef_edge *operand = f->product->in;
    ef_value *first, *other;
    EF_TRY(stacked(w, b, p, in, f->first, operand[0], &first));
    if (f->other < 0) {
        *out = ef_emit(&b->base, "BiasAddGrad", 1, first);
        return NULL;
    }
    EF_TRY(stacked(w, b, p, in, f->other, operand[1], &other));
    *out = ef_matmul(&b->base, first, other, true, false);
    return NULL;
}

/* The sums, after the loop. */
static ef_status *end_all(ef_walk *w, const products *p, const ef_edge *in, ef_edge *out) {
    ef_graph_build b;
    ef_graph_build_begin(&b, w->to);
    for (int k = 0; k < p->n; k++) {
        const found *f = &p->found[k];
        if (f->kind != SUMMED) continue;
        ef_value *all;
        ef_status *bad = sum_of(w, &b, p, in, f, &all);
        if (bad != NULL) {
            ef_status_free(ef_graph_build_end(&b));
            return bad;
        }
        ef_value *sum = ef_add(&b.base, ef_graph_build_value(&b, in[f->variable]), all);
        if (sum != NULL) out[f->variable] = ef_graph_build_edge(sum);
    }
    EF_TRY(ef_graph_build_end(&b));
    return ef_walk_grown(w);
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    products p = {.change = {.visit = visit_body, .finish = finish_body}};
    if (!ef_loop_of(n, &p.loop) || ef_walk_waits(w, n)) return NULL;
    p.change.loop = &p.loop;
    EF_TRY(find(w, &p, in));
    if (p.n == 0) return NULL;
    *done = true;
    EF_TRY(begin_all(w, &p, in));
    EF_TRY(ef_loop_rebuild(w->user, w, &p.change, in, out));
    return end_all(w, &p, in, out);
}

ef_status *ef_pass_products(ef_passing *p, const ef_graph *g, ef_graph **out) {
    return ef_graph_has_loop(g) ? ef_walk_graph(g, visit, p, out) : NULL;
}
