/* The public functions for graphs, variables, functions and settings: each checks its arguments and
 * calls the room that does the work. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/budget.h"
#include "base/free_list.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/pool.h"
#include "base/text.h"
#include "device/device.h"
#include "device/holder.h"
#include "device/memory.h"
#include "device/test.h"
#include "eager/context.h"
#include "eager/function_call.h"
#include "evenflow_binding.h"
#include "graph/origin.h"
#include "graph/sizes.h"
#include "profile/event.h"
#include "tensor/device_tensor.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- graphs
 * ----------------------------------------------------------------------------------------- */

ef_graph *ef_graph_new(void) {
    ef_eager_start();
    ef_graph *g = ef_graph_make();
    if (g != NULL) g->guarded = true;
    return g;
}

void ef_graph_free(ef_graph *g) { ef_graph_unref(g); }

ef_status *ef_graph_enter(ef_graph *g) {
    if (g == NULL) return ef_error(EF_INVALID, "ef_graph_enter: the graph is NULL");
    for (ef_graph *o = ef_here.graph; o != NULL; o = o->outer)
        if (o == g) return ef_error(EF_INVALID, "ef_graph_enter: the graph is entered already");
    EF_TRY(ef_graph_watch(g));
    ef_graph_lock(g);
    ef_graph_nest(g, ef_here.graph);
    g->part = ef_here.graph != NULL;
    ef_graph_unlock(g);
    ef_here.graph = g;
    ef_here.busy |= EF_TRACING;
    return NULL;
}

ef_status *ef_graph_leave(ef_graph *g) {
    if (g == NULL || ef_here.graph != g)
        return ef_error(EF_INVALID,
                        "ef_graph_leave: another graph was entered last; leave that first");
    ef_graph_lock(g);
    ef_here.graph = g->outer;
    ef_graph_unlock(g);
    if (ef_here.graph == NULL) ef_here.busy &= ~(unsigned)EF_TRACING;
    return NULL;
}

