"""Type stubs of evenflow.sparse. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class SparseTensor:
    """A tensor stored as its nonzero elements: their indices [n, rank], their values [n], and the dense shape [rank]."""
    def __init__(self, indices, values, dense_shape): ...
    def __mul__(self, *args: Any) -> Any: ...
    def __rmul__(self, *args: Any) -> Any: ...
    def __truediv__(self, *args: Any) -> Any: ...
    def consumers(self): ...
    @property
    def dense_shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def eval(self, feed_dict=None, session=None): ...
    @classmethod
    def from_value(cls, sparse_tensor_value): ...
    def get_shape(self): ...
    @property
    def graph(self) -> Any: ...
    @property
    def indices(self) -> Any: ...
    @property
    def op(self) -> Any: ...
    def set_shape(self, shape): ...
    @property
    def shape(self) -> Any: ...
    @property
    def values(self) -> Any: ...
    def with_values(self, new_values): ...

def add(a, b, threshold=0):
    """The sum of two sparse tensors, without elements whose absolute value is below `threshold`; or the dense sum of a"""

def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """The number of occurrences of each integer in `values`, or the sum of its `weights`, as a SparseTensor. With axis -1,"""

def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Concatenates sparse tensors along `axis`."""

def cross(inputs, name=None, separator=None):
    """All combinations of one value of each input, row by row, joined by `separator` (_X_)."""

def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The hashes of all combinations of one value of each input, for each row, modulo `num_buckets` (0: 2**63 - 1)."""

def expand_dims(sp_input, axis=None, name=None):
    """Adds an axis of size 1 before `axis` (default: the last)."""

def eye(num_rows, num_columns=None, dtype=..., name=None):
    """A sparse matrix with ones on the diagonal."""

def fill_empty_rows(sp_input, default_value, name=None):
    """Adds `default_value` to the first column of each empty row. Returns (sparse tensor, mask of the empty rows)."""

def from_dense(tensor, name=None):
    """A SparseTensor of the elements of `tensor` that are not zero (for strings, not empty)."""

def map_values(op, *args, **kwargs):
    """Applies `op` to the values of the sparse arguments, which must have the same indices."""

def mask(a, mask_indices, name=None):
    """The slices of the IndexedSlices `a` whose indices are not among `mask_indices`."""

def maximum(sp_a, sp_b, name=None):
    """The elementwise maximum. Elements that are not stored count as zero."""

def minimum(sp_a, sp_b, name=None):
    """The elementwise minimum. Elements that are not stored count as zero."""

def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest stored element along `axis`; 0 where nothing is stored."""

def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sum along `axis`; None means all axes."""

def reorder(sp_input, name=None):
    """The same sparse tensor with its indices sorted."""

def reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape; without `new_shape`, in the smallest shape that holds them."""

def reshape(sp_input, shape, name=None):
    """The same elements in another shape; one size may be -1."""

def retain(sp_input, to_retain):
    """Only the elements where `to_retain` is true."""

def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The mean of the rows `indices` of `data` that share a segment id."""

def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sum of the rows `indices` of `data` that share a segment id, divided by the square root of their number."""

def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sum of the rows `indices` of `data` that share a segment id."""

def slice(sp_input, start, size, name=None):
    """The slice that begins at `start` and has at most the size `size`."""

def softmax(sp_input, name=None):
    """The softmax over the stored elements of each row of the last axis."""

def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one, in either order."""

def split(sp_input=None, num_split=None, axis=None, name=None):
    """`num_split` sparse tensors that follow each other along `axis`. If the size does not divide evenly, the first ones are"""

def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value` where no element is stored."""

def to_indicator(sp_input, vocab_size, name=None):
    """A bool tensor whose last axis has size `vocab_size` and is true at the values of each row."""

def transpose(sp_input, perm=None, name=None):
    """Permutes the axes to the order `perm`; without it, reverses them."""
