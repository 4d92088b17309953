/* Tests every op of the table against its own record, one test per op: the notation is valid; each
 * example runs on each kernel row that takes it; the rows give equal results; and the shape
 * function agrees with what the kernels really produce, also when dims or values are hidden from
 * it. No op is listed here: a new record is tested because it is in all.def. `ops_ops Name...`
 * tests only those. */
#include "base/alloc.h"
#include "check.h"
#include "ops/example.h"
#include "ops/run.h"
#include "ops/signature.h"
#include <stdarg.h>

enum { MAX_OUT = 32, SEED = 20 };
static const ef_op *op;
static char name[300]; /* of the example being tested */

typedef struct result { /* of one kernel row */
    ef_tensor out[MAX_OUT];
    int n;
} result;

static void fail(const char *fmt, ...) {
    va_list args;
    ef_check.failed = true;
    printf("%s: ", name);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
}

/* Frees s. */
static bool good(ef_status *s, const char *what) {
    if (!s) return true;
    fail("%s failed with code %d: %s", what, (int)ef_status_code(s), ef_status_message(s));
    ef_status_free(s);
    return false;
}

/* ---- the record --------------------------------------------------------------------------------
 */

static void check_attrs(void) {
    const ef_signature *s = ef_op_signature(op);
    for (int k = 0; k < s->n_attrs; k++) {
        ef_attr_value v;
        ef_attr_room room;
        if (!op->attr[k].value) continue;
        const char *wrong = ef_attr_text_parse(&s->attr[k], op->attr[k].value, &v, &room);
        if (wrong) fail("default of %s: %s", op->attr[k].name, wrong);
        if (op->attr[k].at >= op->attr_size) fail("attr_size does not hold %s", op->attr[k].name);
    }
    for (int k = 0; k < s->n_attrs; k++)
        for (int j = 0; j < k; j++)
            if (op->attr[k].at == op->attr[j].at)
                fail("%s and %s are one field", op->attr[k].name, op->attr[j].name);
}

/* The columns that graphs, passes and the planner read. */
static void check_columns(const ef_signature *s) {
    uint32_t in = (1u << s->n_in) - 1;
    bool formats = false;
    for (int k = 0; k < s->n_attrs; k++) formats |= strcmp(op->attr[k].name, "data_format") == 0;
    if (op->images.in && !formats) fail("images without a data_format");
    if ((op->images.in | op->images.sizes | op->data_in) & ~in)
        fail("images or data_in has bits beyond the last input");
    if (op->sized.by != EF_SIZED_NOT && op->sized.in >= s->n_in) fail("sized by no input");
    if (op->dims && (s->n_in != 2 || s->n_out != 1)) fail("dims, but not x and y to z");
    if (op->reduction && !(op->traits & EF_REDUCES)) fail("a reduction without EF_REDUCES");
    bool control = op->traits & EF_CONTROL;
    if ((op->pure != NULL) != control || (op->stateful != NULL) != control)
        fail("pure and stateful are for control flow, and needed there");
    if (control && op != op->pure && op != op->stateful)
        fail("neither pure nor stateful is itself");
}

/* An example's text cannot contain a function, so these ops have no examples; tests/python calls
 * them. */
static bool has_function(const ef_signature *s) {
    for (int k = 0; k < s->n_attrs; k++)
        if (s->attr[k].kind == EF_ATTR_FUNC) return true;
    return false;
}

/* The op reads existing files or writes some: tests/python/checkpoint_test.py runs it. */
static bool takes_checkpoint(void) {
    return op->in[0] != NULL && (strcmp(op->in[0], "prefix: string") == 0 ||
                                 strcmp(op->in[0], "checkpoint_prefixes: string") == 0);
}

