/* JPEG by libjpeg-turbo. Its errors leave through longjmp, so everything that must be freed is in a
 * struct that outlives the jump. */
#include "base/alloc.h"
#include "file/image.h"
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum { PIXELS_MOST = 1 << 29, SCANS_MOST = 500, MEMORY_MOST = 1 << 30 };

typedef struct errors {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
} errors;

static void fail(j_common_ptr c) {
    errors *e = (errors *)c->err;
    c->err->format_message(c, e->message);
    longjmp(e->jump, 1);
}
static void quiet(j_common_ptr c, int level) {
    (void)c;
    (void)level;
}

static void set_errors(errors *e) {
    jpeg_std_error(&e->base);
    e->base.error_exit = fail;
    e->base.emit_message = quiet;
    e->message[0] = 0;
}

/* ---- the source: bytes in memory. Their end is an error unless truncated data is to be recovered,
 * which puts an end-of-image marker there ---- */

typedef struct source {
    struct jpeg_source_mgr base;
    bool mend;
} source;

static void start(j_decompress_ptr c) { (void)c; }
static boolean at_end(j_decompress_ptr c) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    if (!((source *)c->src)->mend) ERREXIT(c, JERR_INPUT_EOF);
    c->src->next_input_byte = end;
    c->src->bytes_in_buffer = sizeof end;
    return TRUE;
}
static void skip(j_decompress_ptr c, long n) {
    if (n <= 0) return;
    size_t left = c->src->bytes_in_buffer;
    if ((size_t)n > left) {
        c->src->bytes_in_buffer = 0;
        at_end(c);
        return;
    }
    c->src->next_input_byte += n;
    c->src->bytes_in_buffer -= (size_t)n;
}

/* A progressive file may describe the whole image again and again; each scan costs time. */
static void count_scans(j_common_ptr c) {
    if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > SCANS_MOST)
        ERREXIT1(c, JERR_NOTIMPL, SCANS_MOST);
}

typedef struct decoding {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_progress_mgr progress;
    errors error;
    source from;
    ef_status *status;
    unsigned char *row;
} decoding;

static ef_status *reject(const decoding *d) {
    return ef_error(EF_INVALID, "Invalid JPEG data or crop window: %s",
                    d->error.message[0] != 0 ? d->error.message : "the data cannot be decoded");
}

static void begin(decoding *d, const char *bytes, size_t n, bool mend) {
    d->from = (source){.base = {.next_input_byte = (const JOCTET *)bytes,
                                .bytes_in_buffer = n,
                                .init_source = start,
                                .fill_input_buffer = at_end,
                                .skip_input_data = skip,
                                .resync_to_restart = jpeg_resync_to_restart,
                                .term_source = start},
                       .mend = mend};
    jpeg_create_decompress(&d->jpeg);
    d->jpeg.src = &d->from.base;
    d->jpeg.mem->max_memory_to_use = MEMORY_MOST;
    d->progress = (struct jpeg_progress_mgr){.progress_monitor = count_scans};
    d->jpeg.progress = &d->progress;
    jpeg_read_header(&d->jpeg, TRUE);
}

ef_status *ef_jpeg_size(const char *bytes, size_t n, ef_image_size *out) {
    decoding *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    set_errors(&d->error);
    d->jpeg.err = &d->error.base;
    if (setjmp(d->error.jump) != 0) {
        d->status = reject(d);
    } else {
        begin(d, bytes, n, false);
        *out =
            (ef_image_size){1, d->jpeg.image_height, d->jpeg.image_width, d->jpeg.num_components};
    }
    jpeg_destroy_decompress(&d->jpeg);
    ef_status *s = d->status;
    ef_free(d);
    return s;
}

/* A row of CMYK, as Adobe writes it (inverted) or not, becomes RGB or grey. */
static void from_cmyk(const unsigned char *in, unsigned char *out, int64_t n, int channels,
                      bool inverted) {
    for (int64_t k = 0; k < n; k++, in += 4, out += channels) {
        int rgb[3];
        for (int j = 0; j < 3; j++)
            rgb[j] = inverted ? in[3] * in[j] / 255 : (255 - in[3]) * (255 - in[j]) / 255;
        for (int j = 0; j < channels; j++) out[j] = (unsigned char)rgb[j];
    }
}

