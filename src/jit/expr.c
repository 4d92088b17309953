/* From expressions to values: a parser of the C that stands in op records - arithmetic,
 * comparisons, choices and the few functions that are single instructions. Every value is made
 * once, where it is first needed. */
#include "jit/expr.h"
#include <stdlib.h>
#include <string.h>

enum { NONE = 255 };

typedef struct parser {
    const char *at;
    const ef_jit_run *run;
    const ef_jit_ins *ins;
    ef_jit_values *v;
    uint8_t now[EF_JIT_MAX_OPERANDS]; /* the value an operand has, or NONE */
    bool failed;
} parser;

/* A value while it is parsed. */
typedef struct term {
    uint8_t id;
    bool mask;
} term;

int ef_jit_args(ef_jit_kind kind) {
    if (kind <= EF_JIT_NUMBER) return 0;
    if (kind <= EF_JIT_COMPARE) return 2;
    return kind == EF_JIT_CHOOSE ? 3 : 1;
}

static term fail(parser *p) {
    p->failed = true;
    return (term){0, false};
}

static bool equal(const ef_jit_value *a, const ef_jit_value *b) {
    return a->kind == b->kind && a->how == b->how && a->operand == b->operand &&
           a->bits == b->bits && memcmp(a->arg, b->arg, sizeof a->arg) == 0;
}

/* The value, or an equal one that is there. */
static term make(parser *p, ef_jit_value value) {
    for (int k = 0; k < p->v->n && value.kind != EF_JIT_STORE; k++)
        if (equal(&p->v->at[k], &value)) return (term){(uint8_t)k, false};
    if (p->v->n == EF_JIT_MAX_VALUES) return fail(p);
    p->v->at[p->v->n] = value;
    return (term){(uint8_t)p->v->n++, false};
}

