#!/usr/bin/env python3
"""Makes the same random calls to Evenflow and to TensorFlow, and compares values or the classes of exceptions.

    peers_fuzz.py --peers VENV [--calls N] [--seed S] [--only TEXT] [--kinds functions,face,uses,programs,sweep]

Calls are written down as plain data by a seeded generator; two processes carry them out, one with each package, and
answer with values or with the name of an exception's class. A process that dies counts as a finding. Every finding is
printed with the call that shows it. Public functions are called from here; operators, indexing, conversion and the like are
written by peers_face.py and peers_uses.py; peers_ops.py has the wider families.
"""
import argparse
import base64
import collections
import itertools
import json
import operator
import os
import pathlib
import random
import resource
import subprocess
import sys
import time

import numpy as np

import peers_face
import peers_ops
import peers_programs
import peers_sweep
import peers_uses

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLOATS = ["float32", "float32", "float64", "float16", "bfloat16"]
INTS = ["int32", "int32", "int64", "int8", "uint8", "int16", "uint16"]
COMPLEX = ["complex64", "complex128"]
HALVES = ["float16", "bfloat16"]
TOLERANCE = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-4, "float64": 1e-8, "complex64": 1e-4, "complex128": 1e-8}

UNARY = """math.abs math.negative math.sign math.square math.sqrt math.exp math.log math.log1p math.expm1 math.sin math.cos
math.tan math.asin math.acos math.atan math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh math.floor math.ceil
math.round math.rint math.sigmoid math.reciprocal math.rsqrt math.is_nan math.is_finite math.is_inf math.erf math.erfc
math.lgamma math.digamma math.conj math.real math.imag math.angle math.softplus nn.relu nn.relu6 nn.elu nn.selu nn.softsign
nn.softmax nn.log_softmax nn.leaky_relu nn.silu nn.gelu nn.l2_loss zeros_like ones_like identity shape size rank
math.logical_not bitwise.invert linalg.diag linalg.diag_part stop_gradient""".split()
BINARY = """math.add math.subtract math.multiply math.divide math.truediv math.floordiv math.mod math.maximum math.minimum
math.pow math.squared_difference math.atan2 math.divide_no_nan math.multiply_no_nan math.xdivy math.xlogy math.less
math.less_equal math.greater math.greater_equal math.equal math.not_equal math.logical_and math.logical_or
math.logical_xor bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor linalg.matmul +  - * / // % ** < > == !=""".split()
REDUCE = """reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all math.reduce_logsumexp
math.reduce_variance math.reduce_std math.reduce_euclidean_norm""".split()
# Exception classes by which TensorFlow reports its own defects: any exception is accepted instead.
ACCIDENTS = ("AssertionError", "MemoryError", "SystemError", "UnboundLocalError", "InternalError", "RecursionError")


def is_one(call):
    """Whether the call reduces over a single element."""
    dims, axis = call["args"][0]["dims"], call["kwargs"].get("axis")
    axes = range(len(dims)) if axis is None else axis if isinstance(axis, list) else [axis]
    return all(dims[a] == 1 for a in axes if -len(dims) <= a < len(dims))


def no_slope(call):
    """Whether TensorFlow's gradient of this call is unreliable or not the derivative."""
    name, args = call["name"], call["args"]
    first = args[0] if isinstance(args[0], dict) else {"dims": [], "dtype": ""}
    if call["kwargs"].get("padding") == "VALID":  # a window that fits nowhere: memory as it was found
        window = args[1]["dims"] if len(args) > 1 and isinstance(args[1], dict) else [call["kwargs"].get("ksize", 1)] * 2
        return any(w > size for w, size in zip(window, first["dims"][1:-1]))
    return (("segment_prod" in name or name == "math.cumprod") and first["dtype"] in COMPLEX  # not conjugated
            or name in ("nn.silu", "nn.swish") and first["dtype"] in COMPLEX
            or name == "nn.dilation2d"  # of 16 bits: rounding makes equals
            or "l2_normalize" in name and first["dtype"] in HALVES and is_one(call)  # 0, and what rounding makes of it
            or name == "image.resize" and call["kwargs"]["antialias"] and first["dtype"] != "float32"  # its gradient's op has one type
            or name in ("sort", "math.top_k") and 0 in first["dims"]  # refused, for its own Range
            or name == "nn.softmax_cross_entropy_with_logits" and [a["dims"] for a in args if isinstance(a, dict)] != [first["dims"]] * 2)


