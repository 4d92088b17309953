"""tf.compat.v1.losses: weighted losses, which are also added to a collection."""
from ... import _core, dtypes, graph as graphs
from ...shapes import agree
from ...namespace import export
from ...ops.nn import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from ...ops.debug import Assert
from ._keys import GraphKeys, get_collection

raw = _core.raw


@export("compat.v1.losses.Reduction")
class Reduction:
    """How the elements of a loss are reduced to one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def _sum(x, axis=None, keep=False):
    if axis is None:
        dims = _core.static_shape(x)
        axis = list(range(len(dims))) if dims is not None else raw.Range(0, raw.Rank(x), 1)
    return raw.Sum(x, axis, keep_dims=keep)


def _safe_mean(total, count):
    return raw.DivNoNan(total, count, name="value")


def _present(losses, weights):
    """The number of elements with a nonzero weight, after broadcasting."""
    ones = raw.SelectV2(raw.Equal(weights, raw.ZerosLike(weights)), raw.ZerosLike(weights), raw.OnesLike(weights))
    return _sum(raw.Mul(ones, raw.OnesLike(losses)))


def _check_weights(losses, weights):
    """Checks that the weights are a scalar, or have the rank of the losses with sizes that are equal or 1. Raises ValueError
    if the shapes are known; else returns the assertions to run first."""
    have, want = _core.static_shape(weights), _core.static_shape(losses)
    if have is None or want is None:
        return [_fits(losses, weights)]
    if len(have) == 0:
        return []
    if len(have) != len(want):
        raise ValueError(f"weights can not be broadcast to values. values.rank={len(want)}. weights.rank={len(have)}. "
                         f"values.shape={want}. weights.shape={have}.")
    for k, (h, w) in enumerate(zip(have, want)):
        if h != 1 and not _core.same_size(weights, k, losses, k) and _core.seen_size(weights, k) != 1 \
                and not _core.sizes_agree(weights, k, losses, k):
            raise ValueError(f"weights can not be broadcast to values. values.shape={losses.shape}. "
                             f"weights.shape={weights.shape}.")
    return [_fits(losses, weights)] if None in have or None in want else []


def _fits(losses, weights):
    """The check of `_check_weights` as ops of the graph. It fails if broadcasting would add a dimension to the weights, or
    would make the product larger than the losses."""
    have, want = raw.Shape(weights), raw.Shape(losses)
    rank = raw.Reshape(raw.Minimum(raw.Rank(weights), raw.Rank(losses)), [1])
    ours, theirs = raw.Slice(have, [0], rank), raw.Slice(want, [0], rank)
    sizes = raw.All(raw.LogicalOr(raw.Equal(ours, theirs), raw.Equal(ours, 1)), [0])
    same = raw.LogicalAnd(sizes, raw.Equal(raw.Rank(weights), raw.Rank(losses)))
    good = raw.LogicalOr(raw.Equal(raw.Rank(weights), 0), same)
    return Assert(good, ["weights can not be broadcast to values. weights.shape=", have, "values.shape=", want])


@export("compat.v1.losses.compute_weighted_loss")
def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=BY_WEIGHTS):
    """Weights and reduces the losses, and adds the result to the collection."""
    Reduction.validate(reduction)
    with graphs.name_scope(scope or "weighted_loss"):
        return _weighted(losses, weights, loss_collection, reduction)


def _weighted(losses, weights, loss_collection, reduction):
    losses = _core.convert(losses)
    kind = losses.dtype
    losses = losses if kind is dtypes.float32 else raw.Cast(losses, dtypes.float32)
    weights = _core.convert(weights, None, dtypes.float32)
    weights = weights if weights.dtype is dtypes.float32 else raw.Cast(weights, dtypes.float32)
    with graphs.control_dependencies(_check_weights(losses, weights)):
        loss = _reduced(losses, weights, reduction)
        loss = loss if kind is dtypes.float32 else raw.Cast(loss, kind)
    add_loss(loss, loss_collection)
    return loss


def _reduced(losses, weights, reduction):
    weighted = raw.Mul(losses, weights)
    if reduction == Reduction.NONE:
        return weighted
    loss = _sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(loss, _sum(raw.Mul(raw.OnesLike(losses), weights)))
    if reduction == BY_WEIGHTS:
        return _safe_mean(loss, _present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(loss, raw.Cast(raw.Size(losses), dtypes.float32))
    return loss


@export("compat.v1.losses.add_loss")
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Adds a loss to a collection of its graph. Eagerly it does nothing."""
    if loss_collection and _core.is_symbolic(loss):
        loss.graph.add_to_collection(loss_collection, loss)


