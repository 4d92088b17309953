/* PNG by libpng, read and written in memory. */
#include "base/alloc.h"
#include "file/image.h"
#include <setjmp.h>
#include <string.h>

#include <png.h>

enum { PIXELS_MOST = 1 << 29 };

typedef struct state {
    const char *at;
    size_t n, used;
    ef_text *out;
    char message[160];
    png_structp png;
    png_infop info;
    unsigned char **rows;
    ef_status *status;
    size_t missing; /* bytes that could not be allocated */
} state;

static void fail(png_structp png, png_const_charp why) {
    state *s = png_get_error_ptr(png);
    strncpy(s->message, why, sizeof s->message - 1);
    longjmp(png_jmpbuf(png), 1);
}
static void quiet(png_structp png, png_const_charp why) {
    (void)png;
    (void)why;
}
static png_voidp take(png_structp png, png_alloc_size_t n) {
    void *p = ef_malloc(n);
    if (p == NULL) ((state *)png_get_mem_ptr(png))->missing = n;
    return p;
}
static void give(png_structp png, png_voidp p) {
    (void)png;
    ef_free(p);
}

static void read_bytes(png_structp png, png_bytep to, png_size_t n) {
    state *s = png_get_io_ptr(png);
    if (n > s->n - s->used) png_error(png, "the data is truncated");
    memcpy(to, s->at + s->used, n);
    s->used += n;
}

/* The color type that has `channels`, made of what the file has. */
static void ask_for(state *s, int channels, int bits) {
    png_structp png = s->png;
    const int color = png_get_color_type(png, s->info), depth = png_get_bit_depth(png, s->info);
    const bool alpha = channels == 2 || channels == 4;
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
    bool transparent = (color & PNG_COLOR_MASK_ALPHA) != 0;
    if (png_get_valid(png, s->info, PNG_INFO_tRNS)) {
        png_set_tRNS_to_alpha(png);
        transparent = true;
    }
    if (bits == 8 && depth == 16) png_set_strip_16(png);
    if (bits == 16 && depth < 16) png_set_expand_16(png);
    if (bits == 16) png_set_swap(png);
    const bool colored = (color & PNG_COLOR_MASK_COLOR) != 0;
    if (channels >= 3 && !colored) png_set_gray_to_rgb(png);
    if (channels <= 2 && colored) png_set_rgb_to_gray(png, 1, 0.299, 0.587);
    if (transparent && !alpha) png_set_strip_alpha(png);
    if (!transparent && alpha) png_set_add_alpha(png, bits == 16 ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, s->info);
}

static int own_channels(state *s) {
    const int color = png_get_color_type(s->png, s->info);
    const bool transparent =
        (color & PNG_COLOR_MASK_ALPHA) || png_get_valid(s->png, s->info, PNG_INFO_tRNS);
    return ((color & PNG_COLOR_MASK_COLOR) ? 3 : 1) + (transparent ? 1 : 0);
}

static ef_status *decode(state *s, int channels, int bits, const ef_image_room *room) {
    png_set_read_fn(s->png, s, read_bytes);
    png_set_user_limits(s->png, 0x7fffffff, 0x7fffffff);
    png_read_info(s->png, s->info);
    const uint64_t width = png_get_image_width(s->png, s->info);
    const uint64_t height = png_get_image_height(s->png, s->info);
    if (width * height > PIXELS_MOST || width > INT32_MAX / 16)
        return ef_error(EF_INVALID, "PNG size too large for int: %llu by %llu",
                        (unsigned long long)width, (unsigned long long)height);
    /* zlib's densest code is 1032 bytes in one, so these bytes cannot hold more. */
    const uint64_t row = png_get_rowbytes(s->png, s->info) + 1;
    if (row * height / 1032 > s->n)
        return ef_error(EF_INVALID,
                        "PNG: %zu bytes cannot hold %llu x %llu pixels; the file is truncated",
                        s->n, (unsigned long long)width, (unsigned long long)height);
    if (channels == 0) channels = own_channels(s);
    ask_for(s, channels, bits);
    const size_t stride = (size_t)width * (size_t)channels * (size_t)(bits / 8);
    if (png_get_rowbytes(s->png, s->info) != stride)
        return ef_error(EF_INVALID, "PNG: the image cannot be read with %d channels", channels);
    unsigned char *out = NULL;
    EF_TRY(room->alloc(room->user, &(ef_image_size){1, (int64_t)height, (int64_t)width, channels},
                       (void **)&out));
    s->rows = ef_malloc((size_t)height * sizeof *s->rows);
    if (s->rows == NULL) return ef_no_memory((size_t)height * sizeof *s->rows);
    for (size_t y = 0; y < height; y++) s->rows[y] = out + y * stride;
    png_read_image(s->png, s->rows);
    png_read_end(s->png, NULL); /* a file without its end is damaged */
    return NULL;
}

