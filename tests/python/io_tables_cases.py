"""tf.lookup: static, vocabulary, mutable and dense tables; eagerly, in functions, in sessions."""


def _words(tf, default=-1):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([1, 2, 3], tf.int64)), default)


def _sorted(table):
    keys, values = table.export()
    return sorted(zip(keys.numpy().tolist(), values.numpy().tolist()))


def static(tf, tmp):
    t = _words(tf)
    return [t.lookup(tf.constant(["b", "z", "a"])), t.lookup(tf.constant([["c"], [""]])), t.lookup(tf.constant("a")), t[tf.constant("c")], t.size(), _sorted(t)]


def static_types(tf, tmp):
    made = []
    for keys, values, default in (([1, 2], ["x", "y"], "?"), ([1, 2], [0.5, 1.5], -1.0), (["p"], [True], False), (["p"], ["q"], "")):
        keys = tf.constant(keys, tf.int64) if isinstance(keys[0], int) else tf.constant(keys)
        t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant(values)), default)
        made.append(t.lookup(tf.concat([keys, keys[:1]], 0)))
        made.append(t.size())
    return made


def static_sparse_ragged(tf, tmp):
    t = _words(tf)
    return [t.lookup(tf.sparse.from_dense([["a", ""], ["z", "c"]])), t.lookup(tf.ragged.constant([["a"], [], ["q", "b"]]))]


def static_empty(tf, tmp):
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([], tf.string), tf.constant([], tf.int64)), 9)
    return [t.lookup(tf.constant(["a"])), t.size()]


def static_many(tf, tmp):
    keys = tf.range(10000, dtype=tf.int64) * 7919
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(10000, dtype=tf.int64)), -1)
    return [t.size(), tf.reduce_sum(t.lookup(keys)), tf.reduce_sum(t.lookup(keys + 1))]


def static_same_twice(tf, tmp):
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], tf.constant([1, 1], tf.int64)), -1)
    return t.size()


def static_conflict(tf, tmp):
    tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], tf.constant([1, 2], tf.int64)), -1)


def static_key_type(tf, tmp):
    _words(tf).lookup(tf.constant([1]))


def static_lengths(tf, tmp):
    tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1], tf.int64)), -1)


def static_default_shape(tf, tmp):
    _words(tf, [1, 2])


def in_function(tf, tmp):
    t = _words(tf)

    @tf.function
    def f(x):
        return t.lookup(x) * 10, t.size()

    return [f(tf.constant(["a", "x"])), f(tf.constant(["c", "b", "a"])), f(tf.constant([["b"]]))]


def shape_in_function(tf, tmp):
    t = _words(tf)
    seen = []

    @tf.function
    def f(x):
        y = t.lookup(x)
        seen.append(y.shape.as_list())
        return y

    f(tf.constant([["a", "x"]]))
    return seen


def in_session(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        t = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([5, 6], tf.int64)), -1)
        x = v1.placeholder(tf.string, [None])
        y = t.lookup(x)
        session.run(v1.tables_initializer())
        return [session.run(y, {x: ["b", "q"]}), session.run(t.size()), session.run(y, {x: ["a"]})]


def session_uninitialized(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        t = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(["a"], tf.constant([5], tf.int64)), -1)
        session.run(t.lookup(tf.constant(["a"])))


def two_sessions(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as g:
        t = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(["a"], tf.constant([5], tf.int64)), -1)
        y = t.lookup(tf.constant(["a"]))
        with v1.Session(graph=g) as one:
            one.run(v1.tables_initializer())
        with v1.Session(graph=g) as two:
            return two.run(y)


def no_tables(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.compat.v1.tables_initializer())


def _file(tmp, text):
    with open(tmp + "/f", "w") as f:
        f.write(text)
    return tmp + "/f"


def file_lines(tf, tmp):
    I = tf.lookup.TextFileIndex
    init = tf.lookup.TextFileInitializer(_file(tmp, "one\ntwo\nthree\n"), tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER)
    t = tf.lookup.StaticHashTable(init, -1)
    return [t.lookup(tf.constant(["two", "four", "three"])), t.size()]


def file_lines_offset(tf, tmp):
    I = tf.lookup.TextFileIndex
    init = tf.lookup.TextFileInitializer(_file(tmp, "one\ntwo"), tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER, value_index_offset=10)
    return tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["two", "one"]))


def file_columns(tf, tmp):
    path = _file(tmp, "a,1,x\nb,2,y\n")
    made = []
    for key, ki, value, vi, ask, default in ((tf.string, 0, tf.int64, 1, "b", -1), (tf.int64, 1, tf.string, 2, 2, "?"), (tf.string, 2, tf.float32, 1, "x", -1.0)):
        init = tf.lookup.TextFileInitializer(path, key, ki, value, vi, delimiter=",")
        made.append(tf.lookup.StaticHashTable(init, default).lookup(tf.constant([ask], key)))
    return made


def file_vocab_size(tf, tmp):
    I = tf.lookup.TextFileIndex
    init = tf.lookup.TextFileInitializer(_file(tmp, "one\ntwo\nthree\n"), tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER, vocab_size=2)
    return tf.lookup.StaticHashTable(init, -1).size()


def file_vocab_size_large(tf, tmp):
    I = tf.lookup.TextFileIndex
    init = tf.lookup.TextFileInitializer(_file(tmp, "one\ntwo\n"), tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER, vocab_size=5)
    tf.lookup.StaticHashTable(init, -1)


def file_missing(tf, tmp):
    I = tf.lookup.TextFileIndex
    tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(tmp + "/none", tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER), -1)


