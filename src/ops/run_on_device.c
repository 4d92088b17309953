/* Runs one op on a device other than the host: inputs are copied to the device that runs the op,
 * outputs get memory there, and the kernel is put on the device's queue. An op that has no kernel
 * row for the device runs on the host, and so does one whose output shapes are known only after it
 * has run. */
#include "base/alloc.h"
#include "ops/run.h"

/* ---- a kernel on a queue --------------------------------------------------------------------- */

/* Makes a separate tensor header for queued work, which uses the bytes of t until it has run. */
static void bind(const ef_device *d, const ef_tensor *t, ef_tensor *arg) {
    ef_shape shape = ef_shape_from(t);
    ef_tensor_shape_set(arg, (ef_dtype)t->dtype, &shape);
    arg->device = arg->flags = 0;
    arg->tape = NULL;
    arg->storage = NULL;
    if (t->device != EF_HOST) {
        arg->data = d->reach(ef_device_tensor_address(t));
    } else if ((size_t)ef_count(t) * ef_dtype_size((ef_dtype)t->dtype) <= sizeof arg->small) {
        memcpy(arg->small, t->data, (size_t)ef_count(t) * ef_dtype_size((ef_dtype)t->dtype));
        arg->data = arg->small;
    } else {
        arg->data = t->data;
    }
}

static ef_status *run_queued(ef_work *w) {
    ef_queued *q = (ef_queued *)w;
    q->call.context = ef_context_here();
    ef_status *s = q->run(&q->call);
    if (s != NULL && q->node >= 0) ef_status_at_node(s, q->node);
    return s;
}

void ef_queued_submit(ef_queued *q, ef_batch *b, ef_tensor *const *in, ef_tensor *const *out) {
    const ef_device *d = ef_device_get(b->device);
    int n_in = q->call.n_in, n = n_in + q->call.n_out;
    for (int k = 0; k < n; k++) {
        bind(d, k < n_in ? in[k] : out[k - n_in], &q->arg[k]);
        q->ptr[k] = &q->arg[k];
    }
    q->call.in = q->ptr;
    q->call.out = q->ptr + n_in;
    q->call.scratch = d->reach(q->scratch);
    ef_batch_submit(b, &q->work, run_queued);
}

/* ---- one op ---------------------------------------------------------------------------------- */

enum { FEW = 12 };
typedef struct away_run {
    ef_context *context;
    int device;
    const ef_op *op;
    const void *attrs;
    int n_in, max_out, n_out;
    ef_tensor *const *in;
    ef_tensor *moved; /* the inputs on the device where they are needed; owned */
    ef_tensor **moved_ptr;
    ef_fact *fact, *handle, *result;
    ef_tensor *out, **out_ptr;
} away_run;

static bool plain(const ef_tensor *t) { return ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN); }

static ef_status *infer(away_run *r) {
    for (int k = 0; k < r->n_in; k++) {
        ef_fact_of(r->in[k], &r->fact[k], &r->handle[k]);
        if (r->in[k]->data == NULL) r->fact[k].value = NULL; /* the host cannot read the value */
    }
    return ef_op_infer(r->op, r->attrs, r->fact, r->n_in, r->result, r->max_out, &r->n_out);
}

static bool all_known(const away_run *r) {
    for (int k = 0; k < r->n_out; k++)
        if (!ef_dtype_in(r->result[k].dtype, EF_PLAIN) || !ef_shape_known(&r->result[k].shape))
            return false;
    return true;
}

/* Shapes depend on axes and sizes, so these are copied to the host first. */
static ef_status *infer_known(away_run *r) {
    EF_TRY(infer(r));
    bool changed = false;
    for (int k = 0; k < r->n_in && !all_known(r); k++) {
        if (r->in[k]->data != NULL || !ef_dtype_in((ef_dtype)r->in[k]->dtype, EF_INTS)) continue;
        EF_TRY(ef_tensor_materialize(r->in[k]));
        changed = true;
    }
    return changed ? infer(r) : NULL;
}

static ef_status *move_inputs(away_run *r, int device, uint32_t host_in) {
    for (int k = 0; k < r->n_in; k++) {
        bool stays = k < 32 && (host_in >> k & 1);
        EF_TRY(ef_tensor_to(stays ? EF_HOST : device, r->in[k], &r->moved[k]));
        r->moved_ptr[k] = &r->moved[k];
    }
    return NULL;
}

static ef_status *run_on_host(away_run *r) {
    if (r->op->traits & EF_READS_SHAPES) /* only shapes are read, so the elements need no copy */
        return ef_op_run(r->context, r->op, r->attrs, r->in, r->n_in, r->out, r->max_out,
                         &r->n_out);
    EF_TRY(move_inputs(r, EF_HOST, 0));
    return ef_op_run(r->context, r->op, r->attrs, r->moved_ptr, r->n_in, r->out, r->max_out,
                     &r->n_out);
}

