/* Reading checkpoints. The index is read as a whole, since it is small compared with the data; a
 * data file is opened when the first tensor in it is read. */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "evenflow_binding.h"
#include "file/bundle.h"
#include "file/crc32c.h"
#include "file/path.h"
#include "file/sorted.h"
#include "file/whole_file.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_MOST = 1 << 30, SHARDS_MOST = 99999, PIECE = 1 << 24 };

struct ef_bundle {
    ef_text prefix, index_path, index;
    ef_sorted table;
    int64_t shards;
    int fd; /* the shard that was read last; -1: none */
    int64_t open;
    uint64_t bytes; /* its size */
};

static ef_status *damaged(const ef_bundle *b, const char *why) {
    return ef_error(EF_DATA_LOSS, "%.800s: the index of the checkpoint is damaged: %s",
                    b->index_path.at, why);
}

/* ---- messages in the index ------------------------------------------------------------------- */

static bool read_header(ef_wire w, int64_t *shards, bool *big) {
    ef_wire_field f;
    *shards = 0;
    *big = false;
    while (ef_wire_next(&w, &f)) {
        if (f.number == 1 && f.type == EF_WIRE_VARINT) *shards = (int64_t)f.value;
        if (f.number == 2 && f.type == EF_WIRE_VARINT) *big = f.value != 0;
    }
    return !w.bad && *shards >= 0 && *shards <= SHARDS_MOST;
}

static bool read_shape(ef_wire w, ef_bundle_entry *e) {
    ef_wire_field f, g;
    while (ef_wire_next(&w, &f)) {
        if (f.number == 3 && f.type == EF_WIRE_VARINT && f.value != 0) return false;
        if (f.number != 2 || f.type != EF_WIRE_BYTES) continue;
        int64_t size = 0;
        while (ef_wire_next(&f.bytes, &g))
            if (g.number == 1 && g.type == EF_WIRE_VARINT) size = (int64_t)g.value;
        if (f.bytes.bad || size < 0) return false;
        if (e->rank == EF_MAX_RANK)
            e->large = true;
        else
            e->dim[e->rank++] = size;
    }
    return !w.bad;
}

static bool read_entry(ef_wire w, ef_bundle_entry *e) {
    ef_wire_field f;
    *e = (ef_bundle_entry){0};
    while (ef_wire_next(&w, &f)) {
        const bool number = f.type == EF_WIRE_VARINT;
        if (f.number == 1 && number) {
            e->dtype = f.value < 1000 ? (int)f.value : 0;
        } else if (f.number == 2 && f.type == EF_WIRE_BYTES) {
            if (!read_shape(f.bytes, e)) return false;
        } else if (f.number == 3 && number) {
            e->shard = (int64_t)f.value;
        } else if (f.number == 4 && number) {
            e->offset = f.value;
        } else if (f.number == 5 && number) {
            e->size = f.value;
        } else if (f.number == 6 && f.type == EF_WIRE_32) {
            e->crc = (uint32_t)f.value;
        } else if (f.number == 7) {
            e->sliced = true;
        }
    }
    return !w.bad;
}

/* ---- the index ------------------------------------------------------------------------------- */

static ef_status *read_index(ef_bundle *b) {
    struct stat st;
    bool more = false, big = false;
    char *path = NULL;
    EF_TRY(ef_path_make(b->index_path.at, b->index_path.n, &path));
    const bool there = stat(path, &st) == 0;
    ef_free(path);
    if (!there)
        return ef_error(EF_NOT_FOUND,
                        "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                        "files for %.800s (there is no %.800s)",
                        b->prefix.at, b->index_path.at);
    if (st.st_size > INDEX_MOST) return damaged(b, "it has more than 1 GiB");
    EF_TRY(ef_file_read(b->index_path.at, b->index_path.n, &b->index));
    EF_TRY(
        ef_sorted_open(&b->table, b->index_path.at, b->index.n > 0 ? b->index.at : "", b->index.n));
    EF_TRY(ef_sorted_next(&b->table, &more));
    if (!more || b->table.key.n != 0 || !read_header(b->table.value, &b->shards, &big))
        return damaged(b, "it has no header");
    if (big)
        return ef_error(EF_UNIMPLEMENTED,
                        "%.800s: the checkpoint was written on a machine with other byte order",
                        b->index_path.at);
    return NULL;
}