static term two(parser *p, ef_jit_kind kind, term a, term b) {
    return make(p, (ef_jit_value){.kind = (uint8_t)kind, .arg = {a.id, b.id}});
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static term bits(parser *p, uint64_t b) {
    return make(p, (ef_jit_value){.kind = EF_JIT_NUMBER, .bits = b});
}

static bool is_float(const parser *p) { return p->run->dtype == EF_F32 || p->run->dtype == EF_F64; }

static term number(parser *p, double x) {
    uint64_t b = 0;
    float f = (float)x;
    if (!is_float(p)) return bits(p, (uint64_t)(int64_t)x);
    if (p->run->dtype == EF_F32)
        memcpy(&b, &f, sizeof f);
    else
        memcpy(&b, &x, sizeof x);
    return bits(p, b);
}

static uint64_t sign_bit(const parser *p) {
    bool narrow = p->run->dtype == EF_F32 || p->run->dtype == EF_I32;
    return narrow ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
}

static uint64_t ones(const parser *p) { return sign_bit(p) | (sign_bit(p) - 1); }

static term operand(parser *p, int k) {
    if (k >= p->ins->n_in) return fail(p);
    uint8_t o = p->ins->in[k];
    bool scalar = p->ins->scalars >> k & 1, truth = p->ins->truths >> k & 1;
    if (p->now[o] == NONE && truth) return fail(p);
    if (p->now[o] == NONE)
        p->now[o] =
            make(p, (ef_jit_value){.kind = scalar ? EF_JIT_SCALAR : EF_JIT_LOAD, .operand = o}).id;
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
        return make(p, (ef_jit_value){.kind = (uint8_t)functions[k].kind,
                                      .how = (uint8_t)functions[k].how,
                                      .arg = {a.id}});
    }
    char *end;
    if (*p->at >= '0' && *p->at <= '9') {
        double x = strtod(p->at, &end);
        p->at = end;
        return number(p, x);
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
    if (!is_float(p)) return two(p, EF_JIT_SUB, number(p, 0), a);
    const ef_jit_value *v = &p->v->at[a.id];
    if (!p->failed && v->kind == EF_JIT_NUMBER) return bits(p, v->bits ^ sign_bit(p));
    return two(p, EF_JIT_XOR, a, bits(p, sign_bit(p)));
}

typedef struct binary {
    const char *sign;
    ef_jit_kind kind;
} binary;

/* `part`s joined by either of two signs, from the left. */
static term chain(parser *p, term (*part)(parser *), const binary *either) {
    term a = part(p);
    while (!p->failed) {
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
        if (p->failed || !taken(p, signs[k].sign)) continue;
        term b = plain(p, sum(p));
        ef_jit_value c = {
            .kind = EF_JIT_COMPARE, .how = (uint8_t)signs[k].how, .arg = {plain(p, a).id, b.id}};
        return (term){make(p, c).id, true};
    }
    return a;
}

static term conjunction(parser *p) {
    term a = comparison(p);
    while (!p->failed && taken(p, "&&")) {
        term b = comparison(p);
        if (!a.mask || !b.mask) return fail(p);
        a = (term){two(p, EF_JIT_AND, a, b).id, true};
    }
    return a;
}

static term disjunction(parser *p) {
    term a = conjunction(p);
    while (!p->failed && taken(p, "||")) {
        term b = conjunction(p);
        if (!a.mask || !b.mask) return fail(p);
        a = (term){two(p, EF_JIT_OR, a, b).id, true};
    }
    return a;
}

/* test ? a : b. Where the choice is between what was compared it is one instruction, by the exact
 * meaning of MAX and MIN; where one side is 0 it is a mask laid over the other. */
static term choose(parser *p, term test, term a, term b) {
    ef_jit_value c = p->v->at[test.id];
    if (c.kind == EF_JIT_COMPARE && is_float(p)) {
        bool straight = a.id == c.arg[0] && b.id == c.arg[1];
        bool crossed = a.id == c.arg[1] && b.id == c.arg[0];
        bool more = c.how == EF_JIT_GT, less = c.how == EF_JIT_LT;
        if ((more && straight) || (less && crossed)) return two(p, EF_JIT_MAX, a, b);
        if ((less && straight) || (more && crossed)) return two(p, EF_JIT_MIN, a, b);
    }
    term zero = number(p, 0);
    if (p->failed) return zero;
    if (b.id == zero.id) return two(p, EF_JIT_AND, test, a);
    if (a.id == zero.id && c.kind == EF_JIT_COMPARE) {
        c.how ^= 1; /* the negation, as a comparison of its own: others may read this one */
        return two(p, EF_JIT_AND, make(p, c), b);
    }
    return make(p, (ef_jit_value){.kind = EF_JIT_CHOOSE, .arg = {test.id, a.id, b.id}});
}

static term choice(parser *p) {
    term test = disjunction(p);
    if (p->failed || !taken(p, "?")) return test;
    term a = plain(p, choice(p));
    if (!test.mask || !taken(p, ":")) return fail(p);
    term b = plain(p, choice(p));
    return p->failed ? b : choose(p, test, a, b);
}

/* ---- the whole run --------------------------------------------------------------------------- */

/* Drops values no store needs and notes who reads each last. */
static void settle(ef_jit_values *v) {
    bool needed[EF_JIT_MAX_VALUES] = {false};
    uint8_t place[EF_JIT_MAX_VALUES];
    for (int k = v->n - 1; k >= 0; k--) {
        const ef_jit_value *x = &v->at[k];
        needed[k] |= x->kind == EF_JIT_STORE;
        for (int a = 0; needed[k] && a < ef_jit_args(x->kind); a++) needed[x->arg[a]] = true;
    }
    int n = 0;
    for (int k = 0; k < v->n; k++) {
        if (!needed[k]) continue;
        ef_jit_value x = v->at[k];
        x.last = (uint8_t)n;
        for (int a = 0; a < ef_jit_args(x.kind); a++) {
            x.arg[a] = place[x.arg[a]];
            v->at[x.arg[a]].last = (uint8_t)n;
        }
        place[k] = (uint8_t)n;
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
    p->v->n = 0;
}

bool ef_jit_knows(const ef_jit_ins *ins) {
    ef_jit_run run = {.dtype = EF_F32};
    ef_jit_values v;
    parser p = {.run = &run, .ins = ins, .v = &v};
    if (ins->n_in > EF_JIT_MAX_IN) return false;
    begin(&p);
    for (int k = 0; k < ins->n_in; k++) /* as if somebody had made the truth values */
        if (ins->truths >> k & 1) p.now[ins->in[k]] = bits(&p, 0).id;
    expression(&p);
    return !p.failed;
}

bool ef_jit_parse(const ef_jit_run *run, ef_jit_values *v) {
    parser p = {.run = run, .v = v};
    begin(&p);
    for (int k = 0; k < run->n && !p.failed; k++) {
        p.ins = &run->ins[k];
        term t = expression(&p);
        p.now[p.ins->out] = t.id;
        if (p.ins->keep && t.mask) fail(&p);
        if (p.ins->keep)
            make(&p, (ef_jit_value){.kind = EF_JIT_STORE, .operand = p.ins->out, .arg = {t.id}});
    }
    if (!p.failed) settle(v);
    return !p.failed;
}

bool ef_jit_parse_one(const ef_jit_ins *ins, ef_dtype dtype, ef_jit_values *v, uint8_t *out) {
    ef_jit_run run = {.dtype = dtype};
    parser p = {.run = &run, .ins = ins, .v = v};
    if (ins->expr == NULL || ins->n_in > EF_JIT_MAX_IN) return false;
    begin(&p);
    for (int k = 0; k < ins->n_in; k++)
        if (ins->truths >> k & 1)
            p.now[ins->in[k]] =
                make(&p, (ef_jit_value){.kind = EF_JIT_LOAD, .operand = ins->in[k]}).id;
    *out = expression(&p).id;
    return !p.failed;
}
