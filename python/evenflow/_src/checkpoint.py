"""tf.train.Checkpoint: saves the values of objects to files. The key of a value is the path of attributes to its object."""
import inspect
import os
import weakref

from . import _core, dtypes
from .checkpoint_graph import OBJECT_GRAPH, Walk, children, serialized, value_names
from .checkpoint_reader import eagerly, write_state
from .checkpoint_restore import InitializationOnlyStatus, _session, is_graph_variable, read_into
from .gfile import isdir
from .graph import init_scope, plain_graph
from .namespace import export
from .tracking import AutoTrackable, Trackable, arrived, wrap
from .variable import Variable

raw = _core.raw


@export("train.TrackableView")
class TrackableView:
    """The objects that can be reached from `root`, which it does not keep alive."""

    def __init__(self, root):
        self._root = root if isinstance(root, weakref.ref) else weakref.ref(root)

    root = property(lambda self: self._root())

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """{name: child} of one object, as it is when a checkpoint or a SavedModel is written."""
        return {name: wrap(child) for name, child in children(obj, save_type=save_type, **kwargs).items()}

    def descendants(self):
        """All objects below the root and the root itself, in breadth-first order."""
        return list(Walk(self.root).objects)


@export("train.CheckpointOptions")
class CheckpointOptions:
    """Options for saving and restoring. Saving is synchronous even with `enable_async`: the files are complete when the call
    returns. `experimental_io_device` has no effect."""

    def __init__(self, experimental_io_device=None, experimental_enable_async_checkpoint=False,
                 experimental_write_callbacks=None, enable_async=False, experimental_skip_slot_variables=False,
                 experimental_sharding_callback=None):
        for callback in experimental_write_callbacks or ():
            if not callable(callback) or len(inspect.signature(callback).parameters) > 1:
                raise AssertionError("a callback of experimental_write_callbacks takes the path of the checkpoint, or nothing")
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback

    def __copy__(self):
        made = type(self)()
        made.__dict__.update(self.__dict__)
        return made


def _call_back(options, path):
    for callback in (options.experimental_write_callbacks or ()) if options is not None else ():
        callback(path) if inspect.signature(callback).parameters else callback()


def _gathered(walk):
    """(for each object the names of its values, {key in the checkpoint: value})."""
    names, values = [], {}
    for number, trackable in enumerate(walk.objects):
        named = value_names(trackable)
        names.append(list(named))
        if named:
            found = {"VARIABLE_VALUE": trackable._graph_element} if is_graph_variable(trackable) and \
                hasattr(trackable, "_graph_element") else trackable._serialize_to_tensors()
            values.update((walk.key(number, local), found[local]) for locals_ in named.values() for local in locals_)
    return names, values


def write_objects(prefix, root, attached, session=None):
    """Writes a checkpoint of all objects reachable from `root`. The values of graph variables are read from the session."""
    walk = Walk(root, attached)
    if plain_graph() is not None or any(map(is_graph_variable, walk.objects)):
        return _write_from_session(prefix, walk, session)
    names, values = _gathered(walk)
    values[OBJECT_GRAPH] = serialized(walk, names)
    raw.SaveV2(prefix, list(values), [""] * len(values), [_core.convert(v) for v in values.values()])
    return prefix


def _write_from_session(prefix, walk, session):
    names, values = _gathered(walk)
    symbolic = {k: v for k, v in values.items() if isinstance(v, _core.Tensor) and _core.is_symbolic(v)}
    if symbolic:
        values.update(zip(symbolic, _session(session, "saving variables of a graph").run(list(symbolic.values()))))
    values[OBJECT_GRAPH] = serialized(walk, names)
    with eagerly():
        raw.SaveV2(prefix, list(values), [""] * len(values), [_core.convert(v) for v in values.values()])
    return prefix


def _need_trackable(value, name):
    if wrap(value) is None:
        raise ValueError(f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
                         f"{value!r}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python "
                         "API and manages state), please open an issue.")


def _path(prefix):
    return os.fspath(prefix) if isinstance(prefix, os.PathLike) else prefix


