/* UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode and UnicodeTranscode: strings to code
 * points, back, and from one encoding to another. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/string/strings.h"
#include <strings.h>

enum { UTF8, UTF16_BE, UTF32_BE, UTF16_LE, UTF32_LE, UTF16, LATIN1, ASCII, WINDOWS };
enum { STRICT, REPLACE, IGNORE };

typedef struct {
    ef_attr_text input_encoding;
    int errors;
    int64_t replacement_char;
    bool replace_control_characters;
    int output_encoding; /* of UnicodeTranscode */
} decode_attrs;

typedef struct {
    int errors, output_encoding;
    int64_t replacement_char;
} encode_attrs;

typedef struct {
    int32_t *at;
    int64_t *begin; /* the byte where each begins in its string */
    size_t n, cap, begin_cap;
} characters;

static bool is_character(int64_t v) {
    return v >= 0 && v <= 0x10FFFF && (v < 0xD800 || v > 0xDFFF);
}

/* The code point at p, -1 if it is malformed; *used: the bytes it takes, at least one. A malformed
 * character takes the bytes that could begin a valid one, so that it becomes one replacement. */
static int32_t read_utf8(const unsigned char *p, size_t n, size_t *used) {
    *used = 1;
    if (p[0] < 0x80) return p[0];
    int more = p[0] >= 0xC2 && p[0] < 0xE0   ? 1
               : p[0] >= 0xE0 && p[0] < 0xF0 ? 2
               : p[0] >= 0xF0 && p[0] < 0xF5 ? 3
                                             : 0;
    if (more == 0) return -1;
    int32_t v = p[0] & (0x3F >> more);
    for (int k = 1; k <= more; k++) {
        unsigned low = 0x80, high = 0xBF;
        if (k == 1 && p[0] == 0xE0) low = 0xA0;
        if (k == 1 && p[0] == 0xED) high = 0x9F;
        if (k == 1 && p[0] == 0xF0) low = 0x90;
        if (k == 1 && p[0] == 0xF4) high = 0x8F;
        if ((size_t)k >= n || p[k] < low || p[k] > high) return -1;
        v = v << 6 | (p[k] & 0x3F);
        *used = (size_t)k + 1;
    }
    return v;
}

static int32_t read_utf16(const unsigned char *p, size_t n, size_t *used) {
    *used = n < 2 ? n : 2;
    if (n < 2) return -1;
    int32_t v = p[0] << 8 | p[1];
    if (v < 0xD800 || v > 0xDFFF) return v;
    if (v > 0xDBFF || n < 4 || (p[2] & 0xFC) != 0xDC) return -1;
    *used = 4;
    return 0x10000 + ((v - 0xD800) << 10) + ((p[2] << 8 | p[3]) - 0xDC00);
}

