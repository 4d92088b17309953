/* Matching and building. Rules are found by the op at their root; a pattern is rejected at its
 * first token that does not fit, which for nearly all nodes is the second. */
#include "base/alloc.h"
#include "base/option.h"
#include "base/text.h"
#include "passes/passes.h"
#include "passes/rule.h"
#include <pthread.h>
#include <stdio.h>

const ef_rule *const ef_rule_tables[] = {ef_rules_arithmetic, ef_rules_shape, ef_rules_fused, NULL};
ef_rewrite_hook_fn *ef_rewrite_hook;
_Thread_local const ef_pass_observer *ef_rewrite_observer;

enum { DEPTH = 32, MOST_INPUTS = 8, SCAN = 1 << 16 };

/* ---- rules by root op ------------------------------------------------------------------------ */

static const ef_rule **rule;                 /* made once; without memory there are no rules */
static uint16_t first_rule[EF_OP_COUNT + 1]; /* rules of op k: [first[k], first[k + 1]) */
static bool loose, logs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t count_rules(void) {
    size_t n = 0;
    for (int t = 0; ef_rule_tables[t] != NULL; t++)
        for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++) n++;
    return n;
}

static void index_rules(void) {
    int n = 0;
    rule = ef_calloc(count_rules() + 1, sizeof *rule);
    if (rule == NULL) return;
    loose = ef_option_has("EF_MATH", "loose");
    logs = ef_option_has("EF_LOG", "rewrite");
    for (int op = 0; op < EF_OP_COUNT; op++) {
        first_rule[op] = (uint16_t)n;
        for (int t = 0; ef_rule_tables[t] != NULL; t++)
            for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++)
                if (r->pattern[0] == op + 1 && (!r->loose || loose)) rule[n++] = r;
    }
    first_rule[EF_OP_COUNT] = (uint16_t)n;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_number(ef_dtype t, const void *data, int64_t i, int token) {
    double v = ef_element_double(t, data, i);
    switch (token) {
    case EF_RULE_ZERO: return v == 0 && !__builtin_signbit(v);
    case EF_RULE_NEGATIVE_ZERO:
        return v == 0 && (__builtin_signbit(v) || !ef_dtype_in(t, EF_FLOATS));
    case EF_RULE_ONE: return v == 1;
    case EF_RULE_TWO: return v == 2;
    default: return v == -1;
    }
}

static bool match_number(ef_match *m, int token, ef_edge e) {
    const ef_tensor *v = ef_edge_fact(m->g, e)->value;
    if (v == NULL || v->data == NULL) return false;
    ef_dtype t = (ef_dtype)v->dtype;
    int64_t n = ef_count(v);
    if (!ef_dtype_in(t, EF_REALS | EF_BIT(BOOL)) || n == 0 || n > SCAN) return false;
    for (int64_t i = 0; i < n; i++)
        if (!is_number(t, v->data, i, token)) return false;
    m->constant = e;
    return true;
}

static bool match_edge(ef_match *m, const int16_t **code, ef_edge e);

/* Matches the operands of a node with the pattern's next tokens, of which `want` or fewer belong to
 * this node. */
static bool match_inputs(ef_match *m, const int16_t **code, const ef_edge *in, int n, int want,
                         bool swap) {
    int k = 0;
    for (int j = 0; j < want && **code != EF_RULE_END; j++, k++) {
        if (**code == EF_RULE_REST) {
            m->rest = in + k;
            m->n_rest = n - k;
            (*code)++;
            return k <= n;
        }
        if (k >= n || !match_edge(m, code, in[swap ? 1 - k : k])) return false;
    }
    return k == n;
}

static bool match_node(ef_match *m, const int16_t **code, const ef_op *op, const ef_edge *in, int n,
                       int want) {
    if (!(op->traits & EF_COMMUTES) || n != 2) return match_inputs(m, code, in, n, want, false);
    const int16_t *at = *code;
    ef_match before = *m;
    if (match_inputs(m, code, in, n, want, false)) return true;
    *m = before;
    *code = at;
    return match_inputs(m, code, in, n, want, true);
}

