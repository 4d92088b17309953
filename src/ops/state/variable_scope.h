/* The table of names used by VarHandleOp and DestroyResourceOp; see variable.h for scopes. */
#ifndef EF_OPS_VARIABLE_SCOPE_H
#define EF_OPS_VARIABLE_SCOPE_H
#include "ops/state/variable.h"

/* Finds the object of that name in the current scope, or makes it; *out carries a reference for the
 * caller, who checks its kind. */
typedef ef_status *ef_scope_make_fn(const void *how, const char *name, ef_object **out);
ef_status *ef_scope_object(const ef_attr_text *container, const ef_attr_text *name,
                           ef_scope_make_fn *make, const void *how, ef_object **out);
/* Finds or makes the variable of that name in the current scope; *out carries a reference for the
 * caller. */
ef_status *ef_scope_variable(const ef_attr_text *container, const ef_attr_text *name,
                             ef_dtype dtype, const ef_shape *shape, ef_variable **out);
/* Removes v from the current scope or the process's; does nothing if it has no name there. */
void ef_scope_forget(const ef_variable *v);
#endif
