"""Linear operators."""
import numpy as np

_A = np.array([[4.0, 1.0, -2.0], [0.5, 3.0, 1.0], [2.0, -1.0, 5.0]], np.float32)
_X = np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 2.0]], np.float32)
_D = np.array([1.0, -2.0, 4.0], np.float32)


def _plain(tf, value):
    """Numbers to three digits behind the point: what one library computes in another order differs behind them."""
    if isinstance(value, (list, tuple)):
        return [_plain(tf, v) for v in value]
    if isinstance(value, tf.Tensor):
        found = value.numpy()
        if found.dtype.kind == "c":
            return [np.round(found.real, 3).tolist(), np.round(found.imag, 3).tolist()]
        return (np.round(found.astype(np.float64), 3) + 0.0).tolist()
    return str(value)


def _tried(tf, make):
    try:
        return str(_plain(tf, make()))
    except Exception as e:  # noqa: BLE001 (whatever it is, it is the answer)
        return type(e).__name__


def _all(tf, make, x=_X):
    def each(**calls):
        return {name: _tried(tf, call) for name, call in calls.items()}

    op, product = make(), lambda other: make().matmul(other)
    v = x[:, 0]
    found = each(
        matmul=lambda: op.matmul(x), matvec=lambda: op.matvec(v), adjoint_matmul=lambda: op.matmul(x, adjoint=True),
        adjoint_vector=lambda: op.matvec(v, adjoint=True), adjoint_arg=lambda: op.matmul(x.T, adjoint_arg=True),
        solve=lambda: op.solve(x), solvevec=lambda: op.solvevec(v), adjoint_solve=lambda: op.solve(x, adjoint=True),
        to_dense=op.to_dense, determinant=op.determinant, log_abs_determinant=op.log_abs_determinant, diag_part=op.diag_part,
        trace=op.trace, cond=op.cond, eigvals=op.eigvals, non_singular=op.assert_non_singular, self_adjoint=op.assert_self_adjoint,
        adjoint=lambda: [type(op.adjoint()).__name__, op.adjoint().to_dense(), op.H.matmul(x)],
        inverse=lambda: [type(op.inverse()).__name__, op.inverse().to_dense(), op.inverse().matmul(x)],
        cholesky=lambda: op.cholesky().to_dense(), signed=lambda: op @ x,
        with_diagonal=lambda: product(tf.linalg.LinearOperatorDiag(_D)).to_dense(),
        with_identity=lambda: product(tf.linalg.LinearOperatorIdentity(3)).to_dense(),
        with_matrix=lambda: product(tf.linalg.LinearOperatorFullMatrix(_A)).to_dense(),
        shapes=lambda: [op.shape, op.batch_shape, op.domain_dimension, op.range_dimension, op.tensor_rank, op.shape_tensor(),
                        op.batch_shape_tensor(), op.domain_dimension_tensor(), op.range_dimension_tensor(), op.tensor_rank_tensor()],
        facts=lambda: [op.name, op.dtype.name, op.is_square, op.is_self_adjoint, op.is_non_singular, op.is_positive_definite])
    return found


def diagonal(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorDiag(_D))


def diagonals(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorDiag([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))


def positive_diagonal(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorDiag([1.0, 4.0, 9.0], is_positive_definite=True))


def complex_diagonal(tf, tmp):
    make = lambda: tf.linalg.LinearOperatorDiag(np.array([1 + 1j, 2 - 1j, 3j], np.complex64))  # noqa: E731
    op, x = make(), _X.astype(np.complex64)
    return str(_plain(tf, [op.matmul(x), op.matmul(x, adjoint=True), op.solve(x), op.adjoint().to_dense(), op.determinant(),
                           op.is_self_adjoint, op.trace()]))


def full_matrix(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorFullMatrix(_A))


def full_matrices(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorFullMatrix(np.stack([_A, _A.T + 1])))


def positive_definite_matrix(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorFullMatrix(_A @ _A.T, is_self_adjoint=True, is_positive_definite=True))


def matrix_that_is_not_square(tf, tmp):
    op = tf.linalg.LinearOperatorFullMatrix(_A[:2])
    return [_tried(tf, f) for f in (lambda: op.matmul(_X), lambda: op.solve(_X[:2]), op.determinant, op.inverse, op.to_dense,
                                    op.diag_part, lambda: op.is_square, lambda: op.adjoint().matmul(_X[:2]))]


def identity(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorIdentity(3))


def identities(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorIdentity(3, batch_shape=[2]))


def scaled_identity(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorScaledIdentity(3, 2.5))


def lower_triangular(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorLowerTriangular(_A))


def composition(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorComposition(
        [tf.linalg.LinearOperatorFullMatrix(_A), tf.linalg.LinearOperatorDiag(_D)]))


def adjoint(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorFullMatrix(_A)))


def inversion(tf, tmp):
    return _all(tf, lambda: tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorFullMatrix(_A)))


def blocks(tf, tmp):
    made = _all(tf, lambda: tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorFullMatrix(_A[:2, :2]), tf.linalg.LinearOperatorDiag(_D[:1])]))
    op = tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorFullMatrix(_A[:2, :2]), tf.linalg.LinearOperatorDiag(_D[:1])])
    return [made, str(_plain(tf, op.matmul([_X[:2], _X[:1]])))]


def refused(tf, tmp):
    linalg = tf.linalg
    return [_tried(tf, f) for f in (
        lambda: linalg.LinearOperatorDiag(3.0), lambda: linalg.LinearOperatorFullMatrix([1.0]), lambda: linalg.LinearOperatorIdentity(-1),
        lambda: linalg.LinearOperatorIdentity(3, is_square=False), lambda: linalg.LinearOperatorComposition([]),
        lambda: linalg.LinearOperatorFullMatrix(_A, is_positive_definite=True, is_non_singular=False),
        lambda: linalg.LinearOperatorFullMatrix(_A).matmul(_X[:2]), lambda: linalg.LinearOperatorFullMatrix(_A).matvec(_X[:2, 0]),
        lambda: linalg.LinearOperatorFullMatrix(np.zeros((2, 2), np.float32)).assert_non_singular(),
        lambda: linalg.LinearOperatorDiag([1.0, 0.0]).assert_non_singular(),
        lambda: linalg.LinearOperatorDiag([1.0, -1.0]).assert_positive_definite(),
        lambda: linalg.LinearOperatorComposition([linalg.LinearOperatorDiag(_D), linalg.LinearOperatorDiag(_D.astype(np.float64))]))]


def variables_and_gradients(tf, tmp):
    v = tf.Variable(_D)
    op = tf.linalg.LinearOperatorDiag(v)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(op.solve(_X) ** 2)
    found = [len(op.trainable_variables), tape.gradient(y, v)]
    v.assign(2 * v)
    return str(_plain(tf, found + [op.matvec(_X[:, 0])]))


def in_a_function(tf, tmp):
    @tf.function
    def f(a, d, x):
        return tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorFullMatrix(a), tf.linalg.LinearOperatorDiag(d)]).solve(x)

    return str(_plain(tf, f(_A, _D, _X)))


def parameters(tf, tmp):
    return sorted(tf.linalg.LinearOperatorDiag(_D).parameters), sorted(tf.linalg.LinearOperatorIdentity(2).parameters)
