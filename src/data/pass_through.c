/* Stages that pass elements on unchanged: take, skip, repeat, shard, concatenate, zip, and others.
 */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"

static bool known(int64_t n) { return n >= 0; }

typedef struct counter {
    ef_stage base;
    int64_t n, at;
    bool first; /* repeat: this round has had no element yet */
} counter;

static ef_status *counter_open(ef_stage *s) {
    ((counter *)s)->n = ef_dataset_int(s->dataset, "count", -1);
    return ef_stage_open_source(s);
}

static ef_status *counter_save(ef_stage *s, ef_saver *w) {
    const counter *c = (const counter *)s;
    ef_save_int(w, c->n);
    ef_save_int(w, c->at);
    ef_save_int(w, c->first);
    return NULL;
}

static ef_status *counter_restore(ef_stage *s, ef_loader *r) {
    counter *c = (counter *)s;
    EF_TRY(ef_load_int(r, &c->n));
    EF_TRY(ef_load_int(r, &c->at));
    return ef_load_bool(r, &c->first);
}

/* ---- take, skip --------------------------------------------------------------------------------
 */

static ef_status *take_next(ef_stage *s, ef_tensor *out, bool *end) {
    counter *c = (counter *)s;
    *end = c->n >= 0 && c->at >= c->n;
    if (*end) return NULL;
    EF_TRY(ef_stage_next(s->source, out, end));
    c->at += !*end; /* elements that fail do not count */
    return NULL;
}

static bool source_stacks(ef_stage *s) { return ef_stage_stacks(s->source); }

static ef_status *take_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    counter *c = (counter *)s;
    if (c->n >= 0 && n > c->n - c->at) n = c->n - c->at;
    *got = 0;
    if (n > 0) EF_TRY(ef_stage_rows(s->source, n, out, got));
    c->at += *got;
    return NULL;
}

static int64_t take_count(const ef_dataset *d) {
    int64_t n = ef_dataset_int(d, "count", -1), source = ef_stage_count(ef_dataset_source(d));
    if (n < 0 || n == 0) return n < 0 ? source : 0;
    if (source == EF_COUNT_INFINITE) return n;
    return !known(source) || source < n ? source : n;
}

const ef_stage_kind ef_stage_take = {.name = "Take",
                                     .size = sizeof(counter),
                                     .open = counter_open,
                                     .next = take_next,
                                     .rows = take_rows,
                                     .stacks = source_stacks,
                                     .count = take_count,
                                     .save = counter_save,
                                     .restore = counter_restore};

/* An error among the skipped elements begins the count again, as in TensorFlow. */
static ef_status *skip_first(counter *c, ef_tensor *out, bool *end) {
    for (int64_t k = 0; k < c->n && !*end; k++) {
        EF_TRY(ef_stage_next(c->base.source, out, end));
        ef_element_release(out, c->base.width);
    }
    c->n = 0;
    return NULL;
}

static ef_status *skip_next(ef_stage *s, ef_tensor *out, bool *end) {
    counter *c = (counter *)s;
    *end = c->n < 0;
    if (c->n > 0) EF_TRY(skip_first(c, out, end));
    return *end ? NULL : ef_stage_next(s->source, out, end);
}

static int64_t skip_count(const ef_dataset *d) {
    int64_t n = ef_dataset_int(d, "count", 0), source = ef_stage_count(ef_dataset_source(d));
    if (n < 0) return 0;
    if (!known(source)) return source;
    return source > n ? source - n : 0;
}

const ef_stage_kind ef_stage_skip = {.name = "Skip",
                                     .size = sizeof(counter),
                                     .open = counter_open,
                                     .next = skip_next,
                                     .count = skip_count,
                                     .save = counter_save,
                                     .restore = counter_restore};

/* ---- repeat ------------------------------------------------------------------------------------
 */

static ef_status *repeat_open(ef_stage *s) { /* the source is opened for each round */
    ((counter *)s)->n = ef_dataset_int(s->dataset, "count", -1);
    return NULL;
}

