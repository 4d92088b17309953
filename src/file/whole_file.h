/* Whole files: read, written, found by a pattern. */
#ifndef EF_FILE_WHOLE_FILE_H
#define EF_FILE_WHOLE_FILE_H
#include "base/text.h"

/* Appends the file's bytes to out. */
ef_status *ef_file_read(const char *name, size_t n, ef_text *out);
/* Makes missing folders, then the file, or replaces what it held. */
ef_status *ef_file_write(const char *name, size_t n, const char *bytes, size_t n_bytes);

/* Makes the folder and those above it; one that exists is fine. */
ef_status *ef_folder_make(const char *name, size_t n);

typedef struct ef_paths {
    char **item;
    size_t n, cap;
} ef_paths; /* zero-initialised: empty */
/* Adds the paths that match `pattern`: `*`, `?`, `[...]` and `\` within a part of the path. A part
 * that begins with a dot is matched like any other. A folder that cannot be read has no matches. */
ef_status *ef_file_match(const char *pattern, size_t n, ef_paths *out);
ef_status *ef_paths_add(ef_paths *p, const char *path, size_t n); /* a copy */
void ef_paths_sort(ef_paths *p);
void ef_paths_free(ef_paths *p);
#endif
