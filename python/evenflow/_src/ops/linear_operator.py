"""tf.linalg.LinearOperator: matrices that are known by what they do, and need not be written out.

An operator says its shape and how it multiplies; whatever else it can do follows from its dense matrix, unless its class
knows a shorter way.
"""
import inspect

from ..module import Module
from ..namespace import export
from ..shapes import TensorShape
from . import debug
from .array import adjoint as adjoint_of
from .array import concat, split, squeeze
from .common import Tensor, convert, dtypes, np, raw, shape_value
from .linalg import cholesky_solve, eigvalsh, slogdet, svd
from .matmul import diag, diag_part, eye, matmul

_WORDS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def expand_dims(x, axis):
    """x with a new axis of size 1."""
    return raw.ExpandDims(x, convert(axis))


def _number(value):
    """A tensor, or a variable that stays one."""
    return value if hasattr(value, "_should_act_as_resource_variable") else convert(value)


def _same(a, b):
    """Whether two sizes may be equal; ValueError if they cannot."""
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


def _stretched(x, batch, rank=2):
    """x with the batch axes of a static shape, if it has fewer."""
    if batch.rank in (None, 0) or x.shape.rank is None:
        return x
    own = TensorShape(x.shape[:-rank]) if rank else x.shape
    if not batch.is_fully_defined() or not own.is_fully_defined() or own == batch:
        return x
    wanted = np.broadcast_shapes(tuple(own), tuple(batch))
    return x if wanted == tuple(own) else raw.BroadcastTo(x, [*wanted, *x.shape[len(own):]])


