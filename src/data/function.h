/* Functions of elements: graphs that were traced once, run as plans. Any thread may run one. */
#ifndef EF_DATA_FUNCTION_H
#define EF_DATA_FUNCTION_H
#include "data/run.h"
#include "graph/graph.h"
#include "ops/data/dataset.h"
#include "plan/program.h"

typedef struct ef_element_fn {
    ef_graph *graph; /* borrowed from the dataset's attributes */
    ef_program *program;
    const ef_tensor *more;   /* its captures; borrowed from the dataset's inputs */
    int n_more, n_in, n_out; /* n_in: tensors of an element */
    uint64_t scope;          /* identifies the positions of its random ops */
    bool draws;              /* it has random ops with a position */
    bool effects;            /* it has side effects, or calls the program */
    bool calls_back;         /* it calls a function of the program */
    /* What an op's EF_OUT_OF_RANGE becomes, which the consumer would take for the end of the
     * dataset; 0: it stays. */
    ef_code no_end;
    /* The same function for stacked elements, if it provably gives the same results; else NULL. */
    ef_program *stacked;
    bool stacked_known;
} ef_element_fn;

/* An op that runs out of something fails with EF_INTERNAL, unless the caller sets f->no_end.
 * Random ops have positions of their own in each run, which continue when a stage is opened again,
 * as by repeat. more: the name of the argument that holds the function's captures. */
ef_status *ef_element_fn_open(ef_element_fn *f, const ef_run *run, ef_graph *graph,
                              const ef_dataset *d, const char *more);
/* The same with the captured tensors given. */
ef_status *ef_element_fn_make(ef_element_fn *f, ef_graph *graph, const ef_tensor *more, int n_more);
void ef_element_fn_close(ef_element_fn *f);
/* in: n_in tensors, borrowed. out: zeroed; n_out tensors on success. */
ef_status *ef_element_fn_run(const ef_element_fn *f, const ef_tensor *in, ef_tensor *out);
/* The same with the inputs in two arrays, as in a reduction: the state and the element. */
ef_status *ef_element_fn_run2(const ef_element_fn *f, const ef_tensor *in, int n,
                              const ef_tensor *rest, ef_tensor *out);
/* EF_FAILED_PRECONDITION: a function of the dataset, or of one below it, has an op whose result
 * depends on more than its inputs: a variable, a random op's position, the program. */
ef_status *ef_dataset_self_contained(const ef_dataset *d);
/* Checks that the function takes `width` tensors beside its captures. */
ef_status *ef_element_fn_check(const ef_element_fn *f, const ef_dataset *d, int width);

/* Whether the function works element by element over a further first axis; then it may be run on
 * stacked elements. d: whose elements it takes. */
bool ef_element_fn_stacks(ef_element_fn *f, const ef_dataset *d);
ef_status *ef_element_fn_run_stacked(const ef_element_fn *f, const ef_tensor *in, ef_tensor *out);
/* vectorize.c: the graph for stacked elements; *out stays NULL if the function may not be stacked.
 */
ef_status *ef_graph_stack(const ef_graph *g, int n_elements, const ef_dataset *d, ef_graph **out);
#endif
