"""`tf.experimental.inspect` and `tf.experimental.benchmark`. Their modules are imported at the first use."""
import importlib

from .namespace import export


def _module(name):
    return importlib.import_module(f"evenflow._src.commands.{name}")


@export("experimental.inspect")
def inspect(obj, *args, runs=None, **kwargs):
    """Shows how the engine runs a function, a graph or a dataset: its plan, steps and memory.

    >>> @tf.function
    ... def f(x):
    ...     return tf.reduce_sum(tf.nn.relu(x * 2.0))
    >>> found = tf.experimental.inspect(f, tf.ones([400, 50]))
    >>> [step.title for step in found.steps]
    ['fused Mul + Relu + Sum']

    Args:
      obj: a `tf.function`, a ConcreteFunction, a `tf.Graph`, a symbolic tensor or a `tf.data.Dataset`.
      *args: the arguments of a call. Without them the latest trace is shown, or that of the input signature.
      runs: how often to run the plan to measure its steps. None means 20 times if it has no side effects, else 0 times.
      **kwargs: further arguments of the call.

    Returns:
      An object that prints as text. `svg()` draws the memory plan, `data` holds the engine's description, `steps` the steps.
    """
    return _module("inspected").inspect(obj, args, kwargs, runs)


@export("experimental.benchmark")
class benchmark:  # noqa: N801 - a context manager is called like a function
    """Marks the region of a program that `evenflow bench program.py` measures; otherwise it does nothing.

    >>> x = tf.ones([4])
    >>> with tf.experimental.benchmark("double"):
    ...     y = x * 2.0

    Each run of the block is one measurement, so the block belongs into a loop. `evenflow bench --repeat N` ends the program
    after N measurements.

    Args:
      name: the name of the region in the report.
    """

    hook = None  # `evenflow bench` sets it: hook(name) returns an object with begin() and end()

    def __init__(self, name):
        self._name, self._timer = name, None

    def __enter__(self):
        if benchmark.hook is not None:
            self._timer = benchmark.hook(self._name)
            self._timer.begin()
        return self

    def __exit__(self, kind, error, trace):
        if self._timer is not None and kind is None:
            self._timer.end()
        return False
