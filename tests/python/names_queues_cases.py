"""Queues, their runners, and the input pipelines of the first generation."""
import threading
import time

import numpy as np


def _raised(f):
    try:
        return f()
    except Exception as e:  # noqa: BLE001 (which one is the answer)
        return type(e).__name__


def _tensors(x):
    return [v.numpy() for v in x] if isinstance(x, list) else x


def fifo(tf, tmp):
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], [2]])
    q.enqueue((1, ["a", "b"]))
    q.enqueue_many(([2, 3, 4], [["c", "d"], ["e", "f"], ["g", "h"]]))
    made = [int(q.size()), q.dequeue(), q.dequeue_many(2), int(q.size()), bool(q.is_closed())]
    q.close()
    made += [bool(q.is_closed()), _raised(lambda: q.enqueue((1, ["a", "b"]))), q.dequeue_up_to(5), _raised(lambda: q.dequeue()),
             _raised(lambda: q.dequeue_up_to(5)), _raised(lambda: q.dequeue_many(1)), q.dequeue_many(0)]
    return made


def one_component(tf, tmp):
    q = tf.queue.FIFOQueue(5, tf.float32, shapes=[2])
    q.enqueue([[1.0, 2.0]])
    q.enqueue_many([[[3.0, 4.0], [5.0, 6.0]]])
    return q.dequeue(), q.dequeue_many(2), [str(d) for d in q.dtypes], [s.as_list() for s in q.shapes]


def plain_value(tf, tmp):
    q = tf.queue.FIFOQueue(5, [tf.int64])
    q.enqueue(7)
    q.enqueue([8])
    q.enqueue([[9, 10]])
    return q.dequeue(), q.dequeue(), q.dequeue()


def insufficient_stays(tf, tmp):
    q = tf.queue.FIFOQueue(5, [tf.int32], shapes=[[]])
    q.enqueue_many([[1, 2, 3]])
    q.close()
    return _raised(lambda: q.dequeue_many(4)), q.dequeue_many(3)


def close_twice(tf, tmp):
    q = tf.queue.FIFOQueue(5, [tf.int32])
    q.close()
    return _raised(lambda: q.close()), _raised(lambda: q.close(cancel_pending_enqueues=True))


def named(tf, tmp):
    q = tf.queue.FIFOQueue(5, [tf.int32, tf.float32], shapes=[[], []], names=["i", "f"])
    q.enqueue({"i": 1, "f": 2.5})
    q.enqueue_many({"i": [2, 3], "f": [3.5, 4.5]})
    return q.dequeue(), q.dequeue_many(2), _raised(lambda: q.enqueue((1, 2.0))), _raised(lambda: q.enqueue({"i": 1}))


def faults(tf, tmp):
    q = tf.queue.FIFOQueue(5, [tf.int32, tf.float32], shapes=[[], [2]])
    loose = tf.queue.FIFOQueue(5, [tf.int32])
    return (_raised(lambda: q.enqueue((1, [1.0]))), _raised(lambda: q.enqueue_many(([1, 2], [[1.0, 2.0]]))),
            _raised(lambda: loose.dequeue_many(2)), _raised(lambda: tf.queue.FIFOQueue(5, [tf.int32], shapes=[[], []])),
            _raised(lambda: tf.queue.FIFOQueue(5, [tf.int32], names=["a", "b"])),
            _raised(lambda: tf.queue.RandomShuffleQueue(3, 5, [tf.int32])), _raised(lambda: q.dequeue_many(-1)))


def padded(tf, tmp):
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None, 2], [None]])
    q.enqueue((np.ones((1, 2), np.int32), ["a"]))
    q.enqueue((np.full((3, 2), 2, np.int32), []))
    q.enqueue((np.zeros((0, 2), np.int32), ["b", "c"]))
    q.enqueue((np.full((2, 2), 5, np.int32), ["d", "e"]))
    return q.dequeue_many(3), q.dequeue()


def shuffled(tf, tmp):
    q = tf.queue.RandomShuffleQueue(20, 0, [tf.int32], shapes=[[]], seed=7)
    q.enqueue_many([list(range(10))])
    first = q.dequeue_many(4)
    q.enqueue_many([[50, 60]])
    return first, [int(q.dequeue()) for _ in range(4)], q.dequeue_many(4)


