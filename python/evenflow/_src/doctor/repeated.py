"""E1xx: work repeated that should have been kept."""
from . import source
from .causes import Finding, cause, named, times

TRACES = 5  # fewer are a program's ordinary start


@cause("E101", "retrace-value: each Python number or string gets a trace of its own",
       "Every call is as slow as the first, and memory grows by about 0.1 MB a call.",
       "trace(reason=value, argument, old and new value)",
       wrong="""
for n in range(500):
    scale(x, n)                  # each Python number is traced anew
""", right="""
for n in range(500):
    scale(x, tf.constant(n))     # or input_signature=[..., tf.TensorSpec([], tf.int32)]
""")
def retrace_value(seen):
    for row in seen.rows("trace", "value", by=("subject",)):
        if row.count < TRACES:
            continue
        name, kind, old, new = (row.note or "|||").split("|")[:4]
        lists = "list" in kind or "tuple" in kind
        last = f" (such as {new} after {old})" if new else ""
        who = f"argument {name!r}" if name else "an argument"
        spec = "tf.TensorSpec([], tf.float32)" if "." in new else "tf.TensorSpec([], tf.int32)"
        fix = f"pass tf.constant({name or '...'})"
        fix += "" if lists else f", or declare input_signature=[..., {spec}]"
        yield Finding("E101", row.place, row.count,
                      f"{named(row.subject)} was traced {times(row.count)} times because {who} was a different "
                      f"{kind or 'Python value'} each time{last}", fix, cost_ms=row.ms, subject=row.subject, argument=name,
                      priced_by="trace_list" if lists else "trace_value")


@cause("E102", "retrace-shape: each shape gets a trace or a plan of its own",
       "Input of variable length: each new length stalls, and its memory never returns.",
       "trace(reason=shape), plan(reason=shape, argument, axis, old and new size)",
       wrong="""
@tf.function
def encode(x): ...               # one trace for each length

for text in texts:
    encode(text)
""", right="""
@tf.function(reduce_retracing=True)     # or input_signature=[tf.TensorSpec([None, 8])]
def encode(x): ...
""")
def retrace_shape(seen):
    plans = {source.key(r.subject): r for r in seen.rows("plan", "shape", by=("subject",)) if r.subject}
    again = {source.key(r.subject): r for r in seen.rows("plan", "forgotten", by=("subject",)) if r.subject}  # sizes that came back
    traces = {source.key(r.subject): r for r in seen.rows("trace", "shape", by=("subject",)) if r.subject}
    for key in {**plans, **traces}:
        both = [r for r in (plans.get(key), traces.get(key)) if r]
        row, count = both[0], sum(r.count for r in both)
        if count < TRACES or source.declares(row.subject, "input_signature", "reduce_retracing"):
            continue
        axis = ""
        if key in plans and row.least == row.most:
            argument, d = divmod(row.least, 16)
            axis = f"; each time axis {d} of argument {argument} had another size than in the call before"
        ours = not source.is_library(row.subject)
        yield Finding("E102", row.place, count,
                      f"{named(row.subject)} met a new shape {times(count)} times{axis}",
                      "@tf.function(reduce_retracing=True), or input_signature with None for that axis, or pad to a few lengths",
                      cost_ms=sum(r.ms for r in both) + (again[key].ms if key in again else 0.0), subject=row.subject,
                      priced_by="trace_shape" if ours else None)


@cause("E103", "retrace-identity: each new Python object is looked up or traced by itself",
       "The same data and the same method, yet each call is looked up anew; the look-up grows slower with every call.",
       "new object in a key; trace(reason=identity or instance)",
       wrong="""
drive(net.step, x)               # net.step is a new object at each access
Net(k)(x)                        # a decorated method of a new object
""", right="""
step = net.step                  # kept once, above the loop
drive(step, x)
""")
def retrace_identity(seen):
    for row in seen.rows("new object in a key", by=("place", "subject")):
        if row.count >= 100:
            yield Finding("E103", row.place, row.count,
                          f"a bound method was made and looked up {times(row.count)} times, at each call",
                          "keep it once above the loop, step = net.step, or pass the object and call its method inside",
                          cost_ms=row.ms, subject=row.subject, priced_by="fresh_key")
    for row in seen.rows("trace", "identity", by=("subject",)):
        if row.count >= TRACES:
            name, kind = (row.note or "|").split("|")[:2]
            yield Finding("E103", row.place, row.count,
                          f"{named(row.subject)} was traced {times(row.count)} times because argument {name!r} was another "
                          f"{kind or 'Python'} object each time",
                          "make the object once, above the loop, or pass its tensors", cost_ms=row.ms, subject=row.subject,
                          priced_by="trace_value")
    for row in seen.rows("trace", "instance", by=("subject",)):
        if row.count >= TRACES:
            yield Finding("E103", row.place, row.count,
                          f"the method {named(row.subject)} was traced for each of {times(row.count)} short-lived objects",
                          "keep the object, or make the tf.function a plain function that takes what differs as a tensor",
                          cost_ms=row.ms, subject=row.subject, priced_by="trace_instance")


