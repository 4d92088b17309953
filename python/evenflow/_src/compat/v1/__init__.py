"""tf.compat.v1: the names of TensorFlow 1. Names that are the same in both generations are taken from tf."""
import importlib

from ... import alias, event_messages, namespace

_PARTS = ("keys", "variables", "scopes", "initializers", "gradient", "optimizer", "optimizers", "schedules", "averages",
          "losses", "reductions", "arrays", "nn", "flow", "checks", "switches", "messages", "logging", "metrics",
          "app", "summary", "saver", "queue_runners", "inputs", "session_hooks", "monitored")
_FOLDERS = ("layers", "rnn")

# Names that were top-level in TensorFlow 1 and are in a module in TensorFlow 2.
_MOVED = {
    "math": "angle betainc ceil conj cumprod digamma erf erfc expm1 floordiv floormod igamma igammac "
            "imag invert_permutation is_inf is_nan is_non_decreasing is_strictly_increasing lbeta "
            "lgamma log log1p log_sigmoid logical_xor mod polygamma real reciprocal rint rsqrt segment_max segment_mean "
            "segment_min segment_prod segment_sum squared_difference unsorted_segment_max unsorted_segment_mean "
            "unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum zeta accumulate_n "
            "bincount is_finite xlogy",
    "linalg": "cross cholesky cholesky_solve global_norm matrix_transpose trace qr svd logdet",
    "debugging": "is_numeric_tensor assert_proper_iterable assert_same_float_dtype check_numerics",
    "random": "truncated_normal",
    "nn": "depth_to_space space_to_depth",
    "image": "random_crop",
    "quantization": "fake_quant_with_min_max_args fake_quant_with_min_max_vars",
    "io": "decode_raw read_file write_file parse_example parse_single_example matching_files",
}
_RENAMED = {
    "floor_div": "math.floordiv", "div_no_nan": "math.divide_no_nan", "lin_space": "linspace", "reverse_v2": "reverse",
    "where_v2": "where", "matrix_band_part": "linalg.band_part", "matrix_determinant": "linalg.det",
    "matrix_inverse": "linalg.inv", "matrix_solve": "linalg.solve", "matrix_set_diag": "linalg.set_diag",
    "matrix_triangular_solve": "linalg.triangular_solve", "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part", "diag": "linalg.tensor_diag", "diag_part": "linalg.tensor_diag_part",
    "self_adjoint_eig": "linalg.eigh", "self_adjoint_eigvals": "linalg.eigvalsh",
    "random_normal": "random.normal", "random_uniform": "random.uniform",
    "random_shuffle": "random.shuffle", "random_gamma": "random.gamma", "global_norm": "linalg.global_norm",
    "tensor_scatter_update": "tensor_scatter_nd_update", "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "OpError": "errors.OpError",
    "VERSION": "version.VERSION", "GIT_VERSION": "version.GIT_VERSION", "COMPILER_VERSION": "version.COMPILER_VERSION",
    "GRAPH_DEF_VERSION": "version.GRAPH_DEF_VERSION", "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul", "sparse_reorder": "sparse.reorder",
    "string_split": "strings.split", "string_join": "strings.join", "string_strip": "strings.strip",
    "string_to_number": "strings.to_number", "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong", "regex_replace": "strings.regex_replace",
    "substr": "strings.substr", "sparse_add": "sparse.add", "sparse_concat": "sparse.concat", "sparse_slice": "sparse.slice",
    "sparse_reshape": "sparse.reshape", "sparse_retain": "sparse.retain", "sparse_transpose": "sparse.transpose",
    "sparse_reset_shape": "sparse.reset_shape", "sparse_mask": "sparse.mask",
    "sparse_softmax": "sparse.softmax", "sparse_maximum": "sparse.maximum", "sparse_minimum": "sparse.minimum",
    "sparse_fill_empty_rows": "sparse.fill_empty_rows", "sparse_to_indicator": "sparse.to_indicator",
    "sparse_segment_sum": "sparse.segment_sum", "sparse_segment_mean": "sparse.segment_mean",
    "sparse_segment_sqrt_n": "sparse.segment_sqrt_n",
}


def _homes():
    found = dict(_RENAMED)
    for home, names in _MOVED.items():
        for name in names.split():
            found.setdefault(name, f"{home}.{name}")
    return found


_HOMES = _homes()

for _part in (*(f"_{part}" for part in _PARTS), *_FOLDERS):
    importlib.import_module(f"{__name__}.{_part}")


def _find(name):
    if name in event_messages.PUBLIC:
        return event_messages.message(name)
    *outer, last = _HOMES.get(name, name).split(".")
    return namespace.own(".".join(outer), last)


namespace.find_others("compat.v1", _find)


def _find_in_keras(below):
    def find(name):
        found = alias.keras()
        for part in (*below, name):
            found = getattr(found, part)
        return found

    return find


namespace.find_others("compat.v1.keras", _find_in_keras(()))
namespace.find_others("compat.v1.keras.backend", _find_in_keras(("backend",)))
