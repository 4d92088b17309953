/* The field of one attribute in an op's struct, by kind: how it is written, read, hashed and
 * compared, and how many bytes after the struct it points at. */
#include "ops/attr_field.h"
#include "base/hash.h"
#include <string.h>

/* ---- writing -----------------------------------------------------------------------------------
 */

size_t ef_attr_payload_bytes(const ef_attr_info *info, const ef_attr_value *v) {
    size_t n = (size_t)v->n, bytes = 0;
    switch (info->kind) {
    case EF_ATTR_STRING: return info->choice ? 0 : ef_attr_align(strlen(v->as.s) + 1);
    case EF_ATTR_TENSOR: return ef_attr_align(sizeof(ef_tensor));
    case EF_ATTR_INTS: return ef_attr_align(n * sizeof(int64_t));
    case EF_ATTR_FLOATS: return ef_attr_align(n * sizeof(float));
    case EF_ATTR_BOOLS: return ef_attr_align(n * sizeof(bool));
    case EF_ATTR_TYPES: return ef_attr_align(n * sizeof(ef_dtype));
    case EF_ATTR_SHAPES: return ef_attr_align(n * sizeof(ef_shape));
    case EF_ATTR_FUNCS: return ef_attr_align(n * sizeof(struct ef_graph *));
    case EF_ATTR_STRINGS:
        for (size_t k = 0; k < n; k++) bytes += strlen(v->as.strings[k]) + 1;
        return ef_attr_align(bytes + n * (sizeof(ef_attr_text) + sizeof(char *)));
    default: return 0;
    }
}

/* A list of strings: the texts, then plain pointers for ef_attrs_get, then the characters. */
static void write_strings(ef_texts *field, const ef_attr_value *v, char *room) {
    size_t n = (size_t)v->n;
    ef_attr_text *texts = (ef_attr_text *)room;
    const char **plain = (const char **)(texts + n);
    char *to = (char *)(plain + n);
    for (size_t k = 0; k < n; k++) {
        size_t bytes = strlen(v->as.strings[k]) + 1;
        memcpy(to, v->as.strings[k], bytes);
        texts[k] = (ef_attr_text){to, bytes - 1};
        plain[k] = to;
        to += bytes;
    }
    *field = (ef_texts){v->n, texts};
}

/* The value is materialized and owned: counted storage is shared, borrowed memory is copied. */
static ef_status *write_tensor(const ef_tensor **field, const ef_tensor *t, ef_tensor *room) {
    const void *data;
    EF_TRY(ef_tensor_data(t, &data));
    if (!t->storage && t->data != (const void *)t->small)
        EF_TRY(ef_tensor_clone(room, t));
    else
        ef_tensor_copy(room, t);
    ef_tensor_unmark(room);
    room->flags = 0;
    *field = room;
    return ef_tensor_materialize(room);
}

static void write_funcs(ef_funcs *field, const ef_attr_value *v, char *room) {
    struct ef_graph **to = (struct ef_graph **)room;
    for (int k = 0; k < v->n; k++) {
        to[k] = v->as.funcs[k];
        if (ef_func.ref) ef_func.ref(to[k]);
    }
    *field = (ef_funcs){v->n, to};
}

static void write_floats(ef_floats *field, const ef_attr_value *v, char *room) {
    float *to = (float *)room;
    for (int k = 0; k < v->n; k++)
        to[k] = v->kind == EF_ATTR_INTS ? (float)v->as.ints[k] : v->as.floats[k];
    *field = (ef_floats){v->n, to};
}

static void *copied(char *room, const void *from, int n, size_t size) {
    if (n > 0) memcpy(room, from, (size_t)n * size);
    return room;
}

