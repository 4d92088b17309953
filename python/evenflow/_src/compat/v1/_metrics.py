"""tf.compat.v1.metrics: a metric is a pair of a tensor, computed from local variables, and an op that updates the variables
with a batch."""
from ... import _core, dtypes, graph as graphs
from ...namespace import export
from ...ops.counting import confusion_matrix
from ._keys import GraphKeys
from ._losses import _check_weights
from ._scopes import variable_scope
from ._variables import VariableV1

raw = _core.raw
_TINY = 1e-7


def _zeros(shape, name, dtype=dtypes.float32):
    """A variable of a metric."""
    if _core.current_graph() is None:
        raise RuntimeError("tf.metrics is not supported when eager execution is enabled: use tf.keras.metrics")
    return VariableV1(lambda: raw.Fill(_core.convert(shape, dtypes.int32), _core.convert(0, dtype)), trainable=False,
                      collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES], name=name)


def _float(x):
    x = _core.convert(x)
    return x if x.dtype is dtypes.float32 else raw.Cast(x, dtypes.float32)


def _sum(x, axes=None):
    dims = _core.static_shape(x)
    return raw.Sum(x, axes if axes is not None else list(range(len(dims))) if dims is not None else raw.Range(0, raw.Rank(x), 1))


def _ratio(top, bottom, name):
    """top / bottom, and 0 where bottom is not positive."""
    return raw.SelectV2(raw.Greater(bottom, 0.0), raw.DivNoNan(top, bottom), raw.ZerosLike(bottom), name=name)


def _squeezed(labels, predictions, weights):
    """Labels, predictions and weights, with a last dimension of size 1 removed where the others do not have it."""
    labels, predictions = _core.convert(labels), _core.convert(predictions)
    one, two = _core.static_shape(labels), _core.static_shape(predictions)
    if one is not None and two is not None:
        if len(two) == len(one) + 1 and two[-1] in (1, None):
            predictions = raw.Squeeze(predictions, squeeze_dims=[-1])
        elif len(one) == len(two) + 1 and one[-1] in (1, None):
            labels = raw.Squeeze(labels, squeeze_dims=[-1])
    if weights is not None:
        weights = _float(weights)
        have, want = _core.static_shape(weights), _core.static_shape(predictions)
        if have is not None and want is not None and len(have) == len(want) + 1 and have[-1] in (1, None):
            weights = raw.Squeeze(weights, squeeze_dims=[-1])
        elif have is not None and want is not None and len(want) == len(have) + 1 and have:
            weights = raw.ExpandDims(weights, -1)
    return labels, predictions, weights


def _spread(weights, values):
    """The weights, broadcast to the shape of the values."""
    with graphs.control_dependencies(_check_weights(values, weights)):
        return raw.Mul(weights, raw.OnesLike(values))


def _collected(value, update, metrics, updates):
    for names, one in ((metrics, value), (updates, update)):
        if names:
            graphs.get_default_graph().add_to_collections(names, one)
    return value, update


def _needs_pair(labels, predictions):
    if labels is None or predictions is None:
        raise ValueError("labels and predictions must not be None")


# ---- means --------------------------------------------------------------------------------------------------------------------


@export("compat.v1.metrics.mean")
def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of all values so far."""
    with variable_scope(name, "mean", [values, weights]):
        return _mean(_float(values), weights, metrics_collections, updates_collections)


def _mean(values, weights, metrics, updates):
    total, count = _zeros([], "total"), _zeros([], "count")
    if weights is None:
        number = raw.Cast(raw.Size(values), dtypes.float32)
    else:
        values, _, weights = _squeezed(values, values, weights)
        weights = _spread(weights, values)
        values, number = raw.Mul(values, weights), _sum(weights)
    with graphs.control_dependencies([values]):
        more = total.assign_add(_sum(values)), count.assign_add(number)
    value = raw.DivNoNan(total.value(), count.value(), name="value")
    return _collected(value, raw.DivNoNan(*more, name="update_op"), metrics, updates)


@export("compat.v1.metrics.mean_tensor")
def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of tensors of one shape, element by element."""
    with variable_scope(name, "mean", [values, weights]):
        values = _float(values)
        shape = list(_core.static_shape(values))
        total, count = _zeros(shape, "total_tensor"), _zeros(shape, "count_tensor")
        number = raw.OnesLike(values)
        if weights is not None:
            number = _spread(_float(weights), values)
            values = raw.Mul(values, number)
        with graphs.control_dependencies([values]):
            more = total.assign_add(values), count.assign_add(number)
        value = _ratio(total.value(), count.value(), "value")
        return _collected(value, _ratio(*more, "update_op"), metrics_collections, updates_collections)


