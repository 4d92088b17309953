"""tf.train.ExponentialMovingAverage: shadow variables with the exponential moving averages of others."""
from ... import _core, graph as graphs
from ...namespace import export
from ._keys import GraphKeys
from ._optimizer import name_of, new_variable, slot_scope
from ._variables import global_variables, moving_average_variables, trainable_variables

raw = _core.raw


@export("train.ExponentialMovingAverage", "compat.v1.train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps shadow = decay * shadow + (1 - decay) * value for variables and tensors."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages = {}  # key of a variable or tensor -> (variable or tensor, shadow, ...)

    @property
    def name(self):
        return self._name

    @staticmethod
    def _key(var):
        return var._edge[1:] + (id(var.graph),) if isinstance(var, _core.Tensor) and _core.is_symbolic(var) else id(var)

    def _shadow(self, var):
        key = self._key(var)
        if key not in self._averages:
            base = var.op.name if isinstance(var, _core.Tensor) and _core.is_symbolic(var) else name_of(var)
            is_variable = isinstance(var, _core.VariableBase)
            if is_variable:
                first = lambda: raw.Identity(_core.convert(var.initialized_value()))  # noqa: E731
            else:
                dims = list(_core.static_shape(var))
                first = lambda: raw.Fill(dims, _core.convert(0, var.dtype))  # noqa: E731
            with graphs.init_scope():
                made = new_variable(first, f"{base}/{self._name}", slot_scope())
            if is_variable and _core.is_symbolic(made.handle):
                made.graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            self._averages[key] = (var, made, [None])
        return self._averages[key]

    def apply(self, var_list=None):
        """An op that updates the shadow variables."""
        if var_list is None:
            var_list = trainable_variables()
        decay = _core.convert(self._decay)
        if self._num_updates is not None:
            count = raw.Cast(_core.convert(self._num_updates), decay.dtype)
            one, ten = _core.convert(1.0, decay.dtype), _core.convert(10.0, decay.dtype)
            decay = raw.Minimum(decay, (one + count) / (ten + count))
        updates = []
        for var in var_list:
            if not var.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {var}")
            is_variable = isinstance(var, _core.VariableBase)
            shadow = self._shadow(var)[1]
            rate = _core.convert(1.0, decay.dtype) - decay
            rate = rate if rate.dtype is var.dtype else raw.Cast(rate, var.dtype)
            value = var.value() if is_variable else var
            from_zero = self._zero_debias and not is_variable  # the shadow of a variable starts with its value
            updates.append(self._debiased(var, shadow, value, rate) if from_zero else
                           shadow.assign_sub((shadow.value() - value) * rate, read_value=False))
        return graphs.group(*[u for u in updates if u is not None], name=self._name)

    def _debiased(self, var, shadow, value, rate):
        """Corrects the bias of an average that starts at zero. The shadow holds the unbiased mean."""
        kept = self._averages[self._key(var)][2]
        if kept[0] is None:
            dims = list(shadow.shape._dims)
            zero = lambda: raw.Fill(dims, _core.convert(0, shadow.dtype))  # noqa: E731
            with graphs.init_scope():
                name = name_of(shadow)
                kept[0] = (new_variable(zero, name + "/biased", slot_scope()),
                           new_variable(lambda: _core.convert(0.0, shadow.dtype), name + "/local_step", slot_scope()))
        biased, step = kept[0]
        one = _core.convert(1, shadow.dtype)
        done = [biased.assign_sub((biased.value() - value) * rate, read_value=False),
                step.assign_add(one, read_value=False)]
        with graphs.control_dependencies([d for d in done if d is not None]):
            corrected = biased.value() / (one - raw.Pow(one - rate, step.value()))
            return shadow.assign(corrected, read_value=False)

    def average(self, var):
        """The shadow of a variable or tensor; None if there is none."""
        found = self._averages.get(self._key(var))
        return None if found is None else found[1]

    def average_name(self, var):
        """The name the shadow has or would have."""
        found = self._averages.get(self._key(var))
        if found is not None:
            return name_of(found[1])
        name = name_of(var) if isinstance(var, _core.VariableBase) else var.op.name
        return f"{graphs.current_scope()}{name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """{name in a checkpoint: variable}. For an averaged variable it is the name of its shadow."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        chosen = {id(v): v for v in moving_avg_variables}
        found = {self.average_name(v): v for v in chosen.values()}
        for v in global_variables():
            if id(v) not in chosen and name_of(v) not in found:
                found[name_of(v)] = v
        return found
