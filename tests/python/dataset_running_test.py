"""How pipelines run: threads, tuning under a ceiling of bytes, explanations, and what is left after faults."""
import gc
import os
import re
import threading
import time

import numpy as np
import pytest

import evenflow as tf

Dataset, AUTOTUNE = tf.data.Dataset, tf.data.AUTOTUNE


def data_threads():
    """Threads of this process that make elements."""
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as f:
                names.append(f.read().strip())
        except OSError:
            pass  # it ended
    return names.count("evenflow-data")


def no_threads_left():
    gc.collect()
    for _ in range(200):
        if data_threads() == 0:
            return True
        time.sleep(0.01)
    return False


def slow(x):
    """Some 100 us of work, which no pass can remove."""
    y = tf.fill([60, 60], tf.cast(x, tf.float32))
    for _ in range(3):
        y = tf.matmul(y, y) / 1e4
    return tf.cast(x, tf.float32) + 0.0 * tf.reduce_sum(y)


def nap(x, fails_at=-1):
    def python(v):
        if int(v) == fails_at:
            raise ValueError(f"no {int(v)}")
        time.sleep(0.002)
        return v
    return tf.ensure_shape(tf.py_function(python, [x], tf.int64), [])


# ---- order and values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [None, 1, 2, 8, AUTOTUNE])
def test_order_does_not_depend_on_workers(workers):
    ds = Dataset.range(200).map(slow, num_parallel_calls=workers).batch(7, num_parallel_calls=workers).prefetch(AUTOTUNE)
    got = np.concatenate(list(ds.as_numpy_iterator()))
    assert got.tolist() == list(range(200))
    assert no_threads_left()


@pytest.mark.parametrize("workers", [1, 3, AUTOTUNE])
def test_interleave_is_the_same_with_threads(workers):
    def inner(k):
        return Dataset.range(5).map(lambda j: nap(10 * k + j))
    plain = Dataset.range(6).interleave(inner, cycle_length=3, block_length=2)
    threads = Dataset.range(6).interleave(inner, cycle_length=3, block_length=2, num_parallel_calls=workers)
    assert [int(x) for x in threads] == [int(x) for x in plain]
    assert no_threads_left()


def test_a_parallel_map_may_return_fewer_tensors_than_it_takes():
    ds = Dataset.range(40).map(lambda x: (x, x, x, x)).map(lambda a, b, c, d: slow(a + b + c + d), num_parallel_calls=4)
    assert [int(x) for x in ds] == [4 * k for k in range(40)]


def test_a_seeded_map_draws_the_same_numbers_with_any_number_of_workers():
    def draws(workers):
        tf.random.set_seed(5)
        ds = Dataset.range(50).map(lambda x: tf.random.uniform([], seed=3) + 0.0 * slow(x), num_parallel_calls=workers)
        return [[float(x) for x in ds] for _ in range(2)]
    one = draws(None)
    assert draws(8) == one and draws(AUTOTUNE) == one
    assert one[0] == one[1]  # each iterator begins anew
    assert len(set(one[0])) == 50


def test_map_functions_are_traced_once():
    calls = []

    def function(x):
        calls.append(1)
        return x * 2 + 1
    ds = Dataset.range(100).map(function).batch(10)
    assert len(calls) == 1
    assert [b.numpy().tolist() for b in ds] == [[2 * k + 1 for k in range(i, i + 10)] for i in range(0, 100, 10)]
    assert len(calls) == 1


def test_random_ops_and_python_are_not_stacked():
    tf.random.set_seed(1)
    ds = Dataset.range(64).map(lambda x: tf.random.uniform([]) + 0.0 * tf.cast(x, tf.float32)).batch(64)
    assert len(set(next(iter(ds)).numpy().tolist())) == 64
    seen = []

    def python(v):
        seen.append(int(v))
        return v
    list(Dataset.range(8).map(lambda x: tf.numpy_function(python, [x], tf.int64)).batch(4))
    assert seen == list(range(8))


# ---- the ceiling --------------------------------------------------------------------------------------------------


def explained(ds, capsys):
    capsys.readouterr()
    text = ds.explain()
    assert capsys.readouterr().out == text
    return text


def waits(done, seconds=60):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.01)


def with_budget(ds, ram):
    options = tf.data.Options()
    options.autotune.ram_budget = ram
    return ds.with_options(options)


