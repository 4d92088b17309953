"""The end of a program that `atexit` does not see: os._exit, and a SIGTERM that nobody handles, as `timeout` and
`kill` send it. A report or a trace of such a run is written all the same."""
import os
import signal
import threading


def before(action):
    """Calls `action` once before the process leaves in one of these ways; then it leaves as it would have. Not in a child that
    was forked. Returns a function that takes it back."""
    process, leave, done = os.getpid(), os._exit, []

    def act():
        if os.getpid() == process and not done:
            done.append(True)
            action()

    def left(status):
        try:
            act()
        finally:
            leave(status)

    def terminated(number, frame):
        signal.signal(number, signal.SIG_DFL)  # a second one ends the report, too
        try:
            act()
        finally:
            os.kill(os.getpid(), number)

    masks = []  # while a child is forked the signal waits: a child that has not set its own handling yet would lose it

    def forking():
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]))

    def forked():
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.pop())

    def born():
        forget()
        forked()

    def forget():
        done.append(True)
        if os._exit is left:
            os._exit = leave
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is terminated:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    os._exit = left
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)
        os.register_at_fork(before=forking, after_in_parent=forked, after_in_child=born)
    return forget
