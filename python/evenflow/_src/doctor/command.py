"""`evenflow doctor`: the command line."""
import argparse
import fnmatch
import importlib.util
import os
import sys

from . import live, patch, report, session

EXAMPLES = """examples:
  evenflow doctor train.py --epochs 3        runs train.py and reports at its end
  evenflow doctor -m package.train           the same for a module
  evenflow doctor --json train.py            findings as JSON, on standard output
  evenflow doctor --html report.html t.py    a page with pictures
  evenflow doctor --memory memory.json t.py  who holds memory over the run, by line
  evenflow doctor --fail-on E1xx,E202 t.py   exit status 3 if one of these was found
  evenflow doctor --diff train.py            mechanical fixes as a patch, on standard output
  evenflow doctor --live 4711 --every 10     what a running process does, every 10 seconds; it is not stopped
  evenflow doctor --read sums.json           findings of sums that a C program saved (ef_doctor_save)
  evenflow doctor explain E104               a cause, with the wrong and the right form
A comment `# evenflow: ignore E104` silences a finding on its line."""


def parser():
    parse = argparse.ArgumentParser(prog="evenflow doctor", epilog=EXAMPLES, allow_abbrev=False,
                                    formatter_class=argparse.RawDescriptionHelpFormatter,
                                    description="Runs a program and says what made it slow or grow, by file and line.")
    parse.add_argument("--json", action="store_true", help="print the findings as JSON, on standard output")
    parse.add_argument("--html", metavar="FILE", help="write a page with pictures to FILE")
    parse.add_argument("--memory", metavar="FILE", help="write who holds memory over the run, by line, to FILE (JSON)")
    parse.add_argument("--diff", action="store_true", help="print mechanical fixes as a patch, on standard output")
    parse.add_argument("--all", action="store_true", help="show findings below 1 %% of the run time too")
    parse.add_argument("--fail-on", default="", metavar="CODES", help="exit with status 3 if one of these is found: E1xx,E202")
    parse.add_argument("--live", type=int, metavar="PID", help="report on a running process, without stopping it")
    parse.add_argument("--every", type=float, metavar="SECONDS", help="with --live: again and again, until it ends")
    parse.add_argument("--read", metavar="FILE", help="report on sums that ef_doctor_save wrote")
    parse.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parse.add_argument("program", nargs="?", help="the program, or `explain`")
    parse.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parse


def _write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as e:
        print(f"evenflow doctor: cannot write {path!r}: {e.strerror}", file=sys.stderr)


def explain(codes):
    status = 0
    for code in codes or sorted(report.table()):
        text = report.explain(code)
        if text is None:
            print(f"evenflow doctor: there is no cause {code!r}; there are {', '.join(report.table())}", file=sys.stderr)
            status = 2
        else:
            print(text if codes else f"{code}  {report.table()[code].title}")
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
    if options.live is not None or options.read is not None:
        return live.main(options)
    if options.program is None:
        print("evenflow doctor: no program was named (evenflow doctor --help)", file=sys.stderr)
        return 2
    missing = _missing(options.program, options.module)
    if missing:
        print(f"evenflow doctor: {missing}", file=sys.stderr)
        return 2
    wanted = [code.strip().replace("x", "?") for code in options.fail_on.split(",") if code.strip()]

    def finish(diagnosis):
        sys.stdout.flush()
        if options.json:
            print(diagnosis.json())
        else:
            diagnosis.print()
        if options.html:
            _write(options.html, diagnosis.html())
        if options.memory:
            _write(options.memory, diagnosis.memory())
        if options.diff:
            print(patch.diff(diagnosis.findings), end="")
        sys.stdout.flush()
        if any(fnmatch.fnmatch(code, pattern) for code in diagnosis.codes for pattern in wanted):
            sys.stderr.flush()
            os._exit(3)  # the program's own status has been decided by now

    session.at_exit(finish, options.all, record=bool(options.html or options.memory))
    return run_module(options.program, options.arguments) if options.module else run_file(options.program, options.arguments)
