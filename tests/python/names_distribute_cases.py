"""tf.distribute with one replica."""
import numpy as np


def _where(tf):
    c = tf.distribute.get_replica_context()
    return [tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context(), None if c is None else int(c.replica_id_in_sync_group)]


def contexts(tf, tmp):
    seen = [_where(tf)]
    for s in (tf.distribute.MirroredStrategy(), tf.distribute.OneDeviceStrategy("cpu:0"), tf.distribute.MirroredStrategy(["/cpu:0"])):
        with s.scope():
            seen += [_where(tf), tf.distribute.get_strategy() is s, s.num_replicas_in_sync]
            with s.scope():
                seen.append(_where(tf))
            s.run(lambda: seen.append(_where(tf)))
        s.run(lambda: seen.append(_where(tf)))
        s.run(lambda: tf.distribute.get_replica_context().merge_call(lambda st: seen.append(_where(tf))))
        seen.append(_where(tf))
        tf.distribute.experimental_set_strategy(s)
        seen.append(_where(tf))
        tf.distribute.experimental_set_strategy(None)
    return seen


def default_merge(tf, tmp):
    c = tf.distribute.get_replica_context()
    return c.merge_call(lambda s, x: [tf.distribute.in_cross_replica_context(), tf.distribute.has_strategy(), x], args=(1,)), c.num_replicas_in_sync


def values(tf, tmp):
    s = tf.distribute.MirroredStrategy()

    def step(x):
        c = tf.distribute.get_replica_context()
        total, parts = c.all_reduce("sum", x), c.all_reduce(tf.distribute.ReduceOp.MEAN, {"a": x, "b": (x + 1,)})
        return total, parts, c.merge_call(lambda st, y, k: y * k, args=(x,), kwargs={"k": 2.0})

    x = tf.constant([1.0, 2.0, 6.0])
    got = s.run(step, (x,))
    return (got, s.reduce("SUM", got[0], None), s.reduce(tf.distribute.ReduceOp.MEAN, got[0], axis=0),
            s.reduce("sum", got[0], axis=0), s.gather(got[0], 0), s.experimental_local_results(got[0]))


def in_replica_run(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    return s.run(lambda: s.run(lambda: 1))


def in_replica_reduce(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    return s.run(lambda: s.reduce("sum", tf.constant(1.0), None))


def in_replica_scope(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    return s.run(lambda: s.scope().__enter__())


def mixed(tf, tmp):
    with tf.distribute.MirroredStrategy().scope(), tf.distribute.OneDeviceStrategy("cpu:0").scope():
        return 1


def left_after_error(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    try:
        with s.scope():
            s.run(lambda: 1 / 0)
    except ZeroDivisionError:
        return _where(tf)
    return "no error"


def twice(tf, tmp):
    return tf.distribute.MirroredStrategy(["cpu:0", "/device:CPU:0"])


def no_such_reduction(tf, tmp):
    return tf.distribute.MirroredStrategy().reduce("product", tf.constant(1.0), None)


def variables(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
        sums = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    s.run(lambda: v.assign_add(2.0))
    s.run(lambda: sums.assign_add(5.0))
    s.extended.update(v, lambda a, b: a.assign_add(b), args=(4.0,))
    return v, sums.read_value(), s.reduce("sum", s.run(lambda: v * 2), None)


def datasets(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    made = [tf.constant(x) for x in s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))]
    told = []

    def make(context):
        told.extend([context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync,
                     context.get_per_replica_batch_size(4)])
        return tf.data.Dataset.range(3).batch(context.get_per_replica_batch_size(2))

    made += [tf.constant(x) for x in s.distribute_datasets_from_function(make)]
    return made, told


def custom_loop(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        w = tf.Variable([0.0, 0.0])
    x = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
    data = s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, x @ np.float32([1, 2]))).batch(3))

    @tf.function
    def train(batch):
        def step(batch):
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss((tf.linalg.matvec(batch[0], w) - batch[1]) ** 2, global_batch_size=3)
            if loss > 0.1:
                w.assign_sub(0.5 * tape.gradient(loss, w))
            return loss

        return s.reduce(tf.distribute.ReduceOp.SUM, s.run(step, args=(batch,)), axis=None)

    losses = [train(b) for _ in range(3) for b in data]
    return [round(float(v), 4) for v in losses], [round(float(v), 4) for v in w.numpy()]


def fit(tf, tmp):
    s = tf.distribute.MirroredStrategy()
    x = np.arange(40, dtype=np.float32).reshape(20, 2) / 40
    with s.scope():
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones"),
                                     tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    seen = model.fit(x, x.sum(1), batch_size=5, epochs=2, shuffle=False, verbose=0).history
    return ({k: [round(float(v), 4) for v in vs] for k, vs in seen.items()}, [round(float(v), 4) for v in model.evaluate(x, x.sum(1), verbose=0)],
            [round(float(v), 4) for v in model.predict(x[:2], verbose=0).ravel()])
