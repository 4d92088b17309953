/* Windows: elements as datasets. A window holds a dataset for each component. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"

typedef struct window {
    ef_stage base;
    ef_tensor *element; /* n of them, `width` tensors each; the oldest first */
    int64_t n, most;    /* most: the capacity of the buffer */
    int64_t size, shift, stride, skip;
    bool whole, over;
    int width; /* of the source */
} window;

static ef_status *window_open(ef_stage *s) {
    window *w = (window *)s;
    w->size = ef_dataset_int(s->dataset, "size", 1);
    w->shift = ef_dataset_int(s->dataset, "shift", 1);
    w->stride = ef_dataset_int(s->dataset, "stride", 1);
    w->whole = ef_dataset_int(s->dataset, "drop_remainder", 0) != 0;
    if (__builtin_mul_overflow(w->size - 1, w->stride, &w->most) || w->most == INT64_MAX)
        return ef_error(EF_INVALID, "%s: size and stride are too large", s->dataset->op->name);
    w->most++;
    EF_TRY(ef_stage_need_width(s->dataset, ef_dataset_source(s->dataset), s->width));
    EF_TRY(ef_stage_open_source(s));
    w->width = s->source->width;
    return NULL;
}

static void window_close(ef_stage *s) {
    window *w = (window *)s;
    ef_element_release(w->element, (int)(w->n * w->width));
    ef_free(w->element);
}

/* Fills the buffer up to `most` elements, or fewer at the end of the source. */
static ef_status *fill(window *w) {
    while (!w->over && w->n < w->most) {
        EF_TRY(ef_elements_reserve(&w->element, w->n, w->n + 1, w->width));
        ef_tensor *to = w->element + w->n * w->width;
        EF_TRY(ef_stage_next(w->base.source, to, &w->over));
        if (w->over) return NULL;
        if (w->skip > 0) { /* between two windows that are far apart */
            w->skip--;
            ef_element_release(to, w->width);
        } else {
            w->n++;
        }
    }
    return NULL;
}

static void move_on(window *w) {
    int64_t gone = w->shift < w->n ? w->shift : w->n, stay = w->n - gone;
    w->skip = w->shift - gone;
    ef_element_release(w->element, (int)(gone * w->width));
    for (int64_t k = 0; k < stay * w->width; k++)
        ef_tensor_move(&w->element[k], &w->element[k + gone * w->width]);
    w->n = stay;
}

static ef_status *window_next(ef_stage *s, ef_tensor *out, bool *end) {
    window *w = (window *)s;
    EF_TRY(fill(w));
    *end = w->n == 0 || (w->whole && w->n < w->most);
    if (*end) return NULL;
    int64_t n = (w->n + w->stride - 1) / w->stride;
    if (n > w->size) n = w->size;
    for (int k = 0; k < s->width; k++) {
        ef_status *bad = ef_dataset_of_elements(s->source->dataset, k, w->element,
                                                w->stride * w->width, n, &out[k]);
        if (bad == NULL) continue;
        ef_element_release(out, k);
        return bad;
    }
    move_on(w);
    return NULL;
}

static int64_t window_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d)), shift = ef_dataset_int(d, "shift", 1);
    int64_t size = ef_dataset_int(d, "size", 1), stride = ef_dataset_int(d, "stride", 1);
    if (n < 0) return n;
    if (!ef_dataset_int(d, "drop_remainder", 0)) return n / shift + (n % shift != 0);
    int64_t reach = (size - 1) * stride + 1;
    return n < reach ? 0 : (n - reach) / shift + 1;
}

static ef_status *window_save(ef_stage *s, ef_saver *w) {
    const window *v = (const window *)s;
    ef_save_int(w, v->skip);
    ef_save_int(w, v->over);
    ef_save_int(w, v->n);
    return ef_save_tensors(w, v->element, v->n * v->width);
}

static ef_status *window_restore(ef_stage *s, ef_loader *r) {
    window *w = (window *)s;
    int64_t n;
    EF_TRY(ef_load_upto(r, INT64_MAX, &w->skip));
    EF_TRY(ef_load_bool(r, &w->over));
    EF_TRY(ef_load_count(r, &n));
    if (n > w->most) return ef_load_broken("a window in it is too large");
    for (; w->n < n; w->n++) {
        EF_TRY(ef_elements_reserve(&w->element, w->n, w->n + 1, w->width));
        EF_TRY(ef_load_element(r, s->source->dataset, w->element + w->n * w->width));
    }
    return NULL;
}

const ef_stage_kind ef_stage_window = {.name = "Window",
                                       .remakes = true,
                                       .size = sizeof(window),
                                       .open = window_open,
                                       .next = window_next,
                                       .close = window_close,
                                       .count = window_count,
                                       .save = window_save,
                                       .restore = window_restore};
