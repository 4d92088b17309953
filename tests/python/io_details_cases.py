"""Details that programs of strangers met: variables fetched together with what changes them, results of loops, cut records,
frames longer than the signal, lengths that are not possible, and dtypes of tables. A case is a function of `tf` and a folder."""
import numpy as np

UPDATES = {
    "assign": lambda v1, w: v1.assign(w, np.full(w.shape, 5.0, "f")),
    "assign, computed": lambda v1, w: v1.assign(w, w * 2.0).op,
    "assign_add": lambda v1, w: v1.assign_add(w, np.ones(w.shape, "f")).op,
    "assign_sub": lambda v1, w: v1.assign_sub(w, np.ones(w.shape, "f")),
    "descent": lambda v1, w: v1.train.GradientDescentOptimizer(0.5).minimize(v1.reduce_sum(w)),
    "momentum": lambda v1, w: v1.train.MomentumOptimizer(0.5, 0.5).minimize(v1.reduce_sum(w)),
    "adam": lambda v1, w: v1.train.AdamOptimizer(0.5).minimize(v1.reduce_sum(w)),
}
STEADY = ("assign", "assign_add", "descent")  # of the others TensorFlow's threads read resource variables early or late


def _numbers(values):
    return [round(float(np.asarray(v).ravel()[0]), 4) for v in values]


def _fetched(update, shape, resource, order):
    """A variable, fetched in three runs together with what changes it."""
    def case(tf, tmp):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            w = v1.Variable(np.ones(shape, "f"), use_resource=resource)
            change = UPDATES[update](v1, w)
            session.run(v1.global_variables_initializer())
            wanted = [w, change] if order == 0 else [change, w]
            return _numbers(session.run(wanted)[order] for _ in range(3))
    return case


def _global_step(resource):
    """A resource variable that only the update uses is read before or after it, as TensorFlow's threads happen to run."""
    def case(tf, tmp):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            with v1.variable_scope("model", use_resource=resource):
                step = v1.get_variable("step", [], tf.int64, v1.zeros_initializer(), trainable=False)
                w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
            loss = tf.reduce_sum(w * w)
            train = v1.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
            session.run(v1.global_variables_initializer())
            return [{k: np.asarray(v).tolist() for k, v in session.run({"step": step, "loss": loss, "w": w, "t": [train]}).items()
                     if k != "t" and not (resource and k == "step")} for _ in range(3)]
    return case


def _fed(resource):
    """Variables may be fed, also with their own value fetched."""
    def case(tf, tmp):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            w = v1.Variable([1.0, 2.0], use_resource=resource)
            more = v1.assign_add(w, [1.0, 1.0]).op
            twice = tf.identity(w) * 2.0 if resource else w * 2.0
            session.run(v1.global_variables_initializer())
            first = session.run(w)
            second = session.run([w, more])[0]
            return [first.tolist(), second.tolist(), session.run(w).tolist(), np.shape(session.run(twice))]
    return case


