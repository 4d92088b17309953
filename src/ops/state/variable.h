/* What the ops on variables share: finding the variable behind an input, locking several at once,
 * and the table of names through which sessions find theirs. */
#ifndef EF_OPS_VARIABLE_H
#define EF_OPS_VARIABLE_H
#include "ops/op.h"

/* The variable behind input k. dtype: what it must hold; EF_NO_DTYPE: anything. */
ef_status *ef_call_variable(const ef_call *c, int k, ef_dtype dtype, ef_variable **out);

/* Several variables held for an update. They are locked in order of address, so that two updates
 * can never wait for each other. */
enum { EF_MAX_LOCKED = 4 };
typedef struct ef_locked {
    int n;
    ef_variable *var[EF_MAX_LOCKED]; /* as given */
    ef_tensor *value[EF_MAX_LOCKED]; /* writable, ours alone */
} ef_locked;
/* Inputs k[0..n) must be different, initialised variables of that dtype. Nothing is locked after a
 * failure. */
ef_status *ef_lock_variables(const ef_call *c, const int *k, int n, ef_dtype dtype, ef_locked *out);
void ef_unlock_variables(ef_locked *l);

/* What is known of the variable behind input k: dtype and shape, or NULL. */
const ef_fact *ef_infer_variable(const ef_infer *i, int k);
/* The shape of the variable behind input k (unknown if nothing is known). */
ef_shape ef_infer_variable_shape(const ef_infer *i, int k);

/* Gives out[k] memory of this shape unless it has that already. */
ef_status *ef_out_ready(const ef_call *c, int k, const ef_shape *shape);

/* Named variables. VarHandleOp with a shared_name finds the variable of that name in the current
 * scope or makes it there. A session owns a scope and enters it around each run; elsewhere the
 * process's own scope is current. A scope keeps its variables until they are destroyed. */
typedef struct ef_scope ef_scope;
ef_scope *ef_scope_make(void);   /* NULL when out of memory */
void ef_scope_free(ef_scope *s); /* releases its variables; NULL is fine */
ef_scope *
ef_scope_enter(ef_scope *s);      /* this thread's scope; NULL: the process's. Returns the old */
uint64_t ef_scope_id(void);       /* of this thread's scope; no other scope ever has the same */
void ef_scope_halt(ef_scope *s);  /* calls that wait for a queue of it end with EF_CANCELLED */
void ef_scope_clear(ef_scope *s); /* forgets every name; NULL: the process's */
#endif
