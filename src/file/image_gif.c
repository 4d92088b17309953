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

/* Frames whose blocks are whole. */
static int64_t count_frames(const unsigned char *p, size_t n) {
    int64_t frames = 0;
    if (n < 13) return 0;
    size_t at = 13 + ((p[10] & 0x80) ? 3u << ((p[10] & 7) + 1) : 0);
    while (at < n && (p[at] == 0x21 || p[at] == 0x2C)) {
        bool image = p[at] == 0x2C;
        if (image && at + 10 >= n) return frames;
        at += image ? 11 + ((p[at + 9] & 0x80) ? 3u << ((p[at + 9] & 7) + 1) : 0) : 2;
        while (at < n && p[at] != 0) at += (size_t)p[at] + 1;
        if (at++ >= n) return frames;
        frames += image;
    }
    return frames;
}

static ef_status *broken(const GifFileType *g, int error) {
    const char *why = GifErrorString(g != NULL ? g->Error : error);
    return ef_error(EF_INVALID, "Invalid GIF data: %s", why != NULL ? why : "it cannot be decoded");
}

static void paint(const GifFileType *g, const GifByteType *row, int y, int clear,
                  unsigned char *canvas) {
    const GifImageDesc *im = &g->Image;
    const ColorMapObject *map = im->ColorMap != NULL ? im->ColorMap : g->SColorMap;
    if (y + im->Top < 0 || y + im->Top >= g->SHeight || map == NULL) return;
    for (int x = 0; x < im->Width; x++) {
        if (x + im->Left < 0 || x + im->Left >= g->SWidth || row[x] == clear) continue;
        if (row[x] >= map->ColorCount) continue;
        GifColorType c = map->Colors[row[x]];
        unsigned char *to =
            canvas + 3 * ((size_t)(y + im->Top) * (size_t)g->SWidth + (size_t)(x + im->Left));
        to[0] = c.Red, to[1] = c.Green, to[2] = c.Blue;
    }
}

static ef_status *read_frame(GifFileType *g, int clear, unsigned char *canvas) {
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
                paint(g, row, y, clear, canvas);
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

static ef_status *read_frames(GifFileType *g, int64_t frames, unsigned char *out) {
    const size_t size = 3 * (size_t)g->SWidth * (size_t)g->SHeight;
    int clear = NO_TRANSPARENT_COLOR;
    GifRecordType type;
    for (int64_t k = 0; k < frames;) {
        if (DGifGetRecordType(g, &type) == GIF_ERROR) return broken(g, 0);
        if (type == EXTENSION_RECORD_TYPE) {
            EF_TRY(read_extension(g, &clear));
        } else if (type == IMAGE_DESC_RECORD_TYPE) {
            unsigned char *canvas = out + (size_t)k * size;
            if (k > 0)
                memcpy(canvas, canvas - size, size);
            else
                memset(canvas, 0, size);
            EF_TRY(read_frame(g, clear, canvas));
            clear = NO_TRANSPARENT_COLOR;
            k++;
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
    int64_t frames = count_frames(b.at, n);
    GifFileType *g = frames > 0 ? DGifOpen(&b, read_some, &error) : NULL;
    if (g == NULL) return broken(NULL, frames > 0 ? error : D_GIF_ERR_NO_IMAG_DSCR);
    if (first_only) frames = 1;
    ef_status *s = NULL;
    const uint64_t pixels = (uint64_t)g->SWidth * (uint64_t)g->SHeight;
    if (g->SWidth <= 0 || g->SHeight <= 0 || pixels > PIXELS_MOST ||
        pixels * (uint64_t)frames > PIXELS_MOST ||
        pixels * (uint64_t)frames > (uint64_t)n * DENSEST + SMALL)
        s = ef_error(EF_INVALID,
                     "Invalid GIF data: %lld frames of %d x %d pixels in %zu bytes; that is not "
                     "possible",
                     (long long)frames, g->SWidth, g->SHeight, n);
    void *out = NULL;
    if (s == NULL)
        s = room->alloc(room->user, &(ef_image_size){frames, g->SHeight, g->SWidth, 3}, &out);
    if (s == NULL) s = read_frames(g, frames, out);
    DGifCloseFile(g, &error);
    return s;
}
