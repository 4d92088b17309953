/* Functions that make inputs, selected by the word before the parenthesis. */
#include "ops/example_objects.h"
#include "file/image.h"
#include "file/whole_file.h"
#include "ops/control/callback.h"
#include "ops/data/iterator.h"
#include "ops/io/summary.h"
#include "ops/io/table.h"
#include "ops/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ef_status *echo(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int n_out) {
    (void)user;
    for (int k = 0; k < n_in && k < n_out; k++) ef_tensor_copy(&out[k], &in[k]);
    return NULL;
}
static ef_status *make_echo(const char *inside, ef_tensor *out) {
    (void)inside;
    return ef_callback_make(echo, NULL, NULL, out);
}

/* An empty table from int64 to float32. */
static ef_status *make_table(const char *inside, ef_tensor *out) {
    ef_table *t = NULL;
    const bool fixed = strcmp(inside, "static)") == 0;
    if (!fixed && strcmp(inside, "mutable)") != 0)
        return ef_error(EF_INVALID, "a table is written table(static) or table(mutable)");
    EF_TRY(ef_table_make(&(ef_table_type){.kind = fixed ? EF_TABLE_STATIC : EF_TABLE_MUTABLE,
                                          .key_dtype = EF_I64,
                                          .value_dtype = EF_F32},
                         &t));
    ef_tensor_from_object(out, EF_RESOURCE, &t->object);
    return NULL;
}

/* A summary writer; its file, in the temporary folder, is deleted when it is closed. */
static ef_status *make_writer(const char *inside, ef_tensor *out) {
    ef_summary_writer *w = NULL;
    const bool open = strcmp(inside, "open)") == 0;
    char folder[] = "/tmp/evenflow-example-XXXXXX";
    if (!open && strcmp(inside, "closed)") != 0)
        return ef_error(EF_INVALID, "a writer is written writer(open) or writer(closed)");
    EF_TRY(ef_summary_writer_make(&w));
    if (open && mkdtemp(folder) != NULL) {
        ef_status *s = ef_event_file_open(folder, strlen(folder), "", 0, 10, 1000, &w->file);
        ef_paths made = {0};
        char pattern[sizeof folder + 2];
        snprintf(pattern, sizeof pattern, "%s/*", folder);
        ef_status_free(ef_file_match(pattern, strlen(pattern), &made));
        for (size_t k = 0; k < made.n; k++) unlink(made.item[k]);
        ef_paths_free(&made);
        rmdir(folder);
        if (s != NULL) {
            ef_storage_unref(&w->object.base);
            return s;
        }
    }
    ef_tensor_from_object(out, EF_RESOURCE, &w->object);
    return NULL;
}

/* A scalar string: a WAV file of four frames with that many channels. */
static ef_status *make_wav(const char *inside, ef_tensor *out) {
    static const float samples[8] = {0, 0.25f, -0.25f, 0.5f, -0.5f, 1, -1, 0};
    ef_text text = {0};
    const int channels = inside[0] == '2' ? 2 : 1;
    ef_status *s = ef_wav_encode(&ef_op_EncodeWav, samples, 4, channels, 8000, &text);
    if (s == NULL) s = ef_tensor_alloc(out, EF_STRING, &(ef_shape){.rank = 0});
    if (s == NULL && (s = ef_str_set(out->data, text.at, text.n)) != NULL) ef_tensor_release(out);
    ef_text_free(&text);
    return s;
}

