/* Convolutions of 16-bit floats: converted, computed in float, rounded once. */
#include "kernels/conv.h"
#include "kernels/half.h"
#include "tensor/scratch.h"

static int64_t count_in(const ef_window_box *b) {
    return b->batch * b->in_channels * ef_volume(b->in);
}
static int64_t count_out(const ef_window_box *b) {
    return b->batch * b->out_channels * ef_volume(b->out);
}
static int64_t count_filter(const ef_window_box *b) {
    return ef_volume(b->kernel) * (b->in_channels / b->groups) * b->out_channels;
}

ef_status *ef_conv_widened(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle,
                           ef_conv_fn *run) {
    if (!ef_dtype_in(t, EF_BIT(F16) | EF_BIT(BF16))) return run(c, t, d, handle);
    const ef_window_box *b = &c->box;
    int64_t x = count_in(b), y = count_out(b), w = count_filter(b);
    int64_t na = c->kind == EF_CONV_INPUT ? y : x, nb = c->kind == EF_CONV_FILTER ? y : w;
    int64_t no = c->kind == EF_CONV_INPUT ? x : c->kind == EF_CONV_FILTER ? w : y;
    int64_t nbias = c->has_bias ? b->out_channels : 0, nadd = c->has_add ? y : 0;
    size_t bytes = (size_t)(na + nb + no + nbias + nadd + 5 * 16) * sizeof(float) + 64;
    ef_conv_data *wide = ef_scratch_take(bytes); /* followed by the floats */
    if (wide == NULL) return ef_no_memory(bytes);
    float *a = (float *)wide + 16, *f = a + (na + 15) / 16 * 16, *o = f + (nb + 15) / 16 * 16;
    float *bias = o + (no + 15) / 16 * 16, *add = bias + (nbias + 15) / 16 * 16;
    ef_widen(t, a, d->a, na);
    ef_widen(t, f, d->b, nb);
    if (nbias > 0) ef_widen(t, bias, d->bias, nbias);
    if (nadd > 0) ef_widen(t, add, d->add, nadd);
    *wide = (ef_conv_data){a, f, bias, add, o};
    ef_status *s = run(c, EF_F32, wide, handle);
    if (s == NULL) ef_narrow(t, d->out, o, no);
    ef_scratch_end(wide);
    return s;
}
