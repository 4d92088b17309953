/* Regular expressions on PCRE2, configured to read patterns as RE2 (and so TensorFlow) does: UTF-8,
 * `$` only at the very end, ASCII classes. */
#ifndef EF_KERNELS_REGEX_H
#define EF_KERNELS_REGEX_H
#include "base/text.h"

typedef struct ef_regex ef_regex;
/* op: the op that messages name. The pattern outlives the regex. EF_INVALID if it is malformed. */
ef_status *ef_regex_make(const char *op, const char *pattern, size_t n, ef_regex **out);
void ef_regex_free(ef_regex *r); /* NULL is allowed */
/* Appends the text with its first match, or all, replaced by `rewrite`, where \1 to \9 refer to
 * groups and \0 to the whole match. */
ef_status *ef_regex_replace(ef_regex *r, const char *text, size_t n, const char *rewrite,
                            size_t rewrite_n, bool all, ef_text *out);
ef_status *ef_regex_full_match(ef_regex *r, const char *text, size_t n, bool *out);
#endif
