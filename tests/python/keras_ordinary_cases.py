"""Ordinary Keras programs that run on TensorFlow and on Evenflow alike.

A program is a function of the module (`tf`), Keras and an empty folder; it returns numbers and texts (PROGRAMS). Weights come from
Keras's own seeded initializers and data from numpy, so both sides start alike. keras_ordinary_record.py records TensorFlow's answers.
"""
import pathlib

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def rows(n=64, width=8, classes=3, seed=0):
    random = np.random.RandomState(seed)
    x = random.rand(n, width).astype("float32")
    return x, (x.sum(-1) * 7).astype("int32") % classes


def images(n=32, size=16, channels=3, classes=4, seed=1):
    random = np.random.RandomState(seed)
    return random.rand(n, size, size, channels).astype("float32"), random.randint(0, classes, n)


def words(n=48, length=12, vocabulary=50, seed=2):
    random = np.random.RandomState(seed)
    x = random.randint(0, vocabulary, (n, length))
    return x, (x.sum(-1) % 2).astype("float32")


def history(fitted):
    return {name: [float(v) for v in values] for name, values in sorted(fitted.history.items())}


def dense(keras, *compile_args, **options):
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(3, "softmax")])
    model.compile(*(compile_args or ("adam", "sparse_categorical_crossentropy")), metrics=["accuracy"], **options)
    return model


@program
def sequential(tf, keras, tmp):
    x, y = rows()
    model = dense(keras)
    fitted = model.fit(x, y, epochs=3, batch_size=10, validation_split=0.25, shuffle=False, verbose=0)
    return history(fitted), model.evaluate(x, y, verbose=0), model.predict(x[:5], verbose=0), model.count_params()


@program
def shuffled_fit(tf, keras, tmp):
    x, y = rows()
    return history(dense(keras).fit(x, y, epochs=3, batch_size=16, verbose=0))


@program
def functional_two_inputs_two_outputs(tf, keras, tmp):
    x, y = rows()
    a, b = keras.Input((8,), name="a"), keras.Input((4,), name="b")
    joined = keras.layers.Concatenate()([keras.layers.Dense(8, "tanh")(a), b])
    first = keras.layers.Dense(3, name="first")(joined)
    second = keras.layers.Dense(1, name="second")(joined)
    model = keras.Model([a, b], {"first": first, "second": second})
    model.compile("sgd", {"first": keras.losses.SparseCategoricalCrossentropy(from_logits=True), "second": "mse"},
                  loss_weights={"first": 1.0, "second": 0.3}, metrics={"first": ["accuracy"], "second": ["mae"]})
    fitted = model.fit({"a": x, "b": x[:, :4]}, {"first": y, "second": x[:, :1]}, epochs=2, shuffle=False, verbose=0)
    return history(fitted), sorted(model.predict({"a": x[:2], "b": x[:2, :4]}, verbose=0).items())