def shuffled_keeps_some(tf, tmp):
    q = tf.queue.RandomShuffleQueue(20, 2, [tf.int32], shapes=[[]], seed=3)
    q.enqueue_many([list(range(5))])
    first = sorted(int(v) for v in q.dequeue_many(3))
    q.close()
    rest = sorted(int(v) for v in q.dequeue_up_to(9))
    return len(first), len(rest), sorted([int(v) for v in first + rest])


def by_priority(tf, tmp):
    q = tf.queue.PriorityQueue(10, [tf.string], shapes=[[]])
    for p, v in ((5, "five"), (1, "one"), (3, "three"), (-2, "minus"), (4, "four")):
        q.enqueue((np.int64(p), v))
    q.enqueue_many((np.array([2, 0], np.int64), ["two", "zero"]))
    return q.dequeue(), q.dequeue_many(4), q.dequeue(), q.size()


def blocks_until_there(tf, tmp):
    q = tf.queue.FIFOQueue(2, [tf.int32], shapes=[[]])
    got = []

    def consume():
        while True:
            try:
                got.append(int(q.dequeue()))
            except tf.errors.OutOfRangeError:
                return

    t = threading.Thread(target=consume)
    t.start()
    for k in range(20):
        q.enqueue(k)
    q.enqueue_many([list(range(20, 30))])
    q.close()
    t.join()
    return got


def pending_cancelled(tf, tmp):
    q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    q.enqueue(1)
    told = []
    t = threading.Thread(target=lambda: told.append(_raised(lambda: q.enqueue(2))))
    t.start()
    time.sleep(0.1)
    q.close(cancel_pending_enqueues=True)
    t.join()
    return told, int(q.size())


def pending_finishes(tf, tmp):
    q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    q.enqueue(1)
    told = []
    t = threading.Thread(target=lambda: told.append(_raised(lambda: q.enqueue(2) and None)))
    t.start()
    time.sleep(0.1)
    closing = threading.Thread(target=lambda: q.close())
    closing.start()
    time.sleep(0.1)
    made = [int(q.dequeue()), int(q.dequeue())]
    t.join()
    closing.join()
    return made, told, _raised(lambda: q.dequeue())


def waiting_dequeue_ends(tf, tmp):
    q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    told = []
    t = threading.Thread(target=lambda: told.append(_raised(lambda: q.dequeue_many(3))))
    t.start()
    time.sleep(0.1)
    q.close()
    t.join()
    return told


def in_function(tf, tmp):
    q = tf.queue.FIFOQueue(100, [tf.int32], shapes=[[]])

    @tf.function
    def fill(n):
        for i in tf.range(n):
            q.enqueue(i * i)
        return q.size()

    @tf.function
    def total():
        s = 0
        while q.size() > 0:
            s += q.dequeue()
        return s

    return fill(5), total()


