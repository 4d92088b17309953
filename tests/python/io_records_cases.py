"""TFRecord files: written and read, compressed, damaged."""
import gzip
import os
import zlib

_RECORDS = [b"", b"a", b"record two", bytes(range(256)) * 40, b"\0\0", b"end"]


def _write(tf, path, records=_RECORDS, options=None):
    with tf.io.TFRecordWriter(path, options) as w:
        for r in records:
            w.write(r)
    return path


def _read(tf, path, options=None):
    return list(tf.compat.v1.io.tf_record_iterator(path, options))


def _damaged(tf, tmp, at, size=None):
    """The file with one byte changed, or cut."""
    data = bytearray(open(_write(tf, tmp + "/f", [b"first", b"second"]), "rb").read())
    if size is None:
        data[at] ^= 1
    open(tmp + "/f", "wb").write(data[:size])
    seen = []
    for r in tf.compat.v1.io.tf_record_iterator(tmp + "/f"):
        seen.append(r)
    return seen


def plain_bytes(tf, tmp):
    return open(_write(tf, tmp + "/f"), "rb").read()


def plain_small(tf, tmp):
    return open(_write(tf, tmp + "/f", [b"abc"]), "rb").read()


def plain_read(tf, tmp):
    return _read(tf, _write(tf, tmp + "/f"))


def no_records(tf, tmp):
    path = _write(tf, tmp + "/f", [])
    return [os.path.getsize(path), _read(tf, path)]


def gzip_read(tf, tmp):
    path = _write(tf, tmp + "/f", options="GZIP")
    return [_read(tf, path, tf.io.TFRecordOptions("GZIP")), gzip.open(path).read()]


def zlib_read(tf, tmp):
    path = _write(tf, tmp + "/f", options=tf.io.TFRecordOptions("ZLIB", compression_level=9))
    return [_read(tf, path, tf.io.TFRecordOptions("ZLIB")), zlib.decompress(open(path, "rb").read())]


def gzip_members(tf, tmp):
    plain = open(_write(tf, tmp + "/f", [b"one", b"two"]), "rb").read()
    open(tmp + "/g", "wb").write(gzip.compress(plain) + gzip.compress(plain))
    return _read(tf, tmp + "/g", tf.io.TFRecordOptions("GZIP"))


def old_numbers(tf, tmp):
    io = tf.compat.v1.python_io
    path = _write(tf, tmp + "/f", options=io.TFRecordOptions(io.TFRecordCompressionType.GZIP))
    return _read(tf, path, io.TFRecordOptions(2))


def type_strings(tf, tmp):
    name = tf.io.TFRecordOptions.get_compression_type_string
    return [name(None), name(""), name("GZIP"), name(1), name(0), name(tf.io.TFRecordOptions("ZLIB"))]


def bad_type(tf, tmp):
    tf.io.TFRecordOptions("SNAPPY")


def missing(tf, tmp):
    return _read(tf, tmp + "/none")


def write_missing_folder(tf, tmp):
    _write(tf, tmp + "/none/f")


def write_closed(tf, tmp):
    w = tf.io.TFRecordWriter(tmp + "/f")
    w.close()
    w.close()
    w.write(b"x")


def flushed(tf, tmp):
    w = tf.io.TFRecordWriter(tmp + "/f")
    w.write(b"abc")
    w.flush()
    n = os.path.getsize(tmp + "/f")
    w.close()
    return n


def write_text(tf, tmp):
    tf.io.TFRecordWriter(tmp + "/f").write(3)


def bad_length(tf, tmp):
    return _damaged(tf, tmp, 2)


def bad_length_check(tf, tmp):
    return _damaged(tf, tmp, 9)


def bad_data(tf, tmp):
    return _damaged(tf, tmp, 14)


def bad_second(tf, tmp):
    return _damaged(tf, tmp, 38)


def cut_in_check(tf, tmp):
    return _damaged(tf, tmp, 0, 42)


def wrong_compression(tf, tmp):
    return _read(tf, _write(tf, tmp + "/f"), tf.io.TFRecordOptions("GZIP"))


def compressed_read_plainly(tf, tmp):
    return _read(tf, _write(tf, tmp + "/f", options="ZLIB"))


def cut_gzip(tf, tmp):
    data = open(_write(tf, tmp + "/f", options="GZIP"), "rb").read()
    open(tmp + "/f", "wb").write(data[: len(data) // 2])
    return _read(tf, tmp + "/f", tf.io.TFRecordOptions("GZIP"))


def not_records(tf, tmp):
    open(tmp + "/f", "wb").write(b"this is text, and no record at all\n" * 10)
    return _read(tf, tmp + "/f")


def text_records(tf, tmp):
    with tf.io.TFRecordWriter(tmp + "/f") as f:
        f.write("abc")
        f.write("\u00e4")
        f.write(b"\xff")
    return _read(tf, tmp + "/f")
