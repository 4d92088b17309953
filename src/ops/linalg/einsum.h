/* An einsum equation, parsed for operands of given ranks. */
#ifndef EF_OPS_EINSUM_H
#define EF_OPS_EINSUM_H
#include "ops/op.h"

typedef struct ef_einsum_attrs {
    ef_attr_text equation;
} ef_einsum_attrs;

enum { EF_EINSUM_OUT = 2 }; /* terms 0 and 1 are inputs */
typedef struct ef_einsum {
    int n_in;
    struct ef_einsum_term {
        int n;                  /* axes */
        int label[EF_MAX_RANK]; /* a character, or 256 + the position from the right within "..." */
        const char *text, *end; /* as written */
        const char *ellipsis;   /* the position of "...", or NULL */
    } term[3];
} ef_einsum;
/* rank[k]: rank of input k; NULL: parse the text only (n and label stay unset). */
ef_status *ef_einsum_read(const ef_op *op, const ef_einsum_attrs *t, int n_in, const int *rank,
                          ef_einsum *e);
/* Whether a node with this op and these inputs multiplies two arrays, neither of which broadcasts
 * or has a label twice; if so, its equation ('bij,bjk->bik'). */
enum { EF_EINSUM_TEXT = 3 * (EF_MAX_RANK + 2) };
bool ef_einsum_of(const ef_op *op, const void *fields, const ef_fact *x, const ef_fact *y,
                  char text[EF_EINSUM_TEXT]);
ef_kernel_fn ef_einsum_run;
ef_scratch_fn ef_einsum_scratch;
#endif
