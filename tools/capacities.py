"""The fixed capacities of the engine and the extension: what happens beyond each, and the reason for the limit.

docs/health.md shows them with their values in the source. It is an error if a name is no longer in its
file, or if a constant whose name contains MAX, MOST, DEPTH or a similar word is missing here."""
import re

import source

# (file, constants, what happens beyond, why)
ROWS = [
    ("include/evenflow.h", "EF_MAX_RANK", "rejected with an error",
     "a shape is stored inside its tensor, without an allocation"),
    ("src/tensor/shape.h", "EF_MAX_SYMBOLS", "further sizes stay constants, so each needs its own trace",
     "a symbol is 6 bits of a dim"),
    ("src/tensor/storage.c", "INLINE_MOST", "the data gets its own block", "a small tensor is one block"),
    ("src/file/bundle_read.c", "INDEX_MOST SHARDS_MOST", "rejected with an error",
     "an index is read as a whole; shards have five digits"),
    ("src/base/option.c", "OPTIONS NAME VALUE", "read from the environment each time", "options are needed before memory can be allocated"),
    ("src/base/small_blocks.c", "SIZES KEPT_BYTES", "taken from the allocator", "the free list of a thread is bounded"),
    ("src/base/pool.c", "TEAM", "further cores stay idle", "every slot has a share for each thread"),
    ("src/base/pool.c", "SLOTS", "further callers run their work alone", "a thread searches all of them"),
    ("src/base/pool.c", "MOST_PIECES", "pieces are larger", "pieces are counted in an int"),
    ("src/base/budget.c", "AT_ONCE", "evicted in the next pass", "the entries that are removed under one lock"),
    ("src/base/quota.c", "PATH", "that control group sets no limit", "paths that the kernel makes"),
    ("src/base/mutex.c", "MOST_HELD", "further locks are not checked", "the check runs in debugging builds only"),
    ("src/base/mutex.c", "MOST_PATIENCE", "the bias changes no more rarely", "a count that doubles"),
    ("src/base/making.c", "MOST_MS", "the entry is made twice", "the thread that makes it may be lost, as in a fork's child"),
    ("src/device/device.h", "EF_DEVICE_MOST", "rejected with an error", "a plan has room for a copy of each value on each device"),
    ("src/device/chunk.h", "EF_BLOCK_MOST", "mapped as a region", "the largest block that is cut from a chunk"),
    ("src/device/memory.c", "CACHED_MOST", "taken under the lock", "the free list of a thread is bounded"),
    ("src/device/holder.c", "LABELS MOST_USED MOST_LISTED MOST_PLACES", "counted together, without a name",
     "a report of memory use must not allocate memory"),
    ("src/jit/expr.h", "EF_JIT_MAX_VALUES", "not compiled: the tile function runs", "values are on the stack while code is generated"),
    ("src/jit/jit.h", "EF_JIT_MAX_INS EF_JIT_MAX_IN EF_JIT_MAX_OPERANDS", "not compiled: the tile function runs",
     "as large as a tile program; an assertion checks it"),
    ("src/jit/x86.h", "EF_X86_ROOM", "not compiled: the tile function runs",
     "the buffer in which code is generated; a tile program needs less"),
    ("src/file/whole_file.c", "STREAM_MOST", "rejected with an error", "a file that is not regular, such as a pipe, may never end"),
    ("src/file/input.c", "BUFFER_MOST", "the buffer has this size", "a program may request any size"),
    ("src/file/image_jpeg.c", "PIXELS_MOST SCANS_MOST MEMORY_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_png.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_gif.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_bmp.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/reader.h", "EF_RECORD_MOST", "rejected with an error", "a record is one string"),
    ("src/ops/io/decode_raw.c", "COMPRESSED_MOST", "rejected with an error", "compressed data can grow a thousandfold"),
    ("src/ops/io/tensor_proto.c", "REPEATED_MOST", "rejected with an error", "a few bytes could request any amount of memory"),
    ("src/ops/infer.c", "OUTPUTS_MOST", "rejected with an error", "the outputs are allocated before the op runs"),
    ("src/ops/op.h", "EF_MAX_ARGS EF_MAX_ATTRS EF_MAX_KERNELS EF_MAX_EXAMPLES", "does not compile",
     "records of ops are constants; lists of inputs have any length"),
    ("src/ops/attr_text.c", "MOST_WORDS MOST_LETTERS", "rejected by the tests of ops",
     "words in the records of ops"),
    ("src/ops/signature.h", "EF_DEFAULT_LIST", "the op's record is rejected by its tests", "lists in the defaults of attributes"),
    ("src/ops/example.h", "EF_EXAMPLE_MAX_IN", "the example is rejected", "examples are read by tests only"),
    ("src/ops/example.c", "MAX_VARS", "further types are not varied", "examples are read by tests only"),
    ("src/ops/elementwise.c", "MAX_IN", "rejected with an error", "no elementwise op has more inputs"),
    ("src/kernels/fft.c", "MOST_IN_LINES", "lines are transformed one by one", "several longer ones do not fit into the cache"),
    ("src/kernels/fft.c", "MOST_WORKERS", "further cores are not used", "each has scratch memory of its own"),
    ("src/ops/run_small.c", "MOST", "the op takes the usual path", "elements that fit into a tensor itself"),
    ("src/ops/state/variable.h", "EF_MAX_LOCKED", "does not occur: the records of optimizers have the number",
     "the variables that one update locks"),
    ("src/ops/registry.c", "SLOTS", "does not compile", "an index of all ops"),
    ("src/ops/array/strided.c", "MAX_ENTRIES", "rejected with an error", "masks are bits of an int64"),
    ("src/ops/random/index_shuffle.c", "MAX_ROUNDS", "rejected with an error", "a key per round; 4 are usual"),
    ("src/ops/random/distorted_box.c", "MOST_ATTEMPTS", "rejected with an error", "a call must end; 100 are usual"),
    ("src/ops/nn/ctc_beam.c", "MOST_BEAMS", "rejected with an error", "beams are allocated before the search"),
    ("src/ops/string/string_number.c", "MOST_DIGITS", "rejected with an error", "the longest double has some 1,100 digits"),
    ("include/evenflow_binding.h", "EF_EVENTS_MOST", "later events are dropped, and counted",
     "a recording for a profile: 18 MiB, allocated when the first one begins"),
    ("src/profile/event.c", "RING", "the oldest is overwritten, and counted as dropped", "events are kept for a while only"),
    ("src/profile/event.h", "EF_NOTES EF_NOTE_BYTES", "the oldest is overwritten", "events are kept for a while only"),
    ("src/profile/site.c", "WAYS SETS", "the least used place is evicted", "at most 4096 places, whatever the program does"),
    ("src/profile/live.c", "MOST_TALLIES", "does not occur: it is as large as the table", "a copy of the table of sums"),
    ("src/profile/tally.h", "EF_TALLY_WAYS EF_TALLY_SETS", "the smallest sum is added to that of unknown places",
     "at most 4096 sums, whatever the program does"),
    ("python/ext/profile.c", "MOST CODES KEPT MOST_HOLDERS", "more than the engine can have; the oldest is evicted",
     "what one call reads; code objects and results that are cached"),
    ("python/ext/function.h", "SEEN_ARGUMENTS", "further arguments are not compared", "the reason of a trace names one"),
    ("src/kernels/special.c", "MAX_TERMS", "digits are lost: `igamma(a, a)` is good to ten at 1e7, to one at 1e8",
     "a series must end; its length grows with the root of the argument"),
    ("src/kernels/random_truncated.c", "MOST_TRIES", "rejected with an error", "TensorFlow's own bound"),
    ("src/kernels/linalg_fun.c", "MOST", "the logarithm is NaN", "the square roots may not converge"),
    ("src/kernels/conv_cut.c", "MOST_PARTIALS", "parts are larger", "how work is cut for caches and threads"),
    ("src/kernels/conv_filter.c", "MOST_PARTS", "parts are larger", "how work is cut for caches and threads"),
    ("src/kernels/gemm_cut.c", "DEPTH LEAST_DEPTH", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_loop.c", "DEEP", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_packed.c", "DEPTH", "more stretches", "how work is cut for caches and threads"),
    ("src/kernels/gemm_panel.c", "DEEP", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_tiny.c", "PACK_MAX TURN_MAX", "the general product runs", "buffers on the stack"),
    ("src/graph/fold.c", "FOLD_ELEMENTS FOLD_INPUTS", "computed when the graph runs", "folding while tracing is meant for shape values"),
    ("src/graph/origin.c", "MOST", "outer lines are omitted", "lines of a program that an error shows"),
    ("src/graph/shape_values.c", "DEPTH", "the value counts as unknown", "a search at every op that is traced"),
    ("src/passes/rule.h", "EF_RULE_TOKENS EF_RULE_INNER EF_RULE_EXAMPLES", "does not compile", "rules are constants"),
    ("src/passes/match.c", "DEPTH MOST_INPUTS", "the node stays as it is", "no rule's op has more inputs"),
    ("src/passes/fused_rules.c", "MOST_OPS", "the op is not fused further", "a limit of the kernels"),
    ("src/passes/fold.c", "MOST_INPUTS MOST_ELEMENTS", "computed when the graph runs",
     "constants stay in memory as long as the graph"),
    ("src/passes/inline.c", "DEPTH MOST_NODES", "called instead of inlined", "a graph must not grow without bound"),
    ("src/passes/loop.h", "EF_LOOP_MOST_NEW", "computed in every iteration", "variables added to one loop"),
    ("src/passes/loop.c", "MOST", "the result of the loop's test is unknown before it runs", "no op of such a test has more inputs"),
    ("src/passes/loop_products.c", "MOST MOST_MEMORY", "computed in every iteration",
     "each adds at most two loop variables; lists must not take much more memory than the existing ones"),
    ("src/passes/passes.c", "DEPTH", "the inner function runs as it was traced", "the passes are recursive"),
    ("src/plan/tiles.h", "EF_TILES_MAX_INS EF_TILES_MAX_ARGS EF_TILES_MAX_REGS", "the group is split",
     "registers lie on the stack and in the first cache"),
    ("src/plan/tiles_run.h", "EF_TILES_BUFFERS", "the group is split",
     "buffers lie on the stack and in the first cache"),
    ("src/plan/tiles.h", "EF_TILES_MAX_OPERANDS", "the op is a step of its own", "no elementwise op has more inputs"),
    ("src/plan/tiles.h", "EF_TILES_MAX_TAILS", "the reduction is a step of its own", "more reductions of one group are rare"),
    ("src/plan/row_chain.h", "EF_ROW_CHAIN_PROGRAMS EF_ROW_CHAIN_ARGS", "another chain begins, or steps stay apart",
     "bits of a mask stand for the arguments of a step"),
    ("src/plan/row_chain.c", "VALUES", "another chain begins", "lists of one chain while it is planned"),
    ("src/plan/fused_reduce.c", "MOST_PARTS", "parts are larger", "how work is cut for caches and threads"),
    ("src/plan/plan_inputs.c", "DEPTH", "everything counts as needed", "a recursive search"),
    ("src/plan/lift.c", "MOST_ELEMENTS DEPTH", "computed in the call", "small constants of nested functions"),
    ("src/plan/arena.c", "DEPTH", "memory is allocated and freed each time", "the blocks that a thread caches"),
    ("src/plan/arena.c", "DEEPEST", "rejected with an error", "the thread's stack would overflow"),
    ("src/plan/loop_facts.c", "MOST_KNOWN", "inferred again each time", "they are compared one by one"),
    ("src/plan/compile.c", "MOST_KIN", "the least recently used program is evicted", "entries of a cache"),
    ("src/plan/compiled_loop.c", "MOST_NODES MOST_COUNT MOST_BYTES", "the loop is interpreted",
     "loops over few numbers"),
    ("src/plan/program.h", "EF_PROGRAM_PLANS", "the least recently used plan is evicted", "entries of a cache"),
    ("src/plan/program.c", "MOST", "fetched when it is read", "bytes that are prefetched"),
    ("src/runtime/function.h", "EF_FUNCTION_TRACES", "the least recently used trace is evicted", "entries of a cache"),
    ("src/runtime/match.c", "MOST", "sizes are checked again", "entries of a cache"),
    ("src/runtime/session.c", "REQUESTS", "the least recently used request is evicted", "entries of a cache"),
    ("src/eager/dispatch.c", "OUTPUTS_MOST", "rejected with an error", "only ops with a few outputs are asked for the first alone"),
    ("src/eager/face/api.c", "MOST_RESULTS", "rejected with an error; Python functions may have any number",
     "the number of results of a traced C function is not known beforehand"),
    ("src/eager/tape/derivative.c", "DEEPEST", "derived when the tape needs it", "orders of derivatives that are built with the call"),
    ("src/eager/defer/pending.c", "MOST_INPUTS", "the op runs immediately", "deferred ops are elementwise"),
    ("src/eager/defer/pending.c", "MOST_NODES MOST_BYTES", "the batch runs and a new one is started",
     "deferred work is bounded"),
    ("src/data/position.c", "DEPTH_MOST", "rejected with an error", "a position is read from a file: variants within variants"),
    ("src/data/csv.c", "FIELD_MOST", "rejected with an error", "a field is one string"),
    ("src/data/snapshot.c", "SHARDS_MOST", "rejected with an error", "each is an open file while elements are written"),
    ("src/file/snapshot.c", "SHARDS_MOST", "rejected as damaged", "a file can claim any number"),
    ("src/data/read_ahead.c", "MOST", "fewer elements are prefetched", "a program may request any number"),
    ("src/data/read_ahead.h", "EF_READ_AHEAD_MOST", "the consumer waits for elements", "the longest buffer that autotuning chooses; bytes are limited too"),
    ("src/data/flat_map.c", "MOST_THREADS", "further datasets of a cycle have no thread of their own", "one thread for each dataset"),
    ("src/data/statistics.h", "EF_STAGE_NOTES EF_STAGE_NOTE_CHILDREN", "stages share a line of ds.explain(), or have none", "the statistics are stored in the run"),
    ("src/data/statistics.c", "KEPT", "ds.explain() shows only the later iterations", "a report must not grow"),
    ("src/data/options.c", "MOST", "later fields are not read", "the fields that are used come first"),
    ("src/eager/face/describe.c", "MOST_RUNS", "rejected with an error", "a median needs no more"),
    ("src/eager/face/describe_data.c", "MOST_DEPTH", "deeper sources are left out", "a description for people"),
    ("src/plan/describe.c", "MOST_REWRITES MOST_DEPTH", "later rewrites, or deeper plans, are left out", "a description for people"),
    ("src/data/map.c", "MOST_WORKERS", "further elements wait their turn", "more threads give no speedup"),
    ("python/ext/function.h", "MOST_ENTRIES", "the least recently used entry is evicted", "entries of a cache"),
    ("python/ext/function_type.c", "MOST", "does not occur", "as many traces as a function keeps"),
    ("python/ext/op.h", "MAX_PARAMS MAX_VARS", "the op cannot be created, which its tests report",
     "larger than any record"),
    ("python/ext/op.h", "MAX_FEW", "memory is allocated", "results on the stack"),
    ("python/ext/op.h", "KEPT_ATTRS", "the cache is cleared", "entries of a cache"),
    ("python/ext/op.c", "MOST_MADE", "rejected with an error", "a larger count is a mistake"),
    ("python/ext/index.c", "SPECS", "handled in Python", "the items of an index"),
    ("python/ext/source_lines.c", "DEEPEST", "outer lines are omitted", "lines of the program that an op stores"),
    ("python/ext/retracing.c", "MOST_CALLS MOST_WARNINGS", "no further warning", "TensorFlow's own bounds"),
    ("python/ext/retracing.c", "MOST_CODES", "the oldest history is dropped", "functions whose traces are counted"),
    ("python/ext/retracing.c", "MOST_WRAPPERS", "calls are counted by the wrapper", "decorators around a function"),
    ("python/ext/session.c", "DEEP", "handled in Python", "nested fetches"),
]

_CALLED = re.compile(r"(?:^|_)(?:MAX|MOST|DEPTH|DEEP|DEEPEST|LIMIT|ROOM)(?:_|$)")


def constants(text):
    """{name: text after the equals sign} of the enumerators with an explicit value."""
    found = {}
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", source.blank(text)):
        for name, value in re.findall(r"\b([A-Z][A-Z0-9_]*)\s*=\s*([^,]+)", body):
            found[name] = " ".join(value.split())
    return found


def table(rows=ROWS, root=source.ROOT):
    """(lines of the table, complaints)."""
    known, complaints = {}, []
    lines = ["| capacity | value | file | beyond it | why |", "| --- | --- | --- | --- | --- |"]
    for path in source.files(".c", ".h", root=root):
        name = str(path.relative_to(root))
        if name.startswith(("src/", "python/ext/", "include/")) and not source.is_test(path):
            known[name] = constants(path.read_text())
    listed = {(file, name) for file, names, _, _ in rows for name in names.split()}
    for file, names, beyond, why in rows:
        for name in names.split():
            value = known.get(file, {}).get(name)
            if value is None:
                complaints.append(f"tools/capacities.py names {name} of {file}, which is not there")
            lines.append(f"| `{name}` | {value} | {file} | {beyond} | {why} |")
    for file, here in known.items():
        complaints += [f"{file}: {name} is a capacity that tools/capacities.py does not name"
                       for name in here if _CALLED.search(name) and (file, name) not in listed]
    return lines, complaints