@program
def subclassed_model(tf, keras, tmp):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(12, activation="gelu")
            self.drop = keras.layers.Dropout(0.3, seed=5)
            self.out = keras.layers.Dense(3)

        def call(self, x, training=False):
            return self.out(self.drop(self.hidden(x), training=training))

    x, y = rows()
    model = Net()
    model.compile(keras.optimizers.RMSprop(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return history(model.fit(x, y, epochs=3, shuffle=False, verbose=0)), model(x[:2])


@program
def cnn(tf, keras, tmp):
    x, y = images()
    layers = keras.layers
    model = keras.Sequential([layers.Input((16, 16, 3)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(),
                              layers.SeparableConv2D(8, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(),
                              layers.GlobalAveragePooling2D(), layers.Dense(4, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return history(model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)), model.predict(x[:2], verbose=0)


@program
def lstm_gru_bidirectional(tf, keras, tmp):
    x, y = words()
    layers = keras.layers
    model = keras.Sequential([layers.Embedding(50, 8, mask_zero=True), layers.Bidirectional(layers.LSTM(6, return_sequences=True)),
                              layers.GRU(5), layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["AUC"])
    return history(model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0)), model.predict(x[:3], verbose=0)


@program
def stateful_rnn_and_time_distributed(tf, keras, tmp):
    x = np.random.RandomState(0).rand(4, 6, 3).astype("float32")
    layers = keras.layers
    model = keras.Sequential([layers.Input((6, 3), batch_size=4), layers.LSTM(4, stateful=True, return_sequences=True),
                              layers.TimeDistributed(layers.Dense(2))])
    first, second = model.predict(x, verbose=0), model.predict(x, verbose=0)
    model.layers[0].reset_state()
    return first, second, model.predict(x, verbose=0)


@program
def transformer_block(tf, keras, tmp):
    x, y = words()
    layers = keras.layers
    tokens = keras.Input((12,), dtype="int32")
    h = layers.Embedding(50, 16)(tokens) + layers.Embedding(12, 16)(keras.ops.arange(12))
    h = layers.LayerNormalization()(h + layers.MultiHeadAttention(2, 8)(h, h, use_causal_mask=True))
    h = layers.LayerNormalization()(h + layers.Dense(16)(layers.Dense(32, "gelu")(h)))
    model = keras.Model(tokens, layers.Dense(1, "sigmoid")(layers.GlobalAveragePooling1D()(h)))
    model.compile(keras.optimizers.AdamW(0.01), "binary_crossentropy", metrics=["accuracy"])
    return history(model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0))


@program
def text_vectorization(tf, keras, tmp):
    texts = ["the cat sat on the mat", "a dog ran", "the dog sat on a cat", "cats and dogs!", "Mat, cat; hat."] * 4
    vectorize = keras.layers.TextVectorization(max_tokens=20, output_sequence_length=6)
    vectorize.adapt(texts)
    counts = keras.layers.TextVectorization(max_tokens=20, output_mode="multi_hot")
    counts.adapt(texts)
    idf = keras.layers.TextVectorization(output_mode="tf_idf", ngrams=2)
    idf.adapt(texts)
    data = tf.data.Dataset.from_tensor_slices((texts, [0.0, 1.0, 0.0, 1.0, 1.0] * 4)).batch(5).map(lambda t, y: (vectorize(t), y))
    model = keras.Sequential([keras.layers.Embedding(20, 4), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy")
    return (vectorize.get_vocabulary(), vectorize(texts[:3]), counts(texts[:2]), idf(texts[:2]), idf.get_vocabulary()[:8],
            history(model.fit(data, epochs=2, verbose=0)))


@program
def preprocessing_layers(tf, keras, tmp):
    layers = keras.layers
    x = np.array([[1.0, 2.0], [3.0, 5.0], [8.0, 13.0]], "float32")
    normal = layers.Normalization()
    normal.adapt(x)
    from_data = layers.Normalization()
    from_data.adapt(tf.data.Dataset.from_tensor_slices(x).batch(2))
    strings = layers.StringLookup(output_mode="one_hot")
    strings.adapt(np.array(["a", "b", "a", "c"]))
    back = layers.StringLookup(vocabulary=strings.get_vocabulary(), invert=True)
    numbers = layers.IntegerLookup(vocabulary=[3, 5, 9], num_oov_indices=2)
    bins = layers.Discretization(num_bins=3)
    bins.adapt(np.arange(20.0))
    return (normal(x), from_data(x), strings(np.array(["a", "z", "c"])), back(np.array([1, 2, 0])), numbers(np.array([[3, 7], [9, 5]])),
            bins(np.array([[0.0, 7.0], [13.0, 25.0]])), layers.CategoryEncoding(4, "multi_hot")(np.array([[0, 1], [3, 3]])),
            layers.CategoryEncoding(4, "count")(np.array([[0, 1], [3, 3]])), layers.Hashing(5)(np.array([["a"], ["b"]])),
            layers.HashedCrossing(7)((np.array(["a", "b"]), np.array([1, 2]))), layers.Rescaling(0.5, 1)(x),
            layers.CenterCrop(2, 2)(np.arange(48.0).reshape(1, 4, 4, 3)), layers.Resizing(3, 5)(np.arange(48.0).reshape(1, 4, 4, 3)))


@program
def augmentation(tf, keras, tmp):
    x, y = images(8)
    layers = keras.layers
    model = keras.Sequential([layers.RandomFlip("horizontal", seed=1), layers.RandomRotation(0.1, seed=2), layers.RandomZoom(0.2, seed=3),
                              layers.RandomTranslation(0.1, 0.1, seed=4), layers.RandomContrast(0.2, seed=5), layers.RandomBrightness(0.1, value_range=(0, 1), seed=6)])
    flip = layers.RandomFlip(seed=3)
    data = tf.data.Dataset.from_tensor_slices(x).batch(4).map(lambda i: flip(i, training=True))
    return model(x, training=True), model(x), list(data)


@program
def autoencoder(tf, keras, tmp):
    x, _ = images(16, 8, 1)
    layers = keras.layers
    encoder = keras.Sequential([layers.Input((8, 8, 1)), layers.Conv2D(4, 3, 2, "same", activation="relu"), layers.Flatten(), layers.Dense(5)])
    decoder = keras.Sequential([layers.Input((5,)), layers.Dense(64), layers.Reshape((4, 4, 4)), layers.Conv2DTranspose(3, 3, 2, "same", activation="relu"),
                                layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
    model = keras.Sequential([encoder, decoder])
    model.compile("nadam", "binary_crossentropy")
    return history(model.fit(x, x, epochs=3, batch_size=4, shuffle=False, verbose=0)), encoder.predict(x[:2], verbose=0)


@program
def variational_autoencoder(tf, keras, tmp):
    class Sample(keras.layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.seed = keras.random.SeedGenerator(3)

        def call(self, inputs):
            mean, spread = inputs
            self.add_loss(-0.5 * keras.ops.mean(1 + spread - mean**2 - keras.ops.exp(spread)))
            return mean + keras.ops.exp(spread / 2) * keras.random.normal(keras.ops.shape(mean), seed=self.seed)

    x, _ = rows()
    inputs = keras.Input((8,))
    h = keras.layers.Dense(6, "relu")(inputs)
    outputs = keras.layers.Dense(8)(Sample()([keras.layers.Dense(2)(h), keras.layers.Dense(2)(h)]))
    model = keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    return history(model.fit(x, x, epochs=3, shuffle=False, verbose=0))


@program
def gan(tf, keras, tmp):
    class Gan(keras.Model):
        def __init__(self):
            super().__init__()
            self.generator = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(8)])
            self.critic = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(8, "leaky_relu"), keras.layers.Dense(1)])
            self.seed = keras.random.SeedGenerator(7)
            self.d_loss, self.g_loss = keras.metrics.Mean(name="d_loss"), keras.metrics.Mean(name="g_loss")

        @property
        def metrics(self):
            return [self.d_loss, self.g_loss]

        def compile(self, d_optimizer, g_optimizer):
            super().compile()
            self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer
            self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

        def train_step(self, real):
            n = tf.shape(real)[0]
            noise = keras.random.normal((n, 4), seed=self.seed)
            labels = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], 0)
            with tf.GradientTape() as tape:
                d = self.bce(labels, self.critic(tf.concat([self.generator(noise), real], 0)))
            self.d_optimizer.apply_gradients(zip(tape.gradient(d, self.critic.trainable_weights), self.critic.trainable_weights))
            with tf.GradientTape() as tape:
                g = self.bce(tf.zeros((n, 1)), self.critic(self.generator(noise)))
            self.g_optimizer.apply_gradients(zip(tape.gradient(g, self.generator.trainable_weights), self.generator.trainable_weights))
            self.d_loss.update_state(d)
            self.g_loss.update_state(g)
            return {m.name: m.result() for m in self.metrics}

    x, _ = rows()
    model = Gan()
    model.compile(keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01))
    return history(model.fit(tf.data.Dataset.from_tensor_slices(x).batch(10), epochs=4, verbose=0))


@program
def weights_of_classes_and_samples(tf, keras, tmp):
    x, y = rows()
    first = dense(keras).fit(x, y, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, epochs=2, shuffle=False, verbose=0)
    model = dense(keras, weighted_metrics=["accuracy"])
    second = model.fit(x, y, sample_weight=np.linspace(0, 2, 64), epochs=2, shuffle=False, verbose=0)
    return history(first), history(second), model.evaluate(x, y, sample_weight=np.linspace(0, 1, 64), verbose=0, return_dict=True)


@program
def callbacks(tf, keras, tmp):
    x, y = rows()
    seen, folder = [], pathlib.Path(tmp)
    cb = keras.callbacks
    model = dense(keras, keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy")
    fitted = model.fit(x, y, epochs=12, shuffle=False, verbose=0, validation_data=(x[:16], y[:16]), callbacks=[
        cb.EarlyStopping(patience=2, restore_best_weights=True), cb.ModelCheckpoint(str(folder / "best.keras"), save_best_only=True),
        cb.ModelCheckpoint(str(folder / "{epoch:02d}.weights.h5"), save_weights_only=True),
        cb.ReduceLROnPlateau(patience=1, factor=0.5), cb.LearningRateScheduler(lambda e, lr: lr * 0.9), cb.CSVLogger(str(folder / "log.csv")),
        cb.LambdaCallback(on_epoch_end=lambda e, logs: seen.append((e, sorted(logs)))), cb.TerminateOnNaN(), cb.BackupAndRestore(str(folder / "backup"))])
    log = (folder / "log.csv").read_text().splitlines()
    again = keras.models.load_model(folder / "best.keras")
    return history(fitted), seen, sorted(p.name for p in folder.iterdir()), log[0], len(log), again.predict(x[:2], verbose=0)


@program
def backup_and_restore(tf, keras, tmp):
    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise RuntimeError("stop")

    x, y = rows()
    model = dense(keras)
    backup = [keras.callbacks.BackupAndRestore(str(pathlib.Path(tmp) / "b"))]
    try:
        model.fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=[*backup, Stop()])
    except RuntimeError as e:
        stopped = str(e)
    fitted = model.fit(x, y, epochs=4, shuffle=False, verbose=0, callbacks=backup)
    return stopped, fitted.epoch, history(fitted)


@program
def sources_of_data(tf, keras, tmp):
    x, y = rows()

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, k):
            return x[16 * k:16 * k + 16], y[16 * k:16 * k + 16]

    def generate():
        for k in range(1000):
            yield x[16 * (k % 4):16 * (k % 4) + 16], y[16 * (k % 4):16 * (k % 4) + 16]

    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
    given = {"arrays": dict(x=x, y=y, batch_size=16, shuffle=False), "tensors": dict(x=tf.constant(x), y=tf.constant(y), batch_size=16, shuffle=False),
             "dataset": dict(x=data), "repeated": dict(x=data.repeat(), steps_per_epoch=4), "generator": dict(x=generate(), steps_per_epoch=4),
             "PyDataset": dict(x=Batches(), shuffle=False), "PyDataset in threads": dict(x=Batches(workers=2, max_queue_size=4), shuffle=False),
             "prefetched": dict(x=data.cache().prefetch(tf.data.AUTOTUNE), validation_data=data, validation_steps=2)}
    made = {}
    for name, options in given.items():
        keras.utils.set_random_seed(1)
        made[name] = history(dense(keras).fit(**options, epochs=2, verbose=0))
    model = dense(keras)
    return made, model.predict(data, verbose=0).shape, model.predict(Batches(), verbose=0).shape, model.predict(generate(), steps=3, verbose=0).shape


@program
def images_from_a_directory(tf, keras, tmp):
    random = np.random.RandomState(0)
    for label in ("cats", "dogs"):
        folder = pathlib.Path(tmp) / label
        folder.mkdir()
        for k in range(6):
            tf.io.write_file(str(folder / f"{k}.png"), tf.io.encode_png(random.randint(0, 255, (12, 10, 3)).astype("uint8")))
    data = keras.utils.image_dataset_from_directory(tmp, image_size=(8, 8), batch_size=4, shuffle=False, verbose=False)
    first, second = keras.utils.image_dataset_from_directory(tmp, image_size=(8, 8), batch_size=4, seed=1, validation_split=0.5, subset="both", verbose=False)
    model = keras.Sequential([keras.layers.Rescaling(1 / 255), keras.layers.Conv2D(4, 3), keras.layers.Flatten(), keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy")
    return (data.class_names, [(x.shape, y) for x, y in data], next(iter(data))[0], len(first.file_paths), len(second.file_paths),
            history(model.fit(data, epochs=2, verbose=0)))


@program
def text_from_a_directory_and_timeseries(tf, keras, tmp):
    for label in ("neg", "pos"):
        (pathlib.Path(tmp) / label).mkdir()
        for k in range(3):
            (pathlib.Path(tmp) / label / f"{k}.txt").write_text(f"{label} text {k}")
    texts = keras.utils.text_dataset_from_directory(tmp, batch_size=2, shuffle=False, verbose=False)
    series = keras.utils.timeseries_dataset_from_array(np.arange(20.0), np.arange(20.0) * 2, 5, sequence_stride=3, batch_size=2)
    return [(x, y) for x, y in texts], [(x, y) for x, y in series]


@program
def ways_to_compile(tf, keras, tmp):
    x, y = rows()
    made = {}
    for name, options in {"jit": dict(jit_compile=True), "eager": dict(run_eagerly=True), "several": dict(steps_per_execution=3),
                          "auto": dict(steps_per_execution=2, jit_compile="auto"), "plain": {}}.items():
        keras.utils.set_random_seed(1)
        model = dense(keras, **options)
        made[name] = [history(model.fit(x, y, epochs=2, batch_size=10, shuffle=False, verbose=0)), model.evaluate(x, y, verbose=0),
                      model.predict(x, batch_size=10, verbose=0)]
    return made


@program
def mixed_precision(tf, keras, tmp):
    x, y = rows()
    made = {}
    for policy in ("mixed_bfloat16", "mixed_float16"):
        keras.utils.set_random_seed(1)
        keras.mixed_precision.set_global_policy(policy)
        try:
            model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(3, dtype="float32")])
            model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            losses = history(model.fit(x, y, epochs=3, shuffle=False, verbose=0))
        finally:
            keras.mixed_precision.set_global_policy("float32")
        made[policy] = [type(model.optimizer).__name__, str(model.layers[0].compute_dtype), [round(v, 2) for v in losses["loss"]]]
    return made


@program
def optimizers_of_every_kind(tf, keras, tmp):
    x, y = rows()
    o, made = keras.optimizers, {}
    for name, optimizer in {"accumulation": o.Adam(0.01, gradient_accumulation_steps=2), "ema": o.SGD(0.1, use_ema=True, ema_overwrite_frequency=3),
                            "clipped": o.Adam(0.01, clipnorm=0.1), "global": o.SGD(0.1, momentum=0.9, nesterov=True, global_clipnorm=0.5),
                            "decay": o.AdamW(o.schedules.CosineDecay(0.05, 10), weight_decay=0.1), "steps": o.SGD(o.schedules.PiecewiseConstantDecay([4, 8], [0.1, 0.05, 0.01])),
                            "lion": o.Lion(0.001), "adafactor": o.Adafactor(0.01), "ftrl": o.Ftrl(0.1), "lamb": o.Lamb(0.01), "muon": o.Muon(0.01)}.items():
        keras.utils.set_random_seed(1)
        model = dense(keras, optimizer, "sparse_categorical_crossentropy")
        made[name] = history(model.fit(x, y, epochs=2, batch_size=10, shuffle=False, verbose=0)), int(optimizer.iterations)
    return made


@program
def custom_parts(tf, keras, tmp):
    @keras.saving.register_keras_serializable("ordinary")
    class Scale(keras.layers.Layer):
        def __init__(self, start=1.0, **options):
            super().__init__(**options)
            self.start = start

        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer=keras.initializers.Constant(self.start), regularizer=keras.regularizers.L2(0.01),
                                         constraint=keras.constraints.NonNeg(), name="scale")

        def call(self, x, training=None):
            return x * self.scale if training else x * self.scale + 0.0

        def get_config(self):
            return {**super().get_config(), "start": self.start}

    class Hits(keras.metrics.Metric):
        def __init__(self, name="hits", **options):
            super().__init__(name=name, **options)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            found = keras.ops.cast(keras.ops.argmax(y_pred, -1), "int32") == keras.ops.cast(keras.ops.squeeze(y_true, -1), "int32")
            self.total.assign_add(keras.ops.sum(keras.ops.cast(found, "float32")))

        def result(self):
            return self.total

    def loss(y_true, y_pred):
        return keras.ops.mean(keras.losses.sparse_categorical_crossentropy(y_true, y_pred)) * 2

    x, y = rows()
    model = keras.Sequential([keras.layers.Input((8,)), Scale(0.5), keras.layers.Dense(6, activity_regularizer="l1", kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_constraint="max_norm"),
                              keras.layers.Lambda(lambda t: t * 2), keras.layers.Dense(3, "softmax")])
    model.compile("adam", loss, metrics=[Hits()])
    fitted = history(model.fit(x, y[:, None], epochs=2, shuffle=False, verbose=0))
    model(x[:2])
    inner = keras.Sequential([keras.layers.Input((8,)), Scale(0.25)])
    inner.save(pathlib.Path(tmp) / "m.keras")
    return fitted, [float(v) for v in model.losses], keras.models.load_model(pathlib.Path(tmp) / "m.keras")(x[:2])


@program
def custom_train_and_test_step(tf, keras, tmp):
    class Own(keras.Model):
        def train_step(self, data):
            x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            for metric in self.metrics:
                metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, self(x))
            return {m.name: m.result() for m in self.metrics}

        def test_step(self, data):
            return {"sum": tf.reduce_sum(self(data[0]))}

    x, y = rows()
    inputs = keras.Input((8,))
    model = Own(inputs, keras.layers.Dense(3, "softmax")(inputs))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return (history(model.fit(x, y, epochs=2, shuffle=False, verbose=0)), model.evaluate(x, y, verbose=0, return_dict=True),
            model.train_on_batch(x, y, return_dict=True), model.predict_on_batch(x[:2]))


