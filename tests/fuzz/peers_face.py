"""Calls for peers_fuzz.py that are pieces of Python: operators, indexing, conversion, variables, attributes, raw ops.

A call is {"name": family, "code": expression, "args": expressions, "mode": ...}: the expression sees its arguments as a, b, c and
is evaluated eagerly or inside `tf.function`. The result, tensor or not, is written as leaves that can be compared.
"""
import base64
import collections
import operator
import random
import re

import numpy as np

FLOATS = ["float32", "float32", "float64", "float16", "bfloat16"]
INTS = ["int32", "int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64"]
OTHERS = ["complex64", "complex128", "bool", "bool", "string"]
ARITHMETIC = "+ - * / // % ** @".split()
COMPARE = "== != < <= > >=".split()
LOGIC = "& | ^".split()
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor imatmul".split()
ONE = """-a +a ~a abs(a) bool(a) int(a) float(a) complex(a) len(a) list(a) tuple(iter(a)) range(3)[a] operator.index(a) hash(a)
format(a) f"{a:.2f}" f"{a}" repr(a) str(a) (not a) round(a) reversed(a) sum(a) max(a) (1if(a)else(0)) (a)and(1) [*a] dict(a=a)["a"]
np.asarray(a) np.array(a,dtype="float64") np.sum(a) np.abs(a) divmod(a,2) a()""".split()
SCALARS = """0 1 2 -1 3 -3 2.5 -0.5 0.0 1e10 1e40 True False None 1j (2+0.5j) 2**31 2**40 -2**63 2**63 2**64 10**30 "a" b"b" ""
float("nan") float("inf") [] [1] [1,2] [1.5,2] [True,False] [[1],[2]] [[1,2],[3]] (1,2) (1,2.5) [None] [1,None] ["a","b"] ["a",1]
[1,True] [1,1j] np.int32(2) np.int64(2) np.float32(2.5) np.float64(2) np.float16(1) np.uint8(3) np.uint64(3) np.bool_(True)
np.complex64(1j) np.str_("a") np.array(None) np.array(["a","b"]) np.array([1,"a"],dtype=object) np.array([1,2.5],dtype=object)
np.datetime64("2020-01-01") np.array(["2020-01-01"],dtype="M8") {} {1} {"a":1} object() int print tf tf.float32 tf.TensorShape([1,2]) range(3)
slice(1) Ellipsis [np.int8(1),2] [np.float32(1),2] [np.float64(1),2] [np.array([1,2]),[3,4]] [2**31] [2**31,1.5] [2**63] [2**64] [1e40]
[b"a","b"] [[]] [[],[]] [[],[1]] [[[1]],[2]] (np.int64(1),) np.zeros((0,2)) np.float128(1) np.array([1,2])[::-1] np.arange(6).reshape(2,3).T
np.array([True]) np.array(b"ab") np.timedelta64(1,"D") frozenset()""".split()
SINGLE = [s for s in SCALARS if not s.startswith(("[", "(1", "(np", "np.ar", "np.zeros", "range", "tf.T"))]
DTYPES = """None tf.float32 tf.float64 tf.int32 tf.int64 tf.uint8 tf.bool tf.string tf.complex64 tf.float16 tf.bfloat16 tf.uint64
"float32" "int64" np.float32 np.int8 float int bool complex str object np.dtype("int16") "nope" 3 1 tf.resource tf.variant
np.array([1]) [] tf.constant(1) tf.uint32 tf.int8 tf.complex128 "half" "double" b"float32" """.split()
SHAPES = """None () [] [2] [1,2] [2,1] [3] [0] (2,3) -1 [-1] 2 0 2.0 [2.0] [2.5] "2" [None] [1,None] tf.TensorShape([2]) tf.TensorShape(None)
tf.constant([2]) np.array([2,1]) np.int64(2) [True] [[1,2]] [[2]] tf.constant(2) tf.constant([2.0]) [-2,1] (2,"a") tf.zeros([0],tf.int32)
[tf.constant(2),1] tf.constant([1,2],tf.int64) tf.constant([2],tf.uint8) tf.constant([2],tf.int16) range(3) {2} {2:1} True""".split()


