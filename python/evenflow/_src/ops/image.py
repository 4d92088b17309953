"""tf.image: cropping, flipping, resizing and conversion of dtypes. An image is [height, width, channels];
most functions also take a batch, [batch, height, width, channels]."""
import functools

from ..control import cond
from ..graph import name_scope
from ..dispatch import REFUSED, redirect
from ..namespace import export, offer
from ..tensors import convert_to_tensor
from . import random, stateless
from .common import (Tensor, convert, dtypes, executing_eagerly, is_symbolic, known, np, raw, seen, seen_size,
                     static_shape)
from .debug import Assert, with_dependencies
from .math import saturate_cast


class ResizeMethod:
    """The interpolation methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


offer(ResizeMethod, "image.ResizeMethod")


def scoped(name):
    """A decorator that puts the ops of a function into the name scope `name` while a graph is built."""

    def around(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if executing_eagerly():
                return function(*args, **kwargs)
            with name_scope(name):
                return function(*args, **kwargs)

        return call

    return around


def _image(x, least=3):
    """Converts `x` to a tensor of rank 3 or 4. Raises ValueError if its rank is known to be another."""
    x = convert_to_tensor(x)
    dims = static_shape(x)
    if dims is not None and not least <= len(dims) <= 4:
        raise ValueError(f"'image' (shape {dims}) must have either 3 or 4 dimensions.")
    return x


def _full(x):
    """An image or batch as a tensor. Raises ValueError if one of its last three sizes is known to be 0."""
    x = _image(x)
    dims = static_shape(x)
    if dims is not None and 0 in dims[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {dims}")
    return x


def _batched(x, any_rank=False):
    """(batch of images, function that removes the batch dimension of a result if `x` was one image). With `any_rank`, a
    tensor of unknown rank counts as one image."""
    x = _full(x) if any_rank else _image(x)
    dims = static_shape(x)
    if dims is None and not any_rank:
        raise ValueError("'images' contains no shape.")
    if dims is None:
        batch = raw.ExpandDims(x, 0)
        batch.set_shape([None] * 4)
        return batch, lambda y: raw.Squeeze(y, [0])
    if len(dims) == 3:
        return raw.ExpandDims(x, 0), lambda y: raw.Squeeze(y, [0])
    return x, lambda y: y


@export("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The patches of each image, flattened into the last axis."""
    return raw.ExtractImagePatches(
        images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )


# ---- flipping and rotating --------------------------------------------------------------------------------------


def _axis(x, from_end):
    dims = static_shape(x)
    return raw.Sub(raw.Rank(x), from_end) if dims is None else len(dims) - from_end


@export("image.flip_left_right")
@scoped("flip_left_right")
def flip_left_right(image):
    """Flips an image horizontally: the first column becomes the last."""
    image = _full(image)
    return raw.ReverseV2(image, raw.Reshape(convert(_axis(image, 2)), [1]))


@export("image.flip_up_down")
@scoped("flip_up_down")
def flip_up_down(image):
    """Flips an image vertically: the first row becomes the last."""
    image = _full(image)
    return raw.ReverseV2(image, raw.Reshape(convert(_axis(image, 3)), [1]))


@export("image.transpose")
def transpose(image, name=None):
    """Transposes the rows and columns of an image."""
    image = _full(image)
    dims = static_shape(image)
    if dims is None:
        rank = raw.Rank(image)
        perm = raw.ConcatV2([raw.Range(0, rank - 3, 1), raw.Pack([rank - 2, rank - 3, rank - 1])], 0)
    else:
        perm = [1, 0, 2] if len(dims) == 3 else [0, 2, 1, 3]
    return raw.Transpose(image, perm, name=name)


@export("image.rot90")
def rot90(image, k=1, name=None):
    """Rotates an image counter-clockwise by `k` times 90 degrees."""
    image = _full(image)
    value = seen(k)
    if value is None or value.shape != ():
        raise ValueError("k must be a number that is known when the function is traced")
    turns = int(value) % 4
    if turns == 0:
        return raw.Identity(image, name=name)
    if turns == 1:
        return flip_up_down(transpose(image))
    if turns == 2:
        return flip_up_down(flip_left_right(image))
    return transpose(flip_up_down(image))