def session(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        q = v1.FIFOQueue(10, [tf.float32], shapes=[[]])
        put, take = q.enqueue_many([[1.0, 2.0, 3.0]]), q.dequeue()
        y = q.dequeue_many(2)
        sess.run(put)
        made = [sess.run(take), sess.run([y, q.size()])[0], sess.run(q.size())]
        sess.run(q.close())
        made += [_raised(lambda: sess.run(take)), take.shape.as_list(), y.shape.as_list(), sess.run(q.is_closed())]
        with v1.Session() as other:
            made.append(other.run(q.size()))
    return made


def session_close_ends_waiting(tf, tmp):
    v1 = tf.compat.v1
    told = []
    with tf.Graph().as_default():
        q = v1.FIFOQueue(10, [tf.float32], shapes=[[]])
        take = q.dequeue()
        sess = v1.Session()
        sess.run(q.size())
        t = threading.Thread(target=lambda: told.append(_raised(lambda: sess.run(take))))
        t.start()
        time.sleep(0.2)
        sess.close()
        t.join()
    return told


def runner(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        q = v1.FIFOQueue(4, [tf.int32], shapes=[[]])
        counter = v1.get_variable("c", initializer=0, use_resource=True)
        enqueue = q.enqueue(counter.assign_add(1).read_value() if hasattr(counter.assign_add(1), "read_value") else counter.assign_add(1))
        v1.train.add_queue_runner(v1.train.QueueRunner(q, [enqueue]))
        take = q.dequeue()
        sess.run(v1.global_variables_initializer())
        coord = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(sess, coord=coord)
        got = [int(sess.run(take)) for _ in range(10)]
        coord.request_stop()
        coord.join(threads)
        return len(threads), [b > a for a, b in zip(got, got[1:])], coord.joined


def runner_fails(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        q = v1.FIFOQueue(4, [tf.int32], shapes=[[]])
        x = v1.placeholder_with_default([1, 2], [None])
        v1.train.add_queue_runner(v1.train.QueueRunner(q, [q.enqueue(tf.reshape(x, [3])[0])]))
        coord = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(sess, coord=coord)
        return _raised(lambda: coord.join(threads))


def coordinator(tf, tmp):
    c = tf.train.Coordinator()
    made = [c.should_stop(), c.wait_for_stop(0.01)]
    with c.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    made += [c.should_stop(), _raised(lambda: c.join([]))]
    c = tf.train.Coordinator()
    with c.stop_on_exception():
        raise ValueError("x")
    made += [c.should_stop(), _raised(lambda: c.join([])), _raised(c.raise_requested_exception)]
    c.clear_stop()
    made += [c.should_stop(), c.joined, _raised(lambda: c.join([]))]
    c = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    c.request_stop(ValueError("y"))
    made.append(_raised(lambda: c.join([])))
    return made


def _drained(tf, sess, fetch):
    coord = tf.compat.v1.train.Coordinator()
    threads = tf.compat.v1.train.start_queue_runners(sess=sess, coord=coord)
    made = []
    try:
        while not coord.should_stop():
            made.append(sess.run(fetch))
    except tf.errors.OutOfRangeError:
        made.append("end")
    finally:
        coord.request_stop()
        coord.join(threads)
    return made


def _pipeline(tf, build):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.set_random_seed(5)
        fetch = build(v1)
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return _drained(tf, sess, fetch)


def produced(tf, tmp):
    return _pipeline(tf, lambda v1: v1.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False).dequeue())


def produced_range(tf, tmp):
    return _pipeline(tf, lambda v1: v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue())


def produced_shuffled(tf, tmp):
    made = _pipeline(tf, lambda v1: v1.train.range_input_producer(6, num_epochs=2, seed=4).dequeue())
    return sorted(int(v) for v in made[:6]), sorted(int(v) for v in made[6:-1]), made[-1]


def sliced_batches(tf, tmp):
    x, y = np.arange(10, dtype=np.float32).reshape(5, 2), np.arange(5)

    def build(v1):
        row, label = v1.train.slice_input_producer([x, y], num_epochs=1, shuffle=False)
        return v1.train.batch([row, label], batch_size=2, allow_smaller_final_batch=True)

    return _pipeline(tf, build)


def batches_cut_off(tf, tmp):
    return _pipeline(tf, lambda v1: v1.train.batch({"i": v1.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()}, 2))


def many_batches(tf, tmp):
    return _pipeline(tf, lambda v1: v1.train.batch([v1.train.limit_epochs(tf.constant([1, 2, 3]), 3)], 4, enqueue_many=True,
                                                   allow_smaller_final_batch=True))


def padded_batches(tf, tmp):
    def build(v1):
        n = v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        return v1.train.batch([tf.range(n)], 2, dynamic_pad=True)

    return _pipeline(tf, build)


def shuffled_batches(tf, tmp):
    def build(v1):
        i = v1.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
        return v1.train.shuffle_batch([i, i * 2], 5, capacity=20, min_after_dequeue=3, seed=1)

    made = _pipeline(tf, build)
    return sorted(int(v) for b in made[:-1] for v in b[0]), [bool((b[1] == 2 * b[0]).all()) for b in made[:-1]], made[-1]


def joined_batches(tf, tmp):
    def build(v1):
        a = v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        b = v1.train.limit_epochs(tf.constant(7), 4)
        return v1.train.batch_join([[a], [b]], 4)

    made = _pipeline(tf, build)
    return sorted(int(v) for b in made[:-1] for v in b), made[-1]


def eager_producer(tf, tmp):
    return tf.compat.v1.train.string_input_producer(["a"])
