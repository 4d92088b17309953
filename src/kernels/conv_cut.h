/* How a convolution is cut into pieces for several threads: by images, and where these are few also
 * by bands of output rows (for the gradient of the input: of input rows). Every piece is a
 * convolution of its own. The cut follows from the sizes alone, so that the result is the same
 * however many threads there are. */
#ifndef EF_KERNELS_CONV_CUT_H
#define EF_KERNELS_CONV_CUT_H
#include "kernels/conv.h"

typedef struct ef_conv_cut {
    int64_t images, rows;      /* in a piece; the last ones may have fewer */
    int64_t n_images, n_bands; /* pieces along each */
} ef_conv_cut;

typedef struct ef_conv_piece {
    ef_conv conv;
    int64_t a, b, out; /* where its data begins: elements from the beginning of the whole */
    int64_t n_out;     /* elements of its output; of a filter's gradient: 0 */
} ef_conv_piece;

double ef_conv_flops(const ef_conv *c);
ef_conv_cut ef_conv_cut_of(const ef_conv *c);
static inline int64_t ef_conv_pieces(const ef_conv_cut *cut) {
    return cut->n_images * cut->n_bands;
}
/* Piece `at`. b is 0 where it is the filter, out where the result is the filter's gradient. */
void ef_conv_piece_of(const ef_conv *c, const ef_conv_cut *cut, int64_t at, ef_conv_piece *p);
#endif
