/* Basic string ops: join, substring, length, strip, lower and upper case. */
#include "ops/string/strings.h"
#include "kernels/utf8.h"
#include "ops/records.h"
#include <stdio.h>

ef_status *ef_str_take(ef_str *to, ef_text *t) {
    if (t->failed) return ef_no_memory(t->n + 1);
    ef_status *s = ef_str_set(to, t->at, t->n);
    t->n = 0;
    return s;
}

ef_status *ef_map_strings(const ef_call *c, ef_str_fn *fn) {
    EF_TRY(ef_out_memory(c, 0));
    ef_text text = {0};
    ef_status *s = NULL;
    const ef_str *in = ef_strs(c->in[0]);
    ef_str *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n && s == NULL; k++) {
        s = fn(c, &in[k], &text);
        if (s == NULL) s = ef_str_take(&out[k], &text);
    }
    ef_text_free(&text);
    return s;
}

ef_brief ef_str_brief(const ef_str *s) {
    ef_brief b;
    size_t at = 0, room = sizeof b.text - 8;
    b.text[at++] = '\'';
    for (size_t k = 0; k < s->n; k++) {
        unsigned char ch = (unsigned char)s->at[k];
        if (at + 4 > room) {
            at += (size_t)snprintf(b.text + at, 4, "...");
            break;
        }
        if (ch < 0x20 || ch == 0x7F)
            at += (size_t)snprintf(b.text + at, 5, "\\x%02x", ch);
        else
            b.text[at++] = (char)ch;
    }
    b.text[at++] = '\'';
    b.text[at] = '\0';
    return b;
}

/* ---- joining several tensors ----------------------------------------------------------------- */

typedef struct {
    ef_attr_text separator;
} join_attrs;

static ef_status *join_shape(ef_infer *i) {
    ef_shape out = ef_scalar_shape();
    bool any = false;
    for (int k = 0; k < i->n_in; k++) {
        const ef_shape *x = &i->in[k].shape;
        if (x->rank == 0) continue;
        if (!any)
            out = *x;
        else if (!ef_shape_may_equal(&out, x))
            return ef_error(EF_INVALID,
                            "%s: inputs are %s and %s; input shapes do not match: inputs that are "
                            "not scalars must have one shape",
                            i->op->name, EF_SHAPE(&out), EF_SHAPE(x));
        else
            EF_TRY(ef_shape_merge(&out, x, &out));
        any = true;
    }
    i->out[0].shape = out;
    return NULL;
}

