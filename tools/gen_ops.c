/* Writes ef_ops.h: one typed inline function per op, from the registry. The header it writes uses
 * evenflow.h alone and is valid C11 and C++17.   gen_ops [path]   (standard output without one) */
#include "ops/signature.h"

#include <stdio.h>
#include <string.h>

static FILE *to;
static const ef_op *op;
static const ef_signature *sig;

static const char preamble[] =
    "/* One typed function per op; generated from the registry, do not edit.\n"
    " *\n"
    " *   ef_do_MatMul(&a, &b, NULL, &product);                 all attributes at their defaults\n"
    " *   ef_MatMul_options o = ef_MatMul_default();\n"
    " *   o.transpose_b = true;\n"
    " *   ef_do_MatMul(&a, &b, &o, &product);\n"
    " *\n"
    " * Parameters come in this order: the inputs; attributes that have no default; the options, "
    "if\n"
    " * there are attributes that have one (NULL: all defaults); the outputs. Inputs that stand "
    "for\n"
    " * several tensors are an array of pointers and a count. An output pointer may be NULL: that\n"
    " * result is dropped. Where the number of outputs varies they go to one array: `outputs` with "
    "room\n"
    " * for max_outputs, and *n_outputs says how many were made. Strings that name a choice\n"
    " * (\"SAME\") are checked by the op. Results must be released; after a failure they are "
    "untouched.\n"
    " *\n"
    " * Attributes other than the defaults are checked anew in each call; in a hot loop make them "
    "once\n"
    " * with ef_attrs_make and use ef_call_op. */\n"
    "#ifndef EF_OPS_H\n"
    "#define EF_OPS_H\n"
    "#include <evenflow.h>\n"
    "#include <stdlib.h>\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "/* Looks an op up once per place of use. */\n"
    "static inline const ef_op *ef_ops_find(const ef_op **cache, const char *name) {\n"
    "    const ef_op *op = __atomic_load_n(cache, __ATOMIC_ACQUIRE);\n"
    "    if (op == NULL) {\n"
    "        op = ef_op_find(name);\n"
    "        __atomic_store_n(cache, op, __ATOMIC_RELEASE);\n"
    "    }\n"
    "    return op;\n"
    "}\n"
    "/* Hands over the results of a call: to[k] gets from[k], or nobody does. */\n"
    "static inline void ef_ops_give(ef_tensor *const *to, ef_tensor *from, int n) {\n"
    "    for (int k = 0; k < n; k++) {\n"
    "        if (to[k] != NULL) ef_tensor_copy(to[k], &from[k]);\n"
    "        ef_tensor_release(&from[k]);\n"
    "    }\n"
    "}\n";

/* ---- names -------------------------------------------------------------------------------------
 */

typedef struct ident {
    char text[48];
} ident;

/* The keywords of C and C++, and names that the generated functions use. */
static const char *const taken[] = {
    "and",      "auto",     "bool",    "break",    "case",    "catch",     "char",   "class",
    "const",    "continue", "default", "delete",   "do",      "double",    "else",   "enum",
    "explicit", "export",   "extern",  "false",    "float",   "for",       "friend", "goto",
    "if",       "inline",   "int",     "long",     "mutable", "namespace", "new",    "not",
    "operator", "options",  "or",      "outputs",  "private", "protected", "public", "register",
    "return",   "short",    "signed",  "sizeof",   "static",  "struct",    "switch", "template",
    "this",     "throw",    "true",    "try",      "typedef", "typename",  "union",  "unsigned",
    "using",    "virtual",  "void",    "volatile", "while",   "xor"};

static ident safe(const char *name) {
    ident n = {""};
    snprintf(n.text, sizeof n.text, "%s", name);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (strcmp(name, taken[k]) == 0) snprintf(n.text, sizeof n.text, "%s_", name);
    return n;
}

static bool several(const struct ef_arg *a) { return a->is_list || a->count_attr >= 0; }

static bool varies(void) { /* the number of outputs does */
    for (int k = 0; k < sig->n_out; k++)
        if (several(&sig->out[k])) return true;
    return false;
}

/* An output named like an input or an attribute is called <name>_out. */
static ident out_name(int k) {
    ident n = safe(sig->out[k].name);
    bool again = false;
    for (int j = 0; j < sig->n_in; j++) again |= strcmp(sig->in[j].name, sig->out[k].name) == 0;
    for (int j = 0; j < sig->n_attrs; j++) again |= strcmp(op->attr[j].name, sig->out[k].name) == 0;
    if (again) snprintf(n.text, sizeof n.text, "%s_out", sig->out[k].name);
    return n;
}

