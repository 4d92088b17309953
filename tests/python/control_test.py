"""Control flow: the same values eagerly, traced, with unknown shapes and in plain graphs; TensorFlow's errors."""
import gc

import numpy as np
import pytest

import evenflow as tf

X = tf.constant([1.0, 2.0, 3.0])
M = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
YES, NO = tf.constant(True), tf.constant(False)


def same(a, b):
    a, b = tf.nest.flatten(a, expand_composites=True), tf.nest.flatten(b, expand_composites=True)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        if x is None or y is None:
            assert x is y
            continue
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype and x.shape == y.shape
        if x.dtype.kind in "OSU":
            assert x.tolist() == y.tolist()
        else:
            np.testing.assert_allclose(x, y, rtol=1e-6)


def grown(n):
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a[-1:] + 1.0], 0)), [tf.constant(0), X],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])


def fibonacci(n):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
    ta = ta.write(0, 1).write(1, 1)
    ta = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, t.read(i - 1) + t.read(i - 2))), [2, ta])[1]
    return ta.stack()


def slices(p):
    pick = tf.cond(p, lambda: tf.IndexedSlices(X * 2.0, tf.constant([0, 1, 2])),
                   lambda: tf.IndexedSlices(X, tf.constant([2, 1, 0])))
    return pick.values, pick.indices


