/* Tensors: making, copying and comparing values. Sizes are checked where shapes come in, so that
 * later code need not check whether a product overflowed. */
#include "tensor/tensor.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "device/device.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* Several threads may materialize the tensor at the same time, and others read its data with plain
 * loads as soon as it is set: only the first thread writes it. */
ef_status *ef_tensor_compute_deferred(ef_tensor *t) {
    ef_storage *s = t->storage;
    if (ef_storage_data(s) == NULL && s->kind >= EF_STORE_PENDING) EF_TRY(s->materialize(s));
    void *none = NULL;
    atomic_compare_exchange_strong_explicit((_Atomic(void *) *)&t->data, &none, ef_storage_data(s),
                                            memory_order_release, memory_order_acquire);
    return NULL;
}

/* Elements and bytes of a tensor that is to hold values. */
static ef_status *check_size(ef_dtype dtype, const ef_shape *s, int64_t *count, size_t *bytes) {
    size_t size = ef_dtype_size(dtype);
    if (size == 0) return ef_error(EF_INVALID, "tensor: %d is not a dtype", (int)dtype);
    if (s->rank < 0 || s->rank > EF_MAX_RANK)
        return ef_error(EF_INVALID, "tensor: the rank is %d; it must be from 0 to %d", (int)s->rank,
                        EF_MAX_RANK);
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] < 0)
            return ef_error(EF_INVALID,
                            "tensor: dimension %d of %s is %" PRId64
                            "; it must be known and not negative",
                            d, EF_SHAPE(s), s->dim[d]);
    *count = ef_shape_count(s);
    if (*count < 0 || (uint64_t)*count > (uint64_t)INT64_MAX / size)
        return ef_error(EF_INVALID, "tensor: %s %s has more bytes than can be counted",
                        ef_dtype_name(dtype), EF_SHAPE(s));
    *bytes = (size_t)*count * size;
    return NULL;
}

void ef_tensor_shape_set(ef_tensor *t, ef_dtype dtype, const ef_shape *s) {
    t->dtype = (uint8_t)dtype;
    t->rank = (int8_t)s->rank;
    memcpy(t->dim, s->dim, sizeof t->dim);
}

ef_status *ef_tensor_alloc(ef_tensor *t, ef_dtype dtype, const ef_shape *s) {
    int64_t count;
    size_t bytes;
    EF_TRY(check_size(dtype, s, &count, &bytes));
    if (dtype == EF_RESOURCE || (dtype == EF_VARIANT && count > 0)) /* an empty one has no object */
        return ef_error(EF_INVALID, "tensor: a %s tensor is made from its object, not from bytes",
                        ef_dtype_name(dtype));
    ef_storage *storage = NULL;
    bool small = bytes == 0 || (bytes <= sizeof t->small && dtype != EF_STRING);
    if (!small) EF_TRY(ef_storage_new(EF_HOST, dtype, count, &storage));
    memset(t, 0, sizeof *t);
    ef_tensor_shape_set(t, dtype, s);
    t->storage = storage;
    t->data = small ? (void *)t->small : storage->data;
    return NULL;
}

ef_status *ef_tensor_new(ef_dtype dtype, const ef_shape *shape, ef_tensor *out) {
    ef_shape scalar = ef_scalar_shape();
    if (out == NULL) return ef_error(EF_INVALID, "tensor: `out` is NULL");
    return ef_tensor_alloc(out, dtype, shape ? shape : &scalar);
}

static ef_status *fill_strings(ef_str *to, const char *const *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (from[i] == NULL)
            return ef_error(EF_INVALID,
                            "tensor: string %" PRId64 " is NULL; use \"\" for an empty "
                            "one",
                            i);
        EF_TRY(ef_str_set(&to[i], from[i], strlen(from[i])));
    }
    return NULL;
}

ef_status *ef_tensor_from(ef_dtype dtype, const ef_shape *shape, const void *values,
                          ef_tensor *out) {
    bool plain = dtype > EF_NO_DTYPE && dtype < EF_DTYPES && ef_dtype_in(dtype, EF_PLAIN);
    if (plain && (shape == NULL || shape->rank == 0) && values != NULL && out != NULL) {
        memset(out, 0, sizeof *out); /* a number: nothing to check or to allocate */
        out->dtype = (uint8_t)dtype;
        out->data = out->small;
        memcpy(out->small, values, ef_dtype_size(dtype));
        return NULL;
    }
    ef_tensor t;
    EF_TRY(out == NULL ? ef_error(EF_INVALID, "tensor: `out` is NULL")
                       : ef_tensor_new(dtype, shape, &t));
    int64_t n = ef_count(&t);
    ef_status *s = NULL;
    if (n > 0 && values == NULL)
        s = ef_error(EF_INVALID, "tensor: `values` is NULL but %s has %" PRId64 " elements",
                     EF_TENSOR(&t), n);
    else if (dtype == EF_STRING)
        s = fill_strings(t.data, values, n);
    else if (n > 0)
        memcpy(t.data, values, (size_t)n * ef_dtype_size(dtype));
    if (s != NULL) {
        ef_tensor_release(&t);
        return s;
    }
    ef_tensor_move(out, &t);
    return NULL;
}

