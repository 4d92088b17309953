"""Matrix factorizations, linear systems, least squares and functions of matrices."""
import collections

from ..control import cond
from ..namespace import export, offer_ops
from .array import matrix_transpose
from .common import Tensor, convert, dtypes, np, rank_of, raw, seen_size, shape_value, sizes_agree, static_shape
from .matmul import diag_part, eye, matmul, set_diag
from .sort import argsort

offer_ops(
    """
    MatrixInverse | input, adjoint | linalg.inv compat.v1.matrix_inverse
    MatrixDeterminant | input | linalg.det compat.v1.matrix_determinant
    Cholesky | input | linalg.cholesky compat.v1.cholesky
    MatrixSolve | matrix, rhs, adjoint | linalg.solve compat.v1.matrix_solve
    MatrixTriangularSolve | matrix, rhs, lower, adjoint | linalg.triangular_solve compat.v1.matrix_triangular_solve
    BandedTriangularSolve | bands, rhs, lower, adjoint | linalg.banded_triangular_solve
    MatrixSquareRoot | input | linalg.sqrtm compat.v1.matrix_square_root
    MatrixLogarithm | input | linalg.logm
    MatrixExponential | input | linalg.expm
    """
)

Lu = collections.namedtuple("Lu", ["lu", "p"])
Qr = collections.namedtuple("Qr", ["q", "r"])
LogMatrixDeterminant = collections.namedtuple(
    "LogMatrixDeterminant", ["sign", "log_abs_determinant"]
)

# ---- determinants and factors ---------------------------------------------------------------------------


@export("linalg.slogdet")
def slogdet(input, name=None):  # noqa: A002
    """(sign of the determinant, logarithm of its absolute value)."""
    return LogMatrixDeterminant(*raw.LogMatrixDeterminant(input, name=name))


