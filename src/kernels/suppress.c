#include "kernels/suppress.h"
#include <math.h>

typedef struct {
    float score;
    int32_t box;
    int64_t seen; /* number of selected boxes it has been compared with */
} candidate;

int64_t ef_suppress_bytes(int64_t n) { return n * (int64_t)sizeof(candidate); }

/* A heap with the best on top; among equal scores the first box. */
static bool before(const candidate *a, const candidate *b) {
    return a->score > b->score || (a->score == b->score && a->box < b->box);
}
static void sink(candidate *heap, int64_t n, int64_t k) {
    candidate moved = heap[k];
    for (int64_t child; (child = 2 * k + 1) < n; k = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &moved)) break;
        heap[k] = heap[child];
    }
    heap[k] = moved;
}
static void rise(candidate *heap, int64_t k) {
    candidate moved = heap[k];
    for (; k > 0 && before(&moved, &heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = moved;
}

static float overlap(const float *a, const float *b) {
    float ay = fminf(a[0], a[2]), ax = fminf(a[1], a[3]), by = fminf(b[0], b[2]),
          bx = fminf(b[1], b[3]);
    float ay2 = fmaxf(a[0], a[2]), ax2 = fmaxf(a[1], a[3]), by2 = fmaxf(b[0], b[2]),
          bx2 = fmaxf(b[1], b[3]);
    float first = (ay2 - ay) * (ax2 - ax), second = (by2 - by) * (bx2 - bx);
    if (first <= 0 || second <= 0) return 0;
    float both =
        fmaxf(fminf(ay2, by2) - fmaxf(ay, by), 0) * fmaxf(fminf(ax2, bx2) - fmaxf(ax, bx), 0);
    return both / (first + second - both);
}

static float alike(const ef_suppress *s, int32_t a, int32_t b) {
    return s->overlaps ? s->boxes[a * s->n + b]
                       : overlap(s->boxes + 4 * (int64_t)a, s->boxes + 4 * (int64_t)b);
}

/* Compares with the boxes selected since the last time, the latest first; false: suppressed for
 * good. */
static bool decay(const ef_suppress *s, candidate *next, const int32_t *chosen, int64_t n) {
    float scale = s->sigma > 0 ? -0.5f / s->sigma : 0;
    for (int64_t k = n - 1; k >= next->seen; k--) {
        float much = alike(s, next->box, chosen[k]);
        if (s->sigma <= 0 && much > s->threshold) return false;
        if (s->sigma > 0) next->score *= expf(scale * much * much);
        if (next->score <= s->least) break;
    }
    next->seen = n;
    return true;
}

int64_t ef_suppress_run(const ef_suppress *s, void *memory, int32_t *chosen, float *scores) {
    candidate *heap = memory;
    int64_t left = 0, n = 0;
    for (int64_t k = 0; k < s->n; k++)
        if (s->scores[k] > s->least) heap[left++] = (candidate){s->scores[k], (int32_t)k, 0};
    for (int64_t k = left / 2; k-- > 0;) sink(heap, left, k);
    while (left > 0 && n < s->most) {
        candidate next = heap[0];
        float score = next.score;
        heap[0] = heap[--left];
        if (left > 0) sink(heap, left, 0);
        if (!decay(s, &next, chosen, n)) continue;
        if (next.score == score) {
            chosen[n] = next.box;
            scores[n++] = score;
        } else if (next.score > s->least) {
            heap[left] = next;
            rise(heap, left++);
        }
    }
    return n;
}
