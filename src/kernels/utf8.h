/* UTF-8 text, character by character: reading, writing, and conversion to lower or upper case. */
#ifndef EF_KERNELS_UTF8_H
#define EF_KERNELS_UTF8_H
#include "base/text.h"

enum { EF_REPLACEMENT = 0xFFFD }; /* the replacement for invalid bytes */

/* Reads the character at p (n > 0 bytes are left): returns its length in bytes and sets *code; for
 * invalid bytes *code is -1 and the length is the number of bytes to skip. */
size_t ef_utf8_read(const char *p, size_t n, int32_t *code);
void ef_utf8_write(ef_text *out, int32_t code); /* 0 <= code <= 0x10FFFF, no surrogate */
bool ef_utf8_valid(int32_t code);               /* whether the character may be written */
/* Appends the text in lower or upper case with Unicode's full mappings (one letter may become
 * several; a sigma at the end of a word has its own form). Invalid bytes become U+FFFD. */
void ef_utf8_case(const char *p, size_t n, bool upper, ef_text *out);
#endif
