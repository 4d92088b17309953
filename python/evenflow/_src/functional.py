"""Functions that iterate over the first axis of tensors: tf.map_fn, tf.scan, tf.foldl, tf.foldr, tf.vectorized_map.

Eagerly they are Python loops over the rows. In a graph they are one While node that reads the rows from a
TensorList and writes the results to another.
"""
from . import _core, autograph, dtypes, errors, nest
from .composite import RaggedTensorSpec, SparseTensor, SparseTensorSpec
from .control_graphs import Body, as_result
from .extension_type import BatchableExtensionType, ExtensionType, ExtensionTypeSpec
from .loops import while_loop
from .namespace import export
from .ops.sort import argsort
from .ops.index import searchsorted
from .ragged import RaggedTensor
from .shapes import TensorShape, narrow, unknown_shape
from .specs import BatchTypeSpec, TensorSpec, TypeSpec
from .tensor_array import TensorArray, _shape_vector
from .vectorize import NotSimple, vectorize

raw, convert = _core.raw, _core.convert


def _flat_elems(elems, what):
    flat = [_core.convert(e) for e in nest.flatten(elems, expand_composites=True)]
    wrong = ValueError if what == "map_fn" else IndexError  # TensorFlow's folds read shape[0]
    if not flat:
        raise wrong(f"{what}: elems must hold at least one tensor")
    count = None
    for tensor in flat:
        dims = _core.static_shape(tensor)
        if dims == ():
            raise wrong("Elements in elems must be 1+ dimensional Tensors, not scalars")
        if dims is not None and flat[0].ndim and not _core.sizes_agree(flat[0], 0, tensor, 0):
            raise ValueError(f"{what}: elems have different first dimensions; they must be equal")
        if dims is None or dims[0] is None:
            continue
        if count is not None and dims[0] != count:
            raise ValueError(f"{what}: elems have first dimensions {count} and {dims[0]}; they must be equal")
        count = dims[0]
    return flat, count


def _length(flat, count):
    """The number of rows: a Python int if it is known, else a tensor."""
    if count is not None:
        return count
    return raw.Shape(flat[0])[0]


class _Rows:
    """The rows of several tensors: Python lists eagerly, TensorArrays in a graph."""

    def __init__(self, elems, what):
        self.elems = elems
        self.uneven = {k: leaf if isinstance(leaf, RaggedTensor) else _SparseRows(leaf)
                       for k, leaf in enumerate(nest.flatten(elems)) if isinstance(leaf, (RaggedTensor, SparseTensor))}
        self.flat, self.count = _flat_elems(_starts(elems) if self.uneven else elems, what)
        self.eager = _core.executing_eagerly()
        if self.eager:
            self.rows = [raw.Unpack(t, self.count) for t in self.flat]
        else:
            self.rows = [TensorArray(t.dtype, flow=raw.TensorListFromTensor(t, _tail_vector(t)),
                                     element_shape=_tail(t)) for t in self.flat]

    def __len__(self):
        return self.count

    def length(self):
        return _length(self.flat, self.count)

    def size(self):
        """The number of rows as a TensorShape of rank 1."""
        if self.count is not None:
            return TensorShape([self.count])
        return self.flat[0].shape[:1] if self.flat[0].ndim else unknown_shape(1)

    def __getitem__(self, k):
        parts = [r[k] if self.eager else r.read(k) for r in self.rows]
        if not self.uneven:
            return nest.pack_sequence_as(self.elems, parts, expand_composites=True)
        row = nest.pack_sequence_as(_starts(self.elems), parts, expand_composites=True)
        leaves = [self.uneven[n][k] if n in self.uneven else leaf for n, leaf in enumerate(nest.flatten(row))]
        return nest.pack_sequence_as(self.elems, leaves)


def _starts(elems):
    """`elems` with each ragged or sparse tensor replaced by a dense vector that has as many rows."""
    def starts(elem):
        if isinstance(elem, SparseTensor):
            n = elem.shape.as_list()[0] if elem.shape.rank else None
            return raw.Range(0, raw.Cast(elem.dense_shape[0], dtypes.int32) if n is None else n, 1)
        return elem.row_starts() if isinstance(elem, RaggedTensor) else elem

    return nest.map_structure(starts, elems)


