/* Einsum by matrix products. Each operand is first simplified: diagonals are taken, and labels that
 * occur only there are summed. What remains is a batched product, [batch, x's own, summed] by
 * [batch, summed, y's own]; axes are transposed only if neither that order nor its transpose is
 * there already. With nothing to sum it is a broadcast multiplication. */
#include "kernels/block.h"
#include "kernels/gemm.h"
#include "kernels/reduce.h"
#include "ops/elementwise.h"
#include "ops/linalg/einsum.h"

/* A dense array whose axes have distinct labels. */
typedef struct piece {
    const void *data;
    int n;
    int label[EF_MAX_RANK];
    int64_t dim[EF_MAX_RANK];
} piece;

/* Scratch memory is handed out in order. A dry run has no memory and only computes the total. */
typedef struct room {
    char *at;
    size_t used;
    bool dry;
    ef_dtype dtype;
} room;

static void *take(room *r, int64_t count) {
    void *p = r->dry ? NULL : r->at + r->used;
    r->used += ((size_t)count * ef_dtype_size(r->dtype) + 63) / 64 * 64;
    return p;
}

static int find(const int *label, int n, int want) {
    for (int k = 0; k < n; k++)
        if (label[k] == want) return k;
    return -1;
}
static int64_t count_of(const piece *p) {
    int64_t n = 1;
    for (int k = 0; k < p->n; k++) n *= p->dim[k];
    return n;
}

/* Starts from an operand, of which it takes the diagonals. */
static void open_piece(room *r, const ef_tensor *t, const struct ef_einsum_term *term, piece *p) {
    int64_t step[EF_MAX_RANK], own[EF_MAX_RANK];
    ef_dense_steps(t->rank, t->dim, step);
    *p = (piece){.data = t->data};
    for (int d = 0; d < t->rank; d++) {
        int k = find(p->label, p->n, term->label[d]);
        if (k < 0) {
            k = p->n++;
            p->label[k] = term->label[d], p->dim[k] = t->dim[d], own[k] = 0;
        }
        own[k] += step[d];
    }
    if (p->n == t->rank) return;
    void *to = take(r, count_of(p));
    int64_t dense[EF_MAX_RANK];
    ef_block b = {0};
    ef_dense_steps(p->n, p->dim, dense);
    for (int k = 0; k < p->n; k++) ef_block_axis(&b, p->dim[k], own[k], dense[k]);
    if (!r->dry) (void)ef_block_copy(r->dtype, to, p->data, &b); /* numbers: cannot fail */
    p->data = to;
}

/* Sums over labels that are neither in the other operand nor in the output. */
static void sum_alone(room *r, piece *p, const piece *other, const struct ef_einsum_term *out) {
    uint32_t mask = 0;
    piece q = {0};
    for (int k = 0; k < p->n; k++) {
        bool alone = find(out->label, out->n, p->label[k]) < 0 &&
                     (other == NULL || find(other->label, other->n, p->label[k]) < 0);
        if (alone) {
            mask |= 1u << k;
            continue;
        }
        q.label[q.n] = p->label[k], q.dim[q.n++] = p->dim[k];
    }
    if (mask == 0) return;
    void *to = take(r, count_of(&q));
    if (!r->dry) ef_reduce(EF_REDUCE_SUM, r->dtype, p->n, p->dim, mask, p->data, to);
    q.data = to;
    *p = q;
}

/* Whether p's labels are in this order; axes of size 1 are ignored. */
static bool in_order(const piece *p, const int *want, int n) {
    int at = 0;
    for (int k = 0; k < p->n; k++) {
        if (p->dim[k] == 1) continue;
        while (at < n && want[at] != p->label[k]) at++;
        if (at++ >= n) return false;
    }
    return true;
}

static void arrange(room *r, piece *p, const int *want, int n) {
    piece q = {.n = n};
    int64_t step[EF_MAX_RANK], dense[EF_MAX_RANK];
    ef_dense_steps(p->n, p->dim, step);
    for (int k = 0; k < n; k++) {
        int at = find(p->label, p->n, want[k]);
        q.label[k] = want[k];
        q.dim[k] = at < 0 ? 1 : p->dim[at];
    }
    void *to = take(r, count_of(&q));
    ef_block b = {0};
    ef_dense_steps(n, q.dim, dense);
    for (int k = 0; k < n; k++) {
        int at = find(p->label, p->n, want[k]);
        ef_block_axis(&b, q.dim[k], at < 0 ? 0 : step[at], dense[k]);
    }
    if (!r->dry) (void)ef_block_copy(r->dtype, to, p->data, &b);
    q.data = to;
    *p = q;
}