def _many(tf, tmp):
    """More variables than a run keeps places for without allocating."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        made = [v1.Variable(float(k), use_resource=k % 3 == 0) for k in range(30)]
        changes = [v1.assign_add(w, 100.0).op for w in made]
        session.run(v1.global_variables_initializer())
        got = session.run([changes, made, {"sum": tf.constant(1.0)}])
        return _numbers(got[1])


def _loop(start, **more):
    def case(tf, tmp):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            made = v1.while_loop(lambda i, *rest: i < 3, lambda i, *rest: (i + 1, *rest) if rest else i + 1, start, **more)
            got = session.run(made)
            return [type(made).__name__ if isinstance(made, (list, tuple)) else "tensor", _kind(got)]
    return case


def _kind(value):
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [_kind(v) for v in value]]
    return np.asarray(value).tolist()


def _eager_loop(start):
    def case(tf, tmp):
        return _kind(tf.while_loop(lambda i, *rest: i < 3, lambda i, *rest: (i + 1, *rest), start))
    return case


def _cut(size):
    def case(tf, tmp):
        with tf.io.TFRecordWriter(tmp + "/f") as w:
            w.write(b"abc")
            w.write(b"defg")
        data = open(tmp + "/f", "rb").read() + b"xxxxxxxxxxx"
        open(tmp + "/f", "wb").write(data[:size])
        made = []
        try:
            for r in tf.compat.v1.io.tf_record_iterator(tmp + "/f"):
                made.append(r)
        except tf.errors.OpError as e:
            made.append(type(e).__name__)
        return made
    return case


def _stft(size, *args, **more):
    return lambda tf, tmp: list(tf.signal.stft(tf.ones([size]), *args, **more).shape)


def _lengths(name, size, dtype="float32"):
    return lambda tf, tmp: list(getattr(tf.signal, name)(tf.ones([4, 4], dtype), size).shape)


def _lengths_inside(name, size, dtype="float32"):
    def case(tf, tmp):
        x = tf.ones([4, 4], dtype)
        return list(tf.function(lambda n: getattr(tf.signal, name)(x, n))(tf.constant(size)).shape)
    return case


TYPES = {"string": ["a", "b"], "int32": [1, 2], "int64": [1, 2], "float32": [1.0, 2.0], "float64": [1.0, 2.0], "bool": [True, False],
         "uint8": [1, 2], "int16": [1, 2], "float16": [1.0, 2.0], "complex64": [1, 2]}


def _table(kind, key, value):
    def case(tf, tmp):
        keys, values = tf.constant(TYPES[key], key), tf.constant(TYPES[value], value)
        if kind == "static":
            table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), values[0])
        elif kind == "mutable":
            table = tf.lookup.experimental.MutableHashTable(key, value, values[0])
            table.insert(keys, values)
        else:
            table = tf.lookup.experimental.DenseHashTable(key, value, values[0], keys[0], keys[1])
            return int(table.size())
        return table.lookup(keys)
    return case


CASES = {
    **{f"fetch {u}, {list(s)}, {'resource' if r else 'reference'}, {'before' if o else 'after'}": _fetched(u, s, r, o)
       for u in UPDATES for s in ((), (3, 2), (40, 50)) for r in (False, True) for o in (0, 1) if not r or u in STEADY},
    **{f"global step, {'resource' if r else 'reference'}": _global_step(r) for r in (False, True)},
    **{f"fetched alone, {'resource' if r else 'reference'}": _fed(r) for r in (False, True)},
    "many variables": _many,
    "loop, tuple": _loop((0, 1)), "loop, list": _loop([0, 1]), "loop, tuple of one": _loop((0,)), "loop, list of one": _loop([0]),
    "loop, list of one, same structure": _loop([0], return_same_structure=True),
    "loop, tuple of one, same structure": _loop((0,), return_same_structure=True),
    "loop, nested": _loop([0, (1, [2])]), "loop, three": _loop((0, 1, 2)),
    "loop, eager tuple": _eager_loop((0, 1)), "loop, eager list": _eager_loop([0, 1]), "loop, eager list of one": _eager_loop([0]),
    **{f"records cut at {k}": _cut(k) for k in (0, 1, 5, 8, 11, 12, 13, 15, 18, 19, 20, 24, 30, 31, 32, 36, 38, 39, 40, 44, 50)},
    **{f"stft of {n}, {a}": _stft(n, *a) for n in (10, 15, 16, 17, 0) for a in ((16, 4), (16, 4, 32), (12, 4), (16, 16))},
    **{f"stft of {n}, {a}, padded": _stft(n, *a, pad_end=True) for n in (10, 16) for a in ((16, 4), (16, 4, 32), (12, 4))},
    **{f"{f} {n}": _lengths(f, n) for f in ("rfft2d",) for n in ([-1, 4], [4, -1], [-1, -1], [4], [4, 4, 4], [2, 2], [8, 8])},
    **{f"{f} {n}": _lengths(f, n, "complex64") for f in ("irfft2d",) for n in ([-1, 4], [4, -1], [4], [4, 4, 4], [2, 2], [8, 8])},
    **{f"{f} {n}": _lengths(f, n) for f in ("rfft",) for n in ([-1], [2, 2], [3], [9])},
    **{f"{f} {n}": _lengths(f, n, "complex64") for f in ("irfft",) for n in ([-1], [2, 2], [3], [9])},
    **{f"{f} {n} in a function": _lengths_inside(f, n) for f in ("rfft2d",) for n in ([-1, 4], [4, -1])},
    "rfft -5 in a function": _lengths_inside("rfft", [-5]),
    "irfft -5 in a function": _lengths_inside("irfft", [-5], "complex64"),
    **{f"{t} table, {k} to {v}": _table(t, k, v) for t in ("static", "mutable", "dense") for k in TYPES for v in TYPES},
}
