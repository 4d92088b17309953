"""tf.function: when it traces, what it shares and what it must not, arguments, results, variables."""
import collections
import gc
import threading
import types
import weakref

import numpy as np
import pytest

import evenflow as tf


def counted(body, **options):
    """A tf.function of `body` and the list of its traces."""
    traces = []

    def traced(*args, **kwargs):
        traces.append(args)
        return body(*args, **kwargs)

    return tf.function(traced, autograph=False, **options), traces


def test_one_trace_serves_equal_signatures():
    f, traces = counted(lambda x: x * 2)
    assert float(f(tf.constant(1.0))) == 2.0
    assert float(f(tf.constant(4.0))) == 8.0
    assert len(traces) == 1
    f(tf.constant(1))
    assert len(traces) == 2
    assert f.experimental_get_tracing_count() == 2


def test_a_changing_size_becomes_symbolic():
    f, traces = counted(lambda x: tf.reduce_sum(x))
    for n in range(1, 30):
        assert float(f(tf.ones([n]))) == n
    assert len(traces) == 2
    assert traces[1][0].shape.as_list() == [2]  # Python sees the size of the call that it is traced for
    assert "[1]" in f.experimental_get_trace_reasons()[0][0]


def test_a_trace_that_reads_sizes_is_made_per_size():
    seen = []

    @tf.function(autograph=False)
    def f(x):
        seen.append(x.shape[0])
        total = tf.constant(0.0)
        for k in range(x.shape[0]):
            total += x[k]
        return total

    for n in (2, 3, 4, 3, 2):
        assert float(f(tf.ones([n]))) == n
    assert [s for s in seen if s is not None] == [2, 3, 4]


def test_reading_only_the_rank_keeps_the_size_open():
    f, traces = counted(lambda x: x * float(len(x.shape)))
    for n in range(1, 6):
        assert f(tf.ones([n, 2])).numpy().tolist() == [[2.0, 2.0]] * n
    assert len(traces) == 2


def test_python_values_are_part_of_the_signature():
    f, traces = counted(lambda x, n: x * n)
    x = tf.constant(2.0)
    for n in (1, 2, 1, 2, 1.0, True):
        assert float(f(x, n)) == 2.0 * n
    assert len(traces) == 4  # 1, 2, 1.0, True


def test_strings_none_and_containers():
    f, traces = counted(lambda x, how, more: x if how == "plain" else x + sum(more["w"]))
    x = tf.constant(1.0)
    assert float(f(x, "plain", {"w": [1, 2]})) == 1.0
    assert float(f(x, "sum", {"w": [1, 2]})) == 4.0
    assert float(f(x, "sum", {"w": [1, 2]})) == 4.0
    assert float(f(x, "sum", {"w": [1, 3]})) == 5.0
    assert len(traces) == 3


def test_tensors_inside_containers():
    f, traces = counted(lambda d: {"sum": d["a"] + d["b"][0], "pair": (d["a"], None, 3)})
    out = f({"a": tf.constant(1.0), "b": [tf.constant(2.0)]})
    assert float(out["sum"]) == 3.0 and out["pair"][1] is None and int(out["pair"][2]) == 3
    f({"a": tf.constant(5.0), "b": [tf.constant(7.0)]})
    assert len(traces) == 1


def test_numpy_arguments_are_tensors():
    f, traces = counted(lambda x: x + 1)
    assert f(np.array([1, 2], np.int64)).numpy().tolist() == [2, 3]
    assert f(np.array([5, 6], np.int64)).numpy().tolist() == [6, 7]
    assert len(traces) == 1 and isinstance(traces[0][0], tf.Tensor)


def test_keywords_and_defaults_are_one_signature():
    traces = []

    @tf.function(autograph=False)
    def f(x, scale=2.0, *, shift=0.0):
        traces.append(1)
        return x * scale + shift

    x = tf.constant(3.0)
    assert float(f(x)) == 6.0 == float(f(x, 2.0)) == float(f(x=x, scale=2.0)) == float(f(x, shift=0.0))
    assert len(traces) == 1
    assert float(f(x, shift=1.0)) == 7.0
    for bad in (lambda: f(), lambda: f(x, 1, 2), lambda: f(x, x=x), lambda: f(x, nothing=1)):
        with pytest.raises(TypeError):
            bad()