# Calls for which TensorFlow itself is wrong: saturate_cast rounds the limits of int64 out of its range; Round gives 0 for
# integers; int() of an infinite bfloat16 overflows; datetimes in a list may crash it; and an integer that does not fit into the
# uint64 of the other operand leaves a Python exception set, which appears at a later call or ends the process.
UNFIT = r"(-[123](\*\*63)?|2\*\*64|10\*\*30|\[2\*\*64\]|L\('int.*)"
WRONG = re.compile(rf"; [TV]\('uint64'[^;]*; {UNFIT}$|; {UNFIT}; [TV]\('uint64'"
                   r"|\[a, b\].*(datetime|timedelta)64|^int\(a\).*bfloat16.*True|saturate_cast.*(int64|L\('uint32|2\*\*[346]|10\*\*|np\.ar)"
                   r"|raw_ops\.Round\(.*(int|bool|True|False|np\.ar|range|Shape|; (?![TVALN]\()[^.ej]*\d[^.ej]*$)")
# Wrong calls that TensorFlow's graph optimizer removes before a kernel checks them. UNSEEN: an axis that is named twice, a size of
# -1. IDLE: a scatter at indices out of range whose updates are empty or plain numbers. REARRANGED, below, where only ranks are
# known: the reshape of a vector to a vector, and a set_shape that promises the wrong size of a vector.
UNSEEN = re.compile(r"\[0, 0\]|broadcast_to.*-1|\[(1,1|0,-1|-1,0|1,-2)\]")
IDLE = re.compile(r"\.scatter_(add|sub|mul|div)\(.*\[(5|-1)\].*; (V\('\w+', \[[^\]]*\b0\b|.*; (?![TVA]\())")
# Calls that the graph optimizer rewrites to something else. 0 - x with an unsigned x and an integer ** -1 become ops that have no
# kernel; x ** [c, c] becomes an op with too few operands, so the shape is lost; truncatediv(x, 1) becomes x, without the
# truncation; x / c becomes x * (1 / c), which for an infinite c gives 0 where the division gives NaN.
SAME = r"L\((?P<same>[^;]*)\)$"  # a list, if its numbers are equal
REWRITTEN = re.compile(rf"^(a - b|operator\.isub|tf\.raw_ops\.Sub)\b.*; (0|False|\[\]|L\((?P<left>[^;]*)\)); [TV]\('uint(8|16)'"
                       rf"|^(a \*\* b|operator\.ipow|tf\.raw_ops\.Pow)\b.*; ([TV]\('u?int[^;]*; -1$|.*; {SAME})"
                       rf"|^tf\.raw_ops\.TruncateDiv\b.*; [TV]\('b?float[^;]*; (\[?1\]?$|True$|np\.\w+\(\[?(1|True)\]?\)$|{SAME.replace('same', 'ones')})"
                       r"|^(a / b|operator\.itruediv|tf\.raw_ops\.\w*Div)\b.*; [TV]\('complex64[^;]*; \[?1e40\]?$")


def is_rewritten(whole):
    """Whether TensorFlow's graphs give another result than its eager mode; with a list they do so if all its numbers are equal."""
    found = REWRITTEN.search(whole)
    listed = found and next((text for text in found.groupdict().values() if text), None)
    return bool(found) and (not listed or len(set(np.ravel(numbers(*eval(f"({listed})"))).tolist())) < 2)


REARRANGED = re.compile(r"[Rr]eshape\(.*; T\('\w+', \[\d\]|set_shape\(\[2\]\); T\('\w+', \[[013]\]")


