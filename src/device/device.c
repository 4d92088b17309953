/* The table of devices, their names, batches of work and copies. What a device can run is a column
 * of the op table. */
#include "device/device.h"
#include "base/option.h"
#include "device/table.h"
#include "device/test.h"
#include "profile/event.h"
#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const ef_device *devices[EF_DEVICE_MOST] = {&ef_device_cpu};
static atomic_int n_devices = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) {
    if (ef_option_int("EF_TEST_DEVICE", 0) != 0) ef_status_free(ef_test_device_start());
}

ef_status *ef_device_add(const ef_device *d) {
    int n = atomic_load(&n_devices);
    for (int k = 0; k < n; k++)
        if (devices[k] == d) return NULL;
    if (n == EF_DEVICE_MOST)
        return ef_error(EF_NO_MEMORY, "device %s: there are already %d devices, the most allowed",
                        d->name, n);
    devices[n] = d;
    atomic_store(&n_devices, n + 1);
    return NULL;
}

void ef_device_remove(const ef_device *d) {
    int n = atomic_load(&n_devices);
    if (n > 1 && devices[n - 1] == d) atomic_store(&n_devices, n - 1);
}

int ef_device_count(void) {
    pthread_once(&once, start);
    return atomic_load_explicit(&n_devices, memory_order_acquire);
}

const ef_device *ef_device_get(int device) {
    return device >= 0 && device < ef_device_count() ? devices[device] : NULL;
}

const char *ef_device_name(int device) {
    const ef_device *d = ef_device_get(device);
    return d != NULL ? d->name : NULL;
}

const char *ef_device_type(int device) {
    const ef_device *d = ef_device_get(device);
    return d != NULL ? d->type : NULL;
}

uint8_t ef_device_kind(int device) {
    if (device == EF_HOST) return EF_CPU;
    const ef_device *d = ef_device_get(device);
    return d != NULL ? d->kind : 0;
}

/* Length of `type` at the start of text, in any case; 0 if something else stands there. */
static size_t type_at(const char *text, const char *type) {
    size_t n = strlen(type);
    for (size_t i = 0; i < n; i++)
        if (toupper((unsigned char)text[i]) != type[i]) return 0;
    return n;
}

int ef_device_find(const char *name) {
    if (name == NULL) return -1;
    const char *last = strrchr(name, '/');
    const char *at = last ? last + 1 : name;
    if (strncmp(at, "device:", 7) == 0) at += 7;
    for (int d = 0; d < ef_device_count(); d++) {
        size_t n = type_at(at, devices[d]->type);
        if (n == 0) continue;
        if (at[n] == 0 && devices[d]->index == 0) return d;
        if (at[n] != ':' || !isdigit((unsigned char)at[n + 1])) continue;
        char *end;
        if (strtol(at + n + 1, &end, 10) == devices[d]->index && *end == 0) return d;
    }
    return -1;
}

/* ---- batches --------------------------------------------------------------------------------- */

void ef_batch_submit(ef_batch *b, ef_work *w, ef_status *(*run)(ef_work *w)) {
    const ef_device *d = devices[b->device];
    *w = (ef_work){.run = run, .batch = b};
    d->submit(w);
    b->last = d->record();
}

ef_status *ef_batch_wait(ef_batch *b) {
    if (b->last != 0) {
        uint64_t began = ef_event_clock();
        devices[b->device]->wait(b->last);
        ef_event_post(&(ef_event_new){.kind = EF_EVENT_WAIT,
                                      .began = began,
                                      .reason = EF_REASON_QUEUE,
                                      .value = {b->device}});
    }
    b->last = 0;
    ef_status *s = b->failed;
    b->failed = NULL;
    return s;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static _Atomic uint64_t copies[EF_DEVICE_MOST][3], copied[EF_DEVICE_MOST][3];

typedef struct copy {
    ef_work work;
    void *to;
    const void *from;
    size_t bytes;
} copy;

static ef_status *run_copy(ef_work *w) {
    copy *c = (copy *)w;
    memcpy(c->to, c->from, c->bytes);
    return NULL;
}

ef_status *ef_device_copy(ef_batch *b, ef_copy_way way, void *to, const void *from, size_t bytes) {
    const ef_device *d = devices[b->device];
    uint64_t began = ef_event_clock();
    copy c = {.to = way == EF_COPY_TO_HOST ? to : d->reach(to),
              .from = way == EF_COPY_TO_DEVICE ? from : d->reach((void *)(uintptr_t)from),
              .bytes = bytes};
    if (bytes > 0) ef_batch_submit(b, &c.work, run_copy);
    EF_TRY(ef_batch_wait(b));
    atomic_fetch_add_explicit(&copies[b->device][way], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&copied[b->device][way], bytes, memory_order_relaxed);
    ef_event_post(&(ef_event_new){
        .kind = EF_EVENT_TRANSFER, .began = began, .value = {(int64_t)bytes, b->device, way}});
    return NULL;
}

void ef_device_copies(int device, ef_copy_counts *out) {
    *out = (ef_copy_counts){{0}, {0}};
    for (int way = 0; way < 3 && device >= 0 && device < EF_DEVICE_MOST; way++) {
        out->n[way] = atomic_load_explicit(&copies[device][way], memory_order_relaxed);
        out->bytes[way] = atomic_load_explicit(&copied[device][way], memory_order_relaxed);
    }
}
