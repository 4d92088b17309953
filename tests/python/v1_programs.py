"""Ordinary programs in the style of TensorFlow 1 tutorials, on made data. Each prints numbers.

`python v1_programs.py` (with TensorFlow, whose compat.v1 then stands for `tensorflow`) writes what PROGRAMS print to
v1_programs.json. ONLY_HERE use what TensorFlow 2.21 no longer has: tf.layers and recurrent cells."""
import contextlib
import io
import json
import pathlib

HERE = pathlib.Path(__file__).parent
START = """
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(7)
def weights(*shape):
    return tf.Variable((rng.randn(*shape) * 0.3).astype("float32"))
def show(*values):
    print(" ".join("%.4f" % v for a in values for v in np.ravel(a)))
"""

PROGRAMS = {
    "basic operations": """
a, b = tf.constant(2), tf.constant(3)
x, y = tf.placeholder(tf.int16), tf.placeholder(tf.int16)
with tf.Session() as sess:
    show(sess.run(a + b), sess.run(tf.multiply(x, y), feed_dict={x: 2, y: 3}), sess.run(tf.matmul([[3., 3.]], [[2.], [2.]])))
""",
    "datasets": """
tf.disable_v2_behavior()
X = rng.rand(6, 2).astype("f"); Y = np.arange(6)
pair = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(3, seed=1).batch(4)).get_next()
p = tf.placeholder(tf.float32, [None, 2])
fed = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices({"a": p}).padded_batch(2, {"a": [2]}).unbatch())
first = fed.get_next()["a"]
mixed = tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(5), tf.data.Dataset.range(5, 9)], [0.5, 0.5], seed=3)
drawn = tf.data.make_one_shot_iterator(mixed).get_next()
with tf.Session() as sess:
    sess.run(fed.initializer, {p: X})
    show(*sess.run(pair), *sess.run(pair), sess.run(first), *[sess.run(drawn) for _ in range(9)])
""",
    "linear regression": """
X = rng.rand(50).astype("f"); Y = 2 * X + 0.5
x, y = tf.placeholder("float"), tf.placeholder("float")
W, b = tf.Variable(0.3, name="weight"), tf.Variable(-0.2, name="bias")
pred = tf.add(tf.multiply(x, W), b)
cost = tf.reduce_sum(tf.pow(pred - y, 2)) / (2 * 50)
opt = tf.train.GradientDescentOptimizer(0.3).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(30):
        for p, q in zip(X, Y):
            sess.run(opt, {x: p, y: q})
    show(sess.run([cost, W, b], {x: X, y: Y}))
""",
    "logistic regression": """
X = rng.randn(200, 6).astype("f"); labels = np.eye(3)[np.argmax(X[:, :3], 1)]
x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 3])
W, b = tf.Variable(tf.zeros([6, 3])), tf.Variable(tf.zeros([3]))
pred = tf.nn.softmax(tf.matmul(x, W) + b)
cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(pred), reduction_indices=1))
step = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
right = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    for i in range(60):
        sess.run(step, {x: X, y: labels})
    show(sess.run(cost, {x: X, y: labels}), accuracy.eval({x: X, y: labels}))
""",
    "multilayer perceptron": """
X = rng.randn(128, 4).astype("f"); T = (X[:, 0] * X[:, 1] > 0).astype("int32")
x, t = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [None])
h = tf.nn.relu(tf.nn.xw_plus_b(x, weights(4, 16), tf.Variable(tf.zeros([16]))))
keep = tf.placeholder(tf.float32)
logits = tf.matmul(tf.nn.dropout(h, keep), weights(16, 2))
loss = tf.losses.sparse_softmax_cross_entropy(labels=t, logits=logits)
global_step = tf.Variable(0, trainable=False)
rate = tf.train.exponential_decay(0.02, global_step, 20, 0.9, staircase=True)
step = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for i in range(80):
    step.run({x: X, t: T, keep: 1.0})
show(loss.eval({x: X, t: T, keep: 1.0}), global_step.eval(), rate.eval())
""",
    "convolutional network": """
X = rng.rand(32, 8, 8, 1).astype("f"); Y = np.eye(2)[(X[:, :4].sum((1, 2, 3)) > X[:, 4:].sum((1, 2, 3))).astype(int)]
x, y = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.float32, [None, 2])
def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding='SAME')
h = tf.nn.relu(conv2d(x, weights(3, 3, 1, 6)) + tf.Variable(tf.constant(0.1, shape=[6])))
h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
h = tf.reshape(tf.nn.relu(conv2d(h, weights(3, 3, 6, 4))), [-1, 4 * 4 * 4])
logits = tf.matmul(h, weights(64, 2))
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
step = tf.train.MomentumOptimizer(0.02, 0.9).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(25):
        sess.run(step, {x: X, y: Y})
    show(sess.run(loss, {x: X, y: Y}))
""",
    "autoencoder": """
X = rng.rand(64, 10).astype("f")
x = tf.placeholder("float", [None, 10])
enc = tf.nn.sigmoid(tf.add(tf.matmul(x, weights(10, 4)), weights(4)))
dec = tf.nn.sigmoid(tf.add(tf.matmul(enc, weights(4, 10)), weights(10)))
cost = tf.reduce_mean(tf.pow(x - dec, 2))
opt = tf.train.RMSPropOptimizer(0.01).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(40):
        _, c = sess.run([opt, cost], feed_dict={x: X})
    show(c)
""",
    "generative adversarial network": """
real = rng.randn(64, 2).astype("f") * 0.5 + 1; noise = rng.randn(64, 3).astype("f")
z, x = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 2])
with tf.variable_scope("g"):
    g = tf.matmul(tf.nn.tanh(tf.matmul(z, tf.get_variable("a", initializer=rng.randn(3, 8).astype("f") * 0.3))),
                  tf.get_variable("b", initializer=rng.randn(8, 2).astype("f") * 0.3))
first, second = rng.randn(2, 8).astype("f"), rng.randn(8, 1).astype("f")
def judge(v):
    with tf.variable_scope("d", reuse=tf.AUTO_REUSE):
        return tf.matmul(tf.nn.relu(tf.matmul(v, tf.get_variable("a", initializer=first))), tf.get_variable("b", initializer=second))
on_real, on_fake = judge(x), judge(g)
ce = tf.nn.sigmoid_cross_entropy_with_logits
d_loss = tf.reduce_mean(ce(logits=on_real, labels=tf.ones_like(on_real)) + ce(logits=on_fake, labels=tf.zeros_like(on_fake)))
g_loss = tf.reduce_mean(ce(logits=on_fake, labels=tf.ones_like(on_fake)))
d_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="d")
g_vars = [v for v in tf.trainable_variables() if v.name.startswith("g")]
d_step = tf.train.AdamOptimizer(0.01).minimize(d_loss, var_list=d_vars)
g_step = tf.train.AdamOptimizer(0.01).minimize(g_loss, var_list=g_vars)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        sess.run(d_step, {x: real, z: noise}); sess.run(g_step, {z: noise})
    show(sess.run([d_loss, g_loss], {x: real, z: noise}), len(d_vars), len(g_vars))
""",
    "word2vec": """
tf.set_random_seed(1)
inputs, labels = rng.randint(0, 20, 32), rng.randint(0, 20, (32, 1))
ids, targets = tf.placeholder(tf.int32, [32]), tf.placeholder(tf.int32, [32, 1])
table = weights(20, 8)
embed = tf.nn.embedding_lookup(table, ids)
drawn = (tf.constant([2, 5, 11, 17], tf.int64), tf.ones([32, 1]) * 0.4, tf.ones([4]) * 0.4)
loss = tf.reduce_mean(tf.nn.nce_loss(weights=weights(20, 8), biases=tf.Variable(tf.zeros([20])), labels=targets,
                                     inputs=embed, num_sampled=4, num_classes=20, sampled_values=drawn))
step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(table), 1, keep_dims=True))
near = tf.matmul((table / norm)[:3], table / norm, transpose_b=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(20):
        _, l = sess.run([step, loss], {ids: inputs, targets: labels})
    show(l, sess.run(near))
""",
    "recurrence by hand": """
X = rng.randn(8, 5, 3).astype("f"); Y = X.sum((1, 2))
x, y = tf.placeholder(tf.float32, [8, 5, 3]), tf.placeholder(tf.float32, [8])
W, U = weights(3, 6), weights(6, 6)
states = tf.scan(lambda h, v: tf.tanh(tf.matmul(v, W) + tf.matmul(h, U)), tf.transpose(x, [1, 0, 2]), initializer=tf.zeros([8, 6]))
out = tf.squeeze(tf.matmul(states[-1], weights(6, 1)), 1)
loss = tf.losses.mean_squared_error(y, out)
opt = tf.train.AdamOptimizer(0.02)
grads, variables = zip(*opt.compute_gradients(loss))
grads, norm = tf.clip_by_global_norm(grads, 1.0)
step = opt.apply_gradients(zip(grads, variables))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(30):
        sess.run(step, {x: X, y: Y})
    show(sess.run([loss, norm], {x: X, y: Y}))
""",
    "while loop and conditions": """
i, s = tf.constant(0), tf.constant(0.0)
n = tf.placeholder(tf.int32, [])
_, total = tf.while_loop(lambda i, s: tf.less(i, n), lambda i, s: (i + 1, s + tf.to_float(i) ** 2), [i, s])
sign = tf.cond(total > 20.0, lambda: tf.constant(1.0), lambda: tf.constant(-1.0))
with tf.Session() as sess:
    show(sess.run([total, sign], {n: 4}), sess.run([total, sign], {n: 6}))
""",
    "q learning": """
tf.reset_default_graph()
state = tf.placeholder(shape=[1, 6], dtype=tf.float32)
W = tf.Variable(rng.rand(6, 2).astype("f") * 0.01)
q = tf.matmul(state, W); action = tf.argmax(q, 1)
wanted = tf.placeholder(shape=[1, 2], dtype=tf.float32)
update = tf.train.GradientDescentOptimizer(learning_rate=0.1).minimize(tf.reduce_sum(tf.square(wanted - q)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for episode in range(15):
        s = 0
        while s < 5:
            one = np.identity(6)[s:s + 1]
            a, now = sess.run([action, q], {state: one})
            after = min(5, s + 1)
            best = np.max(sess.run(q, {state: np.identity(6)[after:after + 1]}))
            now[0, a[0]] = float(after == 5) + 0.9 * best
            sess.run(update, {state: one, wanted: now}); s = after
    show(sess.run(W))
""",
    "metrics and summaries of training": """
labels, scores = rng.randint(0, 2, 40), rng.rand(40)
y, p = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
hard = tf.cast(p > 0.5, tf.int64)
acc, acc_op = tf.metrics.accuracy(y, hard)
prec, prec_op = tf.metrics.precision(y, hard)
area, area_op = tf.metrics.auc(y, p)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    for k in range(0, 40, 10):
        sess.run([acc_op, prec_op, area_op], {y: labels[k:k + 10], p: scores[k:k + 10]})
    show(sess.run([acc, prec, area]))
""",
    "moving averages and clipping": """
w = weights(4)
target = tf.constant([1., -1., 2., 0.])
loss = tf.reduce_sum(tf.abs(w - target)) + 0.1 * tf.nn.l2_loss(w)
ema = tf.train.ExponentialMovingAverage(0.8)
step = tf.train.AdagradOptimizer(0.3).minimize(loss)
with tf.control_dependencies([step]):
    train = ema.apply([w])
clipped = tf.assign(w, tf.clip_by_value(w, -0.9, 0.9))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for i in range(10):
    sess.run(train)
show(sess.run([w, ema.average(w)]), sess.run(clipped))
sess.close()
""",
    "nearest neighbour and k-means": """
X = rng.rand(60, 2).astype("f")
pts = tf.constant(X); centres = tf.Variable(X[:3])
away = tf.reduce_sum(tf.square(tf.expand_dims(pts, 0) - tf.expand_dims(centres, 1)), 2)
mine = tf.argmin(away, 0)
means = tf.concat([tf.reduce_mean(tf.gather(pts, tf.reshape(tf.where(tf.equal(mine, c)), [1, -1])), reduction_indices=[1]) for c in range(3)], 0)
move = tf.assign(centres, means)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(8):
        sess.run(move)
    show(sess.run(centres))
""",
}

