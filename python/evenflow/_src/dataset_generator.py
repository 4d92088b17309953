"""tf.data.Dataset.from_generator: a GeneratorDataset whose state is a Python generator, which the C engine calls."""
from . import _core, dtypes, errors, nest
from .control_graphs import Body, close
from .dataset_elements import flat_element, flat_specs, yielded
from .dataset_iterators import types_and_shapes
from .py_function import failure
from .specs import TensorSpec, TypeSpec
from .datasets import Dataset

raw = _core.raw


def _signature(output_types, output_shapes, output_signature):
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError("The `output_types` and `output_shapes` arguments cannot be used together with the "
                            "`output_signature` argument.")
        for part in nest.flatten(output_signature):
            if not isinstance(part, TypeSpec):
                raise TypeError(f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                                f"{type(part)} which is not.")
        return output_signature
    if output_types is None:
        raise TypeError("Either the `output_signature` argument or the `output_types` argument must be specified. "
                        "from_generator needs output_signature (or output_types)")
    shapes = output_shapes if output_shapes is not None else nest.map_structure(lambda t: None, output_types)
    return nest.map_structure_up_to(output_types, lambda t, s: TensorSpec(s, t), output_types, shapes)


def _next_of(items, signature):
    """The callback that the engine calls for the next element."""
    def take(unused):
        try:
            value = next(items)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "the generator is exhausted") from None
        except errors.OutOfRangeError as e:  # of something that the generator reads; here this class means the end
            raise errors.UnknownError(None, None, f"{type(e).__name__}: {e}") from e
        except Exception as e:
            raise failure(e) from e
        return flat_element(yielded(value, signature))

    return take


def _function(name, inputs, make):
    """Traces a function of tensors. Returns (graph, captured tensors)."""
    body = Body(name, runs_all=True)
    with body:
        made = make(*[body.placeholder(s.dtype, s.shape) for s in inputs])
    body.finish(made)
    return body.graph, close([body], [body.tensors])


def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
    """A dataset of what a Python generator yields. Each element is checked against the signature."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    signature = _signature(output_types, output_shapes, output_signature)
    flat = flat_specs(signature)
    given = [_core.convert(a) for a in args or ()]

    def start(tensors):
        try:
            items = iter(generator(*[t.numpy() for t in tensors]))
        except TypeError as e:
            raise errors.InvalidArgumentError(None, None, f"TypeError: {e}") from e
        except Exception as e:
            raise failure(e) from e
        return [_core.callback_handle(_next_of(items, signature))]

    state = TensorSpec((), dtypes.resource)
    first = _core.callback_handle(start)
    init, init_captured = _function("generator", [], lambda: raw.EagerPyFunc(first, given, Tout=[dtypes.resource],
                                                                             output_shapes=[()]))
    following, next_captured = _function("next", [state], lambda s: raw.EagerPyFunc(
        s, [], Tout=[f.dtype for f in flat], output_shapes=[f.shape for f in flat]))
    end, end_captured = _function("end", [state], lambda s: [_core.convert(0)])
    variant = raw.GeneratorDataset(init_captured, next_captured, end_captured, init_func=init, next_func=following, finalize_func=end,
                                   Tinit_func_args=[t.dtype for t in init_captured],
                                   Tnext_func_args=[t.dtype for t in next_captured],
                                   Tfinalize_func_args=[t.dtype for t in end_captured], **types_and_shapes(signature))
    return Dataset(variant, signature, op=raw.FlatMapDataset)  # its repr is that of TensorFlow's


Dataset.from_generator = staticmethod(from_generator)  # defined here, because datasets.py is imported first
