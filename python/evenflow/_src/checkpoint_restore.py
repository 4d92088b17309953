"""Restores objects from a checkpoint: immediately those that exist, later those that the program creates afterwards. Also
the status objects that `restore` returns."""
import functools
import itertools
import weakref

from . import _core, dtypes, errors
from .checkpoint_graph import OBJECT_GRAPH, Walk, children, identity, is_empty_container, parsed, value_names
from .checkpoint_reader import CheckpointReader, read_tensors
from .default_session import get_default_session

_count = itertools.count(1)


def is_graph_variable(trackable):
    """Whether it is a variable of a graph, whose value belongs to a session."""
    return isinstance(trackable, _core.VariableBase) and _core.is_symbolic(trackable.handle)


def _session(session, what):
    session = session if session is not None else get_default_session()
    if session is None:
        raise ValueError(f"{what} needs a session: pass one, or make one the default")
    return session


def _initialize_from(trackable, restored):
    """Sets the initializer of a Keras variable whose initialization is deferred, so that it starts with the restored value.
    Keras defers it when a model creates variables while its call is traced for shapes. Returns False for other objects."""
    if getattr(trackable, "_value", trackable) is not None or not hasattr(trackable, "_deferred_initialize"):
        return False
    value = restored["VARIABLE_VALUE"]
    if tuple(value.shape) != tuple(trackable.shape):
        raise ValueError(f"Received incompatible tensor with shape {value.shape} when attempting to restore variable with shape "
                         f"{tuple(trackable.shape)} and name {trackable.path}.")
    trackable._initializer = lambda shape, dtype=None: value
    return True


class Restoration:
    """One checkpoint being restored. For a child that does not exist yet, the parent object remembers the child's name and
    restores the child when it is assigned."""

    def __init__(self, prefix, nodes, entries):
        self.prefix, self.nodes, self.entries = prefix, nodes, entries
        self.uid = next(_count)
        self.bound, self.restored = {}, set()  # {node: its object}; the restored values as (node, name of the value)
        self.late_tasks = []  # graph variables, which are restored in a session
        self._valued = self._with_values()

    def _with_values(self):
        parents = [[] for _ in self.nodes]
        for k, node in enumerate(self.nodes):
            for child in node.children.values():
                parents[child].append(k)
        found = {k for k, node in enumerate(self.nodes) if node.attributes}
        left = list(found)
        while left:
            for parent in parents[left.pop()]:
                if parent not in found:
                    found.add(parent)
                    left.append(parent)
        return found

    def object_of(self, number):
        """The object that a node was bound to, if it still exists."""
        held = self.bound.get(number)
        return held() if isinstance(held, weakref.ref) else held

    def _hold(self, number, trackable):
        try:
            self.bound[number] = weakref.ref(trackable)
        except TypeError:
            self.bound[number] = trackable

    def bind(self, number, trackable, attached=()):
        """Restores an object and all objects reachable from it."""
        tasks, queue = [], [(number, trackable, None, None)]
        owners = []
        for number, trackable, owner, name in queue:  # the loop appends to this list
            known = self.object_of(number)
            if known is not None or not self._newest(trackable):
                continue
            self._hold(number, trackable)
            tasks += self._values(number, trackable)
            found = children(trackable, attached if owner is None else ())
            for child_name, child_number in self.nodes[number].children.items():
                if child_name in found:
                    queue.append((child_number, found[child_name], trackable, child_name))
                elif child_number in self._valued and hasattr(trackable, "_wait_for") and hasattr(trackable, "__dict__"):
                    trackable._wait_for(child_name, functools.partial(self.bind, child_number))
            owners.append((trackable, owner, name))
        for trackable, owner, name in reversed(owners):  # inner objects before those that contain them
            state = getattr(trackable, "__dict__", {})
            if "_self_pending" in state and "_self_original" in state and hasattr(owner, "_keep_child"):
                owner._keep_child(name, trackable)
        self._run(tasks)

    def _newest(self, trackable):
        """Whether no later restoration has reached the object. If so, records this one as the latest."""
        state = getattr(trackable, "__dict__", None)
        if state is None:
            return True
        if state.get("_self_update_uid", 0) > self.uid:
            return False
        state["_self_update_uid"] = self.uid
        return True

    def _values(self, number, trackable):
        """The tensors to read for an object: [(object, {local name: key})], or [] if there are none."""
        attributes = {name: key for name, _, key in self.nodes[number].attributes}
        if not attributes:
            return []
        names, wanted = value_names(trackable), {}
        for name, key in attributes.items():
            if name in names:
                self.restored.add((number, name))
                for local in names[name]:
                    wanted[local] = key[:len(key) - len(name)] + local
        return [(trackable, wanted)] if wanted else []

    def _run(self, tasks):
        later = [t for t in tasks if is_graph_variable(t[0])]
        self.late_tasks += later
        tasks = [t for t in tasks if not is_graph_variable(t[0])]
        values = read_tensors(self.prefix, self._dtypes(tasks))
        for trackable, wanted in tasks:
            restored = {local: values[key] for local, key in wanted.items()}
            if not _initialize_from(trackable, restored):
                trackable._restore_from_tensors(restored)

    def _dtypes(self, tasks):
        wanted = {}
        for trackable, names in tasks:
            for local, key in names.items():
                if hasattr(trackable, "_should_act_as_resource_variable"):
                    wanted[key] = dtypes.as_dtype(trackable.dtype)
                elif key in self.entries:
                    wanted[key] = dtypes.as_dtype(self.entries[key][0])
                else:
                    raise errors.NotFoundError(None, None, f"Key {key} not found in checkpoint {self.prefix}")
        return wanted

    def run_late(self, session):
        """Gives variables of a graph their values in a session."""
        values = read_tensors(self.prefix, self._dtypes(self.late_tasks))
        for trackable, wanted in self.late_tasks:
            trackable.load(values[wanted["VARIABLE_VALUE"]].numpy(), session)