ONLY_HERE = {
    "layers": """
tf.set_random_seed(3)
X = rng.rand(64, 8, 8, 1).astype("f"); Y = (X[:, :4].sum((1, 2, 3)) > X[:, 4:].sum((1, 2, 3))).astype("int32")
x, y, training = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.bool)
h = tf.layers.conv2d(x, 8, 3, padding='same', activation=tf.nn.relu)
h = tf.layers.batch_normalization(tf.layers.max_pooling2d(h, 2, 2), training=training)
h = tf.layers.dropout(tf.layers.dense(tf.layers.flatten(h), 16, tf.nn.relu), 0.1, training=training)
logits = tf.layers.dense(h, 2, name="out")
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    before = sess.run(loss, {x: X, y: Y, training: True})
    for i in range(60):
        sess.run(step, {x: X, y: Y, training: True})
    show(sess.run(loss, {x: X, y: Y, training: True}) < 0.4 * before, len(tf.trainable_variables()))
""",
    "lstm": """
tf.set_random_seed(3)
X = rng.randn(64, 7, 3).astype("f"); Y = (X[:, :, 0].sum(1) > 0).astype("int32")
x, y = tf.placeholder(tf.float32, [None, 7, 3]), tf.placeholder(tf.int32, [None])
outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(12, state_is_tuple=True), x, dtype=tf.float32)
logits = tf.layers.dense(outputs[:, -1, :], 2)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
step = tf.train.AdamOptimizer(0.03).minimize(loss)
accuracy = tf.reduce_mean(tf.to_float(tf.nn.in_top_k(logits, y, 1)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(60):
        sess.run(step, {x: X, y: Y})
    show(sess.run(accuracy, {x: X, y: Y}) > 0.95, state.c.shape[1].value)
""",
    "bidirectional rnn": """
tf.set_random_seed(3)
X = rng.randn(32, 6, 2).astype("f"); Y = (X[:, 0, 0] > 0).astype("f")
x, y = tf.placeholder(tf.float32, [None, 6, 2]), tf.placeholder(tf.float32, [None])
cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(8), output_keep_prob=0.95) for _ in range(2)]
outputs, _ = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], x, dtype=tf.float32)
out = tf.layers.dense(tf.concat(outputs, 2)[:, 0], 1)[:, 0]
loss = tf.losses.sigmoid_cross_entropy(y, out)
step = tf.train.AdamOptimizer(0.05).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(80):
        sess.run(step, {x: X, y: Y})
    show(sess.run(loss, {x: X, y: Y}) < 0.3, len(tf.trainable_variables()))
""",
    "stacked static rnn": """
tf.set_random_seed(3)
X = rng.randn(16, 4, 3).astype("f")
x = tf.placeholder(tf.float32, [None, 4, 3])
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(5) for _ in range(2)])
outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, 4, 1), dtype=tf.float32)
loss = tf.reduce_mean(tf.square(outputs[-1] - 0.5))
step = tf.train.AdamOptimizer(0.05).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(60):
        _, l = sess.run([step, loss], {x: X})
    show(l < 0.01, len(tf.trainable_variables()))
""",
    "variational autoencoder": """
tf.set_random_seed(3)
X = (rng.rand(64, 12) > 0.5).astype("f")
x = tf.placeholder(tf.float32, [None, 12])
h = tf.layers.dense(x, 16, tf.nn.tanh)
mean, log_var = tf.layers.dense(h, 3), tf.layers.dense(h, 3)
z = mean + tf.exp(log_var / 2) * tf.random_normal(tf.shape(mean))
out = tf.layers.dense(tf.layers.dense(z, 16, tf.nn.tanh), 12)
rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=out), 1)
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), 1)
loss = tf.reduce_mean(rec + kl)
step = tf.train.AdamOptimizer(0.02).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = sess.run(loss, {x: X})
    for i in range(60):
        sess.run(step, {x: X})
    show(sess.run(loss, {x: X}) < 0.95 * first)
""",
    "transposed convolutions": """
tf.set_random_seed(3)
z = tf.random_uniform([4, 10], -1., 1.)
h = tf.reshape(tf.layers.dense(z, 3 * 3 * 8, tf.nn.relu), [-1, 3, 3, 8])
h = tf.layers.conv2d_transpose(h, 4, 4, strides=2, padding='same', activation=tf.nn.relu)
image = tf.nn.sigmoid(tf.layers.conv2d_transpose(h, 1, 2, strides=2))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    made = sess.run(image)
    show(made.shape, made.min() > 0, made.max() < 1)
""",
}


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    found = {}
    for name, source in PROGRAMS.items():
        with tf.Graph().as_default(), contextlib.redirect_stdout(io.StringIO()) as out:
            source = (START + source).replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
            source = source.replace("tf.reset_default_graph()\n", "")
            exec(compile(source, name, "exec"), {"__name__": "__main__"})
        found[name] = out.getvalue()
    (HERE / "v1_programs.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