@export("compat.v1.losses.get_losses")
def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """The losses collected so far."""
    return get_collection(loss_collection, scope)


@export("compat.v1.losses.get_regularization_losses")
def get_regularization_losses(scope=None):
    """The losses that regularizers made."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("compat.v1.losses.get_regularization_loss")
def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses that regularizers made."""
    found = get_regularization_losses(scope)
    return raw.AddN(found, name=name) if found else _core.convert(0.0)


@export("compat.v1.losses.get_total_loss")
def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses collected."""
    found = get_losses(scope)
    if add_regularization_losses:
        found = found + get_regularization_losses(scope)
    if not found:
        raise ValueError("get_total_loss: the collection of losses is empty")
    return raw.AddN(found, name=name)


def _pair(predictions, labels):
    if predictions is None:
        raise ValueError("Argument `predictions` must not be None.")
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    predictions, labels = _core.convert(predictions), _core.convert(labels)
    predictions = predictions if predictions.dtype is dtypes.float32 else raw.Cast(predictions, dtypes.float32)
    labels = labels if labels.dtype is dtypes.float32 else raw.Cast(labels, dtypes.float32)
    if not agree(predictions.shape, labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return predictions, labels


@export("compat.v1.losses.mean_squared_error")
def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                       reduction=BY_WEIGHTS):
    """Squared differences."""
    predictions, labels = _pair(predictions, labels)
    with graphs.name_scope(scope or "mean_squared_error") as scope:
        losses = raw.SquaredDifference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.absolute_difference")
def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                        reduction=BY_WEIGHTS):
    """Absolute differences."""
    predictions, labels = _pair(predictions, labels)
    with graphs.name_scope(scope or "absolute_difference") as scope:
        losses = raw.Abs(raw.Sub(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.huber_loss")
def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
               reduction=BY_WEIGHTS):
    """The Huber loss: squared for small differences, linear beyond `delta`."""
    predictions, labels = _pair(predictions, labels)
    with graphs.name_scope(scope or "huber_loss") as scope:
        limit = _core.convert(delta, dtypes.float32)
        away = raw.Abs(raw.Sub(predictions, labels))
        near = raw.Minimum(away, limit)
        half = _core.convert(0.5, dtypes.float32)
        losses = raw.AddV2(half * near * near, limit * (away - near))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.log_loss")
def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=GraphKeys.LOSSES,
             reduction=BY_WEIGHTS):
    """Cross entropy of probabilities."""
    predictions, labels = _pair(predictions, labels)
    with graphs.name_scope(scope or "log_loss") as scope:
        tiny, one = _core.convert(epsilon, dtypes.float32), _core.convert(1.0, dtypes.float32)
        hit = labels * raw.Log(predictions + tiny)
        miss = (one - labels) * raw.Log(one - predictions + tiny)
        return compute_weighted_loss(raw.Neg(hit) - miss, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.hinge_loss")
def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=BY_WEIGHTS):
    """max(0, 1 - label * logit) with labels 0 and 1 taken as -1 and 1."""
    logits, labels = _pair(logits, labels)
    with graphs.name_scope(scope or "hinge_loss") as scope:
        one, two = _core.convert(1.0, dtypes.float32), _core.convert(2.0, dtypes.float32)
        losses = raw.Relu(one - (two * labels - one) * logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.cosine_distance")
def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                    reduction=BY_WEIGHTS, dim=None):
    """1 minus the inner product, along `axis`, of vectors that have length 1."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    predictions, labels = _pair(predictions, labels)
    with graphs.name_scope(scope or "cosine_distance_loss") as scope:
        losses = _core.convert(1.0) - _sum(predictions * labels, [axis], True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES):
    """The mean squared error between the pairwise differences of the elements within each row."""
    predictions, labels = _pair(predictions, labels)
    weights = raw.Cast(_core.convert(weights, None, dtypes.float32), dtypes.float32)
    with graphs.name_scope(scope or "mean_pairwise_squared_error") as scope:
        diffs = predictions - labels
        axis = list(range(1, len(_core.static_shape(diffs))))
        per = raw.OnesLike(diffs)
        count = _sum(raw.Mul(raw.OnesLike(weights), per), axis, True)
        one, two = _core.convert(1.0), _core.convert(2.0)
        first = two * _safe_mean(_sum(diffs * diffs, axis, True), raw.Maximum(count - one, raw.ZerosLike(count)))
        whole = _sum(diffs, axis, True)
        second = two * _safe_mean(whole * whole, raw.Maximum(count * (count - one), raw.ZerosLike(count)))
        loss = raw.Mul(first - second, weights)
        total = _sum(loss)
        value = raw.SelectV2(raw.Greater(_sum(count), _core.convert(0.0)), total, raw.ZerosLike(total), name="value")
        add_loss(value, loss_collection)
        return value