def _path(walk, trackable):
    number = walk.numbers.get(identity(trackable))
    return "(root)" if not number else "(root)." + walk.paths[number].replace("/", ".")


class _Status:
    """The base class of the status objects that `restore` returns."""

    def expect_partial(self):
        """Does nothing: TensorFlow warns about values of the checkpoint that are never used, and Evenflow does not."""
        return self


class CheckpointLoadStatus(_Status):
    """Asserts how well a checkpoint and the objects it was restored into match."""

    def __init__(self, restoration, root, attached):
        self._restoration, self._root, self._attached = restoration, root, attached

    def _walk(self):
        return Walk(self._root, self._attached)

    def _names(self):
        """{number of a node: its dotted path from the root}."""
        names, left = {0: "(root)"}, [0]
        for number in left:
            for name, child in self._restoration.nodes[number].children.items():
                if child not in names:
                    names[child] = f"{names[number]}.{name}"
                    left.append(child)
        return names

    def assert_consumed(self):
        """Raises AssertionError unless every value in the checkpoint was restored and every object got its values."""
        restoration = self._restoration
        self.assert_existing_objects_matched()
        for number, node in enumerate(restoration.nodes):
            if node.attributes and restoration.object_of(number) is None:
                raise AssertionError(f"Unresolved object in checkpoint {self._names().get(number)}: the checkpoint has "
                                     f"{', '.join(key for _, _, key in node.attributes)}, and the program has no such object")
        unused = [key for number, node in enumerate(restoration.nodes) for name, _, key in node.attributes
                  if (number, name) not in restoration.restored]
        if unused:
            raise AssertionError("Unused attributes in these objects (the attributes exist in the checkpoint but were not "
                                 f"restored): {', '.join(unused)}")
        return self

    def _unmatched(self):
        walk = self._walk()
        matched = {identity(o) for o in map(self._restoration.object_of, self._restoration.bound) if o is not None}
        return walk, [o for o in walk.objects
                      if identity(o) not in matched and not is_empty_container(o) and value_names(o)]

    def assert_existing_objects_matched(self):
        """Raises AssertionError if an object of the program got no value from the checkpoint."""
        for number, node in enumerate(self._restoration.nodes):
            held = self._restoration.object_of(number)
            if held is not None and getattr(held, "_self_update_uid", self._restoration.uid) < self._restoration.uid:
                raise AssertionError(f"Object {self._names().get(number)} not assigned a value from checkpoint.")
        walk, unused = self._unmatched()
        if unused:
            shown = ", ".join(_path(walk, o) for o in unused[:10])
            raise AssertionError(f"Found {len(unused)} Python objects that were not bound to checkpointed values, likely due to "
                                 f"changes in the Python program. Showing {min(10, len(unused))} of {len(unused)} unmatched "
                                 f"objects: {shown}")
        return self

    def assert_nontrivial_match(self):
        """Raises AssertionError if no object but the root was found in the checkpoint."""
        if sum(self._restoration.object_of(n) is not None for n in self._restoration.bound) <= 1:
            walk, unused = self._unmatched()
            if unused:
                raise AssertionError("Nothing except the root object matched a checkpointed value. Typically this means that "
                                     "the checkpoint does not match the Python program. The following objects have no "
                                     f"matching checkpointed value: {', '.join(_path(walk, o) for o in unused)}")
            raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root!r} yet.")
        return self

    def run_restore_ops(self, session=None):
        """Assigns the values of graph variables in a session. Eager variables were restored before."""
        if self._restoration.late_tasks:
            self._restoration.run_late(_session(session, "run_restore_ops"))

    def initialize_or_restore(self, session=None):
        """Runs the initializers of the graph variables that the checkpoint has no value for, then restores the others."""
        late = {id(t) for t, _ in self._restoration.late_tasks}
        others = [o for o in self._walk().objects if is_graph_variable(o) and id(o) not in late]
        if others:
            _session(session, "initialize_or_restore").run([v.initializer for v in others])
        self.run_restore_ops(session)


