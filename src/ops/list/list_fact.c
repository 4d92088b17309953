/* Facts about lists: joins in a small lattice (nothing stored, a shape, unknown shape). */
#include "ops/list/list_fact.h"

bool ef_list_fact_get(const ef_fact *f, ef_list_fact *out) {
    const ef_fact *h = f->handle;
    if (f->dtype != EF_VARIANT || h == NULL) return false;
    *out = (ef_list_fact){.dtype = h->dtype, .n = h->shape.dim[0], .bare = h->shape.rank == 0};
    out->element = ef_unknown_shape();
    if (h->shape.rank < 1) return true;
    out->element.rank = h->shape.rank - 1;
    for (int d = 0; d < out->element.rank; d++) out->element.dim[d] = h->shape.dim[d + 1];
    return true;
}

static void encode(const ef_list_fact *l, ef_fact *h) {
    *h = (ef_fact){.dtype = l->dtype, .shape = ef_unknown_shape()};
    h->shape.dim[0] = l->n;
    if (l->bare) h->shape.rank = 0;
    if (l->bare || l->element.rank < 0 || l->element.rank >= EF_MAX_RANK) return;
    h->shape.rank = l->element.rank + 1;
    for (int d = 0; d < l->element.rank; d++) h->shape.dim[d + 1] = l->element.dim[d];
}

void ef_list_fact_set(ef_infer *i, int k, const ef_list_fact *l) {
    if (i->behind == NULL) return;
    encode(l, i->behind);
    i->out[k].handle = i->behind;
}

/* What is known about a shape that may be either of two. */
static ef_shape common(const ef_shape *a, const ef_shape *b) {
    if (a->rank != b->rank || a->rank < 0) return ef_unknown_shape();
    ef_shape s = *a;
    for (int d = 0; d < s.rank; d++)
        if (a->dim[d] != b->dim[d]) s.dim[d] = EF_DIM_UNKNOWN;
    return s;
}

void ef_list_fact_store(ef_list_fact *l, const ef_shape *element) {
    l->element = l->bare ? *element : common(&l->element, element);
    l->bare = false;
}

ef_shape ef_list_fact_read(const ef_infer *i, int k, const ef_shape *given) {
    ef_list_fact l;
    ef_shape both;
    if (!ef_list_fact_get(&i->in[k], &l) || l.bare) return *given;
    ef_status *s = ef_shape_merge(given, &l.element, &both);
    if (s == NULL) return both;
    ef_status_free(s); /* the op fails when it runs, with a better message */
    return *given;
}

bool ef_list_fact_widen(ef_fact *a, const ef_fact *b, bool *changed) {
    ef_list_fact x, y;
    ef_fact fa = {.dtype = EF_VARIANT, .handle = a}, fb = {.dtype = EF_VARIANT, .handle = b};
    if (!ef_list_fact_get(&fa, &x) || !ef_list_fact_get(&fb, &y) || x.dtype != y.dtype)
        return false;
    if (x.n != y.n) x.n = EF_DIM_UNKNOWN;
    if (!y.bare) ef_list_fact_store(&x, &y.element);
    ef_fact now;
    encode(&x, &now);
    if (now.shape.dim[0] != a->shape.dim[0] || !ef_shape_equal(&now.shape, &a->shape))
        *changed = true;
    *a = now;
    return true;
}
