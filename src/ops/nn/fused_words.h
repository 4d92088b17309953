/* The strings in the attribute `fused_ops`: what _FusedMatMul and _FusedConv2D apply after their
 * product, in order. */
#ifndef EF_OPS_FUSED_WORDS_H
#define EF_OPS_FUSED_WORDS_H
#include "kernels/activation.h"
#include <stdbool.h>

typedef enum ef_fused_kind {
    EF_FUSED_UNKNOWN,
    EF_FUSED_BIAS,      /* needs an input: a vector along the last axis */
    EF_FUSED_SUM,       /* needs an input: a tensor of the result's shape */
    EF_FUSED_ACTIVATION /* needs no input */
} ef_fused_kind;

/* The kind of a string; for an activation also which one (act may be NULL). */
ef_fused_kind ef_fused_kind_of(const char *word, ef_activation *act);
/* The string for a bias or a sum. For an activation it is the name of its op. */
const char *ef_fused_word(ef_fused_kind kind);
#endif
