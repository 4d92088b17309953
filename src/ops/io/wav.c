/* EncodeWav, DecodeWav: sound as WAV files of 16-bit samples. */
#include "ops/io/summary.h"
#include <math.h>

enum { HEADER = 44, SAMPLE = 2 };

static uint32_t little(const char *p, int bytes) {
    uint32_t v = 0;
    for (int k = 0; k < bytes; k++) v |= (uint32_t)(unsigned char)p[k] << 8 * k;
    return v;
}
static void put(char *p, uint32_t v, int bytes) {
    for (int k = 0; k < bytes; k++) p[k] = (char)(v >> 8 * k);
}
/* The four letters that name a chunk. */
static void put_name(char *p, const char *name) {
    for (int k = 0; k < 4; k++) p[k] = name[k];
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_header(char *h, uint32_t bytes, uint32_t channels, uint32_t rate) {
    put_name(h, "RIFF");
    put(h + 4, HEADER - 8 + bytes, 4);
    put_name(h + 8, "WAVE");
    put_name(h + 12, "fmt ");
    put(h + 16, 16, 4); /* size of the format chunk in bytes */
    put(h + 20, 1, 2);  /* PCM */
    put(h + 22, channels, 2);
    put(h + 24, rate, 4);
    put(h + 28, rate * channels * SAMPLE, 4);
    put(h + 32, channels * SAMPLE, 2);
    put(h + 34, 8 * SAMPLE, 2);
    put_name(h + 36, "data");
    put(h + 40, bytes, 4);
}

ef_status *ef_wav_encode(const ef_op *op, const float *samples, int64_t frames, int64_t channels,
                         int64_t rate, ef_text *out) {
    if (channels < 1 || channels > UINT16_MAX / SAMPLE || rate < 1 ||
        rate > UINT32_MAX / channels / SAMPLE)
        return ef_error(EF_INVALID,
                        "%s: %lld channels at a sample_rate of %lld; a WAV file needs at least one "
                        "channel and a positive rate",
                        op->name, (long long)channels, (long long)rate);
    if (frames < 0 || frames > (INT32_MAX - HEADER) / channels / SAMPLE)
        return ef_error(EF_INVALID, "%s: %lld frames of %lld channels do not fit a WAV file",
                        op->name, (long long)frames, (long long)channels);
    const int64_t n = frames * channels;
    char head[HEADER], block[1024];
    put_header(head, (uint32_t)(n * SAMPLE), (uint32_t)channels, (uint32_t)rate);
    ef_text_bytes(out, head, HEADER);
    for (int64_t k = 0; k < n;) {
        size_t used = 0;
        for (; k < n && used < sizeof block; k++, used += SAMPLE) {
            float v = roundf(samples[k] * 32768.0f);
            v = v >= 32767 ? 32767 : v <= -32768 ? -32768 : v; /* NaN stays NaN */
            put(block + used, (uint32_t)(v == v ? (int32_t)v : 0), SAMPLE);
        }
        ef_text_bytes(out, block, used);
    }
    return out->failed ? ef_no_memory((size_t)n * SAMPLE) : NULL;
}

static ef_status *encode_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 0));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

