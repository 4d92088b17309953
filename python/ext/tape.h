/* Declarations that tape.c and gradient_tape.c share. */
#ifndef EF_PY_TAPE_H
#define EF_PY_TAPE_H
#include "core.h"

typedef struct tape_object {
    PyObject_HEAD ef_tape *t;
} tape_object;
extern PyTypeObject *tape_type;

PyObject *tape_make(PyTypeObject *type, bool persistent, bool watch, bool quiet);
/* Calls ef_tape_gradients without the GIL; -1: raised. */
int tape_ask(ef_tape *tape, const ef_tensor *const *target, int n_targets,
             const ef_tensor *const *dout, const ef_tensor *const *source, int n, ef_tensor *out,
             bool *slices);
/* A list with None, a tensor, or (values, indices, dense_shape) for each gradient. Takes the
 * results over, even on failure. */
PyObject *gradient_list(ef_tensor *out, const bool *slices, int n);
int gradient_tape_init(PyObject *module);
#endif
