/* Windows by key: elements are kept under their key until there are enough of them; then the
 * program makes a dataset of them, whose elements come next. */
#include "base/alloc.h"
#include "data/function.h"
#include "data/rows.h"
#include "data/stage.h"

typedef struct bucket {
    int64_t key, n, most;
    ef_tensor *element;
} bucket;

typedef struct group {
    ef_stage base;
    ef_element_fn key, size, reduce;
    bucket *bucket; /* by key, ascending */
    size_t n, cap;
    ef_stage *now;      /* the dataset whose elements come next; NULL: none */
    ef_tensor given[2]; /* what it was made of: the key, and the elements as a dataset */
    ef_tensor *in;
    bool over;
} group;

static ef_status *group_open(ef_stage *s) {
    group *g = (group *)s;
    const ef_dataset_attrs *a = s->dataset->set;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(
        ef_element_fn_open(&g->key, s->run, a->key_func, s->dataset, "key_func_other_arguments"));
    EF_TRY(ef_element_fn_open(&g->size, s->run, a->window_size_func, s->dataset,
                              "window_size_func_other_arguments"));
    EF_TRY(ef_element_fn_open(&g->reduce, s->run, a->reduce_func, s->dataset,
                              "reduce_func_other_arguments"));
    EF_TRY(ef_element_fn_check(&g->key, s->dataset, s->source->width));
    EF_TRY(ef_element_fn_check(&g->size, s->dataset, 1));
    EF_TRY(ef_element_fn_check(&g->reduce, s->dataset, 2));
    if (g->key.n_out != 1 || g->size.n_out != 1 || g->reduce.n_out != 1)
        return ef_error(EF_INVALID, "%s: each function must return one tensor",
                        s->dataset->op->name);
    g->in = ef_calloc((size_t)s->source->width, sizeof *g->in);
    return g->in == NULL ? ef_no_memory(sizeof *g->in) : NULL;
}

static void bucket_empty(bucket *b, int width) {
    for (int64_t k = 0; k < b->n * width; k++) ef_tensor_release(&b->element[k]);
    ef_free(b->element);
    b->element = NULL;
    b->n = 0;
}

static void end_window(group *g) {
    ef_stage_close(g->now);
    g->now = NULL;
    ef_element_release(g->given, 2);
}

static void group_close(ef_stage *s) {
    group *g = (group *)s;
    for (size_t k = 0; k < g->n; k++) bucket_empty(&g->bucket[k], s->source->width);
    ef_free(g->bucket);
    end_window(g);
    ef_free(g->in);
    ef_element_fn_close(&g->key);
    ef_element_fn_close(&g->size);
    ef_element_fn_close(&g->reduce);
}

/* Calls a function that must return a scalar int64. */
static ef_status *number(const ef_element_fn *f, const ef_tensor *in, const char *what,
                         int64_t *out) {
    ef_tensor t = {0};
    EF_TRY(ef_element_fn_run(f, in, &t));
    ef_status *s = NULL;
    if (t.dtype != EF_I64 || ef_count(&t) != 1)
        s = ef_error(EF_INVALID, "`%s` must return a scalar int64, not %s.", what, EF_TENSOR(&t));
    else
        *out = *(const int64_t *)t.data;
    ef_tensor_release(&t);
    return s;
}

static ef_status *key_tensor(int64_t key, ef_tensor *out) {
    ef_shape scalar = {.rank = 0};
    EF_TRY(ef_tensor_alloc(out, EF_I64, &scalar));
    *(int64_t *)out->data = key;
    return NULL;
}

/* The bucket of a key, made with the key's first element. */
static ef_status *bucket_for(group *g, int64_t key, bucket **out) {
    size_t at = 0;
    while (at < g->n && g->bucket[at].key < key) at++;
    if (at == g->n || g->bucket[at].key != key) {
        ef_tensor t = {0};
        int64_t most = 0;
        EF_TRY(key_tensor(key, &t));
        EF_TRY(number(&g->size, &t, "window_size_func", &most));
        if (most <= 0)
            return ef_error(EF_INVALID, "Window size must be greater than zero, but got %lld.",
                            (long long)most);
        if (g->n == g->cap) {
            size_t cap = g->cap == 0 ? 8 : 2 * g->cap;
            bucket *more = ef_realloc(g->bucket, cap * sizeof *more);
            if (more == NULL) return ef_no_memory(cap * sizeof *more);
            g->bucket = more;
            g->cap = cap;
        }
        memmove(&g->bucket[at + 1], &g->bucket[at], (g->n++ - at) * sizeof *g->bucket);
        g->bucket[at] = (bucket){.key = key, .most = most};
    }
    *out = &g->bucket[at];
    return NULL;
}