@export("linalg.LinearOperator")
class LinearOperator(Module):
    """The base of linear operators. A class of its own defines `_shape`, `_matmul` and, if it is not to be made by
    multiplying, `_to_dense`."""

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None,  # noqa: ARG002
                 is_positive_definite=None, is_square=None, name=None, parameters=None):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular operator is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint operator is always square.")
            is_square = True
        self._dtype = dtypes.as_dtype(dtype) if dtype is not None else None
        self._is_non_singular, self._is_self_adjoint = is_non_singular, is_self_adjoint
        self._is_positive_definite, self._is_square = is_positive_definite, is_square
        self._parameters = parameters or {}
        super().__init__(name=name)
        self._name = name or type(self).__name__

    # ---- what it is

    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    parameters = property(lambda self: dict(self._parameters))
    graph_parents = property(lambda self: [])
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)

    @property
    def is_square(self):
        """Whether there are as many rows as columns; None if that is not known."""
        rows, columns = self.range_dimension, self.domain_dimension
        if self._is_square is None and rows is not None and columns is not None:
            return rows == columns
        return self._is_square

    shape = property(lambda self: self._shape())
    batch_shape = property(lambda self: self.shape[:-2])
    tensor_rank = property(lambda self: self.shape.rank)
    domain_dimension = property(lambda self: self.shape[-1] if self.shape.rank is not None else None)
    range_dimension = property(lambda self: self.shape[-2] if self.shape.rank is not None else None)

    def _size(self):
        """The shape as a tensor."""
        shape = self.shape
        return convert(list(shape), dtypes.int32) if shape.is_fully_defined() else shape_value(self.to_dense())

    def shape_tensor(self, name="shape_tensor"):  # noqa: ARG002
        """The shape, found when it runs."""
        return self._size()

    def batch_shape_tensor(self, name="batch_shape_tensor"):  # noqa: ARG002
        """The shape without rows and columns."""
        return self._size()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):  # noqa: ARG002
        """The rank of the dense tensor."""
        return raw.Size(self._size())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):  # noqa: ARG002
        """The number of columns."""
        return self._size()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):  # noqa: ARG002
        """The number of rows."""
        return self._size()[-2]

    # ---- products

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):  # noqa: ARG002
        """The product with a matrix, or with another operator."""
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            _same(left.domain_dimension, right.range_dimension)
            return left._matmul_operator(right)
        x = convert(x, self.dtype)
        own, its = self.range_dimension if adjoint else self.domain_dimension, x.shape[-1 if adjoint_arg else -2]
        _same(own, its)
        return self._matmul(adjoint_of(x) if adjoint_arg else x, adjoint)

    def matvec(self, x, adjoint=False, name="matvec"):  # noqa: ARG002
        """The product with a vector."""
        x = convert(x, self.dtype)
        _same(self.range_dimension if adjoint else self.domain_dimension, x.shape[-1])
        return squeeze(self._matmul(expand_dims(x, -1), adjoint), -1)

    def __matmul__(self, other):
        return self.matmul(other)

    def _matmul_operator(self, right):
        if isinstance(right, LinearOperatorIdentity):
            return self
        return LinearOperatorComposition([self, right])

    def _matmul(self, x, adjoint):
        return matmul(self.to_dense(), x, adjoint_a=adjoint)

    # ---- systems of equations

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):  # noqa: ARG002
        """X with operator @ X = rhs."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            _same(left.range_dimension, right.range_dimension)
            return left.inverse().matmul(right)
        rhs = convert(rhs, self.dtype)
        _same(self.domain_dimension if adjoint else self.range_dimension, rhs.shape[-1 if adjoint_arg else -2])
        return self._solve(adjoint_of(rhs) if adjoint_arg else rhs, adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):  # noqa: ARG002
        """x with operator @ x = rhs, a vector."""
        return squeeze(self.solve(expand_dims(convert(rhs, self.dtype), -1), adjoint), -1)

    def _solve(self, rhs, adjoint):
        matrix, rhs = _stretched(self.to_dense(), TensorShape(rhs.shape[:-2])), _stretched(rhs, self.batch_shape)
        if self.is_self_adjoint and self.is_positive_definite:
            return cholesky_solve(raw.Cholesky(matrix), rhs)
        return raw.MatrixSolve(matrix, rhs, adjoint=adjoint)

    # ---- numbers

    def _need_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def to_dense(self, name="to_dense"):  # noqa: ARG002
        """The matrix."""
        return self._to_dense()

    def _to_dense(self):
        return self._matmul(eye(self.domain_dimension_tensor(), dtype=self.dtype), False)

    def determinant(self, name="det"):  # noqa: ARG002
        """The determinant."""
        self._need_square("Determinant")
        return self._determinant()

    def _determinant(self):
        return raw.MatrixDeterminant(self.to_dense())

    def log_abs_determinant(self, name="log_abs_det"):  # noqa: ARG002
        """The logarithm of the determinant's absolute value."""
        self._need_square("Determinant")
        return self._log_abs_determinant()

    def _log_abs_determinant(self):
        return slogdet(self.to_dense())[1]

    def diag_part(self, name="diag_part"):  # noqa: ARG002
        """The diagonal."""
        return self._diag_part()

    def _diag_part(self):
        return diag_part(self.to_dense())

    def trace(self, name="trace"):  # noqa: ARG002
        """The sum of the diagonal."""
        return self._trace()

    def _trace(self):
        return raw.Sum(self.diag_part(), convert(-1))

    def add_to_tensor(self, x, name="add_to_tensor"):  # noqa: ARG002
        """x + the matrix."""
        return self._add_to_tensor(convert(x, self.dtype))

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def eigvals(self, name="eigvals"):  # noqa: ARG002
        """The eigenvalues of an operator that is self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self):
        return eigvalsh(self.to_dense())

    def cond(self, name="cond"):  # noqa: ARG002
        """The condition number: of the largest to the smallest singular value."""
        if not self.is_self_adjoint:
            values = svd(self.to_dense(), compute_uv=False)
        else:
            values = raw.Abs(self.eigvals())
        return raw.Max(values, convert(-1)) / raw.Min(values, convert(-1))

    # ---- other operators

    def adjoint(self, name="adjoint"):  # noqa: ARG002
        """The operator of the transposed, conjugated matrix."""
        return self if self.is_self_adjoint else self._adjoint()

    H = property(adjoint)

    def _adjoint(self):
        return LinearOperatorAdjoint(self)

    def inverse(self, name="inverse"):  # noqa: ARG002
        """The operator that undoes this one."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def _inverse(self):
        return LinearOperatorInversion(self)

    def cholesky(self, name="cholesky"):  # noqa: ARG002
        """The lower triangular operator L with L @ L.H = this one."""
        if not (self.is_self_adjoint and self.is_positive_definite):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._cholesky()

    def _cholesky(self):
        return LinearOperatorLowerTriangular(raw.Cholesky(self.to_dense()), is_non_singular=True, is_square=True)

    # ---- checks

    def assert_non_singular(self, name="assert_non_singular"):  # noqa: ARG002
        """InvalidArgumentError if the matrix is singular, as far as the dtype can tell."""
        return self._assert_non_singular()

    def _assert_non_singular(self):
        most = 1 / np.finfo(self.dtype.as_numpy_dtype).eps
        return debug.assert_less(self.cond(), convert(most, self.dtype.real_dtype),
                                 message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name="assert_positive_definite"):  # noqa: ARG002
        """InvalidArgumentError unless the matrix is positive definite."""
        return self._assert_positive_definite()

    def _assert_positive_definite(self):
        return debug.assert_positive(_real(diag_part(raw.Cholesky(self.to_dense()))), message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name="assert_self_adjoint"):  # noqa: ARG002
        """InvalidArgumentError unless the matrix is its own adjoint."""
        dense = self.to_dense()
        return debug.assert_equal(adjoint_of(dense), dense, message="Matrix was not equal to its adjoint.")

    def __tf_tensor__(self, dtype=None, name=None):  # noqa: ARG002
        return convert(self.to_dense(), dtype)


