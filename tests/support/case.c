#include "case.h"
#include "base/alloc.h"
#include "ops/signature.h"
#include "passes/passes.h"
#include "plan/lift.h"
#include "plan/program.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEM = 200, LEAVES = 8, ATTRS = 8 };

uint64_t ef_case_draw(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Small numbers, with zeros of both signs among the floats. */
void ef_case_fill(ef_tensor *t, uint64_t *state) {
    ef_dtype d = (ef_dtype)t->dtype;
    int64_t n = ef_count(t);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = (int64_t)(ef_case_draw(state) % 17) - 8;
        if (d == EF_BOOL || ef_dtype_in(d, EF_UNSIGNED_INTS)) v = v < 0 ? -v : v;
        double x = ef_dtype_in(d, EF_INTS | EF_BIT(BOOL)) ? (double)v : (double)v * 0.375;
        if (x == 0 && ef_dtype_in(d, EF_FLOATS) && (ef_case_draw(state) & 1)) x = -0.0;
        if (d == EF_BOOL) x = v & 1;
        ef_element_set(d, t->data, i, x);
        if (d == EF_C64) ((float *)t->data)[2 * i + 1] = (float)(v * v % 5) * 0.5f;
        if (d == EF_C128) ((double *)t->data)[2 * i + 1] = (double)(v * v % 5) * 0.5;
    }
}

void ef_case_free(ef_case *c) {
    for (int k = 0; k < c->n_in; k++) ef_tensor_release(&c->in[k]);
    ef_graph_unref(c->graph);
    *c = (ef_case){0};
}

/* ---- rules ----------------------------------------------------------------------------------- */

typedef struct reader { /* one example of a rule, being built */
    const ef_rule *rule;
    ef_dtype type;
    bool swap;
    ef_case *to;
    char leaf[LEAVES][ITEM], attr[ATTRS][ITEM];
    int n_leaves, n_attrs, next_leaf;
    ef_edge bound[EF_RULE_NAMES + 1];
    int nodes; /* built so far, in prefix order */
    uint64_t state;
} reader;

static void split(reader *r, const char *text) {
    while (*text) {
        char item[ITEM];
        size_t n = 0;
        int depth = 0;
        for (; *text && (*text != ' ' || depth > 0) && n + 1 < ITEM; text++) {
            depth += strchr("[{", *text) ? 1 : strchr("]}", *text) ? -1 : 0;
            item[n++] = *text;
        }
        while (*text == ' ') text++;
        item[n] = 0;
        bool attr = item[strcspn(item, "=[{")] == '=';
        if (attr && r->n_attrs < ATTRS)
            memcpy(r->attr[r->n_attrs++], item, n + 1);
        else if (!attr && n > 0 && r->n_leaves < LEAVES)
            memcpy(r->leaf[r->n_leaves++], item, n + 1);
    }
}

/* "T[2,3]" is an input with random values, "int32[2]{1,0}" a constant. */
static ef_status *make_leaf(reader *r, const char *item, ef_edge *out) {
    char word[24] = {0};
    size_t n = strcspn(item, "[");
    if (n >= sizeof word || item[n] != '[') return ef_error(EF_INVALID, "example: %s", item);
    memcpy(word, item, n);
    ef_dtype t = strcmp(word, "T") == 0 ? r->type : ef_dtype_find(word);
    ef_shape s = {.rank = 0};
    const char *p = item + n + 1;
    while (*p != ']' && s.rank < EF_MAX_RANK) {
        s.dim[s.rank++] = strtoll(p, (char **)(uintptr_t)&p, 10);
        if (*p == ',') p++;
    }
    ef_tensor v = {0};
    EF_TRY(ef_tensor_new(t, &s, &v));
    ef_status *status;
    if (*++p == '{') {
        for (int64_t i = 0; i < ef_count(&v); i++) {
            p++;
            bool word_true = strncmp(p, "true", 4) == 0;
            ef_element_set(t, v.data, i, word_true ? 1 : strtod(p, NULL));
            p += strcspn(p, ",}");
        }
        status = ef_graph_constant(r->to->graph, &v, out);
        ef_tensor_release(&v);
    } else {
        ef_case_fill(&v, &r->state);
        ef_tensor_move(&r->to->in[r->to->n_in++], &v);
        status = ef_graph_input(r->to->graph, t, &s, NULL, out);
    }
    return status;
}

