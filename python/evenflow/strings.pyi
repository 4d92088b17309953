"""Type stubs of evenflow.strings. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill='', name=None):
    """Converts each element to a string."""

def bytes_split(input, name=None):
    """Splits each string into bytes. Returns a ragged tensor."""

def format(template, inputs, placeholder='{}', summarize=3, name=None):
    """A string tensor: `template` with its placeholders replaced by the values of tensors."""

def join(inputs, separator='', name=None):
    """Joins the strings of all `inputs` elementwise."""

def length(input, unit='BYTE', name=None):
    """The length of each string in bytes or UTF-8 characters."""

def lower(input, encoding='', name=None):
    """Each string in lower case."""

def ngrams(data, ngram_width, separator=' ', pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """n-grams: joins `ngram_width` neighbouring strings along the last axis with `separator`, for one width or several."""

def reduce_join(inputs, axis=None, keepdims=False, separator='', name=None):
    """Joins the strings along `axis`. With several axes, the first one varies fastest; None joins all strings, row by row."""

def regex_full_match(input, pattern, name=None):
    """Whether `pattern` matches each whole string."""

def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Replaces the matches of `pattern` in each string by `rewrite`, in which \\1 is the first group."""

def split(input, sep=None, maxsplit=-1, name=None):
    """Splits each string at `sep` (None means white space). Returns a ragged tensor."""

def strip(input, name=None) -> Tensor:
    """Removes white space from both ends of each string."""

def substr(input, pos, len, unit='BYTE', name=None):
    """The part of each string from `pos` on, `len` bytes or characters long."""

def to_hash_bucket(input, num_buckets, name=None):
    """The hash bucket of each string. The hash function may change between versions."""

def to_hash_bucket_fast(input, num_buckets, name=None) -> Tensor:
    """The bucket of each string: its FarmHash fingerprint modulo `num_buckets`."""

def to_hash_bucket_strong(input, num_buckets, key, name=None) -> Tensor:
    """The bucket of each string: SipHash with the two words of `key`, modulo `num_buckets`."""

def to_number(input, out_type=..., name=None):
    """Parses each string as a number."""

def unicode_decode(input, input_encoding, errors='replace', replacement_char=65533, replace_control_characters=False, name=None):
    """Decodes each string to the code points of its characters. Returns a ragged tensor."""

def unicode_decode_with_offsets(input, input_encoding, errors='replace', replacement_char=65533, replace_control_characters=False, name=None):
    """(code points, byte at which each character begins in its string), as ragged tensors."""

def unicode_encode(input, output_encoding, errors='replace', replacement_char=65533, name=None):
    """Encodes code points along the last axis to strings."""

def unicode_split(input, input_encoding, errors='replace', replacement_char=65533, name=None):
    """Splits each string into its characters. Returns a ragged tensor of strings."""

def unicode_split_with_offsets(input, input_encoding, errors='replace', replacement_char=65533, name=None):
    """(characters, byte at which each begins in its string), as ragged tensors."""

def unicode_transcode(input, input_encoding, output_encoding, errors='replace', replacement_char=65533, replace_control_characters=False, name=None):
    """Each string in another encoding of its characters."""

def unsorted_segment_join(inputs, segment_ids, num_segments, separator='', name=None):
    """Joins the strings of each segment in their order."""

def upper(input, encoding='', name=None):
    """Each string in upper case."""
