/* Building text: a growable string that remembers running out of memory instead of failing at each
 * append; and a small value for use inside printf arguments. */
#ifndef EF_BASE_TEXT_H
#define EF_BASE_TEXT_H
#include "base/status.h"

typedef struct ef_text {
    char *at; /* NUL-terminated once anything was added; may be NULL while empty */
    size_t n, cap;
    bool failed;
} ef_text; /* zero-initialised: empty */
void ef_text_add(ef_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ef_text_bytes(ef_text *t, const char *p, size_t n);
void ef_text_quoted(ef_text *t, const char *s); /* as a string of JSON */
void ef_text_free(ef_text *t);

typedef struct ef_brief {
    char text[120];
} ef_brief;                             /* returned by value by ef_shape_brief and friends */
ef_brief ef_bytes_brief(int64_t bytes); /* "512 bytes", "3.4 GiB" */
#define EF_BYTES(n) ef_bytes_brief(n).text
#endif
