/* Shuffle: a buffer of elements from which each is drawn at random. The buffer, the generator and
 * the mapping from numbers to places are TensorFlow's, so that a seed gives the same order: the
 * buffer is a ring; an element is drawn from [start, end) of it and swapped with the first. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"
#include "kernels/philox.h"
#include "kernels/random.h"
#include "ops/data/seeds.h"

typedef struct round { /* elements of one pass over the source: places [start, end) */
    uint64_t start, end;
    bool over; /* all of its elements have been put into the buffer */
} round_;

typedef struct shuffle {
    ef_stage base;
    int64_t size;       /* of the buffer; -1: all elements */
    int64_t count;      /* passes over the source; negative: without end */
    ef_tensor *buffer;  /* room * width */
    uint64_t room, n;   /* elements allocated and held */
    round_ front, back; /* the pass that is drawn from, and the one that is read */
    bool two;           /* they are different */
    bool seeded, got_any;
    ef_philox_each random;
} shuffle;

static ef_status *shuffle_open(ef_stage *s) {
    shuffle *h = (shuffle *)s;
    h->size = ef_dataset_int(s->dataset, "buffer_size", 1);
    h->count = ef_dataset_int(s->dataset, "count", 1);
    if (h->size < 0) h->size = INT64_MAX;
    uint64_t seed = (uint64_t)ef_dataset_int(s->dataset, "seed", 0);
    uint64_t seed2 = (uint64_t)ef_dataset_int(s->dataset, "seed2", 0);
    ef_seeds *g = ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL));
    if (g != NULL) {
        ef_seeds_next(g, &seed, &seed2);
    } else if (seed == 0 && seed2 == 0) {
        uint64_t key[2];
        EF_TRY(ef_random_entropy(key, sizeof key));
        seed = key[0];
        seed2 = key[1];
    }
    h->random = ef_philox_one_by_one(ef_philox_seeded(seed, seed2));
    return h->count == 0 ? NULL : ef_stage_open_source(s);
}

static ef_tensor *place(const shuffle *h, uint64_t k) {
    return h->buffer + (k % h->room) * (uint64_t)h->base.width;
}

static void shuffle_close(ef_stage *s) {
    shuffle *h = (shuffle *)s;
    for (uint64_t k = 0; k < h->room; k++) ef_element_release(place(h, k), s->width);
    ef_free(h->buffer);
}

/* Grows the buffer while it is filled for the first time: nothing was drawn yet, so the elements
 * are in order from place 0. */
static ef_status *grow(shuffle *h) {
    uint64_t room = h->room == 0 ? 16 : h->room * 2, width = (uint64_t)h->base.width;
    if (room > (uint64_t)h->size) room = (uint64_t)h->size;
    if (room > SIZE_MAX / sizeof(ef_tensor) / (width + 1)) return ef_no_memory(SIZE_MAX);
    ef_tensor *more = ef_calloc(room * width, sizeof *more);
    if (more == NULL) return ef_no_memory(room * width * sizeof *more);
    for (uint64_t k = 0; k < h->room * width; k++) ef_tensor_move(&more[k], &h->buffer[k]);
    ef_free(h->buffer);
    h->buffer = more;
    h->room = room;
    return NULL;
}

/* The source is over: the next pass begins, if there is one. */
static ef_status *next_round(shuffle *h) {
    ef_stage *s = &h->base;
    ef_stage_close(s->source);
    s->source = NULL;
    h->back.over = true;
    if (!h->two) h->front.over = true;
    if (h->count > 0) h->count--;
    if (h->count == 0 || !h->got_any) return NULL;
    h->got_any = false;
    return ef_stage_open_source(s);
}

static ef_status *put_one(shuffle *h, bool *full) {
    bool end = false;
    ef_stage *s = &h->base;
    if (h->n == h->room && (int64_t)h->room < h->size && h->front.start == 0) EF_TRY(grow(h));
    *full = h->n >= h->room;
    if (*full) return NULL;
    round_ *to = h->two ? &h->back : &h->front;
    if (to->over) { /* this pass is complete: the next one begins behind it */
        if (h->two) {
            *full = true;
            return NULL;
        }
        h->back = (round_){to->end, to->end, false};
        if (h->n == 0)
            h->front = h->back;
        else
            h->two = true;
        to = h->two ? &h->back : &h->front;
    }
    EF_TRY(ef_stage_next(s->source, place(h, to->end), &end));
    if (end) return next_round(h);
    h->got_any = true;
    to->end++;
    h->n++;
    return NULL;
}