@export("compat.v1.metrics.accuracy")
def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted share of predictions that equal their labels."""
    _needs_pair(labels, predictions)
    with variable_scope(name, "accuracy", [predictions, labels, weights]):
        labels, predictions, weights = _squeezed(labels, predictions, weights)
        if labels.dtype != predictions.dtype:
            predictions = raw.Cast(predictions, labels.dtype)
        right = raw.Cast(raw.Equal(predictions, labels), dtypes.float32)
        return _mean(right, weights, metrics_collections, updates_collections)


def _difference(name, measure, root=False):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _needs_pair(labels, predictions)
        labels, predictions, weights = _squeezed(labels, predictions, weights)
        with variable_scope(name, word, [predictions, labels, weights]):
            values = measure(_float(predictions), _float(labels))
            if not root:
                return _mean(values, weights, metrics_collections, updates_collections)
            value, update = _mean(values, weights, None, None)
            return _collected(raw.Sqrt(value), raw.Sqrt(update), metrics_collections, updates_collections)

    word = name
    metric.__name__ = name
    metric.__doc__ = f"The weighted {name.replace('_', ' ')} of all predictions so far."
    return export(f"compat.v1.metrics.{name}")(metric)


mean_squared_error = _difference("mean_squared_error", raw.SquaredDifference)
mean_absolute_error = _difference("mean_absolute_error", lambda p, y: raw.Abs(raw.Sub(p, y)))
root_mean_squared_error = _difference("root_mean_squared_error", raw.SquaredDifference, True)


@export("compat.v1.metrics.mean_relative_error")
def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None,
                        name=None):
    """The mean of absolute errors, each divided by its normalizer."""
    _needs_pair(labels, predictions)
    labels, predictions, weights = _squeezed(labels, predictions, weights)
    by = _float(normalizer)
    with variable_scope(name, "mean_relative_error", [predictions, labels, weights]):
        away = raw.Abs(raw.Sub(_float(labels), _float(predictions)))
        values = raw.SelectV2(raw.Equal(by, 0.0), raw.ZerosLike(away), raw.RealDiv(away, by))
        return _mean(values, weights, metrics_collections, updates_collections)


@export("compat.v1.metrics.mean_cosine_distance")
def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """1 - the mean of inner products along `dim`."""
    labels, predictions, weights = _squeezed(labels, predictions, weights)
    near = raw.Sum(raw.Mul(_float(predictions), _float(labels)), [dim], keep_dims=True)
    value, update = mean(near, weights, None, None, name or "mean_cosine_distance")
    one = _core.convert(1.0)
    return _collected(one - value, one - update, metrics_collections, updates_collections)


@export("compat.v1.metrics.percentage_below")
def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted share of values below a threshold."""
    below = raw.Cast(raw.Less(_float(values), _core.convert(threshold, dtypes.float32)), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


# ---- hits and misses -------------------------------------------------------------------------------------------------------------


def _count(flags, weights, name, shape=()):
    """(variable with the weighted count of true flags, its value after this batch)."""
    counter = _zeros(list(shape), name)
    return counter, counter.assign_add(_weighted_flags(flags, weights))


def _weighted_flags(flags, weights):
    ones = raw.Cast(flags, dtypes.float32)
    return _sum(ones if weights is None else raw.Mul(ones, _spread(weights, ones)))


def _bools(labels, predictions, weights):
    labels, predictions, weights = _squeezed(labels, predictions, weights)
    return raw.Cast(labels, dtypes.bool), raw.Cast(predictions, dtypes.bool), weights


_CELLS = {  # cell of the confusion matrix -> (whether the label is true, whether the prediction is true)
    "true_positives": (True, True), "false_negatives": (True, False),
    "true_negatives": (False, False), "false_positives": (False, True),
}


def _cell(name, labels, predictions):
    label, prediction = _CELLS[name]
    return raw.LogicalAnd(labels if label else raw.LogicalNot(labels),
                          predictions if prediction else raw.LogicalNot(predictions))


def _counter(name):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, word, [predictions, labels, weights]):
            labels, predictions, weights = _bools(labels, predictions, weights)
            counter, update = _count(_cell(word, labels, predictions), weights, "count")
            return _collected(counter.value(), update, metrics_collections, updates_collections)

    word = name
    metric.__name__ = name
    metric.__doc__ = f"The weighted number of {name.replace('_', ' ')}."
    export(f"compat.v1.metrics.{name}")(metric)


