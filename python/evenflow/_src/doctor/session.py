"""A run under the doctor: of a block, or of a whole program."""
import atexit
import os

from . import data_entries, endings, holders, keras_entries, leaving, report, save_entries
from .causes import examine
from .notes import notes
from .observed import Watch
from .page import page
from .recorder import Recorder


class Diagnosis:
    """What was found: `findings`, the dearest first, `hidden`, how many were too small to show, `notes` on what is no cause, and
    `ending`, the error that ended it, or None."""

    def __init__(self, everything=False, recorder=None):
        self.findings, self.notes, self.hidden, self.observed, self._recorder = [], [], 0, None, recorder
        self.ending = None
        self._everything = everything
        self.stream = None  # where the report is printed; None: to standard error, whatever it is by then

    def finish(self, watch, ending=None):
        self.ending = ending
        data_entries.tell()
        if self._recorder:
            self._recorder.end()
        self.observed = watch.observed()
        if watch.end():
            data_entries.end()
        every = report.select(examine(self.observed), self.observed, everything=True)
        self.findings = report.select(every, self.observed, self._everything)
        self.hidden = len(every) - len(self.findings)
        self.notes = notes(self.observed, every, ending)

    @property
    def codes(self):
        return [f.code for f in self.findings]

    def print(self, stream=None):
        report.as_text(self.findings, self.observed, stream or self.stream, self.hidden, self.notes, self.ending)

    def html(self):
        """A page with pictures; the run must have been recorded."""
        return page(self.findings, self.observed, self._recorder, self.notes, self.ending)

    def memory(self):
        """The memory profile, as JSON; the run must have been recorded."""
        return holders.as_json(self._recorder, self.observed.wall_ms)

    def json(self):
        return report.as_json(self.findings, self.observed, self.notes, self.ending)


def begin(everything=False, record=False):
    """Starts to count; returns what `finish` fills in, and what it needs. record: for a page with pictures."""
    keras_entries.install()
    data_entries.install()
    save_entries.install()
    watch = Watch()
    return Diagnosis(everything, Recorder() if record else None), watch


_whole = []  # takes back the examination of the whole program


def at_exit(finish, everything=False, record=False):
    """Examines the whole program; `finish(diagnosis)` is called when it ends."""
    for earlier in _whole:  # a program is examined once, also if EVENFLOW_DOCTOR=1 is set and the command runs it
        earlier()
    diagnosis, watch = begin(everything, record)
    diagnosis.stream = report.kept(2)
    process = os.getpid()

    def end():
        if os.getpid() == process:  # not in a child that was forked
            diagnosis.finish(watch, endings.last())
            finish(diagnosis)
            if diagnosis.stream:
                diagnosis.stream.close()

    def ended():
        forget()
        end()

    forget = leaving.before(end)
    def replaced():
        forget()
        atexit.unregister(ended)
        watch.end()
        diagnosis.stream = diagnosis.stream and diagnosis.stream.close()

    _whole[:] = [replaced]
    atexit.register(ended)
    return diagnosis

