/* EncodeBase64, DecodeBase64: bytes as text of 64 characters, in the alphabet that is safe in file
 * names and URLs ('-' and '_' instead of '+' and '/'). Three bytes become four characters; what
 * remains at the end becomes two or three characters, which '=' may pad to four. */
#include "ops/records.h"
#include "ops/string/strings.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

typedef struct encode_attrs {
    bool pad;
} encode_attrs;

static ef_status *encode_one(const ef_call *c, const ef_str *in, ef_text *out) {
    const encode_attrs *t = c->attrs;
    for (size_t k = 0; k < in->n; k += 3) {
        size_t bytes = in->n - k < 3 ? in->n - k : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < bytes ? (unsigned char)in->at[k + j] : 0);
        char four[4];
        for (int j = 0; j < 4; j++) four[j] = letters[bits >> (18 - 6 * j) & 63];
        ef_text_bytes(out, four, bytes + 1);
        if (t->pad) ef_text_bytes(out, "==", 3 - bytes);
    }
    return NULL;
}
static ef_status *encode_run(const ef_call *c) { return ef_map_strings(c, encode_one); }

const ef_op ef_op_EncodeBase64 = {
    EF_NAMED(EncodeBase64),
    .doc = "Each string in web-safe base64; `pad` adds `=` to a multiple of four characters.",
    .in = {"input: string"},
    .out = {"output: string"},
    .attr = {EF_ATTR(encode_attrs, pad, "bool", "false")},
    .attr_size = sizeof(encode_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(encode_run),
    .examples = {"string[4]{a,ab,abc,abcd}", "string[2]{a,} pad=true", "string[0,2]"},
};

/* The value of a character, or -1. */
static int value_of(char ch) {
    if (ch >= 'A' && ch <= 'Z') return ch - 'A';
    if (ch >= 'a' && ch <= 'z') return ch - 'a' + 26;
    if (ch >= '0' && ch <= '9') return ch - '0' + 52;
    return ch == '-' ? 62 : ch == '_' ? 63 : -1;
}

static ef_status *bad_character(const ef_call *c, const ef_str *in, size_t at) {
    ef_str one = {.at = in->at + at, .n = 1};
    return ef_error(EF_INVALID,
                    "%s: %s has %s at position %zu. Invalid character found in base64: letters, "
                    "digits, '-' and '_' are valid, and '=' at the end up to a multiple of four "
                    "characters",
                    c->op->name, EF_STR(in), EF_STR(&one), at);
}

static ef_status *decode_one(const ef_call *c, const ef_str *in, ef_text *out) {
    size_t n = in->n;
    if (n % 4 == 0)
        for (int k = 0; k < 2 && n > 0 && in->at[n - 1] == '='; k++) n--;
    for (size_t k = 0; k < n; k++)
        if (value_of(in->at[k]) < 0) return bad_character(c, in, k);
    if (n % 4 == 1)
        return ef_error(EF_INVALID,
                        "%s: %s has %zu characters without padding. Base64 string length cannot be "
                        "1 modulo 4",
                        c->op->name, EF_STR(in), n);
    for (size_t k = 0; k < n; k += 4) {
        size_t given = n - k < 4 ? n - k : 4;
        uint32_t bits = 0;
        for (size_t j = 0; j < 4; j++)
            bits = bits << 6 | (j < given ? (uint32_t)value_of(in->at[k + j]) : 0);
        char three[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        ef_text_bytes(out, three, given - 1);
    }
    return NULL;
}
static ef_status *decode_run(const ef_call *c) { return ef_map_strings(c, decode_one); }

const ef_op ef_op_DecodeBase64 = {
    EF_NAMED(DecodeBase64),
    .doc = "Decodes web-safe base64, with or without padding.",
    .in = {"input: string"},
    .out = {"output: string"},
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(decode_run),
    .examples = {"string[4]{YQ,YWI,YWJj,YQ==}", "string[]{__77}", "string[0,2]"},
};
