"""Nested structures: lists, tuples, dicts and similar containers with arbitrary leaves.

The children of a structure have a fixed order: by position in a sequence, by sorted key in a mapping, by
field in a namedtuple and an attrs class. With `expand_composites` a composite tensor (sparse, ragged) is
expanded into its components, and so is its type spec. Nearly all structures are plain lists, tuples and
dicts, so each function tries these first.

The attribute `_nest_kind` of a class says how it is expanded: "composite" (its `_type_spec` has the
components), "spec" (the type spec of a composite) or None (it is not).
"""
import collections.abc as abc

from . import _core

_NOT_SEQUENCES = (str, bytes, bytearray, memoryview)
_PLAIN = frozenset((list, tuple, dict))
_LEAVES = frozenset((int, float, bool, complex, str, bytes, type(None), _core.EagerTensor, _core.SymbolicTensor))


def is_namedtuple(instance, strict=False):
    """Whether `instance` is a namedtuple. With `strict`, its class must be made by namedtuple itself, not derived."""
    if not isinstance(instance, tuple):
        return False
    if strict and type(instance).__base__ is not tuple:
        return False
    fields = getattr(instance, "_fields", None)
    return isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)


def is_attrs(obj):
    """Whether `obj` is an instance of an attrs class."""
    return getattr(type(obj), "__attrs_attrs__", None) is not None


def is_mapping(obj):
    """Whether `obj` is a mapping."""
    return isinstance(obj, abc.Mapping)


def is_custom(obj):
    """Whether the class of `obj` defines `__tf_flatten__` and `__tf_unflatten__`."""
    return hasattr(type(obj), "__tf_flatten__") and hasattr(type(obj), "__tf_unflatten__")


def is_nested(seq):
    """Whether `seq` is a structure rather than a leaf. Strings and arrays are leaves."""
    kind = type(seq)
    if kind in _PLAIN:
        return True
    if kind in _LEAVES:
        return False
    return (
        isinstance(seq, (list, tuple, abc.Mapping, abc.MappingView))
        or (isinstance(seq, abc.Sequence) and not isinstance(seq, _NOT_SEQUENCES))
        or is_attrs(seq)
        or is_custom(seq)
    )


is_sequence = is_nested


def _opens(obj):
    """Whether `obj` is a composite tensor or the spec of one, which `expand_composites` expands."""
    return getattr(type(obj), "_nest_kind", None) is not None


def is_nested_or_composite(seq):
    """Whether `seq` is a structure, a composite tensor or the spec of one."""
    return type(seq) not in _LEAVES and (is_nested(seq) or _opens(seq))


is_sequence_or_composite = is_nested_or_composite


def _test(expand_composites):
    return is_nested_or_composite if expand_composites else is_nested


def _components(obj):
    return obj._component_specs if obj._nest_kind == "spec" else _spec(obj)._to_components(obj)


def _spec(obj):
    return obj if obj._nest_kind == "spec" else obj._type_spec


def _values(structure):
    """The children of a structure in order."""
    if type(structure) is list or type(structure) is tuple:
        return list(structure)
    if isinstance(structure, abc.Mapping):
        return [structure[k] for k in _sorted_keys(structure)]
    if is_attrs(structure):
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    if is_custom(structure):
        return list(structure.__tf_flatten__()[1])
    if _opens(structure):
        return [_components(structure)]
    return list(structure)


def _items(structure):
    """Pairs of (key, child): keys are mapping keys, field names or positions."""
    if isinstance(structure, abc.Mapping):
        return [(k, structure[k]) for k in _sorted_keys(structure)]
    if is_attrs(structure):
        names = [a.name for a in type(structure).__attrs_attrs__]
        return [(n, getattr(structure, n)) for n in names]
    if is_namedtuple(structure):
        return list(zip(structure._fields, structure))
    if _opens(structure):
        return [(_spec(structure).value_type.__name__, _components(structure))]
    return list(enumerate(_values(structure)))


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        kinds = sorted({type(k).__name__ for k in mapping})
        raise TypeError(
            f"'<' not supported between the keys of a dict: they are of types {', '.join(kinds)}; "
            "a structure's keys must be sortable"
        ) from None


