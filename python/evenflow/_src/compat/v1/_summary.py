"""tf.compat.v1.summary: ops that return Summary messages, and FileWriter, which writes them."""
import os
import re
import socket
import time
import weakref

from ... import _core
from ...event_messages import message
from ...graph import get_default_graph, name_scope
from ...namespace import export
from ...packages import package
from ...ops.common import convert, dtypes, executing_eagerly, raw

_SUMMARIES = "summaries"  # GraphKeys.SUMMARIES
_INVALID = re.compile(r"[^-/\w.]")


def clean_tag(name):
    """A name with the characters replaced that are not allowed in the name of an op."""
    return _INVALID.sub("_", name).lstrip("/") if name is not None else None


def _collect(made, collections):
    for name in [_SUMMARIES] if collections is None else collections:
        get_default_graph().add_to_collection(name, made)
    return made


def _make(name, family, collections, build):
    """Calls `build(tag)` in the name scope of the summary. Eagerly it returns empty bytes, as TensorFlow does."""
    if executing_eagerly():
        return convert(b"")
    name, family = clean_tag(name), clean_tag(family)
    with name_scope(f"{family}/{name}" if family else name) as scope:
        tag = scope.rstrip("/")
        return _collect(build(f"{family}/{tag}" if family else tag, scope), collections)


@export("compat.v1.summary.scalar")
def scalar(name, tensor, collections=None, family=None):
    """A Summary with a number."""
    return _make(name, family, collections, lambda tag, scope: raw.ScalarSummary(tag, convert(tensor), name=scope))


@export("compat.v1.summary.histogram")
def histogram(name, values, collections=None, family=None):
    """A Summary with a histogram."""
    return _make(name, family, collections, lambda tag, scope: raw.HistogramSummary(tag, convert(values), name=scope))


@export("compat.v1.summary.image")
def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A Summary with up to `max_outputs` images."""
    return _make(name, family, collections,
                 lambda tag, scope: raw.ImageSummary(tag, convert(tensor), max_outputs, name=scope))


@export("compat.v1.summary.audio")
def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """A Summary with up to `max_outputs` sounds."""
    return _make(name, family, collections, lambda tag, scope: raw.AudioSummaryV2(
        tag, convert(tensor, dtypes.float32), convert(sample_rate, dtypes.float32), max_outputs, name=scope))


@export("compat.v1.summary.tensor_summary")
def tensor_summary(name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None,
                   display_name=None):
    """A Summary with a tensor of any kind."""
    if summary_metadata is None:
        summary_metadata = message("SummaryMetadata")()
    if summary_description is not None:
        summary_metadata.summary_description = summary_description
    if display_name is not None:
        summary_metadata.display_name = display_name
    return _make(name, family, collections, lambda tag, scope: raw.TensorSummaryV2(
        tag, convert(tensor), summary_metadata.SerializeToString(), name=scope))


@export("compat.v1.summary.text")
def text(name, tensor, collections=None):
    """A Summary with strings."""
    tensor = convert(tensor)
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = message("SummaryMetadata")()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


@export("compat.v1.summary.merge")
def merge(inputs, collections=None, name=None):
    """One Summary with the values of all `inputs`."""
    if executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.")
    made = raw.MergeSummary([convert(i) for i in inputs], name=name)
    for collection in collections or ():
        get_default_graph().add_to_collection(collection, made)
    return made


@export("compat.v1.summary.merge_all")
def merge_all(key=_SUMMARIES, scope=None, name=None):
    """One Summary with all summaries of the graph's collection; None if there are none."""
    if executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.")
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


# ---- files -----------------------------------------------------------------------------------------------


def _event(step, **what):
    made = message("Event")(wall_time=time.time(), **what)
    if step is not None:
        made.step = int(step)
    return made


