"""The fixed capacities that are left in the engine and the extension: what happens beyond each, and why it is so.

docs/health.md shows them with the values the source has. It is an error if a name is no longer in its
file, or if a constant whose name says MAX, MOST, DEPTH or the like is missing here."""
import re

import source

# (file, constants, what happens beyond, why)
ROWS = [
    ("include/evenflow.h", "EF_MAX_RANK", "rejected with an error",
     "shapes lie in tensors, without memory of their own"),
    ("src/tensor/shape.h", "EF_MAX_SYMBOLS", "further sizes stay numbers: a trace for each",
     "a symbol is 6 bits of a dim"),
    ("src/tensor/storage.c", "INLINE_MOST", "bytes get a block of their own", "a small tensor is one block"),
    ("src/file/bundle_read.c", "INDEX_MOST SHARDS_MOST", "rejected with an error",
     "an index is read as a whole; shards have five digits"),
    ("src/base/option.c", "OPTIONS NAME VALUE", "read from the environment each time", "needed before there is memory"),
    ("src/base/mutex.c", "MOST_HELD", "further locks are not checked", "the check runs in debugging builds only"),
    ("src/base/small_blocks.c", "SIZES KEPT_BYTES", "taken from the allocator", "what a thread keeps for itself is bounded"),
    ("src/base/pool.c", "TEAM", "further cores stay idle", "a share per thread lies in every slot"),
    ("src/base/pool.c", "SLOTS", "further callers run their work alone", "a thread looks through all of them"),
    ("src/base/pool.c", "MOST_PIECES", "pieces are larger", "pieces are counted in an int"),
    ("src/base/budget.c", "AT_ONCE", "evicted in the next pass", "entries taken out under one lock"),
    ("src/base/quota.c", "PATH", "that control group sets no limit", "paths of the kernel's own making"),
    ("src/device/device.h", "EF_DEVICE_MOST", "rejected with an error", "a plan has room for a copy of each value on each"),
    ("src/device/chunk.h", "EF_BLOCK_MOST", "mapped as a region", "the largest block that is cut from a chunk"),
    ("src/device/memory.c", "CACHED_MOST", "taken under the lock", "what a thread keeps for itself is bounded"),
    ("src/device/holder.c", "LABELS MOST_USED MOST_LISTED MOST_PLACES", "counted together, without a name",
     "a report of who holds memory must not take any"),
    ("src/jit/expr.h", "EF_JIT_MAX_VALUES", "not compiled: the tile function runs", "values are on the stack while code is made"),
    ("src/jit/jit.h", "EF_JIT_MAX_INS EF_JIT_MAX_IN EF_JIT_MAX_OPERANDS", "not compiled: the tile function runs",
     "as large as a tile program, by assertion"),
    ("src/jit/x86.h", "EF_X86_ROOM", "not compiled: the tile function runs",
     "code is written here first; a tile program takes less"),
    ("src/file/whole.c", "STREAM_MOST", "rejected with an error", "what is no regular file need not end"),
    ("src/file/input.c", "BUFFER_MOST", "the buffer is that large", "a size that a program asks for"),
    ("src/file/image_jpeg.c", "PIXELS_MOST SCANS_MOST MEMORY_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_png.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_gif.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/image_bmp.c", "PIXELS_MOST", "rejected with an error", "a small file can claim any size"),
    ("src/file/reader.h", "EF_RECORD_MOST", "rejected with an error", "a record is one string"),
    ("src/ops/io/decode_raw.c", "COMPRESSED_MOST", "rejected with an error", "compressed data can grow a thousandfold"),
    ("src/ops/io/tensor_proto.c", "REPEATED_MOST", "rejected with an error", "few bytes could ask for any amount of memory"),
    ("src/ops/infer.c", "OUTPUTS_MOST", "rejected with an error", "room for the outputs is taken before the op runs"),
    ("src/ops/op.h", "EF_MAX_ARGS EF_MAX_ATTRS EF_MAX_KERNELS EF_MAX_EXAMPLES", "does not compile",
     "records of ops are constants; lists of inputs have any length"),
    ("src/ops/attr_text.c", "MOST_WORDS MOST_LETTERS", "rejected by the tests of ops",
     "words that records of ops spell"),
    ("src/ops/signature.h", "EF_DEFAULT_LIST", "the op's record is rejected by its tests", "lists that defaults spell"),
    ("src/ops/example.h", "EF_EXAMPLE_MAX_IN", "the example is rejected", "examples are read by tests only"),
    ("src/ops/example.c", "MAX_VARS", "further types are not varied", "examples are read by tests only"),
    ("src/ops/elementwise.c", "MAX_IN", "rejected with an error", "no elementwise op has more inputs"),
    ("src/ops/state/variable.h", "EF_MAX_LOCKED", "does not occur: the records of optimizers say how many",
     "the variables one update locks"),
    ("src/ops/registry.c", "SLOTS", "does not compile", "an index of the ops there are"),
    ("src/ops/array/strided.c", "MAX_ENTRIES", "rejected with an error", "masks are bits of an int64"),
    ("src/ops/random/index_shuffle.c", "MAX_ROUNDS", "rejected with an error", "a key per round; 4 are usual"),
    ("src/ops/nn/ctc_beam.c", "MOST_BEAMS", "rejected with an error", "beams are allocated before the search"),
    ("src/ops/string/string_number.c", "MOST_DIGITS", "rejected with an error", "the longest double has some 1,100 digits"),
    ("include/evenflow_binding.h", "EF_EVENTS_MOST", "later events are dropped, and counted",
     "a recording for a profile: 18 MiB, allocated when the first one begins"),
    ("src/profile/event.c", "RING", "the oldest is overwritten, and counted as dropped", "events are kept for a while only"),
    ("src/profile/event.h", "EF_NOTES EF_NOTE_BYTES", "the oldest is overwritten", "events are kept for a while only"),
    ("src/profile/site.c", "WAYS SETS", "the place used least makes room", "4096 places, whatever the program does"),
    ("src/profile/live.c", "MOST_TALLIES", "does not occur: as many as the table has", "a copy of the table of sums"),
    ("src/profile/tally.h", "EF_TALLY_WAYS EF_TALLY_SETS", "the smallest sum is added to that of unknown places",
     "4096 sums, whatever the program does"),
    ("python/ext/profile.c", "MOST CODES KEPT MOST_HOLDERS", "more than the engine can have; the oldest makes room",
     "what is read at one time; code objects and results that are remembered"),
    ("python/ext/function.h", "SEEN_ARGUMENTS", "further arguments are not compared", "the reason of a trace names one"),
    ("src/kernels/special.c", "MAX_TERMS", "digits are lost: `igamma(a, a)` is good to ten at 1e7, to one at 1e8",
     "a series must end; its length grows with the root of the argument"),
    ("src/kernels/random_truncated.c", "MOST_TRIES", "rejected with an error", "TensorFlow's own bound"),
    ("src/kernels/linalg_fun.c", "MOST", "the logarithm is NaN", "square roots that do not converge"),
    ("src/kernels/conv_cut.c", "MOST_PARTIALS", "parts are larger", "how work is cut for caches and threads"),
    ("src/kernels/conv_filter.c", "MOST_PARTS", "parts are larger", "how work is cut for caches and threads"),
    ("src/kernels/gemm_cut.c", "DEPTH LEAST_DEPTH", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_loop.c", "DEEP", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_packed.c", "DEPTH", "more stretches", "how work is cut for caches and threads"),
    ("src/kernels/gemm_panel.c", "DEEP", "more blocks", "how work is cut for caches and threads"),
    ("src/kernels/gemm_tiny.c", "PACK_MAX TURN_MAX", "the general product runs", "what a stack holds"),
    ("src/graph/fold.c", "FOLD_ELEMENTS FOLD_INPUTS", "computed when it runs", "folding while tracing is for sizes"),
    ("src/graph/origin.c", "MOST", "outer lines are left out", "lines of a program shown with an error"),
    ("src/graph/shape_values.c", "DEPTH", "the value counts as unknown", "a walk at every op that is traced"),
    ("src/passes/rule.h", "EF_RULE_TOKENS EF_RULE_INNER EF_RULE_EXAMPLES", "does not compile", "rules are constants"),
    ("src/passes/match.c", "DEPTH MOST_INPUTS", "the node stays as it is", "no rule's op has more inputs"),
    ("src/passes/fused_rules.c", "MOST_OPS", "the op is not fused further", "what the kernels can do"),
    ("src/passes/fold.c", "MOST_INPUTS MOST_ELEMENTS", "computed when it runs",
     "constants are kept as long as the graph"),
    ("src/passes/inline.c", "DEPTH MOST_NODES", "called instead of inlined", "a graph must not grow without bound"),
    ("src/passes/loop.h", "EF_LOOP_MOST_NEW", "computed in every iteration", "variables added to one loop"),
    ("src/passes/loop.c", "MOST", "what the loop's test gives is not known before it runs", "no op of such a test has more inputs"),
    ("src/passes/loop_products.c", "MOST MOST_MEMORY", "computed in every iteration",
     "each adds two variables at most; lists must not take much more memory than those there are"),
    ("src/passes/passes.c", "DEPTH", "the inner function runs as it was traced", "the passes call themselves"),
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
    ("src/plan/plan_inputs.c", "DEPTH", "everything counts as needed", "a walk that calls itself"),
    ("src/plan/lift.c", "MOST_ELEMENTS DEPTH", "computed in the call", "small values of functions in functions"),
    ("src/plan/arena.c", "DEPTH", "memory is allocated and freed each time", "blocks a thread keeps"),
    ("src/plan/arena.c", "DEEPEST", "rejected with an error", "the thread's stack would end"),
    ("src/plan/compile.c", "MOST_KIN", "the least recently used program is evicted", "entries of a cache"),
    ("src/plan/compiled_loop.c", "MOST_NODES MOST_COUNT MOST_BYTES", "the loop is interpreted",
     "loops over few numbers"),
    ("src/plan/program.h", "EF_PROGRAM_PLANS", "the least recently used plan is evicted", "entries of a cache"),
    ("src/plan/program.c", "MOST", "fetched when it is read", "bytes fetched ahead"),
    ("src/runtime/function.h", "EF_FUNCTION_TRACES", "the least recently used trace is evicted", "entries of a cache"),
    ("src/runtime/match.c", "MOST", "sizes are checked again", "entries of a cache"),
    ("src/runtime/session.c", "REQUESTS", "the least recently used request is evicted", "entries of a cache"),
    ("src/eager/face/api.c", "MOST_RESULTS", "rejected with an error; Python's functions have any number",
     "nobody knows beforehand how many results a C function traces"),
    ("src/eager/tape/derivative.c", "DEEPEST", "derived when the tape asks", "orders made ready with the call"),
    ("src/eager/defer/pending.c", "MOST_INPUTS", "the op runs immediately", "deferred ops are elementwise"),
    ("src/eager/defer/pending.c", "MOST_NODES MOST_BYTES", "the batch runs and a new one is started",
     "deferred work is bounded"),
    ("src/data/position.c", "DEPTH_MOST", "rejected with an error", "a position is read from a file: variants within variants"),
    ("src/data/csv.c", "FIELD_MOST", "rejected with an error", "a field is one string"),
    ("src/data/snapshot.c", "SHARDS_MOST", "rejected with an error", "each is an open file while elements are written"),
    ("src/file/snapshot.c", "SHARDS_MOST", "rejected as damaged", "a file can claim any number"),
    ("src/data/ahead.c", "MOST", "fewer elements are made ahead", "a number that a program asks for"),
    ("src/data/ahead.h", "EF_AHEAD_MOST", "elements are waited for", "the tuner's longest buffer; bytes have a ceiling too"),
    ("src/data/flat_map.c", "MOST_THREADS", "further datasets of a cycle make elements when asked", "a thread for each"),
    ("src/data/note.h", "EF_STAGE_NOTES EF_STAGE_NOTE_CHILDREN", "stages share a line of ds.explain(), or have none", "notes lie in the run"),
    ("src/data/note.c", "KEPT", "ds.explain() knows the later iterations only", "a report must not grow"),
    ("src/data/options.c", "MOST", "later fields are not read", "those that are read come first"),
    ("src/eager/face/describe.c", "MOST_RUNS", "rejected with an error", "a median needs no more"),
    ("src/eager/face/describe_data.c", "MOST_DEPTH", "deeper sources are left out", "a description for people"),
    ("src/plan/describe.c", "MOST_REWRITES MOST_DEPTH", "later rewrites, or deeper plans, are left out", "a description for people"),
    ("src/data/map.c", "MOST_WORKERS", "further elements wait their turn", "more threads than that gain nothing"),
    ("python/ext/function.h", "MOST_ENTRIES", "the least recently used entry is evicted", "entries of a cache"),
    ("python/ext/function_type.c", "MOST", "does not occur", "as many traces as a function keeps"),
    ("python/ext/op.h", "MAX_PARAMS MAX_VARS", "the op cannot be made, as its tests would say",
     "larger than any record"),
    ("python/ext/op.h", "MAX_FEW", "memory is taken", "results on the stack"),
    ("python/ext/op.h", "KEPT_ATTRS", "the cache is cleared", "entries of a cache"),
    ("python/ext/op.c", "MOST_MADE", "rejected with an error", "a count beyond is a mistake"),
    ("python/ext/index.c", "SPECS", "the general way, in Python", "a key of plain indices"),
    ("python/ext/place.c", "DEEPEST", "outer lines are left out", "lines of the program an op remembers"),
    ("python/ext/retracing.c", "MOST_CALLS MOST_WARNINGS", "no further warning", "TensorFlow's own bounds"),
    ("python/ext/retracing.c", "MOST_CODES", "the oldest history is dropped", "functions whose traces are counted"),
    ("python/ext/retracing.c", "MOST_WRAPPERS", "calls are counted by the wrapper", "decorators around a function"),
    ("python/ext/session.c", "DEEP", "the general way, in Python", "fetches within fetches"),
]

_CALLED = re.compile(r"(?:^|_)(?:MAX|MOST|DEPTH|DEEP|DEEPEST|LIMIT|ROOM)(?:_|$)")


def constants(text):
    """Enumerators that are given a value, by name: what stands behind the equals sign."""
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
