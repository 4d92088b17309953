"""`evenflow doctor --live PID` and `--read FILE`: findings of sums that another process keeps, or kept.

The sums are always on, so a process that was started without the doctor can be examined. What only the doctor counts is
missing then: calls of fit and predict, datasets and their stages, results that are still held.
"""
import os
import sys
import time

from evenflow._src import errors

from . import report
from .causes import examine
from .notes import notes
from .observed import Observed, Other, Saved


def _say(sums, options, title):
    observed = Observed(1e3 * sums.seconds, sums)
    every = report.select(examine(observed), observed, everything=True)
    shown = report.select(every, observed, options.all)
    told = notes(observed, every)
    if options.json:
        print(report.as_json(shown, observed, told), flush=True)
    else:
        print(f"{title}:", file=sys.stderr)
        report.as_text(shown, observed, hidden=len(every) - len(shown), notes=told)
    return shown


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _unreadable(pid):
    """Why the sums of a process cannot be read, and what to do."""
    if not _runs(pid):
        return f"process {pid} does not exist; `pgrep -a python` lists those that run Python"
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            loaded = "evenflow" in file.read()
    except OSError:
        return f"process {pid} may not be read: run this as its user or as root, and see /proc/sys/kernel/yama/ptrace_scope"
    if loaded:
        return f"process {pid} does not use this Evenflow library but another build: use the evenflow command beside that one"
    return (f"process {pid} does not use this Evenflow library: it has not imported it; start the program by evenflow run, or name "
            "another process")


def _watch(options, status):
    found = 0
    while True:
        try:
            found = status(_say(Other(options.live), options, f"process {options.live}"))
        except errors.OpError:
            if options.every and not _runs(options.live):
                return found  # it ended
            print(f"evenflow doctor: {_unreadable(options.live)}", file=sys.stderr)
            return 2
        if not options.every:
            return found
        time.sleep(max(0.05, options.every))
        if not _runs(options.live):
            return found


def main(options, status):
    """status(findings): the exit status that --fail-on asks for."""
    try:
        if options.live is not None:
            return _watch(options, status)
        return status(_say(Saved(options.read), options, options.read))
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, KeyError, TypeError) as e:
        why = e.strerror if isinstance(e, OSError) else "it was not written by ef_doctor_save"
        print(f"evenflow doctor: cannot read {options.read or options.live!r}: {why}; give a file that ef_doctor_save wrote", file=sys.stderr)
        return 2