ef_status *ef_graph_placeholder(ef_graph *g, ef_dtype dtype, const ef_shape *shape,
                                const char *name, ef_tensor *out) {
    if (g == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_graph_placeholder: graph and out must not be NULL");
    if (ef_dtype_size(dtype) == 0)
        return ef_error(EF_INVALID, "ef_graph_placeholder: %d is not a dtype", (int)dtype);
    ef_shape any = ef_unknown_shape();
    if (shape != NULL && (shape->rank < -1 || shape->rank > EF_MAX_RANK))
        return ef_error(EF_INVALID, "ef_graph_placeholder: rank %d is not in [-1, %d]", shape->rank,
                        EF_MAX_RANK);
    ef_edge e;
    ef_graph_note_place(g);
    EF_TRY(ef_graph_input(g, dtype, shape != NULL ? shape : &any, name, &e));
    ef_graph_tensor(g, e, out);
    return NULL;
}

ef_status *ef_graph_name_next(ef_graph *g, const char *name) {
    if (g == NULL || name == NULL || name[0] == '\0')
        return ef_error(EF_INVALID, "ef_graph_name_next: graph and name must not be NULL or empty");
    static _Thread_local char text[256]; /* the arena may be rewound before the name is used */
    size_t n = strlen(name) + 1;
    if (n <= sizeof text) {
        ef_here.next_name = memcpy(text, name, n);
        return NULL;
    }
    if ((ef_here.next_name = ef_graph_text_keep(g, name)) == NULL) return ef_no_memory(n);
    return NULL;
}

ef_status *ef_graph_get(ef_graph *g, const char *name, ef_tensor *out) {
    if (g == NULL || name == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_graph_get: graph, name and out must not be NULL");
    const char *colon = strrchr(name, ':');
    size_t n = colon != NULL ? (size_t)(colon - name) : strlen(name);
    char *plain = ef_malloc(n + 1);
    if (plain == NULL) return ef_no_memory(n + 1);
    memcpy(plain, name, n);
    plain[n] = '\0';
    int32_t node = ef_graph_find(g, plain);
    ef_free(plain);
    char *end = NULL;
    long index = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    if (node < 0 || (end != NULL && *end != '\0') || index < 0 || index >= g->node[node]->n_out)
        return ef_error(EF_NOT_FOUND,
                        "the graph has no tensor '%s'; a tensor is called by its op's "
                        "name and output number, as in 'logits:0'",
                        name);
    ef_graph_tensor(g, (ef_edge){node, (int32_t)index}, out);
    return NULL;
}

/* The edges of these tensors in g; for outputs, values may be imported. */
static ef_status *edges(ef_graph *g, const ef_tensor *t, int n, bool import, ef_edge *out) {
    for (int k = 0; k < n; k++) {
        ef_graph *from = NULL;
        if (t[k].flags & EF_TENSOR_SYMBOLIC) out[k] = ef_tensor_edge(&t[k], &from);
        if (from == g) continue;
        if (!import)
            return ef_error(EF_INVALID, "ef_graph_finish: input %d is not a tensor of the graph",
                            k);
        EF_TRY(ef_graph_import(g, &t[k], &out[k]));
    }
    return NULL;
}

static ef_status *set_inputs(ef_graph *g, const ef_edge *in, int n) {
    for (int k = 0; k < n; k++) {
        if (!(g->node[in[k].node]->op->traits & EF_NO_KERNEL))
            return ef_error(EF_INVALID, "ef_graph_finish: input %d is not a placeholder", k);
        for (int j = 0; j < k; j++)
            if (in[j].node == in[k].node)
                return ef_error(EF_INVALID, "ef_graph_finish: inputs %d and %d are the same", j, k);
    }
    EF_TRY(EF_GROW(&g->input, &g->cap_inputs, (size_t)n + 1));
    for (int k = 0; k < n; k++) g->input[k] = in[k].node;
    g->n_inputs = (size_t)n;
    g->hash = 0;
    for (int k = 0; k < n; k++) ef_graph_uncapture(g, in[k].node); /* they are parameters now */
    return NULL;
}

ef_status *ef_graph_finish(ef_graph *g, const ef_tensor *in, int n_in, const ef_tensor *out,
                           int n_out) {
    if (g == NULL || n_in < 0 || n_out < 0 || (n_in > 0 && in == NULL) ||
        (n_out > 0 && out == NULL))
        return ef_error(EF_INVALID, "ef_graph_finish: graph, in and out must not be NULL");
    size_t n = (size_t)(n_in > n_out ? n_in : n_out) + 1;
    ef_edge *e = ef_malloc(n * sizeof *e);
    if (e == NULL) return ef_no_memory(n * sizeof *e);
    ef_status *s = edges(g, in, n_in, false, e);
    if (s == NULL) s = set_inputs(g, e, n_in);
    if (s == NULL) s = edges(g, out, n_out, true, e);
    if (s == NULL) s = ef_graph_set_outputs(g, e, n_out);
    if (s == NULL) g->function = true;
    ef_free(e);
    return s;
}

int ef_graph_captures(const ef_graph *g) { return g != NULL ? (int)g->n_captures : 0; }

ef_status *ef_graph_capture(const ef_graph *g, int k, ef_tensor *out) {
    if (g == NULL || out == NULL || k < 0 || (size_t)k >= g->n_captures)
        return ef_error(EF_INVALID, "ef_graph_capture: there is no capture %d", k);
    ef_tensor_copy(out, &g->capture[k].tensor);
    return NULL;
}

ef_status *ef_graph_print(const ef_graph *g, char **text) {
    if (g == NULL || text == NULL)
        return ef_error(EF_INVALID, "ef_graph_print: graph and text must not be NULL");
    return ef_graph_text(g, text);
}

void ef_text_release(char *text) { ef_free(text); }

/* ---- variables
 * -------------------------------------------------------------------------------------- */

ef_status *ef_variable_begin(ef_variable *v, const ef_tensor *value) {
    int wanted = ef_context_here()->wanted;
    bool plain = ef_dtype_in(v->dtype, EF_PLAIN);
    v->device = EF_HOST;
    if (plain && wanted > 0)
        v->device = (uint8_t)(wanted - 1);
    else if (plain && value != NULL)
        v->device = value->device;
    if (value == NULL) return NULL;
    if (EF_LIKELY(v->device == EF_HOST && value->device == EF_HOST)) {
        EF_TRY(ef_tensor_materialize((ef_tensor *)value));
        return ef_variable_write(v, value);
    }
    ef_tensor there = {0};
    EF_TRY(ef_tensor_to(v->device, value, &there));
    ef_status *s = ef_variable_write(v, &there);
    ef_tensor_release(&there);
    return s;
}

void ef_variable_handle(ef_variable *v, ef_tensor *handle) {
    ef_tensor_from_object(handle, EF_RESOURCE, &v->object);
    handle->device = v->device;
}

ef_status *ef_variable_new(const ef_tensor *value, const char *name, ef_tensor *handle) {
    if (value == NULL || handle == NULL || value->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_variable_new: value and handle must not be NULL");
    if (value->flags & EF_TENSOR_SYMBOLIC)
        return ef_error(EF_INVALID, "ef_variable_new: the value is symbolic; a variable needs one");
    ef_shape shape = ef_shape_from(value);
    ef_variable *v;
    EF_TRY(ef_variable_make((ef_dtype)value->dtype, &shape, name, &v));
    v->trainable = true;
    ef_status *s = ef_variable_begin(v, value);
    if (s != NULL)
        ef_storage_unref(&v->object.base);
    else
        ef_variable_handle(v, handle);
    return s;
}

static ef_status *behind(const ef_tensor *handle, ef_variable **out) {
    *out = handle != NULL ? (ef_variable *)ef_tensor_object(handle, EF_OBJECT_VARIABLE) : NULL;
    if (*out == NULL) return ef_error(EF_INVALID, "the tensor is not a variable's handle");
    return NULL;
}

ef_status *ef_variable_get(const ef_tensor *handle, ef_tensor *value) {
    ef_variable *v;
    EF_TRY(behind(handle, &v));
    if (value == NULL) return ef_error(EF_INVALID, "ef_variable_get: value is NULL");
    return ef_variable_read(v, value);
}

ef_status *ef_variable_set(const ef_tensor *handle, const ef_tensor *value) {
    ef_variable *v;
    EF_TRY(behind(handle, &v));
    if (value == NULL || (value->flags & EF_TENSOR_SYMBOLIC) || value->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_variable_set: the value is NULL, released or symbolic");
    EF_TRY(ef_tensor_materialize((ef_tensor *)value));
    return ef_variable_write(v, value);
}

/* ---- tracing
 * ---------------------------------------------------------------------------------------- */

enum { MOST_RESULTS = 512 };

/* Arrays for the results of a trace, whose number is not known beforehand. All zero. */
static ef_free_list rooms;

static ef_status *keep_outputs(ef_graph *g, const ef_tensor *out, int n) {
    ef_edge *e = ef_malloc(((size_t)n + 1) * sizeof *e);
    if (e == NULL) return ef_no_memory((size_t)n * sizeof *e);
    ef_status *s = NULL;
    for (int k = 0; k < n && s == NULL; k++) s = ef_graph_import(g, &out[k], &e[k]);
    if (s == NULL) s = ef_graph_set_outputs(g, e, n);
    ef_free(e);
    return s;
}

ef_status *ef_trace_now(ef_graph *g, ef_trace_fn *fn, void *user, ef_trace_notes *notes) {
    size_t n = g->n_inputs;
    ef_tensor *in = ef_calloc(n + 1, sizeof *in),
              *out = ef_free_list_take(&rooms, MOST_RESULTS * sizeof *out);
    ef_status *s = NULL;
    int n_out = 0;
    if (in == NULL || out == NULL) {
        s = ef_no_memory(MOST_RESULTS * sizeof *out);
        goto done;
    }
    for (size_t k = 0; k < n; k++) ef_graph_tensor(g, (ef_edge){g->input[k], 0}, &in[k]);
    ef_thread_state before = ef_here;
    ef_graph_nest(g, ef_here.graph);
    EF_TRY_GOTO(ef_graph_watch(g));
    if (g->outer != NULL && g->sizes != NULL && g->sizes != g->outer->sizes)
        g->sizes->outer = ef_sizes_ref(g->outer->sizes);
    int wanted = ef_want_device(0); /* the caller's request applies to the function as a whole */
    ef_here.graph = g;
    ef_here.busy = EF_TRACING;
    ef_here.next_name = ef_here.next_kind = NULL;
    ef_here.notes = notes;
    s = fn(user, in, (int)n, out, MOST_RESULTS, &n_out);
    ef_want_device(wanted);
    ef_here = before;
    if (s == NULL && (n_out < 0 || n_out > MOST_RESULTS))
        s = ef_error(EF_INVALID, "a traced function returned %d results; the most is %d", n_out,
                     MOST_RESULTS);
    if (s == NULL && !notes->given) s = keep_outputs(g, out, n_out);
    g->outer = NULL; /* only now, as a result may be a tensor of a graph around */
done:
    for (size_t k = 0; in != NULL && k < n; k++) ef_tensor_release(&in[k]);
    for (int k = 0; out != NULL && k < n_out && k < MOST_RESULTS; k++) ef_tensor_release(&out[k]);
    ef_free(in);
    if (s == NULL)
        ef_free_list_give(&rooms, out);
    else /* it may not be zero */
        ef_free(out);
    return s;
}

void ef_trace_needs_sizes(void) {
    if (ef_here.notes != NULL) ef_here.notes->sizes = true;
    if (ef_here.graph != NULL) ef_sizes_read_all(ef_here.graph->sizes);
}

ef_status *ef_trace_give(const ef_tensor *out, int n) {
    if (ef_here.notes == NULL || n < 0 || (out == NULL && n > 0))
        return ef_error(EF_INVALID, "ef_trace_give: outside a trace, or without results");
    EF_TRY(keep_outputs(ef_here.graph, out, n));
    ef_here.notes->given = true;
    return NULL;
}

void ef_trace_set_user(void *user, void (*ref)(void *), void (*end)(void *)) {
    ef_trace_notes *notes = ef_here.notes;
    if (notes == NULL) { /* there is no trace to attach it to */
        if (end != NULL) end(user);
        return;
    }
    if (notes->user_end != NULL) notes->user_end(notes->user);
    notes->user = user;
    notes->user_ref = ref;
    notes->user_end = end;
}

static atomic_bool started;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) {
    ef_mutex_prepare();
    ef_events_start();
    ef_defer_bytes = ef_option_int("EF_DEFER_BYTES", ef_defer_bytes);
    atomic_store_explicit(&ef_small_calls, ef_defer_bytes > 0, memory_order_relaxed);
    atomic_store_explicit(&started, true, memory_order_release);
}

void ef_eager_start(void) {
    if (EF_LIKELY(atomic_load_explicit(&started, memory_order_acquire))) return;
    pthread_once(&once, start);
}

/* ---- settings
 * ----------------------------------------------------------------------------------------- */

static ef_status *device_number(const char *name, int *out) {
    *out = ef_device_find(name);
    if (*out >= 0) return NULL;
    char known[64 * EF_DEVICE_MOST] = "";
    for (int d = 0; d < ef_device_count(); d++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d > 0 ? ", " : "",
                 ef_device_name(d));
    return ef_error(EF_INVALID, "there is no device '%s'; the devices are: %s",
                    name != NULL ? name : "(null)", known);
}

ef_status *ef_context_set(const ef_context_options *options) {
    ef_context_options o = options != NULL ? *options : (ef_context_options){0};
    int device = -1;
    if (o.device != NULL) EF_TRY(device_number(o.device, &device));
    if (!(o.weight == 0 || (o.weight >= 0.01 && o.weight <= 1)))
        return ef_error(EF_INVALID, "ef_context_set: the weight is %g; it must be from 0.01 to 1",
                        o.weight);
    if (o.threads < 0)
        return ef_error(EF_INVALID, "ef_context_set: %d threads; give 0 for no limit, or more",
                        o.threads);
    ef_context *c = ef_context_here();
    ef_want_device(device + 1);
    c->weight = o.weight > 0 ? (float)o.weight : 1;
    c->threads = o.threads;
    return NULL;
}

ef_status *ef_memory_usage_get(const char *device, ef_memory_usage *out) {
    int d;
    EF_TRY(device_number(device, &d));
    if (out == NULL) return ef_error(EF_INVALID, "ef_memory_usage_get: out is NULL");
    ef_memory_info info;
    ef_memory_info_get(d, &info);
    *out = (ef_memory_usage){info.current, info.peak, info.cached, info.limit};
    return NULL;
}

ef_status *ef_memory_limit_set(const char *device, int64_t bytes) {
    int d;
    EF_TRY(device_number(device, &d));
    if (bytes < 0)
        return ef_error(EF_INVALID, "ef_memory_limit_set: %lld bytes; give 0 for no limit, or more",
                        (long long)bytes);
    ef_memory_set_limit(d, bytes);
    return NULL;
}

void ef_memory_peak_reset(const char *device) {
    int d = ef_device_find(device);
    if (d >= 0) ef_memory_reset_peak(d);
}
void ef_memory_release_cached(void) {
    for (int d = 0; d < ef_device_count(); d++) ef_memory_trim(d);
}

/* ---- devices
 * ----------------------------------------------------------------------------------------- */

int ef_device_names(const char **names, int max) {
    int n = ef_device_count();
    for (int d = 0; d < n && d < max; d++) names[d] = ef_device_name(d);
    return n;
}
const char *ef_tensor_device(const ef_tensor *t) {
    return t != NULL ? ef_device_name(t->device) : NULL;
}
ef_status *ef_tensor_copy_to(const ef_tensor *t, const char *device, ef_tensor *out) {
    int d;
    EF_TRY(device_number(device, &d));
    if (t == NULL || out == NULL || t->dtype == EF_NO_DTYPE || (t->flags & EF_TENSOR_SYMBOLIC))
        return ef_error(EF_INVALID,
                        "ef_tensor_copy_to: the tensor is NULL, released or symbolic, or out is "
                        "NULL");
    return ef_tensor_to(d, t, out);
}
int ef_device_want(int wanted) {
    int n = ef_device_count(); /* with the host alone, requests are ignored */
    return ef_want_device(n > 1 && wanted > 0 && wanted <= n ? wanted : 0);
}
int ef_device_wanted(void) { return ef_context_here()->wanted; }
int ef_device_number(const char *name) { return ef_device_find(name); }
void ef_device_copy_counts(uint64_t *to, uint64_t *from) {
    *to = *from = 0;
    for (int d = EF_HOST + 1; d < EF_DEVICE_MOST; d++) {
        ef_copy_counts c;
        ef_device_copies(d, &c);
        *to += c.n[EF_COPY_TO_DEVICE];
        *from += c.n[EF_COPY_TO_HOST];
    }
}
ef_status *ef_test_device_set(bool there) {
    return there ? ef_test_device_start() : ef_test_device_stop();
}

int ef_cache_info_get(ef_cache_info *out, int max) {
    for (int k = 0; k < EF_KEPT_COUNT && k < max; k++) {
        ef_kept_info i;
        ef_kept_info_get((ef_kept)k, &i);
        out[k] = (ef_cache_info){ef_kept_name((ef_kept)k), i.bytes, i.entries, i.made, i.evicted};
    }
    return EF_KEPT_COUNT;
}

void ef_cache_limit_set(int64_t bytes) { ef_budget_limit(bytes); }
int64_t ef_cache_limit_get(void) { return ef_budget_limit_get(); }

int64_t ef_trace_bytes(void) {
    ef_kept_info traces;
    ef_kept_info_get(EF_KEPT_TRACES, &traces);
    return traces.bytes;
}

ef_status *ef_memory_report(char **text) {
    if (text == NULL) return ef_error(EF_INVALID, "ef_memory_report: text is NULL");
    ef_memory_info m;
    ef_text t = {0};
    char held[400];
    ef_memory_info_get(EF_HOST, &m);
    ef_holder_report(8, m.current - ef_holder_total(), held, sizeof held);
    ef_text_add(&t, "CPU:0: %s in use, %s at most, %s kept for reuse, limit %s\n",
                EF_BYTES(m.current), EF_BYTES(m.peak), EF_BYTES(m.cached),
                m.limit > 0 ? EF_BYTES(m.limit) : "none");
    ef_text_add(&t, "largest holders: %s\n", held[0] ? held : "none");
    for (int d = EF_HOST + 1; d < ef_device_count(); d++) {
        ef_memory_info_get(d, &m);
        ef_text_add(&t, "%s: %s in use in %lld blocks, %s at most, limit %s\n", ef_device_name(d),
                    EF_BYTES(m.current), (long long)m.blocks, EF_BYTES(m.peak),
                    m.limit > 0 ? EF_BYTES(m.limit) : "none");
    }
    int64_t sum = 0;
    for (int k = 0; k < EF_KEPT_COUNT; k++) {
        ef_kept_info i;
        ef_kept_info_get((ef_kept)k, &i);
        sum += i.bytes;
        ef_text_add(&t, "%s: %s in %lld entries, %llu made, %llu evicted\n",
                    ef_kept_name((ef_kept)k), EF_BYTES(i.bytes), (long long)i.entries,
                    (unsigned long long)i.made, (unsigned long long)i.evicted);
    }
    ef_text_add(&t, "all caches: %s of %s\n", EF_BYTES(sum), EF_BYTES(ef_budget_limit_get()));
    if (t.failed) {
        ef_text_free(&t);
        return ef_no_memory(t.n);
    }
    *text = t.at;
    return NULL;
}
void ef_programs_clear(void) {
    ef_derivative_clear();
    ef_compile_clear();
}
void ef_threads_set(int n) { ef_pool_limit(n > 0 ? n : 0); }
int ef_threads_get(void) { return ef_pool_size(); }
uint64_t ef_allocations(void) { return ef_alloc_count(); }
int ef_allocation_fail(uint64_t k) {
    int happened = ef_alloc_failed();
    ef_alloc_fail_at(k);
    return happened;
}
const char *ef_version(void) { return "0.1.0"; }
