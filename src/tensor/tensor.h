/* Storage and tensors, as the inside of the library sees them.
 *
 * A tensor's bytes are in one of three places: in the value itself (`data == small`, plain types up
 * to 32 bytes), in counted storage, or borrowed (storage NULL, data elsewhere: a plan's arena).
 * A deferred tensor has storage whose `data` is NULL until the pending graph is run. Elements of
 * managed types: EF_STRING is an array of ef_str; an EF_RESOURCE or EF_VARIANT tensor is a scalar
 * whose storage *is* the object (see object.h) and whose data points at it. */
#ifndef EF_TENSOR_TENSOR_H
#define EF_TENSOR_TENSOR_H
#include "base/status.h"
#include "evenflow.h"
#include "tensor/dtype.h"
#include "tensor/mark.h"
#include "tensor/shape.h"
#include <stdatomic.h>

struct ef_storage {
    atomic_int refs;
    uint8_t device, kind; /* kind: ef_storage_kind */
    bool slab;    /* holds values of several iterations of a loop: see ef_tensor_leave_slab */
    size_t bytes; /* capacity in bytes */
    void *data;   /* NULL: deferred */
    void (*end)(ef_storage *self); /* releases everything, itself included */
    /* If it is pending or on a device: computes or fetches `data`. */
    ef_status *(*materialize)(ef_storage *self);
};
typedef enum ef_storage_kind {
    EF_STORE_BYTES, /* from the device allocator */
    EF_STORE_STRINGS,
    EF_STORE_FOREIGN, /* somebody else's memory with their own end() */
    EF_STORE_OBJECT,  /* resource or variant: object.h */
    EF_STORE_GRAPH,   /* the graph of a symbolic tensor */
    EF_STORE_PENDING, /* deferred result; data is set when the pending graph has run */
    EF_STORE_DEVICE   /* on another device; data is set by a copy to the host: device_tensor.h */
} ef_storage_kind;

static inline ef_storage *ef_storage_ref(ef_storage *s) {
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}
static inline void ef_storage_unref(ef_storage *s) {
    /* A sole owner cannot be joined by another, so it need not pay for the locked instruction. */
    if (atomic_load_explicit(&s->refs, memory_order_acquire) == 1 ||
        atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)
        s->end(s);
}
static inline bool ef_storage_sole(const ef_storage *s) {
    return atomic_load_explicit(&s->refs, memory_order_acquire) == 1;
}
/* The data of storage that may be deferred: it is set once, by whichever thread computes it, and
 * read by any. */
static inline void *ef_storage_data(const ef_storage *s) {
    void *data = atomic_load_explicit((_Atomic(void *) *)(uintptr_t)&s->data, memory_order_acquire);
    return data;
}
static inline void ef_storage_data_set(ef_storage *s, void *data) {
    atomic_store_explicit((_Atomic(void *) *)&s->data, data, memory_order_release);
}
/* Whether nobody else can see t's bytes, so that they may be written in place. Always false for a
 * deferred tensor, which may be a view of another one's bytes. */
static inline bool ef_tensor_owned(const ef_tensor *t) {
    if (t->storage == NULL) return t->data == (const void *)t->small;
    uint8_t kind = t->storage->kind;
    return (kind == EF_STORE_BYTES || kind == EF_STORE_STRINGS) && ef_storage_sole(t->storage);
}
/* From the device's allocator, 64-byte aligned, refs 1. For EF_STRING: n empty ef_str. */
ef_status *ef_storage_new(int device, ef_dtype dtype, int64_t count, ef_storage **out);

typedef struct ef_str { /* one string element; owned by its storage */
    char *at;           /* NULL when n = 0; not NUL-terminated */
    size_t n;
} ef_str;
ef_status *ef_str_set(ef_str *s, const char *bytes, size_t n); /* copies; frees the old */

/* Fast paths used everywhere. */
static inline void ef_tensor_move(ef_tensor *dst, ef_tensor *src) { /* src is zeroed */
    *dst = *src;
    if (src->data == (void *)src->small) dst->data = dst->small;
    memset(src, 0, sizeof *src);
}
/* After an array of tensors was moved as bytes: small values live inside, so their pointers must
 * follow. None of them is borrowed. */
