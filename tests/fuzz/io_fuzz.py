"""Readers and decoders with damaged input: valid files, examples, tensors and images in which bytes are changed, removed,
duplicated or random. Every call must return a result or raise one of TensorFlow's exceptions, in bounded time and memory.

  io_fuzz.py SECONDS SEED"""
import gzip
import os
import random
import resource
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
import evenflow as tf  # noqa: E402

ALLOWED = (tf.errors.InvalidArgumentError, tf.errors.DataLossError, tf.errors.ResourceExhaustedError,
           tf.errors.UnimplementedError, tf.errors.FailedPreconditionError, tf.errors.OutOfRangeError, tf.errors.NotFoundError)
SLOW, LARGE = 5.0, 3 << 30


def example():
    t = tf.train
    lists = {"i": t.Feature(int64_list=t.Int64List(value=[1, -2, 3])), "f": t.Feature(float_list=t.FloatList(value=[0.5] * 4)),
             "s": t.Feature(bytes_list=t.BytesList(value=[b"ab", b""]))}
    return t.Example(features=t.Features(feature=lists)).SerializeToString()


def sequence():
    t = tf.train
    made = t.SequenceExample()
    made.context.feature["c"].int64_list.value.append(3)
    for k in range(3):
        made.feature_lists.feature_list["l"].feature.add().float_list.value.extend([1.0] * k)
    return made.SerializeToString()


def parse(data):
    io = tf.io
    tf.io.parse_example([data, data], {"i": io.VarLenFeature(tf.int64), "f": io.RaggedFeature(tf.float32),
                                       "s": io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
                                       "d": io.FixedLenFeature([2], tf.float32, [1.0, 2.0])})


def parse_sequence(data):
    tf.io.parse_sequence_example([data], {"c": tf.io.VarLenFeature(tf.int64)}, {"l": tf.io.RaggedFeature(tf.float32)})


def records(options):
    def read(data):
        with open(PATH, "wb") as f:
            f.write(data)
        for _ in tf.compat.v1.io.tf_record_iterator(PATH, options):
            pass

    return read


def checkpoint():
    """The index of a checkpoint, whose data stays beside it."""
    tf.raw_ops.SaveV2(prefix=PATH, tensor_names=["a/b", "a/c", "text"], shape_and_slices=[""] * 3,
                      tensors=[tf.constant([1.0, 2.0]), tf.constant(3), tf.constant(["x", "yz"])])
    return open(PATH + ".index", "rb").read()


def restore(data):
    with open(PATH + ".index", "wb") as f:
        f.write(data)
    tf.train.list_variables(PATH)
    tf.raw_ops.RestoreV2(prefix=PATH, tensor_names=["a/b", "a/c", "text"], shape_and_slices=[""] * 3,
                         dtypes=[tf.float32, tf.int32, tf.string])


def resummed(data):
    """An index whose only block has these entries, with valid checksums, so that the entries are parsed."""
    data += bytes(4) + b"\1\0\0\0"
    made, crc = bytearray(data), crc32c(data + b"\0")
    made += b"\0" + (((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff).to_bytes(4, "little")
    block = bytes(4) + b"\1\0\0\0"
    crc = crc32c(block + b"\0")
    none = block + b"\0" + (((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff).to_bytes(4, "little")
    place = varint(0) + varint(len(data))
    index = b"\0\1" + bytes([len(place)]) + b"z" + place + bytes(4) + b"\1\0\0\0"
    crc = crc32c(index + b"\0")
    index += b"\0" + (((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff).to_bytes(4, "little")
    footer = varint(len(made)) + varint(8) + varint(len(made) + len(none)) + varint(len(index) - 5)
    restore(bytes(made) + none + index + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db"))


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 & -(crc & 1))
    return crc ^ 0xffffffff


def record_file(options):
    with tf.io.TFRecordWriter(PATH, options) as w:
        for k in range(5):
            w.write(b"record" * k * 40)
    return open(PATH, "rb").read()


def targets():
    made = [(example(), parse), (sequence(), parse_sequence), (record_file(""), records("")), (record_file("GZIP"), records("GZIP")),
            (record_file("ZLIB"), records("ZLIB")), (zlib.compress(b"abc" * 999), lambda d: tf.io.decode_compressed(d, "ZLIB")),
            (gzip.compress(b"abc" * 999), lambda d: tf.io.decode_compressed(d, "GZIP")),
            (tf.io.serialize_tensor([[1.5, 2.5]]).numpy(), lambda d: tf.io.parse_tensor(d, tf.float32)),
            (tf.io.serialize_tensor(["ab", "c"]).numpy(), lambda d: tf.io.parse_tensor(d, tf.string)),
            (b'1,"a ""b""",2.5\n', lambda d: tf.io.decode_csv([d], [[0], [""], [0.0]])),
            (bytes(range(32)), lambda d: tf.io.decode_raw(d, tf.int32))]
    index = checkpoint()
    made += [(index, restore), (index[:index.index(bytes(4) + b"\1\0\0\0\0", index.index(b"text"))], resummed)]
    if hasattr(tf.io, "decode_jpeg"):
        image = tf.cast(tf.reshape(tf.range(40 * 50 * 3) % 251, [40, 50, 3]), tf.uint8)
        jpeg, png = tf.io.encode_jpeg(image).numpy(), tf.io.encode_png(image).numpy()
        bmp = b"BM" + bytes(8) + (54).to_bytes(4, "little") + bytes(4) + (2).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + bytes(24) + bytes(16)
        gif = bytes.fromhex("47494638396102000200800000ff0000ffffff2c0000000002000200000202040a003b")
        made += [(jpeg, tf.io.decode_jpeg), (tf.io.encode_jpeg(image, progressive=True).numpy(), tf.io.decode_jpeg),
                 (png, tf.io.decode_png), (png, lambda d: tf.io.decode_png(d, dtype=tf.uint16)), (bmp, tf.io.decode_bmp),
                 (gif, tf.io.decode_gif), (jpeg, tf.io.extract_jpeg_shape), (png, tf.io.decode_image), (gif, tf.io.decode_image)]
    return made


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 5])):
        how, at = rng.randrange(6), rng.randrange(len(data) + 1)
        if how == 0 and data:
            data[at % len(data)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif how == 1 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif how == 2:
            del data[at:]
        elif how == 3:
            data[at:at] = rng.randbytes(rng.randrange(12))
        elif how == 4:
            data[at:at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\xff" * 10, b"\0\0\0\0", b"\x80" * 9])
        else:
            data[at:at] = data[at:at + 30]
    return bytes(data) if rng.random() > 0.02 else rng.randbytes(rng.randrange(80))


def main(seconds, seed):
    every, end, n = targets(), time.monotonic() + seconds, 0
    resource.setrlimit(resource.RLIMIT_AS, (LARGE + (4 << 30), LARGE + (4 << 30)))
    while time.monotonic() < end:
        rng = random.Random(seed * 1_000_003 + n)
        data, decode = rng.choice(every)
        data, before = damaged(rng, data), time.monotonic()
        try:
            decode(data)
        except ALLOWED:
            pass
        except BaseException:
            print(f"case {n}: {data.hex()}", flush=True)
            raise
        if time.monotonic() - before > SLOW:
            print(f"case {n} took {time.monotonic() - before:.1f} s: {data.hex()[:400]}")
            return 1
        n += 1
    print(f"{n} cases, {len(every)} kinds, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most")
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PATH = folder + "/f"
        sys.exit(main(float(sys.argv[1]), int(sys.argv[2])))
