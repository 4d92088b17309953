"""tf.strings: joining, splitting, regular expressions, hashing, and conversion to and from numbers."""
from .. import errors
from ..dispatch import REFUSED, redirect
from ..namespace import export, offer_ops
from ..ragged import RaggedTensor, as_ragged, has_rows
from .common import SparseTensor, convert, dtypes, executing_eagerly, known, np, rank_of, raw

offer_ops(
    """
    DecodeBase64 | input | io.decode_base64 compat.v1.decode_base64
    EncodeBase64 | input, pad | io.encode_base64 compat.v1.encode_base64
    StringStrip | input | strings.strip
    StringToHashBucketFast | input, num_buckets | strings.to_hash_bucket_fast
    StringToHashBucketStrong | input, num_buckets, key | strings.to_hash_bucket_strong
    StringToHashBucket | string_tensor, num_buckets | compat.v1.string_to_hash_bucket compat.v1.strings.to_hash_bucket
    """
)


@export("strings.to_hash_bucket")
def to_hash_bucket(input, num_buckets, name=None):  # noqa: A002
    """The hash bucket of each string. The hash function may change between versions."""
    try:
        return raw.StringToHashBucket(input, num_buckets, name=name)
    except REFUSED:
        return redirect(to_hash_bucket, input, num_buckets, name=name)


@export("strings.as_string", "as_string")
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):  # noqa: A002
    """Converts each element to a string."""
    try:
        return raw.AsString(convert(input), precision, scientific, shortest, width, fill, name=name)
    except REFUSED:
        return redirect(as_string, input, precision, scientific, shortest, width, fill, name=name)


@export("strings.join")
def join(inputs, separator="", name=None):
    """Joins the strings of all `inputs` elementwise."""
    try:
        return raw.StringJoin([convert(i, dtypes.string) for i in inputs], separator, name=name)
    except REFUSED:
        return redirect(join, inputs, separator, name=name)


@export("compat.v1.strings.reduce_join", "compat.v1.reduce_join")
def v1_reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """reduce_join with the older names of its arguments."""
    for new, old, words in ((axis, reduction_indices, "axis and reduction_indices"), (keepdims, keep_dims, "keepdims and keep_dims")):
        if new is not None and old is not None:
            raise ValueError(f"Cannot specify both {words}: they mean the same")
    axis = reduction_indices if axis is None else axis
    return reduce_join(inputs, axis, bool(keep_dims if keepdims is None else keepdims), separator, name)


@export("strings.reduce_join")
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Joins the strings along `axis`. With several axes, the first one varies fastest; None joins all strings, row by row."""
    try:
        inputs = convert(inputs)
    except REFUSED:
        return redirect(reduce_join, inputs, axis, keepdims, separator, name=name)
    if axis is None:
        rank = rank_of(inputs)
        if rank is None:
            last = raw.Sub(raw.Rank(inputs), 1)
            axis = raw.Range(last, -1, -1)
        else:
            axis = np.arange(rank - 1, -1, -1, dtype=np.int32)
    rank = rank_of(inputs)
    if executing_eagerly() and any(not -rank <= a < rank for a in np.ravel(known(axis)).tolist()):
        raise errors.OutOfRangeError(None, None, f"Invalid reduction dimension in {axis} for input with {rank} dimension(s)")
    return raw.ReduceJoin(inputs, convert(axis, dtypes.int32), keepdims, separator, name=name)


@export("strings.unsorted_segment_join")
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Joins the strings of each segment in their order."""
    return raw.UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator, name=name)


@export("strings.length")
def length(input, unit="BYTE", name=None):  # noqa: A002
    """The length of each string in bytes or UTF-8 characters."""
    try:
        return raw.StringLength(convert(input, dtypes.string), unit, name=name)
    except REFUSED:
        return redirect(length, input, unit, name=name)


@export("strings.lower")
def lower(input, encoding="", name=None):  # noqa: A002
    """Each string in lower case."""
    try:
        return raw.StringLower(convert(input, dtypes.string), encoding, name=name)
    except REFUSED:
        return redirect(lower, input, encoding, name=name)


@export("strings.upper")
def upper(input, encoding="", name=None):  # noqa: A002
    """Each string in upper case."""
    try:
        return raw.StringUpper(convert(input, dtypes.string), encoding, name=name)
    except REFUSED:
        return redirect(upper, input, encoding, name=name)


