/* Every op with invalid and extreme input: examples from the records with shapes, dtypes, values,
 * attributes and counts changed at random. An op must always return a status or a result; and if it
 * ran, shape inference with less information must agree with the result.
 *
 *   ops_fuzz SECONDS SEED [CASE]     CASE: only that one, loudly
 * EF_LOG=fuzz prints every case before it runs. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/option.h"
#include "device/memory.h"
#include "ops/example.h"
#include "ops/run.h"
#include "ops/signature.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OUT = 64, LARGE = 1 << 22 };

static uint64_t state;
static char about[400]; /* the case at work */
static int findings;

static uint64_t draw(uint64_t n) { /* below n */
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % n;
}
static bool chance(unsigned percent) { return draw(100) < percent; }

static void finding(const char *what) {
    findings++;
    printf("%s\n    %s\n", about, what);
    fflush(stdout);
}

/* ---- absurd values -----------------------------------------------------------------------------
 */

static int64_t absurd_int(void) {
    static const int64_t set[] = {0,
                                  -1,
                                  1,
                                  2,
                                  -2,
                                  3,
                                  7,
                                  8,
                                  -8,
                                  9,
                                  100,
                                  -100,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  1 << 20,
                                  65536,
                                  INT32_MAX + INT64_C(1),
                                  INT64_C(1) << 40,
                                  -(INT64_C(1) << 40)};
    return chance(50) ? (int64_t)draw(6) - 2 : set[draw(sizeof set / sizeof *set)];
}

static double absurd_float(void) {
    static const double set[] = {0.0,   -0.0,     1,         -1,  0.5,          1e-30, 1e30, -1e30,
                                 1e300, INFINITY, -INFINITY, NAN, 2147483648.0, -9e18, 1e19};
    return set[draw(sizeof set / sizeof *set)];
}

static ef_dtype any_dtype(void) {
    for (;;) {
        ef_dtype t = (ef_dtype)draw(EF_DTYPES);
        if (ef_dtype_in(t, EF_PLAIN | EF_BIT(STRING))) return t;
    }
}

static void absurd_shape(ef_shape *s, bool unknown) {
    static const int64_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 16};
    int64_t n = 1;
    *s = (ef_shape){.rank = (int32_t)draw(chance(10) ? EF_MAX_RANK + 1 : 5)};
    for (int d = 0; d < s->rank; d++) {
        s->dim[d] = sizes[draw(9)];
        if (n * s->dim[d] > 4096) s->dim[d] = 1;
        n *= s->dim[d];
        if (unknown && chance(30)) s->dim[d] = EF_DIM_UNKNOWN;
    }
    if (unknown && chance(20)) s->rank = -1;
}

static void absurd_elements(ef_tensor *t) {
    ef_dtype d = (ef_dtype)t->dtype;
    int64_t n = ef_count(t);
    for (int64_t i = 0; i < n; i++) {
        if (!chance(40)) continue;
        if (d == EF_I64 || d == EF_U64) {
            int64_t v = absurd_int();
            memcpy((char *)t->data + 8 * i, &v, 8);
        } else if (ef_dtype_in(d, EF_INTS)) {
            int64_t v = absurd_int();
            memcpy((char *)t->data + (size_t)i * ef_dtype_size(d), &v, ef_dtype_size(d));
        } else if (ef_dtype_in(d, EF_FLOATS | EF_COMPLEX)) {
            double v = absurd_float();
            ef_element_set(d, t->data, i, d == EF_F64 || d == EF_C128 ? v : (float)v);
        }
    }
}

/* ---- changing an example -----------------------------------------------------------------------
 */

static void replace(ef_tensor *t, ef_dtype dtype, const ef_shape *s) {
    ef_tensor fresh = {0};
    ef_status *failed = ef_tensor_alloc(&fresh, dtype, s);
    if (failed) {
        ef_status_free(failed);
        return;
    }
    if (ef_dtype_in(dtype, EF_PLAIN)) {
        int64_t n = ef_count(&fresh);
        for (int64_t i = 0; i < n; i++) ef_element_set(dtype, fresh.data, i, (double)draw(4));
    }
    ef_tensor_release(t);
    ef_tensor_move(t, &fresh);
}

static void change_input(ef_example *e) {
    if (e->n_in == 0) return;
    ef_tensor *t = &e->in[draw((uint64_t)e->n_in)];
    bool plain = ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN | EF_BIT(STRING));
    ef_shape s = ef_shape_from(t);
    switch (draw(10)) {
    case 0:
        if (plain) replace(t, any_dtype(), &s);
        break;
    case 1: /* one dim another */
        if (s.rank > 0) s.dim[draw((uint64_t)s.rank)] = (int64_t)draw(5);
        if (plain && ef_shape_count(&s) < 100000) replace(t, (ef_dtype)t->dtype, &s);
        break;
    case 2:
    case 3:
        absurd_shape(&s, false);
        if (s.rank > EF_MAX_RANK) s.rank = EF_MAX_RANK;
        if (plain) replace(t, (ef_dtype)t->dtype, &s);
        break;
    default:
        if (ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN)) absurd_elements(t);
    }
}