static void check_record(int id) {
    if (op->id != id || op != ef_op_table[id])
        fail("the record's id is not its index in the table");
    if (id > 0 && strcmp(ef_op_table[id - 1]->name, op->name) >= 0)
        fail("all.def is not sorted: this op stands after %s there", ef_op_table[id - 1]->name);
    if (!op->doc || strlen(op->doc) < 10) fail("there is no doc");
    const char *wrong = ef_op_notation_problem(op);
    if (wrong) fail("notation: %s", wrong);
    const ef_signature *s = ef_op_signature(op);
    if (!op->shape && s->n_out > 0) fail("there is no shape function");
    if (!op->kernel[0].run && !(op->traits & (EF_VIEW_0 | EF_CONTROL | EF_NO_KERNEL)))
        fail("there is no kernel");
    uint32_t none = op->traits & (EF_NO_GRAD | EF_GRAD_UNDEFINED);
    if (op->grad && none) fail("there is a gradient, but a trait says there is none");
    if (none == (EF_NO_GRAD | EF_GRAD_UNDEFINED)) fail("EF_NO_GRAD and EF_GRAD_UNDEFINED");
    if ((op->traits & EF_ELEMENTWISE) && !op->tile && !op->pick_tile)
        fail("EF_ELEMENTWISE without tiles");
    if (op->tile && !(op->traits & (EF_ELEMENTWISE | EF_SPREADS)))
        fail("tiles, but the traits lack EF_ELEMENTWISE (see EF_IN_PLACE), so it never fuses");
    if (ef_example_count(op) == 0 && !(op->traits & (EF_CONTROL | EF_NO_KERNEL)) &&
        !has_function(s) && !takes_checkpoint())
        fail("there are no examples");
    check_attrs();
    check_columns(s);
}

/* ---- running -----------------------------------------------------------------------------------
 */

static void release(result *r) {
    for (int k = 0; k < r->n; k++) ef_tensor_release(&r->out[k]);
    r->n = 0;
}

static bool infer(const ef_example *e, const ef_fact *in, ef_fact *out, int *n_out,
                  const char *what) {
    return good(ef_op_infer(op, ef_attrs_fields(e->attrs), in, e->n_in, out, MAX_OUT, n_out), what);
}

static ef_status *prepare_outputs(const ef_fact *facts, int n, result *r) {
    for (r->n = 0; r->n < n; r->n++) {
        ef_tensor *t = &r->out[r->n];
        const ef_fact *f = &facts[r->n];
        memset(t, 0, sizeof *t);
        if (ef_dtype_in(f->dtype, EF_PLAIN) && ef_shape_known(&f->shape))
            EF_TRY(ef_tensor_alloc(t, f->dtype, &f->shape));
        else
            ef_tensor_shape_set(t, f->dtype, &f->shape);
    }
    return NULL;
}

/* Runs one row; *taken says whether it accepted the call. alias: out 0 has in 0's memory. */
static ef_status *run_row(const ef_kernel *row, ef_example *e, const ef_fact *facts, int n_out,
                          bool alias, bool *taken, result *r) {
    ef_tensor *in[EF_EXAMPLE_MAX_IN] = {NULL}, *out[MAX_OUT] = {NULL};
    ef_fact in_facts[EF_EXAMPLE_MAX_IN], handle;
    for (int k = 0; k < e->n_in; k++) {
        in[k] = &e->in[k];
        ef_fact_of(in[k], &in_facts[k], &handle);
    }
    EF_TRY(prepare_outputs(facts, n_out, r));
    for (int k = 0; k < n_out; k++) out[k] = &r->out[k];
    if (alias && in[0] != NULL && out[0] != NULL) {
        ef_tensor_release(out[0]);
        ef_tensor_shape_set(out[0], facts[0].dtype, &facts[0].shape);
        out[0]->data = in[0]->data; /* borrowed, as a plan would */
    }
    ef_call c = {.op = op, .attrs = ef_attrs_fields(e->attrs), .n_in = e->n_in, .n_out = n_out};
    c.context = ef_context_here();
    c.in = in;
    c.out = out;
    ef_dtype key = ef_op_key(op, in_facts, e->n_in, facts, n_out);
    *taken = (row->device & EF_CPU) && (key == EF_NO_DTYPE || ef_dtype_in(key, row->types)) &&
             (!row->when || row->when(&c));
    if (!*taken) return NULL;
    size_t bytes = row->scratch ? row->scratch(&c) : 0;
    if (bytes && !(c.scratch = ef_malloc_aligned(bytes))) return ef_no_memory(bytes);
    ef_status *s = row->prepare ? row->prepare(&c, &c.state) : NULL;
    if (!s) s = row->run(&c);
    if (row->release && c.state) row->release(c.state);
    if (bytes) ef_free_aligned(c.scratch);
    return s;
}

