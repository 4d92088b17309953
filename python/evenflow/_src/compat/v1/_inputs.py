"""Input pipelines of TensorFlow 1: producers of file names and indices, and batches, built from queues and queue runners."""
from ... import _core, dtypes, shapes
from ...composite import SparseTensor
from ...graph import executing_eagerly
from ...namespace import export, own
from ...queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from ._queue_runners import QueueRunner, add_queue_runner


def _no_eager(what):
    if executing_eagerly():
        raise RuntimeError(f"{what} is not supported when eager execution is enabled, since it runs by queues of a graph. "
                           "Use tf.data instead: tf.data.Dataset.from_tensor_slices(...).shuffle(...).repeat(...).batch(...)")


def _v1(name):
    return own("compat.v1", name)


@export("compat.v1.train.limit_epochs")
def limit_epochs(tensor, num_epochs=None, name=None):
    """Returns the tensor `num_epochs` times, then raises OutOfRangeError. A local variable counts the epochs."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with _v1("name_scope")(name, "limit_epochs", [tensor]) as scope:
        epochs = _v1("get_variable")(scope + "epochs", initializer=_v1("constant")(0, dtypes.int64), dtype=None, trainable=False,
                                     use_resource=True, collections=[_v1("GraphKeys").LOCAL_VARIABLES])
        with _v1("control_dependencies")([_counted(epochs, num_epochs)]):
            return _v1("identity")(_core.convert(tensor), name=scope)


def _counted(epochs, most):
    """Adds one to a counter. Raises OutOfRangeError when it has reached the limit."""
    return _v1("count_up_to")(epochs, most)


@export("compat.v1.train.input_producer")
def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                   summary_name=None, name=None, cancel_op=None):  # noqa: ARG001
    """A queue of the rows of a tensor, repeated for each epoch and, with `shuffle`, in a new order each time."""
    _no_eager("Input pipelines based on Queues")
    with _v1("name_scope")(name, "input_producer", [input_tensor]):
        rows = _core.convert(input_tensor)
        element_shape = rows.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            rows = _v1("random_shuffle")(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        q = FIFOQueue(capacity=capacity, dtypes=[rows.dtype], shapes=[element_shape], shared_name=shared_name, name="input_producer")
        add_queue_runner(QueueRunner(q, [q.enqueue_many([rows])], cancel_op=cancel_op))
        return q


@export("compat.v1.train.string_input_producer")
def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None,
                          cancel_op=None):
    """A queue of names of files."""
    _no_eager("Input pipelines based on Queues")
    if not isinstance(string_tensor, _core.CoreTensor) and not list(string_tensor):
        raise ValueError("string_input_producer requires a non-null input tensor")
    with _v1("name_scope")(name, "input_producer", [string_tensor]):
        names = _core.convert(string_tensor, dtypes.string)
        with _v1("control_dependencies")([_v1("Assert")(_v1("greater")(_v1("size")(names), 0),
                                                        ["string_input_producer requires a non-null input tensor"])]):
            names = _v1("identity")(names)
        return input_producer(names, [], num_epochs, shuffle, seed, capacity, shared_name, None, name, cancel_op)


@export("compat.v1.train.range_input_producer")
def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue of the integers below a limit."""
    _no_eager("Input pipelines based on Queues")
    with _v1("name_scope")(name, "input_producer", [limit]):
        return input_producer(_v1("range")(limit), [], num_epochs, shuffle, seed, capacity, shared_name, None, name)