static void change_count(ef_example *e) {
    if (chance(50) && e->n_in > 0) {
        ef_tensor_release(&e->in[--e->n_in]);
    } else if (e->n_in > 0 && e->n_in < EF_EXAMPLE_MAX_IN) {
        ef_tensor_copy(&e->in[e->n_in], &e->in[draw((uint64_t)e->n_in)]);
        e->n_in++;
    }
}

typedef struct list_room {
    int64_t ints[16];
    float floats[16];
    bool bools[16];
    ef_dtype types[16];
    ef_shape shape;
} list_room;

/* An attribute changed beyond recognition; functions, tensors and strings stay. */
static void change_attr(const ef_op *op, int k, ef_attr_value *v, list_room *r) {
    static const char *const words[] = {"SAME", "VALID", "EXPLICIT", "NHWC",
                                        "NCHW", "",      "nonsense"};
    if (v->kind >= EF_ATTR_INTS && v->kind <= EF_ATTR_TYPES && chance(50)) v->n = (int)draw(10);
    switch (v->kind) {
    case EF_ATTR_BOOL: v->as.b = chance(50); break;
    case EF_ATTR_INT: v->as.i = absurd_int(); break;
    case EF_ATTR_FLOAT: v->as.f = absurd_float(); break;
    case EF_ATTR_STRING:
        if (ef_op_signature(op)->attr[k].choice) v->as.s = words[draw(7)];
        break;
    case EF_ATTR_TYPE: v->as.type = (ef_dtype)draw(EF_DTYPES + 2); break;
    case EF_ATTR_SHAPE:
        absurd_shape(&r->shape, true);
        v->as.shape = &r->shape;
        break;
    case EF_ATTR_INTS:
        for (int j = 0; j < v->n && j < 16; j++) r->ints[j] = absurd_int();
        v->as.ints = r->ints;
        break;
    case EF_ATTR_FLOATS:
        for (int j = 0; j < v->n && j < 16; j++) r->floats[j] = (float)absurd_float();
        v->as.floats = r->floats;
        break;
    case EF_ATTR_BOOLS:
        for (int j = 0; j < v->n && j < 16; j++) r->bools[j] = chance(50);
        v->as.bools = r->bools;
        break;
    case EF_ATTR_TYPES:
        for (int j = 0; j < v->n && j < 16; j++) r->types[j] = any_dtype();
        v->as.types = r->types;
        break;
    default: break;
    }
}

/* Makes new attributes with some values changed; if they are rejected, the old ones stay. */
static void change_attrs(const ef_op *op, ef_example *e) {
    const ef_signature *s = ef_op_signature(op);
    ef_attr_value set[EF_MAX_ATTRS];
    list_room room[EF_MAX_ATTRS];
    const ef_attrs *made = NULL;
    for (int k = 0; k < s->n_attrs; k++) {
        ef_status *failed = ef_attrs_get(op, ef_attrs_fields(e->attrs), op->attr[k].name, &set[k]);
        if (failed) {
            finding(ef_status_message(failed));
            ef_status_free(failed);
            return;
        }
        if (set[k].n > 16) return;
        if (chance(40)) change_attr(op, k, &set[k], &room[k]);
    }
    ef_status *failed = ef_attrs_make(op, set, s->n_attrs, &made);
    if (!failed) {
        ef_attrs_unref(e->attrs);
        e->attrs = made;
    }
    ef_status_free(failed);
}

/* ---- one case ----------------------------------------------------------------------------------
 */

/* Infers the outputs; returns whether the call should run: its results have a moderate size. */
static bool moderate(const ef_fact *out, int n) {
    for (int k = 0; k < n; k++) {
        const ef_shape *s = &out[k].shape;
        if (s->rank < -1 || s->rank > EF_MAX_RANK) {
            finding("inference made a shape of an impossible rank");
            return false;
        }
        for (int d = 0; d < s->rank; d++)
            if (s->dim[d] < EF_DIM_UNKNOWN) {
                finding("inference made a negative size out of known ones");
                return false;
            }
        if (ef_shape_count(s) == -2 || ef_shape_count(s) > LARGE) return false;
    }
    return true;
}

