"""The program that `evenflow bench` runs once per variant: it loads the user's program, then measures on demand. It imports
nothing of the package, because it also runs in an environment that has TensorFlow and no Evenflow.

It reads commands from standard input: `measure K N` calls function K N times and answers with the times; `go` lets a program
with marked regions continue; `quit` ends. Answers are JSON objects, one per line, on the file descriptor that --answers
names, so that they do not mix with the program's own output.
"""
import sys

if __name__ == "__main__":
    del sys.path[0]  # this directory, whose modules the program must not import
import argparse  # noqa: E402
import difflib  # noqa: E402
import importlib  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
import types  # noqa: E402


class Wrong(Exception):
    """The command line names something that the program does not have."""


class Enough(BaseException):
    """Ends a program whose marked region has been measured often enough."""


def wait_for(value):
    """Waits until a result is computed, so that deferred or asynchronous work is measured too."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for v in value:
            wait_for(v)
    elif hasattr(value, "numpy") and not hasattr(value, "assign"):
        try:
            value.numpy()
        except (AttributeError, NotImplementedError, RuntimeError):
            pass


def install(module):
    """Makes `import tensorflow` give this package, and returns the package."""
    if module == "evenflow":
        importlib.import_module("evenflow._src.alias").install()
    return importlib.import_module(module)


def load(path, arguments):
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    names = {"__name__": "__main__", "__file__": os.path.abspath(path), "__builtins__": __builtins__}
    main = types.ModuleType("__main__")
    main.__dict__.update(names)
    sys.modules["__main__"] = main
    with open(path, "rb") as file:
        code = compile(file.read(), os.path.abspath(path), "exec")
    try:
        exec(code, main.__dict__)
    except SystemExit as e:
        if e.code:
            raise
    return main.__dict__


# ---- marked regions -------------------------------------------------------------------------------------------


class Region:
    """Collects the times of `with tf.experimental.benchmark(name)`. After every few of them the program waits for `go`, so
    that only one variant runs at a time."""

    def __init__(self, most, answer):
        self.times, self.most, self._answer = {}, most, answer
        self._chunk, self._left = max(1, most // 10), 0

    def __call__(self, name):
        return Timer(self.times.setdefault(name, []), self)

    def turn(self):
        if self._left == 0:
            self._answer({"ready": True})
            sys.stdin.readline()
            self._left = self._chunk
        self._left -= 1

    def full(self):
        return all(len(t) >= self.most for t in self.times.values())


class Timer:
    def __init__(self, times, region):
        self._times, self._region = times, region

    def begin(self):
        self._region.turn()
        self._began = time.perf_counter_ns()

    def end(self):
        if len(self._times) < self._region.most:
            self._times.append(time.perf_counter_ns() - self._began)
        if self._region.full():
            raise Enough


def mark(tf, region):
    """Makes `tf.experimental.benchmark` measure. TensorFlow has no such name, so it is added."""
    if hasattr(tf, "experimental") and getattr(tf.experimental, "benchmark", None) is not None:
        tf.experimental.benchmark.hook = region
        return

    class benchmark:  # noqa: N801
        def __init__(self, name):
            self._timer = region(name)

        def __enter__(self):
            self._timer.begin()
            return self

        def __exit__(self, kind, error, trace):
            if kind is None:
                self._timer.end()
            return False

    tf.experimental.benchmark = benchmark


def leave_unmarked(tf):
    """Makes `tf.experimental.benchmark` do nothing, as it does in Evenflow while no region is measured."""
    if getattr(tf.experimental, "benchmark", None) is None:
        unmeasured = types.SimpleNamespace(begin=lambda: None, end=lambda: None)
        mark(tf, lambda name: unmeasured)


# ---- functions ------------------------------------------------------------------------------------------------


def example(tf, spec, unknown):
    dims = [unknown if d is None else d for d in spec.shape.as_list()]
    if spec.dtype.is_floating:
        count = 1
        for d in dims:
            count *= d
        return tf.cast(tf.reshape(tf.range(count, dtype="float32") / max(count, 1) + 0.5, dims), spec.dtype)
    if spec.dtype == tf.string:
        return tf.fill(dims, "")
    return tf.zeros(dims, spec.dtype)


def arguments_of(tf, function, names, dotted, unknown):
    """The arguments for calling a function: `NAME_args` of the program (a tuple, or a function that returns one), else
    example values for its input_signature; () if it has no required parameters."""
    given = names.get(dotted.replace(".", "_") + "_args")
    if given is not None:
        given = given() if callable(given) else given
        return given if isinstance(given, tuple) else (given,)
    signature = getattr(function, "input_signature", None)
    if signature is not None:
        return tuple(example(tf, spec, unknown) for spec in signature)
    try:
        needed = [p for p in inspect.signature(getattr(function, "python_function", function)).parameters.values()
                  if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    except (TypeError, ValueError):
        needed = []
    if needed:
        raise Wrong(f"{dotted} takes arguments; define {dotted.replace('.', '_')}_args = (...) in the program, give the function "
                          "an input_signature, or measure a region marked by `with tf.experimental.benchmark(\"name\"):`")
    return ()


def find(names, dotted):
    first, *rest = dotted.split(".")
    functions = sorted(n for n, v in names.items() if callable(v) and not n.startswith("_") and not isinstance(v, type))
    name_one = (f"; name one of its functions: {', '.join(functions[:8])}" if functions else
                "; define a function at its top level, or mark a region by `with tf.experimental.benchmark(\"name\"):`")
    if first not in names:
        close = difflib.get_close_matches(first, functions, 1)
        raise Wrong(f"the program has no name {first!r}" + (f"; did you mean {close[0]!r}?" if close else name_one))
    found = names[first]
    for part in rest:
        if not hasattr(found, part):
            raise Wrong(f"{first!r} has no attribute {part!r} ({dotted!r}){name_one}")
        found = getattr(found, part)
    if not callable(found):
        raise Wrong(f"{dotted!r} is not a function{name_one}")
    return found


def measure(function, args, n):
    times, clock = [], time.perf_counter_ns
    for _ in range(n):
        began = clock()
        wait_for(function(*args))
        times.append(clock() - began)
    return times


def serve(options, answer):
    tf = install(options.module)
    if options.function is None:
        region = Region(options.repeat, answer)
        mark(tf, region)
        try:
            load(options.program, options.arguments)
        except Enough:
            pass
        if not region.times:
            raise Wrong("the program marks no region: write `with tf.experimental.benchmark(\"name\"):` around what is to be "
                              "measured, or name a function, as in program.py:step")
        answer({"regions": region.times})
        return
    leave_unmarked(tf)
    names = load(options.program, options.arguments)
    functions = [find(names, name) for name in options.function.split(",")]
    args = [arguments_of(tf, f, names, name, options.size) for f, name in zip(functions, options.function.split(","))]
    began = time.perf_counter_ns()
    for f, a in zip(functions, args):
        wait_for(f(*a))
    answer({"ready": True, "first_ns": time.perf_counter_ns() - began})
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "quit":
            break
        which, n = int(rest[0]), int(rest[1])
        answer({"times": measure(functions[which], args[which], n)})


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--module", required=True)
    parse.add_argument("--answers", type=int, required=True)
    parse.add_argument("--function")
    parse.add_argument("--repeat", type=int, default=100)
    parse.add_argument("--size", type=int, default=32)
    parse.add_argument("program")
    parse.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parse.parse_args()
    answers = os.fdopen(options.answers, "w", buffering=1)

    def answer(data):
        answers.write(json.dumps(data) + "\n")
        answers.flush()

    try:
        serve(options, answer)
    except Wrong as e:
        answer({"failed": str(e.args[0])})
    except Exception as e:
        trace = e.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:  # the user's frames only
            trace = trace.tb_next
        traceback.print_exception(type(e), e, trace)
        answer({"failed": f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", "raised": True})


if __name__ == "__main__":
    main()