static ef_status *check_size(const decoding *d, size_t n, const ef_jpeg_options *o) {
    uint64_t pixels = (uint64_t)d->jpeg.image_width * d->jpeg.image_height;
    if (pixels == 0 || pixels > PIXELS_MOST)
        return ef_error(EF_INVALID,
                        "JPEG: image too large: %u x %u pixels; at most %d are possible",
                        d->jpeg.image_width, d->jpeg.image_height, PIXELS_MOST);
    /* A block of 64 pixels takes at least a bit of the file. */
    if (!o->recover_truncated && pixels / 512 > n)
        return ef_error(
            EF_INVALID,
            "Invalid JPEG data: %zu bytes cannot hold %u x %u pixels; the file is truncated", n,
            d->jpeg.image_width, d->jpeg.image_height);
    return NULL;
}

static ef_status *decode(decoding *d, const char *bytes, size_t n, const ef_jpeg_options *o,
                         const ef_image_room *room) {
    struct jpeg_decompress_struct *j = &d->jpeg;
    begin(d, bytes, n, o->recover_truncated);
    EF_TRY(check_size(d, n, o));
    const int channels = o->channels > 0         ? o->channels
                         : j->num_components < 3 ? j->num_components
                                                 : 3;
    const bool cmyk = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK;
    if (channels != 1 && channels != 3)
        return ef_error(EF_INVALID, "JPEG: %d channels; 0, 1 and 3 are possible", channels);
    j->out_color_space = cmyk ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    j->do_fancy_upsampling = o->fancy_upscaling;
    j->dct_method = o->exact_dct ? JDCT_ISLOW : JDCT_IFAST;
    j->scale_num = 1;
    j->scale_denom = (unsigned)o->ratio;
    jpeg_start_decompress(j);
    const int64_t width = j->output_width, height = j->output_height;
    ef_jpeg_options w = *o;
    if (!o->crop) w.top = w.left = 0, w.height = height, w.width = width;
    if (w.top < 0 || w.left < 0 || w.height <= 0 || w.width <= 0 || w.top > height - w.height ||
        w.left > width - w.width)
        return ef_error(
            EF_INVALID,
            "Invalid JPEG data or crop window: rows %lld + %lld and columns %lld + %lld of an "
            "image of %lld x %lld",
            (long long)w.top, (long long)w.height, (long long)w.left, (long long)w.width,
            (long long)height, (long long)width);
    void *out = NULL;
    EF_TRY(room->alloc(room->user, &(ef_image_size){1, w.height, w.width, channels}, &out));
    d->row = ef_malloc((size_t)width * 4);
    if (d->row == NULL) return ef_no_memory((size_t)width * 4);
    while (j->output_scanline < (JDIMENSION)(w.top + w.height)) {
        const int64_t y = (int64_t)j->output_scanline - w.top;
        const bool whole = y >= 0 && w.width == width && !cmyk; /* needs no row in between */
        unsigned char *to = y < 0 ? d->row : (unsigned char *)out + y * w.width * channels;
        if (jpeg_read_scanlines(j, whole ? &to : &d->row, 1) != 1) break;
        if (y < 0 || whole) continue;
        if (cmyk)
            from_cmyk(d->row + 4 * w.left, to, w.width, channels, j->saw_Adobe_marker);
        else
            memcpy(to, d->row + w.left * channels, (size_t)(w.width * channels));
    }
    if (j->output_scanline == j->output_height) jpeg_finish_decompress(j);
    return NULL;
}

ef_status *ef_jpeg_decode(const char *bytes, size_t n, const ef_jpeg_options *o,
                          const ef_image_room *room) {
    decoding *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    set_errors(&d->error);
    d->jpeg.err = &d->error.base;
    if (setjmp(d->error.jump) != 0)
        d->status = reject(d);
    else
        d->status = decode(d, bytes, n, o, room);
    jpeg_destroy_decompress(&d->jpeg);
    ef_status *s = d->status;
    ef_free(d->row);
    ef_free(d);
    return s;
}

