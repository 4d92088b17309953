"""For each cause a pair of small programs: one that has it, at the line that says `# here`, and one that does not.

PAIRS: code -> (program with the fault, program without it). Both see `tf` and `np`.
"""
PAIRS = {
    "E101": ("""
@tf.function
def scale(x, n):
    return x * tf.cast(n, tf.float32)
x = tf.ones([4])
for n in range(40):
    scale(x, n)  # here
""", """
@tf.function
def scale(x, n):
    return x * tf.cast(n, tf.float32)
x = tf.ones([4])
for n in range(40):
    scale(x, tf.constant(n))
"""),
    "E102": ("""
@tf.function
def encode(x):
    return tf.reduce_sum(x, axis=0)
for n in range(1, 40):
    encode(tf.ones([n, 8]))  # here
""", """
@tf.function(reduce_retracing=True)
def encode(x):
    return tf.reduce_sum(x, axis=0)
for n in range(1, 40):
    encode(tf.ones([n, 8]))
"""),
    "E103": ("""
class Net:
    def step(self, x):
        return x + 1.0
@tf.function
def drive(step, x):
    return step(x)
net, x = Net(), tf.ones([4])
for _ in range(20000):
    drive(net.step, x)  # here
""", """
class Net:
    def step(self, x):
        return x + 1.0
@tf.function
def drive(step, x):
    return step(x)
net, x = Net(), tf.ones([4])
step = net.step
for _ in range(20000):
    drive(step, x)
"""),
    "E104": ("""
def body(v):
    return v * 2.0
x = tf.ones([4])
for _ in range(30):
    tf.function(body)(x)  # here
""", """
def body(v):
    return v * 2.0
x = tf.ones([4])
once = tf.function(body)
for _ in range(30):
    once(x)
"""),
    "E105": ("""
graph = tf.Graph()
with graph.as_default(), tf.compat.v1.Session() as session:
    for i in range(60):
        c = tf.add(tf.constant([i]), 1)  # here
        session.run(c)
""", """
graph = tf.Graph()
with graph.as_default(), tf.compat.v1.Session() as session:
    p = tf.compat.v1.placeholder(tf.int32, [1])
    c = tf.add(p, 1)
    for i in range(60):
        session.run(c, {p: [i]})
"""),
    "E106": ("""
graph = tf.Graph()
with graph.as_default():
    c = tf.constant(1) + 1
for i in range(30):
    with tf.compat.v1.Session(graph=graph) as session:  # here
        session.run(c)
""", """
graph = tf.Graph()
with graph.as_default():
    c = tf.constant(1) + 1
with tf.compat.v1.Session(graph=graph) as session:
    for i in range(30):
        session.run(c)
"""),
    "E107": ("""
x = np.zeros([4, 8], np.float32)
for _ in range(40):
    for batch in tf.data.Dataset.from_tensor_slices(x).batch(2):  # here
        pass
""", """
x = np.zeros([4, 8], np.float32)
batches = iter(tf.data.Dataset.from_tensor_slices(x).batch(2).repeat())
for _ in range(40):
    next(batches)
"""),
    "E201": ("""
p, q = tf.ones([10]), tf.ones([10])
for _ in range(20000):
    p = tf.minimum(p, q) + q  # here
""", """
@tf.function
def passes(p, q):
    return tf.minimum(p, q) + q
p, q = tf.ones([10]), tf.ones([10])
for _ in range(20000):
    p = passes(p, q)
"""),
    "E203": ("""
rows = [float(k) for k in range(20000)]
for _ in range(30):
    tf.constant(rows)  # here
""", """
rows = np.arange(20000, dtype=np.float32)
for _ in range(30):
    tf.constant(rows)
"""),
    "E204": ("""
x = np.ones([500, 500])
for _ in range(40):
    tf.constant(x, tf.float32)  # here
""", """
x = np.ones([500, 500], np.float32)
for _ in range(40):
    tf.constant(x, tf.float32)
"""),
    "E205": ("""
@tf.function
def looped(x):
    y = tf.constant(0.0)
    for i in tf.range(200):  # here
        y = y + x * tf.cast(i, tf.float32)
    return y
x = tf.constant(2.0)
for _ in range(2000):
    looped(x)
""", """
@tf.function
def vector(x):
    return tf.reduce_sum(x * tf.cast(tf.range(200), tf.float32))
x = tf.constant(2.0)
for _ in range(2000):
    vector(x)
"""),
    "E206": ("""
@tf.function
def f(x):
    for i in range(1500):  # here
        x = x + 1.0
    return x
f(tf.constant(1.0))
""", """
@tf.function
def f(x):
    for i in tf.range(1500):
        x = x + 1.0
    return x
f(tf.constant(1.0))
"""),
    "E207": ("""
x = tf.ones([200])
total = 0.0
for k in range(5000):
    total += float(x[k % 200])  # here
""", """
x = tf.ones([200])
v = x.numpy()
total = 0.0
for k in range(5000):
    total += float(v[k % 200])
"""),
    "E301": ("""
@tf.function
def scale(x, n):
    return x * n
x = tf.ones([4])
for n in range(200):
    scale(x, n)  # here
""", """
@tf.function
def scale(x, n):
    return x * n
x = tf.ones([4])
for n in range(200):
    scale(x, n % 5)
"""),
    "E302": ("""
graph = tf.Graph()
with graph.as_default():
    p = tf.compat.v1.placeholder(tf.float32, [None, 8])
    c = tf.reduce_sum(p)
with tf.compat.v1.Session(graph=graph) as session:
    for n in range(1, 60):
        session.run(c, {p: np.ones([n, 8], np.float32)})  # here
""", """
graph = tf.Graph()
with graph.as_default():
    p = tf.compat.v1.placeholder(tf.float32, [None, 8])
    c = tf.reduce_sum(p)
with tf.compat.v1.Session(graph=graph) as session:
    for n in range(1, 60):
        session.run(c, {p: np.ones([64, 8], np.float32)})
"""),
    "E303": ("""
@tf.function
def loss(i):
    return i * 2.0
losses, k = [], tf.constant(1.0)
for _ in range(4000):
    losses.append(loss(k))  # here
""", """
@tf.function
def loss(i):
    return i * 2.0
losses, k = [], tf.constant(1.0)
for _ in range(4000):
    losses.append(float(loss(k)))
"""),
    "E304": ("""
w = tf.Variable(2.0)
for _ in range(150):
    with tf.GradientTape(persistent=True) as tape:  # here
        y = w * w
    tape.gradient(y, w)
""", """
w = tf.Variable(2.0)
for _ in range(150):
    with tf.GradientTape() as tape:
        y = w * w
    tape.gradient(y, w)
"""),
    "E305": ("""
for k in range(100):
    v = tf.Variable(float(k))  # here
    v.assign_add(1.0)
""", """
v = tf.Variable(0.0)
for k in range(100):
    v.assign(float(k))
    v.assign_add(1.0)
"""),
    "E401": ("""
def slow(v):
    pause(0.002)
    return v
ds = tf.data.Dataset.range(60).map(lambda v: tf.numpy_function(slow, [v], tf.int64))
for v in ds:  # here
    pause(0.002)
""", """
ds = tf.data.Dataset.range(60).map(lambda v: v + 1)
for v in ds:
    pause(0.002)
"""),
    "E402": ("""
@tf.function
def py(v):
    return tf.py_function(lambda t: t + 1, [v], tf.int64)  # here
for k in range(1200):
    py(tf.constant(k, tf.int64))
""", """
@tf.function
def plain(v):
    return v + 1
for k in range(1200):
    plain(tf.constant(k, tf.int64))
"""),
    "E108": ("""
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
x, y = np.zeros([8, 4], np.float32), np.zeros([8, 1], np.float32)
for rate in (0.1, 0.05, 0.02, 0.01, 0.005, 0.002):
    model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(rate))  # here
    model.train_on_batch(x, y)
""", """
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
x, y = np.zeros([8, 4], np.float32), np.zeros([8, 1], np.float32)
model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.1))
for rate in (0.1, 0.05, 0.02, 0.01, 0.005, 0.002):
    model.optimizer.learning_rate = rate
    model.train_on_batch(x, y)
"""),
    "E202": ("""
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
state = np.zeros([1, 4], np.float32)
for _ in range(25):
    model.predict(state, verbose=0)  # here
""", """
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
state = np.zeros([1, 4], np.float32)
for _ in range(25):
    model(state, training=False)
"""),
    "E210": ("""
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
x = tf.ones([4, 8])
for _ in range(600):
    model(x)  # here
""", """
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
call, x = tf.function(model), tf.ones([4, 8])
for _ in range(600):
    call(x)
"""),
    "E405": ("""
w = tf.Variable(tf.random.normal([12, 3]))
@tf.function
def step(row):
    w.assign_sub(0.01 * tf.matmul(row, tf.matmul(row, w), transpose_a=True))
ds = tf.data.Dataset.from_tensor_slices(np.ones([80, 12], np.float32))
for row in ds:  # here
    step(row[tf.newaxis, :])
    pause(0.001)
""", """
w = tf.Variable(tf.random.normal([12, 3]))
@tf.function
def step(rows):
    w.assign_sub(0.01 * tf.matmul(rows, tf.matmul(rows, w), transpose_a=True))
ds = tf.data.Dataset.from_tensor_slices(np.ones([80, 12], np.float32))
for rows in ds.batch(16):
    step(rows)
    pause(0.001)
"""),
    "E306": ("""
kept = []
for k in range(260):
    kept.append(tf.data.Dataset.range(1).map(lambda v: tf.py_function(lambda t: t + k, [v], tf.int64)))  # here
""", """
for k in range(260):
    made = tf.data.Dataset.range(1).map(lambda v: tf.py_function(lambda t: t + k, [v], tf.int64))
"""),
    "E403": ("""
weights = tf.random.normal([16])
ds = tf.data.Dataset.range(12000)
ds = ds.map(lambda v: tf.reduce_sum(weights * tf.cast(v, tf.float32)))  # here
for batch in ds.batch(256):
    pass
""", """
weights = tf.random.normal([16])
ds = tf.data.Dataset.range(12000).batch(256)
ds = ds.map(lambda v: tf.reduce_sum(weights * tf.cast(v, tf.float32)[:, None], axis=1))
for batch in ds:
    pass
"""),
    "E404": ("""
def decode(v):
    pause(0.0005)
    return v
ds = tf.data.Dataset.range(200).map(lambda v: tf.numpy_function(decode, [v], tf.int64))
ds = ds.shuffle(150)  # here
for epoch in range(2):
    for v in ds:
        pass
""", """
def decode(v):
    pause(0.0005)
    return v
ds = tf.data.Dataset.range(200).shuffle(150)
ds = ds.map(lambda v: tf.numpy_function(decode, [v], tf.int64))
for epoch in range(2):
    for v in ds:
        pass
"""),
    "E501": ("""
import os, tempfile
v, x = tf.Variable(tf.ones([64])), tf.ones([1, 4])
with tempfile.TemporaryDirectory() as folder:
    for k in range(40):
        v.assign_add(tf.ones([64]))
        tf.train.Checkpoint(v=v).write(os.path.join(folder, "c"))  # here
""", """
import os, tempfile
v, x = tf.Variable(tf.ones([64])), tf.ones([1, 4])
checkpoint = tf.train.Checkpoint(v=v)
with tempfile.TemporaryDirectory() as folder:
    for k in range(40):
        v.assign_add(tf.ones([64]))
        if k % 20 == 19:
            checkpoint.write(os.path.join(folder, "c"))
"""),
    "E901": ("""
turns = [0]
def slower(v):
    turns[0] += 1
    for _ in range(turns[0] // 8):
        pass
    return v
@tf.function
def call(v):
    return tf.numpy_function(slower, [v], tf.float32)
x = tf.constant(1.0)
for _ in range(12000):
    call(x)  # here
""", """
def steady(v):
    return v
@tf.function
def call(v):
    return tf.numpy_function(steady, [v], tf.float32)
x = tf.constant(1.0)
for _ in range(12000):
    call(x)
"""),
}

