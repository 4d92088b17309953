/* Devices in the whole engine, shown on the test device, whose memory the host cannot touch: every
 * op that has a kernel there gives what the CPU gives, alone and in a plan; copies are what the
 * plan says; variables, loops and branches, failures. */
#include "base/alloc.h"
#include "check.h"
#include "device/test.h"
#include "ops/example.h"
#include "ops/run.h"
#include "plan/program.h"

enum { TEST = 1, MAX_OUT = 32, SEED = 20 };

static bool runs_there(const ef_op *op) {
    for (const ef_kernel *k = op->kernel; k < op->kernel + EF_MAX_KERNELS && k->run; k++)
        if ((k->device & EF_TEST) && !(k->device & EF_ASIDE)) return true;
    return (op->traits & EF_VIEW_0) != 0;
}

static void release(ef_tensor *t, int n) {
    for (int k = 0; k < n; k++) ef_tensor_release(&t[k]);
}

static ef_copy_counts copies(void) {
    ef_copy_counts c;
    ef_device_copies(TEST, &c);
    return c;
}

static int64_t bytes_there(void) {
    ef_memory_info i;
    ef_memory_info_get(TEST, &i);
    return i.current;
}

/* ---- every op -------------------------------------------------------------------------------- */

static bool all_plain(const ef_example *e) {
    for (int k = 0; k < e->n_in; k++)
        if (!ef_dtype_in((ef_dtype)e->in[k].dtype, EF_PLAIN)) return false;
    return true;
}

/* The same op as the only node of a graph that asks for the device. */
static ef_status *planned(const ef_op *op, ef_example *e, ef_tensor *out, int *n_out,
                          int32_t said[3]) {
    ef_edge in[EF_EXAMPLE_MAX_IN], outs[MAX_OUT];
    ef_tensor *ptr[EF_EXAMPLE_MAX_IN];
    ef_graph *g = ef_graph_make();
    ef_program *p = NULL;
    int32_t node = 0;
    char *text = NULL;
    ef_status *s = g == NULL ? ef_no_memory(1) : NULL;
    for (int k = 0; k < e->n_in && s == NULL; k++) {
        ef_shape shape = ef_shape_from(&e->in[k]);
        s = ef_graph_input(g, (ef_dtype)e->in[k].dtype, &shape, NULL, &in[k]);
        ptr[k] = &e->in[k];
    }
    if (s == NULL) {
        g->wanted = TEST + 1;
        s = ef_graph_add(g, op, e->attrs, in, e->n_in, NULL, &node);
        g->wanted = 0;
    }
    if (s == NULL) {
        *n_out = g->node[node]->n_out;
        for (int k = 0; k < *n_out; k++) outs[k] = (ef_edge){node, k};
        s = ef_graph_set_outputs(g, outs, (size_t)*n_out);
    }
    if (s == NULL) s = ef_program_make(g, NULL, &p);
    if (s == NULL) s = ef_program_run(ef_context_here(), p, ptr, out);
    if (s == NULL) s = ef_program_text(p, &text, said);
    ef_text_release(text);
    ef_program_unref(p);
    ef_graph_unref(g);
    return s;
}

static void compare(const ef_op *op, int k, const ef_tensor *here, const ef_tensor *there, int n,
                    const char *way) {
    char name[300];
    ef_example_name(op, k, name, sizeof name);
    for (int o = 0; o < n; o++)
        if (!ef_tensor_same_bytes(&here[o], &there[o])) {
            ef_check_fail(__FILE__, __LINE__, name);
            printf(": output %d differs %s\n", o, way);
        }
}

