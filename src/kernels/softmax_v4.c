/* The loops of softmax for AVX-512: twice as many elements at a time. CMakeLists.txt compiles this
 * file for x86-64-v4; softmax.c asks the processor before it calls anything here. */
#define TABLE ef_softmax_v4
#include "kernels/softmax_rows.inc"