@cause("E104", "function-in-loop: tf.function is applied again and again",
       "Every pass costs a trace although nothing changed.",
       "function made, by line and by code object",
       wrong="""
for x in data:
    tf.function(body)(x)         # a new wrapper, with an empty cache
""", right="""
body_function = tf.function(body)
for x in data:
    body_function(x)
""")
def function_in_loop(seen):
    traces = {source.key(r.subject): r.ms for r in seen.rows("trace", "first", by=("subject",)) if r.subject}
    for row in seen.rows("function made", "none"):
        if row.count < TRACES or source.is_library(row.subject):
            continue
        loop = source.loop_of(row.place)
        above = f"above the loop at line {loop}" if loop else "once, at the top of the module"
        yield Finding("E104", row.place, row.count,
                      f"tf.function wrapped {named(row.subject)} {times(row.count)} times here; each wrapper starts with an "
                      f"empty cache", f"wrap it {above}", cost_ms=traces.get(source.key(row.subject), 0.0),
                      subject=row.subject, priced_by="fresh_function")


@cause("E105", "graph-grows: nodes added while a session runs",
       "Each run is slower than the one before; memory grows; saved graph files swell.",
       "node added after a run, by line",
       wrong="""
for i in range(1000):
    c = tf.add(tf.constant([i]), 1)      # a new node in each pass
    sess.run(c)
""", right="""
p = tf.compat.v1.placeholder(tf.int32, [1])
c = tf.add(p, 1)
for i in range(1000):
    sess.run(c, {p: [i]})
""")
def graph_grows(seen):
    for row in seen.rows("node added after a run", by=("place",)):
        if row.samples < 20:
            continue
        yield Finding("E105", row.place, row.samples,
                      f"{times(row.count)} nodes were added to a graph between {times(row.samples)} runs",
                      "build the graph above the loop and feed the value: p = tf.compat.v1.placeholder(...); "
                      "sess.run(c, {p: value}); graph.finalize() turns this into an error",
                      priced_by="graph_growth")


@cause("E106", "session-per-call: a session is opened for few runs",
       "Milliseconds for a sum of two numbers.",
       "session closed, with its number of runs, by the line that opened it",
       wrong="""
for x in data:
    with tf.compat.v1.Session() as sess:
        sess.run(c, {p: x})
""", right="""
with tf.compat.v1.Session() as sess:
    for x in data:
        sess.run(c, {p: x})
""")
def session_per_call(seen):
    for row in seen.rows("session closed", by=("place",)):
        if row.count < 10 or row.mean >= 3:
            continue
        runs = f"for {row.mean:.3g} run{'s' if row.mean > 1 else ''} each" if row.mean else "for values that were computed before"
        yield Finding("E106", row.place, row.count, f"{times(row.count)} sessions were opened here, {runs}",
                      "open one session above the loop", priced_by="session")


@cause("E108", "model-rebuilt or recompiled: a model is made or compiled again and again",
       "A search over hyper-parameters slows and grows; clear_session helps little.",
       "model built, model compiled, by line (counted under the doctor)",
       wrong="""
for rate in rates:
    model.compile(loss="mse", optimizer=SGD(rate))
    model.fit(x, y)
""", right="""
model.compile(loss="mse", optimizer=SGD(rates[0]))
for rate in rates:
    model.optimizer.learning_rate = rate
    model.fit(x, y)
""")
def model_rebuilt(seen):
    for row in seen.rows("model built", by=("place",)):
        if row.count < TRACES:
            continue
        yield Finding("E108", row.place, row.count, f"a model was compiled {times(row.count)} times here",
                      "compile() is needed only when the loss or the optimizer's kind changes: to change the rate set "
                      "model.optimizer.learning_rate", cost_ms=row.ms, priced_by="compile")