static ef_status *repeat_next(ef_stage *s, ef_tensor *out, bool *end) {
    counter *c = (counter *)s;
    for (;;) {
        if (s->source == NULL) {
            *end = c->n == 0;
            if (*end) return NULL;
            EF_TRY(ef_stage_open_source(s));
            c->n -= c->n > 0;
            c->first = true;
        }
        ef_status *bad = ef_stage_next(s->source, out, end);
        if (bad != NULL || !*end) {
            c->first = false;
            return bad;
        }
        ef_stage_close(s->source);
        s->source = NULL;
        if (c->first) c->n = 0; /* an empty source would stay empty */
        *end = false;
    }
}

static int64_t repeat_count(const ef_dataset *d) {
    int64_t n = ef_dataset_int(d, "count", -1), source = ef_stage_count(ef_dataset_source(d)), all;
    if (n < 0) return source == 0 ? 0 : EF_COUNT_INFINITE;
    if (n == 0) return 0;
    if (!known(source)) return source;
    return __builtin_mul_overflow(n, source, &all) ? EF_COUNT_INFINITE : all;
}

const ef_stage_kind ef_stage_repeat = {.name = "Repeat",
                                       .size = sizeof(counter),
                                       .open = repeat_open,
                                       .next = repeat_next,
                                       .count = repeat_count,
                                       .save = counter_save,
                                       .restore = counter_restore,
                                       .sourceless = true};

/* ---- shard -------------------------------------------------------------------------------------
 */

typedef struct shard {
    ef_stage base;
    int64_t shards, index, at;
} shard;

static ef_status *shard_open(ef_stage *s) {
    shard *t = (shard *)s;
    t->shards = ef_dataset_int(s->dataset, "num_shards", 1);
    t->index = ef_dataset_int(s->dataset, "index", 0);
    return ef_stage_open_source(s);
}

static ef_status *shard_next(ef_stage *s, ef_tensor *out, bool *end) {
    shard *t = (shard *)s;
    for (;;) {
        EF_TRY(ef_stage_next(s->source, out, end));
        if (*end || t->at++ % t->shards == t->index) return NULL;
        ef_element_release(out, s->width);
    }
}

static int64_t shard_count(const ef_dataset *d) {
    int64_t n = ef_dataset_int(d, "num_shards", 1), source = ef_stage_count(ef_dataset_source(d));
    int64_t index = ef_dataset_int(d, "index", 0);
    return known(source) ? source / n + (index < source % n ? 1 : 0) : source;
}

static ef_status *shard_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((shard *)s)->at);
    return NULL;
}

static ef_status *shard_restore(ef_stage *s, ef_loader *r) {
    return ef_load_upto(r, INT64_MAX, &((shard *)s)->at);
}

const ef_stage_kind ef_stage_shard = {.name = "Shard",
                                      .size = sizeof(shard),
                                      .open = shard_open,
                                      .next = shard_next,
                                      .count = shard_count,
                                      .save = shard_save,
                                      .restore = shard_restore};

/* ---- concatenate -------------------------------------------------------------------------------
 */

typedef struct two {
    ef_stage base;
    bool second;
} two;

static const ef_dataset *another(const ef_dataset *d) {
    return ef_dataset_of(ef_dataset_arg(d, "another_dataset", NULL));
}

static ef_status *begin_second(two *t) {
    ef_stage *next;
    EF_TRY(ef_stage_open(t->base.run, another(t->base.dataset), &next));
    ef_stage_close(t->base.source);
    t->base.source = next;
    t->second = true;
    return NULL;
}

static ef_status *concatenate_next(ef_stage *s, ef_tensor *out, bool *end) {
    two *t = (two *)s;
    EF_TRY(ef_stage_next(s->source, out, end));
    if (!*end || t->second) return NULL;
    EF_TRY(begin_second(t));
    *end = false;
    return ef_stage_next(s->source, out, end);
}

static int64_t concatenate_count(const ef_dataset *d) {
    int64_t a = ef_stage_count(ef_dataset_source(d)), b = ef_stage_count(another(d));
    if (a == EF_COUNT_INFINITE || b == EF_COUNT_INFINITE) return EF_COUNT_INFINITE;
    return known(a) && known(b) ? a + b : EF_COUNT_UNKNOWN;
}

