"""Errors in functions of a dataset: none is taken for its end, and their classes are those of TensorFlow 2.21."""
import pytest

import evenflow as tf

Dataset = tf.data.Dataset


def outcomes(dataset, n=7):
    """The first n outcomes of iterating: values, names of exception classes, or "stop"."""
    seen, items = [], iter(dataset)
    for _ in range(n):
        try:
            seen.append(next(items).numpy().tolist())
        except StopIteration:
            seen.append("stop")
        except tf.errors.OpError as e:
            seen.append(type(e).__name__)
    return seen


def queue():
    """A closed queue of two numbers: taking a third is out of range."""
    made = tf.queue.FIFOQueue(5, tf.int64, shapes=[()])
    made.enqueue_many([[1, 2]])
    made.close()
    return made


@pytest.mark.parametrize("wrap", [tf.numpy_function, tf.py_function])
@pytest.mark.parametrize("workers", [None, 2, tf.data.AUTOTUNE])
@pytest.mark.parametrize(("error", "name"), [(tf.errors.OutOfRangeError(None, None, "mine"), "UnknownError"),
                                             (StopIteration("mine"), "InvalidArgumentError")])
def test_a_python_function_that_is_out_of_range_ends_nothing(wrap, workers, error, name):
    def raising(x):
        if x == 2:
            raise error
        return x

    ds = Dataset.range(5).map(lambda x: wrap(raising, [x], tf.int64), num_parallel_calls=workers)
    assert outcomes(ds) == [0, 1, name, 3, 4, "stop", "stop"]
    assert outcomes(ds.batch(2), 4) == [[0, 1], name, [4], "stop"]
    with pytest.raises(getattr(tf.errors, name), match="mine"):
        for _ in ds:
            pass


@pytest.mark.parametrize(("stage", "want"), [
    (lambda d, q: d.map(lambda x: x + q.dequeue()), [1, 3] + ["InvalidArgumentError"] * 3 + ["stop"] * 2),
    (lambda d, q: d.map(lambda x: x + q.dequeue(), num_parallel_calls=2), [1, 3] + ["InvalidArgumentError"] * 3 + ["stop"] * 2),
    (lambda d, q: d.filter(lambda x: q.dequeue() > 0), [0, 1] + ["InternalError"] * 3 + ["stop"] * 2),
    (lambda d, q: d.flat_map(lambda x: Dataset.range(q.dequeue())), [0, 0, 1] + ["InternalError"] * 3 + ["stop"]),
    (lambda d, q: d.interleave(lambda x: Dataset.range(q.dequeue()), 2, num_parallel_calls=2), [0, 0, 1] + ["InternalError"] * 3 + ["stop"]),
    (lambda d, q: d.take_while(lambda x: q.dequeue() > 0), [0, 1] + ["InternalError"] * 3 + ["stop"] * 2),
    (lambda d, q: d.scan(tf.constant(0, tf.int64), lambda s, x: (s, x + q.dequeue())), [1, 3] + ["InvalidArgumentError"] * 3 + ["stop"] * 2),
    (lambda d, q: d.group_by_window(lambda x: q.dequeue(), lambda k, w: w.batch(2), 2), ["InternalError"] * 3 + [[0], [1]] + ["stop"] * 2),
], ids=["map", "parallel", "filter", "flat_map", "interleave", "take_while", "scan", "group"])
def test_an_op_that_is_out_of_range_ends_nothing(stage, want):
    assert outcomes(stage(Dataset.range(5), queue())) == want


def test_a_generator_still_ends():
    assert outcomes(Dataset.from_generator(lambda: iter([1, 2]), tf.int32, []), 3) == [1, 2, "stop"]
    with pytest.raises(tf.errors.OutOfRangeError):
        Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda s, x, q=queue(): s + q.dequeue())


# ---- buckets ----------------------------------------------------------------------------------------------------

def buckets(length=lambda x: tf.shape(x)[0], boundaries=(3, 5), **options):
    lists = Dataset.from_generator(lambda: ([k] * k for k in range(1, 7)), tf.int32, [None])
    return lists.bucket_by_sequence_length(length, list(boundaries), [2] * (len(boundaries) + 1), **options)


@pytest.mark.parametrize("boundaries", [(3, 5), (3, 6), ()])
def test_an_element_longer_than_the_last_boundary_is_an_error(boundaries):
    with pytest.raises(tf.errors.InternalError, match="elements must have length < max"):
        list(buckets(boundaries=boundaries, pad_to_bucket_boundary=True))
    assert [x.shape[1] for x in buckets(boundaries=(3, 7), pad_to_bucket_boundary=True)] == [2, 6, 6]


@pytest.mark.parametrize(("length", "boundaries"), [
    (lambda x: tf.shape(x, out_type=tf.int64)[0], (3, 5)), (lambda x: tf.cast(tf.shape(x)[0], tf.float32), (3, 5)),
    (lambda x: tf.shape(x)[0], (3.5, 5)), (lambda x: tf.shape(x)[0], (3, 2**31))])
def test_lengths_and_boundaries_are_of_one_dtype(length, boundaries):
    with pytest.raises(TypeError):
        list(buckets(length, boundaries))


def test_boundaries_may_be_of_any_dtype():
    by_float = buckets(lambda x: tf.cast(tf.shape(x)[0], tf.float32), (2.5, 4.5))
    assert [x.shape.as_list() for x in by_float] == [[2, 2], [2, 4], [2, 6]]
    large = buckets(lambda x: tf.shape(x, out_type=tf.int64)[0], (3, 2**40))
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(large.map(lambda x: tf.ensure_shape(x, [3, None])))


def test_a_length_without_a_bucket_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(buckets(lambda x: tf.constant(2**31 - 1)))


def test_padding_is_checked():
    lists = Dataset.from_generator(lambda: ([k] * k for k in (1, 3, 2)), tf.int32, [None])
    with pytest.raises(TypeError, match="padding_values"):
        lists.padded_batch(2, padding_values=tf.constant(1.0))
    with pytest.raises(TypeError, match="padding_values"):
        lists.padded_batch(2, padding_values=-1.5)
    with pytest.raises(ValueError, match="-2"):
        lists.padded_batch(2, padded_shapes=[-2])
    assert next(iter(lists.map(lambda x: tf.cast(x, tf.int64)).padded_batch(2, padding_values=-1))).numpy().tolist() == [[1, -1, -1], [3, 3, 3]]
