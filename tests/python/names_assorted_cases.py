"""Smaller names."""
import numpy as np


def fingerprints(tf, tmp):
    return tf.fingerprint(["a", "bc"]), tf.fingerprint([[1, 2], [3, 4]]), tf.fingerprint(np.zeros((2, 0), np.float32))


def fingerprint_of_a_scalar(tf, tmp):
    return tf.fingerprint(3)


def partitions(tf, tmp):
    f = tf.ragged.stack_dynamic_partitions
    return (f(["a", "b", "c", "d", "e"], [3, 0, 2, 2, 3], 5), f([[1, 2], [3, 4], [5, 6]], [1, 0, 1], 2),
            f([[1, 2], [3, 4]], [[1, 0], [1, 1]], 2), f(tf.constant([1, 2]), 1, 3), f([1.5, 2.5], tf.constant([0, 0], tf.int64), 1))


def partitions_of_rows(tf, tmp):
    rows = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    f = tf.ragged.stack_dynamic_partitions
    return f(rows, [1, 0, 1], 2), f(rows, tf.ragged.constant([[0, 1], [1], [0, 0, 2]]), 3)


def clusters(tf, tmp):
    c = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {0: "c:3", 2: "d:4"}})
    made = [c.as_dict()["worker"], sorted(c.as_dict()["ps"].items()), sorted(c.jobs), c.num_tasks("ps"), sorted(c.task_indices("ps")),
            c.task_address("worker", 1), c.job_tasks("ps"), bool(c), bool(tf.train.ClusterSpec({})),
            c == tf.train.ClusterSpec(c), c != tf.train.ClusterSpec({})]
    return made


def no_such_job(tf, tmp):
    return tf.train.ClusterSpec({"a": ["x"]}).num_tasks("b")


def no_such_task(tf, tmp):
    return tf.train.ClusterSpec({"a": ["x"]}).task_address("a", 1)


def not_a_cluster(tf, tmp):
    return tf.train.ClusterSpec(["x"])


def written_graph(tf, tmp):
    with tf.Graph().as_default() as g:
        tf.compat.v1.placeholder(tf.float32, [2], name="x")
    text, data = (tf.io.write_graph(g, tmp + "/sub", n, as_text=t) for n, t in (("g.txt", True), ("g.pb", False)))
    with open(text) as f:
        first = f.read().splitlines()[:3]
    d = tf.compat.v1.GraphDef()
    with open(data, "rb") as f:
        d.ParseFromString(f.read())
    return text, first, [n.name for n in d.node]
