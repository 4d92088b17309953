"""tf.signal: Fourier transforms, framing, and short-time Fourier transforms."""
from .. import errors
from ..namespace import export, offer_ops
from .common import convert, dtypes, normal_axis, np, raw, rank_of, static_shape, static_value

offer_ops("""
    FFT | input | signal.fft compat.v1.fft compat.v1.spectral.fft
    FFT2D | input | signal.fft2d compat.v1.fft2d compat.v1.spectral.fft2d
    FFT3D | input | signal.fft3d compat.v1.fft3d compat.v1.spectral.fft3d
    IFFT | input | signal.ifft compat.v1.ifft compat.v1.spectral.ifft
    IFFT2D | input | signal.ifft2d compat.v1.ifft2d compat.v1.spectral.ifft2d
    IFFT3D | input | signal.ifft3d compat.v1.ifft3d compat.v1.spectral.ifft3d
""")


def size_of(x, axis):
    """A size of a tensor: an int if it is known, else a tensor."""
    dims = static_shape(x)
    known = None if dims is None else dims[axis]
    return raw.Shape(x)[axis] if known is None else known


def shape_with(x, *ends, drop=1):
    """The shape of `x` with `ends` in place of its last `drop` sizes, as a tensor or a list."""
    rank = rank_of(x)
    sizes = [size_of(x, k) for k in range(rank - drop)] + list(ends)
    return sizes if all(isinstance(s, int) for s in sizes) else raw.Pack([convert(s, dtypes.int32) for s in sizes])


def pi_of(dtype):
    return convert(np.pi, dtype)


# ---- transforms of real numbers ---------------------------------------------------------------------------------------


def _lengths(x, n, fft_length, full):
    """The lengths of a transform over the last `n` axes: as given, or those of the input. `full` computes the length of the
    last axis, of which the input has only one half."""
    if fft_length is not None:
        fft_length = convert(fft_length, dtypes.int32)
        dims = static_shape(fft_length)
        if dims is not None and dims != (n,) and len(dims) != 1:
            raise ValueError(f"fft_length must be a vector of {n} lengths, got shape {list(dims)}")
        return fft_length
    sizes = [size_of(x, k) for k in range(-n, 0)]
    sizes[-1] = full(sizes[-1])
    return convert(sizes, dtypes.int32) if all(isinstance(s, int) for s in sizes) else raw.Pack([convert(s) for s in sizes])


def _whole(size):
    return max(0, 2 * (size - 1)) if isinstance(size, int) else raw.Maximum(0, 2 * (size - 1))


def _check_empty(x, lengths, n):
    """Raises InvalidArgumentError for an empty input that would need padding: as in TensorFlow, it is not padded."""
    dims = static_shape(x)
    if dims is None or 0 not in dims:
        return
    known = static_value(lengths)
    for k, (size, length) in enumerate(zip(dims[-n:], () if known is None else known), len(dims) - n):
        if size is not None and size < length:
            raise errors.InvalidArgumentError(
                None, None, f"Input dimension {k} must have length of at least {length} but got: {size}. The input, of "
                f"shape {list(dims)}, is empty, and an empty input is not padded with zeros")


def _named(n):
    return "" if n == 1 else f"{n}d"


def _need_axes(x, n):
    dims = static_shape(x)
    if dims is not None and len(dims) < n:
        raise ValueError(f"Shape {tuple(dims)} must have rank at least {n}: the transform is over that many axes")


def _real(n):
    forward, inverse = (getattr(raw, f"{word}{_named(n).upper()}") for word in ("RFFT", "IRFFT"))

    def rfft(input_tensor, fft_length=None, name=None):
        x = convert(input_tensor, None, dtypes.float32)
        if x.dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"rfft takes float32 or float64, not {x.dtype.name}")
        _need_axes(x, n)
        kind = dtypes.complex64 if x.dtype is dtypes.float32 else dtypes.complex128
        lengths = _lengths(x, n, fft_length, lambda size: size)
        _check_empty(x, lengths, n)
        return forward(x, lengths, Tcomplex=kind, name=name)

    def irfft(input_tensor, fft_length=None, name=None):
        x = convert(input_tensor, None, dtypes.complex64)
        _need_axes(x, n)
        kind = dtypes.float32 if x.dtype is dtypes.complex64 else dtypes.float64
        return inverse(x, _lengths(x, n, fft_length, _whole), Treal=kind, name=name)

    rfft.__doc__ = f"The Fourier transform of real numbers over {n} ax{'i' if n == 1 else 'e'}s; only its first half."
    irfft.__doc__ = "Real numbers from the first half of their Fourier transform."
    for function, word in ((rfft, "rfft"), (irfft, "irfft")):
        function.__name__ = function.__qualname__ = word + _named(n)
        export(*(f"{home}signal.{function.__name__}" for home in ("", "compat.v1.")),
               f"compat.v1.spectral.{function.__name__}")(function)
    return rfft, irfft