ef_status *ef_bundle_open(const char *prefix, size_t n, ef_bundle **out) {
    ef_bundle *b = ef_calloc(1, sizeof *b);
    if (b == NULL) return ef_no_memory(sizeof *b);
    b->fd = -1;
    ef_text_bytes(&b->prefix, prefix, n);
    ef_text_bytes(&b->index_path, prefix, n);
    ef_text_bytes(&b->index_path, ".index", 6);
    ef_status *s = b->prefix.failed || b->index_path.failed ? ef_no_memory(n) : read_index(b);
    if (s != NULL)
        ef_bundle_close(b);
    else
        *out = b;
    return s;
}

void ef_bundle_close(ef_bundle *b) {
    if (b == NULL) return;
    if (b->fd >= 0) close(b->fd);
    ef_sorted_close(&b->table);
    ef_text_free(&b->prefix);
    ef_text_free(&b->index_path);
    ef_text_free(&b->index);
    ef_free(b);
}

int64_t ef_bundle_shards(const ef_bundle *b) { return b->shards; }

ef_status *ef_bundle_next(ef_bundle *b, const char **name, size_t *n, ef_bundle_entry *e,
                          bool *more) {
    EF_TRY(ef_sorted_next(&b->table, more));
    if (!*more) return NULL;
    *name = b->table.key.at;
    *n = b->table.key.n;
    return read_entry(b->table.value, e) ? NULL : damaged(b, "an entry cannot be read");
}

/* ---- the data -------------------------------------------------------------------------------- */

void ef_bundle_shard_name(ef_text *t, const char *prefix, size_t n, int64_t shard, int64_t of) {
    ef_text_bytes(t, prefix, n);
    ef_text_add(t, ".data-%05lld-of-%05lld", (long long)shard, (long long)of);
}

static ef_status *open_shard(ef_bundle *b, int64_t shard) {
    if (b->fd >= 0 && b->open == shard) return NULL;
    if (b->fd >= 0) close(b->fd);
    b->fd = -1;
    struct stat st = {0};
    ef_text name = {0};
    char *path = NULL;
    ef_bundle_shard_name(&name, b->prefix.at, b->prefix.n, shard, b->shards);
    ef_status *s = name.failed ? ef_no_memory(name.n) : ef_path_make(name.at, name.n, &path);
    if (s == NULL) {
        b->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (b->fd < 0 || fstat(b->fd, &st) < 0)
            s = ef_path_error(errno, path);
        else if (!S_ISREG(st.st_mode))
            s = ef_error(EF_DATA_LOSS, "%.800s: not a regular file", path);
    }
    if (s == NULL) {
        b->bytes = (uint64_t)st.st_size;
        b->open = shard;
    }
    ef_free(path);
    ef_text_free(&name);
    return s;
}

ef_status *ef_bundle_check(ef_bundle *b, const ef_bundle_entry *e) {
    if (e->shard < 0 || e->shard >= b->shards) return damaged(b, "an entry is in no shard");
    EF_TRY(open_shard(b, e->shard));
    if (e->offset <= b->bytes && e->size <= b->bytes - e->offset) return NULL;
    return ef_error(EF_OUT_OF_RANGE,
                    "Read less bytes than requested: TensorBundle at %.800s shard %lld has %llu "
                    "bytes, and a tensor needs %llu bytes at %llu; the file is cut off",
                    b->prefix.at, (long long)e->shard, (unsigned long long)b->bytes,
                    (unsigned long long)e->size, (unsigned long long)e->offset);
}

static ef_status *wrong_sum(const ef_bundle *b, const ef_bundle_entry *e, uint32_t found) {
    return ef_error(EF_DATA_LOSS,
                    "TensorBundle at %.800s shard %lld (%llu bytes): Checksum does not match: "
                    "stored %u vs. calculated on the restored bytes %u",
                    b->prefix.at, (long long)e->shard, (unsigned long long)e->size, e->crc, found);
}

