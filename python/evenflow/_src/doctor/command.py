"""`evenflow doctor`: the command line."""
import argparse
import fnmatch
import importlib.util
import os
import re
import sys

from . import live, patch, report, session

EXAMPLES = """examples:
  evenflow doctor train.py --epochs 3        runs train.py and reports at its end
  evenflow doctor -m package.train           the same for a module
  evenflow doctor --json train.py            findings as JSON, on standard output
  evenflow doctor --html report.html t.py    a page with pictures
  evenflow doctor --memory memory.json t.py  which lines hold how much memory over the run
  evenflow doctor --fail-on E1xx,E202 t.py   exit status 3 if one of these was found
  evenflow doctor --diff train.py            mechanical fixes as a patch, on standard output
  evenflow doctor --live 4711 --every 10     what a running process does, every 10 seconds; it is not stopped
  evenflow doctor --read sums.json           findings from the totals that a C program saved (ef_doctor_save)
  evenflow doctor explain E104               a cause, with the wrong and the right form
A comment `# evenflow: ignore E104` silences a finding on its line."""


STATUS = 3  # of a run in which something of --fail-on was found


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        """In one line, with a remedy."""
        if message.startswith("unrecognized arguments"):
            message += "; options of the doctor stand before the program, those of the program after it"
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser():
    parse = _Parser(prog="evenflow doctor", epilog=EXAMPLES, allow_abbrev=False,
                                    formatter_class=argparse.RawDescriptionHelpFormatter,
                                    description="Runs a program and says which lines made it slow, or made its memory grow, and what to write instead.")
    parse.add_argument("--json", action="store_true", help="print the findings as JSON, on standard output")
    parse.add_argument("--html", metavar="FILE", help="write a page with pictures to FILE")
    parse.add_argument("--memory", metavar="FILE", help="write which lines hold how much memory over the run to FILE (JSON)")
    parse.add_argument("--diff", action="store_true", help="print mechanical fixes as a patch, on standard output")
    parse.add_argument("--all", action="store_true", help="show findings below 1 %% of the run time too")
    parse.add_argument("--fail-on", default="", metavar="CODES", help="exit with status 3 if one of these is found: E1xx,E202")
    parse.add_argument("--live", type=int, metavar="PID", help="report on a running process, without stopping it")
    parse.add_argument("--every", type=float, metavar="SECONDS", help="with --live: again and again, until it ends")
    parse.add_argument("--read", metavar="FILE", help="report on the totals that a C program saved with ef_doctor_save")
    parse.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parse.add_argument("program", metavar="PROGRAM", nargs="?", help="the program, or `explain`")
    parse.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="its arguments, or the cause to explain")
    return parse


def _say(text, stream=None):
    print(f"evenflow doctor: {text}", file=stream or sys.stderr, flush=True)


def _write(path, text, stream):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        _say(f"wrote {report.short(path)}", stream)
    except OSError as e:
        _say(f"cannot write {path!r}: {e.strerror}", stream)


