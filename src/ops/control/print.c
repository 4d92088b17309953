/* Assert, CheckNumerics, Print and related ops, which check or print values. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/control/summary.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* ---- Assert -----------------------------------------------------------------------------------
 */

typedef struct {
    int64_t summarize;
} assert_attrs;

static ef_status *assert_shape(ef_infer *i) { return ef_need_rank(i, 0, 0); }

static ef_status *text_status(ef_text *t) { return t->failed ? ef_no_memory(t->n) : NULL; }

static ef_status *assert_run(const ef_call *c) {
    const assert_attrs *a = c->attrs;
    ef_text t = {0};
    if (*(const bool *)c->in[0]->data) return NULL;
    for (int k = 1; k < c->n_in; k++) {
        ef_text_add(&t, "%s[", k > 1 ? " " : "");
        ef_summary_short(&t, c->in[k], a->summarize);
        ef_text_add(&t, "]");
    }
    ef_status *s = text_status(&t);
    if (s == NULL) s = ef_error(EF_INVALID, "assertion failed: %s", t.at ? t.at : "");
    ef_text_free(&t);
    return s;
}

const ef_op ef_op_Assert = {
    EF_NAMED(Assert),
    .doc = "Fails with a message that shows `data`, unless `condition` is true.",
    .in = {"condition: bool", "data: T"},
    .types = "T: list(type) >= 1",
    .attr = {EF_ATTR(assert_attrs, summarize, "int", "3")},
    .attr_size = sizeof(assert_attrs),
    .traits = EF_NO_GRAD | EF_STATEFUL | EF_EFFECT,
    .shape = assert_shape,
    .kernel = EF_ANY_KERNEL(assert_run),
    .examples = {"bool[]{1} float[2,3] string[1]{x}"},
};

/* ---- CheckNumerics ----------------------------------------------------------------------------
 */

typedef struct {
    ef_attr_text message;
} check_attrs;
enum { HAS_NAN = 1, HAS_PLUS = 2, HAS_MINUS = 4 };

#define SCAN(T, LOAD) \
    for (int64_t k = 0; k < n; k++) bad |= !isfinite(LOAD(((const T *)p)[k]));
#define ITSELF(v) (v)

static int find_bad(ef_dtype t, const void *p, int64_t n) {
    int bad = 0, found = 0;
    switch (t) {
    case EF_F32: SCAN(float, ITSELF) break;
    case EF_F64: SCAN(double, ITSELF) break;
    case EF_F16: SCAN(ef_f16, ef_f16_float) break;
    default: SCAN(ef_bf16, ef_bf16_float) break;
    }
    for (int64_t k = 0; bad && k < n; k++) {
        double v = ef_element_double(t, p, k);
        if (isnan(v)) found |= HAS_NAN;
        if (isinf(v)) found |= v > 0 ? HAS_PLUS : HAS_MINUS;
    }
    return found;
}

static const char *bad_words(int found, bool signs) {
    static const char *const words[8] = {
        "",     "NaN",          "+Inf",          "+Inf and NaN",
        "-Inf", "-Inf and NaN", "-Inf and +Inf", "-Inf, +Inf, and NaN"};
    if (signs) return words[found];
    return found == HAS_NAN ? "NaN" : found & HAS_NAN ? "Inf and NaN" : "Inf";
}

static ef_status *check_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int found = find_bad((ef_dtype)x->dtype, x->data, ef_count(x));
    if (found == 0) return ef_out_same(c, 0, x);
    return ef_error(EF_INVALID, "%s : Tensor had %s values",
                    ((const check_attrs *)c->attrs)->message.at,
                    bad_words(found, c->op->id == EF_OP_CheckNumericsV2));
}

static ef_status *check_grad(ef_grad *g) {
    static const char lead[] = "Not a number (NaN) or infinity (Inf) values detected in gradient. ";
    const ef_attr_text *m = &((const check_attrs *)g->attrs)->message;
    char *text = g->b->memory(g->b, sizeof lead + m->n);
    if (text == NULL) return ef_no_memory(sizeof lead + m->n);
    memcpy(text, lead, sizeof lead - 1);
    memcpy(text + sizeof lead - 1, m->at, m->n);
    text[sizeof lead - 1 + m->n] = 0;
    ef_attr_value set[] = {EF_SET_STRING("message", text)};
    g->din[0] = ef_emit_set(g->b, g->op->name, set, 1, 1, g->dout[0]);
    return NULL;
}

