/* Reading sorted tables: the footer says where the index is, each entry of the index where a block
 * of entries is. */
#include "file/crc32c.h"
#include "file/sorted.h"

enum { FOOTER = 48, TRAILER = 5 };

static ef_status *damaged(const ef_sorted *t, const char *why) {
    return ef_error(EF_DATA_LOSS,
                    "Unable to read file (%.800s). Perhaps the file is corrupt or was produced by "
                    "a newer version of TensorFlow with format changes: %s",
                    t->path, why);
}

static bool read_place(ef_wire *w, uint64_t *offset, uint64_t *size) {
    return ef_wire_varint(w, offset) && ef_wire_varint(w, size);
}

/* The entries of a block, its checksum compared; `most`: where the bytes of blocks end. */
static ef_status *open_block(const ef_sorted *t, uint64_t offset, uint64_t size, size_t most,
                             ef_wire *out) {
    if (offset > most || size > most - offset || most - offset - size < TRAILER || size < 4)
        return damaged(t, "a block lies outside of the file (truncated block read)");
    const unsigned char *at = t->bytes + offset;
    uint64_t stored = 0, restarts = 0;
    ef_wire trailer = ef_wire_from(at + size + 1, 4), tail = ef_wire_from(at + size - 4, 4);
    ef_wire_fixed(&trailer, 4, &stored);
    ef_wire_fixed(&tail, 4, &restarts);
    if (ef_crc32c_mask(ef_crc32c(0, at, (size_t)size + 1)) != (uint32_t)stored)
        return damaged(t, "block checksum mismatch");
    if (at[size] != 0)
        return ef_error(EF_UNIMPLEMENTED,
                        "%.800s: its blocks are compressed (kind %d), which is "
                        "not supported; checkpoints are written without compression",
                        t->path, at[size]);
    if (restarts > (size - 4) / 4) return damaged(t, "bad block contents");
    *out = ef_wire_from(at, (size_t)(size - 4 - 4 * restarts));
    return NULL;
}

/* Whether `shared` bytes of the last key and then `own` others are a greater key. */
static bool follows(const ef_text *last, size_t shared, const unsigned char *more, size_t own) {
    const size_t rest = last->n - shared, both = rest < own ? rest : own;
    const int order = both > 0 ? memcmp(more, last->at + shared, both) : 0;
    return order > 0 || (order == 0 && own > rest);
}

/* One entry: its key is `shared` bytes of the previous key and the bytes stored here. */
static ef_status *read_entry(const ef_sorted *t, ef_wire *w, ef_text *key, ef_wire *value) {
    uint64_t shared = 0, own = 0, n = 0;
    if (!ef_wire_varint(w, &shared) || !ef_wire_varint(w, &own) || !ef_wire_varint(w, &n) ||
        shared > key->n || own > ef_wire_left(w) || n > ef_wire_left(w) - own)
        return damaged(t, "bad entry in block");
    if (key->at != NULL && !follows(key, (size_t)shared, w->at, (size_t)own))
        return damaged(t, "keys are not in order");
    key->n = (size_t)shared;
    ef_text_bytes(key, (const char *)w->at, (size_t)own);
    w->at += own;
    *value = ef_wire_from(w->at, (size_t)n);
    w->at += n;
    return key->failed ? ef_no_memory(key->n) : NULL;
}

ef_status *ef_sorted_open(ef_sorted *t, const char *path, const void *bytes, size_t n) {
    *t = (ef_sorted){.path = path, .bytes = bytes, .n = n};
    if (n < FOOTER) return damaged(t, "file is too short to be an sstable");
    uint64_t magic = 0, extra = 0, extra_size = 0, offset = 0, size = 0;
    ef_wire w = ef_wire_from(t->bytes + n - 8, 8);
    ef_wire_fixed(&w, 8, &magic);
    if (magic != 0xdb4775248b80fb57u) return damaged(t, "not an sstable (bad magic number)");
    w = ef_wire_from(t->bytes + n - FOOTER, FOOTER - 8);
    if (!read_place(&w, &extra, &extra_size) || !read_place(&w, &offset, &size))
        return damaged(t, "bad block handle in the footer");
    EF_TRY(open_block(t, extra, extra_size, n - FOOTER, &t->index)); /* which is empty */
    return open_block(t, offset, size, n - FOOTER, &t->index);
}

/* Opens the next block of entries that the index names. */
static ef_status *next_block(ef_sorted *t, bool *more) {
    uint64_t offset = 0, size = 0;
    ef_wire place;
    if (ef_wire_left(&t->index) == 0) {
        *more = false;
        return NULL;
    }
    EF_TRY(read_entry(t, &t->index, &t->index_key, &place));
    if (!read_place(&place, &offset, &size)) return damaged(t, "bad block handle");
    if (offset < t->end) return damaged(t, "blocks are not in order");
    EF_TRY(open_block(t, offset, size, t->n - FOOTER, &t->data));
    t->end = offset + size + TRAILER;
    *more = true;
    return NULL;
}

ef_status *ef_sorted_next(ef_sorted *t, bool *more) {
    *more = true;
    while (ef_wire_left(&t->data) == 0) {
        EF_TRY(next_block(t, more));
        if (!*more) return NULL;
    }
    /* A block begins with a whole key, which may be compared with the last one of the block before
     * by the same rule. */
    return read_entry(t, &t->data, &t->key, &t->value);
}

void ef_sorted_close(ef_sorted *t) {
    ef_text_free(&t->key);
    ef_text_free(&t->index_key);
}
