/* Recording on tapes. One record is made for an op however many tapes are recording. Each tape that
 * knows one of its inputs keeps a reference to the record, and knows its outputs from then on. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/small_blocks.h"
#include "eager/context.h"
#include "eager/tape/tape.h"

/* ---- which tapes record an op
 * ---------------------------------------------------------------------------------- */

/* A trainable variable is watched as soon as an op uses it. */
static bool is_trainable(const ef_tensor *t) {
    if (EF_UNLIKELY(t->flags & EF_TENSOR_SYMBOLIC)) { /* an argument of a function */
        ef_graph *g;
        ef_edge e = ef_tensor_edge(t, &g);
        const ef_fact *behind = ef_edge_fact(g, e)->handle;
        return g->node[e.node]->trains && behind != NULL &&
               ef_dtype_in(behind->dtype, EF_FLOATS | EF_COMPLEX);
    }
    const ef_variable *v = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    return v != NULL && v->trainable && ef_dtype_in(v->dtype, EF_FLOATS | EF_COMPLEX);
}

/* Under the lock. */
static void note_variable(ef_tape *t, const ef_tensor *handle) {
    if (!t->auto_watch || !is_trainable(handle)) return;
    uint64_t id = handle->flags & EF_TENSOR_SYMBOLIC ? 0 : ef_tape_id(handle);
    ef_status *s = ef_tape_watch_as(t, id, 0, NULL, handle);
    t->broken = t->broken || s != NULL;
    ef_status_free(s);
}

void ef_tape_note_variables(const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++) {
        if (EF_LIKELY(in[k]->dtype != EF_RESOURCE)) continue;
        for (size_t i = 0; i < ef_open.n; i++) {
            if (!ef_tape_here(&ef_open.at[i])) continue;
            ef_tape *t = ef_open.at[i].tape;
            ef_tape_lock(t);
            note_variable(t, in[k]);
            ef_tape_unlock(t);
        }
    }
}

static bool wants(ef_tape *t, const ef_tensor *const *in, int n_in) {
    bool any = false;
    ef_tape_lock(t);
    for (int k = 0; k < n_in; k++) {
        if (EF_UNLIKELY(in[k]->dtype == EF_RESOURCE)) note_variable(t, in[k]);
        if (!any && ef_tape_flows(in[k]))
            any = ef_tape_values_find(&t->known, ef_tape_id(in[k])) != EF_NO_PLACE;
    }
    any = any && !t->quiet;
    ef_tape_unlock(t);
    return any;
}

/* Finds the tapes that must record an op on these inputs; sets `wants` of each open tape. */
static bool ask(const ef_tensor *const *in, int n_in) {
    bool some = false, any = false;
    for (int k = 0; k < n_in && !some; k++)
        some = in[k]->tape != NULL || in[k]->dtype == EF_RESOURCE;
    if (!some) return false;
    for (size_t i = 0; i < ef_open.n; i++) {
        ef_open_tape *o = &ef_open.at[i];
        o->wants = ef_tape_here(o) && wants(o->tape, in, n_in);
        any = any || o->wants;
    }
    return any;
}

bool ef_tape_interested(const ef_tensor *const *in, int n_in) { return ask(in, n_in); }

/* ---- records
 * ------------------------------------------------------------------------------------- */

void ef_record_unref(ef_tape_record *r) {
    if (atomic_load_explicit(&r->refs, memory_order_acquire) != 1 &&
        atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int k = 0; k < r->n_in + r->n_out; k++) { /* the outputs follow the inputs */
        ef_mark_unref(r->in[k].mark);
        if (r->in[k].tensor.storage != NULL) ef_storage_unref(r->in[k].tensor.storage);
    }
    for (int k = 0; k < r->n_saved; k++) ef_tensor_release(&r->saved[k]);
    ef_attrs_unref(r->attrs);
    ef_derivative_unref(r->call);
    if (r->user_end != NULL) r->user_end(r->user);
    ef_small_block_give(r, r->bytes);
}

static void note_value(ef_tape_value *v, const ef_tensor *t, bool keep) {
    v->mark = t->tape;
    v->id = ef_tape_id(t);
    if (keep || t->dtype == EF_RESOURCE) { /* a handle is always kept: it leads to the variable */
        v->tensor = *t;
        v->tensor.tape = NULL;
        if (t->storage != NULL) ef_storage_ref(t->storage);
        if (t->data == (const void *)t->small) v->tensor.data = v->tensor.small;
        return;
    }
    v->tensor.dtype = t->dtype;
    v->tensor.rank = t->rank;
    v->tensor.device = v->tensor.flags = 0;
    v->tensor.tape = NULL;
    memcpy(v->tensor.dim, t->dim, sizeof t->dim);
    v->tensor.data = NULL;
    v->tensor.storage = NULL;
}

static bool keeps_in(const ef_op *op, int k) {
    return op != NULL && (op->keeps == 0 || k >= 15 || (op->keeps & EF_KEEP_IN(k)));
}
static bool keeps_out(const ef_op *op, int k) {
    return op != NULL && (op->keeps == 0 || k >= 14 || (op->keeps & EF_KEEP_OUT(k)));
}

/* An output gets a mark of its own if it can have a gradient. All outputs of a call get one, since
 * the gradient of an integer output is zero and not missing. */