#define CHECK(N, words)                                           \
    const ef_op ef_op_##N = {                                     \
        EF_NAMED(N),                                              \
        .doc = words,                                             \
        .in = {"tensor: T"},                                      \
        .out = {"output: T"},                                     \
        .types = "T: {bfloat16, half, float, double}",            \
        .attr = {EF_ATTR(check_attrs, message, "string", NULL)},  \
        .attr_size = sizeof(check_attrs),                         \
        .traits = EF_STATEFUL | EF_EFFECT | EF_MAY_ALIAS_0,       \
        .keeps = EF_KEEP_NONE,                                    \
        .shape = ef_shape_same,                                   \
        .kernel = EF_ANY_KERNEL(check_run),                       \
        .grad = check_grad,                                       \
        .examples = {"T[2,3] message='x'", "float[] message=''"}, \
    };
CHECK(CheckNumerics, "Returns its input; fails if it contains an infinity or a NaN.")
CHECK(CheckNumericsV2,
      "Returns its input; fails if it contains an infinity or a NaN, and says which.")

/* ---- Print ------------------------------------------------------------------------------------
 */

typedef struct {
    ef_attr_text message;
    int64_t first_n, summarize;
} print_attrs;

static ef_status *print_shape(ef_infer *i) {
    i->out[0].shape = i->in[0].shape;
    return NULL;
}

/* Counts the calls of one plan step, for first_n. */
static ef_status *print_prepare(const ef_call *c, void **state) {
    (void)c;
    atomic_llong *count = ef_malloc(sizeof *count);
    if (count == NULL) return ef_no_memory(sizeof *count);
    atomic_init(count, 0);
    *state = count;
    return NULL;
}
static void print_release(void *state) { ef_free(state); }

static ef_status *print_run(const ef_call *c) {
    const print_attrs *a = c->attrs;
    ef_text t = {0};
    long long calls = c->state == NULL ? 0 : atomic_fetch_add((atomic_llong *)c->state, 1);
    if (a->first_n < 0 || calls < a->first_n) {
        ef_text_bytes(&t, a->message.at, a->message.n);
        for (int k = 1; k < c->n_in; k++) {
            ef_text_add(&t, "[");
            ef_summary_short(&t, c->in[k], a->summarize);
            ef_text_add(&t, "]");
        }
        ef_text_add(&t, "\n");
        ef_status *s = text_status(&t);
        if (s == NULL) s = ef_print_hook("stderr", t.at, t.n);
        ef_text_free(&t);
        EF_TRY(s);
    }
    return ef_out_same(c, 0, c->in[0]);
}

static ef_status *print_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    return NULL;
}

const ef_op ef_op_Print = {
    EF_NAMED(Print),
    .doc = "Returns its input, after printing `message` and the first elements of each `data`.",
    .in = {"input: T", "data: U"},
    .out = {"output: T"},
    .types = "T: type; U: list(type) >= 0",
    .attr = {EF_ATTR(print_attrs, message, "string", "''"),
             EF_ATTR(print_attrs, first_n, "int", "-1"),
             EF_ATTR(print_attrs, summarize, "int", "3")},
    .attr_size = sizeof(print_attrs),
    .traits = EF_STATEFUL | EF_EFFECT,
    .keeps = EF_KEEP_NONE,
    .shape = print_shape,
    .kernel = {{EF_CPU, EF_ANY, print_run, NULL, NULL, print_prepare, print_release}},
    .grad = print_grad,
    .examples = {"float[2] int32[2] string[]{a} first_n=0"},
};

typedef struct {
    ef_attr_text output_stream, end;
} print2_attrs;