class _SparseRows:
    """The rows of a sparse tensor: its elements sorted by row, and the start of each row."""

    def __init__(self, whole):
        row = whole.indices[:, 0]
        order = argsort(row, stable=True)
        self._indices, self._values = raw.GatherV2(whole.indices[:, 1:], order, 0), raw.GatherV2(whole.values, order, 0)
        self._sizes, self._shape = whole.dense_shape[1:], whole.shape[1:]
        numbers = raw.Range(convert(0, dtypes.int64), whole.dense_shape[0] + 1, convert(1, dtypes.int64))
        self._starts = searchsorted(raw.GatherV2(row, order, 0), numbers)

    def __getitem__(self, k):
        first, behind = self._starts[k], self._starts[k + 1]
        made = SparseTensor(self._indices[first:behind], self._values[first:behind], self._sizes)
        made.set_shape(self._shape)
        return made


def _tail(tensor):
    return unknown_shape() if tensor.ndim is None else tensor.shape[1:]


def _tail_vector(tensor):
    return _shape_vector(_tail(tensor))


# ---- map_fn --------------------------------------------------------------------------------------------------


def _signature_spec(leaf):
    if isinstance(leaf, TypeSpec):
        return leaf
    return TensorSpec(None, dtypes.as_dtype(leaf))


def _row_spec(elem):
    if isinstance(elem, ExtensionType):
        return _batched(elem)._type_spec._unbatch()
    if isinstance(elem, SparseTensor):
        return SparseTensorSpec(elem.shape[1:], elem.dtype)
    if not isinstance(elem, RaggedTensor):
        return TensorSpec(None, _core.convert(elem).dtype)
    return RaggedTensorSpec(elem.shape[1:], elem.dtype, elem.ragged_rank - 1, elem.row_splits.dtype)


def _signature(elems, dtype, given):
    if given is None:
        given = dtype
    return nest.map_structure(_row_spec, elems) if given is None else nest.map_structure(_signature_spec, given)


class _Results:
    """How the results of all rows are stored in TensorArrays, for one leaf of the function's signature."""

    def __init__(self, spec):
        self.spec = spec

    def specs(self):
        """The specs of the plain tensors of one row; each has its own TensorArray."""
        return nest.flatten(self.spec, expand_composites=True)

    def tensors(self, value):
        """The plain tensors of what the function returned for a row."""
        nest.assert_same_structure(self.spec, value, expand_composites=True)
        flat = nest.flatten(value, expand_composites=True)
        return [v if isinstance(v, _core.Tensor) else _core.convert(v, s.dtype) for v, s in zip(flat, self.specs())]

    def whole(self, arrays, count):
        """Combines the rows in the TensorArrays into one value."""
        return nest.pack_sequence_as(self.spec, [_stacked(a, count) for a in arrays], expand_composites=True)


class _RaggedResults(_Results):
    """Ragged rows are stored as their values, their lengths, and the row lengths of their inner dimensions."""

    def specs(self):
        spec = self.spec
        known = spec.shape.rank is not None
        inner = spec.shape.as_list()[spec.ragged_rank + 1:] if known else None
        lengths = [TensorSpec([None], spec.row_splits_dtype)] * spec.ragged_rank
        return [TensorSpec([None] + inner if known else None, spec.dtype), TensorSpec([], spec.row_splits_dtype)] + lengths

    def tensors(self, value):
        spec = self.spec
        if not spec.ragged_rank:
            value = _core.convert(value, spec.dtype)
            return [value, raw.Cast(raw.Shape(value)[0], spec.row_splits_dtype)]
        nest.assert_same_structure(spec, value, expand_composites=True)
        parts = [value.nrows(), *value.nested_row_lengths()]
        return [value.flat_values] + [raw.Cast(p, spec.row_splits_dtype) for p in parts]

    def whole(self, arrays, count):
        none = _is_zero(count)
        joined = [a.concat() if not none else _empty(a) for a in arrays[:1] + arrays[2:]]
        return RaggedTensor.from_nested_row_lengths(joined[0], [_stacked(arrays[1], count)] + joined[1:], validate=False)


