"""Decoding and encoding JPEG, PNG, GIF, BMP: pixels, sizes and errors. Images are made by numpy and zlib, so that both sides
decode the same bytes."""
import struct
import zlib

import numpy as np


def _pixels(height, width, channels, bits=8):
    y, x, c = np.mgrid[:height, :width, :channels]
    scale = 1 if bits == 8 else 257
    return ((y * 7 + x * 3 + c * 50 + (x * y) % 11) % 256 * scale).astype(np.uint8 if bits == 8 else np.uint16)


def _png(pixels, color, bits=8, palette=None, alpha=None):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + r.astype(">u2" if bits == 16 else "u1").tobytes() for r in pixels)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0))
    extra = (chunk(b"PLTE", palette) if palette else b"") + (chunk(b"tRNS", alpha) if alpha else b"")
    return b"\x89PNG\r\n\x1a\n" + head + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _bmp(pixels, flip=False):
    height, width, channels = pixels.shape
    turned = pixels if flip else pixels[::-1]
    turned = turned[..., [2, 1, 0, 3][:channels]] if channels >= 3 else turned
    rows = b"".join(r.tobytes() + bytes(-len(r.tobytes()) % 4) for r in turned)
    head = struct.pack("<IiiHHIIiiII", 40, width, -height if flip else height, 1, channels * 8, 0, len(rows), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + head + rows


def _gif(frames=1, interlace=0, transparent=False):
    out = b"GIF89a" + struct.pack("<HHBBB", 4, 3, 0x81, 0, 0) + bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    for k in range(frames):
        if transparent:
            out += b"!\xf9\x04\x01\0\0" + bytes([1]) + b"\0"
        codes = [4] + [(j + k) % 3 for j in range(12)] + [5]  # codes of 3 bits, cleared often enough to stay that wide
        spaced, bits, n = [], 0, 0
        for j, c in enumerate(codes):
            spaced += [c] if j == 0 or j % 2 else [c, 4][:1] + ([4] if j < len(codes) - 1 else [])
        data = b""
        for c in spaced:
            bits |= c << n
            n += 3
            while n >= 8:
                data, bits, n = data + bytes([bits & 255]), bits >> 8, n - 8
        data += bytes([bits & 255])
        out += b"," + struct.pack("<HHHHB", 0, 0, 4, 3, interlace << 6) + b"\x02" + bytes([len(data)]) + data + b"\0"
    return out + b";"


def png_kinds(tf, tmp):
    made = {"grey": _png(_pixels(5, 7, 1), 0), "rgb": _png(_pixels(5, 7, 3), 2), "rgba": _png(_pixels(5, 7, 4), 6), "grey_alpha": _png(_pixels(5, 7, 2), 4)}
    return {k: [tf.io.decode_png(v, channels=c) for c in (0, 1, 3, 4)] for k, v in made.items()}


def png_16(tf, tmp):
    made = {"grey": _png(_pixels(5, 7, 1, 16), 0, 16), "rgb": _png(_pixels(5, 7, 3, 16), 2, 16)}
    return {k: [tf.io.decode_png(v, dtype=tf.uint16), tf.io.decode_png(v)] for k, v in made.items()}


def png_8_as_16(tf, tmp):
    return tf.io.decode_png(_png(_pixels(3, 4, 3), 2), dtype=tf.uint16)


def png_palette(tf, tmp):
    data = _png(_pixels(4, 4, 1) % 3, 3, palette=bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]))
    seen = _png(_pixels(4, 4, 1) % 3, 3, palette=bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]), alpha=bytes([0, 128, 255]))
    return [tf.io.decode_png(data), tf.io.decode_png(data, channels=1), tf.io.decode_png(seen), tf.io.decode_png(seen, channels=3)]


def png_bits(tf, tmp):
    rows = np.array([[0b10110010], [0b01010101]], np.uint8)
    data = _png(rows, 0, 8)
    return tf.io.decode_png(data)


