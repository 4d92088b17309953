"""The parse_example family, decode_csv, decode_raw, serialized tensors, messages."""
import gzip
import zlib

import numpy as np


def _f(tf, value):
    t = tf.train
    if isinstance(value, float) or (isinstance(value, list) and value and isinstance(value[0], float)):
        return t.Feature(float_list=t.FloatList(value=np.ravel(value)))
    if isinstance(value, (bytes, str)) or (isinstance(value, list) and value and isinstance(value[0], (bytes, str))):
        return t.Feature(bytes_list=t.BytesList(value=[value] if isinstance(value, bytes) else value))
    return t.Feature(int64_list=t.Int64List(value=np.ravel(np.array(value, np.int64))))


def _example(tf, **features):
    return tf.train.Example(features=tf.train.Features(feature={k: _f(tf, v) for k, v in features.items()})).SerializeToString()


def _three(tf):
    return [_example(tf, i=[1, 2], f=[0.5, 1.5], s=[b"a", b"bc"], v=[7], n=3),
            _example(tf, i=[-3, 4], f=[2.5, 3.5], s=[b"d", b""], v=[], other=5, n=4),
            _example(tf, i=[5, 2**62], f=[4.5, 5.5], s=[b"e", b"f"], v=[8, 9, 10], n=5)]


def dense(tf, tmp):
    F = tf.io.FixedLenFeature
    return tf.io.parse_example(_three(tf), {"i": F([2], tf.int64), "f": F([2, 1], tf.float32), "s": F([2], tf.string),
                                            "n": F([], tf.int64), "none": F([2], tf.float32, [8.0, 9.0])})


def dense_single(tf, tmp):
    F = tf.io.FixedLenFeature
    return tf.io.parse_single_example(_three(tf)[0], {"i": F([2], tf.int64), "s": F([2], tf.string), "n": F([], tf.int64)})


def var_len(tf, tmp):
    V = tf.io.VarLenFeature
    return tf.io.parse_example(_three(tf), {"v": V(tf.int64), "s": V(tf.string), "f": V(tf.float32), "none": V(tf.string)})


def var_len_single(tf, tmp):
    V = tf.io.VarLenFeature
    return tf.io.parse_single_example(_three(tf)[2], {"v": V(tf.int64), "none": V(tf.string)})


def sequence_padded(tf, tmp):
    F = tf.io.FixedLenSequenceFeature
    return tf.io.parse_example(_three(tf), {"v": F([], tf.int64, allow_missing=True, default_value=-1),
                                            "s": F([1], tf.string, allow_missing=True),
                                            "none": F([], tf.float32, allow_missing=True)})


def sparse_feature(tf, tmp):
    e = [_example(tf, at=[5, 1], v=[0.5, 1.5]), _example(tf, at=[0], v=[2.5]), _example(tf, x=1)]
    return [tf.io.parse_example(e, {"a": tf.io.SparseFeature("at", "v", tf.float32, 10)}),
            tf.io.parse_single_example(e[0], {"a": tf.io.SparseFeature("at", "v", tf.float32, 10)})]


def sparse_feature_2d(tf, tmp):
    e = [_example(tf, x=[1, 0], y=[2, 3], v=[0.5, 1.5]), _example(tf, x=[4], y=[4], v=[2.5])]
    return tf.io.parse_example(e, {"a": tf.io.SparseFeature(["x", "y"], "v", tf.float32, [5, 6])})


def ragged(tf, tmp):
    R = tf.io.RaggedFeature
    return tf.io.parse_example(_three(tf), {"v": R(tf.int64), "w": R(tf.string, "s", row_splits_dtype=tf.int64), "none": R(tf.float32)})


def ragged_single(tf, tmp):
    return tf.io.parse_single_example(_three(tf)[2], {"v": tf.io.RaggedFeature(tf.int64)})


def _rows(tf):
    return [_example(tf, v=[1, 2, 3, 4, 5], n=[2, 3], p=[0, 2, 5], a=[0, 2], z=[2, 5], r=[0, 0, 1, 1, 1]),
            _example(tf, v=[6], n=[0, 1, 0], p=[0, 0, 1, 1], a=[0, 0, 1], z=[0, 1, 1], r=[1]), _example(tf, q=1)]


def ragged_rows(tf, tmp):
    R = tf.io.RaggedFeature
    kinds = {"n": R.RowLengths, "p": R.RowSplits, "a": R.RowStarts, "z": R.RowLimits, "r": R.ValueRowIds}
    return {k: tf.io.parse_example(_rows(tf), {"x": R(tf.int64, "v", [p(k)])})["x"] for k, p in kinds.items()}


