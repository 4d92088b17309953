"""tf.train.MonitoredSession: a session that initializes variables, starts queue runners and calls hooks."""
import inspect
import os

from ... import errors
from ...coordinator import Coordinator
from ...graph import get_default_graph
from ...namespace import export, own
from ...session import Session
from . import _session_hooks as hooks_of
from ._queue_runners import start_queue_runners

_DEFAULT = object()


def _v1(name):
    return own("compat.v1", name)


def _saver():
    """A saver of all variables; None if there are no variables or there is no Saver."""
    graph, key = get_default_graph(), _v1("GraphKeys").SAVERS
    found = graph.get_collection(key)
    if found:
        return found[0]
    try:
        kind = own("compat.v1.train", "Saver")
    except AttributeError:
        return None
    made = kind(allow_empty=True)
    graph.add_to_collection(key, made)
    return made


@export("compat.v1.train.Scaffold")
class Scaffold:
    """The parts of a training session: initialization ops, a summary op and a saver. `finalize` creates missing parts."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        of = copy_from_scaffold
        if of is not None and not isinstance(of, Scaffold):
            raise TypeError(f"copy_from_scaffold is not a Scaffold: {of!r}")

        def pick(given, name):
            return given if given is not None or of is None else getattr(of, name)

        self._init_op, self._init_feed_dict = pick(init_op, "_init_op"), pick(init_feed_dict, "_init_feed_dict")
        self._given_fn = init_fn
        self._init_fn = (lambda sess: init_fn(self, sess)) if init_fn is not None else (of._init_fn if of is not None else None)
        self._ready_op = pick(ready_op, "_ready_op")
        self._ready_for_local_init_op = pick(ready_for_local_init_op, "_ready_for_local_init_op")
        self._local_init_op = pick(local_init_op, "_local_init_op")
        self._local_init_feed_dict = pick(local_init_feed_dict, "_local_init_feed_dict")
        self._summary_op, self._saver = pick(summary_op, "_summary_op"), pick(saver, "_saver")

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    init_fn = property(lambda self: self._init_fn)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    local_init_feed_dict = property(lambda self: self._local_init_feed_dict)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)

    def finalize(self):
        """Creates the parts that were not given, and finalizes the graph."""
        group = _v1("group")
        if self._init_op is None:
            self._init_op = group(_v1("global_variables_initializer")())
        if self._ready_op is None:
            self._ready_op = _v1("report_uninitialized_variables")()
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = _v1("report_uninitialized_variables")(_v1("global_variables")())
        if self._local_init_op is None:
            self._local_init_op = self.default_local_init_op()
        if self._summary_op is None:
            self._summary_op = own("compat.v1.summary", "merge_all")()
        if self._saver is None:
            self._saver = _saver()
        get_default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The only item of a collection of the graph, or a new item, which is added to the collection."""
        found = get_default_graph().get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f"More than one item in the collection {collection_key}. Please indicate which one to use by passing it to "
                               f"the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)")
        if not found:
            found = [default_constructor()]
            if found[0] is not None:
                get_default_graph().add_to_collection(collection_key, found[0])
        return found[0]

    @staticmethod
    def default_local_init_op():
        """Initializes local variables and tables."""
        return _v1("group")(_v1("local_variables_initializer")(), _v1("tables_initializer")())


@export("compat.v1.train.SessionCreator")
class SessionCreator:
    """The base class of objects that create sessions."""

    def create_session(self):
        """Creates a session whose variables are initialized."""
        raise NotImplementedError(f"{type(self).__name__} is a SessionCreator without a create_session(); define it, or use ChiefSessionCreator")


@export("compat.v1.train.ChiefSessionCreator")
class ChiefSessionCreator(SessionCreator):
    """Creates a session that restores the latest checkpoint of a directory, or else initializes all variables."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._dir, self._file = checkpoint_dir, checkpoint_filename_with_path

    def _checkpoint(self):
        if self._file:
            return self._file
        return own("train", "latest_checkpoint")(self._dir) if self._dir and os.path.isdir(self._dir) else None

    def create_session(self):
        s = self._scaffold
        s.finalize()
        sess = Session(self._master, graph=get_default_graph(), config=self._config)
        last = self._checkpoint() if self._dir or self._file else None
        if last is not None:
            s.saver.restore(sess, last)
        else:
            sess.run(s.init_op, feed_dict=s.init_feed_dict)
            if s.init_fn is not None:
                s.init_fn(sess)
        left = sess.run(s.ready_for_local_init_op)
        if not len(left):
            sess.run(s.local_init_op, feed_dict=s.local_init_feed_dict)
            left = sess.run(s.ready_op)
        if len(left):
            raise RuntimeError("Init operations did not make model ready.  Variables not initialized: " +
                               ", ".join(n.decode() for n in left))
        return sess


@export("compat.v1.train.WorkerSessionCreator")
class WorkerSessionCreator(ChiefSessionCreator):
    """The same as ChiefSessionCreator: on one machine the only worker is the chief."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):  # noqa: ARG002
        super().__init__(scaffold, master, config)


def _merged(asked, feeds):
    """The feeds of the caller and of all hooks."""
    made = dict(feeds or {})
    for hook, args in asked:
        for key, value in (args.feed_dict or {}).items():
            if any(key is other for other in made):
                raise RuntimeError(f"Same tensor is fed by two hooks, or by a hook and the caller: {key} (hook {hook})")
            made[key] = value
    return made


