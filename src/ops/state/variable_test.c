#include "check.h"
#include "ops/state/optimizer.h"
#include "ops/state/state_call.h"
#include <pthread.h>

enum { N = 1000 };
static const ef_attr_value as_float[] = {EF_SET_TYPE("dtype", EF_F32)};

static ef_status *read(ef_tensor *v, ef_tensor *out) {
    return CALL("ReadVariableOp", as_float, 1, out, v);
}

EF_TEST(what_was_read_stays) {
    ef_tensor v = {0}, one = {0}, old = {0}, now = {0};
    float ones[N];
    for (int i = 0; i < N; i++) ones[i] = 1;
    CHECK_OK(variable_of(N, 5, &v));
    CHECK_OK(vector(EF_F32, N, ones, &one));
    CHECK_OK(read(&v, &old));
    CHECK_OK(CALL("AssignAddVariableOp", NULL, 0, NULL, &v, &one));
    CHECK_OK(read(&v, &now));
    CHECK_NEAR(((float *)old.data)[N - 1], 5, 0);
    CHECK_NEAR(((float *)now.data)[N - 1], 6, 0);
    void *place = now.data;
    ef_tensor_release(&now);
    CHECK_OK(CALL("AssignSubVariableOp", NULL, 0, NULL, &v, &one)); /* sole owner: in place */
    CHECK_OK(read(&v, &now));
    CHECK(now.data == place);
    CHECK_NEAR(((float *)now.data)[0], 5, 0);
    ef_tensor_release(&now);
    ef_tensor_release(&old);
    ef_tensor_release(&one);
    ef_tensor_release(&v);
}

EF_TEST(a_lent_value_is_copied_in_place) {
    ef_tensor v = {0}, now = {0};
    float lent[N] = {7};
    ef_tensor x = {.dtype = EF_F32, .rank = 1, .dim = {N}, .data = lent};
    CHECK_OK(variable_of(N, 5, &v));
    const void *place = ((ef_variable *)v.storage)->value.data;
    CHECK_OK(CALL("AssignVariableOp", NULL, 0, NULL, &v, &x));
    lent[0] = 9;
    CHECK_OK(read(&v, &now));
    CHECK(now.data == place);
    CHECK_NEAR(((float *)now.data)[0], 7, 0);
    ef_tensor_release(&now);
    ef_tensor_release(&v);
}

EF_TEST(names_belong_to_scopes) {
    ef_shape s = {.rank = 0};
    const ef_attr_value named[] = {EF_SET_STRING("shared_name", "weights"),
                                   EF_SET_TYPE("dtype", EF_F32), EF_SET_SHAPE("shape", &s)};
    const ef_attr_value other[] = {EF_SET_STRING("shared_name", "weights"),
                                   EF_SET_TYPE("dtype", EF_I32), EF_SET_SHAPE("shape", &s)};
    const ef_attr_value nameless[] = {EF_SET_TYPE("dtype", EF_F32), EF_SET_SHAPE("shape", &s)};
    ef_tensor a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, x = {0}, is = {0};
    ef_scope *scope = ef_scope_make();
    CHECK(scope != NULL);
    CHECK_OK(call_op("VarHandleOp", named, 3, NULL, 0, &a, 1));
    CHECK_OK(call_op("VarHandleOp", named, 3, NULL, 0, &b, 1));
    CHECK(a.storage == b.storage);
    CHECK_FAILS(call_op("VarHandleOp", other, 3, NULL, 0, &x, 1), EF_INVALID,
                "holds float32, not int32");
    ef_scope *before = ef_scope_enter(scope);
    CHECK_OK(call_op("VarHandleOp", named, 3, NULL, 0, &c, 1));
    CHECK(c.storage != a.storage);
    ef_scope_enter(before);
    CHECK_OK(call_op("VarHandleOp", nameless, 2, NULL, 0, &d, 1));
    CHECK_OK(call_op("VarHandleOp", nameless, 2, NULL, 0, &e, 1));
    CHECK(d.storage != e.storage);
    CHECK_OK(scalar(EF_F32, 3, &x));
    CHECK_OK(CALL("AssignVariableOp", NULL, 0, NULL, &a, &x));
    CHECK_OK(CALL("DestroyResourceOp", NULL, 0, NULL, &a));
    CHECK_OK(CALL("VarIsInitializedOp", NULL, 0, &is, &b));
    CHECK(!*(bool *)is.data);
    ef_tensor_release(&b);
    CHECK_OK(call_op("VarHandleOp", named, 3, NULL, 0, &b, 1));
    CHECK(a.storage != b.storage);
    ef_scope_free(scope);
    ef_scope_clear(NULL);
    ef_tensor *all[] = {&a, &b, &c, &d, &e, &x, &is};
    for (int k = 0; k < 7; k++) ef_tensor_release(all[k]);
}

