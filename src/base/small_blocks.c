/* The free lists belong to the thread that frees a block, one list for each size. */
#include "base/small_blocks.h"
#include "base/alloc.h"
#include "base/sanitize.h"
#include "base/status.h"
#include <pthread.h>
#include <stdbool.h>

enum { STEP = 32, SIZES = 64, KEPT_BYTES = 1 << 20 };

typedef struct free_piece {
    struct free_piece *next;
} free_piece;

typedef struct shelf {
    free_piece *first[SIZES]; /* of (k + 1) * STEP bytes */
    size_t bytes;
} shelf;
static _Thread_local shelf *mine; /* a pointer: memory for thread-local values is scarce */
static _Thread_local bool ended;  /* blocks are now freed, not put into the free list */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *arg) {
    shelf *s = arg;
    for (int k = 0; k < SIZES; k++)
        for (free_piece *p = s->first[k], *next; p != NULL; p = next) {
            next = p->next;
            ef_free(p);
        }
    ef_free(s);
    mine = NULL;
    ended = true;
}
static void make_key(void) { pthread_key_create(&key, thread_ends); }

static bool has_shelf(void) {
    if (EF_LIKELY(mine != NULL)) return true;
    if (EF_ASAN || ended) return false; /* address sanitizer must see every block freed */
    pthread_once(&once, make_key);
    if ((mine = ef_calloc(1, sizeof *mine)) != NULL) pthread_setspecific(key, mine);
    return mine != NULL;
}

void *ef_small_block_take(size_t n) {
    size_t k = n > 0 ? (n - 1) / STEP : 0;
    if (k >= SIZES) return ef_malloc(n);
    free_piece *p = mine != NULL ? mine->first[k] : NULL;
    if (p == NULL) return ef_malloc((k + 1) * STEP);
    mine->first[k] = p->next;
    mine->bytes -= (k + 1) * STEP;
    return p;
}

void ef_small_block_give(void *p, size_t n) {
    size_t k = n > 0 ? (n - 1) / STEP : 0;
    if (p == NULL || k >= SIZES || !has_shelf() || mine->bytes + (k + 1) * STEP > KEPT_BYTES) {
        ef_free(p);
        return;
    }
    free_piece *f = p;
    f->next = mine->first[k];
    mine->first[k] = f;
    mine->bytes += (k + 1) * STEP;
}
