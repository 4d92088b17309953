/* Blocks up to 1 MiB: size classes cut from 4 MiB chunks. Not locked: memory.c holds its lock
 * around every call, except where a comment says otherwise. */
#ifndef EF_DEVICE_CHUNK_H
#define EF_DEVICE_CHUNK_H
#include <stddef.h>
#include <stdint.h>

enum {
    EF_BLOCK_MOST = 1 << 20, /* bytes of the largest block served here */
    EF_CLASSES = 52,         /* 64, 128, 192, 256, then four steps per doubling */
    EF_CHUNK_BYTES = 4 << 20,
    EF_LABELLED = 4096 /* blocks of this size and more have a label that says what they are for */
};

/* bytes from 1 to EF_BLOCK_MOST. Needs no lock. */
static inline int ef_class_of(size_t bytes) {
    size_t x = bytes - 1;
    if (x < 256) return (int)(x >> 6);
    int top = 63 - __builtin_clzll(x);
    return 4 + (top - 8) * 4 + (int)(x >> (top - 2) & 3);
}
static inline size_t ef_class_size(int c) { /* needs no lock */
    return c < 4 ? (size_t)(c + 1) * 64 : (size_t)(5 + c % 4) << (c / 4 + 5);
}

/* Up to `want` blocks of class c as a list linked through their first word; *got says how many,
 * 0 when the system gives no more memory. */
void *ef_chunk_take(int c, int want, int *got);
void ef_chunk_give(void *p);       /* one block back */
uint16_t *ef_chunk_label(void *p); /* where a block's label is kept; needs no lock */
int ef_chunk_class(void *p);       /* of a block; needs no lock while it is in use */
void ef_chunk_trim(void);          /* unmaps chunks without a block */
size_t ef_chunk_mapped(void);      /* bytes taken from the system */
#endif
