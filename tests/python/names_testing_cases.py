"""tf.test."""
import numpy as np


def _tell(test, checks):
    """Which of the checks pass, by name."""
    told = {}
    for name, check in checks.items():
        try:
            check()
            told[name] = "passes"
        except AssertionError:
            told[name] = "fails"
        except Exception as e:  # noqa: BLE001 (which one is the answer)
            told[name] = type(e).__name__
    return told


def _test(tf):
    test = tf.test.TestCase("__init__")
    test.setUp()
    return test


def close(tf, tmp):
    t, nan = _test(tf), float("nan")
    return _tell(t, {
        "equal": lambda: t.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0])),
        "near": lambda: t.assertAllClose(1.0, 1.0000005),
        "far": lambda: t.assertAllClose(1.0, 1.1),
        "far allowed": lambda: t.assertAllClose(1.0, 1.1, atol=0.2),
        "shapes": lambda: t.assertAllClose([1.0], [1.0, 1.0]),
        "scalar and vector": lambda: t.assertAllClose(1.0, [1.0]),
        "nan": lambda: t.assertAllClose([nan], [nan]),
        "dicts": lambda: t.assertAllClose({"a": tf.ones(2), "b": [1.0]}, {"a": np.ones(2), "b": [1.0]}),
        "keys": lambda: t.assertAllClose({"a": 1.0}, {"b": 1.0}),
        "dict and list": lambda: t.assertAllClose({"a": 1.0}, [1.0]),
        "nested": lambda: t.assertAllClose([tf.ones(2), tf.zeros(3)], (np.ones(2), np.zeros(3))),
        "nested far": lambda: t.assertAllClose([tf.ones(2), tf.zeros(3)], (np.ones(2), np.ones(3))),
        "lengths": lambda: t.assertAllClose([tf.ones(2), tf.zeros(3)], [np.ones(2)]),
        "half": lambda: t.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0009])),
        "half is not single": lambda: t.assertAllCloseAccordingToType(np.float32([1.0]), np.float32([1.0009])),
        "bfloat16": lambda: t.assertAllCloseAccordingToType(tf.constant([1.0], tf.bfloat16), tf.constant([1.0078], tf.bfloat16)),
        "not close": lambda: t.assertNotAllClose([1.0], [2.0]),
        "not close but is": lambda: t.assertNotAllClose([1.0], [1.0]),
        "variable": lambda: t.assertAllClose(tf.Variable([3.0]), [3.0]),
    })


def equal(tf, tmp):
    t, nan = _test(tf), float("nan")
    return _tell(t, {
        "equal": lambda: t.assertAllEqual([1, 2], tf.constant([1, 2])),
        "unequal": lambda: t.assertAllEqual([1, 2], tf.constant([1, 3])),
        "shapes": lambda: t.assertAllEqual([[1, 2]], [1, 2]),
        "nan": lambda: t.assertAllEqual([nan, 1.0], [nan, 1.0]),
        "strings": lambda: t.assertAllEqual([b"a", b"b"], tf.constant(["a", "b"])),
        "other strings": lambda: t.assertAllEqual([b"a", b"c"], tf.constant(["a", "b"])),
        "ragged": lambda: t.assertAllEqual(tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]]),
        "ragged unequal": lambda: t.assertAllEqual(tf.ragged.constant([[1], [2, 3]]), [[1], [2, 4]]),
        "bools": lambda: t.assertAllEqual([True, False], tf.constant([1, 2]) < 2),
        "not equal": lambda: t.assertNotAllEqual([1, 2], [1, 3]),
        "not equal but is": lambda: t.assertNotAllEqual([1, 2], [1, 2]),
        "empty": lambda: t.assertAllEqual(tf.zeros([0, 2]), np.zeros([0, 2])),
        "near": lambda: t.assertNear(1.0, 1.05, 0.1),
        "not near": lambda: t.assertNear(1.0, 1.5, 0.1),
        "arrays near": lambda: t.assertArrayNear([1.0, 2.0], [1.01, 2.01], 0.1),
        "arrays not near": lambda: t.assertArrayNear([1.0, 2.0], [1.01, 2.5], 0.1),
        "nd": lambda: t.assertNDArrayNear(np.ones((2, 2)), np.ones((2, 2)), 0.1),
        "nd far": lambda: t.assertNDArrayNear(np.ones((2, 2)), np.zeros((2, 2)), 0.1),
    })


def bounds(tf, tmp):
    t, x = _test(tf), tf.constant([1.0, 2.0, 3.0])
    return _tell(t, {
        "in": lambda: t.assertAllInRange(x, 1.0, 3.0), "open": lambda: t.assertAllInRange(x, 1.0, 3.0, open_lower_bound=True),
        "open above": lambda: t.assertAllInRange(x, 1.0, 3.0, open_upper_bound=True), "out": lambda: t.assertAllInRange(x, 1.5, 3.0),
        "nan": lambda: t.assertAllInRange([float("nan")], 1.0, 3.0), "text": lambda: t.assertAllInRange(tf.constant(["a"]), 1, 3),
        "greater": lambda: t.assertAllGreater(x, 0.5), "not greater": lambda: t.assertAllGreater(x, 1.0),
        "less": lambda: t.assertAllLess(x, 4), "not less": lambda: t.assertAllLess(x, 3),
        "at least": lambda: t.assertAllGreaterEqual(x, 1), "at most": lambda: t.assertAllLessEqual(x, 2),
        "set": lambda: t.assertAllInSet(tf.constant([1, 2, 1]), {1, 2}), "not in set": lambda: t.assertAllInSet(tf.constant([1, 2, 5]), {1, 2}),
    })


