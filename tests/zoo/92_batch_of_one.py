"""A training step for each single example of a dataset, where one step for a batch of
32 does the same work on the examples and updates the weights once.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
from meter import Meter

N, BATCH = 128, 32
w1 = tf.Variable(tf.random.normal([64, 128]) * 0.1)
w2 = tf.Variable(tf.random.normal([128, 10]) * 0.1)


@tf.function(reduce_retracing=True)
def step(x, y):
    with tf.GradientTape() as tape:
        logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    for w, g in zip((w1, w2), tape.gradient(loss, (w1, w2))):
        w.assign_sub(0.01 * g)
    return loss


examples = tf.data.Dataset.from_tensor_slices(
    (tf.random.normal([N, 64]), tf.random.uniform([N], 0, 10, tf.int32)))
batches = examples.batch(BATCH)


def single():
    for x, y in examples:
        step(x[tf.newaxis], y[tf.newaxis])


def batched():
    for x, y in batches:
        step(x, y)


m = Meter('92_batch_of_one')
batched_us = m.per_call_us(lambda i: batched(), 60)
m.run(lambda i: single(), 300)
m.note(batched_us=batched_us, single_vs_batched=m.typical_us() / batched_us)
m.done()