@program
def own_training_loop(tf, keras, tmp):
    x, y = rows()
    model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.BatchNormalization(), keras.layers.Dense(3)])
    optimizer, loss_fn, accuracy = keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
        accuracy.update_state(y, logits)
        return loss

    losses = [float(step(a, b)) for _ in range(2) for a, b in tf.data.Dataset.from_tensor_slices((x, y)).batch(20)]
    return losses, float(accuracy.result()), [w.shape for w in model.weights]


@program
def saving(tf, keras, tmp):
    x, y = rows()
    folder = pathlib.Path(tmp)
    model = dense(keras)
    model.fit(x, y, epochs=1, shuffle=False, verbose=0)
    made = [model.predict(x[:2], verbose=0)]
    model.save(folder / "m.keras")
    model.save(folder / "m.h5")
    model.save_weights(folder / "m.weights.h5")
    for name in ("m.keras", "m.h5"):
        again = keras.models.load_model(folder / name)
        made.append(again.predict(x[:2], verbose=0))
    made.append(history(keras.models.load_model(folder / "m.keras").fit(x, y, epochs=1, shuffle=False, verbose=0)))
    fresh = dense(keras)
    fresh.load_weights(folder / "m.weights.h5")
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    text = keras.models.model_from_json(model.to_json())
    return made, fresh.predict(x[:2], verbose=0), copy.predict(x[:2], verbose=0), [layer.name.split("_")[0] for layer in text.layers]


