"""Colours and statistics of images: colour spaces, brightness, contrast, hue, standardization, gradients, edges."""
from .. import errors
from ..dispatch import REFUSED, redirect
from ..namespace import export
from . import random, stateless
from .common import convert, dtypes, executing_eagerly, np, raw, static_shape
from .debug import assert_equal, assert_non_negative, with_dependencies
from .image import _image, convert_image_dtype


def _matrix(images, matrix, name):
    """Multiplies the channels of each pixel by a matrix."""
    images = convert(images)
    dims = static_shape(images)
    rank = len(dims)
    rows = raw.Reshape(images, raw.Pack([-1, raw.Shape(images)[-1]]))
    product = raw.MatMul(rows, convert(matrix, images.dtype))
    out = raw.Reshape(product, raw.Shape(images), name=name)
    if rank and None in dims:
        out.set_shape(dims)
    return out


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


@export("image.rgb_to_yiq")
def rgb_to_yiq(images):
    """Converts RGB to YIQ."""
    return _matrix(images, _YIQ, None)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images):
    """Converts YIQ to RGB."""
    return _matrix(images, _FROM_YIQ, None)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images):
    """Converts RGB to YUV."""
    return _matrix(images, _YUV, None)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images):
    """Converts YUV to RGB."""
    return _matrix(images, _FROM_YUV, None)


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images, name=None):
    """Converts RGB to one channel with the perceived brightness."""
    images = convert(images)
    original = images.dtype
    floats = convert_image_dtype(images, dtypes.float32)
    weights = convert([[0.2989], [0.5870], [0.1140]], floats.dtype)
    rows = raw.MatMul(raw.Reshape(floats, raw.Pack([-1, raw.Shape(floats)[-1]])), weights)
    grey = raw.Reshape(rows, raw.ConcatV2([raw.Shape(floats)[:-1], [1]], 0))
    return convert_image_dtype(grey, original, name=name)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images, name=None):
    """Converts a greyscale image to RGB by repeating its channel."""
    images = convert(images)
    dims = static_shape(images)
    if dims is not None and dims[-1] not in (1, None):
        raise ValueError(f"the last dimension of a grayscale image must be 1, not {dims[-1]}")
    if dims is None or dims[-1] is None:
        one = assert_equal(raw.Shape(images)[-1], 1, "Last dimension of a grayscale image should be size 1.")
        images = with_dependencies([one], images)
    if dims is None:
        outer = raw.Fill(raw.Reshape(raw.Sub(raw.Rank(images), 1), [1]), 1)
        return raw.Tile(images, raw.ConcatV2([outer, [3]], 0), name=name)
    return raw.Tile(images, [1] * (len(dims) - 1) + [3], name=name)


def _in_floats(image, function):
    """Applies `function` to the image as floats, and converts the result to the dtype of the image."""
    image = convert(image)
    original = image.dtype
    if original in (dtypes.float16, dtypes.float32):
        return function(image)
    return convert_image_dtype(function(convert_image_dtype(image, dtypes.float32)), original, saturate=True)


@export("image.adjust_brightness")
def adjust_brightness(image, delta):
    """Adds `delta` to each pixel, where 1 is the whole range of values."""
    try:
        return _in_floats(image, lambda x: raw.AddV2(x, raw.Cast(convert(delta), x.dtype)))
    except REFUSED:
        return redirect(adjust_brightness, image, delta)


@export("image.adjust_contrast")
def adjust_contrast(images, contrast_factor):
    """Multiplies the distance of each pixel from the mean of its channel."""
    factor = convert(contrast_factor, dtypes.float32)
    if static_shape(factor) not in ((), None):
        words = f"contrast_factor must be scalar: {list(static_shape(factor))}"
        raise errors.InvalidArgumentError(None, None, words) if executing_eagerly() else ValueError(words)

    def stretch(x):
        mean = raw.Mean(raw.Cast(x, dtypes.float32), [-3, -2], keep_dims=True)
        wide = raw.AddV2(raw.Mul(raw.Sub(raw.Cast(x, dtypes.float32), mean), factor), mean)
        return wide if x.dtype is dtypes.float32 else raw.Cast(wide, x.dtype)

    return _in_floats(images, stretch)


