"""Detects whether a program is written for TensorFlow 1 or 2, and runs programs of TensorFlow 1.

A program that imports tensorflow and then, without any guard, uses a name that only makes sense in graphs and that
TensorFlow 2 does not have (`tf.Session`, `tf.placeholder`, ...) fails on TensorFlow 2 at that name. So it was written for
TensorFlow 1, where its meaning is clear: ops build the default graph, and names that both generations have
(`tf.nn.dropout`, `tf.losses`) have the meaning of the first. `evenflow run` parses the program before it starts. If it is
such a program, `tensorflow` in its files is `tensorflow.compat.v1`, and eager execution is off. Nothing changes for other
programs: one that checks the version, calls `hasattr`, catches the AttributeError, turns on eager execution, or uses
`tf.function` or `tf.GradientTape` chooses its generation itself.

Only the program's own files count: the file that is run, and the modules it imports from the same folder.
"""
import ast
import importlib.machinery
import os
import sys

from .compat.v1._switches import disable_v2_behavior

# Names that only TensorFlow 1 has and that build or run a graph.
_GRAPH_NAMES = frozenset("""
    Session InteractiveSession placeholder placeholder_with_default sparse_placeholder get_variable variable_scope
    global_variables_initializer initialize_all_variables local_variables_initializer variables_initializer
    initialize_variables initialize_local_variables get_default_graph reset_default_graph get_default_session
    get_collection add_to_collection trainable_variables global_variables local_variables all_variables
    """.split())
# A program that uses one of these runs eagerly, or chooses its generation itself.
_DECIDES = frozenset("""
    function GradientTape enable_eager_execution enable_v2_behavior disable_v2_behavior disable_eager_execution
    executing_eagerly VERSION version
    """.split())
_MOST_FILES = 256  # the most modules of a program that are parsed before it starts


class _Reading(ast.NodeVisitor):
    """How one file uses TensorFlow: the name that it imports the package as, and the names of the package that it uses."""

    def __init__(self, tree):
        self.names = set()  # the names that `tensorflow` itself is bound to
        self.used = set()
        self.decides = False
        self.imports = set()  # modules, as dotted names; those of `from . import` begin with a dot
        self._guards = 0
        self.visit(tree)

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name == "tensorflow":
                self.names.add(alias.asname or "tensorflow")
            else:
                self.imports.add(alias.name)

    def visit_ImportFrom(self, node):
        module = "." * node.level + (node.module or "")
        if module == "tensorflow":
            self.used.update(alias.name for alias in node.names if not self._guards)
        self.imports.add(module)
        self.imports.update(f"{module}{'' if module.endswith('.') else '.'}{alias.name}" for alias in node.names)

    def visit_Try(self, node):
        self._guards += 1
        self.generic_visit(node)
        self._guards -= 1

    def visit_Call(self, node):
        called = node.func.id if isinstance(node.func, ast.Name) else None
        if called == "print":  # printing the version decides nothing
            return
        if called in ("hasattr", "getattr") and node.args and self._is_package(node.args[0]):
            self.decides = True
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if self._is_package(node.value):
            if node.attr in _DECIDES or node.attr == "__version__":
                self.decides = True
            elif not self._guards:
                self.used.add(node.attr)
        elif node.attr in _DECIDES:  # tf.compat.v1.disable_v2_behavior
            inner = node.value
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            self.decides = self.decides or self._is_package(inner)
        self.generic_visit(node)

    def _is_package(self, node):
        return isinstance(node, ast.Name) and node.id in self.names


def _read(path):
    """The _Reading of a file, or None if it cannot be read or parsed."""
    try:
        with open(path, "rb") as f:
            source = f.read()
        return _Reading(ast.parse(source))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _file_of(folder, module):
    """The file of a module of the program's folder, or None."""
    path = os.path.join(folder, *module.lstrip(".").split("."))
    return next((p for p in (path + ".py", os.path.join(path, "__init__.py")) if os.path.isfile(p)), None)


def _own_files(main, reading):
    """{path: _Reading} of the program's own files; the main file is first."""
    folder = os.path.dirname(main)
    found, waiting = {main: reading}, [(folder, reading)]
    while waiting and len(found) < _MOST_FILES:
        here, said = waiting.pop()
        for module in sorted(said.imports):
            path = _file_of(here if module.startswith(".") else folder, module)
            if path is not None and path not in found:
                found[path] = _read(path)
                if found[path] is not None:
                    waiting.append((os.path.dirname(path), found[path]))
    return {path: said for path, said in found.items() if said is not None}


def first_generation(path, source):
    """The files of a program that are written for TensorFlow 1; an empty set if the program is not."""
    try:
        said = _Reading(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()  # running the program reports the error
    files = _own_files(os.path.abspath(path), said)
    if said.decides or not any(f.used & _GRAPH_NAMES and not f.decides for f in files.values()):
        return frozenset()
    return frozenset(path for path, f in files.items() if not f.decides)


class _Older(ast.NodeTransformer):
    """Replaces `tensorflow` by `tensorflow.compat.v1` in import statements."""

    def visit_Import(self, node):
        made = []
        for alias in node.names:
            if alias.name != "tensorflow":
                made.append(ast.Import([alias]))
            else:
                made.append(ast.ImportFrom("tensorflow.compat", [ast.alias("v1", alias.asname or "tensorflow")], 0))
        return [ast.copy_location(m, node) for m in made]

    def visit_ImportFrom(self, node):
        if node.level == 0 and node.module == "tensorflow":
            node.module = "tensorflow.compat.v1"
        return node


def compile_older(source, name):
    """Compiles a file in which `tensorflow` means `tensorflow.compat.v1`."""
    tree = ast.fix_missing_locations(_Older().visit(ast.parse(source, name)))
    return compile(tree, name, "exec", dont_inherit=True)


class _OlderLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with `compile_older`. Its bytecode is not cached on disk, as other runs compile the file as usual."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return compile_older(self.get_data(path), path)


class _OlderFinder:
    """Finds the modules that `_OlderLoader` loads."""

    def __init__(self, files):
        self.files = files

    def find_spec(self, fullname, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin in self.files:
            spec.loader = _OlderLoader(fullname, spec.origin)
            return spec
        return None


def run_older(files):
    """From now on `files` are imported as programs of TensorFlow 1, and ops outside functions build the default graph."""
    sys.meta_path.insert(0, _OlderFinder(files))
    disable_v2_behavior()