class InitializationOnlyStatus(_Status):
    """The status that `restore(None)` returns: there is no checkpoint."""

    def __init__(self, root, attached):
        self._root, self._attached = root, attached

    def _nothing(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = _nothing

    def run_restore_ops(self, session=None):
        """Raises AssertionError, because there is nothing to restore."""
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).")

    def initialize_or_restore(self, session=None):
        """Runs the initializers of variables of a graph."""
        found = [o for o in Walk(self._root, self._attached).objects if is_graph_variable(o)]
        if found:
            _session(session, "initialize_or_restore").run([v.initializer for v in found])


class NameBasedSaverStatus(_Status):
    """The status for a checkpoint that tf.compat.v1.train.Saver wrote. It has names of variables instead of objects."""

    def __init__(self, reader, root, attached):
        self._reader, self._root, self._attached = reader, root, attached
        self._optional = set()
        self._restored, self._missing = [], []
        self._match()

    def _match(self):
        shapes = self._reader.get_variable_to_shape_map()
        for trackable in Walk(self._root, self._attached).objects:
            if hasattr(trackable, "_should_act_as_resource_variable"):
                name = trackable._shared_name
                (self._restored if name in shapes else self._missing).append((trackable, name))
        now = [(v, n) for v, n in self._restored if not is_graph_variable(v)]
        values = read_tensors(self._reader._prefix, {n: dtypes.as_dtype(v.dtype) for v, n in now})
        for trackable, name in now:
            trackable._restore_from_tensors({"VARIABLE_VALUE": values[name]})

    def add_to_optionally_restored(self, trackable):
        """Allows a variable to be missing from the checkpoint."""
        self._optional.add(id(trackable))

    def assert_consumed(self):
        """Raises AssertionError unless every tensor of the checkpoint was used and every variable was restored."""
        self.assert_existing_objects_matched()
        unused = sorted(set(self._reader.get_variable_to_shape_map()) - {n for _, n in self._restored})
        if unused:
            raise AssertionError(f"Some objects had attributes which were not restored: {', '.join(unused)}")
        return self

    def assert_existing_objects_matched(self):
        """Raises AssertionError if a variable is not in the checkpoint."""
        missing = [n for v, n in self._missing if id(v) not in self._optional]
        if missing:
            raise AssertionError("Object not assigned a value from checkpoint: the name-based checkpoint has no "
                                 f"{', '.join(missing)}")
        return self

    def assert_nontrivial_match(self):
        """Raises AssertionError if nothing was restored."""
        if not self._restored:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def run_restore_ops(self, session=None):
        """Assigns the values of graph variables in a session."""
        late = [(v, n) for v, n in self._restored if is_graph_variable(v)]
        if late:
            session = _session(session, "run_restore_ops")
            for trackable, name in late:
                trackable.load(self._reader.get_tensor(name), session)

    initialize_or_restore = run_restore_ops


def read_into(prefix, root, attached):
    """Restores the objects reachable from `root` from a checkpoint. Returns a status object."""
    reader = CheckpointReader(prefix)
    if not reader.has_tensor(OBJECT_GRAPH):
        return NameBasedSaverStatus(reader, root, attached)
    message = reader.get_tensor(OBJECT_GRAPH)
    try:
        nodes = parsed(message)
        if not nodes:
            raise ValueError("it is empty")
    except (ValueError, AttributeError) as e:
        raise errors.DataLossError(None, None, f"{prefix}: the graph of objects in the checkpoint is damaged: {e}") from None
    restoration = Restoration(prefix, nodes, reader._entries)
    restoration.bind(0, root, attached)
    return CheckpointLoadStatus(restoration, root, attached)
