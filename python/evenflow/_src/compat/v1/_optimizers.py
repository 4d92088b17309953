"""The optimizers: each defines its slots and the op that updates a variable."""
from ... import _core, dtypes, graph as graphs
from ...namespace import export
from ._optimizer import Optimizer

raw = _core.raw


def _handles(*variables):
    return [v.handle for v in variables]


@export("compat.v1.train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyGradientDescent(var.handle, self._number("_learning_rate", grad), grad,
                                                use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices):
        step = raw.Mul(grad, raw.Neg(self._number("_learning_rate", grad)))
        return raw.ResourceScatterAdd(var.handle, indices, step)


@export("compat.v1.train.MomentumOptimizer")
class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyMomentum(*_handles(var, self.get_slot(var, "momentum")),
                                         self._number("_learning_rate", grad), grad, self._number("_momentum", grad),
                                         use_locking=self._use_locking, use_nesterov=self._use_nesterov)

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyMomentum(*_handles(var, self.get_slot(var, "momentum")),
                                               self._number("_learning_rate", grad), grad, indices,
                                               self._number("_momentum", grad), use_locking=self._use_locking,
                                               use_nesterov=self._use_nesterov)


@export("compat.v1.train.AdamOptimizer")
class AdamOptimizer(Optimizer):
    """Steps scaled by running means of gradients and their squares."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name if _core.current_graph() is not None else self._name + "_1")

    def _get_beta_accumulators(self):
        graph = graphs.plain_graph()
        return tuple(self._get_non_slot_variable(f"beta{k}_power", graph) for k in (1, 2))

    def _powers(self, grad):
        return [raw.Cast(p.value(), grad.dtype) if p.dtype is not grad.dtype else p.value()
                for p in self._get_beta_accumulators()]

    def _resource_apply_dense(self, grad, var):
        beta1_power, beta2_power = self._powers(grad)
        slots = _handles(var, self.get_slot(var, "m"), self.get_slot(var, "v"))
        return raw.ResourceApplyAdam(*slots, beta1_power, beta2_power, self._number("_lr", grad),
                                     self._number("_beta1", grad), self._number("_beta2", grad),
                                     self._number("_epsilon", grad), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        beta1_power, beta2_power = self._powers(grad)
        one = _core.convert(1, grad.dtype)
        beta1, beta2 = self._number("_beta1", grad), self._number("_beta2", grad)
        lr = self._number("_lr", grad) * raw.Sqrt(one - beta2_power) / (one - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = self._decay(m, beta1, indices, grad * (one - beta1))
        new_v = self._decay(v, beta2, indices, grad * grad * (one - beta2))
        step = lr * new_m / (raw.Sqrt(new_v) + self._number("_epsilon", grad))
        return var.assign_sub(step, read_value=False)

    @staticmethod
    def _decay(slot, beta, indices, rows):
        done = slot.assign(slot.value() * beta, read_value=False)
        with graphs.control_dependencies([done] if done is not None else []):
            done = raw.ResourceScatterAdd(slot.handle, indices, rows)
        with graphs.control_dependencies([done] if done is not None else []):
            return slot.value()

    def _finish(self, update_ops, name_scope):
        with graphs.control_dependencies(update_ops):
            powers = []
            for power, beta in zip(self._get_beta_accumulators(), (self._beta1, self._beta2)):
                beta = _core.convert(self._call_if_callable(beta), power.dtype)
                powers.append(power.assign(power.value() * beta, read_value=False))
        return graphs.group(*update_ops, *powers, name=name_scope)


@export("compat.v1.train.RMSPropOptimizer")
class RMSPropOptimizer(Optimizer):
    """Steps scaled by a running mean of squared gradients."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, 1, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _all(self, grad, var):
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        handles = _handles(var, *(self.get_slot(var, n) for n in names))
        return handles + [self._number(n, grad) for n in ("_learning_rate", "_decay", "_momentum", "_epsilon")]

    def _resource_apply_dense(self, grad, var):
        op = raw.ResourceApplyCenteredRMSProp if self._centered else raw.ResourceApplyRMSProp
        return op(*self._all(grad, var), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        op = raw.ResourceSparseApplyCenteredRMSProp if self._centered else raw.ResourceSparseApplyRMSProp
        return op(*self._all(grad, var), grad, indices, use_locking=self._use_locking)


@export("compat.v1.train.AdagradOptimizer")
class AdagradOptimizer(Optimizer):
    """Steps divided by the root of the sum of squared gradients."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accumulator", self._name)

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyAdagrad(*_handles(var, self.get_slot(var, "accumulator")),
                                        self._number("_learning_rate", grad), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyAdagrad(*_handles(var, self.get_slot(var, "accumulator")),
                                              self._number("_learning_rate", grad), grad, indices,
                                              use_locking=self._use_locking)


@export("compat.v1.train.AdadeltaOptimizer")
class AdadeltaOptimizer(Optimizer):
    """Steps scaled by running means of past steps and gradients."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _all(self, grad, var):
        handles = _handles(var, self.get_slot(var, "accum"), self.get_slot(var, "accum_update"))
        return handles + [self._number(n, grad) for n in ("_lr", "_rho", "_epsilon")]

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyAdadelta(*self._all(grad, var), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyAdadelta(*self._all(grad, var), grad, indices, use_locking=self._use_locking)


@export("compat.v1.train.FtrlOptimizer")
class FtrlOptimizer(Optimizer):
    """Follow the regularised leader."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        super().__init__(use_locking, name)
        for word, value in (("initial_accumulator_value", initial_accumulator_value),
                            ("l1_regularization_strength", l1_regularization_strength),
                            ("l2_regularization_strength", l2_regularization_strength),
                            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ValueError(f"{word} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._learning_rate, self._power, self._initial = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, self._initial, "accum", self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _apply_op(self, plain, shrinking, grad, var, *rest):
        handles = _handles(var, self.get_slot(var, "accum"), self.get_slot(var, "linear"))
        rate = self._number("_learning_rate", grad)
        l2 = self._number("_l2", grad)
        if self._beta:
            l2 = l2 + self._number("_beta", grad) / (rate * _core.convert(2, grad.dtype))
        numbers = [rate, self._number("_l1", grad), l2]
        if self._shrinkage > 0.0:
            numbers.append(self._number("_shrinkage", grad))
        op = shrinking if self._shrinkage > 0.0 else plain
        return op(*handles, grad, *rest, *numbers, self._number("_power", grad), use_locking=self._use_locking)

    def _resource_apply_dense(self, grad, var):
        return self._apply_op(raw.ResourceApplyFtrl, raw.ResourceApplyFtrlV2, grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_op(raw.ResourceSparseApplyFtrl, raw.ResourceSparseApplyFtrlV2, grad, var, indices)


@export("compat.v1.train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent followed by a proximal step for l1 and l2 regularization."""

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0,
                 use_locking=False, name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _numbers(self, grad):
        return [self._number(n, grad) for n in ("_learning_rate", "_l1", "_l2")]

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyProximalGradientDescent(var.handle, *self._numbers(grad), grad,
                                                        use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyProximalGradientDescent(var.handle, *self._numbers(grad), grad, indices,
                                                              use_locking=self._use_locking)


@export("compat.v1.train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(ProximalGradientDescentOptimizer):
    """Adagrad followed by a proximal step for l1 and l2 regularization."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(learning_rate, l1_regularization_strength, l2_regularization_strength, use_locking, name)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accumulator", self._name)

    def _resource_apply_dense(self, grad, var):
        return raw.ResourceApplyProximalAdagrad(*_handles(var, self.get_slot(var, "accumulator")),
                                                *self._numbers(grad), grad, use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        return raw.ResourceSparseApplyProximalAdagrad(*_handles(var, self.get_slot(var, "accumulator")),
                                                      *self._numbers(grad), grad, indices,
                                                      use_locking=self._use_locking)


@export("compat.v1.train.AdagradDAOptimizer")
class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging, which needs the global step."""

    def __init__(self, learning_rate, global_step, initial_gradient_squared_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="AdagradDA"):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "gradient_accumulator", self._name)
            self._filled_slot(v, self._initial, "gradient_squared_accumulator", self._name)

    def _step(self):
        return raw.Cast(_core.convert(self._global_step), dtypes.int64)

    def _resource_apply_dense(self, grad, var):
        slots = [self.get_slot(var, n) for n in ("gradient_accumulator", "gradient_squared_accumulator")]
        numbers = [self._number(n, grad) for n in ("_learning_rate", "_l1", "_l2")]
        return raw.ResourceApplyAdagradDA(*_handles(var, *slots), grad, *numbers, self._step(),
                                          use_locking=self._use_locking)

    def _resource_apply_sparse(self, grad, var, indices):
        slots = [self.get_slot(var, n) for n in ("gradient_accumulator", "gradient_squared_accumulator")]
        numbers = [self._number(n, grad) for n in ("_learning_rate", "_l1", "_l2")]
        return raw.ResourceSparseApplyAdagradDA(*_handles(var, *slots), grad, indices, *numbers, self._step(),
                                                use_locking=self._use_locking)


for _class in [c for c in list(globals().values()) if isinstance(c, type) and issubclass(c, Optimizer)]:
    if _class is not Optimizer:
        _class.__module__ = "tensorflow.python.training"
