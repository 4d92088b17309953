/* Attributes: parsed once into the op's own typed struct; kernels read fields, never strings.
 *
 * Kind in the record      field in the struct
 *   "bool"                bool
 *   "int", "int >= 1"     int64_t
 *   "float"               float
 *   "string"              ef_attr_text
 *   "type", "{float, double}" (a set of dtypes)   ef_dtype
 *   "shape"               ef_shape
 *   "tensor"              const ef_tensor *       (owned by the attributes)
 *   "func"                struct ef_graph *       (owned)
 *   "{'SAME', 'VALID'}"   int                     (index into the list)
 *   "list(int)"           ef_ints     "list(float)" ef_floats   "list(type)" ef_types
 *   "list(shape)"         ef_shapes   "list(string)" ef_texts   "list(func)" ef_funcs
 *   "list(bool)"          ef_bools                                                         */
#ifndef EF_OPS_ATTR_H
#define EF_OPS_ATTR_H
#include "base/status.h"
#include "evenflow.h"

typedef struct {
    const char *at;
    size_t n;
} ef_attr_text; /* also NUL-terminated */
typedef struct {
    int n;
    const int64_t *at;
} ef_ints;
typedef struct {
    int n;
    const float *at;
} ef_floats;
typedef struct {
    int n;
    const bool *at;
} ef_bools;
typedef struct {
    int n;
    const ef_dtype *at;
} ef_types;
typedef struct {
    int n;
    const ef_shape *at;
} ef_shapes;
typedef struct {
    int n;
    const ef_attr_text *at;
} ef_texts;
typedef struct {
    int n;
    struct ef_graph *const *at;
} ef_funcs;

/* One row of a record's attribute table. value: the default in TensorFlow's notation ("false",
 * "'NHWC'", "[1, 1]", "int32"); NULL: the caller must give it. */
typedef struct ef_attr {
    const char *name, *type, *value;
    size_t at;
} ef_attr;
#define EF_ATTR(S, field, type, value) \
    { #field, type, value, offsetof(S, field) }

typedef struct ef_attr_info { /* a row's `type`, parsed */
    uint8_t kind;             /* ef_attr_kind of the values that may be given */
    bool choice;              /* EF_ATTR_STRING kept as an index into the names in `type` */
    bool bounded;             /* `min` bounds the number, or the length of the list */
    int64_t min;
    uint64_t set; /* dtypes allowed: EF_ATTR_TYPE, EF_ATTR_TYPES */
} ef_attr_info;

/* A counted, immutable set of attribute values for one op, ready for kernels. ef_attrs_make also
 * takes the type variables and counts that inputs decide (T, N): GraphDefs spell them out. They are
 * checked against what the op allows and not kept. */
const ef_attrs *ef_attrs_default(const ef_op *op); /* NULL if one has no default; do not unref */
/* As make, starting from the attributes of another op that have the same name and type (a gradient
 * op that takes its forward op's strides and padding). */
ef_status *ef_attrs_like(const ef_op *op, const ef_op *other, const void *other_attrs,
                         const ef_attr_value *set, int n, const ef_attrs **out);
const void *ef_attrs_fields(const ef_attrs *a); /* the op's struct */
/* The inverse: the set that holds `fields`; adds no reference. */
const ef_attrs *ef_attrs_around(const void *fields);
uint64_t ef_attrs_hash(const ef_attrs *a);
/* Both belong to one op. Functions are compared by structure. */
bool ef_attrs_equal(const ef_attrs *a, const ef_attrs *b);
/* Reads one attribute of a typed struct by name. */
ef_status *ef_attrs_get(const ef_op *op, const void *fields, const char *name, ef_attr_value *out);
size_t ef_attrs_bytes(const ef_attrs *a);

/* An attribute may hold a function, which is a graph. Graphs are defined in a layer above this one
 * (src/graph); that layer installs these callbacks. */
typedef struct ef_func_hooks {
    void (*ref)(struct ef_graph *g);
    void (*unref)(struct ef_graph *g);
    uint64_t (*hash)(struct ef_graph *g);
    bool (*equal)(struct ef_graph *a, struct ef_graph *b);
} ef_func_hooks;
extern ef_func_hooks ef_func;
#endif