def _random_flip(image, flip, draw):
    """Flips images at random. As in TensorFlow, a single image is flipped if the random number is below 0.5, an image of a
    batch if it is above."""
    image = _full(image)
    dims = static_shape(image)
    half = convert(0.5)

    def one():
        return raw.SelectV2(raw.Less(draw([]), half), flip(image), image)

    if dims is None:
        return cond(raw.Equal(raw.Rank(image), 3), one, lambda: _flip_some(image, (None,), flip, draw))
    return one() if len(dims) == 3 else _flip_some(image, dims, flip, draw)


def _flip_some(image, dims, flip, draw):
    """Flips a random subset of the images of a batch."""
    half = convert(0.5)
    draws = draw([dims[0]] if dims[0] is not None else raw.Shape(image)[:1])
    chosen = raw.Greater(raw.Reshape(draws, [-1, 1, 1, 1]), half)
    return raw.SelectV2(chosen, flip(image), image)


def _stateful(seed):
    return lambda shape: random.uniform(shape, 0, 1.0, seed=seed)


def _seeded(seed):
    return lambda shape: stateless.stateless_uniform(shape, seed)


@export("image.random_flip_left_right")
@scoped("random_flip_left_right")
def random_flip_left_right(image, seed=None):
    """Flips each image horizontally with probability 0.5."""
    return _random_flip(image, flip_left_right, _stateful(seed))


@export("image.random_flip_up_down")
@scoped("random_flip_up_down")
def random_flip_up_down(image, seed=None):
    """Flips each image vertically with probability 0.5."""
    return _random_flip(image, flip_up_down, _stateful(seed))


