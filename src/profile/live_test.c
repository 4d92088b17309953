#include "check.h"
#include "profile/event.h"
#include "profile/site.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void sessions(int n) {
    for (int k = 0; k < n; k++) {
        EF_HERE();
        ef_event_post(&(ef_event_new){.kind = EF_EVENT_SESSION, .value = {1}});
    }
}

static const ef_tally *tally_of(const ef_doctor *d, int kind) {
    const ef_tally *t;
    size_t n = ef_doctor_tallies(d, &t);
    for (size_t k = 0; k < n; k++)
        if (t[k].kind == kind && t[k].place != 0) return &t[k];
    return NULL;
}

EF_TEST(own_sums) {
    ef_tallies_reset();
    sessions(7);
    ef_doctor *d;
    CHECK_OK(ef_doctor_open(0, &d));
    const ef_tally *t = tally_of(d, EF_EVENT_SESSION);
    ef_site_info s;
    CHECK(t != NULL && t->count == 7 && t->sum[0] == 7);
    CHECK(t != NULL && ef_doctor_site(d, t->place, &s));
    CHECK_TEXT(s.function, "sessions");
    CHECK(ef_doctor_seconds(d) > 0 && ef_doctor_seconds(d) < 600);
    CHECK(!ef_doctor_site(d, 0, &s));
    ef_doctor_free(d);
    ef_doctor_free(NULL);
}

/* A process that was started without any preparation for it. */
EF_TEST(sums_of_another_process) {
    int ready[2];
    char byte;
    ef_tallies_reset();
    if (pipe(ready) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        sessions(23);
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    CHECK(child > 0 && read(ready[0], &byte, 1) == 1);
    ef_doctor *d = NULL;
    ef_status *bad = ef_doctor_open(child, &d);
    if (bad != NULL && ef_status_code(bad) == EF_PERMISSION_DENIED) {
        ef_status_free(bad); /* this machine does not let processes be read */
    } else {
        CHECK_OK(bad);
        const ef_tally *t = tally_of(d, EF_EVENT_SESSION);
        ef_site_info s = {0};
        CHECK(t != NULL && t->count == 23);
        CHECK(t != NULL && ef_doctor_site(d, t->place, &s));
        CHECK_TEXT(s.function, "sessions");
    }
    ef_doctor_free(d);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    CHECK_FAILS(ef_doctor_open(child, &d), EF_NOT_FOUND, "does not exist");
}

EF_TEST(sums_as_a_file) {
    ef_tallies_reset();
    sessions(3);
    char path[] = "/tmp/evenflow_live_XXXXXX", text[4096];
    int file = mkstemp(path);
    ef_doctor *d;
    CHECK_OK(ef_doctor_open(getpid(), &d));
    CHECK_OK(ef_doctor_save(d, path));
    ssize_t n = read(file, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    CHECK(strstr(text, "{\"evenflow_doctor\": 1, ") == text);
    CHECK(strstr(text, "\"kind\": \"session closed\"") != NULL);
    CHECK(strstr(text, "\"sessions\"]") != NULL);
    close(file);
    remove(path);
    CHECK_FAILS(ef_doctor_save(d, "/nowhere/sums.json"), EF_NOT_FOUND, "cannot write");
    ef_doctor_free(d);
}

int main(void) {
    EF_RUN(own_sums);
    EF_RUN(sums_of_another_process);
    EF_RUN(sums_as_a_file);
    return EF_VERDICT();
}
