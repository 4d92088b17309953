/* Stages run datasets. Every dataset of a pipeline has a stage, which makes elements from those of
 * its sources. An element is an array of tensors; its length is the width of the dataset. One
 * thread at a time uses a stage. */
#ifndef EF_DATA_STAGE_H
#define EF_DATA_STAGE_H
#include "data/position.h"
#include "data/run.h"
#include "ops/data/dataset.h"

typedef struct ef_stage ef_stage;

typedef struct ef_stage_kind {
    const char *name; /* as ds.explain() shows it */
    size_t size;      /* of the kind's own struct, which begins with an ef_stage */
    /* The stage is zeroed except for its base. NULL: only opens the source. `close` is called also
     * if `open` fails. */
    ef_status *(*open)(ef_stage *s);
    /* Puts the next element into `out`, which is zeroed; *end true: there is none, and nothing was
     * set. An error concerns one element: the next call continues after it. */
    ef_status *(*next)(ef_stage *s, ef_tensor *out, bool *end);
    /* Several elements in one call, or NULL: up to n of them stacked, *got how many; fewer than n
     * only at the end. Only called if `stacks` returns true. */
    ef_status *(*rows)(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got);
    bool (*stacks)(ef_stage *s); /* whether rows may be called; NULL: if there is one */
    void (*close)(ef_stage *s);  /* NULL: there is nothing beyond the source */
    /* How many elements there are; NULL: as many as the source has. */
    int64_t (*count)(const ef_dataset *d);
    /* Writes and reads the position beyond that of the source, which follows. Restoring finds the
     * stage just opened. NULL: there is none. */
    ef_status *(*save)(ef_stage *s, ef_saver *w);
    ef_status *(*restore)(ef_stage *s, ef_loader *r);
    bool sourceless; /* it may be without a source though its dataset has one */
    bool remakes;    /* its elements have other components than those of its sources */
    bool drains;     /* if an element fails, the rest of its batch is drawn and dropped */
} ef_stage_kind;

struct ef_stage {
    const ef_stage_kind *kind;
    const ef_dataset *dataset; /* counted */
    ef_run *run;               /* of the pipeline; not counted */
    ef_stage *source;          /* of input_dataset; NULL: none, or not opened */
    int width;
    bool blocks;                /* making an element may call the program, which may wait */
    bool counted;               /* what follows is kept up to date: see data/stage_events.h */
    _Atomic uint64_t given, ns; /* elements given out, and the time that took, sources included */
    _Atomic uint64_t bytes;     /* of these elements */
    uint64_t first_ns;          /* of the first call */
    uint64_t began;             /* ef_event_clock() when it was opened */
    uint64_t told_given, told_ns, told_bytes; /* how much of the above events have reported */
    ef_stage *after, *before;                 /* in the list of counted stages */
    ef_stage_note *note;                      /* NULL: too many stages are noted already */
    uint64_t made;  /* elements given out, or failed, since it was opened */
    uint64_t noted; /* how many of them are counted in its note */
};

ef_status *ef_stage_open(ef_run *run, const ef_dataset *d, ef_stage **out);
void ef_stage_close(ef_stage *s); /* NULL is fine */
ef_status *ef_stage_open_source(ef_stage *s);
/* The same as ef_stage_open for a dataset that s draws from but that was made during the iteration.
 */
ef_status *ef_stage_open_under(ef_stage *s, const ef_dataset *d, ef_stage **out);
int64_t ef_stage_count(const ef_dataset *d);

/* The position of a stage and all below it. No other thread uses the stage meanwhile. */
ef_status *ef_position_save(ef_stage *s, ef_saver *w);
/* Into a stage that was just opened. EF_NOT_FOUND: the position is that of another dataset. */
ef_status *ef_position_restore(ef_stage *s, ef_loader *r);

ef_status *ef_stage_next(ef_stage *s, ef_tensor *out, bool *end);
/* Up to n elements stacked, in the fastest way the stage has. */
ef_status *ef_stage_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got);
bool ef_stage_stacks(ef_stage *s);

#define EF_DATASET(N) extern const ef_stage_kind ef_stage_##N;
#include "ops/data/kinds.def"
#undef EF_DATASET
#endif
/* EF_INVALID: elements of `of`, an input of d, do not have `width` components, or not those that d
 * declares. */
ef_status *ef_stage_need_width(const ef_dataset *d, const ef_dataset *of, int width);
ef_status *ef_stage_need_same(const ef_dataset *d, const ef_dataset *of);
