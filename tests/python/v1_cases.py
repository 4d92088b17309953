"""Small graphs of the first generation and of families that Keras needs, with fixed inputs: name -> what to run.

`python v1_cases.py tensorflow` writes what that module answers to v1_reference.json; the tests compare Evenflow's answers."""
import importlib
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent


def _metrics(tf):
    m, near = tf.compat.v1.metrics, tf.round
    at = [0.2, 0.5, 0.8]
    return {
        "mean": lambda y, p, w: m.mean(p), "mean, weighted": lambda y, p, w: m.mean(p, w),
        "mean_tensor": lambda y, p, w: m.mean_tensor(tf.reshape(p, [7]), tf.reshape(w, [7])),
        "accuracy": lambda y, p, w: m.accuracy(y, near(p)), "accuracy, weighted": lambda y, p, w: m.accuracy(y, near(p), w),
        "mean_squared_error": lambda y, p, w: m.mean_squared_error(y, p, w),
        "root_mean_squared_error": lambda y, p, w: m.root_mean_squared_error(y, p),
        "mean_absolute_error": lambda y, p, w: m.mean_absolute_error(y, p, w),
        "mean_relative_error": lambda y, p, w: m.mean_relative_error(y, p, y),
        "mean_cosine_distance": lambda y, p, w: m.mean_cosine_distance(tf.reshape(y, [7, 1]), tf.reshape(p, [7, 1]), 1),
        "percentage_below": lambda y, p, w: m.percentage_below(p, 0.4, w),
        "true_positives": lambda y, p, w: m.true_positives(y, near(p), w),
        "false_positives": lambda y, p, w: m.false_positives(y, near(p)),
        "false_negatives": lambda y, p, w: m.false_negatives(y, near(p)),
        "true_negatives": lambda y, p, w: m.true_negatives(y, near(p)),
        "precision": lambda y, p, w: m.precision(y, near(p), w), "recall": lambda y, p, w: m.recall(y, near(p)),
        "precision_at_thresholds": lambda y, p, w: m.precision_at_thresholds(y, p, at, w),
        "recall_at_thresholds": lambda y, p, w: m.recall_at_thresholds(y, p, at),
        "true_positives_at_thresholds": lambda y, p, w: m.true_positives_at_thresholds(y, p, at, w),
        "auc": lambda y, p, w: m.auc(y, p), "auc, weighted": lambda y, p, w: m.auc(y, p, w, num_thresholds=20),
        "auc, PR": lambda y, p, w: m.auc(y, p, curve="PR"),
        "auc, minoring": lambda y, p, w: m.auc(y, p, summation_method="minoring"),
        "mean_iou": lambda y, p, w: m.mean_iou(y, near(p), 3), "mean_iou, weighted": lambda y, p, w: m.mean_iou(y, near(p), 2, w),
        "mean_per_class_accuracy": lambda y, p, w: m.mean_per_class_accuracy(y, near(p), 2, w),
    }


def _metric(tf, make):
    """The metric after each of three batches, and its variables."""
    v1, rng, got = tf.compat.v1, np.random.RandomState(1), []
    with tf.Graph().as_default(), v1.Session() as session:
        fed = [v1.placeholder(tf.float32, [None]) for _ in range(3)]
        value, update = make(*fed)
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        for _ in range(3):
            batch = (rng.randint(0, 2, 7), rng.rand(7), rng.rand(7))
            session.run(update, dict(zip(fed, batch)))
            got.append(np.asarray(session.run(value), np.float64).tolist())
        return [got, [v.name for v in v1.local_variables()]]


def _tables(tf):
    """A table of 7 rows with biases, inputs and labels."""
    rng = np.random.RandomState(2)
    return [tf.constant(rng.randn(*s).astype("f")) for s in ((7, 4), (7,), (3, 4))] + [
        tf.constant(rng.randint(0, 7, (3, 2)), tf.int64)]


def _image(kind, **more):
    def run(tf):
        x = np.arange(2 * 4 * 5, dtype="f").reshape(2, 4, 5, 1) ** 1.5
        maps = np.array([[1.1, 0.3, -1.2, 0.2, 0.8, 0.7, 0.01, 0.02], [0.5, -0.7, 3, 0.4, 1.3, -2, 0, 0]], "f")
        return tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=maps, output_shape=[5, 6], fill_value=-1.0,
                                                     interpolation=kind, **more)
    return run