static ef_status *concatenate_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((two *)s)->second);
    return NULL;
}

static ef_status *concatenate_restore(ef_stage *s, ef_loader *r) {
    bool second;
    EF_TRY(ef_load_bool(r, &second));
    return second ? begin_second((two *)s) : NULL;
}

const ef_stage_kind ef_stage_concatenate = {.name = "Concatenate",
                                            .size = sizeof(two),
                                            .next = concatenate_next,
                                            .count = concatenate_count,
                                            .save = concatenate_save,
                                            .restore = concatenate_restore};

/* ---- zip ---------------------------------------------------------------------------------------
 */

typedef struct zip {
    ef_stage base;
    ef_stage **part;
    int n;
    int64_t most; /* elements of the shortest part, if known: no batch needs more rows */
} zip;

static ef_status *zip_open(ef_stage *s) {
    zip *z = (zip *)s;
    int n, width = 0;
    const ef_tensor *in = ef_dataset_arg(s->dataset, "input_datasets", &n);
    for (int k = 0; k < n; k++) width += ef_dataset_width(ef_dataset_of(&in[k]));
    if (width != s->width)
        return ef_error(EF_INVALID,
                        "%s: Number of components does not match: expected %d, but elements of its "
                        "inputs have %d",
                        s->dataset->op->name, s->width, width);
    z->part = ef_calloc((size_t)n, sizeof *z->part);
    if (z->part == NULL) return ef_no_memory((size_t)n * sizeof *z->part);
    for (; z->n < n; z->n++) {
        EF_TRY(ef_stage_open(s->run, ef_dataset_of(&in[z->n]), &z->part[z->n]));
        s->blocks |= z->part[z->n]->blocks;
    }
    z->most = ef_stage_count(s->dataset);
    return NULL;
}

static void zip_close(ef_stage *s) {
    zip *z = (zip *)s;
    for (int k = 0; k < z->n; k++) ef_stage_close(z->part[k]);
    ef_free(z->part);
}

/* If one fails, the others still advance. */
static ef_status *zip_next(ef_stage *s, ef_tensor *out, bool *end) {
    zip *z = (zip *)s;
    ef_status *bad = NULL;
    bool over = false;
    int at = 0;
    for (int k = 0; k < z->n && !over; at += z->part[k++]->width) {
        ef_status *one = ef_stage_next(z->part[k], out + at, &over);
        if (bad == NULL)
            bad = one;
        else
            ef_status_free(one);
    }
    if (bad != NULL || over) ef_element_release(out, s->width);
    *end = bad == NULL && over;
    return bad;
}

static bool zip_stacks(ef_stage *s) {
    zip *z = (zip *)s;
    for (int k = 0; k < z->n; k++)
        if (!ef_stage_stacks(z->part[k])) return false;
    return true;
}

/* Rows of a longer part beyond the end of the shortest are dropped: `rows` is not called again. */
static ef_status *zip_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    zip *z = (zip *)s;
    ef_status *bad = NULL;
    int at = 0;
    *got = z->most >= 0 && n > z->most ? z->most : n;
    for (int k = 0; k < z->n && bad == NULL && *got > 0; at += z->part[k++]->width) {
        int64_t some = 0;
        bad = ef_stage_rows(z->part[k], *got, out + at, &some);
        if (some < *got) *got = some;
    }
    if (bad != NULL || *got == 0) {
        ef_element_release(out, s->width);
        *got = 0;
        return bad;
    }
    for (int k = 0; k < s->width; k++)
        if (out[k].dtype != EF_VARIANT && out[k].dim[0] > *got) out[k].dim[0] = *got;
    return NULL;
}

static int64_t zip_count(const ef_dataset *d) {
    int n;
    const ef_tensor *in = ef_dataset_arg(d, "input_datasets", &n);
    int64_t least = EF_COUNT_INFINITE;
    for (int k = 0; k < n; k++) {
        int64_t count = ef_stage_count(ef_dataset_of(&in[k]));
        if (count == EF_COUNT_UNKNOWN) return count;
        if (count != EF_COUNT_INFINITE && (least == EF_COUNT_INFINITE || count < least))
            least = count;
    }
    return least;
}

