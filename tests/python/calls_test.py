"""Ways of calling a function: signatures, concrete functions, structures of results, instances, threads."""
import collections
import threading

import numpy as np
import pytest

import evenflow as tf

Pair = collections.namedtuple("Pair", "left right")
x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])


# ---- input signatures and concrete functions ------------------------------------------------------------------


@pytest.fixture
def signed():
    return tf.function(lambda a, b=None: a * 2.0 if b is None else a * b, input_signature=[tf.TensorSpec([None])])


def test_arguments_that_fit_and_those_that_are_converted(signed):
    for given in (x, [1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0], np.float32), tf.Variable([1.0, 2.0, 3.0])):
        assert signed(given).numpy().tolist() == [2.0, 4.0, 6.0]
        assert signed(a=given).numpy().tolist() == [2.0, 4.0, 6.0]
    assert signed(tf.zeros([7])).shape == [7]
    assert signed.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("bad", [tf.constant([1, 2]), tf.zeros([2, 2]), tf.constant(1.0), "text"])
def test_arguments_that_do_not_fit(signed, bad):
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        signed(bad)


def test_a_nested_signature():
    f = tf.function(lambda d, t: d["a"] + t[0] * t[1], input_signature=[
        {"a": tf.TensorSpec([3])}, (tf.TensorSpec([3]), tf.TensorSpec([]))])
    assert f({"a": x}, (y, 2.0)).numpy().tolist() == [21.0, 42.0, 63.0]
    with pytest.raises(TypeError):
        f({"b": x}, (y, 2.0))


@pytest.fixture
def concrete():
    return tf.function(lambda a, b: a - b).get_concrete_function(tf.TensorSpec([3]), tf.TensorSpec([3]))


def test_concrete_functions_take_tensors_by_position_and_name(concrete):
    wanted = [-9.0, -18.0, -27.0]
    for result in (concrete(x, y), concrete(x, b=y), concrete(b=y, a=x), concrete(a=x, b=y), concrete(x, y.numpy().tolist())):
        assert result.numpy().tolist() == wanted
    inside = tf.function(lambda a, b: concrete(a, b=b))
    assert inside(x, y).numpy().tolist() == wanted


