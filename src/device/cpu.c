/* CPU:0: the host as a device. The engine's own paths do not come through this table, since the
 * host's memory needs no copies and its work no queue: memory.c is called directly, and kernels run
 * in the thread that wants them. The table is for code that treats all devices alike. */
#include "device/table.h"

static ef_status *cpu_alloc(size_t bytes, void **out) {
    return ef_memory_alloc(EF_HOST, bytes, out);
}
static void cpu_free(void *p, size_t bytes) { ef_memory_free(EF_HOST, p, bytes); }
static void cpu_info(ef_memory_info *out) { ef_memory_info_get(EF_HOST, out); }
static void cpu_set_limit(int64_t bytes) { ef_memory_set_limit(EF_HOST, bytes); }
static void cpu_reset_peak(void) { ef_memory_reset_peak(EF_HOST); }
static void cpu_trim(void) { ef_memory_trim(EF_HOST); }

/* The calling thread is the queue: work is over when submit returns, so every event has happened.
 */
static void cpu_submit(ef_work *w) {
    if (w->batch->failed == NULL) w->batch->failed = w->run(w);
}
static uint64_t cpu_record(void) { return 1; }
static void cpu_wait(uint64_t event) { (void)event; }
static void *cpu_reach(void *p) { return p; }

const ef_device ef_device_cpu = {
    .name = "CPU:0",
    .type = "CPU",
    .kind = EF_CPU,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .info = cpu_info,
    .set_limit = cpu_set_limit,
    .reset_peak = cpu_reset_peak,
    .trim = cpu_trim,
    .submit = cpu_submit,
    .record = cpu_record,
    .wait = cpu_wait,
    .reach = cpu_reach,
};
