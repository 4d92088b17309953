"""E3xx: memory. E901: a place that slowed down, and no cause explains it."""
import collections

from . import source
from .causes import Finding, amount, cause, named, times


@cause("E301", "trace-cache-growth: a function needs more traces than are kept",
       "Memory follows the number of distinct keys.",
       "cache eviction, by function",
       wrong="""
for n in range(500):
    scale(x, n)                  # 500 traces of one function
""", right="""
for n in range(500):
    scale(x, tf.constant(n))
""")
def trace_cache_growth(seen):
    for row in seen.rows("cache eviction", "forgotten", by=("subject",)):
        if row.subject is None:
            continue
        yield Finding("E301", row.place, row.count,
                      f"{named(row.subject)} holds 64 traces, the most it may; {times(row.count)} were evicted",
                      "see E101 or E102 at the same line", subject=row.subject, tensorflow_ms=0.0,
                      tensorflow_kb=128.3 * row.count)


@cause("E302", "allocator-growth: sizes that always change",
       "Resident memory grows while live tensors do not.",
       "allocation growth; plan(reason=shape) of a session; eager op with the least and the most bytes; by line",
       wrong="""
for rows in batches:             # every batch of another size
    sess.run(c, {a: rows})
""", right="""
for rows in batches:
    sess.run(c, {a: pad_to_a_few_sizes(rows)})
""")
def allocator_growth(seen):
    for row in seen.rows("plan", "shape", by=("place",)):
        if row.subject is None and row.count >= 20:
            yield Finding("E302", row.place, row.count,
                          f"the sizes of the data changed: {times(row.count)} sizes were planned for",
                          "nothing in the program; where memory grows on TensorFlow, pad to a few sizes",
                          cost_ms=row.ms, tensorflow_ms=0.0)
    for row in seen.rows("eager op", by=("place",)):
        if row.count >= 1000 and row.mean >= 65536 and row.most >= 8 * max(1, row.least):
            yield Finding("E302", row.place, row.count,
                          f"about {times(row.count)} operations had inputs from {times(row.least)} to {times(row.most)} bytes",
                          "nothing in the program; where memory grows on TensorFlow, pad to a few sizes",
                          tensorflow_ms=0.0)
    for row in seen.rows("allocation growth", by=("place",)):
        returned = seen.peak is not None and row.sums[0] > 4 * seen.peak  # large blocks, given back to the system and asked for again
        if row.count >= 50 and row.last - row.first > 0.5 * seen.wall_ms and not returned:
            yield Finding("E302", row.place, row.count,
                          f"the allocator asked the system for memory {times(row.count)} times, {row.sums[0] / 1e6:.0f} MB in all, "
                          f"from the beginning of the run to its end",
                          "look for results that are kept (E303) or sizes that always grow", bytes=row.sums[0])


@cause("E303", "kept-results: the program holds every result",
       "Slow, steady growth.",
       "of sampled results: which are still held at the end, by line",
       wrong="""
losses.append(loss)              # a tensor, and whatever it holds
""", right="""
losses.append(float(loss))
""")
def kept_results(seen):
    made = collections.Counter()
    for kind in ("function call", "eager op"):
        for row in seen.rows(kind, by=("number",)):
            made[row.number] += row.count
    lines = collections.defaultdict(list)  # by instruction: others on the line may drop their results
    for place, weight, held, number in seen.kept:
        lines[number].append((place, weight, held))
    found = {}
    for number, results in lines.items():
        held = sum(weight for _, weight, h in results if h)
        every = max(made[number], sum(weight for _, weight, _ in results))  # results that have died make room for others
        place = results[0][0]
        if len(results) >= 16 and every >= 1000 and held >= 0.9 * every:
            found[place.file, place.line] = place, max(held, found.get((place.file, place.line), (None, 0))[1])
    for place, held in found.values():
        yield Finding("E303", place, held, f"about {times(held)} results made here are still held",
                      "keep a number instead: losses.append(float(loss))", bytes=160 * held,
                      tensorflow_ms=0.0, priced_by="kept_scalar", tensorflow_kb=0.925 * held)


@cause("E304", "tape-kept: persistent tapes",
       "The memory of whole forward passes stays.",
       "persistent tape made and released, by line",
       wrong="""
with tf.GradientTape(persistent=True) as tape:
    ...
g1, g2 = tape.gradient(l1, w), tape.gradient(l2, w)
""", right="""
with tf.GradientTape() as tape:
    total = l1 + l2              # or: del tape after the last gradient
g = tape.gradient(total, w)
""")
def tape_kept(seen):
    for row in seen.rows("persistent tape", by=("place",)):
        alive, made = row.sums[0], (row.count + row.sums[0]) // 2
        if alive <= 10 and made < 100:
            continue
        yield Finding("E304", row.place, made,
                      f"{times(made)} persistent tapes were made here; {times(alive)} are alive",
                      "del tape after the last gradient, or take one gradient of the sum with an ordinary tape",
                      priced_by="tape")


@cause("E305", "variables-in-loop: variables are made and dropped again and again",
       "Names, handles and kernels pile up.",
       "variable made and released, by line",
       wrong="""
for x in data:
    v = tf.Variable(x)
    v.assign_add(1.0)
""", right="""
v = tf.Variable(x0)
for x in data:
    v.assign(x)
    v.assign_add(1.0)
""")
def variables_in_loop(seen):
    gone = {source.key(r.place): r.count for r in seen.rows("variable", "forgotten", by=("place",))}
    saves = {source.key(r.place) for r in seen.rows("save", by=("place",))}  # a checkpoint makes a variable of its own: see E501
    for row in seen.rows("variable", "none", by=("place",)):
        if source.key(row.place) in saves:
            continue
        released = gone.get(source.key(row.place), 0)
        if row.count <= 50 or released < row.count / 2:
            continue
        yield Finding("E305", row.place, row.count,
                      f"{times(row.count)} variables were made here and {times(released)} were dropped again",
                      "make one above the loop and use assign()", priced_by="variable")


@cause("E901", "drift: a place slowed down and no cause above explains it",
       "Calls take longer and longer.",
       "function call, session run, eager op: median of the first and of the last 16 samples")
def drift(seen):
    for kind in ("function call", "session run", "eager op"):
        for row in seen.rows(kind):
            slower = row.late_us / max(row.early_us, 1e-9)
            if row.samples < 128 or row.count < 8192 or slower < 2.0 or row.early_us < 2.0 or row.most > 2 * max(1, row.least):
                continue
            yield Finding("E901", row.place, row.count,
                          f"calls here went from {amount(row.early_us / 1e3)} to {amount(row.late_us / 1e3)} over about {times(row.count)} calls "
                          "and no known cause fits", "if the machine was not busy, this is an engine fault: please report it",
                          cost_ms=row.ms * (1 - 1 / slower) / 2)
