"""Calls for peers_fuzz.py of the wider families of public functions: special functions, sorting and counting, segments, scattering,
matrices, convolutions and losses. A method returns (name, arguments, keyword arguments); the Writer that inherits these methods
writes the tensors."""

UNARY = """math.erfinv math.ndtri math.erfcinv math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e
math.special.bessel_j0 math.special.bessel_j1 math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_y0
math.special.dawsn math.special.expint math.special.fresnel_cos math.special.fresnel_sin math.special.spence
math.log_sigmoid math.reciprocal_no_nan math.lbeta math.is_strictly_increasing math.is_non_decreasing math.zero_fraction
nn.crelu nn.tanh nn.sigmoid nn.swish linalg.trace linalg.tensor_diag linalg.tensor_diag_part linalg.adjoint
linalg.matrix_transpose linalg.norm norm where add_n unique unique_with_counts math.l2_normalize nn.l2_normalize
math.cumulative_logsumexp math.cumsum math.cumprod math.invert_permutation math.bincount linalg.det argsort sort
math.count_nonzero unstack debugging.check_numerics linalg.normalize linalg.slogdet math.reduce_logsumexp constant
convert_to_tensor math.softmax math.log_softmax nn.zero_fraction math.argmax math.argmin reduce_sum size""".split()
BINARY = """math.floormod math.xlog1py math.nextafter math.igamma math.igammac math.zeta math.polygamma realdiv truncatediv
truncatemod bitwise.left_shift bitwise.right_shift linalg.matvec nn.bias_add complex nn.sigmoid_cross_entropy_with_logits
nn.softmax_cross_entropy_with_logits nn.log_poisson_loss broadcast_dynamic_shape boolean_mask linalg.cross
saturate_cast""".split()


