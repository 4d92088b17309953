/* Strings to numbers and numbers to strings. */
#include "ops/string/strings.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- StringToNumber -------------------------------------------------------------------------- */

typedef struct {
    ef_dtype out_type;
} number_attrs;

/* A decimal or, for floats, also a hexadecimal number with white space around it and nothing else.
 * The C library parses it; forms that only the C library accepts (0x for ints, nan(...)) are
 * rejected. */
static bool read_float(const char *p, char **end, double *v, float *f, bool wide) {
    if (wide)
        *v = strtod(p, end);
    else
        *f = strtof(p, end);
    return *end != p && end[0][-1] != ')';
}
static bool read_signed(const char *p, char **end, int64_t low, int64_t high, int64_t *v) {
    errno = 0;
    long long r = strtoll(p, end, 10);
    *v = r;
    return *end != p && errno == 0 && r >= low && r <= high;
}
static bool read_unsigned(const char *p, char **end, uint64_t high, uint64_t *v) {
    errno = 0;
    while (*p == ' ' || (*p >= '\t' && *p <= '\r')) p++;
    unsigned long long r = strtoull(p, end, 10);
    *v = r;
    return *p != '-' && *end != p && errno == 0 && r <= high;
}

static bool read_number(ef_dtype t, const char *p, void *out, int64_t k) {
    char *end = NULL;
    int64_t i = 0;
    uint64_t u = 0;
    double v = 0;
    float f = 0;
    bool good = false;
    switch (t) {
    case EF_F32: good = read_float(p, &end, &v, &f, false), ((float *)out)[k] = f; break;
    case EF_F64: good = read_float(p, &end, &v, &f, true), ((double *)out)[k] = v; break;
    case EF_I32:
        good = read_signed(p, &end, INT32_MIN, INT32_MAX, &i), ((int32_t *)out)[k] = (int32_t)i;
        break;
    case EF_I64:
        good = read_signed(p, &end, INT64_MIN, INT64_MAX, &i), ((int64_t *)out)[k] = i;
        break;
    case EF_U32:
        good = read_unsigned(p, &end, UINT32_MAX, &u), ((uint32_t *)out)[k] = (uint32_t)u;
        break;
    default: good = read_unsigned(p, &end, UINT64_MAX, &u), ((uint64_t *)out)[k] = u; break;
    }
    if (!good) return false;
    while (*end == ' ' || (*end >= '\t' && *end <= '\r')) end++;
    return *end == '\0';
}

