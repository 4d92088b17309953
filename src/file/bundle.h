/* Checkpoints as files, TensorFlow's format: `PREFIX.index`, a sorted table with the dtype, shape
 * and place of each name, and `PREFIX.data-00000-of-00001` (or several such) with the elements of
 * one tensor after the other. Every number in a file is checked against the sizes of the files
 * before it is used, so damaged files end in an error and not in a large allocation. */
#ifndef EF_FILE_BUNDLE_H
#define EF_FILE_BUNDLE_H
#include "file/wire.h"

typedef struct ef_bundle_entry {
    int dtype; /* TensorFlow's number, which is an ef_dtype if it is less than EF_DTYPES */
    int rank;
    int64_t dim[EF_MAX_RANK];
    int64_t shard;
    uint64_t offset, size; /* bytes in the shard */
    uint32_t crc;          /* masked */
    bool sliced;           /* its slices are stored, under names of their own */
    bool large;            /* it has more axes than EF_MAX_RANK; dim holds the first ones */
} ef_bundle_entry;

/* ---- reading: one thread at a time -------------------------------------------------------------
 * Errors are EF_NOT_FOUND if there is no such checkpoint and EF_DATA_LOSS if it is damaged. */
typedef struct ef_bundle ef_bundle;
ef_status *ef_bundle_open(const char *prefix, size_t n, ef_bundle **out);
/* The next entry, in order of names; *name is valid until the next call. *more false: no more. */
ef_status *ef_bundle_next(ef_bundle *b, const char **name, size_t *n, ef_bundle_entry *e,
                          bool *more);
int64_t ef_bundle_shards(const ef_bundle *b);
/* Checks that the entry's bytes are all in its file; called before memory is allocated for them. */
ef_status *ef_bundle_check(ef_bundle *b, const ef_bundle_entry *e);
/* Reads the e->size bytes of an entry; with `check`, compares their checksum. */
ef_status *ef_bundle_read(ef_bundle *b, const ef_bundle_entry *e, void *to, bool check);
void ef_bundle_close(ef_bundle *b); /* NULL is fine */

/* What the e->size bytes of a tensor of `count` strings hold: ef_bundle_strings checks all of it,
 * then each call of next gives one string. */
typedef struct ef_bundle_text {
    ef_wire lengths;
    const char *at;
} ef_bundle_text;
ef_status *ef_bundle_strings(const ef_bundle *b, const ef_bundle_entry *e, const void *bytes,
                             uint64_t count, ef_bundle_text *out);
size_t ef_bundle_string(ef_bundle_text *t, const char **at);

/* ---- writing -----------------------------------------------------------------------------------
 * Tensors are stored in the order of the calls. Both files get their names when the writer is
 * closed; a name that was given twice is an error then. */
typedef struct ef_bundle_writer ef_bundle_writer;
ef_status *ef_bundle_writer_open(const char *prefix, size_t n, ef_bundle_writer **out);
/* Begins an entry: dtype, rank and dim are read. Its bytes follow by ef_bundle_write. */
ef_status *ef_bundle_begin(ef_bundle_writer *w, const char *name, size_t n,
                           const ef_bundle_entry *e);
ef_status *ef_bundle_write(ef_bundle_writer *w, const void *bytes, size_t n);
/* The bytes of a tensor of strings: all lengths, then all strings. `get` gives the k-th. */
typedef size_t ef_bundle_get(const void *user, uint64_t k, const char **at);
ef_status *ef_bundle_write_strings(ef_bundle_writer *w, uint64_t count, ef_bundle_get *get,
                                   const void *user);
/* Ends w. If `s` is not NULL, writing has failed: the files are discarded and s is returned. */
ef_status *ef_bundle_writer_close(ef_bundle_writer *w, ef_status *s);

/* Appends "PREFIX.data-SSSSS-of-NNNNN". */
void ef_bundle_shard_name(ef_text *t, const char *prefix, size_t n, int64_t shard, int64_t of);
/* Makes one checkpoint of several: their data files are renamed, one index is written, and their
 * own indices are removed. With `missing_ok` checkpoints that do not exist are skipped. */
typedef struct ef_bundle_name {
    const char *at;
    size_t n;
} ef_bundle_name;
ef_status *ef_bundle_merge(const ef_bundle_name *from, size_t n_from, const char *to, size_t n,
                           bool missing_ok);
#endif
