/* What the CTC ops share. */
#ifndef EF_OPS_CTC_H
#define EF_OPS_CTC_H
#include "kernels/ctc.h"
#include "ops/build.h"
#include "ops/shapes.h"

/* The last class is the blank, so there must be one. */
static inline ef_status *ef_ctc_need_blank(const ef_call *c) {
    ef_shape s = ef_shape_from(c->in[0]);
    if (s.dim[2] > 0) return NULL;
    return ef_error(EF_INVALID,
                    "%s: inputs is %s and has no class; it must have at least the blank",
                    c->op->name, EF_SHAPE(&s));
}
#endif
