/* The cache of compiled code. Each piece of code has pages of its own, which are first written and
 * then made executable, never both at the same time. Pieces are keyed by what they compute and
 * reference-counted; the cache shares the budget of all caches, and a piece that was evicted lives
 * until its last user releases it. A sequence that could not be compiled is remembered too, without
 * pages. */
#include "base/alloc.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "jit/emit.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct ef_jit_code {
    ef_cache_entry base;
    ef_jit_run run;
    int users; /* the cache is one of them */
    void *pages;
    size_t bytes, entry;
};

/* Guards the cache and all counts; while it is held, only the locks of the allocators are taken. */
static ef_mutex lock = EF_MUTEX(CODE);
static ef_cache cache;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void let_go(ef_jit_code *code) {
    if (--code->users > 0) return;
    if (code->base.bytes > 0) ef_budget_credit(EF_KEPT_CODE, code->base.bytes);
    if (code->pages != NULL) munmap(code->pages, code->bytes);
    ef_free(code);
}
static void end(void *code) { ef_jit_release(code); }
static void start(void) { ef_cache_share(&cache, EF_KEPT_CODE, &lock, NULL, end); }

static uint64_t hash_run(const ef_jit_run *run) {
    uint64_t h = ef_hash_mix((uint64_t)run->dtype << 8 | (uint64_t)run->vector, (uint64_t)run->n);
    for (int k = 0; k < run->n; k++) {
        const ef_jit_ins *x = &run->ins[k];
        h = ef_hash_mix(h, (uint64_t)(uintptr_t)x->expr);
        h = ef_hash_mix(h, (uint64_t)x->out << 24 | (uint64_t)x->scalars << 16 |
                               (uint64_t)x->n_in << 8 | x->truths);
        h = ef_hash_mix(h, (uint64_t)run->sum[k] << 1 | x->keep);
        h = ef_hash_bytes(h, x->in, x->n_in);
    }
    return h;
}

static bool same_ins(const ef_jit_ins *a, const ef_jit_ins *b) {
    return a->expr == b->expr && a->n_in == b->n_in && a->scalars == b->scalars &&
           a->truths == b->truths && a->out == b->out && a->keep == b->keep &&
           memcmp(a->in, b->in, a->n_in) == 0;
}
static bool same(const void *entry, const void *key) {
    const ef_jit_run *a = &((const ef_jit_code *)entry)->run, *b = key;
    if (a->dtype != b->dtype || a->vector != b->vector || a->n != b->n) return false;
    for (int k = 0; k < a->n; k++)
        if (a->sum[k] != b->sum[k] || !same_ins(&a->ins[k], &b->ins[k])) return false;
    return true;
}

/* Sets code->pages, or leaves NULL. */
static void compile(ef_jit_code *code) {
    ef_jit_values values;
    ef_x86 text;
    if (!ef_jit_parse(&code->run, &values) ||
        !ef_jit_emit(&values, code->run.dtype, code->run.vector, &text, &code->entry))
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (text.n + page - 1) / page * page;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    memcpy(at, text.at, text.n);
    if (mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0) {
        munmap(at, bytes);
        return;
    }
    code->pages = at;
    code->bytes = bytes;
}

/* Looks the run up, or compiles it; called with the lock held. */
static ef_jit_code *find_or_make(const ef_jit_run *run) {
    uint64_t hash = hash_run(run);
    ef_jit_code *code = (ef_jit_code *)ef_cache_find(&cache, hash, same, run);
    if (code != NULL) return code;
    code = ef_calloc(1, sizeof *code);
    if (code == NULL) return NULL;
    code->run = *run;
    code->users = 1;
    compile(code);
    code->base.hash = hash;
    code->base.bytes = sizeof *code + code->bytes;
    ef_budget_charge(EF_KEPT_CODE, code->base.bytes);
    ef_status *s = ef_cache_put(&cache, &code->base);
    if (s == NULL) return code;
    ef_status_free(s);
    let_go(code);
    return NULL;
}

ef_jit_code *ef_jit_get(const ef_jit_run *run) {
    if (run->vector < 32 || run->vector > ef_jit_vector()) return NULL;
    pthread_once(&once, start);
    ef_mutex_lock(&lock);
    ef_jit_code *code = find_or_make(run);
    if (code != NULL && code->pages == NULL) code = NULL;
    if (code != NULL) code->users++;
    ef_mutex_unlock(&lock);
    return code;
}

ef_jit_fn *ef_jit_entry(const ef_jit_code *code) {
    ef_jit_fn *f;
    const void *at = (const char *)code->pages + code->entry;
    memcpy(&f, &at, sizeof f); /* C has no conversion from data to functions */
    return f;
}

void ef_jit_release(ef_jit_code *code) {
    if (code == NULL) return;
    ef_mutex_lock(&lock);
    let_go(code);
    ef_mutex_unlock(&lock);
}
