"""Type dispatch: every function that TensorFlow dispatches on ragged and sparse tensors takes one, and a user's classes are
asked where arguments do not convert (dispatch_cases.py has the calls and TensorFlow's answers)."""
import json
import pathlib
import typing

import evenflow as tf
import pytest
from dispatch_cases import cases, names_for, outcome, same
from evenflow._src import dispatch, elementwise

REFERENCE = json.loads((pathlib.Path(__file__).parent / "dispatch_reference.json").read_text())
NAMES = names_for(tf)
VALUES = {k: v for k, v in NAMES.items() if k != "tf"}

# Functions that Evenflow does not have yet, and the shape of a ragged tensor, which is a class of its own.
ABSENT = ("tf.strings.unicode_script", "tf.strings.unicode_transcode", "tf.compat.v1.shape")
CASES = [line for line in cases() if not line.startswith(ABSENT)]


@pytest.mark.parametrize("line", CASES)
def test_eagerly(line):
    found = outcome(tf, lambda: eval(line, dict(NAMES)))
    assert same(found, REFERENCE[line]), f"{found} instead of {REFERENCE[line]}"


@pytest.mark.parametrize("line", [c for c in CASES if REFERENCE[c] is not None and REFERENCE[c][:1] != ["raises"]])
def test_in_a_function(line):
    call = tf.function(lambda values: eval(line, {**values, "tf": tf}), autograph=False)
    found = outcome(tf, lambda: call(VALUES))
    assert same(found, REFERENCE[line]), f"{found} instead of {REFERENCE[line]}"


def test_the_cases_are_complete():
    called = {line.split("(")[0].removeprefix("tf.") for line in cases()}
    for name in (*elementwise.UNARY, *elementwise.BINARY, *elementwise.ASSERTS):
        assert name in called, name


# ---- a user's classes ------------------------------------------------------------------------------------------------


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


def masked(values=(1.0, 2.0), mask=(True, False)):
    return Masked(values, mask)


@pytest.fixture
def registered():
    """Registers handlers and takes them back afterwards."""
    made = []

    def register(decorator):
        def note(handler):
            made.append(decorator(handler))
            return made[-1]

        return note

    yield register
    for handler in made:
        tf.experimental.unregister_dispatch_for(handler)
    assert not dispatch.targets


def asking(name):
    """A public function by its name."""
    found = tf
    for word in name.split("."):
        found = getattr(found, word)
    return found


MORE = {  # arguments behind the first for functions that need them
    "cast": (tf.int32,), "clip_by_value": (0.0, 1.0), "debugging.check_numerics": ("m",), "dtypes.saturate_cast": (tf.int8,),
    "image.adjust_brightness": (0.5,), "image.convert_image_dtype": (tf.uint8,), "image.random_brightness": (0.5,),
    "image.stateless_random_brightness": (0.5, [1, 2]), "math.nextafter": (1.0,), "strings.regex_full_match": ("a",),
    "strings.regex_replace": ("a", "b"), "strings.substr": (0, 1), "strings.to_hash_bucket": (3,),
    "compat.v1.strings.substr": (0, 1), "compat.v1.substr": (0, 1), "compat.v1.strings.to_hash_bucket": (3,),
    "strings.to_hash_bucket_fast": (3,), "strings.to_hash_bucket_strong": (3, [1, 2]),
}


@pytest.mark.parametrize("name", elementwise.UNARY)
def test_every_unary_function_asks(registered, name):
    value = masked()

    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(Masked))
    def handler(api, x):
        return "asked", x

    assert asking(name)(value, *MORE.get(name, ())) == ("asked", value)


@pytest.mark.parametrize("name", [*elementwise.BINARY, *elementwise.ASSERTS])
def test_every_binary_function_asks_with_its_own_arguments(registered, name):
    value, number = masked(), 2.5
    decorator = (tf.experimental.dispatch_for_binary_elementwise_assert_apis if "assert" in name
                 else tf.experimental.dispatch_for_binary_elementwise_apis)
    either = typing.Union[Masked, float]

    @registered(decorator(either, either))
    def handler(api, x, y):
        return x, y

    for pair in ((value, value), (value, number), (number, value)):
        x, y = asking(name)(*pair)
        assert x is pair[0] and y is pair[1]


