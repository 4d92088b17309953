/* Reports the ops that lack a column of their record: one line for each such op, then a line with
 * their number; tools/health.py shows both. A column is required only where it makes sense: no
 * gradient if it is None by definition or TensorFlow defines none, no kernel if another room runs
 * the op.   ef_ops_report --table   prints all columns of all ops instead. */
#include "ops/example.h"

#include <stdio.h>
#include <string.h>

enum { DOC, SHAPE, KERNEL, GRADIENT, COLUMNS };
static const char *const column[COLUMNS] = {"doc", "shape function", "kernel", "gradient"};

static bool lacks(const ef_op *op, int k) {
    switch (k) {
    case DOC: return !op->doc || !op->doc[0];
    case SHAPE: return op->out[0] && !op->shape;
    case KERNEL:
        return !op->kernel[0].run && !(op->traits & (EF_NO_KERNEL | EF_VIEW_0 | EF_CONTROL));
    default:
        return !op->grad && !(op->traits & (EF_NO_GRAD | EF_GRAD_UNDEFINED | EF_CONTROL)) &&
               op->out[0];
    }
}

static void table(void) {
    printf("%-44s doc shape kernels gradient tile expr examples\n", "op");
    for (int i = 0; i < EF_OP_COUNT; i++) {
        const ef_op *op = ef_op_table[i];
        int kernels = 0;
        while (kernels < EF_MAX_KERNELS && op->kernel[kernels].run) kernels++;
        const char *run = op->traits & EF_VIEW_0    ? "view"
                          : op->traits & EF_CONTROL ? "plan"
                                                    : "none";
        char count[8];
        snprintf(count, sizeof count, "%d", kernels);
        printf("%-44s %-3s %-5s %-7s %-8s %-4s %-2s %d\n", op->name, lacks(op, DOC) ? "-" : "yes",
               op->shape ? "yes" : "-", kernels ? count : run,
               op->traits & EF_NO_GRAD               ? "none"
               : op->traits & EF_GRAD_UNDEFINED      ? "error"
               : op->traits & EF_CONTROL || op->grad ? "yes"
                                                     : "-",
               op->tile || op->pick_tile ? "yes" : "-", op->expr ? "y" : "-", ef_example_count(op));
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        table();
        return 0;
    }
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
