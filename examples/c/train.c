/* A small convolutional network learns to read digits. The digits are drawn by this program: seven
 * strokes, moved, scaled, slanted and blurred at random, with noise. One traced function is the
 * whole training step - forward, loss, gradients, Adam - and runs as one plan. */
#include "example.h"
#include <ef_ops.h>
#include <math.h>

#define TRY(call)                  \
    do {                           \
        ef_status *s_ = (call);    \
        if (s_ != NULL) return s_; \
    } while (0)

enum { SIDE = 20, PIXELS = SIDE * SIDE, BATCH = 64, TEST = 1000, WEIGHTS = 8 };

/* ---- drawing
 * ------------------------------------------------------------------------------------------ */

static uint64_t random_state = 88172645463325252u;
static double uniform(double low, double high) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

/* Ends of the seven strokes in the unit square, and which strokes make which digit. */
static const double stroke[7][4] = {{0, 0, 1, 0},   {1, 0, 1, 0.5}, {1, 0.5, 1, 1},  {0, 1, 1, 1},
                                    {0, 0.5, 0, 1}, {0, 0, 0, 0.5}, {0, 0.5, 1, 0.5}};
static const unsigned char strokes_of[10] = {0x3F, 0x06, 0x5B, 0x4F, 0x66,
                                             0x6D, 0x7D, 0x07, 0x7F, 0x6F};

static double distance(double px, double py, const double *s) {
    double dx = s[2] - s[0], dy = s[3] - s[1], length = dx * dx + dy * dy;
    double t = length > 0 ? ((px - s[0]) * dx + (py - s[1]) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - s[0] - t * dx, py - s[1] - t * dy);
}

static void draw(int digit, float *image) {
    double w = uniform(6, 10), h = uniform(10, 15), x0 = uniform(2, SIDE - 2 - w),
           y0 = uniform(2, SIDE - 2 - h), slant = uniform(-0.25, 0.25), thick = uniform(0.7, 1.5),
           noise = uniform(0, 0.25);
    double at[7][4];
    for (int k = 0; k < 7; k++)
        for (int e = 0; e < 2; e++) {
            double y = y0 + h * stroke[k][2 * e + 1] + uniform(-0.7, 0.7);
            at[k][2 * e] =
                x0 + w * stroke[k][2 * e] + slant * (y0 + h / 2 - y) + uniform(-0.7, 0.7);
            at[k][2 * e + 1] = y;
        }
    for (int p = 0; p < PIXELS; p++) {
        int row = p / SIDE, column = p % SIDE;
        double ink = 0;
        for (int k = 0; k < 7; k++) {
            if (!(strokes_of[digit] >> k & 1)) continue;
            double d = distance(column, row, at[k]) - thick;
            double one = d < 0 ? 1 : exp(-d * d * 2);
            ink = one > ink ? one : ink;
        }
        image[p] = (float)(ink + uniform(-noise, noise));
    }
}

static ef_status *draw_many(int n, ef_tensor *images, ef_tensor *labels) {
    ef_shape is = {.rank = 4, .dim = {n, SIDE, SIDE, 1}}, ls = {.rank = 1, .dim = {n}};
    const void *i, *l;
    TRY(ef_tensor_new(EF_F32, &is, images));
    TRY(ef_tensor_new(EF_I32, &ls, labels));
    TRY(ef_tensor_data(images, &i));
    TRY(ef_tensor_data(labels, &l));
    for (int k = 0; k < n; k++) {
        int digit = (int)uniform(0, 10);
        ((int32_t *)l)[k] = digit;
        draw(digit, (float *)i + (size_t)k * PIXELS);
    }
    return NULL;
}

/* ---- the network
 * --------------------------------------------------------------------------------------- */

typedef struct network {
    ef_tensor var[WEIGHTS], m[WEIGHTS], v[WEIGHTS]; /* handles: weights and Adam's slots */
} network;

/* Intermediate tensors. They are released together, after success and after a failure. */
typedef struct bag {
    ef_tensor t[96];
    int n;
} bag;
static ef_tensor *put(bag *b) { return &b->t[b->n++]; } /* zeroed; every function here uses few */
static void empty(bag *b) {
    while (b->n > 0) ef_tensor_release(&b->t[--b->n]);
}

static ef_status *variable(const ef_shape *s, double scale, ef_tensor *handle) {
    ef_tensor t;
    const void *data;
    TRY(ef_tensor_new(EF_F32, s, &t));
    ef_status *bad = ef_tensor_data(&t, &data);
    for (int64_t k = 0, n = ef_tensor_count(&t); bad == NULL && k < n; k++)
        ((float *)data)[k] = (float)uniform(-scale, scale);
    if (bad == NULL) bad = ef_variable_new(&t, "weight", handle);
    ef_tensor_release(&t);
    return bad;
}

