"""Type stubs of evenflow.nn. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True, name=None):
    """(the `k` largest elements along an axis, their indices). The result is exact for any `recall_target`."""

def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True, name=None):
    """(the `k` smallest elements along an axis, their indices). The result is exact for any `recall_target`."""

def atrous_conv2d(value, filters, rate, padding, name=None):
    """2-D convolution with dilation `rate`."""

def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """Transposed atrous_conv2d: its gradient with respect to the input."""

def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window, over 1, 2 or 3 dimensions."""

def avg_pool1d(input, ksize, strides, padding, data_format='NWC', name=None):
    """The mean of each window of a sequence."""

def avg_pool2d(input, ksize, strides, padding, data_format='NHWC', name=None):
    """The mean of each window of an image."""

def avg_pool3d(input, ksize, strides, padding, data_format='NDHWC', name=None):
    """The mean of each window of a volume."""

def batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None):
    """Batch normalization, scaled by `gamma` if `scale_after_normalization`."""

def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon), times `scale`, plus `offset`."""

def bias_add(value, bias, data_format=None, name=None):
    """Adds `bias` to each channel."""

def collapse_repeated(labels, seq_length, name=None):
    """Merges repeated neighbouring labels. Returns (shortened labels, their lengths)."""

def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """The sampled classes that are true ones: (rows, indices among the samples, weights: the lowest float)."""

def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of (weighted) losses divided by the global batch size."""

def conv1d(input, filters, stride, padding, data_format='NWC', dilations=None, name=None):
    """1-D convolution of sequences with `filters` [width, in, out], computed as a 2-D one of height 1."""

def conv1d_transpose(input, filters, output_shape, strides, padding='SAME', data_format='NWC', dilations=None, name=None):
    """Transposed 1-D convolution: the gradient of conv1d with respect to its input. `filters` are [width, out, in]."""

def conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None, name=None):
    """2-D convolution of images with `filters` [height, width, in, out]."""

def conv2d_transpose(input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, name=None):
    """Transposed 2-D convolution: the gradient of conv2d by its input. `filters` are [height, width, out, in]."""

def conv3d(input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None):
    """3-D convolution of volumes with `filters` [depth, height, width, in, out]."""

def conv3d_transpose(input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', dilations=None, name=None):
    """Transposed 3-D convolution: the gradient of conv3d with respect to its input. `filters` are [depth, height, width, out,"""

def conv_transpose(input, filters, output_shape, strides, padding='SAME', data_format=None, dilations=None, name=None):
    """Transposed convolution over as many dimensions as `filters` has before its last two."""

def convolution(input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None):
    """Convolution over as many dimensions as `filters` has before its last two."""

def crelu(features, axis=-1, name=None):
    """Concatenates relu(x) and relu(-x) along `axis`."""

def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most likely label sequences by beam search: (list of SparseTensors, their log probabilities)."""

def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """Decodes with the best class of each frame, without blanks. Returns (list of one SparseTensor, scores)."""

def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None):
    """The negative log probability of each label sequence, for logits [frames, batch, classes]."""

def ctc_unique_labels(labels, name=None):
    """(the distinct values of each row of `labels`, for each label the index of its value)."""

def depth_to_space(input, block_size, data_format='NHWC', name=None):
    """Moves channels into blocks of pixels."""

def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """2-D convolution of each channel with its own filters; `filter` is [height, width, in, multiplier]."""

def depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format='NHWC', dilations=..., name=None):
    """The gradient of depthwise_conv2d with respect to its filter."""

def depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format='NHWC', dilations=..., name=None):
    """The gradient of depthwise_conv2d with respect to its input."""

def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """Greyscale dilation: the maximum of pixel plus filter over each window."""

def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Sets each element to 0 with probability `rate`, and scales the others by 1 / (1 - rate)."""

def elu(features, name=None) -> Tensor:
    """`exp(x) - 1` where `x` is negative, else `x`."""

def embedding_lookup(params, ids, max_norm=None, name=None):
    """Looks up rows of an embedding table, which may be a list of partitions of nearly equal size, by id."""

def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False):
    """Looks up the rows of an embedding table for a sparse or ragged matrix of ids, and combines them for each row of the"""

def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """Greyscale erosion: the minimum of pixel minus filter over each window."""

def gelu(features, approximate=False, name=None):
    """x times the cumulative normal distribution of x. With `approximate`, the formula with tanh is used."""

def in_top_k(targets, predictions, k, name=None):
    """Whether each target class is among the `k` highest predictions of its row."""