static ef_status *number_run(const ef_call *c) {
    const ef_str *in = ef_strs(c->in[0]);
    ef_text text = {0};
    ef_status *s = NULL;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n && s == NULL; k++) {
        text.n = 0;
        ef_text_bytes(&text, in[k].at, in[k].n);
        ef_text_bytes(&text, "", 1); /* adds the NUL that the C library needs */
        if (text.failed)
            s = ef_no_memory(in[k].n + 1);
        else if (strlen(text.at) != in[k].n ||
                 !read_number((ef_dtype)c->out[0]->dtype, text.at, c->out[0]->data, k))
            s = ef_error(EF_INVALID,
                         "StringToNumber: StringToNumberOp could not correctly convert string: %s; "
                         "it must be one number that %s can hold",
                         EF_STR(&in[k]), ef_dtype_name((ef_dtype)c->out[0]->dtype));
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_StringToNumber = {
    EF_NAMED(StringToNumber),
    .doc = "Parses each string as a number.",
    .in = {"string_tensor: string"},
    .out = {"output: out_type"},
    .attr = {EF_ATTR(number_attrs, out_type, "{float, double, int32, int64, uint32, uint64}",
                     "float")},
    .attr_size = sizeof(number_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(number_run),
    .examples = {"string[3]{1.5,-2,3e2}", "string[2]{12,-7} out_type=int32",
                 "string[]{9} out_type=int64", "string[2]{0.1,inf} out_type=double",
                 "string[1]{7} out_type=uint32", "string[1]{7} out_type=uint64", "string[0]"},
};

/* ---- AsString -------------------------------------------------------------------------------- */

typedef struct {
    int64_t precision;
    bool scientific, shortest;
    int64_t width;
    ef_attr_text fill;
} text_attrs;

enum { MOST_DIGITS = 2048 }; /* the longest double has about 1,100 digits; all others are zeros */

static ef_status *text_shape(ef_infer *i) {
    const text_attrs *t = i->attrs;
    ef_dtype d = i->in[0].dtype;
    if (!ef_dtype_in(d, EF_FLOATS | EF_COMPLEX | EF_BIT(STRING))) {
        if (t->scientific || t->shortest)
            return ef_error(EF_INVALID,
                            "AsString: scientific and shortest format not supported for datatype "
                            "%s; they are for floats",
                            ef_dtype_name(d));
        if (t->precision >= 0)
            return ef_error(EF_INVALID,
                            "AsString: precision not supported for datatype %s; it is for floats",
                            ef_dtype_name(d));
    }
    if (t->width > MOST_DIGITS || t->precision > MOST_DIGITS)
        return ef_error(EF_INVALID, "AsString: width %lld and precision %lld must be %d at most",
                        (long long)t->width, (long long)t->precision, MOST_DIGITS);
    if (t->scientific && t->shortest)
        return ef_error(EF_INVALID,
                        "AsString: Cannot select both scientific and shortest notation");
    if (t->fill.n > 1)
        return ef_error(EF_INVALID, "AsString: Fill string must be one or fewer characters");
    if (t->fill.n == 1 && strchr(" +-0#", t->fill.at[0]) == NULL)
        return ef_error(EF_INVALID, "AsString: Fill argument not supported: \"%s\"", t->fill.at);
    return ef_shape_same(i);
}

/* "%", then flag, width and precision as far as they are given, then the conversion. */
static void make_format(const text_attrs *t, const char *conversion, char *out, size_t n) {
    char width[24] = "", precision[24] = "";
    if (t->width > -1) snprintf(width, sizeof width, "%" PRId64, t->width);
    if (t->precision > -1) snprintf(precision, sizeof precision, ".%" PRId64, t->precision);
    snprintf(out, n, "%%%s%s%s%s", t->fill.at, width, precision, conversion);
}

/* v with `digits` decimals, 1 to 9, as printf writes it: the exact value, rounded half to even.
 * |v| < 2^53. Returns the number of bytes. */
static size_t write_fixed(double v, int digits, char *out) {
    static const uint32_t power[] = {1,      10,      100,      1000,      10000,
                                     100000, 1000000, 10000000, 100000000, 1000000000};
    char reversed[40];
    size_t n = 0, length = 0;
    int exponent;
    uint64_t whole = (uint64_t)fabs(v), part = 0;
    double rest = frexp(fabs(v) - (double)whole, &exponent); /* exact, as is the next line */
    uint64_t m = (uint64_t)ldexp(rest, 53);
    int shift = 53 - exponent; /* the fraction is m / 2^shift, m < 2^53 */
    uint64_t low = (m & UINT32_MAX) * power[digits], high = (m >> 32) * power[digits] + (low >> 32);
    if (m != 0 && shift < 84) { /* else less than half of the last decimal */
        uint64_t top = high >> 32, rem, half;
        low = high << 32 | (low & UINT32_MAX);
        bool more = false; /* of the remainder, below `rem` */
        if (shift < 64) {
            part = top << (64 - shift) | low >> shift;
            rem = low & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
        } else if (shift == 64) {
            part = top, rem = low, half = (uint64_t)1 << 63;
        } else {
            part = top >> (shift - 64), rem = top & (((uint64_t)1 << (shift - 64)) - 1);
            half = (uint64_t)1 << (shift - 65), more = low != 0;
        }
        part += rem > half || (rem == half && (more || (part & 1) != 0));
        if (part == power[digits]) part = 0, whole++;
    }
    for (int d = 0; d < digits; d++, part /= 10) reversed[n++] = (char)('0' + part % 10);
    reversed[n++] = '.';
    do reversed[n++] = (char)('0' + whole % 10);
    while ((whole /= 10) != 0);
    if (signbit(v)) reversed[n++] = '-';
    while (n > 0) out[length++] = reversed[--n];
    return length;
}

/* How many decimals write_fixed writes for this format; 0: printf has to write it. */
static int fixed_digits(const text_attrs *t, ef_dtype d) {
    bool plain = !t->scientific && !t->shortest && t->width < 0 && t->fill.n == 0;
    int64_t digits = t->precision < 0 ? 6 : t->precision;
    return plain && ef_dtype_in(d, EF_FLOATS) && digits >= 1 && digits <= 9 ? (int)digits : 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_double(ef_text *out, const char *format, double v) { ef_text_add(out, format, v); }
static void add_int(ef_text *out, const char *format, int64_t v) { ef_text_add(out, format, v); }
static void add_string(ef_text *out, const char *format, int n, const char *s) {
    ef_text_add(out, format, n, s);
}
#pragma GCC diagnostic pop

static void add_element(const ef_tensor *x, int64_t k, const char *format, ef_text *out) {
    ef_dtype d = (ef_dtype)x->dtype;
    if (d == EF_BOOL) {
        bool v = ((const uint8_t *)x->data)[k] != 0;
        ef_text_add(out, "%s", v ? "true" : "false");
    } else if (d == EF_STRING) {
        const ef_str *s = ef_strs(x) + k;
        add_string(out, format, (int)s->n, s->n > 0 ? s->at : "");
    } else if (ef_dtype_in(d, EF_COMPLEX)) {
        double re, im;
        if (d == EF_C64)
            re = ((const float *)x->data)[2 * k], im = ((const float *)x->data)[2 * k + 1];
        else
            re = ((const double *)x->data)[2 * k], im = ((const double *)x->data)[2 * k + 1];
        ef_text_add(out, "(");
        add_double(out, format, re);
        ef_text_add(out, ",");
        add_double(out, format, im);
        ef_text_add(out, ")");
    } else if (ef_dtype_in(d, EF_FLOATS))
        add_double(out, format, ef_element_double(d, x->data, k));
    else
        add_int(out, format, ef_element_int(d, x->data, k));
}

static ef_status *text_run(const ef_call *c) {
    const text_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    ef_dtype d = (ef_dtype)x->dtype;
    text_attrs how = *t;
    if (d == EF_STRING) how.precision = -1;
    const char *conversion = d == EF_STRING                           ? ".*s"
                             : ef_dtype_in(d, EF_FLOATS | EF_COMPLEX) ? t->shortest     ? "g"
                                                                        : t->scientific ? "e"
                                                                                        : "f"
                             : d == EF_U64                            ? PRIu64
                                                                      : PRId64;
    char format[96];
    int digits = fixed_digits(t, d);
    make_format(&how, conversion, format, sizeof format);
    EF_TRY(ef_out_memory(c, 0));
    ef_text text = {0};
    ef_status *s = NULL;
    ef_str *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(x); k < n && s == NULL; k++) {
        double v = digits > 0 ? ef_element_double(d, x->data, k) : 0;
        if (digits > 0 && fabs(v) < 0x1p53) {
            char fixed[40];
            ef_text_bytes(&text, fixed, write_fixed(v, digits, fixed));
        } else {
            add_element(x, k, format, &text);
        }
        s = ef_str_take(&out[k], &text);
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_AsString = {
    EF_NAMED(AsString),
    .doc = "Each element written as text; `width`, `fill` and `precision` as in printf.",
    .in = {"input: T"},
    .out = {"output: string"},
    .types = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
             "uint64, complex64, complex128, bool, string}",
    .attr = {EF_ATTR(text_attrs, precision, "int", "-1"),
             EF_ATTR(text_attrs, scientific, "bool", "false"),
             EF_ATTR(text_attrs, shortest, "bool", "false"),
             EF_ATTR(text_attrs, width, "int", "-1"), EF_ATTR(text_attrs, fill, "string", "''")},
    .attr_size = sizeof(text_attrs),
    .traits = EF_NO_GRAD,
    .shape = text_shape,
    .kernel = EF_MOVE_KERNEL(text_run),
    .examples = {"T[2,2]", "float[3] precision=2", "float[2] scientific=true precision=3",
                 "double[2] shortest=true", "int32[2] width=5 fill='0'", "string[2]{a,bc} width=4",
                 "int32[0]"},
};
