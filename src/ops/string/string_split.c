/* StringSplit and StringSplitV2: the tokens of each string, as a sparse matrix with a row for each
 * string. The first splits at any byte of a set, the second at a separator, or at runs of white
 * space, as Python's str.split does. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/string/strings.h"
#include <ctype.h>

typedef struct {
    bool skip_empty;
} set_attrs;
typedef struct {
    int64_t maxsplit;
} word_attrs;

typedef struct {
    const char *at;
    size_t n;
    int64_t row, column;
} token;

/* The tokens found so far; they point into the input. */
typedef struct {
    token *item;
    size_t n, cap;
    int64_t row, column, widest;
    bool skip_empty;
} tokens;

static ef_status *add(tokens *t, const char *at, size_t n) {
    if (n == 0 && t->skip_empty) return NULL;
    EF_TRY(EF_GROW(&t->item, &t->cap, t->n + 1));
    t->item[t->n++] = (token){at, n, t->row, t->column++};
    if (t->column > t->widest) t->widest = t->column;
    return NULL;
}

static ef_status *split_at_bytes(tokens *t, const ef_str *s, const ef_str *set) {
    size_t begin = 0;
    for (size_t k = 0; k < s->n; k++) {
        if (set->n == 0) {
            EF_TRY(add(t, s->at + k, 1));
        } else if (memchr(set->at, s->at[k], set->n) != NULL) {
            EF_TRY(add(t, s->at + begin, k - begin));
            begin = k + 1;
        }
    }
    return set->n == 0 ? NULL : add(t, s->at + begin, s->n - begin);
}

static size_t past_space(const ef_str *s, size_t k) {
    while (k < s->n && isspace((unsigned char)s->at[k])) k++;
    return k;
}

static ef_status *split_at_space(tokens *t, const ef_str *s, int64_t most) {
    size_t k = past_space(s, 0);
    for (int64_t made = 1; k < s->n; made++) {
        size_t end = k;
        while (end < s->n && !isspace((unsigned char)s->at[end])) end++;
        EF_TRY(add(t, s->at + k, end - k));
        k = past_space(s, end);
        if (most > 0 && made == most) return add(t, s->at + k, s->n - k);
    }
    return NULL;
}

static ef_status *split_at_word(tokens *t, const ef_str *s, const ef_str *word, int64_t most) {
    size_t begin = 0, k = 0;
    int64_t made = 0;
    while (k + word->n <= s->n && (most <= 0 || made < most)) {
        if (memcmp(s->at + k, word->at, word->n) != 0) {
            k++;
            continue;
        }
        EF_TRY(add(t, s->at + begin, k - begin));
        begin = k += word->n;
        made++;
    }
    return add(t, s->at + begin, s->n - begin);
}

static ef_status *split_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 0));
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, 2}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[2].shape = (ef_shape){.rank = 1, .dim = {2}};
    return NULL;
}

static ef_status *write_out(const ef_call *c, const tokens *t, int64_t rows) {
    ef_shape places = {.rank = 2, .dim = {(int64_t)t->n, 2}};
    ef_shape flat = {.rank = 1, .dim = {(int64_t)t->n}}, two = {.rank = 1, .dim = {2}};
    EF_TRY(ef_out_alloc(c, 0, &places));
    EF_TRY(ef_out_alloc(c, 1, &flat));
    EF_TRY(ef_out_alloc(c, 2, &two));
    int64_t *at = c->out[0]->data, *size = c->out[2]->data;
    for (size_t k = 0; k < t->n; k++) {
        at[2 * k] = t->item[k].row;
        at[2 * k + 1] = t->item[k].column;
        EF_TRY(ef_str_set((ef_str *)c->out[1]->data + k, t->item[k].at, t->item[k].n));
    }
    size[0] = rows;
    size[1] = t->widest;
    return NULL;
}

static ef_status *split_run(const ef_call *c) {
    bool by_set = c->op->id == EF_OP_StringSplit;
    int64_t rows = ef_count(c->in[0]);
    int64_t most = by_set ? -1 : ((const word_attrs *)c->attrs)->maxsplit;
    const ef_str *by = ef_strs(c->in[1]);
    tokens t = {.skip_empty = by_set && ((const set_attrs *)c->attrs)->skip_empty};
    ef_status *s = NULL;
    for (t.row = 0; t.row < rows && s == NULL; t.row++) {
        const ef_str *x = ef_strs(c->in[0]) + t.row;
        t.column = 0;
        if (by_set)
            s = split_at_bytes(&t, x, by);
        else if (most == 0)
            s = add(&t, x->at, x->n);
        else
            s = by->n == 0 ? split_at_space(&t, x, most) : split_at_word(&t, x, by, most);
    }
    if (s == NULL) s = write_out(c, &t, rows);
    ef_free(t.item);
    return s;
}

#define OUTPUTS \
    { "indices: int64", "values: string", "shape: int64" }

const ef_op ef_op_StringSplit = {
    EF_NAMED(StringSplit),
    .doc = "The tokens of each string between the bytes of `delimiter`; single bytes if it is "
           "empty.",
    .in = {"input: string", "delimiter: string"},
    .out = OUTPUTS,
    .attr = {EF_ATTR(set_attrs, skip_empty, "bool", "true")},
    .attr_size = sizeof(set_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = split_shape,
    .kernel = EF_ANY_KERNEL(split_run),
    .examples = {"string[2]{a-b,c} string[]{-}", "string[1]{a--b} string[]{-} skip_empty=false",
                 "string[0] string[]{-}"},
};

const ef_op ef_op_StringSplitV2 = {
    EF_NAMED(StringSplitV2),
    .doc = "The tokens of each string between `sep`, or between white space if that is empty; at "
           "most `maxsplit` + 1 of them if it is not negative.",
    .in = {"input: string", "sep: string"},
    .out = OUTPUTS,
    .attr = {EF_ATTR(word_attrs, maxsplit, "int", "-1")},
    .attr_size = sizeof(word_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = split_shape,
    .kernel = EF_ANY_KERNEL(split_run),
    .examples = {"string[2]{a-b-c,d} string[]{-}", "string[1]{a-b-c} string[]{-} maxsplit=1",
                 "string[0] string[]{-}"},
};