def test_objects_go_by_identity_and_do_not_live_on():
    class Thing:
        value = 3.0

    f, traces = counted(lambda x, thing: x * thing.value)
    x, a, b = tf.constant(2.0), Thing(), Thing()
    f(x, a), f(x, a), f(x, b)
    assert len(traces) == 2
    traces.clear()
    gone = weakref.ref(b)
    del b
    gc.collect()
    assert gone() is None


def test_bound_methods_made_afresh_find_their_trace():
    class Net:
        def __init__(self):
            self.w = tf.Variable(3.0)

        def step(self, x):
            return x * self.w

    f, traces = counted(lambda step, x: step(x))
    net, x = Net(), tf.constant(2.0)
    for _ in range(4):
        assert float(f(net.step, x)) == 6.0
    assert len(traces) == 1
    assert float(f(Net().step, x)) == 6.0
    assert len(traces) == 2


@pytest.mark.parametrize("autograph", [False, True])
def test_a_function_made_afresh_runs_its_python_again(autograph):
    runs = []

    def body(x):
        runs.append(len(runs))
        return x * 2.0

    def make():
        return tf.function(body, autograph=autograph)

    x = tf.constant(2.0)
    assert [float(make()(x)) for _ in range(3)] == [4.0] * 3
    assert runs == [0, 1, 2]
    first, second = make(), make()
    assert first is not second
    first.mark = 1
    assert not hasattr(second, "mark")
    assert first(x) == second(x) and runs == [0, 1, 2, 3, 4]
    assert first.experimental_get_tracing_count() == 1


def test_a_function_made_afresh_sees_the_seed():
    def draw(seed):
        tf.random.set_seed(seed)
        return float(tf.function(lambda: tf.random.uniform([]), autograph=False)())

    assert draw(1) == draw(1) != draw(2)


def test_functions_made_afresh_see_what_changed():
    def make(factor):
        return tf.function(lambda x: x * factor, autograph=False)

    x = tf.constant(2.0)
    assert [float(make(k)(x)) for k in (2.0, 3.0, 2.0)] == [4.0, 6.0, 4.0]
    values = [1.0]
    held = [float(tf.function(lambda v: v * values[0], autograph=False)(x))]
    values[0] = 5.0
    held.append(float(tf.function(lambda v: v * values[0], autograph=False)(x)))
    assert held == [2.0, 10.0]


def test_an_object_that_changed_is_seen_by_a_new_function():
    class Thing:
        k = 2.0

        def times(self, x):
            return x * self.k

    thing, x = Thing(), tf.constant(1.0)

    def both():
        return [float(tf.function(lambda v: v * thing.k, autograph=False)(x)),
                float(tf.function(thing.times, autograph=False)(x))]

    assert both() == [2.0, 2.0]
    thing.k = 3.0
    assert both() == [3.0, 3.0]
    factor = np.float32(2.0) * np.ones(1, np.float32)
    made = [float(tf.function(lambda v: v * factor[0], autograph=False)(x))]
    factor[0] = 5.0
    made.append(float(tf.function(lambda v: v * factor[0], autograph=False)(x)))
    assert made == [2.0, 5.0]


def test_zeros_of_both_signs_are_not_one_function():
    def make(factor):
        return tf.function(lambda x: x / factor, autograph=False)

    x = tf.constant(1.0)
    assert [float(make(k)(x)) for k in (0.0, -0.0)] == [np.inf, -np.inf]


def test_functions_keep_nothing_alive():
    class Thing:
        pass

    def use(thing, variable):
        tf.function(lambda x: x + thing.w, autograph=False)(tf.constant(1.0))
        tf.function(lambda x: x + variable[0], autograph=False)(tf.constant(1.0))

    gone = []
    for _ in range(3):
        thing, variable = Thing(), tf.Variable(tf.zeros([40000]))
        thing.w = tf.Variable(1.0)
        use(thing, variable)
        gone += [weakref.ref(thing), weakref.ref(variable)]
        del thing, variable
    gc.collect()
    assert [ref() for ref in gone] == [None] * 6