def file_column_missing(tf, tmp):
    tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(_file(tmp, "a\tb\n"), tf.string, 0, tf.string, 7), "")


def file_bad_number(tf, tmp):
    tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(_file(tmp, "a\tb\n"), tf.string, 0, tf.int64, 1), -1)


def file_index_type(tf, tmp):
    tf.lookup.TextFileInitializer(tmp + "/f", tf.string, tf.lookup.TextFileIndex.LINE_NUMBER, tf.int64, 0)


def vocabulary(tf, tmp):
    t = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 3)
    return [t.lookup(tf.constant(["b", "q", "r", "s", "", "a"])), t.size(), t.lookup(tf.ragged.constant([["a", "zz"], []]))]


def vocabulary_ints(tf, tmp):
    init = tf.lookup.KeyValueTensorInitializer(tf.constant([10, 20], tf.int64), tf.constant([0, 1], tf.int64))
    t = tf.lookup.StaticVocabularyTable(init, 4)
    return [t.lookup(tf.constant([20, 5, 6, 7, 10], tf.int64)), t.size()]


def vocabulary_no_buckets(tf, tmp):
    tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 0)


def mutable(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    before = t.lookup(tf.constant(["a"]))
    t.insert(["a", "b", "c"], [1, 2, 3])
    t.insert(["b"], [20])
    t.remove(tf.constant(["a", "none"]))
    return [before, t.lookup(tf.constant(["a", "b", "c"])), t.size(), _sorted(t)]


def mutable_vectors(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
    t.insert(tf.constant([5, 6], tf.int64), [[1.0, 2.0], [3.0, 4.0]])
    return [t.lookup(tf.constant([[6, 7]], tf.int64)), t.size()]


def mutable_defaults(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    t.insert(["a"], [1])
    return t.lookup(tf.constant(["x", "a", "y"]), dynamic_default_values=tf.constant([7, 8, 9], tf.int64))


def mutable_strings(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.int64, tf.string, "?")
    t.insert(tf.constant([1, 2], tf.int64), ["one", ""])
    return [t.lookup(tf.constant([2, 1, 3], tf.int64)), _sorted(t)]


def mutable_churn(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    for k in range(20):
        x = tf.range(k * 50, k * 50 + 100, dtype=tf.int64)
        t.insert(x, x * 2)
        t.remove(tf.range(k * 50, k * 50 + 40, dtype=tf.int64))
    return [t.size(), tf.reduce_sum(t.lookup(tf.range(1200, dtype=tf.int64)))]


def mutable_in_function(tf, tmp):
    t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @tf.function
    def f(k, v):
        t.insert(k, v)
        return t.lookup(k), t.size()

    return [f(tf.constant(["a"]), tf.constant([1], tf.int64)), f(tf.constant(["b"]), tf.constant([2], tf.int64)), t.size()]


def mutable_wrong_sizes(tf, tmp):
    tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).insert(["a", "b"], [1])


def mutable_key_type(tf, tmp):
    tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1).lookup(tf.constant([1]))


def _dense(tf):
    return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)


def dense(tf, tmp):
    t = _dense(tf)
    t.insert(tf.constant([5, 6, 7], tf.int64), tf.constant([50, 60, 70], tf.int64))
    t.insert_or_assign(tf.constant([6], tf.int64), tf.constant([61], tf.int64))
    t.erase(tf.constant([5], tf.int64))
    return [t.lookup(tf.constant([5, 6, 7, 8], tf.int64)), t.size(), t[tf.constant([7], tf.int64)]]


def dense_vectors(tf, tmp):
    t = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, [0.0, 0.0], empty_key="", deleted_key="$")
    t.insert(tf.constant(["a"]), tf.constant([[1.0, 2.0]]))
    return t.lookup(tf.constant(["a", "b"]))


def dense_empty_key(tf, tmp):
    _dense(tf).insert(tf.constant([0], tf.int64), tf.constant([1], tf.int64))


def dense_deleted_key(tf, tmp):
    _dense(tf).lookup(tf.constant([-1], tf.int64))


def dense_equal_keys(tf, tmp):
    tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=1, deleted_key=1)


def raw_not_a_table(tf, tmp):
    tf.raw_ops.LookupTableSizeV2(table_handle=tf.Variable(1.0).handle)


def _static(tf, keys, values, default):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


def lists_of_numbers(tf, tmp):
    t, u = _static(tf, ["a"], [1], 0), _static(tf, [1, 2], [1.5, 2.5], 0)
    return [t.lookup(tf.constant(["a", "b"])), t.value_dtype.name, u.key_dtype.name, u.lookup(tf.constant([2, 3]))]


def vocabulary_of_int32(tf, tmp):
    tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1)


def made_in_function(tf, tmp):
    @tf.function
    def lists(x):
        return _static(tf, ["a", "b"], [1, 2], -1).lookup(x)

    @tf.function
    def constants(x):
        return _static(tf, tf.constant(["a", "b"]), tf.constant([1, 2]), -1).lookup(x)

    return [f(tf.constant(["a", "q"])) for f in (lists, constants, lists)]


def keys_of_other_ranks(tf, tmp):
    t = _static(tf, tf.constant([["a", "b"]]), tf.constant([[1, 2]]), -1)
    return [t.lookup(tf.constant(["b", "a", "z"])), t.size(), _static(tf, tf.constant("a"), tf.constant(1), 0).size()]


def keys_of_another_shape(tf, tmp):
    _static(tf, tf.constant([["a", "b"]]), tf.constant([1, 2]), -1)
