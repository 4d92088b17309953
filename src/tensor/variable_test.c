#include "base/alloc.h"
#include "check.h"
#include "device/memory.h"
#include "tensor/object.h"

enum { N = 1000 };

static ef_shape shape_of(int64_t n) { return (ef_shape){.rank = 1, .dim = {n}}; }

static ef_status *filled(int64_t n, float value, ef_tensor *out) {
    ef_shape s = shape_of(n);
    ef_status *st = ef_tensor_new(EF_F32, &s, out);
    for (int64_t i = 0; st == NULL && i < n; i++) ((float *)out->data)[i] = value;
    return st;
}

static void drop(ef_variable *v) { ef_storage_unref(&v->object.base); }

EF_TEST(reads_what_was_written) {
    ef_shape any = shape_of(EF_DIM_UNKNOWN);
    ef_variable *v;
    ef_tensor t, r, bad;
    CHECK_OK(ef_variable_make(EF_F32, &any, "w", &v));
    CHECK_FAILS(ef_variable_read(v, &r), EF_FAILED_PRECONDITION, "variable 'w' is uninitialized");
    ef_tensor *value;
    CHECK_FAILS(ef_variable_begin_update(v, &value), EF_FAILED_PRECONDITION, "uninitialized");
    CHECK_OK(filled(N, 3, &t));
    CHECK((t.tape = ef_mark_new()) != NULL);
    CHECK_OK(ef_variable_write(v, &t));
    CHECK_OK(ef_variable_read(v, &r));
    CHECK(r.data == t.data && r.tape == NULL && ef_mark_sole(t.tape));
    CHECK_INT(v->version, 1);
    ef_shape matrix = {.rank = 2, .dim = {2, 2}}, s = shape_of(3);
    CHECK_OK(ef_tensor_new(EF_F32, &matrix, &bad));
    CHECK_FAILS(ef_variable_write(v, &bad), EF_INVALID,
                "'w' has shape [?] and cannot take a value of shape [2, 2]");
    ef_tensor_release(&bad);
    CHECK_OK(ef_tensor_new(EF_I32, &s, &bad));
    CHECK_FAILS(ef_variable_write(v, &bad), EF_INVALID, "'w' holds float32 and cannot take int32");
    ef_tensor_release(&bad);
    ef_tensor symbolic = {.dtype = EF_F32, .rank = 1, .dim = {3}, .flags = EF_TENSOR_SYMBOLIC};
    CHECK_FAILS(ef_variable_write(v, &symbolic), EF_INVALID, "symbolic");
    CHECK_INT(v->version, 1);
    drop(v);
    CHECK_NEAR(((float *)r.data)[N - 1], 3, 0);
    ef_tensor_release(&r);
    ef_tensor_release(&t);
}

EF_TEST(updates_in_place_when_sole) {
    ef_shape s = shape_of(N);
    ef_variable *v;
    ef_tensor t, r, *value;
    CHECK_OK(ef_variable_make(EF_F32, &s, NULL, &v));
    CHECK_OK(filled(N, 1, &t));
    CHECK_OK(ef_variable_write(v, &t));
    const void *first = t.data;
    CHECK_OK(ef_variable_begin_update(v, &value)); /* t still looks at it */
    CHECK(value->data != first);
    ((float *)value->data)[0] = 10;
    ef_variable_end_update(v);
    CHECK_NEAR(((float *)t.data)[0], 1, 0);
    CHECK_OK(ef_variable_begin_update(v, &value));
    const void *own = value->data;
    ef_variable_end_update(v);
    CHECK_OK(ef_variable_read(v, &r));
    CHECK(r.data == own);
    CHECK_OK(ef_variable_begin_update(v, &value));
    CHECK(value->data != own);
    ((float *)value->data)[0] = 20;
    ef_variable_end_update(v);
    CHECK_NEAR(((float *)r.data)[0], 10, 0);
    CHECK_INT(v->version, 4);
    ef_tensor_release(&r);
    ef_tensor_release(&t);
    drop(v);
}

static void end_nothing(void *arg) { (void)arg; }

EF_TEST(never_writes_into_others_memory) {
    static float theirs[N], arena[N];
    ef_shape s = shape_of(N);
    ef_variable *v;
    ef_tensor w, r, *value;
    CHECK_OK(ef_variable_make(EF_F32, &s, "v", &v));
    CHECK_OK(ef_tensor_wrap(EF_F32, &s, theirs, end_nothing, NULL, &w));
    CHECK_OK(ef_variable_write(v, &w));
    ef_tensor_release(&w);
    CHECK_OK(ef_variable_begin_update(v, &value));
    CHECK(value->data != theirs);
    ef_variable_end_update(v);
    ef_tensor borrowed = {.dtype = EF_F32, .rank = 1, .dim = {N}, .data = arena};
    CHECK_OK(ef_variable_write(v, &borrowed));
    CHECK_OK(ef_variable_read(v, &r));
    CHECK(r.data != arena);
    ef_tensor_release(&r);
    drop(v);
}