def in_bytes(text):
    number, unit = text.split()
    return float(number) * {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


def most_ahead(text):
    found = re.search(r"ready ahead at most: ([\d.]+ \w+) of a ceiling of ([\d.]+ \w+)", text)
    return in_bytes(found[1]), in_bytes(found[2])


@pytest.mark.parametrize("budget,least", [(4 << 20, 2 << 20), (64 << 20, 8 << 20)])
def test_elements_ahead_stay_below_the_ceiling(budget, least, capsys):
    def image(x):
        return tf.fill([512, 512], tf.cast(nap(x), tf.float32))  # 1 MiB
    ds = with_budget(Dataset.range(60).map(image, num_parallel_calls=8).prefetch(32), budget)
    for k, x in enumerate(ds):
        if k == 0:
            waits(lambda: most_ahead(explained(ds, capsys))[0] >= least)  # however busy the machine is
        assert x.shape == (512, 512)
    most, ceiling = most_ahead(explained(ds, capsys))
    assert ceiling == budget
    assert least <= most <= budget  # it was used, and held
    assert no_threads_left()


def test_an_element_above_the_ceiling_still_passes():
    ds = with_budget(Dataset.range(5).map(lambda x: tf.fill([1000], nap(x)), num_parallel_calls=4).prefetch(2), 100)
    assert [int(x[0]) for x in ds] == list(range(5))


def test_options_reach_the_engine_as_tensorflow_writes_them():
    options = tf.data.Options()
    assert options._serialized() == b"\x12\x00\x1a\x00*\x00:\x00b\x00"
    options.autotune.ram_budget = 1000000
    assert options._serialized() == b"\x12\x00\x1a\x00*\x00:\x04\x18\xc0\x84=b\x00"
    options = tf.data.Options()
    options.deterministic, options.dataset_name, options.autotune.enabled = False, "abc", False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    options.experimental_optimization.filter_parallelization = True
    assert options._serialized() == (b"\x08\x00\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x03\x90\x01\x01*\x00"
                                     b":\x02\x08\x00R\x03abcb\x00")


# ---- tuning -------------------------------------------------------------------------------------------------------


def workers_of(text, stage):
    return int(re.search(rf"^ *{stage} +\d+ +\d+ +[\d.]+ \w+ +[\d.]+ \w+ +(\d+)", text, re.M)[1])


def test_more_workers_are_used_where_the_function_waits(capsys):
    for _ in range(5):  # on a busy machine the tuner may need more elements
        ds = Dataset.range(400).map(nap, num_parallel_calls=AUTOTUNE)
        assert [int(x) for x in ds] == list(range(400))
        if workers_of(explained(ds, capsys), "Map") > 2:
            return
    pytest.fail("a function that sleeps leaves the processors to others, but at most 2 workers were used")


def test_the_consumer_may_make_the_elements_itself(capsys):
    """Where workers compute and there are as many as may be, the tuner also tries none; then no element is lost or doubled."""
    def computed(x):
        y = tf.fill([300, 300], tf.cast(x, tf.float32))
        return x + tf.cast(0.0 * tf.matmul(tf.tanh(tf.matmul(y, y)), y)[0, 0], tf.int64)
    options = tf.data.Options()
    options.autotune.cpu_budget = 2
    for _ in range(5):  # beside busy processes the workers may seem to wait
        ds, given, tried = Dataset.range(1500).map(computed, num_parallel_calls=AUTOTUNE).with_options(options), [], []
        for x in ds:
            given.append(int(x))
            if len(given) % 5 == 0:
                tried.append("trying 0 instead of" in explained(ds, capsys))
        assert given == list(range(1500))
        if any(tried) and False in tried[tried.index(True):]:  # it was tried, and a decision followed
            assert no_threads_left()
            return
    pytest.fail("the tuner never let the consumer make the elements, or never decided on it")


@pytest.mark.parametrize("name,value,most", [("enabled", False, None), ("cpu_budget", 3, 3)])
def test_options_hold_the_tuner(name, value, most, capsys):
    options = tf.data.Options()
    setattr(options.autotune, name, value)
    ds = Dataset.range(300).map(nap, num_parallel_calls=AUTOTUNE).with_options(options)
    assert len(list(ds)) == 300
    assert workers_of(explained(ds, capsys), "Map") <= (most or os.cpu_count())


# ---- explain ------------------------------------------------------------------------------------------------------


def test_explain_shows_every_stage(capsys):
    ds = Dataset.range(300).map(nap, num_parallel_calls=2).batch(10).prefetch(2)
    assert "no iteration over this dataset is known" in explained(ds, capsys)
    assert len(list(ds)) == 30
    lines = explained(ds, capsys).splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["Prefetch", "Batch", "Map", "Numbers"]
    assert [line.split()[1] for line in lines[1:5]] == ["30", "30", "300", "300"]
    assert workers_of("\n".join(lines), "Map") == 2
    assert lines[-1].startswith("ready ahead at most")


def test_explain_shows_an_iteration_that_goes_on(capsys):
    ds = Dataset.range(1000).map(lambda x: x + 1)
    it = iter(ds)
    for _ in range(100):
        next(it)
    assert re.search(r"^Map +\d+", explained(ds, capsys), re.M)
    del it


def test_explain_counts_sources_opened_again_and_datasets_of_functions(capsys):
    ds = Dataset.range(10).repeat(3).flat_map(lambda x: Dataset.range(4))
    assert len(list(ds)) == 120
    lines = explained(ds, capsys).splitlines()
    made = {(line.split()[0], line.split()[1]) for line in lines[1:-1]}
    assert ("FlatMap", "120") in made and ("Repeat", "30") in made and ("Numbers", "30") in made
    assert len(lines) < 20  # 30 datasets that a function made share a few lines


# ---- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [None, 1, 4, AUTOTUNE])
@pytest.mark.parametrize("batched", [False, True])
def test_an_error_names_the_element_and_the_line(workers, batched):
    def divide(x):
        return 10 // x
    ds = Dataset.range(3, -3, -1).map(divide, num_parallel_calls=workers)
    it = iter(ds.batch(6) if batched else ds)
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        for _ in range(4):
            next(it)
    assert "while making element 3 of Map" in str(e.value)
    assert "dataset_running_test.py" in str(e.value) and "in divide" in str(e.value)


@pytest.mark.parametrize("workers", [None, 4])
def test_an_error_of_python_names_the_element(workers):
    ds = Dataset.range(10).map(lambda x: nap(x, 6), num_parallel_calls=workers).prefetch(2)
    got = []
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)ValueError: no 6.*in python.*while making element 6 of Map"):
        for x in ds:
            got.append(int(x))
    assert got == list(range(6))
    assert no_threads_left()


