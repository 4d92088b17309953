"""Converts Python functions with the transformers of the package `malt` and the operators of operators.py.

The converted tree is compiled in memory with the user's own file name and line numbers, so tracebacks, debuggers and
the places of traced ops show the user's source. The compiled code is a factory, which is cached by code object (with a
weak reference). Every function with that code object, whatever its closure and globals are, is made by the factory.
"""
import ast
import inspect
import linecache
import threading
import types
import weakref

from malt.converters import (break_statements, call_trees, conditional_expressions, continue_statements, control_flow,
                             directives, functions, lists, logical_expressions, return_statements, slices, variables)
from malt.core import converter, unsupported_features_checker
from malt.lang import directives as directive_names
from malt.pyct import errors as pyct_errors
from malt.pyct import (anno, cfg, inspect_utils, naming, origin_info, parser, qual_names, templates, transformer)
from malt.pyct.static_analysis import activity, liveness, reaching_definitions, reaching_fndefs

from ..config import get_logger
from . import operators, state
from .rules import is_library

Feature = converter.Feature
directive_names.set_loop_options = state.set_loop_options  # programs use the public names
directive_names.set_element_type = state.set_element_type
directive_names.UNSPECIFIED = state.UNSPECIFIED


class _Asserts(converter.Base):
    """Converts `assert test, message` to a call."""

    def visit_Assert(self, node):  # noqa: N802 - the visitor's protocol
        self.generic_visit(node)
        message = node.msg if node.msg is not None else ast.Constant("Assertion error")
        made = templates.replace("ag__.assert_stmt(test, lambda: message)", test=node.test, message=message)
        origin_info.copy_origin(node, made[-1])
        return made


class _Blocks(control_flow.ControlFlowTransformer):
    """Converts statements with blocks to calls. Variables of an enclosing function count as used after the statement."""

    def _get_block_vars(self, node, modified):
        names, undefined, nouts = super()._get_block_vars(node, modified)
        shared = self.state[control_flow._Function].scope.nonlocals
        out = [n for k, n in enumerate(names) if k < nouts or n in shared]
        return out + [n for n in names if n not in out], undefined, len(out)


def _blocks(node, ctx):
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, ctx, None)
    node = reaching_definitions.resolve(node, ctx, graphs)
    node = reaching_fndefs.resolve(node, ctx, graphs)
    node = liveness.resolve(node, ctx, graphs)
    return _Blocks(ctx).visit(node)


class _Options(converter.ConversionOptions):
    """Conversion options as one object in the namespace of operators, so that a call does not build them again."""

    def __init__(self, features):
        super().__init__(recursive=True, user_requested=False, optional_features=features)
        self.name = "options_" + "_".join(sorted(f.name for f in self.optional_features))
        setattr(operators.NAMESPACE, self.name, self)

    def call_options(self):
        return self

    def to_ast(self):
        return parser.parse_expression(f"ag__.{self.name}")


_options = {}


def options_for(features):
    """The options object of a set of optional features."""
    features = frozenset(features or ())
    found = _options.get(features)
    if found is None:
        found = _options[features] = _Options(features)
    return found


def _transform(node, ctx):
    """Converts the tree of a function."""
    unsupported_features_checker.verify(node)
    options = ctx.user.options
    graphs = cfg.build(node)
    node = qual_names.resolve(node)
    node = activity.resolve(node, ctx, None)
    node = reaching_definitions.resolve(node, ctx, graphs)
    anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    node = functions.transform(node, ctx)
    node = directives.transform(node, ctx)
    node = break_statements.transform(node, ctx)
    node = _Asserts(ctx).visit(node)
    node = continue_statements.transform(node, ctx)
    node = return_statements.transform(node, ctx)
    if options.uses(Feature.LISTS):
        node = lists.transform(node, ctx)
        node = slices.transform(node, ctx)
    node = call_trees.transform(node, ctx)
    node = _blocks(node, ctx)
    node = conditional_expressions.transform(node, ctx)
    node = logical_expressions.transform(node, ctx)
    return variables.transform(node, ctx)


