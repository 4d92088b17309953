"""tf.lookup: lookup tables from keys to values. A table is a resource of the engine; these classes hold its handle."""
import uuid

from ..graph import get_default_graph, init_scope
from ..namespace import export
from ..tracking import Trackable
from ..ragged import as_ragged, has_rows
from .common import SparseTensor, convert, dtypes, executing_eagerly, is_symbolic, raw, static_shape, static_value
from ..graph import group

_COLLECTION = "table_initializer"  # GraphKeys.TABLE_INITIALIZERS


def _on_values(keys, dtype, function, must=False):
    """Applies `function` to the keys as a tensor; for sparse or ragged keys, to their values."""
    if has_rows(keys):
        keys = as_ragged(keys)
        return keys.with_flat_values(function(convert(keys.flat_values, dtype)))
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, function(keys.values), keys.dense_shape)
    return function(convert(keys, dtype) if must else convert(keys, None, dtype))


def _need_key_dtype(keys, dtype):
    if keys.dtype != dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype}, received: {keys.dtype}")


def _shared_name(word, name):
    """The shared name of a table. In a graph each run finds the table by this name; eagerly the handle owns the table."""
    return "" if executing_eagerly() else f"{name or word}_{uuid.uuid4()}"


class _Table(Trackable):
    """The base class of tables."""

    def __init__(self, key_dtype, value_dtype, name):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._name = name

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    name = property(lambda self: self._name)
    resource_handle = property(lambda self: self._handle)

    def size(self, name=None):
        """The number of keys."""
        return raw.LookupTableSizeV2(self._handle, name=name)

    def export(self, name=None):
        """(all keys, their values)."""
        return tuple(raw.LookupTableExportV2(self._handle, self._key_dtype, self._value_dtype, name=name))

    def _find(self, keys, default, name, key_rank=0, value_dims=None):
        def find(x):
            _need_key_dtype(x, self._key_dtype)
            found = raw.LookupTableFindV2(self._handle, x, default, name=name)
            dims = static_shape(x)
            if dims is not None and not executing_eagerly():
                found.set_shape((*dims[:len(dims) - key_rank], *(value_dims or ())))
            return found

        return _on_values(keys, self._key_dtype, find, value_dims is not None)

    def __getitem__(self, keys):
        return self.lookup(keys)


# ---- initializers ----------------------------------------------------------------------------------------


def _constant(value):
    """`value`; for a constant of a function being traced, the same value outside of the function, where tables are filled."""
    known = static_value(value) if is_symbolic(value) else None
    return value if known is None else _outside(known, value.dtype)


def _outside(value, dtype):
    with init_scope():
        return convert(value, dtype)


class _Initializer(Trackable):
    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)

    def _check(self, table):
        for word, mine, other in (("key", self._key_dtype, table.key_dtype), ("value", self._value_dtype, table.value_dtype)):
            if mine != other:
                raise TypeError(f"Invalid {word} dtype for table: expected {mine} but got {other}.")


