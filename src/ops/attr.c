/* Attributes become one immutable block: a small header, the op's own struct, and after it whatever
 * the struct points at. Two passes over the op's attribute table make a block: the first chooses
 * and validates each value, the second writes them all. So a block is allocated once, and only for
 * valid values. */
#include "ops/attr.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "ops/attr_field.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct ef_attrs {
    const ef_op *op;
    uint64_t hash;
    size_t bytes;
    atomic_int refs; /* 0: a default, never freed */
    int reserved;
};
_Static_assert(sizeof(struct ef_attrs) % 16 == 0, "fields behind the header must be aligned");

ef_func_hooks ef_func;

typedef struct pick { /* the value chosen for one attribute */
    bool given;
    ef_attr_value v;
    ef_attr_room room;
} pick;

const void *ef_attrs_fields(const ef_attrs *a) { return a + 1; }
const ef_attrs *ef_attrs_around(const void *fields) { return (const ef_attrs *)fields - 1; }
uint64_t ef_attrs_hash(const ef_attrs *a) { return a->hash; }

static inline void *field_at(const void *fields, const ef_attr *a) {
    return (char *)(uintptr_t)fields + a->at;
}

/* ---- checking ----------------------------------------------------------------------------------
 */

static const char *const kind_names[] = {[EF_ATTR_BOOL] = "a bool",
                                         [EF_ATTR_INT] = "an int",
                                         [EF_ATTR_FLOAT] = "a float",
                                         [EF_ATTR_STRING] = "a string",
                                         [EF_ATTR_TYPE] = "a dtype",
                                         [EF_ATTR_SHAPE] = "a shape",
                                         [EF_ATTR_TENSOR] = "a tensor",
                                         [EF_ATTR_FUNC] = "a function",
                                         [EF_ATTR_INTS] = "a list of ints",
                                         [EF_ATTR_FLOATS] = "a list of floats",
                                         [EF_ATTR_BOOLS] = "a list of bools",
                                         [EF_ATTR_TYPES] = "a list of dtypes",
                                         [EF_ATTR_SHAPES] = "a list of shapes",
                                         [EF_ATTR_STRINGS] = "a list of strings",
                                         [EF_ATTR_FUNCS] = "a list of functions"};

static const char *kind_name(unsigned kind) {
    return kind <= EF_ATTR_FUNCS ? kind_names[kind] : "of an unknown kind";
}

/* An int is accepted for a float, and an empty list for a list of any kind. */
static bool fits(const ef_attr_info *info, const ef_attr_value *v) {
    if (v->kind == info->kind) return true;
    if (info->kind == EF_ATTR_FLOAT) return v->kind == EF_ATTR_INT;
    if (info->kind == EF_ATTR_FLOATS && v->kind == EF_ATTR_INTS) return true;
    return info->kind >= EF_ATTR_INTS && (unsigned)v->kind >= EF_ATTR_INTS &&
           (unsigned)v->kind <= EF_ATTR_FUNCS && v->n == 0;
}

static ef_status *bad_value(const ef_op *op, const ef_attr *a, const char *what) {
    return ef_error(EF_INVALID, "%s: attribute %s %s; it is declared as %s", op->name, a->name,
                    what, a->type);
}

static bool has_null(const ef_attr_value *v) {
    switch (v->kind) {
    case EF_ATTR_STRING: return v->as.s == NULL;
    case EF_ATTR_SHAPE: return v->as.shape == NULL;
    case EF_ATTR_TENSOR: return v->as.tensor == NULL;
    case EF_ATTR_FUNC: return v->as.func == NULL;
    default: break;
    }
    if (v->kind < EF_ATTR_INTS || v->n == 0) return false;
    if (v->as.ints == NULL) return true;
    for (int k = 0; k < v->n && v->kind == EF_ATTR_STRINGS; k++)
        if (!v->as.strings[k]) return true;
    for (int k = 0; k < v->n && v->kind == EF_ATTR_FUNCS; k++)
        if (!v->as.funcs[k]) return true;
    return false;
}

static bool good_shape(const ef_shape *s) { return s->rank >= -1 && s->rank <= EF_MAX_RANK; }

static ef_status *check_type(const ef_op *op, const ef_attr *a, const ef_attr_info *info,
                             ef_dtype t) {
    char text[80];
    if (t > EF_NO_DTYPE && t < EF_DTYPES && ef_dtype_in(t, info->set)) return NULL;
    const char *name = t > EF_NO_DTYPE && t < EF_DTYPES ? ef_dtype_name(t) : NULL;
    snprintf(text, sizeof text, "is %s", name ? name : "not a dtype");
    return bad_value(op, a, text);
}

