/* Memory: ops on tensors of changing sizes end with the memory they began with; a memory limit is
 * respected, and the error lists what holds memory. */
#include "example.h"
#include <ef_ops.h>

static void show(const char *when) {
    ef_memory_usage m;
    ok(ef_memory_usage_get("CPU:0", &m));
    printf("%-28s in use %8.2f MiB, peak %8.2f MiB, kept for reuse %8.2f MiB, resident %ld KB\n",
           when, (double)m.current / 1048576, (double)m.peak / 1048576, (double)m.cached / 1048576,
           resident_kb());
}

int main(int argc, char **argv) {
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    show("at the start");
    unsigned seed = 1;
    for (long k = 0; k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        ef_shape s = {.rank = 1, .dim = {1 + (seed >> 8) % (k % 100 == 0 ? 500000 : 5000)}};
        ef_tensor a, b;
        ok(ef_tensor_new(EF_F32, &s, &a));
        const void *data;
        ok(ef_tensor_data(&a, &data));
        memset((void *)data, 0, ef_tensor_bytes(&a));
        ok(ef_do_AddV2(&a, &a, &b));
        ok(ef_tensor_data(&b, &data));
        ef_tensor_release(&a);
        ef_tensor_release(&b);
        if (k == n / 100) show("after the first hundredth");
    }
    show("after all of them");

    ok(ef_memory_limit_set("CPU:0", 64 << 20));
    ef_shape big = {.rank = 1, .dim = {1 << 22}};
    ef_tensor held[8];
    int k = 0;
    ef_status *s = NULL;
    while (k < 8 && (s = ef_tensor_new(EF_F32, &big, &held[k])) == NULL) k++;
    printf("the limit: %s\n", s != NULL ? ef_status_message(s) : "was not reached");
    ef_status_free(s);
    while (k > 0) ef_tensor_release(&held[--k]);
    ok(ef_memory_limit_set("CPU:0", 0));
    ef_memory_release_cached();
    show("after giving it all back");
    return 0;
}
