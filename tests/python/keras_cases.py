"""Layers, losses and metrics of Keras as small cases that give numbers; keras_reference.py records TensorFlow's.

A case gives a list of tensors. What is compared is, of each, its shape and two sums of its elements with fixed weights.
"""
import numpy as np

IMAGE, SEQUENCE, ROWS, VOLUME = (2, 8, 8, 3), (2, 6, 4), (3, 5), (1, 4, 5, 6, 2)

# Layer, its arguments, the shape of its input.
LAYERS = """
Dense units=4,activation='relu' ROWS
EinsumDense equation='abc,cd->abd',output_shape=(None,3),bias_axes='d' SEQUENCE
Conv1D filters=3,kernel_size=3,strides=2,padding='same' SEQUENCE
Conv1D filters=3,kernel_size=3,padding='causal',dilation_rate=2 SEQUENCE
Conv2D filters=3,kernel_size=3,strides=2 IMAGE
Conv2D filters=3,kernel_size=3,dilation_rate=2,padding='same' IMAGE
Conv2D filters=6,kernel_size=3,groups=3 IMAGE
Conv3D filters=3,kernel_size=2 VOLUME
Conv1DTranspose filters=3,kernel_size=3,strides=2 SEQUENCE
Conv2DTranspose filters=3,kernel_size=3,strides=2,padding='same' IMAGE
Conv3DTranspose filters=2,kernel_size=2,strides=2 VOLUME
DepthwiseConv1D kernel_size=3 SEQUENCE
DepthwiseConv2D kernel_size=3,depth_multiplier=2,padding='same' IMAGE
SeparableConv1D filters=3,kernel_size=3 SEQUENCE
SeparableConv2D filters=3,kernel_size=3 IMAGE
MaxPooling1D pool_size=2 SEQUENCE
MaxPooling2D pool_size=3,strides=2,padding='same' IMAGE
MaxPooling3D pool_size=2 VOLUME
AveragePooling1D pool_size=2 SEQUENCE
AveragePooling2D pool_size=3,strides=2,padding='same' IMAGE
AveragePooling3D pool_size=2 VOLUME
GlobalAveragePooling2D keepdims=True IMAGE
GlobalMaxPooling1D - SEQUENCE
AdaptiveAveragePooling2D output_size=3 IMAGE
BatchNormalization - IMAGE
BatchNormalization axis=1 SEQUENCE
LayerNormalization - SEQUENCE
LayerNormalization axis=[1,2] SEQUENCE
GroupNormalization groups=3 IMAGE
UnitNormalization - SEQUENCE
RMSNormalization - SEQUENCE
LSTM units=3,recurrent_initializer='zeros' SEQUENCE
LSTM units=3,recurrent_initializer='zeros',return_sequences=True,return_state=True,go_backwards=True SEQUENCE
GRU units=3,recurrent_initializer='zeros',return_sequences=True SEQUENCE
GRU units=3,recurrent_initializer='zeros',reset_after=False SEQUENCE
SimpleRNN units=3,recurrent_initializer='zeros',unroll=True SEQUENCE
Flatten - SEQUENCE
Reshape target_shape=(4,6) SEQUENCE
Permute dims=(2,1) SEQUENCE
RepeatVector n=3 ROWS
ZeroPadding2D padding=((1,2),(0,1)) IMAGE
Cropping2D cropping=1 IMAGE
UpSampling2D - IMAGE
PReLU - SEQUENCE
LeakyReLU - SEQUENCE
Softmax - SEQUENCE
Rescaling scale=2.0,offset=1.0 ROWS
Dropout rate=0.5,seed=3 IMAGE
SpatialDropout2D rate=0.5,seed=3 IMAGE
GaussianNoise stddev=0.5,seed=3 IMAGE
AlphaDropout rate=0.5,seed=3 IMAGE
"""
ACTIVATIONS = ("relu sigmoid tanh softmax softplus softsign selu elu gelu silu hard_sigmoid exponential leaky_relu relu6 "
               "mish log_softmax celu glu squareplus soft_shrink hard_tanh log_sigmoid sparsemax").split()
LOSSES = ("BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy "
          "CosineSimilarity Dice Hinge SquaredHinge CategoricalHinge Huber KLDivergence LogCosh MeanAbsoluteError "
          "MeanSquaredError MeanAbsolutePercentageError MeanSquaredLogarithmicError Poisson Tversky").split()
METRICS = ("BinaryAccuracy CategoricalAccuracy AUC Precision Recall TruePositives MeanSquaredError "
           "RootMeanSquaredError CosineSimilarity KLDivergence TopKCategoricalAccuracy F1Score R2Score BinaryIoU").split()


def _numbers(shape, seed=0):
    return np.random.default_rng(sum(shape) + seed).normal(size=shape).astype("float32")


