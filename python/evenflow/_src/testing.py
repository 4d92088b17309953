"""tf.test: a TestCase with assertions about tensors, and gradients computed by finite differences.

It is imported when one of its names is first used, because it needs unittest."""
import contextlib
import importlib
import random
import re
import tempfile
import threading
import unittest

import numpy as np

from . import errors, graph, nest, ragged_value, session, tape
from .dtypes import as_dtype
from .namespace import own

_SEED = 87654321


def _base():
    """The TestCase of absl if absl is installed, as in TensorFlow; else that of the standard library."""
    try:
        return importlib.import_module("absl.testing.absltest").TestCase
    except ImportError:
        return unittest.TestCase


def get_temp_dir():
    """A directory for files of this program's tests, which is removed when the program ends."""
    if not _folders:
        _folders.append(tempfile.TemporaryDirectory(prefix="evenflow_test"))
    return _folders[0].name


_folders = []


def main(argv=None):
    """Runs all tests of the program."""
    base = _base()
    if base is unittest.TestCase:
        return unittest.main(argv=argv)
    return importlib.import_module("absl.testing.absltest").main(argv=argv)


def _value(x):
    """An eager value as a numpy array, or as a tuple of arrays for a composite tensor."""
    kind = type(x).__name__
    if kind == "SparseTensor":
        return own("compat.v1", "SparseTensorValue")(_value(x.indices), _value(x.values), _value(x.dense_shape))
    if kind == "RaggedTensor":
        return ragged_value.RaggedTensorValue(_value(x.values), _value(x.row_splits))
    if kind == "IndexedSlices":
        return own("compat.v1", "IndexedSlicesValue")(_value(x.values), _value(x.indices), x.dense_shape)
    return x.numpy() if hasattr(x, "numpy") else x


def _array(x):
    """The elements of a value as an array, for comparisons."""
    if hasattr(x, "to_list"):
        return np.array(x.to_list(), dtype=object) if not isinstance(x, np.ndarray) else x
    return x if isinstance(x, np.ndarray) else np.array(x)


def _float(array):
    """bfloat16 and float8 arrays as float32, which numpy can compare."""
    return array.astype(np.float32) if array.dtype.kind == "V" or "float8" in array.dtype.name or array.dtype.name == "bfloat16" else array


class CheckedThread:
    """A thread whose failure fails the test that joins it."""

    def __init__(self, test, target, args=None, kwargs=None):
        self._test, self._target, self._args, self._kwargs = test, target, args or (), kwargs or {}
        self._failed = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self._target(*self._args, **self._kwargs)
        except BaseException as e:  # noqa: BLE001 (join() reports it)
            self._failed = e

    def start(self):
        """Starts the thread."""
        self._thread.start()

    def join(self):
        """Waits until the thread ends. Fails the test if the thread failed."""
        self._thread.join()
        if self._failed is not None:
            self._test.fail(f"Error in checkedThread: {self._failed}")

    def is_alive(self):
        """Whether the thread is running."""
        return self._thread.is_alive()


