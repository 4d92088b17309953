/* The op table as a language binding sees it: records sorted by name, each with its notation parsed
 * once. Descriptions are made on first use and never freed. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/mutex.h"
#include "evenflow_binding.h"
#include "ops/run.h"
#include "ops/signature.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ef_op *ordered[EF_OP_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_name(const void *a, const void *b) {
    return strcmp((*(const ef_op *const *)a)->name, (*(const ef_op *const *)b)->name);
}

static void order(void) {
    memcpy(ordered, ef_op_table, sizeof ordered);
    qsort(ordered, EF_OP_COUNT, sizeof *ordered, by_name);
}

int ef_op_count(void) { return EF_OP_COUNT; }

const ef_op *ef_op_at(int k) {
    pthread_once(&once, order);
    return k >= 0 && k < EF_OP_COUNT ? ordered[k] : NULL;
}

/* ---- reading a record ------------------------------------------------------------------------ */

static void describe_args(const ef_op *op, const ef_signature *s, const struct ef_arg *arg, int n,
                          ef_arg_info *out) {
    for (int k = 0; k < n; k++) {
        const struct ef_arg *a = &arg[k];
        out[k] = (ef_arg_info){.name = a->name, .fixed = a->fixed};
        if (a->type_var >= 0) out[k].type_attr = s->var[a->type_var].name;
        if (a->type_attr >= 0) out[k].type_attr = op->attr[a->type_attr].name;
        if (a->count_attr >= 0) out[k].number_attr = s->count[a->count_attr].name;
        out[k].is_list = a->is_list || a->count_attr >= 0;
    }
}

/* The words that a choice allows, NULL-terminated. */
static const char *const *choices(ef_arena *memory, const char *type) {
    size_t quotes = 0;
    for (const char *p = type; (p = strchr(p, '\'')) != NULL; p++) quotes++;
    const size_t n = quotes / 2; /* a word may be empty */
    const char **words = ef_arena_zalloc(memory, (n + 1) * sizeof *words);
    for (size_t k = 0; words != NULL && k < n; k++) words[k] = ef_choice_name(type, (int)k);
    return words;
}

static bool decided_by_inputs(const ef_signature *s, int attr) {
    for (int k = 0; k < s->n_in; k++) {
        /* If several inputs are lists, only the caller knows where each one ends. */
        if (s->in[k].type_attr == attr) return s->attr[attr].kind != EF_ATTR_TYPES;
        if (s->in[k].count_attr >= 0 && s->count[s->in[k].count_attr].attr == attr) return true;
    }
    return false;
}

static bool describe_own(ef_arena *memory, const ef_op *op, const ef_signature *s,
                         ef_attr_desc *out) {
    for (int k = 0; k < s->n_attrs; k++) {
        const ef_attr *a = &op->attr[k];
        const ef_attr_info *info = &s->attr[k];
        out[k] = (ef_attr_desc){.name = a->name,
                                .type = a->type,
                                .kind = (ef_attr_kind)info->kind,
                                .value = a->value,
                                .inferred = decided_by_inputs(s, k)};
        if (info->kind == EF_ATTR_TYPE || info->kind == EF_ATTR_TYPES)
            out[k].types = info->set == EF_ANY ? 0 : info->set;
        if (info->choice && (out[k].choice = choices(memory, a->type)) == NULL) return false;
    }
    return true;
}

/* Type variables and counts that are not attributes of the record: the inputs determine them. */
static int describe_inferred(const ef_op *op, const ef_signature *s, ef_attr_desc *out) {
    int n = 0;
    for (int k = 0; k < s->n_vars; k++) {
        const struct ef_type_var *v = &s->var[k];
        bool list = v->is_list;
        out[n++] = (ef_attr_desc){.name = v->name,
                                  .type = list ? "list(type)" : "type",
                                  .kind = list ? EF_ATTR_TYPES : EF_ATTR_TYPE,
                                  .types = v->set == EF_ANY ? 0 : v->set,
                                  .declared = k == 0 ? op->declared : 0,
                                  .inferred = true};
        if (v->otherwise != EF_NO_DTYPE) out[n - 1].value = ef_dtype_name(v->otherwise);
    }
    for (int k = 0; k < s->n_counts; k++)
        if (s->count[k].attr < 0)
            out[n++] = (ef_attr_desc){
                .name = s->count[k].name, .type = "int", .kind = EF_ATTR_INT, .inferred = true};
    return n;
}

static const ef_op_desc *make(const ef_op *op) {
    const ef_signature *s = ef_op_signature(op);
    ef_arena memory = {0};
    size_t n_args = (size_t)(s->n_in + s->n_out), n_attrs = EF_MAX_ATTRS + 8 + 4;
    ef_op_desc *d = ef_arena_zalloc(&memory, sizeof *d);
    ef_arg_info *arg = ef_arena_zalloc(&memory, (n_args + 1) * sizeof *arg);
    ef_attr_desc *attr = ef_arena_zalloc(&memory, n_attrs * sizeof *attr);
    if (d == NULL || arg == NULL || attr == NULL || !describe_own(&memory, op, s, attr)) {
        ef_arena_free(&memory);
        return NULL;
    }
    describe_args(op, s, s->in, s->n_in, arg);
    describe_args(op, s, s->out, s->n_out, arg + s->n_in);
    *d = (ef_op_desc){.name = op->name,
                      .doc = op->doc != NULL ? op->doc : "",
                      .n_in = s->n_in,
                      .n_out = s->n_out,
                      .n_attrs = s->n_attrs + describe_inferred(op, s, attr + s->n_attrs),
                      .in = arg,
                      .out = arg + s->n_in,
                      .attr = attr,
                      .stateful = (op->traits & (EF_STATEFUL | EF_EFFECT)) != 0,
                      .small = ef_op_may_be_small(op),
                      .has_gradient = op->grad != NULL || (op->traits & EF_CONTROL) != 0};
    return d;
}

static const ef_op_desc *known[EF_OP_COUNT];
static ef_mutex lock = EF_MUTEX(DESCRIPTION); /* guards `known` */

const ef_op_desc *ef_op_describe(const ef_op *op) {
    if (op == NULL) return NULL;
    ef_mutex_lock(&lock);
    if (known[op->id] == NULL) known[op->id] = make(op);
    const ef_op_desc *d = known[op->id];
    ef_mutex_unlock(&lock);
    return d;
}

ef_status *ef_op_output_counts(const ef_op *op, const ef_attrs *attrs, int n_in, int *count) {
    ef_arity a;
    EF_TRY(ef_op_arity(op, attrs != NULL ? ef_attrs_fields(attrs) : NULL, n_in, &a));
    memcpy(count, a.out, (size_t)ef_op_signature(op)->n_out * sizeof *count);
    return NULL;
}

ef_status *ef_attrs_read(const ef_op *op, const ef_attrs *a, const char *name, ef_attr_value *out) {
    if (op == NULL || name == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_attrs_read: op, name and out must not be NULL");
    if (a == NULL && (a = ef_attrs_default(op)) == NULL)
        return ef_error(EF_INVALID, "%s: attribute %s has no default", op->name, name);
    return ef_attrs_get(op, ef_attrs_fields(a), name, out);
}