@export("image.adjust_gamma")
def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""
    try:
        if isinstance(gamma, (int, float)) and gamma < 0:
            raise ValueError("Gamma should be a non-negative real number.")

        def raised(x):
            power = convert(gamma, x.dtype)
            if not isinstance(gamma, (int, float)):
                check = assert_non_negative(power, "Gamma should be a non-negative real number.")
                power = with_dependencies([check], power)
            return raw.Mul(convert(gain, x.dtype), raw.Pow(x, power))

        return _in_floats(image, raised)
    except REFUSED:
        return redirect(adjust_gamma, image, gamma, gain)


def _stateful(seed):
    return lambda low, high: random.uniform([], low, high, seed=seed)


def _seeded(seed):
    return lambda low, high: stateless.stateless_uniform([], seed, low, high)


def _check_delta(max_delta):
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")


@export("image.random_brightness")
def random_brightness(image, max_delta, seed=None):
    """Changes the brightness by a random amount of at most `max_delta`."""
    _check_delta(max_delta)
    return adjust_brightness(image, _stateful(seed)(-max_delta, max_delta))


@export("image.stateless_random_brightness")
def stateless_random_brightness(image, max_delta, seed):
    """Changes the brightness by a random amount of at most `max_delta`, determined by `seed`."""
    _check_delta(max_delta)
    return adjust_brightness(image, _seeded(seed)(-max_delta, max_delta))


def _check_range(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


@export("image.random_contrast")
def random_contrast(image, lower, upper, seed=None):
    """Multiplies the contrast by a random number in [lower, upper)."""
    _check_range(lower, upper)
    return adjust_contrast(image, _stateful(seed)(lower, upper))


@export("image.stateless_random_contrast")
def stateless_random_contrast(image, lower, upper, seed):
    """Multiplies the contrast by a random number in [lower, upper), determined by `seed`."""
    _check_range(lower, upper)
    return adjust_contrast(image, _seeded(seed)(lower, upper))


# ---- hue and saturation ------------------------------------------------------------------------------------


@export("image.rgb_to_hsv")
def rgb_to_hsv(images, name=None):
    """Converts RGB to hue, saturation and value, all in [0, 1]."""
    return raw.RGBToHSV(images, name=name)


@export("image.hsv_to_rgb")
def hsv_to_rgb(images, name=None):
    """Converts hue, saturation and value to RGB."""
    return raw.HSVToRGB(images, name=name)


def _recolored(op, image, amount, name):
    """Applies `op` to the image as floats, and converts the result to the dtype of the image."""
    image = convert(image)
    floats = image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)
    return convert_image_dtype(op(floats, convert(amount, dtypes.float32)), image.dtype, name=name)


@export("image.adjust_hue")
def adjust_hue(image, delta, name=None):
    """Rotates the hue by `delta`, where 1 is a full turn."""
    if executing_eagerly() and not -1 <= float(delta) <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _recolored(raw.AdjustHue, image, delta, name)


@export("image.adjust_saturation")
def adjust_saturation(image, saturation_factor, name=None):
    """Multiplies the saturation."""
    return _recolored(raw.AdjustSaturation, image, saturation_factor, name)


def _check_turn(max_delta):
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")


@export("image.random_hue")
def random_hue(image, max_delta, seed=None):
    """Rotates the hue by a random number in [-max_delta, max_delta)."""
    _check_turn(max_delta)
    return adjust_hue(image, _stateful(seed)(-max_delta, max_delta))


@export("image.stateless_random_hue")
def stateless_random_hue(image, max_delta, seed):
    """Rotates the hue by a random number in [-max_delta, max_delta), determined by `seed`."""
    _check_turn(max_delta)
    return adjust_hue(image, _seeded(seed)(-max_delta, max_delta))


