"""Type stubs of evenflow.summary. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class SummaryWriter:
    """The base class of writers of summaries."""
    def __init__(self, *args, **kwargs): ...
    def as_default(self, step=None): ...
    def close(self): ...
    def flush(self): ...
    def init(self): ...
    def set_as_default(self, step=None): ...

def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes up to `max_outputs` of the sounds [k, frames, channels], with values from -1 to 1, as WAV."""

def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None, experimental_trackable=False, experimental_mesh=None):
    """A writer of an event file in the directory `logdir`. Events are written to the file when more than `max_queue`"""

def create_noop_writer():
    """A writer that writes nothing."""

def flush(writer=None, name=None):
    """Writes the buffered events of `writer`, or of the default writer, to the file."""

def graph(graph_data):
    """Writes a graph, a tf.Graph or a GraphDef, to the default writer."""

def histogram(name, data, step=None, buckets=None, description=None):
    """Writes a histogram of the elements of `data` with `buckets` (default 30) intervals of equal width."""

def image(name, data, step=None, max_outputs=3, description=None):
    """Writes up to `max_outputs` of the images [k, height, width, channels]: floats from 0 to 1, or uint8."""

def record_if(condition):
    """A context in which summaries are written only if `condition` (a bool, a tensor, or a function that returns one) is"""

def scalar(name, data, step=None, description=None):
    """Writes a number, as float32."""

def should_record_summaries():
    """A boolean tensor: whether summaries are written now."""

def text(name, data, step=None, description=None):
    """Writes strings."""

def trace_export(name, step=None, profiler_outdir=None):
    """Stops the trace, and writes its graphs to the default writer and its profile to its directory."""

def trace_off():
    """Stops the trace and discards what it has collected."""

def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Starts to collect the graphs of the functions that are called and, with `profiler`, a profile for `profiler_outdir`."""

def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under `tag`. `metadata`, a SummaryMetadata or its bytes, names the TensorBoard plugin that shows it."""
