"""Type stubs of evenflow.sparse. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class SparseTensor:
    """A tensor by its nonzero elements: their indices [n, rank], values [n], and the whole shape."""
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
    """The sum of two sparse tensors without sums below `threshold` in size; or of a sparse and a"""

def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """How often each integer occurs in `values`, or the sum of its `weights`, as a SparseTensor; by row for axis -1."""

def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one behind the other along `axis`."""

def cross(inputs, name=None, separator=None):
    """All combinations of one value of each input, row by row, joined by `separator` (_X_)."""

def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """All combinations of one value of each input, row by row, as hashes: modulo `num_buckets`, or 2**63 - 1 for 0."""

def expand_dims(sp_input, axis=None, name=None):
    """One more axis of size 1, before `axis` (default: the last)."""

def eye(num_rows, num_columns=None, dtype=..., name=None):
    """Ones on the diagonal."""

def fill_empty_rows(sp_input, default_value, name=None):
    """Each row without elements gets `default_value` in its first column; also which rows those are."""

def from_dense(tensor, name=None):
    """The elements of `tensor` that are not zero (or not the empty string)."""

def map_values(op, *args, **kwargs):
    """`op` of the values of the sparse arguments, which must have the same indices."""

def maximum(sp_a, sp_b, name=None):
    """The larger of both, element by element; what is not stored counts as zero."""

def minimum(sp_a, sp_b, name=None):
    """The smaller of both, element by element; what is not stored counts as zero."""

def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest stored element along `axis`; 0 where nothing is stored."""

def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sum along `axis` (None: of everything)."""

def reorder(sp_input, name=None):
    """The same with its indices in ascending order."""

def reshape(sp_input, shape, name=None):
    """The same elements in another shape; one size may be -1."""

def retain(sp_input, to_retain):
    """Only the elements where `to_retain` is true."""

def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The mean of the rows `indices` of `data` that share a segment id."""

def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sum of the rows `indices` that share an id, over the square root of their number."""

def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sum of the rows `indices` of `data` that share a segment id."""

def slice(sp_input, start, size, name=None):
    """The part that begins at `start` and has at most `size`."""

def softmax(sp_input, name=None):
    """The softmax over the stored elements of each row of the last axis."""

def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one, in either order."""

def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The whole tensor, `default_value` where the sparse one has nothing."""

def to_indicator(sp_input, vocab_size, name=None):
    """A bool tensor whose last axis is `vocab_size` long, true at the values of each row."""

def transpose(sp_input, perm=None, name=None):
    """The axes exchanged: reversed, or as `perm` says."""