class _SparseResults(_Results):
    """Sparse rows are stored as their indices, values, dense shapes and numbers of elements."""

    def specs(self):
        rank = self.spec.shape.rank
        return [TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self.spec.dtype), TensorSpec([rank], dtypes.int64),
                TensorSpec([], dtypes.int64)]

    def tensors(self, value):
        nest.assert_same_structure(self.spec, value, expand_composites=True)
        return [value.indices, value.values, value.dense_shape, raw.Shape(value.values, out_type=dtypes.int64)[0]]

    def whole(self, arrays, count):
        none = _is_zero(count)
        indices, values = (_empty(a) if none else a.concat() for a in arrays[:2])
        shapes, counts = None if none else _stacked(arrays[2], count), _stacked(arrays[3], count)
        rows = RaggedTensor.from_row_lengths(values, counts, validate=False).value_rowids()
        n = raw.Shape(counts, out_type=dtypes.int64)
        sizes = convert([d or 0 for d in self.spec.shape], dtypes.int64) if none else raw.Max(shapes, [0])
        made = SparseTensor(raw.ConcatV2([raw.ExpandDims(rows, 1), indices], 1), values, raw.ConcatV2([n, sizes], 0))
        made.set_shape(TensorShape([None]).concatenate(self.spec.shape))
        return made


def _is_zero(count):
    return count == 0 or (isinstance(count, TensorShape) and count._of is None and count._sizes == (0,))


_KINDS = {RaggedTensorSpec: _RaggedResults, SparseTensorSpec: _SparseResults}


def _empty(array):
    inner = array.element_shape.as_list()[1:] if array.element_shape.rank is not None else []
    return raw.Fill([0] + inner, _core.convert("" if array.dtype is dtypes.string else 0, array.dtype))


class _Collected:
    """The results of all rows in the structure of the signature."""

    def __init__(self, signature, size, infer_shape):
        self.signature = signature
        self.leaves = [_KINDS.get(type(s), _Results)(s) for s in nest.flatten(signature)]
        self.arrays = []
        for leaf in self.leaves:
            infer = infer_shape and type(leaf) is _Results
            self.arrays.append([TensorArray(s.dtype, size=size, infer_shape=infer, element_shape=s.shape) for s in leaf.specs()])

    def write(self, arrays, k, result):
        nest.assert_same_structure(self.signature, result)
        return [[a.write(k, t) for a, t in zip(row, leaf.tensors(value))]
                for leaf, row, value in zip(self.leaves, arrays, nest.flatten(result))]

    def whole(self, arrays, count):
        made = [leaf.whole(row, count) for leaf, row in zip(self.leaves, arrays)]
        return nest.pack_sequence_as(self.signature, made)


@export("map_fn")
def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None,
           fn_output_signature=None):
    """Applies `fn` to each row of `elems` and stacks the results. `fn_output_signature` gives the dtypes that `fn` returns if
    they differ from those of `elems`."""
    if not callable(fn):
        raise TypeError(f"The provided function {fn} is not callable. fn must be callable.")
    if not _core.executing_eagerly():  # eagerly it runs as plain Python
        fn = autograph.tf_convert(fn, autograph.state.control_status_ctx())
    signature = _signature(elems, dtype, fn_output_signature)
    if any(isinstance(leaf, (ExtensionType, ExtensionTypeSpec)) for leaf in nest.flatten(elems) + nest.flatten(signature)):
        return _map_batches(fn, elems, signature, infer_shape, name)
    rows = _Rows(elems, "map_fn")
    n = len(rows) if rows.eager else rows.length()
    made = _Collected(signature, n, infer_shape)
    if rows.eager:
        arrays = made.arrays
        for k in range(n):
            arrays = made.write(arrays, k, fn(rows[k]))
        return made.whole(arrays, n)

    def body(i, arrays):
        return i + 1, made.write(arrays, i, fn(rows[i]))

    _, arrays = while_loop(lambda i, _: i < n, body, [_core.convert(0), made.arrays], maximum_iterations=None, name=name)
    return made.whole(arrays, rows.size())


