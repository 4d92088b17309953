"""The base class of the layers of TensorFlow 1: a variable scope, variables that the first call creates, losses.

The first call opens the scope, so layers without a name are called `dense`, `dense_1`, ... in the order of their first
calls, and `reuse` finds the variables that another layer of the same name created.
"""
import re

from .... import _core, dtypes, graph as graphs
from ....control import smart_cond
from ....namespace import export
from ....shapes import TensorShape
from .._keys import GraphKeys
from .._scopes import get_variable, get_variable_scope, variable_scope


def _snake_case(name):
    """`Conv2DTranspose` as `conv2d_transpose`."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


@export("compat.v1.layers.Layer")
class Layer:
    """A function of tensors with its own variables. A subclass defines `build`, which creates them, and `call`."""

    def __init__(self, trainable=True, name=None, dtype=None, activity_regularizer=None, _scope=None, _reuse=None):
        self.trainable = trainable
        self.built = False
        self.activity_regularizer = activity_regularizer
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._base_name = name or _snake_case(type(self).__name__)
        self._given_scope = name if _scope is None else _scope
        self._reuse = _reuse
        self._scope = None
        self._weights = []
        self._losses, self._updates = [], []
        self.graph = None

    # ---- methods that subclasses define

    def build(self, input_shape):
        """Creates the variables. The first call of the layer calls it once."""
        self.built = True

    def call(self, inputs, *args, **kwargs):
        """The output."""
        return inputs

    def compute_output_shape(self, input_shape):
        """The shape of the output for an input of this shape."""
        graph = graphs.FuncGraph("shape")
        with graph.as_default():
            made = self.call(graph._placeholder(self._dtype or dtypes.float32, TensorShape(input_shape)))
        return made.shape

    # ---- what it is

    @property
    def name(self):
        return self._scope.name.rpartition("/")[2] if self._scope is not None else self._base_name

    @property
    def scope_name(self):
        if self._scope is None:
            raise ValueError(f'No name available for layer scope because the layer "{self._base_name}" has not been used '
                             "yet. The scope name is determined the first time the layer instance is called. You must "
                             "therefore call the layer before querying `scope_name`.")
        return self._scope.name

    @property
    def dtype(self):
        return None if self._dtype is None else self._dtype.name

    @property
    def weights(self):
        return self.trainable_weights + self.non_trainable_weights

    variables = weights

    @property
    def trainable_weights(self):
        return [v for v, trained in self._weights if trained and self.trainable]

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self):
        return [v for v, trained in self._weights if not (trained and self.trainable)]

    non_trainable_variables = non_trainable_weights

    @property
    def losses(self):
        return list(self._losses)

    @property
    def updates(self):
        return list(self._updates)

    def count_params(self):
        """The number of elements of all variables."""
        return sum(v.shape.num_elements() for v in self.weights)

    # ---- variables, losses, updates

    def add_weight(self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=True, constraint=None,
                   **unused):
        """A variable in the layer's scope: an existing one, or a new one."""
        dtype = dtypes.as_dtype(dtype) if dtype is not None else self._dtype or dtypes.float32
        before = len(graphs.get_default_graph().get_collection_ref(GraphKeys.REGULARIZATION_LOSSES))
        made = get_variable(name, shape, dtype, initializer, regularizer, trainable=trainable and self.trainable,
                            constraint=constraint)
        self._weights.append((made, trainable))
        if regularizer is not None:
            self._losses.extend(graphs.get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES)[before:])
        return made

    add_variable = add_weight

    def add_loss(self, losses, inputs=None):
        """Adds a loss to the layer and to the collection of regularization losses."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            self._losses.append(loss)
            if _core.current_graph() is not None:
                graphs.get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates, inputs=None):
        """Adds ops that a training step must run to the layer and to the collection of update ops."""
        if _core.current_graph() is None:
            return  # eager ops have already run
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(update)
            graphs.get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, update)

    # ---- calling it

    def _open(self):
        """Opens the layer's scope for the first time."""
        if self._reuse:
            opened = variable_scope(self._base_name if self._given_scope is None else self._given_scope, reuse=True,
                                    auxiliary_name_scope=False)
            with opened as scope:
                return scope
        with variable_scope(self._given_scope, default_name=self._base_name) as scope:
            return scope

    def __call__(self, inputs, *args, **kwargs):
        kwargs.pop("scope", None)
        inputs = self._converted(inputs)
        if self._scope is None:
            self._scope = self._open()
            self.graph = None if _core.current_graph() is None else graphs.get_default_graph()
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            with graphs.name_scope(scope.original_name_scope or scope.name + "/"):
                if not self.built:
                    self.build(self._shape(inputs))
                    self.built = True
                made = self.call(inputs, *args, **kwargs)
                if self.activity_regularizer is not None:
                    self.add_loss(self.activity_regularizer(made))
        return made

    def apply(self, inputs, *args, **kwargs):
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def _converted(self, inputs):
        if isinstance(inputs, (list, tuple)):
            return [self._converted(i) for i in inputs]
        if not isinstance(inputs, _core.CoreTensor):
            inputs = _core.convert(inputs, None, self._dtype or dtypes.float32)
        if self._dtype is None:
            self._dtype = inputs.dtype
        return inputs

    def _shape(self, inputs):
        return [self._shape(i) for i in inputs] if isinstance(inputs, list) else TensorShape(_core.static_shape(inputs))

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(self.__dict__)  # variables and scopes are shared
        return made


def channels(layer, shape, data_format="channels_last"):
    """The number of channels of an input. Raises ValueError if it is unknown."""
    axis = -1 if data_format == "channels_last" else 1
    found = None if shape.rank is None else shape.as_list()[axis]
    if found is None:
        raise ValueError(f"The channel dimension of the inputs to `{type(layer).__name__}` should be defined. "
                         "Found `None`.")
    return found


def need_rank(layer, shape, rank):
    """Raises ValueError if the rank of an input is known and not `rank`."""
    if shape.rank is not None and shape.rank != rank:
        raise ValueError(f"Input 0 of layer {layer.name} is incompatible with the layer: expected ndim={rank}, found "
                         f"ndim={shape.rank}. Full shape received: {shape.as_list()}")


def by_format(data_format):
    """Returns `data_format`. Raises ValueError if it is invalid."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: "
                         f"{data_format}")
    return data_format


def sizes(value, n, name):
    """A tuple of `n` integers: `value` repeated n times, or its elements."""
    if isinstance(value, int):
        return (value,) * n
    given = tuple(int(v) for v in value)
    if len(given) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    return given


def while_training(training, true_fn, false_fn):
    """true_fn() if `training`, which may be a tensor, else false_fn()."""
    if isinstance(training, int):
        training = bool(training)
    return smart_cond(training, true_fn, false_fn)


__all__ = ["Layer", "by_format", "channels", "get_variable_scope", "need_rank", "sizes", "while_training"]