rfft, irfft = _real(1)
rfft2d, irfft2d = _real(2)
rfft3d, irfft3d = _real(3)


def _axes_and_lengths(x, fft_length, axes, full=lambda size: size):
    """(axes, lengths) of a transform over any axes."""
    if axes is None:
        count = rank_of(x) if fft_length is None else len(fft_length)
        axes = list(range(-count, 0))
    if fft_length is None:
        sizes = [size_of(x, int(k)) for k in axes]
        sizes[-1] = full(sizes[-1])
        fft_length = sizes if all(isinstance(s, int) for s in sizes) else raw.Pack([convert(s) for s in sizes])
    return convert(fft_length, dtypes.int32), convert(axes, dtypes.int32)


@export("signal.fftnd", "fftnd")
def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform over any axes."""
    x = convert(input_tensor, None, dtypes.complex64)
    return raw.FFTND(x, *_axes_and_lengths(x, fft_length, axes), name=name)


@export("signal.ifftnd", "ifftnd")
def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse Fourier transform over any axes."""
    x = convert(input_tensor, None, dtypes.complex64)
    return raw.IFFTND(x, *_axes_and_lengths(x, fft_length, axes), name=name)


@export("signal.rfftnd", "rfftnd")
def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of real numbers over any axes; only the first half along the last of them."""
    x = convert(input_tensor, None, dtypes.float32)
    kind = dtypes.complex64 if x.dtype is dtypes.float32 else dtypes.complex128
    return raw.RFFTND(x, *_axes_and_lengths(x, fft_length, axes), Tcomplex=kind, name=name)


@export("signal.irfftnd", "irfftnd")
def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Real numbers from the first half of their Fourier transform over any axes."""
    x = convert(input_tensor, None, dtypes.complex64)
    kind = dtypes.float32 if x.dtype is dtypes.complex64 else dtypes.float64
    return raw.IRFFTND(x, *_axes_and_lengths(x, fft_length, axes, _whole), Treal=kind, name=name)


