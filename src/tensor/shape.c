/* Shapes: comparing, merging, broadcasting and printing them. dim.c has single dims. */
#include "tensor/shape.h"
#include <stdio.h>
#include <string.h>

ef_shape ef_shape_of(int rank, const int64_t *dims) {
    ef_shape s = {.rank = rank < 0 ? -1 : rank};
    int n = rank > EF_MAX_RANK ? EF_MAX_RANK : s.rank; /* whoever uses s rejects a rank too high */
    for (int d = 0; d < n; d++) s.dim[d] = dims[d];
    return s;
}

bool ef_shape_known(const ef_shape *s) {
    if (s->rank < 0 || s->rank > EF_MAX_RANK) return false;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] < 0) return false;
    return true;
}

bool ef_shape_equal(const ef_shape *a, const ef_shape *b) {
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return true;
}

bool ef_shape_may_equal(const ef_shape *a, const ef_shape *b) {
    if (a->rank < 0 || b->rank < 0) return true;
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (!ef_dim_may_equal(a->dim[d], b->dim[d])) return false;
    return true;
}

int64_t ef_shape_count(const ef_shape *s) {
    if (s->rank < 0) return -1;
    if (s->rank > EF_MAX_RANK) return -2;
    bool unknown = false, overflow = false, empty = false;
    uint64_t n = 1;
    for (int d = 0; d < s->rank; d++) {
        uint64_t size = (uint64_t)s->dim[d];
        if (s->dim[d] < 0) {
            unknown = true;
        } else if (size == 0) {
            empty = true;
        } else if (n > (uint64_t)INT64_MAX / size) {
            overflow = true;
        } else {
            n *= size;
        }
    }
    if (unknown) return -1;
    return empty ? 0 : overflow ? -2 : (int64_t)n;
}

int64_t ef_shape_span(const ef_shape *s, int from, int to) {
    int64_t n = 1;
    for (int d = from; d < to; d++) n *= s->dim[d];
    return n;
}

/* Known beats symbolic beats unknown. */
static int64_t more_precise(int64_t x, int64_t y) {
    if (ef_dim_known(x) || y == EF_DIM_UNKNOWN) return x;
    return ef_dim_known(y) || x == EF_DIM_UNKNOWN ? y : x;
}

ef_status *ef_shape_merge(const ef_shape *a, const ef_shape *b, ef_shape *out) {
    if (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank)
        return ef_error(EF_INVALID, "shapes %s and %s have ranks %d and %d; they must be the same",
                        EF_SHAPE(a), EF_SHAPE(b), (int)a->rank, (int)b->rank);
    ef_shape s = a->rank >= 0 ? *a : *b;
    if (a->rank >= 0 && b->rank >= 0) {
        for (int d = 0; d < a->rank; d++) {
            if (!ef_dim_may_equal(a->dim[d], b->dim[d]))
                return ef_error(EF_INVALID,
                                "shapes %s and %s differ in dimension %d; "
                                "they must be the same",
                                EF_SHAPE(a), EF_SHAPE(b), d);
            s.dim[d] = more_precise(a->dim[d], b->dim[d]);
        }
    }
    *out = s;
    return NULL;
}

ef_shape ef_shape_foreign(const ef_shape *s) {
    ef_shape out = *s;
    for (int d = 0; d < out.rank; d++)
        if (out.dim[d] < 0) out.dim[d] = EF_DIM_UNKNOWN;
    return out;
}

/* One dim of a broadcast; false if it cannot be. A known size other than 1 decides the result: the
 * other must be 1 or the same. */
static bool broadcast_dim(int64_t x, int64_t y, int64_t *out) {
    if (x == 1 || y == 1 || x == y) {
        *out = x == 1 ? y : x;
        return true;
    }
    if (ef_dim_known(x) || ef_dim_known(y)) {
        int64_t size = ef_dim_known(x) ? x : y, other = ef_dim_known(x) ? y : x;
        *out = size;
        return ef_dim_may_equal(other, size) || ef_dim_may_equal(other, 1);
    }
    *out = EF_DIM_UNKNOWN;
    return true;
}

bool ef_shape_broadcast2(const ef_shape *a, const ef_shape *b, ef_shape *out) {
    if (a->rank < 0 || b->rank < 0) {
        *out = ef_unknown_shape();
        return true;
    }
    ef_shape s = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int d = 1; d <= s.rank; d++) { /* from the last dim to the first */
        int64_t x = d <= a->rank ? a->dim[a->rank - d] : 1;
        int64_t y = d <= b->rank ? b->dim[b->rank - d] : 1;
        if (!broadcast_dim(x, y, &s.dim[s.rank - d])) return false;
    }
    *out = s;
    return true;
}

ef_brief ef_shape_brief(const ef_shape *s) {
    ef_brief b = {"<unknown>"};
    if (s->rank < 0) return b;
    int rank = s->rank > EF_MAX_RANK ? EF_MAX_RANK : s->rank;
    size_t n = 1;
    b.text[0] = '[';
    for (int d = 0; d < rank; d++) {
        char dim[48];
        size_t len = ef_dim_print(s->dim[d], dim, sizeof dim);
        if (n + len + 8 > sizeof b.text) { /* room for ", ...]" and the end */
            memcpy(b.text + n, ", ...]", 7);
            return b;
        }
        if (d > 0) n += (size_t)snprintf(b.text + n, sizeof b.text - n, ", ");
        memcpy(b.text + n, dim, len);
        n += len;
    }
    memcpy(b.text + n, s->rank > rank ? ", ...]" : "]", s->rank > rank ? 7 : 2);
    return b;
}
