"""Calls for peers_fuzz.py that ordinary programs are made of, with all their arguments: reductions along lists of axes, slices with
masks, gathering and scattering, joining and cutting, windows, casts, sorting, sums of products, matrices, text, images, chosen
numbers, sparse tensors, checks, loops.

Like those of peers_face.py they are pieces of Python: an expression that uses a, b and c, and an expression for each of these.
"""
from peers_face import DTYPES, FLOATS, INTS, SCALARS, SHAPES, FaceWriter

AXES = """0 1 -1 2 -2 5 -5 None [] [0] [1] [0,1] [-1,0] [0,-1] [0,2] [1,-2] (0,1) [0,5] [1,1] [[0]] [0.5] 0.0 True "a" np.int64(1)
np.array([0,1]) np.array([],"int32") tf.constant(1) tf.constant([0]) tf.constant([0,1],tf.int64) tf.constant(0,tf.int64)
tf.constant([0],tf.int16) tf.constant([],tf.int32) (None,) [None]""".split()
FLAGS = "False False True None 1 0".split()
PLAIN = [d for d in DTYPES if d.startswith("tf.") and "constant" not in d] + ["tf.int16", "tf.uint16", "tf.float32", "tf.int32"]
PADDINGS = "'SAME' 'VALID' 'SAME' 'VALID' 'same' 'FULL' None [[0,0],[1,1],[0,1],[0,0]] [[0,0],[0,0],[1,0],[1,1]] 'EXPLICIT'".split()
CHOOSING = "'float32' 'float64' 'int32' 'float16' 'bfloat16' 'int64' 'uint32' 'uint8' 'bool'".split()
FAMILIES = """reducing reducing slicing slicing gathering scattering joining shaping casting casting sorting products matrices windows
windows layers text images chosen segments counting sparse checks loops extremes extremes""".split()
EVEN = ("windows", "matrices", "images", "segments", "counting", "sorting")  # where a NaN stands beside sums whose order is free


