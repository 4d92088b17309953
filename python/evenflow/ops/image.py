"""tf.image: patches, flips and crops."""
from ..namespace import export
from . import random
from .common import Tensor, convert, dtypes, raw, rank_of


@export("image.extract_patches")
def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Windows of an image, each laid out in the last dimension."""
    return raw.ExtractImagePatches(
        images,
        ksizes=list(sizes),
        strides=list(strides),
        rates=list(rates),
        padding=padding,
        name=name,
    )


def _axis(image, from_end):
    rank = rank_of(image)
    if rank not in (3, 4):
        raise ValueError(f"'image' (rank {rank}) must have either 3 or 4 dimensions.")
    return rank - from_end


def _flip(image, from_end):
    return raw.ReverseV2(image, [_axis(image, from_end)])


@export("image.flip_left_right")
def flip_left_right(image):
    """Mirrored along the width."""
    return _flip(convert(image), 2)


@export("image.flip_up_down")
def flip_up_down(image):
    """Mirrored along the height."""
    return _flip(convert(image), 3)


def _random_flip(image, from_end, seed):
    image = convert(image)
    flipped = _flip(image, from_end)
    if rank_of(image) == 3:
        chance = random.uniform([], 0, 1.0, seed=seed)
        return raw.SelectV2(raw.Less(chance, 0.5), flipped, image)
    batch = raw.Reshape(raw.Shape(image)[0], [1])
    chance = random.uniform(batch, seed=seed)
    pick = raw.Reshape(raw.Round(chance), [-1, 1, 1, 1])
    return raw.SelectV2(raw.Greater(pick, 0.5), flipped, image)


@export("image.random_flip_left_right")
def random_flip_left_right(image, seed=None):
    """Mirrored along the width, or not, with equal chances (for each image of a batch)."""
    return _random_flip(image, 2, seed)


@export("image.random_flip_up_down")
def random_flip_up_down(image, seed=None):
    """Mirrored along the height, or not, with equal chances (for each image of a batch)."""
    return _random_flip(image, 3, seed)


@export("image.random_crop")
def random_crop(value, size, seed=None, name=None):
    """A part of the given size from a random place."""
    value = convert(value)
    size = size if isinstance(size, Tensor) else convert(size, dtypes.int32)
    shape = raw.Cast(raw.Shape(value), size.dtype)
    from .debug import Assert, with_dependencies

    check = Assert(
        raw.All(raw.GreaterEqual(shape, size), [0]),
        ["Need value.shape >= size, got ", shape, size],
        summarize=1000,
    )
    shape = with_dependencies([check], shape)
    limit = raw.AddV2(raw.Sub(shape, size), 1)
    whole = random.uniform(raw.Shape(shape), 0, size.dtype.max, size.dtype, seed)
    return raw.Slice(value, raw.FloorMod(whole, limit), size, name=name)
