"""Reading checkpoints by the names of tensors: tf.train.load_checkpoint, list_variables, load_variable; and the file
`checkpoint`, which names the checkpoints of a folder."""
import os
import re
import time

from . import _core, dtypes, errors
from .gfile import exists, isdir
from .namespace import export

raw = _core.raw


class eagerly:
    """A context in which ops run immediately, whatever graph is being built."""

    def __enter__(self):
        self._held = _core.suspend()

    def __exit__(self, *exc):
        _core.resume(self._held)


def read_tensors(prefix, wanted):
    """{name: tensor} of the tensors of a checkpoint that `wanted` ({name: dtype}) lists."""
    if not wanted:
        return {}
    names = list(wanted)
    with eagerly():
        values = raw.RestoreV2(prefix, names, [""] * len(names), dtypes=list(wanted.values()))
    return dict(zip(names, values if isinstance(values, (list, tuple)) else [values]))


class CheckpointReader:
    """The tensors of a checkpoint by name."""

    def __init__(self, prefix):
        self._prefix = prefix
        self._entries = {name: (number, dims) for name, number, dims in _core.checkpoint_entries(prefix)}

    def get_variable_to_shape_map(self):
        """{name: shape as a list}."""
        return {name: list(dims) for name, (_, dims) in self._entries.items()}

    def get_variable_to_dtype_map(self):
        """{name: dtype}."""
        return {name: dtypes.as_dtype(number) for name, (number, _) in self._entries.items()}

    def has_tensor(self, tensor_str):
        """Whether there is a tensor of that name."""
        return tensor_str in self._entries

    def get_tensor(self, tensor_str):
        """The tensor of that name as a numpy array; a scalar string as bytes."""
        tensor_str = tensor_str.decode() if isinstance(tensor_str, bytes) else tensor_str
        if tensor_str not in self._entries:
            raise errors.NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        dtype = dtypes.as_dtype(self._entries[tensor_str][0])
        return read_tensors(self._prefix, {tensor_str: dtype})[tensor_str].numpy()

    def debug_string(self):
        """Bytes with a line for each tensor: its name, dtype and shape."""
        return "".join(f"{name} ({_proto_name(number)}) [{','.join(map(str, dims))}]\n"
                       for name, (number, dims) in self._entries.items()).encode()


_PROTO_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


def _proto_name(number):
    name = dtypes.as_dtype(number).name
    return "DT_" + _PROTO_NAMES.get(name, name.upper())


@export("train.load_checkpoint", "compat.v1.train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file):
    """A reader of the checkpoint with this prefix or, given a directory, of its newest checkpoint."""
    path = os.fspath(ckpt_dir_or_file)
    found = _prefix_of(path)
    if found is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return CheckpointReader(found)


@export("compat.v1.train.NewCheckpointReader")
def new_checkpoint_reader(filepattern):
    """A reader of the checkpoint with this prefix."""
    return CheckpointReader(os.fspath(filepattern))


def _prefix_of(path):
    return latest_checkpoint(path) if isdir(path) else path


@export("train.list_variables", "compat.v1.train.list_variables")
def list_variables(ckpt_dir_or_file):
    """A list of (name, shape) for the tensors of a checkpoint, sorted by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@export("train.load_variable", "compat.v1.train.load_variable")
def load_variable(ckpt_dir_or_file, name):
    """A tensor of a checkpoint as a numpy array."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


# ---- the file `checkpoint` --------------------------------------------------------------------------------


class CheckpointState:
    """What the file `checkpoint` says: the newest checkpoint, all that are kept, and when they were written."""

    def __init__(self, model_checkpoint_path="", all_model_checkpoint_paths=(), all_model_checkpoint_timestamps=(),
                 last_preserved_timestamp=0.0):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp

    def __eq__(self, other):
        return isinstance(other, CheckpointState) and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        lines = [f"model_checkpoint_path: {_quoted(self.model_checkpoint_path)}"]
        lines += [f"all_model_checkpoint_paths: {_quoted(p)}" for p in self.all_model_checkpoint_paths]
        lines += [f"all_model_checkpoint_timestamps: {t!r}" for t in self.all_model_checkpoint_timestamps]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp!r}")
        return "".join(line + "\n" for line in lines)


def _quoted(text):
    made = []
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        if char in '"\\\'':
            made.append("\\" + char)
        else:
            made.append(char if 32 <= byte < 127 else f"\\{byte:03o}")
    return '"' + "".join(made) + '"'


