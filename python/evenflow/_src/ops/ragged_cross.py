"""tf.ragged.cross: every combination of the values that several features have in the same row."""
from ..namespace import export
from ..ragged import RaggedTensor, as_ragged, is_ragged
from .common import SparseTensor, convert, dtypes, raw

_KEY = 956888297470  # what TensorFlow hashes with if no key is given


def _feature(k, value):
    """A letter for the kind of a feature, and its tensors of strings or int64."""
    if isinstance(value, SparseTensor):
        letter, parts, rank, kind = "S", [value.indices, value.values, value.dense_shape], value.shape.rank, value.dtype
    elif is_ragged(value):
        value = as_ragged(value)
        letter, parts, rank, kind = "R", [value.values, value.row_splits], value.shape.rank, value.dtype
        if value.ragged_rank != 1:
            raise ValueError("tf.ragged.cross only supports inputs with rank=2")
    else:
        value = convert(value)
        letter, parts, rank, kind = "D", [value], None, value.dtype
    if rank not in (None, 2):
        raise ValueError("tf.ragged.cross only supports inputs with rank=2")
    if not kind.is_integer and kind != dtypes.string:
        raise ValueError(f"Unexpected dtype for inputs[{k}]: {kind}")
    if kind.is_integer and kind != dtypes.int64:
        place = 1 if letter == "S" else 0
        parts[place] = raw.Cast(parts[place], DstT=dtypes.int64)
    return letter, parts


def _crossed(inputs, hashed, num_buckets, key, name):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    found = [_feature(k, value) for k, value in enumerate(inputs)]
    ragged, sparse, dense = ([parts for letter, parts in found if letter == want] for want in "RSD")
    small = any(p[1].dtype == dtypes.int32 for p in ragged) and not any(p[1].dtype == dtypes.int64 for p in ragged)
    values, splits = raw.RaggedCross(
        [p[0] for p in ragged], [p[1] for p in ragged], [p[0] for p in sparse], [p[1] for p in sparse], [p[2] for p in sparse],
        [p[0] for p in dense], ragged_values_types=[p[0].dtype for p in ragged],
        ragged_splits_types=[p[1].dtype for p in ragged], sparse_values_types=[p[1].dtype for p in sparse],
        dense_types=[p[0].dtype for p in dense], input_order="".join(letter for letter, _ in found), hashed_output=hashed, num_buckets=num_buckets,
        hash_key=key, out_values_type=dtypes.int64 if hashed else dtypes.string,
        out_row_splits_type=dtypes.int32 if small else dtypes.int64, name=name)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


@export("ragged.cross")
def cross(inputs, name=None):
    """The combinations of the values of each row, as strings joined by `_X_`."""
    return _crossed(inputs, False, 0, 0, name)


@export("ragged.cross_hashed")
def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The combinations of the values of each row, as hashes; of 0 buckets, as numbers of 63 bits."""
    return _crossed(inputs, True, num_buckets, _KEY if hash_key is None else hash_key, name)
