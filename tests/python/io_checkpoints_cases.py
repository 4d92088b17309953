"""tf.train.Checkpoint, CheckpointManager, tf.compat.v1.train.Saver, and the ops that read and write checkpoints."""
import collections
import os
import weakref


def _module(tf, values=(1.0, 2.0, 3.0)):
    m = tf.Module()
    m.a = tf.Variable(values[0], name="first")
    m.list = [tf.Variable(values[1]), [tf.Variable([values[2], 7.0])]]
    m.dict = {"x": tf.Variable(tf.ones([2], tf.int32)), "y/z.w": tf.Variable("text"), "n": 3}
    m.tuple = (tf.Variable(True), 2)
    m.named = collections.namedtuple("P", "u v")(tf.Variable(1.5), 5)
    m.ordered = collections.OrderedDict(k=tf.Variable(2.5))
    m.empty, m.none = [], {}
    return m


def _contents(tf, prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}


def keys(tf, tmp):
    path = tf.train.Checkpoint(m=_module(tf), step=tf.Variable(1)).write(tmp + "/c")
    return path, tf.train.list_variables(path), _contents(tf, path)


def root(tf, tmp):
    c = tf.train.Checkpoint(_module(tf), extra=tf.Variable(5))
    return c.save(tmp + "/c"), _contents(tf, tmp + "/c-1")


def root_name_taken(tf, tmp):
    return tf.train.Checkpoint(_module(tf), a=tf.Variable(5.0))


def weak_root(tf, tmp):
    m = _module(tf)
    return _contents(tf, tf.train.Checkpoint(weakref.ref(m)).write(tmp + "/c"))


def not_trackable(tf, tmp):
    return tf.train.Checkpoint(m=3)


def odd_dict(tf, tmp):
    m = tf.Module()
    m.d = {1: tf.Variable(1.0)}
    return tf.train.Checkpoint(m=m).write(tmp + "/c")


def save_and_restore(tf, tmp):
    m = _module(tf)
    c = tf.train.Checkpoint(m=m)
    first = c.save(tmp + "/c")
    m.a.assign(9.0)
    m.list[1][0].assign([8.0, 8.0])
    second = c.save(tmp + "/c")
    n = _module(tf, (0.0, 0.0, 0.0))
    d = tf.train.Checkpoint(m=n)
    d.restore(first).assert_consumed()
    once = [n.a.numpy(), n.list[1][0].numpy(), d.save_counter.numpy()]
    d.restore(second).assert_consumed().assert_existing_objects_matched()
    return [first, second], once, n.a, n.list[1][0], n.dict["x"], n.dict["y/z.w"], n.ordered["k"], d.save_counter


def state_file(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(1))
    for _ in range(3):
        c.save(tmp + "/some name")
    state = tf.train.get_checkpoint_state(tmp)
    return (open(tmp + "/checkpoint").read(), sorted(os.listdir(tmp)), tf.train.latest_checkpoint(tmp),
            state.model_checkpoint_path, list(state.all_model_checkpoint_paths))


def no_state_file(tf, tmp):
    return tf.train.get_checkpoint_state(tmp), tf.train.latest_checkpoint(tmp)


def broken_state_file(tf, tmp):
    open(tmp + "/checkpoint", "w").write("model: }{")
    return tf.train.latest_checkpoint(tmp)


def stale_state_file(tf, tmp):
    open(tmp + "/checkpoint", "w").write('model_checkpoint_path: "gone"\n')
    return tf.train.latest_checkpoint(tmp), tf.train.get_checkpoint_state(tmp).model_checkpoint_path


def moved_folder(tf, tmp):
    os.mkdir(tmp + "/old")
    tf.train.Checkpoint(v=tf.Variable(1)).save(tmp + "/old/c")
    os.rename(tmp + "/old", tmp + "/new")
    return tf.train.latest_checkpoint(tmp + "/new")


def deferred_attribute(tf, tmp):
    path = tf.train.Checkpoint(m=_module(tf)).write(tmp + "/c")
    m = tf.Module()
    status = tf.train.Checkpoint(m=m).read(path)
    m.a = tf.Variable(0.0)
    got = [m.a.numpy()]
    m.list = [tf.Variable(0.0)]
    got.append(m.list[0].numpy())
    m.list.append([])
    m.list[1].append(tf.Variable([0.0, 0.0]))
    got.append(m.list[1][0].numpy())
    m.dict = {}
    m.dict["x"] = tf.Variable([5, 5])
    got.append(m.dict["x"].numpy())
    status.assert_existing_objects_matched()
    return got, status.assert_consumed()