@program
def ops_and_random(tf, keras, tmp):
    ops, random = keras.ops, keras.random
    x = np.arange(12, dtype="float32").reshape(3, 4)
    return (ops.matmul(x, x.T), ops.einsum("ij,kj->ik", x, x), ops.softmax(x), ops.top_k(x, 2), ops.segment_sum(x[:, 0], np.array([0, 1, 0]), 2),
            ops.scan(lambda c, v: (c + v, c * v), np.float32(0), x[:, 0]), ops.while_loop(lambda i: i < 5, lambda i: (i + 1,), (0,)), ops.cond(True, lambda: 1, lambda: 2),
            ops.vectorized_map(lambda r: ops.sum(r * r), x), ops.image.resize(x[None, :, :, None], (2, 2)), ops.svd(x, compute_uv=False), ops.norm(x), ops.unstack(x)[1],
            ops.slice_update(x, (1, 1), np.ones((1, 2), "float32")), ops.scatter_update(x, [[0, 0]], [9.0]), ops.take_along_axis(x, np.array([[1], [0], [2]]), 1),
            ops.rfft(x), ops.stft(np.arange(32, dtype="float32"), 8, 4, 8), ops.histogram(x[0], 3)[0], ops.quantile(x, 0.3), ops.searchsorted(x[0], [1.5, 2.0]),
            ops.logaddexp(x, 1.0), ops.moments(x, [0]), ops.one_hot([1, 2], 3), ops.erfinv(x / 20), ops.map(lambda r: r[0] * 2, x),
            random.normal((2, 3), seed=1), random.uniform((2, 3), seed=2), random.randint((4,), 0, 10, seed=3), random.truncated_normal((3,), seed=4),
            random.categorical(x, 2, seed=5), random.dropout(x, 0.5, seed=6), random.shuffle(x, seed=7), random.gamma((3,), 2.0, seed=8), random.beta((3,), 2.0, 3.0, seed=9))


