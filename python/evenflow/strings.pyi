"""Type stubs of evenflow.strings. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill='', name=None):
    """Each element written as text."""

def bytes_split(input, name=None):
    """The single bytes of each string, as a ragged tensor."""

def format(template, inputs, placeholder='{}', summarize=3, name=None):
    """`template` with the values of tensors in place of its placeholders, as a string tensor."""

def join(inputs, separator='', name=None):
    """The strings at each place of all `inputs`, joined."""

def length(input, unit='BYTE', name=None):
    """The length of each string in bytes or UTF-8 characters."""

def lower(input, encoding='', name=None):
    """Each string in lower case."""

def ngrams(data, ngram_width, separator=' ', pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """Neighbours along the last axis joined by `separator`, for one width or each of several."""

def reduce_join(inputs, axis=None, keepdims=False, separator='', name=None):
    """The strings along `axis` joined, the first axis named fastest; None joins all, row by row."""

def regex_full_match(input, pattern, name=None):
    """Whether `pattern` matches each whole string."""

def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Each string with what `pattern` matches replaced by `rewrite`, in which \\1 is a group."""

def split(input, sep=None, maxsplit=-1, name=None):
    """The tokens of each string between `sep` (None: white space), as a ragged tensor."""

def strip(input, name=None) -> Tensor:
    """Each string without white space at its ends."""

def substr(input, pos, len, unit='BYTE', name=None):
    """The part of each string from `pos` on, `len` bytes or characters long."""

def to_hash_bucket(input, num_buckets, name=None):
    """The bucket of each string by a hash that may change with the program's version."""

def to_hash_bucket_fast(input, num_buckets, name=None) -> Tensor:
    """The bucket of each string: its FarmHash fingerprint modulo `num_buckets`."""

def to_hash_bucket_strong(input, num_buckets, key, name=None) -> Tensor:
    """The bucket of each string: SipHash with the two words of `key`, modulo `num_buckets`."""

def to_number(input, out_type=..., name=None):
    """The number each string spells."""

def unicode_decode(input, input_encoding, errors='replace', replacement_char=65533, replace_control_characters=False, name=None):
    """The characters of each string as numbers, as a ragged tensor."""

def unicode_encode(input, output_encoding, errors='replace', replacement_char=65533, name=None):
    """A string from the numbers of its characters, which are the last axis."""

def unicode_split(input, input_encoding, errors='replace', replacement_char=65533, name=None):
    """The characters of each string as strings of their own, as a ragged tensor."""

def unicode_transcode(input, input_encoding, output_encoding, errors='replace', replacement_char=65533, replace_control_characters=False, name=None):
    """Each string in another encoding of its characters."""

def unsorted_segment_join(inputs, segment_ids, num_segments, separator='', name=None):
    """The strings of each segment joined, in the order in which they stand."""

def upper(input, encoding='', name=None):
    """Each string in upper case."""
