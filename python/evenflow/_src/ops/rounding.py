"""Rounding floats to what integers of some bits can represent, with a gradient."""
from ..errors import InvalidArgumentError
from ..gradients import custom_gradient
from ..namespace import export
from .common import convert, rank_of, raw
from .debug import Assert, with_dependencies


def _range_of(x, axis):
    """The least and the largest value of `x`, or of each of its slices along `axis`."""
    rank = rank_of(x)
    if rank is not None:
        axes = [d for d in range(rank) if d != axis]
    elif axis is None:
        axes = raw.Range(0, raw.Rank(x), 1)
    else:
        axes = raw.ConcatV2([raw.Range(0, axis, 1), raw.Range(axis + 1, raw.Rank(x), 1)], 0)
    return raw.Min(x, axes), raw.Max(x, axes)


def _shape_of_ends(x, axis):
    """The shape in which a number, or one number for each slice along `axis`, is broadcast to `x`."""
    if axis is None:
        return []
    rank = rank_of(x)
    if rank is not None:
        return [1] * axis + [-1] + [1] * (rank - axis - 1)
    return raw.ConcatV2([[1] * axis + [-1], raw.Fill(raw.Reshape(raw.Sub(raw.Rank(x), axis + 1), [1]), 1)], 0)


def _scales(low, high, signed, bits, narrow):
    """(scale, its inverse, low, high): the range is widened on one side, so that 0 is one of the values."""
    least = -(2 ** (bits - 1)) + narrow if signed else 0
    most = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
    dtype, zero = low.dtype, raw.ZerosLike(low)
    least, most, never = convert(float(least), dtype), convert(float(most), dtype), convert(dtype.max, dtype)
    by_low = raw.SelectV2(raw.Greater(raw.Mul(least, low), zero), raw.DivNoNan(least, low), never)
    by_high = raw.SelectV2(raw.Greater(raw.Mul(most, high), zero), raw.DivNoNan(most, high), never)
    lower = raw.Less(by_low, by_high)
    inverse = raw.SelectV2(lower, raw.DivNoNan(low, least), raw.RealDiv(high, most))
    return (raw.SelectV2(lower, by_low, by_high), inverse, raw.SelectV2(lower, low, raw.Mul(least, inverse)),
            raw.SelectV2(lower, raw.Mul(most, inverse), high))


@export("quantization.quantize_and_dequantize_v2")
def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,  # noqa: A002
                               round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """Rounds floats to what integers of `num_bits` bits can represent, and back. The gradient passes where the input is between
    `input_min` and `input_max`, even if these do not set the range.

    Without `range_given` the range is that of the input, or of each slice along `axis`, which may count from the end."""
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise ValueError(f"round_mode must be 'HALF_TO_EVEN' or 'HALF_UP', not {round_mode!r}")
    x = convert(input)
    if not 1 <= num_bits <= 63:
        raise InvalidArgumentError(None, None, f"QuantizeAndDequantizeV4: num_bits is out of range: it is {num_bits} and must be between "
                                   f"1 and 63")
    rank = rank_of(x)
    if axis is not None and axis < 0 and rank is None:
        raise ValueError(f"QuantizeAndDequantizeV4: axis is {axis}, but the rank of input is not known; input should have known rank "
                         "to use a negative axis")
    if axis is not None and rank is not None and not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, f"QuantizeAndDequantizeV4: axis is {axis}; it must be at least {-rank} and less than "
                                   f"the rank of input, which is {rank}")
    axis = axis + rank if axis is not None and axis < 0 else axis
    low, high = convert(input_min, x.dtype), convert(input_max, x.dtype)
    if range_given:
        ordered = Assert(raw.All(raw.LessEqual(low, high), raw.Range(0, raw.Rank(low), 1)),
                         ["QuantizeAndDequantizeV4: Invalid range: input_min must not be above input_max:", low, high])
        low = with_dependencies([ordered], low)

    @custom_gradient
    def rounded(x, low, high):
        shape = _shape_of_ends(x, axis)
        low, high = raw.Reshape(low, shape), raw.Reshape(high, shape)
        ends = (low, high) if range_given else (raw.Reshape(end, shape) for end in _range_of(x, axis))
        scale, inverse, least, most = _scales(*ends, signed_input, num_bits, bool(narrow_range))
        inside = raw.Minimum(raw.Maximum(x, least), most) if range_given else x
        steps = raw.Mul(inside, scale)
        steps = raw.Rint(steps) if round_mode == "HALF_TO_EVEN" else raw.Floor(raw.AddV2(steps, convert(0.5, x.dtype)))

        def gradient(upstream):
            kept = raw.LogicalAnd(raw.GreaterEqual(x, low), raw.LessEqual(x, high))
            return raw.SelectV2(kept, upstream, raw.ZerosLike(upstream)), None, None
        return raw.Mul(steps, inverse, name=name), gradient

    return rounded(x, low, high)


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,  # noqa: A002
                            round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """The older name of quantize_and_dequantize_v2, whose gradient passes everywhere."""
    @custom_gradient
    def through(x):
        found = quantize_and_dequantize_v2(x, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,
                                           narrow_range, axis)
        return found, lambda upstream: upstream
    return through(convert(input))
