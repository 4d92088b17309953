"""Loads the extension `_core` that was built for this processor.

A package that is installed has one for old processors, as every extension has, and in `levels/` others for newer ones. While
developing there is only one, for the machine at hand, and nothing happens here.
"""
import importlib.util
import os
import sys

# The newest first: what the processor must have, in the words of /proc/cpuinfo.
LEVELS = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
}


def processor():
    """What the first processor has; nothing where the kernel does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            line = next((line for line in f if line.startswith("flags")), "")
    except OSError:
        return set()
    return set(line.partition(":")[2].split())


def choose(there, has, wanted=None):
    """The newest of the levels in `there` that a processor with these features can run; None: the plain extension.

    `wanted`, from EF_LEVEL, names a level to use instead; a name that is none of them means the plain extension."""
    for level, needs in LEVELS.items():
        if level in there and needs <= has and (wanted is None or wanted == level):
            return level
    return None


def load(package):
    """Makes `_core` of `package` the extension that fits best."""
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