PROGRAMS = {
    "cond": (lambda p, x: tf.cond(p, lambda: x * 2.0, lambda: x - 1.0), [(YES, X), (NO, X)]),
    "cond_captured_as_is": (lambda p, x: tf.cond(p, lambda: x, lambda: X), [(YES, X * 2), (NO, X * 2)]),
    "cond_structure": (lambda p, x: tf.cond(p, lambda: {"a": x, "b": [x, (x + 1.0,)]}, lambda: {"a": -x, "b": [x, (x,)]}),
                       [(YES, X), (NO, X)]),
    "cond_none": (lambda p, x: tf.cond(p, lambda: (x, None), lambda: (-x, None)), [(YES, X), (NO, X)]),
    "cond_nested": (lambda p, x: tf.cond(p, lambda: tf.cond(x[0] > 5.0, lambda: x, lambda: x * 3.0), lambda: x), [(YES, X)]),
    "cond_in_loop": (lambda x: tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.cond(i % 2 == 0, lambda: a + 1.0,
                                                                                             lambda: a * 2.0)),
                                             [0, x])[1], [(X,)]),
    "loop_in_cond": (lambda p, x: tf.cond(p, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x),
                                                                  [0, x])[1], lambda: x), [(YES, X), (NO, X)]),
    "cond_slices": (slices, [(YES,), (NO,)]),
    "case": (lambda x: tf.case([(x < 0.0, lambda: x * 10.0), (x < 5.0, lambda: x + 100.0)], default=lambda: x),
             [(tf.constant(-1.0),), (tf.constant(2.0),), (tf.constant(9.0),)]),
    "case_exclusive": (lambda x: tf.case([(x < 0.0, lambda: x), (x > 5.0, lambda: -x)], default=lambda: x * 0.0,
                                         exclusive=True), [(tf.constant(-1.0),), (tf.constant(2.0),), (tf.constant(9.0),)]),
    "switch": (lambda b, x: tf.switch_case(b, [lambda: x, lambda: x * 2.0, lambda: x * 3.0]),
               [(tf.constant(k), X) for k in (0, 1, 2, 7, -3)]),
    "switch_default": (lambda b, x: tf.switch_case(b, {1: lambda: x, 0: lambda: x * 2.0}, default=lambda: -x),
                       [(tf.constant(k), X) for k in (0, 1, 2, -3)]),
    "while": (lambda n, x: tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + 1.0), [0, x]),
              [(tf.constant(k), X) for k in (0, 1, 4)]),
    "while_limited": (lambda n, x: tf.while_loop(lambda a: True, lambda a: (a * 2.0,), [x], maximum_iterations=n)[0],
                      [(tf.constant(3), X), (tf.constant(0), X)]),
    "while_both_limits": (lambda x: tf.while_loop(lambda a: tf.reduce_sum(a) < 30.0, lambda a: (a * 2.0,), [x],
                                                  maximum_iterations=10)[0], [(X,)]),
    "while_nested_structure": (lambda x: tf.while_loop(
        lambda s: s["i"] < 3, lambda s: [{"i": s["i"] + 1, "t": (s["t"][1], s["t"][0] + x)}],
        [{"i": tf.constant(0), "t": (x, x * 2.0)}])[0], [(X,)]),
    "while_grows": (grown, [(tf.constant(0),), (tf.constant(3),)]),
    "while_in_while": (lambda n, x: tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + x),
                                                              [0, a])[1]), [0, x])[1], [(tf.constant(4), X)]),
    "while_of_strings": (lambda n: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s), [0, tf.constant("a")])[1],
                         [(tf.constant(3),)]),
    "fibonacci": (fibonacci, [(tf.constant(8),), (tf.constant(2),)]),
    "map": (lambda x: tf.map_fn(lambda r: tf.reduce_sum(r * r), x), [(M,)]),
    "map_tuple": (lambda x, y: tf.map_fn(lambda t: t[0] * t[1], (x, y), fn_output_signature=tf.float32), [(X, M)]),
    "map_dict": (lambda x: tf.map_fn(lambda r: {"a": r, "b": r > 2.0}, x,
                                     fn_output_signature={"a": tf.float32, "b": tf.bool}), [(X,)]),
    "map_captures": (lambda x, y: tf.map_fn(lambda r: r * y, x), [(X, X * 2.0)]),
    "map_in_map": (lambda x: tf.map_fn(lambda r: tf.map_fn(lambda v: v * 2.0, r), x), [(M,)]),
    "scan": (lambda x: tf.scan(lambda a, r: a * 0.5 + r, x), [(X,), (M,)]),
    "scan_reverse": (lambda x: tf.scan(lambda a, r: a * 0.5 + r, x, reverse=True), [(X,), (M,)]),
    "scan_start": (lambda x: tf.scan(lambda a, r: (a[0] + r, a[0]), x, (tf.constant(0.0), tf.constant(1.0))), [(X,)]),
    "scan_start_reverse": (lambda x: tf.scan(lambda a, r: a - r, x, tf.constant(5.0), reverse=True), [(X,)]),
    "foldl": (lambda x: tf.foldl(lambda a, r: a - r, x), [(X,), (M,)]),
    "foldr": (lambda x: tf.foldr(lambda a, r: a - r, x), [(X,), (M,)]),
    "foldl_start": (lambda x: tf.foldl(lambda a, r: a * 2.0 + r, x, tf.constant(1.0)), [(X,)]),
    "foldr_start": (lambda x: tf.foldr(lambda a, r: a * 2.0 + r, x, tf.constant(1.0)), [(X,)]),
    "foldl_tuple": (lambda x: tf.foldl(lambda a, r: (a[0] + r[0], a[1] * r[1]), (x, x)), [(X,)]),
    "array_rows": (lambda x: tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x).gather([2, 0]), [(X,), (M,)]),
    "array_concat": (lambda x: tf.TensorArray(tf.float32, 2).write(0, x).write(1, x * 2.0).concat(), [(X,), (M,)]),
    "array_scatter": (lambda x: tf.TensorArray(tf.float32, 4).scatter([3, 0, 1], x).stack(), [(X,), (M,)]),
    "array_split": (lambda x: [tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
                               .split(x, [1, 2]).read(k) for k in range(2)], [(X,), (M,)]),
    "array_grows": (lambda x: tf.TensorArray(tf.float32, 0, dynamic_size=True).write(2, x).stack(), [(X,)]),
    "array_size": (lambda x: tf.TensorArray(tf.float32, 7).write(2, x).size(), [(X,)]),
}
CASES = [pytest.param(f, args, id=f"{name}-{k}") for name, (f, calls) in PROGRAMS.items() for k, args in enumerate(calls)]
SMOOTH = [case for case in CASES if any(a.dtype == tf.float32 for a in case.values[1])]


