"""The public names of the elementwise functions, which the elementwise dispatch decorators override.

A function belongs here if its result for a composite value is the same value with each element replaced.
"""
UNARY = """
bitwise.invert cast clip_by_value debugging.check_numerics dtypes.saturate_cast
image.adjust_brightness image.adjust_gamma image.convert_image_dtype image.random_brightness
image.stateless_random_brightness io.decode_base64 io.decode_compressed io.encode_base64
math.abs math.acos math.acosh math.angle math.asin math.asinh math.atan math.atanh math.bessel_i0 math.bessel_i0e
math.bessel_i1 math.bessel_i1e math.ceil math.conj math.cos math.cosh math.digamma math.erf math.erfc math.erfcinv
math.erfinv math.exp math.expm1 math.floor math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log
math.log1p math.log_sigmoid math.logical_not math.ndtri math.negative math.nextafter math.real math.reciprocal
math.reciprocal_no_nan math.rint math.round math.rsqrt math.sigmoid math.sign math.sin math.sinh math.softplus
math.special.bessel_j0 math.special.bessel_j1 math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1
math.special.bessel_k1e math.special.bessel_y0 math.special.bessel_y1 math.special.dawsn math.special.expint
math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.sqrt math.square math.tan math.tanh
nn.elu nn.gelu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.silu nn.softsign ones_like
strings.as_string strings.length strings.lower strings.regex_full_match strings.regex_replace strings.strip
strings.substr strings.to_hash_bucket strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.to_number
strings.upper zeros_like
compat.v1.nn.log_softmax compat.v1.ones_like compat.v1.strings.length compat.v1.strings.substr
compat.v1.strings.to_hash_bucket compat.v1.substr compat.v1.to_bfloat16 compat.v1.to_complex128 compat.v1.to_complex64
compat.v1.to_double compat.v1.to_float compat.v1.to_int32 compat.v1.to_int64 compat.v1.zeros_like
""".split()

BINARY = """
bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift dtypes.complex
math.add math.atan2 math.divide math.divide_no_nan math.equal math.floordiv math.floormod math.greater
math.greater_equal math.less math.less_equal math.logical_and math.logical_or math.logical_xor math.maximum
math.minimum math.multiply math.multiply_no_nan math.not_equal math.pow math.scalar_mul math.squared_difference
math.subtract math.truediv math.xdivy math.xlog1py math.xlogy math.zeta nn.sigmoid_cross_entropy_with_logits realdiv
truncatediv truncatemod
compat.v1.div compat.v1.floor_div compat.v1.math.scalar_mul
""".split()

ASSERTS = [f"{home}debugging.assert_{word}" for home in ("", "compat.v1.")
           for word in ("equal", "greater", "greater_equal", "less", "less_equal", "near", "none_equal")]
