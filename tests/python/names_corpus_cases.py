"""Boxes drawn on images, encodings of strings, and crossed features."""
import numpy as np


def _tried(make):
    try:
        return make()
    except Exception as e:  # noqa: BLE001 (whatever it is, it is the answer)
        return type(e).__name__


def boxes(tf, tmp):
    draw, gray = tf.image.draw_bounding_boxes, np.arange(60, dtype=np.float32).reshape(2, 5, 6, 1)
    return [draw(gray, box, colors) for box in (
        [[[0.1, 0.2, 0.8, 0.9]]] * 2, [[[-0.5, 0.2, 0.8, 1.9]]] * 2, [[[0.9, 0.2, 0.1, 0.9]]] * 2, [[[1.2, 0.2, 1.5, 0.9]]] * 2,
        [[[0.0, 0.0, 1.0, 1.0], [0.3, 0.3, 0.5, 0.5]]] * 2, np.zeros((2, 0, 4), np.float32),
        [[[-0.1, -0.1, 0.3, 0.3]], [[0.5, 0.5, 2.0, 2.0]]]) for colors in (None, [[100.0]], [[100.0], [200.0]])]


def boxes_in_color(tf, tmp):
    found = []
    for depth in (3, 4):
        image = np.zeros((1, 4, 4, depth), np.float32)
        for k in range(12):
            far = np.full((1, k, 4), -5.0, np.float32)
            found.append(tf.image.draw_bounding_boxes(image, np.concatenate([far, [[[0, 0, 0.5, 0.5]]]], 1), None)[0, 0, 0])
    found.append(tf.image.draw_bounding_boxes(np.zeros((1, 4, 4, 3), np.float16), [[[0.0, 0.0, 1.0, 1.0]]], [[1.0, 0.5, 0.25, 9.0]]))
    found.append(tf.compat.v1.image.draw_bounding_boxes(np.zeros((1, 4, 4, 3), np.float32), [[[0.0, 0.0, 1.0, 1.0]]]))
    return found


def boxes_refused(tf, tmp):
    draw, image = tf.image.draw_bounding_boxes, np.zeros((1, 4, 4, 3), np.float32)
    return [_tried(lambda: draw(*given)) for given in (  # noqa: B023
        (image, [[[0.0, 0.0, 1.0]]], None), (image[0], [[[0.0, 0.0, 1.0, 1.0]]], None), (image[..., :2], [[[0.0, 0.0, 1.0, 1.0]]], None),
        (image, [[[0.0, 0.0, 1.0, 1.0]]] * 2, None), (image, [[[0.0, 0.0, 1.0, 1.0]]], [[1.0]]),
        (image.astype(np.int32), [[[0.0, 0.0, 1.0, 1.0]]], None))]


def encodings(tf, tmp):
    f = tf.strings.unicode_transcode
    return [_tried(lambda: f(*given, **how)) for given, how in (  # noqa: B023
        (([["ab", ""], ["\u4e2d", "\U0001f600z"]], "UTF-8", "UTF-16-BE"), {}), ((["ab", "\U0001f600"], "UTF-8", "UTF-32-BE"), {}),
        ((b"\x00a\xd8=\xde\x00", "UTF-16-BE", "UTF-8"), {}), ((b"a\x00=\xd8\x00\xde", "UTF-16-LE", "UTF-8"), {}),
        ((b"\xff\xfea\x00", "UTF-16", "UTF-8"), {}), ((b"\xfe\xff\x00a", "UTF-16", "UTF-8"), {}),
        ((b"a\x00\x00\x00", "UTF-32-LE", "UTF-8"), {}), ((b"\x00\x00\x00a", "UTF-32-BE", "UTF-16-BE"), {}),
        ((b"a\xe9b", "ISO-8859-1", "UTF-8"), {}), ((b"a\x80\x9fb", "WINDOWS-1252", "UTF-8"), {}), ((b"a\xe9b", "US-ASCII", "UTF-8"), {}),
        ((b"a\xffb\x01c", "UTF-8", "UTF-8"), {"replace_control_characters": True}), ((b"a\xffb", "UTF-8", "UTF-8"), {"errors": "ignore"}),
        ((b"a\xffb", "UTF-8", "UTF-8"), {"errors": "strict"}), ((b"a\xffb", "UTF-8", "UTF-8"), {"replacement_char": 63}),
        ((b"a\x01\xc2\x85", "UTF-8", "UTF-8"), {"replace_control_characters": True, "errors": "ignore"}),
        ((b"a\nb\tc\r", "UTF-8", "UTF-8"), {"replace_control_characters": True}), ((b"\x00ab", "UTF-16-BE", "UTF-8"), {}),
        ((b"\xe4\xb8a\xe4\xb8", "UTF-8", "UTF-8"), {}), ((b"\xef\xbb\xbfab", "UTF-8", "UTF-8"), {}), ((b"a", "none", "UTF-8"), {}),
        ((b"a", "UTF-8", "ISO-8859-1"), {}), ((b"x", "UTF-8", "UTF-8"), {"errors": "what"}),
        ((b"a", "UTF-8", "UTF-8"), {"replacement_char": 0x110000}), ((3, "UTF-8", "UTF-8"), {}))]


