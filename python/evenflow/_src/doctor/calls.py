"""E2xx: the price of one call."""
from . import source
from .causes import Finding, amount, cause, named, times

ENTRIES = {"first": "predict", "value": "fit", "shape": "evaluate"}  # by the reason of their events
EAGER_CALLS = 500  # fewer are tried out at a prompt, or once for each epoch
SMALL = 4096  # bytes: arithmetic on less takes less time than calling it


@cause("E201", "dispatch-bound: many tiny operations",
       "The processor is busy, the arithmetic is nothing; eager code is many times slower than the same in a function.",
       "eager op, sampled, by line: how many, how long, how many bytes",
       wrong="""
for _ in range(1000):
    p = (p + q) * q              # two calls for ten numbers
""", right="""
@tf.function
def passes(p, q):
    for _ in tf.range(1000):
        p = (p + q) * q
    return p
""")
def dispatch_bound(seen):
    iterated = {source.key(r.place) for r in seen.rows("iterator", by=("place",))}
    for row in seen.rows("eager op", by=("function",)):
        if row.count < 10000 or row.mean > SMALL or source.key(row.place) in iterated:
            continue  # at a loop over a dataset, most of them are the dataset's own
        each = 1e6 * row.ms / row.count
        yield Finding("E201", row.place, row.count,
                      f"about {times(row.count)} operations ran one by one in {named(row.place)}, on {row.mean:.0f} bytes each",
                      "put the pass in one @tf.function, or work on a batch",
                      cost_ms=max(0.0, row.ms * (1 - min(1.0, row.mean / 16 / each))), priced_by="eager_op")


@cause("E202", "heavy-entry: a whole-dataset entry point for one row",
       "predict is a hundred times slower than model(x).",
       "model entry (predict, fit, evaluate) with its rows, by line (counted under the doctor)",
       wrong="""
for state in states:
    q = model.predict(state[None])
""", right="""
for state in states:
    q = model(state[None], training=False)     # or model.predict_on_batch
""")
def heavy_entry(seen):
    for row in seen.rows("model entry", *ENTRIES, by=("place", "reason")):
        if row.count < 20 or row.mean > 32:
            continue
        name = ENTRIES[row.reason]
        fix = ("model.train_on_batch(x, y)" if name == "fit" else
               "model.predict_on_batch(x) or model(x, training=False), the latter in a tf.function if it is called often")
        yield Finding("E202", row.place, row.count,
                      f"model.{name} was called {times(row.count)} times with {row.mean:.3g} row{'s' * (row.mean != 1)} ({amount(row.ms / row.count)} each)",
                      fix, cost_ms=row.ms, priced_by="fit" if name == "fit" else "predict")


def _steady_ms(operations):
    """The time of a line's operations. Of small ones by their median: a pause of a busy machine in one sample counts for all calls
    that it stands for. The median of large and small ones together says nothing, but there a pause weighs less."""
    typical = operations.count * operations.late_us / 1e3
    return min(operations.ms, typical) if operations.mean <= 16 * SMALL and operations.samples > 16 else operations.ms


def eager_calls(seen):
    """(row of the calls of models that ran eagerly at a line, milliseconds of them, milliseconds of that outside of their operations)."""
    operations = {source.key(r.place): _steady_ms(r) for r in seen.rows("eager op", by=("place",))}
    for row in seen.rows("model entry", "none", by=("place",)):
        steady = row.count * row.late_us / 1e3 if row.samples > 16 else row.ms  # a median: the first call builds the layers
        took = min(row.ms, steady)
        yield row, took, max(0.0, took - operations.get(source.key(row.place), 0.0))


@cause("E210", "eager-model: a model is called operation by operation",
       "The processor is busy with Python; the same model in a function is several times quicker.",
       "model entry (call) outside of functions, and the eager ops of its line (counted under the doctor)",
       wrong="""
for batch in batches:
    y = model(batch)             # each layer's operations are called from Python
""", right="""
call = tf.function(model)        # once; or put the whole step in one tf.function
for batch in batches:
    y = call(batch)
""")
def eager_model(seen):
    for row, took, lost in eager_calls(seen):
        if row.count < EAGER_CALLS or lost < 0.3 * took:
            continue
        yield Finding("E210", row.place, row.count,
                      f"a model was called eagerly {times(row.count)} times, {amount(took / row.count)} each, {100 * lost / took:.0f} % of that "
                      "outside of its operations",
                      "call it in a tf.function, made once: call = tf.function(model); or put the whole step in one",
                      cost_ms=lost, priced_by="eager_model")


@cause("E203", "feed-conversion: Python data turned into tensors again and again",
       "Time follows the length of a list, not the arithmetic.",
       "conversion, with its number of Python objects; Python number as operand, sampled; by line",
       wrong="""
for _ in range(1000):
    step(tf.constant(rows))      # a list of 100,000 numbers
    y = x * 2.0                  # a Python number, made a tensor at each use
""", right="""
rows = np.asarray(rows, np.float32)     # once, outside the loop
two = tf.constant(2.0)
for _ in range(1000):
    step(tf.constant(rows))
    y = x * two
""")
def feed_conversion(seen):
    for row in seen.rows("conversion", by=("place",)):
        if row.count < 10 or (row.mean < 10000 and row.ms < 0.1 * seen.wall_ms):
            continue
        found = Finding("E203", row.place, row.count,
                        f"Python sequences of {row.mean:.0f} numbers were made tensors {times(row.count)} times "
                        f"({amount(row.ms / row.count)} each)",
                        "np.asarray(list, np.float32) once, outside the loop", cost_ms=row.ms)
        found.priced_by = "list_element"
        found.tensorflow_ms = 7.21e-5 * row.sums[0]
        yield found
    for row in seen.rows("Python number as operand", by=("place",)):
        if row.count >= 10000:
            yield Finding("E203", row.place, row.count,
                          f"a Python number was made a tensor about {times(row.count)} times, as an operand of an operation",
                          "make it once, outside the loop: two = tf.constant(2.0)",
                          cost_ms=50e-6 * row.count, priced_by="python_scalar")