def _rebuild(like, children):
    """A structure of the type of `like` with other children (in `_values` order)."""
    if isinstance(like, abc.Mapping):
        return _rebuild_mapping(like, dict(zip(_sorted_keys(like), children)))
    if is_namedtuple(like):
        return type(like)(*children)
    if is_attrs(like):
        names = [a.name.lstrip("_") for a in type(like).__attrs_attrs__]
        return type(like)(**dict(zip(names, children)))
    if is_custom(like):
        return type(like).__tf_unflatten__(like.__tf_flatten__()[0], tuple(children))
    if _opens(like):
        return _spec(like)._from_components(children[0])
    if isinstance(like, (range, abc.MappingView)) and not isinstance(like, (list, tuple)):
        return list(children)
    wrapped = getattr(like, "__wrapped__", None)
    if wrapped is not None and isinstance(wrapped, (list, tuple)):
        return type(like)(_rebuild(wrapped, children))
    return type(like)(children)


def _rebuild_mapping(like, values):
    if hasattr(like, "default_factory") and isinstance(like, dict):
        made = type(like)(like.default_factory)
    elif isinstance(like, abc.MutableMapping):
        made = type(like)()
    else:
        try:
            return type(like)((k, values[k]) for k in like)
        except TypeError as e:
            raise TypeError(
                f"cannot make a {type(like)} like {dict(like)!r}: it must take an iterable of "
                f"key-value pairs as its only argument ({e})"
            ) from None
    for key in like:
        made[key] = values[key]
    return made


def _flatten_into(structure, out, test):
    kind = type(structure)
    if kind is list or kind is tuple:
        for child in structure:
            if type(child) in _LEAVES:
                out.append(child)
            else:
                _flatten_into(child, out, test)
    elif kind is dict:
        for key in _sorted_keys(structure):
            _flatten_into(structure[key], out, test)
    elif kind in _LEAVES or not test(structure):
        out.append(structure)
    else:
        for child in _values(structure):
            _flatten_into(child, out, test)


def flatten(structure, expand_composites=False):
    """A list of the leaves of `structure` in order. For a leaf it is a list with that leaf."""
    if structure is None:
        return [None]
    out = []
    _flatten_into(structure, out, is_nested_or_composite if expand_composites else is_nested)
    return out


def _pack(structure, leaves, test):
    kind = type(structure)
    if kind is list:
        return [_pack(child, leaves, test) for child in structure]
    if kind is tuple:
        return tuple([_pack(child, leaves, test) for child in structure])
    if kind is dict:
        made = {key: _pack(structure[key], leaves, test) for key in _sorted_keys(structure)}
        return {key: made[key] for key in structure}
    if not test(structure):
        return next(leaves)
    return _rebuild(structure, [_pack(child, leaves, test) for child in _values(structure)])


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The items of `flat_sequence` packed into the structure of `structure`."""
    test = _test(expand_composites)
    if not is_nested(flat_sequence):
        raise TypeError(
            f"cannot pack the value {flat_sequence!r} into a structure: it is of type "
            f"{type(flat_sequence)}, which is an incompatible type; a sequence is needed"
        )
    flat_sequence = list(flat_sequence)
    if not test(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"the target structure is a single value of type {type(structure)}, but "
                f"flat_sequence has {len(flat_sequence)} items: {_short(flat_sequence)}"
            )
        return flat_sequence[0]
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence: the structure has {count} atoms, but flat_sequence has "
            f"{len(flat_sequence)} items. Structure: {_short(structure)}, flat_sequence: "
            f"{_short(flat_sequence)}."
        )
    return _pack(structure, iter(flat_sequence), test)


def _short(value, limit=400):
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class _Differ(Exception):
    def __init__(self, error, why):
        super().__init__(why)
        self.error = error


def _same_type(a, b):
    if type(a) is type(b):
        return True
    if isinstance(a, list) and isinstance(b, list):
        return True
    if isinstance(a, abc.Mapping) and isinstance(b, abc.Mapping):
        return True
    if is_namedtuple(a) and is_namedtuple(b):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return getattr(a, "__wrapped__", a) is not a and _same_type(a.__wrapped__, b)


def _check_opened(a, b, check_types):
    """Raises unless two composite tensors have a common type spec."""
    first, second = _spec(a), _spec(b)
    if check_types and first.most_specific_common_supertype([second]) is None:
        raise _Differ(TypeError, f"{first} and {second} have no type spec in common")


def _compare(a, b, check_types, test):
    if type(a) in _LEAVES and type(b) in _LEAVES:
        return
    deep_a, deep_b = test(a), test(b)
    if deep_a != deep_b:
        inner, leaf = (a, b) if deep_a else (b, a)
        raise _Differ(
            ValueError,
            f"substructure {_short(inner)} is a sequence, while substructure {_short(leaf)} is not",
        )
    if not deep_a:
        return
    if _opens(a) and _opens(b):
        _check_opened(a, b, check_types)
    elif check_types:
        if not _same_type(a, b):
            raise _Differ(
                TypeError,
                f"the two structures don't have the same sequence type: {_short(a)} has type "
                f"{type(a).__name__}, while {_short(b)} has type {type(b).__name__}",
            )
        if isinstance(a, abc.Mapping) and set(a) != set(b):
            raise _Differ(
                ValueError,
                "the two dictionaries don't have the same set of keys: the first has "
                f"{list(a)}, the second {list(b)}",
            )
    children_a, children_b = _values(a), _values(b)
    for x, y in zip(children_a, children_b):
        _compare(x, y, check_types, test)
    if len(children_a) != len(children_b):
        raise _Differ(
            ValueError,
            "the two structures don't have the same number of elements: "
            f"{_short(a)} has {len(children_a)}, {_short(b)} has {len(children_b)}",
        )


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError unless both have the same structure, or TypeError if only the types of containers differ."""
    try:
        _compare(nest1, nest2, bool(check_types), _test(expand_composites))
    except _Differ as e:
        raise e.error(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={_short(nest1)}\n\n"
            f"Second structure: type={type(nest2).__name__} str={_short(nest2)}\n\n"
            f"More specifically: {e}"
        ) from None


