"""Iterators of graphs: one-shot, initializable, reinitializable, feedable; get_next in sessions."""


def _v1(tf):
    return tf.compat.v1


def _until_end(tf, session, fetch, feed=None, most=20):
    found = []
    while len(found) < most:
        try:
            found.append(session.run(fetch, feed))
        except tf.errors.OutOfRangeError:
            found.append("end")
            break
    return found


def one_shot(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        ds = v1.data.Dataset.range(4).map(lambda n: (n, n * 2))
        it = v1.data.make_one_shot_iterator(ds)
        nxt = it.get_next()
        return [_until_end(tf, s, nxt), _until_end(tf, s, nxt), str(v1.data.get_output_types(it)), str(v1.data.get_output_shapes(ds))]


def one_shot_method(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        x, y = v1.data.Dataset.from_tensor_slices(([1, 2, 3, 4, 5], [1., 2., 3., 4., 5.])).batch(2).repeat(2).make_one_shot_iterator(
        ).get_next()
        return _until_end(tf, s, [x, y])


def one_shot_in_two_sessions(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default():
        nxt = v1.data.make_one_shot_iterator(v1.data.Dataset.range(2)).get_next()
        found = []
        for _ in range(2):
            with v1.Session() as s:
                found.append(_until_end(tf, s, nxt))
        return found


def two_get_next(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        it = v1.data.make_one_shot_iterator(v1.data.Dataset.range(4))
        a, b = it.get_next(), it.get_next()
        return [sorted(s.run([a, b])), sorted(s.run([a, b]))]


def one_shot_initializer(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default():
        return v1.data.make_one_shot_iterator(v1.data.Dataset.range(2)).initializer


def initializable(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        n = v1.placeholder(tf.int64, [])
        it = v1.data.make_initializable_iterator(v1.data.Dataset.range(n))
        nxt, found = it.get_next(), []
        for count in (3, 2):
            s.run(it.initializer, {n: count})
            found.append(_until_end(tf, s, nxt))
        return found


def initializable_not_initialized(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        return s.run(v1.data.make_initializable_iterator(v1.data.Dataset.range(3)).get_next())


def initializable_again(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        it = v1.data.make_initializable_iterator(v1.data.Dataset.range(5).shuffle(5, seed=4))
        nxt, found = it.get_next(), []
        for _ in range(3):
            s.run(it.initializer)
            found.append(_until_end(tf, s, nxt))
        return [sorted(map(str, f)) for f in found]


def initializable_eager(tf, tmp):
    return _v1(tf).data.make_initializable_iterator(_v1(tf).data.Dataset.range(3))


def one_shot_eager(tf, tmp):
    return [int(n) for n in _v1(tf).data.make_one_shot_iterator(_v1(tf).data.Dataset.range(3))]


def reinitializable(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        train, test = v1.data.Dataset.range(4).map(lambda n: n + 100), v1.data.Dataset.range(2)
        it = v1.data.Iterator.from_structure(v1.data.get_output_types(train), v1.data.get_output_shapes(train))
        nxt, start_train, start_test = it.get_next(), it.make_initializer(train), it.make_initializer(test)
        found = []
        for start in (start_train, start_test, start_train):
            s.run(start)
            found.append(_until_end(tf, s, nxt))
        return found + [str(it.output_types), str(it.output_shapes), str(it.output_classes)]


def reinitializable_wrong(tf, tmp):
    v1, found = _v1(tf), []
    with tf.Graph().as_default():
        it = v1.data.Iterator.from_structure(tf.int64, [])
        for ds in (v1.data.Dataset.range(3).map(lambda n: "x"), v1.data.Dataset.range(3).batch(2), v1.data.Dataset.range(3).map(
                lambda n: (n, n))):
            try:
                it.make_initializer(ds)
                found.append("fine")
            except Exception as e:
                found.append(type(e).__name__)
    return found


def feedable(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        train, test = v1.data.Dataset.range(10).repeat(), v1.data.Dataset.range(100, 103)
        handle = v1.placeholder(tf.string, shape=[])
        it = v1.data.Iterator.from_string_handle(handle, v1.data.get_output_types(train), v1.data.get_output_shapes(train))
        nxt = it.get_next()
        one, two = v1.data.make_one_shot_iterator(train), v1.data.make_initializable_iterator(test)
        a, b = s.run(one.string_handle()), s.run(two.string_handle())
        s.run(two.initializer)
        found = [s.run(nxt, {handle: a}) for _ in range(3)]
        found.append(_until_end(tf, s, nxt, {handle: b}))
        found.append(s.run(nxt, {handle: a}))
        s.run(two.initializer)
        return found + [s.run(nxt, {handle: b})]


def feedable_wrong(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        handle = v1.placeholder(tf.string, shape=[])
        nxt = v1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
        try:
            return s.run(nxt, {handle: b"no such handle"})
        except tf.errors.OpError:
            return "error"


def structures(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        ds = v1.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ([3, 4], ["x", "y"])})
        return _until_end(tf, s, v1.data.make_one_shot_iterator(ds).get_next())


def training(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        xs = [[float(k)] for k in range(8)]
        ds = v1.data.Dataset.from_tensor_slices((xs, [[2 * x[0] + 1] for x in xs])).batch(4).repeat(30)
        x, y = v1.data.make_one_shot_iterator(ds).get_next()
        w, b = v1.get_variable("w", [1, 1], initializer=v1.zeros_initializer()), v1.get_variable(
            "b", [1], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
        train = v1.train.GradientDescentOptimizer(0.02).minimize(loss)
        s.run(v1.global_variables_initializer())
        steps = 0
        try:
            while True:
                s.run(train)
                steps += 1
        except tf.errors.OutOfRangeError:
            return [steps, round(float(s.run(w)[0, 0]), 3)]


def files(tf, tmp):
    v1 = _v1(tf)
    with open(tmp + "/f", "w") as f:
        f.write("1,2\n3,4\n")
    with tf.Graph().as_default(), v1.Session() as s:
        names = v1.placeholder(tf.string, [None])
        it = v1.data.make_initializable_iterator(v1.data.TextLineDataset(names).map(lambda line: v1.decode_csv(line, [[0], [0]])))
        nxt = it.get_next()
        s.run(it.initializer, {names: [tmp + "/f", tmp + "/f"]})
        return _until_end(tf, s, nxt)


def reduce_in_session(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        total = v1.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)
        one = tf.data.experimental.get_single_element(v1.data.Dataset.range(5).batch(5))
        return [s.run(total), s.run(one), s.run(v1.data.Dataset.range(5).cardinality())]


def optional_in_session(tf, tmp):
    v1 = _v1(tf)
    with tf.Graph().as_default(), v1.Session() as s:
        it = v1.data.make_initializable_iterator(v1.data.Dataset.range(1))
        o = tf.data.experimental.get_next_as_optional(it)
        has, value = o.has_value(), o.get_value()
        s.run(it.initializer)
        found = s.run([has, value])
        return found + [s.run(has)]
