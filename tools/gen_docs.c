/* Writes the reference of ops from the registry: README.md, a table of all, and one page per
 * initial letter with everything a record says. What an example gives is inferred, not typed.
 *   gen_docs FOLDER */
#include "ops/example.h"
#include "ops/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_OUT = 64 };
static FILE *to;

static FILE *open_page(const char *folder, const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.md", folder, name);
    return fopen(path, "w");
}

static const char *gradient_text(const ef_op *op) {
    if (op->traits & EF_NO_GRAD) return "none, by definition";
    if (op->traits & EF_GRAD_UNDEFINED) return "undefined, as in TensorFlow: an error";
    if (op->traits & EF_CONTROL) return "yes";
    return op->grad ? "yes" : "no";
}

/* ---- one op ------------------------------------------------------------------------------------
 */

static void put_arguments(const char *what, const char *const *args) {
    if (!args[0]) return;
    fprintf(to, "- %s: ", what);
    for (int k = 0; k < EF_MAX_ARGS && args[k]; k++) fprintf(to, "%s`%s`", k ? ", " : "", args[k]);
    fprintf(to, "\n");
}

static void put_attributes(const ef_op *op) {
    int n = ef_op_signature(op)->n_attrs;
    if (n > 0) fprintf(to, "- attributes: ");
    for (int k = 0; k < n; k++) {
        const ef_attr *a = &op->attr[k];
        fprintf(to, "%s`%s: %s%s%s`", k ? ", " : "", a->name, a->type, a->value ? " = " : "",
                a->value ? a->value : "");
    }
    if (n > 0) fprintf(to, "\n");
}

static void put_result(const ef_op *op, const ef_example *e) {
    ef_fact in[EF_EXAMPLE_MAX_IN], handles[EF_EXAMPLE_MAX_IN], out[MAX_OUT];
    int n = 0;
    for (int k = 0; k < e->n_in; k++) ef_fact_of(&e->in[k], &in[k], &handles[k]);
    ef_status *s = ef_op_infer(op, ef_attrs_fields(e->attrs), in, e->n_in, out, MAX_OUT, &n);
    for (int k = 0; !s && k < n; k++)
        fprintf(to, "%s%s %s", k ? ", " : " gives ", ef_dtype_name(out[k].dtype),
                EF_SHAPE(&out[k].shape));
    ef_status_free(s);
}

/* Each example once, read in the first of its dtypes. */
static void put_examples(const ef_op *op) {
    int n = op->examples[0] ? ef_example_count(op) : 0, shown = -1;
    for (int k = 0; k < n; k++) {
        ef_example e;
        int row = ef_example_row(op, k);
        if (row == shown) continue;
        ef_status *s = ef_example_make(op, k, 1, &e);
        if (!s) {
            fprintf(to, "%s`%s`", shown < 0 ? "- examples: " : "; ", op->examples[row]);
            put_result(op, &e);
            ef_example_free(&e);
            shown = row;
        }
        ef_status_free(s);
    }
    if (shown >= 0) fprintf(to, "\n");
}

static void put_op(const ef_op *op) {
    fprintf(to, "\n## %s\n%s\n\n", op->name, op->doc ? op->doc : "");
    put_arguments("inputs", op->in);
    put_arguments("outputs", op->out);
    if (op->types && *op->types) fprintf(to, "- types: `%s`\n", op->types);
    put_attributes(op);
    fprintf(to, "- gradient: %s\n", gradient_text(op));
    put_examples(op);
}

/* ---- pages -------------------------------------------------------------------------------------
 */

static bool put_index(const char *folder) {
    if (!(to = open_page(folder, "README"))) return false;
    fprintf(to,
            "# Ops\n\nGenerated from the registry (`src/ops`); %d ops. An argument is written "
            "`name: type`; an example is\nthe inputs' dtypes and shapes, then attributes.\n\n",
            EF_OP_COUNT);
    fprintf(to, "| op | what it does | gradient |\n|---|---|---|\n");
    for (int id = 0; id < EF_OP_COUNT; id++) {
        const ef_op *op = ef_op_table[id];
        fprintf(to, "| [%s](%c.md#", op->name, op->name[0]);
        for (const char *p = op->name; *p; p++) fputc(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p, to);
        fprintf(to, ") | %s | %s |\n", op->doc ? op->doc : "", gradient_text(op));
    }
    return fclose(to) == 0;
}

static bool put_page(const char *folder, int first, int end) {
    char letter[2] = {ef_op_table[first]->name[0], 0};
    if (!(to = open_page(folder, letter))) return false;
    fprintf(to, "# Ops that begin with %s\n", letter);
    for (int id = first; id < end; id++) put_op(ef_op_table[id]);
    return fclose(to) == 0;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: gen_docs FOLDER\n");
        return 2;
    }
    bool good = (mkdir(argv[1], 0777) == 0 || errno == EEXIST) && put_index(argv[1]);
    for (int first = 0, end; good && first < EF_OP_COUNT; first = end) {
        end = first + 1;
        while (end < EF_OP_COUNT && ef_op_table[end]->name[0] == ef_op_table[first]->name[0]) end++;
        good = put_page(argv[1], first, end);
    }
    if (!good) fprintf(stderr, "gen_docs: cannot write to %s\n", argv[1]);
    return !good;
}
