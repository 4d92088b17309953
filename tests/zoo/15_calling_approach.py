"""One model, one batch, six ways to call it. The spread between
the quickest and the slowest way is the number of interest.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
import numpy as np
from meter import Meter

model = tf.keras.Sequential([tf.keras.layers.Input((64,)),
                             tf.keras.layers.Dense(128, activation='relu'),
                             tf.keras.layers.Dense(10)])
fn = tf.function(lambda t: model(t, training=False))
x = tf.random.normal((8, 64))
xn = x.numpy()
m = Meter('15_calling_approach')
ways = {
    'call': lambda i: model(x, training=False),
    'call_numpy': lambda i: model(xn, training=False),
    'function': lambda i: fn(x),
    'predict_on_batch': lambda i: model.predict_on_batch(xn),
    'predict': lambda i: model.predict(xn, verbose=0),
}
us = {k: m.per_call_us(w, 1000, warm=5, budget_s=3) for k, w in ways.items()}
m.run(ways['call'], 3000)
quick = min(us.values())
m.note(**{k + '_us': v for k, v in us.items()})
m.note(slowest_vs_quickest=max(us.values()) / quick, eager_vs_function=us['call'] / us['function'])
m.bar(slowest_vs_quickest=3.0, eager_vs_function=1.5)
m.done()