HALFLESS = ("linalg.triangular_solve", "linalg.solve", "linalg.det", "linalg.slogdet")  # types declared there, without kernels


def no_rule(call):
    """Whether TensorFlow's graphs may give another answer than its eager mode. They do not always check that there are as many
    repeats as rows, that a permutation has each axis once, and that there are as many labels as logits. They rewrite an integer
    ** -1 and 0 - x with an unsigned x to ops without kernels, drop the exponent of a power where it is a constant that has more
    dimensions than the base, take truncatediv(x, 1) for x, and fold a slice that is too long of a constant vector."""
    return (call["name"] == "slice" and call["args"][0]["tensor"] != "tensor" and len(call["args"][0]["dims"]) == 1
            or call["name"] == "repeat" and isinstance(call["args"][1], list)
            or call["name"] == "transpose" and call["kwargs"]["perm"] == [0, 0]
            or call["name"] == "nn.softmax_cross_entropy_with_logits" and no_slope(call)
            or call["name"] in HALFLESS and call["args"][0]["dtype"] in HALVES
            or call["name"] in ("math.subtract", "-") and call["args"][0]["dtype"] in ("uint8", "uint16") and is_zero(call["args"][0])
            or call["name"] == "truncatediv" and is_ones(call["args"][1])
            or call["name"] in ("math.pow", "**") and is_rewritten(*call["args"]))


def is_zero(x):
    return x["tensor"] != "tensor" and not np.any(value_of(None, x))


def is_ones(x):
    return np.all(np.asarray(value_of(None, x)) == 1) if not isinstance(x, dict) or x["tensor"] != "tensor" else False


def is_rewritten(base, exponent):
    if not isinstance(exponent, dict):
        return exponent == -1 and base["dtype"] in INTS
    grows = exponent["tensor"] != "tensor" and any(
        m > n for m, n in itertools.zip_longest(exponent["dims"][::-1], base["dims"][::-1], fillvalue=0))
    return grows and len(np.unique(value_of(None, exponent))) == 1


UNSURE = {"gradient": no_slope, "gradient.graph": lambda call: no_slope(call) or no_rule(call), "open": no_rule, "graph": no_rule}


