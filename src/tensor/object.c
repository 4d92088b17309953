/* Objects: what a resource or variant tensor refers to. */
#include "tensor/object.h"

void ef_object_init(ef_object *o, ef_object_kind kind, const char *type_name,
                    void (*end)(ef_storage *self)) {
    *o = (ef_object){.base = {.kind = EF_STORE_OBJECT, .data = o, .end = end},
                     .kind = kind,
                     .type_name = type_name};
    atomic_init(&o->base.refs, 1);
}

void ef_tensor_from_object(ef_tensor *t, ef_dtype dtype, ef_object *o) {
    memset(t, 0, sizeof *t);
    t->dtype = (uint8_t)dtype;
    t->data = o;
    t->storage = &o->base;
}

ef_object *ef_tensor_object(const ef_tensor *t, ef_object_kind kind) {
    if (t == NULL || (t->dtype != EF_RESOURCE && t->dtype != EF_VARIANT)) return NULL;
    if (t->storage == NULL || t->storage->kind != EF_STORE_OBJECT) return NULL;
    ef_object *o = (ef_object *)t->storage;
    return o->kind == kind ? o : NULL;
}
