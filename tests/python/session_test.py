"""Sessions: what may be fetched and fed, what is said when it may not, and which graph and session are the default."""
import collections
import gc
import threading

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
Pair = collections.namedtuple("Pair", "x y")


@pytest.fixture
def place():
    """A graph with two placeholders and what follows from them."""
    graph = tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.float32, [None, 2], name="a")
        b = v1.placeholder(tf.int32)
        c = tf.add(a, 1.0, name="c")
        d = b * 2
        both = tf.group(c, d)
    found = collections.namedtuple("Place", "graph a b c d both session x")
    with v1.Session(graph=graph) as session:
        yield found(graph, a, b, c, d, both, session, np.ones((2, 2)))


TWO = np.full((2, 2), 2, np.float32)


def test_what_may_be_fetched(place):
    run, a, b, c, d, x = place.session.run, place.a, place.b, place.c, place.d, place.x
    got = run(c, {a: x})
    assert got.dtype == np.float32 and (got == TWO).all() and got.flags.writeable
    assert run(d, feed_dict={b: 3}) == 6 and isinstance(run(d, {b: 3}), np.int32)
    one, [nothing] = run([c, [place.both]], {a: x, b: 1})
    assert (one == TWO).all() and nothing is None
    got = run({"c": c, "more": (c, d)}, {a: x, b: 4})
    assert set(got) == {"c", "more"} and type(got["more"]) is tuple and got["more"][1] == 8
    got = run(Pair(c, d), {a: x, b: 3})
    assert type(got) is Pair and got.y == 6
    got = run(collections.OrderedDict(z=c, y=d), {a: x, b: 3})
    assert type(got) is collections.OrderedDict and list(got) == ["z", "y"]
    assert (run("c:0", {"a:0": x}) == TWO).all() and run("c", {a: x}) is None
    assert run([], {a: x}) == [] and run(()) == ()
    assert all((r == TWO).all() for r in run([c, c], {a: x}))
    assert (run(a, {a: x}) == 1).all()
    many = [c, d] * 20
    assert [np.ndim(r) for r in run(many, {a: x, b: 1})] == [2, 0] * 20


def test_strings_and_scalars(place):
    with place.graph.as_default():
        assert place.session.run(tf.constant("abc")) == b"abc"
        assert place.session.run(tf.constant(["abc", "d"])).tolist() == [b"abc", b"d"]
        assert isinstance(place.session.run(tf.constant(1.5)), np.float32)


eager_variable = tf.Variable([[1.0, 1.0]])
eager_ones = (tf.ones([1, 2]), tf.ones([1, 2], tf.int32))


def test_what_may_be_fed(place):
    run, a, b, c, d = place.session.run, place.a, place.b, place.c, place.d
    for value in ([[1, 1]], ((1.0, 1.0),), np.ones((1, 2), np.float64), *eager_ones,
                  eager_variable):
        assert run(c, {a: value}).tolist() == [[2.0, 2.0]]
    assert run(d, {b: 1.7}) == 2 and run(d, {b: True}) == 2 and run(d, {b: np.int64(5)}) == 10
    assert run(d, {b: [[1, 2]]}).tolist() == [[2, 4]]
    with place.graph.as_default():
        symbolic = tf.fill([3, 2], 4.0)
    assert run(c, {a: symbolic}).tolist() == [[5.0, 5.0]] * 3  # computed first; TensorFlow rejects it
    with tf.Graph().as_default():
        foreign = tf.fill([3, 2], 4.0)
    with pytest.raises(TypeError, match="cannot be a tf.Tensor object"):
        run(c, {a: foreign})
    assert run(d, {d: 7}) == 7  # any tensor can be fed
    assert run([c, d], {(a, b): (np.ones((1, 2)), 2)})[1] == 4
    assert run([c, d], {((a,), (b,)): ((np.ones((1, 2)),), (2,))})[1] == 4


@pytest.mark.parametrize("feeds, kind, words", [
    ({"a:0": np.ones(3)}, ValueError, r"Cannot feed value of shape \(3,\) for Tensor a:0, which has shape \(None, 2\)"),
    ({"Placeholder:0": 2**40}, TypeError, "not compatible with Tensor type"),
    ({"Placeholder:0": "x"}, ValueError, "invalid literal"),
    ({"Placeholder:0": None}, TypeError, "NoneType"),
    ({"Placeholder:0": [[1], [2, 3]]}, ValueError, "inhomogeneous"),
    ({"none:0": 1}, TypeError, "Cannot interpret feed_dict key as Tensor"),
    ({3: 1}, TypeError, "Cannot interpret feed_dict key as Tensor"),
    ([1], TypeError, "must be a dictionary"),
])
def test_feeds_that_do_not_fit(place, feeds, kind, words):
    with pytest.raises(kind, match=words):
        place.session.run([place.c, place.d], feeds)


