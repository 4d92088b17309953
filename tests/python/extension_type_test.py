"""Extension types: fields and their annotations, specs, equality, and every place where a structure of tensors may stand.
The expected values, messages and classes of exceptions are TensorFlow's."""
import copy
import inspect
import pickle
import typing
from typing import Mapping, Optional, Tuple, Union

import evenflow as tf
import pytest

Base = tf.experimental.ExtensionType


class Masked(Base):
    values: tf.Tensor
    mask: tf.Tensor

    def __add__(self, other):
        return Masked(self.values + other, self.mask)


class Defaults(Base):
    a: int
    b: float = 2.5
    s: str = "x"
    t: tf.Tensor = 3


class Net(Base):
    name: str
    inner: Masked
    more: Mapping[str, tf.Tensor]
    pair: Tuple[tf.Tensor, int]


class Point(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    y: tf.Tensor


class Uneven(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    rows: tf.RaggedTensor


class Shaped(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    shape: tf.TensorShape


M = Masked([1.0, 2.0], [True, False])
NET = Net("n", M, {"b": [1], "a": 2.0}, (3, 4))
P = Point([1.0, 2.0, 3.0], [[1, 2], [3, 4], [5, 6]])
SPEC = Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))


def lists(m):
    return m.values.numpy().tolist(), m.mask.numpy().tolist()


def make(annotations, **names):
    return type("C", (Base,), {"__annotations__": annotations, **names})


# ---- fields ----------------------------------------------------------------------------------------------------------


def test_construction():
    assert repr(Defaults(1)) == "Defaults(a=1, b=2.5, s='x', t=<tf.Tensor: shape=(), dtype=int32, numpy=3>)"
    for args, kwargs, text in (((), {}, "missing a required argument: 'a'"), ((1, 2.0, "s", 4, 5), {}, "too many positional arguments"),
                               ((1,), {"q": 3}, "unexpected keyword argument 'q'"), ((1,), {"a": 2}, "multiple values for argument 'a'"),
                               ((1,), {"b": 3}, "b: expected 'float', got 'int'"), (("1",), {}, "a: expected 'int', got 'str'")):
        with pytest.raises(TypeError, match=text):
            Defaults(*args, **kwargs)
    assert str(inspect.signature(Defaults.Spec)).startswith("(a, b, s, t)")
    assert list(inspect.signature(Defaults).parameters) == ["a", "b", "s", "t"]
    with pytest.raises(AssertionError, match="abstract base class"):
        Base()


def test_nothing_changes_after_construction():
    for name in ("values", "other"):
        with pytest.raises(AttributeError, match=f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."):
            setattr(M, name, 1)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `values`"):
        del M.values
    with pytest.raises(AttributeError, match="outside the custom constructor of ExtensionTypeSpec"):
        M._type_spec.values = 1
    with pytest.raises(AttributeError, match="'Masked' object has no attribute 'foo'"):
        M.foo


@pytest.mark.parametrize("kind, given, text", [
    (Mapping[str, int], {"a": 1}, "ImmutableDict({'a': 1})"), (Tuple[int, ...], [1, 2], "(1, 2)"),
    (Union[int, tf.Tensor], 1, "1"), (Union[str, tf.Tensor], 1, "<tf.Tensor: shape=(), dtype=int32, numpy=1>"),
    (Optional[tf.Tensor], None, "None"), (tf.TensorShape, [1, 2], "TensorShape([1, 2])"), (tf.DType, "float32", "tf.float32"),
    (tuple[tf.Tensor, int], (1, 2), "(<tf.Tensor: shape=(), dtype=int32, numpy=1>, 2)"), (None, None, "None"), (int, True, "True"),
    (Mapping[str, Tuple[int, str]], {"a": (1, "b")}, "ImmutableDict({'a': (1, 'b')})"),
])
def test_fields_become_what_their_annotation_says(kind, given, text):
    assert repr(make({"x": kind})(given).x) == text


@pytest.mark.parametrize("kind, given, text", [
    (Union[str, int], 1.5, r"x: expected typing.Union\[str, int\], got 'float'"), (Tuple[int, int], (1, 2, 3), "expected tuple with length 2"),
    (tf.RaggedTensor, [1], "x: expected 'RaggedTensor', got 'list'"), (Masked, 1, "x: expected 'Masked', got 'int'"),
    (float, 1, "x: expected 'float', got 'int'"), (str, b"a", "x: expected 'str', got 'bytes'"),
    (tf.Tensor, object(), "x: expected a Tensor, got 'object'"), (tf.TensorShape, "q", "x: expected 'tf.TensorShape', got 'str'"),
    (Mapping[str, int], {"a": "b"}, r"x\['a'\]: expected 'int', got 'str'"), (Mapping[str, int], [1], "x: expected mapping, got 'list'"),
    (Tuple[int, int], 5, "x: expected tuple, got 'int'"),
])
def test_wrong_values(kind, given, text):
    with pytest.raises(TypeError, match=text):
        make({"x": kind})(given)


@pytest.mark.parametrize("annotations, names, error, text", [
    ({"x": dict}, {}, TypeError, "In field 'x': Unsupported type annotation 'dict'"),
    ({"x": typing.List[int]}, {}, TypeError, r"Unsupported type annotation typing.List\[int\]"),
    ({"x": tf.TensorSpec([2], tf.int64)}, {}, TypeError, "Unsupported type annotation TensorSpec"),
    ({"x": int}, {"x": "a"}, TypeError, "default value for x: expected 'int', got 'str'"),
    ({"Spec": int}, {}, ValueError, "The field annotations for C are invalid. Field 'Spec' is reserved."),
    ({"self": int}, {}, ValueError, "Field 'self' is reserved"), ({"_tf_extension_type_q": int}, {}, ValueError, "is reserved"),
    ({}, {"_type_spec": 3}, ValueError, "Field '_type_spec' is reserved."),
])
def test_wrong_classes(annotations, names, error, text):
    with pytest.raises(error, match=text):
        make(annotations, **names)


def test_validation_and_constructors_of_the_user():
    class Vector(Base):
        x: tf.Tensor

        def __validate__(self):
            if self.x.shape.rank != 1:
                raise ValueError("rank must be 1")

    class Own(Base):
        x: tf.Tensor
        y: tf.Tensor

        def __init__(self, x):
            self.x = x
            self.y = tf.constant(2) * x

    class Lacking(Base):
        x: tf.Tensor
        y: tf.Tensor

        def __init__(self, x):
            self.x = x

    class Other(Base):
        x: tf.Tensor

        def __init__(self, x):
            self.z = x

    class Sub(Masked):
        b: int = 7

    assert Vector([1]).x.shape == [1] and Own(3).y.numpy() == 6 and isinstance(Own(3).x, tf.Tensor)
    with pytest.raises(ValueError, match="rank must be 1"):
        Vector(1)
    with pytest.raises(ValueError, match="Missing required fields: {'y'}"):
        Lacking(1)
    with pytest.raises(AttributeError, match="Cannot mutate attribute `z`"):
        Other(1)
    assert Sub([1.0], [True]).b == 7 and list(tf.experimental.extension_type.as_dict(Sub([1.0], [True]))) == ["values", "mask", "b"]


def test_equality_copies_and_pickles():
    same = M == Masked([1.0, 2.0], [True, False])
    assert isinstance(same, tf.Tensor) and same.numpy() and not (M != Masked([1.0, 2.0], [True, False])).numpy()
    assert not (M == Masked([1.0, 3.0], [True, False])).numpy()
    assert (M == Masked([1, 2], [True, False])) is False and (M == 3) is False and (Defaults(1) == Defaults(2)) is False
    with pytest.raises(TypeError, match="unhashable type: 'Masked'"):
        hash(M)
    for other in (copy.copy(M), copy.deepcopy(M), pickle.loads(pickle.dumps(M))):
        assert (other == M).numpy() and other._type_spec == M._type_spec
    assert (pickle.loads(pickle.dumps(NET)) == NET).numpy()
    assert pickle.loads(pickle.dumps(NET._type_spec)) == NET._type_spec


# ---- specs -----------------------------------------------------------------------------------------------------------


def test_specs():
    spec = Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool))
    assert tf.type_spec_from_value(M) == M._type_spec == spec and hash(spec) == hash(M._type_spec)
    assert repr(spec) == ("Masked.Spec(values=TensorSpec(shape=(2,), dtype=tf.float32, name=None), "
                          "mask=TensorSpec(shape=(2,), dtype=tf.bool, name=None))")
    assert spec.value_type is Masked and SPEC.is_compatible_with(M) and spec.is_subtype_of(SPEC)
    longer = Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool))
    assert spec.most_specific_compatible_type(longer) == SPEC
    with pytest.raises(TypeError, match="values: expected a TensorSpec, got 'int'"):
        Masked.Spec(1, 2)
    assert [t.shape.as_list() for t in tf.nest.flatten(NET, expand_composites=True)] == [[2], [2], [], [1], []]
    assert lists(tf.nest.map_structure(lambda t: t, M, expand_composites=True)) == ([1.0, 2.0], [True, False])


