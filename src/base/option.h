/* Options come from environment variables, each read once: EF_LOG=rewrite,
 * EF_PASSES=-fuse,-fold,-jit, EVENFLOW_SYNC=1, EF_MATH=loose, EF_THREADS=n, EF_DEFER_BYTES=n.
 * README.md says what each does. */
#ifndef EF_BASE_OPTION_H
#define EF_BASE_OPTION_H
#include <stdbool.h>
#include <stdint.h>
/* Whether `word` stands in the comma-separated list of environment variable `name`. */
bool ef_option_has(const char *name, const char *word);
int64_t ef_option_int(const char *name, int64_t otherwise);
#endif
