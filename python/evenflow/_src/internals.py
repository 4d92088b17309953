"""The few functions from inside TensorFlow that Keras calls; alias.py says under which names."""
import evenflow as tf


def dynamic_update_slice(operand, update, start_indices):
    """`operand` with `update` written at `start_indices`, which are moved so that it fits."""
    operand = tf.convert_to_tensor(operand)
    update = tf.convert_to_tensor(update, dtype=operand.dtype)
    start = tf.cast(tf.convert_to_tensor(start_indices), tf.int32)
    size = tf.shape(update)
    begin = tf.maximum(0, tf.minimum(start, tf.shape(operand) - size))
    return tf.raw_ops.TensorStridedSliceUpdate(input=operand, begin=begin, end=begin + size,
                                               strides=tf.ones_like(begin), value=update)


class Context:
    """What remains of an eager context: there is one, and it keeps no kernels."""

    def clear_kernel_cache(self):
        """Plans are found by structure and evicted by size, so there is nothing stale to drop."""

    def executing_eagerly(self):
        return tf.executing_eagerly()

    def num_gpus(self):
        return len(tf.config.list_physical_devices("GPU"))


_CONTEXT = Context()


def context():
    return _CONTEXT


def async_wait():
    """Runs what this thread has put off, so that its errors show here."""
    tf._core.wait()