@export("compat.v1.summary.FileWriter")
class FileWriter:
    """Writes Summary and Event messages to an event file in `logdir`."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None):
        if executing_eagerly():
            raise RuntimeError("tf.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`, "
                               "or a `with v1.Graph().as_default():` context")
        if session is not None:
            raise NotImplementedError("FileWriter: `session` is not supported; write with add_summary")
        self._logdir, self._suffix = os.fspath(logdir), filename_suffix or ""
        self._most, self._seconds = max_queue, flush_secs
        self._seen = set()  # tags already written: metadata is written only with the first value of each tag
        self._file = None
        self.reopen()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def reopen(self):
        """Opens another file if this one was closed."""
        if self._file is not None:
            return
        os.makedirs(self._logdir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}{self._suffix}"
        path, number = os.path.join(self._logdir, name), 0
        while os.path.exists(path):  # another writer made it in the same second
            number += 1
            path = os.path.join(self._logdir, f"{name}.{number}")
        self._file = _core.RecordWriter(path, "", 0, 0, -1, 8, 8, 0)
        self._waiting, self._flushed = 0, time.monotonic()
        self._finalizer = weakref.finalize(self, self._file.close)
        self._put(_event(None, file_version="brain.Event:2"))
        self._file.flush()

    def _put(self, event):
        if self._file is None:
            raise RuntimeError(f"FileWriter of {self._logdir}: it is closed; call reopen()")
        self._file.write(event.SerializeToString())
        self._waiting += 1
        if self._waiting > self._most or time.monotonic() - self._flushed > self._seconds:
            self.flush()

    def get_logdir(self):
        """The folder of the file."""
        return self._logdir

    def add_event(self, event):
        """Writes an Event."""
        self._put(event)

    def add_summary(self, summary, global_step=None):
        """Writes a Summary, or the bytes that a session returned for a summary op."""
        if isinstance(summary, bytes):
            summary = message("Summary").FromString(summary)
        for value in summary.value:
            if value.tag in self._seen:
                value.ClearField("metadata")
            elif len(self._seen) < 1 << 16:
                self._seen.add(value.tag)
        self._put(_event(global_step, summary=summary))

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Writes a graph."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        if not hasattr(given, "SerializeToString"):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._put(_event(global_step, graph_def=given.SerializeToString()))

    def add_session_log(self, session_log, global_step=None):
        """Writes a SessionLog."""
        self._put(_event(global_step, session_log=session_log))

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Writes a RunMetadata under a tag, which must be new."""
        if (tag, None) in self._seen:
            raise ValueError("The provided tag was already used for this event type")
        self._seen.add((tag, None))
        data = run_metadata.SerializeToString() if hasattr(run_metadata, "SerializeToString") else b""
        tagged = message("TaggedRunMetadata")(tag=tag, run_metadata=data)
        self._put(_event(global_step, tagged_run_metadata=tagged))

    def flush(self):
        """Writes the buffered events to the file."""
        if self._file is not None:
            self._waiting, self._flushed = 0, time.monotonic()
            self._file.flush()

    def close(self):
        """Writes the buffered events to the file and closes it."""
        if self._file is not None:
            self._finalizer()
            self._file = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


@export("compat.v1.summary.FileWriterCache")
class FileWriterCache:
    """A cache with one FileWriter for each directory."""

    _cache = {}

    @staticmethod
    def get(logdir):
        """The writer of a directory."""
        known = FileWriterCache._cache
        if logdir not in known:
            known[logdir] = FileWriter(logdir, graph=get_default_graph())
        return known[logdir]

    @staticmethod
    def clear():
        """Closes and removes all writers."""
        for writer in FileWriterCache._cache.values():
            writer.close()
        FileWriterCache._cache.clear()


@export("compat.v1.train.summary_iterator")
def summary_iterator(path):
    """The Event messages of an event file."""
    event = message("Event")
    for record in _core.RecordReader(path, ""):
        yield event.FromString(record)


@export("compat.v1.summary.get_summary_description")
def get_summary_description(node_def):
    """The SummaryDescription of a TensorSummary node."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Cannot get_summary_description on {node_def.op}")
    json_format = package("google.protobuf.json_format", "get_summary_description", "protobuf")
    made = message("SummaryDescription")()
    json_format.Parse(node_def.attr["description"].s.decode() or "{}", made)
    return made
