"""Type stubs of evenflow. Written by tools/gen_stubs.py."""

from typing import Any

class AggregationMethod:
    """How gradients that meet are added; the engine decides by itself."""
    def __getattr__(self, name: str): ...

def Assert(condition, data, summarize=None, name=None):
    """Raises InvalidArgumentError with `data` in it unless `condition` is true."""

class DType:
    """The type of a tensor's elements."""
    def __getattr__(self, name: str): ...

class DeviceSpec:
    """The parts of a device's name; None where a part is open."""
    def __getattr__(self, name: str): ...

class GradientTape:
    """Records ops on watched tensors and variables, and gives gradients through them."""
    def __getattr__(self, name: str): ...

class Graph:
    """A graph of ops. `with graph.as_default():` adds the ops called inside to it."""
    def __getattr__(self, name: str): ...

class IndexedSlices:
    """Rows `values` that stand at `indices` of a tensor of `dense_shape`; rows may repeat and add up."""
    def __getattr__(self, name: str): ...

class IndexedSlicesSpec:
    """Describes an IndexedSlices."""
    def __getattr__(self, name: str): ...

class InteractiveSession:
    """A session that makes itself, and its graph, the default from the start; until close()."""
    def __getattr__(self, name: str): ...

class Module:
    """The base of objects that hold variables. Attributes, and lists and dicts in them, are searched for variables and"""
    def __getattr__(self, name: str): ...

class NoneTensorSpec:
    """Describes None where an element has no tensor."""
    def __getattr__(self, name: str): ...

class Operation:
    """An op of a graph: its type, name, inputs, outputs and attributes."""
    def __getattr__(self, name: str): ...

class OptionalSpec:
    """Describes an Optional by the spec of its value."""
    def __getattr__(self, name: str): ...

class RaggedTensor:
    """A tensor whose rows may have different lengths; made by the `from_` methods."""
    def __getattr__(self, name: str): ...

class RaggedTensorSpec:
    """Describes a RaggedTensor: its shape, with None where rows differ in length."""
    def __getattr__(self, name: str): ...

class Session:
    """Runs a graph. `with tf.Session() as sess:` also makes its graph the one that ops are added to, and closes it."""
    def __getattr__(self, name: str): ...

class SparseTensor:
    """A tensor by its nonzero elements: their indices [n, rank], values [n], and the whole shape."""
    def __getattr__(self, name: str): ...

class SparseTensorSpec:
    """Describes a SparseTensor."""
    def __getattr__(self, name: str): ...

class Tensor:
    ...
    def __getattr__(self, name: str): ...

class TensorArray:
    """Tensors of one dtype by index. `write` returns the array to go on with."""
    def __getattr__(self, name: str): ...

class TensorArraySpec:
    """Describes a TensorArray."""
    def __getattr__(self, name: str): ...

class TensorShape:
    """The shape of a tensor, as far as it is known."""
    def __getattr__(self, name: str): ...

class TensorSpec:
    """Shape, dtype and perhaps a name of a tensor."""
    def __getattr__(self, name: str): ...

class TypeSpec:
    """The base of all specs. A subclass gives `value_type`, `_serialize`, `_component_specs`,"""
    def __getattr__(self, name: str): ...

class UnconnectedGradients:
    """What a gradient is where target and source are not connected."""
    def __getattr__(self, name: str): ...

class Variable:
    """A tensor that can be changed."""
    def __getattr__(self, name: str): ...

class VariableAggregation:
    """How the copies of a variable on several devices become one value."""
    def __getattr__(self, name: str): ...

class VariableSynchronization:
    """When the copies of a variable on several devices are brought together."""
    def __getattr__(self, name: str): ...

def abs(x, name=None):
    """The absolute value; of a complex number its magnitude."""

def acos(x, name=None):
    """The angle whose cosine is `x`."""

def acosh(x, name=None):
    """The number, not negative, whose hyperbolic cosine is `x`."""

def add(x, y, name=None):
    """Adds `x` and `y` element by element; shapes broadcast."""

def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape."""

def argmax(input, axis=None, output_type=..., name=None):
    """Where the largest element along `axis` stands; of equals the first."""

def argmin(input, axis=None, output_type=..., name=None):
    """Where the smallest element along `axis` stands; of equals the first."""

def argsort(values, axis=-1, direction='ASCENDING', stable=False, name=None):
    """Where the elements along `axis` stand that `sort` would put first, second ... (int32)."""

def as_dtype(type_value):
    """Turns a DType, name, numpy type, Python type or enum number into the DType it means."""

def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill='', name=None):
    """Each element written as text."""

def asin(x, name=None):
    """The angle whose sine is `x`."""

def asinh(x, name=None):
    """The number whose hyperbolic sine is `x`."""

def assert_equal(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x == y` everywhere."""

