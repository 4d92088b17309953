#include "file/calls.h"
#include "base/blocking.h"
#include "base/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Taking the interpreter's lock again may set errno. */
static void end(void *blocking) {
    const int error = errno;
    ef_blocking_end(blocking);
    errno = error;
}

/* Whether a call is to be repeated; *s ends the run. */
static bool again(ssize_t result, ef_status **s) {
    if (result >= 0 || errno != EINTR) return false;
    *s = ef_interrupt_look(ef_context_here());
    return *s == NULL;
}

ef_status *ef_call_open(const char *path, int flags, int *fd) {
    ef_status *s = NULL;
    do {
        void *blocking = ef_blocking_begin();
        *fd = open(path, flags | O_CLOEXEC, 0666);
        end(blocking);
    } while (again(*fd, &s));
    return s;
}

ef_status *ef_call_read(int fd, void *to, size_t n, ssize_t *got) {
    ef_status *s = NULL;
    do {
        void *blocking = ef_blocking_begin();
        *got = read(fd, to, n);
        end(blocking);
    } while (again(*got, &s));
    return s;
}

ef_status *ef_call_write(int fd, const void *from, size_t n, ssize_t *put) {
    ef_status *s = NULL;
    do {
        void *blocking = ef_blocking_begin();
        *put = write(fd, from, n);
        end(blocking);
    } while (again(*put, &s));
    return s;
}