void ef_tensor_copy(ef_tensor *dst, const ef_tensor *src) {
    if (dst == src) return;
    memcpy(dst, src, offsetof(ef_tensor, data));
    dst->data = ef_tensor_peek(src); /* another thread may materialize src meanwhile */
    dst->storage = src->storage;
    memcpy(dst->small, src->small, sizeof dst->small);
    if (src->storage != NULL) ef_storage_ref(src->storage);
    if (EF_UNLIKELY(src->tape != NULL)) ef_mark_ref(src->tape);
    if (dst->data == (const void *)src->small) dst->data = dst->small;
}

void ef_tensor_release(ef_tensor *t) {
    if (t == NULL) return;
    ef_storage *storage = t->storage;
    ef_mark *mark = t->tape;
    memset(t, 0, sizeof *t);
    if (storage != NULL) ef_storage_unref(storage);
    if (EF_UNLIKELY(mark != NULL)) ef_mark_unref(mark);
}

ef_shape ef_tensor_shape(const ef_tensor *t) {
    return t == NULL ? ef_unknown_shape() : ef_shape_from(t);
}

int64_t ef_tensor_count(const ef_tensor *t) {
    ef_shape s = ef_tensor_shape(t);
    int64_t n = ef_shape_count(&s);
    return n < 0 ? -1 : n;
}

size_t ef_tensor_bytes(const ef_tensor *t) {
    int64_t n = ef_tensor_count(t);
    return n < 0 ? 0 : (size_t)n * ef_dtype_size((ef_dtype)t->dtype);
}

ef_status *ef_tensor_data(const ef_tensor *t, const void **data) {
    if (t == NULL || data == NULL)
        return ef_error(EF_INVALID, "tensor data: %s is NULL", t ? "`data`" : "the tensor");
    if (EF_LIKELY((*data = ef_tensor_peek(t)) != NULL)) return NULL;
    if (t->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "tensor data: the tensor is empty: it was released or never "
                                    "made");
    if ((t->flags & EF_TENSOR_SYMBOLIC) || t->storage == NULL)
        return ef_error(EF_INVALID,
                        "tensor data: %s is symbolic, so it has no value; run its "
                        "graph first",
                        EF_TENSOR(t));
    ef_storage *s = t->storage;
    if (ef_storage_data(s) == NULL && s->kind >= EF_STORE_PENDING) EF_TRY(s->materialize(s));
    if (ef_storage_data(s) == NULL)
        return ef_error(EF_INTERNAL, "tensor data: %s has no value after its work was run",
                        EF_TENSOR(t));
    *data = ef_storage_data(s);
    return NULL;
}

void ef_tensor_reshaped(ef_tensor *dst, const ef_tensor *src, const ef_shape *s) {
    ef_tensor_copy(dst, src);
    ef_tensor_unmark(dst);
    dst->flags &= (uint8_t)~EF_TENSOR_WATCHED;
    ef_tensor_shape_set(dst, (ef_dtype)dst->dtype, s);
}

/* Below LEAST bytes a copy costs no more than the reference. */
enum { PART_LEAST = 1024, PART_ALIGN = 64 };

bool ef_tensor_part(ef_tensor *dst, const ef_tensor *src, int64_t at, const ef_shape *s) {
    if (src->storage == NULL || src->storage->kind != EF_STORE_BYTES || src->data == NULL)
        return false;
    size_t size = ef_dtype_size((ef_dtype)src->dtype);
    char *data = (char *)src->data + (size_t)at * size;
    if ((size_t)ef_shape_count(s) * size < PART_LEAST || (uintptr_t)data % PART_ALIGN != 0)
        return false;
    ef_tensor_reshaped(dst, src, s);
    dst->data = data;
    dst->flags = 0;
    return true;
}

ef_status *ef_tensor_clone(ef_tensor *dst, const ef_tensor *src) {
    const void *from;
    EF_TRY(ef_tensor_data(src, &from));
    ef_dtype dtype = (ef_dtype)src->dtype;
    if (dtype == EF_RESOURCE || dtype == EF_VARIANT) { /* the element is a reference */
        ef_tensor_copy(dst, src);
        return NULL;
    }
    ef_shape shape = ef_shape_from(src);
    ef_tensor t;
    EF_TRY(ef_tensor_alloc(&t, dtype, &shape));
    ef_status *s = NULL;
    if (dtype == EF_STRING) {
        const ef_str *str = from;
        for (int64_t i = 0, n = ef_count(src); i < n && s == NULL; i++)
            s = ef_str_set((ef_str *)t.data + i, str[i].at, str[i].n);
    } else {
        memcpy(t.data, from, ef_tensor_bytes(src));
    }
    if (s != NULL) {
        ef_tensor_release(&t);
        return s;
    }
    ef_tensor_move(dst, &t);
    return NULL;
}

