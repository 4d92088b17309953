"""Errors of ops inside graphs name the node, and the lines of the user's program that made it."""
import gc
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
BEYOND = tf.constant(7)
ROWS = tf.constant([1.0, 2.0])


def third_op_fails(x, i):
    a = x + 1.0
    b = a * 2.0
    return tf.gather(b, i)  # the line


def line_in(function, text="# the line"):
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def failure(call, *args):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call(*args)
    return caught.value


def places(error):
    return [(int(n), name) for n, name in re.findall(rf'File "{re.escape(__file__)}", line (\d+), in (\w+)', str(error))]


@pytest.mark.parametrize("autograph", [True, False])
@pytest.mark.parametrize("inner_is_function", [True, False])
def test_third_op_of_a_function_called_by_a_function(autograph, inner_is_function):
    inner = tf.function(third_op_fails, autograph=autograph) if inner_is_function else third_op_fails

    def outer(x, i):
        y = tf.nn.relu(x)
        return inner(y, i) + 1.0  # the call

    error = failure(tf.function(outer, autograph=autograph), ROWS, BEYOND)
    assert places(error)[-2:] == [(line_in(outer, "# the call"), "outer"), (line_in(third_op_fails), "third_op_fails")]
    assert "indices = 7 is not in [0, 2)" in str(error) and "{{node GatherV2}}" in str(error)


def test_loops_and_branches():
    def loop(x, i):
        for _ in tf.range(3):
            x = x + tf.gather(x, i)  # in the loop
        return x

    def branch(x, i):
        if i > 2:
            x = tf.gather(x, i)  # in the branch
        return x

    def nested(x, i):
        while tf.reduce_sum(x) < 100.0:
            if i > 2:
                x = x + tf.gather(x, i)  # in both
        return x

    for function, text in ((loop, "# in the loop"), (branch, "# in the branch"), (nested, "# in both")):
        error = failure(tf.function(function), ROWS, BEYOND)
        assert places(error)[-1] == (line_in(function, text), function.__name__)


def test_functions_of_one_structure_have_lines_of_their_own():
    def first(x, i):
        return tf.gather(x * 3.0, i)  # first

    def second(x, i):
        return tf.gather(x * 3.0, i)  # second

    def other_number(x, i):
        return tf.gather(x * 4.0, i)  # another number

    for _ in range(2):  # the second time the programs are shared
        for function, text in ((first, "# first"), (second, "# second"), (other_number, "# another number")):
            error = failure(tf.function(function), ROWS, BEYOND)
            assert places(error)[-1] == (line_in(function, text), function.__name__)


def test_a_shape_that_is_wrong_only_with_some_values():
    def reshaped(x, n):
        return tf.reshape(x, [n]) * 2.0  # reshaped

    error = failure(tf.function(reshaped), ROWS, tf.constant(3))
    assert places(error)[-1] == (line_in(reshaped, "# reshaped"), "reshaped")


@pytest.mark.parametrize("persistent", [True, False])
def test_under_tapes(persistent):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda i: third_op_fails(v, i))
    with tf.GradientTape(persistent=persistent):
        error = failure(f, BEYOND)
    assert places(error)[-1] == (line_in(third_op_fails), "third_op_fails")
    with tf.GradientTape(), tf.GradientTape():
        error = failure(f, BEYOND)
    assert places(error)[-1] == (line_in(third_op_fails), "third_op_fails")


def test_session():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x, i = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.int32, [])
        y = third_op_fails(x, i)
        error = failure(session.run, y, {x: [1.0, 2.0], i: 7})
        assert places(error)[-1] == (line_in(third_op_fails), "third_op_fails")
        assert error.op is y.op and error.op.type == "GatherV2"
        np.testing.assert_array_equal(session.run(y, {x: [1.0, 2.0], i: 0}), 4.0)
        assert graph.get_operations()


def test_concrete_function():
    f = tf.function(third_op_fails).get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    assert places(failure(f, ROWS, BEYOND))[-1] == (line_in(third_op_fails), "third_op_fails")


def test_traceback_of_an_op():
    with tf.Graph().as_default():
        y = third_op_fails(v1.placeholder(tf.float32, [2]), tf.constant(0))
    frame = y.op.traceback[-1]
    assert (frame.filename, frame.lineno, frame.name) == (__file__, line_in(third_op_fails), "third_op_fails")
    assert "# the line" in frame.line
    assert [f.name for f in y.op.traceback][-2] == "test_traceback_of_an_op"


def test_same_helper_called_from_two_lines():
    def caller(x):
        a = helper(x)  # one
        b = helper(x)  # two
        return a, b

    def helper(x):
        return tf.exp(x)

    with tf.Graph().as_default():
        a, b = caller(v1.placeholder(tf.float32, [2]))
    assert a.op.traceback[-2].lineno == line_in(caller, "# one")
    assert b.op.traceback[-2].lineno == line_in(caller, "# two")


def test_the_class_does_not_depend_on_the_text():
    words = "a tensor of one graph is out of scope: it only looks like it"
    for call in (tf.debugging.Assert, tf.function(lambda *a: tf.debugging.Assert(*a) and None)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="only looks like it"):
            call(tf.constant(False), [tf.constant(words)])


def test_places_do_not_grow_while_a_graph_is_built_in_a_loop():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        used = []
        for k in range(60):
            for _ in range(50):
                session.run(x * 2.0 + 1.0, {x: 1.0})
            gc.collect()
            used.append(tf.config.experimental.get_memory_info("CPU:0")["current"])
        assert used[-1] <= used[20] + 1024
        assert len(graph.get_operations()) < 400


def test_the_command_is_no_frame_of_the_program(tmp_path):
    """An error of a graph begins at the program's first line, also where the script `evenflow` runs it."""
    launcher, program = tmp_path / "evenflow", tmp_path / "program.py"
    launcher.write_text("import sys\nfrom evenflow._src.cli import main\nsys.exit(main())\n")
    program.write_text("import evenflow as tf\nwith tf.Graph().as_default(), tf.compat.v1.Session() as s:\n"
                       "    x = tf.compat.v1.placeholder(tf.float32, [1])\n"
                       "    s.run(tf.debugging.check_numerics(x, 'bad'), {x: [float('nan')]})\n")
    done = subprocess.run([sys.executable, str(launcher), "run", str(program)], text=True, capture_output=True)
    where = done.stderr.split("(most recent call last):\n")[-1].split("\n")
    assert where[0] == f'  File "{program}", line 4, in <module>', done.stderr
    assert str(launcher) not in done.stderr


def test_a_placeholder_that_is_not_fed():
    with tf.Graph().as_default(), v1.Session() as session:
        y = tf.ones([1])
        x = v1.placeholder(tf.float32, [1], name="x")  # this one
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'") as caught:
            session.run(x + y)
    assert places(caught.value) == [(line_in(test_a_placeholder_that_is_not_fed, "# this one"), "test_a_placeholder_that_is_not_fed")]
