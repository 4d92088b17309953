"""`evenflow run --trace FILE`: writes a run as trace-event JSON, which Perfetto and chrome://tracing can open."""
import contextlib
import json
import os
import sys

from . import _core
from .doctor import leaving
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
    """Records the events inside and writes them to `path`, even if an exception ends the block."""
    with open(path, "w") as f:  # opened first, so that an invalid path is reported before the program runs
        recording = Recording()

        def write():
            slices, dropped = recording.end()
            json.dump(trace_events(slices, dropped), f)
            f.write("\n")
            f.flush()
            if dropped:
                print(f"evenflow: {path} has the first {len(slices)} events; {dropped} more were dropped", file=sys.stderr)

        forget = leaving.before(write)
        try:
            yield
        finally:
            forget()
            write()
