/* Numbers of marks are reserved in blocks by each thread, so that giving one out touches nothing
 * shared. */
#include "tensor/mark.h"
#include "base/small_blocks.h"

_Thread_local size_t ef_marks_left;

enum { BLOCK = 1024 }; /* numbers a thread takes at once */

uint64_t ef_mark_number(void) {
    static atomic_uint_fast64_t given = 1;
    static _Thread_local uint64_t next, end;
    if (next == end) {
        next = atomic_fetch_add_explicit(&given, BLOCK, memory_order_relaxed);
        end = next + BLOCK;
    }
    return next++;
}

ef_mark *ef_mark_new(void) {
    ef_mark *m = ef_small_block_take(sizeof *m);
    if (m == NULL) return NULL;
    atomic_init(&m->refs, 1);
    m->id = ef_mark_number();
    return m;
}

void ef_mark_end(ef_mark *m) { ef_small_block_give(m, sizeof *m); }
