"""tf.compat.v1.layers: layers whose variables live in variable scopes, as functions and as classes."""
from . import convolution, dense, normalization, pooling  # noqa: F401  (they export their names)
