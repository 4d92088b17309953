/* BMP: rows of bytes after a header, from the bottom up. Also recognises the format of an image by
 * its first bytes. */
#include "file/image.h"
#include <endian.h>
#include <string.h>

enum { PIXELS_MOST = 1 << 29 };

static uint32_t number(const char *at, int bytes) {
    uint32_t v = 0;
    memcpy(&v, at, (size_t)bytes);
    return le32toh(v);
}

/* Blue comes first in the file. Grey becomes three equal channels; a pixel without alpha is opaque.
 */
static void read_row(const unsigned char *from, int own, int64_t width, int channels,
                     unsigned char *to) {
    for (int64_t x = 0; x < width; x++, from += own, to += channels) {
        for (int k = 0; k < channels && k < 3; k++) to[k] = from[own == 1 ? 0 : 2 - k];
        if (channels == 4) to[3] = own == 4 ? from[3] : 255;
    }
}

ef_status *ef_bmp_decode(const char *at, size_t n, int channels, const ef_image_room *room) {
    if (n < 32 || memcmp(at, "BM", 2) != 0)
        return ef_error(EF_INVALID, "Incomplete bmp content: %zu bytes do not begin with a header",
                        n);
    const uint32_t offset = number(at + 10, 4), bits = number(at + 28, 2);
    const int64_t width = (int32_t)number(at + 18, 4), given = (int32_t)number(at + 22, 4);
    const int64_t height = given < 0 ? -given : given;
    const int own = (int)bits / 8;
    if (width <= 0 || height == 0 || width > PIXELS_MOST || height > PIXELS_MOST / width)
        return ef_error(EF_INVALID,
                        "bmp: %lld x %lld pixels; sizes must be positive and not too large",
                        (long long)width, (long long)given);
    if (bits % 8 != 0 || (own != 1 && own != 3 && own != 4))
        return ef_error(EF_INVALID,
                        "bmp: Number of channels inherent in the image must be 1, 3 or 4, was %d "
                        "(%u bits a pixel)",
                        own, bits);
    if (channels == 1)
        return ef_error(EF_INVALID, "`channels` must be 0, 3 or 4 for BMP, but got 1");
    if (channels == 0) channels = own;
    const uint64_t row = ((uint64_t)width * (uint64_t)own + 3) / 4 * 4;
    if (offset + row * (uint64_t)height != n)
        return ef_error(EF_INVALID,
                        "bmp: %zu bytes, but %lld x %lld pixels from byte %u on end at %llu; the "
                        "file must end there",
                        n, (long long)width, (long long)height, offset,
                        (unsigned long long)(offset + row * (uint64_t)height));
    unsigned char *out = NULL;
    EF_TRY(room->alloc(room->user, &(ef_image_size){1, height, width, channels}, (void **)&out));
    for (int64_t y = 0; y < height; y++) {
        const char *from = at + offset + row * (uint64_t)(given < 0 ? y : height - 1 - y);
        read_row((const unsigned char *)from, own, width, channels, out + y * width * channels);
    }
    return NULL;
}

ef_image_format ef_image_format_of(const char *at, size_t n) {
    if (n >= 3 && memcmp(at, "\xff\xd8\xff", 3) == 0) return EF_IMAGE_JPEG;
    if (n >= 4 && memcmp(at, "\x89PNG", 4) == 0) return EF_IMAGE_PNG;
    if (n >= 4 && memcmp(at, "GIF8", 4) == 0) return EF_IMAGE_GIF;
    if (n >= 2 && memcmp(at, "BM", 2) == 0) return EF_IMAGE_BMP;
    return EF_IMAGE_UNKNOWN;
}
