"""Type stubs of evenflow.image. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class ResizeMethod:
    """The interpolation methods of `resize`."""
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
    """Adds `delta` to each pixel, where 1 is the whole range of values."""

def adjust_contrast(images, contrast_factor):
    """Multiplies the distance of each pixel from the mean of its channel."""

def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""

def adjust_hue(image, delta, name=None):
    """Rotates the hue by `delta`, where 1 is a full turn."""

def adjust_jpeg_quality(image, jpeg_quality, dct_method='', name=None):
    """What an image looks like after it was encoded as JPEG with this quality, 0 to 100, and decoded again."""

def adjust_saturation(image, saturation_factor, name=None):
    """Multiplies the saturation."""

def central_crop(image, central_fraction):
    """The central part of an image, whose sides are `central_fraction` of the image's."""

def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5, score_threshold=-inf, pad_per_class=False, clip_boxes=True, name=None):
    """(boxes, scores, classes, numbers of boxes) of each image: the boxes of each class that overlap a better one are left out, then"""

def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Converts an image to another dtype and scales its values: floats are in [0, 1), integers use their whole range."""

def crop_and_resize(image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0.0, name=None):
    """Crops boxes out of images and resizes them to `crop_size`. A box is (y1, x1, y2, x2), where 1 is the last row or"""

def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Crops an image to the given size, starting at the given row and column."""

def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method='', name=None) -> Tensor:
    """A window of a JPEG image: `crop_window` is y, x, height and width."""

def decode_bmp(contents, channels=0, name=None) -> Tensor:
    """The pixels of a BMP image."""

def decode_gif(contents, name=None) -> Tensor:
    """The frames of a GIF image, as one tensor with three channels."""

def decode_image(contents, channels=None, dtype=..., name=None, expand_animations=True):
    """Decodes a JPEG, PNG, GIF or BMP image. For a GIF it returns all frames, unless `expand_animations` is False."""

def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method='', name=None) -> Tensor:
    """The pixels of a JPEG image, optionally reduced by `ratio` while decoding."""

def decode_png(contents, channels=0, dtype=..., name=None) -> Tensor:
    """The pixels of a PNG image, with 8 or 16 bits per channel."""

def draw_bounding_boxes(images, boxes, colors, name=None):
    """The images with the edges of boxes (y_min, x_min, y_max, x_max in parts of the size) drawn on them; `colors` has a row for"""

def encode_jpeg(image, format='', quality=95, progressive=False, optimize_size=False, chroma_downsampling=True, density_unit='in', x_density=300, y_density=300, xmp_metadata='', name=None) -> Tensor:
    """Encodes an image, uint8 with one or three channels, as JPEG."""

def encode_png(image, compression=-1, name=None):
    """Encodes an image, or each image of a batch, as PNG."""

def extract_jpeg_shape(contents, output_type=..., name=None) -> Tensor:
    """Height, width and channels of a JPEG image, without decoding it."""

def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The patches of each image, flattened into the last axis."""

def flip_left_right(image):
    """Flips an image horizontally: the first column becomes the last."""

def flip_up_down(image):
    """Flips an image vertically: the first row becomes the last."""

def grayscale_to_rgb(images, name=None):
    """Converts a greyscale image to RGB by repeating its channel."""

def hsv_to_rgb(images, name=None):
    """Converts hue, saturation and value to RGB."""

def image_gradients(image):
    """(differences to the next row, differences to the next column), which are zero in the last row and column."""

def is_jpeg(contents, name=None):
    """Whether the bytes begin with the signature of a JPEG image."""

def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, name=None):
    """The indices of boxes sorted by descending score, without those that overlap a better box by more than"""

def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=-inf, name=None):
    """Like non_max_suppression, with the overlaps of all pairs as an argument."""

def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False, tile_size=512):
    """(indices, number of valid indices) for one set of boxes or a batch of sets. The indices are padded with 0."""

def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=-inf, soft_nms_sigma=0.0, name=None):
    """Like non_max_suppression, but also returns the scores, which decay with the overlap if `soft_nms_sigma` is not 0."""

def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Pads an image with zeros to the given size, with its corner at the given row and column."""