def assert_greater(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x > y` everywhere."""

def assert_less(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x < y` everywhere."""

def assert_rank(x, rank, message=None, name=None):
    """ValueError (or, when it runs, InvalidArgumentError) unless `x` has that rank."""

def atan(x, name=None):
    """The angle whose tangent is `x`."""

def atan2(y, x, name=None):
    """The angle of the point (`x`, `y`), in [-pi, pi]; shapes broadcast."""

def atanh(x, name=None):
    """The number whose hyperbolic tangent is `x`."""

def batch_to_space(input, block_shape, crops, name=None):
    """Moves parts of the batch back into blocks of the spatial axes and crops these."""

bfloat16: DType
def bitcast(input, type, name=None):
    """The bytes of `input` read as dtype `type`; the last dim is split or joined where the sizes of the elements differ."""

bool: DType
def boolean_mask(tensor, mask, axis=None, name='boolean_mask'):
    """The slices of `tensor` from `axis` on where `mask` is true, in a row."""

def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that two shapes (tensors) broadcast to."""

def broadcast_static_shape(shape_x, shape_y):
    """The shape that two TensorShapes broadcast to; ValueError if they do not."""

def broadcast_to(input, shape, name=None):
    """Stretches `input` to `shape` by repeating it along new axes and axes of size 1."""

def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name='case'):
    """What the function of the first true predicate returns; `default` if none is true. `exclusive` checks that not more"""

def cast(x, dtype, name=None):
    """`x` with its elements converted to `dtype`."""

def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """All tensors scaled by one factor so that their joint norm is at most `clip_norm`."""

def clip_by_norm(t, clip_norm, axes=None, name=None):
    """`t` scaled down where its norm along `axes` is above `clip_norm`."""

def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """`t` with smaller elements raised to the minimum and larger ones lowered to the maximum."""

def complex(real, imag, name=None):
    """Complex numbers of two tensors of floats."""

complex128: DType
complex64: DType
def concat(values, axis, name='concat'):
    """Tensors joined along an existing axis."""

def cond(pred, true_fn=None, false_fn=None, name=None):
    """What `true_fn()` returns if `pred` is true, else what `false_fn()` does. In a graph both are traced and one is run;"""

def constant(value, dtype=None, shape=None, name='Const'):
    """A constant tensor from a Python value or array; `shape` reshapes it, or repeats a single value."""

class constant_initializer:
    """Makes tensors of one value, or of given values."""
    def __getattr__(self, name: str): ...

def control_dependencies(control_inputs):
    """Ops made inside run after `control_inputs`; eagerly everything has run already."""

def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """`value` as a Tensor; ValueError or TypeError if that is not possible."""

def cos(x, name=None):
    """The cosine of `x`, in radians."""

def cosh(x, name=None):
    """The hyperbolic cosine of `x`."""

def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Sums of the elements so far along `axis`."""

def custom_gradient(f=None):
    """A function that says itself what its gradient is: `f(*args)` returns the result and a function from the"""

def device(device_name):
    """Asks for a device. There is one, CPU:0; others fall back to it."""

def divide(x, y, name=None):
    """`x / y` by Python's rules, of tensors."""

double: DType
def dynamic_partition(data, partitions, num_partitions, name=None):
    """Sorts the rows of `data` into `num_partitions` tensors: row i goes to number `partitions[i]`."""

def dynamic_stitch(indices, data, name=None):
    """Puts row j of each `data[k]` at `indices[k][j]` of one tensor; later rows win."""

def eig(tensor, name=None):
    """Eigenvalues and eigenvectors of square matrices; both are complex."""

def eigvals(tensor, name=None):
    """Eigenvalues of square matrices, complex."""

def einsum(equation, *inputs, **kwargs):
    """Sums of products as an equation of labels says: 'ij,jk->ik' is a matrix product."""

def ensure_shape(x, shape, name=None):
    """`x`, checked to have `shape` when it runs; statically it has that shape from here on."""

def equal(x, y, name=None):
    """Whether `x` and `y` are equal, element by element; shapes broadcast."""

def executing_eagerly():
    """Whether ops run at once."""

def exp(x, name=None):
    """e to the power `x`."""

def expand_dims(input, axis, name=None):
    """Inserts an axis of size 1; negative positions count from the end."""