class _StepContext:
    """The argument of a step function."""

    def __init__(self, session, run):
        self._session, self._run = session, run

    session = property(lambda self: self._session)

    def run_with_hooks(self, *args, **kwargs):
        """Calls MonitoredSession.run."""
        return self._run(*args, **kwargs)

    def request_stop(self):
        """Ends the loop by raising StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    """The base class of monitored sessions."""

    def __init__(self, session_creator, hooks, stop_grace_period_secs=120):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks, self._grace = list(hooks or ()), stop_grace_period_secs
        for h in self._hooks:
            h.begin()
        self._stop = False
        self._coord = Coordinator()
        self._tf_sess = (session_creator or ChiefSessionCreator()).create_session()
        self._threads = start_queue_runners(self._tf_sess, self._coord)
        for h in self._hooks:
            h.after_create_session(self._tf_sess, self._coord)

    graph = property(lambda self: None if self._tf_sess is None else self._tf_sess.graph)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs the fetches, and those of the hooks, in one run."""
        if self._tf_sess is None:
            raise AttributeError("the session is closed: run was called after close(), or after its `with` had ended")
        context = hooks_of.SessionRunContext(hooks_of.SessionRunArgs(fetches, feed_dict), self._tf_sess)
        asked = [(h, args) for h in self._hooks if (args := h.before_run(context)) is not None]
        given = [[] if args.fetches is None else args.fetches for _, args in asked]
        try:
            own_values, values = self._tf_sess.run([fetches, given], feed_dict=_merged(asked, feed_dict), options=options,
                                                   run_metadata=run_metadata)
        except Exception as e:
            self._coord.raise_requested_exception()
            raise e
        found = {id(h): v for (h, _), v in zip(asked, values)}
        for h in self._hooks:
            h.after_run(context, hooks_of.SessionRunValues(found.get(id(h)), options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return own_values

    def run_step_fn(self, step_fn):
        """Calls a function that may run the session without hooks. Its request_stop() ends the session's `with` block."""
        if "step_context" not in inspect.signature(step_fn).parameters:
            raise ValueError("The `step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's an "
                             f"instance method. Got {tuple(inspect.signature(step_fn).parameters)} instead.")
        return step_fn(_StepContext(self._tf_sess, self.run))

    def should_stop(self):
        """Whether the loop should end."""
        return self._tf_sess is None or self._stop or self._coord.should_stop()

    def close(self):
        """Calls `end` of the hooks, stops the threads and closes the session."""
        self._close(None)

    def _close(self, kind):
        if self._tf_sess is None:
            return
        try:
            if kind is None:
                for h in self._hooks:
                    h.end(self._tf_sess)
        finally:
            sess, self._tf_sess = self._tf_sess, None
            try:
                self._coord.request_stop()
                self._coord.join(self._threads, stop_grace_period_secs=self._grace, ignore_live_threads=True)
            finally:
                sess.close()
                if not self._graph_was_finalized:
                    sess.graph._unsafe_unfinalize()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration)):
            kind = None
        self._close(kind)
        return kind is None


@export("compat.v1.train.MonitoredSession")
class MonitoredSession(_Monitored):
    """A session that initializes variables, starts queue runners and calls hooks. An OutOfRangeError ends its `with` block
    without an exception."""

    StepContext = _StepContext

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, stop_grace_period_secs)


@export("compat.v1.train.SingularMonitoredSession")
class SingularMonitoredSession(_Monitored):
    """Like MonitoredSession, with access to the session inside."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks,
                         stop_grace_period_secs)

    def raw_session(self):
        """The session inside."""
        return self._tf_sess


@export("compat.v1.train.MonitoredTrainingSession")
def monitored_training_session(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None, chief_only_hooks=None,
                               save_checkpoint_secs=_DEFAULT, save_summaries_steps=_DEFAULT, save_summaries_secs=_DEFAULT, config=None,
                               stop_grace_period_secs=120, log_step_count_steps=100, max_wait_secs=7200,  # noqa: ARG001
                               save_checkpoint_steps=_DEFAULT, summary_dir=None, save_graph_def=True):
    """A MonitoredSession for training. With `checkpoint_dir` it saves checkpoints and summaries there, and continues from the
    latest checkpoint."""
    if save_summaries_steps is _DEFAULT and save_summaries_secs is _DEFAULT:
        save_summaries_steps, save_summaries_secs = 100, None
    if save_checkpoint_secs is _DEFAULT and save_checkpoint_steps is _DEFAULT:
        save_checkpoint_secs, save_checkpoint_steps = 600, None
    sums, sums_secs, ckpt_secs, ckpt = (None if v is _DEFAULT else v for v in (
        save_summaries_steps, save_summaries_secs, save_checkpoint_secs, save_checkpoint_steps))
    scaffold = scaffold or Scaffold()
    every = list(hooks or ())
    if is_chief:
        every = list(chief_only_hooks or ()) + every
        folder = summary_dir or checkpoint_dir
        if folder:
            if log_step_count_steps and log_step_count_steps > 0:
                every.append(hooks_of.StepCounterHook(output_dir=folder, every_n_steps=log_step_count_steps))
            if sums and sums > 0 or sums_secs and sums_secs > 0:
                every.append(hooks_of.SummarySaverHook(scaffold=scaffold, save_steps=sums, save_secs=sums_secs, output_dir=folder))
        if checkpoint_dir and (ckpt_secs and ckpt_secs > 0 or ckpt and ckpt > 0):
            every.append(hooks_of.CheckpointSaverHook(checkpoint_dir, save_steps=ckpt, save_secs=ckpt_secs, scaffold=scaffold,
                                                      save_graph_def=save_graph_def))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, every, stop_grace_period_secs)


monitored_training_session.__name__ = "MonitoredTrainingSession"
for _class in (Scaffold, SessionCreator, ChiefSessionCreator, WorkerSessionCreator, MonitoredSession, SingularMonitoredSession):
    _class.__module__ = "tensorflow.python.training.monitored_session"