/* "DstT=float,int32": the part for this node. */
static void choose(const char *text, int node, char *out) {
    int depth = 0, part = 0;
    size_t n = 0;
    char first[ITEM] = {0};
    for (; *text; text++) {
        depth += strchr("[{", *text) ? 1 : strchr("]}", *text) ? -1 : 0;
        if (*text == ',' && depth == 0) {
            if (part == 0) memcpy(first, out, n);
            if (part == node) break;
            part++;
            n = 0;
            continue;
        }
        out[n++] = *text;
    }
    out[n] = 0;
}

static ef_status *make_attrs(reader *r, const ef_op *op, int node, const ef_attrs **out) {
    const ef_signature *sig = ef_op_signature(op);
    static _Thread_local ef_attr_room room[EF_MAX_ATTRS];
    ef_attr_value set[EF_MAX_ATTRS];
    int n = 0;
    *out = NULL;
    if (op->attr[0].name == NULL) return NULL;
    for (int k = 0; k < sig->n_attrs; k++)
        for (int a = 0; a < r->n_attrs; a++) {
            size_t len = strcspn(r->attr[a], "=");
            if (strlen(op->attr[k].name) != len || memcmp(op->attr[k].name, r->attr[a], len) != 0)
                continue;
            char text[ITEM];
            choose(r->attr[a] + len + 1, node, text);
            const char *bad = ef_attr_text_parse(&sig->attr[k], text, &set[n], &room[n]);
            if (bad != NULL) return ef_error(EF_INVALID, "%s: %s", r->attr[a], bad);
            set[n++].name = op->attr[k].name;
        }
    return ef_attrs_make(op, set, n, out);
}

static ef_status *make_node(reader *r, const int16_t **code, bool root, ef_edge *out) {
    int token = *(*code)++;
    if (token <= EF_RULE_END) {
        bool name = token < 0 && token >= -EF_RULE_NAMES;
        if (name && r->bound[-token].node >= 0) {
            *out = r->bound[-token];
            return NULL;
        }
        if (r->next_leaf == r->n_leaves)
            return ef_error(EF_INVALID, "%s: the example has too few values", r->rule->name);
        EF_TRY(make_leaf(r, r->leaf[r->next_leaf++], out));
        if (name) r->bound[-token] = *out;
        return NULL;
    }
    const ef_op *op = ef_op_table[token - 1];
    int want = root ? EF_RULE_TOKENS : ef_op_signature(op)->n_in, n = 0, node = r->nodes++;
    ef_edge in[8];
    for (int j = 0; j < want && **code != EF_RULE_END; j++) {
        bool rest = **code == EF_RULE_REST;
        EF_TRY(make_node(r, code, false, &in[n++]));
        if (rest && !root) break;
    }
    if (root && r->swap && n == 2) {
        ef_edge e = in[0];
        in[0] = in[1];
        in[1] = e;
    }
    const ef_attrs *attrs;
    EF_TRY(make_attrs(r, op, node, &attrs));
    int32_t id;
    ef_status *s = ef_graph_add(r->to->graph, op, attrs, in, n, NULL, &id);
    ef_attrs_unref(attrs);
    *out = (ef_edge){id, 0};
    return s;
}

ef_status *ef_case_rule(const ef_rule *rule, int k, ef_dtype t, bool swap, ef_case *out) {
    reader r = {.rule = rule, .type = t, .swap = swap, .to = out, .state = 77 + (uint64_t)k};
    *out = (ef_case){.graph = ef_graph_make()};
    if (out->graph == NULL) return ef_no_memory(sizeof *out->graph);
    out->graph->function = true;
    memset(r.bound, 0xFF, sizeof r.bound);
    split(&r, rule->examples[k]);
    const int16_t *code = rule->pattern;
    ef_edge root;
    ef_status *s = make_node(&r, &code, true, &root);
    if (s == NULL && r.next_leaf != r.n_leaves)
        s = ef_error(EF_INTERNAL, "%s: the example has too many values", rule->name);
    if (s == NULL) s = ef_graph_set_outputs(out->graph, &root, 1);
    if (s != NULL) ef_case_free(out);
    return s;
}