def _map1(func, structure, test):
    kind = type(structure)
    if kind is list:
        return [_map1(func, child, test) for child in structure]
    if kind is tuple:
        return tuple([_map1(func, child, test) for child in structure])
    if kind is dict:
        made = {key: _map1(func, structure[key], test) for key in _sorted_keys(structure)}
        return {key: made[key] for key in structure}
    if kind in _LEAVES or not test(structure):
        return func(structure)
    return _rebuild(structure, [_map1(func, child, test) for child in _values(structure)])


def _options(kwargs):
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    return check_types, expand_composites


def map_structure(func, *structure, **kwargs):
    """Calls `func` with the corresponding leaves of all structures and packs the results like the first structure."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types, expand_composites = _options(kwargs) if kwargs else (True, False)
    if len(structure) == 1:
        return _map1(func, structure[0], _test(expand_composites))
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    flat = [flatten(s, expand_composites) for s in structure]
    results = [func(*leaves) for leaves in zip(*flat)]
    return pack_sequence_as(structure[0], results, expand_composites)


# ---- paths ----------------------------------------------------------------------------------------


def _paths(structure, test, prefix=()):
    if not test(structure):
        yield prefix, structure
        return
    for key, child in _items(structure):
        yield from _paths(child, test, prefix + (key,))


def flatten_with_tuple_paths(structure, expand_composites=False):
    """Pairs of (path, leaf), a path being the tuple of keys that lead to the leaf."""
    return list(_paths(structure, _test(expand_composites)))


def yield_flat_paths(nest, expand_composites=False):
    """The paths of the leaves in order."""
    for path, _ in _paths(nest, _test(expand_composites)):
        yield path


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """Pairs of (path, leaf), a path being its keys joined by `separator`."""
    pairs = _paths(structure, _test(expand_composites))
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """Like map_structure, but `func` gets the path of the leaf (a tuple of keys) as its first argument."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func, *structure, **kwargs):
    """Like map_structure, but `func` gets the path of the leaf (keys joined by "/") as its first argument."""

    def with_text(path, *leaves, **more):
        return func("/".join(map(str, path)), *leaves, **more)

    return map_structure_with_tuple_paths_up_to(structure[0], with_text, *structure, **kwargs)


# ---- up to a shallower structure -------------------------------------------------------------------


def _check_shallow_type(shallow, full):
    if isinstance(full, type(shallow)) or isinstance(shallow, type(full)):
        return
    both_maps = isinstance(shallow, abc.Mapping) and isinstance(full, abc.Mapping)
    if both_maps or _same_type(shallow, full) or (_opens(shallow) and _opens(full)):
        return
    raise TypeError(
        "The two structures don't have the same sequence type. Input structure has type "
        f"{type(full)}, while shallow structure has type {type(shallow)}."
    )


