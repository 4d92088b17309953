"""What is measured, and which bars it has to hold."""
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
    peer: str     # ... theirs; "best" is the quickest peer, "evenflow:ROW" another row of ours


PEERS = {"tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}

ROWS = [
    Row("eager_add", "eager `a + b` of two scalars"),
    Row("function_call", "call of a function of two scalars"),
    Row("session_run", "`Session.run` with two scalar feeds"),
    Row("graph_in_loop", "graph and session built and run in a loop"),
    Row("new_shape", "function called with a new shape each time"),
    Row("new_number", "function called with a new Python number each time"),
    Row("range_loop", "one turn of `for i in tf.range(1000)` in a function"),
    Row("chain", "eager elementwise chain on 4 M floats"),
    Row("chain_function", "the same chain as a function"),
    Row("matmul", "product of two 1000 x 1000 matrices"),
    Row("import", "import of the package", fresh=True),
    Row("memory", "peak memory of all rows in one process", unit="memory", fresh=True),
]

BARS = [
    Bar("eager_add", 1 / 60, "tensorflow"), Bar("eager_add", 1 / 3, "torch"),
    Bar("function_call", 1 / 200, "tensorflow"), Bar("function_call", 1 / 8, "jax"),
    Bar("session_run", 1 / 60, "tensorflow"),
    Bar("graph_in_loop", 1 / 40, "tensorflow"),
    Bar("new_shape", 1 / 300, "tensorflow"),
    Bar("new_number", 1 / 40, "tensorflow"),
    Bar("range_loop", 1 / 60, "tensorflow"),
    Bar("chain", 1.15, "evenflow:chain_function"), Bar("chain", 1 / 4, "tensorflow"),
    Bar("chain", 1.5, "jax:chain_function"),
    Bar("matmul", 1.05, "best"),
    Bar("import", 1 / 12, "tensorflow"),
    Bar("memory", 1 / 5, "tensorflow"),
]