def _real(x):
    return raw.Real(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x


def _conj(x):
    return raw.Conj(x) if x.dtype.is_complex else x


def _operator(cls):
    """A class with `parameters` from the arguments of its constructor."""
    made = cls.__init__

    def init(self, *args, **kwargs):
        names = made.__code__.co_varnames[1:made.__code__.co_argcount]
        made(self, *args, **kwargs)
        given = dict(zip(names[len(names) - len(made.__defaults__ or ()):], made.__defaults__ or ()))
        self._parameters = {**given, **dict(zip(names, args)), **kwargs}

    init.__signature__ = inspect.signature(made)
    init.__doc__ = made.__doc__
    cls.__init__ = init
    return export(f"linalg.{cls.__name__}")(cls)


# ---- diagonals ----------------------------------------------------------------------------------------


@_operator
class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix, known by its diagonal."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,  # noqa: A002
                 name="LinearOperatorDiag"):
        given = _number(diag)
        if given.shape.rank == 0:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {given}")
        if not given.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square, diagonal operators currently supported.")
        super().__init__(given.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)
        self._diag = given

    diag = property(lambda self: self._diag)
    _values = property(lambda self: convert(self._diag))

    def _shape(self):
        sizes = self._diag.shape
        return TensorShape(None) if sizes.rank is None else TensorShape([*sizes, sizes[-1]])

    def _matmul(self, x, adjoint):
        values = self._values
        return expand_dims(_conj(values) if adjoint else values, -1) * x

    def _matmul_operator(self, right):
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(self._values * right._values)
        if isinstance(right, LinearOperatorScaledIdentity):
            return LinearOperatorDiag(self._values * expand_dims(right._factor, -1))
        return super()._matmul_operator(right)

    def _solve(self, rhs, adjoint):
        values = self._values
        return rhs / expand_dims(_conj(values) if adjoint else values, -1)

    def _to_dense(self):
        return diag(self._values)

    def _diag_part(self):
        return raw.Identity(self._values)

    def _determinant(self):
        return raw.Prod(self._values, convert(-1))

    def _log_abs_determinant(self):
        values = raw.Log(raw.Abs(self._values)) if not self.dtype.is_complex else \
            raw.Cast(raw.Log(raw.ComplexAbs(self._values, Tout=self.dtype.real_dtype)), DstT=self.dtype)
        return raw.Sum(values, convert(-1))

    def _add_to_tensor(self, x):
        return raw.MatrixSetDiagV3(x, diag_part(x) + self._values, convert(0))

    def _eigvals(self):
        return raw.Identity(self._values)

    def _adjoint(self):
        return LinearOperatorDiag(_conj(self._values))

    def _inverse(self):
        return LinearOperatorDiag(1 / self._values)

    def _cholesky(self):
        return LinearOperatorDiag(raw.Sqrt(self._values), is_non_singular=True, is_positive_definite=True)

    def _assert_non_singular(self):
        size = raw.ComplexAbs(self._values, Tout=self.dtype.real_dtype) if self.dtype.is_complex else raw.Abs(self._values)
        return debug.assert_positive(size, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return debug.assert_positive(_real(self._values), message="Diagonal contained non-positive values, so the operator is not "
                                     "positive definite.")


class _Square(LinearOperator):
    """Multiples of the identity: n rows, and a batch of factors."""

    _rows = None

    def _shape(self):
        return TensorShape([*self._factor.shape, self._rows])[:-1].concatenate([self._rows, self._rows])

    def _matmul(self, x, adjoint):
        factor = expand_dims(expand_dims(self._factor, -1), -1)
        return (_conj(factor) if adjoint else factor) * x

    def _solve(self, rhs, adjoint):
        factor = expand_dims(expand_dims(self._factor, -1), -1)
        return rhs / (_conj(factor) if adjoint else factor)

    def _to_dense(self):
        return diag(self._diag_part())

    def _diag_part(self):
        return expand_dims(self._factor, -1) * raw.Fill([self._rows], convert(1, self.dtype))

    def _determinant(self):
        return raw.Pow(self._factor, raw.Cast(convert(self._rows), DstT=self.dtype))

    def _log_abs_determinant(self):
        return raw.Cast(convert(self._rows), DstT=self.dtype) * raw.Log(raw.Abs(self._factor))

    def _eigvals(self):
        return self._diag_part()


def _rows_of(num_rows):
    found = num_rows.numpy() if isinstance(num_rows, Tensor) else num_rows
    if np.ndim(found) != 0:
        raise ValueError(f"Argument num_rows must be a 0-D Tensor. Found: {num_rows}")
    if not isinstance(found, (int, np.integer)):
        raise TypeError(f"Argument num_rows must be integer type. Found: {num_rows}")
    if found < 0:
        raise ValueError(f"Argument num_rows must be non-negative.  Found: {num_rows}")
    return int(found)


@_operator
class LinearOperatorIdentity(_Square):
    """The identity, of n rows."""

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):  # noqa: ARG002
        for said, words in ((is_self_adjoint, "self adjoint"), (is_square, "square"), (is_non_singular, "non-singular"),
                            (is_positive_definite, "positive-definite")):
            if not said:
                raise ValueError(f"An identity operator is always {words}.")
        super().__init__(dtype or dtypes.float32, None, True, True, True, True, name)
        self._rows = _rows_of(num_rows)
        self._factor = raw.Fill(convert(list(batch_shape) if batch_shape is not None else [], dtypes.int32), convert(1, self.dtype))

    def _matmul_operator(self, right):
        return right

    def _inverse(self):
        return self

    def _cholesky(self):
        return self

    def add_to_tensor(self, mat, name="add_to_tensor"):  # noqa: ARG002
        """mat + the identity."""
        return self._add_to_tensor(convert(mat, self.dtype))


