/* zlib's memory comes from base/alloc.h too. */
#ifndef EF_FILE_Z_MEMORY_H
#define EF_FILE_Z_MEMORY_H
#include "base/alloc.h"
#include <zlib.h>

static inline voidpf ef_z_take(voidpf user, uInt count, uInt size) {
    (void)user;
    return ef_calloc(count, size);
}
static inline void ef_z_give(voidpf user, voidpf p) {
    (void)user;
    ef_free(p);
}
#define EF_Z_STREAM \
    { .zalloc = ef_z_take, .zfree = ef_z_give }
#endif
