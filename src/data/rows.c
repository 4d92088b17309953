/* Stacking elements, and taking stacks apart. */
#include "data/rows.h"
#include "base/alloc.h"
#include "ops/list/list.h"

enum { AT_ONCE = 1 << 20 }; /* bytes of a batch that are allocated before its elements are read */

void ef_element_release(ef_tensor *element, int width) {
    for (int k = 0; k < width; k++) ef_tensor_release(&element[k]);
}

/* The capacity is the next power of two, so it is not stored. */
ef_status *ef_elements_reserve(ef_tensor **elements, int64_t have, int64_t want, int width) {
    int64_t before = 0, after = 1;
    while (have > 0 && (before == 0 || before < have)) before = before == 0 ? 1 : before * 2;
    while (after < want) after *= 2;
    if (before >= want) return NULL;
    if ((uint64_t)after > SIZE_MAX / sizeof(ef_tensor) / ((uint64_t)width + 1))
        return ef_no_memory(SIZE_MAX);
    size_t n = (size_t)(after * width) + 1;
    ef_tensor *more = ef_calloc(n, sizeof *more);
    if (more == NULL) return ef_no_memory(n * sizeof *more);
    for (int64_t k = 0; k < have * width; k++) ef_tensor_move(&more[k], &(*elements)[k]);
    ef_free(*elements);
    *elements = more;
    return NULL;
}

/* Rows to allocate: all, unless they take much memory and the elements may end earlier. */
static int64_t room_for(const ef_rows *r, int64_t n, size_t row_bytes) {
    int64_t some = (int64_t)(AT_ONCE / (row_bytes + 1)) + 1;
    if (r->n * 2 > some) some = r->n * 2;
    if (n > some) some = n;
    return some < r->most ? some : r->most;
}

static ef_status *stack_shape(const ef_tensor *element, int64_t n, int k, ef_shape *out) {
    if (element->rank >= EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "component %d is %s, so a batch would have rank %d; the most is %d", k,
                        EF_TENSOR(element), element->rank + 1, EF_MAX_RANK);
    *out = (ef_shape){.rank = element->rank + 1, .dim = {n}};
    for (int d = 0; d < element->rank; d++) out->dim[d + 1] = element->dim[d];
    return NULL;
}

static ef_status *start_list(const ef_tensor *element, ef_tensor *out) {
    ef_list *l = NULL;
    ef_shape shape = ef_shape_from(element);
    EF_TRY(ef_list_make((ef_dtype)element->dtype, &shape, 0, &l));
    ef_tensor_from_object(out, EF_VARIANT, &l->object);
    return NULL;
}

static bool is_object(const ef_tensor *t) {
    return t->dtype == EF_VARIANT || t->dtype == EF_RESOURCE;
}

static ef_status *start(ef_rows *r, const ef_tensor *element) {
    size_t most = 0;
    for (int k = 0; k < r->width; k++) {
        size_t bytes = is_object(&element[k]) ? 0 : ef_tensor_bytes(&element[k]);
        if (bytes > most) most = bytes;
    }
    r->room = room_for(r, 1, most);
    for (int k = 0; k < r->width; k++) {
        ef_shape shape;
        if (is_object(&element[k])) {
            EF_TRY(start_list(&element[k], &r->out[k]));
            continue;
        }
        EF_TRY(stack_shape(&element[k], r->room, k, &shape));
        EF_TRY(ef_tensor_alloc(&r->out[k], (ef_dtype)element[k].dtype, &shape));
    }
    return NULL;
}

static ef_status *copy_rows(ef_tensor *to, int64_t at, const ef_tensor *from, int64_t n) {
    if (!is_object(from)) return ef_list_copy(to, at, from, 0, n);
    ef_list *l = (ef_list *)to->storage;
    EF_TRY(ef_list_resize(l, at + 1));
    return ef_list_set(l, at, from);
}

