"""tf.compat.v1.logging."""
import logging

import evenflow as tf


class Kept(logging.Handler):
    """Keeps the messages that are logged."""

    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def test_log_every_n_counts_by_line():
    """Not by message, which may be another each time."""
    kept, v1 = Kept(), tf.compat.v1
    tf.get_logger().addHandler(kept)
    try:
        for k in range(10):
            v1.logging.log_every_n(v1.logging.ERROR, f"turn {k}", 5)
    finally:
        tf.get_logger().removeHandler(kept)
    assert kept.messages == ["turn 0", "turn 5"]
