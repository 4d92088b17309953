/* Saving and restoring elements that were made ahead. */
#include "data/leftover.h"
#include "base/alloc.h"
#include "data/rows.h"
#include <string.h>

enum item { STOP, ELEMENT, FAILURE, END };

void ef_leftover_close(ef_leftover *l) {
    for (int64_t k = 0; k < l->n; k++) {
        ef_element_release(l->element + k * l->width, l->width);
        ef_status_free(l->error[k]);
    }
    ef_free(l->element);
    ef_free(l->error);
    *l = (ef_leftover){0};
}

ef_status *ef_leftover_next(ef_leftover *l, ef_tensor *out, bool *end) {
    if (l->at == l->n) {
        *end = true;
        return NULL;
    }
    ef_tensor *from = l->element + l->at * l->width;
    ef_status *bad = l->error[l->at];
    l->error[l->at++] = NULL;
    for (int k = 0; k < l->width && bad == NULL; k++) ef_tensor_move(&out[k], &from[k]);
    if (l->at == l->n && !l->end) ef_leftover_close(l);
    return bad;
}

/* ---- as bytes ----------------------------------------------------------------------------------
 */

ef_status *ef_save_made(ef_saver *w, const ef_tensor *element, int width) {
    ef_save_int(w, ELEMENT);
    return ef_save_tensors(w, element, width);
}

void ef_save_failure(ef_saver *w, const ef_status *error) {
    const char *message = ef_status_message(error);
    ef_save_int(w, FAILURE);
    ef_save_int(w, ef_status_code(error));
    ef_save_text(w, message, strlen(message));
}

void ef_save_end(ef_saver *w) { ef_save_int(w, END); }

void ef_save_stop(ef_saver *w) { ef_save_int(w, STOP); }

ef_status *ef_leftover_save(const ef_leftover *l, ef_saver *w) {
    for (int64_t k = l->at; k < l->n; k++) {
        if (l->error[k] != NULL)
            ef_save_failure(w, l->error[k]);
        else
            EF_TRY(ef_save_made(w, l->element + k * l->width, l->width));
    }
    if (l->end) ef_save_end(w);
    return NULL;
}

static ef_status *room_for_one(ef_leftover *l) {
    EF_TRY(ef_elements_reserve(&l->element, l->n, l->n + 1, l->width));
    if (l->n > 0 && (l->n & (l->n - 1)) != 0) return NULL;
    size_t bytes = (size_t)(l->n > 0 ? 2 * l->n : 1) * sizeof(ef_status *);
    ef_status **more = ef_realloc(l->error, bytes);
    if (more == NULL) return ef_no_memory(bytes);
    l->error = more;
    return NULL;
}

static ef_status *load_failure(ef_loader *r, ef_status **out) {
    int64_t code;
    const char *at;
    size_t n;
    EF_TRY(ef_load_upto(r, EF_UNAUTHENTICATED, &code));
    EF_TRY(ef_load_text(r, &at, &n));
    if (code == EF_OK) return ef_load_broken("an error in it is none");
    *out = ef_error((ef_code)code, "%.*s", n < INT16_MAX ? (int)n : INT16_MAX, at);
    return NULL;
}

ef_status *ef_leftover_load(ef_leftover *l, ef_loader *r, const ef_dataset *like) {
    l->width = ef_dataset_width(like);
    for (;;) {
        int64_t item;
        EF_TRY(ef_load_upto(r, END, &item));
        if (item == STOP) return NULL;
        if (l->end) return ef_load_broken("an element follows the end");
        if (item == END) {
            l->end = true;
            continue;
        }
        EF_TRY(room_for_one(l));
        l->error[l->n] = NULL;
        EF_TRY(item == FAILURE ? load_failure(r, &l->error[l->n])
                               : ef_load_element(r, like, l->element + l->n * l->width));
        l->n++;
    }
}
