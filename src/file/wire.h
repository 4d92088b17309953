/* Protobuf's wire format, read field by field without copies. Every size is checked against the
 * bytes that are there, so truncated and malicious messages are safe to read. */
#ifndef EF_FILE_WIRE_H
#define EF_FILE_WIRE_H
#include "base/text.h"
#include <string.h>

typedef struct ef_wire { /* what is left of a message */
    const unsigned char *at, *end;
    bool bad; /* the message is malformed; no more of it is read */
} ef_wire;
typedef enum ef_wire_type {
    EF_WIRE_VARINT = 0,
    EF_WIRE_64 = 1,
    EF_WIRE_BYTES = 2,
    EF_WIRE_32 = 5
} ef_wire_type;
typedef struct ef_wire_field {
    uint32_t number;
    ef_wire_type type;
    uint64_t value; /* of the number kinds */
    ef_wire bytes;  /* EF_WIRE_BYTES: a string, or a message in turn */
} ef_wire_field;

static inline ef_wire ef_wire_from(const void *bytes, size_t n) {
    static const unsigned char none[1];
    const unsigned char *at = bytes != NULL ? bytes : none;
    return (ef_wire){.at = at, .end = at + (bytes != NULL ? n : 0)};
}
static inline size_t ef_wire_left(const ef_wire *w) { return (size_t)(w->end - w->at); }
static inline bool ef_wire_is(const ef_wire *w, const char *text, size_t n) {
    return ef_wire_left(w) == n && (n == 0 || memcmp(w->at, text, n) == 0);
}
/* The next field; false at the end of the message, and if it is bad. */
bool ef_wire_next(ef_wire *w, ef_wire_field *f);
/* The next number of a packed list; false at its end, and if it is bad. */
bool ef_wire_varint(ef_wire *w, uint64_t *v);
bool ef_wire_fixed(ef_wire *w, size_t bytes, uint64_t *v); /* of 4 or 8 bytes */

/* Writing: fields are appended to a text. */
void ef_wire_put_varint(ef_text *t, uint64_t v);
void ef_wire_put_number(ef_text *t, uint32_t field, uint64_t v);
void ef_wire_put_bytes(ef_text *t, uint32_t field, const void *bytes, size_t n);
void ef_wire_put_float(ef_text *t, uint32_t field, float v);
void ef_wire_put_fixed32(ef_text *t, uint32_t field, uint32_t v);
void ef_wire_put_double(ef_text *t, uint32_t field, double v);
void ef_wire_put_doubles(ef_text *t, uint32_t field, const double *v, size_t n); /* packed */
/* A message inside another, whose size is known only when it is complete: begin returns what end
 * needs. What is appended in between belongs to it. */
size_t ef_wire_begin(ef_text *t, uint32_t field);
void ef_wire_end(ef_text *t, size_t begun);
#endif
