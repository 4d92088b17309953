"""Elements of datasets: structures, None, what follows an error, elements made ahead."""
import collections
import dataclasses
import gc
import os
import threading

import numpy as np
import pytest

import evenflow as tf

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", "a b")


def drawn(dataset):
    """The elements, and the classes of errors where there are none."""
    iterator, out = iter(dataset), []
    while True:
        try:
            out.append(tf.nest.map_structure(lambda t: t.numpy().tolist(), next(iterator)))
        except StopIteration:
            return out
        except tf.errors.OpError as e:
            out.append(type(e).__name__)


def test_lists_are_tensors_and_one_returned_is_a_tuple():
    assert Dataset.range(2).map(lambda x: [x, "hi", [x, x]]).element_spec == (
        tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string), tf.TensorSpec([2], tf.int64))
    assert Dataset.range(2).map(lambda x: {"a": [x, x]}).element_spec == {"a": tf.TensorSpec([2], tf.int64)}
    assert drawn(Dataset.range(2).map(lambda x: ([x, x + 1], x))) == [([0, 1], 0), ([1, 2], 1)]
    assert Dataset.range(2).map(lambda x: "a").element_spec == tf.TensorSpec([], tf.string)
    with pytest.raises(TypeError, match="Unsupported return value"):
        Dataset.range(2).map(lambda x: object())


def test_named_tuples_are_one_argument():
    pairs = Dataset.range(2).map(lambda x: Pair(x, -x))
    assert drawn(pairs.map(lambda p: p._replace(a=p.a + 5))) == [Pair(5, 0), Pair(6, -1)]
    assert drawn(pairs.filter(lambda p: p.a > 0)) == [Pair(1, -1)]
    assert type(pairs.batch(2).element_spec) is Pair
    assert drawn(Dataset.zip(Pair(Dataset.range(1), Dataset.range(3)))) == [Pair(0, 0)]


@dataclasses.dataclass
class Masked:
    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


def test_classes_that_take_themselves_apart():
    made = Dataset.from_tensors(Masked(True, 3)).map(lambda m: Masked(m.mask, m.value * 2))
    [one] = list(made)
    assert one.mask is True and int(one.value) == 6


def test_none_stays_none():
    pair = Dataset.from_tensors((42, None))
    assert pair.element_spec == (tf.TensorSpec([], tf.int32), tf.NoneTensorSpec())
    assert repr(tf.NoneTensorSpec()) == "NoneTensorSpec()"
    assert drawn(pair.map(lambda x, y: x + (1 if y is None else 0))) == [43]
    [(first, second)] = list(pair.map(lambda x, y: (y, x)))
    assert first is None and int(second) == 42
    [(stacked, none)] = list(pair.repeat(2).batch(2))
    assert stacked.numpy().tolist() == [42, 42] and none is None
    assert list(Dataset.from_tensor_slices(([1, 2], None)).as_numpy_iterator()) == [(1, None), (2, None)]
    with pytest.raises(ValueError, match="should not be empty"):
        Dataset.from_tensor_slices((None,))


def test_a_function_is_traced_once():
    traced = []
    list(Dataset.range(5).batch(2).map(lambda x: traced.append(1) or x))
    assert len(traced) == 1


def test_composites_are_stacked():
    ragged = Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]])).repeat(2).batch(2)
    assert ragged.element_spec.ragged_rank == 2
    assert next(iter(ragged)).to_list() == [[[1], [2, 3]]] * 2
    sparse = next(iter(Dataset.from_tensors(tf.sparse.from_dense([1, 0, 2])).repeat(2).batch(2)))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 0, 2]] * 2


def test_what_zip_takes():
    with pytest.raises(TypeError, match="at least one dataset"):
        Dataset.zip()
    with pytest.raises(TypeError, match="use `tuple`"):
        Dataset.zip([Dataset.range(1), Dataset.range(1)])
    with pytest.raises(TypeError, match="encountered object of type"):
        Dataset.zip((Dataset.range(1), 3))
    with pytest.raises(TypeError, match="cannot be set"):
        Dataset.zip(Dataset.range(1), datasets=(Dataset.range(1),))
    assert list(next(iter(Dataset.zip({"b": Dataset.range(1), "a": Dataset.range(1)})))) == ["b", "a"]


def test_what_a_predicate_returns():
    for bad in (lambda x: x, lambda x: [True], lambda x: tf.constant([True]), lambda x: None):
        with pytest.raises(ValueError, match="Invalid `predicate`"):
            Dataset.range(2).filter(bad)
    assert drawn(Dataset.range(2).filter(lambda x: True)) == [0, 1]


def test_states_of_a_reduction():
    numbers = Dataset.range(3)
    assert numbers.reduce(tf.zeros([0], tf.int64), lambda a, x: tf.concat([a, [x]], 0)).numpy().tolist() == [0, 1, 2]
    assert [int(v) for v in numbers.reduce((0, 0), lambda a, x: [a[0] + 1, a[1] + 2])] == [3, 6]
    with pytest.raises(TypeError, match="element types for the new state"):
        numbers.reduce(0, lambda a, x: x)
    with pytest.raises(TypeError, match="element structure for the new state"):
        numbers.reduce(0, lambda a, x: (a, a))


BAD = "InvalidArgumentError"
CHECKED = [1.0, 2.0, float("nan"), 4.0, 5.0]


def checked():
    return Dataset.from_tensor_slices(CHECKED).map(lambda x: tf.debugging.check_numerics(x, "m"))