@export("train.Checkpoint")
class Checkpoint(AutoTrackable):
    """Saves and restores the values of objects: variables, modules, models, optimizers, lists and dicts of them, iterators."""

    __module__ = "tensorflow.python.checkpoint.checkpoint"

    def __init__(self, root=None, **kwargs):
        self._self_counter, self._self_attached, self._self_root = None, None, None
        if root is not None:
            held = root() if isinstance(root, weakref.ref) else root
            _need_trackable(held, "root")
            self._self_root, self._self_attached = root, []
            kwargs["root"] = held
            self._self_counter = held._lookup_dependency("save_counter") if hasattr(held, "_lookup_dependency") else None
        for name in sorted(kwargs):
            value = kwargs[name]() if isinstance(kwargs[name], weakref.ref) else kwargs[name]
            _need_trackable(value, name)
            setattr(self, name, value)
            if root is not None:
                known = held._lookup_dependency(name) if hasattr(held, "_lookup_dependency") else None
                if known is None:
                    self._self_attached.append(name)
                elif known is not value and getattr(known, "_self_original", known) is not value:
                    raise ValueError(f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists.")

    def _place(self):
        """The root object of the checkpoint, and the (name, object) pairs that the constructor was given in addition to it."""
        if self._self_root is None:
            return self, ()
        root = self._self_root() if isinstance(self._self_root, weakref.ref) else self._self_root
        attached = [(name, wrap(getattr(self, name))) for name in self._self_attached]
        if self._self_counter is not None:
            attached.append(("save_counter", self._self_counter))
        return root, attached

    def _make_counter(self):
        if self._self_counter is not None:
            return
        with init_scope():
            counter = Variable(0, trainable=False, name="save_counter", dtype=dtypes.int64)
        self._self_counter = counter
        root, _ = self._place()
        if root is self:
            self.__dict__["save_counter"] = counter  # __dict__, so that it is a child like the others and keeps its place in their order
            if "_self_pending" in self.__dict__:
                arrived(self, "save_counter", counter)
        else:
            restore = getattr(root, "__dict__", {}).get("_self_pending", {}).pop("save_counter", None)
            if restore is not None:
                restore(counter)

    @property
    def save_counter(self):
        """The number of calls of `save`, which is part of the file names."""
        self._make_counter()
        return self._self_counter

    def _write(self, prefix, session=None, options=None):
        prefix = _path(prefix)
        root, attached = self._place()
        path = write_objects(prefix, root, attached, session)
        _call_back(options, path)
        return path

    def write(self, file_prefix, options=None):
        """Writes a checkpoint with this prefix and returns the prefix."""
        return self._write(file_prefix, None, options)

    def _save(self, prefix, session=None, options=None):
        prefix = _path(prefix)
        prefix = prefix.decode() if isinstance(prefix, bytes) else prefix
        self._make_counter()
        counter = self._self_counter
        if is_graph_variable(counter):
            session = _session(session, "saving variables of a graph")
            number = session.run(counter._graph_element) + 1
            counter.load(number, session)
        else:
            with eagerly():
                counter.assign_add(1, read_value=False)
                number = counter.numpy()
        path = self._write(f"{prefix}-{number:d}", session, options)
        write_state(os.path.dirname(prefix), path, [path])
        return path

    def save(self, file_prefix, options=None):
        """Writes the checkpoint `file_prefix-N`, where N counts the calls, and records it in the file `checkpoint`."""
        return self._save(file_prefix, None, options)

    def read(self, save_path, options=None):
        """Restores a checkpoint that `write` wrote. Returns a status object that can assert what was restored."""
        root, attached = self._place()
        if save_path is None:
            return InitializationOnlyStatus(root, attached)
        save_path = _path(save_path)
        if isdir(save_path) and os.path.exists(os.path.join(save_path, "saved_model.pb")):
            save_path = os.path.join(save_path, "variables", "variables")
        return read_into(save_path, root, attached)

    def restore(self, save_path, options=None):
        """Restores a checkpoint that `save` or `write` wrote. Returns a status object that can assert what was restored."""
        status = self.read(save_path, options)
        self._make_counter()
        status.__dict__["_attached"] = self._place()[1]
        if hasattr(status, "add_to_optionally_restored"):
            status.add_to_optionally_restored(self._self_counter)
        return status

    def sync(self):
        """Does nothing: saving is synchronous, so no checkpoint is still being written."""


@export("compat.v1.train.Checkpoint")
class CheckpointV1(Checkpoint):
    """tf.train.Checkpoint whose methods also take a session."""

    __module__ = "tensorflow.python.checkpoint.checkpoint"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def write(self, file_prefix, session=None):
        """Writes a checkpoint with this prefix and returns the prefix."""
        return self._write(file_prefix, session)

    def save(self, file_prefix, session=None):
        """Writes the checkpoint `file_prefix-N` and records it in the file `checkpoint`."""
        return self._save(file_prefix, session)

    def restore(self, save_path):
        """Restores a checkpoint. Returns a status object that can assert what was restored."""
        return super().restore(save_path)


@export("train.experimental.PythonState", "__internal__.tracking.PythonState")
class PythonState(Trackable):
    """The base class of objects that save Python state in checkpoints. A subclass defines `serialize`, which returns bytes,
    and `deserialize`, which takes them."""

    def serialize(self):
        """Returns the state as bytes."""
        raise NotImplementedError(f"{type(self).__name__}.serialize")

    def deserialize(self, string_value):
        """Restores the state from the bytes that `serialize` returned."""
        raise NotImplementedError(f"{type(self).__name__}.deserialize")

    def _checkpoint_names(self):
        return {"py_state": ("py_state",)}

    def _serialize_to_tensors(self):
        return {"py_state": _core.convert(self.serialize(), dtypes.string)}

    def _restore_from_tensors(self, restored):
        self.deserialize(restored["py_state"].numpy())