def deferred_list_that_exists(tf, tmp):
    path = tf.train.Checkpoint(m=_module(tf)).write(tmp + "/c")
    m = tf.Module()
    m.list = []
    tf.train.Checkpoint(m=m).read(path)
    m.list.append(tf.Variable(0.0))
    m.list.extend([[tf.Variable([0.0, 0.0])]])
    return m.list[0], m.list[1][0]


def deferred_whole_object(tf, tmp):
    path = tf.train.Checkpoint(m=_module(tf)).write(tmp + "/c")
    c = tf.train.Checkpoint()
    status = c.read(path)
    c.m = _module(tf, (0.0, 0.0, 0.0))
    status.assert_consumed()
    return c.m.a, c.m.list[1][0]


def newest_restore_wins(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(1.0))
    one = c.write(tmp + "/one")
    c.v.assign(2.0)
    two = c.write(tmp + "/two")
    d = tf.train.Checkpoint()
    d.read(one)
    d.read(two)
    d.v = tf.Variable(0.0)
    return d.v


def unresolved(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(2.0)).write(tmp + "/c")
    status = tf.train.Checkpoint(v=tf.Variable(0.0)).read(path)
    status.assert_existing_objects_matched()
    status.assert_nontrivial_match()
    status.expect_partial()
    return status.assert_consumed()


def unmatched(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp + "/c")
    status = tf.train.Checkpoint(v=tf.Variable(0.0), w=tf.Variable(0.0)).read(path)
    return status.assert_existing_objects_matched()


def trivial_match(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp + "/c")
    return tf.train.Checkpoint(w=tf.Variable(0.0)).read(path).assert_nontrivial_match()


def nothing_to_load(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp + "/c")
    return tf.train.Checkpoint().read(path).assert_nontrivial_match()


def wrong_shape(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tmp + "/c")
    return tf.train.Checkpoint(v=tf.Variable([1.0])).read(path)


def wrong_dtype(tf, tmp):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp + "/c")
    return tf.train.Checkpoint(v=tf.Variable(1)).read(path)


def restore_missing(tf, tmp):
    return tf.train.Checkpoint(v=tf.Variable(1)).restore(tmp + "/none")


def restore_none(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(1))
    status = c.restore(None)
    status.initialize_or_restore()
    status.expect_partial()
    return status.assert_consumed()


def restore_none_run(tf, tmp):
    return tf.train.Checkpoint(v=tf.Variable(1)).restore(None).run_restore_ops()


def path_objects(tf, tmp):
    import pathlib
    c = tf.train.Checkpoint(v=tf.Variable(4))
    path = c.save(pathlib.Path(tmp) / "c")
    c.v.assign(0)
    c.restore(pathlib.Path(path))
    return path, c.v


def cycle(tf, tmp):
    a, b = tf.Module(), tf.Module()
    a.b, b.a, a.v = b, a, tf.Variable(1)
    return sorted(_contents(tf, tf.train.Checkpoint(a=a, b=b).write(tmp + "/c")))[1:]


def shared_variable(tf, tmp):
    v = tf.Variable(3)
    return sorted(_contents(tf, tf.train.Checkpoint(z=v, m=[v], a=v).write(tmp + "/c")))[1:]


def write_callbacks(tf, tmp):
    seen = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[seen.append, lambda: seen.append("no argument")])
    tf.train.Checkpoint(v=tf.Variable(1)).write(tmp + "/c", options=options)
    return seen


