/* Storage from the device's allocator. A small block carries its own header in front of the bytes,
 * so making one is one allocation; a large block is allocated apart from its header, so that sizes
 * that are powers of two do not spill into the next size class. */
#include "base/alloc.h"
#include "device/memory.h"
#include "tensor/tensor.h"

enum { HEADER = 64, INLINE_MOST = 1024 };
_Static_assert(sizeof(ef_storage) <= HEADER, "a storage header fits in front of aligned bytes");

static bool is_inline(const ef_storage *s) { return s->bytes <= INLINE_MOST; }

static void bytes_end(ef_storage *self) {
    int device = self->device;
    size_t bytes = self->bytes;
    if (is_inline(self)) {
        ef_memory_free(device, self, HEADER + bytes);
        return;
    }
    ef_memory_free(device, self->data, bytes);
    ef_memory_free(device, self, HEADER);
}

static void strings_end(ef_storage *self) {
    ef_str *str = self->data;
    for (size_t i = 0, n = self->bytes / sizeof(ef_str); i < n; i++) ef_free(str[i].at);
    bytes_end(self);
}

ef_status *ef_storage_new(int device, ef_dtype dtype, int64_t count, ef_storage **out) {
    size_t size = ef_dtype_size(dtype);
    if (size == 0 || count < 0 || (uint64_t)count > (uint64_t)INT64_MAX / size)
        return ef_error(EF_INVALID, "storage: cannot hold %lld elements of %s", (long long)count,
                        ef_dtype_name(dtype));
    size_t bytes = (size_t)count * size;
    void *header, *data = NULL;
    EF_TRY(ef_memory_alloc(device, bytes <= INLINE_MOST ? HEADER + bytes : HEADER, &header));
    if (bytes <= INLINE_MOST) {
        data = (char *)header + HEADER;
    } else {
        ef_status *s = ef_memory_alloc(device, bytes, &data);
        if (s != NULL) {
            ef_memory_free(device, header, HEADER);
            return s;
        }
    }
    ef_storage *storage = header;
    bool strings = dtype == EF_STRING;
    *storage = (ef_storage){.device = (uint8_t)device,
                            .kind = strings ? EF_STORE_STRINGS : EF_STORE_BYTES,
                            .bytes = bytes,
                            .data = data,
                            .end = strings ? strings_end : bytes_end};
    atomic_init(&storage->refs, 1);
    if (strings) memset(data, 0, bytes);
    *out = storage;
    return NULL;
}

ef_status *ef_str_set(ef_str *s, const char *bytes, size_t n) {
    char *copy = NULL;
    if (n > 0) {
        copy = ef_malloc(n);
        if (copy == NULL) return ef_no_memory(n);
        memcpy(copy, bytes, n);
    }
    ef_free(s->at);
    *s = (ef_str){copy, n};
    return NULL;
}