def eye(num_rows, num_columns=None, batch_shape=None, dtype=..., name=None):
    """Identity matrices: ones on the diagonal, zeros elsewhere."""

def fill(dims, value, name=None, layout=None):
    """A tensor of shape `dims` with `value` everywhere."""

float16: DType
float32: DType
float64: DType
def floor(x, name=None):
    """The largest integer not above `x`."""

def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Folds the rows of `elems` from the first to the last: fn(...fn(fn(initializer, e0), e1)...)."""

def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Folds the rows of `elems` from the last to the first."""

def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False, experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None, experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a function that is traced once per signature and then runs as a plan."""

def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The slices of `params` at `indices` along `axis` (default: the first after the batch)."""

def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=''):
    """The elements or slices of `params` whose places the last dimension of `indices` spells."""

def get_default_session():
    """The innermost session made default in this thread; None if there is none."""

def get_logger():
    """The logger of warnings: on stderr, unless the program has set up logging itself."""

def get_static_value(tensor, partial=False):
    """The value of a tensor as numpy if it is known without running, else None."""

def grad_pass_through(f):
    """`f` with the gradient of the identity."""

def gradients(ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, stop_gradients=None, unconnected_gradients=...):
    """A list: the sum of d y / d x over all `ys`, for every x. In graphs and functions only."""

def greater(x, y, name=None):
    """Whether `x > y`, element by element; shapes broadcast."""

def greater_equal(x, y, name=None):
    """Whether `x >= y`, element by element; shapes broadcast."""

def group(*inputs, **kwargs):
    """An op that runs all of `inputs`; None eagerly."""

def guarantee_const(input, name=None):
    """Its input, promised never to change."""

half: DType
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name='hessians'):
    """A list: d2 (sum of ys) / dx dx of shape `x.shape + x.shape`, for every x. In graphs and functions only."""

def histogram_fixed_width(values, value_range, nbins=100, dtype=..., name=None):
    """How many values fall into each of `nbins` equal bins over `value_range`."""

def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=..., name=None):
    """The bin of each value, of `nbins` equal ones over `value_range`."""

def identity(input, name=None):
    """A tensor with the same value; a composite tensor stays one."""

def identity_n(input, name=None):
    """The same tensors as one group."""

def init_scope():
    """Leaves the functions being traced: ops inside run at once (or go to the outer v1 graph)."""

def inside_function():
    """Whether a function is being traced."""

int16: DType
int32: DType
int64: DType
int8: DType
def is_symbolic_tensor(tensor):
    """Whether `tensor` stands for a value in a graph."""

def is_tensor(x):
    """Whether `x` is a tensor, a variable, or made of tensors."""

def less(x, y, name=None):
    """Whether `x < y`, element by element; shapes broadcast."""

def less_equal(x, y, name=None):
    """Whether `x <= y`, element by element; shapes broadcast."""

def linspace(start, stop, num, name=None, axis=0):
    """`num` evenly spaced values from `start` to `stop`, along a new `axis`."""

def logical_and(x, y, name=None):
    """Whether both `x` and `y` are true; shapes broadcast."""

def logical_not(x, name=None):
    """The opposite truth value of `x`."""

def logical_or(x, y, name=None):
    """Whether `x` or `y` or both are true; shapes broadcast."""

def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None, fn_output_signature=None):
    """`fn` of each row of `elems`, stacked. `fn_output_signature` gives the dtypes of what `fn` returns where they are not"""

def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """The product of matrices, or of batches of them (whose outer dimensions broadcast)."""

def maximum(x, y, name=None):
    """The larger of `x` and `y` element by element; NaN if either is NaN."""

def meshgrid(*args, **kwargs):
    """Grids of coordinates: one tensor for each 1-D argument, over all their combinations."""

def minimum(x, y, name=None):
    """The smaller of `x` and `y` element by element; NaN if either is NaN."""

def multiply(x, y, name=None):
    """Multiplies `x` by `y` element by element; shapes broadcast."""

class name_scope:
    """Puts the ops made inside under `name/`. Eagerly it costs next to nothing."""
    def __getattr__(self, name: str): ...

def negative(x, name=None):
    """The negative of `x`."""

newaxis: None
def no_op(name=None):
    """An op that does nothing."""

def nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None, max_enqueued_batches=10, autograph=True, enable_large_batch_splitting=True):
    """A decorator for functions whose calls a server may join. Calls are fast here, so each runs by itself."""

def norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None):
    """The norm of vectors (one axis, or all) or of matrices (two axes)."""

def not_equal(x, y, name=None):
    """Whether `x` and `y` differ, element by element; shapes broadcast."""

