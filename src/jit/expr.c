/* From expressions to values: a parser of the C expressions in op records - arithmetic,
 * comparisons, `?:` and the few functions that are single instructions. Equal values are made only
 * once, where the first is needed. */
#include "jit/expr.h"
#include <stdlib.h>
#include <string.h>

enum { NONE = 0xFFFF };

typedef ef_jit_term term;

typedef struct parser {
    const char *at;
    ef_jit_builder b;
    const ef_jit_ins *ins;
    uint16_t now[EF_JIT_MAX_OPERANDS]; /* the value an operand has, or NONE */
} parser;

int ef_jit_args(ef_jit_kind kind) {
    if (kind <= EF_JIT_NUMBER) return 0;
    if (kind <= EF_JIT_COMPARE) return 2;
    return kind == EF_JIT_CHOOSE || kind == EF_JIT_FMA ? 3 : 1;
}

/* ---- making values --------------------------------------------------------------------------- */

term ef_jit_fail(ef_jit_builder *b) {
    b->failed = true;
    return (term){0, false};
}

static bool equal(const ef_jit_value *a, const ef_jit_value *b) {
    return a->kind == b->kind && a->how == b->how && a->operand == b->operand &&
           a->bits == b->bits && memcmp(a->arg, b->arg, sizeof a->arg) == 0;
}

term ef_jit_make(ef_jit_builder *b, ef_jit_value value) {
    for (int k = 0; k < b->v->n && value.kind < EF_JIT_STORE; k++)
        if (equal(&b->v->at[k], &value)) return (term){(uint16_t)k, false};
    if (b->v->n == EF_JIT_MAX_VALUES) return ef_jit_fail(b);
    b->v->at[b->v->n] = value;
    return (term){(uint16_t)b->v->n++, false};
}

term ef_jit_two(ef_jit_builder *b, ef_jit_kind kind, term x, term y) {
    return ef_jit_make(b, (ef_jit_value){.kind = (uint8_t)kind, .arg = {x.id, y.id}});
}

term ef_jit_bits(ef_jit_builder *b, uint64_t bits) {
    return ef_jit_make(b, (ef_jit_value){.kind = EF_JIT_NUMBER, .bits = bits});
}

static bool has_floats(const ef_jit_builder *b) { return b->dtype == EF_F32 || b->dtype == EF_F64; }

term ef_jit_number(ef_jit_builder *b, double x) {
    uint64_t bits = 0;
    float f = (float)x;
    if (!has_floats(b)) return ef_jit_bits(b, (uint64_t)(int64_t)x);
    if (b->dtype == EF_F32)
        memcpy(&bits, &f, sizeof f);
    else
        memcpy(&bits, &x, sizeof x);
    return ef_jit_bits(b, bits);
}

term ef_jit_compare(ef_jit_builder *b, ef_jit_how how, term x, term y) {
    ef_jit_value c = {.kind = EF_JIT_COMPARE, .how = (uint8_t)how, .arg = {x.id, y.id}};
    return (term){ef_jit_make(b, c).id, true};
}

/* test ? x : y. If x and y are the operands of the comparison, it is one MAX or MIN, which mean
 * exactly this; if one of them is 0, the mask is applied to the other with AND. */
term ef_jit_choose(ef_jit_builder *b, term test, term x, term y) {
    if (b->failed) return x;
    ef_jit_value c = b->v->at[test.id];
    if (c.kind == EF_JIT_COMPARE && has_floats(b)) {
        bool straight = x.id == c.arg[0] && y.id == c.arg[1];
        bool crossed = x.id == c.arg[1] && y.id == c.arg[0];
        bool more = c.how == EF_JIT_GT, less = c.how == EF_JIT_LT;
        if ((more && straight) || (less && crossed)) return ef_jit_two(b, EF_JIT_MAX, x, y);
        if ((less && straight) || (more && crossed)) return ef_jit_two(b, EF_JIT_MIN, x, y);
    }
    term zero = ef_jit_number(b, 0);
    if (b->failed) return zero;
    if (y.id == zero.id) return ef_jit_two(b, EF_JIT_AND, test, x);
    if (x.id == zero.id && c.kind == EF_JIT_COMPARE) {
        c.how ^= 1; /* a new comparison, negated: other values may use the original */
        return ef_jit_two(b, EF_JIT_AND, ef_jit_make(b, c), y);
    }
    return ef_jit_make(b, (ef_jit_value){.kind = EF_JIT_CHOOSE, .arg = {test.id, x.id, y.id}});
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static term fail(parser *p) { return ef_jit_fail(&p->b); }
static term two(parser *p, ef_jit_kind kind, term a, term b) {
    return ef_jit_two(&p->b, kind, a, b);
}
static term bits(parser *p, uint64_t b) { return ef_jit_bits(&p->b, b); }
static bool is_float(const parser *p) { return has_floats(&p->b); }

static uint64_t sign_bit(const parser *p) {
    bool narrow = p->b.dtype == EF_F32 || p->b.dtype == EF_I32;
    return narrow ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
}

static uint64_t ones(const parser *p) { return sign_bit(p) | (sign_bit(p) - 1); }

static term operand(parser *p, int k) {
    if (k >= p->ins->n_in) return fail(p);
    uint8_t o = p->ins->in[k];
    bool scalar = p->ins->scalars >> k & 1, truth = p->ins->truths >> k & 1;
    if (p->now[o] == NONE && truth) return fail(p);
    if (p->now[o] == NONE)
        p->now[o] = ef_jit_make(&p->b, (ef_jit_value){.kind = scalar ? EF_JIT_SCALAR : EF_JIT_LOAD,
                                                      .operand = o})
                        .id;
    return (term){p->now[o], truth};
}

/* ---- the grammar, loosest first -------------------------------------------------------------- */

static term choice(parser *p);

static bool taken(parser *p, const char *word) {
    while (*p->at == ' ') p->at++;
    size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0) return false;
    p->at += n;
    return true;
}

