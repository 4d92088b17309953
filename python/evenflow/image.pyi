"""Type stubs of evenflow.image. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class ResizeMethod:
    """How `resize` finds new pixels."""
    def __init__(self, *args, **kwargs): ...
    AREA: Any
    BICUBIC: Any
    BILINEAR: Any
    GAUSSIAN: Any
    LANCZOS3: Any
    LANCZOS5: Any
    MITCHELLCUBIC: Any
    NEAREST_NEIGHBOR: Any

def adjust_brightness(image, delta):
    """`delta` added to each pixel, where 1 is the whole range."""

def adjust_contrast(images, contrast_factor):
    """Each channel's distance from its mean multiplied."""

def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""

def adjust_hue(image, delta, name=None):
    """The hue turned by `delta`, where 1 is once around."""

def adjust_saturation(image, saturation_factor, name=None):
    """The saturation multiplied."""

def central_crop(image, central_fraction):
    """The middle part whose sides are `central_fraction` of the image's."""

def convert_image_dtype(image, dtype, saturate=False, name=None):
    """The same image in another dtype: floats lie in [0, 1), integers fill their range."""

def crop_and_resize(image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0.0, name=None):
    """Boxes (y1, x1, y2, x2, where 1 is the last line or column) cut out of images and resized to `crop_size`."""

def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of the given size that begins at the given row and column."""

def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method='', name=None) -> Tensor:
    """A window of a JPEG image: `crop_window` is y, x, height and width."""

def decode_bmp(contents, channels=0, name=None) -> Tensor:
    """The pixels of a BMP image."""

def decode_gif(contents, name=None) -> Tensor:
    """The frames of a GIF image, as one tensor with three channels."""

def decode_image(contents, channels=None, dtype=..., name=None, expand_animations=True):
    """The pixels of a JPEG, PNG, GIF or BMP image; of a GIF all frames, unless `expand_animations` is False."""

def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method='', name=None) -> Tensor:
    """The pixels of a JPEG image, perhaps reduced by `ratio` while decoding."""

def decode_png(contents, channels=0, dtype=..., name=None) -> Tensor:
    """The pixels of a PNG image, with 8 or 16 bits a channel."""

def draw_bounding_boxes(images, boxes, colors, name=None):
    """The images with the edges of boxes (y_min, x_min, y_max, x_max in parts of the size) drawn on them; `colors` has a row for"""

def encode_jpeg(image, format='', quality=95, progressive=False, optimize_size=False, chroma_downsampling=True, density_unit='in', x_density=300, y_density=300, xmp_metadata='', name=None) -> Tensor:
    """The image, uint8 with one or three channels, as JPEG."""

def encode_png(image, compression=-1, name=None):
    """The image, or each of several, as PNG."""

def extract_jpeg_shape(contents, output_type=..., name=None) -> Tensor:
    """Height, width and channels of a JPEG image, without decoding it."""

def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The patches of each image, flattened into the last axis."""

def flip_left_right(image):
    """Mirrored: the first column becomes the last."""

def flip_up_down(image):
    """Upside down."""

def grayscale_to_rgb(images, name=None):
    """Three channels that are all the one given."""

def hsv_to_rgb(images, name=None):
    """Hue, saturation and value as red, green and blue."""

def image_gradients(image):
    """Differences to the next row and to the next column; zero at the far edges."""

def is_jpeg(contents, name=None):
    """Whether the bytes begin as a JPEG image does."""

def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, name=None):
    """The places of boxes by descending score, without those that overlap a better one by more than `iou_threshold`."""

def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=-inf, name=None):
    """As non_max_suppression, the overlaps of all pairs given."""

def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False, tile_size=512):
    """(places, how many count), of one set of boxes or of batches of them, which are filled up with 0."""

def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, soft_nms_sigma=0.0, name=None):
    """As non_max_suppression, with their scores, which decay with the overlap if `soft_nms_sigma` is not 0."""

def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The image on a black ground of the given size, its corner at the given row and column."""

def per_image_standardization(image):
    """Mean 0 and variance 1 in each image, as float32; the deviation is at least 1 / sqrt(pixels)."""

def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio of two images in decibels."""

def random_brightness(image, max_delta, seed=None):
    """Brighter or darker by at most `max_delta`."""

def random_contrast(image, lower, upper, seed=None):
    """Contrast multiplied by a number of [lower, upper)."""

def random_crop(value, size, seed=None, name=None):
    """A part of `value` of the given size, somewhere inside."""

def random_flip_left_right(image, seed=None):
    """Each image mirrored or not, with even chances."""

def random_flip_up_down(image, seed=None):
    """Each image upside down or not, with even chances."""

def random_hue(image, max_delta, seed=None):
    """The hue turned by a number of [-max_delta, max_delta)."""

def random_saturation(image, lower, upper, seed=None):
    """The saturation multiplied by a number of [lower, upper)."""

def resize(images, size, method='bilinear', preserve_aspect_ratio=False, antialias=False, name=None):
    """Images of another size. All but nearest give float32."""

def resize_with_crop_or_pad(image, target_height, target_width):
    """Cut or padded with black, evenly on both sides, to the given size."""

def resize_with_pad(image, target_height, target_width, method='bilinear', antialias=False):
    """Resized without distortion to fit the given size, padded with black evenly on both sides."""

def rgb_to_grayscale(images, name=None):
    """One channel: the brightness that eyes see."""

def rgb_to_hsv(images, name=None):
    """Red, green and blue as hue, saturation and value, all in [0, 1]."""

def rgb_to_yiq(images):
    """Red, green and blue as YIQ."""

def rgb_to_yuv(images):
    """Red, green and blue as YUV."""

def rot90(image, k=1, name=None):
    """Turned counter-clockwise by `k` times 90 degrees."""

def sobel_edges(image):
    """How brightness changes downwards and to the right, in a new last axis."""

def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """The structural similarity of images in [-1, 1]: one number for each pair, or one for each place."""

def ssim_multiscale(img1, img2, max_val, power_factors=..., filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity at several scales, each half the one before, multiplied as `power_factors` weigh them."""

def stateless_random_brightness(image, max_delta, seed):
    """Brighter or darker by at most `max_delta`, as `seed` says."""

def stateless_random_contrast(image, lower, upper, seed):
    """Contrast multiplied by a number of [lower, upper), as `seed` says."""

def stateless_random_crop(value, size, seed, name=None):
    """A part of `value` of the given size, where `seed` says."""

def stateless_random_flip_left_right(image, seed):
    """Each image mirrored or not, as `seed` says."""

def stateless_random_flip_up_down(image, seed):
    """Each image upside down or not, as `seed` says."""

def stateless_random_hue(image, max_delta, seed):
    """The hue turned by a number of [-max_delta, max_delta), as `seed` says."""

def stateless_random_saturation(image, lower, upper, seed=None):
    """The saturation multiplied by a number of [lower, upper), as `seed` says."""

def total_variation(images, name=None):
    """The sum of differences between neighbouring pixels, for each image."""

def transpose(image, name=None):
    """Rows and columns exchanged."""

def yiq_to_rgb(images):
    """YIQ as red, green and blue."""

def yuv_to_rgb(images):
    """YUV as red, green and blue."""