def ragged_rows_single(tf, tmp):
    R = tf.io.RaggedFeature
    kinds = {"n": R.RowLengths, "p": R.RowSplits, "a": R.RowStarts, "z": R.RowLimits, "r": R.ValueRowIds}
    return {k: tf.io.parse_single_example(_rows(tf)[0], {"x": R(tf.int64, "v", [p(k)])})["x"] for k, p in kinds.items()}


def ragged_uniform(tf, tmp):
    R = tf.io.RaggedFeature
    e = [_example(tf, v=[1, 2, 3, 4]), _example(tf, v=[5, 6])]
    return tf.io.parse_example(e, {"x": R(tf.int64, "v", [R.UniformRowLength(2)])})


def last_wins(tf, tmp):
    e = _example(tf, a=[1]) + _example(tf, a=[2], b=[3])
    F = tf.io.FixedLenFeature
    return tf.io.parse_example([e], {"a": F([1], tf.int64), "b": F([1], tf.int64)})


def unpacked(tf, tmp):
    return tf.io.parse_example([b"\x0a\x0d\x0a\x0b\x0a\x01a\x12\x06\x1a\x04\x08\x01\x08\x02"], {"a": tf.io.VarLenFeature(tf.int64)})


def empty_batch(tf, tmp):
    return tf.io.parse_example(tf.constant([], tf.string), {"a": tf.io.FixedLenFeature([2], tf.int64), "v": tf.io.VarLenFeature(tf.string)})


def in_function(tf, tmp):
    @tf.function
    def f(x):
        return tf.io.parse_example(x, {"i": tf.io.FixedLenFeature([2], tf.int64), "v": tf.io.VarLenFeature(tf.int64)})

    return f(tf.constant(_three(tf)))


def in_session(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.string, [None])
        out = tf.compat.v1.parse_example(x, {"i": tf.compat.v1.FixedLenFeature([2], tf.int64), "v": tf.compat.v1.VarLenFeature(tf.int64)})
        return session.run(out, {x: _three(tf)})


def missing(tf, tmp):
    tf.io.parse_example(_three(tf), {"none": tf.io.FixedLenFeature([2], tf.int64)})


def wrong_type(tf, tmp):
    tf.io.parse_example(_three(tf), {"i": tf.io.FixedLenFeature([2], tf.float32)})


def wrong_size(tf, tmp):
    tf.io.parse_example(_three(tf), {"i": tf.io.FixedLenFeature([3], tf.int64)})


def not_an_example(tf, tmp):
    tf.io.parse_example([b"this is no example"], {"i": tf.io.FixedLenFeature([3], tf.int64)})


def cut_example(tf, tmp):
    tf.io.parse_example([_three(tf)[0][:-3]], {"i": tf.io.VarLenFeature(tf.int64)})


def bad_dtype(tf, tmp):
    tf.io.parse_example(_three(tf), {"i": tf.io.FixedLenFeature([2], tf.int32)})


def no_features(tf, tmp):
    tf.io.parse_example(_three(tf), {})


def no_allow_missing(tf, tmp):
    tf.io.parse_example(_three(tf), {"i": tf.io.FixedLenSequenceFeature([], tf.int64)})


def bad_default(tf, tmp):
    tf.io.parse_example(_three(tf), {"q": tf.io.FixedLenFeature([2], tf.int64, [1, 2, 3])})


def _sequences(tf):
    t = tf.train
    made = []
    for k in (1, 3):
        lists = {"l": t.FeatureList(feature=[_f(tf, [j, j + 1]) for j in range(k)]),
                 "w": t.FeatureList(feature=[_f(tf, [b"x"] * j) if j else t.Feature() for j in range(k)])}
        made.append(t.SequenceExample(context=t.Features(feature={"c": _f(tf, k), "s": _f(tf, [b"q"] * k)}),
                                      feature_lists=t.FeatureLists(feature_list=lists)).SerializeToString())
    return made


def _sequence_features(tf):
    return ({"c": tf.io.FixedLenFeature([], tf.int64), "s": tf.io.VarLenFeature(tf.string)},
            {"l": tf.io.FixedLenSequenceFeature([2], tf.int64), "w": tf.io.VarLenFeature(tf.string),
             "none": tf.io.FixedLenSequenceFeature([1], tf.float32, allow_missing=True)})


