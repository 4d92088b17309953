"""The rows as a TensorFlow program. The same text measures TensorFlow and Evenflow."""
import importlib

import calls
import models_keras
import pipelines


def rows(module):
    tf = importlib.import_module(module)
    v1 = tf.compat.v1
    one, two = tf.constant(1.0), tf.constant(2.0)

    def eager_add():
        return calls.again(lambda: (one + two).numpy())

    def function_call():
        f = tf.function(lambda a, b: a + b)
        return calls.again(lambda: f(one, two).numpy())

    def signature_call():
        f = tf.function(lambda a, b: a + b, input_signature=[tf.TensorSpec([], tf.float32)] * 2)
        return calls.again(lambda: f(one, two).numpy())

    def concrete_call():
        f = tf.function(lambda a, b: a + b).get_concrete_function(one, two)
        return calls.again(lambda: f(one, two).numpy())

    def dict_result():
        f = tf.function(lambda a, b: {"sum": a + b})
        return calls.again(lambda: f(one, two)["sum"].numpy())

    def fresh_function():
        def make():
            return tf.function(lambda x: tf.reduce_sum(tf.nn.relu(x * 2.0 - 1.0) + x))
        x = tf.constant([1.0, 2.0, 3.0])
        return calls.again(lambda: make()(x).numpy())

    def tape_gradient():
        def call():
            with tf.GradientTape() as tape:
                tape.watch(two)
                y = two * two + one
            return tape.gradient(y, two).numpy()
        return calls.again(call)

    def session_run():
        graph = tf.Graph()
        with graph.as_default():
            a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
            c = a + b
        session = v1.Session(graph=graph)
        return calls.again(lambda: session.run(c, {a: 1.0, b: 2.0}))

    def graph_in_loop():
        def once():
            with tf.Graph().as_default():
                a = v1.placeholder(tf.float32, [3])
                b = tf.constant([1.0, 2.0, 3.0])
                c = tf.reduce_sum(a * b + 1.0)
                with v1.Session() as session:
                    return session.run(c, {a: [1.0, 1.0, 1.0]})
        return calls.again(once)

    def new_shape():
        f = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(x * 2.0 - 1.0)))
        return calls.each_new(lambda k: tf.ones(calls.new_shape(k)), lambda x: f(x).numpy())

    def new_number():
        f = tf.function(lambda x, k: x * k + 1.0)
        x = tf.constant([1.0, 2.0, 3.0])
        return calls.each_new(calls.new_number, lambda k: f(x, k).numpy())

    def range_loop():
        @tf.function
        def f(x):
            s = tf.constant(0.0)
            for i in tf.range(1000):
                s += x * tf.cast(i, tf.float32)
            return s
        return calls.again(lambda: f(two).numpy())

    def links(x):
        return calls.links(x, tf.nn.relu, tf.sqrt, tf.abs)

    def chain_of(row, wrap):
        def make():
            x, f = tf.constant(calls.line(*calls.CHAINS[row])), wrap(links)
            return calls.again(lambda: f(x).numpy())
        return make

    def product(dtype):
        def make():
            a, b = map(tf.constant, calls.matrices(dtype))
            return calls.again(lambda: tf.matmul(a, b).numpy())
        return make

    def conv(row):
        def make():
            x, w, stride = calls.images(row)
            x, w = tf.constant(x), tf.constant(w)
            return calls.again(lambda: tf.nn.conv2d(x, w, stride, "SAME").numpy())
        return make

    def layer_norm(x, scale, shift, back):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, shift])
            mean, variance = tf.nn.moments(x, -1, keepdims=True)
            y = tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)
        return y, *tape.gradient(y, [x, scale, shift], back)

    def cross_entropy(logits, labels, mask):
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)

    def cross_entropy_grad(logits, labels, mask):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = cross_entropy(logits, labels, mask)
        return loss, tape.gradient(loss, logits)

    def read(results):
        while results:
            results.pop().numpy()  # nobody else holds it, so no copy is needed

    def layer(row, wrap):
        f = wrap({"gelu": tf.nn.gelu, "softmax": tf.nn.softmax, "layer_norm": layer_norm, "cross_entropy": cross_entropy,
                  "cross_entropy_grad": cross_entropy_grad}[row])

        def make():
            given = list(map(tf.constant, calls.layer_inputs(row)))
            return calls.again(lambda: read(tf.nest.flatten(f(*given))))
        return make

    def train_step():
        x, y, weights = calls.layers()
        x, y, weights = tf.constant(x), tf.constant(y), [tf.Variable(w) for w in weights]

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                h = x
                for w in weights:
                    h = tf.nn.relu(tf.matmul(h, w))
                loss = tf.reduce_mean(tf.square(h - y))
            for w, g in zip(weights, tape.gradient(loss, weights)):
                w.assign_sub(0.01 * g)
            return loss
        return calls.again(lambda: step().numpy())

    return {**calls.named(eager_add, function_call, signature_call, concrete_call, dict_result, fresh_function, tape_gradient,
                          session_run, graph_in_loop, new_shape, new_number, range_loop, train_step),
            **{row: chain_of(row, lambda f: f) for row in calls.CHAINS},
            **{f"{row}_function": chain_of(row, tf.function) for row in calls.CHAINS},
            "matmul": product("float32"), "matmul64": product("float64"), **{row: conv(row) for row in calls.CONVS},
            **{row: layer(row, lambda f: f) for row in calls.LAYERS},
            **{f"{row}_function": layer(row, tf.function) for row in calls.LAYERS}, **models_keras.rows(tf),
            **pipelines.rows(tf)}
