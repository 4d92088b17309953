/* Inputs of examples that are not plain tensors and that can be made from their text alone:
 * callbacks, tables, encoded images, datasets and iterators. */
#ifndef EF_OPS_EXAMPLE_OBJECTS_H
#define EF_OPS_EXAMPLE_OBJECTS_H
#include "ops/op.h"

bool ef_example_is_object(const char *item);
/* Returns EF_INVALID if the text in the parentheses cannot be read. op: the op that has the
 * example. */
ef_status *ef_example_object(const ef_op *op, const char *item, ef_tensor *out);
#endif
