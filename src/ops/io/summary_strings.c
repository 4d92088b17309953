/* Summary ops of TensorFlow 1, which return serialized Summary messages. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/io/summary.h"

#define REAL_TYPES \
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

/* Makes the text output 0; frees the text in every case. */
static ef_status *give(const ef_call *c, ef_status *s, ef_text *text) {
    if (s == NULL && text->failed) s = ef_no_memory(text->n);
    if (s == NULL) s = ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_take(c->out[0]->data, text);
    ef_text_free(text);
    return s;
}
static ef_tag tag_of(const ef_call *c, int k, int64_t at) {
    const ef_str *s = ef_strs(c->in[k]) + at;
    return (ef_tag){s->at, s->n};
}
static ef_status *tag_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

/* ---- ScalarSummary, HistogramSummary --------------------------------------------------------- */

static ef_status *scalar_run(const ef_call *c) {
    const ef_tensor *tags = c->in[0], *values = c->in[1];
    const ef_shape a = ef_shape_from(tags), b = ef_shape_from(values);
    ef_text text = {0};
    ef_status *s = NULL;
    if (!ef_shape_equal(&a, &b) && (ef_count(tags) != 1 || ef_count(values) != 1))
        return ef_error(EF_INVALID, "%s: tags and values are not the same shape: %s != %s",
                        c->op->name, EF_SHAPE(&a), EF_SHAPE(&b));
    for (int64_t k = 0, n = ef_count(tags); k < n && s == NULL; k++) {
        const ef_tag tag = tag_of(c, 0, k);
        s = ef_summary_scalar(&text, &tag,
                              ef_element_double((ef_dtype)values->dtype, values->data, k));
    }
    return give(c, s, &text);
}

const ef_op ef_op_ScalarSummary = {
    EF_NAMED(ScalarSummary),
    .doc = "A Summary with a simple value for each tag.",
    .in = {"tags: string", "values: T"},
    .out = {"summary: string"},
    .types = "T: " REAL_TYPES,
    .traits = EF_NO_GRAD,
    .data_in = 2,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(scalar_run),
    .examples = {"string[]{tag} T[]{2}", "string[2]{a,b} T[2]"},
};

static ef_status *histogram_run(const ef_call *c) {
    const ef_tag tag = tag_of(c, 0, 0);
    ef_text text = {0};
    return give(c, ef_summary_histogram(&text, c, &tag, c->in[1]), &text);
}

const ef_op ef_op_HistogramSummary = {
    EF_NAMED(HistogramSummary),
    .doc = "A Summary with a histogram; each bucket limit is 1.1 times the one before.",
    .in = {"tag: string", "values: T"},
    .out = {"summary: string"},
    .types = "T: " REAL_TYPES " = float",
    .traits = EF_NO_GRAD,
    .data_in = 2,
    .shape = tag_shape,
    .kernel = EF_ANY_KERNEL(histogram_run),
    .examples = {"string[]{tag} T[5]"},
};

/* ---- ImageSummary, AudioSummary, AudioSummaryV2 ---------------------------------------------- */

typedef struct image_attrs {
    int64_t max_images;
    const ef_tensor *bad_color;
} image_attrs;

static ef_status *image_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    return ef_need_rank(i, 1, 4);
}

static ef_status *image_run(const ef_call *c) {
    const image_attrs *a = c->attrs;
    const ef_tag tag = tag_of(c, 0, 0);
    ef_text text = {0};
    return give(c, ef_summary_images(&text, c, &tag, c->in[1], a->bad_color, a->max_images), &text);
}

const ef_op ef_op_ImageSummary = {
    EF_NAMED(ImageSummary),
    .doc = "A Summary with images as PNG. Floats are scaled to the range of bytes; pixels that are "
           "not finite get the colour `bad_color`.",
    .in = {"tag: string", "tensor: T"},
    .out = {"summary: string"},
    .types = "T: {uint8, float, half, double} = float",
    .attr = {EF_ATTR(image_attrs, max_images, "int >= 1", "3"),
             EF_ATTR(image_attrs, bad_color, "tensor", "uint8[255, 0, 0, 255]")},
    .attr_size = sizeof(image_attrs),
    .traits = EF_NO_GRAD,
    .data_in = 2,
    .shape = image_shape,
    .kernel = EF_ANY_KERNEL(image_run),
    .examples = {"string[]{tag} T[2,3,4,3]", "string[]{tag} float[1,3,4,1] max_images=1"},
};

typedef struct audio_attrs {
    float sample_rate;
    int64_t max_outputs;
} audio_attrs;

static ef_status *audio_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    EF_TRY(ef_need_rank_at_least(i, 1, 2));
    return ef_need_rank_at_most(i, 1, 3);
}

static ef_status *audio_run(const ef_call *c) {
    const audio_attrs *a = c->attrs;
    const ef_tag tag = tag_of(c, 0, 0);
    const float rate = c->n_in > 2 ? *(const float *)c->in[2]->data : a->sample_rate;
    ef_text text = {0};
    return give(c, ef_summary_sounds(&text, c, &tag, c->in[1], rate, a->max_outputs), &text);
}

const ef_op ef_op_AudioSummary = {
    EF_NAMED(AudioSummary),
    .doc = "A Summary with sounds, from -1 to 1, as WAV.",
    .in = {"tag: string", "tensor: float"},
    .out = {"summary: string"},
    .attr = {EF_ATTR(audio_attrs, sample_rate, "float", NULL),
             EF_ATTR(audio_attrs, max_outputs, "int >= 1", "3")},
    .attr_size = sizeof(audio_attrs),
    .traits = EF_NO_GRAD,
    .shape = audio_shape,
    .kernel = EF_ANY_KERNEL(audio_run),
    .examples = {"string[]{tag} float[2,4] sample_rate=8000"},
};