def crossed(tf, tmp):
    rows = tf.ragged.constant
    a, b = rows([["a"], ["b", "c"], []]), rows([["d"], ["e"], ["f"]])
    n, dense = rows([[1, -2], [3], [4]]), tf.constant([["x", "y"], ["z", "w"], ["q", "r"]])
    sparse = tf.sparse.from_dense([["a", ""], ["b", "c"], ["", ""]])
    small = rows([["a"]], row_splits_dtype=tf.int32)
    return [_tried(lambda: tf.ragged.cross(given)) for given in (  # noqa: B023
        [a, b], [a, n], [n, dense], [sparse, n], [dense, sparse, a, n], [a], [], [small, small], [n, n],
        [a, rows([["a"]])], [a, tf.constant([1.0, 2.0, 3.0])], [a, tf.constant([1, 2, 3])], tf.constant([[1]]), [rows([[[1]]])])]


def crossed_and_hashed(tf, tmp):
    rows = tf.ragged.constant
    a, n = rows([["a"], ["b", "c"], []]), rows([[1, -2], [3], [4]])
    dense = tf.constant([["x", "y"], ["z", "w"], ["q", ""]])
    return [_tried(lambda: tf.ragged.cross_hashed(given, **how)) for given, how in (  # noqa: B023
        ([a, n], {}), ([a, n], {"num_buckets": 100}), ([a, n, dense], {"num_buckets": 100, "hash_key": 7}), ([n, n], {"num_buckets": 1}),
        ([dense], {}), ([a, n], {"num_buckets": -1}))]


def crossed_in_a_function(tf, tmp):
    @tf.function
    def f(a, b):
        return tf.ragged.cross([a, b]), tf.ragged.cross_hashed([a, b], 10)

    return f(tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([[1], [2, 3]]))


def _ctc(tf, places, values, shape, frames, lengths, **how):
    logits = tf.Variable(np.sin(np.arange(frames * 4, dtype=np.float32)).reshape(frames, 1, 4))
    with tf.GradientTape() as tape:
        loss = tf.compat.v1.nn.ctc_loss(tf.SparseTensor(places, values, shape), logits, lengths, **how)
    return np.round(loss.numpy(), 3).tolist(), (np.round(tape.gradient(loss, logits).numpy(), 3) + 0.0).ravel().tolist()


def ctc_of_the_first_generation(tf, tmp):
    """Sequences that fit, that are too long, and that would need a blank for which there is no frame."""
    three, two = ([[0, 0], [0, 1], [0, 2]], [0, 1, 2], [1, 3]), ([[0, 0], [0, 1]], [1, 1], [1, 2])
    return [str(_tried(lambda: _ctc(tf, *given, **how))) for given, how in (  # noqa: B023
        ((*three, 5, [5]), {}), ((*three, 2, [2]), {}), ((*three, 2, [2]), {"ignore_longer_outputs_than_inputs": True}),
        ((*two, 2, [2]), {}), ((*two, 3, [3]), {}), ((*two, 3, [3]), {"ctc_merge_repeated": False}),
        ((*two, 3, [3]), {"preprocess_collapse_repeated": True}), ((*two, 3, [9]), {}))]


def ctc_arguments(tf, tmp):
    labels = tf.SparseTensor([[0, 0]], [1], [1, 1])
    x = np.zeros((1, 3, 4), np.float32)
    f = tf.compat.v1.nn.ctc_loss
    return [_tried(lambda: f(labels, x, [3], time_major=False)), _tried(lambda: f(labels, logits=x, sequence_length=[3], time_major=False)),
            _tried(lambda: f(labels, x, [3], logits=x)), _tried(lambda: f([[1]], x, [3]))]


def pooling_in_three_dimensions(tf, tmp):
    """Windows of -inf and NaN alone, or beside a number."""
    found, low, none = [], -np.inf, np.nan
    for values in ([low] * 8, [low] * 7 + [1.0], [none] * 8, [none] * 7 + [1.0], [low] * 7 + [none], [1.0, 1.0] + [low] * 6):
        for size, stride, padding in ((2, 2, "VALID"), (3, 1, "SAME")):
            x = tf.constant(np.array(values, np.float32).reshape(1, 2, 2, 2, 1))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.max_pool3d(x, size, stride, padding)
            found.append([y, tape.gradient(y, x)])
    return found
