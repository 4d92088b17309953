"""The one error for a public name that Evenflow does not have."""
import difflib


def nearest(place, name, names):
    """The name closest to one that `place` does not have, as the end of a sentence; "" if none is close."""
    near = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], 1)
    return f"; the nearest is {place}.{near[0]}" if near else ""


def no_name(place, name, hint=""):
    """The AttributeError for a name that `place`, a module or namespace, does not have."""
    text = f"module '{place}' has no attribute '{name}': Evenflow has no such name{hint}"
    return AttributeError(text, name=name)  # `name` keeps Python from adding its own suggestion
