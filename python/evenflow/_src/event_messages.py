"""The protobuf messages of event files: tf.compat.v1.Event, Summary, GraphDef and the messages they contain. The package
protobuf builds the classes from the description in this file.

As in example_messages.py, protobuf is imported when the first message is used, and the messages are in a descriptor pool of
their own. Messages of tensors and graphs have only the fields that event files need.
"""
import functools

from .namespace import find_others
from .packages import package

_NEEDS = "tf.compat.v1.Event", "protobuf"

_PACKAGE = "tensorflow"
# A line without indentation names a message; its fields follow: type, name, number. `*` means repeated, `map` a map from
# strings, `|` a member of the message's only oneof.
_TEXT = """
TensorShapeProto.Dim
    int64 size 1
    string name 2
TensorShapeProto
    *TensorShapeProto.Dim dim 2
    bool unknown_rank 3
VersionDef
    int32 producer 1
    int32 min_consumer 2
    *int32 bad_consumers 3
TensorProto
    DataType dtype 1
    TensorShapeProto tensor_shape 2
    int32 version_number 3
    bytes tensor_content 4
    *float float_val 5
    *double double_val 6
    *int32 int_val 7
    *bytes string_val 8
    *float scomplex_val 9
    *int64 int64_val 10
    *bool bool_val 11
    *double dcomplex_val 12
    *int32 half_val 13
    *uint32 uint32_val 16
    *uint64 uint64_val 17
NameAttrList
    string name 1
    map.AttrValue attr 2
AttrValue.ListValue
    *bytes s 2
    *int64 i 3
    *float f 4
    *bool b 5
    *DataType type 6
    *TensorShapeProto shape 7
    *TensorProto tensor 8
    *NameAttrList func 9
AttrValue
    |AttrValue.ListValue list 1
    |bytes s 2
    |int64 i 3
    |float f 4
    |bool b 5
    |DataType type 6
    |TensorShapeProto shape 7
    |TensorProto tensor 8
    |string placeholder 9
    |NameAttrList func 10
NodeDef
    string name 1
    string op 2
    *string input 3
    string device 4
    map.AttrValue attr 5
OpDef.ArgDef
    string name 1
    string description 2
    DataType type 3
    string type_attr 4
    string number_attr 5
    string type_list_attr 6
OpDef
    string name 1
    *OpDef.ArgDef input_arg 2
    *OpDef.ArgDef output_arg 3
    bool is_stateful 17
FunctionDef
    OpDef signature 1
    *NodeDef node_def 3
    map.string ret 4
    map.AttrValue attr 5
    map.string control_ret 6
FunctionDefLibrary
    *FunctionDef function 1
GraphDef
    *NodeDef node 1
    FunctionDefLibrary library 2
    int32 version 3
    VersionDef versions 4
HistogramProto
    double min 1
    double max 2
    double num 3
    double sum 4
    double sum_squares 5
    *double bucket_limit 6
    *double bucket 7
SummaryDescription
    string type_hint 1
SummaryMetadata.PluginData
    string plugin_name 1
    bytes content 2
SummaryMetadata
    SummaryMetadata.PluginData plugin_data 1
    string display_name 2
    string summary_description 3
    DataClass data_class 4
Summary.Image
    int32 height 1
    int32 width 2
    int32 colorspace 3
    bytes encoded_image_string 4
Summary.Audio
    float sample_rate 1
    int64 num_channels 2
    int64 length_frames 3
    bytes encoded_audio_string 4
    string content_type 5
Summary.Value
    string node_name 7
    string tag 1
    SummaryMetadata metadata 9
    |float simple_value 2
    |bytes obsolete_old_style_histogram 3
    |Summary.Image image 4
    |HistogramProto histo 5
    |Summary.Audio audio 6
    |TensorProto tensor 8
Summary
    *Summary.Value value 1
LogMessage
    LogMessage.Level level 1
    string message 2
SessionLog
    SessionLog.SessionStatus status 1
    string checkpoint_path 2
    string msg 3
TaggedRunMetadata
    string tag 1
    bytes run_metadata 2
SourceMetadata
    string writer 1
Event
    double wall_time 1
    int64 step 2
    |string file_version 3
    |bytes graph_def 4
    |Summary summary 5
    |LogMessage log_message 6
    |SessionLog session_log 7
    |TaggedRunMetadata tagged_run_metadata 8
    |bytes meta_graph_def 9
    SourceMetadata source_metadata 10
"""
_ENUMS = {
    "DataType": {"DT_INVALID": 0, "DT_FLOAT": 1, "DT_DOUBLE": 2, "DT_INT32": 3, "DT_UINT8": 4, "DT_INT16": 5, "DT_INT8": 6,
                 "DT_STRING": 7, "DT_COMPLEX64": 8, "DT_INT64": 9, "DT_BOOL": 10, "DT_QINT8": 11, "DT_QUINT8": 12,
                 "DT_QINT32": 13, "DT_BFLOAT16": 14, "DT_QINT16": 15, "DT_QUINT16": 16, "DT_UINT16": 17, "DT_COMPLEX128": 18,
                 "DT_HALF": 19, "DT_RESOURCE": 20, "DT_VARIANT": 21, "DT_UINT32": 22, "DT_UINT64": 23},
    "DataClass": {"DATA_CLASS_UNKNOWN": 0, "DATA_CLASS_SCALAR": 1, "DATA_CLASS_TENSOR": 2, "DATA_CLASS_BLOB_SEQUENCE": 3},
    "LogMessage.Level": {"UNKNOWN": 0, "DEBUGGING": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50},
    "SessionLog.SessionStatus": {"STATUS_UNSPECIFIED": 0, "START": 1, "STOP": 2, "CHECKPOINT": 3},
}
PUBLIC = ("Event", "Summary", "SummaryMetadata", "HistogramProto", "LogMessage", "SessionLog", "GraphDef", "NodeDef", "AttrValue",
           "NameAttrList", "TaggedRunMetadata", "SummaryDescription", "TensorProto", "TensorShapeProto")
