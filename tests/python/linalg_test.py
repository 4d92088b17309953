"""Linear algebra: factors, systems and functions of matrices, eagerly and in functions."""
import numpy as np
import pytest

import evenflow as tf

L = tf.linalg
A = np.array([[[4, 1, 2], [1, 3, 1], [0.5, 1, 5]], [[3, 0, 1], [2, 4, 1], [1, 1, 6]]])
B = np.arange(12, dtype=np.float64).reshape(2, 3, 2)


@pytest.fixture(params=[False, True], ids=["eager", "function"])
def run(request):
    """Calls a function as it is, or traced."""
    def call(f, *args):
        args = [tf.constant(x) for x in args]
        return tf.function(f, autograph=False)(*args) if request.param else f(*args)
    return call


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_systems(run):
    close(A @ run(L.solve, A, B).numpy(), B)
    close(A.swapaxes(1, 2) @ run(lambda a, b: L.solve(a, b, adjoint=True), A, B).numpy(), B)
    close(np.tril(A) @ run(L.triangular_solve, A, B).numpy(), B)
    close(run(lambda a, b: L.lu_solve(*L.lu(a), b), A, B), run(L.solve, A, B))
    close(run(lambda a: L.lu_reconstruct(*L.lu(a)), A), A)
    close(run(lambda a: L.lu_matrix_inverse(*L.lu(a)), A), np.linalg.inv(A))


def test_results_have_names():
    assert L.qr(A)._fields == ("q", "r") and L.lu(A)._fields == ("lu", "p")
    assert L.slogdet(A)._fields == ("sign", "log_abs_determinant")
    assert L.lu(A, output_idx_type=tf.int64).p.dtype == tf.int64


def test_functions(run):
    root = run(L.sqrtm, A).numpy()
    close(root @ root, A)
    close(run(lambda a: L.expm(L.logm(a)), A.astype(np.complex128)), A)
    close(run(L.pinv, A[:, :, :2]), np.linalg.pinv(A[:, :, :2]))
    close(run(lambda a: L.norm(a, ord=2, axis=(1, 2)), A), np.linalg.norm(A, 2, axis=(1, 2)))


@pytest.mark.parametrize("f", [L.inv, L.det, L.cholesky, L.eigh, L.lu, L.sqrtm, L.expm])
def test_not_square(f):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be square"):
        f(tf.ones([2, 3]))
    with pytest.raises(ValueError):
        tf.function(f)(tf.ones([2, 3]))


@pytest.mark.parametrize("f", [L.inv, lambda a: L.solve(a, a), L.lu])
def test_singular(run, f):
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        run(f, np.zeros([2, 2]))


def test_what_is_not_positive_definite_has_no_factor():
    assert np.isnan(L.cholesky(tf.constant([[1.0, 2], [2, 1]])).numpy()[1]).all()


@pytest.mark.parametrize("f", [lambda a: L.qr(a)[1], L.svd, lambda a: L.lstsq(a, a)],
                         ids=["qr", "svd", "lstsq"])
def test_gradients_when_sizes_change(f):
    """The second size makes the trace symbolic: gradients must not need the sizes."""
    def slope(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            out = f(a)
            total = tf.reduce_sum(out[0] ** 3 if isinstance(out, tuple) else tf.abs(out) ** 3)
        return tape.gradient(total, a)
    traced = tf.function(slope, autograph=False)
    for shape in (3, 3), (4, 4), (5, 3), (3, 5), (2, 4, 3):
        a = tf.constant(np.random.RandomState(1).randn(*shape))
        close(traced(a), slope(a))


def test_rows_at_once():
    close(tf.vectorized_map(L.inv, A), np.linalg.inv(A))
    close(tf.vectorized_map(lambda a: L.svd(a, compute_uv=False), A),
          np.linalg.svd(A, compute_uv=False))
    close(tf.vectorized_map(lambda b: L.triangular_solve(A[0], b), B), L.triangular_solve(A[0], B))
    close(tf.vectorized_map(lambda b: L.solve(A[0], b), B), np.linalg.solve(A[0], B))
    q, r = tf.vectorized_map(lambda a: tuple(L.qr(a)), A)
    close(q.numpy() @ r.numpy(), A)


INF = np.inf


@pytest.mark.parametrize("matrix, det, sign", [
    ([[INF, 1], [1, 1]], INF, 1),
    ([[1, INF], [1, 1]], -INF, -1),
    ([[-INF]], -INF, -1),
    ([[INF, 2, 0], [0, 1, 2], [3, 1, 1]], -INF, -1),
    ([[INF, INF], [1, 1]], np.nan, np.nan),
    ([[np.nan, 1], [1, 1]], np.nan, np.nan),
    ([[0, 0], [0, INF]], np.nan, 0),
    ([[INF, 3, 4, 5, 6], [3, 4, 9, 2, 0], [2, 5, 8, 3, 8], [1, 6, 7, 4, 7], [2, 3, 4, 5, 6]], -INF, -1),
])
def test_determinants_that_are_not_finite(run, matrix, det, sign):
    for dtype in (np.float32, np.float64):
        a = np.array(matrix, dtype)
        np.testing.assert_equal(run(L.det, a).numpy(), dtype(det))
        np.testing.assert_equal(run(lambda x: L.slogdet(x)[0], a).numpy(), dtype(sign))
    assert np.isnan(run(L.det, np.array([[INF, 1], [1, 1]], np.complex64)).numpy())
