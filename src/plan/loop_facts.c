/* Facts of loop variables. A loop in the body of another is inferred again in each of the outer
 * one's passes, and again when the body is planned, almost always from the same facts: a list that
 * the body makes is empty in every pass. So what was found is noted while a plan is being made;
 * without that, each level of nesting would double the work. */
#include "base/alloc.h"
#include "ops/list/list_fact.h"
#include "plan/subplan.h"

typedef struct known { /* what a loop makes of some facts */
    struct known *next;
    const ef_graph *body;
    int n;
    ef_fact fact[]; /* of the inputs, then of the variables, both with what they refer to */
} known;

enum { MOST_KNOWN = 256 };
static _Thread_local struct {
    int users, n;
    known *first;
} memo;

void ef_plan_facts_begin(void) { memo.users++; }

void ef_plan_facts_end(void) {
    if (--memo.users > 0) return;
    for (known *k = memo.first, *next; k != NULL; k = next) {
        next = k->next;
        ef_free(k);
    }
    memo.first = NULL;
    memo.n = 0;
}

void ef_plan_widen(ef_shape *s, const ef_shape *other) {
    if (s->rank != other->rank) {
        *s = ef_unknown_shape();
        return;
    }
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] != other->dim[d]) s->dim[d] = EF_DIM_UNKNOWN;
}

void ef_plan_widen_behind(ef_fact *out, ef_fact *own, const ef_fact *next, bool *changed) {
    if (out->handle == NULL) return;
    bool same = next->handle != NULL && next->handle->dtype == own->dtype;
    if (same && out->dtype == EF_VARIANT)
        same = ef_list_fact_widen(own, next->handle, changed);
    else if (same)
        same = ef_shape_equal(&own->shape, &next->handle->shape);
    if (same) return;
    out->handle = NULL;
    *changed = true;
}

void ef_plan_keep_behind(ef_fact *f, ef_fact *own) {
    if (f->handle == NULL) return;
    *own = *f->handle;
    f->handle = own;
}

/* Copies n facts, and behind them what they refer to. Values are no part of it: they differ from
 * one iteration to the next. */
static void copy_facts(ef_fact *to, ef_fact *behind, const ef_fact *from, int n) {
    for (int k = 0; k < n; k++) {
        to[k] = from[k];
        to[k].value = NULL;
        ef_plan_keep_behind(&to[k], &behind[k]);
    }
}

/* Of a list, dim[0] is its length whatever the rank. */
static bool same_behind(const ef_fact *a, const ef_fact *b) {
    const ef_fact *x = a->handle, *y = b->handle;
    if (x == NULL || y == NULL) return x == y;
    if (a->dtype == EF_VARIANT && x->shape.dim[0] != y->shape.dim[0]) return false;
    return x->dtype == y->dtype && ef_shape_equal(&x->shape, &y->shape);
}

static bool same_facts(const ef_fact *a, const ef_fact *b, int n) {
    for (int k = 0; k < n; k++)
        if (a[k].dtype != b[k].dtype || !ef_shape_equal(&a[k].shape, &b[k].shape) ||
            !same_behind(&a[k], &b[k]))
            return false;
    return true;
}

static const known *look(const ef_graph *body, const ef_fact *in, int n) {
    const known *k = memo.first;
    while (k != NULL && (k->body != body || k->n != n || !same_facts(k->fact, in, n))) k = k->next;
    return k;
}

/* Without memory nothing is noted. */
static void note(const ef_graph *body, const ef_fact *in, const ef_fact *out, int n) {
    if (memo.n == MOST_KNOWN) return;
    known *k = ef_malloc(sizeof *k + 4 * (size_t)n * sizeof *k->fact);
    if (k == NULL) return;
    *k = (known){.next = memo.first, .body = body, .n = n};
    copy_facts(k->fact, k->fact + n, in, n);
    copy_facts(k->fact + 2 * n, k->fact + 3 * n, out, n);
    memo.first = k;
    memo.n++;
}

/* Loop variables start with the facts of the inputs and are widened by what the body returns, until
 * nothing changes; a shape has few dims to lose, so this ends soon. */
static ef_status *find_facts(const ef_control *c, const ef_fact *in, ef_fact *out, int n,
                             ef_fact *behind) {
    ef_fact *next = ef_malloc(2 * ((size_t)n + 1) * sizeof *next);
    if (next == NULL) return ef_no_memory((size_t)n * sizeof *next);
    copy_facts(out, behind, in, n);
    ef_status *s = NULL;
    for (bool changed = true; changed && s == NULL;) {
        changed = false;
        s = ef_status_in_function(ef_plan_infer(c->func[1], out, next, next + n), 1);
        if (s != NULL) break;
        for (int k = 0; k < n; k++) {
            ef_shape before = out[k].shape;
            ef_plan_widen(&out[k].shape, &next[k].shape);
            if (!ef_shape_equal(&before, &out[k].shape)) changed = true;
            ef_plan_widen_behind(&out[k], &behind[k], &next[k], &changed);
        }
    }
    ef_free(next);
    return s;
}

ef_status *ef_plan_loop_facts(const ef_control *c, const ef_fact *in, ef_fact *out, int n,
                              ef_fact *behind) {
    ef_status *s = NULL;
    ef_plan_facts_begin();
    const known *k = look(c->func[1], in, n);
    if (k != NULL)
        copy_facts(out, behind, k->fact + 2 * n, n);
    else if ((s = find_facts(c, in, out, n, behind)) == NULL)
        note(c->func[1], in, out, n);
    ef_plan_facts_end();
    return s;
}