def _rolled(x, axes, name, inverse):
    x = convert(x)
    axes = list(range(rank_of(x))) if axes is None else [axes] if isinstance(axes, int) else [int(a) for a in axes]
    by = []
    for axis in axes:
        size = size_of(x, axis)
        by.append(-(size // 2) if inverse else size // 2)
    if not axes:
        return raw.Identity(x, name=name)
    shift = by if all(isinstance(s, int) for s in by) else raw.Pack([convert(s) for s in by])
    return raw.Roll(x, convert(shift, dtypes.int32), convert(axes, dtypes.int32), name=name)


@export("signal.fftshift")
def fftshift(x, axes=None, name=None):
    """Moves the zero frequency to the center."""
    return _rolled(x, axes, name, False)


@export("signal.ifftshift")
def ifftshift(x, axes=None, name=None):
    """Undoes fftshift."""
    return _rolled(x, axes, name, True)


# ---- frames -----------------------------------------------------------------------------------------------------------------


@export("signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Splits an axis into frames of `frame_length` elements, which start every `frame_step` elements."""
    signal = convert(signal)
    axis = normal_axis(axis, rank_of(signal))
    length, step = _plain(frame_length), _step(frame_step)
    size = size_of(signal, axis)
    if pad_end:
        count = -(-size // step)
        extra = _at_least_zero(length + step * (count - 1) - size)
        pads = [[0, extra if k == axis else 0] for k in range(rank_of(signal))]
        signal = raw.PadV2(signal, _matrix(pads), convert(pad_value, signal.dtype))
    else:
        count = _at_least_zero(1 + (size - length) // step)
    starts = raw.Range(0, count, 1) * step
    at = raw.AddV2(raw.ExpandDims(starts, 1), raw.ExpandDims(raw.Range(0, length, 1), 0))
    if axis == 0:  # the gradient of what is gathered from the first axis would be IndexedSlices, and a signal is dense
        return raw.Squeeze(raw.GatherV2(raw.ExpandDims(signal, 0), at, 1), [0], name=name)
    return raw.GatherV2(signal, at, axis, name=name)


def _plain(value):
    """An int if the value is known, else a tensor."""
    if isinstance(value, int):
        return value
    value = convert(value, dtypes.int32)
    known = static_value(value)
    return value if known is None else int(known)


def _step(value):
    """The frame step. Raises InvalidArgumentError if it is 0, because lengths are divided by it."""
    step = _plain(value)
    if isinstance(step, int) and step == 0:
        raise errors.InvalidArgumentError(
            None, None, "Integer division by zero: frame_step is 0; it must be at least 1")
    return step


def _at_least_zero(value):
    return max(0, value) if isinstance(value, int) else raw.Maximum(value, 0)


def _matrix(rows):
    if all(isinstance(v, int) for row in rows for v in row):
        return convert(rows, dtypes.int32)
    return raw.Pack([raw.Pack([convert(v, dtypes.int32) for v in row]) for row in rows])


@export("signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """Reconstructs a signal from frames that start every `frame_step` elements. Overlapping parts are added.

    Each frame is split into pieces of one step. If a row of zeros is appended to the frames and the pieces are reshaped row
    by row, each row of pieces is shifted by one frame, so the sum over the rows is the signal."""
    signal = convert(signal)
    step = _step(frame_step)
    rank = rank_of(signal)
    if rank is None:
        sizes = raw.Shape(signal)
        one = overlap_and_add(raw.Reshape(signal, raw.Pack([-1, sizes[-2], sizes[-1]])), frame_step)
        return raw.Reshape(one, raw.ConcatV2([sizes[:-2], raw.Shape(one)[1:]], 0), name=name)
    frames, length = size_of(signal, -2), size_of(signal, -1)
    pieces = -(-length // step)
    wanted = length + step * (frames - 1)
    pads = [[0, 0]] * (rank - 1) + [[0, pieces * step - length]]
    x = raw.Reshape(raw.Pad(signal, _matrix(pads)), shape_with(signal, frames, pieces, step, drop=2))
    x = raw.Transpose(x, [*range(rank - 2), rank - 1, rank - 2, rank])
    x = raw.Pad(x, _matrix([[0, 0]] * (rank - 1) + [[0, pieces], [0, 0]]))
    x = raw.Reshape(x, shape_with(signal, pieces * (frames + pieces), step, drop=2))
    kept = pieces * (frames + pieces - 1)
    x = raw.Slice(x, [0] * rank, shape_with(x, kept, step, drop=2))
    x = raw.Sum(raw.Reshape(x, shape_with(signal, pieces, frames + pieces - 1, step, drop=2)), [rank - 2])
    x = raw.Reshape(x, shape_with(signal, (frames + pieces - 1) * step, drop=2))
    return raw.Slice(x, [0] * (rank - 1), shape_with(x, wanted), name=name)


# ---- short-time Fourier transforms --------------------------------------------------------------------------------------------


def _enclosing(length):
    """The smallest power of two that is at least `length`."""
    return 1 << max(0, length - 1).bit_length() if isinstance(length, int) else raw.Cast(
        raw.Pow(2.0, raw.Ceil(raw.Log(raw.Cast(length, dtypes.float32)) / convert(np.log(2.0), dtypes.float32))), dtypes.int32)


def _hann(*args, **kwargs):
    from .signal_windows import hann_window  # signal_windows.py imports this file

    return hann_window(*args, **kwargs)


@export("signal.stft")
def stft(signals, frame_length, frame_step, fft_length=None, window_fn=_hann, pad_end=False, name=None):
    """The short-time Fourier transform: Fourier transforms of overlapping, windowed frames."""
    signals = convert(signals)
    length = _plain(frame_length)
    fft_length = _enclosing(length) if fft_length is None else _plain(fft_length)
    frames = frame(signals, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, [fft_length], name=name)


@export("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=_hann, name=None):
    """The window with which inverse_stft inverts a stft with `forward_window_fn`."""
    step = _step(frame_step)

    def window(frame_length, dtype):
        length = _plain(frame_length)
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = raw.Pad(raw.Square(forward), _matrix([[0, overlaps * step - length]]))
        norm = raw.Sum(raw.Reshape(squares, [overlaps, step]), [0], keep_dims=True)
        norm = raw.Reshape(raw.Tile(norm, [overlaps, 1]), [overlaps * step])
        return raw.DivNoNan(forward, norm[:length])

    return window


@export("signal.inverse_stft")
def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=_hann, name=None):
    """A signal from its short-time Fourier transform."""
    stfts = convert(stfts)
    length = _plain(frame_length)
    fft_length = _enclosing(length) if fft_length is None else _plain(fft_length)
    frames = irfft(stfts, [fft_length])
    have = size_of(frames, -1)
    if isinstance(have, int) and isinstance(length, int):
        if have > length:
            frames = frames[..., :length]
        elif have < length:
            frames = raw.Pad(frames, [[0, 0]] * (rank_of(frames) - 1) + [[0, length - have]])
    else:
        frames = frames[..., :length]
        more = _at_least_zero(length - have)
        frames = raw.Pad(frames, _matrix([[0, 0]] * (rank_of(frames) - 1) + [[0, more]]))
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step, name)
