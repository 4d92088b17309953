"""tf.data, plain: sources, transformations, the end of data, errors."""
import pytest

import evenflow as tf

Dataset = tf.data.Dataset


def values(dataset):
    return list(dataset.as_numpy_iterator())


def test_sources():
    assert values(Dataset.range(2, 8, 3)) == [2, 5]
    assert [v.tolist() for v in values(Dataset.from_tensors([1, 2]))] == [[1, 2]]
    rows = values(Dataset.from_tensor_slices({"a": [1, 2], "b": ([3.0, 4.0], [5, 6])}))
    assert rows[1]["a"] == 2 and rows[1]["b"] == (4.0, 6)
    with pytest.raises(ValueError):
        Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


def test_the_end_of_data():
    it = iter(Dataset.range(1))
    assert int(it.get_next()) == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        it.get_next()
    assert not bool(it.get_next_as_optional().has_value())
    assert [int(x) for x in Dataset.range(2)] == [0, 1] == [int(x) for x in Dataset.range(2)]


def test_transformations():
    d = Dataset.range(7)
    assert [v.tolist() for v in values(d.batch(3))] == [[0, 1, 2], [3, 4, 5], [6]] and len(d.batch(3)) == 3
    assert len(d.batch(3, drop_remainder=True)) == 2
    assert values(d.map(lambda v: v * v).filter(lambda v: v % 2 == 1)) == [1, 9, 25]
    assert values(d.skip(2).take(2).repeat(2)) == [2, 3, 2, 3]
    assert [(int(k), int(v)) for k, v in d.skip(5).enumerate(10)] == [(10, 5), (11, 6)]
    assert int(d.reduce(tf.constant(0, tf.int64), lambda s, v: s + v)) == 21
    assert Dataset.zip((d, d.repeat())).cardinality() == 7
    assert d.batch(3).element_spec.shape.as_list() == [None]


def test_generators_are_checked():
    spec = tf.TensorSpec([2], tf.float32)
    good = Dataset.from_generator(lambda: iter([[1, 2]]), output_signature=spec)
    assert [v.tolist() for v in values(good)] == [[1.0, 2.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(Dataset.from_generator(lambda: iter([[1, 2, 3]]), output_signature=spec))
    with pytest.raises(tf.errors.InvalidArgumentError, match="missing"):
        list(Dataset.from_generator(lambda n: iter([]), output_signature=spec))


@tf.function
def before(data, most):
    total = tf.constant(0, tf.int64)
    for x in data:
        if x == 1:
            continue
        if x > most:
            break
        total += x
    return total


def test_a_loop_in_a_graph():
    assert before(Dataset.range(10), tf.constant(4, tf.int64)) == 0 + 2 + 3 + 4
    assert before(Dataset.range(5).repeat(), tf.constant(3, tf.int64)) == 2 + 3  # without end
    assert before(Dataset.range(0), tf.constant(3, tf.int64)) == 0
    data = Dataset.range(6)
    counts = []
    for most in range(8):
        before(data, tf.constant(most, tf.int64))
        counts.append(before.experimental_get_tracing_count())
    assert counts[0] == counts[-1]


def test_a_loop_over_an_iterator_goes_on_where_it_stopped():
    it = iter(Dataset.range(7))
    rest = tf.function(lambda: [x for x in it], autograph=False)
    assert before(it, tf.constant(2, tf.int64)) == 0 + 2
    assert [int(x) for x in rest()] == [4, 5, 6]


def test_structures_variables_and_gradients_in_a_loop():
    data = Dataset.from_tensor_slices({"a": [1.0, 2.0, 3.0], "b": ([4.0, 5.0, 6.0], [7, 8, 9])}).batch(2)
    v = tf.Variable(2.0)

    @tf.function
    def walk():
        total, rows = 0.0, 0
        for k, e in enumerate(data):
            total += tf.reduce_sum(e["a"] * e["b"][0]) * v
            rows += tf.shape(e["b"][1])[0]
            v.assign_add(1.0)
        return total, rows

    total, rows = walk()
    assert total == 14 * 2 + 18 * 3 and rows == 3 and v.numpy() == 4

    @tf.function
    def slope(w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            total = 0.0
            for e in data:
                total += tf.reduce_sum(e["a"]) * w * w
        return tape.gradient(total, w)

    assert slope(tf.constant(3.0)) == 6 * 6


def test_a_loop_whose_source_fails():
    def generate():
        yield 1
        raise KeyError("no more")
    data = Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int64))
    with pytest.raises(tf.errors.OpError, match="no more"):
        before(data, tf.constant(9, tf.int64))


def test_the_next_element_in_a_graph():
    @tf.function
    def ten_times(it):
        return next(it) * 10

    it = iter(Dataset.range(4))
    assert [int(ten_times(it)), int(ten_times(it)), int(next(it)), int(ten_times(it))] == [0, 10, 2, 30]
    with pytest.raises(tf.errors.OutOfRangeError):
        ten_times(it)
    assert ten_times.experimental_get_tracing_count() == 1

    @tf.function
    def sums(it, steps):
        total = 0.0
        for _ in tf.range(steps):
            element = it.get_next()
            total += tf.reduce_sum(element["a"]) * element["b"][0][0]
        return total

    data = Dataset.from_tensor_slices({"a": [1.0, 2.0, 3.0, 4.0], "b": ([5.0, 6.0, 7.0, 8.0],)}).batch(2)
    assert sums(iter(data), tf.constant(2)) == 3 * 5 + 7 * 7

    @tf.function
    def or_less(it):
        found = it.get_next_as_optional()
        return found.get_value() if found.has_value() else tf.constant(-1, tf.int64)

    it = iter(Dataset.range(2))
    assert [int(or_less(it)) for _ in range(3)] == [0, 1, -1]


def test_rows_of_ragged_tensors():
    data = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], []]))
    assert [row.numpy().tolist() for row in data] == [[1, 2], [3], []]
    assert data.element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
    deeper = Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]]]))
    assert [row.to_list() for row in deeper] == [[[1], [2, 3]], [[4]]]


