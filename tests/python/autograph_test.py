"""AutoGraph: programs traced give what they give eagerly; mistakes are told as TensorFlow tells them."""
import gc
import linecache
import re
import sys
import weakref

import numpy as np
import pytest

import evenflow as tf

from autograph_programs import PROGRAMS, builtins_of_vectors

CASES = [pytest.param(function, args, id=f"{function.__name__}-{k}")
         for function, calls in PROGRAMS for k, args in enumerate(calls)]
# A signature speaks of tensors only, and len(x) is no number where the size of x is not known.
UNKNOWN = [case for case in CASES if case.values[0] is not builtins_of_vectors
           and all(isinstance(a, tf.Tensor) for a in case.values[1])]
SMOOTH = [case for case in CASES if any(isinstance(a, tf.Tensor) and a.dtype == tf.float32 for a in case.values[1])]


def same(a, b):
    tf.nest.assert_same_structure(a, b)
    for x, y in zip(tf.nest.flatten(a), tf.nest.flatten(b)):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


@pytest.mark.parametrize("function, args", CASES)
def test_traced_as_eagerly(function, args):
    same(tf.function(function)(*args), function(*args))


@pytest.mark.parametrize("function, args", UNKNOWN)
def test_traced_with_unknown_shapes(function, args):
    signature = [tf.TensorSpec([None] * a.ndim, a.dtype) for a in args]
    same(tf.function(function, input_signature=signature)(*args), function(*args))


@pytest.mark.parametrize("function, args", SMOOTH)
def test_gradients_as_eagerly(function, args):
    sources = [a for a in args if isinstance(a, tf.Tensor) and a.dtype == tf.float32]
    with tf.GradientTape(persistent=True) as tape:
        for s in sources:
            tape.watch(s)
        traced = tf.function(function)(*args)
        plain = function(*args)
    pick = lambda r: [t for t in tf.nest.flatten(r) if isinstance(t, tf.Tensor) and t.dtype == tf.float32]  # noqa: E731
    for a, b in zip(pick(traced), pick(plain)):
        for s in sources:
            g, h = tape.gradient(a, s), tape.gradient(b, s)
            if h is None:
                assert g is None or not np.any(g.numpy())
            else:
                np.testing.assert_allclose(np.zeros_like(s) if g is None else g, h, rtol=1e-5)


# ---- mistakes -------------------------------------------------------------------------------------------------


def undefined_in_else(x):
    if x > 0:
        y = x
    return y


def undefined_after(n):
    if n is None:
        y = 1
    while n > 0:
        n -= 1
    return y


