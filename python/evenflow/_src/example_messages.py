"""tf.train.Example and related protobuf messages. The package protobuf builds the classes from the description in this file.

Protobuf is imported when the first message is used. The messages are in a descriptor pool of their own, so that they do not
conflict with messages of the same name that another package in the process registers.
"""
import functools

from .namespace import find_others
from .packages import package

_NEEDS = "tf.train.Example", "protobuf"

_PACKAGE = "tensorflow"
_LISTS = {"BytesList": ("TYPE_BYTES", False), "FloatList": ("TYPE_FLOAT", True), "Int64List": ("TYPE_INT64", True)}
_MESSAGES = {  # message -> fields: (name, number, message type, "map", "repeated", "kind" for the oneof, or "")
    "Feature": (("bytes_list", 1, "BytesList", "kind"), ("float_list", 2, "FloatList", "kind"),
                ("int64_list", 3, "Int64List", "kind")),
    "Features": (("feature", 1, "Feature", "map"),),
    "FeatureList": (("feature", 1, "Feature", "repeated"),),
    "FeatureLists": (("feature_list", 1, "FeatureList", "map"),),
    "Example": (("features", 1, "Features", ""),),
    "SequenceExample": (("context", 1, "Features", ""), ("feature_lists", 2, "FeatureLists", "")),
}
NAMES = (*_LISTS, *_MESSAGES)


def _add_map(message, field, name, of):
    """Makes `field` a map, which protobuf describes as a repeated message of key and value."""
    entry = message.nested_type.add(name="".join(w.title() for w in name.split("_")) + "Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=9)
    entry.field.add(name="value", number=2, label=1, type=11, type_name=f".{_PACKAGE}.{of}")
    field.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"


def _describe():
    descriptor_pb2 = package("google.protobuf.descriptor_pb2", *_NEEDS)
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="evenflow/example.proto", package=_PACKAGE, syntax="proto3")
    for name, (kind, packed) in _LISTS.items():
        field = file.message_type.add(name=name).field.add(
            name="value", number=1, label=kinds.LABEL_REPEATED, type=getattr(kinds, kind))
        if packed:
            field.options.packed = True
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for word, number, of, how in fields:
            label = kinds.LABEL_REPEATED if how in ("map", "repeated") else kinds.LABEL_OPTIONAL
            field = message.field.add(name=word, number=number, label=label, type=kinds.TYPE_MESSAGE,
                                      type_name=f".{_PACKAGE}.{of}")
            if how == "map":
                _add_map(message, field, word, of)
            elif how == "kind":
                field.oneof_index = 0
        if name == "Feature":
            message.oneof_decl.add(name="kind")
    return file


@functools.cache
def _classes():
    descriptor_pool, message_factory = (package(f"google.protobuf.{n}", *_NEEDS) for n in ("descriptor_pool", "message_factory"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_describe()) if hasattr(pool, "Add") else pool.AddSerializedFile(_describe().SerializeToString())
    made = {}
    for name in NAMES:
        made[name] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        made[name].__module__ = __name__  # where pickle finds it
        made[name].__name__ = made[name].__qualname__ = name
    return made


def message(name):
    """The message class `name`. Raises AttributeError if there is none."""
    if name not in NAMES:
        raise AttributeError(name)
    return _classes()[name]


__getattr__ = message
find_others("train", message)
