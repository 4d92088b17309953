/* Every op with arguments at its limits: each change of tests/sweep.h to one example of each text
 * in its record. The fuzzer of the same name tries every dtype and pairs of changes. */
#include "check.h"
#include "device/memory.h"
#include "sweep.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static ef_sweep_call call;

static void on_signal(int number) {
    (void)!write(2, call.about, strlen(call.about));
    (void)!write(2, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:abort_on_error=1:handle_abort=0";
}

static int calls;

static void sweep(const ef_op *op) {
    int row = -1;
    for (int e = 0; e < ef_example_count(op); e++) {
        if (ef_example_row(op, e) == row) continue;
        row = ef_example_row(op, e);
        for (int number = 0; ef_sweep_make(op, e, number, &call); number++, calls++) {
            alarm(100);
            const char *why = ef_sweep_run(&call);
            alarm(0);
            if (why) printf("%s\n    %s\n", call.about, why);
            CHECK(why == NULL);
            ef_sweep_free(&call);
        }
    }
}

EF_TEST(no_op_crashes_or_hangs_at_the_edge) {
    for (int k = 0; k < EF_OP_COUNT; k++)
        if (!(ef_op_table[k]->traits & (EF_CONTROL | EF_NO_KERNEL | EF_EFFECT)))
            sweep(ef_op_table[k]);
    printf("    %d calls\n", calls);
    CHECK(calls > 50000);
}

int main(void) {
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
#ifdef NDEBUG /* with sanitizers these are theirs */
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
#endif
    ef_memory_set_limit(0, INT64_C(1) << 30);
    EF_RUN(no_op_crashes_or_hangs_at_the_edge);
    return EF_VERDICT();
}
