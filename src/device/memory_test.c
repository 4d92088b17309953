#include "base/alloc.h"
#include "base/sanitize.h"
#include "check.h"
#include "device/chunk.h"
#include "device/map.h"
#include "device/memory.h"
#include "evenflow_binding.h"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static ef_memory_info info(void) {
    ef_memory_info i;
    ef_memory_info_get(0, &i);
    return i;
}

static void *take(size_t bytes) {
    void *p = NULL;
    ef_status *s = ef_memory_alloc(0, bytes, &p);
    ef_status_free(s);
    return p;
}

EF_TEST(classes_fit_tightly) {
    CHECK_INT(ef_class_size(EF_CLASSES - 1), EF_BLOCK_MOST);
    for (size_t n = 1; n <= EF_BLOCK_MOST; n += n < 5000 ? 1 : 997) {
        int c = ef_class_of(n);
        CHECK(c >= 0 && c < EF_CLASSES && ef_class_size(c) >= n && ef_class_size(c) % 64 == 0);
        CHECK(c == 0 || ef_class_size(c - 1) < n);
        CHECK(n < 256 || ef_class_size(c) <= n + n / 4 + 64);
    }
}

EF_TEST(blocks_are_aligned_and_apart) {
    enum { N = 200 };
    unsigned char *p[N];
    size_t size[N];
    int64_t before = info().current, sum = 0;
    for (int i = 0; i < N; i++) {
        size[i] = i == 0 ? 0 : (size_t)1 << (i % 23);
        p[i] = take(size[i]);
        CHECK(p[i] && (uintptr_t)p[i] % 64 == 0);
        memset(p[i], i, size[i]);
        sum += (int64_t)(size[i] ? size[i] : 1);
    }
    CHECK_INT(info().current - before, sum);
    CHECK(info().peak >= before + sum);
    for (int i = 0; i < N; i++) {
        CHECK(size[i] == 0 || (p[i][0] == i && p[i][size[i] - 1] == i));
        ef_memory_free(0, p[i], size[i]);
    }
    CHECK_INT(info().current, before);
    ef_memory_free(0, NULL, 5);
    ef_memory_reset_peak(0);
    CHECK_INT(info().peak, before);
}

EF_TEST(hot_blocks_come_back_without_malloc) {
    static const size_t sizes[] = {1, 64, 300, 4096, 65536, 70000, 1 << 20, 16 << 20, 100 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *p = take(sizes[i]);
        CHECK(p);
        ef_memory_free(0, p, sizes[i]);
        uint64_t before = ef_alloc_count();
        for (int k = 0; k < 100; k++) {
            void *q = take(sizes[i]);
            CHECK(EF_ASAN || q == p);
            ef_memory_free(0, q, sizes[i]);
        }
        CHECK_INT(ef_alloc_count(), before);
    }
}

static uint32_t draw(uint32_t *r) { return *r = *r * 1664525u + 1013904223u, *r >> 8; }

/* Allocates and frees blocks of ever-changing sizes, some of several MiB. */
static bool churn(uint32_t seed, int steps) {
    enum { N = 64 };
    unsigned char *p[N] = {NULL};
    size_t size[N] = {0};
    bool good = true;
    for (int i = 0; i < steps; i++) {
        uint32_t k = draw(&seed) % N;
        if (p[k] != NULL) {
            good &= p[k][0] == k && p[k][size[k] - 1] == k;
            ef_memory_free(0, p[k], size[k]);
            p[k] = NULL;
        } else {
            size[k] = draw(&seed) % (2u << draw(&seed) % 22) + 1;
            p[k] = take(size[k]);
            good &= p[k] != NULL;
            if (p[k] != NULL) p[k][0] = p[k][size[k] - 1] = (unsigned char)k;
        }
    }
    for (int k = 0; k < N; k++) ef_memory_free(0, p[k], size[k]);
    return good;
}

