"""Small programs with control flow over tensors; autograph_test.py runs them traced and eagerly."""
import functools
from collections import namedtuple

import evenflow as tf

PROGRAMS = []


def program(*calls):
    """Notes a program with the arguments of some calls of it."""

    def note(function):
        PROGRAMS.append((function, calls))
        return function

    return note


def i(*values):
    return tuple(tf.constant(v, tf.int32) for v in values)


def f(*values):
    return tuple(tf.constant(v, tf.float32) for v in values)


# ---- if -------------------------------------------------------------------------------------------------------


@program(f(1.0), f(-1.0), f(0.0))
def if_else(x):
    if x > 0:
        y = x * 2.0
    else:
        y = -x
    return y


@program(f(1.0), f(-1.0))
def if_only(x):
    if x > 0:
        x = x * 2.0
    return x


@program(i(-1), i(0), i(1), i(2), i(7))
def elif_chain(n):
    if n < 0:
        r = 10
    elif n == 0:
        r = 20
    elif n == 1:
        r = 30
    elif n < 5:
        r = 40
    else:
        r = 50
    return r


@program(f(1.0), f(-1.0), f(5.0))
def nested_if(x):
    if x > 0:
        if x > 3:
            y = x * 10.0
        else:
            y = x * 5.0
        z = y + 1.0
    else:
        y = x
        z = x - 1.0
    return y, z


@program(f(2.0), f(-2.0))
def early_return(x):
    if x > 0:
        return x * 3.0
    return x - 3.0


@program(f(2.0), f(-2.0), f(0.5), f(20.0))
def many_returns(x):
    if x > 10:
        return x
    if x > 1:
        y = x * 2
        return y
    elif x > 0:
        return x * 100
    z = x - 1
    return z


@program(f(2.0), f(-2.0))
def return_structures(x):
    if x > 0:
        return {"a": x, "b": (x + 1, [x + 2])}
    return {"a": -x, "b": (x, [x])}


@program((tf.constant(True), 3), (tf.constant(False), 3))
def python_and_tensor_conditions(flag, n):
    if n > 2:
        if flag:
            r = 1
        else:
            r = 2
    else:
        r = 3
    return r


@program(f(1.0), f(-1.0))
def mixed_python_value(x):
    k = 3
    if x > 0:
        k = 4
    return x * float(2) + tf.cast(k, tf.float32)


@program(f([1.0, 2.0]), f([-1.0, -2.0]))
def if_in_middle(x):
    y = tf.reduce_sum(x)
    if y > 0:
        a, b = x, x * 2
    else:
        a, b = x * 2, x
    c = a - b
    return c * 2, b


@program(f(1.0), f(3.0), f(-1.0))
def ternary(x):
    y = x if x > 2 else -x
    return y * (2.0 if y > 0 else 3.0)


@program(f(1.0), f(3.0), f(-1.0))
def logic(x):
    return x > 0 and x < 2, x > 2 or x < 0, not x > 0, 0 < x < 2, (x > 0 and x > 2) or not (x < 5)


@program(f(1.0), f(-1.0))
def lazy_logic(x):
    return x > 0 and tf.sqrt(x) < 2, x < 0 or tf.sqrt(x) > 0


@program(f(1.0), f(-1.0))
def logic_condition(x):
    if x > 0 and x < 5 or x == -7:
        return x
    return x * 2


# ---- while ----------------------------------------------------------------------------------------------------------


@program(i(0), i(1), i(10))
def count_down(n):
    s = 0
    while n > 0:
        s += n
        n -= 1
    return s, n


@program(i(27), i(1), i(6))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(i(10), i(3), i(0))
def while_break(n):
    k = 0
    s = 0
    while k < n:
        k += 1
        if k == 5:
            break
        s += k
    return k, s


@program(i(10), i(3), i(0))
def while_continue(n):
    k = 0
    s = 0
    while k < n:
        k += 1
        if k % 3 == 0:
            continue
        s += k
    return k, s


