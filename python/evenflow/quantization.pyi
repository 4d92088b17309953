"""Type stubs of evenflow.quantization. Written by tools/gen_stubs.py."""

from typing import Any

def fake_quant_with_min_max_args(inputs, min, max, num_bits, narrow_range, name=None):
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def fake_quant_with_min_max_args_gradient(gradients, inputs, min, max, num_bits, narrow_range, name=None):
    """Gradient of FakeQuantWithMinMaxArgs."""

def fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range, name=None):
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits, narrow_range, name=None):
    """Gradient of FakeQuantWithMinMaxVars."""

def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits, narrow_range, name=None):
    """As FakeQuantWithMinMaxVars, with bounds for each channel."""

def fake_quant_with_min_max_vars_per_channel_gradient(gradients, inputs, min, max, num_bits, narrow_range, name=None):
    """Gradient of FakeQuantWithMinMaxVarsPerChannel."""
