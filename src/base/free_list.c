/* There is no lock: the thread that swaps a piece out of its place has it. Under address sanitizer
 * every piece is freed, so that it detects a use after the free. */
#include "base/free_list.h"
#include "base/alloc.h"
#include "base/sanitize.h"

void *ef_free_list_take(ef_free_list *s, size_t n) {
    for (int k = 0; k < EF_FREE_LIST_BLOCKS; k++) {
        if (atomic_load_explicit(&s->piece[k], memory_order_relaxed) == NULL) continue;
        void *p = atomic_exchange_explicit(&s->piece[k], NULL, memory_order_acquire);
        if (p == NULL) continue;
        if (!ef_alloc_refuse()) return p;
        ef_free_list_give(s, p);
        return NULL;
    }
    return ef_calloc(1, n);
}

void ef_free_list_give(ef_free_list *s, void *p) {
    for (int k = 0; k < EF_FREE_LIST_BLOCKS && p != NULL && !EF_ASAN; k++) {
        void *none = NULL;
        if (atomic_load_explicit(&s->piece[k], memory_order_relaxed) == NULL &&
            atomic_compare_exchange_strong_explicit(&s->piece[k], &none, p, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    ef_free(p);
}
