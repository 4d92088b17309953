"""Floats as text: all digits as printf writes them, for values at and around ties and limits."""
import numpy as np
import pytest

import evenflow as tf


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("digits", [-1, 0, 1, 2, 6, 9, 12])
def test_fixed_decimals(dtype, digits):
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore"):
        x = np.concatenate([
            rng.standard_normal(300) * 10.0 ** rng.integers(-12, 17, 300),
            np.arange(-40, 40) / 8, np.arange(-40, 40) / 2**7 + 1000, (2 * np.arange(200) + 1) / 2**10,
            [0.0, -0.0, 0.5, 1.5, 2.5, 0.9999995, 0.99999949, 9.9999999999, 1e-7, 5e-7, 4.9999e-7, 1e-300, 5e-324, -1e-20,
             2.0**53, 2.0**53 - 1, -(2.0**53), 2.0**52 + 0.5, 1e18, 1e300, np.inf, -np.inf],
            2.0 ** -np.arange(40.0), 3 * 2.0 ** -np.arange(40.0), 1 - 2.0 ** -np.arange(1.0, 54)]).astype(dtype)
    want = [f"%.{6 if digits < 0 else digits}f" % float(v) for v in x]
    assert tf.strings.as_string(x, digits).numpy().astype(str).tolist() == want
    assert tf.strings.as_string(x[:50], digits, width=12).numpy().astype(str).tolist() == [w.rjust(12) for w in want[:50]]


def test_nan():
    assert tf.strings.as_string(np.float32(np.nan)).numpy() in (b"nan", b"-nan")
