/* A reduction for each key: all elements are read first, then the stage gives one element for each
 * key, in the order of the keys. Memory grows with the number of keys. */
#include "base/alloc.h"
#include "data/function.h"
#include "data/rows.h"
#include "data/stage.h"
#include <string.h>

typedef struct keyed {
    int64_t key;
    ef_tensor *state;
} keyed;

typedef struct group {
    ef_stage base;
    ef_element_fn key, init, reduce, finalize;
    keyed *item; /* by key, ascending */
    int64_t n, cap, at;
    ef_tensor *in;
    bool read;
} group;

static ef_status *group_open(ef_stage *s) {
    group *g = (group *)s;
    const ef_dataset *d = s->dataset;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(ef_element_fn_open(&g->key, s->run, d->set->key_func, d, "key_func_other_arguments"));
    EF_TRY(ef_element_fn_open(&g->init, s->run, d->set->init_func, d, "init_func_other_arguments"));
    EF_TRY(ef_element_fn_open(&g->reduce, s->run, d->set->reduce_func, d,
                              "reduce_func_other_arguments"));
    EF_TRY(ef_element_fn_open(&g->finalize, s->run, d->set->finalize_func, d,
                              "finalize_func_other_arguments"));
    EF_TRY(ef_element_fn_check(&g->key, d, s->source->width));
    EF_TRY(ef_element_fn_check(&g->init, d, 1));
    EF_TRY(ef_element_fn_check(&g->reduce, d, g->init.n_out + s->source->width));
    EF_TRY(ef_element_fn_check(&g->finalize, d, g->init.n_out));
    if (g->key.n_out != 1 || g->reduce.n_out != g->init.n_out || g->finalize.n_out != s->width)
        return ef_error(EF_INVALID,
                        "%s: key_func must return one tensor, reduce_func a state like that of "
                        "init_func, finalize_func an element",
                        d->op->name);
    g->in = ef_calloc((size_t)(s->source->width + g->init.n_out), sizeof *g->in);
    return g->in == NULL ? ef_no_memory(sizeof *g->in) : NULL;
}

static void group_close(ef_stage *s) {
    group *g = (group *)s;
    for (int64_t k = 0; k < g->n; k++) {
        ef_element_release(g->item[k].state, g->init.n_out);
        ef_free(g->item[k].state);
    }
    ef_free(g->item);
    ef_free(g->in);
    ef_element_fn_close(&g->key);
    ef_element_fn_close(&g->init);
    ef_element_fn_close(&g->reduce);
    ef_element_fn_close(&g->finalize);
}

static ef_status *key_of(const group *g, ef_tensor *key) {
    EF_TRY(ef_element_fn_run(&g->key, g->in, key));
    if (key->dtype == EF_I64 && ef_count(key) == 1) return NULL;
    ef_status *s =
        ef_error(EF_INVALID, "`key_func` must return a scalar int64, not %s.", EF_TENSOR(key));
    ef_tensor_release(key);
    return s;
}

static ef_status *insert(group *g, int64_t at, const ef_tensor *key) {
    keyed fresh = {.key = *(const int64_t *)key->data};
    if (g->n == g->cap) {
        int64_t cap = g->cap == 0 ? 8 : 2 * g->cap;
        keyed *more = ef_realloc(g->item, (size_t)cap * sizeof *more);
        if (more == NULL) return ef_no_memory((size_t)cap * sizeof *more);
        g->item = more;
        g->cap = cap;
    }
    fresh.state = ef_calloc((size_t)g->init.n_out + 1, sizeof *fresh.state);
    if (fresh.state == NULL) return ef_no_memory((size_t)g->init.n_out * sizeof *fresh.state);
    ef_status *s = ef_element_fn_run(&g->init, key, fresh.state);
    if (s != NULL) {
        ef_free(fresh.state);
        return s;
    }
    memmove(&g->item[at + 1], &g->item[at], (size_t)(g->n++ - at) * sizeof *g->item);
    g->item[at] = fresh;
    return NULL;
}

static ef_status *state_for(group *g, const ef_tensor *key, ef_tensor **out) {
    int64_t low = 0, high = g->n, want = *(const int64_t *)key->data;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->item[middle].key < want)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->n || g->item[low].key != want) EF_TRY(insert(g, low, key));
    *out = g->item[low].state;
    return NULL;
}

static ef_status *add_one(group *g) {
    ef_tensor key = {0}, *state = NULL, *made = g->in + g->base.source->width;
    ef_status *s = key_of(g, &key);
    if (s == NULL) s = state_for(g, &key, &state);
    if (s == NULL) s = ef_element_fn_run2(&g->reduce, state, g->init.n_out, g->in, made);
    ef_tensor_release(&key);
    ef_element_release(g->in, g->base.source->width);
    for (int k = 0; k < g->init.n_out && s == NULL; k++) {
        ef_tensor_release(&state[k]);
        ef_tensor_move(&state[k], &made[k]);
    }
    return s;
}

static ef_status *group_next(ef_stage *s, ef_tensor *out, bool *end) {
    group *g = (group *)s;
    while (!g->read) {
        EF_TRY(ef_stage_next(s->source, g->in, &g->read));
        if (!g->read) EF_TRY(add_one(g));
    }
    *end = g->at == g->n;
    return *end ? NULL : ef_element_fn_run(&g->finalize, g->item[g->at++].state, out);
}

static ef_status *group_save(ef_stage *s, ef_saver *w) {
    const group *g = (const group *)s;
    ef_save_int(w, g->read);
    ef_save_int(w, g->at);
    ef_save_int(w, g->n);
    for (int64_t k = 0; k < g->n; k++) {
        ef_save_int(w, g->item[k].key);
        EF_TRY(ef_save_tensors(w, g->item[k].state, g->init.n_out));
    }
    return NULL;
}

/* A state is made by init_func, then replaced by the saved one, which must be like it. */
static ef_status *restore_state(group *g, ef_loader *r) {
    ef_shape scalar = {.rank = 0};
    ef_tensor key = {0}, *state = NULL, *made = g->in + g->base.source->width;
    EF_TRY(ef_tensor_alloc(&key, EF_I64, &scalar));
    ef_status *s = ef_load_int(r, key.data);
    if (s == NULL) s = state_for(g, &key, &state);
    ef_tensor_release(&key);
    if (s == NULL) s = ef_load_tensors(r, made, g->init.n_out);
    for (int k = 0; k < g->init.n_out && s == NULL; k++)
        if (made[k].dtype != state[k].dtype) s = ef_load_broken("a state in it has another dtype");
    for (int k = 0; k < g->init.n_out && s == NULL; k++) {
        ef_tensor_release(&state[k]);
        ef_tensor_move(&state[k], &made[k]);
    }
    if (s != NULL) ef_element_release(made, g->init.n_out);
    return s;
}

static ef_status *group_restore(ef_stage *s, ef_loader *r) {
    group *g = (group *)s;
    int64_t n, at;
    EF_TRY(ef_load_bool(r, &g->read));
    EF_TRY(ef_load_upto(r, INT64_MAX, &at));
    EF_TRY(ef_load_count(r, &n));
    for (int64_t k = 0; k < n; k++) EF_TRY(restore_state(g, r));
    if (at > g->n) return ef_load_broken("a number in it is out of range");
    g->at = at;
    return NULL;
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_group_reduce = {.name = "GroupByReducer",
                                             .remakes = true,
                                             .size = sizeof(group),
                                             .open = group_open,
                                             .next = group_next,
                                             .close = group_close,
                                             .count = unknown,
                                             .save = group_save,
                                             .restore = group_restore};
