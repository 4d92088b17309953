/* The loops of softmax for the baseline processor. */
#define TABLE ef_softmax_base
#include "kernels/softmax_rows.inc"
