"""tf.compat.v1.nn.rnn_cell, and the functions of tf.compat.v1.nn that unroll cells over time."""
from . import cells, unroll, wrappers  # noqa: F401  (they export their names)
