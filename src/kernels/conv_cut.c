/* The geometry of a convolution's pieces. A band of rows reads a band of the other image, with
 * padding only where it touches the edge. In channels-last order the rows of an image are
 * contiguous, so that a band of one image is an image too; channels-first images are divided by
 * images only. */
#include "kernels/conv_cut.h"

/* Floating-point operations: of a convolution worth dividing, and bounds for a piece. */
static const double worth_cutting = 4e6, least_piece = 2e6, most_piece = 32e6;
/* Operations needed per byte of the filter that a piece reads, or per byte of a partial gradient
 * that it writes and that is then added. */
static const double per_byte_read = 60, per_byte_added = 300;
enum { WANTED = 8, ROWS = 4 }; /* pieces of a medium convolution; least rows of a band */
enum { MOST_PARTIALS = 16 };   /* filter gradients that are added up */
enum { LONG = 1 << 12 };       /* outputs summed without an intermediate sum */
static const double most_partial_bytes = 64 << 20;

double ef_conv_flops(const ef_conv *c) {
    const ef_window_box *b = &c->box;
    int64_t per_in = b->in_channels / b->groups;
    return 2.0 * (double)b->batch * (double)ef_volume(b->out) * (double)ef_volume(b->kernel) *
           (double)b->out_channels * (double)per_in;
}

static int64_t parts(int64_t n, int64_t size) { return n / size + (n % size != 0); }
static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
static int64_t most(int64_t x, int64_t y) { return x > y ? x : y; }

static int64_t extent(const ef_window_box *b, int d) { /* rows that a window spans */
    return (b->kernel[d] - 1) * b->dilation[d] + 1;
}

/* The outermost axis that is longer than 1: images of one row are divided within the row. */
static int axis_of(const ef_window_box *b) {
    int d = 3 - b->rank;
    while (d < 2 && b->in[d] == 1 && b->out[d] == 1 && b->kernel[d] == 1) d++;
    return d;
}

/* Narrows axis d to the rows [from, to) of the output (or input) and to the rows of the other that
 * they need. *start: the other's first row. False: they need none. */
static bool narrow(ef_window_box *b, int d, bool of_input, int64_t from, int64_t to,
                   int64_t *start) {
    int64_t wide = extent(b, d), before = b->before[d], stride = b->stride[d];
    if (of_input) {
        int64_t first = parts(most(0, from + before - (wide - 1)), stride);
        int64_t end = least(b->out[d], (to - 1 + before) / stride + 1);
        *start = first;
        b->before[d] = before + from - first * stride;
        b->in[d] = to - from, b->out[d] = end - first;
    } else {
        int64_t first = most(0, from * stride - before);
        int64_t end = least(b->in[d], (to - 1) * stride - before + wide);
        *start = first;
        b->before[d] = most(0, before - from * stride);
        b->in[d] = end - first, b->out[d] = to - from;
    }
    if (b->in[d] <= 0 || b->out[d] <= 0) return false;
    b->after[d] = (b->out[d] - 1) * stride + wide - b->in[d] - b->before[d];
    return b->before[d] >= 0 && b->after[d] >= 0;
}

static bool piece(const ef_conv *c, const ef_conv_cut *cut, int64_t at, ef_conv_piece *p) {
    const ef_window_box *b = &c->box;
    bool of_input = c->kind == EF_CONV_INPUT, of_filter = c->kind == EF_CONV_FILTER;
    int64_t image = at / cut->n_bands * cut->images, band = at % cut->n_bands;
    ef_steps in = ef_steps_in(b), out = ef_steps_out(b);
    int64_t at_in = image * in.batch, at_out = image * out.batch;
    p->conv = *c;
    p->conv.box.batch = least(cut->images, b->batch - image);
    if (cut->n_bands > 1) {
        int d = axis_of(b);
        int64_t rows = of_input ? b->in[d] : b->out[d], from = band * cut->rows, start = 0;
        if (!narrow(&p->conv.box, d, of_input, from, least(rows, from + cut->rows), &start))
            return false;
        at_in += (of_input ? from : start) * in.axis[d];
        at_out += (of_input ? start : from) * out.axis[d];
    }
    const ef_window_box *q = &p->conv.box;
    p->a = of_input ? at_out : at_in;
    p->b = of_filter ? at_out : 0;
    p->out = of_filter ? 0 : of_input ? at_in : at_out;
    p->n_out = of_filter  ? 0
               : of_input ? q->batch * q->in_channels * ef_volume(q->in)
                          : q->batch * q->out_channels * ef_volume(q->out);
    return true;
}

