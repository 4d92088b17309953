/* The values of a Summary message: numbers, histograms, images, sounds, tensors. */
#include "base/alloc.h"
#include "file/image.h"
#include "ops/io/summary.h"
#include "ops/io/tensor_proto.h"
#include <float.h>
#include <math.h>

enum { VALUE = 1 }; /* field number in Summary */
enum { TAG = 1, SIMPLE = 2, IMAGE = 4, HISTOGRAM = 5, AUDIO = 6, TENSOR = 8, METADATA = 9 };

static size_t begin_value(ef_text *out, const ef_tag *tag) {
    size_t value = ef_wire_begin(out, VALUE);
    if (tag->n > 0) ef_wire_put_bytes(out, TAG, tag->at, tag->n);
    return value;
}
static ef_status *end_value(ef_text *out, size_t value) {
    ef_wire_end(out, value);
    return out->failed ? ef_no_memory(out->n) : NULL;
}

ef_status *ef_summary_scalar(ef_text *out, const ef_tag *tag, double value) {
    const size_t at = begin_value(out, tag);
    ef_wire_put_float(out, SIMPLE, (float)value);
    return end_value(out, at);
}

ef_status *ef_summary_tensor(ef_text *out, const ef_tag *tag, const ef_tensor *value,
                             const ef_str *metadata) {
    const size_t at = begin_value(out, tag), tensor = ef_wire_begin(out, TENSOR);
    ef_tensor_proto_put(out, value);
    ef_wire_end(out, tensor);
    if (metadata->n > 0) ef_wire_put_bytes(out, METADATA, metadata->at, metadata->n);
    return end_value(out, at);
}

/* ---- histograms --------------------------------------------------------------------------------
 * Bucket limits grow by a tenth from 1e-12 to 1e20, and are the same below zero. */

/* Positive and negative limits, the two largest numbers, and zero. */
enum { POSITIVE = 774, LIMITS = 2 * POSITIVE + 3 };

typedef struct histogram {
    double min, max, sum, squares, limit[LIMITS], count[LIMITS];
    int64_t n;
} histogram;

static void set_limits(histogram *h) {
    double v = 1e-12;
    h->limit[0] = -DBL_MAX;
    h->limit[LIMITS - 1] = DBL_MAX;
    h->limit[POSITIVE + 1] = 0;
    for (int k = 0; k < POSITIVE; k++) {
        h->limit[POSITIVE + 2 + k] = v;
        h->limit[POSITIVE - k] = -v;
        v *= 1.1;
    }
}