@pytest.mark.parametrize("f, args", CASES)
def test_traced_as_eagerly(f, args):
    same(tf.function(f, autograph=False)(*args), f(*args))


@pytest.mark.parametrize("f, args", CASES)
def test_unknown_shapes(f, args):
    signature = [tf.TensorSpec([None] * a.ndim, a.dtype) for a in args]
    same(tf.function(f, autograph=False, input_signature=signature)(*args), f(*args))


@pytest.mark.parametrize("f, args", SMOOTH)
def test_gradients(f, args):
    sources = [a for a in args if a.dtype == tf.float32]

    def gradients(g):
        with tf.GradientTape() as tape:
            for s in sources:
                tape.watch(s)
            out = [t for t in tf.nest.flatten(g(*args), expand_composites=True) if t is not None and t.dtype == tf.float32]
            total = tf.add_n([tf.reduce_sum(t * t) for t in out]) if out else tf.constant(0.0)
        return [np.zeros_like(s) if d is None else d.numpy()
                for d, s in zip(tape.gradient(total, sources), sources)]

    def inside(*a):
        with tf.GradientTape() as tape:
            mine = [t for t in a if t.dtype == tf.float32]
            for s in mine:
                tape.watch(s)
            out = [t for t in tf.nest.flatten(f(*a), expand_composites=True) if t is not None and t.dtype == tf.float32]
            total = tf.add_n([tf.reduce_sum(t * t) for t in out]) if out else tf.constant(0.0)
        return tape.gradient(total, mine, unconnected_gradients="zero")

    plain = gradients(f)
    for a, b in zip(gradients(tf.function(f, autograph=False)), plain):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    for a, b in zip(tf.function(inside, autograph=False)(*args), plain):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("f, args", CASES)
def test_in_a_plain_graph(f, args):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        feeds = [v1.placeholder(a.dtype, a.shape) for a in args]
        out = [t for t in tf.nest.flatten(f(*feeds), expand_composites=True) if t is not None]
        with v1.Session() as session:
            got = session.run(out, dict(zip(feeds, [a.numpy() for a in args])))
    want = [t for t in tf.nest.flatten(f(*args), expand_composites=True) if t is not None]
    same(got, [w.numpy() for w in want])


# ---- mistakes -----------------------------------------------------------------------------------------------------


