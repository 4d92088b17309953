#!/usr/bin/env python3
"""Random programs that write to every array they can access, compared with numpy.

    aliasing_fuzz.py SECONDS SEED [--programs N] [--only K]

A program makes tensors and variables, reads them as arrays in every way there is, writes to those arrays, builds views,
deferred chains, functions and gradients from its objects, and assigns to variables. For each object the fuzzer keeps a copy of
the expected value: a tensor never changes, an array changes only by the program's writes, a variable only by assignments.
Values are small whole numbers, so that all arithmetic is exact. A wrong program is printed as its list of steps and can be
repeated alone by its number.
"""
import argparse
import random
import sys
import time

import numpy as np

import evenflow as tf

SIZES = [(3,), (5, 4), (30, 40), (1100,), (130, 130), (2, 9000), (17000,)]
DTYPES = ["float32", "float32", "float64", "int32", "int64"]
# Constants that functions capture, and what they must hold.
CAPTURED = {dtype: (tf.constant(np.arange(1300).astype(dtype)), np.arange(1300).astype(dtype)) for dtype in DTYPES}


def whole(rng, shape, dtype):
    return np.asarray(rng.integers(-9, 10, shape), dtype)


@tf.function
def same(x):
    return x


@tf.function
def constants(x):
    return CAPTURED[x.dtype.name][0], tf.cast(tf.range(1300), x.dtype), tf.zeros_like(x)


@tf.function
def views(x):
    return tf.reshape(x, [-1]), tf.identity(x), tf.expand_dims(x, 0), x + tf.cast(1, x.dtype)


@tf.function
def nested(x):
    return same(x), {"twice": x + x, "view": same(tf.reshape(x, [-1]))}


@tf.function
def update(v, x):
    v.assign_add(x)
    return v.read_value(), x


@tf.function
def replace(v, x):
    v.assign(x)
    return v.read_value()


