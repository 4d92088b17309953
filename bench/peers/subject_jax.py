"""The rows in JAX; a function is jax.jit of it. Sessions have no counterpart."""
from itertools import repeat

import jax
import jax.numpy as jnp
import numpy as np


def again(call):
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                call()
        return run
    return prepare


def eager_add():
    a, b = jnp.float32(1.0), jnp.float32(2.0)
    return again(lambda: (a + b).block_until_ready())


def function_call():
    f = jax.jit(lambda a, b: a + b)
    a, b = jnp.float32(1.0), jnp.float32(2.0)

    def prepare(n):
        def run():
            for _ in repeat(None, n):
                f(a, b)
        return run
    return prepare


def new_shape():
    f = jax.jit(lambda x: jnp.sum(jax.nn.relu(x * 2.0 - 1.0)))
    seen = [0]

    def prepare(n):
        first, seen[0] = seen[0], seen[0] + n
        xs = [jnp.asarray(np.ones([1 + k % 128, 1 + k // 128 % 128], np.float32)) for k in range(first, first + n)]

        def run():
            for x in xs:
                f(x).block_until_ready()
        return run
    return prepare


def new_number():
    f = jax.jit(lambda x, k: x * k + 1.0)
    x = jnp.asarray([1.0, 2.0, 3.0])

    def prepare(n):
        def run():
            for k in range(n):
                f(x, k + 0.5).block_until_ready()
        return run
    return prepare


def range_loop():
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda i, s: s + x * i.astype(jnp.float32), jnp.float32(0)))
    x = jnp.float32(2.0)
    return again(lambda: f(x).block_until_ready())


def links(x):
    y = x * 2.0 + 1.0
    y = jax.nn.relu(y) - 0.5 * x
    y = jnp.sqrt(jnp.abs(y)) + x
    return y / (1.0 + y * y)


def chain():
    x = jnp.asarray(np.linspace(-1, 1, 1 << 22, dtype=np.float32))
    return again(lambda: links(x).block_until_ready())


def chain_function():
    x = jnp.asarray(np.linspace(-1, 1, 1 << 22, dtype=np.float32))
    f = jax.jit(links)
    return again(lambda: f(x).block_until_ready())


def matmul():
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.random((1000, 1000), dtype=np.float32)) for _ in range(2))
    return again(lambda: jnp.matmul(a, b).block_until_ready())


def rows(_):
    found = (eager_add, function_call, new_shape, new_number, range_loop, chain, chain_function, matmul)
    return {f.__name__: f for f in found}
