"""Trackable objects: checkpoints and Keras traverse the graph of objects and their named children.

Attributes stay the objects that the program assigned. A list or a dict is wrapped as a trackable object only during a
traversal (`_trackable_children`), so assigning a value does not change its type or identity. The exception is an object
with pending children, whose values a checkpoint has (`_wait_for`): a list or dict that is assigned there is replaced by a
wrapper that restores the children when they are added.
"""
import collections
import functools

from .namespace import export

_INSIDE = "tensorflow.python.trackable."


@export("__internal__.tracking.Trackable")
class Trackable:
    """An object with named children."""

    __slots__ = ()
    __module__ = _INSIDE + "base"
    _self_setattr_tracking = True  # while it is False, assigned attributes do not become children

    @property
    def _setattr_tracking(self):
        return self._self_setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        self._self_setattr_tracking = value

    def _maybe_initialize_trackable(self):
        """Creates the table of children that were added by `_track_trackable`, if there is none. Its name keeps it out of the
        walk over attributes with which Keras saves and loads a model: a layer whose weights do not fit would be met there
        a second time, and the second error would hide the first."""
        if "__children__" not in self.__dict__:
            self.__dict__["__children__"] = {}

    def _track_trackable(self, trackable, name, overwrite=False):
        """Adds `trackable` as the child `name`. Raises ValueError if there is another one, unless `overwrite`."""
        self._maybe_initialize_trackable()
        if not isinstance(trackable, Trackable):
            raise TypeError(f"only trackable objects can be tracked, and {name!r} is a {type(trackable).__name__}")
        known = self.__children__.get(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(f"there is a child {name!r} already, and overwrite was not asked for")
        self.__children__[name] = trackable
        if "_self_pending" in self.__dict__:
            arrived(self, name, trackable)
        return trackable

    def _wait_for(self, name, restore):
        """Registers `restore(child)`, to be called when a child `name` is added. It replaces an earlier one."""
        self.__dict__.setdefault("_self_pending", {})[name] = restore

    def _add_trackable_child(self, name, value):
        setattr(self, name, value)

    def _no_dependency(self, value):
        """A value that may be assigned without becoming a child."""
        return value

    def _trackable_children(self, save_type="checkpoint", **_):
        """The children by name."""
        return dict(getattr(self, "__children__", ()))

    def _lookup_dependency(self, name, cached_dependencies=None):
        """The child `name`, or None."""
        known = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return known.get(name)


def wrap(value):
    """The trackable object for a value: the value itself if it is trackable; a wrapper of a list, of a dict, or of a tuple
    that contains trackables; else None. Subclasses of list and dict are not wrapped."""
    if isinstance(value, Trackable) or hasattr(value, "_trackable_children"):
        return value
    kind = type(value)
    if kind is dict or kind is collections.OrderedDict:
        made = _DictWrapper(value)
    elif kind is list:
        made = ListWrapper(value)
    elif isinstance(value, tuple) and any(wrap(v) is not None for v in value):
        made = _TupleWrapper(value)
    else:
        return None
    made._self_original = value
    return made


def arrived(owner, name, value):
    """Restores a child that is pending for `owner`. Returns the object to store as the child: the value or its wrapper."""
    restore = owner.__dict__["_self_pending"].get(name)
    child = wrap(value) if restore is not None else None
    if child is None:
        return value
    del owner.__dict__["_self_pending"][name]
    restore(child)
    return child if "_self_pending" in getattr(child, "__dict__", ()) else value


@export("__internal__.tracking.AutoTrackable")
class AutoTrackable(Trackable):
    """An object whose children are its attributes."""

    __module__ = _INSIDE + "autotrackable"

    def __setattr__(self, name, value):
        state = self.__dict__
        if not self._self_setattr_tracking:
            state.setdefault("_self_hidden", set()).add(name)
        elif "_self_hidden" in state:
            state["_self_hidden"].discard(name)
        if "_self_pending" in state and name in state["_self_pending"]:
            value = arrived(self, name, value)
        object.__setattr__(self, name, value)

    def _keep_child(self, name, wrapper):
        """Replaces a list or dict by its wrapper, which restores pending children when they are added."""
        if self.__dict__.get(name) is wrapper._self_original:
            self.__dict__[name] = wrapper

    def __delattr__(self, name):
        self.__dict__.get("__children__", {}).pop(name, None)
        object.__delattr__(self, name)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        hidden = self.__dict__.get("_self_hidden", ())
        for name, value in list(self.__dict__.items()):
            if name not in hidden and not name.startswith("_self_"):
                child = wrap(value)
                if child is not None:
                    found[name] = child
        return found


@export("__internal__.tracking.no_automatic_dependency_tracking")
def no_automatic_dependency_tracking(method):
    """Decorates a method in which assigned attributes do not become children."""

    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        before = getattr(self, "_self_setattr_tracking", True)
        self.__dict__["_self_setattr_tracking"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self.__dict__["_self_setattr_tracking"] = before

    return untracked


@export("__internal__.tracking.TrackableDataStructure")
class TrackableDataStructure(Trackable):
    """The base class of containers that are trackable objects."""

    __slots__ = ()
    __module__ = _INSIDE + "data_structures"

    def _items(self):
        raise NotImplementedError(f"{type(self).__name__} says what it holds")

    def _trackable_children(self, save_type="checkpoint", **_):
        seen = ((name, wrap(value)) for name, value in self._items())
        return {name: child for name, child in seen if child is not None}


def _noticing(method):
    """Wraps a method that adds children: afterwards the pending ones among them are restored."""

    @functools.wraps(method)
    def change(self, *args, **kwargs):
        made = method(self, *args, **kwargs)
        if self.__dict__.get("_self_pending"):
            for name, value in list(self._items()):
                if name in self.__dict__["_self_pending"]:
                    kept = arrived(self, name, value)
                    if kept is not value:
                        self._keep_child(name, kept)
        return made

    return change


class ListWrapper(TrackableDataStructure, list):
    """A list whose children are named by their positions."""

    __module__ = _INSIDE + "data_structures"
    append, extend, insert = _noticing(list.append), _noticing(list.extend), _noticing(list.insert)
    __setitem__, __iadd__ = _noticing(list.__setitem__), _noticing(list.__iadd__)

    def _items(self):
        return ((str(k), v) for k, v in enumerate(self))

    def _keep_child(self, name, wrapper):
        list.__setitem__(self, int(name), wrapper)

    def __repr__(self):
        return f"ListWrapper({list.__repr__(self)})"


class _DictWrapper(TrackableDataStructure, dict):
    """A dict whose children are named by their keys."""

    __module__ = _INSIDE + "data_structures"
    __setitem__, update, setdefault = _noticing(dict.__setitem__), _noticing(dict.update), _noticing(dict.setdefault)

    def _items(self):
        return ((k if isinstance(k, str) else str(k), v) for k, v in self.items())

    def _keep_child(self, name, wrapper):
        dict.__setitem__(self, name, wrapper)

    def _check_saved(self):
        """Raises ValueError if a key of a trackable value is no string, because it then has no name in a checkpoint."""
        for key, value in self.items():
            if not isinstance(key, str) and wrap(value) is not None:
                raise ValueError(f"Unable to save the object {dict.__repr__(self)} (a dictionary wrapper constructed "
                                 f"automatically on attribute assignment). The wrapped dictionary contains a non-string key "
                                 f"({key!r}) which maps to a trackable object or mutable data structure.")

    def __repr__(self):
        return f"DictWrapper({dict.__repr__(self)})"


class _TupleWrapper(TrackableDataStructure, tuple):
    """A tuple whose children are named by their positions and, for a namedtuple, also by its fields."""

    __module__ = _INSIDE + "data_structures"

    def __new__(cls, values):
        return tuple.__new__(cls, values)

    def _items(self):
        fields = getattr(getattr(self, "_self_original", self), "_fields", (None,) * len(self))
        for k, (field, value) in enumerate(zip(fields, self)):
            if field is not None:
                yield field, value
            yield str(k), value
