"""Concrete functions: how they print, what they take, and what they do not keep alive."""
import collections
import gc
import threading
import weakref

import numpy as np
import pytest

import evenflow as tf


@tf.function
def power(a, b):
    return a ** b


@pytest.fixture
def square():
    return power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)


def test_printed(square):
    assert str(square) == ("ConcreteFunction Input Parameters:\n"
                           "  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)\n"
                           "  b (POSITIONAL_OR_KEYWORD): Literal[2]\n"
                           "Output Type:\n"
                           "  TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)\n"
                           "Captures:\n"
                           "  None")
    assert str(square.function_type) == ("(a: TensorSpec(shape=<unknown>, dtype=tf.float32, name=None), b: Literal[2]) -> "
                                         "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)")


def test_every_trace_is_listed():
    @tf.function
    def f(x, k):
        return {"y": [x * k, None]}

    f(tf.constant(1.0), 2.0)
    f(tf.constant([1, 2]), k=3)
    text = f.pretty_printed_concrete_signatures()
    assert text.count("Input Parameters:") == 2
    assert "  k (POSITIONAL_OR_KEYWORD): Literal[3]" in text
    assert "  Dict[['y', List[TensorSpec(shape=(2,), dtype=tf.int32, name=None), Literal[None]]]]" in text


def test_traces_are_listed_in_the_order_they_were_made():
    f = tf.function(lambda x: x)
    for value in (3, "a", tf.constant(1.0), tf.constant([1]), 4, 3):
        f(value)
    made = [c.structured_input_signature[0][0] for c in f._list_all_concrete_functions()]
    assert [m.dtype if isinstance(m, tf.TensorSpec) else m for m in made] == [3, "a", tf.float32, tf.int32, 4]


def test_python_values_are_returned_as_tensors():
    concrete = tf.function(lambda: ("text", 2, [None, np.arange(3)])).get_concrete_function()
    assert concrete.captured_inputs == []
    assert "  Tuple[TensorSpec(shape=(), dtype=tf.string, name=None), TensorSpec(shape=(), dtype=tf.int32, name=None), " in str(concrete)
    assert concrete.output_dtypes == (tf.string, tf.int32, [None, tf.int64])
    assert concrete.structured_outputs[2][1].shape == [3]


@pytest.mark.parametrize("args, kwargs", [((10.0,), {}), ((10.0, 2), {}), ((10.0,), {"b": 2}), ((), {"a": 10.0})])
def test_calls_that_fit(square, args, kwargs):
    args = [tf.constant(v) if isinstance(v, float) else v for v in args]
    kwargs = {k: tf.constant(v) if isinstance(v, float) else v for k, v in kwargs.items()}
    assert square(*args, **kwargs).numpy() == 100


@pytest.mark.parametrize("args, kwargs, why", [
    ((1.0,), {"b": 3}, "Can not cast 3 to Literal"), ((1.0, 3), {}, "Can not cast 3"), ((), {}, "missing a required argument: 'a'"),
    ((1.0, 2, 3), {}, "too many positional"), ((1.0, 2), {"z": 1}, "unexpected keyword argument 'z'")])
def test_calls_that_do_not(square, args, kwargs, why):
    with pytest.raises(TypeError, match=why):
        square(*[tf.constant(v) if isinstance(v, float) else v for v in args], **kwargs)


def test_arguments_are_not_kept_alive():
    class Setting:
        factor = 3.0

    @tf.function
    def f(x, setting):
        return x * setting.factor

    setting = Setting()
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32), setting)
    assert f(tf.constant(2.0), setting).numpy() == 6
    gone = weakref.ref(setting)
    del setting
    gc.collect()
    assert gone() is None
    assert "dead" in str(concrete)


class Counter:
    def __init__(self, start):
        self.start, self.variable = start, None

    @tf.function
    def step(self, x):
        if self.variable is None:
            self.variable = tf.Variable(self.start)
        return self.variable.assign_add(x)


def test_each_instance_makes_its_variables():
    a, b = Counter(1.0), Counter(10.0)
    assert [a.step(1.0).numpy(), b.step(1.0).numpy(), a.step(1.0).numpy(), b.step(1.0).numpy()] == [2, 11, 3, 12]


def test_each_function_makes_its_variables():
    one, two = tf.function(Counter.step.python_function), tf.function(Counter.step.python_function)
    assert one(Counter(1.0), 1.0).numpy() == 2
    assert two(Counter(10.0), 1.0).numpy() == 11


