/* Discrete Fourier transforms of one line of any length.
 *
 * A length with small prime factors is transformed by passes of radix 4, 2, 3, 5 and others up to
 * 61, without reordering (Stockham). Any other length is computed as a convolution with a chirp,
 * which takes three transforms of a length with small factors (Bluestein). A length of 8192 and
 * more is transformed as a matrix, in blocks that fit into caches, by several threads. Real lines
 * of even length n take a complex transform of length n/2.
 *
 * The tables of a length are made in the caller's memory, in O(n) time. Lines are arrays of float
 * or double, complex numbers as pairs; `t` is EF_F32 or EF_F64. */
#ifndef EF_KERNELS_FFT_H
#define EF_KERNELS_FFT_H
#include "tensor/dtype.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ef_fft_kind {
    EF_FFT_FORWARD,   /* n complex numbers to n complex numbers */
    EF_FFT_BACKWARD,  /* the same with the opposite sign of the exponent; neither is scaled */
    EF_FFT_FROM_REAL, /* n real numbers to the first n/2 + 1 complex ones */
    EF_FFT_TO_REAL,   /* the inverse; imaginary parts that must be zero are not read */
} ef_fft_kind;

size_t ef_fft_table_bytes(ef_dtype t, ef_fft_kind kind, int64_t n);
void ef_fft_make_table(ef_dtype t, ef_fft_kind kind, int64_t n, void *table);
/* Scratch memory for one line. */
size_t ef_fft_line_bytes(ef_dtype t, ef_fft_kind kind, int64_t n);
/* Transforms the line at the beginning of the scratch memory and returns a pointer to the result,
 * which is in the same memory. */
void *ef_fft_run(const void *table, void *line);
/* How many lines may be transformed together in the scratch memory: EF_FFT_LINES or 1. */
enum { EF_FFT_LINES = 16 };
int64_t ef_fft_lines(const void *table);
/* The same for `count` complex lines; element k of line i is number k * count + i. */
void *ef_fft_run_lines(const void *table, void *lines, int64_t count);
/* Whether a line may be transformed from one array into another, or in place, without being copied
 * into the scratch memory first; and that. */
bool ef_fft_apart(const void *table);
void ef_fft_run_apart(const void *table, const void *from, void *to, void *line);
#endif