def test_a_trace_ends_with_its_function():
    gc.collect()
    gc.disable()
    try:
        seen = []

        def body(x):
            y = tf.reduce_sum(x * 2.0)
            assert y.op is y.op and y.op.type == "Sum"
            seen.append(weakref.ref(y.graph))
            return {"y": y}

        f = tf.function(body, autograph=False)
        assert float(f(tf.ones([3]))["y"]) == 6.0
        assert seen[0]() is not None
        del f
        assert seen[0]() is None
    finally:
        gc.enable()


SCALE = 1.0


def test_a_global_that_changed_is_seen_by_a_new_function():
    global SCALE

    def body(x):
        return x * SCALE

    x = tf.constant(2.0)
    SCALE = 2.0
    assert float(tf.function(body, autograph=False)(x)) == 4.0
    SCALE = 7.0
    assert float(tf.function(body, autograph=False)(x)) == 14.0


def test_methods_of_instances():
    class Module:
        def __init__(self, k):
            self.k = tf.constant(float(k))

        @tf.function(autograph=False)
        def __call__(self, x):
            return x * self.k

        @tf.function(autograph=False)
        def twice(self, x):
            return self(x) * 2.0

    x = tf.constant(3.0)
    assert [float(Module(k)(x)) for k in range(4)] == [0.0, 3.0, 6.0, 9.0]
    assert float(Module(2).twice(x)) == 12.0
    m = Module(5)
    assert float(m.twice.get_concrete_function(x)(x)) == 30.0


def test_variables_are_made_in_the_first_trace_only():
    holder = []

    @tf.function(autograph=False)
    def good(x):
        if not holder:
            holder.append(tf.Variable(2.0))
        return x * holder[0]

    assert float(good(tf.constant(3.0))) == 6.0
    holder[0].assign(5.0)
    assert float(good(tf.constant(3.0))) == 15.0

    @tf.function(autograph=False)
    def bad(x):
        return x * tf.Variable(2.0)

    with pytest.raises(ValueError, match="singleton"):
        bad(tf.constant(1.0))


def test_initial_values_computed_while_tracing():
    holder = []

    @tf.function(autograph=False)
    def f(x):
        if not holder:
            holder.append(tf.Variable(tf.ones([2]) * 3.0))
        return x + holder[0]

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [4.0, 5.0]
    assert holder[0].numpy().tolist() == [3.0, 3.0]


def test_effects_happen_in_order_on_every_call():
    v, w = tf.Variable(1.0), tf.Variable(0.0)

    @tf.function(autograph=False)
    def f(x):
        before = v.read_value()
        v.assign_add(x)
        w.assign(v * 10.0)
        return before, v.read_value()

    assert [float(t) for t in f(tf.constant(2.0))] == [1.0, 3.0]
    assert [float(t) for t in f(tf.constant(2.0))] == [3.0, 5.0]
    assert float(w) == 50.0


def test_nested_functions_and_captured_tensors():
    outside = tf.constant(10.0)

    @tf.function(autograph=False)
    def inner(x):
        return x + outside

    @tf.function(autograph=False)
    def outer(x):
        return inner(x) * inner(x + 1.0)

    assert float(outer(tf.constant(1.0))) == 11.0 * 12.0
    with tf.GradientTape() as tape:
        x = tf.Variable(1.0)
        y = outer(x)
    assert float(tape.gradient(y, x)) == 23.0


def test_input_signature():
    f, traces = counted(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None], tf.float32)])
    for n in (1, 5, 9):
        assert float(f(tf.ones([n]))) == n
    assert float(f([1, 2, 3])) == 6.0
    assert len(traces) == 1
    for bad in (tf.ones([2, 2]), tf.ones([2], tf.int32)):
        with pytest.raises(TypeError):
            f(bad)


def test_concrete_functions():
    @tf.function(autograph=False)
    def f(x, y):
        return {"sum": x + y}

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32))
    assert c(tf.constant([1.0, 2.0]), tf.constant(3.0))["sum"].numpy().tolist() == [4.0, 5.0]
    assert c.structured_outputs["sum"].shape.as_list() == [None]
    assert [t.name for t in c.inputs] == ["x:0", "y:0"]


