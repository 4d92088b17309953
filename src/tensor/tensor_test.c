#include "base/alloc.h"
#include "check.h"
#include "device/memory.h"
#include "tensor/object.h"
#include "tensor/tensor.h"

#define SHAPE(...)                                                                         \
    &(ef_shape) {                                                                          \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dim = { __VA_ARGS__ } \
    }

static int64_t blocks(void) {
    ef_memory_info i;
    ef_memory_info_get(0, &i);
    return i.blocks;
}

EF_TEST(small_values_need_no_allocator) {
    int64_t held = blocks();
    uint64_t before = ef_alloc_count();
    ef_tensor a, b, c;
    float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK_OK(ef_tensor_from(EF_F32, SHAPE(2, 4), v, &a));
    CHECK(a.storage == NULL && a.data == a.small);
    ef_tensor_copy(&b, &a);
    CHECK(b.data == b.small && ((float *)b.data)[7] == 8);
    ef_tensor_move(&c, &b);
    CHECK(c.data == c.small && b.dtype == 0 && b.data == NULL);
    CHECK_TEXT(EF_TENSOR(&c), "float32 [2, 4]");
    CHECK_INT(ef_tensor_count(&c), 8);
    CHECK_INT(ef_tensor_bytes(&c), 32);
    ef_tensor_release(&a);
    ef_tensor_release(&b);
    ef_tensor_release(&c);
    ef_tensor_release(&c);
    CHECK_INT(ef_alloc_count(), before);
    CHECK_INT(blocks(), held);
}

EF_TEST(larger_values_are_shared) {
    static const int64_t sizes[] = {9, 256, 300, 100000};
    int64_t held = blocks();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ef_tensor a, b, r;
        CHECK_OK(ef_tensor_new(EF_I32, SHAPE(sizes[i]), &a));
        CHECK_INT((uintptr_t)a.data % 64, 0);
        for (int64_t k = 0; k < sizes[i]; k++) ((int32_t *)a.data)[k] = (int32_t)k;
        CHECK(ef_storage_sole(a.storage));
        ef_tensor_copy(&b, &a);
        CHECK(b.data == a.data && !ef_storage_sole(a.storage));
        ef_tensor_reshaped(&r, &b, SHAPE(1, sizes[i], 1));
        CHECK(r.data == a.data && r.rank == 3);
        ef_tensor_release(&a);
        ef_tensor_release(&b);
        CHECK_INT(((int32_t *)r.data)[sizes[i] - 1], sizes[i] - 1);
        ef_tensor_release(&r);
    }
    CHECK_INT(blocks(), held);
}

EF_TEST(empty_tensors) {
    ef_tensor a, s;
    const void *data = NULL;
    CHECK_OK(ef_tensor_from(EF_F64, SHAPE(3, 0), NULL, &a));
    CHECK_OK(ef_tensor_data(&a, &data));
    CHECK(data != NULL && ef_tensor_count(&a) == 0 && ef_tensor_bytes(&a) == 0);
    CHECK_OK(ef_tensor_from(EF_STRING, SHAPE(0), NULL, &s));
    CHECK(s.data != NULL && s.storage == NULL);
    ef_tensor c;
    CHECK_OK(ef_tensor_clone(&c, &s));
    CHECK(ef_tensor_same_bytes(&c, &s));
    ef_tensor_release(&a);
    ef_tensor_release(&s);
    ef_tensor_release(&c);
}

