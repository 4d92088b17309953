"""Batches a function: runs it on all rows together (tf.vectorized_map).

The function is traced for one row; then each op of the trace is emitted again for all rows. A tensor that
depends on the row gets a new first axis, the batch axis; all others stay unchanged. The table below has a batching
rule for each op. For an op without a rule, or a stateful one, NotSimple is raised and the caller uses a loop.
"""
from . import _core, nest
from .control_graphs import Body, as_result, close

raw = _core.raw
convert = _core.convert


class NotSimple(Exception):
    """The function contains an op without a batching rule."""


class _Many:
    """The values of a tensor for all rows. `rank` is its rank for one row."""

    __slots__ = ("all", "rank")

    def __init__(self, tensor, rank):
        self.all, self.rank = tensor, rank


class _Node:
    """A node of the trace, with its inputs already emitted."""

    def __init__(self, graph, number, inputs, rows):
        self.op, _, self.n_out, _ = graph._node(number)
        self.desc = _core.describe_op(self.op)
        self.inputs = inputs
        self.rows = rows
        self.graph, self.number = graph, number

    def attrs(self):
        given = {}
        for name, _, _, inferred in self.desc["attrs"]:
            if not inferred:
                given[name] = self.graph._attr(self.number, name)
        return given

    def attr(self, name):
        return self.graph._attr(self.number, name)

    def out_rank(self, k=0):
        dims = _core.static_shape(self.graph._node_output(self.number, k))
        if dims is None:
            raise NotSimple
        return len(dims)

    def known(self, k):
        """The constant value of input k. Raises NotSimple if it depends on the row or is unknown."""
        if isinstance(self.inputs[k], _Many):
            raise NotSimple
        value = _core.static_value(self.inputs[k])
        if value is None:
            raise NotSimple
        return value

    def emit(self, inputs, **changed):
        """Emits the op with these inputs and changed attributes."""
        args, at = [], 0
        lists = [i for i, row in enumerate(self.desc["inputs"]) if row[3]]
        if len(lists) > 1:
            raise NotSimple
        extra = len(inputs) - len(self.desc["inputs"]) + 1
        for row in self.desc["inputs"]:
            if row[3]:
                args.append(inputs[at:at + extra])
                at += extra
            else:
                args.append(inputs[at])
                at += 1
        return getattr(raw, self.op)(*args, **{**self.attrs(), **changed})


def _all(value):
    return value.all if isinstance(value, _Many) else value


def _rank(value):
    if isinstance(value, _Many):
        return value.rank
    dims = _core.static_shape(value)
    if dims is None:
        raise NotSimple
    return len(dims)


def _repeat(value, rows):
    """A value that does not depend on the row, repeated for each row."""
    if isinstance(value, _Many):
        return value.all
    shape = raw.ConcatV2([raw.Pack([rows]), raw.Shape(value)], 0)
    return raw.BroadcastTo(value, shape)


def _lift(value, rank):
    """The value with axes of size 1 inserted after the batch axis, so that one row has rank `rank`."""
    if not isinstance(value, _Many) or value.rank == rank:
        return _all(value)
    for _ in range(rank - value.rank):
        value = _Many(raw.ExpandDims(value.all, 1), value.rank + 1)
    return value.all


def _unary(n):
    return _Many(n.emit([_all(v) for v in n.inputs]), n.out_rank())


def _broadcasting(n):
    rank = max(_rank(v) for v in n.inputs)
    return _Many(n.emit([_lift(v, rank) for v in n.inputs]), n.out_rank())


def _reduction(n):
    x, axis = n.inputs[0], n.known(1)
    axis = [int(a) + 1 if a >= 0 else int(a) for a in axis.reshape(-1)]
    return _Many(n.emit([_all(x), convert(axis, "int32") if axis else convert([], "int32")]), n.out_rank())


def _position(n):
    axis = int(n.known(1))
    return _Many(n.emit([_all(n.inputs[0]), convert(axis + 1 if axis >= 0 else axis, "int32")]), n.out_rank())


def _last_axis(n):
    if n.inputs[0].rank < 1:
        raise NotSimple
    return _unary(n)


def _matmul(n):
    a, b = n.inputs
    if n.op == "MatMul":
        x, y = n.attr("transpose_a"), n.attr("transpose_b")
    else:
        x, y = n.attr("adj_x"), n.attr("adj_y")
        if n.op != "MatMul" and max(_rank(a), _rank(b)) > 2:
            rank = max(_rank(a), _rank(b))
            a, b = _lift(a, rank), _lift(b, rank)
            return _Many(raw.BatchMatMulV2(a, b, x, y), n.out_rank())
    return _Many(raw.BatchMatMulV2(_all(a), _all(b), x, y), n.out_rank())


