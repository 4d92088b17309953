/* Every op at the edge of what it accepts: each change of each example (tests/sweep.h) once, then
 * random pairs of changes until the time is over. A crash, a sanitizer's report, a call that does
 * not return and an impossible answer are findings.
 *
 *   sweep_fuzz SECONDS SEED           SECONDS 0: each change once, no pairs
 *   sweep_fuzz --list STEP FIRST      every STEP-th call as a line of JSON, for peers_sweep.py
 */
#include "base/clock.h"
#include "base/option.h"
#include "device/memory.h"
#include "sweep.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ef_sweep_call call;
static int findings;
static unsigned long long made;

static bool runs(const ef_op *op) { return !(op->traits & (EF_CONTROL | EF_NO_KERNEL)); }

static void try_call(void) {
    if (ef_option_has("EF_LOG", "fuzz")) fprintf(stderr, "%s\n", call.about);
    alarm(60);
    const char *why = ef_sweep_run(&call);
    alarm(0);
    made++;
    if (!why) return;
    findings++;
    printf("%s\n    %s\n", call.about, why);
    fflush(stdout);
}

static uint64_t draw(uint64_t *state, uint64_t n) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

static void pairs(uint64_t end, uint64_t seed) {
    uint64_t state = seed;
    while (ef_now_ns() < end && findings < 20) {
        const ef_op *op = ef_op_table[draw(&state, EF_OP_COUNT)];
        int n = ef_example_count(op);
        if (!runs(op) || n == 0) continue;
        if (!ef_sweep_make(op, (int)draw(&state, (uint64_t)n), (int)draw(&state, 60), &call))
            continue;
        ef_sweep_change(&call, (int)draw(&state, 150));
        try_call();
        ef_sweep_free(&call);
    }
}

static int list(unsigned long step, unsigned long first) {
    unsigned long k = 0;
    for (int id = 0; id < EF_OP_COUNT; id++)
        for (int e = 0; runs(ef_op_table[id]) && e < ef_example_count(ef_op_table[id]); e++)
            for (int number = 0; ef_sweep_make(ef_op_table[id], e, number, &call); number++) {
                if (k++ % step == first && !call.declared && ef_sweep_moderate(&call))
                    ef_sweep_print(&call, stdout);
                ef_sweep_free(&call);
            }
    return 0;
}

/* When the process ends badly the call must be known. Sanitizers end in SIGABRT here. */
static void on_signal(int number) {
    (void)!write(2, call.about, strlen(call.about));
    (void)!write(2, "\n", 1);
    signal(number, SIG_DFL);
    raise(number);
}
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:abort_on_error=1:handle_abort=0";
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "--list") == 0)
        return list(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    if (argc < 3) {
        fprintf(stderr, "usage: sweep_fuzz SECONDS SEED\n");
        return 2;
    }
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
#ifdef NDEBUG /* with sanitizers these are theirs */
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
#endif
    ef_memory_set_limit(0, INT64_C(1) << 30);
    uint64_t seconds = strtoull(argv[1], NULL, 10), seed = strtoull(argv[2], NULL, 10);
    uint64_t end = ef_now_ns() + seconds * 1000000000u;
    for (int k = 0; k < EF_OP_COUNT && (seconds == 0 || ef_now_ns() < end); k++) {
        const ef_op *op = ef_op_table[((uint64_t)k + seed) % EF_OP_COUNT];
        for (int e = 0; runs(op) && e < ef_example_count(op); e++)
            for (int number = 0; ef_sweep_make(op, e, number, &call); number++) {
                try_call();
                ef_sweep_free(&call);
            }
    }
    pairs(seconds == 0 ? 0 : end, seed);
    printf("sweep_fuzz: %llu calls, %d findings\n", made, findings);
    return findings > 0;
}