/* A scalar string: an encoded image of two rows of two pixels. */
static ef_status *make_image(const char *inside, ef_tensor *out) {
    static const unsigned char pixels[12] = {0, 50, 100, 150, 200, 250, 10, 60, 110, 160, 210, 255};
    static const unsigned char bmp[70] = {
        'B', 'M', [10] = 54, [18] = 2, [22] = 2, [26] = 1, [28] = 24, [54] = 9};
    static const char gif[] =
        "GIF89a\2\0\2\0\200\0\0\377\0\0\377\377\377,\0\0\0\0\2\0\2\0\0\2\3D\20\5\0;";
    ef_jpeg_writing how = {.quality = 90, .density_unit = 1, .x_density = 1, .y_density = 1};
    ef_text text = {0};
    ef_status *s = NULL;
    if (strcmp(inside, "jpeg)") == 0)
        s = ef_jpeg_encode(pixels, 2, 2, 3, &how, &text);
    else if (strcmp(inside, "png)") == 0)
        s = ef_png_encode(pixels, 2, 2, 3, 8, -1, &text);
    else if (strcmp(inside, "bmp)") == 0)
        ef_text_bytes(&text, (const char *)bmp, sizeof bmp);
    else if (strcmp(inside, "gif)") == 0)
        ef_text_bytes(&text, gif, sizeof gif - 1);
    else
        s = ef_error(EF_INVALID,
                     "an image is written image(jpeg), image(png), image(bmp) or image(gif)");
    if (s == NULL && text.failed) s = ef_no_memory(text.n);
    if (s == NULL) s = ef_tensor_alloc(out, EF_STRING, &(ef_shape){.rank = 0});
    if (s == NULL && (s = ef_str_set(out->data, text.at, text.n)) != NULL) ef_tensor_release(out);
    ef_text_free(&text);
    return s;
}

static ef_status *run_op(const ef_op *op, const ef_attr_value *set, int n_set, ef_tensor *in,
                         int n_in, ef_tensor *out, int n_out) {
    const ef_attrs *attrs = NULL;
    ef_tensor *at[3];
    int n = 0;
    for (int k = 0; k < n_in; k++) at[k] = &in[k];
    EF_TRY(ef_attrs_make(op, set, n_set, &attrs));
    ef_status *s =
        ef_op_run(ef_context_here(), op, ef_attrs_fields(attrs), at, n_in, out, n_out, &n);
    ef_attrs_unref(attrs);
    return s;
}

static const ef_dtype one_type[] = {EF_I64};
static const ef_shape one_shape[] = {{.rank = 0}};
static const ef_attr_value numbers[] = {
    EF_SET_TYPES("output_types", 1, one_type),
    {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = 1, .as = {.shapes = one_shape}},
};

/* The int64 scalars from 0 to n - 1. */
static ef_status *make_dataset(const char *inside, ef_tensor *out) {
    char *end;
    const int64_t range[3] = {0, strtoll(inside, &end, 10), 1};
    ef_tensor in[3] = {{0}};
    ef_status *s = NULL;
    if (end == inside || strcmp(end, ")") != 0)
        return ef_error(EF_INVALID, "the number of elements is written in the parentheses");
    for (int k = 0; k < 3 && s == NULL; k++) s = ef_tensor_from(EF_I64, NULL, &range[k], &in[k]);
    return s != NULL ? s : run_op(&ef_op_RangeDataset, numbers, 2, in, 3, out, 1);
}

static ef_status *make_iterator(const char *inside, ef_tensor *out) {
    ef_tensor both[2] = {{0}}; /* a dataset, and the iterator */
    EF_TRY(make_dataset(inside, &both[0]));
    ef_status *s = run_op(&ef_op_AnonymousIteratorV3, numbers, 2, NULL, 0, &both[1], 1);
    if (s == NULL) s = run_op(&ef_op_MakeIterator, NULL, 0, both, 2, NULL, 0);
    if (s == NULL) ef_tensor_copy(out, &both[1]);
    ef_tensor_release(&both[0]);
    ef_tensor_release(&both[1]);
    return s;
}

/* The iterator `example` in the process's scope, and the string handle that names it. */
static ef_status *make_named_iterator(const char *inside, ef_tensor *out) {
    const ef_attr_value set[] = {numbers[0], numbers[1], EF_SET_STRING("shared_name", "example"),
                                 EF_SET_STRING("container", "")};
    ef_tensor both[2] = {{0}};
    EF_TRY(make_dataset(inside, &both[0]));
    ef_status *s = run_op(&ef_op_IteratorV2, set, 4, NULL, 0, &both[1], 1);
    if (s == NULL) s = run_op(&ef_op_MakeIterator, NULL, 0, both, 2, NULL, 0);
    if (s == NULL) ef_tensor_copy(out, &both[1]);
    ef_tensor_release(&both[0]);
    ef_tensor_release(&both[1]);
    return s;
}