@export("image.random_saturation")
def random_saturation(image, lower, upper, seed=None):
    """Multiplies the saturation by a random number in [lower, upper)."""
    _check_range(lower, upper)
    return adjust_saturation(image, _stateful(seed)(lower, upper))


@export("image.stateless_random_saturation")
def stateless_random_saturation(image, lower, upper, seed=None):
    """Multiplies the saturation by a random number in [lower, upper), determined by `seed`."""
    _check_range(lower, upper)
    return adjust_saturation(image, _seeded(seed)(lower, upper))


@export("image.per_image_standardization")
def per_image_standardization(image):
    """Scales each image to mean 0 and variance 1, as float32. The standard deviation counts as at least 1 / sqrt(pixels)."""
    x = raw.Cast(_image(image), dtypes.float32)
    axes = [-3, -2, -1]
    count = raw.Cast(raw.Prod(raw.Shape(x)[-3:], [0]), x.dtype)
    off = raw.Sub(x, raw.Mean(x, axes, keep_dims=True))
    spread = raw.Sqrt(raw.Mean(raw.Square(off), axes, keep_dims=True))
    return raw.RealDiv(off, raw.Maximum(spread, raw.Rsqrt(count)))


@export("image.total_variation")
def total_variation(images, name=None):
    """The sum of absolute differences between neighbouring pixels, for each image."""
    images = _image(images)
    rank = len(static_shape(images))
    down = raw.Sub(images[..., 1:, :, :], images[..., :-1, :, :])
    right = raw.Sub(images[..., :, 1:, :], images[..., :, :-1, :])
    axes = [0, 1, 2] if rank == 3 else [1, 2, 3]
    return raw.AddV2(raw.Sum(raw.Abs(down), axes), raw.Sum(raw.Abs(right), axes), name=name)


@export("image.image_gradients")
def image_gradients(image):
    """(differences to the next row, differences to the next column), which are zero in the last row and column."""
    image = convert(image)
    if len(static_shape(image)) != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d]")
    down = raw.Pad(raw.Sub(image[:, 1:], image[:, :-1]), [[0, 0], [0, 1], [0, 0], [0, 0]])
    right = raw.Pad(raw.Sub(image[:, :, 1:], image[:, :, :-1]), [[0, 0], [0, 0], [0, 1], [0, 0]])
    return down, right


@export("image.sobel_edges")
def sobel_edges(image):
    """The Sobel derivatives of an image, vertical and horizontal, in a new last axis."""
    image = convert(image)
    shape = raw.Shape(image)
    kernels = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
                        [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], np.float32)
    filters = raw.Tile(np.transpose(kernels, (1, 2, 0))[:, :, None, :], raw.ConcatV2(
        [convert([1, 1]), shape[3:], convert([1])], 0))
    padded = raw.MirrorPad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    both = raw.DepthwiseConv2dNative(padded, raw.Cast(filters, image.dtype), strides=[1, 1, 1, 1], padding="VALID")
    out = raw.Reshape(both, raw.ConcatV2([shape, convert([2])], 0))
    dims = static_shape(image)
    if dims is not None and static_shape(out) != tuple(dims) + (2,):
        out.set_shape(list(dims) + [2])
    return out


@export("image.psnr")
def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio of two images in decibels."""
    top = convert_image_dtype(raw.Cast(convert(max_val), convert(a).dtype), dtypes.float32)
    a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
    error = raw.Mean(raw.SquaredDifference(a, b), [-3, -2, -1])
    tens = np.float32(np.log(10.0))
    signal = raw.RealDiv(raw.Mul(convert(20.0), raw.Log(top)), tens)
    noise = raw.Mul(convert(np.float32(10.0 / np.log(10.0))), raw.Log(error))
    return raw.Sub(signal, noise, name=name)
