"""Raw ops with arguments at their limits, for peers_fuzz.py: the calls that `sweep_fuzz --list` writes.

Each is tried eagerly or, one in four, inside a function. What is left out is counted by SweepWriter.left_out: ops of ours that
TensorFlow does not have, and values of ops that draw random numbers (their shapes and errors are compared).
"""
import collections
import json
import pathlib
import random
import re
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRAWS = re.compile("Random|Multinomial|Truncated|Stateless|Sampler|Shuffle|RngSkip|Generator")
CALLS = 640_000  # about as many as there are; a sample of them is taken evenly


class SweepWriter:
    def __init__(self, seed, calls, build=ROOT / "build"):
        self.r, self.left_out = random.Random(seed), collections.Counter()
        step = max(1, CALLS // max(1, calls))
        command = [str(build / "fuzz" / "sweep_fuzz"), "--list", str(step), str(self.r.randrange(step))]
        self.lines = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def next(self):
        """A call, or None after the last."""
        for line in self.lines:
            call = json.loads(line)
            if not call.pop("whole"):
                self.left_out["an attribute or argument that is no plain value"] += 1
            elif call["op"].startswith("_"):
                self.left_out["ops of the optimiser"] += 1
            else:
                return {**call, "name": call["op"], "mode": self.r.choice(("eager", "eager", "eager", "graph"))}
        return None


def tensor(tf, leaf):
    dtype, dims, data = leaf
    if dtype == "string":
        a = np.empty(len(data), object)
        a[:] = [s.encode("latin-1") for s in data]
        return tf.constant(a.reshape(dims), tf.string) if a.size else tf.constant([], tf.string, dims)
    raw = bytes.fromhex(data)
    if dtype == "bfloat16":
        return tf.bitcast(tf.constant(np.frombuffer(raw, np.uint16).reshape(dims)), tf.bfloat16)
    return tf.constant(np.frombuffer(raw, np.bool_ if dtype == "bool" else dtype).reshape(dims))


def attribute(tf, v):
    if isinstance(v, list):
        return [attribute(tf, e) for e in v]
    if isinstance(v, dict):
        return getattr(tf, v["dtype"]) if "dtype" in v else tf.TensorShape(v["shape"])
    return v


def evaluate(tf, call, plain):
    """Runs the call for peers_fuzz.carry_out; `plain` converts the results to data."""
    function = getattr(tf.raw_ops, call["op"])
    names = [name for name, _ in call["args"]]
    many = {name: isinstance(v[0], list) if v else True for name, v in call["args"]}
    flat = [tensor(tf, t) for name, v in call["args"] for t in (v if many[name] else [v])]
    counts = [len(v) if many[name] else 1 for name, v in call["args"]]
    attrs = {k: attribute(tf, v) for k, v in call["attrs"].items()}

    def run(*tensors):
        rest = iter(tensors)
        groups = [[next(rest) for _ in range(n)] for n in counts]
        return function(**{n: g if many[n] else g[0] for n, g in zip(names, groups)}, **attrs)

    result = (tf.function(run, autograph=False) if call["mode"] == "graph" else run)(*flat)
    result = result if isinstance(result, (list, tuple)) else [result]
    result = [] if not result or result[0] is None or isinstance(result[0], tf.Operation) else result
    strings = [["=string", list(r.shape), repr(r.numpy())] for r in result if r.dtype == tf.string]
    result = [r for r in result if r.dtype != tf.string]
    if DRAWS.search(call["op"]):
        return [[leaf[0], leaf[1], ""] for leaf in plain(tf, result)]
    return strings + plain(tf, result)


def comparable(ours, theirs):
    """Whether the answers are compared: only if both return values. TensorFlow's checks of extreme arguments differ from
    kernel to kernel, so a call that only one of them rejects is no finding; a process that dies is."""
    return ours.get("error") == ["death"] or "error" not in ours and "error" not in theirs


def shown(call):
    return f"{call['about']} # {call['mode']}"