class FaceWriter:
    """Writes calls of the six families; each family's method returns (code, argument expressions)."""

    def __init__(self, seed):
        self.r, self.left_out = random.Random(seed), collections.Counter()

    def dims(self, most=3):
        return [self.r.choice((1, 2, 3, 1, 2, 3, 2, 3, 0)) for _ in range(self.r.randint(0, most))]

    def dtype(self):
        return self.r.choice(self.r.choice((FLOATS, FLOATS, INTS, INTS, OTHERS)))

    def value(self, dtype=None, dims=None, kinds="TTTTVVANL"):
        dtype, dims = dtype or self.dtype(), self.dims() if dims is None else dims
        kind = self.r.choice(kinds)
        if kind == "N":
            dims = []
        return f"{kind}({dtype!r}, {dims}, {self.r.randrange(1000)}{', True' if self.r.random() < 0.08 else ''})"

    def tensor(self, dtype=None, dims=None):
        return self.value(dtype, dims, "TTTV")

    def any(self):
        return self.r.choice(SCALARS) if self.r.random() < 0.5 else self.value()

    def pair(self):
        """Two operands, of which one is a tensor or a variable, mostly of one dtype and of shapes that fit."""
        dtype, dims = self.dtype(), self.dims()
        x = self.tensor(dtype, dims)
        chance = self.r.random()
        if chance < 0.35:
            y = self.r.choice(SCALARS)
        elif chance < 0.5:
            y = self.value()
        else:
            fit = [d if self.r.random() < 0.8 else 1 for d in dims][self.r.random() < 0.2:]
            y = self.value(dtype if self.r.random() < 0.8 else None, fit)
        return [x, y] if self.r.random() < 0.6 else [y, x]

    def operator(self):
        kind = self.r.random()
        if kind < 0.3:
            return self.r.choice(ONE), [self.tensor()]
        if kind < 0.4:
            return f"operator.{self.r.choice(IN_PLACE)}(a, b)", self.pair()
        if kind < 0.45:
            return self.r.choice(("a in b", "divmod(a, b)", "a not in b", "a is b", "a and b", "a << b", "a >> b", "pow(a, b, 2)",
                                  "np.add(a, b)", "np.multiply(a, b)", "a < b < a", "a == b == a", "b if a else a")), self.pair()
        signs = self.r.choice((ARITHMETIC, ARITHMETIC, COMPARE, LOGIC))
        return f"a {self.r.choice(signs)} b", self.pair()

    def index_part(self):
        r, n = self.r, lambda: self.r.choice(("", "", "0", "1", "-1", "2", "-2", "5", "-5"))
        kind = r.random()
        if kind < 0.35:
            return r.choice(("0", "1", "-1", "2", "-2", "-3", "7", "-7"))
        if kind < 0.65:
            return f"{n()}:{n()}" + (f":{r.choice(('1', '2', '-1', '-2', '0', '', '3'))}" if r.random() < 0.5 else "")
        if kind < 0.8:
            return r.choice(("...", "tf.newaxis", "None", "..."))
        return r.choice(("tf.constant(1)", "tf.constant(0, tf.int64)", "tf.constant(1, tf.uint8)", "tf.constant(1.0)", "tf.constant(True)",
                         "np.int32(1)", "np.int64(-1)", "np.uint8(1)", "np.array(1)", "np.array([0, 1])", "[0, 1]", "[True, False]",
                         "np.array([True, False])", "True", "'a'", "1.0", "1j", "()", "(0, 1)", "[]", "slice(None)", "slice(0, 1.5)",
                         "slice('a', None)", "tf.constant([0, 1])", "tf.constant([True])", "tf.constant(0):tf.constant(1)",
                         "np.int64(0):np.int64(2)", "tf.constant(0, tf.int64):", ":tf.constant(1, tf.int16)", "2**31", "2**31:", ":2**40",
                         "-2**31", "2**64", "tf.constant(0, tf.int64):1", "1:tf.Variable(2)", "tf.Variable(0)", "np.float32(0)", "1.0:",
                         "np.bool_(True)", "tf.constant('a')", "tf.constant(9)", "[[0], [1]]", "object()", "{}", "tf.constant([0])",
                         "tf.TensorShape([1])", "tf.float32", "::tf.constant(2)", "::tf.constant(0)", "::None", "[0]", "np.array([0])"))

    def index(self):
        r = self.r
        parts = [self.index_part() for _ in range(r.choice((1, 1, 1, 2, 2, 3, 4)))]
        at, x = ", ".join(parts) + (r.random() < 0.1) * ",", self.value(dims=self.dims(5), kinds="TTV")
        kind = r.random()
        if kind < 0.05:
            return f"operator.setitem(a, {r.choice(('0', '...', '(0, 1)'))}, 1)", [x]
        if kind < 0.08:
            return "operator.delitem(a, 0)", [x]
        if kind < 0.16 and x[0] == "V":
            return f"a[{at}].{r.choice(('assign', 'assign_add', 'assign_sub'))}(b)", [x, self.any()]
        if kind < 0.2:
            return f"a[b:{r.choice(('', 'b+1', '2'))}]", [x, self.value(r.choice(INTS), [], "TVNL")]
        if kind < 0.24:
            return "a[b]", [x, self.any()]
        return f"a[{at}]", [x]

    def convert(self):
        r = self.r
        v, d, s = self.any(), r.choice(DTYPES) if r.random() < 0.6 else "None", r.choice(SHAPES)
        n = r.choice(("0", "1", "2", "3", "-1", "2.5", "None", "True", "tf.constant(2)", "tf.constant(2.0)", "np.int64(3)", "'a'", "[1]",
                      "tf.constant(3, tf.int64)", "np.float32(2)", "tf.constant(2, tf.uint8)", "1e10", "2**40"))
        m = r.choice(("0", "1", "5", "-3", "2.5", "tf.constant(4)", "np.float64(3)", "tf.constant(4, tf.int64)", "np.uint8(4)", "True", "'b'"))
        axis = r.choice(("0", "0", "1", "-1", "2", "-3", "None", "tf.constant(0)", "0.0", "'a'", "np.int64(0)", "tf.constant(0, tf.int64)"))
        return r.choice((
            lambda: (f"tf.constant(a, dtype={d}, shape={s})" if r.random() < 0.5 else f"tf.constant(a, dtype={d})", [v]),
            lambda: (f"tf.constant(a, {d})", [v]),
            lambda: (f"tf.convert_to_tensor(a, dtype={d})", [v]),
            lambda: (f"tf.convert_to_tensor(a, dtype_hint={d})", [v]),
            lambda: (f"tf.cast(a, {d})", [v]),
            lambda: (f"tf.Variable(a, dtype={d})", [v]),
            lambda: (f"tf.Variable(a, shape={s})", [v]),
            lambda: (f"tf.fill({s}, a)", [v]),
            lambda: (f"tf.{r.choice(('zeros', 'ones'))}({s}" + r.choice((")", f", {d})", f", dtype={d})")), []),
            lambda: (f"tf.{r.choice(('zeros_like', 'ones_like'))}(a, dtype={d})", [v]),
            lambda: (f"tf.range({n}, {m}" + r.choice((")", f", {r.choice((n, m))})", f", dtype={d})")), []),
            lambda: (f"tf.range({n}" + r.choice((")", f", dtype={d})")), []),
            lambda: (f"tf.linspace({r.choice((n, m))}, {m}, {n})", []),
            lambda: (f"tf.eye({n}" + r.choice((")", f", {m})", f", dtype={d})", f", batch_shape={s})")), []),
            lambda: (f"tf.one_hot(a, {n}" + r.choice((")", f", dtype={d})", f", on_value={m})", f", {m}, {n}, {axis})", f", axis={axis})")),
                     [v]),
            lambda: (f"tf.stack([a, b], axis={axis})", self.pair()),
            lambda: (f"tf.stack(a, axis={axis})", [v]),
            lambda: (f"tf.concat([a, b], axis={axis})", self.pair()),
            lambda: (f"tf.concat(a, {axis})", [v]),
            lambda: (f"tf.reshape(a, {s})", [v]),
            lambda: (f"tf.broadcast_to(a, {s})", [v]),
            lambda: ("tf.convert_to_tensor([a, b])", self.pair()),
            lambda: (f"tf.constant([a, b], dtype={d})", [self.any(), self.any()]),
            lambda: (f"tf.saturate_cast(a, {d})", [v]),
            lambda: ("tf.is_tensor(a)", [v]),
            lambda: (f"tf.as_dtype({d})" if r.random() < 0.5 else f"tf.dtypes.as_dtype({d})", []),
            lambda: (f"tf.{r.choice(('shape', 'size', 'rank', 'identity', 'squeeze', 'transpose', 'unstack'))}(a)", [v]),
            lambda: (f"tf.expand_dims(a, {axis})", [v]),
            lambda: (f"tf.where(a, b, {r.choice(SCALARS)})", self.pair()),
            lambda: ("tf.Variable(lambda: a)", [v]),
        ))()

    def variable(self):
        r, dtype, dims = self.r, self.dtype(), self.dims()
        v = self.value(dtype, dims, "V")
        w = self.any() if r.random() < 0.4 else self.value(dtype, dims if r.random() < 0.8 else None, "TVANL")
        how = r.choice(("assign", "assign_add", "assign_sub"))
        scatter = r.choice("add sub update max min mul div".split())
        at, some = r.choice((("[0, 1]", [2]), ("[0]", [1]), ("[5]", [1]), ("[-1]", [1]), ("[[0]]", [1, 1]), ("[]", [0]), ("[0.5]", [1]),
                             ("tf.constant([0], tf.int64)", [1]), ("[0, 0]", [2])))
        # for rows of the wrong shape, TensorFlow reads memory beyond them
        rows = r.choice(SINGLE) if r.random() < 0.3 else self.value(dtype if r.random() < 0.8 else None, [*some, *dims], "TVAL")
        places = r.choice(("[[0]]", "[[1], [0]]", "[[0], [0]]", "[[5]]", "[[0, 1]]", "tf.constant([[0]], tf.int64)", "[[0.5]]"))
        name = r.choice("""shape dtype name device trainable synchronization aggregation constraint initial_value initializer op graph
            handle value() numpy() read_value() get_shape() ndim __array__() ref() is_initialized() experimental_ref() foo
            shape.rank eval() __len__() count_up_to(3) set_shape([2,2]) __index__() T __dict__()
            batch_scatter_update(1) assign(1,2,3,4) sparse_read([0]) sparse_read([7]) gather_nd([[0]]) gather_nd([[9]])
            __array__("float32") __array__(dtype="int32") __deepcopy__({}) device==0 scatter_nd_add([[0]],[1])
            scatter_nd_update([[0]],[1.0]) scatter_nd_sub([[0]],[1]) __bool__() __hash__() __setattr__("shape",1)""".split())
        options = r.choice(("trainable=True", "trainable=None", "trainable='a'", "constraint=lambda x: x", "constraint=3", "name='a'", "name=3",
                            "validate_shape=False", "shape=[None]", "shape=tf.TensorShape(None)", "synchronization=tf.VariableSynchronization.ON_READ",
                            "aggregation=tf.VariableAggregation.SUM", "aggregation=7", "caching_device='cpu'", "name='a b'",
                            f"dtype={r.choice(DTYPES)}", f"shape={r.choice(SHAPES)}"))
        return r.choice((
            lambda: (f"(a.{how}(b), a.value())", [v, w]),
            lambda: (f"a.{how}(b, read_value=False)", [v, w]),
            lambda: (f"(a.{how}(b), a)[-1]", [v, w]),
            lambda: (f"a.{name}", [v]),
            lambda: (f"tf.Variable(a, {options})", [w]),
            lambda: (f"tf.Variable(a, {options}).{name}", [w]),
            lambda: (f"a.scatter_{scatter}(tf.IndexedSlices(b, tf.convert_to_tensor({at})))",
                     [self.value(dtype, [2, *dims], "V"), rows]),
            lambda: (f"a.scatter_nd_{r.choice(('add', 'sub', 'update', 'max', 'min'))}({places}, b)", [v, w]),
            lambda: (f"a.sparse_read({at})", [v]),
            lambda: (f"a.gather_nd({at})", [v]),
            lambda: ("(a := tf.Variable(a, shape=tf.TensorShape(None)), a.assign(b), a.shape)", [w, self.any()]),
            lambda: (f"tf.Variable(a).{how}(b)", [w, self.any()]),
            lambda: (f"tf.Variable({options})", []),
        ))()

    def dimensions(self):
        return self.r.choice(("[2,3]", "[]", "[None,3]", "None", "[1]", "[2]", "[None]", "[2,3,4]", "[None,None]", "2", "[-1]", "'a'", "[0]",
                              "(1,None)", "[2.0]", "[2.5]", "tf.TensorShape([1,2])", "['a']", "np.array([1,2])", "tf.constant([1,2])", "[[1]]"))

    def attribute(self):
        r, d, s, u = self.r, self.r.choice(DTYPES), self.dimensions(), self.dimensions()
        one = r.choice("""shape dtype ndim name op graph device get_shape() numpy() __array__() __array__("float64") __array__(dtype="int8") T
            astype("int32") ravel() transpose() reshape([-1]) clip(1,2) size tolist() data shape.rank shape.as_list() __len__() backing_device
            shape[0] shape[-1] shape[5] shape[0:2] set_shape([2]) set_shape([None]) set_shape(None) set_shape([]) set_shape("a") consumers()
            eval() ref() __array_priority__ cpu() gpu() is_tensor_like value_index foo _shape_tuple() _rank() __index__()
            __round__() __getitem__(0) __setitem__(0,1) experimental_ref() __bool__() __dict__ get_shape().as_list() dtype.name
            __setattr__("shape",[1]) __setattr__("foo",1) __delattr__("dtype") __copy__() __deepcopy__({}) __invert__() __complex__() mean()
            __radd__(1) __rsub__(1.5) __add__("a") __eq__(None) __ne__(1) __lt__(None) __pow__(2) __matmul__(1) __rmatmul__([[1]]) __and__(True)
            __sizeof__()>0 __format__("") __format__(".1f") __array__(int) item() copy() sum() max() any() real imag""".split())
        shape_one = r.choice("""rank ndims dims as_list() num_elements() is_fully_defined() assert_is_fully_defined() unknown_shape()
            assert_has_rank(2) with_rank(1) with_rank(2) with_rank_at_least(1) with_rank_at_most(1) [0] [-1] [4] [0:1] [1:] [::2] [:-1] ['a']
            __len__() __bool__() __hash__()!=0 __str__() __repr__() foo [None] [True] [1:5] with_rank(None) [::-1]
            as_list __contains__(2) index(1) count(2) _dims is_subtype_of(3) rank+1 with_rank("a") with_rank_at_least(None) __setitem__(0,1) __int__()""".split())
        shape_two = r.choice("""merge_with(b) concatenate(b) is_compatible_with(b) assert_is_compatible_with(b) assert_same_rank(b)
            most_specific_compatible_shape(b) is_subtype_of(b) most_specific_common_supertype([b]) __add__(b) __radd__(b) __eq__(b) __ne__(b)
            __concat__(b) __lt__(b) __mul__(b)""".split())
        kind = r.choice("""min max limits size name is_floating is_integer is_complex is_bool is_numeric is_unsigned is_quantized as_numpy_dtype
            as_datatype_enum real_dtype base_dtype is_compatible_with("float32") is_compatible_with(tf.int32) __hash__()!=0 __str__() __repr__()
            __int__() is_numpy_compatible foo _is_ref_dtype is_subtype_of(tf.float32) most_specific_common_supertype([tf.int32])
            __call__() base_dtype.name is_signed __len__() priority""".split())
        spec = r.choice((f"tf.TensorSpec({s}, {d})", f"tf.TensorSpec({s})", f"tf.TensorSpec({s}, {d}, 'n')", f"tf.TensorSpec(shape={s}, dtype=tf.float32)"))
        spec_one = r.choice(("shape", "dtype", "name", "__repr__()", "is_compatible_with(a)", f"is_compatible_with({spec})", f"is_subtype_of({spec})",
                             f"most_specific_compatible_type({spec})", "value_type", "rank", f"__eq__({spec})", "__hash__() != 0", "foo", "_to_components(a)",
                             f"most_specific_common_supertype([{spec}])", "from_tensor(a)", "from_spec(tf.TensorSpec([1]))",
                             "shape.rank", "dtype.name", "__ne__(3)", "from_tensor(a, 'q')", "placeholder_value(None)", "cast(a, None)"))
        return r.choice((
            lambda: (f"a.{one}", [self.tensor()]),
            lambda: (f"a.{one}", [self.tensor()]),
            lambda: (f"tf.TensorShape({s})" + (shape_one if shape_one[0] == "[" else "." + shape_one), []),
            lambda: (f"(lambda b: tf.TensorShape({s}).{shape_two})({r.choice((u, f'tf.TensorShape({u})', 'a.shape'))})", [self.tensor()]),
            lambda: (f"tf.TensorShape({s}) {r.choice(COMPARE + ARITHMETIC)} {r.choice((u, f'tf.TensorShape({u})'))}", []),
            lambda: (f"{u} {r.choice(COMPARE + ['+'])} tf.TensorShape({s})", []),
            lambda: (f"tf.dtypes.as_dtype({d}).{kind}", []),
            lambda: (f"({d}).{kind}", []),
            lambda: (f"tf.as_dtype({d}) {r.choice(COMPARE)} {r.choice(DTYPES)}", []),
            lambda: (f"{d} {r.choice(('==', '!='))} {r.choice(DTYPES)}", []),
            lambda: (f"{spec}.{spec_one}", [self.tensor()]),
            lambda: (f"tf.{r.choice(('TensorSpec', 'TensorShape', 'as_dtype', 'DType'))}(a)", [self.any()]),
            lambda: (f"tf.TensorShape(a).{shape_one}" if shape_one[0] != "[" else f"tf.TensorShape(a){shape_one}", [self.any()]),
            lambda: (f"tf.broadcast_static_shape(tf.TensorShape({s}), tf.TensorShape({u}))", []),
            lambda: (f"tf.broadcast_dynamic_shape({s}, {u})", []),
        ))()

    def raw(self):
        r, (a, b) = self.r, self.pair()
        binary = r.choice("""AddV2 Add Sub Mul RealDiv Div FloorDiv FloorMod Mod Maximum Minimum Pow SquaredDifference Less LessEqual Greater
            GreaterEqual Equal NotEqual LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift TruncateDiv TruncateMod
            Atan2 DivNoNan MulNoNan Xdivy Xlogy ApproximateEqual""".split())
        unary = r.choice("""Neg Abs Sign Square Sqrt Exp Log Sin Tanh Floor Ceil Round Rint Sigmoid Reciprocal IsNan Relu Elu Invert Inv LogicalNot
            Identity Shape Size Rank ZerosLike OnesLike Softmax L2Loss Conj Real Imag ComplexAbs Snapshot StopGradient Erf Softplus""".split())
        axis = r.choice(("0", "[0]", "-1", "1", "9", "[0, 0]", "tf.constant(0, tf.int64)", "0.5", "None", "[]", "True", "'a'"))
        s = r.choice(SHAPES)
        return r.choice((
            lambda: (f"tf.raw_ops.{binary}(x=a, y=b)", [a, b]),
            lambda: (f"tf.raw_ops.{binary}(x=a, y=b)", [a, b]),
            lambda: (f"tf.raw_ops.{unary}({r.choice(('x', 'x', 'x', 'input', 'features', 'logits', 'tensor', 't'))}=a)", [a]),
            lambda: (f"tf.raw_ops.{binary}({r.choice(('x=a', 'y=b', 'a, b', 'x=a, y=b, z=1', 'x=a, y=b, name=3', 'x=a, y=b, name=None', 'x=a, y=None'))})", [a, b]),
            lambda: (f"tf.raw_ops.{r.choice(('Sum', 'Mean', 'Max', 'Prod', 'Any', 'All'))}(input=a, axis={axis}, keep_dims={r.choice(('True', '1', 'None', '0.5'))})", [a]),
            lambda: (f"tf.raw_ops.Cast(x=a, DstT={r.choice(DTYPES)})", [a]),
            lambda: (f"tf.raw_ops.Reshape(tensor=a, shape={s})", [a]),
            lambda: (f"tf.raw_ops.Fill(dims={s}, value=a)", [a]),
            lambda: (f"tf.raw_ops.ConcatV2(values=[a, b], axis={axis})", [a, b]),
            lambda: (f"tf.raw_ops.Pack(values=[a, b], axis={axis})", [a, b]),
            lambda: (f"tf.raw_ops.Pack(values=a, axis={axis})", [a]),
            lambda: (f"tf.raw_ops.Unpack(value=a, num={r.choice(('1', '2', '0', '-1', 'None'))}, axis={axis})", [a]),
            lambda: (f"tf.raw_ops.Transpose(x=a, perm={r.choice(('[0]', '[1, 0]', '[0, 1]', '[0, 0]', '[2, 0, 1]', '[]', '[-1, 0]'))})", [a]),
            lambda: (f"tf.raw_ops.ExpandDims(input=a, axis={axis})", [a]),
            lambda: (f"tf.raw_ops.Squeeze(input=a, axis={axis})", [a]),
            lambda: (f"tf.raw_ops.Range(start={axis}, limit={r.choice(('3', '2.5', '[4]', '-1', 'None', 'True', 'np.uint8(3)', 'tf.constant(3, tf.int64)'))}, delta=1)", []),
            lambda: (f"tf.raw_ops.MatMul(a=a, b=b, transpose_a={r.choice(('True', 'False', '1', 'None'))})", [a, b]),
            lambda: (f"tf.raw_ops.SelectV2(condition={r.choice(SCALARS)}, t=a, e=b)", [a, b]),
            lambda: (f"tf.raw_ops.GatherV2(params=a, indices=b, axis={axis})", [a, self.value(r.choice(INTS))]),
            lambda: (f"tf.raw_ops.Slice(input=a, begin={r.choice(('[0]', '[0, 0]', '0', '[1]', '[-1]', '[]'))}, size={s})", [a]),
            lambda: (f"tf.raw_ops.Tile(input=a, multiples={s})", [a]),
            lambda: (f"tf.raw_ops.BroadcastTo(input=a, shape={s})", [a]),
            lambda: (f"tf.raw_ops.OneHot(indices=a, depth={axis}, on_value=1, off_value={r.choice(SCALARS)})", [a]),
            lambda: (f"tf.raw_ops.ArgMax(input=a, dimension={axis}, output_type={r.choice(DTYPES)})", [a]),
            lambda: (f"tf.raw_ops.AddN(inputs={r.choice(('[a, b]', '[a]', '[]', 'a', '[a, None]'))})", [a, b]),
        ))()

    def next(self):
        name = self.r.choice("operator operator operator index index convert convert convert variable attribute raw".split())
        return self.call("face", name, *getattr(self, name)())

    def call(self, kind, name, code, args):
        """The call as data. It is eager or in a graph; those that TensorFlow's graphs rewrite or do not check are always eager."""
        whole = "; ".join([code, *args])
        if WRONG.search(whole):
            self.left_out[f"{kind}: calls that TensorFlow gets wrong itself (WRONG)"] += 1
            return self.next()
        mode = "eager" if "tf.Variable(" in code or self.r.random() < 0.7 else self.r.choice(("graph", "graph", "open"))
        if mode != "eager" and (UNSEEN.search(code) or IDLE.search(whole) or is_rewritten(whole)):
            self.left_out[f"{kind}: in a graph, what TensorFlow's graphs rewrite or do not check (UNSEEN, IDLE)"] += 1
            mode = "eager"
        if mode == "open" and REARRANGED.search(whole):
            self.left_out[f"{kind}: with open sizes, what TensorFlow rearranges (REARRANGED)"] += 1
            mode = "graph"
        return {"name": f"{kind}.{name}" + ("" if mode == "eager" else f".{mode}"), "code": code, "args": args, "mode": mode}


