"""Type stubs of evenflow.quantization. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def fake_quant_with_min_max_args(inputs, min=-6.0, max=6.0, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def fake_quant_with_min_max_args_gradient(gradients, inputs, min=-6.0, max=6.0, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """Gradient of FakeQuantWithMinMaxArgs."""

def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of FakeQuantWithMinMaxVars."""

def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False, name=None) -> Tensor:
    """Like FakeQuantWithMinMaxVars, with bounds for each channel."""

def fake_quant_with_min_max_vars_per_channel_gradient(gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of FakeQuantWithMinMaxVarsPerChannel."""

def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False, round_mode='HALF_TO_EVEN', name=None, narrow_range=False, axis=None):
    """The older name of quantize_and_dequantize_v2, whose gradient passes everywhere."""

def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False, round_mode='HALF_TO_EVEN', name=None, narrow_range=False, axis=None):
    """Rounds floats to what integers of `num_bits` bits can represent, and back. The gradient passes where the input is between"""