@export("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image, seed):
    """Flips each image horizontally with probability 0.5, determined by `seed`."""
    return _random_flip(image, flip_left_right, _seeded(seed))


@export("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image, seed):
    """Flips each image vertically with probability 0.5, determined by `seed`."""
    return _random_flip(image, flip_up_down, _seeded(seed))


# ---- cropping and padding ----------------------------------------------------------------------------


def _random_crop(value, size, draw):
    value, size = convert(value), convert(size, dtypes.int32)
    shape = raw.Shape(value)
    fits = raw.All(raw.GreaterEqual(shape, size), [0])
    check = Assert(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
    shape = with_dependencies([check], shape)
    limit = raw.AddV2(raw.Sub(shape, size), convert(1))
    offset = raw.FloorMod(draw(raw.Shape(shape), size.dtype), limit)
    return raw.Slice(value, offset, size)


@export("image.random_crop")
def random_crop(value, size, seed=None, name=None):
    """A part of `value` of the given size at a random position."""
    top = np.iinfo(np.int32).max
    return _random_crop(value, size, lambda s, t: random.uniform(s, 0, top, dtype=t, seed=seed))


@export("image.stateless_random_crop")
def stateless_random_crop(value, size, seed, name=None):
    """A part of `value` of the given size at a random position, determined by `seed`."""
    top = np.iinfo(np.int32).max
    return _random_crop(
        value, size, lambda s, t: stateless.stateless_uniform(s, seed, 0, top, dtype=t)
    )


def _checked(images, *needs):
    """Checks (condition, text) pairs and returns `images`. Raises ValueError if a condition is known to be false; a condition
    that is a tensor is checked when the graph runs."""
    checks = []
    for condition, text in needs:
        value = known(condition) if isinstance(condition, Tensor) else condition
        if value is None:
            checks.append(Assert(condition, [text]))
        elif not bool(value):
            raise ValueError(text)
    return with_dependencies(checks, images)


def _number(x):
    """A size or offset as an int if it is known, else as a tensor."""
    value = known(x)
    return convert(x, dtypes.int32) if value is None else int(value)


def _sizes(images):
    """(height, width) of a batch: ints if they are known, else tensors."""
    dims = static_shape(images)
    found = list(dims[1:3])
    if None in found:
        at_run = raw.Unpack(raw.Shape(images), 4)
        found = [at_run[k + 1] if d is None else d for k, d in enumerate(found)]
    return found


@export("image.crop_to_bounding_box")
@scoped("crop_to_bounding_box")
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Crops an image to the given size, starting at the given row and column."""
    images, back = _batched(image, True)
    height, width = _sizes(images)
    top, left, rows, columns = map(_number, (offset_height, offset_width, target_height, target_width))
    images = _checked(images, (top >= 0, "offset_height must be >= 0."), (left >= 0, "offset_width must be >= 0."),
                      (rows > 0, "target_height must be > 0."), (columns > 0, "target_width must be > 0."),
                      (width >= left + columns, "width must be >= target + offset."),
                      (height >= top + rows, "height must be >= target + offset."))
    begin = raw.Pack([convert(v, dtypes.int32) for v in (0, top, left, 0)])
    size = raw.Pack([convert(v, dtypes.int32) for v in (-1, rows, columns, -1)])
    return back(_of_size(raw.Slice(images, begin, size), images, rows, columns))


def _of_size(made, images, rows, columns):
    """`made` with its static shape set: that of `images`, except for rows and columns."""
    if is_symbolic(made):
        dims = static_shape(images)
        made.set_shape([dims[0], *(n if isinstance(n, int) else None for n in (rows, columns)), dims[3]])
    return made


@export("image.pad_to_bounding_box")
@scoped("pad_to_bounding_box")
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Pads an image with zeros to the given size, with its corner at the given row and column."""
    images, back = _batched(image, True)
    height, width = _sizes(images)
    top, left, rows, columns = map(_number, (offset_height, offset_width, target_height, target_width))
    below, right = rows - top - height, columns - left - width
    images = _checked(images, (top >= 0, "offset_height must be >= 0."), (left >= 0, "offset_width must be >= 0."),
                      (below >= 0, "image must be <= target - offset: height"),
                      (right >= 0, "width must be <= target - offset"))
    pads = [0, 0, top, below, left, right, 0, 0]
    paddings = raw.Reshape(raw.Pack([convert(v, dtypes.int32) for v in pads]), [4, 2])
    return back(_of_size(raw.Pad(images, paddings), images, rows, columns))


@export("image.resize_with_crop_or_pad")
@scoped("resize_image_with_crop_or_pad")
def resize_with_crop_or_pad(image, target_height, target_width):
    """Crops an image, or pads it with zeros, evenly on both sides to the given size."""
    images, back = _batched(image, True)
    height, width = _sizes(images)
    rows, columns = _number(target_height), _number(target_width)
    images = _checked(images, (rows > 0, "target_height must be > 0."), (columns > 0, "target_width must be > 0."))

    def least(a, b):
        return min(a, b) if isinstance(a, int) and isinstance(b, int) else raw.Minimum(a, b)

    def half(a):
        if isinstance(a, int):
            return max(a // 2, 0)
        return raw.Maximum(raw.FloorDiv(a, convert(2)), convert(0))

    cut = crop_to_bounding_box(
        images, half(height - rows), half(width - columns), least(rows, height), least(columns, width)
    )
    full = pad_to_bounding_box(cut, half(rows - height), half(columns - width), rows, columns)
    return back(full)


@export("image.central_crop")
@scoped("central_crop")
def central_crop(image, central_fraction):
    """The central part of an image, whose sides are `central_fraction` of the image's."""
    image = convert_to_tensor(image)
    fraction = seen(central_fraction)
    if fraction is None:
        fraction = raw.Cast(convert(central_fraction), dtypes.float64)
        inside = raw.LogicalAnd(raw.Greater(fraction, 0.0), raw.LessEqual(fraction, 1.0))
        fraction = with_dependencies([Assert(inside, ["central_fraction must be within (0, 1]"])], fraction)
    else:
        fraction = float(fraction)
        if not 0.0 < fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if fraction == 1.0:
            return image
    images, back = _batched(image)
    height, width = _sizes(images)
    (top, rows), (left, columns) = _middle(height, fraction), _middle(width, fraction)
    return back(crop_to_bounding_box(images, top, left, rows, columns))


def _middle(size, fraction):
    """(start, size) of the central part of a side: ints if everything is known, else tensors."""
    if isinstance(size, int) and isinstance(fraction, float):
        start = int((size - size * fraction) / 2)
        return start, size - 2 * start
    size = convert(size, dtypes.int32)
    whole = raw.Cast(size, dtypes.float64)
    rest = raw.Sub(whole, raw.Mul(whole, convert(fraction, dtypes.float64)))
    start = raw.Cast(raw.RealDiv(rest, convert(2.0, dtypes.float64)), dtypes.int32)
    return start, size - start * 2


# ---- dtype ------------------------------------------------------------------------------------------


@export("image.convert_image_dtype")
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Converts an image to another dtype and scales its values: floats are in [0, 1), integers use their whole range."""
    try:
        image, dtype = convert(image), dtypes.as_dtype(dtype)
    except REFUSED:
        return redirect(convert_image_dtype, image, dtype, saturate, name=name)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not image.dtype.is_floating and not image.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    if image.dtype == dtype:
        return raw.Identity(image, name=name)
    if image.dtype.is_integer and dtype.is_integer:
        return _between_ints(image, dtype, saturate, name)
    if image.dtype.is_floating and dtype.is_floating:
        return raw.Cast(image, dtype, name=name)
    if image.dtype.is_integer:
        return raw.Mul(raw.Cast(image, dtype), convert(1.0 / image.dtype.max, dtype), name=name)
    scaled = raw.Mul(image, convert(dtype.max + 0.5, image.dtype))
    return _cast(scaled, dtype, saturate, name)


def _cast(x, dtype, saturate, name=None):
    return saturate_cast(x, dtype, name=name) if saturate else raw.Cast(x, dtype, name=name)


def _between_ints(image, dtype, saturate, name):
    have, want = image.dtype.max, dtype.max
    if have > want:
        small = raw.FloorDiv(image, convert((have + 1) // (want + 1), image.dtype))
        return _cast(small, dtype, saturate, name)
    cast = _cast(image, dtype, saturate)
    return raw.Mul(cast, convert((want + 1) // (have + 1), dtype), name=name)


# ---- resizing ---------------------------------------------------------------------------------------

def _target(size, images, preserve):
    """The target size of a resize: two ints if they are known, else a tensor."""
    try:
        size = convert(size, dtypes.int32)
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    dims = static_shape(size)
    if dims is not None and dims != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if not preserve:
        value = known(size)
        return size if value is None else [int(v) for v in value]
    height, width = _sizes(images)
    value = known(size)
    if value is not None and isinstance(height, int) and isinstance(width, int):
        now = np.array([height, width], np.float32)
        with np.errstate(divide="ignore"):
            scale = (value.astype(np.float32) / now).min()
        return [int(v) for v in np.round(scale * now)]
    f32 = dtypes.float32
    now = raw.Cast(raw.Pack([convert(height, dtypes.int32), convert(width, dtypes.int32)]), f32)
    scale = raw.Min(raw.RealDiv(raw.Cast(size, f32), now), [0])
    return raw.Cast(raw.Round(raw.Mul(scale, now)), dtypes.int32)


def _filtered(filter, images, size, antialias):
    """Resizes with the op ScaleAndTranslate. With `antialias` the filter is widened when images shrink."""
    size = convert(size, dtypes.int32)
    now = raw.Cast(raw.Pack([convert(v, dtypes.int32) for v in _sizes(images)]), dtypes.float32)
    scale = raw.RealDiv(raw.Cast(size, dtypes.float32), now)
    return raw.ScaleAndTranslate(images, size, scale, [0.0, 0.0], kernel_type=filter, antialias=antialias)


def _bilinear(images, size, antialias):
    if antialias:
        return _filtered("triangle", images, size, True)
    return raw.ResizeBilinear(images, size, half_pixel_centers=True)


def _bicubic(images, size, antialias):
    if antialias:
        return _filtered("keyscubic", images, size, True)
    return raw.ResizeBicubic(images, size, half_pixel_centers=True)


_WAYS = {
    "bilinear": _bilinear,
    "nearest": lambda images, size, antialias: raw.ResizeNearestNeighbor(images, size, half_pixel_centers=True),
    "bicubic": _bicubic,
    "area": lambda images, size, antialias: raw.ResizeArea(images, size),
    **{filter: functools.partial(_filtered, filter) for filter in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")},
}


def _way(method, ways):
    """The function of a resize method."""
    if method not in ways:
        raise ValueError(f"resize has no method {method!r}; there are {', '.join(map(repr, ways))}")
    return ways[method]


@export("image.resize")
@scoped("resize")
def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False,
           name=None):
    """Resizes images. All methods but nearest return float32."""
    try:
        way = _way(method, _WAYS)
        images, back = _batched(images)
        return back(way(images, _target(size, images, preserve_aspect_ratio), antialias))
    except REFUSED:
        return redirect(resize, images, size, method, preserve_aspect_ratio, antialias, name=name)


@export("image.resize_with_pad")
@scoped("resize_with_pad")
def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """Resizes an image, keeping its aspect ratio, to fit into the given size, and pads it evenly with zeros."""
    return _fitted(image, target_height, target_width,
                   lambda images, size: resize(images, size, method, antialias=antialias))


def _fitted(image, target_height, target_width, resized):
    images, back = _batched(image, any_rank=True)
    height, width = _sizes(images)
    rows, columns = _number(target_height), _number(target_width)
    for v in (columns, rows):
        if isinstance(v, int) and v <= 0:
            raise ValueError(f"target_width and target_height must be > 0. Received: {columns}, {rows}")
    if not all(isinstance(v, int) for v in (height, width, rows, columns)):
        now, want = (raw.Cast(raw.Pack([convert(v, dtypes.int32) for v in pair]), dtypes.float32)
                     for pair in ((height, width), (rows, columns)))
        fitting = raw.RealDiv(now, raw.Max(raw.RealDiv(now, want), [0]))
        size = raw.Cast(raw.Floor(fitting), dtypes.int32)
        edge = raw.Maximum(0, raw.Cast(raw.Floor(raw.RealDiv(raw.Sub(want, fitting), 2.0)), dtypes.int32))
        small = resized(images, size)
        return back(pad_to_bounding_box(small, edge[0], edge[1], rows, columns))
    now, want = np.array([height, width], np.float32), np.array([rows, columns], np.float32)
    fitting = now / (now / want).max()
    new_height, new_width = (int(v) for v in np.floor(fitting))
    top, left = (int(v) for v in np.floor((want - fitting) / 2))
    small = resized(images, [new_height, new_width])
    return back(pad_to_bounding_box(small, max(0, top), max(0, left), rows, columns))


class ResizeMethodV1:
    """The interpolation methods of `tf.compat.v1.image.resize`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


offer(ResizeMethodV1, "compat.v1.image.ResizeMethod")


# The resizing of TensorFlow 1 aligns the top left pixels of both images, instead of the centers of pixels.


@export("compat.v1.image.resize_bilinear")
def v1_resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Bilinear resizing as in TensorFlow 1."""
    return raw.ResizeBilinear(images, size, align_corners, half_pixel_centers, name=name)


@export("compat.v1.image.resize_nearest_neighbor")
def v1_resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Nearest-neighbour resizing as in TensorFlow 1."""
    return raw.ResizeNearestNeighbor(images, size, align_corners, half_pixel_centers, name=name)


@export("compat.v1.image.resize_bicubic")
def v1_resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Bicubic resizing as in TensorFlow 1."""
    return raw.ResizeBicubic(images, size, align_corners, half_pixel_centers, name=name)


@export("compat.v1.image.resize_area")
def v1_resize_area(images, size, align_corners=False, name=None):
    """Resizing in which a new pixel is the mean of the area that it covers."""
    return raw.ResizeArea(images, size, align_corners, name=name)


_V1_WAYS = {0: v1_resize_bilinear, 1: v1_resize_nearest_neighbor, 2: v1_resize_bicubic, 3: v1_resize_area,
            "bilinear": v1_resize_bilinear, "nearest": v1_resize_nearest_neighbor, "bicubic": v1_resize_bicubic,
            "area": v1_resize_area}


@export("compat.v1.image.resize", "compat.v1.image.resize_images")
@scoped("resize")
def v1_resize(images, size, method=ResizeMethodV1.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    """Resizes images as in TensorFlow 1. Images that have the size already are returned unchanged."""
    try:
        images, back = _batched(images)
    except REFUSED:
        return redirect(v1_resize, images, size, method, align_corners, preserve_aspect_ratio, name=name)
    size = _target(size, images, preserve_aspect_ratio)
    if isinstance(size, list) and [seen_size(images, 1), seen_size(images, 2)] == size:
        return back(images)
    return back(_way(method, _V1_WAYS)(images, size, align_corners, name))


@export("compat.v1.image.resize_image_with_pad")
def v1_resize_image_with_pad(image, target_height, target_width, method=ResizeMethodV1.BILINEAR, align_corners=False):
    """resize_with_pad with the resizing of TensorFlow 1."""
    return _fitted(image, target_height, target_width,
                   lambda images, size: v1_resize(images, size, method, align_corners=align_corners))
