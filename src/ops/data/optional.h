/* Optionals: variants that hold the components of an element, or nothing. */
#ifndef EF_OPS_OPTIONAL_H
#define EF_OPS_OPTIONAL_H
#include "ops/data/dataset.h"

typedef struct ef_optional {
    ef_object object; /* kind EF_OBJECT_OPTIONAL */
    bool has_value;
    int n;
    ef_tensor value[];
} ef_optional;
/* An empty optional with space for n components; refs 1. */
ef_status *ef_optional_make(int n, ef_optional **out);
ef_shape_fn ef_components_infer; /* outputs have the shapes of the attribute output_shapes */
/* Makes `made` the outputs of an op with the attributes output_types and output_shapes, if they are
 * what these declare: a plan relies on it. The caller still owns `made`. */
ef_status *ef_components_out(const ef_call *c, const ef_tensor *made);
#endif
