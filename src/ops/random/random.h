/* How random ops get their generators. */
#ifndef EF_OPS_RANDOM_H
#define EF_OPS_RANDOM_H
#include "kernels/random.h"
#include "ops/op.h"

/* Resets the position of every stateful random op, so that the same seeds give the same numbers
 * again (tf.random.set_seed). */
void ef_random_reset(void);

/* The scope of the positions that the steps of a plan use: each trace of a function has its own
 * scope, and so has each iteration over a dataset. 0: none. Eager calls ignore it. */
extern _Thread_local uint64_t ef_random_scope;
uint64_t ef_random_scope_new(void);             /* never 0, never the same one twice */
uint64_t ef_random_scope_enter(uint64_t scope); /* returns the previous one */

/* ---- for the random ops ---- */
typedef struct ef_random_attrs { /* each op uses the fields it declares */
    int64_t seed, seed2;
    ef_dtype dtype;
} ef_random_attrs;
#define EF_RANDOM_SEEDS \
    EF_ATTR(ef_random_attrs, seed, "int", "0"), EF_ATTR(ef_random_attrs, seed2, "int", "0")

/* A stateful op's generator at its current position, which then advances by `blocks`. The position
 * belongs to the op with these attributes and dtypes; in a plan, to that node of the graph only.
 * Without seeds the stream starts from the system's entropy. */
ef_status *ef_random_stateful(const ef_call *c, uint64_t blocks, ef_philox *out);
/* For kernel rows of stateful ops. */
ef_prepare_fn ef_random_prepare;
ef_release_fn ef_random_release;
/* Whether an op has a position, that is, draws from a stateful generator. */
static inline bool ef_op_draws(const ef_op *op) {
    return op->kernel[0].prepare == ef_random_prepare;
}
/* A generator from a `seed` input of two integers; from the inputs `key`, `counter` and `alg` at k,
 * k+1 and k+2. */
ef_status *ef_random_from_seed(const ef_call *c, int k, ef_philox *out);
ef_status *ef_random_from_key(const ef_call *c, int k, ef_philox *out);
/* A generator from the state variable of input 0, which advances by `blocks`. alg: the algorithm
 * that the call gives. */
ef_status *ef_random_from_variable(const ef_call *c, int64_t alg, uint64_t blocks, ef_philox *out);
ef_status *ef_random_check_alg(const ef_op *op, int64_t alg);
/* Shape checks for the inputs these read. */
ef_status *ef_random_need_seed(const ef_infer *i, int k);
ef_status *ef_random_need_key(const ef_infer *i, int k);
/* Output 0 has the shape given as input k, which must end with the dims of `tail`. */
ef_status *ef_random_ending_shape(ef_infer *i, int k, const ef_shape *tail);
/* The index of the element of x that belongs to element k of shape `all`, to which x broadcasts. */
int64_t ef_random_spread(const ef_tensor *x, const ef_shape *all, int64_t k);
#endif