class Writer(peers_ops.Calls):
    """Writes calls: {"name": ..., "args": [...], "kwargs": {...}} of plain values and {"tensor": ...}."""

    def __init__(self, seed):
        self.r, self.left_out = random.Random(seed), collections.Counter()

    def dims(self, least=0):
        return [self.r.choice((1, 2, 3, 4, 2, 3, 0) if self.r.random() < 0.2 else (1, 2, 3, 4))
                for _ in range(self.r.randint(least, 3))]

    def dtype(self):
        return self.r.choice(self.r.choice((FLOATS, FLOATS, FLOATS, INTS, INTS, COMPLEX, ["bool"])))

    def tensor(self, dims=None, dtype=None, low=-4, high=4):
        dims = self.dims() if dims is None else dims
        form = self.r.choice(("tensor", "tensor", "tensor", "array", "list"))
        dtype = dtype or self.dtype()
        if dtype == "bfloat16":
            form = "tensor"
        return {"tensor": form, "dtype": dtype, "dims": dims, "seed": self.r.randrange(1 << 30), "low": low, "high": high,
                "odd": self.r.random() < 0.1}

    def partner(self, x):
        """A second operand: mostly one that fits by broadcasting."""
        chance = self.r.random()
        if chance < 0.15:
            return self.r.choice((2, -1, 0, 2.5, True, 3))
        if chance < 0.25:
            return self.tensor()
        dims = [d if self.r.random() < 0.8 else 1 for d in x["dims"]]
        if dims and self.r.random() < 0.2:
            dims = dims[1:]
        return self.tensor(dims, x["dtype"] if self.r.random() < 0.95 else None)

    def axis(self, x):
        n = len(x["dims"])
        some = self.r.choice((0, -1, n - 1, None, n, self.r.randint(-n - 1, n)))
        return [some] if some is not None and self.r.random() < 0.2 else some

    def call(self):
        kind = self.r.choice(("unary", "binary", "binary", "reduce", "shape", "shape", "more", "more", "more"))
        return getattr(self, kind)()

    def unary(self):
        return {"name": self.r.choice(UNARY), "args": [self.tensor()], "kwargs": {}}

    def binary(self):
        name = self.r.choice(BINARY)
        x = self.tensor(low=0 if name in ("math.pow", "**") else -4, high=3)
        if name == "linalg.matmul":
            x = self.tensor(self.dims(2), self.r.choice(FLOATS[:3] + ["int32"]))
            y = self.tensor(x["dims"][:-2] + [x["dims"][-1] if self.r.random() < 0.9 else 5, 3], x["dtype"])
            return {"name": name, "args": [x, y], "kwargs": {}}
        y = self.partner(x)
        if name in ("math.pow", "**") and isinstance(y, dict):
            y.update(low=0, high=3)
        if isinstance(y, dict) and name in "+-*///%**<>==!=" and x["tensor"] != "tensor" and y["tensor"] != "tensor":
            x["tensor"] = "tensor"
        return {"name": name, "args": [x, y] if isinstance(y, dict) or x["tensor"] != "list" else [dict(x, tensor="tensor"), y],
                "kwargs": {}}

    def reduce(self):
        name = self.r.choice(REDUCE)
        x = self.tensor(dtype="bool" if name in ("reduce_any", "reduce_all") and self.r.random() < 0.9 else None)
        return {"name": name, "args": [x], "kwargs": {"axis": self.axis(x), "keepdims": self.r.random() < 0.3}}

    def shape(self):
        r, x = self.r, self.tensor()
        n, axis = len(x["dims"]), self.axis(x)
        axis = axis[0] if isinstance(axis, list) else axis
        whole = axis if axis is not None else 0
        count = int(np.prod(x["dims"]))
        index = self.tensor(self.dims(), "int32", 0, max(1, x["dims"][whole] if -n <= whole < n else 1))
        index["odd"] = False
        like = self.tensor(x["dims"], x["dtype"])
        return r.choice([
            lambda: ("reshape", [x, r.choice(([-1], [count], [1, -1], [2, -1], [count, 1], [3, 2]))], {}),
            lambda: ("transpose", [x], {"perm": r.choice((None, r.sample(range(n), n), [0, 0]))}),
            lambda: ("expand_dims", [x, whole], {}),
            lambda: ("squeeze", [x], {"axis": r.choice((None, axis))}),
            lambda: ("tile", [x, [r.randint(0, 2) for _ in range(n if r.random() < 0.9 else n + 1)]], {}),
            lambda: ("pad", [x, [[r.randint(0, 2), r.randint(0, 2)] for _ in range(n)]],
                     {"mode": r.choice(("CONSTANT", "CONSTANT", "REFLECT", "SYMMETRIC"))}),
            lambda: ("concat", [[x, like, x]], {"axis": whole}),
            lambda: ("stack", [[x, like]], {"axis": whole}),
            lambda: ("unstack", [x], {"axis": whole}),
            lambda: ("split", [x, r.choice((1, 2, [1, 1], [1, -1]))], {"axis": whole}),
            lambda: ("gather", [x, index], {"axis": whole}),
            lambda: ("reverse", [x, [whole]], {}),
            lambda: ("roll", [x], {"shift": r.randint(-3, 3), "axis": whole}),
            lambda: ("broadcast_to", [x, [2] * r.randint(0, 1) + x["dims"]], {}),
            lambda: ("slice", [x, [0] * n, [r.choice((-1, 1, d)) for d in x["dims"]]], {}),
            lambda: ("where", [self.tensor(x["dims"], "bool"), x, like], {}),
            lambda: ("cast", [dict(x, odd=False), r.choice(FLOATS[:4] + INTS + ["bool", "complex64"])], {}),
            lambda: ("one_hot", [dict(index, tensor="tensor"), r.randint(0, 4)], {}),
            lambda: ("fill", [x["dims"], r.choice((1, 2.5, True, -3))], {}),
            lambda: ("range", [r.randint(-3, 5), r.randint(-3, 9), r.choice((1, 2, 3, 0, 0.5))], {}),
            lambda: ("linspace", [r.uniform(-2, 0), r.uniform(1, 3), r.randint(0, 5)], {}),
            lambda: ("eye", [r.randint(0, 4)], {"num_columns": r.choice((None, 2, 3))}),
            lambda: ("argmax", [dict(x, odd=False)], {"axis": whole}),
            lambda: ("argmin", [dict(x, odd=False)], {"axis": whole}),
            lambda: ("cumsum", [x], {"axis": whole, "exclusive": r.random() < 0.3, "reverse": r.random() < 0.3}),
            lambda: ("sort", [dict(x, odd=False)], {"axis": whole}),
            lambda: ("clip_by_value", [x, r.choice((-1, -1.0, 0)), r.choice((1, 1.0, 2))], {}),
            lambda: ("math.segment_sum", [x, sorted(r.randint(0, 3) for _ in range(x["dims"][0] if n else 1))], {}),
            lambda: ("math.unsorted_segment_sum",
                     [x, [r.randint(-1, 3) for _ in range(x["dims"][0] if n else 1)], 3], {}),
            lambda: ("zeros", [x["dims"], x["dtype"]], {}),
            lambda: ("constant", [r.choice((1, 2.5, [1, 2], [[1.5], [2]], True, [1, [2]]))],
                     {"dtype": r.choice((None, x["dtype"]))}),
            lambda: ("tensor_scatter_nd_update",
                     [dict(x, tensor="tensor"), [[0] * max(1, n)], self.tensor([1], x["dtype"])], {}),
            lambda: ("gather_nd", [x, [[r.randint(0, 3) for _ in range(r.randint(0, n))]]], {}),
            lambda: ("math.top_k", [dict(x, odd=False)], {"k": r.randint(0, 3)}),
            lambda: ("repeat", [x, r.choice((1, 2, 0))], {"axis": axis}),
        ])()

    def next(self):
        made = self.call()
        made = dict(zip(("name", "args", "kwargs"), made)) if isinstance(made, tuple) else made
        mode = self.r.choice(("eager",) * 4 + ("graph", "open", "gradient", "gradient.graph"))
        if mode in UNSURE and UNSURE[mode](made):
            self.left_out[f"functions: {mode} of calls that TensorFlow is not sure of"] += 1
            mode = "eager"
        return {**made, "mode": mode}