@export("compat.v1.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=BY_WEIGHTS):
    """Cross entropy of independent classes."""
    if multi_class_labels is None or logits is None:
        raise ValueError("Arguments `multi_class_labels` and `logits` must not be None.")
    logits = _core.convert(logits)
    labels = raw.Cast(_core.convert(multi_class_labels), logits.dtype)
    with graphs.name_scope(scope or "sigmoid_cross_entropy_loss") as scope:
        if label_smoothing > 0:
            labels = labels * _core.convert(1 - label_smoothing, logits.dtype) \
                + _core.convert(0.5 * label_smoothing, logits.dtype)
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@export("compat.v1.losses.softmax_cross_entropy")
def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=BY_WEIGHTS):
    """Cross entropy of one class per row, given as rows of probabilities."""
    if onehot_labels is None or logits is None:
        raise ValueError("Arguments `onehot_labels` and `logits` must not be None.")
    logits = _core.convert(logits)
    labels = raw.Cast(_core.convert(onehot_labels), logits.dtype)
    if not agree(logits.shape, labels.shape):
        raise ValueError(f"Shapes {logits.shape} and {labels.shape} are incompatible")
    with graphs.name_scope(scope or "softmax_cross_entropy_loss") as scope:
        if label_smoothing > 0:
            classes = raw.Cast(raw.StridedSlice(raw.Shape(labels), [1], [2], [1], shrink_axis_mask=1), logits.dtype)
            labels = labels * _core.convert(1 - label_smoothing, logits.dtype) \
                + _core.convert(label_smoothing, logits.dtype) / classes
        losses = softmax_cross_entropy_with_logits(labels=raw.StopGradient(labels), logits=logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _as_flat_as(labels, weights):
    """The weights, with a last dimension of size 1 removed if the labels do not have it."""
    have, dims = _core.static_shape(weights), _core.static_shape(labels)
    if have is not None and len(have) == 0:
        return weights
    if have is not None and dims is not None:
        extra = len(have) == len(dims) + 1 and have[-1] in (1, None)
        return raw.Squeeze(weights, squeeze_dims=[-1]) if extra else weights
    extra = raw.Cast(raw.Equal(raw.Rank(weights), raw.AddV2(raw.Rank(labels), 1)), dtypes.int32)
    rank = raw.Reshape(raw.Sub(raw.Rank(weights), extra), [1])
    return raw.Reshape(weights, raw.Slice(raw.Shape(weights), [0], rank))


@export("compat.v1.losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                                 reduction=BY_WEIGHTS):
    """Cross entropy of one class per row, given by number."""
    if labels is None or logits is None:
        raise ValueError("Arguments `labels` and `logits` must not be None.")
    labels, logits = _core.convert(labels), _core.convert(logits)
    with graphs.name_scope(scope or "sparse_softmax_cross_entropy_loss") as scope:
        dims, wide = _core.static_shape(labels), _core.static_shape(logits)
        if dims is not None and wide is not None and len(dims) == len(wide):
            labels = raw.Squeeze(labels, squeeze_dims=[-1])
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        weights = _core.convert(weights, None, dtypes.float32)
        weights = _as_flat_as(labels, weights)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
