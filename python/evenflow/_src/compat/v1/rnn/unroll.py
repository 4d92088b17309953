"""Runs cells over time: in a loop of the graph (dynamic), or unrolled while the graph is built (static)."""
from .... import _core, dtypes, loops, nest
from ....namespace import export
from ....ops.array import reverse_sequence
from ....shapes import TensorShape
from ....tensor_array import TensorArray
from .._scopes import variable_scope
from .base import zeros_of

raw = _core.raw


def _need_cell(cell):
    if not callable(cell) or not hasattr(cell, "state_size") or not hasattr(cell, "output_size"):
        raise TypeError(f"The argument 'cell' ({cell}) is not an RNNCell: it needs 'output_size', 'state_size' and to be "
                        "callable")


def _swapped(x):
    """Swaps the first two dimensions, time and batch."""
    rank = len(_core.static_shape(x))
    return raw.Transpose(x, [1, 0, *range(2, rank)])


def _size(x, axis):
    """The size of an axis: an int if it is known, else a tensor."""
    known = _core.static_shape(x)
    return known[axis] if known is not None and known[axis] is not None else raw.Shape(x)[axis]


def _lengths(sequence_length):
    if sequence_length is None:
        return None
    lengths = _core.convert(sequence_length)
    dims = _core.static_shape(lengths)
    if dims is not None and len(dims) != 1:
        raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: {TensorShape(dims)}")
    return raw.Cast(lengths, dtypes.int32)


def _first_state(cell, initial_state, batch, dtype):
    if initial_state is not None:
        return nest.map_structure(_core.convert, initial_state)
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def _kept(over, old, new):
    """`old` for the rows of a batch whose sequences have ended, else `new`."""
    def one(o, n):
        if isinstance(o, TensorArray) or len(_core.static_shape(n)) == 0:
            return n
        made = raw.SelectV2(raw.Reshape(over, [-1] + [1] * (len(_core.static_shape(n)) - 1)), o, n)
        made.set_shape(n.shape)
        return made

    return nest.map_structure(one, old, new)


@export("compat.v1.nn.dynamic_rnn")
def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    """(outputs of a cell at all time steps, last state). After the end of a sequence the outputs are zero and the state does
    not change."""
    _need_cell(cell)
    with variable_scope(scope or "rnn"):
        flat = [_core.convert(i) for i in nest.flatten(inputs)]
        if not time_major:
            flat = [_swapped(i) for i in flat]
        return _run(cell, nest.pack_sequence_as(inputs, flat), flat, _lengths(sequence_length), initial_state, dtype,
                    time_major)


def _run(cell, structure, flat, lengths, initial_state, dtype, time_major):
    steps, batch = _size(flat[0], 0), _size(flat[0], 1)
    state = _first_state(cell, initial_state, batch, dtype)
    kinds = [dtype or flat[0].dtype] * len(nest.flatten(cell.output_size))
    zero = [raw.Cast(z, k) for z, k in zip(nest.flatten(zeros_of(cell.output_size, batch, flat[0].dtype)), kinds)]
    reads = [TensorArray(i.dtype, steps, element_shape=_core.static_shape(i)[1:]).unstack(i) for i in flat]
    writes = [TensorArray(z.dtype, steps, element_shape=_core.static_shape(z)) for z in zero]

    def body(time, arrays, now):
        rows = [a.read(time) for a in reads]
        for row, i in zip(rows, flat):
            row.set_shape(_core.static_shape(i)[1:])
        output, new = cell(nest.pack_sequence_as(structure, rows), now)
        nest.assert_same_structure(now, new)
        if lengths is not None:
            over = raw.GreaterEqual(time, lengths)
            output = nest.pack_sequence_as(output, [_kept(over, z, o) for z, o in zip(zero, nest.flatten(output))])
            new = _kept(over, now, new)
        arrays = [a.write(time, o) for a, o in zip(arrays, nest.flatten(output))]
        return time + 1, arrays, new

    _, writes, state = loops.while_loop(lambda time, *_: raw.Less(time, steps), body,
                                        (_core.convert(0, dtypes.int32), writes, state))
    outputs = [a.stack() for a in writes]
    known, ahead = _core.static_shape(flat[0])[:2], [_core.static_shape(z)[1:] for z in zero]
    for made, rest in zip(outputs, ahead):
        made.set_shape([*known, *rest])
    outputs = outputs if time_major else [_swapped(o) for o in outputs]
    return nest.pack_sequence_as(cell.output_size, outputs), state


