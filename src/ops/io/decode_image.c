/* DecodeJpeg, DecodeAndCropJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage, ExtractJpegShape:
 * the pixels of an encoded image. The decoders are in src/file. */
#include "file/image.h"
#include "ops/string/strings.h"

/* Decoders request memory when they know the size. */
typedef struct output {
    const ef_call *c;
    bool frames; /* the result has an axis of frames */
} output;

static ef_status *give_room(void *user, const ef_image_size *size, void **out) {
    const output *o = user;
    ef_shape shape = {.rank = 0};
    if (o->frames) shape.dim[shape.rank++] = size->frames;
    shape.dim[shape.rank++] = size->height;
    shape.dim[shape.rank++] = size->width;
    shape.dim[shape.rank++] = size->channels;
    EF_TRY(ef_need_size_held(o->c->op, &shape));
    EF_TRY(ef_out_alloc(o->c, 0, &shape));
    *out = o->c->out[0]->data;
    return NULL;
}

static const ef_str *contents(const ef_call *c) { return ef_strs(c->in[0]); }

static ef_status *in_op(const ef_call *c, ef_status *s) {
    return s != NULL ? ef_status_add(s, "in %s", c->op->name) : NULL;
}

static ef_status *check_channels(const ef_op *op, int64_t channels) {
    if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return NULL;
    return ef_error(EF_INVALID, "%s: channels must be 0, 1, 3 or 4, got %lld", op->name,
                    (long long)channels);
}

static void image_shape(ef_infer *i, int64_t channels) {
    int64_t last = channels > 0 ? channels : EF_DIM_UNKNOWN;
    i->out[0].shape = (ef_shape){.rank = 3, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN, last}};
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

typedef struct jpeg_attrs {
    int64_t channels, ratio;
    bool fancy_upscaling, try_recover_truncated;
    float acceptable_fraction;
    ef_attr_text dct_method;
} jpeg_attrs;

static ef_status *jpeg_shape(ef_infer *i) {
    const jpeg_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(check_channels(i->op, t->channels));
    if (t->channels == 4)
        return ef_error(EF_INVALID, "%s: channels must be 0, 1 or 3 for JPEG, got 4", i->op->name);
    if (t->ratio != 1 && t->ratio != 2 && t->ratio != 4 && t->ratio != 8)
        return ef_error(EF_INVALID, "%s: ratio must be 1, 2, 4, or 8, got %lld", i->op->name,
                        (long long)t->ratio);
    const char *dct = t->dct_method.at;
    if (t->dct_method.n > 0 && strcmp(dct, "INTEGER_FAST") != 0 &&
        strcmp(dct, "INTEGER_ACCURATE") != 0)
        return ef_error(
            EF_INVALID,
            "%s: dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, got '%s'",
            i->op->name, dct);
    image_shape(i, t->channels);
    return NULL;
}

static ef_jpeg_options jpeg_options(const jpeg_attrs *t) {
    return (ef_jpeg_options){.channels = (int)t->channels,
                             .ratio = (int)t->ratio,
                             .fancy_upscaling = t->fancy_upscaling,
                             .recover_truncated = t->try_recover_truncated,
                             .exact_dct = strcmp(t->dct_method.at, "INTEGER_ACCURATE") == 0};
}

static ef_status *jpeg_run(const ef_call *c) {
    const ef_str *in = contents(c);
    output o = {c, false};
    ef_jpeg_options options = jpeg_options(c->attrs);
    ef_image_room room = {give_room, &o};
    switch (ef_image_format_of(in->at, in->n)) { /* TensorFlow's op accepts the other formats too */
    case EF_IMAGE_PNG: return in_op(c, ef_png_decode(in->at, in->n, options.channels, 8, &room));
    case EF_IMAGE_GIF: return in_op(c, ef_gif_decode(in->at, in->n, true, &room));
    default: return in_op(c, ef_jpeg_decode(in->at, in->n, &options, &room));
    }
}

