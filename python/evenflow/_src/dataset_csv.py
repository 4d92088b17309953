"""make_csv_dataset and make_batched_features_dataset, which build a whole pipeline over files in one call."""
import collections
import csv
import io

import numpy as np

from . import _core, dtypes
from .datasets import Dataset
from .dataset_experimental import parse_example_dataset
from .dataset_files import CsvDataset, TextLineDataset, TFRecordDataset, csv_default
from .gfile import GFile, glob
from .namespace import export


def _files(file_pattern):
    """The files that match a pattern or a list of patterns, sorted."""
    patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) else list(file_pattern)
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    found = sorted({name for one in patterns for name in glob(one)})
    if not found:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return found


class _Table:
    """CSV files whose column names and dtypes are inferred before the dataset is built."""

    def __init__(self, files, delim, quotes, na_value, header, compression, encoding):
        self.files, self.na_value, self.header = files, na_value, header
        self.compression, self.encoding = compression, encoding
        self.how = {"delimiter": delim, "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE}

    def _open(self, name):
        if not self.compression:
            return GFile(name, "r")
        if self.compression not in ("GZIP", "ZLIB"):
            raise ValueError(f"Unsupported compression type {self.compression}: it must be `GZIP`, `ZLIB` or None")
        return io.StringIO(b"\n".join(_lines(name, self.compression)).decode(self.encoding))

    def names(self):
        """The header row, which must be the same in all files."""
        first = None
        for name in self.files:
            with self._open(name) as f:
                row = next(csv.reader(f, **self.how), None)
            if row is None:
                raise ValueError(f"Failed when reading the header line of {name}. Is it an empty file?")
            if first is not None and row != first:
                raise ValueError("All input CSV files should have the same column names in the header row. "
                                 f"File {name} has different column names.")
            first = row
        return first

    def _rows(self, width):
        for name in self.files:
            with self._open(name) as f:
                rows = csv.reader(f, **self.how)
                if self.header:
                    next(rows, None)
                for number, row in enumerate(rows, 2 if self.header else 1):
                    if len(row) != width:
                        raise ValueError(f"Problem inferring types: CSV row {number} has {len(row)} number of fields. "
                                         f"Expected: {width}.")
                    yield row

    def defaults(self, width, most, columns):
        """A default for each column, of the narrowest dtype that can hold all its values in the first `most` rows."""
        kinds = [0] * len(columns)
        seen = [False] * len(columns)
        for k, row in enumerate(self._rows(width)):
            if most is not None and k >= most:
                break
            for j, column in enumerate(columns):
                if row[column] in ("", self.na_value):
                    continue
                seen[j] = True
                while not _KINDS[kinds[j]][1](row[column]):
                    kinds[j] += 1
        found = [_KINDS[kind][0] if known else dtypes.string for kind, known in zip(kinds, seen)]
        return [_core.convert(["" if t is dtypes.string else 0], t) for t in found]


def _lines(name, compression):
    """The lines of a compressed file as bytes."""
    return [line.numpy() for line in TextLineDataset(name, compression)]


def _is_int(low, high):
    def check(text):
        try:
            return low <= int(text) <= high
        except ValueError:
            return False

    return check


def _is_float(kind):
    def check(text):
        try:
            with np.errstate(over="ignore"):
                return bool(kind(text) < np.inf)
        except ValueError:
            return False

    return check


_KINDS = ((dtypes.int32, _is_int(-2**31, 2**31 - 1)), (dtypes.int64, _is_int(-2**63, 2**63 - 1)),
          (dtypes.float32, _is_float(np.float32)), (dtypes.float64, _is_float(np.float64)), (dtypes.string, lambda text: True))


def _column_indices(select, names):
    found = []
    for column in select:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(f"Column index {column} specified in `select_columns` should be >= 0 and < {len(names)}, "
                                 "which is the number of columns.")
            found.append(column)
        elif column in names:
            found.append(names.index(column))
        else:
            raise ValueError(f"Column {column} specified in `select_columns` must be of one of the columns: {names}.")
    if len(set(found)) != len(found):
        raise ValueError("The `select_columns` argument contains duplicate columns.")
    return sorted(found)


def _shuffle_and_repeat(dataset, epochs, shuffle, size, seed):
    if shuffle:
        dataset = dataset.shuffle(size, seed)
    return dataset if epochs == 1 else dataset.repeat(epochs)


@export("data.experimental.make_csv_dataset", "compat.v1.data.experimental.make_csv_dataset")
def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None,
                     field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True,
                     shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None,
                     sloppy=False, num_rows_for_inference=100, compression_type=None, ignore_errors=False, encoding="utf-8"):
    """A dataset of batches from CSV files: dicts from column name to values, with the labels if `label_name` is given."""
    files = _files(file_pattern)
    table = _Table(files, field_delim, use_quote_delim, na_value, header, compression_type, encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = table.names()
    if len(column_names) != len(set(column_names)):
        raise ValueError(f"Cannot have duplicate column names: {column_names}.")
    names = list(column_names)
    select = None if select_columns is None else _column_indices(select_columns, names)
    if column_defaults is None:
        column_defaults = table.defaults(len(names), num_rows_for_inference, range(len(names)) if select is None else select)
    else:
        column_defaults = [csv_default(value) for value in column_defaults]
    if select is not None:
        if len(select) != len(column_defaults):
            raise ValueError("If specified, `column_defaults` and `select_columns` must have same length: "
                             f"`column_defaults` has length {len(column_defaults)}, `select_columns` has length {len(select)}.")
        names = [names[k] for k in select]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Got: {label_name}.")

    def one_file(name):
        rows = CsvDataset(name, column_defaults, compression_type=compression_type, header=header, field_delim=field_delim,
                          use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select)
        return rows.ignore_errors() if ignore_errors else rows

    def by_name(*columns):
        features = collections.OrderedDict(zip(names, columns))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    parallel = 1 if num_parallel_reads is None else num_parallel_reads
    dataset = dataset.interleave(one_file, cycle_length=parallel, num_parallel_calls=parallel, deterministic=not sloppy)
    dataset = _shuffle_and_repeat(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


@export("data.experimental.make_batched_features_dataset", "compat.v1.data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None, num_epochs=None,
                                  shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None,
                                  reader_num_threads=None, parser_num_threads=None, sloppy_ordering=False,
                                  drop_final_batch=False):
    """A dataset of batches of Examples, parsed from TFRecord files."""
    reader = TFRecordDataset if reader is None else reader
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key}) must be one of the `features` keys: {list(features)}.")
    args = tuple(reader_args or ())

    def one_file(name):
        made = reader(name, *args)
        spec = made.element_spec
        if type(spec) is tuple:
            if len(spec) != 2:
                raise TypeError(f"A reader of {spec} is not supported: its elements must be a string, or a key and a string")
            return made.map(lambda key, value: value)
        return made

    def labelled(made):
        made = dict(made)
        label = made.pop(label_key)
        return made, label

    files = _files(file_pattern)
    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    readers = 1 if reader_num_threads is None else reader_num_threads
    dataset = dataset.interleave(one_file, cycle_length=readers, num_parallel_calls=readers, deterministic=not sloppy_ordering)
    dataset = _shuffle_and_repeat(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads))
    if label_key is not None:
        dataset = dataset.map(labelled)
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)
