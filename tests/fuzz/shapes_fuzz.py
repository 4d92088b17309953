#!/usr/bin/env python3
"""Random small functions called with sizes in changing order: the same answers as TensorFlow gives.

    shapes_fuzz.py [SECONDS [SEED]] [--functions N] [--peers VENV [--answers FILE]] [--all]

A seeded generator writes functions that do something with shapes, sizes, loops, branches and gradients; one tf.function of
each is called with several sizes. A process of Evenflow answers for the function, and another for a new function per call,
which is traced for that very size; a process of TensorFlow answers too, where there is one (--peers, EF_PEERS). Different
answers, or exceptions of different classes, are findings; where a new function differs from TensorFlow in the same way, sizes
have nothing to do with it, and it is printed with --all only.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))
from shapes_cases import argument, compiled, outcome_of, same  # noqa: E402

BATCH = 50
CONTROL_FLOW = re.compile(r"^ +(if|for|while)\b", re.MULTILINE)


# ---- writing functions -----------------------------------------------------------------------------------------------


class Writer:
    """One function: tensors are float32 matrices [rows, columns], vectors [rows] or scalars, by name."""

    def __init__(self, rng):
        self.rng = rng
        self.lines, self.count = [], 0
        self.two = rng.random() < 0.3
        self.known = {"m": ["x", "y"] if self.two else ["x"], "v": [], "s": []}
        self.results = []

    def pick(self, *items):
        return self.rng.choice(items)

    def one(self, kind):
        names = self.known[kind]
        if names:
            return self.rng.choice(names[-4:])
        m = self.rng.choice(self.known["m"])
        return {"v": f"tf.reduce_sum({m}, 1)", "s": f"tf.reduce_sum({m})"}[kind]

    def new(self, kind, text):
        self.count += 1
        name = f"t{self.count}"
        self.lines.append(f"{name} = {text}")
        self.known[kind].append(name)

    def size(self):
        """A Python number that is read from a shape, or is not."""
        m, v = self.one("m"), self.one("v")
        return self.pick(f"{m}.shape[0]", f"{m}.shape[1]", f"{v}.shape[0]", f"{m}.shape.num_elements()", f"len({m}.shape)",
                         f"{m}.shape.as_list()[0]", f"sum({m}.shape)", f"{m}.shape.rank", "2", "3", "1",
                         f"tf.get_static_value(tf.shape({m}))[0]", f"max({m}.shape)", f"{m}.get_shape()[0]",
                         f"int(np.prod({m}.shape))")

    def shape(self):
        """What can be given as the shape of a matrix."""
        m = self.one("m")
        return self.pick(f"{m}.shape", f"tf.shape({m})", f"{m}.shape", f"[{m}.shape[0], 2]", f"[tf.shape({m})[0], 3]",
                         f"{m}.shape.as_list()", f"tuple({m}.shape)", f"{m}.shape[::-1]", f"{m}.shape[:1] + [2]",
                         f"tf.stack([tf.shape({m})[0], 2])", f"[{m}.shape[0], {m}.shape[1]]", "[2, 3]")

    def test(self):
        """A Python condition over shapes."""
        a, b = self.one("m"), self.one("m")
        return self.pick(f"{a}.shape[0] > 3", f"{a}.shape == {b}.shape", f"{a}.shape.is_compatible_with([None, 3])",
                         f"{a}.shape[0] == 1", f"{a}.shape.is_fully_defined()", f"{self.size()} % 2 == 0",
                         f"{a}.shape.is_compatible_with({b}.shape)", f"{a}.shape[-1] == 3", f"{a}.shape == [4, 3]",
                         f"tf.TensorSpec([None, 3]).is_compatible_with({a})", f"None in {a}.shape.as_list()",
                         f"str({a}.shape) == '(2, 3)'")

    def matrix(self):
        a, b, v, s = self.one("m"), self.one("m"), self.one("v"), self.one("s")
        return self.pick(
            f"{a} * 2.0", f"{a} + {b}", f"{a} - {b}[:1]", f"tf.tanh({a})", f"tf.ones({self.shape()})", f"tf.concat([{a}, {b}], 0)",
            f"tf.concat([{a}, {a}], 1)", f"tf.transpose({a})", f"tf.matmul({a}, {b}, transpose_b=True)",
            f"tf.matmul({a}, {a}, transpose_a=True)", f"tf.zeros({self.shape()}) + 1.0", f"tf.fill({a}.shape, {s})",
            f"tf.reshape({a}, {b}.shape)", f"tf.reshape({a}, [-1, {b}.shape[-1]])", f"tf.reshape({a}, [tf.shape({a})[0], -1])",
            f"{a}[1:]", f"{a}[:, :2]", f"{a}[::-1]", f"{a}[:{self.size()}]", f"tf.pad({a}, [[0, 1], [0, 0]])",
            f"tf.tile({a}, [2, 1])", f"tf.tile({a}, [1, {self.size()}])", f"{a} / ({self.size()} + 1)",
            f"tf.stack([{v}, {v}], 1)", f"tf.expand_dims({v}, 1)", f"tf.nn.softmax({a})", f"tf.where({a} > 0, {a}, {b})",
            f"tf.boolean_mask({a}, {a}[:, 0] > -9)", f"tf.one_hot(tf.range({self.size()}), 3)", f"tf.eye({self.size()})",
            f"tf.gather({a}, tf.range(tf.shape({a})[0]))", f"tf.reverse({a}, [0])", f"tf.sort({a}, 0)", f"tf.cumsum({a})",
            f"tf.broadcast_to({a}[:1], {b}.shape)", f"tf.repeat({a}, 2, axis=0)", f"tf.zeros_like({a})", f"{a} + {v}[:, None]",
            f"tf.random.stateless_uniform({self.shape()}, [1, 2])", f"tf.linalg.diag({v})", f"tf.roll({a}, 1, 0)",
            f"tf.map_fn(lambda r: r * 2.0, {a})", f"tf.map_fn(lambda r: r * {self.size()}, {a})", f"doubled({a})",
            f"by_size({a})", f"like({a})", f"branching({a})", f"both({a}, {b})", f"tf.ensure_shape({a}, {b}.shape)",
            f"tf.vectorized_map(lambda r: r + 1.0, {a})", f"tf.add_n([{a}, {b}])", f"tf.identity({a})",
            f"tf.clip_by_value({a}, -1.0, {self.size()} + 0.5)", f"tf.convert_to_tensor({a})", f"{a} * {self.size()}",
            f"tf.cond({s} > 0, lambda: {a}, lambda: {b})", f"tf.cond({s} > 0, lambda: {a} * {self.size()}, lambda: {a})",
            f"tf.while_loop(lambda i, q: i < 2, lambda i, q: (i + 1, q + {a}), [0, {a}])[1]",
            f"tf.while_loop(lambda i, q: i < 2, lambda i, q: (i + 1, q * q.shape[0]), [0, {a}])[1]",
            f"tf.gradients({s}, x)[0] if tf.gradients({s}, x)[0] is not None else x",
            f"tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack({a}).stack()")

    def vector(self):
        a, v, s = self.one("m"), self.one("v"), self.one("s")
        return self.pick(f"tf.reduce_sum({a}, 1)", f"{a}[:, 0]", f"tf.reduce_mean({a}, 0)", f"tf.range(float({self.size()}))",
                         f"tf.ones({a}.shape[:1])", f"tf.zeros({a}.shape[1:])", f"{v} * 2.0", f"tf.reshape({a}, [-1])",
                         f"tf.ones([{self.size()}])", f"tf.cast(tf.shape({a}), tf.float32)", f"tf.fill([tf.shape({a})[0]], {s})",
                         f"tf.cast({a}.shape, tf.float32)", f"tf.constant({a}.shape.as_list(), tf.float32)",
                         f"tf.cast(tf.argmax({a}, 1), tf.float32)", f"tf.squeeze({a}[:, :1], 1)", f"tf.concat([{v}, [1.0]], 0)",
                         f"tf.linalg.matvec({a}, {a}[0])", f"tf.unstack({a}, axis=1)[0]", f"tf.math.cumsum({v})",
                         f"tf.foldl(lambda p, q: p + q, {a}, initializer=tf.zeros([{a}.shape[1]]))", f"{v}[1:]", f"{v}[::2]")

    def scalar(self):
        a, v = self.one("m"), self.one("v")
        return self.pick(f"tf.reduce_sum({a})", f"tf.reduce_mean({a})", f"tf.reduce_sum({v})", f"tf.constant(float({self.size()}))",
                         f"tf.cast(tf.size({a}), tf.float32)", f"tf.cast(tf.shape({a})[0], tf.float32)",
                         f"tf.reduce_sum({a}) / ({self.size()} + 1)", f"tf.norm({a})")

    def block(self):
        """A few lines of control flow."""
        a, s = self.one("m"), self.one("s")
        self.count += 1
        t = f"t{self.count}"
        lines = self.pick(
            [f"{t} = {a}", "for i in tf.range(2):", f"    {t} = {t} + tf.ones({t}.shape)"],
            [f"{t} = {a}", f"for i in range({self.size()} % 4):", f"    {t} = {t} + i"],
            [f"if {self.test()}:", f"    {t} = {a} * 3.0", "else:", f"    {t} = {a} - 1.0"],
            [f"if {s} > 1.0:", f"    {t} = {a} * {self.size()}", "else:", f"    {t} = tf.zeros({a}.shape)"],
            [f"{t} = tf.zeros({a}.shape[1:])", f"for r in {a}:", f"    {t} = {t} + r", f"{t} = {t}[None, :]"],
            [f"{t} = {a}", f"while tf.reduce_sum({t}) < 50.0 and tf.reduce_sum({t}) > 0.0:", f"    {t} = {t} * 2.0 + {t}.shape[0]"],
            ["with tf.GradientTape() as tape:", "    tape.watch(x)", f"    loss = tf.reduce_sum(tf.tanh(x) * {self.size()})",
             f"{t} = tape.gradient(loss, x)"],
            ["with tf.GradientTape() as tape:", "    tape.watch(x)", "    loss = tf.reduce_sum(x @ tf.ones([x.shape[1], 2]))",
             f"{t} = tape.gradient(loss, x)"],
            [f"{t} = []", f"for i in range({a}.shape[0]):", f"    {t}.append({a}[i] * i)",
             f"{t} = tf.stack({t}) if {t} else {a}"],
            [f"{t} = tf.TensorArray(tf.float32, 2)", "for i in tf.range(2):", f"    {t} = {t}.write(i, {a}[0] + 1.0)",
             f"{t} = {t}.stack()"],
            ["try:", f"    {t} = tf.reshape({a}, [2, 3])", "except ValueError:", f"    {t} = {a} * 5.0"])
        self.lines.extend(lines)
        self.known["m"].append(t)

    def look(self):
        a, v = self.one("m"), self.one("v")
        self.results.append(self.pick(
            f"{a}.shape.as_list()", f"{v}.shape.as_list()", f"str({a}.shape)", f"{a}.shape[0]", f"tf.shape({a})", f"{a}.shape",
            self.size(), self.test(), f"tf.TensorSpec.from_tensor({a}).shape.as_list()", f"{a}.shape.rank"))

    def write(self):
        for _ in range(self.rng.randint(1, 5)):
            kind = self.rng.choices(["m", "v", "s", "block"], [6, 2, 1, 2])[0]
            if kind == "block":
                self.block()
            else:
                self.new(kind, {"m": self.matrix, "v": self.vector, "s": self.scalar}[kind]())
        if self.rng.random() < 0.5:
            self.look()
        last = [names[-1] for names in self.known.values() if names and names[-1] not in "xy"]
        self.results.extend(last[-2:] or ["x"])
        head = "def case(x, y):" if self.two else "def case(x):"
        return "\n".join([head] + ["    " + line for line in self.lines] + [f"    return {', '.join(self.results)},"]) + "\n"


def program(rng):
    writer = Writer(rng)
    source = writer.write()
    rows = [rng.choice([4, 2, 7, 3, 1, 5, 0]) if rng.random() < 0.85 else 6 for _ in range(rng.randint(3, 6))]
    rows.append(rows[0])
    sizes = []
    for n in rows:
        columns = 3 if rng.random() < 0.85 else rng.choice([2, 1, 5])
        first = [n, columns]
        other = [n, columns] if rng.random() < 0.7 else [rng.choice([1, 2, 4, 7]), columns]
        sizes.append([first, other] if writer.two else [first])
    return {"source": source, "sizes": sizes}


# ---- carrying them out -----------------------------------------------------------------------------------------------

HELPERS = """
@tf.function
def doubled(x):
    return x * 2.0