ef_status *ef_png_decode(const char *bytes, size_t n, int channels, int bits,
                         const ef_image_room *room) {
    state *s = ef_calloc(1, sizeof *s);
    if (s == NULL) return ef_no_memory(sizeof *s);
    s->at = bytes;
    s->n = n;
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, fail, quiet, s, take, give);
    if (s->png != NULL) s->info = png_create_info_struct(s->png);
    if (s->info == NULL)
        s->status = ef_no_memory(1 << 12);
    else if (setjmp(png_jmpbuf(s->png)) != 0)
        s->status = s->missing > 0
                        ? ef_no_memory(s->missing)
                        : ef_error(EF_INVALID, "Invalid PNG data, size %zu: %s", n, s->message);
    else
        s->status = decode(s, channels, bits, room);
    png_destroy_read_struct(&s->png, &s->info, NULL);
    ef_status *result = s->status;
    ef_free(s->rows);
    ef_free(s);
    return result;
}

static void write_bytes(png_structp png, png_bytep from, png_size_t n) {
    state *s = png_get_io_ptr(png);
    ef_text_bytes(s->out, (const char *)from, n);
}
static void flush(png_structp png) { (void)png; }

static void encode(state *s, const unsigned char *pixels, int64_t height, int64_t width,
                   int channels, int bits, int compression) {
    static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                 PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(s->png, s, write_bytes, flush);
    png_set_user_limits(s->png, 0x7fffffff, 0x7fffffff);
    png_set_compression_level(s->png, compression);
    png_set_compression_mem_level(s->png, 9);
    png_set_IHDR(s->png, s->info, (png_uint_32)width, (png_uint_32)height, bits, colors[channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(s->png, s->info);
    if (bits == 16) png_set_swap(s->png);
    const size_t stride = (size_t)width * (size_t)channels * (size_t)(bits / 8);
    for (int64_t y = 0; y < height; y++) png_write_row(s->png, pixels + (size_t)y * stride);
    png_write_end(s->png, NULL);
}

ef_status *ef_png_encode(const void *pixels, int64_t height, int64_t width, int channels, int bits,
                         int compression, ef_text *out) {
    state *s = ef_calloc(1, sizeof *s);
    if (s == NULL) return ef_no_memory(sizeof *s);
    s->out = out;
    s->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, s, fail, quiet, s, take, give);
    if (s->png != NULL) s->info = png_create_info_struct(s->png);
    if (s->info == NULL)
        s->status = ef_no_memory(1 << 12);
    else if (setjmp(png_jmpbuf(s->png)) != 0)
        s->status = s->missing > 0 ? ef_no_memory(s->missing)
                                   : ef_error(EF_INTERNAL, "PNG encoding failed: %s", s->message);
    else
        encode(s, pixels, height, width, channels, bits, compression);
    png_destroy_write_struct(&s->png, &s->info);
    ef_status *result = s->status;
    ef_free(s);
    if (result == NULL && out->failed) result = ef_no_memory(out->n);
    return result;
}
