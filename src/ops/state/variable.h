/* What the ops on variables share: finding the variable of an input, locking several of them, and
 * the table of names in which sessions find theirs. */
#ifndef EF_OPS_VARIABLE_H
#define EF_OPS_VARIABLE_H
#include "ops/op.h"

/* The variable of input k. dtype: what it must hold; EF_NO_DTYPE: any. */
ef_status *ef_call_variable(const ef_call *c, int k, ef_dtype dtype, ef_variable **out);

/* Several variables locked for an update. They are locked in order of address, so that two updates
 * cannot deadlock. */
enum { EF_MAX_LOCKED = 4 };
typedef struct ef_locked {
    int n;
    ef_variable *var[EF_MAX_LOCKED]; /* in the order given */
    ef_tensor *value[EF_MAX_LOCKED]; /* writable, without other owners */
} ef_locked;
/* Inputs k[0..n) must be different, initialised variables of that dtype. After a failure nothing is
 * locked. */
ef_status *ef_lock_variables(const ef_call *c, const int *k, int n, ef_dtype dtype, ef_locked *out);
void ef_unlock_variables(ef_locked *l);

/* The dtype and shape of the variable of input k, or NULL if they are not known. */
const ef_fact *ef_infer_variable(const ef_infer *i, int k);
/* The shape of the variable of input k (unknown rank if it is not known). */
ef_shape ef_infer_variable_shape(const ef_infer *i, int k);

/* Allocates memory of this shape for out[k] unless it already has it. */
ef_status *ef_out_ready(const ef_call *c, int k, const ef_shape *shape);

/* Named variables. VarHandleOp with a shared_name finds the variable of that name in the current
 * scope or makes it there. A session owns a scope and enters it around each run; elsewhere the
 * process's own scope is current. A scope keeps its variables until they are destroyed. */
typedef struct ef_scope ef_scope;
ef_scope *ef_scope_make(void);   /* NULL when out of memory */
void ef_scope_free(ef_scope *s); /* releases its variables; NULL is allowed */
/* Sets this thread's scope; NULL: the process's. Returns the old one. */
ef_scope *ef_scope_enter(ef_scope *s);
uint64_t ef_scope_id(void);       /* of this thread's scope; unique among all scopes */
void ef_scope_halt(ef_scope *s);  /* calls that wait for one of its queues end with EF_CANCELLED */
void ef_scope_clear(ef_scope *s); /* removes every name; NULL: the process's scope */
#endif
