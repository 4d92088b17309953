"""Segment reductions: rows with the same segment id are combined."""
from ..dispatch import REFUSED, redirect
from ..namespace import export, offer_ops
from .common import convert, dtypes, raw
from .math import divide

offer_ops(
    """
    SegmentMax | data, segment_ids | math.segment_max
    SegmentMean | data, segment_ids | math.segment_mean
    SegmentMin | data, segment_ids | math.segment_min
    SegmentProd | data, segment_ids | math.segment_prod
    SegmentSum | data, segment_ids | math.segment_sum
    UnsortedSegmentMax | data, segment_ids, num_segments | math.unsorted_segment_max
    UnsortedSegmentMin | data, segment_ids, num_segments | math.unsorted_segment_min
    UnsortedSegmentProd | data, segment_ids, num_segments | math.unsorted_segment_prod
    UnsortedSegmentSum | data, segment_ids, num_segments | math.unsorted_segment_sum
    """
)


def _counts(data, segment_ids, num_segments):
    """The number of rows of each segment, at least 1, with a shape that broadcasts to the sums."""
    ones = raw.Fill(raw.Shape(segment_ids), raw.Cast(1, data.dtype))
    counts = raw.UnsortedSegmentSum(ones, segment_ids, num_segments)
    inner = raw.Sub(raw.Rank(data), raw.Rank(segment_ids))
    shape = raw.ConcatV2(
        [raw.Reshape(num_segments, [1]), raw.Fill(raw.Reshape(inner, [1]), 1)], 0
    )
    return raw.Maximum(raw.Reshape(counts, shape), 1)


def _parts(data, segment_ids, num_segments):
    data = convert(data)
    ids = convert(segment_ids)
    number = convert(num_segments)
    if number.dtype.is_integer:
        number = raw.Cast(number, dtypes.int32)
    return data, ids, number


@export("math.unsorted_segment_mean")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment; 0 for a segment without rows."""
    try:
        data, ids, number = _parts(data, segment_ids, num_segments)
    except REFUSED:
        return redirect(unsorted_segment_mean, data, segment_ids, num_segments, name=name)
    counts = _counts(data, ids, number)
    return divide(raw.UnsortedSegmentSum(data, ids, number), counts, name)


@export("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment, divided by the square root of their number."""
    try:
        data, ids, number = _parts(data, segment_ids, num_segments)
    except REFUSED:
        return redirect(unsorted_segment_sqrt_n, data, segment_ids, num_segments, name=name)
    counts = _counts(data, ids, number)
    return divide(raw.UnsortedSegmentSum(data, ids, number), raw.Sqrt(counts), name)


def _sparse(plain, numbered, data, indices, segment_ids, num_segments, name):
    if num_segments is None:
        return plain(data, indices, segment_ids, name=name)
    return numbered(data, indices, segment_ids, num_segments, name=name)


@export("sparse.segment_sum")
def sparse_segment_sum(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """The sum of the rows `indices` of `data` that share a segment id."""
    plain, numbered = raw.SparseSegmentSum, raw.SparseSegmentSumWithNumSegments
    return _sparse(plain, numbered, data, indices, segment_ids, num_segments, name)


@export("sparse.segment_mean")
def sparse_segment_mean(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """The mean of the rows `indices` of `data` that share a segment id."""
    plain, numbered = raw.SparseSegmentMean, raw.SparseSegmentMeanWithNumSegments
    return _sparse(plain, numbered, data, indices, segment_ids, num_segments, name)


@export("sparse.segment_sqrt_n")
def sparse_segment_sqrt_n(
    data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False
):
    """The sum of the rows `indices` of `data` that share a segment id, divided by the square root of their number."""
    plain, numbered = raw.SparseSegmentSqrtN, raw.SparseSegmentSqrtNWithNumSegments
    return _sparse(plain, numbered, data, indices, segment_ids, num_segments, name)


