/* There is at most one hole more than there are blocks, so the array of holes is made large enough
 * when a block is taken, and giving one back cannot fail. */
#include "device/heap.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/text.h"
#include <string.h>

enum { GRAIN = 256 };

static size_t rounded(size_t bytes) {
    return bytes == 0 ? GRAIN : (bytes + GRAIN - 1) / GRAIN * GRAIN;
}

static size_t largest_hole(const ef_heap *h) {
    size_t most = h->span - h->top;
    for (size_t k = 0; k < h->n_holes; k++)
        if (h->hole[k].bytes > most) most = h->hole[k].bytes;
    return most;
}

static ef_status *refused(const ef_heap *h, const char *device, size_t bytes) {
    const ef_memory_info *i = &h->info;
    size_t largest = largest_hole(h);
    if (i->limit > 0 && (int64_t)largest > i->limit - i->current)
        largest = i->limit > i->current ? (size_t)(i->limit - i->current) : 0;
    return ef_error(EF_NO_MEMORY,
                    "out of memory on %s: asked %s; %s in use, limit %s, largest free block %s",
                    device, EF_BYTES((int64_t)bytes), EF_BYTES(i->current),
                    i->limit > 0 ? EF_BYTES(i->limit) : "none", EF_BYTES((int64_t)largest));
}

static void remove_hole(ef_heap *h, size_t k) {
    memmove(&h->hole[k], &h->hole[k + 1], (h->n_holes - k - 1) * sizeof *h->hole);
    h->n_holes--;
}

static bool find(ef_heap *h, size_t want, size_t *at) {
    for (size_t k = 0; k < h->n_holes; k++) {
        ef_extent *e = &h->hole[k];
        if (e->bytes < want) continue;
        *at = e->at;
        e->at += want;
        e->bytes -= want;
        if (e->bytes == 0) remove_hole(h, k);
        return true;
    }
    if (want > h->span - h->top) return false;
    *at = h->top;
    h->top += want;
    return true;
}

ef_status *ef_heap_take(ef_heap *h, const char *device, size_t bytes, size_t *at) {
    ef_memory_info *i = &h->info;
    bool fits =
        bytes <= h->span && !ef_alloc_refuse() &&
        (i->limit == 0 || ((int64_t)bytes <= i->limit && i->current <= i->limit - (int64_t)bytes));
    if (!fits) return refused(h, device, bytes);
    EF_TRY(EF_GROW(&h->hole, &h->cap_holes, (size_t)i->blocks + 2));
    if (!find(h, rounded(bytes), at)) return refused(h, device, bytes);
    i->current += (int64_t)bytes;
    i->blocks++;
    if (i->current > i->peak) i->peak = i->current;
    return NULL;
}

void ef_heap_give(ef_heap *h, size_t at, size_t bytes) {
    size_t n = rounded(bytes), k = 0;
    h->info.current -= (int64_t)bytes;
    h->info.blocks--;
    while (k < h->n_holes && h->hole[k].at < at) k++;
    bool after = k > 0 && h->hole[k - 1].at + h->hole[k - 1].bytes == at;
    bool before = k < h->n_holes && at + n == h->hole[k].at;
    if (after && before) {
        h->hole[k - 1].bytes += n + h->hole[k].bytes;
        remove_hole(h, k);
    } else if (after) {
        h->hole[k - 1].bytes += n;
    } else if (before) {
        h->hole[k].at = at;
        h->hole[k].bytes += n;
    } else {
        memmove(&h->hole[k + 1], &h->hole[k], (h->n_holes - k) * sizeof *h->hole);
        h->hole[k] = (ef_extent){at, n};
        h->n_holes++;
    }
    if (h->n_holes > 0) { /* a hole at the end lowers the top instead */
        const ef_extent *last = &h->hole[h->n_holes - 1];
        if (last->at + last->bytes == h->top) {
            h->top = last->at;
            h->n_holes--;
        }
    }
}

void ef_heap_free(ef_heap *h) {
    ef_free(h->hole);
    h->hole = NULL;
    h->n_holes = h->cap_holes = 0;
}