def in_function(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def step():
        c.v.assign_add(1.0)

    step()
    path = c.save(tmp + "/c")
    step()
    c.restore(path)
    step()
    return c.v


def generator(tf, tmp):
    g = tf.random.Generator.from_seed(3)
    c = tf.train.Checkpoint(g=g)
    path = c.write(tmp + "/c")
    a = g.normal([3])
    c.read(path).assert_consumed()
    return sorted(_contents(tf, path)), bool((g.normal([3]).numpy() == a.numpy()).all())


def tables(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    t.insert(["a", "b"], [1, 2])
    c = tf.train.Checkpoint(t=t)
    path = c.write(tmp + "/c")
    t.insert(["a", "c"], [5, 6])
    c.read(path).assert_consumed()
    return sorted(_contents(tf, path)), t.lookup(tf.constant(["a", "b", "c"]))


def python_state(tf, tmp):
    class Counter(tf.train.experimental.PythonState):
        n = 3

        def serialize(self):
            return str(self.n)

        def deserialize(self, string_value):
            self.n = int(string_value)

    c = tf.train.Checkpoint(c=Counter())
    path = c.write(tmp + "/c")
    c.c.n = 9
    c.read(path).assert_consumed()
    return c.c.n, _contents(tf, path)["c/.ATTRIBUTES/py_state"]


def keras_model(tf, tmp):
    def make():
        m = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(2, name="d"), tf.keras.layers.Dropout(0.1)])
        m.compile("adam", "mse")
        return m

    m = make()
    m.fit(tf.ones((4, 3)), tf.ones((4, 2)), verbose=0)
    path = tf.train.Checkpoint(model=m, optimizer=m.optimizer).save(tmp + "/c")
    n = make()
    tf.train.Checkpoint(model=n, optimizer=n.optimizer).restore(path).assert_existing_objects_matched()
    same = all((a.numpy() == b.numpy()).all() for a, b in zip(m.variables, n.variables))
    return sorted(_contents(tf, path)), same, n.optimizer.iterations.numpy()


def keras_built_later(tf, tmp):
    def make():
        m = tf.keras.Sequential([tf.keras.layers.Dense(2, name="d")])
        m.layers_made = [tf.keras.layers.Dense(2)]
        return m

    m = make()
    m(tf.ones((1, 3)))
    m.layers[0].bias.assign([3.0, 4.0])
    path = tf.train.Checkpoint(m).write(tmp + "/c")
    n = make()
    status = tf.train.Checkpoint(n).read(path)
    n(tf.ones((1, 3)))
    status.assert_existing_objects_matched()
    return n.layers[0].bias, bool((n.layers[0].kernel.numpy() == m.layers[0].kernel.numpy()).all())


def keras_layer_subclass(tf, tmp):
    class Two(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.one, self.two = tf.keras.layers.Dense(2, bias_initializer="ones"), tf.keras.layers.BatchNormalization()

        def call(self, x):
            return self.two(self.one(x))

    m, n = Two(), Two()
    m(tf.ones((1, 2)))
    m.two.moving_mean.assign([5.0, 6.0])
    path = tf.train.Checkpoint(m).write(tmp + "/c")
    tf.train.Checkpoint(n).read(path)
    n(tf.ones((1, 2)))
    return sorted(_contents(tf, path)), n.two.moving_mean, n.one.bias


# ---- managers


def manager(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(0))
    m = tf.train.CheckpointManager(c, tmp + "/d", max_to_keep=2)
    got = [m.latest_checkpoint, m.checkpoints]
    for k in range(4):
        c.v.assign(k)
        got.append(m.save())
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(0)), tmp + "/d", max_to_keep=1)
    got += [m.checkpoints, m.latest_checkpoint, again.checkpoints, again.restore_or_initialize(), again.checkpoint.v.numpy()]
    got += [again.save(), again.checkpoints, sorted(os.listdir(tmp + "/d")), m.directory, m.checkpoint is c]
    return got


def manager_numbers(tf, tmp):
    m = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(0)), tmp, max_to_keep=None, checkpoint_name="name")
    return m.save(checkpoint_number=7), m.save(checkpoint_number=3), m.checkpoints, m.latest_checkpoint


def manager_interval(tf, tmp):
    step = tf.Variable(0, dtype=tf.int64)
    m = tf.train.CheckpointManager(tf.train.Checkpoint(v=step), tmp, 5, step_counter=step, checkpoint_interval=2)
    got = []
    for k in range(5):
        step.assign(k)
        got.append(m.save())
    got.append(m.save(check_interval=False))
    return got, m.checkpoint_interval


def manager_preserves(tf, tmp):
    m = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(0)), tmp, 1, keep_checkpoint_every_n_hours=0)
    for _ in range(3):
        m.save()
    return m.checkpoints, sorted(os.listdir(tmp))


def manager_init(tf, tmp):
    seen = []
    m = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(0)), tmp, 1, init_fn=lambda: seen.append(1))
    return m.restore_or_initialize(), seen


def manager_no_room(tf, tmp):
    return tf.train.CheckpointManager(tf.train.Checkpoint(), tmp, max_to_keep=0)