static void check_vague(const ef_op *op, const ef_example *e, const ef_tensor *out, int n_out) {
    ef_fact in[EF_EXAMPLE_MAX_IN], said[MAX_OUT], handle[EF_EXAMPLE_MAX_IN];
    int n = 0;
    for (int k = 0; k < e->n_in; k++) {
        ef_fact_of(&e->in[k], &in[k], &handle[k]);
        if (chance(70)) in[k].value = NULL;
        if (chance(30)) in[k].handle = NULL;
        if (in[k].value) continue;
        if (chance(20)) in[k].shape.rank = -1;
        for (int d = 0; d < in[k].shape.rank; d++)
            if (chance(40)) in[k].shape.dim[d] = EF_DIM_UNKNOWN;
    }
    ef_status *s = ef_op_infer(op, ef_attrs_fields(e->attrs), in, e->n_in, said, MAX_OUT, &n);
    if (s) {
        finding(ef_status_message(s));
        ef_status_free(s);
        return;
    }
    for (int k = 0; k < n_out; k++) {
        ef_shape got = ef_shape_from(&out[k]);
        char text[300];
        if (n == n_out && said[k].dtype == out[k].dtype && ef_shape_may_equal(&said[k].shape, &got))
            continue;
        snprintf(text, sizeof text, "output %d is %s but inference that knows less said %s", k,
                 EF_TENSOR(&out[k]), EF_SHAPE(&said[k].shape));
        finding(text);
        return;
    }
}

static void run_case(const ef_op *op, ef_example *e, bool loud) {
    ef_fact facts[EF_EXAMPLE_MAX_IN], handles[EF_EXAMPLE_MAX_IN], said[MAX_OUT];
    ef_tensor *in[EF_EXAMPLE_MAX_IN], out[MAX_OUT] = {{0}};
    int n = 0, n_out = 0;
    for (int k = 0; k < e->n_in; k++) {
        in[k] = &e->in[k];
        ef_fact_of(in[k], &facts[k], &handles[k]);
    }
    ef_status *s = ef_op_infer(op, ef_attrs_fields(e->attrs), facts, e->n_in, said, MAX_OUT, &n);
    if (!s && moderate(said, n)) {
        uint64_t begin = ef_now_ns();
        s = ef_op_run(ef_context_here(), op, ef_attrs_fields(e->attrs), in, e->n_in, out, MAX_OUT,
                      &n_out);
        if (ef_now_ns() - begin > 5000000000u) finding("it ran longer than five seconds");
        if (!s) check_vague(op, e, out, n_out);
        for (int k = 0; !s && k < n_out; k++) ef_tensor_release(&out[k]);
    }
    if (s && (ef_status_code(s) == EF_INTERNAL || ef_status_message(s)[0] == 0))
        finding(ef_status_message(s));
    if (loud) printf("%s\n    %s\n", about, s ? ef_status_message(s) : "ran");
    ef_status_free(s);
}

static void describe(uint64_t number, const char *name, const ef_example *e) {
    size_t n =
        (size_t)snprintf(about, sizeof about, "case %llu: %s:", (unsigned long long)number, name);
    for (int k = 0; k < e->n_in && n < sizeof about; k++)
        n += (size_t)snprintf(about + n, sizeof about - n, " %s", EF_TENSOR(&e->in[k]));
}

static void one_case(uint64_t seed, uint64_t number, bool loud) {
    state = seed * 1000003u + number * 7919u;
    const ef_op *op = ef_op_table[draw(EF_OP_COUNT)];
    int examples = ef_example_count(op);
    ef_example e;
    char name[200];
    if ((op->traits & (EF_CONTROL | EF_NO_KERNEL)) || examples == 0) return;
    int k = (int)draw((uint64_t)examples);
    ef_example_name(op, k, name, sizeof name);
    ef_status *s = ef_example_make(op, k, draw(1000), &e);
    if (s) {
        snprintf(about, sizeof about, "%s", name);
        finding(ef_status_message(s));
        ef_status_free(s);
        return;
    }
    for (uint64_t n = 1 + draw(3); n > 0; n--) change_input(&e);
    if (chance(40)) change_attrs(op, &e);
    if (chance(5)) change_count(&e);
    describe(number, name, &e);
    if (ef_option_has("EF_LOG", "fuzz")) fprintf(stderr, "%s\n", about);
    run_case(op, &e, loud);
    ef_example_free(&e);
}

/* When the process ends badly the case must be known. Sanitizers end in SIGABRT here; memory may be
 * refused, as it may be outside. */
static void on_signal(int number) {
    (void)!write(2, about, strlen(about));
    (void)!write(2, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:abort_on_error=1:handle_abort=0";
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: ops_fuzz SECONDS SEED [CASE]\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[2], NULL, 10), number = 0;
    signal(SIGABRT, on_signal);
#ifdef NDEBUG /* with sanitizers these are theirs */
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
#endif
    ef_memory_set_limit(0, INT64_C(1) << 30);
    if (argc > 3) {
        one_case(seed, strtoull(argv[3], NULL, 10), true);
        return findings > 0;
    }
    uint64_t end = ef_now_ns() + strtoull(argv[1], NULL, 10) * 1000000000u;
    while (ef_now_ns() < end && findings < 20) one_case(seed, number++, false);
    printf("ops_fuzz: %llu cases, %d findings\n", (unsigned long long)number, findings);
    return findings > 0;
}