def test_a_spec_of_the_user():
    class Sized(Base):
        values: tf.Tensor
        shape: tf.TensorShape

        class Spec:
            def __init__(self, shape, dtype=tf.float32):
                self.values = tf.TensorSpec(shape, dtype)
                self.shape = shape

            @property
            def dtype(self):
                return self.values.dtype

    assert Sized([1.0, 2.0], [2])._type_spec == Sized.Spec([2]) and Sized.Spec([2]).dtype is tf.float32


# ---- where structures of tensors stand -------------------------------------------------------------------------------


def test_in_functions():
    traces = []

    @tf.function
    def f(a):
        traces.append(1)
        return a + 1.0

    assert lists(f(M)) == ([2.0, 3.0], [True, False]) and lists(f(Masked([3.0, 4.0], [True, True])))[0] == [4.0, 5.0]
    assert len(traces) == 1
    for size in (3, 1, 5, 7):
        assert lists(f(Masked([1.0] * size, [True] * size)))[0] == [2.0] * size
    assert len(traces) <= 3  # the second size makes a trace for all
    signed = tf.function(lambda a: (a.values * 2.0, a), input_signature=[SPEC])
    assert signed(M)[0].numpy().tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match="Can not cast"):
        signed(Masked([1], [True]))
    assert lists(f.get_concrete_function(SPEC)(M))[0] == [2.0, 3.0]
    assert lists(tf.function(lambda: M + 2.0)())[0] == [3.0, 4.0]
    net = tf.function(lambda a: Net(a.name + "!", a.inner + a.more["a"], a.more, a.pair))(NET)
    assert net.name == "n!" and lists(net.inner)[0] == [3.0, 4.0] and net.pair[1] == 4
    assert tf.function(lambda a, b: a == b)(M, M).numpy()