def _shallow_pairs(shallow, full):
    """(key, child of shallow, child of full) for each child; mappings are matched by key."""
    if isinstance(shallow, abc.Mapping) and isinstance(full, abc.Mapping):
        return [(key, shallow[key], full[key]) for key in _sorted_keys(shallow)]
    keys = [key for key, _ in _items(shallow)]
    return list(zip(keys, _values(shallow), _values(full)))


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises an error unless `input_tree` has the structure of `shallow_tree` down to its leaves; it may be deeper."""
    test = _test(expand_composites)
    if not test(shallow_tree):
        return
    if not test(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if check_types:
        _check_shallow_type(shallow_tree, input_tree)
    if _opens(shallow_tree) and _opens(input_tree):
        _check_opened_shallow(shallow_tree, input_tree, check_types)
    elif len(_values(shallow_tree)) != len(_values(input_tree)):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(_values(input_tree))}, while shallow structure has length "
            f"{len(_values(shallow_tree))}."
        )
    if isinstance(shallow_tree, abc.Mapping) and isinstance(input_tree, abc.Mapping):
        absent = [key for key in shallow_tree if key not in input_tree]
        if absent:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The "
                "shallow_tree has the following keys that are not in the input_tree: "
                f"{absent}."
            )
    for _, a, b in _shallow_pairs(shallow_tree, input_tree):
        assert_shallow_structure(a, b, check_types, expand_composites)


def _check_opened_shallow(a, b, check_types):
    try:
        _check_opened(a, b, check_types)
    except _Differ as e:
        raise e.error(str(e)) from None


def _up_to(shallow, full, test, prefix=()):
    if not test(shallow):
        yield prefix, full
        return
    for key, a, b in _shallow_pairs(shallow, full):
        yield from _up_to(a, b, test, prefix + (key,))


def flatten_with_tuple_paths_up_to(
    shallow_tree, input_tree, check_types=True, expand_composites=False
):
    """Pairs of (path, subtree of `input_tree`) for the leaves of `shallow_tree`."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_up_to(shallow_tree, input_tree, _test(expand_composites)))


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """A list of the subtrees of `input_tree` at the leaves of `shallow_tree`."""
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites
    )
    return [part for _, part in pairs]


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """Like map_structure_up_to, but `func` gets the path (a tuple of keys) as its first argument."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types, expand_composites = _options(kwargs)
    parts = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand_composites)
        for tree in inputs
    ]
    results = [func(row[0][0], *[part for _, part in row]) for row in zip(*parts)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """Calls `func` with the subtrees of `inputs` at each leaf of `shallow_tree`, and packs the results like it."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs
    )


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """A structure of booleans: the part of `structure` that `traverse_fn` returns true for."""
    test = _test(expand_composites)
    answer = traverse_fn(structure)
    if not test(structure):
        if not isinstance(answer, bool):
            raise ValueError(f"traverse_fn returned a structure for a leaf: {answer!r}")
        return answer
    if isinstance(answer, bool):
        if not answer:
            return False
        children = [
            get_traverse_shallow_structure(traverse_fn, child, expand_composites)
            for child in _values(structure)
        ]
        return _rebuild(structure, children)
    assert_shallow_structure(answer, structure, expand_composites=expand_composites)
    children = []
    for _, enter, child in _shallow_pairs(answer, structure):
        if not isinstance(enter, bool):
            raise ValueError(f"traverse_fn must return booleans or a structure of them: {enter!r}")
        enters = enter and test(child)
        deeper = get_traverse_shallow_structure(traverse_fn, child, expand_composites)
        children.append(deeper if enters else enter and deeper)
    return _rebuild(answer, children)


def list_to_tuple(structure):
    """`structure` with every list converted to a tuple."""
    if isinstance(structure, list) or type(structure) is tuple:
        return tuple([list_to_tuple(child) for child in structure])
    if not is_nested(structure):
        return structure
    return _rebuild(structure, [list_to_tuple(child) for child in _values(structure)])


def flatten_dict_items(dictionary):
    """A dict whose keys and values are structures, flattened key by key."""
    if not isinstance(dictionary, (dict, abc.Mapping)):
        raise TypeError("input must be a dictionary")
    flat = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value)
        if is_nested(key):
            assert_same_structure(key, value, check_types=False)
        else:
            values = [value]
        for k, v in zip(keys, values):
            if k in flat:
                raise ValueError(f"Cannot flatten dictionary: the key {k!r} is not unique")
            flat[k] = v
    return flat


PUBLIC = ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as")
