"""tf.summary: writes values of a run to event files, which TensorBoard shows.

A writer is a resource of the engine with an event file; these functions build tags and call its ops. Inside a tf.function
the ops are traced like any others, so that writing a summary runs no Python.
"""
import atexit
import contextlib
import re
import threading
import uuid
import warnings
import weakref

from . import _core, control, wire
from . import profiler as profiler_module
from .default_session import get_default_session
from .functional import map_fn
from .graph import control_dependencies, current_scope, eagerly, get_default_graph, init_scope, inside_function, name_scope
from .namespace import export
from .ops.common import CoreTensor, convert, dtypes, executing_eagerly, is_symbolic, raw, static_shape
from .ops.image import convert_image_dtype

_WRITERS = "_SUMMARY_WRITER_V2"  # the collection of ops that open the writers of a graph
_SUMMARIES = "_SUMMARY_V2"  # the collection of ops that write summaries


class _State(threading.local):
    writer = step = condition = None


state = _State()
_open = weakref.WeakSet()


@atexit.register
def _flush_all():
    """Flushes all writers when the program ends."""
    for writer in list(_open):
        with contextlib.suppress(Exception), eagerly():
            writer.flush()


# ---- writers ---------------------------------------------------------------------------------------------


class _AsDefault:
    """Makes a writer the default of the thread, and a step too if one is given."""

    def __init__(self, writer, step):
        self._writer, self._step = writer, step

    def __enter__(self):
        self._before = state.writer, state.step
        state.writer = self._writer
        if self._step is not None:
            state.step = self._step
        return self._writer

    def __exit__(self, *exception):
        self._writer.flush()
        state.writer = self._before[0]
        if self._step is not None:
            state.step = self._before[1]
        return False


@export("summary.SummaryWriter")
class SummaryWriter:
    """The base class of writers of summaries."""

    def set_as_default(self, step=None):
        """Makes this the thread's default writer, and `step` its default step."""
        self.as_default(step).__enter__()

    def as_default(self, step=None):
        """A context manager in which this is the default writer, and `step`, if given, the default step."""
        return _AsDefault(self, step)

    def init(self):
        """The op that opens the writer. Eagerly it has already run."""
        raise NotImplementedError

    def flush(self):
        """Writes the buffered events to the file."""
        raise NotImplementedError

    def close(self):
        """Writes the buffered events to the file and closes it."""
        raise NotImplementedError


class _FileWriter(SummaryWriter):
    """A writer of an event file."""

    def __init__(self, arguments, name):
        shared = "" if executing_eagerly() else f"{name or 'create_file_writer'}_{uuid.uuid4()}"
        self._closed = False
        self._resource = raw.SummaryWriter(shared_name=shared, name=name)
        self._init_op = raw.CreateSummaryFileWriter(self._resource, *arguments)
        if executing_eagerly():
            _open.add(self)
        else:
            get_default_graph().add_to_collection(_WRITERS, self._init_op)

    def _need_open(self):
        if executing_eagerly() and self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed; create another one")

    def set_as_default(self, step=None):
        self._need_open()
        super().set_as_default(step)

    def as_default(self, step=None):
        self._need_open()
        return super().as_default(step)

    def init(self):
        self._need_open()
        return self._init_op

    def flush(self):
        if executing_eagerly() and self._closed:
            return None
        return raw.FlushSummaryWriter(self._resource)

    def close(self):
        if executing_eagerly() and self._closed:
            return None
        with control_dependencies([] if executing_eagerly() else [self.flush()]):
            closed = raw.CloseSummaryWriter(self._resource)
        self._closed = self._closed or executing_eagerly()
        return closed


class _NoWriter(SummaryWriter):
    """A writer that writes nothing."""

    def set_as_default(self, step=None):
        pass

    @contextlib.contextmanager
    def as_default(self, step=None):
        yield

    def init(self):
        pass

    flush = close = init


