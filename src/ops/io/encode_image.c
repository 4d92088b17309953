/* EncodeJpeg, EncodePng: encode pixels as an image file. */
#include "file/image.h"
#include "ops/string/strings.h"

static ef_status *one_image(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 3));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

static ef_status *give(const ef_call *c, ef_status *s, ef_text *text) {
    if (s == NULL) s = ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_take(c->out[0]->data, text);
    ef_text_free(text);
    return s;
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

typedef struct jpeg_attrs {
    int format;
    int64_t quality;
    bool progressive, optimize_size, chroma_downsampling;
    int density_unit;
    int64_t x_density, y_density;
    ef_attr_text xmp_metadata;
} jpeg_attrs;

static ef_status *jpeg_shape(ef_infer *i) {
    const jpeg_attrs *t = i->attrs;
    if (t->quality < 0 || t->quality > 100)
        return ef_error(EF_INVALID, "%s: quality must be in [0,100], got %lld", i->op->name,
                        (long long)t->quality);
    return one_image(i);
}

static ef_status *jpeg_write(const ef_call *c, const jpeg_attrs *t) {
    const ef_tensor *x = c->in[0];
    const int64_t channels = x->dim[2], want = t->format == 1 ? 1 : t->format == 2 ? 3 : channels;
    if ((channels != 1 && channels != 3) || want != channels)
        return ef_error(
            EF_INVALID,
            "%s: image must have 1 channel (format 'grayscale') or 3 (format 'rgb'); its shape "
            "is [%lld, %lld, %lld]",
            c->op->name, (long long)x->dim[0], (long long)x->dim[1], (long long)channels);
    ef_jpeg_writing w = {.quality = (int)t->quality,
                         .density_unit = t->density_unit == 0 ? 1 : 2,
                         .x_density = (int)t->x_density,
                         .y_density = (int)t->y_density,
                         .progressive = t->progressive,
                         .optimize = t->optimize_size,
                         .chroma_downsampling = t->chroma_downsampling,
                         .xmp = t->xmp_metadata.at,
                         .n_xmp = t->xmp_metadata.n};
    ef_text text = {0};
    return give(c, ef_jpeg_encode(x->data, x->dim[0], x->dim[1], (int)channels, &w, &text), &text);
}

static ef_status *jpeg_run(const ef_call *c) { return jpeg_write(c, c->attrs); }

static ef_status *variable_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 1, 0));
    return one_image(i);
}

static ef_status *variable_run(const ef_call *c) {
    int32_t quality = *(const int32_t *)c->in[1]->data;
    if (quality < 0 || quality > 100)
        return ef_error(EF_INVALID, "%s: quality must be in [0,100], got %d", c->op->name,
                        (int)quality);
    return jpeg_write(c, &(jpeg_attrs){.quality = quality,
                                       .chroma_downsampling = true,
                                       .x_density = 300,
                                       .y_density = 300,
                                       .xmp_metadata = {.at = "", .n = 0}});
}

const ef_op ef_op_EncodeJpegVariableQuality = {
    EF_NAMED(EncodeJpegVariableQuality),
    .doc = "Encodes an image as EncodeJpeg does, with a quality that is not known before it runs.",
    .in = {"images: uint8", "quality: int32"},
    .out = {"contents: string"},
    .traits = EF_NO_GRAD,
    .shape = variable_shape,
    .kernel = EF_ANY_KERNEL(variable_run),
    .examples = {"uint8[3,4,3] int32[]{50}", "uint8[2,2,1] int32[]{100}"},
};

const ef_op ef_op_EncodeJpeg = {
    EF_NAMED(EncodeJpeg),
    .doc = "Encodes an image, uint8 with one or three channels, as JPEG.",
    .in = {"image: uint8"},
    .out = {"contents: string"},
    .attr = {EF_ATTR(jpeg_attrs, format, "{'', 'grayscale', 'rgb'}", "''"),
             EF_ATTR(jpeg_attrs, quality, "int", "95"),
             EF_ATTR(jpeg_attrs, progressive, "bool", "false"),
             EF_ATTR(jpeg_attrs, optimize_size, "bool", "false"),
             EF_ATTR(jpeg_attrs, chroma_downsampling, "bool", "true"),
             EF_ATTR(jpeg_attrs, density_unit, "{'in', 'cm'}", "'in'"),
             EF_ATTR(jpeg_attrs, x_density, "int", "300"),
             EF_ATTR(jpeg_attrs, y_density, "int", "300"),
             EF_ATTR(jpeg_attrs, xmp_metadata, "string", "''")},
    .attr_size = sizeof(jpeg_attrs),
    .traits = EF_NO_GRAD,
    .shape = jpeg_shape,
    .kernel = EF_ANY_KERNEL(jpeg_run),
    .examples = {"uint8[4,5,3]", "uint8[2,2,1] quality=50 progressive=true"},
};

/* ---- PNG ------------------------------------------------------------------------------------- */

typedef struct png_attrs {
    int64_t compression;
} png_attrs;

static ef_status *png_shape(ef_infer *i) {
    const png_attrs *t = i->attrs;
    if (t->compression < -1 || t->compression > 9)
        return ef_error(EF_INVALID, "%s: compression should be in [-1,9], got %lld", i->op->name,
                        (long long)t->compression);
    EF_TRY(ef_need_rank_at_least(i, 0, 3));
    const ef_shape *in = &i->in[0].shape;
    if (in->rank < 0) return NULL;
    i->out[0].shape = *in; /* the axes before the image's */
    i->out[0].shape.rank -= 3;
    return NULL;
}

static ef_status *png_run(const ef_call *c) {
    const png_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    const int64_t *d = x->dim + x->rank - 3;
    const int bits = x->dtype == EF_U16 ? 16 : 8;
    if (d[0] <= 0 || d[1] <= 0 || d[0] > INT32_MAX || d[1] > INT32_MAX || d[2] < 1 || d[2] > 4)
        return ef_error(EF_INVALID,
                        "%s: image must have 1, 2, 3, or 4 channels and be not empty; it is "
                        "%lld x %lld with %lld channels",
                        c->op->name, (long long)d[0], (long long)d[1], (long long)d[2]);
    EF_TRY(ef_out_memory(c, 0));
    const size_t bytes = (size_t)(d[0] * d[1] * d[2]) * (size_t)(bits / 8);
    ef_text text = {0};
    ef_status *s = NULL;
    for (int64_t k = 0, n = ef_count(c->out[0]); k < n && s == NULL; k++) {
        s = ef_png_encode((const char *)x->data + (size_t)k * bytes, d[0], d[1], (int)d[2], bits,
                          (int)t->compression, &text);
        if (s == NULL) s = ef_str_take((ef_str *)c->out[0]->data + k, &text);
    }
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_EncodePng = {
    EF_NAMED(EncodePng),
    .doc = "Encodes an image, or each of several, as PNG; one to four channels of 8 or 16 bits.",
    .in = {"image: T"},
    .out = {"contents: string"},
    .types = "T: {uint8, uint16} = uint8",
    .attr = {EF_ATTR(png_attrs, compression, "int", "-1")},
    .attr_size = sizeof(png_attrs),
    .traits = EF_NO_GRAD,
    .shape = png_shape,
    .kernel = EF_ANY_KERNEL(png_run),
    .examples = {"T[4,5,3]", "uint8[2,3,3,1] compression=9"},
};
