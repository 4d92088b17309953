"""The rows in JAX: a function is a jax.jit function, a tape is jax.grad outside of any function. Sessions have no
counterpart."""
import jax
import jax.numpy as jnp
import numpy as np

import calls

jax.config.update("jax_enable_x64", True)  # for the rows of float64; the others say float32


def ready(x):
    return x.block_until_ready()


def pair():
    return jnp.float32(1.0), jnp.float32(2.0)


def eager_add():
    a, b = pair()
    return calls.again(lambda: ready(a + b))


def function_call():
    f, (a, b) = jax.jit(lambda a, b: a + b), pair()
    return calls.again(lambda: ready(f(a, b)))


def concrete_call():
    a, b = pair()
    f = jax.jit(lambda a, b: a + b).lower(a, b).compile()
    return calls.again(lambda: ready(f(a, b)))


def dict_result():
    f, (a, b) = jax.jit(lambda a, b: {"sum": a + b}), pair()
    return calls.again(lambda: ready(f(a, b)["sum"]))


def fresh_function():
    def make():
        return jax.jit(lambda x: jnp.sum(jax.nn.relu(x * 2.0 - 1.0) + x))
    x = jnp.asarray(np.array([1, 2, 3], np.float32))
    return calls.again(lambda: ready(make()(x)))


def tape_gradient():
    one, x = pair()
    return calls.again(lambda: ready(jax.grad(lambda x: x * x + one)(x)))


def new_shape():
    f = jax.jit(lambda x: jnp.sum(jax.nn.relu(x * 2.0 - 1.0)))
    return calls.each_new(lambda k: jnp.asarray(np.ones(calls.new_shape(k), np.float32)), lambda x: ready(f(x)))


def new_number():
    f = jax.jit(lambda x, k: x * k + 1.0)
    x = jnp.asarray(np.array([1, 2, 3], np.float32))
    return calls.each_new(calls.new_number, lambda k: ready(f(x, k)))


def range_loop():
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda i, s: s + x * i.astype(jnp.float32), jnp.float32(0)))
    x = jnp.float32(2.0)
    return calls.again(lambda: ready(f(x)))


def links(x):
    return calls.links(x, jax.nn.relu, jnp.sqrt, jnp.abs)


def chain_of(row, wrap):
    def make():
        x, f = jnp.asarray(calls.line(*calls.CHAINS[row])), wrap(links)
        return calls.again(lambda: ready(f(x)))
    return make


def product(dtype):
    def make():
        a, b = map(jnp.asarray, calls.matrices(dtype))
        return calls.again(lambda: ready(jnp.matmul(a, b)))
    return make


def conv(row):
    def make():
        x, w, stride = calls.images(row)
        f = jax.jit(lambda x, w: jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME",
                                                              dimension_numbers=("NHWC", "HWIO", "NHWC")))
        x, w = jnp.asarray(x), jnp.asarray(w)
        return calls.again(lambda: ready(f(x, w)))
    return make


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def layer_norm(x, scale, shift, back):
    def forward(x, scale, shift):
        mean = jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + jnp.float32(1e-5)) * scale + shift
    y, pull = jax.vjp(forward, x, scale, shift)
    return y, *pull(back)


def cross_entropy(logits, labels, mask):
    loss = -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)[:, 0]
    return jnp.sum(loss * mask) / jnp.sum(mask)


def layer(row, wrap):
    f = wrap({"gelu": gelu, "softmax": jax.nn.softmax, "layer_norm": layer_norm, "cross_entropy": cross_entropy,
              "cross_entropy_grad": jax.value_and_grad(cross_entropy)}[row])

    def make():
        given = list(map(jnp.asarray, calls.layer_inputs(row)))
        return calls.again(lambda: jax.block_until_ready(f(*given)))
    return make


def train_step():
    x, y, weights = calls.layers()
    x, y, state = jnp.asarray(x), jnp.asarray(y), [list(map(jnp.asarray, weights))]

    def loss_of(weights):
        h = x
        for w in weights:
            h = jax.nn.relu(h @ w)
        return jnp.mean(jnp.square(h - y))

    @jax.jit
    def step(weights):
        loss, grads = jax.value_and_grad(loss_of)(weights)
        return loss, [w - jnp.float32(0.01) * g for w, g in zip(weights, grads)]

    def call():
        loss, state[0] = step(state[0])
        ready(loss)
        ready(state[0][-1])
    return calls.again(call)


def dense_step():
    """The step of the small dense model, with Adam as optax writes it."""
    x, y = map(jnp.asarray, calls.dense(32))
    rng, sizes = np.random.default_rng(0), (64, 128, 64, 10)
    weights = [(jnp.asarray(rng.normal(0, a ** -0.5, (a, b)), "float32"), jnp.zeros(b, "float32")) for a, b in zip(sizes, sizes[1:])]
    state = [(jnp.float32(0), weights, *(jax.tree.map(jnp.zeros_like, weights) for _ in range(2)))]

    def loss_of(weights):
        h = x
        for k, (w, b) in enumerate(weights):
            h = (jax.nn.relu(h) if k else h) @ w + b
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h), y[:, None], 1))

    @jax.jit
    def step(state):
        n, weights, m, v = state
        loss, grads = jax.value_and_grad(loss_of)(weights)
        n, f = n + 1, jnp.float32
        m = jax.tree.map(lambda m, g: m + f(0.1) * (g - m), m, grads)
        v = jax.tree.map(lambda v, g: v + f(0.001) * (g * g - v), v, grads)
        rate = f(0.001) * jnp.sqrt(1 - f(0.999) ** n) / (1 - f(0.9) ** n)
        return loss, (n, jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + f(1e-7)), weights, m, v), m, v)

    def call():
        loss, state[0] = step(state[0])
        jax.block_until_ready(state[0])
        return float(loss)
    return calls.again(call)


def rows(_):
    return {**calls.named(eager_add, function_call, concrete_call, dict_result, fresh_function, tape_gradient, new_shape, new_number,
                          range_loop, train_step, dense_step),
            **{row: chain_of(row, lambda f: f) for row in calls.CHAINS},
            **{f"{row}_function": chain_of(row, jax.jit) for row in calls.CHAINS},
            "matmul": product("float32"), "matmul64": product("float64"), **{row: conv(row) for row in calls.CONVS},
            **{row: layer(row, lambda f: f) for row in calls.LAYERS},
            **{f"{row}_function": layer(row, jax.jit) for row in calls.LAYERS}}
