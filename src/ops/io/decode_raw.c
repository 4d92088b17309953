/* DecodeRaw, DecodePaddedRaw: the bytes of strings as numbers. DecodeCompressed. */
#include "file/input.h"
#include "ops/array/array.h"
#include "ops/string/strings.h"

enum { COMPRESSED_MOST = INT32_MAX };

/* Bytes of one number for byte swapping: half of a complex number. */
static size_t word_size(ef_dtype t) {
    return ef_dtype_size(t) / (ef_dtype_in(t, EF_COMPLEX) ? 2 : 1);
}

static void copy_numbers(char *to, const char *from, size_t n, ef_dtype t, bool little) {
    size_t word = word_size(t);
    if (n > 0) memcpy(to, from, n);
    if (t == EF_BOOL)
        for (size_t k = 0; k < n; k++) to[k] = to[k] != 0;
    if (little || word == 1) return;
    for (char *p = to; p < to + n; p += word)
        for (size_t k = 0; k < word / 2; k++) {
            char held = p[k];
            p[k] = p[word - 1 - k];
            p[word - 1 - k] = held;
        }
}

/* The input's shape with one axis appended. */
static ef_status *with_axis(const ef_op *op, const ef_shape *in, int64_t n, ef_shape *out) {
    if (in->rank < 0) return NULL;
    if (in->rank == EF_MAX_RANK) return ef_need_rank_held(op, EF_MAX_RANK + 1);
    *out = *in;
    out->dim[out->rank++] = n;
    return NULL;
}

/* ---- DecodeRaw ------------------------------------------------------------------------------- */

typedef struct raw_attrs {
    ef_dtype out_type;
    bool little_endian;
} raw_attrs;

static ef_status *raw_shape(ef_infer *i) {
    return with_axis(i->op, &i->in[0].shape, EF_DIM_UNKNOWN, &i->out[0].shape);
}

static ef_status *raw_run(const ef_call *c) {
    const raw_attrs *t = c->attrs;
    const ef_str *in = ef_strs(c->in[0]);
    const int64_t n = ef_count(c->in[0]);
    const size_t size = ef_dtype_size(t->out_type), bytes = n > 0 ? in[0].n : 0;
    for (int64_t k = 1; k < n; k++)
        if (in[k].n != bytes)
            return ef_error(EF_INVALID,
                            "DecodeRaw requires input strings to all be the same size, but element "
                            "%lld has size %zu != %zu",
                            (long long)k, in[k].n, bytes);
    if (bytes % size != 0)
        return ef_error(
            EF_INVALID,
            "Input to DecodeRaw has length %zu that is not a multiple of %zu, the size of %s",
            bytes, size, ef_dtype_name(t->out_type));
    ef_shape from = ef_shape_from(c->in[0]), shape = {0};
    EF_TRY(with_axis(c->op, &from, (int64_t)(bytes / size), &shape));
    EF_TRY(ef_out_alloc(c, 0, &shape));
    for (int64_t k = 0; k < n; k++)
        copy_numbers((char *)c->out[0]->data + (size_t)k * bytes, in[k].at, bytes, t->out_type,
                     t->little_endian);
    return NULL;
}

#define RAW_TYPES                                                                             \
    "{half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, " \
    "bool, "                                                                                  \
    "bfloat16}"