def sequences(tf, tmp):
    return tf.io.parse_sequence_example(_sequences(tf), *_sequence_features(tf))


def sequences_single(tf, tmp):
    return tf.io.parse_single_sequence_example(_sequences(tf)[1], *_sequence_features(tf))


def sequences_ragged(tf, tmp):
    return tf.io.parse_sequence_example(_sequences(tf), {"s": tf.io.RaggedFeature(tf.string)}, {"l": tf.io.RaggedFeature(tf.int64)})


def sequences_missing(tf, tmp):
    tf.io.parse_sequence_example(_sequences(tf), {}, {"z": tf.io.FixedLenSequenceFeature([2], tf.int64)})


def sequences_nothing(tf, tmp):
    tf.io.parse_sequence_example(_sequences(tf))


def messages(tf, tmp):
    t = tf.train
    e = t.Example()
    e.features.feature["a"].int64_list.value.extend([1, -1])
    e.features.feature["b"].float_list.value.append(0.1)
    same = t.Example.FromString(e.SerializeToString(deterministic=True))
    s = t.SequenceExample()
    s.feature_lists.feature_list["q"].feature.add().bytes_list.value.append(b"\xff\n")
    return [e.SerializeToString(deterministic=True), same == e, e != t.Example(), str(s), same.features.feature["b"].float_list.value[0],
            e.features.feature["a"].WhichOneof("kind"), e.ByteSize(), t.Example().SerializeToString(), len(e.features.feature),
            e.HasField("features")]


def message_type_error(tf, tmp):
    tf.train.Int64List(value=["a"])


def message_parse_error(tf, tmp):
    tf.train.Example.FromString(b"not an example")


def csv(tf, tmp):
    return tf.io.decode_csv(["1,2.5,a", "2,,\"b,\"\"c\"\"\"", ",3,"], [[7], [0.5], ["x"]])


def csv_kinds(tf, tmp):
    return tf.io.decode_csv([["1;2;3;x"], ["4; 5 ;1e3;NA"]], [tf.constant([], tf.int32), tf.constant([], tf.int64), tf.constant([], tf.float64), "dflt"], field_delim=";", na_value="NA")


def csv_select(tf, tmp):
    return tf.io.decode_csv(["a,b,c,d", "e,f,g,h"], [["-"], ["-"]], select_cols=[1, 3])


def csv_plain_quotes(tf, tmp):
    return tf.io.decode_csv(["a\",b"], [["-"], ["-"]], use_quote_delim=False)


def csv_scalar(tf, tmp):
    return tf.io.decode_csv("3,4", [[0], [0]])


def csv_trailing(tf, tmp):
    return tf.io.decode_csv(["1,\n", "2,3\r\n"[:3]], [[0], [9]])


def csv_quoted_newline(tf, tmp):
    return tf.io.decode_csv(["\"a\nb\",c"], [["-"], ["-"]])


def csv_empty_record(tf, tmp):
    return tf.io.decode_csv([""], [["z"]])


def csv_too_few(tf, tmp):
    tf.io.decode_csv(["1"], [[0], [0]])


def csv_too_many(tf, tmp):
    tf.io.decode_csv(["1,2,3"], [[0], [0]])


def csv_required(tf, tmp):
    tf.io.decode_csv([","], [tf.constant([], tf.int32), [0]])


def csv_dtype(tf, tmp):
    tf.io.decode_csv(["1"], [tf.int32])


def csv_bad_number(tf, tmp):
    tf.io.decode_csv(["x"], [[0]])


def csv_overflow(tf, tmp):
    tf.io.decode_csv(["3000000000"], [[0]])


def csv_stray_quote(tf, tmp):
    tf.io.decode_csv(["a\"b,c"], [["-"], ["-"]])


def csv_open_quote(tf, tmp):
    tf.io.decode_csv(["\"ab"], [["-"]])


def csv_delim(tf, tmp):
    tf.io.decode_csv(["a"], [["-"]], field_delim=";;")


def csv_order(tf, tmp):
    tf.io.decode_csv(["a,b"], [["-"], ["-"]], select_cols=[1, 0])


def raw(tf, tmp):
    data = bytes(range(48))
    types = (tf.uint8, tf.int8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float32, tf.float64, tf.float16, tf.complex64)
    return [tf.io.decode_raw([data, data[::-1]], t) for t in types] + [tf.io.decode_raw(data, t, little_endian=False) for t in types]