def test_fetches_that_do_not_fit(place):
    run = place.session.run
    for bad in (None, [place.c, None]):
        with pytest.raises(TypeError, match="Cannot be None"):
            run(bad, {place.a: place.x})
    with pytest.raises(TypeError, match="must be a string or Tensor"):
        run(3)
    for bad in ("zzz", "zzz:0"):
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            run(bad)
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match="not an element of this graph"):
        run(other)
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        run(place.c, {other: 1.0})


def test_errors_while_running(place):
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor"):
        place.session.run(place.c)
    with place.graph.as_default():  # also where a graph is being built
        with pytest.raises(tf.errors.InvalidArgumentError):
            place.session.run(place.c)
        checked = tf.debugging.check_numerics(place.a, "bad")
    with pytest.raises(tf.errors.InvalidArgumentError):
        place.session.run(checked, {place.a: [[np.nan, 1.0]]})


def test_composites():
    with tf.Graph().as_default(), v1.Session() as session:
        sparse = v1.sparse_placeholder(tf.float32)
        doubled = tf.SparseTensor(sparse.indices, sparse.values * 2, sparse.dense_shape)
        for value in (v1.SparseTensorValue([[0, 0]], [3.0], [2, 2]), ([[0, 0]], [3.0], [2, 2])):
            got = session.run(doubled, {sparse: value})
            assert isinstance(got, v1.SparseTensorValue)
            assert got.values.tolist() == [6.0] and got.dense_shape.tolist() == [2, 2]
        slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]))
        got = session.run([slices])[0]
        assert got.values.tolist() == [[1.0]] and got.indices.tolist() == [4] and got.dense_shape is None


def test_eager_values_are_given_as_they_are():
    c = tf.add(tf.constant([1]), tf.constant([2]))
    with v1.Session() as session:
        assert session.run(c).tolist() == [3]
        assert session.run({"c": c, "v": eager_variable})["v"].tolist() == [[1.0, 1.0]]


def test_empty_graph():
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            v1.Session().run([])


def test_results_are_the_programs_own(place):
    with place.graph.as_default():
        fixed = tf.constant(np.arange(100, dtype=np.float32))
        variable = v1.Variable(np.zeros(100, np.float32))
        place.session.run(variable.initializer)
    for fetch in (fixed, variable):
        before = place.session.run(fetch)
        changed = place.session.run(fetch)
        changed += 1
        assert (place.session.run(fetch) == before).all()
    fed = np.ones((2, 2), np.float32)
    got = place.session.run(place.a, {place.a: fed})
    got[:] = 5
    assert (fed == 1).all()


def test_closed(place):
    place.session.close()
    place.session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        place.session.run(place.c, {place.a: place.x})


def test_defaults(place):
    outside = v1.get_default_graph()
    session = v1.Session(graph=place.graph)
    inner = len(place.graph.get_operations())
    with session as entered:
        assert entered is session and v1.get_default_session() is session
        assert v1.get_default_graph() is place.graph and session.graph is place.graph
        assert (place.c.eval({place.a: place.x}) == TWO).all()
        assert place.both.run({place.a: place.x, place.b: 1}) is None
        tf.constant(1.0)
        assert len(place.graph.get_operations()) == inner + 1
    with pytest.raises(RuntimeError):
        session.run(place.c)
    session = v1.Session(graph=place.graph)
    before = v1.get_default_graph()
    with session.as_default():
        assert v1.get_default_session() is session and v1.get_default_graph() is before
    assert outside is before
    with pytest.raises(TypeError, match="must be a tf.Graph"):
        v1.Session(graph=3)


def test_no_default_session():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No default session is registered"):
            tf.constant(1.0).eval()


def test_interactive():
    graph = tf.Graph()
    with graph.as_default():
        c = tf.constant(3.0) + 1.0
    session = v1.InteractiveSession(graph=graph)
    try:
        assert c.eval() == 4.0 and v1.get_default_graph() is graph
    finally:
        session.close()
    assert v1.get_default_session() is None and v1.get_default_graph() is not graph


