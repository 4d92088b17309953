"""Type stubs of evenflow.ragged. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def boolean_mask(data, mask, name=None):
    """The elements of each row where `mask` is true."""

def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=...):
    """Makes a RaggedTensor from nested Python lists; a dense tensor if no dimension is ragged."""

def cross(inputs, name=None):
    """The combinations of the values of each row, as strings joined by `_X_`."""

def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The combinations of the values of each row, as hashes; of 0 buckets, as numbers of 63 bits."""

def map_flat_values(op, *args, **kwargs):
    """Applies `op` to the flat values of the ragged arguments, which must have the same row lengths."""

def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=...):
    """A ragged tensor whose row i counts from starts[i] to limits[i] in steps of deltas[i]."""

def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of each value."""

def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The row splits for the row numbers of values."""

def stack(values, axis=0, name=None):
    """Like tf.stack, but the result is always ragged."""

def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """A ragged tensor whose row k has the values of `data` in partition k, in their original order."""
