"""tf.summary and tf.compat.v1.summary: what stands in the event files, message by message."""
import glob
import os

import numpy as np


def _events(tf, folder):
    """The events of the only file in the folder, as text without the time; the first one names the format."""
    [path] = glob.glob(os.path.join(folder, "events.out.tfevents.*"))
    made = []
    for event in tf.compat.v1.train.summary_iterator(path):
        event.wall_time = 0
        event.ClearField("source_metadata")
        made.append(str(event))
    return made


def _write(tf, tmp, body, **options):
    writer = tf.summary.create_file_writer(tmp, **options)
    with writer.as_default():
        made = body()
    writer.close()
    return [made, _events(tf, tmp)]


def scalars(tf, tmp):
    def body():
        made = [tf.summary.scalar("a", 1.5, step=3), tf.summary.scalar("int", 7, step=-1, description="*what*"),
                tf.summary.scalar("f64", np.float64(0.1), step=np.int32(4)), tf.summary.scalar("nan", float("nan"), step=0),
                tf.summary.scalar("odd name: x^2", tf.constant(True), step=tf.constant(2, tf.int64))]
        with tf.name_scope("outer"), tf.name_scope("inner"):
            tf.summary.scalar("b", tf.Variable(2.0), step=tf.Variable(5, dtype=tf.int64))
        return made

    return _write(tf, tmp, body)


def scalar_of_a_vector(tf, tmp):
    try:
        _write(tf, tmp, lambda: tf.summary.scalar("a", [1.0, 2.0], step=0))
    except Exception:
        return "refused"


def step_of_int32(tf, tmp):
    return _write(tf, tmp, lambda: tf.summary.scalar("a", 1.0, step=tf.constant(2)))


def histograms(tf, tmp):
    def body():
        x = np.array([1.0, 2.0, 2.0, 3.0, 10.0, -4.0], np.float32)
        tf.summary.histogram("four", x, step=0, buckets=4)
        tf.summary.histogram("thirty", x.reshape(2, 3), step=0)
        tf.summary.histogram("equal", np.full([5], 2.5, np.float32), step=1, buckets=3)
        tf.summary.histogram("empty", np.zeros([0], np.float32), step=1, buckets=3)
        tf.summary.histogram("none", x, step=1, buckets=0)
        tf.summary.histogram("ints", np.arange(10), step=1, buckets=5)
        tf.summary.histogram("half", tf.cast(x, tf.float16), step=1, buckets=2, description="d")
        tf.summary.histogram("bools", tf.constant([True, False, True]), step=1, buckets=2)

    return _write(tf, tmp, body)


def images(tf, tmp):
    def body():
        x = np.linspace(-0.2, 1.2, 4 * 2 * 3 * 3).reshape(4, 2, 3, 3).astype(np.float32)
        tf.summary.image("float", x, step=0)
        tf.summary.image("all", x, step=0, max_outputs=9, description="d")
        tf.summary.image("bytes", (np.arange(12) * 20).astype(np.uint8).reshape(1, 3, 4, 1), step=1)
        tf.summary.image("no", x, step=1, max_outputs=0)

    return _write(tf, tmp, body)


def texts(tf, tmp):
    def body():
        tf.summary.text("one", "hello *world*", step=0)
        tf.summary.text("table", [["a", "b"], ["c", ""]], step=tf.constant(1, tf.int64), description="d")

    return _write(tf, tmp, body)


def text_of_numbers(tf, tmp):
    return _write(tf, tmp, lambda: tf.summary.text("a", tf.constant(1), step=0))


def sounds(tf, tmp):
    def body():
        x = np.linspace(-1.1, 1.1, 24).reshape(3, 4, 2).astype(np.float32)
        tf.summary.audio("two", x, 8000, step=0, max_outputs=2)
        tf.summary.audio("mono", x[:1, :, :1], tf.constant(44100), step=0, encoding="wav", description="d")

    return _write(tf, tmp, body)


def generic(tf, tmp):
    def body():
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = "mine"
        metadata.plugin_data.content = b"\x01\x02"
        with tf.summary.experimental.summary_scope("x: y", "kind", [1]) as (tag, _):
            tf.summary.write(tag, tf.constant([[1, 2, 3]]), step=4, metadata=metadata)
        tf.summary.write("bytes", tf.constant([b"a", b""]), step=4, metadata=metadata.SerializeToString())
        tf.summary.write("called", lambda: tf.constant(1 + 2j), step=5)
        summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="t", simple_value=2.0)])
        return tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=6)

    return _write(tf, tmp, body)


