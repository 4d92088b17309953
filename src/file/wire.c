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

static void put_little(ef_text *t, uint64_t v, size_t bytes) {
    char at[8];
    for (size_t k = 0; k < bytes; k++) at[k] = (char)(v >> 8 * k);
    ef_text_bytes(t, at, bytes);
}

void ef_wire_put_fixed32(ef_text *t, uint32_t field, uint32_t v) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_32);
    put_little(t, v, 4);
}

void ef_wire_put_float(ef_text *t, uint32_t field, float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    ef_wire_put_fixed32(t, field, bits);
}

static void put_double(ef_text *t, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_little(t, bits, 8);
}

void ef_wire_put_double(ef_text *t, uint32_t field, double v) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_64);
    put_double(t, v);
}

void ef_wire_put_doubles(ef_text *t, uint32_t field, const double *v, size_t n) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_BYTES);
    ef_wire_put_varint(t, 8 * n);
    for (size_t k = 0; k < n; k++) put_double(t, v[k]);
}

size_t ef_wire_begin(ef_text *t, uint32_t field) {
    ef_wire_put_varint(t, (uint64_t)field << 3 | EF_WIRE_BYTES);
    return t->n;
}

/* The size goes in front of the message, which moves up by the size's own bytes. */
void ef_wire_end(ef_text *t, size_t begun) {
    const size_t size = t->n - begun;
    ef_wire_put_varint(t, size);
    if (t->failed) return;
    const size_t bytes = t->n - begun - size;
    char length[10];
    memcpy(length, t->at + begun + size, bytes);
    memmove(t->at + begun + bytes, t->at + begun, size);
    memcpy(t->at + begun, length, bytes);
}