static term plain(parser *p, term t) { return t.mask ? fail(p) : t; }

static const struct {
    const char *name;
    ef_jit_kind kind;
    ef_jit_how how;
} functions[] = {{"sqrt(", EF_JIT_SQRT, 0},
                 {"floor(", EF_JIT_ROUND, EF_JIT_FLOOR},
                 {"ceil(", EF_JIT_ROUND, EF_JIT_CEIL},
                 {"trunc(", EF_JIT_ROUND, EF_JIT_TRUNC},
                 {"rint(", EF_JIT_ROUND, EF_JIT_NEAREST}};

static term in_brackets(parser *p) {
    term t = choice(p);
    return taken(p, ")") ? t : fail(p);
}

static term primary(parser *p) {
    if (taken(p, "(")) return in_brackets(p);
    if (taken(p, "fabs(")) {
        if (!is_float(p)) return fail(p);
        term a = plain(p, in_brackets(p));
        return two(p, EF_JIT_AND, a, bits(p, sign_bit(p) - 1));
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (!taken(p, functions[k].name)) continue;
        term a = plain(p, in_brackets(p));
        return ef_jit_make(&p->b, (ef_jit_value){.kind = (uint8_t)functions[k].kind,
                                                 .how = (uint8_t)functions[k].how,
                                                 .arg = {a.id}});
    }
    size_t n = strcspn(p->at, "( )");
    ef_jit_function *f =
        p->b.dtype == EF_F32 && p->at[n] == '(' ? ef_jit_function_find(p->at, n) : NULL;
    if (f != NULL) {
        p->at += n + 1;
        term a = plain(p, in_brackets(p));
        return p->b.failed ? a : f(&p->b, a);
    }
    char *end;
    if (*p->at >= '0' && *p->at <= '9') {
        double x = strtod(p->at, &end);
        p->at = end;
        return ef_jit_number(&p->b, x);
    }
    char c = *p->at;
    if (c < 'x' || c > 'z' || (p->at[1] >= 'a' && p->at[1] <= 'z')) return fail(p);
    p->at++;
    return operand(p, c - 'x');
}

static term unary(parser *p) {
    if (taken(p, "!")) {
        term a = unary(p);
        return a.mask ? (term){two(p, EF_JIT_XOR, a, bits(p, ones(p))).id, true} : fail(p);
    }
    if (!taken(p, "-")) return primary(p);
    term a = plain(p, unary(p));
    if (!is_float(p)) return two(p, EF_JIT_SUB, ef_jit_number(&p->b, 0), a);
    const ef_jit_value *v = &p->b.v->at[a.id];
    if (!p->b.failed && v->kind == EF_JIT_NUMBER) return bits(p, v->bits ^ sign_bit(p));
    return two(p, EF_JIT_XOR, a, bits(p, sign_bit(p)));
}

typedef struct binary {
    const char *sign;
    ef_jit_kind kind;
} binary;

/* `part`s joined by either of two signs, from the left. */
static term chain(parser *p, term (*part)(parser *), const binary *either) {
    term a = part(p);
    while (!p->b.failed) {
        const binary *by = taken(p, either[0].sign) ? &either[0] : &either[1];
        if (by == &either[1] && !taken(p, by->sign)) break;
        term b = plain(p, part(p));
        a = two(p, by->kind, plain(p, a), b);
    }
    return a;
}

static term product(parser *p) {
    static const binary either[] = {{"*", EF_JIT_MUL}, {"/", EF_JIT_DIV}};
    return chain(p, unary, either);
}

static term sum(parser *p) {
    static const binary either[] = {{"+", EF_JIT_ADD}, {"-", EF_JIT_SUB}};
    return chain(p, product, either);
}

static term comparison(parser *p) {
    static const struct {
        const char *sign;
        ef_jit_how how;
    } signs[] = {{"<=", EF_JIT_LE}, {">=", EF_JIT_GE}, {"==", EF_JIT_EQ},
                 {"!=", EF_JIT_NE}, {"<", EF_JIT_LT},  {">", EF_JIT_GT}};
    term a = sum(p);
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        if (p->b.failed || !taken(p, signs[k].sign)) continue;
        term b = plain(p, sum(p));
        return ef_jit_compare(&p->b, signs[k].how, plain(p, a), b);
    }
    return a;
}

