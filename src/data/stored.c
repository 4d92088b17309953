#include "data/stored.h"
#include "data/rows.h"
#include <string.h>

/* ---- writing -----------------------------------------------------------------------------------
 */

void ef_stored_put_number(ef_text *to, uint64_t v) {
    char bytes[8];
    for (int k = 0; k < 8; k++) bytes[k] = (char)(v >> (8 * k));
    ef_text_bytes(to, bytes, 8);
}

ef_status *ef_stored_put_tensor(ef_text *to, const ef_tensor *t) {
    const char head[2] = {(char)t->dtype, (char)t->rank};
    const int64_t n = ef_count(t);
    if (t->dtype == EF_VARIANT || t->dtype == EF_RESOURCE)
        return ef_error(EF_UNIMPLEMENTED,
                        "an element holds a %s, which cannot be written to a file; files hold "
                        "numbers and strings",
                        ef_dtype_name((ef_dtype)t->dtype));
    ef_text_bytes(to, head, 2);
    for (int d = 0; d < t->rank; d++) ef_stored_put_number(to, (uint64_t)t->dim[d]);
    if (t->dtype == EF_STRING) {
        const ef_str *s = t->data;
        for (int64_t k = 0; k < n; k++) {
            ef_stored_put_number(to, s[k].n);
            if (s[k].n > 0) ef_text_bytes(to, s[k].at, s[k].n);
        }
    } else if (n > 0) {
        ef_text_bytes(to, t->data, (size_t)n * ef_dtype_size((ef_dtype)t->dtype));
    }
    return to->failed ? ef_no_memory(to->n) : NULL;
}

ef_status *ef_stored_put(ef_text *to, const ef_tensor *element, int width) {
    for (int k = 0; k < width; k++) EF_TRY(ef_stored_put_tensor(to, &element[k]));
    return NULL;
}

ef_status *ef_stored_writer(const char *name, const char *compression, ef_record_writer **out) {
    const ef_record_options how = {
        .compression = compression, .level = -1, .method = 8, .mem_level = 8};
    return ef_record_writer_open(name, strlen(name), &how, out);
}

/* ---- reading -----------------------------------------------------------------------------------
 * Sizes are checked against the bytes of the record before memory is allocated. */

bool ef_stored_get_number(ef_stored_bytes *b, uint64_t *v) {
    if (b->n < 8) return false;
    *v = 0;
    for (int k = 0; k < 8; k++) *v |= (uint64_t)b->at[k] << (8 * k);
    b->at += 8;
    b->n -= 8;
    return true;
}

static bool get_head(ef_stored_bytes *b, ef_dtype want, ef_shape *shape) {
    if (b->n < 2 || b->at[0] != (unsigned char)want || b->at[1] >= EF_MAX_RANK) return false;
    shape->rank = b->at[1];
    b->at += 2;
    b->n -= 2;
    for (int d = 0; d < shape->rank; d++) {
        uint64_t size;
        if (!ef_stored_get_number(b, &size) || size > INT64_MAX) return false;
        shape->dim[d] = (int64_t)size;
    }
    return true;
}

static ef_status *get_strings(ef_stored_bytes *b, int64_t n, ef_tensor *out, bool *good) {
    *good = false;
    for (int64_t k = 0; k < n; k++) {
        uint64_t length;
        if (!ef_stored_get_number(b, &length) || length > b->n) return NULL;
        EF_TRY(ef_str_set((ef_str *)out->data + k, (const char *)b->at, (size_t)length));
        b->at += length;
        b->n -= (size_t)length;
    }
    *good = true;
    return NULL;
}

ef_status *ef_stored_get_tensor(ef_stored_bytes *b, ef_dtype t, ef_tensor *out, bool *good) {
    ef_shape shape = {.rank = 0};
    *good = get_head(b, t, &shape);
    if (!*good) return NULL;
    const int64_t n = ef_shape_count(&shape);
    const size_t size = t == EF_STRING ? 8 : ef_dtype_size(t);
    *good = n >= 0 && (uint64_t)n <= b->n / size;
    if (!*good) return NULL;
    EF_TRY(ef_tensor_alloc(out, t, &shape));
    if (t == EF_STRING) return get_strings(b, n, out, good);
    memcpy(out->data, b->at, (size_t)n * size);
    b->at += (size_t)n * size;
    b->n -= (size_t)n * size;
    return NULL;
}

ef_status *ef_stored_get(const char *at, size_t n, const ef_dataset *like, ef_tensor *out) {
    ef_stored_bytes b = {(const unsigned char *)at, n};
    int width = ef_dataset_width(like);
    ef_status *s = NULL;
    bool good = true;
    for (int k = 0; k < width && s == NULL && good; k++) {
        s = ef_stored_get_tensor(&b, ef_dataset_type(like, k), &out[k], &good);
        if (s != NULL || !good) break;
        ef_shape shape = ef_shape_from(&out[k]);
        good = ef_shape_may_equal(&shape, ef_dataset_shape(like, k));
    }
    if (s == NULL && (!good || b.n != 0))
        s = ef_error(EF_DATA_LOSS,
                     "a stored element does not have the %d tensors with the dtypes and shapes of "
                     "the dataset's element_spec",
                     width);
    if (s != NULL) ef_element_release(out, width);
    return s;
}

ef_status *ef_stored_next(ef_reader *r, const ef_dataset *like, ef_tensor *out, bool *end) {
    const char *at;
    size_t n;
    EF_TRY(ef_reader_next(r, &at, &n, end));
    return *end ? NULL : ef_stored_get(at, n, like, out);
}