def test_in_control_flow():
    cond = tf.function(lambda x, a: tf.cond(x > 0, lambda: a, lambda: a + 1.0))
    assert lists(cond(tf.constant(1), M))[0] == [1.0, 2.0] and lists(cond(tf.constant(-1), M))[0] == [2.0, 3.0]
    assert lists(tf.cond(tf.constant(False), lambda: M, lambda: M + 1.0))[0] == [2.0, 3.0]
    with pytest.raises(TypeError, match="true_fn and false_fn"):
        tf.function(lambda x, a: tf.cond(x, lambda: a, lambda: Masked(1, True)))(tf.constant(True), M)

    def loop(a):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + 1.0), [tf.constant(0), a])[1]

    assert lists(loop(M))[0] == lists(tf.function(loop)(M))[0] == [4.0, 5.0]

    @tf.function
    def by_autograph(x, a):
        if x > 0:
            a = a + 10.0
        for _ in tf.range(3):
            a = a + 1.0
        return a

    assert lists(by_autograph(tf.constant(1), M))[0] == [14.0, 15.0]
    assert lists(tf.function(lambda i, a: tf.switch_case(i, [lambda: a, lambda: a + 5.0]))(tf.constant(1), M))[0] == [6.0, 7.0]


def test_under_tapes():
    def gradient(a):
        with tf.GradientTape() as tape:
            tape.watch(a.values)
            y = tf.reduce_sum((a + 1.0).values ** 2)
        return tape.gradient(y, a.values)

    assert gradient(M).numpy().tolist() == tf.function(gradient)(M).numpy().tolist() == [4.0, 6.0]
    with tf.GradientTape() as tape:
        tape.watch(M)
        y = tf.reduce_sum(M.values**2)
    with pytest.raises(ValueError, match="Type Masked is not supported as a gradient source or gradient target."):
        tape.gradient(y, M)


