/* Event files: names, records and when they reach the file; messages written field by field. */
#include "check.h"
#include "file/events.h"
#include "file/reader.h"
#include "file/whole_file.h"
#include "file/wire.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_records(const char *path, int expected) {
    ef_reader *r = NULL;
    const char *at;
    size_t n;
    bool end = false;
    int found = 0;
    CHECK_OK(ef_records_open(path, strlen(path), EF_UNCOMPRESSED, 0, &r));
    for (;; found++) {
        CHECK_OK(ef_reader_next(r, &at, &n, &end));
        if (end) break;
        ef_wire w = ef_wire_from(at, n);
        ef_wire_field f;
        while (ef_wire_next(&w, &f)) {}
        CHECK(!w.bad);
    }
    ef_reader_close(r);
    CHECK_INT(found, expected);
}

EF_TEST(events_wait_in_a_queue) {
    char folder[] = "/tmp/ef-events-XXXXXX", deeper[64], pattern[128];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(deeper, sizeof deeper, "%s/a/b", folder);
    snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*.v2", deeper);
    ef_event_file *f = NULL;
    CHECK_OK(ef_event_file_open(deeper, strlen(deeper), ".v2", 3, 2, 1000000, &f));
    ef_paths paths = {0};
    CHECK_OK(ef_file_match(pattern, strlen(pattern), &paths));
    CHECK_INT(paths.n, 1);
    check_records(paths.item[0], 1); /* the version */
    static const int expected[] = {1, 1, 4, 4};
    for (int k = 0; k < 4; k++) {
        ef_text t = {0};
        ef_logged_begin(&t, k);
        CHECK_OK(ef_event_file_put(f, t.at, t.n));
        check_records(paths.item[0], expected[k]);
        ef_text_free(&t);
    }
    CHECK_OK(ef_event_file_flush(f));
    check_records(paths.item[0], 5);
    CHECK_OK(ef_event_file_close(f));
    unlink(paths.item[0]);
    ef_paths_free(&paths);
    rmdir(deeper);
    deeper[strlen(deeper) - 2] = 0;
    rmdir(deeper);
    rmdir(folder);
}

EF_TEST(a_folder_that_cannot_be_made) {
    ef_event_file *f = NULL;
    ef_status *s = ef_event_file_open("/dev/null/x", 11, "", 0, 1, 1, &f);
    CHECK(s != NULL && f == NULL);
    ef_status_free(s);
    CHECK_OK(ef_event_file_close(NULL));
}

/* A message that grows beyond 127 and 16383 bytes needs longer sizes in front of it. */
EF_TEST(messages_inside_messages) {
    static const size_t sizes[] = {0, 1, 100, 127, 128, 5000, 20000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        static char bytes[20001];
        ef_text t = {0};
        memset(bytes, 'x', sizes[k]);
        const size_t outer = ef_wire_begin(&t, 3), inner = ef_wire_begin(&t, 7);
        ef_wire_put_bytes(&t, 1, bytes, sizes[k]);
        ef_wire_end(&t, inner);
        ef_wire_put_float(&t, 2, 1.5f);
        ef_wire_end(&t, outer);
        ef_wire w = ef_wire_from(t.at, t.n);
        ef_wire_field f, g, h;
        CHECK(ef_wire_next(&w, &f) && f.number == 3 && !ef_wire_next(&w, &g) && !w.bad);
        CHECK(ef_wire_next(&f.bytes, &g) && g.number == 7);
        CHECK(ef_wire_next(&g.bytes, &h) && h.number == 1 && ef_wire_is(&h.bytes, bytes, sizes[k]));
        CHECK(ef_wire_next(&f.bytes, &g) && g.number == 2 && g.value == 0x3fc00000u);
        ef_text_free(&t);
    }
}

int main(void) {
    EF_RUN(events_wait_in_a_queue);
    EF_RUN(a_folder_that_cannot_be_made);
    EF_RUN(messages_inside_messages);
    return EF_VERDICT();
}