def test_one_trace_for_an_iterator_of_each_epoch():
    @tf.function
    def total(it):
        found = tf.constant(0, tf.int64)
        for element in it:
            found += tf.reduce_sum(element)
            if found > 5:
                break
        return found

    for size in range(3, 9):
        it = iter(Dataset.range(size))
        assert int(total(it)) == {3: 3}.get(size, 6)
        assert size < 5 or int(next(it)) == 4  # what the loop did not take is there
    assert total.experimental_get_tracing_count() == 1
    assert int(total(iter(Dataset.range(3).batch(2)))) == 3
    assert total.experimental_get_tracing_count() == 2


def test_iterators_in_structures_and_functions_called():
    inner = tf.function(lambda it: next(it) * 2)
    outer = tf.function(lambda given: inner(given["it"]) + inner(given["it"]) + given["k"])
    k = tf.constant(7, tf.int64)
    assert [int(outer({"it": iter(Dataset.range(5)), "k": k})) for _ in range(3)] == [9, 9, 9]
    assert outer.experimental_get_tracing_count() == 1
    pair = tf.function(lambda a, b: next(a) * 10 + next(b))
    a, b = iter(Dataset.range(5)), iter(Dataset.range(9))
    assert [int(pair(a, b)), int(pair(b, a)), int(pair(a, a))] == [0, 11, 23]
    assert pair.experimental_get_tracing_count() == 1


def test_concrete_functions_of_iterators():
    function = tf.function(lambda it: next(it))
    it, other = iter(Dataset.range(9)), iter(Dataset.range(9))
    concrete = function.get_concrete_function(it)
    assert [int(concrete(it)), int(concrete(it)), int(function(it)), int(concrete(other))] == [0, 1, 2, 0]
    with pytest.raises(TypeError):
        concrete(iter(Dataset.range(9).batch(2)))
    assert "IteratorSpec" in str(concrete)


def test_a_missing_transformation_is_said_to_be_missing():
    data = tf.data.Dataset.range(3)
    with pytest.raises(AttributeError, match="no attribute 'no_such_step': Evenflow does not have"):
        data.no_such_step
    assert not hasattr(data, "_nothing")


def test_a_dataset_is_shown_by_the_step_that_made_it():
    """The names are those that TensorFlow 2.21 prints."""
    r = tf.data.Dataset.range(4)
    made = [r, tf.data.Dataset.from_tensor_slices([1]), tf.data.Dataset.from_tensors(1), r.map(lambda a: a), r.batch(2), r.shuffle(2),
            r.repeat(), r.prefetch(1), r.take(1), r.filter(lambda a: a > 1), tf.data.Dataset.zip((r, r)), r.cache(), r.window(2),
            r.map(lambda a: a, num_parallel_calls=2), r.concatenate(r), tf.data.TFRecordDataset("none"),
            tf.data.Dataset.from_generator(lambda: [1], output_signature=tf.TensorSpec((), tf.int32))]
    assert [repr(d).split()[0][1:] for d in made] == [
        "_RangeDataset", "_TensorSliceDataset", "_TensorDataset", "_MapDataset", "_BatchDataset", "_ShuffleDataset",
        "_RepeatDataset", "_PrefetchDataset", "_TakeDataset", "_FilterDataset", "_ZipDataset", "CacheDataset", "_WindowDataset",
        "_ParallelMapDataset", "_ConcatenateDataset", "TFRecordDatasetV2", "_FlatMapDataset"]


def test_what_a_table_exports_is_a_plain_tuple():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], [5])
    assert type(table.export()) is tuple and [t.numpy().tolist() for t in table.export()] == [[b"a"], [5]]


def test_an_infinite_dataset_has_no_element_by_index():
    with pytest.raises(tf.errors.FailedPreconditionError, match="infinite cardinality.*take"):
        tf.data.experimental.at(tf.data.Dataset.range(3).repeat(), 1)
    assert int(tf.data.experimental.at(tf.data.Dataset.range(3).repeat(2), 4)) == 1
