/* Connectionist temporal classification (Graves et al., 2006): the probability of a label sequence
 * under per-frame class probabilities, summed over all alignments with blanks and repetitions. */
#ifndef EF_KERNELS_CTC_H
#define EF_KERNELS_CTC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ef_ctc {
    int64_t frames, classes, labels;
    const int32_t *label; /* usually none is the blank. A label that is the blank, or that is not
                           * a class (it has probability 1), gets no gradient. */
    int32_t blank;
    bool merge;   /* merges adjacent equal labels, as usual */
    double floor; /* log weight of beginning or ending in a state where no alignment does, so that
                   * labels too long for their frames have a finite loss; usually -INFINITY */
} ef_ctc;
/* Number of doubles of working memory. */
size_t ef_ctc_room(const ef_ctc *c);
/* logp: log probabilities, frames x classes. Returns the negative log probability of the labels;
 * gradient (frames x classes): its derivative with respect to the logits. */
double ef_ctc_loss(const ef_ctc *c, const double *logp, double *gradient, double *work);
/* Converts logits to log probabilities, in place. */
void ef_ctc_normalize(double *row, int64_t classes);
#endif