static ef_status *run_view(ef_example *e, result *r) {
    ef_tensor *in[EF_EXAMPLE_MAX_IN];
    for (int k = 0; k < e->n_in; k++) in[k] = &e->in[k];
    memset(r->out, 0, sizeof r->out);
    return ef_op_run(ef_context_here(), op, ef_attrs_fields(e->attrs), in, e->n_in, r->out, MAX_OUT,
                     &r->n);
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

static double tolerance(ef_dtype t) {
    switch (t) {
    case EF_F64:
    case EF_C128: return 1e-9;
    case EF_F32:
    case EF_C64: return 2e-5;
    case EF_F16: return 4e-3;
    case EF_BF16: return 3e-2;
    default: return 0;
    }
}

static bool near(double x, double y, double rel) {
    if (x == y || (isnan(x) && isnan(y))) return true;
    return fabs(x - y) <= rel * (1 + fmax(fabs(x), fabs(y)));
}

static void compare(const ef_tensor *a, const ef_tensor *b, int k, const char *what) {
    ef_dtype t = (ef_dtype)a->dtype;
    ef_shape sa = ef_shape_from(a), sb = ef_shape_from(b);
    if (t != b->dtype || !ef_shape_equal(&sa, &sb)) {
        fail("output %d: %s gives %s instead of %s", k, what, EF_TENSOR(b), EF_TENSOR(a));
        return;
    }
    if (op->traits & EF_STATEFUL) return; /* for example random numbers */
    if (t == EF_STRING && !ef_tensor_same_bytes(a, b)) fail("output %d: %s differs", k, what);
    if (!ef_dtype_in(t, EF_PLAIN)) return;
    int parts = ef_dtype_in(t, EF_COMPLEX) ? 2 : 1;
    ef_dtype real = t == EF_C64 ? EF_F32 : t == EF_C128 ? EF_F64 : t;
    for (int64_t i = 0; i < ef_count(a) * parts; i++) {
        double x = ef_element_double(real, a->data, i), y = ef_element_double(real, b->data, i);
        if (near(x, y, tolerance(t))) continue;
        fail("output %d, element %lld: %s gives %.9g instead of %.9g", k, (long long)i, what, y, x);
        return;
    }
}

/* Compares the shape that inference gave with the actual one. sizes: of symbolic dims, or NULL. */
static void check_shapes(const ef_fact *facts, const result *r, const char *what,
                         const int64_t *sizes) {
    for (int k = 0; k < r->n; k++) {
        ef_shape got = ef_shape_from(&r->out[k]), said = facts[k].shape;
        for (int d = 0; d < said.rank && sizes; d++) said.dim[d] = ef_dim_bind(said.dim[d], sizes);
        if (facts[k].dtype != r->out[k].dtype)
            fail("output %d is %s but %s said %s", k, EF_TENSOR(&r->out[k]), what,
                 ef_dtype_name(facts[k].dtype));
        else if (!ef_shape_known(&got) || !ef_shape_may_equal(&said, &got))
            fail("output %d is %s but %s said %s", k, EF_TENSOR(&r->out[k]), what,
                 EF_SHAPE(&facts[k].shape));
    }
}

/* ---- hiding ------------------------------------------------------------------------------------
 */

enum hiding { VALUES, DIMS, RANKS, SYMBOLS, HANDLES, HIDINGS };
static const char *const hiding_name[] = {"inference without values", "inference without dims",
                                          "inference without ranks", "inference with symbolic dims",
                                          "inference without handles"};

static void hide(ef_fact *f, enum hiding h, int64_t *sizes, int *n_sizes) {
    f->value = NULL;
    if (h == RANKS) f->shape = ef_unknown_shape();
    if (h == HANDLES) f->handle = NULL;
    for (int d = 0; d < f->shape.rank; d++) {
        if (h == DIMS) f->shape.dim[d] = EF_DIM_UNKNOWN;
        if (h != SYMBOLS || f->shape.dim[d] < 2) continue;
        int s = 0; /* equal sizes get one symbol, so the shapes stay consistent */
        while (s < *n_sizes && sizes[s] != f->shape.dim[d]) s++;
        if (s == EF_MAX_SYMBOLS) continue;
        if (s == *n_sizes) sizes[(*n_sizes)++] = f->shape.dim[d];
        f->shape.dim[d] = ef_dim_symbol(s);
    }
}

static void check_hidden(ef_example *e, const ef_fact *facts, const ef_fact *handles,
                         const result *r) {
    for (int h = 0; h < HIDINGS; h++) {
        ef_fact in[EF_EXAMPLE_MAX_IN], hidden[EF_EXAMPLE_MAX_IN], out[MAX_OUT];
        int64_t sizes[EF_MAX_SYMBOLS];
        int n_sizes = 0, n_out;
        for (int k = 0; k < e->n_in; k++) {
            in[k] = facts[k];
            hide(&in[k], (enum hiding)h, sizes, &n_sizes);
            if (!in[k].handle) continue;
            hidden[k] = handles[k];
            hide(&hidden[k], (enum hiding)h, sizes, &n_sizes);
            in[k].handle = &hidden[k];
        }
        for (int s = n_sizes; s < EF_MAX_SYMBOLS; s++) sizes[s] = EF_DIM_UNKNOWN;
        if (!infer(e, in, out, &n_out, hiding_name[h])) continue;
        if (n_out != r->n)
            fail("%s says %d outputs", hiding_name[h], n_out);
        else
            check_shapes(out, r, hiding_name[h], h == SYMBOLS ? sizes : NULL);
    }
}

/* ---- one example -------------------------------------------------------------------------------
 */

static bool may_alias(const ef_tensor *in, const ef_fact *out) {
    return ef_dtype_in(out->dtype, EF_PLAIN) && ef_shape_known(&out->shape) &&
           ef_shape_count(&out->shape) == ef_count(in) &&
           ef_dtype_size(out->dtype) == ef_dtype_size((ef_dtype)in->dtype);
}

/* One row on fresh inputs, compared with the first row's result (or becoming it). */
static void check_row(int example, const ef_kernel *row, bool alias, result *first, int *rows) {
    ef_example e;
    ef_fact in[EF_EXAMPLE_MAX_IN], handles[EF_EXAMPLE_MAX_IN], out[MAX_OUT];
    result r = {.n = 0};
    int n_out = 0;
    bool taken = true;
    if (!good(ef_example_make(op, example, SEED, &e), "making the example")) return;
    for (int k = 0; k < e.n_in; k++) ef_fact_of(&e.in[k], &in[k], &handles[k]);
    if (!infer(&e, in, out, &n_out, "inference")) goto done;
    if (alias && !may_alias(&e.in[0], &out[0])) goto done;
    ef_status *s = row ? run_row(row, &e, out, n_out, alias, &taken, &r) : run_view(&e, &r);
    if (!good(s, "the kernel") || !taken) goto done;
    check_shapes(out, &r, "inference", NULL);
    if ((*rows)++ == 0) {
        check_hidden(&e, in, handles, &r);
        *first = r;
        for (int k = 0; k < r.n; k++) {
            memset(&first->out[k], 0, sizeof first->out[k]);
            ef_tensor_move(&first->out[k], &r.out[k]);
        }
        r.n = 0;
    } else {
        for (int k = 0; k < r.n && k < first->n; k++)
            compare(&first->out[k], &r.out[k], k,
                    alias ? "the kernel in place" : "a further kernel");
    }
done:
    release(&r);
    ef_example_free(&e);
}

static void check_example(int example) {
    static result first;
    int rows = 0;
    first.n = 0;
    ef_example_name(op, example, name, sizeof name);
    if (op->traits & EF_VIEW_0) check_row(example, NULL, false, &first, &rows);
    for (int k = 0; k < EF_MAX_KERNELS && op->kernel[k].run; k++)
        check_row(example, &op->kernel[k], false, &first, &rows);
    if (rows == 0 && !ef_check.failed) fail("no kernel takes it");
    if (rows > 0 && (op->traits & EF_MAY_ALIAS_0) && !(op->traits & EF_VIEW_0))
        for (int k = 0; k < EF_MAX_KERNELS && op->kernel[k].run; k++)
            check_row(example, &op->kernel[k], true, &first, &rows);
    release(&first);
}

static int current;
EF_TEST(one_op) {
    op = ef_op_table[current];
    snprintf(name, sizeof name, "%s", op->name);
    check_record(current);
    if (op->traits & (EF_CONTROL | EF_NO_KERNEL)) return;
    for (int k = 0, n = ef_example_count(op); k < n; k++) check_example(k);
}

int main(int argc, char **argv) {
    for (current = 0; current < EF_OP_COUNT; current++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], ef_op_table[current]->name) == 0;
        if (wanted) ef_check_run(ef_op_table[current]->name, one_op);
    }
    if (ef_check.passes + ef_check.failures + ef_check.skips == 0) {
        printf("no op has such a name: src/ops/all.def lists them\n");
        return 2;
    }
    return EF_VERDICT();
}
