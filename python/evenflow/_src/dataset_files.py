"""Datasets that read files: lines, TFRecords, fixed-length records, CSV; and datasets of file names."""
from . import _core, dtypes
from .datasets import Dataset, _int64
from .dataset_iterators import types_and_shapes
from .graph import control_dependencies
from .namespace import export
from .specs import TensorSpec

raw = _core.raw
_STRING = TensorSpec([], dtypes.string)


def _names(filenames):
    """A dataset of file names, made from a string, a list of strings, a tensor or a dataset."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
            raise TypeError("The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                            f"`{getattr(spec, 'dtype', spec)!r}` elements.")
        if spec.shape.rank is not None and spec.shape.rank != 0:
            raise TypeError("The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a dataset "
                            f"of element shape {spec.shape}.")
        return filenames
    given = filenames
    if hasattr(given, "__fspath__"):
        given = given.__fspath__()
    elif isinstance(given, (list, tuple)):
        given = [name.__fspath__() if hasattr(name, "__fspath__") else name for name in given]
    names = _core.convert(given) if isinstance(given, _core.CoreTensor) else _core.convert(given, dtypes.string)
    if names.dtype != dtypes.string:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{names.dtype!r}` elements.")
    flat = raw.Reshape(names, _core.convert([-1], dtypes.int32))
    return Dataset(raw.TensorSliceDataset([flat], [[]], is_files=True), _STRING)


def _read(filenames, parallel, one_file):
    """A dataset of the elements of all files, read one after the other, or several in parallel."""
    files = _names(filenames)
    if parallel is None:
        return files.flat_map(one_file)
    if isinstance(parallel, int) and parallel == -1:
        return files.interleave(one_file, num_parallel_calls=-1)
    return files.interleave(one_file, cycle_length=parallel, num_parallel_calls=parallel)


def _text(value, default=""):
    return _core.convert(default if value is None else value, dtypes.string)


def _number(value, default=0):
    return _int64(default if value is None else value)


class _Files(Dataset):
    """The base class of the datasets of files below."""

    def __init__(self, filenames, num_parallel_reads, one_file):
        made = _read(filenames, num_parallel_reads, one_file)
        super().__init__(made._variant_tensor, made._element_spec)


@export("data.TextLineDataset", "compat.v1.data.TextLineDataset")
class TextLineDataset(_Files):
    """The lines of text files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        how, size = _text(compression_type), _number(buffer_size)
        super().__init__(filenames, num_parallel_reads,
                         lambda one: Dataset(raw.TextLineDataset(one, how, size), _STRING))


@export("data.TFRecordDataset", "compat.v1.data.TFRecordDataset")
class TFRecordDataset(_Files):
    """The records of TFRecord files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        how, size = _text(compression_type), _number(buffer_size, 256 * 1024)
        none = _core.convert([], dtypes.int64)
        super().__init__(filenames, num_parallel_reads,
                         lambda one: Dataset(raw.TFRecordDatasetV2(one, how, size, none), _STRING))


@export("data.FixedLengthRecordDataset", "compat.v1.data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(_Files):
    """The records of binary files: each record has `record_bytes` bytes, and a header and a footer are skipped."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
                 num_parallel_reads=None, name=None):
        sizes = _number(header_bytes), _int64(record_bytes), _number(footer_bytes), _number(buffer_size, 256 * 1024)
        how = _text(compression_type)
        super().__init__(filenames, num_parallel_reads,
                         lambda one: Dataset(raw.FixedLengthRecordDatasetV2(one, *sizes, how), _STRING))


for _kind in (TextLineDataset, TFRecordDataset, FixedLengthRecordDataset):
    _kind.__module__ = "tensorflow.python.data.ops.readers"
    _kind.__name__ = _kind.__qualname__ = _kind.__name__ + "V2"


_CSV_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def csv_default(value):
    """The default of a CSV column as a tensor. A dtype stands for a column without default, which must not be empty."""
    if isinstance(value, dtypes.DType):
        made = _core.convert([], value) if value in _CSV_TYPES else None
    else:
        made = _core.convert(value)
    if made is None or made.dtype not in _CSV_TYPES:
        raise ValueError(f"CsvDataset: a column is {(value if made is None else made.dtype).name}; columns are float32, float64, "
                         "int32, int64 or string")
    return made


@export("data.experimental.CsvDataset", "compat.v1.data.experimental.CsvDataset")
class CsvDataset(Dataset):
    """The records of CSV files: an element has a scalar for each column."""

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
                 use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        defaults = [csv_default(value) for value in record_defaults]
        spec = tuple(TensorSpec([], d.dtype) for d in defaults)
        names = _core.convert(filenames, dtypes.string)
        select = _core.convert([] if select_cols is None else select_cols, dtypes.int64)
        exclude = _core.convert([] if exclude_cols is None else exclude_cols, dtypes.int64)
        made = raw.CSVDatasetV2(names, _text(compression_type), _number(buffer_size, 4 * 1024 * 1024), header, _text(field_delim),
                                use_quote_delim, _text(na_value), select, defaults, exclude, **types_and_shapes(spec))
        super().__init__(made, spec)


CsvDataset.__module__ = "tensorflow.python.data.experimental.ops.readers"
CsvDataset.__name__ = CsvDataset.__qualname__ = "CsvDatasetV2"


def list_files(file_pattern, shuffle=None, seed=None, name=None):
    """A dataset of the names of the files that match a pattern or a list of patterns, in random order unless `shuffle` is
    False."""
    if not isinstance(file_pattern, (_core.CoreTensor, str, bytes, list, tuple)) and hasattr(file_pattern, "__fspath__"):
        file_pattern = file_pattern.__fspath__()
    pattern = _core.convert(file_pattern, dtypes.string)
    found = raw.MatchingFiles(pattern)
    count = raw.Shape(found, out_type=dtypes.int64)[0]
    some = raw.Assert(raw.Greater(count, _core.convert(0, dtypes.int64)), ["No files matched pattern: ", pattern])
    if not _core.executing_eagerly():
        with control_dependencies([some]):
            found = raw.Identity(found)
    files = Dataset(raw.TensorSliceDataset([found], [[]], is_files=True), _STRING)
    if shuffle is None or shuffle:
        return files.shuffle(raw.Maximum(count, _core.convert(1, dtypes.int64)), seed=seed)
    return files


Dataset.list_files = staticmethod(list_files)
