"""How the elements of a dataset follow from those of others.

An error ends the call for one element, not the iteration: the next call continues behind it, which generators cannot
do. So each of these is an object with `__next__`.
"""
import atexit
import queue
import threading
import weakref

from . import _core, nest
from .dataset_elements import stack


class _Elements:
    __slots__ = ()

    def __iter__(self):
        return self


class Rows(_Elements):
    """An element for each number of a range."""

    __slots__ = ("_numbers", "_make")

    def __init__(self, numbers, make):
        self._numbers, self._make = iter(numbers), make

    def __next__(self):
        return self._make(next(self._numbers))


class Take(_Elements):
    """The first `count` elements; those that fail do not count."""

    __slots__ = ("_elements", "_left")

    def __init__(self, elements, count):
        self._elements, self._left = elements, count

    def __next__(self):
        if self._left <= 0:
            raise StopIteration
        element = next(self._elements)
        self._left -= 1
        return element


class Skip(_Elements):
    """All but the first `count` elements; an error among these begins the count again."""

    __slots__ = ("_elements", "_count")

    def __init__(self, elements, count):
        self._elements, self._count = elements, count

    def __next__(self):
        if self._count:
            for _ in range(self._count):
                next(self._elements)
            self._count = 0
        return next(self._elements)


class Repeat(_Elements):
    """The elements `count` times, without end if it is negative; none if there are none."""

    __slots__ = ("_make", "_left", "_elements", "_first")

    def __init__(self, make, count):
        self._make, self._left, self._elements, self._first = make, count, None, True

    def __next__(self):
        while True:
            if self._elements is None:
                if not self._left:
                    raise StopIteration
                self._left -= 1
                self._elements, self._first = self._make(), True
            try:
                element = next(self._elements)
            except StopIteration:
                self._elements = None
                if self._first:
                    self._left = 0
                continue
            except BaseException:
                self._first = False
                raise
            self._first = False
            return element


class Zip(_Elements):
    """An element of each, arranged by `pack`. If one fails, the others still advance."""

    __slots__ = ("_parts", "_pack")

    def __init__(self, parts, pack):
        self._parts, self._pack = parts, pack

    def __next__(self):
        row, error = [], None
        for part in self._parts:
            try:
                row.append(next(part))
            except StopIteration:
                if error is None:
                    raise
                break
            except Exception as e:
                error = error or e
        if error is not None:
            raise error
        return self._pack(row)


class Batch(_Elements):
    """Stacks of `size` elements. `all_drawn`: after an error the rest of the stack is dropped too."""

    __slots__ = ("_elements", "_size", "_whole", "_all_drawn")

    def __init__(self, elements, size, whole_only, all_drawn):
        self._elements, self._size, self._whole, self._all_drawn = elements, size, whole_only, all_drawn

    def __next__(self):
        rows, error = [], None
        for _ in range(self._size):
            try:
                rows.append(next(self._elements))
            except StopIteration:
                break
            except Exception as e:
                if not self._all_drawn:
                    raise
                error = error or e
        if error is not None:
            raise error
        if not rows or (self._whole and len(rows) < self._size):
            raise StopIteration
        return nest.map_structure(stack, *rows)


# ---- elements made ahead ------------------------------------------------------------------------------------------

_END = object()
_running = weakref.WeakKeyDictionary()  # thread -> what it waits for


class Prefetch(_Elements):
    """Elements that a thread makes ahead, `size` at most. It begins with the first call and ends with this object."""

    __slots__ = ("_make", "_size", "_made", "_wanted", "_over", "__weakref__")

    def __init__(self, make, size):
        self._make, self._size, self._made, self._over = make, size, None, False

    def __next__(self):
        if self._over:
            raise StopIteration
        if self._made is None:
            self._start()
        element, error = self._made.get()
        if element is _END:
            self._over = True
            raise StopIteration
        self._wanted.put(True)
        if error is not None:
            raise error
        return element

    def _start(self):
        self._made, self._wanted = queue.SimpleQueue(), queue.SimpleQueue()
        for _ in range(self._size):
            self._wanted.put(True)
        _core.random_scope(scope := _core.random_scope(0))  # the thread's random ops are those of this iteration
        thread = threading.Thread(target=_make_ahead, args=(self._make, self._made, self._wanted, scope), name="evenflow-prefetch", daemon=True)
        _running[thread] = self._wanted
        weakref.finalize(self, self._wanted.put, False).atexit = False
        thread.start()


def _make_ahead(make, made, wanted, scope):
    _core.random_scope(scope)
    elements = None
    while wanted.get():
        try:
            if elements is None:
                elements = make()
            made.put((next(elements), None))
        except StopIteration:
            made.put((_END, None))
            return
        except BaseException as e:
            made.put((None, e))


@atexit.register
def _stop():
    """No thread is within the engine when the interpreter ends, unless its function does not return."""
    threads = list(_running.items())
    for _, wanted in threads:
        wanted.put(False)
    for thread, _ in threads:
        thread.join(1.0)