def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls `func` with the values of `inp` as numpy arrays, in a graph when it runs."""

def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """`on_value` (1) at each index of a new axis of size `depth`, `off_value` (0) elsewhere."""

def ones(shape, dtype=..., name=None, layout=None):
    """A tensor of ones (True)."""

class ones_initializer:
    """Makes ones."""
    def __getattr__(self, name: str): ...

def ones_like(input, dtype=None, name=None, layout=None):
    """Ones in the shape of `input`."""

def pad(tensor, paddings, mode='CONSTANT', constant_values=0, name=None):
    """More elements around `tensor`: constant, or mirrored ('REFLECT', 'SYMMETRIC')."""

def parallel_stack(values, name='parallel_stack'):
    """As stack along axis 0."""

def placeholder(dtype, shape=None, name=None):
    """A tensor whose value every run must feed. Outside all graphs it goes to the default one."""

def placeholder_with_default(input, shape, name=None):
    """The same under its old name: outside all graphs it goes to the default one."""

def pow(x, y, name=None):
    """Raises `x` to the power `y`; shapes broadcast."""

def print(*inputs, **kwargs):
    """Prints values and tensors; in a graph when it runs. To stderr, or `output_stream`."""

def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls `func` with the values of `inp` as eager tensors, in a graph when it runs; gradients go through it."""

qint16: DType
qint32: DType
qint8: DType
quint16: DType
quint8: DType
class random_normal_initializer:
    """Makes normally distributed numbers."""
    def __getattr__(self, name: str): ...

class random_uniform_initializer:
    """Makes evenly distributed numbers."""
    def __getattr__(self, name: str): ...

def range(start, limit=None, delta=1, dtype=None, name='range'):
    """Numbers from `start` (0) up to, not including, `limit` in steps of `delta`."""

def rank(input, name=None):
    """The number of dimensions of `input`."""

from evenflow import raw_ops as raw_ops
def realdiv(x, y, name=None):
    """Divides `x` by `y` element by element; shapes broadcast."""

def recompute_grad(f):
    """`f` that keeps none of its intermediate values: they are computed again for the gradient."""

def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements along `axis` are true."""

def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element along `axis` is true."""

def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) along `axis`, safe from overflow: the largest element is taken out first."""

def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The largest element along `axis`."""

def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean along `axis`, in the tensor's own dtype."""

def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The smallest element along `axis`."""

def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product along `axis`."""

def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum along `axis` (None: of everything)."""

def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Lets objects of `base_type` be used as tensors: conversion_func(value, dtype, name, as_ref)."""

def repeat(input, repeats, axis=None, name=None):
    """Each element along `axis` (None: of all, flattened) repeated."""

def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Paddings that make `input_shape` a multiple of `block_shape`, and the crops to undo them."""

def reshape(tensor, shape, name=None):
    """The same elements in another shape; one size may be -1."""

resource: DType
def reverse(tensor, axis, name=None):
    """`tensor` backwards along each axis in `axis`; where there is nothing to turn, only a graph looks at the axes."""

def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """The first `seq_lengths[i]` elements along `seq_axis` of batch i reversed."""

def roll(input, shift, axis, name=None):
    """Moves elements by `shift` along `axis`; those that fall off the end come in at the beginning."""

def round(x, name=None):
    """The nearest whole number, halves to the even one. Integers stay as they are."""

def saturate_cast(value, dtype, name=None):
    """As cast, but values that `dtype` cannot hold become its nearest extreme."""

def scalar_mul(scalar, x, name=None):
    """`x` times one number; IndexedSlices stay IndexedSlices."""

def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True, reverse=False, name=None):
    """As foldl, but gives all accumulators, stacked; `reverse` goes from the last row to the first."""

def scatter_nd(indices, updates, shape, bad_indices_policy='', name=None):
    """Zeros of `shape` with `updates` added at `indices`."""

def searchsorted(sorted_sequence, values, side='left', out_type=..., name=None):
    """Where `values` would be put into the ordered last dimension of `sorted_sequence`."""

def sequence_mask(lengths, maxlen=None, dtype=..., name=None):
    """True for the first `lengths` places of a new last dimension of size `maxlen`."""

def shape(input, out_type=None, name=None):
    """The sizes of `input` as a 1-D tensor."""

def shape_n(input, out_type=..., name=None):
    """The sizes of each tensor of a list."""

def sigmoid(x, name=None):
    """The logistic function `1 / (1 + exp(-x))`."""

def sign(x, name=None):
    """-1, 0 or 1 as `x` is negative, zero or positive; complex numbers are scaled to length 1."""

def sin(x, name=None):
    """The sine of `x`, in radians."""

def sinh(x, name=None):
    """The hyperbolic sine of `x`."""

def size(input, out_type=None, name=None):
    """The number of elements of `input`."""

def slice(input_, begin, size, name=None):
    """The box of `input` that starts at `begin` and has size `size`; a size of -1 reaches to the end."""

def sort(values, axis=-1, direction='ASCENDING', name=None):
    """The elements along `axis` in order."""

def space_to_batch(input, block_shape, paddings, name=None):
    """Pads the spatial axes and moves the places inside blocks of them into the batch."""

def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Pads the spatial axes and moves the places inside blocks of them into the batch."""

