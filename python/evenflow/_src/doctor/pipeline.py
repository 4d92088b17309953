"""E107, E306 and E4xx: datasets."""
import collections
import os

from . import source
from .calls import ENTRIES
from .causes import Finding, amount, cause, times
from .prices import tensorflow_ms


ONES, A_BATCH = 32, 32  # batches of one that are worth a finding; rows of an ordinary batch
Stage = collections.namedtuple("Stage", "name place source elements ms own_ms bytes passes")


def stages(seen):
    """The stages of the pipelines that were run, by the line that made them: name, places of it and of its source, elements,
    milliseconds with and without its sources, bytes. A prefetch does nothing of its own: it waits for its thread."""
    rows = seen.rows("pipeline stage", by=("number", "source"))
    given = collections.defaultdict(float)
    for r in rows:
        given[r.number] += r.sums[1] / 1e6
    made = []
    for r in rows:
        ms = r.sums[1] / 1e6
        below = given.get(r.source, 0.0)
        own = 0.0 if r.note == "Prefetch" else max(0.0, ms - below)
        made.append(Stage(r.note or "stage", r.place, r.source, r.sums[0], ms, own, r.sums[2], r.count)._replace(
            source=(r.number, r.source)))
    return made


def chains(made):
    """Each pipeline as a list of its stages, from its source to the one that is read."""
    by, read = {s.source[0]: s for s in made}, {s.source[1] for s in made}
    found = []
    for last in (s for s in made if s.source[0] not in read):
        chain = []
        while last is not None and last not in chain:
            chain.append(last)
            last = by.get(last.source[1])
        found.append(chain[::-1])
    return found


BATCHING = ("Batch", "PaddedBatch", "ParallelBatch", "MapAndBatch", "Window", "GroupByWindow")


def batches_of_one(seen):
    """Loops that get one example of a dataset at a time: (row of the loop's wait, the line that makes a batch of one of it, the
    stage that a Python generator is, or None)."""
    alike = {source.key(r.place): r.sums[1] / r.count for r in seen.rows("iterator", by=("place",))}
    made = chains(stages(seen))
    for row in seen.rows("wait", "data", by=("place",)):
        sizes = alike.get(source.key(row.place), 0)
        if sizes < 1 or source.is_library(row.place):
            continue
        read = [c for c in made if c[-1].elements == row.sums[1]]
        generator = next((s for c in read for s in c if s.name == "Generator"), None)
        line = source.batch_of_one(row.place)
        batching = [(s, c[k - 1] if k else None) for c in read for k, s in enumerate(c) if s.name in BATCHING]
        # A source that two pipelines share has counted for both. Whatever batches this loop got went through a stage that made them.
        batched = batching if read else [s for c in made for s in c if s.name in BATCHING and s.elements >= row.sums[1]]
        if line and not batched and sizes == 2:
            yield row, row.place._replace(line=line), generator
        for stage, before in batching:
            if before and stage.elements == before.elements >= 2 and stage.name in ("Batch", "ParallelBatch"):
                yield row, stage.place, generator


def slowest(seen, least_ms=1.0):
    """The stage that took most time of its own; None: none took much."""
    most = max(stages(seen), key=lambda s: s.own_ms, default=None)
    return most if most and most.own_ms >= least_ms else None


@cause("E107", "iterator-recreated, dataset-recreated: a pipeline is started or made again for few elements",
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
    entries = {source.key(r.place) for r in seen.rows("model entry", *ENTRIES, by=("place",))}  # Keras makes its own: see E202
    loops = {source.key(r.place): r.sums[0] / 1e6 for r in seen.rows("wait", "data", by=("place",))}
    for row in seen.rows("iterator", by=("place",)):
        if row.count < 20 or row.mean >= 64 or source.key(row.place) in entries:
            continue
        built = made.get(source.key(row.place))
        again = built is not None and built.count >= row.count
        typical = row.count * min(row.early_us, row.late_us) / 1e3  # by medians: the first one and pauses of a busy machine weigh nothing
        setup = min(row.ms, typical) + (built.ms if again else 0.0)
        if setup < 0.3 * (loops.get(source.key(row.place), 0.0) + setup):
            continue  # an epoch of a few batches that do real work
        what = "a dataset was built and read" if again else "an iterator over a dataset was made"
        yield Finding("E107", row.place, row.count,
                      f"{what} {times(row.count)} times, for {row.mean:.3g} element{'s' * (row.mean != 1)} each",
                      "build it once and keep iter(ds.repeat()), or call the model on the array itself",
                      cost_ms=setup, priced_by="dataset" if again else "iterator")


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
        each = row.ms / elements
        if loop < 50 or row.ms < max(20, 0.1 * loop) or each < 0.02:
            continue
        if sum(s.own_ms for s in stages(seen)) < 0.3 * row.ms:
            continue  # making the elements took no such time: the machine was busy with something else
        slow = slowest(seen)
        if rest < 0.1 * loop and (each < 1 or slow is None or slow.name not in ("Map", "Generator", "FlatMap", "Interleave")):
            continue  # a loop that does nothing but read; with elements that take long to make it is worth saying
        where = ""
        if slow and slow.elements:
            where = (f"; making one takes {amount(slow.own_ms / slow.elements)} in {slow.name.lower()}() at "
                     f"{os.path.basename(slow.place.file)}:{slow.place.line}")
        ahead = any(s.name == "Prefetch" for s in stages(seen))
        fix = "num_parallel_calls=tf.data.AUTOTUNE in map(), or .cache() behind it"
        yield Finding("E401", row.place, elements,
                      f"the loop waited for data {100 * row.ms / loop:.0f} % of its time, {amount(row.ms / elements)} for each of "
                      f"{times(elements)} elements{where}",
                      fix if ahead else f".prefetch(tf.data.AUTOTUNE) at the end, {fix}",
                      cost_ms=max(min(row.ms, rest), row.ms * (1 - 1 / (os.cpu_count() or 1)) if slow and slow.name == "Map" else 0))


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
                      f"a Python function was called {times(row.count)} times from a graph, {amount(row.ms / row.count)} each; "
                      "only one thread at a time can run Python",
                      "write it with tf operations, or do the work on a whole batch: batch() before map()",
                      cost_ms=row.ms, priced_by="python_element")