static ef_status *check_bound(const ef_op *op, const ef_attr *a, const ef_attr_info *info,
                              const ef_attr_value *v) {
    char text[80];
    if (info->bounded && info->kind == EF_ATTR_INT && v->as.i < info->min) {
        snprintf(text, sizeof text, "is %lld", (long long)v->as.i);
        return bad_value(op, a, text);
    }
    if (info->bounded && info->kind >= EF_ATTR_INTS && v->n < info->min) {
        snprintf(text, sizeof text, "has %d elements", v->n);
        return bad_value(op, a, text);
    }
    return NULL;
}

static ef_status *check_value(const ef_op *op, const ef_attr *a, const ef_attr_info *info,
                              const ef_attr_value *v) {
    char text[80];
    if (!fits(info, v)) {
        snprintf(text, sizeof text, "is given %s", kind_name(v->kind));
        return bad_value(op, a, text);
    }
    if (v->kind >= EF_ATTR_INTS && (v->n < 0 || v->n > 1 << 24))
        return bad_value(op, a, "has an impossible number of elements");
    if (has_null(v)) return bad_value(op, a, "is given a null pointer");
    if (info->choice && ef_choice_find(a->type, v->as.s) < 0) {
        snprintf(text, sizeof text, "is '%.60s'", v->as.s);
        return bad_value(op, a, text);
    }
    if (v->kind == EF_ATTR_TYPE) EF_TRY(check_type(op, a, info, v->as.type));
    for (int k = 0; k < v->n && v->kind == EF_ATTR_TYPES; k++)
        EF_TRY(check_type(op, a, info, v->as.types[k]));
    if (v->kind == EF_ATTR_SHAPE && !good_shape(v->as.shape))
        return bad_value(op, a, "has a bad rank");
    for (int k = 0; k < v->n && v->kind == EF_ATTR_SHAPES; k++)
        if (!good_shape(&v->as.shapes[k])) return bad_value(op, a, "holds a shape of a bad rank");
    if (v->kind == EF_ATTR_TENSOR && (v->as.tensor->flags & EF_TENSOR_SYMBOLIC))
        return bad_value(op, a, "is a symbolic tensor, which has no value yet");
    return check_bound(op, a, info, v);
}

/* ---- choosing values ------------------------------------------------------------------------- */

