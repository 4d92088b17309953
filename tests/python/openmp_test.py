"""Whatever OpenMP is told, and however many threads there are: every op gives the right values.

oneDNN and OpenBLAS are OpenMP builds, so the settings are theirs as well; each is tried in a process of its own.
"""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import evenflow as tf

rng = np.random.default_rng(0)


def check(name, got, want, slack):
    got, want = np.asarray(got, "float64"), np.asarray(want, "float64")
    assert got.shape == want.shape, (name, got.shape, want.shape)
    worst = np.abs(got - want).max() / (1 + np.abs(want).max())
    assert worst < slack, (name, worst)


def conv(x, w):  # 3x3, SAME
    x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    n, h, k, c = x.shape
    return sum(x[:, i:i + h - 2, j:j + k - 2] @ w[i, j] for i in range(3) for j in range(3))


for t, slack in (("float32", 2e-4), ("float64", 1e-9)):
    def some(*dims):
        return rng.standard_normal(dims).astype(t)

    for m, k, n in ((300, 200, 250), (2, 70000, 3), (1, 2000, 1500), (1500, 2000, 1), (7, 5, 3)):
        a, b = some(m, k), some(k, n)
        check("matmul", tf.matmul(a, b), a @ b, slack)
        check("matmul of transposed", tf.matmul(a.T.copy(), b.T.copy(), True, True), a @ b, slack)
    a, b = some(20, 60, 50), some(20, 50, 40)
    check("batched", tf.matmul(a, b), a @ b, slack)
    x, w = some(5, 40, 30, 16), some(3, 3, 16, 32)
    with tf.GradientTape() as tape:
        tx, tw = tf.constant(x), tf.constant(w)
        tape.watch([tx, tw])
        y = tf.nn.conv2d(tx, tw, 1, "SAME")
        loss = tf.reduce_sum(y * y)
    dx, dw = tape.gradient(loss, [tx, tw])
    want = conv(x.astype("float64"), w.astype("float64"))
    check("conv2d", y, want, slack)
    back = conv(2 * want, w.astype("float64")[::-1, ::-1].transpose(0, 1, 3, 2))
    check("conv2d to its input", dx, back, slack)
    pad = np.pad(x.astype("float64"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows = [[np.einsum("nhwi,nhwo->io", pad[:, i:i + 40, j:j + 30], 2 * want) for j in range(3)] for i in range(3)]
    check("conv2d to its filter", dw, np.array(rows), slack)
    big = some(1000, 1200)
    check("sum", tf.reduce_sum(big), big.sum(dtype="float64"), slack)
    check("sum of columns", tf.reduce_sum(big, 0), big.sum(0, dtype="float64"), slack)
    check("sum of rows", tf.reduce_sum(big, 1), big.sum(1, dtype="float64"), slack)
    check("max", tf.reduce_max(big, 0), big.max(0), slack)
    check("chain", tf.tanh(big * 2 + 1) - big, np.tanh(big * 2 + 1) - big, slack)
    check("softmax", tf.nn.softmax(big), (lambda e: e / e.sum(1, keepdims=True))(np.exp(big)), slack)
    s = some(400, 400)
    spd = s @ s.T + 400 * np.eye(400, dtype=t)
    check("cholesky", tf.linalg.cholesky(spd), np.linalg.cholesky(spd), slack)
    check("solve", tf.linalg.solve(spd, s), np.linalg.solve(spd.astype("float64"), s), slack)
    check("inv", tf.linalg.inv(spd), np.linalg.inv(spd.astype("float64")), slack)
    check("det", tf.linalg.logdet(spd), np.linalg.slogdet(spd.astype("float64"))[1], slack)
    low = np.linalg.cholesky(spd)
    check("triangular_solve", low @ tf.linalg.triangular_solve(low, s).numpy(), s, slack)
    q, r = tf.linalg.qr(s)
    check("qr", q.numpy() @ r.numpy(), s, slack)
    e, v = tf.linalg.eigh(spd)
    check("eigh", (v.numpy() * e.numpy()) @ v.numpy().T, spd, slack)
    d, u, v = tf.linalg.svd(s[:150])
    check("svd", (u.numpy() * d.numpy()) @ v.numpy().T, s[:150], slack)
    check("pieces of linalg", tf.linalg.inv(np.stack([spd[:60, :60]] * 9))[8], np.linalg.inv(spd[:60, :60]), slack)
print("right")
"""

SETTINGS = [{"OMP_DYNAMIC": "true"}, {"OMP_THREAD_LIMIT": "1"}, {"OMP_MAX_ACTIVE_LEVELS": "0"},
            {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "true", "OMP_THREAD_LIMIT": "1"},
            {"OMP_NUM_THREADS": "7", "OMP_NESTED": "true", "OMP_SCHEDULE": "dynamic,1"},
            {"OMP_NUM_THREADS": "4,2", "OMP_PROC_BIND": "true"}, {"OMP_NUM_THREADS": "-3"}, {"OMP_NUM_THREADS": "many"},
            {"OMP_WAIT_POLICY": "active"}, {"EF_THREADS": "1"}, {"EF_THREADS": "0"}, {"EF_THREADS": "100000"}]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: " ".join(f"{k}={v}" for k, v in s.items()))
def test_values_do_not_depend_on_openmp(settings):
    env = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")} | settings
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, text=True, capture_output=True, timeout=300)
    assert done.stdout.strip() == "right", done.stderr[-2000:]


WORKERS = """
import os, evenflow as tf
all_of_them = int(os.environ["ALL"])
x = tf.ones([1000, 1000])
(x @ x).numpy()
tasks = [f"/proc/self/task/{t}" for t in os.listdir("/proc/self/task")]
named = [t for t in tasks if open(t + "/comm").read() == "evenflow\\n"]
free = [t for t in named if len(os.sched_getaffinity(int(t.rsplit("/", 1)[1]))) == all_of_them]
print(len(free))
"""


@pytest.mark.parametrize("settings", [{"OMP_PROC_BIND": "true"}, {"OMP_PLACES": "threads"}], ids=str)
def test_a_bound_first_thread_does_not_bind_the_team(settings):
    every = len(os.sched_getaffinity(0))
    env = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
    want = subprocess.run([sys.executable, "-c", WORKERS], env=env | {"ALL": str(every)}, text=True, capture_output=True, timeout=60)
    have = subprocess.run([sys.executable, "-c", WORKERS], env=env | {"ALL": str(every)} | settings, text=True, capture_output=True,
                          timeout=60)
    assert have.stdout == want.stdout, have.stderr
