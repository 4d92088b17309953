"""The rows in PyTorch, eagerly: functions are plain Python functions there. Sessions, signatures and functions made anew have no
counterpart."""
import torch

import calls
import models_torch
import pipelines_torch


def eager_add():
    a, b = torch.tensor(1.0), torch.tensor(2.0)
    return calls.again(lambda: (a + b).numpy())


def function_call():
    a, b = torch.tensor(1.0), torch.tensor(2.0)

    def f(a, b):
        return a + b
    return calls.again(lambda: f(a, b).numpy())


def dict_result():
    a, b = torch.tensor(1.0), torch.tensor(2.0)

    def f(a, b):
        return {"sum": a + b}
    return calls.again(lambda: f(a, b)["sum"].numpy())


def tape_gradient():
    x, one = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0)
    return calls.again(lambda: torch.autograd.grad(x * x + one, x)[0].numpy())


def new_shape():
    return calls.each_new(lambda k: torch.ones(calls.new_shape(k)), lambda x: torch.sum(torch.relu(x * 2.0 - 1.0)).numpy())


def new_number():
    x = torch.tensor([1.0, 2.0, 3.0])
    return calls.each_new(calls.new_number, lambda k: (x * k + 1.0).numpy())


def range_loop():
    x = torch.tensor(2.0)

    def f():
        s = torch.tensor(0.0)
        for i in range(1000):
            s = s + x * float(i)
        return s
    return calls.again(lambda: f().numpy())


def chain_of(row):
    def make():
        x = torch.from_numpy(calls.line(*calls.CHAINS[row]))
        return calls.again(lambda: calls.links(x, torch.relu, torch.sqrt, torch.abs).numpy())
    return make


def product(dtype):
    def make():
        a, b = map(torch.from_numpy, calls.matrices(dtype))
        return calls.again(lambda: torch.matmul(a, b).numpy())
    return make


def conv(row):
    def make():
        x, w, stride = calls.images(row)
        x = torch.from_numpy(x).permute(0, 3, 1, 2).contiguous()
        w = torch.from_numpy(w).permute(3, 2, 0, 1).contiguous()
        pad = w.shape[2] // 2
        return calls.again(lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=pad).numpy())
    return make


def layer_norm(x, scale, shift, back):
    y = torch.nn.functional.layer_norm(x, scale.shape, scale, shift)
    return y, *torch.autograd.grad(y, (x, scale, shift), back)


def cross_entropy(logits, labels, mask):
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    return torch.sum(loss * mask) / torch.sum(mask)


def cross_entropy_grad(logits, labels, mask):
    loss = cross_entropy(logits, labels, mask)
    return loss, torch.autograd.grad(loss, logits)[0]


def layer(row):
    f = {"gelu": torch.nn.functional.gelu, "softmax": lambda x: torch.softmax(x, -1), "layer_norm": layer_norm,
         "cross_entropy": cross_entropy, "cross_entropy_grad": cross_entropy_grad}[row]

    def make():
        given = list(map(torch.from_numpy, calls.layer_inputs(row)))
        if row.startswith("cross_entropy"):
            given[1] = given[1].long()
        for x in given[:3] if row == "layer_norm" else given[:1] if row == "cross_entropy_grad" else []:
            x.requires_grad_()
        return calls.again(lambda: f(*given))
    return make


def train_step():
    x, y, weights = calls.layers()
    x, y, weights = torch.from_numpy(x), torch.from_numpy(y), [torch.from_numpy(w).requires_grad_() for w in weights]

    def step():
        h = x
        for w in weights:
            h = torch.relu(torch.matmul(h, w))
        loss = torch.mean(torch.square(h - y))
        grads = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g in zip(weights, grads):
                w -= 0.01 * g
        return loss.detach()
    return calls.again(lambda: step().numpy())


def rows(_):
    return {**calls.named(eager_add, function_call, dict_result, tape_gradient, new_shape, new_number, range_loop, train_step),
            **{row: chain_of(row) for row in calls.CHAINS}, "matmul": product("float32"), "matmul64": product("float64"),
            **{row: conv(row) for row in calls.CONVS},
            **{row: layer(row) for row in calls.LAYERS}, **{f"{row}_function": layer(row) for row in calls.LAYERS},
            **models_torch.ROWS, **pipelines_torch.ROWS}
