"""tf.experimental.numpy against numpy: values, and TensorFlow's dtypes where they differ."""
import numpy as np
import pytest

import evenflow as tf

n = tf.experimental.numpy
INTS = np.array([[1, -2, 3], [4, 5, -6]], np.int32)
FLOATS = np.array([[1.5, -2.25, 0.0], [0.5, 3.0, -7.0]], np.float32)
CUBE = np.arange(24).reshape(2, 3, 4)
CASES = [
    ("arctan", (FLOATS,)), ("arcsinh", (FLOATS,)), ("deg2rad", (FLOATS,)), ("exp2", (FLOATS,)), ("cbrt", (FLOATS,)),
    ("fix", (FLOATS,)), ("sinc", (FLOATS,)), ("around", (FLOATS, 1)), ("signbit", (FLOATS,)), ("isposinf", ([np.inf, -np.inf],)),
    ("logaddexp", (FLOATS, FLOATS)), ("hypot", (FLOATS, FLOATS)), ("heaviside", (FLOATS, 0.5)), ("arctan2", (FLOATS, FLOATS)),
    ("gcd", ([12, 18, 0], [18, 0, 0])), ("lcm", ([4, 0, -6], [6, 3, 4])), ("bitwise_xor", (INTS, INTS[::-1])),
    ("logical_xor", (INTS, FLOATS)), ("polyval", ([1, 2, 3], [[1, 2]])), ("append", (INTS, INTS)), ("append", (INTS, INTS, 0)),
    ("hstack", ([[1, 2], [3]],)), ("vstack", ([[1, 2], [3, 4]],)), ("dstack", ([[1, 2], [3, 4]],)), ("kron", ([1, 2], [[1, 2], [3, 4]])),
    ("repeat", (INTS, 2)), ("repeat", (INTS, [1, 2], 0)), ("pad", (INTS, 1, "constant")), ("pad", ([1, 2, 3], (1, 1), "reflect")),
    ("flip", (INTS, 1)), ("roll", (INTS, 1)), ("roll", (INTS, (1, 2), (0, 1))), ("rot90", (CUBE, 3, (0, 2))), ("rot90", (INTS, -1)),
    ("sort", (INTS, 0)), ("argsort", (INTS, 0)), ("take_along_axis", (INTS, np.array([[0], [1]]), 1)), ("compress", ([True, False], INTS, 0)),
    ("diag", ([1, 2, 3], 1)), ("diagonal", (CUBE, -1, 0, 2)), ("trace", (CUBE, 0, 1, 2)), ("tril", (CUBE, 1)), ("triu", (CUBE, -1)),
    ("vander", ([1, 2, 3], 2)), ("tri", (2, 3, 1)), ("identity", (2,)), ("cumprod", (INTS, 1)), ("ptp", (INTS, 0)),
    ("nansum", ([[1.0, np.nan]], 1)), ("nanmean", ([[1.0, np.nan]], 1)), ("average", (FLOATS, 1, [1.0, 2.0, 1.0])), ("diff", (INTS, 2)),
    ("cross", ([1, 2, 3], [4, 5, 6])), ("cross", ([1, 2], [4, 5])), ("dot", (INTS, INTS.T)), ("inner", (INTS, INTS)), ("vdot", (INTS, INTS)),
    ("outer", ([1, 2], [3, 4])), ("tensordot", (INTS, INTS.T, 1)), ("einsum", ("ij,kj->ik", INTS, INTS)), ("clip", (INTS, 0, 2)),
    ("logspace", (0, 2, 3)), ("geomspace", (1.0, 1000.0, 4)), ("full_like", (INTS, 2)), ("empty_like", (INTS,)),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name, args", CASES, ids=[f"{c[0]}-{k}" for k, c in enumerate(CASES)])
def test_as_numpy(name, args):
    want = getattr(np, name)(*args)
    want = np.zeros_like(want) if name == "empty_like" else want
    found = getattr(n, name)(*args)
    assert tuple(found.shape) == want.shape
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-5, atol=1e-6)


def test_several_results():
    for name, args in (("hsplit", (CUBE, 3)), ("vsplit", (CUBE, 2)), ("dsplit", (CUBE, [1, 3])), ("split", ([1, 2, 3, 4], [1, 1, 5])),
                       ("broadcast_arrays", ([1, 2, 3], [[1], [2]])), ("meshgrid", ([1, 2, 3], [4, 5])), ("ix_", ([0, 1], [2, 3]))):
        for found, want in zip(getattr(n, name)(*args), getattr(np, name)(*args), strict=True):
            assert found.numpy().tolist() == want.tolist()
    assert [v.numpy().tolist() for v in n.divmod([7, -7], 3)] == [[2, -3], [1, 2]]
    assert [n.isscalar(v) for v in (3, "a", [3], tf.constant(1))] == [True, True, False, True]
    assert n.ndim(CUBE) == 3 and n.size(CUBE) == 24 and n.shape(CUBE) == [2, 3, 4]


def test_lists_of_numbers_give_way():
    assert n.add(INTS, [1, 2, 3]).dtype == tf.int32
    assert n.add(FLOATS, [1.0, 2.0, 3.0]).dtype == tf.float32
    assert n.add(INTS, [1.0, 2.0, 3.0]).dtype == tf.float64
    assert n.add(np.array([1], np.uint8), True).dtype == tf.uint8
    assert n.add([1], [2]).dtype == tf.int64
    assert n.result_type(INTS, [1, 2]) == tf.int32


def test_what_is_refused():
    with pytest.raises(ValueError):
        n.gcd([1.5], [2])
    with pytest.raises(ValueError):
        n.pad(INTS, 1, "edge")
    with pytest.raises(ValueError):
        n.sort(INTS, kind="heapsort")
    with pytest.raises(tf.errors.InvalidArgumentError):
        n.average(FLOATS, weights=[1.0, 2.0])