typedef struct foreign {
    ef_storage base;
    void (*end)(void *arg);
    void *arg;
} foreign;

static void foreign_end(ef_storage *self) {
    foreign *f = (foreign *)self;
    if (f->end != NULL) f->end(f->arg);
    ef_free(f);
}

ef_status *ef_tensor_wrap(ef_dtype dtype, const ef_shape *s, void *data, void (*end)(void *arg),
                          void *arg, ef_tensor *out) {
    int64_t count;
    size_t bytes;
    EF_TRY(check_size(dtype, s, &count, &bytes));
    if (!ef_dtype_in(dtype, EF_PLAIN))
        return ef_error(EF_INVALID,
                        "tensor: memory cannot be wrapped as %s; only plain numbers and "
                        "bools can",
                        ef_dtype_name(dtype));
    if (data == NULL && count > 0)
        return ef_error(EF_INVALID,
                        "tensor: the memory to wrap is NULL but %s has %" PRId64 " elements",
                        EF_SHAPE(s), count);
    foreign *f = ef_malloc(sizeof *f);
    if (f == NULL) return ef_no_memory(sizeof *f);
    *f = (foreign){.base = {.kind = EF_STORE_FOREIGN, .bytes = bytes, .end = foreign_end},
                   .end = end,
                   .arg = arg};
    atomic_init(&f->base.refs, 1);
    memset(out, 0, sizeof *out);
    ef_tensor_shape_set(out, dtype, s);
    out->storage = &f->base;
    f->base.data = out->data = data ? data : (void *)f; /* no elements: any address will do */
    return NULL;
}

/* The elements, computed if they were deferred; NULL if that fails. */
static const void *elements(const ef_tensor *t) {
    const void *data = NULL;
    ef_status *s = ef_tensor_data(t, &data);
    ef_status_free(s);
    return s ? NULL : data;
}

static bool same_strings(const ef_str *a, const ef_str *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (a[i].n != b[i].n || (a[i].n > 0 && memcmp(a[i].at, b[i].at, a[i].n) != 0)) return false;
    return true;
}

bool ef_tensor_same_bytes(const ef_tensor *a, const ef_tensor *b) {
    ef_shape sa = ef_shape_from(a), sb = ef_shape_from(b);
    if (a->dtype != b->dtype || !ef_shape_equal(&sa, &sb)) return false;
    const void *x = elements(a), *y = elements(b);
    if (x == NULL || y == NULL) return false;
    if (x == y) return true;
    if (a->dtype == EF_STRING) return same_strings(x, y, ef_count(a));
    if (!ef_dtype_in((ef_dtype)a->dtype, EF_PLAIN)) return false; /* objects: by identity */
    return memcmp(x, y, ef_tensor_bytes(a)) == 0;
}

uint64_t ef_tensor_hash(uint64_t h, const ef_tensor *t) {
    h = ef_hash_mix(h, t->dtype);
    h = ef_hash_mix(h, (uint64_t)t->rank);
    for (int d = 0; d < t->rank; d++) h = ef_hash_mix(h, (uint64_t)t->dim[d]);
    const void *x = elements(t);
    if (x == NULL) return h;
    if (ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN)) return ef_hash_bytes(h, x, ef_tensor_bytes(t));
    if (t->dtype != EF_STRING) return ef_hash_mix(h, (uint64_t)(uintptr_t)x);
    const ef_str *str = x;
    for (int64_t i = 0, n = ef_count(t); i < n; i++) h = ef_hash_bytes(h, str[i].at, str[i].n);
    return h;
}

ef_brief ef_tensor_brief(const ef_tensor *t) {
    ef_brief b;
    ef_shape s = ef_shape_from(t);
    snprintf(b.text, sizeof b.text, "%s %.100s", ef_dtype_name((ef_dtype)t->dtype), EF_SHAPE(&s));
    return b;
}

ef_status *ef_tensor_keep(ef_tensor *dst, const ef_tensor *src) {
    bool borrowed = src->storage == NULL && src->data != (const void *)src->small;
    if (borrowed) return ef_tensor_clone(dst, src);
    ef_tensor_copy(dst, src);
    return NULL;
}

ef_status *ef_tensor_leave_slab(ef_tensor *t) {
    enum { SMALL_PART = 4 };
    if (t->storage == NULL || !t->storage->slab) return NULL;
    if (ef_tensor_bytes(t) > t->storage->bytes / SMALL_PART) return NULL;
    ef_tensor copy;
    EF_TRY(ef_tensor_clone(&copy, t));
    ef_tensor_release(t);
    ef_tensor_move(t, &copy);
    return NULL;
}
