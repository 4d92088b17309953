/* Reads "x: T", "values: N * T", "T: {float, double} = float; Tin: list(type) >= 1" into tables of
 * small numbers, so that checking a call compares integers and touches no text. */
#include "ops/signature.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip(const char *p) {
    while (*p == ' ') p++;
    return p;
}

/* Copies an identifier (letters, digits, underscores); NULL if there is none or it is too long. */
static const char *word(const char *p, char *out, size_t cap) {
    size_t n = 0;
    p = skip(p);
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    if (n == 0 || n >= cap) return NULL;
    memcpy(out, p, n);
    out[n] = 0;
    return p + n;
}

static bool starts(const char **p, const char *prefix) {
    size_t n = strlen(prefix);
    if (strncmp(*p, prefix, n) != 0) return false;
    *p += n;
    return true;
}

static uint64_t named_set(const char *name) {
    if (strcmp(name, "type") == 0) return EF_ANY;
    if (strcmp(name, "stored") == 0) return EF_STORED; /* our name: TensorFlow lists the types */
    if (strcmp(name, "numbertype") == 0) return EF_NUMBERS;
    if (strcmp(name, "realnumbertype") == 0) return EF_REALS;
    ef_dtype t = ef_dtype_find(name);
    return t == EF_NO_DTYPE ? 0 : UINT64_C(1) << t;
}

/* Parses a set at p; *set is 0 if a name is unknown. Returns the end of the set. */
static const char *type_set(const char *p, uint64_t *set) {
    char name[40];
    bool braces = *(p = skip(p)) == '{';
    uint64_t all = 0;
    if (braces) p++;
    for (;;) {
        const char *next = word(p, name, sizeof name);
        uint64_t one = next ? named_set(name) : 0;
        *set = 0;
        if (!one) return p;
        all |= one;
        p = skip(next);
        if (!braces || *p != ',') break;
        p++;
    }
    if (braces && *p++ != '}') return p;
    *set = all;
    return skip(p);
}

bool ef_type_set_parse(const char *text, uint64_t *set) {
    const char *end = type_set(text, set);
    return *set != 0 && *end == 0;
}

/* Parses ">= n" at p, if it is there. */
static const char *bound(const char *p, bool *bounded, int64_t *min) {
    p = skip(p);
    if (starts(&p, ">=")) {
        char *end;
        *min = strtoll(p, &end, 10);
        *bounded = true;
        p = skip(end);
    }
    return p;
}

static const struct {
    const char *name;
    uint8_t one, list;
} kinds[] = {
    {"bool", EF_ATTR_BOOL, EF_ATTR_BOOLS},      {"int", EF_ATTR_INT, EF_ATTR_INTS},
    {"float", EF_ATTR_FLOAT, EF_ATTR_FLOATS},   {"string", EF_ATTR_STRING, EF_ATTR_STRINGS},
    {"type", EF_ATTR_TYPE, EF_ATTR_TYPES},      {"shape", EF_ATTR_SHAPE, EF_ATTR_SHAPES},
    {"tensor", EF_ATTR_TENSOR, EF_ATTR_TENSOR}, {"func", EF_ATTR_FUNC, EF_ATTR_FUNCS},
};

