/* A text grows by doubling; an append that found no memory leaves what was there. */
#include "base/text.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(ef_text *t, size_t more) {
    if (t->failed || more > SIZE_MAX / 4 - t->n) {
        t->failed = true;
        return false;
    }
    size_t need = t->n + more + 1;
    if (need <= t->cap) return true;
    size_t cap = t->cap * 2 > need ? t->cap * 2 : need + 32;
    char *grown = ef_realloc(t->at, cap);
    if (grown == NULL) {
        t->failed = true;
        return false;
    }
    t->at = grown;
    t->cap = cap;
    return true;
}

void ef_text_add(ef_text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    size_t room = t->cap - t->n; /* often enough: then the text is formatted once */
    int n = vsnprintf(room ? t->at + t->n : NULL, room, fmt, args);
    va_end(args);
    if (n < 0 || t->failed) {
        t->failed = true;
        return;
    }
    if ((size_t)n >= room) {
        if (!reserve(t, (size_t)n)) {
            if (t->cap > t->n) t->at[t->n] = 0;
            return;
        }
        va_start(args, fmt);
        vsnprintf(t->at + t->n, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    t->n += (size_t)n;
}

void ef_text_bytes(ef_text *t, const char *p, size_t n) {
    if (!reserve(t, n)) return;
    if (n > 0) memcpy(t->at + t->n, p, n);
    t->n += n;
    t->at[t->n] = 0;
}

void ef_text_quoted(ef_text *t, const char *s) {
    ef_text_add(t, "\"");
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            ef_text_add(t, "\\%c", *s);
        else if ((unsigned char)*s < 32)
            ef_text_add(t, "\\u%04x", *s);
        else
            ef_text_bytes(t, s, 1);
    }
    ef_text_add(t, "\"");
}

void ef_text_free(ef_text *t) {
    ef_free(t->at);
    *t = (ef_text){0};
}

ef_brief ef_bytes_brief(int64_t bytes) {
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    ef_brief b;
    if (bytes < 1024) {
        snprintf(b.text, sizeof b.text, "%lld bytes", (long long)bytes);
        return b;
    }
    double v = (double)bytes / 1024;
    int u = 0;
    for (; v >= 1024 && u < 5; u++) v /= 1024;
    snprintf(b.text, sizeof b.text, "%.1f %s", v, unit[u]);
    return b;
}