def manager_interval_without_steps(tf, tmp):
    return tf.train.CheckpointManager(tf.train.Checkpoint(), tmp, 1, checkpoint_interval=2)


def iterate_checkpoints(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable(0))
    got = []
    c.save(tmp + "/c")
    for path in tf.train.checkpoints_iterator(tmp, timeout=0):
        got.append(path)
        if len(got) < 3:
            c.save(tmp + "/c")
    return got


# ---- readers


def reader(tf, tmp):
    c = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), s=tf.Variable(["ab", ""]))
    path = c.save(tmp + "/c")
    r = tf.train.load_checkpoint(tmp)
    dtypes = {k: v.name for k, v in r.get_variable_to_dtype_map().items()}
    return (r.get_variable_to_shape_map(), dtypes, r.has_tensor("no"), r.debug_string(),
            tf.train.load_variable(path, "s/.ATTRIBUTES/VARIABLE_VALUE"), tf.train.list_variables(tmp))


def reader_missing(tf, tmp):
    return tf.train.load_checkpoint(tmp + "/none")


def reader_empty_folder(tf, tmp):
    return tf.train.load_checkpoint(tmp)


def variable_missing(tf, tmp):
    return tf.train.load_variable(tf.train.Checkpoint(v=tf.Variable(1)).write(tmp + "/c"), "w")


# ---- ops


def _save(tf, prefix, tensors):
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(tensors), shape_and_slices=[""] * len(tensors),
                      tensors=list(tensors.values()))


def _restore(tf, prefix, wanted):
    return tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=list(wanted), shape_and_slices=[""] * len(wanted),
                                dtypes=list(wanted.values()))


def bytes_of_files(tf, tmp):
    kinds = ["float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "bfloat16", "uint16",
             "complex128", "float16", "uint32", "uint64"]
    made = {f"some/{k}": tf.cast(tf.constant([[0, 1, 2], [3, 4, 5]]), k) for k in kinds}
    made.update({"text": tf.constant(["abc", "", "x" * 300]), "empty": tf.zeros([0, 3]), "scalar": tf.constant(7.0),
                 "no text": tf.zeros([0], tf.string), "f8": tf.cast([1.0, 2.0], tf.dtypes.experimental.float8_e5m2),
                 "f8n": tf.cast([1.0, 2.0], tf.dtypes.experimental.float8_e4m3fn)})
    made.update({f"many/{k:05d}/{'x' * (k % 7)}": tf.constant(k) for k in range(300)})
    _save(tf, tmp + "/c", made)
    back = _restore(tf, tmp + "/c", {k: v.dtype for k, v in made.items()})
    same = all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(made.values(), back) if a.dtype != tf.string)
    return [open(tmp + "/c" + end, "rb").read() for end in (".index", ".data-00000-of-00001")], same, back[15]


def large_index(tf, tmp):
    made = {f"variable/number/{k:06d}/with/a/long/name": tf.constant([k]) for k in range(6000)}
    _save(tf, tmp + "/c", made)
    return open(tmp + "/c.index", "rb").read(), _restore(tf, tmp + "/c", {"variable/number/005999/with/a/long/name": tf.int32})


def restore_key_missing(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant(1)})
    return _restore(tf, tmp + "/c", {"a": tf.int32, "b": tf.int32})


def restore_other_dtype(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant(1)})
    return _restore(tf, tmp + "/c", {"a": tf.float32})


def restore_same_twice(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant(1)})
    return tf.raw_ops.RestoreV2(prefix=tmp + "/c", tensor_names=["a", "a"], shape_and_slices=["", ""],
                                dtypes=[tf.int32, tf.int32])


def restore_counts_differ(tf, tmp):
    return tf.raw_ops.RestoreV2(prefix=tmp + "/c", tensor_names=["a", "b"], shape_and_slices=["", ""], dtypes=[tf.int32])


def save_same_twice(tf, tmp):
    tf.raw_ops.SaveV2(prefix=tmp + "/c", tensor_names=["a", "a"], shape_and_slices=["", ""], tensors=[1, 2])


def save_counts_differ(tf, tmp):
    tf.raw_ops.SaveV2(prefix=tmp + "/c", tensor_names=["a", "b"], shape_and_slices=["", ""], tensors=[1])


