"""Reading and writing files, and decoding bytes: raw numbers, CSV records, serialized tensors."""
import os

from .. import gfile
from ..namespace import export, offer_ops
from .common import convert, dtypes, raw

offer_ops(
    """
    DecodeCompressed | bytes, compression_type | io.decode_compressed compat.v1.decode_compressed
    MatchingFiles | pattern | io.matching_files compat.v1.matching_files
    ParseTensor | serialized, out_type | io.parse_tensor compat.v1.parse_tensor
    WriteFile | filename, contents | io.write_file compat.v1.write_file
    """
)


@export("io.read_file", "compat.v1.read_file")
def read_file(filename, name=None):
    """The bytes of a file, as a string."""
    return raw.ReadFile(filename, name=name)


@export("io.serialize_tensor", "compat.v1.serialize_tensor")
def serialize_tensor(tensor, name=None):
    """The tensor as a serialized TensorProto, which parse_tensor reads."""
    return raw.SerializeTensor(tensor, name=name)


@export("io.decode_raw")
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Interprets the bytes of each string as numbers, along a new last axis."""
    if fixed_length is not None:
        return raw.DecodePaddedRaw(input_bytes, fixed_length, out_type, little_endian, name=name)
    return raw.DecodeRaw(input_bytes, out_type, little_endian, name=name)


@export("compat.v1.decode_raw", "compat.v1.io.decode_raw")
def v1_decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):  # noqa: A002
    """decode_raw with the older name of its argument."""
    if (input_bytes is None) == (bytes is None) or out_type is None:
        raise ValueError("decode_raw() takes one of `input_bytes` and `bytes`, and `out_type`")
    return raw.DecodeRaw(bytes if input_bytes is None else input_bytes, out_type, little_endian, name=name)


@export("io.decode_csv")
def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    """Parses CSV records into a list with a tensor for each of `record_defaults`."""
    if select_cols is not None and any(select_cols[k] >= select_cols[k + 1] for k in range(len(select_cols) - 1)):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and len(select_cols) and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    if any(isinstance(d, dtypes.DType) for d in record_defaults):
        raise ValueError("record_defaults are values or empty tensors, not dtypes: tf.constant([], dtype) for a required field")
    return raw.DecodeCSV(records, [convert(d) for d in record_defaults], field_delim, use_quote_delim, na_value, list(select_cols or []), name=name)


@export("compat.v1.decode_csv", "compat.v1.io.decode_csv")
def v1_decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="", select_cols=None):
    """decode_csv with the older order of arguments."""
    return decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


@export("io.write_graph", "compat.v1.train.write_graph", "compat.v1.io.write_graph")
def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph to a file in the directory `logdir`, as text or as bytes. Returns the path of the file."""
    graph_def = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    gfile.makedirs(logdir)
    path = os.path.join(logdir, name)
    with gfile.GFile(path, "w" if as_text else "wb") as f:
        f.write(str(graph_def) if as_text else graph_def.SerializeToString())
    return path
