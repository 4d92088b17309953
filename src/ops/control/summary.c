/* Tensors as text. Numbers are written with enough digits to read back the same value: six (fifteen
 * for doubles) if that is enough, else nine (seventeen). */
#include "ops/control/summary.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_float(ef_text *out, double v, bool wide) {
    char s[40];
    if (isnan(v)) {
        ef_text_add(out, "nan");
        return;
    }
    snprintf(s, sizeof s, "%.*g", wide ? 15 : 6, v);
    if (wide ? strtod(s, NULL) != v : strtof(s, NULL) != (float)v)
        snprintf(s, sizeof s, "%.*g", wide ? 17 : 9, v);
    ef_text_add(out, "%s", s);
}

/* Escapes as in a C string; bytes above 127 are kept, because they are usually UTF-8. */
static void add_escaped(ef_text *out, const ef_str *s) {
    static const char names[] = "nrt\"'\\", values[] = "\n\r\t\"'\\";
    for (size_t k = 0; k < s->n; k++) {
        unsigned char c = (unsigned char)s->at[k];
        const char *at = c != 0 ? strchr(values, c) : NULL;
        if (at != NULL)
            ef_text_add(out, "\\%c", names[at - values]);
        else if (c < 32 || c == 127)
            ef_text_add(out, "\\%03o", c);
        else
            ef_text_bytes(out, s->at + k, 1);
    }
}

static void add_element(ef_text *out, const ef_tensor *t, int64_t k, bool quote) {
    ef_dtype d = (ef_dtype)t->dtype;
    if (d == EF_STRING) {
        const ef_str *s = (const ef_str *)t->data + k;
        if (quote) ef_text_add(out, "\"");
        add_escaped(out, s);
        if (quote) ef_text_add(out, "\"");
    } else if (ef_dtype_in(d, EF_FLOATS)) {
        add_float(out, ef_element_double(d, t->data, k), d == EF_F64);
    } else if (d == EF_U64) {
        ef_text_add(out, "%llu", (unsigned long long)((const uint64_t *)t->data)[k]);
    } else if (ef_dtype_in(d, EF_INTS | EF_BIT(BOOL))) {
        ef_text_add(out, "%lld", (long long)ef_element_int(d, t->data, k));
    } else if (ef_dtype_in(d, EF_COMPLEX)) {
        ef_dtype part = d == EF_C64 ? EF_F32 : EF_F64;
        ef_text_add(out, "(");
        add_float(out, ef_element_double(part, t->data, 2 * k), d == EF_C128);
        ef_text_add(out, ",");
        add_float(out, ef_element_double(part, t->data, 2 * k + 1), d == EF_C128);
        ef_text_add(out, ")");
    } else {
        ef_text_add(out, "<%s>", ef_dtype_name(d));
    }
}

static void short_axis(ef_text *out, const ef_tensor *t, int d, int64_t most, int64_t *at) {
    if (*at >= most) return;
    for (int64_t k = 0; k < t->dim[d]; k++) {
        if (d < t->rank - 1) {
            if (*at >= most) return;
            ef_text_add(out, "[");
            short_axis(out, t, d + 1, most, at);
            ef_text_add(out, "]");
            continue;
        }
        if (*at >= most) {
            if (d > 0) ef_text_add(out, "...");
            return;
        }
        if (k > 0) ef_text_add(out, " ");
        add_element(out, t, (*at)++, false);
    }
}

void ef_summary_short(ef_text *out, const ef_tensor *t, int64_t most) {
    int64_t n = ef_count(t), at = 0;
    if (most < 0 || most > n) most = n;
    if (t->rank > 0)
        short_axis(out, t, 0, most, &at);
    else if (most > 0)
        add_element(out, t, 0, false);
    if (n > most) ef_text_add(out, "...");
}

/* Between two elements along axis d: a space, or a line break and one blank line per inner axis. */
static void spacing(ef_text *out, int d, int rank) {
    if (d == rank - 1) {
        ef_text_add(out, " ");
        return;
    }
    for (int k = 0; k < rank - d - 1; k++) ef_text_add(out, "\n");
    for (int k = 0; k <= d; k++) ef_text_add(out, " ");
}

static void full_axis(ef_text *out, const ef_tensor *t, int d, int64_t ends, int64_t at) {
    if (d == t->rank) {
        add_element(out, t, at, true);
        return;
    }
    int64_t n = t->dim[d], inner = 1;
    for (int k = d + 1; k < t->rank; k++) inner *= t->dim[k];
    ef_text_add(out, "[");
    for (int64_t k = 0; k < n; k++) {
        if (k > 0 || ends == 0) spacing(out, d, t->rank);
        if (k == ends && n > 2 * ends) {
            ef_text_add(out, "...");
            k = n - ends - 1;
            continue;
        }
        full_axis(out, t, d + 1, ends, at + k * inner);
    }
    ef_text_add(out, "]");
}

void ef_summary_full(ef_text *out, const ef_tensor *t, int64_t ends) {
    if (t->rank == 0 && ends == 0)
        ef_text_add(out, "...");
    else
        full_axis(out, t, 0, ends < 0 ? INT64_MAX / 2 : ends, 0);
}

/* ---- output streams -------------------------------------------------------------------------- */

static ef_status *print_to_process(const char *stream, const char *text, size_t n) {
    FILE *f = strcmp(stream, "stdout") == 0 ? stdout : stderr;
    bool file = strncmp(stream, "file://", 7) == 0;
    if (file && (f = fopen(stream + 7, "ab")) == NULL)
        return ef_error(EF_NOT_FOUND, "PrintV2: cannot open '%s' to append to it", stream + 7);
    fwrite(text, 1, n, f);
    if (file)
        fclose(f);
    else
        fflush(f);
    return NULL;
}

ef_status *(*ef_print_hook)(const char *stream, const char *text, size_t n) = print_to_process;