EF_TEST(ever_changing_sizes_leave_nothing) {
    int steps = EF_ASAN ? 20000 : 1000000;
    int64_t before = info().current;
    CHECK(churn(1, steps / 10));
    int64_t early = info().cached;
    CHECK(churn(2, steps));
    CHECK_INT(info().current, before);
    CHECK(info().cached <= early + (32 << 20) && info().cached <= 100 << 20);
    ef_memory_trim(0);
    CHECK(info().cached <= 8 << 20);
}

/* Takes, fills and frees blocks of ever-changing sizes, one at a time; returns the pages that were
 * touched for the first time. STRAY: the system may take a page back now and then. */
enum { STRAY = 8 };
static long fill(uint32_t seed, int steps, size_t least, size_t most) {
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < steps; i++) {
        size_t size = least + draw(&seed) % (most - least);
        void *p = take(size);
        if (p == NULL) return LONG_MAX;
        memset(p, i, size);
        ef_memory_free(0, p, size);
    }
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}

EF_TEST(small_sizes_that_come_late_leave_large_ones_their_pages) {
    if (EF_ASAN || EF_TSAN) return; /* their blocks are mallocs, their shadow memory has pages */
    ef_memory_trim(0);
    void *small = take(1000); /* as any program holds a small block all the time */
    fill(1, 300, 70000, 512 << 10);
    fill(1, 1, 512 << 10, (512 << 10) + 1);
    for (size_t most = 128; most <= 65536; most *= 2) {
        fill(2, 300, most / 2, most);
        CHECK(fill(3, 300, 70000, 512 << 10) <= STRAY);
    }
    CHECK(fill(4, 3000, 64, 512 << 10) <= STRAY);
    ef_memory_free(0, small, 1000);
    ef_memory_trim(0);
}

EF_TEST(a_size_used_once_touches_one_block) {
    if (EF_ASAN || EF_TSAN) return;
    ef_memory_trim(0);
    void *other = take(100); /* a chunk is there, and its tables */
    CHECK(fill(5, 1, 4090, 4091) <= STRAY);
    ef_memory_free(0, other, 100);
}

EF_TEST(a_kept_region_of_up_to_twice_the_size_serves_again) {
    ef_memory_trim(0);
    void *p = take(16 << 20);
    ef_memory_free(0, p, 16 << 20);
    void *q = take(9 << 20), *r = take(7 << 20);
    CHECK(EF_ASAN || (q == p && r != p));
    ef_memory_free(0, q, 9 << 20);
    ef_memory_free(0, r, 7 << 20);
    void *s = take(7 << 20); /* the smallest that fits */
    CHECK(EF_ASAN || s == r);
    ef_memory_free(0, s, 7 << 20);
    ef_memory_trim(0);
}

/* Freed blocks below one in use stay in malloc's heap, until the process would grow further. */
EF_TEST(growth_first_takes_what_malloc_keeps) {
    enum { BLOCKS = 600, EACH = 100 << 10, TRIES = 50 };
    if (EF_ASAN || EF_TSAN) return; /* their malloc is another one */
    char *volatile block[BLOCKS];   /* so that no write is left out as useless */
    for (int k = 0; k < BLOCKS; k++) {
        block[k] = malloc(EACH);
        CHECK(block[k] != NULL);
        if (block[k] != NULL) memset(block[k], k, EACH);
    }
    void *above = malloc(EACH);
    for (int k = 0; k < BLOCKS; k++) free(block[k]);
    size_t before = ef_pages_resident();
    for (int k = 0; k < TRIES && ef_pages_resident() + (40 << 20) > before; k++) {
        size_t bytes = (size_t)(64 + 8 * k) << 20;
        ef_memory_free(0, take(bytes), bytes); /* never written, so it takes no memory itself */
        usleep(20000);                         /* it may only take a part of the time */
    }
    CHECK(ef_pages_resident() + (40 << 20) <= before);
    free(above);
    ef_memory_trim(0);
}

/* ---- threads: each frees what another one took ---- */