static ef_status *encode_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_text text = {0};
    ef_status *s = ef_wav_encode(c->op, x->data, x->dim[0], x->dim[1], ef_in_int(c, 1, 0), &text);
    if (s == NULL) s = ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_take(c->out[0]->data, &text);
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_EncodeWav = {
    EF_NAMED(EncodeWav),
    .doc = "Sound of shape [frames, channels], from -1 to 1, as a WAV file of 16-bit samples.",
    .in = {"audio: float", "sample_rate: int32"},
    .out = {"contents: string"},
    .traits = EF_NO_GRAD,
    .data_in = 2,
    .shape = encode_shape,
    .kernel = EF_ANY_KERNEL(encode_run),
    .examples = {"float[4,2] int32[]{8000}", "float[0,1] int32[]{44100}"},
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct decode_attrs {
    int64_t desired_channels, desired_samples;
} decode_attrs;

typedef struct wav {
    int64_t channels, rate, frames;
    const char *data;
} wav;

static ef_status *bad(const ef_call *c, const char *why) {
    return ef_error(EF_INVALID, "%s: contents is not a WAV file of 16-bit samples: %s", c->op->name,
                    why);
}

static ef_status *read_format(const ef_call *c, const char *p, size_t n, wav *w) {
    if (n < 16) return bad(c, "its format chunk is too short");
    if (little(p, 2) != 1) return bad(c, "Bad audio format for WAV: expected 1 (PCM)");
    if (little(p + 14, 2) != 8 * SAMPLE) return bad(c, "Can only read 16-bit WAV files");
    w->channels = little(p + 2, 2);
    w->rate = little(p + 4, 4);
    return w->channels < 1 ? bad(c, "it has no channels") : NULL;
}

static ef_status *read_wav(const ef_call *c, const ef_str *in, wav *w) {
    if (in->n < 12 || memcmp(in->at, "RIFF", 4) != 0 || memcmp(in->at + 8, "WAVE", 4) != 0)
        return bad(c, "it does not begin with RIFF and WAVE");
    for (size_t at = 12; in->n - at >= 8;) {
        const char *chunk = in->at + at;
        const size_t size = little(chunk + 4, 4), left = in->n - at - 8;
        if (size > left) return bad(c, "a chunk is longer than the file");
        if (memcmp(chunk, "fmt ", 4) == 0) EF_TRY(read_format(c, chunk + 8, size, w));
        if (memcmp(chunk, "data", 4) == 0) {
            if (w->channels == 0) return bad(c, "its data come before its format");
            w->data = chunk + 8;
            w->frames = (int64_t)size / (w->channels * SAMPLE);
            return NULL;
        }
        at += 8 + size;
    }
    return bad(c, "it has no data chunk");
}

static ef_status *decode_shape(ef_infer *i) {
    const decode_attrs *a = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    if (a->desired_channels < -1 || a->desired_samples < -1)
        return ef_error(EF_INVALID,
                        "%s: desired_channels is %lld and desired_samples %lld; they must be at "
                        "least 0, or -1 for those of the file",
                        i->op->name, (long long)a->desired_channels, (long long)a->desired_samples);
    i->out[0].shape = ef_shape_of_rank(2);
    if (a->desired_samples >= 0) i->out[0].shape.dim[0] = a->desired_samples;
    if (a->desired_channels >= 0) i->out[0].shape.dim[1] = a->desired_channels;
    i->out[1].shape = ef_scalar_shape();
    return NULL;
}

/* Missing samples are zero. If the file has fewer channels than requested, the last one is
 * repeated. */
static ef_status *decode_run(const ef_call *c) {
    const decode_attrs *a = c->attrs;
    wav w = {0};
    EF_TRY(read_wav(c, ef_strs(c->in[0]), &w));
    const int64_t channels = a->desired_channels < 0 ? w.channels : a->desired_channels;
    const int64_t frames = a->desired_samples < 0 ? w.frames : a->desired_samples;
    const ef_shape shape = {.rank = 2, .dim = {frames, channels}};
    EF_TRY(ef_need_size_held(c->op, &shape));
    EF_TRY(ef_out_alloc(c, 0, &shape));
    EF_TRY(ef_out_alloc(c, 1, &(ef_shape){.rank = 0}));
    float *out = c->out[0]->data;
    for (int64_t f = 0; f < frames; f++)
        for (int64_t k = 0; k < channels; k++) {
            const int64_t from = k < w.channels ? k : w.channels - 1;
            const char *p = w.data + (f * w.channels + from) * SAMPLE;
            *out++ = f < w.frames ? (float)(int16_t)little(p, SAMPLE) / 32768.0f : 0;
        }
    *(int32_t *)c->out[1]->data = (int32_t)w.rate;
    return NULL;
}

const ef_op ef_op_DecodeWav = {
    EF_NAMED(DecodeWav),
    .doc = "The sound of a WAV file of 16-bit samples, of shape [frames, channels], from -1 to 1.",
    .in = {"contents: string"},
    .out = {"audio: float", "sample_rate: int32"},
    .attr = {EF_ATTR(decode_attrs, desired_channels, "int", "-1"),
             EF_ATTR(decode_attrs, desired_samples, "int", "-1")},
    .attr_size = sizeof(decode_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = decode_shape,
    .kernel = EF_ANY_KERNEL(decode_run),
    .examples = {"wav(2)", "wav(1) desired_channels=2 desired_samples=3"},
};
