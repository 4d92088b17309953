#include "check.h"
#include "device/device.h"

EF_TEST(finds_devices_by_any_spelling) {
    static const char *const cpu[] = {"CPU:0",  "cpu:0",
                                      "/cpu:0", "/device:CPU:0",
                                      "CPU",    "/job:localhost/replica:0/task:0/device:CPU:0"};
    static const char *const none[] = {"",      "CPU:1", "CPU:", "CPU:x", "CPU:0x",
                                       "GPU:0", "/",     "CP",   "CPU0"};
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++) CHECK_INT(ef_device_find(cpu[i]), 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK_INT(ef_device_find(none[i]), -1);
    CHECK_INT(ef_device_find(NULL), -1);
    CHECK_INT(ef_device_count(), 1);
    CHECK_TEXT(ef_device_name(0), "CPU:0");
    CHECK(ef_device_name(1) == NULL && ef_device_name(-1) == NULL);
}

int main(void) {
    EF_RUN(finds_devices_by_any_spelling);
    return EF_VERDICT();
}
