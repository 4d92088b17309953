/* Attributes: given values, defaults, rejected values and their messages; sharing, hashing, and
 * clean failure when memory runs out. */
#include "base/alloc.h"
#include "check.h"
#include "ops/attr.h"
#include "ops/op.h"
#include "ops/signature.h"

static const ef_op *conv, *reduce;

static ef_status *make(const ef_op *op, const ef_attr_value *set, int n) {
    const ef_attrs *a = NULL;
    ef_status *s = ef_attrs_make(op, set, n, &a);
    ef_attrs_unref(a);
    return s;
}

EF_TEST(defaults_are_shared) {
    const ef_attrs *a = ef_attrs_default(reduce), *b = NULL;
    CHECK(a != NULL && a == ef_attrs_default(reduce));
    CHECK_OK(ef_attrs_make(reduce, NULL, 0, &b));
    CHECK(a == b);
    ef_attrs_unref(b); /* NULL is allowed */
    CHECK(ef_attrs_default(reduce) == a);
    CHECK(ef_attrs_default(conv) == NULL); /* strides have no default */
    ef_attr_value v;
    CHECK_OK(ef_attrs_get(reduce, ef_attrs_fields(a), "keep_dims", &v));
    CHECK(v.kind == EF_ATTR_BOOL && !v.as.b);
}

EF_TEST(values_come_back) {
    static const int64_t strides[] = {1, 2, 2, 1};
    ef_attr_value set[] = {EF_SET_INTS("strides", 4, strides), EF_SET_STRING("padding", "VALID")},
                  v;
    const ef_attrs *a, *b, *c;
    CHECK_OK(ef_attrs_make(conv, set, 2, &a));
    CHECK_OK(ef_attrs_get(conv, ef_attrs_fields(a), "strides", &v));
    CHECK_INT(v.n, 4);
    CHECK_INT(v.as.ints[1], 2);
    CHECK(v.as.ints != strides); /* its own copy */
    CHECK_OK(ef_attrs_get(conv, ef_attrs_fields(a), "padding", &v));
    CHECK_TEXT(v.as.s, "VALID");
    CHECK_OK(ef_attrs_get(conv, ef_attrs_fields(a), "data_format", &v));
    CHECK_TEXT(v.as.s, "NHWC");
    CHECK_FAILS(ef_attrs_get(conv, ef_attrs_fields(a), "stride", &v), EF_INVALID,
                "Conv2D: there is no attribute 'stride'; its attributes are: strides");
    CHECK_OK(ef_attrs_make(conv, set, 2, &b));
    set[1].as.s = "SAME";
    CHECK_OK(ef_attrs_make(conv, set, 2, &c));
    CHECK(a != b && ef_attrs_equal(a, b) && ef_attrs_hash(a) == ef_attrs_hash(b));
    CHECK(!ef_attrs_equal(a, c) && ef_attrs_hash(a) != ef_attrs_hash(c));
    CHECK(ef_attrs_bytes(a) > 100);
    ef_attrs_unref(ef_attrs_ref(a));
    ef_attrs_unref(a);
    ef_attrs_unref(b);
    ef_attrs_unref(c);
}

EF_TEST(refusals_say_why) {
    static const int64_t strides[] = {1, 1, 1, 1};
    ef_attr_value s = EF_SET_INTS("strides", 4, strides), p = EF_SET_STRING("padding", "SAME");
    ef_attr_value wrong = EF_SET_STRING("padding", "ROUND"), twice[] = {s, s, p};
    CHECK_FAILS(make(conv, &p, 1), EF_INVALID,
                "Conv2D: attribute strides is missing; it is list(int) and has no default");
    CHECK_FAILS(make(conv, (ef_attr_value[]){s, wrong}, 2), EF_INVALID,
                "Conv2D: attribute padding is 'ROUND'; it is declared as {'SAME', 'VALID'");
    CHECK_FAILS(make(conv, twice, 3), EF_INVALID, "attribute strides is given twice");
    CHECK_FAILS(make(conv, (ef_attr_value[]){EF_SET_INT("strides", 1)}, 1), EF_INVALID,
                "attribute strides is given an int; it is declared as list(int)");
    CHECK_FAILS(make(conv, (ef_attr_value[]){EF_SET_INT("colour", 1)}, 1), EF_INVALID,
                "Conv2D: there is no attribute 'colour'");
    CHECK_FAILS(make(conv, (ef_attr_value[]){EF_SET_INTS("strides", 4, NULL)}, 1), EF_INVALID,
                "null pointer");
    CHECK_FAILS(make(conv, (ef_attr_value[]){EF_SET_INTS("strides", -4, strides)}, 1), EF_INVALID,
                "impossible number");
    CHECK_FAILS(make(conv, (ef_attr_value[]){EF_SET_STRING(NULL, "x")}, 1), EF_INVALID, "(null)");
    CHECK_FAILS(make(conv, NULL, 3), EF_INVALID, "3 attributes");
    CHECK_FAILS(make(ef_op_find("Cast"), (ef_attr_value[]){EF_SET_TYPE("DstT", (ef_dtype)77)}, 1),
                EF_INVALID, "not a dtype");
    CHECK_FAILS(ef_attrs_make(NULL, NULL, 0, NULL), EF_INVALID, "must not be NULL");
}

