#include "file/path.h"
#include "base/alloc.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Length of "scheme" in "scheme://..."; 0: there is none. */
static size_t scheme_length(const char *name, size_t n) {
    size_t k = 0;
    if (n == 0 || !isalpha((unsigned char)name[0])) return 0;
    while (k < n && (isalnum((unsigned char)name[k]) || name[k] == '.')) k++;
    return n - k >= 3 && memcmp(name + k, "://", 3) == 0 ? k : 0;
}

ef_status *ef_path_make(const char *name, size_t n, char **out) {
    size_t scheme = scheme_length(name, n), from = 0;
    if (scheme == 4 && memcmp(name, "file", 4) == 0) {
        from = 7; /* a host may stand between "file://" and the path; it is ignored */
        while (from < n && name[from] != '/') from++;
    } else if (scheme > 0) {
        return ef_error(
            EF_UNIMPLEMENTED,
            "File system scheme '%.*s' not implemented (file: '%.*s'); only local files "
            "can be opened",
            (int)scheme, name, (int)(n < 400 ? n : 400), name);
    }
    if (n > from && memchr(name + from, 0, n - from) != NULL)
        return ef_error(EF_INVALID, "the file name '%.400s' has a NUL byte in it; names end there",
                        name + from);
    char *path = ef_malloc(n - from + 1);
    if (path == NULL) return ef_no_memory(n - from + 1);
    if (n > from) memcpy(path, name + from, n - from);
    path[n - from] = 0;
    *out = path;
    return NULL;
}

static ef_code code_of(int error) {
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO: return EF_NOT_FOUND;
    case EEXIST: return EF_ALREADY_EXISTS;
    case EPERM:
    case EACCES:
    case EROFS: return EF_PERMISSION_DENIED;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EBADF:
    case EBUSY:
    case EPIPE:
    case ETXTBSY: return EF_FAILED_PRECONDITION;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case EMLINK:
    case ENFILE:
    case ENOMEM: return EF_NO_MEMORY;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE: return EF_OUT_OF_RANGE;
    case ENOSYS:
    case ENOTSUP:
    case EXDEV: return EF_UNIMPLEMENTED;
    case EAGAIN: return EF_UNAVAILABLE;
    case EINVAL:
    case ENAMETOOLONG:
    case ESPIPE: return EF_INVALID;
    default: return EF_UNKNOWN;
    }
}

ef_status *ef_path_error(int error, const char *path) {
    char text[128];
    const char *message = strerror_r(error, text, sizeof text); /* GNU's: thread-safe */
    return ef_error(code_of(error), "%.800s; %s", path, message);
}