/* ---- running --------------------------------------------------------------------------------- */

ef_status *ef_case_run(ef_graph *g, ef_tensor *in, int n_in, ef_tensor *out) {
    ef_program *p;
    EF_TRY(ef_program_make(g, NULL, &p));
    ef_tensor *ptr[EF_CASE_MAX_IN];
    for (int k = 0; k < n_in; k++) ptr[k] = &in[k];
    ef_status *s = ef_program_run(ef_context_here(), p, ptr, out);
    ef_program_unref(p);
    return s;
}

static bool near(double a, double b, double tolerance, double *worst) {
    if (a == b || (isnan(a) && isnan(b))) return true;
    double d = fabs(a - b) / (1 + fabs(a));
    if (!(d <= *worst)) *worst = d;
    return d <= tolerance;
}

static bool alike(const ef_tensor *a, const ef_tensor *b) {
    ef_shape sa = ef_shape_from(a), sb = ef_shape_from(b);
    return a->dtype == b->dtype && ef_shape_equal(&sa, &sb);
}

static bool same_element(const ef_tensor *a, const ef_tensor *b, int64_t i, double tolerance,
                         double *worst) {
    ef_dtype t = (ef_dtype)a->dtype;
    double x = ef_element_double(t, a->data, i), y = ef_element_double(t, b->data, i);
    if (tolerance == 0 && x == 0 && y == 0 && signbit(x) != signbit(y)) return false;
    return near(x, y, tolerance, worst);
}

/* -1: the shapes differ. */
static int64_t first_difference(const ef_tensor *a, const ef_tensor *b, double tolerance) {
    double worst = 0;
    for (int64_t i = 0, n = alike(a, b) ? ef_count(a) : 0; i < n; i++)
        if (!same_element(a, b, i, tolerance, &worst)) return i;
    return -1;
}

bool ef_case_same(const ef_tensor *a, const ef_tensor *b, double tolerance, double *worst) {
    *worst = INFINITY;
    if (!alike(a, b)) return false;
    *worst = 0;
    if (!ef_dtype_in((ef_dtype)a->dtype, EF_PLAIN)) return true;
    bool same = true;
    for (int64_t i = 0, n = ef_count(a); i < n; i++)
        same = same_element(a, b, i, tolerance, worst) && same;
    return same;
}

static ef_status *differ(const ef_graph *g, const ef_graph *best, const char *what) {
    char *before = NULL, *after = NULL;
    ef_status_free(ef_graph_text(g, &before));
    ef_status_free(ef_graph_text(best, &after));
    ef_status *s = ef_error(EF_INTERNAL, "%s\n--- as given\n%s--- optimised\n%s", what,
                            before ? before : "", after ? after : "");
    ef_free(before);
    ef_free(after);
    return s;
}

/* After inlining, arguments that a function does not use are no longer computed, nor are values of
 * which only the shape is used, nor a select between equal values: an error in them may vanish. */
static bool may_need_less(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->op->traits & (EF_CONTROL | EF_READS_SHAPES) ||
            g->node[k]->op == &ef_op_IdentityN || g->node[k]->op == &ef_op_SelectV2)
            return true;
    return false;
}

/* The graph without nodes that no output needs, whose errors need not be reported. */
static ef_status *needed_part(ef_graph *g, ef_graph **out) {
    char off[256] = "";
    for (const ef_pass *p = ef_passes; p->name != NULL; p++) {
        if (p->run == ef_pass_prune || p->run == ef_pass_functions) continue;
        strncat(off, ",", sizeof off - strlen(off) - 1);
        strncat(off, p->name, sizeof off - strlen(off) - 1);
    }
    return ef_optimise_without(g, off, out);
}

static ef_status *run_program(ef_program *p, const ef_case *c, ef_tensor *out) {
    ef_tensor *ptr[EF_CASE_MAX_IN];
    for (int k = 0; k < c->n_in; k++) ptr[k] = (ef_tensor *)(uintptr_t)&c->in[k];
    return ef_program_run(ef_context_here(), p, ptr, out);
}