/* Returns whether the op ran on the device. */
static bool check_example(const ef_op *op, int k) {
    ef_example e;
    ef_tensor here[MAX_OUT] = {{0}}, there[MAX_OUT] = {{0}}, plan[MAX_OUT] = {{0}};
    ef_tensor *in[EF_EXAMPLE_MAX_IN];
    int n = 0, m = 0, q = 0;
    int32_t said[3] = {0};
    ef_status *s = ef_example_make(op, k, SEED, &e);
    if (s != NULL) {
        ef_status_free(s);
        return false;
    }
    bool away = false;
    for (int j = 0; j < e.n_in; j++) in[j] = &e.in[j];
    const void *fields = ef_attrs_fields(e.attrs);
    s = all_plain(&e) ? ef_op_run(ef_context_here(), op, fields, in, e.n_in, here, MAX_OUT, &n)
                      : ef_error(EF_INVALID, "not for a device");
    if (s == NULL) {
        ef_copy_counts before = copies();
        s = ef_op_run_on(ef_context_here(), TEST, op, fields, in, e.n_in, there, MAX_OUT, &m);
        ef_copy_counts after = copies();
        away = s == NULL && m > 0 && there[0].device == TEST;
        if (away && after.n[EF_COPY_TO_HOST] != before.n[EF_COPY_TO_HOST])
            ef_check_fail(__FILE__, __LINE__, "an op copied to the host\n");
    }
    if (s == NULL) {
        compare(op, k, here, there, n, "on the device");
        ef_copy_counts before = copies();
        s = planned(op, &e, plan, &q, said);
        ef_copy_counts after = copies();
        for (int way = 0; way < 2 && s == NULL; way++)
            if (after.n[way] - before.n[way] != (uint64_t)said[way]) {
                ef_check_fail(__FILE__, __LINE__, op->name);
                printf(": %d copies were made, and the plan says %d\n",
                       (int)(after.n[way] - before.n[way]), (int)said[way]);
            }
        if (s == NULL) compare(op, k, here, plan, n, "in a plan");
    }
    if (s != NULL && all_plain(&e)) {
        ef_check_fail(__FILE__, __LINE__, op->name);
        printf(": %s\n", ef_status_message(s));
    }
    ef_status_free(s);
    release(here, n);
    release(there, m);
    release(plan, q);
    ef_example_free(&e);
    return away;
}

EF_TEST(ops_give_what_the_cpu_gives) {
    int ops = 0, examples = 0;
    for (int id = 0; id < EF_OP_COUNT; id++) {
        const ef_op *op = ef_op_table[id];
        bool away = false;
        if (!runs_there(op) || (op->traits & (EF_STATEFUL | EF_EFFECT | EF_NO_KERNEL))) continue;
        for (int k = 0; k < ef_example_count(op); k++) {
            bool ran = check_example(op, k);
            away = away || ran;
            examples += ran;
        }
        ops += away;
    }
    printf("%d ops in %d examples\n", ops, examples);
    CHECK(ops > 100);
    CHECK_INT(bytes_there(), 0);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const ef_shape three = {.rank = 1, .dim = {3}};

static ef_edge input(ef_graph *g) {
    ef_edge e = {0, 0};
    ef_status_free(ef_graph_input(g, EF_F32, &three, NULL, &e));
    return e;
}

static ef_edge add(ef_graph *g, const char *op, int device, ef_edge x, ef_edge y, int n) {
    ef_edge in[] = {x, y};
    int32_t node = 0;
    g->wanted = (uint8_t)(device + 1);
    ef_status_free(ef_graph_add(g, ef_op_find(op), NULL, in, n, NULL, &node));
    g->wanted = 0;
    return (ef_edge){node, 0};
}

/* x is read twice on the device, a twice on the host: each is copied once. */
EF_TEST(each_value_is_copied_once_per_direction) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g);
    ef_edge a = add(g, "Mul", TEST, x, x, 2), b = add(g, "AddV2", TEST, a, x, 2);
    ef_edge c = add(g, "Exp", 0, a, a, 1), d = add(g, "Sub", 0, a, c, 2);
    ef_edge e = add(g, "Mul", TEST, d, b, 2);
    ef_edge out[] = {d, e};
    CHECK_OK(ef_graph_set_outputs(g, out, 2));
    ef_program *p = NULL;
    CHECK_OK(ef_program_make(g, NULL, &p));
    float v[] = {1, 2, 3};
    ef_tensor t, y[2], *in[] = {&t};
    CHECK_OK(ef_tensor_from(EF_F32, &three, v, &t));
    for (int turn = 0; turn < 3; turn++) {
        ef_copy_counts before = copies();
        CHECK_OK(ef_program_run(ef_context_here(), p, in, y));
        ef_copy_counts after = copies();
        int32_t said[3];
        char *text = NULL;
        CHECK_OK(ef_program_text(p, &text, said));
        CHECK_INT(said[EF_COPY_TO_DEVICE], 2);
        CHECK_INT(said[EF_COPY_TO_HOST], 1);
        CHECK(strstr(text, "copy between devices") && strstr(text, "heap on TEST:0"));
        CHECK(strstr(text, "copies: 2 to a device, 1 to the host"));
        CHECK_INT(after.n[EF_COPY_TO_DEVICE] - before.n[EF_COPY_TO_DEVICE], 2);
        CHECK_INT(after.n[EF_COPY_TO_HOST] - before.n[EF_COPY_TO_HOST], 1);
        ef_text_release(text);
        CHECK_INT(y[0].device, 0);
        CHECK_INT(y[1].device, TEST);
        const void *at;
        CHECK_OK(ef_tensor_data(&y[1], &at));
        for (int k = 0; k < 3; k++) {
            float square = v[k] * v[k], want = (square - expf(square)) * (square + v[k]);
            CHECK_NEAR(((const float *)at)[k], want, 1e-4 * fabsf(want));
        }
        release(y, 2);
    }
    uint64_t made, evicted, kept;
    ef_program_counts(p, &made, &evicted, &kept);
    CHECK_INT(made, 1);
    ef_tensor_release(&t);
    ef_program_unref(p);
    ef_graph_unref(g);
    CHECK_INT(bytes_there(), 0);
}

