/* Elements made by functions of the program: a state, and elements drawn from it until the function
 * fails with OUT_OF_RANGE. And endless random numbers. */
#include "base/alloc.h"
#include "data/function.h"
#include "data/rows.h"
#include "data/stage.h"
#include "kernels/philox.h"
#include "ops/data/seeds.h"

typedef struct generator {
    ef_stage base;
    ef_element_fn init, next, finalize;
    ef_tensor *state, *dropped; /* dropped: behind the state, for the results of finalize */
    bool started, over;
} generator;

static ef_status *generator_open(ef_stage *s) {
    generator *g = (generator *)s;
    const ef_dataset_attrs *a = s->dataset->set;
    EF_TRY(ef_element_fn_open(&g->init, s->run, a->init_func, s->dataset, "init_func_other_args"));
    EF_TRY(ef_element_fn_open(&g->next, s->run, a->next_func, s->dataset, "next_func_other_args"));
    g->next.no_end = 0; /* this is how it ends */
    EF_TRY(ef_element_fn_open(&g->finalize, s->run, a->finalize_func, s->dataset,
                              "finalize_func_other_args"));
    if (g->init.n_in != 0 || g->next.n_in != g->init.n_out || g->finalize.n_in != g->init.n_out ||
        g->next.n_out != s->width)
        return ef_error(EF_INVALID,
                        "%s: init_func must take nothing, next_func and finalize_func what "
                        "init_func returns, and next_func must return an element",
                        s->dataset->op->name);
    s->blocks = true;
    size_t n = (size_t)(g->init.n_out + g->finalize.n_out) + 1;
    if ((g->state = ef_calloc(n, sizeof *g->state)) == NULL)
        return ef_no_memory(n * sizeof *g->state);
    g->dropped = g->state + g->init.n_out;
    return NULL;
}

/* The state is finalized once, even if elements failed. What finalize_func returns is dropped. */
static ef_status *finish(generator *g) {
    if (!g->started) return NULL;
    g->started = false;
    ef_status *s = ef_element_fn_run(&g->finalize, g->state, g->dropped);
    ef_element_release(g->dropped, g->finalize.n_out);
    ef_element_release(g->state, g->init.n_out);
    return s;
}

static void generator_close(ef_stage *s) {
    generator *g = (generator *)s;
    ef_status_free(finish(g));
    ef_free(g->state);
    ef_element_fn_close(&g->init);
    ef_element_fn_close(&g->next);
    ef_element_fn_close(&g->finalize);
}

static ef_status *generator_next(ef_stage *s, ef_tensor *out, bool *end) {
    generator *g = (generator *)s;
    *end = g->over;
    if (g->over) return NULL;
    if (!g->started) {
        EF_TRY(ef_element_fn_run(&g->init, NULL, g->state));
        g->started = true;
    }
    ef_status *bad = ef_element_fn_run(&g->next, g->state, out);
    if (bad == NULL || ef_status_code(bad) != EF_OUT_OF_RANGE) return bad;
    ef_status_free(bad);
    *end = g->over = true;
    return finish(g);
}

static int64_t generator_count(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

/* What the program keeps behind its state is not ours to save. */
static ef_status *generator_save(ef_stage *s, ef_saver *w) {
    (void)w;
    return ef_error(EF_UNIMPLEMENTED, "%s does not support checkpointing.", s->dataset->op->name);
}

static ef_status *generator_restore(ef_stage *s, ef_loader *r) {
    (void)r;
    return ef_error(EF_UNIMPLEMENTED, "%s does not support checkpointing.", s->dataset->op->name);
}

const ef_stage_kind ef_stage_generator = {.name = "Generator",
                                          .size = sizeof(generator),
                                          .open = generator_open,
                                          .next = generator_next,
                                          .close = generator_close,
                                          .count = generator_count,
                                          .save = generator_save,
                                          .restore = generator_restore};

/* ---- random numbers ----------------------------------------------------------------------------
 */

typedef struct numbers {
    ef_stage base;
    ef_philox_each random;
} numbers;

static ef_status *random_open(ef_stage *s) {
    uint64_t seed = (uint64_t)ef_dataset_int(s->dataset, "seed", 0);
    uint64_t seed2 = (uint64_t)ef_dataset_int(s->dataset, "seed2", 0);
    ef_seeds *g = ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL));
    if (g != NULL) ef_seeds_next(g, &seed, &seed2);
    ((numbers *)s)->random = ef_philox_one_by_one(ef_philox_seeded(seed, seed2));
    return NULL;
}

static ef_status *random_next(ef_stage *s, ef_tensor *out, bool *end) {
    ef_shape scalar = {.rank = 0};
    *end = false;
    EF_TRY(ef_tensor_alloc(out, EF_I64, &scalar));
    *(int64_t *)out->data = ef_philox_next(&((numbers *)s)->random);
    return NULL;
}

static int64_t random_count(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_INFINITE;
}

static ef_status *random_save(ef_stage *s, ef_saver *w) {
    ef_save_seeds(w, ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL)));
    ef_save_random(w, &((numbers *)s)->random);
    return NULL;
}

static ef_status *random_restore(ef_stage *s, ef_loader *r) {
    EF_TRY(ef_load_seeds(r, ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL))));
    return ef_load_random(r, &((numbers *)s)->random);
}

const ef_stage_kind ef_stage_random = {.name = "Random",
                                       .size = sizeof(numbers),
                                       .open = random_open,
                                       .next = random_next,
                                       .count = random_count,
                                       .save = random_save,
                                       .restore = random_restore};