static ef_status *join_run(const ef_call *c) {
    const join_attrs *t = c->attrs;
    EF_TRY(ef_out_memory(c, 0));
    ef_text text = {0};
    ef_status *s = NULL;
    ef_str *out = c->out[0]->data;
    for (int64_t j = 0, n = ef_count(c->out[0]); j < n && s == NULL; j++) {
        for (int k = 0; k < c->n_in; k++) {
            const ef_str *x = ef_strs(c->in[k]) + (c->in[k]->rank == 0 ? 0 : j);
            if (k > 0) ef_text_bytes(&text, t->separator.at, t->separator.n);
            ef_text_bytes(&text, x->at, x->n);
        }
        s = ef_str_take(&out[j], &text);
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_StringJoin = {
    EF_NAMED(StringJoin),
    .doc = "Joins the corresponding strings of all `inputs` with `separator` between them; "
           "scalars broadcast.",
    .in = {"inputs: N * string"},
    .out = {"output: string"},
    .types = "N: int >= 0",
    .attr = {EF_ATTR(join_attrs, separator, "string", "''")},
    .attr_size = sizeof(join_attrs),
    .traits = EF_NO_GRAD,
    .shape = join_shape,
    .kernel = EF_ANY_KERNEL(join_run),
    .examples = {"string[2]{a,b} string[2]{c,d}", "string[2]{a,} string[]{k} separator='-'",
                 "string[]{x}"},
};

/* ---- joining along axes ---------------------------------------------------------------------- */

typedef struct {
    bool keep_dims;
    ef_attr_text separator;
} reduce_attrs;

/* Marks the axes to join in *mark, in the order given; fails if an axis is given twice. */
static ef_status *reduce_axis(const ef_op *op, int rank, int64_t axis, bool *mark, int *at) {
    EF_TRY(ef_need_axis(op, axis, rank, at));
    if (mark[*at])
        return ef_error(EF_INVALID, "%s: axis %d is named twice in reduction_indices", op->name,
                        *at);
    mark[*at] = true;
    return NULL;
}

static ef_status *reduce_shape(ef_infer *i) {
    const reduce_attrs *t = i->attrs;
    int64_t v[EF_MAX_RANK];
    bool known = false, mark[EF_MAX_RANK] = {false};
    int n = 0, rank = i->in[0].shape.rank, at = 0;
    EF_TRY(ef_known_ints(i, 1, v, EF_MAX_RANK, &n, &known));
    if (rank < 0) return NULL;
    ef_shape out = {.rank = 0};
    if (!known) {
        if (t->keep_dims) i->out[0].shape = ef_shape_of_rank(rank);
        return NULL;
    }
    for (int k = 0; k < n; k++) EF_TRY(reduce_axis(i->op, rank, v[k], mark, &at));
    for (int d = 0; d < rank; d++)
        if (!mark[d] || t->keep_dims) out.dim[out.rank++] = mark[d] ? 1 : i->in[0].shape.dim[d];
    i->out[0].shape = out;
    return NULL;
}

/* One result: visits the elements along the joined axes; the first axis given varies fastest. */
static void reduce_one(const reduce_attrs *t, const ef_str *x, int n, const int64_t *size,
                       const int64_t *step, ef_text *text) {
    int64_t at[EF_MAX_RANK] = {0}, count = 1, from = 0;
    for (int k = 0; k < n; k++) count *= size[k];
    for (int64_t j = 0; j < count; j++) {
        if (j > 0) ef_text_bytes(text, t->separator.at, t->separator.n);
        ef_text_bytes(text, x[from].at, x[from].n);
        for (int k = 0; k < n; k++) {
            from += step[k];
            if (++at[k] < size[k]) break;
            from -= step[k] * size[k];
            at[k] = 0;
        }
    }
}

static ef_status *reduce_run(const ef_call *c) {
    const reduce_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    int64_t all[EF_MAX_RANK], size[EF_MAX_RANK], step[EF_MAX_RANK], at[EF_MAX_RANK] = {0};
    bool mark[EF_MAX_RANK] = {false};
    int n = 0, a = 0;
    ef_steps(x, all);
    for (int64_t k = 0, m = ef_count(c->in[1]); k < m; k++, n++) {
        EF_TRY(reduce_axis(c->op, x->rank, ef_in_int(c, 1, k), mark, &a));
        size[n] = x->dim[a], step[n] = all[a];
    }
    ef_shape shape = {.rank = 0};
    for (int d = 0; d < x->rank; d++)
        if (!mark[d] || t->keep_dims) shape.dim[shape.rank++] = mark[d] ? 1 : x->dim[d];
    EF_TRY(ef_out_alloc(c, 0, &shape));
    ef_text text = {0};
    ef_status *s = NULL;
    ef_str *out = c->out[0]->data;
    int64_t from = 0;
    for (int64_t j = 0, total = ef_count(c->out[0]); j < total && s == NULL; j++) {
        reduce_one(t, ef_strs(x) + from, n, size, step, &text);
        s = ef_str_take(&out[j], &text);
        for (int d = x->rank - 1; d >= 0; d--) {
            if (mark[d]) continue;
            from += all[d];
            if (++at[d] < x->dim[d]) break;
            from -= all[d] * x->dim[d];
            at[d] = 0;
        }
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_ReduceJoin = {
    EF_NAMED(ReduceJoin),
    .doc = "Joins the strings along the axes `reduction_indices`, in the order the axes are given.",
    .in = {"inputs: string", "reduction_indices: int32"},
    .out = {"output: string"},
    .attr = {EF_ATTR(reduce_attrs, keep_dims, "bool", "false"),
             EF_ATTR(reduce_attrs, separator, "string", "''")},
    .attr_size = sizeof(reduce_attrs),
    .traits = EF_NO_GRAD,
    .shape = reduce_shape,
    .kernel = EF_ANY_KERNEL(reduce_run),
    .examples = {"string[2,2]{a,b,c,d} int32[]{1} separator='-'",
                 "string[2,2]{a,b,c,d} int32[2]{1,0}",
                 "string[2,2]{a,b,c,d} int32[1]{-2} keep_dims=true", "string[2,0] int32[]{1}",
                 "string[2]{a,b} int32[0]"},
};

/* ---- substrings and lengths ------------------------------------------------------------------ */

typedef struct {
    int unit;
} unit_attrs;
enum { BYTE, UTF8_CHAR };

static size_t count_chars(const ef_str *s) {
    size_t n = 0;
    for (size_t k = 0; k < s->n; k++) n += ((unsigned char)s->at[k] & 0xC0) != 0x80;
    return n;
}

static ef_status *length_run(const ef_call *c) {
    const unit_attrs *t = c->attrs;
    const ef_str *in = ef_strs(c->in[0]);
    int32_t *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n; k++)
        out[k] = (int32_t)(t->unit == BYTE ? in[k].n : count_chars(&in[k]));
    return NULL;
}

const ef_op ef_op_StringLength = {
    EF_NAMED(StringLength),
    .doc = "The length of each string in bytes or in UTF-8 characters.",
    .in = {"input: string"},
    .out = {"output: int32"},
    .attr = {EF_ATTR(unit_attrs, unit, "{'BYTE', 'UTF8_CHAR'}", "'BYTE'")},
    .attr_size = sizeof(unit_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(length_run),
    .examples = {"string[3]{abc,,x}", "string[]{abc} unit='UTF8_CHAR'", "string[0,2]"},
};

static ef_status *substr_shape(ef_infer *i) {
    ef_shape span;
    if (!ef_shape_may_equal(&i->in[1].shape, &i->in[2].shape))
        return ef_error(EF_INVALID, "%s: pos is %s and len is %s; they must have one shape",
                        i->op->name, EF_SHAPE(&i->in[1].shape), EF_SHAPE(&i->in[2].shape));
    EF_TRY(ef_shape_merge(&i->in[1].shape, &i->in[2].shape, &span));
    if (!ef_shape_broadcast2(&i->in[0].shape, &span, &i->out[0].shape))
        return ef_error(EF_INVALID, "%s: input is %s and pos is %s; they must broadcast",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&span));
    return NULL;
}

/* The byte range of `len` units from `pos`; false if pos is outside the string. */
static bool find_span(const ef_str *s, int unit, int64_t pos, int64_t len, size_t *from,
                      size_t *to) {
    size_t n = unit == BYTE ? s->n : count_chars(s);
    if (pos > (int64_t)n || pos < -(int64_t)n) return false;
    size_t first = (size_t)(pos < 0 ? pos + (int64_t)n : pos);
    size_t last = (uint64_t)len > n - first ? n : first + (size_t)len;
    if (len < 0) last = unit == BYTE ? n : first; /* as TensorFlow does */
    *from = first, *to = last;
    if (unit == BYTE) return true;
    size_t at = 0, seen = 0;
    /* Skips continuation bytes at the beginning. */
    while (at < s->n && ((unsigned char)s->at[at] & 0xC0) == 0x80) at++;
    if (first == 0) at = 0;
    for (*from = *to = s->n; at < s->n && seen <= last; seen++) {
        if (seen == first) *from = at;
        if (seen == last) *to = at;
        at += ef_utf8_step(s->at + at, s->n - at);
    }
    return true;
}

static ef_status *substr_run(const ef_call *c) {
    const unit_attrs *t = c->attrs;
    EF_TRY(ef_out_memory(c, 0));
    const ef_tensor *x = c->in[0], *p = c->in[1], *z = c->out[0];
    ef_str *out = z->data;
    for (int64_t k = 0, n = ef_count(z); k < n; k++) {
        const ef_str *s = ef_strs(x) + ef_broadcast_at(x, z, k);
        int64_t j = ef_broadcast_at(p, z, k), pos = ef_in_int(c, 1, j);
        size_t from = 0, to = 0;
        if (!find_span(s, t->unit, pos, ef_in_int(c, 2, j), &from, &to))
            return ef_error(EF_INVALID,
                            "Substr: pos %lld out of range for string %s at index %lld; it must "
                            "lie within the string's length",
                            (long long)pos, EF_STR(s), (long long)k);
        EF_TRY(ef_str_set(&out[k], s->at + from, to - from));
    }
    return NULL;
}

const ef_op ef_op_Substr = {
    EF_NAMED(Substr),
    .doc = "The part of each string that begins at `pos` (from the end if negative) and has at "
           "most `len` bytes or characters.",
    .in = {"input: string", "pos: T", "len: T"},
    .out = {"output: string"},
    .types = "T: {int32, int64}",
    .attr = {EF_ATTR(unit_attrs, unit, "{'BYTE', 'UTF8_CHAR'}", "'BYTE'")},
    .attr_size = sizeof(unit_attrs),
    .traits = EF_NO_GRAD,
    .shape = substr_shape,
    .kernel = EF_ANY_KERNEL(substr_run),
    .examples = {"string[2]{hello,abc} T[]{1} T[]{3}",
                 "string[2]{hello,abc} int32[2]{-3,0} int32[2]{2,9}",
                 "string[]{hello} int64[3]{0,1,2} int64[3]{1,1,1} unit='UTF8_CHAR'"},
};

/* ---- trimming, case -------------------------------------------------------------------------- */

static bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static ef_status *strip_one(const ef_call *c, const ef_str *in, ef_text *out) {
    size_t from = 0, to = in->n;
    (void)c;
    while (from < to && is_white(in->at[from])) from++;
    while (to > from && is_white(in->at[to - 1])) to--;
    if (to > from) ef_text_bytes(out, in->at + from, to - from);
    return NULL;
}
static ef_status *strip_run(const ef_call *c) { return ef_map_strings(c, strip_one); }

const ef_op ef_op_StringStrip = {
    EF_NAMED(StringStrip),
    .doc = "Removes white space from both ends of each string.",
    .in = {"input: string"},
    .out = {"output: string"},
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(strip_run),
    .examples = {"string[3]{abc,,x}", "string[]{abc}", "string[0,2]"},
};

typedef struct {
    ef_attr_text encoding;
} case_attrs;

static ef_status *case_one(const ef_call *c, const ef_str *in, ef_text *out, bool upper) {
    const case_attrs *t = c->attrs;
    if (t->encoding.n > 0) {
        ef_utf8_case(in->at, in->n, upper, out);
        return NULL;
    }
    for (size_t k = 0; k < in->n; k++) {
        char ch = in->at[k];
        bool turn = upper ? ch >= 'a' && ch <= 'z' : ch >= 'A' && ch <= 'Z';
        char made = turn ? (char)(ch ^ 0x20) : ch;
        ef_text_bytes(out, &made, 1);
    }
    return NULL;
}
static ef_status *case_shape(ef_infer *i) {
    const case_attrs *t = i->attrs;
    if (t->encoding.n > 0 && strcmp(t->encoding.at, "utf-8") != 0)
        return ef_error(EF_INVALID, "%s: encoding is '%s'; it must be '' (ASCII) or 'utf-8'",
                        i->op->name, t->encoding.at);
    return ef_shape_same(i);
}
static ef_status *lower_one(const ef_call *c, const ef_str *in, ef_text *out) {
    return case_one(c, in, out, false);
}
static ef_status *upper_one(const ef_call *c, const ef_str *in, ef_text *out) {
    return case_one(c, in, out, true);
}
static ef_status *lower_run(const ef_call *c) { return ef_map_strings(c, lower_one); }
static ef_status *upper_run(const ef_call *c) { return ef_map_strings(c, upper_one); }

#define CASE(N, run, text)                                                                  \
    const ef_op ef_op_##N = {                                                               \
        EF_NAMED(N),                                                                        \
        .doc = text,                                                                        \
        .in = {"input: string"},                                                            \
        .out = {"output: string"},                                                          \
        .attr = {EF_ATTR(case_attrs, encoding, "string", "''")},                            \
        .attr_size = sizeof(case_attrs),                                                    \
        .traits = EF_NO_GRAD,                                                               \
        .shape = case_shape,                                                                \
        .kernel = EF_ANY_KERNEL(run),                                                       \
        .examples = {"string[3]{abC,,X}", "string[]{aBc} encoding='utf-8'", "string[0,2]"}, \
    };
CASE(StringLower, lower_run, "Each string in lower case: ASCII letters, or all of Unicode's.")
CASE(StringUpper, upper_run, "Each string in upper case: ASCII letters, or all of Unicode's.")