@export("compat.v1.nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None,
                              initial_state_bw=None, dtype=None, parallel_iterations=None, swap_memory=False,
                              time_major=False, scope=None):
    """Runs one cell forwards and another one backwards. Returns (pair of outputs, pair of last states)."""
    _need_cell(cell_fw)
    _need_cell(cell_bw)
    time, batch = (0, 1) if time_major else (1, 0)

    def reverse(x):
        if sequence_length is None:
            return raw.ReverseV2(x, [time])
        return reverse_sequence(x, sequence_length, seq_axis=time, batch_axis=batch)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            ahead, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major=time_major,
                                          scope=fw)
        with variable_scope("bw") as bw:
            inputs = nest.map_structure(lambda x: reverse(_core.convert(x)), inputs)
            back, state_bw = dynamic_rnn(cell_bw, inputs, sequence_length, initial_state_bw, dtype, time_major=time_major,
                                         scope=bw)
    return (ahead, nest.map_structure(reverse, back)), (state_fw, state_bw)


@export("compat.v1.nn.raw_rnn")
def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """A loop around a cell whose inputs, states and outputs `loop_fn` chooses: loop_fn(time, output, state, loop state)
    returns (finished, next input, next state, output to emit, loop state). Returns (TensorArray of outputs, last state, loop
    state)."""
    _need_cell(cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        time = _core.convert(0, dtypes.int32)
        over, first, state, emit, extra = loop_fn(time, None, None, None)
        batch = _size(_core.convert(nest.flatten(first)[0]), 0)
        if emit is None:
            emit = nest.map_structure(lambda s: s, cell.output_size)
            zero = nest.flatten(zeros_of(emit, batch, nest.flatten(first)[0].dtype))
        else:
            zero = [raw.Fill(_shape_of(batch, e), _core.convert(0, e.dtype)) for e in map(_core.convert, nest.flatten(emit))]
        arrays = [TensorArray(z.dtype, 0, dynamic_size=True, element_shape=_core.static_shape(z)) for z in zero]
        keeps = extra is None
        extra = _core.convert(0, dtypes.int32) if keeps else extra

        def body(time, over, current, arrays, now, extra):
            output, new = cell(current, now)
            ahead = time + 1
            done, following, new, out, more = loop_fn(ahead, output, new, None if keeps else extra)
            nest.assert_same_structure(now, new)
            out = [_kept(over, z, o) for z, o in zip(zero, nest.flatten(out))]
            new = _kept(over, now, new)
            arrays = [a.write(time, o) for a, o in zip(arrays, out)]
            return ahead, raw.LogicalOr(over, done), following, arrays, new, extra if keeps or more is None else more

        _, _, _, arrays, state, extra = loops.while_loop(
            lambda time, over, *_: raw.LogicalNot(raw.All(over, [0])), body, (time, over, first, arrays, state, extra))
        return nest.pack_sequence_as(emit, arrays), state, None if keeps else extra


def _shape_of(batch, value):
    """The shape of a batch of values like `value`."""
    return raw.ConcatV2([raw.Reshape(_core.convert(batch, dtypes.int32), [1]), raw.Shape(value)], 0) \
        if _core.static_shape(value) is None or None in _core.static_shape(value) or isinstance(batch, _core.Tensor) \
        else _core.convert([batch, *_core.static_shape(value)], dtypes.int32)


@export("compat.v1.nn.static_rnn")
def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(list of the outputs of a cell for a list of inputs, last state)."""
    _need_cell(cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as scope:
        inputs = [nest.map_structure(_core.convert, i) for i in inputs]
        first = nest.flatten(inputs[0])[0]
        batch = _size(first, 0)
        lengths = _lengths(sequence_length)
        state, outputs = _first_state(cell, initial_state, batch, dtype), []
        for time, one in enumerate(inputs):
            if time > 0:
                scope.reuse_variables()
            output, new = cell(one, state)
            if lengths is not None:
                over = raw.GreaterEqual(_core.convert(time, dtypes.int32), lengths)
                output = _kept(over, nest.map_structure(raw.ZerosLike, output), output)
                new = _kept(over, state, new)
            state = new
            outputs.append(output)
        return outputs, state


@export("compat.v1.nn.static_bidirectional_rnn")
def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """Runs one cell forwards and another one backwards. Returns (concatenated outputs, both last states)."""
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            ahead, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, fw)
        with variable_scope("bw") as bw:
            back, state_bw = static_rnn(cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype,
                                        sequence_length, bw)
    back = _reversed(back, sequence_length)
    joined = [nest.map_structure(lambda a, b: raw.ConcatV2([a, b], 1), a, b) for a, b in zip(ahead, back)]
    return joined, state_fw, state_bw


def _reversed(inputs, lengths):
    """Reverses a list of time steps; with lengths, each row of the batch within its own length."""
    if lengths is None:
        return list(reversed(inputs))
    whole = reverse_sequence(raw.Pack([_core.convert(i) for i in inputs]), lengths, seq_axis=0, batch_axis=1)
    return list(raw.Unpack(whole, len(inputs)))