static ef_status *shuffle_next(ef_stage *s, ef_tensor *out, bool *end) {
    shuffle *h = (shuffle *)s;
    for (bool full = false; s->source != NULL && !full;) EF_TRY(put_one(h, &full));
    if (h->two && h->front.start == h->front.end) {
        h->front = h->back;
        h->two = false;
    }
    const uint64_t left = h->front.end - h->front.start;
    *end = left == 0;
    if (*end) return NULL;
    uint64_t drawn = ef_philox_next(&h->random) % left;
    ef_tensor *here = place(h, h->front.start + drawn), *first = place(h, h->front.start);
    for (int k = 0; k < s->width; k++) {
        ef_tensor_move(&out[k], &here[k]);
        if (here != first) ef_tensor_move(&here[k], &first[k]);
    }
    h->front.start++;
    h->n--;
    return NULL;
}

/* ---- positions ---------------------------------------------------------------------------------
 * The buffer is written from the place on that is drawn from next. */

static ef_status *shuffle_save(ef_stage *s, ef_saver *w) {
    const shuffle *h = (const shuffle *)s;
    const uint64_t second = h->two ? h->back.end - h->back.start : 0;
    ef_save_seeds(w, ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL)));
    ef_save_random(w, &h->random);
    ef_save_int(w, h->count);
    ef_save_int(w, h->got_any);
    ef_save_int(w, h->two);
    ef_save_int(w, h->front.over);
    ef_save_int(w, h->back.over);
    ef_save_int(w, h->front.start > 0);
    ef_save_int(w, (int64_t)h->room);
    ef_save_int(w, (int64_t)(h->n - second));
    ef_save_int(w, (int64_t)second);
    for (uint64_t k = h->front.start; k < h->front.start + h->n; k++)
        EF_TRY(ef_save_tensors(w, place(h, k), s->width));
    return NULL;
}

static ef_status *restore_buffer(shuffle *h, ef_loader *r, int64_t room, int64_t n, bool drawn) {
    const uint64_t all = (uint64_t)room * (uint64_t)h->base.width;
    if (n > room || room > h->size || (uint64_t)room > SIZE_MAX / sizeof(ef_tensor) / 1024)
        return ef_load_broken("the buffer of a shuffle is too large");
    if (room == 0) return NULL; /* nothing was read yet */
    if ((h->buffer = ef_calloc(all, sizeof *h->buffer)) == NULL)
        return ef_no_memory(all * sizeof *h->buffer);
    h->room = (uint64_t)room;
    h->front.start = drawn ? h->room : 0; /* a buffer that was drawn from grows no more */
    for (; (int64_t)h->n < n; h->n++)
        EF_TRY(ef_load_element(r, ef_dataset_source(h->base.dataset),
                               place(h, h->front.start + h->n)));
    return NULL;
}

static ef_status *shuffle_restore(ef_stage *s, ef_loader *r) {
    shuffle *h = (shuffle *)s;
    int64_t room, first, second;
    bool drawn;
    EF_TRY(ef_load_seeds(r, ef_seeds_of(ef_dataset_arg(s->dataset, "seed_generator", NULL))));
    EF_TRY(ef_load_random(r, &h->random));
    EF_TRY(ef_load_int(r, &h->count));
    EF_TRY(ef_load_bool(r, &h->got_any));
    EF_TRY(ef_load_bool(r, &h->two));
    EF_TRY(ef_load_bool(r, &h->front.over));
    EF_TRY(ef_load_bool(r, &h->back.over));
    EF_TRY(ef_load_bool(r, &drawn));
    EF_TRY(ef_load_upto(r, INT64_MAX, &room));
    EF_TRY(ef_load_count(r, &first));
    EF_TRY(ef_load_count(r, &second));
    if (second > 0 && !h->two) return ef_load_broken("a shuffle has one round too many");
    EF_TRY(restore_buffer(h, r, room, first + second, drawn));
    h->front.end = h->back.start = h->front.start + (uint64_t)first;
    h->back.end = h->back.start + (uint64_t)second;
    return NULL;
}

static int64_t shuffle_count(const ef_dataset *d) {
    int64_t n = ef_dataset_int(d, "count", 1), source = ef_stage_count(ef_dataset_source(d)), all;
    if (n < 0) return source == 0 ? 0 : EF_COUNT_INFINITE;
    if (source < 0 || n == 0) return n == 0 ? 0 : source;
    return __builtin_mul_overflow(n, source, &all) ? EF_COUNT_INFINITE : all;
}

const ef_stage_kind ef_stage_shuffle = {.name = "Shuffle",
                                        .size = sizeof(shuffle),
                                        .open = shuffle_open,
                                        .next = shuffle_next,
                                        .close = shuffle_close,
                                        .count = shuffle_count,
                                        .save = shuffle_save,
                                        .restore = shuffle_restore,
                                        .sourceless = true};
