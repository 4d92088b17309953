"""Type stubs of evenflow.raw_ops. Written by tools/gen_stubs.py."""

from typing import Any, Sequence

from evenflow import Operation, Tensor

_TensorLike = Any
_DTypeLike = Any
_ShapeLike = Any

def Abs(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The absolute value of `x`."""

def AccumulateNV2(*, inputs: Sequence[_TensorLike], shape: _ShapeLike, name: str | None = None) -> Tensor:
    """The sum of all `inputs`, which must have the given `shape`."""

def Acos(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The angle whose cosine is `x`."""

def Acosh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The non-negative number whose hyperbolic cosine is `x`."""

def Add(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Adds `x` and `y` element by element; shapes broadcast. Strings are concatenated."""

def AddN(*, inputs: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """The sum of all `inputs`, which must have the same shape."""

def AddV2(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Adds `x` and `y` element by element; shapes broadcast."""

def AdjustHue(*, images: _TensorLike, delta: _TensorLike, name: str | None = None) -> Tensor:
    """Rotates the hue of RGB pixels by `delta`, where 1 is a full turn."""

def AdjustSaturation(*, images: _TensorLike, scale: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the saturation of RGB pixels by `scale`."""

def All(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements along the given axes are true."""

def Angle(*, input: _TensorLike, Tout: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The argument (phase angle) of `input`, in [-pi, pi]."""

def AnonymousIterator(*, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """Makes an iterator."""

def AnonymousIteratorV2(*, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> tuple[Tensor, Tensor]:
    """Makes an iterator and its deleter, which DeleteIterator takes."""

def AnonymousIteratorV3(*, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """Makes an iterator, which is freed with its last handle."""

def AnonymousMemoryCache(*, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Makes an empty cache for the elements of a dataset."""

def AnonymousSeedGenerator(*, seed: _TensorLike, seed2: _TensorLike, reshuffle: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Makes a generator of two seeds for each iteration of a dataset; without `reshuffle` they are always those given."""

def Any(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Whether any element along the given axes is true."""

def ApproximateEqual(*, x: _TensorLike, y: _TensorLike, tolerance: float = 1e-05, name: str | None = None) -> Tensor:
    """Whether `x` and `y`, of one shape, differ by at most `tolerance`."""

def ArgMax(*, input: _TensorLike, dimension: _TensorLike, output_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The index of the largest element along an axis; the first one if several are equal."""

def ArgMin(*, input: _TensorLike, dimension: _TensorLike, output_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The index of the smallest element along an axis; the first one if several are equal."""

def AsString(*, input: _TensorLike, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = '', name: str | None = None) -> Tensor:
    """Each element written as text; `width`, `fill` and `precision` as in printf."""

def Asin(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The angle whose sine is `x`."""

def Asinh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The number whose hyperbolic sine is `x`."""

def Assert(*, condition: _TensorLike, data: Sequence[_TensorLike], summarize: int = 3, name: str | None = None) -> Operation | None:
    """Fails with a message that shows `data`, unless `condition` is true."""

def AssertCardinalityDataset(*, input_dataset: _TensorLike, cardinality: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The same elements; fails if their number is not `cardinality`."""

def AssignAddVariableOp(*, resource: _TensorLike, value: _TensorLike, name: str | None = None) -> Operation | None:
    """Adds `value` to the variable, in place."""

def AssignSubVariableOp(*, resource: _TensorLike, value: _TensorLike, name: str | None = None) -> Operation | None:
    """Subtracts `value` from the variable, in place."""

def AssignVariableOp(*, resource: _TensorLike, value: _TensorLike, validate_shape: bool = False, name: str | None = None) -> Operation | None:
    """Assigns a new value to the variable."""

def Atan(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The angle whose tangent is `x`."""

def Atan2(*, y: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (`x`, `y`), in [-pi, pi]; shapes broadcast."""

def Atanh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The number whose hyperbolic tangent is `x`."""

def AudioSummary(*, tag: _TensorLike, tensor: _TensorLike, sample_rate: float, max_outputs: int = 3, name: str | None = None) -> Tensor:
    """A Summary with sounds, from -1 to 1, as WAV."""

def AudioSummaryV2(*, tag: _TensorLike, tensor: _TensorLike, sample_rate: _TensorLike, max_outputs: int = 3, name: str | None = None) -> Tensor:
    """A Summary with sounds, from -1 to 1, as WAV."""

def AvgPool(*, value: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The mean of every window of size `ksize`, for each channel; padding is not counted."""

def AvgPool3D(*, input: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NDHWC', name: str | None = None) -> Tensor:
    """The mean of every three-dimensional window of size `ksize`; padding is not counted."""

def AvgPool3DGrad(*, orig_input_shape: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NDHWC', name: str | None = None) -> Tensor:
    """Gradient of AvgPool3D: the gradient of a window is divided among its elements."""

def AvgPoolGrad(*, orig_input_shape: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Gradient of AvgPool: the gradient of a window is divided among its elements."""

def BandedTriangularSolve(*, matrix: _TensorLike, rhs: _TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves systems with a banded triangular matrix, whose diagonals are the rows of `matrix`: the main diagonal first and those below it if `lower`, else the main diagonal last."""

def BatchDataset(*, input_dataset: _TensorLike, batch_size: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Stacks `batch_size` elements into one; the last batch may have fewer."""

def BatchDatasetV2(*, input_dataset: _TensorLike, batch_size: _TensorLike, drop_remainder: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], parallel_copy: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Stacks `batch_size` elements into one; the last batch may have fewer, or is dropped."""

def BatchMatMul(*, x: _TensorLike, y: _TensorLike, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Tensor:
    """Multiplies the matrices in the last two axes of `x` and `y`, one pair for each index of the leading axes, which must be equal. Adjoint means transposed and conjugated."""

def BatchMatMulV2(*, x: _TensorLike, y: _TensorLike, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Tensor:
    """Multiplies the matrices in the last two axes of `x` and `y`; the leading axes broadcast. Adjoint means transposed and conjugated."""

def BatchMatMulV3(*, x: _TensorLike, y: _TensorLike, Tout: _DTypeLike, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False, grad_y: bool = False, name: str | None = None) -> Tensor:
    """Multiplies the matrices in the last two axes of `x` and `y`, which may have narrower types than the result `Tout`; the leading axes broadcast."""

def BatchToSpace(*, input: _TensorLike, crops: _TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Moves parts of the batch back into square blocks of height and width and crops."""

def BatchToSpaceND(*, input: _TensorLike, block_shape: _TensorLike, crops: _TensorLike, name: str | None = None) -> Tensor:
    """Moves parts of the batch back into blocks of the spatial axes and crops these."""

def BesselI0(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0 at `x`."""

def BesselI0e(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(-|x|)` times the modified Bessel function of order 0."""

def BesselI1(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1 at `x`."""

def BesselI1e(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(-|x|)` times the modified Bessel function of order 1."""

def BesselJ0(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, order 0."""

def BesselJ1(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, order 1."""

def BesselK0(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 0."""

def BesselK0e(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(x)` times the modified Bessel function of the second kind, order 0."""

def BesselK1(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, order 1."""

def BesselK1e(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(x)` times the modified Bessel function of the second kind, order 1."""

def BesselY0(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, order 0."""

def BesselY1(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, order 1."""

def Betainc(*, a: _TensorLike, b: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The incomplete beta function of `a` and `b` at `x`, divided by beta(a, b). Inputs have one shape or are scalars."""

def BiasAdd(*, value: _TensorLike, bias: _TensorLike, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Adds a vector to `value`, one element for each channel."""

def BiasAddGrad(*, out_backprop: _TensorLike, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Gradient of BiasAdd for the bias: the sum over every axis but the channels'."""

def BiasAddV1(*, value: _TensorLike, bias: _TensorLike, name: str | None = None) -> Tensor:
    """Adds a vector to `value` along its last axis."""

def Bincount(*, arr: _TensorLike, size: _TensorLike, weights: _TensorLike, name: str | None = None) -> Tensor:
    """Counts how often each number below `size` occurs in `arr`, or sums its weights."""

def Bitcast(*, input: _TensorLike, type: _DTypeLike, name: str | None = None) -> Tensor:
    """The bytes of `input` read as dtype `type`; if the element sizes differ, a last dim is added or removed."""

def BitwiseAnd(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The bits set in both `x` and `y`; shapes broadcast."""

def BitwiseOr(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The bits set in `x` or `y` or both; shapes broadcast."""

def BitwiseXor(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The bits set in exactly one of `x` and `y`; shapes broadcast."""

def BroadcastArgs(*, s0: _TensorLike, s1: _TensorLike, name: str | None = None) -> Tensor:
    """The shape that tensors of the shapes `s0` and `s1` broadcast to."""

def BroadcastGradientArgs(*, s0: _TensorLike, s1: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The axes along which tensors of the shapes `s0` and `s1` are repeated when they broadcast: the axes over which a gradient is summed."""

def BroadcastTo(*, input: _TensorLike, shape: _TensorLike, name: str | None = None) -> Tensor:
    """Broadcasts `input` to `shape`: repeats it along new axes and axes of size 1."""

def Bucketize(*, input: _TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """For each element, the number of sorted `boundaries` that are less than or equal to it."""

def CSVDataset(*, filenames: _TensorLike, compression_type: _TensorLike, buffer_size: _TensorLike, header: _TensorLike, field_delim: _TensorLike, use_quote_delim: _TensorLike, na_value: _TensorLike, select_cols: _TensorLike, record_defaults: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The records of files of comma-separated values; an element has a scalar per column."""

def CSVDatasetV2(*, filenames: _TensorLike, compression_type: _TensorLike, buffer_size: _TensorLike, header: _TensorLike, field_delim: _TensorLike, use_quote_delim: _TensorLike, na_value: _TensorLike, select_cols: _TensorLike, record_defaults: Sequence[_TensorLike], exclude_cols: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """Like CSVDataset; `exclude_cols` lists columns to leave out."""

def CTCBeamSearchDecoder(*, inputs: _TensorLike, sequence_length: _TensorLike, beam_width: int, top_paths: int, merge_repeated: bool = True, name: str | None = None) -> tuple[list[Tensor], list[Tensor], list[Tensor], Tensor]:
    """The `top_paths` most probable label sequences as sparse matrices, found with `beam_width` prefixes, and their log probabilities."""

def CTCGreedyDecoder(*, inputs: _TensorLike, sequence_length: _TensorLike, merge_repeated: bool = False, blank_index: int = -1, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Takes the best class of each frame, drops blanks and optionally repetitions; the result is a sparse matrix. `log_probability` is the negated sum of the best logits."""

def CTCLoss(*, inputs: _TensorLike, labels_indices: _TensorLike, labels_values: _TensorLike, sequence_length: _TensorLike, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The negative log probability of each batch entry's labels (a sparse matrix) under logits [frames, batch, classes], and its gradient."""

def CacheDataset(*, input_dataset: _TensorLike, filename: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The same elements, computed once and cached in the file `filename`; without a name every iteration computes them."""

def CacheDatasetV2(*, input_dataset: _TensorLike, filename: _TensorLike, cache: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The same elements, computed once and cached in memory or in the file `filename`."""

def Case(*, branch_index: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], branches: Sequence[Any], output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """Runs `branches[branch_index]` on `input`; if the index is out of range, the last branch."""

def Cast(*, x: _TensorLike, DstT: _DTypeLike, Truncate: bool = False, name: str | None = None) -> Tensor:
    """Converts `x` to dtype `DstT`. A float cast to an integer loses its fraction; a complex number cast to a real keeps its real part; as a bool, all but 0 is true."""

def Ceil(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The smallest integer not below `x`."""

def CheckNumerics(*, tensor: _TensorLike, message: str, name: str | None = None) -> Tensor:
    """Returns its input; fails if it contains an infinity or a NaN."""

def CheckNumericsV2(*, tensor: _TensorLike, message: str, name: str | None = None) -> Tensor:
    """Returns its input; fails if it contains an infinity or a NaN, and says which."""

def Cholesky(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular L with L L^H = `input`, for positive definite matrices, of which only the lower triangle is read; NaN for others."""

def CholeskyGrad(*, l: _TensorLike, grad: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Cholesky: of its input, given the output `l` and its gradient `grad`; a symmetric matrix. Only lower triangles are read."""

def ClipByValue(*, t: _TensorLike, clip_value_min: _TensorLike, clip_value_max: _TensorLike, name: str | None = None) -> Tensor:
    """`t` where it lies between `clip_value_min` and `clip_value_max`, else the bound it passed."""

def CloseSummaryWriter(*, writer: _TensorLike, name: str | None = None) -> Operation | None:
    """Flushes buffered events and closes the writer's file."""

def CombinedNonMaxSuppression(*, boxes: _TensorLike, scores: _TensorLike, max_output_size_per_class: _TensorLike, max_total_size: _TensorLike, iou_threshold: _TensorLike, score_threshold: _TensorLike, pad_per_class: bool = False, clip_boxes: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Suppresses boxes that overlap one of the same class with a higher score, then keeps the best of all classes: their boxes, scores and classes, and their number, for each image."""

def Complex(*, real: _TensorLike, imag: _TensorLike, Tout: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The complex numbers with parts `real` and `imag`; shapes broadcast."""

def ComplexAbs(*, x: _TensorLike, Tout: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The absolute value (magnitude) of `x`."""

def ComputeAccidentalHits(*, true_classes: _TensorLike, sampled_candidates: _TensorLike, num_true: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Finds sampled classes that are true classes: row, index among the samples, and the lowest float, which removes them when it is added to their logits."""

def Concat(*, concat_dim: _TensorLike, values: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """Concatenates tensors along the axis `concat_dim`; all other axes must have equal sizes."""

def ConcatOffset(*, concat_dim: _TensorLike, shape: Sequence[_TensorLike], name: str | None = None) -> list[Tensor]:
    """The offset of each of the tensors with these shapes in their concatenation."""

def ConcatV2(*, values: Sequence[_TensorLike], axis: _TensorLike, name: str | None = None) -> Tensor:
    """Concatenates tensors along `axis`; all other axes must have equal sizes."""

def ConcatenateDataset(*, input_dataset: _TensorLike, another_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The elements of one dataset, then those of another."""

def Conj(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate of `input`."""

def ConjugateTranspose(*, x: _TensorLike, perm: _TensorLike, name: str | None = None) -> Tensor:
    """Reorders axes as Transpose does and conjugates each element."""

def Const(*, value: _TensorLike, dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """A constant, known when the graph is built."""

def Conv2D(*, input: _TensorLike, filter: _TensorLike, strides: Sequence[int], padding: str, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Slides `filter` over the two image axes of `input` and sums the products over the window and over the channels of one group."""

def Conv2DBackpropFilter(*, input: _TensorLike, filter_sizes: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of Conv2D with respect to its filter, whose shape `filter_sizes` gives."""

def Conv2DBackpropInput(*, input_sizes: _TensorLike, filter: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of Conv2D with respect to its input, whose shape `input_sizes` gives; also known as transposed convolution."""

def Conv3D(*, input: _TensorLike, filter: _TensorLike, strides: Sequence[int], padding: str, data_format: str = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Slides `filter` over the three image axes of `input` and sums the products over the window and the channels."""

def Conv3DBackpropFilterV2(*, input: _TensorLike, filter_sizes: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, data_format: str = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of Conv3D with respect to its filter, whose shape `filter_sizes` gives."""

def Conv3DBackpropInputV2(*, input_sizes: _TensorLike, filter: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, data_format: str = 'NDHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of Conv3D with respect to its input, whose shape `input_sizes` gives."""

def Cos(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The cosine of `x`, in radians."""

def Cosh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine of `x`."""

def CreateSummaryFileWriter(*, writer: _TensorLike, logdir: _TensorLike, max_queue: _TensorLike, flush_millis: _TensorLike, filename_suffix: _TensorLike, name: str | None = None) -> Operation | None:
    """Opens an event file in the folder `logdir` for the writer, unless it has one."""

def CropAndResize(*, image: _TensorLike, boxes: _TensorLike, box_ind: _TensorLike, crop_size: _TensorLike, method: str = 'bilinear', extrapolation_value: float = 0, name: str | None = None) -> Tensor:
    """Crops boxes (y1, x1, y2, x2, where 1 is the last row or column) from images, each from the image given by `box_ind`, and resizes them to `crop_size`."""

def CropAndResizeGradBoxes(*, grads: _TensorLike, image: _TensorLike, boxes: _TensorLike, box_ind: _TensorLike, method: str = 'bilinear', name: str | None = None) -> Tensor:
    """Gradient of CropAndResize with respect to the boxes."""

def CropAndResizeGradImage(*, grads: _TensorLike, boxes: _TensorLike, box_ind: _TensorLike, image_size: _TensorLike, T: _DTypeLike, method: str = 'bilinear', name: str | None = None) -> Tensor:
    """Gradient of CropAndResize with respect to the image, whose shape is `image_size`."""

def Cross(*, a: _TensorLike, b: _TensorLike, name: str | None = None) -> Tensor:
    """The vector product of the three-element vectors in the last axes of `a` and `b`."""

def Cumprod(*, x: _TensorLike, axis: _TensorLike, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Cumulative products along an axis. `exclusive` leaves out the element itself; `reverse` starts from the end."""

def Cumsum(*, x: _TensorLike, axis: _TensorLike, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Cumulative sums along an axis. `exclusive` leaves out the element itself; `reverse` starts from the end."""

def CumulativeLogsumexp(*, x: _TensorLike, axis: _TensorLike, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """The logarithm of the cumulative sums of exponentials along an axis. `exclusive` leaves out the element itself; `reverse` starts from the end."""

def DataFormatDimMap(*, x: _TensorLike, src_format: str = 'NHWC', dst_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """Converts axis numbers `x` of the layout `src_format` to those of `dst_format`."""

def DataFormatVecPermute(*, x: _TensorLike, src_format: str = 'NHWC', dst_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """Reorders a vector with one number (or pair) per axis of `src_format` to the order of `dst_format`; the vector may have the spatial axes only."""

def DatasetCardinality(*, input_dataset: _TensorLike, cardinality_options: str = '', name: str | None = None) -> Tensor:
    """The number of elements; -1: infinitely many, -2: not known."""

def DatasetFingerprint(*, input_dataset: _TensorLike, name: str | None = None) -> Tensor:
    """A hash that is equal for datasets made in the same way."""

def DatasetToSingleElement(*, dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> list[Tensor]:
    """The only element of a dataset; fails if it has none or several."""

def Dawsn(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral of `x`."""

def DecodeAndCropJpeg(*, contents: _TensorLike, crop_window: _TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = '', name: str | None = None) -> Tensor:
    """A window of a JPEG image: `crop_window` is y, x, height and width."""

def DecodeBase64(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Decodes web-safe base64, with or without padding."""

def DecodeBmp(*, contents: _TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels of a BMP image."""

def DecodeCSV(*, records: _TensorLike, record_defaults: Sequence[_TensorLike], field_delim: str = ',', use_quote_delim: bool = True, na_value: str = '', select_cols: Sequence[int] = ..., name: str | None = None) -> list[Tensor]:
    """Parses records of comma-separated values into one output per field; an empty field gets its default."""

def DecodeCompressed(*, bytes: _TensorLike, compression_type: str = '', name: str | None = None) -> Tensor:
    """Each string decompressed; `compression_type` is '' (none), 'ZLIB' or 'GZIP'."""

def DecodeGif(*, contents: _TensorLike, name: str | None = None) -> Tensor:
    """The frames of a GIF image, as one tensor with three channels."""

def DecodeImage(*, contents: _TensorLike, channels: int = 0, dtype: _DTypeLike = ..., expand_animations: bool = True, name: str | None = None) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP image; float32 pixels are between 0 and 1."""

def DecodeJpeg(*, contents: _TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = '', name: str | None = None) -> Tensor:
    """The pixels of a JPEG image, optionally reduced by `ratio` while decoding."""

def DecodePaddedRaw(*, input_bytes: _TensorLike, fixed_length: _TensorLike, out_type: _DTypeLike, little_endian: bool = True, name: str | None = None) -> Tensor:
    """Like DecodeRaw, with each string truncated or padded with zeros to `fixed_length` bytes."""

def DecodePng(*, contents: _TensorLike, channels: int = 0, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The pixels of a PNG image, with 8 or 16 bits per channel."""

def DecodeRaw(*, bytes: _TensorLike, out_type: _DTypeLike, little_endian: bool = True, name: str | None = None) -> Tensor:
    """The bytes of each string as numbers, along a new last axis; all strings must have the same length."""

def DecodeWav(*, contents: _TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The sound of a WAV file of 16-bit samples, of shape [frames, channels], from -1 to 1."""

def DeleteIterator(*, handle: _TensorLike, deleter: _TensorLike, name: str | None = None) -> Operation | None:
    """Ends an iteration; the iterator returns no more elements."""

def DenseBincount(*, input: _TensorLike, size: _TensorLike, weights: _TensorLike, binary_output: bool = False, name: str | None = None) -> Tensor:
    """Counts how often each number below `size` occurs in `input`, row by row if it has two axes, or sums its weights; with `binary_output`, tells only whether it occurs."""

def DenseCountSparseOutput(*, values: _TensorLike, weights: _TensorLike, binary_output: bool, minlength: int = -1, maxlength: int = -1, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Counts how often each number occurs in a vector or in each row of a matrix, or sums its weights, as a sparse tensor."""

def DenseToDenseSetOperation(*, set1: _TensorLike, set2: _TensorLike, set_operation: str, validate_indices: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Merges the sets in the last axes of two tensors, set by set."""

def DenseToSparseBatchDataset(*, input_dataset: _TensorLike, batch_size: _TensorLike, row_shape: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """`batch_size` dense elements as one sparse tensor of rows of `row_shape`; an element is its indices, values and dense shape."""

def DenseToSparseSetOperation(*, set1: _TensorLike, set2_indices: _TensorLike, set2_values: _TensorLike, set2_shape: _TensorLike, set_operation: str, validate_indices: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Merges the sets in the last axes of a tensor and a sparse tensor, set by set."""

def DepthToSpace(*, input: _TensorLike, block_size: int, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Moves channels into square blocks of height and width."""

def DepthwiseConv2dNative(*, input: _TensorLike, filter: _TensorLike, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Convolves each channel with its own filters, one or several, and puts all results side by side in the output channels."""

def DepthwiseConv2dNativeBackpropFilter(*, input: _TensorLike, filter_sizes: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of DepthwiseConv2dNative with respect to its filter, whose shape `filter_sizes` gives."""

def DepthwiseConv2dNativeBackpropInput(*, input_sizes: _TensorLike, filter: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', dilations: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Gradient of DepthwiseConv2dNative with respect to its input, whose shape `input_sizes` gives."""

def DeserializeIterator(*, resource_handle: _TensorLike, serialized: _TensorLike, name: str | None = None) -> Operation | None:
    """Lets an iterator go on behind a position that SerializeIterator gave."""

def DestroyResourceOp(*, resource: _TensorLike, ignore_lookup_error: bool = True, name: str | None = None) -> Operation | None:
    """Destroys a variable: its memory is released and its name can be used again."""

def Diag(*, diagonal: _TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank with the elements of `diagonal` where both halves of an index are equal, and zeros elsewhere."""

def DiagPart(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The elements of `input` whose index has two equal halves."""

def Digamma(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The derivative of Lgamma."""

def Dilation2D(*, input: _TensorLike, filter: _TensorLike, strides: Sequence[int], rates: Sequence[int], padding: str, name: str | None = None) -> Tensor:
    """Grayscale dilation: for each window, the largest sum of input and filter elements."""

def Dilation2DBackpropFilter(*, input: _TensorLike, filter: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], rates: Sequence[int], padding: str, name: str | None = None) -> Tensor:
    """Gradient of Dilation2D for its filter."""

def Dilation2DBackpropInput(*, input: _TensorLike, filter: _TensorLike, out_backprop: _TensorLike, strides: Sequence[int], rates: Sequence[int], padding: str, name: str | None = None) -> Tensor:
    """Gradient of Dilation2D for its input."""

def DirectedInterleaveDataset(*, selector_input_dataset: _TensorLike, data_input_datasets: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], stop_on_empty_dataset: bool = False, name: str | None = None) -> Tensor:
    """Elements of several datasets; a dataset of indices selects where each comes from."""

def DisableCopyOnRead(*, resource: _TensorLike, name: str | None = None) -> Operation | None:
    """Declares that reads of the variable need no copies; reads never copy here, so nothing changes."""

def Div(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y`; integers are divided towards zero."""

def DivNoNan(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y`; 0 wherever `y` is 0."""

def DrawBoundingBoxes(*, images: _TensorLike, boxes: _TensorLike, name: str | None = None) -> Tensor:
    """The images with the edges of boxes drawn on them; a box is y_min, x_min, y_max, x_max in parts of the image's size."""

def DrawBoundingBoxesV2(*, images: _TensorLike, boxes: _TensorLike, colors: _TensorLike, name: str | None = None) -> Tensor:
    """The images with the edges of boxes drawn on them; a box is y_min, x_min, y_max, x_max in parts of the image's size. `colors` has a row for each box, and begins again where there are more boxes."""

def DynamicPartition(*, data: _TensorLike, partitions: _TensorLike, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Distributes the rows of `data` to `num_partitions` tensors: row i goes to number `partitions[i]`."""

def DynamicStitch(*, indices: Sequence[_TensorLike], data: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """Puts row j of each `data[k]` at `indices[k][j]` of one tensor; of rows with the same index, the last one wins."""

def EagerPyFunc(*, callback: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], token: str = '', is_async: bool = False, output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """Calls a function of the user's program with `input` each time the node runs."""

def EditDistance(*, hypothesis_indices: _TensorLike, hypothesis_values: _TensorLike, hypothesis_shape: _TensorLike, truth_indices: _TensorLike, truth_values: _TensorLike, truth_shape: _TensorLike, normalize: bool = True, name: str | None = None) -> Tensor:
    """The number of edits that turn each sequence of `hypothesis` into that of `truth`; with `normalize`, divided by the length of the truth."""

def Eig(*, input: _TensorLike, Tout: _DTypeLike, compute_v: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues of square matrices, in no particular order, and optionally the eigenvectors as columns of `v`; both are complex."""

def Einsum(*, inputs: Sequence[_TensorLike], equation: str, name: str | None = None) -> Tensor:
    """Multiplies one or two operands and sums over the labels of `equation` that are missing after the arrow: 'ij,jk->ik' is a matrix product, 'ii->' a trace. '...' broadcasts."""

def Elu(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(x) - 1` where `x` is negative, else `x`."""

def EluGrad(*, gradients: _TensorLike, outputs: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Elu, from its result."""

def Empty(*, shape: _TensorLike, dtype: _DTypeLike, init: bool = False, name: str | None = None) -> Tensor:
    """A tensor of shape `shape` that is not initialised; this engine fills it with zeros."""

def EmptyTensorList(*, element_shape: _TensorLike, max_num_elements: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """Makes an empty list. Each element must be compatible with `element_shape` (-1: any shape); `max_num_elements` limits the length (-1: no limit)."""

def EncodeBase64(*, input: _TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in web-safe base64; `pad` adds `=` to a multiple of four characters."""

def EncodeJpeg(*, image: _TensorLike, format: str = '', quality: int = 95, progressive: bool = False, optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = 'in', x_density: int = 300, y_density: int = 300, xmp_metadata: str = '', name: str | None = None) -> Tensor:
    """Encodes an image, uint8 with one or three channels, as JPEG."""

def EncodeJpegVariableQuality(*, images: _TensorLike, quality: _TensorLike, name: str | None = None) -> Tensor:
    """Encodes an image as EncodeJpeg does, with a quality that is not known before it runs."""

def EncodePng(*, image: _TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encodes an image, or each of several, as PNG; one to four channels of 8 or 16 bits."""

def EncodeWav(*, audio: _TensorLike, sample_rate: _TensorLike, name: str | None = None) -> Tensor:
    """Sound of shape [frames, channels], from -1 to 1, as a WAV file of 16-bit samples."""

def EnsureShape(*, input: _TensorLike, shape: _ShapeLike, name: str | None = None) -> Tensor:
    """Returns its input after checking that its shape is compatible with `shape`."""

def Equal(*, x: _TensorLike, y: _TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x` equals `y`, element by element."""

def Erf(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The error function of `x`."""

def Erfc(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`1 - erf(x)`, accurate for large `x`."""

def Erfinv(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The number whose error function is `x`."""

def EuclideanNorm(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The square root of the sum of squared magnitudes along the given axes."""

def Exp(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """e to the power `x`."""

def ExpandDims(*, input: _TensorLike, axis: _TensorLike, name: str | None = None) -> Tensor:
    """Inserts an axis of size 1; negative positions count from the end."""

def ExperimentalMatchingFilesDataset(*, patterns: _TensorLike, name: str | None = None) -> Tensor:
    """The sorted names of the files that match one of several patterns."""

def Expint(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral of `x`."""

def Expm1(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`exp(x) - 1`, accurate where `x` is near 0."""

def ExtractImagePatches(*, images: _TensorLike, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str, name: str | None = None) -> Tensor:
    """For each window position of `images`, all its pixels one after the other in the channels."""

def ExtractJpegShape(*, contents: _TensorLike, output_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG image, without decoding it."""

def FFT(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last axis."""

def FFT2D(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last two axes."""

def FFT3D(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over the last three axes."""

def FFTND(*, input: _TensorLike, fft_length: _TensorLike, axes: _TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform over `axes`, each truncated or padded with zeros to the length in `fft_length`."""

def FIFOQueueV2(*, component_types: Sequence[_DTypeLike], shapes: Sequence[_ShapeLike] = ..., capacity: int = -1, container: str = '', shared_name: str = '', name: str | None = None) -> Tensor:
    """Makes a queue whose elements are dequeued in first-in, first-out order."""

def FakeQuantWithMinMaxArgs(*, inputs: _TensorLike, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def FakeQuantWithMinMaxArgsGradient(*, gradients: _TensorLike, inputs: _TensorLike, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Gradient of FakeQuantWithMinMaxArgs."""

def FakeQuantWithMinMaxVars(*, inputs: _TensorLike, min: _TensorLike, max: _TensorLike, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Rounds to a grid of 2^num_bits values between `min` and `max`."""

def FakeQuantWithMinMaxVarsGradient(*, gradients: _TensorLike, inputs: _TensorLike, min: _TensorLike, max: _TensorLike, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of FakeQuantWithMinMaxVars."""

def FakeQuantWithMinMaxVarsPerChannel(*, inputs: _TensorLike, min: _TensorLike, max: _TensorLike, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> Tensor:
    """Like FakeQuantWithMinMaxVars, with bounds for each channel."""

def FakeQuantWithMinMaxVarsPerChannelGradient(*, gradients: _TensorLike, inputs: _TensorLike, min: _TensorLike, max: _TensorLike, num_bits: int = 8, narrow_range: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of FakeQuantWithMinMaxVarsPerChannel."""

def Fill(*, dims: _TensorLike, value: _TensorLike, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` in which every element is the scalar `value`."""

def FilterDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], predicate: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The elements for which `predicate` is true."""

def FinalizeDataset(*, input_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], has_captured_ref: bool = False, name: str | None = None) -> Tensor:
    """The same elements."""

def Fingerprint(*, data: _TensorLike, method: _TensorLike, name: str | None = None) -> Tensor:
    """An 8-byte hash of each row of `data`."""

def FixedLengthRecordDataset(*, filenames: _TensorLike, header_bytes: _TensorLike, record_bytes: _TensorLike, footer_bytes: _TensorLike, buffer_size: _TensorLike, metadata: str = '', name: str | None = None) -> Tensor:
    """The records of files whose records all have the same length."""

def FixedLengthRecordDatasetV2(*, filenames: _TensorLike, header_bytes: _TensorLike, record_bytes: _TensorLike, footer_bytes: _TensorLike, buffer_size: _TensorLike, compression_type: _TensorLike, metadata: str = '', name: str | None = None) -> Tensor:
    """Like FixedLengthRecordDataset, and also for compressed files."""

def FlatMapDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The elements of the datasets that `f` makes from every element, one after the other."""

def Floor(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The largest integer not above `x`."""

def FloorDiv(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y` and rounds down."""

def FloorMod(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The remainder of `x / y`, with the sign of `y`."""

def FlushSummaryWriter(*, writer: _TensorLike, name: str | None = None) -> Operation | None:
    """Flushes buffered events to the writer's file."""

def FresnelCos(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's cosine integral of `x`."""

def FresnelSin(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's sine integral of `x`."""

def FusedBatchNorm(*, x: _TensorLike, scale: _TensorLike, offset: _TensorLike, mean: _TensorLike, variance: _TensorLike, epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Normalises each channel of `x` to zero mean and unit variance, then scales and shifts it; in in training with the moments of `x`, otherwise with the given ones."""

def FusedBatchNormGrad(*, y_backprop: _TensorLike, x: _TensorLike, scale: _TensorLike, reserve_space_1: _TensorLike, reserve_space_2: _TensorLike, epsilon: float = 0.0001, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of batch normalisation for `x`, `scale` and `offset`, from the moments that the forward op reserved (in training) or was given."""

def FusedBatchNormGradV2(*, y_backprop: _TensorLike, x: _TensorLike, scale: _TensorLike, reserve_space_1: _TensorLike, reserve_space_2: _TensorLike, epsilon: float = 0.0001, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of batch normalisation for `x`, `scale` and `offset`, from the moments that the forward op reserved (in training) or was given."""

def FusedBatchNormGradV3(*, y_backprop: _TensorLike, x: _TensorLike, scale: _TensorLike, reserve_space_1: _TensorLike, reserve_space_2: _TensorLike, reserve_space_3: _TensorLike, epsilon: float = 0.0001, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of batch normalisation for `x`, `scale` and `offset`, from the moments that the forward op reserved (in training) or was given."""

def FusedBatchNormV2(*, x: _TensorLike, scale: _TensorLike, offset: _TensorLike, mean: _TensorLike, variance: _TensorLike, epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Normalises each channel of `x` to zero mean and unit variance, then scales and shifts it; in in training with the moments of `x`, otherwise with the given ones."""

def FusedBatchNormV3(*, x: _TensorLike, scale: _TensorLike, offset: _TensorLike, mean: _TensorLike, variance: _TensorLike, epsilon: float = 0.0001, exponential_avg_factor: float = 1.0, data_format: str = 'NHWC', is_training: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Normalises each channel of `x` to zero mean and unit variance, then scales and shifts it; in in training with the moments of `x`, otherwise with the given ones."""

def Gather(*, params: _TensorLike, indices: _TensorLike, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """The slices of `params` along its first axis that `indices` select."""

def GatherNd(*, params: _TensorLike, indices: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """The slices of `params` whose leading coordinates are given in the last axis of `indices`."""

def GatherV2(*, params: _TensorLike, indices: _TensorLike, axis: _TensorLike, batch_dims: int = 0, name: str | None = None) -> Tensor:
    """The slices of `params` along `axis` that `indices` select. The first `batch_dims` axes are common to both."""

def GeneratorDataset(*, init_func_other_args: Sequence[_TensorLike], next_func_other_args: Sequence[_TensorLike], finalize_func_other_args: Sequence[_TensorLike], init_func: Any, Tinit_func_args: Sequence[_DTypeLike], next_func: Any, Tnext_func_args: Sequence[_DTypeLike], finalize_func: Any, Tfinalize_func_args: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Elements made by functions: `init_func` makes a state, `next_func` an element from it until it fails with the status OUT_OF_RANGE, `finalize_func` releases the state."""

def GetElementAtIndex(*, dataset: _TensorLike, index: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> list[Tensor]:
    """The element of a dataset at that index."""

def Greater(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x > y`, element by element; shapes broadcast."""

def GreaterEqual(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x >= y`, element by element; shapes broadcast."""

def GroupByReducerDataset(*, input_dataset: _TensorLike, key_func_other_arguments: Sequence[_TensorLike], init_func_other_arguments: Sequence[_TensorLike], reduce_func_other_arguments: Sequence[_TensorLike], finalize_func_other_arguments: Sequence[_TensorLike], key_func: Any, Tkey_func_other_arguments: Sequence[_DTypeLike], init_func: Any, Tinit_func_other_arguments: Sequence[_DTypeLike], reduce_func: Any, Treduce_func_other_arguments: Sequence[_DTypeLike], finalize_func: Any, Tfinalize_func_other_arguments: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """One element for each key of `key_func`: the state that `init_func` makes from the key is updated by `reduce_func` for every element with that key, then given to `finalize_func`."""

def GroupByWindowDataset(*, input_dataset: _TensorLike, key_func_other_arguments: Sequence[_TensorLike], reduce_func_other_arguments: Sequence[_TensorLike], window_size_func_other_arguments: Sequence[_TensorLike], key_func: Any, Tkey_func_other_arguments: Sequence[_DTypeLike], reduce_func: Any, Treduce_func_other_arguments: Sequence[_DTypeLike], window_size_func: Any, Twindow_size_func_other_arguments: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Groups elements by `key_func`; each window of `window_size_func` elements of a key becomes the dataset that `reduce_func` makes from it."""

def GuaranteeConst(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Returns its input, which the caller promises never to change."""

def HSVToRGB(*, images: _TensorLike, name: str | None = None) -> Tensor:
    """Converts pixels from hue, saturation and value to RGB."""

def HashTableV2(*, key_dtype: _DTypeLike, value_dtype: _DTypeLike, container: str = '', shared_name: str = '', use_node_name_sharing: bool = False, name: str | None = None) -> Tensor:
    """The handle of a table that is filled once and then only read."""

def HistogramFixedWidth(*, values: _TensorLike, value_range: _TensorLike, nbins: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Counts values in `nbins` bins of equal width over `value_range`; values outside it count in the first or last bin."""

def HistogramSummary(*, tag: _TensorLike, values: _TensorLike, name: str | None = None) -> Tensor:
    """A Summary with a histogram; each bucket limit is 1.1 times the one before."""

def IFFT(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform over the last axis."""

def IFFT2D(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform over the last two axes."""

def IFFT3D(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform over the last three axes."""

def IFFTND(*, input: _TensorLike, fft_length: _TensorLike, axes: _TensorLike, name: str | None = None) -> Tensor:
    """The inverse discrete Fourier transform over `axes`, each truncated or padded with zeros to the length in `fft_length`."""

def IRFFT(*, input: _TensorLike, fft_length: _TensorLike, Treal: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The real numbers whose Fourier transform begins with the input's last axis."""

def IRFFT2D(*, input: _TensorLike, fft_length: _TensorLike, Treal: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The real numbers whose Fourier transform begins with the input's last two axes."""

def IRFFT3D(*, input: _TensorLike, fft_length: _TensorLike, Treal: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The real numbers whose Fourier transform begins with the input's last three axes."""

def IRFFTND(*, input: _TensorLike, fft_length: _TensorLike, axes: _TensorLike, Treal: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The real numbers whose Fourier transform over `axes` begins with the input."""

def Identity(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Returns its input."""

def IdentityN(*, input: Sequence[_TensorLike], name: str | None = None) -> list[Tensor]:
    """Returns its inputs unchanged."""

def If(*, cond: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], then_branch: Any, else_branch: Any, output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """Runs `then_branch` or `else_branch` on `input`, depending on whether `cond` is true (not zero, not empty) or not."""

def Igamma(*, a: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function of `a` at `x`, divided by gamma(a)."""

def IgammaGradA(*, a: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The derivative of Igamma by `a`."""

def Igammac(*, a: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The upper incomplete gamma function of `a` at `x`, divided by gamma(a)."""

def IgnoreErrorsDataset(*, input_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], log_warning: bool = False, name: str | None = None) -> Tensor:
    """The same elements without those whose computation fails."""

def Imag(*, input: _TensorLike, Tout: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The imaginary part of `input`."""

def ImageProjectiveTransformV3(*, images: _TensorLike, transforms: _TensorLike, output_shape: _TensorLike, fill_value: _TensorLike, interpolation: str, fill_mode: str = 'CONSTANT', name: str | None = None) -> Tensor:
    """Images of size `output_shape` whose pixel (x, y) is read from the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1; points outside are set by `fill_mode`."""

def ImageSummary(*, tag: _TensorLike, tensor: _TensorLike, max_images: int = 3, bad_color: _TensorLike = ..., name: str | None = None) -> Tensor:
    """A Summary with images as PNG. Floats are scaled to the range of bytes; pixels that are not finite get the colour `bad_color`."""

def ImportEvent(*, writer: _TensorLike, event: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a serialized Event unchanged."""

def InTopK(*, predictions: _TensorLike, targets: _TensorLike, k: int, name: str | None = None) -> Tensor:
    """Whether the prediction for the target class is among the `k` best of its row; ties count."""

def InTopKV2(*, predictions: _TensorLike, targets: _TensorLike, k: _TensorLike, name: str | None = None) -> Tensor:
    """Whether the prediction for the target class is among the `k` best of its row; ties count."""

def InitializeTableFromTextFileV2(*, table_handle: _TensorLike, filename: _TensorLike, key_index: int, value_index: int, vocab_size: int = -1, delimiter: str = '	', offset: int = 0, name: str | None = None) -> Operation | None:
    """Fills a static table from the lines of a file: by column, by the whole line (-2) or by its number (-1)."""

def InitializeTableV2(*, table_handle: _TensorLike, keys: _TensorLike, values: _TensorLike, name: str | None = None) -> Operation | None:
    """Fills a static table with keys and values."""

def InterleaveDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], cycle_length: _TensorLike, block_length: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Interleaves the datasets that `f` makes: `block_length` elements of each of `cycle_length` in turn."""

def Inv(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """One over `x`; the older name of Reciprocal."""

def InvGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Inv: `-dy * conj(y)^2`."""

def Invert(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Inverts every bit of `x`."""

def InvertPermutation(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] = i`."""

def IsFinite(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is neither infinite nor NaN."""

def IsInf(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is infinite, of either sign."""

def IsNan(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` is NaN."""

def IsotonicRegression(*, input: _TensorLike, output_dtype: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The non-increasing rows nearest to those of `input`; `segments` numbers the runs of equal values."""

def Iterator(*, shared_name: str, container: str, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The iterator of that name, made when the name is first used."""

def IteratorFromStringHandle(*, string_handle: _TensorLike, output_types: Sequence[_DTypeLike] = ..., output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> Tensor:
    """The iterator that a string from IteratorToStringHandle refers to."""

def IteratorFromStringHandleV2(*, string_handle: _TensorLike, output_types: Sequence[_DTypeLike] = ..., output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> Tensor:
    """The iterator that a string from IteratorToStringHandle refers to."""

def IteratorGetNext(*, iterator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> list[Tensor]:
    """The next element; fails with OUT_OF_RANGE after the last."""

def IteratorGetNextAsOptional(*, iterator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The next element as an optional, which is empty after the last."""

def IteratorGetNextSync(*, iterator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> list[Tensor]:
    """The next element; fails with OUT_OF_RANGE after the last."""

def IteratorToStringHandle(*, resource_handle: _TensorLike, name: str | None = None) -> Tensor:
    """A string handle for an iterator, valid in the session that made it."""

def IteratorV2(*, shared_name: str, container: str, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The iterator of that name, made when the name is first used."""

def L2Loss(*, t: _TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements."""

def LRN(*, input: _TensorLike, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, name: str | None = None) -> Tensor:
    """Divides each element by a power of `bias` plus `alpha` times the squares of its neighbours among the channels."""

def LRNGrad(*, input_grads: _TensorLike, input_image: _TensorLike, output_image: _TensorLike, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, name: str | None = None) -> Tensor:
    """Gradient of LRN."""

def LeakyRelu(*, features: _TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`x` where it is positive, else `alpha * x`."""

def LeakyReluGrad(*, gradients: _TensorLike, features: _TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Gradient of LeakyRelu: `gradients` where `features` are positive, else `alpha * gradients`."""

def LeftShift(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """`x` shifted left by `y` bits; shapes broadcast."""

def Less(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x < y`, element by element; shapes broadcast."""

def LessEqual(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x <= y`, element by element; shapes broadcast."""

def Lgamma(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function of `x`."""

def LinSpace(*, start: _TensorLike, stop: _TensorLike, num: _TensorLike, name: str | None = None) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, both included."""

def ListDataset(*, tensors: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """A dataset whose elements are given one after the other in `tensors`."""

def ListDiff(*, x: _TensorLike, y: _TensorLike, out_idx: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The elements of `x` that are not in `y`, and their indices in `x`."""

def LoadDataset(*, path: _TensorLike, reader_func_other_args: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], reader_func: Any, Treader_func_args: Sequence[_DTypeLike], compression: str = '', name: str | None = None) -> Tensor:
    """The elements that SaveDatasetV2 wrote; `reader_func` makes one dataset from those of the files."""

def Log(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm of `x`."""

def Log1p(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + x)`, accurate where `x` is near 0."""

def LogMatrixDeterminant(*, input: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The signs of the determinants of square matrices, and the logarithms of their absolute values."""

def LogSoftmax(*, logits: _TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the softmax along the last axis, computed without overflow."""

def LogUniformCandidateSampler(*, true_classes: _TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes below range_max, small ones more often: class k with probability log((k + 2) / (k + 1)) / log(range_max + 1)."""

def LogicalAnd(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether both `x` and `y` are true; shapes broadcast."""

def LogicalNot(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The logical negation of `x`."""

def LogicalOr(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `x` or `y` or both are true; shapes broadcast."""

def LookupTableExportV2(*, table_handle: _TensorLike, Tkeys: _DTypeLike, Tvalues: _DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """All keys and their values."""

def LookupTableFindV2(*, table_handle: _TensorLike, keys: _TensorLike, default_value: _TensorLike, name: str | None = None) -> Tensor:
    """The value of each key, or `default_value` where the table has none."""

def LookupTableImportV2(*, table_handle: _TensorLike, keys: _TensorLike, values: _TensorLike, name: str | None = None) -> Operation | None:
    """Replaces the whole content of the table."""

def LookupTableInsertV2(*, table_handle: _TensorLike, keys: _TensorLike, values: _TensorLike, name: str | None = None) -> Operation | None:
    """Inserts keys with their values; an existing value is replaced."""

def LookupTableRemoveV2(*, table_handle: _TensorLike, keys: _TensorLike, name: str | None = None) -> Operation | None:
    """Removes keys; those that are not in the table are ignored."""

def LookupTableSizeV2(*, table_handle: _TensorLike, name: str | None = None) -> Tensor:
    """The number of keys in the table."""

def LowerBound(*, sorted_inputs: _TensorLike, values: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """For each value, the first index at which it can be inserted into its sorted row."""

def Lu(*, input: _TensorLike, output_idx_type: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The triangular factors L (with ones on its diagonal) and U of square matrices, packed into one, and the permutation `p` of rows for which input[p] = L U."""

def MakeIterator(*, dataset: _TensorLike, iterator: _TensorLike, name: str | None = None) -> Operation | None:
    """Starts `iterator` at the first element of `dataset`."""

def MapDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], use_inter_op_parallelism: bool = True, preserve_cardinality: bool = False, force_synchronous: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Applies `f` to every element."""

def MatMul(*, a: _TensorLike, b: _TensorLike, transpose_a: bool = False, transpose_b: bool = False, grad_a: bool = False, grad_b: bool = False, name: str | None = None) -> Tensor:
    """Multiplies matrix `a` by matrix `b`, each optionally transposed first."""

def MatchingFiles(*, pattern: _TensorLike, name: str | None = None) -> Tensor:
    """The sorted names of the files that match one or several patterns."""

def MatchingFilesDataset(*, patterns: _TensorLike, name: str | None = None) -> Tensor:
    """The sorted names of the files that match one of several patterns."""

def MatrixBandPart(*, input: _TensorLike, num_lower: _TensorLike, num_upper: _TensorLike, name: str | None = None) -> Tensor:
    """Sets everything outside a band around the main diagonals to zero: the band has `num_lower` diagonals below it and `num_upper` above; a negative number means all."""

def MatrixDeterminant(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The determinants of square matrices."""

def MatrixDiag(*, diagonal: _TensorLike, name: str | None = None) -> Tensor:
    """Matrices with the vectors of `diagonal` on their main diagonals and zeros elsewhere."""

def MatrixDiagPart(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The main diagonals of matrices."""

def MatrixDiagPartV2(*, input: _TensorLike, k: _TensorLike, padding_value: _TensorLike, name: str | None = None) -> Tensor:
    """The diagonals `k[0]` to `k[1]` of matrices, each aligned to the left of its row."""

def MatrixDiagPartV3(*, input: _TensorLike, k: _TensorLike, padding_value: _TensorLike, align: str = 'RIGHT_LEFT', name: str | None = None) -> Tensor:
    """The diagonals `k[0]` to `k[1]` of matrices, one per row."""

def MatrixDiagV2(*, diagonal: _TensorLike, k: _TensorLike, num_rows: _TensorLike, num_cols: _TensorLike, padding_value: _TensorLike, name: str | None = None) -> Tensor:
    """Matrices with the given diagonals, from the `k[0]`-th to the `k[1]`-th; shorter ones are aligned to the left of their rows."""

def MatrixDiagV3(*, diagonal: _TensorLike, k: _TensorLike, num_rows: _TensorLike, num_cols: _TensorLike, padding_value: _TensorLike, align: str = 'RIGHT_LEFT', name: str | None = None) -> Tensor:
    """Matrices with the given diagonals, from the `k[0]`-th to the `k[1]`-th."""

def MatrixExponential(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, 1 + A + A A / 2 + ...; NaN where an element is not finite."""

def MatrixInverse(*, input: _TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices, or of their adjoints."""

def MatrixLogarithm(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of square complex matrices; NaN where there is none."""

def MatrixSetDiag(*, input: _TensorLike, diagonal: _TensorLike, name: str | None = None) -> Tensor:
    """`input` with the main diagonals of its matrices replaced by `diagonal`."""

def MatrixSetDiagV2(*, input: _TensorLike, diagonal: _TensorLike, k: _TensorLike, name: str | None = None) -> Tensor:
    """`input` with the diagonals `k[0]` to `k[1]` of its matrices replaced."""

def MatrixSetDiagV3(*, input: _TensorLike, diagonal: _TensorLike, k: _TensorLike, align: str = 'RIGHT_LEFT', name: str | None = None) -> Tensor:
    """`input` with the diagonals `k[0]` to `k[1]` of its matrices replaced."""

def MatrixSolve(*, matrix: _TensorLike, rhs: _TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, for each matrix of a batch."""

def MatrixSolveLs(*, matrix: _TensorLike, rhs: _TensorLike, l2_regularizer: _TensorLike, fast: bool = True, name: str | None = None) -> Tensor:
    """The x that minimises the squared norm of `matrix` x - `rhs` plus `l2_regularizer` times that of x; if there are several, the shortest. `fast` uses the normal equations."""

def MatrixSquareRoot(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices: the product of a root with itself is the matrix. NaN where there is none."""

def MatrixTriangularSolve(*, matrix: _TensorLike, rhs: _TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, of which only one triangle is read; leading axes broadcast."""

def Max(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The largest element along the given axes; NaN if any element is NaN."""

def MaxIntraOpParallelismDataset(*, input_dataset: _TensorLike, max_intra_op_parallelism: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The same elements; the number is a hint, which this engine ignores."""

def MaxPool(*, input: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The largest element of every window of `ksize`, for each channel."""

def MaxPool3D(*, input: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NDHWC', name: str | None = None) -> Tensor:
    """The largest element of every three-dimensional window of `ksize`, for each channel."""

def MaxPool3DGrad(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NDHWC', name: str | None = None) -> Tensor:
    """Gradient of MaxPool3D: the gradient of a window goes to each of its largest elements."""

def MaxPool3DGradGrad(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NDHWC', name: str | None = None) -> Tensor:
    """Gradient of MaxPool3DGrad: the elements of `grad` at the positions where `orig_input` has the maxima of its windows."""

def MaxPoolGrad(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = ..., data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Gradient of MaxPool: the gradient of a window goes to its first largest element."""

def MaxPoolGradGrad(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Gradient of MaxPoolGrad: the elements of `grad` at the positions where `orig_input` has the maxima of its windows."""

def MaxPoolGradGradV2(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: _TensorLike, strides: _TensorLike, padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """MaxPoolGradGrad with the window's size and strides given as tensors."""

def MaxPoolGradGradWithArgmax(*, input: _TensorLike, grad: _TensorLike, argmax: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, include_batch_in_index: bool = False, name: str | None = None) -> Tensor:
    """Gradient of MaxPoolGradWithArgmax: the elements of `grad` at the indices in `argmax`."""

def MaxPoolGradV2(*, orig_input: _TensorLike, orig_output: _TensorLike, grad: _TensorLike, ksize: _TensorLike, strides: _TensorLike, padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """MaxPoolGrad with the window's size and strides given as tensors."""

def MaxPoolGradWithArgmax(*, input: _TensorLike, grad: _TensorLike, argmax: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, include_batch_in_index: bool = False, name: str | None = None) -> Tensor:
    """Gradient of MaxPoolWithArgmax: `grad` added up at the indices in `argmax`."""

def MaxPoolV2(*, input: _TensorLike, ksize: _TensorLike, strides: _TensorLike, padding: str, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """MaxPool with the window's size and strides given as tensors."""

def MaxPoolWithArgmax(*, input: _TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str, Targmax: _DTypeLike = ..., include_batch_in_index: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """MaxPool that also returns the index of each maximum: the flat index into its image, or into the whole batch with `include_batch_in_index`."""

def Maximum(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The larger of `x` and `y` element by element; NaN if either is NaN."""

def Mean(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Averages the elements along the given axes; integer quotients are truncated."""

def MergeSummary(*, inputs: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """Merges Summaries into one with the values of all, whose tags must differ."""

def MergeV2Checkpoints(*, checkpoint_prefixes: _TensorLike, destination_prefix: _TensorLike, delete_old_dirs: bool = True, allow_missing_files: bool = False, name: str | None = None) -> Operation | None:
    """Merges several checkpoints into one: renames their data files and writes one index."""

def Min(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The smallest element along the given axes; NaN if any element is NaN."""

def Minimum(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The smaller of `x` and `y` element by element; NaN if either is NaN."""

def MirrorPad(*, input: _TensorLike, paddings: _TensorLike, mode: str, name: str | None = None) -> Tensor:
    """Pads `input` with its own mirror image; REFLECT leaves out the outermost elements, SYMMETRIC repeats them."""

def MirrorPadGrad(*, input: _TensorLike, paddings: _TensorLike, mode: str, name: str | None = None) -> Tensor:
    """The gradient of MirrorPad: adds the elements of the border to the elements they mirror."""

def Mod(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The remainder of `x / y`, with the sign of `x`."""

def ModelDataset(*, input_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], algorithm: int = 0, cpu_budget: int = 0, ram_budget: int = 0, name: str | None = None) -> Tensor:
    """The same elements; here all pipelines tune themselves."""

def Mul(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies `x` by `y` element by element; shapes broadcast."""

def MulNoNan(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies `x` by `y`; 0 wherever `y` is 0, even if `x` is infinite or NaN."""

def Multinomial(*, logits: _TensorLike, num_samples: _TensorLike, seed: int = 0, seed2: int = 0, output_dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Draws `num_samples` classes per row of unnormalised log probabilities."""

def MutableDenseHashTableV2(*, empty_key: _TensorLike, deleted_key: _TensorLike, value_dtype: _DTypeLike, container: str = '', shared_name: str = '', use_node_name_sharing: bool = False, value_shape: _ShapeLike = ..., initial_num_buckets: int = 131072, max_load_factor: float = 0.8, name: str | None = None) -> Tensor:
    """The handle of a mutable table whose keys may be tensors. Two keys, `empty_key` and `deleted_key`, cannot be used."""

def MutableHashTableOfTensorsV2(*, key_dtype: _DTypeLike, value_dtype: _DTypeLike, container: str = '', shared_name: str = '', use_node_name_sharing: bool = False, value_shape: _ShapeLike = ..., name: str | None = None) -> Tensor:
    """The handle of a mutable table with values of a given shape."""

def MutableHashTableV2(*, key_dtype: _DTypeLike, value_dtype: _DTypeLike, container: str = '', shared_name: str = '', use_node_name_sharing: bool = False, name: str | None = None) -> Tensor:
    """The handle of a mutable table with scalar values."""

def Ndtri(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The quantile function of the standard normal distribution at `x`."""

def Neg(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The negative of `x`."""

def NextAfter(*, x1: _TensorLike, x2: _TensorLike, name: str | None = None) -> Tensor:
    """The next number that the dtype can represent after `x1` in the direction of `x2`."""

def NoOp(*, name: str | None = None) -> Operation | None:
    """Does nothing; it only carries control dependencies."""

def NonDeterministicInts(*, shape: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Integers with every bit random, from the system's entropy, different in every call."""

def NonMaxSuppression(*, boxes: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, iou_threshold: float = 0.5, name: str | None = None) -> Tensor:
    """Selects boxes in order of descending score, without those that overlap a better one."""

def NonMaxSuppressionV2(*, boxes: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, iou_threshold: _TensorLike, name: str | None = None) -> Tensor:
    """Like NonMaxSuppression, with the threshold as an input."""

def NonMaxSuppressionV3(*, boxes: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, iou_threshold: _TensorLike, score_threshold: _TensorLike, name: str | None = None) -> Tensor:
    """Like NonMaxSuppressionV2, but only boxes with scores above a threshold."""

def NonMaxSuppressionV4(*, boxes: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, iou_threshold: _TensorLike, score_threshold: _TensorLike, pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Like NonMaxSuppressionV3; also returns the number of boxes, and may pad the indices with 0."""

def NonMaxSuppressionV5(*, boxes: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, iou_threshold: _TensorLike, score_threshold: _TensorLike, soft_nms_sigma: _TensorLike, pad_to_max_output_size: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Like NonMaxSuppressionV4, but scores may decay with the overlap instead."""

def NonMaxSuppressionWithOverlaps(*, overlaps: _TensorLike, scores: _TensorLike, max_output_size: _TensorLike, overlap_threshold: _TensorLike, score_threshold: _TensorLike, name: str | None = None) -> Tensor:
    """Like NonMaxSuppressionV3, with the overlaps of all pairs as an input."""

def NotEqual(*, x: _TensorLike, y: _TensorLike, incompatible_shape_error: bool = True, name: str | None = None) -> Tensor:
    """Whether `x` differs from `y`, element by element; NaN differs from everything."""

def NthElement(*, input: _TensorLike, n: _TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """The element at index `n` of each row in sorted order; with `reverse`, in descending order."""

def OneHot(*, indices: _TensorLike, depth: _TensorLike, on_value: _TensorLike, off_value: _TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """For each index a row of `depth` elements along `axis`: `on_value` at the index, `off_value` elsewhere. An index outside the row gives `off_value` throughout."""

def OnesLike(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Ones (true) with the shape and dtype of `x`."""

def OptionalFromValue(*, components: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """An optional that holds `components`."""

def OptionalGetValue(*, optional: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> list[Tensor]:
    """The value of an optional; fails if it has none."""

def OptionalHasValue(*, optional: _TensorLike, name: str | None = None) -> Tensor:
    """Whether an optional holds a value."""

def OptionalNone(*, name: str | None = None) -> Tensor:
    """An optional without a value."""

def OptionsDataset(*, input_dataset: _TensorLike, serialized_options: str, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The same elements, with options for the pipeline."""

def Pack(*, values: Sequence[_TensorLike], axis: int = 0, name: str | None = None) -> Tensor:
    """Stacks tensors of one shape along a new axis."""

def Pad(*, input: _TensorLike, paddings: _TensorLike, name: str | None = None) -> Tensor:
    """`input` with `paddings[d, 0]` zeros before and `paddings[d, 1]` after it along each axis d."""

def PadV2(*, input: _TensorLike, paddings: _TensorLike, constant_values: _TensorLike, name: str | None = None) -> Tensor:
    """Like Pad, with `constant_values` instead of zeros."""

def PaddedBatchDatasetV2(*, input_dataset: _TensorLike, batch_size: _TensorLike, padded_shapes: Sequence[_TensorLike], padding_values: Sequence[_TensorLike], drop_remainder: _TensorLike, Toutput_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], parallel_copy: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Like BatchDatasetV2 for elements of different sizes, which are padded to `padded_shapes`, or to the largest of the batch where these are -1."""

def PaddingFIFOQueueV2(*, component_types: Sequence[_DTypeLike], shapes: Sequence[_ShapeLike] = ..., capacity: int = -1, container: str = '', shared_name: str = '', name: str | None = None) -> Tensor:
    """Makes a FIFO queue whose elements may differ in size: those dequeued together are padded."""

def ParallelBatchDataset(*, input_dataset: _TensorLike, batch_size: _TensorLike, num_parallel_calls: _TensorLike, drop_remainder: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], parallel_copy: bool = False, deterministic: str = 'default', metadata: str = '', name: str | None = None) -> Tensor:
    """Like BatchDatasetV2, with several batches made in parallel."""

def ParallelDynamicStitch(*, indices: Sequence[_TensorLike], data: Sequence[_TensorLike], name: str | None = None) -> Tensor:
    """Like DynamicStitch, for indices that do not repeat."""

def ParallelInterleaveDatasetV2(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], cycle_length: _TensorLike, block_length: _TensorLike, num_parallel_calls: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], sloppy: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Interleaves the datasets that `f` makes: `block_length` elements of each of `cycle_length` in turn."""

def ParallelInterleaveDatasetV3(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], cycle_length: _TensorLike, block_length: _TensorLike, num_parallel_calls: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], deterministic: str = 'default', metadata: str = '', name: str | None = None) -> Tensor:
    """Interleaves the datasets that `f` makes: `block_length` elements of each of `cycle_length` in turn."""

def ParallelInterleaveDatasetV4(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], cycle_length: _TensorLike, block_length: _TensorLike, buffer_output_elements: _TensorLike, prefetch_input_elements: _TensorLike, num_parallel_calls: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], deterministic: str = 'default', metadata: str = '', name: str | None = None) -> Tensor:
    """Like InterleaveDataset; the datasets of a cycle are read in parallel."""

def ParallelMapDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], num_parallel_calls: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], use_inter_op_parallelism: bool = True, sloppy: bool = False, preserve_cardinality: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Applies `f` to every element, several in parallel."""

def ParallelMapDatasetV2(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], num_parallel_calls: _TensorLike, f: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], use_inter_op_parallelism: bool = True, deterministic: str = 'default', preserve_cardinality: bool = False, use_unbounded_threadpool: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """Applies `f` to every element, several in parallel; in order unless `deterministic` is 'false'."""

def ParseExampleV2(*, serialized: _TensorLike, names: _TensorLike, sparse_keys: _TensorLike, dense_keys: _TensorLike, ragged_keys: _TensorLike, dense_defaults: Sequence[_TensorLike], num_sparse: int, sparse_types: Sequence[Any], ragged_value_types: Sequence[Any], ragged_split_types: Sequence[Any], dense_shapes: Sequence[_ShapeLike], name: str | None = None) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """The features of serialized Examples (one, or a vector of them): sparse, dense or ragged."""

def ParseSequenceExampleV2(*, serialized: _TensorLike, debug_name: _TensorLike, context_sparse_keys: _TensorLike, context_dense_keys: _TensorLike, context_ragged_keys: _TensorLike, feature_list_sparse_keys: _TensorLike, feature_list_dense_keys: _TensorLike, feature_list_ragged_keys: _TensorLike, feature_list_dense_missing_assumed_empty: _TensorLike, context_dense_defaults: Sequence[_TensorLike], Ncontext_sparse: int = 0, context_sparse_types: Sequence[Any] = ..., context_ragged_value_types: Sequence[Any] = ..., context_ragged_split_types: Sequence[Any] = ..., context_dense_shapes: Sequence[_ShapeLike] = ..., Nfeature_list_sparse: int = 0, Nfeature_list_dense: int = 0, feature_list_dense_types: Sequence[Any] = ..., feature_list_sparse_types: Sequence[Any] = ..., feature_list_ragged_value_types: Sequence[Any] = ..., feature_list_ragged_split_types: Sequence[Any] = ..., feature_list_dense_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """Context and feature lists of serialized SequenceExamples (one, or a vector of them): sparse, dense or ragged."""

def ParseSingleExample(*, serialized: _TensorLike, dense_defaults: Sequence[_TensorLike], num_sparse: int, sparse_keys: Sequence[str], dense_keys: Sequence[str], sparse_types: Sequence[Any], dense_shapes: Sequence[_ShapeLike], name: str | None = None) -> tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]:
    """The features of one serialized Example: sparse or dense."""

def ParseTensor(*, serialized: _TensorLike, out_type: _DTypeLike, name: str | None = None) -> Tensor:
    """Parses a serialized TensorProto."""

def PartitionedCall(*, args: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], f: Any, config: str = '', config_proto: str = '', executor_type: str = '', name: str | None = None) -> list[Tensor]:
    """Calls the function `f`, which has no side effects."""

def Placeholder(*, dtype: _DTypeLike, shape: _ShapeLike = ..., name: str | None = None) -> Tensor:
    """A value that the caller must feed."""

def PlaceholderV2(*, dtype: _DTypeLike, shape: _ShapeLike, name: str | None = None) -> Tensor:
    """A value of a given shape that the caller must feed."""

def PlaceholderWithDefault(*, input: _TensorLike, shape: _ShapeLike, name: str | None = None) -> Tensor:
    """Returns its input, unless the caller feeds another value."""

def Polygamma(*, a: _TensorLike, x: _TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` (a whole number) of Digamma at `x`; shapes broadcast."""

def PopulationCount(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The number of bits of `x` that are set."""

def Pow(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Raises `x` to the power `y`; shapes broadcast."""

def PrefetchDataset(*, input_dataset: _TensorLike, buffer_size: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], slack_period: int = 0, legacy_autotune: bool = True, buffer_size_min: int = 0, metadata: str = '', name: str | None = None) -> Tensor:
    """The same elements; a thread computes up to `buffer_size` of them ahead."""

def PreventGradient(*, input: _TensorLike, message: str = '', name: str | None = None) -> Tensor:
    """Returns its input; a gradient through it is an error with the given message."""

def Print(*, input: _TensorLike, data: Sequence[_TensorLike], message: str = '', first_n: int = -1, summarize: int = 3, name: str | None = None) -> Tensor:
    """Returns its input, after printing `message` and the first elements of each `data`."""

def PrintV2(*, input: _TensorLike, output_stream: str = 'stderr', end: str = '\n', name: str | None = None) -> Operation | None:
    """Prints a string and `end` to a stream."""

def PriorityQueueV2(*, component_types: Sequence[_DTypeLike] = ..., shapes: Sequence[_ShapeLike] = ..., capacity: int = -1, container: str = '', shared_name: str = '', name: str | None = None) -> Tensor:
    """Makes a queue that dequeues the element with the smallest first component, an int64."""

def PrivateThreadPoolDataset(*, input_dataset: _TensorLike, num_threads: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """The same elements; the number is a hint, which this engine ignores."""

def Prod(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Multiplies the elements along the given axes."""

def PyFuncStateless(*, callback: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], token: str = '', is_async: bool = False, output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """Calls a function of the user's program that depends only on `input`: calls may be merged or left out."""

def Qr(*, input: _TensorLike, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The factors of `input` = `q` `r`: the columns of `q` are orthonormal, `r` is upper triangular."""

def QueueCloseV2(*, handle: _TensorLike, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation | None:
    """Closes a queue: no element can be enqueued any more; those in it can still be dequeued."""

def QueueDequeueManyV2(*, handle: _TensorLike, n: _TensorLike, component_types: Sequence[_DTypeLike], timeout_ms: int = -1, name: str | None = None) -> list[Tensor]:
    """Dequeues `n` elements and stacks them; waits until there are `n`."""

def QueueDequeueUpToV2(*, handle: _TensorLike, n: _TensorLike, component_types: Sequence[_DTypeLike], timeout_ms: int = -1, name: str | None = None) -> list[Tensor]:
    """Dequeues `n` elements and stacks them, or fewer if a closed queue has no more."""

def QueueDequeueV2(*, handle: _TensorLike, component_types: Sequence[_DTypeLike], timeout_ms: int = -1, name: str | None = None) -> list[Tensor]:
    """Dequeues one element; waits while the queue is empty."""

def QueueEnqueueManyV2(*, handle: _TensorLike, components: Sequence[_TensorLike], timeout_ms: int = -1, name: str | None = None) -> Operation | None:
    """Enqueues the rows of the components, one element each; waits while the queue is full."""

def QueueEnqueueV2(*, handle: _TensorLike, components: Sequence[_TensorLike], timeout_ms: int = -1, name: str | None = None) -> Operation | None:
    """Enqueues one element; waits while the queue is full."""

def QueueIsClosedV2(*, handle: _TensorLike, name: str | None = None) -> Tensor:
    """Whether a queue is closed."""

def QueueSizeV2(*, handle: _TensorLike, name: str | None = None) -> Tensor:
    """The number of elements in a queue."""

def RFFT(*, input: _TensorLike, fft_length: _TensorLike, Tcomplex: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The first half of the Fourier transform of real numbers over the last axis."""

def RFFT2D(*, input: _TensorLike, fft_length: _TensorLike, Tcomplex: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The first half of the Fourier transform of real numbers over the last two axes."""

def RFFT3D(*, input: _TensorLike, fft_length: _TensorLike, Tcomplex: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The first half of the Fourier transform of real numbers over the last three axes."""

def RFFTND(*, input: _TensorLike, fft_length: _TensorLike, axes: _TensorLike, Tcomplex: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers over `axes`, each truncated or padded with zeros to the length in `fft_length`; only the first half of the last axis is returned."""

def RGBToHSV(*, images: _TensorLike, name: str | None = None) -> Tensor:
    """Converts pixels from RGB to hue, saturation and value, all in [0, 1]."""

def RaggedBincount(*, splits: _TensorLike, values: _TensorLike, size: _TensorLike, weights: _TensorLike, binary_output: bool = False, name: str | None = None) -> Tensor:
    """Counts how often each number below `size` occurs in each row of a ragged matrix, or sums its weights; with `binary_output`, tells only whether it occurs."""

def RaggedCountSparseOutput(*, splits: _TensorLike, values: _TensorLike, weights: _TensorLike, binary_output: bool, minlength: int = -1, maxlength: int = -1, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Counts how often each number occurs in each row of a ragged matrix, or sums its weights, as a sparse tensor."""

def RaggedCross(*, ragged_values: Sequence[_TensorLike], ragged_row_splits: Sequence[_TensorLike], sparse_indices: Sequence[_TensorLike], sparse_values: Sequence[_TensorLike], sparse_shape: Sequence[_TensorLike], dense_inputs: Sequence[_TensorLike], ragged_values_types: Sequence[Any], ragged_splits_types: Sequence[Any], sparse_values_types: Sequence[Any], dense_types: Sequence[Any], input_order: str, hashed_output: bool, num_buckets: int, hash_key: int, out_values_type: _DTypeLike, out_row_splits_type: _DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Every combination of the values that the inputs have in the same row: words joined by '_X_', or their hash."""

def RandomDataset(*, seed: _TensorLike, seed2: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """An infinite sequence of random 32-bit integers; equal seeds give equal sequences."""

def RandomDatasetV2(*, seed: _TensorLike, seed2: _TensorLike, seed_generator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], rerandomize_each_iteration: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """An infinite sequence of random 32-bit integers; equal seeds give equal sequences."""

def RandomGamma(*, shape: _TensorLike, alpha: _TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """Samples of gamma distributions of scale 1: `shape` of them for each `alpha`."""

def RandomGammaGrad(*, alpha: _TensorLike, sample: _TensorLike, name: str | None = None) -> Tensor:
    """The derivative of a sample of the gamma distribution by its shape parameter `alpha`."""

def RandomIndexShuffle(*, index: _TensorLike, seed: _TensorLike, max_index: _TensorLike, rounds: int = 4, name: str | None = None) -> Tensor:
    """The position of `index` in a permutation of [0, max_index] that `seed` determines."""

def RandomPoissonV2(*, shape: _TensorLike, rate: _TensorLike, seed: int = 0, seed2: int = 0, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Samples of Poisson distributions: `shape` of them for each `rate`."""

def RandomShuffle(*, value: _TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """The rows of `value` in a random order. If both seeds are zero, the order differs in every run."""

def RandomShuffleQueueV2(*, component_types: Sequence[_DTypeLike], min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0, shapes: Sequence[_ShapeLike] = ..., capacity: int = -1, container: str = '', shared_name: str = '', name: str | None = None) -> Tensor:
    """Makes a queue whose elements are dequeued in random order."""

def RandomStandardNormal(*, shape: _TensorLike, dtype: _DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """Normally distributed numbers with mean 0 and standard deviation 1. If both seeds are zero, every run gives different numbers."""

def RandomUniform(*, shape: _TensorLike, dtype: _DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """Uniformly distributed numbers in [0, 1). If both seeds are zero, every run gives different numbers."""

def RandomUniformInt(*, shape: _TensorLike, minval: _TensorLike, maxval: _TensorLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """Uniformly distributed integers in [minval, maxval). If both seeds are zero, every run gives different numbers."""

def Range(*, start: _TensorLike, limit: _TensorLike, delta: _TensorLike, name: str | None = None) -> Tensor:
    """The numbers from `start` up to but not including `limit` in steps of `delta`."""

def RangeDataset(*, start: _TensorLike, stop: _TensorLike, step: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', replicate_on_split: bool = False, name: str | None = None) -> Tensor:
    """The numbers from `start` to `stop`, exclusive, in steps of `step`."""

def Rank(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """The number of axes of `input`."""

def ReadFile(*, filename: _TensorLike, name: str | None = None) -> Tensor:
    """The bytes of the file of that name."""

def ReadVariableOp(*, resource: _TensorLike, dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """The current value of a variable. Later assignments do not change the value that was read."""

def Real(*, input: _TensorLike, Tout: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The real part of `input`."""

def RealDiv(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y` element by element; shapes broadcast."""

def RebatchDatasetV2(*, input_dataset: _TensorLike, batch_sizes: _TensorLike, drop_remainder: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """Splits and regroups batches: their rows form batches of `batch_sizes`, cyclically."""

def Reciprocal(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """One over `x`."""

def ReciprocalGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Reciprocal: `-dy * conj(y)^2`."""

def ReduceDataset(*, input_dataset: _TensorLike, initial_state: Sequence[_TensorLike], other_arguments: Sequence[_TensorLike], f: Any, Tstate: Sequence[_DTypeLike], Targuments: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], use_inter_op_parallelism: bool = True, metadata: str = '', name: str | None = None) -> list[Tensor]:
    """Applies `f` to a state and each element; it returns the next state. The result is the last state."""

def ReduceJoin(*, inputs: _TensorLike, reduction_indices: _TensorLike, keep_dims: bool = False, separator: str = '', name: str | None = None) -> Tensor:
    """Joins the strings along the axes `reduction_indices`, in the order the axes are given."""

def RegexFullMatch(*, input: _TensorLike, pattern: _TensorLike, name: str | None = None) -> Tensor:
    """Whether `pattern` matches each whole string."""

def RegexReplace(*, input: _TensorLike, pattern: _TensorLike, rewrite: _TensorLike, replace_global: bool = True, name: str | None = None) -> Tensor:
    """Replaces matches of `pattern` by `rewrite`, in which \\1 to \\9 refer to groups."""

def Relu(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """`x` where it is positive, else 0."""

def Relu6(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """`x` clipped to [0, 6]."""

def Relu6Grad(*, gradients: _TensorLike, features: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Relu6: `gradients` where `features` lie strictly between 0 and 6."""

def ReluGrad(*, gradients: _TensorLike, features: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Relu: `gradients` where `features` (or the result) are positive."""

def RepeatDataset(*, input_dataset: _TensorLike, count: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Repeats the elements `count` times; infinitely if it is negative."""

def Reshape(*, tensor: _TensorLike, shape: _TensorLike, name: str | None = None) -> Tensor:
    """The elements of `tensor` in the same order with shape `shape`, in which one size may be -1, which is inferred."""

def ResizeArea(*, images: _TensorLike, size: _TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resizes images to `size`: each pixel is the mean of the area it covers."""

def ResizeBicubic(*, images: _TensorLike, size: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Resizes images to `size` by bicubic interpolation of the sixteen nearest pixels."""

def ResizeBicubicGrad(*, grads: _TensorLike, original_image: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Gradient of ResizeBicubic: an output pixel's gradient goes to those it was computed from."""

def ResizeBilinear(*, images: _TensorLike, size: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Resizes images to `size` by bilinear interpolation of the four nearest pixels."""

def ResizeBilinearGrad(*, grads: _TensorLike, original_image: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Gradient of ResizeBilinear: an output pixel's gradient goes to the four it was computed from."""

def ResizeNearestNeighbor(*, images: _TensorLike, size: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Resizes images to `size`, taking the nearest pixel."""

def ResizeNearestNeighborGrad(*, grads: _TensorLike, size: _TensorLike, align_corners: bool = False, half_pixel_centers: bool = False, name: str | None = None) -> Tensor:
    """Gradient of ResizeNearestNeighbor: `grads` added up at the pixels that were read; `size` is the original image's."""

def ResourceApplyAdaMax(*, var: _TensorLike, m: _TensorLike, v: _TensorLike, beta1_power: _TensorLike, lr: _TensorLike, beta1: _TensorLike, beta2: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """Adam with the decayed maximum of the gradient instead of the running mean square."""

def ResourceApplyAdadelta(*, var: _TensorLike, accum: _TensorLike, accum_update: _TensorLike, lr: _TensorLike, rho: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """Scales the gradient by the ratio of the running mean squares of past updates and past gradients."""

def ResourceApplyAdagrad(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Operation | None:
    """`accum += grad**2; var -= lr * grad / sqrt(accum)`."""

def ResourceApplyAdagradDA(*, var: _TensorLike, gradient_accumulator: _TensorLike, gradient_squared_accumulator: _TensorLike, grad: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, global_step: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """Adagrad dual averaging: `var` is computed from the sums of gradients and of their squares."""

def ResourceApplyAdagradV2(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Operation | None:
    """`accum += grad**2; var -= lr * grad / (sqrt(accum) + epsilon)`."""

def ResourceApplyAdam(*, var: _TensorLike, m: _TensorLike, v: _TensorLike, beta1_power: _TensorLike, beta2_power: _TensorLike, lr: _TensorLike, beta1: _TensorLike, beta2: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Operation | None:
    """Adam: running means `m` of the gradient and `v` of its square; `var` is updated by their bias-corrected ratio."""

def ResourceApplyAdamWithAmsgrad(*, var: _TensorLike, m: _TensorLike, v: _TensorLike, vhat: _TensorLike, beta1_power: _TensorLike, beta2_power: _TensorLike, lr: _TensorLike, beta1: _TensorLike, beta2: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """Adam that divides by the largest running mean square so far, which `vhat` stores."""

def ResourceApplyAddSign(*, var: _TensorLike, m: _TensorLike, lr: _TensorLike, alpha: _TensorLike, sign_decay: _TensorLike, beta: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """AddSign: larger steps where the gradient and its running mean `m` have the same sign."""

def ResourceApplyCenteredRMSProp(*, var: _TensorLike, mg: _TensorLike, ms: _TensorLike, mom: _TensorLike, lr: _TensorLike, rho: _TensorLike, momentum: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """RMSProp with the running variance of the gradient instead of its mean square."""

def ResourceApplyFtrl(*, var: _TensorLike, accum: _TensorLike, linear: _TensorLike, grad: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, lr_power: _TensorLike, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Operation | None:
    """Follow-the-regularised-leader with l1 and l2 penalties."""

def ResourceApplyFtrlV2(*, var: _TensorLike, accum: _TensorLike, linear: _TensorLike, grad: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, l2_shrinkage: _TensorLike, lr_power: _TensorLike, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyFtrl with an l2 penalty that shrinks `var` itself as well."""

def ResourceApplyGradientDescent(*, var: _TensorLike, alpha: _TensorLike, delta: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """`var -= alpha * delta`."""

def ResourceApplyKerasMomentum(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, momentum: _TensorLike, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Operation | None:
    """`accum = accum * momentum - lr * grad; var += accum`."""

def ResourceApplyMomentum(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, momentum: _TensorLike, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Operation | None:
    """`accum = accum * momentum + grad; var -= lr * accum`."""

def ResourceApplyPowerSign(*, var: _TensorLike, m: _TensorLike, lr: _TensorLike, logbase: _TensorLike, sign_decay: _TensorLike, beta: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """PowerSign: exponentially larger steps where the gradient and its running mean `m` have the same sign."""

def ResourceApplyProximalAdagrad(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """An Adagrad step, then a proximal step towards zero, both with Adagrad's learning rate."""

def ResourceApplyProximalGradientDescent(*, var: _TensorLike, alpha: _TensorLike, l1: _TensorLike, l2: _TensorLike, delta: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """A gradient descent step, then a proximal step towards zero: l1 by a threshold, l2 by a factor."""

def ResourceApplyRMSProp(*, var: _TensorLike, ms: _TensorLike, mom: _TensorLike, lr: _TensorLike, rho: _TensorLike, momentum: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """Divides the gradient by the root of its running mean square `ms`, with momentum in `mom`."""

def ResourceCountUpTo(*, resource: _TensorLike, limit: int, T: _DTypeLike, name: str | None = None) -> Tensor:
    """Adds 1 to a scalar variable and returns its old value; fails when it has reached `limit`."""

def ResourceGather(*, resource: _TensorLike, indices: _TensorLike, dtype: _DTypeLike, batch_dims: int = 0, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """The rows of the variable that `indices` select."""

def ResourceGatherNd(*, resource: _TensorLike, indices: _TensorLike, dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """The slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterAdd(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Adds `updates` to the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterDiv(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Divides by `updates` the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterMax(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Takes the larger of `updates` and the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterMin(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Takes the smaller of `updates` and the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterMul(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Multiplies by `updates` the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterNdAdd(*, ref: _TensorLike, indices: _TensorLike, updates: _TensorLike, use_locking: bool = True, bad_indices_policy: str = '', name: str | None = None) -> Operation | None:
    """Adds `updates` to the slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterNdMax(*, ref: _TensorLike, indices: _TensorLike, updates: _TensorLike, use_locking: bool = True, bad_indices_policy: str = '', name: str | None = None) -> Operation | None:
    """Takes the larger of `updates` and the slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterNdMin(*, ref: _TensorLike, indices: _TensorLike, updates: _TensorLike, use_locking: bool = True, bad_indices_policy: str = '', name: str | None = None) -> Operation | None:
    """Takes the smaller of `updates` and the slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterNdSub(*, ref: _TensorLike, indices: _TensorLike, updates: _TensorLike, use_locking: bool = True, bad_indices_policy: str = '', name: str | None = None) -> Operation | None:
    """Subtracts `updates` from the slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterNdUpdate(*, ref: _TensorLike, indices: _TensorLike, updates: _TensorLike, use_locking: bool = True, bad_indices_policy: str = '', name: str | None = None) -> Operation | None:
    """Puts `updates` into the slices of the variable at the coordinates in the rows of `indices`."""

def ResourceScatterSub(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Subtracts `updates` from the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceScatterUpdate(*, resource: _TensorLike, indices: _TensorLike, updates: _TensorLike, name: str | None = None) -> Operation | None:
    """Puts `updates` into the rows of the variable that `indices` select. A scalar applies to all rows."""

def ResourceSparseApplyAdadelta(*, var: _TensorLike, accum: _TensorLike, accum_update: _TensorLike, lr: _TensorLike, rho: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyAdadelta on the rows that `indices` select."""

def ResourceSparseApplyAdagrad(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Operation | None:
    """ResourceApplyAdagrad on the rows that `indices` select."""

def ResourceSparseApplyAdagradDA(*, var: _TensorLike, gradient_accumulator: _TensorLike, gradient_squared_accumulator: _TensorLike, grad: _TensorLike, indices: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, global_step: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyAdagradDA on the rows that `indices` select."""

def ResourceSparseApplyAdagradV2(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, update_slots: bool = True, name: str | None = None) -> Operation | None:
    """ResourceApplyAdagradV2 on the rows that `indices` select."""

def ResourceSparseApplyCenteredRMSProp(*, var: _TensorLike, mg: _TensorLike, ms: _TensorLike, mom: _TensorLike, lr: _TensorLike, rho: _TensorLike, momentum: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyCenteredRMSProp on the rows that `indices` select."""

def ResourceSparseApplyFtrl(*, var: _TensorLike, accum: _TensorLike, linear: _TensorLike, grad: _TensorLike, indices: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, lr_power: _TensorLike, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyFtrl on the rows that `indices` select."""

def ResourceSparseApplyFtrlV2(*, var: _TensorLike, accum: _TensorLike, linear: _TensorLike, grad: _TensorLike, indices: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, l2_shrinkage: _TensorLike, lr_power: _TensorLike, use_locking: bool = False, multiply_linear_by_lr: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyFtrlV2 on the rows that `indices` select."""

def ResourceSparseApplyKerasMomentum(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, indices: _TensorLike, momentum: _TensorLike, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyKerasMomentum on the rows of `var` and `accum` that `indices` select."""

def ResourceSparseApplyMomentum(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, grad: _TensorLike, indices: _TensorLike, momentum: _TensorLike, use_locking: bool = False, use_nesterov: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyMomentum on the rows of `var` and `accum` that `indices` select."""

def ResourceSparseApplyProximalAdagrad(*, var: _TensorLike, accum: _TensorLike, lr: _TensorLike, l1: _TensorLike, l2: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyProximalAdagrad on the rows that `indices` select."""

def ResourceSparseApplyProximalGradientDescent(*, var: _TensorLike, alpha: _TensorLike, l1: _TensorLike, l2: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyProximalGradientDescent on the rows that `indices` select."""

def ResourceSparseApplyRMSProp(*, var: _TensorLike, ms: _TensorLike, mom: _TensorLike, lr: _TensorLike, rho: _TensorLike, momentum: _TensorLike, epsilon: _TensorLike, grad: _TensorLike, indices: _TensorLike, use_locking: bool = False, name: str | None = None) -> Operation | None:
    """ResourceApplyRMSProp on the rows that `indices` select."""

def ResourceStridedSliceAssign(*, ref: _TensorLike, begin: _TensorLike, end: _TensorLike, strides: _TensorLike, value: _TensorLike, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Operation | None:
    """Assigns to a slice of a variable, as `ref[begin:end:strides] = value` in Python."""

def RestoreV2(*, prefix: _TensorLike, tensor_names: _TensorLike, shape_and_slices: _TensorLike, dtypes: Sequence[_DTypeLike], name: str | None = None) -> list[Tensor]:
    """Reads tensors from a checkpoint by their names."""

def Reverse(*, tensor: _TensorLike, dims: _TensorLike, name: str | None = None) -> Tensor:
    """Reverses `tensor` along each axis d for which `dims[d]` is true."""

def ReverseSequence(*, input: _TensorLike, seq_lengths: _TensorLike, seq_dim: int, batch_dim: int = 0, name: str | None = None) -> Tensor:
    """For each entry of axis `batch_dim`, reverses the first `seq_lengths` elements along `seq_dim` and copies the rest."""

def ReverseV2(*, tensor: _TensorLike, axis: _TensorLike, name: str | None = None) -> Tensor:
    """Reverses `tensor` along the given axes."""

def RightShift(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """`x` shifted right by `y` bits; the sign bit is copied into the free bits; shapes broadcast."""

def Rint(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The integer nearest to `x`; halfway cases go to the even one."""

def RngReadAndSkip(*, resource: _TensorLike, alg: _TensorLike, delta: _TensorLike, name: str | None = None) -> Tensor:
    """Reads a generator's state (counter and key) and advances it by `delta` outputs."""

def RngSkip(*, resource: _TensorLike, algorithm: _TensorLike, delta: _TensorLike, name: str | None = None) -> Operation | None:
    """Advances a generator's state by `delta` outputs."""

def Roll(*, input: _TensorLike, shift: _TensorLike, axis: _TensorLike, name: str | None = None) -> Tensor:
    """Shifts elements by `shift` along `axis`; those shifted past the end reappear at the beginning."""

def Round(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The integer nearest to `x`; halfway cases go to the even one."""

def Rsqrt(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """One over the square root of `x`."""

def RsqrtGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Rsqrt: `-dy / 2 * conj(y)^3`."""

def SampleDistortedBoundingBox(*, image_size: _TensorLike, bounding_boxes: _TensorLike, seed: int = 0, seed2: int = 0, min_object_covered: float = 0.1, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """A random crop of an image that covers enough of one of its bounding boxes: begin and size for Slice, and the crop as a box."""

def SampleDistortedBoundingBoxV2(*, image_size: _TensorLike, bounding_boxes: _TensorLike, min_object_covered: _TensorLike, seed: int = 0, seed2: int = 0, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """SampleDistortedBoundingBox with the part of an object that must be covered as an input."""

def SaveDatasetV2(*, input_dataset: _TensorLike, path: _TensorLike, shard_func_other_args: Sequence[_TensorLike], shard_func: Any, Tshard_func_args: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], compression: str = '', use_shard_func: bool = True, name: str | None = None) -> Tensor:
    """The same elements, which are also written to the folder `path`; `shard_func` chooses the file."""

def SaveV2(*, prefix: _TensorLike, tensor_names: _TensorLike, shape_and_slices: _TensorLike, tensors: Sequence[_TensorLike], name: str | None = None) -> Operation | None:
    """Writes tensors to a checkpoint, each under its name."""

def ScalarSummary(*, tags: _TensorLike, values: _TensorLike, name: str | None = None) -> Tensor:
    """A Summary with a simple value for each tag."""

def ScaleAndTranslate(*, images: _TensorLike, size: _TensorLike, scale: _TensorLike, translation: _TensorLike, kernel_type: str = 'lanczos3', antialias: bool = True, name: str | None = None) -> Tensor:
    """Scales and then translates `images` to images of `size`, with the filter `kernel_type`."""

def ScaleAndTranslateGrad(*, grads: _TensorLike, original_image: _TensorLike, scale: _TensorLike, translation: _TensorLike, kernel_type: str = 'lanczos3', antialias: bool = True, name: str | None = None) -> Tensor:
    """Gradient of ScaleAndTranslate: an output pixel's gradient goes to those it was computed from."""

def ScanDataset(*, input_dataset: _TensorLike, initial_state: Sequence[_TensorLike], other_arguments: Sequence[_TensorLike], f: Any, Tstate: Sequence[_DTypeLike], Targuments: Sequence[_DTypeLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], preserve_cardinality: bool = False, use_default_device: bool = True, metadata: str = '', name: str | None = None) -> Tensor:
    """Applies `f` to a state and every element; it returns the next state and a new element."""

def ScatterNd(*, indices: _TensorLike, updates: _TensorLike, shape: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """Adds `updates` at the coordinates in `indices` to a tensor of zeros with shape `shape`."""

def ScatterNdNonAliasingAdd(*, input: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`input` with `updates` added to the slices that `indices` select."""

def SegmentMax(*, data: _TensorLike, segment_ids: _TensorLike, name: str | None = None) -> Tensor:
    """The largest elements of each segment; ids are sorted. An id that does not occur gives 0."""

def SegmentMean(*, data: _TensorLike, segment_ids: _TensorLike, name: str | None = None) -> Tensor:
    """Averages the rows of each segment; ids are sorted. An id that does not occur gives 0."""

def SegmentMin(*, data: _TensorLike, segment_ids: _TensorLike, name: str | None = None) -> Tensor:
    """The smallest elements of each segment; ids are sorted. An id that does not occur gives 0."""

def SegmentProd(*, data: _TensorLike, segment_ids: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the rows of each segment; ids are sorted. An id that does not occur gives 1."""

def SegmentSum(*, data: _TensorLike, segment_ids: _TensorLike, name: str | None = None) -> Tensor:
    """Adds up the rows of each segment; ids are sorted. An id that does not occur gives 0."""

def Select(*, condition: _TensorLike, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """`t` where `condition` is true, else `e`. A vector `condition` picks whole rows."""

def SelectV2(*, condition: _TensorLike, t: _TensorLike, e: _TensorLike, name: str | None = None) -> Tensor:
    """`t` where `condition` is true, else `e`; all three shapes broadcast."""

def SelfAdjointEigV2(*, input: _TensorLike, compute_v: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues of self-adjoint matrices in ascending order, and optionally the eigenvectors as columns of `v`; only the lower triangles are read."""

def Selu(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """The scaled exponential linear unit, which keeps the mean and variance of its input."""

def SeluGrad(*, gradients: _TensorLike, outputs: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Selu, from its result."""

def SerializeIterator(*, resource_handle: _TensorLike, external_state_policy: int = 0, name: str | None = None) -> Tensor:
    """The position of an iterator, for DeserializeIterator. external_state_policy 2: an error if elements depend on a state that is not saved; 0, 1: that is fine."""

def SerializeTensor(*, tensor: _TensorLike, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto."""

def SetSize(*, set_indices: _TensorLike, set_values: _TensorLike, set_shape: _TensorLike, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """The number of distinct elements of each set in the last axis of a sparse tensor."""

def Shape(*, input: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The sizes of `input`'s axes, as a vector."""

def ShapeN(*, input: Sequence[_TensorLike], out_type: _DTypeLike = ..., name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors, each as a vector."""

def ShardDataset(*, input_dataset: _TensorLike, num_shards: _TensorLike, index: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], require_non_empty: bool = False, metadata: str = '', name: str | None = None) -> Tensor:
    """The elements whose index modulo `num_shards` is `index`."""

def ShardedFilename(*, basename: _TensorLike, shard: _TensorLike, num_shards: _TensorLike, name: str | None = None) -> Tensor:
    """The name of one of several files: `basename-00003-of-00012`."""

def ShardedFilespec(*, basename: _TensorLike, num_shards: _TensorLike, name: str | None = None) -> Tensor:
    """A pattern for the names of several files: `basename-?????-of-00012`."""

def ShuffleAndRepeatDatasetV2(*, input_dataset: _TensorLike, buffer_size: _TensorLike, seed: _TensorLike, seed2: _TensorLike, count: _TensorLike, seed_generator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], reshuffle_each_iteration: bool = True, metadata: str = '', name: str | None = None) -> Tensor:
    """Repeats the elements `count` times, each time in another random order."""

def ShuffleDatasetV3(*, input_dataset: _TensorLike, buffer_size: _TensorLike, seed: _TensorLike, seed2: _TensorLike, seed_generator: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], reshuffle_each_iteration: bool = True, metadata: str = '', name: str | None = None) -> Tensor:
    """The elements in random order: each is drawn from a buffer of the next `buffer_size`."""

def Sigmoid(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The logistic function `1 / (1 + exp(-x))`."""

def SigmoidGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Sigmoid: `dy * y * (1 - y)`."""

def Sign(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1 as `x` is negative, zero or positive; complex numbers are scaled to length 1."""

def Sin(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The sine of `x`, in radians."""

def Sinh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine of `x`."""

def Size(*, input: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The number of elements of `input`."""

def SkipDataset(*, input_dataset: _TensorLike, count: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """All elements but the first `count`; none if it is -1."""

def Slice(*, input: _TensorLike, begin: _TensorLike, size: _TensorLike, name: str | None = None) -> Tensor:
    """The region of `input` that starts at `begin` and has size `size`; a size of -1 reaches to the end."""

def Snapshot(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Returns its input as it is at this moment."""

def SnapshotDatasetReader(*, shard_dir: _TensorLike, start_index: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], version: int, compression: str = '', name: str | None = None) -> Tensor:
    """The elements of one file of a snapshot, starting at index `start_index`."""

def SnapshotDatasetV2(*, input_dataset: _TensorLike, path: _TensorLike, reader_func_other_args: Sequence[_TensorLike], shard_func_other_args: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], reader_func: Any, Treader_func_args: Sequence[_DTypeLike], shard_func: Any, Tshard_func_args: Sequence[_DTypeLike], compression: str = '', reader_prefix: str = '', writer_prefix: str = '', hash_valid: bool = False, hash: int = 0, metadata: str = '', name: str | None = None) -> Tensor:
    """The same elements; the first complete iteration writes them to a folder, and later ones read them from there."""

def SobolSample(*, dim: _TensorLike, num_results: _TensorLike, skip: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Points `skip` and following of the Sobol sequence in `dim` dimensions (at most 1111), one per row: quasi-random numbers of [0, 1)."""

def Softmax(*, logits: _TensorLike, name: str | None = None) -> Tensor:
    """The softmax along the last axis: exponentials scaled to add up to 1."""

def SoftmaxCrossEntropyWithLogits(*, features: _TensorLike, labels: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """For each row the cross-entropy between the distribution in `labels` and the softmax of `features`; and its gradient with respect to `features`."""

def Softplus(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """`log(1 + exp(x))`: a smooth Relu."""

def SoftplusGrad(*, gradients: _TensorLike, features: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Softplus: `gradients * sigmoid(features)`."""

def Softsign(*, features: _TensorLike, name: str | None = None) -> Tensor:
    """`x / (1 + |x|)`: like Tanh, but it saturates more slowly."""

def SoftsignGrad(*, gradients: _TensorLike, features: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Softsign."""

def SpaceToBatch(*, input: _TensorLike, paddings: _TensorLike, block_size: int, name: str | None = None) -> Tensor:
    """Pads height and width and moves the positions inside square blocks into the batch."""

def SpaceToBatchND(*, input: _TensorLike, block_shape: _TensorLike, paddings: _TensorLike, name: str | None = None) -> Tensor:
    """Pads the spatial axes and moves the positions inside blocks of them into the batch."""

def SpaceToDepth(*, input: _TensorLike, block_size: int, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Moves the positions inside square blocks of height and width into the channels."""

def SparseBincount(*, indices: _TensorLike, values: _TensorLike, dense_shape: _TensorLike, size: _TensorLike, weights: _TensorLike, binary_output: bool = False, name: str | None = None) -> Tensor:
    """Counts how often each number below `size` occurs in a sparse tensor, row by row if it has two axes, or sums its weights; with `binary_output`, tells only whether it occurs."""

def SparseCountSparseOutput(*, indices: _TensorLike, values: _TensorLike, dense_shape: _TensorLike, weights: _TensorLike, binary_output: bool, minlength: int = -1, maxlength: int = -1, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Counts how often each number occurs in each row of a sparse tensor, or sums its weights, as a sparse tensor."""

def SparseReorder(*, input_indices: _TensorLike, input_values: _TensorLike, input_shape: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The same sparse tensor with its indices in ascending order."""

def SparseReshape(*, input_indices: _TensorLike, input_shape: _TensorLike, new_shape: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The indices and shape of a sparse tensor after it is reshaped; one size may be -1."""

def SparseSegmentMean(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Averages the rows of `data` that `indices` select, by segment. Segment ids are sorted; an id that does not occur gives 0."""

def SparseSegmentMeanGrad(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, output_dim0: _TensorLike, name: str | None = None) -> Tensor:
    """The gradient of SparseSegmentMean with respect to its data, dense."""

def SparseSegmentMeanGradV2(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, dense_output_dim0: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The gradient of SparseSegmentMean with respect to its data: the rows that are not zero, and their sorted indices."""

def SparseSegmentMeanWithNumSegments(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Averages the rows of `data` that `indices` select, by segment. Segment ids are sorted; the result has `num_segments` rows; segments without rows are 0."""

def SparseSegmentSqrtN(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Adds up the rows of `data` that `indices` select, by segment, divided by the root of their number. Segment ids are sorted; an id that does not occur gives 0."""

def SparseSegmentSqrtNGrad(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, output_dim0: _TensorLike, name: str | None = None) -> Tensor:
    """The gradient of SparseSegmentSqrtN with respect to its data, dense."""

def SparseSegmentSqrtNGradV2(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, dense_output_dim0: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The gradient of SparseSegmentSqrtN with respect to its data: the rows that are not zero, and their sorted indices."""

def SparseSegmentSqrtNWithNumSegments(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Adds up the rows of `data` that `indices` select, by segment, divided by the root of their number. Segment ids are sorted; the result has `num_segments` rows; segments without rows are 0."""

def SparseSegmentSum(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Adds up the rows of `data` that `indices` select, by segment. Segment ids are sorted; an id that does not occur gives 0."""

def SparseSegmentSumGrad(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, output_dim0: _TensorLike, name: str | None = None) -> Tensor:
    """The gradient of SparseSegmentSum with respect to its data, dense."""

def SparseSegmentSumGradV2(*, grad: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, dense_output_dim0: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The gradient of SparseSegmentSum with respect to its data: the rows that are not zero, and their sorted indices."""

def SparseSegmentSumWithNumSegments(*, data: _TensorLike, indices: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, sparse_gradient: bool = False, name: str | None = None) -> Tensor:
    """Adds up the rows of `data` that `indices` select, by segment. Segment ids are sorted; the result has `num_segments` rows; segments without rows are 0."""

def SparseSoftmaxCrossEntropyWithLogits(*, features: _TensorLike, labels: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """For each row the cross-entropy between the class in `labels` and the softmax of `features`; and its gradient with respect to `features`."""

def SparseTensorDenseMatMul(*, a_indices: _TensorLike, a_values: _TensorLike, a_shape: _TensorLike, b: _TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense one, each optionally as its adjoint."""

def SparseToDense(*, sparse_indices: _TensorLike, output_shape: _TensorLike, sparse_values: _TensorLike, default_value: _TensorLike, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere."""

def SparseToSparseSetOperation(*, set1_indices: _TensorLike, set1_values: _TensorLike, set1_shape: _TensorLike, set2_indices: _TensorLike, set2_values: _TensorLike, set2_shape: _TensorLike, set_operation: str, validate_indices: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Merges the sets in the last axes of two sparse tensors, set by set."""

def Spence(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Spence's integral of `x`, the dilogarithm of `1 - x`."""

def Split(*, axis: _TensorLike, value: _TensorLike, num_split: int, name: str | None = None) -> list[Tensor]:
    """Splits `value` along `split_dim` into `num_split` equal parts."""

def SplitV(*, value: _TensorLike, size_splits: _TensorLike, axis: _TensorLike, num_split: int, name: str | None = None) -> list[Tensor]:
    """Splits `value` along `split_dim` into parts of the given sizes, one of which may be -1: the rest."""

def Sqrt(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The square root of `x`."""

def SqrtGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Sqrt: `dy / 2 / conj(y)`."""

def Square(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """`x` times itself."""

def SquaredDifference(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The square of `x - y` (of its magnitude, if complex), element by element; shapes broadcast."""

def Squeeze(*, input: _TensorLike, axis: Sequence[int] = ..., name: str | None = None) -> Tensor:
    """Removes axes of size 1: those listed in `squeeze_dims`, or all of them if it is empty."""

def StatefulPartitionedCall(*, args: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], f: Any, config: str = '', config_proto: str = '', executor_type: str = '', name: str | None = None) -> list[Tensor]:
    """Calls the function `f`."""

def StatefulRandomBinomial(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, counts: _TensorLike, probs: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Numbers of successes in `counts` trials of probability `probs`. Advances the generator's state in the variable `resource`."""

def StatefulStandardNormalV2(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers. Advances the generator's state in the variable `resource`."""

def StatefulTruncatedNormal(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers within two standard deviations. Advances the generator's state in the variable `resource`."""

def StatefulUniform(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Uniformly distributed numbers in [0, 1). Advances the generator's state in the variable `resource`."""

def StatefulUniformFullInt(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Integers with every bit random. Advances the generator's state in the variable `resource`."""

def StatefulUniformInt(*, resource: _TensorLike, algorithm: _TensorLike, shape: _TensorLike, minval: _TensorLike, maxval: _TensorLike, name: str | None = None) -> Tensor:
    """Uniform integers in [minval, maxval). Advances the generator's state in the variable `resource`."""

def StatelessCase(*, branch_index: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], branches: Sequence[Any], output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """Case whose branches have no side effects."""

def StatelessIf(*, cond: _TensorLike, input: Sequence[_TensorLike], Tout: Sequence[_DTypeLike], then_branch: Any, else_branch: Any, output_shapes: Sequence[_ShapeLike] = ..., name: str | None = None) -> list[Tensor]:
    """If whose branches have no side effects."""

def StatelessMultinomial(*, logits: _TensorLike, num_samples: _TensorLike, seed: _TensorLike, output_dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Draws `num_samples` classes per row of unnormalised log probabilities, determined by `seed` alone."""

def StatelessParameterizedTruncatedNormal(*, shape: _TensorLike, seed: _TensorLike, means: _TensorLike, stddevs: _TensorLike, minvals: _TensorLike, maxvals: _TensorLike, name: str | None = None) -> Tensor:
    """Samples of normal distributions truncated to [`minvals`, `maxvals`], determined by `seed` alone; `shape` ends with that of the parameters, which broadcast."""

def StatelessRandomBinomial(*, shape: _TensorLike, seed: _TensorLike, counts: _TensorLike, probs: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Numbers of successes in `counts` trials of probability `probs`, determined by `seed` alone."""

def StatelessRandomGammaV2(*, shape: _TensorLike, seed: _TensorLike, alpha: _TensorLike, name: str | None = None) -> Tensor:
    """Samples of gamma distributions of scale 1, determined by `seed` alone; `shape` ends with that of `alpha`."""

def StatelessRandomGammaV3(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, alpha: _TensorLike, name: str | None = None) -> Tensor:
    """Samples of gamma distributions of scale 1, determined by key and counter; `shape` ends with that of `alpha`."""

def StatelessRandomGetAlg(*, name: str | None = None) -> Tensor:
    """The number of the random algorithm for this device: 1, Philox."""

def StatelessRandomGetKeyCounter(*, seed: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Hashes a seed to a key and a counter for the Philox generator."""

def StatelessRandomGetKeyCounterAlg(*, seed: _TensorLike, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Hashes a seed to a key and a counter, and returns the number of the algorithm they are for."""

def StatelessRandomNormal(*, shape: _TensorLike, seed: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers, determined by `seed` alone."""

def StatelessRandomNormalV2(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers, determined by key and counter."""

def StatelessRandomPoisson(*, shape: _TensorLike, seed: _TensorLike, lam: _TensorLike, dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """Samples of Poisson distributions, determined by `seed` alone; `shape` ends with that of `lam`."""

def StatelessRandomUniform(*, shape: _TensorLike, seed: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Uniformly distributed numbers in [0, 1), determined by `seed` alone."""

def StatelessRandomUniformFullInt(*, shape: _TensorLike, seed: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Integers with every bit random, determined by `seed` alone."""

def StatelessRandomUniformFullIntV2(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Integers with every bit random, determined by key and counter."""

def StatelessRandomUniformInt(*, shape: _TensorLike, seed: _TensorLike, minval: _TensorLike, maxval: _TensorLike, name: str | None = None) -> Tensor:
    """Uniform integers in [minval, maxval), determined by `seed` alone."""

def StatelessRandomUniformIntV2(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, minval: _TensorLike, maxval: _TensorLike, name: str | None = None) -> Tensor:
    """Uniform integers in [minval, maxval), determined by key and counter."""

def StatelessRandomUniformV2(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Uniformly distributed numbers in [0, 1), determined by key and counter."""

def StatelessSampleDistortedBoundingBox(*, image_size: _TensorLike, bounding_boxes: _TensorLike, min_object_covered: _TensorLike, seed: _TensorLike, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """SampleDistortedBoundingBoxV2, determined by `seed` alone."""

def StatelessShuffle(*, value: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, name: str | None = None) -> Tensor:
    """The rows of `value` in a random order determined by key and counter."""

def StatelessTruncatedNormal(*, shape: _TensorLike, seed: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers within two standard deviations, determined by `seed` alone."""

def StatelessTruncatedNormalV2(*, shape: _TensorLike, key: _TensorLike, counter: _TensorLike, alg: _TensorLike, dtype: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Standard normal numbers within two standard deviations, determined by key and counter."""

def StatelessWhile(*, input: Sequence[_TensorLike], cond: Any, body: Any, output_shapes: Sequence[_ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> list[Tensor]:
    """While whose `cond` and `body` have no side effects."""

def StaticRegexFullMatch(*, input: _TensorLike, pattern: str, name: str | None = None) -> Tensor:
    """Like RegexFullMatch, with the pattern as an attribute."""

def StaticRegexReplace(*, input: _TensorLike, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None) -> Tensor:
    """Like RegexReplace, with pattern and rewrite as attributes."""

def StopGradient(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Returns its input; differentiation treats the result as a constant."""

def StridedSlice(*, input: _TensorLike, begin: _TensorLike, end: _TensorLike, strides: _TensorLike, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Tensor:
    """The slice `input[begin:end:strides]` as in Python. The masks mark open ends, the ellipsis, new axes and axes that are indexed by one number and so removed."""

def StridedSliceGrad(*, shape: _TensorLike, begin: _TensorLike, end: _TensorLike, strides: _TensorLike, dy: _TensorLike, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Tensor:
    """Zeros of shape `shape` with `dy` at the positions that StridedSlice reads."""

def StringFormat(*, inputs: Sequence[_TensorLike], template: str = '%s', placeholder: str = '%s', summarize: int = 3, name: str | None = None) -> Tensor:
    """`template` with its placeholders replaced by the inputs as text."""

def StringJoin(*, inputs: Sequence[_TensorLike], separator: str = '', name: str | None = None) -> Tensor:
    """Joins the corresponding strings of all `inputs` with `separator` between them; scalars broadcast."""

def StringLength(*, input: _TensorLike, unit: str = 'BYTE', name: str | None = None) -> Tensor:
    """The length of each string in bytes or in UTF-8 characters."""

def StringLower(*, input: _TensorLike, encoding: str = '', name: str | None = None) -> Tensor:
    """Each string in lower case: ASCII letters, or all of Unicode's."""

def StringNGrams(*, data: _TensorLike, data_splits: _TensorLike, separator: str, ngram_widths: Sequence[int], left_pad: str, right_pad: str, pad_width: int, preserve_short_sequences: bool, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The n-grams of each row of a ragged vector of strings: adjacent strings joined by `separator`, for each of `ngram_widths`."""

def StringSplit(*, input: _TensorLike, delimiter: _TensorLike, skip_empty: bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The tokens of each string between the bytes of `delimiter`; single bytes if it is empty."""

def StringSplitV2(*, input: _TensorLike, sep: _TensorLike, maxsplit: int = -1, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The tokens of each string between `sep`, or between white space if that is empty; at most `maxsplit` + 1 of them if it is not negative."""

def StringStrip(*, input: _TensorLike, name: str | None = None) -> Tensor:
    """Removes white space from both ends of each string."""

def StringToHashBucket(*, string_tensor: _TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string by MurmurHash64A modulo `num_buckets`."""

def StringToHashBucketFast(*, input: _TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string: its FarmHash fingerprint modulo `num_buckets`."""

def StringToHashBucketStrong(*, input: _TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """The bucket of each string: SipHash with the two words of `key`, modulo `num_buckets`."""

def StringToNumber(*, string_tensor: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """Parses each string as a number."""

def StringUpper(*, input: _TensorLike, encoding: str = '', name: str | None = None) -> Tensor:
    """Each string in upper case: ASCII letters, or all of Unicode's."""

def Sub(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Subtracts `y` from `x` element by element; shapes broadcast."""

def Substr(*, input: _TensorLike, pos: _TensorLike, len: _TensorLike, unit: str = 'BYTE', name: str | None = None) -> Tensor:
    """The part of each string that begins at `pos` (from the end if negative) and has at most `len` bytes or characters."""

def Sum(*, input: _TensorLike, axis: _TensorLike, keep_dims: bool = False, name: str | None = None) -> Tensor:
    """Adds up the elements along the given axes."""

def SummaryWriter(*, shared_name: str = '', container: str = '', name: str | None = None) -> Tensor:
    """The handle of a summary writer, which has no file yet."""

def Svd(*, input: _TensorLike, compute_uv: bool = True, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Singular values of `input` = u diag(s) v^H, the largest first, and optionally the singular vectors as columns of `u` and `v`."""

def TFRecordDataset(*, filenames: _TensorLike, compression_type: _TensorLike, buffer_size: _TensorLike, metadata: str = '', name: str | None = None) -> Tensor:
    """The records of TFRecord files."""

def TFRecordDatasetV2(*, filenames: _TensorLike, compression_type: _TensorLike, buffer_size: _TensorLike, byte_offsets: _TensorLike, metadata: str = '', name: str | None = None) -> Tensor:
    """The records of TFRecord files; each file is read from its byte offset, if offsets are given."""

def TakeDataset(*, input_dataset: _TensorLike, count: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The first `count` elements; all if it is -1."""

def TakeWhileDataset(*, input_dataset: _TensorLike, other_arguments: Sequence[_TensorLike], predicate: Any, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The elements before the first for which `predicate` is false."""

def Tan(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The tangent of `x`, in radians."""

def Tanh(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of `x`."""

def TanhGrad(*, y: _TensorLike, dy: _TensorLike, name: str | None = None) -> Tensor:
    """Gradient of Tanh: `dy * (1 - y * y)`."""

def TensorDataset(*, components: Sequence[_TensorLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """A dataset of one element, `components`."""

def TensorListConcat(*, input_handle: _TensorLike, element_dtype: _DTypeLike, element_shape: _ShapeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """All elements concatenated along their first axis, and the length of each."""

def TensorListConcatLists(*, input_a: _TensorLike, input_b: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """The elements of `input_a` followed by those of `input_b`."""

def TensorListConcatV2(*, input_handle: _TensorLike, element_shape: _TensorLike, leading_dims: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """All elements concatenated along their first axis, and the length of each. `leading_dims` gives the lengths of empty elements, which are filled with zeros."""

def TensorListElementShape(*, input_handle: _TensorLike, shape_type: _DTypeLike, name: str | None = None) -> Tensor:
    """The shape that the list's elements must have: a vector with -1 for unknown sizes, or the scalar -1."""

def TensorListFromTensor(*, tensor: _TensorLike, element_shape: _TensorLike, name: str | None = None) -> Tensor:
    """A list of the slices of `tensor` along its first axis."""

def TensorListGather(*, input_handle: _TensorLike, indices: _TensorLike, element_shape: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """The elements that `indices` select, stacked along a new first axis."""

def TensorListGetItem(*, input_handle: _TensorLike, index: _TensorLike, element_shape: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """Element `index`; zeros of the element shape if it is empty."""

def TensorListLength(*, input_handle: _TensorLike, name: str | None = None) -> Tensor:
    """The number of elements."""

def TensorListPopBack(*, input_handle: _TensorLike, element_shape: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The list without its last element, and that element."""

def TensorListPushBack(*, input_handle: _TensorLike, tensor: _TensorLike, name: str | None = None) -> Tensor:
    """The list with `tensor` appended."""

def TensorListReserve(*, element_shape: _TensorLike, num_elements: _TensorLike, element_dtype: _DTypeLike, name: str | None = None) -> Tensor:
    """Makes a list of `num_elements` empty elements."""

def TensorListResize(*, input_handle: _TensorLike, size: _TensorLike, name: str | None = None) -> Tensor:
    """The list truncated or extended with empty elements to `size` elements."""

def TensorListScatter(*, tensor: _TensorLike, indices: _TensorLike, element_shape: _TensorLike, name: str | None = None) -> Tensor:
    """A list with the rows of `tensor` at `indices`, as long as these require."""

def TensorListScatterIntoExistingList(*, input_handle: _TensorLike, tensor: _TensorLike, indices: _TensorLike, name: str | None = None) -> Tensor:
    """The list with the rows of `tensor` at `indices`; it grows if needed."""

def TensorListScatterV2(*, tensor: _TensorLike, indices: _TensorLike, element_shape: _TensorLike, num_elements: _TensorLike, name: str | None = None) -> Tensor:
    """A list of `num_elements` elements (-1: as many as needed) with the rows of `tensor` at `indices`."""

def TensorListSetItem(*, input_handle: _TensorLike, index: _TensorLike, item: _TensorLike, resize_if_index_out_of_bounds: bool = False, name: str | None = None) -> Tensor:
    """The list with `item` as element `index`; with resize_if_index_out_of_bounds the list grows if needed."""

def TensorListSplit(*, tensor: _TensorLike, element_shape: _TensorLike, lengths: _TensorLike, name: str | None = None) -> Tensor:
    """Splits `tensor` along its first axis into a list; element k has `lengths[k]` rows."""

def TensorListStack(*, input_handle: _TensorLike, element_shape: _TensorLike, element_dtype: _DTypeLike, num_elements: int = -1, name: str | None = None) -> Tensor:
    """All elements stacked along a new first axis; empty elements give zeros."""

def TensorScatterAdd(*, tensor: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`tensor` with `updates` added to the slices that `indices` select."""

def TensorScatterMax(*, tensor: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`tensor` with the slices that `indices` select replaced by `updates` where those are larger."""

def TensorScatterMin(*, tensor: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`tensor` with the slices that `indices` select replaced by `updates` where those are smaller."""

def TensorScatterSub(*, tensor: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted from the slices that `indices` select."""

def TensorScatterUpdate(*, tensor: _TensorLike, indices: _TensorLike, updates: _TensorLike, bad_indices_policy: str = '', name: str | None = None) -> Tensor:
    """`tensor` with the slices that `indices` select replaced by `updates`."""

def TensorSliceDataset(*, components: Sequence[_TensorLike], output_shapes: Sequence[_ShapeLike], is_files: bool = False, metadata: str = '', replicate_on_split: bool = False, name: str | None = None) -> Tensor:
    """The rows of `components`, an element for each index of their first axis."""

def TensorStridedSliceUpdate(*, input: _TensorLike, begin: _TensorLike, end: _TensorLike, strides: _TensorLike, value: _TensorLike, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None) -> Tensor:
    """`input` with `value`, broadcast to its shape, in place of the slice that `begin`, `end` and `strides` name."""

def TensorSummary(*, tensor: _TensorLike, description: str = '', labels: Sequence[str] = ..., display_name: str = '', name: str | None = None) -> Tensor:
    """A Summary with a tensor and no tag."""

def TensorSummaryV2(*, tag: _TensorLike, tensor: _TensorLike, serialized_summary_metadata: _TensorLike, name: str | None = None) -> Tensor:
    """A Summary with a tensor under a tag, and a serialized SummaryMetadata."""

def TextLineDataset(*, filenames: _TensorLike, compression_type: _TensorLike, buffer_size: _TensorLike, metadata: str = '', name: str | None = None) -> Tensor:
    """The lines of text files, without the characters that end them."""

def Tile(*, input: _TensorLike, multiples: _TensorLike, name: str | None = None) -> Tensor:
    """Repeats `input` `multiples[d]` times along each axis d."""

def TileGrad(*, input: _TensorLike, multiples: _TensorLike, name: str | None = None) -> Tensor:
    """The gradient of Tile: sums the repetitions."""

def Timestamp(*, name: str | None = None) -> Tensor:
    """Seconds since the epoch."""

def TopK(*, input: _TensorLike, k: int, sorted: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along the last axis and their indices, largest first; the earlier of equal elements comes first."""

def TopKV2(*, input: _TensorLike, k: _TensorLike, sorted: bool = True, index_type: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along the last axis and their indices, largest first; the earlier of equal elements comes first."""

def Transpose(*, x: _TensorLike, perm: _TensorLike, name: str | None = None) -> Tensor:
    """Reorders axes: axis d of the result is axis `perm[d]` of `x`."""

def TridiagonalMatMul(*, superdiag: _TensorLike, maindiag: _TensorLike, subdiag: _TensorLike, rhs: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies tridiagonal matrices by `rhs`. The last element of `superdiag` and the first of `subdiag` are unused."""

def TridiagonalSolve(*, diagonals: _TensorLike, rhs: _TensorLike, partial_pivoting: bool = True, perturb_singular: bool = False, name: str | None = None) -> Tensor:
    """Solves systems whose matrix is tridiagonal. The rows of `diagonals` are above the main diagonal (last element unused), on it, and below it (first element unused)."""

def TruncateDiv(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y` and rounds towards zero."""

def TruncateMod(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """The remainder of `x / y`, with the sign of `x`."""

def TruncatedNormal(*, shape: _TensorLike, dtype: _DTypeLike, seed: int = 0, seed2: int = 0, name: str | None = None) -> Tensor:
    """Standard normal numbers; those beyond two standard deviations are drawn again. If both seeds are zero, every run gives different numbers."""

def UnbatchDataset(*, input_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The rows of the elements, one after the other."""

def UnicodeDecode(*, input: _TensorLike, input_encoding: str, errors: str = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The code points of each string, in one vector with the bounds of each string."""

def UnicodeDecodeWithOffsets(*, input: _TensorLike, input_encoding: str, errors: str = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Like UnicodeDecode, and the byte at which each character begins in its string."""

def UnicodeEncode(*, input_values: _TensorLike, input_splits: _TensorLike, output_encoding: str, errors: str = 'replace', replacement_char: int = 65533, name: str | None = None) -> Tensor:
    """Makes a string from each row of a ragged vector of code points."""

def UnicodeTranscode(*, input: _TensorLike, input_encoding: str, output_encoding: str, errors: str = 'replace', replacement_char: int = 65533, replace_control_characters: bool = False, name: str | None = None) -> Tensor:
    """Each string in another encoding of its characters."""

def UniformCandidateSampler(*, true_classes: _TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, seed2: int = 0, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes below range_max, all with the same probability."""

def Unique(*, x: _TensorLike, out_idx: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The distinct elements of `x`, and for each element of `x` its index among them."""

def UniqueDataset(*, input_dataset: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """The distinct elements, in the order of their first occurrence."""

def UniqueV2(*, x: _TensorLike, axis: _TensorLike, out_idx: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor]:
    """The distinct slices of `x` along `axis`, and for each slice its index among them."""

def UniqueWithCounts(*, x: _TensorLike, out_idx: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Like Unique, and also counts each distinct element."""

def UniqueWithCountsV2(*, x: _TensorLike, axis: _TensorLike, out_idx: _DTypeLike = ..., name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Like UniqueV2, and also counts each distinct slice."""

def Unpack(*, value: _TensorLike, num: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Unstacks `value` along `axis` into `num` tensors whose rank is one less."""

def UnravelIndex(*, indices: _TensorLike, dims: _TensorLike, name: str | None = None) -> Tensor:
    """The coordinates of flat indices in a tensor of shape `dims`: one row for each axis."""

def UnsortedSegmentJoin(*, inputs: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, separator: str = '', name: str | None = None) -> Tensor:
    """Joins the strings of each segment, `separator` between them. Ids come in any order."""

def UnsortedSegmentMax(*, data: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, name: str | None = None) -> Tensor:
    """The largest elements of each segment; a segment without rows is the lowest number. Ids come in any order; rows with negative ids are ignored."""

def UnsortedSegmentMin(*, data: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, name: str | None = None) -> Tensor:
    """The smallest elements of each segment; a segment without rows is the highest number. Ids come in any order; rows with negative ids are ignored."""

def UnsortedSegmentProd(*, data: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the rows of each segment; a segment without rows is 1. Ids come in any order; rows with negative ids are ignored."""

def UnsortedSegmentSum(*, data: _TensorLike, segment_ids: _TensorLike, num_segments: _TensorLike, name: str | None = None) -> Tensor:
    """Adds up the rows of each segment; a segment without rows is 0. Ids come in any order; rows with negative ids are ignored."""

def UpperBound(*, sorted_inputs: _TensorLike, values: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """For each value, the last index at which it can be inserted into its sorted row."""

def VarHandleOp(*, dtype: _DTypeLike, shape: _ShapeLike, container: str = '', shared_name: str = '', debug_name: str = '', allowed_devices: Sequence[str] = ..., name: str | None = None) -> Tensor:
    """Returns the handle of a variable: the one named `shared_name`, or a new one if it has no name. The variable has no value until one is assigned."""

def VarIsInitializedOp(*, resource: _TensorLike, name: str | None = None) -> Tensor:
    """Whether the variable has a value."""

def VariableShape(*, input: _TensorLike, out_type: _DTypeLike = ..., name: str | None = None) -> Tensor:
    """The shape of a variable's value, as a vector."""

def Where(*, condition: _TensorLike, name: str | None = None) -> Tensor:
    """The coordinates of the elements of `input` that are true or not zero, one row each, in order."""

def While(*, input: Sequence[_TensorLike], cond: Any, body: Any, output_shapes: Sequence[_ShapeLike] = ..., parallel_iterations: int = 10, name: str | None = None) -> list[Tensor]:
    """Runs `body` on its own results, starting from `input`, while `cond` returns true."""

def WindowDataset(*, input_dataset: _TensorLike, size: _TensorLike, shift: _TensorLike, stride: _TensorLike, drop_remainder: _TensorLike, output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Datasets of `size` elements each, `stride` apart; the first elements of two of them are `shift` apart."""

def WindowOp(*, inputs: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], name: str | None = None) -> Tensor:
    """A dataset whose elements are given one after the other in `inputs`."""

def WriteAudioSummary(*, writer: _TensorLike, step: _TensorLike, tag: _TensorLike, tensor: _TensorLike, sample_rate: _TensorLike, max_outputs: int = 3, name: str | None = None) -> Operation | None:
    """Writes sounds, from -1 to 1, as WAV."""

def WriteFile(*, filename: _TensorLike, contents: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a file, replacing its content; makes missing parent folders."""

def WriteGraphSummary(*, writer: _TensorLike, step: _TensorLike, tensor: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a serialized GraphDef."""

def WriteHistogramSummary(*, writer: _TensorLike, step: _TensorLike, tag: _TensorLike, values: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a histogram; each bucket limit is 1.1 times the one before."""

def WriteImageSummary(*, writer: _TensorLike, step: _TensorLike, tag: _TensorLike, tensor: _TensorLike, bad_color: _TensorLike, max_images: int = 3, name: str | None = None) -> Operation | None:
    """Writes images as PNG. Floats are scaled to the range of bytes; pixels that are not finite get the colour `bad_color`."""

def WriteRawProtoSummary(*, writer: _TensorLike, step: _TensorLike, tensor: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes serialized Summary messages."""

def WriteScalarSummary(*, writer: _TensorLike, step: _TensorLike, tag: _TensorLike, value: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a number as a simple value."""

def WriteSummary(*, writer: _TensorLike, step: _TensorLike, tensor: _TensorLike, tag: _TensorLike, summary_metadata: _TensorLike, name: str | None = None) -> Operation | None:
    """Writes a tensor under a tag, with a serialized SummaryMetadata that says which part of TensorBoard shows it."""

def Xdivy(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y`; 0 wherever `x` is 0, even if `y` is 0 too."""

def Xlog1py(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Computes `x * log(1 + y)`; 0 wherever `x` is 0."""

def Xlogy(*, x: _TensorLike, y: _TensorLike, name: str | None = None) -> Tensor:
    """Computes `x * log(y)`; 0 wherever `x` is 0."""

def ZerosLike(*, x: _TensorLike, name: str | None = None) -> Tensor:
    """Zeros (false, empty strings, lists of zeros) with the shape and dtype of `x`."""

def Zeta(*, x: _TensorLike, q: _TensorLike, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of `(q + k)` to the power `-x` over all k >= 0."""

def ZipDataset(*, input_datasets: Sequence[_TensorLike], output_types: Sequence[_DTypeLike], output_shapes: Sequence[_ShapeLike], metadata: str = '', name: str | None = None) -> Tensor:
    """Zips datasets: an element combines one of each, until the shortest ends."""