EF_TEST(bad_requests_name_the_values) {
    ef_tensor t = {0};
    const void *data;
    ef_shape nine = {.rank = 9};
    CHECK_FAILS(ef_tensor_new(EF_F32, &nine, &t), EF_INVALID,
                "the rank is 9; it must be from 0 to 8");
    CHECK_FAILS(ef_tensor_new(EF_F32, SHAPE(2, -5), &t), EF_INVALID, "dimension 1 of [2, ?] is -5");
    CHECK_FAILS(ef_tensor_new(EF_F32, SHAPE(INT64_MAX, 2), &t), EF_INVALID, "more bytes");
    CHECK_FAILS(ef_tensor_new(EF_F64, SHAPE(INT64_MAX / 4), &t), EF_INVALID, "more bytes");
    CHECK_FAILS(ef_tensor_new((ef_dtype)34, NULL, &t), EF_INVALID, "34 is not a dtype");
    CHECK_FAILS(ef_tensor_new(EF_RESOURCE, NULL, &t), EF_INVALID, "resource");
    CHECK_FAILS(ef_tensor_new(EF_F32, NULL, NULL), EF_INVALID, "NULL");
    CHECK_FAILS(ef_tensor_from(EF_F32, SHAPE(2), NULL, &t), EF_INVALID, "`values` is NULL");
    CHECK_FAILS(ef_tensor_from(EF_F32, NULL, &t, NULL), EF_INVALID, "`out` is NULL");
    CHECK_FAILS(ef_tensor_from(EF_STRING, SHAPE(1), (const char *[]){NULL}, &t), EF_INVALID,
                "string 0 is NULL");
    CHECK_FAILS(ef_tensor_new(EF_F32, SHAPE((int64_t)1 << 50), &t), EF_NO_MEMORY, "out of memory");
    CHECK(t.dtype == 0);
    CHECK_FAILS(ef_tensor_data(&t, &data), EF_INVALID, "released");
    CHECK_FAILS(ef_tensor_data(NULL, &data), EF_INVALID, "NULL");
    CHECK_FAILS(ef_tensor_data(&t, NULL), EF_INVALID, "NULL");
    ef_tensor symbolic = {.dtype = EF_F32, .flags = EF_TENSOR_SYMBOLIC};
    CHECK_FAILS(ef_tensor_data(&symbolic, &data), EF_INVALID, "symbolic");
    CHECK_INT(ef_tensor_count(NULL), -1);
    ef_tensor_release(NULL);
}

EF_TEST(strings_own_their_bytes) {
    char word[] = "second";
    const char *v[4] = {"", word, "a rather long string that fits nowhere inline", "x"};
    ef_tensor a, b;
    CHECK_OK(ef_tensor_from(EF_STRING, SHAPE(2, 2), v, &a));
    word[0] = 'X';
    const ef_str *s = a.data;
    CHECK(s[0].n == 0 && s[1].n == 6 && memcmp(s[1].at, "second", 6) == 0);
    CHECK_OK(ef_tensor_clone(&b, &a));
    CHECK(b.data != a.data && ef_tensor_same_bytes(&a, &b));
    CHECK_INT(ef_tensor_hash(1, &a), ef_tensor_hash(1, &b));
    CHECK_OK(ef_str_set((ef_str *)b.data + 3, "y", 1));
    CHECK(!ef_tensor_same_bytes(&a, &b) && ef_tensor_hash(1, &a) != ef_tensor_hash(1, &b));
    ef_tensor_release(&a);
    ef_tensor_release(&b);
}

EF_TEST(compare_and_hash) {
    float v[12] = {0}, w[12] = {0};
    w[11] = -0.0f;
    ef_tensor a, b, c, d;
    CHECK_OK(ef_tensor_from(EF_F32, SHAPE(12), v, &a));
    CHECK_OK(ef_tensor_from(EF_F32, SHAPE(12), w, &b));
    CHECK_OK(ef_tensor_from(EF_F32, SHAPE(3, 4), v, &c));
    CHECK_OK(ef_tensor_clone(&d, &a));
    CHECK(!ef_tensor_same_bytes(&a, &b) && !ef_tensor_same_bytes(&a, &c));
    CHECK(ef_tensor_same_bytes(&a, &d) && d.data != a.data);
    CHECK(ef_tensor_hash(0, &a) != ef_tensor_hash(0, &b));
    CHECK(ef_tensor_hash(0, &a) != ef_tensor_hash(0, &c));
    CHECK(ef_tensor_hash(0, &a) == ef_tensor_hash(0, &d));
    ef_tensor_release(&a);
    ef_tensor_release(&b);
    ef_tensor_release(&c);
    ef_tensor_release(&d);
}

static void mark(void *arg) { ++*(int *)arg; }

