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
import time
def slow(v):
    time.sleep(0.002)
    return v
ds = tf.data.Dataset.range(60).map(lambda v: tf.numpy_function(slow, [v], tf.int64))
for v in ds:  # here
    time.sleep(0.002)
""", """
import time
ds = tf.data.Dataset.range(60).map(lambda v: v + 1)
for v in ds:
    time.sleep(0.002)
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
}