def facts(tf, tmp):
    t = _test(tf)
    return _tell(t, {
        "dtype": lambda: t.assertDTypeEqual(tf.ones(2), np.float32), "other dtype": lambda: t.assertDTypeEqual(tf.ones(2), tf.float64),
        "array's": lambda: t.assertDTypeEqual(np.ones(2), tf.float64), "shape": lambda: t.assertShapeEqual(np.ones((2, 3)), tf.ones((2, 3))),
        "other shape": lambda: t.assertShapeEqual(np.ones((2, 3)), tf.ones((2, 4))), "starts": lambda: t.assertStartsWith("abc", "ab"),
        "does not start": lambda: t.assertStartsWith("abc", "b"),
    })


def raising(tf, tmp):
    t = _test(tf)

    def caught(context, f):
        with context:
            f()

    def fails():
        tf.reshape(tf.ones(3), [2])

    return _tell(t, {
        "op error": lambda: caught(t.assertRaisesOpError("reshape"), fails), "other text": lambda: caught(t.assertRaisesOpError("xyz"), fails),
        "none": lambda: caught(t.assertRaisesOpError("reshape"), lambda: None),
        "other error": lambda: caught(t.assertRaisesOpError("reshape"), lambda: int("x")),
        "predicate": lambda: caught(t.assertRaisesWithPredicateMatch(ValueError, lambda e: "x" in str(e)), lambda: int("x")),
        "predicate says no": lambda: caught(t.assertRaisesWithPredicateMatch(ValueError, lambda e: False), lambda: int("x")),
        "pattern": lambda: caught(t.assertRaisesWithPredicateMatch(ValueError, "inv.lid"), lambda: int("x")),
        "plain": lambda: caught(t.assertRaisesRegex(ValueError, "inv.lid"), lambda: int("x")),
    })


def evaluated(tf, tmp):
    t = _test(tf)
    got = t.evaluate({"a": tf.constant([1, 2]), "b": (tf.Variable(3.0), [None, tf.constant("x")])})
    sparse = t.evaluate(tf.sparse.from_dense([0, 3]))
    return got, type(sparse).__name__, sparse.values, type(t.evaluate(tf.ragged.constant([[1], []]))).__name__


def in_graph(tf, tmp):
    t = _test(tf)
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=[1.0, 2.0])
        with t.cached_session() as sess:
            sess.run(tf.compat.v1.global_variables_initializer())
            first = t.evaluate(v * 2)
            t.assertAllClose(v, [1.0, 2.0])
            with t.cached_session() as again:
                same = again is sess
        with t.session() as own:
            new = own is not sess
    t.tearDown()
    return first, same, new


def whole_suite(tf, tmp):
    import unittest

    class Some(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            self.x = tf.constant([1.0, 2.0])

        def test_good(self):
            self.assertAllClose(self.x * 2, [2.0, 4.0])
            self.assertLen([1, 2], 2)

        def test_bad(self):
            self.assertAllClose(self.x, [1.0, 3.0])

        def test_thread(self):
            thread = self.checkedThread(lambda: self.assertEqual(1, 2))
            thread.start()
            thread.join()

        def test_folder(self):
            with open(self.get_temp_dir() + "/f", "w") as f:
                f.write("x")

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Some).run(result)
    return result.testsRun, sorted(t.id().split(".")[-1] for t, _ in result.failures), len(result.errors)


def seeds(tf, tmp):
    t = _test(tf)
    a = tf.random.uniform([2]).numpy()
    t.setUp()
    return bool((tf.random.uniform([2]).numpy() == a).all()), np.random.rand(1)


def gradients(tf, tmp):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = np.array([0.5, -1.0], np.float32)
    theory, numeric = tf.test.compute_gradient(lambda a, b: tf.linalg.matvec(a, b) ** 2, [x, y])
    close = [bool(np.allclose(a, b, atol=0.05)) for a, b in zip(theory, numeric)]
    z, zn = tf.test.compute_gradient(lambda a: a * a, [np.array([1 + 2j, 3 - 1j])])
    return theory, [list(n.shape) for n in numeric], close, z, bool(np.allclose(z[0], zn[0]))


def gradients_of_a_tensor(tf, tmp):
    return tf.test.compute_gradient(lambda a: a * a, tf.ones(2))


def gradients_v1(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2, 2])
        y = tf.reduce_sum(x * x, 1)
        start = np.array([[1, 2], [3, 4]], np.float32)
        theory, numeric = tf.compat.v1.test.compute_gradient(x, [2, 2], y, [2], x_init_value=start)
        error = tf.compat.v1.test.compute_gradient_error(x, [2, 2], y, [2], x_init_value=start)
    return theory, bool(np.allclose(theory, numeric, atol=0.01)), error < 0.01


def mocks(tf, tmp):
    import os

    with tf.compat.v1.test.mock.patch.object(os, "getcwd", return_value="elsewhere"):
        return os.getcwd()