L = tf.while_loop
WRONG = [
    ("cond_kind", lambda: tf.cond(YES, lambda: 1, lambda: 1.0), TypeError),
    ("cond_list_or_tuple", lambda: tf.cond(YES, lambda: [X], lambda: (X,)), TypeError),
    ("cond_one_none", lambda: tf.cond(YES, lambda: None, lambda: X), ValueError),
    ("cond_python_bool", lambda: tf.cond(True, lambda: X, lambda: X), TypeError),
    ("cond_no_function", lambda: tf.cond(YES, X, lambda: X), TypeError),
    ("cond_missing", lambda: tf.cond(YES, lambda: X), TypeError),
    ("cond_vector", lambda: tf.cond(tf.constant([True, False]), lambda: X, lambda: X), ValueError),
    ("while_dtype", lambda: L(lambda a: a < 3, lambda a: tf.cast(a + 1, tf.float32), [tf.constant(0)]), TypeError),
    ("while_shape", lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, X]), ValueError),
    ("while_rank", lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, a[None]), [0, X]), ValueError),
    ("while_count", lambda: L(lambda i, a: i < 3, lambda i, a: i + 1, [0, X]), ValueError),
    ("while_structure", lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, (a,)), [0, X]), ValueError),
    ("while_nothing", lambda: L(lambda: True, lambda: (), []), ValueError),
    ("while_no_function", lambda: L(1, lambda i: i, [1]), TypeError),
    ("while_parallel", lambda: L(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=0), TypeError),
    ("while_none", lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, None), [0, None]), ValueError),
    ("while_invariants", lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, a), [0, X],
                                   shape_invariants=[tf.TensorShape([])]), ValueError),
    ("case_pair", lambda: tf.case([1, 2]), TypeError),
    ("case_python_bool", lambda: tf.case([(True, lambda: 1)], default=lambda: 2), TypeError),
    ("switch_gap", lambda: tf.switch_case(tf.constant(1), {0: lambda: 1, 2: lambda: 2}), ValueError),
    ("switch_number", lambda: tf.switch_case(1, [lambda: 1, lambda: 2]), TypeError),
    ("switch_float", lambda: tf.switch_case(tf.constant(1.0), [lambda: 1, lambda: 2]), TypeError),
    ("switch_int64", lambda: tf.switch_case(tf.constant(1, tf.int64), [lambda: 1, lambda: 2]), TypeError),
    ("switch_empty", lambda: tf.switch_case(tf.constant(1), []), ValueError),
    ("switch_kinds", lambda: tf.switch_case(tf.constant(1), [lambda: 1, lambda: 2.0]), TypeError),
    ("map_structure", lambda: tf.map_fn(lambda r: (r, r), X), ValueError),
    ("map_dtype", lambda: tf.map_fn(lambda r: tf.cast(r, tf.int32), X), tf.errors.InvalidArgumentError),
    ("map_scalar", lambda: tf.map_fn(lambda r: r, X[0]), ValueError),
    ("map_sizes", lambda: tf.map_fn(lambda t: t[0], (X, X[:2]), fn_output_signature=tf.float32), ValueError),
    ("scan_structure", lambda: tf.scan(lambda a, r: (a, r), X), ValueError),
    ("array_dtype", lambda: tf.TensorArray(tf.float32, 2).write(0, tf.constant(1)), tf.errors.InvalidArgumentError),
    ("array_shapes", lambda: tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, [1.0, 2.0]), ValueError),
    ("array_element_shape", lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1.0]), ValueError),
    ("array_no_size", lambda: tf.TensorArray(tf.float32), ValueError),
    ("array_beyond", lambda: tf.TensorArray(tf.float32, 2).write(2, 1.0).stack(),
     (tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError)),
]


@pytest.mark.parametrize("f, kind", [pytest.param(f, kind, id=name) for name, f, kind in WRONG])
def test_mistakes_while_tracing(f, kind):
    with pytest.raises(kind):
        tf.function(f, autograph=False)()


def test_mistakes_eagerly():
    array = tf.TensorArray(tf.float32, 2).write(0, 1.0)
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.read(0)
    with pytest.raises(tf.errors.OutOfRangeError):
        array.read(5)
    with pytest.raises(tf.errors.OutOfRangeError):
        array.write(-1, 1.0)
    with pytest.raises(ValueError, match="Cannot unstack"):
        tf.TensorArray(tf.float32, 2).unstack(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sum of lengths"):
        tf.TensorArray(tf.float32, 2).split(X, [1, 1])
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.foldl(lambda a, r: a + r, X[:0])


def test_case_checks_its_predicates():
    both = lambda: tf.case([(X[0] < 5, lambda: 1), (X[0] < 6, lambda: 2)], default=lambda: 3, exclusive=True)  # noqa: E731
    none = lambda: tf.case([(X[0] > 5, lambda: 1), (X[0] > 6, lambda: 2)])  # noqa: E731
    for f in (both, none):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f()
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(f, autograph=False)()


# ---- what is known while tracing ---------------------------------------------------------------------------------------


def test_static_shapes():
    seen = {}

    @tf.function(autograph=False)
    def look(p, n):
        seen["differ"] = tf.cond(p, lambda: X, lambda: X[:2]).shape
        seen["equal"] = tf.cond(p, lambda: X, lambda: X * 2).shape
        seen["ranks"] = tf.cond(p, lambda: X, lambda: X[0]).shape
        seen["loop"] = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [0, X])[1].shape
        array = tf.TensorArray(tf.float32, n)
        array = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, X)), [0, array])[1]
        seen["array"] = array.stack().shape
        seen["map"] = tf.map_fn(lambda r: r * 2.0, M).shape
        seen["fixed"] = tf.TensorArray(tf.float32, 2).write(0, X).stack().shape
        return p

    look(YES, tf.constant(3))
    assert seen["differ"].as_list() == [None] and seen["equal"].as_list() == [3]
    assert seen["ranks"].rank is None and seen["loop"].as_list() == [3]
    assert seen["array"].as_list() == [None, 3] and seen["map"].as_list() == [3, 2]
    assert seen["fixed"].as_list() == [2, 3]