def _reshape(n):
    x, shape = n.inputs
    if isinstance(shape, _Many):
        raise NotSimple
    whole = raw.ConcatV2([raw.Pack([n.rows]), raw.Cast(shape, "int32")], 0)
    if (n.known(1) == -1).any():
        dims = _core.static_shape(n.graph._node_output(n.number, 0))
        if dims is None or any(d is None for d in dims):
            raise NotSimple
        whole = raw.ConcatV2([raw.Pack([n.rows]), convert(list(dims), "int32")], 0)
    return _Many(raw.Reshape(_all(x), whole), n.out_rank())


def _expand_dims(n):
    axis = int(n.known(1))
    return _Many(raw.ExpandDims(_all(n.inputs[0]), axis + 1 if axis >= 0 else axis), n.out_rank())


def _squeeze(n):
    axes = n.attr("axis" if any(a[0] == "axis" for a in n.desc["attrs"]) else "squeeze_dims")
    rank = n.inputs[0].rank
    if not axes:
        dims = _core.static_shape(n.graph._node_input(n.number, 0))
        axes = [k for k, d in enumerate(dims) if d == 1]
        if any(d is None for d in dims):
            raise NotSimple
        if not axes:
            return n.inputs[0]
    axes = [(a + rank if a < 0 else a) + 1 for a in axes]
    return _Many(raw.Squeeze(_all(n.inputs[0]), axes), n.out_rank())


def _transpose(n):
    perm = [0] + [int(p) + 1 for p in n.known(1)]
    return _Many(raw.Transpose(_all(n.inputs[0]), convert(perm, "int32")), n.out_rank())


def _shape(n):
    dims = _core.static_shape(n.graph._node_input(n.number, 0))
    if dims is None or any(d is None for d in dims):
        raise NotSimple
    return convert(list(dims), n.attr("out_type"))


def _pack(n):
    axis = n.attr("axis")
    return _Many(raw.Pack([_repeat(v, n.rows) for v in n.inputs], axis + 1 if axis >= 0 else axis), n.out_rank())


def _unpack(n):
    axis = n.attr("axis")
    parts = raw.Unpack(n.inputs[0].all, n.attr("num"), axis + 1 if axis >= 0 else axis)
    return [_Many(p, n.inputs[0].rank - 1) for p in parts]


def _concat(n):
    axis = int(n.known(len(n.inputs) - 1))
    return _Many(raw.ConcatV2([_repeat(v, n.rows) for v in n.inputs[:-1]], axis + 1 if axis >= 0 else axis), n.out_rank())


def _gather(n):
    x, at = n.inputs[0], n.inputs[1]
    axis, batch = int(n.known(2)), n.attr("batch_dims")
    if axis < 0:
        axis += _rank(x)
    if not isinstance(x, _Many):
        if axis != 0 or batch != 0:
            raise NotSimple
        return _Many(raw.GatherV2(x, at.all, 0), n.out_rank())
    if not isinstance(at, _Many):
        if batch != 0:
            raise NotSimple
        return _Many(raw.GatherV2(x.all, at, axis + 1), n.out_rank())
    return _Many(raw.GatherV2(x.all, at.all, axis + 1, batch + 1), n.out_rank())


