#include "base/alloc.h"
#include "base/status.h"
#include "check.h"

EF_TEST(success_is_null) {
    CHECK_INT(ef_status_code(NULL), EF_OK);
    CHECK_TEXT(ef_status_message(NULL), "");
    ef_status_free(NULL);
}

EF_TEST(carries_code_and_message) {
    ef_status *s = ef_error(EF_INVALID, "Pad: %d is not %s", 3, "even");
    CHECK_INT(ef_status_code(s), EF_INVALID);
    CHECK_TEXT(ef_status_message(s), "Pad: 3 is not even");
    s = ef_status_add(s, "at %s:%d", "model.py", 41);
    CHECK_TEXT(ef_status_message(s), "Pad: 3 is not even \n    at model.py:41");
    ef_status_free(s);
    CHECK_FAILS(ef_no_memory(77), EF_NO_MEMORY, "77 bytes");
}

EF_TEST(keeps_long_messages) {
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    ef_status *s = ef_error(EF_INTERNAL, "%s", text);
    CHECK_TEXT(ef_status_message(s), text);
    ef_status_free(s);
}

EF_TEST(says_so_without_memory) {
    ef_alloc_fail_at(1);
    ef_status *s = ef_error(EF_INVALID, "never seen");
    CHECK_INT(ef_status_code(s), EF_NO_MEMORY);
    CHECK(strstr(ef_status_message(s), "out of memory"));
    CHECK(ef_status_add(s, "more") == s);
    ef_status_free(s);
    ef_status_free(s);
    s = ef_error(EF_INVALID, "kept");
    ef_alloc_fail_at(1);
    s = ef_status_add(s, "lost");
    ef_alloc_fail_at(0);
    CHECK_TEXT(ef_status_message(s), "kept");
    ef_status_free(s);
}

int main(void) {
    EF_RUN(success_is_null);
    EF_RUN(carries_code_and_message);
    EF_RUN(keeps_long_messages);
    EF_RUN(says_so_without_memory);
    return EF_VERDICT();
}