/* ---- encoding -------------------------------------------------------------------------------- */

typedef struct encoding {
    struct jpeg_compress_struct jpeg;
    errors error;
    struct jpeg_destination_mgr to;
    ef_text *out;
    JOCTET buffer[1 << 14];
} encoding;

static void open_out(j_compress_ptr c) {
    encoding *e = c->client_data;
    e->to.next_output_byte = e->buffer;
    e->to.free_in_buffer = sizeof e->buffer;
}
static boolean full(j_compress_ptr c) {
    encoding *e = c->client_data;
    ef_text_bytes(e->out, (const char *)e->buffer, sizeof e->buffer);
    open_out(c);
    return TRUE;
}
static void close_out(j_compress_ptr c) {
    encoding *e = c->client_data;
    ef_text_bytes(e->out, (const char *)e->buffer, sizeof e->buffer - e->to.free_in_buffer);
}

static void encode(encoding *e, const unsigned char *pixels, int64_t height, int64_t width,
                   int channels, const ef_jpeg_writing *w) {
    struct jpeg_compress_struct *j = &e->jpeg;
    jpeg_create_compress(j);
    j->client_data = e;
    e->to = (struct jpeg_destination_mgr){
        .init_destination = open_out, .empty_output_buffer = full, .term_destination = close_out};
    j->dest = &e->to;
    j->image_width = (JDIMENSION)width;
    j->image_height = (JDIMENSION)height;
    j->input_components = channels;
    j->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(j);
    if (w->optimize) j->optimize_coding = TRUE;
    j->density_unit = (UINT8)w->density_unit;
    j->X_density = (UINT16)w->x_density;
    j->Y_density = (UINT16)w->y_density;
    jpeg_set_quality(j, w->quality, TRUE);
    if (w->progressive) jpeg_simple_progression(j);
    if (!w->chroma_downsampling && channels == 3)
        for (int k = 0; k < 3; k++)
            j->comp_info[k].h_samp_factor = j->comp_info[k].v_samp_factor = 1;
    jpeg_start_compress(j, TRUE);
    if (w->n_xmp > 0) {
        ef_text marker = {0};
        static const char head[] = "http://ns.adobe.com/xap/1.0/";
        ef_text_bytes(&marker, head, sizeof head); /* with its NUL */
        ef_text_bytes(&marker, w->xmp, w->n_xmp);
        if (!marker.failed && marker.n < 65533)
            jpeg_write_marker(j, JPEG_APP0 + 1, (const JOCTET *)marker.at, (unsigned)marker.n);
        ef_text_free(&marker);
    }
    while (j->next_scanline < j->image_height) {
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)(pixels + (size_t)j->next_scanline * (size_t)(width * channels));
        jpeg_write_scanlines(j, &row, 1);
    }
    jpeg_finish_compress(j);
}

ef_status *ef_jpeg_encode(const void *pixels, int64_t height, int64_t width, int channels,
                          const ef_jpeg_writing *w, ef_text *out) {
    if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION)
        return ef_error(EF_INVALID,
                        "JPEG: an image of %lld x %lld pixels; 1 to %ld rows and columns are "
                        "possible",
                        (long long)height, (long long)width, (long)JPEG_MAX_DIMENSION);
    encoding *e = ef_calloc(1, sizeof *e);
    if (e == NULL) return ef_no_memory(sizeof *e);
    e->out = out;
    set_errors(&e->error);
    e->jpeg.err = &e->error.base;
    ef_status *s = NULL;
    if (setjmp(e->error.jump) != 0)
        s = ef_error(EF_INTERNAL, "JPEG encoding failed: %s", e->error.message);
    else
        encode(e, pixels, height, width, channels, w);
    jpeg_destroy_compress(&e->jpeg);
    ef_free(e);
    if (s == NULL && out->failed) s = ef_no_memory(out->n);
    return s;
}
