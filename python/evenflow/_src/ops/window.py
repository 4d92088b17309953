"""Arguments of ops with sliding windows: sizes, strides, dilations and paddings, in all forms that TensorFlow accepts."""
from .. import errors
from .array import required_space_to_batch_paddings
from .common import Tensor, seen, raw, static_shape

LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def channels_first(data_format, n, word="data_format"):
    """Whether channels come first. Raises an error if `data_format` is not a format for n dimensions."""
    if data_format is None or data_format == LAST[n]:
        return False
    if data_format == FIRST[n]:
        return True
    if data_format.startswith("NC"):
        return True
    if data_format.startswith("N") and data_format.endswith("C"):
        return False
    raise errors.InvalidGraphError(
        f"`{word}` must be one of {LAST[n]!r}, {FIRST[n]!r}. Received: {data_format!r}"
    )


def sizes_of(value, n, first, word):
    """A size for each dimension, from 1, n or n + 2 numbers. Batch and channels get 1."""
    if value is None:
        value = 1
    value = list(value) if hasattr(value, "__len__") else [value]
    value = [int(seen(v)) if isinstance(v, Tensor) else v for v in value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(
            f"`{word}` should be of length 1, {n} or {n + 2}. Received: {word}={value} of length "
            f"{len(value)}"
        )
    return [1, 1] + value if first else [1] + value + [1]


def padding_of(padding, n):
    """The padding attributes of an op: a word and, for EXPLICIT, a flat list."""
    if padding == "EXPLICIT":
        raise ValueError("'EXPLICIT' is not a valid value for `padding`: give the pairs (before, after) themselves")
    if not isinstance(padding, (list, tuple)):
        return padding, []  # the op checks the word
    if len(padding) != n + 2 or any(not isinstance(p, (list, tuple)) or len(p) != 2 for p in padding):
        raise ValueError(
            f"padding must be a string or a list of {n + 2} pairs (before, after). Received: {padding}"
        )
    return "EXPLICIT", [v for p in padding for v in p]


def attributes(n, padding, data_format, **sizes):
    """The attributes of an op with windows over n dimensions. One dimension is treated as two, of which the first has size 1
    (see `height_axis`)."""
    if n == 2:
        word, explicit = padding_of(padding, 2)
    first = channels_first(data_format, n)
    made = {word: sizes_of(value, n, first, word) for word, value in sizes.items()}
    if n == 3:
        return {**made, "padding": padding, "data_format": FIRST[3] if first else LAST[3]}
    if n == 1:
        for size in made.values():
            size.insert(height_axis(data_format), 1)
        if isinstance(padding, (list, tuple)):
            padding = list(padding)
            padding.insert(height_axis(data_format), [0, 0])
        word, explicit = padding_of(padding, 2)
    return {**made, "padding": word, "explicit_paddings": explicit, "data_format": FIRST[2] if first else LAST[2]}


def height_axis(data_format):
    """The position at which a sequence gets a dimension of size 1 to become an image."""
    return 2 if channels_first(data_format, 1) else 1


def by_batches(x, holes, padding, run, window, axes):
    """Applies an op with a dilated window as an op without dilation: the elements are divided into phases (every hole-th
    element), and each phase becomes a batch."""
    dims = static_shape(x)
    sizes = [dims[a] for a in axes] if dims is not None else [None]
    sizes = sizes if None not in sizes else raw.GatherV2(raw.Shape(x), axes, 0)
    base = None
    word, pairs = padding_of(padding, len(axes))
    if word == "SAME":
        wide = [(w - 1) * h for w, h in zip(window, holes)]
        base = [[w // 2, w - w // 2] for w in wide]
    elif word == "EXPLICIT":
        base = [pairs[2 * a : 2 * a + 2] for a in axes]
    elif word != "VALID":
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding!r}")
    pads, crops = required_space_to_batch_paddings(sizes, holes, base)
    lead = min(axes) - 1  # the number of dimensions between batch and space: 1 if channels come first
    full = [1] * lead + list(holes)
    pads = raw.Pad(pads, [[lead, 0], [0, 0]])
    crops = raw.Pad(crops, [[lead, 0], [0, 0]])
    moved = raw.SpaceToBatchND(x, full, pads)
    return raw.BatchToSpaceND(run(moved, "VALID"), full, crops)