ef_status *ef_attr_write_field(const ef_attr *a, const ef_attr_info *info, const ef_attr_value *v,
                               void *f, char *room) {
    switch (info->kind) {
    case EF_ATTR_BOOL: *(bool *)f = v->as.b; break;
    case EF_ATTR_INT: *(int64_t *)f = v->as.i; break;
    case EF_ATTR_FLOAT:
        *(float *)f = v->kind == EF_ATTR_INT ? (float)v->as.i : (float)v->as.f;
        break;
    case EF_ATTR_STRING:
        if (info->choice) {
            *(int *)f = ef_choice_find(a->type, v->as.s);
        } else {
            size_t n = strlen(v->as.s);
            *(ef_attr_text *)f = (ef_attr_text){copied(room, v->as.s, (int)n + 1, 1), n};
        }
        break;
    case EF_ATTR_TYPE: *(ef_dtype *)f = v->as.type; break;
    case EF_ATTR_SHAPE: *(ef_shape *)f = *v->as.shape; break;
    case EF_ATTR_TENSOR: return write_tensor(f, v->as.tensor, (ef_tensor *)room);
    case EF_ATTR_FUNC:
        if (ef_func.ref) ef_func.ref(v->as.func);
        *(struct ef_graph **)f = v->as.func;
        break;
    case EF_ATTR_INTS: *(ef_ints *)f = (ef_ints){v->n, copied(room, v->as.ints, v->n, 8)}; break;
    case EF_ATTR_FLOATS: write_floats(f, v, room); break;
    case EF_ATTR_BOOLS:
        *(ef_bools *)f = (ef_bools){v->n, copied(room, v->as.bools, v->n, sizeof(bool))};
        break;
    case EF_ATTR_TYPES:
        *(ef_types *)f = (ef_types){v->n, copied(room, v->as.types, v->n, sizeof(ef_dtype))};
        break;
    case EF_ATTR_SHAPES:
        *(ef_shapes *)f = (ef_shapes){v->n, copied(room, v->as.shapes, v->n, sizeof(ef_shape))};
        break;
    case EF_ATTR_STRINGS: write_strings(f, v, room); break;
    default: write_funcs(f, v, room); break;
    }
    return NULL;
}

/* ---- hash and equality -------------------------------------------------------------------------
 */

static uint64_t hash_shape(uint64_t h, const ef_shape *s) {
    h = ef_hash_mix(h, (uint64_t)(int64_t)s->rank);
    for (int d = 0; d < s->rank; d++) h = ef_hash_mix(h, (uint64_t)s->dim[d]);
    return h;
}
static uint64_t hash_func(uint64_t h, struct ef_graph *g) {
    return ef_hash_mix(h, ef_func.hash ? ef_func.hash(g) : (uint64_t)(uintptr_t)g);
}

static uint64_t hash_list(uint64_t h, uint8_t kind, const void *f) {
    int n = *(const int *)f; /* every list struct begins with its count */
    h = ef_hash_mix(h, (uint64_t)n);
    for (int k = 0; k < n; k++) {
        switch (kind) {
        case EF_ATTR_INTS: h = ef_hash_mix(h, (uint64_t)((const ef_ints *)f)->at[k]); break;
        case EF_ATTR_FLOATS: h = ef_hash_bytes(h, &((const ef_floats *)f)->at[k], 4); break;
        case EF_ATTR_BOOLS: h = ef_hash_mix(h, ((const ef_bools *)f)->at[k]); break;
        case EF_ATTR_TYPES: h = ef_hash_mix(h, (uint64_t)((const ef_types *)f)->at[k]); break;
        case EF_ATTR_SHAPES: h = hash_shape(h, &((const ef_shapes *)f)->at[k]); break;
        case EF_ATTR_STRINGS: {
            const ef_attr_text *t = &((const ef_texts *)f)->at[k];
            h = ef_hash_bytes(ef_hash_mix(h, t->n), t->at, t->n);
            break;
        }
        default: h = hash_func(h, ((const ef_funcs *)f)->at[k]); break;
        }
    }
    return h;
}

uint64_t ef_attr_hash_field(uint64_t h, const ef_attr_info *info, const void *f) {
    switch (info->kind) {
    case EF_ATTR_BOOL: return ef_hash_mix(h, *(const bool *)f);
    case EF_ATTR_INT: return ef_hash_mix(h, (uint64_t) * (const int64_t *)f);
    case EF_ATTR_FLOAT: return ef_hash_bytes(h, f, sizeof(float));
    case EF_ATTR_STRING: {
        if (info->choice) return ef_hash_mix(h, (uint64_t) * (const int *)f);
        const ef_attr_text *t = f;
        return ef_hash_bytes(ef_hash_mix(h, t->n), t->at, t->n);
    }
    case EF_ATTR_TYPE: return ef_hash_mix(h, (uint64_t) * (const ef_dtype *)f);
    case EF_ATTR_SHAPE: return hash_shape(h, f);
    case EF_ATTR_TENSOR: return ef_tensor_hash(h, *(const ef_tensor *const *)f);
    case EF_ATTR_FUNC: return hash_func(h, *(struct ef_graph *const *)f);
    default: return hash_list(h, info->kind, f);
    }
}

