/* SampleDistortedBoundingBox: a random crop of an image that covers enough of one of its objects.
 * An aspect ratio is drawn, then a height within the range of areas, then a place; crops that cover
 * too little of every object are drawn again. The numbers are TensorFlow's, in its order. */
#include "ops/random/random.h"
#include "ops/shapes.h"
#include <math.h>

enum { MOST_ATTEMPTS = 1000000 }; /* some 30 ms */
typedef struct box_attrs {
    ef_random_attrs random; /* must be first: the generator reads the seeds there */
    float min_object_covered;
    ef_floats aspect_ratio_range, area_range;
    int64_t max_attempts;
    bool use_image_if_no_bounding_boxes;
} box_attrs;

typedef struct rect {
    int left, top, right, bottom;
} rect;

static float area(rect r) {
    return r.right > r.left && r.bottom > r.top
               ? (float)(r.right - r.left) * (float)(r.bottom - r.top)
               : 0.0F;
}
static rect common(rect a, rect b) {
    return (rect){a.left > b.left ? a.left : b.left, a.top > b.top ? a.top : b.top,
                  a.right < b.right ? a.right : b.right, a.bottom < b.bottom ? a.bottom : b.bottom};
}

/* ---- drawing --------------------------------------------------------------------------------- */

static float draw_float(ef_philox_each *g) {
    return (float)(ef_philox_next(g) & 0x7fffffu) * 0x1p-23F;
}

/* A number below n, without bias. */
static int draw_below(ef_philox_each *g, int n) {
    uint32_t m = (uint32_t)n, unfair = UINT32_MAX % m + 1, x;
    do x = ef_philox_next(g);
    while ((m & (m - 1)) != 0 && x < unfair);
    return (int)(x % m);
}

/* The largest height at which a crop of this shape is no wider than the image. */
static int most_height(int columns, float largest, float ratio) {
    int most = (int)lrintf(sqrtf(largest / ratio));
    if (lrintf((float)most * ratio) <= columns) return most;
    most = (int)(((double)columns + 0.5 - 1e-7) / (double)ratio);
    return lrintf((float)most * ratio) > columns ? most - 1 : most;
}

/* A crop of the aspect ratio whose area is in the range; false if rounding leaves none. */
static bool draw_crop(ef_philox_each *g, int rows, int columns, const float *range, float ratio,
                      rect *out) {
    if (range[1] <= 0 || ratio <= 0 || range[0] > range[1]) return false;
    float least = range[0] * (float)columns * (float)rows;
    float largest = range[1] * (float)columns * (float)rows;
    int height = (int)lrintf(sqrtf(least / ratio)), most = most_height(columns, largest, ratio);
    if (most > rows) most = rows;
    if (height >= most) height = most;
    if (height < most) height += draw_below(g, most - height + 1);
    int width = (int)lrintf((float)height * ratio);
    if ((float)width * (float)height < least)
        width = (int)lrintf((float)++height * ratio); /* one row more may make up for rounding */
    if ((float)width * (float)height > largest) width = (int)lrintf((float)--height * ratio);
    float made = (float)width * (float)height;
    if (made < least || made > largest || width > columns || height > rows || width <= 0 ||
        height <= 0)
        return false;
    int top = height < rows ? draw_below(g, rows - height) : 0;
    int left = width < columns ? draw_below(g, columns - width) : 0;
    *out = (rect){left, top, left + width, top + height};
    return true;
}

/* ---- the ops --------------------------------------------------------------------------------- */

static ef_status *need_range(const ef_op *op, const char *name, const ef_floats *v, float most) {
    if (v->n == 2 && v->at[0] > 0 && v->at[1] > 0 && v->at[0] <= most && v->at[1] <= most)
        return NULL;
    return ef_error(EF_INVALID, "%s: %s must have two positive values%s", op->name, name,
                    most <= 1 ? " that are at most 1" : "");
}

