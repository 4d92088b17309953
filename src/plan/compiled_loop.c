/* Loops over scalars and short vectors, compiled whole (src/jit/loop.h). A loop qualifies if every
 * variable is a number, a truth value or a short vector of numbers, and every op of condition and
 * body is an expression the compiler knows; any other loop runs on frames (loop.c). */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "base/option.h"
#include "jit/loop.h"
#include "plan/subplan.h"
#include "profile/event.h"

enum { MOST_NODES = 128, MOST_COUNT = 128, MOST_BYTES = 16 << 10 };

typedef struct compiled_loop {
    ef_jit_loop *code;
    ef_jit_loop_fn *run;
    int n;
    ef_jit_home *var; /* the home of each variable */
    int32_t bytes;
    char *image; /* the homes' content when a loop begins: constants, else zeros */
} compiled_loop;

/* While it is made. */
typedef struct maker {
    compiled_loop *c;
    ef_jit_home *home[2]; /* of output 0 of each node of condition and body; dtype 0: none */
    ef_tensor const *constant[2 * MOST_NODES];
    int32_t constant_at[2 * MOST_NODES];
    int n_constants;
    ef_jit_home apart[MOST_NODES]; /* dtype 0: none */
} maker;

/* ---- running --------------------------------------------------------------------------------- */

static void read_home(const ef_jit_home *h, const char *home, void *to) {
    if (h->dtype == EF_BOOL)
        *(uint8_t *)to = home[h->at] != 0;
    else
        memcpy(to, home + h->at, (size_t)h->count * ef_dtype_size((ef_dtype)h->dtype));
}

static void write_home(const ef_jit_home *h, char *home, const void *from) {
    if (h->dtype == EF_BOOL)
        memset(home + h->at, *(const uint8_t *)from != 0 ? 255 : 0, EF_JIT_VECTOR);
    else
        memcpy(home + h->at, from, (size_t)h->count * ef_dtype_size((ef_dtype)h->dtype));
}

/* The loop does not count its iterations. Loops over a range have a counter, so the first integer
 * that has grown is taken for it. 0: there is none. */
static int64_t iterations(const compiled_loop *l, const char *home, ef_tensor *const *in) {
    for (int k = 0; k < l->n; k++) {
        int64_t before = 0, after = 0;
        if (l->var[k].count != 1) continue;
        if (l->var[k].dtype == EF_I32) {
            before = *(const int32_t *)in[k]->data;
            after = *(const int32_t *)(home + l->var[k].at);
        } else if (l->var[k].dtype == EF_I64) {
            before = *(const int64_t *)in[k]->data;
            after = *(const int64_t *)(home + l->var[k].at);
        }
        if (after > before) return after - before;
    }
    return 0;
}

static ef_status *run_compiled(const ef_call *c) {
    const compiled_loop *l = c->state;
    char *home = c->scratch;
    home += (EF_JIT_VECTOR - (uintptr_t)home % EF_JIT_VECTOR) % EF_JIT_VECTOR;
    memcpy(home, l->image, (size_t)l->bytes);
    for (int k = 0; k < l->n; k++) write_home(&l->var[k], home, c->in[k]->data);
    unsigned pulse = ef_interrupt_counter();
    uint64_t began = ef_loop_begins();
    while (l->run(home, &ef_interrupt_count, pulse) != 0)
        EF_TRY(ef_interrupt_check(c->context, &pulse));
    if (EF_UNLIKELY(began != 0)) ef_loop_ended(began, iterations(l, home, c->in));
    for (int k = 0; k < l->n; k++) {
        ef_shape shape = ef_shape_from(c->in[k]);
        ef_tensor *out = c->out[k];
        if (out->data == NULL) EF_TRY(ef_tensor_alloc(out, (ef_dtype)out->dtype, &shape));
        read_home(&l->var[k], home, out->data);
    }
    return NULL;
}

static void compiled_release(void *state) {
    compiled_loop *l = state;
    ef_jit_loop_release(l->code);
    ef_free(l->var);
    ef_free(l->image);
    ef_free(l);
}

/* ---- homes ----------------------------------------------------------------------------------- */

static bool known_type(ef_dtype t, int64_t count) {
    return t == EF_F32 || t == EF_F64 || t == EF_I32 || t == EF_I64 || (t == EF_BOOL && count == 1);
}