static ef_status *make_iterator_handle(const char *inside, ef_tensor *out) {
    ef_tensor it = {0};
    EF_TRY(make_named_iterator(inside, &it));
    ef_status *s = run_op(&ef_op_IteratorToStringHandle, NULL, 0, &it, 1, out, 1);
    ef_tensor_release(&it);
    return s;
}

/* The position of a new iterator over that many numbers, by either op that gives one. */
static ef_status *make_position_by(const ef_op *op, const char *inside, ef_tensor *out) {
    ef_tensor it = {0};
    EF_TRY(make_iterator(inside, &it));
    ef_status *s = run_op(op, NULL, 0, &it, 1, out, 1);
    ef_tensor_release(&it);
    return s;
}

static ef_status *make_position(const char *inside, ef_tensor *out) {
    return make_position_by(&ef_op__IteratorPosition, inside, out);
}

static ef_status *make_serialized(const char *inside, ef_tensor *out) {
    return make_position_by(&ef_op_SerializeIterator, inside, out);
}

/* A queue of that many int64 values. */
static ef_status *make_queue(const char *inside, ef_tensor *out) {
    const ef_attr_value set[] = {
        EF_SET_TYPES("component_types", 1, one_type),
        {.name = "shapes", .kind = EF_ATTR_SHAPES, .n = 1, .as = {.shapes = one_shape}}};
    char *end = NULL;
    const int64_t n = strtoll(inside, &end, 10);
    ef_tensor both[2] = {{0}}; /* the queue, and its elements */
    if (end == inside || strcmp(end, ")") != 0)
        return ef_error(EF_INVALID, "the number of elements is written in the parentheses");
    EF_TRY(run_op(&ef_op_FIFOQueueV2, set, 2, NULL, 0, &both[0], 1));
    ef_status *s = ef_tensor_alloc(&both[1], EF_I64, &(ef_shape){.rank = 1, .dim = {n}});
    for (int64_t k = 0; s == NULL && k < n; k++) ((int64_t *)both[1].data)[k] = k;
    if (s == NULL) s = run_op(&ef_op_QueueEnqueueManyV2, NULL, 0, both, 2, NULL, 0);
    if (s == NULL) ef_tensor_copy(out, &both[0]);
    ef_tensor_release(&both[0]);
    ef_tensor_release(&both[1]);
    return s;
}

static const struct maker {
    const char *word;
    /* inside: the text with the closing parenthesis. */
    ef_status *(*make)(const char *inside, ef_tensor *out);
} makers[] = {{"echo(", make_echo},
              {"table(", make_table},
              {"image(", make_image},
              {"dataset(", make_dataset},
              {"iterator(", make_iterator},
              {"named_iterator(", make_named_iterator},
              {"iterator_handle(", make_iterator_handle},
              {"position(", make_position},
              {"serialized_iterator(", make_serialized},
              {"writer(", make_writer},
              {"queue(", make_queue},
              {"wav(", make_wav},
              {NULL, NULL}};

static const struct maker *maker_of(const char *item) {
    const struct maker *m = makers;
    while (m->word != NULL && strncmp(item, m->word, strlen(m->word)) != 0) m++;
    return m;
}

bool ef_example_is_object(const char *item) { return maker_of(item)->word != NULL; }

ef_status *ef_example_object(const ef_op *op, const char *item, ef_tensor *out) {
    const struct maker *m = maker_of(item);
    ef_status *s = m->make(item + strlen(m->word), out);
    if (s == NULL || ef_status_code(s) != EF_INVALID) return s;
    ef_status *named =
        ef_error(EF_INVALID, "%s: example: %s: %s", op->name, item, ef_status_message(s));
    ef_status_free(s);
    return named;
}
