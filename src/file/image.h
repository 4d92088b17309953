/* Encoded images: JPEG, PNG, GIF and BMP, to and from rows of bytes. A decoder first reads the
 * size, which is checked against the bytes that are there, then asks for memory through `alloc`, so
 * that a few bytes that claim a huge image cost nothing. */
#ifndef EF_FILE_IMAGE_H
#define EF_FILE_IMAGE_H
#include "base/text.h"

/* The pixels of an image are stored row by row from the top; channels change fastest. */
typedef struct ef_image_size {
    int64_t frames, height, width, channels;
} ef_image_size;
typedef struct ef_image_room { /* allocates the memory for an image of that size */
    ef_status *(*alloc)(void *user, const ef_image_size *size, void **out);
    void *user;
} ef_image_room;

typedef enum ef_image_format {
    EF_IMAGE_UNKNOWN,
    EF_IMAGE_JPEG,
    EF_IMAGE_PNG,
    EF_IMAGE_GIF,
    EF_IMAGE_BMP
} ef_image_format;
ef_image_format ef_image_format_of(const char *bytes, size_t n);

typedef struct ef_jpeg_options {
    int channels, ratio; /* channels 0: those of the file */
    bool fancy_upscaling, recover_truncated, exact_dct, crop;
    int64_t top, left, height, width; /* crop */
} ef_jpeg_options;
ef_status *ef_jpeg_decode(const char *bytes, size_t n, const ef_jpeg_options *o,
                          const ef_image_room *room);
ef_status *ef_jpeg_size(const char *bytes, size_t n, ef_image_size *out);
typedef struct ef_jpeg_writing {
    int quality, density_unit, x_density, y_density; /* unit: 1 inch, 2 cm */
    bool progressive, optimize, chroma_downsampling;
    const char *xmp;
    size_t n_xmp;
} ef_jpeg_writing;
ef_status *ef_jpeg_encode(const void *pixels, int64_t height, int64_t width, int channels,
                          const ef_jpeg_writing *w, ef_text *out);

/* 8 or 16 bits a channel. */
ef_status *ef_png_decode(const char *bytes, size_t n, int channels, int bits,
                         const ef_image_room *room);
ef_status *ef_png_encode(const void *pixels, int64_t height, int64_t width, int channels, int bits,
                         int compression, ef_text *out);
/* All frames, 3 channels. */
ef_status *ef_gif_decode(const char *bytes, size_t n, bool first_only, const ef_image_room *room);
ef_status *ef_bmp_decode(const char *bytes, size_t n, int channels, const ef_image_room *room);
#endif