@cause("E403", "per-element-pipeline: a function called for each of very many tiny elements",
       "Thousands of cheap elements, each with a call of its own.",
       "pipeline stage: elements, bytes and time, by line (counted under the doctor)",
       wrong="""
ds = tf.data.Dataset.range(150000).map(f).batch(256)     # f is called 150,000 times
""", right="""
ds = tf.data.Dataset.range(150000).batch(256).map(f)     # f is called 586 times, on whole batches
""")
def per_element(seen):
    python = {source.key(r.place) for r in seen.rows("Python function of a pipeline", "none", by=("place",))}
    made = stages(seen)
    given = {s.source[0]: s.elements for s in made}
    for s in made:
        if s.name == "Filter":  # it is called for each element of its source, and gives some of them
            s = s._replace(elements=given.get(s.source[1], s.elements))
        if s.name not in ("Map", "Filter") or s.elements < 10000 or s.bytes > 256 * s.elements or source.key(s.place) in python:
            continue
        each = 1e3 * s.own_ms / s.elements
        if each > 50:  # it does real work
            continue
        yield Finding("E403", s.place, s.elements,
                      f"{s.name.lower()}() handled {times(s.elements)} elements of {s.bytes / s.elements:.3g} bytes, {amount(each / 1e3)} each",
                      "batch first, so that the function works on a batch: ds.batch(256).map(f), and .unbatch() where single "
                      "elements are needed", cost_ms=s.own_ms, priced_by="map_element")


@cause("E404", "shuffle-refill: a pause at the head of each epoch",
       "A pause and a peak of memory at the head of each epoch.",
       "shuffle buffer filled, with the time of the whole pass, by line (counted under the doctor)",
       wrong="""
ds = images.map(decode).shuffle(2000).batch(32)          # 2000 decoded images, at each epoch
""", right="""
ds = names.shuffle(2000).map(decode).batch(32)           # shuffle what is small, then decode
""")
def shuffle_refill(seen):
    for row in seen.rows("shuffle buffer filled", by=("place",)):
        passes_ms = row.sums[1] / 1e6
        filling = row.count * min(row.early_us, row.late_us) / 1e3  # by medians: one pause of a busy machine is no finding
        if filling < 0.2 * passes_ms or filling < 5:
            continue
        held = row.sums[0] / max(1, row.count) / 2**20
        size = row.sums[2] // max(1, row.count)
        yield Finding("E404", row.place, row.count,
                      f"shuffle({size}) fills its buffer for {100 * row.ms / passes_ms:.0f} % of each pass, {amount(row.ms / row.count)} "
                      f"and {held:.3g} MB each of {times(row.count)} times",
                      "a smaller buffer, or shuffle indices or file names and read the elements after", cost_ms=row.ms,
                      bytes=row.sums[0] // max(1, row.count), priced_by="shuffle_element",
                      tensorflow_ms=tensorflow_ms("shuffle_element", row.sums[2]))


@cause("E405", "batch-of-one: a step for each single example",
       "Each example pays for a whole step: the calls, and the update of all weights.",
       "iterator and its elements, wait(reason=data) with the time of the whole loop, by line (counted under the doctor)",
       wrong="""
for image, label in ds:                        # single examples
    train_step(image[tf.newaxis], label[tf.newaxis])
""", right="""
for images, labels in ds.batch(32).prefetch(tf.data.AUTOTUNE):
    train_step(images, labels)
""")
def batch_of_one(seen):
    for row, place, _ in batches_of_one(seen):
        loop, elements = row.sums[0] / 1e6, row.sums[1]
        if elements < ONES:
            continue
        rest = max(0.0, loop - row.ms)
        yield Finding("E405", row.place, elements,
                      f"this loop takes one example at a time, and line {place.line} makes a batch of one of it: {times(elements)} steps, "
                      f"{amount(rest / elements)} each",
                      f"batch the dataset, ds.batch({A_BATCH}), and work on whole batches: their rows share the calls and the update of the "
                      f"weights, which saves up to {100 * (1 - 1 / A_BATCH):.0f} % of this time", cost_ms=rest * (1 - 1 / A_BATCH),
                      priced_by="batch_of_one")


@cause("E306", "callback-kept: Python functions held by a pipeline",
       "Memory grows with each epoch over a Python function or generator.",
       "Python function of a pipeline or graph: made and released, by line")
def callback_kept(seen):
    gone = {source.key(r.place): r.count for r in seen.rows("Python function of a pipeline", "forgotten", by=("place",))}
    for row in seen.rows("Python function of a pipeline", "first", by=("place",)):
        alive = row.count - gone.get(source.key(row.place), 0)
        if alive > 200:
            yield Finding("E306", row.place, alive, f"{times(alive)} Python functions made here are still held by graphs",
                          "release the graphs or datasets that hold them; if there are none, please report this")
