"""Loads the extension `_core` that was built for this processor.

An installed package has an extension for the baseline processor in the usual place, and others for newer processors in
`levels/`. In a development tree there is only one, built for this machine, and this file does nothing.
"""
import importlib.util
import os
import sys

# Level -> the features that the processor must have, as /proc/cpuinfo names them; the newest level is first.
LEVELS = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
}


def processor():
    """The features of the first processor; an empty set if /proc/cpuinfo does not list them."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            line = next((line for line in f if line.startswith("flags")), "")
    except OSError:
        return set()
    return set(line.partition(":")[2].split())


def choose(there, has, wanted=None):
    """The newest level in `there` that a processor with the features `has` can run; None for the baseline extension.

    `wanted`, from EF_LEVEL, names the level to use; a name that is no level means the baseline extension."""
    for level, needs in LEVELS.items():
        if level in there and needs <= has and (wanted is None or wanted == level):
            return level
    return None


def load(package):
    """Loads the best extension for this processor as `_core` of `package`."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "levels")
    if not os.path.isdir(folder):
        return
    level = choose(os.listdir(folder), processor(), os.environ.get("EF_LEVEL"))
    if level is None:
        return
    name = f"{package}._core"
    place = os.path.join(folder, level)
    path = next((os.path.join(place, file) for file in sorted(os.listdir(place)) if file.startswith("_core.")), None)
    if path is None:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    sys.modules[package]._core = module