#define JPEG_ATTRS                                                                         \
    {                                                                                      \
        EF_ATTR(jpeg_attrs, channels, "int", "0"), EF_ATTR(jpeg_attrs, ratio, "int", "1"), \
            EF_ATTR(jpeg_attrs, fancy_upscaling, "bool", "true"),                          \
            EF_ATTR(jpeg_attrs, try_recover_truncated, "bool", "false"),                   \
            EF_ATTR(jpeg_attrs, acceptable_fraction, "float", "1"),                        \
            EF_ATTR(jpeg_attrs, dct_method, "string", "''")                                \
    }

const ef_op ef_op_DecodeJpeg = {
    EF_NAMED(DecodeJpeg),
    .doc = "The pixels of a JPEG image, optionally reduced by `ratio` while decoding.",
    .in = {"contents: string"},
    .out = {"image: uint8"},
    .attr = JPEG_ATTRS,
    .attr_size = sizeof(jpeg_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = jpeg_shape,
    .kernel = EF_ANY_KERNEL(jpeg_run),
    .examples = {"image(jpeg)", "image(jpeg) channels=1 ratio=2"},
};

static ef_status *crop_shape(ef_infer *i) {
    EF_TRY(jpeg_shape(i));
    EF_TRY(ef_need_rank(i, 1, 1));
    const ef_shape *w = &i->in[1].shape;
    if (w->rank == 1 && w->dim[0] >= 0 && w->dim[0] != 4)
        return ef_error(EF_INVALID,
                        "%s: crop_window must have four elements (y, x, height, width); it has "
                        "shape %s",
                        i->op->name, EF_SHAPE(w));
    return NULL;
}

static ef_status *crop_run(const ef_call *c) {
    const ef_str *in = contents(c);
    const int32_t *w = c->in[1]->data;
    output o = {c, false};
    ef_jpeg_options options = jpeg_options(c->attrs);
    options.crop = true;
    options.top = w[0], options.left = w[1], options.height = w[2], options.width = w[3];
    return in_op(c, ef_jpeg_decode(in->at, in->n, &options, &(ef_image_room){give_room, &o}));
}

const ef_op ef_op_DecodeAndCropJpeg = {
    EF_NAMED(DecodeAndCropJpeg),
    .doc = "A window of a JPEG image: `crop_window` is y, x, height and width.",
    .in = {"contents: string", "crop_window: int32"},
    .out = {"image: uint8"},
    .attr = JPEG_ATTRS,
    .attr_size = sizeof(jpeg_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = crop_shape,
    .kernel = EF_ANY_KERNEL(crop_run),
    .examples = {"image(jpeg) int32[4]{0,1,2,1}"},
};

typedef struct type_attrs {
    ef_dtype output_type;
} type_attrs;

static ef_status *size_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {3}};
    return NULL;
}

static ef_status *size_run(const ef_call *c) {
    const ef_str *in = contents(c);
    ef_image_size size;
    EF_TRY(in_op(c, ef_jpeg_size(in->at, in->n, &size)));
    const int64_t three[] = {size.height, size.width, size.channels};
    for (int k = 0; k < 3; k++)
        if (c->out[0]->dtype == EF_I64)
            ((int64_t *)c->out[0]->data)[k] = three[k];
        else
            ((int32_t *)c->out[0]->data)[k] = (int32_t)three[k];
    return NULL;
}

const ef_op ef_op_ExtractJpegShape = {
    EF_NAMED(ExtractJpegShape),
    .doc = "Height, width and channels of a JPEG image, without decoding it.",
    .in = {"contents: string"},
    .out = {"image_shape: output_type"},
    .attr = {EF_ATTR(type_attrs, output_type, "{int32, int64}", "int32")},
    .attr_size = sizeof(type_attrs),
    .traits = EF_NO_GRAD,
    .shape = size_shape,
    .kernel = EF_ANY_KERNEL(size_run),
    .examples = {"image(jpeg)", "image(jpeg) output_type=int64"},
};

/* ---- PNG, GIF, BMP --------------------------------------------------------------------------- */

typedef struct png_attrs {
    int64_t channels;
    ef_dtype dtype;
} png_attrs;

static ef_status *png_shape(ef_infer *i) {
    const png_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(check_channels(i->op, t->channels));
    image_shape(i, t->channels);
    return NULL;
}

