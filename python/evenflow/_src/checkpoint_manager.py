"""tf.train.CheckpointManager: saves numbered checkpoints in a directory and deletes old ones."""
import os
import time

from .checkpoint import Checkpoint
from .checkpoint_reader import get_checkpoint_state, remove_checkpoint, write_state
from .graph import init_scope
from .namespace import export


def _number(value):
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


@export("train.CheckpointManager")
class CheckpointManager:
    """Saves checkpoints in one directory, and deletes the oldest when there are more than `max_to_keep`."""

    __module__ = "tensorflow.python.checkpoint.checkpoint_management"

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None, last_checkpoint_step=None):
        self._checkpoint = checkpoint
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._max_to_keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter, self._interval, self._init_fn = step_counter, checkpoint_interval, init_fn
        self._last_step = last_checkpoint_step
        self._kept = {}  # prefix -> when it was written
        self._latest = None
        state = get_checkpoint_state(self._directory)
        now = time.time()
        if state is None:
            self._preserved = now
            return
        self._latest = state.model_checkpoint_path
        self._preserved = state.last_preserved_timestamp or now
        times = state.all_model_checkpoint_timestamps
        if len(times) != len(state.all_model_checkpoint_paths):
            times = [now] * len(state.all_model_checkpoint_paths)
        self._kept = {p: t for p, t in zip(state.all_model_checkpoint_paths, times) if os.path.exists(p + ".index")}

    @property
    def directory(self):
        """The directory of the checkpoints."""
        return self._directory

    @property
    def checkpoint(self):
        """The tf.train.Checkpoint that is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self):
        """The least number of steps between two checkpoints, or None if there is no limit."""
        return self._interval

    @property
    def latest_checkpoint(self):
        """The prefix of the newest checkpoint; None if there is none."""
        return self._latest

    @property
    def checkpoints(self):
        """The prefixes of the checkpoints that are kept, oldest first."""
        return list(self._kept)

    def _sweep(self):
        """Deletes the oldest checkpoints above `max_to_keep`, but keeps one every `keep_checkpoint_every_n_hours`."""
        if self._max_to_keep is None:
            return
        while len(self._kept) > self._max_to_keep:
            path, written = next(iter(self._kept.items()))
            del self._kept[path]
            if self._every_hours and written - self._every_hours * 3600 >= self._preserved:
                self._preserved = written
                continue
            remove_checkpoint(path)

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Saves a checkpoint and returns its prefix. Returns None, without saving, if fewer than `checkpoint_interval` steps
        have passed since the last one."""
        if self._interval is not None and self._last_step is not None:
            since = _number(self._step_counter) - self._last_step
            if since == 0 or (check_interval and since < self._interval):
                return None
        counter = self._checkpoint.save_counter  # it counts saves, even if the caller numbers them
        with init_scope():
            counter.assign_add(1, read_value=False)
        if checkpoint_number is None:
            checkpoint_number = counter
        path = self._checkpoint.write(f"{self._prefix}-{_number(checkpoint_number):d}", options) \
            if options is not None else self._checkpoint.write(f"{self._prefix}-{_number(checkpoint_number):d}")
        now = time.time()
        self._kept.pop(path, None)
        self._kept[path], self._latest = now, path
        self._record()
        if self._max_to_keep is not None:
            self._sweep()
            self._record()
        if self._step_counter is not None:
            self._last_step = _number(self._step_counter)
        return path

    def _record(self):
        write_state(self._directory, self._latest, list(self._kept), list(self._kept.values()), self._preserved)

    def restore_or_initialize(self):
        """Restores the newest checkpoint and returns its prefix. If there is none, calls `init_fn` and returns None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._step_counter is not None:
                self._last_step = _number(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Calls `sync` of the checkpoint, which does nothing: saving is synchronous."""
        if isinstance(self._checkpoint, Checkpoint):
            self._checkpoint.sync()
