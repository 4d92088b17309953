/* The test device: its memory is out of the host's reach, its queue keeps its order. */
#include "device/test.h"
#include "base/alloc.h"
#include "check.h"
#include "device/heap.h"
#include "device/table.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

EF_TEST(exists_only_when_asked_for) {
    CHECK_INT(ef_device_count(), 1);
    CHECK_INT(ef_device_find("/device:TEST:0"), -1);
    CHECK_OK(ef_test_device_start());
    CHECK_OK(ef_test_device_start());
    CHECK_INT(ef_device_count(), 2);
    CHECK_INT(ef_device_find("/device:TEST:0"), 1);
    CHECK_INT(ef_device_find("test:0"), 1);
    CHECK_TEXT(ef_device_name(1), "TEST:0");
    CHECK_INT(ef_device_kind(1), EF_TEST);
    CHECK_OK(ef_test_device_stop());
    CHECK_INT(ef_device_count(), 1);
    CHECK_OK(ef_test_device_start());
}

EF_TEST(the_host_cannot_touch_its_memory) {
    void *p = NULL;
    CHECK_OK(ef_memory_alloc(1, 64, &p));
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would report it and exit */
        volatile char *at = p;
        _exit(at[0] == 1 ? 1 : 2);
    }
    int how = 0;
    CHECK(waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV);
    ef_memory_free(1, p, 64);
}

EF_TEST(copies_there_and_back) {
    void *a = NULL, *b = NULL;
    char from[1000], to[1000] = {0};
    ef_copy_counts before, after;
    for (int k = 0; k < 1000; k++) from[k] = (char)k;
    ef_batch batch = {.device = 1};
    ef_device_copies(1, &before);
    CHECK_OK(ef_memory_alloc(1, sizeof from, &a));
    CHECK_OK(ef_memory_alloc(1, sizeof from, &b));
    CHECK_OK(ef_device_copy(&batch, EF_COPY_TO_DEVICE, a, from, sizeof from));
    CHECK_OK(ef_device_copy(&batch, EF_COPY_WITHIN, b, a, sizeof from));
    CHECK_OK(ef_device_copy(&batch, EF_COPY_TO_HOST, to, b, sizeof to));
    CHECK(memcmp(from, to, sizeof to) == 0);
    ef_device_copies(1, &after);
    for (int way = 0; way < 3; way++) {
        CHECK_INT(after.n[way] - before.n[way], 1);
        CHECK_INT(after.bytes[way] - before.bytes[way], 1000);
    }
    ef_memory_free(1, a, sizeof from);
    ef_memory_free(1, b, sizeof from);
}

typedef struct step {
    ef_work work;
    int *log, *n, number;
    bool fails;
} step;

static ef_status *run_step(ef_work *w) {
    step *s = (step *)w;
    s->log[(*s->n)++] = s->number;
    return s->fails ? ef_error(EF_INVALID, "step %d fails", s->number) : NULL;
}

EF_TEST(work_runs_in_order_and_stops_at_a_failure) {
    for (int device = 0; device < 2; device++) { /* the CPU's queue keeps the same rules */
        int log[64], n = 0;
        step s[32], other = {.log = log, .n = &n, .number = 99};
        ef_batch b = {.device = device}, second = {.device = device};
        for (int k = 0; k < 32; k++) {
            s[k] = (step){.log = log, .n = &n, .number = k, .fails = k == 20};
            ef_batch_submit(&b, &s[k].work, run_step);
        }
        ef_batch_submit(&second, &other.work, run_step); /* another's failure is not its own */
        CHECK_FAILS(ef_batch_wait(&b), EF_INVALID, "step 20 fails");
        CHECK_OK(ef_batch_wait(&second));
        CHECK_INT(n, 22);
        for (int k = 0; k <= 20; k++) CHECK_INT(log[k], k);
        CHECK_INT(log[21], 99);
        ef_batch_submit(&b, &s[0].work, run_step); /* the batch can go on */
        CHECK_OK(ef_batch_wait(&b));
    }
}

EF_TEST(memory_is_reported_and_limited) {
    ef_memory_info i;
    void *p = NULL, *q = NULL;
    ef_memory_reset_peak(1);
    CHECK_OK(ef_memory_alloc(1, 1 << 20, &p));
    ef_memory_info_get(1, &i);
    CHECK(i.current == 1 << 20 && i.peak == 1 << 20 && i.blocks == 1 && i.limit == 0);
    ef_memory_set_limit(1, (1 << 20) + 100);
    CHECK_FAILS(ef_memory_alloc(1, 200, &q), EF_NO_MEMORY, "out of memory on TEST:0");
    CHECK_OK(ef_memory_alloc(1, 100, &q));
    CHECK_FAILS(ef_test_device_stop(), EF_FAILED_PRECONDITION, "in use");
    ef_memory_free(1, p, 1 << 20);
    ef_memory_free(1, q, 100);
    ef_memory_set_limit(1, 0);
    ef_memory_trim(1);
    ef_memory_info_get(1, &i);
    CHECK(i.current == 0 && i.blocks == 0 && i.peak == (1 << 20) + 100);
    CHECK_FAILS(ef_memory_alloc(2, 8, &p), EF_INVALID, "no device 2");
    ef_alloc_fail_at(1);
    CHECK_FAILS(ef_memory_alloc(1, 8, &p), EF_NO_MEMORY, "TEST:0");
    ef_alloc_fail_at(0);
}

EF_TEST(a_heap_ends_as_it_began) {
    enum { MANY = 200 };
    ef_heap h = {.span = 1 << 20};
    size_t at[MANY], bytes[MANY];
    bool held[MANY] = {false};
    uint64_t state = 7;
    for (int turn = 0; turn < 20000; turn++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int k = (int)(state >> 33) % MANY;
        if (held[k]) {
            ef_heap_give(&h, at[k], bytes[k]);
        } else {
            bytes[k] = (size_t)(state >> 40) % 4000;
            CHECK_OK(ef_heap_take(&h, "TEST:0", bytes[k], &at[k]));
            for (int j = 0; j < MANY; j++)
                CHECK(j == k || !held[j] || at[j] + bytes[j] <= at[k] || at[k] + bytes[k] <= at[j]);
        }
        held[k] = !held[k];
        CHECK(h.n_holes <= (size_t)h.info.blocks + 1);
    }
    for (int k = 0; k < MANY; k++)
        if (held[k]) ef_heap_give(&h, at[k], bytes[k]);
    CHECK(h.top == 0 && h.n_holes == 0 && h.info.current == 0 && h.info.blocks == 0);
    ef_heap_free(&h);
}

EF_TEST(ends) { CHECK_OK(ef_test_device_stop()); }

int main(void) {
    EF_RUN(exists_only_when_asked_for);
    EF_RUN(the_host_cannot_touch_its_memory);
    EF_RUN(copies_there_and_back);
    EF_RUN(work_runs_in_order_and_stops_at_a_failure);
    EF_RUN(memory_is_reported_and_limited);
    EF_RUN(a_heap_ends_as_it_began);
    EF_RUN(ends);
    return EF_VERDICT();
}