@export("summary.create_file_writer")
def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):
    """A writer of an event file in the directory `logdir`. Events are written to the file when more than `max_queue`
    (default 10) are buffered, or after `flush_millis` (default 120,000)."""
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    inside = inside_function()
    with init_scope():
        given = {"logdir": logdir, "max_queue": max_queue, "flush_millis": flush_millis, "filename_suffix": filename_suffix}
        for word, value in given.items():
            if executing_eagerly() and isinstance(value, CoreTensor) and is_symbolic(value):
                where = "inside an @tf.function, which runs it outside of its graph" if inside else "eagerly"
                raise ValueError(f"Invalid graph Tensor argument '{word}={value}' to create_file_writer() {where}")
        arguments = (convert(logdir if isinstance(logdir, (CoreTensor, bytes)) else str(logdir), dtypes.string),
                     convert(10 if max_queue is None else max_queue, dtypes.int32),
                     convert(120_000 if flush_millis is None else flush_millis, dtypes.int32),
                     convert(".v2" if filename_suffix is None else filename_suffix, dtypes.string))
        return _FileWriter(arguments, name)


@export("summary.create_noop_writer")
def create_noop_writer():
    """A writer that writes nothing."""
    return _NoWriter()


@export("summary.flush")
def flush(writer=None, name=None):
    """Writes the buffered events of `writer`, or of the default writer, to the file."""
    writer = state.writer if writer is None else writer
    if writer is None:
        return raw.NoOp()
    if isinstance(writer, SummaryWriter):
        return writer.flush()
    raise ValueError(f"Invalid argument to flush(): {writer!r}; it must be a SummaryWriter")


# ---- when and under which step ---------------------------------------------------------------------------


@export("summary.experimental.get_step")
def get_step():
    """The thread's default step, or None."""
    return state.step


@export("summary.experimental.set_step")
def set_step(step):
    """Sets the thread's default step. If it is a variable, its value is read when a summary is written."""
    state.step = step


@export("summary.record_if")
@contextlib.contextmanager
def record_if(condition):
    """A context in which summaries are written only if `condition` (a bool, a tensor, or a function that returns one) is
    true."""
    before, state.condition = state.condition, condition
    try:
        yield
    finally:
        state.condition = before


def _condition():
    """Whether summaries are written: True, False or a tensor."""
    if state.writer is None:
        return False
    condition = state.condition() if callable(state.condition) else state.condition
    return True if condition is None else condition


@export("summary.should_record_summaries")
def should_record_summaries():
    """A boolean tensor: whether summaries are written now."""
    return convert(_condition(), dtypes.bool)


def _step_tensor(step):
    step = convert(step, dtypes.int64)
    dims = static_shape(step)
    if dims is not None and dims != ():
        raise ValueError(f"Argument `step` must be a scalar. Received step with shape {step.shape}.")
    return step


def _record(write, step):
    """Calls `write(writer's handle, step)` if summaries are recorded. Returns a bool tensor: whether it was written."""
    checked = None if step is None else _step_tensor(step)
    if state.writer is None:
        return convert(False)
    step = state.step if step is None else checked

    def record():
        if step is None:
            raise ValueError("No step set. Please specify one either through the `step` argument or through "
                             "tf.summary.experimental.set_step()")
        written = write(state.writer._resource, _step_tensor(step))
        with control_dependencies([] if executing_eagerly() else [written]):
            return raw.Identity(convert(True))

    condition = _condition()
    known = control.smart_constant_value(condition) if not executing_eagerly() else bool(condition)
    if known is None:
        made = control.cond(condition, record, lambda: convert(False))
    else:
        made = record() if known else convert(False)
    if not executing_eagerly():
        get_default_graph().add_to_collection(_SUMMARIES, made)
    return made


# ---- writing ---------------------------------------------------------------------------------------------

_INVALID = re.compile(r"[^-_/.A-Za-z0-9]")


