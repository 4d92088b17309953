"""Encoded images: JPEG, PNG, GIF and BMP."""
from ..namespace import export, offer_ops
from .common import convert, dtypes, executing_eagerly, raw, static_shape
from .image import convert_image_dtype
from .random import uniform
from .stateless import stateless_uniform

offer_ops(
    """
    DecodeAndCropJpeg | contents, crop_window, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method | io.decode_and_crop_jpeg image.decode_and_crop_jpeg
    DecodeBmp | contents, channels | io.decode_bmp image.decode_bmp
    DecodeGif | contents | io.decode_gif image.decode_gif
    DecodeJpeg | contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method | io.decode_jpeg image.decode_jpeg
    DecodePng | contents, channels, dtype | io.decode_png image.decode_png
    EncodeJpeg | image, format, quality, progressive, optimize_size, chroma_downsampling, density_unit, x_density, y_density, xmp_metadata | io.encode_jpeg image.encode_jpeg
    ExtractJpegShape | contents, output_type | io.extract_jpeg_shape image.extract_jpeg_shape
    """
)


@export("io.encode_png", "image.encode_png")
def encode_png(image, compression=-1, name=None):
    """Encodes an image, or each image of a batch, as PNG."""
    image = convert(image)
    if image.dtype not in (dtypes.uint8, dtypes.uint16):
        image = convert(image, dtypes.uint8)
    return raw.EncodePng(image, compression, name=name)


@export("io.is_jpeg", "image.is_jpeg")
def is_jpeg(contents, name=None):
    """Whether the bytes begin with the signature of a JPEG image."""
    return raw.Equal(raw.Substr(convert(contents, dtypes.string), 0, 3), b"\xff\xd8\xff", name=name)


@export("io.decode_image", "image.decode_image")
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """Decodes a JPEG, PNG, GIF or BMP image. For a GIF it returns all frames, unless `expand_animations` is False."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float32, dtypes.uint8, dtypes.uint16):
        dtype, wanted = dtypes.uint16, dtype
        if wanted not in (dtypes.float16, dtypes.float64, dtypes.bfloat16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
            raise ValueError(f"decode_image(): this image cannot be decoded as {wanted}")
        return convert_image_dtype(raw.DecodeImage(contents, channels or 0, dtype, expand_animations, name=name), wanted)
    return raw.DecodeImage(contents, channels or 0, dtype, expand_animations, name=name)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """What an image looks like after it was encoded as JPEG with this quality, 0 to 100, and decoded again."""
    image = convert(image)
    given = image.dtype
    channels = static_shape(image)[-1]
    image = convert_image_dtype(image, dtypes.uint8, saturate=True)
    if isinstance(jpeg_quality, int):
        coded = raw.EncodeJpeg(image, quality=jpeg_quality)
    else:
        coded = raw.EncodeJpegVariableQuality(image, convert(jpeg_quality, dtypes.int32))
    return convert_image_dtype(raw.DecodeJpeg(coded, channels=channels or 0, dct_method=dct_method), given, saturate=True, name=name)


def _check_range(least, most):
    if least < 0 or most < 0 or least > 100 or most > 100:
        raise ValueError(f"jpeg encoding range must be between 0 and 100, not [{least}, {most}).")
    if least >= most:
        raise ValueError(f"`min_jpeg_quality` ({least}) must be less than `max_jpeg_quality` ({most}).")


@export("image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a random quality in [min_jpeg_quality, max_jpeg_quality)."""
    _check_range(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, uniform([], min_jpeg_quality, max_jpeg_quality, dtypes.int32, seed))


@export("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """random_jpeg_quality that depends on nothing but the seed, two integers."""
    _check_range(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtypes.int32))