def test_concrete_functions_refuse_what_does_not_fit(concrete):
    for args, kwargs in (([x], {}), ([x, y, x], {}), ([x, y], {"b": y}), ([x], {"c": y}), ([x, [1.0, 2.0]], {}), ([x, "a"], {})):
        with pytest.raises(TypeError, match="Binding inputs"):
            concrete(*args, **kwargs)
    for bad in (tf.zeros([2]), tf.constant([1, 2, 3]), tf.zeros([3, 1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            concrete(bad, x)


class Signed:
    @tf.function(input_signature=[tf.TensorSpec([None], name="given")])
    def twice(self, a, k=2.0):
        return a * k


def test_the_signature_of_a_method_leaves_out_the_instance():
    thing = Signed()
    assert thing.twice(x).numpy().tolist() == thing.twice(a=[1, 2, 3]).numpy().tolist() == [2.0, 4.0, 6.0]
    concrete = thing.twice.get_concrete_function()
    assert concrete(given=x).numpy().tolist() == [2.0, 4.0, 6.0]
    assert [t.name for t in concrete.inputs] == ["given:0"]
    assert thing.twice.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("python, message", [
    (lambda a, b: a, "missing type constraint for b"),
    (lambda: 1, "contains 1 extra type constraints"),
    (lambda a, *, k: a, "`k` must have a default value"),
])
def test_signatures_that_do_not_cover_the_parameters(python, message):
    with pytest.raises(TypeError, match=message):
        tf.function(python, input_signature=[tf.TensorSpec([None])])


def test_one_concrete_function_per_trace():
    f = tf.function(lambda a: a + 1.0)
    one = f.get_concrete_function(tf.TensorSpec([3]))
    assert one is f.get_concrete_function(x)
    assert f._list_all_concrete_functions() == [one]
    assert one.graph is one.graph and one.graph.name == "<lambda>"
    assert one.structured_outputs == tf.TensorSpec([3])


def test_a_concrete_function_outlives_its_function():
    one = tf.function(lambda a: {"sum": a + 1.0}).get_concrete_function(x)
    assert one(x)["sum"].numpy().tolist() == [2.0, 3.0, 4.0]


# ---- results --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda a: {"z": a, "b": a + 1.0},
    lambda a: {"z": [a, None], "b": (a + 1.0, {"c": a * 2.0})},
    lambda a: Pair(a, [a + 1.0]),
    lambda a: [],
    lambda a: {},
    lambda a: (None, a),
    lambda a: [1, 2.5, True, np.arange(3)],
    lambda a: {2: a, 1: a + 1.0},
    lambda a: collections.OrderedDict([("z", a), ("a", a + 1.0)]),
    lambda a: None,
], ids=range(10))
def test_results_have_the_structure_that_was_returned(make):
    f = tf.function(make, autograph=False)
    for given in (x, y, x):
        result, wanted = f(given), make(given)
        tf.nest.assert_same_structure(result, wanted)
        assert type(result) is type(wanted)
        if isinstance(wanted, dict):
            assert list(result) == list(wanted)
        for one, other in zip(tf.nest.flatten(result), tf.nest.flatten(wanted)):
            if other is None:
                assert one is None
            else:
                assert np.array_equal(one, other)


def test_the_tensors_of_a_dict_are_in_the_order_of_its_keys():
    concrete = tf.function(lambda a: {"z": a, "b": a[0]}).get_concrete_function(x)
    assert [t.shape.rank for t in concrete.outputs] == [0, 1]
    assert list(concrete(x)) == ["z", "b"]


def test_composite_results_and_arguments():
    f = tf.function(lambda r, s: {"r": r * 2.0, "s": [s]})
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
    for _ in range(2):
        result = f(ragged, sparse)
        assert result["r"].to_list() == [[2.0, 4.0], [6.0]]
        assert tf.sparse.to_dense(result["s"][0]).numpy().tolist() == [[0.0, 5.0], [0.0, 0.0]]


def test_a_result_that_is_no_tensor():
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.function(lambda: {"a": object()}, autograph=False)()
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        tf.function(lambda: loop, autograph=False)()


# ---- what a trace does to its arguments -----------------------------------------------------------------------


def _nested(d):
    d["in"]["new"] = 1


@pytest.mark.parametrize("change, given", [
    (lambda d: d.update(new=1), {"a": x}), (lambda d: d.append(1), [x]), (lambda d: d.reverse(), [x, y]),
    (lambda d: d.__setitem__(0, d[0] + 1.0), [x]), (_nested, {"in": {}}), (lambda d: d[0].append(x), ([],)),
    (lambda d: d.clear(), {"a": 1}),
])
def test_arguments_must_not_be_changed(change, given):
    def body(d):
        change(d)
        return x

    for f in (tf.function(body, autograph=False), tf.function(lambda *, d: body(d), autograph=False)):
        with pytest.raises(ValueError, match=r"should not modify its Python input arguments.*: d"):
            f(d=given)
    kept = tf.function(lambda d: change(tf.nest.map_structure(lambda v: v, d)), autograph=False)
    assert kept(given) is None


# ---- instances ------------------------------------------------------------------------------------------------


class Scaler:
    def __init__(self, k):
        self.k, self.v = k, None

    @tf.function
    def scale(self, a):
        return a * self.k


def test_each_instance_has_its_own_traces():
    one, two = Scaler(2.0), Scaler(3.0)
    assert one.scale(x).numpy().tolist() == [2.0, 4.0, 6.0]
    assert one.scale(tf.constant(1.0)).numpy() == 2.0
    assert two.scale(x).numpy().tolist() == [3.0, 6.0, 9.0]
    assert one.scale.experimental_get_tracing_count() == 2
    assert two.scale.experimental_get_tracing_count() == 1
    assert Scaler.scale.experimental_get_tracing_count() == 0
    one.scale.mark = 5
    assert one.scale.mark == 5 and not hasattr(two.scale, "mark")
    assert one.scale == one.scale != two.scale


# ---- variables that get their value from an argument ----------------------------------------------------------


def _keeper(make):
    held, runs = [], []

    @tf.function
    def f(a):
        runs.append(1)
        if not held:
            held.extend(make(a))
        return sum(v + a for v in held)

    return f, held, runs


@pytest.mark.parametrize("make, values", [
    (lambda a: [tf.Variable(a * 2.0)], [6.0]),
    (lambda a: [tf.Variable(lambda: a * 2.0)], [6.0]),
    (lambda a: [tf.Variable(a), tf.Variable(4.0), tf.Variable(tf.ones([]))], [3.0, 4.0, 1.0]),
], ids=["tensor", "callable", "several"])
def test_variables_initialised_from_an_argument(make, values):
    f, held, runs = _keeper(make)
    for given in (3.0, 5.0, 7.0):
        assert float(f(tf.constant(given))) == sum(values) + len(values) * given
        assert [float(v) for v in held] == values and len(runs) == 2


def test_a_variable_initialised_from_another_one():
    held = []

    @tf.function
    def f(a):
        if not held:
            held.append(tf.Variable(a))
            held.append(tf.Variable(held[0] * 10.0))
        return held[0] + held[1]

    assert [float(f(tf.constant(k))) for k in (3.0, 4.0)] == [33.0, 33.0]


def test_an_inner_function_initialises_a_variable_from_its_argument():
    f, held, _ = _keeper(lambda a: [tf.Variable(a * 2.0)])
    outer = tf.function(lambda a: f(a))
    assert [float(outer(tf.constant(k))) for k in (3.0, 4.0)] == [9.0, 10.0]
    assert float(f(tf.constant(1.0))) == 7.0 and float(held[0]) == 6.0


def test_a_concrete_function_cannot_initialise_from_an_argument():
    f, _, _ = _keeper(lambda a: [tf.Variable(a)])
    with pytest.raises(ValueError, match="depends on its arguments"):
        f.get_concrete_function(tf.TensorSpec([]))


# ---- too many traces ------------------------------------------------------------------------------------------


def _warnings(caplog, calls):
    caplog.clear()
    for call in calls:
        call()
    return [r.getMessage().split(" calls to ")[0] for r in caplog.records if "triggered tf.function retracing" in r.getMessage()]


def test_functions_that_trace_too_often_are_told(caplog):
    def thrice(a):
        return a * 3.0

    numbers = tf.function(lambda k: x * k)
    assert _warnings(caplog, [lambda k=k: numbers(k) for k in range(20)]) == ["5 out of the last 5", "6 out of the last 6"]
    now_and_then = tf.function(lambda k: x + k)
    assert _warnings(caplog, [lambda k=k: now_and_then(k // 3) for k in range(20)]) == ["5 out of the last 13"] * 2
    seldom = tf.function(lambda k: x - k)
    assert _warnings(caplog, [lambda k=k: seldom(k // 4) for k in range(40)]) == []
    assert len(_warnings(caplog, [lambda: tf.function(thrice)(x)] * 9)) == 2
    assert _warnings(caplog, [lambda k=k: numbers.get_concrete_function(k) for k in range(50, 60)]) == []


def test_functions_of_one_decorator_are_counted_apart(caplog):
    """As fit, evaluate and predict of Keras are: one wrapper, several functions. One function wrapped again is counted on."""
    plain = tf.autograph.experimental.do_not_convert
    wrapped = [tf.function(plain(f)) for f in (lambda a: a + 1.0, lambda a: a + 2.0, lambda a: a + 3.0, lambda a: a + 4.0,
                                               lambda a: a + 5.0, lambda a: a + 6.0)]
    assert _warnings(caplog, [lambda f=f: f(x) for f in wrapped]) == []

    def again(a):
        return a * 5.0

    assert len(_warnings(caplog, [lambda: tf.function(plain(again))(x)] * 9)) == 2


# ---- threads --------------------------------------------------------------------------------------------------


def _all_at_once(calls):
    gate, results = threading.Barrier(len(calls)), [None] * len(calls)

    def run(k):
        gate.wait()
        results[k] = calls[k]()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(calls))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    return results


def test_threads_that_make_the_first_call_trace_once():
    runs = []
    slow = threading.Event()

    @tf.function(autograph=False)
    def f(a):
        runs.append(1)
        slow.wait(0.05)
        return a * 2.0

    results = _all_at_once([lambda: float(f(tf.constant(3.0)))] * 8)
    assert results == [6.0] * 8 and len(runs) == 1
    assert f.experimental_get_tracing_count() == 1


def test_functions_that_trace_each_other_from_two_threads():
    meet = threading.Barrier(2)

    @tf.function(autograph=False)
    def f(a, deep):
        if deep:
            meet.wait(10)
            return g(a, False)
        return a + 1.0

    @tf.function(autograph=False)
    def g(a, deep):
        if deep:
            meet.wait(10)
            return f(a, False)
        return a * 2.0

    assert _all_at_once([lambda: float(f(tf.constant(3.0), True)), lambda: float(g(tf.constant(3.0), True))]) == [6.0, 4.0]


def test_a_function_may_call_itself_while_it_is_traced():
    @tf.function(autograph=False)
    def f(a, n):
        return a if n == 0 else f(a, n - 1) * 2.0

    assert float(f(tf.constant(1.0), 5)) == 32.0
