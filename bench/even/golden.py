"""Golden cases (tests/golden), each called 300 times in a mode: nothing may grow. The function is built once; what it makes is
dropped after each call."""
import functools
import gc
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden"
CALLS, WARM = 300, 60
sys.path.insert(0, str(GOLDEN))


@functools.cache
def corpus():
    import check
    return check.Corpus(str(GOLDEN), "public")


def everything():
    """(id, mode) of every case that TensorFlow answers."""
    return [(case["id"], mode) for case in corpus().cases for mode in case["modes"]]


@functools.cache
def by_id():
    return {case["id"]: case for case in corpus().cases}


def attempt(call, tensors):
    try:
        call(*tensors)
    except Exception:
        pass  # error cases: raising must not hold anything either


def measure(tf, name, mode, warm=WARM):
    """`warm` calls fill the caches that have a bound; CPython's own, of type attributes, takes some hundreds."""
    import check
    import meter
    case = by_id()[name]
    tensors = [check.make_tensor(tf, corpus(), i) for i in case["inputs"]]
    call = check.wrap(tf, case, check.build(tf, case, tensors), mode)
    block = (CALLS - WARM) // meter.BLOCKS
    gc.collect()
    gc.freeze()
    for _ in range(warm):
        attempt(call, tensors)
    marks = meter.Marks(tf)
    marks.take()
    for _ in range(meter.BLOCKS):
        for _ in range(block):
            attempt(call, tensors)
        marks.take()
    gc.unfreeze()
    return {**meter.gained(marks, CALLS - WARM), "bytes": 0, "drift": 1.0, "each": 0.0}
