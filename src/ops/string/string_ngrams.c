/* StringNGrams: in each row of a ragged vector of strings, adjacent strings are joined, for one or
 * several widths. Rows may be padded on both sides. */
#include "ops/string/strings.h"

typedef struct {
    ef_attr_text separator, left_pad, right_pad;
    ef_ints ngram_widths;
    int64_t pad_width;
    bool preserve_short_sequences;
} ngram_attrs;

static ef_status *ngrams_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[1].shape = i->in[1].shape;
    return NULL;
}

/* Padding on each side for a width: at most width - 1, so that each string has every position in an
 * n-gram; negative: that maximum. */
static int64_t padding(const ngram_attrs *t, int64_t width) {
    return t->pad_width < 0 || t->pad_width > width - 1 ? width - 1 : t->pad_width;
}

static int64_t ngrams_of(const ngram_attrs *t, int64_t length, int64_t width) {
    int64_t n = length + 2 * padding(t, width) - width + 1;
    return n > 0 ? n : 0;
}

/* The number of n-grams of a row of `length` strings; a short row is kept whole if that is
 * requested and no width fits. */
static int64_t row_count(const ngram_attrs *t, int64_t length, bool *whole) {
    int64_t n = 0;
    for (int w = 0; w < t->ngram_widths.n; w++) n += ngrams_of(t, length, t->ngram_widths.at[w]);
    *whole = n == 0 && t->preserve_short_sequences && length > 0;
    return *whole ? 1 : n;
}

static ef_status *join(const ngram_attrs *t, const ef_str *row, int64_t length, int64_t from,
                       int64_t width, ef_text *text, ef_str *out) {
    for (int64_t k = from; k < from + width; k++) {
        if (k > from) ef_text_bytes(text, t->separator.at, t->separator.n);
        if (k < 0)
            ef_text_bytes(text, t->left_pad.at, t->left_pad.n);
        else if (k >= length)
            ef_text_bytes(text, t->right_pad.at, t->right_pad.n);
        else
            ef_text_bytes(text, row[k].at, row[k].n);
    }
    return ef_str_take(out, text);
}

static ef_status *row_ngrams(const ngram_attrs *t, const ef_str *row, int64_t length, ef_text *text,
                             ef_str *out) {
    bool whole;
    int64_t n = row_count(t, length, &whole), at = 0;
    if (whole) {
        int64_t pad = t->pad_width < 0 ? 0 : t->pad_width;
        return join(t, row, length, -pad, length + 2 * pad, text, out);
    }
    for (int w = 0; w < t->ngram_widths.n && at < n; w++) {
        int64_t width = t->ngram_widths.at[w];
        for (int64_t k = 0, m = ngrams_of(t, length, width); k < m; k++)
            EF_TRY(join(t, row, length, k - padding(t, width), width, text, &out[at++]));
    }
    return NULL;
}

static ef_status *check_splits(const ef_call *c) {
    int64_t n = ef_count(c->in[1]), before = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t at = ef_in_int(c, 1, k);
        if ((k == 0 && at != 0) || at < before)
            return ef_error(EF_INVALID,
                            "%s: data_splits[%lld] is %lld; splits start with 0 and must not "
                            "decrease",
                            c->op->name, (long long)k, (long long)at);
        before = at;
    }
    if (n > 0 && before != ef_count(c->in[0]))
        return ef_error(EF_INVALID, "%s: data_splits end with %lld; data has %lld strings",
                        c->op->name, (long long)before, (long long)ef_count(c->in[0]));
    return NULL;
}

static ef_status *ngrams_run(const ef_call *c) {
    const ngram_attrs *t = c->attrs;
    for (int w = 0; w < t->ngram_widths.n; w++)
        if (t->ngram_widths.at[w] < 1)
            return ef_error(EF_INVALID, "%s: ngram_widths[%d] is %lld; widths must be at least 1",
                            c->op->name, w, (long long)t->ngram_widths.at[w]);
    EF_TRY(check_splits(c));
    int64_t rows = ef_count(c->in[1]) - 1, total = 0;
    ef_shape splits = ef_shape_from(c->in[1]);
    bool whole;
    EF_TRY(ef_out_alloc(c, 1, &splits));
    for (int64_t r = 0; r <= rows; r++) {
        if (r > 0) total += row_count(t, ef_in_int(c, 1, r) - ef_in_int(c, 1, r - 1), &whole);
        ef_element_set((ef_dtype)c->out[1]->dtype, c->out[1]->data, r, (double)total);
    }
    ef_shape flat = {.rank = 1, .dim = {total}};
    EF_TRY(ef_out_alloc(c, 0, &flat));
    ef_text text = {0};
    ef_status *s = NULL;
    int64_t at = 0;
    for (int64_t r = 0; r < rows && s == NULL; r++) {
        int64_t from = ef_in_int(c, 1, r), length = ef_in_int(c, 1, r + 1) - from;
        s = row_ngrams(t, ef_strs(c->in[0]) + from, length, &text, (ef_str *)c->out[0]->data + at);
        at += row_count(t, length, &whole);
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_StringNGrams = {
    EF_NAMED(StringNGrams),
    .doc = "The n-grams of each row of a ragged vector of strings: adjacent strings joined by "
           "`separator`, for each of `ngram_widths`.",
    .in = {"data: string", "data_splits: Tsplits"},
    .out = {"ngrams: string", "ngrams_splits: Tsplits"},
    .types = "Tsplits: {int32, int64} = int64",
    .attr = {EF_ATTR(ngram_attrs, separator, "string", NULL),
             EF_ATTR(ngram_attrs, ngram_widths, "list(int) >= 0", NULL),
             EF_ATTR(ngram_attrs, left_pad, "string", NULL),
             EF_ATTR(ngram_attrs, right_pad, "string", NULL),
             EF_ATTR(ngram_attrs, pad_width, "int", NULL),
             EF_ATTR(ngram_attrs, preserve_short_sequences, "bool", NULL)},
    .attr_size = sizeof(ngram_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = ngrams_shape,
    .kernel = EF_ANY_KERNEL(ngrams_run),
    .examples = {"string[4]{a,b,c,d} int64[3]{0,3,4} separator=' ' ngram_widths=[1,2] left_pad='L' "
                 "right_pad='R' pad_width=1 preserve_short_sequences=false",
                 "string[3]{a,b,c} int32[2]{0,3} separator='' ngram_widths=[5] left_pad='' "
                 "right_pad='' pad_width=0 preserve_short_sequences=true"},
};
