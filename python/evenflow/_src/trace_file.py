"""`evenflow run --trace FILE`: a run as trace-event JSON, which Perfetto and chrome://tracing open."""
import contextlib
import json
import os
import sys

from . import _core
from .recording import Recording


def _event(s, kinds):
    made = {"name": s.name, "cat": "span" if s.kind == "span" else kinds[s.kind], "pid": os.getpid(), "tid": s.thread,
            "ts": s.begin / 1000, "args": {k: v if isinstance(v, (int, float, bool)) else str(v) for k, v in s.args.items()}}
    if s.end > s.begin:
        made.update(ph="X", dur=(s.end - s.begin) / 1000)
    else:
        made.update(ph="i", s="t")
    return made


def trace_events(slices, dropped=0):
    """Slices as a dictionary in the trace-event format; times are microseconds since the recording began."""
    pid, kinds = os.getpid(), _core.event_kinds()[0]
    made = [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "evenflow"}}]
    for thread in sorted({s.thread for s in slices}):
        made.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": thread, "args": {"name": f"thread {thread}"}})
    made += [_event(s, kinds) for s in slices]
    return {"displayTimeUnit": "ns", "otherData": {"dropped": dropped}, "traceEvents": made}


@contextlib.contextmanager
def traced(path):
    """Records what happens inside and writes it to `path`, also if an exception ends it."""
    with open(path, "w") as f:  # a wrong name is found before the program runs
        recording = Recording()
        try:
            yield
        finally:
            slices, dropped = recording.end()
            json.dump(trace_events(slices, dropped), f)
            f.write("\n")
    if dropped:
        print(f"evenflow: {path} holds the first {len(slices)} events; {dropped} found no room", file=sys.stderr)
