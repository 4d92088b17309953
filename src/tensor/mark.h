/* Marks: how gradient tapes identify a value. All copies of a tensor share one mark, so that a tape
 * can tell whether the program still holds the value. A number is never used twice. */
#ifndef EF_TENSOR_MARK_H
#define EF_TENSOR_MARK_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ef_mark {
    atomic_int refs;
    uint64_t id; /* below 2^63, not 0 */
} ef_mark;

ef_mark *ef_mark_new(void); /* refs 1; NULL: no memory */
void ef_mark_end(ef_mark *m);
/* A number that is never given out twice; within one thread the numbers increase. */
uint64_t ef_mark_number(void);

static inline ef_mark *ef_mark_ref(ef_mark *m) {
    if (m != NULL) atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}
/* How often this thread lowered the count of a mark to 1. The last holder is then perhaps a record
 * of a tape whose value nothing else can reach, so that the tape may free it. */
extern _Thread_local size_t ef_marks_left;
static inline void ef_mark_unref(ef_mark *m) {
    if (m == NULL) return;
    /* A sole owner cannot be joined by another, so it need not pay for the locked instruction. */
    int before = atomic_load_explicit(&m->refs, memory_order_acquire);
    if (before != 1) before = atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel);
    if (before == 1) ef_mark_end(m);
    ef_marks_left += before == 2;
}
static inline bool ef_mark_sole(const ef_mark *m) {
    return atomic_load_explicit(&m->refs, memory_order_acquire) == 1;
}
#endif
