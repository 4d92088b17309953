"""Distances between sequences, parts of sparse tensors, patches of volumes, offsets of characters, and JPEG's quality."""
import numpy as np


def _tried(make):
    try:
        return make()
    except Exception as e:  # noqa: BLE001 (whatever it is, it is the answer)
        return type(e).__name__


def _words(tf):
    return (tf.SparseTensor([[0, 0, 0], [1, 0, 0], [1, 0, 1]], ["a", "b", "c"], [2, 1, 3]),
            tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2]], ["x", "b", "d", "c"], [2, 2, 3]))


def edits(tf, tmp):
    rng = np.random.default_rng(0)
    numbers = [tf.sparse.from_dense(rng.integers(0, 4, (5, 3, n))) for n in (6, 8)]
    one = [tf.SparseTensor([[0, k]], [1.5], [1, 2]) for k in (0, 1)]
    empty = [tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), [2, n]) for n in (0, 3)]
    return [tf.edit_distance(a, b, normalize=how) for a, b in (_words(tf), numbers, one, empty) for how in (True, False)]


def edits_of_complex_numbers(tf, tmp):
    def row(numbers, dtype):
        return tf.SparseTensor([[0, k] for k in range(len(numbers))], tf.constant(numbers, dtype), [1, len(numbers)])

    return [tf.edit_distance(row([1 + 2j, 3 - 1j, 2 + 0j], dtype), row(truth, dtype), False) for dtype in (tf.complex64, tf.complex128)
            for truth in ([1 + 2j, 3 - 1j, 2 + 0j], [1 + 4j, 3 - 1j, 2 + 0j], [7 + 2j, 2 + 0j], [complex("nan"), 3 - 1j])]


def edits_in_a_function(tf, tmp):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.int32)] * 2)
    def f(a, b):
        return tf.edit_distance(a, b, False)

    return [f(tf.sparse.from_dense(np.int32(a)), tf.sparse.from_dense(np.int32(b))) for a, b in (
        ([[1, 2, 3]], [[1, 3, 0]]), ([[1, 0], [2, 2]], [[1, 0], [2, 3]]))]


def edits_refused(tf, tmp):
    first, second = _words(tf)
    return [_tried(lambda: tf.edit_distance(*given)) for given in (  # noqa: B023
        (1, second), (first, [[1]]), (tf.SparseTensor([[0, 0]], ["a"], [1, 1]), second))]


def edits_in_stored_order(tf, tmp):
    truth = tf.SparseTensor([[0, 0]], [1], [2, 2])
    return [tf.edit_distance(tf.SparseTensor(at, values, [2, 2]), truth) for at, values in (
        ([[0, 0], [0, 0]], [1, 2]), ([[0, 1], [0, 0]], [1, 2]), ([[0, 1], [0, 0], [1, 1], [1, 0]], [2, 1, 1, 1]))]


def sparse_parts(tf, tmp):
    x = tf.sparse.from_dense(np.random.default_rng(1).integers(0, 3, (4, 7)))
    return [[[y.indices, y.values, y.dense_shape] for y in tf.sparse.split(x, n, axis)] for axis in (0, 1, -1) for n in (1, 2, 3)]


def sparse_parts_refused(tf, tmp):
    x = tf.sparse.from_dense([[1, 0]])
    return [_tried(lambda: tf.sparse.split(*given)) for given in (  # noqa: B023
        (x,), (x, 2), ([[1, 0]], 2, 1), (x, 3, 1), (x, 2, 0), (x, 0, 1), (x, -1, 1), (x, 1, 2), (x, 1, -3), (x, 2.0, 1),
        (x, tf.constant(2), 1))]


def volumes(tf, tmp):
    x = tf.constant(np.random.default_rng(2).normal(size=(2, 5, 6, 4, 2)).astype("float32"))
    return [tf.extract_volume_patches(x, [1, 2, 3, 2, 1], [1, step, 1, step, 1], padding) for padding in ("SAME", "VALID") for step in (1, 2)]


def volumes_of_one_element(tf, tmp):
    """Patches of one element, strides beyond the patch, empty volumes, and sizes that are known only when the function runs."""
    def f(shape, *how):
        x = tf.reshape(tf.range(float(np.prod(shape))), shape)
        known = tf.extract_volume_patches(x, *how)
        spec = tf.TensorSpec([None, None, None, None, shape[4]])
        later = tf.function(lambda x: tf.extract_volume_patches(x, *how), input_signature=[spec])
        return known, later(x)

    one = [1, 1, 1, 1, 1]
    return [f(shape, sizes, [1, *steps, 1], padding) for padding in ("SAME", "VALID") for shape, sizes, steps in (
        ((1, 3, 3, 3, 1), one, (1, 1, 1)), ((1, 3, 3, 3, 1), one, (5, 5, 5)), ((1, 7, 6, 9, 2), [1, 2, 1, 2, 1], (4, 4, 5)),
        ((0, 3, 3, 3, 1), one, (1, 1, 1)), ((1, 0, 3, 3, 1), one, (2, 2, 2)), ((2, 3, 5, 4, 1), [1, 3, 2, 4, 1], (2, 3, 1)))]