@program
def losses_and_metrics(tf, keras, tmp):
    random = np.random.RandomState(0)
    y, p = random.rand(6, 4).astype("float32"), random.rand(6, 4).astype("float32")
    hot, labels = np.eye(4, dtype="float32")[[0, 1, 2, 3, 1, 0]], np.array([0, 1, 2, 3, 1, 0])
    soft = p / p.sum(-1, keepdims=True)
    made = {}
    for name in ("MeanSquaredError Huber LogCosh Poisson KLDivergence CosineSimilarity Hinge MeanAbsolutePercentageError").split():
        made[name] = getattr(keras.losses, name)()(y, p)
    for name in ("CategoricalCrossentropy CategoricalFocalCrossentropy Dice Tversky").split():
        made[name] = getattr(keras.losses, name)()(hot, soft)
    for name, options in {"AUC": {}, "Precision": {}, "Recall": {}, "BinaryAccuracy": {}, "F1Score": {}, "TruePositives": {}, "PrecisionAtRecall": {"recall": 0.5}}.items():
        metric = getattr(keras.metrics, name)(**options)
        metric.update_state(hot, soft)
        made["metric " + name] = metric.result()
    iou = keras.metrics.MeanIoU(4)
    iou.update_state(labels, soft.argmax(-1))
    top = keras.metrics.SparseTopKCategoricalAccuracy(2)
    top.update_state(labels, soft)
    return made, iou.result(), top.result(), keras.losses.CTC()(np.array([[1, 2, 1], [1, 2, 0]]), random.rand(2, 5, 4).astype("float32"))


