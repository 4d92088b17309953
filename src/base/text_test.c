#include "base/alloc.h"
#include "base/clock.h"
#include "base/option.h"
#include "base/text.h"
#include "check.h"
#include <stdlib.h>

EF_TEST(grows) {
    ef_text t = {0};
    for (int i = 0; i < 1000; i++) ef_text_add(&t, "%d,", i % 10);
    ef_text_bytes(&t, "end", 3);
    CHECK_INT(t.n, 2003);
    CHECK_INT(strlen(t.at), 2003);
    CHECK_TEXT(t.at + 1996, "8,9,end");
    ef_text_free(&t);
    ef_text_add(&t, "%s", "");
    CHECK_TEXT(t.at, "");
    ef_text_free(&t);
}

EF_TEST(remembers_running_out) {
    ef_text t = {0};
    ef_text_add(&t, "kept");
    char big[500];
    memset(big, 'y', sizeof big);
    big[sizeof big - 1] = 0;
    ef_alloc_fail_at(1);
    ef_text_add(&t, "%s", big);
    ef_alloc_fail_at(0);
    CHECK(t.failed);
    CHECK_TEXT(t.at, "kept");
    ef_text_add(&t, "more");
    CHECK(t.failed);
    ef_text_free(&t);
    ef_alloc_fail_at(1);
    ef_text_bytes(&t, "x", 1);
    ef_alloc_fail_at(0);
    CHECK(t.failed && t.n == 0);
    ef_text_free(&t);
}

EF_TEST(bytes_in_words) {
    CHECK_TEXT(EF_BYTES(0), "0 bytes");
    CHECK_TEXT(EF_BYTES(1023), "1023 bytes");
    CHECK_TEXT(EF_BYTES(1536), "1.5 KiB");
    CHECK_TEXT(EF_BYTES(512 << 20), "512.0 MiB");
    CHECK_TEXT(EF_BYTES(INT64_MAX), "8.0 EiB");
}

EF_TEST(options_are_read_once) {
    setenv("EF_TEST_LIST", "-fuse,,plan", 1);
    setenv("EF_TEST_INT", "42", 1);
    setenv("EF_TEST_BAD", "4x", 1);
    CHECK(ef_option_has("EF_TEST_LIST", "-fuse") && ef_option_has("EF_TEST_LIST", "plan"));
    CHECK(!ef_option_has("EF_TEST_LIST", "fuse") && !ef_option_has("EF_TEST_LIST", "pla"));
    CHECK(!ef_option_has("EF_TEST_NONE", "x"));
    CHECK_INT(ef_option_int("EF_TEST_INT", 7), 42);
    CHECK_INT(ef_option_int("EF_TEST_BAD", 7), 7);
    CHECK_INT(ef_option_int("EF_TEST_NONE", 7), 7);
    setenv("EF_TEST_INT", "43", 1);
    CHECK_INT(ef_option_int("EF_TEST_INT", 7), 42);
}

EF_TEST(time_goes_on) {
    uint64_t a = ef_now_ns(), b = ef_now_ns();
    CHECK(a > 0 && b >= a);
}

int main(void) {
    EF_RUN(grows);
    EF_RUN(remembers_running_out);
    EF_RUN(bytes_in_words);
    EF_RUN(options_are_read_once);
    EF_RUN(time_goes_on);
    return EF_VERDICT();
}
