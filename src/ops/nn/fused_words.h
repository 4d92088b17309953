/* The words of the attribute `fused_ops`: what _FusedMatMul and _FusedConv2D do after their
 * product, in order. */
#ifndef EF_OPS_FUSED_WORDS_H
#define EF_OPS_FUSED_WORDS_H
#include "kernels/activation.h"
#include <stdbool.h>

typedef enum ef_fused_kind {
    EF_FUSED_UNKNOWN,
    EF_FUSED_BIAS,      /* one more input: a vector along the last axis */
    EF_FUSED_SUM,       /* one more input: a tensor like the result */
    EF_FUSED_ACTIVATION /* none */
} ef_fused_kind;

/* What a word means; of an activation also which one (may be NULL). */
ef_fused_kind ef_fused_kind_of(const char *word, ef_activation *act);
/* The word for a bias or a sum. An activation's is the name of its op. */
const char *ef_fused_word(ef_fused_kind kind);
#endif
