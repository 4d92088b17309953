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


def _watch(options):
    while True:
        try:
            _say(Other(options.live), options, f"process {options.live}")
        except errors.OpError as e:
            if options.every and not _runs(options.live):
                return 0  # it ended
            print(f"evenflow doctor: {e.message}", file=sys.stderr)
            return 2
        if not options.every:
            return 0
        time.sleep(max(0.05, options.every))
        if not _runs(options.live):
            return 0


def main(options):
    try:
        if options.live is not None:
            return _watch(options)
        _say(Saved(options.read), options, options.read)
        return 0
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, KeyError, TypeError) as e:
        print(f"evenflow doctor: cannot read {options.read or options.live!r}: {e}", file=sys.stderr)
        return 2
