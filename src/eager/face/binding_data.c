/* Datasets as a binding sees them beside the ops. */
#include "base/alloc.h"
#include "data/run.h"
#include "data/statistics.h"
#include "evenflow_binding.h"
#include "ops/data/iterator.h"

ef_status *ef_iterator_next(const ef_tensor *handle, ef_tensor *out, int max_out, int *n_out) {
    const ef_iterator *it = (const ef_iterator *)ef_tensor_object(handle, EF_OBJECT_ITERATOR);
    struct ef_pipeline *p = NULL;
    bool end = false;
    if (it == NULL || it->width > max_out)
        return ef_error(EF_INVALID, "ef_iterator_next: %s",
                        it == NULL ? "the handle is not that of an iterator"
                                   : "max_out is less than the tensors of an element");
    EF_TRY(ef_iterator_pipeline(handle, &p));
    for (int k = 0; k < it->width; k++) out[k] = (ef_tensor){0};
    ef_status *s = ef_data.next(p, out, &end);
    ef_data.unref(p);
    if (s == NULL && !end) s = ef_element_check("iterator", it->set, out);
    if (s == NULL) *n_out = end ? -1 : it->width;
    for (int k = 0; k < it->width && s != NULL; k++) ef_tensor_release(&out[k]);
    return s;
}

int ef_iterator_width(const ef_tensor *handle) {
    const ef_iterator *it = (const ef_iterator *)ef_tensor_object(handle, EF_OBJECT_ITERATOR);
    return it != NULL ? it->width : -1;
}

bool ef_in_pipeline(void) { return ef_pipeline_depth > 0; }

void ef_pipelines_stop(void) { ef_run_stop_all(); }

ef_status *ef_dataset_explain(const ef_tensor *dataset, char **out) {
    const ef_dataset *d = ef_dataset_of(dataset);
    if (d == NULL) return ef_error(EF_INVALID, "ef_dataset_explain: the tensor holds no dataset");
    return ef_notes_explain(d, out);
}

void ef_dataset_explain_free(char *text) { ef_free(text); }