/* Makes a home for a value of that fact; false: values of that dtype or size have none. */
static bool new_home(maker *m, const ef_fact *f, ef_jit_home *h) {
    if (!ef_shape_known(&f->shape)) return false;
    int64_t count = ef_shape_count(&f->shape);
    if (count < 1 || count > MOST_COUNT) return false;
    if (f->dtype != EF_BOOL && !known_type(f->dtype, count)) return false;
    *h = (ef_jit_home){.dtype = (uint8_t)f->dtype, .count = (int32_t)count, .at = m->c->bytes};
    m->c->bytes += ef_jit_home_bytes(h);
    return m->c->bytes <= MOST_BYTES;
}

static bool new_constant(maker *m, const ef_fact *f, ef_jit_home *h) {
    if (!known_type(f->dtype, ef_shape_count(&f->shape)) || !new_home(m, f, h)) return false;
    m->constant[m->n_constants] = f->value;
    m->constant_at[m->n_constants++] = h->at;
    return true;
}

/* ---- code ------------------------------------------------------------------------------------ */

static bool is_input(const ef_graph *g, int32_t node, int *k) {
    for (size_t j = 0; j < g->n_inputs; j++)
        if (g->input[j] == node) {
            *k = (int)j;
            return true;
        }
    return false;
}

/* Whether a node shares the home of variable k: it is the variable, or a view of it. */
static bool lives_in(const maker *m, const ef_graph *g, int k, int32_t node) {
    const ef_jit_home *h = &m->home[1][node];
    return node == g->input[k] || (h->dtype != 0 && h->at == m->c->var[k].at);
}

/* Whether node `id` or a later one, or an output, still reads variable k: then its new value must
 * not overwrite it yet. */
static bool read_from(const maker *m, const ef_graph *g, int k, int32_t id) {
    for (size_t n = (size_t)id; n < g->n_nodes; n++)
        for (int i = 0; i < g->node[n]->n_in; i++)
            if (lives_in(m, g, k, g->node[n]->in[i].node)) return true;
    for (size_t o = 0; o < g->n_outputs; o++)
        if (lives_in(m, g, k, g->output[o].node)) return true;
    return false;
}

/* The variable that may be overwritten by what node n computes, or -1. */
static int becomes(const maker *m, const ef_graph *g, const ef_node *n) {
    int only = -1;
    for (size_t k = 0; k < g->n_outputs; k++) {
        if (g->output[k].node != n->id) continue;
        if (only >= 0) return -1;
        only = (int)k;
    }
    return only >= 0 && !read_from(m, g, only, n->id + 1) ? only : -1;
}

static bool same_kind(const ef_jit_home *h, const ef_fact *f) {
    return h->dtype == f->dtype && ef_shape_known(&f->shape) &&
           h->count == ef_shape_count(&f->shape);
}

static bool add_node(maker *m, const ef_graph *g, int part, const ef_node *n) {
    ef_jit_home *home = m->home[part], *h = &home[n->id];
    const ef_fact *f = &n->out[0];
    if (n->n_out != 1 || n->n_after > 0 || (n->op->traits & (EF_STATEFUL | EF_EFFECT)))
        return false;
    if (f->value != NULL) return new_constant(m, f, h);
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k].index != 0 || home[n->in[k].node].dtype == 0) return false;
    if (n->op->traits & EF_VIEW_0) {
        *h = home[n->in[0].node];
        return same_kind(h, f);
    }
    bool cast = n->op->traits & EF_CONVERTS;
    bool expression =
        (n->op->traits & EF_ELEMENTWISE) && n->op->expr != NULL && n->op->tile != NULL;
    if (n->n_in > EF_JIT_LOOP_IN || (!cast && !expression)) return false;
    int var = part == 1 ? becomes(m, g, n) : -1;
    if (var >= 0 && same_kind(&m->c->var[var], f) && f->dtype != EF_BOOL)
        *h = m->c->var[var];
    else if (!new_home(m, f, h))
        return false;
    ef_jit_loop_ins x = {.expr = cast ? NULL : n->op->expr, .n_in = n->n_in, .out = *h};
    ef_dtype type = EF_NO_DTYPE; /* one for all operands but masks */
    for (int k = 0; k < n->n_in; k++) {
        x.in[k] = home[n->in[k].node];
        if (x.in[k].dtype == EF_BOOL) continue;
        if (type != EF_NO_DTYPE && type != x.in[k].dtype) return false;
        type = (ef_dtype)x.in[k].dtype;
    }
    if (!cast && f->dtype != EF_BOOL && f->dtype != type) return false;
    if (!ef_jit_loop_add(m->c->code, &x)) return false;
    h->wide = x.out.wide;
    return true;
}

