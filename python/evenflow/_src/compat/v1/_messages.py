"""ConfigProto and similar messages, as objects with attributes that programs set. Settings that Evenflow does not use are
stored and have no effect."""
from ...namespace import offer


class Message:
    """An object with arbitrary attributes. Reading one that was not set creates a nested Message. This can also be used as an
    empty list to append to, because it is not known here which fields are repeated."""

    def __init__(self, **given):
        for word, value in given.items():
            setattr(self, word, value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        made = Message()
        self.__dict__[name] = made
        return made

    def __bool__(self):
        return bool(self.__dict__)

    def _list(self):
        return self.__dict__.setdefault("_items", [])

    def __len__(self):
        return len(self.__dict__.get("_items", ()))

    def __iter__(self):
        return iter(self.__dict__.get("_items", ()))

    def __getitem__(self, key):
        if isinstance(key, (int, slice)):
            return self._list()[key]
        return self.__dict__.setdefault(key, Message())

    def __setitem__(self, key, value):
        self.__dict__[key] = value

    def __eq__(self, other):
        return isinstance(other, Message) and self.__dict__ == other.__dict__

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return "".join(f"{word}: {value!r}\n" for word, value in self.__dict__.items())

    def HasField(self, name):  # noqa: N802
        """Whether the attribute was set."""
        return name in self.__dict__

    def CopyFrom(self, other):  # noqa: N802
        """Copies the attributes of another message."""
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)

    MergeFrom = CopyFrom

    def Clear(self):  # noqa: N802
        """Unsets all attributes."""
        self.__dict__.clear()

    def append(self, value):
        """Appends a value to a message that is used as a list."""
        self._list().append(value)

    def extend(self, values):
        """Appends several values."""
        self._list().extend(values)

    def add(self, **given):
        """Appends a new message to a message that is used as a list, and returns it."""
        made = Message(**given)
        self.append(made)
        return made


def _kind(name, doc, **constants):
    made = type(name, (Message,), dict(constants, __doc__=doc))
    offer(made, f"compat.v1.{name}")
    return made


ConfigProto = _kind("ConfigProto", "Settings of a session.")
GPUOptions = _kind("GPUOptions", "Settings of GPUs.")
OptimizerOptions = _kind("OptimizerOptions", "Settings of graph optimisation.", L0=-1, L1=0, DEFAULT=0, OFF=-1, ON_1=1,
                         ON_2=2)
GraphOptions = _kind("GraphOptions", "Settings of graphs.")
RunOptions = _kind("RunOptions", "Settings of one run.", NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
RunMetadata = _kind("RunMetadata", "Statistics of a run.")
