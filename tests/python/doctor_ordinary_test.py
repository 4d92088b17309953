"""Ordinary programs with a mistake that people make, and ordinary programs without one: the first finding is the mistake, at the
line that says `# CODE`; where nothing is wrong the doctor is silent."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest
from doctor_test import examine

from evenflow._src.doctor import report

MISTAKES = {
    "lambda in loop": """
data = [tf.ones([8]) * i for i in range(60)]
out = []
for d in data:
    f = tf.function(lambda v: tf.reduce_sum(v * v))  # E104
    out.append(float(f(d)))
""",
    "string mode": """
@tf.function
def run(x, name):
    return x + len(name)
for i in range(200):
    run(tf.ones([4]), "user-%d" % i)  # E101
""",
    "ragged batches": """
@tf.function
def pool(x):
    return tf.reduce_mean(x, axis=0)
rng = np.random.default_rng(0)
for i in range(150):
    pool(tf.constant(rng.random((rng.integers(1, 400), 16), np.float32)))  # E102
""",
    "iterate tensor": """
x = tf.random.normal([5000])
total = 0.0
for i in range(5000):
    total += float(x[i])  # E207
print(total)
""",
    "predict loop": """
m = tf.keras.Sequential([tf.keras.layers.Input((6,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])
for step in range(60):
    state = np.random.rand(1, 6).astype("f4")
    q = m.predict(state, verbose=0)[0]  # E202
""",
    "eager rnn": """
w = tf.random.normal([8, 8])
h = tf.zeros([1, 8])
for t in range(4000):
    h = tf.tanh(tf.matmul(h, w) + 0.1)
    h = h / (tf.norm(h) + 1e-6)  # E201
print(float(tf.reduce_sum(h)))
""",
    "list to tensor": """
rows = [float(i % 7) for i in range(40000)]
w = tf.Variable(1.0)
for _ in range(40):
    y = tf.reduce_sum(tf.constant(rows) * w)  # E203
""",
    "keep tensors": """
losses = []
@tf.function
def step(x):
    return tf.reduce_mean(x * x)
x = tf.random.normal([64])
for i in range(20000):
    losses.append(step(x))  # E303
""",
    "python map": """
def augment(v):
    return (v * 3 % 17).astype(np.int64)
ds = tf.data.Dataset.range(5000).map(lambda v: tf.numpy_function(augment, [v], tf.int64), num_parallel_calls=4).batch(50)  # E402
for b in ds:
    tf.reduce_sum(b)
""",
    "unrolled": """
@tf.function
def power(x):
    for i in range(900):  # E206
        x = x * 1.001 + 0.001
    return x
print(float(power(tf.constant(1.0))))
""",
    "double data": """
x = np.random.rand(2000, 500)
m = tf.keras.Sequential([tf.keras.layers.Input((500,)), tf.keras.layers.Dense(4)])
for i in range(60):
    m(x)  # E204
""",
}
FAULTLESS = {
    "fit": """
x, y = np.random.rand(1000, 20).astype("f4"), np.random.randint(0, 2, 1000)
m = tf.keras.Sequential([tf.keras.layers.Input((20,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dropout(0.2),
                         tf.keras.layers.Dense(2)])
m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
m.fit(x, y, epochs=5, validation_split=0.2, verbose=0, callbacks=[tf.keras.callbacks.EarlyStopping(patience=2)])
m.evaluate(x, y, verbose=0); m.predict(x, verbose=0)
""",
    "gan": """
g = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4)])
d = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
og, od = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
@tf.function
def step(real):
    z = tf.random.normal([32, 8])
    with tf.GradientTape() as a, tf.GradientTape() as b:
        fake = g(z, training=True)
        r, f = d(real, training=True), d(fake, training=True)
        lg = bce(tf.ones_like(f), f)
        ld = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    og.apply_gradients(zip(a.gradient(lg, g.trainable_variables), g.trainable_variables))
    od.apply_gradients(zip(b.gradient(ld, d.trainable_variables), d.trainable_variables))
    return lg, ld
for i in range(300):
    lg, ld = step(tf.random.normal([32, 4]))
print(float(lg), float(ld))
""",
    "pipeline": """
ds = (tf.data.Dataset.range(20000).shuffle(1000).batch(128, drop_remainder=True)
      .map(lambda v: tf.cast(v, tf.float32) / 255.0, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
w = tf.Variable(0.5)
@tf.function
def step(b):
    w.assign_sub(0.01 * tf.reduce_mean(b * w))
for epoch in range(3):
    for b in ds:
        step(b)
""",
    "rnn scan": """
cell = tf.keras.layers.LSTM(16, return_sequences=True)
x = tf.random.normal([8, 30, 4])
f = tf.function(lambda v: cell(v))
for i in range(50):
    y = f(x)
""",
    "linear regression": """
x = np.linspace(-1, 1, 200, dtype=np.float32); y = 3 * x + 1
w, b = tf.Variable(0.0), tf.Variable(0.0)
opt = tf.keras.optimizers.SGD(0.1)
@tf.function
def step():
    with tf.GradientTape() as t:
        loss = tf.reduce_mean((w * x + b - y) ** 2)
    opt.apply_gradients(zip(t.gradient(loss, [w, b]), [w, b]))
    return loss
for i in range(500):
    loss = step()
    if i % 100 == 0:
        print(i, float(loss))
""",
    "numpy interop": """
a = np.random.rand(300, 300).astype("f4")
for i in range(20):
    a = tf.linalg.matmul(a, a).numpy()
    a /= np.linalg.norm(a)
print(a.sum())
""",
    "transfer": """
base = tf.keras.Sequential([tf.keras.layers.Input((32, 32, 3)), tf.keras.layers.Conv2D(8, 3, activation="relu"),
                            tf.keras.layers.GlobalAveragePooling2D()])
base.trainable = False
m = tf.keras.Sequential([base, tf.keras.layers.Dense(5)])
m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.random.rand(128, 32, 32, 3).astype("f4"), np.random.randint(0, 5, 128)
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).cache().prefetch(2)
m.fit(ds, epochs=3, verbose=0)
""",
    "monte carlo": """
@tf.function
def estimate(n):
    p = tf.random.uniform([n, 2])
    return 4.0 * tf.reduce_mean(tf.cast(tf.reduce_sum(p * p, 1) < 1.0, tf.float32))
print(sum(float(estimate(tf.constant(200000))) for _ in range(20)) / 20)
""",
    "inference service": """
m = tf.keras.Sequential([tf.keras.layers.Input((16,)), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(3)])
serve = tf.function(m, input_signature=[tf.TensorSpec([None, 16], tf.float32)])
for k in range(400):
    serve(np.random.rand(1 + k % 7, 16).astype("f4"))
""",
}


def needs_keras(text):
    if "keras" in text and importlib.util.find_spec("keras") is None:
        pytest.skip("needs Keras")


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_the_mistake_comes_first(name, tmp_path):
    text = MISTAKES[name]
    needs_keras(text)
    found, _ = examine(text, tmp_path / "program.py")  # also if the machine made the run long
    line = next(k for k, at in enumerate(text.split("\n"), 1) if "  # E" in at)
    code = text.split("\n")[line - 1].rpartition("# ")[2]
    assert found and (found[0].code, found[0].place.line) == (code, line), [report.line(f) for f in found]


@pytest.mark.parametrize("name", sorted(FAULTLESS))
def test_nothing_is_wrong(name, tmp_path):
    needs_keras(FAULTLESS[name])
    found, _ = examine(FAULTLESS[name], tmp_path / "program.py", everything=False)
    assert found == [], [report.line(f) for f in found]


EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
SHOWN = {  # what each example does on purpose
    "calling": {"E104"}, "growing": {"E101", "E102", "E301", "E305"}, "loop": {"E105", "E106", "E205", "E206"}, "pipeline": set(),
    "second_call": {"E102"},
}


def test_every_example_is_known():
    """calls.py is what the others measure with."""
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {*SHOWN, "calls"}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_no_false_alarm_on_an_example(name):
    needs_keras((EXAMPLES / f"{name}.py").read_text())
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--json", f"{name}.py"], text=True, capture_output=True, cwd=EXAMPLES,
                          env=os.environ, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    assert {f["code"] for f in found} <= SHOWN[name], found
