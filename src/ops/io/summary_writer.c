/* Summary writers: SummaryWriter makes a handle, CreateSummaryFileWriter opens its file. */
#include "base/alloc.h"
#include "ops/io/summary.h"
#include "ops/state/variable_scope.h"

static void writer_end(ef_storage *self) {
    ef_summary_writer *w = (ef_summary_writer *)self;
    ef_status_free(ef_event_file_close(w->file));
    ef_mutex_destroy(&w->lock);
    ef_free(w);
}

ef_status *ef_summary_writer_make(ef_summary_writer **out) {
    ef_summary_writer *w = ef_calloc(1, sizeof *w);
    if (w == NULL) return ef_no_memory(sizeof *w);
    ef_object_init(&w->object, EF_OBJECT_WRITER, "summary writer", writer_end);
    ef_mutex_init(&w->lock, EF_RANK_WRITER, EF_MUTEX_PLAIN);
    *out = w;
    return NULL;
}

ef_status *ef_call_writer(const ef_call *c, ef_summary_writer **out) {
    *out = (ef_summary_writer *)ef_tensor_object(c->in[0], EF_OBJECT_WRITER);
    if (*out != NULL) return NULL;
    return ef_error(EF_INVALID, "%s: input 0 is not the handle of a summary writer", c->op->name);
}

static ef_status *no_file(const ef_call *c) {
    return ef_error(EF_NOT_FOUND,
                    "%s: the summary writer does not exist: it was closed, or its init() was not "
                    "run; create another one",
                    c->op->name);
}

ef_status *ef_summary_write(const ef_call *c, ef_summary_writer *w, const ef_text *event) {
    if (event->failed) return ef_no_memory(event->n);
    ef_mutex_lock(&w->lock);
    ef_status *s = w->file != NULL ? ef_event_file_put(w->file, event->at, event->n) : no_file(c);
    ef_mutex_unlock(&w->lock);
    return s;
}

/* ---- SummaryWriter --------------------------------------------------------------------------- */

typedef struct attrs {
    ef_attr_text shared_name, container;
} attrs;

static ef_status *make_object(const void *how, const char *name, ef_object **out) {
    (void)how;
    (void)name;
    return ef_summary_writer_make((ef_summary_writer **)out);
}

static ef_status *handle_run(const ef_call *c) {
    const attrs *a = c->attrs;
    ef_object *made = NULL;
    if (a->shared_name.n == 0)
        EF_TRY(make_object(NULL, NULL, &made));
    else
        EF_TRY(ef_scope_object(&a->container, &a->shared_name, make_object, NULL, &made));
    if (made->kind == EF_OBJECT_WRITER) {
        ef_out_object(c, 0, made);
        return NULL;
    }
    ef_status *s = ef_error(EF_INVALID, "%s: %s is a %s; use another shared_name", c->op->name,
                            a->shared_name.at, made->type_name);
    ef_storage_unref(&made->base);
    return s;
}

const ef_op ef_op_SummaryWriter = {
    EF_NAMED(SummaryWriter),
    .doc = "The handle of a summary writer, which has no file yet.",
    .out = {"writer: resource"},
    .attr = {EF_ATTR(attrs, shared_name, "string", "''"),
             EF_ATTR(attrs, container, "string", "''")},
    .attr_size = sizeof(attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(handle_run),
    .examples = {""},
};

/* ---- CreateSummaryFileWriter, FlushSummaryWriter, CloseSummaryWriter ------------------------- */

static ef_status *scalars(ef_infer *i) {
    for (int k = 0; k < i->n_in; k++) EF_TRY(ef_need_rank(i, k, 0));
    return NULL;
}

static ef_status *create_run(const ef_call *c) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    const ef_str *folder = ef_strs(c->in[1]), *suffix = ef_strs(c->in[4]);
    ef_status *s = NULL;
    ef_mutex_lock(&w->lock);
    if (w->file == NULL)
        s = ef_event_file_open(folder->at, folder->n, suffix->at, suffix->n, ef_in_int(c, 2, 0),
                               ef_in_int(c, 3, 0), &w->file);
    ef_mutex_unlock(&w->lock);
    return s;
}

const ef_op ef_op_CreateSummaryFileWriter = {
    EF_NAMED(CreateSummaryFileWriter),
    .doc = "Opens an event file in the folder `logdir` for the writer, unless it has one.",
    .in = {"writer: resource", "logdir: string", "max_queue: int32", "flush_millis: int32",
           "filename_suffix: string"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .data_in = 4 | 8,
    .shape = scalars,
    .kernel = EF_ANY_KERNEL(create_run),
    .examples = {"writer(open) string[]{/dev/null} int32[]{10} int32[]{1000} string[]{.v2}"},
};

static ef_status *flush_run(const ef_call *c) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    ef_mutex_lock(&w->lock);
    ef_status *s = w->file != NULL ? ef_event_file_flush(w->file) : NULL;
    ef_mutex_unlock(&w->lock);
    return s;
}

const ef_op ef_op_FlushSummaryWriter = {
    EF_NAMED(FlushSummaryWriter),
    .doc = "Flushes buffered events to the writer's file.",
    .in = {"writer: resource"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = scalars,
    .kernel = EF_ANY_KERNEL(flush_run),
    .examples = {"writer(open)"},
};

static ef_status *close_run(const ef_call *c) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    ef_mutex_lock(&w->lock);
    ef_event_file *file = w->file;
    w->file = NULL;
    ef_mutex_unlock(&w->lock);
    return ef_event_file_close(file);
}

const ef_op ef_op_CloseSummaryWriter = {
    EF_NAMED(CloseSummaryWriter),
    .doc = "Flushes buffered events and closes the writer's file.",
    .in = {"writer: resource"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = scalars,
    .kernel = EF_ANY_KERNEL(close_run),
    .examples = {"writer(closed)"},
};