static ef_status *queue_kernel(away_run *r, const ef_kernel *row, ef_call *c) {
    ef_batch batch = {.device = r->device};
    ef_queued q = {.run = row->run, .call = *c, .node = -1};
    size_t n = (size_t)(r->n_in + r->n_out), bytes = row->scratch != NULL ? row->scratch(c) : 0;
    if ((q.arg = ef_calloc(n + 1, sizeof *q.arg + sizeof *q.ptr)) == NULL)
        return ef_no_memory(n * sizeof *q.arg);
    q.ptr = (ef_tensor **)(q.arg + n);
    ef_status *s = bytes > 0 ? ef_memory_alloc(r->device, bytes, &q.scratch) : NULL;
    if (s == NULL) {
        ef_queued_submit(&q, &batch, r->moved_ptr, r->out_ptr);
        s = ef_batch_wait(&batch);
    }
    if (bytes > 0) ef_memory_free(r->device, q.scratch, bytes);
    ef_free(q.arg);
    return s;
}

static ef_status *run_there(away_run *r, const ef_kernel *row, ef_call *c) {
    EF_TRY(move_inputs(r, r->device, r->op->host_in));
    c->in = r->moved_ptr;
    if (row->device & EF_ASIDE) return row->run(c);
    for (int k = 0; k < r->n_out; k++)
        EF_TRY(
            ef_device_tensor_alloc(r->device, r->result[k].dtype, &r->result[k].shape, &r->out[k]));
    return queue_kernel(r, row, c);
}

/* Out 0 has in 0's bytes with another shape. The input is copied to the device if it is not
 * there. */
static ef_status *run_view(away_run *r) {
    EF_TRY(ef_tensor_to(r->device, r->in[0], &r->moved[0]));
    ef_tensor_reshaped(&r->out[0], &r->moved[0], &r->result[0].shape);
    return NULL;
}

static ef_status *run_one(away_run *r) {
    EF_TRY(infer_known(r));
    for (int k = 0; k < r->n_out; k++) {
        memset(&r->out[k], 0, sizeof r->out[k]);
        ef_tensor_shape_set(&r->out[k], r->result[k].dtype, &r->result[k].shape);
        r->out_ptr[k] = &r->out[k];
    }
    if (r->op->traits & EF_READS_SHAPES) return run_on_host(r);
    if ((r->op->traits & EF_VIEW_0) && plain(r->in[0])) {
        if (all_known(r)) return run_view(r);
        return run_on_host(r);
    }
    const ef_kernel *row;
    ef_call c = {.context = r->context,
                 .op = r->op,
                 .attrs = r->attrs,
                 .n_in = r->n_in,
                 .n_out = r->n_out,
                 .in = r->in,
                 .out = r->out_ptr,
                 .device = r->device};
    ef_status *none = ef_op_kernel(&c, ef_device_kind(r->device), &row);
    if (none != NULL || (!(row->device & EF_ASIDE) && !all_known(r))) {
        ef_status_free(none);
        return run_on_host(r);
    }
    return run_there(r, row, &c);
}

ef_status *ef_op_run_on(ef_context *context, int device, const ef_op *op, const void *attrs,
                        ef_tensor *const *in, int n_in, ef_tensor *out, int max_out, int *n_out) {
    size_t n = (size_t)n_in, m = (size_t)max_out;
    size_t bytes = (2 * n + m) * sizeof(ef_fact) + n * sizeof(ef_tensor) + (n + m) * sizeof(void *);
    ef_fact *room = ef_calloc(1, bytes + 1);
    if (room == NULL) return ef_no_memory(bytes);
    away_run r = {.context = context,
                  .device = device,
                  .op = op,
                  .attrs = attrs,
                  .n_in = n_in,
                  .max_out = max_out,
                  .in = in,
                  .fact = room,
                  .handle = room + n,
                  .result = room + 2 * n,
                  .out = out};
    r.moved = (ef_tensor *)(room + 2 * n + m);
    r.moved_ptr = (ef_tensor **)(r.moved + n);
    r.out_ptr = r.moved_ptr + n;
    ef_status *s = device == EF_HOST ? run_on_host(&r) : run_one(&r);
    for (int k = 0; k < n_in; k++) ef_tensor_release(&r.moved[k]);
    for (int k = 0; s != NULL && k < r.n_out && k < max_out; k++) ef_tensor_release(&out[k]);
    ef_free(room);
    *n_out = r.n_out;
    return s;
}