static bool is_name(int token) { return token < 0 && token >= -EF_RULE_NAMES; }

static bool match_name(ef_match *m, int token, ef_edge e) {
    ef_edge *bound = &m->bound[-token];
    if (bound->node >= 0) return ef_edge_same(*bound, e);
    *bound = e;
    return true;
}

static bool match_edge(ef_match *m, const int16_t **code, ef_edge e) {
    int token = *(*code)++;
    if (is_name(token)) return match_name(m, token, e);
    if (token <= EF_RULE_END) return match_number(m, token, e);
    const ef_node *n = m->g->node[e.node];
    if (n->op->id != token - 1 || e.index != 0 || n->n_after > 0 || m->n_inner == EF_RULE_INNER)
        return false;
    m->inner[m->n_inner++] = n;
    return match_node(m, code, n->op, n->in, n->n_in, ef_op_signature(n->op)->n_in);
}

/* ---- building -------------------------------------------------------------------------------- */

static ef_status *add_at(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                         int n_in, int depth, ef_edge *out);

static ef_status *attrs_of(const ef_match *m, const ef_rule *r, const ef_op *op, bool root,
                           const ef_attrs **out) {
    *out = NULL;
    if (op->attr[0].name == NULL) return NULL;
    if (root && r->attrs != NULL) return r->attrs(m, op, out);
    if (root && op == m->op && m->attrs != NULL) {
        *out = ef_attrs_ref(m->attrs);
        return NULL;
    }
    return ef_attrs_like(op, m->op, m->fields, NULL, 0, out);
}