@_operator
class LinearOperatorScaledIdentity(_Square):
    """A number times the identity, of n rows."""

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True,
                 assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):  # noqa: ARG002
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        given = _number(multiplier)
        if not given.dtype.is_complex:
            is_self_adjoint = True
        super().__init__(given.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)
        self._multiplier, self._rows = given, _rows_of(num_rows)

    multiplier = property(lambda self: self._multiplier)
    _factor = property(lambda self: convert(self._multiplier))

    def _matmul_operator(self, right):
        if isinstance(right, LinearOperatorScaledIdentity):
            return LinearOperatorScaledIdentity(self._rows, self._factor * right._factor)
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(expand_dims(self._factor, -1) * right._values)
        return super()._matmul_operator(right)

    def _inverse(self):
        return LinearOperatorScaledIdentity(self._rows, 1 / self._factor)

    def _adjoint(self):
        return LinearOperatorScaledIdentity(self._rows, _conj(self._factor))

    def _cholesky(self):
        return LinearOperatorScaledIdentity(self._rows, raw.Sqrt(self._factor), is_non_singular=True)


# ---- matrices -----------------------------------------------------------------------------------------


@_operator
class LinearOperatorFullMatrix(LinearOperator):
    """A matrix that is written out."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        given = _number(matrix)
        if given.shape.rank is not None and given.shape.rank < 2:
            raise ValueError(f"Argument matrix must have at least 2 dimensions.  Found: {given}")
        super().__init__(given.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        self._matrix = given

    matrix = property(lambda self: self._matrix)

    def _shape(self):
        return self._matrix.shape

    def _to_dense(self):
        return convert(self._matrix)


@_operator
class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        given = _number(tril)
        if given.shape.rank is not None and given.shape.rank < 2:
            raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {given}")
        super().__init__(given.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)
        self._tril = given

    tril = property(lambda self: self._tril)

    def _shape(self):
        return self._tril.shape

    def _to_dense(self):
        return raw.MatrixBandPart(convert(self._tril), convert(-1), convert(0))

    def _diag_part(self):
        return diag_part(convert(self._tril))

    def _determinant(self):
        return raw.Prod(self._diag_part(), convert(-1))

    def _log_abs_determinant(self):
        return raw.Sum(raw.Log(raw.Abs(self._diag_part())), convert(-1))

    def _solve(self, rhs, adjoint):
        return raw.MatrixTriangularSolve(self.to_dense(), rhs, lower=True, adjoint=adjoint)

    def _eigvals(self):
        return self._diag_part()

    def _matmul_operator(self, right):
        if isinstance(right, (LinearOperatorDiag, LinearOperatorLowerTriangular)):
            return LinearOperatorLowerTriangular(matmul(self.to_dense(), right.to_dense()))
        return super()._matmul_operator(right)

    def _assert_non_singular(self):
        return debug.assert_positive(raw.Abs(self._diag_part()), message="Singular operator:  Diagonal contained zero values.")


# ---- operators of operators ---------------------------------------------------------------------------


class _Around(LinearOperator):
    """What follows from one other operator."""

    def __init__(self, operator, suffix, hints, name):
        said = [own if hint is None else hint for hint, own in zip(hints, (getattr(operator, w) for w in _WORDS))]
        super().__init__(operator.dtype, None, *said, name=name or operator.name + suffix)
        self._operator = operator

    operator = property(lambda self: self._operator)


@_operator
class LinearOperatorAdjoint(_Around):
    """The adjoint of an operator."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        super().__init__(operator, "_adjoint", (is_non_singular, is_self_adjoint, is_positive_definite, is_square), name)

    def _shape(self):
        sizes = self._operator.shape
        return sizes if sizes.rank is None else TensorShape([*sizes[:-2], sizes[-1], sizes[-2]])

    def _matmul(self, x, adjoint):
        return self._operator._matmul(x, not adjoint)

    def _solve(self, rhs, adjoint):
        return self._operator._solve(rhs, not adjoint)

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _adjoint(self):
        return self._operator

    def _determinant(self):
        return _conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        return _conj(self._operator.trace())