def _batched(elem):
    if not isinstance(elem, (BatchableExtensionType, BatchTypeSpec)):
        verb, noun = ("generate", "outputs") if isinstance(elem, TypeSpec) else ("consume", f"inputs: got {elem!r}")
        raise TypeError(f"map_fn can not {verb} {elem if isinstance(elem, TypeSpec) else elem._type_spec} {noun}")
    return elem


def _map_batches(fn, elems, signature, infer_shape, name):
    """map_fn for extension types: maps over their encoded tensors, and decodes each row before `fn` and encodes after it."""
    specs = nest.map_structure(lambda e: _batched(e)._type_spec if isinstance(e, ExtensionType) else None, elems)
    kinds = nest.map_structure(lambda s: _batched(s) if isinstance(s, ExtensionTypeSpec) else None, signature)

    def decoded(spec, part):
        return part if spec is None else spec._from_compatible_tensor_list(list(part))

    def encode(spec, value):
        return value if spec is None else tuple(spec._to_batched_tensor_list(value))

    def between(parts):
        row = nest.map_structure_up_to(specs, lambda s, p: decoded(s if s is None else s._unbatch(), p), specs, parts)
        return nest.map_structure_up_to(kinds, encode, kinds, fn(row))

    whole = map_fn(between, nest.map_structure(lambda s, e: encode(s, e), specs, elems), infer_shape=infer_shape, name=name,
                   fn_output_signature=nest.map_structure(
                       lambda k, s: s if k is None else tuple(k._encoder().encoding_specs(k)), kinds, signature))
    return nest.map_structure_up_to(kinds, lambda k, p: p if k is None else decoded(k._batch(_count(p)), p), kinds, whole)


def _count(parts):
    first = nest.flatten(parts)[0]
    return first.shape.as_list()[0]


def _stacked(array, count):
    """The stacked rows. `count`, if it is a shape of rank 1, narrows the static number of rows."""
    stacked = array.stack()
    if stacked.ndim and isinstance(count, TensorShape) and _core.is_symbolic(stacked):
        narrow(stacked, count)
    return stacked


# ---- folds and scans ---------------------------------------------------------------------------------------------


def _start(rows, initializer, k):
    """(the initial accumulator, the number of rows that it uses: 1 without initializer)"""
    if initializer is None:
        if rows.count == 0:
            kind = errors.OutOfRangeError if rows.eager else errors.InvalidArgumentError
            raise kind(None, None, "Tried to read from index 0 but array size is: 0 ")
        return rows[k], 1
    return nest.map_structure(_core.convert, initializer), 0


def _fold(fn, elems, initializer, what, backwards, name):
    if not callable(fn):
        raise TypeError(f"{fn.__class__.__name__} is not callable. fn must be callable.")
    rows = _Rows(elems, what)
    n = rows.length()
    a, used = _start(rows, initializer, (n - 1 if backwards else 0))
    if rows.eager:
        a = a if initializer is None else initializer  # Python numbers get the dtype of the rows
        order = range(n - 1 - used, -1, -1) if backwards else range(used, n)
        for k in order:
            a = fn(a, rows[k])
        return nest.map_structure(_core.convert, a)

    def body(i, a):
        return (i - 1, fn(a, rows[i - 1])) if backwards else (i + 1, fn(a, rows[i]))

    first = n - used if backwards else used
    test = (lambda i, _: i > 0) if backwards else (lambda i, _: i < n)
    return while_loop(test, body, [_core.convert(first, dtypes.int32), a], name=name)[1]