def isotonic_regression(inputs, decreasing=True, axis=-1):
    """(the nearest monotonic sequence along `axis` in the sense of least squares, the numbers of its constant segments)."""

def l2_loss(t, name=None) -> Tensor:
    """Half the sum of the squares of all elements."""

def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """`x` scaled to length 1 along `axis`; vectors shorter than sqrt(epsilon) are scaled less."""

def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, `alpha` x elsewhere."""

def local_response_normalization(input, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, name=None) -> Tensor:
    """Divides each element by a power of `bias` plus `alpha` times the squares of its neighbours among the channels."""

def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """The Poisson loss of `targets`, given the logarithm of the rate."""

def log_softmax(logits, axis=None, name=None):
    """log of softmax along `axis` (default: the last)."""

def lrn(input, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, name=None) -> Tensor:
    """Divides each element by a power of `bias` plus `alpha` times the squares of its neighbours among the channels."""

def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The maximum of each window, over 1, 2 or 3 dimensions."""

def max_pool1d(input, ksize, strides, padding, data_format='NWC', name=None):
    """The maximum of each window of a sequence."""

def max_pool2d(input, ksize, strides, padding, data_format='NHWC', name=None):
    """The maximum of each window of an image."""

def max_pool3d(input, ksize, strides, padding, data_format='NDHWC', name=None):
    """The maximum of each window of a volume."""

def max_pool_with_argmax(input, ksize, strides, padding, data_format='NHWC', output_dtype=..., include_batch_in_index=False, name=None):
    """(the maximum of each window, its index in the flattened image)."""

def moments(x, axes, shift=None, keepdims=False, name=None):
    """Mean and variance along `axes`. Half precision is computed in float32."""

def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, name='nce_loss'):
    """The noise-contrastive estimation loss: independent logistic losses of the true and the sampled classes."""

def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from the results of `sufficient_statistics`."""

def pool(input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, dilations=None, name=None):
    """Pooling ('MAX' or 'AVG') over windows, which may be dilated by `dilations`."""

def relu(features, name=None) -> Tensor:
    """`x` where it is positive, else 0."""

def relu6(features, name=None) -> Tensor:
    """`x` clipped to [0, 6]."""

def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, max_norm=None, name=None, allow_fast_lookup=False):
    """embedding_lookup_sparse over the last dimension of `sparse_ids`, which ignores negative ids and weights that are not"""

def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=None, name='sampled_softmax_loss'):
    """Cross entropy over the true and some sampled classes."""

def scale_regularization_loss(regularization_loss):
    """The sum of regularization losses divided by the number of replicas."""

def selu(features, name=None) -> Tensor:
    """The scaled exponential linear unit, which keeps the mean and variance of its input."""

def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None):
    """depthwise_conv2d followed by a 1 x 1 convolution."""

def sigmoid(x, name=None) -> Tensor:
    """The logistic function `1 / (1 + exp(-x))`."""

def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy of independent probabilities and sigmoid(logits)."""

def silu(features, beta=1.0):
    """x times the sigmoid of `beta` x."""

def softmax(logits, axis=None, name=None):
    """exp(x) divided by its sum along `axis` (default: the last)."""

def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of label distributions and softmax(logits) along `axis`."""

def softplus(features, name=None) -> Tensor:
    """`log(1 + exp(x))`: a smooth Relu."""

def softsign(features, name=None) -> Tensor:
    """`x / (1 + |x|)`: like Tanh, but it saturates more slowly."""

def space_to_batch(input, block_shape, paddings, name=None) -> Tensor:
    """Pads the spatial axes and moves the positions inside blocks of them into the batch."""

def space_to_depth(input, block_size, data_format='NHWC', name=None):
    """Moves blocks of pixels into the channels."""

def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy of class numbers and softmax(logits) along the last dimension."""

def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """(count, sum, sum of squares, shift) along `axes`, of the elements minus `shift`."""

def swish(features, beta=1.0):
    """x times the sigmoid of `beta` x."""

def tanh(x, name=None) -> Tensor:
    """The hyperbolic tangent of `x`."""

def top_k(input, k=1, sorted=True, index_type=..., name=None):
    """(the `k` largest elements along the last dimension, their indices)."""

def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """Like sigmoid_cross_entropy_with_logits, with the term of positive labels weighted by `pos_weight`."""

def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """The weighted mean and variance along `axes`."""

def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Applies `op(input, num_spatial_dims, padding)` with a dilated window, by moving space to the batch."""

def zero_fraction(value, name=None):
    """The fraction of elements that are zero, as float32."""
