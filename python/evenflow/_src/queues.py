"""tf.queue: queues that pass elements between threads. The engine implements them as resources."""
import uuid

from . import _core, dtypes, shapes
from .graph import executing_eagerly
from .namespace import export
from .ops.random import op_seeds

raw = _core.raw


def _listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _shared_name(given, word):
    """The shared name of a queue. In a graph each run finds the queue by this name; eagerly the handle owns the queue."""
    if given is not None:
        return given
    return "" if executing_eagerly() else f"{word}_{uuid.uuid4()}"


@export("queue.QueueBase", "compat.v1.QueueBase")
class QueueBase:
    """The base class of queues."""

    __module__ = "tensorflow.python.ops.data_flow_ops"

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes, self._names, self._queue_ref = dtypes, names, queue_ref
        self._shapes = shapes if shapes is not None else [_unknown] * len(dtypes)
        if names is not None and (not names or len(names) != len(dtypes)):
            raise ValueError(f"Number of names ({len(names or ())}) must equal the number of components ({len(dtypes)})")
        self._name = "queue" if executing_eagerly() else queue_ref.op.name

    queue_ref = property(lambda self: self._queue_ref)
    name = property(lambda self: self._name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)

    @staticmethod
    def from_list(index, queues):
        """The queue number `index`, a tensor, of a list. All queues must have elements with the same dtypes and names."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        if any(q.dtypes != queues[0].dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != queues[0].names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        ref = raw.GatherV2(raw.Pack([q.queue_ref for q in queues]), index, 0)
        same = all(q.shapes == queues[0].shapes for q in queues)
        return QueueBase(queues[0].dtypes, queues[0].shapes if same else None, queues[0].names, ref)

    def _parts(self, vals, many):
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError(f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(vals)}, "
                                 f"Queue: {sorted(self._names)}")
            vals = [vals[k] for k in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            vals = _listed(vals) if len(self._dtypes) > 1 or isinstance(vals, (list, tuple)) and len(vals) == 1 else [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(f"The queue's elements have {len(self._dtypes)} components, but {len(vals)} were given")
        made = []
        for v, dtype, shape in zip(vals, self._dtypes, self._shapes):
            v = _core.convert(v, dtype)
            (v.shape[1:] if many else v.shape).assert_is_compatible_with(shape)
            made.append(v)
        sizes = {v.shape[0] for v in made} - {None} if many else ()
        if len(sizes) > 1:
            raise ValueError(f"enqueue_many: the components have {sorted(sizes)} rows; they must have the same number")
        return made

    def enqueue(self, vals, name=None):
        """Adds one element. Blocks while the queue is full."""
        return raw.QueueEnqueueV2(self._queue_ref, self._parts(vals, False), name=name)

    def enqueue_many(self, vals, name=None):
        """Adds one element for each row of the components. Blocks while the queue is full."""
        return raw.QueueEnqueueManyV2(self._queue_ref, self._parts(vals, True), name=name)

    def _taken(self, parts, rows=None):
        parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
        if not executing_eagerly():
            for part, shape in zip(parts, self._shapes):
                if rows is not None:
                    shape = shapes.TensorShape([rows or None]).concatenate(shape)
                part.set_shape(shape)
        if self._names:
            return dict(zip(self._names, parts))
        return parts[0] if len(parts) == 1 else parts

    def dequeue(self, name=None):
        """Removes and returns one element. Blocks while the queue is empty."""
        return self._taken(raw.QueueDequeueV2(self._queue_ref, self._dtypes, name=name))

    def dequeue_many(self, n, name=None):
        """Removes n elements and returns them stacked. Blocks until the queue has n elements."""
        made = raw.QueueDequeueManyV2(self._queue_ref, n=n, component_types=self._dtypes, name=name)
        return self._taken(made, n if isinstance(n, int) else 0)

    def dequeue_up_to(self, n, name=None):
        """Removes n elements and returns them stacked. If the queue is closed, it may return fewer."""
        return self._taken(raw.QueueDequeueUpToV2(self._queue_ref, n=n, component_types=self._dtypes, name=name), 0)

    def close(self, cancel_pending_enqueues=False, name=None):
        """Closes the queue: no element can be added; the remaining ones can be removed."""
        return raw.QueueCloseV2(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def is_closed(self, name=None):
        """Whether it is closed."""
        return raw.QueueIsClosedV2(self._queue_ref, name=name)

    def size(self, name=None):
        """How many elements it holds."""
        return raw.QueueSizeV2(self._queue_ref, name=name)


_unknown = shapes.TensorShape(None)


def _kinds(types, given, names, capacity):
    types = [dtypes.as_dtype(t) for t in _listed(types)]
    if given is not None:
        given = [given] if isinstance(given, shapes.TensorShape) else list(given)
        if len(types) == 1 and (not given or not isinstance(given[0], (list, tuple, shapes.TensorShape))):
            given = [given]
        given = [shapes.TensorShape(s) for s in given]
    names = None if names is None else _listed(names)
    if names is not None and len(names) != len(types):
        raise ValueError(f"Queue names must have the same length as dtypes, received len(names)={len(names)}, len(dtypes)={len(types)}")
    return types, given, names, int(capacity)


def _sizes(given):
    return given if given is not None else []


@export("queue.FIFOQueue", "compat.v1.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that returns elements in the order in which they were added."""

    __module__ = "tensorflow.python.ops.data_flow_ops"

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        types, given, names, capacity = _kinds(dtypes, shapes, names, capacity)
        ref = raw.FIFOQueueV2(component_types=types, shapes=_sizes(given), capacity=capacity, shared_name=_shared_name(shared_name, name),
                              name=name)
        super().__init__(types, given, names, ref)


@export("queue.PaddingFIFOQueue", "compat.v1.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue for elements of different sizes: dequeue_many pads them with zeros to the same size."""

    __module__ = "tensorflow.python.ops.data_flow_ops"

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        types, given, names, capacity = _kinds(dtypes, shapes, names, capacity)
        if given is None or any(s.rank is None for s in given):
            raise ValueError("PaddingFIFOQueue: every shape must have a known rank")
        ref = raw.PaddingFIFOQueueV2(component_types=types, shapes=_sizes(given), capacity=capacity,
                                     shared_name=_shared_name(shared_name, name), name=name)
        super().__init__(types, given, names, ref)


@export("queue.RandomShuffleQueue", "compat.v1.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that returns elements in random order. Until it is closed, at least `min_after_dequeue` elements stay in it to
    choose from."""

    __module__ = "tensorflow.python.ops.data_flow_ops"

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        types, given, names, capacity = _kinds(dtypes, shapes, names, capacity)
        seed, seed2 = (s or 0 for s in op_seeds(seed))
        ref = raw.RandomShuffleQueueV2(component_types=types, shapes=_sizes(given), capacity=capacity, min_after_dequeue=min_after_dequeue,
                                       seed=seed, seed2=seed2, shared_name=_shared_name(shared_name, name), name=name)
        super().__init__(types, given, names, ref)


@export("queue.PriorityQueue", "compat.v1.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue whose elements begin with an int64 priority. The element with the smallest one is returned first."""

    __module__ = "tensorflow.python.ops.data_flow_ops"

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types, given, names, capacity = _kinds(types, shapes, names, capacity)
        ref = raw.PriorityQueueV2(component_types=types, shapes=_sizes(given), capacity=capacity, shared_name=_shared_name(shared_name, name),
                                  name=name)
        scalar = [_scalar]
        super().__init__([dtypes.int64, *types], scalar + (given if given is not None else [_unknown] * len(types)), names, ref)


_scalar = shapes.TensorShape([])
