"""Notes: what a reader may suspect, and what was measured instead; and what would cost time in a longer run, but not in this one.
A note is no finding: it has no code and no cost.

A loop over `tf.range` is suspected of tracing its function at each turn, a second call of being slower for being the second,
a Python generator of keeping the step waiting. Each rule takes an `Observed` and yields notes of what it saw in this run;
where the suspicion would be right, it yields none, and a cause has a finding.
"""
import collections
import dataclasses
import functools
import os

from evenflow import _core

from . import calls, pipeline, source
from .causes import amount, named, times
from .prices import PRICES
from .repeated import TRACES

MOST = 4  # a report is read to its end if it is short


@dataclasses.dataclass
class Note:
    place: object  # Place; None: of the whole run
    what: str
    weight: float = 0.0  # milliseconds it is about: the larger ones are shown
    harmless: bool = True  # False: it would be a cause in a longer run


def _traces(n):
    return "once" if n == 1 else "twice" if n == 2 else f"{times(n)} times"


def loops_in_graphs(seen):
    """A loop over tf.range is one loop of the graph: its function is not traced at each turn."""
    calls, turns = collections.Counter(), collections.Counter()
    sampled = set()  # functions of which some calls were estimated
    for row in seen.rows("function call", by=("subject",)):
        calls[source.key(row.subject)] += row.count
        if row.count != row.samples:
            sampled.add(source.key(row.subject))
    for row in seen.rows("loop", by=("subject",)):
        turns[source.key(row.subject)] += row.sums[0]
    traced = {}
    for row in seen.rows("trace", by=("subject",)):
        if row.subject and not source.is_library(row.subject):
            traced[source.key(row.subject)] = row
    for key, row in traced.items():
        lines = source.range_loops(row.subject)
        if not lines or row.count >= TRACES:
            continue
        every, about = calls[key] + row.count, "about " * (key in sampled)
        called = "1 call" if every == 1 else f"{about}{times(every)} calls"
        went = f", and the loop went round {about}{times(turns[key])} times" if turns[key] and len(lines) == 1 else ""
        for line in lines:
            yield Note(row.subject._replace(line=line),
                       f"this loop over tf.range does not trace {named(row.subject)} again: it is one loop of the graph. The function was "
                       f"traced {_traces(row.count)} in {called}{went}", row.ms)


def _operation(row):
    """The name of the op of a row of eager ops; None: it is not one op."""
    address, rest = divmod(row.sums[1], max(1, row.count))
    return _core.event_op(address) if rest == 0 and address else None


def _repeated(seen):
    """What was called more than once, as (title, its rows by time): a function, one op, a session."""
    made = collections.defaultdict(list)
    for row in seen.rows("function call", by=("number", "source")):
        if row.subject and not source.is_library(row.subject):
            made["function call", source.key(row.subject), named(row.subject)].append(row)
    for row in seen.rows("eager op", by=("number",)):
        operation = _operation(row)
        if operation and row.least == row.most:  # sizes that differ take times that differ
            made["eager op", row.most, operation].append(row)
    for row in seen.rows("session run", by=("number", "source")):
        if row.subject and any(list(source.calls_at(row.place, name)) for name in ("run", "eval")):
            made["session run", source.key(row.subject), f"the run of what line {row.subject.line} makes"].append(row)
    for (kind, _, name), rows in made.items():
        if sum(r.count for r in rows) > 1:
            yield kind, name, sorted(rows, key=lambda r: r.first)


def _first_and_later(rows):
    """(milliseconds of the first call, of a later one, whether it really was the first). None: they cannot be told apart."""
    first, last = rows[0], rows[-1]
    if all(r.count == r.samples for r in rows):
        later = (sum(r.ms for r in rows) - first.opening_us / 1e3) / (sum(r.count for r in rows) - 1)
        if last.samples > 2:
            later = last.late_us / 1e3  # a median: a pause of the machine is no call
        return first.opening_us / 1e3, later, True
    if first is not last or first.samples < 32:
        return None
    return first.early_us / 1e3, first.late_us / 1e3, False


REASSURED = {
    "eager op": "an operation that runs eagerly builds no graph, and other values of its inputs make no call slower",
    "function call": "a call that needs no trace does not get slower",
    "session run": "a run of a session does not get slower",
}


def steady_calls(seen):
    """A call is not slower for being the second, or the last: the dearest thing that was called more than once."""
    plans = [r for r in seen.rows("plan", "shape", by=("place",)) if r.subject is None]
    traces = {source.key(r.subject): r.ms / r.count for r in seen.rows("trace", by=("subject",)) if r.subject}
    best = None
    for kind, name, rows in _repeated(seen):
        took = _first_and_later(rows)
        spent = sum(r.ms for r in rows)
        if took is None or spent < 0.05 * seen.wall_ms or (best and best.weight >= spent):
            continue
        first, later, whole = took
        larger = max(r.most for r in rows) / max(1, rows[0].least)  # more data may take more time
        if later > 1.1 * first * max(1.0, larger):
            continue
        place, others = rows[-1].place, sorted({r.place.line for r in rows} - {rows[-1].place.line})
        count = sum(r.count for r in rows)
        where = "here" if not others else f"here and at line{'s' * (len(others) > 1)} {', '.join(map(str, others[:4]))}"
        ran, traced = "happened" if kind == "session run" else "ran", traces.get(source.key(rows[0].subject))
        if kind == "function call" and traced:
            ran = f"was traced in {amount(traced)}, then ran"
        what = f"{name} {ran} {'twice' if count == 2 else 'about ' * (not whole) + times(count) + ' times'} {where}: "
        what += (f"the first time took {amount(first)}, {'the second' if count == 2 else 'each later one'} {amount(later)}" if whole
                 else f"{amount(first)} each at first, {amount(later)} each at the end")
        if kind == "session run" and larger > 1.2:
            what += f" for {larger:.2g} times the data"
            if plans:
                what += f"; another size was planned for {_traces(sum(r.count for r in plans))}, in {amount(sum(r.ms for r in plans))}"
        best = Note(place, f"{what}; {REASSURED[kind]}", spent)
    if best:
        yield best