@export("foldl")
def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Folds the rows of `elems` from the first to the last: fn(...fn(fn(initializer, e0), e1)...)."""
    return _fold(fn, elems, initializer, "foldl", False, name)


@export("foldr")
def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """Folds the rows of `elems` from the last to the first."""
    return _fold(fn, elems, initializer, "foldr", True, name)


@export("scan")
def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """Like foldl, but returns all accumulators, stacked. `reverse` starts at the last row."""
    if not callable(fn):
        raise TypeError(f"{fn.__class__.__name__} is not callable. fn must be callable.")
    rows = _Rows(elems, "scan")
    n = rows.length()
    a, used = _start(rows, initializer, n - 1 if reverse else 0)
    like = nest.flatten(a, expand_composites=True)
    arrays = [TensorArray(t.dtype, size=n, infer_shape=infer_shape, element_shape=t.shape)
              if infer_shape else TensorArray(t.dtype, size=n, infer_shape=False) for t in like]
    if used:
        arrays = [w.write(n - 1 if reverse else 0, t) for w, t in zip(arrays, like)]

    def turn(k, a, arrays):
        result = fn(a, rows[k])
        nest.assert_same_structure(a, result)
        result = nest.map_structure(_core.convert, result, expand_composites=True)
        flat = nest.flatten(result, expand_composites=True)
        return result, [w.write(k, t) for w, t in zip(arrays, flat)]

    if rows.eager:
        for k in range(n - 1 - used, -1, -1) if reverse else range(used, n):
            a, arrays = turn(k, a, arrays)
    else:
        arrays = _scan_graph(turn, a, arrays, n, used, reverse, name)
    return nest.pack_sequence_as(a, [_stacked(w, rows.size()) for w in arrays], expand_composites=True)


def _scan_graph(turn, a, arrays, n, used, reverse, name):
    def body(i, a, arrays):
        a, arrays = turn(i, a, arrays)
        return (i - 1 if reverse else i + 1), a, arrays

    first = n - 1 - used if reverse else used
    test = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < n)
    return while_loop(test, body, [_core.convert(first, dtypes.int32), a, arrays], name=name)[2]


# ---- vectorized_map --------------------------------------------------------------------------------------------------


@export("vectorized_map")
def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """Applies `fn` to each row of `elems` and stacks the results. If all ops of `fn` have a batching rule, one batched graph
    computes all rows together."""
    for elem in nest.flatten(elems):
        if isinstance(elem, ExtensionType) and not isinstance(elem, BatchableExtensionType):
            raise ValueError(f"vectorized_map takes extension types that are batchable, not {elem!r}")
    flat = [_core.convert(e) for e in nest.flatten(elems, expand_composites=True)]
    flat = _even_rows(flat)
    elems = nest.pack_sequence_as(elems, flat, expand_composites=True)
    taped = _core.executing_eagerly() and _core.taping()  # captured small tensors would become constants
    try:
        if not taped:
            return vectorize(fn, elems, flat)
    except NotSimple:
        if not fallback_to_while_loop:
            raise ValueError("vectorized_map: fn holds ops that are not vectorised, and fallback_to_while_loop is False"
                             ) from None
    like = _traced_result(fn, elems, flat)
    signature = nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), like,
                                   expand_composites=True)
    return map_fn(lambda row: nest.map_structure(_core.convert, fn(row), expand_composites=True), elems,
                  fn_output_signature=signature)


def _even_rows(flat):
    """Broadcasts tensors with one row if others have more rows."""
    if all(_core.same_size(flat[0], 0, t, 0) for t in flat if flat[0].ndim and t.ndim):
        return flat
    counts = {_core.seen_size(t, 0) for t in flat if t.ndim}
    if len(counts - {1, None}) > 1:
        raise errors.InvalidArgumentError(None, None, f"vectorized_map: elems have the first dimensions {sorted(counts)}; they "
                                                      "must be equal, or 1")
    if 1 not in counts or len(counts) == 1:
        return flat
    n = max(c for c in counts if c is not None)
    even = []
    for tensor in flat:
        dims = _core.seen_shape(tensor)
        even.append(raw.BroadcastTo(tensor, [n] + list(dims[1:])) if dims[0] == 1 else tensor)
    return even


def _traced_result(fn, elems, flat):
    """Traces `fn` for one row in a temporary graph and returns its result, for the shapes and dtypes."""
    body = Body("vectorized_map")
    with body:
        row = [body.placeholder_row(t) for t in flat]
        return as_result(fn(nest.pack_sequence_as(elems, row, expand_composites=True)))