class Program:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.rng = np.random.default_rng([seed, number])
        self.steps, self.wrong = [], None
        self.tensors, self.arrays, self.variables = [], [], []
        self.dtype = self.random.choice(DTYPES)
        self.shape = self.random.choice(SIZES)

    def note(self, text, *args):
        self.steps.append(text.format(*args))

    # ---- objects and what they must hold

    def tensor(self, t, truth, text):
        self.tensors.append((t, np.array(truth), text))
        self.note("t{} = {}", len(self.tensors) - 1, text)

    def array(self, a, truth, text):
        if not isinstance(a, np.ndarray):
            return
        self.arrays.append((a, np.array(truth), text))
        self.note("a{} = {}{}", len(self.arrays) - 1, text, "" if a.flags.writeable else " (read-only)")

    def pick(self, kind):
        if not kind:
            return None
        k = self.random.randrange(len(kind))
        return k, *kind[k]

    def check(self):
        for name, kind in (("t", self.tensors), ("a", self.arrays), ("v", self.variables)):
            for k, (thing, truth, _) in enumerate(kind):
                value = thing if name == "a" else np.array(thing)
                if value.shape != truth.shape or not np.array_equal(value, truth):
                    self.wrong = f"{name}{k} changed"
                    return False
        return True

    # ---- steps

    def make(self):
        source = whole(self.rng, self.shape, self.dtype)
        truth = source.copy()
        how = self.random.choice(["constant", "convert_to_tensor", "identity", "from_dlpack", "view"])
        if how == "from_dlpack":
            t = tf.experimental.dlpack.from_dlpack(source)
        elif how == "view":
            t = tf.convert_to_tensor(source.T).numpy().T
            t = tf.constant(t)
        else:
            t = getattr(tf, how)(source)
        source[...] = 77  # the tensor must have its own copy
        self.tensor(t, truth, f"tf.{how}(array)")

    def make_variable(self):
        source = whole(self.rng, self.shape, self.dtype)
        truth = source.copy()
        if self.random.random() < 0.5 or not self.tensors:
            v = tf.Variable(source)
            source[...] = 77
            text = "tf.Variable(array)"
        else:
            k, t, truth, _ = self.pick(self.tensors)
            v, text = tf.Variable(t), f"tf.Variable(t{k})"
        self.variables.append((v, np.array(truth), text))
        self.note("v{} = {}", len(self.variables) - 1, text)

    def compute(self):
        k, x, a, _ = self.pick(self.tensors)
        n = self.random.randrange(12)
        if n == 0:
            fitting = [j for j, (_, b, _) in enumerate(self.tensors) if b.shape == a.shape]
            j = self.random.choice(fitting)
            self.tensor(x + self.tensors[j][0], a + self.tensors[j][1], f"t{k} + t{j}")
        elif n == 1:
            self.tensor(tf.reshape(x, [-1]), a.reshape(-1), f"reshape(t{k})")
        elif n == 2 and a.ndim > 0:
            i = self.random.randrange(a.shape[0])
            self.tensor(x[i:], a[i:], f"t{k}[{i}:]")
        elif n == 3 and a.ndim > 1:
            self.tensor(tf.transpose(x), a.T, f"transpose(t{k})")
        elif n == 4:
            self.tensor(tf.identity(x), a, f"identity(t{k})")
        elif n == 5:
            y, b = x, a
            for _ in range(self.random.randrange(1, 9)):  # a deferred chain
                y, b = tf.clip_by_value(y + y - 1, -99, 99), np.clip(b + b - 1, -99, 99)
            self.tensor(y, b.astype(a.dtype), f"chain(t{k})")
        elif n == 6:
            self.tensor(tf.expand_dims(x, 0), a[None], f"expand_dims(t{k})")
        elif n == 7 and a.ndim > 0:
            self.tensor(tf.concat([x, x], 0), np.concatenate([a, a]), f"concat(t{k})")
        elif n == 8 and a.ndim > 0 and a.shape[0] < 40:
            rows = tf.unstack(x)
            i = self.random.randrange(len(rows))
            self.tensor(rows[i], a[i], f"unstack(t{k})[{i}]")
        elif n == 9:
            self.tensor(tf.zeros_like(x) + x, a, f"zeros_like(t{k}) + t{k}")
        elif n == 10:
            self.tensor(tf.squeeze(tf.expand_dims(x, -1), -1), a, f"squeeze(expand_dims(t{k}))")
        else:
            self.tensor(tf.stop_gradient(x) * 1, a, f"t{k} * 1")
        if len(self.tensors) > 12 or self.tensors[-1][1].size > 40000:
            del self.tensors[self.random.randrange(len(self.tensors) - 1)]

    READS = ["numpy", "array", "asarray", "__array__", "__array__ copy", "memoryview", "dlpack", "static", "temporary", "view",
             "bound", "unbound", "item", "row", "list", "_numpy"]

    def read(self):
        k, x, a, _ = self.pick(self.tensors)
        how = self.random.choice(self.READS)
        text = f"{how} of t{k}"
        if how == "numpy":
            self.array(x.numpy(), a, text)
        elif how == "_numpy":
            self.array(x._numpy(), a, text)
        elif how == "array":
            self.array(np.array(x), a, text)
        elif how == "asarray":
            self.array(np.asarray(x), a, text)
        elif how == "__array__":
            self.array(x.__array__(*self.random.choice([(), (a.dtype,)])), a, text)
        elif how == "__array__ copy":
            self.array(x.__array__(copy=self.random.choice([None, True, False])), a, text)
        elif how == "memoryview":
            self.array(np.asarray(memoryview(x)), a, text)
        elif how == "dlpack":
            self.array(np.from_dlpack(x), a, text)
        elif how == "static":
            self.array(tf.get_static_value(x), a, text)
        elif how == "temporary":
            self.array((x + 1).numpy(), a + 1, text)
        elif how == "view":
            which = self.random.randrange(3)
            if which == 0:
                self.array(tf.reshape(x, [-1]).numpy(), a.reshape(-1), text)
            elif which == 1:
                self.array(tf.identity(x).numpy(), a, text)
            else:
                self.array(x[...].numpy(), a, text)
        elif how == "bound":
            method = (x + 2).numpy
            self.array(method(), a + 2, text)
            if a.ndim:
                self.write_to(len(self.arrays) - 1)
            self.array(method(), a + 2, text + " again")
        elif how == "unbound":
            self.array(type(x).numpy(x), a, text)
        elif how == "item" and a.ndim:
            self.array(x[0].numpy(), a[0], text)
        elif how == "row" and a.ndim:
            self.array(next(iter(x)).numpy(), a[0], text)
        elif how == "list":
            both = [x + 3, x]
            self.array(both[0].numpy(), a + 3, text)
            self.tensor(both[0], a + 3, f"t{k} + 3, read before")
        if len(self.arrays) > 14:
            del self.arrays[self.random.randrange(len(self.arrays))]

    def read_variable(self):
        k, v, a, _ = self.pick(self.variables)
        n = self.random.randrange(6)
        if n == 0:
            self.array(v.numpy(), a, f"v{k}.numpy()")
        elif n == 1:
            self.array(v.value().numpy(), a, f"v{k}.value().numpy()")
        elif n == 2:
            self.array(np.asarray(v), a, f"asarray(v{k})")
        elif n == 3:
            self.tensor(v.read_value(), a, f"v{k}.read_value()")
        elif n == 4:
            self.tensor(tf.identity(v), a, f"identity(v{k})")
        else:
            self.array((v + 1).numpy(), a + 1, f"(v{k} + 1).numpy()")

    def scribble(self, a):
        """Writes to an array, or to a part of it."""
        n = self.random.randrange(4)
        if n == 0:
            a[...] = self.random.randrange(100, 200)
        elif n == 1:
            a *= 0
        elif n == 2:
            a.reshape(-1)[: max(1, a.size // 2)] = 55
        else:
            a += 1

    def write_to(self, k):
        a, _, text = self.arrays[k]
        if a.flags.writeable:
            self.scribble(a)
            self.note("write to a{}", k)
            self.arrays[k] = (a, np.array(a), text)

    def write(self):
        self.write_to(self.random.randrange(len(self.arrays)))

    def assign(self):
        k, v, a, text = self.pick(self.variables)
        n = self.random.randrange(8)
        fitting = [j for j, (_, b, _) in enumerate(self.tensors) if b.shape == a.shape and b.dtype == a.dtype]
        if n == 0 and fitting:
            j = self.random.choice(fitting)
            v.assign(self.tensors[j][0])
            a, did = self.tensors[j][1], f"assign(t{j})"
        elif n == 1:
            arrays = [j for j, (_, b, _) in enumerate(self.arrays) if b.shape == a.shape and b.dtype == a.dtype]
            if not arrays:
                return
            j = self.random.choice(arrays)
            v.assign(self.arrays[j][0])
            a, did = self.arrays[j][1], f"assign(a{j})"
        elif n == 2 and fitting:
            j = self.random.choice(fitting)
            v.assign_add(self.tensors[j][0])
            a, did = a + self.tensors[j][1], f"assign_add(t{j})"
        elif n == 3 and fitting:
            j = self.random.choice(fitting)
            out = update(v, self.tensors[j][0])
            a, did = a + self.tensors[j][1], f"update(t{j})"
            self.tensor(out[0], a, f"read after update of v{k}")
        elif n == 4 and fitting:
            j = self.random.choice(fitting)
            out = replace(v, self.tensors[j][0])
            a, did = self.tensors[j][1], f"replace(t{j})"
            self.tensor(out, a, f"read after replace of v{k}")
        elif n == 5 and a.ndim:
            i = self.random.randrange(a.shape[0])
            v.scatter_nd_update([[i]], tf.fill((1, *a.shape[1:]), tf.cast(4, a.dtype)))
            a = a.copy()
            a[i] = 4
            did = f"scatter row {i}"
        elif n == 6 and a.ndim:
            i = self.random.randrange(a.shape[0])
            v[i:].assign(tf.zeros_like(v[i:]) + 6)
            a = a.copy()
            a[i:] = 6
            did = f"slice {i} assigned"
        else:
            v.assign(v + 1)
            a, did = a + 1, "assign(v + 1)"
        self.variables[k] = (v, np.array(a), text)
        self.note("v{}.{}", k, did)

    def call(self):
        k, x, a, _ = self.pick(self.tensors)
        if a.size > 20000 or a.ndim > 2:
            return
        n = self.random.randrange(4)
        if n == 0:
            out, truth = same(x), a
        elif n == 1:
            i = self.random.randrange(3)
            out = constants(x)[i]
            truth = CAPTURED[x.dtype.name][1] if i < 2 else np.zeros_like(a)
        elif n == 2:
            i = self.random.randrange(4)
            out, truth = views(x)[i], [a.reshape(-1), a, a[None], a + 1][i]
        else:
            first, both = nested(x)
            out, truth = self.random.choice([(first, a), (both["twice"], a + a), (both["view"], a.reshape(-1))])
        if self.random.random() < 0.5:
            self.tensor(out, truth, f"function {n} of t{k}")
        else:
            a = out.numpy()
            del out
            self.array(a, truth, f"function {n} of t{k}, read")

    def differentiate(self):
        if self.dtype not in ("float32", "float64"):
            return
        k, x, a, _ = self.pick(self.tensors)
        if x.dtype.name != self.dtype:
            return
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x + tf.identity(x)
        first = tape.gradient(y, x)
        self.array(first.numpy(), 2 * a + 1, f"gradient at t{k}")
        if a.ndim and self.random.random() < 0.5:
            self.write_to(len(self.arrays) - 1)
        self.tensor(tape.gradient(y, x), 2 * a + 1, f"gradient at t{k} again")
        self.tensor(first, 2 * a + 1, f"the first gradient at t{k}")

    def callback(self):
        k, x, a, _ = self.pick(self.tensors)
        kept = []

        def fn(value):
            value = value.numpy() if hasattr(value, "numpy") else value
            kept.append(value)
            result = np.array(value) + 1
            kept.append(result)
            return result

        one = self.random.choice([tf.numpy_function, tf.py_function])
        y = one(fn, [x], x.dtype)
        for array in kept:
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[...] = 33
        self.tensor(y, a + 1, f"{one.__name__} of t{k}")

    def run(self):
        self.make()
        for _ in range(self.random.randrange(8, 30)):
            kinds = [self.make, self.compute, self.compute, self.compute, self.read, self.read, self.read, self.call,
                     self.differentiate, self.make_variable]
            if self.arrays:
                kinds += [self.write] * 4
            if self.variables:
                kinds += [self.assign] * 3 + [self.read_variable] * 2
            if self.random.random() < 0.05:
                kinds = [self.callback]
            self.random.choice(kinds)()
            if self.random.random() < 0.15 and not self.check():
                break
        return self.wrong is None and self.check()


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("seconds", type=float)
    parse.add_argument("seed", type=int)
    parse.add_argument("--programs", type=int, help="stop after so many")
    parse.add_argument("--only", type=int, help="run this one alone, and print its steps")
    args = parse.parse_args()
    end, n, wrong = time.monotonic() + args.seconds, 0, 0
    numbers = [args.only] if args.only is not None else iter(range(1 << 60))
    for number in numbers:
        if time.monotonic() > end or n == args.programs:
            break
        program = Program(args.seed, number)
        try:
            right = program.run()
        except Exception as e:  # a finding like any other
            right, program.wrong = False, f"{type(e).__name__}: {e}"
        n += 1
        if not right or args.only is not None:
            wrong += not right
            print(f"program {number}: {program.wrong or 'right'}; repeat with --only {number}")
            print("    " + "\n    ".join(program.steps))
        if wrong >= 20:
            break
    print(f"{n} programs, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