enum { THREADS = 4, MAIL = 256 };
static struct {
    pthread_mutex_t lock;
    void *p[MAIL];
    size_t size[MAIL];
} mail = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *worker(void *arg) {
    uint32_t seed = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        uint32_t k = draw(&seed) % MAIL;
        size_t size = draw(&seed) % (2u << draw(&seed) % 18) + 1;
        void *p = take(size);
        if (p == NULL) return arg;
        memset(p, (int)k, size < 64 ? size : 64);
        pthread_mutex_lock(&mail.lock);
        void *old = mail.p[k];
        size_t old_size = mail.size[k];
        mail.p[k] = p;
        mail.size[k] = size;
        pthread_mutex_unlock(&mail.lock);
        if (old != NULL && *(unsigned char *)old != (unsigned char)k) return arg;
        ef_memory_free(0, old, old_size);
        if (i % 5000 == 0) info();
    }
    return NULL;
}

EF_TEST(any_thread_may_free) {
    ef_memory_info before = info();
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, worker, (void *)(uintptr_t)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        CHECK(bad == NULL);
    }
    for (int k = 0; k < MAIL; k++) ef_memory_free(0, mail.p[k], mail.size[k]);
    CHECK_INT(info().current, before.current);
    CHECK_INT(info().blocks, before.blocks);
    ef_memory_trim(0);
    CHECK(info().cached <= 4 << 20); /* what live blocks of this program pin, if any */
}

/* ---- limits and reports ---- */

EF_TEST(a_limit_names_the_holders) {
    const char *before = ef_memory_label("MatMul");
    int64_t base = info().current;
    ef_memory_set_limit(0, base + (100 << 20));
    void *a = take(30 << 20), *b = take(20 << 20);
    CHECK_TEXT(ef_memory_label("Conv2D"), "MatMul");
    void *c = take(10 << 20), *d = take(8192), *p = NULL;
    CHECK(a && b && c && d);
    CHECK_FAILS(ef_memory_alloc(0, 60 << 20, &p), EF_NO_MEMORY,
                "out of memory on CPU:0: asked 60.0 MiB; 60.0 MiB in use, limit 100.0 MiB, largest "
                "free block 40.0 MiB. Largest holders: MatMul 50.0 MiB (2 blocks), Conv2D 10.0 MiB "
                "(2 blocks)");
    CHECK(p == NULL);
    ef_memory_free(0, b, 20 << 20);
    CHECK_OK(ef_memory_alloc(0, 59 << 20, &p));
    ef_memory_free(0, p, 59 << 20);
    ef_memory_free(0, a, 30 << 20);
    ef_memory_free(0, c, 10 << 20);
    ef_memory_free(0, d, 8192);
    CHECK_INT(info().limit, base + (100 << 20));
    CHECK_FAILS(ef_memory_alloc(0, SIZE_MAX, &p), EF_NO_MEMORY, "limit");
    ef_memory_set_limit(0, 0);
    ef_memory_label(before);
    CHECK_INT(info().current, base);
}

EF_TEST(impossible_requests_fail_cleanly) {
    char mark;
    void *p = &mark;
    ef_memory_info before = info();
    CHECK_FAILS(ef_memory_alloc(0, SIZE_MAX, &p), EF_NO_MEMORY, "out of memory on CPU:0");
    CHECK_FAILS(ef_memory_alloc(0, (size_t)1 << 60, &p), EF_NO_MEMORY, "asked 1.0 EiB");
    CHECK_FAILS(ef_memory_alloc(0, (size_t)1 << 46, &p), EF_NO_MEMORY, "asked 64.0 TiB");
    CHECK_FAILS(ef_memory_alloc(3, 10, &p), EF_INVALID, "no device 3");
    CHECK(p == &mark); /* untouched */
    CHECK_INT(info().current, before.current);
    CHECK_INT(info().blocks, before.blocks);
}

EF_TEST(injected_failures_reach_it) {
    static const size_t sizes[] = {10, 5000, 100000, 3 << 20};
    ef_memory_trim(0);
    ef_memory_info before = info();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t k = 1;; k++) {
            void *p = NULL;
            ef_alloc_fail_at(k);
            ef_status *s = ef_memory_alloc(0, sizes[i], &p);
            bool failed = ef_alloc_failed();
            ef_alloc_fail_at(0);
            if (s != NULL)
                CHECK_FAILS(s, EF_NO_MEMORY, "out of memory");
            else
                ef_memory_free(0, p, sizes[i]);
            CHECK_INT(info().current, before.current);
            ef_memory_trim(0);
            CHECK(k > 1 || failed);
            if (!failed) break;
        }
}

