/* Attribute values as text: TensorFlow's notation for defaults ("false", "'NHWC'", "[1, 1]",
 * "{ unknown_rank: true }"), read into an ef_attr_value. Used for defaults and for examples. */
#include "base/mutex.h"
#include "ops/signature.h"
#include <stdlib.h>
#include <string.h>

static const char *skip(const char *p) {
    while (*p == ' ') p++;
    return p;
}

int ef_choice_find(const char *type, const char *s) {
    size_t n = strlen(s);
    int index = 0;
    for (const char *p = strchr(type, '\''); p; index++) {
        const char *end = strchr(p + 1, '\'');
        if (!end) return -1;
        if ((size_t)(end - p - 1) == n && memcmp(p + 1, s, n) == 0) return index;
        p = strchr(end + 1, '\'');
    }
    return -1;
}

/* The words of choices, NUL-terminated and never freed: all records together have a few dozen. */
enum { MOST_WORDS = 256, MOST_LETTERS = 32 };
static struct {
    char word[MOST_WORDS][MOST_LETTERS];
    int n;
} names;
static ef_mutex names_lock = EF_MUTEX(NAMES); /* guards names */

static const char *intern(const char *at, size_t n) {
    const char *found = "";
    ef_mutex_lock(&names_lock);
    int k = 0;
    while (k < names.n && (memcmp(names.word[k], at, n) != 0 || names.word[k][n])) k++;
    if (k == names.n && k < MOST_WORDS) memcpy(names.word[names.n++], at, n);
    if (k < MOST_WORDS) found = names.word[k];
    ef_mutex_unlock(&names_lock);
    return found;
}

const char *ef_choice_name(const char *type, int index) {
    for (const char *p = strchr(type, '\''); p; index--) {
        const char *end = strchr(p + 1, '\'');
        if (!end) break;
        if (index == 0)
            return end - p - 1 < MOST_LETTERS ? intern(p + 1, (size_t)(end - p - 1)) : "";
        p = strchr(end + 1, '\'');
    }
    return "";
}

/* Each reader parses one element at *p and moves *p past it; false: there is none. */
static bool read_bool(const char **p, bool *out) {
    *out = strncmp(*p, "true", 4) == 0;
    if (!*out && strncmp(*p, "false", 5) != 0) return false;
    *p += *out ? 4 : 5;
    return true;
}

static bool read_int(const char **p, int64_t *out) {
    char *end;
    *out = strtoll(*p, &end, 10);
    bool found = end != *p;
    *p = end;
    return found;
}

static bool read_float(const char **p, double *out) {
    char *end;
    *out = strtod(*p, &end);
    bool found = end != *p;
    *p = end;
    return found;
}

static bool read_type(const char **p, ef_dtype *out) {
    char name[24];
    size_t n = strcspn(*p, " ,]");
    if (n == 0 || n >= sizeof name) return false;
    memcpy(name, *p, n);
    name[n] = 0;
    *out = ef_dtype_find(name);
    *p += n;
    return *out != EF_NO_DTYPE;
}

static char unescaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c; }

/* A quoted string with C's simple escapes, copied to *room and NUL-terminated there. */
static bool read_string(const char **p, char **room, const char *room_end, const char **out) {
    const char quote = **p, *at = *p + 1;
    char *to = *room;
    if (quote != '\'' && quote != '"') return false;
    for (; *at != quote; at++) {
        bool escaped = *at == '\\';
        if (escaped) at++;
        if (*at == 0 || to + 1 >= room_end) return false;
        *to++ = escaped ? unescaped(*at) : *at;
    }
    if (to >= room_end) return false;
    *to++ = 0;
    *out = *room;
    *room = to;
    *p = at + 1;
    return true;
}

/* "[2, -1]", "[]", "<unknown>" or TensorFlow's "{ unknown_rank: true }". */
static bool read_shape(const char **p, ef_shape *out) {
    *out = (ef_shape){.rank = -1};
    if (strncmp(*p, "<unknown>", 9) == 0) {
        *p += 9;
        return true;
    }
    if (**p == '{') {
        const char *end = strchr(*p, '}');
        if (!end || !strstr(*p, "unknown_rank")) return false;
        *p = end + 1;
        return true;
    }
    if (**p != '[') return false;
    out->rank = 0;
    for (*p = skip(*p + 1); **p != ']'; *p = skip(*p)) {
        if (out->rank == EF_MAX_RANK) return false;
        int64_t *d = &out->dim[out->rank];
        if (**p == '?') {
            *d = EF_DIM_UNKNOWN;
            (*p)++;
        } else if (!read_int(p, d) || *d < EF_DIM_UNKNOWN) {
            return false;
        }
        out->rank++;
        if (*(*p = skip(*p)) == ',') *p = skip(*p + 1);
    }
    (*p)++;
    return true;
}

