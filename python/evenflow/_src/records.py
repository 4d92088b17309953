"""TFRecord files: tf.io.TFRecordWriter and tf.compat.v1.io.tf_record_iterator."""
import zlib

from . import _core
from .namespace import export


@export("compat.v1.io.TFRecordCompressionType", "compat.v1.python_io.TFRecordCompressionType")
class TFRecordCompressionType:
    """The compression of a record file, as numbers of TensorFlow 1."""

    NONE, ZLIB, GZIP = 0, 1, 2


_NUMBERS = {
    "flush_mode": 0,
    "window_bits": 0,  # 0 means the maximum
    "compression_level": zlib.Z_DEFAULT_COMPRESSION,
    "compression_method": zlib.DEFLATED,
    "mem_level": zlib.DEF_MEM_LEVEL,
    "compression_strategy": zlib.Z_DEFAULT_STRATEGY,
}


@export("io.TFRecordOptions", "compat.v1.io.TFRecordOptions", "compat.v1.python_io.TFRecordOptions")
class TFRecordOptions:
    """The compression of a record file ("", "GZIP" or "ZLIB") and the parameters of zlib."""

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """The compression as a string, from options, a number of TFRecordCompressionType or a string."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, TFRecordCompressionType) or options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in ("", "GZIP", "ZLIB"):
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def _numbers(self):
        given = {name: getattr(self, name) for name in _NUMBERS}
        return [_NUMBERS[name] if value is None else int(value) for name, value in given.items()]


@export("io.TFRecordWriter", "compat.v1.io.TFRecordWriter", "compat.v1.python_io.TFRecordWriter")
class TFRecordWriter(_core.RecordWriter):
    """Writes records to a TFRecord file. As a context manager it closes the file."""

    def __new__(cls, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        compression = TFRecordOptions.get_compression_type_string(options)
        return super().__new__(cls, path, compression, *options._numbers())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


@export("compat.v1.io.tf_record_iterator", "compat.v1.python_io.tf_record_iterator")
def tf_record_iterator(path, options=None):
    """An iterator over the records of a TFRecord file, as bytes."""
    return _core.RecordReader(path, TFRecordOptions.get_compression_type_string(options))