/* Compares the graph as given (without unneeded nodes) with a program made from it. */
static ef_status *compare(const ef_case *c, ef_program *program, double tolerance) {
    ef_graph *plain_graph = NULL;
    EF_TRY(needed_part(c->graph, &plain_graph));
    ef_tensor a[EF_CASE_MAX_OUT] = {0}, b[EF_CASE_MAX_OUT] = {0};
    size_t n = c->graph->n_outputs;
    const ef_graph *best = ef_program_graph(program);
    ef_status *s = NULL;
    ef_status *plain = ef_case_run(plain_graph, (ef_tensor *)(uintptr_t)c->in, c->n_in, a);
    ef_status *optimised = run_program(program, c, b);
    char text[300];
    bool lost = plain != NULL && optimised == NULL && may_need_less(c->graph);
    if (ef_status_code(plain) != ef_status_code(optimised) && !lost) {
        snprintf(text, sizeof text, "as given: %.120s\noptimised: %.120s",
                 plain ? ef_status_message(plain) : "fine",
                 optimised ? ef_status_message(optimised) : "fine");
        s = differ(plain_graph, best, text);
    }
    for (size_t k = 0; s == NULL && plain == NULL && k < n; k++) {
        double worst;
        if (ef_case_same(&a[k], &b[k], tolerance, &worst)) continue;
        int64_t i = first_difference(&a[k], &b[k], tolerance);
        snprintf(text, sizeof text, "output %zu differs by %g; element %lld is %.9g and %.9g", k,
                 worst, (long long)i,
                 i < 0 ? 0 : ef_element_double((ef_dtype)a[k].dtype, a[k].data, i),
                 i < 0 ? 0 : ef_element_double((ef_dtype)b[k].dtype, b[k].data, i));
        s = differ(plain_graph, best, text);
    }
    ef_status_free(plain);
    ef_status_free(optimised);
    for (size_t k = 0; k < n; k++) {
        ef_tensor_release(&a[k]);
        ef_tensor_release(&b[k]);
    }
    ef_graph_unref(plain_graph);
    return s;
}

/* Optimises and verifies g, and makes a program from it. */
static ef_status *program_of(ef_graph *g, const char *off, ef_program **out) {
    ef_graph *best = NULL;
    EF_TRY(ef_optimise_without(g, off, &best));
    ef_status *s = ef_graph_verify(best);
    if (s == NULL) s = ef_program_make(best, NULL, out);
    ef_graph_unref(best);
    return s;
}

ef_status *ef_case_compare(const ef_case *c, const char *off, double tolerance) {
    ef_program *p = NULL;
    EF_TRY(program_of(c->graph, off, &p));
    ef_status *s = compare(c, p, tolerance);
    ef_program_unref(p);
    return s;
}

/* The lookup of a graph without its constants must agree with that graph. */
static ef_status *compare_key(const ef_graph *g, const ef_lifted *l) {
    ef_numbers x;
    EF_TRY(ef_numbers_find(g, &x));
    bool same = x.n == 0 || (x.n == l->n && ef_graph_equal_without(g, x.taken, l->graph) &&
                             ef_graph_hash_without(g, x.taken) == ef_graph_hash(l->graph));
    for (size_t k = 0; k < x.n && same; k++) same = x.value[k] == l->value[k];
    ef_numbers_free(&x);
    return same ? NULL : ef_error(EF_INTERNAL, "the graph without its numbers is not found");
}

ef_status *ef_case_compare_lifted(const ef_case *c, double tolerance) {
    ef_lifted l;
    ef_program *base = NULL, *bound = NULL;
    EF_TRY(ef_lift(c->graph, &l));
    if (l.graph == NULL) return NULL;
    ef_status *s = ef_graph_verify(l.graph);
    if (s == NULL) s = compare_key(c->graph, &l);
    if (s == NULL) s = program_of(l.graph, NULL, &base);
    if (s == NULL) s = ef_program_bind(base, l.value, l.n, &bound);
    if (s == NULL) s = compare(c, bound, tolerance);
    ef_program_unref(base);
    ef_program_unref(bound);
    ef_lifted_free(&l);
    return s;
}
