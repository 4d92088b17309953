/* Parses the examples of op records and makes real inputs from them. An example that names a type
 * variable counts once for every dtype that the variable allows; all examples of an op are numbered
 * consecutively. */
#include "ops/example.h"
#include "base/hash.h"
#include "ops/data/optional.h"
#include "ops/example_objects.h"
#include "ops/list/list.h"
#include "ops/signature.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARS = 4, ITEM = 240 };

/* One example with a dtype chosen for each of its type variables. */
typedef struct choice {
    const ef_op *op;
    const char *text;
    int n_vars, var[MAX_VARS]; /* variables that the text names */
    ef_dtype type[MAX_VARS];
    bool wide;
    uint64_t seed;
} choice;

static ef_status *bad(const choice *c, const char *item, const char *what) {
    return ef_error(EF_INVALID, "%s: example \"%s\": %s: %s", c->op->name, c->text, item, what);
}

/* ---- items -------------------------------------------------------------------------------------
 */

/* The next item (brackets, braces and quotes may hold spaces) at *p into buf; false at the end. */
static bool next_item(const char **p, char *buf) {
    int depth = 0;
    bool quoted = false;
    size_t n = 0;
    while (**p == ' ') (*p)++;
    for (; **p && n + 1 < ITEM; (*p)++) {
        char ch = **p;
        if (ch == '\'') quoted = !quoted;
        if (!quoted && strchr("[{(", ch)) depth++;
        if (!quoted && strchr("]})", ch)) depth--;
        if (ch == ' ' && depth == 0 && !quoted) break;
        buf[n++] = ch;
    }
    buf[n] = 0;
    return n > 0;
}

static bool is_attr(const char *item) {
    size_t n = strcspn(item, "=[{('");
    return item[n] == '=';
}

/* A remark, which only the tests read. */
static bool is_remark(const char *item) { return strncmp(item, "grad=", 5) == 0; }

static int find_var(const ef_op *op, const char *name, size_t n) {
    const ef_signature *s = ef_op_signature(op);
    for (int k = 0; k < s->n_vars; k++)
        if (strlen(s->var[k].name) == n && memcmp(s->var[k].name, name, n) == 0) return k;
    return -1;
}

