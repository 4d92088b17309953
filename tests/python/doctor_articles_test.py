"""Mistakes that articles on TensorFlow's performance warn of, in programs of ours: the doctor names those that are mistakes at
their lines, and is silent on those that are not."""
import pytest
from doctor_test import examine

from evenflow._src.doctor import report

_CNN = """
model = tf.keras.Sequential([tf.keras.layers.Input((16, 16, 3)), tf.keras.layers.Conv2D(4, 3, activation="relu"),
                             tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
images, labels = np.random.rand(40, 16, 16, 3).astype(np.float32), np.random.randint(0, 10, 40)
"""
# name -> (program, the codes that must be found at its lines marked `# CODE`, whatever else must not be found)
FOUND = {
    "a session for each sum": """
graph = tf.Graph()
with graph.as_default():
    for i in range(200):
        c = tf.add(tf.constant([i]), tf.constant([2 * i]))
        with tf.compat.v1.Session() as session:  # E106
            session.run(c)
""",
    "a session for each sum, of eager values": """
for i in range(200):
    c = tf.add(tf.constant([i]), tf.constant([2 * i]))
    with tf.compat.v1.Session() as session:  # E106
        session.run(c)
""",
    "a generator that makes elements while the step waits": """
def images():
    for _ in range(60):
        pause(0.002)
        yield np.zeros([8, 8, 3], np.float32)
ds = tf.data.Dataset.from_generator(images, output_signature=tf.TensorSpec([8, 8, 3], tf.float32))
for image in ds:  # E401
    pause(0.002)
""",
    "a loop over tf.range, called often": """
@tf.function
def looped(x):
    y = tf.constant(0.0)
    for i in tf.range(5):  # E205
        y = y + x * tf.cast(i, tf.float32)
    return y
x = tf.constant(2.0)
for _ in range(6000):
    looped(x)
""",
    "an array of doubles fed to floats": """
array = np.random.rand(1000, 1000)
with tf.compat.v1.Session(graph=tf.Graph()) as session, session.graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [1000, 1000])
    y = tf.reduce_sum(tf.matmul(x, tf.transpose(x)))
    for _ in range(10):
        session.run(y, {x: array})  # E204
""",
}
SILENT = {  # the articles say that these are slow, or get slower; they are not, or do not
    "two sizes of a placeholder": """
graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [None, 100])
    c = tf.matmul(a, tf.ones([100, 100]))
with tf.compat.v1.Session(graph=graph) as session:
    session.run(c, {a: np.ones([100, 100], np.float32)})
    session.run(c, {a: np.ones([200, 100], np.float32)})
""",
    "a second call after an assignment": """
a, b = tf.Variable(tf.random.normal([300, 300])), tf.Variable(tf.random.normal([300, 300]))
tf.matmul(a, b).numpy()
a.assign(tf.random.normal([300, 300]))
tf.matmul(a, b).numpy()
""",
    "the same matmul ten times": """
for _ in range(10):
    x = tf.random.normal([300, 300])
    tf.reduce_sum(tf.matmul(x, tf.transpose(x))).numpy()
""",
    "a short loop over tf.range": """
@tf.function
def looped(x):
    y = tf.constant(0.0)
    for i in tf.range(5):
        y = y + x * tf.cast(i, tf.float32)
    return y
for _ in range(21):
    looped(tf.constant(2.0))
""",
    "a model called directly": """
model = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(10)])
model(tf.random.normal((100, 78)))
""",
    "a whole batch at once": _CNN + """
@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = entropy(b, model(a))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for a, b in tf.data.Dataset.from_tensor_slices((images, labels)).batch(4):
    step(a, b)
""",
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_the_mistake_is_named_at_its_line(name, tmp_path):
    text = FOUND[name]
    found, _ = examine(text, tmp_path / "article.py", everything=True)
    seen = {(f.code, f.place.line) for f in found}
    for k, line in enumerate(text.split("\n"), 1):
        if "# E" in line:
            assert (line.split("# ")[1], k) in seen, [report.line(f) for f in found]
    assert not {c for c, _ in seen} & {"E101", "E102", "E901"}


@pytest.mark.parametrize("name", sorted(SILENT))
def test_what_is_no_mistake(name, tmp_path):
    found, _ = examine(SILENT[name], tmp_path / "article.py", everything=False)
    assert found == [], [report.line(f) for f in found]
