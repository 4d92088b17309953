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

    def resnet(batch):
        def make():
            model, x = tf.keras.applications.ResNet50(weights=None), tf.constant(calls.pictures(batch))
            f = tf.function(lambda x: model(x, training=False))
            return calls.again(lambda: f(x).numpy())
        return make

    return {"lstm": trained(lstm, calls.sequences), "transformer": trained(transformer, calls.tokens),
            "resnet_1": resnet(1), "resnet_8": resnet(8)}