static uint32_t somewhere;
static uint32_t where(void) { return somewhere; }

static int64_t held_by(uint32_t place, const char *label, int64_t *blocks) {
    static ef_holder_info all[1024];
    int n = ef_holders_get(all, 1024);
    *blocks = 0;
    for (int k = 0; k < n; k++)
        if (label != NULL ? all[k].label != NULL && strcmp(all[k].label, label) == 0
                          : all[k].label == NULL && all[k].place == place) {
            *blocks = all[k].blocks;
            return all[k].bytes;
        }
    return 0;
}

EF_TEST(blocks_count_for_the_line_that_made_them) {
    static const size_t sizes[] = {4096, 70000, 3 << 20};
    void *p[3], *q, *r;
    int64_t n;
    ef_memory_label("plain");
    ef_holders_watch(where);
    for (int k = 0; k < 3; k++) {
        somewhere = 77;
        CHECK_OK(ef_memory_alloc(0, sizes[k], &p[k]));
    }
    somewhere = 0; /* unknown: the label counts */
    CHECK_OK(ef_memory_alloc(0, 5000, &q));
    somewhere = 78;
    CHECK_OK(ef_memory_alloc(0, 4095, &r)); /* too small */
    ef_holders_watch(NULL);
    CHECK_INT(held_by(77, NULL, &n), 4096 + 70000 + (3 << 20));
    CHECK_INT(n, 3);
    CHECK_INT(held_by(0, "plain", &n), 5000);
    CHECK_INT(held_by(78, NULL, &n), 0);
    for (int k = 0; k < 3; k++) ef_memory_free(0, p[k], sizes[k]); /* not watched any more */
    ef_memory_free(0, q, 5000);
    ef_memory_free(0, r, 4095);
    CHECK_INT(held_by(77, NULL, &n), 0);
    CHECK_INT(held_by(0, "plain", &n), 0);
    ef_memory_label(NULL);
}

EF_TEST(very_many_lines_are_one) {
    enum { LINES = 1500 };
    static void *p[LINES];
    int64_t n, others = held_by(0, NULL, &n);
    ef_holders_watch(where);
    for (int k = 0; k < LINES; k++) {
        somewhere = 1000 + (uint32_t)k;
        CHECK_OK(ef_memory_alloc(0, 4096, &p[k]));
    }
    ef_holders_watch(NULL);
    CHECK_INT(held_by(1000, NULL, &n), 4096);
    CHECK_INT(held_by(1000 + LINES - 1, NULL, &n), 0);
    CHECK((held_by(0, NULL, &n) - others) / 4096 >= LINES - 700);
    for (int k = 0; k < LINES; k++) ef_memory_free(0, p[k], 4096);
    CHECK_INT(held_by(0, NULL, &n), others);
    CHECK_INT(held_by(1000, NULL, &n), 0);
}

int main(void) {
    EF_RUN(classes_fit_tightly);
    EF_RUN(blocks_are_aligned_and_apart);
    EF_RUN(hot_blocks_come_back_without_malloc);
    EF_RUN(ever_changing_sizes_leave_nothing);
    EF_RUN(small_sizes_that_come_late_leave_large_ones_their_pages);
    EF_RUN(a_size_used_once_touches_one_block);
    EF_RUN(a_kept_region_of_up_to_twice_the_size_serves_again);
    EF_RUN(growth_first_takes_what_malloc_keeps);
    EF_RUN(any_thread_may_free);
    EF_RUN(a_limit_names_the_holders);
    EF_RUN(impossible_requests_fail_cleanly);
    EF_RUN(injected_failures_reach_it);
    EF_RUN(blocks_count_for_the_line_that_made_them);
    EF_RUN(very_many_lines_are_one);
    return EF_VERDICT();
}