static ef_status *box_shape(ef_infer *i) {
    const box_attrs *t = i->attrs;
    EF_TRY(need_range(i->op, "aspect_ratio_range", &t->aspect_ratio_range, INFINITY));
    EF_TRY(need_range(i->op, "area_range", &t->area_range, 1));
    if (t->max_attempts <= 0 || t->max_attempts > MOST_ATTEMPTS)
        return ef_error(EF_INVALID, "%s: max_attempts must be in [1, %d], not %lld", i->op->name,
                        MOST_ATTEMPTS, (long long)t->max_attempts);
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 3));
    if (i->n_in > 2) EF_TRY(ef_need_rank(i, 2, 0));
    if (i->n_in > 3) EF_TRY(ef_random_need_seed(i, 3));
    const ef_shape *size = &i->in[0].shape, *boxes = &i->in[1].shape;
    if (size->rank == 1 && size->dim[0] >= 0 && size->dim[0] != 3)
        return ef_error(EF_INVALID, "%s: image_size must be [height, width, channels], not %s",
                        i->op->name, EF_SHAPE(size));
    if (boxes->rank == 3 && boxes->dim[2] >= 0 && boxes->dim[2] != 4)
        return ef_error(EF_INVALID, "%s: bounding_boxes must be [batch, n, 4], not %s", i->op->name,
                        EF_SHAPE(boxes));
    i->out[0].shape = i->out[1].shape = (ef_shape){.rank = 1, .dim = {3}};
    i->out[2].shape = (ef_shape){.rank = 3, .dim = {1, 1, 4}};
    return NULL;
}

/* The height or width of the image. */
static ef_status *read_size(const ef_call *c, int k, int *out) {
    const ef_tensor *size = c->in[0];
    int64_t n = ef_element_int((ef_dtype)size->dtype, size->data, k);
    if (n <= 0 || n > INT32_MAX)
        return ef_error(EF_INVALID, "%s: the image's height and width must be positive, not %lld",
                        c->op->name, (long long)n);
    *out = (int)n;
    return NULL;
}

static ef_status *check_boxes(const ef_call *c) {
    const float *v = c->in[1]->data;
    for (int64_t k = 0; k < ef_count(c->in[1]); k++)
        if (!(v[k] >= 0 && v[k] <= 1))
            return ef_error(EF_INVALID,
                            "%s: All bounding box coordinates must be in [0.0, 1.0]: %g",
                            c->op->name, (double)v[k]);
    return NULL;
}

/* Whether the crop covers so much of one of the objects. */
static bool covers(const ef_call *c, rect crop, int rows, int columns, float wanted) {
    const float *v = c->in[1]->data, h = (float)rows, w = (float)columns;
    int64_t n = ef_count(c->in[1]) / 4;
    if (area(crop) < 1) return false;
    if (n == 0) return area(crop) / (h * w) >= wanted; /* the object is the whole image */
    for (int64_t k = 0; k < n; k++, v += 4) {
        rect object = {(int)(v[1] * w), (int)(v[0] * h), (int)(v[3] * w), (int)(v[2] * h)};
        float whole = area(object);
        if (whole >= 1 && area(common(crop, object)) / whole >= wanted) return true;
    }
    return false;
}

static ef_status *write_crop(const ef_call *c, rect r, int rows, int columns) {
    ef_dtype t = (ef_dtype)c->out[0]->dtype;
    const int begin[3] = {r.top, r.left, 0}, size[3] = {r.bottom - r.top, r.right - r.left, -1};
    for (int k = 0; k < 3; k++) {
        ef_element_set(t, c->out[0]->data, k, begin[k]);
        ef_element_set(t, c->out[1]->data, k, size[k]);
    }
    float *box = c->out[2]->data;
    box[0] = (float)r.top / (float)rows;
    box[1] = (float)r.left / (float)columns;
    box[2] = (float)r.bottom / (float)rows;
    box[3] = (float)r.right / (float)columns;
    return NULL;
}

static ef_status *draw_box(const ef_call *c, float wanted, ef_philox start) {
    const box_attrs *t = c->attrs;
    const float *ratio = t->aspect_ratio_range.at;
    ef_philox_each g = ef_philox_one_by_one(start);
    int rows = 0, columns = 0;
    EF_TRY(read_size(c, 0, &rows));
    EF_TRY(read_size(c, 1, &columns));
    EF_TRY(check_boxes(c));
    if (!(wanted >= 0))
        return ef_error(EF_INVALID, "%s: min_object_covered must be non-negative, not %g",
                        c->op->name, (double)wanted);
    if (ef_count(c->in[1]) == 0 && !t->use_image_if_no_bounding_boxes)
        return ef_error(EF_INVALID,
                        "%s: No bounding boxes provided as input. One must enable "
                        "use_image_if_no_bounding_boxes if you wish to not provide any bounding "
                        "boxes.",
                        c->op->name);
    rect crop;
    for (int64_t k = 0; k < t->max_attempts; k++) {
        float drawn = draw_float(&g) * (ratio[1] - ratio[0]) + ratio[0];
        if (draw_crop(&g, rows, columns, t->area_range.at, drawn, &crop) &&
            covers(c, crop, rows, columns, wanted))
            return write_crop(c, crop, rows, columns);
    }
    return write_crop(c, (rect){0, 0, columns, rows}, rows, columns);
}

