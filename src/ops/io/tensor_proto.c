/* SerializeTensor, ParseTensor: tensors as TensorProto messages. Plain elements are written as raw
 * bytes; other writers may use the typed lists, so parsing accepts both. */
#include "ops/io/tensor_proto.h"
#include "base/alloc.h"
#include "base/array.h"
#include "file/wire.h"
#include "ops/array/array.h"
#include "ops/string/strings.h"

enum { DTYPE = 1, SHAPE = 2, CONTENT = 4, STRINGS = 8 }; /* fields of TensorProto */
/* If a message has fewer elements than its shape says, the last one is repeated. This limits how
 * much memory a few bytes can request. */
enum { REPEATED_MOST = 1 << 28 };

/* ---- writing --------------------------------------------------------------------------------- */

void ef_tensor_proto_put(ef_text *out, const ef_tensor *x) {
    ef_wire_put_number(out, DTYPE, x->dtype);
    const size_t shape = ef_wire_begin(out, SHAPE);
    for (int d = 0; d < x->rank; d++) {
        const size_t dim = ef_wire_begin(out, 2);
        if (x->dim[d] != 0) ef_wire_put_number(out, 1, (uint64_t)x->dim[d]);
        ef_wire_end(out, dim);
    }
    ef_wire_end(out, shape);
    const int64_t n = ef_count(x);
    const size_t bytes = (size_t)n * ef_dtype_size((ef_dtype)x->dtype);
    if (x->dtype == EF_STRING)
        for (int64_t k = 0; k < n; k++)
            ef_wire_put_bytes(out, STRINGS, ef_strs(x)[k].at, ef_strs(x)[k].n);
    else if (bytes > 0)
        ef_wire_put_bytes(out, CONTENT, x->data, bytes);
}

static ef_status *serialize_run(const ef_call *c) {
    ef_text out = {0};
    ef_tensor_proto_put(&out, c->in[0]);
    ef_status *s = out.failed ? ef_no_memory(out.n) : NULL;
    if (s == NULL) s = ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_take(c->out[0]->data, &out);
    ef_text_free(&out);
    return s;
}

