/* Decides whether a trace serves a call: dtypes, ranks and sizes of the arguments are compared with
 * those of its parameters. */
#include "base/alloc.h"
#include "base/hash.h"
#include "graph/control.h"
#include "graph/sizes.h"
#include "runtime/function.h"

/* Whether two sizes of arguments are certainly equal, or are equal in the call of the trace around
 * this one. */
static bool equal_sizes(const ef_tensor *a, int i, const ef_tensor *b, int j) {
    int64_t x = a->dim[i], y = b->dim[j];
    bool apart = (a->flags & b->flags & EF_TENSOR_SYMBOLIC) && a->storage != b->storage;
    if (x == y && (x >= 0 || (x != EF_DIM_UNKNOWN && !apart))) return true;
    if (x >= 0 && y >= 0) return false;
    x = ef_tensor_real(a).dim[i];
    if (x < 0 || x != ef_tensor_real(b).dim[j]) return false;
    ef_tensor_read_size(a, i);
    ef_tensor_read_size(b, j);
    return true;
}

/* Sizes that share a symbol must be equal, since the trace may rely on it. */
static bool symbols_agree(const ef_trace *t, const ef_tensor *const *in) {
    struct {
        const ef_tensor *in;
        int d;
    } seen[EF_MAX_SYMBOLS] = {{NULL, 0}};
    for (int k = 0; k < t->n_in; k++)
        for (int d = 0; d < t->shape[k].rank; d++) {
            int s;
            int64_t a, b;
            if (!ef_dim_parts(t->shape[k].dim[d], &s, &a, &b) || a != 1 || b != 0) continue;
            if (seen[s].in != NULL && !equal_sizes(seen[s].in, seen[s].d, in[k], d)) return false;
            seen[s].in = in[k];
            seen[s].d = d;
        }
    return true;
}

/* Whether a size that is symbolic in the outer trace, and which this trace read, fits in this call.
 */
static bool fits_this_call(const ef_trace *t, const ef_tensor *const *in, int k, int d) {
    return in[k]->dim[d] < 0 && (t->read[k] >> d & 1) &&
           ef_tensor_real(in[k]).dim[d] == t->shape[k].dim[d];
}

/* Checks the sizes against nodes whose result nobody uses: they do not run, but tracing with these
 * sizes would have checked them. */
static bool fits_unused(ef_trace *t, const ef_tensor *const *in, int n_in) {
    uint64_t h = 0;
    for (int k = 0; k < n_in; k++)
        for (int d = 0; d < in[k]->rank; d++) h = ef_hash_mix(h, (uint64_t)in[k]->dim[d]);
    enum { MOST = sizeof t->checked / sizeof *t->checked };
    for (unsigned k = 0; k < t->n_checked && k < MOST; k++)
        if (t->checked[k] == h) return true;
    ef_fact *fact = ef_calloc(2 * (size_t)n_in + 1, sizeof *fact);
    ef_shape *out = ef_malloc(((size_t)t->n_out + 1) * sizeof *out);
    bool fit = false;
    if (fact != NULL && out != NULL) {
        for (int k = 0; k < n_in; k++) {
            fact[k] = *t->graph->node[t->graph->input[k]]->out;
            fact[k].shape = ef_tensor_real(in[k]);
        }
        ef_status *s = ef_graph_through(t->graph, fact, out);
        fit = s == NULL;
        ef_status_free(s);
    }
    ef_free(fact);
    ef_free(out);
    if (fit) t->checked[t->n_checked++ % MOST] = h;
    return fit;
}

bool ef_trace_fits(ef_trace *t, const ef_tensor *const *in, int n_in) {
    bool symbolic = false, looked = false;
    if (t->n_in != n_in) return false;
    for (int k = 0; k < n_in; k++) {
        const ef_shape *s = &t->shape[k];
        if (t->dtype[k] != in[k]->dtype || (s->rank >= 0 && s->rank != in[k]->rank)) return false;
        for (int d = 0; d < s->rank; d++) {
            if (s->dim[d] >= 0 && s->dim[d] != in[k]->dim[d]) {
                if (EF_LIKELY(!fits_this_call(t, in, k, d))) return false;
                looked = true;
            }
            symbolic = symbolic || s->dim[d] < EF_DIM_UNKNOWN;
        }
    }
    if (EF_UNLIKELY(symbolic) && !symbols_agree(t, in)) return false;
    if (EF_UNLIKELY(t->loose) && !fits_unused(t, in, n_in)) return false;
    for (int k = 0; k < n_in && EF_UNLIKELY(looked); k++)
        for (int d = 0; d < t->shape[k].rank; d++)
            if (t->shape[k].dim[d] >= 0) ef_tensor_read_size(in[k], d);
    return true;
}