static ef_status *stateful(const ef_call *c, float wanted) {
    ef_philox start;
    EF_TRY(ef_random_stateful(c, (uint64_t)((const box_attrs *)c->attrs)->max_attempts, &start));
    return draw_box(c, wanted, start);
}
static ef_status *box_run(const ef_call *c) {
    return stateful(c, ((const box_attrs *)c->attrs)->min_object_covered);
}
static ef_status *box_v2_run(const ef_call *c) {
    return stateful(c, *(const float *)c->in[2]->data);
}
static ef_status *stateless_run(const ef_call *c) {
    ef_philox start;
    EF_TRY(ef_random_from_seed(c, 3, &start));
    return draw_box(c, *(const float *)c->in[2]->data, start);
}

#define SIZES "T: {uint8, int8, int16, int32, int64}"
#define RANGES                                                             \
    EF_ATTR(box_attrs, aspect_ratio_range, "list(float)", "[0.75, 1.33]"), \
        EF_ATTR(box_attrs, area_range, "list(float)", "[0.05, 1]"),        \
        EF_ATTR(box_attrs, max_attempts, "int", "100"),                    \
        EF_ATTR(box_attrs, use_image_if_no_bounding_boxes, "bool", "false")
#define IN "image_size: T", "bounding_boxes: float"
#define OUT "begin: T", "size: T", "bboxes: float"
#define STATEFUL_KERNEL(fn)                                                      \
    {                                                                            \
        { EF_CPU, EF_ANY, fn, NULL, NULL, ef_random_prepare, ef_random_release } \
    }

const ef_op ef_op_SampleDistortedBoundingBox = {
    EF_NAMED(SampleDistortedBoundingBox),
    .doc = "A random crop of an image that covers enough of one of its bounding boxes: begin and "
           "size for Slice, and the crop as a box.",
    .in = {IN},
    .out = {OUT},
    .types = SIZES,
    .attr = {EF_RANDOM_SEEDS, EF_ATTR(box_attrs, min_object_covered, "float", "0.1"), RANGES},
    .attr_size = sizeof(box_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .data_in = 3,
    .shape = box_shape,
    .kernel = STATEFUL_KERNEL(box_run),
    .examples = {"int32[3]{40,60,3} float[1,1,4]{0.1,0.2,0.7,0.8} seed=1 seed2=2"},
};

const ef_op ef_op_SampleDistortedBoundingBoxV2 = {
    EF_NAMED(SampleDistortedBoundingBoxV2),
    .doc = "SampleDistortedBoundingBox with the part of an object that must be covered as an "
           "input.",
    .in = {IN, "min_object_covered: float"},
    .out = {OUT},
    .types = SIZES,
    .attr = {EF_RANDOM_SEEDS, RANGES},
    .attr_size = sizeof(box_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .data_in = 7,
    .shape = box_shape,
    .kernel = STATEFUL_KERNEL(box_v2_run),
    .examples = {"int64[3]{9,8,1} float[1,2,4]{0,0,0.5,0.5,0.2,0.2,1,1} float[]{0.3} seed=3"},
};

const ef_op ef_op_StatelessSampleDistortedBoundingBox = {
    EF_NAMED(StatelessSampleDistortedBoundingBox),
    .doc = "SampleDistortedBoundingBoxV2, determined by `seed` alone.",
    .in = {IN, "min_object_covered: float", "seed: Tseed"},
    .out = {OUT},
    .types = SIZES "; Tseed: {int32, int64}",
    .attr = {RANGES},
    .attr_size = sizeof(box_attrs),
    .traits = EF_NO_GRAD,
    .data_in = 15,
    .shape = box_shape,
    .kernel = {{EF_CPU, EF_ANY, stateless_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[3]{40,60,3} float[1,1,4]{0.1,0.2,0.7,0.8} float[]{0.1} int32[2]{1,2}",
                 "int32[3]{9,30,3} float[1,0,4] float[]{0.5} int64[2]{4,5} "
                 "use_image_if_no_bounding_boxes=true"},
};
