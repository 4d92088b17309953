"""Imports every module that defines public names, so that they are gathered before publishing."""
import importlib

from . import _core, composite, dtypes, errors, nest, shapes, specs
from .namespace import offer
from .raw import public as raw_ops

MODULES = ("tensors", "graph", "tape", "variable", "function", "session", "control", "loops", "tensor_array",
           "functional", "tracking", "module", "config", "testing_names", "gradients", "forward_mode", "py_function", "distribute", "ragged",
           "optional", "datasets", "dataset_sampling", "dataset_generator", "dataset_files", "dataset_stored", "dataset_experimental", "dataset_csv",
           "dataset_sessions", "dataset_distributed",
           "device_spec", "compat.v1", "compat.v2", "autograph", "ops.math", "ops.reduce", "ops.sort",
           "ops.counting", "ops.creation", "ops.array", "ops.index", "ops.segment", "ops.matmul", "ops.linalg", "ops.linear_operator",
           "ops.clip", "ops.nn", "ops.embedding", "ops.sampling", "ops.conv", "ops.pool", "ops.ctc", "ops.quantization", "ops.image",
           "ops.image_color", "ops.image_boxes", "ops.image_ssim", "ops.stateless", "ops.random", "ops.init",
           "ops.debug", "ops.signal", "ops.signal_windows", "ops.sparse", "ops.sparse_counts", "ops.editing", "ops.rounding", "ops.strings", "ops.strings_unicode", "gfile", "records",
           "example_messages", "ops.io", "ops.features", "ops.parsing", "ops.lookup", "ops.image_io",
           "ops.ragged", "ops.ragged_segments", "ops.ragged_cross", "ops.ragged_methods", "ragged_feeds", "ops.ragged_dispatch",
           "ops.ragged_arrays", "ops.sparse_dispatch", "ops.operators", "dispatch_for", "extension_type", "ops.sets", "ops.numpy",
           "ops.numpy_arrays", "ops.numpy_math", "ops.numpy_behavior", "diagnosis", "inspection", "row_partition",
           "event_messages", "summary", "checkpoint_reader", "checkpoint", "checkpoint_manager", "queues", "coordinator", "cluster", "ops.audio",
           "ops.tensor_messages", "profiler")
_EXPERIMENTAL = ("float4", "float8", "int2", "int4", "uint2", "uint4")


def gather():
    """Imports the modules, and offers the public names of the modules that call neither `offer` nor `export` themselves."""
    for name in MODULES:
        importlib.import_module(f"{__package__}.{name}")
    for name in ("ops.ragged_dispatch", "ops.sparse_dispatch"):
        importlib.import_module(f"{__package__}.{name}").register()
    for dtype in dtypes._by_enum.values():
        if dtype.name.startswith(_EXPERIMENTAL) and dtype._enum < 100:
            offer(dtype, f"dtypes.experimental.{dtype.name}")
        elif dtype._enum < 100:
            offer(dtype, dtype.name, f"dtypes.{dtype.name}")
    for name in ("double", "half"):
        offer(getattr(dtypes, name), name, f"dtypes.{name}")
    offer(dtypes.DType, "DType", "dtypes.DType")
    offer(dtypes.as_dtype, "as_dtype", "dtypes.as_dtype")
    offer(shapes.TensorShape, "TensorShape")
    offer(shapes.Dimension, "compat.v1.Dimension")
    for name in ("TypeSpec", "TensorSpec", "type_spec_from_value", "RaggedTensorSpec", "SparseTensorSpec",
                 "IndexedSlicesSpec"):
        for home in (specs, composite):
            if hasattr(home, name):
                offer(getattr(home, name), name)
    for name in ("IndexedSlices", "SparseTensor"):
        offer(getattr(composite, name), name)
    offer(composite.CompositeTensor, "__internal__.CompositeTensor")
    offer(_core.CoreTensor, "__internal__.types.Tensor")
    offer(_core.EagerTensor, "__internal__.EagerTensor")
    offer(composite.SparseTensor, "sparse.SparseTensor")
    offer(raw_ops, "raw_ops")
    for name in ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"):
        offer(getattr(nest, name), f"nest.{name}")
    for name in errors.PUBLIC:
        offer(getattr(errors, name), f"errors.{name}")
    for name in errors.PUBLIC_V1:
        offer(getattr(errors, name), f"compat.v1.errors.{name}")
    offer(None, "newaxis")
    offer("2.21.0", "version.VERSION", "compat.v1.__version__")
