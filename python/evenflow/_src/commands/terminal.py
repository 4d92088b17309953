"""Output of the commands: colours and progress lines (on a terminal only), errors, and the formats of times and sizes."""
import os
import shutil
import sys
import time


def is_terminal(stream):
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def has_colours(stream):
    """Whether to write colours: not into a pipe or file, nor if NO_COLOR is set or TERM is "dumb"."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def out(text, end="\n"):
    """Prints to standard output; a reader that has gone, as `head` does, is no error."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Paint:
    """Adds colours to texts, if the stream supports them."""

    def __init__(self, stream):
        self._on = has_colours(stream)

    def _with(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self._on else text

    def bold(self, text):
        return self._with("1", text)

    def dim(self, text):
        return self._with("2", text)

    def good(self, text):
        return self._with("32", text)

    def bad(self, text):
        return self._with("31", text)


def width(least=60, most=160):
    return max(least, min(most, shutil.get_terminal_size((110, 24)).columns))


class Progress:
    """A line on standard error that is rewritten during long work and cleared at the end. It prints nothing into a pipe and
    during the first half second."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        self._shown, self._last = 0, time.monotonic() + 0.4
        self._on = is_terminal(self._stream)

    def __enter__(self):
        return self

    def show(self, text):
        now = time.monotonic()
        if not self._on or now - self._last < 0.1:
            return
        self._last = now
        text = text[:width() - 1]
        self._stream.write("\r" + text + " " * max(0, self._shown - len(text)))
        self._stream.flush()
        self._shown = len(text)

    def __exit__(self, *_):
        if self._shown:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
        self._shown = 0
        return False


class Failure(Exception):
    """Ends a command with one line that says what is wrong and what to do, and with the exit status `status`."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


def duration(ns):
    """Formats a time in nanoseconds: 12 ns, 3.4 µs, 5.6 ms, 7.8 s."""
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if ns < 999.5 * size:
            value = ns / size
            return f"{value:.0f} {unit}" if unit == "ns" or value >= 100 else f"{value:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def size(n):
    """Formats a number of bytes: 12 B, 3.4 KiB."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1023.5:
            return f"{n} B" if unit == "B" else f"{n:.3g} {unit}" if n < 100 else f"{n:.0f} {unit}"
        n /= 1024
    return f"{n:.3g} GiB"