def no_index(tf, tmp):
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def no_data(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant(1)})
    os.remove(tmp + "/c.data-00000-of-00001")
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def short_data(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant([1, 2])})
    open(tmp + "/c.data-00000-of-00001", "wb").write(b"1234")
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def changed_data(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant([1, 2])})
    open(tmp + "/c.data-00000-of-00001", "wb").write(b"12345678")
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def changed_text(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant(["abc", "d"])})
    data = open(tmp + "/c.data-00000-of-00001", "rb").read()
    open(tmp + "/c.data-00000-of-00001", "wb").write(data[:-1] + b"x")
    return _restore(tf, tmp + "/c", {"a": tf.string})


def short_index(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant([1, 2])})
    data = open(tmp + "/c.index", "rb").read()
    open(tmp + "/c.index", "wb").write(data[:-10])
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def changed_index(tf, tmp):
    _save(tf, tmp + "/c", {"a": tf.constant([1, 2])})
    data = bytearray(open(tmp + "/c.index", "rb").read())
    data[20] ^= 1
    open(tmp + "/c.index", "wb").write(data)
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def empty_index(tf, tmp):
    open(tmp + "/c.index", "wb").write(b"")
    return _restore(tf, tmp + "/c", {"a": tf.int32})


def merged(tf, tmp):
    _save(tf, tmp + "/part0", {"b": tf.constant([1, 2]), "c": tf.constant("text")})
    _save(tf, tmp + "/part1", {"a": tf.constant(3.0)})
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[tmp + "/part0", tmp + "/part1"], destination_prefix=tmp + "/all",
                                  delete_old_dirs=False)
    return sorted(os.listdir(tmp)), _restore(tf, tmp + "/all", {"a": tf.float32, "b": tf.int32, "c": tf.string})


def merge_missing(tf, tmp):
    _save(tf, tmp + "/part0", {"b": tf.constant([1, 2])})
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[tmp + "/part0", tmp + "/part1"], destination_prefix=tmp + "/all")


def shard_names(tf, tmp):
    return (tf.raw_ops.ShardedFilename(basename="ab", shard=3, num_shards=12),
            tf.raw_ops.ShardedFilespec(basename="ab", num_shards=12))


def ops_in_function(tf, tmp):
    @tf.function
    def both(x):
        saved = tf.raw_ops.SaveV2(prefix=tmp + "/c", tensor_names=["x", "y"], shape_and_slices=["", ""], tensors=[x, x * 2])
        with tf.control_dependencies([saved]):
            return tf.raw_ops.RestoreV2(prefix=tmp + "/c", tensor_names=["y", "x"], shape_and_slices=["", ""],
                                        dtypes=[tf.float32, tf.float32])

    return both(tf.constant([1.0, 2.0]))


# ---- savers of the first generation


def _graph(tf, values=(1.0, 2)):
    v1 = tf.compat.v1
    a = v1.get_variable("scope/a", initializer=tf.constant([values[0], 5.0]))
    b = v1.get_variable("b", initializer=tf.constant(values[1]))
    return a, b


def saver(tf, tmp):
    v1 = tf.compat.v1
    got = []
    with tf.Graph().as_default() as g, v1.Session() as sess:
        a, b = _graph(tf)
        s = v1.train.Saver(max_to_keep=2)
        sess.run(v1.global_variables_initializer())
        for k in range(4):
            sess.run(b.assign(k))
            got.append(s.save(sess, tmp + "/m", global_step=k, write_meta_graph=False))
        got += [s.last_checkpoints, sorted(os.listdir(tmp)), tf.train.latest_checkpoint(tmp), open(tmp + "/checkpoint").read()]
        got += [s.saver_def.filename_tensor_name, s.saver_def.save_tensor_name, s.saver_def.restore_op_name]
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf, (0.0, 0))
        v1.train.Saver().restore(sess, tmp + "/m-2")
        got += sess.run([a, b])
    return got, tf.train.list_variables(tmp + "/m-3")


def saver_dict(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf)
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver({"other": a}).save(sess, tmp + "/m", write_meta_graph=False)
        sess.run(a.assign([0.0, 0.0]))
        v1.train.Saver({"other": a}).restore(sess, path)
        return path, tf.train.list_variables(path), sess.run(a)


