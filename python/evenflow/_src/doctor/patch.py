"""Findings whose fix is mechanical, as a patch that `patch -p0` and `git apply -p0` take."""
import ast
import difflib
import linecache

from . import report, source


def _replace(lines, node, text):
    """Replaces the source of a node that stands on one line."""
    if node.lineno != node.end_lineno:
        return False
    raw = lines[node.lineno - 1].encode()
    lines[node.lineno - 1] = (raw[:node.col_offset] + text.encode() + raw[node.end_col_offset:]).decode()
    return True


def _text(lines, node):
    raw = lines[node.lineno - 1].encode()
    return raw[node.col_offset:node.end_col_offset].decode()


def _module_name(file):
    return source.module_names(file)[0]


def number_to_tensor(finding, lines):
    """E101: the argument that changes becomes a tensor."""
    definition = source.function_at(finding.subject)
    if definition is None or not finding.argument:
        return False
    parameters = [a.arg for a in definition.args.posonlyargs + definition.args.args]
    for call in source.calls_at(finding.place, definition.name):
        given = next((k.value for k in call.keywords if k.arg == finding.argument), None)
        if given is None and finding.argument in parameters:
            at = parameters.index(finding.argument) - (len(parameters) > 0 and parameters[0] == "self")
            given = call.args[at] if 0 <= at < len(call.args) else None
        if given is not None:
            return _replace(lines, given, f"{_module_name(finding.place.file)}.constant({_text(lines, given)})")
    return False


def fewer_traces(finding, lines):
    """E102: the function is told that sizes change."""
    definition = source.function_at(finding.subject)
    for decorator in definition.decorator_list if definition else ():
        if isinstance(decorator, (ast.Attribute, ast.Name)) and _text(lines, decorator).split(".")[-1] == "function":
            return _replace(lines, decorator, _text(lines, decorator) + "(reduce_retracing=True)")
    return False


def hoist(finding, lines):
    """E104: a function of the module is wrapped where it is defined."""
    definition = source.function_at(finding.subject)
    root = source.tree(finding.place.file)
    if definition is None or finding.subject.file != finding.place.file or definition not in root.body:
        return False
    for call in source.calls_at(finding.place, "function"):
        if len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == definition.name:
            made, name = _text(lines, call), f"{definition.name}_function"
            if not _replace(lines, call, name):
                return False
            lines[definition.end_lineno - 1] += f"\n\n\n{name} = {made}"
            return True
    return False


def keep_number(finding, lines):
    """E303: a number is kept instead of a tensor."""
    for call in source.calls_at(finding.place, "append"):
        if len(call.args) == 1 and not call.keywords:
            return _replace(lines, call.args[0], f"float({_text(lines, call.args[0])})")
    return False


def prefetched(finding, lines):
    """E401: elements are made ahead of the loop."""
    for node in ast.walk(source.tree(finding.place.file)):
        if isinstance(node, ast.For) and node.lineno == finding.place.line and isinstance(node.iter, (ast.Name, ast.Call, ast.Attribute)):
            module = _module_name(finding.place.file)
            return _replace(lines, node.iter, f"{_text(lines, node.iter)}.prefetch({module}.data.AUTOTUNE)")
    for name in ("fit", "evaluate", "predict"):
        for call in source.calls_at(finding.place, name):
            if call.args and isinstance(call.args[0], (ast.Name, ast.Attribute)):
                return _replace(lines, call.args[0], f"{_text(lines, call.args[0])}.prefetch({_module_name(finding.place.file)}.data.AUTOTUNE)")
    return False


def range_of_tensors(finding, lines):
    """E206: the loop runs in the graph. Only where its body does not use the number, which would become a tensor."""
    for node in ast.walk(source.tree(finding.place.file)):
        if not isinstance(node, ast.For) or node.lineno != finding.place.line or not isinstance(node.target, ast.Name):
            continue
        used = any(isinstance(n, ast.Name) and n.id == node.target.id for part in node.body for n in ast.walk(part))
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        if not used and isinstance(called, ast.Name) and called.id == "range":
            return _replace(lines, called, f"{_module_name(finding.place.file)}.range")
    return False


def on_batch(finding, lines):
    """E202: predict of a few rows is predict_on_batch."""
    for call in source.calls_at(finding.place, "predict"):
        if len(call.args) == 1 and all(k.arg == "verbose" for k in call.keywords) and isinstance(call.func, ast.Attribute):
            model, rows = _text(lines, call.func.value), _text(lines, call.args[0])
            return _replace(lines, call, f"{model}.predict_on_batch({rows})")
    return False


PATCHES = {"E101": number_to_tensor, "E102": fewer_traces, "E104": hoist, "E202": on_batch, "E206": range_of_tensors, "E303": keep_number,
           "E401": prefetched}


def diff(findings):
    """One patch for all findings that have one; '' if none has. Two fixes never change the same line: the dearer one is made."""
    changed = {}
    for f in findings:
        make = PATCHES.get(f.code)
        file = f.subject.file if f.code == "E102" and f.subject else f.place.file
        if make is None or source.tree(file) is None:
            continue
        before = [text.rstrip("\n") for text in linecache.getlines(file)]
        lines = changed.setdefault(file, list(before))
        trial = list(before)
        if not make(f, trial):
            continue
        touched = [k for k, (old, new) in enumerate(zip(before, trial)) if old != new]
        if all(lines[k] == before[k] for k in touched):
            for k in touched:
                lines[k] = trial[k]
    return "".join(_unified(file, lines) for file, lines in changed.items())


def _unified(file, lines):
    """The patch of one file, under the name it has from where the doctor was started: `patch` takes no absolute names. The ends
    of its lines are those of the file, which Python's own readers of source do not keep."""
    before = source.raw_lines(file)
    end = "\r\n" if before and before[0].endswith("\r\n") else "\n"
    after = [text + end for text in "\n".join(lines).split("\n")]
    if before and not before[-1].endswith("\n"):
        after[-1] = after[-1][:-len(end)]
    name = report.short(file)
    name += "\t" * (" " in name)  # where a name with spaces ends
    return "".join(text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"
                   for text in difflib.unified_diff(before, after, name, name))