/* GraphDefs contain the attributes that the inputs determine; they are checked and then ignored. */
EF_TEST(inferred_names_pass) {
    CHECK_OK(make(reduce, (ef_attr_value[]){EF_SET_TYPE("T", EF_F32)}, 1));
    CHECK_FAILS(make(reduce, (ef_attr_value[]){EF_SET_TYPE("T", EF_STRING)}, 1), EF_INVALID,
                "Sum: T is string");
    CHECK_OK(make(ef_op_find("ConcatV2"), (ef_attr_value[]){EF_SET_INT("N", 2)}, 1));
    CHECK_FAILS(make(ef_op_find("ConcatV2"), (ef_attr_value[]){EF_SET_INT("N", 1)}, 1), EF_INVALID,
                "at least 2");
}

EF_TEST(tensors_are_owned) {
    const ef_op *op = ef_op_find("Const");
    ef_tensor t = {0};
    ef_shape shape = {.rank = 1, .dim = {100}};
    CHECK_OK(ef_tensor_new(EF_F32, &shape, &t));
    for (int k = 0; k < 100; k++) ((float *)t.data)[k] = (float)k;
    ef_attr_value set[] = {EF_SET_TENSOR("value", &t), EF_SET_TYPE("dtype", EF_F32)}, v;
    const ef_attrs *a, *b;
    CHECK_OK(ef_attrs_make(op, set, 2, &a));
    CHECK_OK(ef_attrs_make(op, set, 2, &b));
    CHECK(ef_attrs_equal(a, b));
    ef_tensor_release(&t);
    CHECK_OK(ef_attrs_get(op, ef_attrs_fields(a), "value", &v));
    CHECK_NEAR(((const float *)v.as.tensor->data)[99], 99, 0);
    ef_attrs_unref(a);
    ef_attrs_unref(b);
}

EF_TEST(gradient_ops_take_after_forward) {
    const ef_op *back = ef_op_find("Conv2DBackpropInput");
    static const int64_t strides[] = {1, 2, 2, 1};
    ef_attr_value set[] = {EF_SET_INTS("strides", 4, strides), EF_SET_STRING("padding", "VALID")},
                  v;
    const ef_attrs *a, *b;
    CHECK_OK(ef_attrs_make(conv, set, 2, &a));
    CHECK_OK(ef_attrs_like(back, conv, ef_attrs_fields(a), NULL, 0, &b));
    CHECK_OK(ef_attrs_get(back, ef_attrs_fields(b), "padding", &v));
    CHECK_TEXT(v.as.s, "VALID");
    CHECK_OK(ef_attrs_get(back, ef_attrs_fields(b), "strides", &v));
    CHECK_INT(v.as.ints[2], 2);
    ef_attrs_unref(a);
    ef_attrs_unref(b);
}

EF_TEST(memory_may_run_out) {
    static const int64_t strides[] = {1, 2, 2, 1};
    ef_attr_value set[] = {EF_SET_INTS("strides", 4, strides), EF_SET_STRING("padding", "VALID")};
    CHECK_OK(make(conv, set, 2));
    ef_alloc_fail_at(1);
    ef_status *s = make(conv, set, 2);
    ef_alloc_fail_at(0);
    CHECK_FAILS(s, EF_NO_MEMORY, "");
}

/* The choices of all records fit the table that stores them. */
EF_TEST(choices_have_their_words) {
    int words = 0;
    for (int k = 0; k < EF_OP_COUNT; k++) {
        const ef_op *op = ef_op_table[k];
        for (int a = 0; a < EF_MAX_ATTRS && op->attr[a].name != NULL; a++) {
            int quotes = 0;
            for (const char *p = op->attr[a].type; *p != '\0'; p++) quotes += *p == '\'';
            for (int c = 0; c < quotes / 2; c++, words++)
                CHECK(ef_choice_find(op->attr[a].type, ef_choice_name(op->attr[a].type, c)) == c);
        }
    }
    CHECK(words > 100);
}

int main(void) {
    conv = ef_op_find("Conv2D");
    reduce = ef_op_find("Sum");
    if (!conv || !reduce) return 1;
    EF_RUN(defaults_are_shared);
    EF_RUN(values_come_back);
    EF_RUN(refusals_say_why);
    EF_RUN(inferred_names_pass);
    EF_RUN(tensors_are_owned);
    EF_RUN(gradient_ops_take_after_forward);
    EF_RUN(choices_have_their_words);
    EF_RUN(memory_may_run_out);
    return EF_VERDICT();
}