static int32_t read_utf32(const unsigned char *p, size_t n, size_t *used) {
    *used = n < 4 ? n : 4;
    if (n < 4) return -1;
    int64_t v = (int64_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
    return is_character(v) ? (int32_t)v : -1;
}

/* What bytes 0x80 to 0x9F mean in windows-1252. */
static const uint16_t windows[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

static int32_t read_byte(int encoding, unsigned char b, size_t *used) {
    *used = 1;
    if (encoding == ASCII) return b < 0x80 ? b : -1;
    return encoding == WINDOWS && b >= 0x80 && b < 0xA0 ? windows[b - 0x80] : b;
}

/* The same with the other order of bytes in each unit of `unit` bytes. */
static int32_t read_turned(const unsigned char *p, size_t n, size_t unit, size_t *used) {
    unsigned char turned[4];
    size_t whole = n < 4 ? n / unit * unit : 4;
    if (whole == 0) {
        *used = n;
        return -1;
    }
    for (size_t k = 0; k < whole; k++) turned[k] = p[k / unit * unit + unit - 1 - k % unit];
    return unit == 2 ? read_utf16(turned, whole, used) : read_utf32(turned, whole, used);
}

static int32_t read_character(int encoding, const unsigned char *p, size_t n, size_t *used) {
    switch (encoding) {
    case UTF8: return read_utf8(p, n, used);
    case UTF16_BE: return read_utf16(p, n, used);
    case UTF32_BE: return read_utf32(p, n, used);
    case UTF16_LE: return read_turned(p, n, 2, used);
    case UTF32_LE: return read_turned(p, n, 4, used);
    default: return read_byte(encoding, *p, used);
    }
}

static bool encoding_of(const ef_attr_text *name, int *out) {
    static const struct {
        const char *name;
        int encoding;
    } known[] = {{"UTF-8", UTF8},           {"UTF8", UTF8},          {"UTF-16-BE", UTF16_BE},
                 {"UTF-16BE", UTF16_BE},    {"UTF-32-BE", UTF32_BE}, {"UTF-32BE", UTF32_BE},
                 {"UTF-16-LE", UTF16_LE},   {"UTF-16LE", UTF16_LE},  {"UTF-32-LE", UTF32_LE},
                 {"UTF-32LE", UTF32_LE},    {"UTF-16", UTF16},       {"ISO-8859-1", LATIN1},
                 {"LATIN1", LATIN1},        {"US-ASCII", ASCII},     {"ASCII", ASCII},
                 {"WINDOWS-1252", WINDOWS}, {"CP1252", WINDOWS}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcasecmp(name->at, known[k].name) == 0) {
            *out = known[k].encoding;
            return true;
        }
    return false;
}

/* UTF-16 begins with a mark that tells the order of the bytes; without one it is the network's. */
static int byte_order_of(int encoding, const ef_str *s, size_t *at) {
    const unsigned char *p = (const unsigned char *)s->at;
    *at = 0;
    if (encoding != UTF16) return encoding;
    const bool little = s->n >= 2 && p[0] == 0xFF && p[1] == 0xFE;
    if (little || (s->n >= 2 && p[0] == 0xFE && p[1] == 0xFF)) *at = 2;
    return little ? UTF16_LE : UTF16_BE;
}

static ef_status *decode_one(const ef_call *c, int encoding, const ef_str *s, characters *out) {
    const decode_attrs *t = c->attrs;
    const unsigned char *p = (const unsigned char *)s->at;
    size_t k = 0;
    encoding = byte_order_of(encoding, s, &k);
    const size_t mark = k; /* the byte order mark belongs to the first character */
    for (size_t used; k < s->n; k += used) {
        int32_t v = read_character(encoding, p + k, s->n - k, &used);
        bool control = t->replace_control_characters && v >= 0 && v <= 0x1F;
        if (v < 0 && t->errors == STRICT)
            return ef_error(EF_INVALID, "%s: Invalid formatting on input string: byte %zu of %s",
                            c->op->name, k, EF_STR(s));
        if (v < 0 && t->errors == IGNORE) continue;
        EF_TRY(EF_GROW(&out->at, &out->cap, out->n + 1));
        EF_TRY(EF_GROW(&out->begin, &out->begin_cap, out->n + 1));
        out->begin[out->n] = k == mark ? 0 : (int64_t)k;
        out->at[out->n++] = v < 0 || control ? (int32_t)t->replacement_char : v;
    }
    return NULL;
}

static ef_status *need_encoding(const ef_infer *i) {
    const decode_attrs *t = i->attrs;
    int encoding = UTF8;
    if (!encoding_of(&t->input_encoding, &encoding))
        return ef_error(
            EF_INVALID,
            "%s: Could not create converter for input encoding: %s; supported are UTF-8, "
            "UTF-16, UTF-16-BE, UTF-16-LE, UTF-32-BE, UTF-32-LE, ISO-8859-1, US-ASCII "
            "and WINDOWS-1252",
            i->op->name, t->input_encoding.at);
    if (!is_character(t->replacement_char))
        return ef_error(EF_INVALID, "%s: replacement_char out of unicode codepoint range: %lld",
                        i->op->name, (long long)t->replacement_char);
    return NULL;
}

static ef_status *decode_shape(ef_infer *i) {
    EF_TRY(need_encoding(i));
    int64_t n = 1;
    const ef_shape *x = &i->in[0].shape;
    for (int d = 0; d < x->rank; d++)
        if (n < 0 || x->dim[d] < 0 || __builtin_mul_overflow(n, x->dim[d], &n)) n = -1;
    int64_t splits = x->rank < 0 || n < 0 || n == INT64_MAX ? EF_DIM_UNKNOWN : n + 1;
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {splits}};
    for (int k = 1; k < i->n_out; k++)
        i->out[k].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    return NULL;
}

static ef_status *decode_run(const ef_call *c) {
    const decode_attrs *t = c->attrs;
    int64_t n = ef_count(c->in[0]);
    int encoding = UTF8;
    characters made = {0};
    encoding_of(&t->input_encoding, &encoding);
    ef_shape splits = {.rank = 1, .dim = {n + 1}};
    ef_status *s = ef_out_alloc(c, 0, &splits);
    for (int64_t k = 0; k <= n && s == NULL; k++) {
        ef_element_set((ef_dtype)c->out[0]->dtype, c->out[0]->data, k, (double)made.n);
        if (k < n) s = decode_one(c, encoding, ef_strs(c->in[0]) + k, &made);
    }
    ef_shape flat = {.rank = 1, .dim = {(int64_t)made.n}};
    if (s == NULL) s = ef_out_alloc(c, 1, &flat);
    if (s == NULL && c->n_out > 2) s = ef_out_alloc(c, 2, &flat);
    if (s == NULL && made.n > 0) memcpy(c->out[1]->data, made.at, made.n * sizeof *made.at);
    if (s == NULL && made.n > 0 && c->n_out > 2)
        memcpy(c->out[2]->data, made.begin, made.n * sizeof *made.begin);
    ef_free(made.at);
    ef_free(made.begin);
    return s;
}

#define DECODE_ATTRS                                                                   \
    EF_ATTR(decode_attrs, input_encoding, "string", NULL),                             \
        EF_ATTR(decode_attrs, errors, "{'strict', 'replace', 'ignore'}", "'replace'"), \
        EF_ATTR(decode_attrs, replacement_char, "int", "65533"),                       \
        EF_ATTR(decode_attrs, replace_control_characters, "bool", "false")

const ef_op ef_op_UnicodeDecodeWithOffsets = {
    EF_NAMED(UnicodeDecodeWithOffsets),
    .doc = "Like UnicodeDecode, and the byte at which each character begins in its string.",
    .in = {"input: string"},
    .out = {"row_splits: Tsplits", "char_values: int32", "char_to_byte_starts: int64"},
    .types = "Tsplits: {int32, int64} = int64",
    .attr = {DECODE_ATTRS},
    .attr_size = sizeof(decode_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = decode_shape,
    .kernel = EF_ANY_KERNEL(decode_run),
    .examples = {"string[3]{abc,,x} input_encoding='UTF-8'",
                 "string[2]{ab,cd} input_encoding='UTF-16-BE' errors='ignore'"},
};

const ef_op ef_op_UnicodeDecode = {
    EF_NAMED(UnicodeDecode),
    .doc = "The code points of each string, in one vector with the bounds of each "
           "string.",
    .in = {"input: string"},
    .out = {"row_splits: Tsplits", "char_values: int32"},
    .types = "Tsplits: {int32, int64} = int64",
    .attr = {DECODE_ATTRS},
    .attr_size = sizeof(decode_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = decode_shape,
    .kernel = EF_ANY_KERNEL(decode_run),
    .examples = {"string[3]{abc,,x} input_encoding='UTF-8'",
                 "string[2]{ab,cd} input_encoding='UTF-16-BE' errors='ignore'"},
};

/* ---- code points to strings ------------------------------------------------------------------ */

static void add_byte(ef_text *t, int32_t v) {
    char b = (char)(v & 0xFF);
    ef_text_bytes(t, &b, 1);
}

static void write_character(ef_text *t, int encoding, int32_t v) {
    if (encoding == UTF32_BE) {
        for (int k = 24; k >= 0; k -= 8) add_byte(t, v >> k);
    } else if (encoding == UTF16_BE) {
        int32_t pair[2] = {v, 0};
        if (v > 0xFFFF) {
            pair[0] = 0xD800 + ((v - 0x10000) >> 10);
            pair[1] = 0xDC00 + ((v - 0x10000) & 0x3FF);
        }
        for (int k = 0; k < (v > 0xFFFF ? 2 : 1); k++) {
            add_byte(t, pair[k] >> 8);
            add_byte(t, pair[k]);
        }
    } else if (v < 0x80) {
        add_byte(t, v);
    } else {
        int more = v < 0x800 ? 1 : v < 0x10000 ? 2 : 3;
        static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
        add_byte(t, lead[more] | v >> (6 * more));
        for (int k = more - 1; k >= 0; k--) add_byte(t, 0x80 | ((v >> (6 * k)) & 0x3F));
    }
}

static ef_status *encode_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    const encode_attrs *t = i->attrs;
    if (!is_character(t->replacement_char))
        return ef_error(EF_INVALID, "%s: replacement_char out of unicode codepoint range: %lld",
                        i->op->name, (long long)t->replacement_char);
    int64_t n = i->in[1].shape.rank == 1 ? i->in[1].shape.dim[0] : EF_DIM_UNKNOWN;
    if (n == 0)
        return ef_error(EF_INVALID, "%s: input_splits is empty; it must hold at least a 0",
                        i->op->name);
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {n > 0 ? n - 1 : EF_DIM_UNKNOWN}};
    return NULL;
}

static ef_status *encode_run(const ef_call *c) {
    const encode_attrs *t = c->attrs;
    const int32_t *value = c->in[0]->data;
    int64_t n = ef_count(c->in[0]), rows = ef_count(c->in[1]) - 1, k = 0;
    if (ef_in_int(c, 1, 0) != 0 || ef_in_int(c, 1, rows) != n)
        return ef_error(EF_INVALID, "%s: input_splits must go from 0 to the number of values, %lld",
                        c->op->name, (long long)n);
    ef_shape flat = {.rank = 1, .dim = {rows}};
    EF_TRY(ef_out_alloc(c, 0, &flat));
    ef_text text = {0};
    ef_status *s = NULL;
    for (int64_t r = 0; r < rows && s == NULL; r++) {
        int64_t end = ef_in_int(c, 1, r + 1);
        if (end < k || end > n)
            s = ef_error(EF_INVALID, "%s: input_splits must not decrease: %lld follows %lld",
                         c->op->name, (long long)end, (long long)k);
        for (; k < end && s == NULL; k++) {
            bool valid = is_character(value[k]);
            if (!valid && t->errors == STRICT)
                s = ef_error(EF_INVALID, "%s: Code point is out of range for Unicode: %d",
                             c->op->name, value[k]);
            else if (valid || t->errors == REPLACE)
                write_character(&text, t->output_encoding,
                                valid ? value[k] : (int32_t)t->replacement_char);
        }
        if (s == NULL) s = ef_str_take((ef_str *)c->out[0]->data + r, &text);
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_UnicodeEncode = {
    EF_NAMED(UnicodeEncode),
    .doc = "Makes a string from each row of a ragged vector of code points.",
    .in = {"input_values: int32", "input_splits: Tsplits"},
    .out = {"output: string"},
    .types = "Tsplits: {int32, int64} = int64",
    .attr = {EF_ATTR(encode_attrs, errors, "{'strict', 'replace', 'ignore'}", "'replace'"),
             EF_ATTR(encode_attrs, output_encoding, "{'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}", NULL),
             EF_ATTR(encode_attrs, replacement_char, "int", "65533")},
    .attr_size = sizeof(encode_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = encode_shape,
    .kernel = EF_ANY_KERNEL(encode_run),
    .examples = {"int32[3]{97,233,26085} int64[3]{0,1,3} output_encoding='UTF-8'",
                 "int32[1]{97} int32[2]{0,1} output_encoding='UTF-16-BE'"},
};

/* ---- from one encoding into another -----------------------------------------------------------
 */

static ef_status *transcode_one(const ef_call *c, int encoding, const ef_str *s, ef_text *out) {
    const decode_attrs *t = c->attrs;
    const unsigned char *p = (const unsigned char *)s->at;
    size_t k = 0;
    encoding = byte_order_of(encoding, s, &k);
    for (size_t used; k < s->n; k += used) {
        int32_t v = read_character(encoding, p + k, s->n - k, &used);
        if (v < 0 && t->errors == STRICT)
            return ef_error(EF_INVALID, "%s: Invalid formatting on input string: byte %zu of %s",
                            c->op->name, k, EF_STR(s));
        bool bad = v < 0 || (t->replace_control_characters && v <= 0x1F);
        if (bad && t->errors == IGNORE) continue;
        write_character(out, t->output_encoding, bad ? (int32_t)t->replacement_char : v);
    }
    return NULL;
}

static ef_status *transcode_run(const ef_call *c) {
    int encoding = UTF8;
    encoding_of(&((const decode_attrs *)c->attrs)->input_encoding, &encoding);
    ef_shape shape = ef_shape_from(c->in[0]);
    EF_TRY(ef_out_alloc(c, 0, &shape));
    ef_text text = {0};
    ef_status *s = NULL;
    for (int64_t k = 0; k < ef_count(c->in[0]) && s == NULL; k++) {
        s = transcode_one(c, encoding, ef_strs(c->in[0]) + k, &text);
        if (s == NULL) s = ef_str_take((ef_str *)c->out[0]->data + k, &text);
    }
    ef_text_free(&text);
    return s;
}

static ef_status *transcode_shape(ef_infer *i) {
    EF_TRY(need_encoding(i));
    return ef_shape_same(i);
}

const ef_op ef_op_UnicodeTranscode = {
    EF_NAMED(UnicodeTranscode),
    .doc = "Each string in another encoding of its characters.",
    .in = {"input: string"},
    .out = {"output: string"},
    .attr = {EF_ATTR(decode_attrs, input_encoding, "string", NULL),
             EF_ATTR(decode_attrs, output_encoding, "{'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}", NULL),
             EF_ATTR(decode_attrs, errors, "{'strict', 'replace', 'ignore'}", "'replace'"),
             EF_ATTR(decode_attrs, replacement_char, "int", "65533"),
             EF_ATTR(decode_attrs, replace_control_characters, "bool", "false")},
    .attr_size = sizeof(decode_attrs),
    .traits = EF_NO_GRAD,
    .shape = transcode_shape,
    .kernel = EF_ANY_KERNEL(transcode_run),
    .examples = {"string[3]{abc,,x} input_encoding='UTF-8' output_encoding='UTF-16-BE'",
                 "string[2]{ab,cd} input_encoding='ISO-8859-1' output_encoding='UTF-8'"},
};