def test_errors_leave_the_function_usable():
    f, traces = counted(lambda x, y: tf.matmul(x, y))
    with pytest.raises(ValueError):
        f(tf.ones([2, 3]), tf.ones([2, 3]))
    assert f(tf.ones([2, 3]), tf.ones([3, 2])).numpy().tolist() == [[3.0, 3.0]] * 2

    @tf.function(autograph=False)
    def raises(x):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            raises(tf.constant(1.0))


def test_symbolic_tensors_do_not_escape():
    kept = []

    @tf.function(autograph=False)
    def leaks(x):
        kept.append(x * 2.0)
        return x

    leaks(tf.constant(1.0))
    with pytest.raises((TypeError, ValueError, tf.errors.OpError)):
        kept[0] + 1.0
    with pytest.raises(TypeError):
        bool(kept[0])
    with pytest.raises(AttributeError):
        kept[0].numpy()


def test_run_functions_eagerly():
    calls = []

    @tf.function(autograph=False)
    def f(x):
        calls.append(1)
        return x + 1.0

    tf.config.run_functions_eagerly(True)
    try:
        assert float(f(tf.constant(1.0))) == 2.0 == float(f(tf.constant(1.0)))
        assert len(calls) == 2 and tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)


def test_many_threads_trace_and_call_one_function():
    @tf.function(autograph=False)
    def f(x, n):
        return tf.reduce_sum(x) * n

    wrong = []

    def work(seed):
        for k in range(60):
            size, n = 1 + (k * seed) % 7, float(k % 5)
            if float(f(tf.ones([size]), n)) != size * n:
                wrong.append((size, n))

    threads = [threading.Thread(target=work, args=(s,)) for s in range(1, 9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_as_many_results_as_the_trace_gives():
    traced = []

    @tf.function(autograph=False)
    def f(x):
        traced.append(x.shape.rank)
        return [x + float(k) for k in range([1, 30, 3000][x.shape.rank])]

    for _ in range(2):
        for rank, n in ((2, 3000), (0, 1), (1, 30)):  # the arguments tell the traces of one entry apart
            results = f(tf.zeros([1] * rank))
            assert [float(tf.reduce_sum(r)) for r in results] == list(map(float, range(n)))
    assert sorted(traced) == [0, 1, 2]

    weights = [tf.Variable(float(k)) for k in range(600)]

    @tf.function
    def slopes():
        with tf.GradientTape() as tape:
            loss = tf.add_n([w * w for w in weights])
        return tape.gradient(loss, weights)

    assert [float(s) for s in slopes()] == [2.0 * k for k in range(600)]


def test_ops_of_many_results():
    f = tf.function(lambda x: tf.unstack(x), autograph=False)
    assert [int(r) for r in f(tf.range(40))] == list(range(40))


def test_dropped_functions_leave_nothing_behind():
    x = tf.constant(2.0)

    def once(k):
        return tf.function(lambda v: v * float(k) + 1.0, autograph=False)(x)

    for k in range(200):
        once(k)
    gc.collect()
    before = len(gc.get_objects())
    for k in range(200, 600):
        once(k)
    gc.collect()
    assert len(gc.get_objects()) - before < 200


# ---- what arguments are made of ------------------------------------------------------------------------------


class Rows(list):
    pass


class Named(dict):
    pass


class Pair:
    def __init__(self, label, value):
        self.label, self.value = label, value

    def __tf_flatten__(self):
        return (self.label,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, fixed, parts):
        return cls(fixed[0], parts[0])


@pytest.mark.parametrize("make, take", [
    (lambda x: collections.OrderedDict(a=x), lambda s: s["a"]), (lambda x: collections.defaultdict(list, a=x), lambda s: s["a"]),
    (lambda x: Named(a=x), lambda s: s["a"]), (lambda x: Rows([x]), lambda s: s[0]), (lambda x: Pair("a", x), lambda s: s.value),
    (lambda x: {np.int64(1): x}, lambda s: s[1])])
def test_structures_of_other_classes_are_looked_into(make, take):
    f = tf.function(lambda s: take(s) * 2.0)
    assert [f(make(tf.constant(k))).numpy() for k in (1.0, 2.0, 3.0)] == [2, 4, 6]
    assert f.experimental_get_tracing_count() == 1


def test_a_structure_that_changes_is_another_argument():
    f = tf.function(lambda s: s["a"] * 2.0)
    held = Named(a=tf.constant(1.0))
    assert f(held).numpy() == 2
    held["a"] = tf.constant(5.0)
    assert f(held).numpy() == 10


@pytest.mark.parametrize("value", [{1, 2}, bytearray(b"a"), collections.deque([1]), types.SimpleNamespace(a=1)])
def test_what_can_change_is_no_argument(value):
    with pytest.raises(TypeError, match="TraceType"):
        tf.function(lambda v: 1)(value)


def test_arguments_without_number():
    x = tf.constant(1.0)
    add = tf.function(tf.add_n)
    assert add([x] * 300).numpy() == add([np.float32(1)] * 300).numpy() == 300
    assert tf.function(lambda d: tf.add_n(list(d.values())))({f"feature {k}": x for k in range(100)}).numpy() == 100
    assert tf.function(lambda v: tf.add_n([u * 1.0 for u in v]))([tf.Variable(1.0) for _ in range(100)]).numpy() == 100
    assert tf.function(lambda *a: tf.add_n(a))(*[x] * 200).numpy() == 200
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        add(endless)


def test_parameters_of_every_kind():
    def f(x, /, y=1.0, *, at=...):
        return (x + y)[at]

    f = tf.function(f)
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 3]
    assert f(tf.constant([1.0, 2.0]), at=0).numpy() == 2
    with pytest.raises(TypeError):
        f(x=tf.constant([1.0]))


def test_comparing_arguments_may_call_the_function():
    class Number:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 1

        def __eq__(self, other):
            for k in range(70):  # more than are remembered
                f(k)
            return self.n == other.n

    f = tf.function(lambda k: 1 if isinstance(k, int) else k.n)
    assert [f(Number(n)).numpy() for n in (2, 3, 2)] == [2, 3, 2]


def test_an_argument_that_holds_the_function_is_collected():
    class Model:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self is other

    def model():
        made = Model()
        own = object()  # so that the function is not shared
        made.call = tf.function(lambda m, x: x * 2.0 if own else x)
        made.call(made, tf.constant(1.0))
        return weakref.ref(made)

    gone = model()
    gc.collect()
    assert gone() is None


def test_the_order_of_keys_is_no_matter():
    orders = []

    @tf.function(autograph=False)
    def f(d, **more):
        orders.append((list(d), list(more)))
        return d["b"] * 10 + d["a"] + sum(more.values()), d

    one, two, three = (tf.constant(k) for k in (1, 2, 3))
    for kind in dict, collections.OrderedDict:
        orders.clear()
        for pairs in ((("b", one), ("a", two)), (("a", two), ("b", one))):
            for more in ({"y": three, "x": one}, {"x": one, "y": three}):
                total, back = f(kind(pairs), **more)
                assert int(total) == 16 and list(back) == ["b", "a"] and int(back["b"]) == 1
        assert orders == [(["b", "a"], ["y", "x"])]
    concrete = f.get_concrete_function({"b": one, "a": two})
    assert int(concrete({"a": two, "b": one})[0]) == int(concrete({"b": one, "a": two})[0]) == 12


def test_an_inner_function_may_return_a_tensor_of_the_graph_around():
    @tf.function
    def outer(x):
        y = x + 1
        first = tf.function(lambda: y)()
        second, third = tf.function(lambda: (x, y + x))()
        return first, second, third

    assert [int(v) for v in outer(tf.constant(1))] == [2, 1, 3]
    with tf.GradientTape() as tape:
        z = tf.Variable(3.0)
        result = outer(z * z)
    assert tape.gradient(result[0], z).numpy() == 6
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        t = tf.constant(4)
        assert session.run(tf.function(lambda: t)()) == 4
        assert session.run(tf.function(lambda: [t, t + 1])()) == [4, 5]
