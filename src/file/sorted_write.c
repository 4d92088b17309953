/* Writing sorted tables. A block holds entries until it is large enough; a key is written as what
 * differs from the key before it, and whole at every sixteenth entry. The index has an entry for
 * each block under a short key between the block's last key and the next block's first. */
#include "file/crc32c.h"
#include "file/sorted.h"
#include <endian.h>

enum { RESTART_EACH = 16, BLOCK_BYTES = 262144, FOOTER = 48 };

static void put_fixed32(ef_text *t, uint32_t v) {
    v = htole32(v);
    ef_text_bytes(t, (const char *)&v, sizeof v);
}

static void keep(ef_text *t, const char *p, size_t n) {
    t->n = 0;
    ef_text_bytes(t, p, n);
}

static void put_entry(ef_sorted_block *b, const char *key, size_t n, const void *value,
                      size_t n_value) {
    size_t shared = 0;
    if (b->restarts.n == 0 || b->since == RESTART_EACH) {
        put_fixed32(&b->restarts, (uint32_t)b->bytes.n);
        b->since = 0;
    } else {
        while (shared < n && shared < b->last.n && key[shared] == b->last.at[shared]) shared++;
    }
    ef_wire_put_varint(&b->bytes, shared);
    ef_wire_put_varint(&b->bytes, n - shared);
    ef_wire_put_varint(&b->bytes, n_value);
    ef_text_bytes(&b->bytes, key + shared, n - shared);
    ef_text_bytes(&b->bytes, value, n_value);
    keep(&b->last, key, n);
    b->since++;
}

/* Appends the block and empties it; *offset and *size say where it is, its trailer not counted. */
static void end_block(ef_sorted_maker *m, ef_sorted_block *b, uint64_t *offset, uint64_t *size) {
    if (b->restarts.n == 0) put_fixed32(&b->restarts, 0);
    const uint32_t restarts = (uint32_t)(b->restarts.n / 4);
    ef_text_bytes(&b->bytes, b->restarts.at, b->restarts.n);
    put_fixed32(&b->bytes, restarts);
    *offset = m->file.n;
    *size = b->bytes.n;
    uint32_t crc = ef_crc32c(ef_crc32c(0, b->bytes.at, b->bytes.n), "", 1);
    ef_text_bytes(&m->file, b->bytes.at, b->bytes.n);
    ef_text_bytes(&m->file, "", 1); /* not compressed */
    put_fixed32(&m->file, ef_crc32c_mask(crc));
    m->file.failed |= b->bytes.failed || b->restarts.failed || b->last.failed;
    b->bytes.n = b->restarts.n = b->last.n = 0;
    b->since = 0;
}

static void put_place(ef_text *t, uint64_t offset, uint64_t size) {
    ef_wire_put_varint(t, offset);
    ef_wire_put_varint(t, size);
}

/* Cuts m->last down to a short key that is not less than it, and less than `next`. */
static void shorten_between(ef_text *last, const char *next, size_t n) {
    size_t k = 0;
    while (k < last->n && k < n && last->at[k] == next[k]) k++;
    if (k >= last->n || k >= n) return;
    unsigned char byte = (unsigned char)last->at[k];
    if (byte < 0xff && byte + 1 < (unsigned char)next[k]) {
        last->at[k] = (char)(byte + 1);
        last->n = k + 1;
    }
}

static void shorten_behind(ef_text *last) {
    for (size_t k = 0; k < last->n; k++)
        if ((unsigned char)last->at[k] != 0xff) {
            last->at[k] = (char)((unsigned char)last->at[k] + 1);
            last->n = k + 1;
            return;
        }
}

/* Adds the block that was written last to the index. */
static void name_block(ef_sorted_maker *m) {
    ef_text place = {0};
    put_place(&place, m->begun, m->size);
    put_entry(&m->index, m->last.at != NULL ? m->last.at : "", m->last.n, place.at, place.n);
    m->file.failed |= place.failed || m->last.failed;
    ef_text_free(&place);
    m->waiting = false;
}

static void end_data(ef_sorted_maker *m) {
    keep(&m->last, m->data.last.at, m->data.last.n);
    end_block(m, &m->data, &m->begun, &m->size);
    m->waiting = true;
}

void ef_sorted_put(ef_sorted_maker *m, const char *key, size_t n, const void *value,
                   size_t n_value) {
    if (m->waiting) {
        shorten_between(&m->last, key, n);
        name_block(m);
    }
    put_entry(&m->data, key, n, value, n_value);
    if (m->data.bytes.n + m->data.restarts.n + 4 >= BLOCK_BYTES) end_data(m);
}

void ef_sorted_end(ef_sorted_maker *m) {
    uint64_t offset, size;
    if (m->data.bytes.n > 0) end_data(m);
    ef_sorted_block none = {0};
    end_block(m, &none, &offset, &size);
    ef_text footer = {0};
    put_place(&footer, offset, size);
    if (m->waiting) {
        shorten_behind(&m->last);
        name_block(m);
    }
    end_block(m, &m->index, &offset, &size);
    put_place(&footer, offset, size);
    while (footer.n < FOOTER - 8 && !footer.failed) ef_text_bytes(&footer, "", 1);
    put_fixed32(&footer, 0x8b80fb57u);
    put_fixed32(&footer, 0xdb477524u);
    ef_text_bytes(&m->file, footer.at, footer.n);
    m->file.failed |= footer.failed;
    ef_text_free(&footer);
    ef_text_free(&none.bytes);
    ef_text_free(&none.restarts);
    ef_text_free(&none.last);
}

static void free_block(ef_sorted_block *b) {
    ef_text_free(&b->bytes);
    ef_text_free(&b->restarts);
    ef_text_free(&b->last);
}

void ef_sorted_maker_free(ef_sorted_maker *m) {
    free_block(&m->data);
    free_block(&m->index);
    ef_text_free(&m->file);
    ef_text_free(&m->last);
}