@program(i(20), i(7), i(0))
def while_break_and_continue(n):
    k = 0
    s = 0
    while k < n:
        k += 1
        if k % 2 == 0:
            continue
        if k > 11:
            break
        if k == 3:
            s += 100
            continue
        s += k
    return k, s


@program(i(5), i(1), i(0))
def nested_while(n):
    total = 0
    a = 0
    while a < n:
        b = 0
        while b < a:
            if b == 3:
                break
            total += a * b
            b += 1
        a += 1
    return total


@program(f(100.0), f(0.5))
def float_condition(x):
    k = 0
    while x > 1.0:
        x = x / 2.0
        k += 1
    return x, k


@program(i(12), i(3))
def while_return(n):
    k = tf.constant(0)
    while k < n:
        if k * k > 20:
            return k
        k += 1
    return -k


@program(i(6))
def nested_return(n):
    k = tf.constant(0)
    while k < n:
        j = tf.constant(0)
        while j < n:
            if k * j == 12:
                return k * 100 + j
            j += 1
        k += 1
    return tf.constant(-1)


# ---- for -------------------------------------------------------------------------------------------------------------


@program(i(0), i(1), i(6))
def for_range(n):
    s = 0
    for k in tf.range(n):
        s += k * k
    return s


@program(i(3, 10), i(3, 3))
def for_range_start(a, b):
    s = 0
    for k in tf.range(a, b):
        s += k
    return s


@program(i(10, 0, -3), i(0, 10, 4), i(10, 10, -1))
def for_range_step(a, b, c):
    s = 0
    for k in tf.range(a, b, c):
        s = s * 3 + k
    return s


@program(i(4), i(0))
def for_python_range_of_tensor(n):
    s = 0
    for k in range(n):
        s += k + 1
    for k in range(2, n):
        s += k * 10
    return s


@program(f([1.0, 2.0, 3.0]), f([[1.0, 2.0], [3.0, 4.0]]))
def for_rows(x):
    s = tf.zeros_like(x[0])
    for row in x:
        s = s * 2.0 + row
    return s


@program(f([1.0, 2.0, 3.0]), f([5.0]))
def for_enumerate(x):
    s = 0.0
    for k, v in enumerate(x):
        s += tf.cast(k, tf.float32) * v
    return s


@program(f([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), f([1.0, 2.0, 3.0], [4.0]))
def for_zip(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += a * b
    return s


@program(f([1.0, 2.0], [4.0, 5.0]))
def for_enumerate_zip(x, y):
    s = 0.0
    for k, (a, b) in enumerate(zip(x, y), 1):
        s += a * b * tf.cast(k, tf.float32)
    return s


@program(i([3, 1, 4, 1, 5]), i([9, 9]))
def for_break(x):
    s = 0
    for v in x:
        if v == 4:
            break
        s += v
    return s


@program(i([3, 1, 4, 1, 5]), i([4, 4]))
def for_continue(x):
    s = 0
    for v in x:
        if v == 4:
            continue
        s += v
    return s


@program(i([3, 1, 4, 1, 5]), i([9, 9]))
def for_return(x):
    for v in x:
        if v == 4:
            return v * 10
    return tf.constant(-1)


@program(i(7), i(0))
def nested_for_break_continue(n):
    s = 0
    for a in tf.range(n):
        if a == 2:
            continue
        for b in tf.range(a):
            if b == 1:
                continue
            if s > 50:
                break
            s += a + b
        if s > 60:
            break
    return s


@program(i(5))
def return_from_nested_for(n):
    for a in tf.range(n):
        for b in tf.range(n):
            if a * b == 6:
                return a * 10 + b
    return tf.constant(0)


@program(i(4))
def loop_variable_after(n):
    for k in tf.range(n):
        last = k * 2
    return last, k


@program(i(4))
def none_before_loop(n):
    best = None
    for k in tf.range(n):
        best = k * 3
    return best


@program(f([3.0, 1.0, 2.0]))
def unrolled_with_tensor_if(x):
    s = 0.0
    for k in range(3):
        if x[k] > 1.5:
            s += x[k]
        else:
            s -= x[k]
    return s


@program(f([1.0, 2.0]))
def python_list_of_tensors(x):
    items = []
    for k in range(3):
        items.append(x * float(k))
    return tf.stack(items), len(items)


@program(i(5), i(1))
def tensor_array_write(n):
    ta = tf.TensorArray(tf.int32, size=n)
    for k in tf.range(n):
        ta = ta.write(k, k * k)
    return ta.stack()


@program(i(5))
def tensor_array_grows(n):
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2])
    k = 0
    while k < n:
        if k % 2 == 0:
            ta = ta.write(ta.size(), [float(1), 2.0])
        k += 1
    return ta.stack(), ta.size()


