"""Calls each golden case (tests/golden) 300 times in a mode and checks that nothing grows. The function is built once; its
results are freed after each call."""
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
    """(id, mode) of every case for which TensorFlow has a result."""
    return [(case["id"], mode) for case in corpus().cases for mode in case["modes"]]


@functools.cache
def by_id():
    return {case["id"]: case for case in corpus().cases}


def attempt(call, tensors):
    try:
        call(*tensors)
    except Exception:
        pass  # a case that raises must not keep anything alive either


def measure(tf, name, mode, warm=WARM):
    """Measures a case after `warm` calls, which fill the bounded caches; CPython's cache of type attributes needs hundreds."""
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