static ef_status *mark_output(ef_tensor *out, bool all) {
    ef_tensor_unmark(out);
    if (out->dtype == EF_RESOURCE || (!all && !ef_tape_flows(out))) return NULL;
    out->tape = ef_mark_new();
    return out->tape != NULL ? NULL : ef_no_memory(sizeof(ef_mark));
}

/* A record with its values; outputs get marks. n_saved: for a call, the number of saved tensors,
 * which are zeroed; else -1. */
static ef_status *new_record(const ef_op *op, const ef_tensor *const *in, int n_in, ef_tensor *out,
                             int n_out, int n_saved, ef_tape_record **made) {
    size_t n = (size_t)(n_in + n_out), bytes = sizeof(ef_tape_record) + n * sizeof(ef_tape_value);
    for (int k = 0; k < n_out; k++) EF_TRY(mark_output(&out[k], n_saved >= 0));
    if (n_saved < 0) n_saved = 0;
    bytes += (size_t)n_saved * sizeof(ef_tensor);
    ef_tape_record *r = ef_small_block_take(bytes);
    if (r == NULL) return ef_no_memory(bytes);
    ef_tape_value *v = (ef_tape_value *)(r + 1);
    *r = (ef_tape_record){.bytes = bytes,
                          .op = op,
                          .n_in = n_in,
                          .n_out = n_out,
                          .in = v,
                          .out = v + n_in,
                          .n_saved = n_saved,
                          .saved = (ef_tensor *)(v + n)};
    atomic_init(&r->refs, 1);
    for (int k = 0; k < n_in; k++) note_value(&v[k], in[k], keeps_in(op, k));
    for (int k = 0; k < n_out; k++) {
        bool object = out[k].dtype == EF_VARIANT || out[k].dtype == EF_RESOURCE;
        note_value(&r->out[k], &out[k], keeps_out(op, k) || (op == NULL && object));
        if (out[k].dtype == EF_RESOURCE) r->out[k].id = 0; /* gradients go to the variable itself */
    }
    for (size_t k = 0; k < n; k++) ef_mark_ref(v[k].mark);
    if (n_saved > 0) memset(r->saved, 0, (size_t)n_saved * sizeof *r->saved);
    *made = r;
    return NULL;
}

/* ---- onto the tapes
 * ------------------------------------------------------------------------------ */

static size_t bytes_kept(const ef_tape_record *r) {
    size_t n = r->bytes;
    for (int k = 0; k < r->n_in + r->n_out; k++)
        if (r->in[k].tensor.storage != NULL) n += r->in[k].tensor.storage->bytes;
    for (int k = 0; k < r->n_saved; k++)
        if (r->saved[k].storage != NULL) n += r->saved[k].storage->bytes;
    return n;
}

static ef_status *append_to(ef_tape *t, ef_tape_record *r) {
    EF_TRY(EF_GROW(&t->record, &t->cap_records, t->n_records + 1));
    for (int k = 0; k < r->n_out; k++)
        if (r->out[k].id != 0) EF_TRY(ef_tape_values_add(&t->known, r->out[k].id));
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    t->record[t->n_records++] = r;
    t->n_fresh++;
    t->fresh_bytes += bytes_kept(r);
    return NULL;
}

/* Adds the record to the tapes that need it, and releases the caller's reference. */
static ef_status *append(ef_tape_record *r) {
    ef_status *s = NULL;
    for (size_t i = 0; i < ef_open.n && s == NULL; i++) {
        const ef_open_tape *o = &ef_open.at[i];
        if (!o->wants) continue;
        bool sweep = false;
        ef_tape_lock(o->tape);
        if (ef_tape_here(o)) {
            s = append_to(o->tape, r);
            sweep = ef_tape_due(o->tape);
        }
        ef_tape_unlock(o->tape);
        if (EF_UNLIKELY(sweep)) ef_tape_sweep(o->tape);
    }
    ef_record_unref(r);
    return s;
}

ef_status *ef_tape_note(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                        int n_in, ef_tensor *out, int n_out) {
    if (!ask(in, n_in) || (op->traits & EF_NO_GRAD)) return NULL;
    ef_tape_record *r;
    EF_TRY(new_record(op, in, n_in, out, n_out, -1, &r));
    r->attrs = attrs != NULL ? ef_attrs_ref(attrs) : NULL;
    return append(r);
}

ef_status *ef_tape_note_call(ef_derivative *d, int depth, const ef_tensor *const *in, int n_in,
                             ef_tensor *all, int n_out, int tracked) {
    if (!ask(in, n_in)) return NULL;
    ef_tape_record *r;
    int n_saved = tracked - n_out + ef_derivative_level(d, depth)->d.n_saved;
    EF_TRY(new_record(NULL, in, n_in, all, tracked, n_saved, &r));
    for (int k = 0; k < n_saved; k++) {
        ef_tensor_copy(&r->saved[k], &all[n_out + k]);
        ef_tensor_unmark(&r->saved[k]); /* a marked one is also an output, which has the mark */
    }
    r->n_results = n_out;
    r->depth = depth;
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    r->call = d;
    return append(r);
}

ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *)) {
    ef_tape_record *r = NULL;
    ef_status *s = ask(in, n_in) ? new_record(NULL, in, n_in, out, n_out, -1, &r) : NULL;
    if (r == NULL) {
        if (end != NULL) end(user);
        return s;
    }
    r->custom = custom;
    r->user = user;
    r->user_end = end;
    return append(r);
}