class TestCase(_base()):
    """A unittest.TestCase with assertions about tensors."""

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._threads, self._folder, self._cached = [], None, None

    def setUp(self):
        """Sets the random seeds, and resets the default graph in graph mode, before each test."""
        super().setUp()
        self._forget_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        if not graph.executing_eagerly():
            own("compat.v1", "reset_default_graph")()
            own("compat.v1", "set_random_seed")(_SEED)
        else:
            own("random", "set_seed")(_SEED)

    def tearDown(self):
        """Fails the test if one of its checked threads is still running."""
        alive = [t for t in self._threads if t.is_alive()]
        self._threads = []
        self._forget_session()
        super().tearDown()
        if alive:
            self.fail("A checkedThread was not terminated")

    def get_temp_dir(self):
        """A new, empty directory for this test."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    def checkedThread(self, target, args=None, kwargs=None):  # noqa: N802
        """A thread whose failure fails this test. The test must start() and join() it."""
        made = CheckedThread(self, target, args, kwargs)
        self._threads.append(made)
        return made

    # ---- values -------------------------------------------------------------------------------------------------------

    def evaluate(self, tensors):
        """The values of tensors in any structure. In a graph, they are computed in the default session."""
        if graph.executing_eagerly():
            return nest.map_structure(lambda x: _value(x() if callable(x) and not hasattr(x, "numpy") else x), tensors)
        found = own("compat.v1", "get_default_session")()
        if found is not None:
            return found.run(tensors)
        with self.test_session() as made:
            return made.run(tensors)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):  # noqa: ARG002
        """A new session for this test. With eager execution it is an object that cannot run anything."""
        if _eager():
            yield _Eager()
            return
        with session.Session(graph=graph, config=config) as made:
            yield made

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):  # noqa: ARG002
        """Like `session`, but returns the same session each time within a test."""
        if _eager():
            yield _Eager()
            return
        if self._cached is None:
            self._cached = session.Session(graph=graph, config=config)
        elif graph is not None and self._cached.graph is not graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to create the session. "
                             "Maybe create a new session with self.session()")
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def test_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """cached_session, or a new session if a graph is given."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return (self.cached_session if graph is None else self.session)(graph, config, use_gpu, force_gpu)

    def _forget_session(self):
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def _get(self, x):
        """`x` as an array."""
        if not isinstance(x, np.ndarray):
            x = _array(self.evaluate(x) if _is_tensor(x) or isinstance(x, (list, tuple)) and any(map(_is_tensor, nest.flatten(x))) else x)
        return x

    # ---- equal and close -------------------------------------------------------------------------------------------------

    def _same_shape(self, a, b, msg):
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}")

    def _parts(self, a, b, check, path, msg):
        """Compares two structures recursively. Returns False if they are not structures."""
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
        if isinstance(a, dict):
            self.assertEqual(set(a), set(b), f"mismatched keys at {path}: {sorted(map(str, a))} and {sorted(map(str, b))}. {msg or ''}")
            for k in a:
                check(a[k], b[k], f"{path}[{k}]")
            return True
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not (_flat_numbers(a) and _flat_numbers(b)):
            self.assertEqual(len(a), len(b), f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} items. {msg or ''}")
            for k, (x, y) in enumerate(zip(a, b)):
                check(x, y, f"{path}[{k}]")
            return True
        return False

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        """Asserts that two structures of arrays or tensors are equal up to rtol and atol."""
        def check(x, y, path):
            if not self._parts(x, y, check, path, msg):
                self._close(x, y, rtol, atol, path, msg)

        check(a, b, "")

    def _close(self, a, b, rtol, atol, path, msg):
        a, b = _float(self._get(a)), _float(self._get(b))
        if a.dtype == object or b.dtype == object:
            self.assertEqual(a.tolist(), b.tolist(), msg)
            return
        self._same_shape(a, b, msg)
        if not np.allclose(a, b, rtol=rtol, atol=atol):
            bad = np.flatnonzero(~np.isclose(a, b, rtol=rtol, atol=atol).ravel())
            x, y = a.ravel()[bad], b.ravel()[bad]
            text = (f"Mismatched value: a{path} is different from b{path}. {msg or ''}\nnot close where = {bad[:20].tolist()}\n"
                    f"not close lhs = {x[:20]}\nnot close rhs = {y[:20]}\ndtype = {a.dtype}, shape = {a.shape}")
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=text)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,  # noqa: N802
                                      half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """assertAllClose with the tolerances of the less precise of the two dtypes."""
        names = {self._get(x).dtype.name for x in (a, b)}
        for some, r, t in (({"float32", "complex64"}, float_rtol, float_atol), ({"float16"}, half_rtol, half_atol),
                           ({"bfloat16"}, bfloat16_rtol, bfloat16_atol)):
            if names & some:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        """Asserts that two values are not close in at least one element."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a, b, msg=None):  # noqa: N802
        """Asserts that two values have the same shape and equal elements. NaN equals NaN."""
        if type(a).__name__.startswith("RaggedTensor") or type(b).__name__.startswith("RaggedTensor"):
            a, b = (v.to_list() if hasattr(v, "to_list") else v.tolist() if hasattr(v, "tolist") else v
                    for v in (self.evaluate(x) if _is_tensor(x) else x for x in (a, b)))
            self.assertEqual(_as_bytes(a), _as_bytes(b), msg)
            return
        a, b = self._get(a), self._get(b)
        if a.size <= 500:
            text = f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''} Contents: {a!r} and {b!r}"
        else:
            text = f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}"
        if "S" in (a.dtype.kind, b.dtype.kind) or "O" in (a.dtype.kind, b.dtype.kind) or "U" in (a.dtype.kind, b.dtype.kind):
            a, b = (np.array([_as_bytes(v) for v in x.ravel().tolist()], object).reshape(x.shape) for x in (a, b))
        self.assertEqual(a.shape, b.shape, text)
        same = a == b
        if a.dtype.kind in "fcV" or b.dtype.kind in "fcV":
            same = np.logical_or(same, np.logical_and(np.isnan(_float(a)), np.isnan(_float(b))))
        if not np.all(same):
            bad = np.flatnonzero(~np.asarray(same).ravel())
            text = (f"{msg or ''}\nnot equal where = {bad[:20].tolist()}\nnot equal lhs = {a.ravel()[bad][:20]!r}\n"
                    f"not equal rhs = {b.ravel()[bad][:20]!r}")
            raise AssertionError(text)

    def assertNotAllEqual(self, a, b, msg=None):  # noqa: N802
        """Asserts that at least one element differs."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertNear(self, f1, f2, err, msg=None):  # noqa: N802
        """Asserts that two numbers differ by at most err."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err}{f' ({msg})' if msg is not None else ''}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):  # noqa: N802
        """Asserts that the numbers of two lists differ by at most err each."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2):
            self.assertNear(float(a), float(b), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):  # noqa: N802
        """Asserts that the Euclidean distance of two arrays is below err."""
        a, b = self._get(ndarray1), self._get(ndarray2)
        self.assertTrue(a.shape == b.shape and np.linalg.norm(a - b) < err, msg)

    # ---- bounds -----------------------------------------------------------------------------------------------------------

    def _holds(self, good, values, words):
        if not np.all(good):
            bad = np.argwhere(~np.atleast_1d(good))
            raise AssertionError(f"{words}; {len(bad)} of {values.size} elements are not, first at {bad[0].tolist()}: "
                                 f"{np.atleast_1d(values)[tuple(bad[0])]!r}")

    def assertAllGreater(self, a, comparison_target):  # noqa: N802
        """Asserts that every element is greater than the target."""
        a = self._get(a)
        self._holds(a > comparison_target, a, f"all elements must be > {comparison_target}")

    def assertAllLess(self, a, comparison_target):  # noqa: N802
        """Asserts that every element is less than the target."""
        a = self._get(a)
        self._holds(a < comparison_target, a, f"all elements must be < {comparison_target}")

    def assertAllGreaterEqual(self, a, comparison_target):  # noqa: N802
        """Asserts that every element is greater than or equal to the target."""
        a = self._get(a)
        self._holds(a >= comparison_target, a, f"all elements must be >= {comparison_target}")

    def assertAllLessEqual(self, a, comparison_target):  # noqa: N802
        """Asserts that every element is less than or equal to the target."""
        a = self._get(a)
        self._holds(a <= comparison_target, a, f"all elements must be <= {comparison_target}")

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):  # noqa: N802
        """Asserts that every element lies between the bounds. NaN does not."""
        a = self._get(target)
        if a.dtype.kind not in "fiu" and a.dtype.name != "bfloat16":
            raise AssertionError(f"The value of {target} does not have an ordered numeric type, instead it has type: {a.dtype}")
        a = _float(a)
        above = a > lower_bound if open_lower_bound else a >= lower_bound
        below = a < upper_bound if open_upper_bound else a <= upper_bound
        edges = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
        self._holds(above & below, a, f"all elements must lie in {edges}")

    def assertAllInSet(self, target, expected_set):  # noqa: N802
        """Asserts that every element is in a set."""
        a = self._get(target)
        extra = sorted(set(a.ravel().tolist()) - set(np.asarray(list(expected_set)).tolist()), key=str)
        if extra:
            raise AssertionError(f"{len(extra)} different elements are not in the set {expected_set}: {extra[:20]}")

    # ---- dtypes, shapes, words -----------------------------------------------------------------------------------------------

    def assertDTypeEqual(self, target, expected_dtype):  # noqa: N802
        """Asserts that a value has a dtype, which may be a numpy or a TensorFlow dtype."""
        found = as_dtype(target.dtype if hasattr(target, "dtype") else self._get(target).dtype)
        self.assertEqual(found, as_dtype(expected_dtype))

    def assertShapeEqual(self, input_a, input_b, msg=None):  # noqa: N802
        """Asserts that two tensors or arrays have the same shape."""
        for x in (input_a, input_b):
            if not hasattr(x, "shape"):
                raise TypeError(f"assertShapeEqual: need a tensor or an array, got {x!r}")
        self.assertAllEqual(list(input_a.shape), list(input_b.shape), msg=msg)

    def assertStartsWith(self, actual, expected_start, msg=None):  # noqa: N802
        """Asserts that a string starts with another."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}{f' : {msg}' if msg is not None else ''}")

    def assertDeviceEqual(self, device1, device2, msg=None):  # noqa: N802
        """Asserts that two names refer to the same device."""
        one, other = (own("", "DeviceSpec").from_string(d or "").to_string() for d in (device1, device2))
        self.assertEqual(one, other, f"Devices {device1} and {device2} are not equal. {msg or ''}")

    # ---- errors -----------------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):  # noqa: N802
        """Asserts that the block raises the exception, and that its message matches a regular expression or a predicate."""
        matches = expected_err_re_or_predicate
        if not callable(matches):
            def matches(e, pattern=expected_err_re_or_predicate):
                return bool(re.search(pattern, e.message if isinstance(e, errors.OpError) else str(e)))
        try:
            yield
        except Exception as e:  # noqa: BLE001 (its type is checked below)
            if not isinstance(e, exception_type) or not matches(e):
                raise AssertionError(f"Exception of type {type(e)}: {e}") from e
            return
        self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):  # noqa: N802
        """Asserts that the block raises an OpError whose message matches."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=errors.InvalidArgumentError):  # noqa: N802
        """Asserts that the block raises an error about incompatible shapes."""
        return self.assertRaisesWithPredicateMatch(exception_type, r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes")


class _Eager:
    """The object that `session` yields with eager execution. It cannot run anything."""

    def run(self, *args, **kwargs):
        """Raises AttributeError, because there is no graph to run."""
        raise AttributeError("under eager execution a test's session has nothing to run; use self.evaluate(tensor)")

    def __getattr__(self, name):
        raise AttributeError(f"under eager execution a test's session has no {name!r}; use self.evaluate(tensor)")


def _eager():
    return graph.executing_eagerly()


def _is_tensor(x):
    return hasattr(x, "numpy") or hasattr(x, "op") or type(x).__name__ in ("SparseTensor", "RaggedTensor", "IndexedSlices")


def _flat_numbers(x):
    """Whether a nested list is rectangular and without tensors, so that it is compared as one array."""
    try:
        return not any(map(_is_tensor, nest.flatten(x))) and np.array(x).dtype != object
    except ValueError:
        return False


def _as_bytes(x):
    if isinstance(x, (list, tuple)):
        return [_as_bytes(v) for v in x]
    return x.encode() if isinstance(x, str) else x


# ---- gradients by differences ----------------------------------------------------------------------------------------------------


def _reals(x):
    """The elements of an array as a vector of real numbers, which shares its memory."""
    flat = np.ascontiguousarray(x).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _numeric(f, x, k, delta):
    values = [np.array(v) for v in x]
    step = _reals(values[k])
    y = _reals(np.asarray(f(*values)))
    made = np.zeros((step.size, y.size), np.float32 if y.dtype.name in ("float16", "bfloat16") else y.dtype)
    values[k] = step.view(values[k].dtype).reshape(values[k].shape)
    for i in range(step.size):
        kept = step[i]
        step[i] = kept + delta
        above = _reals(np.asarray(f(*values))).astype(made.dtype)
        step[i] = kept - delta
        below = _reals(np.asarray(f(*values))).astype(made.dtype)
        step[i] = kept
        made[i] = (above - below) / (2 * delta)
    return made


def _derived(f, x, k):
    convert = own("", "convert_to_tensor")
    given = [convert(v) for v in x]
    with tape.GradientTape(persistent=True) as t:
        t.watch(given[k])
        y = f(*given)
        seeds = np.zeros(y.shape, y.dtype.as_numpy_dtype)
    row = _reals(seeds)
    made = np.zeros((_reals(x[k]).size, row.size), np.float32 if x[k].dtype.name in ("float16", "bfloat16") else _reals(x[k]).dtype)
    for j in range(row.size):
        row[j] = 1
        found = t.gradient(y, given[k], convert(row.view(seeds.dtype).reshape(seeds.shape)))
        if found is not None:
            made[:, j] = _reals(np.asarray(convert(found))).astype(made.dtype)
        row[j] = 0
    return made


def compute_gradient(f, x, delta=None):
    """The Jacobians of `f` at the arguments `x`, computed by a tape and by finite differences: two lists of matrices with a
    row for each element of the result and a column for each element of an argument."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to be passed to `f`), "
                         f"not a {type(x)}")
    x = [np.asarray(own("", "convert_to_tensor")(v)) for v in x]
    step = 1.0 / 1024 if delta is None else delta

    def at(*values):
        return np.asarray(f(*(own("", "convert_to_tensor")(v) for v in values)))

    return ([_derived(f, x, k).T for k in range(len(x))], [_numeric(at, x, k, step).T for k in range(len(x))])


def v1_compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """The Jacobian of a tensor `y` of the default graph with respect to `x`, or a list of them: pairs of matrices, computed
    by gradients and by finite differences."""
    sess = own("compat.v1", "get_default_session")()
    if sess is None:
        raise ValueError("No default session is registered. Use `with sess.as_default()` around compute_gradient")
    for op in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets] if init_targets is not None else []:
        sess.run(op)
    many = isinstance(x, (list, tuple))
    xs, shapes = (x, x_shape) if many else ([x], [x_shape])
    starts = x_init_value if many and x_init_value is not None else [x_init_value] * len(xs)
    starts = [np.asarray(np.random.random_sample(s) if v is None else v, t.dtype.as_numpy_dtype) for v, s, t in zip(starts, shapes, xs)]
    base = dict(extra_feed_dict or {})
    base.update(zip(xs, starts))
    made = []
    for one, start in zip(xs, starts):
        seed = own("", "zeros")(y_shape, y.dtype)
        grad = own("compat.v1", "gradients")(y, one, seed)[0]
        seeds = np.zeros(y_shape, y.dtype.as_numpy_dtype)
        row = _reals(seeds)
        derived = np.zeros((_reals(start).size, row.size), _reals(start).dtype)
        for j in range(row.size):
            row[j] = 1
            if grad is not None:
                derived[:, j] = _reals(sess.run(grad, {**base, seed: row.view(seeds.dtype).reshape(y_shape)}))
            row[j] = 0
        made.append((derived, _numeric(lambda v, at=one: sess.run(y, {**base, at: v}), [start], 0, delta)))
    return made if many else made[0]


def _largest(pairs):
    return max((np.abs(a - b).max() for a, b in pairs if a.size), default=0.0)


def v1_compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """The largest difference between the two matrices of compute_gradient."""
    found = v1_compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    return _largest(found if isinstance(found, list) else [found])


TestCase.__module__ = "tensorflow.python.framework.test_util"
mock = importlib.import_module("unittest.mock")
PUBLIC = {"TestCase": TestCase, "main": main, "compute_gradient": compute_gradient}
PUBLIC_V1 = {**PUBLIC, "mock": mock, "get_temp_dir": get_temp_dir, "compute_gradient": v1_compute_gradient, "compute_gradient_error": v1_compute_gradient_error}
