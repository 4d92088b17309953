"""Type stubs of evenflow.ragged. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def boolean_mask(data, mask, name=None):
    """The elements of each row where `mask` is true."""

def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=...):
    """A RaggedTensor of nested Python lists; a plain tensor if nothing in them is nested."""

def cross(inputs, name=None):
    """The combinations of the values of each row, as strings joined by `_X_`."""

def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The combinations of the values of each row, as hashes; of 0 buckets, as numbers of 63 bits."""

def map_flat_values(op, *args, **kwargs):
    """`op` of the flat values of the ragged arguments, which must have the same rows."""

def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=...):
    """Rows that count from `starts` to `limits` by `deltas`."""

def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value."""

def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The splits of rows given by the row of each value."""

def stack(values, axis=0, name=None):
    """As tf.stack, but the result is always ragged."""

def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The values of `data` by the number of their partition: row k holds those of partition k, in their order."""
