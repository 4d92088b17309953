"""The rows in JAX; a function is jax.jit of it. Sessions have no counterpart."""
import jax
import jax.numpy as jnp
import numpy as np

import calls


def eager_add():
    a, b = jnp.float32(1.0), jnp.float32(2.0)
    return calls.again(lambda: (a + b).block_until_ready())


def function_call():
    return calls.again_with(jax.jit(lambda a, b: a + b), jnp.float32(1.0), jnp.float32(2.0))


def new_shape():
    f = jax.jit(lambda x: jnp.sum(jax.nn.relu(x * 2.0 - 1.0)))
    return calls.each_new(lambda k: jnp.asarray(np.ones(calls.new_shape(k), np.float32)),
                          lambda x: f(x).block_until_ready())


def new_number():
    f = jax.jit(lambda x, k: x * k + 1.0)
    x = jnp.asarray([1.0, 2.0, 3.0])
    return calls.each_new(calls.new_number, lambda k: f(x, k).block_until_ready())


def range_loop():
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda i, s: s + x * i.astype(jnp.float32), jnp.float32(0)))
    x = jnp.float32(2.0)
    return calls.again(lambda: f(x).block_until_ready())


def links(x):
    return calls.links(x, jax.nn.relu, jnp.sqrt, jnp.abs)


def chain():
    x = jnp.asarray(calls.line())
    return calls.again(lambda: links(x).block_until_ready())


def chain_function():
    x = jnp.asarray(calls.line())
    f = jax.jit(links)
    return calls.again(lambda: f(x).block_until_ready())


def matmul():
    a, b = map(jnp.asarray, calls.matrices())
    return calls.again(lambda: jnp.matmul(a, b).block_until_ready())


def rows(_):
    return calls.named(eager_add, function_call, new_shape, new_number, range_loop, chain, chain_function, matmul)
