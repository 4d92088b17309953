"""Fourier transforms of many lengths, and over many axes, compared with numpy; shapes and errors."""
import numpy as np
import pytest

import evenflow as tf

s = tf.signal
rng = np.random.RandomState(0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 30, 61, 64, 67, 127, 134, 1000, 1009, 4096])
@pytest.mark.parametrize("real, kind, bound", [("f4", "c8", 3e-6), ("f8", "c16", 1e-13)])
def test_every_length(n, real, kind, bound):
    z = (rng.randn(2, n) + 1j * rng.randn(2, n)).astype(kind)
    x, half = rng.randn(2, n).astype(real), z[:, :n // 2 + 1]
    for found, want in ((s.fft(tf.constant(z)), np.fft.fft(z)), (s.ifft(tf.constant(z)), np.fft.ifft(z)),
                        (s.rfft(tf.constant(x)), np.fft.rfft(x)),
                        (s.irfft(tf.constant(half), [n]), np.fft.irfft(half, n))):
        assert found.shape == want.shape and abs(found.numpy() - want).max() <= bound * max(abs(want).max(), 1e-30)


def test_several_axes():
    z, x = rng.randn(2, 5, 6, 7) + 1j * rng.randn(2, 5, 6, 7), rng.randn(2, 5, 6, 7)
    c, r = tf.constant(z), tf.constant(x)
    for found, want in ((s.fft3d(c), np.fft.fftn(z, axes=(1, 2, 3))), (s.ifft2d(c), np.fft.ifft2(z)),
                        (s.rfft3d(r, [4, 8, 9]), np.fft.rfftn(x, (4, 8, 9), (1, 2, 3))),
                        (s.irfft3d(c, [4, 8, 9]), np.fft.irfftn(z, (4, 8, 9), (1, 2, 3))),
                        (s.fftnd(c, [3, 9], [0, 2]), np.fft.fftn(z, (3, 9), (0, 2))),
                        (s.ifftnd(c), np.fft.ifftn(z)), (s.rfftnd(r, [3, 9], [0, 2]), np.fft.rfftn(x, (3, 9), (0, 2))),
                        (s.irfftnd(c, [3, 9], [3, 1]), np.fft.irfftn(z, (3, 9), (3, 1)))):
        np.testing.assert_allclose(found.numpy(), want, atol=1e-12)


def test_lengths_that_only_running_tells():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64), tf.TensorSpec([], tf.int32)])
    def power(x, n):
        return tf.abs(s.rfft(x, [n])), s.inverse_stft(s.stft(x, 8, 4), 8, 4)

    for n in (8, 12):
        x = rng.randn(2, 16)
        got, back = power(x, n)
        np.testing.assert_allclose(got, abs(np.fft.rfft(x, n)), atol=1e-12)
        assert back.shape == (2, 16)


def test_gradients_of_real_transforms():
    x = tf.Variable(rng.randn(10))
    weights = tf.constant(rng.randn(7) + 1j * rng.randn(7))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.real(s.rfft(x, [12]) * weights))
    step, found = 1e-6, tape.gradient(y, x).numpy()
    for k in range(10):
        moved = x.numpy() + step * np.eye(10)[k]
        more = (np.fft.rfft(moved, 12) * weights.numpy()).real.sum()
        assert abs((more - y.numpy()) / step - found[k]) < 1e-4


@pytest.mark.parametrize("axis", [0, 1])
def test_the_gradient_of_frames_is_dense(axis):
    x = tf.constant(np.arange(6, dtype="f").reshape([6, 1] if axis == 0 else [1, 6]))
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.reduce_sum(tf.signal.frame(x, 3, 1, axis=axis) ** 2)
    g = t.gradient(y, x)
    assert isinstance(g, tf.Tensor)
    np.testing.assert_array_equal(g.numpy().ravel(), 2 * np.arange(6) * [1, 2, 3, 3, 2, 1])
    assert tf.signal.frame(x, 3, 1, axis=axis).shape == ([4, 3, 1] if axis == 0 else [1, 4, 3])


def test_what_is_rejected():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative"):
        s.rfft(tf.ones([4]), [-1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="one for each"):
        tf.raw_ops.RFFT(input=tf.ones([4]), fft_length=[4, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="named twice"):
        s.fftnd(tf.ones([4, 4], tf.complex64), [4, 4], [1, -1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank"):
        s.fft2d(tf.ones([4], tf.complex64))
    with pytest.raises(ValueError, match="float32 or float64"):
        s.rfft(tf.ones([4], tf.int32))
    assert s.fft(tf.zeros([0, 4], tf.complex64)).shape == [0, 4] and s.rfft(tf.zeros([3, 4]), [0]).shape == [3, 0]


@pytest.mark.parametrize("kind, want", [
    (1, [15.0, -4.0, 0.0, -1.0]), (2, [11.999626, -9.102943, 2.6176615, -1.5143447]),
    (3, [20.0, -6.3086443, 0.0, -0.44834089]), (4, [10.181593, -9.446695, 5.010298, -4.689565])])
def test_the_inverse_cosine_transform_is_not_scaled(kind, want):
    found = s.idct([1.0, 2.0, 3.0, 4.0], type=kind)
    assert found.dtype == tf.float32
    np.testing.assert_allclose(found, want, atol=2e-6)


def test_cosine_transforms_keep_the_type():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert s.dct(x).dtype == s.idct(x).dtype == s.mdct(x, 4).dtype == tf.float64
    np.testing.assert_allclose(s.idct(s.dct(x)) / 8, x, atol=1e-14)
    for transform in (s.dct, s.idct):
        with pytest.raises(TypeError, match="float16"):
            transform(np.ones(4, "float16"))
        with pytest.raises(TypeError, match="int64"):
            transform(np.arange(4))


def test_inverse_window_where_the_window_is_zero():
    window = s.inverse_stft_window_fn(7)(7, tf.float32)
    np.testing.assert_allclose(window[:6], [0.0, 4.0, 4 / 3, 1.0, 4 / 3, 4.0], atol=1e-5)
    assert not np.isnan(window).any()


def test_lengths_that_are_rejected():
    for call in (lambda: s.frame(tf.range(37.0), 8, 0), lambda: s.stft(tf.range(37.0), 8, 0),
                 lambda: s.frame(tf.range(37.0), 8, 0, pad_end=True), lambda: s.overlap_and_add(tf.ones([3, 4]), 0)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="frame_step is 0"):
            call()
    for transform in (s.dct, s.idct):
        with pytest.raises(ValueError, match="greater than one"):
            transform(tf.ones([2, 1]), type=1)
    for call in (lambda: s.rfft2d(tf.ones([5])), lambda: s.rfft2d(tf.ones([5]), [2, 2]),
                 lambda: s.irfft3d(tf.ones([5, 4], tf.complex64)), lambda: s.rfft(tf.ones([]))):
        with pytest.raises(ValueError, match="must have rank at least"):
            call()


@pytest.mark.parametrize("step", [1, 2, 5, 7])
def test_frames_of_unknown_rank_are_added(step):
    f = tf.function(lambda x: tf.signal.overlap_and_add(x, step), input_signature=[tf.TensorSpec(None)])
    for sizes in ([3, 5], [4, 3, 5], [2, 2, 4, 5]):
        x = np.arange(np.prod(sizes), dtype="float32").reshape(sizes)
        np.testing.assert_array_equal(f(x), tf.signal.overlap_and_add(x, step))
