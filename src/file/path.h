/* Names of files as TensorFlow writes them: local paths, also as file:///path. */
#ifndef EF_FILE_PATH_H
#define EF_FILE_PATH_H
#include "base/status.h"

/* The local path that `name` means, NUL-terminated; the caller frees it (ef_free). Rejects a NUL
 * inside, and schemes of file systems that there are not (gs://, ram://). */
ef_status *ef_path_make(const char *name, size_t n, char **out);
/* What errno says of a path, under TensorFlow's code for it. */
ef_status *ef_path_error(int error, const char *path);
#endif
