"""tf.train.QueueRunner: threads that fill queues while a session runs."""
import threading
import weakref

from ... import errors, namespace
from ...default_session import stack
from ...graph import get_default_graph
from ...namespace import export
from ._keys import GraphKeys


@export("compat.v1.train.QueueRunner", "compat.v1.train.queue_runner.QueueRunner")
class QueueRunner:
    """One thread for each enqueue op, which runs the op repeatedly until the queue is closed or a stop is requested. The last
    thread that ends closes the queue."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):  # noqa: ARG002
        if queue_runner_def is not None:
            raise NotImplementedError("QueueRunner: `queue_runner_def` is not supported; give `queue` and `enqueue_ops`")
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        kinds = (errors.OutOfRangeError,) if queue_closed_exception_types is None else queue_closed_exception_types
        if not isinstance(kinds, tuple) or not kinds or not all(issubclass(k, errors.OpError) for k in kinds):
            raise TypeError(f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {kinds}")
        self._queue, self._enqueue_ops, self._kinds = queue, list(enqueue_ops), kinds
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._lock = threading.Lock()
        self._runs = weakref.WeakKeyDictionary()  # session -> number of threads that are still running
        self._raised = []

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._kinds)
    exceptions_raised = property(lambda self: self._raised)
    name = property(lambda self: self._queue.name)

    def _over(self, sess):
        """Decrements the number of running threads. Returns whether it was the last one."""
        with self._lock:
            self._runs[sess] -= 1
            return self._runs[sess] == 0

    def _run(self, sess, op, coord):
        try:
            while coord is None or not coord.should_stop():
                try:
                    sess.run(op)
                except self._kinds:
                    break
        except Exception as e:  # noqa: BLE001 (the coordinator raises it in the thread that joins)
            if coord is not None:
                coord.request_stop(e)
            else:
                with self._lock:
                    self._raised.append(e)
        finally:
            if self._over(sess):
                self._close(sess, self._close_op)

    @staticmethod
    def _close(sess, op):
        """Runs the close op. Errors are ignored, because the queue or the session may be closed already."""
        try:
            sess.run(op)
        except (errors.CancelledError, RuntimeError):
            pass

    def _cancel(self, sess, coord):
        coord.wait_for_stop()
        self._close(sess, self._cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """Creates the threads. With a coordinator there is one more, which cancels blocked enqueue ops when a stop is
        requested."""
        with self._lock:
            if self._runs.get(sess, 0) > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._raised = []
        name = f"QueueRunnerThread-{self.name}"
        made = [threading.Thread(target=self._run, args=(sess, op, coord), name=f"{name}-{op.name}") for op in self._enqueue_ops]
        if coord is not None:
            made.append(threading.Thread(target=self._cancel, args=(sess, coord), name=f"{name}-close_on_stop"))
        for t in made:
            if coord is not None:
                coord.register_thread(t)
            t.daemon = daemon or t.daemon
            if start:
                t.start()
        return made


@export("compat.v1.train.add_queue_runner", "compat.v1.train.queue_runner.add_queue_runner")
def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    """Adds a queue runner to those that start_queue_runners starts."""
    get_default_graph().add_to_collection(collection, qr)


@export("compat.v1.train.start_queue_runners", "compat.v1.train.queue_runner.start_queue_runners")
def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Starts the threads of all queue runners of the session's graph, and returns the threads."""
    if sess is None:
        sess = stack.sessions[-1] if stack.sessions else None
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
                             "explicit session to tf.start_queue_runners(sess=sess)")
    if not hasattr(sess, "run") or not hasattr(sess, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    made = []
    with sess.graph.as_default():
        for qr in sess.graph.get_collection(collection):
            made.extend(qr.create_threads(sess, coord=coord, daemon=daemon, start=start))
    return made


namespace.offer(start_queue_runners, "compat.v1.start_queue_runners")
