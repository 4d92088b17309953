"""Windows of tf.signal, cosine transforms and the mel scale."""
from ..namespace import export
from .common import convert, dtypes, exchanged, normal_axis, np, raw, rank_of
from .signal import _at_least_zero, _matrix, _plain, frame, irfft, overlap_and_add, rfft, size_of

# ---- windows ---------------------------------------------------------------------------------------------------------------


def _float(dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    return dtype


def _raised_cosine(length, periodic, dtype, a, b, name):
    dtype, length = _float(dtype), _plain(length)
    if length == 1:
        return convert([1.0], dtype)
    odd = length % 2
    span = length + (1 if periodic else 0) * (1 - odd) - 1
    turn = raw.Range(0, length, 1)
    angle = convert(2 * np.pi, dtype) * raw.Cast(turn, dtype) / raw.Cast(convert(span, dtypes.int32), dtype)
    return raw.Sub(convert(a, dtype), raw.Mul(convert(b, dtype), raw.Cos(angle)), name=name)


@export("signal.hann_window")
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hann window: 0.5 - 0.5 cos."""
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5, name)


@export("signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hamming window: 0.54 - 0.46 cos."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46, name)


@export("signal.kaiser_window")
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The Kaiser window."""
    dtype, length = _float(dtype), _plain(window_length)
    if length == 1:
        return convert([1.0], dtype)
    half = (convert(length, dtypes.int32) if isinstance(length, int) else length) - 1
    half = raw.Cast(half, dtype) / convert(2.0, dtype)
    beta = convert(beta, dtype)
    x = raw.Cast(raw.Range(0, length, 1), dtype) - half
    root = beta * raw.Sqrt(raw.Maximum(convert(1.0, dtype) - raw.Square(x / half), convert(0.0, dtype)))
    scaled = raw.Exp(raw.Abs(root) - raw.Abs(beta))
    return raw.Mul(scaled, raw.BesselI0e(root) / raw.BesselI0e(beta), name=name)


@export("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The Kaiser-Bessel-derived window: its squares at two points half a window apart add up to 1."""
    half = _plain(window_length) // 2
    sums = raw.Cumsum(kaiser_window(half + 1, beta, dtype), 0)
    rise = raw.Sqrt(sums[:-1] / sums[-1])
    return raw.ConcatV2([rise, raw.ReverseV2(rise, [0])], 0, name=name)


@export("signal.vorbis_window")
def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The window of the Vorbis codec."""
    dtype, length = _float(dtype), _plain(window_length)
    x = raw.Cast(raw.Range(0, length, 1), dtype)
    angle = convert(np.pi, dtype) / raw.Cast(convert(length, dtypes.int32), dtype) * (x + convert(0.5, dtype))
    half = convert(np.pi / 2, dtype)
    return raw.Sin(half * raw.Square(raw.Sin(angle)), name=name)


# ---- cosine transforms ----------------------------------------------------------------------------------------------------------


def _check(kind, norm):
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported. Received type={kind}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _turn(n, dtype, sign):
    """2 exp(sign i pi k / 2n) for k below n, as complex numbers."""
    k = raw.Cast(raw.Range(0, n, 1), dtype)
    angle = k * (convert(sign * np.pi / 2, dtype) / _as_float(n, dtype))
    kind = dtypes.complex64 if dtype is dtypes.float32 else dtypes.complex128
    two = convert(2.0, dtype)
    return raw.Complex(two * raw.Cos(angle), two * raw.Sin(angle), Tout=kind)


def _as_float(n, dtype):
    return raw.Cast(convert(n, dtypes.int32), dtype)


def _parts(x):
    kind = dtypes.float32 if x.dtype is dtypes.complex64 else dtypes.float64
    return raw.Real(x, Tout=kind)


def _weighted(x, first, others):
    """x with its first element multiplied by `first` and the others by `others`."""
    n = size_of(x, -1)
    rest = raw.Fill(raw.Reshape(convert(n, dtypes.int32) - 1, [1]), others)
    return x * raw.ConcatV2([raw.Reshape(first, [1]), rest], 0)


def _transformed(x, kind, norm):
    """The cosine transform over the last axis."""
    dtype, n = x.dtype, size_of(x, -1)
    if kind == 1:
        return _parts(rfft(raw.ConcatV2([x, x[..., -2:0:-1]], -1)))
    if kind == 2:
        made = _parts(rfft(x, [2 * n])[..., :n] * _turn(n, dtype, -1))
        if norm == "ortho":
            least = convert(0.5, dtype) * raw.Rsqrt(_as_float(n, dtype))
            made = _weighted(made, least, least * convert(np.sqrt(2.0), dtype))
        return made
    if kind == 3:
        if norm == "ortho":
            most = raw.Sqrt(_as_float(n, dtype))
            x = _weighted(x, most, most * convert(np.sqrt(0.5), dtype))
        else:
            x = x * _as_float(n, dtype)
        turn = _turn(n, dtype, 1)
        return irfft(turn * raw.Complex(x, raw.ZerosLike(x), Tout=turn.dtype), [2 * n])[..., :n]
    made = _transformed(_padded(x, 2 * n), 2, None)[..., 1::2]
    if norm == "ortho":
        made = made * (convert(np.sqrt(0.5), dtype) * raw.Rsqrt(_as_float(n, dtype)))
    return made


def _padded(x, n):
    """Truncates the last axis, or pads it with zeros, to n elements."""
    have = size_of(x, -1)
    x = x[..., :n]
    more = _at_least_zero(n - have)
    return raw.Pad(x, _matrix([[0, 0]] * (rank_of(x) - 1) + [[0, more]])) if not isinstance(more, int) or more else x


def _real_input(x):
    x = convert(x)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"dct takes float32 or float64, not {x.dtype.name}")
    return x


def _need_two(x, kind):
    size = size_of(x, -1)
    if kind == 1 and isinstance(size, int) and size < 2:
        raise ValueError(f"Type-I DCT requires the dimension to be greater than one. Its length is {size}")


@export("signal.dct", "compat.v1.spectral.dct")
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):  # noqa: A002
    """The discrete cosine transform of type 1 to 4 over an axis."""
    _check(type, norm)
    x = _real_input(input)
    rank = rank_of(x)
    at = normal_axis(axis, rank)
    if at != rank - 1:
        perm = exchanged(at, rank)
        return raw.Transpose(dct(raw.Transpose(x, perm), type, n, -1, norm), perm, name=name)
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None, got {n}")
    if n is None:
        _need_two(x, type)
    made = _transformed(x if n is None else _padded(x, n), type, norm)
    return raw.Identity(made, name=name) if name else made


@export("signal.idct", "compat.v1.spectral.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):  # noqa: A002
    """The inverse of dct. Without norm="ortho" the result is scaled by twice the length (for type 1, twice the length minus
    one)."""
    _check(type, norm)
    if n is not None:
        raise NotImplementedError("idct: n is not supported; TensorFlow does not support it either")
    x = _real_input(input)
    rank = rank_of(x)
    at = normal_axis(axis, rank)
    if at != rank - 1:
        perm = exchanged(at, rank)
        return raw.Transpose(idct(raw.Transpose(x, perm), type, n, -1, norm), perm, name=name)
    _need_two(x, type)
    made = _transformed(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], norm)
    return raw.Identity(made, name=name) if name else made


@export("signal.mdct")
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified discrete cosine transform of frames that overlap by half."""
    signals = _real_input(signals)
    length = _plain(frame_length)
    if isinstance(length, int) and length % 4:
        raise ValueError(f"The frame length must be a multiple of 4: {length}")
    half = length // 2
    frames = frame(signals, length, half, pad_end)
    if window_fn is None:
        window = convert(np.sqrt(0.5), frames.dtype)
        frames = frames * window
    else:
        frames = frames * window_fn(length, dtype=frames.dtype)
    quarter = half // 2
    a, b, c, d = (frames[..., k * quarter:(k + 1) * quarter] for k in range(4))
    last = [rank_of(frames) - 1]
    first = raw.Neg(raw.ReverseV2(c, last)) - d
    second = a - raw.ReverseV2(b, last)
    return _transformed(raw.ConcatV2([first, second], -1), 4, norm)


@export("signal.inverse_mdct")
def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """The signal of a modified discrete cosine transform."""
    mdcts = _real_input(mdcts)
    half = size_of(mdcts, -1)
    made = _transformed(mdcts, 4, norm)
    if norm is None:
        made = made * (convert(0.5, mdcts.dtype) / _as_float(half, mdcts.dtype))
    quarter = half // 2
    first, second = made[..., :quarter], made[..., quarter:]
    last = [rank_of(made) - 1]
    back = raw.ReverseV2(first, last)
    frames = raw.ConcatV2([second, raw.Neg(raw.ReverseV2(second, last)), raw.Neg(back), raw.Neg(first)], -1)
    if window_fn is None:
        frames = frames * convert(np.sqrt(0.5), frames.dtype)
    else:
        frames = frames * window_fn(half * 2, dtype=frames.dtype)
    return overlap_and_add(frames, half, name)


# ---- the mel scale ------------------------------------------------------------------------------------------------------------


@export("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    """A matrix that converts spectra to mel spectra: triangular filters of equal width on the mel scale."""
    dtype = dtypes.as_dtype(dtype)
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    if not hasattr(sample_rate, "dtype") or hasattr(sample_rate, "item"):
        if sample_rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
        if upper_edge_hertz > sample_rate / 2:
            raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                             f"{upper_edge_hertz} for sample_rate: {sample_rate}")

    def mel(hertz):
        scale, corner = convert(1127.0, dtype), convert(700.0, dtype)
        return scale * raw.Log(convert(1.0, dtype) + hertz / corner)

    nyquist = raw.Cast(convert(sample_rate), dtype) / convert(2.0, dtype)
    zero = convert(0.0, dtype)
    linear = raw.LinSpace(zero, nyquist, num_spectrogram_bins)[1:]
    bins = raw.ExpandDims(mel(linear), 1)
    edges = raw.LinSpace(mel(convert(lower_edge_hertz, dtype)), mel(convert(upper_edge_hertz, dtype)), num_mel_bins + 2)
    low, middle, high = (raw.Reshape(edges[k:k + num_mel_bins], [1, num_mel_bins]) for k in range(3))
    rise = (bins - low) / (middle - low)
    fall = (high - bins) / (high - middle)
    weights = raw.Maximum(zero, raw.Minimum(rise, fall))
    return raw.Pad(weights, [[1, 0], [0, 0]], name=name)


@export("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Mel-frequency cepstral coefficients: the cosine transform of logarithms of mel spectra."""
    x = convert(log_mel_spectrograms)
    n = size_of(x, -1)
    if isinstance(n, int) and n == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {n}")
    return raw.Mul(_transformed(x, 2, None), raw.Rsqrt(_as_float(n, x.dtype) * convert(2.0, x.dtype)), name=name)

