"""tf.compat.v1.train.Saver: saves variables in checkpoints under their names."""
import numbers
import os
import time

from ... import _core, dtypes, errors, graph as graphs
from ...checkpoint_graph import OBJECT_GRAPH, parsed
from ...checkpoint_reader import (CheckpointReader, checkpoint_exists, load_checkpoint, read_tensors,
                                  remove_checkpoint, write_state)
from ...checkpoint_restore import is_graph_variable
from ...namespace import export
from ._keys import GraphKeys, get_collection
from ._schedules import global_step as global_step_value
from ._variables import global_variables

raw = _core.raw


def _name(variable):
    return variable._shared_name


def _is_variable(value):
    return hasattr(value, "_should_act_as_resource_variable")


def _is_saveable(value):
    """Whether it says itself which tensors to save: an object with `specs` and `restore`."""
    return hasattr(value, "specs") and hasattr(value, "restore")


def _named(var_list):
    """{name: variable}, in the order of the names."""
    if isinstance(var_list, dict):
        pairs = list(var_list.items())
    else:
        pairs = [(_name(v) if _is_variable(v) else v.name if _is_saveable(v) else v, v) for v in var_list]
    found = {}
    for name, variable in pairs:
        if not _is_variable(variable) and not _is_saveable(variable):
            raise TypeError(f"names_to_saveables must be a dict mapping string names to variables; {name!r} is the "
                            f"{type(variable).__name__} {variable!r}")
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = variable
    return dict(sorted(found.items()))


class SaverDef:
    """The names of the ops that a saver added to its graph, and its settings for keeping checkpoints."""

    V1, V2, LEGACY = 1, 2, 0

    def __init__(self, **fields):
        self.filename_tensor_name = self.save_tensor_name = self.restore_op_name = ""
        self.max_to_keep, self.sharded, self.keep_checkpoint_every_n_hours, self.version = 5, False, 10000.0, self.V2
        self.__dict__.update(fields)