/* An attribute named like an input is called <name>_attr. */
static ident attr_name(int k) {
    ident n = safe(op->attr[k].name);
    for (int j = 0; j < sig->n_in; j++)
        if (strcmp(sig->in[j].name, op->attr[k].name) == 0)
            snprintf(n.text, sizeof n.text, "%s_attr", op->attr[k].name);
    return n;
}

/* ---- attributes --------------------------------------------------------------------------------
 */

static const struct {
    const char *type, *kind, *member;
} kinds[] = {
    [EF_ATTR_BOOL] = {"bool ", "EF_ATTR_BOOL", "b"},
    [EF_ATTR_INT] = {"int64_t ", "EF_ATTR_INT", "i"},
    [EF_ATTR_FLOAT] = {"float ", "EF_ATTR_FLOAT", "f"},
    [EF_ATTR_STRING] = {"const char *", "EF_ATTR_STRING", "s"},
    [EF_ATTR_TYPE] = {"ef_dtype ", "EF_ATTR_TYPE", "type"},
    [EF_ATTR_SHAPE] = {"const ef_shape *", "EF_ATTR_SHAPE", "shape"},
    [EF_ATTR_TENSOR] = {"const ef_tensor *", "EF_ATTR_TENSOR", "tensor"},
    [EF_ATTR_FUNC] = {"ef_graph *", "EF_ATTR_FUNC", "func"},
    [EF_ATTR_INTS] = {"const int64_t *", "EF_ATTR_INTS", "ints"},
    [EF_ATTR_FLOATS] = {"const float *", "EF_ATTR_FLOATS", "floats"},
    [EF_ATTR_BOOLS] = {"const bool *", "EF_ATTR_BOOLS", "bools"},
    [EF_ATTR_TYPES] = {"const ef_dtype *", "EF_ATTR_TYPES", "types"},
    [EF_ATTR_SHAPES] = {"const ef_shape *", "EF_ATTR_SHAPES", "shapes"},
    [EF_ATTR_STRINGS] = {"const char *const *", "EF_ATTR_STRINGS", "strings"},
    [EF_ATTR_FUNCS] = {"ef_graph *const *", "EF_ATTR_FUNCS", "funcs"},
};
static bool is_list(int k) { return sig->attr[k].kind >= EF_ATTR_INTS; }
static bool optional(int k) { return op->attr[k].value != NULL; }
static bool has_options(void) {
    for (int k = 0; k < sig->n_attrs; k++)
        if (optional(k)) return true;
    return false;
}

static const char *dtype_symbol(ef_dtype t) {
    static const char *const symbol[EF_DTYPES] = {[EF_F32] = "EF_F32",
                                                  [EF_F64] = "EF_F64",
                                                  [EF_I32] = "EF_I32",
                                                  [EF_U8] = "EF_U8",
                                                  [EF_I16] = "EF_I16",
                                                  [EF_I8] = "EF_I8",
                                                  [EF_STRING] = "EF_STRING",
                                                  [EF_C64] = "EF_C64",
                                                  [EF_I64] = "EF_I64",
                                                  [EF_BOOL] = "EF_BOOL",
                                                  [EF_BF16] = "EF_BF16",
                                                  [EF_U16] = "EF_U16",
                                                  [EF_C128] = "EF_C128",
                                                  [EF_F16] = "EF_F16",
                                                  [EF_RESOURCE] = "EF_RESOURCE",
                                                  [EF_VARIANT] = "EF_VARIANT",
                                                  [EF_U32] = "EF_U32",
                                                  [EF_U64] = "EF_U64",
                                                  [EF_QI8] = "EF_QI8",
                                                  [EF_QU8] = "EF_QU8",
                                                  [EF_QI16] = "EF_QI16",
                                                  [EF_QU16] = "EF_QU16",
                                                  [EF_QI32] = "EF_QI32",
                                                  [EF_F8E5M2] = "EF_F8E5M2",
                                                  [EF_F8E4M3FN] = "EF_F8E4M3FN",
                                                  [EF_F8E4M3FNUZ] = "EF_F8E4M3FNUZ",
                                                  [EF_F8E4M3B11FNUZ] = "EF_F8E4M3B11FNUZ",
                                                  [EF_F8E5M2FNUZ] = "EF_F8E5M2FNUZ",
                                                  [EF_F4E2M1FN] = "EF_F4E2M1FN",
                                                  [EF_I4] = "EF_I4",
                                                  [EF_U4] = "EF_U4",
                                                  [EF_I2] = "EF_I2",
                                                  [EF_U2] = "EF_U2"};
    return t < EF_DTYPES && symbol[t] ? symbol[t] : "EF_NO_DTYPE";
}

