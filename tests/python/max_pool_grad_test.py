"""The gradient of max pooling against windows visited one by one: windows that overlap, that touch, and that leave gaps."""
import numpy as np
import pytest

import evenflow as tf


def _windows(size, kernel, stride, padding):
    """The positions that each window sees along one axis."""
    if padding == "VALID":
        return [range(s, s + kernel) for s in range(0, size - kernel + 1, stride)]
    count = -(-size // stride)
    before = max((count - 1) * stride + kernel - size, 0) // 2
    return [range(max(0, k * stride - before), min(size, k * stride - before + kernel)) for k in range(count)]


def _expected(x, dy, rows, columns):
    """The first largest element of a window gets its gradient."""
    dx = np.zeros_like(x)
    for i, window_rows in enumerate(rows):
        for j, window_columns in enumerate(columns):
            places = [(r, c) for r in window_rows for c in window_columns]
            for n in range(x.shape[0]):
                for k in range(x.shape[3]):
                    values = [x[n, r, c, k] for r, c in places]
                    r, c = places[int(np.argmax(values))]
                    dx[n, r, c, k] += dy[n, i, j, k]
    return dx


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("size", [(6, 6), (7, 5), (9, 11)])
@pytest.mark.parametrize("kernel, stride", [(2, 2), (3, 3), (2, 3), (1, 2), (3, 2), (3, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_windows(dtype, kernel, stride, size, padding):
    rng = np.random.default_rng(0)
    for channels in (1, 3, 67):
        x = rng.integers(-3, 4, (2, *size, channels)).astype(dtype)  # with many equal elements
        rows, columns = (_windows(s, kernel, stride, padding) for s in size)
        dy = rng.integers(1, 9, (2, len(rows), len(columns), channels)).astype(dtype)
        y = tf.nn.max_pool2d(x, kernel, stride, padding)
        dx = tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=dy, ksize=[1, kernel, kernel, 1],
                                    strides=[1, stride, stride, 1], padding=padding)
        np.testing.assert_array_equal(dx, _expected(x, dy, rows, columns))