/* Opens the dataset that the program makes of `given`. */
static ef_status *open_window(group *g) {
    ef_tensor out = {0};
    ef_status *s = ef_element_fn_run(&g->reduce, g->given, &out);
    if (s != NULL && ef_status_code(s) != EF_CANCELLED)
        s = ef_status_add(ef_status_as(s, EF_INTERNAL), "from running `reduce_func`");
    if (s == NULL && ef_dataset_of(&out) == NULL)
        s = ef_error(EF_INVALID, "`reduce_func` must return a `Dataset` object.");
    if (s == NULL && ef_dataset_width(ef_dataset_of(&out)) != g->base.width)
        s = ef_error(EF_INVALID, "`reduce_func` must return a dataset of elements of %d tensors",
                     g->base.width);
    if (s == NULL) s = ef_stage_open_under(&g->base, ef_dataset_of(&out), &g->now);
    ef_tensor_release(&out);
    return s;
}

/* The dataset of a bucket, which goes. */
static ef_status *start(group *g, bucket *b) {
    ef_status *s = key_tensor(b->key, &g->given[0]);
    const ef_dataset *source = g->base.source->dataset;
    if (s == NULL)
        s = ef_dataset_of_elements(source, -1, b->element, g->base.source->width, b->n,
                                   &g->given[1]);
    bucket_empty(b, g->base.source->width);
    memmove(b, b + 1, (size_t)(g->bucket + --g->n - b) * sizeof *b);
    if (s == NULL) s = open_window(g);
    if (s != NULL) end_window(g);
    return s;
}

static ef_status *keep_one(group *g) {
    ef_stage *s = &g->base;
    int64_t key = 0;
    bucket *b = NULL;
    EF_TRY(ef_stage_next(s->source, g->in, &g->over));
    if (g->over) return NULL;
    ef_status *bad = number(&g->key, g->in, "key_func", &key);
    if (bad == NULL) bad = bucket_for(g, key, &b);
    if (bad == NULL) bad = ef_elements_reserve(&b->element, b->n, b->n + 1, s->source->width);
    if (bad != NULL) {
        ef_element_release(g->in, s->source->width);
        return bad;
    }
    for (int k = 0; k < s->source->width; k++)
        ef_tensor_move(&b->element[b->n * s->source->width + k], &g->in[k]);
    return ++b->n == b->most ? start(g, b) : NULL;
}

static ef_status *group_next(ef_stage *s, ef_tensor *out, bool *end) {
    group *g = (group *)s;
    for (;;) {
        if (g->now != NULL) {
            EF_TRY(ef_stage_next(g->now, out, end));
            if (!*end) return NULL;
            end_window(g);
            *end = false;
        } else if (!g->over) {
            EF_TRY(keep_one(g));
        } else if (g->n > 0) {
            EF_TRY(start(g, g->bucket));
        } else {
            *end = true;
            return NULL;
        }
    }
}

/* ---- positions ---------------------------------------------------------------------------------
 */

static ef_status *group_save(ef_stage *s, ef_saver *w) {
    const group *g = (const group *)s;
    ef_save_int(w, g->over);
    ef_save_int(w, (int64_t)g->n);
    for (size_t k = 0; k < g->n; k++) {
        const bucket *b = &g->bucket[k];
        ef_save_int(w, b->key);
        ef_save_int(w, b->n);
        EF_TRY(ef_save_tensors(w, b->element, b->n * s->source->width));
    }
    ef_save_int(w, g->now != NULL);
    if (g->now == NULL) return NULL;
    EF_TRY(ef_save_tensors(w, g->given, 2));
    return ef_position_save(g->now, w);
}

static ef_status *restore_bucket(group *g, ef_loader *r) {
    int64_t key, n;
    bucket *b = NULL;
    const int width = g->base.source->width;
    EF_TRY(ef_load_int(r, &key));
    EF_TRY(ef_load_count(r, &n));
    EF_TRY(bucket_for(g, key, &b));
    if (b->n != 0 || n >= b->most) return ef_load_broken("a window in it is too large");
    for (; b->n < n; b->n++) {
        EF_TRY(ef_elements_reserve(&b->element, b->n, b->n + 1, width));
        EF_TRY(ef_load_element(r, g->base.source->dataset, b->element + b->n * width));
    }
    return NULL;
}

static ef_status *group_restore(ef_stage *s, ef_loader *r) {
    group *g = (group *)s;
    int64_t n;
    bool has;
    EF_TRY(ef_load_bool(r, &g->over));
    EF_TRY(ef_load_count(r, &n));
    for (int64_t k = 0; k < n; k++) EF_TRY(restore_bucket(g, r));
    EF_TRY(ef_load_bool(r, &has));
    if (!has) return NULL;
    EF_TRY(ef_load_tensors(r, g->given, 2));
    if (g->given[0].dtype != EF_I64 || g->given[0].rank != 0 || ef_dataset_of(&g->given[1]) == NULL)
        return ef_load_broken("a window in it has no key or no elements");
    EF_TRY(open_window(g));
    return ef_position_restore(g->now, r);
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_group = {.name = "GroupByWindow",
                                      .remakes = true,
                                      .size = sizeof(group),
                                      .open = group_open,
                                      .next = group_next,
                                      .close = group_close,
                                      .count = unknown,
                                      .save = group_save,
                                      .restore = group_restore};