def png_round_trip(tf, tmp):
    made = []
    for c in (1, 2, 3, 4):
        for bits in (8, 16):
            x = _pixels(6, 5, c, bits)
            made.append(bool(np.all(tf.io.decode_png(tf.io.encode_png(x), channels=0 if c != 2 else 4, dtype=x.dtype).numpy()[..., :1] == x[..., :1])))
    return made


def png_encode_batch(tf, tmp):
    out = tf.io.encode_png(np.stack([_pixels(3, 4, 3), _pixels(3, 4, 3) + 1]))
    return [out.shape.as_list(), [tf.io.decode_png(x) for x in out]]


def png_cut(tf, tmp):
    tf.io.decode_png(_png(_pixels(30, 40, 3), 2)[:60])


def png_bad(tf, tmp):
    tf.io.decode_png(b"\x89PNG\r\n\x1a\nnot at all an image")


def png_crc(tf, tmp):
    data = bytearray(_png(_pixels(5, 7, 3), 2))
    data[18] ^= 1
    tf.io.decode_png(bytes(data))


def png_channels(tf, tmp):
    tf.io.decode_png(_png(_pixels(5, 7, 3), 2), channels=2)


def png_compression(tf, tmp):
    tf.io.encode_png(_pixels(3, 4, 3), compression=12)


def png_encode_channels(tf, tmp):
    tf.io.encode_png(_pixels(3, 4, 5))


def bmp(tf, tmp):
    return [tf.io.decode_bmp(_bmp(_pixels(5, 7, c))) for c in (1, 3, 4)] + [tf.io.decode_bmp(_bmp(_pixels(4, 3, 3), True), channels=3)]


def bmp_cut(tf, tmp):
    tf.io.decode_bmp(_bmp(_pixels(5, 7, 3))[:80])


def bmp_channels(tf, tmp):
    tf.io.decode_bmp(_bmp(_pixels(5, 7, 3)), channels=4)


def gif(tf, tmp):
    return [tf.io.decode_gif(_gif()), tf.io.decode_gif(_gif(3)), tf.io.decode_gif(_gif(2, 1)), tf.io.decode_gif(_gif(2, transparent=True))]


def gif_cut(tf, tmp):
    tf.io.decode_gif(_gif()[:30])


def images(tf, tmp):
    made = {"png": _png(_pixels(5, 7, 3), 2), "bmp": _bmp(_pixels(5, 7, 3)), "gif": _gif(2)}
    return {k: [tf.io.decode_image(v), tf.io.decode_image(v, dtype=tf.float32), tf.io.decode_image(v, expand_animations=False)] for k, v in made.items()}


def image_16(tf, tmp):
    return [tf.io.decode_image(_png(_pixels(5, 7, 3, 16), 2, 16), dtype=tf.uint16), tf.io.decode_image(_png(_pixels(5, 7, 3), 2), dtype=tf.uint16)]


def image_unknown(tf, tmp):
    tf.io.decode_image(b"no image")


def image_empty(tf, tmp):
    tf.io.decode_image(b"")


def jpeg_round_trip(tf, tmp):
    x = _pixels(33, 47, 3)
    makes = ({}, {"quality": 30}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}, {"format": "rgb", "density_unit": "cm", "x_density": 1, "y_density": 2})
    return [tf.io.decode_jpeg(tf.io.encode_jpeg(x, **m)) for m in makes]


def jpeg_bytes(tf, tmp):
    return [tf.io.encode_jpeg(_pixels(16, 16, 3)), tf.io.encode_jpeg(_pixels(9, 11, 1)), tf.io.encode_jpeg(_pixels(16, 16, 3), xmp_metadata="abc")]


def jpeg_options(tf, tmp):
    data = tf.io.encode_jpeg(_pixels(64, 80, 3)).numpy()
    return [tf.io.decode_jpeg(data, **o) for o in ({"channels": 1}, {"ratio": 2}, {"ratio": 4}, {"ratio": 8}, {"fancy_upscaling": False},
                                                   {"dct_method": "INTEGER_ACCURATE"}, {"dct_method": "INTEGER_FAST"})]