const ef_op ef_op_SerializeTensor = {
    EF_NAMED(SerializeTensor),
    .doc = "The tensor as a serialized TensorProto.",
    .in = {"tensor: T"},
    .out = {"serialized: string"},
    .types = "T: " EF_MOVE_TYPES,
    .traits = EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = {{EF_CPU, EF_PLAIN | EF_BIT(STRING), serialize_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3]", "string[2]{ab,}", "float[0]"},
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct parse_attrs {
    ef_dtype out_type;
} parse_attrs;

/* The elements parsed so far in their memory layout; strings are ef_str that point into the
 * message. */
typedef struct elements {
    unsigned char *at;
    size_t n, cap;
} elements;

static ef_status *add(elements *e, const void *p, size_t n) {
    EF_TRY(ef_grow((void **)&e->at, &e->cap, e->n + n, 1));
    if (n > 0) memcpy(e->at + e->n, p, n);
    e->n += n;
    return NULL;
}

/* The field number of the typed list for a dtype, and the number of bytes per number on the wire,
 * or 0 if numbers are varints. */
static uint32_t list_field(ef_dtype t, size_t *fixed) {
    *fixed = 0;
    switch (t) {
    case EF_F32: *fixed = 4; return 5;
    case EF_F64: *fixed = 8; return 6;
    case EF_C64: *fixed = 4; return 9;
    case EF_C128: *fixed = 8; return 12;
    case EF_I64: return 10;
    case EF_BOOL: return 11;
    case EF_F16:
    case EF_BF16: return 13;
    case EF_U32: return 16;
    case EF_U64: return 17;
    default: return 7;
    }
}

/* The low bytes of a number are its value in any narrower type, since all are little-endian. */
static ef_status *add_numbers(elements *e, ef_wire_field *f, size_t fixed, size_t size) {
    if (f->type != EF_WIRE_BYTES) return add(e, &f->value, size);
    uint64_t v;
    while (fixed > 0 ? ef_wire_fixed(&f->bytes, fixed, &v) : ef_wire_varint(&f->bytes, &v))
        EF_TRY(add(e, &v, size));
    return f->bytes.bad ? ef_error(EF_INVALID, "ParseTensor: a list of numbers is truncated")
                        : NULL;
}

static bool read_shape(ef_wire w, ef_shape *out) {
    ef_wire_field f, g;
    *out = ef_scalar_shape();
    while (ef_wire_next(&w, &f)) {
        if (f.number == 3 && f.value != 0) return false; /* unknown rank */
        if (f.number != 2 || f.type != EF_WIRE_BYTES) continue;
        if (out->rank == EF_MAX_RANK) return false;
        int64_t size = 0;
        while (ef_wire_next(&f.bytes, &g))
            if (g.number == 1 && g.type == EF_WIRE_VARINT) size = (int64_t)g.value;
        if (f.bytes.bad || size < 0) return false;
        out->dim[out->rank++] = size;
    }
    return !w.bad;
}

static ef_status *read_proto(ef_wire w, ef_dtype t, ef_shape *shape, elements *e) {
    const bool wide = ef_dtype_in(t, EF_COMPLEX);
    const size_t size = ef_dtype_size(t) / (wide ? 2 : 1);
    size_t fixed;
    const uint32_t list = list_field(t, &fixed);
    uint64_t dtype = 0;
    ef_wire content = {0};
    ef_wire_field f;
    *shape = ef_scalar_shape();
    while (ef_wire_next(&w, &f)) {
        if (f.number == DTYPE && f.type == EF_WIRE_VARINT) {
            dtype = f.value;
        } else if (f.number == SHAPE && f.type == EF_WIRE_BYTES) {
            if (!read_shape(f.bytes, shape))
                return ef_error(EF_INVALID, "ParseTensor: the tensor's shape cannot be read");
        } else if (f.number == CONTENT && f.type == EF_WIRE_BYTES) {
            content = f.bytes;
        } else if (t == EF_STRING && f.number == STRINGS && f.type == EF_WIRE_BYTES) {
            ef_str s = {.at = (char *)(uintptr_t)f.bytes.at, .n = ef_wire_left(&f.bytes)};
            EF_TRY(add(e, &s, sizeof s));
        } else if (t != EF_STRING && f.number == list) {
            EF_TRY(add_numbers(e, &f, fixed, size));
        }
    }
    if (w.bad)
        return ef_error(EF_INVALID, "ParseTensor: Could not parse `serialized` as TensorProto: "
                                    "the bytes are damaged or no tensor");
    if (dtype != (uint64_t)t)
        return ef_error(
            EF_INVALID,
            "ParseTensor: Type mismatch between parsed tensor (%s) and dtype (%s); out_type "
            "must be the tensor's own",
            dtype < EF_DTYPES ? ef_dtype_name((ef_dtype)dtype) : "unknown", ef_dtype_name(t));
    if (ef_wire_left(&content) > 0 && t != EF_STRING) {
        e->n = 0;
        return add(e, content.at, ef_wire_left(&content));
    }
    return NULL;
}

/* Copies the elements in the message, then repeats the last one, or zero. */
static ef_status *fill(const ef_call *c, const ef_shape *shape, const elements *e) {
    const ef_dtype t = (ef_dtype)c->out[0]->dtype;
    const size_t size = ef_dtype_size(t);
    const int64_t n = ef_shape_count(shape), have = (int64_t)(e->n / size);
    if (n < 0 || have > n || e->n % size != 0)
        return ef_error(
            EF_INVALID,
            "ParseTensor: Cannot parse tensor from proto: %zu bytes of elements do not fit "
            "the shape %s of %s",
            e->n, EF_SHAPE(shape), ef_dtype_name(t));
    if (n - have > REPEATED_MOST)
        return ef_error(
            EF_INVALID,
            "ParseTensor: the shape is %s but the message holds %lld elements; at most %d "
            "may be left out",
            EF_SHAPE(shape), (long long)have, REPEATED_MOST);
    EF_TRY(ef_out_alloc(c, 0, shape));
    unsigned char *out = c->out[0]->data;
    if (t == EF_STRING) {
        const ef_str *in = (const ef_str *)(const void *)e->at;
        for (int64_t k = 0; have > 0 && k < n; k++) {
            const ef_str *one = &in[k < have ? k : have - 1];
            EF_TRY(ef_str_set((ef_str *)(void *)out + k, one->at, one->n));
        }
        return NULL;
    }
    if (have > 0) memcpy(out, e->at, e->n);
    if (have == 0 && n > 0) memset(out, 0, (size_t)n * size);
    for (int64_t k = have; have > 0 && k < n; k++)
        memcpy(out + (size_t)k * size, out + (size_t)(have - 1) * size, size);
    if (t == EF_BOOL)
        for (int64_t k = 0; k < n; k++) out[k] = out[k] != 0;
    return NULL;
}

static ef_status *parse_shape(ef_infer *i) { return ef_need_rank(i, 0, 0); }

static ef_status *parse_run(const ef_call *c) {
    const ef_str *in = ef_strs(c->in[0]);
    elements e = {0};
    ef_shape shape;
    ef_status *s = read_proto(ef_wire_from(in->at, in->n), (ef_dtype)c->out[0]->dtype, &shape, &e);
    if (s == NULL) s = fill(c, &shape, &e);
    ef_free(e.at);
    return s;
}

const ef_op ef_op_ParseTensor = {
    EF_NAMED(ParseTensor),
    .doc = "Parses a serialized TensorProto.",
    .in = {"serialized: string"},
    .out = {"output: out_type"},
    .attr = {EF_ATTR(parse_attrs, out_type, EF_MOVE_TYPES, NULL)},
    .attr_size = sizeof(parse_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = parse_shape,
    .kernel = EF_ANY_KERNEL(parse_run),
    .examples = {"string[]{\010\001} out_type=float", "string[]{\010\003} out_type=int32"},
};
