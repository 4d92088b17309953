/* There are at most two buffers: one for the file's bytes and, for a compressed file, one for the
 * decompressed bytes. Both have a fixed size, so a file that decompresses to a thousand times its
 * size takes no more memory than another. */
#include "file/input.h"
#include "base/alloc.h"
#include "base/interrupt.h"
#include "file/calls.h"
#include "file/path.h"
#include "file/z_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, BUFFER_MOST = 1 << 26 };

struct ef_input {
    int fd;
    char *path;
    ef_compression how;
    z_stream z;
    bool inflating, inside; /* z is made; a member has begun and not ended */
    size_t cap;
    char *raw;    /* compressed bytes; NULL: the file is not compressed */
    char *buffer; /* bytes to be used: [at, n) */
    size_t at, n;
    uint64_t before; /* offset of buffer[0] */
    unsigned pulse;
};

ef_status *ef_compression_named(const char *name, size_t n, ef_compression *out) {
    static const struct {
        const char *name;
        ef_compression how;
    } known[] = {
        {"", EF_UNCOMPRESSED}, {"NONE", EF_UNCOMPRESSED}, {"GZIP", EF_GZIP}, {"ZLIB", EF_ZLIB}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == n && (n == 0 || memcmp(known[k].name, name, n) == 0)) {
            *out = known[k].how;
            return NULL;
        }
    return ef_error(EF_INVALID,
                    "Unsupported compression_type: '%.*s'; it must be '', 'GZIP' or 'ZLIB'",
                    (int)(n < 40 ? n : 40), name);
}

static int window_bits(ef_compression how) { return how == EF_GZIP ? MAX_WBITS + 16 : MAX_WBITS; }

static ef_status *z_error(int code, const z_stream *z, const char *where, uint64_t offset) {
    if (code == Z_MEM_ERROR) return ef_no_memory(1 << 15);
    return ef_error(EF_DATA_LOSS,
                    "%.800s: inflate() failed with error %d at byte %llu of the decompressed data: "
                    "%s; the file is damaged or not compressed this way",
                    where, code, (unsigned long long)offset, z->msg != NULL ? z->msg : "no more");
}

static ef_status *start_inflating(ef_input *in) {
    in->z = (z_stream)EF_Z_STREAM;
    int code = inflateInit2(&in->z, window_bits(in->how));
    if (code != Z_OK) return z_error(code, &in->z, in->path, 0);
    in->inflating = true;
    in->inside = false;
    return NULL;
}

ef_status *ef_input_open(const char *name, size_t n, ef_compression how, size_t buffer,
                         ef_input **out) {
    ef_input *in = ef_calloc(1, sizeof *in);
    if (in == NULL) return ef_no_memory(sizeof *in);
    ef_status *s = NULL;
    in->fd = -1;
    in->how = how;
    in->cap = buffer == 0 ? BUFFER : buffer < 64 ? 64 : buffer < BUFFER_MOST ? buffer : BUFFER_MOST;
    in->pulse = ef_interrupt_counter();
    EF_TRY_GOTO(ef_path_make(name, n, &in->path));
    EF_TRY_GOTO(ef_call_open(in->path, O_RDONLY, &in->fd));
    if (in->fd < 0) {
        s = ef_path_error(errno, in->path);
        goto done;
    }
    in->buffer = ef_malloc(in->cap);
    if (how != EF_UNCOMPRESSED) in->raw = ef_malloc(in->cap);
    if (in->buffer == NULL || (how != EF_UNCOMPRESSED && in->raw == NULL))
        s = ef_no_memory(in->cap);
    else if (how != EF_UNCOMPRESSED)
        s = start_inflating(in);
done:
    if (s != NULL)
        ef_input_close(in);
    else
        *out = in;
    return s;
}

void ef_input_close(ef_input *in) {
    if (in == NULL) return;
    if (in->inflating) inflateEnd(&in->z);
    if (in->fd >= 0) close(in->fd);
    ef_free(in->path);
    ef_free(in->raw);
    ef_free(in->buffer);
    ef_free(in);
}

static ef_status *fill_from_file(ef_input *in, char *to, size_t *n) {
    ssize_t got;
    EF_TRY(ef_interrupt_check(ef_context_here(), &in->pulse));
    EF_TRY(ef_call_read(in->fd, to, in->cap, &got));
    if (got < 0) return ef_path_error(errno, in->path);
    *n = (size_t)got;
    return NULL;
}

/* Inflates until there is at least a byte, or the file ends. A gzip file may have several members,
 * one behind the other. */
static ef_status *inflate_some(ef_input *in) {
    z_stream *z = &in->z;
    z->next_out = (Bytef *)in->buffer;
    z->avail_out = (uInt)in->cap;
    while (z->avail_out == in->cap) {
        if (z->avail_in == 0) {
            size_t n = 0;
            EF_TRY(fill_from_file(in, in->raw, &n));
            if (n == 0) {
                if (!in->inside) break;
                return ef_error(EF_DATA_LOSS,
                                "%.800s: the file ends in the middle of its compressed data, at "
                                "byte %llu of what it holds; it is truncated",
                                in->path, (unsigned long long)in->before);
            }
            z->next_in = (Bytef *)in->raw;
            z->avail_in = (uInt)n;
        }
        in->inside = true;
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            in->inside = false;
            code = inflateReset(z);
        }
        if (code != Z_OK) return z_error(code, z, in->path, in->before);
        EF_TRY(ef_interrupt_check(ef_context_here(), &in->pulse));
    }
    in->n = in->cap - z->avail_out;
    return NULL;
}