static ef_status *build(const ef_match *m, const ef_rule *r, const int16_t **code, int depth,
                        ef_edge *out) {
    bool root = *code == r->replacement;
    int token = *(*code)++;
    if (is_name(token)) {
        *out = m->bound[-token];
        return NULL;
    }
    const ef_op *op = ef_op_table[token - 1];
    int want = root ? EF_RULE_TOKENS : ef_op_signature(op)->n_in, n = 0;
    ef_edge in[MOST_INPUTS];
    for (int j = 0; j < want && **code != EF_RULE_END && n < MOST_INPUTS; j++) {
        if (**code != EF_RULE_REST) {
            EF_TRY(build(m, r, code, depth, &in[n++]));
            continue;
        }
        (*code)++;
        for (int k = 0; k < m->n_rest && n < MOST_INPUTS; k++) in[n++] = m->rest[k];
    }
    const ef_attrs *attrs;
    EF_TRY(attrs_of(m, r, op, root, &attrs));
    ef_status *s = add_at(m->walk, op, attrs, in, n, depth + 1, out);
    ef_attrs_unref(attrs);
    return s;
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void print_edge(ef_text *t, ef_edge e) {
    ef_text_add(t, "%%%d", e.node);
    if (e.index > 0) ef_text_add(t, ".%d", e.index);
}

static void print_code(ef_text *t, const ef_match *m, const int16_t **code, bool root) {
    int token = *(*code)++;
    if (is_name(token)) {
        print_edge(t, m->bound[-token]);
    } else if (token <= EF_RULE_END) {
        print_edge(t, m->constant);
    } else {
        const ef_op *op = ef_op_table[token - 1];
        int want = root ? EF_RULE_TOKENS : ef_op_signature(op)->n_in;
        ef_text_add(t, "%s(", op->name);
        for (int j = 0; j < want && **code != EF_RULE_END; j++) {
            if (j > 0) ef_text_add(t, ", ");
            if (**code != EF_RULE_REST) {
                print_code(t, m, code, false);
                continue;
            }
            (*code)++;
            for (int k = 0; k < m->n_rest; k++) {
                if (k > 0) ef_text_add(t, ", ");
                print_edge(t, m->rest[k]);
            }
            if (!root) break;
        }
        ef_text_add(t, ")");
    }
}

static void print_line(const char *name, const char *before, const char *after) {
    fprintf(stderr, "%s: %s => %s\n", name, before, after);
}

static void tell(const ef_match *m, const ef_rule *r) {
    ef_rewrite_hook_fn *hook = ef_rewrite_hook != NULL ? ef_rewrite_hook : logs ? print_line : NULL;
    const ef_pass_observer *observer = ef_rewrite_observer;
    if (hook == NULL && observer == NULL) return;
    ef_text before = {0}, after = {0};
    const int16_t *code = r->pattern;
    print_code(&before, m, &code, true);
    code = r->replacement;
    print_code(&after, m, &code, true);
    bool whole = !before.failed && !after.failed;
    if (whole && hook != NULL) hook(r->name, before.at, after.at);
    if (whole && observer != NULL) observer->rewrite(observer->user, r->name, before.at, after.at);
    ef_text_free(&before);
    ef_text_free(&after);
}

/* ---- applying -------------------------------------------------------------------------------- */

static bool matches(ef_match *m, const ef_rule *r) {
    memset(m->bound, 0xFF, sizeof m->bound);
    m->n_inner = m->n_rest = 0;
    const int16_t *code = r->pattern + 1;
    return match_node(m, &code, m->op, m->in, m->n_in, EF_RULE_TOKENS) && *code == EF_RULE_END &&
           (r->when == NULL || r->when(m));
}

/* If the replacement cannot be built, the rule does not apply; nodes it has added stay unused. */
static ef_status *apply(const ef_match *m, const ef_rule *r, int depth, ef_edge *out, bool *done) {
    const int16_t *code = r->replacement;
    ef_status *s = build(m, r, &code, depth, out);
    *done = s == NULL;
    if (s == NULL) {
        tell(m, r);
    } else if (ef_status_code(s) != EF_NO_MEMORY) {
        ef_status_free(s);
        s = NULL;
    }
    return s;
}

static ef_status *try_at(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                         int n_in, int depth, ef_edge *out, bool *done) {
    int first = first_rule[op->id], last = first_rule[op->id + 1];
    if (first == last || depth >= DEPTH || n_in == 0 || n_in > MOST_INPUTS) return NULL;
    ef_match m = {.walk = w, .g = w->to, .op = op, .attrs = attrs, .in = in, .n_in = n_in};
    if (attrs != NULL) m.fields = ef_attrs_fields(attrs);
    for (int k = first; k < last && !*done; k++)
        if (matches(&m, rule[k])) EF_TRY(apply(&m, rule[k], depth, out, done));
    return NULL;
}

static ef_status *add_at(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                         int n_in, int depth, ef_edge *out) {
    bool done = false;
    EF_TRY(try_at(w, op, attrs, in, n_in, depth, out, &done));
    return done ? NULL : ef_walk_add(w, op, attrs, in, n_in, out);
}

ef_status *ef_rule_try(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out, bool *done) {
    pthread_once(&once, index_rules);
    return try_at(w, op, attrs, in, n_in, 0, out, done);
}

ef_status *ef_rule_add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out) {
    pthread_once(&once, index_rules);
    return add_at(w, op, attrs, in, n_in, 0, out);
}

/* ---- for guards ------------------------------------------------------------------------------ */

bool ef_match_bind_ints(ef_match *m, int name, int n, const int64_t *v) {
    ef_shape shape = {.rank = 1, .dim = {n}};
    int32_t values[EF_MAX_RANK];
    for (int k = 0; k < n; k++) values[k] = (int32_t)v[k];
    ef_tensor t = {0};
    ef_status *s = ef_tensor_from(EF_I32, &shape, values, &t);
    if (s == NULL) s = ef_walk_constant(m->walk, &t, &m->bound[-name]);
    ef_tensor_release(&t);
    ef_status_free(s);
    return s == NULL;
}

bool ef_match_bool(const ef_op *op, const void *fields, const char *attr) {
    ef_attr_value v;
    ef_status *s = fields != NULL ? ef_attrs_get(op, fields, attr, &v)
                                  : ef_error(EF_NOT_FOUND, "%s: no attributes", op->name);
    ef_status_free(s);
    return s == NULL && v.kind == EF_ATTR_BOOL && v.as.b;
}
