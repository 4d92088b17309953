"""Monitored sessions and their hooks."""
import logging

import numpy as np


def _raised(f):
    try:
        return f()
    except Exception as e:  # noqa: BLE001 (which one is the answer)
        return type(e).__name__


def _model(tf):
    v1 = tf.compat.v1
    step = v1.train.get_or_create_global_step()
    w = v1.get_variable("w", initializer=1.0, use_resource=True)
    loss = w * w
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return step, w, loss, train


class _Told(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def _recorder(tf):
    class Recorder(tf.compat.v1.train.SessionRunHook):
        def __init__(self):
            self.seen = []

        def begin(self):
            self.seen.append("begin")

        def after_create_session(self, session, coord):
            self.seen.append("created")

        def before_run(self, run_context):
            self.seen.append("before")
            return tf.compat.v1.train.SessionRunArgs({"step": tf.compat.v1.train.get_global_step()})

        def after_run(self, run_context, run_values):
            self.seen.append(["after", sorted(run_values.results), run_context.original_args.feed_dict is None])

        def end(self, session):
            self.seen.append(["end", int(session.run(tf.compat.v1.train.get_global_step()))])

    return Recorder()


def calls(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        hook = _recorder(tf)
        with v1.train.MonitoredSession(hooks=[hook, v1.train.StopAtStepHook(last_step=3)]) as sess:
            made = []
            while not sess.should_stop():
                made.append([round(float(v), 5) for v in sess.run([loss, train])[:1]])
    return made, hook.seen


def stop_after(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        count = 0
        with v1.train.MonitoredTrainingSession(hooks=[v1.train.StopAtStepHook(num_steps=4)]) as sess:
            while not sess.should_stop():
                sess.run(train)
                count += 1
            stopped = sess.should_stop()
    return count, stopped


def no_end_after_error(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        hook = _recorder(tf)

        def run():
            with v1.train.MonitoredSession(hooks=[hook]) as sess:
                sess.run(train)
                raise ValueError("x")

        return _raised(run), hook.seen


def out_of_range_ends(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        got = []
        with v1.train.MonitoredSession() as sess:
            while not sess.should_stop():
                got.append(int(sess.run(x)))
    return got


def run_after_close(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        sess = v1.train.MonitoredSession()
        sess.run(train)
        sess.close()
        return _raised(lambda: sess.run(train)), sess.should_stop()


def logged(tf, tmp):
    v1 = tf.compat.v1
    told, log = _Told(), logging.getLogger("tensorflow")
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(told)
    try:
        with tf.Graph().as_default():
            step, w, loss, train = _model(tf)
            hooks = [v1.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=2,
                                                formatter=lambda d: "loss %.3f of %d" % (d["loss"], len(d))),
                     v1.train.LoggingTensorHook([loss.name], at_end=True, formatter=lambda d: "end %d" % len(d)),
                     v1.train.StopAtStepHook(last_step=5)]
            with v1.train.MonitoredSession(hooks=hooks) as sess:
                while not sess.should_stop():
                    sess.run(train)
    finally:
        log.removeHandler(told)
        log.setLevel(level)
    return [t for t in told.lines if t.startswith(("loss", "end"))]


def not_a_number(tf, tmp):
    v1 = tf.compat.v1
    made = []
    for fail in (True, False):
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [])

            def run():
                count = 0
                with v1.train.MonitoredSession(hooks=[v1.train.NanTensorHook(x, fail_on_nan_loss=fail)]) as sess:
                    for v in (1.0, float("nan"), 2.0):
                        if sess.should_stop():
                            break
                        sess.run(x, {x: v})
                        count += 1
                return count

            made.append(_raised(run))
    return made


def final_and_fed(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        x, y = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        z = x + y
        final = v1.train.FinalOpsHook(x * 10.0, {x: 5.0})
        with v1.train.MonitoredSession(hooks=[final, v1.train.FeedFnHook(lambda: {x: 3.0})]) as sess:
            made = [sess.run(z, {y: 4.0}), _raised(lambda: sess.run(z, {x: 1.0, y: 4.0}))]
    return made, final.final_ops_values


def scaffolds(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0, use_resource=True)
        b = v1.get_variable("b", initializer=5.0, use_resource=True, collections=[v1.GraphKeys.LOCAL_VARIABLES])
        x = v1.placeholder(tf.float32, [])
        set_w = w.assign(x)
        s = v1.train.Scaffold(init_op=set_w, init_feed_dict={x: 7.0}, init_fn=lambda scaffold, sess: sess.run(set_w, {x: 8.0}))
        with v1.train.SingularMonitoredSession(scaffold=s) as sess:
            made = [sess.run([w, b]), sess.raw_session().graph is tf.compat.v1.get_default_graph(), sess.graph.finalized]
        made.append(tf.compat.v1.get_default_graph().finalized)
    return made


def not_initialized(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.get_variable("w", initializer=1.0, use_resource=True)
        return v1.train.MonitoredSession(v1.train.ChiefSessionCreator(v1.train.Scaffold(init_op=tf.no_op())))


def step_functions(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        hook = _recorder(tf)

        def step_fn(step_context):
            raw = step_context.session.run(step)
            step_context.run_with_hooks(train)
            if raw == 2:
                step_context.request_stop()
            return int(raw)

        got = []
        with v1.train.MonitoredSession(hooks=[hook]) as sess:
            while not sess.should_stop():
                got.append(sess.run_step_fn(step_fn))
    return got, len(hook.seen)


def summaries(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        step, w, loss, train = _model(tf)
        op = v1.summary.scalar("loss", loss)
        hook = v1.train.SummarySaverHook(save_steps=2, output_dir=tmp, summary_op=op)
        with v1.train.MonitoredSession(hooks=[hook, v1.train.StopAtStepHook(last_step=5)]) as sess:
            while not sess.should_stop():
                sess.run(train)
        v1.summary.FileWriterCache.clear()
    import glob

    seen = []
    for name in sorted(glob.glob(tmp + "/events*")):
        for e in v1.train.summary_iterator(name):
            seen += [[int(e.step), v.tag, round(float(v.simple_value), 4)] for v in e.summary.value]
    return seen


def timers(tf, tmp):
    t = tf.compat.v1.train.SecondOrStepTimer(every_steps=3)
    made = []
    for k in range(8):
        made.append(t.should_trigger_for_step(k))
        if made[-1]:
            t.update_last_triggered_step(k)
    return made, t.last_triggered_step(), _raised(lambda: tf.compat.v1.train.SecondOrStepTimer()), np.array(
        [t.update_last_triggered_step(9)[1]])


def wrong_hooks(tf, tmp):
    t = tf.compat.v1.train
    return [_raised(f) for f in (lambda: t.StopAtStepHook(), lambda: t.StopAtStepHook(1, 2), lambda: t.LoggingTensorHook(["a"]),
                                 lambda: t.LoggingTensorHook(["a"], every_n_iter=0), lambda: t.SummarySaverHook(save_steps=1),
                                 lambda: t.StepCounterHook(every_n_steps=1, every_n_secs=1))]
