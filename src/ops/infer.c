/* Every call is checked here before it runs or becomes a node: counts and dtypes against the op's
 * notation, then shapes by the op's own shape function. Calls of fixed arity, nearly all, take one
 * short loop over small integers; text is only made for errors. */
#include "ops/op.h"
#include <stdio.h>
#include <string.h>

/* Largest number of outputs of one op; a larger count is an error in the program. */
enum { OUTPUTS_MOST = 1 << 24 };

/* ---- errors -----------------------------------------------------------------------------------
 */

static const char *set_names(uint64_t set, char *out, size_t cap) {
    size_t n = 0;
    out[0] = 0;
    for (int t = 1; t < EF_DTYPES; t++)
        if (ef_dtype_in((ef_dtype)t, set) && n < cap)
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? ", " : "",
                                  ef_dtype_name((ef_dtype)t));
    return out;
}

static ef_status *wrong_count(const ef_op *op, const ef_signature *s, int n_in) {
    char names[400];
    size_t n = 0;
    names[0] = 0;
    for (int k = 0; k < s->n_in && n < sizeof names; k++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", s->in[k].name);
    return ef_error(EF_INVALID, "%s: takes %d input%s (%s) but got %d", op->name, s->n_in,
                    s->n_in == 1 ? "" : "s", names, n_in);
}

/* "x", or "values[3]" for an element of an argument that stands for several tensors. */
typedef struct arg_name {
    char text[48];
} arg_name;
static arg_name name_of(const struct ef_arg *a, int at) {
    arg_name n;
    if (a->is_list || a->count_attr >= 0)
        snprintf(n.text, sizeof n.text, "%.31s[%d]", a->name, at);
    else
        snprintf(n.text, sizeof n.text, "%.31s", a->name);
    return n;
}

static ef_status *not_allowed(const ef_op *op, const ef_signature *s, const struct ef_arg *a,
                              int at, ef_dtype t) {
    char names[400];
    const struct ef_type_var *v = &s->var[a->type_var];
    bool no_kernel = a->type_var == 0 && t < EF_DTYPES && ef_dtype_in(t, op->declared);
    return ef_error(no_kernel ? EF_NOT_FOUND : EF_INVALID, "%s: %s is %s; it must be one of %s",
                    op->name, name_of(a, at).text, ef_dtype_name(t),
                    set_names(v->set, names, sizeof names));
}

/* The type of a variable comes from the first argument that uses it, so the message names both. */
static ef_status *differs(const ef_op *op, const ef_signature *s, const struct ef_arg *a, int at,
                          ef_dtype first, ef_dtype t) {
    const struct ef_arg *b = s->in;
    while (b->type_var != a->type_var) b++;
    return ef_error(
        EF_INVALID, "%s: %s is %s but %s is %s; both must have the same dtype (cast one of them)",
        op->name, name_of(b, 0).text, ef_dtype_name(first), name_of(a, at).text, ef_dtype_name(t));
}

static ef_status *not_fixed(const ef_op *op, const struct ef_arg *a, int at, ef_dtype want,
                            ef_dtype t) {
    return ef_error(EF_INVALID, "%s: %s is %s but must be %s (cast it)", op->name,
                    name_of(a, at).text, ef_dtype_name(t), ef_dtype_name(want));
}

/* ---- dtypes ------------------------------------------------------------------------------------
 */

static inline ef_dtype attr_type(const ef_op *op, const void *attrs, int k) {
    return *(const ef_dtype *)((const char *)attrs + op->attr[k].at);
}
static inline const ef_types *attr_types(const ef_op *op, const void *attrs, int k) {
    return (const ef_types *)((const char *)attrs + op->attr[k].at);
}
static inline int64_t attr_int(const ef_op *op, const void *attrs, int k) {
    return *(const int64_t *)((const char *)attrs + op->attr[k].at);
}

/* Checks one input whose type is not a list; var[] holds the dtypes of the type variables seen so
 * far. */
static inline ef_status *check_one(const ef_op *op, const ef_signature *s, const void *attrs,
                                   const struct ef_arg *a, int at, ef_dtype t, ef_dtype *var) {
    int v = a->type_var;
    if (EF_LIKELY(v >= 0)) {
        if (var[v] == EF_NO_DTYPE) {
            if (EF_UNLIKELY(t <= EF_NO_DTYPE || t >= EF_DTYPES || !ef_dtype_in(t, s->var[v].set)))
                return not_allowed(op, s, a, at, t);
            var[v] = t;
        } else if (EF_UNLIKELY(var[v] != t)) {
            return differs(op, s, a, at, var[v], t);
        }
        return NULL;
    }
    ef_dtype want = a->type_attr >= 0 && attrs ? attr_type(op, attrs, a->type_attr) : a->fixed;
    return EF_LIKELY(want == t) ? NULL : not_fixed(op, a, at, want, t);
}

static inline ef_dtype out_type(const ef_op *op, const ef_signature *s, const void *attrs,
                                const struct ef_arg *a, const ef_dtype *var) {
    if (a->type_var >= 0)
        return var[a->type_var] ? var[a->type_var] : s->var[a->type_var].otherwise;
    return a->type_attr >= 0 && attrs ? attr_type(op, attrs, a->type_attr) : a->fixed;
}

static inline void preset(ef_fact *f, ef_dtype t) {
    *f = (ef_fact){.dtype = t, .shape = {.rank = -1}};
}

/* ---- counts ------------------------------------------------------------------------------------
 */

/* The number of tensors that an argument stands for; -1 if only the number of inputs can tell. */
static int known_count(const ef_op *op, const ef_signature *s, const void *attrs,
                       const struct ef_arg *a) {
    if (a->count_attr >= 0) {
        int k = s->count[a->count_attr].attr;
        if (k < 0 || !attrs) return -1;
        int64_t n = attr_int(op, attrs, k);
        return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (int)n;
    }
    if (!a->is_list) return 1;
    return a->type_attr >= 0 && attrs ? attr_types(op, attrs, a->type_attr)->n : -1;
}

static bool same_count(const struct ef_arg *a, const struct ef_arg *b) {
    return a->count_attr == b->count_attr && (a->count_attr >= 0 || a->type_var == b->type_var);
}

static ef_status *too_few(const ef_op *op, const ef_signature *s, const struct ef_arg *a, int n) {
    bool list = a->count_attr < 0;
    int min = list ? s->var[a->type_var].min : s->count[a->count_attr].min;
    if (n >= min) return NULL;
    return ef_error(EF_INVALID, "%s: %s has %d tensors; it needs at least %d", op->name, a->name, n,
                    min);
}

/* Divides the inputs whose number the attributes do not fix among the arguments of unknown count,
 * which must all have the same count variable. */
static ef_status *share_out(const ef_op *op, const ef_signature *s, int n_in, int64_t fixed,
                            ef_arity *r) {
    const struct ef_arg *open = NULL;
    int users = 0;
    for (int k = 0; k < s->n_in; k++) {
        if (r->in[k] >= 0) continue;
        if (open && !same_count(open, &s->in[k]))
            return ef_error(EF_INVALID,
                            "%s: the inputs alone do not say how many belong to %s and %s",
                            op->name, open->name, s->in[k].name);
        open = &s->in[k];
        users++;
    }
    if (n_in < fixed || (!open && n_in != fixed) || (open && (n_in - fixed) % users))
        return wrong_count(op, s, n_in);
    for (int k = 0; k < s->n_in; k++) {
        if (r->in[k] >= 0) continue;
        r->in[k] = (int)((n_in - fixed) / users);
        EF_TRY(too_few(op, s, &s->in[k], r->in[k]));
    }
    return NULL;
}

static int out_count(const ef_op *op, const ef_signature *s, const void *attrs,
                     const struct ef_arg *a, const ef_arity *r) {
    int n = known_count(op, s, attrs, a);
    for (int k = 0; k < s->n_in && n < 0; k++)
        if (same_count(a, &s->in[k])) n = r->in[k];
    return n < 0 ? 0 : n;
}

static ef_status *need_attrs(const ef_op *op, const void **attrs) {
    const ef_attrs *a = ef_attrs_default(op);
    if (!a) {
        ef_status *s = ef_attrs_make(op, NULL, 0, &a);
        if (s) return s;
    }
    *attrs = ef_attrs_fields(a);
    return NULL;
}

static ef_status *arity(const ef_op *op, const ef_signature *s, const void *attrs, int n_in,
                        ef_arity *r) {
    int64_t fixed = 0, n_out = 0;
    for (int k = 0; k < s->n_in; k++) {
        r->in[k] = known_count(op, s, attrs, &s->in[k]);
        if (r->in[k] > 0) fixed += r->in[k];
    }
    EF_TRY(share_out(op, s, n_in, fixed, r));
    for (int k = 0; k < s->n_out; k++) n_out += r->out[k] = out_count(op, s, attrs, &s->out[k], r);
    if (n_out > OUTPUTS_MOST)
        return ef_error(EF_INVALID,
                        "%s: would make %lld outputs; one op can make %d at most. Take parts of "
                        "the tensor, or keep it whole",
                        op->name, (long long)n_out, OUTPUTS_MOST);
    r->n_out = (int)n_out;
    return NULL;
}

ef_status *ef_op_arity(const ef_op *op, const void *attrs, int n_in, ef_arity *out) {
    const ef_signature *s = ef_op_signature(op);
    if (!attrs && s->n_attrs > 0) EF_TRY(need_attrs(op, &attrs));
    return arity(op, s, attrs, n_in, out);
}

/* ---- inference ---------------------------------------------------------------------------------
 */

static ef_status *no_room(const ef_op *op, int n_out, int max_out) {
    return ef_error(EF_INVALID, "%s: makes %d outputs but there is room for %d", op->name, n_out,
                    max_out);
}

/* Checks the elements of a list(type) argument, each of which has its own dtype. first: where the
 * list began. */
static ef_status *check_list(const ef_op *op, const ef_signature *s, const void *attrs,
                             const struct ef_arg *a, const ef_fact *in, int n,
                             const ef_fact **first) {
    for (int j = 0; j < n; j++) {
        ef_dtype t = in[j].dtype;
        if (a->type_attr >= 0) {
            ef_dtype want = attr_types(op, attrs, a->type_attr)->at[j];
            if (t != want) return not_fixed(op, a, j, want, t);
        } else if (t <= EF_NO_DTYPE || t >= EF_DTYPES || !ef_dtype_in(t, s->var[a->type_var].set)) {
            return not_allowed(op, s, a, j, t);
        } else if (first[a->type_var] && first[a->type_var][j].dtype != t) {
            return not_fixed(op, a, j, first[a->type_var][j].dtype, t);
        }
    }
    if (a->type_var >= 0 && !first[a->type_var]) first[a->type_var] = in;
    return NULL;
}

static ef_status *infer_variadic(const ef_op *op, const ef_signature *s, const void *attrs,
                                 const ef_fact *in, int n_in, ef_fact *out, int max_out,
                                 int *n_out) {
    ef_arity r = {.n_out = 0};
    ef_dtype var[8] = {EF_NO_DTYPE};
    const ef_fact *first[8] = {NULL};
    EF_TRY(arity(op, s, attrs, n_in, &r));
    if (r.n_out > max_out) return no_room(op, r.n_out, max_out);
    for (int k = 0; k < s->n_in; in += r.in[k++]) {
        const struct ef_arg *a = &s->in[k];
        if (a->is_list) {
            EF_TRY(check_list(op, s, attrs, a, in, r.in[k], first));
            continue;
        }
        for (int j = 0; j < r.in[k]; j++) EF_TRY(check_one(op, s, attrs, a, j, in[j].dtype, var));
    }
    for (int k = 0; k < s->n_out; out += r.out[k++]) {
        const struct ef_arg *a = &s->out[k];
        for (int j = 0; j < r.out[k]; j++) {
            ef_dtype t = !a->is_list         ? out_type(op, s, attrs, a, var)
                         : a->type_attr >= 0 ? attr_types(op, attrs, a->type_attr)->at[j]
                                             : first[a->type_var][j].dtype;
            preset(&out[j], t);
        }
    }
    *n_out = r.n_out;
    return NULL;
}

static inline ef_status *infer_fixed(const ef_op *op, const ef_signature *s, const void *attrs,
                                     const ef_fact *in, int n_in, ef_fact *out, int max_out,
                                     int *n_out) {
    ef_dtype var[8] = {EF_NO_DTYPE};
    if (EF_UNLIKELY(n_in != s->n_in)) return wrong_count(op, s, n_in);
    if (EF_UNLIKELY(s->n_out > max_out)) return no_room(op, s->n_out, max_out);
    for (int k = 0; k < n_in; k++) EF_TRY(check_one(op, s, attrs, &s->in[k], 0, in[k].dtype, var));
    for (int k = 0; k < s->n_out; k++) preset(&out[k], out_type(op, s, attrs, &s->out[k], var));
    *n_out = s->n_out;
    return NULL;
}

/* For inputs whose dtypes are in `declared`: returns the shape error that the inputs would give
 * with a supported dtype, or `refusal`, the dtype error, if the shapes are valid. */
static ef_status *shapes_first(const ef_op *op, const ef_signature *s, const void *attrs,
                               const ef_fact *in, int n_in, ef_status *refusal) {
    ef_fact as[EF_MAX_ARGS] = {{.dtype = EF_NO_DTYPE}}, out[EF_MAX_ARGS];
    int n_out;
    ef_dtype first = EF_NO_DTYPE;
    if (s->variadic || n_in != s->n_in || n_in > EF_MAX_ARGS) return refusal;
    for (int k = 0; k < n_in; k++) {
        as[k] = in[k];
        if (s->in[k].type_var != 0) continue;
        if (first == EF_NO_DTYPE) first = in[k].dtype;
        /* TensorFlow reports this first. */
        if (in[k].dtype != first) return ef_status_as(refusal, EF_INVALID);
        if (in[k].dtype >= EF_DTYPES || !ef_dtype_in(in[k].dtype, op->declared)) return refusal;
        as[k].dtype = EF_F32;
        as[k].value = NULL;
    }
    ef_status *misfit = ef_op_infer(op, attrs, as, n_in, out, EF_MAX_ARGS, &n_out);
    if (!misfit) return refusal;
    ef_status_free(refusal);
    return misfit;
}

ef_status *ef_op_infer(const ef_op *op, const void *attrs, const ef_fact *in, int n_in,
                       ef_fact *out, int max_out, int *n_out) {
    const ef_signature *s = ef_op_signature(op);
    int made = 0;
    if (EF_UNLIKELY(!attrs && s->n_attrs > 0)) EF_TRY(need_attrs(op, &attrs));
    ef_status *refusal = EF_UNLIKELY(s->variadic)
                             ? infer_variadic(op, s, attrs, in, n_in, out, max_out, &made)
                             : infer_fixed(op, s, attrs, in, n_in, out, max_out, &made);
    if (EF_UNLIKELY(refusal))
        return op->declared ? shapes_first(op, s, attrs, in, n_in, refusal) : refusal;
    if (op->shape) {
        static _Thread_local ef_fact behind;
        ef_infer i = {op, attrs, n_in, made, in, out, &behind};
        EF_TRY(op->shape(&i));
    }
    *n_out = made;
    return NULL;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

/* Index of the first tensor of argument `arg`; -1 if it has none. */
static int position(const ef_op *op, const ef_signature *s, const void *attrs, int n_in, int arg,
                    bool output) {
    ef_arity r = {.n_out = 0};
    const struct ef_arg *a = output ? s->out : s->in;
    bool plain = true;
    for (int k = 0; k < arg && s->variadic; k++) plain &= !a[k].is_list && a[k].count_attr < 0;
    if (plain) return arg;
    ef_status *failed = ef_op_arity(op, attrs, n_in, &r);
    if (failed) {
        ef_status_free(failed);
        return -1;
    }
    const int *count = output ? r.out : r.in;
    int at = 0;
    for (int k = 0; k < arg; k++) at += count[k];
    return count[arg] > 0 ? at : -1;
}

ef_dtype ef_op_key(const ef_op *op, const ef_fact *in, int n_in, const ef_fact *out, int n_out) {
    const ef_signature *s = ef_op_signature(op);
    bool output = s->key_in < 0;
    int arg = output ? s->key_out : s->key_in;
    if (arg < 0) return EF_NO_DTYPE;
    int at = position(op, s, NULL, n_in, arg, output);
    if (at < 0 || at >= (output ? n_out : n_in)) return EF_NO_DTYPE;
    return output ? (out ? out[at].dtype : EF_NO_DTYPE) : in[at].dtype;
}

ef_status *ef_op_kernel(const ef_call *c, unsigned kind, const ef_kernel **out) {
    const ef_op *op = c->op;
    const ef_signature *s = ef_op_signature(op);
    ef_dtype key = EF_NO_DTYPE;
    bool output = s->key_in < 0;
    int arg = output ? s->key_out : s->key_in;
    if (arg >= 0) {
        int at = position(op, s, c->attrs, c->n_in, arg, output);
        if (at >= 0 && at < (output ? c->n_out : c->n_in))
            key = (ef_dtype)(output ? c->out[at] : c->in[at])->dtype;
    }
    for (const ef_kernel *k = op->kernel; k < op->kernel + EF_MAX_KERNELS && k->run; k++) {
        if (!(k->device & kind) || (key != EF_NO_DTYPE && !ef_dtype_in(key, k->types))) continue;
        if (k->when && !k->when(c)) continue;
        *out = k;
        return NULL;
    }
    return ef_error(EF_NOT_FOUND,
                    "%s: there is no kernel for %s on %s (cast the inputs to a type "
                    "that has one)",
                    op->name, key ? ef_dtype_name(key) : "this call",
                    kind == EF_CPU ? "the CPU" : "this kind of device");
}

ef_tile_fn *ef_op_tile(const ef_op *op, const ef_dtype *in, int n_in, ef_dtype out,
                       const void *attrs) {
    if (op->pick_tile) return op->pick_tile(in, n_in, out, attrs);
    if (!op->tile || op->tile_key >= n_in || in[op->tile_key] >= EF_DTYPES) return NULL;
    return op->tile[in[op->tile_key]];
}
