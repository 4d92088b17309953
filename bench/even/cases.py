"""The cases of the sweep: ops, dtypes and sizes. A case is (op, dtype, elements, way)."""
import pathlib
import random
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent / "src"
LARGEST = 4 << 20
FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
BYTES = {"float16": 2, "bfloat16": 2, "float64": 8, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16, "int8": 1,
         "uint8": 1, "bool": 1, "int16": 2, "uint16": 2}

NUMBER = re.compile(r"\b[A-Za-z_]\w*\s*=\s*(?:\(size_t\))?((?:\d[\de.]*|<<|\*|\s|\(|\))+?)\s*[,;}/]")


def constants():
    """All named numbers in the engine's source (enum members and constants), which include its thresholds."""
    found = set()
    for path in sorted(SOURCE.rglob("*.[ch]")):
        if path.stem.endswith(("_test", "_bench")):
            continue
        for line in path.read_text().splitlines():
            if not re.match(r"\s*(enum|static const|int64_t ef_|const )", line):
                continue
            for text in NUMBER.findall(line):
                try:
                    value = int(eval(text, {"__builtins__": {}}))
                except (SyntaxError, TypeError, ValueError, OverflowError):
                    continue
                if 8 <= value <= 16 * LARGEST:
                    found.add(value)
    return sorted(found)


def sizes(dtype):
    """Element counts: powers of two and their neighbours, and both sides of each constant, as elements and as bytes."""
    wanted = {1, 2, 3, 5, 7}
    for c in constants():
        for n in (c, c // BYTES.get(dtype, 4)):
            wanted |= {n - 1, n, n + 1}
    for bit in range(3, 23):
        wanted |= {1 << bit, (1 << bit) - 1, (1 << bit) + 1, (1 << bit) + (1 << bit - 1)}
    return sorted(n for n in wanted if 1 <= n <= LARGEST)


def square(tf, x):
    """The elements of x as the largest possible square matrix; the rest is dropped."""
    side = max(1, int(int(x.shape[0]) ** 0.5))
    return tf.reshape(x[:side * side], [side, side])


# name: (function of tf and two operands of one shape [n], dtypes, most elements); a cheap result keeps the sweep fast
OPS = {
    "add": (lambda tf, x, y: x + y, FLOATS + INTS + COMPLEX, LARGEST),
    "multiply": (lambda tf, x, y: x * y, FLOATS + INTS + COMPLEX, LARGEST),
    "divide": (lambda tf, x, y: x / (y + 1), FLOATS + COMPLEX, LARGEST),
    "number": (lambda tf, x, y: x * 2 + 1, FLOATS + INTS + COMPLEX, LARGEST),
    "broadcast": (lambda tf, x, y: x + y[:1], FLOATS + INTS + COMPLEX, LARGEST),
    "tanh": (lambda tf, x, y: tf.tanh(x), FLOATS + COMPLEX, 1 << 20),
    "relu": (lambda tf, x, y: tf.nn.relu(x), FLOATS + INTS, LARGEST),
    "square sum": (lambda tf, x, y: x + tf.reduce_sum(x * y), FLOATS + ("int32", "int64") + COMPLEX, LARGEST),
    "mean": (lambda tf, x, y: x - tf.reduce_mean(x), FLOATS + COMPLEX, LARGEST),
    "maximum": (lambda tf, x, y: tf.maximum(x, y), FLOATS + INTS, LARGEST),
    "less": (lambda tf, x, y: tf.where(x < y, x, y), FLOATS + INTS, LARGEST),
    "cast": (lambda tf, x, y: tf.cast(tf.cast(x, tf.float32), x.dtype), FLOATS + INTS, LARGEST),
    "concat": (lambda tf, x, y: tf.concat([x, y], 0)[:x.shape[0]], FLOATS + INTS + COMPLEX + ("bool",), 1 << 20),
    "slice": (lambda tf, x, y: tf.concat([x[1:], y[:1]], 0), FLOATS + INTS + COMPLEX + ("bool",), 1 << 20),
    "transpose": (lambda tf, x, y: x + tf.reshape(tf.transpose(tf.reshape(y, [1, -1])), [-1]), FLOATS + INTS + COMPLEX, 1 << 20),
    "gather": (lambda tf, x, y: tf.gather(x, tf.range(tf.size(x))), FLOATS + INTS + COMPLEX + ("bool",), 1 << 18),
    "stack": (lambda tf, x, y: tf.unstack(tf.stack([x, y]))[0], FLOATS + INTS + COMPLEX, 1 << 20),
    "cumsum": (lambda tf, x, y: tf.cumsum(x), FLOATS + ("int32", "int64"), 1 << 18),
    "softmax": (lambda tf, x, y: tf.nn.softmax(x), FLOATS, 1 << 18),
    "matmul": (lambda tf, x, y: x + tf.reduce_sum(tf.matmul(square(tf, x), square(tf, y))), FLOATS + ("int32", "complex64"), 1 << 16),
    "sort": (lambda tf, x, y: tf.sort(x), ("float32", "float64", "int32", "int64"), 1 << 14),
    "one hot": (lambda tf, x, y: x + tf.cast(tf.one_hot(0, x.shape[0]), x.dtype), FLOATS, 1 << 16),
    "norm": (lambda tf, x, y: tf.nn.l2_normalize(x), FLOATS, 1 << 20),
    "not": (lambda tf, x, y: tf.logical_not(x), ("bool",), LARGEST),
    "and": (lambda tf, x, y: tf.logical_and(x, y), ("bool",), LARGEST),
}


def all_cases(ways):
    """Every case; `ways` maps a name to its Way."""
    for op, (_, dtypes, most) in OPS.items():
        for dtype in dtypes:
            for n in sizes(dtype):
                for way in ways.values():
                    if n <= most and way.takes(dtype):
                        yield op, dtype, n, way.name


def sample(ways, seed):
    """Yields random cases forever. The op, the dtype and the way are drawn first, so that all families are equally likely;
    small sizes are more likely, because a large case takes as long as many small ones."""
    r = random.Random(seed)
    of = {dtype: sizes(dtype) for dtype in FLOATS + INTS + COMPLEX + ("bool",)}
    while True:
        op = r.choice(list(OPS))
        _, dtypes, most = OPS[op]
        dtype, way = r.choice(dtypes), r.choice(list(ways.values()))
        n = r.choice([n for n in of[dtype] if n <= most])
        if n > 1 << 18 and r.random() < 0.6:
            n = r.choice([n for n in of[dtype] if n <= 1 << 18])
        if way.takes(dtype):
            yield op, dtype, n, way.name