static bool same_func(struct ef_graph *a, struct ef_graph *b) {
    return a == b || (ef_func.equal && ef_func.equal(a, b));
}

static bool same_list(uint8_t kind, const void *x, const void *y) {
    const ef_ints *a = x, *b = y; /* works for any list: all begin with count and pointer */
    if (a->n != b->n) return false;
    size_t n = (size_t)a->n;
    switch (kind) {
    case EF_ATTR_INTS: return memcmp(a->at, b->at, n * sizeof(int64_t)) == 0;
    case EF_ATTR_FLOATS: return memcmp(a->at, b->at, n * sizeof(float)) == 0;
    case EF_ATTR_BOOLS: return memcmp(a->at, b->at, n * sizeof(bool)) == 0;
    case EF_ATTR_TYPES: return memcmp(a->at, b->at, n * sizeof(ef_dtype)) == 0;
    default: break;
    }
    for (size_t k = 0; k < n; k++) {
        if (kind == EF_ATTR_SHAPES) {
            if (!ef_shape_equal(&((const ef_shapes *)x)->at[k], &((const ef_shapes *)y)->at[k]))
                return false;
        } else if (kind == EF_ATTR_STRINGS) {
            const ef_attr_text *s = &((const ef_texts *)x)->at[k],
                               *t = &((const ef_texts *)y)->at[k];
            if (s->n != t->n || memcmp(s->at, t->at, s->n) != 0) return false;
        } else if (!same_func(((const ef_funcs *)x)->at[k], ((const ef_funcs *)y)->at[k])) {
            return false;
        }
    }
    return true;
}

bool ef_attr_same_field(const ef_attr_info *info, const void *x, const void *y) {
    switch (info->kind) {
    case EF_ATTR_BOOL: return *(const bool *)x == *(const bool *)y;
    case EF_ATTR_INT: return *(const int64_t *)x == *(const int64_t *)y;
    case EF_ATTR_FLOAT: return memcmp(x, y, sizeof(float)) == 0;
    case EF_ATTR_STRING: {
        if (info->choice) return *(const int *)x == *(const int *)y;
        const ef_attr_text *s = x, *t = y;
        return s->n == t->n && memcmp(s->at, t->at, s->n) == 0;
    }
    case EF_ATTR_TYPE: return *(const ef_dtype *)x == *(const ef_dtype *)y;
    case EF_ATTR_SHAPE: return ef_shape_equal(x, y);
    case EF_ATTR_TENSOR:
        return ef_tensor_same_bytes(*(const ef_tensor *const *)x, *(const ef_tensor *const *)y);
    case EF_ATTR_FUNC: return same_func(*(struct ef_graph *const *)x, *(struct ef_graph *const *)y);
    default: return same_list(info->kind, x, y);
    }
}

/* ---- reading -----------------------------------------------------------------------------------
 */

void ef_attr_read_field(const ef_attr *a, const ef_attr_info *info, const void *f,
                        ef_attr_value *v) {
    v->kind = (ef_attr_kind)info->kind;
    switch (info->kind) {
    case EF_ATTR_BOOL: v->as.b = *(const bool *)f; break;
    case EF_ATTR_INT: v->as.i = *(const int64_t *)f; break;
    case EF_ATTR_FLOAT: v->as.f = *(const float *)f; break;
    case EF_ATTR_STRING:
        v->as.s =
            info->choice ? ef_choice_name(a->type, *(const int *)f) : ((const ef_attr_text *)f)->at;
        break;
    case EF_ATTR_TYPE: v->as.type = *(const ef_dtype *)f; break;
    case EF_ATTR_SHAPE: v->as.shape = f; break;
    case EF_ATTR_TENSOR: v->as.tensor = *(const ef_tensor *const *)f; break;
    case EF_ATTR_FUNC: v->as.func = *(struct ef_graph *const *)f; break;
    case EF_ATTR_STRINGS: {
        const ef_texts *t = f;
        v->n = t->n;
        v->as.strings = t->at ? (const char *const *)(t->at + t->n) : NULL;
        break;
    }
    default: v->n = ((const ef_ints *)f)->n; v->as.ints = ((const ef_ints *)f)->at;
    }
}
