/* GIF by giflib, frame by frame. A first look over the blocks, without decoding, counts the frames,
 * so that the size of the result is known and checked before memory is taken. */
#include "base/alloc.h"
#include "file/image.h"
#include <string.h>

#include <gif_lib.h>

enum { PIXELS_MOST = 1 << 29, DENSEST = 16384, SMALL = 1 << 24 };

typedef struct bytes {
    const unsigned char *at;
    size_t n, used;
} bytes;

static int read_some(GifFileType *g, GifByteType *to, int n) {
    bytes *b = g->UserData;
    size_t left = b->n - b->used, take = (size_t)n < left ? (size_t)n : left;
    if (take > 0) memcpy(to, b->at + b->used, take);
    b->used += take;
    return (int)take;
}

/* The canvas is as large as the largest frame: the screen size in the file may be any number. */
typedef struct canvas {
    int width, height;
    unsigned char *pixels;
} canvas;

/* The number of complete frames, at most `most`; c becomes as large as the largest of them. */
static int64_t count_frames(const unsigned char *p, size_t n, int64_t most, canvas *c) {
    int64_t frames = 0;
    if (n < 13) return 0;
    size_t at = 13 + ((p[10] & 0x80) ? 3u << ((p[10] & 7) + 1) : 0);
    while (frames < most && at < n && (p[at] == 0x21 || p[at] == 0x2C)) {
        bool image = p[at] == 0x2C;
        if (image && at + 10 >= n) return frames;
        const int width = image ? p[at + 5] | p[at + 6] << 8 : 0;
        const int height = image ? p[at + 7] | p[at + 8] << 8 : 0;
        at += image ? 11 + ((p[at + 9] & 0x80) ? 3u << ((p[at + 9] & 7) + 1) : 0) : 2;
        while (at < n && p[at] != 0) at += (size_t)p[at] + 1;
        if (at++ >= n) return frames;
        frames += image;
        if (width > c->width) c->width = width;
        if (height > c->height) c->height = height;
    }
    return frames;
}

static ef_status *broken(const GifFileType *g, int error) {
    const char *why = GifErrorString(g != NULL ? g->Error : error);
    return ef_error(EF_INVALID, "Invalid GIF data: %s", why != NULL ? why : "it cannot be decoded");
}

static void paint(const GifFileType *g, const GifByteType *row, int y, int clear, const canvas *c) {
    const GifImageDesc *im = &g->Image;
    const ColorMapObject *map = im->ColorMap != NULL ? im->ColorMap : g->SColorMap;
    if (y + im->Top < 0 || y + im->Top >= c->height || map == NULL) return;
    for (int x = 0; x < im->Width; x++) {
        if (x + im->Left < 0 || x + im->Left >= c->width || row[x] == clear) continue;
        if (row[x] >= map->ColorCount) continue;
        GifColorType color = map->Colors[row[x]];
        unsigned char *to =
            c->pixels + 3 * ((size_t)(y + im->Top) * (size_t)c->width + (size_t)(x + im->Left));
        to[0] = color.Red, to[1] = color.Green, to[2] = color.Blue;
    }
}

static ef_status *read_frame(GifFileType *g, int clear, const canvas *c) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    if (DGifGetImageDesc(g) == GIF_ERROR) return broken(g, 0);
    const GifImageDesc *im = &g->Image;
    if (im->Width <= 0 || im->Height <= 0 || im->ColorMap == NULL)
        if (im->Width <= 0 || im->Height <= 0 || g->SColorMap == NULL)
            return ef_error(EF_INVALID, "Invalid GIF data: a frame has no size or no colors");
    GifByteType *row = ef_malloc((size_t)im->Width);
    if (row == NULL) return ef_no_memory((size_t)im->Width);
    ef_status *s = NULL;
    for (int pass = 0; pass < (im->Interlace ? 4 : 1) && s == NULL; pass++)
        for (int y = im->Interlace ? first[pass] : 0; y < im->Height && s == NULL;
             y += im->Interlace ? step[pass] : 1) {
            if (DGifGetLine(g, row, im->Width) == GIF_ERROR)
                s = broken(g, 0);
            else
                paint(g, row, y, clear, c);
        }
    ef_free(row);
    return s;
}

/* Skips an extension; of one that controls the next frame, the transparent color is kept. */
static ef_status *read_extension(GifFileType *g, int *clear) {
    GifByteType *block;
    int code;
    GraphicsControlBlock control;
    if (DGifGetExtension(g, &code, &block) == GIF_ERROR) return broken(g, 0);
    while (block != NULL) {
        if (code == GRAPHICS_EXT_FUNC_CODE &&
            DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
            *clear = control.TransparentColor;
        if (DGifGetExtensionNext(g, &block) == GIF_ERROR) return broken(g, 0);
    }
    return NULL;
}

/* c is the canvas of the first frame; those of the others follow it in memory. */
static ef_status *read_frames(GifFileType *g, int64_t frames, canvas c) {
    const size_t size = 3 * (size_t)c.width * (size_t)c.height;
    int clear = NO_TRANSPARENT_COLOR;
    GifRecordType type;
    for (int64_t k = 0; k < frames;) {
        if (DGifGetRecordType(g, &type) == GIF_ERROR) return broken(g, 0);
        if (type == EXTENSION_RECORD_TYPE) {
            EF_TRY(read_extension(g, &clear));
        } else if (type == IMAGE_DESC_RECORD_TYPE) {
            if (k > 0)
                memcpy(c.pixels, c.pixels - size, size);
            else
                memset(c.pixels, 0, size);
            EF_TRY(read_frame(g, clear, &c));
            clear = NO_TRANSPARENT_COLOR;
            k++;
            c.pixels += size;
        } else {
            return ef_error(EF_INVALID,
                            "Invalid GIF data: %lld frames were expected and %lld found",
                            (long long)frames, (long long)k);
        }
    }
    return NULL;
}

ef_status *ef_gif_decode(const char *at, size_t n, bool first_only, const ef_image_room *room) {
    bytes b = {.at = (const unsigned char *)at, .n = n};
    int error = 0;
    canvas c = {0};
    int64_t frames = count_frames(b.at, n, first_only ? 1 : INT64_MAX, &c);
    GifFileType *g = frames > 0 ? DGifOpen(&b, read_some, &error) : NULL;
    if (g == NULL) return broken(NULL, frames > 0 ? error : D_GIF_ERR_NO_IMAG_DSCR);
    ef_status *s = NULL;
    const uint64_t pixels = (uint64_t)c.width * (uint64_t)c.height;
    if (pixels == 0 || pixels > PIXELS_MOST || pixels * (uint64_t)frames > PIXELS_MOST ||
        pixels * (uint64_t)frames > (uint64_t)n * DENSEST + SMALL)
        s = ef_error(EF_INVALID,
                     "Invalid GIF data: %lld frames of %d x %d pixels in %zu bytes; that is not "
                     "possible",
                     (long long)frames, c.width, c.height, n);
    if (s == NULL)
        s = room->alloc(room->user, &(ef_image_size){frames, c.height, c.width, 3},
                        (void **)&c.pixels);
    if (s == NULL) s = read_frames(g, frames, c);
    DGifCloseFile(g, &error);
    return s;
}
