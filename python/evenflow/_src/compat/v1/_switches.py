"""Functions that switch between the behaviour of TensorFlow 1 and 2. Most only store the setting, because Evenflow supports
both behaviours at all times."""
from ... import graph as graphs
from ...namespace import export
from ...shapes import show_numbers

_on = {"resource variables": True, "control flow v2": True, "tensor equality": True, "v2 tensorshape": True}


@export("compat.v1.enable_v2_behavior")
def enable_v2_behavior():
    """Turns on the behaviour of TensorFlow 2: eager execution and all other switches."""
    for word in _on:
        _on[word] = True
    show_numbers(True)
    graphs.enable_eager_execution()


@export("compat.v1.disable_v2_behavior")
def disable_v2_behavior():
    """Turns on the behaviour of TensorFlow 1: ops are added to the default graph."""
    graphs.disable_eager_execution()
    for word in _on:
        _on[word] = False
    show_numbers(False)


def _switch(public, word):
    def enable():
        _on[word] = True

    def disable():
        _on[word] = False

    enable.__doc__ = f"Stores that {word} are enabled. They always are."
    disable.__doc__ = f"Stores that {word} are disabled, without other effect."
    export(f"compat.v1.enable_{public}")(enable)
    export(f"compat.v1.disable_{public}")(disable)


_switch("resource_variables", "resource variables")
_switch("control_flow_v2", "control flow v2")
_switch("tensor_equality", "tensor equality")


@export("compat.v1.enable_v2_tensorshape")
def enable_v2_tensorshape():
    """From now on items of a TensorShape are int or None."""
    _on["v2 tensorshape"] = True
    show_numbers(True)


@export("compat.v1.disable_v2_tensorshape")
def disable_v2_tensorshape():
    """From now on items of a TensorShape are Dimensions, whose `value` is int or None."""
    _on["v2 tensorshape"] = False
    show_numbers(False)


@export("compat.v1.resource_variables_enabled")
def resource_variables_enabled():
    """The stored setting of resource variables. Evenflow's variables always are resources."""
    return _on["resource variables"]


@export("compat.v1.control_flow_v2_enabled")
def control_flow_v2_enabled():
    """The stored setting of control flow v2. Evenflow's control flow always consists of function graphs."""
    return _on["control flow v2"]


@export("__internal__.tf2.enabled")
def tf2_enabled():
    """Whether the behaviour of TensorFlow 2 is on."""
    return not graphs._eager_off[0]