class UsesWriter(FaceWriter):
    """Writes calls of the families below; each family's method returns (code, argument expressions)."""

    def pick(self, *texts):
        """Chooses one of the words of the texts, in which ` stands for a quote."""
        return self.r.choice([w.replace("`", '"') for t in texts for w in t.split()])

    def some(self, *chances):
        """Writes keyword arguments: each text is a name, '=' and the values to choose from, and is used with probability 1/2."""
        made = []
        for text in chances:
            name, values = text.split("=", 1)
            if self.r.random() < 0.5:
                made.append(f"{name}={self.pick(values)}")
        return "".join(", " + m for m in made)

    def float(self, dims, **more):
        return self.value(self.r.choice(FLOATS), dims, **more)

    def ints(self, dims, most, least=0):
        """Nested lists of indices, of which one in fifty is out of range."""
        if not dims:
            return str(self.r.randint(least, max(least, most - 1)) if self.r.random() < 0.98 else most + 1)
        return "[" + ",".join(self.ints(dims[1:], most, least) for _ in range(dims[0])) + "]"

    def places(self, dims, most, least=0):
        """Indices as a list, an array or a tensor of some dtype."""
        if 0 in dims:
            return f"tf.zeros({list(dims)}, tf.{self.r.choice(('int32', 'int64'))})"
        text = self.ints(dims, most, least)
        return self.r.choice((text, f"tf.constant({text}, tf.int32)", f"tf.constant({text}, tf.int64)", f"np.array({text}, 'int32')",
                              f"np.array({text}, 'int64')", f"tf.reshape(tf.constant({text}, tf.int32), {list(dims)})"))

    def reducing(self):
        r, x = self.r, self.value()
        one = self.pick("sum mean max min prod any all logsumexp variance std euclidean_norm")
        name = f"tf.math.reduce_{one}"
        if one in ("any", "all") and r.random() < 0.8:
            x = self.value("bool")
        axis, flag, b = r.choice(AXES), r.choice(FLAGS), self.value("bool", r.choice(([], [3], [2, 3])))
        return r.choice((
            lambda: (f"{name}(a, axis={axis}, keepdims={flag})", [x]),
            lambda: (f"{name}(a, {axis})", [x]),
            lambda: (f"{name}(a, axis=b)", [x, self.ints(r.choice(([], [1], [0])), 1)]),
            lambda: (f"{name}([a, b], axis={axis})", self.pair()),
            lambda: (f"{name}(a)", [self.any()]),
            lambda: (f"tf.math.{self.pick('argmax argmin')}(a, axis={axis}, output_type={r.choice(PLAIN)})", [x]),
            lambda: (f"tf.math.{self.pick('argmax argmin')}(a, {axis})", [x]),
            lambda: (f"tf.math.{self.pick('cumsum cumprod cumulative_logsumexp')}(a, axis={axis}{self.some('exclusive=True False', 'reverse=True False')})", [x]),
            lambda: (f"tf.nn.moments(a, {axis}, keepdims={flag})", [self.tensor(r.choice(FLOATS))]),
            lambda: (f"tf.math.count_nonzero(a, axis={axis}, keepdims={flag}, dtype={r.choice(PLAIN)})", [x]),
            lambda: (f"tf.norm(a, ord={self.pick('1 2 np.inf 0.5 3 0 -1', '`euclidean` `fro` None')}, axis={axis}, keepdims={flag})", [x]),
            lambda: (f"tf.math.l2_normalize(a, {axis}, epsilon={self.pick('1e-12 0 1e-3')})", [x]),
            lambda: (f"tf.nn.{self.pick('softmax log_softmax')}(a, axis={self.pick('-1 0 1 -2 5 None tf.constant(0) np.int64(0)')})", [x]),
            lambda: (f"tf.math.{self.pick('reduce_sum reduce_mean reduce_max')}(a, axis={axis}, keepdims=b)", [x, b]),
            lambda: (f"tf.raw_ops.{self.pick('Sum Mean Max Min Prod EuclideanNorm')}(input=a, axis={axis}, keep_dims={flag})", [x]),
            lambda: (f"tf.nn.weighted_moments(a, {axis}, b)", [self.value("float32", [2, 3]), self.value("float32", [2, 3])]),
            lambda: (f"tf.clip_by_norm(a, {self.pick('1 1.5 0')}, axes={self.pick('None 0 1 -1 [0] [0,1] 5')})", [x]),
        ))()

    def slicing(self):
        r, dims = self.r, self.dims(4)
        n, x = len(dims), self.value(dims=dims, kinds="TTTVAL")
        k = r.choice((n, n, n, max(0, n - 1), n + 1))
        at = lambda values: "[" + ",".join(self.pick(values) for _ in range(k)) + "]"
        mask = lambda: r.choice((0, 0, 1 << r.randint(0, 3), r.randint(0, 15)))
        masks = "".join(f", {name}_mask={mask()}" for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis") if r.random() < 0.4)
        begin, end, strides = at("0 0 1 -1 2 -2 -5 5"), at("1 2 3 -1 0 5 -5"), at("1 1 1 2 -1 -2 0" if r.random() < 0.3 else "1 1 2 -1")
        kind = self.pick("np.int32 np.int64 tf.int64 tf.int16 tf.int32")
        typed = lambda t: t if r.random() < 0.6 else f"tf.constant({t}, {kind}, [{k}])"
        return r.choice((
            lambda: (f"tf.strided_slice(a, {typed(begin)}, {typed(end)}, {typed(strides)}{masks})", [x]),
            lambda: (f"tf.strided_slice(a, {begin}, {end}{masks})", [x]),
            lambda: (f"tf.raw_ops.StridedSlice(input=a, begin={typed(begin)}, end={typed(end)}, strides={typed(strides)}{masks})", [x]),
            lambda: (f"tf.slice(a, {typed(at('0 0 1 2 -1'))}, {typed(at('-1 0 1 2 3'))})", [x]),
            lambda: (f"tf.gather(tf.slice(a, {begin}, {at('-1 1 2')}), 0)", [x]),
            lambda: (f"a[{self.index_part()}, {self.index_part()}]", [x]),
            lambda: (f"tf.boolean_mask(a, b, axis={self.pick('None 0 1 -1 2 tf.constant(0)')})",
                     [x, self.value("bool" if r.random() < 0.9 else "int32", dims[:r.randint(0, 2)])]),
            lambda: (f"a[b]", [self.tensor(dims=dims), self.value("bool", dims[:1], "TA")]),
            lambda: (f"tf.tensor_scatter_nd_update(a, b, c)", [x, self.ints([2, 1], 2), self.value(dims=[2, *dims[1:]])]),
            lambda: (f"(a[{begin[1:-1] or '0'}].assign(b), a)[-1]", [self.value(dims=dims, kinds="V"), self.any()]),
            lambda: (f"tf.math.reduce_sum(a[{', '.join(self.index_part() for _ in range(r.randint(1, 3)))}])", [x]),
            lambda: (f"tf.unstack(a, num={self.pick('None 1 2 3')}, axis={self.pick('0 1 -1 2 -3 np.int64(0)')})", [x]),
            lambda: (f"tf.roll(a, {self.pick('1 -1 [1,2] [1] tf.constant(1) 1.5 0 100')}, {r.choice(AXES)})", [x]),
            lambda: (f"tf.reverse(a, {r.choice(AXES)})", [x]),
            lambda: (f"tf.reverse_sequence(a, b{self.some('seq_axis=0 1 2 -1', 'batch_axis=0 1 2 -1')})", [x, self.places([r.choice(dims or [1])], 3)]),
        ))()

    def gathering(self):
        r, dims = self.r, self.dims(3)
        x, most = self.value(dims=dims), max(dims, default=1)
        at = self.places(self.dims(2), most, r.choice((0, 0, 0, -1)))
        deep = self.places([r.randint(0, 2), r.choice((0, 1, 1, 2, 2, 3))], most)
        params = f"params=[a], ids={at}" if r.random() < 0.5 else f"params=a, ids={at}"
        return r.choice((
            lambda: (f"tf.gather(a, {at}, axis={self.pick('0 0 1 -1 2 None', 'tf.constant(1) np.int64(0) 0.5')}{self.some('batch_dims=0 1 2')})", [x]),
            lambda: (f"tf.gather(a, b{self.some('axis=0 1 -1', 'batch_dims=0 1 2 -1')})", [x, self.value(r.choice(INTS), [*dims[:1], 2])]),
            lambda: (f"tf.gather_nd(a, {deep}{self.some('batch_dims=0 1 2')})", [self.value(dims=dims, kinds="TTAL")]),
            lambda: (f"tf.gather(a, {at}, {self.pick('True False')})", [x]),
            lambda: (f"tf.nn.embedding_lookup({params}, max_norm={self.pick('None None 1.0 2')})", [x]),
            lambda: (f"tf.one_hot({at}, {self.pick('3 0 2 1 tf.constant(3) -1 2.0')}{self.some('on_value=1 2.5 True', 'off_value=0 -1 0.5', 'axis=-1 0 1', 'dtype=tf.float32 tf.int32 tf.bool tf.uint8 None')})", []),
            lambda: ("tf.where(a)", [self.value(r.choice(FLOATS + INTS + ["bool"]), dims)]),
            lambda: ("tf.where(a, b, c)", [self.value("bool", dims), *self.pair()]),
            lambda: (f"tf.where(a{self.some('x=1 None [1] 2.5', 'y=1 None 0.5 [2]')})", [self.value("bool", dims)]),
            lambda: (f"tf.raw_ops.GatherNd(params=a, indices={deep})", [x]),
            lambda: (f"tf.raw_ops.ResourceGather(resource=a.handle, indices={at}, dtype=a.dtype)", [self.value(dims=dims, kinds="V")]),
            lambda: (f"tf.dynamic_partition(a, {self.places(dims[:1], 2)}, {self.pick('2 2 3 1 0')})", [x]),
            lambda: (f"tf.dynamic_stitch([{self.ints([2], 3)}, {self.ints([1], 3)}], [a, b])", [self.value("float32", [2, *dims[1:]]), self.value("float32", [1, *dims[1:]])]),
            lambda: (f"tf.sequence_mask(a, {self.pick('None 3 0 2 tf.constant(4) 2.5 -1')}{self.some('dtype=tf.bool tf.int32 tf.float32 tf.string tf.complex64')})", [self.value(r.choice(INTS + FLOATS), dims)]),
            lambda: (f"tf.unravel_index({at}, {self.pick('[2,3] [4] [2,2,2] [] [0,3]')})", []),
        ))()

    def scattering(self):
        r, dims = self.r, [r_ for r_ in self.dims(3)] or [3]
        depth, rows = r.choice((1, 1, 1, 2, len(dims))), r.randint(0, 3)
        at, dtype = self.places([rows, depth], min(dims), r.choice((0, 0, 0, -1))), self.dtype()
        updates = self.value(dtype if r.random() < 0.9 else None, [rows, *dims[depth:]], "TTVAL")
        one = self.pick("update add sub max min")
        return r.choice((
            lambda: (f"tf.tensor_scatter_nd_{one}(a, {at}, b)", [self.value(dtype, dims), updates]),
            lambda: (f"tf.tensor_scatter_nd_{one}(a, {at}, {self.pick('1 2.5 [1] [[1]] True')})", [self.value(dtype, dims)]),
            lambda: (f"tf.scatter_nd({at}, b, {r.choice((dims, dims, f'tf.constant({dims})', f'np.array({dims})', dims[:1]))})".replace("b,", "a,"), [updates]),
            lambda: (f"(a.scatter_nd_{one}({at}, b), a)[-1]", [self.value(dtype, dims, "V"), updates]),
            lambda: (f"tf.IndexedSlices(a, {self.places([rows], 3)}, {self.pick('[3] [4,2]')})", [self.value(dtype, [rows, *dims[1:]], "T")]),
            lambda: (f"tf.convert_to_tensor(tf.IndexedSlices(a, {self.places([rows], 3)}, tf.constant({[3, *dims[1:]]})))", [self.value(dtype, [rows, *dims[1:]], "TV")]),
            lambda: (f"tf.add_n({self.pick('[a,b] [a,b,a] [a] (a,b) a')})", [self.value(dtype, dims), self.value(dtype, dims)]),
        ))()

    def joining(self):
        r, dims, axis = self.r, self.dims(3), self.pick("0 0 1 -1 2 -3 tf.constant(0) None np.int32(1)")
        dtype = self.dtype()
        other = [r.choice((d, d, d, d + 1)) for d in dims]
        x, y, z = self.value(dtype, dims), self.value(dtype if r.random() < 0.9 else None, other), self.value(dtype, other)
        size = r.choice(("1", "2", "3", "[1,1]", "[1,-1]", "[2,1]", "[-1,-1]", "[0,2]", "tf.constant(2)", "tf.constant([1,1])", "2.0", "[]", "None", "0", "np.array([1,1])", "[1,1,1]",
                         "tf.constant([1,1],tf.int64)"))
        return r.choice((
            lambda: (f"tf.concat([a, b, c], {axis})", [x, y, z]),
            lambda: (f"tf.concat([a, {r.choice(SCALARS)}], {axis})", [x]),
            lambda: (f"tf.concat(values={self.pick('[a] a (a,a) [] None')}, axis={axis})", [x]),
            lambda: (f"tf.stack([a, b, {self.pick('a b 1 2.5')}], {axis})", [x, y]),
            lambda: (f"tf.stack({self.pick('[a,1] [1,a] [a,2.5] [[a,a],[a,a]] [a,None] {1:a} []')})", [x]),
            lambda: (f"tf.split(a, {size}, axis={axis}{self.some('num=None 2 3')})", [x]),
            lambda: (f"tf.unstack(a, axis={axis})", [x]),
            lambda: (f"tf.meshgrid(a, b{self.some('indexing=`xy` `ij` `no` None')})", [self.value(r.choice(FLOATS + INTS), [2]), self.value(r.choice(FLOATS + INTS), r.choice(([3], [], [1, 2])))]),
            lambda: (f"tf.repeat(a, {self.pick('2 0 [1,2] [2] -1 1.5 [[1]] [] tf.constant(2)')}, axis={axis})", [x]),
            lambda: (f"tf.tile(a, {self.pick('[2] [2,1] [1,2,1] 2 [0] [0,1] [-1] [1.5] tf.constant([2],tf.int64) [] np.array([2,2])')})", [x]),
            lambda: (f"tf.pad(a, {r.choice(('[[1,1]]', '[[1,0],[0,2]]', '[[0,1]]*3', '[1,1]', '[[-1,1]]', '[]', 'tf.constant([[1,1]],tf.int64)', '[[1,1,1]]', '[[2,2],[2,2]]', '[[1.5,1]]', 'np.ones((2,2),int)'))}"
                     f"{self.some('mode=`CONSTANT` `REFLECT` `SYMMETRIC` `reflect` `EDGE` None', 'constant_values=0 1 2.5 -1 True None tf.constant(1) [1] np.float32(2)')})", [x]),
            lambda: (f"tf.convert_to_tensor([{', '.join(r.choice(('a', 'b', *SCALARS)) for _ in range(r.randint(1, 3)))}])", [x, self.value(dtype, dims)]),
        ))()

    def shaping(self):
        r, x, dims = self.r, self.value(), self.dims(3)
        return r.choice((
            lambda: (f"tf.transpose(a{self.some('perm=[0] [1,0] [0,1] [2,0,1] [0,2,1] None [-1,0] [1,1] [] tf.constant([1,0]) [1.5]', 'conjugate=True False')})", [x]),
            lambda: (f"tf.reshape(a, {r.choice((*SHAPES, '[-1,1]', '[1,-1]', '[-1,2]', '[2,-1]', '[3,-1]', '[-1,0]', '[6]', '[3,2]'))})", [x]),
            lambda: (f"tf.squeeze(a, {r.choice(AXES)})", [self.value(dims=[r.choice((1, 1, 2)) for _ in range(r.randint(0, 4))])]),
            lambda: (f"tf.expand_dims(a, {r.choice(AXES)})", [x]),
            lambda: (f"tf.broadcast_to(a, {r.choice((*SHAPES, '[2,3]', '[3,3]', '[2,2,3]'))})", [x]),
            lambda: (f"tf.ensure_shape(a, {self.pick('[2,3] [] [None,3] [1] [2] [None] [None,None] [0] (1,None) `a` [2.5]')})", [x]),
            lambda: (f"tf.broadcast_dynamic_shape({self.pick('[2,1] [3] [] [0] tf.constant([2,1])')}, {self.pick('[1,3] [3] [2] [0] [1] tf.constant([3],tf.int64)')})", []),
            lambda: (f"tf.shape_n([a, b]{self.some('out_type=tf.int32 tf.int64 tf.float32')})", [x, self.value()]),
            lambda: (f"tf.{self.pick('shape size rank')}(a{self.some('out_type=tf.int32 tf.int64 tf.float32', 'name=None')})", [x]),
            lambda: (f"tf.space_to_batch(a, {self.pick('[2] [1,2] [2,2] 2')}, {self.pick('[[0,0]] [[0,1],[1,0]] [[0,0],[0,0]]')})", [self.value(self.r.choice(FLOATS + INTS), [1, 2, 4, 1][:r.randint(2, 4)])]),
            lambda: (f"tf.batch_to_space(a, {self.pick('[2] [1,2] [2,2]')}, {self.pick('[[0,0]] [[0,1],[1,0]] [[0,0],[0,0]]')})", [self.value(self.r.choice(FLOATS + INTS), [4, 2, 2, 1][:r.randint(2, 4)])]),
            lambda: (f"tf.nn.{self.pick('space_to_depth depth_to_space')}(a, {self.pick('2 1 0 3')}{self.some('data_format=`NHWC` `NCHW` `no`')})", [self.value(self.r.choice(FLOATS + INTS), [1, 2, 2, 4])]),
            lambda: (f"tf.bitcast(a, {r.choice(PLAIN)})", [x]),
            lambda: (f"tf.linalg.diag(a{self.some('k=0 1 -1 (1,0)', 'num_rows=3 -1 5', 'num_cols=3 -1', 'padding_value=0 1 2.5', 'align=`LEFT_LEFT` `RIGHT_LEFT` `no`')})", [x]),
            lambda: (f"tf.linalg.diag_part(a{self.some('k=0 1 -1 (0,1) (-1,1) (1,0) 5', 'padding_value=0 1 2.5', 'align=`LEFT_LEFT` `RIGHT_LEFT`')})", [x]),
            lambda: (f"tf.linalg.set_diag(a, b{self.some('k=0 1 -1', 'align=`LEFT_LEFT` `RIGHT_LEFT`')})", [self.value("float32", [2, 3]), self.value("float32", [2])]),
            lambda: (f"tf.linalg.band_part(a, {self.pick('0 1 -1 2 5 tf.constant(1,tf.int64) 1.5')}, {self.pick('0 1 -1 2 5')})", [x]),
            lambda: (f"tf.eye({self.pick('2 3 0 tf.constant(2) -1')}{self.some('num_columns=3 1 None', 'batch_shape=[2] [] [0] None [2,1]', 'dtype=tf.int32 tf.bool tf.complex64 tf.float16 tf.string')})", []),
            lambda: (f"tf.zeros({r.choice(SHAPES)}, {r.choice(DTYPES)})", []),
        ))()

    def casting(self):
        r = self.r
        v = f"np.array({r.choice(('[-1.5, 0.5, 2.5, 300.7]', '[0, 1, -1, 127, 128, 255, 256, -128, -129]', '[1e5, -1e5, 70000.0]', '[0.0, -0.0, 0.1, 3.99, -3.99]', '[65535, 65536, 32767, 32768, -32769]', '[2147483647, -2147483648, 16777217]', '[True, False]', '[1+2j, -1.5j]', '[]'))})"
        x = self.value()
        return r.choice((
            lambda: (f"tf.cast(tf.cast(a, {r.choice(PLAIN)}), {r.choice(PLAIN)})", [x]),
            lambda: (f"tf.cast({v}, {r.choice(PLAIN)})", []),
            lambda: (f"tf.constant({v}).dtype", []),
            lambda: (f"tf.cast(a, {r.choice(DTYPES)})", [self.any()]),
            lambda: (f"tf.raw_ops.Cast(x=a, DstT={r.choice(PLAIN)}, Truncate={self.pick('True False')})", [x]),
            lambda: (f"tf.saturate_cast(a, {r.choice(PLAIN)})", [self.value(r.choice(("float32", "float64", "int32", "int8", "uint8", "int16", "float16")))]),
            lambda: (f"tf.dtypes.complex(a, b)", self.pair()),
            lambda: (f"tf.math.{self.pick('real imag conj angle abs')}(a)", [x]),
            lambda: (f"tf.convert_to_tensor(a, {r.choice(PLAIN)})", [x]),
            lambda: (f"tf.constant(a, {r.choice(PLAIN)}, shape={r.choice(SHAPES)})", [self.value(kinds="ANL")]),
            lambda: (f"tf.strings.as_string(a{self.some('precision=-1 2 0', 'scientific=True False', 'shortest=True False', 'width=-1 5', 'fill=`` `0`')})", [x]),
            lambda: (f"tf.strings.to_number({self.pick('[`1`,`2`] `1.5` `a` `-7` `1e3` `` `300` [] `nan`')}, {r.choice(PLAIN)})", []),
            lambda: (f"tf.image.convert_image_dtype(a, {self.pick('tf.float32 tf.uint8 tf.int16 tf.float16 tf.int32 tf.float64 tf.string')}{self.some('saturate=True False')})", [x]),
            lambda: (f"tf.math.{self.pick('round floor ceil rint sign abs negative square')}(a)", [x]),
        ))()

    def sorting(self):
        r, x, dims = self.r, self.value(), self.dims(2)
        order = self.some("axis=-1 0 1 -2 5 None", "direction='ASCENDING' 'DESCENDING' 'up' None")
        return r.choice((
            lambda: (f"tf.sort(a{order})", [x]),
            lambda: (f"tf.argsort(a{order}, stable=True)", [x]),
            lambda: (f"tf.math.top_k(a{self.some('k=1 2 0 -1 5 tf.constant(1) 1.5 None', 'sorted=True')})", [x]),
            lambda: (f"tf.nn.top_k(a, {self.pick('1 2 3')}).{self.pick('values indices')}", [x]),
            lambda: (f"tf.math.in_top_k({self.places([2], 3)}, a, {self.pick('1 2 0 3')})", [self.value("float32", [2, 3])]),
            lambda: (f"tf.searchsorted(a, b{self.some('side=`left` `right` `no`', 'out_type=tf.int32 tf.int64 tf.float32')})", [f"np.sort({self.value(r.choice(('float32', 'int32')), [*dims, 3], 'A')}, -1)", self.value(r.choice(("float32", "int32")), [*dims, 2])]),
            lambda: (f"tf.unique(a{self.some('out_idx=tf.int32 tf.int64 tf.float32')})", [self.value(dims=[r.randint(0, 5)])]),
            lambda: ("tf.unique_with_counts(a)", [self.value(dims=[r.randint(0, 5)])]),
            lambda: ("tf.math.invert_permutation(a)", [self.pick("[0,1,2] [2,0,1] [] [0,0] [1] [[0]] [1.5] tf.constant([1,0],tf.int64)")]),
            lambda: (f"tf.histogram_fixed_width(a, {self.pick('[0.0,5.0] [0,5] [5.0,0.0] [-1.0,1.0]')}{self.some('nbins=3 0 10', 'dtype=tf.int32 tf.int64')})", [x]),
            lambda: (f"tf.histogram_fixed_width_bins(a, [0.0, 5.0]{self.some('nbins=3 10')})", [self.value(r.choice(("float32", "float64", "int32")))]),
            lambda: (f"tf.math.{self.pick('is_strictly_increasing is_non_decreasing')}(a)", [x]),
            lambda: (f"tf.random.shuffle(a, seed=1).shape", [x]),
            lambda: (f"tf.raw_ops.TopKV2(input=a, k={self.pick('1 2 0')}, sorted=True)", [x]),
            lambda: (f"tf.raw_ops.{self.pick('Unique UniqueWithCounts ListDiff SetDiff1D')}(x=a)", [x]),
            lambda: ("tf.raw_ops.ListDiff(x=a, y=b)", [self.value("int32", [4]), self.value("int32", [2])]),
        ))()

    def products(self):
        r, dtype = self.r, self.r.choice(("float32", "float32", "float64", "int32", "complex64", "int64"))
        i, j, k, b = (r.choice((1, 2, 3)) for _ in range(4))
        batch = r.choice(([], [], [b], [b, 1]))
        x, y = self.value(dtype, [*batch, i, j]), self.value(dtype if r.random() < 0.95 else None, [*r.choice((batch, [], [1])), j, k])
        flags = self.some("transpose_a=True False", "transpose_b=True False", "adjoint_a=True False", "adjoint_b=True False")
        one = r.choice(("ij,jk->ik", "ij,jk", "ij,kj->ik", "ij->ji", "ij->", "ii->i", "ij,ij->i", "i,j->ij", "...ij,...jk->...ik", "ij,jk->ki", "ab,bc->", "ij,jk->ij", "ij->i", "ij , jk -> ik",
                        "ii", "ij,jk->ikk", "ij,j->i", "bij,bjk->bik", "...j,jk->...k", "i...->...", "ij,jk,kl->il", "->", "ij;jk", "ijk,jk->i", "Ij,jK->IK", "...->...", "ji"))
        two = "," in one or ";" in one
        s, t = self.value(dtype, [*batch, i, j], "TV"), self.value(dtype, [*r.choice((batch, [], [1])), j, k], "TV")
        return r.choice((
            lambda: (f"tf.matmul(a, b{flags})", [x, y]),
            lambda: (f"tf.matmul(a, b{self.some('transpose_b=True', 'output_type=tf.int32 tf.int64')})", [self.value("int8", [i, j], "TV"), self.value("int8", [j, k], "TV")]),
            lambda: (f"tf.einsum({one!r}, a{', b' * two})", [s, t]),
            lambda: (f"tf.einsum({one!r}, a{', b' * two})", [s, t]),
            lambda: (f"tf.tensordot(a, b, {self.pick('0 1 2 [[0],[0]] [[1],[0]] [[-1],[0]] [1,0] -1 [[0,1],[0,1]] tf.constant(1) 3 [[],[]] `a`')})", [s, t]),
            lambda: (f"tf.linalg.matvec(a, b{self.some('transpose_a=True False', 'adjoint_a=True False')})", [x, self.value(dtype, [*batch, j])]),
            lambda: ("tf.linalg.cross(a, b)", [self.value(dtype, [*batch, 3]), self.value(dtype, [*batch, 3])]),
            lambda: ("a @ b", [x, y]),
            lambda: (f"tf.raw_ops.BatchMatMulV2(x=a, y=b{self.some('adj_x=True False', 'adj_y=True False')})", [x, y]),
            lambda: (f"tf.raw_ops.MatMul(a=a, b=b{self.some('transpose_a=True False', 'transpose_b=True False')})", [x, y]),
            lambda: (f"tf.nn.bias_add(a, b{self.some('data_format=`N...C` `NC...` `NHWC` `NCHW` `no`')})", [x, self.value(dtype, [r.choice((i, j))])]),
            lambda: (f"tf.linalg.trace(a)", [x]),
            lambda: (f"tf.linalg.{self.pick('adjoint matrix_transpose')}(a)", [x]),
            lambda: ("tf.math.scalar_mul(a, b)", [r.choice(SCALARS), x]),
            lambda: (f"tf.math.accumulate_n({self.pick('[a,b] [a] [a,a]')})", [x, y]),
            lambda: (f"tf.linalg.tensor_diag(a)", [x]),
            lambda: (f"tf.math.polyval([a, {self.pick('1 2.5 a')}], {self.pick('2 1.5 a')})", [x]),
        ))()

    def matrices(self):
        r, n = self.r, self.r.choice((1, 2, 3, 0))
        dtype = r.choice(("float32", "float64", "float64", "complex128", "int32"))
        batch = r.choice(([], [], [2], [0]))
        x = self.value(dtype, [*batch, n, n if r.random() < 0.9 else n + 1], "TTVAL")
        safe = "(a + 5 * tf.eye(tf.shape(a)[-1], dtype=a.dtype))"
        positive = "(tf.matmul(a, a, adjoint_b=True) + tf.eye(tf.shape(a)[-1], dtype=a.dtype))"
        t, b = self.value(dtype, [*batch, n, n], "T"), self.value(dtype, [*batch, n if r.random() < 0.95 else n + 1, 2], "TTAL")
        return r.choice((
            lambda: (f"tf.linalg.inv({safe}{self.some('adjoint=True False')})", [t]),
            lambda: (f"tf.linalg.{self.pick('det slogdet')}(a)", [x]),
            lambda: (f"tf.linalg.solve({safe}, b{self.some('adjoint=True False')})", [t, b]),
            lambda: (f"tf.linalg.cholesky({positive})", [t]),
            lambda: (f"tf.linalg.logdet({positive})", [t]),
            lambda: (f"tf.linalg.cholesky_solve(tf.linalg.cholesky({positive}), b)", [t, b]),
            lambda: (f"tf.linalg.triangular_solve({safe}, b{self.some('lower=True False', 'adjoint=True False')})", [t, b]),
            lambda: (f"tf.linalg.svd(a, compute_uv=False)", [x]),
            lambda: (f"tf.linalg.eigvalsh(a + tf.linalg.adjoint(a))", [t]),
            lambda: (f"tf.abs(tf.linalg.qr(a{self.some('full_matrices=True False')})[1])", [x]),
            lambda: (f"tf.linalg.lstsq({safe}, b{self.some('fast=True')})", [t, b]),
            lambda: (f"tf.linalg.expm(a / 4)", [t]),
            lambda: (f"tf.linalg.pinv({safe})", [t]),
            lambda: (f"tf.linalg.lu({safe})", [t]),
            lambda: (f"tf.linalg.matrix_rank({safe})", [t]),
            lambda: (f"tf.linalg.tridiagonal_solve(a, b{self.some('diagonals_format=`compact` `matrix` `no`')})", [f"tf.constant([[1, 1, 0], [5, 5, 5], [0, 1, 1]], {r.choice(PLAIN)})", self.value("float32", [3], "T")]),
            lambda: ("tf.linalg.normalize(a)", [x]),
            lambda: ("tf.linalg.global_norm([a, a])", [x]),
            lambda: (f"tf.linalg.{self.pick('inv cholesky det svd qr eigh')}(a)", [self.value(dtype, self.dims(1))]),
        ))()

    def windows(self):
        r = self.r
        dtype = r.choice(("float32", "float32", "float32", "float64", "float16", "int32"))
        n, h, w, c, o = r.randint(1, 2), r.randint(1, 5), r.randint(1, 5), r.choice((1, 2, 2, 4)), r.choice((1, 2, 4))
        kh, kw = r.randint(1, 3), r.randint(1, 3)
        x, f = self.value(dtype, [n, h, w, c], "TTTTTTV"), self.value(dtype, [kh, kw, r.choice((c, c, c, c, 1)), o], "TTTV")
        strides = self.pick("1 1 1 2 [1,2] [1,1,1,1] [1,2,2,1] [2,2] 0 [1] (1,1) None 1.5")
        padding, dilations = r.choice(PADDINGS), self.some("dilations=1 1 2 [1,2] [1,2,2,1] None [2] 0", "data_format='NHWC'")
        ksize = self.pick("1 2 2 3 [2,1] [1,2,2,1] [2] 0 (2,2) [1,1,1,1] 7")
        y = self.value(dtype, [n, w, c], "TTTV")
        cube, filt = self.value(dtype, [1, 2, h, w, c], "TTV"), self.value(dtype, [r.randint(1, 2), kh, kw, c, o], "TTV")
        simple = self.pick("'SAME' 'VALID'")
        out = [n, -(-h // 1), w, c] if simple == "'SAME'" else [n, h + kh - 1, w + kw - 1, c]
        return r.choice((
            lambda: (f"tf.nn.conv2d(a, b, {strides}, {padding}{dilations})", [x, f]),
            lambda: (f"tf.nn.conv2d(a, b, {strides}, {simple}{dilations})", [x, f]),
            lambda: (f"tf.nn.conv1d(a, b, {self.pick('1 2 [1] 0 [1,1,1]')}, {simple}{self.some('dilations=1 2 [1]', 'data_format=`NWC` `NWC` `no`')})", [y, self.value(dtype, [kw, c, o], "TTV")]),
            lambda: (f"tf.nn.conv3d(a, b, {self.pick('[1,1,1,1,1] [1,1,2,2,1] [1,1,1] 1')}, {simple}{self.some('dilations=None [1,1,1,1,1]')})", [cube, filt]),
            lambda: (f"tf.nn.convolution(a, b{self.some('strides=1 2 [1,2] None', 'padding=`SAME` `VALID`')})", [x, f]),
            lambda: (f"tf.nn.depthwise_conv2d(a, b, {self.pick('[1,1,1,1] [1,2,2,1] 1 [1,1]')}, {padding}{self.some('dilations=[1,1] [2,2] None 1')})", [x, self.value(dtype, [kh, kw, c, r.randint(1, 2)], "TTV")]),
            lambda: (f"tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], {simple})", [x, self.value(dtype, [kh, kw, c, 2], "T"), self.value(dtype, [1, 1, 2 * c, o], "T")]),
            lambda: (f"tf.nn.conv2d_transpose(a, b, {out[:3] + [2]}, {self.pick('1 1 [1,1,1,1] 2')}, {simple})", [x, self.value(dtype, [kh, kw, 2, c], "TTV")]),
            lambda: (f"tf.nn.conv1d_transpose(a, b, {[n, w if simple == chr(39) + 'SAME' + chr(39) else w + kw - 1, 2]}, 1, {simple})", [y, self.value(dtype, [kw, 2, c], "T")]),
            lambda: (f"tf.nn.max_pool2d(a, {ksize}, {strides}, {padding})", [x]),
            lambda: (f"tf.nn.avg_pool2d(a, {ksize}, {strides}, {padding})", [x]),
            lambda: (f"tf.nn.{self.pick('max_pool avg_pool')}(a, {ksize}, {strides}, {simple})", [r.choice((x, y, cube))]),
            lambda: (f"tf.nn.{self.pick('max_pool1d avg_pool1d')}(a, {self.pick('1 2 3 [2]')}, {self.pick('1 2 [1]')}, {simple})", [y]),
            lambda: (f"tf.nn.{self.pick('max_pool3d avg_pool3d')}(a, {self.pick('1 2 [1,2,1]')}, {self.pick('1 2 [1,1,2]')}, {simple})", [cube]),
            lambda: (f"tf.nn.max_pool_with_argmax(a, {ksize}, {strides}, {simple}{self.some('include_batch_in_index=True False', 'output_dtype=tf.int32 tf.int64')})", [x]),
            lambda: (f"tf.nn.pool(a, {self.pick('[2,2] [1,2] 2 [2]')}, {self.pick('`MAX` `AVG` `no`')}{self.some('strides=1 [2,2] None', 'padding=`SAME` `VALID`', 'dilations=1 [2,2]')})", [x]),
            lambda: (f"tf.nn.{self.pick('dilation2d erosion2d')}(a, b, [1, 1, 1, 1], {simple}, 'NHWC', {self.pick('[1,1,1,1] [1,2,2,1]')})", [x, self.value(dtype, [kh, kw, c], "T")]),
            lambda: (f"tf.image.extract_patches(a, [1,{kh},{kw},1], [1,{r.randint(1, 2)},1,1], [1,{r.randint(1, 2)},1,1], {simple})", [x]),
        ))()

    def layers(self):
        r = self.r
        dtype = r.choice(("float32", "float32", "float64", "float16", "bfloat16", "int32"))
        rows, n = r.randint(1, 3), r.randint(1, 4)
        x, y = self.value(dtype, [rows, n]), self.value(dtype if r.random() < 0.95 else None, r.choice(([rows, n], [rows, n], [n], [rows, 1])))
        image = self.value(dtype, [1, 2, 3, n], "TTV")
        vector = self.value(dtype, [n])
        labels = self.places(r.choice(([rows], [rows], [rows], [rows, 1])), n)
        return r.choice((
            lambda: (f"tf.nn.{self.pick('relu relu6 elu selu silu softsign softplus tanh sigmoid crelu leaky_relu gelu log_softmax softmax l2_loss zero_fraction')}(a)", [self.any()]),
            lambda: (f"tf.nn.leaky_relu(a, {self.pick('0.1 0 2 None tf.constant(0.3) -1.5 `a`')})", [x]),
            lambda: (f"tf.nn.gelu(a, {self.pick('True False None 1')})", [x]),
            lambda: (f"tf.nn.silu(a, {self.pick('1.0 2 0.5 tf.constant(2.0)')})", [x]),
            lambda: (f"tf.nn.sparse_softmax_cross_entropy_with_logits({labels}, a)", [x]),
            lambda: (f"tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b{self.some('axis=-1 0 1')})", [self.value(dtype, [rows, n], "TVAL"), self.value(dtype, [rows, n], "TVAL")]),
            lambda: ("tf.nn.sigmoid_cross_entropy_with_logits(labels=a, logits=b)", [x, y]),
            lambda: (f"tf.nn.weighted_cross_entropy_with_logits(a, b, {self.pick('1.5 2 0.0 tf.constant(2.0)')})", [self.float([rows, n]), self.float([rows, n])]),
            lambda: (f"tf.nn.log_poisson_loss(a, b{self.some('compute_full_loss=True False')})", [x, y]),
            lambda: (f"tf.nn.batch_normalization(a, b, c, {self.pick('None 1.0 b')}, {self.pick('None 1.0 c')}, {self.pick('1e-3 0.1')})", [image, vector, vector]),
            lambda: (f"tf.nn.moments(a, {r.choice(AXES)})", [image]),
            lambda: (f"tf.nn.local_response_normalization(a{self.some('depth_radius=1 2 0', 'bias=1 2.0', 'alpha=1 0.5', 'beta=0.5 1')})", [image]),
            lambda: (f"tf.nn.dropout(a, {self.pick('0 0.0 1.5 -0.5 `a` 1')})", [x]),
            lambda: (f"tf.compat.v1.nn.fused_batch_norm(tf.cast(a, tf.float32), tf.cast(b, tf.float32), tf.cast(c, tf.float32){self.some('epsilon=0.01 1e-3', 'is_training=True False')})", [image, vector, vector]),
            lambda: (f"tf.nn.compute_average_loss(a{self.some('global_batch_size=2 4 0 1.5')})", [x]),
            lambda: (f"tf.nn.normalize_moments(a, b, c, {self.pick('None 1.0')})", ["2.0", vector, vector]),
            lambda: (f"tf.nn.sufficient_statistics(a, {self.pick('[0] [1] [0,1] [-1] []')}{self.some('shift=None 1.0', 'keepdims=True False')})", [x]),
            lambda: (f"tf.quantization.fake_quant_with_min_max_args(tf.cast(a, tf.float32){self.some('min=-6 -1.5 0', 'max=6 1.5', 'num_bits=8 4 2 1', 'narrow_range=True False')})", [x]),
            lambda: (f"tf.quantization.fake_quant_with_min_max_vars(tf.cast(a, tf.float32), {self.pick('-1.0 0.0 -3')}, {self.pick('1.0 3')}{self.some('num_bits=8 4')})", [x]),
            lambda: (f"tf.clip_by_value(a, {self.pick('-1 -1.0 0 b 2')}, {self.pick('1 1.0 2 b')})", [x, y]),
            lambda: (f"tf.clip_by_global_norm([a, b, {self.pick('None a')}], {self.pick('1.0 2 0')})", [x, y]),
            lambda: (f"tf.math.{self.pick('betainc')}(a, b, {self.pick('0.5 a')})", [x, y]),
            lambda: (f"tf.math.{self.pick('igamma igammac zeta polygamma xlogy xdivy xlog1py divide_no_nan multiply_no_nan atan2 nextafter squared_difference floormod floordiv mod pow')}(a, b)", self.pair()),
        ))()

    def text(self):
        r = self.r
        x = r.choice((self.value("string"), self.value("string"), "'héllo wörld'", "['ab', 'cd ', ' é']", "b'abc'", "tf.constant(['A b', 'xyz'])", "np.array(['a', 'bc'])", "[]", "1", "[['a'], ['b']]"))
        return r.choice((
            lambda: (f"tf.strings.length(a{self.some('unit=`BYTE` `UTF8_CHAR` `no`')})", [x]),
            lambda: (f"tf.strings.join([a, {self.pick('`x` a [`q`,`w`] 1')}]{self.some('separator=`,` ``')})", [x]),
            lambda: (f"tf.strings.upper(a{self.some('encoding=`` `utf-8` `no`')})", [x]),
            lambda: (f"tf.strings.strip(a)", [x]),
            lambda: (f"tf.strings.substr(a, {self.pick('0 1 [0,1] 5')}, {self.pick('1 2 0 -1 [1,1]')}{self.some('unit=`BYTE` `UTF8_CHAR`')})", [x]),
            lambda: (f"tf.strings.regex_replace(a, {self.pick('`a` `[a-c]+` `(b)` `(` `^`')}, {self.pick('`z` ``')}{self.some('replace_global=True False')})", [x]),
            lambda: (f"tf.strings.regex_full_match(a, {self.pick('`a` `.*` `[a-c]+` `(`')})", [x]),
            lambda: (f"tf.strings.to_hash_bucket_fast(a, {self.pick('10 1 0 -1')})", [x]),
            lambda: (f"tf.strings.to_hash_bucket_strong(a, 10, [1, 2])", [x]),
            lambda: (f"tf.strings.to_hash_bucket(a, 7)", [x]),
            lambda: (f"tf.strings.reduce_join(a{self.some('axis=0 -1 None [0,1]', 'separator=`,` ``', 'keepdims=True False')})", [self.value("string")]),
            lambda: (f"tf.strings.as_string(a)", [self.any()]),
            lambda: (f"tf.strings.to_number(a, {r.choice(PLAIN)})", [x]),
            lambda: (f"a {self.pick('+ == != < -')} {self.pick('`a` b`b` a 1 [`a`]')}", [self.value("string", kinds="TV")]),
            lambda: (f"tf.{self.pick('reshape tile broadcast_to')}(a, {self.pick('[-1] [2] [1] [2,1] []')})", [x]),
            lambda: (f"tf.{self.pick('concat stack')}([a, a], {self.pick('0 -1 1')})", [x]),
            lambda: (f"tf.{self.pick('gather gather_nd')}(a, {self.pick('[0] [[0]] 0 [1]')})", [x]),
            lambda: (f"tf.{self.pick('equal not_equal')}(a, {self.pick('`a` a [`a`,`b`] 1 None')})", [x]),
            lambda: (f"tf.{self.pick('identity transpose squeeze shape size rank zeros_like ones_like unstack unique argmax sort')}(a)", [x]),
            lambda: (f"tf.where({self.pick('True False [True] [True,False]')}, a, {self.pick('`z` a')})", [x]),
            lambda: (f"tf.reverse(a, {self.pick('[0] [-1] [] [1]')})", [x]),
            lambda: (f"tf.pad(a, [[1, 0]]{self.some('constant_values=`p` 0')})", [x]),
            lambda: (f"tf.one_hot([0, 1], 2, on_value={self.pick('`a` 1')}, off_value={self.pick('`b` 0')})", []),
            lambda: (f"tf.fill({self.pick('[2] [] [0] [1,2]')}, a)", [x]),
        ))()

    def images(self):
        r = self.r
        c, h, w = r.choice((3, 3, 1, 2)), r.randint(1, 4), r.randint(1, 4)
        x = self.value(r.choice(("float32", "float32", "uint8", "int32", "float16")), r.choice(([h, w, c], [2, h, w, c], [h, w])), "TTTV")
        size = r.choice((f"[{r.randint(1, 5)}, {r.randint(1, 5)}]", "[0, 2]", "[2]", "3", "tf.constant([2, 3])", "[2.0, 2]"))
        method = self.pick("'bilinear' 'nearest' 'bicubic' 'area' 'lanczos3' 'gaussian' 'no' tf.image.ResizeMethod.BILINEAR")
        return r.choice((
            lambda: (f"tf.image.resize(a, {size}, {method}{self.some('preserve_aspect_ratio=True False', 'antialias=True False')})", [x]),
            lambda: (f"tf.image.{self.pick('flip_left_right flip_up_down transpose rgb_to_grayscale rgb_to_yuv yuv_to_rgb rgb_to_yiq per_image_standardization total_variation sobel_edges image_gradients')}(a)", [x]),
            lambda: ("tf.image.grayscale_to_rgb(a)", [self.value("float32", [h, w, r.choice((1, 1, 2))], "TTV")]),
            lambda: (f"tf.image.rot90(a, {self.pick('0 1 2 3 5 -1')})", [x]),
            lambda: (f"tf.image.adjust_brightness(a, {self.pick('0.1 -0.5 1 2')})", [x]),
            lambda: (f"tf.image.adjust_contrast(a, {self.pick('0.5 2 0 1.5')})", [x]),
            lambda: (f"tf.image.adjust_gamma(a{self.some('gamma=1 2.0 0.5 -1', 'gain=1 2.0')})", [x]),
            lambda: (f"tf.image.central_crop(a, {self.pick('0.5 1.0 0.3 0 1.5 -1')})", [x]),
            lambda: (f"tf.image.crop_to_bounding_box(a, {r.randint(-1, 1)}, 0, {r.randint(0, 4)}, {r.randint(1, 4)})", [x]),
            lambda: (f"tf.image.pad_to_bounding_box(a, {r.randint(-1, 1)}, 1, {r.randint(1, 6)}, {r.randint(1, 6)})", [x]),
            lambda: (f"tf.image.{self.pick('resize_with_pad resize_with_crop_or_pad')}(a, {r.randint(0, 5)}, {r.randint(1, 5)})", [x]),
            lambda: (f"tf.image.psnr(a, b, {self.pick('1.0 255')})", [x, x]),
            lambda: (f"tf.image.stateless_random_{self.pick('flip_left_right flip_up_down')}(a, [1, {r.randint(0, 9)}])", [x]),
            lambda: (f"tf.image.stateless_random_brightness(a, {self.pick('0.5 0 -1')}, [1, {r.randint(0, 9)}])", [x]),
            lambda: (f"tf.image.stateless_random_contrast(a, 0.2, {self.pick('0.5 0.2 0.1')}, [1, {r.randint(0, 9)}])", [x]),
            lambda: (f"tf.image.stateless_random_crop(a, {size}, [1, {r.randint(0, 9)}])", [x]),
        ))()

    def chosen(self):
        """Random numbers with given seeds."""
        r, seed = self.r, self.pick("[1,2] [0,0] (3,4) tf.constant([5,6],tf.int64) [1.5,2] [-1,7] np.array([1,2]) 3")
        shape, dtype = r.choice(SHAPES[:14] + ["[2,3]", "[5]", "[4]", "[7]"]), r.choice(CHOOSING)
        return r.choice((
            lambda: (f"tf.random.stateless_uniform({shape}, {seed}{self.some('minval=0 -1 2.5 None', 'maxval=1 5 None 10', f'dtype={dtype}', 'alg=`philox` `auto_select` 1 `no`')})", []),
            lambda: (f"tf.random.stateless_normal({shape}, {seed}{self.some('mean=0 1.5 -2', 'stddev=1 0.5 0', f'dtype={dtype}')})", []),
            lambda: (f"tf.random.stateless_truncated_normal({shape}, {seed}{self.some('mean=0 1.5', 'stddev=1 0.5', f'dtype={dtype}')})", []),
            lambda: (f"tf.random.stateless_categorical(a, {self.pick('3 0 1 tf.constant(2)')}, {seed}{self.some('dtype=tf.int64 tf.int32 tf.float32')})", [self.value("float32", [2, 3])]),
            lambda: (f"tf.random.{self.pick('uniform normal truncated_normal')}({self.pick('[2,3] [5] [] [0] 2 [2.5]')}{self.some(f'dtype={dtype}')}).shape", []),
            lambda: (f"tf.random.uniform({self.pick('[2,3] [5] [] [0] 2')}, 3, {self.pick('3 2 5 9')}{self.some(f'dtype={dtype}')}).dtype", []),
            lambda: (f"tf.random.stateless_poisson({self.pick('[2,3] [5] [] [0]')}, {seed}, a{self.some(f'dtype={dtype}')}).shape", [self.pick("1.5 0.0 2")]),
            lambda: (f"tf.random.experimental.stateless_{self.pick('split fold_in')}({seed}, {self.pick('2 3 0')})", []),
            lambda: (f"tf.random.experimental.stateless_shuffle(a, {seed})", [self.value()]),
            lambda: (f"tf.random.Generator.from_seed({self.pick('1 2 0')}).{self.pick('normal uniform truncated_normal')}({self.pick('[2,3] [5] [] [0]')})", []),
            lambda: (f"(tf.random.set_seed({r.randint(0, 9)}), tf.random.{self.pick('uniform normal')}([3], seed={r.randint(0, 9)}))", []),
            lambda: (f"(tf.random.set_seed({r.randint(0, 9)}), tf.random.shuffle(tf.range(5), seed={r.randint(0, 9)}))", []),
        ))()

    def segments(self):
        r, rows = self.r, self.r.randint(0, 4)
        one, x = self.pick("sum mean max min prod"), self.value(r.choice(FLOATS + INTS), [rows, *self.dims(2)])
        ids = sorted(r.randint(0, 3) for _ in range(rows))
        ids = r.choice((ids, ids, ids, ids[::-1], [i - 1 for i in ids], f"tf.constant({ids}, tf.int64, [{rows}])", f"tf.constant({ids}, tf.int32, [{rows}])", [ids]))
        at = self.places([3], max(rows, 1))
        return r.choice((
            lambda: (f"tf.math.segment_{one}(a, {ids})", [x]),
            lambda: (f"tf.math.unsorted_segment_{one}(a, {ids}, {self.pick('4 3 1 0 -1 tf.constant(4) tf.constant(5,tf.int64) 2.5')})", [x]),
            lambda: (f"tf.math.unsorted_segment_sqrt_n(a, {ids}, {self.pick('4 3')})", [x]),
            lambda: (f"tf.sparse.segment_{self.pick('sum mean sqrt_n')}(a, {at}, {self.pick('[0,0,1] [0,1,2] [0,1,5] [1,0,0]')}{self.some('num_segments=3 4 1 8')})", [x]),
            lambda: (f"tf.raw_ops.SegmentSum(data=a, segment_ids={ids})", [x]),
        ))()

    def counting(self):
        r = self.r
        x = self.value(r.choice(("int32", "int32", "int64", "float32", "uint8")))
        return r.choice((
            lambda: (f"tf.math.bincount(tf.abs(a){self.some('minlength=3 0 None', 'maxlength=2 4 None', 'dtype=tf.int32 tf.int64 tf.float32', 'binary_output=True False', 'axis=0 -1 None')})", [self.value(r.choice(("int32", "int64")), kinds="T")]),
            lambda: (f"tf.math.bincount(a, weights=b)", [self.places([3], 4), self.value(r.choice(("float32", "int32", "float64")), [3])]),
            lambda: (f"tf.math.confusion_matrix({self.places([3], 3)}, {self.places([3], 3)}{self.some('num_classes=3 4 2 None', 'weights=[1,2,3] [1.0,0.5,2.0] None', 'dtype=tf.int32 tf.float32')})", []),
            lambda: (f"tf.range({', '.join(self.pick('0 1 5 -2 2.5 tf.constant(3) np.float32(2) 10') for _ in range(r.randint(1, 3)))}{self.some('dtype=tf.int32 tf.float32 tf.int64 tf.float16')})", []),
            lambda: (f"tf.linspace(a, b, {self.pick('1 2 5 0')}{self.some('axis=0 -1 1')})", [self.value("float32", [2]), self.value("float32", [2])]),
            lambda: ("tf.math.zero_fraction(a)", [x]),
            lambda: (f"tf.bitwise.{self.pick('bitwise_and bitwise_or bitwise_xor left_shift right_shift')}(a, b)", self.pair()),
            lambda: ("tf.bitwise.invert(a)", [x]),
            lambda: (f"tf.math.{self.pick('floordiv floormod mod truediv divide truncatediv truncatemod'.replace('truncatediv truncatemod', ''))}(a, b)", self.pair()),
            lambda: (f"tf.{self.pick('truncatediv truncatemod realdiv')}(a, b)", self.pair()),
        ))()

    def sparse(self):
        r = self.r
        x = f"tf.sparse.from_dense({self.value(r.choice(('float32', 'int32', 'float64')), r.choice(([2, 3], [3], [2, 2, 2])), 'TA')})"
        made = f"tf.SparseTensor([[0, 0], [1, 2]], {self.pick('[1,2] [1.5,2.0]')}, [2, 3])"
        s = r.choice((x, made))
        return r.choice((
            lambda: ("tf.sparse.to_dense(a)", [s]),
            lambda: (f"tf.sparse.to_dense(a, {self.pick('0 1 2.5 -1')})", [s]),
            lambda: (f"tf.sparse.reduce_sum(a, {self.pick('None 0 1 -1 [0] [0,1] [] 5')})", [s]),
            lambda: (f"tf.sparse.{self.pick('reorder transpose softmax expand_dims')}(a)", [s]),
            lambda: (f"tf.sparse.reshape(a, {self.pick('[-1] [3,2] [6] [2,-1] [4]')})", [s]),
            lambda: (f"tf.sparse.slice(a, [0, 0], {self.pick('[1,2] [2,3] [5,5]')})", [made]),
            lambda: (f"tf.sparse.sparse_dense_matmul(a, b)", [made, self.value(r.choice(("int32", "float32")), [r.choice((3, 3, 2)), 2])]),
            lambda: (f"tf.sparse.{self.pick('add maximum minimum')}(a, b)", [made, made]),
            lambda: (f"tf.sparse.concat({self.pick('0 1 -1')}, [a, b])", [made, made]),
            lambda: (f"tf.sparse.retain(a, {self.pick('[True,False] [True] [False,False]')})", [made]),
            lambda: (f"tf.sparse.fill_empty_rows(a, {self.pick('0 1 1.5')})", [made]),
            lambda: (f"a {self.pick('* / +')} {self.pick('2 2.5 [[1,2,3]]')}", [made]),
            lambda: (f"a.{self.pick('shape dtype indices values dense_shape get_shape() rank')}", [s]),
            lambda: (f"tf.SparseTensor({self.pick('[[0,0]] [[0]] [] [0]')}, {self.pick('[1] [1,2] []')}, {self.pick('[2,3] [2] []')})", []),
        ))()

    def checks(self):
        r = self.r
        two, one = self.pick("equal none_equal less less_equal greater greater_equal near"), self.pick("positive negative non_negative non_positive integer scalar all_finite proper_iterable")
        return r.choice((
            lambda: (f"tf.debugging.assert_{two}(a, b)", self.pair()),
            lambda: (f"tf.debugging.assert_{two}(a, b{self.some('message=`m`', 'summarize=3', 'name=None `n`')})", [self.value("int32", [2]), self.value("int32", [2])]),
            lambda: (f"tf.debugging.assert_{one}(a{', ' + repr('m') if one == 'all_finite' else ''})", [self.any()]),
            lambda: (f"tf.debugging.assert_rank{self.pick('', '_at_least')}(a, {self.pick('0 1 2 None tf.constant(1) [1] 1.5')})".replace("rank(", "rank("), [self.any()]),
            lambda: (f"tf.debugging.assert_rank_in(a, {self.pick('[0,1] [2] (1,2) []')})", [self.any()]),
            lambda: (f"tf.debugging.assert_type(a, {r.choice(PLAIN)})", [self.tensor()]),
            lambda: (f"tf.debugging.assert_shapes([(a, {self.pick('(`N`,) (2,) (`N`,`M`) () [2,`q`] `NM`')})])", [self.tensor()]),
            lambda: ("tf.debugging.assert_same_float_dtype([a, b])", [self.tensor(), self.tensor()]),
            lambda: ("tf.debugging.is_numeric_tensor(a)", [self.any()]),
            lambda: ("tf.debugging.check_numerics(a, 'm')", [self.any()]),
            lambda: (f"(tf.debugging.Assert(a, [{self.pick('1 a `x`')}]), 1)[1]", [self.value('bool', [])]),
            lambda: ("tf.get_static_value(a)", [self.any()]),
            lambda: ("tf.is_symbolic_tensor(a)", [self.any()]),
            lambda: ("tf.type_spec_from_value(a)", [self.value(kinds="TA")]),
        ))()

    def loops(self):
        r = self.r
        x, row = self.value(r.choice(("float32", "int32", "float64", "bool"))), self.value("float32")
        return r.choice((
            lambda: (f"tf.cond(a, lambda: {self.pick('1 b [b,1] None')}, lambda: {self.pick('2 b [b,2] None 2.5')})", [self.value('bool', []) if r.random() < 0.8 else self.pick('1 0 2.5 None np.bool_(True) [] `a` True'), x]),
            lambda: (f"tf.map_fn(lambda e: {self.pick('e e*2 e+1 [e,e] None')}, a{self.some('fn_output_signature=tf.float32', 'dtype=tf.float32')})", [row]),
            lambda: (f"tf.vectorized_map(lambda e: {self.pick('e e*2 e+e tf.reduce_sum(e)')}, a)", [self.value("float32", [2, *self.dims(2)], "T")]),
            lambda: (f"tf.scan(lambda s, e: {self.pick('s s+e e s*e')}, a{self.some('initializer=1.0', 'reverse=True False')})", [row]),
            lambda: (f"tf.{self.pick('foldl foldr')}(lambda s, e: {self.pick('s s+e e s*e')}, a{self.some('initializer=1.0')})", [row]),
            lambda: (f"tf.while_loop(lambda i, s: i < {self.pick('3 0 a')}, lambda i, s: (i + 1, {self.pick('s+1 s*2 s')}), [{self.pick('0 tf.constant(0)')}, a]{self.some('maximum_iterations=2 10 None')})", [x]),
            lambda: (f"tf.case([({self.pick('True False tf.constant(True)')}, lambda: {self.pick('1 a')}), (tf.constant(True), lambda: a)]{self.some('default=lambda:2 None', 'exclusive=True False')})", [x]),
            lambda: (f"tf.switch_case({self.pick('0 1 5 -1 tf.constant(1) 0.5')}, [lambda: {self.pick('1 a')}, lambda: {self.pick('a 2')}]{self.some('default=lambda:a')})", [x]),
            lambda: (f"(lambda t: t.write(0, a).write(1, a).{self.pick('stack() concat() read(0) gather([0])')})(tf.TensorArray(a.dtype, 2{self.some('dynamic_size=True False', 'clear_after_read=True False')}))", [self.tensor("float32")]),
            lambda: (f"tf.nest.{self.pick('flatten is_nested')}({self.pick('[a,[a]] {`b`:a,`a`:[1,2]} a (a,) None')})", [x]),
            lambda: (f"tf.nest.map_structure(lambda u: {self.pick('u u*2')}, {self.pick('[a,[a]] {`b`:a,`a`:[1,2]} a (a,)')})", [self.tensor("float32")]),
            lambda: (f"tf.grad_pass_through(lambda u: u * 2)(a)", [self.tensor("float32")]),
            lambda: (f"tf.stop_gradient(a)", [self.any()]),
            lambda: (f"tf.group()", []),
        ))()

    def extremes(self):
        """Ordinary functions of the largest, smallest and oddest numbers."""
        r = self.r
        dtype = r.choice(("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"))
        values = ("[0, 1, 2, tf.{0}.max, tf.{0}.max - 1, tf.{0}.min, tf.{0}.min + 1]" if "int" in dtype else
                  "[0.0, -0.0, np.nan, np.inf, -np.inf, 1e-6, 0.5, -0.5, 1.5, 2.5, -2.5, 100.0, -100.0, 3.0]").format(dtype)
        x = f"tf.constant(np.array({values}).astype(tf.{dtype}.as_numpy_dtype))"
        y = r.choice((x, f"tf.reverse({x}, [0])", f"tf.constant({self.pick('0 1 2 3')}, tf.{dtype})", f"tf.constant({self.pick('0 1 2 3')}, tf.{dtype})"))
        binary = self.pick("""math.add math.subtract math.multiply math.divide math.truediv math.floordiv math.floormod math.maximum math.minimum math.pow
            math.squared_difference math.atan2 math.divide_no_nan math.multiply_no_nan math.xdivy math.xlogy math.less math.equal
            math.greater_equal bitwise.bitwise_and bitwise.left_shift bitwise.right_shift truncatediv truncatemod math.nextafter
            math.xlog1py realdiv""")
        unary = self.pick("""math.abs math.negative math.sign math.square math.sqrt math.rsqrt math.exp math.expm1 math.log math.log1p math.sin math.cos math.tan math.asin
            math.acos math.atan math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh math.floor math.ceil math.round math.rint
            math.sigmoid math.reciprocal math.is_nan math.is_inf math.is_finite math.erf math.erfc math.erfinv math.ndtri math.lgamma math.digamma math.softplus
            nn.relu nn.relu6 nn.elu nn.selu nn.softsign nn.softmax nn.log_softmax nn.gelu nn.silu nn.leaky_relu bitwise.invert
            math.reciprocal_no_nan math.log_sigmoid math.bessel_i0 math.bessel_i1e math.special.dawsn math.special.expint math.special.spence""")
        return r.choice((
            lambda: (f"tf.{binary}(a, b)", [x, y]),
            lambda: (f"tf.{binary}(a, b)", [x, y]),
            lambda: (f"tf.{unary}(a)", [x]),
            lambda: (f"tf.{unary}(a)", [x]),
            lambda: (f"tf.math.reduce_{self.pick('sum mean max min prod logsumexp variance std euclidean_norm any all')}(a)", [x]),
            lambda: (f"tf.{self.pick('math.cumsum math.cumprod argmax argmin math.cumulative_logsumexp')}(a)", [x]),
            lambda: (f"tf.{self.pick('sort argsort')}(a{self.some('direction=`DESCENDING` `ASCENDING`')})", [x if "int" in dtype else f"tf.constant([1, 3, -2, 1, 0], tf.{dtype})"]),
            lambda: (f"a {self.pick('+ - * / // % ** == < >= != & |')} {self.pick('1 2 -1 0 2.5 300 -300 2**31 True 1e40')}", [x]),
            lambda: (f"tf.clip_by_value(a, {self.pick('0 1' if dtype[0] == 'u' else '0 1 -1')}, {self.pick('2 3 1')})", [x]),
            lambda: (f"tf.where(tf.equal(a, a), a, {self.pick('0 1')})", [x]),
            lambda: (f"tf.math.{self.pick('unsorted_segment_max unsorted_segment_min unsorted_segment_sum unsorted_segment_prod')}(a, tf.range(tf.size(a)) % 3, 4)", [x]),
        ))()

    def next(self):
        family = self.r.choice(FAMILIES)
        code, args = getattr(self, family)()
        if family in EVEN:
            args = [a.replace(", True)", ")") for a in args]
        return self.call("use", family, code, args)
