/* One compiled pattern and memory for its match; memory comes from our own allocator, so that a
 * failure becomes a status. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "kernels/regex.h"
#include "base/alloc.h"
#include "kernels/utf8.h"
#include <pcre2.h>
#include <string.h>

struct ef_regex {
    const char *op;
    pcre2_general_context *memory;
    const char *pattern; /* the caller's */
    size_t pattern_n;
    pcre2_code *code;
    pcre2_code *unchecked; /* for texts that are known to be UTF-8; NULL: not needed yet */
    pcre2_match_data *match;
    uint32_t groups;
};

static void *take(PCRE2_SIZE n, void *arg) {
    (void)arg;
    return ef_malloc(n);
}
static void give(void *p, void *arg) {
    (void)arg;
    if (p != NULL) ef_free(p);
}

static ef_status *compile(ef_regex *r, uint32_t options, pcre2_code **out) {
    const char *pattern = r->pattern;
    const size_t n = r->pattern_n;
    int error = 0;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(r->memory);
    if (context == NULL) return ef_no_memory(sizeof *r);
    *out = pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | options, &error,
                         &at, context);
    pcre2_compile_context_free(context);
    if (*out == NULL && error == PCRE2_ERROR_HEAP_FAILED) return ef_no_memory(n);
    if (*out == NULL) {
        PCRE2_UCHAR text[120] = "";
        pcre2_get_error_message(error, text, sizeof text);
        return ef_error(EF_INVALID, "%s: Invalid pattern: %.*s, error: %s at offset %zu", r->op,
                        (int)n, pattern, (const char *)text, (size_t)at);
    }
    return NULL;
}

static ef_status *prepare(ef_regex *r) {
    EF_TRY(compile(r, PCRE2_MATCH_INVALID_UTF, &r->code));
    pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
    r->match = pcre2_match_data_create_from_pattern(r->code, r->memory);
    return r->match == NULL ? ef_no_memory(sizeof *r) : NULL;
}

ef_status *ef_regex_make(const char *op, const char *pattern, size_t n, ef_regex **out) {
    ef_regex *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    r->op = op;
    r->pattern = pattern == NULL ? "" : pattern;
    r->pattern_n = n;
    r->memory = pcre2_general_context_create(take, give, NULL);
    ef_status *s = r->memory == NULL ? ef_no_memory(sizeof *r) : prepare(r);
    if (s != NULL) {
        ef_regex_free(r);
        return s;
    }
    *out = r;
    return NULL;
}

void ef_regex_free(ef_regex *r) {
    if (r == NULL) return;
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    pcre2_code_free(r->unchecked);
    pcre2_general_context_free(r->memory);
    ef_free(r);
}

/* *span: begin and end of the match; *found is false if there is none. */
static ef_status *find(ef_regex *r, const char *text, size_t n, size_t from, uint32_t options,
                       bool *found) {
    const pcre2_code *code = options & PCRE2_NO_UTF_CHECK ? r->unchecked : r->code;
    int rc =
        pcre2_match(code, (PCRE2_SPTR)(text == NULL ? "" : text), n, from, options, r->match, NULL);
    *found = rc > 0;
    if (rc > 0 || rc == PCRE2_ERROR_NOMATCH) return NULL;
    if (rc == PCRE2_ERROR_NOMEMORY || rc == PCRE2_ERROR_HEAPLIMIT) return ef_no_memory(n);
    PCRE2_UCHAR why[120] = "";
    pcre2_get_error_message(rc, why, sizeof why);
    return ef_error(EF_NO_MEMORY, "%s: matching a text of %zu bytes failed: %s", r->op, n,
                    (const char *)why);
}

/* The largest group that `rewrite` refers to. */
static uint32_t largest_group(const char *rewrite, size_t n) {
    uint32_t most = 0;
    for (size_t k = 0; k + 1 < n; k++) {
        if (rewrite[k] != '\\') continue;
        char c = rewrite[++k];
        if (c >= '0' && c <= '9' && (uint32_t)(c - '0') > most) most = (uint32_t)(c - '0');
    }
    return most;
}