@program(i(6))
def tensor_array_read_back(n):
    ta = tf.TensorArray(tf.int32, size=n, clear_after_read=False)
    ta = ta.write(0, 1)
    ta = ta.write(1, 1)
    for k in tf.range(2, n):
        ta = ta.write(k, ta.read(k - 1) + ta.read(k - 2))
    return ta.stack()


@program(i(3))
def structures_as_loop_variables(n):
    state = {"a": tf.constant(1), "b": (tf.constant(2), [tf.constant(3)])}
    for k in tf.range(n):
        state = {"a": state["a"] + state["b"][0], "b": (state["b"][1][0] + k, [state["a"]])}
    return state


@program(i(3))
def namedtuple_as_loop_variable(n):
    point = Point(tf.constant(1), tf.constant(2))
    for k in tf.range(n):
        point = Point(point.y, point.x + k)
    return point.x, point.y


Point = namedtuple("Point", "x y")


@program(f([1.0, 2.0, 3.0]))
def ragged_growth(x):
    y = x[:1]
    for v in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, [v * 2.0]], 0)
    return y


@program(i(100))
def limited_iterations(n):
    k = 0
    while k < n:
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        k += 7
    return k


# ---- functions -------------------------------------------------------------------------------------------------------


def helper(x, scale=2.0, *, shift=0.0):
    if x > 0:
        return x * scale + shift
    return -x


@program(f(2.0), f(-2.0))
def calls_helper(x):
    return helper(x), helper(x, 3.0), helper(x, scale=4.0, shift=1.0)


@program(f(2.0), f(-2.0))
def calls_partial(x):
    return functools.partial(helper, scale=5.0)(x) + functools.partial(helper, x)()


@program(f(2.0), f(-2.0))
def nested_function(x):
    k = 3.0

    def inner(v):
        if v > 0:
            return v * k
        return v - k

    return inner(x) + inner(-x)


@program(f(2.0), f(-2.0))
def lambdas(x):
    pick = lambda v: v if v > 0 else v * 10.0  # noqa: E731
    return pick(x), (lambda a, b=2.0: a * b)(pick(-x))


@program(f(2.0), f(-2.0))
def nonlocal_in_if(x):
    count = 0.0

    def add(v):
        nonlocal count
        if v > 0:
            count = count + v
        else:
            count = count - v

    add(x)
    add(x * 2)
    return count


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@program(f(2.0))
def recursion_on_python_values(x):
    return x * float(factorial(5))


class Counter:
    """Methods, attributes and callables."""

    def __init__(self):
        self.total = 0.0
        self.scale = 3.0

    def add(self, x):
        if x > 0:
            self.total = self.total + x * self.scale
        else:
            self.total = self.total - x
        return self.total

    @staticmethod
    def double(x):
        return x * 2 if x > 0 else x * 4

    @classmethod
    def make(cls):
        return cls()

    @property
    def size(self):
        return self.total

    def __call__(self, x):
        for _ in tf.range(2):
            x = self.double(x)
        return x


