"""Shapes of sparse tensors, and slices left out."""
import numpy as np


def _words(tf):
    return tf.SparseTensor([[0, 0, 1], [0, 1, 0], [0, 2, 2], [1, 0, 0], [1, 0, 3]], ["a", "b", "c", "d", "e"], [2, 3, 6])


def _traced(tf, shape, length, new_shape):
    """What a function answers that knows only this much of the tensor's shape and of the new one. Where it does not know the number
    of sizes, only values count: Evenflow then takes the static rank from the indices, which TensorFlow leaves unknown."""
    seen = []

    @tf.function(input_signature=[tf.SparseTensorSpec(shape, tf.string), tf.TensorSpec(length, tf.int64)])
    def reset(x, sizes):
        made = tf.sparse.reset_shape(x, sizes)
        seen.append(str(made.shape))
        return made

    made = reset(_words(tf), tf.constant(new_shape, tf.int64))
    return made, seen if length == [3] else None


def smallest(tf, tmp):
    made = tf.sparse.reset_shape(_words(tf))
    none = tf.sparse.reset_shape(tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.float32), [3, 4]))
    value = tf.sparse.reset_shape(tf.compat.v1.SparseTensorValue(np.array([[0, 1]]), np.array([3.0]), np.array([2, 5])))
    return made, made.shape.as_list(), none, value


def larger(tf, tmp):
    f, x = tf.sparse.reset_shape, _words(tf)
    same = np.array([2, 3, 6], np.int32)
    return [f(x, sizes) for sizes in ([2, 3, 7], [2.0, 3.0, 7.5], tf.constant([4, 4, 8]), same, tf.TensorShape([2, 3, 9]))]


def smaller(tf, tmp):
    return tf.sparse.reset_shape(_words(tf), [1, 3, 7])


def too_few_sizes(tf, tmp):
    return tf.sparse.reset_shape(_words(tf), [2, 3])


def a_matrix_of_sizes(tf, tmp):
    return tf.sparse.reset_shape(_words(tf), [[2, 3, 7]])


def not_sparse(tf, tmp):
    return tf.sparse.reset_shape([1, 2])


def smallest_in_a_function(tf, tmp):
    seen = []

    @tf.function(input_signature=[tf.SparseTensorSpec([None, None, None], tf.string)])
    def reset(x):
        made, wide = tf.sparse.reset_shape(x), tf.sparse.reset_shape(x, [2, 3, 8])
        seen.extend([str(made.shape), str(wide.shape)])
        return made, wide

    return reset(_words(tf)), seen


def larger_in_a_function(tf, tmp):
    shapes, lengths = (None, [2, 3, 6], [None, 3, None]), ([3], [None], None)
    return [_traced(tf, shape, length, [2, 3, 7]) for shape in shapes for length in lengths]


def smaller_in_a_function(tf, tmp):
    return _traced(tf, None, [3], [2, 3, 5])


def too_few_sizes_in_a_function(tf, tmp):
    return _traced(tf, [2, 3, 6], [None], [2, 3])


def a_matrix_of_sizes_in_a_function(tf, tmp):
    return _traced(tf, None, None, [[2, 3, 7]])


def older_names(tf, tmp):
    return tf.compat.v1.sparse_reset_shape is tf.sparse.reset_shape, tf.compat.v1.sparse_mask is tf.sparse.mask


def gradient(tf, tmp):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.sparse.reset_shape(tf.SparseTensor([[0, 1], [2, 0]], x * x, [4, 4]))
        y = tf.reduce_sum(tf.sparse.to_dense(made))
    return tape.gradient(y, x)


def _slices(tf):
    return tf.IndexedSlices(tf.constant([[1.0, 2], [3, 4], [5, 6], [7, 8]]), tf.constant([12, 26, 37, 45]), tf.constant([50, 2]))


def masked(tf, tmp):
    a = _slices(tf)
    b, c = tf.sparse.mask(a, [12, 45]), tf.sparse.mask(a, [99])
    bare = tf.sparse.mask(tf.IndexedSlices(a.values, a.indices), tf.constant([26, 26]))
    return b.indices, b.values, b.dense_shape, c.indices, c.values, bare.indices, bare.dense_shape


def masked_by_another_dtype(tf, tmp):
    return tf.sparse.mask(_slices(tf), tf.constant([12], tf.int64)).values


def masked_tensor(tf, tmp):
    return tf.sparse.mask(tf.constant([1.0]), [0])


def masked_in_a_function(tf, tmp):
    @tf.function
    def kept(values, indices, left_out):
        made = tf.sparse.mask(tf.IndexedSlices(values, indices), left_out)
        return made.values, made.indices

    a = _slices(tf)
    return kept(a.values, a.indices, tf.constant([37]))