def test_an_error_of_a_generator_names_the_element_and_the_line():
    def generator():
        yield 1
        yield 2
        raise KeyError("gone")
    ds = Dataset.from_generator(generator, output_signature=tf.TensorSpec((), tf.int32))
    with pytest.raises(tf.errors.UnknownError, match=r"(?s)KeyError: 'gone'.*dataset_running_test.py:\d+ in generator.*"
                                                     "while making element 2 of Generator"):
        list(ds)


@pytest.mark.parametrize("workers", [None, 4, AUTOTUNE])
def test_ignore_errors_passes_over_them(workers):
    ds = Dataset.range(12).map(lambda x: nap(x, 5), num_parallel_calls=workers).ignore_errors()
    assert [int(x) for x in ds] == [k for k in range(12) if k != 5]
    assert no_threads_left()


FAULTS = {
    "source": lambda f: Dataset.range(20).map(lambda x: nap(x, f)),
    "parallel map": lambda f: Dataset.range(20).map(lambda x: nap(x, f), num_parallel_calls=3),
    "filter": lambda f: Dataset.range(20).filter(lambda x: nap(x, f) >= 0),
    "batch": lambda f: Dataset.range(20).map(lambda x: nap(x, f)).batch(3, num_parallel_calls=2),
    "prefetch": lambda f: Dataset.range(20).map(lambda x: nap(x, f)).prefetch(4),
    "shuffle": lambda f: Dataset.range(20).map(lambda x: nap(x, f)).shuffle(4, seed=1),
    "interleave": lambda f: Dataset.range(4).interleave(lambda k: Dataset.range(5).map(lambda j: nap(5 * k + j, f)),
                                                        cycle_length=2, num_parallel_calls=2),
    "flat_map": lambda f: Dataset.range(4).flat_map(lambda k: Dataset.range(5).map(lambda j: nap(5 * k + j, f))),
    "zip": lambda f: Dataset.zip((Dataset.range(20), Dataset.range(20).map(lambda x: nap(x, f)))),
}


@pytest.mark.parametrize("stage", FAULTS)
def test_faults_of_every_stage_leave_nothing(stage):
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: no 9"):
        list(FAULTS[stage](9))
    assert no_threads_left()
    it = iter(FAULTS[stage](-1))  # a consumer that stops early
    next(it)
    del it
    assert no_threads_left()


def test_iterators_leave_no_threads_memory_or_files():
    ds = Dataset.range(50).map(lambda x: tf.fill([100], nap(x)), num_parallel_calls=2).prefetch(2)

    def use(n):
        for k in range(n):
            it = iter(ds)
            next(it)
            if k % 2:
                for _ in range(3):
                    next(it)
            del it
        gc.collect()

    def state():
        with open("/proc/self/statm") as f:
            pages = int(f.read().split()[1])
        return len(os.listdir("/proc/self/fd")), pages * os.sysconf("SC_PAGESIZE")
    use(30)
    files, memory = state()
    use(150)
    assert no_threads_left()
    after_files, after_memory = state()
    assert after_files == files
    assert after_memory - memory < 8 << 20
    assert threading.active_count() < 20


def test_a_generator_that_runs_into_another_end_fails():
    def pairs():
        numbers = iter(tf.data.Dataset.range(3))
        while True:
            yield numbers.get_next() + numbers.get_next()

    ds = tf.data.Dataset.from_generator(pairs, output_signature=tf.TensorSpec([], tf.int64))
    it = iter(ds)
    assert int(next(it)) == 1
    with pytest.raises(tf.errors.UnknownError, match="End of sequence"):
        next(it)