@export("compat.v1.train.Saver")
class Saver:
    """Saves and restores variables by name, keeps the newest checkpoints and lists them in the file `checkpoint`.

    In a graph, the constructor adds the ops. Files with the graph itself (`.meta`) are not written.
    """

    __module__ = "tensorflow.python.training.saver"

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False, allow_empty=False,
                 write_version=SaverDef.V2, pad_step_number=False, save_relative_paths=False, filename=None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._eager = _core.executing_eagerly()
        if self._eager and var_list is None:
            raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables to save")
        self._var_list, self._reshape, self._allow_empty = var_list, reshape, allow_empty
        self._name, self._filename = name, filename
        self._max, self._every = max_to_keep, keep_checkpoint_every_n_hours
        self._pad, self._relative = pad_step_number, save_relative_paths
        self._kept, self._preserve_next = {}, time.time() + keep_checkpoint_every_n_hours * 3600
        self.saver_def, self._variables = None, None
        if not defer_build:
            self.build()

    def build(self):
        """Finds the variables and adds the ops to the graph."""
        if self._variables is not None:
            return
        given = self._var_list
        if given is None:
            given = global_variables() + list(graphs.get_default_graph().get_collection(GraphKeys.SAVEABLE_OBJECTS))
        if not given and not self._allow_empty:
            raise ValueError("No variables to save")
        named = _named(given or [])
        self._saveables = [v for v in named.values() if _is_saveable(v)]
        self._variables = {name: v for name, v in named.items() if not _is_saveable(v)}
        self.saver_def = SaverDef(max_to_keep=self._max or 0, keep_checkpoint_every_n_hours=self._every)
        if (self._variables or self._saveables) and not self._eager:
            with graphs.name_scope(self._name or "save"), graphs.get_default_graph().control_dependencies(None):
                self._add_ops()

    def _add_ops(self):
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        variables = list(self._variables.values())
        names = list(self._variables) + [spec.name for spec in specs]
        tensors = [v.value() for v in variables] + [spec.tensor for spec in specs]
        slices = [""] * len(names)
        default = raw.PlaceholderWithDefault(_core.convert(self._filename or "model"), [], name="filename")
        prefix = raw.PlaceholderWithDefault(default, [], name="Const")
        saved = raw.SaveV2(prefix, names, slices, tensors, name="SaveV2")
        with graphs.control_dependencies([saved]):
            self._save_tensor = raw.Identity(prefix, name="control_dependency")
        values = raw.RestoreV2(prefix, names, slices, dtypes=[t.dtype for t in tensors], name="RestoreV2")
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        restored = [self._assigned(v, x) for v, x in zip(variables, values)]
        values = values[len(variables):]
        for saveable in self._saveables:
            mine, values = values[:len(saveable.specs)], values[len(saveable.specs):]
            restored.append(saveable.restore(mine, None))
        self._restore_op = graphs.group(*restored, name="restore_all")
        self._prefix = prefix
        self.saver_def.filename_tensor_name = prefix.name
        self.saver_def.save_tensor_name = self._save_tensor.name
        self.saver_def.restore_op_name = self._restore_op.name

    def _assigned(self, variable, value):
        if self._reshape and variable.shape.is_fully_defined():
            value = raw.Reshape(value, list(variable.shape))
        return raw.AssignVariableOp(variable.handle, raw.Identity(value), validate_shape=True)

    # ---- which checkpoints are kept

    @property
    def last_checkpoints(self):
        """The checkpoints that are kept, oldest first."""
        return list(self._kept)

    def set_last_checkpoints(self, last_checkpoints):
        """Sets the list of existing checkpoints."""
        self._kept = {path: time.time() for path in last_checkpoints}

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Sets the list of existing checkpoints with the times at which they were written."""
        self._kept = dict(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Sets the list of existing checkpoints. Those without files are skipped."""
        found = [p for p in checkpoint_paths if checkpoint_exists(p)]
        self.set_last_checkpoints_with_time([(p, os.path.getmtime(p + ".index")) for p in found])

    def _keep(self, path):
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        while self._max and len(self._kept) > self._max:
            old, written = next(iter(self._kept.items()))
            del self._kept[old]
            if written > self._preserve_next:
                self._preserve_next += self._every * 3600
            else:
                remove_checkpoint(old)

    # ---- saving and restoring

    def _numbered(self, sess, save_path, global_step):
        if global_step is None:
            return save_path
        if not isinstance(global_step, numbers.Integral):
            global_step = global_step_value(sess, global_step)
        return f"{save_path}-{global_step:08d}" if self._pad else f"{save_path}-{global_step}"

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta", write_meta_graph=True,
             write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint and returns its prefix."""
        self._need_built()
        save_path = os.fspath(save_path)
        if os.path.split(latest_filename or "checkpoint")[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if (latest_filename or "checkpoint") == os.path.basename(save_path):
            raise ValueError(f"'latest_filename' collides with 'save_path': {latest_filename!r} and {save_path!r}")
        path = self._numbered(sess, save_path, global_step)
        if not self._variables and not self._saveables:
            return None
        if self._eager:
            values = [v._serialize_to_tensors()["VARIABLE_VALUE"] for v in self._variables.values()]
            raw.SaveV2(path, list(self._variables), [""] * len(values), values)
        else:
            _need_session(sess)
            sess.run(self._save_tensor, {self._prefix: path})
        if write_state:
            self._keep(path)
            write_state_file(os.path.dirname(save_path), path, self.last_checkpoints, latest_filename, self._relative)
        return path

    def restore(self, sess, save_path):
        """Restores the variables from a checkpoint."""
        self._need_built()
        if not self._variables and not self._saveables:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        try:
            if self._eager:
                self._restore_eagerly(save_path, {name: name for name in self._variables})
            else:
                _need_session(sess)
                sess.run(self._restore_op, {self._prefix: save_path})
        except errors.NotFoundError as e:
            self._restore_by_objects(sess, save_path, e)
        except errors.InvalidArgumentError as e:
            raise errors.InvalidArgumentError(None, None, "Restoring from checkpoint failed. This is most likely due to a "
                                              "mismatch between the current graph and the graph from the checkpoint: "
                                              f"{e.message}") from None

    def _restore_eagerly(self, path, keys):
        values = read_tensors(path, {keys[name]: dtypes.as_dtype(v.dtype) for name, v in self._variables.items()})
        for name, variable in self._variables.items():
            value = values[keys[name]]
            if self._reshape:
                value = raw.Reshape(value, list(variable.shape))
            variable._restore_from_tensors({"VARIABLE_VALUE": value})

    def _restore_by_objects(self, sess, path, error):
        """Restores from a checkpoint of tf.train.Checkpoint, which also contains the names of the variables."""
        reader = CheckpointReader(path)
        keys = {}
        if reader.has_tensor(OBJECT_GRAPH):
            keys = {full: key for node in parsed(reader.get_tensor(OBJECT_GRAPH)) for _, full, key in node.attributes}
        missing = [name for name in self._variables if name not in keys]
        if missing:
            raise errors.NotFoundError(None, None, "Restoring from checkpoint failed. This is most likely due to a Variable "
                                       f"name or other graph key that is missing from the checkpoint: {error.message}") from None
        if self._eager:
            return self._restore_eagerly(path, keys)
        for name, variable in self._variables.items():
            variable.load(reader.get_tensor(keys[name]), sess)

    def _need_built(self):
        if self._variables is None:
            raise RuntimeError("`build()` should be called before save if defer_build==True")

    def as_saver_def(self):
        """The SaverDef of this saver."""
        return self.saver_def

    to_proto = as_saver_def


def _need_session(sess):
    if not hasattr(sess, "run"):
        raise TypeError(f"'sess' must be a Session; {sess}")


def write_state_file(folder, latest, paths, latest_filename, relative):
    """Lists the checkpoints in the file `checkpoint` of the directory. The paths are relative to the directory if `relative`
    or if its own path is relative."""
    write_state(folder, latest, paths, latest_filename=latest_filename, absolute=not relative and os.path.isabs(folder))


# ---- first values from a checkpoint -----------------------------------------------------------------------


def _targets(assignment_map, names):
    """(name in the checkpoint, variable) of each pair."""
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else assignment_map
    known = {_name(v): v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)} if not _core.executing_eagerly() else {}
    for source, target in pairs:
        if _is_variable(target):
            yield source, target
        elif source.endswith("/") or source == "":
            if not target.endswith("/") and target:
                raise ValueError(f"Assignment map with scope only name {source} should map to scope only {target}. Should be "
                                 "'scope/': 'other_scope/'.")
            inside = target.rstrip("/") + "/" if target.strip("/") else ""
            outside = source.rstrip("/") + "/" if source.strip("/") else ""
            found = [(outside + n[len(inside):], v) for n, v in known.items() if n.startswith(inside)]
            yield from ((n, v) for n, v in found if n in names)
        elif target in known:
            yield source, known[target]
        else:
            raise ValueError(f"Variable {target} is not in the graph, from which the first values should be set")


@export("compat.v1.train.init_from_checkpoint")
def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Replaces the initial values of variables by those of a checkpoint. `assignment_map` is {name in the checkpoint:
    variable or its name}, or {"scope/": "other_scope/"} for whole scopes."""
    reader = load_checkpoint(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    for name, variable in _targets(assignment_map, shapes):
        if name not in shapes:
            raise ValueError(f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {shapes}")
        if not variable.shape.is_compatible_with(shapes[name]):
            raise ValueError(f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of tensor {name} "
                             f"({shapes[name]}) from checkpoint reader.")
        if not is_graph_variable(variable):
            variable._restore_from_tensors({"VARIABLE_VALUE": read_tensors(
                reader._prefix, {name: dtypes.as_dtype(variable.dtype)})[name]})
            continue
        with variable.graph.as_default(), graphs.name_scope(""), variable.graph.control_dependencies(None):
            value = raw.RestoreV2(reader._prefix, [name], [""], dtypes=[variable.dtype], name="checkpoint_initializer")
            value = raw.Identity(value[0] if isinstance(value, (list, tuple)) else value)
            variable._initial_value = value
            variable._initializer_op = raw.AssignVariableOp(variable.handle, value)

