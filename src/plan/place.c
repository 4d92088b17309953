/* Where nodes run, and the steps that devices other than the host need: copies of values that cross
 * from one device to another, kernels on a queue, and waiting for a queue. A node runs where it was
 * asked to; otherwise where the caller of the function wants it, or where its inputs are; on the
 * host if its op has no kernel there. Each value is copied at most once to each device. Work on a
 * queue is submitted and not waited for until the host needs a value, an op has a side effect, or
 * the plan ends. A plan that uses the host only skips all of this. */
#include "plan/place.h"
#include "base/alloc.h"
#include "ops/run.h"

static const ef_op copy_op = {.id = EF_OP_COUNT, .name = "copy between devices"};
static const ef_op wait_op = {.id = EF_OP_COUNT, .name = "wait for a device"};

bool ef_graph_asks_device(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->device > EF_HOST + 1) return true;
    return false;
}

/* ---- placement ------------------------------------------------------------------------------- */

static bool involved(const ef_planner *p) {
    const ef_plan_options *o = p->options;
    for (int32_t k = 0; o->in_device != NULL && k < p->plan->n_inputs; k++)
        if (o->in_device[k] != EF_HOST) return true;
    return o->wanted > EF_HOST + 1 || ef_graph_asks_device(p->g);
}

static int wanted_for(const ef_planner *p, const ef_node *n) {
    int from = EF_HOST;
    for (int k = n->n_in; k-- > 0;) {
        int d = p->value[ef_value_at(p, n->in[k])].device;
        if (d != EF_HOST) from = d;
    }
    bool handle = n->n_in > 0 && p->value[ef_value_at(p, n->in[0])].fact.dtype == EF_RESOURCE;
    int asked = n->device != 0 ? n->device : p->options->wanted;
    if (asked != 0 && !handle) from = asked - 1;
    return from < ef_device_count() ? from : EF_HOST;
}

static bool known(const ef_fact *f) {
    return ef_dtype_in(f->dtype, EF_PLAIN) && ef_shape_known(&f->shape);
}

/* The row of the node's op for the device; NULL: there is none. *fixed: its shapes are known. */
static const ef_kernel *row_for(ef_planner *p, const ef_node *n, int device, bool *fixed,
                                ef_status **bad) {
    size_t count = (size_t)(n->n_in + n->n_out);
    ef_tensor *t = ef_notes_memory(p, (count + 1) * sizeof *t, bad);
    ef_tensor **ptr = ef_notes_memory(p, (count + 1) * sizeof *ptr, bad);
    if (*bad != NULL) return NULL;
    *fixed = !(n->op->traits & EF_DYNAMIC);
    for (int k = 0; k < (int)count; k++) {
        int32_t v = k < n->n_in ? ef_value_at(p, n->in[k]) : p->base[n->id] + k - n->n_in;
        const ef_fact *f = &p->value[v].fact;
        ef_tensor_shape_set(&t[k], f->dtype, &f->shape);
        ptr[k] = &t[k];
        *fixed = *fixed && known(f);
    }
    ef_call c = {.context = ef_context_here(),
                 .op = n->op,
                 .attrs = n->fields,
                 .n_in = n->n_in,
                 .n_out = n->n_out,
                 .in = ptr,
                 .out = ptr + n->n_in};
    const ef_kernel *row = NULL;
    ef_status_free(ef_op_kernel(&c, ef_device_kind(device), &row));
    return row;
}

/* Whether all values of the node may be on a device. */
static bool all_plain(const ef_planner *p, const ef_node *n) {
    for (int k = 0; k < n->n_in; k++)
        if (!ef_dtype_in(p->value[ef_value_at(p, n->in[k])].fact.dtype, EF_PLAIN)) return false;
    for (int k = 0; k < n->n_out; k++)
        if (!ef_dtype_in(p->value[p->base[n->id] + k].fact.dtype, EF_PLAIN)) return false;
    return true;
}

static ef_status *place_node(ef_planner *p, const ef_node *n) {
    int device = wanted_for(p, n);
    ef_status *bad = NULL;
    bool fixed;
    if (device == EF_HOST || (n->op->traits & (EF_CONTROL | EF_NO_KERNEL | EF_READS_SHAPES)))
        return NULL;
    bool view = (n->op->traits & EF_VIEW_0) && all_plain(p, n);
    const ef_kernel *row = view ? NULL : row_for(p, n, device, &fixed, &bad);
    if (bad != NULL) return bad;
    if (!view && (row == NULL || !((row->device & EF_ASIDE) || all_plain(p, n)))) return NULL;
    p->at[n->id] = (uint8_t)device;
    for (int k = 0; k < n->n_out; k++) {
        ef_pvalue *v = &p->value[p->base[n->id] + k];
        v->device = (uint8_t)device;
    }
    return NULL;
}