# ---- the process that runs the calls ------------------------------------------------------------------------------------

def value_of(tf, v):
    if isinstance(v, list):
        return [value_of(tf, e) for e in v]
    if not isinstance(v, dict):
        return v
    rng, dims, dtype = np.random.default_rng(v["seed"]), v["dims"], v["dtype"]
    numpy_dtype = "float32" if dtype == "bfloat16" else dtype
    if dtype == "bool":
        a = rng.integers(0, 2, dims).astype(bool)
    elif dtype in INTS:
        low = 0 if dtype.startswith("u") else v["low"]
        a = np.asarray(rng.integers(low, max(v["high"], low + 1), dims)).astype(dtype)
    else:
        a = np.asarray(rng.uniform(v["low"], v["high"], dims))
        a = (a + 1j * rng.uniform(-2, 2, dims) if dtype in COMPLEX else a).astype(numpy_dtype)
        if v["odd"] and a.size and dtype not in COMPLEX:
            a.reshape(-1)[0] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    if v["tensor"] == "list":
        return a.tolist()
    if v["tensor"] == "array":
        return a
    t = tf.constant(a)
    return tf.cast(t, tf.bfloat16) if dtype == "bfloat16" else t


def plain(tf, result):
    """A result as data: a list of (dtype, shape, bytes)."""
    if isinstance(result, (list, tuple)):
        return [leaf for r in result for leaf in plain(tf, r)]
    name = result.dtype.name
    a = np.asarray((tf.cast(result, tf.float32) if name == "bfloat16" else result).numpy())
    return [[name, list(a.shape), base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()]]


OPERATORS = {"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
             "**": "__pow__", "<": "__lt__", ">": "__gt__", "==": "__eq__", "!=": "__ne__"}


def function_of(tf, name):
    if name in OPERATORS:
        return getattr(operator, OPERATORS[name])
    f = tf
    for part in name.split("."):
        f = getattr(f, part)
    return f


def tensors_in(tf, v):
    if isinstance(v, (list, tuple)):
        return [t for e in v for t in tensors_in(tf, e)]
    return [v] if isinstance(v, tf.Tensor) else []


def put_back(tf, v, tensors):
    """`v` with its tensors replaced by those of an iterator."""
    if isinstance(v, list):
        return [put_back(tf, e, tensors) for e in v]
    return next(tensors) if isinstance(v, tf.Tensor) else v


def has_slope(t):
    return t.dtype.is_floating or t.dtype.is_complex


def gradients(tf, f, tensors):
    """The gradients of the sum of all results with respect to each tensor, then the results."""
    with tf.GradientTape() as tape:
        tape.watch([t for t in tensors if has_slope(t)])
        results = tensors_in(tf, [f(*tensors)])
    slopes = tape.gradient([r for r in results if has_slope(r)], tensors)
    return [tf.zeros([]) if g is None else tf.convert_to_tensor(g) for g in slopes] + results