EF_TEST(small_values_update_in_place) {
    ef_shape scalar = ef_scalar_shape();
    ef_variable *v;
    ef_tensor t, *value;
    int64_t step = 41;
    CHECK_OK(ef_variable_make(EF_I64, &scalar, "step", &v));
    CHECK_OK(ef_tensor_from(EF_I64, NULL, &step, &t));
    CHECK_OK(ef_variable_write(v, &t));
    CHECK_OK(ef_variable_begin_update(v, &value));
    ++*(int64_t *)value->data;
    ef_variable_end_update(v);
    ef_tensor_release(&t);
    CHECK_OK(ef_variable_read(v, &t));
    CHECK_INT(*(int64_t *)t.data, 42);
    ef_tensor_release(&t);
    drop(v);
}

EF_TEST(handles_count_the_variable) {
    ef_shape s = shape_of(2);
    ef_variable *v;
    ef_tensor h, g;
    CHECK_OK(ef_variable_make(EF_F32, &s, "x", &v));
    ef_tensor_from_object(&h, EF_RESOURCE, &v->object);
    ef_tensor_copy(&g, &h);
    ef_tensor_release(&h);
    CHECK(ef_tensor_object(&g, EF_OBJECT_VARIABLE) == &v->object);
    CHECK(ef_tensor_object(&g, EF_OBJECT_LIST) == NULL &&
          ef_tensor_object(&h, EF_OBJECT_VARIABLE) == NULL);
    CHECK(ef_tensor_same_bytes(&g, &g));
    CHECK_OK(ef_tensor_clone(&h, &g));
    CHECK(h.storage == g.storage);
    ef_tensor_release(&h);
    CHECK_TEXT(EF_TENSOR(&g), "resource []");
    ef_tensor_release(&g);
    ef_shape nine = {.rank = 9};
    CHECK_FAILS(ef_variable_make(EF_F32, &nine, "y", &v), EF_INVALID, "rank is 9");
    CHECK_FAILS(ef_variable_make(EF_NO_DTYPE, &s, "y", &v), EF_INVALID, "not a dtype");
}

static void *adder(void *arg) {
    ef_variable *v = arg;
    for (int i = 0; i < 500; i++) {
        ef_tensor *value, seen;
        ef_status *s = ef_variable_begin_update(v, &value);
        if (s == NULL) {
            for (int k = 0; k < N; k++) ((float *)value->data)[k] += 1;
            ef_variable_end_update(v);
            s = ef_variable_read(v, &seen);
        }
        if (s != NULL) {
            ef_status_free(s);
            return v;
        }
        const float *f = seen.data; /* a value once read never changes */
        bool even = true;
        for (int k = 1; k < N; k++) even &= f[k] == f[0];
        ef_tensor_release(&seen);
        if (!even) return v;
    }
    return NULL;
}

EF_TEST(threads_update_one_variable) {
    ef_shape s = shape_of(N);
    ef_variable *v;
    ef_tensor t;
    pthread_t threads[4];
    CHECK_OK(ef_variable_make(EF_F32, &s, "sum", &v));
    CHECK_OK(filled(N, 0, &t));
    CHECK_OK(ef_variable_write(v, &t));
    ef_tensor_release(&t);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, adder, v) == 0);
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        CHECK(bad == NULL);
    }
    CHECK_OK(ef_variable_read(v, &t));
    CHECK_NEAR(((float *)t.data)[N / 2], 2000, 0);
    CHECK_INT(v->version, 2001);
    ef_tensor_release(&t);
    drop(v);
}

EF_TEST(failures_change_nothing) {
    ef_shape s = shape_of(N);
    ef_memory_info before, after;
    ef_memory_info_get(0, &before);
    for (uint64_t k = 1;; k++) {
        ef_variable *v = NULL;
        ef_tensor t = {0}, *value;
        ef_alloc_fail_at(k);
        ef_status *st = ef_variable_make(EF_F32, &s, "v", &v);
        if (st == NULL) st = filled(N, 1, &t);
        if (st == NULL) st = ef_variable_write(v, &t);
        if (st == NULL && (st = ef_variable_begin_update(v, &value)) == NULL)
            ef_variable_end_update(v);
        bool failed = ef_alloc_failed();
        ef_alloc_fail_at(0);
        if (st != NULL && v != NULL && v->value.dtype != 0) {
            CHECK(v->value.data == t.data && v->version == 1);
            CHECK_OK(ef_variable_begin_update(v, &value)); /* and it is not left locked */
            ef_variable_end_update(v);
        }
        ef_tensor_release(&t);
        if (v != NULL) drop(v);
        ef_memory_info_get(0, &after);
        CHECK_INT(after.current, before.current);
        if (!failed) {
            CHECK_OK(st);
            return;
        }
        CHECK_FAILS(st, EF_NO_MEMORY, "out of memory");
    }
}

int main(void) {
    EF_RUN(reads_what_was_written);
    EF_RUN(updates_in_place_when_sole);
    EF_RUN(never_writes_into_others_memory);
    EF_RUN(small_values_update_in_place);
    EF_RUN(handles_count_the_variable);
    EF_RUN(threads_update_one_variable);
    EF_RUN(failures_change_nothing);
    return EF_VERDICT();
}
