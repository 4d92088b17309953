"""The models of the benchmark in Keras. The same text measures TensorFlow and Evenflow."""
import calls


def rows(tf):
    def trained(model_of, data):
        def make():
            keras = tf.keras
            x, y = map(tf.constant, data())
            model, optimizer = model_of(keras), keras.optimizers.SGD(0.01)
            weights = model.trainable_variables
            optimizer.build(weights)

            @tf.function
            def step():
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
                optimizer.apply(tape.gradient(loss, weights), weights)
                return loss
            return calls.again(lambda: step().numpy())
        return make

    def lstm(keras):
        layers = keras.layers
        return keras.Sequential([layers.Input((100, 64)), layers.LSTM(128), layers.Dense(1)])

    def transformer(keras):
        layers = keras.layers
        x = layers.Input((256, 256))
        h = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 64)(x, x))
        wide = layers.Dense(1024, activation="gelu")(h)
        return keras.Model(x, layers.LayerNormalization()(h + layers.Dense(256)(wide)))

    def classifier(row):
        def make():
            keras, layers = tf.keras, tf.keras.layers
            x, y = map(tf.constant, calls.labelled(row))
            model = keras.Sequential([layers.Input(x.shape[1:]), layers.Conv2D(32, 3, activation="relu"), layers.Flatten(),
                                      layers.Dense(10)])
            loss_of, optimizer = keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.optimizers.Adam()
            weights = model.trainable_variables
            optimizer.build(weights)

            @tf.function
            def step():
                with tf.GradientTape() as tape:
                    loss = loss_of(y, model(x, training=True))
                optimizer.apply(tape.gradient(loss, weights), weights)
                return loss
            return calls.again(lambda: step().numpy())
        return make

    def dense():
        keras, layers = tf.keras, tf.keras.layers
        model = keras.Sequential([layers.Input((64,)), layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu"),
                                  layers.Dense(10)])
        model.compile(keras.optimizers.Adam(), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    def dense_fit():
        model, (x, y) = dense(), calls.dense(10_000)
        return calls.again(lambda: model.fit(x, y, batch_size=32, epochs=1, verbose=0))

    def dense_predict():
        model, (x, _) = dense(), calls.dense(1)
        return calls.again(lambda: model.predict(x, verbose=0))

    def dense_call():
        model, x = dense(), tf.constant(calls.dense(1)[0])
        return calls.again(lambda: model(x).numpy())

    def dense_batch():
        model, (x, y) = dense(), calls.dense(32)
        return calls.again(lambda: model.train_on_batch(x, y))

    def dense_step():
        model, (x, y) = dense(), map(tf.constant, calls.dense(32))
        model.optimizer.build(model.trainable_variables)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = model.loss(y, model(x, training=True))
            weights = model.trainable_variables
            model.optimizer.apply(tape.gradient(loss, weights), weights)
            return loss
        return calls.again(lambda: step().numpy())

    def resnet(batch):
        def make():
            model, x = tf.keras.applications.ResNet50(weights=None), tf.constant(calls.pictures(batch))
            f = tf.function(lambda x: model(x, training=False))
            return calls.again(lambda: f(x).numpy())
        return make

    return {**calls.named(dense_fit, dense_predict, dense_call, dense_batch, dense_step), "lstm": trained(lstm, calls.sequences),
            "transformer": trained(transformer, calls.tokens), **{row: classifier(row) for row in calls.CLASSIFIED}, "resnet_1": resnet(1), "resnet_8": resnet(8)}