@export("lookup.KeyValueTensorInitializer", "compat.v1.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(_Initializer):
    """Fills a table with keys and values given as tensors."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        keys, values = _constant(keys), _constant(values)
        with init_scope():
            self._keys = convert(keys, key_dtype)
            self._values = convert(values, value_dtype)
            dims = static_shape(self._keys)
            if executing_eagerly() and len(dims) != 1 and dims == static_shape(self._values):
                self._keys, self._values = raw.Reshape(self._keys, [-1]), raw.Reshape(self._values, [-1])
        self._name = name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        """The op that fills `table`."""
        self._check(table)
        return raw.InitializeTableV2(table.resource_handle, self._keys, self._values)


@export("lookup.TextFileIndex", "compat.v1.lookup.TextFileIndex")
class TextFileIndex:
    """Which part of a line is used: the whole line or the line number. Numbers from 0 on mean a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@export("lookup.TextFileInitializer", "compat.v1.lookup.TextFileInitializer")
class TextFileInitializer(_Initializer):
    """Fills a table from the lines of a file."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None,
                 value_index_offset=0):
        if not hasattr(filename, "dtype") and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for word, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"{word}_index should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"{word} dtype must be int64 if {word}_index is LINE_NUMBER, received: {dtype}")
            if index == TextFileIndex.WHOLE_LINE and dtype not in (dtypes.string, dtypes.int64):
                raise ValueError(f"{word} dtype must be string or int64 if {word}_index is WHOLE_LINE, received: {dtype}")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        super().__init__(key_dtype, value_dtype)
        self._filename, self._key_index, self._value_index = filename, key_index, value_index
        self._vocab_size, self._delimiter, self._offset = vocab_size, delimiter, value_index_offset

    def initialize(self, table):
        """The op that fills `table`."""
        self._check(table)
        return raw.InitializeTableFromTextFileV2(
            table.resource_handle, convert(self._filename, dtypes.string), self._key_index, self._value_index,
            -1 if self._vocab_size is None else self._vocab_size, self._delimiter, self._offset)


# ---- tables ----------------------------------------------------------------------------------------------


@export("lookup.StaticHashTable", "compat.v1.lookup.StaticHashTable")
class StaticHashTable(_Table):
    """An immutable table, which its initializer fills."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        super().__init__(initializer.key_dtype, initializer.value_dtype, name or "hash_table")
        with init_scope():
            default = convert(default_value, self._value_dtype)
            if static_shape(default) not in ((), None):
                raise ValueError(f"Shapes () and {static_shape(default)} are incompatible: default_value must be a scalar")
            self._default_value, self._initializer = default, initializer
            self._handle = raw.HashTableV2(shared_name=_shared_name("hash_table", name), key_dtype=self._key_dtype,
                                           value_dtype=self._value_dtype)
            self._init_op = initializer.initialize(self)
            if not executing_eagerly():
                get_default_graph().add_to_collection(_COLLECTION, self._init_op)

    default_value = property(lambda self: self._default_value)
    initializer = property(lambda self: self._init_op)

    def lookup(self, keys, name=None):
        """The value of each key, or `default_value`."""
        return self._find(keys, self._default_value, name)


def hash_of(spec):
    """The function (strings, number of buckets) -> buckets of a HasherSpec, an object with the fields `hasher` and `key`."""
    if spec is None or spec.hasher == "fasthash":
        return raw.StringToHashBucketFast
    if spec.hasher == "legacy":
        return raw.StringToHashBucket
    if spec.hasher == "stronghash":
        return lambda text, buckets: raw.StringToHashBucketStrong(text, buckets, list(spec.key))
    raise ValueError(f"Found unknown hasher {spec.hasher} in `hasher_spec`")


@export("lookup.StaticVocabularyTable", "compat.v1.lookup.StaticVocabularyTable")
class StaticVocabularyTable(Trackable):
    """A table from strings (or integers) to ids. A key that is not in the vocabulary gets one of `num_oov_buckets` further
    ids, chosen by its hash."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if initializer is not None:
            if initializer.key_dtype not in (dtypes.int64, dtypes.string):
                raise TypeError(f"Invalid `key_dtype`, expected one of int64 and string, received {initializer.key_dtype}.")
            if initializer.key_dtype is dtypes.int64 and lookup_key_dtype is None:
                lookup_key_dtype = dtypes.int64
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid `value_dtype`: expected int64 but got {initializer.value_dtype}.")
        self._key_dtype = dtypes.as_dtype(lookup_key_dtype or dtypes.string)
        self._buckets, self._name = num_oov_buckets, name or "static_vocabulary_table"
        self._table = None if initializer is None else StaticHashTable(initializer, -1, self._name)

    _hash = staticmethod(raw.StringToHashBucketFast)
    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: dtypes.int64)
    name = property(lambda self: self._name)
    resource_handle = property(lambda self: None if self._table is None else self._table.resource_handle)
    initializer = property(lambda self: None if self._table is None else self._table.initializer)

    def size(self, name=None):
        """The size of the vocabulary plus the number of buckets."""
        known = convert(0, dtypes.int64) if self._table is None else self._table.size()
        return raw.AddV2(known, convert(self._buckets, dtypes.int64), name=name)

    def lookup(self, keys, name=None):
        """The id of each key, or of its bucket."""
        def find(x):
            _need_key_dtype(x, self._key_dtype)
            text = x if x.dtype is dtypes.string else raw.AsString(x)
            bucket = self._hash(text, self._buckets)
            if self._table is None:
                return bucket
            own = raw.Cast(x, self._table.key_dtype) if x.dtype.is_integer else x
            ids = self._table.lookup(own)
            bucket = raw.AddV2(bucket, self._table.size())
            return raw.SelectV2(raw.NotEqual(ids, self._table.default_value), ids, bucket, name=name)

        return _on_values(keys, self._key_dtype, find)

    def __getitem__(self, keys):
        return self.lookup(keys)


class _Saved(_Table):
    """The base class of tables whose entries are saved in checkpoints."""

    _checkpoint = True

    def _checkpoint_names(self):
        return {"table": ("table-keys", "table-values")} if self._checkpoint else {}

    def _serialize_to_tensors(self):
        keys, values = self.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored):
        return raw.LookupTableImportV2(self._handle, restored["table-keys"], restored["table-values"])


@export("lookup.experimental.MutableHashTable")
class MutableHashTable(_Saved):
    """A mutable table. Values are scalars or have the shape of `default_value`."""

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        super().__init__(key_dtype, value_dtype, name)
        self._checkpoint = checkpoint
        with init_scope():
            self._default_value = convert(default_value, self._value_dtype)
            self._dims = static_shape(self._default_value)
            self._handle = raw.MutableHashTableOfTensorsV2(
                shared_name=_shared_name("table", name), key_dtype=self._key_dtype, value_dtype=self._value_dtype,
                value_shape=self._dims)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The value of each key, or the default: one for all keys, or one for each."""
        default = self._default_value if dynamic_default_values is None else dynamic_default_values
        return self._find(keys, convert(default, self._value_dtype), name, 0, self._dims)

    def insert(self, keys, values, name=None):
        """Sets the values of keys."""
        keys, values = convert(keys, self._key_dtype), convert(values, self._value_dtype)
        return raw.LookupTableInsertV2(self._handle, keys, values, name=name)

    def remove(self, keys, name=None):
        """Removes keys; those that are not there are ignored."""
        keys = convert(keys)
        _need_key_dtype(keys, self._key_dtype)
        return raw.LookupTableRemoveV2(self._handle, keys, name=name)


@export("lookup.experimental.DenseHashTable")
class DenseHashTable(_Saved):
    """A mutable table whose keys may be tensors. Two keys are reserved."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True, experimental_is_anonymous=False):
        super().__init__(key_dtype, value_dtype, name)
        self._checkpoint = checkpoint
        with init_scope():
            self._default_value = convert(default_value, self._value_dtype)
            empty = convert(empty_key, self._key_dtype)
            self._key_rank, self._dims = len(static_shape(empty)), static_shape(self._default_value)
            self._handle = raw.MutableDenseHashTableV2(
                empty, convert(deleted_key, self._key_dtype), shared_name=_shared_name("table", name),
                value_dtype=self._value_dtype, value_shape=self._dims,
                initial_num_buckets=131072 if initial_num_buckets is None else initial_num_buckets)

    def lookup(self, keys, name=None):
        """The value of each key, or the default."""
        return self._find(keys, self._default_value, name, self._key_rank, self._dims)

    def insert_or_assign(self, keys, values, name=None):
        """Sets the values of keys."""
        keys, values = convert(keys, self._key_dtype), convert(values, self._value_dtype)
        return raw.LookupTableInsertV2(self._handle, keys, values, name=name)

    def insert(self, keys, values, name=None):
        """Sets the values of keys."""
        return self.insert_or_assign(keys, values, name)

    def erase(self, keys, name=None):
        """Removes keys; those that are not there are ignored."""
        return raw.LookupTableRemoveV2(self._handle, convert(keys, self._key_dtype), name=name)

    def remove(self, keys, name=None):
        """Removes keys; those that are not there are ignored."""
        return self.erase(keys, name)


# ---- v1 --------------------------------------------------------------------------------------------------


@export("compat.v1.tables_initializer", "compat.v1.initializers.tables_initializer", "compat.v1.initialize_all_tables")
def tables_initializer(name="init_all_tables"):
    """The op that fills all tables of the graph."""
    return group(*get_default_graph().get_collection(_COLLECTION), name=name)