static inline void ef_tensor_moved(ef_tensor *t) {
    if (t->storage == NULL) t->data = t->small;
}
/* For tapes the value is a different one from now on. */
static inline void ef_tensor_unmark(ef_tensor *t) {
    ef_mark *m = t->tape;
    t->tape = NULL;
    if (EF_UNLIKELY(m != NULL)) ef_mark_unref(m);
}
static inline ef_shape ef_shape_from(const ef_tensor *t) {
    ef_shape s = {.rank = t->rank};
    memcpy(s.dim, t->dim, sizeof s.dim);
    return s;
}
static inline int64_t ef_count(const ef_tensor *t) { /* dims known */
    uint64_t n = 1; /* unsigned: before a dim of 0 the product of huge ones may wrap */
    for (int d = 0; d < t->rank; d++) n *= (uint64_t)t->dim[d];
    return (int64_t)n;
}
/* Sets dtype and dims; leaves data and storage alone. */
void ef_tensor_shape_set(ef_tensor *t, ef_dtype dtype, const ef_shape *s);
/* Gives t (zeroed or released) its own memory: small if it fits, else storage. */
ef_status *ef_tensor_alloc(ef_tensor *t, ef_dtype dtype, const ef_shape *s);
/* The same bytes under another shape of equal count (shares storage; copies small data). */
void ef_tensor_reshaped(ef_tensor *dst, const ef_tensor *src, const ef_shape *s);
/* The elements of src from `at` on, as a tensor of shape s in src's storage, which lives as long as
 * one of its parts. False, and dst is untouched, where a copy is due: src is not in counted storage
 * of its own, or the part is small or not aligned as storage is. */
bool ef_tensor_part(ef_tensor *dst, const ef_tensor *src, int64_t at, const ef_shape *s);
/* A deep copy with sole storage. */
ef_status *ef_tensor_clone(ef_tensor *dst, const ef_tensor *src);
/* Wraps memory of somebody else; end(arg) is called when the last user is gone. */
ef_status *ef_tensor_wrap(ef_dtype dtype, const ef_shape *s, void *data, void (*end)(void *arg),
                          void *arg, ef_tensor *out);
/* A copy that may outlive src: counted where src is counted or small, a deep copy where src is
 * borrowed. Whoever stores a kernel's input uses this. */
ef_status *ef_tensor_keep(ef_tensor *dst, const ef_tensor *src);
/* A value that leaves the program and takes a small part of a slab becomes a copy, so that it does
 * not keep the rest alive. */
ef_status *ef_tensor_leave_slab(ef_tensor *t);
bool ef_tensor_same_bytes(const ef_tensor *a, const ef_tensor *b); /* dtype, shape and elements */
uint64_t ef_tensor_hash(uint64_t h, const ef_tensor *t); /* of dtype, shape and elements */
ef_brief ef_tensor_brief(const ef_tensor *t);            /* "float32 [2, 3]" */
#define EF_TENSOR(t) ef_tensor_brief(t).text

/* The data of a tensor that other threads may be materializing; NULL: not materialized yet. Once it
 * is set, plain reads are safe. */
static inline void *ef_tensor_peek(const ef_tensor *t) {
    void *data = atomic_load_explicit((_Atomic(void *) *)(uintptr_t)&t->data, memory_order_acquire);
    return data;
}
ef_status *ef_tensor_compute_deferred(ef_tensor *t);
static inline ef_status *ef_tensor_materialize(ef_tensor *t) { /* afterwards t->data is set */
    if (EF_LIKELY(ef_tensor_peek(t) != NULL) || t->storage == NULL) return NULL;
    return ef_tensor_compute_deferred(t);
}
/* The same for code that accepts tensors on any device: those on a device stay there. */
static inline ef_status *ef_tensor_materialize_there(ef_tensor *t) {
    if (EF_LIKELY(ef_tensor_peek(t) != NULL) || t->storage == NULL) return NULL;
    return t->storage->kind == EF_STORE_DEVICE ? NULL : ef_tensor_compute_deferred(t);
}
#endif
