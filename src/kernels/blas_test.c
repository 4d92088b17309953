/* Choosing the kernels of OpenBLAS changes the environment for a moment. The functions of OpenBLAS
 * that this needs are defined here: they claim an unknown processor, and do what another thread may
 * do at that moment. */
#include "check.h"
#include "kernels/blas.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
char *openblas_get_corename(void);
void gotoblas_dynamic_quit(void);
void gotoblas_dynamic_init(void);

static char **during; /* the environment while the kernels are chosen */
static char core_type[32];
static bool acts; /* OpenBLAS calls these functions too, when it is loaded */
static bool only_replaces;

char *openblas_get_corename(void) {
    static char name[] = "Unknown";
    return name;
}

void gotoblas_dynamic_quit(void) {}

void gotoblas_dynamic_init(void) {
    if (!acts) return;
    const char *chosen = getenv("OPENBLAS_CORETYPE");
    during = environ;
    snprintf(core_type, sizeof core_type, "%s", chosen != NULL ? chosen : "");
    setenv(only_replaces ? "EF_SET_BEFORE" : "EF_SET_MEANWHILE", "kept", 1);
}

/* The kernels are chosen once in a process, so a child does this. */
EF_TEST(a_variable_that_is_replaced_meanwhile_stays_replaced) {
    if (!__builtin_cpu_supports("avx2")) SKIP("this processor has no kernels to choose");
    pid_t child = fork();
    if (child == 0) {
        unsetenv("OPENBLAS_CORETYPE");
        setenv("EF_SET_BEFORE", "old", 1);
        char **before = environ;
        acts = only_replaces = true;
        ef_blas_begin();
        const char *now = getenv("EF_SET_BEFORE");
        bool good = core_type[0] != 0 && environ == before && during != before &&
                    getenv("OPENBLAS_CORETYPE") == NULL && now != NULL && strcmp(now, "kept") == 0;
        _exit(good ? 0 : 1);
    }
    int state = -1;
    CHECK(child > 0 && waitpid(child, &state, 0) == child);
    CHECK_INT(state, 0);
}

EF_TEST(the_environment_stays_whole) {
    if (!__builtin_cpu_supports("avx2")) SKIP("this processor has no kernels to choose");
    unsetenv("OPENBLAS_CORETYPE");
    setenv("EF_SET_BEFORE", "kept", 1);
    int n = 0;
    while (environ[n] != NULL) n++;
    char *first = environ[0], *last = environ[n - 1];
    acts = true;
    ef_blas_begin();
    CHECK(core_type[0] != 0);
    CHECK(getenv("OPENBLAS_CORETYPE") == NULL);
    CHECK_TEXT(getenv("EF_SET_BEFORE"), "kept");
    CHECK_TEXT(getenv("EF_SET_MEANWHILE"), "kept");
    CHECK(during[0] == first && during[n - 1] == last && during[n + 1] == NULL);
}
#else
EF_TEST(a_variable_that_is_replaced_meanwhile_stays_replaced) {}
EF_TEST(the_environment_stays_whole) {}
#endif

int main(void) {
    EF_RUN(a_variable_that_is_replaced_meanwhile_stays_replaced);
    EF_RUN(the_environment_stays_whole);
    return EF_VERDICT();
}
