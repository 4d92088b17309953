"""tf.compat.v1.layers: layers whose variables are in variable scopes, as functions and as classes."""
from . import convolution, dense, normalization, pooling  # noqa: F401  (they export their names)