static term conjunction(parser *p) {
    term a = comparison(p);
    while (!p->b.failed && taken(p, "&&")) {
        term b = comparison(p);
        if (!a.mask || !b.mask) return fail(p);
        a = (term){two(p, EF_JIT_AND, a, b).id, true};
    }
    return a;
}

static term disjunction(parser *p) {
    term a = conjunction(p);
    while (!p->b.failed && taken(p, "||")) {
        term b = conjunction(p);
        if (!a.mask || !b.mask) return fail(p);
        a = (term){two(p, EF_JIT_OR, a, b).id, true};
    }
    return a;
}

static term choice(parser *p) {
    term test = disjunction(p);
    if (p->b.failed || !taken(p, "?")) return test;
    term a = plain(p, choice(p));
    if (!test.mask || !taken(p, ":")) return fail(p);
    term b = plain(p, choice(p));
    return ef_jit_choose(&p->b, test, a, b);
}

/* ---- the whole run --------------------------------------------------------------------------- */

/* Removes the values that no store needs and notes the last reader of each value. */
static void prune_values(ef_jit_values *v) {
    bool needed[EF_JIT_MAX_VALUES] = {false};
    uint16_t place[EF_JIT_MAX_VALUES];
    for (int k = v->n - 1; k >= 0; k--) {
        const ef_jit_value *x = &v->at[k];
        needed[k] |= x->kind >= EF_JIT_STORE;
        for (int a = 0; needed[k] && a < ef_jit_args(x->kind); a++) needed[x->arg[a]] = true;
    }
    int n = 0;
    for (int k = 0; k < v->n; k++) {
        if (!needed[k]) continue;
        ef_jit_value x = v->at[k];
        x.last = (uint16_t)n;
        for (int a = 0; a < ef_jit_args(x.kind); a++) {
            x.arg[a] = place[x.arg[a]];
            v->at[x.arg[a]].last = (uint16_t)n;
        }
        place[k] = (uint16_t)n;
        v->at[n++] = x;
    }
    v->n = n;
}

/* The value of p->ins, parsed to its end. */
static term expression(parser *p) {
    p->at = p->ins->expr;
    term t = choice(p);
    bool truth = p->ins->truths & EF_JIT_TRUTH_OUT;
    return t.mask == truth && taken(p, "") && *p->at == '\0' ? t : fail(p);
}

static void begin(parser *p) {
    memset(p->now, NONE, sizeof p->now);
    p->b.v->n = 0;
}

atomic_uint_least64_t ef_jit_parsed;

bool ef_jit_knows(const ef_jit_ins *ins, ef_dtype dtype) {
    ef_jit_values v;
    atomic_fetch_add_explicit(&ef_jit_parsed, 1, memory_order_relaxed);
    parser p = {.b = {.v = &v, .dtype = dtype}, .ins = ins};
    if (ins->expr == NULL || ins->n_in > EF_JIT_MAX_IN) return false;
    begin(&p);
    for (int k = 0; k < ins->n_in; k++) /* pretend that earlier code made these truth values */
        if (ins->truths >> k & 1) p.now[ins->in[k]] = bits(&p, 0).id;
    expression(&p);
    return !p.b.failed;
}

bool ef_jit_parse(const ef_jit_run *run, ef_jit_values *v) {
    parser p = {.b = {.v = v, .dtype = run->dtype, .vector = run->vector}};
    begin(&p);
    for (int k = 0; k < run->n && !p.b.failed; k++) {
        p.ins = &run->ins[k];
        term t = expression(&p);
        p.now[p.ins->out] = t.id;
        if (p.ins->keep && t.mask) fail(&p);
        if (p.ins->keep)
            ef_jit_make(&p.b,
                        (ef_jit_value){.kind = EF_JIT_STORE, .operand = p.ins->out, .arg = {t.id}});
        if (run->sum[k] > 0 && (t.mask || !is_float(&p))) fail(&p);
        if (run->sum[k] > 0)
            ef_jit_make(&p.b, (ef_jit_value){.kind = EF_JIT_SUM,
                                             .operand = (uint8_t)(run->sum[k] - 1),
                                             .arg = {t.id}});
    }
    if (!p.b.failed) prune_values(v);
    return !p.b.failed;
}

bool ef_jit_parse_one(const ef_jit_ins *ins, ef_dtype dtype, ef_jit_values *v, uint16_t *out) {
    parser p = {.b = {.v = v, .dtype = dtype}, .ins = ins};
    if (ins->expr == NULL || ins->n_in > EF_JIT_MAX_IN) return false;
    begin(&p);
    for (int k = 0; k < ins->n_in; k++)
        if (ins->truths >> k & 1)
            p.now[ins->in[k]] =
                ef_jit_make(&p.b, (ef_jit_value){.kind = EF_JIT_LOAD, .operand = ins->in[k]}).id;
    *out = expression(&p).id;
    return !p.b.failed;
}