/* Writes a piece into the output, whose labels may repeat (then the piece is a diagonal in
 * zeros). */
static void write_out(const room *r, const piece *p, const struct ef_einsum_term *out,
                      const ef_tensor *y) {
    if (r->dry) return;
    int64_t from[EF_MAX_RANK] = {0}, step[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0};
    int unique = 0;
    ef_dense_steps(p->n, p->dim, from);
    ef_dense_steps(y->rank, y->dim, step);
    ef_block b = {0};
    for (int d = 0; d < out->n; d++) {
        if (find(out->label, d, out->label[d]) >= 0) continue;
        int at = find(p->label, p->n, out->label[d]);
        for (int e = d; e < out->n; e++)
            if (out->label[e] == out->label[d]) to[d] += step[e];
        ef_block_axis(&b, y->dim[d], at < 0 || p->dim[at] == 1 ? 0 : from[at], to[d]);
        unique++;
    }
    if (unique < out->n) (void)ef_zero_elements(r->dtype, y->data, ef_count(y));
    (void)ef_block_copy(r->dtype, y->data, p->data, &b);
}

static bool direct(const struct ef_einsum_term *out, const int *order, int n) {
    if (out->n != n) return false;
    for (int k = 0; k < n; k++)
        if (out->label[k] != order[k]) return false;
    return true;
}

/* Labels by role, each in the order of the output (summed ones in the order of x). */
typedef struct roles {
    int batch[EF_MAX_RANK], mine[EF_MAX_RANK], yours[EF_MAX_RANK], sum[EF_MAX_RANK];
    int n_batch, n_mine, n_yours, n_sum;
} roles;

static void assign(const piece *x, const piece *y, const struct ef_einsum_term *out, roles *r) {
    memset(r, 0, sizeof *r);
    for (int d = 0; d < out->n; d++) {
        int l = out->label[d];
        if (find(out->label, d, l) >= 0) continue;
        bool in_x = find(x->label, x->n, l) >= 0, in_y = find(y->label, y->n, l) >= 0;
        if (in_x && in_y)
            r->batch[r->n_batch++] = l;
        else if (in_x)
            r->mine[r->n_mine++] = l;
        else
            r->yours[r->n_yours++] = l;
    }
    for (int k = 0; k < x->n; k++)
        if (find(out->label, out->n, x->label[k]) < 0) r->sum[r->n_sum++] = x->label[k];
}

static int join(int *to, const int *a, int n_a, const int *b, int n_b, const int *c, int n_c) {
    memcpy(to, a, (size_t)n_a * sizeof *to);
    memcpy(to + n_a, b, (size_t)n_b * sizeof *to);
    memcpy(to + n_a + n_b, c, (size_t)n_c * sizeof *to);
    return n_a + n_b + n_c;
}

static int64_t size_in(const piece *p, int label) {
    int at = find(p->label, p->n, label);
    return at < 0 ? 1 : p->dim[at];
}
static int64_t span(const piece *p, const int *label, int n) {
    int64_t size = 1;
    for (int k = 0; k < n; k++) size *= size_in(p, label[k]);
    return size;
}

/* The strides of one operand through the batch. */
static void batch_steps(const piece *p, const roles *r, int64_t size, int64_t *step) {
    for (int k = r->n_batch - 1; k >= 0; k--) {
        int64_t dim = size_in(p, r->batch[k]);
        step[k] = dim == 1 ? 0 : size;
        size *= dim;
    }
}

/* z = x * y with nothing to sum: one broadcast multiplication of views. */
static void multiply(const room *room_, piece *x, piece *y, piece *z) {
    if (room_->dry) return;
    ef_tensor tx = {.dtype = (uint8_t)room_->dtype, .rank = (int8_t)z->n}, ty = tx, tz = tx;
    for (int k = 0; k < z->n; k++) {
        tx.dim[k] = size_in(x, z->label[k]);
        ty.dim[k] = size_in(y, z->label[k]);
        tz.dim[k] = z->dim[k];
    }
    tx.data = (void *)(uintptr_t)x->data;
    ty.data = (void *)(uintptr_t)y->data;
    tz.data = (void *)(uintptr_t)z->data;
    ef_tensor *const in[] = {&tx, &ty};
    ef_dtype types[] = {room_->dtype, room_->dtype};
    ef_elementwise(ef_op_tile(&ef_op_Mul, types, 2, room_->dtype, NULL), NULL, 2, in, &tz);
}