def filtered():
    return Dataset.from_tensor_slices(CHECKED).filter(lambda x: tf.debugging.check_numerics(x, "m") > 0)


@pytest.mark.parametrize("make, expected", [
    (checked, [1, 2, BAD, 4, 5]),
    (filtered, [1, 2, BAD, 4, 5]),
    (lambda: checked().map(lambda x: x + 1), [2, 3, BAD, 5, 6]),
    (lambda: checked().filter(lambda x: x > 1), [2, BAD, 4, 5]),
    (lambda: checked().take(3), [1, 2, BAD, 4]),
    (lambda: checked().skip(1), [2, BAD, 4, 5]),
    (lambda: checked().skip(3), [BAD]),
    (lambda: checked().repeat(2), [1, 2, BAD, 4, 5] * 2),
    (lambda: checked().enumerate(), [(0, 1), (1, 2), BAD, (3, 4), (4, 5)]),
    (lambda: Dataset.zip(checked(), Dataset.range(9)), [(1, 0), (2, 1), BAD, (4, 3), (5, 4)]),
    (lambda: checked().prefetch(2), [1, 2, BAD, 4, 5]),
    (lambda: checked().batch(2), [[1, 2], BAD, [5]]),
    (lambda: checked().batch(2, drop_remainder=True), [[1, 2], BAD]),
    (lambda: filtered().batch(2), [[1, 2], BAD, [4, 5]]),
])
def test_an_error_is_of_one_element(make, expected):
    assert drawn(make()) == expected


def test_errors_of_generators():
    def odd():
        yield 1
        yield "a"
        yield 2
        raise ValueError("no more")

    assert drawn(Dataset.from_generator(odd, output_types=tf.int32)) == [1, BAD, 2, BAD]
    two = Dataset.from_generator(lambda: iter([1, (1, 2), [1, 2]]), output_types=(tf.int32, tf.int32))
    assert drawn(two) == [BAD, (1, 2), BAD]
    rows = Dataset.from_generator(lambda: iter([tf.ragged.constant([[1], []])]),
                                  output_signature=tf.RaggedTensorSpec([2, None], tf.int32))
    assert next(iter(rows)).to_list() == [[1], []]


@pytest.mark.parametrize("size", [1, 3])
def test_elements_are_made_ahead(size):
    seen, enough = [], threading.Event()

    def see(x):
        seen.append(int(x))
        if len(seen) == size + 2:
            enough.set()
        return x

    made = iter(Dataset.range(100).map(lambda x: tf.numpy_function(see, [x], tf.int64)).prefetch(size))
    assert int(next(made)) == 0
    assert not enough.is_set()
    assert int(next(made)) == 1
    assert enough.wait(10)
    assert [int(x) for x in made] == list(range(2, 100))
    with pytest.raises(StopIteration):
        next(made)


def test_threads_end_with_their_iterators():
    def threads():
        return len(os.listdir("/proc/self/task"))

    def endless():
        while True:
            yield 1

    data = Dataset.from_generator(endless, output_signature=tf.TensorSpec([], tf.int32)).prefetch(2)
    next(iter(data))
    before = threads()
    made = [iter(data) for _ in range(5)]
    for it in made:
        next(it)
    assert threads() == before + 5
    del made, it
    assert threads() == before


def test_a_generator_that_waits_for_its_reader():
    gate = threading.Semaphore(1)

    def numbers():
        for k in range(5):
            gate.acquire()
            yield k

    for k, x in enumerate(Dataset.from_generator(numbers, output_types=tf.int32).prefetch(3)):
        assert int(x) == k
        gate.release()


def test_random_numbers_made_ahead_are_those_made_on_demand():
    def numbers(ahead):
        tf.random.set_seed(7)
        made = Dataset.range(4).map(lambda x: tf.random.uniform([]))
        return [float(x) for x in (made.prefetch(2) if ahead else made)]

    assert len(set(numbers(True))) == 4
    assert numbers(True) == numbers(False)


def test_prefetch_in_a_loop_of_a_function():
    @tf.function
    def total(data):
        s = tf.constant(0, tf.int64)
        for x in data:
            s += x
        return s

    assert int(total(Dataset.range(10).prefetch(2))) == 45
    assert np.all([int(total(Dataset.range(10).prefetch(2))) == 45 for _ in range(5)])


def test_sparse_elements_as_arrays():
    [(dense, none)] = list(Dataset.from_tensors((tf.sparse.from_dense([[1, 0], [0, 2]]), None)).as_numpy_iterator())
    assert dense.tolist() == [[1, 0], [0, 2]] and none is None
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="only supported in eager mode"):
        Dataset.range(3).as_numpy_iterator()


def test_shapes_types_and_classes_of_elements():
    data, v1 = tf.compat.v1.data, Dataset.from_tensors((1, {"a": [2.0, 3.0]}, tf.sparse.from_dense([1, 0])))
    assert data.get_output_shapes(v1) == (tf.TensorShape([]), {"a": tf.TensorShape([2])}, tf.TensorShape([2]))
    assert data.get_output_types(iter(v1)) == (tf.int32, {"a": tf.float32}, tf.int32)
    assert data.get_output_classes(v1) == (tf.Tensor, {"a": tf.Tensor}, tf.SparseTensor)
    with pytest.raises(TypeError, match="dataset_or_iterator"):
        data.get_output_types(3)