@export("compat.v1.train.slice_input_producer")
def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """One row of each of several tensors, with the same row number."""
    _no_eager("Input pipelines based on Queues")
    with _v1("name_scope")(name, "input_producer", list(tensor_list)):
        tensors = [_core.convert(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = _v1("shape")(tensors[0])[0]
        index = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name).dequeue()
        return [_v1("gather")(t, index) for t in tensors]


# ---- batches ----------------------------------------------------------------------------------------------------------------------


def _flat(tensors):
    """(the tensors of a list or dict, a function that packs other tensors in the same way)."""
    if isinstance(tensors, dict):
        keys = sorted(tensors)
        values, again = [tensors[k] for k in keys], lambda made: dict(zip(keys, made))
    else:
        values = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        again = (lambda made: made) if len(values) > 1 else (lambda made: made[0])
    if not values:
        raise ValueError("Expected at least one tensor in batch().")
    if any(isinstance(v, SparseTensor) for v in values):
        raise NotImplementedError("batches of SparseTensor by queues are not supported; tf.data.Dataset.batch makes them")
    return [_core.convert(v) for v in values], again


def _common(lists, given, enqueue_many):
    """(dtypes, shapes) that the elements of all lists have in common."""
    first = lists[0]
    for other in lists[1:]:
        if [t.dtype for t in other] != [t.dtype for t in first]:
            raise TypeError("Expected types to be consistent: %s vs. %s." % ([t.dtype.name for t in first], [t.dtype.name for t in other]))
    if given is not None:
        return [t.dtype for t in first], given
    found = []
    for k in range(len(first)):
        same = None
        for values in lists:
            shape = values[k].shape
            if enqueue_many:
                shape = shape.with_rank_at_least(1)[1:] if shape.rank is not None else shape
            same = shape if same is None else same.most_specific_compatible_shape(shape)
        found.append(same)
    return [t.dtype for t in first], found


def _filled(queue, lists, enqueue_many, threads):
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    ops = [enqueue(values) for values in lists] if threads is None else [enqueue(lists[0])] * threads
    add_queue_runner(QueueRunner(queue, ops))
    return queue


def _taken(queue, batch_size, smaller, again, name):
    made = (queue.dequeue_up_to if smaller else queue.dequeue_many)(batch_size, name=name)
    return again(made if isinstance(made, list) else [made])


def _batch(lists, batch_size, capacity, threads, enqueue_many, given, dynamic_pad, smaller, shared_name, name):
    _no_eager("Input pipelines based on Queues")
    with _v1("name_scope")(name, "batch"):
        parts = [_flat(tensors) for tensors in lists]
        lists = [values for values, _ in parts]
        types, found = _common(lists, given, enqueue_many)
        if not dynamic_pad and any(not shapes.TensorShape(s).is_fully_defined() for s in found):
            raise ValueError(f"All shapes must be fully defined: {found}; give `shapes`, or dynamic_pad=True")
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        q = _filled(kind(capacity, types, [shapes.TensorShape(s) for s in found], shared_name=shared_name), lists, enqueue_many, threads)
        return _taken(q, batch_size, smaller, parts[0][1], None)


@export("compat.v1.train.batch")
def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of the values that the tensors have in successive runs, computed by `num_threads` threads."""
    return _batch([tensors], batch_size, capacity, num_threads, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  shared_name, name)


@export("compat.v1.train.batch_join")
def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    """Like `batch`, with one thread for each of several lists of tensors."""
    return _batch(list(tensors_list), batch_size, capacity, None, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  shared_name, name)


def _shuffle_batch(lists, batch_size, capacity, least, threads, seed, enqueue_many, given, smaller, shared_name, name):
    _no_eager("Input pipelines based on Queues")
    with _v1("name_scope")(name, "shuffle_batch"):
        parts = [_flat(tensors) for tensors in lists]
        lists = [values for values, _ in parts]
        types, found = _common(lists, given, enqueue_many)
        q = RandomShuffleQueue(capacity, least, types, [shapes.TensorShape(s) for s in found], seed=seed, shared_name=shared_name)
        return _taken(_filled(q, lists, enqueue_many, threads), batch_size, smaller, parts[0][1], None)


@export("compat.v1.train.shuffle_batch")
def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False, shapes=None,
                  allow_smaller_final_batch=False, shared_name=None, name=None):
    """Like `batch`, in random order. At least `min_after_dequeue` elements stay in the queue to choose from."""
    return _shuffle_batch([tensors], batch_size, capacity, min_after_dequeue, num_threads, seed, enqueue_many, shapes,
                          allow_smaller_final_batch, shared_name, name)


@export("compat.v1.train.shuffle_batch_join")
def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False, shapes=None,
                       allow_smaller_final_batch=False, shared_name=None, name=None):
    """Like `shuffle_batch`, with one thread for each of several lists of tensors."""
    return _shuffle_batch(list(tensors_list), batch_size, capacity, min_after_dequeue, None, seed, enqueue_many, shapes,
                          allow_smaller_final_batch, shared_name, name)


@export("compat.v1.train.match_filenames_once", "compat.v1.io.match_filenames_once")
def match_filenames_once(pattern, name=None):
    """The names of the files that match a pattern, found when the local variables are initialized."""
    with _v1("name_scope")(name, "matching_filenames"):
        return _v1("get_variable")(f"matching_filenames_{id(pattern)}", initializer=own("io", "matching_files")(pattern), dtype=None,
                                   trainable=False, validate_shape=False, use_resource=True,
                                   collections=[_v1("GraphKeys").LOCAL_VARIABLES])
