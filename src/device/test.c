/* The test device. Its addresses are in a range that is mapped without access rights, so a host
 * that uses one gets a segmentation fault. The bytes are in a second mapping of the same length,
 * which only work on the queue can reach (`reach` adds the distance of the two mappings). The queue
 * is a list and a thread that takes work from it in order; an event is how many pieces of work had
 * been submitted. */
#include "device/test.h"
#include "base/alloc.h"
#include "base/context.h"
#include "base/mutex.h"
#include "device/heap.h"
#include "device/table.h"
#include <signal.h>
#include <sys/mman.h>

static const size_t span = (size_t)1 << 34; /* of addresses; pages are used as they are touched */

static ef_mutex memory_lock = EF_MUTEX(MEMORY);
static ef_heap heap;            /* under memory_lock */
static char *addresses, *bytes; /* the two mappings; NULL while there is no device */

static ef_mutex queue_lock = EF_MUTEX(QUEUE);
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static ef_work *first, **last = &first; /* under queue_lock, as is all below */
static uint64_t n_submitted, n_done;
static bool ends;
static pthread_t thread;

/* ---- memory ---------------------------------------------------------------------------------- */

static ef_status *test_alloc(size_t n, void **out) {
    size_t at;
    ef_mutex_lock(&memory_lock);
    ef_status *s = ef_heap_take(&heap, ef_device_test.name, n, &at);
    if (s == NULL) *out = addresses + at;
    ef_mutex_unlock(&memory_lock);
    return s;
}

static void test_free(void *p, size_t n) {
    if (p == NULL) return;
    ef_mutex_lock(&memory_lock);
    ef_heap_give(&heap, (size_t)((char *)p - addresses), n);
    ef_mutex_unlock(&memory_lock);
}

static void test_info(ef_memory_info *out) {
    ef_mutex_lock(&memory_lock);
    *out = heap.info;
    out->cached = (int64_t)heap.top - heap.info.current;
    ef_mutex_unlock(&memory_lock);
}

static void test_set_limit(int64_t n) {
    ef_mutex_lock(&memory_lock);
    heap.info.limit = n > 0 ? n : 0;
    ef_mutex_unlock(&memory_lock);
}

static void test_reset_peak(void) {
    ef_mutex_lock(&memory_lock);
    heap.info.peak = heap.info.current;
    ef_mutex_unlock(&memory_lock);
}

static uint64_t test_record(void);
static void test_wait(uint64_t event);

static void test_trim(void) {
    test_wait(test_record()); /* work may still use what was freed */
    ef_mutex_lock(&memory_lock);
    size_t from = (heap.top + 65535) / 65536 * 65536;
    if (from < span) madvise(bytes + from, span - from, MADV_DONTNEED);
    ef_mutex_unlock(&memory_lock);
}

static void *test_reach(void *p) { return p == NULL ? NULL : bytes + ((char *)p - addresses); }

/* ---- the queue ------------------------------------------------------------------------------- */

static void *serve(void *arg) {
    (void)arg;
    ef_mutex_lock(&queue_lock);
    for (;;) {
        while (first == NULL && !ends) ef_mutex_wait(&queue_lock, &wanted);
        ef_work *w = first;
        if (w == NULL) break;
        first = w->next;
        if (first == NULL) last = &first;
        ef_mutex_unlock(&queue_lock);
        if (w->batch->failed == NULL) w->batch->failed = w->run(w);
        ef_mutex_lock(&queue_lock);
        n_done++;
        pthread_cond_broadcast(&done);
    }
    ef_mutex_unlock(&queue_lock);
    return NULL;
}

static void test_submit(ef_work *w) {
    ef_mutex_lock(&queue_lock);
    w->next = NULL;
    *last = w;
    last = &w->next;
    n_submitted++;
    pthread_cond_signal(&wanted);
    ef_mutex_unlock(&queue_lock);
}

static uint64_t test_record(void) {
    ef_mutex_lock(&queue_lock);
    uint64_t event = n_submitted;
    ef_mutex_unlock(&queue_lock);
    return event;
}

static void test_wait(uint64_t event) {
    ef_mutex_lock(&queue_lock);
    while (n_done < event) ef_mutex_wait(&queue_lock, &done);
    ef_mutex_unlock(&queue_lock);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void unmap(void) {
    if (addresses != NULL) munmap(addresses, span);
    if (bytes != NULL) munmap(bytes, span);
    addresses = bytes = NULL;
}

static ef_status *map(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *a = mmap(NULL, span, PROT_NONE, flags, -1, 0);
    void *b = mmap(NULL, span, PROT_READ | PROT_WRITE, flags, -1, 0);
    addresses = a != MAP_FAILED ? a : NULL;
    bytes = b != MAP_FAILED ? b : NULL;
    if (addresses != NULL && bytes != NULL) return NULL;
    unmap();
    return ef_no_memory(span);
}

/* The thread blocks all signals, which are for the program's own threads. */
static int begin_thread(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad;
}

ef_status *ef_test_device_start(void) {
    if (addresses != NULL) return NULL;
    EF_TRY(map());
    heap = (ef_heap){.span = span};
    ends = false;
    ef_status *s = begin_thread() != 0
                       ? ef_error(EF_NO_MEMORY, "TEST:0: no thread could be made for its queue")
                       : NULL;
    if (s == NULL) s = ef_device_add(&ef_device_test);
    if (s != NULL) unmap();
    return s;
}

ef_status *ef_test_device_stop(void) {
    if (addresses == NULL) return NULL;
    ef_memory_info now;
    test_info(&now);
    if (now.blocks > 0)
        return ef_error(EF_FAILED_PRECONDITION,
                        "TEST:0 cannot end: %lld blocks of its memory are in use; release the "
                        "tensors and variables first",
                        (long long)now.blocks);
    ef_device_remove(&ef_device_test);
    ef_mutex_lock(&queue_lock);
    ends = true;
    pthread_cond_signal(&wanted);
    ef_mutex_unlock(&queue_lock);
    pthread_join(thread, NULL);
    ef_heap_free(&heap);
    unmap();
    return NULL;
}

const ef_device ef_device_test = {
    .name = "TEST:0",
    .type = "TEST",
    .kind = EF_TEST,
    .alloc = test_alloc,
    .free = test_free,
    .info = test_info,
    .set_limit = test_set_limit,
    .reset_peak = test_reset_peak,
    .trim = test_trim,
    .submit = test_submit,
    .record = test_record,
    .wait = test_wait,
    .reach = test_reach,
};
