/* Examples in op records: inputs and attributes written as text, from which tests, docs and fuzzers
 * make real calls.
 *
 *   "T[2,3] T[3]"                  random inputs; T: once for every dtype its set allows
 *   "float[4]:0.1..0.9"            values in a range; "int32[5]:0..3" integers in [0, 3)
 *   "int32[2]{0,1} string[]{ab}"   given values, row by row ("int32[]{1}" is a scalar)
 *   "var(float[2,3])"              a resource: a fresh variable holding such a value
 *   "table(static)"                a resource: an empty lookup table, or table(mutable)
 *   "image(png)"                   a scalar string: a small encoded image; jpeg, gif, bmp too
 *   "dataset(5)"                   a variant: a dataset of the int64 scalars 0 to 4
 *   "iterator(5)"                  a resource: an iterator over such a dataset
 *   "optional(float[2])"           a variant: an optional that holds such a tensor
 *   "echo()"                       a resource: a callback that hands its inputs back
 *   "... axis=1 padding='SAME' strides=[1,2,2,1] DstT=int32"      attributes
 * Items are separated by spaces; arguments that stand for several tensors are just written out.
 *   "list(float[3] float[3])"      a TensorList of such elements
 *   "... grad=no"       TensorFlow's gradient differs from the derivative there, or the function
 *                       is not differentiable: tests do not compare it with finite differences
 *   "... grad=first"    TensorFlow follows only the gradient of output 0
 * Type variables also stand for their choice in attributes ("dtype=T"); a tensor attribute is
 * written like an input ("value=float[2]{1,2}"). Complex values are written "1+2j". Random floats
 * are distinct and away from zero, so that finite differences see no kink. */
#ifndef EF_OPS_EXAMPLE_H
#define EF_OPS_EXAMPLE_H
#include "ops/op.h"

enum { EF_EXAMPLE_MAX_IN = 32 };
typedef struct ef_example {
    const ef_attrs *attrs; /* counted */
    int n_in;
    ef_tensor in[EF_EXAMPLE_MAX_IN];
} ef_example;
/* The number of examples of the op, generated ones included; each choice of dtypes counts as
 * one. */
int ef_example_count(const ef_op *op);
int ef_example_row(const ef_op *op, int k); /* which of the record's texts it comes from */
ef_status *ef_example_make(const ef_op *op, int k, uint64_t seed, ef_example *out);
/* The same with float32 widened to float64 and complex64 to complex128 wherever the op's notation
 * has a choice: what finite differences need. */
ef_status *ef_example_make_wide(const ef_op *op, int k, uint64_t seed, ef_example *out);
typedef enum ef_example_grad { EF_GRAD_ALL, EF_GRAD_FIRST, EF_GRAD_NOT } ef_example_grad;
ef_example_grad ef_example_gradient(const ef_op *op, int k); /* the value of grad= */
/* "Sum #3 (float[2,3] int32[]{1} keep_dims=true)": for messages. */
void ef_example_name(const ef_op *op, int k, char *out, size_t n);
void ef_example_free(ef_example *e);
#endif
