/* Sorted tables: keys and values in the order of the keys, in blocks with checksums. This is the
 * format of LevelDB's tables, in which a checkpoint keeps its index. A table is read from memory,
 * entry by entry; every size in it is checked against the bytes that are there, and blocks must
 * follow each other, so the work is bounded by the file's size. */
#ifndef EF_FILE_SORTED_H
#define EF_FILE_SORTED_H
#include "file/wire.h"

typedef struct ef_sorted_block { /* a block being written */
    ef_text bytes, last;         /* last: the key put last */
    ef_text restarts;            /* offsets at which a whole key stands, 4 bytes each */
    uint32_t since;              /* entries since the last of them */
} ef_sorted_block;
typedef struct ef_sorted_maker {
    ef_text file; /* the table so far */
    ef_sorted_block data, index;
    uint64_t begun, size; /* place of the data block that is not in the index yet */
    bool waiting;         /* whether there is such a block */
    ef_text last;         /* its last key */
} ef_sorted_maker;        /* zero-initialised: empty */
/* Keys come in ascending order, each once. */
void ef_sorted_put(ef_sorted_maker *m, const char *key, size_t n, const void *value,
                   size_t n_value);
/* Writes what is left; afterwards m->file is the whole table, unless it ran out of memory. */
void ef_sorted_end(ef_sorted_maker *m);
void ef_sorted_maker_free(ef_sorted_maker *m);

typedef struct ef_sorted {
    const char *path; /* for messages */
    const unsigned char *bytes;
    size_t n;
    ef_wire index, data; /* entries that were not read yet */
    uint64_t end;        /* of the last data block: the next one begins there or behind it */
    ef_text index_key;
    ef_text key;   /* of the current entry */
    ef_wire value; /* of the current entry, in the table's bytes */
} ef_sorted;
/* The bytes are borrowed until ef_sorted_close. */
ef_status *ef_sorted_open(ef_sorted *t, const char *path, const void *bytes, size_t n);
/* The next entry: t->key and t->value. *more false: there is none. */
ef_status *ef_sorted_next(ef_sorted *t, bool *more);
void ef_sorted_close(ef_sorted *t);
#endif