/* The devices of inputs are part of the cache key; nodes run where their inputs are. */
EF_TEST(nodes_follow_their_inputs) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g), y = add(g, "Neg", -1, x, x, 1);
    CHECK_OK(ef_graph_set_outputs(g, &y, 1));
    ef_program *p = NULL;
    CHECK_OK(ef_program_make(g, NULL, &p));
    float v[] = {1, -2, 3};
    ef_tensor here, there, out;
    CHECK_OK(ef_tensor_from(EF_F32, &three, v, &here));
    CHECK_OK(ef_tensor_copy_to(&here, "/device:TEST:0", &there));
    for (int turn = 0; turn < 4; turn++) {
        ef_tensor *in[] = {turn % 2 ? &there : &here};
        ef_copy_counts before = copies();
        CHECK_OK(ef_program_run(ef_context_here(), p, in, &out));
        CHECK_INT(out.device, turn % 2);
        CHECK_INT(copies().n[0] - before.n[0] + copies().n[1] - before.n[1], 0);
        ef_tensor_release(&out);
    }
    ef_tensor_release(&here);
    ef_tensor_release(&there);
    ef_program_unref(p);
    ef_graph_unref(g);
    CHECK_INT(bytes_there(), 0);
}

/* ---- eager ops ------------------------------------------------------------------------------- */

static ef_status *call(const char *op, const ef_tensor *x, const ef_tensor *y, ef_tensor *out) {
    const ef_tensor *in[] = {x, y};
    int n;
    return ef_call_op(ef_op_find(op), NULL, in, y != NULL ? 2 : 1, out, 1, &n);
}

EF_TEST(the_context_says_where_ops_run) {
    float v[] = {1, 2, 3};
    ef_tensor x, y, z, w;
    CHECK_OK(ef_tensor_from(EF_F32, &three, v, &x));
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "/device:TEST:0"}));
    CHECK_OK(call("AddV2", &x, &x, &y));
    CHECK_TEXT(ef_tensor_device(&y), "TEST:0");
    CHECK_OK(ef_context_set(NULL));
    CHECK_OK(call("Mul", &y, &x, &z)); /* where an input is */
    CHECK_TEXT(ef_tensor_device(&z), "TEST:0");
    CHECK_FAILS(call("LogicalNot", &y, NULL, &w), EF_INVALID, "LogicalNot");
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "CPU:0"}));
    CHECK_OK(call("Identity", &z, NULL, &w)); /* moved */
    CHECK_TEXT(ef_tensor_device(&w), "CPU:0");
    CHECK(w.data != NULL && ((float *)w.data)[2] == 18);
    CHECK_OK(ef_context_set(NULL));
    CHECK_FAILS(ef_context_set(&(ef_context_options){.device = "GPU:0"}), EF_INVALID,
                "the devices are: CPU:0, TEST:0");
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
    ef_tensor_release(&w);
    CHECK_INT(bytes_there(), 0);
}