for _name in _CELLS:
    _counter(_name)


def _share(name, other):
    """precision and recall: true positives divided by the sum of true positives and another cell."""
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _needs_pair(labels, predictions)
        with variable_scope(name, word, [predictions, labels, weights]):
            labels, predictions, weights = _bools(labels, predictions, weights)
            with variable_scope("true_positives"):
                hits, more = _count(_cell("true_positives", labels, predictions), weights, "count")
            with variable_scope(other):
                misses, more_misses = _count(_cell(other, labels, predictions), weights, "count")
            value = _ratio(hits.value(), raw.AddV2(hits.value(), misses.value()), "value")
            return _collected(value, _ratio(more, raw.AddV2(more, more_misses), "update_op"), metrics_collections,
                              updates_collections)

    word = name
    metric.__name__ = name
    metric.__doc__ = f"True positives among true positives and {other.replace('_', ' ')}."
    return export(f"compat.v1.metrics.{name}")(metric)


precision = _share("precision", "false_positives")
recall = _share("recall", "false_negatives")

# ---- at thresholds ----------------------------------------------------------------------------------------------------------------


def _at_thresholds(labels, predictions, thresholds, weights, cells):
    """(variables with the counts of the cells at each threshold, their values after this batch)."""
    labels, predictions, weights = _squeezed(labels, predictions, weights)
    flat = raw.Reshape(_float(predictions), [1, -1])
    truth = raw.Reshape(raw.Cast(labels, dtypes.bool), [1, -1])
    limits = raw.Reshape(_core.convert(list(thresholds), dtypes.float32), [-1, 1])
    above = raw.Greater(flat, limits)
    truth = raw.LogicalAnd(truth, raw.OnesLike(above))
    by = None if weights is None else raw.Reshape(_spread(weights, _float(predictions)), [1, -1])
    variables, updates = {}, {}
    for name in cells:
        ones = raw.Cast(_cell(name, truth, above), dtypes.float32)
        variables[name] = _zeros([len(thresholds)], name)
        updates[name] = variables[name].assign_add(raw.Sum(ones if by is None else raw.Mul(ones, by), [1]))
    return {name: v.value() for name, v in variables.items()}, updates