/* The type word of an item: inside var(...), before the bracket, or after the equals sign. */
static const char *type_word(const char *item, size_t *n) {
    const char *p = item;
    if (is_attr(item))
        p = strchr(item, '=') + 1;
    else if (strncmp(item, "var(", 4) == 0)
        p = item + 4;
    else if (strncmp(item, "list(", 5) == 0)
        p = item + 5;
    *n = 0;
    while (isalnum((unsigned char)p[*n]) || p[*n] == '_') (*n)++;
    return p;
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

/* Examples are generated for an op that has none if all its inputs have type variables. */
static const char *made_up(const ef_op *op, char *buf, size_t cap) {
    const ef_signature *s = ef_op_signature(op);
    size_t n = 0;
    buf[0] = 0;
    if ((op->traits & (EF_CONTROL | EF_NO_KERNEL))) return NULL;
    for (int k = 0; k < s->n_attrs; k++)
        if (!op->attr[k].value) return NULL;
    for (int k = 0; k < s->n_in; k++) {
        const struct ef_arg *a = &s->in[k];
        if (a->type_var < 0 || a->is_list) return NULL;
        for (int j = 0; j < (a->count_attr < 0 ? 1 : 2) && n < cap; j++)
            n += (size_t)snprintf(buf + n, cap - n, "%s[2,3] ", s->var[a->type_var].name);
    }
    return buf;
}

static const char *text_of(const ef_op *op, int row, char *room, size_t cap) {
    if (row >= EF_MAX_EXAMPLES) return NULL;
    if (!op->examples[0] && row == 0) return made_up(op, room, cap);
    return op->examples[0] ? op->examples[row] : NULL;
}

/* The dtypes of a type variable that examples use: types that can only be stored are included only
 * where a kernel takes them. */
static uint64_t shown(const ef_op *op, const ef_signature *s, int v) {
    uint64_t taken = 0;
    for (int k = 0; k < EF_MAX_KERNELS; k++) taken |= op->kernel[k].types;
    return s->var[v].set & ~(EF_STORED & ~taken);
}

/* Finds the variables that the text names; returns the number of ways to choose their dtypes. */
static int find_vars(choice *c) {
    const ef_signature *s = ef_op_signature(c->op);
    char item[ITEM] = "";
    const char *p = c->text;
    int ways = 1;
    c->n_vars = 0;
    while (next_item(&p, item)) {
        size_t n;
        const char *word = type_word(item, &n);
        int v = find_var(c->op, word, n), k = 0;
        while (k < c->n_vars && c->var[k] != v) k++;
        if (v < 0 || k < c->n_vars || c->n_vars == MAX_VARS) continue;
        c->var[c->n_vars++] = v;
        ways *= __builtin_popcountll(shown(c->op, s, v));
    }
    return ways;
}

static void decide(choice *c, int way) {
    const ef_signature *s = ef_op_signature(c->op);
    for (int k = c->n_vars - 1; k >= 0; k--) {
        uint64_t set = shown(c->op, s, c->var[k]);
        int n = __builtin_popcountll(set), skip = way % n;
        way /= n;
        while (skip--) set &= set - 1;
        c->type[k] = (ef_dtype)__builtin_ctzll(set);
    }
}

int ef_example_count(const ef_op *op) {
    char room[400];
    choice c = {.op = op};
    int n = 0;
    for (int row = 0; (c.text = text_of(op, row, room, sizeof room)); row++) n += find_vars(&c);
    return n;
}

int ef_example_row(const ef_op *op, int k) {
    char room[400];
    choice c = {.op = op};
    int row = 0;
    for (; (c.text = text_of(op, row, room, sizeof room)); row++) {
        int ways = find_vars(&c);
        if (k < ways) break;
        k -= ways;
    }
    return row;
}

/* room: a buffer for generated text. */
static bool choose(const ef_op *op, int k, choice *c, char *room, size_t cap) {
    *c = (choice){.op = op};
    for (int row = 0; k >= 0 && (c->text = text_of(op, row, room, cap)); row++) {
        int ways = find_vars(c);
        if (k < ways) {
            decide(c, k);
            return true;
        }
        k -= ways;
    }
    return false;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A number in [0, 1) for element i of n such that no two elements are close to each other: every
 * element has its own cell, cells are visited in a scrambled order, and `shift` moves all of them
 * within their cells. */
static double spread(int64_t i, int64_t n, uint64_t key, double shift) {
    int64_t step = 1 + (int64_t)(key % (uint64_t)n);
    while (n > 1) { /* any step without a common divisor walks through all cells */
        int64_t a = n, b = step;
        while (b) {
            int64_t r = a % b;
            a = b;
            b = r;
        }
        if (a == 1) break;
        step = step % n + 1;
    }
    int64_t cell = (int64_t)(((uint64_t)i * (uint64_t)step + (key >> 32)) % (uint64_t)n);
    return ((double)cell + 0.1 + 0.8 * shift) / (double)n;
}

static void random_number(ef_tensor *t, int64_t i, uint64_t *state, uint64_t key, double shift,
                          bool ranged, double lo, double hi) {
    ef_dtype d = (ef_dtype)t->dtype;
    double u = spread(i, ef_count(t), key, shift), v;
    if (ef_dtype_in(d, EF_INTS)) {
        if (!ranged) lo = 1, hi = 10;
        if (ef_dtype_in(d, EF_UNSIGNED_INTS) && lo < 0) lo = 0;
        double first = ceil(lo), count = ceil(hi) - first;
        v = first + (count > 1 ? (double)(draw(state) % (uint64_t)count) : 0);
        if (!ranged && ef_dtype_in(d, EF_SIGNED_INTS) && (draw(state) & 1)) v = -v;
    } else if (d == EF_BOOL) {
        v = (double)(draw(state) & 1);
    } else if (ranged) {
        v = lo + (hi - lo) * u;
    } else {
        v = 0.25 + 1.5 * u;
        if (draw(state) & 1) v = -v;
    }
    ef_element_set(d, t->data, i, v);
    double im = ranged ? lo + (hi - lo) * spread(i, ef_count(t), key ^ 77, shift)
                       : 0.3 + spread(i, ef_count(t), key ^ 77, shift);
    if (d == EF_C64) ((float *)t->data)[2 * i + 1] = (float)im;
    if (d == EF_C128) ((double *)t->data)[2 * i + 1] = im;
}

static ef_status *random_text(ef_tensor *t, int64_t i, uint64_t *state) {
    char word[8];
    size_t n = 1 + draw(state) % 6;
    for (size_t k = 0; k < n; k++) word[k] = (char)('a' + draw(state) % 26);
    return ef_str_set((ef_str *)t->data + i, word, n);
}

static ef_status *fill_random(const choice *c, const char *item, const char *range, int at,
                              ef_tensor *t) {
    uint64_t state = ef_hash_mix(c->seed + 1, (uint64_t)at + 11), key = draw(&state);
    double shift = (double)(draw(&state) >> 11) / 9007199254740992.0, lo = 0, hi = 0;
    if (range) {
        char *end;
        lo = strtod(range, &end);
        if (strncmp(end, "..", 2) != 0) {
            const char *dots = strstr(range, ".."); /* strtod takes the first dot of "0..3" */
            if (!dots) return bad(c, item, "a range is written lo..hi");
            end = (char *)(uintptr_t)dots;
        }
        hi = strtod(end + 2, &end);
        if (*end || !(hi >= lo)) return bad(c, item, "a range is written lo..hi");
    }
    for (int64_t i = 0, n = ef_count(t); i < n; i++) {
        if (t->dtype == EF_STRING)
            EF_TRY(random_text(t, i, &state));
        else
            random_number(t, i, &state, key, shift, range != NULL, lo, hi);
    }
    return NULL;
}

/* Parses one value at p; returns NULL if it cannot be read. */
static const char *set_number(ef_tensor *t, int64_t i, const char *p) {
    ef_dtype d = (ef_dtype)t->dtype;
    char *end;
    if (strncmp(p, "true", 4) == 0 || strncmp(p, "false", 5) == 0) {
        ef_element_set(d, t->data, i, *p == 't');
        return p + (*p == 't' ? 4 : 5);
    }
    long long whole = strtoll(p, &end, 10);
    if (end != p && strchr(",} ", *end) && (d == EF_I64 || d == EF_U64)) {
        uint64_t bits = *p == '-' ? (uint64_t)whole : strtoull(p, &end, 10);
        memcpy((char *)t->data + i * 8, &bits, 8);
        return end;
    }
    double v = strtod(p, &end);
    if (end == p) return NULL;
    ef_element_set(d, t->data, i, v);
    if (!ef_dtype_in(d, EF_COMPLEX)) return end;
    double im = 0;
    if (*end == '+' || *end == '-') {
        im = strtod(end, &end);
        if (*end++ != 'j') return NULL;
    }
    if (d == EF_C64)
        ((float *)t->data)[2 * i + 1] = (float)im;
    else
        ((double *)t->data)[2 * i + 1] = im;
    return end;
}

static ef_status *fill_given(const choice *c, const char *item, const char *p, ef_tensor *t) {
    int64_t n = ef_count(t);
    for (int64_t i = 0; i < n; i++) {
        while (*p == ' ') p++;
        if (t->dtype == EF_STRING) {
            size_t bytes = strcspn(p, ",}");
            EF_TRY(ef_str_set((ef_str *)t->data + i, p, bytes));
            p += bytes;
        } else if (!(p = set_number(t, i, p))) {
            return bad(c, item, "a value cannot be read");
        }
        if (*p != (i + 1 < n ? ',' : '}')) return bad(c, item, "values and shape do not agree");
        if (i + 1 < n) p++;
    }
    return strcmp(p, "}") == 0 ? NULL : bad(c, item, "values and shape do not agree");
}

/* ---- tensors -----------------------------------------------------------------------------------
 */

static ef_dtype widened(ef_dtype t) { return t == EF_F32 ? EF_F64 : t == EF_C64 ? EF_C128 : t; }

/* `set`: the dtypes allowed for this input; a dtype is widened only within it. */
static ef_dtype type_named(const choice *c, const char *name, size_t n, uint64_t set) {
    char word[24];
    ef_dtype t = EF_NO_DTYPE;
    int v = find_var(c->op, name, n);
    for (int k = 0; k < c->n_vars; k++)
        if (v >= 0 && c->var[k] == v) t = c->type[k];
    if (v < 0 && n < sizeof word) {
        memcpy(word, name, n);
        word[n] = 0;
        t = ef_dtype_find(word);
    }
    return c->wide && ef_dtype_in(widened(t), set) ? widened(t) : t;
}

/* "float[2,3]" and what follows: *rest points behind the bracket. */
static ef_status *parse_head(const choice *c, const char *item, uint64_t set, ef_dtype *t,
                             ef_shape *s, const char **rest) {
    size_t n = strcspn(item, "[");
    *t = type_named(c, item, n, set);
    *s = (ef_shape){.rank = 0};
    if (*t == EF_NO_DTYPE || item[n] != '[') return bad(c, item, "an input is written dtype[dims]");
    const char *p = item + n + 1;
    while (*p != ']') {
        char *end;
        if (s->rank == EF_MAX_RANK) return bad(c, item, "the rank is too large");
        s->dim[s->rank++] = strtoll(p, &end, 10);
        if (end == p || (*end != ',' && *end != ']')) return bad(c, item, "dims cannot be read");
        p = *end == ',' ? end + 1 : end;
    }
    *rest = p + 1;
    return NULL;
}

static ef_status *make_tensor(const choice *c, const char *item, uint64_t set, int at,
                              ef_tensor *out) {
    ef_dtype t;
    ef_shape shape;
    const char *rest = "";
    EF_TRY(parse_head(c, item, set, &t, &shape, &rest));
    EF_TRY(ef_tensor_alloc(out, t, &shape));
    ef_status *s;
    if (*rest == '{')
        s = fill_given(c, item, rest + 1, out);
    else if (*rest == ':' || *rest == 0)
        s = fill_random(c, item, *rest ? rest + 1 : NULL, at, out);
    else
        s = bad(c, item, "there is text after the shape");
    if (s) ef_tensor_release(out);
    return s;
}

static ef_status *make_variable(const choice *c, char *item, int at, ef_tensor *out) {
    ef_tensor value = {0};
    ef_variable *v = NULL;
    size_t n = strlen(item);
    if (item[n - 1] != ')') return bad(c, item, "a variable is written var(dtype[dims])");
    item[n - 1] = 0;
    EF_TRY(make_tensor(c, item + 4, 0, at, &value));
    ef_shape shape = ef_shape_from(&value);
    ef_status *s = ef_variable_make((ef_dtype)value.dtype, &shape, "example", &v);
    if (!s && (s = ef_variable_write(v, &value))) ef_storage_unref(&v->object.base);
    if (!s) ef_tensor_from_object(out, EF_RESOURCE, &v->object);
    ef_tensor_release(&value);
    return s;
}

static ef_status *make_optional(const choice *c, char *item, int at, ef_tensor *out) {
    ef_tensor value = {0};
    ef_optional *o = NULL;
    size_t n = strlen(item);
    if (item[n - 1] != ')') return bad(c, item, "an optional is written optional(dtype[dims])");
    item[n - 1] = 0;
    EF_TRY(make_tensor(c, item + 9, EF_ANY, at, &value));
    ef_status *s = ef_optional_make(1, &o);
    if (s != NULL) {
        ef_tensor_release(&value);
        return s;
    }
    s = ef_tensor_keep(&o->value[0], &value); /* a small value is stored inside its tensor */
    ef_tensor_release(&value);
    if (s != NULL) {
        ef_storage_unref(&o->object.base);
        return s;
    }
    o->has_value = true;
    ef_tensor_from_object(out, EF_VARIANT, &o->object);
    return NULL;
}

static ef_status *fill_list(const choice *c, const char *items, int at, ef_list **out) {
    char item[ITEM] = "";
    ef_status *s = NULL;
    for (int k = 0; !s && next_item(&items, item); k++) {
        ef_tensor t = {0};
        if ((s = make_tensor(c, item, EF_ANY, at * 8 + k, &t))) break;
        ef_shape shape = ef_shape_from(&t);
        if (k == 0) s = ef_list_make((ef_dtype)t.dtype, &shape, 0, out);
        for (int d = 0; !s && d < shape.rank; d++) /* elements may differ in some dims */
            if ((*out)->element.dim[d] != shape.dim[d]) (*out)->element.dim[d] = EF_DIM_UNKNOWN;
        if (!s) s = ef_list_resize(*out, k + 1);
        if (!s) s = ef_list_set(*out, k, &t);
        ef_tensor_release(&t);
    }
    return s;
}

static ef_status *make_list(const choice *c, char *item, int at, ef_tensor *out) {
    ef_list *l = NULL;
    size_t n = strlen(item);
    if (item[n - 1] != ')') return bad(c, item, "a list is written list(dtype[dims] ...)");
    item[n - 1] = 0;
    ef_status *s = fill_list(c, item + 5, at, &l);
    if (!s && !l) s = bad(c, item, "a list needs an element");
    if (s && l) ef_storage_unref(&l->object.base);
    if (!s) ef_tensor_from_object(out, EF_VARIANT, &l->object);
    return s;
}

/* The dtypes that input `at` may have besides the one in the text: those of its type variable. */
static uint64_t place_set(const ef_op *op, int at) {
    const ef_signature *s = ef_op_signature(op);
    const struct ef_arg *a = &s->in[at < s->n_in ? at : s->n_in - 1];
    if (s->n_in == 0) return 0;
    if (s->variadic) { /* counts are not known here: any variable whose set fits will do */
        uint64_t set = 0;
        for (int k = 0; k < s->n_vars; k++) set |= s->var[k].set;
        return set;
    }
    if (a->type_var >= 0) return s->var[a->type_var].set;
    return a->type_attr >= 0 ? s->attr[a->type_attr].set : 0;
}

/* ---- attributes --------------------------------------------------------------------------------
 */

typedef struct given { /* attributes of one example */
    ef_attr_value set[EF_MAX_ATTRS];
    ef_attr_room room[EF_MAX_ATTRS];
    ef_tensor tensor; /* an example has at most one tensor attribute */
    char item[EF_MAX_ATTRS][ITEM];
    int n;
} given;

static ef_status *parse_attr(const choice *c, given *g) {
    const ef_op *op = c->op;
    const ef_signature *s = ef_op_signature(op);
    char *item = g->item[g->n], *text = strchr(item, '=');
    ef_attr_value *v = &g->set[g->n];
    int k = 0;
    *text++ = 0;
    while (k < s->n_attrs && strcmp(op->attr[k].name, item) != 0) k++;
    if (k == s->n_attrs) return bad(c, item, "there is no such attribute");
    *v = (ef_attr_value){.name = op->attr[k].name};
    if (s->attr[k].kind == EF_ATTR_TENSOR) {
        v->kind = EF_ATTR_TENSOR;
        v->as.tensor = &g->tensor;
        EF_TRY(make_tensor(c, text, EF_ANY, 31, &g->tensor));
    } else if (s->attr[k].kind == EF_ATTR_TYPE) {
        v->kind = EF_ATTR_TYPE;
        v->as.type = type_named(c, text, strlen(text), s->attr[k].set);
        if (v->as.type == EF_NO_DTYPE) return bad(c, item, "is not given a dtype");
    } else {
        const char *wrong = ef_attr_text_parse(&s->attr[k], text, v, &g->room[g->n]);
        if (wrong) return bad(c, item, wrong);
    }
    g->n++;
    return NULL;
}

/* ---- one example ----------------------------------------------------------------------------- */

void ef_example_free(ef_example *e) {
    for (int k = 0; k < e->n_in; k++) ef_tensor_release(&e->in[k]);
    ef_attrs_unref(e->attrs);
    *e = (ef_example){.n_in = 0};
}

static ef_status *fill(const choice *c, ef_example *e, given *g) {
    const char *p = c->text;
    char item[ITEM] = "";
    while (next_item(&p, item)) {
        if (is_remark(item)) continue;
        if (is_attr(item)) {
            if (g->n == EF_MAX_ATTRS) return bad(c, item, "there are too many attributes");
            memcpy(g->item[g->n], item, sizeof item);
            EF_TRY(parse_attr(c, g));
            continue;
        }
        if (e->n_in == EF_EXAMPLE_MAX_IN) return bad(c, item, "there are too many inputs");
        ef_tensor *t = &e->in[e->n_in];
        if (ef_example_is_object(item))
            EF_TRY(ef_example_object(c->op, item, t));
        else if (strncmp(item, "optional(", 9) == 0)
            EF_TRY(make_optional(c, item, e->n_in, t));
        else if (strncmp(item, "var(", 4) == 0)
            EF_TRY(make_variable(c, item, e->n_in, t));
        else if (strncmp(item, "list(", 5) == 0)
            EF_TRY(make_list(c, item, e->n_in, t));
        else
            EF_TRY(make_tensor(c, item, place_set(c->op, e->n_in), e->n_in, t));
        e->n_in++;
    }
    return ef_attrs_make(c->op, g->set, g->n, &e->attrs);
}

static ef_status *make(const ef_op *op, int k, uint64_t seed, bool wide, ef_example *out) {
    char room[400];
    choice c;
    given g;
    memset(&g, 0, sizeof g);
    memset(out, 0, sizeof *out);
    if (!choose(op, k, &c, room, sizeof room))
        return ef_error(EF_OUT_OF_RANGE, "%s: there is no example %d", op->name, k);
    c.seed = seed * 1000003u + (uint64_t)k;
    c.wide = wide;
    ef_status *s = fill(&c, out, &g);
    ef_tensor_release(&g.tensor);
    if (s) ef_example_free(out);
    return s;
}

ef_status *ef_example_make(const ef_op *op, int k, uint64_t seed, ef_example *out) {
    return make(op, k, seed, false, out);
}
ef_status *ef_example_make_wide(const ef_op *op, int k, uint64_t seed, ef_example *out) {
    return make(op, k, seed, true, out);
}

ef_example_grad ef_example_gradient(const ef_op *op, int k) {
    char room[400];
    choice c;
    if (!choose(op, k, &c, room, sizeof room)) return EF_GRAD_NOT;
    return strstr(c.text, "grad=no")      ? EF_GRAD_NOT
           : strstr(c.text, "grad=first") ? EF_GRAD_FIRST
                                          : EF_GRAD_ALL;
}

void ef_example_name(const ef_op *op, int k, char *out, size_t n) {
    char room[400], item[ITEM] = "";
    choice c;
    if (!choose(op, k, &c, room, sizeof room)) {
        snprintf(out, n, "%s #%d", op->name, k);
        return;
    }
    size_t at = (size_t)snprintf(out, n, "%s #%d (", op->name, k);
    const char *p = c.text;
    for (bool first = true; next_item(&p, item) && at < n; first = false) {
        size_t length;
        const char *word = type_word(item, &length);
        ef_dtype t = find_var(op, word, length) < 0 ? EF_NO_DTYPE : type_named(&c, word, length, 0);
        if (t == EF_NO_DTYPE)
            at += (size_t)snprintf(out + at, n - at, "%s%s", first ? "" : " ", item);
        else
            at += (size_t)snprintf(out + at, n - at, "%s%.*s%s%s", first ? "" : " ",
                                   (int)(word - item), item, ef_dtype_name(t), word + length);
    }
    if (at < n) snprintf(out + at, n - at, ")");
}