def volumes_refused(tf, tmp):
    x, one = tf.ones([1, 3, 3, 3, 1]), [1] * 5
    return [_tried(lambda: tf.extract_volume_patches(*given)) for given in (  # noqa: B023
        (x, [1, 0, 1, 1, 1], one, "SAME"), (x, one, [1, 0, 1, 1, 1], "SAME"), (x, one, [1, -1, 1, 1, 1], "VALID"),
        (x, [2, 1, 1, 1, 1], one, "VALID"), (x, one, [1, 1, 1, 1, 2], "VALID"), (tf.ones([3, 3, 3]), one, one, "VALID"),
        (x, [1] * 4, one, "VALID"), (x, one, one, "FULL"), (x, [1, 9, 1, 1, 1], one, "VALID"))]


TEXTS = ("h\u00e9llo", "", "\u65e5\u672cx", ["ab", "\u00e9"], [["a", "\u65e5"], ["", "z"]])


def offsets(tf, tmp):
    texts = (*TEXTS, tf.ragged.constant([["ab"], [], ["\u00e9", "x"]]))
    return [[part.to_list() if hasattr(part, "to_list") else part for part in f(text, "UTF-8")]
            for f in (tf.strings.unicode_decode_with_offsets, tf.strings.unicode_split_with_offsets) for text in texts]


def offsets_of_damaged_text(tf, tmp):
    f = tf.strings.unicode_decode_with_offsets
    return [_tried(lambda: list(f(b"a\xffb", "UTF-8", errors=how))) for how in ("replace", "ignore", "strict")] + [  # noqa: B023
        list(f("ab".encode("utf-16"), "UTF-16")), list(f("a\x01b", "UTF-8", replace_control_characters=True))]


def _picture():
    ramp = np.add.outer(np.arange(16) * 9, np.arange(16) * 5)[:, :, None]
    return (ramp + np.array([0, 20, 40])).clip(0, 255).astype("uint8")


def jpeg_quality(tf, tmp):
    image = tf.constant(_picture())
    found = [tf.image.adjust_jpeg_quality(image, q) for k in (10, 60, 95) for q in (k, tf.constant(k))]
    gray = tf.image.adjust_jpeg_quality(tf.image.convert_image_dtype(image[..., :1], tf.float32), 50)
    return found + [gray, tf.image.stateless_random_jpeg_quality(image, 20, 90, [1, 2])]


def jpeg_quality_in_a_pipeline(tf, tmp):
    ds = tf.data.Dataset.range(3).map(lambda k: tf.image.stateless_random_jpeg_quality(_picture(), 20, 90, [k, 4]))
    return list(ds)


def jpeg_quality_refused(tf, tmp):
    image, f = tf.constant(_picture()), tf.image
    return [_tried(make) for make in (
        lambda: f.random_jpeg_quality(image, 90, 20), lambda: f.random_jpeg_quality(image, -1, 20), lambda: f.adjust_jpeg_quality(image, 200),
        lambda: f.adjust_jpeg_quality(image, tf.constant(200)), lambda: f.random_jpeg_quality(image, 20, 90).shape)]


def quantized(tf, tmp):
    f, found = tf.quantization.quantize_and_dequantize_v2, []
    x = tf.constant(np.sin(np.arange(24) * 1.3).reshape(2, 3, 4) * 3, tf.float32)
    for how in ({}, {"signed_input": False}, {"num_bits": 4}, {"narrow_range": True}, {"range_given": True}, {"round_mode": "HALF_UP"},
                {"range_given": True, "num_bits": 3, "narrow_range": True}):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, -1.5, 2.0, **how)
        found.append([y, tape.gradient(y, x)])
    found.append(f(x, [0.0] * 3, [0.0] * 3, axis=1))
    found += [f(tf.constant(v), 0.0, 0.0) for v in ([1.0, 2.0], [-1.0, -2.0], [0.0, 0.0])]
    return found + [_tried(lambda: f(x, 0.0, 0.0, num_bits=0)), _tried(lambda: f(x, 0.0, 0.0, axis=7)),
                    _tried(lambda: f(x, 2.0, -2.0, range_given=True)), f(x, 1.5, 2.0, range_given=True)]


def quantized_by_the_older_name(tf, tmp):
    x = tf.constant([-3.0, -0.4, 0.3, 2.6])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, range_given=True)
    return y, tape.gradient(y, x)


def quantized_along_an_axis_from_the_end(tf, tmp):
    f, found = tf.quantization.quantize_and_dequantize_v2, []
    x = tf.constant(np.sin(np.arange(24) * 1.3).reshape(2, 3, 4) * 3, tf.float32)
    for axis in (-3, -2, -1):
        ends = tf.constant([0.5] * x.shape[axis])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, -ends, ends, axis=axis)
        found.append([y, tape.gradient(y, x)])

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def of_any_rank(x):
        return f(x, 0.0, 0.0), f(x, [0.0] * 3, [0.0] * 3, axis=1), f(x, [0.0] * 2, [0.0] * 2, axis=0)

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def from_the_end(x):
        return f(x, [0.0] * 4, [0.0] * 4, axis=-1)

    return found + [of_any_rank(x), _tried(lambda: from_the_end(x))]


def scopes(tf, tmp):
    found = [tf.get_current_name_scope()]
    with tf.name_scope("a"), tf.name_scope("b"):
        found.append(tf.get_current_name_scope())

        @tf.function
        def f():
            with tf.name_scope("c"):
                return tf.constant(tf.get_current_name_scope())
        found.append(f())
    return found
