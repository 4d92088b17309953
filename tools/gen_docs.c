/* Writes the records of all ops as JSON, from which tools/gen_op_docs.py makes the pages of
 * docs/ops. The results of examples come from shape inference.   gen_docs > ops.json */
#include "base/text.h"
#include "jit/jit.h"
#include "ops/example.h"
#include "ops/run.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OUT = 64 };

static const char *gradient_text(const ef_op *op) {
    if (op->traits & EF_NO_GRAD) return "none, by definition";
    if (op->traits & EF_GRAD_UNDEFINED) return "undefined, as in TensorFlow: an error";
    if (op->traits & EF_CONTROL) return "yes";
    return op->grad ? "yes" : "no";
}

/* Whether src/jit compiles the op's expression for some dtype, with operands and a result that are
 * numbers or truth values. */
static bool compiles(const ef_op *op) {
    static const ef_dtype types[] = {EF_F32, EF_F64, EF_I32, EF_I64};
    int n_in = ef_op_signature(op)->n_in;
    if (op->expr == NULL || n_in > EF_JIT_MAX_IN) return false;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (int truths = 0; truths < 1 << n_in; truths++) {
            ef_jit_ins number = {op->expr, (uint8_t)n_in, 0, (uint8_t)truths, {0, 1, 2}, 3, false};
            ef_jit_ins truth = number;
            truth.truths |= EF_JIT_TRUTH_OUT;
            if (ef_jit_knows(&number, types[k]) || ef_jit_knows(&truth, types[k])) return true;
        }
    return false;
}

static const char *fusion_text(const ef_op *op) {
    if (op->traits & EF_ELEMENTWISE) return compiles(op) ? "yes, and becomes machine code" : "yes";
    if (op->traits & EF_REDUCES) return "ends a fused group";
    if (op->traits & EF_SPREADS) return "yes, as a broadcast";
    return op->traits & EF_VIEW_0 ? "a view: takes no time" : "no";
}

static void put(ef_text *t, const char *name, const char *value) {
    ef_text_add(t, ", \"%s\": ", name);
    ef_text_quoted(t, value != NULL ? value : "");
}

static void put_arguments(ef_text *t, const char *what, const char *const *args) {
    ef_text_add(t, ", \"%s\": [", what);
    for (int k = 0; k < EF_MAX_ARGS && args[k]; k++) {
        if (k > 0) ef_text_add(t, ", ");
        ef_text_quoted(t, args[k]);
    }
    ef_text_add(t, "]");
}

static void put_attributes(ef_text *t, const ef_op *op) {
    ef_text_add(t, ", \"attrs\": [");
    for (int k = 0; k < ef_op_signature(op)->n_attrs; k++) {
        const ef_attr *a = &op->attr[k];
        ef_text_add(t, "%s{\"name\": \"%s\"", k > 0 ? ", " : "", a->name);
        put(t, "type", a->type);
        if (a->value != NULL) put(t, "default", a->value);
        ef_text_add(t, "}");
    }
    ef_text_add(t, "]");
}

static void put_result(ef_text *t, const ef_op *op, const ef_example *e) {
    ef_fact in[EF_EXAMPLE_MAX_IN], handles[EF_EXAMPLE_MAX_IN], out[MAX_OUT];
    int n = 0;
    for (int k = 0; k < e->n_in; k++) ef_fact_of(&e->in[k], &in[k], &handles[k]);
    ef_status *s = ef_op_infer(op, ef_attrs_fields(e->attrs), in, e->n_in, out, MAX_OUT, &n);
    ef_text result = {0};
    for (int k = 0; !s && k < n; k++)
        ef_text_add(&result, "%s%s %s", k ? ", " : "", ef_dtype_name(out[k].dtype),
                    EF_SHAPE(&out[k].shape));
    put(t, "gives", result.at);
    ef_text_free(&result);
    ef_status_free(s);
}

/* Writes each example once, with the first of its dtypes. */
static void put_examples(ef_text *t, const ef_op *op) {
    int n = op->examples[0] ? ef_example_count(op) : 0, shown = -1;
    ef_text_add(t, ", \"examples\": [");
    for (int k = 0; k < n; k++) {
        ef_example e;
        int row = ef_example_row(op, k);
        if (row == shown) continue;
        ef_status *s = ef_example_make(op, k, 1, &e);
        if (!s) {
            ef_text_add(t, "%s{\"of\": ", shown < 0 ? "" : ", ");
            ef_text_quoted(t, op->examples[row]);
            put_result(t, op, &e);
            ef_text_add(t, "}");
            ef_example_free(&e);
            shown = row;
        }
        ef_status_free(s);
    }
    ef_text_add(t, "]");
}

static void put_op(ef_text *t, const ef_op *op) {
    ef_text_add(t, "{\"name\": \"%s\"", op->name);
    put(t, "doc", op->doc);
    put(t, "types", op->types);
    put(t, "gradient", gradient_text(op));
    put(t, "fuses", fusion_text(op));
    put_arguments(t, "inputs", op->in);
    put_arguments(t, "outputs", op->out);
    put_attributes(t, op);
    put_examples(t, op);
    ef_text_add(t, "}");
}

int main(void) {
    ef_text t = {0};
    for (int id = 0; id < EF_OP_COUNT; id++) {
        ef_text_add(&t, id > 0 ? ",\n" : "[");
        put_op(&t, ef_op_table[id]);
    }
    if (t.failed || printf("%s]\n", t.at) < 0) {
        fprintf(stderr, "gen_docs: out of memory, or the output cannot be written\n");
        return 1;
    }
    ef_text_free(&t);
    return 0;
}