static ef_status *grow(ef_rows *r) {
    int64_t room = room_for(r, r->n + 1, 0);
    for (int k = 0; k < r->width; k++) {
        if (is_object(&r->out[k])) continue;
        ef_tensor more;
        ef_shape shape = ef_shape_from(&r->out[k]);
        int64_t row = 1;
        for (int d = 1; d < shape.rank; d++) row *= shape.dim[d];
        shape.dim[0] = room;
        EF_TRY(ef_tensor_alloc(&more, (ef_dtype)r->out[k].dtype, &shape));
        ef_status *s = ef_list_copy(&more, 0, &r->out[k], 0, r->n * row);
        ef_tensor_release(&r->out[k]);
        ef_tensor_move(&r->out[k], &more);
        if (s != NULL) return s;
    }
    r->room = room;
    return NULL;
}

static bool same_shape(const ef_tensor *stack, const ef_tensor *element) {
    if (is_object(element)) return is_object(stack);
    if (stack->dtype != element->dtype || stack->rank != element->rank + 1) return false;
    for (int d = 0; d < element->rank; d++)
        if (stack->dim[d + 1] != element->dim[d]) return false;
    return true;
}

static ef_status *differs(const ef_rows *r, const ef_tensor *element, int k) {
    ef_shape first = ef_shape_from(&r->out[k]), this = ef_shape_from(element);
    for (int d = 0; d + 1 < first.rank; d++) first.dim[d] = first.dim[d + 1];
    first.rank--;
    return ef_error(EF_INVALID,
                    "Cannot batch tensors with different shapes in component %d. First element "
                    "had shape %s and element %lld had shape %s.",
                    k, EF_SHAPE(&first), (long long)r->n, EF_SHAPE(&this));
}

ef_status *ef_rows_put(ef_rows *r, const ef_tensor *element) {
    if (r->n == 0)
        EF_TRY(start(r, element));
    else if (r->n == r->room)
        EF_TRY(grow(r));
    for (int k = 0; k < r->width; k++) {
        if (!same_shape(&r->out[k], &element[k])) return differs(r, &element[k], k);
        int64_t row = is_object(&element[k]) ? 1 : ef_count(&element[k]);
        EF_TRY(copy_rows(&r->out[k], r->n * row, &element[k], row));
    }
    r->n++;
    return NULL;
}

void ef_rows_finish(ef_rows *r) {
    for (int k = 0; k < r->width; k++)
        if (!is_object(&r->out[k])) r->out[k].dim[0] = r->n;
}

void ef_rows_end(ef_rows *r) { ef_element_release(r->out, r->width); }

static ef_status *cut_list(const ef_tensor *t, int64_t from, int64_t n, bool row, ef_tensor *out) {
    const ef_list *l = (const ef_list *)ef_tensor_object(t, EF_OBJECT_LIST);
    if (l == NULL || from + n > l->n)
        return ef_error(EF_INVALID,
                        "a variant that is not a list of %lld or more rows cannot be unbatched",
                        (long long)(from + n));
    if (row) {
        ef_tensor_copy(out, &l->item[from]);
        return NULL;
    }
    ef_list *part = NULL;
    EF_TRY(ef_list_make(l->dtype, &l->element, n, &part));
    for (int64_t k = 0; k < n; k++) ef_tensor_copy(&part->item[k], &l->item[from + k]);
    ef_tensor_from_object(out, EF_VARIANT, &part->object);
    return NULL;
}

ef_status *ef_rows_cut(const ef_tensor *t, int64_t from, int64_t n, bool row, ef_tensor *out) {
    if (is_object(t)) return cut_list(t, from, n, row, out);
    ef_shape shape = ef_shape_from(t);
    int64_t each = 1;
    for (int d = 1; d < shape.rank; d++) each *= shape.dim[d];
    if (row) {
        shape.rank--;
        for (int d = 0; d < shape.rank; d++) shape.dim[d] = shape.dim[d + 1];
    } else {
        shape.dim[0] = n;
    }
    EF_TRY(ef_tensor_alloc(out, (ef_dtype)t->dtype, &shape));
    ef_status *s = ef_list_copy(out, 0, t, from * each, n * each);
    if (s != NULL) ef_tensor_release(out);
    return s;
}
