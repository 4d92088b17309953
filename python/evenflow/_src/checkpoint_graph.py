"""The protobuf message TrackableObjectGraph, in which a checkpoint records objects, their children and their values.

`Walk` visits the objects breadth first. The first path that reaches an object gives the keys of its values, such as
`child/child/.ATTRIBUTES/VARIABLE_VALUE`.
"""
from . import wire
from .tracking import TrackableDataStructure

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def identity(trackable):
    """The id by which objects are told apart. For the wrapper of a list or dict it is the id of the list or dict itself."""
    return id(getattr(trackable, "__dict__", {}).get("_self_original", trackable))


def children(trackable, attached=(), **how):
    """{name: child}; the pairs `attached` come after the object's own children. how: arguments of its _trackable_children."""
    found = dict(trackable._trackable_children(**how)) if hasattr(trackable, "_trackable_children") else {}
    for name, value in attached:
        found.setdefault(name, value)
    return found


def value_names(trackable):
    """{attribute: names of its tensors} of what an object saves in a checkpoint; empty if it saves nothing itself."""
    if hasattr(trackable, "_checkpoint_names"):
        return trackable._checkpoint_names()
    if hasattr(trackable, "_should_act_as_resource_variable"):
        return {"VARIABLE_VALUE": ("VARIABLE_VALUE",)}
    if hasattr(type(trackable), "_serialize_to_tensors"):
        return {name: (name,) for name in trackable._serialize_to_tensors()}
    return {}


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


class Walk:
    """All objects reachable from a root, in breadth-first order. An object's number is its position in `objects`."""

    def __init__(self, root, attached=()):
        self.objects, self.numbers, self.paths, self.children = [root], {identity(root): 0}, [""], []
        for k, trackable in enumerate(self.objects):  # the loop appends to this list
            below = {}
            if hasattr(trackable, "_check_saved"):
                trackable._check_saved()
            for name, child in children(trackable, attached if k == 0 else ()).items():
                known = self.numbers.get(identity(child))
                if known is None:
                    known = self.numbers[identity(child)] = len(self.objects)
                    self.objects.append(child)
                    self.paths.append(f"{self.paths[k]}/{_escaped(name)}" if self.paths[k] else _escaped(name))
                below[name] = known
            self.children.append(below)

    def key(self, number, name):
        """The key in the checkpoint of the value `name` of object `number`."""
        path = self.paths[number]
        return f"{path}/.ATTRIBUTES/{name}" if path else f".ATTRIBUTES/{name}"


def _with_values(walk, names):
    """The numbers of the objects that have values, or from which an object with values can be reached."""
    parents = [[] for _ in walk.objects]
    for k, below in enumerate(walk.children):
        for child in below.values():
            parents[child].append(k)
    found = {k for k, named in enumerate(names) if named}
    left = list(found)
    while left:
        for parent in parents[left.pop()]:
            if parent not in found:
                found.add(parent)
                left.append(parent)
    return found


def serialized(walk, names):
    """The message in bytes; names[k] are the names of the values of object k."""
    found, made = _with_values(walk, names), []
    for k, below in enumerate(walk.children):
        node = b"".join(wire.message(1, wire.number(1, child) + wire.text(2, name)) for name, child in below.items())
        for name in names[k]:
            full = getattr(walk.objects[k], "_shared_name", "") or ""
            node += wire.message(2, wire.text(1, name) + wire.text(2, full) + wire.text(3, walk.key(k, name)))
        node += wire.message(5, wire.number(1, k in found))
        made.append(wire.message(1, node))
    return b"".join(made)


class Node:
    """An object as a checkpoint describes it."""

    __slots__ = ("children", "attributes", "slots")

    def __init__(self):
        self.children, self.attributes, self.slots = {}, [], []


def _words(data, *numbers):
    held = dict(wire.fields(data))
    return [held.get(n, b"") for n in numbers]


def _node(data):
    node = Node()
    for field, value in wire.fields(data):
        if field == 1:
            number, name = _words(value, 1, 2)
            node.children[name.decode()] = number or 0
        elif field == 2:
            name, full, key = _words(value, 1, 2, 3)
            node.attributes.append((name.decode(), full.decode(), key.decode()))
        elif field == 3:
            node.slots.append(tuple(_words(value, 1, 2, 3)))
    return node


def parsed(data):
    """The nodes of a message. Raises ValueError if it is damaged or a child's number is out of range."""
    nodes = [_node(value) for field, value in wire.fields(data) if field == 1]
    for node in nodes:
        if any(not isinstance(child, int) or child >= len(nodes) for child in node.children.values()):
            raise ValueError("the number of a child is out of range")
    return nodes


def is_empty_container(trackable):
    """Whether it is a list, tuple or dict without children."""
    return isinstance(trackable, TrackableDataStructure) and not trackable._trackable_children()