ef_status *ef_input_peek(ef_input *in, const char **at, size_t *n) {
    if (in->at == in->n) {
        in->before += in->n;
        in->at = in->n = 0;
        EF_TRY(in->raw != NULL ? inflate_some(in) : fill_from_file(in, in->buffer, &in->n));
    }
    *at = in->buffer + in->at;
    *n = in->n - in->at;
    return NULL;
}

void ef_input_take(ef_input *in, size_t n) { in->at += n; }

ef_status *ef_input_read(ef_input *in, uint64_t n, ef_text *to, uint64_t *got) {
    const char *at;
    size_t have;
    for (*got = 0; *got < n;) {
        EF_TRY(ef_input_peek(in, &at, &have));
        if (have == 0) break;
        if (have > n - *got) have = (size_t)(n - *got);
        ef_text_bytes(to, at, have);
        if (to->failed) return ef_no_memory(to->n + have);
        ef_input_take(in, have);
        *got += have;
    }
    return NULL;
}

ef_status *ef_input_skip(ef_input *in, uint64_t n, uint64_t *skipped) {
    const char *at;
    size_t have;
    for (*skipped = 0; *skipped < n; *skipped += have) {
        EF_TRY(ef_input_peek(in, &at, &have));
        if (have == 0) break;
        if (have > n - *skipped) have = (size_t)(n - *skipped);
        ef_input_take(in, have);
    }
    return NULL;
}

uint64_t ef_input_offset(const ef_input *in) { return in->before + in->at; }

ef_status *ef_input_seek(ef_input *in, uint64_t offset) {
    if (offset >= in->before && offset <= in->before + in->n) {
        in->at = (size_t)(offset - in->before);
        return NULL;
    }
    uint64_t skipped = 0;
    bool back = offset < in->before;
    if (in->raw != NULL && !back) return ef_input_skip(in, offset - ef_input_offset(in), &skipped);
    off_t to = in->raw != NULL ? 0 : (off_t)offset;
    if (offset > INT64_MAX || lseek(in->fd, to, SEEK_SET) < 0)
        return ef_path_error(offset > INT64_MAX ? EINVAL : errno, in->path);
    in->at = in->n = 0;
    in->before = (uint64_t)to;
    if (in->raw == NULL) return NULL;
    inflateEnd(&in->z);
    in->inflating = false;
    EF_TRY(start_inflating(in));
    return ef_input_skip(in, offset, &skipped);
}

const char *ef_input_path(const ef_input *in) { return in->path; }

int64_t ef_input_size(const ef_input *in) {
    struct stat st;
    if (in->raw != NULL || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode)) return -1;
    return st.st_size;
}

ef_status *ef_decompress(ef_compression how, const char *bytes, size_t n, size_t most,
                         ef_text *out) {
    char *chunk = ef_malloc(BUFFER);
    if (chunk == NULL) return ef_no_memory(BUFFER);
    z_stream z = EF_Z_STREAM;
    ef_status *s = NULL;
    int code = inflateInit2(&z, window_bits(how));
    if (code != Z_OK) s = z_error(code, &z, "compressed data", 0);
    bool ended = false;
    unsigned pulse = ef_interrupt_counter();
    while (s == NULL && !(ended && n == 0)) {
        uInt piece = n < BUFFER ? (uInt)n : BUFFER;
        z.next_in = (Bytef *)(uintptr_t)bytes;
        z.avail_in = piece;
        z.next_out = (Bytef *)chunk;
        z.avail_out = BUFFER;
        if (ended) inflateReset(&z); /* another member */
        code = inflate(&z, Z_NO_FLUSH);
        bytes += piece - z.avail_in;
        n -= piece - z.avail_in;
        ended = code == Z_STREAM_END;
        ef_text_bytes(out, chunk, BUFFER - z.avail_out);
        if (code == Z_BUF_ERROR && n == 0) { /* truncated: keep what was decompressed */
            code = Z_OK;
            ended = true;
        }
        if (ended && how == EF_ZLIB) n = 0; /* only gzip has several members */
        if (code != Z_OK && !ended)
            s = z_error(code, &z, "compressed data", out->n);
        else if (out->failed)
            s = ef_no_memory(out->n + BUFFER);
        else if (out->n > most)
            s = ef_error(EF_NO_MEMORY,
                         "compressed data becomes more than %zu bytes when decompressed, which is "
                         "the most that one string may hold",
                         most);
        else
            s = ef_interrupt_check(ef_context_here(), &pulse);
    }
    inflateEnd(&z);
    ef_free(chunk);
    return s;
}