def test_the_handler_gets_a_function_of_the_first_argument(registered):
    @registered(tf.experimental.dispatch_for_unary_elementwise_apis(Masked))
    def handler(api, x):
        return Masked(api(x.values), x.mask)

    made = tf.cast(masked(), tf.int32)
    assert made.values.numpy().tolist() == [1, 2] and made.values.dtype is tf.int32
    assert tf.ones_like(masked(), dtype=tf.int64).values.numpy().tolist() == [1, 1]
    assert tf.clip_by_value(masked(), 1.5, 3.0).values.numpy().tolist() == [1.5, 2.0]
    with pytest.raises(ValueError, match="already been registered for <class"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(handler)


def test_signatures_decide(registered):
    @registered(tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Masked]}))
    def concat(values, axis):
        return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))

    assert tf.concat([masked(), masked()], 0).values.numpy().tolist() == [1, 2, 1, 2]
    assert tf.concat((masked(), masked()), axis=0, name="joined").mask.shape == [4]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.concat([masked(), tf.constant([1.0])], 0)

    @registered(tf.experimental.dispatch_for_api(tf.reduce_sum))
    def reduce_sum(input_tensor: Masked, axis=None, keepdims=False):
        return tf.reduce_sum(tf.where(input_tensor.mask, input_tensor.values, 0.0), axis, keepdims)

    assert tf.reduce_sum(masked()).numpy() == 1.0 and tf.reduce_sum(tf.constant([1.0, 2.0])).numpy() == 3.0

    @registered(tf.experimental.dispatch_for_api(tf.add, {"x": Masked}, {"y": Masked}))
    def first(x, y):
        return "first"

    @registered(tf.experimental.dispatch_for_api(tf.add, {0: Masked, 1: Masked}))
    def second(x, y, name=None):
        return "second"

    assert tf.add(masked(), 1.0) == tf.add(1.0, masked()) == "first"
    with pytest.raises(ValueError, match="Multiple dispatch targets .* match the arguments to add"):
        tf.add(masked(), masked())


def test_a_function_that_nobody_dispatches_can_be_taken_over(registered):
    code = tf.transpose.__code__

    @registered(tf.experimental.dispatch_for_api(tf.transpose, {"a": Masked}))
    def transpose(a, perm=None, conjugate=False, name="transpose"):
        return "mine", perm, name

    assert tf.transpose(masked()) == ("mine", None, "transpose")
    assert tf.transpose(masked(), [0], name="n") == ("mine", [0], "n")
    assert tf.transpose(tf.constant([[1, 2]])).numpy().tolist() == [[1], [2]]
    assert tf.transpose.__code__.co_filename == code.co_filename and tf.transpose.__code__.co_varnames[:4] == code.co_varnames[:4]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.transpose(object())


@pytest.mark.parametrize("api, signature, target, error, text", [
    (len, {"x": Masked}, lambda x: x, ValueError, "does not support dispatch"),
    (tf.einsum, {"equation": Masked}, lambda x: x, ValueError, "does not support dispatch"),
    (tf.add, {"q": Masked}, lambda x, y: x, ValueError, "unknown parameter 'q'"),
    (tf.add, [Masked], lambda x, y: x, TypeError, "signatures must be dictionaries"),
    (tf.add, {"x": Masked}, lambda x, z: x, ValueError, r"signature \(x, z, name=None\) does not match API's signature \(x, y, name=None\)"),
    (tf.add, {"x": typing.Dict[str, Masked]}, lambda x, y: x, ValueError, "is not currently supported by dispatch"),
    (tf.add, {"x": Masked}, 5, TypeError, "Expected dispatch_target to be callable; got 5"),
])
def test_wrong_registrations(api, signature, target, error, text):
    with pytest.raises(error, match=text):
        tf.experimental.dispatch_for_api(api, signature)(target)
    assert not dispatch.targets


