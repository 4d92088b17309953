"""Connectionist temporal classification (CTC): losses and decoders for sequences without alignment."""
from ..functional import map_fn
from ..namespace import export
from .common import SparseTensor, convert, dtypes, raw, rank_of, seen_shape, static_shape


def _blank_last(logits, blank):
    """Logits with the blank class moved to the end."""
    return raw.ConcatV2(
        [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], 2
    )


def _shifted(labels, blank):
    """Class numbers after the blank class was moved to the end."""
    return raw.SelectV2(raw.Less(labels, blank), labels, raw.Sub(labels, 1))


def _numbered(labels, blank, classes):
    """Converts dense labels to the class numbers of the op, in which the blank is last. The labels may contain the blank and
    numbers that are no class.

    TensorFlow makes the blank class 0 and adds one to the classes before it; those after it keep their numbers. So a label
    with the blank's own number means the class before the blank, unless the blank is 0.
    """
    if not (isinstance(blank, int) and blank == 0):
        labels = raw.SelectV2(raw.Less(labels, blank), raw.AddV2(labels, 1), labels)
    known = raw.LogicalAnd(raw.Greater(labels, 0), raw.Less(labels, classes))
    return raw.SelectV2(known, raw.Sub(labels, 1), raw.SelectV2(raw.Equal(labels, 0), raw.Sub(classes, 1), -1))


@export("nn.ctc_loss")
def ctc_loss(
    labels,
    logits,
    label_length,
    logit_length,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
):
    """The negative log probability of each label sequence, for logits [frames, batch, classes].

    Labels are a dense matrix with `label_length`, or a SparseTensor. If a label sequence is too long for its
    frames, sparse labels raise InvalidArgumentError; dense labels get a very large finite loss.
    """
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError(
            "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
        )
    logits = convert(logits)
    if not logits_time_major:
        logits = raw.Transpose(logits, [1, 0, 2])
    dims = static_shape(logits)
    classes = dims[2] if dims is not None else None
    blank = 0 if blank_index is None else blank_index
    is_last = blank == -1 or (classes is not None and blank in (-1, classes - 1))
    if classes is not None and not -classes <= blank < classes:
        raise ValueError(f"`blank_index` must be in [{-classes}, {classes}), got {blank_index}")
    if blank < 0:
        blank += raw.Shape(logits)[2] if classes is None else classes
    given = logits.dtype
    if given in (dtypes.float16, dtypes.bfloat16):
        logits = raw.Cast(logits, dtypes.float32)
    if not is_last:
        logits = _blank_last(logits, blank)
    if sparse:
        places, values = labels.indices, labels.values
    else:
        labels = raw.Cast(convert(labels), dtypes.int32)
        labels = _numbered(labels, blank, raw.Shape(logits)[2])
        lengths = raw.Cast(convert(label_length), dtypes.int32)
        columns = raw.Range(0, raw.Shape(labels)[1], 1)
        mask = raw.Less(raw.ExpandDims(columns, 0), raw.ExpandDims(lengths, 1))
        places = raw.Where(mask)
        values = raw.GatherNd(labels, places)
    values = raw.Cast(values, dtypes.int32)
    if sparse and not is_last:
        values = _shifted(values, blank)
    frames = raw.Cast(convert(logit_length), dtypes.int32)
    loss = (raw.CTCLoss if sparse else raw._CTCDenseLoss)(logits, places, values, frames, name=name)[0]
    return loss if loss.dtype is given else raw.Cast(loss, given)


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """Decodes with the best class of each frame, without blanks. Returns (list of one SparseTensor, scores)."""
    found = raw.CTCGreedyDecoder(
        inputs,
        sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index,
    )
    places, values, shape, scores = found
    return [SparseTensor(places, values, shape)], scores


@export("nn.collapse_repeated")
def collapse_repeated(labels, seq_length, name=None):
    """Merges repeated neighbouring labels. Returns (shortened labels, their lengths)."""
    labels = convert(labels)
    lengths = convert(seq_length)
    width = raw.Shape(labels)[1]
    columns = raw.Range(0, width, 1)
    inside = raw.Less(raw.ExpandDims(columns, 0), raw.Cast(raw.ExpandDims(lengths, 1), dtypes.int32))
    first = raw.Fill(raw.Pack([raw.Shape(labels)[0], 1]), True)
    changes = raw.ConcatV2([first, raw.NotEqual(labels[:, 1:], labels[:, :-1])], 1)
    keep = raw.LogicalAnd(inside, changes)
    count = raw.Sum(raw.Cast(keep, dtypes.int32), [1])
    longest = raw.Max(count, [0])
    values = raw.GatherNd(labels, raw.Where(keep))
    places = raw.Where(raw.Less(raw.ExpandDims(raw.Range(0, longest, 1), 0), raw.ExpandDims(count, 1)))
    shape = raw.Pack([raw.Shape(labels)[0], longest])
    dense = raw.ScatterNd(places, values, raw.Cast(shape, dtypes.int64))
    return dense, raw.Cast(count, lengths.dtype)


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels, name=None):
    """(the distinct values of each row of `labels`, for each label the index of its value)."""
    labels = raw.Cast(convert(labels), dtypes.int64)
    if rank_of(labels) != 2:
        raise ValueError("ctc_unique_labels: labels must be a matrix")
    rows, width = seen_shape(labels)
    if rows is None or width is None:
        return map_fn(lambda row: _unique_in(row, raw.Size(row)), labels, fn_output_signature=(dtypes.int64, dtypes.int32))
    values, places = [], []
    for row in raw.Unpack(labels, rows, 0):
        found = _unique_in(row, width)
        values.append(found[0])
        places.append(found[1])
    return raw.Reshape(raw.Pack(values), [rows, width]), raw.Pack(places)


def _unique_in(row, width):
    """(the distinct labels of a row, padded with zeros to `width`; the index of each label among them)."""
    values, places = raw.Unique(row)
    spare = raw.Sub(width, raw.Size(values))
    return raw.Pad(values, raw.Reshape(raw.Pack([0, spare]), [1, 2])), places


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most likely label sequences by beam search: (list of SparseTensors, their log probabilities)."""
    found = raw.CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=False
    )
    places, values, shapes, scores = found
    return [SparseTensor(*parts) for parts in zip(places, values, shapes)], scores


@export("compat.v1.nn.ctc_loss")
def v1_ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
                ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    """The loss of sparse labels; the last class is the blank."""
    if inputs is not None and logits is not None:
        raise ValueError("Cannot specify both 'logits' and 'inputs'.")
    if not isinstance(labels, SparseTensor):
        raise TypeError(f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: {type(labels).__name__}")
    inputs = convert(logits if inputs is None else inputs)
    if not time_major:
        inputs = raw.Transpose(inputs, [1, 0, 2])
    return raw.CTCLoss(inputs, labels.indices, raw.Cast(labels.values, DstT=dtypes.int32), raw.Cast(sequence_length, DstT=dtypes.int32),
                       preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
                       ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)[0]