/* The first limit above v. */
static int bucket_of(const histogram *h, double v) {
    int from = 0, to = LIMITS - 1;
    while (from < to) {
        int middle = (from + to) / 2;
        if (h->limit[middle] > v)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static ef_status *count_values(histogram *h, const ef_call *c, const ef_tag *tag,
                               const ef_tensor *values) {
    h->min = DBL_MAX;
    h->max = -DBL_MAX;
    h->n = ef_count(values);
    for (int64_t k = 0; k < h->n; k++) {
        const double v = ef_element_double((ef_dtype)values->dtype, values->data, k);
        if (!isfinite(v))
            return ef_error(
                EF_INVALID, "%s: %s in summary histogram for: %.*s; values must be finite",
                c->op->name, isnan(v) ? "Nan" : "Infinity", (int)tag->n, tag->n > 0 ? tag->at : "");
        h->count[bucket_of(h, v)]++;
        h->min = v < h->min ? v : h->min;
        h->max = v > h->max ? v : h->max;
        h->sum += v;
        h->squares += v * v;
    }
    return NULL;
}

/* Merges adjacent empty buckets into one. */
static size_t join_empty(histogram *h) {
    size_t n = 0;
    for (size_t k = 0; k < LIMITS; n++) {
        h->limit[n] = h->limit[k];
        h->count[n] = h->count[k++];
        while (h->count[n] <= 0 && k < LIMITS && h->count[k] <= 0) h->limit[n] = h->limit[k++];
    }
    return n;
}

static void put_nonzero(ef_text *out, uint32_t field, double v) {
    if (v != 0 || signbit(v)) ef_wire_put_double(out, field, v);
}

ef_status *ef_summary_histogram(ef_text *out, const ef_call *c, const ef_tag *tag,
                                const ef_tensor *values) {
    histogram *h = ef_calloc(1, sizeof *h);
    if (h == NULL) return ef_no_memory(sizeof *h);
    set_limits(h);
    ef_status *s = count_values(h, c, tag, values);
    if (s == NULL) {
        const size_t n = join_empty(h), at = begin_value(out, tag),
                     proto = ef_wire_begin(out, HISTOGRAM);
        put_nonzero(out, 1, h->min);
        put_nonzero(out, 2, h->max);
        put_nonzero(out, 3, (double)h->n);
        put_nonzero(out, 4, h->sum);
        put_nonzero(out, 5, h->squares);
        ef_wire_put_doubles(out, 6, h->limit, n);
        ef_wire_put_doubles(out, 7, h->count, n);
        ef_wire_end(out, proto);
        s = end_value(out, at);
    }
    ef_free(h);
    return s;
}

/* ---- tags of several values ------------------------------------------------------------------ */

/* "tag/image" if there is at most one, else "tag/image/k". */
static size_t begin_numbered(ef_text *out, const ef_tag *tag, const char *word, int64_t k,
                             int64_t most) {
    ef_text name = {0};
    ef_text_bytes(&name, tag->at, tag->n);
    ef_text_add(&name, most == 1 ? "/%s" : "/%s/%lld", word, (long long)k);
    const size_t at = begin_value(out, &(ef_tag){name.at, name.n});
    if (name.failed) out->failed = true;
    ef_text_free(&name);
    return at;
}

/* ---- images ---------------------------------------------------------------------------------- */

typedef struct image {
    int64_t height, width, channels;
    const ef_tensor *in;
    int64_t first; /* index of the first element in `in` */
    const uint8_t *bad;
    unsigned char *pixels;
} image;

static double pixel_at(const image *m, int64_t k) {
    return ef_element_double((ef_dtype)m->in->dtype, m->in->data, m->first + k);
}

static bool finite_pixel(const image *m, int64_t p) {
    for (int64_t d = 0; d < m->channels; d++)
        if (!isfinite(pixel_at(m, p * m->channels + d))) return false;
    return true;
}

/* If no value is negative, scales so that the largest is 255; otherwise zero becomes 128. */
static void normalize(const image *m) {
    const int64_t pixels = m->height * m->width;
    double low = INFINITY, high = -INFINITY;
    for (int64_t p = 0; p < pixels; p++) {
        if (!finite_pixel(m, p)) continue;
        for (int64_t d = 0; d < m->channels; d++) {
            const double v = pixel_at(m, p * m->channels + d);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    const bool negative = low < 0;
    const double most = negative ? fmax(fabs(low), fabs(high)) : high;
    const double offset = negative ? 128 : 0;
    double scale = most < 1e-6 ? 0 : (negative ? 127.0 : 255.0) / most;
    const bool single = m->in->dtype != EF_F64;
    if (single) scale = (double)(float)scale;
    for (int64_t p = 0; p < pixels; p++) {
        const bool good = finite_pixel(m, p);
        for (int64_t d = 0; d < m->channels; d++) {
            const int64_t k = p * m->channels + d;
            const double v = good ? pixel_at(m, k) : 0;
            const double scaled =
                single ? (double)((float)v * (float)scale + (float)offset) : v * scale + offset;
            m->pixels[k] = good ? (unsigned char)scaled : m->bad[d];
        }
    }
}

static ef_status *put_image(ef_text *out, const image *m, const ef_tag *tag, int64_t k,
                            int64_t most) {
    ef_text png = {0};
    const unsigned char *pixels =
        m->in->dtype == EF_U8 ? (const unsigned char *)m->in->data + m->first : m->pixels;
    if (m->in->dtype != EF_U8) normalize(m);
    ef_status *s = ef_png_encode(pixels, m->height, m->width, (int)m->channels, 8, -1, &png);
    if (s == NULL) {
        const size_t at = begin_numbered(out, tag, "image", k, most),
                     proto = ef_wire_begin(out, IMAGE);
        ef_wire_put_number(out, 1, (uint64_t)m->height);
        ef_wire_put_number(out, 2, (uint64_t)m->width);
        ef_wire_put_number(out, 3, (uint64_t)m->channels);
        ef_wire_put_bytes(out, 4, png.at, png.n);
        ef_wire_end(out, proto);
        s = end_value(out, at);
    }
    ef_text_free(&png);
    return s;
}

ef_status *ef_summary_images(ef_text *out, const ef_call *c, const ef_tag *tag,
                             const ef_tensor *images, const ef_tensor *bad, int64_t most) {
    const int64_t *d = images->dim;
    const ef_shape shape = ef_shape_from(images);
    if (images->rank != 4 || !(d[3] == 1 || d[3] == 3 || d[3] == 4))
        return ef_error(EF_INVALID, "%s: Tensor must be 4-D with last dim 1, 3, or 4, not %s",
                        c->op->name, EF_SHAPE(&shape));
    if (bad->rank != 1 || bad->dtype != EF_U8 || bad->dim[0] < d[3])
        return ef_error(EF_INVALID, "%s: bad_color must be uint8 with at least %lld elements",
                        c->op->name, (long long)d[3]);
    if (d[1] <= 0 || d[2] <= 0 || d[1] > INT32_MAX || d[2] > INT32_MAX)
        return ef_error(EF_INVALID, "%s: an image of %lld x %lld pixels cannot be encoded",
                        c->op->name, (long long)d[1], (long long)d[2]);
    const int64_t size = d[1] * d[2] * d[3];
    image m = {.height = d[1], .width = d[2], .channels = d[3], .in = images, .bad = bad->data};
    if (images->dtype != EF_U8 && (m.pixels = ef_malloc((size_t)size)) == NULL)
        return ef_no_memory((size_t)size);
    ef_status *s = NULL;
    for (int64_t k = 0; k < d[0] && k < most && s == NULL; k++, m.first += size)
        s = put_image(out, &m, tag, k, most);
    ef_free(m.pixels);
    return s;
}

/* ---- sounds ---------------------------------------------------------------------------------- */

ef_status *ef_summary_sounds(ef_text *out, const ef_call *c, const ef_tag *tag,
                             const ef_tensor *sound, float rate, int64_t most) {
    if (sound->rank != 2 && sound->rank != 3)
        return ef_error(EF_INVALID, "%s: Tensor must be 2-D or 3-D, its rank is %d", c->op->name,
                        sound->rank);
    const int64_t frames = sound->dim[1], channels = sound->rank == 3 ? sound->dim[2] : 1;
    ef_text wav = {0};
    ef_status *s = NULL;
    for (int64_t k = 0; k < sound->dim[0] && k < most && s == NULL; k++) {
        const float *from = (const float *)sound->data + k * frames * channels;
        wav.n = 0;
        s = ef_wav_encode(c->op, from, frames, channels, (int64_t)lrintf(rate), &wav);
        if (s != NULL) break;
        const size_t at = begin_numbered(out, tag, "audio", k, most),
                     proto = ef_wire_begin(out, AUDIO);
        ef_wire_put_float(out, 1, rate);
        ef_wire_put_number(out, 2, (uint64_t)channels);
        ef_wire_put_number(out, 3, (uint64_t)frames);
        ef_wire_put_bytes(out, 4, wav.at, wav.n);
        ef_wire_put_bytes(out, 5, "audio/wav", 9);
        ef_wire_end(out, proto);
        s = end_value(out, at);
    }
    ef_text_free(&wav);
    return s;
}