/* A vector of bytes: "uint8[255, 0]". */
static bool read_tensor(const char **p, ef_tensor *out) {
    static const char word[] = "uint8[";
    uint8_t bytes[32];
    int64_t n = 0, v;
    if (strncmp(*p, word, sizeof word - 1) != 0) return false;
    for (*p = skip(*p + sizeof word - 1); **p != ']'; *p = skip(*p), n++) {
        if (n == sizeof bytes || !read_int(p, &v) || v < 0 || v > UINT8_MAX) return false;
        bytes[n] = (uint8_t)v;
        if (*(*p = skip(*p)) == ',') (*p)++;
    }
    (*p)++;
    ef_status *s = ef_tensor_from(EF_U8, &(ef_shape){.rank = 1, .dim = {n}}, bytes, out);
    ef_status_free(s);
    return s == NULL;
}

static bool read_one(const char **p, uint8_t kind, ef_attr_value *v, ef_attr_room *room) {
    char *text = room->strings.text;
    switch (kind) {
    case EF_ATTR_BOOL: return read_bool(p, &v->as.b);
    case EF_ATTR_INT: return read_int(p, &v->as.i);
    case EF_ATTR_FLOAT: return read_float(p, &v->as.f);
    case EF_ATTR_STRING: return read_string(p, &text, text + sizeof room->strings.text, &v->as.s);
    case EF_ATTR_TYPE: return read_type(p, &v->as.type);
    case EF_ATTR_SHAPE: v->as.shape = room->shapes; return read_shape(p, room->shapes);
    case EF_ATTR_TENSOR: v->as.tensor = &room->tensor; return read_tensor(p, &room->tensor);
    default: return false;
    }
}

static bool read_member(const char **p, uint8_t kind, int k, ef_attr_room *room, char **text) {
    double f;
    switch (kind) {
    case EF_ATTR_INTS: return k < EF_DEFAULT_LIST && read_int(p, &room->ints[k]);
    case EF_ATTR_FLOATS:
        if (k >= EF_DEFAULT_LIST || !read_float(p, &f)) return false;
        room->floats[k] = (float)f;
        return true;
    case EF_ATTR_BOOLS: return k < EF_DEFAULT_LIST && read_bool(p, &room->bools[k]);
    case EF_ATTR_TYPES: return k < EF_DEFAULT_LIST && read_type(p, &room->types[k]);
    case EF_ATTR_SHAPES: return k < 4 && read_shape(p, &room->shapes[k]);
    case EF_ATTR_STRINGS:
        return k < 4 && read_string(p, text, room->strings.text + sizeof room->strings.text,
                                    &room->strings.at[k]);
    default: return false;
    }
}

const char *ef_attr_text_parse(const ef_attr_info *info, const char *text, ef_attr_value *v,
                               ef_attr_room *room) {
    const char *p = skip(text);
    v->kind = (ef_attr_kind)info->kind;
    v->n = 0;
    if (info->kind < EF_ATTR_INTS) {
        if (!read_one(&p, info->kind, v, room)) return "a value cannot be read as its type";
        return *skip(p) ? "a value goes on after its end" : NULL;
    }
    char *strings = room->strings.text;
    v->as.ints = room->ints; /* every list in the union begins at the address of room */
    if (info->kind == EF_ATTR_STRINGS) v->as.strings = room->strings.at;
    if (*p != '[') return "a list does not begin with [";
    for (p = skip(p + 1); *p != ']'; v->n++) {
        if (!read_member(&p, info->kind, v->n, room, &strings)) return "a list cannot be read";
        if (*(p = skip(p)) == ',')
            p = skip(p + 1);
        else if (*p != ']')
            return "a list lacks its closing bracket";
    }
    return *skip(p + 1) ? "a value goes on after its end" : NULL;
}
