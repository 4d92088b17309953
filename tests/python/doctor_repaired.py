"""The programs of tests/zoo with their fault repaired, shortened: on these the doctor finds nothing worth showing.

REPAIRED: name of the program -> the repaired form. Each sees `tf` and `np`.
"""
_MODEL = """
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
x, y = np.random.rand(64, 8).astype(np.float32), np.random.rand(64, 1).astype(np.float32)
"""

REPAIRED = {
    "01_python_scalar_args": """
@tf.function
def scale(x, n):
    return x * n + 1.0
x, numbers = tf.ones([16]), [tf.constant(float(k)) for k in range(500)]
for n in numbers:
    scale(x, n)
""",
    "02_new_shape_every_call": """
w = tf.Variable(tf.ones([8, 8]))
@tf.function(reduce_retracing=True)
def encode(x):
    return tf.reduce_sum(tf.tanh(tf.matmul(x, w)), axis=0)
for n in range(1, 400):
    encode(tf.ones([n, 8]))
""",
    "03_bound_method_argument": """
class Net:
    def __init__(self):
        self.w = tf.Variable(tf.ones([8, 8]))
    def step(self, x):
        return tf.matmul(x, self.w)
@tf.function
def drive(step, x):
    return tf.reduce_sum(step(x))
net, x = Net(), tf.ones([4, 8])
step = net.step
for _ in range(3000):
    drive(step, x)
""",
    "04_function_made_in_loop": """
@tf.function
def body(v):
    return v * 2.0 + 1.0
x = tf.ones([16])
for _ in range(500):
    body(x)
""",
    "06_method_per_instance": """
@tf.function
def acquire(k, x):
    return tf.reduce_sum(x * k)
x, ks = tf.ones([16]), [tf.constant(float(k)) for k in range(400)]
for k in ks:
    acquire(k, x)
""",
    "07_python_list_args": """
@tf.function
def total(v):
    return tf.reduce_sum(v)
rows = np.arange(1200, dtype=np.float32).reshape(300, 4)
for row in rows:
    total(tf.constant(row))
""",
    "08_odd_last_batch": _MODEL + """
for n in (64, 32, 64, 48) * 60:
    model.predict_on_batch(x[:n])
""",
    "09_v1_graph_grows_in_loop": """
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    p = tf.compat.v1.placeholder(tf.int32, [1])
    c = tf.add(p, 2 * p)
    for i in range(1500):
        session.run(c, {p: np.array([i], np.int32)})
""",
    "10_v1_session_per_call": """
graph = tf.Graph()
with graph.as_default():
    p = tf.compat.v1.placeholder(tf.int32, [1])
    c = tf.add(p, 2 * p)
with tf.compat.v1.Session(graph=graph) as session:
    for i in range(1000):
        session.run(c, {p: np.array([i], np.int32)})
""",
    "11_v1_feed_dict": """
graph = tf.Graph()
with graph.as_default():
    a, b = tf.compat.v1.placeholder(tf.int32), tf.compat.v1.placeholder(tf.int32)
    c = tf.add(a, b)
rows, one = np.arange(100000, dtype=np.int32), np.int32(1)
with tf.compat.v1.Session(graph=graph) as session:
    for _ in range(300):
        session.run(c, {a: rows, b: one})
""",
    "12_v1_assign_in_loop": """
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    v = tf.compat.v1.get_variable("w", shape=[32, 32], dtype=tf.float32, initializer=tf.compat.v1.zeros_initializer())
    p = tf.compat.v1.placeholder(tf.float32, [32, 32])
    assign = v.assign(p)
    session.run(tf.compat.v1.global_variables_initializer())
    value = np.ones([32, 32], np.float32)
    for i in range(1000):
        session.run(assign, {p: value * i})
""",
    "13_v1_feed_varying_sizes": """
graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [None, 256])
    c = tf.matmul(a, tf.ones([256, 256]))
rows = np.random.rand(512, 256).astype(np.float32)
with tf.compat.v1.Session(graph=graph) as session:
    for n in (64, 128, 256, 512) * 40:
        session.run(c, {a: rows[:n]})
""",
    "14_predict_in_loop": _MODEL + """
for _ in range(200):
    model(x[:1], training=False)
""",
    "15_calling_approach": _MODEL + """
call = tf.function(lambda t: model(t, training=False))
batch = tf.constant(x[:8])
for _ in range(500):
    call(batch)
""",
    "16_predict_dataset_in_loop": _MODEL + """
for _ in range(200):
    model.predict_on_batch(x[:8])
""",
    "17_rl_predict_and_fit": _MODEL + """
model.compile(loss="mse", optimizer="adam")
for i in range(100):
    q = np.array(model.predict_on_batch(x[i % 60:i % 60 + 1]))
    model.train_on_batch(x[i % 60:i % 60 + 1], q + 0.1)
""",
    "19_models_in_loop": _MODEL + """
model.compile(loss="mse", optimizer="sgd")
first = model.get_weights()
for rate in (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003):
    model.set_weights(first)
    model.optimizer.learning_rate = rate
    for _ in range(20):
        model.train_on_batch(x, y)
""",
    "22_custom_training_loop": """
x, y = tf.random.normal([16, 8]), tf.random.normal([16, 1])
w1, w2 = tf.Variable(tf.ones([8, 16]) * 0.1), tf.Variable(tf.ones([16, 1]) * 0.1)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.matmul(x, w1))
        loss = tf.reduce_mean(tf.square(tf.matmul(h, w2) - y))
    g1, g2 = tape.gradient(loss, [w1, w2])
    w1.assign_sub(0.01 * g1)
    w2.assign_sub(0.01 * g2)
    return loss
for _ in range(5000):
    step(x, y)
""",
    "23_eager_small_ops": """
@tf.function
def chain(p, q):
    for _ in range(20):
        p = p + q
        p = p * q
    return p
a, b = tf.ones([10]), tf.ones([10])
for _ in range(3000):
    chain(a, b)
""",
    "24_eager_python_scalars": """
@tf.function
def f(x):
    return (x * 2.0 + 1.0) / 2.0
x = tf.ones([10])
for _ in range(10000):
    f(x)
""",
    "25_persistent_tape": """
w, x = tf.Variable(tf.ones([32, 32])), tf.ones([4, 32])
@tf.function
def step():
    with tf.GradientTape() as tape:
        h = tf.tanh(tf.matmul(x, w))
        total = tf.reduce_sum(h) + tf.reduce_sum(h * h)
    return tape.gradient(total, w)
for _ in range(2000):
    step()
""",
    "26_variables_in_loop": """
z = np.zeros([16, 16], np.float32)
v = tf.Variable(z)
@tf.function
def step():
    v.assign_add(v * 2.0)
for _ in range(2000):
    v.assign(z)
    step()
""",
    "27_list_to_tensor": """
rows = np.random.rand(64, 256).astype(np.float32)
for _ in range(1500):
    tf.convert_to_tensor(rows)
""",
    "28_varying_sizes_eager": """
for n in (50000, 100000, 200000) * 200:
    a = tf.ones([n])
    tf.reduce_sum(a * 2.0 + a)
""",
    "29_range_loop_in_function": """
@tf.function
def vector(x):
    return tf.reduce_sum(x * tf.cast(tf.range(200), tf.float32))
x = tf.constant(2.0)
for _ in range(2500):
    vector(x)
""",
    "30_iterator_each_epoch": """
batches = iter(tf.data.Dataset.from_tensor_slices(np.arange(64, dtype=np.float32)).batch(16).repeat())
for _ in range(3000):
    next(batches)
""",
    "31_dataset_made_each_call": """
x = np.zeros([4, 15], np.float32)
@tf.function
def double(t):
    return t * 2.0
for _ in range(700):
    double(tf.constant(x))
""",
    "32_from_generator_epochs": """
def gen():
    for epoch in range(500):
        yield np.repeat(np.arange(32, dtype=np.float32)[:, None], 8, axis=1)
ds = tf.data.Dataset.from_generator(gen, output_signature=tf.TensorSpec((32, 8), tf.float32))
for b in ds:
    pass
""",
    "33_py_function_map": """
ds = tf.data.Dataset.range(25600).batch(256).map(lambda v: tf.cast(v * 2 + 1, tf.float32), num_parallel_calls=2)
for b in ds:
    pass
""",
    "34_no_prefetch": """
def slow(v):
    pause(0.0005)
    return v
ds = tf.data.Dataset.range(100).map(lambda v: tf.numpy_function(slow, [v], tf.int64)).prefetch(4)
for b in ds:
    pause(0.005)
""",
    "35_keep_losses": """
w, k, kept = tf.Variable(tf.ones([8])), tf.constant(1.0), []
@tf.function
def loss(i):
    return tf.reduce_sum(w) * i
for _ in range(10000):
    kept.append(float(loss(k)))
""",
    "36_checkpoint_in_loop": _MODEL + """
import os, tempfile
model.compile(loss="mse", optimizer="sgd")
with tempfile.TemporaryDirectory() as folder:
    for step in range(400):
        model.train_on_batch(x, y)
        if step % 200 == 199:
            model.save_weights(os.path.join(folder, "w.weights.h5"))
""",
    "37_slice_large_tensor": """
x = np.ones(2_000_000, np.float32)
for i in range(15000):
    x[i:i + 100]
total = tf.reduce_sum(x)
""",
    "38_map_fn": """
@tf.function
def whole(t):
    return tf.reduce_sum(tf.exp(t), axis=1)
x = tf.random.normal((200, 16))
for _ in range(1500):
    whole(x)
""",
    "39_compile_in_loop": _MODEL + """
model.compile(loss="mse", optimizer="sgd")
for _ in range(120):
    model.train_on_batch(x, y)
""",
    "90_map_per_element": """
w = tf.constant([1.0, 2.0, 3.0, 4.0])
ds = tf.data.Dataset.range(4096).batch(256).map(lambda v: tf.reduce_sum(w * tf.cast(v, tf.float32)[:, None], axis=1))
for _ in range(20):
    for b in ds:
        pass
""",
    "91_shuffle_refill": """
ds = tf.data.Dataset.range(1000).shuffle(1000).map(lambda v: tf.fill([32, 32], tf.cast(v, tf.float32)))
for _ in range(3):
    for v in ds:
        pass
""",
    "92_batch_of_one": """
w = tf.Variable(tf.random.normal([64, 10]) * 0.1)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
ds = tf.data.Dataset.from_tensor_slices((tf.random.normal([2048, 64]), tf.random.uniform([2048], 0, 10, tf.int32))).batch(32)
for _ in range(5):
    for x, y in ds:
        step(x, y)
""",
}
REPAIRED["20_models_in_loop_cleared"] = REPAIRED["19_models_in_loop"]