static void contract(room *room_, piece *x, piece *y, const struct ef_einsum_term *out,
                     const ef_tensor *result) {
    roles r;
    assign(x, y, out, &r);
    int plain[EF_MAX_RANK * 2], flipped[EF_MAX_RANK * 2], order[EF_MAX_RANK];
    /* x as [batch, mine, sum] or [batch, sum, mine]; y as [batch, sum, yours] or [batch, yours,
     * sum]. */
    int n = join(plain, r.batch, r.n_batch, r.mine, r.n_mine, r.sum, r.n_sum);
    join(flipped, r.batch, r.n_batch, r.sum, r.n_sum, r.mine, r.n_mine);
    bool flip_x = !in_order(x, plain, n) && in_order(x, flipped, n);
    if (!flip_x && !in_order(x, plain, n)) arrange(room_, x, plain, n);
    n = join(plain, r.batch, r.n_batch, r.sum, r.n_sum, r.yours, r.n_yours);
    join(flipped, r.batch, r.n_batch, r.yours, r.n_yours, r.sum, r.n_sum);
    bool flip_y = !in_order(y, plain, n) && in_order(y, flipped, n);
    if (!flip_y && !in_order(y, plain, n)) arrange(room_, y, plain, n);

    piece z = {.n = join(order, r.batch, r.n_batch, r.mine, r.n_mine, r.yours, r.n_yours)};
    for (int k = 0; k < z.n; k++) {
        int64_t a = size_in(x, order[k]), b = size_in(y, order[k]);
        z.label[k] = order[k], z.dim[k] = a == 1 ? b : a;
    }
    bool straight = direct(out, order, z.n);
    void *to = straight ? result->data : take(room_, count_of(&z));
    z.data = to;
    int64_t m = span(x, r.mine, r.n_mine), w = span(y, r.yours, r.n_yours);
    int64_t k = span(x, r.sum, r.n_sum);
    if (r.n_sum == 0) {
        multiply(room_, x, y, &z);
    } else {
        ef_gemm_args g =
            ef_gemm_dense(room_->dtype, flip_x ? EF_GEMM_T : EF_GEMM_N,
                          flip_y ? EF_GEMM_T : EF_GEMM_N, m, w, k, x->data, y->data, to);
        ef_gemm_batch batch = {.rank = r.n_batch};
        for (int d = 0; d < r.n_batch; d++) batch.dim[d] = z.dim[d];
        batch_steps(x, &r, m * k, batch.step_a);
        batch_steps(y, &r, k * w, batch.step_b);
        g.scratch =
            take(room_, (int64_t)(ef_gemm_batched_scratch(&g, &batch) / ef_dtype_size(g.dtype)));
        if (!room_->dry) ef_gemm_batched(&g, &batch);
    }
    if (!straight) write_out(room_, &z, out, result);
}

static ef_status *run(const ef_call *c, room *r) {
    ef_einsum e;
    int rank[2] = {c->in[0]->rank, c->n_in > 1 ? c->in[1]->rank : 0};
    EF_TRY(ef_einsum_read(c->op, c->attrs, c->n_in, rank, &e));
    const struct ef_einsum_term *out = &e.term[EF_EINSUM_OUT];
    piece x, y;
    open_piece(r, c->in[0], &e.term[0], &x);
    if (c->n_in == 1) {
        sum_alone(r, &x, NULL, out);
        write_out(r, &x, out, c->out[0]);
        return NULL;
    }
    open_piece(r, c->in[1], &e.term[1], &y);
    sum_alone(r, &x, &y, out);
    sum_alone(r, &y, &x, out);
    /* The operand whose own labels come first in the output is the left one. */
    bool swap = false;
    for (int d = 0; d < out->n; d++) {
        bool in_x = find(x.label, x.n, out->label[d]) >= 0,
             in_y = find(y.label, y.n, out->label[d]) >= 0;
        if (in_x == in_y) continue;
        swap = in_y;
        break;
    }
    if (swap)
        contract(r, &y, &x, out, c->out[0]);
    else
        contract(r, &x, &y, out, c->out[0]);
    return NULL;
}

size_t ef_einsum_scratch(const ef_call *c) {
    room r = {.dry = true, .dtype = (ef_dtype)c->out[0]->dtype};
    ef_status_free(run(c, &r)); /* errors are reported by the run itself */
    return r.used;
}

ef_status *ef_einsum_run(const ef_call *c) {
    room r = {.at = c->scratch, .dtype = (ef_dtype)c->out[0]->dtype};
    return run(c, &r);
}
