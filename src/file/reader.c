#include "file/reader.h"
#include "base/alloc.h"
#include "file/crc32c.h"
#include <endian.h>
#include <string.h>

/* The next record in r->text; *end: there is none. */
typedef ef_status *next_fn(ef_reader *r, bool *end);

struct ef_reader {
    ef_input *in;
    next_fn *next;
    ef_text text; /* the current record; its memory is reused for the next */
    uint64_t header, record, footer;
    ef_text ahead; /* fixed: bytes that are the footer if the file ends behind them */
    bool begun;    /* fixed: the header has been skipped */
};

static ef_status *make(const char *name, size_t n, ef_compression how, size_t buffer, next_fn *next,
                       ef_reader **out) {
    ef_reader *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    r->next = next;
    ef_status *s = ef_input_open(name, n, how, buffer, &r->in);
    if (s != NULL)
        ef_free(r);
    else
        *out = r;
    return s;
}

void ef_reader_close(ef_reader *r) {
    if (r == NULL) return;
    ef_input_close(r->in);
    ef_text_free(&r->text);
    ef_text_free(&r->ahead);
    ef_free(r);
}

ef_status *ef_reader_next(ef_reader *r, const char **at, size_t *n, bool *end) {
    bool over = false;
    r->text.n = 0;
    EF_TRY(r->next(r, &over));
    *end = over;
    *at = over || r->text.n == 0 ? "" : r->text.at;
    *n = over ? 0 : r->text.n;
    return NULL;
}

uint64_t ef_reader_offset(const ef_reader *r) { return ef_input_offset(r->in) - r->ahead.n; }

ef_status *ef_reader_seek(ef_reader *r, uint64_t offset) {
    EF_TRY(ef_input_seek(r->in, offset));
    r->ahead.n = 0;
    r->begun = offset > 0;
    return NULL;
}

/* ---- TFRecord --------------------------------------------------------------------------------
 * Eight bytes of length, the masked checksum of these, the data, the masked checksum of the data;
 * all little-endian. */

static ef_status *broken(const ef_reader *r, const char *what, uint64_t offset) {
    return ef_error(EF_DATA_LOSS, "%.800s: %s record at %llu", ef_input_path(r->in), what,
                    (unsigned long long)offset);
}

static bool checks(const char *bytes, size_t n) { /* the checksum follows the bytes */
    uint32_t stored;
    memcpy(&stored, bytes + n, 4);
    return le32toh(stored) == ef_crc32c_mask(ef_crc32c(0, bytes, n));
}

/* quiet: a file that ends inside the twelve bytes before a record's data ends there without an
 * error, as in TensorFlow's iterator: another process may still be writing the record. */
static ef_status *read_record(ef_reader *r, bool quiet, bool *end) {
    uint64_t offset = ef_input_offset(r->in), got = 0, n = 0;
    EF_TRY(ef_input_read(r->in, 12, &r->text, &got));
    if (got == 0 || (quiet && got < 12)) {
        *end = true;
        return NULL;
    }
    if (got < 12) return broken(r, "truncated", offset);
    if (!checks(r->text.at, 8)) return broken(r, "corrupted", offset);
    memcpy(&n, r->text.at, 8);
    n = le64toh(n);
    if (n > EF_RECORD_MOST)
        return ef_error(EF_DATA_LOSS,
                        "%.800s: the record at %llu claims to have %llu bytes; the most is %llu",
                        ef_input_path(r->in), (unsigned long long)offset, (unsigned long long)n,
                        (unsigned long long)EF_RECORD_MOST);
    r->text.n = 0;
    EF_TRY(ef_input_read(r->in, n + 4, &r->text, &got));
    if (got < n + 4) return broken(r, "truncated", offset);
    if (!checks(r->text.at, (size_t)n)) return broken(r, "corrupted", offset);
    r->text.n = (size_t)n;
    return NULL;
}

static ef_status *next_record(ef_reader *r, bool *end) { return read_record(r, false, end); }
static ef_status *next_written(ef_reader *r, bool *end) { return read_record(r, true, end); }

ef_status *ef_records_open(const char *name, size_t n, ef_compression how, size_t buffer,
                           ef_reader **out) {
    return make(name, n, how, buffer, next_record, out);
}