def raw_bool(tf, tmp):
    return tf.io.decode_raw(b"\x00\x01\x00\x01", tf.bool)


def raw_empty(tf, tmp):
    return [tf.io.decode_raw(b"", tf.int32), tf.io.decode_raw(tf.constant([], tf.string), tf.int32)]


def raw_padded(tf, tmp):
    return [tf.io.decode_raw([b"abc", b"defghij", b""], tf.int16, fixed_length=6), tf.io.decode_raw(b"ab", tf.float64, fixed_length=8)]


def raw_uneven(tf, tmp):
    tf.io.decode_raw(b"abc", tf.int16)


def raw_lengths(tf, tmp):
    tf.io.decode_raw([b"ab", b"abcd"], tf.int16)


def raw_padded_wrong(tf, tmp):
    tf.io.decode_raw([b"ab"], tf.int32, fixed_length=6)


def raw_type(tf, tmp):
    tf.io.decode_raw([b"ab"], tf.string)


def compressed(tf, tmp):
    big = b"xyz" * 100_000
    return [tf.io.decode_compressed([zlib.compress(b"abc"), zlib.compress(big)], "ZLIB"), tf.io.decode_compressed(gzip.compress(big, mtime=0), "GZIP"),
            tf.io.decode_compressed(["plain"])]


def compressed_bad(tf, tmp):
    tf.io.decode_compressed([b"not compressed"], "ZLIB")


def compressed_type(tf, tmp):
    tf.io.decode_compressed([b"x"], "BZIP")


def tensors(tf, tmp):
    made = [tf.constant([[1.5, 2], [3, 4]]), tf.constant(7), tf.constant([], tf.int64), tf.constant(["a", "", "bc"]), tf.constant([True, False]),
            tf.constant([1 + 2j]), tf.cast([1, 2], tf.bfloat16), tf.cast([1.5], tf.float16), tf.zeros([0, 3]), tf.constant(2**60)]
    return [[tf.io.serialize_tensor(x), tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype)] for x in made if x.dtype != tf.bfloat16]


def tensor_lists(tf, tmp):
    protos = [(tf.int32, "0803120412020803" + "3a020507"),
              (tf.float32, "0801120412020802" + "2a040000803f"), (tf.string, "0807120412020802" + "420161"), (tf.bool, "080a12041202080358015800"),
              (tf.int32, "0803120412020802")]
    return [tf.io.parse_tensor(bytes.fromhex(p), t) for t, p in protos]


def tensor_type(tf, tmp):
    tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32)


def tensor_bad(tf, tmp):
    tf.io.parse_tensor(b"no tensor at all", tf.float32)


def tensor_size(tf, tmp):
    tf.io.parse_tensor(bytes.fromhex("080312041202080122080100000002000000"), tf.int32)


def _lacking(tf, shape, default=None, batch=False):
    empty = tf.train.Example().SerializeToString()
    return tf.io.parse_example([empty] if batch else empty, {"a": tf.io.FixedLenFeature(shape, tf.int64, default)})


def fixed_of_unknown_size(tf, tmp):
    _lacking(tf, [None], batch=True)


def fixed_of_unknown_size_default(tf, tmp):
    _lacking(tf, [None], [1])


def fixed_of_size_zero(tf, tmp):
    _lacking(tf, [0])


def fixed_of_size_zero_batch(tf, tmp):
    _lacking(tf, [0], batch=True)


def serialized_matrix(tf, tmp):
    tf.io.parse_example([[b""]], {"a": tf.io.FixedLenFeature([1], tf.int64, [1])})


def compressed_ends(tf, tmp):
    z, g = zlib.compress(b"hello" * 1000), gzip.compress(b"hello" * 1000, mtime=0)
    made = [(b"", "ZLIB"), (z + b"xxx", "ZLIB"), (z + z, "ZLIB"), (z[:-8], "ZLIB"), (z[:-2], "ZLIB"), (z[:1], "ZLIB"), (b"", "GZIP"),
            (g + g, "GZIP"), (g[:-3], "GZIP"), (g[:-12], "GZIP")]
    return [tf.io.decode_compressed([data], how) for data, how in made]


def compressed_behind_gzip(tf, tmp):
    tf.io.decode_compressed([gzip.compress(b"hello", mtime=0) + b"xxx"], "GZIP")


def compressed_wrong_sum(tf, tmp):
    tf.io.decode_compressed([zlib.compress(b"hello")[:-1] + b"\0"], "ZLIB")