ef_status *ef_plan_place(ef_planner *p) {
    ef_status *s = NULL;
    if (EF_LIKELY(!involved(p))) return NULL;
    size_t room = (size_t)p->n_values * (EF_DEVICE_MOST + 1) + 1;
    p->at = ef_notes_memory(p, p->g->n_nodes + 1, &s);
    ef_pvalue *value = ef_notes_memory(p, room * sizeof *value, &s);
    p->copied = ef_notes_memory(p, room * sizeof *p->copied, &s);
    if (s != NULL) return s;
    if (p->n_values > 0) memcpy(value, p->value, (size_t)p->n_values * sizeof *value);
    p->value = value;
    p->plan->placed = true;
    for (int32_t k = 0; k < p->plan->n_inputs && p->options->in_device != NULL; k++)
        p->value[p->base[p->g->input[k]]].device = p->options->in_device[k];
    for (size_t k = 0; k < p->g->n_nodes; k++) EF_TRY(place_node(p, p->g->node[k]));
    return NULL;
}

void ef_plan_keep_outputs_home(ef_planner *p) {
    if (p->at == NULL || !(p->options->outputs_given || p->options->host_outputs)) return;
    for (int32_t k = 0; k < p->plan->n_outputs; k++) {
        ef_pvalue *v = &p->value[ef_value_at(p, p->g->output[k])];
        if (v->device != EF_HOST && ef_dtype_in(v->fact.dtype, EF_PLAIN)) v->output = false;
    }
}

/* ---- what runs ------------------------------------------------------------------------------- */

typedef struct device_step_plan { /* shared by all frames */
    int device;                   /* of the queue */
    bool to_host;                 /* a copy: its direction */
    ef_kernel_fn *run;
    void *state;
    ef_release_fn *release;
    size_t scratch_bytes;
    int32_t node, n_args;
} device_step_plan;

typedef struct device_step { /* of one frame */
    const device_step_plan *plan;
    ef_batch *batch; /* of the frame, by device */
    ef_queued queued;
} device_step;

static void device_release(void *state) {
    device_step_plan *a = state;
    if (a->release != NULL && a->state != NULL) a->release(a->state);
    ef_free(a);
}

static ef_status *device_make(ef_frame *f, ef_step *s, const void *plan_state) {
    const device_step_plan *a = plan_state;
    size_t n = (size_t)a->n_args;
    device_step *t = ef_calloc(1, sizeof *t + n * (sizeof *t->queued.arg + sizeof *t->queued.ptr));
    if (t == NULL) return ef_no_memory(sizeof *t);
    t->plan = a;
    t->batch = f->batch;
    t->queued.arg = (ef_tensor *)(t + 1);
    t->queued.ptr = (ef_tensor **)(t->queued.arg + n);
    s->call.state = t;
    return NULL;
}

static void device_rebind(ef_step *s) { (void)s; }

static void device_end(ef_step *s) {
    ef_free(s->call.state);
    s->call.state = NULL;
}

static const ef_step_kind device_kind = {device_make, device_rebind, device_end, NULL};

static ef_status *run_copy(const ef_call *c) {
    const device_step *t = c->state;
    ef_batch *b = &t->batch[t->plan->device];
    return t->plan->to_host ? ef_device_tensor_download(b, c->in[0], c->out[0])
                            : ef_device_tensor_upload(b, c->in[0], c->out[0]);
}

static ef_status *run_wait(const ef_call *c) {
    const device_step *t = c->state;
    return ef_batch_wait(&t->batch[t->plan->device]);
}

/* Host memory that the queue has not read yet must not change. */
static bool reads_host(const ef_call *c) {
    for (int k = 0; k < c->n_in; k++)
        if (c->in[k]->device == EF_HOST && ef_tensor_bytes(c->in[k]) > sizeof c->in[k]->small)
            return true;
    return false;
}

static ef_status *run_queued(const ef_call *c) {
    device_step *t = c->state;
    const device_step_plan *a = t->plan;
    ef_batch *b = &t->batch[a->device];
    ef_queued *q = &t->queued;
    void *scratch = NULL;
    for (int k = 0; k < c->n_out; k++) {
        ef_shape shape = ef_shape_from(c->out[k]);
        EF_TRY(ef_device_tensor_alloc(a->device, (ef_dtype)c->out[k]->dtype, &shape, c->out[k]));
    }
    if (a->scratch_bytes > 0) EF_TRY(ef_memory_alloc(a->device, a->scratch_bytes, &scratch));
    q->run = a->run;
    q->node = a->node;
    q->scratch = scratch;
    q->call = (ef_call){.op = c->op,
                        .attrs = c->attrs,
                        .n_in = c->n_in,
                        .n_out = c->n_out,
                        .state = a->state,
                        .unread = c->unread};
    ef_queued_submit(q, b, c->in, c->out);
    ef_memory_free(a->device, scratch, a->scratch_bytes); /* work that reuses it is queued later */
    return reads_host(c) ? ef_batch_wait(b) : NULL;
}