EF_TEST(updates_check_first) {
    ef_tensor v = {0}, m = {0}, lr = {0}, g = {0}, index = {0}, now = {0};
    const float ones[] = {1, 1, 1};
    const int32_t rows[] = {0, 9, 1};
    CHECK_OK(variable_of(3, 2, &v));
    CHECK_OK(variable_of(3, 4, &m));
    CHECK_OK(scalar(EF_F32, 0.5, &lr));
    CHECK_OK(vector(EF_F32, 3, ones, &g));
    CHECK_OK(vector(EF_I32, 3, rows, &index));
    CHECK_FAILS(CALL("ResourceApplyAdagrad", NULL, 0, NULL, &v, &v, &lr, &g), EF_INVALID,
                "inputs 0 and 1 are the same variable");
    CHECK_FAILS(CALL("ResourceSparseApplyAdagrad", NULL, 0, NULL, &v, &m, &lr, &g, &index),
                EF_INVALID, "index 9 at offset 1 in indices is out of range");
    CHECK_FAILS(CALL("ResourceApplyAdagrad", NULL, 0, NULL, &v, &m, &g, &g), EF_INVALID,
                "lr is not a scalar");
    CHECK_FAILS(CALL("ResourceScatterAdd", NULL, 0, NULL, &v, &index, &g), EF_INVALID,
                "indices[1] = 9 is not in [0, 3)");
    CHECK_OK(read(&v, &now));
    CHECK_NEAR(((float *)now.data)[0], 2, 0);
    ef_tensor_release(&now);
    CHECK_OK(CALL("ResourceApplyAdagrad", NULL, 0, NULL, &v, &m, &lr, &g));
    CHECK_OK(read(&v, &now));
    CHECK_NEAR(((float *)now.data)[2], 2 - 0.5 / sqrt(5), 1e-6);
    ef_tensor *all[] = {&v, &m, &lr, &g, &index, &now};
    for (int k = 0; k < 6; k++) ef_tensor_release(all[k]);
}

/* Two threads that lock two variables in opposite order, many times. */
typedef struct crossing {
    ef_tensor *first, *second, *lr, *g;
    ef_status *failed;
} crossing;
static void *cross(void *arg) {
    crossing *c = arg;
    for (int k = 0; k < 2000 && c->failed == NULL; k++)
        c->failed = CALL("ResourceApplyAdagrad", NULL, 0, NULL, c->first, c->second, c->lr, c->g);
    return NULL;
}

EF_TEST(crossing_updates_do_not_wait_forever) {
    ef_tensor a = {0}, b = {0}, lr = {0}, g = {0};
    const float zeros[4] = {0};
    CHECK_OK(variable_of(4, 2, &a));
    CHECK_OK(variable_of(4, 4, &b));
    CHECK_OK(scalar(EF_F32, 0.5, &lr));
    CHECK_OK(vector(EF_F32, 4, zeros, &g));
    crossing one = {&a, &b, &lr, &g, NULL}, two = {&b, &a, &lr, &g, NULL};
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, cross, &one), 0);
    cross(&two);
    pthread_join(thread, NULL);
    CHECK_OK(one.failed);
    CHECK_OK(two.failed);
    ef_tensor *all[] = {&a, &b, &lr, &g};
    for (int k = 0; k < 4; k++) ef_tensor_release(all[k]);
}

int main(void) {
    EF_RUN(what_was_read_stays);
    EF_RUN(a_lent_value_is_copied_in_place);
    EF_RUN(names_belong_to_scopes);
    EF_RUN(updates_check_first);
    EF_RUN(crossing_updates_do_not_wait_forever);
    return EF_VERDICT();
}
