"""Losses over many classes that use only a few sampled ones, and the samplers of candidate classes."""
from ..namespace import export
from .common import convert, dtypes, raw
from .embedding import lookup
from .nn import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .random import _seeds


def _sampler(op, *names):
    def sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
        return op(convert(true_classes, dtypes.int64), num_true=num_true, num_sampled=num_sampled, unique=unique,
                  range_max=range_max, **_seeds(seed), name=name)

    sampler.__name__ = names[0].rpartition(".")[2]
    sampler.__doc__ = "(sampled classes, expected counts of the true classes, expected counts of the sampled classes)."
    return export(*names)(sampler)


uniform_candidate_sampler = _sampler(raw.UniformCandidateSampler, "random.uniform_candidate_sampler",
                                     "compat.v1.nn.uniform_candidate_sampler")
log_uniform_candidate_sampler = _sampler(raw.LogUniformCandidateSampler, "random.log_uniform_candidate_sampler",
                                         "compat.v1.nn.log_uniform_candidate_sampler")


@export("nn.compute_accidental_hits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """The sampled classes that are true ones: (rows, indices among the samples, weights: the lowest float)."""
    return raw.ComputeAccidentalHits(convert(true_classes, dtypes.int64), convert(sampled_candidates, dtypes.int64),
                                     num_true=num_true, **_seeds(seed), name=name)


def sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                   remove_accidental_hits, strategy, seed=None):
    """(logits of the true and sampled classes, minus the logarithms of their expected counts; labels)."""
    weights = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    inputs = convert(inputs)
    labels = raw.Cast(convert(labels), dtypes.int64)
    flat = raw.Reshape(labels, [-1])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(raw.Reshape(labels, [-1, num_true]), num_true, num_sampled, True,
                                                       num_classes, seed)
    sampled, of_true, of_sampled = (raw.StopGradient(convert(v)) for v in sampled_values)
    sampled = raw.Cast(sampled, dtypes.int64)
    ids = raw.ConcatV2([flat, sampled], 0)
    count = raw.Reshape(raw.Size(flat), [1])
    rows = lookup(weights, ids, strategy)
    rows = rows if rows.dtype == inputs.dtype else raw.Cast(rows, inputs.dtype)
    whole, rest = raw.ConcatV2([count, [-1]], 0), raw.ConcatV2([count, [0]], 0)
    true_rows, other_rows = raw.Slice(rows, [0, 0], whole), raw.Slice(rows, rest, [-1, -1])
    others = raw.MatMul(inputs, other_rows, transpose_b=True)
    shifts = lookup(biases, ids, strategy)
    shifts = shifts if shifts.dtype == inputs.dtype else raw.Cast(shifts, inputs.dtype)
    true_shift, other_shift = raw.Slice(shifts, [0], count), raw.Slice(shifts, count, [-1])
    width = raw.Shape(inputs)[1]
    grouped = raw.Reshape(true_rows, raw.Pack([-1, num_true, width]))
    true = raw.Sum(raw.Mul(raw.ExpandDims(inputs, 1), grouped), [2])
    true = raw.AddV2(true, raw.Reshape(true_shift, [-1, num_true]))
    others = raw.AddV2(others, other_shift)
    if remove_accidental_hits:
        row, place, hide = compute_accidental_hits(raw.Reshape(labels, [-1, num_true]), sampled, num_true, seed)
        at = raw.Pack([row, raw.Cast(place, dtypes.int32)], axis=1)
        others = raw.TensorScatterAdd(others, at, raw.Cast(hide, others.dtype))
    true = raw.Sub(true, raw.Log(raw.Cast(of_true, true.dtype)))
    others = raw.Sub(others, raw.Log(raw.Cast(of_sampled, others.dtype)))
    made = raw.ConcatV2([true, others], 1)
    wanted = raw.ConcatV2([raw.RealDiv(raw.OnesLike(true), convert(num_true, true.dtype)), raw.ZerosLike(others)], 1)
    return made, wanted


def nce(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        strategy):
    """nce_loss with a partition strategy for the weights."""
    logits, wanted = sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                    remove_accidental_hits, strategy)
    return raw.Sum(sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits), [1])


def sampled_softmax(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                    remove_accidental_hits, strategy, seed):
    """sampled_softmax_loss with a partition strategy for the weights."""
    logits, wanted = sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                    remove_accidental_hits, strategy, seed)
    return softmax_cross_entropy_with_logits(labels=raw.StopGradient(wanted), logits=logits)


@export("nn.nce_loss")
def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, name="nce_loss"):
    """The noise-contrastive estimation loss: independent logistic losses of the true and the sampled classes."""
    return nce(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
               "div")


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """Cross entropy over the true and some sampled classes."""
    return sampled_softmax(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                           remove_accidental_hits, "div", seed)
