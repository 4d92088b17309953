/* ExtractImagePatches: the windows of an image, each flattened into the channels. */
#include "base/pool.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include <string.h>

typedef struct {
    ef_ints ksizes, strides, rates;
    int padding;
} patch_attrs;

static ef_status *check_lists(const ef_op *op, const patch_attrs *a) {
    const ef_ints *lists[3] = {&a->ksizes, &a->strides, &a->rates};
    static const char *const names[3] = {"ksizes", "strides", "rates"};
    for (int k = 0; k < 3; k++) {
        const ef_ints *l = lists[k];
        bool good = l->n == 4 && l->at[0] == 1 && l->at[3] == 1;
        for (int d = 1; good && d < 3; d++) good = l->at[d] > 0 && l->at[d] <= INT32_MAX;
        if (!good)
            return ef_error(EF_INVALID,
                            "%s: %s must be a list of 4 positive numbers of the form [1, rows, "
                            "columns, 1]",
                            op->name, names[k]);
    }
    return NULL;
}

/* Output size and padding before along axis d of a known image. */
static ef_status *patch_window(const ef_op *op, const patch_attrs *a, int64_t size, int d,
                               int64_t *out, int64_t *before) {
    int64_t after;
    return ef_window(op, size, a->ksizes.at[d], a->rates.at[d], a->strides.at[d], a->padding, 0, 0,
                     out, before, &after);
}

