"""Encoded images: JPEG, PNG, GIF and BMP."""
from ..namespace import export, offer_ops
from .common import convert, dtypes, executing_eagerly, raw
from .image import convert_image_dtype

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