def dtypes_differ(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


def none_in_branch(x):
    if x > 0:
        y = None
    else:
        y = x
    return y


def no_return_in_else(x):
    if x > 0:
        return x


def vector_condition(x):
    if tf.stack([x, x]) > 0:
        return x
    return -x


def number_condition(x):
    if x:
        return x
    return -x


def shape_changes(x):
    y = tf.stack([x])
    for _ in tf.range(3):
        y = tf.concat([y, [x]], 0)
    return y


def loop_dtype_changes(x):
    y = 0
    for _ in tf.range(3):
        y = x
    return y


def structure_changes(x):
    y = (x, x)
    for _ in tf.range(3):
        y = (y, x)
    return y


def late_break(x):
    k = 0
    while True:
        k += 1
        if x > 1:
            break
    return k


def break_in_python_for(x):
    k = 0
    for k in range(3):
        if x > 1:
            break
    return k


def append_in_loop(x):
    items = []
    for k in tf.range(3):
        items.append(x)
        items.append(k)
    return tf.stack(items[1:])


def none_in_loop(x):
    y = x
    for _ in tf.range(3):
        y = None
    return y


def scalar_len(x):
    return len(x)


def iterates_scalar(x):
    for v in x:
        x += v
    return x


def branch_structures(x):
    if x > 0:
        y = (x, x)
    else:
        y = x
    return y


@pytest.mark.parametrize("function, kind, words", [
    (undefined_in_else, ValueError, "'y' must also be initialized in the else branch"),
    (undefined_after, UnboundLocalError, "'y' is used before assignment"),
    (dtypes_differ, TypeError, "'y' has dtype int32 in the main branch, but dtype float32 in the else branch"),
    (none_in_branch, ValueError, "'y' is None at the end of the main branch"),
    (no_return_in_else, ValueError, "the else branch must also have a return statement"),
    (vector_condition, ValueError, "condition of if statement expected to be `tf.bool` scalar"),
    (number_condition, ValueError, "to use as boolean Tensor, use `tf.cast`"),
    (shape_changes, ValueError, r"'y' has shape \(1,\) before the loop, but shape \(2,\) after one iteration"),
    (loop_dtype_changes, TypeError, "'y' has dtype int32 before the loop, but dtype float32 after one iteration"),
    (structure_changes, TypeError, "'y' does not have the same nested structure after one iteration"),
    (late_break, NotImplementedError, "The condition of while loop started as non-Tensor"),
    (break_in_python_for, NotImplementedError, "not supported in Python for loops"),
    (append_in_loop, ValueError, "out of scope"),
    (none_in_loop, ValueError, "'y' is not allowed to be None"),
    (scalar_len, ValueError, "len requires a non-scalar tensor"),
    (iterates_scalar, TypeError, "Cannot iterate over a scalar tensor"),
    (branch_structures, TypeError, "'y' must have the same nested structure"),
])
def test_mistakes(function, kind, words):
    with pytest.raises(kind, match=words):
        tf.function(function)(tf.constant(2.0))


def raises_deep(x):
    return raises_below(x * 2)


def raises_below(x):
    if x > 0:
        for _ in tf.range(2):
            raise KeyError("deep")
    return x


def test_errors_point_at_the_user_s_lines():
    with pytest.raises(KeyError) as caught:
        tf.function(raises_deep)(tf.constant(1.0))
    text = str(caught.value)
    assert text.startswith("in user code:")
    places = re.findall(r'File "([^"]+)", line (\d+), in (\w+)', text)
    assert [p[2] for p in places] == ["raises_deep", "raises_below"]
    lines = [linecache.getline(file, int(line)).strip() for file, line, _ in places]
    assert lines == ["return raises_below(x * 2)", 'raise KeyError("deep")']
    frame = caught.tb
    while frame.tb_next is not None:
        frame = frame.tb_next
    assert frame.tb_frame.f_code.co_filename == __file__


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.b = b


def raises_own(x):
    if x > 0:
        raise OwnError("a", 2)
    return x


def test_errors_of_the_user_s_own_class():
    with pytest.raises(OwnError) as caught:
        tf.function(raises_own)(tf.constant(1.0))
    assert caught.value.b == 2


def fails_in_op(x):
    if x[0] > 0:
        return tf.matmul(x, x)
    return x


def test_op_errors_keep_their_class():
    with pytest.raises(ValueError, match="in user code"):
        tf.function(fails_in_op)(tf.constant([1.0, 2.0]))


def zero_trips(n):
    for k in tf.range(n):
        last = k
    return last


def test_loop_that_must_run():
    assert int(tf.function(zero_trips)(tf.constant(3))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize last"):
        tf.function(zero_trips)(tf.constant(0))


def ends_without_value(n):
    for k in tf.range(n):
        if k == 3:
            return k


def test_loop_that_must_return():
    assert int(tf.function(ends_without_value)(tf.constant(5))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(ends_without_value)(tf.constant(2))


def asserts(x):
    assert tf.reduce_all(x > 0), "must be positive"
    return x


def test_assert():
    assert float(tf.function(asserts)(tf.constant(1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        tf.function(asserts)(tf.constant(-1.0))


# ---- what is converted, and how often ----------------------------------------------------------------------------


def test_print_is_python_s(capsys):
    @tf.function
    def told(x):
        print("tracing", x.dtype.name)
        if x > 0:
            x = x * 2
        return x

    told(tf.constant(1.0))
    told(tf.constant(2.0))
    assert capsys.readouterr().out == "tracing float32\n"


def test_fresh_closures_share_one_conversion():
    from evenflow._src.autograph import transpile

    made = []
    whole = transpile.Factory.__init__

    def counting(self, *args):
        made.append(1)
        whole(self, *args)

    def scaled(k):
        def inner(x):
            if x > 0:
                return x * k
            return -x

        return inner

    transpile.Factory.__init__ = counting
    try:
        results = [float(tf.function(scaled(float(k)))(tf.constant(3.0))) for k in range(5)]
    finally:
        transpile.Factory.__init__ = whole
    assert results == [0.0, 3.0, 6.0, 9.0, 12.0] and len(made) == 1


def test_converted_code_goes_with_the_function():
    source = "def made(x):\n    if x > 0:\n        return x\n    return -x\n"
    linecache.cache["<made>"] = (len(source), None, source.splitlines(True), "<made>")
    space = {}
    exec(compile(source, "<made>", "exec"), space)
    code = weakref.ref(space["made"].__code__)
    assert float(tf.autograph.to_graph(space["made"])(tf.constant(-2.0))) == 2.0
    before = len(sys.modules)
    del space
    gc.collect()
    assert code() is None and len(sys.modules) == before


def test_no_source_runs_as_it_is():
    space = {}
    exec("def f(x):\n    y = x * 2\n    return [v for v in (y, x)]\n", space)
    a, b = tf.function(space["f"])(tf.constant(3.0))
    assert (float(a), float(b)) == (6.0, 3.0)


@tf.autograph.experimental.do_not_convert
def left_alone(x):
    return "python" if isinstance(x, tf.Tensor) else x


def refused(x):
    if x > 0:
        return x
    return -x


def test_do_not_convert():
    with pytest.raises(TypeError, match="not allowed"):
        tf.function(tf.autograph.experimental.do_not_convert(refused))(tf.constant(1.0))
    with pytest.raises(TypeError, match="not allowed"):
        tf.function(refused, autograph=False)(tf.constant(1.0))
    seen = []

    @tf.function
    def calls(x):
        seen.append(left_alone(x))
        return x if x > 0 else -x

    calls(tf.constant(1.0))
    assert seen == ["python"]


def test_to_code_and_to_graph():
    code = tf.autograph.to_code(refused)
    assert "def tf__refused(x)" in code and "ag__.if_stmt" in code
    graph = tf.Graph()
    with graph.as_default():
        x = tf.raw_ops.Placeholder(dtype=tf.float32, shape=[])
        tf.autograph.to_graph(refused)(x)
        assert any(o.type in ("If", "StatelessIf") for o in graph.get_operations())
    assert float(tf.autograph.to_graph(refused)(tf.constant(-4.0))) == 4.0


def test_straight_functions_are_not_converted():
    from evenflow._src.autograph.conversion import straight

    k = 2.0
    assert straight(lambda x: tf.reduce_sum(x * x) + k) is not None
    assert straight(lambda x: np.float32(2.0) * tf.math.sin(x)[0]) is not None
    assert straight(lambda x: helper_with_if(x)) is None
    assert straight(lambda x: x if x > 0 else -x) is None
    assert straight(lambda x: len(x)) is None
    assert straight(lambda x: x.method()) is None
    assert straight(lambda x, g: g(x)) is None
    assert straight(lambda x: not x) is None
    assert straight(lambda x: plain_helper(x) * 2) is not None


def helper_with_if(x):
    if x > 0:
        return x
    return -x


def plain_helper(x):
    return tf.exp(x) - 1


def test_several_lambdas_on_a_line():
    f, g = (lambda x: x if x > 0 else -x), (lambda y: y * 2 if y > 0 else y)
    assert float(tf.function(f)(tf.constant(-3.0))) == 3.0
    assert float(tf.function(g)(tf.constant(3.0))) == 6.0
    pair = (lambda x: x if x > 0 else -x), (lambda x: x * 3 if x > 0 else x)  # told apart by their place alone
    assert [float(tf.function(p)(tf.constant(-2.0))) for p in pair] == [2.0, -2.0]
    spread = (lambda x:
              x * 2
              if x > 0 else x)
    assert float(tf.function(spread)(tf.constant(2.0))) == 4.0


def test_variables_in_loops_and_branches():
    v = tf.Variable(1.0)

    @tf.function
    def grow(n):
        for _ in tf.range(n):
            if v < 10.0:
                v.assign(v * 2.0)
            else:
                v.assign_add(1.0)
        return v.read_value()

    assert float(grow(tf.constant(6))) == 18.0
    assert float(v) == 18.0


def test_effects_keep_their_order():
    v = tf.Variable(0)
    log = tf.Variable([0, 0, 0, 0])

    @tf.function
    def run(flag):
        v.assign(1)
        if flag:
            log.assign(tf.stack([v, 0, 0, 0]))
            v.assign(2)
        for _ in tf.range(2):
            v.assign_add(10)
        log.assign(log + tf.stack([0, v, 0, 0]))
        v.assign(0)
        return log.read_value()

    assert run(tf.constant(True)).numpy().tolist() == [1, 22, 0, 0]


def test_loop_over_a_changing_size():
    @tf.function
    def total(x):
        s = 0.0
        for row in x:
            s += tf.reduce_sum(row)
        return s

    for n in (1, 2, 3, 7, 0):
        assert float(total(tf.ones([n, 2]))) == 2.0 * n
    assert total.experimental_get_tracing_count() <= 3


def test_second_derivatives_through_loops():
    @tf.function
    def power(x, n):
        y = tf.constant(1.0)
        for _ in tf.range(n):
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = power(x, tf.constant(4))
        d = inner.gradient(y, x)
    assert float(d) == 32.0 and float(outer.gradient(d, x)) == 48.0


def test_tape_inside_a_traced_loop():
    @tf.function
    def descend(x, n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
                if x > 100.0:
                    y = y * 2.0
            x = x - 0.25 * tape.gradient(y, x)
        return x

    assert abs(float(descend(tf.constant(8.0), tf.constant(3))) - 1.0) < 1e-6


def test_feature_prints_values(capfd):
    def told(x):
        print("value", x)
        return x

    traced = tf.function(told, experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
    traced(tf.constant(1.5))
    traced(tf.constant(2.5))
    assert capfd.readouterr().out == "value 1.5\nvalue 2.5\n"


def test_feature_lists():
    def listed(n):
        items = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for k in tf.range(n):
            items.append(k * 2)
        return items.stack()

    traced = tf.autograph.to_graph(listed, experimental_optional_features=tf.autograph.experimental.Feature.LISTS)
    assert tf.function(traced)(tf.constant(3)).numpy().tolist() == [0, 2, 4]