def _out(text, stream=None):
    """Prints to standard output; a reader that has gone, as `head` does, is no error."""
    stream = stream or sys.stdout
    try:
        print(text, end="" if text.endswith("\n") else "\n", flush=True, file=stream)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _flush_program():
    """Shows what the program has printed, before what the doctor prints. It may have closed or replaced its streams."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass


def _send_output_to_errors():
    """What the program prints goes to standard error from now on, so that standard output holds the report alone."""
    try:
        sys.stdout.flush()
        os.dup2(2, 1)
    except (AttributeError, ValueError, OSError):
        pass  # one of the two is closed


def patterns(text):
    """The patterns of --fail-on: E1xx,E202 -> ['E1??', 'E202']. Raises ValueError for one that no cause can match."""
    made = [code.strip().upper().replace("X", "?") for code in text.split(",") if code.strip()]
    for pattern in made:
        if not fnmatch.filter(report.table(), pattern):
            raise ValueError(f"{pattern.replace('?', 'x')!r} matches no cause; write codes like E104 or E1xx, "
                             "`evenflow doctor explain` lists them")
    return made


def fails(findings, wanted):
    return any(fnmatch.fnmatch(f.code, pattern) for f in findings for pattern in wanted)


def _unwritable(path):
    """Why no report should be written to a path; None: it may, or no path was given."""
    if path is None:
        return None
    if path == "":
        return "the name is empty"
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        return "it is a folder"
    if not os.path.isdir(folder):
        return "there is no such folder"
    if path.endswith(".py") and os.path.exists(path):
        return "it is a program; the name of the report comes first, then the program"
    return None if os.access(path if os.path.exists(path) else folder, os.W_OK) else "no permission"


def _wrong(options):
    """What is wrong with the options together; None: nothing."""
    elsewhere = options.live is not None or options.read is not None
    if options.every is not None and options.live is None:
        return "--every goes with --live: evenflow doctor --live PID --every SECONDS"
    if options.every is not None and not 0 < options.every < float("inf"):
        return f"--every {options.every:g} is no time to wait; give seconds, as in --every 10"
    if options.live is not None and options.read is not None:
        return "--live and --read exclude each other; give one of them"
    if options.live is not None and options.live <= 0:
        return f"--live {options.live} is not a process id; `pgrep -a python` lists the processes that run Python"
    if elsewhere and options.program is not None:
        return (f"--{'live' if options.live is not None else 'read'} runs no program: leave {options.program!r} out, or run it by "
                "evenflow doctor PROGRAM.py")
    for name in ("html", "memory", "diff"):
        if elsewhere and getattr(options, name):
            return f"--{name} needs a run: evenflow doctor --{name} {'FILE ' * (name != 'diff')}PROGRAM.py"
    if options.json and options.diff:
        return "--json and --diff both print to standard output; give one of them"
    if options.html and options.memory and os.path.abspath(options.html) == os.path.abspath(options.memory):
        return "--html and --memory write to the same file; give two"
    for name in ("html", "memory"):
        why = _unwritable(getattr(options, name))
        if why:
            return f"cannot write {getattr(options, name)!r}: {why}; nothing was run"
    return None


def explain(codes):
    status, parts = 0, []
    for code in codes:
        found = fnmatch.filter(report.table(), code.upper().replace("X", "?"))  # E1xx: all of them
        found = found or [c for c, cause in report.table().items() if code in re.split(", | or ", cause.title.split(":")[0])]
        if not found:
            _say(f"there is no cause {code!r}; there are {', '.join(report.table())}")
            status = 2
        parts += [report.explain(c) for c in found]
    if parts or not codes:
        _out("\n\n\n".join(parts) if codes else "\n".join(f"{c}  {cause.title}" for c, cause in report.table().items()))
    return status


def _missing(program, is_module):
    """Why there is nothing to run, before anything is counted; None: there is."""
    if is_module:
        sys.path[0] = os.getcwd()
        try:
            if importlib.util.find_spec(program) is not None:
                return None
        except ModuleNotFoundError:
            pass
        except (ImportError, ValueError):
            return None  # running it tells what is wrong
        return f"there is no module {program!r}; run it from the folder it is in, or give a file: evenflow doctor PROGRAM.py"
    if program == "-":
        return None
    try:
        with open(program, "rb"):
            return None
    except OSError as e:
        return f"cannot open {program!r}: {e.strerror}; give the path of a program"


def main(arguments, run_file, run_module):
    """Runs the command; run_file and run_module run a program and return its exit status."""
    options = parser().parse_args(arguments)
    if options.program == "explain" and not options.module:
        return explain(options.arguments)
    try:
        wrong, wanted = _wrong(options), patterns(options.fail_on)
    except ValueError as e:
        wrong = f"--fail-on {e}"
    if wrong:
        _say(wrong)
        return 2
    if options.live is not None or options.read is not None:
        return live.main(options, lambda findings: STATUS if fails(findings, wanted) else 0)
    if options.program is None:
        _say("no program was named; write evenflow doctor PROGRAM.py (see evenflow doctor --help)")
        return 2
    missing = _missing(options.program, options.module)
    if missing:
        _say(missing)
        return 2

    printed = report.kept(1) if options.json or options.diff else None
    if printed:
        _send_output_to_errors()
    for name in ("html", "memory"):  # of where the doctor was started, wherever the program goes
        setattr(options, name, getattr(options, name) and os.path.abspath(getattr(options, name)))

    def finish(diagnosis):
        told = diagnosis.stream
        _flush_program()
        if options.json:
            _out(diagnosis.json(), printed)
        else:
            diagnosis.print()
        if options.html:
            _write(options.html, diagnosis.html(), told)
        if options.memory:
            _write(options.memory, diagnosis.memory(), told)
        if options.diff:
            made = patch.diff(diagnosis.findings)
            if made:
                _out(made, printed)
            elif diagnosis.findings:
                _say("none of these fixes is mechanical: there is no patch", told)
        for option in {"--html", "--diff", "--fail-on"} & {a.split("=")[0] for a in options.arguments}:
            _say(f"the program was given {option}; an option of the doctor stands before the program", told)
        if printed:
            printed.close()
        if fails(diagnosis.findings, wanted):
            os._exit(STATUS)  # the program's own status has been decided by now

    session.at_exit(finish, options.all, record=bool(options.html or options.memory))
    return run_module(options.program, options.arguments) if options.module else run_file(options.program, options.arguments)
