"""The rows in PyTorch, eagerly: functions are plain Python functions there. Sessions have no counterpart."""
import torch

import calls


def eager_add():
    return calls.sums(torch.tensor(1.0), torch.tensor(2.0))


def function_call():
    return calls.again_with(lambda a, b: a + b, torch.tensor(1.0), torch.tensor(2.0))


def new_shape():
    return calls.each_new(lambda k: torch.ones(calls.new_shape(k)), lambda x: torch.sum(torch.relu(x * 2.0 - 1.0)))


def new_number():
    x = torch.tensor([1.0, 2.0, 3.0])
    return calls.each_new(calls.new_number, lambda k: x * k + 1.0)


def range_loop():
    x = torch.tensor(2.0)

    def f():
        s = torch.tensor(0.0)
        for i in range(1000):
            s = s + x * float(i)
        return s
    return calls.again(f)


def chain():
    x = torch.from_numpy(calls.line())
    return calls.again(lambda: calls.links(x, torch.relu, torch.sqrt, torch.abs).numpy())


def matmul():
    a, b = map(torch.from_numpy, calls.matrices())
    return calls.again(lambda: torch.matmul(a, b).numpy())


def rows(_):
    return calls.named(eager_add, function_call, new_shape, new_number, range_loop, chain, matmul)