SUSPECTED = ("Generator", "Map", "FlatMap", "Interleave", "Filter")


def data_in_time(seen):
    """The elements of a pipeline without prefetch came in time: the step takes the time."""
    made = pipeline.stages(seen)
    suspects = [s for s in made if s.name in SUSPECTED]
    if not suspects or any(s.name == "Prefetch" for s in made):
        return
    slow = max(suspects, key=lambda s: s.own_ms)
    for row in seen.rows("wait", "data", by=("place",)):
        loop, elements = row.sums[0] / 1e6, row.sums[1]
        if elements < 2 or loop < 20 or row.ms > 0.1 * loop or source.is_library(row.place):
            continue
        kind = "the generator" if slow.name == "Generator" else f"{slow.name.lower()}()"
        yield Note(row.place, f"the loop waited for data {100 * row.ms / loop:.1g} % of its time, {amount(row.ms / elements)} for each of "
                   f"{times(elements)} elements: {kind} at {os.path.basename(slow.place.file)}:{slow.place.line} keeps up, and the time "
                   "goes into the body of the loop", loop)


def eager_models(seen):
    """A model that is called eagerly, but too seldom for a finding."""
    for row, took, lost in calls.eager_calls(seen):
        if row.count >= calls.EAGER_CALLS or source.is_library(row.place) or took < 0.02 * seen.wall_ms:
            continue
        called = "once" if row.count == 1 else f"{times(row.count)} times"
        builds = " (the first call builds its layers)" if row.sums[1] else ""
        said = f"the model is called eagerly here, {called} in {amount(took)}{builds}"
        price = PRICES["eager_model"]
        if lost < 0.2 * took:
            yield Note(row.place, f"{said}, {100 * (1 - lost / took):.0f} % of it in its operations: a tf.function would not make it much "
                       f"quicker here. On TensorFlow 2.21 an eager call takes about {amount(price.us / 1e3)} more than one of a tf.function "
                       f"(measured by tests/zoo/{price.program}.py)", row.ms)
            continue
        yield Note(row.place, f"{said}: Python calls each of its operations. That is little for {called}; a loop over such calls would pay for it "
                   f"each time, on TensorFlow 2.21 about {amount(price.us / 1e3)} a call (measured by tests/zoo/{price.program}.py). "
                   "Then call it in a tf.function: call = tf.function(model)", row.ms, harmless=False)


def single_examples(seen):
    """A loop over single examples, too short for a finding."""
    for row, place, generator in pipeline.batches_of_one(seen):
        elements = row.sums[1]
        if elements >= pipeline.ONES:
            continue
        made = f"; the Python generator at line {generator.place.line} makes them one by one" if generator else ""
        price = PRICES["batch_of_one"]
        went = {0: "It got none in this run", 1: "There was one in this run"}.get(elements, f"There were {times(elements)} in this run")
        yield Note(row.place, f"this loop takes one example at a time, and line {place.line} makes a batch of one of it{made}. {went}; in a longer "
                   f"one each would pay for a whole step, on TensorFlow 2.21 at least {amount(price.us / 1e3)} (measured by tests/zoo/"
                   f"{price.program}.py). Then batch the dataset, ds.batch({pipeline.A_BATCH}), and work on whole batches",
                   row.sums[0] / 1e6, harmless=False)


def did_not_run(seen, ending):
    """A loop that takes a batch apart, in a function that raised an error before it ran."""
    for place in ending.through if ending else ():
        function = source.function_around(place)
        for line in source.batches_taken_apart(function) if function else ():
            yield Note(place._replace(line=line), f"this loop takes a batch apart and makes a batch of one of each row; {named(function)} ended in "
                       "an error before it could be timed. Each row would pay for a whole step: work on the whole batch, model(images) instead of "
                       "model(image[tf.newaxis]) for each image", harmless=False)


def unused(seen):
    """A program that asked nothing of the engine."""
    if seen.total_of_all() == 0:
        yield Note(None, "the program called nothing of TensorFlow, and the doctor times only that; --html shows where Python's time went")


RULES = (loops_in_graphs, steady_calls, data_in_time, eager_models, single_examples, unused)


def notes(seen, findings, ending=None):
    """The notes worth showing, in the order of the rules. None about a line that has a finding which says otherwise."""
    blamed = {source.key(f.place) for f in findings if f.code != "E205"}
    blamed |= {source.key(f.subject) for f in findings if f.subject and f.code[:2] == "E1"}
    found = []
    for rule in (*RULES, functools.partial(did_not_run, ending=ending)):
        made = [n for n in rule(seen) if not (n.place and (source.key(n.place) in blamed or source.silences(n.place.file, n.place.line, "")))]
        found += sorted(made, key=lambda n: -n.weight)[:2]
    told = {(n.place, n.what): n for n in found}  # an error may go through a function twice
    return list(told.values())[:MOST]