def jpeg_grey(tf, tmp):
    data = tf.io.encode_jpeg(_pixels(20, 30, 1)).numpy()
    return [tf.io.decode_jpeg(data), tf.io.decode_jpeg(data, channels=3), tf.io.extract_jpeg_shape(data), tf.io.extract_jpeg_shape(data, tf.int64)]


def jpeg_crop(tf, tmp):
    data = tf.io.encode_jpeg(_pixels(64, 80, 3), chroma_downsampling=False).numpy()
    return [tf.io.decode_and_crop_jpeg(data, w) for w in ([0, 0, 64, 80], [8, 16, 20, 24], [5, 3, 11, 13], [63, 79, 1, 1])]


def jpeg_is(tf, tmp):
    return [tf.io.is_jpeg(tf.io.encode_jpeg(_pixels(4, 4, 3))), tf.io.is_jpeg(b"no"), tf.io.is_jpeg(b"")]


def jpeg_crop_outside(tf, tmp):
    tf.io.decode_and_crop_jpeg(tf.io.encode_jpeg(_pixels(8, 8, 3)), [0, 0, 9, 4])


def jpeg_cut(tf, tmp):
    tf.io.decode_jpeg(tf.io.encode_jpeg(_pixels(64, 80, 3)).numpy()[:600])


def jpeg_cut_mended(tf, tmp):
    return tf.io.decode_jpeg(tf.io.encode_jpeg(_pixels(64, 80, 3)).numpy()[:1200], try_recover_truncated=True).shape.as_list()


def jpeg_bad(tf, tmp):
    tf.io.decode_jpeg(b"\xff\xd8\xffnot an image")


def jpeg_ratio(tf, tmp):
    tf.io.decode_jpeg(b"", ratio=3)


def jpeg_method(tf, tmp):
    tf.io.decode_jpeg(b"", dct_method="FAST")


def jpeg_quality(tf, tmp):
    tf.io.encode_jpeg(_pixels(4, 4, 3), quality=101)


def jpeg_shape_bad(tf, tmp):
    tf.io.extract_jpeg_shape(b"no")


def jpeg_encode_channels(tf, tmp):
    tf.io.encode_jpeg(_pixels(4, 4, 4))


def in_function(tf, tmp):
    @tf.function
    def f(x):
        image = tf.io.decode_png(x, channels=3)
        assert image.shape.as_list() == [None, None, 3]
        return tf.cast(image, tf.float32) / 256.0

    return f(tf.constant(_png(_pixels(5, 7, 3), 2)))


def _small_gif(screen, *frames):
    """Frames of 2 x 2 pixels each, placed and named with sizes as given."""
    head = b"GIF89a" + bytes([screen[0] % 256, screen[0] // 256, screen[1] % 256, screen[1] // 256]) + b"\x80\0\0\xff\0\0\0\0\xff"
    return head + b"".join(b"," + bytes([left, 0, top, 0, 2, 0, 2, 0, 0]) + b"\x02\x03D\x02\x05\0" for left, top in frames) + b";"


def gif_screens(tf, tmp):
    return [tf.io.decode_gif(_small_gif(screen, (0, 0))) for screen in ((2, 2), (131, 2), (33026, 2), (60000, 60000), (1, 1))]


def gif_screen_of_frames(tf, tmp):
    return [tf.io.decode_gif(_small_gif((9, 9), (0, 0), (1, 1))), tf.io.decode_gif(_small_gif((9, 9), (1, 0)))]


def png_without_end(tf, tmp):
    tf.io.decode_png(_png(_pixels(5, 7, 3), 2)[:-12])


def png_end_cut(tf, tmp):
    tf.io.decode_png(_png(_pixels(5, 7, 3), 2)[:-3])


def bmp_one_byte_less(tf, tmp):
    tf.io.decode_bmp(_bmp(_pixels(5, 8, 3))[:-1])


def bmp_one_byte_more(tf, tmp):
    tf.io.decode_bmp(_bmp(_pixels(5, 8, 3)) + b"\0")
