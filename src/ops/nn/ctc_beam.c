/* CTCBeamSearchDecoder: the most probable label sequences, found by extending the best few prefixes
 * frame by frame. A prefix is a node of a tree; at each frame it has two probabilities: of the
 * paths that end in a blank and of those that end in its last label. */
#include "base/alloc.h"
#include "ops/nn/ctc.h"
#include <math.h>
#include <stdlib.h>

typedef struct beam_attrs {
    int64_t beam_width, top_paths;
    bool merge_repeated;
} beam_attrs;

typedef struct node { /* a prefix: the parent's prefix and one more label */
    int32_t parent, label, length;
} node;
typedef struct beam {    /* a live prefix, or a candidate, whose node is its parent's */
    int32_t node, label; /* label >= 0: a candidate that is not in the tree yet */
    double blank, ends, total;
} beam;

typedef struct search {
    int64_t frames, classes, width;
    node *tree;
    int32_t nodes, live;
    beam *now, *next; /* `next` has space for all candidates */
    double *logp;     /* of one frame */
} search;

static double log_add(double a, double b) {
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static int by_total(const void *a, const void *b) {
    double x = ((const beam *)a)->total, y = ((const beam *)b)->total;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The log probability that the prefix `from` is extended by `label`. */
static double step(const search *s, const beam *from, int32_t label) {
    bool again = from->node != 0 && s->tree[from->node].label == label;
    return (again ? from->blank : from->total) + s->logp[label];
}

/* The index of the beam of the prefix `parent` extended by `label`, or -1. */
static int find_child(const search *s, int32_t parent, int32_t label) {
    for (int k = 0; k < s->live; k++) {
        const node *n = &s->tree[s->now[k].node];
        if (s->now[k].node != 0 && n->parent == parent && n->label == label) return k;
    }
    return -1;
}

/* Computes the beams after one more frame that adds no label. */
static int32_t stay(search *s) {
    int32_t blank = (int32_t)s->classes - 1;
    for (int k = 0; k < s->live; k++) {
        const beam *b = &s->now[k];
        beam *n = &s->next[k];
        *n = (beam){.node = b->node, .label = -1, .blank = b->total + s->logp[blank]};
        n->ends = -INFINITY;
        if (b->node != 0) {
            const node *last = &s->tree[b->node];
            n->ends = b->ends + s->logp[last->label];
            for (int j = 0; j < s->live; j++)
                if (s->now[j].node == last->parent)
                    n->ends = log_add(n->ends, step(s, &s->now[j], last->label));
        }
        n->total = log_add(n->blank, n->ends);
    }
    return s->live;
}

static void one_frame(search *s) {
    int32_t count = stay(s), blank = (int32_t)s->classes - 1;
    for (int k = 0; k < s->live; k++)
        for (int32_t label = 0; label < blank; label++) {
            if (find_child(s, s->now[k].node, label) >= 0) continue;
            double p = step(s, &s->now[k], label);
            s->next[count++] = (beam){s->now[k].node, label, -INFINITY, p, p};
        }
    qsort(s->next, (size_t)count, sizeof *s->next, by_total);
    s->live = count < s->width ? count : (int32_t)s->width;
    for (int k = 0; k < s->live; k++) {
        beam b = s->next[k];
        if (b.label >= 0) {
            s->tree[s->nodes] = (node){b.node, b.label, s->tree[b.node].length + 1};
            b.node = s->nodes++;
            b.label = -1;
        }
        s->now[k] = b;
    }
}

static void decode(search *s, const ef_tensor *x, int64_t b) {
    s->nodes = s->live = 1;
    s->tree[0] = (node){-1, -1, 0};
    s->now[0] = (beam){0, -1, 0.0, -INFINITY, 0.0};
    for (int64_t f = 0; f < s->frames; f++) {
        for (int64_t k = 0; k < s->classes; k++)
            s->logp[k] = ef_element_double((ef_dtype)x->dtype, x->data,
                                           (f * x->dim[1] + b) * s->classes + k);
        ef_ctc_normalize(s->logp, s->classes);
        one_frame(s);
    }
}

/* The labels of a prefix; returns their number. */
static int64_t spell(const search *s, int32_t at, bool merge, int64_t *out) {
    int64_t n = s->tree[at].length, kept = 0;
    for (int64_t k = n - 1; k >= 0; k--, at = s->tree[at].parent) out[k] = s->tree[at].label;
    for (int64_t k = 0; k < n; k++)
        if (!merge || kept == 0 || out[kept - 1] != out[k]) out[kept++] = out[k];
    return kept;
}

enum { MOST_BEAMS = 1 << 20 };

static ef_status *beam_shape(ef_infer *i) {
    const beam_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 3));
    EF_TRY(ef_need_rank(i, 1, 1));
    int64_t same;
    if (i->in[0].shape.rank == 3 && i->in[1].shape.rank == 1)
        EF_TRY(ef_need_same_dim(i, i->in[0].shape.dim[1], i->in[1].shape.dim[0],
                                "the batch of inputs and sequence_length", &same));
    if (t->beam_width > MOST_BEAMS)
        return ef_error(EF_INVALID, "%s: beam_width is %lld; it must be at most %d", i->op->name,
                        (long long)t->beam_width, MOST_BEAMS);
    if (t->top_paths > t->beam_width)
        return ef_error(EF_INVALID, "%s: requested more paths (%lld) than the beam width (%lld)",
                        i->op->name, (long long)t->top_paths, (long long)t->beam_width);
    for (int64_t p = 0; p < t->top_paths; p++) {
        i->out[p].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, 2}};
        i->out[t->top_paths + p].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
        i->out[2 * t->top_paths + p].shape = (ef_shape){.rank = 1, .dim = {2}};
    }
    ef_shape scores = {.rank = 2, .dim = {EF_DIM_UNKNOWN, t->top_paths}};
    if (i->in[0].shape.rank == 3) scores.dim[0] = i->in[0].shape.dim[1];
    i->out[3 * t->top_paths].shape = scores;
    return NULL;
}