@export("linalg.logdet")
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices."""
    diagonal = diag_part(raw.Cholesky(matrix))
    if diagonal.dtype.is_complex:
        diagonal = raw.Real(diagonal, diagonal.dtype.real_dtype)
    total = raw.Sum(raw.Log(diagonal), [-1])
    return raw.Mul(convert(2.0, total.dtype), total, name=name)


@export("linalg.cholesky_solve", "compat.v1.cholesky_solve")
def cholesky_solve(chol, rhs, name=None):
    """Solves `a x = rhs`, given the Cholesky factor `chol` of `a`."""
    y = raw.MatrixTriangularSolve(chol, rhs, True, False)
    return raw.MatrixTriangularSolve(chol, y, True, True, name=name)


@export("linalg.qr", "compat.v1.qr")
def qr(input, full_matrices=False, name=None):  # noqa: A002
    """The QR factorization: `q` has orthonormal columns, `r` is upper triangular, and their product is the input."""
    return Qr(*raw.Qr(input, full_matrices, name=name))


@export("linalg.svd", "compat.v1.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """The singular values in descending order; with `compute_uv` also the singular vectors: s, u, v."""
    s, u, v = raw.Svd(tensor, compute_uv, full_matrices, name=name)
    if s.dtype.is_complex:
        s = raw.Real(s, s.dtype.real_dtype)
    return (s, u, v) if compute_uv else s


@export("linalg.eigh", "compat.v1.self_adjoint_eig")
def eigh(tensor, name=None):
    """(eigenvalues in ascending order, eigenvectors) of self-adjoint matrices."""
    e, v = raw.SelfAdjointEigV2(tensor, True, name=name)
    return e, v


@export("linalg.eigvalsh", "compat.v1.self_adjoint_eigvals")
def eigvalsh(tensor, name=None):
    """The eigenvalues of self-adjoint matrices in ascending order."""
    return raw.SelfAdjointEigV2(tensor, False, name=name)[0]


def _complex_type(x):
    return dtypes.complex64 if x.dtype in (dtypes.float32, dtypes.complex64) else dtypes.complex128


@export("linalg.eig", "eig")
def eig(tensor, name=None):
    """Eigenvalues and eigenvectors of square matrices; both are complex."""
    x = convert(tensor)
    e, v = raw.Eig(x, compute_v=True, Tout=_complex_type(x), name=name)
    return e, v


@export("linalg.eigvals", "eigvals")
def eigvals(tensor, name=None):
    """Eigenvalues of square matrices, complex."""
    x = convert(tensor)
    return raw.Eig(x, compute_v=False, Tout=_complex_type(x), name=name)[0]


# ---- LU -------------------------------------------------------------------------------------------------


@export("linalg.lu")
def lu(input, output_idx_type=dtypes.int32, name=None):  # noqa: A002
    """The LU factorization of square matrices: (both triangular factors in one matrix, permutation of the rows)."""
    return Lu(*raw.Lu(input, output_idx_type, name=name))


def _check_lu(lower_upper, perm):
    rank, rank_p = rank_of(lower_upper), rank_of(perm)
    if rank is not None and rank < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if rank is not None and rank_p is not None and rank != rank_p + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if rank is not None and not sizes_agree(lower_upper, -1, lower_upper, -2):
        raise ValueError("`lower_upper` must be square.")


def _packed(lower_upper, perm):
    lower_upper = convert(lower_upper, None, dtypes.float32)
    perm = convert(perm, None, dtypes.int32)
    _check_lu(lower_upper, perm)
    return lower_upper, perm


def _unit_lower(lower_upper):
    """The lower triangular factor: the elements below the diagonal, and ones on the diagonal."""
    ones = raw.OnesLike(diag_part(lower_upper))
    return set_diag(raw.MatrixBandPart(lower_upper, -1, 0), ones)


def _take_rows(x, rows):
    """Permutes the rows of matrices by `rows`, which has the same batch shape."""
    if rank_of(rows) == 1:
        return raw.GatherV2(x, rows, -2)
    shape = raw.Shape(x)
    flat = raw.Reshape(x, raw.ConcatV2([[-1], shape[-2:]], 0))
    order = raw.Reshape(rows, raw.ConcatV2([[-1], shape[-2:-1]], 0))
    return raw.Reshape(raw.GatherV2(flat, order, 1, batch_dims=1), shape)


@export("linalg.lu_reconstruct")
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrices whose LU factorization is given."""
    lower_upper, perm = _packed(lower_upper, perm)
    product = matmul(_unit_lower(lower_upper), raw.MatrixBandPart(lower_upper, 0, -1))
    if rank_of(perm) == 1:
        back = raw.InvertPermutation(perm)
    else:
        back = argsort(perm, axis=-1)
    return _take_rows(product, back)


@export("linalg.lu_solve")
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves `a x = rhs`, given the LU factorization of `a`."""
    lower_upper, perm = _packed(lower_upper, perm)
    rhs = convert(rhs, None, lower_upper.dtype)
    rank = rank_of(rhs)
    if rank is not None and rank < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if rank_of(lower_upper) and rank and not sizes_agree(lower_upper, -1, rhs, -2):
        raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
    if not (rank == 2 and rank_of(perm) == 1):
        shape = raw.Shape(rhs)
        batch = raw.BroadcastArgs(shape[:-2], raw.Shape(perm)[:-1])
        rhs = raw.BroadcastTo(rhs, raw.ConcatV2([batch, shape[-2:]], 0))
        perm = raw.BroadcastTo(perm, raw.ConcatV2([batch, shape[-2:-1]], 0))
    y = raw.MatrixTriangularSolve(_unit_lower(lower_upper), _take_rows(rhs, perm), True)
    return raw.MatrixTriangularSolve(lower_upper, y, False)


@export("linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverses of the matrices whose LU factorization is given."""
    lower_upper, perm = _packed(lower_upper, perm)
    shape = raw.Shape(lower_upper)
    unit = eye(shape[-1], batch_shape=shape[:-2], dtype=lower_upper.dtype)
    return lu_solve(lower_upper, perm, unit)


# ---- least squares and pseudo-inverses ------------------------------------------------------------------


def _gram_factor(matrix, regularizer, tall):
    """The Cholesky factor of `a^H a + regularizer`, or of `a a^H + regularizer`."""
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(regularizer, Tensor) or regularizer != 0:
        extra = raw.Cast(convert(regularizer), matrix.dtype)
        gram = set_diag(gram, raw.AddV2(diag_part(gram), extra))
    return raw.Cholesky(gram)