/* An escape that is neither a group nor a backslash ends the replacement, as it does in RE2. */
static void add_rewrite(ef_regex *r, const char *text, const char *rewrite, size_t n,
                        ef_text *out) {
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(r->match);
    for (size_t k = 0; k < n; k++) {
        char c = rewrite[k];
        if (c != '\\') {
            ef_text_bytes(out, &c, 1);
            continue;
        }
        c = ++k < n ? rewrite[k] : '\0';
        if (c >= '0' && c <= '9') {
            const PCRE2_SIZE *s = span + 2 * (c - '0');
            if (s[0] != PCRE2_UNSET && s[1] > s[0]) ef_text_bytes(out, text + s[0], s[1] - s[0]);
        } else if (c == '\\')
            ef_text_bytes(out, &c, 1);
        else
            return;
    }
}

static bool is_utf8(const char *text, size_t n) {
    int32_t code;
    for (size_t at = 0; at < n;) {
        at += ef_utf8_read(text + at, n - at, &code);
        if (code < 0) return false;
    }
    return true;
}

/* At every match PCRE2 checks whether all that is left of the text is UTF-8, so that many matches
 * in a long text would take quadratic time. A text that is UTF-8 as a whole is not checked again:
 * *options. */
static ef_status *check_once(ef_regex *r, const char *text, size_t n, uint32_t *options) {
    if (!is_utf8(text, n)) return NULL;
    if (r->unchecked == NULL) EF_TRY(compile(r, 0, &r->unchecked));
    *options = PCRE2_NO_UTF_CHECK;
    return NULL;
}

/* Each invalid byte is passed by itself. */
static size_t step(const char *p, size_t n) {
    int32_t code;
    size_t k = ef_utf8_read(p, n, &code);
    return code < 0 ? 1 : k;
}

/* Whether the pattern has an empty match at the end of a text that ends in an invalid byte: PCRE2
 * does not look there. */
static ef_status *find_at_end(ef_regex *r, const char *text, size_t n, bool *found) {
    if (n == 0 || ((unsigned char)text[n - 1] & 0x80) == 0 || is_utf8(text, n)) return NULL;
    size_t from = n > 4 ? n - 4 : 0;
    while (from > 0 && ((unsigned char)text[from] & 0xC0) == 0x80) from--;
    for (int32_t code = 0; from < n;) {
        size_t k = ef_utf8_read(text + from, n - from, &code);
        from += code < 0 ? 1 : k;
        if (from == n && code >= 0) return NULL; /* its last character is valid */
    }
    return find(r, "", 0, 0, PCRE2_NOTBOL, found);
}

ef_status *ef_regex_replace(ef_regex *r, const char *text, size_t n, const char *rewrite,
                            size_t rewrite_n, bool all, ef_text *out) {
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(r->match);
    size_t at = 0, last = PCRE2_UNSET;
    enum { FEW = 4 };
    uint32_t options = 0;
    int64_t matches = 0;
    const uint32_t refers = largest_group(rewrite, rewrite_n);
    bool found = refers <= r->groups;
    while (found && at <= n) {
        /* PCRE2 does not look within the bytes of a damaged character. */
        if (at > 0 && at < n && ((unsigned char)text[at] & 0xC0) == 0x80) {
            EF_TRY(find(r, "", 0, 0, PCRE2_NOTBOL | PCRE2_NOTEOL, &found));
            if (found && at != last) {
                add_rewrite(r, text + at, rewrite, rewrite_n, out);
                last = at;
                if (!all) break;
            }
            ef_text_bytes(out, text + at++, 1);
            found = true;
            continue;
        }
        EF_TRY(find(r, text, n, at, options, &found));
        if (!found) break;
        if (++matches == FEW && all) EF_TRY(check_once(r, text, n, &options));
        if (span[0] > at) ef_text_bytes(out, text + at, span[0] - at);
        if (span[0] == last && span[1] == last) { /* no empty match immediately after a match */
            size_t more = span[0] < n ? step(text + span[0], n - span[0]) : 1;
            if (span[0] < n) ef_text_bytes(out, text + span[0], more);
            at = span[0] + more;
            continue;
        }
        add_rewrite(r, text, rewrite, rewrite_n, out);
        at = last = span[1];
        if (!all) break;
    }
    if (at < n) ef_text_bytes(out, text + at, n - at);
    if (found || (matches > 0 && !all) || last == n || refers > r->groups) return NULL;
    EF_TRY(find_at_end(r, text, n, &found));
    if (found) add_rewrite(r, text + n, rewrite, rewrite_n, out);
    return NULL;
}

/* No pattern matches an invalid byte. PCRE2 would match one valid part of the text. */
ef_status *ef_regex_full_match(ef_regex *r, const char *text, size_t n, bool *out) {
    EF_TRY(find(r, text, n, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, out));
    *out = *out && is_utf8(text, n);
    return NULL;
}
