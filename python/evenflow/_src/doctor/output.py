"""E501: what a program writes."""
from .causes import Finding, amount, cause, times


@cause("E501", "checkpoint-growth: saving again and again",
       "Saving takes longer each time, or takes the time of the steps.",
       "save: checkpoints and files of weights, and the objects made to write them, by line (counted under the doctor)",
       wrong="""
for step in range(10000):
    train(x)
    tf.train.Checkpoint(model=model).write(path)     # a new one, at each step
""", right="""
checkpoint = tf.train.Checkpoint(model=model)        # once, above the loop
for step in range(10000):
    train(x)
    if step % 1000 == 0:
        checkpoint.write(path)
""")
def checkpoint_growth(seen):
    made = {(r.place.file, r.place.function): r for r in seen.rows("save", "first", by=("function",))}
    for row in seen.rows("save", "none", by=("place",)):
        if row.count < 20:
            continue
        writers = made.get((row.place.file, row.place.function))  # often on the line above
        slower = row.late_us / max(row.early_us, 1e-9)
        again = writers is not None and writers.count >= 20
        if not again and slower < 1.5 and row.ms < 0.1 * seen.wall_ms:
            continue
        what = f"{times(row.count)} files were saved here, {amount(row.ms / row.count)} each"
        fix = "save every so many steps, or from a callback at the end of an epoch"
        if slower >= 1.5 and row.samples >= 32:
            what += f"; the first took {amount(row.early_us / 1e3)}, the last {amount(row.late_us / 1e3)}"
        if again:
            what, fix = f"{what}; a saver was made {times(writers.count)} times", f"make it once, above the loop, and {fix}"
        yield Finding("E501", row.place, row.count, what, fix, cost_ms=row.ms, priced_by="checkpoint")
