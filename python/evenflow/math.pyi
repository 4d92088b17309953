"""Type stubs of evenflow.math. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def abs(x, name=None):
    """The absolute value; for a complex number its magnitude."""

def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors of the same shape. `shape` may give the shape."""

def acos(x, name=None) -> Tensor:
    """The angle whose cosine is `x`."""

def acosh(x, name=None) -> Tensor:
    """The non-negative number whose hyperbolic cosine is `x`."""

def add(x, y, name=None) -> Tensor:
    """Adds `x` and `y` element by element; shapes broadcast."""

def add_n(inputs, name=None):
    """The sum of a list of tensors of the same shape."""

def angle(input, name=None):
    """The argument of a complex number; 0 or pi for a real one."""

def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True, name=None):
    """(the `k` largest elements along an axis, their indices). The result is exact for any `recall_target`."""

def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True, name=None):
    """(the `k` smallest elements along an axis, their indices). The result is exact for any `recall_target`."""

def argmax(input, axis=None, output_type=..., name=None):
    """The index of the largest element along `axis`; of equal ones, the first."""

def argmin(input, axis=None, output_type=..., name=None):
    """The index of the smallest element along `axis`; of equal ones, the first."""

def asin(x, name=None) -> Tensor:
    """The angle whose sine is `x`."""

def asinh(x, name=None) -> Tensor:
    """The number whose hyperbolic sine is `x`."""

def atan(x, name=None) -> Tensor:
    """The angle whose tangent is `x`."""

def atan2(y, x, name=None) -> Tensor:
    """The angle of the point (`x`, `y`), in [-pi, pi]; shapes broadcast."""

def atanh(x, name=None) -> Tensor:
    """The number whose hyperbolic tangent is `x`."""

def bessel_i0(x, name=None) -> Tensor:
    """The modified Bessel function of order 0 at `x`."""

def bessel_i0e(x, name=None) -> Tensor:
    """`exp(-|x|)` times the modified Bessel function of order 0."""

def bessel_i1(x, name=None) -> Tensor:
    """The modified Bessel function of order 1 at `x`."""

def bessel_i1e(x, name=None) -> Tensor:
    """`exp(-|x|)` times the modified Bessel function of order 1."""

def betainc(a, b, x, name=None) -> Tensor:
    """The incomplete beta function of `a` and `b` at `x`, divided by beta(a, b). Inputs have one shape or are scalars."""

def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=..., name=None, axis=None, binary_output=False):
    """The number of occurrences of each integer in `arr`, or the sum of its `weights`. With axis -1, for each row."""

def ceil(x, name=None) -> Tensor:
    """The smallest integer not below `x`."""

def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=..., name=None):
    """The confusion matrix: the count, or sum of weights, of each pair of label (row) and prediction (column)."""

def conj(x, name=None):
    """The complex conjugate; real numbers are returned unchanged."""

def cos(x, name=None) -> Tensor:
    """The cosine of `x`, in radians."""

def cosh(x, name=None) -> Tensor:
    """The hyperbolic cosine of `x`."""

def count_nonzero(input, axis=None, keepdims=None, dtype=..., name=None):
    """The number of elements along `axis` that are not zero (for strings, not empty)."""

def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative product along `axis`."""

def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative sum along `axis`."""

def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative log-sum-exp along `axis`, computed without overflow."""

def digamma(x, name=None) -> Tensor:
    """The derivative of Lgamma."""

def divide(x, y, name=None):
    """`x / y` by the rules of Python's division."""

def divide_no_nan(x, y, name=None):
    """`x / y`, and 0 where `y` is 0; integers are divided as floats."""

def equal(x, y, name=None):
    """Whether `x` and `y` are equal, element by element; shapes broadcast."""

def erf(x, name=None) -> Tensor:
    """The error function of `x`."""

def erfc(x, name=None) -> Tensor:
    """`1 - erf(x)`, accurate for large `x`."""

def erfcinv(x, name=None):
    """The inverse of erfc."""

def erfinv(x, name=None) -> Tensor:
    """The number whose error function is `x`."""

def exp(x, name=None) -> Tensor:
    """e to the power `x`."""

def expm1(x, name=None) -> Tensor:
    """`exp(x) - 1`, accurate where `x` is near 0."""

def floor(x, name=None) -> Tensor:
    """The largest integer not above `x`."""

def floordiv(x, y, name=None) -> Tensor:
    """Divides `x` by `y` and rounds down."""

def floormod(x, y, name=None) -> Tensor:
    """The remainder of `x / y`, with the sign of `y`."""

def greater(x, y, name=None) -> Tensor:
    """Whether `x > y`, element by element; shapes broadcast."""

