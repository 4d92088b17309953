/* The position of a pipeline as bytes: what every stage needs in order to go on with the next
 * element, and the elements that were made ahead. A stage writes its own fields, then what is below
 * it; reading follows the same order. Numbers take eight bytes. */
#ifndef EF_DATA_POSITION_H
#define EF_DATA_POSITION_H
#include "data/stored.h"
#include "kernels/philox.h"
#include "ops/data/seeds.h"

struct ef_ring;
typedef struct ef_saver {
    ef_text text;           /* remembers running out of memory until the end */
    struct ef_ring *paused; /* rings whose threads wait until everything is written */
} ef_saver;
typedef struct ef_loader {
    ef_stored_bytes left;
} ef_loader;

static inline void ef_save_int(ef_saver *w, int64_t v) {
    ef_stored_put_number(&w->text, (uint64_t)v);
}
void ef_save_text(ef_saver *w, const char *at, size_t n);
void ef_save_random(ef_saver *w, const ef_philox_each *e);
void ef_save_seeds(ef_saver *w, ef_seeds *g); /* NULL: the dataset has no generator of seeds */
/* n tensors of any dtype. EF_UNIMPLEMENTED: one holds a resource, or a dataset that is not made of
 * elements alone. */
ef_status *ef_save_tensors(ef_saver *w, const ef_tensor *t, int64_t n);

/* Readers fail with EF_DATA_LOSS if the bytes cannot be what the writer wrote. */
ef_status *ef_load_broken(const char *what);
ef_status *ef_load_int(ef_loader *r, int64_t *v);
ef_status *ef_load_upto(ef_loader *r, int64_t most, int64_t *v); /* 0 <= *v <= most */
ef_status *ef_load_bool(ef_loader *r, bool *v);
/* *at points into the loader's bytes. */
ef_status *ef_load_text(ef_loader *r, const char **at, size_t *n);
ef_status *ef_load_random(ef_loader *r, ef_philox_each *e);
ef_status *ef_load_seeds(ef_loader *r, ef_seeds *g);
/* n tensors into zeroed places. What was set is released after a failure. */
ef_status *ef_load_tensors(ef_loader *r, ef_tensor *out, int64_t n);
/* An element, with the dtypes and shapes that `like` announces. */
ef_status *ef_load_element(ef_loader *r, const ef_dataset *like, ef_tensor *out);
/* How many things of at least eight bytes each follow; so that no number makes memory grow far
 * beyond what the bytes can hold. */
ef_status *ef_load_count(ef_loader *r, int64_t *n);
#endif
