/* The table of names behind VarHandleOp and DestroyResourceOp; see variable.h for scopes. */
#ifndef EF_OPS_VARIABLE_SCOPE_H
#define EF_OPS_VARIABLE_SCOPE_H
#include "ops/variable.h"

/* Finds or makes the variable of that name in the current scope; *out is counted for the caller. */
ef_status *ef_scope_variable(const ef_attr_text *container, const ef_attr_text *name,
                             ef_dtype dtype, const ef_shape *shape, ef_variable **out);
/* Takes v out of the current scope or the process's; nothing happens if it has no name there. */
void ef_scope_forget(const ef_variable *v);
#endif
