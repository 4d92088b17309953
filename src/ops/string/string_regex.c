/* Replacing and matching with regular expressions; the pattern is an input or an attribute. */
#include "kernels/regex.h"
#include "ops/string/strings.h"

typedef struct {
    bool replace_global;
} replace_attrs;
typedef struct {
    ef_attr_text pattern, rewrite;
    bool replace_global;
} static_attrs;

typedef struct {
    ef_str pattern, rewrite;
    bool all;
} how_to;

static ef_status *pattern_shape(ef_infer *i) {
    for (int k = 1; k < i->n_in; k++) EF_TRY(ef_need_rank(i, k, 0));
    return ef_shape_same(i);
}

static ef_status *replace(const ef_call *c, const how_to *h) {
    ef_regex *re = NULL;
    ef_text text = {0};
    EF_TRY(ef_out_memory(c, 0));
    ef_status *s = ef_regex_make(c->op->name, h->pattern.at, h->pattern.n, &re);
    const ef_str *in = ef_strs(c->in[0]);
    ef_str *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n && s == NULL; k++) {
        s = ef_regex_replace(re, in[k].at, in[k].n, h->rewrite.at, h->rewrite.n, h->all, &text);
        if (s == NULL) s = ef_str_take(&out[k], &text);
    }
    ef_text_free(&text);
    ef_regex_free(re);
    return s;
}
static ef_status *match(const ef_call *c, const ef_str *pattern) {
    ef_regex *re = NULL;
    ef_status *s = ef_regex_make(c->op->name, pattern->at, pattern->n, &re);
    const ef_str *in = ef_strs(c->in[0]);
    uint8_t *out = c->out[0]->data;
    for (int64_t k = 0, n = ef_count(c->in[0]); k < n && s == NULL; k++) {
        bool hit = false;
        s = ef_regex_full_match(re, in[k].at, in[k].n, &hit);
        out[k] = hit;
    }
    ef_regex_free(re);
    return s;
}

static ef_status *replace_run(const ef_call *c) {
    const replace_attrs *t = c->attrs;
    how_to h = {*ef_strs(c->in[1]), *ef_strs(c->in[2]), t->replace_global};
    return replace(c, &h);
}
static ef_str attr_str(ef_attr_text t) { return (ef_str){(char *)(uintptr_t)t.at, t.n}; }
static ef_status *static_replace_run(const ef_call *c) {
    const static_attrs *t = c->attrs;
    how_to h = {attr_str(t->pattern), attr_str(t->rewrite), t->replace_global};
    return replace(c, &h);
}
static ef_status *match_run(const ef_call *c) { return match(c, ef_strs(c->in[1])); }
static ef_status *static_match_run(const ef_call *c) {
    ef_str pattern = attr_str(((const static_attrs *)c->attrs)->pattern);
    return match(c, &pattern);
}

const ef_op ef_op_RegexReplace = {
    EF_NAMED(RegexReplace),
    .doc = "Replaces matches of `pattern` by `rewrite`, in which \\1 to \\9 refer to groups.",
    .in = {"input: string", "pattern: string", "rewrite: string"},
    .out = {"output: string"},
    .attr = {EF_ATTR(replace_attrs, replace_global, "bool", "true")},
    .attr_size = sizeof(replace_attrs),
    .traits = EF_NO_GRAD,
    .shape = pattern_shape,
    .kernel = EF_ANY_KERNEL(replace_run),
    .examples = {"string[2]{banana,xyz} string[]{a+} string[]{_}",
                 "string[]{banana} string[]{a} string[]{b} replace_global=false",
                 "string[0] string[]{a} string[]{b}"},
};
const ef_op ef_op_StaticRegexReplace = {
    EF_NAMED(StaticRegexReplace),
    .doc = "Like RegexReplace, with pattern and rewrite as attributes.",
    .in = {"input: string"},
    .out = {"output: string"},
    .attr = {EF_ATTR(static_attrs, pattern, "string", NULL),
             EF_ATTR(static_attrs, rewrite, "string", NULL),
             EF_ATTR(static_attrs, replace_global, "bool", "true")},
    .attr_size = sizeof(static_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(static_replace_run),
    .examples = {"string[2]{banana,xyz} pattern='(a)(n)' rewrite='-' ",
                 "string[]{abc} pattern='b*' rewrite='-' replace_global=true"},
};
const ef_op ef_op_RegexFullMatch = {
    EF_NAMED(RegexFullMatch),
    .doc = "Whether `pattern` matches each whole string.",
    .in = {"input: string", "pattern: string"},
    .out = {"output: bool"},
    .traits = EF_NO_GRAD,
    .shape = pattern_shape,
    .kernel = EF_ANY_KERNEL(match_run),
    .examples = {"string[3]{abc,ab1,} string[]{[a-z]+}", "string[]{abc} string[]{ab}"},
};
const ef_op ef_op_StaticRegexFullMatch = {
    EF_NAMED(StaticRegexFullMatch),
    .doc = "Like RegexFullMatch, with the pattern as an attribute.",
    .in = {"input: string"},
    .out = {"output: bool"},
    .attr = {EF_ATTR(static_attrs, pattern, "string", NULL)},
    .attr_size = sizeof(static_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL(static_match_run),
    .examples = {"string[3]{abc,ab1,} pattern='[a-z]+'", "string[0] pattern=''"},
};