_ONEOF = {"Summary.Value": "value", "Event": "what", "AttrValue": "value"}


def _parse():
    messages = {}
    for line in _TEXT.strip().splitlines():
        if not line.startswith(" "):
            fields = messages[line] = []
        else:
            kind, name, number = line.split()
            fields.append((kind.lstrip("*|"), name, int(number), kind[0]))
    return messages


def _set_type(field, kind):
    types = type(field)
    if kind in _ENUMS:
        field.type, field.type_name = types.TYPE_ENUM, f".{_PACKAGE}.{kind}"
    elif kind[0].isupper():
        field.type, field.type_name = types.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    else:
        field.type = getattr(types, f"TYPE_{kind.upper()}")


def _add_field(message, full, kind, name, number, mark):
    field = message.field.add(name=name, number=number, label=3 if mark == "*" or kind.startswith("map.") else 1)
    if kind.startswith("map."):
        entry = message.nested_type.add(name="".join(w.title() for w in name.split("_")) + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=9)
        _set_type(entry.field.add(name="value", number=2, label=1), kind[len("map."):])
        field.type, field.type_name = 11, f".{_PACKAGE}.{full}.{entry.name}"
        return
    _set_type(field, kind)
    if mark == "|":
        field.oneof_index = 0


def _describe():
    descriptor_pb2 = package("google.protobuf.descriptor_pb2", *_NEEDS)
    file = descriptor_pb2.FileDescriptorProto(name="evenflow/event.proto", package=_PACKAGE, syntax="proto3")
    made = {}
    described = _parse()
    for full in sorted(described, key=lambda n: n.count(".")):  # outer messages before nested ones
        outer, _, name = full.rpartition(".")
        message = made[full] = (made[outer].nested_type if outer else file.message_type).add(name=name)
        if full in _ONEOF:
            message.oneof_decl.add(name=_ONEOF[full])
        for field in described[full]:
            _add_field(message, full, *field)
    for full, values in _ENUMS.items():
        outer, _, name = full.rpartition(".")
        enum = (made[outer] if outer else file).enum_type.add(name=name)
        for word, number in values.items():
            enum.value.add(name=word, number=number)
    return file


@functools.cache
def _classes():
    descriptor_pool, message_factory = (package(f"google.protobuf.{n}", *_NEEDS) for n in ("descriptor_pool", "message_factory"))
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_describe().SerializeToString())
    made = {}
    for name in PUBLIC:
        made[name] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        made[name].__module__ = __name__  # where pickle finds it
        made[name].__name__ = made[name].__qualname__ = name
    return made


def message(name):
    """The message class `name`. Raises AttributeError if there is none."""
    if name not in PUBLIC:
        raise AttributeError(name)
    return _classes()[name]


_IN_SUMMARY = ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata")


def _in_summary(name):
    if name not in _IN_SUMMARY:
        raise AttributeError(name)
    return message(name)



__getattr__ = message
find_others("compat.v1.summary", _in_summary)
