/* Iterators: resources that hold a position in a dataset. src/data owns the running pipeline behind
 * one and defines the hooks. */
#ifndef EF_OPS_ITERATOR_H
#define EF_OPS_ITERATOR_H
#include "base/mutex.h"
#include "base/text.h"
#include "ops/data/dataset.h"

struct ef_pipeline; /* see data/pipeline.c: counted, any thread may use it */

typedef struct ef_data_hooks {
    ef_status *(*open)(const ef_dataset *d, struct ef_pipeline **out);
    void (*ref)(struct ef_pipeline *p);
    void (*unref)(struct ef_pipeline *p);
    /* out: one zeroed tensor per component of the dataset; *end: there is no further element. */
    ef_status *(*next)(struct ef_pipeline *p, ef_tensor *out, bool *end);
    /* Whether next will return an element; computes that element now if needed. */
    ef_status *(*peek)(struct ef_pipeline *p, bool *more);
    int64_t (*count)(const ef_dataset *d);
    /* Calls f with a state and each element; f returns the next state. state: n tensors,
     * replaced. */
    ef_status *(*reduce)(const ef_dataset *d, struct ef_graph *f, ef_tensor *state, int n,
                         ef_tensor *const *more, int n_more);
    /* The position as bytes, added to `out`. strict: EF_FAILED_PRECONDITION if elements depend on
     * something outside of the pipeline, which is not saved. */
    ef_status *(*save)(struct ef_pipeline *p, bool strict, ef_text *out);
    /* Another pipeline over the dataset of p, at a saved position. */
    ef_status *(*restore)(struct ef_pipeline *p, const char *bytes, size_t n,
                          struct ef_pipeline **out);
} ef_data_hooks;
extern const ef_data_hooks ef_data; /* defined by src/data */

typedef struct ef_iterator {
    ef_object object;
    ef_mutex lock;                /* guards the fields below; never held while a pipeline runs */
    struct ef_pipeline *pipeline; /* NULL: not initialised */
    int width;
    uint64_t number;       /* unique among all iterators; string handles are made from it */
    const ef_attrs *attrs; /* counted; output_types and output_shapes of the op that made it */
    const ef_dataset_attrs *set;
    char *name; /* its name in the scope of variables; NULL: it has none */
} ef_iterator;

/* A new iterator without a pipeline, for elements as an op's attributes describe them; refs 1. */
ef_status *ef_iterator_make(const void *attrs, const char *name, ef_iterator **out);
/* EF_INVALID: the resource is not an iterator. *out is borrowed. */
ef_status *ef_iterator_of(const ef_tensor *handle, ef_iterator **out);
/* Starts the iterator at the first element of d. */
ef_status *ef_iterator_start(const ef_op *op, ef_iterator *it, const ef_dataset *d);

/* The pipeline of the iterator from now on; taken over. */
void ef_iterator_set(ef_iterator *it, struct ef_pipeline *p);

/* EF_INVALID: an element is not what output_types and output_shapes declare; op: for the message.
 */
ef_status *ef_element_check(const char *op, const ef_dataset_attrs *a, const ef_tensor *made);

/* What AnonymousIterator and its successors do. */
ef_status *ef_iterator_anonymous_run(const ef_call *c);

/* Opens the dataset that is input 0 of a call and lets `read` take elements. `made` has a zeroed
 * tensor for each output; tensors that `read` leaves in it are released. */
typedef ef_status *ef_take_fn(const ef_call *c, struct ef_pipeline *p, ef_tensor *made);
ef_status *ef_dataset_take(const ef_call *c, ef_take_fn *read);

/* The pipeline of an iterator, with a reference for the caller; EF_FAILED_PRECONDITION if there is
 * none yet. */
ef_status *ef_iterator_pipeline(const ef_tensor *handle, struct ef_pipeline **out);
#endif
