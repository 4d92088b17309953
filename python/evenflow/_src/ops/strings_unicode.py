"""Unicode functions of tf.strings, and n-grams."""
from ..dispatch import REFUSED, redirect
from ..namespace import export
from ..ragged import RaggedTensor, as_ragged, has_rows
from .common import convert, dtypes, rank_of, raw


def _by_row(strings, parts):
    """Applies `parts`, which maps a vector of strings to a RaggedTensor, to strings of any rank. The result has one more
    dimension; for a scalar it is a vector."""
    if has_rows(strings):
        strings = as_ragged(strings)
        return strings.with_flat_values(_by_row(strings.flat_values, parts))
    strings = convert(strings, dtypes.string)
    rank = rank_of(strings)
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank == 0:
        return parts(raw.Reshape(strings, [1])).values
    if rank > 1:
        return _by_row(RaggedTensor.from_tensor(strings, ragged_rank=rank - 1), parts)
    return parts(strings)


@export("strings.unicode_decode")
def unicode_decode(input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False, name=None):  # noqa: A002
    """Decodes each string to the code points of its characters. Returns a ragged tensor."""
    def parts(vector):
        splits, values = raw.UnicodeDecode(vector, input_encoding=input_encoding, errors=errors, replacement_char=replacement_char,
                                           replace_control_characters=replace_control_characters)
        return RaggedTensor.from_row_splits(values, splits, validate=False)

    return _by_row(input, parts)


@export("strings.unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """Splits each string into its characters. Returns a ragged tensor of strings."""
    codes = unicode_decode(input, input_encoding, errors, replacement_char)
    flat = codes.flat_values if has_rows(codes) else codes
    single = raw.Range(convert(0, dtypes.int64), raw.AddV2(raw.Size(flat, dtypes.int64), convert(1, dtypes.int64)), convert(1, dtypes.int64))
    made = raw.UnicodeEncode(flat, single, output_encoding=input_encoding, errors="ignore", replacement_char=replacement_char)
    return codes.with_flat_values(made) if has_rows(codes) else made


@export("strings.unicode_transcode")
def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=65533,  # noqa: A002
                      replace_control_characters=False, name=None):
    """Each string in another encoding of its characters."""
    try:
        return raw.UnicodeTranscode(convert(input, dtypes.string), input_encoding, output_encoding, errors, replacement_char,
                                    replace_control_characters, name=name)
    except REFUSED:
        return redirect(unicode_transcode, input, input_encoding, output_encoding, errors, replacement_char,
                        replace_control_characters, name=name)


@export("strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """Encodes code points along the last axis to strings."""
    def encoded(values, splits):
        return raw.UnicodeEncode(values, splits, output_encoding=output_encoding, errors=errors, replacement_char=replacement_char)

    if has_rows(input):
        rows = as_ragged(input)
        if rows.ragged_rank > 1:
            return rows.with_values(unicode_encode(rows.values, output_encoding, errors, replacement_char))
        if rank_of(rows.values) == 1:
            return encoded(rows.values, rows.row_splits)
        return rows.with_values(unicode_encode(rows.values, output_encoding, errors, replacement_char))
    codes = convert(input, dtypes.int32)
    rank = rank_of(codes)
    if rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if rank == 1:
        return raw.Reshape(encoded(codes, raw.Pack([0, raw.Size(codes)])), [])
    sizes = raw.Shape(codes)
    flat = raw.Reshape(codes, raw.Pack([-1, sizes[-1]]))
    splits = raw.Mul(raw.Range(0, raw.AddV2(raw.Shape(flat)[0], 1), 1), sizes[-1])
    return raw.Reshape(encoded(raw.Reshape(flat, [-1]), splits), sizes[:-1])


def _paddings(pad_values):
    if pad_values is None:
        return "", ""
    if isinstance(pad_values, (list, tuple)):
        if len(pad_values) != 2 or not all(isinstance(p, (str, bytes)) for p in pad_values):
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        return tuple(pad_values)
    if not isinstance(pad_values, (str, bytes)):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pad_values, pad_values


@export("strings.ngrams")
def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """n-grams: joins `ngram_width` neighbouring strings along the last axis with `separator`, for one width or several."""
    left, right = _paddings(pad_values)
    if pad_values is None:
        padding_width = 0
    elif padding_width is None:
        padding_width = -1
    elif padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if not all(isinstance(w, int) for w in widths):
        raise TypeError("ngram_width must be an integer, tuple of ints, or list of ints")
    if any(w < 1 for w in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")

    def parts(values, splits):
        made, bounds = raw.StringNGrams(values, splits, separator=separator, ngram_widths=widths, left_pad=left, right_pad=right,
                                        pad_width=padding_width, preserve_short_sequences=preserve_short_sequences)
        return RaggedTensor.from_row_splits(made, bounds, validate=False)

    if has_rows(data):
        rows = as_ragged(data)
        if rows.ragged_rank > 1 or rank_of(rows.values) != 1:
            return rows.with_values(ngrams(rows.values, ngram_width, separator, pad_values, padding_width if padding_width > 0 else None, preserve_short_sequences))
        return parts(rows.values, rows.row_splits)
    data = convert(data, dtypes.string)
    rank = rank_of(data)
    if rank is None:
        raise ValueError("the rank of `data` must be known")
    if rank < 1:
        raise ValueError("the rank of `data` must be at least 1")
    if rank == 1:
        count = raw.Size(data, dtypes.int64)
        zero = convert(0, dtypes.int64)
        return parts(data, raw.Pack([zero, count])[: raw.AddV2(convert(1, dtypes.int32), raw.Cast(raw.Greater(count, zero), dtypes.int32))]).values
    rows = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
    return ngrams(rows, ngram_width, separator, pad_values, padding_width if padding_width > 0 else None,
                  preserve_short_sequences).to_tensor()


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=65533,  # noqa: A002
                                replace_control_characters=False, name=None):
    """(code points, byte at which each character begins in its string), as ragged tensors."""
    def part(which):
        def parts(vector):
            splits, *made = raw.UnicodeDecodeWithOffsets(vector, input_encoding=input_encoding, errors=errors,
                                                         replacement_char=replacement_char,
                                                         replace_control_characters=replace_control_characters)
            return RaggedTensor.from_row_splits(made[which], splits, validate=False)
        return parts

    return _by_row(input, part(0)), _by_row(input, part(1))


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """(characters, byte at which each begins in its string), as ragged tensors."""
    starts = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)[1]
    return unicode_split(input, input_encoding, errors, replacement_char), starts
