/* Joins the strings of one segment in their order: builds a list of rows for each segment, then
 * makes one pass over each list. */
#include "base/alloc.h"
#include "kernels/segment.h"
#include "ops/string/strings.h"

typedef struct {
    ef_attr_text separator;
} segment_join_attrs;

/* Linked lists of rows by segment: first[s] is the first row of segment s, next[k] the row after
 * row k; -1 ends a list. */
typedef struct {
    int64_t *first, *last, *next;
} chains;

static ef_status *chain(const ef_call *c, int64_t segments, chains *rows) {
    const ef_tensor *ids = c->in[1];
    int64_t n = ef_count(ids);
    for (int64_t s = 0; s < segments; s++) rows->first[s] = rows->last[s] = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        if (id < 0 || id >= segments)
            return ef_error(EF_INVALID, "%s: segment_ids[%lld] = %lld is out of range [0, %lld)",
                            c->op->name, (long long)k, (long long)id, (long long)segments);
        rows->next[k] = -1;
        if (rows->first[id] < 0)
            rows->first[id] = k;
        else
            rows->next[rows->last[id]] = k;
        rows->last[id] = k;
    }
    return NULL;
}

static ef_status *join_segments(const ef_call *c, const chains *rows, int64_t width) {
    const segment_join_attrs *t = c->attrs;
    const ef_str *in = ef_strs(c->in[0]);
    ef_str *out = c->out[0]->data;
    ef_text text = {0};
    ef_status *s = NULL;
    for (int64_t j = 0, n = ef_count(c->out[0]); j < n && s == NULL; j++) {
        int64_t from = rows->first[j / width];
        for (int64_t k = from; k >= 0; k = rows->next[k]) {
            const ef_str *x = &in[k * width + j % width];
            if (k != from) ef_text_bytes(&text, t->separator.at, t->separator.n);
            ef_text_bytes(&text, x->at, x->n);
        }
        s = ef_str_take(&out[j], &text);
    }
    ef_text_free(&text);
    return s;
}

static ef_status *segment_join_run(const ef_call *c) {
    EF_TRY(ef_out_memory(c, 0));
    int64_t n = ef_count(c->in[1]), segments = c->out[0]->dim[0], width = 1;
    for (int d = 1; d < c->out[0]->rank; d++) width *= c->out[0]->dim[d];
    if (width == 0) return NULL;
    size_t bytes = (size_t)(2 * segments + n) * sizeof(int64_t);
    int64_t *memory = ef_malloc(bytes);
    if (memory == NULL) return ef_no_memory(bytes);
    chains rows = {memory, memory + segments, memory + 2 * segments};
    ef_status *s = chain(c, segments, &rows);
    if (s == NULL) s = join_segments(c, &rows, width);
    ef_free(memory);
    return s;
}

const ef_op ef_op_UnsortedSegmentJoin = {
    EF_NAMED(UnsortedSegmentJoin),
    .doc = "Joins the strings of each segment, `separator` between them. Ids come in any "
           "order.",
    .in = {"inputs: string", "segment_ids: Tindices", "num_segments: Tnumsegments"},
    .out = {"output: string"},
    .types = "Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
    .attr = {EF_ATTR(segment_join_attrs, separator, "string", "''")},
    .attr_size = sizeof(segment_join_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_unsorted_segments,
    .kernel = EF_ANY_KERNEL(segment_join_run),
    .examples = {"string[3]{a,b,c} int32[3]{1,0,1} int32[]{3} separator=':'",
                 "string[2,2]{a,b,c,d} int64[2]{0,0} int32[]{1}",
                 "string[3]{a,b,c} int32[3]{1,1,1} int64[]{2}", "string[0] int32[0] int32[]{2}"},
};
