/* Index tensors whose last axis holds coordinates. */
#include "ops/array/nd_index.h"
#include "kernels/block.h"
#include "ops/array/array.h"
#include <stdio.h>
#include <string.h>

static bool is(const ef_attr_text *t, const char *s) { return strcmp(t->at, s) == 0; }

static ef_status *read_policy(const ef_op *op, const ef_nd_attrs *a, bool *ignore) {
    const ef_attr_text *p = &a->bad_indices_policy;
    *ignore = false;
    if (p->n == 0 || is(p, "DEFAULT") || is(p, "ERROR")) return NULL;
    *ignore = is(p, "IGNORE");
    if (*ignore) return NULL;
    return ef_error(EF_INVALID,
                    "%s: Unknown bad_indices_policy: '%s'; it must be '', 'DEFAULT', 'ERROR' or "
                    "'IGNORE'",
                    op->name, p->at);
}

static ef_status *check_depth(const ef_op *op, int64_t depth, int rank) {
    if (depth <= rank) return NULL;
    return ef_error(EF_INVALID,
                    "%s: index innermost dimension length must be <= params rank; saw: %lld vs. %d",
                    op->name, (long long)depth, rank);
}

ef_status *ef_nd_make(const ef_op *op, const ef_nd_attrs *a, const ef_tensor *indices,
                      const ef_shape *into, ef_nd *out) {
    EF_TRY(read_policy(op, a, &out->ignore));
    if (indices->rank < 1)
        return ef_error(EF_INVALID, "%s: Indices shape must have rank at least one. Found: []",
                        op->name);
    int64_t depth = indices->dim[indices->rank - 1];
    EF_TRY(check_depth(op, depth, into->rank));
    ef_shape s = ef_shape_from(indices);
    out->indices = indices;
    out->into = *into;
    out->depth = (int)depth;
    out->rows = ef_shape_span(&s, 0, s.rank - 1);
    out->slice = ef_shape_span(into, out->depth, into->rank);
    ef_dense_steps(into->rank, into->dim, out->step);
    return NULL;
}

ef_status *ef_nd_outside(const ef_op *op, const ef_nd *n, int64_t k) {
    char where[160], what[160];
    size_t a = 0, b = 0;
    int64_t step[EF_MAX_RANK], rest = k;
    int lead = n->indices->rank - 1;
    where[0] = what[0] = 0;
    ef_dense_steps(lead, n->indices->dim, step);
    for (int d = 0; d < lead && a < sizeof where; d++) {
        a += (size_t)snprintf(where + a, sizeof where - a, "%s%lld", d ? "," : "[",
                              (long long)(rest / step[d]));
        rest %= step[d];
    }
    for (int d = 0; d < n->depth && b < sizeof what; d++)
        b += (size_t)snprintf(what + b, sizeof what - b, "%s%lld", d ? "," : "",
                              (long long)ef_element_int((ef_dtype)n->indices->dtype,
                                                        n->indices->data, k * n->depth + d));
    return ef_error(EF_INVALID, "%s: indices%s%s = [%s] does not index into shape %s", op->name,
                    where, lead > 0 ? "]" : "", what, EF_SHAPE(&n->into));
}

ef_status *ef_nd_shape(const ef_op *op, const ef_shape *indices, const ef_shape *into,
                       ef_shape *out) {
    *out = ef_unknown_shape();
    if (indices->rank == 0)
        return ef_error(EF_INVALID, "%s: Indices shape must have rank at least one. Found: []",
                        op->name);
    if (indices->rank < 0 || into->rank < 0) return NULL;
    int64_t depth = indices->dim[indices->rank - 1];
    if (depth < 0) return NULL;
    EF_TRY(check_depth(op, depth, into->rank));
    int64_t rank = indices->rank - 1 + into->rank - depth;
    EF_TRY(ef_need_rank_held(op, rank));
    out->rank = 0;
    for (int d = 0; d < indices->rank - 1; d++) out->dim[out->rank++] = indices->dim[d];
    for (int d = (int)depth; d < into->rank; d++) out->dim[out->rank++] = into->dim[d];
    return ef_need_size_held(op, out);
}
