"""Matrix products, tensordot, einsum, and functions of diagonals."""
import builtins
import numbers
import re

from .. import _core, errors
from ..dispatch import REFUSED, redirect
from ..namespace import export, front, offer_ops
from .common import Tensor, convert, dtypes, seen, np, pair, raw, rank_of, static_shape
from .creation import ones, zeros

offer_ops(
    """
    MatrixBandPart | input, num_lower, num_upper | linalg.band_part
    Cross | a, b | linalg.cross
    Diag | diagonal | linalg.tensor_diag
    DiagPart | input | linalg.tensor_diag_part
    """
)


@export("matmul", "linalg.matmul")
@front("matmul", raw.MatMul)
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
):
    """The product of two matrices, or of two batches of matrices, whose batch dimensions broadcast."""
    if transpose_a and adjoint_a:
        raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True.")
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        try:
            a, b = pair(a, b)
        except REFUSED:
            return redirect(matmul, a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse,
                            output_type, grad_a, grad_b, name=name)
    rank_a, rank_b = rank_of(a), rank_of(b)
    if output_type is not None:
        output_type = dtypes.as_dtype(output_type)
        if output_type is a.dtype is b.dtype:
            output_type = None
    batch = rank_a is None or rank_b is None or rank_a > 2 or rank_b > 2
    if batch or output_type is not None:
        if transpose_a and a.dtype.is_complex:
            a = raw.Conj(a)
        if transpose_b and b.dtype.is_complex:
            b = raw.Conj(b)
        flip_a, flip_b = bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)
        if output_type is not None:
            return raw.BatchMatMulV3(a, b, output_type, flip_a, flip_b, name=name)
        return raw.BatchMatMulV2(a, b, flip_a, flip_b, name=name)
    if adjoint_a:
        a = _conjugate(a)
    if adjoint_b:
        b = _conjugate(b)
    flip_a, flip_b = bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b)
    try:
        return raw.MatMul(a, b, flip_a, flip_b, name=name)
    except (TypeError, errors.InvalidArgumentError):
        if {a.dtype, b.dtype} != {dtypes.bfloat16, dtypes.float32}:
            raise
    return raw.MatMul(raw.Cast(a, dtypes.float32), raw.Cast(b, dtypes.float32), flip_a, flip_b, name=name)


def _conjugate(x):
    if x.dtype.is_complex:
        return raw.Conj(x)
    if not (x.dtype.is_floating or x.dtype.is_integer):
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")
    return x


@export("linalg.matvec")
def matvec(
    a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None
):
    """Matrices times vectors."""
    column = raw.ExpandDims(b, -1)
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return raw.Squeeze(out, [-1], name=name)


def _matmul_operator(a, b):
    """a @ b. One of them is a tensor; the other is converted to its dtype."""
    a = a if isinstance(a, (Tensor, _core.VariableBase)) else convert(a, b.dtype)
    return matmul(a, b, name="matmul")


_core.register(matmul=_matmul_operator)


# ---- tensordot ------------------------------------------------------------------------------------------