@export("summary.experimental.summary_scope")
@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A name scope for a custom kind of summary. Yields (tag, name of the scope)."""
    name = name or default_name
    tag = current_scope() + name
    with name_scope(_INVALID.sub("", name) or default_name) as scope:
        yield tag, scope


@export("summary.write")
def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under `tag`. `metadata`, a SummaryMetadata or its bytes, names the TensorBoard plugin that shows it.
    `tensor` may be a function, which is called only if the summary is written."""
    if metadata is None:
        metadata = b""
    elif hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()

    def put(writer, at):
        value = convert(tensor() if callable(tensor) else tensor)
        return raw.WriteSummary(writer, at, value, convert(tag, dtypes.string), metadata, name=name)

    return _record(put, step)


@export("summary.experimental.write_raw_pb")
def write_raw_pb(tensor, step=None, name=None):
    """Writes serialized Summary messages."""
    return _record(lambda writer, at: raw.WriteRawProtoSummary(writer, at, convert(tensor, dtypes.string), name=name), step)


def _metadata(plugin, description, content=b""):
    """A serialized SummaryMetadata, which names a plugin of TensorBoard."""
    made = wire.message(1, wire.text(1, plugin) + wire.text(2, content))
    return made + wire.text(3, description or "")


def _write_for(plugin, name, tensor, step, description, content=b""):
    with summary_scope(name, plugin + "_summary") as (tag, _):
        return write(tag, tensor, step, _metadata(plugin, description, content))


@export("summary.scalar")
def scalar(name, data, step=None, description=None):
    """Writes a number, as float32."""
    def number():
        x = convert(data)
        if static_shape(x) not in ((), None):
            raise ValueError(f"tf.summary.scalar {name!r}: data has the shape {x.shape}; it must be a scalar")
        return x if x.dtype == dtypes.float32 else raw.Cast(x, dtypes.float32)

    return _write_for("scalars", name, number, step, description)


@export("summary.histogram")
def histogram(name, data, step=None, buckets=None, description=None):
    """Writes a histogram of the elements of `data` with `buckets` (default 30) intervals of equal width."""
    count = 30 if buckets is None else buckets
    return _write_for("histograms", name, lambda: raw._HistogramBuckets(convert(data), convert(count, dtypes.int32)), step,
                      description)


def _first(x, most, rank, what):
    """The first `most` rows of x. Raises ValueError if x does not have the rank `rank`."""
    dims = static_shape(x)
    if dims is not None and len(dims) != rank:
        raise ValueError(f"tf.summary.{what}: data has the shape {x.shape}; its rank must be {rank}")
    if not isinstance(most, CoreTensor) and most < 0:
        raise ValueError(f"tf.summary.{what}: max_outputs is {most}; it must not be negative")
    return x[:most]


@export("summary.image")
def image(name, data, step=None, max_outputs=3, description=None):
    """Writes up to `max_outputs` of the images [k, height, width, channels]: floats from 0 to 1, or uint8."""
    def encoded():
        images = _first(convert_image_dtype(convert(data), dtypes.uint8, saturate=True), max_outputs, 4, "image")
        shape = raw.Shape(images)
        sizes = raw.AsString(raw.GatherV2(shape, [2, 1], 0))
        return raw.ConcatV2([sizes, raw.EncodePng(images)], 0)

    return _write_for("images", name, encoded, step, description)


@export("summary.audio")
def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes up to `max_outputs` of the sounds [k, frames, channels], with values from -1 to 1, as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}; it must be 'wav'")

    def encoded():
        sounds = _first(convert(data, dtypes.float32), max_outputs, 3, "audio")
        rate = convert(sample_rate, dtypes.int32)
        made = map_fn(lambda one: raw.EncodeWav(one, rate), sounds, fn_output_signature=dtypes.string)
        return raw.Pack([made, raw.Fill(raw.Shape(made), b"")], axis=1)

    return _write_for("audio", name, encoded, step, description, content=b"\x10\x0b")  # encoding: WAV


@export("summary.text")
def text(name, data, step=None, description=None):
    """Writes strings."""
    x = convert(data)
    if x.dtype != dtypes.string:
        raise TypeError(f"tf.summary.text: data has the dtype {x.dtype}; it must be string")
    return _write_for("text", name, x, step, description)