# ---- running the calls -----------------------------------------------------------------------------------------------------

def numbers(dtype, dims, seed, odd=False):
    rng = np.random.default_rng(seed)
    if dtype == "string":
        return np.asarray([b"", b"a", b"bc", b"a"], dtype=object)[rng.integers(0, 4, dims)]
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, dims).astype(bool))
    if "int" in dtype:
        a, ends = np.asarray(rng.integers(0 if dtype[0] == "u" else -3, 5, dims)).astype(dtype), np.iinfo(dtype)
        if odd and a.size:
            a.reshape(-1)[0] = rng.choice([ends.max, ends.min, 0])
        return a
    a = np.asarray(np.round(rng.uniform(-3, 4, dims), 1))
    if "complex" in dtype:
        return np.asarray(a + 1j * np.round(rng.uniform(-2, 2, dims), 1)).astype(dtype)
    if odd and a.size:
        a.reshape(-1)[0] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    return a.astype("float32" if dtype == "bfloat16" else dtype)


def scene(tf):
    """The names that an expression can use."""
    def tensor(dtype, dims, seed, odd=False):
        return tf.constant(numbers(dtype, dims, seed, odd), dtype)

    def array(dtype, dims, seed, odd=False):
        return numbers(dtype, dims, seed, odd).astype(tf.as_dtype(dtype).as_numpy_dtype)

    def number(dtype, dims, seed, odd=False):
        return array(dtype, dims, seed, odd)[()]

    def nested(dtype, dims, seed, odd=False):
        return numbers(dtype, dims, seed, odd).tolist()

    def variable(*args):
        return tf.Variable(tensor(*args))

    return {"tf": tf, "np": np, "operator": operator, "T": tensor, "A": array, "N": number, "L": nested, "V": variable}


