"""Counts what a program asks of Keras: models compiled, calls of fit, predict and evaluate with their rows, and calls of models
that run eagerly. Only under the doctor: Keras's classes are wrapped when they are imported."""
import functools
import importlib.abc
import importlib.util
import sys
import threading

from evenflow import _core

from . import data_entries, save_entries
from .observed import KINDS, REASONS

_MODULE = "keras.src.backend.tensorflow.trainer"
_MODELS = "keras.src.models.model"
_ENTRY, _MODEL, _CAST = KINDS.index("model entry"), KINDS.index("model built"), KINDS.index("implicit cast")
LARGE = 256 << 10  # bytes of an array whose cast is worth an event, as in the engine
# The reason of an entry's event says which one it is.
_NAMES = {"predict": REASONS.index("first"), "fit": REASONS.index("value"), "evaluate": REASONS.index("shape")}
_CALLED = REASONS.index("none")
_inside = threading.local()  # .depth: how many counted calls this thread is in: only the outermost one counts


def _rows(x):
    """The rows of the data of a call; 0: they cannot be told without reading it."""
    shape = getattr(x, "shape", None)
    try:
        return int(shape[0]) if shape is not None and len(shape) else len(x) if isinstance(x, (list, tuple)) else 0
    except (TypeError, ValueError):
        return 0


def _counted(method, reason):
    @functools.wraps(method)
    def call(self, x=None, *args, **kwargs):
        began, depth = _core.event_clock(), getattr(_inside, "depth", 0)
        _inside.depth = depth + 1
        try:
            with data_entries.reading(x):
                return method(self, x, *args, **kwargs)
        finally:
            _inside.depth = depth
            _core.event_post(_ENTRY, began, _rows(x), reason=reason)
    return call


def _eager(method):
    """Counts a call of a model that computes its operations one by one: not one that is traced, nor one of symbolic inputs."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        depth = getattr(_inside, "depth", 0)
        x = args[0] if args else next(iter(kwargs.values()), None)
        if depth or _core.current_graph() is not None or type(x).__name__ == "KerasTensor":
            return method(self, *args, **kwargs)
        began, built = _core.event_clock(), self.built
        _inside.depth = 1
        try:
            return method(self, *args, **kwargs)
        finally:
            _inside.depth = 0
            _core.event_post(_ENTRY, began, _rows(x), not built, reason=_CALLED)
    return call


def _compiled(method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        try:
            return method(self, *args, **kwargs)
        finally:
            _core.event_post(_MODEL, began)
    return call


def _wrap(module):
    trainer = getattr(module, "TensorFlowTrainer", None)
    if trainer is None or getattr(trainer, "_evenflow_counted", False):
        return
    trainer._evenflow_counted = True
    for name, reason in _NAMES.items():
        setattr(trainer, name, _counted(getattr(trainer, name), reason))
    trainer.compile = _compiled(trainer.compile)


def _wrap_models(module):
    model = getattr(module, "Model", None)
    save_entries.wrap(model, "save", "save_weights")
    if model is not None and not getattr(model, "_evenflow_calls", False):
        model._evenflow_calls, model.__call__ = True, _eager(model.__call__)


def _wrap_conversion(module):
    """Keras copies an array that a layer is called with and then casts it: E204."""
    policy = getattr(module, "DTypePolicy", None)
    if policy is None or getattr(policy, "_evenflow_counted", False):
        return
    policy._evenflow_counted, convert = True, policy.convert_input

    @functools.wraps(convert)
    def call(self, x, *args, **kwargs):
        began = _core.event_clock()
        made = convert(self, x, *args, **kwargs)
        if getattr(x, "nbytes", 0) >= LARGE and hasattr(x, "__array_interface__") and getattr(made.dtype, "name", "") != x.dtype.name:
            _core.event_post(_CAST, began, x.nbytes)
        return made

    policy.convert_input = call


_WRAPS = {_MODULE: _wrap, _MODELS: _wrap_models, "keras.src.dtype_policies.dtype_policy": _wrap_conversion}


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the others find Keras's modules, and wraps their classes once they are executed."""

    def __init__(self, names):
        self._names = set(names)

    def find_spec(self, name, path, target=None):
        if name not in self._names:
            return None
        self._names.discard(name)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _WRAPS[name](module)

            spec.loader.exec_module = exec_module
        return spec


def install():
    missing = []
    for name, wrap in _WRAPS.items():
        if name in sys.modules:
            wrap(sys.modules[name])
        else:
            missing.append(name)
    if missing and not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder(missing))