static ef_status *unknown_name(const ef_op *op, const ef_signature *s, const char *name) {
    char names[400] = "none";
    size_t n = 0;
    for (int k = 0; k < s->n_attrs && n < sizeof names; k++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", op->attr[k].name);
    return ef_error(EF_INVALID, "%s: there is no attribute '%.60s'; its attributes are: %s",
                    op->name, name ? name : "(null)", names);
}

static ef_status *bad_inferred(const ef_op *op, const char *name, ef_dtype t) {
    const char *text = t > EF_NO_DTYPE && t < EF_DTYPES ? ef_dtype_name(t) : NULL;
    return ef_error(EF_INVALID, "%s: %s is %s; the op is declared for %s", op->name, name,
                    text ? text : "not a dtype", op->types);
}

/* A name that the inputs determine (T, Tin, N) is checked and then ignored. */
static ef_status *check_inferred(const ef_op *op, const ef_signature *s, const ef_attr_value *v) {
    for (int k = 0; k < s->n_counts; k++)
        if (strcmp(s->count[k].name, v->name) == 0 && v->kind == EF_ATTR_INT) {
            if (v->as.i >= s->count[k].min) return NULL;
            return ef_error(EF_INVALID, "%s: %s is %lld; it must be at least %d", op->name, v->name,
                            (long long)v->as.i, s->count[k].min);
        }
    for (int k = 0; k < s->n_vars; k++) {
        const struct ef_type_var *var = &s->var[k];
        bool list = v->kind == EF_ATTR_TYPES;
        if (strcmp(var->name, v->name) != 0 || list != var->is_list) continue;
        if (!list && v->kind != EF_ATTR_TYPE) continue;
        if (list && v->n > 0 && !v->as.types) continue;
        for (int j = 0; j < (list ? v->n : 1); j++) {
            ef_dtype t = list ? v->as.types[j] : v->as.type;
            if (t <= EF_NO_DTYPE || t >= EF_DTYPES || !ef_dtype_in(t, var->set))
                return bad_inferred(op, v->name, t);
        }
        return NULL;
    }
    return unknown_name(op, s, v->name);
}

/* Most names are string literals, and the linker merges equal ones. */
static bool same_name(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

static ef_status *take_given(const ef_op *op, const ef_signature *s, const ef_attr_value *set,
                             int n, pick *p) {
    for (int j = 0; j < n; j++) {
        int k = 0;
        if (!set[j].name) return unknown_name(op, s, NULL);
        while (k < s->n_attrs && !same_name(op->attr[k].name, set[j].name)) k++;
        if (k >= s->n_attrs) {
            EF_TRY(check_inferred(op, s, &set[j]));
            continue;
        }
        if (p[k].given) return bad_value(op, &op->attr[k], "is given twice");
        EF_TRY(check_value(op, &op->attr[k], &s->attr[k], &set[j]));
        p[k].v = set[j];
        p[k].given = true;
    }
    return NULL;
}

static ef_status *take_like(const ef_op *op, const ef_signature *s, const ef_op *other,
                            const void *fields, pick *p) {
    const ef_signature *o = ef_op_signature(other);
    for (int k = 0; k < s->n_attrs; k++) {
        int j = 0;
        if (p[k].given) continue;
        while (j < o->n_attrs && strcmp(op->attr[k].name, other->attr[j].name) != 0) j++;
        if (j == o->n_attrs || o->attr[j].kind != s->attr[k].kind) continue;
        EF_TRY(ef_attrs_get(other, fields, op->attr[k].name, &p[k].v));
        EF_TRY(check_value(op, &op->attr[k], &s->attr[k], &p[k].v));
        p[k].given = true;
    }
    return NULL;
}

static ef_status *take_defaults(const ef_op *op, const ef_signature *s, pick *p) {
    for (int k = 0; k < s->n_attrs; k++) {
        const ef_attr *a = &op->attr[k];
        if (p[k].given) continue;
        if (!a->value)
            return ef_error(EF_INVALID, "%s: attribute %s is missing; it is %s and has no default",
                            op->name, a->name, a->type);
        const char *wrong = ef_attr_text_parse(&s->attr[k], a->value, &p[k].v, &p[k].room);
        if (wrong)
            return ef_error(EF_INTERNAL, "%s: default %s of attribute %s: %s", op->name, a->value,
                            a->name, wrong);
        EF_TRY(check_value(op, a, &s->attr[k], &p[k].v));
    }
    return NULL;
}

bool ef_attrs_equal(const ef_attrs *a, const ef_attrs *b) {
    if (a == b) return true;
    if (!a || !b || a->op != b->op || a->hash != b->hash) return false;
    const ef_signature *s = ef_op_signature(a->op);
    for (int k = 0; k < s->n_attrs; k++) {
        const ef_attr *row = &a->op->attr[k];
        if (!ef_attr_same_field(&s->attr[k], field_at(a + 1, row), field_at(b + 1, row)))
            return false;
    }
    return true;
}

/* ---- allocation and references --------------------------------------------------------------- */

static void destroy(ef_attrs *a) {
    const ef_signature *s = ef_op_signature(a->op);
    for (int k = 0; k < s->n_attrs; k++) {
        void *f = field_at(a + 1, &a->op->attr[k]);
        if (s->attr[k].kind == EF_ATTR_TENSOR && *(ef_tensor **)f)
            ef_tensor_release(*(ef_tensor **)f);
        if (!ef_func.unref) continue;
        if (s->attr[k].kind == EF_ATTR_FUNC && *(struct ef_graph **)f)
            ef_func.unref(*(struct ef_graph **)f);
        const ef_funcs *list = f;
        for (int j = 0; s->attr[k].kind == EF_ATTR_FUNCS && j < list->n; j++)
            ef_func.unref(list->at[j]);
    }
    ef_free(a);
}

static ef_status *write_block(const ef_op *op, const ef_signature *s, const pick *p,
                              const ef_attrs **out) {
    size_t bytes = sizeof(ef_attrs) + ef_attr_align(op->attr_size);
    for (int k = 0; k < s->n_attrs; k++) bytes += ef_attr_payload_bytes(&s->attr[k], &p[k].v);
    ef_attrs *a = ef_calloc(1, bytes);
    if (!a) return ef_no_memory(bytes);
    char *room = (char *)(a + 1) + ef_attr_align(op->attr_size);
    a->op = op;
    a->bytes = bytes;
    a->hash = ef_hash_mix(0xA77, (uint64_t)op->id);
    atomic_init(&a->refs, 1);
    for (int k = 0; k < s->n_attrs; k++) {
        void *f = field_at(a + 1, &op->attr[k]);
        ef_status *failed = ef_attr_write_field(&op->attr[k], &s->attr[k], &p[k].v, f, room);
        if (failed) {
            destroy(a);
            return failed;
        }
        a->hash = ef_attr_hash_field(a->hash, &s->attr[k], f);
        room += ef_attr_payload_bytes(&s->attr[k], &p[k].v);
    }
    *out = a;
    return NULL;
}

static ef_attrs bare[EF_OP_COUNT]; /* for ops that have no attributes */
static _Atomic(const ef_attrs *) defaults[EF_OP_COUNT];
static ef_mutex defaults_lock = EF_MUTEX(DEFAULTS); /* guards both while they are filled */

static const ef_attrs *make_default(const ef_op *op) {
    const ef_signature *s = ef_op_signature(op);
    pick p[EF_MAX_ATTRS];
    for (int k = 0; k < s->n_attrs; k++) {
        p[k].given = false;
        if (!op->attr[k].value) return NULL;
    }
    ef_mutex_lock(&defaults_lock);
    const ef_attrs *a = atomic_load_explicit(&defaults[op->id], memory_order_relaxed);
    if (!a && s->n_attrs == 0) {
        bare[op->id] = (ef_attrs){.op = op, .hash = ef_hash_mix(0xA77, (uint64_t)op->id)};
        a = &bare[op->id];
    } else if (!a) {
        ef_status *failed = take_defaults(op, s, p);
        if (!failed) failed = write_block(op, s, p, &a);
        if (failed)
            ef_status_free(failed);
        else
            atomic_store_explicit(&((ef_attrs *)(uintptr_t)a)->refs, 0, memory_order_relaxed);
    }
    if (a) atomic_store_explicit(&defaults[op->id], a, memory_order_release);
    ef_mutex_unlock(&defaults_lock);
    return a;
}

const ef_attrs *ef_attrs_default(const ef_op *op) {
    const ef_attrs *a = atomic_load_explicit(&defaults[op->id], memory_order_acquire);
    return EF_LIKELY(a != NULL) ? a : make_default(op);
}

ef_status *ef_attrs_like(const ef_op *op, const ef_op *other, const void *other_attrs,
                         const ef_attr_value *set, int n, const ef_attrs **out) {
    const ef_signature *s = ef_op_signature(op);
    pick p[EF_MAX_ATTRS];
    if (n < 0 || (n > 0 && !set))
        return ef_error(EF_INVALID, "%s: %d attributes were announced but the array is NULL",
                        op->name, n);
    for (int k = 0; k < s->n_attrs; k++) p[k].given = false;
    EF_TRY(take_given(op, s, set, n, p));
    if (other && other_attrs) EF_TRY(take_like(op, s, other, other_attrs, p));
    EF_TRY(take_defaults(op, s, p));
    return write_block(op, s, p, out);
}

ef_status *ef_attrs_make(const ef_op *op, const ef_attr_value *set, int n, const ef_attrs **out) {
    if (!op || !out) return ef_error(EF_INVALID, "ef_attrs_make: op and out must not be NULL");
    if (n == 0) {
        const ef_attrs *a = ef_attrs_default(op);
        if (a) {
            *out = a;
            return NULL;
        }
    }
    return ef_attrs_like(op, NULL, NULL, set, n, out);
}

const ef_attrs *ef_attrs_ref(const ef_attrs *a) {
    ef_attrs *w = (ef_attrs *)(uintptr_t)a;
    if (a && atomic_load_explicit(&w->refs, memory_order_relaxed) != 0)
        atomic_fetch_add_explicit(&w->refs, 1, memory_order_relaxed);
    return a;
}

void ef_attrs_unref(const ef_attrs *a) {
    ef_attrs *w = (ef_attrs *)(uintptr_t)a;
    if (!a || atomic_load_explicit(&w->refs, memory_order_relaxed) == 0) return;
    if (atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) == 1) destroy(w);
}

size_t ef_attrs_bytes(const ef_attrs *a) {
    const ef_signature *s = ef_op_signature(a->op);
    size_t bytes = a->bytes;
    for (int k = 0; k < s->n_attrs; k++)
        if (s->attr[k].kind == EF_ATTR_TENSOR)
            bytes += ef_tensor_bytes(*(const ef_tensor *const *)field_at(a + 1, &a->op->attr[k]));
    return bytes;
}

ef_status *ef_attrs_get(const ef_op *op, const void *fields, const char *name, ef_attr_value *out) {
    const ef_signature *s = ef_op_signature(op);
    for (int k = 0; k < s->n_attrs; k++) {
        if (strcmp(op->attr[k].name, name) != 0) continue;
        *out = (ef_attr_value){.name = op->attr[k].name};
        ef_attr_read_field(&op->attr[k], &s->attr[k], field_at(fields, &op->attr[k]), out);
        return NULL;
    }
    return unknown_name(op, s, name);
}