@_operator
class LinearOperatorInversion(_Around):
    """The inverse of an operator."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if operator.is_square is False or is_square is False:
            raise ValueError(f"operator must be square. Found: {operator}")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("operator must be non-singular.")
        super().__init__(operator, "_inv", (is_non_singular, is_self_adjoint, is_positive_definite, is_square), name)

    def _shape(self):
        return self._operator.shape

    def _matmul(self, x, adjoint):
        return self._operator._solve(x, adjoint)

    def _solve(self, rhs, adjoint):
        return self._operator._matmul(rhs, adjoint)

    def _inverse(self):
        return self._operator

    def _determinant(self):
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -self._operator.log_abs_determinant()


class _Several(LinearOperator):
    """What is made of several operators."""

    def __init__(self, operators, joint, hints, name):
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        if len({op.dtype for op in operators}) > 1:
            raise TypeError("Expected all operators to have the same dtype.  Found "
                            + "   ".join(f"{op.name} {op.dtype.name}" for op in operators))
        super().__init__(operators[0].dtype, None, *hints, name=name or joint.join(op.name for op in operators))
        self._operators = operators

    operators = property(lambda self: self._operators)

    def _batch(self):
        sizes = [op.batch_shape for op in self._operators]
        if not all(s.is_fully_defined() for s in sizes):
            return None
        return np.broadcast_shapes(*map(tuple, sizes))

    def _product(self, values):
        made = values[0]
        for value in values[1:]:
            made = made * value
        return made

    def _determinant(self):
        return self._product([op.determinant() for op in self._operators])

    def _log_abs_determinant(self):
        made = self._operators[0].log_abs_determinant()
        for op in self._operators[1:]:
            made = made + op.log_abs_determinant()
        return made


def _all_true(operators, word):
    return True if all(getattr(op, word) for op in operators) else None


@_operator
class LinearOperatorComposition(_Several):
    """The product of operators."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        operators = list(operators)
        if is_non_singular is None:
            is_non_singular = _all_true(operators, "is_non_singular")
        super().__init__(operators, "_o_", (is_non_singular, is_self_adjoint, is_positive_definite, is_square), name)
        for left, right in zip(operators, operators[1:]):
            _same(left.domain_dimension, right.range_dimension)

    def _shape(self):
        batch = self._batch()
        ends = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return TensorShape(None) if batch is None else TensorShape([*batch, *ends])

    def _matmul(self, x, adjoint):
        for op in self._operators if adjoint else reversed(self._operators):
            x = op._matmul(x, adjoint)
        return x

    def _solve(self, rhs, adjoint):
        for op in reversed(self._operators) if adjoint else self._operators:
            rhs = op.solve(rhs, adjoint)
        return rhs

    def _determinant(self):
        return super()._determinant() if all(op.is_square for op in self._operators) else raw.MatrixDeterminant(self.to_dense())

    def _log_abs_determinant(self):
        return super()._log_abs_determinant() if all(op.is_square for op in self._operators) else slogdet(self.to_dense())[1]

    def _to_dense(self):
        made = self._operators[-1].to_dense()
        for op in reversed(self._operators[:-1]):
            made = op._matmul(made, False)
        return made