static void put_text(const char *s) {
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\' || *s == '\n') fputc('\\', to);
        fputc(*s == '\n' ? 'n' : *s, to);
    }
    fputc('"', to);
}

static void put_int(int64_t v) {
    if (v == INT64_MIN)
        fprintf(to, "INT64_MIN");
    else
        fprintf(to, "INT64_C(%lld)", (long long)v);
}

static void put_float(double v) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", v);
    fprintf(to, "%s%sF", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_shape(const ef_shape *s) {
    fprintf(to, "{%d, 0, {", (int)s->rank);
    for (int d = 0; d < EF_MAX_RANK; d++)
        fprintf(to, "%s%lld", d ? ", " : "", (long long)(d < s->rank ? s->dim[d] : 0));
    fprintf(to, "}}");
}

static void put_scalar(const ef_attr_value *v) {
    switch (v->kind) {
    case EF_ATTR_BOOL: fprintf(to, v->as.b ? "true" : "false"); break;
    case EF_ATTR_INT: put_int(v->as.i); break;
    case EF_ATTR_FLOAT: put_float(v->as.f); break;
    case EF_ATTR_STRING: put_text(v->as.s); break;
    case EF_ATTR_TYPE: fprintf(to, "%s", dtype_symbol(v->as.type)); break;
    default: fprintf(to, "NULL");
    }
}

static void put_member(const ef_attr_value *v, int k) {
    switch (v->kind) {
    case EF_ATTR_INTS: put_int(v->as.ints[k]); break;
    case EF_ATTR_FLOATS: put_float(v->as.floats[k]); break;
    case EF_ATTR_BOOLS: fprintf(to, v->as.bools[k] ? "true" : "false"); break;
    case EF_ATTR_TYPES: fprintf(to, "%s", dtype_symbol(v->as.types[k])); break;
    case EF_ATTR_SHAPES: put_shape(&v->as.shapes[k]); break;
    default: put_text(v->as.strings[k]);
    }
}

/* The static constant that a default points to, if it is a list or a shape. */
static void put_constant(const char *n, const ef_attr_value *v) {
    static const char *const element[] = {
        [EF_ATTR_INTS] = "int64_t",    [EF_ATTR_FLOATS] = "float",
        [EF_ATTR_BOOLS] = "bool",      [EF_ATTR_TYPES] = "ef_dtype",
        [EF_ATTR_SHAPES] = "ef_shape", [EF_ATTR_STRINGS] = "char *const"};
    if (v->kind == EF_ATTR_SHAPE) {
        fprintf(to, "    static const ef_shape %s = ", n);
        put_shape(v->as.shape);
        fprintf(to, ";\n");
    }
    if (v->kind < EF_ATTR_INTS || v->n == 0) return;
    fprintf(to, "    static const %s %s[] = {", element[v->kind], n);
    for (int k = 0; k < v->n; k++) {
        if (k) fprintf(to, ", ");
        put_member(v, k);
    }
    fprintf(to, "};\n");
}

static void put_default(int k) {
    ef_attr_value v = {.kind = EF_ATTR_INT};
    ef_attr_room room;
    ident n = attr_name(k);
    if (ef_attr_text_parse(&sig->attr[k], op->attr[k].value, &v, &room)) return;
    put_constant(n.text, &v);
    fprintf(to, "    o.%s = ", n.text);
    if (v.kind == EF_ATTR_SHAPE)
        fprintf(to, "&%s", n.text);
    else if (v.kind >= EF_ATTR_INTS)
        fprintf(to, v.n ? "%s" : "NULL", n.text);
    else
        put_scalar(&v);
    fprintf(to, ";\n");
    if (is_list(k)) fprintf(to, "    o.n_%s = %d;\n", n.text, v.n);
}

static void put_options(void) {
    fprintf(to, "typedef struct ef_%s_options {\n", op->name);
    for (int k = 0; k < sig->n_attrs; k++) {
        if (!optional(k)) continue;
        ident n = attr_name(k);
        fprintf(to, "    %s%s;", kinds[sig->attr[k].kind].type, n.text);
        fprintf(to, " /* %s = %s */\n", op->attr[k].type, op->attr[k].value);
        if (is_list(k)) fprintf(to, "    int n_%s;\n", n.text);
    }
    fprintf(to, "} ef_%s_options;\n", op->name);
    fprintf(to, "static inline ef_%s_options ef_%s_default(void) {\n", op->name, op->name);
    fprintf(to, "    ef_%s_options o;\n", op->name);
    for (int k = 0; k < sig->n_attrs; k++)
        if (optional(k)) put_default(k);
    fprintf(to, "    return o;\n}\n");
}

/* ---- functions ---------------------------------------------------------------------------------
 */

static void put_comma(bool *first) {
    if (!*first) fprintf(to, ", ");
    *first = false;
}

static void put_parameters(void) {
    bool first = true;
    for (int k = 0; k < sig->n_in; k++) {
        ident n = safe(sig->in[k].name);
        put_comma(&first);
        if (several(&sig->in[k]))
            fprintf(to, "const ef_tensor *const *%s, int n_%s", n.text, n.text);
        else
            fprintf(to, "const ef_tensor *%s", n.text);
    }
    for (int k = 0; k < sig->n_attrs; k++) {
        if (optional(k)) continue;
        ident n = attr_name(k);
        put_comma(&first);
        fprintf(to, "%s%s", kinds[sig->attr[k].kind].type, n.text);
        if (is_list(k)) fprintf(to, ", int n_%s", n.text);
    }
    if (has_options()) {
        put_comma(&first);
        fprintf(to, "const ef_%s_options *options", op->name);
    }
    if (varies()) {
        put_comma(&first);
        fprintf(to, "ef_tensor *outputs, int max_outputs, int *n_outputs");
    }
    for (int k = 0; k < sig->n_out && !varies(); k++) {
        put_comma(&first);
        fprintf(to, "ef_tensor *%s", out_name(k).text);
    }
    if (first) fprintf(to, "void");
}

static void put_set(int *at, int k, const char *from) {
    ident n = attr_name(k);
    fprintf(to, "        ef_ops_%s(&ef_set[%d], \"%s\", ", kinds[sig->attr[k].kind].member, *at,
            op->attr[k].name);
    if (is_list(k)) fprintf(to, "%sn_%s, ", from, n.text);
    fprintf(to, "%s%s);\n", from, n.text);
    (*at)++;
}

/* One setter per kind of attribute. */
static void put_setters(void) {
    for (int k = 0; k <= EF_ATTR_FUNCS; k++) {
        bool list = k >= EF_ATTR_INTS;
        fprintf(to, "static inline void ef_ops_%s(ef_attr_value *v, const char *name, %s%sx) {\n",
                kinds[k].member, list ? "int n, " : "", kinds[k].type);
        fprintf(to,
                "    v->name = name;\n    v->kind = %s;\n    v->n = %s;\n    v->as.%s = x;\n}\n",
                kinds[k].kind, list ? "n" : "0", kinds[k].member);
    }
}

static void put_attrs(void) {
    int required = 0, at = 0;
    for (int k = 0; k < sig->n_attrs; k++) required += !optional(k);
    if (sig->n_attrs == 0) return;
    fprintf(to, "    const ef_attrs *ef_a = NULL;\n");
    fprintf(to, required == 0 ? "    if (options != NULL) {\n" : "    {\n");
    fprintf(to, "        ef_attr_value ef_set[%d];\n", sig->n_attrs);
    if (required && has_options())
        fprintf(to, "        ef_%s_options ef_o = options != NULL ? *options : ef_%s_default();\n",
                op->name, op->name);
    for (int k = 0; k < sig->n_attrs; k++)
        put_set(&at, k, !optional(k) ? "" : required ? "ef_o." : "options->");
    fprintf(to, "        ef_status *ef_bad = ef_attrs_make(ef_op_, ef_set, %d, &ef_a);\n", at);
    fprintf(to, "        if (ef_bad != NULL) return ef_bad;\n    }\n");
}

/* Joins several input arrays into one; if the allocation fails, the call itself reports it. */
static void put_joined_inputs(void) {
    fprintf(to, "    const ef_tensor *ef_few[64], **ef_in = ef_few;\n    int ef_n_in = 0, ef_k, "
                "ef_all = 0");
    for (int k = 0; k < sig->n_in; k++) {
        if (several(&sig->in[k]))
            fprintf(to, " + n_%s", safe(sig->in[k].name).text);
        else
            fprintf(to, " + 1");
    }
    fprintf(to,
            ";\n    if (ef_all > 64)\n        ef_in = (const ef_tensor **)malloc((size_t)ef_all * "
            "sizeof *ef_in);\n");
    for (int k = 0; k < sig->n_in; k++) {
        ident n = safe(sig->in[k].name);
        if (several(&sig->in[k]))
            fprintf(to,
                    "    for (ef_k = 0; ef_in != NULL && ef_k < n_%s; ef_k++) ef_in[ef_n_in++] = "
                    "%s[ef_k];\n",
                    n.text, n.text);
        else
            fprintf(to, "    if (ef_in != NULL) ef_in[ef_n_in++] = %s;\n", n.text);
    }
}

/* Sets the names of the input array and its count. Returns whether the array may need freeing. */
static bool put_inputs(ident *array, ident *count) {
    bool list = false;
    for (int k = 0; k < sig->n_in; k++) list |= several(&sig->in[k]);
    snprintf(count->text, sizeof count->text, "%d", sig->n_in);
    if (sig->n_in == 0) {
        snprintf(array->text, sizeof array->text, "NULL");
    } else if (!list) {
        fprintf(to, "    const ef_tensor *ef_in[%d] = {", sig->n_in);
        for (int k = 0; k < sig->n_in; k++)
            fprintf(to, "%s%s", k ? ", " : "", safe(sig->in[k].name).text);
        fprintf(to, "};\n");
        snprintf(array->text, sizeof array->text, "ef_in");
    } else if (sig->n_in == 1) {
        *array = safe(sig->in[0].name);
        snprintf(count->text, sizeof count->text, "n_%.40s", array->text);
        return false;
    } else {
        put_joined_inputs();
        snprintf(array->text, sizeof array->text, "ef_in");
        snprintf(count->text, sizeof count->text, "ef_all");
        return true;
    }
    return false;
}

/* Writes the call and the code that passes on its results. */
static void put_call(const char *array, const char *count) {
    const char *attrs = sig->n_attrs ? "ef_a" : "NULL";
    if (varies()) {
        fprintf(to,
                "    ef_status *ef_s = ef_call_op(ef_op_, %s, %s, %s, outputs, max_outputs, "
                "n_outputs);\n",
                attrs, array, count);
        return;
    }
    if (sig->n_out == 0) {
        fprintf(to,
                "    int ef_n = 0;\n    ef_status *ef_s = ef_call_op(ef_op_, %s, %s, %s, NULL, 0, "
                "&ef_n);\n",
                attrs, array, count);
        return;
    }
    if (sig->n_out == 1) { /* written directly to the caller's tensor */
        ident n = out_name(0);
        fprintf(to,
                "    int ef_n = 0;\n    ef_tensor ef_drop, *ef_out = %s != NULL ? %s : &ef_drop;\n",
                n.text, n.text);
        fprintf(to, "    ef_status *ef_s = ef_call_op(ef_op_, %s, %s, %s, ef_out, 1, &ef_n);\n",
                attrs, array, count);
        fprintf(to, "    if (ef_s == NULL && ef_out == &ef_drop) ef_tensor_release(&ef_drop);\n");
        return;
    }
    fprintf(to, "    int ef_n = 0;\n    ef_tensor ef_made[%d];\n", sig->n_out);
    fprintf(to, "    ef_tensor *const ef_to[%d] = {", sig->n_out);
    for (int k = 0; k < sig->n_out; k++) fprintf(to, "%s%s", k ? ", " : "", out_name(k).text);
    fprintf(to, "};\n    ef_status *ef_s = ef_call_op(ef_op_, %s, %s, %s, ef_made, %d, &ef_n);\n",
            attrs, array, count, sig->n_out);
    fprintf(to, "    if (ef_s == NULL) ef_ops_give(ef_to, ef_made, %d);\n", sig->n_out);
}

static void put_function(void) {
    ident array = {""}, count = {""};
    fprintf(to, "\n/* %s: %s */\n", op->name, op->doc ? op->doc : "");
    if (has_options()) put_options();
    fprintf(to, "static inline ef_status *ef_do_%s(", op->name);
    put_parameters();
    fprintf(to, ") {\n    static const ef_op *ef_cache;\n");
    fprintf(to, "    const ef_op *ef_op_ = ef_ops_find(&ef_cache, \"%s\");\n", op->name);
    put_attrs();
    bool joined = put_inputs(&array, &count);
    put_call(array.text, count.text);
    if (joined) fprintf(to, "    if (ef_in != ef_few) free((void *)ef_in);\n");
    if (sig->n_attrs) fprintf(to, "    ef_attrs_unref(ef_a);\n");
    fprintf(to, "    return ef_s;\n}\n");
}

int main(int argc, char **argv) {
    to = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (!to) {
        fprintf(stderr, "gen_ops: cannot write %s\n", argv[1]);
        return 1;
    }
    fputs(preamble, to);
    put_setters();
    for (int id = 0; id < EF_OP_COUNT; id++) {
        op = ef_op_table[id];
        sig = ef_op_signature(op);
        put_function();
    }
    fputs("\n#ifdef __cplusplus\n}\n#endif\n#endif\n", to);
    bool failed = ferror(to) != 0;
    if (to != stdout) failed |= fclose(to) != 0;
    return failed;
}