def evaluate(tf, call):
    """The leaves of the result of the call's expression."""
    names = scene(tf)
    args = [eval(text, dict(names)) for text in call["args"]]
    f = eval(f"lambda {', '.join('abc'[:len(args)])}: {call['code']}", names)
    if call["mode"] == "eager" or any(isinstance(a, (set, frozenset, slice, dict)) for a in args):  # no arguments of functions
        return leaves(tf, f(*args))
    if call["mode"] == "open":
        signature = [tf.TensorSpec([None] * len(a.shape), a.dtype) if tf.is_tensor(a) and not isinstance(a, tf.Variable) else None for a in args]
        if signature and None not in signature:
            return leaves(tf, tf.function(f, autograph=False, input_signature=signature)(*args))
    return leaves(tf, tf.function(f, autograph=False)(*args))


def leaves(tf, v, depth=0):
    """A value as a list of [kind, shape, data]; kinds that begin with '=' have no shape and are compared as text."""
    if isinstance(v, (list, tuple)) and type(v) in (list, tuple) and depth < 4:
        return [[f"={type(v).__name__}", [], str(len(v))]] + [leaf for e in v for leaf in leaves(tf, e, depth + 1)]
    if isinstance(v, (tf.Tensor, tf.Variable)):
        kind = "Variable" if isinstance(v, tf.Variable) else "Tensor"
        if not hasattr(v, "numpy"):
            return [[f"=symbolic {kind}", [], f"{v.dtype.name} {v.shape}"]]
        return [packed(kind, v.dtype.name, v.numpy())]
    if isinstance(v, tf.IndexedSlices):
        return leaves(tf, [v.values, v.indices], depth)
    if isinstance(v, tf.SparseTensor):
        return leaves(tf, [v.indices, v.values, v.dense_shape], depth)
    if isinstance(v, tuple) and hasattr(v, "_fields") and depth < 4:
        return [[f"={type(v).__name__}", [], str(v._fields)]] + [leaf for e in v for leaf in leaves(tf, e, depth + 1)]
    if isinstance(v, (np.ndarray, np.generic)):
        return [packed(type(v).__name__, v.dtype.name, v)]
    if isinstance(v, (float, complex)):
        return [packed(type(v).__name__, np.asarray(v).dtype.name, v)]
    if v is None or isinstance(v, (bool, int, str, bytes)) or type(v).__name__ in ("DType", "TensorShape", "TensorSpec", "dtype"):
        return [[f"={type(v).__name__}", [], repr(v)]]
    return [[f"={type(v).__name__}", [], ""]]


def packed(kind, name, v):
    a = np.asarray(v)
    if a.dtype.kind in "OSUMmV" and name not in ("bfloat16",) or a.dtype.itemsize > 16 or "float8" in name or "int4" in name or "q" in name:
        return [f"={kind} {name}", list(a.shape), repr(a.tolist())]
    if name == "bfloat16":
        a = a.astype("float32")
    return [f"{kind} {name}", list(a.shape), base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()]