def _counter_at(name):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with variable_scope(name, word, [predictions, labels, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, [word])
            return _collected(values[word], updates[word], metrics_collections, updates_collections)

    word = name
    metric.__name__ = f"{name}_at_thresholds"
    metric.__doc__ = f"The weighted number of {name.replace('_', ' ')} at each threshold."
    export(f"compat.v1.metrics.{metric.__name__}")(metric)


for _name in _CELLS:
    _counter_at(_name)


def _share_at(name, other):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with variable_scope(name, word, [predictions, labels, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, ["true_positives", other])

            def share(found, called):
                hits = found["true_positives"]
                return raw.RealDiv(hits, raw.AddV2(raw.AddV2(_core.convert(_TINY), hits), found[other]), name=called)

            return _collected(share(values, "value"), share(updates, "update_op"), metrics_collections,
                              updates_collections)

    word = f"{name}_at_thresholds"
    metric.__name__ = word
    metric.__doc__ = f"The {name} at each threshold."
    export(f"compat.v1.metrics.{word}")(metric)


_share_at("precision", "false_positives")
_share_at("recall", "false_negatives")


def _area(x, y, method):
    """The area under a curve through points that are sorted by decreasing x."""
    width = raw.Sub(x[:-1], x[1:])
    heights = {"trapezoidal": lambda a, b: raw.Mul(raw.AddV2(a, b), 0.5), "minoring": raw.Minimum, "majoring": raw.Maximum}
    return _sum(raw.Mul(width, heights[method](y[:-1], y[1:])))


@export("compat.v1.metrics.auc")
def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None):
    """The area under the ROC or the precision-recall curve, from counts at thresholds."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR. Curve {curve} is unknown.")
    if summation_method not in ("trapezoidal", "minoring", "majoring"):
        raise ValueError(f"Invalid summation_method: {summation_method}; it must be trapezoidal, minoring or majoring")
    inner = sorted(thresholds) if thresholds is not None else [(i + 1) / (num_thresholds - 1)
                                                               for i in range(num_thresholds - 2)]
    with variable_scope(name, "auc", [labels, predictions, weights]):
        values, updates = _at_thresholds(labels, predictions, [0.0 - _TINY, *inner, 1.0 + _TINY], weights, list(_CELLS))

        def area(found, called):
            tiny = _core.convert(_TINY)
            hits, alarms = found["true_positives"], found["false_positives"]
            missed, quiet = found["false_negatives"], found["true_negatives"]
            rate = raw.RealDiv(raw.AddV2(hits, tiny), raw.AddV2(raw.AddV2(hits, missed), tiny))
            if curve == "ROC":
                x, y = raw.RealDiv(alarms, raw.AddV2(raw.AddV2(alarms, quiet), tiny)), rate
            else:
                x, y = rate, raw.RealDiv(raw.AddV2(hits, tiny), raw.AddV2(raw.AddV2(hits, alarms), tiny))
            return raw.Identity(_area(x, y, summation_method), name=called)

        return _collected(area(values, "value"), area(updates, "update_op"), metrics_collections, updates_collections)


# ---- by classes ---------------------------------------------------------------------------------------------------------------------


@export("compat.v1.metrics.mean_iou")
def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean over classes of intersection over union. The update op is the confusion matrix."""
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        labels, predictions = (raw.Reshape(raw.Cast(_core.convert(x), dtypes.int64), [-1]) for x in (labels, predictions))
        weights = None if weights is None else raw.Reshape(_float(weights), [-1])
        total = _zeros([num_classes, num_classes], "total_confusion_matrix")
        more = confusion_matrix(labels, predictions, num_classes, weights, dtypes.float32)
        update = total.assign_add(more)
        matrix = total.value()
        hits, rows, columns = raw.MatrixDiagPart(matrix), raw.Sum(matrix, [1]), raw.Sum(matrix, [0])
        union = raw.Sub(raw.AddV2(rows, columns), hits)
        present = raw.Cast(raw.Greater(union, 0.0), dtypes.float32)
        value = raw.DivNoNan(_sum(raw.DivNoNan(hits, union)), _sum(present), name="mean_iou")
        return _collected(value, update, metrics_collections, updates_collections)


@export("compat.v1.metrics.mean_per_class_accuracy")
def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """The mean over classes of the share of correct predictions."""
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels, predictions = (raw.Reshape(raw.Cast(_core.convert(x), dtypes.int64), [-1]) for x in (labels, predictions))
        ones = raw.Cast(raw.OnesLike(labels), dtypes.float32)
        right = raw.Cast(raw.Equal(labels, predictions), dtypes.float32)
        if weights is not None:
            weights = raw.Reshape(_float(weights), [-1])
            ones, right = raw.Mul(ones, weights), raw.Mul(right, weights)
        total, count = _zeros([num_classes], "total"), _zeros([num_classes], "count")
        more_count = count.assign_add(raw.UnsortedSegmentSum(ones, labels, num_classes))
        more_total = total.assign_add(raw.UnsortedSegmentSum(right, labels, num_classes))
        value = raw.DivNoNan(total.value(), count.value())
        dims = [0]
        return _collected(raw.Mean(value, dims, name="mean_accuracy"), raw.DivNoNan(more_total, more_count, name="update_op"),
                          metrics_collections, updates_collections)
