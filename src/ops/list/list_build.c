/* What the ops that convert between lists and tensors share. */
#include "ops/list/list_build.h"
#include "base/pool.h"
#include "ops/shapes.h"
#include "ops/state/variable.h"

ef_value *ef_list_tail_value(ef_build *b, ef_value *x) {
    if (x == NULL) return NULL;
    const ef_shape *s = &x->fact.shape;
    if (s->rank >= 1) {
        ef_shape tail = ef_list_tail(s);
        if (ef_shape_known(&tail)) return ef_const_ints(b, EF_I32, tail.rank, tail.dim);
    }
    return ef_emit(b, "Slice", 3, ef_shape_value(b, x, EF_I32),
                   ef_const_ints(b, EF_I32, 1, (const int64_t[]){1}),
                   ef_const_ints(b, EF_I32, 1, (const int64_t[]){-1}));
}

ef_value *ef_list_element_shape_value(ef_build *b, ef_value *list) {
    const ef_attr_value i32[] = {EF_SET_TYPE("shape_type", EF_I32)};
    return ef_emit_set(b, "TensorListElementShape", i32, 1, 1, list);
}

/* Copies one element after the other. Elements of a plain dtype are copied by several threads,
 * since that cannot fail. */
static const double copy_ns = 0.06; /* per byte */

typedef struct joining {
    const ef_list *list;
    const int32_t *index;
    ef_tensor *out;
    int64_t each;
} joining;

static ef_status *join_one(const joining *j, int64_t k) {
    const ef_tensor *x = &j->list->item[j->index == NULL ? k : j->index[k]];
    return ef_list_copy(j->out, k * j->each, x->dtype == EF_NO_DTYPE ? NULL : x, 0, j->each);
}

static void join_plain(void *arg, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; k++) ef_status_free(join_one(arg, k));
}

/* Whether the elements are in one piece of memory, one after the other, as those that a loop has
 * pushed may be. */
static bool are_in_line(const joining *j, int64_t n) {
    const ef_tensor *item = j->list->item, *first = &item[j->index == NULL ? 0 : j->index[0]];
    const size_t bytes = (size_t)j->each * ef_dtype_size(j->list->dtype);
    if (bytes == 0 || !ef_dtype_in(j->list->dtype, EF_PLAIN) || first->dtype == EF_NO_DTYPE ||
        first->storage == NULL || first->storage->kind != EF_STORE_BYTES)
        return false;
    for (int64_t k = 1; k < n; k++) {
        const ef_tensor *x = &item[j->index == NULL ? k : j->index[k]];
        if (x->dtype == EF_NO_DTYPE || x->storage != first->storage ||
            (const char *)x->data != (const char *)first->data + (size_t)k * bytes)
            return false;
    }
    return true;
}

static ef_status *share_line(const ef_call *c, const joining *j, const ef_shape *s) {
    ef_tensor all;
    ef_tensor_reshaped(&all, &j->list->item[j->index == NULL ? 0 : j->index[0]], s);
    ef_status *bad = ef_out_share(c, 0, &all);
    ef_tensor_release(&all);
    return bad;
}

ef_status *ef_list_join(const ef_call *c, const ef_list *l, const int32_t *index, int64_t n,
                        const ef_shape *element) {
    ef_shape out;
    joining j = {l, index, c->out[0], ef_shape_count(element)};
    EF_TRY(ef_list_prepend(c->op, n, element, &out));
    for (int64_t k = 0; k < n; k++) {
        const ef_tensor *x = &l->item[index == NULL ? k : index[k]];
        if (x->dtype == EF_NO_DTYPE) continue;
        ef_shape s = ef_shape_from(x);
        if (!ef_shape_equal(&s, element))
            return ef_error(EF_INVALID,
                            "%s: element %lld has shape %s but others have %s; all must have "
                            "one shape",
                            c->op->name, (long long)k, EF_SHAPE(&s), EF_SHAPE(element));
    }
    if (n > 1 && are_in_line(&j, n)) return share_line(c, &j, &out);
    EF_TRY(ef_out_ready(c, 0, &out));
    if (ef_dtype_in(l->dtype, EF_PLAIN)) {
        double bytes = (double)j.each * (double)ef_dtype_size(l->dtype);
        ef_parallel(n, 1, copy_ns * bytes, join_plain, &j);
        return NULL;
    }
    for (int64_t k = 0; k < n; k++) EF_TRY(join_one(&j, k));
    return NULL;
}

typedef struct parting {
    const ef_tensor *from;
    ef_tensor *item;
    int64_t row;
} parting;

static ef_status *part_one(const parting *p, int64_t k) {
    const ef_storage *own = p->item[k].storage;
    if (own != NULL && own == p->from->storage) return NULL;
    return ef_list_copy(&p->item[k], 0, p->from, k * p->row, p->row);
}

static void part_plain(void *arg, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; k++) ef_status_free(part_one(arg, k));
}

ef_status *ef_list_part(const ef_tensor *x, ef_list *l) {
    parting p = {x, l->item, l->n > 0 ? ef_count(x) / l->n : 0};
    if (ef_dtype_in(l->dtype, EF_PLAIN)) {
        double bytes = (double)p.row * (double)ef_dtype_size(l->dtype);
        ef_parallel(l->n, 1, copy_ns * bytes, part_plain, &p);
        return NULL;
    }
    for (int64_t k = 0; k < l->n; k++) EF_TRY(part_one(&p, k));
    return NULL;
}

ef_status *ef_list_need_vector(const ef_call *c, const ef_tensor *x) {
    if (x->rank >= 1) return NULL;
    return ef_error(EF_INVALID, "%s: tensor is a scalar; it must be at least a vector",
                    c->op->name);
}