@tf.function
def by_size(x):
    return x * x.shape[0]

@tf.function
def like(x):
    return tf.ones(x.shape)

@tf.function
def branching(x):
    if x.shape[0] > 3:
        return x
    return -x

@tf.function
def both(x, y):
    if x.shape == y.shape:
        return x + y
    return x - y[:1]
"""


def answers(package, how):
    """Reads programs, one JSON text a line, and answers each: how "kept", or "fresh" for a new function per call."""
    import importlib

    tf = importlib.import_module(package)
    theirs = package == "tensorflow"
    if theirs:
        tf.get_logger().setLevel("ERROR")
        # Neither its graph optimiser nor AutoGraph without control flow changes an answer; they take a third of its time.
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    import numpy as np

    for number, line in enumerate(sys.stdin):
        task = json.loads(line)
        names = {"tf": tf, "np": np}
        exec(compiled(HELPERS, f"<helpers {number}>"), names)
        found = []
        kept = None
        for turn, sizes in enumerate(task["sizes"]):
            if kept is None or how != "kept":
                text = task["source"] + ("" if how != "fresh" else f"# {turn}\n")
                exec(compiled(text, f"<case {number} {turn if how == 'fresh' else ''}>"), names)
                kept = tf.function(names["case"], autograph=not theirs or CONTROL_FLOW.search(task["source"]) is not None)
            found.append(outcome_of(lambda: kept(*[tf.constant(argument(s, k)) for k, s in enumerate(sizes)])))  # noqa: B023
        print(json.dumps(found), flush=True)


class Side:
    """A process that answers for one package. It is replaced when it has died, and after MOST functions, which bounds its memory."""

    MOST, STILL = 500, 600

    def __init__(self, python, package, how):
        self.command = [str(python), __file__, "--answer", package, how]
        self.child, self.asked = None, 0

    def end(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None

    def ask(self, task):
        if self.child is None or self.asked == self.MOST:
            self.end()
            env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", PYTHONWARNINGS="ignore")
            self.errors, self.asked = tempfile.TemporaryFile("w+"), 0
            self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                          env=env)
        self.asked += 1
        try:
            print(json.dumps(task), file=self.child.stdin, flush=True)
        except OSError:
            pass  # it has died: answer() finds nothing

    def answer(self):
        """The answer to what was asked last, or None if the process died or stood still for STILL seconds."""
        watch = threading.Timer(self.STILL, self.child.kill)
        watch.start()
        line = next((text for text in self.child.stdout if text.startswith("[")), None)  # the rest is what functions print
        watch.cancel()
        if line is None:
            self.end()
            self.errors.seek(0)
            print(self.errors.read()[-2000:], file=sys.stderr)
            return None
        return json.loads(line)


class Recorded:
    """A side whose answers are kept in a file, where a later run with the same functions finds them. TensorFlow takes most
    of the time of a run, and its answers do not depend on what is tested."""

    def __init__(self, side, path):
        self.side, self.path, self.known = side, path, {}
        if path and path.exists():
            self.known = dict(json.loads(line) for line in path.read_text().splitlines())

    def ask(self, task):
        self.name = hashlib.sha256(json.dumps([HELPERS, task]).encode()).hexdigest()
        if self.name not in self.known:
            self.side.ask(task)

    def answer(self):
        if self.name not in self.known:
            self.known[self.name] = self.side.answer()
            if self.path and self.known[self.name] is not None:
                with self.path.open("a") as out:
                    print(json.dumps([self.name, self.known[self.name]]), file=out)
        return self.known[self.name]

    def end(self):
        self.side.end()


class Count:
    def __init__(self, options):
        self.peers, self.all = options.peers, options.all
        self.done = self.different = self.others = self.unanswered = 0
        self.told = time.monotonic()

    def judge(self, name, task, kept, fresh, truth):
        self.done += 1
        if truth is None:  # what Evenflow answers anew is compared all the same
            self.unanswered += 1
            truth = fresh
        self.others += truth is not None and fresh is not None and not same(fresh, truth)
        if kept is not None and same(kept, truth):
            return
        own = kept is None or not same(kept, fresh)
        if not own and not self.all:
            return  # how it is traced does not matter here: peers_fuzz.py looks for such
        self.different += own
        j = next((j for j in range(len(task["sizes"])) if kept and truth and not same(kept[j], truth[j])), 0)
        shown = [str(answers[j])[:300] if answers else "died" for answers in (kept, fresh, truth)]
        print(f"---- {'different' if own else 'not TensorFlow, whatever the sizes'}: {name}\n"
              f"{task['source']}sizes {task['sizes']}, at {j}\n  here {shown[0]}\n  anew {shown[1]}\n  must {shown[2]}", flush=True)

    def text(self):
        text = f"{self.done} functions, {self.different} different"
        if self.peers:
            text += f"; {self.others} not as TensorFlow, whatever the sizes"
        return text + (f"; {self.unanswered} that TensorFlow did not answer" if self.unanswered else "")

    def tell(self):
        if time.monotonic() - self.told > 15:
            self.told = time.monotonic()
            print(f"    {self.text()}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float, nargs="?")
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--peers", default=os.environ.get("EF_PEERS"))
    parser.add_argument("--answers", type=pathlib.Path, help="a file that keeps TensorFlow's answers for later runs")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--answer", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answers(*options.answer)
        return 0
    here = ROOT / ".venv" / "bin" / "python"
    here = here if here.exists() else sys.executable
    kept, fresh = Side(here, "evenflow", "kept"), Side(here, "evenflow", "fresh")
    sides = [kept, fresh]
    if options.peers:
        peer = Side(pathlib.Path(options.peers) / "bin" / "python", "tensorflow", "kept")
        sides.append(Recorded(peer, options.answers))
    began, count, seed = time.time(), Count(options), options.seed
    while count.done < options.functions if options.seconds is None else time.time() - began < options.seconds:
        rng = random.Random(seed)
        for k in range(BATCH):
            task = program(rng)
            for side in sides:
                side.ask(task)
            found = [side.answer() for side in sides]
            count.judge(f"seed {seed}, number {k}", task, found[0], found[1], found[-1])
            count.tell()
        kept.end(), fresh.end()  # a batch can be repeated alone: its functions meet the same process
        seed += 1
    for side in sides:
        side.end()
    print(count.text())
    return count.different > 0


if __name__ == "__main__":
    sys.exit(main())
