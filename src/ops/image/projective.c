/* ImageProjectiveTransformV3: projective transforms of images; each maps output pixels to points of
 * the input. */
#include "base/pool.h"
#include "ops/records.h"
#include "ops/shapes.h"
#include <math.h>

typedef enum { CONSTANT, REFLECT, WRAP, NEAREST } fill_kind;

typedef struct projective_attrs {
    int interpolation, fill_mode; /* interpolation: 0 nearest, 1 bilinear */
} projective_attrs;

static ef_status *projective_shape(ef_infer *i) {
    bool known;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 2));
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(ef_need_rank(i, 3, 0));
    const ef_shape *x = &i->in[0].shape, *maps = &i->in[1].shape;
    if (maps->rank == 2 && maps->dim[1] >= 0 && maps->dim[1] != 8)
        return ef_error(EF_INVALID, "%s: transforms is %s; a transform has 8 numbers", i->op->name,
                        EF_SHAPE(maps));
    if (maps->rank == 2 && x->rank == 4 && maps->dim[0] >= 0 && x->dim[0] >= 0 &&
        maps->dim[0] != 1 && maps->dim[0] != x->dim[0])
        return ef_error(
            EF_INVALID,
            "%s: there are %lld transforms and %lld images; there must be one transform, "
            "or one for each image",
            i->op->name, (long long)maps->dim[0], (long long)x->dim[0]);
    int64_t v[EF_MAX_RANK];
    int n;
    EF_TRY(ef_known_ints(i, 2, v, EF_MAX_RANK, &n, &known));
    if (known && (n != 2 || v[0] <= 0 || v[1] <= 0))
        return ef_error(EF_INVALID, "%s: output_shape must be two positive sizes", i->op->name);
    i->out[0].shape = (ef_shape){
        .rank = 4, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN, EF_DIM_UNKNOWN, EF_DIM_UNKNOWN}};
    if (x->rank == 4) {
        i->out[0].shape.dim[0] = x->dim[0];
        i->out[0].shape.dim[3] = x->dim[3];
    }
    if (known) i->out[0].shape.dim[1] = v[0], i->out[0].shape.dim[2] = v[1];
    return NULL;
}

/* ---- points ---------------------------------------------------------------------------------- */

static float within(float x, float size) { return x < 0 ? 0 : x > size - 1 ? size - 1 : x; }

/* Maps a coordinate outside [0, size) to the one that is read, as the fill mode says. */
static float inside(float x, int64_t n, fill_kind fill) {
    float size = (float)n;
    if (fill == CONSTANT || !isfinite(x)) return x;
    if (fill == NEAREST || n <= 1) return within(x, size);
    if (fill == REFLECT) {
        float twice = 2 * size;
        if (x < 0) {
            if (x < twice) x = twice * (float)(int64_t)(-x / twice) + x;
            x = x < -size ? x + twice : -x - 1;
        } else if (x > size - 1) {
            x -= twice * (float)(int64_t)(x / twice);
            if (x >= size) x = twice - x - 1;
        }
        return within(x, size);
    }
    if (x < 0)
        x += size * (float)((int64_t)(-x / (size - 1)) + 1);
    else if (x > size - 1)
        x -= size * (float)(int64_t)(x / (size - 1));
    return within(x, size);
}

typedef struct job {
    const ef_tensor *x, *y;
    const float *maps;
    int64_t each; /* numbers from one image's transform to the next: 8, or 0 if all share one */
    float outside;
    bool bilinear;
    fill_kind fill;
} job;

/* The pixels as floating-point numbers, whatever their dtype. */
static double element(const ef_tensor *t, int64_t k) {
    switch ((ef_dtype)t->dtype) {
    case EF_F32: return ((const float *)t->data)[k];
    case EF_F64: return ((const double *)t->data)[k];
    case EF_U8: return ((const uint8_t *)t->data)[k];
    case EF_I32: return ((const int32_t *)t->data)[k];
    case EF_I64: return (double)((const int64_t *)t->data)[k];
    case EF_F16: return ef_f16_float(((const ef_f16 *)t->data)[k]);
    default: return ef_bf16_float(((const ef_bf16 *)t->data)[k]);
    }
}
static void set_element(const ef_tensor *t, int64_t k, double v) {
    switch ((ef_dtype)t->dtype) {
    case EF_F32: ((float *)t->data)[k] = (float)v; break;
    case EF_F64: ((double *)t->data)[k] = v; break;
    case EF_U8: ((uint8_t *)t->data)[k] = (uint8_t)v; break;
    case EF_I32: ((int32_t *)t->data)[k] = (int32_t)v; break;
    case EF_I64: ((int64_t *)t->data)[k] = (int64_t)v; break;
    case EF_F16: ((ef_f16 *)t->data)[k] = ef_float_f16((float)v); break;
    default: ((ef_bf16 *)t->data)[k] = ef_float_bf16((float)v); break;
    }
}

