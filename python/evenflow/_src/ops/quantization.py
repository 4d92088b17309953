"""tf.quantization: fake quantization, which rounds floats to the values that a quantized dtype can represent."""
from ..namespace import offer_ops

offer_ops(
    """
    FakeQuantWithMinMaxArgs | inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_args
    FakeQuantWithMinMaxArgsGradient | gradients, inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_args_gradient
    FakeQuantWithMinMaxVars | inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_vars
    FakeQuantWithMinMaxVarsGradient | gradients, inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_vars_gradient
    FakeQuantWithMinMaxVarsPerChannel | inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_vars_per_channel
    FakeQuantWithMinMaxVarsPerChannelGradient | gradients, inputs, min, max, num_bits, narrow_range | quantization.fake_quant_with_min_max_vars_per_channel_gradient
    """
)
