"""A forked child computes with one thread; one forked while others compute is told why it cannot."""
import multiprocessing
import threading

import evenflow as tf

fork = multiprocessing.get_context("fork")


def _child(answers):
    try:
        x = tf.ones([200, 200])
        answers.put(float(tf.reduce_sum(tf.matmul(x, x) + x)))
    except tf.errors.OpError as e:
        answers.put(type(e).__name__)


def _ask():
    answers = fork.Queue()
    process = fork.Process(target=_child, args=(answers,))
    process.start()
    answer = answers.get(timeout=60)
    process.join()
    return answer


def test_child_of_a_quiet_parent_computes():
    x = tf.ones([300, 300])
    float(tf.reduce_sum(tf.matmul(x, x)))  # the team of threads is up
    assert _ask() == 200 * 200 * 201.0


def test_child_of_a_busy_parent_is_refused_or_computes():
    x, done = tf.ones([700, 700]), threading.Event()

    def busy():
        while not done.is_set():
            tf.matmul(x, x).numpy()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        answers = {_ask() for _ in range(4)}
    finally:
        done.set()
        thread.join()
    assert answers <= {"FailedPreconditionError", 200 * 200 * 201.0}
