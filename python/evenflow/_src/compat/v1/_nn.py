"""tf.compat.v1.nn: neural network functions with the arguments of TensorFlow 1."""
from ... import _core
from ...dispatch import REFUSED, redirect
from ...namespace import export, offer
from ...ops import conv, embedding, nn, pool as pooling, sampling
from ...ops.window import padding_of
from ._reductions import either

raw = _core.raw


@export("compat.v1.nn.dropout")
def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Sets elements to zero with probability `rate` (or 1 - keep_prob), and scales the others up to keep the mean."""
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
        if isinstance(keep_prob, (list, tuple)):
            raise ValueError(f"`keep_prob` must be a scalar. Received: {keep_prob}")
        rate = 1 - keep_prob
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return nn.dropout(x, rate, noise_shape, seed, name)


@export("compat.v1.nn.softmax", "compat.v1.math.softmax")
def softmax(logits, axis=None, name=None, dim=None):
    """exp(logits), scaled to sum 1 along an axis."""
    axis = either(axis, "axis", dim, "dim")
    return nn.softmax(logits, -1 if axis is None else axis, name)


@export("compat.v1.nn.log_softmax", "compat.v1.math.log_softmax")
def log_softmax(logits, axis=None, name=None, dim=None):
    """The logarithm of softmax."""
    along = either(axis, "axis", dim, "dim")
    try:
        return nn.log_softmax(logits, -1 if along is None else along, name)
    except REFUSED:
        return redirect(log_softmax, logits, axis, name=name, dim=dim)


@export("compat.v1.nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None):
    """Cross entropy. The labels get no gradient."""
    labels = raw.StopGradient(_core.convert(labels))
    return nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis, name)


@export("compat.v1.nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """Cross entropy."""
    axis = either(axis, "axis", dim, "dim")
    return nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


@export("compat.v1.nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """Cross entropy with classes given by number. The arguments must be keywords."""
    if _sentinel is not None:
        raise ValueError("Only call `sparse_softmax_cross_entropy_with_logits` with named arguments (labels=..., "
                         "logits=..., ...).")
    return nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


@export("compat.v1.nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """Cross entropy of independent classes, in which positive labels are weighted by `pos_weight`."""
    return nn.weighted_cross_entropy_with_logits(either(labels, "labels", targets, "targets"), logits, pos_weight, name)


@export("compat.v1.nn.conv2d")
def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True,  # noqa: A002
           data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):
    """2-D convolution."""
    return conv.conv2d(input, either(filter, "filter", filters, "filters"), strides, padding, data_format,
                       list(dilations) if isinstance(dilations, tuple) else dilations, name)


@export("compat.v1.nn.conv3d")
def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC",  # noqa: A002
           dilations=(1, 1, 1, 1, 1), name=None, filters=None):
    """3-D convolution."""
    return conv.conv3d(input, either(filter, "filter", filters, "filters"), strides, padding, data_format,
                       list(dilations) if isinstance(dilations, tuple) else dilations, name)


@export("compat.v1.nn.conv1d")
def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
           input=None, dilations=None):  # noqa: A002
    """1-D convolution."""
    return conv.conv1d(either(value, "value", input, "input"), filters, stride, padding,
                       data_format=data_format or "NWC", dilations=dilations, name=name)


@export("compat.v1.nn.convolution")
def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None,  # noqa: A002
                filters=None, dilations=None):
    """Convolution over as many dimensions as the filter has before its last two."""
    filter = either(filter, "filter", filters, "filters")
    dilations = either(dilations, "dilations", dilation_rate, "dilation_rate")
    return conv.convolution(input, filter, strides, padding, data_format, dilations, name)


@export("compat.v1.nn.conv2d_backprop_filter")
def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,  # noqa: A002
                           data_format="NHWC", dilations=(1, 1, 1, 1), name=None):
    """The gradient of conv2d with respect to its filter."""
    padding, pairs = padding_of(padding, 2)
    return raw.Conv2DBackpropFilter(input, filter_sizes, out_backprop, strides=strides, padding=padding,
                                    explicit_paddings=pairs, data_format=data_format, dilations=list(dilations),
                                    name=name)


@export("compat.v1.nn.conv2d_backprop_input")
def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None, padding=None,  # noqa: A002
                          use_cudnn_on_gpu=True, data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):
    """The gradient of conv2d with respect to its input."""
    padding, pairs = padding_of(padding, 2)
    return raw.Conv2DBackpropInput(input_sizes, either(filter, "filter", filters, "filters"), out_backprop,
                                   strides=strides, padding=padding, explicit_paddings=pairs,
                                   data_format=data_format, dilations=list(dilations), name=name)


@export("compat.v1.nn.conv3d_backprop_filter", "compat.v1.nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NDHWC",  # noqa: A002
                           dilations=(1, 1, 1, 1, 1), name=None):
    """The gradient of conv3d with respect to its filter."""
    return raw.Conv3DBackpropFilterV2(input, filter_sizes, out_backprop, strides=strides, padding=padding,
                                      data_format=data_format, dilations=list(dilations), name=name)


offer(conv.depthwise_conv2d_backprop_input, "compat.v1.nn.depthwise_conv2d_native_backprop_input")
offer(conv.depthwise_conv2d_backprop_filter, "compat.v1.nn.depthwise_conv2d_native_backprop_filter")


@export("compat.v1.nn.conv2d_transpose")
def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME",  # noqa: A002
                     data_format="NHWC", name=None, input=None, filters=None, dilations=None):  # noqa: A002
    """Transposed convolution: the gradient of conv2d with respect to its input."""
    return conv.conv2d_transpose(either(value, "value", input, "input"), either(filter, "filter", filters, "filters"),
                                 output_shape, strides, padding, data_format, dilations, name)


@export("compat.v1.nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None,  # noqa: A002
                     dilations=None):
    """Depthwise convolution: each channel is convolved separately."""
    return conv.depthwise_conv2d(input, filter, strides, padding, data_format,
                                 either(dilations, "dilations", rate, "rate"), name)


@export("compat.v1.nn.depthwise_conv2d_native")
def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC",  # noqa: A002
                            dilations=(1, 1, 1, 1), name=None):
    """Depthwise convolution with the arguments of the op DepthwiseConv2dNative."""
    return raw.DepthwiseConv2dNative(input, filter, strides=strides, padding=padding, data_format=data_format,
                                     dilations=list(dilations), name=name)


def _pool(word):
    def pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):  # noqa: A002
        value = either(value, "value", input, "input")
        op = getattr(pooling, word + "2d")
        return op(value, ksize, strides, padding, data_format, name)

    pool.__name__ = word
    pool.__doc__ = f"{word} over windows of `value`."
    return pool


offer(_pool("max_pool"), "compat.v1.nn.max_pool")
offer(_pool("avg_pool"), "compat.v1.nn.avg_pool", "compat.v1.nn.avg_pool2d")


@export("compat.v1.nn.xw_plus_b")
def xw_plus_b(x, weights, biases, name=None):
    """x @ weights + biases."""
    return raw.BiasAdd(raw.MatMul(_core.convert(x), _core.convert(weights)), biases, name=name)


@export("compat.v1.nn.relu_layer")
def relu_layer(x, weights, biases, name=None):
    """relu(x @ weights + biases)."""
    return raw.Relu(xw_plus_b(x, weights, biases), name=name)


@export("compat.v1.nn.in_top_k", "compat.v1.math.in_top_k")
def in_top_k(predictions, targets, k, name=None):
    """Whether the target is among the k largest predictions."""
    return raw.InTopKV2(predictions, targets, _core.convert(k, _core.convert(targets).dtype), name=name)


@export("compat.v1.nn.crelu")
def crelu(features, name=None, axis=-1):
    """Concatenates relu(features) and relu(-features) along `axis`."""
    return nn.crelu(features, axis, name)


@export("compat.v1.nn.embedding_lookup")
def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """Looks up rows of an embedding table, which may consist of several partitions."""
    return embedding.lookup(params, ids, partition_strategy, max_norm, name)


@export("compat.v1.nn.embedding_lookup_sparse")
def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None, allow_fast_lookup=False):
    """Looks up the rows of an embedding table for a sparse matrix of ids, and combines them for each row of the matrix."""
    return embedding.lookup_sparse(params, sp_ids, sp_weights, partition_strategy, combiner, max_norm, name)


@export("compat.v1.nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean",
                                 default_id=None, name=None, partition_strategy="div", max_norm=None,
                                 allow_fast_lookup=False):
    """embedding_lookup_sparse that ignores negative ids and weights that are not positive."""
    return embedding.safe_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, partition_strategy, combiner,
                                        default_id, max_norm, name)


@export("compat.v1.nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
                                         scale_after_normalization=None, name=None, input=None,  # noqa: A002
                                         mean=None, variance=None):
    """Normalisation by given means and variances."""
    return nn.batch_normalization(either(t, "t", input, "input"), either(m, "m", mean, "mean"),
                                  either(v, "v", variance, "variance"), beta,
                                  gamma if scale_after_normalization else None, variance_epsilon, name)


@export("compat.v1.nn.nce_loss")
def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    """Noise-contrastive estimation."""
    return sampling.nce(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                        remove_accidental_hits, partition_strategy)


@export("compat.v1.nn.sampled_softmax_loss")
def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    """Cross entropy over the true and some sampled classes."""
    return sampling.sampled_softmax(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                    remove_accidental_hits, partition_strategy, seed)
