/* Objects behind resource and variant tensors. Both begin with an ef_storage, so a tensor counts
 * them like any other storage. */
#ifndef EF_TENSOR_OBJECT_H
#define EF_TENSOR_OBJECT_H
#include "base/mutex.h"
#include "tensor/tensor.h"

typedef enum ef_object_kind {
    EF_OBJECT_VARIABLE = 1,
    EF_OBJECT_LIST, /* TensorList: an immutable value, copied on write, in place when sole */
    EF_OBJECT_STACK,
    EF_OBJECT_COUNTER,  /* a stateful random op's position */
    EF_OBJECT_ITERATOR, /* a position in a dataset: ops/data/iterator.h */
    EF_OBJECT_DATASET,  /* an immutable value: ops/data/dataset.h */
    EF_OBJECT_OPTIONAL, /* an element or nothing: ops/data/optional.h */
    EF_OBJECT_SEEDS,    /* seeds for each iteration: ops/data/seeds.h */
    EF_OBJECT_CACHE,    /* elements kept in memory: ops/data/seeds.h */
    EF_OBJECT_CALLBACK, /* a function of the program: ops/control/callback.h */
    EF_OBJECT_TABLE,    /* a lookup table: ops/io/table.h */
    EF_OBJECT_WRITER,   /* a summary writer: ops/io/summary.h */
    EF_OBJECT_QUEUE,    /* elements between threads: ops/queue/queue.h */
    EF_OBJECT_OTHER
} ef_object_kind;

typedef struct ef_object {
    ef_storage base; /* kind EF_STORE_OBJECT; base.data points at the object itself */
    ef_object_kind kind;
    const char *type_name; /* for messages: "variable", "TensorList" */
    void (*halt)(
        struct ef_object *self); /* ends the calls that wait for it; NULL: none ever does */
} ef_object;

/* One reference, no fields beyond ef_object touched; end(self) frees the whole object. */
void ef_object_init(ef_object *o, ef_object_kind kind, const char *type_name,
                    void (*end)(ef_storage *self));
/* A scalar resource or variant tensor that owns one reference to o (taken over). */
void ef_tensor_from_object(ef_tensor *t, ef_dtype dtype, ef_object *o);
/* NULL if t is not of that kind. */
ef_object *ef_tensor_object(const ef_tensor *t, ef_object_kind kind);

/* A variable: a named, typed place for a value. The lock guards `value`, `version` and
 * `name`; hold it only to swap or copy tensor values, never while a kernel runs. */
typedef struct ef_variable {
    ef_object object;
    ef_mutex lock;
    ef_dtype dtype;
    ef_shape shape;   /* what may be assigned; dims may be unknown */
    ef_tensor value;  /* dtype 0 while uninitialised */
    uint64_t version; /* grows with every write */
    char *name;
    bool trainable;
    uint8_t device;  /* where its values are kept; one that was changed on the host is copied back
                      * when it is next read on the device */
    uint64_t number; /* identifies it to gradient tapes */
} ef_variable;

ef_status *ef_variable_make(ef_dtype dtype, const ef_shape *shape, const char *name,
                            ef_variable **out);
/* A reference to the current value; EF_FAILED_PRECONDITION while uninitialised. */
ef_status *ef_variable_read(ef_variable *v, ef_tensor *out);
/* Replaces the value (checks dtype and shape). `value` is borrowed: storage is shared, copied only
 * when a later in-place write needs it. */
ef_status *ef_variable_write(ef_variable *v, const ef_tensor *value);
/* The same if no other value was written since `version`; *done says so. */
ef_status *ef_variable_replace(ef_variable *v, uint64_t version, const ef_tensor *value,
                               bool *done);
/* The value on the variable's own device, and its version. */
ef_status *ef_variable_read_home(ef_variable *v, ef_tensor *out, uint64_t *version);
/* For in-place updates: returns the value with sole ownership of its bytes, copying them first if
 * somebody else holds them. The caller holds no lock. A plan orders its updates of one variable;
 * updates by several threads exclude each other, since begin locks v until end. */
ef_status *ef_variable_begin_update(ef_variable *v, ef_tensor **value); /* locks v */
void ef_variable_end_update(ef_variable *v);                            /* version++, unlocks */
/* For an update of several variables, which locks them in the order of their addresses. As begin,
 * except that a deferred value gives *value NULL and leaves v unlocked. The caller then releases
 * the other variables, materializes this one and starts again: deferred ops never run under a lock.
 */
ef_status *ef_variable_try_update(ef_variable *v, ef_tensor **value);
void ef_variable_release(ef_variable *v); /* unlocks; nothing was changed */
ef_status *ef_variable_materialize(ef_variable *v);
#endif
