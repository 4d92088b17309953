/* Says which ops lack a column of their record. One line per op that lacks something, then one line
 * that counts them; tools/health.py shows both. A column is asked for only where it means
 * something: no gradient where the gradient is None by definition, no kernel where another room
 * runs the op. */
#include "ops/op.h"

#include <stdio.h>

enum { DOC, SHAPE, KERNEL, GRADIENT, COLUMNS };
static const char *const column[COLUMNS] = {"doc", "shape function", "kernel", "gradient"};

static bool lacks(const ef_op *op, int k) {
    switch (k) {
    case DOC: return !op->doc || !op->doc[0];
    case SHAPE: return op->out[0] && !op->shape;
    case KERNEL:
        return !op->kernel[0].run && !(op->traits & (EF_NO_KERNEL | EF_VIEW_0 | EF_CONTROL));
    default: return !op->grad && !(op->traits & (EF_NO_GRAD | EF_CONTROL)) && op->out[0];
    }
}

int main(void) {
    int ops = 0, count[COLUMNS] = {0};
    for (int i = 0; i < EF_OP_COUNT; i++) {
        bool named = false;
        for (int k = 0; k < COLUMNS; k++) {
            if (!lacks(ef_op_table[i], k)) continue;
            if (named)
                printf(", %s", column[k]);
            else
                printf("%s: %s", ef_op_table[i]->name, column[k]);
            named = true;
            count[k]++;
        }
        if (named) printf("\n");
        ops += named;
    }
    printf("%d of %d", ops, EF_OP_COUNT);
    for (int k = 0; k < COLUMNS; k++) {
        if (count[k]) printf("; %s: %d", column[k], count[k]);
    }
    printf("\n");
    return 0;
}