def raw_ops(tf, tmp):
    writer = tf.summary.create_file_writer(tmp)
    handle = writer._resource
    tf.raw_ops.WriteScalarSummary(writer=handle, step=7, tag="s", value=tf.constant(3, tf.uint8))
    tf.raw_ops.WriteHistogramSummary(writer=handle, step=7, tag="h", values=[1.0, 2.0, 2.0, -3.0, 10.0, 0.0, 1e30, -1e-20])
    tf.raw_ops.WriteHistogramSummary(writer=handle, step=7, tag="h0", values=tf.constant([], tf.float64))
    color = np.array([255, 0, 9, 255], np.uint8)
    for name, x in (("pos", np.linspace(0, 3, 12)), ("neg", np.linspace(-1, 2, 12)), ("flat", np.zeros(12)),
                    ("bad", np.array([np.nan, 1, 2, np.inf] * 3))):
        tf.raw_ops.WriteImageSummary(writer=handle, step=7, tag=name, tensor=x.reshape(2, 2, 3, 1).astype("f"), bad_color=color)
    tf.raw_ops.WriteImageSummary(writer=handle, step=7, tag="one", tensor=np.arange(24, dtype=np.uint8).reshape(1, 2, 3, 4),
                                 bad_color=color, max_images=1)
    tf.raw_ops.WriteAudioSummary(writer=handle, step=7, tag="a", tensor=np.linspace(-2, 2, 8).reshape(2, 4).astype("f"),
                                 sample_rate=8000.4)
    tf.raw_ops.WriteGraphSummary(writer=handle, step=0, tensor=b"\x22\x00")
    writer.close()
    return _events(tf, tmp)


def in_a_function(tf, tmp):
    writer, step, on = tf.summary.create_file_writer(tmp), tf.Variable(0, dtype=tf.int64), tf.Variable(True)

    @tf.function
    def train(x):
        step.assign_add(1)
        made = tf.summary.scalar("loss", tf.reduce_sum(x))
        tf.summary.histogram("x", x, step=step * 10, buckets=2)
        with tf.summary.record_if(on):
            tf.summary.text("on", tf.strings.as_string(step))
        with tf.summary.record_if(lambda: tf.equal(step % 2, 0)), tf.name_scope("even"):
            tf.summary.image("i", tf.reshape(x, [1, 1, 2, 1]))
        return made

    made = []
    with writer.as_default(step):
        for k in range(4):
            on.assign(k != 2)
            made.append(train(tf.constant([1.0, float(k)])))
    writer.close()
    return [made, _events(tf, tmp)]


def conditions(tf, tmp):
    def body():
        made = []
        for condition in (True, False, tf.constant(False), lambda: True, lambda: tf.constant(False)):
            with tf.summary.record_if(condition):
                made.append((tf.summary.should_record_summaries(), tf.summary.scalar("a", len(made), step=0)))
        return made

    return _write(tf, tmp, body)


def default_step(tf, tmp):
    writer = tf.summary.create_file_writer(tmp)
    tf.summary.experimental.set_step(11)
    made = [tf.summary.experimental.get_step()]
    with writer.as_default():
        tf.summary.scalar("a", 1)
        with writer.as_default(step=12):
            tf.summary.scalar("b", 1)
            made.append(tf.summary.experimental.get_step())
        tf.summary.scalar("c", 1, step=13)
    made.append(tf.summary.experimental.get_step())
    tf.summary.experimental.set_step(None)
    writer.close()
    return [made, _events(tf, tmp)]


def no_step(tf, tmp):
    return _write(tf, tmp, lambda: tf.summary.scalar("a", 1))


def step_of_rank_1(tf, tmp):
    return _write(tf, tmp, lambda: tf.summary.scalar("a", 1, step=[1, 2]))


def no_writer(tf, tmp):
    with tf.summary.create_noop_writer().as_default():
        return [tf.summary.scalar("a", 1, step=0), tf.summary.text("a", "b"), tf.summary.should_record_summaries(), os.listdir(tmp)]


def closed(tf, tmp):
    writer = tf.summary.create_file_writer(tmp)
    writer.close()
    writer.close()
    writer.flush()
    return writer.as_default()


def closed_inside(tf, tmp):
    writer = tf.summary.create_file_writer(tmp)
    with writer.as_default():
        writer.close()
        tf.summary.scalar("a", 1, step=0)


def no_folder(tf, tmp):
    return tf.summary.create_file_writer(None)


def file_name(tf, tmp):
    import re

    folder = os.path.join(tmp, "new", "folders")
    tf.summary.create_file_writer(folder, filename_suffix=".mine").close()
    tf.summary.create_file_writer(folder).close()
    return sorted(re.sub(r"\.\d{10}\..*\.\d+\.\d+\.", ".SECONDS.HOST.PID.N.", name) for name in os.listdir(folder))


