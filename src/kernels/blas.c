/* OpenBLAS selects its kernels by the processor's model number. A processor that is newer than the
 * library gets kernels of 2004, which take four to five times as long. The environment variable
 * OPENBLAS_CORETYPE overrides the selection, and exported functions repeat it; if both exist, an
 * unknown processor gets the kernels that fit its instructions. */
#include "kernels/blas.h"
#include "base/alloc.h"
#include "base/pool.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
char *openblas_get_corename(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));
void gotoblas_dynamic_init(void) __attribute__((weak));

/* Adds one variable to the environment temporarily, by replacing the list: other threads read
 * either the old or the new list, both complete, which setenv() does not guarantee. The new list is
 * never freed, since a thread may still be reading it. What other threads set meanwhile stays set:
 * a variable that was there before was replaced in the new list, and one that was not made setenv()
 * copy the list, with our variable in it. */
static void choose(char *setting) {
    static char **list;
    size_t n = 0;
    while (environ != NULL && environ[n] != NULL) n++;
    char **before = environ, **ours;
    char **copy = ef_malloc((n + 1) * sizeof *copy);
    list = ef_malloc((n + 2) * sizeof *list);
    if (list == NULL || copy == NULL) {
        ef_free(list);
        ef_free(copy);
        return;
    }
    for (size_t k = 0; k < n; k++) list[k] = copy[k] = before[k];
    list[n] = setting, list[n + 1] = NULL;
    environ = ours = list;
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    if (!__atomic_compare_exchange_n(&environ, &ours, before, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        unsetenv("OPENBLAS_CORETYPE");
    else
        for (size_t k = 0; k < n && list[k] != NULL; k++)
            if (list[k] != copy[k]) before[k] = list[k];
    ef_free(copy);
}

static void tune(void) {
    static char avx512[] = "OPENBLAS_CORETYPE=SkylakeX", avx2[] = "OPENBLAS_CORETYPE=Haswell";
    if (openblas_get_corename == NULL || gotoblas_dynamic_quit == NULL ||
        gotoblas_dynamic_init == NULL || getenv("OPENBLAS_CORETYPE") != NULL)
        return;
    static const char *const old[] = {"Prescott", "Core2", "Nehalem", "Generic", "Unknown"};
    bool unknown = false;
    for (size_t k = 0; k < sizeof old / sizeof *old; k++)
        unknown = unknown || strcmp(openblas_get_corename(), old[k]) == 0;
    if (!unknown) return;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        choose(avx512);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        choose(avx2);
}
#else
static void tune(void) {}
#endif

void ef_blas_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, tune);
    ef_pool_single();
}
