"""tf.train.SessionRunHook and the standard hooks of training loops in TensorFlow 1."""
import collections
import math
import os
import time

from ...graph import get_default_graph
from ...namespace import export, own


def _v1(name):
    return own("compat.v1", name)


def info(text, *args):
    """Logs what training loops report."""
    own("compat.v1.logging", "info")(text, *args)


def _train(name):
    return own("compat.v1.train", name)


def _step():
    found = _train("get_global_step")()
    if found is None:
        raise RuntimeError("Global step should be created: call tf.train.get_or_create_global_step()")
    return found


@export("compat.v1.train.SessionRunArgs")
class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """The fetches, feeds and options that a hook adds to a run."""

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


@export("compat.v1.train.SessionRunValues")
class SessionRunValues(collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])):
    """The results of a run that a hook gets: the values of its fetches."""


@export("compat.v1.train.SessionRunContext")
class SessionRunContext:
    """The run that is passed to hooks."""

    def __init__(self, original_args, session):
        self._original_args, self._session, self._stop = original_args, session, False

    original_args = property(lambda self: self._original_args)
    session = property(lambda self: self._session)
    stop_requested = property(lambda self: self._stop)

    def request_stop(self):
        """Requests the end of the loop: should_stop() of the session is true from now on."""
        self._stop = True


@export("compat.v1.train.SessionRunHook")
class SessionRunHook:
    """Called around the runs of a monitored session."""

    def begin(self):
        """Called before the session is created; the graph may still change."""

    def after_create_session(self, session, coord):
        """Called after the session was created."""

    def before_run(self, run_context):
        """Called before each run. May return SessionRunArgs."""
        return None

    def after_run(self, run_context, run_values):
        """Called after each run."""

    def end(self, session):
        """Called at the end, unless an exception was raised."""


@export("compat.v1.train.SecondOrStepTimer")
class SecondOrStepTimer:
    """A timer that triggers every `every_secs` seconds or every `every_steps` steps."""

    def __init__(self, every_secs=None, every_steps=None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self):
        """Resets the timer."""
        self._last_time = self._last_step = None

    def should_trigger_for_step(self, step):
        """Whether the timer triggers at this step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step):
        """Records that the timer triggered at this step. Returns (seconds, steps) since the last time, or (None, None)."""
        now = time.time()
        passed = (None, None) if self._last_time is None else (now - self._last_time, step - self._last_step)
        self._last_time, self._last_step = now, step
        return passed

    def last_triggered_step(self):
        """The last step at which the timer triggered."""
        return self._last_step


class _Never(SecondOrStepTimer):
    """A timer that never triggers."""

    def __init__(self):
        self._last_time = self._last_step = None

    def should_trigger_for_step(self, step):
        return False

    def update_last_triggered_step(self, step):
        return (None, None)


@export("compat.v1.train.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs tensors every `every_n_iter` runs or `every_n_secs` seconds, or at the end."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        if at_end + (every_n_iter is not None) + (every_n_secs is not None) == 0 or (every_n_iter is not None and every_n_secs is not None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        if not isinstance(tensors, dict):
            self._tag_order = list(tensors)
            tensors = {item: item for item in self._tag_order}
        else:
            self._tag_order = sorted(tensors)
        self._tensors, self._formatter, self._at_end = tensors, formatter, at_end
        never = every_n_iter is None and every_n_secs is None
        self._timer = _Never() if never else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)

    def begin(self):
        self._timer.reset()
        self._iter_count = 0
        graph = get_default_graph()
        self._current = {tag: graph.as_graph_element(t) if isinstance(t, str) else t for tag, t in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current) if self._should_trigger else None

    def _log(self, values):
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        if self._formatter:
            info(self._formatter(values))
            return
        stats = ", ".join("%s = %s" % (tag, values[tag]) for tag in self._tag_order)
        info(stats if seconds is None else "%s (%.3f sec)" % (stats, seconds))

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._at_end:
            self._log(session.run(self._current))


@export("compat.v1.train.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Requests a stop after `num_steps` steps, or at the global step `last_step`."""

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self):
        self._step = _step()

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._step) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step and run_context.session.run(self._step) >= self._last_step:
            run_context.request_stop()