def per_image_standardization(image):
    """Scales each image to mean 0 and variance 1, as float32. The standard deviation counts as at least 1 / sqrt(pixels)."""

def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio of two images in decibels."""

def random_brightness(image, max_delta, seed=None):
    """Changes the brightness by a random amount of at most `max_delta`."""

def random_contrast(image, lower, upper, seed=None):
    """Multiplies the contrast by a random number in [lower, upper)."""

def random_crop(value, size, seed=None, name=None):
    """A part of `value` of the given size at a random position."""

def random_flip_left_right(image, seed=None):
    """Flips each image horizontally with probability 0.5."""

def random_flip_up_down(image, seed=None):
    """Flips each image vertically with probability 0.5."""

def random_hue(image, max_delta, seed=None):
    """Rotates the hue by a random number in [-max_delta, max_delta)."""

def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a random quality in [min_jpeg_quality, max_jpeg_quality)."""

def random_saturation(image, lower, upper, seed=None):
    """Multiplies the saturation by a random number in [lower, upper)."""

def resize(images, size, method='bilinear', preserve_aspect_ratio=False, antialias=False, name=None):
    """Resizes images. All methods but nearest return float32."""

def resize_with_crop_or_pad(image, target_height, target_width):
    """Crops an image, or pads it with zeros, evenly on both sides to the given size."""

def resize_with_pad(image, target_height, target_width, method='bilinear', antialias=False):
    """Resizes an image, keeping its aspect ratio, to fit into the given size, and pads it evenly with zeros."""

def rgb_to_grayscale(images, name=None):
    """Converts RGB to one channel with the perceived brightness."""

def rgb_to_hsv(images, name=None):
    """Converts RGB to hue, saturation and value, all in [0, 1]."""

def rgb_to_yiq(images):
    """Converts RGB to YIQ."""

def rgb_to_yuv(images):
    """Converts RGB to YUV."""

def rot90(image, k=1, name=None):
    """Rotates an image counter-clockwise by `k` times 90 degrees."""

def sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None, area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random crop that covers at least `min_object_covered` of one of the boxes: arguments of tf.slice, and the"""

def sobel_edges(image):
    """The Sobel derivatives of an image, vertical and horizontal, in a new last axis."""

def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """The structural similarity of images, in [-1, 1]: one number for each pair, or one for each position."""

def ssim_multiscale(img1, img2, max_val, power_factors=..., filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity at several scales, each half of the one before, multiplied with the exponents"""

def stateless_random_brightness(image, max_delta, seed):
    """Changes the brightness by a random amount of at most `max_delta`, determined by `seed`."""

def stateless_random_contrast(image, lower, upper, seed):
    """Multiplies the contrast by a random number in [lower, upper), determined by `seed`."""

def stateless_random_crop(value, size, seed, name=None):
    """A part of `value` of the given size at a random position, determined by `seed`."""

def stateless_random_flip_left_right(image, seed):
    """Flips each image horizontally with probability 0.5, determined by `seed`."""

def stateless_random_flip_up_down(image, seed):
    """Flips each image vertically with probability 0.5, determined by `seed`."""

def stateless_random_hue(image, max_delta, seed):
    """Rotates the hue by a random number in [-max_delta, max_delta), determined by `seed`."""

def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """random_jpeg_quality that depends on nothing but the seed, two integers."""

def stateless_random_saturation(image, lower, upper, seed=None):
    """Multiplies the saturation by a random number in [lower, upper), determined by `seed`."""

def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1, aspect_ratio_range=None, area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """sample_distorted_bounding_box, determined by `seed`, two integers."""

def total_variation(images, name=None):
    """The sum of absolute differences between neighbouring pixels, for each image."""

def transpose(image, name=None):
    """Transposes the rows and columns of an image."""

def yiq_to_rgb(images):
    """Converts YIQ to RGB."""

def yuv_to_rgb(images):
    """Converts YUV to RGB."""