# Programs without a fault.
ORDINARY = {
    "training": """
w = tf.Variable(tf.zeros([4, 1]))
x, y = tf.ones([16, 4]), tf.ones([16, 1])
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
history = [float(step(x, y)) for _ in range(300)]
""",
    "many variables": """
layers = [tf.Variable(tf.zeros([3])) for _ in range(80)]
total = tf.add_n([v.read_value() for v in layers])
""",
    "two signatures": """
@tf.function
def f(x, training):
    return x * 2.0 if training else x
for training in (True, False) * 20:
    f(tf.ones([3]), training)
""",
    "large eager": """
x = tf.ones([200000])
for _ in range(30):
    x = tf.tanh(x) + 1.0
float(tf.reduce_sum(x))
""",
    "a session": """
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    p = tf.compat.v1.placeholder(tf.float32, [])
    y = p * 2.0
    for k in range(200):
        session.run(y, {p: float(k)})
""",
    "Keras's own fit": """
x, y = np.random.rand(512, 8).astype(np.float32), np.random.rand(512, 1).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="adam", metrics=["mae"])
model.fit(x, y, batch_size=32, epochs=3, validation_split=0.2, verbose=0)
model.evaluate(x, y, verbose=0)
model.predict(x, verbose=0)
""",
    "fit from a dataset": """
x, y = np.random.rand(256, 8).astype(np.float32), np.random.rand(256, 1).astype(np.float32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256).batch(32).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
model.fit(ds, epochs=3, verbose=0)
""",
    "custom loop over a dataset": """
x, y = np.random.rand(256, 8).astype(np.float32), np.random.rand(256, 1).astype(np.float32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256).batch(32).prefetch(2)
w = tf.Variable(tf.zeros([8, 1]))
@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(a @ w - b))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
for epoch in range(4):
    total = 0.0
    for a, b in ds:
        total += float(step(a, b))
""",
    "three models": """
for units in (4, 8, 16):
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(units), tf.keras.layers.Dense(1)])
    model.compile(loss="mse", optimizer="sgd")
    model.fit(np.zeros([64, 4], np.float32), np.zeros([64, 1], np.float32), epochs=1, verbose=0)
""",
    "weights saved after each epoch": """
import os, tempfile
x, y = np.random.rand(4096, 8).astype(np.float32), np.random.rand(4096, 1).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
with tempfile.TemporaryDirectory() as folder:
    for epoch in range(3):
        model.fit(x, y, epochs=1, verbose=0)
        model.save_weights(os.path.join(folder, "w.weights.h5"))
""",
    "numpy and tensors": """
a = np.random.rand(64, 64).astype(np.float32)
for _ in range(50):
    b = tf.linalg.matmul(a, a).numpy()
    a = b / np.abs(b).max()
""",
    "a recurrent layer": """
cell = tf.keras.layers.LSTM(8)
x = tf.random.normal([4, 12, 5])
run = tf.function(cell)
for _ in range(20):
    run(x)
""",
    "while loop of real work": """
@tf.function
def power(m, n):
    i, y = tf.constant(0), m
    while i < n:
        y = y @ m
        y = y / tf.norm(y)
        i += 1
    return y
m = tf.random.normal([128, 128])
for _ in range(5):
    power(m, tf.constant(20))
""",
    "a few shapes": """
@tf.function
def f(x):
    return tf.reduce_sum(x * x)
for _ in range(30):
    for n in (8, 16, 32):
        f(tf.ones([n]))
""",
    "nested structures": """
@tf.function
def f(d):
    return {"sum": d["a"] + d["b"][0], "rest": d["b"][1]}
for _ in range(60):
    f({"a": tf.ones([3]), "b": (tf.ones([3]), tf.zeros([2]))})
""",
    "text": """
words = tf.constant(["one two", "three", "four five six"])
for _ in range(20):
    tf.strings.length(tf.strings.join([words, words], separator=" "))
""",
    "losses as numbers": """
@tf.function
def loss(x):
    return tf.reduce_mean(x * x)
x = tf.ones([64])
history = []
for _ in range(2000):
    history.append(loss(x).numpy())
""",
    "one persistent tape": """
w = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    a, b = tf.reduce_sum(w * w), tf.reduce_sum(w)
tape.gradient(a, w), tape.gradient(b, w)
del tape
""",
    "variables of a list": """
class Net(tf.Module):
    def __init__(self):
        self.w = [tf.Variable(tf.random.normal([16, 16])) for _ in range(60)]
    @tf.function
    def __call__(self, x):
        for w in self.w:
            x = tf.tanh(x @ w)
        return x
net, x = Net(), tf.ones([2, 16])
for _ in range(20):
    net(x)
""",
    "a generator": """
def rows():
    for k in range(200):
        yield np.full([4], k, np.float32)
ds = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([4], tf.float32)).batch(20)
total = 0.0
for batch in ds:
    total += float(tf.reduce_sum(batch))
""",
    "files": """
import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    for k in range(20):
        path = os.path.join(folder, f"row{k}.txt")
        tf.io.write_file(path, f"row {k}")
        tf.strings.length(tf.io.read_file(path))
""",
}

# Programs for patches, where that of PAIRS would leave too little to gain.
PATCHED = {
    "E401": """
def slow(v):
    pause(0.001)
    return v
ds = tf.data.Dataset.range(80).map(lambda v: tf.numpy_function(slow, [v], tf.int64))
for v in ds:
    pause(0.004)
""",
}
