"""E107 and E4xx: datasets."""
from . import source
from .causes import Finding, cause, times


@cause("E107", "iterator-recreated, dataset-recreated",
       "A fixed price at the head of every epoch or call; with small data it is the whole price.",
       "iterator, with its elements; dataset made; by line (counted under the doctor)",
       wrong="""
for _ in range(700):
    for batch in tf.data.Dataset.from_tensor_slices(x).batch(4):
        step(batch)
""", right="""
batches = iter(tf.data.Dataset.from_tensor_slices(x).batch(4).repeat())
for _ in range(700):
    step(next(batches))
""")
def iterator_recreated(seen):
    made = {source.key(r.place): r for r in seen.rows("dataset made", by=("place",))}
    for row in seen.rows("iterator", by=("place",)):
        if row.count < 20 or row.mean >= 64:
            continue
        built = made.get(source.key(row.place))
        again = built is not None and built.count >= row.count
        what = "a dataset was built and read" if again else "an iterator over a dataset was made"
        yield Finding("E107", row.place, row.count,
                      f"{what} {times(row.count)} times, for {row.mean:.3g} elements each",
                      "build it once and keep iter(ds.repeat()), or call the model on the array itself",
                      cost_ms=row.ms + (built.ms if again else 0.0), priced_by="dataset" if again else "iterator")


@cause("E401", "starved: the step waits for data",
       "The processor or accelerator idles between steps.",
       "wait(reason=data), with the time of the whole loop, by line (counted under the doctor)",
       wrong="""
ds = ds.map(slow)
for batch in ds:
    step(batch)
""", right="""
ds = ds.map(slow, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
for batch in ds:
    step(batch)
""")
def starved(seen):
    for row in seen.rows("wait", "data", by=("place",)):
        loop, elements = row.sums[0] / 1e6, max(1, row.sums[1])
        rest = loop - row.ms
        if loop < 50 or row.ms < 0.1 * loop or rest < 0.1 * loop or row.ms / elements < 0.02:
            continue
        yield Finding("E401", row.place, elements,
                      f"the loop waited for data {100 * row.ms / loop:.0f} % of its time, {row.ms / elements:.3g} ms for each of "
                      f"{times(elements)} elements",
                      ".prefetch(tf.data.AUTOTUNE) at the end, num_parallel_calls=tf.data.AUTOTUNE in map()",
                      cost_ms=min(row.ms, rest))


@cause("E402", "python-bound-map: the interpreter lock",
       "More workers, no more speed.",
       "Python function of a pipeline or graph: calls, time, time of waiting for the interpreter; by line",
       wrong="""
ds.map(lambda v: tf.py_function(f, [v], tf.float32), num_parallel_calls=8)
""", right="""
ds.map(lambda v: tf.cast(v * 2 + 1, tf.float32), num_parallel_calls=8)     # ops, or
ds.batch(256).map(lambda v: tf.py_function(f_of_a_batch, [v], tf.float32))
""")
def python_bound(seen):
    for row in seen.rows("Python function of a pipeline", "none", by=("place",)):
        if row.count < 1000:
            continue
        yield Finding("E402", row.place, row.count,
                      f"a Python function was called {times(row.count)} times from a graph, {1e3 * row.ms / row.count:.3g} us each; "
                      "only one thread at a time can run Python",
                      "write it with tf operations, or do the work on a whole batch: batch() before map()",
                      cost_ms=row.ms, priced_by="python_element")


@cause("E306", "callback-kept: Python functions held by a pipeline",
       "Memory grows with each epoch over a Python function or generator.",
       "Python function of a pipeline or graph: made and released, by line",
       wrong="(an engine fault: nothing in the program)", right="(nothing to change)")
def callback_kept(seen):
    gone = {source.key(r.place): r.count for r in seen.rows("Python function of a pipeline", "forgotten", by=("place",))}
    for row in seen.rows("Python function of a pipeline", "first", by=("place",)):
        alive = row.count - gone.get(source.key(row.place), 0)
        if alive > 200:
            yield Finding("E306", row.place, alive, f"{times(alive)} Python functions made here are still held by graphs",
                          "release the graphs or datasets that hold them; if there are none, please report this")
