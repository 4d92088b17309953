#include "ops/nn/fused_words.h"
#include <stddef.h>
#include <string.h>

static const struct word {
    const char *text;
    ef_fused_kind kind;
    ef_activation act;
} words[] = {{"BiasAdd", EF_FUSED_BIAS, EF_ACT_NONE},
             {"Add", EF_FUSED_SUM, EF_ACT_NONE},
             {"Relu", EF_FUSED_ACTIVATION, EF_ACT_RELU},
             {"Relu6", EF_FUSED_ACTIVATION, EF_ACT_RELU6},
             {"Elu", EF_FUSED_ACTIVATION, EF_ACT_ELU},
             {"Tanh", EF_FUSED_ACTIVATION, EF_ACT_TANH},
             {"Sigmoid", EF_FUSED_ACTIVATION, EF_ACT_SIGMOID},
             {"LeakyRelu", EF_FUSED_ACTIVATION, EF_ACT_LEAKY_RELU}};
enum { WORDS = sizeof words / sizeof *words };

ef_fused_kind ef_fused_kind_of(const char *word, ef_activation *act) {
    for (int k = 0; k < WORDS; k++)
        if (strcmp(word, words[k].text) == 0) {
            if (act != NULL) *act = words[k].act;
            return words[k].kind;
        }
    return EF_FUSED_UNKNOWN;
}

const char *ef_fused_word(ef_fused_kind kind) {
    for (int k = 0; k < WORDS; k++)
        if (words[k].kind == kind && words[k].act == EF_ACT_NONE) return words[k].text;
    return NULL;
}