EF_TEST(foreign_memory_ends_once) {
    float v[3] = {1, 2, 3};
    int ended = 0;
    ef_tensor a, b;
    CHECK_OK(ef_tensor_wrap(EF_F32, SHAPE(3), v, mark, &ended, &a));
    CHECK(a.data == v);
    ef_tensor_copy(&b, &a);
    ef_tensor_release(&a);
    CHECK_INT(ended, 0);
    ef_tensor_release(&b);
    CHECK_INT(ended, 1);
    CHECK_FAILS(ef_tensor_wrap(EF_STRING, SHAPE(3), v, mark, &ended, &a), EF_INVALID, "string");
    CHECK_FAILS(ef_tensor_wrap(EF_F32, SHAPE(3), NULL, mark, &ended, &a), EF_INVALID, "NULL");
    CHECK_OK(ef_tensor_wrap(EF_F32, SHAPE(0), NULL, NULL, NULL, &a));
    CHECK(a.data != NULL);
    ef_tensor_release(&a);
    CHECK_INT(ended, 1);
}

static float computed_value[100];

static void pending_end(ef_storage *self) { ef_free(self); }

static ef_status *materialize(ef_storage *s) {
    if (s->bytes == 0) return ef_error(EF_ABORTED, "the work failed");
    s->data = computed_value;
    return NULL;
}

EF_TEST(deferred_values_are_computed_when_read) {
    for (int good = 0; good < 2; good++) {
        ef_storage *s = ef_calloc(1, sizeof *s);
        CHECK(s);
        *s = (ef_storage){.kind = EF_STORE_PENDING,
                          .bytes = good ? 400 : 0,
                          .end = pending_end,
                          .materialize = materialize};
        atomic_init(&s->refs, 1);
        ef_tensor t = {.dtype = EF_F32, .rank = 1, .dim = {100}, .storage = s}, copy;
        const void *data;
        ef_tensor_copy(&copy, &t);
        if (good) {
            CHECK_OK(ef_tensor_data(&t, &data));
            CHECK(data == computed_value);
            CHECK_OK(ef_tensor_materialize(&copy));
            CHECK(copy.data == computed_value);
        } else {
            CHECK_FAILS(ef_tensor_data(&t, &data), EF_ABORTED, "the work failed");
        }
        ef_tensor_release(&t);
        ef_tensor_release(&copy);
    }
}

/* Every allocation fails in turn; nothing is left behind. */
EF_TEST(failures_leave_nothing) {
    const char *v[3] = {"one", "two", "three"};
    static float large[5000];
    int64_t held = blocks();
    for (uint64_t k = 1;; k++) {
        ef_tensor a = {0}, b = {0}, c = {0}, w = {0};
        ef_alloc_fail_at(k);
        ef_status *s = ef_tensor_from(EF_STRING, SHAPE(3), v, &a);
        if (s == NULL) s = ef_tensor_clone(&b, &a);
        if (s == NULL) s = ef_tensor_from(EF_F32, SHAPE(5000), large, &c);
        if (s == NULL) s = ef_tensor_wrap(EF_F32, SHAPE(5000), large, NULL, NULL, &w);
        bool failed = ef_alloc_failed();
        ef_alloc_fail_at(0);
        ef_tensor_release(&a);
        ef_tensor_release(&b);
        ef_tensor_release(&c);
        ef_tensor_release(&w);
        CHECK_INT(blocks(), held);
        if (!failed) {
            CHECK_OK(s);
            CHECK(k > 8);
            return;
        }
        CHECK_FAILS(s, EF_NO_MEMORY, "out of memory");
    }
}

int main(void) {
    EF_RUN(small_values_need_no_allocator);
    EF_RUN(larger_values_are_shared);
    EF_RUN(empty_tensors);
    EF_RUN(bad_requests_name_the_values);
    EF_RUN(strings_own_their_bytes);
    EF_RUN(compare_and_hash);
    EF_RUN(foreign_memory_ends_once);
    EF_RUN(deferred_values_are_computed_when_read);
    EF_RUN(failures_leave_nothing);
    return EF_VERDICT();
}