static ef_status *patch_shape(ef_infer *i) {
    const patch_attrs *a = i->attrs;
    const ef_shape *x = &i->in[0].shape;
    EF_TRY(check_lists(i->op, a));
    EF_TRY(ef_need_rank(i, 0, 4));
    ef_shape out = ef_shape_of_rank(4);
    if (x->rank >= 0) {
        int64_t before, taps = a->ksizes.at[1] * a->ksizes.at[2];
        out.dim[0] = x->dim[0];
        for (int d = 1; d < 3; d++)
            EF_TRY(patch_window(i->op, a, x->dim[d], d, &out.dim[d], &before));
        out.dim[3] = x->dim[3] > INT64_MAX / 16 / taps ? INT64_MAX : ef_dim_mul(x->dim[3], taps);
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

typedef struct {
    const patch_attrs *a;
    const ef_tensor *x, *o;
    size_t size;
    int64_t top, left;
} job;

/* Output rows [begin, end), numbered through the whole batch. */
static void patch_rows(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const patch_attrs *a = j->a;
    int64_t rows = j->x->dim[1], cols = j->x->dim[2];
    size_t pixel = (size_t)j->x->dim[3] * j->size;
    char *to = (char *)j->o->data + (size_t)(begin * j->o->dim[2] * j->o->dim[3]) * j->size;
    for (int64_t r = begin; r < end; r++) {
        int64_t image = r / j->o->dim[1], y0 = r % j->o->dim[1] * a->strides.at[1] - j->top;
        const char *from = (const char *)j->x->data + (size_t)(image * rows * cols) * pixel;
        for (int64_t c = 0; c < j->o->dim[2]; c++) {
            int64_t x0 = c * a->strides.at[2] - j->left;
            for (int64_t ky = 0; ky < a->ksizes.at[1]; ky++)
                for (int64_t kx = 0; kx < a->ksizes.at[2]; kx++, to += pixel) {
                    int64_t y = y0 + ky * a->rates.at[1], x = x0 + kx * a->rates.at[2];
                    if (y >= 0 && y < rows && x >= 0 && x < cols)
                        memcpy(to, from + (size_t)(y * cols + x) * pixel, pixel);
                    else
                        memset(to, 0, pixel);
                }
        }
    }
}

static ef_status *patch_run(const ef_call *c) {
    const patch_attrs *a = c->attrs;
    ef_tensor *o = c->out[0];
    int64_t size;
    job j = {.a = a, .x = c->in[0], .o = o, .size = ef_dtype_size((ef_dtype)o->dtype)};
    EF_TRY(check_lists(c->op, a));
    EF_TRY(patch_window(c->op, a, j.x->dim[1], 1, &size, &j.top));
    EF_TRY(patch_window(c->op, a, j.x->dim[2], 2, &size, &j.left));
    if (ef_count(o) == 0) return NULL;
    ef_parallel(o->dim[0] * o->dim[1], 1, (double)(o->dim[2] * o->dim[3]) * (double)j.size * 0.2,
                patch_rows, &j);
    return NULL;
}

/* The gradient of each window position goes to the pixel it came from. Extracting patches of the
 * pixel numbers gives that pixel; 0 is the padding. Pixels are rows of batch x channels. */
static ef_status *patch_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I64),
             *one = ef_const_ints(b, EF_I64, 1, (int64_t[]){1});
    ef_value *batch = ef_shape_part(b, shape, 0, 1), *image = ef_shape_part(b, shape, 1, 3);
    ef_value *depth = ef_shape_part(b, shape, 3, 4), *pixels = ef_shape_product(b, image);
    ef_value *scalar = ef_const_ints(b, EF_I32, 0, NULL),
             *flat = ef_const_ints(b, EF_I32, 1, (int64_t[]){-1});
    ef_value *step = ef_const_number(b, EF_I64, 1);
    ef_value *end = ef_reshape(b, ef_add(b, pixels, one), scalar);
    ef_value *number = ef_reshape(b, ef_emit(b, "Range", 3, step, end, step),
                                  ef_shape_join(b, 3, one, image, one));
    ef_value *source = ef_emit_like(g, "ExtractImagePatches", NULL, 0, 1, number);
    ef_value *taps = ef_shape_product(b, ef_shape_part(b, ef_shape_value(b, source, EF_I64), 1, 4));
    ef_value *dy = ef_reshape(b, g->dout[0], ef_shape_join(b, 3, batch, taps, depth));
    ef_value *rows = ef_reshape(b, ef_transpose(b, dy, 3, (int64_t[]){1, 0, 2}),
                                ef_shape_join(b, 3, taps, batch, depth));
    ef_value *sums = ef_emit(b, "UnsortedSegmentSum", 3, rows, ef_reshape(b, source, flat), end);
    ef_value *inside =
        ef_emit(b, "Slice", 3, sums, ef_const_ints(b, EF_I64, 3, (int64_t[]){1, 0, 0}),
                ef_const_ints(b, EF_I64, 3, (int64_t[]){-1, -1, -1}));
    g->din[0] = ef_reshape(b, ef_transpose(b, inside, 3, (int64_t[]){1, 0, 2}), shape);
    return NULL;
}

const ef_op ef_op_ExtractImagePatches = {
    EF_NAMED(ExtractImagePatches),
    .doc = "For each window position of `images`, all its pixels one after the other in the "
           "channels.",
    .in = {"images: T"},
    .out = {"patches: T"},
    .types = "T: " EF_COMPUTED_TYPES,
    .attr = {EF_ATTR(patch_attrs, ksizes, "list(int) >= 4", NULL),
             EF_ATTR(patch_attrs, strides, "list(int) >= 4", NULL),
             EF_ATTR(patch_attrs, rates, "list(int) >= 4", NULL),
             EF_ATTR(patch_attrs, padding, "{'SAME', 'VALID'}", NULL)},
    .attr_size = sizeof(patch_attrs),
    .keeps = EF_KEEP_NONE,
    .shape = patch_shape,
    .kernel = EF_ANY_KERNEL(patch_run),
    .grad = patch_grad,
    .examples =
        {"float[2,4,5,2] ksizes=[1,2,3,1] strides=[1,1,2,1] rates=[1,1,1,1] padding='VALID'",
         "double[1,5,4,1] ksizes=[1,3,2,1] strides=[1,2,1,1] rates=[1,2,1,1] padding='SAME'",
         "int32[0,3,3,1] ksizes=[1,2,2,1] strides=[1,1,1,1] rates=[1,1,1,1] padding='SAME'"},
};
