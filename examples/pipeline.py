"""The pipeline. A training loop that is fed batch by batch from numpy, shuffled, with an odd last batch in every
epoch: the sizes change, the step does not become slower. The loss has to fall, too.
"""
import numpy as np
import tensorflow as tf

import calls

rng = np.random.default_rng(3)
points = rng.standard_normal((1000, 16), dtype=np.float32)
labels = (points[:, :4].sum(1) > 0).astype(np.int32)

w1 = tf.Variable(rng.standard_normal((16, 32), dtype=np.float32) * 0.2)
b1 = tf.Variable(tf.zeros([32]))
w2 = tf.Variable(rng.standard_normal((32, 2), dtype=np.float32) * 0.2)
variables = [w1, b1, w2]


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(hidden, w2))
        loss = tf.reduce_mean(each)
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(0.1 * g)
    return loss


def batches(size):
    """Shuffled batches without end; the last of each epoch holds what is left."""
    while True:
        order = rng.permutation(len(points))
        for k in range(0, len(points), size):
            some = order[k:k + size]
            yield points[some], labels[some]


losses = []
feed = batches(48)
calls.measure("pipeline, a step with odd batches", lambda i: losses.append(float(train(*next(feed)))), 630)
print(f"loss {losses[0]:.3f} at the start, {np.mean(losses[-20:]):.3f} at the end")
assert np.mean(losses[-20:]) < 0.5 * losses[0]