def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor whose value every run must feed."""

def split(value, num_or_size_splits, axis=0, num=None, name='split'):
    """Cut along `axis` into that many equal pieces, or into pieces of the given sizes."""

def sqrt(x, name=None):
    """The square root of `x`."""

def square(x, name=None):
    """`x` times itself."""

def squeeze(input, axis=None, name=None):
    """Without the dimensions of size 1: all, or those in `axis`."""

def stack(values, axis=0, name='stack'):
    """Tensors of one shape as slices of a new axis."""

def stop_gradient(input, name=None):
    """Its input, taken as a constant by differentiation."""

def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, var=None, name=None):
    """The part from `begin` to `end` in steps of `strides`, as Python's slices cut."""

string: DType
def subtract(x, y, name=None):
    """Subtracts `y` from `x` element by element; shapes broadcast."""

def switch_case(branch_index, branch_fns, default=None, name='switch_case'):
    """What branch number `branch_index` returns; `default` (or the last branch) if there is no such branch."""

def tan(x, name=None):
    """The tangent of `x`, in radians."""

def tanh(x, name=None):
    """The hyperbolic tangent of `x`."""

def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy='', name=None):
    """`tensor` with `updates` added at `indices`."""

def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy='', name=None):
    """The larger of `tensor` and `updates` at `indices`."""

def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy='', name=None):
    """The smaller of `tensor` and `updates` at `indices`."""

def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy='', name=None):
    """`tensor` with `updates` taken off at `indices`."""

def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """`tensor` with `updates` put in at `indices`."""

def tensordot(a, b, axes, name=None):
    """The sum of products over pairs of axes of two tensors."""

def tile(input, multiples, name=None):
    """Repeats `input` `multiples[d]` times along each axis d."""

def timestamp(name=None):
    """Seconds since 1970, as float64; in a graph, when it runs."""

def transpose(a, perm=None, conjugate=False, name='transpose'):
    """Dimensions in the order `perm` (None: reversed); `conjugate` conjugates too."""

def truediv(x, y, name=None):
    """The quotient as Python 3 has it: integers are divided as floats."""

def truncatediv(x, y, name=None):
    """Divides `x` by `y` and rounds towards zero."""

def truncatemod(x, y, name=None):
    """The remainder of `x / y`, with the sign of `x`."""

def tuple(tensors, control_inputs=None, name=None):
    """The tensors, available only when all of them and the control inputs have been computed."""

def type_spec_from_value(value):
    """The spec of a value: a tensor's, a composite's, or of what the value converts to."""

uint16: DType
uint32: DType
uint64: DType
uint8: DType
def unique(x, out_idx=..., name=None):
    """The distinct values in order of first appearance, and for each element its value's place."""

def unique_with_counts(x, out_idx=..., name=None):
    """As unique, with how often each value occurs."""

def unravel_index(indices, dims, name=None):
    """Flat places as coordinates in a tensor of shape `dims`: one row for each dimension."""

def unstack(value, num=None, axis=0, name='unstack'):
    """The slices along `axis` as a list."""

def variable_creator_scope(variable_creator):
    """Creators of variables cannot be replaced; raises NotImplementedError."""

variant: DType
def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """`fn` of each row of `elems`, stacked; where the ops of `fn` allow it, all rows at once."""

def where(condition, x=None, y=None, name=None):
    """Elements of `x` where `condition` is true, of `y` elsewhere; alone: the places of true."""

def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, maximum_iterations=None, name=None):
    """Runs `body(*loop_vars)` for as long as `cond(*loop_vars)` is true, each time on what it returned the last time."""

def zeros(shape, dtype=..., name=None, layout=None):
    """A tensor of zeros (False, or empty strings)."""

class zeros_initializer:
    """Makes zeros."""
    def __getattr__(self, name: str): ...

def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros in the shape of `input`."""