@export("compat.v1.summary.all_v2_summary_ops")
def all_v2_summary_ops():
    """The ops of this graph that write summaries; None eagerly."""
    return None if executing_eagerly() else get_default_graph().get_collection(_SUMMARIES)


@export("compat.v1.summary.initialize")
def initialize(graph=None, session=None):
    """Opens the writers of the default graph. Eagerly it does nothing."""
    if executing_eagerly():
        return
    if state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(get_default_graph().get_collection(_WRITERS))
    if graph is not None:
        session.run(raw.WriteGraphSummary(state.writer._resource, convert(0, dtypes.int64), _graph_bytes(graph)))


def _graph_bytes(graph):
    return graph.as_graph_def(add_shapes=True).SerializeToString() if hasattr(graph, "as_graph_def") else \
        graph.SerializeToString()


# ---- graphs and traces -----------------------------------------------------------------------------------


@export("summary.graph")
def graph(graph_data):
    """Writes a graph, a tf.Graph or a GraphDef, to the default writer."""
    if not executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    if not hasattr(graph_data, "as_graph_def") and not hasattr(graph_data, "SerializeToString"):
        raise ValueError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
                         f"{graph_data} of type {type(graph_data).__name__}.")
    if state.writer is None or not bool(_condition()):
        return convert(False)
    raw.WriteGraphSummary(state.writer._resource, convert(0, dtypes.int64), _graph_bytes(graph_data))
    return convert(True)


class _Trace:
    """The state of trace_on: the functions that were called since then, and whether a profile is running."""

    def __init__(self, with_graph, profiler):
        self.graph, self.profiler, self.functions = with_graph, profiler, set()
        self._period = _core.event_period(1)
        _core.function_watch(self.functions)

    def end(self):
        """Stops collecting."""
        _core.function_watch(None)
        _core.event_period(self._period)

    def run_metadata(self):
        """The graphs of the functions as a serialized RunMetadata."""
        made = b""
        for function in sorted(self.functions, key=lambda f: f.__name__):
            for concrete in function._list_all_concrete_functions():
                one = concrete.graph.as_graph_def(add_shapes=True).SerializeToString()
                made += wire.message(3, one) + wire.message(4, wire.message(1, one) + wire.message(2, one))
        return made


_trace = None
_trace_lock = threading.Lock()


def _eagerly_only(what):
    if inside_function() or not executing_eagerly():
        warnings.warn(f"tf.summary.{what} has no effect inside a tf.function or a graph; call it eagerly", stacklevel=3)
        return False
    return True


@export("summary.trace_on")
def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Starts to collect the graphs of the functions that are called and, with `profiler`, a profile for `profiler_outdir`."""
    global _trace
    if not _eagerly_only("trace_on"):
        return
    with _trace_lock:
        if _trace is not None:
            warnings.warn("tf.summary.trace_on: a trace is already running", stacklevel=2)
            return
        if profiler and profiler_outdir is None:
            warnings.warn("tf.summary.trace_on: no profile is recorded, because profiler_outdir is missing", stacklevel=2)
        elif profiler:
            profiler_module.start(profiler_outdir)
        _trace = _Trace(graph, profiler and profiler_outdir is not None)


@export("summary.trace_export")
def trace_export(name, step=None, profiler_outdir=None):
    """Stops the trace, and writes its graphs to the default writer and its profile to its directory."""
    if step is not None:
        _step_tensor(step)
    if not _eagerly_only("trace_export"):
        return
    with _trace_lock:
        trace = _trace
    if trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    plugin = "graph_run_metadata_graph" if trace.graph and not trace.profiler else "graph_run_metadata"
    with summary_scope(name, plugin + "_summary") as (tag, _):
        write(tag, trace.run_metadata, step, _metadata(plugin, None, b"1"))
    if trace.profiler:
        profiler_module.stop()
        trace.profiler = False
    trace_off()


@export("summary.trace_off")
def trace_off():
    """Stops the trace and discards what it has collected."""
    global _trace
    with _trace_lock:
        trace, _trace = _trace, None
    if trace is None:
        return
    trace.end()
    if trace.profiler:
        profiler_module.stop(save=False)