@export("strings.substr")
def substr(input, pos, len, unit="BYTE", name=None):  # noqa: A002
    """The part of each string from `pos` on, `len` bytes or characters long."""
    try:
        return raw.Substr(convert(input, dtypes.string), pos, len, unit, name=name)
    except REFUSED:
        return redirect(substr, input, pos, len, unit, name=name)


@export("compat.v1.substr", "compat.v1.strings.substr")
def v1_substr(input, pos, len, name=None, unit="BYTE"):  # noqa: A002
    """substr with the older order of its arguments."""
    return substr(input, pos, len, unit, name)


@export("strings.to_number")
def to_number(input, out_type=dtypes.float32, name=None):  # noqa: A002
    """Parses each string as a number."""
    try:
        return raw.StringToNumber(convert(input, dtypes.string), out_type, name=name)
    except REFUSED:
        return redirect(to_number, input, out_type, name=name)


@export("strings.regex_replace")
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):  # noqa: A002
    """Replaces the matches of `pattern` in each string by `rewrite`, in which \\1 is the first group."""
    try:
        op = raw.StaticRegexReplace if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)) else raw.RegexReplace
        return op(convert(input, dtypes.string), pattern, rewrite, replace_global, name=name)
    except REFUSED:
        return redirect(regex_replace, input, pattern, rewrite, replace_global, name=name)


@export("strings.regex_full_match")
def regex_full_match(input, pattern, name=None):  # noqa: A002
    """Whether `pattern` matches each whole string."""
    try:
        op = raw.StaticRegexFullMatch if isinstance(pattern, (str, bytes)) else raw.RegexFullMatch
        return op(convert(input, dtypes.string), pattern, name=name)
    except REFUSED:
        return redirect(regex_full_match, input, pattern, name=name)


# ---- splitting ------------------------------------------------------------------------------------------


def _tokens(strings, parts):
    """The tokens of strings of any rank, as a ragged tensor with one more dimension. `parts` splits a vector."""
    if has_rows(strings):
        strings = as_ragged(strings)
        return strings.with_flat_values(_tokens(strings.flat_values, parts))
    strings = convert(strings, dtypes.string)
    rank = rank_of(strings)
    if rank == 0:
        return parts(raw.Reshape(strings, [1]))[1]
    if rank is not None and rank > 1:
        return _tokens(RaggedTensor.from_tensor(strings, ragged_rank=rank - 1), parts)
    places, values, shape = parts(strings)
    return RaggedTensor.from_value_rowids(values, places[:, 0], shape[0], validate=False)


@export("strings.split")
def split(input, sep=None, maxsplit=-1, name=None):  # noqa: A002
    """Splits each string at `sep` (None means white space). Returns a ragged tensor."""
    return _tokens(input, lambda x: raw.StringSplitV2(x, "" if sep is None else sep, maxsplit, name=name))


@export("strings.bytes_split")
def bytes_split(input, name=None):  # noqa: A002
    """Splits each string into bytes. Returns a ragged tensor."""
    return _tokens(input, lambda x: raw.StringSplit(x, "", name=name))


def _typed(result_type, strings, parts):
    """Tokens as in TensorFlow 1: a SparseTensor, or a RaggedTensor if `result_type` says so."""
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    if not has_rows(strings):
        strings = convert(strings, dtypes.string)
        strings = raw.Reshape(strings, [1]) if rank_of(strings) == 0 else strings
        if result_type == "SparseTensor" and rank_of(strings) in (1, None):
            return SparseTensor(*parts(strings))
    made = _tokens(strings, parts)
    return made if result_type == "RaggedTensor" else made.to_sparse()


@export("compat.v1.strings.split")
def v1_split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):  # noqa: A002
    """Splits each string at `sep` (None means white space)."""
    strings = source if input is None else input
    if strings is None or (input is not None and source is not None):
        raise ValueError("strings.split takes one of the arguments `input` and `source`")
    return _typed(result_type, strings, lambda x: raw.StringSplitV2(x, "" if sep is None else sep, maxsplit, name=name))


@export("compat.v1.string_split")
def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """Splits each string at any of the bytes of `sep` (or `delimiter`; by default a space)."""
    sep = delimiter if sep is None else sep
    sep = convert(" " if sep is None else sep, dtypes.string)
    return _typed(result_type, source, lambda x: raw.StringSplit(x, sep, skip_empty, name=name))


@export("fingerprint")
def fingerprint(data, method="farmhash64", name=None):
    """An 8-byte fingerprint (hash) of each row of `data`."""
    return raw.Fingerprint(data, method, name=name)