void ef_conv_piece_of(const ef_conv *c, const ef_conv_cut *cut, int64_t at, ef_conv_piece *p) {
    (void)piece(c, cut, at, p);
}

/* Divides pieces of images further into bands of rows, unless some band would be empty. */
static void cut_rows(const ef_conv *c, int64_t bands, ef_conv_cut *cut) {
    const ef_window_box *b = &c->box;
    int d = axis_of(b);
    bool of_input = c->kind == EF_CONV_INPUT;
    if (b->channels_first) return;
    int64_t all = of_input ? b->in[d] : b->out[d];
    int64_t rows = most(parts(all, bands), most(ROWS, parts(extent(b, d), b->stride[d])));
    if (of_input) rows = parts(rows, b->stride[d]) * b->stride[d];
    if (rows >= all) return;
    ef_conv_cut with = *cut;
    with.rows = rows;
    with.n_bands = parts(all, rows);
    ef_conv_piece p;
    for (int64_t k = 0; k < with.n_bands; k++)
        if (!piece(c, &with, k, &p)) return;
    *cut = with;
}

/* For a filter's gradient oneDNN sums a whole row of the output at a time, for depthwise ones a
 * whole image. If that is long it is divided, so that the sums keep their precision. */
static void cut_sums(const ef_conv *c, double bytes, ef_conv_cut *cut) {
    const ef_window_box *b = &c->box;
    bool depthwise = b->groups == b->in_channels, line = axis_of(b) == 2;
    int64_t sum = depthwise || line ? ef_volume(b->out) : 0;
    if (c->kind != EF_CONV_FILTER || sum <= LONG) return;
    double each = (double)b->batch * (double)sum * bytes / most_partial_bytes;
    int64_t bands = parts(sum, each > LONG ? (int64_t)each : LONG);
    ef_conv_cut with = {1, 0, b->batch, 1};
    cut_rows(c, bands, &with);
    if (with.n_bands > cut->n_bands) *cut = with;
}

ef_conv_cut ef_conv_cut_of(const ef_conv *c) {
    const ef_window_box *b = &c->box;
    ef_conv_cut cut = {b->batch, 0, 1, 1};
    double work = ef_conv_flops(c), each = work / WANTED;
    if (work < worth_cutting || b->batch == 0) return cut;
    each = each < least_piece ? least_piece : each > most_piece ? most_piece : each;
    bool of_filter = c->kind == EF_CONV_FILTER;
    int64_t channels = b->in_channels / b->groups;
    double bytes =
        (double)ef_volume(b->kernel) * (double)b->out_channels * (double)channels * sizeof(float);
    double least_each = bytes * (of_filter ? per_byte_added : per_byte_read);
    if (of_filter && least_each < work / MOST_PARTIALS) least_each = work / MOST_PARTIALS;
    if (each < least_each) each = least_each;
    if (each > work / 2) each = work / 2;
    int64_t wanted = (int64_t)(work / each);
    cut.images = parts(b->batch, least(wanted, b->batch));
    cut.n_images = parts(b->batch, cut.images);
    if (cut.images == 1 && wanted > b->batch) cut_rows(c, parts(wanted, b->batch), &cut);
    cut_sums(c, bytes, &cut);
    return cut;
}
