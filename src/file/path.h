/* Names of files as TensorFlow writes them: local paths, also as file:///path. */
#ifndef EF_FILE_PATH_H
#define EF_FILE_PATH_H
#include "base/status.h"

/* The local path of `name`, NUL-terminated; the caller frees it (ef_free). Rejects a NUL inside the
 * name, and schemes of file systems that are not supported (gs://, ram://). */
ef_status *ef_path_make(const char *name, size_t n, char **out);
/* The error of a system call on `path` that failed with this errno, with TensorFlow's code for it.
 */
ef_status *ef_path_error(int error, const char *path);
#endif