static ef_status *print2_run(const ef_call *c) {
    static const char *const streams[] = {"stdout", "stderr", "log(info)", "log(warning)",
                                          "log(error)"};
    const print2_attrs *a = c->attrs;
    const ef_str *s = c->in[0]->data;
    bool good = strncmp(a->output_stream.at, "file://", 7) == 0;
    for (size_t k = 0; k < sizeof streams / sizeof *streams; k++)
        good = good || strcmp(a->output_stream.at, streams[k]) == 0;
    if (!good)
        return ef_error(EF_INVALID,
                        "PrintV2: Unknown output stream: %s, Valid streams are: stdout stderr "
                        "log(info) log(warning) log(error) file://...",
                        a->output_stream.at);
    ef_text t = {0};
    ef_text_bytes(&t, s->at, s->n);
    ef_text_bytes(&t, a->end.at, a->end.n);
    ef_status *failed = text_status(&t);
    if (failed == NULL && t.n > 0) failed = ef_print_hook(a->output_stream.at, t.at, t.n);
    ef_text_free(&t);
    return failed;
}

static ef_status *print2_shape(ef_infer *i) { return ef_need_rank(i, 0, 0); }

const ef_op ef_op_PrintV2 = {
    EF_NAMED(PrintV2),
    .doc = "Prints a string and `end` to a stream.",
    .in = {"input: string"},
    .attr = {EF_ATTR(print2_attrs, output_stream, "string", "'stderr'"),
             EF_ATTR(print2_attrs, end, "string", "'\\n'")},
    .attr_size = sizeof(print2_attrs),
    .traits = EF_NO_GRAD | EF_STATEFUL | EF_EFFECT,
    .shape = print2_shape,
    .kernel = EF_ANY_KERNEL(print2_run),
    .examples = {"string[]{} end=''"},
};

/* ---- StringFormat -----------------------------------------------------------------------------
 */

typedef struct {
    ef_attr_text template, placeholder;
    int64_t summarize;
} format_attrs;

static const char *find(const char *at, const char *end, const ef_attr_text *what) {
    if (what->n == 0) return at < end ? at : NULL;
    for (; at + what->n <= end; at++)
        if (memcmp(at, what->at, what->n) == 0) return at;
    return NULL;
}

static ef_status *format_run(const ef_call *c) {
    const format_attrs *a = c->attrs;
    const char *at = a->template.at, *end = at + a->template.n, *hit;
    ef_text t = {0};
    int holes = 0;
    while ((hit = find(at, end, &a->placeholder)) != NULL) {
        ef_text_bytes(&t, at, (size_t)(hit - at));
        if (holes < c->n_in) ef_summary_full(&t, c->in[holes], a->summarize);
        holes++;
        at = hit + (a->placeholder.n > 0 ? a->placeholder.n : 1);
    }
    if (at < end) ef_text_bytes(&t, at, (size_t)(end - at));
    ef_status *s = text_status(&t);
    if (s == NULL && holes != c->n_in)
        s = ef_error(EF_INVALID,
                     "StringFormat: num placeholders in template and num inputs must match: %d vs. "
                     "%d",
                     holes, c->n_in);
    ef_shape scalar = ef_scalar_shape();
    if (s == NULL) s = ef_out_alloc(c, 0, &scalar);
    if (s == NULL) s = ef_str_set(c->out[0]->data, t.at, t.n);
    ef_text_free(&t);
    return s;
}

const ef_op ef_op_StringFormat = {
    EF_NAMED(StringFormat),
    .doc = "`template` with its placeholders replaced by the inputs as text.",
    .in = {"inputs: T"},
    .out = {"output: string"},
    .types = "T: list(type) >= 0",
    .attr = {{"template", "string", "'%s'", offsetof(format_attrs, template)},
             EF_ATTR(format_attrs, placeholder, "string", "'%s'"),
             EF_ATTR(format_attrs, summarize, "int", "3")},
    .attr_size = sizeof(format_attrs),
    .traits = EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(format_run),
    .examples = {"float[2,3] string[]{ab} template='a{}b{}' placeholder='{}'",
                 "int32[9] template='%s'", "template='x'"},
};

/* ---- Timestamp --------------------------------------------------------------------------------
 */

static ef_status *timestamp_run(const ef_call *c) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *(double *)c->out[0]->data = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    return NULL;
}

const ef_op ef_op_Timestamp = {
    EF_NAMED(Timestamp),      .doc = "Seconds since the epoch.",
    .out = {"ts: double"},    .traits = EF_NO_GRAD | EF_STATEFUL,
    .shape = ef_shape_scalar, .kernel = EF_ANY_KERNEL(timestamp_run),
};
