/* The inputs of examples that are no plain tensors and need nothing but their text: callbacks,
 * tables, encoded images, datasets and iterators. */
#ifndef EF_OPS_EXAMPLE_OBJECTS_H
#define EF_OPS_EXAMPLE_OBJECTS_H
#include "ops/op.h"

bool ef_example_is_object(const char *item);
/* EF_INVALID: the text in the parentheses cannot be read. op: whose example it is. */
ef_status *ef_example_object(const ef_op *op, const char *item, ef_tensor *out);
#endif