def _contract_axes(a, axes):
    """(axes of a, axes of b) to contract: lists, or tensors if they are not known before the graph runs."""
    if isinstance(axes, (int, np.integer)):
        count = rank_of(a)
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if count is not None and axes > count:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor, {count}. "
                f"Received: {axes}."
            )
        if count is None:
            rank = raw.Rank(a)
            return raw.Range(raw.Sub(rank, axes), rank, 1), list(builtins.range(axes))
        return list(builtins.range(count - axes, count)), list(builtins.range(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError(f"`axes` must be an integer or have length 2. Received: {axes}.")
        first, second = (np.asarray(seen(x)).reshape(-1).tolist() for x in axes)
        if len(first) != len(second):
            raise ValueError(
                f"Different number of contraction axes for a and b, {len(first)} != {len(second)}."
            )
        return first, second
    axes = convert(axes, dtypes.int32)
    both = seen(axes)
    if both is None:
        return tuple(raw.Unpack(axes, 2))
    if both.ndim == 0:
        raise errors.InvalidGraphError("tensordot: axes given as a tensor are two rows; this one is a scalar")
    return _contract_axes(a, both.tolist())


def _as_matrix(x, axes, last):
    """(`x` as a matrix, in which `axes` are merged into the last or first dimension and the rest into the other; the sizes of
    the rest)."""
    dims = static_shape(x)
    count = len(dims)
    axes = [k + count if k < 0 else k for k in axes]
    if any(not 0 <= k < count for k in axes):
        error = IndexError if max(axes) >= count else ValueError  # as in TensorFlow
        raise error(f"tensordot: axes {axes} do not fit a tensor of rank {count}")
    free = [k for k in builtins.range(count) if k not in axes]
    perm = free + axes if last else axes + free
    if None not in dims:
        inner = int(np.prod([dims[k] for k in axes], dtype=np.int64))
        outer = int(np.prod([dims[k] for k in free], dtype=np.int64))
        sizes = [dims[k] for k in free]
        shape = [outer, inner] if last else [inner, outer]
    else:
        whole = raw.Shape(x)
        picked = raw.GatherV2(whole, convert(axes, dtypes.int32), 0)
        sizes = raw.GatherV2(whole, convert(free, dtypes.int32), 0)
        inner, outer = raw.Prod(picked, [0]), raw.Prod(sizes, [0])
        shape = raw.Pack([outer, inner] if last else [inner, outer])
    if perm != list(builtins.range(count)):
        x = raw.Transpose(x, perm)
    return raw.Reshape(x, shape), sizes


def _as_matrix_of_any_rank(x, axes, last):
    """_as_matrix for a tensor of unknown rank, or for axes that are a tensor."""
    whole = raw.Shape(x)
    rank, axes = raw.Size(whole), convert(axes, dtypes.int32)
    axes = raw.SelectV2(raw.GreaterEqual(axes, 0), axes, raw.AddV2(axes, rank))
    free = raw.ListDiff(raw.Range(0, rank, 1), axes)[0]
    sizes = raw.GatherV2(whole, free, 0)
    inner, outer = raw.Prod(raw.GatherV2(whole, axes, 0), [0]), raw.Prod(sizes, [0])
    x = raw.Transpose(x, raw.ConcatV2([free, axes] if last else [axes, free], 0))
    return raw.Reshape(x, raw.Pack([outer, inner] if last else [inner, outer])), sizes


@export("tensordot", "linalg.tensordot")
def tensordot(a, b, axes, name=None):
    """The sum of products over pairs of axes of two tensors."""
    a, b = convert(a), convert(b)
    first, second = _contract_axes(a, axes)
    (a, left), (b, right) = (
        (_as_matrix if rank_of(x) is not None and isinstance(picked, list) else _as_matrix_of_any_rank)(x, picked, last)
        for x, picked, last in ((a, first, True), (b, second, False)))
    product = matmul(a, b)
    if isinstance(left, list) and isinstance(right, list):
        return raw.Reshape(product, convert(left + right, dtypes.int32), name=name)
    sizes = [convert(s, dtypes.int32) for s in (left, right)]
    return raw.Reshape(product, raw.ConcatV2(sizes, 0), name=name)


# ---- einsum ---------------------------------------------------------------------------------------------

_EQUATION = re.compile(r"^[a-zA-Z.,]*(->[a-zA-Z.]*)?$")


def _split_equation(equation, inputs):
    """(labels of each input, labels of the output). If the equation has no output, it is inferred."""
    equation = equation.replace(" ", "")
    if not _EQUATION.match(equation) or "." in equation.replace("...", ""):
        raise ValueError(f"einsum: indices have incorrect format: {equation!r}")
    left, arrow, out = equation.partition("->")
    labels = left.split(",")
    if len(labels) != len(inputs):
        raise ValueError(
            f"einsum: got {len(inputs)} tensors for {len(labels)} inputs in equation {equation!r}"
        )
    if not arrow:
        joined = left.replace(",", "").replace("...", "")
        once = sorted(c for c in set(joined) if joined.count(c) == 1)
        out = ("..." if "..." in left else "") + "".join(once)
    for c in out.replace("...", ""):
        if c not in left:
            raise ValueError(f"einsum: output label {c!r} is in no input of {equation!r}")
        if out.count(c) > 1:
            raise ValueError(f"einsum: output label {c!r} occurs more than once in {equation!r}")
    return labels, out


def _two(a, b, others, out):
    """The labels of the product of two inputs: those that other inputs or the output use."""
    wanted = set("".join(others) + out) - {"."}
    both = dict.fromkeys(a.replace("...", "") + b.replace("...", ""))
    kept = "".join(c for c in both if c in wanted)
    return ("..." if "..." in a + b else "") + kept


@export("einsum", "linalg.einsum")
def einsum(equation, *inputs, **kwargs):
    """Sums of products in Einstein notation: "ij,jk->ik" is a matrix product."""
    name = kwargs.pop("name", None)
    optimize = kwargs.pop("optimize", "greedy")
    if kwargs:
        raise TypeError(
            f"Invalid keyword arguments for this function: {', '.join(sorted(kwargs))}. Expected: "
            "name, optimize."
        )
    if not inputs:
        raise ValueError("einsum needs at least one input")
    if optimize not in (None, False, True, "greedy", "optimal", "branch-2", "branch-all", "auto"):
        raise ValueError(f"einsum: unknown way to optimize: {optimize!r}")
    hint = next((x.dtype for x in inputs if isinstance(x, Tensor)), None)
    tensors = [convert(x, None, hint) for x in inputs]
    labels, out = _split_equation(equation, tensors)
    while len(tensors) > 2:
        k, m = _cheapest(tensors, labels)
        b, lb = tensors.pop(m), labels.pop(m)
        a, la = tensors.pop(k), labels.pop(k)
        mid = _two(la, lb, labels, out)
        tensors.append(raw.Einsum([a, b], f"{la},{lb}->{mid}"))
        labels.append(mid)
    return raw.Einsum(tensors, f"{','.join(labels)}->{out}", name=name)


def _cheapest(tensors, labels):
    """The pair of inputs to contract first: that with the fewest multiplications, or the first two if sizes are unknown."""
    sizes = {}
    for t, part in zip(tensors, labels):
        dims = static_shape(t)
        if dims is None or "..." in part or None in dims:
            return 0, 1
        sizes.update(zip(part, dims))
    best = None
    for k in builtins.range(len(labels)):
        for m in builtins.range(k + 1, len(labels)):
            cost = 1
            for c in set(labels[k] + labels[m]):
                cost *= sizes[c]
            shared = bool(set(labels[k]) & set(labels[m]))
            if best is None or (not shared, cost) < best[0]:
                best = ((not shared, cost), k, m)
    return best[1], best[2]


# ---- diagonals ------------------------------------------------------------------------------------------


@export("eye", "linalg.eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Identity matrices: ones on the diagonal, zeros elsewhere."""
    columns = num_rows if num_columns is None else num_columns
    square = num_columns is None
    batch_shape = [] if batch_shape is None else batch_shape
    if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
        size = raw.Minimum(num_rows, columns)
    elif not isinstance(num_rows, numbers.Integral) or not isinstance(columns, numbers.Integral):
        raise TypeError("Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
                        f"num_rows={num_rows}, num_columns={columns}")
    else:
        plain = type(num_rows) is type(columns) is int
        square, size = num_rows == columns, min(num_rows, columns) if plain else np.minimum(num_rows, columns)
    if isinstance(batch_shape, Tensor) or isinstance(size, Tensor):
        batch_shape = convert(batch_shape, dtypes.int32)
        around = lambda sizes: raw.ConcatV2([batch_shape, sizes], 0)
    else:
        around = lambda sizes: [*batch_shape, *sizes]
    diagonal = ones(around([size]), dtype)
    if square:
        pad = 0 if diagonal.dtype.is_floating else zeros([], diagonal.dtype)
        return raw.MatrixDiagV3(diagonal, 0, -1, -1, pad, name=name)
    whole = zeros(around([num_rows, columns]), dtype)
    return raw.MatrixSetDiagV3(whole, diagonal, 0, name=name)


def _padding(value, beside):
    """`value`, converted to bool if `beside` has the dtype bool. A list has no dtype."""
    return bool(value) if getattr(beside, "dtype", None) == "bool" else value


@export("linalg.diag")
def diag(
    diagonal,
    name="diag",
    k=0,
    num_rows=-1,
    num_cols=-1,
    padding_value=0,
    align="RIGHT_LEFT",
):
    """Matrices with the given diagonals, `padding_value` elsewhere."""
    pad = _padding(padding_value, diagonal)
    return raw.MatrixDiagV3(diagonal, k, num_rows, num_cols, pad, align)


@export("linalg.diag_part")
def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):  # noqa: A002
    """The diagonals `k` of matrices."""
    return raw.MatrixDiagPartV3(input, k, _padding(padding_value, input), align)


@export("linalg.set_diag")
def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):  # noqa: A002
    """Matrices with their diagonals `k` replaced."""
    return raw.MatrixSetDiagV3(input, diagonal, k, align)


@export("linalg.trace")
def trace(x, name=None):
    """The sum of the diagonal of matrices."""
    return raw.Sum(diag_part(convert(x)), [-1], name=name)
