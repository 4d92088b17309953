"""Counting, crossing and n-grams with sparse and ragged results; strings as characters; shapes of ragged tensors."""
BIN_OPTIONS = {"plain": {}, "rows": dict(axis=-1, minlength=8), "binary": dict(axis=-1, binary_output=True),
               "longest": dict(axis=-1, maxlength=3), "both": dict(minlength=2, maxlength=9), "axis 1": dict(axis=1)}
WIDTHS = {"2": dict(ngram_width=2), "1 and 2": dict(ngram_width=[1, 2]), "joined": dict(ngram_width=(1, 3), separator="_"),
          "padded": dict(ngram_width=2, pad_values="P"), "sides": dict(ngram_width=3, pad_values=("L", "R"), padding_width=1),
          "short": dict(ngram_width=5, preserve_short_sequences=True), "none": dict(ngram_width=5), "zero": dict(ngram_width=0),
          "number": dict(ngram_width=2, pad_values=3)}


def numbers(tf):
    rows = [[1, 2, 2], [0, 5, 1]]
    return {"dense": rows, "vector": [3, 3, 1], "sparse": tf.sparse.from_dense(rows), "ragged": tf.ragged.constant([[1, 2], [3, 3, 1]]),
            "int64": tf.constant(rows, tf.int64)}


def weighted(tf):
    rows = [[1, 2, 2], [0, 5, 1]]
    return {"dense": (rows, [[0.5, 1, 2], [1, 2, 3.0]]), "vector": ([3, 3, 1], [1, 2, 3]),
            "sparse": (tf.sparse.from_dense(rows), tf.sparse.from_dense([[1.0, 2, 2], [0, 5, 1]])),
            "ragged": (tf.ragged.constant([[1, 2], [3, 3, 1]]), tf.ragged.constant([[1, 2], [3, 3, 1]], dtype=tf.float64)),
            "negative": ([[-1]], [[1.0]]), "lengths differ": ([[1, 2]], [[1.0]])}


def features(tf):
    c = tf.constant
    return {"strings": [c([["a"], ["b"]]), c([["x"], ["y"]])], "integers": [c([[1], [2]], tf.int64), c([["x"], ["y"]])],
            "several": [c([["a", "b"]]), c([["x", "y"]])], "three": [c([["a"]]), c([["b"]]), c([["c"]])],
            "sparse": [tf.sparse.from_dense([["a"], ["b"]]), c([["x"], ["y"]])], "gaps": [tf.sparse.from_dense([["a", ""], ["", ""], ["b", "c"]]), c([["x"], ["y"], ["z"]])],
            "ragged": [tf.ragged.constant([["a", "b"], ["c"]]), tf.ragged.constant([["x"], ["y"]])], "int32": [c([[1]]), c([[-2]])]}


def texts(tf):
    return {"vector": ["a", "b", "c"], "matrix": [["a", "b"], ["c", "d"]], "ragged": tf.ragged.constant([["a", "b", "c"], ["d"], []]),
            "empty": tf.constant([], tf.string), "deep": tf.ragged.constant([[["a", "b"], ["c"]], [["d"]]])}


def unicode(tf):
    return {"scalar": "h\u00e9llo", "vector": ["h\u00e9llo", "\u65e5\u672c", "\U0001f600"], "matrix": [["a", "bc"]], "ragged": tf.ragged.constant([["ab"], ["c", "d\u00e9"]]),
            "malformed": [b"a\xffb", b"\xe6\x97", b"\xf0\x9f\x98x", b"\xc0\x80"]}


def _in_function(tf, function, *args):
    return tf.function(function)(*args)


CASES = {}
for _option in BIN_OPTIONS:
    for _name in ("dense", "vector", "sparse", "ragged", "int64"):
        CASES[f"bincount {_option} {_name}"] = lambda tf, tmp, o=_option, n=_name: tf.sparse.bincount(numbers(tf)[n], **BIN_OPTIONS[o])
for _name in ("dense", "vector", "sparse", "ragged", "negative", "lengths differ"):
    for _axis in (0, -1):
        CASES[f"weighted bincount {_name} {_axis}"] = lambda tf, tmp, a=_axis, n=_name: tf.sparse.bincount(*weighted(tf)[n], axis=a, minlength=4)
for _name in ("strings", "integers", "several", "three", "sparse", "gaps", "ragged", "int32"):
    CASES[f"cross {_name}"] = lambda tf, tmp, n=_name: tf.sparse.cross(features(tf)[n])
    CASES[f"cross {_name} joined"] = lambda tf, tmp, n=_name: tf.sparse.cross(features(tf)[n], separator="-")
    for _options in (dict(num_buckets=10), dict(), dict(num_buckets=1000, hash_key=7)):
        CASES[f"cross_hashed {_name} {_options}"] = lambda tf, tmp, n=_name, o=_options: tf.sparse.cross_hashed(features(tf)[n], **o)
