"""The few private functions of TensorFlow that Keras calls. alias.py maps their names to these."""
import evenflow as tf


def dynamic_update_slice(operand, update, start_indices):
    """`operand` with `update` written at `start_indices`, which are clamped so that `update` fits."""
    operand = tf.convert_to_tensor(operand)
    update = tf.convert_to_tensor(update, dtype=operand.dtype)
    start = tf.cast(tf.convert_to_tensor(start_indices), tf.int32)
    size = tf.shape(update)
    begin = tf.maximum(0, tf.minimum(start, tf.shape(operand) - size))
    return tf.raw_ops.TensorStridedSliceUpdate(input=operand, begin=begin, end=begin + size,
                                               strides=tf.ones_like(begin), value=update)


class Context:
    """The few methods of TensorFlow's eager context that Keras calls."""

    def clear_kernel_cache(self):
        """Does nothing: plans are looked up by structure and evicted by size, so none is stale."""

    def executing_eagerly(self):
        return tf.executing_eagerly()

    def num_gpus(self):
        return len(tf.config.list_physical_devices("GPU"))


_CONTEXT = Context()


def context():
    return _CONTEXT


def async_wait():
    """Runs the deferred ops of this thread, so that their errors are raised here."""
    tf._core.wait()