@_operator
class LinearOperatorBlockDiag(_Several):
    """Operators along the diagonal of a matrix of blocks. Products take a tensor, or a list with one for each block."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True, name=None):
        operators = list(operators)
        said = [_all_true(operators, w) if hint is None else hint for w, hint in
                zip(_WORDS, (is_non_singular, is_self_adjoint, is_positive_definite))]
        super().__init__(operators, "_ds_", (*said, is_square), name)

    def _shape(self):
        batch = self._batch()
        rows, columns = ([getattr(op, w) for op in self._operators] for w in ("range_dimension", "domain_dimension"))
        if batch is None or None in rows or None in columns:
            return TensorShape(None)
        return TensorShape([*batch, sum(rows), sum(columns)])

    def _each(self, x, adjoint, method, axis=-2):
        sizes = [op.range_dimension if adjoint else op.domain_dimension for op in self._operators]
        parts = [getattr(op, method)(part, adjoint) for op, part in zip(self._operators, split(x, sizes, axis))]
        batch = self._batch()
        if batch:
            parts = [_stretched(p, TensorShape(np.broadcast_shapes(tuple(batch), *(tuple(q.shape[:-2]) for q in parts))))
                     for p in parts]
        return concat(parts, axis)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with a matrix, with another operator, or with one matrix for each block."""
        if isinstance(x, (list, tuple)) and len(x) == len(self._operators) and all(np.ndim(p) >= 2 for p in x):
            return [op.matmul(part, adjoint, adjoint_arg) for op, part in zip(self._operators, x)]
        return super().matmul(x, adjoint, adjoint_arg, name)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """X with operator @ X = rhs, a matrix or one for each block."""
        if isinstance(rhs, (list, tuple)) and len(rhs) == len(self._operators) and all(np.ndim(p) >= 2 for p in rhs):
            return [op.solve(part, adjoint, adjoint_arg) for op, part in zip(self._operators, rhs)]
        return super().solve(rhs, adjoint, adjoint_arg, name)

    def _matmul(self, x, adjoint):
        return self._each(x, adjoint, "_matmul")

    def _solve(self, rhs, adjoint):
        return self._each(rhs, adjoint, "_solve")

    def _diag_part(self):
        parts = [op.diag_part() for op in self._operators]
        return concat([_stretched(p, TensorShape(self._batch() or []), 1) for p in parts], -1)

    def _trace(self):
        made = self._operators[0].trace()
        for op in self._operators[1:]:
            made = made + op.trace()
        return made

    def _to_dense(self):
        return self._each(_stretched(eye(self.domain_dimension, dtype=self.dtype), TensorShape(self._batch() or [])), False, "_matmul")

    def _adjoint(self):
        return LinearOperatorBlockDiag([op.adjoint() for op in self._operators])

    def _inverse(self):
        return LinearOperatorBlockDiag([op.inverse() for op in self._operators])

    def _cholesky(self):
        return LinearOperatorBlockDiag([op.cholesky() for op in self._operators], is_non_singular=True)

    def _eigvals(self):
        return concat([op.eigvals() for op in self._operators], -1)
