"""Fourier transforms of every kind of length, of one and of many lines, along the last axis and others, against numpy."""
import numpy as np
import pytest

import evenflow as tf


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(request.param)
    yield request.param
    tf.config.threading.set_intra_op_parallelism_threads(before)


def close(got, want, dtype):
    want = np.asarray(want)
    error = np.sqrt(np.mean(np.abs(got.numpy() - want) ** 2) / max(np.mean(np.abs(want) ** 2), 1e-30))
    assert error < (2e-6 if dtype in (np.complex64, np.float32) else 4e-15), (error, want.shape)


SMALL = [1, 2, 3, 4, 5, 6, 7, 9, 15, 25, 27, 45, 60, 64, 67, 125, 134, 243, 360, 625, 1000, 2048, 2187]
LARGE = [4095, 4096, 5000, 8192, 10007, 12500, 16384, 20011, 49152, 65536, 81000, 100000, 131072, 250000]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("lines", [1, 2, 15, 16, 17, 40])
def test_many_lines(dtype, lines):
    rng = np.random.default_rng(1)
    for n in SMALL:
        x = (rng.standard_normal((lines, n)) + 1j * rng.standard_normal((lines, n))).astype(dtype)
        close(tf.signal.fft(tf.constant(x)), np.fft.fft(x), dtype)
        close(tf.signal.ifft(tf.constant(x)), np.fft.ifft(x), dtype)
        close(tf.signal.fft2d(tf.constant(x)), np.fft.fft2(x), dtype)
        cube = np.stack([x, 2 * x, x[::-1]])
        for axis in (0, 1, 2):
            size = cube.shape[axis]
            for length in (size, size + 3, max(size - 1, 1)):
                got = tf.raw_ops.FFTND(input=cube, fft_length=[length], axes=[axis])
                close(got, np.fft.fft(cube, length, axis), dtype)


@pytest.mark.parametrize("n", LARGE)
def test_long_lines(n):
    rng = np.random.default_rng(2)
    for real, dtype in ((np.float32, np.complex64), (np.float64, np.complex128)):
        for lines in (1, 3):
            x = (rng.standard_normal((lines, n)) + 1j * rng.standard_normal((lines, n))).astype(dtype)
            close(tf.signal.fft(tf.constant(x)), np.fft.fft(x), dtype)
            close(tf.signal.ifft(tf.constant(x)), np.fft.ifft(x), dtype)
            r = x.real.astype(real)
            for length in (n, n + 1, n - 2):
                close(tf.signal.rfft(tf.constant(r), [length]), np.fft.rfft(r, length), dtype)
            half = np.fft.rfft(r).astype(dtype)
            close(tf.signal.irfft(tf.constant(half), [n]), r, dtype)
            close(tf.raw_ops.FFTND(input=x.T.copy(), fft_length=[n], axes=[0]), np.fft.fft(x.T, axis=0), dtype)
