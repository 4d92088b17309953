"""Sets up a run of tests, and ends it with the line that tools/run_tests.py adds up."""
import os
import signal

import pytest

# What a shell starts in the background ignores Ctrl-C; tests that interrupt a call would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _counts(stats):
    failed = len(stats.get("failed", ())) + len(stats.get("error", ()))
    passed = len(stats.get("passed", ())) + len(stats.get("xpassed", ()))
    return passed, failed, len(stats.get("skipped", ())) + len(stats.get("xfailed", ()))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and os.environ.get("EF_COUNTS"):
        for report in reporter.stats.get("skipped", ()):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            print(f"skipped {report.nodeid}: {reason}")
        print("%d passed, %d failed, %d skipped" % _counts(reporter.stats), flush=True)