for _option in WIDTHS:
    for _name in ("vector", "matrix", "ragged", "empty", "deep"):
        CASES[f"ngrams {_option} {_name}"] = lambda tf, tmp, o=_option, n=_name: tf.strings.ngrams(texts(tf)[n], **WIDTHS[o])
for _name in ("scalar", "vector", "matrix", "ragged", "malformed"):
    CASES[f"unicode_split {_name}"] = lambda tf, tmp, n=_name: tf.strings.unicode_split(unicode(tf)[n], "UTF-8")
    for _errors in ("replace", "ignore", "strict"):
        CASES[f"unicode_decode {_name} {_errors}"] = lambda tf, tmp, n=_name, e=_errors: tf.strings.unicode_decode(unicode(tf)[n], "UTF-8", errors=e)
    for _encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        CASES[f"unicode_encode {_name} {_encoding}"] = lambda tf, tmp, n=_name, e=_encoding: tf.strings.unicode_encode(
            tf.strings.unicode_decode(unicode(tf)[n], "UTF-8"), e)
CASES["unicode_encode outside"] = lambda tf, tmp: tf.strings.unicode_encode([[97, 0xD800], [98, 0x110000]], "UTF-8", errors="strict")
CASES["is_tensor"] = lambda tf, tmp: [tf.is_tensor(v) for v in (tf.data.Dataset.range(3), iter(tf.data.Dataset.range(3)), tf.ragged.constant([[1]]), tf.sparse.from_dense([[1]]),
                                                               tf.IndexedSlices([1.0], [0]), tf.TensorArray(tf.float32, 1), tf.Variable(1.0), tf.TensorSpec([1]))]
CASES["shape of ragged"] = lambda tf, tmp: [repr(tf.shape(tf.ragged.constant([[1], [2, 3]]))), tf.shape(tf.ragged.constant([[1], [2, 3]]))[0],
                                            tf.shape(tf.ragged.constant([[[1]], [[2], [3]]], ragged_rank=1)).static_lengths(), repr(tf.shape(tf.ragged.constant([[1], [2, 3]]))[:1])]
CASES["ragged axis"] = lambda tf, tmp: tf.shape(tf.ragged.constant([[1], [2, 3]]))[1]
CASES["in a function"] = lambda tf, tmp: [_in_function(tf, lambda x: tf.sparse.to_dense(tf.sparse.bincount(x, axis=-1, minlength=4)), tf.constant([[1, 3], [0, 0]])),
                                          _in_function(tf, lambda x: tf.strings.ngrams(x, 2), tf.constant(["a", "b"])),
                                          _in_function(tf, lambda x: tf.strings.unicode_split(x, "UTF-8").to_tensor(), tf.constant(["a\u00e9", "b"])),
                                          _in_function(tf, lambda x, y: tf.sparse.to_dense(tf.sparse.cross_hashed([x, y], 100)), tf.constant([["a"]]), tf.constant([[5]], tf.int64))]


def _made_while_tracing(tf, make):
    """A function that changes a variable and makes others in its first trace: its effect happens once a call."""
    count, kept, base = tf.Variable(0), [], tf.Variable(tf.ones([3]))

    @tf.function
    def f():
        count.assign_add(1)
        if not kept:
            kept.extend(make(base))
        return count + 0

    return [f(), f(), f(), count, [tf.identity(v) for v in kept]]


MAKERS = {"tensor": lambda tf, base: [tf.Variable(tf.zeros([3])) for _ in range(3)], "callable": lambda tf, base: [tf.Variable(lambda: tf.zeros([3])) for _ in range(3)],
          "like": lambda tf, base: [tf.Variable(lambda: tf.zeros_like(base) + 2) for _ in range(3)], "value": lambda tf, base: [tf.Variable(base + 1.0)]}
for _name in MAKERS:
    CASES[f"variables made while tracing: {_name}"] = lambda tf, tmp, n=_name: _made_while_tracing(tf, lambda base: MAKERS[n](tf, base))


def _stacked(tf):
    """The size of an array of fixed size is known behind a loop."""
    seen = []

    @tf.function
    def f(x):
        made = tf.while_loop(lambda k, a: k < 6, lambda k, a: (k + 1, a.write(k, x)), (0, tf.TensorArray(tf.float32, 6, element_shape=[None, 2])))[1]
        seen.append(str(made.stack().shape))
        return made.stack()

    f(tf.ones([3, 2]))
    return seen


CASES["stack behind a loop"] = lambda tf, tmp: _stacked(tf)
