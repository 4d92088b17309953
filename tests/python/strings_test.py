"""Strings, sets and hashes: the values are what TensorFlow gives."""
import evenflow as tf
import numpy as np
import pytest


def test_join_and_add():
    assert (tf.constant("a") + "b").numpy() == b"ab"
    assert tf.strings.join([["a", "b"], "-", ["c", "d"]]).numpy().tolist() == [b"a-c", b"b-d"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.join([["a"], ["b", "c"]])


def test_reduce_join_order():
    x = [["a", "b"], ["c", "d"]]
    assert tf.strings.reduce_join(x).numpy() == b"abcd"
    assert tf.strings.reduce_join(x, axis=[0, 1]).numpy() == b"acbd"
    assert tf.strings.reduce_join(x, axis=1, keepdims=True).numpy().tolist() == [[b"ab"], [b"cd"]]


def test_substr_counts_from_both_ends():
    assert tf.strings.substr("hello", -3, 2).numpy() == b"ll"
    assert tf.strings.substr("h\u00e9\u00e9", 1, 1, unit="UTF8_CHAR").numpy() == "\u00e9".encode()
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.strings.substr("abc", 4, 1)


def test_regex_as_re2_reads_it():
    assert tf.strings.regex_replace("abc", "b*", "-").numpy() == b"-a-c-"
    assert tf.strings.regex_replace("me@home", r"(\w+)@(\w+)", r"\2 at \1").numpy() == b"home at me"
    assert tf.strings.regex_replace(b"a\xffc", ".", "-").numpy() == b"-\xff-"
    assert tf.strings.regex_full_match(["ab1", "1ab"], r"[a-z]+\d?").numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.strings.regex_replace("x", "(", "")


def test_many_matches_in_a_long_text():
    """Takes an hour if every match looks at all that is left of the text."""
    text = "a\u00e9 b " * 200_000
    assert tf.strings.regex_replace(text, r"(\w) ", r"<\1>").numpy().decode() == text.replace("b ", "<b>")
    stray = b"ab\xff" * 30
    assert tf.strings.regex_replace(stray, "b|.", "-").numpy() == b"--\xff" * 30
    assert tf.strings.regex_replace("ab" * 9, "x*", "-").numpy() == b"-" + b"-".join([b"a", b"b"] * 9) + b"-"


@pytest.mark.parametrize(("text", "pattern", "want"), [
    (b"a\xffb", ".", b"<a>\xff<b>"), (b"a\xffb", "b", b"a\xff<b>"), (b"a\xffb", "a.", b"a\xffb"), (b"a\xffb", "$", b"a\xffb<>"),
    (b"\xff\xfe", ".*", b"<>\xff<>\xfe<>"), (b"\xff\xfe", "$", b"\xff\xfe<>"), (b"\xff\xfe", "", b"<>\xff<>\xfe<>"),
    (b"ab\xf0\x9f\x98", ".*", b"<ab>\xf0<>\x9f<>\x98<>"), (b"ab\xf0\x9f\x98", "", b"<>a<>b<>\xf0<>\x9f<>\x98<>"),
    (b"ab\xf0\x9f\x98", "$", b"ab\xf0\x9f\x98<>"), (b"\xc3", ".*", b"<>\xc3<>"), (b"caf\xc3\xa9", ".", "<c><a><f><\u00e9>".encode())])
def test_invalid_bytes_match_nothing_in_a_pattern(text, pattern, want):
    assert tf.strings.regex_replace(text, pattern, r"<\0>").numpy() == want


@pytest.mark.parametrize("text", [b"\xff\xfe", b"a\xffb", b"\xc3", b"\xe9", b"ab\xf0\x9f\x98"])
@pytest.mark.parametrize("pattern", [".", "[^a]", "b", "a.", ".*", r"\w+", "$", "", "ab"])
def test_a_text_with_invalid_bytes_is_no_full_match(text, pattern):
    assert not tf.strings.regex_full_match(text, pattern).numpy()
    assert tf.strings.regex_full_match(b"caf\xc3\xa9", ".*").numpy()


def test_numbers():
    assert tf.strings.to_number([" 1 ", "0x10", "-inf", ".5"]).numpy().tolist() == [1, 16, -np.inf, 0.5]
    for bad in ("", " ", "1_0", "1e"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.strings.to_number(bad)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.to_number("99999999999", tf.int32)
    assert tf.strings.as_string([1.5, float("nan")]).numpy().tolist() == [b"1.500000", b"nan"]
    assert tf.strings.as_string([1 + 2j], precision=2).numpy().tolist() == [b"(1.00,2.00)"]
    assert tf.strings.as_string([7], width=3, fill="0").numpy().tolist() == [b"007"]


def test_case_of_all_letters():
    assert tf.strings.upper("stra\u00dfe \ufb01", encoding="utf-8").numpy() == b"STRASSE FI"
    assert tf.strings.lower("\u00c9\u03a3", encoding="utf-8").numpy() == "\u00e9\u03c2".encode()
    assert tf.strings.lower("\u00c9A").numpy() == "\u00c9a".encode()


def test_hashes_stay_what_they_are():
    words = ["", "a", "abcde", "abcdefgh", "x" * 16, "x" * 17, "abc" * 11, "abc" * 22, "abc" * 200]
    assert tf.strings.to_hash_bucket_fast(words, 2**62).numpy().tolist() == [
        1936946117179621455, 3694432073954588131, 157421906844058836, 4533385575889643785,
        3320895591121647644, 2082709914559524773, 3420106472331470784, 3269822938797505145,
        3334426171472508345]
    some = ["", "a", "abcdefgh", "x" * 33]
    assert tf.strings.to_hash_bucket_strong(some, 10**9, [1, 2]).numpy().tolist() == [
        107117435, 249958646, 115285916, 786715488]
    assert tf.strings.to_hash_bucket(some, 10**9).numpy().tolist() == [
        29283899, 371535868, 771700306, 125996628]
    print_of = tf.raw_ops.Fingerprint(data=[["a", "bc"], ["d", "e"]], method="farmhash64").numpy()
    assert print_of.tolist() == [[85, 27, 103, 37, 147, 177, 144, 87], [234, 62, 180, 96, 191, 13, 17, 56]]


def test_sets():
    a, b = tf.constant([[1, 2, 3], [4, 4, 5]]), tf.constant([[2, 9], [5, 4]])
    less = tf.sets.difference(a, b)
    assert less.values.numpy().tolist() == [1, 3] and less.dense_shape.numpy().tolist() == [2, 2]
    assert tf.sets.union(a, b).values.numpy().tolist() == [1, 2, 3, 9, 4, 5]
    assert tf.sets.size(tf.sets.intersection(a, b)).numpy().tolist() == [1, 2]
    assert tf.sets.difference(tf.sets.union(a, a), b).values.numpy().tolist() == [1, 3]


@pytest.mark.parametrize(("text", "data"), [
    (b"", b""), (b"YQ", b"a"), (b"YQ==", b"a"), (b"YWI", b"ab"), (b"YWI=", b"ab"), (b"YWJj", b"abc"), (b"YR", b"a"),
    (b"YWJjYQ==", b"abca"), (b"Y-_a", b"c\xef\xda"), (b"__77", b"\xff\xfe\xfb")])
def test_base64_is_decoded_with_and_without_padding(text, data):
    assert tf.io.decode_base64(text).numpy() == data
    padded = tf.io.encode_base64(data, pad=True).numpy()
    assert tf.io.encode_base64(data).numpy() == padded.rstrip(b"=")
    assert len(padded) % 4 == 0 and tf.io.decode_base64(padded).numpy() == data


@pytest.mark.parametrize("text", [b"Y", b"YQ=", b"YQ===", b"Y+==", b"Y=Q=", b"=", b"====", b"YQ==YQ", b"YWI\n", b"YWJjZ"])
def test_what_is_not_base64_is_rejected(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="[Bb]ase64"):
        tf.io.decode_base64([b"YQ", text])


def test_base64_of_many_strings_in_a_function():
    data = tf.constant([[b"a", b"bc"], [b"", b"\x00\x01"]])
    back = tf.function(lambda x: tf.io.decode_base64(tf.io.encode_base64(x)))(data)
    assert (back.numpy() == data.numpy()).all()
    assert tf.compat.v1.decode_base64(b"YQ").numpy() == b"a"
    with pytest.raises(TypeError):
        tf.raw_ops.EncodeBase64(input=[1, 2], pad=False)