const char *ef_attr_info_parse(const char *type, ef_attr_info *out) {
    const char *p = skip(type);
    char name[40];
    *out = (ef_attr_info){.set = EF_ANY};
    bool list = starts(&p, "list(");
    p = skip(p);
    if (*p == '{' && *skip(p + 1) == '\'') {
        out->kind = list ? EF_ATTR_STRINGS : EF_ATTR_STRING;
        out->choice = true;
        if (list) return "a list of choices is not a kind of attribute";
        if (!(p = strchr(p, '}'))) return "a choice lacks its closing brace";
        p++;
    } else if (*p == '{' || strncmp(p, "numbertype", 10) == 0 || strncmp(p, "real", 4) == 0) {
        out->kind = list ? EF_ATTR_TYPES : EF_ATTR_TYPE;
        p = type_set(p, &out->set);
        if (!out->set) return "a set of types names an unknown type";
    } else {
        size_t k = 0;
        if (!(p = word(p, name, sizeof name))) return "an attribute has no type";
        while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, name) != 0) k++;
        if (k == sizeof kinds / sizeof *kinds) return "an attribute's type is unknown";
        out->kind = list ? kinds[k].list : kinds[k].one;
        if (list && out->kind == EF_ATTR_TENSOR) return "lists of tensors are not a kind";
    }
    if (list && *(p = skip(p)) == ')') p++;
    p = bound(p, &out->bounded, &out->min);
    return *p ? "an attribute's type goes on after its end" : NULL;
}

/* ---- type variables and counts ----------------------------------------------------------------
 */