static bool add_part(maker *m, const ef_graph *g, int part) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        int var;
        const ef_node *n = g->node[k];
        if (!(n->op->traits & EF_NO_KERNEL)) {
            if (!add_node(m, g, part, n)) return false;
        } else if (is_input(g, (int32_t)k, &var)) {
            m->home[part][k] = m->c->var[var];
            if (ef_shape_known(&n->out[0].shape) && !same_kind(&m->c->var[var], &n->out[0]))
                return false;
        }
    }
    return true;
}

/* Copies new values that have another home to their variables. A new value that is the old value of
 * another variable is first copied aside, since that variable may be overwritten before. */
static bool copy_back(maker *m, const ef_graph *body) {
    compiled_loop *c = m->c;
    for (int k = 0; k < c->n; k++) {
        ef_jit_home *from = &m->home[1][body->output[k].node];
        if (body->output[k].index != 0 || from->dtype != c->var[k].dtype ||
            from->count != c->var[k].count)
            return false;
        bool of_another = false;
        for (int j = 0; j < c->n; j++) of_another |= j != k && from->at == c->var[j].at;
        if (!of_another) continue;
        ef_jit_home apart = *from;
        apart.at = c->bytes;
        c->bytes += ef_jit_home_bytes(&apart);
        m->apart[k] = apart;
        if (!ef_jit_loop_copy(c->code, &apart, from)) return false;
    }
    for (int k = 0; k < c->n; k++) {
        const ef_jit_home *from =
            m->apart[k].dtype != 0 ? &m->apart[k] : &m->home[1][body->output[k].node];
        if (from->at != c->var[k].at && !ef_jit_loop_copy(c->code, &c->var[k], from)) return false;
    }
    return c->bytes <= MOST_BYTES;
}

static bool compile(maker *m, const ef_control *control, const ef_fact *in) {
    compiled_loop *c = m->c;
    const ef_graph *cond = control->func[0], *body = control->func[1];
    for (int k = 0; k < c->n; k++)
        if (!known_type(in[k].dtype, ef_shape_count(&in[k].shape)) ||
            !new_home(m, &in[k], &c->var[k]))
            return false;
    if ((c->code = ef_jit_loop_begin()) == NULL || !add_part(m, cond, 0)) return false;
    const ef_jit_home *verdict = &m->home[0][cond->output[0].node];
    if (cond->output[0].index != 0 || verdict->dtype != EF_BOOL || verdict->count != 1 ||
        !ef_jit_loop_test(c->code, verdict))
        return false;
    return add_part(m, body, 1) && copy_back(m, body) &&
           (c->run = ef_jit_loop_end(c->code)) != NULL;
}

static bool fill_image(maker *m) {
    compiled_loop *c = m->c;
    if ((c->image = ef_calloc((size_t)c->bytes + 1, 1)) == NULL) return false;
    for (int k = 0; k < m->n_constants; k++) {
        const ef_tensor *t = m->constant[k];
        ef_jit_home h = {.dtype = t->dtype, .count = (int32_t)ef_count(t), .at = m->constant_at[k]};
        write_home(&h, c->image, t->data);
    }
    return true;
}

static bool may_compile(const ef_control *control, const ef_fact *in, int n) {
    const ef_graph *cond = control->func[0], *body = control->func[1];
    if (cond->n_nodes > MOST_NODES || body->n_nodes > MOST_NODES || cond->n_outputs != 1 ||
        body->n_outputs != (size_t)n || n > MOST_NODES || ef_option_has("EF_PASSES", "-jit"))
        return false;
    for (int k = 0; k < n; k++)
        if (!ef_shape_known(&in[k].shape)) return false;
    return true;
}

ef_status *ef_plan_compiled_loop(const ef_control *control, const ef_fact *in, int n,
                                 ef_plan_step *step) {
    if (!may_compile(control, in, n)) return NULL;
    compiled_loop *c = ef_calloc(1, sizeof *c);
    maker *m = ef_calloc(1, sizeof *m);
    ef_jit_home *home = ef_calloc(2 * MOST_NODES, sizeof *home);
    if (c != NULL) c->var = ef_calloc((size_t)n + 1, sizeof *c->var);
    bool ok = c != NULL && c->var != NULL && m != NULL && home != NULL;
    if (ok) {
        c->n = n;
        *m = (maker){.c = c, .home = {home, home + MOST_NODES}};
        ok = compile(m, control, in) && fill_image(m);
    }
    if (ok) {
        step->run = run_compiled;
        step->state = c;
        step->release = compiled_release;
        step->scratch_bytes = (size_t)c->bytes + EF_JIT_VECTOR;
    } else if (c != NULL) {
        compiled_release(c); /* without memory, too, the loop runs on frames */
    }
    ef_free(m);
    ef_free(home);
    return NULL;
}
