/* Event files: TFRecord files of Event messages, in the folder and under the name where TensorBoard
 * looks for them. */
#ifndef EF_FILE_EVENTS_H
#define EF_FILE_EVENTS_H
#include "base/text.h"

typedef enum ef_logged_field { /* of an Event message */
                               EF_LOGGED_WALL_TIME = 1,
                               EF_LOGGED_STEP = 2,
                               EF_LOGGED_FILE_VERSION = 3,
                               EF_LOGGED_GRAPH_DEF = 4,
                               EF_LOGGED_SUMMARY = 5,
                               EF_LOGGED_SOURCE = 10
} ef_logged_field;

typedef struct ef_event_file ef_event_file; /* one thread at a time */
/* Makes the folder and in it the file events.out.tfevents.SECONDS.HOST.PID.NUMBER<suffix>, whose
 * first record names the format. Events reach the file when more than `queue` of them are waiting,
 * or when one is written more than flush_ms after the last flush. */
ef_status *ef_event_file_open(const char *folder, size_t n, const char *suffix, size_t n_suffix,
                              int64_t queue, int64_t flush_ms, ef_event_file **out);
ef_status *ef_event_file_put(ef_event_file *f, const char *event, size_t n);
ef_status *ef_event_file_flush(ef_event_file *f);
ef_status *ef_event_file_close(ef_event_file *f); /* NULL is fine; f is freed in any case */

/* Appends what every event begins with: the time of day and the step. */
void ef_logged_begin(ef_text *t, int64_t step);
#endif