static ef_status *png_run(const ef_call *c) {
    const png_attrs *t = c->attrs;
    const ef_str *in = contents(c);
    output o = {c, false};
    ef_image_room room = {give_room, &o};
    ef_jpeg_options options = {.channels = (int)t->channels, .ratio = 1, .fancy_upscaling = true};
    ef_image_format format = ef_image_format_of(in->at, in->n);
    if (t->dtype == EF_U8 && format == EF_IMAGE_JPEG && t->channels != 4)
        return in_op(c, ef_jpeg_decode(in->at, in->n, &options, &room));
    if (t->dtype == EF_U8 && format == EF_IMAGE_GIF)
        return in_op(c, ef_gif_decode(in->at, in->n, true, &room));
    return in_op(
        c, ef_png_decode(in->at, in->n, (int)t->channels, t->dtype == EF_U16 ? 16 : 8, &room));
}

const ef_op ef_op_DecodePng = {
    EF_NAMED(DecodePng),
    .doc = "The pixels of a PNG image, with 8 or 16 bits per channel.",
    .in = {"contents: string"},
    .out = {"image: dtype"},
    .attr = {EF_ATTR(png_attrs, channels, "int", "0"),
             EF_ATTR(png_attrs, dtype, "{uint8, uint16}", "uint8")},
    .attr_size = sizeof(png_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = png_shape,
    .kernel = EF_ANY_KERNEL(png_run),
    .examples = {"image(png)", "image(png) channels=4 dtype=uint16"},
};

static ef_status *gif_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    i->out[0].shape =
        (ef_shape){.rank = 4, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN, EF_DIM_UNKNOWN, 3}};
    return NULL;
}

static ef_status *gif_run(const ef_call *c) {
    const ef_str *in = contents(c);
    output o = {c, true};
    ef_image_room room = {give_room, &o};
    ef_jpeg_options options = {.channels = 3, .ratio = 1, .fancy_upscaling = true};
    switch (ef_image_format_of(in->at, in->n)) {
    case EF_IMAGE_JPEG: return in_op(c, ef_jpeg_decode(in->at, in->n, &options, &room));
    case EF_IMAGE_PNG: return in_op(c, ef_png_decode(in->at, in->n, 3, 8, &room));
    default: return in_op(c, ef_gif_decode(in->at, in->n, false, &room));
    }
}

const ef_op ef_op_DecodeGif = {
    EF_NAMED(DecodeGif),
    .doc = "The frames of a GIF image, as one tensor with three channels.",
    .in = {"contents: string"},
    .out = {"image: uint8"},
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = gif_shape,
    .kernel = EF_ANY_KERNEL(gif_run),
    .examples = {"image(gif)"},
};

typedef struct bmp_attrs {
    int64_t channels;
} bmp_attrs;

static ef_status *bmp_shape(ef_infer *i) {
    const bmp_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(check_channels(i->op, t->channels));
    image_shape(i, t->channels);
    return NULL;
}

static ef_status *bmp_run(const ef_call *c) {
    const bmp_attrs *t = c->attrs;
    const ef_str *in = contents(c);
    output o = {c, false};
    return in_op(c,
                 ef_bmp_decode(in->at, in->n, (int)t->channels, &(ef_image_room){give_room, &o}));
}