def test_structures_come_back_as_given():
    f = tf.function(lambda: L(lambda i, a: i < 3, lambda i, a: (i + 1, a), [tf.constant(0), X]), autograph=False)
    assert isinstance(f(), list)
    g = tf.function(lambda: L(lambda i, a: i < 3, lambda i, a: [i + 1, a], (tf.constant(0), X)), autograph=False)
    assert isinstance(g(), tuple)
    assert isinstance(tf.function(lambda: L(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]), autograph=False)(), list)


def test_stateless_where_nothing_is_done():
    graph = tf.Graph()
    v = tf.Variable(1.0)
    with graph.as_default():
        p = tf.raw_ops.Placeholder(dtype=tf.bool, shape=[])
        tf.cond(p, lambda: X, lambda: X * 2)
        assert graph.get_operations()[-1].type == "StatelessIf"

    @tf.function(autograph=False)
    def effects(p):
        tf.cond(p, lambda: v.assign_add(1.0), lambda: v.assign_add(2.0))
        return v.read_value()

    assert float(effects(YES)) == 2.0 and float(effects(NO)) == 4.0


def test_effects_in_branches_without_results():
    v = tf.Variable(0)

    @tf.function(autograph=False)
    def run(p):
        def yes():
            v.assign_add(1)

        def no():
            v.assign_sub(1)

        tf.cond(p, yes, no)
        tf.while_loop(lambda i: i < 3, lambda i: (v.assign_add(10), i + 1)[1:], [0])
        return v.read_value()

    assert int(run(YES)) == 31 and int(run(NO)) == 60


def test_assert_in_a_branch():
    @tf.function(autograph=False)
    def run(p, x):
        def checked():
            tf.debugging.Assert(x > 0, ["x must be positive", x])
            return x

        return tf.cond(p, checked, lambda: -x)

    assert float(run(NO, tf.constant(-1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive"):
        run(YES, tf.constant(-1.0))


def test_smart_cond():
    smart = tf.__internal__.smart_cond.smart_cond
    called = []

    @tf.function(autograph=False)
    def run(p):
        smart(True, lambda: called.append("yes"), lambda: called.append("no"))
        smart(tf.constant(False), lambda: called.append("yes"), lambda: called.append("no"))
        return smart(p, lambda: X, lambda: -X)

    same(run(NO), -X)
    assert called == ["yes", "no"]


def test_tensor_array_through_functions():
    @tf.function(autograph=False)
    def fill(n):
        return tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, i * 2)), [0, tf.TensorArray(tf.int32, n)])[1]

    array = fill(tf.constant(3))
    assert array.stack().numpy().tolist() == [0, 2, 4] and int(array.size()) == 3
    assert array.dtype == tf.int32 and not array.dynamic_size
    eager = tf.TensorArray(tf.int32, 2).write(0, 5).write(1, 6)
    total = tf.function(lambda t: tf.reduce_sum(t.stack()), autograph=False)
    assert int(total(eager)) == 11
    assert int(total(tf.TensorArray(tf.int32, 2).write(0, 1).write(1, 1))) == 2 and total.experimental_get_tracing_count() == 1


