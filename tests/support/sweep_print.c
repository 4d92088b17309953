/* A call of the sweep as JSON: {"op": ..., "args": [[name, [tensor, ...] or tensor], ...],
 * "attrs": {...}}; a tensor is [dtype, dims, bytes in hexadecimal or a list of strings]. */
#include "ops/signature.h"
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void text(FILE *to, const char *at, size_t n) {
    fputc('"', to);
    for (size_t i = 0; i < n; i++) fprintf(to, "\\u%04x", (unsigned char)at[i]); /* as latin-1 */
    fputc('"', to);
}

static void ints(FILE *to, const int64_t *v, int n) {
    fputc('[', to);
    for (int k = 0; k < n; k++) fprintf(to, "%s%lld", k ? ", " : "", (long long)v[k]);
    fputc(']', to);
}

static void tensor(FILE *to, const ef_tensor *t) {
    fprintf(to, "[\"%s\", ", ef_dtype_name((ef_dtype)t->dtype));
    ints(to, t->dim, t->rank);
    fputs(", ", to);
    int64_t n = ef_count(t);
    if (t->dtype == EF_STRING) {
        fputc('[', to);
        for (int64_t i = 0; i < n; i++) {
            const ef_str *s = (const ef_str *)t->data + i;
            if (i) fputs(", ", to);
            text(to, s->at, s->n);
        }
        fputs("]]", to);
        return;
    }
    fputc('"', to);
    size_t bytes = (size_t)n * ef_dtype_size((ef_dtype)t->dtype);
    for (size_t i = 0; i < bytes; i++) fprintf(to, "%02x", ((const unsigned char *)t->data)[i]);
    fputs("\"]", to);
}

static void number(FILE *to, double f) {
    if (isfinite(f))
        fprintf(to, "%.17g", f);
    else
        fputs(isnan(f) ? "NaN" : f > 0 ? "Infinity" : "-Infinity", to);
}

static bool attr(FILE *to, const ef_attr_value *v) {
    switch (v->kind) {
    case EF_ATTR_BOOL: fputs(v->as.b ? "true" : "false", to); return true;
    case EF_ATTR_INT: fprintf(to, "%lld", (long long)v->as.i); return true;
    case EF_ATTR_FLOAT: number(to, v->as.f); return true;
    case EF_ATTR_STRING: text(to, v->as.s, strlen(v->as.s)); return true;
    case EF_ATTR_TYPE: fprintf(to, "{\"dtype\": \"%s\"}", ef_dtype_name(v->as.type)); return true;
    case EF_ATTR_SHAPE:
        fputs("{\"shape\": ", to);
        if (v->as.shape->rank < 0)
            fputs("null", to);
        else
            ints(to, v->as.shape->dim, v->as.shape->rank);
        fputc('}', to);
        return true;
    case EF_ATTR_INTS: ints(to, v->as.ints, v->n); return true;
    case EF_ATTR_FLOATS:
        fputc('[', to);
        for (int k = 0; k < v->n; k++) {
            if (k) fputs(", ", to);
            number(to, v->as.floats[k]);
        }
        fputc(']', to);
        return true;
    case EF_ATTR_TYPES:
        fputc('[', to);
        for (int k = 0; k < v->n; k++)
            fprintf(to, "%s{\"dtype\": \"%s\"}", k ? ", " : "", ef_dtype_name(v->as.types[k]));
        fputc(']', to);
        return true;
    default: return false;
    }
}

static bool args(FILE *to, const ef_sweep_call *c) {
    const ef_signature *s = ef_op_signature(c->op);
    ef_arity n;
    int at = 0;
    ef_status *failed = ef_op_arity(c->op, ef_attrs_fields(c->e.attrs), c->e.n_in, &n);
    ef_status_free(failed);
    if (failed) return false;
    for (int k = 0; k < s->n_in; k++) {
        bool many = s->in[k].count_attr >= 0 || s->in[k].is_list;
        fprintf(to, "%s[\"%s\", %s", k ? ", " : "", s->in[k].name, many ? "[" : "");
        for (int j = 0; j < n.in[k]; j++) {
            if (j) fputs(", ", to);
            tensor(to, &c->e.in[at++]);
        }
        fputs(many ? "]]" : "]", to);
    }
    return true;
}

bool ef_sweep_print(const ef_sweep_call *c, FILE *to) {
    const ef_signature *s = ef_op_signature(c->op);
    for (int k = 0; k < c->e.n_in; k++)
        if (!ef_dtype_in((ef_dtype)c->e.in[k].dtype, EF_PLAIN | EF_BIT(STRING)) ||
            ef_count(&c->e.in[k]) > 4096)
            return false;
    fprintf(to, "{\"op\": \"%s\", \"about\": ", c->op->name);
    text(to, c->about, strlen(c->about));
    fputs(", \"args\": [", to);
    bool whole = args(to, c);
    fputs("], \"attrs\": {", to);
    for (int k = 0, n = 0; whole && k < s->n_attrs; k++) {
        ef_attr_value v;
        ef_status *failed =
            ef_attrs_get(c->op, ef_attrs_fields(c->e.attrs), c->op->attr[k].name, &v);
        ef_status_free(failed);
        if (failed) continue;
        fprintf(to, "%s\"%s\": ", n++ ? ", " : "", c->op->attr[k].name);
        if (!attr(to, &v)) whole = false, fputs("null", to);
    }
    fprintf(to, "}, \"whole\": %s}\n", whole ? "true" : "false");
    return whole;
}