def _place(node, line, column):
    """Gives every node of the tree the line and column of the source that it was made from."""
    origin = anno.getanno(node, anno.Basic.ORIGIN, default=None)
    if origin is not None:
        line, column = origin.loc.lineno, origin.loc.col_offset
    if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias, ast.excepthandler)):
        node.lineno = node.end_lineno = max(line, 1)
        node.col_offset = node.end_col_offset = max(column, 0)
    for child in ast.iter_child_nodes(node):
        _place(child, line, column)


def _rename(code, inside, name):
    """Renames code objects to the user's names: a helper function gets the name of the function that it belongs to."""
    consts = []
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            own = const.co_name
            if own == inside:
                own = name
            elif own.rstrip("_0123456789") in _HELPERS:
                own = code.co_name if code.co_name != "inner_factory" else name
                own = name if own == inside else own
            const = _rename(const.replace(co_name=own, co_qualname=own), inside, name)
        consts.append(const)
    return code.replace(co_consts=tuple(consts))


_HELPERS = {"if_body", "else_body", "loop_body", "loop_test", "get_state", "set_state", "extra_test"}


def _lambda_at(python):
    """(tree, source) of a lambda, found by the position of its code; None if it is not found."""
    code = python.__code__
    places = [p for p in getattr(code, "co_positions", lambda: ())() if None not in p and p[2:] != (0, 0)]
    if not places:
        return None
    first = min((line, column) for line, _, column, _ in places)
    last = max((line, column) for _, line, _, column in places)
    lines = linecache.getlines(code.co_filename, python.__globals__)
    around = []
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.Lambda):
            body = node.body
            if (body.lineno, body.col_offset) <= first and last <= (body.end_lineno, body.end_col_offset):
                around.append(node)
    if not around:
        return None
    node = max(around, key=lambda n: (n.lineno, n.col_offset))  # the innermost
    return parser._without_context(node, lines, node.lineno, node.end_lineno)


def _parsed(python, futures):
    """(tree, source) of a function"""
    found = None
    if python.__name__ == "<lambda>":
        found = _lambda_at(python)
    return found if found is not None else parser.parse_entity(python, future_features=futures)


def _tree(python, options):
    """(converted tree of a function, its name in the generated code, its own name, its __future__ imports)"""
    futures = inspect_utils.getfutureimports(python)
    node, source = _parsed(python, futures)
    origin_info.resolve_entity(node, source, python)
    namespace = inspect_utils.getnamespace(python)
    namer = naming.Namer(namespace)
    plain = "lam" if isinstance(node, ast.Lambda) else node.name
    generated = namer.new_symbol("tf__" + plain, ())
    info = transformer.EntityInfo(name=generated, source_code=source, source_file="<fragment>", future_features=futures,
                                  namespace=namespace)
    context = transformer.Context(info, namer, converter.ProgramContext(options=options))
    node = _transform(_without_defaults(node), context)
    if isinstance(node, ast.Lambda):
        node = ast.Assign(targets=[ast.Name(generated, ctx=ast.Store())], value=node)
    else:
        node.name = generated
    return node, generated, "<lambda>" if plain == "lam" else plain, futures


def text_of(python, options):
    """The source code that a function is converted to."""
    return ast.unparse(ast.fix_missing_locations(_tree(python, options)[0])) + "\n"


