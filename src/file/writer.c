/* Writing TFRecord files, plain or compressed. Bytes are gathered in a buffer and reach the file
 * when it is full, at a flush and at the end. */
#include "base/alloc.h"
#include "evenflow_binding.h"
#include "file/crc32c.h"
#include "file/input.h"
#include "file/path.h"
#include "file/z_memory.h"
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

struct ef_record_writer {
    int fd;
    char *path;
    z_stream z;
    bool deflating;
    int flush_mode;
    size_t n;
    char buffer[BUFFER];
};

static ef_status *empty_buffer(ef_record_writer *w) {
    for (size_t put = 0; put < w->n;) {
        ssize_t done = write(w->fd, w->buffer + put, w->n - put);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ef_path_error(errno, w->path);
        put += (size_t)done;
    }
    w->n = 0;
    return NULL;
}

static ef_status *deflate_all(ef_record_writer *w, const char *bytes, size_t n, int flush) {
    z_stream *z = &w->z;
    int code = Z_OK;
    do {
        size_t piece = n < (1u << 30) ? n : 1u << 30;
        z->next_in = (Bytef *)(uintptr_t)bytes;
        z->avail_in = (uInt)piece;
        do {
            if (w->n == BUFFER) EF_TRY(empty_buffer(w));
            z->next_out = (Bytef *)w->buffer + w->n;
            z->avail_out = (uInt)(BUFFER - w->n);
            code = deflate(z, piece == n ? flush : Z_NO_FLUSH);
            w->n = BUFFER - z->avail_out;
        } while (code == Z_OK && (z->avail_in > 0 || z->avail_out == 0));
        bytes += piece;
        n -= piece;
    } while (n > 0 && code == Z_OK);
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return NULL;
    return ef_error(EF_DATA_LOSS, "%.800s: deflate() failed with error %d", w->path, code);
}

static ef_status *put(ef_record_writer *w, const char *bytes, size_t n) {
    if (w->deflating) return deflate_all(w, bytes, n, w->flush_mode);
    while (n > 0) {
        if (w->n == BUFFER) EF_TRY(empty_buffer(w));
        size_t piece = BUFFER - w->n < n ? BUFFER - w->n : n;
        memcpy(w->buffer + w->n, bytes, piece);
        w->n += piece;
        bytes += piece;
        n -= piece;
    }
    return NULL;
}

static ef_status *start_deflating(ef_record_writer *w, const ef_record_options *o,
                                  ef_compression how) {
    w->z = (z_stream)EF_Z_STREAM;
    int bits = o->window_bits != 0 ? o->window_bits : MAX_WBITS;
    if (how == EF_GZIP && bits >= 0 && bits <= MAX_WBITS) bits += 16;
    w->flush_mode = o->flush_mode;
    if (o->flush_mode < Z_NO_FLUSH || o->flush_mode >= Z_FINISH)
        return ef_error(EF_INVALID,
                        "%.800s: flush mode %d; it must be 0 (none) to 3 (full), since records "
                        "follow each other",
                        w->path, o->flush_mode);
    int code = deflateInit2(&w->z, o->level, o->method, bits, o->mem_level, o->strategy);
    if (code != Z_OK)
        return ef_error(EF_INVALID,
                        "%.800s: zlib does not accept compression level %d, method %d, window bits "
                        "%d, mem level %d and strategy %d together",
                        w->path, o->level, o->method, bits, o->mem_level, o->strategy);
    w->deflating = true;
    return NULL;
}

static void drop(ef_record_writer *w) {
    if (w->deflating) deflateEnd(&w->z);
    if (w->fd >= 0) close(w->fd);
    ef_free(w->path);
    ef_free(w);
}

ef_status *ef_record_writer_open(const char *name, size_t n, const ef_record_options *o,
                                 ef_record_writer **out) {
    ef_compression how;
    EF_TRY(ef_compression_named(o->compression, strlen(o->compression), &how));
    ef_record_writer *w = ef_malloc(sizeof *w);
    if (w == NULL) return ef_no_memory(sizeof *w);
    w->fd = -1;
    w->path = NULL;
    w->deflating = false;
    w->n = 0;
    ef_status *s = NULL;
    EF_TRY_GOTO(ef_path_make(name, n, &w->path));
    if (how != EF_UNCOMPRESSED) EF_TRY_GOTO(start_deflating(w, o, how));
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) s = ef_path_error(errno, w->path);
done:
    if (s != NULL)
        drop(w);
    else
        *out = w;
    return s;
}

ef_status *ef_record_writer_write(ef_record_writer *w, const char *bytes, size_t n) {
    char head[12], tail[4];
    uint64_t length = htole64((uint64_t)n);
    memcpy(head, &length, 8);
    uint32_t crc = htole32(ef_crc32c_mask(ef_crc32c(0, head, 8)));
    memcpy(head + 8, &crc, 4);
    crc = htole32(ef_crc32c_mask(ef_crc32c(0, bytes, n)));
    memcpy(tail, &crc, 4);
    EF_TRY(put(w, head, sizeof head));
    EF_TRY(put(w, bytes, n));
    return put(w, tail, sizeof tail);
}

ef_status *ef_record_writer_flush(ef_record_writer *w) {
    if (w->deflating) EF_TRY(deflate_all(w, NULL, 0, Z_SYNC_FLUSH));
    return empty_buffer(w);
}

ef_status *ef_record_writer_close(ef_record_writer *w) {
    if (w == NULL) return NULL;
    ef_status *s = w->deflating ? deflate_all(w, NULL, 0, Z_FINISH) : NULL;
    if (s == NULL) s = empty_buffer(w);
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) < 0 && s == NULL) s = ef_path_error(errno, w->path);
    drop(w);
    return s;
}
