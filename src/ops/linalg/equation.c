/* Products of all kinds as einsum equations, for passes that search for products. */
#include "ops/linalg/einsum.h"
#include "tensor/shape.h"

static bool flag(const ef_op *op, const void *fields, const char *name) {
    ef_attr_value v;
    if (fields == NULL) return false;
    ef_status *s = ef_attrs_get(op, fields, name, &v);
    ef_status_free(s);
    return s == NULL && v.kind == EF_ATTR_BOOL && v.as.b;
}

/* The batch, which is the same for all, and two labels. */
static char *write_term(char *out, int batch, char row, char col, bool turned) {
    for (int d = 0; d < batch; d++) *out++ = (char)('a' + d);
    *out++ = turned ? col : row;
    *out++ = turned ? row : col;
    return out;
}

static bool matrices(const ef_op *op, const void *fields, const ef_fact *x, const ef_fact *y,
                     char *text) {
    const bool plain = op == &ef_op_MatMul;
    const ef_shape *a = &x->shape, *b = &y->shape;
    const int batch = a->rank - 2;
    if (batch < 0 || b->rank != a->rank || !ef_dtype_in(x->dtype, EF_FLOATS)) return false;
    for (int d = 0; d < batch; d++)
        if (!ef_dim_same(a->dim[d], b->dim[d])) return false;
    text = write_term(text, batch, 'i', 'j', flag(op, fields, plain ? "transpose_a" : "adj_x"));
    *text++ = ',';
    text = write_term(text, batch, 'j', 'k', flag(op, fields, plain ? "transpose_b" : "adj_y"));
    memcpy(text, "->", 2);
    *write_term(text + 2, batch, 'i', 'k', false) = '\0';
    return true;
}

static bool is_plain(const char *text) {
    const char *term = text;
    for (const char *p = text; *p; p++) {
        if (*p == '.') return false;
        if (strchr(",->", *p) != NULL)
            term = p + 1;
        else if (memchr(term, *p, (size_t)(p - term)) != NULL)
            return false;
    }
    return true;
}

bool ef_einsum_of(const ef_op *op, const void *fields, const ef_fact *x, const ef_fact *y,
                  char text[EF_EINSUM_TEXT]) {
    if (op == &ef_op_MatMul || op == &ef_op_BatchMatMul || op == &ef_op_BatchMatMulV2)
        return matrices(op, fields, x, y, text);
    if (op != &ef_op_Einsum || fields == NULL) return false;
    const ef_einsum_attrs *t = fields;
    if (t->equation.n >= EF_EINSUM_TEXT || !is_plain(t->equation.at)) return false;
    memcpy(text, t->equation.at, t->equation.n + 1);
    return true;
}
