/* How a convolution is divided among threads: by images and, if these are few, also by bands of
 * output rows (for the gradient of the input: of input rows). Every piece is a convolution itself.
 * The division depends only on the sizes, so the result is the same for any number of threads. */
#ifndef EF_KERNELS_CONV_CUT_H
#define EF_KERNELS_CONV_CUT_H
#include "kernels/conv.h"

typedef struct ef_conv_cut {
    int64_t images, rows;      /* per piece; the last pieces may have fewer */
    int64_t n_images, n_bands; /* pieces along each */
} ef_conv_cut;

typedef struct ef_conv_piece {
    ef_conv conv;
    int64_t a, b, out; /* offsets of its data in elements from the beginning of the whole */
    int64_t n_out;     /* elements of its output; 0 for a filter's gradient */
} ef_conv_piece;

double ef_conv_flops(const ef_conv *c);
ef_conv_cut ef_conv_cut_of(const ef_conv *c);
static inline int64_t ef_conv_pieces(const ef_conv_cut *cut) {
    return cut->n_images * cut->n_bands;
}
/* Piece `at`. Its offset b is 0 if b is the filter, and out is 0 if the result is the filter's
 * gradient. */
void ef_conv_piece_of(const ef_conv *c, const ef_conv_cut *cut, int64_t at, ef_conv_piece *p);
#endif
