"""Boxes in images: crop_and_resize and non-maximum suppression."""
from ..functional import map_fn
from ..namespace import export
from .common import convert, dtypes, raw, rank_of
from .random import op_seeds


@export("image.crop_and_resize")
def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Crops boxes out of images and resizes them to `crop_size`. A box is (y1, x1, y2, x2), where 1 is the last row or
    column."""
    return raw.CropAndResize(image, boxes, box_indices, crop_size, method=method,
                             extrapolation_value=extrapolation_value, name=name)


@export("compat.v1.image.crop_and_resize")
def v1_crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None,
                       box_indices=None):
    """crop_and_resize with the older names of its arguments."""
    if box_ind is not None and box_indices is not None:
        raise ValueError("Cannot specify both 'box_indices' and 'box_ind'.")
    return crop_and_resize(image, boxes, box_ind if box_indices is None else box_indices, crop_size, method,
                           extrapolation_value, name)


@export("image.non_max_suppression")
def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The indices of boxes sorted by descending score, without those that overlap a better box by more than
    `iou_threshold`."""
    limits = (convert(v, dtypes.float32) for v in (iou_threshold, score_threshold))
    return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, *limits, name=name)


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """Like non_max_suppression, but also returns the scores, which decay with the overlap if `soft_nms_sigma` is not 0."""
    boxes = convert(boxes)
    limits = (convert(v, boxes.dtype) for v in (iou_threshold, score_threshold, soft_nms_sigma))
    places, found, _ = raw.NonMaxSuppressionV5(boxes, scores, max_output_size, *limits, pad_to_max_output_size=False, name=name)
    return places, found


@export("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"),
                                 name=None):
    """Like non_max_suppression, with the overlaps of all pairs as an argument."""
    return raw.NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold, name=name)


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False,
                               tile_size=512):
    """(indices, number of valid indices) for one set of boxes or a batch of sets. The indices are padded with 0."""
    boxes, scores, most = convert(boxes), convert(scores), convert(max_output_size)
    if most.dtype is not dtypes.int32:
        raise TypeError(f"max_output_size has type {most.dtype.name} that does not match type int32 of the op")
    limits = [convert(v, dtypes.float32) for v in (iou_threshold, score_threshold)]
    if rank_of(boxes) == 2:
        return tuple(raw.NonMaxSuppressionV4(boxes, scores, most, *limits,
                                             pad_to_max_output_size=pad_to_max_output_size, name=name))
    if not pad_to_max_output_size:
        raise ValueError("'pad_to_max_output_size' (value False) must be True for batched input")
    outer = raw.Shape(scores)[:-1]
    flat_boxes = raw.Reshape(boxes, raw.ConcatV2([[-1], raw.Shape(boxes)[-2:]], 0))
    flat_scores = raw.Reshape(scores, raw.ConcatV2([[-1], raw.Shape(scores)[-1:]], 0))

    def choose(one):
        return tuple(raw.NonMaxSuppressionV4(one[0], one[1], most, *limits, pad_to_max_output_size=True))

    places, counts = map_fn(choose, (flat_boxes, flat_scores), fn_output_signature=(dtypes.int32, dtypes.int32))
    return raw.Reshape(places, raw.ConcatV2([outer, raw.Reshape(most, [1])], 0)), raw.Reshape(counts, outer)


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    """(boxes, scores, classes, numbers of boxes) of each image: the boxes of each class that overlap a better one are left out, then
    the best `max_total_size` of all classes are kept. `boxes` is [batch, n, 1 or classes, 4], `scores` [batch, n, classes]."""
    limits = (convert(v, dtypes.float32) for v in (iou_threshold, score_threshold))
    return raw.CombinedNonMaxSuppression(boxes, scores, max_output_size_per_class, max_total_size, *limits, pad_per_class=pad_per_class,
                                         clip_boxes=clip_boxes, name=name)


def _ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes):
    """The attributes of a random crop; what is None keeps its default."""
    given = {"aspect_ratio_range": aspect_ratio_range, "area_range": area_range, "max_attempts": max_attempts,
             "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in given.items() if v is not None}


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None, area_range=None,
                                  max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random crop that covers at least `min_object_covered` of one of the boxes: arguments of tf.slice, and the
    crop for draw_bounding_boxes."""
    seeds = dict(zip(("seed", "seed2"), op_seeds(seed))) if seed else {}
    return raw.SampleDistortedBoundingBoxV2(image_size, convert(bounding_boxes, dtypes.float32), convert(min_object_covered, dtypes.float32),
                                            **seeds, **_ranges(aspect_ratio_range, area_range, max_attempts,
                                                               use_image_if_no_bounding_boxes), name=name)


@export("compat.v1.image.sample_distorted_bounding_box")
def v1_sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1, aspect_ratio_range=None,
                                     area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """sample_distorted_bounding_box with both seeds as arguments."""
    seeds = {k: v for k, v in (("seed", seed), ("seed2", seed2)) if v is not None}
    return raw.SampleDistortedBoundingBoxV2(image_size, convert(bounding_boxes, dtypes.float32), convert(min_object_covered, dtypes.float32),
                                            **seeds, **_ranges(aspect_ratio_range, area_range, max_attempts,
                                                               use_image_if_no_bounding_boxes), name=name)


@export("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1, aspect_ratio_range=None,
                                            area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """sample_distorted_bounding_box, determined by `seed`, two integers."""
    return raw.StatelessSampleDistortedBoundingBox(image_size, convert(bounding_boxes, dtypes.float32),
                                                   convert(min_object_covered, dtypes.float32), seed,
                                                   **_ranges(aspect_ratio_range, area_range, max_attempts,
                                                             use_image_if_no_bounding_boxes), name=name)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None):
    """The images with the edges of boxes (y_min, x_min, y_max, x_max in parts of the size) drawn on them; `colors` has a row for
    each box and begins again where there are more boxes. None: colors of our own."""
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


@export("compat.v1.image.draw_bounding_boxes")
def v1_draw_bounding_boxes(images, boxes, name=None, colors=None):
    """draw_bounding_boxes with the older order of its arguments."""
    return draw_bounding_boxes(images, boxes, colors, name)
