"""Other forms of the causes of `doctor_programs`, which a rule of its own or another event finds.

FORMS: name -> (code, program with the fault, at the line that says `# here`, program without it). Both see `tf` and `np`.
"""
FORMS = {
    "a Python number as operand": ("E203", """
x = tf.ones([10])
for _ in range(12000):
    y = x * 2.0  # here
""", """
x, two = tf.ones([10]), tf.constant(2.0)
for _ in range(12000):
    y = x * two
"""),
    "a new object as argument": ("E103", """
class Scale:
    def __init__(self, k):
        self.k = k
@tf.function
def apply(scale, x):
    return x * scale.k
x = tf.ones([4])
for k in range(20):
    apply(Scale(2.0), x)  # here
""", """
class Scale:
    def __init__(self, k):
        self.k = k
@tf.function
def apply(scale, x):
    return x * scale.k
x, scale = tf.ones([4]), Scale(2.0)
for k in range(20):
    apply(scale, x)
"""),
    "a decorated method of new objects": ("E103", """
class Net:
    @tf.function
    def call(self, x):
        return x * 2.0
x = tf.ones([4])
for k in range(20):
    Net().call(x)  # here
""", """
class Net:
    @tf.function
    def call(self, x):
        return x * 2.0
x, net = tf.ones([4]), Net()
for k in range(20):
    net.call(x)
"""),
    "an iterator for each epoch": ("E107", """
ds = tf.data.Dataset.from_tensor_slices(np.zeros([4, 8], np.float32)).batch(2)
for _ in range(60):
    for batch in ds:  # here
        pass
""", """
batches = iter(tf.data.Dataset.from_tensor_slices(np.zeros([4, 8], np.float32)).batch(2).repeat())
for _ in range(60):
    next(batches)
"""),
    "epochs of few batches that do real work": ("E107", """
ds = tf.data.Dataset.from_tensor_slices(np.zeros([4, 8], np.float32)).batch(2)
for _ in range(60):
    for batch in ds:  # here
        pass
""", """
ds = tf.data.Dataset.from_tensor_slices(np.zeros([4, 8], np.float32)).batch(2)
for _ in range(60):
    for batch in ds:
        pause(0.002)
"""),
    "arrays of many sizes, eagerly": ("E302", """
for k in range(1500):
    a = tf.ones([20000 + 200 * k])
    b = a * 2.0  # here
""", """
a = tf.ones([200000])
for k in range(1500):
    b = a * 2.0
"""),
    "tapes that stay alive": ("E304", """
w, tapes = tf.Variable(2.0), []
for _ in range(15):
    with tf.GradientTape(persistent=True) as tape:  # here
        y = w * w
    tapes.append(tape)
""", """
w, tapes = tf.Variable(2.0), []
for _ in range(5):
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
    tapes.append(tape)
"""),
    "a filter of single elements": ("E403", """
ds = tf.data.Dataset.range(12000).filter(lambda v: v % 3 == 0)  # here
for batch in ds.batch(256):
    pass
""", """
ds = tf.data.Dataset.range(600).filter(lambda v: v % 3 == 0)
for batch in ds.batch(256):
    pass
"""),
    "fit for one row": ("E202", """
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
model.compile("sgd", "mse")
x, y = np.zeros([1, 4], np.float32), np.zeros([1, 2], np.float32)
for _ in range(25):
    model.fit(x, y, verbose=0)  # here
""", """
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
model.compile("sgd", "mse")
x, y = np.zeros([1, 4], np.float32), np.zeros([1, 2], np.float32)
for _ in range(25):
    model.train_on_batch(x, y)
"""),
    "a while loop over tensors": ("E205", """
@tf.function
def count(n):
    i = tf.constant(0)
    while i < n:  # here
        i += 1
    return i
for _ in range(300):
    count(tf.constant(100))
""", """
@tf.function
def count(n):
    return n + 0
for _ in range(300):
    count(tf.constant(100))
"""),
    "lists in a key": ("E101", """
@tf.function
def total(v):
    return tf.reduce_sum(v)
for k in range(30):
    total([float(k), 1.0])  # here
""", """
@tf.function
def total(v):
    return tf.reduce_sum(v)
for k in range(30):
    total(tf.constant([float(k), 1.0]))
"""),
}