/* labels: [path][batch][frames], counts: [path][batch]. */
static ef_status *write_path(const ef_call *c, int p, const int64_t *label, const int64_t *count) {
    const ef_tensor *x = c->in[0];
    int paths = (int)((const beam_attrs *)c->attrs)->top_paths;
    int64_t total = 0, longest = 0, at = 0;
    for (int64_t b = 0; b < x->dim[1]; b++) {
        total += count[b];
        longest = count[b] > longest ? count[b] : longest;
    }
    ef_shape pairs = {.rank = 2, .dim = {total, 2}}, values = {.rank = 1, .dim = {total}};
    ef_shape two = {.rank = 1, .dim = {2}};
    EF_TRY(ef_out_alloc(c, p, &pairs));
    EF_TRY(ef_out_alloc(c, paths + p, &values));
    EF_TRY(ef_out_alloc(c, 2 * paths + p, &two));
    int64_t *index = c->out[p]->data, *value = c->out[paths + p]->data;
    for (int64_t b = 0; b < x->dim[1]; b++)
        for (int64_t k = 0; k < count[b]; k++, at++) {
            index[2 * at] = b;
            index[2 * at + 1] = k;
            value[at] = label[b * x->dim[0] + k];
        }
    ((int64_t *)c->out[2 * paths + p]->data)[0] = x->dim[1];
    ((int64_t *)c->out[2 * paths + p]->data)[1] = longest;
    return NULL;
}

static ef_status *search_all(const ef_call *c, search *s, int64_t *label, int64_t *count) {
    const ef_tensor *x = c->in[0];
    const beam_attrs *t = c->attrs;
    const int32_t *length = c->in[1]->data;
    ef_tensor *scores = c->out[3 * t->top_paths];
    for (int64_t b = 0; b < x->dim[1]; b++) {
        if (length[b] < 0 || length[b] > x->dim[0])
            return ef_error(EF_FAILED_PRECONDITION,
                            "%s: sequence_length(%lld) must be <= %lld, but is %d", c->op->name,
                            (long long)b, (long long)x->dim[0], length[b]);
        s->frames = length[b];
        decode(s, x, b);
        if (s->live < t->top_paths)
            return ef_error(EF_INVALID, "%s: less leaves in the beam search than requested",
                            c->op->name);
        for (int64_t p = 0; p < t->top_paths; p++) {
            int64_t at = p * x->dim[1] + b;
            count[at] = spell(s, s->now[p].node, t->merge_repeated, label + at * x->dim[0]);
            ef_element_set((ef_dtype)x->dtype, scores->data, b * t->top_paths + p, s->now[p].total);
        }
    }
    ef_status *bad = NULL;
    for (int p = 0; p < t->top_paths && bad == NULL; p++)
        bad = write_path(c, p, label + p * x->dim[1] * x->dim[0], count + p * x->dim[1]);
    return bad;
}

static ef_status *beam_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const beam_attrs *t = c->attrs;
    EF_TRY(ef_ctc_need_blank(c));
    ef_shape scores = {.rank = 2, .dim = {x->dim[1], t->top_paths}};
    EF_TRY(ef_out_alloc(c, (int)(3 * t->top_paths), &scores));
    size_t width = (size_t)t->beam_width, classes = (size_t)x->dim[2];
    size_t frames = (size_t)x->dim[0], paths = (size_t)(t->top_paths * x->dim[1]);
    size_t bytes = (width + width * (classes + 1)) * sizeof(beam) + classes * sizeof(double) +
                   paths * (frames + 1) * sizeof(int64_t) + (width * frames + 1) * sizeof(node) +
                   64;
    beam *mem = ef_malloc(bytes);
    if (mem == NULL) return ef_no_memory(bytes);
    search s = {.classes = x->dim[2], .width = t->beam_width, .now = mem, .next = mem + width};
    s.logp = (double *)(s.next + width * (classes + 1));
    int64_t *label = (int64_t *)(s.logp + classes), *count = label + paths * frames;
    s.tree = (node *)(count + paths);
    ef_status *bad = search_all(c, &s, label, count);
    ef_free(mem);
    return bad;
}

const ef_op ef_op_CTCBeamSearchDecoder = {
    EF_NAMED(CTCBeamSearchDecoder),
    .doc =
        "The `top_paths` most probable label sequences as sparse matrices, found with `beam_width` "
        "prefixes, and their log probabilities.",
    .in = {"inputs: T", "sequence_length: int32"},
    .out = {"decoded_indices: top_paths * int64", "decoded_values: top_paths * int64",
            "decoded_shape: top_paths * int64", "log_probability: T"},
    .types = "T: {float, double} = float",
    .attr = {EF_ATTR(beam_attrs, beam_width, "int >= 1", NULL),
             EF_ATTR(beam_attrs, top_paths, "int >= 1", NULL),
             EF_ATTR(beam_attrs, merge_repeated, "bool", "true")},
    .attr_size = sizeof(beam_attrs),
    .traits = EF_HEAVY | EF_DYNAMIC | EF_NO_GRAD,
    .shape = beam_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), beam_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[5,2,4] int32[2]{5,3} beam_width=3 top_paths=2"},
};
