/* The words rules are written in; included by tables of rules only, since they are short. */
#ifndef EF_PASSES_RULE_WORDS_H
#define EF_PASSES_RULE_WORDS_H
#include "passes/rule.h"

#define P(...) \
    { __VA_ARGS__ }
#define OP(N) (EF_OP_##N + 1)
#define X EF_RULE_X
#define Y EF_RULE_Y
#define Z EF_RULE_Z
#define B EF_RULE_B
#define R EF_RULE_R
#define REST EF_RULE_REST
#define ZERO EF_RULE_ZERO
#define NEGATIVE_ZERO EF_RULE_NEGATIVE_ZERO
#define ONE EF_RULE_ONE
#define TWO EF_RULE_TWO
#define MINUS_ONE EF_RULE_MINUS_ONE
#endif