def test_placeholders_outside_all_graphs():
    v1.reset_default_graph()
    a, b = tf.placeholder(tf.int32), tf.placeholder(tf.int32, shape=[])
    c = tf.add(a, b) * tf.constant(2)
    assert a.graph is c.graph is v1.get_default_graph()
    with tf.Session() as session:
        for k in range(20):
            assert session.run(c, feed_dict={a: k, b: 2 * k}) == 6 * k
    v1.reset_default_graph()
    assert v1.get_default_graph() is not a.graph


def test_make_callable_and_what_there_is_not(place):
    call = place.session.make_callable([place.c, place.d], [place.a, place.b])
    assert call(place.x, 3)[1] == 6 and (call(place.x, 3)[0] == TWO).all()
    with pytest.raises(TypeError):
        call(place.x)
    with pytest.raises(NotImplementedError, match="partial runs"):
        place.session.partial_run_setup([place.c], [place.a])
    assert [n.name for n in place.session.graph_def.node] == [op.name for op in place.graph.get_operations()]
    assert [d.device_type for d in place.session.list_devices()] == ["CPU"]
    config = v1.ConfigProto(allow_soft_placement=True, gpu_options=v1.GPUOptions(allow_growth=True))
    config.graph_options.optimizer_options.global_jit_level = 1
    options, kept = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), v1.RunMetadata()
    with v1.Session(graph=place.graph, config=config) as session:
        assert session.run(place.d, {place.b: 1}, options=options, run_metadata=kept) == 2


def test_placeholder_with_default():
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.placeholder_with_default(tf.constant([1.0, 2.0]), [None])
        assert session.run(w).tolist() == [1.0, 2.0] and session.run(w, {w: [4.0]}).tolist() == [4.0]


def test_tensors_of_a_graph_are_keys():
    graph = tf.Graph()
    with graph.as_default():
        a, b = v1.placeholder(tf.float32, name="a"), v1.placeholder(tf.float32)
        assert (a == a) is True and (a == b) is False and (a != b) is True and (a == 1) is False
        assert {a: 1}[graph.get_tensor_by_name("a:0")] == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(tf.constant(1.0))


def test_values_of_variables_belong_to_sessions():
    with tf.Graph().as_default():
        v = v1.Variable(1.0)
        first, second = v1.Session(), v1.Session()
        first.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            second.run(v)
        second.run(v.initializer)
        first.run(v.assign(5.0))
        assert first.run(v) == 5.0 and second.run(v) == 1.0


def test_gradients_taken_in_a_loop_are_forgotten():
    graph = tf.Graph()
    with graph.as_default():
        v = v1.get_variable("v", [3], initializer=v1.ones_initializer())
        loss = tf.reduce_sum(tf.square(v))
        sess = v1.Session(graph=graph)
        sess.run(v1.global_variables_initializer())
        for _ in range(40):
            assert sess.run(tf.gradients(loss, v)[0]).tolist() == [2.0, 2.0, 2.0]
        few = len(graph.get_operations())
        for _ in range(40):
            sess.run(tf.gradients(loss, v)[0])
        assert len(graph.get_operations()) == few


def taped(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@pytest.mark.parametrize("make", [
    lambda x: v1.py_func(lambda a: a * np.float32(2), [x], tf.float32),
    lambda x: tf.py_function(lambda a: a * 2.0, [x], tf.float32),
    lambda x: tf.function(lambda y: y * 2.0)(x),
    lambda x: tf.cond(x[0] > 0.0, lambda: x, lambda: -x),
    lambda x: tf.map_fn(lambda e: e * 2.0, x),
    lambda x: tf.random.normal([2]) + x,
    taped,
], ids=["py_func", "py_function", "function", "cond", "map_fn", "random", "tape"])
def test_whatever_a_loop_adds_is_forgotten(make):
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2])
        sess = v1.Session(graph=graph)
        for k in range(60):
            sess.run(make(x), {x: [1.0, 2.0]})
            if k == 39:
                few = len(graph.get_operations())
        assert len(graph.get_operations()) == few


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_variable_is_a_loss(use_resource):
    with tf.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", initializer=10.0, use_resource=use_resource)
        step = v1.train.GradientDescentOptimizer(0.5).minimize(v)
        sess.run(v1.global_variables_initializer())
        sess.run([step])
        assert sess.run(v) == 9.5