def _strided_slice(n):
    begin, end, strides = (convert([int(v) for v in n.known(k)], "int32") for k in (1, 2, 3))
    zero, one = convert([0], "int32"), convert([1], "int32")
    masks = {m: n.attr(m) << 1 for m in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return _Many(raw.StridedSlice(_all(n.inputs[0]), raw.ConcatV2([zero, begin], 0), raw.ConcatV2([zero, end], 0),
                                  raw.ConcatV2([one, strides], 0), **masks), n.out_rank())


def _tile(n):
    times = [1] + [int(v) for v in n.known(1)]
    return _Many(raw.Tile(_all(n.inputs[0]), convert(times, "int32")), n.out_rank())


def _pad(n):
    pads = [[0, 0]] + [[int(a), int(b)] for a, b in n.known(1)]
    rest = [_all(v) for v in n.inputs[2:]]
    return _Many(n.emit([_all(n.inputs[0]), convert(pads, "int32")] + rest), n.out_rank())


def _broadcast_to(n):
    shape = n.known(1)
    whole = raw.ConcatV2([raw.Pack([n.rows]), convert([int(d) for d in shape], "int32")], 0)
    return _Many(raw.BroadcastTo(_lift(n.inputs[0], len(shape)), whole), n.out_rank())


def _same_shapes(n):
    return _Many(n.emit([_repeat(v, n.rows) for v in n.inputs]), n.out_rank())


def _fill(n):
    if isinstance(n.inputs[0], _Many):
        raise NotSimple
    shape = n.known(0)
    whole = raw.ConcatV2([raw.Pack([n.rows]), convert([int(d) for d in shape], "int32")], 0)
    return _Many(raw.BroadcastTo(_lift(n.inputs[1], len(shape)), whole), n.out_rank())


def _outputs(n):
    """The rule for ops on batches of matrices with several outputs. Outputs that an attribute disables are empty."""
    made = n.emit([_all(v) for v in n.inputs])
    wanted = {"Svd": "compute_uv", "SelfAdjointEigV2": "compute_v", "Eig": "compute_v"}.get(n.op)
    if wanted is not None and not n.attr(wanted):
        return [_Many(made[0], n.out_rank()), *made[1:]]
    return [_Many(x, n.out_rank(k)) for k, x in enumerate(made)]


_TABLE = {}
for _names, _rule in (
        ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Floor Inv IsFinite IsInf IsNan "
         "Lgamma Log Log1p LogicalNot Ndtri Neg Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Cast "
         "Identity StopGradient PreventGradient ZerosLike OnesLike Relu Relu6 LeakyRelu Elu Selu Softplus Softsign Snapshot "
         "Conj Real Imag Angle ComplexAbs Invert", _unary),
        ("Add AddV2 Sub Mul Div RealDiv DivNoNan FloorDiv FloorMod Mod TruncateDiv TruncateMod Maximum Minimum Pow "
         "SquaredDifference Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr Atan2 MulNoNan Xdivy "
         "Xlogy Xlog1py BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift SelectV2 Igamma Igammac Polygamma Zeta",
         _broadcasting),
        ("Sum Mean Prod Max Min All Any EuclideanNorm", _reduction), ("ArgMax ArgMin", _position),
        ("Softmax LogSoftmax", _last_axis),
        ("MatMul BatchMatMul BatchMatMulV2", _matmul),
        ("AddN ReluGrad TanhGrad SigmoidGrad RsqrtGrad SqrtGrad ReciprocalGrad InvGrad SoftplusGrad SoftsignGrad EluGrad "
         "SeluGrad Relu6Grad LeakyReluGrad", _same_shapes),
        ("Reshape", _reshape), ("ExpandDims", _expand_dims), ("Squeeze", _squeeze), ("Transpose", _transpose),
        ("Shape", _shape), ("Pack", _pack), ("Unpack", _unpack), ("ConcatV2", _concat), ("GatherV2", _gather),
        ("StridedSlice", _strided_slice), ("Tile", _tile), ("Pad PadV2", _pad), ("BroadcastTo", _broadcast_to),
        ("Cholesky MatrixInverse MatrixDeterminant MatrixSquareRoot MatrixLogarithm MatrixExponential MatrixDiag "
         "MatrixDiagPart", _unary),
        ("MatrixSolve MatrixSetDiag", _same_shapes), ("MatrixTriangularSolve", _broadcasting),
        ("LogMatrixDeterminant Lu Qr Svd SelfAdjointEigV2 Eig", _outputs),
        ("Cumsum Cumprod", _position), ("Fill", _fill)):
    for _name in _names.split():
        _TABLE[_name] = _rule


def _emit(n):
    """Emits a node by its batching rule, or unchanged if no input depends on the row. Returns its outputs."""
    if not any(isinstance(v, _Many) for v in n.inputs):
        if n.op == "Const":
            return [raw.Identity(n.attr("value")) if not _core.executing_eagerly() else n.attr("value")]
        if n.desc["stateful"]:
            raise NotSimple
        made = n.emit(n.inputs)
    else:
        rule = _TABLE.get(n.op)
        if rule is None:
            raise NotSimple
        made = rule(n)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _replay(body, flat, captured, rows):
    """Emits the trace for all rows. Returns the values of its outputs."""
    graph = body.graph
    values = {}
    for placeholder, tensor in zip(body.inputs, flat):
        values[placeholder._edge[1]] = [_Many(tensor, len(_core.static_shape(tensor)) - 1)]
    for placeholder, tensor in zip(graph._function_inputs()[len(flat):], captured):
        values[placeholder._edge[1]] = [tensor]
    for k in range(graph._nodes()):
        if k in values:
            continue
        inputs = []
        for i in range(graph._node(k)[1]):
            _, node, index = graph._node_input(k, i)._edge
            inputs.append(values[node][index])
        values[k] = _emit(_Node(graph, k, inputs, rows))
    return [values[t._edge[1]][t._edge[2]] for t in graph._function_outputs()]


def vectorize(fn, elems, flat):
    """Applies `fn` to all rows of `elems`, whose plain tensors are `flat`. Raises NotSimple if an op has no batching rule."""
    dims = [_core.static_shape(t) for t in flat]
    if any(d is None or len(d) == 0 for d in dims):
        raise NotSimple
    body = Body("vectorized_map")
    with body:
        row = [body.placeholder_row(t) for t in flat]
        result = as_result(fn(nest.pack_sequence_as(elems, row, expand_composites=True)))
    body.finish(result)
    captured = close([body], [body.tensors])
    rows = dims[0][0]
    rows = convert(rows, "int32") if rows is not None else raw.Shape(flat[0])[0]
    out = [_repeat(v, rows) for v in _replay(body, flat, captured, rows)]
    rest = iter(out)
    return nest.pack_sequence_as(result, [None if t is None else next(rest) for t in body.flat], expand_composites=True)