static ef_status *make(network *net) {
    static const struct {
        ef_shape shape;
        double scale;
    } layout[WEIGHTS] = {{{.rank = 4, .dim = {3, 3, 1, 8}}, 0.4},  {{.rank = 1, .dim = {8}}, 0},
                         {{.rank = 4, .dim = {3, 3, 8, 16}}, 0.2}, {{.rank = 1, .dim = {16}}, 0},
                         {{.rank = 2, .dim = {400, 64}}, 0.1},     {{.rank = 1, .dim = {64}}, 0},
                         {{.rank = 2, .dim = {64, 10}}, 0.2},      {{.rank = 1, .dim = {10}}, 0}};
    for (int k = 0; k < WEIGHTS; k++) {
        TRY(variable(&layout[k].shape, layout[k].scale, &net->var[k]));
        TRY(variable(&layout[k].shape, 0, &net->m[k]));
        TRY(variable(&layout[k].shape, 0, &net->v[k]));
    }
    return NULL;
}

static void end(network *net) {
    for (int k = 0; k < WEIGHTS; k++) {
        ef_tensor_release(&net->var[k]);
        ef_tensor_release(&net->m[k]);
        ef_tensor_release(&net->v[k]);
    }
}

static ef_status *conv_block(bag *b, const ef_tensor *x, const ef_tensor *w, const ef_tensor *bias,
                             ef_tensor **out) {
    int64_t one[] = {1, 1, 1, 1}, two[] = {1, 2, 2, 1};
    ef_tensor *y = put(b), *z = put(b), *r = put(b);
    TRY(ef_do_Conv2D(x, w, one, 4, "SAME", NULL, y));
    TRY(ef_do_BiasAdd(y, bias, NULL, z));
    TRY(ef_do_Relu(z, r));
    return ef_do_MaxPool(r, two, 4, two, 4, "VALID", NULL, *out = put(b));
}

static ef_status *dense(bag *b, const ef_tensor *x, const ef_tensor *w, const ef_tensor *bias,
                        ef_tensor **out) {
    ef_tensor *y = put(b);
    TRY(ef_do_MatMul(x, w, NULL, y));
    return ef_do_BiasAdd(y, bias, NULL, *out = put(b));
}

static ef_status *forward(bag *b, const network *net, const ef_tensor *images, ef_tensor **w,
                          ef_tensor **logits) {
    for (int k = 0; k < WEIGHTS; k++)
        TRY(ef_do_ReadVariableOp(&net->var[k], EF_F32, w[k] = put(b)));
    ef_tensor *x, *flat = put(b), *hidden, *active = put(b), *shape = put(b);
    int32_t rows[] = {-1, 400};
    ef_shape two = {.rank = 1, .dim = {2}};
    TRY(conv_block(b, images, w[0], w[1], &x));
    TRY(conv_block(b, x, w[2], w[3], &x));
    TRY(ef_tensor_from(EF_I32, &two, rows, shape));
    TRY(ef_do_Reshape(x, shape, flat));
    TRY(dense(b, flat, w[4], w[5], &hidden));
    TRY(ef_do_Relu(hidden, active));
    return dense(b, active, w[6], w[7], logits);
}

static ef_status *learn(bag *b, network *net, const ef_tensor *in, ef_tensor *out) {
    static const float settings[] = {1e-3f, 0.9f, 0.999f, 1e-7f};
    ef_tensor *w[WEIGHTS], *logits, *loss = put(b), *unused = put(b), *axis = put(b), *s[4];
    int32_t zero = 0;
    TRY(forward(b, net, &in[0], w, &logits));
    TRY(ef_do_SparseSoftmaxCrossEntropyWithLogits(logits, &in[1], loss, unused));
    TRY(ef_tensor_from(EF_I32, NULL, &zero, axis));
    TRY(ef_do_Mean(loss, axis, NULL, out));
    const ef_tensor *by[WEIGHTS];
    for (int k = 0; k < WEIGHTS; k++) by[k] = w[k];
    ef_tensor *grad = &b->t[b->n];
    b->n += WEIGHTS;
    TRY(ef_graph_gradients(out, by, WEIGHTS, grad));
    for (int k = 0; k < 4; k++) TRY(ef_tensor_from(EF_F32, NULL, &settings[k], s[k] = put(b)));
    for (int k = 0; k < WEIGHTS; k++)
        TRY(ef_do_ResourceApplyAdam(&net->var[k], &net->m[k], &net->v[k], &in[2], &in[3], s[0],
                                    s[1], s[2], s[3], &grad[k], NULL));
    return NULL;
}