def test_train_ops_made_in_a_loop_are_forgotten():
    graph = tf.Graph()
    with graph.as_default():
        v = v1.get_variable("v", [], initializer=v1.ones_initializer())
        loss = tf.square(v)
        optimizer = v1.train.GradientDescentOptimizer(0.25)
        first = optimizer.minimize(loss)
        sess = v1.Session(graph=graph)
        sess.run(v1.global_variables_initializer())
        for _ in range(40):
            sess.run(optimizer.minimize(loss))
        few = len(graph.get_operations())
        for _ in range(400):
            sess.run(optimizer.minimize(loss))
        assert len(graph.get_operations()) == few and len(graph._names) < 400
        kept = graph.get_collection(v1.GraphKeys.TRAIN_OP)
        assert kept[0] is first and len(kept) < 40
        assert v1.GraphKeys.TRAIN_OP in graph.get_all_collection_keys()


def test_names_are_free_as_in_tensorflow():
    graph = tf.Graph()
    names = [graph.unique_name(n) for n in ["a", "a", "a_1", "a_2", "a_2", "A", "a_01", "a", "b_1", "b", "b", "b", "c_3",
                                            "c", "c", "c", "c", "c_3_1", "c_3"]]
    assert names == ["a", "a_1", "a_1_1", "a_2", "a_2_1", "A_3", "a_01", "a_4", "b_1", "b", "b_2", "b_3", "c_3", "c",
                     "c_1", "c_2", "c_4", "c_3_1", "c_3_2"]


def test_a_graph_that_grows_while_it_is_run_stays_small():
    graph = tf.Graph()
    with graph.as_default():
        w = v1.get_variable("w", [32], initializer=v1.zeros_initializer())
        session = v1.Session(graph=graph)
        session.run(w.initializer)
        kept = []
        for k in range(400):
            c = tf.add(tf.constant([k]), tf.constant([2 * k]))
            assert session.run(c)[0] == 3 * k
            assert session.run(w.assign(np.full(32, k, np.float32)))[5] == k
            if k % 100 == 0:
                kept.append((k, c, tf.identity(c, name=f"kept_{k}")))
        assert len(graph.get_operations()) < 250
        for k, c, named in kept:  # what the program holds is as it was
            assert session.run([c, named])[1][0] == 3 * k
            assert session.run(f"kept_{k}:0")[0] == 3 * k
        assert session.run(w)[0] == 399


def test_it_stays_small_outside_of_it_too():
    v1.reset_default_graph()
    a = tf.placeholder(tf.int32)
    session = tf.Session()
    for k in range(200):
        b = tf.add(a, k) * 2
        assert session.run(b, {a: 1}) == 2 * (k + 1)
    assert len(a.graph.get_operations()) < 100
    v1.reset_default_graph()


def test_a_graph_built_first_keeps_everything():
    graph = tf.Graph()
    with graph.as_default():
        for k in range(50):
            tf.constant(k)
        session = v1.Session(graph=graph)
        for _ in range(50):
            session.run([tf.constant(1)] if _ == 0 else "Const:0")
        assert len(graph.get_operations()) == 51


def test_nothing_is_left_behind():
    def round_trip():
        graph = tf.Graph()
        with graph.as_default():
            a = v1.placeholder(tf.float32)
            v = v1.Variable(np.ones(1000, np.float32))
            c = v * a
        with v1.Session(graph=graph) as session:
            session.run(v.initializer)
            session.run([c, c.op], {a: 2.0})

    def counted():
        gc.collect()
        return sum(isinstance(o, (tf.Graph, v1.Session, tf.Variable)) for o in gc.get_objects())

    round_trip()
    before = counted()
    for _ in range(20):
        round_trip()
    assert counted() <= before


def test_threads_share_a_session(place):
    wrong = []

    def work(n):
        for k in range(200):
            if place.session.run(place.d, {place.b: n * 1000 + k}) != 2 * (n * 1000 + k):
                wrong.append((n, k))
            if not (place.session.run(place.c, {place.a: np.full((50, 2), k)}) == k + 1).all():
                wrong.append((n, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_default_sessions_are_left_in_the_reverse_order():
    with tf.Graph().as_default():
        first, second = v1.Session().as_default(), v1.Session().as_default()
        outer = first.__enter__()
        inner = second.__enter__()
        with pytest.raises(AssertionError, match="Nesting violated"):
            first.__exit__(None, None, None)
        assert v1.get_default_session() is inner
        second.__exit__(None, None, None)
        assert v1.get_default_session() is outer
        first.__exit__(None, None, None)
        assert v1.get_default_session() is None
