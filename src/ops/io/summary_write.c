/* Ops that write one event to a summary writer: a step, a tag and a value. */
#include "ops/io/summary.h"

enum { EFFECT = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD };
#define REAL_TYPES \
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

static ef_status *step_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    return ef_need_rank(i, 1, 0);
}
static ef_status *tag_shape(ef_infer *i) { /* inputs 0 to 2 are scalars */
    EF_TRY(step_shape(i));
    return ef_need_rank(i, 2, 0);
}

static int64_t step_of(const ef_call *c) { return *(const int64_t *)c->in[1]->data; }
static ef_tag tag_of(const ef_call *c, int k) {
    const ef_str *s = ef_strs(c->in[k]);
    return (ef_tag){s->at, s->n};
}

/* Writes an event whose summary is made by `make`. */
typedef ef_status *fill_fn(const ef_call *c, ef_text *out);
static ef_status *write_summary(const ef_call *c, fill_fn *fill) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    ef_text event = {0};
    ef_logged_begin(&event, step_of(c));
    const size_t summary = ef_wire_begin(&event, EF_LOGGED_SUMMARY);
    ef_status *s = fill(c, &event);
    ef_wire_end(&event, summary);
    if (s == NULL) s = ef_summary_write(c, w, &event);
    ef_text_free(&event);
    return s;
}

/* ---- WriteSummary ---------------------------------------------------------------------------- */

static ef_status *tensor_shape(ef_infer *i) {
    EF_TRY(step_shape(i));
    EF_TRY(ef_need_rank(i, 3, 0));
    return ef_need_rank(i, 4, 0);
}
static ef_status *fill_tensor(const ef_call *c, ef_text *out) {
    const ef_tag tag = tag_of(c, 3);
    return ef_summary_tensor(out, &tag, c->in[2], ef_strs(c->in[4]));
}
static ef_status *tensor_run(const ef_call *c) { return write_summary(c, fill_tensor); }

const ef_op ef_op_WriteSummary = {
    EF_NAMED(WriteSummary),
    .doc = "Writes a tensor under a tag, with a serialized SummaryMetadata that says which part of "
           "TensorBoard shows it.",
    .in = {"writer: resource", "step: int64", "tensor: T", "tag: string",
           "summary_metadata: string"},
    .types = "T: " EF_MOVE_TYPES,
    .traits = EFFECT,
    .data_in = 2 | 4,
    .shape = tensor_shape,
    .kernel = {{EF_CPU, EF_PLAIN | EF_BIT(STRING), tensor_run, NULL, NULL, NULL, NULL}},
    .examples = {"writer(open) int64[]{3} T[2,3] string[]{tag} string[]{}"},
};

/* ---- WriteRawProtoSummary, WriteGraphSummary, ImportEvent ------------------------------------ */

/* Concatenated messages are parsed as one message with the values of all. */
static ef_status *fill_raw(const ef_call *c, ef_text *out) {
    const ef_str *s = ef_strs(c->in[2]);
    for (int64_t k = 0, n = ef_count(c->in[2]); k < n; k++) {
        ef_wire w = ef_wire_from(s[k].at, s[k].n);
        ef_wire_field f;
        while (ef_wire_next(&w, &f)) {}
        if (w.bad)
            return ef_error(EF_DATA_LOSS,
                            "%s: Bad tf.compat.v1.Summary binary proto tensor string at index %lld",
                            c->op->name, (long long)k);
        ef_text_bytes(out, s[k].at, s[k].n);
    }
    return NULL;
}
static ef_status *raw_run(const ef_call *c) { return write_summary(c, fill_raw); }

const ef_op ef_op_WriteRawProtoSummary = {
    EF_NAMED(WriteRawProtoSummary),
    .doc = "Writes serialized Summary messages.",
    .in = {"writer: resource", "step: int64", "tensor: string"},
    .traits = EFFECT,
    .data_in = 2,
    .shape = step_shape,
    .kernel = EF_ANY_KERNEL(raw_run),
    .examples = {"writer(open) int64[]{3} string[]{}", "writer(open) int64[]{3} string[2]{,}"},
};

static ef_status *graph_run(const ef_call *c) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    const ef_str *graph = ef_strs(c->in[2]);
    ef_text event = {0};
    ef_logged_begin(&event, step_of(c));
    ef_wire_put_bytes(&event, EF_LOGGED_GRAPH_DEF, graph->at, graph->n);
    ef_status *s = ef_summary_write(c, w, &event);
    ef_text_free(&event);
    return s;
}

const ef_op ef_op_WriteGraphSummary = {
    EF_NAMED(WriteGraphSummary),
    .doc = "Writes a serialized GraphDef.",
    .in = {"writer: resource", "step: int64", "tensor: string"},
    .traits = EFFECT,
    .data_in = 2,
    .shape = tag_shape,
    .kernel = EF_ANY_KERNEL(graph_run),
    .examples = {"writer(open) int64[]{3} string[]{}"},
};

static ef_status *import_run(const ef_call *c) {
    ef_summary_writer *w;
    EF_TRY(ef_call_writer(c, &w));
    const ef_str *in = ef_strs(c->in[1]);
    ef_wire wire = ef_wire_from(in->at, in->n);
    ef_wire_field f;
    while (ef_wire_next(&wire, &f)) {}
    if (wire.bad)
        return ef_error(EF_DATA_LOSS, "%s: Bad tf.Event binary proto tensor string", c->op->name);
    ef_text event = {0};
    ef_text_bytes(&event, in->at, in->n);
    ef_status *s = ef_summary_write(c, w, &event);
    ef_text_free(&event);
    return s;
}

