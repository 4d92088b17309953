/* Writing event files. The record writer's buffer is the queue: events are counted, and the buffer
 * is written out when there are enough of them. */
#include "file/events.h"
#include "base/alloc.h"
#include "evenflow_binding.h"
#include "file/whole_file.h"
#include "file/wire.h"
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

struct ef_event_file {
    ef_record_writer *w;
    int64_t queue, flush_ns, waiting, flushed_at;
};

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void ef_logged_begin(ef_text *t, int64_t step) {
    const int64_t us = now_ns(CLOCK_REALTIME) / 1000;
    ef_wire_put_double(t, EF_LOGGED_WALL_TIME, (double)us / 1e6);
    if (step != 0) ef_wire_put_number(t, EF_LOGGED_STEP, (uint64_t)step);
}

static ef_status *put_version(ef_event_file *f) {
    static const char version[] = "brain.Event:2", writer[] = "evenflow.file.events";
    ef_text t = {0};
    ef_logged_begin(&t, 0);
    ef_wire_put_bytes(&t, EF_LOGGED_FILE_VERSION, version, sizeof version - 1);
    const size_t source = ef_wire_begin(&t, EF_LOGGED_SOURCE);
    ef_wire_put_bytes(&t, 1, writer, sizeof writer - 1);
    ef_wire_end(&t, source);
    ef_status *s = t.failed ? ef_no_memory(t.n) : ef_record_writer_write(f->w, t.at, t.n);
    ef_text_free(&t);
    return s != NULL ? s : ef_event_file_flush(f);
}

static void add_name(ef_text *t, const char *folder, size_t n, const char *suffix,
                     size_t n_suffix) {
    static atomic_llong number;
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == 0) host[0] = 'h';
    ef_text_bytes(t, folder, n);
    if (n > 0 && folder[n - 1] != '/') ef_text_bytes(t, "/", 1);
    ef_text_add(t, "events.out.tfevents.%010lld.%s.%ld.%lld",
                (long long)(now_ns(CLOCK_REALTIME) / 1000000000), host, (long)getpid(),
                atomic_fetch_add_explicit(&number, 1, memory_order_relaxed));
    ef_text_bytes(t, suffix, n_suffix);
}

ef_status *ef_event_file_open(const char *folder, size_t n, const char *suffix, size_t n_suffix,
                              int64_t queue, int64_t flush_ms, ef_event_file **out) {
    const ef_record_options plain = {.compression = ""};
    ef_text name = {0};
    ef_event_file *f = ef_calloc(1, sizeof *f);
    if (f == NULL) return ef_no_memory(sizeof *f);
    f->queue = queue;
    f->flush_ns = flush_ms > INT64_MAX / 1000000 ? INT64_MAX : flush_ms * 1000000;
    ef_status *s = ef_folder_make(folder, n);
    add_name(&name, folder, n, suffix, n_suffix);
    if (s == NULL && name.failed) s = ef_no_memory(name.n);
    if (s == NULL) s = ef_record_writer_open(name.at, name.n, &plain, &f->w);
    if (s == NULL) s = put_version(f);
    ef_text_free(&name);
    if (s == NULL) {
        *out = f;
        return NULL;
    }
    ef_status_free(ef_event_file_close(f));
    return s;
}

ef_status *ef_event_file_flush(ef_event_file *f) {
    f->waiting = 0;
    f->flushed_at = now_ns(CLOCK_MONOTONIC);
    return ef_record_writer_flush(f->w);
}

ef_status *ef_event_file_put(ef_event_file *f, const char *event, size_t n) {
    EF_TRY(ef_record_writer_write(f->w, event, n));
    if (++f->waiting > f->queue || now_ns(CLOCK_MONOTONIC) - f->flushed_at > f->flush_ns)
        return ef_event_file_flush(f);
    return NULL;
}

ef_status *ef_event_file_close(ef_event_file *f) {
    if (f == NULL) return NULL;
    ef_status *s = ef_record_writer_close(f->w);
    ef_free(f);
    return s;
}