def test_what_is_not_registered_cannot_be_taken_back():
    with pytest.raises(ValueError, match="was not registered using a `@dispatch_for_"):
        tf.experimental.unregister_dispatch_for(len)


class Traced:
    """A class with the protocol: every call is noted and done with the value inside."""

    def __init__(self, value):
        self.value = value

    def __tf_dispatch__(self, api, types, args, kwargs):
        if api is tf.tile:
            return NotImplemented

        def plain(x):
            return x.value if isinstance(x, Traced) else [plain(v) for v in x] if isinstance(x, list) else x

        return Traced(api(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()}))


@pytest.mark.parametrize("call", [
    lambda x: tf.add(x, 1.0), lambda x: tf.multiply(2.0, x), lambda x: tf.nn.softmax(x), lambda x: tf.reduce_sum(x, axis=0),
    lambda x: tf.concat([x, tf.constant([3.0])], 0), lambda x: tf.cast(x, tf.int32), lambda x: tf.nn.relu(features=x),
    lambda x: tf.where(x > 0 if isinstance(x, tf.Tensor) else [True, True], x, 0.0), lambda x: tf.matmul([[1.0, 1.0]], tf.reshape(x, [2, 1])),
    lambda x: tf.gather(x, [1, 0]), lambda x: tf.stack([x, x]), lambda x: tf.raw_ops.Exp(x=x),
])
def test_the_protocol(call):
    x = tf.constant([1.0, 2.0])
    made = call(Traced(x))
    assert isinstance(made, Traced) and made.value.numpy().tolist() == call(x).numpy().tolist()


def test_the_protocol_inside_a_function():
    @tf.function
    def f(x):
        return tf.add(Traced(x), 1.0).value

    assert f(tf.constant([1.0])).numpy() == [2.0]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.tile(Traced(tf.constant([1.0])), [2])


def test_the_protocol_in_control_flow_and_datasets():
    def doubled(x):
        return tf.add(Traced(x), x).value

    x = tf.constant([1.0, -2.0])
    held = Traced(x)
    choose = tf.function(lambda p: tf.cond(p, lambda: tf.add(held, 1.0).value, lambda: tf.abs(held).value))
    assert choose(tf.constant(True)).numpy().tolist() == [2.0, -1.0] and choose(tf.constant(False)).numpy().tolist() == [1.0, 2.0]
    loop = tf.function(lambda x: tf.while_loop(lambda k, x: k < 3, lambda k, x: (k + 1, doubled(x)), [0, x])[1])
    assert loop(x).numpy().tolist() == [8.0, -16.0]
    assert tf.map_fn(doubled, x).numpy().tolist() == [2.0, -4.0]
    assert list(tf.data.Dataset.from_tensor_slices(x).map(doubled).as_numpy_iterator()) == [2.0, -4.0]


def test_an_error_is_not_hidden_by_dispatch():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.ones([2]), tf.ones([3]))
    with pytest.raises(TypeError):
        tf.nn.softmax(tf.constant([1.0]), nothing=1)
    try:
        tf.abs(object())
    except ValueError as e:
        assert "unsupported type" in str(e) and e.__context__ is None
    with pytest.raises(ValueError, match="ragged ranks"):
        tf.add(NAMES["f"], NAMES["ff"])


def test_a_handled_argument_is_not_formatted_as_text(monkeypatch):
    """The message of a failed conversion is made when it is read: the text of a large ragged tensor takes milliseconds."""
    def formatted(self):
        raise AssertionError("formatted")

    x = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"Attempt to convert a value \(<tf.RaggedTensor \[\[1, 2\], \[3\]\]>\)"):
        tf.linalg.inv(x)
    sparse = tf.sparse.from_dense([[1, 0], [0, 2]])
    for kind in (tf.RaggedTensor, tf.SparseTensor):
        monkeypatch.setattr(kind, "__repr__", formatted)
        monkeypatch.setattr(kind, "__str__", formatted)
    assert tf.gather(x, [1]).to_list() == [[3]]
    assert tf.concat([x, x], 1).to_list() == [[1, 2, 1, 2], [3, 3]]
    assert tf.abs(sparse).values.numpy().tolist() == [1, 2]