_ESCAPE = re.compile(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def _unescaped(match):
    found = match[1]
    if found[:1] in b"01234567":
        return bytes([int(found, 8) & 255])
    if found[:1] == b"x" and len(found) > 1:
        return bytes([int(found[1:], 16)])
    return _LETTERS.get(found, found)


_LINE = re.compile(r'^\s*(\w+)\s*:\s*(?:"((?:[^"\\]|\\.)*)"|([^\s#]+))\s*$')


def parse_state(text):
    """Parses the text format of the message. Raises ValueError at a line that is not a field of it."""
    state = CheckpointState()
    for line in text.splitlines():
        if not line.strip():
            continue
        found = _LINE.match(line)
        if found is None or found[1] not in vars(state) or ("timestamp" in found[1]) != (found[2] is None):
            raise ValueError(f"not a line of a CheckpointState: {line!r}")
        value = float(found[3]) if found[2] is None else \
            _ESCAPE.sub(_unescaped, found[2].encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        if isinstance(getattr(state, found[1]), list):
            getattr(state, found[1]).append(value)
        else:
            setattr(state, found[1], value)
    return state


def state_path(folder, latest_filename=None):
    """The path of the file `checkpoint` of a directory."""
    return os.path.join(folder, latest_filename or "checkpoint")


@export("train.get_checkpoint_state", "compat.v1.train.get_checkpoint_state")
def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The contents of the file `checkpoint` of a directory, or None if it does not exist or cannot be parsed. Relative paths
    in it are joined with the directory."""
    folder = os.fspath(checkpoint_dir)
    try:
        with open(state_path(folder, latest_filename), encoding="utf-8", errors="surrogateescape") as f:
            state = parse_state(f.read())
    except (OSError, ValueError):
        return None
    if not state.model_checkpoint_path:
        return None
    absolute = lambda p: p if os.path.isabs(p) else os.path.join(folder, p)  # noqa: E731
    state.model_checkpoint_path = absolute(state.model_checkpoint_path)
    state.all_model_checkpoint_paths = [absolute(p) for p in state.all_model_checkpoint_paths]
    return state


def write_state(folder, latest, paths, times=(), preserved=0.0, latest_filename=None, absolute=False):
    """Writes the file `checkpoint`; `latest` is the newest of `paths`. Paths inside the directory are written relative to it."""
    def relative(path):
        if absolute or os.path.isabs(path) != os.path.isabs(folder):
            return path
        made = os.path.relpath(path, folder)
        return path if os.path.isabs(path) and made.startswith("..") else made

    paths = [*paths]
    if not paths or paths[-1] != latest:
        paths = [p for p in paths if p != latest] + [latest]
        times = [*times, time.time()] if times and len(times) < len(paths) else times
    if times and len(times) != len(paths):
        raise ValueError("Checkpoint timestamps should match checkpoint paths (if all_model_checkpoint_timestamps is specified)")
    state = CheckpointState(relative(latest), map(relative, paths), times, preserved)
    path = state_path(folder, latest_filename)
    fresh = f"{path}.tmp{os.getpid()}"
    with open(fresh, "w", encoding="utf-8") as f:
        f.write(repr(state))
    os.replace(fresh, path)


@export("compat.v1.train.update_checkpoint_state")
def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Writes the file `checkpoint` of a folder."""
    write_state(os.fspath(save_dir), model_checkpoint_path, all_model_checkpoint_paths or [],
                all_model_checkpoint_timestamps or [], last_preserved_timestamp or 0.0, latest_filename)


@export("train.latest_checkpoint", "compat.v1.train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The prefix of the newest checkpoint in a directory; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state and checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    return None


@export("compat.v1.train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint with this prefix."""
    return exists(os.fspath(checkpoint_prefix) + ".index") or exists(os.fspath(checkpoint_prefix))


def remove_checkpoint(prefix):
    """Deletes the files of a checkpoint. Files that do not exist are skipped."""
    folder, name = os.path.split(prefix)
    start = name + ".data-"
    try:
        found = [f for f in os.listdir(folder or ".") if f in (name + ".index", name + ".meta") or f.startswith(start)]
    except FileNotFoundError:
        return
    for file in found:
        try:
            os.remove(os.path.join(folder, file))
        except FileNotFoundError:
            pass


@export("compat.v1.train.remove_checkpoint")
def _remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint."""
    remove_checkpoint(os.fspath(checkpoint_prefix))


@export("compat.v1.train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes):
    """The modification times of the checkpoints, in seconds. Checkpoints that no longer exist are skipped."""
    return [os.path.getmtime(p + ".index") for p in map(os.fspath, checkpoint_prefixes) if exists(p + ".index")]


@export("train.checkpoints_iterator", "compat.v1.train.checkpoints_iterator")
def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields each new checkpoint of a directory as it appears, until none has appeared for `timeout` seconds."""
    last = None
    while True:
        new = _wait_for_new(checkpoint_dir, last, timeout)
        if new is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last, began = new, time.time()
        yield new
        time.sleep(max(0.0, began + min_interval_secs - time.time()))


def _wait_for_new(folder, last, timeout, pause=1.0):
    end = time.time() + timeout if timeout is not None else None
    while True:
        found = latest_checkpoint(folder)
        if found is not None and found != last:
            return found
        if end is not None and time.time() + pause > end:
            return None
        time.sleep(pause)