def _signal(tf):
    rng = np.random.RandomState(3)
    x, s = tf.constant(rng.randn(2, 40)), tf.signal
    c = tf.complex(x, x[::-1] * 0.5)
    return {
        "fft, prime": lambda: s.fft(c[:, :37]),
        "rfft3d": lambda: s.rfft3d(tf.reshape(x, [4, 4, 5])), "irfft3d": lambda: s.irfft3d(tf.reshape(c, [4, 4, 5])),
        "mdct": lambda: s.mdct(x, 8), "mdct, ortho": lambda: s.mdct(x, 8, norm="ortho", pad_end=True),
        "inverse_mdct": lambda: s.inverse_mdct(tf.reshape(x, [2, 5, 8])),
        "inverse_mdct, no window": lambda: s.inverse_mdct(tf.reshape(x, [2, 5, 8]), None, "ortho"),
        "stft": lambda: s.stft(x, 8, 3, 10, pad_end=True),
        "inverse_stft": lambda: s.inverse_stft(s.stft(x, 8, 4), 8, 4, window_fn=s.inverse_stft_window_fn(4)),
        "overlap_and_add": lambda: s.overlap_and_add(tf.reshape(x, [2, 5, 8]), 3),
        "ifftshift": lambda: s.ifftshift(x, [1]), "frame": lambda: s.frame(x, 7, 4, True, 9.0, 1),
        "hann, symmetric": lambda: s.hann_window(7, False), "hamming, odd": lambda: s.hamming_window(7),
        "kaiser": lambda: s.kaiser_window(9, 3.0), "kaiser derived": lambda: s.kaiser_bessel_derived_window(8, 3.0),
        "mel": lambda: s.linear_to_mel_weight_matrix(6, 17, 8000.0, 80.0, 3000.0),
    }


def cases(tf):
    """name -> function without arguments whose result is numbers."""
    v1, nn = tf.compat.v1, tf.nn
    found = {f"metrics.{k}": lambda m=m: _metric(tf, m) for k, m in _metrics(tf).items()}
    found.update({f"signal.{k}": f for k, f in _signal(tf).items()})
    for kind in ("NEAREST", "BILINEAR"):
        for fill in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            found[f"projective.{kind} {fill}"] = lambda f=_image(kind, fill_mode=fill): f(tf)
    w, b, x, y = _tables(tf)
    for name in ("Uniform", "LogUniform"):
        for unique in (True, False):
            sampler = getattr(tf.raw_ops, f"{name}CandidateSampler")
            found[f"sampler.{name} {unique}"] = lambda s=sampler, u=unique: [np.asarray(a).tolist() for a in s(
                true_classes=y, num_true=2, num_sampled=6, unique=u, range_max=7, seed=87654321, seed2=5 + u)]
    drawn = (tf.constant([1, 4, 6], tf.int64), tf.constant(np.full((3, 2), 0.4, "f")), tf.constant([0.3, 0.2, 0.5]))
    found.update({
        "sampled.nce_loss": lambda: nn.nce_loss(w, b, y, x, 3, 7, 2, drawn),
        "sampled.nce_loss, hits removed": lambda: nn.nce_loss(w, b, y[:, :1], x, 3, 7, 1, (drawn[0], drawn[1][:, :1], drawn[2]),
                                                              True),
        "sampled.softmax": lambda: nn.sampled_softmax_loss(w, b, y, x, 3, 7, 2, drawn),
        "sampled.in parts": lambda: v1.nn.nce_loss([w[:4], w[4:]], b, y, x, 3, 7, 2, drawn, partition_strategy="div"),
        "sampled.hits": lambda: [np.asarray(a).tolist() for a in nn.compute_accidental_hits(y, drawn[0], 2)],
    })
    return found


def answer(make):
    """The numbers of a case: real and imaginary parts apart."""
    made = make()
    if isinstance(made, list):
        return made
    made = np.asarray(made)
    if np.iscomplexobj(made):
        made = np.stack([made.real, made.imag])
    return made.astype(np.float64).tolist()


if __name__ == "__main__":
    asked = cases(importlib.import_module(sys.argv[1]))
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(answer(make))}" for name, make in asked.items())
    (HERE / "v1_reference.json").write_text("{\n" + text + "\n}\n")
