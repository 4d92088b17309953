/* Elements that a thread had made ahead when a position was saved: they come first after it is
 * restored. */
#ifndef EF_DATA_LEFTOVER_H
#define EF_DATA_LEFTOVER_H
#include "data/position.h"

typedef struct ef_leftover {
    ef_tensor *element; /* n * width */
    ef_status **error;  /* n; not NULL: the element could not be made */
    int64_t at, n;
    int width;
    bool end; /* behind the last of them is the end */
} ef_leftover;

static inline bool ef_leftover_any(const ef_leftover *l) { return l->at < l->n || l->end; }
/* The next of them, if any is left. */
ef_status *ef_leftover_next(ef_leftover *l, ef_tensor *out, bool *end);
void ef_leftover_close(ef_leftover *l);

/* What may follow each other: elements, errors, and the end; `stop` ends them. */
ef_status *ef_save_made(ef_saver *w, const ef_tensor *element, int width);
void ef_save_failure(ef_saver *w, const ef_status *error);
void ef_save_end(ef_saver *w);
void ef_save_stop(ef_saver *w);
ef_status *ef_leftover_save(const ef_leftover *l, ef_saver *w);
ef_status *ef_leftover_load(ef_leftover *l, ef_loader *r, const ef_dataset *like);
#endif