class _OfValues:
    def get_gradient_components(self, value):
        return value.values

    def replace_gradient_components(self, value, component_grads):
        return Flowing(component_grads)


class Flowing(Base):
    values: tf.Tensor
    __composite_gradient__ = _OfValues()


def test_a_class_that_has_gradients():
    x = Flowing([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Flowing(x.values**2)
    made = tape.gradient(y, x)
    assert isinstance(made, Flowing) and made.values.numpy().tolist() == [2.0, 6.0]


def test_maps():
    def moved(a):
        return Point(a.x + 1.0, a.y * 2)

    for made in (tf.map_fn(moved, P), tf.function(lambda p: tf.map_fn(moved, p))(P), tf.vectorized_map(moved, P)):
        assert made.x.numpy().tolist() == [2.0, 3.0, 4.0] and made.y.numpy().tolist() == [[2, 4], [6, 8], [10, 12]]
    assert tf.map_fn(lambda a: a.x * 2.0, P, fn_output_signature=tf.float32).numpy().tolist() == [2.0, 4.0, 6.0]
    uneven = Uneven([1.0, 2.0], tf.ragged.constant([[1], [2, 3]]))
    total = tf.map_fn(lambda a: a.x + tf.cast(tf.reduce_sum(a.rows), tf.float32), uneven, fn_output_signature=tf.float32)
    assert total.numpy().tolist() == [2.0, 7.0]
    made = tf.map_fn(lambda a: Shaped(a.values * 2.0, a.shape), Shaped([[1.0, 2.0], [3.0, 4.0]], [2, 2]))
    assert made.shape.as_list() == [2, 2] and made.values.numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    with pytest.raises(TypeError, match="map_fn can not consume Masked.Spec"):
        tf.map_fn(lambda a: a.values, M, fn_output_signature=tf.float32)
    with pytest.raises(TypeError, match="map_fn can not generate Masked.Spec"):
        tf.map_fn(lambda x: Masked(x, x > 1), tf.constant([1.0]),
                  fn_output_signature=Masked.Spec(tf.TensorSpec([]), tf.TensorSpec([], tf.bool)))
    with pytest.raises(ValueError):
        tf.vectorized_map(lambda a: a.values, M)


def test_batches():
    assert P._type_spec._unbatch() == Point.Spec(tf.TensorSpec([]), tf.TensorSpec([2], tf.int32))
    assert P._type_spec._batch(4) == Point.Spec(tf.TensorSpec([4, 3]), tf.TensorSpec([4, 3, 2], tf.int32))
    assert Shaped([[1.0, 2.0]], [1, 2])._type_spec._unbatch().shape.as_list() == [2]
    with pytest.raises(AttributeError, match="'Masked.Spec' object has no attribute '_batch'"):
        M._type_spec._batch(2)


class _Halved(tf.experimental.ExtensionTypeBatchEncoder):
    """Keeps a scale that all values of a batch share out of the batch."""

    def batch(self, spec, batch_size):
        return Scaled.Spec(spec.values._batch(batch_size), spec.scale)

    def unbatch(self, spec):
        return Scaled.Spec(spec.values._unbatch(), spec.scale)

    def encode(self, spec, value, minimum_rank=0):
        return [value.values / 2.0]

    def decode(self, spec, encoded_value):
        return Scaled(encoded_value[0] * 2.0, spec.scale)

    def encoding_specs(self, spec):
        return [spec.values]


class Scaled(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    scale: float
    __batch_encoder__ = _Halved()


def test_an_encoder_of_the_user():
    made = tf.map_fn(lambda a: Scaled(a.values * a.scale, a.scale), Scaled([1.0, 2.0], 10.0))
    assert made.values.numpy().tolist() == [10.0, 20.0] and made.scale == 10.0


def test_in_datasets():
    rows = tf.data.Dataset.from_tensor_slices(P)
    assert rows.element_spec == P._type_spec._unbatch()
    assert [(a.x.numpy(), a.y.numpy().tolist()) for a in rows] == [(1.0, [1, 2]), (2.0, [3, 4]), (3.0, [5, 6])]
    assert [a.x.numpy().tolist() for a in rows.map(lambda a: Point(a.x * 2.0, a.y)).batch(2)] == [[2.0, 4.0], [6.0]]
    assert [a.x.numpy() for a in rows.filter(lambda a: a.x > 1.0)] == [2.0, 3.0]
    assert [lists(a)[0] for a in tf.data.Dataset.from_tensors(M)] == [[1.0, 2.0]]
    assert [lists(a) for a in tf.data.Dataset.range(2).map(lambda i: Masked(tf.cast(i, tf.float32), i > 0))] == [(0.0, False), (1.0, True)]
    assert rows.reduce(0.0, lambda s, a: s + a.x).numpy() == 6.0
    with pytest.raises(AttributeError):
        tf.data.Dataset.from_tensor_slices(M)


def test_plain_functions():
    assert lists(tf.identity(M))[0] == [1.0, 2.0] and not tf.is_tensor(M)
    with pytest.raises(ValueError, match="Attempt to convert a value .* with an unsupported type"):
        tf.convert_to_tensor(M)

    class Convertible(Base):
        x: tf.Tensor

        def __tf_tensor__(self, dtype=None, name=None):
            return self.x

    assert tf.add(Convertible(1), 2).numpy() == 3


class Weighted(Base):
    weight: tf.Variable
    mask: tf.Tensor

    def total(self):
        return tf.reduce_sum(self.weight * self.mask)


def test_a_field_may_hold_a_variable():
    one = Weighted(tf.Variable([1., 2.]), [3., 4.])
    other = Weighted(tf.Variable([5., 6.]), [3., 4.])
    assert isinstance(one.weight, tf.Variable) and one.total().numpy() == 11
    spec = tf.type_spec_from_value(one)
    assert spec.weight.shape == [2] and spec.weight.trainable and spec.weight.value_type is tf.Variable

    @tf.function
    def grow(x):
        x.weight.assign_add([1., 1.])
        return x.total()

    assert [grow(one).numpy(), grow(other).numpy(), grow(one).numpy()] == [18, 46, 25]
    assert one.weight.numpy().tolist() == [3, 4] and other.weight.numpy().tolist() == [6, 7]
    with tf.GradientTape() as tape:
        total = one.total()
    assert tape.gradient(total, one.weight).numpy().tolist() == [3, 4]
    assert [type(t) for t in tf.nest.flatten(one, expand_composites=True)][0] is tf.Variable
    with pytest.raises(TypeError, match="weight: expected 'ResourceVariable', got"):
        Weighted(tf.constant([1., 2.]), [3., 4.])
