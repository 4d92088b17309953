"""Boxes of many classes, random crops that keep an object, and the objects below a root."""
import numpy as np


def _tried(make):
    try:
        return make()
    except Exception as e:  # noqa: BLE001 (whatever it is, it is the answer)
        return type(e).__name__


def _boxes(seed, batch, n, columns, classes):
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(-0.1, 0.7, (batch, n, columns, 2)), rng.uniform(0.1, 0.5, (batch, n, columns, 2))
    boxes = np.concatenate([corner, corner + size], -1).astype("float32")
    return boxes, rng.permutation(batch * n * classes).reshape(batch, n, classes).astype("float32") / 100


def combined(tf, tmp):
    suppress = tf.image.combined_non_max_suppression
    return [suppress(*_boxes(k, 2, 12, columns, 3), 4, 9, iou, least, pad_per_class=pad, clip_boxes=clip)
            for k, (columns, iou, least, pad, clip) in enumerate((
                (1, 0.5, float("-inf"), False, True), (3, 0.2, 0.2, False, False), (3, 0.3, 0.1, True, True), (1, 0.9, 9.0, False, True),
                (3, 0.0, 0.5, True, False)))]


def combined_pads(tf, tmp):
    boxes, scores = _boxes(9, 1, 3, 1, 2)
    return [tf.image.combined_non_max_suppression(boxes, scores, each, total, 0.4, pad_per_class=pad)
            for each, total in ((1, 10), (5, 4), (5, 30)) for pad in (False, True)]


def combined_in_a_function(tf, tmp):
    @tf.function(input_signature=[tf.TensorSpec([None, None, 1, 4]), tf.TensorSpec([None, None, None])])
    def f(boxes, scores):
        made = tf.image.combined_non_max_suppression(boxes, scores, 5, 7)
        return made, [m.shape.as_list() for m in made]

    return f(*_boxes(3, 2, 8, 1, 2)), f(*_boxes(4, 1, 20, 1, 4))


def combined_refused(tf, tmp):
    boxes, scores = _boxes(9, 1, 3, 1, 2)
    suppress = tf.image.combined_non_max_suppression
    return [_tried(lambda: suppress(*given)) for given in (  # noqa: B023
        (boxes, scores, 0, 5), (boxes, scores, 5, 0), (boxes, scores, 5, 5, 1.5), (boxes[..., :3], scores, 5, 5),
        (boxes[0], scores, 5, 5), (np.tile(boxes, (1, 1, 3, 1)), scores, 5, 5), (boxes[:, :2], scores, 5, 5))]


BOXES = [[[0.1, 0.2, 0.7, 0.8], [0.0, 0.0, 0.3, 0.2]]]


def stateless_crops(tf, tmp):
    crop = tf.image.stateless_sample_distorted_bounding_box
    made = [crop([40, 60, 3], BOXES, [k, 7]) for k in range(12)]
    made += [crop(np.int64([33, 20, 1]), BOXES, [1, k], 0.9, (0.5, 2.0), [0.3, 1.0], 20) for k in range(12)]
    made += [crop(np.uint8([200, 199, 3]), [BOXES[0][:1]], np.int64([k, -5]), tf.constant(0.4), [1.0, 1.0]) for k in range(8)]
    return made + [crop([50, 80, 3], np.zeros((1, 0, 4), np.float32), [k, 3], use_image_if_no_bounding_boxes=True) for k in range(6)]


def crops_that_cannot_be(tf, tmp):
    crop = tf.image.stateless_sample_distorted_bounding_box
    return [crop([9, 7, 3], BOXES, [1, 2], min_object_covered=1.0, area_range=(0.05, 0.06)), crop([1, 1, 3], BOXES, [1, 2]),
            crop([4, 500, 3], BOXES, [1, 2], aspect_ratio_range=(0.75, 0.76), area_range=(0.9, 1.0))]


def crops_with_seeds(tf, tmp):
    made = []
    for seed in (5, 6):
        tf.random.set_seed(seed)
        made += [tf.image.sample_distorted_bounding_box([40, 60, 3], BOXES, seed=11) for _ in range(4)]
    v1 = tf.compat.v1.image.sample_distorted_bounding_box
    return made + [v1([30, 30, 3], BOXES, 3, 4), v1([30, 30, 3], BOXES, seed=3, seed2=5, min_object_covered=0.5)]


def crops_in_a_function(tf, tmp):
    @tf.function(input_signature=[tf.TensorSpec([3], tf.int32), tf.TensorSpec([1, None, 4])])
    def f(size, boxes):
        begin, extent, box = tf.image.sample_distorted_bounding_box(size, boxes, seed=2)
        return begin, extent, box, [begin.shape.as_list(), extent.shape.as_list(), box.shape.as_list()]

    tf.random.set_seed(3)
    return [f([64, 48, 3], tf.constant(BOXES)) for _ in range(3)]


def crops_of_pictures(tf, tmp):
    """As programs for ImageNet use it."""
    image = tf.reshape(tf.range(40 * 30 * 3), [40, 30, 3])
    begin, size, box = tf.image.stateless_sample_distorted_bounding_box(tf.shape(image), tf.zeros([1, 0, 4]), [8, 9], 0.1, [0.75, 1.33],
                                                                        [0.08, 1.0], 100, True)
    return tf.slice(image, begin, size), box


def crops_refused(tf, tmp):
    crop = tf.image.stateless_sample_distorted_bounding_box
    return [_tried(make) for make in (
        lambda: crop([40, 60], BOXES, [1, 2]), lambda: crop([40, 60, 3], BOXES[0], [1, 2]), lambda: crop([40, 60, 3], BOXES, [1, 2, 3]),
        lambda: crop([40, 60, 3], [[[0.1, 0.2, 0.7]]], [1, 2]), lambda: crop([40, 60, 3], [[[0.1, 0.2, 0.7, 1.5]]], [1, 2]),
        lambda: crop([40, 60, 3], np.zeros((1, 0, 4), np.float32), [1, 2]),
        lambda: crop([40, 60, 3], BOXES, [1, 2], -0.5), lambda: crop([40, 60, 3], BOXES, [1, 2], 0.1, (0.0, 1.0)),
        lambda: crop([40, 60, 3], BOXES, [1, 2], area_range=(0.5, 1.5)), lambda: crop([40, 60, 3], BOXES, [1, 2], max_attempts=0))]


def views(tf, tmp):
    root, kept = tf.Module(), tf.Variable(1.0)
    root.a, root.b = tf.Module(), [kept, tf.Module()]
    root.a.again = kept
    view = tf.train.TrackableView(root)
    found = view.descendants()
    return (sorted(tf.train.TrackableView.children(root)), len(found), found[0] is root, view.root is root,
            sum(x is kept for x in found), sorted(tf.train.TrackableView.children(root.a)))


def shuffled_indices(tf, tmp):
    return [tf.random_index_shuffle(tf.range(10), [1, 2, k], 9) for k in range(3)], tf.random_index_shuffle(3, [1, 2, 3], 50, rounds=8)