/* images, labels, beta1^t, beta2^t -> mean loss; updates every weight. */
static ef_status *train_step(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                             int *n_out) {
    (void)n_in;
    (void)max_out;
    bag b = {.n = 0};
    ef_status *s = learn(&b, user, in, out);
    empty(&b);
    *n_out = 1;
    return s;
}

static ef_status *judge(bag *b, const network *net, const ef_tensor *in, ef_tensor *out) {
    ef_tensor *w[WEIGHTS], *logits, *axis = put(b), *zero = put(b), *best = put(b), *right = put(b),
                                    *number = put(b);
    int32_t one_value = 1, zero_value = 0;
    TRY(ef_tensor_from(EF_I32, NULL, &one_value, axis));
    TRY(ef_tensor_from(EF_I32, NULL, &zero_value, zero));
    TRY(forward(b, net, &in[0], w, &logits));
    ef_ArgMax_options options = ef_ArgMax_default();
    options.output_type = EF_I32;
    TRY(ef_do_ArgMax(logits, axis, &options, best));
    TRY(ef_do_Equal(best, &in[1], NULL, right));
    TRY(ef_do_Cast(right, EF_F32, NULL, number));
    return ef_do_Sum(number, zero, NULL, out);
}

/* images, labels -> how many are read right. */
static ef_status *count_right(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int max_out, int *n_out) {
    (void)n_in;
    (void)max_out;
    bag b = {.n = 0};
    ef_status *s = judge(&b, user, in, out);
    empty(&b);
    *n_out = 1;
    return s;
}

/* ---- training
 * ---------------------------------------------------------------------------------------- */

static ef_status *call(ef_function *f, const ef_tensor *const *in, int n_in, float *result) {
    ef_tensor out;
    int n;
    const void *v;
    TRY(ef_function_call(f, in, n_in, &out, 1, &n));
    ef_status *s = ef_tensor_data(&out, &v);
    if (s == NULL) *result = *(const float *)v;
    ef_tensor_release(&out);
    return s;
}

typedef struct progress {
    float loss, us[3]; /* of the first, second and last step */
    bool show;
} progress;

static ef_status *one_step(ef_function *step, int batch, int k, progress *p) {
    bag b = {.n = 0};
    ef_tensor *images = put(&b), *labels = put(&b), *p1 = put(&b), *p2 = put(&b);
    float power1 = powf(0.9f, (float)(k + 1)), power2 = powf(0.999f, (float)(k + 1)), loss = 0;
    const ef_tensor *in[] = {images, labels, p1, p2};
    ef_status *s = draw_many(batch, images, labels);
    if (s == NULL) s = ef_tensor_from(EF_F32, NULL, &power1, p1);
    if (s == NULL) s = ef_tensor_from(EF_F32, NULL, &power2, p2);
    double t = now_us();
    if (s == NULL) s = call(step, in, 4, &loss);
    p->us[k < 2 ? k : 2] = (float)(now_us() - t);
    p->loss = k == 0 ? loss : 0.95f * p->loss + 0.05f * loss;
    empty(&b);
    return s;
}

static ef_status *train(network *net, int steps, int batch, progress *p) {
    ef_function *step;
    TRY(ef_function_new(train_step, net, "train_step", &step));
    ef_status *s = NULL;
    for (int k = 0; k < steps && s == NULL; k++) {
        s = one_step(step, batch, k, p);
        if (p->show && (k % 20 == 19 || k == steps - 1)) {
            printf("\rstep %4d/%d  loss %.4f", k + 1, steps, p->loss);
            fflush(stdout);
        }
    }
    if (p->show) printf("\n");
    ef_function_free(step);
    return s;
}

static ef_status *try_out(network *net, int n, float *right) {
    ef_function *count;
    TRY(ef_function_new(count_right, net, "count_right", &count));
    bag b = {.n = 0};
    const ef_tensor *in[] = {put(&b), put(&b)};
    ef_status *s = draw_many(n, &b.t[0], &b.t[1]);
    if (s == NULL) s = call(count, in, 2, right);
    empty(&b);
    ef_function_free(count);
    return s;
}

#ifndef EXAMPLE_WITHOUT_MAIN /* a test makes every allocation of the training fail in turn */
int main(int argc, char **argv) {
    int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 800;
    network net = {0};
    progress p = {.show = true};
    float right = 0;
    ok(make(&net));
    ok(train(&net, steps, BATCH, &p));
    ok(try_out(&net, TEST, &right));
    printf("%.1f %% of %d digits it has not seen are read right\n", 100 * right / TEST, TEST);
    printf("train, one step: first %.1f us, second %.1f us, thousandth %.1f us\n", p.us[0], p.us[1],
           p.us[2]);
    end(&net);
    return right > 0.97f * TEST || steps < 800 ? 0 : 1;
}
#endif