EF_TEST(failures_on_the_queue_reach_the_caller) {
    int32_t v[] = {1, 2, 3}, none[] = {1, 0, 1};
    ef_tensor x, y, z, big;
    CHECK_OK(ef_tensor_from(EF_I32, &three, v, &x));
    CHECK_OK(ef_tensor_from(EF_I32, &three, none, &y));
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "TEST:0"}));
    CHECK_FAILS(call("FloorDiv", &x, &y, &z), EF_INVALID, "FloorDiv");
    CHECK_OK(call("AddV2", &x, &y, &z)); /* the queue goes on */
    ef_tensor_release(&z);
    ef_memory_limit_set("TEST:0", 20);
    CHECK_FAILS(call("AddV2", &x, &y, &z), EF_NO_MEMORY, "TEST:0");
    ef_memory_limit_set("TEST:0", 0);
    for (uint64_t k = 1; k < 40; k++) { /* every allocation in turn */
        ef_allocation_fail(k);
        ef_status *s = call("AddV2", &x, &y, &z);
        int failed = ef_allocation_fail(0);
        if (s == NULL) ef_tensor_release(&z);
        if (s != NULL) CHECK_INT(ef_status_code(s), EF_NO_MEMORY);
        ef_status_free(s);
        CHECK_INT(bytes_there(), 0);
        if (!failed) break;
        CHECK(k < 39);
    }
    CHECK_OK(ef_context_set(NULL));
    ef_shape huge = {.rank = 1, .dim = {(int64_t)1 << 40}};
    CHECK_FAILS(ef_device_tensor_alloc(TEST, EF_F32, &huge, &big), EF_NO_MEMORY, "TEST:0");
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    CHECK_INT(bytes_there(), 0);
}

EF_TEST(variables_stay_where_they_are) {
    float v[] = {1, 2, 3};
    ef_tensor x, handle, now;
    CHECK_OK(ef_tensor_from(EF_F32, &three, v, &x));
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "TEST:0"}));
    CHECK_OK(ef_variable_new(&x, "v", &handle));
    CHECK_OK(ef_context_set(NULL));
    CHECK_TEXT(ef_tensor_device(&handle), "TEST:0");
    const ef_tensor *in[] = {&handle, &x};
    int n;
    CHECK_OK(ef_call_op(ef_op_find("AssignAddVariableOp"), NULL, in, 2, NULL, 0, &n));
    CHECK_OK(ef_variable_get(&handle, &now));
    CHECK_TEXT(ef_tensor_device(&now), "TEST:0");
    const void *at;
    CHECK_OK(ef_tensor_data(&now, &at));
    CHECK(((const float *)at)[2] == 6);
    ef_tensor_release(&now);
    CHECK_OK(ef_call_op(ef_op_find("AssignVariableOp"), NULL, in, 2, NULL, 0, &n));
    CHECK_OK(ef_variable_get(&handle, &now));
    CHECK_TEXT(ef_tensor_device(&now), "TEST:0");
    ef_tensor_release(&now);
    ef_tensor_release(&handle);
    ef_tensor_release(&x);
    CHECK_INT(bytes_there(), 0);
}

EF_TEST(starts) { CHECK_OK(ef_test_device_start()); }
EF_TEST(ends) { CHECK_OK(ef_test_device_stop()); }

int main(void) {
    EF_RUN(starts);
    EF_RUN(ops_give_what_the_cpu_gives);
    EF_RUN(each_value_is_copied_once_per_direction);
    EF_RUN(nodes_follow_their_inputs);
    EF_RUN(the_context_says_where_ops_run);
    EF_RUN(failures_on_the_queue_reach_the_caller);
    EF_RUN(variables_stay_where_they_are);
    EF_RUN(ends);
    return EF_VERDICT();
}
