"""tf.compat.v1.layers and recurrent cells: names and reuse as in TensorFlow 1, numbers by their equations in numpy."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
layers, nn, cells = v1.layers, v1.nn, v1.nn.rnn_cell
rng = np.random.RandomState(0)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as s:
        yield s


def _start(session):
    session.run(v1.global_variables_initializer())
    return {v.op.name: session.run(v) for v in v1.global_variables()}


def test_names_scopes_and_reuse(session):
    x = v1.placeholder(tf.float32, [None, 3])
    a, b = layers.dense(x, 2), layers.dense(x, 2, activation=tf.nn.relu)
    c = layers.dense(x, 2, name="fc")
    again = layers.dense(x, 2, name="fc", reuse=True)
    with v1.variable_scope("s", reuse=v1.AUTO_REUSE):
        d, e = layers.dense(x, 2, name="q"), layers.dense(x, 2, name="q")
    assert [v.name for v in v1.trainable_variables()] == [
        f"{n}/{p}:0" for n in ("dense", "dense_1", "fc", "s/q") for p in ("kernel", "bias")]
    assert (a.name, b.name, c.name) == ("dense/BiasAdd:0", "dense_1/Relu:0", "fc/BiasAdd:0")
    with pytest.raises(ValueError, match="already exists"):
        layers.dense(x, 2, name="fc")
    with pytest.raises(ValueError, match="last dimension"):
        layers.dense(v1.placeholder(tf.float32, [2, None]), 2)
    _start(session)
    got = session.run([c, again, d, e], {x: rng.randn(4, 3)})
    assert (got[0] == got[1]).all() and (got[2] == got[3]).all()


def test_layers_as_objects(session):
    layer = layers.Dense(4, kernel_regularizer=lambda w: tf.reduce_sum(w * w), name="own", trainable=False)
    x = tf.constant(rng.randn(2, 5, 3).astype("f"))
    y, z = layer(x), layer.apply(x)
    assert layer.built and layer.count_params() == 16 and y.shape == [2, 5, 4]
    assert layer.trainable_weights == [] and [v.name for v in layer.weights] == ["own/kernel:0", "own/bias:0"]
    values = _start(session)
    got, want, loss = session.run([y, z, layer.losses[0]])
    np.testing.assert_allclose(got, session.run(x) @ values["own/kernel"], rtol=1e-5)
    assert (got == want).all() and v1.losses.get_regularization_losses() == layer.losses
    assert abs(loss - (values["own/kernel"] ** 2).sum()) < 1e-5


def test_convolutions_and_pools(session):
    x = rng.randn(2, 6, 6, 3).astype("f")
    made = [layers.conv2d(x, 4, 3, strides=2, padding="same"), layers.conv2d_transpose(x, 4, [3, 2], (2, 2)),
            layers.separable_conv2d(x, 5, 3, depth_multiplier=2), layers.conv1d(x[0], 4, 2, dilation_rate=2),
            layers.conv3d(x[None], 2, 2), layers.conv2d(x.transpose(0, 3, 1, 2), 4, 3, 2, "same", "channels_first"),
            layers.separable_conv1d(x[0], 5, 3), layers.conv3d_transpose(x[None], 2, 2, 2)]
    assert [m.shape.as_list() for m in made] == [[2, 3, 3, 4], [2, 13, 12, 4], [2, 4, 4, 5], [6, 4, 4], [1, 1, 5, 5, 2],
                                                 [2, 4, 3, 3], [6, 4, 5], [1, 4, 12, 12, 2]]
    k = _start(session)
    got = session.run(made)
    np.testing.assert_allclose(got[0], tf.nn.conv2d(x, k["conv2d/kernel"], 2, "SAME").eval(), atol=1e-5)
    up = tf.nn.conv2d_transpose(x, k["conv2d_transpose/kernel"], [2, 13, 12, 4], 2, "VALID")
    np.testing.assert_allclose(got[1], up.eval(), atol=1e-5)
    apart = tf.nn.separable_conv2d(x, k["separable_conv2d/depthwise_kernel"], k["separable_conv2d/pointwise_kernel"],
                                   [1, 1, 1, 1], "VALID")
    np.testing.assert_allclose(got[2], apart.eval(), atol=1e-5)
    np.testing.assert_allclose(got[5].transpose(0, 2, 3, 1), tf.nn.conv2d(x, k["conv2d_1/kernel"], 2, "SAME").eval(), atol=1e-5)
    pools = [layers.max_pooling2d(x, 2, 2), layers.average_pooling2d(x, [3, 3], 1, "same"), layers.max_pooling1d(x[0], 2, 2),
             layers.average_pooling3d(x[None], 2, 2)]
    got = session.run(pools)
    np.testing.assert_allclose(got[0], x.reshape(2, 3, 2, 3, 2, 3).max((2, 4)))
    np.testing.assert_allclose(got[3], x.reshape(1, 1, 2, 3, 2, 3, 2, 3).mean((2, 4, 6)), atol=1e-6)
    assert [g.shape for g in got] == [(2, 3, 3, 3), (2, 6, 6, 3), (6, 3, 3), (1, 1, 3, 3, 3)]
    with pytest.raises(ValueError, match="expected ndim=4"):
        layers.conv2d(x[0], 4, 3)


@pytest.mark.parametrize("dims", [2, 4])
def test_batch_normalization(session, dims):
    x = rng.randn(*[5, 4, 4, 3][:dims - 1], 3).astype("f") * 2 + 1
    training = v1.placeholder(tf.bool, [])
    y = layers.batch_normalization(x, training=training, momentum=0.9)
    off = layers.batch_normalization(x, name="off")
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2 and [v.name for v in v1.trainable_variables()] == [
        f"{n}/{p}:0" for n in ("batch_normalization", "off") for p in ("gamma", "beta")]
    _start(session)
    axes = tuple(range(dims - 1))
    mean, variance, count = x.mean(axes), x.var(axes), x.size // 3
    got, _ = session.run([y, updates], {training: True})
    np.testing.assert_allclose(got, (x - mean) / np.sqrt(variance + 1e-3), atol=1e-5)
    moved = [session.run(v) for v in v1.global_variables("batch_normalization/moving")]
    kept = variance * count / (count - 1) if dims == 4 else variance  # the fused kernel gives the unbiased variance
    np.testing.assert_allclose(moved[0], 0.1 * mean, atol=1e-6)
    np.testing.assert_allclose(moved[1], 0.9 + 0.1 * kept, atol=1e-6)
    got, _ = session.run([y, updates], {training: False})
    np.testing.assert_allclose(got, (x - moved[0]) / np.sqrt(moved[1] + 1e-3), atol=1e-5)
    np.testing.assert_allclose([session.run(v) for v in v1.global_variables("batch_normalization/moving")], moved)
    np.testing.assert_allclose(session.run(off), x / np.sqrt(1 + 1e-3), rtol=1e-5)


def test_dropout_and_flatten(session):
    x, training = v1.placeholder(tf.float32, [None, 4, 5]), v1.placeholder(tf.bool)
    flat = layers.flatten(x)
    assert flat.shape.as_list() == [None, 20]
    y = layers.dropout(flat, 0.25, training=training, seed=1)
    ones = np.ones((50, 4, 5), "f")
    assert (session.run(y, {x: ones, training: False}) == 1).all()
    dropped = session.run(y, {x: ones, training: True})
    assert set(np.round(dropped.ravel(), 4)) == {0.0, np.float32(1.3333)} and 0.2 < (dropped == 0).mean() < 0.3
    assert layers.dropout(flat, 0.5) is not None


def test_layers_run_eagerly():
    layer = layers.Dense(2, kernel_initializer=v1.ones_initializer())
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]] and len(layer.weights) == 2
    assert layer(tf.ones([2, 3])).shape == [2, 2] and len(layer.weights) == 2


# ---- cells -----------------------------------------------------------------------------------------------------------------


def _lstm(x, k, b, lengths):
    c = h = np.zeros((len(x), k.shape[1] // 4))
    outputs = []
    for t in range(x.shape[1]):
        i, j, f, o = np.split(np.concatenate([x[:, t], h], 1) @ k + b, 4, 1)
        new = c * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j)
        out = np.tanh(new) * _sigmoid(o)
        on = (t < np.array(lengths))[:, None]
        c, h = np.where(on, new, c), np.where(on, out, h)
        outputs.append(np.where(on, out, 0))
    return np.stack(outputs, 1), c, h


def _gru(x, k, b, ck, cb):
    h = np.zeros((len(x), cb.shape[0]))
    outputs = []
    for t in range(x.shape[1]):
        r, u = np.split(_sigmoid(np.concatenate([x[:, t], h], 1) @ k + b), 2, 1)
        h = u * h + (1 - u) * np.tanh(np.concatenate([x[:, t], r * h], 1) @ ck + cb)
        outputs.append(h)
    return np.stack(outputs, 1)


def test_dynamic_rnn(session):
    x = rng.randn(3, 5, 4).astype("f")
    fed = v1.placeholder(tf.float32, [None, None, 4])
    out, state = nn.dynamic_rnn(cells.BasicLSTMCell(6), fed, [5, 2, 3], dtype=tf.float32)
    major, _ = nn.dynamic_rnn(cells.GRUCell(3), tf.transpose(fed, [1, 0, 2]), dtype=tf.float32, time_major=True)
    (ahead, back), _ = nn.bidirectional_dynamic_rnn(cells.LSTMCell(2), cells.LSTMCell(2), fed, [5, 2, 3], dtype=tf.float32)
    values = _start(session)
    assert list(values) == ["rnn/basic_lstm_cell/kernel", "rnn/basic_lstm_cell/bias", "rnn/gru_cell/gates/kernel",
                            "rnn/gru_cell/gates/bias", "rnn/gru_cell/candidate/kernel", "rnn/gru_cell/candidate/bias",
                            "bidirectional_rnn/fw/lstm_cell/kernel", "bidirectional_rnn/fw/lstm_cell/bias",
                            "bidirectional_rnn/bw/lstm_cell/kernel", "bidirectional_rnn/bw/lstm_cell/bias"]
    p = list(values.values())
    got, last, got_gru, got_fw, got_bw = session.run([out, state, major, ahead, back], {fed: x})
    want, c, h = _lstm(x, p[0], p[1], [5, 2, 3])
    np.testing.assert_allclose(got, want, atol=1e-5)
    np.testing.assert_allclose(last.c, c, atol=1e-5)
    np.testing.assert_allclose(last.h, h, atol=1e-5)
    np.testing.assert_allclose(got_gru.transpose(1, 0, 2), _gru(x, *p[2:6]), atol=1e-5)
    np.testing.assert_allclose(got_fw, _lstm(x, p[6], p[7], [5, 2, 3])[0], atol=1e-5)
    turned = np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, [5, 2, 3])])
    want = _lstm(turned, p[8], p[9], [5, 2, 3])[0]
    want = np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(want, [5, 2, 3])])
    np.testing.assert_allclose(got_bw, want, atol=1e-5)
    with pytest.raises(ValueError, match="must give a dtype"):
        nn.dynamic_rnn(cells.GRUCell(3), fed)


def test_all_ways_to_unroll_agree(session):
    x = rng.randn(2, 4, 3).astype("f")
    cell = cells.MultiRNNCell([cells.ResidualWrapper(cells.BasicRNNCell(3)),
                               cells.LSTMCell(3, use_peepholes=True, num_proj=2, cell_clip=0.2, proj_clip=0.1)])
    dynamic, state = nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with v1.variable_scope("rnn", reuse=True):
        steps, last = nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, scope=v1.get_variable_scope())
    rows = tf.TensorArray(tf.float32, 4).unstack(x.transpose(1, 0, 2))

    def loop(time, output, state, extra):
        new = cell.zero_state(2, tf.float32) if output is None else state
        over = tf.fill([2], time >= 4)
        ahead = tf.cond(time >= 4, lambda: tf.zeros([2, 3]), lambda: rows.read(time))
        return over, ahead, new, output, None

    raw, raw_state, _ = nn.raw_rnn(cell, loop)
    _start(session)
    a, b, c = session.run([dynamic, tf.stack(steps, 1), tf.transpose(raw.stack(), [1, 0, 2])])
    np.testing.assert_allclose(a, b, atol=1e-6)
    np.testing.assert_allclose(a, c, atol=1e-6)
    for one, two, three in zip(*session.run([tf.nest.flatten(s) for s in (state, last, raw_state)])):
        np.testing.assert_allclose(one, two, atol=1e-6)
        np.testing.assert_allclose(one, three, atol=1e-6)
    assert abs(a).max() <= 0.1 + 1e-6 and "rnn/multi_rnn_cell/cell_1/lstm_cell/projection/kernel" in [
        v.op.name for v in v1.trainable_variables()]
    gradients = session.run(v1.gradients(tf.reduce_sum(dynamic), v1.trainable_variables()))
    assert len(gradients) == 8 and all(np.isfinite(g).all() for g in gradients)


def test_dropout_wrapper(session):
    x = np.ones((20, 6, 3), "f")
    keep = v1.placeholder_with_default(0.5, [])
    out, _ = nn.dynamic_rnn(cells.DropoutWrapper(cells.BasicRNNCell(8), output_keep_prob=keep), x, dtype=tf.float32)
    _start(session)
    assert 0.35 < (session.run(out) == 0).mean() < 0.65 and (session.run(out, {keep: 1.0}) != 0).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        cells.DropoutWrapper(cells.BasicRNNCell(8), input_keep_prob=1.5)
