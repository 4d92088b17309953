"""Whole small programs of ordinary style for peers_fuzz.py: data, a model, a few steps of training or of computing, results.

A program is text: statements that end in `out = [...]`. It is put together from pieces that people write - layers as functions,
loops over batches, tapes, optimisers by hand, conditions on tensors, shapes read by Python, arrays of numpy changed afterwards,
variables, slices, nested functions, sessions - and runs eagerly, as a function, or both. What is left out is listed in LEFT_OUT and
counted where a drawn piece is replaced for that reason.
"""
import collections
import linecache
import random

# What programs never do, and why. Random choices that are rejected for other reasons are counted in left_out.
LEFT_OUT = {
    "keras": "tf.keras is Keras's own code on both sides; tests/python/keras_test.py compares it",
    "print": "output is not compared, only results",
    "random": "values of tf.random without a seed",
    "truncation": "computed floats as integers: the last digit of a sum decides",
}


class ProgramWriter:
    def __init__(self, seed):
        self.r, self.left_out = random.Random(seed), collections.Counter()

    def one(self, *choices):
        return self.r.choice(choices)

    def dims(self):
        return self.one([4], [3, 4], [2, 3, 4], [6], [5, 2])

    # ---- expressions over x (a float32 tensor) ----

    def elementwise(self, x):
        c = self.one("0.5", "2.0", "1.5", "tf.constant(3.0)", "w0")
        return self.one(f"tf.nn.relu({x})", f"tf.tanh({x})", f"{x} * {c}", f"{x} + {c}", f"({c}) - {x}", f"tf.square({x})",
                        f"tf.sigmoid({x})", f"tf.abs({x}) ** 0.5", f"tf.where({x} > 0.0, {x}, {x} * 0.1)", f"tf.maximum({x}, {c})",
                        f"{x} / (1.0 + tf.abs({x}))", f"tf.clip_by_value({x}, -1.0, 1.0)", f"tf.exp(-tf.abs({x}))",
                        f"tf.math.log1p(tf.abs({x}))", f"tf.cast({x} > 0.0, tf.float32) + {x}", f"-{x}",
                        f"tf.identity({x})", f"tf.stop_gradient({x}) + {x}", f"tf.math.softplus({x})")

    def shaping(self, x):
        return self.one(f"tf.reshape({x}, [-1])", f"tf.reshape({x}, [{x}.shape[0], -1])", f"tf.transpose({x})",
                        f"tf.expand_dims({x}, 0)[0]", f"tf.concat([{x}, {x}], 0)", f"tf.stack([{x}, {x} * 2.0])[1]",
                        f"{x}[1:]", f"{x}[::-1]", f"{x}[..., :2]", f"tf.tile({x}, [2] + [1] * ({x}.shape.rank - 1))",
                        f"tf.reverse({x}, [0])", f"tf.roll({x}, 1, 0)", f"tf.gather({x}, [1, 0])", f"tf.pad({x}, [[1, 0]] * {x}.shape.rank)",
                        f"tf.split({x}, [1, -1], 0)[1]", f"tf.sort({x}, axis=0)", f"tf.reshape({x}, tf.shape({x}))",
                        f"tf.cumsum({x}, axis=0)", f"tf.unstack({x})[0]")

    def reducing(self, x):
        axis = self.one("", ", axis=0", ", axis=-1", ", axis=0, keepdims=True", ", axis=-1, keepdims=True")
        f = self.one("sum", "mean", "max", "min")
        return self.one(f"{x} - tf.reduce_{f}({x}{', axis=-1, keepdims=True'})", f"tf.reduce_{f}({x}{axis})", f"tf.nn.softmax({x})",
                        f"{x} * tf.cast(tf.size({x}), tf.float32)", f"tf.math.l2_normalize({x}, -1)", f"tf.reduce_logsumexp({x}{axis})",
                        f"tf.linalg.norm({x}) + {x}", f"tf.math.reduce_std({x}) + {x}", f"tf.math.top_k({x}, 2).values")

    def expression(self, x):
        return self.one(self.elementwise, self.elementwise, self.elementwise, self.shaping, self.reducing)(x)

    # ---- statements; each keeps h a float32 tensor ----

    def statement(self, deep=0):
        kinds = [self.assign, self.assign, self.assign, self.layer, self.python_loop, self.tensor_loop, self.condition, self.counted, self.helper,
                 self.pair, self.by_shape, self.array, self.update]
        return self.one(*(kinds if deep < 2 else kinds[:4]))(deep)

    def block(self, deep, n):
        return [line for _ in range(n) for line in self.statement(deep)]

    def assign(self, deep):
        return [f"h = {self.expression('h')}"]

    def layer(self, deep):
        n = self.one(2, 3, 4)
        return [f"k = tf.reshape(tf.range(h.shape[-1] * {n}), [h.shape[-1], {n}]) if h.shape.rank else None",
                f"h = tf.linalg.matmul(tf.reshape(h, [-1, h.shape[-1]]), tf.cast(k, tf.float32) * 0.01 + w0) if k is not None else h + w0"]

    def python_loop(self, deep):
        return [f"for i in range({self.one(2, 3)}):"] + ["    " + t for t in [f"h = {self.elementwise('h')} + float(i)"]]

    def tensor_loop(self, deep):
        return [f"for i in tf.range({self.one('3', 'tf.constant(2)', 'n')}):", f"    h = {self.elementwise('h')} * tf.cast(i + 1, tf.float32)"]

    def counted(self, deep):
        return ["c = tf.constant(0)", f"while c < {self.one('3', 'n')}:", f"    h = {self.elementwise('h')}", "    c += 1"]

    def condition(self, deep):
        test = self.one("tf.reduce_sum(h) > 0.0", "tf.reduce_all(tf.abs(h) < 100.0)", "n > 2", "tf.shape(h)[0] % 2 == 0")
        return [f"if {test}:", f"    h = {self.elementwise('h')}", "else:", f"    h = {self.elementwise('h')}"]

    def helper(self, deep):
        name = f"g{self.r.randrange(1000)}"
        wrap = self.one("", "", "@tf.function")
        return ([wrap] if wrap else []) + [f"def {name}(u, scale=1.0):", f"    u = {self.elementwise('u')}", "    return u * scale", f"h = {name}(h)",
                                           f"h = {name}(h, {self.one('2.0', 'scale=0.5', 'w0')})"]

    def pair(self, deep):
        return [f"d = {{'a': h, 'b': [{self.elementwise('h')}, h]}}", "d = tf.nest.map_structure(lambda t: t + 1.0, d)", "h = d['a'] + d['b'][0] - d['b'][1]"]

    def by_shape(self, deep):
        return self.one(["m = tf.ones(h.shape)", "h = h + m * 0.5"], ["h = h + tf.zeros_like(h) + float(h.shape.rank)"],
                        ["h = tf.broadcast_to(tf.reduce_mean(h), tf.shape(h)) + h"], ["h = h * float(h.shape[0] if h.shape.rank else 1)"],
                        ["h = tf.fill(tf.shape(h), 2.0) * h"], ["h = h + tf.linspace(0.0, 1.0, 3)[1]"])

    def array(self, deep):
        return ["t = tf.TensorArray(tf.float32, 3)", "for j in tf.range(3):", f"    t = t.write(j, {self.elementwise('h')})", "h = t.stack()[1] + t.gather([0])[0]"]

    def update(self, deep):
        return [f"v.assign{self.one('', '_add', '_sub')}({self.one('tf.ones_like(v)', 'v * 0.5', 'v + 1.0')})", "h = h + tf.reduce_sum(v)"]

    # ---- whole programs ----

    def body(self):
        return self.block(0, self.r.randint(2, 5))

    def next(self):
        kind = self.one("plain", "function", "gradient", "training", "batches", "again", "numpy", "session")
        lines = getattr(self, kind)()
        head = ["w0, n = tf.constant(0.25), tf.constant(4)", f"x = tf.constant(np.round(np.random.RandomState({self.r.randrange(99)}).randn(*{self.dims()}), 2), tf.float32)",
                "v = tf.Variable([1.0, -2.0])"]
        return {"name": f"program.{kind}", "program": head + lines, "mode": kind}

    def function_of(self, body, decorated=True):
        return (["@tf.function"] if decorated else []) + ["def f(x):", "    h = x"] + ["    " + b for b in body] + ["    return h"]

    def plain(self):
        return ["h = x"] + self.body() + ["out = [h, v]"]

    def function(self):
        return self.function_of(self.body()) + ["out = [f(x), f(x * 0.5), v]"]

    def again(self):
        """The same function with other sizes, in changing order."""
        return self.function_of(self.body()) + ["out = [f(x), f(tf.concat([x, x], 0)), f(x + 1.0), f(tf.concat([x, x, x], 0)), f(x), v]"]

    def gradient(self):
        decorated = self.r.random() < 0.5
        return self.function_of(self.body(), decorated) + ["with tf.GradientTape(persistent=True) as tape:", "    tape.watch(x)", "    y = f(x)", "    z = tf.reduce_sum(y * y)",
                                                          "out = [y, tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, v)]"]

    def training(self):
        return ["a = tf.Variable(tf.ones(x.shape[-1:]) * 0.5)", "def loss_of(x):", "    h = x * a"] + ["    " + b for b in self.block(1, self.r.randint(1, 3))] + [
            "    return tf.reduce_mean(tf.square(h - 1.0))"] + (["@tf.function"] if self.r.random() < 0.6 else []) + [
            "def step(x):", "    with tf.GradientTape() as tape:", "        loss = loss_of(x)", "    g = tape.gradient(loss, a)",
            "    if g is not None:", "        a.assign_sub(0.1 * tf.clip_by_value(g, -1.0, 1.0))", "    return loss",
            "losses = [step(x) for _ in range(3)]", "out = [losses, a, v]"]

    def batches(self):
        return self.function_of(self.body()) + ["data = tf.data.Dataset.from_tensor_slices(tf.concat([x] * 3, 0)).batch(2)", "out = []",
                                               "for b in data:", "    out.append(f(b))", "out.append(v)"]

    def numpy(self):
        return ["h = x"] + self.block(1, 2) + ["q = h.numpy()", "q = np.array(q)", "q *= 0.5", "q[...] += 1.0", "h2 = tf.constant(q)", "p = h * 2.0",
                                              "s = np.asarray(p).copy()", "s[...] = 0.0", "out = [h, h2, p, s, h2 + h, v]"]

    def session(self):
        body = [b for b in self.block(1, 2) if "v" not in b.replace("values", "")]
        joined = "\n".join(body)
        if any(word in joined for word in ("for ", "while ", "if tf", "if n", "else", "@tf", "range(")):  # no AutoGraph there
            self.left_out["Python's control flow over tensors in a v1 graph"] += 1
            body = self.assign(0) + self.assign(0)
        return ["p = x.numpy()", "with tf.Graph().as_default():", "    w0, n = tf.constant(0.25), tf.constant(4)",
                "    h = ph = tf.compat.v1.placeholder(tf.float32, p.shape)"] + ["    " + b for b in body] + [
            "    with tf.compat.v1.Session() as s:", "        out = [s.run(h, {ph: p}), s.run(h, {ph: p + 1.0})]"]


_serial = [0]


def evaluate(tf, call, leaves):
    """Runs the program and returns the leaves of `out`."""
    import numpy as np
    _serial[0] += 1
    name, text = f"program_{_serial[0]}.py", "\n".join(call["program"]) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"tf": tf, "np": np, "__name__": "program"}
    try:
        exec(compile(text, name, "exec"), names)
        return leaves(tf, names["out"])
    finally:
        linecache.cache.pop(name, None)


def shown(call):
    return "\n    | ".join(call["program"]) + f"\n    # {call['name']}"