static ef_status *zip_save(ef_stage *s, ef_saver *w) {
    const zip *z = (const zip *)s;
    for (int k = 0; k < z->n; k++) EF_TRY(ef_position_save(z->part[k], w));
    return NULL;
}

static ef_status *zip_restore(ef_stage *s, ef_loader *r) {
    const zip *z = (const zip *)s;
    for (int k = 0; k < z->n; k++) EF_TRY(ef_position_restore(z->part[k], r));
    return NULL;
}

const ef_stage_kind ef_stage_zip = {.name = "Zip",
                                    .remakes = true,
                                    .size = sizeof(zip),
                                    .open = zip_open,
                                    .next = zip_next,
                                    .rows = zip_rows,
                                    .stacks = zip_stacks,
                                    .close = zip_close,
                                    .count = zip_count,
                                    .save = zip_save,
                                    .restore = zip_restore};

/* ---- the same elements -------------------------------------------------------------------------
 */

static ef_status *same_next(ef_stage *s, ef_tensor *out, bool *end) {
    return ef_stage_next(s->source, out, end);
}

static ef_status *same_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    return ef_stage_rows(s->source, n, out, got);
}

const ef_stage_kind ef_stage_same = {.name = "Options",
                                     .size = sizeof(ef_stage),
                                     .next = same_next,
                                     .rows = same_rows,
                                     .stacks = source_stacks};

static ef_status *counted_open(ef_stage *s) {
    ((counter *)s)->n = ef_dataset_int(s->dataset, "cardinality", EF_COUNT_UNKNOWN);
    return ef_stage_open_source(s);
}

static ef_status *counted_next(ef_stage *s, ef_tensor *out, bool *end) {
    counter *c = (counter *)s;
    EF_TRY(ef_stage_next(s->source, out, end));
    if (c->n == EF_COUNT_UNKNOWN) return NULL;
    if (*end && (c->n == EF_COUNT_INFINITE || c->at < c->n))
        return ef_error(EF_FAILED_PRECONDITION,
                        "Input dataset was expected to contain %s%.0lld elements but contained "
                        "only %lld element%s.",
                        c->n < 0 ? "an infinite number of" : "", (long long)(c->n < 0 ? 0 : c->n),
                        (long long)c->at, c->at == 1 ? "" : "s");
    c->at += !*end;
    if (!*end && c->n >= 0 && c->at > c->n) {
        ef_element_release(out, s->width);
        return ef_error(EF_FAILED_PRECONDITION,
                        "Input dataset was expected to contain %lld element%s but contained at "
                        "least %lld elements.",
                        (long long)c->n, c->n == 1 ? "" : "s", (long long)c->at);
    }
    return NULL;
}

static int64_t counted_count(const ef_dataset *d) {
    return ef_dataset_int(d, "cardinality", EF_COUNT_UNKNOWN);
}

const ef_stage_kind ef_stage_counted = {.name = "AssertCardinality",
                                        .size = sizeof(counter),
                                        .open = counted_open,
                                        .next = counted_next,
                                        .count = counted_count,
                                        .save = counter_save,
                                        .restore = counter_restore};

/* Cancellation and a lack of memory are not errors of an element, so they are returned. */
static ef_status *ignore_next(ef_stage *s, ef_tensor *out, bool *end) {
    for (;;) {
        ef_status *bad = ef_stage_next(s->source, out, end);
        if (bad == NULL || ef_status_code(bad) == EF_CANCELLED ||
            ef_status_code(bad) == EF_DEADLINE || ef_status_code(bad) == EF_NO_MEMORY)
            return bad;
        ef_status_free(bad);
    }
}

static int64_t ignore_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d));
    return n == EF_COUNT_INFINITE ? n : EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_ignore_errors = {
    .name = "IgnoreErrors", .size = sizeof(ef_stage), .next = ignore_next, .count = ignore_count};