const ef_op ef_op_ImportEvent = {
    EF_NAMED(ImportEvent),
    .doc = "Writes a serialized Event unchanged.",
    .in = {"writer: resource", "event: string"},
    .traits = EFFECT,
    .shape = step_shape,
    .kernel = EF_ANY_KERNEL(import_run),
    .examples = {"writer(open) string[]{}"},
};

/* ---- WriteScalarSummary, WriteHistogramSummary ----------------------------------------------- */

static ef_status *scalar_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    return ef_need_rank(i, 3, 0);
}
static ef_status *fill_scalar(const ef_call *c, ef_text *out) {
    const ef_tag tag = tag_of(c, 2);
    return ef_summary_scalar(out, &tag,
                             ef_element_double((ef_dtype)c->in[3]->dtype, c->in[3]->data, 0));
}
static ef_status *scalar_run(const ef_call *c) { return write_summary(c, fill_scalar); }

const ef_op ef_op_WriteScalarSummary = {
    EF_NAMED(WriteScalarSummary),
    .doc = "Writes a number as a simple value.",
    .in = {"writer: resource", "step: int64", "tag: string", "value: T"},
    .types = "T: " REAL_TYPES,
    .traits = EFFECT,
    .data_in = 2 | 8,
    .shape = scalar_shape,
    .kernel = EF_ANY_KERNEL(scalar_run),
    .examples = {"writer(open) int64[]{3} string[]{tag} T[]{2}"},
};

static ef_status *fill_histogram(const ef_call *c, ef_text *out) {
    const ef_tag tag = tag_of(c, 2);
    return ef_summary_histogram(out, c, &tag, c->in[3]);
}
static ef_status *histogram_run(const ef_call *c) { return write_summary(c, fill_histogram); }

const ef_op ef_op_WriteHistogramSummary = {
    EF_NAMED(WriteHistogramSummary),
    .doc = "Writes a histogram; each bucket limit is 1.1 times the one before.",
    .in = {"writer: resource", "step: int64", "tag: string", "values: T"},
    .types = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
             "uint64, bool} = float",
    .traits = EFFECT,
    .data_in = 2 | 8,
    .shape = tag_shape,
    .kernel = EF_ANY_KERNEL(histogram_run),
    .examples = {"writer(open) int64[]{3} string[]{tag} T[5]"},
};

/* ---- WriteImageSummary, WriteAudioSummary ---------------------------------------------------- */

typedef struct image_attrs {
    int64_t max_images;
} image_attrs;

static ef_status *image_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    EF_TRY(ef_need_rank(i, 3, 4));
    return ef_need_rank(i, 4, 1);
}
static ef_status *fill_images(const ef_call *c, ef_text *out) {
    const image_attrs *a = c->attrs;
    const ef_tag tag = tag_of(c, 2);
    return ef_summary_images(out, c, &tag, c->in[3], c->in[4], a->max_images);
}
static ef_status *image_run(const ef_call *c) { return write_summary(c, fill_images); }

const ef_op ef_op_WriteImageSummary = {
    EF_NAMED(WriteImageSummary),
    .doc = "Writes images as PNG. Floats are scaled to the range of bytes; pixels that are not "
           "finite get the colour `bad_color`.",
    .in = {"writer: resource", "step: int64", "tag: string", "tensor: T", "bad_color: uint8"},
    .types = "T: {uint8, double, float, half} = float",
    .attr = {EF_ATTR(image_attrs, max_images, "int >= 1", "3")},
    .attr_size = sizeof(image_attrs),
    .traits = EFFECT,
    .data_in = 2 | 8 | 16,
    .shape = image_shape,
    .kernel = EF_ANY_KERNEL(image_run),
    .examples = {"writer(open) int64[]{3} string[]{tag} T[2,3,4,1] uint8[4]"},
};

typedef struct audio_attrs {
    int64_t max_outputs;
} audio_attrs;

static ef_status *audio_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    EF_TRY(ef_need_rank_at_least(i, 3, 2));
    EF_TRY(ef_need_rank_at_most(i, 3, 3));
    return ef_need_rank(i, 4, 0);
}
static ef_status *fill_sounds(const ef_call *c, ef_text *out) {
    const audio_attrs *a = c->attrs;
    const ef_tag tag = tag_of(c, 2);
    return ef_summary_sounds(out, c, &tag, c->in[3], *(const float *)c->in[4]->data,
                             a->max_outputs);
}
static ef_status *audio_run(const ef_call *c) { return write_summary(c, fill_sounds); }

const ef_op ef_op_WriteAudioSummary = {
    EF_NAMED(WriteAudioSummary),
    .doc = "Writes sounds, from -1 to 1, as WAV.",
    .in = {"writer: resource", "step: int64", "tag: string", "tensor: float", "sample_rate: float"},
    .attr = {EF_ATTR(audio_attrs, max_outputs, "int >= 1", "3")},
    .attr_size = sizeof(audio_attrs),
    .traits = EFFECT,
    .data_in = 2,
    .shape = audio_shape,
    .kernel = EF_ANY_KERNEL(audio_run),
    .examples = {"writer(open) int64[]{3} string[]{tag} float[2,4] float[]{8000}"},
};