def saver_step_variable(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        step = v1.train.get_or_create_global_step()
        sess.run(v1.global_variables_initializer())
        sess.run(step.assign_add(7))
        same = v1.train.get_or_create_global_step() is step and v1.train.get_global_step() is step
        return (v1.train.Saver(pad_step_number=True).save(sess, tmp + "/m", global_step=step, write_meta_graph=False),
                same, step.name, step.dtype.name, v1.train.global_step(sess, step))


def saver_relative(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        _graph(tf)
        sess.run(v1.global_variables_initializer())
        v1.train.Saver(save_relative_paths=True).save(sess, tmp + "/m", latest_filename="newest", write_meta_graph=False)
        return open(tmp + "/newest").read(), tf.train.latest_checkpoint(tmp, "newest")


def saver_nothing(tf, tmp):
    with tf.Graph().as_default():
        return tf.compat.v1.train.Saver()


def saver_same_names(tf, tmp):
    with tf.Graph().as_default():
        a, b = _graph(tf)
        return tf.compat.v1.train.Saver([a, a]) and tf.compat.v1.train.Saver({"x": a, "y": b}) and None


def saver_missing_variable(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf)
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver([a]).save(sess, tmp + "/m", write_meta_graph=False)
        v1.train.Saver().restore(sess, path)


def saver_reshape(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf)
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver([a]).save(sess, tmp + "/m", write_meta_graph=False)
        c = v1.get_variable("c", initializer=tf.zeros([2, 1]))
        v1.train.Saver({"scope/a": c}, reshape=True).restore(sess, path)
        return sess.run(c)


def saver_no_file(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        _graph(tf)
        v1.train.Saver().restore(sess, tmp + "/none")


def saver_none(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        _graph(tf)
        v1.train.Saver().restore(sess, None)


def saver_name_collides(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        _graph(tf)
        v1.train.Saver().save(sess, tmp + "/checkpoint")


def saver_eager(tf, tmp):
    v = tf.Variable([1.0, 2.0], name="v")
    s = tf.compat.v1.train.Saver([v])
    path = s.save(None, tmp + "/m", global_step=3)
    v.assign([0.0, 0.0])
    s.restore(None, path)
    return path, v, tf.train.list_variables(path)


def saver_eager_without_list(tf, tmp):
    return tf.compat.v1.train.Saver()


def checkpoint_reads_names(tf, tmp):
    v = tf.Variable([1.0, 2.0], name="v")
    path = tf.compat.v1.train.Saver([v]).save(None, tmp + "/m")
    w = tf.Variable([0.0, 0.0], name="v")
    status = tf.train.Checkpoint(anything=w).restore(path)
    status.assert_consumed()
    return w


def saver_reads_objects(tf, tmp):
    v = tf.Variable([1.0, 2.0], name="v")
    path = tf.train.Checkpoint(anything=v).write(tmp + "/c")
    v.assign([0.0, 0.0])
    tf.compat.v1.train.Saver([v]).restore(None, path)
    return v


def checkpoint_in_graph(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf)
        c = v1.train.Checkpoint(a=a, b=b)
        c.restore(None).initialize_or_restore(sess)
        path = c.save(tmp + "/c", session=sess)
        sess.run(b.assign(9))
        status = c.restore(path)
        status.assert_consumed().run_restore_ops(sess)
        return path, sess.run([a, b]), tf.train.list_variables(path)


def init_from_names(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = _graph(tf)
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(sess, tmp + "/m", write_meta_graph=False)
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.get_variable("new/a", initializer=tf.zeros([2]))
        y = v1.get_variable("y", initializer=tf.constant(0))
        v1.train.init_from_checkpoint(path, {"scope/": "new/", "b": y})
        sess.run(v1.global_variables_initializer())
        return sess.run([x, y])


def init_from_missing(tf, tmp):
    v1 = tf.compat.v1
    path = tf.train.Checkpoint(v=tf.Variable(1)).write(tmp + "/c")
    with tf.Graph().as_default():
        v1.train.init_from_checkpoint(path, {"no": v1.get_variable("y", initializer=tf.constant(0))})


def init_from_other_shape(tf, tmp):
    v1 = tf.compat.v1
    path = tf.train.Checkpoint(v=tf.Variable(1)).write(tmp + "/c")
    with tf.Graph().as_default():
        y = v1.get_variable("y", initializer=tf.constant([0, 1]))
        v1.train.init_from_checkpoint(path, {"v/.ATTRIBUTES/VARIABLE_VALUE": y})
