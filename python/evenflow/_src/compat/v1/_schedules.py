"""The global step, and learning rates that change with it."""
import logging
import math

from ... import _core, dtypes, graph as graphs
from ...namespace import export
from ._keys import GraphKeys
from ._scopes import get_variable

raw = _core.raw


@export("compat.v1.train.get_global_step")
def get_global_step(graph=None):
    """The global step of a graph: what is in its collection, else a variable or tensor of that name; None if it has none."""
    graph = graph or graphs.get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.getLogger("tensorflow").error("Multiple tensors in global_step collection.")
        return None
    step = found[0] if found else _called("global_step:0", graph)
    if step is not None:
        assert_global_step(step)
    return step


def _called(name, graph):
    """The variable or tensor of a graph that has this name; None if there is none."""
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        if getattr(variable, "name", None) == name:
            return variable
    try:
        return graph.get_tensor_by_name(name)
    except KeyError:
        return None


@export("compat.v1.train.create_global_step")
def create_global_step(graph=None):
    """Makes the global step variable of a graph."""
    graph = graph or graphs.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    given = dict(dtype=dtypes.int64, initializer=lambda shape, dtype=None: _core.convert(0, dtypes.int64),
                 trainable=False)
    if _core.executing_eagerly():
        made = get_variable("global_step", [], **given)
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, made)
        return made
    with graph.as_default(), graph.name_scope(None):
        return get_variable("global_step", [], collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP], **given)


@export("compat.v1.train.get_or_create_global_step")
def get_or_create_global_step(graph=None):
    """The global step variable of a graph, which is created if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


@export("compat.v1.train.global_step")
def global_step(sess, global_step_tensor):
    """The value of the global step in a session, as an int."""
    if _core.executing_eagerly() and not _core.is_symbolic(getattr(global_step_tensor, "handle", global_step_tensor)):
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


@export("compat.v1.train.assert_global_step")
def assert_global_step(global_step_tensor):
    """Raises TypeError unless it is a tensor or variable that holds a scalar integer."""
    if not isinstance(global_step_tensor, _core.Tensor) and not hasattr(global_step_tensor, "_should_act_as_resource_variable"):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


# ---- learning rates --------------------------------------------------------------------------------------------


def _decayed(make, step, *needed):
    """The rate as a tensor of a graph; eagerly, a function that returns the current rate."""
    if any(v is None for v in (step,) + needed):
        raise ValueError("global_step is required for a learning rate that decays with it.")
    return make if _core.executing_eagerly() and not _core.is_symbolic(getattr(step, "handle", step)) else make()


def _float(value, like):
    value = _core.convert(value)
    return value if value.dtype is like.dtype else raw.Cast(value, like.dtype)


def _periods(global_step, decay_steps, rate, staircase):
    """global_step / decay_steps, rounded down for a staircase."""
    passed = _float(global_step, rate) / _float(decay_steps, rate)
    return raw.Floor(passed) if staircase else passed


@export("compat.v1.train.exponential_decay")
def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * decay_rate ** (global_step / decay_steps)."""
    def make():
        rate = _core.convert(learning_rate)
        power = _periods(global_step, decay_steps, rate, staircase)
        return raw.Mul(rate, raw.Pow(_float(decay_rate, rate), power), name=name)

    return _decayed(make, global_step)


@export("compat.v1.train.piecewise_constant", "compat.v1.train.piecewise_constant_decay")
def piecewise_constant(x, boundaries, values, name=None):
    """values[k] for x in the k-th of the intervals between `boundaries`."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    def make():
        step = _core.convert(x)
        edges = raw.Pack([_float(b, step) for b in boundaries])
        at = raw.Sum(raw.Cast(raw.Greater(step, edges), dtypes.int32), [0])
        return raw.GatherV2(raw.Pack([_core.convert(v) for v in values]), at, 0, name=name)

    return _decayed(make, x)


@export("compat.v1.train.polynomial_decay")
def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                     name=None):
    """From learning_rate to end_learning_rate by a polynomial."""
    def make():
        rate = _core.convert(learning_rate)
        step, steps, end = _float(global_step, rate), _float(decay_steps, rate), _float(end_learning_rate, rate)
        if cycle:
            many = raw.Ceil(step / steps)
            many = raw.SelectV2(raw.Equal(step, raw.ZerosLike(step)), raw.OnesLike(many), many)
            steps = steps * many
        else:
            step = raw.Minimum(step, steps)
        left = raw.Sub(_core.convert(1.0, rate.dtype), step / steps)
        return raw.AddV2((rate - end) * raw.Pow(left, _float(power, rate)), end, name=name)

    return _decayed(make, global_step)


@export("compat.v1.train.natural_exp_decay")
def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    def make():
        rate = _core.convert(learning_rate)
        power = _periods(global_step, decay_steps, rate, staircase)
        return raw.Mul(rate, raw.Exp(raw.Neg(_float(decay_rate, rate)) * power), name=name)

    return _decayed(make, global_step)


@export("compat.v1.train.inverse_time_decay")
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    def make():
        rate = _core.convert(learning_rate)
        part = _periods(global_step, decay_steps, rate, staircase)
        return raw.RealDiv(rate, _core.convert(1, rate.dtype) + _float(decay_rate, rate) * part, name=name)

    return _decayed(make, global_step)


def _wave(fraction, turns=1.0):
    dtype = fraction.dtype
    return _core.convert(0.5, dtype) * (_core.convert(1, dtype)
                                        + raw.Cos(_core.convert(math.pi * turns, dtype) * fraction))


@export("compat.v1.train.cosine_decay")
def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine wave from learning_rate to alpha * learning_rate."""
    def make():
        rate = _core.convert(learning_rate)
        steps = _float(decay_steps, rate)
        share = raw.Minimum(_float(global_step, rate), steps) / steps
        low = _core.convert(alpha, rate.dtype)
        return raw.Mul(rate, (_core.convert(1, rate.dtype) - low) * _wave(share) + low, name=name)

    return _decayed(make, global_step)


@export("compat.v1.train.cosine_decay_restarts")
def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """Cosine decay with restarts: each period is `t_mul` times as long and starts `m_mul` times as high."""
    def make():
        rate = _core.convert(learning_rate)
        done = _float(global_step, rate) / _float(first_decay_steps, rate)
        one, low = _core.convert(1, rate.dtype), _core.convert(alpha, rate.dtype)
        longer, higher = _float(t_mul, rate), _float(m_mul, rate)
        if t_mul == 1.0:
            restart = raw.Floor(done)
            share = done - restart
        else:
            restart = raw.Floor(raw.Log(one - done * (one - longer)) / raw.Log(longer))
            begun = (one - raw.Pow(longer, restart)) / (one - longer)
            share = (done - begun) / raw.Pow(longer, restart)
        height = raw.Pow(higher, restart) * _wave(share)
        return raw.Mul(rate, (one - low) * height + low, name=name)

    return _decayed(make, global_step)


@export("compat.v1.train.linear_cosine_decay")
def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """A linear decay multiplied by a cosine wave."""
    def make():
        rate = _core.convert(learning_rate)
        steps = _float(decay_steps, rate)
        step = raw.Minimum(_float(global_step, rate), steps)
        line = (steps - step) / steps
        low = _core.convert(alpha, rate.dtype)
        factor = (low + line) * _wave(step / steps, 2.0 * num_periods) + _core.convert(beta, rate.dtype)
        return raw.Mul(rate, factor, name=name)

    return _decayed(make, global_step)
