"""Switches between the generations. What a switch would change is either possible at all times here, or noted."""
from ... import graph as graphs
from ...namespace import export
from ...shapes import TensorShape

_on = {"resource variables": True, "control flow v2": True, "tensor equality": True, "v2 tensorshape": True}


@export("compat.v1.enable_v2_behavior")
def enable_v2_behavior():
    """Eager execution and everything that goes with it."""
    for word in _on:
        _on[word] = True
    TensorShape._v2_items = True
    graphs.enable_eager_execution()


@export("compat.v1.disable_v2_behavior")
def disable_v2_behavior():
    """Graphs by default, as the first generation has it."""
    graphs.disable_eager_execution()
    for word in _on:
        _on[word] = False
    TensorShape._v2_items = False


def _switch(public, word):
    def enable():
        _on[word] = True

    def disable():
        _on[word] = False

    enable.__doc__ = f"Notes that {word} are wanted; they are there at all times."
    disable.__doc__ = f"Notes that {word} are not wanted; nothing works differently."
    export(f"compat.v1.enable_{public}")(enable)
    export(f"compat.v1.disable_{public}")(disable)


_switch("resource_variables", "resource variables")
_switch("control_flow_v2", "control flow v2")
_switch("tensor_equality", "tensor equality")


@export("compat.v1.enable_v2_tensorshape")
def enable_v2_tensorshape():
    """Items of a TensorShape are int or None."""
    TensorShape._v2_items = _on["v2 tensorshape"] = True


@export("compat.v1.disable_v2_tensorshape")
def disable_v2_tensorshape():
    """Items of a TensorShape are Dimensions, whose `value` is int or None."""
    TensorShape._v2_items = _on["v2 tensorshape"] = False


@export("compat.v1.resource_variables_enabled")
def resource_variables_enabled():
    """Whether variables are resources: as the switch says; they always are."""
    return _on["resource variables"]


@export("compat.v1.control_flow_v2_enabled")
def control_flow_v2_enabled():
    """Whether control flow is made of functions: as the switch says; it always is."""
    return _on["control flow v2"]


@export("__internal__.tf2.enabled")
def tf2_enabled():
    """Whether the second generation's behaviour is on."""
    return not graphs._eager_off[0]