static const char *parse_count(const char *p, const char *name, ef_signature *s) {
    bool bounded = false;
    int64_t min = 0;
    if (s->n_counts == 4) return NULL;
    p = bound(p, &bounded, &min);
    struct ef_count_var *c = &s->count[s->n_counts++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->attr = -1;
    c->min = (int)min;
    return p;
}

static const char *parse_var(const char *p, const char *name, ef_signature *s) {
    if (s->n_vars == 8) return NULL;
    struct ef_type_var *v = &s->var[s->n_vars++];
    bool bounded = false;
    int64_t min = 0;
    char type[40];
    snprintf(v->name, sizeof v->name, "%s", name);
    v->is_list = starts(&p, "list(");
    p = type_set(p, &v->set);
    if (!v->set) return NULL;
    if (v->is_list) {
        if (*p++ != ')') return NULL;
        p = bound(p, &bounded, &min);
        v->min = (int)min;
    }
    if (*(p = skip(p)) == '=') {
        if (!(p = word(p + 1, type, sizeof type))) return NULL;
        v->otherwise = ef_dtype_find(type);
        if (v->otherwise == EF_NO_DTYPE) return NULL;
    }
    return skip(p);
}

static const char *parse_types(const char *p, ef_signature *s) {
    while (p && *(p = skip(p))) {
        char name[40];
        p = word(p, name, sizeof name);
        if (!p || *(p = skip(p)) != ':') return "types: expected `name: set`";
        p = skip(p + 1);
        bool count = strncmp(p, "int", 3) == 0 && !isalnum((unsigned char)p[3]);
        p = count ? parse_count(p + 3, name, s) : parse_var(p, name, s);
        if (!p) return "types: a set, bound or default cannot be read";
        if (*p == ';')
            p++;
        else if (*p)
            return "types: entries are separated by semicolons";
    }
    return NULL;
}

/* ---- arguments --------------------------------------------------------------------------------
 */

static int find_attr(const ef_op *op, const ef_signature *s, const char *name) {
    for (int k = 0; k < s->n_attrs; k++)
        if (strcmp(op->attr[k].name, name) == 0) return k;
    return -1;
}

static int find_var(const ef_signature *s, const char *name) {
    for (int k = 0; k < s->n_vars; k++)
        if (strcmp(s->var[k].name, name) == 0) return k;
    return -1;
}

static int find_count(const ef_op *op, ef_signature *s, const char *name) {
    for (int k = 0; k < s->n_counts; k++)
        if (strcmp(s->count[k].name, name) == 0) return k;
    if (s->n_counts == 4) return -1;
    struct ef_count_var *c = &s->count[s->n_counts];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->attr = find_attr(op, s, name);
    c->min = 0;
    if (c->attr >= 0 && s->attr[c->attr].kind != EF_ATTR_INT) return -1;
    return s->n_counts++;
}

static const char *parse_arg(const ef_op *op, const char *text, ef_signature *s, struct ef_arg *a) {
    char type[40];
    *a = (struct ef_arg){.type_var = -1, .type_attr = -1, .count_attr = -1};
    const char *p = word(text, a->name, sizeof a->name);
    if (!p || *(p = skip(p)) != ':') return "an argument is not written `name: type`";
    if (!(p = word(p + 1, type, sizeof type))) return "an argument has no type";
    if (*(p = skip(p)) == '*') {
        if ((a->count_attr = (int8_t)find_count(op, s, type)) < 0) return "too many counts";
        if (!(p = word(p + 1, type, sizeof type))) return "an argument has no type";
        s->variadic = true;
    }
    if (*skip(p)) return "an argument goes on after its type";
    if ((a->type_var = (int8_t)find_var(s, type)) >= 0) {
        a->is_list = s->var[a->type_var].is_list;
    } else if ((a->type_attr = (int8_t)find_attr(op, s, type)) >= 0) {
        uint8_t kind = s->attr[a->type_attr].kind;
        if (kind != EF_ATTR_TYPE && kind != EF_ATTR_TYPES) return "an argument's type is no type";
        a->is_list = kind == EF_ATTR_TYPES;
    } else if ((a->fixed = ef_dtype_find(type)) == EF_NO_DTYPE) {
        return "an argument's type is neither a dtype nor declared";
    }
    if (a->is_list && a->count_attr >= 0) return "N * T where T is a list";
    s->variadic |= a->is_list;
    return NULL;
}

/* The first type variable is the key; see op.h. */
static void choose_key(ef_signature *s) {
    s->key_in = s->key_out = -1;
    for (int k = 0; k < s->n_in && s->key_in < 0; k++)
        if (s->in[k].type_var >= 0) s->key_in = k;
    for (int k = 0; k < s->n_out && s->key_in < 0 && s->key_out < 0; k++)
        if (s->out[k].type_var >= 0) s->key_out = k;
    if (s->key_in >= 0 || s->key_out >= 0) return;
    if (s->n_out > 0)
        s->key_out = 0;
    else if (s->n_in > 0)
        s->key_in = 0;
}

static bool is_uniform(const ef_signature *s) {
    for (int k = 0; k < s->n_in; k++)
        if (s->in[k].type_var != 0) return false;
    return s->n_vars == 1 && s->n_out == 1 && !s->variadic && s->out[0].type_attr < 0;
}

/* Whether an attribute or an input determines the type of an output. */
static bool decided(const ef_signature *s, const struct ef_arg *out) {
    if (out->type_var < 0) return true;
    for (int k = 0; k < s->n_in; k++)
        if (s->in[k].type_var == out->type_var) return true;
    return !out->is_list && s->var[out->type_var].otherwise != EF_NO_DTYPE;
}

const char *ef_signature_parse(const ef_op *op, ef_signature *s) {
    const char *wrong = NULL;
    *s = (ef_signature){.key_in = -1, .key_out = -1};
    for (; s->n_attrs < EF_MAX_ATTRS && op->attr[s->n_attrs].name; s->n_attrs++) {
        const ef_attr *a = &op->attr[s->n_attrs];
        wrong = ef_attr_info_parse(a->type, &s->attr[s->n_attrs]);
        if (wrong) return wrong;
    }
    if (op->types && (wrong = parse_types(op->types, s))) return wrong;
    for (int k = 0; k < s->n_counts; k++) s->count[k].attr = find_attr(op, s, s->count[k].name);
    for (; s->n_in < EF_MAX_ARGS && op->in[s->n_in]; s->n_in++)
        if ((wrong = parse_arg(op, op->in[s->n_in], s, &s->in[s->n_in]))) return wrong;
    for (; s->n_out < EF_MAX_ARGS && op->out[s->n_out]; s->n_out++)
        if ((wrong = parse_arg(op, op->out[s->n_out], s, &s->out[s->n_out]))) return wrong;
    for (int k = 0; k < s->n_out; k++)
        if (!decided(s, &s->out[k]))
            return "no input or attribute determines the type of an output";
    choose_key(s);
    s->uniform = is_uniform(s);
    return NULL;
}