@export("compat.v1.train.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self):
        return "NaN loss during training."


@export("compat.v1.train.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Stops, or raises, when a loss is not a number."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if math.isnan(float(run_values.results)):
            if self._fail:
                raise NanLossDuringTrainingError
            own("compat.v1.logging", "warning")("Model diverged with loss = NaN.")
            run_context.request_stop()


class _Writing(SessionRunHook):
    """The base class of hooks that write summaries."""

    def __init__(self, every_steps, every_secs, output_dir, writer):
        self._timer = SecondOrStepTimer(every_steps=every_steps, every_secs=every_secs)
        self._output_dir, self._writer = output_dir, writer

    def _open(self):
        if self._writer is None and self._output_dir:
            self._writer = own("compat.v1.summary", "FileWriterCache").get(self._output_dir)


@export("compat.v1.train.StepCounterHook")
class StepCounterHook(_Writing):
    """Counts steps per second."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def begin(self):
        self._open()
        self._step = _step()
        self._summary_tag = "global_step/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = elapsed_steps / elapsed_time
        if self._writer is not None:
            summary = _v1("Summary")(value=[_v1("Summary").Value(tag=self._summary_tag, simple_value=rate)])
            self._writer.add_summary(summary, global_step)
        info("%s: %g", self._summary_tag, rate)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(run_values.results + 1):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds:
                    self._log_and_record(steps, seconds, step)


@export("compat.v1.train.SummarySaverHook")
class SummarySaverHook(_Writing):
    """Writes summaries every `save_steps` steps or `save_secs` seconds."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        super().__init__(save_steps, save_secs, output_dir, summary_writer)
        self._scaffold, self._summary_op = scaffold, summary_op

    def begin(self):
        self._open()
        self._next = None
        self._step = _step()

    def _ops(self):
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return [] if op is None else list(op) if isinstance(op, (list, tuple)) else [op]

    def before_run(self, run_context):
        self._request = self._next is None or self._timer.should_trigger_for_step(self._next)
        asked = {"global_step": self._step}
        if self._request and self._ops():
            asked["summary"] = self._ops()
        return SessionRunArgs(asked)

    def after_run(self, run_context, run_values):
        if self._writer is None:
            return
        step = run_values.results["global_step"] + 1
        if self._next is None or self._request:
            step = run_context.session.run(self._step)
        if self._request:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session):
        if self._writer is not None:
            self._writer.flush()


@export("compat.v1.train.CheckpointSaverListener")
class CheckpointSaverListener:
    """Called around the saving of checkpoints."""

    def begin(self):
        """Called before the session is created."""

    def before_save(self, session, global_step_value):
        """Called before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """Called after a checkpoint was written. Returning True requests a stop."""

    def end(self, session, global_step_value):
        """Called at the end of the session."""


@export("compat.v1.train.CheckpointSaverHook")
class CheckpointSaverHook(_Writing):
    """Saves a checkpoint at the start, every `save_steps` steps or `save_secs` seconds, and at the end."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt", scaffold=None,
                 listeners=None, save_graph_def=True):  # noqa: ARG002
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        super().__init__(save_steps, save_secs, None, None)
        self._dir, self._path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._given, self._scaffold, self._listeners = saver, scaffold, listeners or []

    def begin(self):
        self._step = _step()
        for one in self._listeners:
            one.begin()

    def _saver(self):
        if self._given is not None:
            return self._given
        if self._scaffold is not None and self._scaffold.saver is not None:
            return self._scaffold.saver
        found = get_default_graph().get_collection(_v1("GraphKeys").SAVERS)
        if not found:
            raise RuntimeError("No items in collection SAVERS. Please add a saver to the collection or provide a saver or scaffold.")
        return found[0]

    def _save(self, session, step):
        info("Saving checkpoints for %d into %s.", step, self._path)
        for one in self._listeners:
            one.before_save(session, step)
        self._saver().save(session, self._path, global_step=step)
        return any([bool(one.after_save(session, step)) for one in self._listeners])

    def after_create_session(self, session, coord):
        step = session.run(self._step)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(run_values.results + 1):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session):
        last = session.run(self._step)
        if last != self._timer.last_triggered_step():
            self._save(session, last)
        for one in self._listeners:
            one.end(session, last)


@export("compat.v1.train.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops, self._feed, self._values = final_ops, final_ops_feed_dict, None

    final_ops_values = property(lambda self: self._values)

    def end(self, session):
        if self._final_ops is not None:
            self._values = session.run(self._final_ops, feed_dict=self._feed)


@export("compat.v1.train.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds each run with the dict that a function returns."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@export("compat.v1.train.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Waits before the first run until the global step, which other processes increment, has reached `wait_until_step`."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._done = False
        self._step = _step()

    def before_run(self, run_context):
        if self._done:
            return None
        self._done = True
        while self._wait_until_step > 0 and run_context.session.run(self._step) < self._wait_until_step:
            time.sleep(0.5)
        return None


for _class in list(globals().values()):
    if isinstance(_class, type) and issubclass(_class, SessionRunHook):
        _class.__module__ = "tensorflow.python.training.basic_session_run_hooks"
