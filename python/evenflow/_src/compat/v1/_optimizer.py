"""The base class of the optimizers of TensorFlow 1: gradients, slots and the order of updates.

A slot is a variable that belongs to a trained variable, such as its momentum. The updates are ops on resources, so the
same code serves graphs, functions and eager execution.
"""
import contextlib
from ... import _core, graph as graphs, nest, variable
from ...composite import IndexedSlices
from ...namespace import export
from ...tape import GradientTape
from ._gradient import gradients
from ._keys import GraphKeys, get_collection
from ._scopes import get_variable_scope
from ._variables import GraphVariable, trainable_variables

raw = _core.raw


def name_of(var):
    """The name of a variable without its `:0`."""
    return var.op.name if _core.is_symbolic(var.handle) else var.name.partition(":")[0]


def new_variable(value, name, scope=""):
    """A non-trainable variable: a graph variable, whose name begins with `scope`, or an eager one."""
    if graphs.plain_graph() is not None:
        return GraphVariable(value, trainable=False, name=scope + name, absolute_name=True)
    return variable.Variable(value, trainable=False, name=name)


def slot_variable(primary, value, name):
    """Creates the variable `primary/name` in the current variable scope."""
    with graphs.init_scope():
        return new_variable(value, f"{name_of(primary)}/{name}", slot_scope())


def slot_scope():
    """The prefix of the names of slots: the current variable scope, not the name scope."""
    scope = get_variable_scope().name
    return scope + "/" if scope else ""


def sum_duplicates(values, indices):
    """(values, indices) with every index once: rows with the same index are added."""
    unique, position = raw.Unique(indices)[:2]
    count = raw.StridedSlice(raw.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
    return raw.UnsortedSegmentSum(values, position, count), unique


@export("compat.v1.train.Optimizer")
class Optimizer:
    """The base class of optimizers. A subclass defines the update of one variable in `_resource_apply_dense`."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots = {}  # slot name -> {key of variable: (variable, slot)}
        self._others = {}  # (name, graph) -> variable that belongs to no single variable

    def get_name(self):
        return self._name

    # ---- steps

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """An op that updates the variables to reduce `loss`, and adds one to `global_step`."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                       grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """A list of (gradient, variable)."""
        if callable(loss):
            if var_list is None and graphs.plain_graph() is not None:
                var_list = trainable_variables()
            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch([v for v in _listed(var_list)])
                value = loss()
            var_list = list(tape.watched_variables()) if var_list is None else _listed(var_list)
            found = tape.gradient(value, var_list, grad_loss)
            return list(zip(found, var_list))
        if isinstance(loss, _core.VariableBase) and _core.is_symbolic(loss.handle):
            loss = _core.convert(loss)  # a variable of a graph
        if not _core.is_symbolic(loss):
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution "
                               "is enabled.")
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                             f"Optimizer.GATE_GRAPH. Not {gate_gradients}")
        with _entered(loss.graph):
            if var_list is None:
                var_list = trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
            var_list = _listed(var_list)
            if not var_list:
                raise ValueError("No variables to optimize.")
            return list(zip(gradients(loss, var_list, grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An op that applies the gradients, and adds one to `global_step`."""
        pairs = [(g if g is None or isinstance(g, IndexedSlices) else _core.convert(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(g, v) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        graph = next((v.handle.graph for _, v in used if _core.is_symbolic(v.handle)), None)
        with _entered(graph):
            with graphs.init_scope():
                self._create_slots([v for _, v in used])
            with graphs.name_scope(name or self._name) as scope:
                return self._apply(used, global_step, scope)

    def _apply(self, used, global_step, scope):
        self._prepare()
        updates = []
        for gradient, var in used:
            with graphs.name_scope("update_" + name_of(var).replace("/", "_")):
                updates.append(self._update(gradient, var))
        updates = [u for u in updates if u is not None]
        done = self._finish(updates, "update" if global_step is not None else scope)
        if global_step is not None:
            with graphs.control_dependencies([done] if done is not None else []):
                if isinstance(global_step, _core.VariableBase):
                    done = global_step.assign_add(_core.convert(1, global_step.dtype), name=scope, read_value=False)
        if done is not None and not done.graph.building_function:
            done.graph._collect_weakly(GraphKeys.TRAIN_OP, done.op if isinstance(done, _core.Tensor) else done)
        return done

    def _update(self, gradient, var):
        if isinstance(gradient, IndexedSlices):
            done = self._resource_apply_sparse_duplicate_indices(gradient.values, var, gradient.indices)
        else:
            done = self._resource_apply_dense(gradient, var)
        if var.constraint is None:
            return done
        with graphs.control_dependencies([done] if done is not None else []):
            return var.assign(var.constraint(var.value()), read_value=False)

    # ---- slots

    def get_slot(self, var, name):
        """The slot `name` of a variable; None if there is none."""
        found = self._slots.get(name, {}).get(id(var))
        return None if found is None else found[1]

    def get_slot_names(self):
        """The names of the existing slots."""
        return sorted(self._slots)

    def variables(self):
        """All variables that the optimizer created; in a graph, those of this graph."""
        made = list(self._others.values()) + [s for by in self._slots.values() for _, s in by.values()]
        graph = graphs.plain_graph()
        if graph is not None:
            made = [v for v in made if getattr(v, "graph", graph) is graph]
        return sorted(made, key=lambda v: v.name)

    def _slot(self, var, value, slot_name, op_name):
        by = self._slots.setdefault(slot_name, {})
        if id(var) not in by:
            by[id(var)] = (var, slot_variable(var, value, op_name))
        return by[id(var)][1]

    def _zeros_slot(self, var, slot_name, op_name):
        return self._filled_slot(var, 0, slot_name, op_name)

    def _filled_slot(self, var, number, slot_name, op_name):
        dims = list(var.shape._dims)
        fill = lambda: raw.Fill(dims, _core.convert(number, var.dtype))  # noqa: E731
        return self._slot(var, fill, slot_name, op_name)

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        return self._slot(var, val, slot_name, op_name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        graph = colocate_with.handle.graph if _core.is_symbolic(colocate_with.handle) else None
        key = (name, id(graph))
        if key not in self._others:
            self._others[key] = new_variable(initial_value, name, graphs.current_scope())
        return self._others[key]

    def _get_non_slot_variable(self, name, graph=None):
        return self._others.get((name, id(graph)))

    # ---- methods that subclasses define

    def _prepare(self):
        """Converts hyperparameters to tensors."""

    def _create_slots(self, var_list):
        """Creates the missing slots."""

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError(f"{type(self).__name__}._resource_apply_dense")

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        grad, indices = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(grad, handle, indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError(f"{type(self).__name__}._resource_apply_sparse")

    def _finish(self, update_ops, name_scope):
        return graphs.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _number(self, name, like):
        """A hyperparameter as a tensor of the dtype of `like`."""
        value = self._call_if_callable(getattr(self, name))
        if isinstance(value, _core.VariableBase):
            value = value.value()
        if isinstance(value, _core.Tensor):
            return value if value.dtype is like.dtype else raw.Cast(value, like.dtype)
        return _core.convert(value, like.dtype)


def _listed(value):
    return nest.flatten(value) if isinstance(value, (list, tuple, dict)) else [value]


def _entered(graph):
    """graph.as_default(), or a null context if there is no graph or one is being built."""
    if graph is None or _core.current_graph() is not None:
        return contextlib.nullcontext()
    return graph.as_default()


Optimizer.__module__ = "tensorflow.python.training.optimizer"
