"""Names that programs of both generations use: what TensorFlow answered, names_THEME.json, is what Evenflow answers."""
import json
import signal
import threading

import names_cases
import pytest

import evenflow as tf

EVERY = [(theme, name) for theme in names_cases.THEMES if (names_cases.HERE / f"names_{theme}.json").exists()
         for name in names_cases.cases(theme)]


@pytest.mark.parametrize("theme, name", EVERY, ids=[f"{t}-{n}" for t, n in EVERY])
def test_as_tensorflow(theme, name, tmp_path):
    case, answer = names_cases.cases(theme)[name], names_cases.answers(theme)[name]
    threads = threading.active_count()
    got, wanted = json.dumps(names_cases.run(tf, case, str(tmp_path))), json.dumps(answer)
    assert got == wanted, f"\nEvenflow:   {got}\nTensorFlow: {wanted}"
    assert threading.active_count() == threads


def test_reduced_in_a_function():
    """Replicas and what is reduced over them, all inside a function."""
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def whole(x):
        return s.reduce("mean", s.run(lambda v: tf.distribute.get_replica_context().all_reduce("sum", v) + 1, args=(x,)), axis=0)

    assert float(whole(tf.constant([1.0, 2.0]))) == 2.5


def test_several_devices_are_refused():
    with pytest.raises(NotImplementedError, match="2 devices.*one replica"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def test_waiting_lets_other_threads_run():
    """A thread that waits in dequeue holds no lock of Python's."""
    q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    started, got = threading.Event(), []

    def take():
        started.set()
        got.append(int(q.dequeue()))

    t = threading.Thread(target=take)
    t.start()
    assert started.wait(10)
    count = sum(1 for _ in range(100_000))
    assert count == 100_000 and got == []
    q.enqueue(7)
    t.join(10)
    assert got == [7] and not t.is_alive()


def test_ctrl_c_ends_waiting():
    q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        q.dequeue_many(2)
    timer.join()
    q.enqueue(3)
    assert int(q.dequeue()) == 3  # usable afterwards


def test_interrupted_elements_stay():
    """What a call had taken before it was interrupted is still there, in order."""
    q = tf.queue.FIFOQueue(5, [tf.int32], shapes=[[]])
    q.enqueue_many([[1, 2, 3]])
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        q.dequeue_many(4)
    timer.join()
    assert q.dequeue_many(3).numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", ["FIFOQueue", "RandomShuffleQueue"])
def test_many_threads(kind):
    """Every element arrives once, whoever puts and takes."""
    q = tf.queue.FIFOQueue(3, [tf.int32], shapes=[[]]) if kind == "FIFOQueue" else tf.queue.RandomShuffleQueue(9, 2, [tf.int32], shapes=[[]])
    got, lock = [], threading.Lock()

    def put(k):
        for j in range(20):
            q.enqueue(100 * k + j)
        q.enqueue_many([[100 * k + 20 + j for j in range(5)]])

    def take():
        while True:
            try:
                values = q.dequeue_up_to(3).numpy().tolist()
            except tf.errors.OutOfRangeError:
                return
            with lock:
                got.extend(values)

    putting, taking = [threading.Thread(target=put, args=(k,)) for k in range(3)], [threading.Thread(target=take) for _ in range(3)]
    for t in putting + taking:
        t.start()
    for t in putting:
        t.join()
    q.close()
    for t in taking:
        t.join()
    assert sorted(got) == sorted(100 * k + j for k in range(3) for j in range(25))


def test_queue_goes_with_its_last_handle():
    value = tf.zeros([1000])
    for _ in range(3):
        q = tf.queue.FIFOQueue(-1, [tf.float32])
        for _ in range(50):
            q.enqueue(value)
        del q
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    for _ in range(20):
        q = tf.queue.FIFOQueue(-1, [tf.float32], shapes=[[1000]])
        q.enqueue_many([tf.zeros([50, 1000])])
        del q
    assert tf.config.experimental.get_memory_info("CPU:0")["current"] <= before + 300_000


def test_shared_name():
    a = tf.queue.FIFOQueue(5, [tf.int32], shapes=[[]], shared_name="names_test_shared")
    b = tf.queue.FIFOQueue(5, [tf.int32], shapes=[[]], shared_name="names_test_shared")
    a.enqueue(4)
    assert int(b.dequeue()) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="names_test_shared"):
        tf.queue.FIFOQueue(6, [tf.float32], shared_name="names_test_shared")


def test_checkpoints_of_a_training_session(tmp_path):
    v1 = tf.compat.v1
    for last in (3, 5):
        with tf.Graph().as_default():
            step = v1.train.get_or_create_global_step()
            w = v1.get_variable("w", initializer=1.0, use_resource=True)
            train = v1.train.GradientDescentOptimizer(0.1).minimize(w * w, global_step=step)
            hooks = [v1.train.StopAtStepHook(last_step=last)]
            with v1.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=2) as sess:
                assert int(sess.run(step)) == (0 if last == 3 else 3)
                while not sess.should_stop():
                    sess.run(train)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


def test_a_name_has_one_definition():
    from evenflow._src import namespace
    with pytest.raises(ValueError, match="tf.math.add is defined twice"):
        namespace.offer(object(), "math.add")
    assert namespace.offer(namespace.names()["math.add"], "math.add") is tf.math.add


def test_the_global_step_of_a_graph(caplog):
    v1, train = tf.compat.v1, tf.compat.v1.train
    with tf.Graph().as_default():
        assert train.get_global_step() is None
        step = train.get_or_create_global_step()
        assert train.get_global_step() is step and step.name == "global_step:0"
        v1.add_to_collection(v1.GraphKeys.GLOBAL_STEP, tf.constant(1))
        assert train.get_global_step() is None and "Multiple tensors in global_step" in caplog.text
    with tf.Graph().as_default():
        assert train.get_global_step() is None
        named = tf.constant(1, name="global_step")
        assert train.get_global_step().op is named.op
    for value, why in ((1.0, "does not have integer type"), ([1], "is not scalar")):
        with tf.Graph().as_default():
            tf.constant(value, name="global_step")
            with pytest.raises(TypeError, match=why):
                train.get_global_step()
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        train.assert_global_step("step")
