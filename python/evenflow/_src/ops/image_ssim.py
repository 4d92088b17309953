"""tf.image.ssim: the structural similarity of two images, from means and variances under a sliding window."""
import numpy as _np

from ..namespace import export
from .array import pad
from .common import convert, dtypes, raw, static_shape
from .conv import depthwise_conv2d
from .debug import assert_equal, assert_greater_equal, with_dependencies
from .image import convert_image_dtype
from .pool import avg_pool2d
from .reduce import reduce_mean


def _pair(img1, img2, max_val):
    """Both images and the maximum value, converted to floats."""
    first, second = convert(img1), convert(img2)
    top = convert_image_dtype(raw.Cast(convert(max_val), first.dtype), dtypes.float32)
    return convert_image_dtype(first, dtypes.float32), convert_image_dtype(second, dtypes.float32), top


def _checked(first, second, size):
    """Checks that the images have the same shape and are at least as large as the window."""
    a, b = static_shape(first), static_shape(second)
    for dims in (a, b):
        if dims is not None and len(dims) < 3:
            raise ValueError(f"ssim: an image has at least 3 dimensions, not the shape {dims}")
    if None not in (a, b) and (len(a[-3:]) != len(b[-3:]) or any(None not in (x, y) and x != y for x, y in zip(a[-3:], b[-3:]))):
        raise ValueError(f"Two images are not compatible: {a[-3:]} vs. {b[-3:]}")
    checks = [assert_equal(raw.Shape(first)[-3:], raw.Shape(second)[-3:], message="Two images are not compatible")]
    checks += [assert_greater_equal(raw.Shape(first)[-3:-1], size, message="image is smaller than the filter")]
    return with_dependencies([c for c in checks if c is not None], first)


def _window(size, sigma):
    """The weights of a Gaussian window, which add up to 1."""
    at = _np.square(_np.arange(size, dtype=_np.float32) - (size - 1.0) / 2.0) * _np.float32(-0.5 / sigma**2)
    weights = _np.exp(at[:, None] + at[None, :])
    return (weights / weights.sum()).astype(_np.float32).reshape(size, size, 1, 1)


def _per_channel(first, second, top, size, sigma, k1, k2):
    """(similarity, similarity of contrast and structure) for each position and channel."""
    c1, c2 = raw.Square(raw.Mul(top, convert(k1, top.dtype))), raw.Square(raw.Mul(top, convert(k2, top.dtype)))
    depth = raw.Shape(first)[-1]
    kernel = raw.Tile(convert(_window(int(size), sigma)), raw.Pack([1, 1, depth, 1]))

    def mean(x):
        shape = raw.Shape(x)
        flat = depthwise_conv2d(raw.Reshape(x, raw.ConcatV2([[-1], shape[-3:]], 0)), kernel, [1, 1, 1, 1], "VALID")
        return raw.Reshape(flat, raw.ConcatV2([shape[:-3], raw.Shape(flat)[1:]], 0))

    mean1, mean2 = mean(first), mean(second)
    product, squares = mean1 * mean2 * 2.0, raw.Square(mean1) + raw.Square(mean2)
    light = (product + c1) / (squares + c1)
    mixed, both = mean(first * second) * 2.0, mean(raw.Square(first) + raw.Square(second))
    structure = (mixed - product + c2) / (both - squares + c2)
    return light * structure, structure


@export("image.ssim")
def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """The structural similarity of images, in [-1, 1]: one number for each pair, or one for each position."""
    first, second, top = _pair(img1, img2, max_val)
    first = _checked(first, second, filter_size)
    found, _ = _per_channel(first, second, top, filter_size, filter_sigma, k1, k2)
    if return_index_map:
        return reduce_mean(found, [-1])
    return reduce_mean(reduce_mean(found, [-3, -2]), [-1])


_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x):
    """Halves the size by means of 2 x 2 pixels. An odd last row or column is mirrored first."""
    shape = raw.Shape(x)
    flat = raw.Reshape(x, raw.ConcatV2([[-1], shape[-3:]], 0))
    odd = raw.FloorMod(shape[-3:-1], 2)
    edges = raw.Pack([raw.Fill([4], 0), raw.ConcatV2([[0], odd, [0]], 0)], axis=1)
    small = avg_pool2d(pad(flat, edges, "SYMMETRIC"), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return raw.Reshape(small, raw.ConcatV2([shape[:-3], raw.Shape(small)[1:]], 0))


@export("image.ssim_multiscale")
def ssim_multiscale(img1, img2, max_val, power_factors=_WEIGHTS, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity at several scales, each half of the one before, multiplied with the exponents
    `power_factors`."""
    first, second, top = _pair(img1, img2, max_val)
    parts = []
    for scale in range(len(power_factors)):
        if scale > 0:
            first, second = _halved(first), _halved(second)
        first = _checked(first, second, filter_size)
        found, structure = (reduce_mean(v, [-3, -2]) for v in _per_channel(first, second, top, filter_size, filter_sigma, k1, k2))
        parts.append(raw.Relu(structure))
    parts[-1] = raw.Relu(found)
    weighed = raw.Pow(raw.Pack(parts, axis=-1), convert(list(power_factors), dtypes.float32))
    return reduce_mean(raw.Prod(weighed, [-1]), [-1])
