/* System calls that may wait: for a slow disk, or for the other end of a pipe, which may be another
 * thread of this process. A binding gives up its interpreter's lock meanwhile. A call that a signal
 * interrupts is repeated; a status is returned only if that signal ends the run. */
#ifndef EF_FILE_CALLS_H
#define EF_FILE_CALLS_H
#include "base/status.h"
#include <sys/types.h>

/* *fd, *got and *put are -1 if the call failed; errno says why. */
ef_status *ef_call_open(const char *path, int flags, int *fd); /* a new file gets mode 0666 */
ef_status *ef_call_read(int fd, void *to, size_t n, ssize_t *got);
ef_status *ef_call_write(int fd, const void *from, size_t n, ssize_t *put);
#endif
