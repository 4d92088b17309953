"""Mistakes that articles on TensorFlow's performance warn of, in programs of ours: the doctor names those that are mistakes at
their lines, finds nothing in those that are not, and says of the latter what it measured instead."""
import json
import os
import subprocess
import sys

import pytest
from doctor_test import examine

import evenflow
from evenflow import _core
from evenflow._src.doctor import notes, observed, report

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
    "a batch taken apart inside a function": _CNN + """
@tf.function
def step(a, b):
    for row, label in zip(a, b):  # E205
        with tf.GradientTape() as tape:
            loss = entropy(label[tf.newaxis], model(row[tf.newaxis, ...]))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for a, b in tf.data.Dataset.from_tensor_slices((images, labels)).batch(4):
    step(a, b)
""",
}
FOUND |= {
    "a training step for each element of a generator": _CNN + """
def examples():
    for k in range(40):
        yield images[k], labels[k]
def step(image, label):
    with tf.GradientTape() as tape:
        loss = entropy(label[tf.newaxis], model(image[tf.newaxis, ...]))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
ds = tf.data.Dataset.from_generator(examples, output_signature=(tf.TensorSpec([16, 16, 3], tf.float32), tf.TensorSpec([], tf.int64)))
for image, label in ds:  # E405
    step(image, label)
""",
    "single examples of a dataset that is also read in batches": """
w = tf.Variable(tf.ones([3, 2]))
def step(rows):
    w.assign_sub(tf.matmul(rows, tf.matmul(rows, w), transpose_a=True))
rows = tf.data.Dataset.from_tensor_slices(np.ones([60, 3], np.float32))
for some in rows.batch(20):
    step(some)
for one in rows:  # E405
    step(tf.expand_dims(one, 0))
""",
    "batches of one": _CNN + """
@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = entropy(b, model(a))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for a, b in tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(10).batch(1).prefetch(2):  # E405
    step(a, b)
""",
    "a model called eagerly in a loop": """
model = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(10)])
x = tf.random.normal((10, 78))
for _ in range(600):
    y = model(x)  # E210
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
    "rows of many sizes, one by one": """
@tf.function(reduce_retracing=True)
def total(row):
    return tf.reduce_sum(row, axis=1)
ds = tf.data.Dataset.range(70).map(lambda k: tf.ones([1 + k % 7, 3]))
for row in ds:
    total(row[tf.newaxis])
""",
    "a new axis for whole batches": """
@tf.function
def total(rows):
    return tf.reduce_sum(rows, axis=1)
for rows in tf.data.Dataset.from_tensor_slices(np.ones([640, 3], np.float32)).batch(8):
    total(rows[tf.newaxis])
""",
    "a model called eagerly on a large batch": """
model = tf.keras.Sequential([tf.keras.layers.Input((512,)), tf.keras.layers.Dense(1024), tf.keras.layers.Dense(512)])
x = tf.random.normal((512, 512))
for _ in range(20):
    y = model(x)
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


# Of each: the program, what is timed (a kind of event, and the op it is of), and words of the note at the line marked `# note`.
NOTED = {
    "a loop over tf.range": ("""
@tf.function
def weighted(v):
    total = tf.constant(0.0)
    for k in tf.range(8):  # note
        total += v * tf.cast(k, tf.float32)
    return total
for n in range(12):
    weighted(tf.constant(3.0) + n)
""", None, ["does not trace weighted() again", "traced once in 12 calls", "went round 96 times"]),
    "a product after an assignment": ("""
left, right = tf.Variable(tf.random.normal([400, 400])), tf.Variable(tf.random.normal([400, 400]))
tf.matmul(left, right).numpy()
left.assign(tf.random.normal([400, 400]))
tf.matmul(left, right).numpy()  # note
""", ("eager op", "MatMul"), ["MatMul ran twice here and at line 3", "the first time took 5 ms, the second 2 ms", "builds no graph"]),
    "the same product again and again": ("""
for _ in range(12):
    m = tf.random.normal([400, 400])
    p = tf.matmul(m, m, transpose_b=True)  # note
    tf.reduce_sum(p).numpy()
""", ("eager op", "MatMul"), ["MatMul ran 12 times here", "the first time took 5 ms, each later one 2 ms"]),
    "a second run of a session": ("""
with tf.Graph().as_default() as graph:
    rows = tf.compat.v1.placeholder(tf.float32, [None, 300])
    product = tf.matmul(rows, tf.ones([300, 300]))
session = tf.compat.v1.Session(graph=graph)
session.run(product, {rows: np.ones([200, 300], np.float32)})
session.run(product, {rows: np.ones([500, 300], np.float32)})  # note
""", ("session run", None), ["the run of what line 4 makes happened twice here and at line 6", "for 2.5 times the data", "does not get slower"]),
    "a function called again": ("""
@tf.function
def twice(v):
    return v * 2.0
for n in range(9):
    twice(tf.ones([100]) * n)  # note
""", ("function call", None), ["twice() was traced in", "then ran 8 times here: the first time took 5 ms, each later one 2 ms"]),
    "a generator that keeps up": ("""
def numbers():
    for k in range(40):
        yield np.full([4], k, np.float32)
ds = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([4], tf.float32))
for row in ds:  # note
    pause(0.02)
""", None, ["waited for data", "the generator at article.py:5 keeps up", "40 elements"]),
}
NOTED |= {
    "a model called eagerly once": ("""
model = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="relu"), tf.keras.layers.Dense(10)])
x = tf.random.normal((100, 78))
y = model(x)  # note
""", None, ["called eagerly here, once in", "the first call builds its layers", "15_calling_approach"]),
    "a loop over a few single examples": (_CNN + """
def step(image, label):
    with tf.GradientTape() as tape:
        loss = entropy(label[tf.newaxis], model(image[tf.newaxis, ...]))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for image, label in tf.data.Dataset.from_tensor_slices((images, labels)).take(5):  # note
    step(image, label)
""", None, ["one example at a time, and line 10 makes a batch of one of it", "There were 5 in this run", "ds.batch(32)"]),
}
CALLS = ("eager op", "function call", "session run")


class Retimed(observed.Own):
    """The sums of this process with other durations, so that a busy machine changes nothing: calls of a kind (and op) took `first`
    milliseconds at first and `later` ones after that; all others took a microsecond."""

    def __init__(self, kind, operation, first, later):
        super().__init__()
        rows = sorted(self.tallies, key=lambda t: t[13])
        begun, self.tallies = False, []
        for t in rows:
            name, (samples, count, address) = observed.KINDS[t[0]], (t[5], t[6], t[9])
            if name in CALLS:
                meant = name == kind and (operation is None or _core.event_op(address // count) == operation)
                each, opening = (1e6 * later, 1e6 * later if begun else 1e6 * first) if meant else (1e3, 1e3)
                begun = begun or meant
                t = t[:7] + (int(opening + (count - 1) * each),) + t[8:15] + (int(each), int(each) if samples > 1 else int(opening), int(opening))
            self.tallies.append(t)


def said_at(text, timed, path, first=5, later=2):
    """The notes on the line marked `# note`, with these milliseconds for what is timed."""
    line = next(k for k, at in enumerate(text.split("\n"), 1) if "# note" in at)
    found, diagnosis = examine(text, path, everything=False)
    assert found == [], [report.line(f) for f in found]
    made = diagnosis.notes if timed is None else notes.notes(observed.Observed(100.0, Retimed(*timed, first, later)), [])
    return [n.what for n in made if n.place and n.place.line == line], made


@pytest.mark.parametrize("name", sorted(NOTED))
def test_what_was_measured_is_said(name, tmp_path):
    """A suspicion that this run refutes is answered at its line."""
    text, timed, words = NOTED[name]
    said, made = said_at(text, timed, tmp_path / "article.py")
    assert said and all(w in said[0] for w in words), [(n.place, n.what) for n in made]


@pytest.mark.parametrize("name", sorted(n for n in NOTED if NOTED[n][1]))
def test_nothing_is_said_of_calls_that_get_slower(name, tmp_path):
    text, timed, _ = NOTED[name]
    said, made = said_at(text, timed, tmp_path / "article.py", first=2, later=9)
    assert not said, made


def test_no_note_where_the_suspicion_is_right(tmp_path):
    """A function that is traced for each number."""
    text = """
@tf.function
def weighted(v, n):
    for k in tf.range(8):
        v += tf.cast(k, tf.float32)
    return v * n
for n in range(12):
    weighted(tf.constant(3.0), n)
"""
    found, diagnosis = examine(text, tmp_path / "article.py")
    assert "E101" in [f.code for f in found] and diagnosis.notes == []


def test_notes_in_every_form_of_the_report(tmp_path):
    program, page = tmp_path / "program.py", tmp_path / "report.html"
    program.write_text("import tensorflow as tf\n" + NOTED["a loop over tf.range"][0])

    def doctor(*options):
        return subprocess.run([sys.executable, "-m", "evenflow", "doctor", *options, str(program)], text=True, capture_output=True,
                              env={**os.environ, "NO_COLOR": "1"})

    done = doctor("--html", str(page))
    assert "Not a cause\n" in done.stderr and "program.py:6: this loop over tf.range" in " ".join(done.stderr.split()), done.stderr
    assert "Not a cause" in page.read_text() and "does not trace weighted() again" in page.read_text()
    told = json.loads(doctor("--json").stdout)["notes"]
    assert [(n["file"], n["line"]) for n in told if "tf.range" in n["message"]] == [(str(program), 6)]
    program.write_text("import tensorflow as tf\nprint(sum(range(1000)))\n")
    assert "called nothing of TensorFlow" in doctor().stderr


FAILING = {  # programs that end in an error, the line of the error, its class, and what is noted at which line before it
    "a generator that lacks an argument": ("""
import tensorflow as tf
def rows(n):
    for _ in range(n):
        yield [1.0, 2.0]
def step(row):
    return tf.reduce_sum(row[tf.newaxis])
ds = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([2], tf.float32))
for row in ds:
    step(row)
""", 9, "InvalidArgumentError", "missing 1 required positional argument: 'n'", 9, "the Python generator at line 8 makes them one by one. It got none"),
    "an error in a loop that takes a batch apart": ("""
import tensorflow as tf
w = tf.ones([3, 1])
@tf.function
def step(rows):
    for row in rows:
        y = tf.matmul(row[tf.newaxis], w)
        raise NotImplementedError("no step yet")
    return y
step(tf.ones([4, 3]))
""", 8, "NotImplementedError", "no step yet", 6, "step() ended in an error before it could be timed"),
    "an error in plain Python": ("""
import tensorflow as tf
for k in range(40):
    tf.function(lambda v: v)(1.0)
print({}["missing"])
""", 5, "KeyError", "'missing'", None, None),
}


@pytest.mark.parametrize("name", sorted(FAILING))
def test_a_program_that_ends_in_an_error(name, tmp_path):
    """The error is told as such, with what was found up to there; the exit status stays the program's."""
    text, line, kind, message, noted, words = FAILING[name]
    program, page = tmp_path / "program.py", tmp_path / "report.html"
    program.write_text(text)
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--html", str(page), str(program)], text=True, capture_output=True,
                          env={**os.environ, "NO_COLOR": "1"}, cwd=tmp_path)
    told = " ".join(done.stderr[done.stderr.index("evenflow doctor: "):].split())
    assert done.returncode == 1 and f"The program ended at program.py:{line} with an error" in told and f"{kind}: " in told, done.stderr
    assert message in told and "The program ended at" in page.read_text()
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--json", str(program)], text=True, capture_output=True)
    made = json.loads(done.stdout)
    error = made["error"]
    assert (error["type"], error["file"], error["line"]) == (kind, str(program), line) and message in error["message"]
    if noted:
        [note] = [n for n in made["notes"] if n["line"] == noted]
        assert words in note["message"] and not note["harmless"]
    else:
        assert [f["code"] for f in made["findings"]] == ["E104"]


def test_the_error_of_a_block(tmp_path):
    with pytest.raises(ZeroDivisionError), evenflow.experimental.doctor(show=False) as found:
        1 / 0  # noqa: B018 - it raises
    assert found.ending.name == "ZeroDivisionError" and found.ending.place.file == __file__
    with evenflow.experimental.doctor(show=False) as found:
        pass
    assert found.ending is None and json.loads(found.json())["error"] is None


def test_a_program_that_leaves_is_no_error(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\ntf.ones([2])\nraise SystemExit(7)\n")
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--json", str(program)], text=True, capture_output=True)
    assert done.returncode == 7 and json.loads(done.stdout)["error"] is None