def test_gradients_of_a_v1_graph():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [3])
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: y * 2.0, lambda: y)
        dx, = v1.gradients(y, [x])
        with v1.Session() as session:
            got = session.run(dx, {x: [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(got, [8.0, 64.0, 216.0])


# ---- all rows at once -------------------------------------------------------------------------------------------------------


W = tf.constant([[1.0, -1.0], [2.0, 0.5]])
ROWS = {
    "arithmetic": (lambda r: tf.sin(r) * 2.0 + r / 3.0 - tf.reduce_sum(r), M),
    "ranks": (lambda r: r[:, None] * r[None, :] + tf.reduce_max(r), M),
    "captured_matrix": (lambda r: tf.linalg.matvec(W, r), M),
    "matmul": (lambda r: tf.matmul(r[None, :], W, transpose_b=True), M),
    "slices": (lambda r: tf.stack([r[1], r[0] * 2.0, r[-1]]), M),
    "reshape": (lambda r: tf.reshape(tf.concat([r, r * 2.0], 0), [2, 2]), M),
    "transpose": (lambda r: tf.transpose(tf.stack([r, r + 1.0])), M),
    "where": (lambda r: tf.where(r > 2.0, r, -r), M),
    "softmax": (lambda r: tf.nn.softmax(r), M),
    "gather": (lambda k: tf.gather(W, k), tf.constant([0, 1, 1])),
    "gather_both": (lambda t: tf.gather(t[0], t[1]), (M, tf.constant([0, 1, 1]))),
    "same_for_all": (lambda r: tf.constant(3.0), M),
    "structure": (lambda r: {"a": r, "b": (r * 2.0, tf.reduce_sum(r, keepdims=True))}, M),
    "cond": (lambda r: tf.cond(r[0] > 2.0, lambda: r, lambda: -r), M),
    "loop": (lambda r: tf.while_loop(lambda a: tf.reduce_sum(a) < 20.0, lambda a: (a * 2.0,), [r])[0], M),
    "cumsum": (lambda r: tf.cumsum(r), M),
    "pad_tile": (lambda r: tf.tile(tf.pad(r, [[1, 0]]), [2]), M),
    "shapes": (lambda r: r * tf.cast(tf.shape(r)[0], tf.float32), M),
    "squeeze": (lambda r: tf.squeeze(r[None, :, None], [0, 2]), M),
    "argmax": (lambda r: tf.argmax(r), M),
}


@pytest.mark.parametrize("name", ROWS)
def test_vectorized_map(name):
    f, elems = ROWS[name]
    rows = range(3)
    each = [f(tf.nest.map_structure(lambda t: t[k], elems)) for k in rows]
    want = tf.nest.map_structure(lambda *r: tf.stack(r), *each)
    same(tf.vectorized_map(f, elems), want)
    same(tf.function(lambda e: tf.vectorized_map(f, e), autograph=False)(elems), want)
    flat = [t for t in tf.nest.flatten(elems) if t.dtype == tf.float32]
    if not flat:
        return
    with tf.GradientTape(persistent=True) as tape:
        for t in flat:
            tape.watch(t)
        total = sum(tf.reduce_sum(tf.cast(t, tf.float32) ** 2) for t in tf.nest.flatten(tf.vectorized_map(f, elems)))
        traced = tf.function(lambda e: tf.vectorized_map(f, e), autograph=False)(elems)
        other = sum(tf.reduce_sum(tf.cast(t, tf.float32) ** 2) for t in tf.nest.flatten(traced))
    for t in flat:
        a, b = tape.gradient(total, t), tape.gradient(other, t)
        np.testing.assert_allclose(np.zeros_like(t) if a is None else a, np.zeros_like(t) if b is None else b, rtol=1e-5)


def test_vectorized_map_repeats_single_rows():
    same(tf.vectorized_map(lambda t: t[0] + t[1], (X, X[:1])), X + 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.vectorized_map(lambda t: t[0] + t[1], (X, X[:2]))
    with pytest.raises(ValueError):
        tf.vectorized_map(lambda r: tf.cond(r > 1.0, lambda: r, lambda: -r), X, fallback_to_while_loop=False)


def test_empty_maps():
    assert tf.map_fn(lambda r: r, X[:0]).shape == (0,)
    assert tf.map_fn(lambda r: r, X[:0], fn_output_signature=tf.TensorSpec([2], tf.float32)).shape == (0, 2)
    assert tf.function(lambda x: tf.map_fn(lambda r: r * 2.0, x), autograph=False)(X[:0]).shape == (0,)
    assert tf.scan(lambda a, r: a + r, X[:0], 0.0).shape == (0,)


def test_an_array_that_grows_after_unstack():
    @tf.function
    def fibonacci(n):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack([0.0, 1.0])
        for i in range(2, n):
            array = array.write(i, array.read(i - 1) + array.read(i - 2))
        return array.stack()

    assert fibonacci(7).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8]


@pytest.mark.parametrize("size", [0, 3])
def test_the_length_of_an_array_that_can_grow_is_not_static(size):
    """TensorFlow's answers: a program that asks `shape[0] is None` must take the same path."""
    seen = []

    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=size, dynamic_size=True, element_shape=[3])
        y = array.unstack(x).stack()
        seen.append([t.shape.as_list() for t in (
            y, array.stack(), array.write(2, x[0]).stack(), array.unstack(x).gather([0, 1]), y + x, tf.reduce_sum(y, 0),
            tf.TensorArray(tf.float32, size=3).unstack(x).stack())])
        seen.append(tf.get_static_value(tf.shape(y)))
        for _ in tf.range(2):
            y = y + 1.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.reduce_sum(array.unstack(x * x).stack() * x)
        return y, tape.gradient(z, x)

    x = tf.reshape(tf.range(9.0), [3, 3])
    y, slope = f(x)
    assert seen == [[[None, 3], [None, 3], [None, 3], [2, 3], [3, 3], [3], [3, 3]], None]
    same(y, x + 2.0)
    same(slope, 3.0 * x * x)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        p = tf.compat.v1.placeholder(tf.float32, [3, 3])
        stacked = tf.TensorArray(tf.float32, size=size, dynamic_size=True).unstack(p).stack()
        assert stacked.shape.as_list() == [None, 3]
        same(session.run(stacked, {p: x.numpy()}), x)


def test_slices_that_count_in_different_integers():
    def slices(values, indices):
        return tf.IndexedSlices(tf.constant(values), indices, tf.constant([4]))

    @tf.function(autograph=False)
    def choose(first, a, b):
        chosen = tf.cond(first, lambda: slices([1.0, 2.0], tf.cast(a, tf.int64)), lambda: slices([3.0, 4.0], b))
        assert chosen.indices.dtype == tf.int64
        return tf.convert_to_tensor(chosen)

    a, b = tf.constant([0, 1]), tf.constant([2, 3])
    assert choose(tf.constant(True), a, b).numpy().tolist() == [1, 2, 0, 0]
    assert choose(tf.constant(False), a, b).numpy().tolist() == [0, 0, 3, 4]


@pytest.mark.parametrize("body", [
    lambda v: tf.cond(v[0] > 0.0, lambda: v, lambda: -v),
    lambda v: tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * 2.0), [0, v])[1],
    lambda v: tf.map_fn(lambda e: e * 2.0, v),
    lambda v: tf.scan(lambda a, e: a + e, v),
], ids=["cond", "while", "map_fn", "scan"])
def test_traces_of_control_flow_make_no_garbage(body):
    """Graphs go with their last user, not when garbage is collected: they are large."""
    x = tf.ones([3])
    tf.function(lambda v: body(v) * 0.5)(x)
    gc.collect()
    gc.disable()
    try:
        for k in range(5):
            tf.function(lambda v: body(v) * float(k))(x)
        assert gc.collect() < 5  # a graph kept is more than that, each time
    finally:
        gc.enable()