class Louder(Counter):
    """super() in converted code."""

    def add(self, x):
        y = super().add(x)
        if y > 1:
            y = y + 100.0
        return y


@program(f(2.0), f(-2.0))
def methods(x):
    c = Counter()
    a = c.add(x)
    b = c.add(-x)
    return a, b, c(x), Counter.double(-x), Counter.make().add(x), c.size


@program(f(2.0), f(-0.5))
def methods_with_super(x):
    return Louder().add(x)


def repeated(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            for _ in range(times - 1):
                result = function(result, **kwargs)
            return result

        return wrapper

    return decorate


@repeated(3)
def step(x):
    if x > 10:
        return x - 10
    return x * 3


@program(f(2.0), f(7.0))
def decorated(x):
    return step(x)


@program(f([1.0, -2.0, 3.0]))
def generator(x):
    def halves():
        for k in range(3):
            yield x[k] / 2

    return sum(halves())


@program(f([1.0, -2.0, 3.0]))
def comprehensions(x):
    rows = [x * float(k) for k in range(3)]
    table = {k: r for k, r in enumerate(rows)}
    return sum(rows), table[2]


@program(i(4))
def attributes_in_loop(n):
    box = Box()
    box.value = tf.constant(0)
    box.items = {"k": tf.constant(1)}
    for k in tf.range(n):
        box.value = box.value + k
        box.items["k"] = box.items["k"] * 2
    return box.value, box.items["k"]


class Box:
    pass


@program(i(3), i(-3))
def attributes_in_if(n):
    box = Box()
    box.value = 5
    if n > 0:
        box.value = n
        box.other = n * 2
    else:
        box.other = n * 3
    return box.value, box.other


@program(i(3))
def builtins(n):
    x = tf.range(n + 2)
    return abs(-n), max(n, 5), min(n, 5, 1), float(n), int(tf.cast(n, tf.float32) + 0.5), sum([n, n])


@program(f([3.0, 1.0, 2.0]))
def builtins_of_vectors(x):
    return len(x), max(x), min(x), sum(x), tf.stack(sorted(x))


@program(f([3.0, 1.0, 2.0]))
def with_and_try(x):
    with tf.name_scope("scope"):
        if x[0] > 2:
            y = x
        else:
            y = -x
    try:
        z = y * 2
    finally:
        w = y + z
    return w


@program(f(3.0), f(-3.0))
def assertion(x):
    assert x > -10, "too small"
    if x > 0:
        assert x > 1
        return x
    return -x


@program(i(5))
def delete_variable(n):
    t = n * 2
    u = t + 1
    del t
    if u > 3:
        t = u
    else:
        t = -u
    return t


@program(i(3))
def walrus_and_star(n):
    first, *rest = [n, n + 1, n + 2]
    if (k := n * 2) > 3:
        k = k + first
    return k, rest


@program(f([[1.0, 2.0], [3.0, 4.0]]))
def loops_of_loops_over_rows(x):
    s = 0.0
    for row in x:
        for v in row:
            if v > 1.5:
                s += v
    return s


@program(i(5))
def accumulate_in_both(n):
    evens = 0
    odds = 0
    for k in tf.range(n):
        if k % 2 == 0:
            evens += k
        else:
            odds += k
    return evens, odds


@program(i([5, 3, 8, 1]))
def bubble(x):
    n = tf.shape(x)[0]
    for a in tf.range(n):
        for b in tf.range(n - 1 - a):
            if x[b] > x[b + 1]:
                x = tf.tensor_scatter_nd_update(x, [[b], [b + 1]], [x[b + 1], x[b]])
    return x


@program(f(2.0, 10.0), f(9.0, 3.0))
def newton(x, y):
    k = 0
    while tf.abs(x * x - y) > 1e-3:
        x = (x + y / x) / 2.0
        k += 1
        if k > 50:
            break
    return x
