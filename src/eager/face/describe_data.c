/* ef_dataset_describe: a pipeline is a tree of datasets, each of which has the op that made it, its
 * attributes and its inputs; written as JSON. */
#include "base/alloc.h"
#include "base/text.h"
#include "evenflow_binding.h"
#include "graph/graph.h"
#include "ops/data/dataset.h"

enum { MOST_DEPTH = 200 }; /* of the tree: a bound for the recursion */

static void put_element(ef_text *t, const ef_dataset *d) {
    ef_text_add(t, ", \"element\": [");
    for (int k = 0; k < ef_dataset_width(d); k++)
        ef_text_add(t, "%s{\"dtype\": \"%s\", \"shape\": \"%s\"}", k > 0 ? ", " : "",
                    ef_dtype_name(ef_dataset_type(d, k)), EF_SHAPE(ef_dataset_shape(d, k)));
    ef_text_add(t, "]");
}

/* Scalars are written as numbers or strings; of other tensors dtype and shape. */
static void put_argument(ef_text *t, const ef_tensor *v) {
    ef_shape shape = ef_shape_from(v);
    ef_dtype dtype = (ef_dtype)v->dtype;
    if (ef_count(v) == 1 && v->rank == 0 && dtype == EF_STRING) {
        const char *at = "";
        size_t n = 0;
        ef_status_free(ef_string_at(v, 0, &at, &n));
        ef_text copy = {0};
        ef_text_bytes(&copy, at, n);
        ef_text_quoted(t, copy.at != NULL ? copy.at : "");
        ef_text_free(&copy);
    } else if (v->rank == 0 && v->data != NULL && ef_dtype_in(dtype, EF_REALS | EF_BIT(BOOL))) {
        ef_text_add(t, "%.17g", ef_element_double(dtype, v->data, 0));
    } else {
        ef_text_add(t, "\"%s %s\"", ef_dtype_name(dtype), EF_SHAPE(&shape));
    }
}

static void put_arguments(ef_text *t, const ef_dataset *d) {
    const ef_op_desc *op = ef_op_describe(d->op);
    bool any = false;
    ef_text_add(t, ", \"arguments\": {");
    for (int k = 0; op != NULL && k < op->n_in; k++) {
        int n = 0;
        const ef_tensor *v = ef_dataset_arg(d, op->in[k].name, &n);
        if (v == NULL || op->in[k].is_list || ef_dataset_of(v) != NULL) continue;
        ef_text_add(t, "%s\"%s\": ", any ? ", " : "", op->in[k].name);
        put_argument(t, v);
        any = true;
    }
    ef_text_add(t, "}");
}

static void put_functions(ef_text *t, const ef_dataset *d) {
    const ef_op_desc *op = ef_op_describe(d->op);
    bool any = false;
    ef_text_add(t, ", \"functions\": {");
    for (int k = 0; op != NULL && k < op->n_attrs; k++) {
        ef_attr_value v;
        if (op->attr[k].kind != EF_ATTR_FUNC) continue;
        ef_status *s = ef_attrs_read(d->op, d->attrs, op->attr[k].name, &v);
        if (s == NULL && v.as.func != NULL) {
            ef_text_add(t, "%s\"%s\": [", any ? ", " : "", op->attr[k].name);
            for (size_t n = 0; n < v.as.func->n_nodes; n++)
                ef_text_add(t, "%s\"%s\"", n > 0 ? ", " : "", v.as.func->node[n]->op->name);
            ef_text_add(t, "]");
            any = true;
        }
        ef_status_free(s);
    }
    ef_text_add(t, "}");
}

static void put_dataset(ef_text *t, const ef_dataset *d, int depth) {
    bool any = false;
    ef_text_add(t, "{\"op\": \"%s\"", d->op->name);
    put_element(t, d);
    put_arguments(t, d);
    put_functions(t, d);
    ef_text_add(t, ", \"sources\": [");
    for (int k = 0; k < d->n_in && depth < MOST_DEPTH; k++) {
        const ef_dataset *source = d->in[k].dtype == EF_VARIANT && ef_count(&d->in[k]) == 1
                                       ? ef_dataset_of(&d->in[k])
                                       : NULL;
        if (source == NULL) continue;
        if (any) ef_text_add(t, ",\n ");
        put_dataset(t, source, depth + 1);
        any = true;
    }
    ef_text_add(t, "]}");
}

ef_status *ef_dataset_describe(const ef_tensor *dataset, char **text) {
    const ef_dataset *d =
        dataset != NULL && dataset->dtype == EF_VARIANT ? ef_dataset_of(dataset) : NULL;
    if (d == NULL || text == NULL)
        return ef_error(EF_INVALID, "ef_dataset_describe: the tensor holds no dataset");
    ef_text t = {0};
    put_dataset(&t, d, 0);
    if (t.failed) {
        ef_text_free(&t);
        return ef_no_memory(t.cap);
    }
    *text = t.at;
    return NULL;
}