def session(tf, tmp):
    with tf.Graph().as_default():
        writer = tf.summary.create_file_writer(tmp)
        step = tf.compat.v1.placeholder(tf.int64, [])
        with writer.as_default():
            tf.summary.scalar("a", tf.cast(step, tf.float32) / 2, step=step)
        ops = tf.compat.v1.summary.all_v2_summary_ops()
        with tf.compat.v1.Session() as session:
            session.run(writer.init())
            for k in range(3):
                session.run(ops, {step: k})
            session.run(writer.close())
    return [len(ops), _events(tf, tmp)]


def v1_ops(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2, 2])
        s = v1.summary
        s.scalar("mean value", tf.reduce_mean(x))
        s.histogram("h", x, family="fam")
        s.image("i", tf.reshape(x, [1, 2, 2, 1]), max_outputs=1)
        s.audio("au", x, 8000.0)
        s.text("t", tf.constant(["a", "b"]))
        s.tensor_summary("ts", x, summary_description="d", display_name="n")
        with tf.name_scope("scope"):
            s.scalar("inner", 1)
            s.scalar("inner", 2, family="f")
        other = s.scalar("other", 3, collections=["c"])
        merged, rest = s.merge_all(), s.merge_all("c")
        with v1.Session() as session, s.FileWriter(tmp) as writer:
            for k in range(2):
                made = session.run([merged, rest, other], {x: [[1.0, k], [2.0, -k]]})
                writer.add_summary(made[0], k)
            writer.add_summary(made[1])
            writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 5)
            writer.add_event(v1.Event(step=9, summary=v1.Summary(value=[v1.Summary.Value(tag="x", simple_value=1.0)])))
            assert writer.get_logdir() == tmp
    return [s.merge_all.__name__, _events(tf, tmp)]


def v1_nothing(tf, tmp):
    with tf.Graph().as_default():
        return tf.compat.v1.summary.merge_all()


def v1_eager_writer(tf, tmp):
    return tf.compat.v1.summary.FileWriter(tmp)


def v1_same_tag(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        a = tf.raw_ops.ScalarSummary(tags="a", values=1.0)
        return session.run(tf.compat.v1.summary.merge([a, a]))


def v1_nan_histogram(tf, tmp):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.compat.v1.summary.histogram("h", [float("nan")]))


def wav(tf, tmp):
    x = np.linspace(-1.2, 1.2, 12).reshape(6, 2).astype(np.float32)
    made = tf.audio.encode_wav(x, 16000)
    return [made, tf.audio.decode_wav(made), tf.audio.decode_wav(made, 1, 4), tf.audio.decode_wav(made, desired_samples=8)]


def not_wav(tf, tmp):
    return tf.audio.decode_wav(b"RIFF....")


def messages(tf, tmp):
    v1 = tf.compat.v1
    event = v1.Event(wall_time=1.5, step=3, log_message=v1.LogMessage(level=v1.LogMessage.WARN, message="m"))
    copy = v1.Event.FromString(event.SerializeToString())
    metadata = v1.SummaryMetadata(display_name="d")
    metadata.plugin_data.plugin_name = "p"
    histogram = v1.HistogramProto(min=1, max=2, bucket_limit=[1, 2], bucket=[0, 1])
    return [str(copy), copy.WhichOneof("what"), copy == event, str(metadata), histogram.SerializeToString(),
            str(v1.Summary(value=[v1.Summary.Value(tag="a", metadata=metadata, histo=histogram)]))]


def tensor_messages(tf, tmp):
    made = []
    for values, options in ((1, {}), (2.5, {}), ([1, 2, 3], {}), ([[1.5], [2]], {}), ("a", {}), ([b"x", b""], {}), (True, {}),
                            (1, {"dtype": tf.int64}), ([1, 2], {"dtype": tf.float16}), (1.5, {"dtype": tf.bfloat16}), (1 + 2j, {}),
                            (np.arange(4, dtype=np.uint8), {"shape": [2, 2]}), (np.zeros([0, 3], np.float64), {}),
                            (7, {"shape": [2, 3]}), ([1.0], {"shape": [2, 1], "allow_broadcast": True})):
        proto = tf.make_tensor_proto(values, **options)
        back = tf.make_ndarray(proto)
        made.append([str(proto), str(back.dtype), list(back.shape), [str(v) for v in back.ravel().tolist()]])
    return made


def tensor_message_shape(tf, tmp):
    return tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)


def v1_graph(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("part"):
            tf.identity(x * tf.constant([1.5, 2.5]), name="y")
        tf.make_tensor_proto([1, 2])
        v1.summary.FileWriter(tmp, graph).close()
    [path] = glob.glob(os.path.join(tmp, "events*"))
    found = [e.graph_def for e in v1.train.summary_iterator(path) if e.WhichOneof("what") == "graph_def"]
    nodes = v1.GraphDef.FromString(found[0]).node
    return [(n.name, n.op, list(n.input), n.attr["_output_shapes"].list.shape[0].dim[0].size) for n in nodes]