def carry_out(tf, call):
    """Runs the call eagerly, or as a `tf.function` of its tensors (with known or unknown sizes), or computes the gradients with
    respect to these."""
    try:
        if "code" in call:
            return {"ok": peers_face.evaluate(tf, call)}
        if "program" in call:
            return {"ok": peers_programs.evaluate(tf, call, peers_face.leaves)}
        if "op" in call:
            return {"ok": peers_sweep.evaluate(tf, call, plain)}
        args, f, mode = [value_of(tf, a) for a in call["args"]], function_of(tf, call["name"]), call["mode"]
        kwargs = {k: value_of(tf, v) for k, v in call["kwargs"].items()}
        if mode == "eager":
            return {"ok": plain(tf, f(*args, **kwargs))}
        tensors = tensors_in(tf, args)

        def of(*tensors):
            return f(*put_back(tf, args, iter(tensors)), **kwargs)

        def slopes(*tensors):
            return gradients(tf, of, tensors)

        signature = [tf.TensorSpec([None] * len(t.shape), t.dtype) for t in tensors] if mode == "open" else None
        whole = {"gradient": slopes, "graph": tf.function(of, autograph=False),
                 "open": tf.function(of, autograph=False, input_signature=signature),
                 "gradient.graph": tf.function(slopes, autograph=False)}[mode]
        return {"ok": plain(tf, whole(*tensors))}
    except Exception as e:
        text = str(e)
        return {"error": [c.__name__ for c in type(e).__mro__], "text": text if len(text) < 2000 else text[:1000] + text[-1000:]}


def worker(module):
    import importlib
    import warnings
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # a call that needs too much memory must fail alone
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tf = importlib.import_module(module)
    for line in sys.stdin:
        print(json.dumps(carry_out(tf, json.loads(line))), file=out, flush=True)


# ---- the process that compares the answers ---------------------------------------------------------------------------------