@program
def transfer_learning(tf, keras, tmp):
    x, y = images(8, 32)
    base = keras.applications.MobileNetV2(input_shape=(32, 32, 3), include_top=False, weights=None, alpha=0.35)
    base.trainable = False
    inputs = keras.Input((32, 32, 3))
    h = keras.layers.GlobalAveragePooling2D()(base(inputs, training=False))
    model = keras.Model(inputs, keras.layers.Dense(4, "softmax")(h))
    model.compile("adam", "sparse_categorical_crossentropy")
    frozen = history(model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0))
    base.trainable = True
    for layer in base.layers[:-10]:
        layer.trainable = False
    model.compile(keras.optimizers.Adam(1e-5), "sparse_categorical_crossentropy")
    return frozen, history(model.fit(x, y, epochs=1, batch_size=4, shuffle=False, verbose=0)), len(model.trainable_weights)


@program
def reading_a_model(tf, keras, tmp):
    lines = []
    model = dense(keras)
    model.summary(print_fn=lambda line, **_: lines.append(line))
    outputs = keras.Model(model.inputs, [layer.output for layer in model.layers])(rows()[0][:2])
    return [line for line in "\n".join(lines).splitlines() if "params" in line], outputs, [w.name for w in model.weights], model.get_config()["layers"][1]["config"]["units"]


@program
def quantized_and_lora(tf, keras, tmp):
    x, y = rows()
    model = dense(keras)
    model.layers[0].enable_lora(2)
    fitted = history(model.fit(x, y, epochs=2, shuffle=False, verbose=0))
    model.quantize("int8")
    return fitted, len(model.trainable_weights), [round(float(v), 2) for v in np.ravel(model.predict(x[:2], verbose=0))]