ef_status *ef_record_reader_open(const char *name, size_t n, const char *compression,
                                 ef_reader **out) {
    ef_compression how;
    EF_TRY(ef_compression_named(compression, strlen(compression), &how));
    return make(name, n, how, 0, next_written, out);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static ef_status *next_line(ef_reader *r, bool *end) {
    bool any = false;
    for (;;) {
        const char *at;
        size_t n;
        EF_TRY(ef_input_peek(r->in, &at, &n));
        if (n == 0) break;
        any = true;
        const char *stop = memchr(at, '\n', n);
        size_t piece = stop != NULL ? (size_t)(stop - at) : n;
        ef_text_bytes(&r->text, at, piece);
        ef_input_take(r->in, piece + (stop != NULL));
        if (r->text.failed) return ef_no_memory(r->text.n + piece);
        if (r->text.n > EF_RECORD_MOST)
            return ef_error(EF_DATA_LOSS, "%.800s: the line before byte %llu is longer than %llu",
                            ef_input_path(r->in), (unsigned long long)ef_input_offset(r->in),
                            (unsigned long long)EF_RECORD_MOST);
        if (stop == NULL) continue;
        if (r->text.n > 0 && r->text.at[r->text.n - 1] == '\r') r->text.n--;
        return NULL;
    }
    *end = !any;
    return NULL;
}

ef_status *ef_lines_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         ef_reader **out) {
    return make(name, n, how, buffer, next_line, out);
}

/* ---- records of a fixed length ------------------------------------------------------------------
 * The size of a compressed file is not known beforehand, and its last bytes are the footer, not a
 * record. So this reader stays ahead of the records by the length of the footer. */

static ef_status *uneven(const ef_reader *r, uint64_t body) {
    return ef_error(
        EF_INVALID,
        "Excluding the header (%llu bytes) and footer (%llu bytes), input file \"%.800s\" "
        "has body length %llu bytes, which is not an exact multiple of the record length "
        "(%llu bytes).",
        (unsigned long long)r->header, (unsigned long long)r->footer, ef_input_path(r->in),
        (unsigned long long)body, (unsigned long long)r->record);
}

static ef_status *next_fixed(ef_reader *r, bool *end) {
    uint64_t got = 0;
    if (!r->begun) {
        EF_TRY(ef_input_skip(r->in, r->header, &got));
        r->begun = true;
    }
    if (r->ahead.n < r->footer) {
        EF_TRY(ef_input_read(r->in, r->footer - r->ahead.n, &r->ahead, &got));
        if (r->ahead.n < r->footer) {
            *end = true;
            return NULL;
        }
    }
    EF_TRY(ef_input_read(r->in, r->record, &r->ahead, &got));
    if (got < r->record) {
        *end = true;
        uint64_t body = ef_input_offset(r->in) - r->header - r->footer;
        return got > 0 ? uneven(r, body) : NULL;
    }
    ef_text_bytes(&r->text, r->ahead.at, (size_t)r->record);
    if (r->text.failed) return ef_no_memory((size_t)r->record);
    memmove(r->ahead.at, r->ahead.at + r->record, (size_t)r->footer);
    r->ahead.n = (size_t)r->footer;
    return NULL;
}

ef_status *ef_fixed_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         uint64_t header, uint64_t record, uint64_t footer, ef_reader **out) {
    if (record == 0 || record > EF_RECORD_MOST || footer > EF_RECORD_MOST || header > INT64_MAX)
        return ef_error(EF_INVALID,
                        "%.*s: a record of %llu bytes, a header of %llu and a footer of %llu; the "
                        "record must have 1 byte at least, and none may be longer than %llu",
                        (int)(n < 800 ? n : 800), name, (unsigned long long)record,
                        (unsigned long long)header, (unsigned long long)footer,
                        (unsigned long long)EF_RECORD_MOST);
    ef_reader *r = NULL;
    EF_TRY(make(name, n, how, buffer, next_fixed, &r));
    r->header = header;
    r->record = record;
    r->footer = footer;
    int64_t size = ef_input_size(r->in);
    uint64_t body =
        size >= 0 && (uint64_t)size >= header + footer ? (uint64_t)size - header - footer : 0;
    if (body % record != 0) {
        ef_status *s = uneven(r, body);
        ef_reader_close(r);
        return s;
    }
    *out = r;
    return NULL;
}