ef_status *ef_bundle_read(ef_bundle *b, const ef_bundle_entry *e, void *to, bool check) {
    EF_TRY(ef_bundle_check(b, e));
    unsigned pulse = ef_interrupt_counter();
    uint32_t crc = 0;
    for (uint64_t done = 0; done < e->size;) {
        size_t piece = e->size - done < PIECE ? (size_t)(e->size - done) : PIECE;
        ssize_t got = pread(b->fd, (char *)to + done, piece, (off_t)(e->offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ef_path_error(errno, b->prefix.at);
        if (got == 0)
            return ef_error(EF_OUT_OF_RANGE,
                            "Read less bytes than requested: the data of %.800s "
                            "ended while it was read",
                            b->prefix.at);
        if (check) crc = ef_crc32c(crc, (char *)to + done, (size_t)got);
        done += (uint64_t)got;
        EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
    }
    return check && ef_crc32c_mask(crc) != e->crc ? wrong_sum(b, e, ef_crc32c_mask(crc)) : NULL;
}

/* The checksum covers lengths in a fixed size: 4 bytes, or 8 for a length that needs them. */
static uint32_t sum_length(uint32_t crc, uint64_t length) {
    unsigned char at[8];
    const size_t n = length <= UINT32_MAX ? 4 : 8;
    for (size_t k = 0; k < n; k++) at[k] = (unsigned char)(length >> 8 * k);
    return ef_crc32c(crc, at, n);
}

ef_status *ef_bundle_strings(const ef_bundle *b, const ef_bundle_entry *e, const void *bytes,
                             uint64_t count, ef_bundle_text *out) {
    ef_wire w = ef_wire_from(bytes, (size_t)e->size);
    out->lengths = w;
    uint64_t length, total = 0, stored = 0;
    uint32_t crc = 0;
    for (uint64_t k = 0; k < count; k++) {
        if (!ef_wire_varint(&w, &length) || length > e->size || (total += length) > e->size)
            return ef_error(EF_DATA_LOSS,
                            "TensorBundle at %.800s: the lengths of %llu strings do "
                            "not fit %llu bytes",
                            b->prefix.at, (unsigned long long)count, (unsigned long long)e->size);
        crc = sum_length(crc, length);
    }
    const unsigned char *sum = w.at;
    if (ef_wire_left(&w) != total + 4 || !ef_wire_fixed(&w, 4, &stored))
        return ef_error(EF_DATA_LOSS,
                        "TensorBundle at %.800s: %llu strings of together %llu bytes "
                        "do not fill their %llu bytes",
                        b->prefix.at, (unsigned long long)count, (unsigned long long)total,
                        (unsigned long long)e->size);
    if (ef_crc32c_mask(crc) != (uint32_t)stored)
        return ef_error(EF_DATA_LOSS,
                        "TensorBundle at %.800s: The length checksum does not match: "
                        "expected %u but actual is %u",
                        b->prefix.at, (uint32_t)stored, ef_crc32c_mask(crc));
    crc = ef_crc32c(crc, sum, 4 + (size_t)total);
    out->at = (const char *)w.at;
    return ef_crc32c_mask(crc) != e->crc ? wrong_sum(b, e, ef_crc32c_mask(crc)) : NULL;
}

size_t ef_bundle_string(ef_bundle_text *t, const char **at) {
    uint64_t n = 0;
    ef_wire_varint(&t->lengths, &n);
    *at = t->at;
    t->at += n;
    return (size_t)n;
}

/* ---- for bindings ---------------------------------------------------------------------------- */

ef_status *ef_checkpoint_entries(const char *prefix, size_t n, ef_checkpoint_fn *each, void *user) {
    ef_bundle *b = NULL;
    ef_bundle_entry e;
    const char *name;
    size_t length;
    bool more = true;
    EF_TRY(ef_bundle_open(prefix, n, &b));
    /* Keys share prefixes, so a small made-up index can hold endless names: a real index has no
     * more than 64 bytes of names in each of its bytes. */
    uint64_t left = 64 * (uint64_t)b->index.n + (1 << 20);
    ef_status *s = NULL;
    while (s == NULL && (s = ef_bundle_next(b, &name, &length, &e, &more)) == NULL && more) {
        if (length > left) s = damaged(b, "its names are too long");
        if (s == NULL) {
            left -= length;
            ef_shape shape = {.rank = e.rank};
            memcpy(shape.dim, e.dim, sizeof shape.dim);
            each(user, name, length, e.dtype, &shape);
        }
    }
    ef_bundle_close(b);
    return s;
}
