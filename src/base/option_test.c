/* Options: the value in the environment counts, however long it is and however many there are. */
#include "base/option.h"
#include "check.h"
#include <stdio.h>
#include <stdlib.h>

EF_TEST(last_word_of_a_long_list) {
    char list[4000] = "first";
    for (int k = 0; k < 300; k++) snprintf(list + 5 + k * 9, 32, ",word%04d", k);
    CHECK(setenv("EF_LONG_LIST", list, 1) == 0);
    for (int k = 0; k < 2; k++) {
        CHECK(ef_option_has("EF_LONG_LIST", "first"));
        CHECK(ef_option_has("EF_LONG_LIST", "word0299"));
        CHECK(!ef_option_has("EF_LONG_LIST", "word0300"));
        CHECK(!ef_option_has("EF_LONG_LIST", "word"));
    }
}

EF_TEST(read_once) {
    CHECK(setenv("EF_ONCE", "5", 1) == 0);
    CHECK(ef_option_int("EF_ONCE", 1) == 5);
    CHECK(setenv("EF_ONCE", "6", 1) == 0);
    CHECK(ef_option_int("EF_ONCE", 1) == 5);
    CHECK(ef_option_int("EF_NOT_SET", 7) == 7);
    CHECK(!ef_option_has("EF_NOT_SET", ""));
}

EF_TEST(more_options_than_are_remembered) {
    char name[32], value[16];
    for (int k = 0; k < 100; k++) {
        snprintf(name, sizeof name, "EF_NUMBER_%d", k);
        snprintf(value, sizeof value, "%d", k);
        CHECK(setenv(name, value, 1) == 0);
        for (int again = 0; again < 2; again++) CHECK(ef_option_int(name, -1) == k);
    }
}

int main(void) {
    EF_RUN(last_word_of_a_long_list);
    EF_RUN(read_once);
    EF_RUN(more_options_than_are_remembered);
    return EF_VERDICT();
}
