/* What the ops over strings share. Each result is built in one growing buffer and then copied. */
#ifndef EF_OPS_STRINGS_H
#define EF_OPS_STRINGS_H
#include "base/text.h"
#include "ops/array/array.h"

/* Makes one result from one input; *out is empty when it is called. */
typedef ef_status *ef_str_fn(const ef_call *c, const ef_str *in, ef_text *out);
/* out[0] has the shape of in[0], each element made by fn. */
ef_status *ef_map_strings(const ef_call *c, ef_str_fn *fn);
/* Copies the text to the element, then empties the text for the next one. */
ef_status *ef_str_take(ef_str *to, ef_text *t);
static inline const ef_str *ef_strs(const ef_tensor *t) { return t->data; }
static inline bool ef_str_same(const ef_str *a, const ef_str *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n) == 0);
}
/* An element in quotes for a message, shortened; characters that are not printable are escaped. */
ef_brief ef_str_brief(const ef_str *s);
#define EF_STR(s) ef_str_brief(s).text
/* Number of bytes of the UTF-8 character that begins at p; a stray byte counts as one character. */
static inline size_t ef_utf8_step(const char *p, size_t n) {
    size_t k = 1;
    while (k < n && ((unsigned char)p[k] & 0xC0) == 0x80) k++;
    return k;
}
#endif
