"""The rows in PyTorch, eagerly: functions are plain Python functions there. Sessions have no counterpart."""
from itertools import repeat

import numpy as np
import torch


def again(call):
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                call()
        return run
    return prepare


def eager_add():
    a, b = torch.tensor(1.0), torch.tensor(2.0)

    def prepare(n):
        def run():
            for _ in repeat(None, n):
                a + b
        return run
    return prepare


def function_call():
    def f(a, b):
        return a + b
    a, b = torch.tensor(1.0), torch.tensor(2.0)
    return again(lambda: f(a, b))


def new_shape():
    seen = [0]

    def prepare(n):
        first, seen[0] = seen[0], seen[0] + n
        xs = [torch.ones(1 + k % 128, 1 + k // 128 % 128) for k in range(first, first + n)]

        def run():
            for x in xs:
                torch.sum(torch.relu(x * 2.0 - 1.0))
        return run
    return prepare


def new_number():
    x = torch.tensor([1.0, 2.0, 3.0])

    def prepare(n):
        def run():
            for k in range(n):
                x * (k + 0.5) + 1.0
        return run
    return prepare


def range_loop():
    x = torch.tensor(2.0)

    def f():
        s = torch.tensor(0.0)
        for i in range(1000):
            s = s + x * float(i)
        return s
    return again(f)


def links(x):
    y = x * 2.0 + 1.0
    y = torch.relu(y) - 0.5 * x
    y = torch.sqrt(torch.abs(y)) + x
    return y / (1.0 + y * y)


def chain():
    x = torch.from_numpy(np.linspace(-1, 1, 1 << 22, dtype=np.float32))
    return again(lambda: links(x).numpy())


def matmul():
    rng = np.random.default_rng(0)
    a, b = (torch.from_numpy(rng.random((1000, 1000), dtype=np.float32)) for _ in range(2))
    return again(lambda: torch.matmul(a, b).numpy())


def rows(_):
    found = (eager_add, function_call, new_shape, new_number, range_loop, chain, matmul)
    return {f.__name__: f for f in found}