def greater_equal(x, y, name=None) -> Tensor:
    """Whether `x >= y`, element by element; shapes broadcast."""

def igamma(a, x, name=None) -> Tensor:
    """The lower incomplete gamma function of `a` at `x`, divided by gamma(a)."""

def igammac(a, x, name=None) -> Tensor:
    """The upper incomplete gamma function of `a` at `x`, divided by gamma(a)."""

def imag(input, name=None):
    """The imaginary part; zeros for real numbers."""

def in_top_k(targets, predictions, k, name=None):
    """Whether each target class is among the `k` highest predictions of its row."""

def invert_permutation(x, name=None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] = i`."""

def is_finite(x, name=None) -> Tensor:
    """Whether `x` is neither infinite nor NaN."""

def is_inf(x, name=None) -> Tensor:
    """Whether `x` is infinite, of either sign."""

def is_nan(x, name=None) -> Tensor:
    """Whether `x` is NaN."""

def is_non_decreasing(x, name=None):
    """Whether no element is smaller than the one before."""

def is_strictly_increasing(x, name=None):
    """Whether each element is larger than the one before."""

def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """`x` scaled to length 1 along `axis`; vectors shorter than sqrt(epsilon) are scaled less."""

def lbeta(x, name=None):
    """log of the Beta function of the last dimension: sum of lgamma minus lgamma of the sum."""

def less(x, y, name=None) -> Tensor:
    """Whether `x < y`, element by element; shapes broadcast."""

def less_equal(x, y, name=None) -> Tensor:
    """Whether `x <= y`, element by element; shapes broadcast."""

def lgamma(x, name=None) -> Tensor:
    """The logarithm of the absolute value of the gamma function of `x`."""

def log(x, name=None) -> Tensor:
    """The natural logarithm of `x`."""

def log1p(x, name=None) -> Tensor:
    """`log(1 + x)`, accurate where `x` is near 0."""

def log_sigmoid(x, name=None):
    """The logarithm of the sigmoid, computed without overflow."""

def log_softmax(logits, axis=None, name=None):
    """log of softmax along `axis` (default: the last)."""

def logical_and(x, y, name=None) -> Tensor:
    """Whether both `x` and `y` are true; shapes broadcast."""

def logical_not(x, name=None) -> Tensor:
    """The logical negation of `x`."""

def logical_or(x, y, name=None) -> Tensor:
    """Whether `x` or `y` or both are true; shapes broadcast."""

def logical_xor(x, y, name='LogicalXor'):
    """Whether exactly one of `x` and `y` is true."""

def maximum(x, y, name=None) -> Tensor:
    """The larger of `x` and `y` element by element; NaN if either is NaN."""

def minimum(x, y, name=None) -> Tensor:
    """The smaller of `x` and `y` element by element; NaN if either is NaN."""

def mod(x, y, name=None) -> Tensor:
    """The remainder of `x / y`, with the sign of `y`."""

def multiply(x, y, name=None) -> Tensor:
    """Multiplies `x` by `y` element by element; shapes broadcast."""

def multiply_no_nan(x, y, name=None):
    """`x * y`, and 0 where `y` is 0, even if `x` is infinite or NaN."""

def ndtri(x, name=None) -> Tensor:
    """The quantile function of the standard normal distribution at `x`."""

def negative(x, name=None) -> Tensor:
    """The negative of `x`."""

def nextafter(x1, x2, name=None) -> Tensor:
    """The next number that the dtype can represent after `x1` in the direction of `x2`."""

def not_equal(x, y, name=None):
    """Whether `x` and `y` differ, element by element; shapes broadcast."""

def polygamma(a, x, name=None) -> Tensor:
    """The derivative of order `a` (a whole number) of Digamma at `x`; shapes broadcast."""

def polyval(coeffs, x, name=None):
    """The polynomial with `coeffs` (highest power first) at `x`, by Horner's rule."""

def pow(x, y, name=None) -> Tensor:
    """Raises `x` to the power `y`; shapes broadcast."""

def real(input, name=None):
    """The real part; real numbers are returned unchanged."""

def reciprocal(x, name=None) -> Tensor:
    """One over `x`."""

def reciprocal_no_nan(x, name=None):
    """`1 / x`, and 0 where `x` is 0."""

def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements along `axis` are true."""

def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element along `axis` is true."""

def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of the sum of squares along `axis`."""

def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) along `axis`. The largest element is subtracted first, which avoids overflow."""

def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The largest element along `axis`."""

def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean along `axis`, in the tensor's own dtype."""

def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The smallest element along `axis`."""

def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product along `axis`."""

def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation along `axis`."""

def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum along `axis`; None means all axes."""

def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance along `axis`: the mean of squared distances from the mean."""

def rint(x, name=None) -> Tensor:
    """The integer nearest to `x`; halfway cases go to the even one."""

def round(x, name=None):
    """Rounds to the nearest integer, and halves to the even one. Integers are returned unchanged."""

def rsqrt(x, name=None) -> Tensor:
    """One over the square root of `x`."""

def scalar_mul(scalar, x, name=None):
    """Multiplies `x` by a scalar. For IndexedSlices it returns IndexedSlices."""

def segment_max(data, segment_ids, name=None) -> Tensor:
    """The largest elements of each segment; ids are sorted. An id that does not occur gives 0."""

def segment_mean(data, segment_ids, name=None) -> Tensor:
    """Averages the rows of each segment; ids are sorted. An id that does not occur gives 0."""

def segment_min(data, segment_ids, name=None) -> Tensor:
    """The smallest elements of each segment; ids are sorted. An id that does not occur gives 0."""

def segment_prod(data, segment_ids, name=None) -> Tensor:
    """Multiplies the rows of each segment; ids are sorted. An id that does not occur gives 1."""

def segment_sum(data, segment_ids, name=None) -> Tensor:
    """Adds up the rows of each segment; ids are sorted. An id that does not occur gives 0."""

def sigmoid(x, name=None) -> Tensor:
    """The logistic function `1 / (1 + exp(-x))`."""

def sign(x, name=None) -> Tensor:
    """-1, 0 or 1 as `x` is negative, zero or positive; complex numbers are scaled to length 1."""

def sin(x, name=None) -> Tensor:
    """The sine of `x`, in radians."""

def sinh(x, name=None) -> Tensor:
    """The hyperbolic sine of `x`."""

def sobol_sample(dim, num_results, skip=0, dtype=..., name=None):
    """Points of the Sobol sequence, without the first `skip`; one per row."""

def softmax(logits, axis=None, name=None):
    """exp(x) divided by its sum along `axis` (default: the last)."""

def softplus(features, name=None) -> Tensor:
    """`log(1 + exp(x))`: a smooth Relu."""

def softsign(features, name=None) -> Tensor:
    """`x / (1 + |x|)`: like Tanh, but it saturates more slowly."""

def sqrt(x, name=None) -> Tensor:
    """The square root of `x`."""

def square(x, name=None) -> Tensor:
    """`x` times itself."""

def squared_difference(x, y, name=None) -> Tensor:
    """The square of `x - y` (of its magnitude, if complex), element by element; shapes broadcast."""

def subtract(x, y, name=None) -> Tensor:
    """Subtracts `y` from `x` element by element; shapes broadcast."""

def tan(x, name=None) -> Tensor:
    """The tangent of `x`, in radians."""

def tanh(x, name=None) -> Tensor:
    """The hyperbolic tangent of `x`."""

def top_k(input, k=1, sorted=True, index_type=..., name=None):
    """(the `k` largest elements along the last dimension, their indices)."""

def truediv(x, y, name=None):
    """The quotient as in Python 3: integers are divided as floats."""

def unsorted_segment_max(data, segment_ids, num_segments, name=None) -> Tensor:
    """The largest elements of each segment; a segment without rows is the lowest number. Ids come in any order; rows with negative ids are ignored."""

def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment; 0 for a segment without rows."""

def unsorted_segment_min(data, segment_ids, num_segments, name=None) -> Tensor:
    """The smallest elements of each segment; a segment without rows is the highest number. Ids come in any order; rows with negative ids are ignored."""

def unsorted_segment_prod(data, segment_ids, num_segments, name=None) -> Tensor:
    """Multiplies the rows of each segment; a segment without rows is 1. Ids come in any order; rows with negative ids are ignored."""

def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment, divided by the square root of their number."""

def unsorted_segment_sum(data, segment_ids, num_segments, name=None) -> Tensor:
    """Adds up the rows of each segment; a segment without rows is 0. Ids come in any order; rows with negative ids are ignored."""

def xdivy(x, y, name=None) -> Tensor:
    """Divides `x` by `y`; 0 wherever `x` is 0, even if `y` is 0 too."""

def xlog1py(x, y, name=None) -> Tensor:
    """Computes `x * log(1 + y)`; 0 wherever `x` is 0."""

def xlogy(x, y, name=None) -> Tensor:
    """Computes `x * log(y)`; 0 wherever `x` is 0."""

def zero_fraction(value, name=None):
    """The fraction of elements that are zero, as float32."""

def zeta(x, q, name=None) -> Tensor:
    """The Hurwitz zeta function: the sum of `(q + k)` to the power `-x` over all k >= 0."""