const ef_op ef_op_DecodeBmp = {
    EF_NAMED(DecodeBmp),
    .doc = "The pixels of a BMP image.",
    .in = {"contents: string"},
    .out = {"image: uint8"},
    .attr = {EF_ATTR(bmp_attrs, channels, "int", "0")},
    .attr_size = sizeof(bmp_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = bmp_shape,
    .kernel = EF_ANY_KERNEL(bmp_run),
    .examples = {"image(bmp)"},
};

/* ---- DecodeImage ----------------------------------------------------------------------------- */

typedef struct image_attrs {
    int64_t channels;
    ef_dtype dtype;
    bool expand_animations;
} image_attrs;

static ef_status *any_shape(ef_infer *i) {
    const image_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(check_channels(i->op, t->channels));
    if (!t->expand_animations) image_shape(i, t->channels);
    return NULL;
}

/* Memory for samples that are widened after decoding: the end of the output's own memory. */
typedef struct widening {
    const ef_call *c;
    bool frames;
    size_t narrow; /* bytes of a sample: 1 or 2 */
    int64_t n;
    unsigned char *bytes;
} widening;

static ef_status *give_bytes(void *user, const ef_image_size *size, void **out) {
    widening *w = user;
    output o = {w->c, w->frames};
    void *memory = NULL;
    EF_TRY(give_room(&o, size, &memory));
    w->n = size->frames * size->height * size->width * size->channels;
    size_t wide = ef_dtype_size((ef_dtype)w->c->out[0]->dtype);
    w->bytes = (unsigned char *)memory + (size_t)w->n * (wide - w->narrow);
    *out = w->bytes;
    return NULL;
}

/* Runs from the front, so no element overwrites one that has not been read yet. */
static void widen(const widening *w) {
    if (w->c->out[0]->dtype == EF_F32)
        for (int64_t k = 0; k < w->n; k++) {
            uint16_t two = 0;
            if (w->narrow == 2) memcpy(&two, w->bytes + 2 * k, sizeof two);
            float v = w->narrow == 2 ? (float)two * (1.0f / 65535.0f)
                                     : (float)w->bytes[k] * (1.0f / 255.0f);
            memcpy((float *)w->c->out[0]->data + k, &v, sizeof v);
        }
    else if (w->c->out[0]->dtype == EF_U16)
        for (int64_t k = 0; k < w->n; k++) {
            uint16_t v = (uint16_t)(w->bytes[k] * 256u);
            memcpy((uint16_t *)w->c->out[0]->data + k, &v, sizeof v);
        }
}

static ef_status *any_run(const ef_call *c) {
    const image_attrs *t = c->attrs;
    const ef_str *in = contents(c);
    const ef_image_format format = ef_image_format_of(in->at, in->n);
    /* TensorFlow decodes a PNG with 16 bits for float32. */
    const bool two = format == EF_IMAGE_PNG && t->dtype == EF_F32;
    widening w = {
        .c = c, .frames = format == EF_IMAGE_GIF && t->expand_animations, .narrow = two ? 2 : 1};
    ef_image_room room = {give_bytes, &w};
    ef_jpeg_options options = {.channels = (int)t->channels, .ratio = 1, .fancy_upscaling = true};
    output o = {c, false};
    ef_status *s;
    switch (format) {
    case EF_IMAGE_JPEG: s = ef_jpeg_decode(in->at, in->n, &options, &room); break;
    case EF_IMAGE_PNG:
        if (t->dtype == EF_U16)
            return in_op(c, ef_png_decode(in->at, in->n, (int)t->channels, 16,
                                          &(ef_image_room){give_room, &o}));
        s = ef_png_decode(in->at, in->n, (int)t->channels, two ? 16 : 8, &room);
        break;
    case EF_IMAGE_GIF:
        if (t->channels == 1 || t->channels == 4)
            return ef_error(EF_INVALID, "%s: channels must be 0 or 3 for a GIF, got %lld",
                            c->op->name, (long long)t->channels);
        s = ef_gif_decode(in->at, in->n, !t->expand_animations, &room);
        break;
    case EF_IMAGE_BMP: s = ef_bmp_decode(in->at, in->n, (int)t->channels, &room); break;
    default:
        return ef_error(EF_INVALID,
                        "%s: Unknown image file format. One of JPEG, PNG, GIF, BMP required.",
                        c->op->name);
    }
    if (s == NULL && t->dtype != EF_U8) widen(&w);
    return in_op(c, s);
}

const ef_op ef_op_DecodeImage = {
    EF_NAMED(DecodeImage),
    .doc = "The pixels of a JPEG, PNG, GIF or BMP image; float32 pixels are between 0 and 1.",
    .in = {"contents: string"},
    .out = {"image: dtype"},
    .attr = {EF_ATTR(image_attrs, channels, "int", "0"),
             EF_ATTR(image_attrs, dtype, "{uint8, uint16, float}", "uint8"),
             EF_ATTR(image_attrs, expand_animations, "bool", "true")},
    .attr_size = sizeof(image_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = any_shape,
    .kernel = EF_ANY_KERNEL(any_run),
    .examples = {"image(png)", "image(jpeg) dtype=float", "image(gif)", "image(bmp) dtype=uint16"},
};