def _tall_squares(matrix, rhs, regularizer):
    chol = _gram_factor(matrix, regularizer, True)
    return cholesky_solve(chol, matmul(matrix, rhs, adjoint_a=True))


def _wide_squares(matrix, rhs, regularizer):
    chol = _gram_factor(matrix, regularizer, False)
    return matmul(matrix, cholesky_solve(chol, rhs), adjoint_a=True)


@export("linalg.lstsq", "compat.v1.matrix_solve_ls")
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The least-squares solution x of `matrix x = rhs`."""
    matrix = convert(matrix)
    rhs = convert(rhs, None, matrix.dtype)
    if (
        matrix.dtype is dtypes.complex128
        and not isinstance(l2_regularizer, Tensor)
        and l2_regularizer != 0
    ):
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to "
            "poor accuracy."
        )
    if not fast:
        return raw.MatrixSolveLs(matrix, rhs, l2_regularizer, False, name=name)
    dims = static_shape(matrix)
    if dims is not None and None not in dims[-2:]:
        solve = _tall_squares if dims[-2] >= dims[-1] else _wide_squares
        return solve(matrix, rhs, l2_regularizer)
    shape = raw.Shape(matrix)
    return cond(
        raw.GreaterEqual(shape[-2], shape[-1]),
        lambda: _tall_squares(matrix, rhs, l2_regularizer),
        lambda: _wide_squares(matrix, rhs, l2_regularizer),
    )


def _float_matrix(a):
    a = convert(a, None, dtypes.float32)
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    rank = rank_of(a)
    if rank is not None and rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")
    return a


def _longer_side(a):
    """The larger of the two sizes of a matrix, in its dtype."""
    sides = shape_value(a)[-2:]
    if isinstance(sides, np.ndarray):
        return convert(float(sides.max()), a.dtype)
    return raw.Cast(raw.Max(sides, [0]), a.dtype)


@export("linalg.matrix_rank")
def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The rank of matrices: the number of singular values larger than `tol`."""
    a = _float_matrix(a)
    s = svd(a, compute_uv=False)
    if tol is None:
        eps = convert(float(np.finfo(a.dtype.as_numpy_dtype).eps), a.dtype)
        tol = raw.Mul(raw.Mul(eps, _longer_side(a)), raw.Max(s, [-1], True))
    return raw.Sum(raw.Cast(raw.Greater(s, tol), dtypes.int32), [-1], name=name)


@export("linalg.pinv")
def pinv(a, rcond=None, validate_args=False, name=None):
    """Moore-Penrose inverses; singular values below `rcond` times the largest count as zero."""
    a = _float_matrix(a)
    if rcond is None:
        eps = convert(10.0 * float(np.finfo(a.dtype.as_numpy_dtype).eps), a.dtype)
        rcond = raw.Mul(eps, _longer_side(a))
    rcond = convert(rcond, a.dtype)
    s, u, v = svd(a)
    cutoff = raw.ExpandDims(raw.Mul(rcond, raw.Max(s, [-1])), -1)
    # Replacing a small singular value by infinity makes its inverse 0 without a NaN in the gradient.
    s = raw.SelectV2(raw.Greater(s, cutoff), s, convert(float("inf"), a.dtype))
    return matmul(raw.RealDiv(v, raw.ExpandDims(s, -2)), u, adjoint_b=True, name=name)


# ---- tridiagonal matrices ------------------------------------------------------------------------------------


def _with_length(x, length, name, padding):
    """A diagonal of length `length`. If it lacks its unused element, the element is added."""
    own = seen_size(x, -1)
    if own is None or length is None or own == length:
        return x
    if own != length - 1:
        raise ValueError(
            f"Expected {name} to be have length {length} or {length - 1}, got {own}."
        )
    return raw.Pad(x, [[0, 0]] * (rank_of(x) - 1) + [padding])


