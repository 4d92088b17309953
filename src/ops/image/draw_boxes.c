/* DrawBoundingBoxes: the edges of boxes drawn on images, a pixel wide, one box over the other. */
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <math.h>
#include <string.h>

enum { CHANNELS = 4, PALETTE = 10 };

/* The colors of boxes that are given none, one after the other: red, green, blue, alpha. */
static const float palette[PALETTE][CHANNELS] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5F, 0, 0.5F, 1},
    {0.5F, 0.5F, 0, 1}, {0.5F, 0, 0, 1}, {0, 0, 0.5F, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

static ef_status *draw_infer(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *boxes = &i->in[1].shape;
    int64_t n;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 3));
    if (i->n_in > 2) EF_TRY(ef_need_rank(i, 2, 2));
    if (boxes->rank == 3 && !ef_dim_may_equal(boxes->dim[2], 4))
        return ef_error(EF_INVALID,
                        "%s: The size of the third dimension of the box must be 4. Received: %lld",
                        i->op->name, (long long)boxes->dim[2]);
    if (x->rank == 4 && boxes->rank == 3)
        EF_TRY(ef_need_same_dim(i, x->dim[0], boxes->dim[0],
                                "The batch sizes should be the same: images and boxes", &n));
    if (x->rank == 4 && x->dim[3] >= 0 && x->dim[3] != 1 && x->dim[3] != 3 && x->dim[3] != 4)
        return ef_error(EF_INVALID,
                        "%s: Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), but "
                        "images is %s",
                        i->op->name, EF_SHAPE(x));
    if (i->n_in > 2 && x->rank == 4 && i->in[2].shape.rank == 2) {
        const int64_t *colors = i->in[2].shape.dim;
        if (colors[0] > 0 && colors[1] >= 0 && x->dim[3] > colors[1])
            return ef_error(EF_INVALID,
                            "%s: colors must have equal or more channels than the image provided: "
                            "colors is %s and images is %s",
                            i->op->name, EF_SHAPE(&i->in[2].shape), EF_SHAPE(x));
    }
    i->out[0].shape = *x;
    return NULL;
}

typedef struct canvas {
    ef_dtype dtype;
    char *data; /* of one image */
    int64_t height, width, depth;
    size_t pixel;                         /* bytes */
    char color[CHANNELS * sizeof(float)]; /* in the image's dtype */
} canvas;

static void line(const canvas *c, int64_t row, int64_t column, int64_t step, int64_t n) {
    char *at = c->data + (size_t)(row * c->width + column) * c->pixel;
    for (int64_t k = 0; k < n; k++, at += (size_t)step * c->pixel) memcpy(at, c->color, c->pixel);
}

static int64_t clamped(int64_t v, int64_t size) { return v < 0 ? 0 : v >= size ? size - 1 : v; }

/* Edges outside of the image are left out, and the others end at its border. */
static void draw(const canvas *c, const float *box) {
    const double h = (double)(c->height - 1), w = (double)(c->width - 1), far = 1e15;
    double edge[4] = {(float)h * box[0], (float)w * box[1], (float)h * box[2], (float)w * box[3]};
    for (int k = 0; k < 4; k++)
        if (!(fabs(edge[k]) < far)) return;
    const int64_t top = (int64_t)edge[0], left = (int64_t)edge[1];
    const int64_t bottom = (int64_t)edge[2], right = (int64_t)edge[3];
    if (top > bottom || left > right || top >= c->height || bottom < 0 || left >= c->width ||
        right < 0)
        return;
    const int64_t row = clamped(top, c->height), column = clamped(left, c->width);
    const int64_t rows = clamped(bottom, c->height) - row + 1;
    const int64_t columns = clamped(right, c->width) - column + 1;
    if (top >= 0) line(c, top, column, 1, columns);
    if (bottom < c->height) line(c, bottom, column, 1, columns);
    if (left >= 0) line(c, row, left, c->width, rows);
    if (right < c->width) line(c, row, right, c->width, rows);
}

static void take_color(canvas *c, const ef_tensor *colors, int64_t box) {
    const bool given = colors != NULL && colors->dim[0] > 0;
    for (int64_t k = 0; k < c->depth; k++) {
        float v = given ? ((const float *)colors->data)[box % colors->dim[0] * colors->dim[1] + k]
                        : palette[box % PALETTE][k];
        if (!given && c->depth == 1) v = 1; /* gray images have white boxes */
        ef_element_set(c->dtype, c->color, k, v);
    }
}

static ef_status *draw_run(const ef_call *c) {
    const ef_tensor *x = c->in[0], *boxes = c->in[1];
    const ef_dtype t = (ef_dtype)x->dtype;
    canvas on = {.dtype = t, .height = x->dim[1], .width = x->dim[2], .depth = x->dim[3]};
    on.pixel = (size_t)on.depth * ef_dtype_size(t);
    const size_t image = (size_t)(on.height * on.width) * on.pixel;
    if (ef_count(x) == 0) return NULL;
    if (c->out[0]->data != x->data) memcpy(c->out[0]->data, x->data, (size_t)x->dim[0] * image);
    for (int64_t k = 0; k < x->dim[0]; k++) {
        on.data = (char *)c->out[0]->data + (size_t)k * image;
        for (int64_t b = 0; b < boxes->dim[1]; b++) {
            take_color(&on, c->n_in > 2 ? c->in[2] : NULL, b);
            draw(&on, (const float *)boxes->data + (k * boxes->dim[1] + b) * 4);
        }
    }
    return NULL;
}

#define DOC                                                                                     \
    "The images with the edges of boxes drawn on them; a box is y_min, x_min, y_max, x_max in " \
    "parts of the image's size."
const ef_op ef_op_DrawBoundingBoxes = {
    EF_NAMED(DrawBoundingBoxes),
    .doc = DOC,
    .in = {"images: T", "boxes: float"},
    .out = {"output: T"},
    .types = "T: {float, half} = float",
    .traits = EF_NO_GRAD,
    .shape = draw_infer,
    .kernel = EF_ANY_KERNEL(draw_run),
    .examples = {"T[2,5,6,3] float[2,3,4]", "T[1,5,6,1] float[1,1,4]{0.1,0.2,0.8,0.9}"},
};

const ef_op ef_op_DrawBoundingBoxesV2 = {
    EF_NAMED(DrawBoundingBoxesV2),
    .doc = DOC " `colors` has a row for each box, and begins again where there are more boxes.",
    .in = {"images: T", "boxes: float", "colors: float"},
    .out = {"output: T"},
    .types = "T: {float, half} = float",
    .traits = EF_NO_GRAD,
    .shape = draw_infer,
    .kernel = EF_ANY_KERNEL(draw_run),
    .examples = {"T[2,5,6,3] float[2,3,4] float[2,4]", "T[1,5,6,1] float[1,1,4] float[0,0]"},
};
