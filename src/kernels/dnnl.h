/* Cached oneDNN primitives. A *chain* is one or more ready primitives (a reorder, then a
 * convolution) with sets of memory objects, so that running it only sets a few pointers and
 * executes. Chains are immutable and may be run by several threads at the same time; they are
 * reference-counted, and a bounded cache finds them by a packed description. A chain runs on the
 * calling thread only: to use more threads, divide the work and run a chain for each piece. */
#ifndef EF_KERNELS_DNNL_H
#define EF_KERNELS_DNNL_H
#include "base/status.h"
#include <oneapi/dnnl/dnnl.h>

enum { EF_CHAIN_SLOTS = 12, EF_CHAIN_STAGES = 4, EF_CHAIN_ARGS = 8, EF_CHAIN_PARTS = 6 };
typedef struct ef_chain ef_chain;

/* The only CPU engine; made on first use. */
ef_status *ef_dnnl_engine(dnnl_engine_t *out);
/* Returns NULL for success; `what` names the step that failed. */
ef_status *ef_dnnl_status(dnnl_status_t s, const char *what);

/* Building a chain, inside a build function. Memory that the caller gives at run time has slots 0,
 * 1, ... in the order of the `data` array; temporaries use scratch memory. */
ef_status *ef_chain_given(ef_chain *c, const dnnl_memory_desc_t *md, int *slot);
ef_status *ef_chain_temp(ef_chain *c, const dnnl_memory_desc_t *md, int *slot);
/* Adds a primitive; takes pd (also on failure). Its scratchpad must be in user mode. */
ef_status *ef_chain_add(ef_chain *c, dnnl_primitive_desc_t pd, int n, const int *arg,
                        const int *slot);
ef_status *ef_chain_reorder(ef_chain *c, int from, int to);

/* Whether a primitive is oneDNN's reference implementation, a hundred times slower than the
 * others. */
bool ef_chain_is_slow(const ef_chain *c);
/* Stores the chain of a piece (takes the reference); at most EF_CHAIN_PARTS. */
void ef_chain_keep(ef_chain *c, ef_chain *part);

typedef ef_status *ef_chain_build(ef_chain *c, const void *key);
/* Finds the chain for a key (packed: without uninitialised padding), or builds it. The caller owns
 * one reference. */
ef_status *ef_chain_get(const void *key, size_t key_bytes, ef_chain_build *build, ef_chain **out);
ef_chain *ef_chain_ref(ef_chain *c);
void ef_chain_unref(ef_chain *c); /* NULL is allowed */
/* The k-th chain stored by ef_chain_keep; NULL: there are fewer. */
ef_chain *ef_chain_part(const ef_chain *c, int k);
const void *ef_chain_key(const ef_chain *c);
int ef_chain_stages(const ef_chain *c);
const dnnl_memory_desc_t *ef_chain_md(const ef_chain *c, int slot);
/* Runs the stages in order. data[k] is the memory of the k-th given slot. scratch:
 * ef_chain_scratch bytes of any alignment; NULL: taken from the run's scratch memory for the
 * duration of the call. */
size_t ef_chain_scratch(const ef_chain *c);
ef_status *ef_chain_run(ef_chain *c, void *const *data, void *scratch);
/* Runs one stage only, for stages that do not depend on each other. */
ef_status *ef_chain_run_stage(ef_chain *c, int stage, void *const *data);
#endif