def _probabilities():
    p = np.abs(_numbers((4, 5))) % 1
    return np.eye(5, dtype="float32")[[0, 2, 4, 1]], p / p.sum(1, keepdims=True)


def _set_weights(layer):
    rng = np.random.default_rng(5)
    layer.set_weights([(np.abs(rng.normal(size=w.shape)) * 0.5 + 0.1).astype(w.dtype) if w.dtype.kind == "f" else w
                       for w in layer.get_weights()])


def _tensors(tf, structure):
    return [tf.convert_to_tensor(t) for t in tf.nest.flatten(structure)]


def _forward_and_back(tf, make, *inputs):
    """The result, its gradients, and the result of a function, for a fresh layer each time (seeds move)."""
    inputs = [tf.constant(x) for x in inputs]
    wanted = [x for x in inputs if x.dtype.is_floating]

    def run(traced):
        layer = make()
        layer(*inputs, training=True)
        _set_weights(layer)
        call = tf.function(lambda *a: layer(*a, training=True)) if traced else lambda *a: layer(*a, training=True)
        with tf.GradientTape() as tape:
            tape.watch(wanted)
            made = call(*inputs)
            loss = sum(tf.reduce_sum(tf.sin(t)) for t in tf.nest.flatten(made) if t.dtype.is_floating)
        grads = tape.gradient(loss, wanted + layer.trainable_variables)
        return _tensors(tf, [made, [g for g in grads if g is not None]])

    return run(False) + run(True)


def _loss(tf, name):
    y, p = _probabilities()
    p = tf.constant(p)
    kind = getattr(tf.keras.losses, name)
    with tf.GradientTape() as tape:
        tape.watch(p)
        loss = kind()(y, p)
    return [loss, tape.gradient(loss, p), kind(reduction="none")(y, p)]


def _metric(tf, name):
    y, p = _probabilities()
    metric = getattr(tf.keras.metrics, name)()
    found = []
    for update in (metric.update_state, tf.function(metric.update_state)):
        update(y, p)
        update(y[::-1].copy(), p)
        found += _tensors(tf, metric.result())
    metric.reset_state()
    return found + _tensors(tf, metric.result())


def _on_batches(tf, drop=0.3, **options):
    keras = tf.keras
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dropout(drop), keras.layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], **options)
    x, y = _numbers((12, 5)), np.arange(12) % 3
    found = [model.train_on_batch(x, y) for _ in range(4)]
    return _tensors(tf, [found, model.test_on_batch(x, y), model.predict_on_batch(x)])


def _attention(tf):
    make = lambda: tf.keras.layers.MultiHeadAttention(2, 3)  # noqa: E731
    return _forward_and_back(tf, make, _numbers(SEQUENCE), _numbers(SEQUENCE, 1))


def cases(tf):
    """Name -> a function that gives a list of tensors."""
    layers = tf.keras.layers
    found = {}
    for line in LAYERS.strip().splitlines():
        name, arguments, shape = line.split()
        options = {} if arguments == "-" else eval(f"dict({arguments})")
        make = lambda name=name, options=options: getattr(layers, name)(**options)  # noqa: E731
        found[f"layer {line}"] = lambda make=make, shape=shape: _forward_and_back(tf, make, _numbers(globals()[shape]))
    for name in ACTIVATIONS:
        found[f"activation {name}"] = lambda name=name: _forward_and_back(
            tf, lambda: layers.Activation(name), _numbers((3, 6)))
    for name in LOSSES:
        found[f"loss {name}"] = lambda name=name: _loss(tf, name)
    for name in METRICS:
        found[f"metric {name}"] = lambda name=name: _metric(tf, name)
    found["layer MultiHeadAttention"] = lambda: _attention(tf)
    found["layer Embedding"] = lambda: _forward_and_back(
        tf, lambda: layers.Embedding(10, 4), np.array([[1, 2], [3, 3]], "int32"))
    found["layer Bidirectional"] = lambda: _forward_and_back(
        tf, lambda: layers.Bidirectional(layers.GRU(3, recurrent_initializer="zeros")), _numbers(SEQUENCE))
    for name, options in (("traced", {}), ("eager", {"run_eagerly": True}),
                          ("compiled", {"jit_compile": True, "drop": 0.0})):  # XLA draws other numbers
        found[f"batches {name}"] = lambda options=options: _on_batches(tf, **options)
    return found


def digest(tensors):
    """Per tensor: its shape, its sum with fixed weights, and that of its squares."""
    found = []
    for t in tensors:
        a = np.asarray(t, np.float64)
        w = np.cos(np.arange(a.size, dtype=np.float64)).reshape(a.shape)
        found.append([list(a.shape), float(np.sum(a * w)), float(np.sum(a * a))])
    return found