const ef_op ef_op_AudioSummaryV2 = {
    EF_NAMED(AudioSummaryV2),
    .doc = "A Summary with sounds, from -1 to 1, as WAV.",
    .in = {"tag: string", "tensor: float", "sample_rate: float"},
    .out = {"summary: string"},
    .attr = {EF_ATTR(audio_attrs, max_outputs, "int >= 1", "3")},
    .attr_size = sizeof(audio_attrs),
    .traits = EF_NO_GRAD,
    .shape = audio_shape,
    .kernel = EF_ANY_KERNEL(audio_run),
    .examples = {"string[]{tag} float[1,4,2] float[]{8000} max_outputs=1"},
};

/* ---- TensorSummary, TensorSummaryV2 ---------------------------------------------------------- */

typedef struct tensor_attrs {
    ef_attr_text description, display_name;
    ef_texts labels;
} tensor_attrs;

static ef_status *tensor_run(const ef_call *c) {
    const ef_tag tag = {NULL, 0};
    ef_text text = {0};
    return give(c, ef_summary_tensor(&text, &tag, c->in[0], &(ef_str){NULL, 0}), &text);
}

const ef_op ef_op_TensorSummary = {
    EF_NAMED(TensorSummary),
    .doc = "A Summary with a tensor and no tag.",
    .in = {"tensor: T"},
    .out = {"summary: string"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = {EF_ATTR(tensor_attrs, description, "string", "''"),
             EF_ATTR(tensor_attrs, labels, "list(string)", "[]"),
             EF_ATTR(tensor_attrs, display_name, "string", "''")},
    .attr_size = sizeof(tensor_attrs),
    .traits = EF_NO_GRAD,
    .data_in = 1,
    .shape = ef_shape_scalar,
    .kernel = {{EF_CPU, EF_PLAIN | EF_BIT(STRING), tensor_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3]", "string[2]{a,b}"},
};

static ef_status *tensor2_shape(ef_infer *i) {
    EF_TRY(tag_shape(i));
    return ef_need_rank(i, 2, 0);
}

static ef_status *tensor2_run(const ef_call *c) {
    const ef_tag tag = tag_of(c, 0, 0);
    ef_text text = {0};
    return give(c, ef_summary_tensor(&text, &tag, c->in[1], ef_strs(c->in[2])), &text);
}

const ef_op ef_op_TensorSummaryV2 = {
    EF_NAMED(TensorSummaryV2),
    .doc = "A Summary with a tensor under a tag, and a serialized SummaryMetadata.",
    .in = {"tag: string", "tensor: T", "serialized_summary_metadata: string"},
    .out = {"summary: string"},
    .types = "T: " EF_MOVE_TYPES,
    .traits = EF_NO_GRAD,
    .data_in = 2,
    .shape = tensor2_shape,
    .kernel = {{EF_CPU, EF_PLAIN | EF_BIT(STRING), tensor2_run, NULL, NULL, NULL, NULL}},
    .examples = {"string[]{tag} T[2,3] string[]{}"},
};

/* ---- MergeSummary ---------------------------------------------------------------------------- */

typedef struct tags {
    ef_wire *at;
    size_t n, cap;
} tags;

static ef_status *note_tag(const ef_call *c, tags *seen, ef_wire tag) {
    const size_t n = ef_wire_left(&tag);
    for (size_t k = 0; k < seen->n; k++)
        if (ef_wire_is(&seen->at[k], (const char *)tag.at, n))
            return ef_error(EF_INVALID, "%s: Duplicate tag %.*s found in summary inputs",
                            c->op->name, (int)(n < 200 ? n : 200), (const char *)tag.at);
    EF_TRY(EF_GROW(&seen->at, &seen->cap, seen->n + 1));
    seen->at[seen->n++] = tag;
    return NULL;
}

/* Collects the tags of all values in one message. */
static ef_status *note_tags(const ef_call *c, tags *seen, const ef_str *in) {
    ef_wire w = ef_wire_from(in->at, in->n);
    ef_wire_field value, f;
    ef_status *s = NULL;
    while (s == NULL && ef_wire_next(&w, &value)) {
        if (value.number != 1 || value.type != EF_WIRE_BYTES) continue;
        ef_wire tag = ef_wire_from(NULL, 0);
        while (ef_wire_next(&value.bytes, &f))
            if (f.number == 1 && f.type == EF_WIRE_BYTES) tag = f.bytes;
        if (value.bytes.bad) w.bad = true;
        s = note_tag(c, seen, tag);
    }
    if (s == NULL && w.bad)
        s = ef_error(EF_INVALID, "%s: Could not parse one of the summary inputs", c->op->name);
    return s;
}

static ef_status *merge_run(const ef_call *c) {
    tags seen = {0};
    ef_text text = {0};
    ef_status *s = NULL;
    for (int k = 0; k < c->n_in && s == NULL; k++)
        for (int64_t j = 0, n = ef_count(c->in[k]); j < n && s == NULL; j++) {
            const ef_str *in = ef_strs(c->in[k]) + j;
            s = note_tags(c, &seen, in);
            ef_text_bytes(&text, in->at, in->n);
        }
    ef_free(seen.at);
    return give(c, s, &text);
}

const ef_op ef_op_MergeSummary = {
    EF_NAMED(MergeSummary),
    .doc = "Merges Summaries into one with the values of all, whose tags must differ.",
    .in = {"inputs: N * string"},
    .out = {"summary: string"},
    .types = "N: int >= 1",
    .traits = EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(merge_run),
    .examples = {"string[]{}", "string[2]{,} string[]{}"},
};
