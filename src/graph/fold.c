/* Known values. Shapes are computed with ordinary ops (Shape, StridedSlice, Pack ...), so to infer
 * the shape of a Reshape one must know the few integers it is computed from. If all inputs of a
 * cheap pure op are known, shape inference runs the op and keeps its result in the fact. */
#include "base/alloc.h"
#include "base/array.h"
#include "graph/graph.h"
#include "ops/run.h"

enum { FOLD_ELEMENTS = 64, FOLD_INPUTS = 16 };

void ef_value_owner_free(ef_value_owner *o) {
    for (size_t k = 0; k < o->n; k++) {
        ef_tensor_release(o->item[k]);
        ef_free(o->item[k]);
    }
    ef_free(o->item);
    *o = (ef_value_owner){0};
}

static bool small_and_plain(const ef_fact *f) {
    int64_t n = ef_shape_known(&f->shape) ? ef_shape_count(&f->shape) : -1;
    return n >= 0 && n <= FOLD_ELEMENTS && ef_dtype_in(f->dtype, EF_PLAIN);
}

static bool can_fold(const ef_op *op, const ef_fact *in, int n_in, const ef_fact *out, int n_out) {
    if ((op->traits & (EF_STATEFUL | EF_EFFECT | EF_CONTROL | EF_NO_KERNEL | EF_HEAVY)) ||
        n_in > FOLD_INPUTS || n_in == 0 || n_out == 0 || n_out > FOLD_INPUTS)
        return false;
    for (int k = 0; k < n_out; k++)
        if (!small_and_plain(&out[k])) return false;
    for (int k = 0; k < n_in; k++) {
        if (op->traits & EF_READS_SHAPES) {
            if (!ef_shape_known(&in[k].shape)) return false;
        } else if (in[k].value == NULL || in[k].value->data == NULL) {
            return false;
        }
    }
    return true;
}

static ef_status *keep(ef_value_owner *o, ef_tensor *t, ef_fact *fact) {
    EF_TRY(EF_GROW(&o->item, &o->cap, o->n + 1));
    ef_tensor *own = ef_malloc(sizeof *own);
    if (own == NULL) return ef_no_memory(sizeof *own);
    ef_tensor_move(own, t);
    o->item[o->n++] = own;
    fact->value = own;
    fact->shape = ef_shape_from(own);
    return NULL;
}

ef_status *ef_fact_set_number(ef_fact *out, int64_t number, ef_value_owner *owner) {
    int32_t narrow = (int32_t)number;
    ef_tensor t;
    if (out->dtype != EF_I64 && (out->dtype != EF_I32 || narrow != number)) return NULL;
    const void *value = out->dtype == EF_I64 ? (const void *)&number : (const void *)&narrow;
    EF_TRY(ef_tensor_from(out->dtype, NULL, value, &t));
    ef_status *s = keep(owner, &t, out);
    ef_tensor_release(&t);
    return s;
}

/* An op without inputs that returns a tensor attribute: a constant. */
static void constant_value(const ef_op *op, const void *attrs, ef_fact *out) {
    const ef_signature *s = ef_op_signature(op);
    for (int k = 0; k < s->n_attrs; k++)
        if (s->attr[k].kind == EF_ATTR_TENSOR && strcmp(op->attr[k].name, "value") == 0)
            out->value = *(const ef_tensor *const *)((const char *)attrs + op->attr[k].at);
}

ef_status *ef_fact_fold(const ef_op *op, const void *attrs, const ef_fact *in, int n_in,
                        ef_fact *out, int n_out, ef_value_owner *owner) {
    for (int k = 0; k < n_out; k++) out[k].value = NULL;
    if (n_in == 0 && n_out == 1 && attrs != NULL) {
        constant_value(op, attrs, out);
        return NULL;
    }
    if (!can_fold(op, in, n_in, out, n_out)) return NULL;
    ef_tensor shapes[FOLD_INPUTS], results[FOLD_INPUTS], *ins[FOLD_INPUTS];
    for (int k = 0; k < n_in; k++) {
        ins[k] = (ef_tensor *)in[k].value; /* kernels only read their inputs */
        if (!(op->traits & EF_READS_SHAPES)) continue;
        memset(&shapes[k], 0, sizeof shapes[k]);
        ef_tensor_shape_set(&shapes[k], in[k].dtype, &in[k].shape);
        shapes[k].data = shapes[k].small;
        ins[k] = &shapes[k];
    }
    memset(results, 0, (size_t)n_out * sizeof *results);
    ef_status *s = ef_op_execute(ef_context_here(), op, attrs, ins, n_in, out, 0, results, n_out);
    if (s != NULL) { /* it may be part of a graph; it will fail with this error when it runs */
        ef_code code = ef_status_code(s);
        if (code == EF_NO_MEMORY) return s;
        ef_status_free(s);
        return NULL;
    }
    for (int k = 0; k < n_out && s == NULL; k++) s = keep(owner, &results[k], &out[k]);
    for (int k = 0; k < n_out; k++) ef_tensor_release(&results[k]);
    return s;
}