def _compact(diagonals, diagonals_format, dtype):
    """Converts three diagonals from any of the formats to a tensor [..., 3, n]."""
    if diagonals_format == "compact":
        return convert(diagonals, None, dtype)
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = (convert(x, None, dtype) for x in diagonals)
        length = seen_size(main, -1)
        below = _with_length(below, length, "subdiagonal", [1, 0])
        above = _with_length(above, length, "superdiagonal", [0, 1])
        return raw.Pack([above, main, below], -2)
    if diagonals_format == "matrix":
        matrix = convert(diagonals, None, dtype)
        if rank_of(matrix) and not sizes_agree(matrix, -1, matrix, -2):
            raise ValueError(
                "Expected last two dimensions of diagonals to be same, got "
                f"{seen_size(matrix, -1)} and {seen_size(matrix, -2)}"
            )
        return diag_part(matrix, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _check_tridiagonal(diagonals, rhs):
    d, r = static_shape(diagonals), static_shape(rhs)
    if d is None:
        return
    if len(d) < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {len(d)}")
    if d[-2] not in (3, None):
        raise ValueError(f"Expected 3 diagonals got {d[-2]}")
    if r is not None and len(r) not in (len(d), len(d) - 1):
        raise ValueError(
            f"Expected the rank of rhs to be {len(d) - 1} or {len(d)}, got {len(r)}"
        )


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
    perturb_singular=False,
):
    """Solves linear systems with tridiagonal matrices."""
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    rhs = convert(rhs)
    diagonals = _compact(diagonals, diagonals_format, rhs.dtype)
    _check_tridiagonal(diagonals, rhs)
    vector = rank_of(rhs) is not None and rank_of(rhs) == (rank_of(diagonals) or 0) - 1
    if conjugate_rhs and rhs.dtype.is_complex:
        rhs = raw.Conj(rhs)
    if vector:
        rhs = raw.ExpandDims(rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs)
    d, r = static_shape(diagonals), static_shape(rhs)
    if d and r and not sizes_agree(diagonals, -1, rhs, -2):
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{seen_size(diagonals, -1)} and {seen_size(rhs, -2)}"
        )
    x = raw.TridiagonalSolve(diagonals, rhs, partial_pivoting, perturb_singular, name=name)
    return raw.Squeeze(x, [-1]) if vector else x


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Multiplies tridiagonal matrices by `rhs`."""
    if diagonals_format == "sequence":
        rows = [raw.ExpandDims(convert(x), -2) for x in diagonals]
        rhs = convert(rhs, None, rows[0].dtype)
    else:
        rhs = convert(rhs)
        rows = raw.Split(-2, _compact(diagonals, diagonals_format, rhs.dtype), 3)
    return raw.TridiagonalMatMul(*rows, rhs, name=name)


@export("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha, beta, eigvals_only=True, select="a", select_range=None, tol=None, name=None
):
    """The eigenvalues, in ascending order, of the self-adjoint tridiagonal matrix with diagonal `alpha` and off-diagonal
    `beta`. `select` keeps those whose index ("i") or value ("v") is within `select_range`."""
    alpha, beta = convert(alpha), convert(beta)
    if select not in ("a", "i", "v"):
        raise ValueError("'select' must have a value in {'a', 'i', 'v'}.")
    if select != "a" and select_range is None:
        raise ValueError("select_range must be given when select is 'i' or 'v'")
    main = raw.Cast(raw.Real(alpha), alpha.dtype) if alpha.dtype.is_complex else alpha
    n = raw.Size(main)
    pad = convert(0, alpha.dtype)
    matrix = raw.MatrixDiagV3(main, 0, n, n, pad)
    below = raw.MatrixDiagV3(beta, -1, n, n, pad)
    e, v = eigh(raw.AddV2(matrix, below))
    if e.dtype.is_complex:
        e = raw.Real(e, e.dtype.real_dtype)
    if select == "i":
        low, high = select_range
        e, v = e[low : high + 1], v[:, low : high + 1]
    elif select == "v":
        low, high = (convert(x, e.dtype) for x in select_range)
        inside = raw.LogicalAnd(raw.Greater(e, low), raw.LessEqual(e, high))
        kept = raw.Reshape(raw.Where(inside), [-1])
        e, v = raw.GatherV2(e, kept, 0), raw.GatherV2(v, kept, 1)
    return e if eigvals_only else (e, v)
