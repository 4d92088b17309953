"""What the source says about a place: the loop around it, the decorators of a function, comments that silence a
finding. Source that cannot be read or parsed says nothing."""
import ast
import functools
import linecache
import re
import tokenize

_LIBRARY = ("-packages/", "/evenflow/_src/")
_IGNORE = re.compile(r"#\s*evenflow:\s*ignore\b([^#]*)")


def key(place):
    return place and (place.file, place.line)


def is_library(place):
    """Whether a place is in code that the user did not write."""
    return place is not None and any(part in place.file for part in _LIBRARY)


def text(file, line):
    return linecache.getline(file, line).rstrip("\n")


def raw_lines(file):
    """The lines of a file with the ends they have; [] if it cannot be read."""
    try:
        with open(file, "rb") as f:
            encoding = tokenize.detect_encoding(f.readline)[0]
        with open(file, encoding=encoding, newline="") as f:
            return list(f)
    except (OSError, SyntaxError, ValueError):
        return []


@functools.lru_cache(maxsize=64)
def tree(file):
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _around(file, line, kinds):
    """The nodes of these kinds that hold a line, the innermost last."""
    root = tree(file)
    found = [n for n in ast.walk(root) if isinstance(n, kinds) and _first(n) <= line <= n.end_lineno] if root else []
    return sorted(found, key=lambda n: (_first(n), -n.end_lineno))


def _first(node):
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def loop_of(place):
    """The line of the loop that holds a place, in the same function; None: there is none."""
    held = _around(place.file, place.line, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef))
    for node in reversed(held):
        if isinstance(node, (ast.For, ast.While)):
            return node.lineno
        if _first(node) != place.line:
            return None
    return None


def function_at(place):
    """The definition that begins at a place; None: it cannot be read, or is a lambda."""
    held = _around(place.file, place.line, (ast.FunctionDef, ast.AsyncFunctionDef)) if place else []
    return next((n for n in reversed(held) if _first(n) == place.line or n.lineno == place.line), None)


def declares(place, *options):
    """Whether a function is decorated with one of these options of tf.function."""
    node = function_at(place)
    for decorator in node.decorator_list if node else ():
        if isinstance(decorator, ast.Call) and any(k.arg in options for k in decorator.keywords):
            return True
    return False


def loops_in(place):
    """The lines of the loops of a function over tensors, and of its calls of map_fn and the like."""
    node = function_at(place)
    if node is None:
        return []
    lines = []
    for n in ast.walk(node):
        if isinstance(n, ast.For) and "range" not in _called(n.iter, ast.Name):
            lines.append(n.lineno)
        elif isinstance(n, ast.While):
            lines.append(n.lineno)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in (
                "map_fn", "while_loop", "scan", "foldl", "foldr"):
            lines.append(n.lineno)
    return sorted(lines)


def calls_at(place, name=None):
    """Calls that stand on a line, of a function of that name if one is given."""
    root = tree(place.file)
    for node in ast.walk(root) if root else ():
        if isinstance(node, ast.Call) and node.lineno <= place.line <= node.end_lineno:
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
            if name is None or called == name:
                yield node


def _is_new_axis(node):
    return (isinstance(node, ast.Constant) and node.value is None) or (isinstance(node, ast.Attribute) and node.attr == "newaxis")


def _becomes_a_batch(node, names):
    """Whether one of these names gets a new first axis: `x[tf.newaxis, ...]`, `x[None]`, `tf.expand_dims(x, 0)`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return _is_new_axis(first)
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "expand_dims" and node.args:
        axis = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "axis"), None)
        return isinstance(node.args[0], ast.Name) and node.args[0].id in names and isinstance(axis, ast.Constant) and axis.value == 0
    return False


def batches_taken_apart(place):
    """The lines of the loops of a function over rows that become batches of one again in its body."""
    node, lines = function_at(place), []
    for loop in (n for n in ast.walk(node) if isinstance(n, ast.For)) if node else ():
        over = loop.iter.args if isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "zip" else [loop.iter]
        names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        if all(isinstance(o, ast.Name) for o in over) and any(
                _becomes_a_batch(n, names) for part in loop.body for n in ast.walk(part)):
            lines.append(loop.lineno)
    return lines


def _given(call, function, names):
    """The parameters of a function that get these variables in a call of it."""
    parameters = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    by_position = {p for p, a in zip(parameters, call.args) if isinstance(a, ast.Name) and a.id in names}
    return by_position | {k.arg for k in call.keywords if isinstance(k.value, ast.Name) and k.value.id in names}


def batch_of_one(place):
    """The line at which what a loop takes from its iterator becomes a batch of one: in the loop that begins at a place, or in a
    function of the same file that is called there. None: there is no such line."""
    root = tree(place.file)
    functions = {n.name: n for n in ast.walk(root) if isinstance(n, ast.FunctionDef)} if root else {}
    for loop in _around(place.file, place.line, (ast.For,)):
        if loop.lineno != place.line:
            continue
        names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        for node in (n for part in loop.body for n in ast.walk(part)):
            if _becomes_a_batch(node, names):
                return node.lineno
            called = functions.get(getattr(getattr(node, "func", None), "id", None))
            inner = _given(node, called, names) if called else ()
            found = next((n.lineno for n in ast.walk(called) if _becomes_a_batch(n, inner)), None) if inner else None
            if found:
                return found
    return None


def function_around(place):
    """The function that holds a line, as a place; None: it stands in none."""
    held = _around(place.file, place.line, (ast.FunctionDef, ast.AsyncFunctionDef))
    return place._replace(line=_first(held[-1]), function=held[-1].name) if held else None


def range_loops(place):
    """The lines of the loops of a function over the range of the module that is TensorFlow, as in `for i in tf.range(n)`."""
    node = function_at(place)
    found = [n for n in ast.walk(node) if isinstance(n, ast.For)] if node else []
    return sorted(n.lineno for n in found if isinstance(n.iter, ast.Call) and isinstance(n.iter.func, ast.Attribute)
                  and n.iter.func.attr == "range" and isinstance(n.iter.func.value, ast.Name)
                  and n.iter.func.value.id in module_names(place.file))


@functools.lru_cache(maxsize=64)
def module_names(file):
    """What a program calls TensorFlow; `tf` if it does not say."""
    root = tree(file)
    found = [name.asname or name.name for node in (ast.walk(root) if root else ()) if isinstance(node, ast.Import)
             for name in node.names if name.name in ("tensorflow", "evenflow", "tensorflow.compat.v1", "tensorflow.compat.v2")]
    return found or ["tf"]


def _called(node, kind):
    return {n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, kind)}


def silences(file, line, code):
    """Whether a comment on the line says `# evenflow: ignore E104` (or names no code)."""
    found = _IGNORE.search(text(file, line))
    if not found:
        return False
    codes = re.findall(r"E\d{3}", found.group(1))
    return not codes or code in codes
