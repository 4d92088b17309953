"""The rows that are measured, and their limits."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    unit: str = "time"  # or "memory"
    fresh: bool = False  # measured by a process of its own


@dataclasses.dataclass(frozen=True)
class Bar:
    row: str
    times: float  # ours may be this many times ...
    peer: str     # ... theirs; "best" is the quickest peer, "evenflow:ROW" another row of ours, "seconds" a time itself


PEERS = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}

ROWS = [
    Row("eager_add", "eager `a + b` of two scalars"),
    Row("function_call", "call of a function of two scalars"),
    Row("signature_call", "function with an `input_signature`"),
    Row("concrete_call", "ConcreteFunction of two scalars"),
    Row("dict_result", "function with a dict as result"),
    Row("tape_gradient", "tape and gradient of three scalar ops"),
    Row("fresh_function", "a fresh function of the same code, made and called"),
    Row("session_run", "`Session.run` with two scalar feeds"),
    Row("graph_in_loop", "graph and session built and run in a loop"),
    Row("new_shape", "function called with a new shape each time"),
    Row("new_number", "function called with a new Python number each time"),
    Row("range_loop", "one turn of `for i in tf.range(1000)` in a function"),
    Row("chain", "eager elementwise chain on 4 M floats"),
    Row("chain_function", "the same chain as a function"),
    Row("chain_10k", "the chain on 10,000 floats"),
    Row("chain_10k_function", "the chain on 10,000 floats as a function"),
    Row("chain_1m", "the chain on 1,000,000 floats"),
    Row("chain_1m_function", "the chain on 1,000,000 floats as a function"),
    Row("chain64_10k", "the chain on 10,000 doubles"),
    Row("chain64_10k_function", "the chain on 10,000 doubles as a function"),
    Row("chain64_1m", "the chain on 1,000,000 doubles"),
    Row("chain64_1m_function", "the chain on 1,000,000 doubles as a function"),
    Row("matmul", "product of two 1000 x 1000 matrices"),
    Row("matmul64", "product of two 1000 x 1000 matrices of doubles"),
    Row("conv_first", "conv 8 x 112 x 112 x 3, 7 x 7 to 32, stride 2"),
    Row("conv_wide", "conv 4 x 56 x 56 x 64, 3 x 3 to 64"),
    Row("conv_deep", "conv 4 x 14 x 14 x 256, 3 x 3 to 256"),
    Row("conv_point", "conv 4 x 28 x 28 x 256, 1 x 1 to 64"),
    Row("conv_one", "conv 1 x 28 x 28 x 1, 3 x 3 to 32"),
    Row("gelu", "eager gelu of 4 M floats"),
    Row("gelu_function", "the gelu as a function"),
    Row("softmax", "eager softmax over 1000 x 1000"),
    Row("softmax_function", "the softmax as a function"),
    Row("layer_norm", "eager layer norm of 2048 x 512, forward and backward"),
    Row("layer_norm_function", "the layer norm as a function"),
    Row("cross_entropy", "eager masked softmax cross-entropy over 4096 x 1024"),
    Row("cross_entropy_function", "the cross-entropy as a function"),
    Row("cross_entropy_grad", "eager masked cross-entropy and its gradient"),
    Row("cross_entropy_grad_function", "the cross-entropy and its gradient as a function"),
    Row("train_step", "step of training three layers of 512 x 512"),
    Row("dense_fit", "`fit` of one epoch, 10,000 rows of 64, batches of 32"),
    Row("dense_predict", "`predict` of one row"),
    Row("dense_call", "`model(x)` called directly, one row"),
    Row("dense_batch", "`train_on_batch` of a dense model, 32 rows"),
    Row("dense_step", "training step of the dense model as a function"),
    Row("lstm", "training step of LSTM(128) over 32 x 100 x 64"),
    Row("transformer", "training step of a transformer block, 8 x 256 x 256"),
    Row("classifier_1", "training step of a classifier, 1 x 256 x 256 x 3"),
    Row("classifier_32", "training step of a classifier, 32 x 64 x 64 x 3"),
    Row("resnet_1", "ResNet50, inference of 1 picture"),
    Row("resnet_8", "ResNet50, inference of 8 pictures"),
    Row("data_range", "pipeline: 200,000 numbers mapped, in batches of 1000"),
    Row("data_shuffle", "pipeline: 1000 images 64 x 64 x 3 sliced, shuffled, batched"),
    Row("data_jpeg", "pipeline: 256 JPEG files decoded, resized, normalised"),
    Row("data_examples", "pipeline: 100,000 tf.train.Examples parsed and batched"),
    Row("data_generator", "pipeline: 200 images 256 x 256 x 3 from a Python generator"),
    Row("import", "import of the package", fresh=True),
    Row("memory", "peak memory of all rows but the models in one process", unit="memory", fresh=True),
]

BARS = [
    Bar("eager_add", 1 / 60, "tensorflow"), Bar("eager_add", 1 / 3, "torch"),
    Bar("function_call", 1 / 200, "tensorflow"), Bar("function_call", 1 / 8, "jax"),
    Bar("signature_call", 2.0, "evenflow:function_call"), Bar("concrete_call", 2.0, "evenflow:function_call"),
    Bar("dict_result", 2.0, "evenflow:function_call"),
    Bar("tape_gradient", 6e-6, "seconds"), Bar("tape_gradient", 1 / 4, "torch"),
    Bar("fresh_function", 60e-6, "seconds"),
    Bar("session_run", 1 / 60, "tensorflow"),
    Bar("graph_in_loop", 1 / 40, "tensorflow"),
    Bar("new_shape", 1 / 300, "tensorflow"),
    Bar("new_number", 1 / 40, "tensorflow"), Bar("new_number", 1.0, "torch"),
    Bar("range_loop", 1 / 60, "tensorflow"), Bar("range_loop", 1.0, "jax"),
    Bar("chain", 1.15, "evenflow:chain_function"), Bar("chain", 1 / 4, "tensorflow"),
    Bar("chain", 1.5, "jax:chain_function"),
    Bar("matmul", 1.05, "best"), Bar("matmul64", 1.05, "best"),
    Bar("dense_fit", 1 / 4, "tensorflow"), Bar("dense_predict", 1 / 12, "tensorflow"), Bar("dense_call", 1 / 3.5, "tensorflow"),
    Bar("dense_step", 0.35, "best"),
    Bar("lstm", 0.75, "best"), Bar("transformer", 0.9, "best"),
    Bar("classifier_1", 0.5, "best"), Bar("classifier_32", 0.5, "best"),
    Bar("data_range", 1 / 150, "tensorflow"), Bar("data_range", 1 / 5, "torch"), Bar("data_shuffle", 1 / 2, "tensorflow"),
    Bar("data_jpeg", 1 / 1.2, "tensorflow"), Bar("data_examples", 1 / 3, "tensorflow"), Bar("data_generator", 1 / 2, "tensorflow"),
    Bar("import", 1 / 12, "tensorflow"),
    Bar("memory", 1 / 5, "tensorflow"),
]
# The layers, eagerly too: no slower than jax.jit, and well ahead of the others.
for layer in ("gelu", "softmax", "layer_norm", "cross_entropy", "cross_entropy_grad"):
    for name in (layer, f"{layer}_function"):
        BARS += [Bar(name, 1.0, f"jax:{layer}_function"), Bar(name, 0.6, "tensorflow"), Bar(name, 0.6, "torch")]
# Every other row is no slower than the best peer. A direct call of a Keras model is Keras's own Python, most of it: beside TensorFlow only.
BARS += [Bar(row.name, 1.0, "best") for row in ROWS
         if row.name != "dense_call" and not any(b.row == row.name and b.peer == "best" for b in BARS)]
# Beside two busy processes a row may take this many times its time alone, or as many as the best peer's there.
LOADED = 2.3
