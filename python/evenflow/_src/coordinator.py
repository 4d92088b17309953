"""tf.train.Coordinator: stops several threads together and raises the exception of one of them in the joining thread."""
import contextlib
import threading
import time

from . import errors
from .namespace import export


@export("train.Coordinator", "compat.v1.train.Coordinator")
class Coordinator:
    """Each thread checks should_stop(). A thread that wants all of them to stop, or that fails, calls request_stop(). join()
    waits for all threads and raises the exception that was passed to request_stop()."""

    def __init__(self, clean_stop_exception_types=None):
        kinds = (errors.OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._clean = tuple(kinds)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error = None  # the exception that join raises
        self._joined = False
        self._threads = set()

    def _kept(self, ex):
        """The exception that join must raise; None for the exception types that count as a clean stop."""
        if isinstance(ex, tuple):
            ex = ex[1] if len(ex) > 1 and isinstance(ex[1], BaseException) else None
        if ex is not None and not isinstance(ex, BaseException):
            raise TypeError(f"Coordinator.request_stop: `ex` must be an exception or a tuple of sys.exc_info, got {ex!r}")
        return None if isinstance(ex, self._clean) else ex

    def request_stop(self, ex=None):
        """Asks all threads to stop. join() raises the first exception that is passed; after join(), this method raises it."""
        with self._lock:
            ex = self._kept(ex)
            if self._joined:
                if ex is not None:
                    raise ex
                return
            if not self._stop.is_set():
                self._error = ex
                self._stop.set()

    def clear_stop(self):
        """Forgets that a stop was requested."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self):
        """Whether threads should stop."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A context manager that passes an exception raised inside it to request_stop()."""
        try:
            yield
        except Exception as e:  # noqa: BLE001 (raised again by join)
            self.request_stop(ex=e)

    def wait_for_stop(self, timeout=None):
        """Waits until a stop is requested, at most `timeout` seconds. Returns whether it was requested."""
        return self._stop.wait(timeout)

    def register_thread(self, thread):
        """Adds a thread for join() to wait for."""
        with self._lock:
            self._threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits until all threads have ended; after a stop is requested, at most `stop_grace_period_secs`. Then raises the
        exception that was passed to request_stop(), or RuntimeError if threads are still alive."""
        with self._lock:
            waited = list(self._threads) + [t for t in threads or () if t not in self._threads]
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(0.05):
            pass
        until = time.monotonic() + stop_grace_period_secs
        for t in waited:
            while t.is_alive() and time.monotonic() < until:
                t.join(min(0.1, max(0.0, until - time.monotonic())))
        alive = [t.name for t in waited if t.is_alive()]
        with self._lock:
            self._joined = True
            self._threads = set()
            error = self._error
        if error is not None:
            raise error
        if alive and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: %s" % " ".join(alive))

    @property
    def joined(self):
        return self._joined

    def raise_requested_exception(self):
        """Raises the exception that was passed to request_stop(), if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


@export("train.LooperThread", "compat.v1.train.LooperThread")
class LooperThread(threading.Thread):
    """Calls a function repeatedly, every `timer_interval_secs` seconds, until its coordinator requests a stop."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord, self._every = coord, timer_interval_secs
        self._call = (target, args or (), kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """Creates a LooperThread and starts it."""
        made = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        made.start()
        return made

    def run(self):
        """Runs in the thread: calls run_loop() until the coordinator requests a stop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            next_time = time.time()
            while not self._coord.wait_for_stop(0 if self._every is None else max(0.0, next_time - time.time())):
                next_time += self._every or 0
                self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called once, when the thread starts."""

    def stop_loop(self):
        """Called once, when the thread stops."""

    def run_loop(self):
        """Called in each iteration. Calls the target."""
        target, args, kwargs = self._call
        if target is not None:
            target(*args, **kwargs)
