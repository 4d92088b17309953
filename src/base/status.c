/* A status is one block: the header and behind it the message. When there is no memory for one, a
 * static status takes its place; it is shared, so nothing is added to it and freeing it does
 * nothing. */
#include "base/status.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ef_status {
    ef_code code;
    const char *message;   /* behind this struct, or a literal in the static status */
    ef_status_step *trail; /* the innermost first */
    int n_trail;
    bool before_run;
};

static ef_status out_of_memory = {EF_NO_MEMORY, "out of memory, even for an error message", NULL, 0,
                                  false};

ef_code ef_status_code(const ef_status *s) { return s ? s->code : EF_OK; }

const char *ef_status_message(const ef_status *s) { return s ? s->message : ""; }

void ef_status_free(ef_status *s) {
    if (s == NULL || s == &out_of_memory) return;
    ef_free(s->trail);
    ef_free(s);
}

/* ---- the trail ------------------------------------------------------------------------------- */

/* The function is known only after the node inside it was added: it is written into that step. */
void ef_status_mark_function(ef_status *s, int32_t function) {
    if (s != NULL && s != &out_of_memory && s->n_trail > 0)
        s->trail[s->n_trail - 1].function = function;
}

void ef_status_at_node(ef_status *s, int32_t node) {
    if (s == NULL || s == &out_of_memory) return;
    size_t n = (size_t)s->n_trail;
    ef_status_step *more = ef_realloc(s->trail, (n + 1) * sizeof *more);
    if (more == NULL) return; /* the message will not say where */
    s->trail = more;
    more[s->n_trail++] = (ef_status_step){-1, node};
}

bool ef_status_step_get(const ef_status *s, int n, ef_status_step *out) {
    if (s == NULL || n < 0 || n >= s->n_trail) return false;
    *out = s->trail[s->n_trail - 1 - n];
    return true;
}

ef_status *ef_status_reworded(ef_status *s, const char *message) {
    if (s == NULL || s == &out_of_memory) return s;
    ef_status *made = ef_error(s->code, "%s", message);
    if (s->before_run) made = ef_status_found_before_run(made);
    ef_status_free(s);
    return made;
}

/* The usual message fits `brief`, formatted once; a longer one is formatted again in place. */
static ef_status *status_with(ef_code code, const char *fmt, va_list args) {
    char brief[256] = "";
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(brief, sizeof brief, fmt, again);
    va_end(again);
    if (n < 0) n = 0;
    ef_status *s = ef_malloc(sizeof *s + (size_t)n + 1);
    if (s == NULL) return &out_of_memory;
    char *text = (char *)(s + 1);
    if ((size_t)n < sizeof brief)
        memcpy(text, brief, (size_t)n + 1);
    else
        vsnprintf(text, (size_t)n + 1, fmt, args);
    s->code = code;
    s->message = text;
    s->trail = NULL;
    s->n_trail = 0;
    s->before_run = false;
    return s;
}

ef_status *ef_error(ef_code code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    ef_status *s = status_with(code, fmt, args);
    va_end(args);
    return s;
}

ef_status *ef_status_copy(const ef_status *s) {
    if (s == NULL || s == &out_of_memory) return (ef_status *)s;
    ef_status *made = ef_error(s->code, "%s", s->message);
    if (made == &out_of_memory) return made;
    made->before_run = s->before_run;
    if (s->n_trail > 0) made->trail = ef_malloc((size_t)s->n_trail * sizeof *s->trail);
    if (made->trail == NULL) return made; /* the message will not say where */
    memcpy(made->trail, s->trail, (size_t)s->n_trail * sizeof *s->trail);
    made->n_trail = s->n_trail;
    return made;
}

ef_status *ef_status_as(ef_status *s, ef_code code) {
    if (s != NULL && s != &out_of_memory) s->code = code;
    return s;
}

ef_status *ef_status_found_before_run(ef_status *s) {
    if (s != NULL && s != &out_of_memory) s->before_run = true;
    return s;
}

bool ef_status_before_run(const ef_status *s) { return s != NULL && s->before_run; }

ef_status *ef_no_memory(size_t bytes) {
    return ef_error(EF_NO_MEMORY, "out of memory: could not get %zu bytes", bytes);
}

ef_status *ef_status_add(ef_status *s, const char *fmt, ...) {
    if (s == NULL || s == &out_of_memory) return s;
    char more[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(more, sizeof more, fmt, args);
    va_end(args);
    if (n < 0) return s;
    size_t extra = strlen(more), old = strlen(s->message);
    static const char between[] = " \n    ";
    size_t gap = sizeof between - 1;
    ef_status *grown = ef_realloc(s, sizeof *s + old + gap + extra + 1);
    if (grown == NULL) return s; /* the error itself matters more than its place */
    char *text = (char *)(grown + 1);
    memcpy(text + old, between, gap);
    memcpy(text + old + gap, more, extra + 1);
    grown->message = text;
    return grown;
}