const ef_op ef_op_DecodeRaw = {
    EF_NAMED(DecodeRaw),
    .doc = "The bytes of each string as numbers, along a new last axis; all strings must have the "
           "same length.",
    .in = {"bytes: string"},
    .out = {"output: out_type"},
    .attr = {EF_ATTR(raw_attrs, out_type, RAW_TYPES, NULL),
             EF_ATTR(raw_attrs, little_endian, "bool", "true")},
    .attr_size = sizeof(raw_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = raw_shape,
    .kernel = EF_ANY_KERNEL(raw_run),
    .examples = {"string[2]{abcd,efgh} out_type=int16", "string[]{abcdefgh} out_type=double",
                 "string[1]{abcd} out_type=uint16 little_endian=false",
                 "string[0,2] out_type=uint8"},
};

/* ---- DecodePaddedRaw ------------------------------------------------------------------------- */

static ef_status *padded_shape(ef_infer *i) {
    const raw_attrs *t = i->attrs;
    int64_t bytes = EF_DIM_UNKNOWN;
    bool known = false;
    EF_TRY(ef_need_rank(i, 1, 0));
    EF_TRY(ef_known_int(i, 1, &bytes, &known));
    const int64_t size = (int64_t)ef_dtype_size(t->out_type);
    if (known && (bytes <= 0 || bytes % size != 0))
        return ef_error(
            EF_INVALID,
            "%s: fixed_length (%lld) must be greater than zero and a multiple of the size "
            "of out_type (%lld)",
            i->op->name, (long long)bytes, (long long)size);
    return with_axis(i->op, &i->in[0].shape, known ? bytes / size : EF_DIM_UNKNOWN,
                     &i->out[0].shape);
}

static ef_status *padded_run(const ef_call *c) {
    const raw_attrs *t = c->attrs;
    const ef_str *in = ef_strs(c->in[0]);
    const size_t size = ef_dtype_size(t->out_type);
    const int64_t n = ef_count(c->in[0]), width = ef_in_int(c, 1, 0);
    if (width <= 0 || (size_t)width % size != 0)
        return ef_error(
            EF_INVALID,
            "%s: fixed_length (%lld) must be greater than zero and a multiple of the size "
            "of out_type (%zu)",
            c->op->name, (long long)width, size);
    ef_shape from = ef_shape_from(c->in[0]), shape = {0};
    EF_TRY(with_axis(c->op, &from, width / (int64_t)size, &shape));
    EF_TRY(ef_need_size_held(c->op, &shape));
    EF_TRY(ef_out_alloc(c, 0, &shape));
    for (int64_t k = 0; k < n; k++) {
        char *to = (char *)c->out[0]->data + k * width;
        size_t got = in[k].n < (size_t)width ? in[k].n : (size_t)width;
        memset(to + got, 0, (size_t)width - got);
        if (got > 0) memmove(to, in[k].at, got);
        copy_numbers(to, to, (size_t)width, t->out_type, t->little_endian);
    }
    return NULL;
}

const ef_op ef_op_DecodePaddedRaw = {
    EF_NAMED(DecodePaddedRaw),
    .doc =
        "Like DecodeRaw, with each string truncated or padded with zeros to `fixed_length` bytes.",
    .in = {"input_bytes: string", "fixed_length: int32"},
    .out = {"output: out_type"},
    .attr = {EF_ATTR(raw_attrs, out_type,
                     "{half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}",
                     NULL),
             EF_ATTR(raw_attrs, little_endian, "bool", "true")},
    .attr_size = sizeof(raw_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = padded_shape,
    .kernel = EF_ANY_KERNEL(padded_run),
    .examples = {"string[2]{abc,defghi} int32[]{4} out_type=int16",
                 "string[]{a} int32[]{8} out_type=double little_endian=false"},
};

/* ---- DecodeCompressed ------------------------------------------------------------------------ */

typedef struct zip_attrs {
    ef_attr_text compression_type;
} zip_attrs;

static ef_status *zip_shape(ef_infer *i) {
    const zip_attrs *t = i->attrs;
    ef_compression how;
    if (t->compression_type.n == 4 && memcmp(t->compression_type.at, "NONE", 4) == 0)
        return ef_error(EF_INVALID,
                        "%s: Only ZLIB, GZIP or NONE are supported compressions; NONE is ''",
                        i->op->name);
    EF_TRY(ef_compression_named(t->compression_type.at, t->compression_type.n, &how));
    return ef_shape_same(i);
}

static ef_status *unzip_one(const ef_call *c, const ef_str *in, ef_text *out) {
    const zip_attrs *t = c->attrs;
    ef_compression how;
    EF_TRY(ef_compression_named(t->compression_type.at, t->compression_type.n, &how));
    if (how != EF_UNCOMPRESSED) return ef_decompress(how, in->at, in->n, COMPRESSED_MOST, out);
    ef_text_bytes(out, in->at, in->n);
    return NULL;
}
static ef_status *unzip_run(const ef_call *c) { return ef_map_strings(c, unzip_one); }

const ef_op ef_op_DecodeCompressed = {
    EF_NAMED(DecodeCompressed),
    .doc = "Each string decompressed; `compression_type` is '' (none), 'ZLIB' or 'GZIP'.",
    .in = {"bytes: string"},
    .out = {"output: string"},
    .attr = {EF_ATTR(zip_attrs, compression_type, "string", "''")},
    .attr_size = sizeof(zip_attrs),
    .traits = EF_NO_GRAD,
    .shape = zip_shape,
    .kernel = EF_ANY_KERNEL(unzip_run),
    .examples = {"string[2]{ab,}", "string[0] compression_type='GZIP'"},
};
