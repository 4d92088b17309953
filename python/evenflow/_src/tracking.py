"""Objects that know which objects they hold: what checkpoints and Keras walk along.

Attributes stay what the program assigned; a list or a dict is seen as a trackable object only while somebody walks
(`_trackable_children`), so nothing in a program changes its type or identity by being assigned. The exception is an object
that waits for children which a checkpoint has for it (`_wait_for`): a list or dict put there becomes one that notices what
is added to it.
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
    _self_setattr_tracking = True  # False: what is assigned now is not a child

    @property
    def _setattr_tracking(self):
        return self._self_setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        self._self_setattr_tracking = value

    def _maybe_initialize_trackable(self):
        """Makes the table of children that were named by hand, if there is none."""
        if "_self_children" not in self.__dict__:
            self.__dict__["_self_children"] = {}

    def _track_trackable(self, trackable, name, overwrite=False):
        """Notes `trackable` as the child `name`; another one may be there only with `overwrite`."""
        self._maybe_initialize_trackable()
        if not isinstance(trackable, Trackable):
            raise TypeError(f"only trackable objects can be tracked, and {name!r} is a {type(trackable).__name__}")
        known = self._self_children.get(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(f"there is a child {name!r} already, and overwrite was not asked for")
        self._self_children[name] = trackable
        if "_self_pending" in self.__dict__:
            arrived(self, name, trackable)
        return trackable

    def _wait_for(self, name, restore):
        """Calls `restore(child)` as soon as there is a child of that name; of several calls, the last one is kept."""
        self.__dict__.setdefault("_self_pending", {})[name] = restore

    def _add_trackable_child(self, name, value):
        setattr(self, name, value)

    def _no_dependency(self, value):
        """A value that may be assigned without becoming a child."""
        return value

    def _trackable_children(self, save_type="checkpoint", **_):
        """The children by name."""
        return dict(getattr(self, "_self_children", ()))

    def _lookup_dependency(self, name, cached_dependencies=None):
        """The child of that name, or None."""
        known = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return known.get(name)


def wrap(value):
    """A value as a walker sees it: itself if it is trackable, a list or dict as one, a tuple that holds such; else None.
    Lists and dicts of a class of their own are not followed."""
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
    """Restores a child that `owner` waits for; gives back what to keep in its place."""
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
        """Holds a list or dict by its wrapper from now on, which notices what is added."""
        if self.__dict__.get(name) is wrapper._self_original:
            self.__dict__[name] = wrapper

    def __delattr__(self, name):
        self.__dict__.get("_self_children", {}).pop(name, None)
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
    """A method in which assigned attributes do not become children."""

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
    """A container as a trackable object."""

    __slots__ = ()
    __module__ = _INSIDE + "data_structures"

    def _items(self):
        raise NotImplementedError(f"{type(self).__name__} says what it holds")

    def _trackable_children(self, save_type="checkpoint", **_):
        seen = ((name, wrap(value)) for name, value in self._items())
        return {name: child for name, child in seen if child is not None}


def _noticing(method):
    """A method after which children that are waited for may be there."""

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
        """A key that is no string has no name in a checkpoint."""
        for key, value in self.items():
            if not isinstance(key, str) and wrap(value) is not None:
                raise ValueError(f"Unable to save the object {dict.__repr__(self)} (a dictionary wrapper constructed "
                                 f"automatically on attribute assignment). The wrapped dictionary contains a non-string key "
                                 f"({key!r}) which maps to a trackable object or mutable data structure.")

    def __repr__(self):
        return f"DictWrapper({dict.__repr__(self)})"


class _TupleWrapper(TrackableDataStructure, tuple):
    """A tuple whose children are named by their positions, and by the names of its fields if it has such."""

    __module__ = _INSIDE + "data_structures"

    def __new__(cls, values):
        return tuple.__new__(cls, values)

    def _items(self):
        fields = getattr(getattr(self, "_self_original", self), "_fields", (None,) * len(self))
        for k, (field, value) in enumerate(zip(fields, self)):
            if field is not None:
                yield field, value
            yield str(k), value