@cause("E204", "implicit-cast: large arrays are converted to another dtype on the way in",
       "Twice the memory traffic; double precision by accident.",
       "implicit cast of an array of 256 KB or more, by line",
       wrong="""
x = rng.random(shape)                          # float64
model(x)                                       # cast to float32 in each call
""", right="""
x = rng.random(shape, dtype=np.float32)
model(x)
""")
def implicit_cast(seen):
    for row in seen.rows("implicit cast", by=("place",)):
        if row.count < 20 and not (row.count >= 5 and row.sums[0] >= 32 << 20):
            continue
        yield Finding("E204", row.place, row.count,
                      f"an array was cast to another dtype {times(row.count)} times ({row.mean / 1e6:.2g} MB each)",
                      "make it of that dtype where it is made: rng.random(shape, dtype=np.float32)", cost_ms=row.ms)


@cause("E205", "loop-overhead: control flow costs more than its body",
       "`for i in tf.range(n)` is slower than the same loop unrolled.",
       "loop, with its iterations, in sampled calls",
       wrong="""
for i in tf.range(200):
    y = y + x * tf.cast(i, tf.float32)
for image in images:                           # in a function: a batch, row by row
    y = model(image[tf.newaxis])
""", right="""
y = tf.reduce_sum(x * tf.cast(tf.range(200), tf.float32))
y = model(images)
""")
def loop_overhead(seen):
    for row in seen.rows("loop", by=("subject",)):
        trips = row.sums[0]
        apart = source.batches_taken_apart(row.subject) if trips >= 2 * max(row.count, 4) else []
        if apart:
            yield Finding("E205", row.subject._replace(line=apart[0]), trips,
                          f"the loop takes a batch apart and makes a batch of one of each row: {times(trips)} rows in {times(row.count)} calls of "
                          f"{named(row.subject)}, {amount(row.ms / trips)} each",
                          "work on the whole batch: model(images) instead of model(image[tf.newaxis]) for each image",
                          cost_ms=row.ms * (1 - row.count / trips), subject=row.subject)
            continue
        if trips < 10000:
            continue
        lines = source.loops_in(row.subject)
        place = row.subject._replace(line=lines[0]) if lines else row.place
        each = 1e3 * min(row.early_us, row.late_us) * row.count / trips  # medians: a busy machine moves the mean
        if each > 5000:  # its body does real work
            continue
        yield Finding("E205", place, trips,
                      f"a loop of {named(row.subject)} went round about {times(trips)} times, {amount(each / 1e6)} each time",
                      "write it on whole tensors where the body is a reduction or a map: tf.reduce_sum, tf.cumsum, tf.vectorized_map",
                      cost_ms=row.ms, subject=row.subject, priced_by="loop_trip")


@cause("E206", "unrolled-loop: a Python loop made a huge graph",
       "A first call of seconds.",
       "nodes of one line, of graphs with more than 500 nodes",
       wrong="""
@tf.function
def f(x):
    for i in range(1500):        # Python's: unrolled while the function is traced
        x = x + 1.0
    return x
""", right="""
@tf.function
def f(x):
    for i in tf.range(1500):
        x = x + 1.0
    return x
""")
def unrolled_loop(seen):
    traces = {source.key(r.subject): r for r in seen.rows("trace", by=("subject",)) if r.subject}
    for row in seen.rows("nodes of one line", by=("place",)):
        nodes, whole = row.most, row.sums[1] / max(1, row.count)
        if nodes <= 500 and not (whole > 1000 and nodes > whole / 2):
            continue
        loop = source.loop_of(row.place)
        if loop is None:
            continue  # one line that is reached in many ways, as a layer of a model is
        trace = max((r for r in traces.values() if r.subject.file == row.place.file and r.most >= nodes),
                    key=lambda r: r.ms, default=None)
        yield Finding("E206", row.place._replace(line=loop), row.count,
                      f"the Python loop at this line was unrolled into {times(nodes)} nodes"
                      + (f" (tracing took {amount(trace.ms / trace.count)})" if trace else ""),
                      "for i in tf.range(n)", cost_ms=trace.ms if trace else 0.0, subject=trace and trace.subject)


@cause("E207", "element-access: reading a tensor item by item",
       "A Python loop over a tensor is far slower than over an array.",
       "slice read, sampled, with its elements and those of the whole tensor, by line",
       wrong="""
for i in range(len(x)):
    total += float(x[i])
""", right="""
v = x.numpy()
for i in range(len(v)):
    total += v[i]
""")
def element_access(seen):
    for row in seen.rows("slice read", by=("place",)):
        whole = row.sums[1] / max(1, row.count)
        if row.count < 1000 or row.mean > 128 or whole <= row.mean:
            continue
        yield Finding("E207", row.place, row.count,
                      f"about {times(row.count)} slices of {row.mean:.3g} elements were read from a tensor of {times(whole)}",
                      "v = x.numpy() once, then index v", cost_ms=row.ms, priced_by="slice")