def test_one_function_makes_variables_once():
    made = {}

    @tf.function
    def f(x, name):
        if name not in made:
            made[name] = tf.Variable(1.0)
        return made[name] * x

    f(tf.constant(1.0), "a")
    with pytest.raises(ValueError, match="singleton tf.Variables created on the first call"):
        f(tf.constant(1.0), "b")


def leaked():
    kept = []

    @tf.function
    def f(x):
        kept.append(x + 1)
        return kept[0]

    f(tf.constant(1))
    return kept[0]


@pytest.mark.parametrize("use", [lambda t: t + 1, tf.reduce_sum, lambda t: tf.function(lambda b: b + t)(tf.constant(2)),
                                 lambda t: tf.function(lambda b: b)(t)])
def test_a_leaked_tensor(use):
    with pytest.raises(TypeError, match="out of scope"):
        use(leaked())
    with pytest.raises(AttributeError, match="'SymbolicTensor' object has no attribute 'numpy'"):
        leaked().numpy()


def test_what_is_captured_is_no_argument():
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(3.0)

        @tf.function
        def __call__(self, x, times=2):
            return x * self.factor * times

    scaled = Scaled()
    concrete = scaled.__call__.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert concrete(tf.constant(2.0)).numpy() == concrete(x=tf.constant(2.0)).numpy() == 12
    assert [t.dtype for t in concrete.inputs] == [tf.float32, tf.resource]


def test_function_types_show_a_line_for_each_part():
    @tf.function
    def add(x, y=2):
        return x + y

    concrete = add.get_concrete_function(tf.TensorSpec([], tf.int32))
    assert repr(concrete.function_type) == concrete.pretty_printed_signature()
    assert repr(concrete.function_type).splitlines()[1:3] == [
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.int32, name=None)", "  y (POSITIONAL_OR_KEYWORD): Literal[2]"]
    assert repr(tf.OptionalSpec(tf.TensorSpec([]))) == f"OptionalSpec({tf.TensorSpec([])},)"


def _holds_its_graph():
    class Owner:
        def __init__(self):
            self.f = tf.function(lambda x: x + 1)
            self.concrete = self.f.get_concrete_function(tf.TensorSpec([2], tf.float32))
            self.concrete.graph.owner = self
    return Owner()


def _is_held_by_the_graph_of_its_trace():
    class Owner:
        def __init__(self):
            self.f = tf.function(self.g)
            self.f(tf.ones([2]))

        def g(self, x):
            tf.compat.v1.get_default_graph().owner = self
            return x + 1
    return Owner()


def _is_held_by_the_class_of_its_result():
    pair = collections.namedtuple("pair", "a b")

    class Owner:
        def __init__(self):
            self.f = tf.function(lambda x: [pair(x, {"x": x})])
            self.f(tf.ones([2]))
    pair.owner = Owner()
    return pair.owner


@pytest.mark.parametrize("make", [_holds_its_graph, _is_held_by_the_graph_of_its_trace, _is_held_by_the_class_of_its_result])
def test_cycles_through_traces_are_collected(make):
    made = [weakref.ref(make()) for _ in range(3)]
    gc.collect()
    assert [r() for r in made] == [None] * 3


def test_collections_while_functions_are_called():
    pair = collections.namedtuple("pair", "a b")
    f = tf.function(lambda x: pair(x + 1, {"x": [x]}))
    concrete = f.get_concrete_function(tf.TensorSpec([3], tf.float32))
    ends, wrong = threading.Event(), []

    def work(n):
        for k in range(300):
            made = (f if k % 2 else concrete)(tf.fill([3 if k % 3 else 3 + k % 2 * n], float(k)))
            if type(made) is not pair or made.a.numpy()[0] != k + 1 or made.b["x"][0].numpy()[0] != k:
                wrong.append(made)

    def collect():
        while not ends.is_set():
            gc.collect()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 4)]
    collector = threading.Thread(target=collect)
    for t in [collector, *threads]:
        t.start()
    for t in threads:
        t.join()
    ends.set()
    collector.join()
    assert not wrong


def test_the_graph_of_a_function_knows_its_variables():
    scale, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)

    @tf.function
    def f(x):
        return x * scale + fixed

    concrete = f.get_concrete_function(tf.TensorSpec([]))
    assert {id(v) for v in concrete.graph.variables} == {id(scale), id(fixed)} == {id(v) for v in concrete.variables}
    assert [v is scale for v in concrete.graph.trainable_variables] == [True]
    assert tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([])).graph.variables == ()