class Factory:
    """Makes the converted functions for one code object."""

    __slots__ = ("code", "names", "name")

    def __init__(self, python, options):
        node, generated, self.name, futures = _tree(python, options)
        self.names = python.__code__.co_freevars
        first = python.__code__.co_firstlineno
        _place(node, first, 0)
        module = _wrapped(node, generated, self.names, futures)
        _place(module, first, 0)
        code = compile(module, python.__code__.co_filename, "exec", dont_inherit=True)
        where = {}
        exec(_rename(code, generated, self.name), where)
        self.code = where["outer_factory"]().__code__

    def instance(self, python):
        """The converted function for `python`, sharing its globals, closure and defaults."""
        cells = dict(zip(self.names, python.__closure__ or ()))
        closure = tuple(cells[n] for n in self.code.co_freevars)
        factory = types.FunctionType(self.code, python.__globals__, self.name, (), closure)
        made = factory(operators.NAMESPACE)
        made.__defaults__ = python.__defaults__
        made.__kwdefaults__ = python.__kwdefaults__
        return made


def _without_defaults(node):
    """The tree without defaults and annotations. `Factory.instance` takes the defaults from the function itself."""
    args = node.args
    args.defaults = [ast.Constant(None) for _ in args.defaults]
    args.kw_defaults = [None if d is None else ast.Constant(None) for d in args.kw_defaults]
    if isinstance(node, ast.FunctionDef):
        node.returns = None
    for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if arg is not None:
            arg.annotation = None
    return node


def _wrapped(node, name, freevars, futures):
    """A module with a factory that has the closure of the function, and `ag__` as its argument."""
    inner = ast.FunctionDef(name="inner_factory", args=_arguments("ag__"), decorator_list=[],
                            body=[node, ast.Return(ast.Name(name, ctx=ast.Load()))])
    use = [ast.Expr(ast.Name(v, ctx=ast.Load())) for v in freevars if v != "__class__"]
    if use:  # makes every free variable one of the factory too
        keep = ast.FunctionDef(name="keep_", args=_arguments(), decorator_list=[], body=use)
        inner.body.insert(0, keep)
    cells = [ast.Assign(targets=[ast.Name(v, ctx=ast.Store())], value=ast.Constant(None)) for v in freevars]
    outer = ast.FunctionDef(name="outer_factory", args=_arguments(), decorator_list=[],
                            body=cells + [inner, ast.Return(ast.Name("inner_factory", ctx=ast.Load()))])
    body = [outer]
    if futures:
        body.insert(0, ast.ImportFrom(module="__future__", names=[ast.alias(n, None) for n in futures], level=0))
    return ast.Module(body=body, type_ignores=[])


def _arguments(*names):
    return ast.arguments(posonlyargs=[], args=[ast.arg(n, None) for n in names], vararg=None, kwonlyargs=[],
                         kw_defaults=[], kwarg=None, defaults=[])


# ---- kept factories -----------------------------------------------------------------------------------------

_lock = threading.RLock()
_factories = weakref.WeakKeyDictionary()  # code object -> {options: Factory, or None if it cannot be converted}


def _tell_unconverted(python, error):
    """Warns, once for each code object, that a function is not converted. Code without source text gives no warning."""
    state.log(1, "%s is not converted: %s: %s", python, type(error).__name__, error)
    unseen = isinstance(error, (pyct_errors.InaccessibleSourceCodeError, OSError)) or python.__code__.co_filename.startswith("<")
    if unseen or is_library(python.__globals__.get("__name__")):
        return
    get_logger().warning("AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate "
                         "the function with @tf.autograph.experimental.do_not_convert", python, error)


def factory_of(python, options):
    """The factory for a function's code object, from the cache or new; None if it cannot be converted."""
    code = python.__code__
    kept = _factories.get(code)
    if kept is not None and options in kept:
        return kept[options]
    with _lock:
        kept = _factories.setdefault(code, {})
        if options not in kept:
            try:
                kept[options] = Factory(python, options)
            except Exception as e:  # there is no source, or the transformers do not support it
                _tell_unconverted(python, e)
                kept[options] = None
        return kept[options]


def converted(python, options):
    """`python` converted; None if that is not possible."""
    if python.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    factory = factory_of(python, options)
    return None if factory is None else factory.instance(python)


operators.complete()  # the rest of the operators, which call back into this module