class Calls:
    """Mixed into the Writer of peers_fuzz.py: it has r, dims(), dtype(), tensor(), partner(), axis()."""

    def more(self):
        kind = self.r.choice(("more_unary", "more_binary", "counting", "segments", "scatter", "matrices", "layers", "layers", "shaping",
                              "shaping"))
        return getattr(self, kind)()

    def more_unary(self):
        low, name = self.r.choice((-4, -4, 0, -1)), self.r.choice(UNARY)
        x = self.tensor(low=low, high=max(low + 2, self.r.choice((1, 4))))
        if name == "math.lbeta" and "float16" in x["dtype"]:  # a difference of sums that TensorFlow rounds to 16 bits at each step
            x["dtype"] = "float32"
        return name, [x], {}

    def more_binary(self):
        name = self.r.choice(BINARY)
        x = self.tensor(low=self.r.choice((0, -3)), high=4)
        if name == "saturate_cast":  # of 64 bits TensorFlow rounds the limit itself out of range
            return name, [{**x, "dtype": "int32"} if x["dtype"].endswith("int64") else x, self.dtype()], {}
        if name == "boolean_mask":
            return name, [x, self.tensor(x["dims"][:self.r.randint(0, 3)], "bool")], {"axis": self.r.choice((None, 0, 1))}
        if name == "linalg.matvec":
            x = self.tensor(self.dims(2), self.number())
            return name, [x, self.tensor(x["dims"][:-2] + x["dims"][-1:], x["dtype"])], {}
        if name == "nn.bias_add":
            return name, [x, self.tensor(x["dims"][-1:], x["dtype"])], {}
        y = self.partner(x)
        return name, [x, y], {}

    def number(self):
        return self.r.choice(("float32", "float32", "float64", "int32", "float16", "complex64", "bfloat16"))

    def plain(self, dims, dtype, low=-4):
        return {**self.tensor(dims, dtype, low), "tensor": "tensor", "odd": False}

    def ids(self, n, most, low=0):
        return {**self.tensor([n], self.r.choice(("int32", "int32", "int64")), low, most), "odd": False}

    def counting(self):
        r, x = self.r, self.tensor()
        axis = self.axis(x)
        whole = axis[0] if isinstance(axis, list) else axis
        count = {**self.tensor(dtype=r.choice(("int32", "int32", "int64", "float32")), low=0, high=4), "odd": False}
        edges = {**self.tensor([r.randint(1, 4)], "float32", -3, 3), "odd": False}
        return r.choice([
            lambda: ("math.bincount", [count], {"minlength": r.choice((None, 2, 6)), "maxlength": r.choice((None, 3))}),
            lambda: ("unique", [{**self.tensor([r.randint(0, 5)], x["dtype"], 0, 3), "odd": False}], {}),
            lambda: ("histogram_fixed_width", [x, [-2.0, 2.0]], {"nbins": r.randint(0, 4)}),
            lambda: ("searchsorted", [[-2.0, -1.0, 0.5, 2.0], edges], {"side": r.choice(("left", "right", "middle"))}),
            lambda: ("argsort", [{**x, "odd": False}], {"axis": whole if whole is not None else -1, "stable": True,
                                                        "direction": r.choice(("ASCENDING", "DESCENDING", "UP"))}),
            lambda: ("math.top_k", [{**x, "odd": False}], {"k": r.randint(-1, 5), "sorted": True}),
            lambda: ("math.in_top_k", [self.ids(3, 4), self.tensor([3, 4], r.choice(("float32", "int32"))), r.randint(0, 5)], {}),
            lambda: ("math.confusion_matrix", [self.ids(4, 3), self.ids(4 if r.random() < 0.8 else 3, 3)],
                     {"num_classes": r.choice((None, 3, 2))}),
            lambda: ("math.count_nonzero", [x], {"axis": axis, "keepdims": r.choice((None, True)),
                                                 "dtype": r.choice(("int64", "int32"))}),
            lambda: ("math.cumprod", [x], {"axis": whole or 0, "exclusive": r.random() < 0.3, "reverse": r.random() < 0.3}),
            lambda: ("math.cumulative_logsumexp", [x], {"axis": whole or 0, "exclusive": r.random() < 0.3}),
            lambda: ("math.reduce_logsumexp", [x], {"axis": axis, "keepdims": r.random() < 0.3}),
            lambda: ("math.l2_normalize", [x], {"axis": axis}),
            lambda: ("norm", [x], {"ord": r.choice(("euclidean", 1, 2, "fro", 0.5)), "axis": axis}),
            lambda: ("nn.moments", [{**x, "tensor": "tensor"}, axis if axis is not None else [0]], {"keepdims": r.random() < 0.5}),
            lambda: ("sequence_mask", [count, r.choice((None, 3, 2.0))], {}),
            lambda: ("math.zero_fraction", [x], {}),
            lambda: ("clip_by_norm", [x, r.choice((1, 1.5, 0))], {"axes": axis}),
            lambda: ("clip_by_global_norm", [[x, self.tensor(dtype=x["dtype"])], 1.5], {}),
            lambda: ("linalg.global_norm", [[x, self.tensor(dtype=x["dtype"])]], {}),
            lambda: ("math.polyval", [[x, self.tensor(x["dims"], x["dtype"])], r.choice((2, 1.5))], {}),
        ])()

    def segments(self):
        r, x = self.r, self.tensor()
        n = x["dims"][0] if x["dims"] else 1
        word = r.choice(("sum", "mean", "max", "min", "prod"))
        if word in ("max", "min"):
            x["odd"] = False  # which NaN wins depends on the column in TensorFlow
        ids = sorted(r.randint(0, 3) for _ in range(n if r.random() < 0.95 else n + 1))
        if r.random() < 0.5:
            return f"math.segment_{word}", [x, ids if r.random() < 0.95 else ids[::-1]], {}
        r.shuffle(ids)
        word = r.choice((word, "sqrt_n"))
        return f"math.unsorted_segment_{word}", [x, ids, r.choice((4, 4, 4, 3, 0))], {}

    def scatter(self):
        r, x = self.r, self.tensor(self.dims(1))
        n, depth = len(x["dims"]), 1
        while depth < n and r.random() < 0.5:
            depth += 1
        places = [[r.randrange(max(1, d) if r.random() < 0.97 else d + 1) for d in x["dims"][:depth]] for _ in range(r.randint(0, 3))]
        places = places or {"tensor": "tensor", "dtype": "int32", "dims": [0, depth], "seed": 1, "low": 0, "high": 1, "odd": False}
        rows = len(places) if isinstance(places, list) else 0
        updates = self.tensor([rows] + x["dims"][depth:], x["dtype"] if r.random() < 0.9 else None)
        word = r.choice(("update", "add", "sub", "min", "max"))
        return r.choice([
            lambda: (f"tensor_scatter_nd_{word}", [x, places, updates], {}),
            lambda: ("scatter_nd", [places, updates, x["dims"]], {}),
            lambda: ("gather_nd", [x, places], {"batch_dims": r.choice((0, 0, 0, 1))}),
            lambda: ("gather", [x, self.ids(3, max(1, x["dims"][0]))], {"axis": r.randint(-n, n - 1), "batch_dims": r.choice((0, 0, 1))}),
            lambda: ("dynamic_partition", [x, self.ids(x["dims"][0], 2), 2], {}),
            lambda: ("dynamic_stitch", [[[0, 1], [2]], [self.tensor([2, 2], x["dtype"]), self.tensor([1, 2], x["dtype"])]], {}),
            lambda: ("reverse_sequence", [x, self.ids(x["dims"][0], 3)], {"seq_axis": r.choice((1, 0)), "batch_axis": 0}),
            lambda: ("one_hot", [{**self.tensor(dtype=r.choice(("int32", "int64", "uint8", "int8", "float32")), low=-1), "odd": False},
                                 r.randint(-1, 4)], {"on_value": r.choice((None, 2, 1.5, True)), "off_value": r.choice((None, 0, -1.0)),
                                                     "axis": r.choice((None, 0, -1, 5)), "dtype": r.choice((None, "float32", "int32"))}),
            lambda: ("where", [x], {}),
        ])()

    def matrices(self):
        r, dtype = self.r, self.number()
        batch, n, m = self.dims()[:1], r.choice((0, 1, 2, 2, 3, 3)), r.randint(1, 3)
        square = {**self.tensor(batch + [n, n], dtype), "odd": False}
        b = self.tensor(batch + [n if r.random() < 0.9 else 4, m], dtype if r.random() < 0.95 else None)
        total = "ij,ij->" if dtype not in ("float16", "bfloat16") else "ij,ij->i"  # TensorFlow rounds each partial sum to 16 bits
        flags = {k: True for k in ("transpose_a", "transpose_b", "adjoint_a", "adjoint_b") if r.random() < 0.2}
        return r.choice([
            lambda: ("linalg.matmul", [square, b], flags),
            lambda: ("linalg.band_part", [square, r.randint(-1, 3), r.randint(-1, 3)], {}),
            lambda: ("linalg.set_diag", [square, self.tensor(batch + [n], dtype)], {}),
            lambda: ("linalg.diag", [square], {"k": r.randint(-1, 1)}),
            lambda: ("linalg.diag_part", [square], {"k": r.randint(-1, 1)}),
            lambda: ("linalg.det", [square], {}),
            lambda: ("linalg.solve", [square, b], {}) if n == 1 else ("linalg.trace", [square], {}),
            lambda: ("linalg.triangular_solve", [self.tensor(batch + [n, n], dtype, 1, 4), b], {"lower": r.random() < 0.5}),
            lambda: ("tensordot", [square, b, r.choice((0, 1, 2, [[0], [0]]))], {}),
            lambda: ("linalg.trace", [square], {}) if n == 0 else ("einsum", [r.choice(("ij,jk->ik", "...ij,...jk->...ik", "bij,bjk->bik", total, "ij->ji")), {**square, "tensor": "tensor"}, {**b, "tensor": "tensor"}], {}),
            lambda: ("linalg.matvec", [square, self.tensor(batch + [n], dtype)], {}),
            lambda: ("eye", [r.randint(0, 3), r.choice((None, 2))], {"batch_shape": r.choice((None, [2])), "dtype": self.dtype()}),
            lambda: ("meshgrid", [self.tensor([n], dtype), self.tensor([m], dtype)], {"indexing": r.choice(("xy", "ij", "no"))}),
        ])()

    def layers(self):
        r, dtype = self.r, self.r.choice(("float32", "float32", "float32", "float64", "float16", "bfloat16", "int32"))
        n, h, w, c, k = r.randint(1, 2), r.randint(1, 5), r.randint(1, 5), r.randint(1, 3), r.randint(1, 3)
        # these functions read the shape or dtype of their first argument, so it cannot be a list; it has no NaN,
        # because whether a NaN spreads next to the padding depends on the order of the sums
        image, stride = {**self.tensor([n, h, w, c], dtype), "tensor": "tensor", "odd": False}, r.choice((1, 1, 2, [1, 2], 0))
        padding = r.choice(("SAME", "VALID", "same"))
        logits = {**self.tensor([3, 4], dtype), "odd": False}
        return r.choice([
            lambda: ("nn.conv2d", [image, self.plain([k, r.randint(1, 2), c, 2], dtype)], {"strides": stride, "padding": padding}),
            lambda: ("nn.conv1d", [self.plain([n, w, c], dtype), self.plain([k, c, 2], dtype)], {"stride": 1, "padding": padding}),
            lambda: ("nn.depthwise_conv2d", [{**image, "dtype": "float32"}, self.plain([k, 2, c, 1], "float32")], {"strides": [1, 1, 1, 1], "padding": padding}),
            lambda: ("nn.max_pool2d", [image], {"ksize": k, "strides": stride, "padding": padding}),
            lambda: ("nn.avg_pool2d", [image], {"ksize": k, "strides": stride, "padding": padding}),
            lambda: ("nn.max_pool1d", [self.tensor([n, w, c], dtype)], {"ksize": k, "strides": 1, "padding": padding}),
            lambda: ("nn.softmax", [logits], {"axis": r.choice((-1, 0, 1, 2, -3, None))}),
            lambda: ("nn.log_softmax", [logits], {"axis": r.choice((-1, 0, 1, 2))}),
            lambda: ("nn.leaky_relu", [logits], {"alpha": r.choice((0.1, 0, 2))}),
            lambda: ("nn.gelu", [logits], {"approximate": r.random() < 0.5}),
            lambda: ("nn.softmax_cross_entropy_with_logits", [logits, self.tensor([3, r.choice((4, 4, 1))], dtype)],
                     {"axis": r.choice((-1, 0))}),
            lambda: ("nn.sparse_softmax_cross_entropy_with_logits", [self.ids(r.choice((3, 3, 2)), 4), logits], {}),
            lambda: ("nn.weighted_cross_entropy_with_logits", [logits, self.tensor([3, 4], dtype), r.choice((1.5, 2))], {}),
            lambda: ("nn.batch_normalization", [image] + [self.plain([c], dtype, 1) for _ in range(4)] + [0.001], {}),
            lambda: ("nn.lrn", [image], {"depth_radius": r.randint(0, 2)}),
            lambda: ("nn.l2_loss", [logits], {}),
            lambda: ("nn.embedding_lookup", [logits, self.ids(2, 3)], {"max_norm": r.choice((None, 1.0))}),
            lambda: ("nn.depth_to_space", [self.tensor([1, 2, 2, 4], self.dtype()), r.choice((2, 2, 1, 3))], {}),
            lambda: ("nn.space_to_depth", [self.tensor([1, 2, 4, 1], self.dtype()), r.choice((2, 2, 1, 3))], {}),
            lambda: ("space_to_batch", [image, [2, 2], [[0, h % 2], [0, w % 2]]], {}),
            lambda: ("nn.dilation2d", [image, self.tensor([k, k, c], dtype), [1, 1, 1, 1], padding, "NHWC", [1, 1, 1, 1]], {}),
            lambda: ("nn.pool", [image, [k, k], r.choice(("MAX", "AVG", "MIN"))], {"padding": padding}),
            lambda: ("image.resize", [image, [r.randint(1, 4), r.randint(1, 4)]],
                     {"method": r.choice(("bilinear", "nearest", "area")), "antialias": r.random() < 0.2}),
            lambda: ("image.central_crop", [image, r.choice((0.5, 1.0, 0.0))], {}),
            lambda: ("image.crop_to_bounding_box", [image, 0, 0, r.randint(1, 4), r.randint(1, 4)], {}),
            lambda: ("image.pad_to_bounding_box", [image, 0, 1, r.randint(1, 6), r.randint(1, 6)], {}),
        ])()

    def shaping(self):
        r, x = self.r, self.tensor()
        n, axis = len(x["dims"]), self.r.choice((0, -1, 1))
        begin, end = [r.randint(-2, 2) for _ in range(n)], [r.randint(-2, 4) for _ in range(n)]
        return r.choice([
            lambda: ("strided_slice", [x, begin, end], {"strides": r.choice((None, [r.choice((1, -1, 2, 0)) for _ in range(n)]))}),
            lambda: ("slice", [x, [r.randint(-1, 2) for _ in range(n)], [r.choice((-1, 0, 1, 2)) for _ in range(n)]], {}),
            lambda: ("pad", [x, [[r.randint(-1, 2) if r.random() < 0.1 else 1, 1] for _ in range(n)]],
                     {"constant_values": r.choice((0, 1, 1.5, True))}),
            lambda: ("clip_by_value", [x, self.partner(x), self.partner(x)], {}),
            lambda: ("where", [self.tensor(x["dims"], r.choice(("bool", "bool", "int32"))), x, self.partner(x)], {}),
            lambda: ("concat", [[x, self.tensor(x["dims"])]], {"axis": axis}),
            lambda: ("stack", [[x, self.partner(x), r.choice((1, 1.5, True))][:r.randint(1, 3)]], {"axis": axis}),
            lambda: ("add_n", [[x, self.tensor(x["dims"], x["dtype"] if r.random() < 0.9 else None)]], {}),
            lambda: ("range", [r.choice((0, 1.5, -2)), r.choice((3, 4.5, None))], {"delta": r.choice((1, 0.5, -1, 2)),
                                                                                   "dtype": r.choice((None, "float64", "int64", "int32"))}),
            lambda: ("linspace", [self.tensor([], r.choice(("float32", "float64", "int32"))), r.choice((2.5, 3)), r.randint(0, 4)], {}),
            lambda: ("fill", [x["dims"] if r.random() < 0.9 else [-1], self.tensor([], None)], {}),
            lambda: (r.choice(("zeros", "ones")), [x["dims"]], {"dtype": self.dtype()}),
            lambda: (r.choice(("zeros_like", "ones_like")), [x], {"dtype": r.choice((None, self.dtype()))}),
            lambda: ("bitcast", [x, self.dtype()], {}),
            lambda: ("cast", [{**x, "odd": False}, self.dtype()], {}),
            lambda: ("convert_to_tensor", [x], {"dtype": r.choice((None, self.dtype())), "dtype_hint": r.choice((None, self.dtype()))}),
            lambda: ("constant", [x], {"dtype": r.choice((None, self.dtype())), "shape": r.choice((None, x["dims"], [2, 2]))}),
            lambda: ("ensure_shape", [x, [d if r.random() < 0.7 else None for d in x["dims"]]], {}),
            lambda: ("roll", [x, [1] * max(1, n), list(range(n))], {}),
            lambda: ("transpose", [x], {"perm": r.sample(range(n), n), "conjugate": r.random() < 0.5}),
            lambda: ("expand_dims", [x], {"axis": r.choice((0, -1, n, n + 1, [0]))}),
            lambda: ("split", [x, r.choice((1, 2, [1, -1], [0, -1]))], {"axis": axis, "num": r.choice((None, 2))}),
            lambda: ("tile", [x, self.tensor([n], r.choice(("int32", "int64")), 0, 3)], {}),
            lambda: ("repeat", [x, [1, 2]] if 0 not in x["dims"] else [x, 2], {"axis": axis}),
            lambda: ("reduce_sum", [x], {"axis": self.tensor([1], r.choice(("int32", "int64")), -1, 2)}),
            lambda: ("argmax", [{**x, "odd": False}], {"axis": axis, "output_type": r.choice(("int32", "int64", "float32"))}),
            lambda: ("rank", [x], {}),
            lambda: ("shape", [x], {"out_type": r.choice(("int32", "int64", "float32"))}),
            lambda: ("size", [x], {}),
            lambda: ("identity_n", [[x, self.tensor()]], {}),
            lambda: ("unravel_index", [self.ids(2, 6), [2, 3]], {}),
        ])()