static double pixel(const job *j, int64_t image, double row, double column, int64_t channel) {
    const int64_t *d = j->x->dim;
    if (!(row >= 0 && row < (double)d[1] && column >= 0 && column < (double)d[2]))
        return j->outside;
    int64_t at = ((image * d[1] + (int64_t)row) * d[2] + (int64_t)column) * d[3] + channel;
    return element(j->x, at);
}

static double between(const job *j, int64_t image, float y, float x, int64_t channel) {
    if (!j->bilinear) return pixel(j, image, roundf(y), roundf(x), channel);
    float top = floorf(y), left = floorf(x), bottom = top + 1, right = left + 1;
    double above = (right - x) * pixel(j, image, top, left, channel) +
                   (x - left) * pixel(j, image, top, right, channel);
    double below = (right - x) * pixel(j, image, bottom, left, channel) +
                   (x - left) * pixel(j, image, bottom, right, channel);
    return (bottom - y) * above + (y - top) * below;
}

static void run_rows(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const int64_t *d = j->y->dim;
    for (int64_t r = begin; r < end; r++) {
        int64_t image = r / d[1], row = r % d[1];
        const float *m = j->maps + image * j->each;
        for (int64_t column = 0; column < d[2]; column++) {
            float fx = (float)column, fy = (float)row, k = m[6] * fx + m[7] * fy + 1;
            int64_t at = (r * d[2] + column) * d[3];
            float x = inside((m[0] * fx + m[1] * fy + m[2]) / k, j->x->dim[2], j->fill);
            float y = inside((m[3] * fx + m[4] * fy + m[5]) / k, j->x->dim[1], j->fill);
            for (int64_t c = 0; c < d[3]; c++)
                set_element(j->y, at + c, k == 0 ? j->outside : between(j, image, y, x, c));
        }
    }
}

static ef_status *projective_run(const ef_call *c) {
    const projective_attrs *t = c->attrs;
    job j = {.x = c->in[0], .y = c->out[0], .maps = c->in[1]->data};
    j.bilinear = t->interpolation == 1;
    j.fill = (fill_kind)t->fill_mode;
    j.each = c->in[1]->dim[0] == 1 ? 0 : 8;
    j.outside = *(const float *)c->in[3]->data;
    if (ef_count(c->out[0]) == 0) return NULL;
    if (ef_count(c->in[0]) == 0) j.fill = CONSTANT; /* there is nothing to read */
    const int64_t *d = c->out[0]->dim;
    ef_parallel(d[0] * d[1], 1, (double)d[2] * (4 + 12 * (double)d[3]), run_rows, &j);
    return NULL;
}

const ef_op ef_op_ImageProjectiveTransformV3 = {
    EF_NAMED(ImageProjectiveTransformV3),
    .doc = "Images of size `output_shape` whose pixel (x, y) is read from the input at ((a0 x + a1 "
           "y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1; points outside are set "
           "by `fill_mode`.",
    .in = {"images: dtype", "transforms: float", "output_shape: int32", "fill_value: float"},
    .out = {"transformed_images: dtype"},
    .types = "dtype: {uint8, int32, int64, half, bfloat16, float, double}",
    .attr = {EF_ATTR(projective_attrs, interpolation, "{'NEAREST', 'BILINEAR'}", NULL),
             EF_ATTR(projective_attrs, fill_mode, "{'CONSTANT', 'REFLECT', 'WRAP', 'NEAREST'}",
                     "'CONSTANT'")},
    .attr_size = sizeof(projective_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .data_in = 1,
    .shape = projective_shape,
    .kernel = {{EF_CPU,
                EF_BIT(U8) | EF_BIT(I32) | EF_BIT(I64) | EF_BIT(F16) | EF_BIT(BF16) | EF_BIT(F32) |
                    EF_BIT(F64),
                projective_run, NULL, NULL, NULL, NULL}},
    .examples = {"dtype[2,3,4,2] float[1,8]{1,0.5,-1,0,1,0.5,0,0} int32[2]{4,3} float[]{0} "
                 "interpolation='BILINEAR'",
                 "float[2,3,4,1] float[2,8] int32[2]{3,4} float[]{2} interpolation='NEAREST' "
                 "fill_mode='REFLECT'",
                 "float[1,3,4,1] float[1,8] int32[2]{3,4} float[]{2} interpolation='BILINEAR' "
                 "fill_mode='WRAP'",
                 "uint8[1,2,2,1] float[1,8] int32[2]{3,4} float[]{2} interpolation='NEAREST' "
                 "fill_mode='NEAREST'"},
};
