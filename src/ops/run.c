/* Runs one op eagerly. The order is always the same: infer shapes (so that errors come before any
 * work), choose the kernel row, allocate the outputs, run. After a failure nothing is left
 * allocated. */
#include "ops/run.h"
#include "base/alloc.h"
#include "base/interrupt.h"
#include "tensor/scratch.h"

enum { ON_STACK = 16 }; /* up to this many arguments need no heap memory */

void ef_fact_of(const ef_tensor *t, ef_fact *fact, ef_fact *handle) {
    fact->dtype = (ef_dtype)t->dtype;
    fact->shape = ef_shape_from(t);
    fact->value = t;
    fact->handle = NULL;
    if (t->dtype != EF_RESOURCE || handle == NULL) return;
    const ef_variable *v = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    if (v == NULL) return;
    *handle = (ef_fact){.dtype = v->dtype, .shape = v->shape};
    fact->handle = handle;
}

static void release_all(ef_tensor *t, int n) {
    for (int k = 0; k < n; k++) ef_tensor_release(&t[k]);
}

/* Out 0 has in 0's bytes with the inferred shape. */
static ef_status *run_view(ef_tensor *const *in, const ef_fact *facts, ef_tensor *out) {
    ef_shape s = facts[0].shape;
    if (!ef_shape_known(&s)) s = ef_shape_from(in[0]);
    if (in[0]->storage == NULL && in[0]->data != (void *)in[0]->small) { /* borrowed: copy */
        EF_TRY(ef_tensor_clone(out, in[0]));
        ef_tensor_shape_set(out, (ef_dtype)out->dtype, &s);
        return NULL;
    }
    ef_tensor_reshaped(out, in[0], &s);
    return NULL;
}

/* Bytes of results that take some 50 us: small inputs may ask for any number of them. */
static const size_t large_bytes = (size_t)1 << 20;

static ef_status *run_kernel(ef_call *c, const ef_kernel *k) {
    if (k->scratch == NULL) return k->run(c);
    size_t bytes = k->scratch(c);
    if (bytes == 0) return k->run(c);
    c->scratch = ef_scratch_take(bytes);
    if (c->scratch == NULL) return ef_no_memory(bytes);
    ef_status *s = k->run(c);
    ef_scratch_end(c->scratch);
    return s;
}

ef_status *ef_op_execute(ef_context *context, const ef_op *op, const void *attrs,
                         ef_tensor *const *in, int n_in, const ef_fact *facts, uint32_t unread,
                         ef_tensor *out, int n_out) {
    if (op->traits & EF_VIEW_0) return run_view(in, facts, out);
    ef_tensor *few[ON_STACK], **outs = few;
    if (n_out > ON_STACK && (outs = ef_malloc((size_t)n_out * sizeof *outs)) == NULL)
        return ef_no_memory((size_t)n_out * sizeof *outs);
    ef_status *s = NULL;
    size_t bytes = 0;
    for (int k = 0; k < n_out; k++) {
        outs[k] = &out[k];
        memset(outs[k], 0, sizeof *outs[k]);
        if (ef_dtype_in(facts[k].dtype, EF_PLAIN) && ef_shape_known(&facts[k].shape) &&
            !(op->traits & EF_SHARES_OUT)) {
            if ((s = ef_tensor_alloc(outs[k], facts[k].dtype, &facts[k].shape)) != NULL) {
                release_all(out, k);
                goto done;
            }
            bytes += ef_tensor_bytes(outs[k]);
        } else {
            ef_tensor_shape_set(outs[k], facts[k].dtype, &facts[k].shape);
        }
    }
    ef_call c = {.context = context,
                 .op = op,
                 .attrs = attrs,
                 .n_in = n_in,
                 .n_out = n_out,
                 .unread = unread,
                 .in = in,
                 .out = outs};
    const ef_kernel *row;
    if (EF_UNLIKELY(bytes > large_bytes)) ef_interrupt_takes_long();
    if ((s = ef_op_kernel(&c, EF_CPU, &row)) == NULL) s = run_kernel(&c, row);
    if (s != NULL) release_all(out, n_out);
done:
    if (outs != few) ef_free(outs);
    return s;
}

ef_status *ef_op_run(ef_context *context, const ef_op *op, const void *attrs, ef_tensor *const *in,
                     int n_in, ef_tensor *out, int max_out, int *n_out) {
    return ef_op_run_some(context, op, attrs, in, n_in, 0, out, max_out, n_out);
}

ef_status *ef_op_run_some(ef_context *context, const ef_op *op, const void *attrs,
                          ef_tensor *const *in, int n_in, uint32_t unread, ef_tensor *out,
                          int max_out, int *n_out) {
    ef_fact few[ON_STACK], few_handles[ON_STACK], few_outs[ON_STACK];
    ef_fact *facts = few, *handles = few_handles, *outs = few_outs;
    void *many = NULL;
    const ef_signature *takes = ef_op_signature(op);
    if (!takes->variadic && max_out > takes->n_out) max_out = takes->n_out; /* all it can have */
    if (n_in > ON_STACK || max_out > ON_STACK) {
        size_t n = 2 * (size_t)n_in + (size_t)max_out;
        if ((many = ef_malloc(n * sizeof *facts)) == NULL) return ef_no_memory(n * sizeof *facts);
        facts = many;
        handles = facts + n_in;
        outs = handles + n_in;
    }
    for (int k = 0; k < n_in; k++) ef_fact_of(in[k], &facts[k], &handles[k]);
    ef_status *s = ef_op_infer(op, attrs, facts, n_in, outs, max_out, n_out);
    if (s == NULL) s = ef_op_execute(context, op, attrs, in, n_in, outs, unread, out, *n_out);
    ef_free(many);
    return s;
}