/* Runs ops whose shapes are not known yet, views, and kernel rows that move whole tensors. */
static ef_status *run_dynamic(const ef_call *c) {
    const device_step *t = c->state;
    int n_out = 0;
    EF_TRY(ef_batch_wait(&t->batch[t->plan->device]));
    ef_tensor *out = ef_calloc((size_t)c->n_out + 1, sizeof *out);
    if (out == NULL) return ef_no_memory((size_t)c->n_out * sizeof *out);
    ef_status *s = ef_op_run_on(c->context, t->plan->device, c->op, c->attrs, c->in, c->n_in, out,
                                c->n_out, &n_out);
    for (int k = 0; k < n_out; k++) {
        if (s == NULL && ef_dtype_in((ef_dtype)out[k].dtype, EF_PLAIN))
            s = ef_tensor_to(t->plan->device, &out[k], c->out[k]);
        else if (s == NULL)
            ef_tensor_move(c->out[k], &out[k]);
        ef_tensor_release(&out[k]);
    }
    ef_free(out);
    return s;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static ef_status *device_state(ef_plan_step *t, const device_step_plan *from) {
    device_step_plan *a = ef_malloc(sizeof *a);
    if (a == NULL) return ef_no_memory(sizeof *a);
    *a = *from;
    t->state = a;
    t->state_bytes = sizeof *a;
    t->release = device_release;
    t->kind = &device_kind;
    return NULL;
}

static ef_status *add_wait(ef_planner *p, int device) {
    ef_plan_step *t;
    if (!p->queued[device]) return NULL;
    p->queued[device] = false;
    EF_TRY(ef_plan_start_step(p, &wait_op, NULL, 0, 0, -1, &t));
    EF_TRY(device_state(t, &(device_step_plan){.device = device, .node = -1}));
    t->run = run_wait;
    p->plan->n_steps++;
    return NULL;
}

ef_status *ef_plan_waits(ef_planner *p) {
    for (int d = EF_HOST + 1; p->at != NULL && d < EF_DEVICE_MOST; d++) EF_TRY(add_wait(p, d));
    return NULL;
}

/* A constant is copied once, when the plan is made. */
static ef_status *copy_constant(ef_planner *p, int32_t from, int32_t to, int device) {
    ef_status *s = NULL;
    ef_device_constant *a = ef_plan_memory(p, sizeof *a, &s);
    if (s != NULL) return s;
    EF_TRY(ef_tensor_to(device, p->value[from].fact.value, &a->tensor));
    a->next = p->plan->device_constants;
    p->plan->device_constants = a;
    int32_t slot = ef_plan_new_slot(p, to, EF_SLOT_CONST);
    p->plan->slot[slot].value = &a->tensor;
    return NULL;
}

ef_status *ef_plan_value_on(ef_planner *p, int32_t v, int device, int32_t *out) {
    ef_pvalue *from = &p->value[v];
    bool constant = from->fact.value != NULL;
    int home = constant ? EF_HOST : from->device;
    *out = v;
    if (home == device || !ef_dtype_in(from->fact.dtype, EF_PLAIN)) return NULL;
    int32_t *copied = &p->copied[v * EF_DEVICE_MOST + device];
    if (*copied > 0) {
        *out = *copied;
        return NULL;
    }
    if (home != EF_HOST && device != EF_HOST) { /* by way of the host */
        EF_TRY(ef_plan_value_on(p, v, EF_HOST, &v));
        from = &p->value[v];
    }
    int32_t to = *copied = *out = p->n_values++;
    p->value[to] = (ef_pvalue){.fact = from->fact,
                               .slot = -1,
                               .first = INT32_MAX,
                               .last = -1,
                               .root = to,
                               .group = -1,
                               .device = (uint8_t)device,
                               .needed = true,
                               .stored = from->stored,
                               .made = true};
    if (constant) return copy_constant(p, v, to, device);
    ef_plan_step *t;
    EF_TRY(ef_plan_start_step(p, &copy_op, NULL, 1, 1, -1, &t));
    device_step_plan a = {
        .device = device == EF_HOST ? home : device, .to_host = device == EF_HOST, .node = -1};
    EF_TRY(device_state(t, &a));
    t->in[0] = ef_plan_read_slot(p, v);
    t->out[0] = ef_plan_define(p, t, to);
    t->run = run_copy;
    ef_plan_use(p, v);
    p->queued[a.device] = false; /* it waits */
    p->plan->n_copies[a.to_host ? EF_COPY_TO_HOST : EF_COPY_TO_DEVICE]++;
    p->plan->n_steps++;
    return NULL;
}

ef_status *ef_plan_output_value(ef_planner *p, int32_t k, int32_t *out) {
    int32_t v = ef_value_at(p, p->g->output[k]);
    ef_pvalue *from = &p->value[v];
    *out = v;
    if (p->at == NULL || from->device == EF_HOST) return NULL;
    bool home = p->options->outputs_given || p->options->host_outputs;
    EF_TRY(ef_plan_value_on(p, v, home ? EF_HOST : from->device, out));
    ef_pvalue *to = &p->value[*out];
    if (*out != v && to->fact.value == NULL) {
        to->output = true;
        to->last = INT32_MAX;
    }
    return NULL;
}

ef_status *ef_plan_host_inputs(ef_planner *p, const ef_node *n) {
    if (p->at == NULL) return NULL;
    if (n->op->traits & EF_EFFECT) EF_TRY(ef_plan_waits(p));
    if (n->op->traits & EF_READS_SHAPES) return NULL;
    int32_t here;
    for (int k = 0; k < n->n_in; k++)
        EF_TRY(ef_plan_value_on(p, ef_value_at(p, n->in[k]), EF_HOST, &here));
    return NULL;
}

int32_t ef_plan_here(const ef_planner *p, int32_t v) {
    if (p->at == NULL || p->value[v].fact.value != NULL || p->value[v].device == EF_HOST) return v;
    int32_t copied = p->copied[v * EF_DEVICE_MOST + EF_HOST];
    return copied > 0 ? copied : v;
}

/* A kernel for the queue, prepared once. */
static ef_status *queue_kernel(ef_planner *p, const ef_node *n, const ef_kernel *row,
                               ef_plan_step *t, device_step_plan *a) {
    ef_call c;
    EF_TRY(ef_plan_shadow(p, t, &c));
    a->run = row->run;
    if (row->scratch != NULL) a->scratch_bytes = row->scratch(&c);
    if (row->prepare != NULL) {
        EF_TRY(row->prepare(&c, &a->state));
        a->release = row->release;
    }
    p->queued[a->device] = true;
    t->run = run_queued;
    (void)n;
    return NULL;
}

ef_status *ef_plan_device_step(ef_planner *p, const ef_node *n) {
    int device = p->at[n->id];
    ef_status *s = NULL;
    ef_plan_step *t;
    bool fixed = false;
    int32_t *in = ef_notes_memory(p, ((size_t)n->n_in + 1) * sizeof *in, &s);
    if (s != NULL) return s;
    const ef_kernel *row = row_for(p, n, device, &fixed, &s);
    if (s != NULL) return s;
    bool view = n->op->traits & EF_VIEW_0; /* its other inputs give the shape */
    if (n->op->traits & EF_EFFECT) EF_TRY(ef_plan_waits(p));
    for (int k = 0; k < n->n_in; k++) {
        bool host = (k < 32 && (n->op->host_in >> k & 1)) || (view && k > 0);
        EF_TRY(ef_plan_value_on(p, ef_value_at(p, n->in[k]), host ? EF_HOST : device, &in[k]));
    }
    EF_TRY(ef_plan_start_step(p, n->op, n->fields, n->n_in, n->n_out, n->id, &t));
    for (int k = 0; k < n->n_in; k++) t->in[k] = ef_plan_read_slot(p, in[k]);
    for (int k = 0; k < n->n_out; k++) {
        ef_pvalue *v = &p->value[p->base[n->id] + k];
        v->made = true;
        if (!v->needed && k < 32) t->unread |= 1u << k;
        t->out[k] = ef_plan_define(p, t, p->base[n->id] + k);
    }
    device_step_plan a = {.device = device, .node = n->id, .n_args = n->n_in + n->n_out};
    bool queue = fixed && row != NULL && !(row->device & EF_ASIDE) && !view;
    t->run = run_dynamic;
    if (queue) EF_TRY(queue_kernel(p, n, row, t, &a));
    s = device_state(t, &a);
    if (s != NULL) {
        if (a.release != NULL && a.state != NULL) a.release(a.state);
        return s;
    }
    if (!queue) p->queued[device] = false; /* it waits */
    for (int k = 0; k < n->n_in; k++) ef_plan_use(p, in[k]);
    p->plan->n_steps++;
    return NULL;
}

/* ---- frames ---------------------------------------------------------------------------------- */

void ef_frame_wait(ef_frame *f) {
    for (int d = EF_HOST + 1; f->batch != NULL && d < EF_DEVICE_MOST; d++)
        ef_status_free(ef_batch_wait(&f->batch[d]));
}
