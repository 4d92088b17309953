#include "file/wire.h"
#include <endian.h>

static bool fail(ef_wire *w) {
    w->bad = true;
    w->at = w->end;
    return false;
}

bool ef_wire_varint(ef_wire *w, uint64_t *v) {
    if (w->at < w->end && *w->at < 0x80) { /* most are one byte */
        *v = *w->at++;
        return true;
    }
    if (w->at == w->end) return false;
    uint64_t made = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (w->at == w->end) return fail(w);
        unsigned char byte = *w->at++;
        made |= (uint64_t)(byte & 0x7f) << (shift < 64 ? shift : 63);
        if (byte < 0x80) {
            *v = made;
            return true;
        }
    }
    return fail(w);
}

bool ef_wire_fixed(ef_wire *w, size_t bytes, uint64_t *v) {
    if (w->at == w->end) return false;
    if (ef_wire_left(w) < bytes) return fail(w);
    uint64_t made = 0;
    memcpy(&made, w->at, bytes);
    *v = le64toh(made);
    w->at += bytes;
    return true;
}

bool ef_wire_next(ef_wire *w, ef_wire_field *f) {
    uint64_t tag = 0, n = 0;
    if (!ef_wire_varint(w, &tag)) return false;
    f->number = (uint32_t)(tag >> 3);
    f->type = (ef_wire_type)(tag & 7);
    if (tag >> 32 != 0 || f->number == 0) return fail(w);
    switch (f->type) {
    case EF_WIRE_VARINT: return ef_wire_varint(w, &f->value) || fail(w);
    case EF_WIRE_64: return ef_wire_fixed(w, 8, &f->value) || fail(w);
    case EF_WIRE_32: return ef_wire_fixed(w, 4, &f->value) || fail(w);
    case EF_WIRE_BYTES:
        if (!ef_wire_varint(w, &n) || n > ef_wire_left(w)) return fail(w);
        f->bytes = (ef_wire){.at = w->at, .end = w->at + n};
        w->at += n;
        return true;
    default: return fail(w); /* groups, which none of our messages has */
    }
}

void ef_wire_put_varint(ef_text *t, uint64_t v) {
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    ef_text_bytes(t, bytes, n);
}

void ef_wire_put_number(ef_text *t, uint32_t field, uint64_t v) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_VARINT);
    ef_wire_put_varint(t, v);
}

void ef_wire_put_bytes(ef_text *t, uint32_t field, const void *bytes, size_t n) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_BYTES);
    ef_wire_put_varint(t, n);
    ef_text_bytes(t, bytes, n);
}
