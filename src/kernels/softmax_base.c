/* The loops of softmax for the processor that the library is built for. */
#define TABLE ef_softmax_base
#include "kernels/softmax_rows.inc"