class Side:
    def __init__(self, python, module):
        self.python, self.module, self.child = python, module, None

    def ask(self, call):
        if self.child is None:
            env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
            self.child = subprocess.Popen([self.python, __file__, "--worker", self.module], text=True, env=env,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        print(json.dumps(call), file=self.child.stdin, flush=True)

    def answer(self):
        line = self.child.stdout.readline()
        if line:
            return json.loads(line)
        status, self.child = self.child.wait(), None
        return {"error": ["death"], "text": f"the process died with status {status}"}


def array(leaf):
    name, dims, data = leaf[0].split()[-1], *leaf[1:]
    return np.frombuffer(base64.b64decode(data), "float32" if name == "bfloat16" else name).reshape(dims)


LACK = {"NotFoundError": ["Could not find device"], "InvalidArgumentError": ["No OpKernel", "OpKernel '"], "UnimplementedError": [""],
        "death": [""]}


def differs(call, ours, theirs):
    """Why two answers are not the same, or None. Nothing is compared where TensorFlow has no kernel for the call, or where an op of
    its gradient does not accept the dtype."""
    if "op" in call and not peers_sweep.comparable(ours, theirs):
        return None
    steep = "gradient" in call.get("mode", "")
    lack = LACK.get(theirs["error"][0], []) + ["Value for attr", "DataType", "was expected to be a"] * steep if "error" in theirs else []
    if any(text in theirs["text"] for text in lack):
        return None if ours.get("error") != ["death"] else ours["text"]
    if "error" in ours or "error" in theirs:
        if "error" not in theirs:
            return f"raised {ours['error'][0]} ({ours['text'][:200]}), TensorFlow answers {theirs['ok'][:1]}"
        if "error" not in ours:
            return f"answers {ours['ok'][:1]}, TensorFlow raises {theirs['error'][0]} ({theirs['text'][:200]})"
        if theirs["error"][0] in ours["error"] or theirs["error"][0] in ACCIDENTS or "'__ror__'" in theirs["text"]:
            return None
        return f"raised {ours['error'][0]} ({ours['text'][:200]}), TensorFlow {theirs['error'][0]} ({theirs['text'][:200]})"
    if [o[:2] for o in ours["ok"]] != [t[:2] for t in theirs["ok"]]:
        return f"answers {[o[:2] for o in ours['ok']]}, TensorFlow {[t[:2] for t in theirs['ok']]}"
    for o, t in zip(ours["ok"], theirs["ok"]):
        if o[0].startswith("="):
            if o != t:
                return f"answers {o[2]}, TensorFlow {t[2]}"
            continue
        a, b, rough = array(o), array(t), TOLERANCE.get(o[0].split()[-1], 0) * (3 if steep else 1)
        if rough and "program" in call:  # sums of sums
            rough *= 10
        if rough and steep and '"list"' in json.dumps(call.get("args", [])):  # which came as float32
            rough = max(rough, TOLERANCE["float32"])
        with np.errstate(all="ignore"):
            scale = np.abs(b[np.isfinite(b)]).max(initial=1.0) if rough else 1
            same = (a == b) | ((a != a) & (b != b)) | (np.abs(a - b) <= rough * (np.abs(b) + 0.1 * scale)) if rough else a == b
        if not np.all(same):
            at = tuple(np.argwhere(~np.asarray(same))[0]) if a.ndim else ()
            return f"[{', '.join(map(str, at))}] is {a[at]}, in TensorFlow {b[at]} ({o[0]})"
    return None


def sure(call, theirs, side):
    """Whether TensorFlow gives the same result in a new process. A result that depends on other calls or on uninitialized
    memory is not compared."""
    fresh = Side(side.python, side.module)
    fresh.ask(call)
    again = fresh.answer()
    if fresh.child is not None:
        fresh.child.kill()
    return differs(call, again, theirs) is None


def shown(call):
    if "program" in call:
        return peers_programs.shown(call)
    if "op" in call:
        return peers_sweep.shown(call)
    if "code" in call:
        return "; ".join([f"{n} = {v}" for n, v in zip("abc", call["args"])] + [call["code"]]) + f"  # {call['name']}"

    def one(v):
        if isinstance(v, dict):
            return f"{v['tensor']}({v['dtype']} {v['dims']} seed {v['seed']}{' odd' if v['odd'] else ''})"
        return "[" + ", ".join(map(one, v)) + "]" if isinstance(v, list) else repr(v)
    return (f"{call['name']}({', '.join([one(a) for a in call['args']] + [f'{k}={v!r}' for k, v in call['kwargs'].items()])})"
            f"  # {call['mode']}")


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("--peers", default=str(ROOT / "build/peers-venv"))
    parse.add_argument("--python", default=str(ROOT / ".venv/bin/python"))
    parse.add_argument("--calls", type=int, default=10000)
    parse.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parse.add_argument("--only", default="", help="only calls whose name contains this")
    parse.add_argument("--kinds", default="all", help="which calls are written, comma separated: functions, face (operators, "
                       "indexing, conversion), uses, programs (whole ones), sweep (raw ops at the edge of what they accept)")
    parse.add_argument("--show", type=int, default=5, help="findings shown of each name")
    parse.add_argument("--worker", help=argparse.SUPPRESS)
    args = parse.parse_args()
    if args.worker:
        return worker(args.worker)
    print(f"seed {args.seed}", flush=True)
    kinds = {"functions": Writer, "face": peers_face.FaceWriter, "uses": peers_uses.UsesWriter,
             "programs": peers_programs.ProgramWriter,
             "sweep": lambda seed: peers_sweep.SweepWriter(seed, args.calls // len(wanted))}
    wanted = list(kinds) if args.kinds == "all" else args.kinds.split(",")
    writers = [kinds[kind](args.seed) for kind in wanted]
    found, raised, told = collections.Counter(), 0, time.monotonic()
    sides = Side(args.python, "evenflow"), Side(str(pathlib.Path(args.peers) / "bin/python"), "tensorflow")
    for k in range(args.calls):
        if time.monotonic() - told > 15:
            told = time.monotonic()
            print(f"    {k} calls, {sum(found.values())} findings", flush=True)
        call = writers[k % len(writers)].next()
        if call is None or args.only not in call["name"]:
            continue
        for side in sides:
            side.ask(call)
        ours, theirs = [side.answer() for side in sides]
        raised += "error" in theirs
        why = differs(call, ours, theirs)
        if why and (found[call["name"]] >= args.show or sure(call, theirs, sides[1])):
            found[call["name"]] += 1
            if found[call["name"]] <= args.show:
                print(f"{shown(call)}\n    {why}", flush=True)
    for what, why in peers_programs.LEFT_OUT.items() if "programs" in wanted else ():
        print(f"programs have no {what}: {why}")
    for writer in writers:
        for why, n in getattr(writer, "left_out", {}).items():
            print(f"left out {n} times: {why}")
    print(f"{args.calls} calls, of which TensorFlow refused {raised}; {sum(found.values())} findings"
          + ("" if not found else ": " + ", ".join(f"{n} {c}" for n, c in found.most_common())))
    return sum(found.values()) > 0


if __name__ == "__main__":
    sys.exit(main())
