"""The rows as a TensorFlow program. The same text measures TensorFlow and Evenflow."""
import importlib

import calls


def rows(module):
    tf = importlib.import_module(module)
    v1 = tf.compat.v1

    def eager_add():
        return calls.sums(tf.constant(1.0), tf.constant(2.0))

    def function_call():
        return calls.again_with(tf.function(lambda a, b: a + b), tf.constant(1.0), tf.constant(2.0))

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
        return calls.each_new(lambda k: tf.ones(calls.new_shape(k)), f)

    def new_number():
        f = tf.function(lambda x, k: x * k + 1.0)
        x = tf.constant([1.0, 2.0, 3.0])
        return calls.each_new(calls.new_number, lambda k: f(x, k))

    def range_loop():
        @tf.function
        def f(x):
            s = tf.constant(0.0)
            for i in tf.range(1000):
                s += x * tf.cast(i, tf.float32)
            return s
        x = tf.constant(2.0)
        return calls.again(lambda: f(x))

    def links(x):
        return calls.links(x, tf.nn.relu, tf.sqrt, tf.abs)

    def chain():
        x = tf.constant(calls.line())
        return calls.again(lambda: links(x).numpy())

    def chain_function():
        x = tf.constant(calls.line())
        f = tf.function(links)
        return calls.again(lambda: f(x).numpy())

    def matmul():
        a, b = map(tf.constant, calls.matrices())
        return calls.again(lambda: tf.matmul(a, b).numpy())

    return calls.named(eager_add, function_call, session_run, graph_in_loop, new_shape, new_number, range_loop, chain,
                       chain_function, matmul)
