"""Calls that Keras's own tests led to, run on TensorFlow and on Evenflow alike.

`python keras_needs_cases.py` runs under TensorFlow and writes keras_needs.json; keras_needs_test.py compares Evenflow with it.
"""
import inspect
import json
import pathlib

import numpy as np

ANSWERS = pathlib.Path(__file__).with_name("keras_needs.json")
LOGITS = np.sin(np.arange(48) * 1.7).reshape(2, 6, 4).astype("float32")
LABELS = {"the blank among them": ([[1, 2, 0, 2], [1, 2, 3, 0]], [4, 3], [6, 6], 0),
          "blanks at both ends": ([[0, 1, 0, 0], [0, 0, 3, 0]], [3, 3], [6, 5], 0),
          "the last class is the blank": ([[3, 2, 1, 0], [1, 3, 3, -1]], [3, 3], [6, 6], -1),
          "a class between is the blank": ([[3, 2, 1, 0], [2, -1, -1, 1]], [3, 3], [6, 6], 2),
          "too long by their repetitions": ([[1, 1, 1, 0], [1, 2, 0, 0]], [3, 2], [4, 4], 0),
          "too long for their frames": ([[1, 2, 1, 3], [1, 2, 3, 3]], [4, 3], [3, 1], 0),
          "without a frame or a label": ([[1, 2, 1, 0], [0, 0, 0, 0]], [3, 0], [0, 4], -1),
          "no class at all": ([[1, 7, 1, 0], [2, 3, 5, 1]], [3, 3], [6, 6], 0)}


def ctc(tf, labels, label_length, frames, blank):
    x = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.nn.ctc_loss(tf.constant(labels), x, tf.constant(label_length), tf.constant(frames), logits_time_major=False,
                              blank_index=blank)
    return loss, tape.gradient(loss, x)


def sparse(tf, dtype="float32"):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.cast([1.1, 2.3, 3.7], dtype), [2, 3])


def parts(found):
    return found.indices, found.values, found.dense_shape


def product(tf, dtype, adjoint):
    dense = tf.cast(np.arange(12).reshape(2, 6) if adjoint else np.arange(12).reshape(3, 4) * 0.37, dtype)
    return tf.cast(tf.sparse.sparse_dense_matmul(sparse(tf, dtype), dense, adjoint_a=adjoint), "float32")


def sums(tf, name, axis, keepdims):
    a = tf.SparseTensor([[0, 1], [1, 0], [1, 1]], [1.0, 2.0, -1.0], [2, 3])
    return [parts(getattr(tf.sparse, name)(x, axis=axis, keepdims=keepdims, output_is_sparse=True)) for x in (a, sparse(tf))]


def branches(tf):
    """A branch that these sizes do not allow is no error as long as it is not chosen."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        n = tf.shape(x)[0]
        return tf.cond(n < 2, lambda: x, lambda: tf.cond(n < 4, lambda: x[:2] * 2.0, lambda: tf.gather(x, tf.range(0, n - 4)) + 1.0))

    return [f(tf.ones([n, 2])) for n in (1, 5, 3, 6, 2)]


def chosen_branch(tf):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        return tf.cond(tf.size(x) > 1, lambda: x, lambda: tf.gather(x, tf.range(0, tf.size(x) - 2)))

    f(tf.ones([2]))
    return f(tf.ones([1]))


def signatures(tf):
    class Layer:
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def call(self, inputs):
            return inputs

        @tf.function
        def other(self, inputs, k=3, *, training=None):
            return inputs

    @tf.function
    def plain(x, y=2, *rest, k=3):
        return x

    made = Layer()
    found = [str(inspect.signature(f)) for f in (made.call, made.other, plain)]
    return found + [inspect.getfullargspec(f).args for f in (made.call, made.other, plain)]


def strategy(tf, make):
    s = make(tf)
    context = tf.distribute
    found = [s.num_replicas_in_sync, context.has_strategy(), context.in_cross_replica_context()]
    with s.scope():
        found += [context.has_strategy(), context.in_cross_replica_context(), context.get_replica_context() is None]
        found += s.run(lambda: (context.in_cross_replica_context(), context.get_replica_context().num_replicas_in_sync))
        found.append(s.run(lambda x: context.get_replica_context().all_reduce("sum", x * 2), args=(tf.constant(2.0),)))
        found += s.run(lambda: context.get_replica_context().merge_call(lambda at: (context.in_cross_replica_context(), at is s)))
        found.append(s.reduce("MEAN", tf.constant([1.0, 2.0]), axis=0))
    data = s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))
    found += [list(data), int(data.cardinality), isinstance(data, context.DistributedDataset), isinstance(data, tf.data.Dataset)]
    found.append(isinstance(iter(data), context.DistributedIterator))
    values = s.experimental_distribute_values_from_function(lambda at: at.replica_id_in_sync_group + 5)
    found += [s.run(lambda x: x * 2, args=(values,)), s.experimental_local_results(values)]

    @tf.function
    def total(batches):
        result = tf.constant(0, tf.int64)
        for b in batches:
            result += tf.reduce_sum(s.run(lambda x: x * 2, args=(b,)))
        return result

    @tf.function
    def step(iterator):
        return s.run(lambda x: x * 2, args=(next(iterator),))

    return found + [total(data), step(iter(data))]


def run_in_run(tf):
    s = tf.distribute.MirroredStrategy(["CPU:0"])
    return s.run(lambda: s.run(lambda: 1))


def mixed(tf):
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope(), tf.distribute.OneDeviceStrategy("CPU:0").scope():
        pass


CASES = {
    **{f"ctc, {name}": (ctc, given) for name, given in LABELS.items()},
    **{f"sparse product, {d}{', adjoint' * a}": (product, (d, a)) for d in ("float16", "bfloat16", "float32") for a in (False, True)},
    **{f"sparse {n}, {axis}{', kept' * k}": (sums, (n, axis, k)) for n in ("reduce_sum", "reduce_max") for k in (False, True)
       for axis in (None, 0, (0, 1))},
    "branches": (branches, ()), "signatures": (signatures, ()), "the branch that was chosen": (chosen_branch, ()),
    "mirrored": (strategy, (lambda tf: tf.distribute.MirroredStrategy(["CPU:0"]),)),
    "one device": (strategy, (lambda tf: tf.distribute.OneDeviceStrategy("CPU:0"),)),
    "run within run": (run_in_run, ()), "two strategies": (mixed, ()),
}


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return np.asarray(value).tolist() if hasattr(value, "numpy") or isinstance(value, np.ndarray) else value


def answer(tf, name):
    case, given = CASES[name]
    try:
        return json.loads(json.dumps(plain(case(tf, *given))))
    except (RuntimeError, ValueError, tf.errors.InvalidArgumentError) as e:
        return {"raises": next(c.__name__ for c in type(e).__mro__ if c.__name__ != "InvalidGraphError")}


if __name__ == "__main__":
    import tensorflow

    ANSWERS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(answer(tensorflow, name))}" for name in CASES) + "\n}\n")
